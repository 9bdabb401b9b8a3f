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
#include "exp_format.h"
#include "figure_expr.h"
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

/* Is the point of this result among those that `text` selects? -1 with errors in d. No text: all. */
static int selected(const struct run_view *v, size_t point, const char *text, struct wb_place at, struct wb_diag *d)
{
    bool truth = true;
    if (!text) return 1;
    struct wb_expr *e = wb_expr_parse(text, at, d);
    if (!e) return -1;
    const struct wb_config *cfg = v->points->point[point].cfg;
    int rc = wb_expr_true(e, cfg, exp_machine_fact, (void *)cfg, &truth, d);
    wb_expr_free(e);
    return rc ? -1 : truth;
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
        int in = selected(v, p, at, place, d);
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
    WB_CHECK(x, "out of memory for a ratio");
    for (size_t k = 0; k < n; k++) x[k] = b->sample[k] != 0 ? a->sample[k] / b->sample[k] : NAN;
    struct span s = span_of(x, n, r->confidence);
    char what[256];
    snprintf(what, sizeof what, "%s / that of %s", name, label_of(q));
    free(x);
    return check_span(v, r, what, s, "1", min, max);
}

static int check_ratios(const struct run_view *v, size_t i, struct wb_diag *d)
{
    const struct wb_config *base = v->points->point[0].cfg;
    struct bound min, max;
    if (read_bound(base, i, "min_ratio", "1", &min, d) || read_bound(base, i, "max_ratio", "1", &max, d)) return -1;
    if (!min.set && !max.set) return 0;
    struct wb_place place = wb_cfg_origin(base, wb_cfg_path("expect[%zu].metric", i))->place;
    int bad = 0;
    for (size_t p = 0; p < v->study->n; p++)
        for (size_t q = 0; q < v->study->n; q++) {
            int of = selected(v, p, key_of(base, i, "of"), place, d),
                against = selected(v, q, key_of(base, i, "against"), place, d);
            if (of < 0 || against < 0) return -1;
            if (p != q && of && against && v->study->result[p] && v->study->result[q])
                bad += check_pair(v, i, p, q, &min, &max);
        }
    return bad;
}

/* ------------------------------------------------------------------ --fail-if */
struct fail_if {
    struct figure_expr *figure; /* of the first form */
    char op;                    /* '<' or '>', 'w' = worse than a file */
    char *metric, *value;       /* value: bound, or file */
    double by;
};

static void fail_if_free(struct fail_if *f)
{
    figure_expr_free(f->figure);
    free(f->metric);
    free(f->value);
}

static char *trimmed(const char *from, const char *to)
{
    while (from < to && *from == ' ') from++;
    while (to > from && to[-1] == ' ') to--;
    char *s = strndup(from, (size_t)(to - from));
    WB_CHECK(s, "out of memory for --fail-if");
    return s;
}

/* "METRIC worse than FILE by 3%" or "FIGURES < VALUE". NULL when fine, else what is wrong. */
static const char *fail_if_parse(const char *text, struct fail_if *f)
{
    const char *worse = strstr(text, " worse than "), *by = NULL, *why;
    size_t at;
    *f = (struct fail_if){0};
    if (worse) {
        f->op = 'w';
        for (const char *p = strstr(worse, " by "); p; p = strstr(p + 1, " by ")) by = p;
        if (by && (!exp_parse_value(by + 4, strlen(by + 4), "1", &f->by) || f->by < 0))
            return "after 'by' a ratio is needed, for example 3%";
        f->metric = trimmed(text, worse);
        f->value = trimmed(worse + 12, by ? by : text + strlen(text));
        return *f->metric && *f->value ? NULL : "write: METRIC worse than FILE by 3%";
    }
    const char *op = strpbrk(text, "<>");
    if (!op) return "write: METRIC < VALUE, METRIC > VALUE, or METRIC worse than FILE by 3%";
    f->op = *op;
    f->metric = trimmed(text, op);
    f->value = trimmed(op + 1 + (op[1] == '='), text + strlen(text));
    f->figure = figure_expr_parse(f->metric, &at, &why);
    return f->figure ? NULL : why;
}

int run_check_fail_if_syntax(const struct cli_options *o)
{
    for (size_t i = 0; i < o->fail_if_n; i++) {
        struct fail_if f;
        const char *why = fail_if_parse(o->fail_if[i], &f);
        fail_if_free(&f);
        if (why)
            return cli_usage_error("wakebal run", "For example: --fail-if 'bandwidth < 2 GB/s'",
                                   "--fail-if '%.200s': %s", o->fail_if[i], why);
    }
    return EXIT_FINE;
}

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
    WB_CHECK(x, "out of memory for --fail-if");
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

/* The result with this label in a result file: the only one when there is one. */
static const json_t *base_result(const json_t *doc, const char *label)
{
    const json_t *list = json_object_get(doc, "results");
    if (!list) return doc;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *s = json_string_value(json_object_get(json_array_get(list, i), "label"));
        if (s && !strcmp(s, label)) return json_array_get(list, i);
    }
    return json_array_size(list) == 1 ? json_array_get(list, 0) : NULL;
}

static const json_t *base_metric(const json_t *result, const char *name, const char *workload)
{
    const json_t *list = json_object_get(result, "metrics");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *m = json_array_get(list, i);
        const char *n = json_string_value(json_object_get(m, "name")),
                   *w = json_string_value(json_object_get(m, "workload"));
        if (n && !strcmp(n, name) && (w && workload ? !strcmp(w, workload) : !w && !workload)) return m;
    }
    return NULL;
}

static int worse_than(const struct run_view *v, const struct exp_result *r, const struct fail_if *f, const json_t *doc,
                      const char *text)
{
    const struct exp_metric *m = exp_result_lookup(r, f->metric);
    const json_t *b = m ? base_metric(base_result(doc, r->label), m->name, exp_result_workload(r, m->instance)) : NULL;
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
    json_t *doc = json_load_file(f->value, 0, &e);
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
