/*
 * plot_matrix.c - migrations from CPU to CPU, CPUs of a domain side by side.
 *
 * Document wakebal.migrations/1: {"schema", "title", "run": {"id"}, "from_s", "until_s", "cpus": [{"cpu": 3, "domains":
 * [{"level": "MC", "first": 0}, ...]}, ...], "moves": [[from, to, count], ...]}; domains lowest first, `first` is the
 * lowest CPU of the span.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

#define LEVELS_MAX 8
#define CPUS_MAX 512
#define MANY 64 /* more CPUs than that have no sums and no names of their own */

struct matrix {
    size_t n;
    long *cpu;                 /* [n] in the order shown */
    long (*first)[LEVELS_MAX]; /* [n] lowest level first */
    char level[LEVELS_MAX][16];
    size_t levels;
    double *count; /* [n][n] from, to; by place */
    double total, most, within[LEVELS_MAX + 1];
};

/* Does CPU a stand before b? By the outermost domain first. */
static bool before(const struct matrix *m, size_t a, size_t b)
{
    for (size_t l = m->levels; l-- > 0;)
        if (m->first[a][l] != m->first[b][l]) return m->first[a][l] < m->first[b][l];
    return m->cpu[a] < m->cpu[b];
}

static void swap(struct matrix *m, size_t a, size_t b)
{
    long cpu = m->cpu[a], first[LEVELS_MAX];
    memcpy(first, m->first[a], sizeof first);
    m->cpu[a] = m->cpu[b];
    memcpy(m->first[a], m->first[b], sizeof first);
    m->cpu[b] = cpu;
    memcpy(m->first[b], first, sizeof first);
}

static void read_cpu(struct matrix *m, const json_t *c)
{
    const json_t *list = json_object_get(c, "domains");
    size_t i = m->n++, have = WB_MIN(json_array_size(list), (size_t)LEVELS_MAX);
    m->cpu[i] = (long)json_integer_value(json_object_get(c, "cpu"));
    for (size_t l = 0; l < LEVELS_MAX; l++) m->first[i][l] = -1; /* no such domain: one for all */
    for (size_t l = 0; l < have; l++) {
        const json_t *d = json_array_get(list, l);
        m->first[i][l] = (long)json_integer_value(json_object_get(d, "first"));
        if (l >= m->levels) plot_text_into(m->level[l], sizeof m->level[l], plot_string(d, "level"), 12);
    }
    m->levels = WB_MAX(m->levels, have);
    for (size_t k = i; k > 0 && before(m, k, k - 1); k--) swap(m, k, k - 1);
}

static size_t place_of(const struct matrix *m, long cpu)
{
    size_t i = 0;
    while (i < m->n && m->cpu[i] != cpu) i++;
    return i;
}

/* The lowest domain that holds both; levels = none. */
static size_t level_of(const struct matrix *m, size_t a, size_t b)
{
    size_t l = 0;
    while (l < m->levels && m->first[a][l] != m->first[b][l]) l++;
    return l;
}

static void read_moves(struct matrix *m, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *v = json_array_get(list, i);
        size_t a = place_of(m, (long)json_integer_value(json_array_get(v, 0))),
               b = place_of(m, (long)json_integer_value(json_array_get(v, 1)));
        double count = plot_number(json_array_get(v, 2));
        if (a == m->n || b == m->n || !(count > 0)) continue;
        m->count[a * m->n + b] += count;
        m->total += count;
        m->within[level_of(m, a, b)] += count;
        m->most = fmax(m->most, m->count[a * m->n + b]);
    }
}

static void caption(struct plot_input *in, const struct matrix *m)
{
    double from = plot_number(json_object_get(in->doc, "from_s")),
           until = plot_number(json_object_get(in->doc, "until_s"));
    size_t len = (size_t)snprintf(in->caption, sizeof in->caption, "%.0f moves in %.4g s, replication 0; inside",
                                  m->total, until - from);
    for (size_t l = 0; l < m->levels && len < sizeof in->caption; l++)
        len += (size_t)snprintf(in->caption + len, sizeof in->caption - len, "%s %s %.0f %%", l ? "," : "", m->level[l],
                                m->within[l] / m->total * 100);
}

static bool prepare_matrix(struct plot_input *in)
{
    struct matrix *m = in->own = plot_need(calloc(1, sizeof *m));
    const json_t *cpus = json_object_get(in->doc, "cpus");
    size_t n = json_array_size(cpus);
    if (n > CPUS_MAX) {
        snprintf(in->why, sizeof in->why, "nothing to draw: %zu CPUs do not fit a picture (at most %d)", n, CPUS_MAX);
        return false;
    }
    m->cpu = plot_need(calloc(n + 1, sizeof *m->cpu));
    m->first = plot_need(calloc(n + 1, sizeof *m->first));
    m->count = plot_need(calloc(n * n + 1, sizeof *m->count));
    for (size_t i = 0; i < n; i++) read_cpu(m, json_array_get(cpus, i));
    read_moves(m, json_object_get(in->doc, "moves"));
    if (!(m->total > 0)) {
        snprintf(in->why, sizeof in->why, "nothing to draw: no task moved from CPU to CPU");
        return false;
    }
    plot_text_into(in->run, sizeof in->run, plot_string(json_object_get(in->doc, "run"), "id"), 20);
    snprintf(in->unit.axis, sizeof in->unit.axis, "moves");
    caption(in, m);
    in->width = 860;
    in->height = 800;
    return true;
}

/* ------------------------------------------------------------------ data */
static void write_cells(FILE *f, const struct matrix *m)
{
    fprintf(f, "# to from moves colour_of_text shown cpu_to cpu_from\n");
    for (size_t a = 0; a < m->n; a++)
        for (size_t b = 0; b < m->n; b++) {
            double v = m->count[a * m->n + b], dark = log(v) / log(fmax(m->most, 2));
            if (v > 0)
                fprintf(f, "%zu %zu %.0f %d \"%.0f\" %ld %ld\n", b, a, v, dark > 0.55 ? 0xffffff : 0, v, m->cpu[b],
                        m->cpu[a]);
        }
}

static void write_sums(FILE *f, const struct matrix *m)
{
    fputs("\n\n# place cpu moves_from moves_to\n", f);
    for (size_t i = 0; i < m->n; i++) {
        double from = 0, to = 0;
        for (size_t k = 0; k < m->n; k++) {
            from += m->count[i * m->n + k];
            to += m->count[k * m->n + i];
        }
        fprintf(f, "%zu \"%ld\" \"%.0f\" \"%.0f\"\n", i, m->cpu[i], from, to);
    }
}

/* A block a level: the frames of its domains. */
static void write_frames(FILE *f, const struct matrix *m)
{
    for (size_t l = 0; l < m->levels; l++) {
        fprintf(f, "\n\n# frames of %s\nNaN NaN\n", m->level[l]);
        for (size_t i = 0, end; i < m->n; i = end) {
            for (end = i + 1; end < m->n && level_of(m, i, end) <= l; end++) continue;
            double a = (double)i - 0.5, b = (double)end - 0.5;
            fprintf(f, "%g %g\n%g %g\n%g %g\n%g %g\n%g %g\n\n", a, a, b, a, b, b, a, b, a, a);
        }
    }
}

static void write_matrix(FILE *f, const struct plot_input *in)
{
    const struct matrix *m = in->own;
    write_cells(f, m);
    write_sums(f, m);
    write_frames(f, m);
}

/* ------------------------------------------------------------------ script */
static void put_cpus(FILE *f, const struct matrix *m)
{
    size_t step = m->n > MANY ? (m->n + 11) / 12 : 1;
    fputc('(', f);
    for (size_t i = 0; i < m->n; i += step) fprintf(f, "%s'%ld' %zu", i ? ", " : "", m->cpu[i], i);
    fputc(')', f);
}

static void put_layers(FILE *f, const struct plot_input *in)
{
    static const char *const look[LEVELS_MAX] = {"lw 1.6 dt 1 lc rgb '#E69F00'", "lw 2.6 dt '-' lc rgb '#D55E00'",
                                                 "lw 3 dt 1 lc rgb '#000000'"};
    const struct matrix *m = in->own;
    if (m->n <= 32)
        fprintf(f, ", \\\n     '' index 0 using 1:2:5:4 with labels tc rgb variable font ',%d' notitle",
                m->n <= 16 ? 10 : 7);
    if (m->n <= MANY) {
        int size = m->n < 16 ? 9 : m->n <= 32 ? 8 : 6;
        fprintf(f, ", \\\n     '' index 1 using (%zu):1:3 with labels left font ',%d' tc rgb '#444444' notitle", m->n,
                size);
        fprintf(f, ", \\\n     '' index 1 using 1:(-1.1):4 with labels font ',%d' tc rgb '#444444' notitle", size);
    }
    for (size_t l = 0; l < m->levels; l++) {
        fprintf(f, ", \\\n     '' index %zu using 1:2 with lines %s title ", l + 2, look[WB_MIN(l, (size_t)2)]);
        plot_put_quoted(f, m->level[l]);
    }
}

static bool word_matrix(FILE *f, const struct plot_input *in, const char *word)
{
    const struct matrix *m = in->own;
    if (!strcmp(word, "CPUS")) return put_cpus(f, m), true;
    if (!strcmp(word, "COUNT")) return fprintf(f, "%zu", m->n), true;
    if (!strcmp(word, "MOST")) return fprintf(f, "%.0f", fmax(m->most, 2)), true;
    bool many = m->n > MANY; /* cells of a pixel or two: they are made larger and darker than they are */
    if (!strcmp(word, "PALE")) return fputs(many ? "#7FBEE6" : "#E8F3FB", f), true;
    if (!strcmp(word, "HALF")) return fprintf(f, "%.3g", many ? fmax(0.5, (double)m->n / 200) : 0.5), true;
    if (!strcmp(word, "BORDER")) return fputs(many ? "noborder" : "border lc rgb '#FFFFFF'", f), true;
    if (!strcmp(word, "ABOVE")) return fputs(many ? "" : " (sums above)", f), true;
    if (!strcmp(word, "BESIDE")) return fputs(many ? "" : " (sums at the right)", f), true;
    if (!strcmp(word, "LAYERS")) return put_layers(f, in), true;
    return false;
}

/* ------------------------------------------------------------------ as text */
static int shade(const struct matrix *m, double v)
{
    return v > 0 ? 1 + (int)(m->most > 1 ? log(v) / log(m->most) * 8 : 8) : 0;
}

static void text_numbers(FILE *to, const struct matrix *m, size_t a)
{
    double sum = 0;
    for (size_t b = 0; b < m->n; b++) {
        double v = m->count[a * m->n + b];
        sum += v;
        if (b && level_of(m, b - 1, b) > 0) fputs(" |", to);
        if (v > 0)
            fprintf(to, " %c%5.0f", plot_shades[shade(m, v)], v);
        else
            fprintf(to, " %6s", a == b ? "-" : ".");
    }
    fprintf(to, " | %6.0f\n", sum);
}

static void text_shades(FILE *to, const struct matrix *m, size_t a)
{
    double sum = 0;
    for (size_t b = 0; b < m->n; b++) {
        sum += m->count[a * m->n + b];
        if (b && level_of(m, b - 1, b) > 0) fputc('|', to);
        fputc(a == b ? '\\' : plot_shades[shade(m, m->count[a * m->n + b])], to);
    }
    fprintf(to, " | %6.0f\n", sum);
}

static void text_matrix(FILE *to, const struct plot_input *in)
{
    const struct matrix *m = in->own;
    bool numbers = m->n * 7 + 24 <= plot_columns(in->o);
    fprintf(to, "%s\n%s\n", in->title,
            numbers ? "moves from (rows) to (columns), sums of rows at the right"
                    : "moves from (rows) to (columns), darker = more; sums of rows at the right");
    if (numbers) {
        fputs("         ", to);
        for (size_t b = 0; b < m->n; b++) fprintf(to, "%s %6ld", b && level_of(m, b - 1, b) > 0 ? " |" : "", m->cpu[b]);
        fputc('\n', to);
    }
    for (size_t a = 0; a < m->n; a++) {
        if (a && level_of(m, a - 1, a) > 0) fputc('\n', to);
        fprintf(to, "cpu%-4ld ", m->cpu[a]);
        (numbers ? text_numbers : text_shades)(to, m, a);
    }
    fprintf(to, "%s\n\n", in->caption);
}

static void forget_matrix(struct plot_input *in)
{
    struct matrix *m = in->own;
    if (!m) return;
    free(m->cpu);
    free(m->first);
    free(m->count);
    free(m);
}

const struct plot_ops plot_migrations = {.name = "migrations",
                                         .schema = "wakebal.migrations/1",
                                         .prepare = prepare_matrix,
                                         .data = write_matrix,
                                         .word = word_matrix,
                                         .text = text_matrix,
                                         .forget = forget_matrix};
