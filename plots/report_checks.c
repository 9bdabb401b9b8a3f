/* report_checks.c - a validation (predicted beside measured) and published cases (published beside simulated). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_inner.h"

/* ------------------------------------------------------------------ validation */
static void verdict_validation(struct html *h, const json_t *doc)
{
    const json_t *s = json_object_get(doc, "summary");
    double scored = doc_number(s, "scored"), right = doc_number(s, "right");
    if (!s) {
        html_para(h, "verdict open", "Predictions only: nothing was measured, so nothing is judged.");
        return;
    }
    html_para(
        h, scored > 0 && right >= 0.85 * scored ? "verdict good" : "verdict bad",
        "%.0f of %.0f predictions are right (%.0f %%); the median error is %.1f %%; %.0f of %.0f single runs lie in "
        "their prediction interval; %.0f of %.0f pairs are ordered the wrong way round.",
        right, scored, scored > 0 ? 100 * right / scored : 0, 100 * doc_number(s, "median_error"),
        doc_number(s, "runs_covered"), doc_number(s, "runs"), doc_number(s, "inversions"), doc_number(s, "pairs"));
}

static int right_of(const json_t *c)
{
    const json_t *s = json_object_get(c, "score");
    return !s ? 0 : json_is_true(json_object_get(s, "right")) ? 1 : -1;
}

/* What one axis holds: several metrics share a unit. */
static const char *picture_name(const char *unit, const char *metric)
{
    static const struct {
        const char *unit, *name;
    } shared[] = {{"s", "times (round trips, hackbench)"}, {"1/s", "rates (transactions, calls)"}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(shared); i++)
        if (!strcmp(unit, shared[i].unit)) return shared[i].name;
    return metric;
}

/* One picture for each unit, since an axis has one. */
static void scatter(struct html *h, const json_t *cases, const char *unit, const char *metric)
{
    size_t n = json_array_size(cases), used = 0;
    struct chart_dot *dot = calloc(n + 1, sizeof *dot);
    char title[160];
    WB_MEMORY(dot, "out of memory for the picture of a validation");
    for (size_t i = 0; i < n; i++) {
        const json_t *c = json_array_get(cases, i), *p = json_object_get(c, "predicted"),
                     *m = json_object_get(c, "measured");
        if (strcmp(doc_text(c, "unit"), unit) || !json_is_object(p) || !json_is_object(m)) continue;
        struct chart_dot *d = &dot[used++];
        snprintf(d->label, sizeof d->label, "%.90s", doc_text(c, "name"));
        d->x = doc_number(m, "median");
        d->y = doc_number(p, "value"), d->ylo = doc_number(p, "lo"), d->yhi = doc_number(p, "hi");
        d->verdict = right_of(c);
    }
    snprintf(title, sizeof title, "Predicted and measured: %.60s", picture_name(unit, metric));
    if (used) chart_scatter(h, title, unit, dot, used);
    free(dot);
}

static void scatters(struct html *h, const json_t *cases)
{
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i);
        bool seen = false;
        for (size_t k = 0; k < i; k++) seen |= !strcmp(doc_text(json_array_get(cases, k), "unit"), doc_text(c, "unit"));
        if (!seen && *doc_text(c, "unit")) scatter(h, cases, doc_text(c, "unit"), doc_text(c, "metric"));
    }
}

static void validation_row(struct html *h, const json_t *c)
{
    const json_t *p = json_object_get(c, "predicted"), *m = json_object_get(c, "measured"),
                 *s = json_object_get(c, "score");
    const char *unit = doc_text(c, "unit"), *left_out = doc_text(c, "left_out");
    int right = right_of(c);
    html_row_begin(h, "");
    html_cell(h, doc_text(c, "name"));
    html_cell_verdict(h,
                      right > 0   ? "right"
                      : right < 0 ? "wrong"
                      : *left_out ? left_out
                                  : "not judged",
                      right > 0   ? "good"
                      : right < 0 ? "bad"
                                  : "open");
    html_cell_value(h, doc_number(p, "value"), unit);
    html_cell_value(h, doc_number(m, "median"), unit);
    html_cell_value(h, doc_number(s, "error"), "%");
    html_cell_range(h, doc_number(p, "lo"), doc_number(p, "hi"), unit);
    html_cell_range(h, doc_number(m, "p10"), doc_number(m, "p90"), unit);
    html_cell(h, doc_text(c, "class"));
    html_cell(h, doc_text(p, "reason"));
    html_row_end(h);
}

/* How many percentiles, switch counts, migrations and shares are right; older files have none. */
static void figures_table(struct html *h, const json_t *figures)
{
    const char *name;
    const json_t *f;
    char count[64];
    if (!json_object_size(figures)) return;
    html_table_begin(h, "Beside the throughput", "figure|#right|band");
    json_object_foreach((json_t *)(uintptr_t)figures, name, f)
    {
        snprintf(count, sizeof count, "%.0f of %.0f", doc_number(f, "right"), doc_number(f, "scored"));
        html_row_begin(h, "");
        html_cell(h, name);
        html_cell(h, doc_number(f, "scored") > 0 ? count : "-");
        html_cell(h, doc_text(f, "band"));
        html_row_end(h);
    }
    html_table_end(h);
}

void report_validation(struct html *h, const struct report_input *in)
{
    const json_t *doc = in->doc, *cases = json_object_get(doc, "cases");
    html_facts_begin(h);
    html_fact(h, "Asked", "Do predictions for this machine's real workloads hold?");
    html_fact(h, "Machine", "%s", doc_text(doc, "machine"));
    html_fact(h, "Kernel", "%s", doc_text(doc, "kernel"));
    html_fact(h, "Configurations", "%zu, %.0f simulated replications each", json_array_size(cases),
              doc_number(doc, "replications"));
    if (*doc_text(doc, "predictions_sha256"))
        html_fact(h, "Predictions", "written before anything was measured; SHA-256 %s",
                  doc_text(doc, "predictions_sha256"));
    if (json_object_get(doc, "scaled"))
        html_fact(h, "Negative control", "%s multiplied by %g", doc_text(json_object_get(doc, "scaled"), "key"),
                  doc_number(json_object_get(doc, "scaled"), "by"));
    html_facts_end(h);
    html_heading(h, NULL, "Verdict");
    verdict_validation(h, doc);
    figures_table(h, json_object_get(doc, "figures"));
    html_heading(h, NULL, "Pictures");
    scatters(h, cases);
    html_heading(h, NULL, "Configurations");
    html_table_begin(
        h, "Predicted beside measured",
        "configuration|verdict|#predicted|#measured (median)|#error|#interval|#10 .. 90 % of runs|class|where "
        "the simulated time went");
    for (size_t i = 0; i < json_array_size(cases); i++) validation_row(h, json_array_get(cases, i));
    html_table_end(h);
}

/* ------------------------------------------------------------------ cases */
#define VERDICTS 3
static const char *const verdict_word[VERDICTS] = {"pass", "fail", "undetermined"};
static const char *const verdict_class[VERDICTS] = {"good", "bad", "open"};
#define CLASSES 3
static const char *const class_word[CLASSES] = {"predicts", "consistency", "calibrates"};
static const char *const class_about[CLASSES] = {"predictions (nothing in the files knew them)",
                                                 "consistency (they follow from what was put in)",
                                                 "calibration (they set a cost)"};

static size_t word_index(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(word, list[i])) return i;
    return SIZE_MAX;
}

static void verdict_cases(struct html *h, const json_t *cases)
{
    size_t count[CLASSES][VERDICTS] = {{0}};
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *rows = json_object_get(json_array_get(cases, i), "rows");
        for (size_t k = 0; k < json_array_size(rows); k++) {
            const json_t *r = json_array_get(rows, k);
            size_t c = word_index(doc_text(r, "class"), class_word, CLASSES),
                   v = word_index(doc_text(r, "verdict"), verdict_word, VERDICTS);
            if (c < CLASSES && v < VERDICTS) count[c][v]++;
        }
    }
    for (size_t c = 0; c < CLASSES; c++)
        if (count[c][0] + count[c][1] + count[c][2])
            html_para(h,
                      count[c][1]   ? "verdict bad"
                      : count[c][2] ? "verdict open"
                                    : "verdict good",
                      "%s: %zu pass, %zu fail, %zu undetermined.", class_about[c], count[c][0], count[c][1],
                      count[c][2]);
    html_para(h, "dim", "A prediction that fails stays in the table as failed; it is not tuned away.");
}

/* The published figure, or the middle of a range; NAN. */
static double published_of(const json_t *r, double *lo, double *hi)
{
    const json_t *p = json_object_get(r, "published");
    *lo = json_is_array(p) ? doc_number_at(r, "published", 0) : doc_number(r, "published");
    *hi = json_is_array(p) ? doc_number_at(r, "published", 1) : *lo;
    return (*lo + *hi) / 2;
}

static void ratios(struct html *h, const json_t *c)
{
    const json_t *rows = json_object_get(c, "rows");
    size_t n = json_array_size(rows), used = 0;
    struct chart_dot *dot = calloc(n + 1, sizeof *dot);
    double *want = calloc(2 * n + 1, sizeof *want), lo, hi;
    char title[200];
    WB_MEMORY(dot && want, "out of memory for the picture of a case");
    for (size_t i = 0; i < n; i++) {
        const json_t *r = json_array_get(rows, i);
        double p = published_of(r, &lo, &hi), tolerance = doc_number(r, "tolerance"), v = doc_number(r, "simulated");
        if (!(p > 0) || !(v > 0)) continue;
        size_t verdict = word_index(doc_text(r, "verdict"), verdict_word, VERDICTS);
        struct chart_dot *d = &dot[used];
        snprintf(d->label, sizeof d->label, "%.90s", doc_text(r, "name"));
        d->y = v / p, d->ylo = doc_number_at(r, "ci", 0) / p, d->yhi = doc_number_at(r, "ci", 1) / p;
        d->verdict = verdict == 0 ? 1 : verdict == 1 ? -1 : 0;
        want[2 * used] = lo / p * (1 - tolerance), want[2 * used + 1] = hi / p * (1 + tolerance);
        if (*doc_text(r, "direction")) want[2 * used] = 1, want[2 * used + 1] = 0; /* one side is open */
        used++;
    }
    snprintf(title, sizeof title, "Simulated over published: %.120s", doc_text(c, "name"));
    if (used) chart_ratios(h, title, dot, want, used);
    free(dot);
    free(want);
}

static void case_row(struct html *h, const json_t *r)
{
    const char *unit = doc_text(r, "unit"), *direction = doc_text(r, "direction"), *verdict = doc_text(r, "verdict");
    double lo, hi;
    size_t v = word_index(verdict, verdict_word, VERDICTS);
    (void)published_of(r, &lo, &hi);
    html_row_begin(h, "");
    html_cell(h, doc_text(r, "name"));
    html_cell(h, doc_text(r, "class"));
    if (lo < hi)
        html_cell_range(h, lo, hi, unit);
    else
        html_cell_value(h, lo, unit);
    html_cell(h, *direction ? direction : "-");
    html_cell_value(h, doc_number(r, "simulated"), unit);
    html_cell_range(h, doc_number_at(r, "ci", 0), doc_number_at(r, "ci", 1), unit);
    html_cell_value(h, *direction ? NAN : doc_number(r, "tolerance"), "%"); /* one side is open */
    html_cell_verdict(h, *verdict ? verdict : "reported", v < VERDICTS ? verdict_class[v] : "");
    html_cell(h, *doc_text(r, "flips") ? doc_text(r, "flips") : doc_text(r, "finding"));
    html_cell(h, doc_text(r, "reason"));
    html_cell(h, doc_text(r, "source"));
    html_row_end(h);
}

static void rows_table(struct html *h, const json_t *rows, const char *caption)
{
    if (!json_array_size(rows)) return;
    html_table_begin(
        h, caption,
        "figure|class|#published|direction|#simulated|#95 % interval|#tolerance|verdict|remark|reason of the "
        "tolerance|source");
    for (size_t i = 0; i < json_array_size(rows); i++) case_row(h, json_array_get(rows, i));
    html_table_end(h);
}

static void one_case(struct html *h, const json_t *c)
{
    const json_t *variants = json_object_get(c, "variants");
    html_heading(h, NULL, *doc_text(c, "title") ? doc_text(c, "title") : doc_text(c, "name"));
    html_facts_begin(h);
    html_fact(h, "Case", "%s", doc_text(c, "name"));
    html_fact(h, "Published in", "%s", doc_text(c, "source"));
    html_facts_end(h);
    html_fold_begin(h, "Variants that were run");
    html_table_begin(h, "Variants", "variant|what it is|run");
    for (size_t i = 0; i < json_array_size(variants); i++) {
        const json_t *v = json_array_get(variants, i);
        html_row_begin(h, "");
        html_cell(h, doc_text(v, "name"));
        html_cell(h, doc_text(v, "help"));
        html_cell(h, doc_text(v, "run"));
        html_row_end(h);
    }
    html_table_end(h);
    html_fold_end(h);
    ratios(h, c);
    rows_table(h, json_object_get(c, "rows"), "Published beside simulated");
    rows_table(h, json_object_get(c, "reported"), "Reported without verdict");
    html_heading(h, NULL, "Where its costs come from");
    report_costs(h, json_object_get(c, "costs"), NULL);
}

void report_cases(struct html *h, const struct report_input *in)
{
    const json_t *cases = json_object_get(in->doc, "cases");
    html_facts_begin(h);
    html_fact(h, "Asked", "Does the model give what was published, without having been told?");
    html_fact(h, "Cases", "%zu", json_array_size(cases));
    html_facts_end(h);
    html_heading(h, NULL, "Verdict");
    verdict_cases(h, cases);
    for (size_t i = 0; i < json_array_size(cases); i++) one_case(h, json_array_get(cases, i));
}
