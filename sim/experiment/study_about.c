#include "study_about.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "exp_export.h"
#include "store_rep.h"

static const char *const stopped_words[] = {"precision reached", "maximum reached", "fixed number", "interrupted"};

static char *copy(const char *text)
{
    char *s = strdup(text ? text : "");
    WB_MEMORY(s, "out of memory for a study");
    return s;
}

/* ------------------------------------------------------------------ writing */
static json_t *params_json(const struct exp_result *res)
{
    json_t *list = json_array();
    for (size_t i = 0; i < res->nparams; i++)
        json_array_append_new(list,
                              json_pack("[o,o]", exp_json_text(res->param[i].key), exp_json_text(res->param[i].value)));
    return list;
}

static json_t *workloads_json(const struct exp_result *res, const struct wb_config *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < res->nworkloads; i++) {
        const char *path = wb_cfg_path("workload[%zu].background", i);
        bool background = wb_cfg_has(c, path) && wb_cfg_bool(c, path);
        json_array_append_new(
            list, json_pack("{s:o,s:b}", "name", exp_json_text(res->workload[i]), "background", background));
    }
    return list;
}

static json_t *goal_json(const struct wb_config *c)
{
    const char *metric = wb_cfg_has(c, "run.replications.metric") ? wb_cfg_str(c, "run.replications.metric") : NULL;
    return json_pack("{s:I,s:I,s:f,s:f,s:o}", "min", (json_int_t)wb_cfg_int(c, "run.replications.min"), "max",
                     (json_int_t)wb_cfg_int(c, "run.replications.max"), "half_width",
                     (double)wb_cfg_int(c, "run.replications.half_width") * 1e-6, "confidence",
                     (double)wb_cfg_int(c, "run.replications.confidence") * 1e-6, "metric", exp_json_text(metric));
}

char *study_about_write(const struct exp_point *p)
{
    struct exp_result *res = exp_result_new(); /* an empty one, to be described like any other */
    exp_result_describe(res, p);
    json_t *o = json_object();
    json_object_set_new(o, "title", exp_json_text(res->title));
    json_object_set_new(o, "machine", exp_json_text(res->machine));
    json_object_set_new(o, "machine_source", exp_json_text(res->machine_source));
    json_object_set_new(o, "calibration", exp_json_text(res->calibration));
    json_object_set_new(o, "kernel", exp_json_text(res->kernel));
    json_object_set_new(o, "scheduler", exp_json_text(res->policy));
    json_object_set_new(o, "params", params_json(res));
    json_object_set_new(o, "workloads", workloads_json(res, p->cfg));
    json_object_set_new(o, "goal", goal_json(p->cfg));
    exp_result_free(res);
    return store_json_text(o);
}

char *study_judgement_write(const struct exp_result *res)
{
    return store_json_text(json_pack("{s:I,s:s,s:b,s:o,s:o}", "replications", (json_int_t)res->replications, "stopped",
                                     res->stopped, "goal_reached", res->goal_reached, "metric",
                                     exp_json_text(res->primary), "half_width", exp_json_number(res->half_width)));
}

/* ------------------------------------------------------------------ reading */
static bool take_text(const json_t *o, const char *key, char **to)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_string(v)) return false;
    free(*to);
    *to = copy(json_string_value(v));
    return true;
}

static bool read_params(const json_t *list, struct exp_result *res)
{
    size_t n = json_array_size(list);
    res->param = calloc(n ? n : 1, sizeof *res->param);
    WB_MEMORY(res->param, "out of memory for a study");
    for (size_t i = 0; i < n; i++) {
        const char *key = json_string_value(json_array_get(json_array_get(list, i), 0)),
                   *value = json_string_value(json_array_get(json_array_get(list, i), 1));
        if (!key || !value) return false;
        res->param[res->nparams++] = (struct exp_param){copy(key), copy(value)};
    }
    return json_is_array(list);
}

static bool read_workloads(const json_t *list, struct exp_result *res, struct study_about *a)
{
    size_t n = json_array_size(list);
    res->workload = calloc(n ? n : 1, sizeof *res->workload);
    a->background = calloc(n ? n : 1, sizeof *a->background);
    WB_MEMORY(res->workload && a->background, "out of memory for a study");
    for (size_t i = 0; i < n; i++) {
        const json_t *w = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(w, "name"));
        if (!name) return false;
        res->workload[res->nworkloads++] = copy(name);
        a->background[a->nbackground++] = json_is_true(json_object_get(w, "background"));
    }
    return json_is_array(list);
}

static bool read_goal(const json_t *o, struct exp_result *res, struct study_about *a)
{
    const json_t *metric = json_object_get(o, "metric");
    a->min = json_integer_value(json_object_get(o, "min"));
    a->max = json_integer_value(json_object_get(o, "max"));
    a->metric = json_is_string(metric) ? copy(json_string_value(metric)) : NULL;
    res->goal = json_number_value(json_object_get(o, "half_width"));
    res->confidence = json_number_value(json_object_get(o, "confidence"));
    return a->min > 0 && a->max > 0 && res->confidence > 0 && res->confidence < 1;
}

int study_about_read(const char *json, struct exp_result *res, struct study_about *a)
{
    json_error_t e;
    json_t *o = json_loads(json, 0, &e);
    *a = (struct study_about){0};
    bool fine = o && take_text(o, "title", &res->title) && take_text(o, "machine", &res->machine) &&
                take_text(o, "machine_source", &res->machine_source) &&
                take_text(o, "calibration", &res->calibration) && take_text(o, "kernel", &res->kernel) &&
                take_text(o, "scheduler", &res->policy) && read_params(json_object_get(o, "params"), res) &&
                read_workloads(json_object_get(o, "workloads"), res, a) &&
                read_goal(json_object_get(o, "goal"), res, a);
    json_decref(o);
    return fine ? 0 : -1;
}

int study_judgement_read(const char *json, struct study_judgement *j)
{
    json_error_t e;
    json_t *o = json_loads(json, 0, &e);
    const char *word = json_string_value(json_object_get(o, "stopped"));
    *j = (struct study_judgement){.replications = (size_t)json_integer_value(json_object_get(o, "replications")),
                                  .goal_reached = json_is_true(json_object_get(o, "goal_reached"))};
    for (size_t i = 0; word && i < WB_ARRAY_SIZE(stopped_words); i++)
        if (!strcmp(word, stopped_words[i])) j->stopped = stopped_words[i];
    json_decref(o);
    return j->stopped && j->replications ? 0 : -1;
}

void study_about_free(struct study_about *a)
{
    free(a->background);
    free(a->metric);
    *a = (struct study_about){0};
}
