/*
 * study.h - between exp_run() and the store: what a run's identity is, how a study is continued, how it is read.
 *
 * Identity of a run: SHA-256 of the effective configuration, without the keys that cannot change what one run does
 * (title, run.replications, expect, sweep), and of the model's version, with the number of the replication. So
 * replications can be added, axes extended and goals tightened without running anything again, and a changed cost is
 * another run. Never a running number.
 *
 * A study is used like this:
 *
 *     struct study *st = study_open(&opt, &fault);
 *     eo.keeper = study_keeper(st);            exp_points_warmup(points, scenario, &eo, d);  pilots are kept, too
 *     study_register(st, points->point, points->n, &fault);
 *     struct exp_study *res = exp_run(points->point, points->n, &eo, d);   only what is missing is simulated
 *     study_judge(st, points->point, res, &fault);
 *     study_close(st);
 *
 * A thread of the study commits finished runs as they come; what finishes while the disk works goes into the next
 * transaction. So a kill loses the runs in flight and those that finished within the last commit.
 */
#ifndef WB_EXPERIMENT_STUDY_H
#define WB_EXPERIMENT_STUDY_H

#include "exp_run.h"
#include "store.h"

struct study;

struct study_options {
    const char *path;  /* written */
    const char *base;  /* read besides, for runs that are there already (ranks, shards); NULL = none */
    const char *name;  /* of the scenario */
    const char *model; /* study_model(), and a plug-in's sum behind it */
};

/* Version of everything that decides the outcome of a run: "0.1.0+5f0c9a1e", from the sources of sim/ and models/. */
const char *study_model(void);
/* Malloc'd: study_model(), and "+" with the first digits of the sum of that plug-in file. NULL: cannot be read. */
char *study_model_with(const char *plugin);

struct study *study_open(const struct study_options *o, struct store_fault *f) WB_MUST_USE;
void study_close(struct study *st);
struct store *study_store(struct study *st);
/* For exp_options.keeper. Its functions may be called by many threads. */
const struct exp_keeper *study_keeper(struct study *st);
/* Wait until everything kept so far is on disk. 0, or -1: study_fault() says why it is not. */
int study_settle(struct study *st) WB_MUST_USE;
/* Why the keeper could not go on. */
const struct store_fault *study_fault(const struct study *st);

/* The points as asked for now, in this order, each with place[i] (NULL: its index). Points asked for earlier keep
 * their runs and lose their place when `only` is set. 0 or -1. */
int study_register(struct study *st, const struct exp_point *point, size_t n, const size_t *place,
                   struct store_fault *f) WB_MUST_USE;
/* Note how many replications each point's result rests on. Points without a result are left alone. 0 or -1. */
int study_judge(struct study *st, const struct exp_point *point, const struct exp_study *res,
                struct store_fault *f) WB_MUST_USE;

/* SHA-256 of what makes a run of this configuration what it is. */
void study_ident(const struct wb_config *cfg, const char *model, char out[65]);

/* ---- reading without a scenario: plot, compare, report ---- */

struct study_loaded {
    char *name, *model, *manifest; /* manifest NULL: none */
    char *costs;                   /* JSON of exp_costs.h, or NULL */
    struct exp_study *study;       /* by place; .result[i] NULL where no replication is complete */
    size_t points;
    bool judged; /* every point rests on as many replications as its goal asked for */
};
/* NULL: *f says why. The results are those that an export of the study shows. */
struct study_loaded *study_load(const char *path, struct store_fault *f) WB_MUST_USE;
void study_loaded_free(struct study_loaded *l);
/* Does the file begin like an SQLite file? */
bool study_is_file(const char *path);

#endif
