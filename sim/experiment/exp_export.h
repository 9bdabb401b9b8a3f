/*
 * exp_export.h - results as JSON, CSV, Markdown and gnuplot data.
 *
 * JSON is schema wakebal.result/1 (one result) or wakebal.results/1 (a sweep: the same objects in a list).
 * Base units; null for what is unknown; arrays sorted; keys are only ever added; no times, hosts or
 * compilers, so equal runs give equal bytes. All return 0, or -errno of the stream.
 */
#ifndef WB_EXPERIMENT_EXP_EXPORT_H
#define WB_EXPERIMENT_EXP_EXPORT_H

#include <jansson.h>
#include <stdio.h>

#include "exp_result.h"

struct exp_export_options {
    bool sweep;        /* a list, even of one */
    bool keep_samples; /* window series of all kept replications, not only of the first */
};

int exp_export_json(FILE *out, struct exp_result *const *res, size_t n,
                    const struct exp_export_options *opt) WB_MUST_USE;
/* One row per point and metric, long form; a column for each varied key. */
int exp_export_csv(FILE *out, struct exp_result *const *res, size_t n) WB_MUST_USE;
/* A table of the figures of each point, pipes aligned. */
int exp_export_markdown(FILE *out, struct exp_result *const *res, size_t n) WB_MUST_USE;
/* gnuplot: index 0 figures with intervals, then one index per windowed figure. */
int exp_export_data(FILE *out, struct exp_result *const *res, size_t n) WB_MUST_USE;

/* Pieces for other documents. New references. */
json_t *exp_json_result(const struct exp_result *res, bool keep_samples);
json_t *exp_json_text(const char *text); /* null for NULL; broken UTF-8 repaired */
json_t *exp_json_number(double v); /* null for NAN and infinities; an integer when it is a whole number below 2^53 */
json_t *exp_json_hist(const struct wb_hist *h);         /* its filled buckets as [first, last + 1, count], ps */
int exp_json_write(FILE *out, json_t *doc) WB_MUST_USE; /* steals doc */

#endif
