/* exp_describe.c - what a result says about its scenario, and the remarks on it. */
#include "exp_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exp_format.h"
#include "sha256.h"

static char *copy(const char *text)
{
    char *s = strdup(text ? text : "");
    WB_MEMORY(s, "out of memory while a result was described");
    return s;
}

static const char *text_of(const struct wb_config *c, const char *path)
{
    return wb_cfg_has(c, path) ? wb_cfg_str(c, path) : NULL;
}

/* The first of these keys that has a value, or `fallback`. */
static char *name_of(const struct wb_config *c, const char *a, const char *b, const char *fallback)
{
    const char *s = text_of(c, a);
    if (!s || !*s) s = text_of(c, b);
    return copy(s && *s ? s : fallback);
}

/* How the machine's costs came about: measured on a host, taken from sources, or with assumed ones among them. */
static void describe_calibration(struct exp_result *res, const struct wb_config *c)
{
    size_t count[WB_STATUS_USER + 1] = {0};
    const char *path;
    for (size_t i = 0; (path = wb_cfg_path_at(c, i)); i++) {
        if (strncmp(path, "machine.", 8)) continue;
        const struct wb_origin *o = wb_cfg_origin(c, path);
        if (o && o->status <= WB_STATUS_USER) count[o->status]++;
    }
    bool measured = count[WB_MEASURED] && count[WB_MEASURED] >= count[WB_ASSUMED] + count[WB_QUOTED];
    res->calibration = copy(measured ? "measured" : "preset");
    char text[96];
    snprintf(text, sizeof text, "%zu measured, %zu quoted, %zu derived, %zu assumed", count[WB_MEASURED],
             count[WB_QUOTED], count[WB_DERIVED], count[WB_ASSUMED]);
    res->machine_source = copy(text);
}

void exp_result_workloads(struct exp_result *res, const struct wb_config *c)
{
    res->nworkloads = wb_cfg_count(c, "workload");
    res->workload = calloc(res->nworkloads ? res->nworkloads : 1, sizeof *res->workload);
    WB_MEMORY(res->workload, "out of memory while a result was described");
    for (size_t i = 0; i < res->nworkloads; i++)
        res->workload[i] =
            name_of(c, wb_cfg_path("workload[%zu].name", i), wb_cfg_path("workload[%zu].kind", i), "workload");
}

static int compare_params(const void *a, const void *b)
{
    return strcmp(((const struct exp_param *)a)->key, ((const struct exp_param *)b)->key);
}

static void describe_params(struct exp_result *res, const struct exp_point *p)
{
    res->param = calloc(p->nparams ? p->nparams : 1, sizeof *res->param);
    WB_MEMORY(res->param, "out of memory while a result was described");
    for (size_t i = 0; i < p->nparams; i++)
        res->param[i] = (struct exp_param){copy(p->param[i].key), copy(p->param[i].value)};
    res->nparams = p->nparams;
    if (res->nparams) qsort(res->param, res->nparams, sizeof *res->param, compare_params);
}

/* Identity: the effective values, the seed among them, the version of the model, and a plug-in's sum. */
void exp_result_identify(struct exp_result *res, const char *canonical)
{
    char *full, hex[65];
    sha256_hex(canonical, strlen(canonical), res->sha256);
    int n = asprintf(&full, "%s\nmodel %s%s%s\nreplications %zu\n", canonical, WB_VERSION, *res->plugin ? "+" : "",
                     res->plugin, res->replications);
    WB_MEMORY(n >= 0, "out of memory while a result was described");
    sha256_hex(full, (size_t)n, hex);
    memcpy(res->id, hex, 8);
    free(full);
}

static void describe_identity(struct exp_result *res, const struct wb_config *c)
{
    char *canonical = wb_cfg_canonical(c);
    WB_MEMORY(canonical, "out of memory while a result was described");
    exp_result_identify(res, canonical);
    free(canonical);
}

void exp_result_describe(struct exp_result *res, const struct exp_point *point)
{
    const struct wb_config *c = point->cfg;
    free(res->label);
    res->label = copy(point->label);
    res->title = copy(text_of(c, "title"));
    res->machine = name_of(c, "machine.name", "machine.base", "unnamed machine");
    res->kernel = name_of(c, "kernel.name", "kernel.base", "unnamed kernel");
    res->policy = name_of(c, "kernel.scheduler", "kernel.scheduler", "unknown");
    describe_calibration(res, c);
    exp_result_workloads(res, c);
    describe_params(res, point);
    describe_identity(res, c);
}

/* ------------------------------------------------------------------ the headline */
static bool is_background(const struct wb_config *cfg, uint32_t i)
{
    const char *path = wb_cfg_path("workload[%u].background", i);
    return wb_cfg_has(cfg, path) && wb_cfg_bool(cfg, path);
}

/* How well a metric serves as the headline: work done per time or time per work, rather than latencies or
 * parts of either. */
static int headline_rank(const struct exp_metric *m)
{
    if (m->better == WB_BETTER_NONE || strchr(m->name, '.')) return 0;
    return m->hist ? 1 : m->window[0] ? 3 : 2;
}

const char *exp_primary_among(const struct exp_result *res, const bool *background, size_t n, uint32_t *instance)
{
    const struct exp_metric *best = NULL;
    for (size_t i = 0; i < res->nmetrics; i++) {
        const struct exp_metric *m = &res->metric[i];
        if (m->instance >= n || background[m->instance] || !headline_rank(m)) continue;
        if (best && best->instance != m->instance) break;
        if (!best || headline_rank(m) > headline_rank(best)) best = m;
    }
    if (!best) return NULL;
    *instance = best->instance;
    return best->name;
}

const struct exp_metric *exp_result_headline(const struct exp_result *res, uint32_t instance)
{
    const struct exp_metric *best = NULL;
    for (size_t i = 0; i < res->nmetrics; i++) {
        const struct exp_metric *m = &res->metric[i];
        if (m->instance != instance || !headline_rank(m)) continue;
        if (!best || headline_rank(m) > headline_rank(best)) best = m;
    }
    return best;
}

const char *exp_primary_metric(const struct exp_result *res, const struct wb_config *cfg, uint32_t *instance)
{
    size_t n = wb_cfg_count(cfg, "workload");
    bool *background = calloc(n ? n : 1, sizeof *background);
    WB_MEMORY(background, "out of memory for %zu workloads", n);
    for (size_t i = 0; i < n; i++) background[i] = is_background(cfg, (uint32_t)i);
    const char *name = exp_primary_among(res, background, n, instance);
    free(background);
    return name;
}

/* ------------------------------------------------------------------ remarks */
#define OUTLIER_MAD 4.0

static void remark_outliers(struct exp_result *res, const struct exp_metric *m)
{
    if (m->n < 5) return;
    size_t worst = 0, outliers = 0;
    double far = 0;
    for (size_t i = 0; i < m->n; i++) {
        double score = exp_mad_score(m->sample, m->n, i);
        outliers += fabs(score) > OUTLIER_MAD;
        if (fabs(score) > fabs(far)) far = score, worst = i;
    }
    /* Many far ones are no outliers but a second mode, which has its own note. */
    if (!(fabs(far) > OUTLIER_MAD) || outliers * 10 > m->n * 2) return;
    /* Runs that are nearly alike have a distance of next to nothing: what is within the goal moves no mean. */
    if (fabs(m->sample[worst] - m->sum.median) <= res->goal * fabs(m->sum.median)) return;
    char value[48], median[48];
    exp_result_note(res, "W012",
                    "replication %zu is an outlier: its %s is %s, the median %s (%.0f times the usual distance from "
                    "it); the mean follows it, so take more replications (-r), and see in the windows what it did",
                    worst, m->name, exp_format_value(value, sizeof value, m->sample[worst], m->unit),
                    exp_format_value(median, sizeof median, m->sum.median, m->unit), fabs(far));
}

/* A rate of work that is 0 in every replication says how the run was cut, not how fast the work goes. */
static void remark_nothing_done(struct exp_result *res, const struct exp_metric *m)
{
    char measured[48], length[48];
    const char *rate = strchr(m->unit, '/');
    if (!res->timed || !rate || m->better != WB_BETTER_HIGHER || !m->n || m->sum.missing == m->n || m->sum.max > 0)
        return;
    exp_format_value(measured, sizeof measured, res->measured, "s");
    exp_format_value(length, sizeof length, res->duration, "s");
    exp_result_note(
        res, "W017",
        "%s of %s is 0: let runs last longer (--duration), or leave run.duration out, so that work of a fixed size "
        "runs "
        "to its end. In the %s that are counted (of %s) its tasks were still being started, or one piece of work takes "
        "longer",
        m->name, exp_result_workload(res, m->instance), measured, length);
}

/* All windows of all kept replications, in one list; the caller frees. */
static double *all_windows(const struct exp_metric *m, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < EXP_WINDOW_REPLICATIONS; i++) *n += m->nwindow[i];
    double *v = malloc((*n ? *n : 1) * sizeof *v);
    WB_MEMORY(v, "out of memory for %zu windows", *n);
    for (size_t i = 0, at = 0; i < EXP_WINDOW_REPLICATIONS; at += m->nwindow[i], i++)
        if (m->nwindow[i]) memcpy(v + at, m->window[i], m->nwindow[i] * sizeof *v);
    return v;
}

static void remark_modes(struct exp_result *res, const struct exp_metric *m)
{
    size_t n;
    double *v = all_windows(m, &n);
    struct exp_modes windows = exp_modes(v, n), runs = exp_modes(m->sample, m->n);
    const struct exp_modes *k = runs.bimodal ? &runs : &windows;
    char low[32], high[32], width[32];
    exp_format_value(low, sizeof low, k->low, m->unit);
    exp_format_value(high, sizeof high, k->high, m->unit);
    exp_format_value(width, sizeof width, res->window_s, "s");
    if (runs.bimodal)
        exp_result_note(
            res, "W013",
            "%s has two modes over replications: %.0f %% of them near %s, the rest near %s; a mean hides that", m->name,
            100 * k->share_low, low, high);
    else if (windows.bimodal)
        exp_result_note(
            res, "W014",
            "%s has two modes over windows of %s: %.0f %% of the time near %s, the rest near %s; look at the windows",
            m->name, width, 100 * k->share_low, low, high);
    free(v);
}

static void remark_precision(struct exp_result *res, int64_t max, const struct exp_metric *m)
{
    if (res->goal_reached) return;
    size_t need = exp_samples_needed(&m->sum, res->goal, res->confidence);
    if (isinf(res->half_width))
        exp_result_note(res, "W010", "the precision goal %.3g %% cannot be judged after %zu replications",
                        100 * res->goal, res->replications);
    else if (need > 100 * (size_t)max)
        exp_result_note(
            res, "W010",
            "precision goal %.3g %% not reached: interval %.2g %% after %zu replications; it would take more "
            "than %" PRId64 ": ask for less, or let runs last longer",
            100 * res->goal, 100 * res->half_width, res->replications, 100 * max);
    else
        exp_result_note(res, "W010",
                        "precision goal %.3g %% not reached: interval %.2g %% after %zu replications; it would take "
                        "about %zu (run.replications.max is %" PRId64 ")",
                        100 * res->goal, 100 * res->half_width, res->replications, need, max);
}

void exp_result_remark(struct exp_result *res, int64_t max)
{
    const struct exp_metric *m = res->primary ? exp_result_find(res, res->primary_instance, res->primary) : NULL;
    if (!res->primary)
        exp_result_note(res, "W016", "no workload reports a figure that could decide how many replications are enough");
    if (m) remark_precision(res, max, m);
    if (m && m->sum.missing)
        exp_result_note(res, "W015", "%s does not exist in %zu of %zu replications", m->name, m->sum.missing, m->n);
    for (uint32_t i = 0; i < res->nworkloads; i++) {
        const struct exp_metric *own = exp_result_headline(res, i);
        if (own) remark_nothing_done(res, own);
    }
    if (m) remark_outliers(res, m);
    if (m) remark_modes(res, m);
    if (res->unfinished)
        exp_result_note(res, "W011", "%zu of %zu replications reached run.horizon before their work was done",
                        res->unfinished, res->replications);
}
