/* bench_speed.c - see bench_speed.h. */
#include "bench_speed.h"

#include <math.h>
#include <time.h>

#include "output.h"
#include "registry.h"
#include "wakebal/units.h"

#define SMALL "16 CPUs, 24 pairs and 16 hogs"
#define MIDDLE "256 CPUs, 1536 pairs and 1024 hogs"
#define LARGE "1024 CPUs, 6144 pairs and 4096 hogs"
#define HUGEST "4096 CPUs, 37500 pairs and 25000 hogs"
#define O1 "linux-2.6.22"
#define EEVDF "linux-6.12"

/* The goal of each size is the same whatever the scheduler; the last ones are real loads. */
const struct bench_load bench_loads[] = {
    {"bench-16x64", "16x64", SMALL ", " O1, O1, O1, 5, 20, "20 ms", "500 ms", true, false},
    {"bench-16x64", "16x64_eevdf", SMALL ", " EEVDF, EEVDF, EEVDF, 5, 20, "20 ms", "300 ms", true, false},
    {"bench-256x4096", "256x4096", MIDDLE ", " O1, O1, O1, 2.5, 10, "20 ms", "100 ms", true, false},
    {"bench-256x4096", "256x4096_eevdf", MIDDLE ", " EEVDF, EEVDF, EEVDF, 2.5, 10, "10 ms", "20 ms", true, false},
    {"bench-1024x16384", "1024x16384", LARGE ", " O1, O1, O1, 0, 0, "10 ms", "30 ms", false, true},
    {"bench-1024x16384", "1024x16384_eevdf", LARGE ", " EEVDF, EEVDF, EEVDF, 0, 0, "5 ms", "8 ms", false, true},
    {"bench-4096x100000", "4096x100000", HUGEST ", " O1, O1, O1, 0, 0, "5 ms", "10 ms", false, true},
    {"bench-4096x100000", "4096x100000_eevdf", HUGEST ", " EEVDF, EEVDF, EEVDF, 0, 0, "1 ms", "2 ms", false, true},
    {"ia64-bw-pipe-2005", "case", "bw_pipe on the Itanium, 2.6.11, free (the case)", NULL, NULL, 0, 0, "1 ms", "500 ms",
     true, false},
    {"ia64-bw-pipe-2005", "case_old", "bw_pipe on the Itanium, 2.6.10, free (the case)", "linux-2.6.10", NULL, 0, 0,
     "1 ms", "500 ms", true, false},
};
const size_t bench_nloads = WB_ARRAY_SIZE(bench_loads);
_Static_assert(WB_ARRAY_SIZE(bench_loads) <= BENCH_LOADS_MAX, "too many loads");

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static sim_time time_of(const char *text)
{
    int64_t v = 0;
    const char *why;
    size_t at;
    WB_CHECK(!wb_parse_quantity(text, WB_UNIT_TIME, &v, &why, &at), "time '%s' of a load", text);
    return (sim_time)v;
}

static double metric_of(const struct wb_result *r, const char *name)
{
    const struct wb_metric *m = wb_result_find(r, UINT32_MAX, name);
    return m ? m->value : NAN;
}

/* Run one simulation in one mode; the last one's counts stand, they are the same each time. */
static struct wb_sim *run(const struct wb_config *cfg, const struct bench_load *l, bool no_inline, struct wb_diag *d,
                          struct bench_mode *mode)
{
    struct wb_run_options opt = {.no_inline = no_inline};
    struct wb_sim *sim = wb_sim_build(cfg, cli_models(), 0, &opt, d);
    if (!sim) return NULL;
    (void)wb_sim_step_to(sim, time_of(l->settle));
    struct wb_sim_counts a = wb_sim_counts(sim);
    double from = thread_seconds();
    (void)wb_sim_run(sim);
    mode->s = WB_MIN(mode->s, thread_seconds() - from);
    struct wb_sim_counts z = wb_sim_counts(sim);
    mode->events = (double)(z.events - a.events);
    mode->stale = (double)(z.stale - a.stale);
    mode->inlined = (double)(z.inlined - a.inlined);
    return sim;
}

static int run_both(const struct wb_config *cfg, const struct bench_load *l, struct wb_diag *d, struct bench_speed *s)
{
    struct wb_sim *sim = run(cfg, l, false, d, &s->ahead);
    if (!sim) return -1;
    const struct wb_result *r = wb_sim_result(sim);
    s->peak = (double)r->peak_events;
    s->simulated = (double)(r->duration - r->measured_from) * 1e-12;
    s->wakeups = metric_of(r, "wakeups");
    wb_sim_free(sim);
    sim = run(cfg, l, true, d, &s->posted);
    if (!sim) return -1;
    wb_sim_free(sim);
    return 0;
}

/* Load and build once, measured, and throw it away. */
static struct wb_scenario *load_once(const struct bench_load *l, struct wb_key_registry *keys, struct wb_diag *d,
                                     struct bench_speed *s)
{
    struct wb_override set[] = {{.key = "run.duration", .value = l->duration, .from = "bench"},
                                {.key = "run.warmup", .value = l->settle, .from = "bench"}};
    struct wb_overrides over = {.item = set, .n = WB_ARRAY_SIZE(set), .kernel = l->kernel};
    struct wb_run_options plain = {.trace_capacity = 0};
    double from = thread_seconds();
    struct wb_scenario *sc = wb_scenario_load(l->scenario, keys, &over, d);
    if (!sc) return NULL;
    struct wb_sim *sim = wb_sim_build(wb_scenario_config(sc), cli_models(), 0, &plain, d);
    s->load_s = thread_seconds() - from;
    if (!sim) {
        wb_scenario_free(sc);
        return NULL;
    }
    wb_sim_memory(sim, &s->memory);
    wb_sim_free(sim);
    return sc;
}

int bench_measure(const struct bench_load *l, struct wb_key_registry *keys, unsigned times, struct wb_diag *d,
                  struct bench_speed *s)
{
    *s = (struct bench_speed){.ahead.s = INFINITY, .posted.s = INFINITY};
    struct wb_scenario *sc = load_once(l, keys, d, s);
    if (!sc) return -1;
    int err = 0;
    if (l->large) times = WB_MIN(times, 2u);
    for (unsigned i = 0; i < times && !err && !out_stop; i++) err = run_both(wb_scenario_config(sc), l, d, s);
    wb_scenario_free(sc);
    return err;
}
