/*
 * plot.h - pictures of results: fill a template, write data and script beside the picture, run gnuplot.
 *
 * Input are result documents (schema wakebal.result/1 or wakebal.results/1). Written are BASE.dat, BASE.gp
 * and the picture; the script names the others without folder, so that `cd FOLDER && gnuplot BASE.gp` draws
 * the picture again by hand. Colours are those of Okabe and Ito; every series also has its own dash pattern
 * or place, so that a grey print can be read.
 *
 * All texts of users reach gnuplot inside single quotes or as quoted words of the data file, cleaned of
 * quotes, backquotes, backslashes, control characters and broken UTF-8, at most 100 characters, with
 * `noenhanced`: they are shown, never run.
 */
#ifndef WB_PLOTS_PLOT_H
#define WB_PLOTS_PLOT_H

#include <jansson.h>
#include <stdio.h>

#include "wakebal/base.h"

enum plot_kind { PLOT_WINDOWS, PLOT_BARS, PLOT_CDF, PLOT_KINDS };
extern const char *const plot_kind_name[PLOT_KINDS];
enum plot_format { PLOT_PNG, PLOT_SVG, PLOT_TERMINAL, PLOT_FORMATS };
extern const char *const plot_format_name[PLOT_FORMATS];

struct plot_options {
    enum plot_kind kind;
    enum plot_format format;
    const char *base;        /* path without ending; NULL with PLOT_TERMINAL: nothing is kept */
    const char *title;       /* NULL = the title of the first result */
    const char *metric;      /* NULL = the deciding metric (bars, windows), wake_latency (cdf) */
    const char *command;     /* told in the script's first lines */
    const char *const *only; /* labels to draw, in this order; NULL = all */
    size_t nonly;
    const char *const *name; /* legend for each of `only`; NULL = the labels */
    uint32_t columns, rows;  /* of PLOT_TERMINAL; 0 = 100 x 30 */
    bool colour, unicode;    /* PLOT_TERMINAL: ANSI colours; characters beyond ASCII */
    FILE *terminal;          /* where PLOT_TERMINAL prints */
};

enum plot_status {
    PLOT_DONE,
    PLOT_NOTHING,    /* no such figure, or it has no windows or histogram */
    PLOT_NO_GNUPLOT, /* data and script are written */
    PLOT_REFUSED,    /* gnuplot complained */
    PLOT_NO_WRITE    /* a file could not be written */
};
/* *why: a malloc'd sentence unless PLOT_DONE. */
enum plot_status plot_draw(const json_t *doc, const struct plot_options *o, char **why) WB_MUST_USE;

/* ---- inside plots/ ---- */
#define PLOT_SERIES_MAX 8
#define PLOT_BARS_MAX 40

struct plot_input {
    const json_t *result[PLOT_BARS_MAX];
    char *label[PLOT_BARS_MAX];
    size_t n;
    const char *metric;
    char title[128];
    double scale;   /* base unit -> shown unit */
    char unit[32];  /* shown: "GB/s" */
    double span;    /* largest value shown */
    char axis[192]; /* "bandwidth (GB/s)" */
};
/* Shown text: clean, cut to `columns` characters. Malloc'd. */
char *plot_text(const char *text, size_t columns);
/* The metric of a result by name: of a workload first. NULL: none. */
const json_t *plot_metric(const json_t *result, const char *name);
/* Write the data of the kind; fills n, unit, scale. false: nothing to draw. */
bool plot_write_data(FILE *f, enum plot_kind kind, struct plot_input *in);
/* Bars with intervals as lines of text. */
void plot_bars_text(FILE *to, const struct plot_input *in, const struct plot_options *o);
/* Template text of the kind, made from plots/KIND.gp at build time. */
const char *plot_template(enum plot_kind kind);
/* Run gnuplot on FOLDER/script. Output goes to *out, complaints to *err (malloc'd). -1: not found, else its
 * exit code. */
int plot_run_gnuplot(const char *folder, const char *script, char **out, char **err);

#endif
