/*
 * exp_run.h - replications until the interval is narrow enough, over all points of a study, on all cores.
 *
 * Work goes in rounds. In a round every unfinished point gets a number of further replications that depends
 * on its own results only; all (point, replication) pairs of the round run in parallel; afterwards they are
 * folded in order of index and each point decides whether it goes on. So results are the same bytes for any
 * number of jobs. The first round is run.replications.min, each later one half of what there is (at least
 * two).
 *
 * Within a round the first replication of every point comes first, then the second of every point: a study that
 * is stopped early knows something of each point. Where a keeper is given, replications that it has are taken from
 * it instead of being simulated, and what was simulated goes to it at once.
 *
 * A point stops when the half width of the interval of its deciding metric, relative to the mean, is within
 * run.replications.half_width, or at run.replications.max; with min == max the number is fixed and the goal
 * is not asked for.
 */
#ifndef WB_EXPERIMENT_EXP_RUN_H
#define WB_EXPERIMENT_EXP_RUN_H

#include "exp_result.h"
#include "wakebal/scenario.h"

struct exp_point {
    const struct wb_config *cfg;     /* outlives the call */
    const char *label;               /* coordinates; NULL or "" without axes */
    const struct wb_override *param; /* what the point sets, for reports */
    size_t nparams;
};

struct exp_progress {
    size_t points, points_done;
    size_t runs, runs_done; /* planned so far; done */
    /* in all: planned, and what the spread seen so far says that the goals will take besides */
    size_t runs_expected;
    size_t runs_recalled;    /* of those done: not simulated but taken from the keeper */
    const char *label;       /* of the point that finished last */
    const char *stage;       /* what these runs are for, when they are not the points themselves; or NULL */
    double half_width, goal; /* widest relative half width of the points at work (INFINITY: unknown) and its goal */
};

/* Where replications outlive the program. Both functions are called by many threads at once. */
struct exp_keeper {
    /* Fill *rep (to be freed by exp_rep_free) and return 1; 0: not there; -errno: cannot go on. */
    int (*recall)(void *ctx, const struct exp_point *p, uint32_t replication, struct exp_rep *rep);
    /* 0, or -errno: cannot go on. */
    int (*keep)(void *ctx, const struct exp_point *p, const struct exp_rep *rep);
    void *ctx;
};

struct exp_options {
    const struct wb_registry *registry;
    struct wb_run_options run;
    uint32_t jobs;            /* 0 = as many as CPUs */
    const char *stage;        /* for the progress: "warm-up"; or NULL */
    const volatile int *stop; /* not 0: break off what is in flight and return; may be NULL */
    void (*progress)(void *ctx, const struct exp_progress *p); /* called by one thread at a time; may be NULL */
    /* Sees each finished simulation of replication 0 before it is freed, one at a time; may be NULL. */
    void (*inspect)(void *ctx, size_t point, struct wb_sim *s, const struct wb_result *r);
    void *ctx;
    const struct exp_keeper *keeper; /* may be NULL */
};

struct exp_study {
    struct exp_result **result; /* [n]; NULL where a point has no complete replication */
    size_t n;
    bool interrupted;
    int broken; /* -errno of the keeper, which has the reason; the results are those of before */
};

/* One simulation of a study. */
struct exp_task_id {
    size_t point;
    uint32_t replication;
};

/* Run all points. NULL: a simulation could not be built (errors in d). The caller frees with exp_study_free(). */
struct exp_study *exp_run(const struct exp_point *point, size_t n, const struct exp_options *opt,
                          struct wb_diag *d) WB_MUST_USE;
void exp_study_free(struct exp_study *s);
/* Run these and hand them to the keeper; nothing is folded or decided (a shard of a study whose number of
 * replications is fixed). 0 with *done = how many are now kept, -errno of the keeper, or -1 with errors in d. */
int exp_run_some(const struct exp_point *point, size_t n, const struct exp_task_id *id, size_t nids,
                 const struct exp_options *opt, size_t *done, struct wb_diag *d) WB_MUST_USE;

/* The metric that decides when nobody says: of the first workload that is no background load, the one that it
 * is run for. NULL: none. Its instance goes to *instance. */
const char *exp_primary_metric(const struct exp_result *res, const struct wb_config *cfg, uint32_t *instance);
/* The same, where background[i] says whether workload i < n is background load. */
const char *exp_primary_among(const struct exp_result *res, const bool *background, size_t n, uint32_t *instance);
/* The figure that this workload is run for, or NULL. */
const struct exp_metric *exp_result_headline(const struct exp_result *res, uint32_t instance);
/* Fill in what a result says about its scenario: title, machine, kernel, policy, workloads, parameters, identity. */
void exp_result_describe(struct exp_result *res, const struct exp_point *point);
/* The names of the workloads alone. */
void exp_result_workloads(struct exp_result *res, const struct wb_config *c);
/* Fill in sha256 and id from the canonical text of the configuration (wb_cfg_canonical) and the replications. */
void exp_result_identify(struct exp_result *res, const char *canonical);
/* Notes W0xx on outliers, modes, unfinished runs, missing samples, precision, calibration. Needs
 * exp_result_finish(). max: run.replications.max. */
void exp_result_remark(struct exp_result *res, int64_t max);

#endif
