/*
 * figure_expr.h - arithmetic over the figures of several variants: "bandwidth[new-free-x4] / 4 /
 * bandwidth[new-free]".
 *
 *     expr    = term { ("+" | "-") term }        term = factor { ("*" | "/") factor }
 *     factor  = [ "-" ] ( number | figure | "(" expr ")" )
 *     figure  = name [ "[" variant "]" ]         name = dotted words, as `wakebal list metrics` prints them
 *
 * "profile.put_pid" is the share of a function in the CPU time, idle time left out, as `run --profile` prints it.
 *
 * A figure without a variant belongs to the one the caller supplies. A figure that does not exist is NAN, and
 * so is what is made of it; so is a division by zero. Parsed into postfix form; no recursion, at most
 * FIGURE_EXPR_MAX items.
 */
#ifndef WB_EXPERIMENT_FIGURE_EXPR_H
#define WB_EXPERIMENT_FIGURE_EXPR_H

#include "wakebal/base.h"

#define FIGURE_EXPR_MAX 128

struct figure_expr; /* opaque */

/* NULL when the text is wrong: *at is the offset of the mistake and *why a static sentence. */
struct figure_expr *figure_expr_parse(const char *text, size_t *at, const char **why) WB_MUST_USE;
void figure_expr_free(struct figure_expr *e);
/* The i-th figure that is named: its variant (NULL = none written) in *variant and its offset in *at. NULL
 * past the end. */
const char *figure_expr_name(const struct figure_expr *e, size_t i, const char **variant, size_t *at);
/* Value of a figure; NAN when there is none. */
typedef double (*figure_lookup)(void *ctx, const char *name, const char *variant);
double figure_expr_value(const struct figure_expr *e, figure_lookup lookup, void *ctx);
/* The text is one figure and nothing else. */
bool figure_expr_plain(const struct figure_expr *e);

#endif
