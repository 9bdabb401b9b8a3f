/*
 * workers_shard.h - which runs of a study are whose, when several programs share it.
 *
 * Where every point has a fixed number of replications, shard K of N takes each N-th run in replication-major order,
 * and each N-th after the next one where that would give a shard the same points again and again: all shards get the
 * same number of runs, give or take one, and runs of all points. Where the number depends on results, a shard takes
 * whole points, every N-th, since the decision to go on needs all replications of a point. Nothing is agreed on at run
 * time, so shards need not know of each other.
 */
#ifndef WB_EXPERIMENT_WORKERS_SHARD_H
#define WB_EXPERIMENT_WORKERS_SHARD_H

#include "exp_points.h"

struct workers_shard {
    size_t k, n;  /* K of N, K from 1; n = 1: everything */
    bool fixed;   /* runs are dealt out, else points */
    size_t total; /* points of the study */
};

/* "3/8". NULL when fine, else what is wrong. */
const char *workers_shard_parse(const char *text, struct workers_shard *s);
/* Fill in fixed and total. */
void workers_shard_survey(struct workers_shard *s, const struct exp_points *all);
/* Drop the points of which the shard runs nothing; (*place)[i], malloc'd, is the rank that the i-th of those left
 * had. */
void workers_shard_points(const struct workers_shard *s, struct exp_points *p, size_t **place);
/* The runs of a shard, in order; malloc'd, with *n. place NULL: p holds all points. Where the number of replications
 * is not fixed: those that are sure. */
struct exp_task_id *workers_shard_runs(const struct workers_shard *s, const struct exp_points *p, const size_t *place,
                                       size_t *n);

#endif
