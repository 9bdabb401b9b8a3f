/*
 * expr.h - inside of expressions: what the loader asks beyond evaluating them.
 */
#ifndef WB_SCENARIO_EXPR_H
#define WB_SCENARIO_EXPR_H

#include "config_build.h"

/* Are all names of the expression keys or facts? Adds errors at their places. 0 or -1. unsure: the config has mistakes
 * that are reported; a key that is missing for them is none more. */
int expr_check_names(const struct wb_expr *e, const struct wb_config *c, bool unsure, struct wb_diag *d);
/* "machine.cpus" and the other names that are no keys. */
bool expr_is_fact(const char *name);
/* The concrete path that a short one means ("workload.message", "workload.NAME.message") in a finished config. False:
 * none. */
bool config_resolve(const struct wb_config *c, const char *key, char path[512]);
#endif
