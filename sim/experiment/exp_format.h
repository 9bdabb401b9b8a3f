/*
 * exp_format.h - figures and texts for people: values with their units, text made harmless for each output.
 *
 * Texts come from users (titles, names, labels). None of them may act: not in a terminal (escape sequences),
 * a spreadsheet (formulas), Markdown (markup) or JSON (broken UTF-8). All functions return malloc'd strings
 * unless a buffer is given.
 */
#ifndef WB_EXPERIMENT_EXP_FORMAT_H
#define WB_EXPERIMENT_EXP_FORMAT_H

#include <stdio.h>

#include "wakebal/base.h"

/* "5.00 GB/s", "4.10 us", "37.2 %" (unit "%" asks for it), "18,402 /s", "4.02"; "-" for NAN. `unit` is a
 * metric's base unit. For people only: files for programs (CSV, JSON, gnuplot data) have plain numbers. Returns buf. */
char *exp_format_value(char *buf, size_t n, double value, const char *unit);
/* A mean and the half width of its interval in one unit with the same decimals, as many as give the half width two
 * digits (at most six): "1.45000 +- 0.00017 GB/s", "116,471 +- 23 /s". A half width of nothing: "1.45 +- 0 GB/s"; one
 * that is not known (NAN, INFINITY): the mean alone. Returns buf. */
char *exp_format_interval(char *buf, size_t n, double mean, double half, const char *unit, const char *plus_minus);
/* "1.44983 .. 1.45017 GB/s", by the same rules; "-" when an end is not known. Returns buf. */
char *exp_format_range(char *buf, size_t n, double lo, double hi, const char *unit);
/* "37.2 %". Returns buf. */
char *exp_format_percent(char *buf, size_t n, double ratio, int decimals);

/* Read `n` bytes as a value of a metric with this unit: "4", "5 GB/s", "10 us", "20 %". All of them must be
 * used up. */
bool exp_parse_value(const char *text, size_t n, const char *unit, double *v);

/* For a terminal: control characters and broken UTF-8 become '?', newlines blanks; cut to `columns`
 * characters with "..." (0 = whole). */
char *exp_text_terminal(const char *text, size_t columns);
/* Length of the valid UTF-8 sequence at `text` (1..4), or 0 when it is broken, overlong, a surrogate or too large. */
size_t exp_text_sequence(const void *text);
/* Is the UTF-8 sequence of n bytes one that a terminal obeys or that reorders a line: C0, DEL, C1, bidirectional
 * overrides? */
bool exp_text_is_control(const void *sequence, size_t n);
/* Valid UTF-8: broken bytes become U+FFFD. */
char *exp_text_utf8(const char *text);
/* A CSV field: quoted when needed; text that a spreadsheet would take for a formula is preceded by an apostrophe. */
char *exp_text_csv(const char *text);
/* One cell of a Markdown table: markup, pipes, HTML and newlines are inert. */
char *exp_text_markdown(const char *text);
/* Print `text` (NULL = "") as one of these functions makes it. */
void exp_put_text(FILE *out, char *(*safe)(const char *), const char *text);
/* What a writer ends with: flushed; 0, or -errno of the stream. */
int exp_stream_state(FILE *out) WB_MUST_USE;
/* How many terminal columns valid UTF-8 text takes (one per code point: no wide or combining characters in
 * our own text). */
size_t exp_text_columns(const char *text);

#endif
