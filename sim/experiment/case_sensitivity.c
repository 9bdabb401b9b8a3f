/*
 * case_sensitivity.c - does a verdict hang on a cost that nobody checked?
 *
 * Each sensitive cost is put to both ends of its plausible range, alone, in all variants that a prediction
 * looks at. Configurations that come out equal (the key does not matter to them, or the end is the value
 * itself) are simulated once.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "exp_format.h"
#include "sha256.h"
#include "wakebal/units.h"

struct end {
    int64_t v;
    const char *key;
    char value[64];
};

struct trial {
    size_t end, variant;
    struct wb_config *cfg;
    char sha[65];
    size_t unique; /* index of its simulation */
};

struct ranges {
    struct case_file *c;
    struct wb_diag *d;
    struct end *end;
    size_t nends;
    struct trial *trial;
    size_t ntrials;
    struct exp_point *point; /* unique configurations */
    size_t npoints;
};

static void *need(void *p)
{
    WB_MEMORY(p, "out of memory while the ranges of costs were tried");
    return p;
}

static bool is_sensitive(const struct wb_config *base, const char *path)
{
    for (size_t i = 0; i < wb_cfg_count(base, "sensitivity"); i++) {
        const char *pattern = wb_cfg_str_at(base, "sensitivity", i);
        if (!strcmp(pattern, "all") || !fnmatch(pattern, path, 0)) return true;
    }
    return false;
}

/* The value in the key's own scale: cycles stay cycles. */
static void range_text(const struct wb_config *cfg, const char *path, int64_t v, char *buf, size_t n)
{
    char now[128];
    wb_cfg_text(cfg, path, now, sizeof now);
    size_t len = strlen(now);
    const struct wb_key *row = wb_cfg_row(cfg, path);
    static const enum wb_unit unit_of[] = {
        [WB_KEY_TIME] = WB_UNIT_TIME,  [WB_KEY_COST] = WB_UNIT_TIME, [WB_KEY_DIST] = WB_UNIT_TIME,
        [WB_KEY_SIZE] = WB_UNIT_SIZE,  [WB_KEY_RATE] = WB_UNIT_RATE, [WB_KEY_FREQ] = WB_UNIT_FREQ,
        [WB_KEY_RATIO] = WB_UNIT_RATIO};
    enum wb_unit unit = row && row->type < WB_ARRAY_SIZE(unit_of) ? unit_of[row->type] : WB_UNIT_COUNT;
    if (len > 2 && !strcmp(now + len - 2, "cy")) unit = WB_UNIT_CYCLES;
    wb_format_exact(buf, n, v, unit);
}

static void add_end(struct ranges *g, const struct wb_config *cfg, const char *path, int64_t v)
{
    g->end = need(realloc(g->end, (g->nends + 1) * sizeof *g->end));
    struct end *e = &g->end[g->nends++];
    e->key = path;
    e->v = v;
    range_text(cfg, path, v, e->value, sizeof e->value);
}

/* Is this the end of an assumed cost's range in this variant? Variants on other machines have ranges of their own. */
static bool is_end_of(const struct wb_config *cfg, const char *path, int64_t v)
{
    if (!wb_cfg_has(cfg, path)) return false;
    const struct wb_origin *o = wb_cfg_origin(cfg, path);
    return o->status == WB_ASSUMED && o->range_lo <= o->range_hi && (v == o->range_lo || v == o->range_hi);
}

static bool is_known(const struct ranges *g, const char *path, int64_t v)
{
    for (size_t k = 0; k < g->nends; k++)
        if (!strcmp(g->end[k].key, path) && g->end[k].v == v) return true;
    return false;
}

/* All ends, from the variants that matter, each once. */
static void collect_ends(struct ranges *g)
{
    const struct wb_config *base = wb_scenario_config(g->c->scenario);
    const char *path;
    for (size_t v = 0; v < g->c->nvariants; v++) {
        const struct wb_config *cfg = g->c->variant[v].cfg;
        for (size_t i = 0; g->c->variant[v].predicts && (path = wb_cfg_path_at(cfg, i)); i++) {
            const struct wb_origin *o = wb_cfg_origin(cfg, path);
            if (o->status != WB_ASSUMED || o->range_lo > o->range_hi || !is_sensitive(base, path)) continue;
            if (!is_known(g, path, o->range_lo)) add_end(g, cfg, path, o->range_lo);
            if (!is_known(g, path, o->range_hi)) add_end(g, cfg, path, o->range_hi);
        }
    }
}

/* The variant with the cost at this end (NULL: as it is), for fewer and perhaps shorter replications. */
static struct wb_config *trial_config(struct ranges *g, size_t variant, const struct end *e)
{
    const struct wb_config *base = wb_scenario_config(g->c->scenario);
    char replications[24], duration[48];
    snprintf(replications, sizeof replications, "%" PRId64, wb_cfg_int(base, "sensitivity_replications"));
    struct wb_override more[4] = {{.key = "run.replications.min", .value = replications, .from = "sensitivity"},
                                  {.key = "run.replications.max", .value = replications, .from = "sensitivity"}};
    size_t n = 2;
    if (e) more[n++] = (struct wb_override){.key = e->key, .value = e->value, .from = "sensitivity"};
    if (wb_cfg_has(base, "sensitivity_duration"))
        more[n++] = (struct wb_override){.key = "run.duration",
                                         .from = "sensitivity",
                                         .value = wb_cfg_text(base, "sensitivity_duration", duration, sizeof duration)};
    return case_variant_config(g->c, variant, more, n, g->d);
}

static int add_trial(struct ranges *g, size_t end, size_t variant)
{
    const struct end *e = end < g->nends ? &g->end[end] : NULL;
    if (e && !is_end_of(g->c->variant[variant].cfg, e->key, e->v)) return 0;
    struct wb_config *cfg = trial_config(g, variant, e);
    if (!cfg) return -1;
    struct trial *t = &g->trial[g->ntrials++];
    *t = (struct trial){.end = end, .variant = variant, .cfg = cfg, .unique = SIZE_MAX};
    char *canonical = need(wb_cfg_canonical(cfg));
    sha256_hex(canonical, strlen(canonical), t->sha);
    free(canonical);
    for (size_t k = 0; k + 1 < g->ntrials && t->unique == SIZE_MAX; k++)
        if (!strcmp(g->trial[k].sha, t->sha)) t->unique = g->trial[k].unique;
    if (t->unique != SIZE_MAX) return 0;
    t->unique = g->npoints;
    g->point[g->npoints++] = (struct exp_point){.cfg = cfg, .label = e ? e->key : "as it is"};
    return 0;
}

/* The last "end" is none: costs as they are, for as short a time, so that swings have a middle. */
static int make_trials(struct ranges *g)
{
    size_t room = (g->nends + 1) * g->c->nvariants + 1;
    g->trial = need(calloc(room, sizeof *g->trial));
    g->point = need(calloc(room, sizeof *g->point));
    for (size_t e = 0; e <= g->nends && g->nends; e++)
        for (size_t v = 0; v < g->c->nvariants; v++)
            if (g->c->variant[v].predicts && add_trial(g, e, v)) return -1;
    return 0;
}

static void check_flip(struct ranges *g, struct case_row *r, size_t end, double v)
{
    bool wants = case_row_wants(r, v), wanted = r->verdict == CASE_PASS;
    if (r->flips || isnan(v) || wants == wanted) return;
    char figure[48];
    int rc = asprintf(&r->flips, "%s = %s gives %s", g->end[end].key, g->end[end].value,
                      exp_format_value(figure, sizeof figure, v, r->unit));
    WB_MEMORY(rc >= 0, "out of memory while the ranges of costs were tried");
}

static struct case_swing *swing_of(struct case_row *r, const struct end *e)
{
    for (size_t i = 0; i < r->nswings; i++)
        if (!strcmp(r->swing[i].key, e->key)) return &r->swing[i];
    r->swing = need(realloc(r->swing, (r->nswings + 1) * sizeof *r->swing));
    r->swing[r->nswings] = (struct case_swing){.key = e->key, .v_low = INT64_MAX, .v_high = INT64_MIN};
    return &r->swing[r->nswings++];
}

/* Where variants have ranges of their own, the outermost ends count. */
static void note_swing(struct ranges *g, struct case_row *r, size_t end, double v)
{
    const struct end *e = &g->end[end];
    struct case_swing *s = swing_of(r, e);
    if (e->v < s->v_low) {
        s->v_low = e->v;
        s->at_low = v;
        snprintf(s->low, sizeof s->low, "%s", e->value);
    }
    if (e->v > s->v_high) {
        s->v_high = e->v;
        s->at_high = v;
        snprintf(s->high, sizeof s->high, "%s", e->value);
    }
}

/* Results of all variants at this end. `shorter`: variants that the cost does not touch come from equally short runs,
 * else from the full ones. */
static void results_at(const struct ranges *g, const struct exp_study *study, size_t end, bool shorter,
                       struct exp_result **res)
{
    memcpy(res, g->c->study->result, g->c->nvariants * sizeof *res);
    for (size_t pass = shorter ? 0 : 1; pass < 2; pass++)
        for (size_t t = 0; t < g->ntrials; t++)
            if (g->trial[t].end == (pass ? end : g->nends))
                res[g->trial[t].variant] = study->result[g->trial[t].unique];
}

static double figure_at(const struct ranges *g, struct case_row *r, struct exp_result *const *res)
{
    double *sample;
    size_t n;
    double v = case_row_evaluate(g->c, r, res, &sample, &n);
    free(sample);
    return v;
}

static void judge_ends(struct ranges *g, struct exp_study *study)
{
    struct exp_result **res = need(calloc(g->c->nvariants ? g->c->nvariants : 1, sizeof(struct exp_result *)));
    for (size_t e = 0; e <= g->nends && g->nends; e++)
        for (size_t i = 0; i < g->c->nrows; i++) {
            struct case_row *r = &g->c->row[i];
            if (r->class != CASE_PREDICTS) continue;
            results_at(g, study, e, true, res);
            double v = figure_at(g, r, res);
            if (e == g->nends) r->unswung = v;
            if (e == g->nends) continue;
            note_swing(g, r, e, v);
            results_at(g, study, e, false, res);
            if (r->verdict == CASE_PASS || r->verdict == CASE_FAIL) check_flip(g, r, e, figure_at(g, r, res));
        }
    for (size_t i = 0; i < g->c->nrows; i++)
        if (g->c->row[i].flips) g->c->row[i].verdict = CASE_UNDETERMINED;
    free(res);
}

int case_try_ranges(struct case_file *c, const struct exp_options *opt, struct wb_diag *d)
{
    const struct wb_config *base = wb_scenario_config(c->scenario);
    if (!wb_cfg_has(base, "sensitivity")) return 0;
    struct ranges g = {.c = c, .d = d};
    int rc = -1;
    collect_ends(&g);
    struct exp_study *study = NULL;
    struct exp_options ranges = *opt;
    ranges.stage = "plausible ranges";
    if (!make_trials(&g)) study = exp_run(g.point, g.npoints, &ranges, d);
    if (study) {
        c->interrupted |= study->interrupted;
        if (!study->interrupted) judge_ends(&g, study);
        for (size_t i = 0; i < study->n; i++)
            c->sensitivity_runs += study->result[i] ? study->result[i]->replications : 0;
        rc = 0;
    }
    exp_study_free(study);
    for (size_t i = 0; i < g.ntrials; i++) wb_config_free(g.trial[i].cfg);
    free(g.end);
    free(g.trial);
    free(g.point);
    return rc;
}
