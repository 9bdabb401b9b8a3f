/*
 * exp_costs.h - where every cost comes from, as part of result documents.
 *
 * A cost is a key that the key table calls priced. A row is
 *
 *     { "key", "value", "status": "measured|quoted|derived|assumed|user", "range": "500 cy .. 1800 cy" or null,
 *       "source": text or null, "from": "default|file|base|--set|...", "in": [ names ] }
 *
 * where `in` names the configurations that hold the row, and is left out when all of them do. Rows are in the order
 * of keys. File names are left out: equal runs give equal bytes on any machine.
 */
#ifndef WB_EXPERIMENT_EXP_COSTS_H
#define WB_EXPERIMENT_EXP_COSTS_H

#include <jansson.h>

#include "exp_run.h"
#include "wakebal/config.h"

/* Costs of n configurations (NULL entries are skipped) with their names; name may be NULL when n is 1. New
 * reference. */
json_t *exp_costs_json(const struct wb_config *const *cfg, const char *const *name, size_t n);
/* The same of the points of a study, named by their labels. */
json_t *exp_costs_of_points(const struct exp_point *point, size_t n);
/* Let the JSON of the first result there is carry the costs of all points. */
void exp_costs_attach(struct exp_study *study, const struct exp_point *point);

#endif
