/* valid_predict.c - the simulated side of each case: replications with costs drawn from their intervals. */
#include "valid.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exp_stats.h"
#include "exp_threads.h"
#include "sha256.h"
#include "wakebal/keys.h"
#include "wakebal/units.h"

#define REPLICATIONS_MAX 32u

struct replication {
    double value, together, figure[VALID_FIGURES];
    char reason[160];
};

struct job {
    struct wb_config *cfg;
    struct wb_scenario *s;
    size_t at;
    uint32_t replication;
    struct replication out;
    bool ok;
};

/* ------------------------------------------------------------------ scenario of a case */
struct text_reader {
    struct wb_reader r;
    char text[2048];
};

static int read_text(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    const struct text_reader *t = ctx;
    const char *slash = strrchr(path, '/');
    if (strcmp(slash ? slash + 1 : path, "validation.cfg"))
        return wb_reader_files.read(wb_reader_files.ctx, path, text, len, why);
    *text = strdup(t->text);
    *len = strlen(t->text);
    return *text ? 0 : -ENOMEM;
}

static bool exists(void *ctx, const char *path)
{
    const char *slash = strrchr(path, '/');
    (void)ctx;
    return !strcmp(slash ? slash + 1 : path, "validation.cfg") || wb_reader_files.exists(wb_reader_files.ctx, path);
}

/* "hog,count=1,nice=10,cpus=0" as settings of workload bN. */
static size_t background_settings(const struct valid_case *c, size_t b, struct wb_override *set, size_t n,
                                  char (*key)[64], char (*value)[64])
{
    char text[64], *save = NULL;
    snprintf(text, sizeof text, "%s", c->background[b]);
    for (char *w = strtok_r(text, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
        char *eq = strchr(w, '=');
        if (!eq) continue;
        *eq = '\0';
        snprintf(key[n], 64, "workload.b%zu.%s", b, w);
        snprintf(value[n], 64, "%s", eq + 1);
        set[n] = (struct wb_override){.key = key[n], .value = value[n], .from = "validation"};
        n++;
    }
    return n;
}

#define SETTINGS 40
static struct wb_scenario *load_case(const struct valid_case *c, const struct valid_env *env, struct text_reader *t,
                                     struct wb_diag *d)
{
    char key[SETTINGS][64], value[SETTINGS][64];
    struct wb_override set[SETTINGS];
    size_t n = 0;
    bool endless = c->kind != REAL_HACKBENCH;
    t->r = (struct wb_reader){read_text, exists, t};
    int at = snprintf(t->text, sizeof t->text, "schema = 1;\nworkload = ( { kind = \"%s\"; name = \"w\"; }",
                      real_kind_name(c->kind));
    for (size_t b = 0; b < WB_ARRAY_SIZE(c->background); b++)
        if (c->background[b][0])
            at += snprintf(t->text + at, sizeof t->text - (size_t)at,
                           ", { kind = \"hog\"; name = \"b%zu\"; background = true; }", b);
    snprintf(t->text + at, sizeof t->text - (size_t)at, " );\nrun : { %swarmup = \"%s\"; window = \"10 ms\"; };\n",
             endless ? "duration = \"400 ms\"; " : "", endless ? "50 ms" : "none");
    for (size_t i = 0; i < c->nkeys; i++, n++) {
        snprintf(key[n], 64, "workload.w.%s", c->key[i]);
        snprintf(value[n], 64, "%s", c->value[i]);
        set[n] = (struct wb_override){.key = key[n], .value = value[n], .from = "validation"};
    }
    for (size_t b = 0; b < WB_ARRAY_SIZE(c->background); b++)
        if (c->background[b][0]) n = background_settings(c, b, set, n, key, value);
    struct wb_overrides o = {.item = set, .n = n, .machine = env->machine, .kernel = env->kernel};
    struct wb_scenario_options opt = {.reader = &t->r, .overrides = &o};
    return wb_scenario_load_with("validation.cfg", env->keys, &opt, d);
}

/* ------------------------------------------------------------------ costs drawn from their intervals */
/* Costs that one fit moved together carry the same method text: they get the same draw. */
static double draw_for(const char *source, uint32_t replication)
{
    uint64_t h = 1469598103934665603u;
    for (const char *p = source; *p; p++) h = (h ^ (unsigned char)*p) * 1099511628211u;
    struct wb_stream s = wb_stream_make(1, replication, h, WB_PURPOSE('c', 'o', 's', 't'));
    double u = ((double)(wb_draw_u64(&s) >> 11) + 0.5) * 0x1p-53;
    return gsl_cdf_ugaussian_Pinv(u);
}

#define COSTS_MAX 128
#define VALUE_MAX 1024 /* of a setting: a table of some dozens of values */

/* The deviation of a cost's logarithm, from its 95 % interval. */
static double deviation(const struct wb_origin *o)
{
    bool range = o && o->range_lo > 0 && o->range_lo < o->range_hi;
    return range ? log((double)o->range_hi / (double)o->range_lo) / (2 * 1.96) : 0;
}

/* A table of times, all times the same draw: what is uncertain is where it lies, not its shape. 1 when it is one. */
static size_t draw_dist(const struct wb_config *cfg, const char *path, uint32_t replication, struct wb_override *set,
                        char *key, char *value)
{
    const struct wb_dist *t = wb_cfg_dist(cfg, path);
    const struct wb_origin *o = wb_cfg_origin(cfg, path);
    if (!replication || !t || t->kind != WB_DIST_TABLE) return 0;
    double by = exp(fmin(deviation(o), 0.5) * draw_for(path, replication));
    size_t at = 0;
    uint64_t before = 0;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t weight = ((t->cumulative[i] - before) * 10000 + (1ull << 31)) >> 32;
        before = t->cumulative[i];
        at += (size_t)snprintf(value + at, VALUE_MAX - at, "%s%lld ps:%llu", i ? "," : "table(",
                               (long long)llround((double)t->value[i] * by), (unsigned long long)weight);
        if (at + 2 >= VALUE_MAX) return 0;
    }
    snprintf(value + at, VALUE_MAX - at, ")");
    snprintf(key, 72, "%s", path);
    *set = (struct wb_override){.key = key, .value = value, .from = "validation"};
    return 1;
}

static size_t draw_costs(const struct wb_config *cfg, uint32_t replication, const struct valid_env *env,
                         struct wb_override *set, char (*key)[72], char (*value)[VALUE_MAX])
{
    size_t n = 0;
    for (size_t i = 0; n < COSTS_MAX; i++) {
        const char *path = wb_cfg_path_at(cfg, i);
        if (!path) break;
        const struct wb_origin *o = wb_cfg_origin(cfg, path);
        const struct wb_key *row = wb_cfg_row(cfg, path);
        bool scaled = env->scale && !strcmp(env->scale, path);
        if (!row || (!scaled && (!o || o->status != WB_MEASURED || o->range_lo >= o->range_hi || o->range_lo <= 0)))
            continue;
        if (row->type == WB_KEY_DIST && !scaled) {
            n += draw_dist(cfg, path, replication, &set[n], key[n], value[n]);
            continue;
        }
        if (row->type != WB_KEY_COST && row->type != WB_KEY_RATE) continue;
        double v = row->type == WB_KEY_RATE
                       ? (double)wb_cfg_int(cfg, path)
                       : (double)wb_cfg_cost(cfg, path, (uint64_t)wb_cfg_int(cfg, "machine.clock"), 1000000);
        if (replication) v *= exp(fmin(deviation(o), 0.5) * draw_for(o && o->source ? o->source : path, replication));
        if (scaled) v *= env->scale_key;
        snprintf(key[n], 72, "%s", path);
        wb_format_exact(value[n], VALUE_MAX, (int64_t)llround(v),
                        row->type == WB_KEY_RATE ? WB_UNIT_RATE : WB_UNIT_TIME);
        set[n] = (struct wb_override){.key = key[n], .value = value[n], .from = "validation"};
        n++;
    }
    return n;
}

static struct wb_config *drawn_config(struct wb_scenario *s, uint32_t replication, const struct valid_env *env,
                                      struct wb_diag *d)
{
    char(*key)[72] = malloc(COSTS_MAX * sizeof *key);
    char(*value)[VALUE_MAX] = malloc(COSTS_MAX * sizeof *value);
    struct wb_override *set = malloc(COSTS_MAX * sizeof *set);
    struct wb_config *cfg = NULL;
    if (key && value && set) {
        struct wb_overrides o = {.item = set,
                                 .n = draw_costs(wb_scenario_config(s), replication, env, set, key, value)};
        cfg = wb_scenario_at(s, &o, d);
    }
    free(key);
    free(value);
    free(set);
    return cfg;
}

/* ------------------------------------------------------------------ one replication */
static double metric(const struct wb_result *r, uint32_t instance, const char *name)
{
    const struct wb_metric *m = wb_result_find(r, instance, name);
    return m ? m->value : NAN;
}

/* "sched 31 %, idle_exit 22 %, copy_user 9 %": where the time went. */
static void write_reason(const struct wb_result *r, char *out, size_t n)
{
    double all = 0;
    size_t at = 0;
    bool used[256] = {false};
    *out = '\0';
    for (size_t i = 0; i < r->nfn; i++)
        if (strcmp(r->fn_name[i], "idle")) all += (double)r->fn_time[i];
    for (int k = 0; k < 4 && all > 0; k++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < r->nfn && i < WB_ARRAY_SIZE(used); i++)
            if (!used[i] && strcmp(r->fn_name[i], "idle") && (best == SIZE_MAX || r->fn_time[i] > r->fn_time[best]))
                best = i;
        if (best == SIZE_MAX) break;
        used[best] = true;
        at += (size_t)snprintf(out + at, n - at, "%s%s %.0f %%", k ? ", " : "", r->fn_name[best],
                               (double)r->fn_time[best] / all * 100);
        if (at >= n) break;
    }
}

static double quantile(const struct wb_metric *m, uint32_t ppm)
{
    return m && m->hist ? (double)wb_hist_quantile(m->hist, ppm) * 1e-12 : NAN;
}

/* Without placements of new tasks: wake_up_new_task() sets their CPU without counting (__set_task_cpu). */
static double moves_per_second(const struct wb_result *r)
{
    double rate = metric(r, UINT32_MAX, "migrations.rate"), born = metric(r, UINT32_MAX, "migrations.fork");
    double seconds = metric(r, UINT32_MAX, "measured");
    return seconds > 0 && isfinite(born) ? fmax(rate - born / seconds, 0) : rate;
}

/* Switches of tasks: those from the idle task are not counted for real. Not with hogs beside, whose own are in the
 * simulated sum. */
static void read_figures(const struct valid_case *c, const struct wb_result *r, const struct wb_metric *lat,
                         struct replication *out)
{
    bool alone = !c->background[0][0], pinned = isnan(out->together) || !c->unpinned;
    double rate = metric(r, UINT32_MAX, "switches.rate"), all = metric(r, UINT32_MAX, "switches");
    double tasks = all > 0 ? fmax(1 - metric(r, UINT32_MAX, "idle_entries") / all, 0) : 0;
    out->figure[VALID_P50] = quantile(lat, 500000);
    out->figure[VALID_P90] = quantile(lat, 900000);
    out->figure[VALID_P99] = quantile(lat, 990000);
    out->figure[VALID_SWITCHES] =
        alone && c->kind != REAL_SYSCALL ? valid_per_operation(c, rate * tasks, out->value) : NAN;
    out->figure[VALID_MIGRATIONS] = c->unpinned ? moves_per_second(r) : NAN;
    out->figure[VALID_TOGETHER] = pinned ? NAN : out->together;
}

static void simulate(struct job *j, const struct valid_case *c, const struct valid_env *env, struct wb_diag *d)
{
    struct wb_run_options opt = {0};
    struct wb_sim *s = wb_sim_build(j->cfg, env->models, j->replication, &opt, d);
    if (!s) return;
    (void)wb_sim_run(s);
    const struct wb_result *r = wb_sim_result(s);
    const struct wb_metric *lat = wb_result_find(r, 0, c->kind == REAL_PIPE_LATENCY ? "trip_time" : "transaction_time");
    j->out = (struct replication){.value = metric(r, 0, c->metric), .together = metric(r, 0, "colocated")};
    read_figures(c, r, lat, &j->out);
    write_reason(r, j->out.reason, sizeof j->out.reason);
    j->ok = isfinite(j->out.value) && j->out.value > 0;
    wb_sim_free(s);
}

static double mean_of(const struct job *j, size_t n, size_t offset)
{
    double sum = 0;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        double v;
        memcpy(&v, (const char *)&j[i].out + offset, sizeof v);
        if (j[i].ok && isfinite(v)) sum += v, k++;
    }
    return k ? sum / (double)k : NAN;
}

/* Median of the replications; interval of one real run: their spread and the class's own, as logarithms. */
static void summarize(struct valid_case *c, const struct job *j, size_t n)
{
    double v[REPLICATIONS_MAX], sum = 0, squares = 0;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (j[i].ok) v[k++] = log(j[i].out.value);
    c->predicted = k > 0;
    if (!k) return;
    for (size_t i = 0; i < k; i++) sum += v[i];
    for (size_t i = 0; i < k; i++) squares += (v[i] - sum / (double)k) * (v[i] - sum / (double)k);
    double sd = k > 1 ? sqrt(squares / (double)(k - 1)) : 0, t = k > 1 ? gsl_cdf_tdist_Pinv(0.975, (double)(k - 1)) : 2;
    double own = valid_classes[c->klass].cv, wide = sqrt(pow(t * sd, 2) * (1 + 1 / (double)k) + pow(1.96 * own, 2));
    struct exp_summary s = exp_summarize(v, k, 0.95);
    c->mean = exp(s.median);
    c->lo = c->mean * exp(-wide);
    c->hi = c->mean * exp(wide);
    c->mode_together = mean_of(j, n, offsetof(struct replication, together));
    for (size_t i = 0; i < VALID_FIGURES; i++)
        c->figure[i].predicted = mean_of(j, n, offsetof(struct replication, figure) + i * sizeof(double));
    memcpy(c->reason, j[0].out.reason, sizeof c->reason);
}

static const char *metric_of(enum real_kind kind, const char **unit)
{
    static const struct {
        const char *name, *unit;
    } m[REAL_KINDS] = {[REAL_PIPE_BW] = {"bandwidth", "B/s"},    [REAL_PIPE_LATENCY] = {"round_trip", "s"},
                       [REAL_TCP_RR] = {"transactions", "1/s"},  [REAL_UDP_RR] = {"transactions", "1/s"},
                       [REAL_UNIX_RR] = {"transactions", "1/s"}, [REAL_HACKBENCH] = {"time", "s"},
                       [REAL_SYSCALL] = {"calls", "1/s"},        [REAL_HOG] = {"work", "1/s"},
                       [REAL_PERIODIC] = {"cycles", "1/s"}};
    *unit = m[kind].unit;
    return m[kind].name;
}

/* A kind that the simulator does not have is no error of the matrix: the case is left out with its reason. */
static bool simulated_kind(const struct valid_env *env, enum real_kind kind)
{
    for (size_t i = 0; i < env->models->nworkloads; i++)
        if (!strcmp(env->models->workloads[i]->kind, real_kind_name(kind))) return true;
    return false;
}

static int predict_case(struct valid_case *c, const struct valid_env *env, struct wb_diag *d)
{
    uint32_t n = WB_MIN(env->replications, REPLICATIONS_MAX);
    struct job *j = calloc(n, sizeof *j);
    struct text_reader *t = calloc(1, sizeof *t);
    c->metric = metric_of(c->kind, &c->unit);
    c->mean = c->lo = c->hi = c->mode_together = NAN;
    for (int k = 0; k < VALID_FIGURES; k++) c->figure[k].predicted = NAN;
    if (!simulated_kind(env, c->kind)) {
        snprintf(c->failed, sizeof c->failed, "the simulator has no workload %s", real_kind_name(c->kind));
        free(j);
        free(t);
        return 0;
    }
    struct wb_scenario *s = j && t ? load_case(c, env, t, d) : NULL;
    int rc = s ? 0 : -1;
    for (uint32_t i = 0; i < n && !rc; i++) {
        j[i].replication = i;
        if (!(j[i].cfg = drawn_config(s, i, env, d))) rc = -1;
    }
    if (!rc) {
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(exp_threads(0, n))
#endif
        for (uint32_t i = 0; i < n; i++)
            if (!env->stop || !*env->stop) {
                struct wb_diag *own = wb_diag_new(); /* building says its errors one thread at a time */
                simulate(&j[i], c, env, own);
                wb_diag_free(own);
            }
        summarize(c, j, n);
        if (!c->predicted) snprintf(c->failed, sizeof c->failed, "the simulation gave no figure");
    }
    for (uint32_t i = 0; j && i < n; i++) wb_config_free(j[i].cfg);
    if (s) wb_scenario_free(s);
    free(t);
    free(j);
    return rc;
}

static void hash_predictions(struct valid_set *v, const struct valid_env *env)
{
    json_t *j = valid_json(v, env, false);
    char *text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(12));
    if (text) sha256_hex(text, strlen(text), v->hash);
    free(text);
    json_decref(j);
}

int valid_predict(struct valid_set *v, const struct valid_env *env, struct wb_diag *d)
{
    for (size_t i = 0; i < v->n; i++) {
        if (env->stop && *env->stop) return -EINTR;
        if (env->progress) env->progress(env->ctx, "predicting", i, v->n, 0);
        if (predict_case(&v->c[i], env, d) < 0) return -1;
    }
    hash_predictions(v, env);
    return 0;
}
