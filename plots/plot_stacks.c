/*
 * plot_stacks.c - where the CPU time went: a row a point, a piece a category, in shares of all CPUs' time.
 *
 * Shares are the figures time.CATEGORY, which have intervals: in the pieces where there is room, always in the data.
 * The line is the interval of idle time, that is of where work ends. Small
 * categories go together into "other". Pieces differ in lightness and in hatching as well as in colour; idle is white.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

#define PIECES_MAX 9
#define SMALL 0.01 /* a category that is nowhere larger goes to "other" */

struct stacks {
    char *name[PIECES_MAX + 1]; /* the last two: "other", "idle" where there are such */
    size_t n;
    struct plot_value *share; /* [results][n] */
    size_t key_columns;
    struct plot_panels panels;
    struct plot_facets *facets; /* NULL: one panel, a row a result */
};

struct category {
    const char *name;
    double most;
};

static bool has_time(const json_t *result, const char *metric)
{
    (void)metric;
    return plot_metric(result, "time.idle");
}

static int by_size(const void *a, const void *b)
{
    const struct category *x = a, *y = b;
    if (x->most != y->most) return x->most < y->most ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Names of categories with their largest share, the largest first; idle is left to the end. */
static size_t collect(const struct plot_input *in, struct category *c, size_t room)
{
    const json_t *list = json_object_get(in->result[0], "metrics");
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list) && n < room; i++) {
        const char *name = plot_string(json_array_get(list, i), "name");
        if (strncmp(name, "time.", 5) || !strcmp(name, "time.idle") ||
            strcmp(plot_string(json_array_get(list, i), "unit"), "1"))
            continue;
        c[n] = (struct category){.name = name, .most = 0};
        for (size_t k = 0; k < in->n; k++) c[n].most = fmax(c[n].most, plot_value_of(in->result[k], name).mean);
        n++;
    }
    qsort(c, n, sizeof *c, by_size);
    return n;
}

static struct plot_value sum_of(const json_t *result, const struct category *c, size_t n)
{
    struct plot_value v = {0, NAN, NAN};
    for (size_t i = 0; i < n; i++) {
        double one = plot_value_of(result, c[i].name).mean;
        v.mean += isfinite(one) ? one : 0;
    }
    return v;
}

static void fill(struct plot_input *in, struct stacks *s, const struct category *c, size_t n)
{
    size_t own = 0;
    while (own < n && own < PIECES_MAX - 2 && c[own].most >= SMALL) own++;
    for (size_t i = 0; i < own; i++) s->name[s->n++] = plot_text(c[i].name + 5, 30);
    if (own < n) s->name[s->n++] = plot_say("other");
    s->name[s->n++] = plot_say("idle");
    s->share = plot_need(calloc(in->n * s->n, sizeof *s->share));
    for (size_t k = 0; k < in->n; k++) {
        struct plot_value *v = &s->share[k * s->n];
        for (size_t i = 0; i < own; i++) v[i] = plot_value_of(in->result[k], c[i].name);
        if (own < n) v[own] = sum_of(in->result[k], c + own, n - own);
        v[s->n - 1] = plot_value_of(in->result[k], "time.idle");
    }
}

/* Rows of equal coordinates stand at the same height in all panels; their names are beside the leftmost. */
static bool facet_rows(struct plot_input *in, struct stacks *s)
{
    struct plot_facets *fa = s->facets = plot_facets_read(in, PLOT_BARS_MAX);
    if (!fa) return false;
    size_t longest = 0;
    for (size_t i = 0; fa->name && i < fa->axes.series.n; i++)
        longest = WB_MAX(longest, plot_text_columns(fa->name[i]));
    fa->panels.left = (unsigned)longest + 3;
    fa->panels.key_rows = s->panels.key_rows;
    in->height = 150 + fa->panels.rows * (90 + 44 * (uint32_t)fa->axes.series.n);
    return true;
}

static bool prepare_stacks(struct plot_input *in)
{
    struct stacks *s = in->own = plot_need(calloc(1, sizeof *s));
    struct category c[64];
    if (!plot_keep_with(in, has_time, in->o->facets ? SIZE_MAX : PLOT_BARS_MAX)) {
        snprintf(in->why, sizeof in->why, "nothing to draw: no result has times by category");
        return false;
    }
    fill(in, s, c, collect(in, c, WB_ARRAY_SIZE(c)));
    snprintf(in->title, sizeof in->title, "where the CPU time went");
    in->metric = "time.idle"; /* its interval is the caption's */
    snprintf(in->caption, sizeof in->caption, "shares with intervals; the line under a bar: interval of idle");
    s->panels = (struct plot_panels){.n = 1, .columns = 1, .rows = 1};
    in->height = WB_MAX(190 + 44 * (uint32_t)in->n, 300u);
    s->panels.key_rows = plot_key_rows(in, s->name, s->n, &s->key_columns);
    return !in->o->facets || facet_rows(in, s);
}

/* The i-th piece of the k-th result: from, until, row, its interval around `until`, its number. */
static void put_piece(FILE *f, const struct plot_input *in, size_t i, size_t k)
{
    const struct stacks *s = in->own;
    const struct plot_value *v = &s->share[k * s->n];
    double from = 0, share = v[i].mean * 100, half = (v[i].hi - v[i].lo) * 50;
    double narrow = s->facets ? s->facets->panels.columns : 1; /* room for numbers shrinks with the panel */
    bool idle = i + 1 == s->n;                                 /* begins where work ends */
    for (size_t j = 0; j < i; j++) from += v[j].mean * 100;
    fprintf(f, "%.9g %.9g %zu", from, from + share, s->facets ? s->facets->axes.series.place[k] : k);
    plot_put(f, idle ? 100 - v[i].hi * 100 : from + v[i].lo * 100);
    plot_put(f, idle ? 100 - v[i].lo * 100 : from + v[i].hi * 100);
    if (share >= 10 * narrow && isfinite(half))
        fprintf(f, " \"%.0f\u00b1%.*f\"", share, half < 1, half);
    else if (share >= 4 * narrow)
        fprintf(f, " \"%.*f\"", share < 10, share);
    else
        fputs(" \"\"", f);
    fprintf(f, " \"%s\"\n", in->label[k]);
}

/* A block a piece and panel. */
static void write_stacks(FILE *f, const struct plot_input *in)
{
    const struct stacks *s = in->own;
    size_t panels = s->facets ? s->facets->panels.n : 1;
    for (size_t b = 0; b < s->n * panels; b++) {
        size_t i = b % s->n, panel = b / s->n;
        fprintf(f, "%s# %s%s%s\"%s\": from_%% until_%% row ends_low ends_high shown \"point\"\n", b ? "\n\n" : "",
                s->facets ? "\"" : "", s->facets ? s->facets->axes.facet.value[panel].text : "", s->facets ? "\" " : "",
                s->name[i]);
        for (size_t k = 0; k < in->n; k++)
            if (!s->facets || s->facets->axes.facet.place[k] == panel) put_piece(f, in, i, k);
    }
}

/* Is the i-th piece what is left of the small ones? */
static bool is_other(const struct stacks *s, size_t i)
{
    return i + 2 == s->n && !strcmp(s->name[i], "other");
}

static const char *look_of(const struct stacks *s, size_t i)
{
    /* Light and dark take turns, so that neighbours differ in grey too. */
    static const char *const look[PIECES_MAX] = {"fs solid 1 border lc rgb '#222222' fc rgb '#0072B2'",
                                                 "fs solid 1 border lc rgb '#222222' fc rgb '#F0E442'",
                                                 "fs solid 1 border lc rgb '#222222' fc rgb '#009E73'",
                                                 "fs pattern 2 border lc rgb '#222222' fc rgb '#56B4E9'",
                                                 "fs solid 1 border lc rgb '#222222' fc rgb '#D55E00'",
                                                 "fs pattern 5 border lc rgb '#222222' fc rgb '#E69F00'",
                                                 "fs pattern 6 border lc rgb '#222222' fc rgb '#CC79A7'",
                                                 "fs pattern 4 border lc rgb '#222222' fc rgb '#666666'"};
    if (i + 1 == s->n) return "fs solid 1 border lc rgb '#222222' fc rgb '#FFFFFF'";
    return is_other(s, i) ? look[PIECES_MAX - 2] : look[i];
}

/* Blocks from `block` on; `names`: of rows, and the legend. */
static void put_pieces(FILE *f, const struct plot_input *in, size_t block, bool names)
{
    static const char *const text[PIECES_MAX] = {"#FFFFFF", "#000000", "#FFFFFF", "#000000",
                                                 "#FFFFFF", "#000000", "#000000", "#000000"};
    const struct stacks *s = in->own;
    fputs("plot ", f);
    for (size_t i = 0; i < s->n; i++) {
        if (i)
            fputs("''", f);
        else
            plot_put_quoted(f, in->dat);
        fprintf(f, " index %zu using (($1+$2)/2):3:(($2-$1)/2):(0.36)%s with boxxyerror %s ", block + i,
                i || !names ? "" : ":ytic(7)", look_of(s, i));
        fputs(names ? "title " : "notitle", f);
        if (names) plot_put_quoted(f, s->name[i]);
        fputs(", \\\n     ", f);
        if (!is_other(s, i))
            fprintf(f, "'' index %zu using (($1+$2)/2):3:6 with labels tc rgb '%s' notitle, \\\n     ", block + i,
                    i + 1 == s->n ? "#000000" : text[i]);
    }
    fprintf(f, "'' index %zu using 1:($3+0.43):4:5 with xerrorbars pt 0 lw 2 lc rgb '#000000' notitle",
            block + s->n - 1);
}

/* ------------------------------------------------------------------ panels */
static void put_entries(FILE *f, const struct plot_input *in)
{
    const struct stacks *s = in->own;
    for (size_t i = 0; i < s->n; i++) {
        fprintf(f, "%sNaN with boxes %s title ", i ? ", " : "", look_of(s, i));
        plot_put_quoted(f, s->name[i]);
    }
}

static void put_row_names(FILE *f, const struct plot_facets *fa, bool shown)
{
    fputs("set ytics scale 0 (", f);
    for (size_t i = 0; fa->name && i < fa->axes.series.n; i++) {
        fputs(i ? ", " : "", f);
        plot_put_quoted(f, shown ? fa->name[i] : "");
        fprintf(f, " %zu", i);
    }
    fputs(fa->name ? ") noenhanced\n" : "'' 0)\n", f);
}

static void put_panels(FILE *f, const struct plot_input *in)
{
    const struct stacks *s = in->own;
    const struct plot_facets *fa = s->facets;
    fputs("set multiplot\nunset key\n", f);
    plot_put_key_panel(f, in, &fa->panels, s->key_columns, put_entries);
    fprintf(f, "set border 1\nset xrange [0:100]\nset yrange [%zu-0.4:-0.6]\n", fa->axes.series.n);
    for (size_t i = 0; i < fa->panels.n; i++) {
        plot_put_panel(f, in, &fa->panels, i, &fa->axes.facet, "share of CPU time, all CPUs (%)", "");
        put_row_names(f, fa, i % fa->panels.columns == 0);
        put_pieces(f, in, i * s->n, false);
        fputc('\n', f);
    }
    fputs("unset multiplot", f);
}

static bool word_stacks(FILE *f, const struct plot_input *in, const char *word)
{
    const struct stacks *s = in->own;
    if (!strcmp(word, "PANELS")) return put_panels(f, in), true;
    if (!strcmp(word, "PIECES")) return put_pieces(f, in, 0, true), true;
    if (!strcmp(word, "KEY")) return plot_put_key(f, in, &s->panels, s->key_columns), true;
    if (!strcmp(word, "TMARGIN")) return fprintf(f, "%.1f", 3.2 + s->panels.key_rows * 1.2), true;
    if (strcmp(word, "LMARGIN")) return false;
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++) n = WB_MAX(n, plot_text_columns(in->label[i]));
    fprintf(f, "%.1f", (double)n * 1.0 + 2);
    return true;
}

/* ------------------------------------------------------------------ as text */
static const char piece_letter[] = "#=+*%o&x:";

static char letter_of(const struct stacks *s, size_t i)
{
    return i + 1 == s->n ? '.' : piece_letter[i];
}

/* A bar of letters, and under it what they stand for. */
static void text_row(FILE *to, const struct plot_input *in, size_t k, size_t label)
{
    const struct stacks *s = in->own;
    size_t width = plot_columns(in->o), at = 0;
    width = width > label + 32 ? width - label - 2 : 30;
    fprintf(to, "%*s%s  ", (int)(label - plot_text_columns(in->label[k])), "", in->label[k]);
    double until = 0;
    for (size_t i = 0; i < s->n; i++) {
        until += s->share[k * s->n + i].mean;
        for (; at < (size_t)(until * (double)width + 0.5); at++) fputc(letter_of(s, i), to);
    }
    fprintf(to, "\n%*s  ", (int)label, "");
    for (size_t i = 0; i < s->n; i++) {
        struct plot_value v = s->share[k * s->n + i];
        fprintf(to, "%s%c %s %.1f", i ? "  " : "", letter_of(s, i), s->name[i], v.mean * 100);
        if (isfinite(v.hi)) fprintf(to, "%s%.1f", in->o->unicode ? "\u00b1" : "+-", (v.hi - v.lo) * 50);
    }
    fputc('\n', to);
}

static void text_stacks(FILE *to, const struct plot_input *in)
{
    const struct stacks *s = in->own;
    size_t label = 0, panels = s->facets ? s->facets->panels.n : 1;
    for (size_t i = 0; i < in->n; i++) label = WB_MAX(label, plot_text_columns(in->label[i]));
    fprintf(to, "%s\n%*sshare of CPU time, all CPUs (%%)\n", in->title, (int)label + 2, "");
    for (size_t p = 0; p < panels; p++) {
        char *name = s->facets ? plot_value_name(&s->facets->axes.facet, p) : NULL;
        if (name) fprintf(to, "%s%s\n", p ? "\n" : "", name);
        free(name);
        for (size_t k = 0; k < in->n; k++)
            if (!s->facets || s->facets->axes.facet.place[k] == p) text_row(to, in, k, label);
    }
    fprintf(to, "%s\n\n", in->caption);
}

static void forget_stacks(struct plot_input *in)
{
    struct stacks *s = in->own;
    if (!s) return;
    for (size_t i = 0; i < s->n; i++) free(s->name[i]);
    plot_facets_free(s->facets);
    free(s->share);
    free(s);
}

const struct plot_ops plot_stacks = {.name = "stacks",
                                     .schema = "wakebal.result",
                                     .obeys = PLOT_OBEYS_FACETS | PLOT_OBEYS_ONLY,
                                     .prepare = prepare_stacks,
                                     .data = write_stacks,
                                     .word = word_stacks,
                                     .text = text_stacks,
                                     .forget = forget_stacks};
