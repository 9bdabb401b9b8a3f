/*
 * store_rep.h - one replication as text, and back: what a study keeps of a run.
 *
 * Two JSON texts. The layout says what a run reports (names, units, definitions of its metrics, its functions, its
 * rules); all replications of a point share one, as a rule. The body holds the figures in the order of the layout.
 * Together they restore a struct exp_rep bit for bit: reals are written with 17 digits, 64-bit and wider integers as
 * hexadecimal text where they may exceed 2^63, NAN as null.
 */
#ifndef WB_EXPERIMENT_STORE_REP_H
#define WB_EXPERIMENT_STORE_REP_H

#include <jansson.h>

#include "exp_result.h"

/* One line of a document that is dropped; malloc'd. */
char *store_json_text(json_t *o);
/* Malloc'd texts; the caller frees both. */
void store_rep_write(const struct exp_rep *rep, char **layout, char **body);
/* 0 with *rep filled (exp_rep_free), or -1: the texts are not what store_rep_write() makes. */
int store_rep_read(const char *layout, const char *body, uint32_t replication, struct exp_rep *rep) WB_MUST_USE;

#endif
