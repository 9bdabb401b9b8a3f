/* o1.c - the policy's table: rules in words, configuration, description for `explain`. */
#include "o1.h"

#include <stdio.h>

const char *const o1_rules[O1_RULES] = {
    [O1_R_NONE] = "none",
    [O1_R_STILL_RUNNING] = "still running there: not moved",
    [O1_R_SAME_CPU] = "slept on the waker's CPU: stays",
    [O1_R_NOT_ALLOWED] = "waker's CPU not allowed: previous CPU",
    [O1_R_PREV_IDLE] = "previous CPU nearly idle and waker's CPU busy: previous CPU",
    [O1_R_AFFINE] = "affine pull: cache cold",
    [O1_R_AFFINE_SYNC] = "sync: affine pull, cache cold",
    [O1_R_BALANCE] = "passive balance: waker's CPU is less loaded",
    [O1_R_BALANCE_SYNC] = "sync: passive balance, the waker does not count",
    [O1_R_NO_PULL] = "no domain pulls: previous CPU",
    [O1_R_AFFINE_ALONE] = "affine pull: no busier, and one task there in all",
    [O1_R_AFFINE_ALONE_SYNC] = "sync: affine pull, one task there once the waker sleeps",
    [O1_R_AFFINE_LOAD] = "affine pull: waker's CPU stays below the previous CPU's load",
    [O1_R_AFFINE_LOAD_SYNC] = "sync: affine pull, waker's CPU stays below the previous CPU's load",
    [O1_R_NO_DOMAIN] = "no domain covers both CPUs: previous CPU",
    [O1_R_WAKE_IDLE_NEAR] = "wake_idle: first idle CPU of the lowest domain",
    [O1_R_WAKE_IDLE_FAR] = "wake_idle: first idle CPU of a higher domain",
    [O1_R_FORK_LOCAL] = "fork: starts on its parent's CPU",
    [O1_R_FORK_IDLEST] = "fork balancing: least loaded group and CPU",
    [O1_R_FORK_BALANCED] = "fork balancing: no group is less loaded enough",
    [O1_R_FORK_AFFINITY] = "fork: first CPU of its own mask",
    [O1_R_EXEC_ALONE] = "exec: alone on its CPU, stays",
    [O1_R_EXEC_NO_DOMAIN] = "exec: no domain balances on exec",
    [O1_R_EXEC_STAY] = "exec: no CPU is less loaded enough",
    [O1_R_EXEC_MOVE] = "exec: moves to the least loaded CPU",
    [O1_R_CPU_IDLE] = "CPU idle: runs at once",
    [O1_R_PREEMPT] = "better priority than the running task: preempts",
    [O1_R_NO_PREEMPT] = "no better priority than the running task: waits",
    [O1_R_SYNC_UNCHECKED] = "sync wakeup on the waker's CPU: no preemption check",
    [O1_R_CHILD_FIRST] = "fork: the child runs before its parent",
    [O1_R_CHILD_LAST] = "new thread: queued behind its creator",
    [O1_R_LB_AVERAGE] = "busiest group above the average",
    [O1_R_LB_TWO] = "groups two tasks apart: moves one",
    [O1_R_LB_GAIN] = "moving one task gains throughput",
    [O1_R_LB_NEWIDLE] = "newly idle: takes one from the busiest group in any case",
    [O1_R_LB_IDLE] = "idle tick: busiest group has more than one task per CPU",
    [O1_R_LB_POWER] = "power savings: empties the least loaded group",
    [O1_R_ACTIVE] = "active balance: migration thread pushes to an idle CPU",
};

/* ---- configuration ---- */

static uint64_t given(const struct wb_config *cfg, const char *path, uint64_t otherwise)
{
    return wb_cfg_has(cfg, path) ? (uint64_t)wb_cfg_int(cfg, path) : otherwise;
}

static bool given_bool(const struct wb_config *cfg, const char *path, bool otherwise)
{
    return wb_cfg_has(cfg, path) ? wb_cfg_bool(cfg, path) : otherwise;
}

/* A time as whole ticks, at least one (x * HZ / 1000 in the kernels' macros). */
static uint32_t ticks(const struct o1_sim *o, uint64_t ps)
{
    return (uint32_t)WB_MAX(ps / WB_US * o->hz / 1000000, 1u);
}

/* Knobs that one generation has: 2.6.10 and 2.6.11, or 2.6.22. */
static int check_knobs(const struct o1_sim *o, const struct wb_config *cfg, struct wb_diag *d)
{
    static const struct {
        const char *key;
        bool weighted;
    } table[] = {{"policy.smt_nice", false},
                 {"policy.nr_cpus_configured", false},
                 {"policy.nohz", true},
                 {"policy.mc_power_savings", true}};
    int err = 0;
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        if (!wb_cfg_has(cfg, table[i].key) || table[i].weighted == o->v->weighted) continue;
        const char *set = table[i].weighted ? "2.6.22" : "2.6.10, 2.6.11";
        wb_cfg_error(cfg, d, table[i].key, "leave it out or choose such a kernel",
                     "%s does not exist in Linux %s; it is in %s", table[i].key, o->v->name, set);
        err = -1;
    }
    return err;
}

static void read_interactivity(struct o1_sim *o, const struct wb_config *cfg)
{
    const struct o1_version *v = o->v;
    o->def_slice = ticks(o, given(cfg, "policy.def_timeslice", 100 * WB_MS));
    o->min_slice = ticks(o, given(cfg, "policy.min_timeslice", 5 * WB_MS));
    o->granularity = ticks(o, given(cfg, "policy.granularity", v->granularity_ms * WB_MS));
    o->max_bonus = (uint32_t)given(cfg, "policy.prio_bonus_ratio", 25) * 40 / 100;
    o->max_sleep_ticks = o->def_slice * WB_MAX(o->max_bonus, 1u);
    o->interactive_delta = (int32_t)given(cfg, "policy.interactive_delta", 2);
    o->credit_limit = (int32_t)given(cfg, "policy.credit_limit", (uint64_t)v->credit_limit);
    o->child_penalty = (uint32_t)given(cfg, "policy.child_penalty", 95);
    o->parent_penalty = (uint32_t)given(cfg, "policy.parent_penalty", 100);
    o->exit_weight = (uint32_t)given(cfg, "policy.exit_weight", 3);
    o->on_rq_weight = (uint32_t)given(cfg, "policy.on_runqueue_weight", 30);
    o->start_bonus = (uint32_t)given(cfg, "policy.start_bonus", 9);
    o->interactive = given_bool(cfg, "policy.interactive", true);
    o->starvation = o->max_sleep_ticks;
    if (wb_cfg_has(cfg, "policy.starvation_limit")) {
        uint64_t limit = (uint64_t)wb_cfg_int(cfg, "policy.starvation_limit");
        o->starvation = limit ? ticks(o, limit) : 0;
    }
}

static uint32_t flags_honoured(const struct wb_config *cfg)
{
    static const struct {
        const char *key;
        uint32_t flag;
    } table[] = {
        {"policy.wake_affine", WB_SD_WAKE_AFFINE}, {"policy.wake_balance", WB_SD_WAKE_BALANCE},
        {"policy.newidle", WB_SD_NEWIDLE},         {"policy.exec_balance", WB_SD_EXEC},
        {"policy.fork_balance", WB_SD_FORK},
    };
    uint32_t mask = UINT32_MAX;
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++)
        if (!given_bool(cfg, table[i].key, true)) mask &= ~table[i].flag;
    return mask;
}

static void read_balancing(struct o1_sim *o, const struct wb_config *cfg)
{
    o->sched_smt = given_bool(cfg, "kernel.sched_smt", true);
    o->ladder.flag_mask = flags_honoured(cfg);
    o->wake_idle = given_bool(cfg, "policy.wake_idle", o->sched_smt);
    o->smt_nice = given_bool(cfg, "policy.smt_nice", o->sched_smt && o->v->smt_nice);
    o->sync = given_bool(cfg, "policy.sync_wakeups", true);
    o->hot = given_bool(cfg, "policy.cache_hot", true);
    o->has_hot_time = wb_cfg_has(cfg, "policy.cache_hot_time");
    o->hot_time = given(cfg, "policy.cache_hot_time", 0) / WB_NS;
    o->idle_balance = given_bool(cfg, "policy.idle_balance", true);
    o->busy_balance = given_bool(cfg, "policy.busy_balance", true);
    o->active_balance = given_bool(cfg, "policy.active_balance", true);
    o->nohz = given_bool(cfg, "policy.nohz", false) && o->v->weighted;
    o->power_savings = given_bool(cfg, "policy.mc_power_savings", false) && o->v->weighted;
    o->min_gain = (uint32_t)given(cfg, "policy.min_gain", o->v->min_gain);
    o->nr_cpus = (uint32_t)WB_MAX(given(cfg, "policy.nr_cpus_configured", o->ncpus), o->ncpus);
}

/* Defaults as in o1_keys.c, for configurations without key table. */
static void label_functions(struct wb_sim *s, struct o1_sim *o)
{
    o->fn_recalc = wb_fn_id(s, "recalc_task_prio", WB_CAT_WAKEUP, 20 * WB_NS);
    o->fn_wake_idle = wb_fn_id(s, "wake_idle", WB_CAT_WAKEUP, 10 * WB_NS);
    o->fn_find_idlest = wb_fn_id(s, "find_idlest_group", WB_CAT_BALANCE, 80 * WB_NS);
    o->fn_find_group = wb_fn_id(s, "find_busiest_group", WB_CAT_BALANCE, 150 * WB_NS);
    o->fn_find_queue = wb_fn_id(s, "find_busiest_queue", WB_CAT_BALANCE, 40 * WB_NS);
    o->fn_move_tasks = wb_fn_id(s, "move_tasks", WB_CAT_BALANCE, 60 * WB_NS);
    o->fn_dependent = wb_fn_id(s, "dependent_sleeper", WB_CAT_SCHED, 40 * WB_NS);
    o->fn_rebalance = wb_fn_id(s, o->v->weighted ? "rebalance_domains" : "rebalance_tick", WB_CAT_BALANCE, 20 * WB_NS);
}

static void init_queues(struct wb_sim *s, const struct o1_sim *o)
{
    for (cpu_id c = 0; c < o->ncpus; c++) {
        struct o1_rq *r = o1_rq(wb_rq(s, c));
        r->active = &r->array[0];
        r->expired = &r->array[1];
        r->best_expired_prio = O1_PRIOS;
        r->tick_jiffies = wb_jiffies(s);
    }
}

static int init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    struct o1_sim *o = wb_policy_data(s);
    o->v = o1_version_find(wb_cfg_str(cfg, "policy.version"));
    if (!o->v) {
        wb_cfg_error(cfg, d, "policy.version", "one of 2.6.10, 2.6.11, 2.6.22",
                     "the O(1) scheduler has no version \"%s\"", wb_cfg_str(cfg, "policy.version"));
        return -1;
    }
    if (check_knobs(o, cfg, d)) return -1;
    o->ncpus = wb_ncpus(s);
    o->hz = wb_hz(s);
    o->tick_ns = 1000000000ull / o->hz;
    nohz_owner_init(s, &o->idlers);
    o->ladder.serializing = &o->serializing;
    o->ladder.interval = o1_interval_of_pass;
    read_interactivity(o, cfg);
    read_balancing(o, cfg);
    o1_prio_init(o);
    label_functions(s, o);
    o->ladder.fn_visit = o->fn_rebalance;
    init_queues(s, o);
    o1_domains_built(s);
    return 0;
}

/* ---- explain ---- */

static void describe(const struct wb_sim *s, const struct wb_rq *rq, const struct wb_task *t, char *buf, size_t n)
{
    const struct o1_sim *o = wb_policy_data((struct wb_sim *)(uintptr_t)s);
    if (t) {
        const struct o1_task *p = o1_task(t);
        snprintf(buf, n, "prio %u (static %u), bonus %u%s, slice %d of %u ticks, %s", p->prio, p->static_prio,
                 o1_bonus(o, p), o1_interactive(o, p) ? " interactive" : "", p->time_slice, o1_timeslice(o, p),
                 !p->array                        ? "not queued"
                 : p->array == o1_rq(rq)->expired ? "expired array"
                                                  : "active array");
        return;
    }
    const struct o1_rq *r = o1_rq(rq);
    snprintf(buf, n, "%u running, %u active, %u expired, cpu_load %llu %llu %llu", rq->nr_running, r->active->nr,
             r->expired->nr, (unsigned long long)r->load[0], (unsigned long long)r->load[1],
             (unsigned long long)r->load[2]);
}

const struct wb_policy_ops o1_policy = {
    .abi = WB_POLICY_ABI,
    .size = sizeof(struct wb_policy_ops),
    .name = "o1",
    .help = "O(1) scheduler of Linux 2.6.10, 2.6.11 and 2.6.22: priority arrays, sleep averages, sched domains.",
    .rules = o1_rules,
    .nrules = O1_RULES,
    .keys = o1_keys,
    .nkeys = O1_KEYS,
    .sim_bytes = sizeof(struct o1_sim),
    .rq_bytes = sizeof(struct o1_rq),
    .task_bytes = sizeof(struct o1_task),
    .init = init,
    .task_init = o1_task_init,
    .place_wakeup = o1_place_wakeup,
    .place_fork = o1_place_fork,
    .place_exec = o1_place_exec,
    .fork = o1_fork,
    .exit = o1_exit,
    .enqueue = o1_enqueue,
    .dequeue = o1_dequeue,
    .put_prev = o1_put_prev,
    .pick = o1_pick,
    .yield = o1_yield,
    .migrate = o1_migrate,
    .tick = o1_tick,
    .tick_idle_for = o1_tick_idle_for,
    .tick_closed = o1_tick_closed,
    .check_preempt = o1_check_preempt,
    .balance_newidle = &o1_balance_newidle,
    .balance_periodic = &o1_balance_periodic,
    .balance_active = &o1_balance_active,
    .idle_enter = o1_idle_enter,
    .idle_exit = o1_idle_exit,
    .task_changed = o1_task_changed,
    .describe = describe,
};
