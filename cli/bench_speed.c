/* bench_speed.c - see bench_speed.h. */
#include "bench_speed.h"

#include <time.h>

#include "output.h"
#include "registry.h"
#include "wakebal/units.h"

#define O1 "linux-2.6.22"
#define CFS "linux-5.4"
#define EEVDF "linux-6.12"
#define LATEST "linux-6.18"
#define QUICK (BENCH_QUICK | BENCH_PLAIN | BENCH_SCALE)
#define PLAIN (BENCH_PLAIN | BENCH_SCALE)
/* The sizes under one kernel. The goal of each size is the same whatever the scheduler. t: tag's end; m, l, h: when the
 * quoted sizes, the middle one and the large ones are measured. The times are those after which a load is steady. */
#define SIZES(k, t, q, p) \
    {"bench-16x64", "16x64" t, "16 CPUs, 24 pairs and 16 hogs, " k, k, k, 5, 20, "20 ms", "500 ms", q, false}, \
        {"bench-64x256", "64x256" t, "64 CPUs, 96 pairs and 64 hogs, " k, k, k, 0, 0, "20 ms", "140 ms", \
         BENCH_SCALE,    false}, \
        {"bench-256x1024", "256x1024" t, "256 CPUs, 384 pairs and 256 hogs, " k, k, k, 0, 0, "20 ms", "60 ms", \
         BENCH_SCALE,      false}, \
        {"bench-256x4096", \
         "256x4096" t, \
         "256 CPUs, 1536 pairs and 1024 hogs, " k, \
         k, \
         k, \
         2.5, \
         10, \
         "20 ms", \
         "60 ms", \
         q, \
         false}, \
        {"bench-1024x16384", \
         "1024x16384" t, \
         "1024 CPUs, 6144 pairs and 4096 hogs, " k, \
         k, \
         k, \
         0, \
         0, \
         "20 ms", \
         "28 ms", \
         p, \
         true}, \
    { \
        "bench-4096x100000", "4096x100000" t, "4096 CPUs, 37500 pairs and 25000 hogs, " k, k, k, 0, 0, "20 ms", \
            "24 ms", p, true \
    }

/* The last ones are real loads. */
const struct bench_load bench_loads[] = {
    SIZES(O1, "", QUICK, PLAIN),
    SIZES(CFS, "_cfs", BENCH_SCALE, BENCH_SCALE),
    SIZES(EEVDF, "_eevdf", QUICK, PLAIN),
    SIZES(LATEST, "_latest", BENCH_SCALE, BENCH_SCALE),
    {"ia64-bw-pipe-2005", "case", "bw_pipe on the Itanium, 2.6.11, free (the case)", NULL, NULL, 0, 0, "1 ms", "1 s",
     BENCH_QUICK | BENCH_PLAIN, false},
    {"ia64-bw-pipe-2005", "case_old", "bw_pipe on the Itanium, 2.6.10, free (the case)", "linux-2.6.10", NULL, 0, 0,
     "1 ms", "1 s", BENCH_QUICK | BENCH_PLAIN, false},
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

/* One stretch of a simulation in one mode; of several the fastest per event stands. */
static void stretch(struct wb_sim *sim, sim_time until, bool post, struct bench_mode *best)
{
    struct wb_sim_counts a = wb_sim_counts(sim);
    wb_sim_post_segments(sim, post);
    double from = thread_seconds();
    (void)wb_sim_step_to(sim, until);
    struct bench_mode m = {.s = thread_seconds() - from};
    struct wb_sim_counts z = wb_sim_counts(sim);
    m.events = (double)(z.events - a.events);
    m.stale = (double)(z.stale - a.stale);
    m.inlined = (double)(z.inlined - a.inlined);
    m.wakeups = (double)(z.wakeups - a.wakeups);
    m.births = (double)(z.born - a.born);
    if (best->events == 0.0 || m.s * best->events < best->s * m.events) *best = m;
}

/* The beginning, then half of what is left in each mode: the load is steady by then, so both see the same. */
static int run(const struct wb_config *cfg, const struct bench_load *l, struct wb_diag *d, struct bench_speed *s)
{
    struct wb_run_options plain = {.trace_capacity = 0};
    sim_time settle = time_of(l->settle), end = time_of(l->duration), half = (end - settle) / 2;
    struct wb_sim *sim = wb_sim_build(cfg, cli_models(), 0, &plain, d);
    if (!sim) return -1;
    double from = thread_seconds();
    (void)wb_sim_step_to(sim, settle);
    s->settle_s = thread_seconds() - from;
    s->born = (double)wb_sim_counts(sim).born;
    stretch(sim, settle + half, false, &s->ahead);
    stretch(sim, end - 1, true, &s->posted);
    (void)wb_sim_run(sim);
    s->peak = (double)wb_sim_result(sim)->peak_events;
    s->simulated = (double)half * 1e-12;
    wb_sim_memory(sim, &s->after);
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
    *s = (struct bench_speed){.born = 0};
    struct wb_scenario *sc = load_once(l, keys, d, s);
    if (!sc) return -1;
    int err = 0;
    if (l->large) times = 1;
    for (unsigned i = 0; i < times && !err && !out_stop; i++) err = run(wb_scenario_config(sc), l, d, s);
    wb_scenario_free(sc);
    return err;
}
