#include "exp_check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exp_format.h"
#include "wakebal/kernel.h"

struct exp_check {
    const struct wb_registry *models;
    const struct exp_point *point;
    size_t n;
    struct exp_result **res; /* [n]; NULL: not built */
    bool failed;             /* some could not be built: what they report is not known */
};

static void *need(void *p)
{
    WB_MEMORY(p, "out of memory while a scenario was checked");
    return p;
}

/* ------------------------------------------------------------------ building */
/* Does a point that was built before have the same value of this axis? */
static bool seen(const struct exp_check *k, size_t i, size_t axis)
{
    for (size_t j = 0; j < i; j++)
        if (k->res[j] && !strcmp(k->point[j].param[axis].value, k->point[i].param[axis].value)) return true;
    return false;
}

static bool worth_building(const struct exp_check *k, size_t i)
{
    if (!i || k->n <= EXP_CHECK_BUILDS) return true;
    for (size_t a = 0; a < k->point[i].nparams; a++)
        if (!seen(k, i, a)) return true;
    return false;
}

/* Does a task of the scenario have the first word of the text as its name? */
static bool names_task(struct wb_sim *s, const char *text)
{
    size_t n = strcspn(text, " ");
    for (task_id i = 0; i < wb_ntasks(s); i++) {
        const char *name = wb_task_name(wb_task_of(s, i));
        if (strlen(name) == n && !strncmp(name, text, n)) return true;
    }
    return false;
}

/* A slice for a task that does not exist would change nothing and say nothing. */
static void check_slices(const struct wb_config *cfg, struct wb_sim *s, struct wb_diag *d)
{
    static const char key[] = "policy.task_slices";
    for (size_t i = 0; wb_cfg_has(cfg, key) && i < wb_cfg_count(cfg, key); i++) {
        const char *text = wb_cfg_str_at(cfg, key, i);
        size_t n = strcspn(text, " ");
        if (names_task(s, text)) continue;
        wb_diag_add(
            d, WB_ERROR, "E150", wb_cfg_place_in(cfg, key, i, 0, n),
            "names are those of traces: the kind of the workload (hog, periodic), or of a custom one its tasks'",
            "%s: no task is called '%.*s'", key, (int)WB_MIN(n, 60u), text);
    }
}

static struct exp_result *build_one(const struct exp_check *k, size_t i, struct wb_diag *d)
{
    struct wb_sim *s = wb_sim_build(k->point[i].cfg, k->models, 0, NULL, d);
    if (!s) return NULL;
    check_slices(k->point[i].cfg, s, d);
    struct exp_rep rep = {.index = 0};
    struct exp_result *res = exp_result_new();
    exp_rep_copy(&rep, wb_sim_result(s));
    exp_result_fold(res, &rep);
    exp_result_workloads(res, k->point[i].cfg);
    exp_rep_free(&rep);
    wb_sim_free(s);
    return res;
}

struct exp_check *exp_check_new(const struct wb_registry *models, const struct exp_point *point, size_t n,
                                struct wb_diag *d)
{
    struct exp_check *k = need(calloc(1, sizeof *k));
    *k = (struct exp_check){.models = models, .point = point, .n = n};
    k->res = need(calloc(n ? n : 1, sizeof(struct exp_result *)));
    size_t built = 0;
    uint64_t cpus = 0;
    for (size_t i = 0; i < n && built < EXP_CHECK_BUILDS && cpus < EXP_CHECK_CPUS; i++) {
        if (!worth_building(k, i)) continue;
        k->res[i] = build_one(k, i, d);
        k->failed |= !k->res[i];
        cpus += k->res[i] ? k->res[i]->ncpus : 0;
        built++;
    }
    return k;
}

void exp_check_free(struct exp_check *k)
{
    if (!k) return;
    for (size_t i = 0; i < k->n; i++) exp_result_free(k->res[i]);
    free(k->res);
    free(k);
}

/* ------------------------------------------------------------------ names of figures */
/* What the tables of the models promise; for when a simulation could not be built. Workloads come first, as in
 * exp_result_lookup(). */
static const struct wb_metric_def *in_tables(const struct exp_check *k, const char *name)
{
    const struct wb_registry *r = k->models;
    for (size_t i = 0; i < r->nworkloads; i++)
        for (size_t m = 0; m < r->workloads[i]->nmetrics; m++)
            if (!strcmp(r->workloads[i]->metrics[m].name, name)) return &r->workloads[i]->metrics[m];
    for (size_t i = 0; i < r->nipcs; i++)
        for (size_t m = 0; m < r->ipcs[i]->nmetrics; m++)
            if (!strcmp(r->ipcs[i]->metrics[m].name, name)) return &r->ipcs[i]->metrics[m];
    return wb_metric_def_find(name);
}

/* Programs of custom tasks name figures of their own. */
static bool names_its_own(const struct exp_check *k)
{
    for (size_t i = 0; i < k->n; i++)
        for (size_t w = 0; w < wb_cfg_count(k->point[i].cfg, "workload"); w++)
            if (!strcmp(wb_cfg_str(k->point[i].cfg, wb_cfg_path("workload[%zu].kind", w)), "custom")) return true;
    return false;
}

struct names {
    const char **name;
    size_t n;
};

static void add_name(struct names *l, const char *name)
{
    l->name = need(realloc(l->name, (l->n + 1) * sizeof *l->name));
    l->name[l->n++] = name;
}

static void add_tables(struct names *l, const struct wb_registry *r)
{
    for (size_t i = 0; i < r->nworkloads; i++)
        for (size_t m = 0; m < r->workloads[i]->nmetrics; m++) add_name(l, r->workloads[i]->metrics[m].name);
    for (size_t i = 0; i < r->nipcs; i++)
        for (size_t m = 0; m < r->ipcs[i]->nmetrics; m++) add_name(l, r->ipcs[i]->metrics[m].name);
    for (size_t i = 0; wb_metric_def_at(i); i++) add_name(l, wb_metric_def_at(i)->name);
}

static const char *nearest_figure(const struct exp_check *k, const char *name)
{
    struct names l = {0};
    for (size_t i = 0; i < k->n; i++)
        for (size_t m = 0; k->res[i] && m < k->res[i]->nmetrics; m++) add_name(&l, k->res[i]->metric[m].name);
    if (k->failed) add_tables(&l, k->models);
    const char *near = wb_nearest(name, l.name, l.n);
    free(l.name);
    return near;
}

static void suggest(const struct exp_check *k, const char *name, char *fix, size_t n)
{
    const char *at = strchr(name, '@');
    char *plain = need(strndup(name, at ? (size_t)(at - name) : strlen(name)));
    const char *near = nearest_figure(k, plain);
    if (at && near && !strcmp(near, plain))
        snprintf(fix, n, "no workload is called '%.60s', or it does not report '%.60s'", at + 1, plain);
    else if (near)
        snprintf(fix, n, "did you mean '%.100s'?   (wakebal list metrics)", near);
    else
        snprintf(fix, n, "see wakebal list metrics");
    free(plain);
}

bool exp_check_figure(const struct exp_check *k, const char *name, const char **unit, char *fix, size_t n)
{
    *unit = NULL;
    for (size_t i = 0; i < k->n; i++) {
        const struct exp_metric *m = k->res[i] ? exp_result_lookup(k->res[i], name) : NULL;
        if (!m) continue;
        *unit = m->unit;
        return true;
    }
    if (k->failed) {
        char *plain = need(strndup(name, strcspn(name, "@")));
        const struct wb_metric_def *def = in_tables(k, plain);
        free(plain);
        if (def && strcmp(def->unit, "RATE")) *unit = def->unit;
        if (def || names_its_own(k)) return true;
    }
    suggest(k, name, fix, n);
    return false;
}

bool exp_check_function(const struct exp_check *k, const char *fn)
{
    for (size_t i = 0; i < k->n; i++)
        for (size_t f = 0; k->res[i] && f < k->res[i]->nfn; f++)
            if (!strcmp(k->res[i]->fn[f].name, fn)) return true;
    return k->failed;
}

bool exp_check_figure_at(const struct exp_check *k, size_t point, const char *name)
{
    return point >= k->n || !k->res[point] || exp_result_lookup(k->res[point], name);
}

bool exp_check_value(const char *text, const char *unit, double *v)
{
    static const char *const wants[] = {"s", "B", "B/s"};
    if (!exp_parse_value(text, strlen(text), unit, v)) return false;
    bool bare = text[strspn(text, "0123456789.eE+- ")] == 0;
    for (size_t i = 0; i < WB_ARRAY_SIZE(wants); i++)
        if (!strcmp(unit, wants[i]) && bare && *v != 0) return false;
    return true;
}

/* ------------------------------------------------------------------ expectations */
static const char *wish_text(const struct wb_config *c, size_t i, const char *key)
{
    const char *path = wb_cfg_path("expect[%zu].%s", i, key);
    return wb_cfg_has(c, path) ? wb_cfg_str(c, path) : NULL;
}

int exp_point_selected(const struct exp_points *p, size_t point, const char *text, struct wb_place at,
                       struct wb_diag *d)
{
    bool truth = true;
    if (!text) return 1;
    struct wb_expr *e = wb_expr_parse(text, at, d);
    if (!e) return -1;
    const struct wb_config *cfg = p->point[point].cfg;
    int rc = wb_expr_true(e, cfg, exp_machine_fact, (void *)(uintptr_t)cfg, &truth, d);
    wb_expr_free(e);
    return rc ? -1 : truth;
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Does the condition name the key, outside of quotes? */
static bool names_key(const char *text, const char *key)
{
    size_t n = strlen(key);
    bool quoted = false;
    for (const char *c = text; c && *c; c++) {
        if (*c == '\'') quoted = !quoted;
        bool begins = c == text || !word_char(c[-1]);
        if (!quoted && begins && !strncmp(c, key, n) && !word_char(c[n])) return true;
    }
    return false;
}

bool exp_points_agree(const struct exp_points *p, size_t a, size_t b, const char *of, const char *against)
{
    for (size_t i = 0; i < p->naxes; i++) {
        const struct wb_override *x = &p->point[a].param[i], *y = &p->point[b].param[i];
        if (names_key(of, x->key) || names_key(against, x->key)) continue;
        if (strcmp(x->value, y->value)) return false;
    }
    return true;
}

/* How many points does the condition select? -1 with errors in d. */
static int count_selected(const struct exp_points *p, const char *text, struct wb_place at, struct wb_diag *d)
{
    int n = 0;
    for (size_t i = 0; i < p->n; i++) {
        int in = exp_point_selected(p, i, text, at, d);
        if (in < 0) return -1;
        n += in;
    }
    return n;
}

static void check_selections(const struct wb_config *c, const struct exp_points *p, size_t i, enum exp_selection how,
                             struct wb_diag *d)
{
    static const char *const key[] = {"of", "against", "at"};
    bool strict = how == EXP_SELECT_OWN;
    if (how == EXP_SELECT_SKIP) return;
    for (size_t s = 0; s < WB_ARRAY_SIZE(key); s++) {
        const char *text = wish_text(c, i, key[s]);
        if (!text) continue;
        struct wb_place at = wb_cfg_origin(c, wb_cfg_path("expect[%zu].%s", i, key[s]))->place;
        if (count_selected(p, text, at, d)) continue;
        wb_diag_add(d, strict ? WB_ERROR : WB_WARNING, strict ? "E151" : "W151", at,
                    "compare with the values of the axes, as `wakebal run --dry-run` lists them",
                    "'%s' selects none of the %zu points", key[s], p->n);
    }
}

static void check_bounds(const struct wb_config *c, size_t i, const char *unit, struct wb_diag *d)
{
    static const struct {
        const char *key;
        bool ratio;
    } bound[] = {{"min", false}, {"max", false}, {"min_ratio", true}, {"max_ratio", true}};
    for (size_t b = 0; b < WB_ARRAY_SIZE(bound); b++) {
        const char *text = wish_text(c, i, bound[b].key), *wants = bound[b].ratio ? "1" : unit;
        double v;
        if (!text || !wants || exp_check_value(text, wants, &v)) continue;
        bool plain = !strcmp(wants, "1") || !strcmp(wants, "1/s");
        char fix[120];
        snprintf(fix, sizeof fix, !plain ? "write a number with a unit, as in \"%s\"" : "write a number without a unit",
                 !strcmp(wants, "s")     ? "10 us"
                 : !strcmp(wants, "B/s") ? "2 GB/s"
                                         : "64 KiB");
        wb_cfg_error(c, d, wb_cfg_path("expect[%zu].%s", i, bound[b].key), fix, "'%.60s' is no value in %s", text,
                     strcmp(wants, "1") ? wants : "plain numbers");
    }
}

static void check_wish(const struct exp_check *k, const struct wb_config *c, size_t i, struct wb_diag *d)
{
    const char *metric = wish_text(c, i, "metric"), *workload = wish_text(c, i, "workload"), *unit = NULL;
    char fix[256], full[512];
    snprintf(full, sizeof full, "%.250s%s%.250s", metric ? metric : "", workload ? "@" : "", workload ? workload : "");
    if (metric && !exp_check_figure(k, full, &unit, fix, sizeof fix))
        wb_cfg_error(c, d, wb_cfg_path("expect[%zu].metric", i), fix, "no metric is called '%.100s'", full);
    check_bounds(c, i, unit, d);
}

void exp_check_wishes(const struct exp_check *k, const struct wb_config *c, const struct exp_points *p,
                      enum exp_selection how, struct wb_diag *d)
{
    const char *path = "run.replications.metric", *unit;
    char fix[256];
    if (wb_cfg_has(c, path) && !exp_check_figure(k, wb_cfg_str(c, path), &unit, fix, sizeof fix))
        wb_cfg_error(c, d, path, fix, "no metric is called '%.100s'", wb_cfg_str(c, path));
    for (size_t i = 0; wb_cfg_has(c, "expect") && i < wb_cfg_count(c, "expect"); i++) {
        check_wish(k, c, i, d);
        check_selections(c, p, i, how, d);
    }
}
