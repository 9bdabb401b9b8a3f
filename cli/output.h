/*
 * output.h - what verbs print: tables, colours, progress, files.
 *
 * Data goes to stdout, everything else to stderr. Progress leaves nothing behind on a
 * terminal; in a log it is a line every half minute. Text of users is made harmless before it reaches a terminal
 * (exp_text_terminal).
 */
#ifndef WB_CLI_OUTPUT_H
#define WB_CLI_OUTPUT_H

#include <stdio.h>

#include "exp_run.h"
#include "options.h"

/* ---- colours: empty strings when there is none ---- */
struct out_style {
    const char *bold, *good, *bad, *warn, *dim, *off;
    const char *plus_minus; /* with or without Unicode */
};
struct out_style out_style(const struct cli_options *o, int fd);

/* A line that holds names of users or from a file: they are made harmless, and line ends within are blanks. */
void out_line(FILE *to, const char *fmt, ...) WB_PRINTF(2, 3);

/* ---- tables ---- */
#define OUT_COLUMNS_MAX 16
/* Rows are kept until the table is printed, since widths are only known then. '<' = left, '>' = right; texts
 * are copied and made harmless. A row of NULLs is a line. colour: one of the styles for the whole cell, or
 * NULL. */
struct out_table;
struct out_table *out_table_new(const char *align);
void out_table_row(struct out_table *t, const char *const *cell);
void out_table_colour(struct out_table *t, size_t column, const char *colour); /* of the last row's cell */
/* Print with `indent` blanks in front and two between columns. Column `cut` (SIZE_MAX = none) is shortened
 * with "..." so that lines keep to `width` columns. Frees the table. */
void out_table_print(struct out_table *t, FILE *to, size_t indent, size_t cut, size_t width, const char *off);

/* ---- progress ---- */
/* On a terminal one line that is drawn anew; elsewhere a plain line every 30 s, so that logs show life (--progress
 * always: every second). A line comes even while no run ends: a thread of its own watches the clock. */
struct out_progress {
    enum cli_when mode;
    bool active, terminal;
    int64_t started, drawn; /* ns of the monotonic clock: of this stage, of the last line */
    bool line;              /* a line stands on the terminal */
    const char *what;       /* "variants", "points" */
    struct exp_progress now;
    bool known; /* `now` holds something */
    struct out_watch *watch;
};
void out_progress_init(struct out_progress *p, const struct cli_options *o, const char *what);
void out_progress_step(struct out_progress *p,
                       const struct exp_progress *now); /* for exp_options.progress, through a wrapper */
void out_progress_end(struct out_progress *p);

/* ---- interruption: SIGINT, SIGTERM and SIGHUP (the terminal is gone) set it, a second one ends the program. Who
 * started it with one of them ignored (nohup, a job in the background) has it ignored. ---- */
extern volatile int out_stop;
void out_catch_signals(void);
int out_stop_exit_code(void); /* 130, 143 or 129 */

/* ---- files: "-" is stdout ---- */
/* Let `write` fill the file: a temporary one in the same folder that takes its place when complete. `write` returns 0,
 * -errno, or -1: the stream took no more. Prints the reason and returns EXIT_OUTPUT when it cannot, else EXIT_FINE. */
int out_file(const char *path, int (*write)(FILE *to, void *ctx), void *ctx);
/* The same for a file that may not exist yet. */
int out_file_new(const char *path, int (*write)(FILE *to, void *ctx), void *ctx);
/* Writers for it. ctx: a text; a JSON document, in order or sorted by keys. */
int out_put_text(FILE *to, void *ctx);
/* The text of a scenario, machine or kernel file, as `wakebal fmt` lays it out. */
int out_put_scenario(FILE *to, void *ctx);
int out_put_json(FILE *to, void *ctx);
int out_put_sorted_json(FILE *to, void *ctx);
/* Could out_file() begin? Tries and leaves all as it was. 0 or -errno; prints nothing. */
int out_file_possible(const char *path);

/* "1,284,305" */
char *out_thousands(char *buf, size_t n, double v);

#endif
