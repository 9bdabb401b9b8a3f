/* plot_data.c - from result documents to columns of numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

const json_t *plot_metric(const json_t *result, const char *name)
{
    const json_t *list = json_object_get(result, "metrics"), *found = NULL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *m = json_array_get(list, i);
        if (strcmp(text_of(m, "name"), name)) continue;
        if (json_is_string(json_object_get(m, "workload"))) return m;
        if (!found) found = m;
    }
    return found;
}

static double number(const json_t *v)
{
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* ------------------------------------------------------------------ units */
static void choose_unit(struct plot_input *in, const char *unit, double largest)
{
    static const struct {
        const char *base, *shown;
        double from, scale;
    } row[] = {{"B/s", "GB/s", 1e9, 1e-9}, {"B/s", "MB/s", 1e6, 1e-6},      {"B/s", "kB/s", 1e3, 1e-3},
               {"s", "s", 0.5, 1},         {"s", "ms", 0.5e-3, 1e3},        {"s", "us", 0.5e-6, 1e6},
               {"s", "ns", 0, 1e9},        {"1/s", "million/s", 1e6, 1e-6}, {"1/s", "thousand/s", 1e4, 1e-3}};
    in->scale = 1;
    snprintf(in->unit, sizeof in->unit, "%s", !strcmp(unit, "1") ? "" : unit);
    for (size_t i = 0; i < WB_ARRAY_SIZE(row); i++) {
        if (strcmp(unit, row[i].base) || largest < row[i].from) continue;
        in->scale = row[i].scale;
        snprintf(in->unit, sizeof in->unit, "%s", row[i].shown);
        break;
    }
    in->span = largest * in->scale;
    snprintf(in->axis, sizeof in->axis, *in->unit ? "%s (%s)" : "%s", in->metric, in->unit);
}

static void put(FILE *f, double v)
{
    if (isfinite(v))
        fprintf(f, " %.9g", v);
    else
        fputs(" NaN", f);
}

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
        for (size_t k = 0; k < json_array_size(w); k++) top = fmax(top, number(json_array_get(w, k)));
    }
    return top;
}

/* Each value twice, at both ends of its window: a line through them is a staircase. */
static void windows_block(FILE *f, const struct plot_input *in, size_t i)
{
    const json_t *m = plot_metric(in->result[i], in->metric), *w = windows_of(m),
                 *run = json_object_get(in->result[i], "run");
    const json_t *together = windows_of(plot_metric(in->result[i], "colocated"));
    double width = number(json_object_get(json_object_get(m, "windows"), "width_s"));
    double start = number(json_object_get(run, "duration_s")) - number(json_object_get(run, "measured_s"));
    fprintf(f, "%s# \"%s\": time_s %s share_on_one_cpu\n", i ? "\n\n" : "", in->label[i], in->unit);
    for (size_t k = 0; k < json_array_size(w); k++)
        for (size_t end = 0; end < 2; end++) {
            fprintf(f, "%.9g", start + (double)(k + end) * width);
            put(f, number(json_array_get(w, k)) * in->scale);
            put(f, number(json_array_get(together, k)));
            fputc('\n', f);
        }
}

static bool keep_with(struct plot_input *in, bool (*has)(const json_t *result, const char *metric), size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++) {
        if (n < most && has(in->result[i], in->metric)) {
            in->result[n] = in->result[i];
            char *label = in->label[i];
            in->label[i] = in->label[n];
            in->label[n++] = label;
        } else {
            free(in->label[i]);
            in->label[i] = NULL;
        }
    }
    in->n = n;
    return n > 0;
}

static bool has_windows(const json_t *result, const char *metric)
{
    return json_array_size(windows_of(plot_metric(result, metric))) > 0;
}

static bool write_windows(FILE *f, struct plot_input *in)
{
    if (!keep_with(in, has_windows, PLOT_SERIES_MAX)) return false;
    choose_unit(in, text_of(plot_metric(in->result[0], in->metric), "unit"), largest_window(in));
    for (size_t i = 0; i < in->n; i++) windows_block(f, in, i);
    return true;
}

/* ------------------------------------------------------------------ bars */
static bool has_mean(const json_t *result, const char *metric)
{
    return json_is_number(json_object_get(plot_metric(result, metric), "mean"));
}

static bool write_bars(FILE *f, struct plot_input *in)
{
    double top = 0;
    if (!keep_with(in, has_mean, PLOT_BARS_MAX)) return false;
    for (size_t i = 0; i < in->n; i++) {
        const json_t *m = plot_metric(in->result[i], in->metric);
        top = fmax(top, fmax(number(json_object_get(m, "mean")), number(json_array_get(json_object_get(m, "ci"), 1))));
    }
    choose_unit(in, text_of(plot_metric(in->result[0], in->metric), "unit"), top);
    fprintf(f, "# label mean_%s ci_low ci_high shown\n", in->unit);
    for (size_t i = 0; i < in->n; i++) {
        const json_t *m = plot_metric(in->result[i], in->metric), *ci = json_object_get(m, "ci");
        double mean = number(json_object_get(m, "mean")) * in->scale;
        double lo = number(json_array_get(ci, 0)) * in->scale, hi = number(json_array_get(ci, 1)) * in->scale;
        fprintf(f, "\"%s\"", in->label[i]);
        put(f, mean);
        put(f, isfinite(lo) ? lo : mean);
        put(f, isfinite(hi) ? hi : mean);
        fprintf(f, " \"%.3g\"\n", mean);
    }
    return true;
}

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
    for (size_t k = 0; k < json_array_size(bins); k++) all += number(json_array_get(json_array_get(bins, k), 2));
    fprintf(f, "%s# \"%s\": upper_end_%s share\n", i ? "\n\n" : "", in->label[i], in->unit);
    for (size_t k = 0; k < json_array_size(bins); k++) {
        const json_t *bin = json_array_get(bins, k);
        if (!k) fprintf(f, "%.9g 0\n", fmax(number(json_array_get(bin, 0)), 1) * 1e-12 * in->scale);
        sum += number(json_array_get(bin, 2));
        fprintf(f, "%.9g %.9g\n", number(json_array_get(bin, 1)) * 1e-12 * in->scale, sum / all);
    }
}

static bool write_cdf(FILE *f, struct plot_input *in)
{
    if (!keep_with(in, has_hist, PLOT_SERIES_MAX)) return false;
    double median = number(json_object_get(plot_metric(in->result[0], in->metric), "p50"));
    choose_unit(in, "s", isfinite(median) ? median : 0);
    for (size_t i = 0; i < in->n; i++) cdf_block(f, in, i);
    return true;
}

bool plot_write_data(FILE *f, enum plot_kind kind, struct plot_input *in)
{
    static bool (*const write[PLOT_KINDS])(FILE *, struct plot_input *) = {
        [PLOT_WINDOWS] = write_windows, [PLOT_BARS] = write_bars, [PLOT_CDF] = write_cdf};
    return write[kind](f, in);
}
