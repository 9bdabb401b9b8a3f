#include "exp_result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure_stats.h"
#include "wakebal/profileview.h"

#define IDLE_FN "idle"

static void *need(void *p)
{
    WB_MEMORY(p, "out of memory while results were gathered");
    return p;
}

static char *copy(const char *text)
{
    return need(strdup(text ? text : ""));
}

/* ------------------------------------------------------------------ one replication */
static const char *keep(struct arena *a, const char *text)
{
    return need(arena_strdup(a, text ? text : "", text ? strlen(text) : 0));
}

static void copy_metric(struct arena *a, struct wb_metric *to, const struct wb_metric *from, size_t nwindows)
{
    *to = *from;
    to->name = keep(a, from->name);
    to->unit = keep(a, from->unit);
    to->help = keep(a, from->help);
    if (from->hist) {
        struct wb_hist *h = need(ARENA_NEW(a, struct wb_hist, 1));
        *h = *from->hist;
        to->hist = h;
    }
    if (!from->window) return;
    double *w = need(ARENA_NEW(a, double, nwindows));
    if (nwindows) memcpy(w, from->window, nwindows * sizeof *w);
    to->window = w;
}

static const char **copy_names(struct arena *a, const char *const *name, size_t n)
{
    const char **to = need(ARENA_NEW(a, const char *, n));
    for (size_t i = 0; i < n; i++) to[i] = keep(a, name[i]);
    return to;
}

static uint64_t *copy_counts(struct arena *a, const uint64_t *from, size_t n)
{
    uint64_t *to = need(ARENA_NEW(a, uint64_t, n));
    if (n) memcpy(to, from, n * sizeof *to);
    return to;
}

void exp_rep_copy(struct exp_rep *rep, const struct wb_result *r)
{
    struct arena *a = &rep->arena;
    arena_init(a, "replication");
    rep->built = true;
    rep->finished = r->finished;
    rep->r = *r;
    rep->r.trace = NULL;
    rep->r.metric = need(ARENA_NEW(a, struct wb_metric, r->nmetrics));
    for (size_t i = 0; i < r->nmetrics; i++) copy_metric(a, &rep->r.metric[i], &r->metric[i], r->nwindows);
    rep->r.fn_name = copy_names(a, r->fn_name, r->nfn);
    rep->r.fn_time = copy_counts(a, r->fn_time, r->nfn);
    rep->r.rule_name = copy_names(a, r->rule_name, r->nrules);
    rep->r.rule_count = copy_counts(a, r->rule_count, r->nrules);
    rep->r.fault = need(ARENA_NEW(a, struct wb_fault, r->nfaults));
    if (r->nfaults) memcpy(rep->r.fault, r->fault, r->nfaults * sizeof *r->fault);
    rep->r.cat_time = need(arena_alloc(a, r->ncpus, sizeof *r->cat_time, ARENA_LINE));
    if (r->ncpus) memcpy(rep->r.cat_time, r->cat_time, r->ncpus * sizeof *r->cat_time);
}

void exp_rep_free(struct exp_rep *rep)
{
    if (rep->built) arena_free(&rep->arena);
    rep->built = false;
}

/* ------------------------------------------------------------------ all of them */
struct exp_result *exp_result_new(void)
{
    struct exp_result *res = need(calloc(1, sizeof *res));
    res->label = copy("");
    res->stopped = "fixed number";
    res->goal_reached = true;
    res->half_width = NAN;
    return res;
}

/* Workloads by index, the machine (UINT32_MAX) last; then by name. */
static int metric_order(uint32_t instance, const char *name, const struct exp_metric *m)
{
    if (instance != m->instance) return instance < m->instance ? -1 : 1;
    return strcmp(name, m->name);
}

/* Index of the metric, or where it belongs. */
static size_t metric_place(const struct exp_result *res, uint32_t instance, const char *name, bool *found)
{
    size_t lo = 0, hi = res->nmetrics;
    *found = false;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = metric_order(instance, name, &res->metric[mid]);
        if (!c) {
            *found = true;
            return mid;
        }
        *(c < 0 ? &hi : &lo) = c < 0 ? mid : mid + 1;
    }
    return lo;
}

static struct exp_metric *metric_insert(struct exp_result *res, size_t at, const struct wb_metric *from)
{
    res->metric = need(realloc(res->metric, (res->nmetrics + 1) * sizeof *res->metric));
    memmove(res->metric + at + 1, res->metric + at, (res->nmetrics - at) * sizeof *res->metric);
    res->nmetrics++;
    struct exp_metric *m = &res->metric[at];
    *m = (struct exp_metric){.name = copy(from->name),
                             .unit = copy(from->unit),
                             .help = copy(from->help),
                             .better = from->better,
                             .instance = from->instance,
                             .integer = from->integer};
    return m;
}

/* Let the samples reach `n` entries; what is missing did not exist. */
static void pad_samples(struct exp_metric *m, size_t n)
{
    if (m->n >= n) return;
    m->sample = need(realloc(m->sample, n * sizeof *m->sample));
    while (m->n < n) m->sample[m->n++] = NAN;
}

static void fold_metric(struct exp_result *res, const struct wb_metric *from, size_t nwindows)
{
    bool found;
    size_t at = metric_place(res, from->instance, from->name, &found), rep = res->replications;
    struct exp_metric *m = found ? &res->metric[at] : metric_insert(res, at, from);
    pad_samples(m, rep + 1);
    WB_CHECK(m->sample && rep < m->n, "sample %zu of %zu", rep, m->n);
    m->sample[rep] = from->value;
    m->integer = m->integer && from->integer;
    if (from->hist) {
        if (!m->hist) m->hist = need(calloc(1, sizeof *m->hist)), wb_hist_reset(m->hist);
        wb_hist_merge(m->hist, from->hist);
    }
    if (from->window && nwindows && from->instance != EXP_MACHINE && rep < EXP_WINDOW_REPLICATIONS) {
        m->window[rep] = need(malloc(nwindows * sizeof(double)));
        memcpy(m->window[rep], from->window, nwindows * sizeof(double));
        m->nwindow[rep] = nwindows;
    }
}

/* Index of a name; the hint is right nearly always, since runs list their names in the same order. */
static size_t named_place(const struct exp_named *list, size_t n, const char *name, size_t hint)
{
    if (hint < n && !strcmp(list[hint].name, name)) return hint;
    size_t k = 0;
    while (k < n && (list[k].name[0] != *name || strcmp(list[k].name, name))) k++;
    return k;
}

static void fold_named(struct exp_named **list, size_t *n, const char *const *name, const uint64_t *count, size_t more)
{
    for (size_t i = 0; i < more; i++) {
        size_t k = named_place(*list, *n, name[i], i);
        if (k == *n) {
            *list = need(realloc(*list, (*n + 1) * sizeof **list));
            (*list)[(*n)++] = (struct exp_named){.name = copy(name[i])};
        }
        (*list)[k].count += count[i];
    }
}

static void fold_faults(struct exp_result *res, const struct wb_result *r)
{
    for (size_t i = 0; i < r->nfaults; i++) {
        const struct wb_fault *from = &r->fault[i];
        size_t k = 0;
        while (k < res->nfaults && (res->fault[k].kind != from->kind || strcmp(res->fault[k].task, from->task))) k++;
        if (k == res->nfaults) {
            res->fault = need(realloc(res->fault, (k + 1) * sizeof *res->fault));
            res->fault[res->nfaults++] = (struct exp_fault){.kind = from->kind, .task = copy(from->task)};
        }
        res->fault[k].count += from->count;
        res->fault[k].total += from->total;
        res->fault[k].longest = WB_MAX(res->fault[k].longest, from->longest);
    }
}

/* Shares of the functions, which fold_named() has put into the list. */
static void fold_shares(struct exp_result *res, const struct wb_result *r)
{
    size_t rep = res->replications;
    double busy = 0;
    for (size_t i = 0; i < r->nfn; i++)
        if (strcmp(r->fn_name[i], IDLE_FN)) busy += (double)r->fn_time[i];
    for (size_t i = 0; i < r->nfn; i++) {
        struct exp_named *f = &res->fn[named_place(res->fn, res->nfn, r->fn_name[i], i)];
        f->share = need(realloc(f->share, (rep + 1) * sizeof *f->share));
        while (f->nshare < rep) f->share[f->nshare++] = 0;
        f->share[f->nshare++] = busy > 0 ? (double)r->fn_time[i] / busy : NAN;
    }
}

double exp_result_share(const struct exp_result *res, const char *fn, size_t replication)
{
    size_t k = named_place(res->fn, res->nfn, fn, 0);
    return k < res->nfn && replication < res->fn[k].nshare ? res->fn[k].share[replication] : NAN;
}

static void fold_times(struct exp_result *res, const struct wb_result *r)
{
    WB_CHECK(res->ncpus == r->ncpus, "%u CPUs, and in another replication %u", res->ncpus, r->ncpus);
    for (uint32_t c = 0; c < r->ncpus; c++)
        for (size_t k = 0; k < WB_CAT_N; k++) {
            res->cat[k] += r->cat_time[c][k];
            res->cat_cpu[c][k] += r->cat_time[c][k];
        }
}

/* How long was measured, as a figure like any other: expressions turn rates into amounts with it. */
static void fold_measured(struct exp_result *res, const struct wb_result *r)
{
    const struct wb_metric m = {.name = "measured",
                                .unit = "s",
                                .help = "Simulated time after the warm-up.",
                                .better = WB_BETTER_NONE,
                                .instance = EXP_MACHINE,
                                .value = (double)(r->duration - r->measured_from) * 1e-12};
    fold_metric(res, &m, 0);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

void exp_result_fold(struct exp_result *res, const struct exp_rep *rep)
{
    const struct wb_result *r = &rep->r;
    for (size_t i = 0; i < r->nmetrics; i++) fold_metric(res, &r->metric[i], r->nwindows);
    fold_measured(res, r);
    fold_named(&res->fn, &res->nfn, r->fn_name, r->fn_time, r->nfn);
    fold_shares(res, r);
    fold_named(&res->rule, &res->nrules, r->rule_name, r->rule_count, r->nrules);
    fold_faults(res, r);
    if (!res->replications) {
        res->seed = r->seed;
        res->window_s = (double)r->window_ps * 1e-12;
        res->ncpus = r->ncpus;
        res->cat_cpu = need(calloc(r->ncpus ? r->ncpus : 1, sizeof *res->cat_cpu));
    }
    fold_times(res, r);
    res->replications++;
    double w = 1 / (double)res->replications;
    res->duration += ((double)r->duration * 1e-12 - res->duration) * w;
    res->measured += ((double)(r->duration - r->measured_from) * 1e-12 - res->measured) * w;
    res->unfinished += !rep->finished;
    res->movable = WB_MAX(res->movable, r->movable);
    res->events += r->events;
    res->stale += r->stale;
    res->inlined += r->inlined;
    res->peak_events = WB_MAX(res->peak_events, r->peak_events);
    res->fingerprint = mix(res->fingerprint, r->fingerprint);
    for (size_t i = 0; i < res->nmetrics; i++) pad_samples(&res->metric[i], res->replications);
}

bool exp_result_summary(const struct exp_result *res, uint32_t instance, const char *name, struct exp_summary *out)
{
    const struct exp_metric *m = exp_result_find(res, instance, name);
    if (m) *out = exp_summarize(m->sample, m->n, res->confidence);
    return m != NULL;
}

static int compare_named(const void *a, const void *b)
{
    const struct exp_named *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

static int compare_faults(const void *a, const void *b)
{
    const struct exp_fault *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->total != y->total) return x->total < y->total ? 1 : -1;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->task, y->task);
}

/* A single run has no interval over replications, but its windows may say how steady it was within itself. It does not
 * decide anything: what differs from run to run cannot be seen in one. */
static void take_batches(struct exp_metric *m, double confidence)
{
    m->batch_half = NAN;
    if (m->n != 1 || !m->window[0]) return;
    double *v = need(malloc((m->nwindow[0] + 1) * sizeof *v));
    struct measure_batch b = measure_batch_means(v, measure_compact(v, m->window[0], m->nwindow[0]), confidence);
    free(v);
    if (!b.ok) return;
    m->batches = b.nbatches;
    m->batch_windows = b.size;
    m->batch_half = b.half_width;
}

/* Figures that are shares by definition. */
static bool is_share(const char *name)
{
    const char *dot = strrchr(name, '.');
    return !strcmp(name, "colocated") || !strncmp(name, "time.", 5) || !strcmp(name, "idle_while_work_waits") ||
           (dot && !strcmp(dot, ".high_share"));
}

/* Student's interval knows nothing of bounds: a share is never below 0 nor above 1. */
static void clip_share(struct exp_metric *m)
{
    if (strcmp(m->unit, "1") || !is_share(m->name)) return;
    if (m->sum.lo < 0 && m->sum.min >= 0) m->sum.lo = 0;
    if (m->sum.hi > 1 && m->sum.max <= 1) m->sum.hi = 1;
}

void exp_result_finish(struct exp_result *res)
{
    for (size_t i = 0; i < res->nmetrics; i++) {
        struct exp_metric *m = &res->metric[i];
        m->sum = exp_summarize(m->sample, m->n, res->confidence);
        take_batches(m, res->confidence);
        clip_share(m);
    }
    if (res->nfn) qsort(res->fn, res->nfn, sizeof *res->fn, compare_named);
    if (res->nrules) qsort(res->rule, res->nrules, sizeof *res->rule, compare_named);
    if (res->nfaults) qsort(res->fault, res->nfaults, sizeof *res->fault, compare_faults);
}

static void free_metric(struct exp_metric *m)
{
    free(m->name);
    free(m->unit);
    free(m->help);
    free(m->sample);
    free(m->hist);
    for (size_t i = 0; i < EXP_WINDOW_REPLICATIONS; i++) free(m->window[i]);
}

void exp_result_free(struct exp_result *res)
{
    if (!res) return;
    for (size_t i = 0; i < res->nmetrics; i++) free_metric(&res->metric[i]);
    for (size_t i = 0; i < res->nfn; i++) {
        free(res->fn[i].name);
        free(res->fn[i].share);
    }
    for (size_t i = 0; i < res->nrules; i++) free(res->rule[i].name);
    for (size_t i = 0; i < res->nfaults; i++) free(res->fault[i].task);
    for (size_t i = 0; i < res->nnotes; i++) free(res->note[i].text);
    for (size_t i = 0; i < res->nworkloads; i++) free(res->workload[i]);
    for (size_t i = 0; i < res->nparams; i++) {
        free(res->param[i].key);
        free(res->param[i].value);
    }
    char *text[] = {res->label,       res->title,  res->machine, res->machine_source,
                    res->calibration, res->kernel, res->policy};
    for (size_t i = 0; i < WB_ARRAY_SIZE(text); i++) free(text[i]);
    free(res->cat_cpu);
    free(res->metric);
    free(res->fn);
    free(res->rule);
    free(res->fault);
    free(res->note);
    free(res->costs);
    free(res->workload);
    free(res->param);
    free(res);
}

char *exp_result_profile(const struct exp_result *res)
{
    const char **name = need(calloc(res->nfn + 1, sizeof *name));
    sim_time *time = need(calloc(res->nfn + 1, sizeof *time));
    for (size_t i = 0; i < res->nfn; i++) {
        name[i] = res->fn[i].name;
        time[i] = res->fn[i].count;
    }
    const struct wb_profile p = {.elapsed = (sim_time)(res->measured * (double)res->replications * 1e12),
                                 .ncpus = res->ncpus,
                                 .fn_name = name,
                                 .fn_time = time,
                                 .nfn = res->nfn,
                                 .cat_name = wb_cat_name,
                                 .cat_time = &res->cat_cpu[0][0],
                                 .ncats = WB_CAT_N,
                                 .idle_fn = IDLE_FN,
                                 .idle_cat = wb_cat_name[WB_CAT_IDLE],
                                 .lines = 40};
    char *text = need(wb_profile_render(&p));
    free(name);
    free(time);
    return text;
}

const struct exp_metric *exp_result_find(const struct exp_result *res, uint32_t instance, const char *name)
{
    bool found;
    size_t at = metric_place(res, instance, name, &found);
    return found ? &res->metric[at] : NULL;
}

static uint32_t workload_index(const struct exp_result *res, const char *name)
{
    char *end;
    for (size_t i = 0; i < res->nworkloads; i++)
        if (!strcmp(res->workload[i], name)) return (uint32_t)i;
    unsigned long i = strtoul(name, &end, 10);
    return *name && !*end && i < res->nworkloads ? (uint32_t)i : EXP_MACHINE;
}

const struct exp_metric *exp_result_lookup(const struct exp_result *res, const char *name)
{
    const char *at = strchr(name, '@');
    if (at) {
        char *plain = need(strndup(name, (size_t)(at - name)));
        const struct exp_metric *m = exp_result_find(res, workload_index(res, at + 1), plain);
        free(plain);
        return m;
    }
    const struct exp_metric *m = exp_result_find(res, 0, name);
    if (!m) m = exp_result_find(res, EXP_MACHINE, name);
    for (uint32_t i = 1; !m && i < res->nworkloads; i++) m = exp_result_find(res, i, name);
    return m;
}

void exp_result_note(struct exp_result *res, const char *code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = wb_vtext(fmt, ap);
    va_end(ap);
    res->note = need(realloc(res->note, (res->nnotes + 1) * sizeof *res->note));
    struct exp_note *note = &res->note[res->nnotes++];
    snprintf(note->code, sizeof note->code, "%s", code);
    note->text = text;
}

const char *exp_result_workload(const struct exp_result *res, uint32_t instance)
{
    return instance < res->nworkloads ? res->workload[instance] : NULL;
}
