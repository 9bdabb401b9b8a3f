/* bsd_ule.c - the ULE scheduler of FreeBSD 5.2.1: table, configuration, placement, ticks, life of a task. */
#include "bsd.h"

#include <stdio.h>

const char *const ule_rules[ULE_RULES] = {
    [ULE_R_NONE] = "none",
    [ULE_R_LAST_CPU] = "last ran on another CPU: queued there",
    [ULE_R_HERE] = "last ran here: stays, idle CPUs or not",
    [ULE_R_IDLE_PUSH] = "more than one task waits where it last ran: first idle CPU",
    [ULE_R_REAL_TIME] = "real time: the waker's CPU",
    [ULE_R_NOT_ALLOWED] = "last CPU not allowed: waker's, or the first allowed one",
    [ULE_R_FORK] = "fork: its parent's CPU",
    [ULE_R_EXEC] = "exec changes nothing",
    [ULE_R_CPU_IDLE] = "CPU idle: told, runs at once",
    [ULE_R_PREEMPT] = "better priority than the running task: preempts",
    [ULE_R_WAITS] = "no better priority than the running task: waits",
    [ULE_R_BALANCE] = "once a second: half the difference, from the busiest to the least busy CPU",
    [ULE_R_CALLOUT] = "once a second: ran on the CPU of the balancer, which counts as a task there",
};

/* ---- configuration ---- */

static int init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    struct ule_sim *o = wb_policy_data(s);
    if (bsd_check_lock(cfg, d)) return -1;
    o->ncpus = wb_ncpus(s);
    o->hz = wb_hz(s);
    o->stathz = (uint32_t)bsd_given(cfg, "policy.stathz", 128);
    o->slice_min = bsd_ticks(cfg, "policy.slice_min", 10 * WB_MS, o->hz);
    o->slice_max = WB_MAX(bsd_ticks(cfg, "policy.slice_max", 140 * WB_MS, o->hz), o->slice_min);
    o->interact_threshold = (uint32_t)bsd_given(cfg, "policy.interact_threshold", 30);
    o->history = (uint64_t)bsd_ticks(cfg, "policy.history", 5 * WB_S, o->hz) << 10;
    o->history_fork = (uint64_t)WB_MAX(o->hz / 2, 1u) << 10;
    o->balance_ticks = bsd_ticks(cfg, "policy.balance_interval", WB_S, o->hz);
    o->balance = bsd_given_bool(cfg, "policy.balance", true);
    o->idle_push = bsd_given_bool(cfg, "policy.idle_push", true);
    o->sleep_prio = (uint8_t)bsd_given(cfg, "policy.sleep_priority", 76);
    o->fn_score = wb_fn_id(s, "sched_interact_score", WB_CAT_WAKEUP, 30 * WB_NS);
    o->fn_choose = wb_fn_id(s, "runq_choose", WB_CAT_SCHED, 60 * WB_NS);
    o->fn_balance = wb_fn_id(s, "sched_balance", WB_CAT_BALANCE, 150 * WB_NS);
    for (cpu_id c = 0; c < o->ncpus; c++) {
        struct ule_rq *r = ule_rq(wb_rq(s, c));
        r->curr = &r->calendar[0];
        r->next = &r->calendar[1];
    }
    return 0;
}

/* ---- placement ---- */

/* kseq_setidle(): nothing to run, or nothing but the idle class. */
static bool idle_cpu(const struct wb_rq *rq)
{
    if (wb_idle_cpu(rq)) return !rq->nr_running;
    return rq->curr->klass == WB_CLASS_IDLE && rq->nr_running == 1 + ule_rq(rq)->idle.nr;
}

/* kseq_idle: one mask for all CPUs, so looking costs nothing that matters. */
static cpu_id first_idle(struct wb_exec *x, const struct wb_task *t, cpu_id but)
{
    for (cpu_id c = wb_mask_first(t->allowed); c != WB_NO_CPU; c = wb_mask_next(t->allowed, c + 1))
        if (c != but && idle_cpu(wb_rq(x->sim, c))) return c;
    return WB_NO_CPU;
}

static struct wb_choice somewhere(const struct wb_exec *x, const struct wb_task *t)
{
    bool here = wb_mask_test(t->allowed, x->cpu);
    return (struct wb_choice){.cpu = here ? x->cpu : wb_mask_first(t->allowed), .rule = ULE_R_NOT_ALLOWED};
}

/*
 * sched_add(): a real-time task counts as having run on the waker's CPU. One that last ran elsewhere is put on that
 * CPU's list (kseq_notify), and that CPU adds it in the same way: it hands it on if more than one task waits there.
 */
static struct wb_choice place_wakeup(struct wb_exec *x, const struct wb_wakeup *w)
{
    const struct ule_sim *o = ule_of(x);
    struct wb_task *t = w->task;
    bool rt = bsd_is_rt(t) && wb_mask_test(t->allowed, w->this_cpu);
    cpu_id home = rt ? w->this_cpu : w->prev_cpu;
    if (!wb_mask_test(t->allowed, home)) return somewhere(x, t);
    if (o->idle_push && ule_rq(wb_rq(x->sim, home))->transferable > 1) {
        cpu_id c = first_idle(x, t, home);
        if (c != WB_NO_CPU) return (struct wb_choice){.cpu = c, .rule = ULE_R_IDLE_PUSH};
    }
    if (rt) return (struct wb_choice){.cpu = home, .rule = ULE_R_REAL_TIME};
    return (struct wb_choice){.cpu = home, .rule = home == w->this_cpu ? ULE_R_HERE : ULE_R_LAST_CPU};
}

/* A new task counts as having run here last. */
static struct wb_choice place_fork(struct wb_exec *x, struct wb_task *child)
{
    struct wb_wakeup w = {.task = child, .this_cpu = x->cpu, .prev_cpu = x->cpu};
    struct wb_choice c = place_wakeup(x, &w);
    if (c.rule == ULE_R_HERE) c.rule = ULE_R_FORK;
    return c;
}

static struct wb_choice place_exec(struct wb_exec *x, struct wb_task *t)
{
    (void)t;
    return (struct wb_choice){.cpu = x->cpu, .rule = ULE_R_EXEC};
}

/* ---- life of a task ---- */

static void task_init(struct wb_sim *s, struct wb_task *t)
{
    struct bsd_task *p = bsd_task(t);
    *p = (struct bsd_task){.t = t, .parent = WB_NO_TASK, .slice = 1, .slept_at = wb_jiffies(s)};
    ule_priority(p);
}

static void fork_task(struct wb_exec *x, struct wb_task *parent, struct wb_task *child)
{
    struct bsd_task *c = bsd_task(child);
    c->slice = 1; /* to be looked at soon */
    if (!parent || parent->klass == WB_CLASS_SWAPPER) return;
    struct bsd_task *p = bsd_task(parent);
    c->parent = parent->id;
    c->runtime = p->runtime;
    c->sleeptime = p->sleeptime;
    c->user_prio = p->user_prio; /* as it is: the score is not asked */
    ule_forget_fork(ule_of(x), c);
    ule_ran(ule_of(x), p, 1);
}

/* sched_exit_ksegrp(): what the child ran counts as its parent's run time. */
static void exit_task(struct wb_exec *x, struct wb_task *t)
{
    const struct bsd_task *c = bsd_task(t);
    if (c->parent == WB_NO_TASK) return;
    struct wb_task *parent = wb_task_of(x->sim, c->parent);
    if (parent->state == WB_DEAD) return;
    bsd_task(parent)->runtime += c->runtime;
    ule_forget(ule_of(x), bsd_task(parent));
}

/* sched_nice(): counts and priority; the place in a calendar stays until it has run. */
static void task_changed(struct wb_exec *x, struct wb_task *t)
{
    struct bsd_task *p = bsd_task(t);
    struct wb_rq *rq = wb_rq(x->sim, t->cpu);
    ule_priority(p);
    if (!t->on_rq) return;
    ule_load_rem(ule_rq(rq), p);
    ule_load_add(ule_rq(rq), p);
    if (rq->curr == t) wb_resched(x, rq);
}

/* The calendar is the new CPU's to choose. */
static void migrate(struct wb_exec *x, struct wb_task *t, cpu_id from, cpu_id to)
{
    (void)x;
    (void)from;
    (void)to;
    bsd_task(t)->home = NULL;
}

/* ---- ticks ---- */

/* sched_clock(): the slice is over: priority, slice and calendar anew. */
static void slice_end(struct wb_exec *x, struct wb_rq *rq, struct bsd_task *p)
{
    const struct ule_sim *o = ule_of(x);
    struct ule_rq *r = ule_rq(rq);
    uint8_t now = bsd_prio(p);
    ule_load_rem(r, p);
    wb_charge_fn(x, o->fn_score);
    ule_priority(p);
    ule_slice(o, r, p);
    p->home = ule_current(o, p, now) ? r->curr : r->next;
    ule_load_add(r, p);
    wb_resched(x, rq);
}

/* sched_clock() comes with the statistics clock, and so do slices and run times, though both are set up in ticks. */
static void stat_tick(struct wb_exec *x, struct wb_rq *rq, struct bsd_task *p)
{
    ule_ran(ule_of(x), p, 1);
    if (--p->slice <= 0) slice_end(x, rq, p);
}

/* The balancer's callout has a thread of its own, which preempts whoever runs on the CPU of the clock. */
static void tick(struct wb_exec *x, struct wb_rq *rq)
{
    const struct ule_sim *o = ule_of(x);
    struct ule_rq *r = ule_rq(rq);
    if (wb_idle_cpu(rq)) {
        if (rq->nr_running) wb_resched(x, rq);
        return;
    }
    struct bsd_task *p = bsd_task(rq->curr);
    for (r->stat += o->stathz; r->stat >= o->hz; r->stat -= o->hz)
        if (p->counted) stat_tick(x, rq, p); /* real time, idle class: no slice */
    if (rq->cpu == 0 && rq->ticks % o->balance_ticks == 0) wb_resched(x, rq);
}

/* Ticks of an idle CPU do nothing, but CPU 0 balances. */
static uint64_t tick_idle_for(struct wb_sim *s, struct wb_rq *rq)
{
    (void)s;
    return rq->cpu && wb_idle_cpu(rq) && !rq->nr_running ? 1ull << 32 : 0;
}

static void tick_closed(struct wb_sim *s, struct wb_rq *rq, uint64_t n, sim_time last)
{
    (void)s;
    (void)rq;
    (void)n;
    (void)last;
}

/* ---- explain ---- */

static void describe(const struct wb_sim *s, const struct wb_rq *rq, const struct wb_task *t, char *buf, size_t n)
{
    const struct ule_rq *r = ule_rq(rq);
    if (!t) {
        snprintf(buf, n, "%u running, %u transferable, current calendar %u, next %u", rq->nr_running, r->transferable,
                 r->curr->nr, r->next->nr);
        return;
    }
    const struct ule_sim *o = wb_policy_data((struct wb_sim *)(uintptr_t)s);
    const struct bsd_task *p = bsd_task(t);
    snprintf(buf, n, "priority %u (user %u%s), score %u%s, slice %d ticks, %s", bsd_prio(p), p->user_prio,
             bsd_lent(p) ? ", lent by its sleep" : "", ule_score(p), ule_interactive(o, p) ? " interactive" : "",
             p->slice, p->queue ? "queued" : "not queued");
}

const struct wb_policy_ops ule_policy = {
    .abi = WB_POLICY_ABI,
    .size = sizeof(struct wb_policy_ops),
    .name = "ule",
    .help = "ULE scheduler of FreeBSD 5.2.1: a queue per CPU, interactivity scores, balancing once a second.",
    .rules = ule_rules,
    .nrules = ULE_RULES,
    .keys = ule_keys,
    .nkeys = ULE_KEYS,
    .sim_bytes = sizeof(struct ule_sim),
    .rq_bytes = sizeof(struct ule_rq),
    .task_bytes = sizeof(struct bsd_task),
    .init = init,
    .task_init = task_init,
    .place_wakeup = place_wakeup,
    .place_fork = place_fork,
    .place_exec = place_exec,
    .fork = fork_task,
    .exit = exit_task,
    .enqueue = ule_enqueue,
    .dequeue = ule_dequeue,
    .put_prev = ule_put_prev,
    .pick = ule_pick,
    .yield = bsd_yield,
    .migrate = migrate,
    .tick = tick,
    .tick_idle_for = tick_idle_for,
    .tick_closed = tick_closed,
    .check_preempt = ule_check_preempt,
    .balance_periodic = &ule_balance,
    .balance_active = &ule_balance_active,
    .task_changed = task_changed,
    .describe = describe,
};
