/* valid_json.c - a validation as JSON, schema wakebal.validation/1: predictions first, measurements when there are
 * some. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exp_costs.h"
#include "exp_export.h"
#include "exp_file.h"
#include "real_json.h"
#include "valid.h"

static json_t *prediction_json(const struct valid_case *c)
{
    json_t *o = json_pack("{s:o,s:o,s:o,s:o}", "value", exp_json_number(c->mean), "lo", exp_json_number(c->lo), "hi",
                          exp_json_number(c->hi), "together", exp_json_number(c->mode_together));
    for (int k = 0; k < VALID_TOGETHER; k++)
        json_object_set_new(o, valid_figures[k].name, exp_json_number(c->figure[k].predicted));
    json_object_set_new(o, "reason", json_string(c->reason));
    return o;
}

static json_t *runs_json(const double *v, uint32_t n)
{
    json_t *runs = json_array();
    for (uint32_t i = 0; i < n; i++) json_array_append_new(runs, exp_json_number(v[i]));
    return runs;
}

/* Of the throughput: "p10" and "p90" are of its runs. What was measured beside it, percentiles of latency among it, is
 * in "figures". */
static json_t *measurement_json(const struct valid_case *c)
{
    json_t *o =
        json_pack("{s:o,s:o,s:o,s:o,s:i,s:o}", "median", exp_json_number(c->median), "p10", exp_json_number(c->p10),
                  "p90", exp_json_number(c->p90), "runs", runs_json(c->real, c->rounds), "dropped", (int)c->dropped,
                  "together", exp_json_number(c->real_mode_together));
    json_object_set_new(o, "moved", json_integer(c->moved));
    json_object_set_new(o, "line_ns", runs_json(c->line_ns, c->rounds));
    return o;
}

/* What is compared beside the throughput: each figure with its runs and its verdict (null: not compared). */
static json_t *figures_json(const struct valid_case *c)
{
    json_t *list = json_object();
    for (int k = 0; k < VALID_FIGURES; k++) {
        const struct valid_figure *f = &c->figure[k];
        json_object_set_new(list, valid_figures[k].name,
                            json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "unit", valid_figures[k].unit, "predicted",
                                      exp_json_number(f->predicted), "median", exp_json_number(f->median), "p10",
                                      exp_json_number(f->p10), "p90", exp_json_number(f->p90), "runs",
                                      runs_json(f->real, c->rounds), "right",
                                      f->scored ? json_boolean(f->right) : json_null()));
    }
    return list;
}

static json_t *case_json(const struct valid_case *c, bool measured)
{
    json_t *keys = json_object(), *load = json_array();
    for (size_t i = 0; i < c->nkeys; i++) json_object_set_new(keys, c->key[i], json_string(c->value[i]));
    for (size_t i = 0; i < WB_ARRAY_SIZE(c->background); i++)
        if (c->background[i][0]) json_array_append_new(load, json_string(c->background[i]));
    json_t *o = json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:b}", "name", c->name, "kind", real_kind_name(c->kind),
                          "class", valid_classes[c->klass].name, "metric", c->metric ? c->metric : "", "unit",
                          c->unit ? c->unit : "", "keys", keys, "background", load, "placement", c->placement);
    json_object_set_new(o, "predicted", c->predicted ? prediction_json(c) : json_null());
    if (c->failed[0]) json_object_set_new(o, "left_out", json_string(c->failed));
    if (!measured) return o;
    char why[96];
    if (valid_why_dropped(c, why, sizeof why)) json_object_set_new(o, "left_out", json_string(why));
    json_object_set_new(o, "measured", c->scored ? measurement_json(c) : json_null());
    if (c->scored)
        json_object_set_new(o, "score",
                            json_pack("{s:o,s:b,s:b,s:b,s:i,s:b,s:o}", "error", exp_json_number(c->error), "right",
                                      c->right, "in_range", c->by_range, "covered", c->covered, "runs_covered",
                                      (int)c->runs_covered, "bimodal", c->bimodal, "band",
                                      exp_json_number(valid_classes[c->klass].band)));
    if (c->scored) json_object_set_new(o, "figures", figures_json(c));
    return o;
}

/* Of the machine and the kernel that were predicted with; null when they cannot be read any more. */
static json_t *costs_json(const struct valid_env *env)
{
    struct wb_overrides over = {.machine = env->machine, .kernel = env->kernel};
    struct wb_diag *d = wb_diag_new();
    struct wb_scenario *s = wb_scenario_load("pipe", env->keys, &over, d);
    const struct wb_config *cfg = s ? wb_scenario_config(s) : NULL;
    json_t *costs = cfg ? exp_costs_json(&cfg, NULL, 1) : json_null();
    wb_scenario_free(s);
    wb_diag_free(d);
    return costs;
}

/* How many of each figure were compared and right, and the band. */
static json_t *counts_json(const struct valid_set *v)
{
    json_t *o = json_object();
    for (int k = 0; k < VALID_FIGURES; k++)
        json_object_set_new(o, valid_figures[k].name,
                            json_pack("{s:i,s:i,s:s}", "right", (int)v->figure[k].right, "scored",
                                      (int)v->figure[k].scored, "band", valid_figures[k].band));
    return o;
}

json_t *valid_json(const struct valid_set *v, const struct valid_env *env, bool measured)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->n; i++) json_array_append_new(list, case_json(&v->c[i], measured));
    json_t *o = json_pack("{s:s,s:s,s:s,s:i}", "schema", "wakebal.validation/1", "machine", env->machine, "kernel",
                          env->kernel, "replications", (int)env->replications);
    if (env->scale)
        json_object_set_new(o, "scaled",
                            json_pack("{s:s,s:o}", "key", env->scale, "by", exp_json_number(env->scale_key)));
    if (measured) {
        json_object_set_new(o, "predictions_sha256", json_string(v->hash));
        json_object_set_new(o, "summary",
                            json_pack("{s:i,s:i,s:o,s:i,s:i,s:i,s:i,s:i}", "scored", (int)v->scored, "right",
                                      (int)v->right, "median_error", exp_json_number(v->median_error), "covered",
                                      (int)v->covered, "runs", (int)v->runs, "runs_covered", (int)v->runs_covered,
                                      "inversions", (int)v->inversions, "pairs", (int)v->pairs));
    }
    if (measured) json_object_set_new(o, "line_ns_calibrated", exp_json_number(v->line_ns));
    if (measured) json_object_set_new(o, "figures", counts_json(v));
    json_object_set_new(o, "cases", list);
    json_object_set_new(o, "costs", costs_json(env));
    return o;
}

static double number_or_nan(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static double run_of(const json_t *figure, size_t i)
{
    const json_t *v = json_array_get(json_object_get(figure, "runs"), i);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static void take_case(struct valid_case *c, const json_t *recorded)
{
    const json_t *measured = json_object_get(recorded, "measured"), *figures = json_object_get(recorded, "figures");
    const json_t *runs = json_object_get(measured, "runs"), *run;
    double together = number_or_nan(measured, "together");
    size_t i;
    json_array_foreach(runs, i, run)
    {
        if (c->rounds == VALID_ROUNDS_MAX || !json_is_number(run)) continue;
        for (int k = 0; k < VALID_FIGURES; k++)
            valid_note_figure(c, (enum valid_figure_kind)k, run_of(json_object_get(figures, valid_figures[k].name), i));
        c->real[c->rounds] = json_number_value(run);
        c->line_ns[c->rounds] = NAN;
        c->real_together[c->rounds++] = together;
    }
}

int valid_take_recorded(struct valid_set *v, const char *path, struct wb_diag *d)
{
    json_error_t e;
    json_t *o = exp_json_load(path, &e);
    const char *schema = json_string_value(json_object_get(o, "schema"));
    if (!o || !schema || strcmp(schema, "wakebal.validation/1")) {
        wb_diag_add(d, WB_ERROR, "E901",
                    (struct wb_place){.file = path, .line = o ? 0 : e.line, .col = o ? 0 : e.column},
                    "give what `wakebal validate --export-json FILE` wrote", "%s",
                    o ? "this is no validation (schema wakebal.validation/1)" : e.text);
        json_decref(o);
        return -1;
    }
    const json_t *list = json_object_get(o, "cases"), *one;
    size_t k;
    json_array_foreach(list, k, one)
    {
        const char *name = json_string_value(json_object_get(one, "name"));
        for (size_t i = 0; name && i < v->n; i++)
            if (!strcmp(v->c[i].name, name)) take_case(&v->c[i], one);
    }
    for (size_t i = 0; i < v->n; i++)
        if (!v->c[i].rounds && !v->c[i].failed[0])
            snprintf(v->c[i].failed, sizeof v->c[i].failed, "not in the recording");
    json_decref(o);
    return 0;
}
