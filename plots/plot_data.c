/* plot_data.c - windows over time and distributions of latencies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

/* ------------------------------------------------------------------ windows */
static const json_t *windows_of(const json_t *metric)
{
    return json_array_get(json_object_get(json_object_get(metric, "windows"), "values"), 0);
}

static double largest_window(const struct plot_input *in)
{
    double top = 0;
    for (size_t i = 0; i < in->n; i++) {
        const json_t *w = windows_of(plot_metric(in->result[i], in->metric));
        for (size_t k = 0; k < json_array_size(w); k++) top = fmax(top, plot_number(json_array_get(w, k)));
    }
    return top;
}

/* Each value twice, at both ends of its window: a line through them is a staircase. */
static void windows_block(FILE *f, const struct plot_input *in, size_t i)
{
    const json_t *m = plot_metric(in->result[i], in->metric), *w = windows_of(m),
                 *run = json_object_get(in->result[i], "run");
    const json_t *together = windows_of(plot_metric(in->result[i], "colocated"));
    double width = plot_number(json_object_get(json_object_get(m, "windows"), "width_s"));
    double start = plot_number(json_object_get(run, "duration_s")) - plot_number(json_object_get(run, "measured_s"));
    fprintf(f, "%s# \"%s\": time_s %s share_on_one_cpu\n", i ? "\n\n" : "", in->label[i], in->unit.text);
    for (size_t k = 0; k < json_array_size(w); k++)
        for (size_t end = 0; end < 2; end++) {
            fprintf(f, "%.9g", start + (double)(k + end) * width);
            plot_put(f, plot_number(json_array_get(w, k)) * in->unit.scale);
            plot_put(f, plot_number(json_array_get(together, k)));
            fputc('\n', f);
        }
}

static bool has_windows(const json_t *result, const char *metric)
{
    return json_array_size(windows_of(plot_metric(result, metric))) > 0;
}

struct windows {
    struct plot_facets *facets; /* NULL: one panel, with a legend of all results */
    struct plot_panels panels;
    size_t key_columns;
};

/* The legend of small multiples names curves. */
static bool facet_curves(struct plot_input *in, struct plot_facets **facets)
{
    if (!in->o->facets) return true;
    struct plot_facets *fa = *facets = plot_facets_read(in, PLOT_SERIES_MAX);
    if (fa && fa->name) fa->panels.key_rows = plot_key_rows(in, fa->name, fa->axes.series.n, &fa->key_columns);
    return fa;
}

static bool prepare_windows(struct plot_input *in)
{
    if (!plot_keep_with(in, has_windows, in->o->facets ? SIZE_MAX : PLOT_SERIES_MAX)) {
        snprintf(in->why, sizeof in->why,
                 "nothing to draw: no result has windows of '%.60s'; runs shorter than a window have none: "
                 "--set run.window=1ms",
                 in->metric);
        return false;
    }
    double top = largest_window(in);
    plot_choose_unit(&in->unit, in->metric, plot_string(plot_metric(in->result[0], in->metric), "unit"), top);
    in->span = top * in->unit.scale;
    double width =
        plot_number(json_object_get(json_object_get(plot_metric(in->result[0], in->metric), "windows"), "width_s"));
    snprintf(in->caption, sizeof in->caption, "replication 0, means over windows of %.3g ms", width * 1e3);
    in->height = 600 + 20 * (uint32_t)in->n;
    in->rows = 34;
    struct windows *w = in->own = plot_need(calloc(1, sizeof *w));
    w->panels = (struct plot_panels){.n = 1, .columns = 1, .rows = 1};
    w->panels.key_rows = plot_key_rows(in, in->label, in->n, &w->key_columns);
    if (!facet_curves(in, &w->facets)) return false;
    if (!w->facets) return true;
    in->height = 170 + 380 * w->facets->panels.rows;
    in->rows = 8 + 26 * w->facets->panels.rows;
    return true;
}

static void write_windows(FILE *f, const struct plot_input *in)
{
    for (size_t i = 0; i < in->n; i++) windows_block(f, in, i);
}

/* One line per result: column `column` of its block. */
static void put_lines(FILE *f, const struct plot_input *in, const char *column)
{
    bool points = in->o->format != PLOT_TERMINAL; /* they tell greys apart */
    for (size_t i = 0; i < in->n; i++) {
        fprintf(f, "%s%s", i ? ", \\\n     " : "", i ? "''" : "");
        if (!i) plot_put_quoted(f, in->dat);
        fprintf(f, " index %zu using 1:%s with %s ls %zu%s title ", i, column, points ? "linespoints" : "lines", i + 1,
                points ? " pi 10" : "");
        plot_put_quoted(f, in->label[i]);
    }
}

static void put_time(FILE *f, const struct plot_input *in, bool end)
{
    double first = INFINITY, last = 0;
    for (size_t i = 0; i < in->n; i++) {
        const json_t *run = json_object_get(in->result[i], "run");
        double d = json_number_value(json_object_get(run, "duration_s")),
               m = json_number_value(json_object_get(run, "measured_s"));
        first = fmin(first, d - m);
        last = fmax(last, d);
    }
    double margin = 0.01 * (last - first); /* what lies at the ends is not cut in half by the frame */
    fprintf(f, "%.6g", end ? last + margin : first - margin);
}

/* A figure of 0 is to be seen beside the axis. */
static double bottom_of(const struct plot_input *in)
{
    return -(in->span > 0 ? in->span : 1) * (in->o->format == PLOT_TERMINAL ? 0.08 : 0.03);
}

static const char *share_range(const struct plot_input *in) /* off the axis */
{
    return in->o->format == PLOT_TERMINAL ? "-0.15:1.15" : "-0.04:1.04";
}

static void windows_entries(FILE *f, const struct plot_input *in)
{
    plot_facets_entries(f, ((const struct windows *)in->own)->facets);
}

/* The figure over the share of time together, in each panel. */
static void put_windows_panels(FILE *f, const struct plot_input *in)
{
    const struct plot_facets *fa = ((const struct windows *)in->own)->facets;
    const struct plot_panels *p = &fa->panels;
    plot_facets_begin(f, in, fa, windows_entries);
    fputs("set xrange [", f);
    put_time(f, in, false);
    fputc(':', f);
    put_time(f, in, true);
    fputs("]\n", f);
    for (size_t i = 0; i < p->n; i++) {
        plot_put_panel(f, in, p, i, &fa->axes.facet, "", in->unit.axis);
        plot_put_panel_part(f, in, p, i, 0.42, 1);
        fprintf(f, "set format x ''\nset ytics auto nomirror\nset yrange [%.6g:%.6g]\n", bottom_of(in),
                in->span > 0 ? in->span * 1.1 : 1);
        plot_facets_curves(f, in, fa, i, "2");
        plot_put_panel(f, in, p, i, &fa->axes.facet, "simulated time (s)", "together");
        plot_put_panel_part(f, in, p, i, 0, 0.36);
        fprintf(f, "unset title\nset format x '%%g'\nset ytics 0,0.5,1\nset yrange [%s]\n", share_range(in));
        plot_facets_curves(f, in, fa, i, "3");
    }
    fputs("unset multiplot", f);
}

static bool word_windows(FILE *f, const struct plot_input *in, const char *word)
{
    const struct windows *w = in->own;
    if (!strcmp(word, "PANELS")) return put_windows_panels(f, in), true;
    if (!strcmp(word, "KEY")) return plot_put_key(f, in, &w->panels, w->key_columns), true;
    if (!strcmp(word, "TMARGIN")) return fprintf(f, "%.1f", 2.6 + w->panels.key_rows * 1.1), true;
    if (!strcmp(word, "SHARES")) return fputs(share_range(in), f), true;
    if (!strcmp(word, "XMIN")) return put_time(f, in, false), true;
    if (!strcmp(word, "XMAX")) return put_time(f, in, true), true;
    if (!strcmp(word, "YMIN")) return fprintf(f, "%.6g", bottom_of(in)), true;
    if (!strcmp(word, "YMAX")) return fprintf(f, "%.6g", in->span > 0 ? in->span * 1.1 : 1), true;
    if (!strcmp(word, "PLOT_TOP")) return put_lines(f, in, "2"), true;
    if (!strcmp(word, "PLOT_BOTTOM")) return put_lines(f, in, "3"), true;
    return false;
}

static void forget_windows(struct plot_input *in)
{
    struct windows *w = in->own;
    if (w) plot_facets_free(w->facets);
    free(w);
}

const struct plot_ops plot_windows = {.name = "windows",
                                      .schema = "wakebal.result",
                                      .obeys = PLOT_OBEYS_METRIC | PLOT_OBEYS_FACETS | PLOT_OBEYS_ONLY,
                                      .prepare = prepare_windows,
                                      .data = write_windows,
                                      .word = word_windows,
                                      .forget = forget_windows};

/* ------------------------------------------------------------------ distribution */
static const json_t *bins_of(const json_t *metric)
{
    return json_object_get(json_object_get(metric, "hist"), "bins");
}

static bool has_hist(const json_t *result, const char *metric)
{
    return json_array_size(bins_of(plot_metric(result, metric))) > 0;
}

static void cdf_block(FILE *f, const struct plot_input *in, size_t i)
{
    const json_t *bins = bins_of(plot_metric(in->result[i], in->metric));
    double all = 0, sum = 0;
    for (size_t k = 0; k < json_array_size(bins); k++) all += plot_number(json_array_get(json_array_get(bins, k), 2));
    fprintf(f, "%s# \"%s\": upper_end_%s share\n", i ? "\n\n" : "", in->label[i], in->unit.text);
    for (size_t k = 0; k < json_array_size(bins); k++) {
        const json_t *bin = json_array_get(bins, k);
        if (!k) fprintf(f, "%.9g 0\n", fmax(plot_number(json_array_get(bin, 0)), 1) * 1e-12 * in->unit.scale);
        sum += plot_number(json_array_get(bin, 2));
        fprintf(f, "%.9g %.9g\n", plot_number(json_array_get(bin, 1)) * 1e-12 * in->unit.scale, sum / all);
    }
}

static bool prepare_cdf(struct plot_input *in)
{
    if (!plot_keep_with(in, has_hist, in->o->facets ? SIZE_MAX : PLOT_SERIES_MAX)) {
        snprintf(in->why, sizeof in->why, "nothing to draw: no result has a histogram of '%.60s'", in->metric);
        return false;
    }
    double median = plot_number(json_object_get(plot_metric(in->result[0], in->metric), "p50"));
    plot_choose_unit(&in->unit, in->metric, "s", isfinite(median) ? median : 0);
    snprintf(in->caption, sizeof in->caption, "all replications together");
    in->height = 600;
    in->rows = 32;
    struct plot_facets *fa = NULL;
    bool good = facet_curves(in, &fa);
    in->own = fa;
    return good;
}

/* Panels can be compared when they have the same axis: from the first bin to the last of all results. */
static void put_cdf_range(FILE *f, const struct plot_input *in)
{
    double first = INFINITY, last = 0;
    for (size_t i = 0; i < in->n; i++) {
        const json_t *bins = bins_of(plot_metric(in->result[i], in->metric));
        first = fmin(first, fmax(plot_number(json_array_get(json_array_get(bins, 0), 0)), 1));
        last = fmax(last, plot_number(json_array_get(json_array_get(bins, json_array_size(bins) - 1), 1)));
    }
    fprintf(f, "set xrange [%.6g:%.6g]\n", first * 1e-12 * in->unit.scale, last * 1e-12 * in->unit.scale);
}

static void cdf_entries(FILE *f, const struct plot_input *in)
{
    plot_facets_entries(f, in->own);
}

static void put_cdf_panels(FILE *f, const struct plot_input *in)
{
    const struct plot_facets *fa = in->own;
    plot_facets_begin(f, in, fa, cdf_entries);
    fputs("set logscale x\nset yrange [-0.02:1.03]\nset ytics (0, 0.25, 'median' 0.5, 0.75, 'p90' 0.9, 'p99' 0.99)\n",
          f);
    put_cdf_range(f, in);
    for (size_t i = 0; i < fa->panels.n; i++) {
        plot_put_panel(f, in, &fa->panels, i, &fa->axes.facet, in->unit.axis, "share of values not above");
        plot_facets_curves(f, in, fa, i, "2");
    }
    fputs("unset multiplot", f);
}

static void write_cdf(FILE *f, const struct plot_input *in)
{
    for (size_t i = 0; i < in->n; i++) cdf_block(f, in, i);
}

static bool word_cdf(FILE *f, const struct plot_input *in, const char *word)
{
    if (!strcmp(word, "PLOT_TOP")) return put_lines(f, in, "2"), true;
    if (!strcmp(word, "PANELS")) return put_cdf_panels(f, in), true;
    return false;
}

static void forget_cdf(struct plot_input *in)
{
    plot_facets_free(in->own);
}

const struct plot_ops plot_cdf = {.name = "cdf",
                                  .schema = "wakebal.result",
                                  .obeys = PLOT_OBEYS_METRIC | PLOT_OBEYS_FACETS | PLOT_OBEYS_ONLY,
                                  .prepare = prepare_cdf,
                                  .data = write_cdf,
                                  .word = word_cdf,
                                  .forget = forget_cdf};
