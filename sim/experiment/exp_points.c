#include "exp_points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wakebal/machine.h"
#include "wakebal/units.h"

#define EXP_POINTS_MAX 1000000u

static void *need(void *p)
{
    WB_MEMORY(p, "out of memory while points were made");
    return p;
}

bool exp_machine_fact(void *ctx, const char *name, struct wb_value *v)
{
    static const struct {
        const char *name;
        enum wb_topo_level level;
    } fact[] = {{"machine.cpus", WB_TOPO_LEVELS},
                {"machine.cores", WB_LVL_CORE},
                {"machine.llcs", WB_LVL_LLC},
                {"machine.nodes", WB_LVL_NODE},
                {"machine.packages", WB_LVL_PACKAGE}};
    size_t i = 0;
    while (i < WB_ARRAY_SIZE(fact) && strcmp(name, fact[i].name)) i++;
    if (i == WB_ARRAY_SIZE(fact)) return false;
    struct wb_diag *d = wb_diag_new(); /* a machine that cannot be built is reported by the run, with its place */
    struct wb_machine *m = wb_machine_build(ctx, d);
    wb_diag_free(d);
    if (!m) return false;
    const struct wb_topology *t = wb_machine_topo(m);
    *v = (struct wb_value){.kind = WB_VALUE_NUMBER,
                           .unit = "",
                           .number = fact[i].level == WB_TOPO_LEVELS ? t->ncpus : t->level[fact[i].level].ngroups};
    wb_machine_free(m);
    return true;
}

static char *label_of(const struct wb_axes *axes, size_t i)
{
    char buf[4096];
    return need(strdup(axes ? wb_axes_label(axes, i, buf, sizeof buf) : ""));
}

static struct exp_points *alloc_points(size_t room, size_t naxes)
{
    struct exp_points *p = need(calloc(1, sizeof *p));
    p->naxes = naxes;
    p->point = need(calloc(room ? room : 1, sizeof *p->point));
    p->cfg = need(calloc(room ? room : 1, sizeof(struct wb_config *)));
    p->label = need(calloc(room ? room : 1, sizeof(char *)));
    p->param = need(calloc(room * naxes + 1, sizeof *p->param));
    return p;
}

struct exp_points *exp_points_new(struct wb_scenario *s, const struct wb_axes *axes, struct wb_diag *d)
{
    size_t total = axes ? wb_axes_points(axes) : 1, naxes = axes ? wb_axes_count(axes) : 0;
    if (total > EXP_POINTS_MAX) {
        wb_diag_add(d, WB_ERROR, "E171", (struct wb_place){0},
                    "give the axes fewer values, or narrow them with --where", "the axes make %zu points, more than %u",
                    total, EXP_POINTS_MAX);
        return NULL;
    }
    struct exp_points *p = alloc_points(total, naxes);
    for (size_t i = 0; i < total; i++) {
        struct wb_override *at = p->param + p->n * naxes;
        bool keep = true;
        if (axes) wb_axes_point(axes, i, at);
        struct wb_overrides more = {.item = at, .n = naxes};
        struct wb_config *cfg = wb_scenario_at(s, &more, d);
        if (!cfg || (axes && wb_axes_keep(axes, cfg, exp_machine_fact, cfg, &keep, d))) {
            wb_config_free(cfg);
            exp_points_free(p);
            return NULL;
        }
        if (!keep) {
            wb_config_free(cfg);
            p->left_out++;
            continue;
        }
        p->cfg[p->n] = cfg;
        p->label[p->n] = label_of(axes, i);
        p->point[p->n] = (struct exp_point){.cfg = cfg, .label = p->label[p->n], .param = at, .nparams = naxes};
        p->n++;
    }
    return p;
}

void exp_points_free(struct exp_points *p)
{
    if (!p) return;
    for (size_t i = 0; i < p->n; i++) {
        wb_config_free(p->cfg[i]);
        free(p->label[i]);
    }
    free(p->point);
    free(p->cfg);
    free(p->label);
    free(p->param);
    free(p);
}

/* ------------------------------------------------------------------ warm-up */
size_t exp_mser(const double *window, size_t n)
{
    double sum = 0, square = 0, best = INFINITY, kept = 0, mean = 0;
    size_t cut = 0, known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(window[i])) mean += window[i], known++;
    if (known) mean /= (double)known;
    for (size_t d = n; d-- > 0;) { /* from the end, so that sums grow */
        double v = isnan(window[d]) ? 0 : window[d] - mean;
        sum += v;
        square += v * v;
        kept++;
        double error = (square - sum * sum / kept) / (kept * kept);
        if (d <= n / 2 && error <= best * (1 + 1e-12)) best = error, cut = d;
    }
    return cut;
}

static bool is_auto(const struct wb_config *cfg)
{
    return !strcmp(wb_cfg_str(cfg, "run.warmup"), "auto");
}

static struct wb_config *with_warmup(struct exp_points *p, struct wb_scenario *s, size_t i, const char *warmup,
                                     bool pilot, struct wb_diag *d)
{
    struct wb_override *all = need(calloc(p->naxes + 3, sizeof *all));
    size_t n = p->naxes;
    if (n) memcpy(all, p->point[i].param, n * sizeof *all);
    all[n++] = (struct wb_override){.key = "run.warmup", .value = warmup, .from = "warm-up detection"};
    if (pilot) {
        all[n++] = (struct wb_override){.key = "run.replications.min", .value = "1", .from = "pilot"};
        all[n++] = (struct wb_override){.key = "run.replications.max", .value = "1", .from = "pilot"};
    }
    struct wb_overrides more = {.item = all, .n = n};
    struct wb_config *cfg = wb_scenario_at(s, &more, d);
    free(all);
    return cfg;
}

/* The warm-up that the pilot shows, as the key is written. */
static void found_warmup(const struct exp_result *pilot, char *buf, size_t n)
{
    const struct exp_metric *m =
        pilot && pilot->primary ? exp_result_find(pilot, pilot->primary_instance, pilot->primary) : NULL;
    bool enough = m && m->window[0] && m->nwindow[0] >= 10;
    size_t cut = enough ? exp_mser(m->window[0], m->nwindow[0]) : 0;
    if (!enough)
        snprintf(buf, n, "auto"); /* too few windows to see anything: the engine's tenth of a timed run */
    else if (!cut)
        snprintf(buf, n, "none");
    else
        wb_format_exact(buf, n, (int64_t)llround((double)cut * pilot->window_s * 1e12), WB_UNIT_TIME);
}

static int replace_warmups(struct exp_points *p, struct wb_scenario *s, const size_t *index,
                           const struct exp_study *study, struct wb_diag *d)
{
    for (size_t k = 0; k < study->n; k++) {
        char text[64];
        found_warmup(study->result[k], text, sizeof text);
        struct wb_config *cfg = with_warmup(p, s, index[k], text, false, d);
        if (!cfg) return -1;
        wb_config_free(p->cfg[index[k]]);
        p->cfg[index[k]] = cfg;
        p->point[index[k]].cfg = cfg;
    }
    return 0;
}

int exp_points_warmup(struct exp_points *p, struct wb_scenario *s, const struct exp_options *opt, struct wb_diag *d)
{
    struct exp_point *pilot = need(calloc(p->n ? p->n : 1, sizeof *pilot));
    size_t *index = need(calloc(p->n ? p->n : 1, sizeof *index)), n = 0;
    int rc = 0;
    for (size_t i = 0; i < p->n && !rc; i++) {
        if (!is_auto(p->cfg[i])) continue;
        struct wb_config *cfg = with_warmup(p, s, i, "none", true, d);
        if (!cfg) rc = -1;
        index[n] = i;
        if (cfg) pilot[n++] = (struct exp_point){.cfg = cfg, .label = p->label[i]};
    }
    struct exp_options quiet = *opt;
    quiet.inspect = NULL;
    quiet.stage = "warm-up";
    struct exp_study *study = !rc && n ? exp_run(pilot, n, &quiet, d) : NULL;
    if (n && !rc) rc = study ? replace_warmups(p, s, index, study, d) : -1;
    p->pilots = n > 0;
    exp_study_free(study);
    for (size_t k = 0; k < n; k++) wb_config_free((struct wb_config *)pilot[k].cfg);
    free(pilot);
    free(index);
    return rc;
}
