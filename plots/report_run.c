/* report_run.c - results of runs and studies: what was asked, what came out, in pictures and tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exp_format.h"
#include "plot.h"
#include "report_inner.h"

#define BARS_MOST 40
#define STACK_MOST 24
#define X_MOST 64

/* Figures that say how a load went, whatever it was; shown before all others. */
static const char *const main_figure[] = {"wake_latency",  "wake_latency.p50",     "wake_latency.p99",
                                          "run_delay.p99", "switches.rate",        "wakeups.rate",
                                          "migrations",    "migrations.rate",      "ipis",
                                          "cotime",        "idle_while_work_waits"};

static bool is_main(const json_t *m)
{
    if (json_is_string(json_object_get(m, "workload"))) return true;
    for (size_t i = 0; i < WB_ARRAY_SIZE(main_figure); i++)
        if (!strcmp(doc_text(m, "name"), main_figure[i])) return true;
    return false;
}

static const json_t *primary_of(const json_t *result)
{
    const char *name = doc_text(json_object_get(result, "run"), "metric");
    return *name ? plot_metric(result, name) : NULL;
}

/* "message=4KiB, hz=100": coordinates by the last words of their keys, or the label of a point without any. */
static char *short_label(const json_t *result, char *buf, size_t n)
{
    json_t *params = json_object_get(result, "params"), *v;
    const char *key;
    char text[64];
    snprintf(buf, n, "%s", json_object_size(params) ? "" : doc_text(result, "label"));
    json_object_foreach(params, key, v)
    {
        size_t used = strlen(buf);
        const char *dot = strrchr(key, '.');
        snprintf(buf + used, n - used, "%s%s=%s", used ? ", " : "", dot ? dot + 1 : key,
                 doc_value_text(v, text, sizeof text));
    }
    return buf;
}

/* ------------------------------------------------------------------ what was asked */
static void asked(struct html *h, const json_t *r, bool several)
{
    const json_t *run = json_object_get(r, "run"), *machine = json_object_get(r, "machine"),
                 *kernel = json_object_get(r, "kernel"), *cal = json_object_get(machine, "calibration");
    char a[64];
    html_facts_begin(h);
    if (*doc_text(run, "title")) html_fact(h, "Title", "%s", doc_text(run, "title"));
    html_fact(h, "Machine", "%s, %.0f CPUs; costs: %s (%s)", doc_text(machine, "name"), doc_number(machine, "cpus"),
              doc_text(cal, "state"), doc_text(cal, "source"));
    html_fact(h, "Kernel", "%s, scheduler %s", doc_text(kernel, "name"), doc_text(kernel, "scheduler"));
    html_fact(h, "Seed", "%.0f", doc_number(run, "seed"));
    if (!several) {
        html_fact(h, "Replications", "%.0f (%s)", doc_number(run, "replications"), doc_text(run, "stopped"));
        html_fact(h, "Simulated", "%s each", doc_format(a, sizeof a, doc_number(run, "duration_s"), "s"));
        html_fact(h, "Identity", "run %s, configuration %s", doc_text(run, "id"), doc_text(run, "scenario_sha256"));
    }
    html_facts_end(h);
}

static void warnings(struct html *h, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        html_para(h, "open", "Note %s: %s", doc_text(json_array_get(list, i), "code"),
                  doc_text(json_array_get(list, i), "text"));
}

/* ------------------------------------------------------------------ one run */
static void verdict_one(struct html *h, const json_t *r)
{
    const json_t *m = primary_of(r), *run = json_object_get(r, "run");
    char mean[64], range[96];
    if (!m) {
        html_para(h, "verdict open", "The scenario has no figure that decides; see the tables.");
        return;
    }
    const char *unit = doc_text(m, "unit");
    doc_format(mean, sizeof mean, doc_number(m, "mean"), unit);
    if (isfinite(doc_number_at(m, "ci", 0)))
        html_para(h, "verdict", "%s is %s (%.0f %% interval %s; %.0f replications, %s; %s is better).",
                  doc_text(m, "name"), mean, 100 * doc_number(m, "confidence"),
                  exp_format_range(range, sizeof range, doc_number_at(m, "ci", 0), doc_number_at(m, "ci", 1), unit),
                  doc_number(run, "replications"), doc_text(run, "stopped"), doc_text(m, "better"));
    else
        html_para(h, "verdict open", "%s is %s in a single replication: no interval is known.", doc_text(m, "name"),
                  mean);
}

/* The figure over windows of time; of the first replication. */
static void windows(struct html *h, const json_t *m)
{
    const json_t *w = json_object_get(m, "windows"), *v = json_array_get(json_object_get(w, "values"), 0);
    size_t n = json_array_size(v);
    double width = doc_number(w, "width_s");
    char title[160];
    if (n < 2) return;
    double *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
    WB_MEMORY(x && y, "out of memory for %zu windows", n);
    for (size_t i = 0; i < n; i++) {
        const json_t *e = json_array_get(v, i);
        x[i] = (double)i * width;
        y[i] = json_is_number(e) ? json_number_value(e) : NAN;
    }
    snprintf(title, sizeof title, "%.100s over time, replication 0", doc_text(m, "name"));
    struct chart_series s = {.name = "", .n = n, .x = x, .y = y, .steps = true};
    struct chart_lines c = {.title = title,
                            .desc = "One value per window of simulated time; modes show as levels.",
                            .x = {.unit = "s", .label = "time"},
                            .y = {.unit = doc_text(m, "unit"), .label = doc_text(m, "name")},
                            .series = &s,
                            .n = 1};
    chart_lines(h, &c);
    free(x);
    free(y);
}

/* Share of wakeups that waited at most so long. */
static void distribution(struct html *h, const json_t *m)
{
    const json_t *bins = json_object_get(json_object_get(m, "hist"), "bins");
    size_t n = json_array_size(bins);
    double all = 0, sum = 0;
    char title[160];
    if (n < 2) return;
    double *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
    WB_MEMORY(x && y, "out of memory for a distribution");
    for (size_t i = 0; i < n; i++) all += json_number_value(json_array_get(json_array_get(bins, i), 2));
    for (size_t i = 0; i < n; i++) {
        const json_t *b = json_array_get(bins, i);
        sum += json_number_value(json_array_get(b, 2));
        x[i] = fmax(json_number_value(json_array_get(b, 1)) * 1e-12, 1e-10);
        y[i] = sum / all;
    }
    snprintf(title, sizeof title, "Distribution of %.100s", doc_text(m, "name"));
    struct chart_series s = {.name = "", .n = n, .x = x, .y = y, .steps = true};
    struct chart_lines c = {.title = title,
                            .desc = "Share of all that took at most the time on the logarithmic axis.",
                            .x = {.unit = "s", .label = "at most", .log = true},
                            .y = {.unit = "%", .label = "share"},
                            .series = &s,
                            .n = 1};
    chart_lines(h, &c);
    free(x);
    free(y);
}

static void one_metric_row(struct html *h, const json_t *m)
{
    const json_t *w = json_object_get(m, "workload");
    const char *unit = doc_text(m, "unit");
    html_row_begin(h, "");
    html_cell(h, doc_text(m, "name"));
    html_cell(h, json_is_string(w) ? json_string_value(w) : "machine");
    html_cell_value(h, doc_number(m, "mean"), unit);
    html_cell_range(h, doc_number_at(m, "ci", 0), doc_number_at(m, "ci", 1), unit);
    html_cell_value(h, doc_number(m, "sd"), unit);
    html_cell_value(h, doc_number(m, "n"), "1");
    html_cell(h, doc_text(m, "better"));
    html_row_end(h);
}

static void metric_table(struct html *h, const json_t *metrics, bool all)
{
    html_table_begin(h, all ? "All figures" : "Main figures",
                     "figure|of|#mean|#95 % interval|#standard deviation|#replications|better");
    for (size_t i = 0; i < json_array_size(metrics); i++) {
        const json_t *m = json_array_get(metrics, i);
        if (all || is_main(m)) one_metric_row(h, m);
    }
    html_table_end(h);
}

static void named_table(struct html *h, const json_t *list, const char *caption, const char *columns, const char *key)
{
    double all = 0;
    size_t n = json_array_size(list);
    if (!n) return;
    for (size_t i = 0; i < n; i++) all += json_number_value(json_object_get(json_array_get(list, i), key));
    html_fold_begin(h, caption);
    html_table_begin(h, caption, columns);
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(list, i);
        html_row_begin(h, "");
        html_cell(h, doc_text(o, "name"));
        html_cell_value(h, doc_number(o, key), !strcmp(key, "seconds") ? "s" : "1");
        html_cell_value(h, all > 0 ? doc_number(o, key) / all : NAN, "%");
        html_row_end(h);
    }
    html_table_end(h);
    html_fold_end(h);
}

static void faults(struct html *h, const json_t *list)
{
    if (!json_array_size(list)) return;
    html_table_begin(h, "What a scheduler should not let happen, and to whom", "what|task|#times|#in all|#longest");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        html_row_begin(h, "");
        html_cell(h, doc_text(o, "kind"));
        html_cell(h, doc_text(o, "task"));
        html_cell_value(h, doc_number(o, "count"), "1");
        html_cell_value(h, doc_number(o, "total_s"), "s");
        html_cell_value(h, doc_number(o, "longest_s"), "s");
        html_row_end(h);
    }
    html_table_end(h);
}

/* Where CPU time went, a row per result. */
static void time_stack(struct html *h, const json_t *list)
{
    const json_t *first = json_object_get(json_array_get(list, 0), "time");
    size_t nparts = json_object_size(first), n = WB_MIN(json_array_size(list), (size_t)STACK_MOST), k;
    const char **part = calloc(nparts + 1, sizeof *part), **row = calloc(n + 1, sizeof *row);
    char(*label)[96] = calloc(n + 1, sizeof *label);
    double *share = calloc(n * nparts + 1, sizeof *share);
    WB_MEMORY(part && row && share && label, "out of memory for the time accounts");
    for (size_t i = 0; i < n; i++) {
        const json_t *r = json_array_get(list, i);
        json_t *time = json_object_get(r, "time"), *v;
        const char *key;
        double all = 0;
        json_object_foreach(time, key, v) all += json_number_value(v);
        k = 0;
        json_object_foreach(time, key, v)
        {
            if (k >= nparts) break;
            part[k] = key;
            share[i * nparts + k++] = all > 0 ? json_number_value(v) / all : 0;
        }
        row[i] = *short_label(r, label[i], sizeof label[i]) ? label[i] : "all CPUs";
    }
    struct chart_stack c = {
        .title = "Where CPU time went", .part = part, .nparts = nparts, .row = row, .share = share, .nrows = n};
    if (nparts && n) chart_stack(h, &c);
    free(part);
    free(row);
    free(label);
    free(share);
}

static void one(struct html *h, const json_t *list)
{
    const json_t *r = json_array_get(list, 0), *m = primary_of(r), *metrics = json_object_get(r, "metrics");
    asked(h, r, false);
    html_heading(h, NULL, "Verdict");
    verdict_one(h, r);
    warnings(h, json_object_get(r, "warnings"));
    html_heading(h, NULL, "Pictures");
    if (m) windows(h, m);
    const json_t *wake = plot_metric(r, "wake_latency");
    if (wake) distribution(h, wake);
    time_stack(h, list);
    html_heading(h, NULL, "Figures");
    metric_table(h, metrics, false);
    faults(h, json_object_get(r, "invariants"));
    html_fold_begin(h, "All figures");
    metric_table(h, metrics, true);
    html_fold_end(h);
    named_table(h, json_object_get(r, "profile"), "CPU time by kernel function", "function|#time|#share", "seconds");
    named_table(h, json_object_get(r, "rules"), "Decisions by rule", "rule|#times|#share", "count");
}

/* ------------------------------------------------------------------ a study */
/* Distinct values of a parameter in order of appearance. */
struct axis_values {
    const char *key;
    char *value[X_MOST];
    size_t n;
    bool more; /* than X_MOST */
};

static size_t index_of(struct axis_values *a, const json_t *result, bool add)
{
    char text[96];
    doc_value_text(json_object_get(json_object_get(result, "params"), a->key), text, sizeof text);
    for (size_t i = 0; i < a->n; i++)
        if (!strcmp(a->value[i], text)) return i;
    if (!add) return SIZE_MAX;
    if (a->n == X_MOST) {
        a->more = true;
        return SIZE_MAX;
    }
    a->value[a->n] = strdup(text);
    WB_MEMORY(a->value[a->n], "out of memory for the axes of a study");
    return a->n++;
}

/* The axes of the list, at most `most`. */
static size_t find_axes(const json_t *list, struct axis_values *axis, size_t most)
{
    json_t *params = json_object_get(json_array_get(list, 0), "params"), *v;
    const char *key;
    size_t n = 0;
    json_object_foreach(params, key, v)
    {
        if (n == most) break;
        axis[n] = (struct axis_values){.key = key};
        for (size_t i = 0; i < json_array_size(list); i++) (void)index_of(&axis[n], json_array_get(list, i), true);
        n++;
    }
    return n;
}

/* Points that share all axes but x are one line. */
struct study_lines {
    struct axis_values *x;
    struct chart_series s[CHART_SERIES_MAX];
    char *name[CHART_SERIES_MAX];
    size_t n, left_out;
};

static struct chart_series *series_of(struct study_lines *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->name[i], name)) return &l->s[i];
    if (l->n == CHART_SERIES_MAX) return NULL;
    struct chart_series *s = &l->s[l->n];
    l->name[l->n] = strdup(name);
    s->name = l->name[l->n++];
    s->n = l->x->n;
    double *all = calloc(4 * s->n, sizeof *all);
    WB_MEMORY(all && s->name, "out of memory for the lines of a study");
    s->x = all, s->y = all + s->n, s->lo = all + 2 * s->n, s->hi = all + 3 * s->n;
    for (size_t i = 0; i < s->n; i++) s->x[i] = (double)i, s->y[i] = s->lo[i] = s->hi[i] = NAN;
    return s;
}

static void add_point(struct study_lines *l, const json_t *r, const char *metric)
{
    json_t *params = json_object_get(r, "params"), *v;
    const json_t *m = plot_metric(r, metric);
    const char *key;
    char name[200] = "", text[96];
    json_object_foreach(params, key, v)
    {
        size_t used = strlen(name);
        if (!strcmp(key, l->x->key)) continue;
        snprintf(name + used, sizeof name - used, "%s%s=%s", used ? ", " : "", key,
                 doc_value_text(v, text, sizeof text));
    }
    size_t at = index_of(l->x, r, false);
    struct chart_series *s = m && at != SIZE_MAX ? series_of(l, name) : NULL;
    if (!s) {
        l->left_out++;
        return;
    }
    s->y[at] = doc_number(m, "mean");
    s->lo[at] = doc_number_at(m, "ci", 0);
    s->hi[at] = doc_number_at(m, "ci", 1);
}

static void study_picture(struct html *h, const json_t *list, const json_t *m, struct axis_values *axis, size_t naxes)
{
    struct study_lines l = {.x = axis};
    char title[300];
    for (size_t i = 1; i < naxes; i++)
        if (axis[i].n > l.x->n) l.x = &axis[i];
    if (!naxes || l.x->n < 2) return;
    for (size_t i = 0; i < json_array_size(list); i++) add_point(&l, json_array_get(list, i), doc_text(m, "name"));
    snprintf(title, sizeof title, "%.100s over %.100s, with 95 %% intervals", doc_text(m, "name"), l.x->key);
    struct chart_lines c = {.title = title,
                            .desc =
                                "A line for each combination of the other axes; the table of points has the figures.",
                            .x = {.name = (const char *const *)l.x->value, .nnames = l.x->n, .label = l.x->key},
                            .y = {.unit = doc_text(m, "unit"), .label = doc_text(m, "name")},
                            .series = l.s,
                            .n = l.n,
                            .marks = true};
    if (l.n) chart_lines(h, &c);
    if (l.left_out) html_para(h, "dim", "%zu points are not in the picture; all are in the table.", l.left_out);
    for (size_t i = 0; i < l.n; i++) {
        free(l.s[i].x);
        free(l.name[i]);
    }
}

static void study_bars(struct html *h, const json_t *list, const json_t *primary)
{
    size_t n = WB_MIN(json_array_size(list), (size_t)BARS_MOST);
    struct chart_bar *bar = calloc(n + 1, sizeof *bar);
    char title[160];
    WB_MEMORY(bar, "out of memory for the bars of a study");
    for (size_t i = 0; i < n; i++) {
        const json_t *r = json_array_get(list, i), *m = plot_metric(r, doc_text(primary, "name"));
        short_label(r, bar[i].label, sizeof bar[i].label);
        bar[i].mean = m ? doc_number(m, "mean") : NAN;
        bar[i].lo = m ? doc_number_at(m, "ci", 0) : NAN;
        bar[i].hi = m ? doc_number_at(m, "ci", 1) : NAN;
    }
    snprintf(title, sizeof title, "%.100s of %s%zu points", doc_text(primary, "name"),
             n < json_array_size(list) ? "the first " : "", n);
    chart_bars(h, title, doc_text(primary, "unit"), bar, n);
    free(bar);
}

/* The best and the worst, and whether their intervals are apart. */
static void verdict_study(struct html *h, const json_t *list, const json_t *primary)
{
    const json_t *best = NULL, *worst = NULL;
    bool higher = strcmp(doc_text(primary, "better"), "lower") != 0;
    char a[64], b[64];
    const char *name = doc_text(primary, "name"), *unit = doc_text(primary, "unit");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *r = json_array_get(list, i), *m = plot_metric(r, name);
        double v = m ? doc_number(m, "mean") : NAN;
        if (!isfinite(v)) continue;
        if (!best || (v > doc_number(plot_metric(best, name), "mean")) == higher) best = r;
        if (!worst || (v < doc_number(plot_metric(worst, name), "mean")) == higher) worst = r;
    }
    if (!best || best == worst) return;
    const json_t *g = plot_metric(best, name), *w = plot_metric(worst, name);
    bool apart = higher ? doc_number_at(g, "ci", 0) > doc_number_at(w, "ci", 1)
                        : doc_number_at(g, "ci", 1) < doc_number_at(w, "ci", 0);
    html_para(h, apart ? "verdict good" : "verdict open",
              "Of %zu points %s is best at %s (%s) and worst at %s (%s). Their intervals %s", json_array_size(list),
              name, doc_text(best, "label"), doc_format(a, sizeof a, doc_number(g, "mean"), unit),
              doc_text(worst, "label"), doc_format(b, sizeof b, doc_number(w, "mean"), unit),
              apart ? "are apart." : "meet, or are not known: no clear difference.");
}

static void point_row(struct html *h, const json_t *r, const json_t *primary, const struct axis_values *axis,
                      size_t naxes)
{
    const json_t *m = plot_metric(r, doc_text(primary, "name")), *run = json_object_get(r, "run"), *p;
    const char *unit = doc_text(primary, "unit");
    char text[96];
    html_row_begin(h, "");
    for (size_t i = 0; i < naxes; i++)
        html_cell(h, doc_value_text(json_object_get(json_object_get(r, "params"), axis[i].key), text, sizeof text));
    if (!naxes) html_cell(h, doc_text(r, "label"));
    html_cell_value(h, m ? doc_number(m, "mean") : NAN, unit);
    html_cell_range(h, m ? doc_number_at(m, "ci", 0) : NAN, m ? doc_number_at(m, "ci", 1) : NAN, unit);
    p = plot_metric(r, "wake_latency.p99");
    html_cell_value(h, p ? doc_number(p, "mean") : NAN, "s");
    p = plot_metric(r, "switches.rate");
    html_cell_value(h, p ? doc_number(p, "mean") : NAN, "1/s");
    p = plot_metric(r, "migrations");
    html_cell_value(h, p ? doc_number(p, "mean") : NAN, "1");
    html_cell_value(h, doc_number(run, "replications"), "1");
    html_cell(h, doc_text(run, "stopped"));
    html_row_end(h);
}

static void points_table(struct html *h, const json_t *list, const json_t *primary, const struct axis_values *axis,
                         size_t naxes)
{
    char columns[1200] = "";
    for (size_t i = 0; i < naxes; i++) {
        size_t used = strlen(columns);
        /* keys are words of the key table, or names of idle states and workloads: no markup can be in them */
        for (const char *p = axis[i].key; *p && used < 900; p++)
            if (!strchr("<>&|#\"'", *p)) columns[used++] = *p;
        columns[used++] = '|';
        columns[used] = '\0';
    }
    if (!naxes) snprintf(columns, sizeof columns, "point|");
    char name[100];
    snprintf(name, sizeof name, "%s", doc_text(primary, "name"));
    for (char *p = name; (p = strchr(p, '|')); p++) *p = ' '; /* it would be two columns */
    size_t used = strlen(columns);
    snprintf(columns + used, sizeof columns - used,
             "#%s|#95 %% interval|#p99 wakeup latency|#switches|#migrations|#replications|stopped", name);
    html_table_begin(h, "Points", columns);
    for (size_t i = 0; i < json_array_size(list); i++) point_row(h, json_array_get(list, i), primary, axis, naxes);
    html_table_end(h);
}

static void several(struct html *h, const json_t *list)
{
    struct axis_values axis[8];
    size_t naxes = find_axes(list, axis, WB_ARRAY_SIZE(axis));
    const json_t *first = json_array_get(list, 0), *primary = primary_of(first);
    asked(h, first, true);
    html_facts_begin(h);
    html_fact(h, "Points", "%zu", json_array_size(list));
    for (size_t i = 0; i < naxes; i++) {
        char all[400] = "";
        for (size_t k = 0; k < axis[i].n; k++) {
            size_t used = strlen(all);
            snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", axis[i].value[k]);
        }
        html_fact(h, axis[i].key, "%s%s", all, axis[i].more ? ", ..." : "");
    }
    html_facts_end(h);
    html_heading(h, NULL, "Verdict");
    if (primary) verdict_study(h, list, primary);
    for (size_t i = 0; i < WB_MIN(json_array_size(list), (size_t)5); i++)
        warnings(h, json_object_get(json_array_get(list, i), "warnings"));
    html_heading(h, NULL, "Pictures");
    if (primary) study_picture(h, list, primary, axis, naxes);
    if (primary) study_bars(h, list, primary);
    time_stack(h, list);
    html_heading(h, NULL, "Points");
    if (primary) points_table(h, list, primary, axis, naxes);
    for (size_t i = 0; i < naxes; i++)
        for (size_t k = 0; k < axis[i].n; k++) free(axis[i].value[k]);
}

void report_results(struct html *h, const json_t *list, const struct report_input *in)
{
    (void)in;
    if (!json_array_size(list)) {
        html_para(h, "verdict open", "No point has a complete replication yet: there is nothing to show.");
        return;
    }
    if (json_array_size(list) == 1)
        one(h, list);
    else
        several(h, list);
}
