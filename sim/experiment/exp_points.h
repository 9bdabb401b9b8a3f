/*
 * exp_points.h - from a scenario and its axes to the points that are run.
 *
 * A point is the scenario with its coordinates on top; points that fail a `where` are left out. Where
 * run.warmup is "auto" the end of the warm-up is found here: one pilot run of each point without warm-up,
 * then the truncation that minimises the standard error of what is left (MSER, White 1997), on the windows of
 * the deciding metric, at most half of the run. The time found is a setting of the point like any other, so a
 * result tells it and a repetition with it given explicitly is the same run.
 */
#ifndef WB_EXPERIMENT_EXP_POINTS_H
#define WB_EXPERIMENT_EXP_POINTS_H

#include "exp_run.h"

struct exp_points {
    struct exp_point *point;   /* [n] */
    size_t n, left_out;        /* kept; outside `where` */
    struct wb_config **cfg;    /* [n] owned */
    char **label;              /* [n] owned */
    struct wb_override *param; /* [n * naxes] */
    size_t naxes;
    bool pilots; /* some warm-up was found by pilot runs */
};

/* axes NULL: the scenario alone. NULL: errors in d. The scenario and the axes must outlive it. */
struct exp_points *exp_points_new(struct wb_scenario *s, const struct wb_axes *axes, struct wb_diag *d) WB_MUST_USE;
/* Replace "auto" warm-ups by times. 0, or -1 with errors in d. */
int exp_points_warmup(struct exp_points *p, struct wb_scenario *s, const struct exp_options *opt,
                      struct wb_diag *d) WB_MUST_USE;
void exp_points_free(struct exp_points *p);

/* How many of n windows to drop. NANs count as equal to the mean. */
size_t exp_mser(const double *window, size_t n);
/* machine.cpus, machine.llcs, machine.nodes of a configuration, for expressions: a wb_expr_fact; ctx = const
 * struct wb_config *. */
bool exp_machine_fact(void *ctx, const char *name, struct wb_value *v);

#endif
