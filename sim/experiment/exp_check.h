/*
 * exp_check.h - what only the models and the results know, found before anything runs.
 *
 * The loader judges keys and values. Whether a CPU exists on this machine, a program of a custom task makes sense, or
 * a figure of that name will be reported is known once a simulation is built. So simulations are built and thrown
 * away: of a few points all, of many those that bring a value that no other brought, within EXP_CHECK_BUILDS and
 * EXP_CHECK_CPUS. What a simulation would report is listed without running it. Mistakes go to the struct wb_diag, all
 * in one pass.
 */
#ifndef WB_EXPERIMENT_EXP_CHECK_H
#define WB_EXPERIMENT_EXP_CHECK_H

#include "exp_points.h"
#include "exp_run.h"

#define EXP_CHECK_BUILDS 64  /* at most so many simulations are built */
#define EXP_CHECK_CPUS 4096u /* and none after so many CPUs were built in all */

struct exp_check; /* opaque */

/* Build simulations of the points; d receives what the models refuse. The points outlive the check. */
struct exp_check *exp_check_new(const struct wb_registry *models, const struct exp_point *point, size_t n,
                                struct wb_diag *d);
void exp_check_free(struct exp_check *k);

/* Will a figure of this name ("bandwidth", "wakeups@NAME") be reported? Then *unit is its unit (NULL: reported, but
 * the unit is not known because nothing could be built). Else `fix` tells what may have been meant. */
bool exp_check_figure(const struct exp_check *k, const char *name, const char **unit, char *fix, size_t n);
/* Does some point account time to this function? */
bool exp_check_function(const struct exp_check *k, const char *fn);
/* As exp_check_figure, of one point alone; true as well when that point was not built. */
bool exp_check_figure_at(const struct exp_check *k, size_t point, const char *name);
/* "2 GB/s" as a value in `unit`: a number needs its unit when the figure has one. */
bool exp_check_value(const char *text, const char *unit, double *v);

/* What a condition of an expectation that selects no point is. */
enum exp_selection {
    EXP_SELECT_OWN,   /* a mistake: the axes are the scenario's own */
    EXP_SELECT_OTHER, /* a warning: the command line changed the points */
    EXP_SELECT_SKIP   /* not looked at: the points are not known */
};
/* run.replications.metric and `expect` of a scenario: names, units, conditions. p NULL: with EXP_SELECT_SKIP. */
void exp_check_wishes(const struct exp_check *k, const struct wb_config *c, const struct exp_points *p,
                      enum exp_selection how, struct wb_diag *d);

/* Does the condition of an expectation ("of", "against", "at"; NULL = always) hold at a point? -1 with errors in d. */
int exp_point_selected(const struct exp_points *p, size_t point, const char *text, struct wb_place at,
                       struct wb_diag *d);
/* Are two points a pair of an expectation: do they agree on every axis that neither condition names? */
bool exp_points_agree(const struct exp_points *p, size_t a, size_t b, const char *of, const char *against);

#endif
