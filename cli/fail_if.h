/*
 * fail_if.h - the text of --fail-if: "FIGURES < VALUE", "FIGURES > VALUE" or "METRIC worse than FILE by 3%".
 */
#ifndef WB_CLI_FAIL_IF_H
#define WB_CLI_FAIL_IF_H

#include <jansson.h>

#include "figure_expr.h"

struct fail_if {
    struct figure_expr *figure; /* of the first form */
    char op;                    /* '<' or '>', 'w' = worse than a file */
    char *metric, *value;       /* value: bound, or file */
    double by;
};

/* NULL when fine, else what is wrong. Free it in both cases. */
const char *fail_if_parse(const char *text, struct fail_if *f);
void fail_if_free(struct fail_if *f);
/* The metric of a workload (NULL: of the machine) in a result file, of the result with this label, or of the only one
 * that the file holds. NULL: not there. */
const json_t *fail_if_metric(const json_t *doc, const char *label, const char *name, const char *workload);

#endif
