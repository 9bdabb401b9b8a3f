/*
 * wrap.h - running text on a terminal of 80 columns.
 */
#ifndef WB_CLI_WRAP_H
#define WB_CLI_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Print `text` wrapped to `width` columns, each line after `indent` blanks. Words longer than a line stay whole. */
void wrap_print(FILE *out, const char *text, size_t indent, size_t width);
/* First sentence of a text, without its full stop; into buf, returns buf. */
char *wrap_first_sentence(const char *text, char *buf, size_t n);

#endif
