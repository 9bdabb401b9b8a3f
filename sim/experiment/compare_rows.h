/*
 * compare_rows.h - the rows of a comparison: a figure at a point, its base, and the change in every other column.
 *
 * The first set is the base. Points are matched by their labels, or by being the only ones. Rows come in the order of
 * the base's points, then by the name of the metric. Holm's correction goes over all changes of the table.
 */
#ifndef WB_EXPERIMENT_COMPARE_ROWS_H
#define WB_EXPERIMENT_COMPARE_ROWS_H

#include <stdio.h>

#include "compare_input.h"
#include "compare_stats.h"

enum compare_verdict {
    COMPARE_UNKNOWN,   /* too few samples, or none */
    COMPARE_SAME,      /* the very same values */
    COMPARE_NOT_CLEAR, /* may be chance */
    COMPARE_BETTER,
    COMPARE_WORSE,
    COMPARE_CHANGED /* of a figure without direction */
};
extern const char *const compare_verdict_name[];

struct compare_cell {
    const struct compare_metric *metric; /* NULL: not in this set */
    struct exp_summary sum;
    struct compare_change change; /* against the base; of the base itself: nothing */
    enum compare_verdict verdict;
};

struct compare_row {
    size_t point; /* of the base */
    const char *label;
    const struct compare_metric *metric;
    struct compare_cell *cell; /* [nsets]; [0] is the base */
};

struct compare_table {
    const struct compare_set *set;
    size_t nsets;
    struct compare_row *row;
    size_t n;
    double confidence;
    size_t tests;        /* that the correction went over */
    size_t missing;      /* points of the base that another set lacks */
    size_t pairs, apart; /* changes by pairs, and by independent samples */
};

struct compare_options {
    const char *metrics; /* "a,b": these, "NAME@WORKLOAD" for one workload's; "all"; NULL: those that decide */
    double confidence;   /* 0: what the base says */
};

/* *unknown: first name of opt->metrics that no set has, malloc'd, or NULL. The sets must outlive the table. */
struct compare_table *compare_table_new(const struct compare_set *set, size_t n, const struct compare_options *opt,
                                        char **unknown);
void compare_table_free(struct compare_table *t);
/* "***", "**", "*" or "" by the corrected p. */
const char *compare_stars(const struct compare_change *c);
/* How much better (1.1 = by a tenth) column `set` is on the whole: geometric mean over figures with a direction. NAN:
 * nothing to say. */
double compare_geomean(const struct compare_table *t, size_t set);

/* ---- styles; all write to `out` and return 0 or -errno ---- */
/* As mmtests' compare-kernels.sh: a block per figure, positive percentages are better, stars where it is clear. */
int compare_style_mmtests(FILE *out, const struct compare_table *t) WB_MUST_USE;
/* As Go's benchstat: ~ where there is no clear change. */
int compare_style_benchstat(FILE *out, const struct compare_table *t) WB_MUST_USE;
int compare_style_markdown(FILE *out, const struct compare_table *t) WB_MUST_USE;
/* One line per figure, point and column. */
int compare_style_csv(FILE *out, const struct compare_table *t) WB_MUST_USE;

/* ---- --fail-if ---- */
/* "METRIC worse than BASE by 3%" ("any" for all metrics in the table), or "METRIC changed by 3%". A row fails when the
 * whole interval lies beyond; without an interval the value decides. Number of rows that fail, each told to `tell`;
 * -1 with a sentence in why[]. */
int compare_fail_if(const struct compare_table *t, const char *text,
                    void (*tell)(void *ctx, const struct compare_row *row, size_t set), void *ctx,
                    char why[256]) WB_MUST_USE;
/* NULL when the text can be understood, else what is wrong. */
const char *compare_fail_if_syntax(const char *text);

#endif
