/*
 * diag.h - what the user did wrong, collected in one pass and printed once.
 *
 * A library function that meets a mistake of the user adds it to a struct wb_diag and goes on as far as it can; the
 * command prints them all and exits. Form: `file:line:col: severity: text   [CODE]`, source line, caret, `= what to
 * do`, include chain. Nothing here prints or exits. Text is copied; control characters of user text are escaped on
 * rendering.
 */
#ifndef WAKEBAL_DIAG_H
#define WAKEBAL_DIAG_H

#include "wakebal/base.h"

enum wb_severity { WB_NOTE, WB_WARNING, WB_ERROR };

/* A place in a user's file. line and col count from 1; 0 = unknown. len = how many columns the caret underlines. */
struct wb_place {
    const char *file; /* NULL: the command line or no file */
    int line, col, len;
};

struct wb_diag; /* opaque; owns copies of everything that is added */

struct wb_diag *wb_diag_new(void);
void wb_diag_free(struct wb_diag *d);

/* Add one message. `code` like "E310" or NULL; `fix` (what to do next) or NULL. `source` is the text of the line or
 * NULL (then it is read from the registered source of place.file, if any). */
void wb_diag_add(struct wb_diag *d, enum wb_severity sev, const char *code, struct wb_place at, const char *fix,
                 const char *fmt, ...) WB_PRINTF(6, 7);
/* Make the text of a file known so that carets can be drawn; includer may be NULL or the place of the @include. */
void wb_diag_source(struct wb_diag *d, const char *file, const char *text, size_t len, const struct wb_place *includer);

size_t wb_diag_count(const struct wb_diag *d, enum wb_severity sev);
/* All messages, in file and line order, as one malloc'd string that the caller frees; the same message is given once,
 * and of one file the first 20 with "... and N more". Ends with "N errors, M warnings.  Nothing was run." when there is
 * an error. colour: ANSI colours. */
char *wb_diag_render(const struct wb_diag *d, bool colour);

/* The nearest of `names` by edit distance, or NULL when nothing is close (distance > max(1, len/3)). Of
 * several as near, one as long as the word: 6.13 is rather 6.12 than 6.1. */
const char *wb_nearest(const char *word, const char *const *names, size_t n);

#endif
