/*
 * plot_gantt.c - who ran where and who woke whom: a row a CPU, boxes with letters, arrows from the waker to where the
 * woken task first ran.
 *
 * Document wakebal.timeline/1: {"schema", "title", "run": {"id"}, "from_s", "until_s", "cpus": 4, "tasks": ["hog-6",
 * ...], "runs": [[cpu, task, from_s, until_s], ...], "wakes": [[at_s, cpu, ran_s, ran_cpu, task], ...], "moves":
 * [[at_s, from, to, task], ...], "about": "what happens here"}; a task is its index; ran_s null: not before the end;
 * about may be missing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

#define ARROWS_MAX 400
#define ROWS_MAX 64
#define NAMED 24u /* tasks in the legend */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

struct gantt {
    double from, until, scale; /* s; to the shown unit */
    const char *unit;
    size_t cpus, tasks, *rank; /* rank[task]: letter; SIZE_MAX: others */
    size_t shown;              /* tasks with a letter */
    size_t *order;             /* [shown] the task of a letter */
    size_t key_columns;
    struct plot_panels panels;
};

static double at(const json_t *row, size_t i)
{
    return plot_number(json_array_get(row, i));
}

static const json_t *list_of(const struct plot_input *in, const char *key)
{
    return json_object_get(in->doc, key);
}

static size_t task_at(const struct gantt *g, const json_t *row, size_t i)
{
    double t = at(row, i);
    return t >= 0 && t < (double)g->tasks ? (size_t)t : SIZE_MAX;
}

/* Letters in order of first appearance; beyond them tasks are "others". */
static void give_letters(const struct plot_input *in, struct gantt *g)
{
    const json_t *runs = list_of(in, "runs");
    for (size_t i = 0; i < g->tasks; i++) g->rank[i] = SIZE_MAX;
    for (size_t i = 0; i < json_array_size(runs); i++) {
        size_t t = task_at(g, json_array_get(runs, i), 1);
        if (t == SIZE_MAX || g->rank[t] != SIZE_MAX || g->shown == sizeof letters - 1) continue;
        g->order[g->shown] = t;
        g->rank[t] = g->shown++;
    }
}

static void choose_unit(struct plot_input *in, struct gantt *g)
{
    double d = g->until - g->from;
    g->scale = d < 1e-6 ? 1e9 : d < 2e-3 ? 1e6 : d < 2 ? 1e3 : 1;
    g->unit = d < 1e-6 ? "ns" : d < 2e-3 ? "us" : d < 2 ? "ms" : "s";
    bool seconds = g->from >= 1;
    snprintf(in->unit.axis, sizeof in->unit.axis, "time (%s) from %.9g %s", g->unit, g->from * (seconds ? 1 : 1e3),
             seconds ? "s" : "ms");
}

static char *task_name(const struct plot_input *in, size_t task)
{
    const char *s = json_string_value(json_array_get(list_of(in, "tasks"), task));
    return plot_text(s ? s : "?", 24);
}

static void plan_key(struct plot_input *in, struct gantt *g)
{
    char *text[PLOT_SERIES_MAX];
    size_t n = WB_MIN(g->shown, (size_t)PLOT_SERIES_MAX), longest = 0;
    for (size_t i = 0; i < g->shown; i++) {
        char *name = task_name(in, g->order[i]);
        longest = WB_MAX(longest, plot_text_columns(name) + 2);
        free(name);
    }
    for (size_t i = 0; i < n; i++) text[i] = plot_say("%*s", (int)longest, "");
    (void)plot_key_rows(in, text, n, &g->key_columns);
    for (size_t i = 0; i < n; i++) free(text[i]);
    g->panels = (struct plot_panels){.n = 1, .columns = 1, .rows = 1};
    g->panels.key_rows = (unsigned)((WB_MIN(g->shown, (size_t)NAMED) + 3 + g->key_columns - 1) / g->key_columns);
}

static bool prepare_gantt(struct plot_input *in)
{
    struct gantt *g = in->own = plot_need(calloc(1, sizeof *g));
    g->from = plot_number(json_object_get(in->doc, "from_s"));
    g->until = plot_number(json_object_get(in->doc, "until_s"));
    g->cpus = (size_t)json_integer_value(json_object_get(in->doc, "cpus"));
    g->tasks = json_array_size(list_of(in, "tasks"));
    if (!json_array_size(list_of(in, "runs")) || !(g->until > g->from) || !g->cpus) {
        snprintf(in->why, sizeof in->why, "nothing to draw: nobody ran in this window");
        return false;
    }
    if (g->cpus > ROWS_MAX) {
        snprintf(in->why, sizeof in->why, "nothing to draw: %zu CPUs do not fit a picture (at most %d)", g->cpus,
                 ROWS_MAX);
        return false;
    }
    g->rank = plot_need(calloc(g->tasks + 1, sizeof *g->rank));
    g->order = plot_need(calloc(g->tasks + 1, sizeof *g->order));
    give_letters(in, g);
    choose_unit(in, g);
    in->width = 1200;
    plan_key(in, g);
    plot_text_into(in->run, sizeof in->run, plot_string(json_object_get(in->doc, "run"), "id"), 20);
    char about[128] = "";
    size_t wakes = json_array_size(list_of(in, "wakes"));
    plot_text_into(about, sizeof about, plot_string(in->doc, "about"), sizeof about - 1);
    snprintf(in->caption, sizeof in->caption, "replication 0; %zu wakeups%s, %zu migrations%s%s", wakes,
             wakes > ARROWS_MAX ? " (too many for arrows: narrow the window)" : "",
             json_array_size(list_of(in, "moves")), *about ? "; " : "", about);
    in->height = 170 + 22 * g->panels.key_rows + (uint32_t)g->cpus * (g->cpus > 16 ? 24 : 56);
    return true;
}

/* ------------------------------------------------------------------ data */
static double shown(const struct gantt *g, double s)
{
    return (fmin(fmax(s, g->from), g->until) - g->from) * g->scale;
}

static void write_runs(FILE *f, const struct plot_input *in, size_t letter)
{
    const struct gantt *g = in->own;
    const json_t *runs = list_of(in, "runs");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *r = json_array_get(runs, i);
        size_t t = task_at(g, r, 1);
        if (t == SIZE_MAX || g->rank[t] != letter) continue;
        double a = shown(g, at(r, 2)), b = shown(g, at(r, 3));
        bool wide = (b - a) / ((g->until - g->from) * g->scale) > 0.008;
        fprintf(f, "%.9g %.9g %.0f \"%c\"\n", a, b, at(r, 0),
                wide ? (letter == SIZE_MAX ? '+' : letters[letter]) : ' ');
    }
}

/* Migrations from one CPU to another that follow each other closer than an arrow is wide: one arrow with their number,
 * at the first. */
struct moves {
    double first, last; /* s */
    size_t from, to, n;
};

static void write_moves_of(FILE *f, const struct gantt *g, const struct moves *m)
{
    char count[24] = " ";
    if (m->n > 1) snprintf(count, sizeof count, "%zu", m->n);
    if (m->n) fprintf(f, "%.9g %zu %g \"%s\"\n", shown(g, m->first), m->from, (double)m->to - (double)m->from, count);
}

static void write_moves(FILE *f, const struct gantt *g, const json_t *list)
{
    struct moves *open = plot_need(calloc(g->cpus * g->cpus, sizeof *open));
    double near = (g->until - g->from) / 100;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        double when = at(row, 0), from = at(row, 1), to = at(row, 2);
        if (!(from >= 0 && from < (double)g->cpus && to >= 0 && to < (double)g->cpus)) continue;
        struct moves *m = &open[(size_t)from * g->cpus + (size_t)to];
        if (m->n && when - m->last > near) {
            write_moves_of(f, g, m);
            m->n = 0;
        }
        if (!m->n) *m = (struct moves){.first = when, .from = (size_t)from, .to = (size_t)to};
        m->last = when;
        m->n++;
    }
    for (size_t i = 0; i < g->cpus * g->cpus; i++) write_moves_of(f, g, &open[i]);
    free(open);
}

static void write_gantt(FILE *f, const struct plot_input *in)
{
    const struct gantt *g = in->own;
    const json_t *wakes = list_of(in, "wakes"), *moves = list_of(in, "moves");
    for (size_t k = 0; k < g->shown; k++) {
        char *name = task_name(in, g->order[k]);
        fprintf(f, "%s# %c = \"%s\": from_%s until_%s cpu letter\n", k ? "\n\n" : "", letters[k], name, g->unit,
                g->unit);
        free(name);
        write_runs(f, in, k);
    }
    fprintf(f, "\n\n# others\nNaN NaN NaN \" \"\n");
    write_runs(f, in, SIZE_MAX);
    fprintf(f, "\n\n# wakeups: at_%s cpu ran_minus_at ran_cpu_minus_cpu\nNaN NaN NaN NaN\n", g->unit);
    for (size_t i = 0; i < json_array_size(wakes) && json_array_size(wakes) <= ARROWS_MAX; i++) {
        const json_t *w = json_array_get(wakes, i);
        double a = shown(g, at(w, 0)), ran = at(w, 2);
        if (isfinite(ran)) fprintf(f, "%.9g %.0f %.9g %.0f\n", a, at(w, 1), shown(g, ran) - a, at(w, 3) - at(w, 1));
    }
    fprintf(f, "\n\n# migrations: at_%s from to_minus_from how_many\nNaN NaN NaN \" \"\n", g->unit);
    write_moves(f, g, moves);
}

/* ------------------------------------------------------------------ script */
static void put_boxes(FILE *f, const struct plot_input *in)
{
    static const char *const colour[] = {"#56B4E9", "#E69F00", "#009E73", "#F0E442",
                                         "#CC79A7", "#D55E00", "#0072B2", "#BBBBBB"};
    const struct gantt *g = in->own;
    fputs("plot ", f);
    plot_put_quoted(f, in->dat);
    for (size_t k = 0; k < g->shown; k++) {
        char *name = task_name(in, g->order[k]), *title = plot_say("%c %s", letters[k], name);
        fprintf(f,
                "%s index %zu using (($1+$2)/2):3:(($2-$1)/2):(0.3) with boxxyerror fs solid 1 border lc rgb '#333333' "
                "fc rgb '%s' ",
                k ? ", \\\n     ''" : "", k, colour[k % WB_ARRAY_SIZE(colour)]);
        fputs(k < NAMED ? "title " : "notitle", f);
        if (k < NAMED) plot_put_quoted(f, title);
        fprintf(f, ", \\\n     '' index %zu using (($1+$2)/2):3:4 with labels font ',9' notitle", k);
        free(name);
        free(title);
    }
    fprintf(f,
            ", \\\n     '' index %zu using (($1+$2)/2):3:(($2-$1)/2):(0.3) with boxxyerror fs solid 1 fc rgb '#666666' "
            "notitle",
            g->shown);
    fprintf(f,
            ", \\\n     '' index %zu using 1:2:3:4 with vectors head filled size screen 0.008,20 lw 1.3 lc rgb "
            "'#000000' title "
            "'wakeup, to where it ran'",
            g->shown + 1);
    fprintf(f,
            ", \\\n     '' index %zu using 1:2:(0):3 with vectors head empty size screen 0.010,25 lw 2 dt '-' lc rgb "
            "'#D55E00' title "
            "'migration (a number: so many)', \\\n     '' index %zu using 1:($2+0.72*$3):4 with labels left offset "
            "0.6,0 font ',9' tc rgb "
            "'#A04000' notitle",
            g->shown + 2, g->shown + 2);
    if (g->shown > NAMED)
        fprintf(f, ", \\\n     NaN with dots lc rgb '#FFFFFF' title 'and %zu more, see the .dat'", g->shown - NAMED);
}

static bool word_gantt(FILE *f, const struct plot_input *in, const char *word)
{
    const struct gantt *g = in->own;
    if (!strcmp(word, "BOXES")) return put_boxes(f, in), true;
    if (!strcmp(word, "KEY")) return plot_put_key(f, in, &g->panels, g->key_columns), true;
    if (!strcmp(word, "TMARGIN")) return fprintf(f, "%.1f", 2.8 + g->panels.key_rows * 1.15), true;
    if (!strcmp(word, "UNTIL")) return fprintf(f, "%.9g", (g->until - g->from) * g->scale), true;
    if (!strcmp(word, "CPUS")) return fprintf(f, "%zu", g->cpus), true;
    return false;
}

/* ------------------------------------------------------------------ as text */
/* The task that ran longest in a column of a CPU, as a letter. */
static void text_row(FILE *to, const struct plot_input *in, size_t cpu, size_t width, double *best, char *row)
{
    const struct gantt *g = in->own;
    const json_t *runs = list_of(in, "runs");
    double step = (g->until - g->from) / (double)width;
    memset(row, '.', width);
    row[width] = 0;
    for (size_t x = 0; x < width; x++) best[x] = 0;
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *r = json_array_get(runs, i);
        size_t t = task_at(g, r, 1);
        if (at(r, 0) != (double)cpu || t == SIZE_MAX) continue;
        double a = fmax(at(r, 2) - g->from, 0) / step, b = fmin(at(r, 3) - g->from, g->until - g->from) / step;
        for (size_t x = (size_t)a; x < width && (double)x < b; x++) {
            double part = fmin(b, (double)x + 1) - fmax(a, (double)x);
            if (part <= best[x] || part < 0.05) continue;
            best[x] = part;
            row[x] = g->rank[t] == SIZE_MAX ? '+' : letters[g->rank[t]];
        }
    }
    fprintf(to, "cpu%-3zu %s\n", cpu, row);
}

static void text_gantt(FILE *to, const struct plot_input *in)
{
    const struct gantt *g = in->own;
    size_t width = WB_MAX(plot_columns(in->o), (size_t)40) - 8;
    double *best = plot_need(calloc(width, sizeof *best));
    char *row = plot_need(malloc(width + 1));
    fprintf(to, "%s\n%s: 0 to %.4g %s, a column is %.3g %s\n", in->title, in->unit.axis,
            (g->until - g->from) * g->scale, g->unit, (g->until - g->from) * g->scale / (double)width, g->unit);
    for (size_t c = 0; c < g->cpus; c++) text_row(to, in, c, width, best, row);
    for (size_t k = 0; k < g->shown; k++) {
        char *name = task_name(in, g->order[k]);
        fprintf(to, "%s%c %s", k ? "  " : "", letters[k], name);
        free(name);
    }
    fprintf(to, "  . idle\n%s\n\n", in->caption);
    free(best);
    free(row);
}

static void forget_gantt(struct plot_input *in)
{
    struct gantt *g = in->own;
    if (!g) return;
    free(g->rank);
    free(g->order);
    free(g);
}

const struct plot_ops plot_timeline = {.name = "timeline",
                                       .schema = "wakebal.timeline/1",
                                       .prepare = prepare_gantt,
                                       .data = write_gantt,
                                       .word = word_gantt,
                                       .text = text_gantt,
                                       .forget = forget_gantt};
