/*
 * report_inner.h - the parts of a report: text and tables (report_html.c), pictures (report_svg.c, report_charts.c),
 * and what each kind of document becomes (report_run.c, report_checks.c, report_costs.c).
 *
 * All text goes through html_text(), in HTML and in SVG: markup in it is inert, control characters are blanks.
 */
#ifndef WB_PLOTS_REPORT_INNER_H
#define WB_PLOTS_REPORT_INNER_H

#include "report.h"

struct html {
    FILE *f;
    unsigned ids; /* pictures so far, for unique ids */
};

/* ---- report_html.c ---- */
void html_text(FILE *f, const char *text);
/* At most `most` characters of it, with "..." */
void html_text_cut(FILE *f, const char *text, size_t most);
void html_head(struct html *h, const char *title, const char *version);
void html_foot(struct html *h, const char *version);
/* <h2> with an anchor, or <h3> where id is NULL. */
void html_heading(struct html *h, const char *id, const char *text);
/* A paragraph of class (may be ""), printf-like; arguments are escaped as a whole. */
void html_para(struct html *h, const char *class, const char *fmt, ...) WB_PRINTF(3, 4);
/* Columns "name|#figure|...": '#' marks those of numbers. Rows sort by a click on a heading. */
void html_table_begin(struct html *h, const char *caption, const char *columns);
void html_table_end(struct html *h);
void html_row_begin(struct html *h, const char *class);
void html_row_end(struct html *h);
void html_cell(struct html *h, const char *text);
/* The value in its unit; sorted by its size. NAN is a dash. */
void html_cell_value(struct html *h, double v, const char *unit);
void html_cell_range(struct html *h, double lo, double hi, const char *unit);
/* A word with its colour: "good", "bad", "open" or "". */
void html_cell_verdict(struct html *h, const char *word, const char *class);
/* A fact: term and text in a list between begin and end. */
void html_facts_begin(struct html *h);
void html_fact(struct html *h, const char *term, const char *fmt, ...) WB_PRINTF(3, 4);
void html_facts_end(struct html *h);
void html_fold_begin(struct html *h, const char *summary);
void html_fold_end(struct html *h);

/* ---- access to documents ---- */
const char *doc_text(const json_t *o, const char *key);            /* "" when it is none */
double doc_number(const json_t *o, const char *key);               /* NAN when it is none */
double doc_number_at(const json_t *o, const char *key, size_t i);  /* of a list */
char *doc_value_text(const json_t *v, char *buf, size_t n);        /* a scalar as text; returns buf */
char *doc_format(char *buf, size_t n, double v, const char *unit); /* a value for people; returns buf */

/* ---- report_svg.c: a picture with axes; everything in a box of 760 x height ---- */
#define SVG_WIDTH 760.0
struct svg_axis {
    double lo, hi;
    bool log;
    unsigned ticks; /* about so many, unless log; 0 = 5 */
    const char *unit, *label;
    const char *const *name; /* ordinal: what stands at 0, 1, 2 ... ; NULL: numbers */
    size_t nnames;
};
struct svg_frame {
    struct html *h;
    double left, top, width, height;
    struct svg_axis x, y;
};
void svg_begin(struct html *h, double height, const char *title, const char *desc);
void svg_end(struct html *h);
/* anchor: "start", "middle", "end". */
void svg_label(struct html *h, double x, double y, const char *anchor, const char *text);
double svg_x(const struct svg_frame *fr, double v);
double svg_y(const struct svg_frame *fr, double v);
/* Grid, ticks and labels. */
void svg_axes(const struct svg_frame *fr);
/* A tooltip inside an element: "<title>text</title>". */
void svg_tip(struct html *h, const char *text);
/* Limits that hold lo..hi with some air; log limits are decades or 1, 2, 5 of them. */
void svg_axis_fit(struct svg_axis *a, double lo, double hi);
/* The mark of series i around a point: circle, square, triangle, diamond ...; tip may be NULL. */
void svg_mark(struct html *h, size_t series, double x, double y, const char *tip);

/* ---- report_charts.c ---- */
#define CHART_SERIES_MAX 8
struct chart_bar {
    char label[96];
    double mean, lo, hi; /* lo, hi NAN: no interval */
};
void chart_bars(struct html *h, const char *title, const char *unit, const struct chart_bar *bar, size_t n);

struct chart_series {
    const char *name;
    size_t n;
    double *x, *y, *lo, *hi; /* lo, hi may be NULL */
    bool steps;
};
struct chart_lines {
    const char *title, *desc;
    struct svg_axis x, y; /* limits are chosen here; y begins at 0 unless log */
    const struct chart_series *series;
    size_t n;
    bool marks;
};
void chart_lines(struct html *h, struct chart_lines *c);

struct chart_stack {
    const char *title;
    const char *const *part; /* names */
    size_t nparts;
    const char *const *row;
    const double *share; /* [nrows * nparts], 0..1 */
    size_t nrows;
};
void chart_stack(struct html *h, const struct chart_stack *c);

struct chart_dot {
    char label[96];
    double x, y, ylo, yhi;
    int verdict; /* 1 good, 0 open, -1 bad */
};
/* y over x, both logarithmic, with the line y = x: predicted over measured. */
void chart_scatter(struct html *h, const char *title, const char *unit, const struct chart_dot *dot, size_t n);
/* Rows of simulated/published with their intervals, and the wanted range as a band: x is the middle, ylo..yhi the
 * interval around y. want_lo, want_hi: [n], the ratio's wanted range. */
void chart_ratios(struct html *h, const char *title, const struct chart_dot *dot, const double *want, size_t n);

/* ---- sections ---- */
void report_results(struct html *h, const json_t *list, const struct report_input *in);
void report_validation(struct html *h, const struct report_input *in);
void report_cases(struct html *h, const struct report_input *in);
void report_manifest(struct html *h, const json_t *manifest);
/* Of one list of exp_costs.h; `configurations` NULL or what the rows' `in` refers to. */
void report_costs(struct html *h, const json_t *costs, const char *id);
void report_repeat(struct html *h, const struct report_input *in, const json_t *manifest);

/* ---- made by the build from report.css and report.js ---- */
extern const char report_css[];
extern const char report_js[];

#endif
