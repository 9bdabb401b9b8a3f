/*
 * plot.h - pictures of results: fill a template, write data and script beside the picture, run gnuplot.
 *
 * Input are documents: results (wakebal.result/1, wakebal.results/1; a study is read into one), validations
 * (wakebal.validation/1), cases (wakebal.cases/1), and two that are made of a trace (wakebal.timeline/1 and
 * wakebal.migrations/1; see plot_gantt.c and plot_matrix.c). Written are BASE.dat, BASE.gp and the picture; the
 * script names the others without folder, so that `cd FOLDER && gnuplot BASE.gp` draws the picture again by hand.
 * Colours are those of Okabe and Ito; every series also has its own dash pattern, point, letter or place, so that a
 * grey print can be read.
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

enum plot_kind {
    PLOT_WINDOWS,
    PLOT_BARS,
    PLOT_CDF,
    PLOT_LINES,
    PLOT_HEAT,
    PLOT_STACKS,
    PLOT_MIGRATIONS,
    PLOT_TIMELINE,
    PLOT_SCATTER,
    PLOT_TORNADO,
    PLOT_KINDS
};
extern const char *const plot_kind_name[PLOT_KINDS];
enum plot_format { PLOT_PNG, PLOT_SVG, PLOT_PDF, PLOT_TERMINAL, PLOT_FORMATS };
extern const char *const plot_format_name[PLOT_FORMATS];
#define PLOT_SERIES_MAX 8 /* lines of one panel; more are refused, or left out where it is said */

struct plot_options {
    enum plot_kind kind;
    enum plot_format format;
    const char *base;        /* path without ending; NULL with PLOT_TERMINAL: nothing is kept */
    const char *title;       /* NULL = the title of the first result */
    const char *metric;      /* NULL = the deciding metric, wake_latency (cdf), the first case's first row (tornado) */
    const char *command;     /* told in the script's first lines */
    const char *const *only; /* labels to draw, in this order; NULL = all */
    size_t nonly;
    const char *const *name; /* legend for each of `only`; NULL = the labels */
    /* Axes of a sweep, by key ("workload.copies") or its last words ("copies"); several with commas. NULL: chosen.
     * lines: x, series, facets; heat: x, y, facets; bars: x, series and facets are the order, series the colour;
     * windows, cdf, stacks: facets, and what else differs becomes curves or rows. */
    const char *x, *y, *series, *facets;
    const char *const *keep; /* "KEY=VALUE[,VALUE]": only points with these coordinates; all must hold */
    size_t nkeep;
    uint32_t columns, rows; /* of PLOT_TERMINAL; 0 = 100 x 30 */
    bool colour, unicode;   /* PLOT_TERMINAL: ANSI colours; characters beyond ASCII */
    FILE *terminal;         /* where PLOT_TERMINAL prints */
};

enum plot_status {
    PLOT_DONE,
    PLOT_NOTHING,    /* the document has nothing that this kind could draw */
    PLOT_NO_GNUPLOT, /* data and script are written */
    PLOT_REFUSED,    /* gnuplot complained */
    PLOT_NO_WRITE    /* a file could not be written */
};
/* The first option ("--x") of *o that its kind would not obey; NULL: there is none. */
const char *plot_option_unused(const struct plot_options *o);
/* *why: a malloc'd sentence unless PLOT_DONE. */
enum plot_status plot_draw(const json_t *doc, const struct plot_options *o, char **why) WB_MUST_USE;
/* The kind that suits a document best when nobody says; PLOT_KINDS: it is none of ours. */
enum plot_kind plot_kind_for(const json_t *doc);
/* The metric of a result by name: of a workload first; "NAME@WORKLOAD" picks. NULL: none. */
const json_t *plot_metric(const json_t *result, const char *name);

#endif
