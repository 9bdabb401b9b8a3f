#include "fakesim.h"

#include <stdlib.h>
#include <string.h>

struct fakesim_knobs fakesim = {.scale = 1, .spread = 0.01};
int fakesim_runs;

enum { WINDOWS = 10, METRICS = 5 };

struct wb_sim {
    struct wb_result r;
    struct wb_metric metric[METRICS];
    double bandwidth[WINDOWS], colocated[WINDOWS];
    struct wb_hist hist;
    sim_time cat[2][WB_CAT_N], fn[2];
    const char *fn_name[2], *rule_name[2];
    uint64_t rule[2];
};

static void fill_windows(struct wb_sim *s, double bandwidth)
{
    for (size_t i = 0; i < WINDOWS; i++) {
        s->colocated[i] = i % 2 ? 1 : 0;
        s->bandwidth[i] = bandwidth * (i % 2 ? 1.5 : 0.5);
    }
}

static void fill_metrics(struct wb_sim *s, double bandwidth, uint32_t replication)
{
    wb_hist_reset(&s->hist);
    for (uint64_t v = 1; v <= 100; v++) wb_hist_add(&s->hist, v * 1000000); /* 1 us .. 100 us */
    const struct wb_metric m[METRICS] = {
        {"bandwidth", "B/s", "bytes moved per second", WB_BETTER_HIGHER, 0, bandwidth, NULL, s->bandwidth, false},
        {"colocated", "1", "share of time on one CPU", WB_BETTER_NONE, 0, 0.5, NULL, s->colocated, false},
        {"pipe.wakes", "1", "wake calls", WB_BETTER_NONE, 0, 1000 + (double)replication, NULL, NULL, true},
        {"migrations", "1", "moves of tasks", WB_BETTER_LOWER, UINT32_MAX, 42, NULL, NULL, true},
        {"wake_latency", "s", "from wakeup to running", WB_BETTER_LOWER, UINT32_MAX, 50.5e-6, &s->hist, NULL, false},
    };
    memcpy(s->metric, m, sizeof m);
}

struct wb_sim *wb_sim_build(const struct wb_config *cfg, const struct wb_registry *reg, uint32_t replication,
                            const struct wb_run_options *opt, struct wb_diag *d)
{
    (void)reg, (void)opt;
    if (fakesim.fail_build) {
        wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){0}, NULL, "the fake engine refuses replication %u",
                    replication);
        return NULL;
    }
    __atomic_add_fetch(&fakesim_runs, 1, __ATOMIC_RELAXED);
    struct wb_sim *s = calloc(1, sizeof *s);
    double deviation = fakesim.spread / (1 + replication) * (replication % 2 ? -1 : 1);
    double bandwidth = 1e9 * fakesim.scale * (1 + deviation);
    if (fakesim.cost_key) bandwidth *= 1e6 / (double)wb_cfg_cost(cfg, fakesim.cost_key, 1000000000, 1000000);
    fill_windows(s, bandwidth);
    fill_metrics(s, bandwidth, replication);
    s->fn_name[0] = "copy_user", s->fn_name[1] = "schedule";
    s->fn[0] = 3 * WB_S / 4, s->fn[1] = WB_S / 4;
    s->rule_name[0] = "sync and waker alone", s->rule_name[1] = "previous CPU idle";
    s->rule[0] = 7, s->rule[1] = 0;
    s->cat[0][WB_CAT_COPY] = WB_S, s->cat[1][WB_CAT_IDLE] = WB_S;
    s->r = (struct wb_result){.seed = 7,
                              .replication = replication,
                              .duration = WB_S,
                              .finished = !fakesim.unfinished,
                              .metric = s->metric,
                              .nmetrics = METRICS,
                              .window_ps = 100 * WB_MS,
                              .nwindows = WINDOWS,
                              .events = 1000,
                              .stale = 10,
                              .peak_events = 20,
                              .fingerprint = 0x1234 + replication,
                              .cat_time = s->cat,
                              .ncpus = 2,
                              .fn_time = s->fn,
                              .fn_name = s->fn_name,
                              .nfn = 2,
                              .rule_name = s->rule_name,
                              .rule_count = s->rule,
                              .nrules = 2};
    return s;
}

enum wb_run_end wb_sim_run(struct wb_sim *s)
{
    return s->r.finished ? WB_RUN_DONE : WB_RUN_LATE;
}

const char *wb_sim_stalled(const struct wb_sim *s, uint32_t *instance)
{
    (void)s;
    *instance = 0;
    return "nobody";
}

const struct wb_result *wb_sim_result(struct wb_sim *s)
{
    return &s->r;
}

void wb_sim_free(struct wb_sim *s)
{
    free(s);
}

/* Normally in sim/kernel. */
const char *const wb_cat_name[WB_CAT_N] = {"user",  "syscall",    "copy",      "refill", "line", "lock",
                                           "sched", "wakeup",     "balance",   "tick",   "irq",  "softirq",
                                           "noise", "idle_entry", "idle_exit", "idle"};
