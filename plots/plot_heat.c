/* plot_heat.c - a figure over two axes: a cell a point, with its value and interval in it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

struct heat {
    struct plot_axes axes; /* series is y */
    struct plot_panels panels;
    bool log;
    double low, high; /* in the shown unit */
};

static void find_range(struct plot_input *in, struct heat *h)
{
    h->low = INFINITY;
    h->high = -INFINITY;
    for (size_t i = 0; i < in->n; i++) {
        double v = plot_value_of(in->result[i], in->metric).mean * in->unit.scale;
        h->low = fmin(h->low, v);
        h->high = fmax(h->high, v);
    }
    h->log = h->low > 0 && h->high / h->low > 20;
    if (h->high <= h->low) h->high = h->low + (h->low > 0 ? h->low * 0.1 : 1);
}

static bool prepare_heat(struct plot_input *in)
{
    struct heat *h = in->own = plot_need(calloc(1, sizeof *h));
    if (!plot_keep_with(in, plot_has_mean, SIZE_MAX)) {
        snprintf(in->why, sizeof in->why, "nothing to draw: no result has a value of '%.60s'", in->metric);
        return false;
    }
    if (!plot_axes_read(in, &h->axes, true)) return false;
    plot_unit_of_means(in);
    find_range(in, h);
    h->panels = plot_panels_of(in, h->axes.facet.n);
    h->panels.right = 14; /* the colour box */
    size_t longest = 1;
    for (size_t i = 0; i < h->axes.series.n; i++)
        longest = WB_MAX(longest, plot_text_columns(h->axes.series.value[i].text));
    h->panels.left = (unsigned)WB_MAX(longest + 5, (size_t)11);
    in->height = 150 + h->panels.rows * (uint32_t)WB_MIN(WB_MAX(h->axes.series.n * 48, (size_t)170), (size_t)700);
    return true;
}

/* How dark: 0 to 1. */
static double shade_of(const struct heat *h, double v)
{
    double s = h->log ? log(v / h->low) / log(h->high / h->low) : (v - h->low) / (h->high - h->low);
    return fmin(fmax(s, 0), 1);
}

static void put_cell(FILE *f, const struct plot_input *in, size_t i)
{
    const struct heat *h = in->own;
    struct plot_value v = plot_value_of(in->result[i], in->metric);
    double mean = v.mean * in->unit.scale;
    fprintf(f, "%zu %zu", h->axes.x.place[i], h->axes.series.place[i]);
    plot_put(f, mean);
    plot_put(f, v.lo * in->unit.scale);
    plot_put(f, v.hi * in->unit.scale);
    char shown[128];
    plot_interval_short(shown, sizeof shown, v, in->unit.scale, "\u00b1");
    int sign = (int)strcspn(shown, "\u00b1");
    fprintf(f, " %d \"%.*s\" \"%s\"\n", shade_of(h, mean) > 0.55 ? 0xffffff : 0, sign, shown, shown + sign);
}

static void write_heat(FILE *f, const struct plot_input *in)
{
    const struct heat *h = in->own;
    for (size_t p = 0; p < h->panels.n; p++) {
        fprintf(f, "%s# \"%s\": %s %s mean_%s low high colour_of_text mean half_width\n", p ? "\n\n" : "",
                h->axes.facet.value[p].text, h->axes.x.name, h->axes.series.name, in->unit.text);
        for (size_t i = 0; i < in->n; i++)
            if (h->axes.facet.place[i] == p) put_cell(f, in, i);
    }
}

static void put_plot(FILE *f, const struct plot_input *in, size_t panel)
{
    const struct heat *h = in->own;
    size_t wide = h->axes.x.n * h->panels.columns;
    fputs("plot ", f);
    plot_put_quoted(f, in->dat);
    fprintf(f,
            " index %zu using 1:2:(0.5):(0.5):3 with boxxyerror fs solid 1 border lc rgb '#FFFFFF' lc palette notitle",
            panel);
    if (wide > 24 || h->axes.series.n > 40) { /* too small for text */
        fputc('\n', f);
        return;
    }
    bool both = wide <= 16 && h->axes.series.n * h->panels.rows <= 16;
    fprintf(f, ", \\\n     '' index %zu using 1:2:7:6 with labels offset 0,%s tc rgb variable font ',%d' notitle",
            panel, both ? "0.45" : "0", wide > 16 ? 8 : 10);
    if (both)
        fprintf(f, ", \\\n     '' index %zu using 1:2:8:6 with labels offset 0,-0.55 tc rgb variable font ',8' notitle",
                panel);
    fputc('\n', f);
}

static void put_panels(FILE *f, const struct plot_input *in)
{
    const struct heat *h = in->own;
    fprintf(f, "set xrange [-0.5:%zu-0.5]\nset yrange [-0.5:%zu-0.5]\nset xtics ", h->axes.x.n, h->axes.series.n);
    plot_put_ticks(f, &h->axes.x, WB_MAX(12 / h->panels.columns, 4u), true);
    fputs(" noenhanced\nset ytics ", f);
    plot_put_ticks(f, &h->axes.series, 40, true);
    fprintf(f, " noenhanced\nset cbrange [%.9g:%.9g]\n%s", h->low, h->high, h->log ? "set logscale cb\n" : "");
    fputs("set cblabel ", f);
    plot_put_quoted(f, in->unit.axis);
    fputs(" noenhanced\nset colorbox user origin screen 0.895,screen 0.2 size screen 0.018,screen 0.6\n"
          "set cbtics scale 0.5\n",
          f);
    fputs("set multiplot\nunset key\n", f);
    for (size_t i = 0; i < h->panels.n; i++) {
        plot_put_panel(f, in, &h->panels, i, &h->axes.facet, h->axes.x.name, h->axes.series.name);
        put_plot(f, in, i);
    }
    fputs("unset multiplot", f);
}

static bool word_heat(FILE *f, const struct plot_input *in, const char *word)
{
    if (!strcmp(word, "PANELS")) return put_panels(f, in), true;
    return false;
}

/* ------------------------------------------------------------------ as text */
static void text_row(FILE *to, const struct plot_input *in, size_t panel, size_t y, int label)
{
    const struct heat *h = in->own;
    const char *name = h->axes.series.value[y].text;
    fprintf(to, "%*s%s ", label - (int)plot_text_columns(name), "", name);
    for (size_t x = 0; x < h->axes.x.n; x++) {
        size_t i = plot_axes_find(in, &h->axes, x, y, panel);
        struct plot_value v =
            i == SIZE_MAX ? (struct plot_value){NAN, NAN, NAN} : plot_value_of(in->result[i], in->metric);
        double mean = v.mean * in->unit.scale;
        char text[128], c = isfinite(mean) ? plot_shades[(int)(shade_of(h, mean) * 9)] : ' ';
        plot_interval_short(text, sizeof text, v, in->unit.scale, in->o->unicode ? "\u00b1" : "+-");
        fprintf(to, " %c%c%c %*s%s", c, c, c, 13 - (int)plot_text_columns(text), "", text);
    }
    fputc('\n', to);
}

static void text_heat(FILE *to, const struct plot_input *in)
{
    const struct heat *h = in->own;
    size_t label = plot_text_columns(h->axes.series.name);
    for (size_t y = 0; y < h->axes.series.n; y++)
        label = WB_MAX(label, plot_text_columns(h->axes.series.value[y].text));
    fprintf(to, "%s\n", in->title);
    for (size_t p = 0; p < h->panels.n; p++) {
        char *name = plot_value_name(&h->axes.facet, p);
        fprintf(to, "%s%s%s, %s across\n%*s ", h->axes.facet.nkeys ? name : "", h->axes.facet.nkeys ? ": " : "",
                in->unit.axis, h->axes.x.name, (int)label, h->axes.series.name);
        for (size_t x = 0; x < h->axes.x.n; x++) fprintf(to, " %17.17s", h->axes.x.value[x].text);
        fputc('\n', to);
        for (size_t y = h->axes.series.n; y-- > 0;) text_row(to, in, p, y, (int)label);
        free(name);
    }
    fprintf(to, "%s\n", in->caption);
}

static void forget_heat(struct plot_input *in)
{
    struct heat *h = in->own;
    if (h) plot_axes_free(&h->axes);
    free(h);
}

const struct plot_ops plot_heat = {.name = "heat",
                                   .schema = "wakebal.result",
                                   .obeys = PLOT_OBEYS_METRIC | PLOT_OBEYS_X | PLOT_OBEYS_Y | PLOT_OBEYS_FACETS |
                                            PLOT_OBEYS_ONLY,
                                   .prepare = prepare_heat,
                                   .data = write_heat,
                                   .word = word_heat,
                                   .text = text_heat,
                                   .forget = forget_heat};
