/* case_check.c - variants that do not build and rows that name no figure, before anything runs. */
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "exp_check.h"

static size_t variant_of(const struct case_file *c, const struct case_row *r, const char *variant)
{
    if (!variant) return r->variant;
    for (size_t i = 0; i < c->nvariants; i++)
        if (!strcmp(c->variant[i].name, variant)) return i;
    return SIZE_MAX;
}

/* Each figure of the row, in the variant that it looks at. */
static void check_row(const struct case_file *c, size_t i, const struct exp_check *k, struct wb_diag *d)
{
    const struct case_row *r = &c->row[i];
    const char *name, *variant, *unit;
    char fix[256];
    size_t at;
    for (size_t f = 0; (name = figure_expr_name(r->expr, f, &variant, &at)); f++) {
        size_t v = variant_of(c, r, variant);
        const char *path = wb_cfg_path("rows[%zu].metric", i), *fn = case_share_of(name);
        if (fn && exp_check_function(k, fn)) continue;
        if (!strcmp(name, CASE_MOVABLE)) continue;
        if (!exp_check_figure(k, name, &unit, fix, sizeof fix))
            wb_cfg_error(wb_scenario_config(c->scenario), d, path, fix, "no metric is called '%.100s'", name);
        else if (v != SIZE_MAX && !exp_check_figure_at(k, v, name))
            wb_cfg_error(wb_scenario_config(c->scenario), d, path, "other variants report it",
                         "variant '%.60s' does not report '%.100s'", c->variant[v].name, name);
    }
}

int case_check(const struct case_file *c, const struct wb_registry *models, struct wb_diag *d)
{
    size_t before = wb_diag_count(d, WB_ERROR);
    struct exp_point *point = calloc(c->nvariants ? c->nvariants : 1, sizeof *point);
    WB_MEMORY(point, "out of memory while a case was checked");
    for (size_t i = 0; i < c->nvariants; i++)
        point[i] = (struct exp_point){.cfg = c->variant[i].cfg, .label = c->variant[i].name};
    struct exp_check *k = exp_check_new(models, point, c->nvariants, d);
    for (size_t i = 0; i < c->nrows; i++) check_row(c, i, k, d);
    exp_check_free(k);
    free(point);
    return wb_diag_count(d, WB_ERROR) == before ? 0 : -1;
}
