#include "compare_input.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exp_file.h"
#include "study.h"

static void *need(void *p)
{
    WB_MEMORY(p, "out of memory for a comparison");
    return p;
}

static char *copy(const char *text)
{
    return text ? need(strdup(text)) : NULL;
}

/* ------------------------------------------------------------------ results of a study */
static void take_metric(struct compare_metric *to, const struct exp_result *r, const struct exp_metric *m)
{
    *to = (struct compare_metric){.name = copy(m->name),
                                  .workload = copy(exp_result_workload(r, m->instance)),
                                  .unit = copy(m->unit),
                                  .better = m->better,
                                  .sample = need(calloc(m->n ? m->n : 1, sizeof(double))),
                                  .n = m->n};
    if (m->n) memcpy(to->sample, m->sample, m->n * sizeof *m->sample);
}

static void take_result(struct compare_point *p, const struct exp_result *r)
{
    *p = (struct compare_point){.label = copy(r->label),
                                .seed = r->seed,
                                .confidence = r->confidence,
                                .primary = copy(r->primary),
                                .param = need(calloc(r->nparams ? r->nparams : 1, sizeof *p->param)),
                                .metric = need(calloc(r->nmetrics ? r->nmetrics : 1, sizeof *p->metric))};
    for (size_t i = 0; i < r->nparams; i++)
        p->param[p->nparams++] = (struct exp_param){copy(r->param[i].key), copy(r->param[i].value)};
    for (size_t i = 0; i < r->nmetrics; i++) take_metric(&p->metric[p->nmetrics++], r, &r->metric[i]);
}

static int load_study(const char *path, struct compare_set *set, char *why, size_t n)
{
    struct store_fault f = {.kind = STORE_FINE};
    struct study_loaded *l = study_load(path, &f);
    if (!l) {
        snprintf(why, n, "the study %s", f.text);
        return -1;
    }
    set->point = need(calloc(l->points ? l->points : 1, sizeof *set->point));
    for (size_t i = 0; i < l->points; i++)
        if (l->study->result[i]) take_result(&set->point[set->n++], l->study->result[i]);
    study_loaded_free(l);
    if (set->n) return 0;
    snprintf(why, n, "'%.200s' holds no complete run yet", path);
    return -1;
}

/* ------------------------------------------------------------------ exported JSON */
static enum wb_better better_of(const char *word)
{
    for (int b = WB_BETTER_HIGHER; word && b < WB_BETTER_NONE; b++)
        if (!strcmp(word, wb_better_name((enum wb_better)b))) return (enum wb_better)b;
    return WB_BETTER_NONE;
}

/* Without samples (other tools) the mean stands alone. */
static bool json_metric(const json_t *m, struct compare_metric *to)
{
    const json_t *list = json_object_get(m, "samples");
    const char *name = json_string_value(json_object_get(m, "name")),
               *unit = json_string_value(json_object_get(m, "unit"));
    size_t n = json_array_size(list);
    if (!name) return false;
    *to = (struct compare_metric){.name = copy(name),
                                  .workload = copy(json_string_value(json_object_get(m, "workload"))),
                                  .unit = copy(unit ? unit : "1"),
                                  .better = better_of(json_string_value(json_object_get(m, "better"))),
                                  .sample = need(calloc(n + 1, sizeof(double))),
                                  .n = n ? n : 1};
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);
        to->sample[i] = json_is_number(v) ? json_number_value(v) : NAN;
    }
    const json_t *mean = json_object_get(m, "mean");
    if (!n) to->sample[0] = json_is_number(mean) ? json_number_value(mean) : NAN;
    return true;
}

static char *value_text(const json_t *v)
{
    char *text = NULL;
    if (json_is_string(v)) return copy(json_string_value(v));
    if (json_is_boolean(v)) return copy(json_is_true(v) ? "true" : "false");
    if (json_is_number(v) && asprintf(&text, "%.12g", json_number_value(v)) < 0) text = NULL;
    return text ? text : copy("");
}

static void json_params(const json_t *o, struct compare_point *p)
{
    const char *key;
    json_t *v;
    p->param = need(calloc(json_object_size(o) + 1, sizeof *p->param));
    json_object_foreach((json_t *)o, key, v) p->param[p->nparams++] = (struct exp_param){copy(key), value_text(v)};
}

static bool json_result(const json_t *r, struct compare_point *p)
{
    const json_t *run = json_object_get(r, "run"), *list = json_object_get(r, "metrics");
    const char *label = json_string_value(json_object_get(r, "label"));
    *p = (struct compare_point){.label = copy(label ? label : ""),
                                .seed = (uint64_t)json_integer_value(json_object_get(run, "seed")),
                                .primary = copy(json_string_value(json_object_get(run, "metric"))),
                                .confidence = 0.95,
                                .metric = need(calloc(json_array_size(list) + 1, sizeof *p->metric))};
    json_params(json_object_get(r, "params"), p);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *m = json_array_get(list, i);
        double c = json_number_value(json_object_get(m, "confidence"));
        if (c > 0 && c < 1) p->confidence = c;
        if (!json_metric(m, &p->metric[p->nmetrics++])) return false;
    }
    return json_is_array(list);
}

static int load_json(const char *path, struct compare_set *set, char *why, size_t n)
{
    json_error_t e;
    json_t *doc = exp_json_load(path, &e), *list = json_object_get(doc, "results");
    const char *schema = json_string_value(json_object_get(doc, "schema"));
    size_t count = list ? json_array_size(list) : 1;
    bool fine = doc && schema && !strncmp(schema, "wakebal.result", 14);
    if (!doc && e.line > 0)
        snprintf(why, n, "'%.200s' is neither a study nor JSON: line %d: %.160s", path, e.line, e.text);
    else if (!doc)
        snprintf(why, n, "%.160s", e.text); /* it names the file */
    else
        snprintf(why, n, "'%.200s' is no result of wakebal (schema wakebal.result/1 or wakebal.results/1)", path);
    if (fine) set->point = need(calloc(count + 1, sizeof *set->point));
    for (size_t i = 0; fine && i < count; i++)
        fine = json_result(list ? json_array_get(list, i) : doc, &set->point[set->n++]);
    json_decref(doc);
    return fine && set->n ? 0 : -1;
}

/* ------------------------------------------------------------------ either */
/* "study/base.db" -> "base"; a folder's study is called by the folder. */
static char *name_of(const char *path)
{
    char *text = need(strdup(path));
    size_t n = strlen(text);
    while (n > 1 && text[n - 1] == '/') text[--n] = 0;
    char *slash = strrchr(text, '/'), *name = need(strdup(slash ? slash + 1 : text));
    free(text);
    char *dot = strrchr(name, '.');
    if (dot && dot > name && (!strcmp(dot, ".db") || !strcmp(dot, ".json"))) *dot = 0;
    return name;
}

int compare_load(const char *arg, struct compare_set *set, char *why, size_t n)
{
    struct stat st;
    const char *equal = strchr(arg, '='), *path = arg;
    char *inside = NULL;
    bool named = equal && equal > arg && stat(arg, &st);
    if (named) path = equal + 1;
    *set = (struct compare_set){.name = named ? need(strndup(arg, (size_t)(equal - arg))) : name_of(arg)};
    if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
        if (asprintf(&inside, "%s/study.db", path) < 0) inside = NULL;
        path = need(inside);
    }
    int rc = study_is_file(path) ? load_study(path, set, why, n) : load_json(path, set, why, n);
    free(inside);
    return rc;
}

static void free_point(struct compare_point *p)
{
    for (size_t i = 0; i < p->nparams; i++) {
        free(p->param[i].key);
        free(p->param[i].value);
    }
    for (size_t i = 0; i < p->nmetrics; i++) {
        free(p->metric[i].name);
        free(p->metric[i].workload);
        free(p->metric[i].unit);
        free(p->metric[i].sample);
    }
    free(p->label);
    free(p->primary);
    free(p->param);
    free(p->metric);
}

void compare_set_free(struct compare_set *set)
{
    for (size_t i = 0; i < set->n; i++) free_point(&set->point[i]);
    free(set->point);
    free(set->name);
    *set = (struct compare_set){0};
}

/* ------------------------------------------------------------------ one study by an axis */
static const char *coordinate(const struct compare_point *p, const char *key)
{
    for (size_t i = 0; i < p->nparams; i++)
        if (!strcmp(p->param[i].key, key)) return p->param[i].value;
    return NULL;
}

/* The coordinates without `key`, in their order. */
static void relabel(struct compare_point *p, const char *key)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    WB_MEMORY(out, "out of memory for a comparison");
    for (size_t i = 0, k = 0; i < p->nparams; i++)
        if (strcmp(p->param[i].key, key)) fprintf(out, "%s%s=%s", k++ ? ", " : "", p->param[i].key, p->param[i].value);
    fclose(out);
    free(p->label);
    p->label = need(text);
}

static struct compare_set *set_named(struct compare_set **list, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if ((*list)[i].name && !strcmp((*list)[i].name, name)) return &(*list)[i];
    *list = need(realloc(*list, (*n + 1) * sizeof **list));
    (*list)[*n] = (struct compare_set){.name = copy(name)};
    return &(*list)[(*n)++];
}

struct compare_set *compare_split(struct compare_set *set, const char *key, size_t *nsets)
{
    struct compare_set *list = NULL;
    *nsets = 0;
    for (size_t i = 0; i < set->n; i++)
        if (!coordinate(&set->point[i], key)) return NULL;
    for (size_t i = 0; i < set->n; i++) {
        struct compare_set *to = set_named(&list, nsets, coordinate(&set->point[i], key));
        to->point = need(realloc(to->point, (to->n + 1) * sizeof *to->point));
        relabel(&set->point[i], key);
        to->point[to->n++] = set->point[i];
    }
    set->n = 0; /* its points have moved */
    compare_set_free(set);
    return list;
}
