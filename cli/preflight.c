#include "preflight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "registry.h"

struct exp_check *preflight_points(const struct exp_points *p, bool own, struct wb_diag *d)
{
    struct exp_check *k = exp_check_new(cli_models(), p->point, p->n, d);
    exp_check_wishes(k, p->point[0].cfg, p, own ? EXP_SELECT_OWN : EXP_SELECT_OTHER, d);
    return k;
}

void preflight_base(const struct wb_scenario *s, struct wb_diag *d)
{
    const struct exp_point base = {.cfg = wb_scenario_config(s), .label = ""};
    struct exp_check *k = exp_check_new(cli_models(), &base, 1, d);
    exp_check_wishes(k, base.cfg, NULL, EXP_SELECT_SKIP, d);
    exp_check_free(k);
}

void preflight_more(const char *name, const struct wb_key_registry *keys, const struct wb_overrides *over,
                    struct wb_diag *d)
{
    struct wb_scenario_options opt = {.overrides = over, .keep = true};
    struct wb_scenario *s = wb_scenario_load_with(name, keys, &opt, d); /* what was said before is not said again */
    if (s) preflight_base(s, d);
    wb_scenario_free(s);
}

void preflight_no_points(const struct exp_points *p, const struct wb_scenario *s, struct wb_diag *d)
{
    const struct wb_config *c = wb_scenario_config(s);
    struct wb_place at = {0};
    if (wb_cfg_has(c, "sweep.where")) at = wb_cfg_origin(c, "sweep.where")->place;
    wb_diag_add(d, WB_ERROR, "E152", at, "relax sweep.where, or give the axes other values",
                "no point is left: `where` is false at all %zu", p->left_out);
}

/* ------------------------------------------------------------------ one file */
static void check_scenario(struct wb_scenario *s, const struct wb_key_registry *keys, struct wb_diag *d)
{
    struct wb_axes *axes = wb_axes_new(keys);
    struct exp_points *p = NULL;
    if (!wb_axes_add_config(axes, wb_scenario_config(s), d)) p = exp_points_new(s, axes, d);
    if (p && !p->n) preflight_no_points(p, s, d);
    if (p && p->n)
        exp_check_free(preflight_points(p, true, d));
    else
        preflight_base(s, d);
    exp_points_free(p);
    wb_axes_free(axes);
}

static void check_case(const char *name, const struct wb_key_registry *keys, struct wb_diag *d)
{
    struct case_file *c = case_load(name, keys, NULL, d);
    if (c) (void)case_check(c, cli_models(), d);
    case_free(c);
}

/* A kernel built for one CPU is tried on one. */
static struct wb_scenario *on_one_cpu(struct wb_scenario *s, const struct wb_overrides *over,
                                      const struct wb_key_registry *keys, struct wb_diag *d)
{
    struct wb_override one = {.key = "machine.topology", .value = "core:1 pu:1", .from = "check"};
    struct wb_overrides more = *over;
    const struct wb_config *c = s ? wb_scenario_config(s) : NULL;
    if (!c || !wb_cfg_has(c, "kernel.build") || strcmp(wb_cfg_str(c, "kernel.build"), "up")) return s;
    wb_scenario_free(s);
    more.item = &one;
    more.n = 1;
    return wb_scenario_load("hog", keys, &more, d);
}

/* A machine, kernel or workload file is tried in the place where it belongs, on the default rest. */
static struct wb_scenario *load_part(const char *name, const char *kind, const struct wb_key_registry *keys,
                                     struct wb_diag *d)
{
    char *path = wb_scenario_find(name, wb_cfg_path("%ss", kind));
    const char *file = path ? path : name;
    struct wb_overrides over = {.n = 0};
    if (!strcmp(kind, "machine")) over.machine = file;
    if (!strcmp(kind, "kernel")) over.kernel = file;
    struct wb_scenario *s = wb_scenario_load(strcmp(kind, "workload") ? "hog" : file, keys, &over, d);
    if (over.kernel) s = on_one_cpu(s, &over, keys, d);
    free(path);
    return s;
}

int preflight_file(const char *name, const struct wb_key_registry *keys, struct wb_diag *d)
{
    size_t before = wb_diag_count(d, WB_ERROR);
    const char *kind = wb_scenario_kind(name, keys);
    if (wb_scenario_check(name, keys, d)) {
        if (!kind) preflight_more(name, keys, NULL, d);
        return -1;
    }
    struct wb_scenario *s = kind ? load_part(name, kind, keys, d) : wb_scenario_load(name, keys, NULL, d);
    const struct wb_config *c = s ? wb_scenario_config(s) : NULL;
    if (s && !kind && wb_cfg_has(c, "rows") && wb_cfg_count(c, "rows")) check_case(name, keys, d);
    if (s) check_scenario(s, keys, d);
    wb_scenario_free(s);
    return wb_diag_count(d, WB_ERROR) == before ? 0 : -1;
}
