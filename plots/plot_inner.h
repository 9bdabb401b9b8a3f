/*
 * plot_inner.h - inside plots/: what the kinds share.
 *
 * A kind is a row of struct plot_ops. plot_draw() lets it prepare (read the document, choose axes and units),
 * write its data, and fill its template plots/KIND.gp: words between @ signs are replaced, first by those all kinds
 * share (plot_script.c), then by its own. Where characters do better than gnuplot's dumb terminal it has a text form.
 */
#ifndef WB_PLOTS_PLOT_INNER_H
#define WB_PLOTS_PLOT_INNER_H

#include "plot.h"

#define PLOT_BARS_MAX 40
#define PLOT_PANELS_MAX 9

struct plot_unit {
    double scale;   /* base unit -> shown unit */
    char text[32];  /* shown: "GB/s" */
    char axis[192]; /* "bandwidth (GB/s)" */
};

struct plot_input {
    const struct plot_options *o;
    const json_t *doc;
    const json_t **result; /* [n] results, those of o->keep or o->only */
    char **label;          /* [n] clean */
    size_t n, all;         /* all: before a limit took some away */
    const char *metric;
    char title[160], caption[240], run[64];
    struct plot_unit unit;
    double span;            /* largest value shown */
    uint32_t width, height; /* of the picture, pixels */
    uint32_t rows;          /* of the terminal's picture */
    bool panelled;          /* small multiples of a kind that has a template for one panel */
    void *own;              /* of the kind */
    char why[512];          /* when prepare() says no */
    const char *dat;        /* name of the data file, without folder */
};

enum {
    PLOT_OBEYS_METRIC = 1,
    PLOT_OBEYS_X = 2,
    PLOT_OBEYS_Y = 4,
    PLOT_OBEYS_SERIES = 8,
    PLOT_OBEYS_FACETS = 16,
    PLOT_OBEYS_ONLY = 32
};

struct plot_ops {
    const char *name, *schema; /* what schema begins with */
    unsigned obeys;            /* which options on points mean something */
    bool (*prepare)(struct plot_input *in);
    void (*data)(FILE *f, const struct plot_input *in);
    bool (*word)(FILE *f, const struct plot_input *in, const char *word); /* false: not mine; may be NULL */
    void (*text)(FILE *to, const struct plot_input *in);                  /* NULL: the dumb terminal draws */
    /* under what the dumb terminal drew: intervals; may be NULL */
    void (*notes)(FILE *to, const struct plot_input *in);
    void (*forget)(struct plot_input *in); /* frees own; NULL: free() */
};
extern const struct plot_ops *const plot_ops_of[PLOT_KINDS];
extern const struct plot_ops plot_windows, plot_bars, plot_cdf, plot_lines, plot_heat, plot_stacks, plot_migrations,
    plot_timeline, plot_scatter, plot_tornado;

/* ---- texts ---- */
/* Shown text: clean, cut to `columns` characters. Malloc'd. */
char *plot_text(const char *text, size_t columns);
/* The same into a buffer. */
char *plot_text_into(char *buf, size_t n, const char *text, size_t columns);
/* Characters of UTF-8 text. */
size_t plot_text_columns(const char *text);
/* Into a script, in single quotes. */
void plot_put_quoted(FILE *f, const char *text);
/* Into data: " %.9g", " NaN" when unknown. */
void plot_put(FILE *f, double v);
/* Malloc'd; ends the program without memory. */
void *plot_need(void *p);

/* ---- documents ---- */
const char *plot_string(const json_t *o, const char *key); /* "" when there is none */
double plot_number(const json_t *v);                       /* NAN when it is none */
struct plot_value {
    double mean, lo, hi; /* lo, hi NAN: no interval */
};
struct plot_value plot_value_of(const json_t *result, const char *metric);
/* "4.0 +- 1.3" (exp_format_interval) of a value times `scale`; sign: how +- is written. The short form has no
 * blanks. */
void plot_interval_text(char *buf, size_t n, struct plot_value v, double scale, const char *sign);
void plot_interval_short(char *buf, size_t n, struct plot_value v, double scale, const char *sign);
/* Results for which has() holds, at most `most`; sets n and all. false: none. */
bool plot_keep_with(struct plot_input *in, bool (*has)(const json_t *result, const char *metric), size_t most);
bool plot_has_mean(const json_t *result, const char *metric);
/* Unit fit for values up to `largest`; the axis names `what`. */
void plot_choose_unit(struct plot_unit *u, const char *what, const char *unit, double largest);
/* Unit for in->metric and in->span over means and upper ends of all results. */
void plot_unit_of_means(struct plot_input *in);

/* ---- axes of a sweep (plot_axis.c) ---- */
struct plot_tick {
    char *text; /* as it was written: "64 KiB" */
    double at;  /* numeric: the value in base units, else its index */
};
struct plot_axis {
    char name[96]; /* shown: "copies"; "" = no such axis: one value */
    char **key;
    size_t nkeys;
    struct plot_tick *value;
    size_t n;
    bool numeric, log;
    size_t *place; /* [in->n] which value each result has */
};
struct plot_axes {
    struct plot_axis x, series, facet; /* heat: series is y */
};
/* Read o->x, o->series (or o->y), o->facets, choose what is not named. false: in->why. */
bool plot_axes_read(struct plot_input *in, struct plot_axes *a, bool heat);
/* Read o->facets alone; what else tells results of a panel apart becomes the series. false: in->why. */
bool plot_axes_read_facets(struct plot_input *in, struct plot_axes *a, size_t most_series);
void plot_axes_free(struct plot_axes *a);
/* The result at this place, or SIZE_MAX. */
size_t plot_axes_find(const struct plot_input *in, const struct plot_axes *a, size_t x, size_t series, size_t facet);
/* "('1 KiB' 1024, ...)", at most `most`; by = the index instead of the value. */
void plot_put_ticks(FILE *f, const struct plot_axis *a, size_t most, bool by_index);
/* The panels of a picture, one a facet, and room for `key_rows` lines of legend over and `right` columns beside
 * them. */
struct plot_panels {
    size_t n;
    unsigned columns, rows, key_rows, left, right;
};
struct plot_panels plot_panels_of(struct plot_input *in, size_t n); /* sets in->height and in->rows */
/* Labels and title of the i-th: x names go under the lowest, y names beside the first of a row. */
void plot_put_panel(FILE *f, const struct plot_input *in, const struct plot_panels *p, size_t i,
                    const struct plot_axis *facet, const char *x_name, const char *y_name);
/* Lines that a legend of these texts needs, and its place over the panels. */
unsigned plot_key_rows(const struct plot_input *in, char *const *text, size_t n, size_t *columns);
void plot_put_key(FILE *f, const struct plot_input *in, const struct plot_panels *p, size_t columns);
/* Only a part of the i-th panel's height, from 0 (bottom) to 1: for two plots over each other in one panel. */
void plot_put_panel_part(FILE *f, const struct plot_input *in, const struct plot_panels *p, size_t i, double from,
                         double until);
/* The same as a panel of its own; `entries` writes what is plotted: NaN with titles. */
void plot_put_key_panel(FILE *f, const struct plot_input *in, const struct plot_panels *p, size_t columns,
                        void (*entries)(FILE *f, const struct plot_input *in));
/* "copies=4", or the value alone where it explains itself. Malloc'd. */
char *plot_value_name(const struct plot_axis *a, size_t i);

/* ---- small multiples (plot_facets.c) ---- */
/* For kinds that draw a curve or a row a result: with o->facets the results are dealt out to panels, and a curve has
 * the same look in all of them. The script is then "@HEAD@ @PANELS@" instead of the kind's template. */
struct plot_facets {
    struct plot_axes axes; /* x is not used */
    struct plot_panels panels;
    char **name; /* [axes.series.n] of the curves; NULL: there is one a panel, and it needs no name */
    size_t key_columns;
};
/* Sets in->panelled. NULL: in->why. */
struct plot_facets *plot_facets_read(struct plot_input *in, size_t most_series);
void plot_facets_free(struct plot_facets *f);
/* Legend of the curves, in the looks of plot_lines: the begin of a multiplot. */
void plot_facets_begin(FILE *f, const struct plot_input *in, const struct plot_facets *fa,
                       void (*entries)(FILE *f, const struct plot_input *in));
/* "NaN with linespoints ls 1 title 'copies=1', ..." */
void plot_facets_entries(FILE *f, const struct plot_facets *fa);
/* Curves of a panel: column `column` over column 1 of the blocks of its results, which stand in order of results. */
void plot_facets_curves(FILE *f, const struct plot_input *in, const struct plot_facets *fa, size_t panel,
                        const char *column);

/* ---- scripts, files, gnuplot ---- */
void plot_write_script(FILE *f, const struct plot_input *in, const char *gp, const char *picture);
/* Template text of the kind, made from plots/KIND.gp at build time. */
const char *plot_template(enum plot_kind kind);
enum plot_status plot_make_files(struct plot_input *in, char **why);
/* Run gnuplot on FOLDER/script. Output goes to *out, complaints to *err (malloc'd). -1: not found, else its
 * exit code. */
int plot_run_gnuplot(const char *folder, const char *script, char **out, char **err);
char *plot_say(const char *fmt, ...) WB_PRINTF(1, 2); /* malloc'd */

/* Name the vertical axis, with its unit. A terminal has no vertical text and hardly a margin: there the name stands on
 * the line above the axis. Writes no line end. */
void plot_put_y_name(FILE *f, const struct plot_input *in, const char *name);

/* ---- terminal ---- */
/* `share` of `width` filled, with the interval marked when lo < hi. */
struct plot_bar {
    double mean, lo, hi; /* shares of the width */
};
void plot_put_bar(FILE *to, struct plot_bar b, size_t width, const struct plot_options *o);
/* Width of the terminal. */
size_t plot_columns(const struct plot_options *o);
extern const char plot_shades[11]; /* " .:-=+*#%@" */

#endif
