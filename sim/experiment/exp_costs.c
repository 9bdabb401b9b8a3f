/* exp_costs.c - provenance of costs as JSON; see exp_costs.h. */
#include "exp_costs.h"

#include <stdlib.h>
#include <string.h>

#include "config_build.h"
#include "exp_export.h"

/* "500 cy .. 1800 cy", or null. */
static json_t *range_json(const struct cfg_entry *e)
{
    enum wb_unit unit = e->v.cycles ? WB_UNIT_CYCLES : config_unit(e->row->type, e->row->unit);
    char lo[64], hi[64], both[140];
    if (e->origin.range_lo > e->origin.range_hi) return json_null();
    snprintf(both, sizeof both, "%s .. %s", wb_format_exact(lo, sizeof lo, e->origin.range_lo, unit),
             wb_format_exact(hi, sizeof hi, e->origin.range_hi, unit));
    return json_string(both);
}

static json_t *cost_json(const struct wb_config *c, const struct cfg_entry *e)
{
    char value[256];
    json_t *o = json_object();
    json_object_set_new(o, "key", exp_json_text(e->path));
    json_object_set_new(o, "value", exp_json_text(wb_cfg_text(c, e->path, value, sizeof value)));
    json_object_set_new(o, "status", json_string(wb_status_name(e->origin.status)));
    json_object_set_new(o, "range", range_json(e));
    json_object_set_new(o, "source", exp_json_text(e->origin.source));
    json_object_set_new(o, "from", json_string(e->origin.from));
    return o;
}

/* Add a row, or the name to the row that is there; `seen` finds rows by their text. */
static void add_row(json_t *list, json_t *seen, json_t *row, const char *name)
{
    char *text = json_dumps(row, JSON_COMPACT | JSON_PRESERVE_ORDER);
    WB_MEMORY(text, "out of memory for the costs of a result");
    json_t *known = json_object_get(seen, text);
    if (!known) {
        json_object_set(seen, text, row);
        json_array_append(list, row);
        json_object_set_new(row, "in", json_array());
        known = row;
    }
    if (name) json_array_append_new(json_object_get(known, "in"), exp_json_text(name));
    json_decref(row);
    free(text);
}

static int by_key(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    return config_compare_paths(json_string_value(json_object_get(x, "key")),
                                json_string_value(json_object_get(y, "key")));
}

/* In order of keys, rows of the same key in order of their configurations; `in` goes where all hold the row. */
static json_t *sorted(json_t *list, size_t configurations)
{
    size_t n = json_array_size(list);
    json_t **row = calloc(n ? n : 1, sizeof(json_t *)), *out = json_array();
    WB_MEMORY(row, "out of memory for %zu costs", n);
    for (size_t i = 0; i < n; i++) {
        row[i] = json_array_get(list, i);
        size_t in = json_array_size(json_object_get(row[i], "in"));
        if (!in || in == configurations) json_object_del(row[i], "in");
    }
    /* insertion sort keeps the order of equals; the list is nearly sorted, since each configuration is */
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k && by_key(&row[k - 1], &row[k]) > 0; k--) {
            json_t *t = row[k];
            row[k] = row[k - 1], row[k - 1] = t;
        }
    for (size_t i = 0; i < n; i++) json_array_append(out, row[i]);
    free(row);
    json_decref(list);
    return out;
}

json_t *exp_costs_json(const struct wb_config *const *cfg, const char *const *name, size_t n)
{
    json_t *list = json_array(), *seen = json_object();
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const char *path;
        used += cfg[i] != NULL;
        for (size_t k = 0; cfg[i] && (path = wb_cfg_path_at(cfg[i], k)); k++) {
            const struct cfg_entry *e = config_find(cfg[i], path);
            if (e && e->row->flags & WB_KEY_PRICED)
                add_row(list, seen, cost_json(cfg[i], e), n > 1 && name ? name[i] : NULL);
        }
    }
    json_decref(seen);
    return sorted(list, used);
}

json_t *exp_costs_of_points(const struct exp_point *point, size_t n)
{
    const struct wb_config **cfg = calloc(n ? n : 1, sizeof(struct wb_config *));
    const char **name = calloc(n ? n : 1, sizeof *name);
    WB_MEMORY(cfg && name, "out of memory for the costs of %zu points", n);
    for (size_t i = 0; i < n; i++) cfg[i] = point[i].cfg, name[i] = point[i].label;
    json_t *costs = exp_costs_json(cfg, name, n);
    free(cfg);
    free(name);
    return costs;
}

void exp_costs_attach(struct exp_study *study, const struct exp_point *point)
{
    for (size_t i = 0; i < study->n; i++) {
        struct exp_result *res = study->result[i];
        if (!res) continue;
        json_t *costs = exp_costs_of_points(point, study->n);
        free(res->costs);
        res->costs = json_dumps(costs, JSON_COMPACT | JSON_PRESERVE_ORDER);
        json_decref(costs);
        WB_MEMORY(res->costs, "out of memory for the costs of a result");
        return;
    }
}
