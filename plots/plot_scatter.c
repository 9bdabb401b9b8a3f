/*
 * plot_scatter.c - predicted against measured, of a validation: both axes logarithmic, a panel a figure, the noise band
 * of the classes, and the worst misses by name.
 *
 * A point's bars are the prediction's interval and the 10 to 90 % range of the real runs. What the validation calls
 * wrong has a ring around it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

#define NAMED 4 /* misses of a panel that are named */

struct point {
    const json_t *of;
    const char *unit;
    size_t class;
    double measured[3], predicted[3]; /* low, middle, high */
    double band, miss;                /* miss: |log ratio| */
    bool right;
};
struct panel {
    const char *unit, *metric;
    struct plot_unit shown;
    double low, high; /* base unit */
    double band[PLOT_SERIES_MAX];
    size_t nbands;
};
struct scatter {
    struct point *point;
    size_t n;
    char *class[PLOT_SERIES_MAX];
    size_t nclasses, right;
    double band[PLOT_SERIES_MAX]; /* of all panels, the widest first */
    size_t nbands;
    struct panel panel[PLOT_PANELS_MAX];
    struct plot_axis facet; /* titles of the panels */
    struct plot_panels panels;
    size_t key_columns;
};

static size_t class_of(struct scatter *s, const char *name)
{
    char *text = plot_text(*name ? name : "other", 40);
    for (size_t i = 0; i < s->nclasses; i++)
        if (!strcmp(s->class[i], text) || i + 1 == PLOT_SERIES_MAX) {
            free(text);
            return i;
        }
    s->class[s->nclasses] = text;
    return s->nclasses++;
}

static double or_else(double v, double other)
{
    return isfinite(v) && v > 0 ? v : other;
}

static bool read_point(struct scatter *s, const json_t *c, struct point *p)
{
    const json_t *guess = json_object_get(c, "predicted"), *real = json_object_get(c, "measured"),
                 *score = json_object_get(c, "score");
    double v = plot_number(json_object_get(guess, "value")), m = plot_number(json_object_get(real, "median"));
    if (!(v > 0) || !(m > 0)) return false;
    *p = (struct point){.of = c,
                        .unit = plot_string(c, "unit"),
                        .class = class_of(s, plot_string(c, "class")),
                        .measured = {or_else(plot_number(json_object_get(real, "p10")), m), m,
                                     or_else(plot_number(json_object_get(real, "p90")), m)},
                        .predicted = {or_else(plot_number(json_object_get(guess, "lo")), v), v,
                                      or_else(plot_number(json_object_get(guess, "hi")), v)},
                        .band = plot_number(json_object_get(score, "band")),
                        .miss = fabs(log(v / m)),
                        .right = json_is_true(json_object_get(score, "right"))};
    return true;
}

static bool is_of(const struct panel *g, const struct point *p)
{
    return !strcmp(g->unit, p->unit) && !strcmp(g->metric, plot_string(p->of, "metric"));
}

static struct panel *panel_of(struct scatter *s, const struct point *p)
{
    for (size_t i = 0; i < s->panels.n; i++)
        if (is_of(&s->panel[i], p)) return &s->panel[i];
    if (s->panels.n == PLOT_PANELS_MAX) return NULL;
    s->panel[s->panels.n] = (struct panel){.unit = p->unit, .metric = plot_string(p->of, "metric"), .low = INFINITY};
    return &s->panel[s->panels.n++];
}

static void add_band(double *list, size_t *n, double band)
{
    size_t i = 0;
    while (i < *n && list[i] > band) i++; /* the widest first */
    if (!(band > 0) || (i < *n && list[i] == band) || *n == PLOT_SERIES_MAX) return;
    memmove(&list[i + 1], &list[i], (*n - i) * sizeof *list);
    list[i] = band;
    ++*n;
}

static void widen(struct scatter *s, struct panel *g, const struct point *p)
{
    g->low = fmin(g->low, fmin(p->measured[0], p->predicted[0]));
    g->high = fmax(g->high, fmax(p->measured[2], p->predicted[2]));
    add_band(g->band, &g->nbands, p->band);
    add_band(s->band, &s->nbands, p->band);
}

static void name_panels(struct scatter *s)
{
    s->facet = (struct plot_axis){.nkeys = 2, .n = s->panels.n};
    s->facet.value = plot_need(calloc(s->panels.n, sizeof *s->facet.value));
    for (size_t g = 0; g < s->panels.n; g++) {
        struct panel *p = &s->panel[g];
        plot_choose_unit(&p->shown, p->metric, p->unit, sqrt(p->low * p->high));
        s->facet.value[g].text = plot_text(p->shown.axis, 90);
        p->low /= 1.25;
        p->high *= 1.25;
    }
}

static bool prepare_scatter(struct plot_input *in)
{
    struct scatter *s = in->own = plot_need(calloc(1, sizeof *s));
    const json_t *list = json_object_get(in->doc, "cases");
    s->point = plot_need(calloc(json_array_size(list) + 1, sizeof *s->point));
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct point *p = &s->point[s->n];
        if (!read_point(s, json_array_get(list, i), p)) continue;
        struct panel *g = panel_of(s, p);
        if (!g) continue;
        widen(s, g, p);
        s->right += p->right;
        s->n++;
    }
    if (!s->n) {
        snprintf(in->why, sizeof in->why,
                 "nothing to draw: no case is both predicted and measured (wakebal validate, without --predict-only)");
        return false;
    }
    snprintf(in->title, sizeof in->title, "predicted against measured");
    name_panels(s);
    size_t n = s->panels.n;
    s->panels = plot_panels_of(in, n);
    if (s->panels.rows > 1 || n == 1) in->height = 150 + 480 * s->panels.rows;
    in->rows = 8 + 26 * s->panels.rows;
    char *entry[2 * PLOT_SERIES_MAX + 1] = {(char *)"predicted = measured"}; /* the longest of what is not a class */
    memcpy(entry + 1, s->class, s->nclasses * sizeof *entry);
    for (size_t i = 0; i < s->nbands; i++) entry[1 + s->nclasses + i] = entry[0];
    s->panels.key_rows = plot_key_rows(in, entry, 1 + s->nclasses + s->nbands, &s->key_columns);
    snprintf(in->caption, sizeof in->caption,
             "%zu of %zu right; bars: interval of the prediction, 10 to 90 %% of the real runs; rings: wrong", s->right,
             s->n);
    return true;
}

/* ------------------------------------------------------------------ data */
static bool in_panel(const struct scatter *s, const struct point *p, size_t g)
{
    return is_of(&s->panel[g], p);
}

static void put_point(FILE *f, const struct point *p, double scale)
{
    char *name = plot_text(plot_string(p->of, "name"), 80);
    static const int order[] = {1, 0, 2}; /* middle, low, high */
    for (int k = 0; k < 3; k++) plot_put(f, p->measured[order[k]] * scale);
    for (int k = 0; k < 3; k++) plot_put(f, p->predicted[order[k]] * scale);
    fprintf(f, " %d \"%s\"\n", p->right, name);
    free(name);
}

static int by_miss(const void *a, const void *b)
{
    const struct point *x = *(const struct point *const *)a, *y = *(const struct point *const *)b;
    if (x->miss != y->miss) return x->miss < y->miss ? 1 : -1;
    return (x > y) - (x < y);
}

/* The worst misses of a panel; of a panel without any, the least good one. */
static void put_worst(FILE *f, const struct scatter *s, size_t g)
{
    const struct point **list = plot_need(calloc(s->n + 1, sizeof(*list)));
    size_t n = 0;
    double scale = s->panel[g].shown.scale;
    for (size_t i = 0; i < s->n; i++)
        if (in_panel(s, &s->point[i], g)) list[n++] = &s->point[i];
    qsort(list, n, sizeof(*list), by_miss);
    fputs("# the worst: measured predicted side name\n", f);
    const struct panel *p = &s->panel[g];
    double step = pow(p->high / p->low, 0.045), last[2] = {NAN, NAN};
    for (size_t i = 0, k = 0; i < n && k < NAMED; i++) {
        if (list[i]->right && i) continue;
        char *name = plot_text(plot_string(list[i]->of, "name"), s->panels.n > 1 ? 24 : 60);
        double x = list[i]->measured[1], y = list[i]->predicted[1];
        bool left = x > sqrt(p->low * p->high);
        /* names do not write over each other */
        double at = fabs(log(y / last[left])) < log(step) ? last[left] * step : y;
        last[left] = at;
        fprintf(f, "%.9g %.9g \"%s\" \"%s: %.2f x\"\n", x * scale, at * scale, left ? "l" : "r", name, y / x);
        free(name);
        k++;
    }
    free(list);
}

/* Per panel: a block a band, a block a class, a block with the worst. */
static void write_scatter(FILE *f, const struct plot_input *in)
{
    const struct scatter *s = in->own;
    for (size_t g = 0; g < s->panels.n; g++) {
        const struct panel *p = &s->panel[g];
        double a = p->low * p->shown.scale, b = p->high * p->shown.scale;
        for (size_t i = 0; i < p->nbands; i++) {
            double w = p->band[i];
            fprintf(f, "%s# band of %.4g %%: x low high\n%.9g %.9g %.9g\n%.9g %.9g %.9g", g + i ? "\n\n\n" : "",
                    w * 100, a, a * fmax(1 - w, 1e-3), a * (1 + w), b, b * fmax(1 - w, 1e-3), b * (1 + w));
        }
        for (size_t c = 0; c < s->nclasses; c++) {
            fprintf(f,
                    "%s# \"%s\": measured p10 p90 predicted low high right name, %s\nNaN NaN NaN NaN NaN NaN 1 \"\"\n",
                    g + p->nbands + c ? "\n\n\n" : "", s->class[c], p -> shown.text);
            for (size_t i = 0; i < s->n; i++)
                if (s->point[i].class == c && in_panel(s, &s->point[i], g)) put_point(f, &s->point[i], p->shown.scale);
        }
        fputs("\n\n", f);
        put_worst(f, s, g);
    }
}

/* ------------------------------------------------------------------ script */
static const char *grey(size_t band)
{
    /* Light enough that points of every colour, the eighth is grey, and names can be seen on them. */
    static const char *const shade[] = {"#F4F4F4", "#EEEEEE", "#E8E8E8", "#E2E2E2", "#DCDCDC", "#D6D6D6", "#D0D0D0"};
    return shade[WB_MIN(band, WB_ARRAY_SIZE(shade) - 1)];
}

static bool on_terminal(const struct plot_input *in)
{
    return in->o->format == PLOT_TERMINAL;
}

/* A band, as an entry of the legend or as what is drawn of the data. */
static void put_band(FILE *f, const struct plot_input *in, double band, bool entry)
{
    const struct scatter *s = in->own;
    size_t rank = 0;
    while (rank < s->nbands && s->band[rank] != band) rank++;
    if (on_terminal(in))
        fputs("with lines dt '.' lc 8 ", f);
    else
        fprintf(f, "with %s lc rgb '%s' ", entry ? "lines dt 1 lw 9" : "filledcurves fs solid 1 noborder", grey(rank));
    if (entry)
        fprintf(f, "title 'noise band %.3g %%'", band * 100);
    else
        fputs("notitle", f);
}

static void put_entries(FILE *f, const struct plot_input *in)
{
    const struct scatter *s = in->own;
    fputs("NaN with lines lw 1.2 dt 1 lc rgb '#000000' title 'predicted = measured'", f);
    for (size_t i = 0; i < s->nbands; i++) {
        fputs(", NaN ", f);
        put_band(f, in, s->band[i], true);
    }
    for (size_t c = 0; c < s->nclasses; c++) {
        fprintf(f, ", NaN with points ls %zu title ", c + 1);
        plot_put_quoted(f, s->class[c]);
    }
}

static void put_classes(FILE *f, const struct plot_input *in, size_t block)
{
    const struct scatter *s = in->own;
    for (size_t c = 0; c < s->nclasses; c++) {
        if (!on_terminal(in))
            fprintf(f, ", \\\n     '' index %zu using 1:4:2:3:5:6 with xyerrorbars ls %zu dt 1 lw 1 pt 0 notitle",
                    block + c, c + 1);
        fprintf(f, ", \\\n     '' index %zu using 1:4 with points ls %zu notitle", block + c, c + 1);
        if (!on_terminal(in))
            fprintf(f,
                    ", \\\n     '' index %zu using 1:($7 > 0.5 ? NaN : $4) with points pt 6 ps 2.6 lw 1.5 lc rgb "
                    "'#000000' notitle",
                    block + c);
    }
}

/* Marks at 1, 2 and 5 where there are few decades, else at powers of ten. */
static void put_log_ticks(FILE *f, const char *axis, double low, double high)
{
    static const double fine[] = {1, 2, 5};
    bool few = high / low < 300, first = true;
    fprintf(f, "set %stics (", axis);
    for (int decade = (int)floor(log10(low)); pow(10, decade) <= high; decade++)
        for (size_t k = 0; k < (few ? 3u : 1u); k++) {
            double v = pow(10, decade) * fine[k];
            if (v < low || v > high) continue;
            fprintf(f, "%s'%.6g' %.6g", first ? "" : ", ", v, v);
            first = false;
        }
    fputs(")\n", f);
}

static size_t put_plot(FILE *f, const struct plot_input *in, size_t g, size_t block)
{
    const struct scatter *s = in->own;
    const struct panel *p = &s->panel[g];
    double a = p->low * p->shown.scale, b = p->high * p->shown.scale;
    put_log_ticks(f, "x", a, b);
    put_log_ticks(f, "y", a, b);
    fprintf(f, "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\nplot ", a, b, a, b);
    plot_put_quoted(f, in->dat);
    fprintf(f, " index %zu using 1:4 with points ls 1 notitle", block + p->nbands);
    for (size_t i = 0; i < p->nbands; i++) {
        fprintf(f, ", \\\n     '' index %zu using %s ", block + i, on_terminal(in) ? "1:2" : "1:2:3");
        put_band(f, in, p->band[i], false);
        if (on_terminal(in)) fprintf(f, ", \\\n     '' index %zu using 1:3 with lines dt '.' lc 8 notitle", block + i);
    }
    fputs(", \\\n     x with lines lw 1.2 dt 1 lc rgb '#000000' notitle", f);
    put_classes(f, in, block + p->nbands);
    size_t worst = block + p->nbands + s->nclasses;
    static const char *const side[] = {"left offset 1.3,-0.2", "right offset -1.3,0.2"};
    for (int k = 0; k < 2 && !on_terminal(in); k++)
        fprintf(f,
                ", \\\n     '' index %zu using 1:2:(strcol(3) eq '%c' ? strcol(4) : '') with labels %s noenhanced font "
                "',8' notitle",
                worst, k ? 'l' : 'r', side[k]);
    fputc('\n', f);
    return worst + 1;
}

static void put_panels(FILE *f, const struct plot_input *in)
{
    const struct scatter *s = in->own;
    const struct plot_panels *p = &s->panels;
    size_t block = 0;
    fputs("set multiplot\n", f);
    plot_put_key_panel(f, in, p, s->key_columns, put_entries);
    fputs("set logscale xy\n", f);
    for (size_t g = 0; g < p->n; g++) {
        char x[160] = "measured", y[160] = "predicted";
        if (p->n == 1) { /* no title says what is drawn */
            snprintf(x, sizeof x, "measured %s", s->facet.value[0].text);
            snprintf(y, sizeof y, "predicted %s", s->facet.value[0].text);
        }
        plot_put_panel(f, in, p, g, &s->facet, x, y);
        block = put_plot(f, in, g, block);
    }
    fputs("unset multiplot", f);
}

static bool word_scatter(FILE *f, const struct plot_input *in, const char *word)
{
    if (!strcmp(word, "PANELS")) return put_panels(f, in), true;
    return false;
}

/* What is wrong, with the interval and the range that a terminal cannot draw. */
static void note_scatter(FILE *to, const struct plot_input *in)
{
    const struct scatter *s = in->own;
    for (size_t g = 0; g < s->panels.n; g++)
        for (size_t i = 0; i < s->n; i++) {
            const struct point *p = &s->point[i];
            double k = s->panel[g].shown.scale;
            if (p->right || !in_panel(s, p, g)) continue;
            char *name = plot_text(plot_string(p->of, "name"), 60);
            fprintf(to, "wrong: %s: predicted %.3g (%.3g .. %.3g), measured %.3g (%.3g .. %.3g) %s\n", name,
                    p->predicted[1] * k, p->predicted[0] * k, p->predicted[2] * k, p->measured[1] * k,
                    p->measured[0] * k, p->measured[2] * k, s->panel[g].shown.text);
            free(name);
        }
}

static void forget_scatter(struct plot_input *in)
{
    struct scatter *s = in->own;
    if (!s) return;
    for (size_t i = 0; i < s->nclasses; i++) free(s->class[i]);
    for (size_t i = 0; i < s->facet.n; i++) free(s->facet.value[i].text);
    free(s->facet.value);
    free(s->point);
    free(s);
}

const struct plot_ops plot_scatter = {.name = "scatter",
                                      .schema = "wakebal.validation/1",
                                      .prepare = prepare_scatter,
                                      .data = write_scatter,
                                      .word = word_scatter,
                                      .notes = note_scatter,
                                      .forget = forget_scatter};
