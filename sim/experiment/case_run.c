/* case_run.c - running the variants of a case and judging its rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "exp_format.h"
#include "sha256.h"
#include "wakebal/units.h"

static void *need(void *p)
{
    WB_MEMORY(p, "out of memory while a case was run");
    return p;
}

/* ------------------------------------------------------------------ figures */
struct at_replication {
    const struct case_file *c;
    const struct case_row *r;
    struct exp_result *const *res;
    size_t replication;
};

const char *case_share_of(const char *figure)
{
    size_t n = sizeof CASE_SHARE - 1;
    return strncmp(figure, CASE_SHARE, n) ? NULL : figure + n;
}

static double look_up(void *ctx, const char *name, const char *variant)
{
    const struct at_replication *a = ctx;
    size_t v = a->r->variant;
    for (size_t i = 0; variant && i < a->c->nvariants; i++)
        if (!strcmp(a->c->variant[i].name, variant)) v = i;
    if (v == SIZE_MAX || !a->res[v]) return NAN;
    if (case_share_of(name)) return exp_result_share(a->res[v], case_share_of(name), a->replication);
    if (!strcmp(name, CASE_MOVABLE)) return a->res[v]->movable;
    const struct exp_metric *m = exp_result_lookup(a->res[v], name);
    return m && a->replication < m->n ? m->sample[a->replication] : NAN;
}

/* Replications that all variants of the row have. */
static size_t common_replications(const struct case_file *c, const struct case_row *r, struct exp_result *const *res)
{
    size_t n = SIZE_MAX, at;
    const char *variant;
    for (size_t k = 0; figure_expr_name(r->expr, k, &variant, &at); k++) {
        size_t v = r->variant;
        for (size_t i = 0; variant && i < c->nvariants; i++)
            if (!strcmp(c->variant[i].name, variant)) v = i;
        n = WB_MIN(n, v != SIZE_MAX && res[v] ? res[v]->replications : 0);
    }
    return n == SIZE_MAX ? 1 : n;
}

double case_row_evaluate(const struct case_file *c, struct case_row *r, struct exp_result *const *res, double **sample,
                         size_t *n)
{
    struct at_replication a = {.c = c, .r = r, .res = res};
    *n = common_replications(c, r, res);
    *sample = need(malloc((*n ? *n : 1) * sizeof **sample));
    for (a.replication = 0; a.replication < *n; a.replication++)
        (*sample)[a.replication] = figure_expr_value(r->expr, look_up, &a);
    return exp_summarize(*sample, *n, 0.95).mean;
}

/* ------------------------------------------------------------------ verdicts */
bool case_row_judged(const struct case_row *r)
{
    return r->has_published || r->direction;
}

bool case_row_wants(const struct case_row *r, double v)
{
    double slack_lo = fabs(r->lo) * r->tolerance, slack_hi = fabs(r->hi) * r->tolerance;
    if (isnan(v)) return false;
    if (r->direction > 0) return r->tolerance > 0 ? v >= r->lo - slack_lo : v > r->lo;
    if (r->direction < 0) return r->tolerance > 0 ? v <= r->hi + slack_hi : v < r->hi;
    return v >= r->lo - slack_lo && v <= r->hi + slack_hi;
}

/* The interval [lo, hi] lies outside of the wanted set altogether. A wanted set is an interval, so two ends
 * on one side decide. */
static bool all_outside(const struct case_row *r, double lo, double hi)
{
    if (case_row_wants(r, lo) || case_row_wants(r, hi)) return false;
    double want_lo = r->direction < 0 ? -INFINITY : r->lo, want_hi = r->direction > 0 ? INFINITY : r->hi;
    return hi < want_lo || lo > want_hi || (hi <= r->lo && r->direction > 0) || (lo >= r->hi && r->direction < 0);
}

static enum case_verdict judge(const struct case_row *r)
{
    const struct exp_summary *s = &r->sum;
    if (!case_row_judged(r)) return CASE_NONE;
    if (!s->n) return r->class == CASE_PREDICTS ? CASE_UNDETERMINED : CASE_FAIL;
    if (r->class != CASE_PREDICTS || isnan(s->hi)) return case_row_wants(r, s->mean) ? CASE_PASS : CASE_FAIL;
    if (case_row_wants(r, s->lo) && case_row_wants(r, s->hi)) return CASE_PASS;
    return all_outside(r, s->lo, s->hi) ? CASE_FAIL : CASE_UNDETERMINED;
}

/* Readings of one statement that disagree decide nothing. */
static void settle_readings(struct case_file *c)
{
    for (size_t i = 0; i < c->nrows; i++)
        for (size_t k = 0; k < c->nrows && c->row[i].reading_of; k++)
            if (c->row[k].reading_of && !strcmp(c->row[i].reading_of, c->row[k].reading_of))
                c->row[i].disputed |= c->row[i].verdict != c->row[k].verdict;
    for (size_t i = 0; i < c->nrows; i++)
        if (c->row[i].disputed) c->row[i].verdict = CASE_UNDETERMINED;
}

int case_run(struct case_file *c, const struct exp_options *opt, bool sensitive, struct wb_diag *d)
{
    struct exp_point *point = need(calloc(c->nvariants ? c->nvariants : 1, sizeof *point));
    size_t *index = need(calloc(c->nvariants ? c->nvariants : 1, sizeof *index)), n = 0;
    for (size_t i = 0; i < c->nvariants; i++)
        if (c->variant[i].used) {
            index[n] = i;
            point[n++] = (struct exp_point){.cfg = c->variant[i].cfg, .label = c->variant[i].name};
        }
    struct exp_study *some = exp_run(point, n, opt, d);
    free(point);
    if (some) { /* spread over all variants, so that a variant's index finds its result */
        struct exp_result **all = need(calloc(c->nvariants + 1, sizeof(struct exp_result *)));
        for (size_t k = 0; k < n; k++) all[index[k]] = some->result[k];
        free(some->result);
        some->result = all;
        some->n = c->nvariants;
        c->study = some;
        c->interrupted = some->interrupted;
    }
    free(index);
    if (!some) return -1;
    for (size_t i = 0; i < c->nrows; i++) {
        struct case_row *r = &c->row[i];
        case_row_evaluate(c, r, c->study->result, &r->sample, &r->n);
        r->sum =
            exp_summarize(r->sample, r->n, c->study->n && c->study->result[0] ? c->study->result[0]->confidence : 0.95);
        r->verdict = judge(r);
    }
    int rc = sensitive && !c->interrupted ? case_try_ranges(c, opt, d) : 0;
    settle_readings(c);
    return rc;
}
