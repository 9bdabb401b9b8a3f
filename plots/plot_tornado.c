/*
 * plot_tornado.c - how far a figure of a case moves when one cost goes to either end of its plausible range.
 *
 * Of wakebal.cases/1: a row with `sensitivity`. Costs stand in order of their swing, the bar of the low end over that
 * of the high end; bars begin at the figure of equally short runs with all costs as they are. A line is the figure as
 * simulated in full, grey its interval, dashes what was published.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

#define COSTS_MAX 24

struct cost {
    const json_t *of;
    double low, high; /* the figure at the low and at the high end of the cost */
};
struct tornado {
    const json_t *row;
    struct cost *cost;
    size_t n;
    double simulated, lo, hi; /* base unit */
    double middle;            /* the figure of runs as short as those with other costs */
    double published[2];
    double from, until; /* shown range, shown unit */
};

static double swing(const struct cost *c)
{
    return fabs(c->high - c->low);
}

static double largest_swing(const json_t *row)
{
    const json_t *list = json_object_get(row, "sensitivity");
    double most = -1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *c = json_array_get(list, i);
        most = fmax(most, fabs(plot_number(json_object_get(c, "at_high")) - plot_number(json_object_get(c, "at_low"))));
    }
    double middle = fabs(plot_number(json_object_get(row, "simulated")));
    return middle > 0 ? most / middle : most;
}

/* The row of that name, or the one that moves most. */
static const json_t *choose_row(const struct plot_input *in, const char **case_title)
{
    const json_t *cases = json_object_get(in->doc, "cases"), *best = NULL;
    double most = -1;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i), *rows = json_object_get(c, "rows");
        for (size_t k = 0; k < json_array_size(rows); k++) {
            const json_t *r = json_array_get(rows, k);
            double s = *in->metric ? strcmp(plot_string(r, "name"), in->metric) ? -1 : 1e30 : largest_swing(r);
            if (s <= most) continue;
            most = s;
            best = r;
            *case_title = plot_string(c, "title");
        }
    }
    return best;
}

static int by_swing(const void *a, const void *b)
{
    double x = swing(a), y = swing(b);
    if (x != y) return x < y ? 1 : -1;
    return strcmp(plot_string(((const struct cost *)a)->of, "key"), plot_string(((const struct cost *)b)->of, "key"));
}

static void read_costs(struct tornado *t)
{
    const json_t *list = json_object_get(t->row, "sensitivity");
    t->cost = plot_need(calloc(json_array_size(list) + 1, sizeof *t->cost));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *c = json_array_get(list, i);
        struct cost v = {c, plot_number(json_object_get(c, "at_low")), plot_number(json_object_get(c, "at_high"))};
        if (isfinite(v.low) && isfinite(v.high)) t->cost[t->n++] = v;
    }
    qsort(t->cost, t->n, sizeof *t->cost, by_swing);
}

static void read_figure(struct tornado *t)
{
    const json_t *ci = json_object_get(t->row, "ci"), *p = json_object_get(t->row, "published");
    double base = plot_number(json_object_get(t->row, "sensitivity_base"));
    t->simulated = plot_number(json_object_get(t->row, "simulated"));
    t->middle = isfinite(base) ? base : t->simulated;
    t->lo = plot_number(json_array_get(ci, 0));
    t->hi = plot_number(json_array_get(ci, 1));
    t->published[0] = plot_number(json_is_array(p) ? json_array_get(p, 0) : p);
    t->published[1] = plot_number(json_is_array(p) ? json_array_get(p, 1) : p);
}

static void find_range(struct plot_input *in, struct tornado *t)
{
    double a = fmin(fmin(t->middle, t->simulated), t->lo), b = fmax(fmax(t->middle, t->simulated), t->hi);
    for (size_t i = 0; i < t->n; i++) {
        a = fmin(a, fmin(t->cost[i].low, t->cost[i].high));
        b = fmax(b, fmax(t->cost[i].low, t->cost[i].high));
    }
    plot_choose_unit(&in->unit, plot_string(t->row, "name"), plot_string(t->row, "unit"), fmax(fabs(a), fabs(b)));
    double width = b > a ? b - a : fmax(fabs(a) * 0.1, 1e-12);
    for (int i = 0; i < 2; i++) { /* what was published is shown where it is not far off */
        if (t->published[i] > a - width && t->published[i] < b + width) {
            a = fmin(a, t->published[i]);
            b = fmax(b, t->published[i]);
        }
    }
    width = b > a ? b - a : width;
    t->from = (a - width * 0.22) * in->unit.scale;
    t->until = (b + width * 0.22) * in->unit.scale;
}

static bool prepare_tornado(struct plot_input *in)
{
    struct tornado *t = in->own = plot_need(calloc(1, sizeof *t));
    const char *title = "";
    t->row = choose_row(in, &title);
    if (t->row) read_costs(t);
    if (!t->row || !t->n) {
        snprintf(in->why, sizeof in->why, "nothing to draw: %s%.60s%s",
                 *in->metric ? "no row '" : "no row of the case tried the ranges of its costs", in->metric,
                 *in->metric ? "' that tried the ranges of its costs" : "");
        return false;
    }
    t->n = WB_MIN(t->n, (size_t)COSTS_MAX);
    read_figure(t);
    find_range(in, t);
    if (!in->o->title) plot_text_into(in->title, sizeof in->title, title, 100);
    size_t len =
        (size_t)snprintf(in->caption, sizeof in->caption, "each cost alone at the ends of its range, in shorter runs");
    if (isfinite(t->hi)) snprintf(in->caption + len, sizeof in->caption - len, "; grey: interval of the figure");
    in->height = 200 + 42 * (uint32_t)t->n;
    return true;
}

static void name_cost(const struct cost *c, char key[96], char low[48], char high[48])
{
    plot_text_into(key, 96, plot_string(c->of, "key"), 48);
    plot_text_into(low, 48, plot_string(c->of, "low"), 24);
    plot_text_into(high, 48, plot_string(c->of, "high"), 24);
}

static void write_tornado(FILE *f, const struct plot_input *in)
{
    const struct tornado *t = in->own;
    double by = in->unit.scale;
    fprintf(f, "# as it is %.9g %s; row key at_low at_high low high text_low text_high\n", t->middle * by,
            in->unit.text);
    for (size_t i = 0; i < t->n; i++) {
        const struct cost *c = &t->cost[i];
        char key[96], low[48], high[48];
        name_cost(c, key, low, high);
        fprintf(f, "%zu \"%s\" %.9g %.9g \"%s\" \"%s\"\n", i, key, c->low * by, c->high * by, low, high);
    }
}

static void put_marks(FILE *f, const struct plot_input *in)
{
    const struct tornado *t = in->own;
    double by = in->unit.scale, last = (double)t->n - 0.4;
    if (isfinite(t->lo) && isfinite(t->hi))
        fprintf(f, "set object 1 rectangle from %.9g,-0.6 to %.9g,%.1f fc rgb '#DDDDDD' fs solid noborder behind\n",
                fmax(t->lo * by, t->from), fmin(t->hi * by, t->until), last);
    fprintf(f, "set arrow 1 from %.9g,-0.6 to %.9g,%.1f nohead lw 2 lc rgb '#000000' front\n", t->simulated * by,
            t->simulated * by, last);
    for (int i = 0; i < 2; i++) {
        double v = t->published[i] * by;
        if (!(v >= t->from && v <= t->until)) continue;
        fprintf(f, "set arrow %d from %.9g,-0.6 to %.9g,%.1f nohead lw 2 dt '-' lc rgb '#009E73' front\n", i + 2, v, v,
                last);
    }
}

static bool word_tornado(FILE *f, const struct plot_input *in, const char *word)
{
    const struct tornado *t = in->own;
    size_t label = 0;
    for (size_t i = 0; i < t->n; i++) label = WB_MAX(label, plot_text_columns(plot_string(t->cost[i].of, "key")));
    if (!strcmp(word, "LMARGIN")) return fprintf(f, "%.1f", (double)WB_MIN(label, (size_t)48) * 0.92 + 2), true;
    if (!strcmp(word, "FROM")) return fprintf(f, "%.9g", t->from), true;
    if (!strcmp(word, "UNTIL")) return fprintf(f, "%.9g", t->until), true;
    if (!strcmp(word, "COUNT")) return fprintf(f, "%zu", t->n), true;
    if (!strcmp(word, "MIDDLE")) return fprintf(f, "%.9g", t->middle * in->unit.scale), true;
    if (!strcmp(word, "PUBLISHED")) {
        bool some = t->published[0] * in->unit.scale >= t->from && t->published[0] * in->unit.scale <= t->until;
        return fputs(some ? ", \\\n     NaN with lines lw 2 dt '-' lc rgb '#009E73' title 'published'" : "", f), true;
    }
    if (!strcmp(word, "MARKS")) return put_marks(f, in), true;
    return false;
}

/* ------------------------------------------------------------------ as text */
static void text_tornado(FILE *to, const struct plot_input *in)
{
    const struct tornado *t = in->own;
    double by = in->unit.scale;
    size_t label = 0, width = plot_columns(in->o);
    for (size_t i = 0; i < t->n; i++) label = WB_MAX(label, plot_text_columns(plot_string(t->cost[i].of, "key")));
    label = WB_MIN(label, (size_t)48);
    width = width > label + 50 ? width - label - 30 : 20;
    fprintf(to, "%s\n%s: simulated %.3g", in->title, in->unit.axis, t->simulated * by);
    if (isfinite(t->hi)) fprintf(to, " (%.3g .. %.3g)", t->lo * by, t->hi * by);
    if (isfinite(t->published[0])) fprintf(to, ", published %.3g", t->published[0] * by);
    fputc('\n', to);
    for (size_t i = 0; i < t->n; i++) {
        const struct cost *c = &t->cost[i];
        char key[96], low[48], high[48];
        name_cost(c, key, low, high);
        fprintf(to, "%*s  ", (int)label, key);
        for (size_t x = 0; x < width; x++) {
            double v = t->from + (t->until - t->from) * ((double)x + 0.5) / (double)width,
                   step = (t->until - t->from) / (double)width;
            bool low_side = v >= fmin(c->low * by, t->middle * by) && v <= fmax(c->low * by, t->middle * by),
                 high_side = v >= fmin(c->high * by, t->middle * by) && v <= fmax(c->high * by, t->middle * by);
            fputc(fabs(v - t->middle * by) <= step / 2 ? '|' : low_side ? '-' : high_side ? '+' : ' ', to);
        }
        fprintf(to, " %s: %.3g  %s: %.3g\n", low, c->low * by, high, c->high * by);
    }
    fprintf(to, "%s; - low end, + high end of the cost\n\n", in->caption);
}

static void forget_tornado(struct plot_input *in)
{
    struct tornado *t = in->own;
    if (t) free(t->cost);
    free(t);
}

const struct plot_ops plot_tornado = {.name = "tornado",
                                      .schema = "wakebal.cases/1",
                                      .obeys = PLOT_OBEYS_METRIC,
                                      .prepare = prepare_tornado,
                                      .data = write_tornado,
                                      .word = word_tornado,
                                      .text = text_tornado,
                                      .forget = forget_tornado};
