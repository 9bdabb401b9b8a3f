/* plot_lines.c - a figure along an axis: lines with bands of their intervals, a line a series, a panel a facet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

struct lines {
    struct plot_axes axes;
    struct plot_panels panels;
    char *name[PLOT_SERIES_MAX];
    size_t key_columns, most; /* most: tick marks that fit */
    bool log_y;
    double low; /* smallest value shown, in the shown unit */
};

static void find_range(struct plot_input *in, struct lines *l)
{
    l->low = INFINITY;
    for (size_t i = 0; i < in->n; i++) l->low = fmin(l->low, plot_value_of(in->result[i], in->metric).mean);
    l->low *= in->unit.scale;
    l->log_y = l->low > 0 && in->span / l->low > 100;
}

static size_t longest_tick(const struct plot_axis *a)
{
    size_t n = 1;
    for (size_t i = 0; i < a->n; i++) n = WB_MAX(n, plot_text_columns(a->value[i].text));
    return n;
}

static bool prepare_lines(struct plot_input *in)
{
    struct lines *l = in->own = plot_need(calloc(1, sizeof *l));
    if (!plot_keep_with(in, plot_has_mean, SIZE_MAX)) {
        snprintf(in->why, sizeof in->why, "nothing to draw: no result has a value of '%.60s'", in->metric);
        return false;
    }
    if (!plot_axes_read(in, &l->axes, false)) return false;
    plot_unit_of_means(in);
    find_range(in, l);
    l->panels = plot_panels_of(in, l->axes.facet.n);
    for (size_t i = 0; i < l->axes.series.n; i++) l->name[i] = plot_value_name(&l->axes.series, i);
    if (l->axes.series.nkeys) l->panels.key_rows = plot_key_rows(in, l->name, l->axes.series.n, &l->key_columns);
    size_t room = (in->o->format == PLOT_TERMINAL ? plot_columns(in->o) : 100) / l->panels.columns;
    l->most = WB_MAX(room / (longest_tick(&l->axes.x) + 3), (size_t)2);
    return true;
}

static void put_block(FILE *f, const struct plot_input *in, size_t series, size_t facet)
{
    const struct lines *l = in->own;
    for (size_t x = 0; x < l->axes.x.n; x++) {
        size_t i = plot_axes_find(in, &l->axes, x, series, facet);
        if (i == SIZE_MAX) continue;
        struct plot_value v = plot_value_of(in->result[i], in->metric);
        fprintf(f, "%.12g", l->axes.x.value[x].at);
        plot_put(f, v.mean * in->unit.scale);
        plot_put(f, (isfinite(v.lo) ? v.lo : v.mean) * in->unit.scale);
        plot_put(f, (isfinite(v.hi) ? v.hi : v.mean) * in->unit.scale);
        fprintf(f, " \"%s\"\n", l->axes.x.value[x].text);
    }
}

static bool has_points(const struct plot_input *in, size_t series, size_t facet)
{
    const struct lines *l = in->own;
    for (size_t i = 0; i < in->n; i++)
        if (l->axes.series.place[i] == series && l->axes.facet.place[i] == facet) return true;
    return false;
}

static void write_lines(FILE *f, const struct plot_input *in)
{
    const struct lines *l = in->own;
    size_t blocks = 0;
    for (size_t p = 0; p < l->panels.n; p++)
        for (size_t s = 0; s < l->axes.series.n; s++) {
            if (!has_points(in, s, p)) continue;
            fprintf(f, "%s# \"%s\" \"%s\": %s mean_%s low high shown_%s\n", blocks++ ? "\n\n" : "",
                    l->axes.facet.value[p].text, l->name[s], l->axes.x.name, in->unit.text, l->axes.x.name);
            put_block(f, in, s, p);
        }
}

/* Bands first, so that no line is under one; all blocks of the panel begin at `block`. */
static size_t put_plot(FILE *f, const struct plot_input *in, size_t panel, size_t block)
{
    const struct lines *l = in->own;
    bool terminal = in->o->format == PLOT_TERMINAL, first = true;
    size_t n = 0;
    fputs("plot ", f);
    for (int lines = terminal; lines < 2; lines++) {
        n = 0;
        for (size_t s = 0; s < l->axes.series.n; s++) {
            if (!has_points(in, s, panel)) continue;
            fputs(first ? "" : ", \\\n     ", f);
            plot_put_quoted(f, in->dat);
            fprintf(f, " index %zu using 1:%s ", block + n++, lines ? "2" : "3:4");
            if (lines) {
                fprintf(f, "with linespoints ls %zu notitle", s + 1);
            } else {
                fprintf(f, "with filledcurves ls %zu fs transparent solid 0.2 noborder notitle", s + 1);
            }
            first = false;
        }
    }
    fputc('\n', f);
    return n;
}

/* Room left and right of the outermost points. */
static void put_ranges(FILE *f, const struct plot_input *in)
{
    const struct lines *l = in->own;
    const struct plot_axis *x = &l->axes.x;
    double a = x->value[0].at, b = x->value[x->n - 1].at;
    double room = x->log ? pow(b / a, 0.03) : (b - a) * 0.03 + (b > a ? 0 : 0.5);
    fprintf(f, "set xrange [%.12g:%.12g]\n", x->log ? a / room : a - room, x->log ? b * room : b + room);
    if (x->log) fputs("set logscale x\n", f);
    if (l->log_y)
        fprintf(f, "set logscale y\nset yrange [%.6g:%.6g]\n", l->low / 1.5, in->span * 1.3);
    else
        fprintf(f, "set yrange [%.6g:%.6g]\n", fmin(0, l->low), in->span > 0 ? in->span * 1.06 : 1);
    fputs("set xtics ", f);
    plot_put_ticks(f, x, l->most, false);
    fputs(" noenhanced\n", f);
}

static void put_entries(FILE *f, const struct plot_input *in)
{
    const struct lines *l = in->own;
    for (size_t s = 0; s < l->axes.series.n; s++) {
        fprintf(f, "%sNaN with linespoints ls %zu title ", s ? ", " : "", s + 1);
        plot_put_quoted(f, l->name[s]);
    }
}

static void put_panels(FILE *f, const struct plot_input *in)
{
    const struct lines *l = in->own;
    size_t block = 0;
    fputs("set multiplot\nunset key\n", f);
    if (l->panels.key_rows) plot_put_key_panel(f, in, &l->panels, l->key_columns, put_entries);
    put_ranges(f, in);
    for (size_t i = 0; i < l->panels.n; i++) {
        plot_put_panel(f, in, &l->panels, i, &l->axes.facet, l->axes.x.name, in->unit.axis);
        block += put_plot(f, in, i, block);
    }
    fputs("unset multiplot", f);
}

static bool word_lines(FILE *f, const struct plot_input *in, const char *word)
{
    if (!strcmp(word, "PANELS")) return put_panels(f, in), true;
    return false;
}

/* Characters have no room for bands: one line of means and half widths a series. */
static void note_lines(FILE *to, const struct plot_input *in)
{
    const struct lines *l = in->own;
    for (size_t p = 0; p < l->panels.n; p++)
        for (size_t s = 0; s < l->axes.series.n; s++) {
            char *panel = plot_value_name(&l->axes.facet, p);
            fprintf(to, "%s%s%s:", l->axes.facet.nkeys ? panel : "", l->axes.facet.nkeys && *l->name[s] ? ", " : "",
                    l->axes.series.nkeys ? l->name[s] : "");
            free(panel);
            for (size_t x = 0; x < l->axes.x.n; x++) {
                size_t i = plot_axes_find(in, &l->axes, x, s, p);
                if (i == SIZE_MAX) continue;
                struct plot_value v = plot_value_of(in->result[i], in->metric);
                char text[128];
                plot_interval_short(text, sizeof text, v, in->unit.scale, in->o->unicode ? "\u00b1" : "+-");
                fprintf(to, "  %s %s", l->axes.x.value[x].text, text);
            }
            fputc('\n', to);
        }
}

static void forget_lines(struct plot_input *in)
{
    struct lines *l = in->own;
    if (!l) return;
    for (size_t i = 0; i < PLOT_SERIES_MAX; i++) free(l->name[i]);
    plot_axes_free(&l->axes);
    free(l);
}

const struct plot_ops plot_lines = {.name = "lines",
                                    .schema = "wakebal.result",
                                    .obeys = PLOT_OBEYS_METRIC | PLOT_OBEYS_X | PLOT_OBEYS_SERIES | PLOT_OBEYS_FACETS |
                                             PLOT_OBEYS_ONLY,
                                    .prepare = prepare_lines,
                                    .data = write_lines,
                                    .word = word_lines,
                                    .notes = note_lines,
                                    .forget = forget_lines};
