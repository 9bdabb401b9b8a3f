/*
 * exp_result.h - what all replications of one point say together.
 *
 * Life: exp_result_new(), exp_result_fold() per replication in order of index, exp_result_finish(),
 * exp_result_free(). Everything is copied, so the simulations may be gone. Figures are in base units; NAN is
 * "unknown" and becomes null in exports.
 *
 * Nothing here depends on the number of jobs, the clock or the machine it runs on.
 */
#ifndef WB_EXPERIMENT_EXP_RESULT_H
#define WB_EXPERIMENT_EXP_RESULT_H

#include "arena.h"
#include "exp_stats.h"
#include "wakebal/hist.h"
#include "wakebal/metric.h"
#include "wakebal/run.h"

#define EXP_MACHINE UINT32_MAX
#define EXP_WINDOW_REPLICATIONS 16 /* window series are kept for the first so many replications */

/* The plain copy of one run's result, before it is folded. */
struct exp_rep {
    struct arena arena;
    uint32_t index;
    bool built, finished;
    struct wb_result r; /* pointers into the arena */
};

struct exp_metric {
    char *name, *unit, *help;
    enum wb_better better;
    uint32_t instance; /* workload, or EXP_MACHINE */
    bool integer;
    double *sample; /* [n], in order of replication; NAN: did not exist there */
    size_t n;
    struct exp_summary sum;                  /* after exp_result_finish() */
    size_t batches, batch_windows;           /* of a single replication with enough windows: how many batches of how */
    double batch_half;                       /* many windows, and the half width by batch means; else 0, 0, NAN */
    struct wb_hist *hist;                    /* of all replications, or NULL */
    double *window[EXP_WINDOW_REPLICATIONS]; /* per replication, or NULL */
    size_t nwindow[EXP_WINDOW_REPLICATIONS];
};

struct exp_param {
    char *key, *value;
};
struct exp_named {
    char *name;
    uint64_t count; /* ps, or how often */
    double *share;  /* functions: share of the CPU time that was not idle, by replication; else NULL */
    size_t nshare;
};
/* What should not happen, and to whom (struct wb_fault), over all replications. */
struct exp_fault {
    enum wb_fault_kind kind;
    char *task;
    uint64_t count;
    sim_time total, longest;
};
struct exp_note {
    char code[8];
    char *text;
};

struct exp_result {
    char *label;                                          /* coordinates of the point; "" without axes */
    char *title, *machine, *machine_source, *calibration; /* calibration: "measured", "preset" or "assumed" */
    char *kernel, *policy;
    char id[9], sha256[65];
    char plugin[13]; /* first digits of the sum of a plug-in's file, before it is described; "" = none */
    struct exp_param *param;
    size_t nparams;
    char **workload; /* name or kind of each instance */
    size_t nworkloads;
    uint64_t seed;
    size_t replications;
    const char *stopped; /* "precision reached", "maximum reached", "fixed number", "interrupted" */
    bool goal_reached;
    double goal, confidence, half_width; /* relative */
    const char *primary;                 /* name of the metric that decides; owned by the metric; NULL: none */
    uint32_t primary_instance;
    struct exp_metric *metric; /* by instance, then name; the machine's last */
    size_t nmetrics;
    uint64_t fingerprint;
    bool timed;                /* runs end after run.duration, not when work is done */
    size_t unfinished;         /* replications whose fixed work was not done in time */
    double duration, measured; /* s, mean over replications: simulated; after warm-up */
    double window_s;
    uint64_t events, stale, inlined, peak_events;
    uint32_t ncpus;
    uint64_t cat[WB_CAT_N];        /* ps over CPUs and replications */
    sim_time (*cat_cpu)[WB_CAT_N]; /* [ncpus], over replications */
    struct exp_named *fn, *rule;   /* finish sorts them, largest first */
    size_t nfn, nrules;
    struct exp_fault *fault; /* by kind; finish sorts, the worst of each kind first */
    size_t nfaults;
    uint32_t movable; /* tasks that may run on more than one CPU; the most of any replication */
    struct exp_note *note;
    size_t nnotes;
    char *costs; /* JSON of exp_costs_json(), or NULL: the exports are silent on costs */
};

/* Copy what a run produced. r belongs to the simulation. */
void exp_rep_copy(struct exp_rep *rep, const struct wb_result *r);
void exp_rep_free(struct exp_rep *rep);

struct exp_result *exp_result_new(void);
void exp_result_fold(struct exp_result *res, const struct exp_rep *rep);
/* The interval of one metric so far; false when there is no such metric. */
bool exp_result_summary(const struct exp_result *res, uint32_t instance, const char *name, struct exp_summary *out);
/* Summaries, sorted lists, notes. */
void exp_result_finish(struct exp_result *res);
void exp_result_free(struct exp_result *res);

const struct exp_metric *exp_result_find(const struct exp_result *res, uint32_t instance, const char *name);
/* The metric `name`: of the first workload, else of the machine, else of the first workload that has it.
 * "NAME@WORKLOAD" picks one by name or index. NULL: nobody has it. */
const struct exp_metric *exp_result_lookup(const struct exp_result *res, const char *name);
void exp_result_note(struct exp_result *res, const char *code, const char *fmt, ...) WB_PRINTF(3, 4);
/* Share of a function in the CPU time of a replication, idle time left out; NAN: no such function. */
double exp_result_share(const struct exp_result *res, const char *fn, size_t replication);
/* The time accounts as a sampling profiler would print them. Malloc'd; the caller frees. */
char *exp_result_profile(const struct exp_result *res);
/* The workload of an instance as it is printed; NULL for the machine. */
const char *exp_result_workload(const struct exp_result *res, uint32_t instance);

#endif
