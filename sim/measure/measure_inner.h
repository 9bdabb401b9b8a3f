/*
 * measure_inner.h - the inside of struct wb_measure, shared by the files of sim/measure only.
 *
 * A *column* is a 64-bit count with windows: its value now, at the end of the warm-up and at the last window's end,
 * and one delta per window. Progress, series and pair groups own columns by number. Lists keep creation order, which
 * is the order of the fingerprint. Arrays that grow do so while building only.
 */
#ifndef WB_MEASURE_INNER_H
#define WB_MEASURE_INNER_H

#include "measure.h"

enum { PAIR_UNKNOWN, PAIR_APART, PAIR_TOGETHER };

struct column {
    const uint64_t *value; /* where the count lives (series: set by measure_seal, their array may move before) */
    uint64_t base, last;
    uint64_t *window; /* [windows_max] */
};

struct progress_item {
    struct wb_progress p;
    struct wb_metric_spec spec;
    struct progress_item *next;
};

struct series_item {
    struct measure_series_def def;
    uint32_t column;
};

struct pair {
    sim_time since;  /* accounted up to here */
    sim_time regime; /* begin of the present regime, not before the end of the warm-up */
    uint32_t group;
    uint8_t state;
};

struct pair_group {
    uint32_t instance;
    const char *name;         /* or NULL */
    uint64_t together, known; /* ps, summed over the pairs */
    uint32_t col_together, col_known;
    uint64_t changes;        /* together <-> apart */
    struct wb_hist *hist[2]; /* regime lengths: [0] apart, [1] together */
    struct pair_group *next;
    uint32_t index;
};

struct figure {
    struct wb_metric_def def;
    uint32_t instance;
    bool integer;
    double value;
};

/* Histograms are reserves: of their thirty KiB, only the octaves that values fell in cost memory. */
struct hist_piece {
    struct wb_hist hist;
    struct hist_piece *next;
};

struct wb_measure {
    struct measure_hot hot; /* first: the inline functions see it */
    struct arena *a;
    bool sealed, started, finished;
    uint32_t ninstances;
    sim_time *instance_start, *instance_done; /* WB_TIME_NEVER = not yet */

    sim_time window, window_end;
    sim_time start, finish;
    uint32_t nwindows, windows_max;
    sim_time run_length;

    struct column *column;
    uint32_t ncolumns, columns_room;
    struct series_item *series;
    uint32_t nseries, series_room;
    struct pair *pair;
    uint32_t npairs, pairs_room;

    struct progress_item *progress, **progress_end;
    struct wb_counter *counter, **counter_end;
    struct wb_latency *latency, **latency_end;
    struct pair_group *group, **group_end, **group_table;
    uint32_t ngroups;

    struct hist_piece *hists;
    struct arena out; /* figures and results: taken after the run */
    struct figure *figure;
    size_t nfigures, figures_room;
    bool out_of_memory;       /* a figure was refused: measure_result() says so */
    struct wb_metric *metric; /* of measure_result() */
    size_t nmetrics;
};
_Static_assert(offsetof(struct wb_measure, hot) == 0, "the inline functions see the head");

/* A new column; UINT32_MAX when memory is refused. */
uint32_t measure_column(struct wb_measure *m, const uint64_t *value);
/* An empty one, or NULL. measure_free() gives it back. */
struct wb_hist *measure_hist_new(struct wb_measure *m);
/* Room for one more element of an arena array that is full: doubles and copies. NULL when memory is refused. */
void *measure_grow(struct arena *a, void *old, uint32_t n, uint32_t *room, size_t size);
/* Bring the pairs' times up to now. */
void measure_pairs_flush(struct wb_measure *m, sim_time now);
void measure_pairs_start(struct wb_measure *m, sim_time now);
void measure_pairs_finish(struct wb_measure *m, sim_time now);

#endif
