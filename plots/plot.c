#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const plot_kind_name[PLOT_KINDS] = {"windows", "bars", "cdf"};
const char *const plot_format_name[PLOT_FORMATS] = {"png", "svg", "terminal"};

static char *say(const char *fmt, ...) WB_PRINTF(1, 2);
static char *say(const char *fmt, ...)
{
    char *s;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    WB_MEMORY(n >= 0, "out of memory for a plot");
    return s;
}

/* ------------------------------------------------------------------ what to draw */
static const json_t *result_at(const json_t *doc, size_t i)
{
    const json_t *list = json_object_get(doc, "results");
    if (list) return json_array_get(list, i);
    return i ? NULL : doc;
}

static const char *string_at(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

/* "kernel.pipe=2.6.11, workload.cpus=free" -> "pipe=2.6.11, cpus=free": the last word of a key says enough. */
static char *short_label(const char *label)
{
    char *out = strdup(label), *o = out;
    WB_MEMORY(out, "out of memory for a label");
    const char *p = label;
    while (*p) {
        const char *end = p + strcspn(p, ","), *eq = memchr(p, '=', (size_t)(end - p)), *from = p + strspn(p, " ");
        for (const char *q = from; eq && q < eq; q++)
            if (*q == '.') from = q + 1;
        if (!eq) from = p;
        if (o != out && from != p) *o++ = ' ';
        memcpy(o, from, (size_t)(end - from));
        o += end - from;
        if (*end) *o++ = *end++;
        p = end;
    }
    *o = 0;
    return out;
}

static void add_input(struct plot_input *in, const json_t *result, const char *name)
{
    if (in->n == PLOT_BARS_MAX) return;
    char *label = short_label(name ? name : string_at(result, "label"));
    in->result[in->n] = result;
    in->label[in->n++] = plot_text(*label ? label : string_at(json_object_get(result, "kernel"), "name"), 60);
    free(label);
}

static void choose_inputs(struct plot_input *in, const json_t *doc, const struct plot_options *o)
{
    const json_t *r;
    for (size_t i = 0; !o->only && (r = result_at(doc, i)); i++) add_input(in, r, NULL);
    for (size_t k = 0; k < o->nonly; k++)
        for (size_t i = 0; (r = result_at(doc, i)); i++)
            if (!strcmp(string_at(r, "label"), o->only[k])) add_input(in, r, o->name ? o->name[k] : NULL);
    const json_t *run = json_object_get(result_at(doc, 0), "run");
    in->metric = o->metric ? o->metric : o->kind == PLOT_CDF ? "wake_latency" : string_at(run, "metric");
    char *title = plot_text(o->title ? o->title : string_at(run, "title"), 100);
    snprintf(in->title, sizeof in->title, "%s", title);
    free(title);
}

/* ------------------------------------------------------------------ the script */
struct script {
    const struct plot_options *o;
    const struct plot_input *in;
    const char *dat, *gp, *picture; /* names without folder */
};

static void put_quoted(FILE *f, const char *text)
{
    char *s = plot_text(text, 100);
    fprintf(f, "'%s'", s);
    free(s);
}

static void put_terminal(FILE *f, const struct script *s)
{
    const struct plot_options *o = s->o;
    unsigned height = o->kind == PLOT_BARS ? 130 + 38 * (unsigned)s->in->n : 600 + 18 * (unsigned)s->in->n;
    if (o->format == PLOT_PNG)
        fprintf(f, "pngcairo size 1000,%u font 'Sans,11' background rgb 'white'", WB_MAX(height, 260u));
    if (o->format == PLOT_SVG)
        fprintf(f, "svg size 1000,%u font 'Sans,13' background rgb 'white'", WB_MAX(height, 260u));
    if (o->format == PLOT_TERMINAL)
        fprintf(f, "dumb size %u,%u %s", o->columns ? o->columns : 100,
                o->rows                ? o->rows
                : o->kind == PLOT_BARS ? 8 + 2 * (unsigned)s->in->n
                                       : 32,
                o->colour ? "ansi" : "mono");
}

static void put_lines(FILE *f, const struct script *s, const char *column)
{
    for (size_t i = 0; i < s->in->n; i++) {
        fprintf(f, "%s%s", i ? ", \\\n     " : "", i ? "''" : "");
        if (!i) put_quoted(f, s->dat);
        fprintf(f, " index %zu using 1:%s with lines ls %zu title ", i, column, i + 1);
        put_quoted(f, s->in->label[i]);
    }
}

static size_t longest_label(const struct plot_input *in)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++) {
        size_t c = 0;
        for (const char *p = in->label[i]; *p; p++) c += ((unsigned char)*p & 0xc0) != 0x80;
        n = WB_MAX(n, c);
    }
    return n;
}

static void put_margin(FILE *f, const struct script *s)
{
    bool terminal = s->o->format == PLOT_TERMINAL;
    size_t n = s->o->kind == PLOT_BARS ? longest_label(s->in) : 8;
    fprintf(f, "%.1f", s->o->kind != PLOT_BARS ? 10.0 : terminal ? (double)n + 2 : (double)n * 0.92 + 2);
}

static void put_time(FILE *f, const struct script *s, bool end)
{
    double first = INFINITY, last = 0;
    for (size_t i = 0; i < s->in->n; i++) {
        const json_t *run = json_object_get(s->in->result[i], "run");
        double d = json_number_value(json_object_get(run, "duration_s")),
               m = json_number_value(json_object_get(run, "measured_s"));
        first = fmin(first, d - m);
        last = fmax(last, d);
    }
    fprintf(f, "%.6g", end ? last : first);
}

/* What stands for a word between @ signs. */
static void put_word(FILE *f, const struct script *s, const char *word, size_t n)
{
    const struct plot_input *in = s->in;
    bool bars = s->o->kind == PLOT_BARS;
#define IS(text) (n == sizeof text - 1 && !memcmp(word, text, n))
    if (IS("COMMENT")) {
        char *c = plot_text(s->o->command ? s->o->command : "wakebal plot", 200);
        fprintf(f, "%s; run %s", c, string_at(json_object_get(in->result[0], "run"), "id"));
        free(c);
    }
    if (IS("SCRIPT")) fputs(s->gp, f);
    if (IS("TERMINAL")) put_terminal(f, s);
    if (IS("SETOUTPUT") && s->picture) {
        fputs("set output ", f);
        put_quoted(f, s->picture);
    }
    if (IS("TITLE")) put_quoted(f, in->title);
    if (IS("YLABEL")) put_quoted(f, in->axis);
    if (IS("DATA")) put_quoted(f, s->dat);
    if (IS("LMARGIN")) put_margin(f, s);
    if (IS("SHARES")) fputs(s->o->format == PLOT_TERMINAL ? "-0.15:1.15" : "-0.04:1.04", f); /* off the axis */
    if (IS("XMIN")) put_time(f, s, false);
    if (IS("XMAX")) put_time(f, s, true);
    if (IS("YMAX")) fprintf(f, "%.6g", in->span > 0 ? in->span * (bars ? 1.15 : 1.1) : 1);
    if (IS("GRID") && s->o->format != PLOT_TERMINAL) fputs("set grid back lc rgb '#DDDDDD' lt 1 lw 0.7", f);
    if (IS("NUDGE")) fprintf(f, "%.6g", in->span * 0.005);
    if (IS("ROWS")) fprintf(f, "%zu", in->n);
    if (IS("PLOT_TOP")) put_lines(f, s, "2");
    if (IS("PLOT_BOTTOM")) put_lines(f, s, "3");
#undef IS
}

static void write_script(FILE *f, const struct script *s)
{
    for (const char *p = plot_template(s->o->kind); *p;) {
        const char *at = strchr(p, '@'), *end = at ? strchr(at + 1, '@') : NULL;
        if (!end) {
            fputs(p, f);
            return;
        }
        fwrite(p, 1, (size_t)(at - p), f);
        put_word(f, s, at + 1, (size_t)(end - at - 1));
        p = end + 1;
    }
}

/* ------------------------------------------------------------------ files and the run */
struct files {
    char *folder, *dat, *gp, *picture; /* names without folder; picture NULL for a terminal */
    bool temporary;
};

static bool name_files(struct files *n, const struct plot_options *o)
{
    char dir[] = "/tmp/wakebal-plot-XXXXXX";
    const char *slash = o->base ? strrchr(o->base, '/') : NULL, *stem = slash ? slash + 1 : o->base ? o->base : "plot";
    n->temporary = !o->base;
    if (n->temporary && !mkdtemp(dir)) return false;
    n->folder = n->temporary       ? say("%s", dir)
                : slash == o->base ? say("/")
                : slash            ? say("%.*s", (int)(slash - o->base), o->base)
                                   : say(".");
    n->dat = say("%s.dat", stem);
    n->gp = say("%s.gp", stem);
    n->picture = o->format == PLOT_TERMINAL ? NULL : say("%s.%s", stem, plot_format_name[o->format]);
    return true;
}

static FILE *open_in(const struct files *n, const char *name, char **why)
{
    char *path = say("%s/%s", n->folder, name);
    FILE *f = fopen(path, "we");
    if (!f) *why = say("cannot write '%s': %s", path, strerror(errno));
    free(path);
    return f;
}

static bool close_file(FILE *f, const char *name, char **why)
{
    bool bad = ferror(f) != 0;
    bad |= fclose(f) != 0;
    if (bad) *why = say("cannot write '%s': %s", name, strerror(errno));
    return !bad;
}

static enum plot_status write_files(const struct files *n, const struct plot_options *o, struct plot_input *in,
                                    char **why)
{
    FILE *dat = open_in(n, n->dat, why);
    if (!dat) return PLOT_NO_WRITE;
    bool some = in->n && plot_write_data(dat, o->kind, in);
    if (!close_file(dat, n->dat, why)) return PLOT_NO_WRITE;
    if (!some) {
        char *path = say("%s/%s", n->folder, n->dat);
        (void)unlink(path); /* it is empty */
        free(path);
        if (!*in->metric)
            *why = say("nothing to draw: the result holds no figure of a workload");
        else
            *why = say("nothing to draw: no result has %s of '%.60s'%s",
                       o->kind == PLOT_WINDOWS ? "windows"
                       : o->kind == PLOT_CDF   ? "a histogram"
                                               : "a value",
                       in->metric,
                       o->kind == PLOT_WINDOWS ? "; runs shorter than a window have none: --set run.window=1ms" : "");
        return PLOT_NOTHING;
    }
    FILE *gp = open_in(n, n->gp, why);
    if (!gp) return PLOT_NO_WRITE;
    struct script s = {.o = o, .in = in, .dat = n->dat, .gp = n->gp, .picture = n->picture};
    write_script(gp, &s);
    return close_file(gp, n->gp, why) ? PLOT_DONE : PLOT_NO_WRITE;
}

/* The dumb terminal begins pages with form feeds and pads lines with blanks; escapes go unless colours were
 * asked for. */
static void print_picture(FILE *to, const char *text, bool colour)
{
    size_t blanks = 0;
    for (const char *p = text; p && *p; p++) {
        if (*p == '\f') continue;
        if (*p == '\033' && !colour) {
            p += strcspn(p, "m");
            if (!*p) return;
            continue;
        }
        blanks = *p == ' ' ? blanks + 1 : blanks;
        if (*p == ' ') continue;
        for (; *p != '\n' && blanks; blanks--) fputc(' ', to);
        blanks = 0;
        fputc(*p, to);
    }
}

static enum plot_status run(const struct files *n, const struct plot_options *o, const struct plot_input *in,
                            char **why)
{
    if (o->format == PLOT_TERMINAL && o->kind == PLOT_BARS) { /* boxes of the dumb terminal cannot be read */
        plot_bars_text(o->terminal ? o->terminal : stdout, in, o);
        return PLOT_DONE;
    }
    char *out, *err;
    int rc = plot_run_gnuplot(n->folder, n->gp, &out, &err);
    enum plot_status st = rc < 0 ? PLOT_NO_GNUPLOT : rc ? PLOT_REFUSED : PLOT_DONE;
    if (st == PLOT_NO_GNUPLOT && n->temporary) *why = say("cannot plot: gnuplot not found");
    if (st == PLOT_NO_GNUPLOT && !n->temporary)
        *why = say("cannot plot: gnuplot not found. Data and script were written to %s/%s and %s", n->folder, n->dat,
                   n->gp);
    if (st == PLOT_REFUSED)
        *why = say("gnuplot refused %s/%s: %.600s", n->folder, n->gp, err ? err : "no reason given");
    if (st == PLOT_DONE && o->format == PLOT_TERMINAL)
        print_picture(o->terminal ? o->terminal : stdout, out, o->colour);
    free(out);
    free(err);
    return st;
}

static void forget_files(struct files *n)
{
    const char *name[] = {n->dat, n->gp};
    for (size_t i = 0; n->temporary && i < WB_ARRAY_SIZE(name); i++) {
        char *path = say("%s/%s", n->folder, name[i]);
        unlink(path);
        free(path);
    }
    if (n->temporary) rmdir(n->folder);
    free(n->folder);
    free(n->dat);
    free(n->gp);
    free(n->picture);
}

enum plot_status plot_draw(const json_t *doc, const struct plot_options *o, char **why)
{
    struct plot_input in = {.n = 0};
    struct files n = {0};
    *why = NULL;
    choose_inputs(&in, doc, o);
    if (!name_files(&n, o)) {
        *why = say("cannot make a folder for the plot: %s", strerror(errno));
        return PLOT_NO_WRITE;
    }
    enum plot_status st = write_files(&n, o, &in, why);
    if (st == PLOT_DONE) st = run(&n, o, &in, why);
    forget_files(&n);
    for (size_t i = 0; i < PLOT_BARS_MAX; i++) free(in.label[i]);
    return st;
}
