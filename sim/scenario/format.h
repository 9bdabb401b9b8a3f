/*
 * format.h - the layout of a scenario file: blanks, indentation, empty lines; never its words.
 *
 * Kept are all words and comments, the division into lines, and wider gaps within a line (columns that somebody lined
 * up). Made regular are indentation, one blank where one belongs, none before ; and , no blanks at the ends of lines,
 * at most one empty line, a newline at the end, no byte-order mark, no carriage returns.
 *
 * A line inside a bracket stands under the first word after that bracket; where nothing follows the bracket on its
 * line, two columns to the right of the line that opened it. A line that begins with the closing bracket stands under
 * the line that opened it. Lines that go on with a value stay at their column, two columns in at least. A comment alone
 * on a line stands with the code, or stays under the comment at the end of the line before when it did.
 * An @include begins its line.
 *
 * Formatting a formatted text changes nothing.
 */
#ifndef WB_SCENARIO_FORMAT_H
#define WB_SCENARIO_FORMAT_H

#include "wakebal/base.h"

/* The formatted text, malloc'd. A fragment is a file that others include inside of a group: its lines stay as far in as
 * the first one. The text must be free of syntax errors (scan_text); any other comes back in some
 * layout with all its words. */
char *format_text(const char *text, size_t len, bool fragment) WB_MUST_USE;
/* Do two texts have the same words, strings and comments in the same order? */
bool format_same_words(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
