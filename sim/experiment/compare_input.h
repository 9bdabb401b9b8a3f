/*
 * compare_input.h - what can be compared: studies, and results exported as JSON.
 *
 * A set is one column of a comparison: a name and its points, each with its figures and the samples behind them. It
 * owns all its text.
 */
#ifndef WB_EXPERIMENT_COMPARE_INPUT_H
#define WB_EXPERIMENT_COMPARE_INPUT_H

#include "exp_result.h"

struct compare_metric {
    char *name, *workload, *unit; /* workload NULL: of the machine */
    enum wb_better better;
    double *sample;
    size_t n;
};

struct compare_point {
    char *label;
    struct exp_param *param;
    size_t nparams;
    uint64_t seed;
    double confidence;
    char *primary; /* name of the deciding metric, or NULL */
    struct compare_metric *metric;
    size_t nmetrics;
};

struct compare_set {
    char *name;
    struct compare_point *point;
    size_t n;
};

/* Read PATH, or NAME=PATH: a study, a folder with study.db, or a JSON export. 0, or -1 with a sentence in why[]. */
int compare_load(const char *arg, struct compare_set *set, char *why, size_t n) WB_MUST_USE;
/* Split a set by the values of one of its axes, into *nsets sets (malloc'd); points keep their other coordinates as
 * labels. The set is used up. NULL: no point varies it, and the set is as it was. */
struct compare_set *compare_split(struct compare_set *set, const char *key, size_t *nsets);
void compare_set_free(struct compare_set *set);

#endif
