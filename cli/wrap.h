/*
 * wrap.h - running text and rows of a list, fitted to the terminal.
 *
 * Widths are columns. The terminal's is what COLUMNS says, else what the terminal says of itself, else 80. Text is
 * counted in bytes: ours is ASCII, and a foreign title that is not breaks a little early. Nothing fails.
 */
#ifndef WB_CLI_WRAP_H
#define WB_CLI_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Columns of running text on the standard output: at least 30. */
size_t wrap_width(void);
/* The same for lists of one row an entry; 0 = no limit: into a pipe or a file each row stays one line, for grep. */
size_t wrap_list_width(void);
/* Print `text` wrapped to `width` columns, each line after `indent` blanks. Words longer than a line stay whole. */
void wrap_print(FILE *out, const char *text, size_t indent, size_t width);
/* Print `head`, then `text` from `column` on, wrapped there; below the head where the text would be too narrow. width
 * 0: all on one line. */
void wrap_row(FILE *out, const char *head, const char *text, size_t column, size_t width);
/* First sentence of a text, without its full stop; into buf, returns buf. */
char *wrap_first_sentence(const char *text, char *buf, size_t n);

#endif
