/* plot_bars.c - means with intervals, a bar a point; in the terminal bars are drawn with characters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

struct bars {
    size_t *order, *colour; /* [n] which result stands in a row; its series */
    size_t n;
};

/* Which results stand next to each other: by facet, then along x, then by series. */
static void order_by_axes(struct plot_input *in, struct bars *b, const struct plot_axes *a)
{
    b->n = 0;
    for (size_t f = 0; f < a->facet.n; f++)
        for (size_t x = 0; x < a->x.n; x++)
            for (size_t s = 0; s < a->series.n; s++) {
                size_t i = plot_axes_find(in, a, x, s, f);
                if (i == SIZE_MAX) continue;
                b->colour[b->n] = s % PLOT_SERIES_MAX;
                b->order[b->n++] = i;
            }
}

static bool prepare_bars(struct plot_input *in)
{
    struct bars *b = in->own = plot_need(calloc(1, sizeof *b));
    struct plot_axes a = {.x = {.n = 0}};
    if (!plot_keep_with(in, plot_has_mean, PLOT_BARS_MAX)) {
        snprintf(in->why, sizeof in->why, "nothing to draw: no result has a value of '%.60s'", in->metric);
        return false;
    }
    plot_unit_of_means(in);
    b->order = plot_need(calloc(in->n, sizeof *b->order));
    b->colour = plot_need(calloc(in->n, sizeof *b->colour));
    b->n = in->n;
    for (size_t i = 0; i < in->n; i++) b->order[i] = i;
    if (in->o->x || in->o->series || in->o->facets) {
        bool good = plot_axes_read(in, &a, false);
        if (good) order_by_axes(in, b, &a);
        plot_axes_free(&a);
        if (!good) return false;
    }
    in->height = WB_MAX(150 + 38 * (uint32_t)b->n, 280u);
    in->rows = 8 + 2 * (uint32_t)b->n;
    return true;
}

static void write_bars(FILE *f, const struct plot_input *in)
{
    static const int colour[PLOT_SERIES_MAX] = {0x56b4e9, 0xe69f00, 0x009e73, 0xcc79a7,
                                                0xf0e442, 0x0072b2, 0xd55e00, 0x999999};
    const struct bars *b = in->own;
    fprintf(f, "# label mean_%s ci_low ci_high shown colour\n", in->unit.text);
    for (size_t i = 0; i < b->n; i++) {
        struct plot_value v = plot_value_of(in->result[b->order[i]], in->metric);
        char shown[128];
        plot_interval_text(shown, sizeof shown, v, in->unit.scale, "\u00b1");
        fprintf(f, "\"%s\"", in->label[b->order[i]]);
        plot_put(f, v.mean * in->unit.scale);
        plot_put(f, (isfinite(v.lo) ? v.lo : v.mean) * in->unit.scale);
        plot_put(f, (isfinite(v.hi) ? v.hi : v.mean) * in->unit.scale);
        fprintf(f, " \"%s\" %d\n", shown, colour[b->colour[i]]);
    }
}

static bool word_bars(FILE *f, const struct plot_input *in, const char *word)
{
    if (!strcmp(word, "LMARGIN")) {
        size_t n = 0;
        for (size_t i = 0; i < in->n; i++) n = WB_MAX(n, plot_text_columns(in->label[i]));
        fprintf(f, "%.1f", in->o->format == PLOT_TERMINAL ? (double)n + 2 : (double)n * 1.0 + 2);
        return true;
    }
    if (!strcmp(word, "YMAX")) return fprintf(f, "%.6g", in->span > 0 ? in->span * 1.22 : 1), true;
    if (!strcmp(word, "NUDGE")) return fprintf(f, "%.6g", in->span * 0.005), true;
    return false;
}

/* ------------------------------------------------------------------ as text */
size_t plot_columns(const struct plot_options *o)
{
    return o->columns ? o->columns : 100;
}

const char plot_shades[11] = " .:-=+*#%@";

void plot_put_bar(FILE *to, struct plot_bar b, size_t width, const struct plot_options *o)
{
    const char *full = o->unicode ? "\u2588" : "#", *line = o->unicode ? "\u2500" : "-",
               *end = o->unicode ? "\u2524" : "|";
    size_t at = (size_t)(b.mean * (double)width + 0.5), from = (size_t)(b.lo * (double)width + 0.5),
           until = (size_t)(b.hi * (double)width + 0.5);
    if (o->colour) fputs("\033[36m", to);
    for (size_t i = 0; i < at; i++)
        fputs(i >= from && until > from && i + 1 < at ? (o->unicode ? "\u2592" : "=") : full, to);
    for (size_t i = at; i + 1 < until; i++) fputs(line, to);
    if (until > at) fputs(end, to);
    if (o->colour) fputs("\033[0m", to);
}

static void text_bars(FILE *to, const struct plot_input *in)
{
    const struct bars *b = in->own;
    size_t label = 0, width = plot_columns(in->o);
    for (size_t i = 0; i < in->n; i++) label = WB_MAX(label, plot_text_columns(in->label[i]));
    width = width > label + 30 ? width - label - 22 : 12;
    fprintf(to, "%s\n%*s%s\n", in->title, (int)label + 2, "", in->unit.axis);
    for (size_t i = 0; i < b->n; i++) {
        size_t k = b->order[i];
        struct plot_value v = plot_value_of(in->result[k], in->metric);
        double per = in->unit.scale / (in->span > 0 ? in->span : 1);
        char shown[128];
        plot_interval_text(shown, sizeof shown, v, in->unit.scale, in->o->unicode ? "\u00b1" : "+-");
        fprintf(to, "%*s%s  ", (int)(label - plot_text_columns(in->label[k])), "", in->label[k]);
        plot_put_bar(to,
                     (struct plot_bar){fmax(v.mean, 0) * per, fmax(isfinite(v.lo) ? v.lo : v.mean, 0) * per,
                                       fmax(isfinite(v.hi) ? v.hi : v.mean, 0) * per},
                     width, in->o);
        fprintf(to, " %s\n", shown);
    }
    fprintf(to, "%s\n\n", in->caption);
}

static void forget_bars(struct plot_input *in)
{
    struct bars *b = in->own;
    if (b) {
        free(b->order);
        free(b->colour);
    }
    free(b);
}

const struct plot_ops plot_bars = {.name = "bars",
                                   .schema = "wakebal.result",
                                   .obeys = PLOT_OBEYS_METRIC | PLOT_OBEYS_X | PLOT_OBEYS_SERIES | PLOT_OBEYS_FACETS |
                                            PLOT_OBEYS_ONLY,
                                   .prepare = prepare_bars,
                                   .data = write_bars,
                                   .word = word_bars,
                                   .text = text_bars,
                                   .forget = forget_bars};
