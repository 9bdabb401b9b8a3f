/*
 * study_about.h - what a result says about its scenario, as the JSON that a point carries in a study, and back.
 */
#ifndef WB_EXPERIMENT_STUDY_ABOUT_H
#define WB_EXPERIMENT_STUDY_ABOUT_H

#include "exp_run.h"

/* Malloc'd JSON. */
char *study_about_write(const struct exp_point *p);
/* Malloc'd JSON: what exp_run() decided on this result. */
char *study_judgement_write(const struct exp_result *res);

struct study_about {
    bool *background; /* per workload */
    size_t nbackground;
    char *metric; /* run.replications.metric, or NULL */
    int64_t min, max;
};
struct study_judgement {
    size_t replications;
    const char *stopped;
    bool goal_reached;
};
/* Fill in the description of *res from the texts. 0, or -1: not what study_about_write() makes. */
int study_about_read(const char *json, struct exp_result *res, struct study_about *a) WB_MUST_USE;
int study_judgement_read(const char *json, struct study_judgement *j) WB_MUST_USE;
void study_about_free(struct study_about *a);

#endif
