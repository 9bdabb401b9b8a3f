/*
 * run_expect.c - `expect` of the scenario and --fail-if.
 *
 * Both look at the interval, not at the mean alone: a bound is violated when the whole interval lies beyond
 * it. With one replication there is no interval, and the value itself decides.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exit_code.h"
#include "exp_file.h"
#include "exp_format.h"
#include "exp_check.h"
#include "fail_if.h"
#include "run_parts.h"

struct span {
    double lo, mean, hi;
};

static struct span span_of(const double *sample, size_t n, double confidence)
{
    struct exp_summary s = exp_summarize(sample, n, confidence);
    if (isnan(s.hi)) return (struct span){s.mean, s.mean, s.mean};
    return (struct span){s.lo, s.mean, s.hi};
}

static const char *label_of(const struct exp_result *r)
{
    return *r->label ? r->label : "the run";
}

static void say(const struct run_view *v, const struct exp_result *r, const char *metric, struct span s,
                const char *unit, const char *text)
{
    char mean[48], lo[48], hi[48];
    struct out_style st = out_style(v->o, 2);
    char *label = exp_text_terminal(label_of(r), 80), *name = exp_text_terminal(metric, 120);
    fprintf(stderr, "%sexpectation violated%s: %s: %s is %s (%s .. %s), %s\n", st.bad, st.off, label, name,
            exp_format_value(mean, sizeof mean, s.mean, unit), exp_format_value(lo, sizeof lo, s.lo, unit),
            exp_format_value(hi, sizeof hi, s.hi, unit), text);
    free(label);
    free(name);
}

/* ------------------------------------------------------------------ expect */
static const char *key_of(const struct wb_config *c, size_t i, const char *key)
{
    const char *path = wb_cfg_path("expect[%zu].%s", i, key);
    return wb_cfg_has(c, path) ? wb_cfg_str(c, path) : NULL;
}

static const struct exp_metric *metric_of(const struct exp_result *r, const char *name, const char *workload)
{
    char full[512];
    if (!workload) return exp_result_lookup(r, name);
    if ((size_t)snprintf(full, sizeof full, "%s@%s", name, workload) >= sizeof full) return NULL;
    return exp_result_lookup(r, full);
}

struct bound {
    double value;
    bool set;
};

static int read_bound(const struct wb_config *c, size_t i, const char *key, const char *unit, struct bound *b,
                      struct wb_diag *d)
{
    const char *text = key_of(c, i, key);
    b->set = text != NULL;
    if (!text || exp_parse_value(text, strlen(text), unit, &b->value)) return 0;
    wb_cfg_error(c, d, wb_cfg_path("expect[%zu].%s", i, key), "write a number with the unit of the metric",
                 "'%.60s' is no value in %s", text, unit);
    return -1;
}

static int check_span(const struct run_view *v, const struct exp_result *r, const char *what, struct span s,
                      const char *unit, const struct bound *min, const struct bound *max)
{
    char text[96], value[48];
    bool low = min->set && (isnan(s.mean) || s.hi < min->value),
         high = max->set && (isnan(s.mean) || s.lo > max->value);
    if (!low && !high) return 0;
    snprintf(text, sizeof text, "expected %s %s", low ? "at least" : "at most",
             exp_format_value(value, sizeof value, low ? min->value : max->value, unit));
    say(v, r, what, s, unit, text);
    return 1;
}

/* Number of violations, or -1. */
static int check_values(const struct run_view *v, size_t i, struct wb_diag *d)
{
    const struct wb_config *base = v->points->point[0].cfg;
    const char *name = key_of(base, i, "metric"), *at = key_of(base, i, "at");
    struct wb_place place = wb_cfg_origin(base, wb_cfg_path("expect[%zu].%s", i, at ? "at" : "metric"))->place;
    int bad = 0;
    for (size_t p = 0; p < v->study->n; p++) {
        const struct exp_result *r = v->study->result[p];
        int in = exp_point_selected(v->points, p, at, place, d);
        if (in < 0) return -1;
        if (!in || !r) continue;
        const struct exp_metric *m = metric_of(r, name, key_of(base, i, "workload"));
        struct bound min, max;
        if (read_bound(base, i, "min", m ? m->unit : "1", &min, d) ||
            read_bound(base, i, "max", m ? m->unit : "1", &max, d))
            return -1;
        struct span s = m ? span_of(m->sample, m->n, r->confidence) : (struct span){NAN, NAN, NAN};
        bad += check_span(v, r, name, s, m ? m->unit : "1", &min, &max);
    }
    return bad;
}

/* Ratio of one point to another, per replication. */
static int check_pair(const struct run_view *v, size_t i, size_t of, size_t against, const struct bound *min,
                      const struct bound *max)
{
    const struct wb_config *base = v->points->point[0].cfg;
    const char *name = key_of(base, i, "metric"), *workload = key_of(base, i, "workload");
    const struct exp_result *r = v->study->result[of], *q = v->study->result[against];
    const struct exp_metric *a = metric_of(r, name, workload), *b = metric_of(q, name, workload);
    size_t n = a && b ? WB_MIN(a->n, b->n) : 0;
    double *x = malloc((n ? n : 1) * sizeof *x);
    WB_MEMORY(x, "out of memory for a ratio");
    for (size_t k = 0; k < n; k++) x[k] = b->sample[k] != 0 ? a->sample[k] / b->sample[k] : NAN;
    struct span s = span_of(x, n, r->confidence);
    char what[256];
    snprintf(what, sizeof what, "%s / that of %s", name, label_of(q));
    free(x);
    return check_span(v, r, what, s, "1", min, max);
}

/* The points that one is compared with: those of `against` that agree with it on all axes which neither condition
 * names; when there are none, all of `against`. */
static int check_partners(const struct run_view *v, size_t i, size_t p, const struct bound *min,
                          const struct bound *max, struct wb_diag *d)
{
    const struct wb_config *base = v->points->point[0].cfg;
    const char *of = key_of(base, i, "of"), *against = key_of(base, i, "against");
    struct wb_place place = wb_cfg_origin(base, wb_cfg_path("expect[%zu].metric", i))->place;
    size_t n = v->study->n, partners = 0;
    int in = exp_point_selected(v->points, p, of, place, d), bad = 0;
    if (in <= 0 || !v->study->result[p]) return in < 0 ? -1 : 0;
    for (int agreeing = 1; agreeing >= 0 && !partners; agreeing--)
        for (size_t q = 0; q < n; q++) {
            if (q == p || (agreeing && !exp_points_agree(v->points, p, q, of, against))) continue;
            in = exp_point_selected(v->points, q, against, place, d);
            if (in < 0) return -1;
            partners += in > 0;
            if (in && v->study->result[q]) bad += check_pair(v, i, p, q, min, max);
        }
    return bad;
}

static int check_ratios(const struct run_view *v, size_t i, struct wb_diag *d)
{
    const struct wb_config *base = v->points->point[0].cfg;
    struct bound min, max;
    if (read_bound(base, i, "min_ratio", "1", &min, d) || read_bound(base, i, "max_ratio", "1", &max, d)) return -1;
    if (!min.set && !max.set) return 0;
    int bad = 0;
    for (size_t p = 0; p < v->study->n && bad >= 0; p++) {
        int n = check_partners(v, i, p, &min, &max, d);
        bad = n < 0 ? -1 : bad + n;
    }
    return bad;
}

/* ------------------------------------------------------------------ --fail-if */
struct at_replication {
    const struct exp_result *r;
    size_t replication;
};

static double look_up(void *ctx, const char *name, const char *variant)
{
    const struct at_replication *a = ctx;
    const struct exp_metric *m = variant ? NULL : exp_result_lookup(a->r, name);
    return m && a->replication < m->n ? m->sample[a->replication] : NAN;
}

static struct span figure_span(const struct exp_result *r, const struct figure_expr *e)
{
    struct at_replication a = {.r = r};
    double *x = malloc((r->replications ? r->replications : 1) * sizeof *x);
    WB_MEMORY(x, "out of memory for --fail-if");
    for (a.replication = 0; a.replication < r->replications; a.replication++)
        x[a.replication] = figure_expr_value(e, look_up, &a);
    struct span s = span_of(x, r->replications, r->confidence);
    free(x);
    return s;
}

static int fail_if_bound(const struct run_view *v, const struct fail_if *f, const char *text)
{
    int bad = 0;
    for (size_t p = 0; p < v->study->n; p++) {
        const struct exp_result *r = v->study->result[p];
        if (!r) continue;
        const struct exp_metric *m = figure_expr_plain(f->figure) ? exp_result_lookup(r, f->metric) : NULL;
        const char *unit = m ? m->unit : "1";
        double bound;
        if (!exp_parse_value(f->value, strlen(f->value), unit, &bound)) {
            fprintf(stderr, "wakebal run: --fail-if '%.200s': '%.80s' is no value in %s\n", text, f->value, unit);
            return -1;
        }
        struct span s = figure_span(r, f->figure);
        if (isnan(s.mean)) {
            fprintf(stderr, "wakebal run: --fail-if '%.200s': there is no such figure (wakebal list metrics)\n", text);
            return -1;
        }
        if (f->op == '<' ? s.hi >= bound : s.lo <= bound) continue;
        say(v, r, f->metric, s, unit, text);
        bad++;
    }
    return bad;
}

static int worse_than(const struct run_view *v, const struct exp_result *r, const struct fail_if *f, const json_t *doc,
                      const char *text)
{
    const struct exp_metric *m = exp_result_lookup(r, f->metric);
    const json_t *b = m ? fail_if_metric(doc, r->label, m->name, exp_result_workload(r, m->instance)) : NULL;
    if (!b || m->better == WB_BETTER_NONE || !json_is_number(json_object_get(b, "mean"))) {
        fprintf(stderr, "wakebal run: --fail-if '%.200s': %s\n", text,
                !m   ? "there is no such figure"
                : !b ? "the file does not hold this figure"
                     : "this figure has no better direction");
        return -1;
    }
    double mean = json_number_value(json_object_get(b, "mean"));
    const json_t *ci = json_object_get(b, "ci");
    double lo = json_is_array(ci) ? json_number_value(json_array_get(ci, 0)) : mean,
           hi = json_is_array(ci) ? json_number_value(json_array_get(ci, 1)) : mean;
    struct span s = span_of(m->sample, m->n, r->confidence);
    bool bad = m->better == WB_BETTER_HIGHER ? s.hi < lo * (1 - f->by) : s.lo > hi * (1 + f->by);
    if (bad) say(v, r, m->name, s, m->unit, text);
    return bad;
}

static int fail_if_worse(const struct run_view *v, const struct fail_if *f, const char *text)
{
    json_error_t e;
    json_t *doc = exp_json_load(f->value, &e);
    int bad = 0;
    if (!doc) {
        fprintf(stderr, "wakebal run: --fail-if: cannot read '%.200s': %s\n", f->value, e.text);
        return -1;
    }
    for (size_t p = 0; p < v->study->n && bad >= 0; p++) {
        int rc = v->study->result[p] ? worse_than(v, v->study->result[p], f, doc, text) : 0;
        bad = rc < 0 ? -1 : bad + rc;
    }
    json_decref(doc);
    return bad;
}

int run_check_expectations(const struct run_view *v, struct wb_diag *d)
{
    const struct wb_config *base = v->points->n ? v->points->point[0].cfg : NULL;
    size_t n = base && wb_cfg_has(base, "expect") ? wb_cfg_count(base, "expect") : 0;
    int bad = 0;
    for (size_t i = 0; i < n; i++) {
        int values = check_values(v, i, d), ratios = check_ratios(v, i, d);
        if (values < 0 || ratios < 0) return EXIT_INVALID;
        bad += values + ratios;
    }
    for (size_t i = 0; i < v->o->fail_if_n; i++) {
        struct fail_if f;
        const char *why = fail_if_parse(v->o->fail_if[i], &f);
        int rc = why           ? -1
                 : f.op == 'w' ? fail_if_worse(v, &f, v->o->fail_if[i])
                               : fail_if_bound(v, &f, v->o->fail_if[i]);
        fail_if_free(&f);
        if (rc < 0) return EXIT_USAGE;
        bad += rc;
    }
    return bad ? EXIT_EXPECTATION : EXIT_FINE;
}
