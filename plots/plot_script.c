/* plot_script.c - a template becomes a script: the words that all kinds share. */
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"

struct script {
    const struct plot_input *in;
    const char *gp, *picture; /* names without folder */
};

static void put_terminal(FILE *f, const struct plot_input *in)
{
    const struct plot_options *o = in->o;
    if (o->format == PLOT_PNG)
        fprintf(f, "pngcairo size %u,%u font 'Sans,11' background rgb 'white'", in->width, in->height);
    if (o->format == PLOT_SVG)
        fprintf(f, "svg size %u,%u font 'Sans,13' background rgb 'white'", in->width, in->height);
    if (o->format == PLOT_PDF) /* inches: the proportions of the others */
        fprintf(f, "pdfcairo size %.2fin,%.2fin font 'Sans,11' fontscale 0.6 background rgb 'white'", in->width / 120.0,
                in->height / 120.0);
    if (o->format == PLOT_TERMINAL)
        fprintf(f, "dumb size %zu,%u %s", plot_columns(o), o->rows ? o->rows : in->rows, o->colour ? "ansi" : "mono");
}

/* Eight lines that differ in colour, dashes and points. */
static void put_styles(FILE *f)
{
    static const struct {
        const char *colour, *dash;
        int point;
    } style[PLOT_SERIES_MAX] = {
        {"#0072B2", "1", 7},      {"#D55E00", "'-'", 5},   {"#009E73", "'.-'", 9}, {"#CC79A7", "'_.'", 13},
        {"#56B4E9", "(24,6)", 6}, {"#E69F00", "(5,5)", 4}, {"#000000", "'.'", 8},  {"#999999", "(18,4,2,4,2,4)", 12}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(style); i++)
        fprintf(f, "set style line %zu lt %zu lc rgb '%s' lw 2.2 dt %s pt %d ps 1.2\n", i + 1, i + 1, style[i].colour,
                style[i].dash, style[i].point);
}

static void put_head(FILE *f, const struct script *s)
{
    const struct plot_input *in = s->in;
    char command[512];
    fprintf(f, "# %s; run %s\n# Draw again: gnuplot %s\nset terminal ",
            plot_text_into(command, sizeof command, in->o->command ? in->o->command : "wakebal plot", 200), in->run,
            s->gp);
    put_terminal(f, in);
    fputc('\n', f);
    if (s->picture) {
        fputs("set output ", f);
        plot_put_quoted(f, s->picture);
        fputc('\n', f);
    }
    fputs("set encoding utf8\nset datafile missing 'NaN'\n", f);
    put_styles(f);
    if (in->o->format != PLOT_TERMINAL) fputs("set grid back lc rgb '#DDDDDD' lt 1 lw 0.7\n", f);
    fputs("set border 3\nset tics nomirror\nset label 1 ", f);
    plot_put_quoted(f, in->title);
    fputs(" at screen 0.5,screen 1 offset 0,-1.2 center noenhanced\nset label 2 ", f);
    plot_put_quoted(f, in->caption);
    fprintf(f, " at screen 0.99,screen 0 offset 0,0.7 right noenhanced%s\n",
            in->o->format == PLOT_TERMINAL ? ""
            : in->o->format == PLOT_SVG    ? " font ',11' tc rgb '#444444'"
                                           : " font ',9' tc rgb '#444444'");
    fputs("set tmargin 3", f);
}

void plot_put_y_name(FILE *f, const struct plot_input *in, const char *name)
{
    bool terminal = in->o->format == PLOT_TERMINAL;
    fputs(terminal ? "set label 3 " : "set ylabel ", f);
    plot_put_quoted(f, name);
    fputs(terminal ? " at graph 0,graph 1 offset -7,1 left noenhanced" : " noenhanced", f);
}

static bool shared_word(FILE *f, const struct script *s, const char *word)
{
    const struct plot_input *in = s->in;
    if (!strcmp(word, "HEAD")) return put_head(f, s), true;
    if (!strcmp(word, "YLABEL")) return plot_put_quoted(f, in->unit.axis), true;
    if (!strcmp(word, "YNAME")) return plot_put_y_name(f, in, in->unit.axis), true;
    if (!strcmp(word, "YTOGETHER")) return plot_put_y_name(f, in, "share of time on one CPU"), true;
    if (!strcmp(word, "YSHARE")) return plot_put_y_name(f, in, "share of values not above"), true;
    if (!strcmp(word, "DATA")) return plot_put_quoted(f, in->dat), true;
    if (!strcmp(word, "ROWS")) return fprintf(f, "%zu", in->n), true;
    return false;
}

void plot_write_script(FILE *f, const struct plot_input *in, const char *gp, const char *picture)
{
    const struct plot_ops *ops = plot_ops_of[in->o->kind];
    struct script s = {.in = in, .gp = gp, .picture = picture};
    char word[32];
    /* The template of lines is head and panels, and nothing else. */
    for (const char *p = plot_template(in->panelled ? PLOT_LINES : in->o->kind); *p;) {
        const char *at = strchr(p, '@'), *end = at ? strchr(at + 1, '@') : NULL;
        if (!end) {
            fputs(p, f);
            return;
        }
        fwrite(p, 1, (size_t)(at - p), f);
        snprintf(word, sizeof word, "%.*s", (int)(end - at - 1), at + 1);
        bool known = shared_word(f, &s, word) || (ops->word && ops->word(f, in, word));
        WB_CHECK(known, "a template has a word that nobody knows");
        p = end + 1;
    }
}
