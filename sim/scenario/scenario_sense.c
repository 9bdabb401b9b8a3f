#include <stdio.h>
#include <string.h>

#include "expr.h"
#include "scenario_build.h"

#define POINTS_MAX 1000000

/* The place of element `i` of a list of texts. */
static struct wb_place element_place(const struct wb_config *c, const char *path, size_t i)
{
    const struct cfg_entry *e = config_find(c, path);
    const struct scan_node *n =
        e->node && (e->node->kind == SCAN_LIST || e->node->kind == SCAN_ARRAY) ? e->node->first : NULL;
    while (n && i-- > 0) n = n->next;
    return n ? n->at : e->origin.place;
}

static void complain(struct build *b, const char *code, struct wb_place at, const char *fix, const char *what)
{
    wb_diag_add(b->d, WB_ERROR, code, at, fix, "%s", what);
}

static void check_replications(struct build *b)
{
    int64_t min = wb_cfg_int(b->c, "run.replications.min"), max = wb_cfg_int(b->c, "run.replications.max");
    bool said = strcmp(wb_cfg_origin(b->c, "run.replications.max")->from, "default") != 0;
    if (min > max)
        wb_cfg_error(b->c, b->d, said ? "run.replications.max" : "run.replications.min", "max must be at least min",
                     "run.replications: min is %lld and max is %lld", (long long)min, (long long)max);
}

/* Has every key that the group or entry at `path` names a value? If not, its mistake is reported, and none that would
 * follow from it shall be. */
static bool is_whole(const struct build *b, const char *path)
{
    const struct raw *r = raw_find(b, path);
    char child[SCENARIO_PATH_MAX];
    if (b->clean || !r || !r->node) return b->clean;
    for (const struct scan_node *n = r->node->first; n; n = n->next)
        if (n->name && ((size_t)snprintf(child, sizeof child, "%s.%s", path, n->name) >= sizeof child ||
                        !config_find(b->c, child)))
            return false;
    return true;
}

/* A run that ends within its warm-up measures nothing; nor does one at the end of a plausible range. */
static void check_measured(struct build *b, int64_t warmup)
{
    const char *ends = "sensitivity_duration";
    if (warmup > 0 && wb_cfg_has(b->c, ends) && warmup >= wb_cfg_int(b->c, ends))
        wb_cfg_error(b->c, b->d, ends, "make these runs longer than the warm-up",
                     "the warm-up \"%.60s\" leaves nothing of runs at the ends of ranges",
                     wb_cfg_str(b->c, "run.warmup"));
    const char *end = wb_cfg_has(b->c, "run.duration") ? "run.duration" : "run.horizon";
    char value[64];
    if (!wb_cfg_has(b->c, end) || warmup < wb_cfg_int(b->c, end)) return;
    bool said = strcmp(wb_cfg_origin(b->c, "run.warmup")->from, "default") != 0;
    wb_cfg_error(b->c, b->d, said ? "run.warmup" : end, "make the warm-up shorter than the run",
                 "the warm-up \"%.60s\" leaves nothing of %s = \"%s\"", wb_cfg_str(b->c, "run.warmup"), end,
                 wb_cfg_text(b->c, end, value, sizeof value));
}

static void check_warmup(struct build *b)
{
    const char *text = wb_cfg_str(b->c, "run.warmup"), *why = NULL;
    int64_t v;
    size_t at;
    if (!strcmp(text, "auto") || !strcmp(text, "none")) return;
    if (wb_parse_quantity(text, WB_UNIT_TIME, &v, &why, &at) < 0)
        wb_cfg_error(b->c, b->d, "run.warmup", "write \"auto\", \"none\" or a time such as \"500 ms\"",
                     "'warmup' = \"%.60s\": %s", text, why);
    else
        check_measured(b, v);
}

/* Entries of a list whose names must differ. */
static void check_names(struct build *b, const char *list)
{
    struct wb_config *taken = config_new(b->s->keys); /* used as a set of names */
    for (size_t i = 0; i < wb_cfg_count(b->c, list); i++) {
        const char *path = wb_cfg_path("%s[%zu].name", list, i);
        const char *name = wb_cfg_has(b->c, path) ? wb_cfg_str(b->c, path) : NULL;
        if (name && config_find(taken, name))
            wb_cfg_error(b->c, b->d, path, "give it another name", "two entries of '%s' are named '%.60s'", list, name);
        else if (name)
            config_add(taken, name, NULL);
    }
    wb_config_free(taken);
}

static void check_expression(struct build *b, const char *path)
{
    if (!wb_cfg_has(b->c, path)) return;
    struct wb_expr *e = wb_expr_parse(wb_cfg_str(b->c, path), wb_cfg_origin(b->c, path)->place, b->d);
    if (e) (void)expr_check_names(e, b->c, !b->clean, b->d);
    wb_expr_free(e);
}

static void check_expect(struct build *b)
{
    static const char *const expr[] = {"of", "against", "at"};
    static const char *const bounds[] = {"min", "max", "min_ratio", "max_ratio"};
    for (size_t i = 0; i < wb_cfg_count(b->c, "expect"); i++) {
        bool any = false;
        for (size_t k = 0; k < WB_ARRAY_SIZE(expr); k++) check_expression(b, wb_cfg_path("expect[%zu].%s", i, expr[k]));
        for (size_t k = 0; k < WB_ARRAY_SIZE(bounds); k++)
            any |= wb_cfg_has(b->c, wb_cfg_path("expect[%zu].%s", i, bounds[k]));
        char metric[64];
        snprintf(metric, sizeof metric, "expect[%zu].metric", i);
        if (!wb_cfg_has(b->c, metric) || !is_whole(b, wb_cfg_path("expect[%zu]", i))) continue;
        if (!any)
            wb_cfg_error(b->c, b->d, metric, "add min, max, min_ratio or max_ratio", "the expectation has no bound");
        bool ratio = wb_cfg_has(b->c, wb_cfg_path("expect[%zu].min_ratio", i)) ||
                     wb_cfg_has(b->c, wb_cfg_path("expect[%zu].max_ratio", i));
        if (ratio && !wb_cfg_has(b->c, wb_cfg_path("expect[%zu].against", i)))
            wb_cfg_error(b->c, b->d, metric, "add of = \"...\" and against = \"...\"",
                         "a ratio needs the points that it compares with");
    }
}

/* "key=value" of a case's row: would it work? */
static void try_setting(struct build *b, const char *text, struct wb_place at)
{
    size_t n = strcspn(text, "=");
    if (!text[n] || !n) {
        complain(b, "E132", at, "for example \"kernel.pipe=2.6.10\"",
                 scan_printf(&b->c->arena, "'%.60s' is no setting of the form key=value", text));
        return;
    }
    struct wb_override o = {scan_strdup(&b->c->arena, text, n), text + n + 1, "set", at};
    (void)override_try(b, &o);
}

static void check_rows(struct build *b)
{
    static const char *const lists[] = {"set", "against"};
    for (size_t i = 0; i < wb_cfg_count(b->c, "rows"); i++) {
        for (size_t k = 0; k < WB_ARRAY_SIZE(lists); k++) {
            char path[SCENARIO_PATH_MAX];
            snprintf(path, sizeof path, "rows[%zu].%s", i, lists[k]);
            size_t n = wb_cfg_has(b->c, path) ? wb_cfg_count(b->c, path) : 0;
            for (size_t j = 0; j < n; j++) try_setting(b, wb_cfg_str_at(b->c, path, j), element_place(b->c, path, j));
        }
    }
}

/* Every value of an axis must be one that --set would take. */
static void check_values(struct build *b, struct wb_override *o, const char *values)
{
    for (size_t k = 0; k < wb_cfg_count(b->c, values) && !build_hopeless(b); k++) {
        o->value = wb_cfg_str_at(b->c, values, k);
        o->at = element_place(b->c, values, k);
        (void)override_try(b, o);
    }
}

static void check_axis(struct build *b, size_t i)
{
    char path[SCENARIO_PATH_MAX], pattern[KEYS_PATTERN_MAX], values[64];
    const char *set = wb_cfg_path("sweep.over[%zu].set", i);
    if (!wb_cfg_has(b->c, set)) return;
    struct wb_override o = {
        .key = wb_cfg_str(b->c, set), .value = "", .from = "sweep", .at = wb_cfg_origin(b->c, set)->place};
    if (!b->clean && !strncmp(o.key, "workload.", 9) && !raw_count(b, "workload")) return; /* that was said */
    if (override_resolve(b, &o, path, pattern) < 0) return;
    if (wb_keys_find(b->s->keys, pattern, NULL)->flags & WB_KEY_SWEEP_NO) {
        complain(b, "E171", o.at, "choose another key", scan_printf(&b->c->arena, "'%s' cannot be an axis", o.key));
        return;
    }
    snprintf(values, sizeof values, "sweep.over[%zu].values", i);
    if (wb_cfg_has(b->c, values)) check_values(b, &o, values);
}

/* Where the sweep itself is at fault its points are not counted; each axis is still looked at alone. */
static void check_points(struct build *b, size_t axes)
{
    bool whole = b->clean || !raw_find(b, "sweep") || is_whole(b, "sweep");
    for (size_t i = 0; whole && i < axes; i++)
        whole = wb_cfg_has(b->c, wb_cfg_path("sweep.over[%zu].set", i)) &&
                (b->clean || is_whole(b, wb_cfg_path("sweep.over[%zu]", i)));
    if (!whole) {
        check_expression(b, "sweep.where");
        return;
    }
    struct wb_axes *a = wb_axes_new(b->s->keys);
    if (wb_axes_add_config(a, b->c, b->d) == 0) {
        if (wb_axes_points(a) > POINTS_MAX)
            complain(b, "E171", wb_cfg_origin(b->c, "sweep.over")->place, "take fewer values",
                     "the sweep has more than a million points");
        check_expression(b, "sweep.where");
    }
    wb_axes_free(a);
}

static void check_sweep(struct build *b)
{
    size_t axes = wb_cfg_count(b->c, "sweep.over");
    check_points(b, axes);
    for (size_t i = 0; i < axes && !build_hopeless(b); i++) check_axis(b, i);
}

/* Cycles are times once the clock is known, and their ranges are ranges of times. */
static void check_cycles(struct build *b)
{
    if (!config_find(b->c, "machine.clock") || !config_find(b->c, "machine.cpi")) return;
    uint64_t hz = (uint64_t)wb_cfg_int(b->c, "machine.clock"), cpi = (uint64_t)wb_cfg_int(b->c, "machine.cpi");
    for (size_t i = 0; i < b->c->n; i++) {
        const struct cfg_entry *e = &b->c->entry[i];
        const char *why;
        size_t at;
        int64_t most;
        if (!e->v.cycles || !e->row->max || wb_parse_quantity(e->row->max, WB_UNIT_TIME, &most, &why, &at)) continue;
        sim_time takes = wb_cfg_cost(b->c, e->path, hz, strncmp(e->path, "kernel.", 7) ? 1000000 : cpi);
        if (takes > (sim_time)most)
            wb_cfg_error(b->c, b->d, e->path,
                         "machine.clock, and machine.cpi for paths of the kernel, make times of cycles",
                         "these cycles take more than %s, the most that '%s' may be", e->row->max, e->path);
    }
}

void check_sense(struct build *b)
{
    /* Getters want complete values: after a mistake in one of these parts, its sense is not judged. */
    bool run = wb_cfg_has(b->c, "run.replications.min") && wb_cfg_has(b->c, "run.replications.max") &&
               wb_cfg_has(b->c, "run.warmup");
    if (!b->s->only_scope && run) {
        check_replications(b);
        check_warmup(b);
    }
    check_cycles(b);
    b->clean = wb_diag_count(b->d, WB_ERROR) == b->errors;
    check_names(b, "workload");
    if (b->hopeless) return;
    check_names(b, "rows");
    check_expect(b);
    check_rows(b);
    check_sweep(b);
}
