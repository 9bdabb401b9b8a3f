/*
 * metric.h - what a figure means: its name, unit, direction and definition.
 *
 * Names are dotted words: "wake_latency.p99", "migrations.newidle". Values are in base units (s, B/s, 1/s, 1); a
 * share is a number from 0 to 1 with unit "1". A figure that does not exist (the elapsed time of work that was not
 * finished) is NAN; exporters write null.
 */
#ifndef WAKEBAL_METRIC_H
#define WAKEBAL_METRIC_H

#include "wakebal/base.h"

struct wb_hist;

enum wb_better { WB_BETTER_HIGHER, WB_BETTER_LOWER, WB_BETTER_NONE };

/* A per-instance progress counter: count per second, or seconds per count (per_count), or the time until done
 * (elapsed). */
struct wb_metric_spec {
    const char *name; /* "bandwidth", "round_trip", "transactions" */
    const char *unit; /* unit of the metric: "B/s", "s", "1/s" */
    enum wb_better better;
    bool per_count; /* metric is time per count instead of counts per time */
    bool elapsed;   /* metric is the time until the workload has finished */
    const char *help;
};

/* One metric of one run. Values in base units. */
struct wb_metric {
    const char *name, *unit, *help;
    enum wb_better better;
    uint32_t instance; /* workload, or UINT32_MAX for the machine */
    double value;
    const struct wb_hist *hist; /* latencies (in ps), else NULL */
    const double *window;       /* per window values, nwindows, else NULL */
    bool integer;               /* an exact count */
};

/* The table behind `wakebal list metrics`: every figure that sim/ itself reports. Those of workloads are in their ops
 * tables. A segment in capitals stands for a name: "RATE.p10" for "bandwidth.p10". */
struct wb_metric_def {
    const char *name, *unit;
    enum wb_better better;
    const char *help; /* the definition, one or two sentences */
};
/* A plain rate (counts per second) as the row of a model's table says. */
static inline struct wb_metric_spec wb_metric_spec_of(const struct wb_metric_def *d)
{
    return (struct wb_metric_spec){.name = d->name, .unit = d->unit, .better = d->better, .help = d->help};
}
const struct wb_metric_def *wb_metric_def_at(size_t i); /* sorted by name; NULL past the end */
/* exact name, else a matching pattern; NULL: unknown */
const struct wb_metric_def *wb_metric_def_find(const char *name);
/* "higher", "lower", "none". */
const char *wb_better_name(enum wb_better b);

#endif
