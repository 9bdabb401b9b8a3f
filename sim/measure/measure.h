/*
 * measure.h - counting what a run does, in windows, with a warm-up, and turning counts into metrics.
 *
 * Life of a struct wb_measure, all from one run and one thread:
 *
 *   measure_new()              build: create progress, latencies, counters, series, pairs
 *   measure_seal()             build ends: window storage is taken; nothing is allocated afterwards until the result
 *   measure_start(now)         warm-up ends (call it with the start time when there is none): baselines are taken,
 *                              histograms are emptied, the first window opens
 *   t = measure_window(now)    a window closes; returns when the next one wants to close. Windows have equal width
 *   measure_finish(now)        the run ends: open regimes are closed. A window that is not full counts in totals, not
 *   in windows measure_metric(...)        final figures that the caller counted by itself
 *   measure_result(r)          metrics, sorted; measure_fingerprint()
 *   measure_free()             gives back what the result took; the rest is the arena's
 *
 * The event path sees plain integer additions (the inline functions at the end), one branch at most. Adding before
 * measure_start() is fine: it is subtracted. What a counter means is its owner's business; this module knows ids and
 * times only.
 *
 * Windows: each progress, series and pair group keeps its delta per window. Room is taken for the asked run length;
 * when a run outlives it, neighbours are merged and the width doubles, so totals per window stay exact.
 *
 * Rates divide by the time an instance was at work: from the later of warm-up end and its start to its end (or the
 * run's). Work that was over before the warm-up was is measured whole, its counters and co-location too (not its
 * histograms).
 *
 * Times are ps, values of metrics are in base units (metric.h). Names, units and helps must outlive the object unless
 * said. Instance MEASURE_MACHINE = the whole machine.
 */
#ifndef WB_MEASURE_H
#define WB_MEASURE_H

#include "arena.h"
#include "wakebal/hist.h"
#include "wakebal/metric.h"

#define MEASURE_MACHINE UINT32_MAX
#define MEASURE_WINDOW_DEFAULT (100 * WB_MS)

struct wb_measure;
struct wb_result;

struct measure_options {
    uint32_t ninstances;  /* workloads of the scenario */
    sim_time window;      /* width; 0 = MEASURE_WINDOW_DEFAULT */
    sim_time run_length;  /* expected length from start to finish, for sizing; 0 = unknown */
    uint32_t windows_max; /* never more windows than this (even, >= 2); 0 = 4096 */
};

/* ---- building; all return NULL (or UINT32_MAX) only when memory is refused ---- */
struct wb_measure *measure_new(struct arena *a, const struct measure_options *opt) WB_MUST_USE;
/* Progress of an instance: the metrics `spec->name` and, for rates, its distribution over windows. spec is copied. */
struct wb_progress *measure_progress_new(struct wb_measure *m, uint32_t instance,
                                         const struct wb_metric_spec *spec) WB_MUST_USE;
/* A histogram of times: metrics NAME (mean), NAME.p50, NAME.p90, NAME.p99, NAME.max in s, NAME.count. */
struct wb_latency *measure_latency_new(struct wb_measure *m, uint32_t instance, const char *name,
                                       const char *help) WB_MUST_USE;
/* A count since warm-up: the metric `name`, exact. No windows. */
struct wb_counter *measure_counter_new(struct wb_measure *m, uint32_t instance, const char *name, const char *unit,
                                       const char *help) WB_MUST_USE;
/* A machine-wide count with windows: metrics NAME (total, exact, with its unit) and NAME.rate (per second, windowed).
 * SERIES_TIME: the count is ps of CPU time; NAME is its share of elapsed time (of `per` CPUs) and there is no rate. */
enum measure_series_kind { SERIES_COUNT, SERIES_TIME };
struct measure_series_def {
    const char *name, *unit, *help;
    enum wb_better better;
    enum measure_series_kind kind;
    uint32_t per; /* SERIES_TIME: divide by this many CPUs; 0 = 1 */
};
uint32_t measure_series_new(struct wb_measure *m, const struct measure_series_def *def) WB_MUST_USE;
/* Two tasks whose co-location is watched. Pairs of one instance with one name (NULL = no prefix) form a group: one
 * share `colocated` (windowed), `regimes`, histograms regime.together and regime.apart. A pair has no state until the
 * first set. */
uint32_t measure_pair_new(struct wb_measure *m, uint32_t instance, const char *name) WB_MUST_USE;
/* Take the window storage. 0 or -ENOMEM. Nothing may be created afterwards. */
int measure_seal(struct wb_measure *m) WB_MUST_USE;

/* ---- running ---- */
void measure_start(struct wb_measure *m, sim_time now);
/* Close the window that ends at `now`; returns the end of the next one. now must be what the last call (or
 * measure_window_end() after the start) returned. */
sim_time measure_window(struct wb_measure *m, sim_time now);
sim_time measure_window_end(const struct wb_measure *m);
/* Where the pair is from now on; repeating the same answer is fine. */
void measure_pair_set(struct wb_measure *m, uint32_t pair, bool together, sim_time now);
/* One of the two has gone: the pair is in no state any more. */
void measure_pair_end(struct wb_measure *m, uint32_t pair, sim_time now);
/* The instance's first task starts / its fixed work is done. Each counts once, later calls are ignored. */
void measure_instance_started(struct wb_measure *m, uint32_t instance, sim_time now);
/* Its time counts from here instead of from its first task's start. */
void measure_instance_begin(struct wb_measure *m, uint32_t instance, sim_time now);
void measure_instance_done(struct wb_measure *m, uint32_t instance, sim_time now);
void measure_finish(struct wb_measure *m, sim_time now);
bool measure_finished(const struct wb_measure *m);

/* ---- afterwards ---- */
/* A figure counted elsewhere. The strings of def must outlive m. */
void measure_metric(struct wb_measure *m, uint32_t instance, const struct wb_metric_def *def, double value,
                    bool integer);
/* The same for a figure of the registry (wb_metric_def_find: "ipis", "migrations.newidle"); an unknown name is a
 * bug. */
void measure_metric_named(struct wb_measure *m, uint32_t instance, const char *name, double value, bool integer);
/* Fill r->metric, nmetrics, window_ps, nwindows, measured_from, duration. Arrays are owned by m. 0 or -ENOMEM. */
int measure_result(struct wb_measure *m, struct wb_result *r) WB_MUST_USE;
/* Hash of all counters, windows, histogram bins and figures in the order of their creation. Equal runs give equal
 * values. */
uint64_t measure_fingerprint(const struct wb_measure *m);
/* Bytes that it takes beside the arena. */
size_t measure_touched(const struct wb_measure *m);
void measure_free(struct wb_measure *m); /* NULL is fine; the arena keeps its part */
/* Raw value since warm-up, for tests and step-wise views. */
uint64_t measure_progress_value(const struct wb_measure *m, const struct wb_progress *p);
uint64_t measure_series_value(const struct wb_measure *m, uint32_t series);
uint64_t measure_counter_value(const struct wb_measure *m, const struct wb_counter *c);

/* One step of the fingerprint's hash (for what the caller counts by itself, such as times per category). */
static inline uint64_t measure_hash(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ (h >> 29);
}

/* ---- the event path ---- */
struct wb_progress {
    uint64_t n;
    uint32_t instance, column;
};
struct wb_counter {
    uint64_t n, base;
    uint32_t instance;
    const char *name, *unit, *help;
    struct wb_counter *next;
};
struct wb_latency {
    struct wb_hist *hist; /* ps */
    uint32_t instance;
    const char *name, *help;
    struct wb_latency *next;
};
/* The head of struct wb_measure that the inline functions need. */
struct measure_hot {
    uint64_t *series;
};

static inline void measure_progress_add(struct wb_progress *p, uint64_t n)
{
    p->n += n;
}
static inline void measure_counter_add(struct wb_counter *c, uint64_t n)
{
    c->n += n;
}
static inline void measure_latency_add(struct wb_latency *l, sim_time v)
{
    wb_hist_add(l->hist, v);
}
static inline void measure_series_add(struct wb_measure *m, uint32_t series, uint64_t delta)
{
    ((struct measure_hot *)(void *)m)->series[series] += delta;
}

#endif
