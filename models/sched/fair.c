/* fair.c - the two policies' tables, configuration, description for `explain`. */
#include "fair.h"

#include <stdio.h>
#include <string.h>

#include "wakebal/units.h"

/* ---- configuration ---- */

uint64_t fair_given(const struct wb_config *cfg, const char *path, uint64_t otherwise)
{
    return wb_cfg_has(cfg, path) ? (uint64_t)wb_cfg_int(cfg, path) : otherwise;
}

uint64_t fair_given_ns(const struct wb_config *cfg, const char *path, uint64_t otherwise_ns)
{
    return fair_given(cfg, path, otherwise_ns * WB_NS) / WB_NS;
}

bool fair_given_bool(const struct wb_config *cfg, const char *path, bool otherwise)
{
    return wb_cfg_has(cfg, path) ? wb_cfg_bool(cfg, path) : otherwise;
}

int fair_knobs_check(const struct fair_sim *f, const struct wb_config *cfg, struct wb_diag *d)
{
    int err = 0;
    for (size_t i = 0; i < fair_nknobs; i++) {
        const struct fair_knob *k = &fair_knobs[i];
        char set[96];
        if (fair_has(f, k->releases) || !wb_cfg_has(cfg, k->key)) continue;
        wb_cfg_error(cfg, d, k->key, "leave it out or choose such a kernel",
                     "%s does not exist in Linux %s; it is in %s", k->key, f->v->name,
                     fair_releases_text(k->releases, set, sizeof set));
        err = -1;
    }
    return err;
}

/* get_update_sysctl_factor: what a default grows by with the CPUs. */
static uint64_t factor(const struct fair_sim *f, const struct wb_config *cfg)
{
    uint32_t cpus = f->v->scale_cpus ? WB_MIN(f->ncpus, f->v->scale_cpus) : f->ncpus;
    const char *how = wb_cfg_has(cfg, "policy.tunable_scaling") ? wb_cfg_str(cfg, "policy.tunable_scaling") : "log";
    if (!strcmp(how, "none")) return 1;
    if (!strcmp(how, "linear")) return cpus;
    return 32u - (uint32_t)__builtin_clz(cpus);
}

static uint64_t scaled(const struct fair_sim *f, uint64_t base, uint64_t by)
{
    return f->v->scale_cap ? WB_MIN(base * by, f->v->scale_cap) : base * by;
}

static void read_granularities(struct fair_sim *f, const struct wb_config *cfg)
{
    const struct fair_version *v = f->v;
    uint64_t by = factor(f, cfg);
    f->latency = fair_given_ns(cfg, "policy.latency", scaled(f, v->latency, by));
    f->min_granularity = fair_given_ns(cfg, "policy.min_granularity", scaled(f, v->min_granularity, by));
    /* Neither of the two has a cap. */
    uint64_t wakeup = v->wakeup_follows_min ? f->min_granularity / 2 : v->wakeup_granularity * by;
    uint64_t batch = v->wakeup_follows_min ? v->batch_wakeup_granularity : v->batch_wakeup_granularity * by;
    f->wakeup_granularity = fair_given_ns(cfg, "policy.wakeup_granularity", wakeup);
    f->batch_wakeup_granularity = fair_given_ns(cfg, "policy.batch_wakeup_granularity", batch);
    f->idle_min_granularity = fair_given_ns(cfg, "policy.idle_min_granularity", v->idle_min_granularity);
    f->runtime_limit = fair_given_ns(cfg, "policy.runtime_limit", f->latency);
    f->stat_granularity = fair_given_ns(cfg, "policy.stat_granularity", 0);
    f->base_slice = fair_given_ns(cfg, "policy.base_slice", v->base_slice * by);
    f->base_slice_unscaled = f->base_slice / by;
    bool set = wb_cfg_has(cfg, "policy.latency") || wb_cfg_has(cfg, "policy.min_granularity");
    uint64_t n = set && v->nr_latency ? (f->latency + f->min_granularity - 1) / f->min_granularity : v->nr_latency;
    f->nr_latency = (uint32_t)fair_given(cfg, "policy.nr_latency", n);
}

static void read_switches(struct fair_sim *f, const struct wb_config *cfg)
{
    f->migration_cost = f->v->release == FAIR_2_6_23 ? 0 : fair_given_ns(cfg, "policy.migration_cost", 500000);
    f->nr_migrate = f->v->release == FAIR_2_6_23 ? 0 : (uint32_t)fair_given(cfg, "policy.nr_migrate", 32);
    f->child_runs_first = fair_given_bool(cfg, "policy.child_runs_first", f->v->child_runs_first);
    f->compat_yield = fair_given_bool(cfg, "policy.compat_yield", false);
    f->lag_kept = wb_cfg_has(cfg, "policy.delayed_lag") && !strcmp(wb_cfg_str(cfg, "policy.delayed_lag"), "kept");
    f->lazy = fair_given_bool(cfg, "policy.preempt_lazy", false) && f->v->lazy;
    f->drops_delayed = fair_given_bool(cfg, "policy.wakeup_drops_delayed", false);
    f->fork_waits = fair_given_bool(cfg, "policy.fork_waits", false);
    f->nohz = fair_given_bool(cfg, "policy.nohz", f->v->release != FAIR_2_6_23);
    f->nohz_at_once = fair_given_bool(cfg, "policy.nohz_at_once", f->v->release < FAIR_5_4);
}

/* "NAME 3 ms". */
static int read_slice(struct wb_sim *s, struct fair_slice *out, const char *text)
{
    const char *gap = strchr(text, ' '), *why;
    int64_t ps;
    size_t at;
    if (!gap || gap == text || wb_parse_quantity(gap + 1, WB_UNIT_TIME, &ps, &why, &at)) return -1;
    if (ps < (int64_t)(100 * WB_US) || ps > (int64_t)(100 * WB_MS)) return -1;
    size_t n = (size_t)(gap - text);
    char *name = wb_sim_alloc(s, n + 1);
    memcpy(name, text, n);
    name[n] = 0;
    *out = (struct fair_slice){.task = name, .ns = (uint64_t)ps / WB_NS};
    return 0;
}

static int read_slices(struct wb_sim *s, struct fair_sim *f, const struct wb_config *cfg, struct wb_diag *d)
{
    size_t n = wb_cfg_has(cfg, "policy.task_slices") ? wb_cfg_count(cfg, "policy.task_slices") : 0;
    int err = 0;
    f->slices = wb_sim_alloc(s, (n + 1) * sizeof *f->slices);
    for (size_t i = 0; i < n; i++) {
        const char *text = wb_cfg_str_at(cfg, "policy.task_slices", i);
        if (!read_slice(s, &f->slices[f->nslices], text)) {
            f->nslices++;
            continue;
        }
        struct wb_place place = wb_cfg_place_in(cfg, "policy.task_slices", i, 0, strlen(text));
        wb_diag_add(d, WB_ERROR, NULL, place, "write \"NAME 3 ms\", 0.1 to 100 ms", "no task and slice: \"%s\"", text);
        err = -1;
    }
    return err;
}

/* ---- start ---- */

static const struct fair_order_ops *const orders[] = {
    [FAIR_WAIT_RUNTIME] = &fair_wait_order, [FAIR_VRUNTIME] = &fair_vruntime_order, [FAIR_EEVDF] = &fair_eevdf_order};

/* Virtual times start just before they wrap, as in the kernels, so that a comparison that forgets it shows. */
#define FIRST_VRUNTIME ((uint64_t) - (1ll << 20))

static void init_queue(struct wb_sim *s, const struct fair_sim *f, cpu_id cpu)
{
    struct fair_rq *r = fair_rq(wb_rq(s, cpu));
    r->min_vruntime = FIRST_VRUNTIME;
    r->tick_jiffies = r->load_jiffies = wb_jiffies(s);
    r->avg_idle = 2 * f->migration_cost;
    r->wake_avg_idle = r->avg_idle;
    r->max_idle_cost = f->migration_cost;
}

/* Costs that no kernel file gives are in fair_keys.c. */
static void label_functions(struct wb_sim *s, struct fair_sim *f)
{
    f->fn_update_curr = wb_fn_id(s, "update_curr", WB_CAT_TICK, 25 * WB_NS);
    f->fn_pick = wb_fn_id(s, "pick_next_entity", WB_CAT_SCHED, 20 * WB_NS);
    f->fn_place = wb_fn_id(s, "place_entity", WB_CAT_WAKEUP, 15 * WB_NS);
}

static int init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    struct fair_sim *f = wb_policy_data(s);
    const char *name = wb_cfg_str(cfg, "policy.version");
    f->v = fair_version_find(name);
    if (!f->v) {
        wb_cfg_error(cfg, d, "policy.version", "see wakebal help policy.version",
                     "the fair classes have no version \"%s\"", name);
        return -1;
    }
    f->ops = orders[f->v->order];
    f->ncpus = wb_ncpus(s);
    f->hz = wb_hz(s);
    f->tick_ns = 1000000000ull / f->hz;
    int err = fair_knobs_check(f, cfg, d);
    if (fair_features_read(f, cfg, d)) err = -1;
    if (read_slices(s, f, cfg, d)) err = -1;
    if (err) return -1;
    read_granularities(f, cfg);
    read_switches(f, cfg);
    fair_loads_init(f);
    label_functions(s, f);
    for (cpu_id c = 0; c < f->ncpus; c++) init_queue(s, f, c);
    if (fair_place_init(s, cfg, d) || fair_balance_init(s, cfg, d)) return -1;
    fair_rows_init(s, f);
    return 0;
}

/* ---- explain ---- */

static void describe_task(const struct fair_sim *f, const struct fair_rq *r, const struct fair_task *p, char *buf,
                          size_t n)
{
    const char *where = !p->on_rq ? "not queued" : p == r->curr ? "running" : p->delayed ? "delayed" : "queued";
    long long ahead = (long long)(p->vruntime - r->min_vruntime);
    switch (f->v->order) {
    case FAIR_WAIT_RUNTIME:
        snprintf(buf, n, "%s, weight %llu, wait_runtime %lld ns", where, (unsigned long long)p->weight.value,
                 (long long)p->wait_runtime);
        break;
    case FAIR_VRUNTIME:
        snprintf(buf, n, "%s, weight %llu, vruntime min %+lld ns", where, (unsigned long long)p->weight.value, ahead);
        break;
    case FAIR_EEVDF:
        snprintf(buf, n, "%s, weight %llu, vruntime min %+lld ns, deadline %+lld ns, lag %lld ns", where,
                 (unsigned long long)p->weight.value, ahead, (long long)(p->deadline - p->vruntime),
                 (long long)p->vlag);
        break;
    }
}

static void describe(const struct wb_sim *s, const struct wb_rq *rq, const struct wb_task *t, char *buf, size_t n)
{
    const struct fair_sim *f = wb_policy_data((struct wb_sim *)(uintptr_t)s);
    const struct fair_rq *r = fair_rq(rq);
    if (t && fair_is_rt(t))
        snprintf(buf, n, "real time, priority %u", fair_rt_rank(t));
    else if (t)
        describe_task(f, r, fair_task(t), buf, n);
    else
        snprintf(buf, n, "%u running, %u fair (%u delayed), weight %llu, load %llu, util %llu", rq->nr_running, r->nr,
                 r->nr_delayed, (unsigned long long)r->load.value, (unsigned long long)fair_cpu_load(f, r),
                 (unsigned long long)r->avg.util_avg);
}

/* ---- the tables ---- */

#define FAIR_HOOKS \
    .abi = WB_POLICY_ABI, .size = sizeof(struct wb_policy_ops), .rules = fair_rules, .nrules = FAIR_RULES, \
    .sim_bytes = sizeof(struct fair_sim), .rq_bytes = sizeof(struct fair_rq), .task_bytes = sizeof(struct fair_task), \
    .init = init, .task_init = fair_task_init, .place_wakeup = fair_place_wakeup, .place_fork = fair_place_fork, \
    .place_exec = fair_place_exec, .fork = fair_fork, .exit = fair_exit, .enqueue = fair_enqueue, \
    .dequeue = fair_dequeue, .put_prev = fair_put_prev, .pick = fair_pick, .yield = fair_yield, \
    .migrate = fair_migrate, .tick = fair_tick, .tick_idle_for = fair_tick_idle_for, .tick_closed = fair_tick_closed, \
    .check_preempt = fair_check_preempt, .switched = fair_switched, .balance_newidle = &fair_balance_newidle, \
    .balance_periodic = &fair_balance_periodic, .balance_nohz = &fair_balance_nohz, \
    .balance_active = &fair_balance_active, .queue_remote = fair_queue_remote, .idle_enter = fair_idle_enter, \
    .idle_exit = fair_idle_exit, .task_changed = fair_task_changed, .describe = describe, .set_next = fair_set_next

const struct wb_policy_ops fair_cfs_policy = {
    .name = "cfs",
    .help = "CFS of Linux 2.6.23 to 6.1: virtual run time, sleeper credit, wakeup granularity.",
    .keys = fair_keys,
    .nkeys = FAIR_KEYS,
    FAIR_HOOKS,
};

/* Its rows are in the table of "cfs". */
const struct wb_policy_ops fair_eevdf_policy = {
    .name = "eevdf",
    .help = "EEVDF of Linux 6.6 to 6.18: eligible tasks by virtual deadline, lag, slice protection, delayed dequeue.",
    FAIR_HOOKS,
};
