/* measure_result.c - from counts to metrics, and the fingerprint. */
#include "measure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure_inner.h"
#include "reserve.h"
#include "measure_stats.h"
#include "wakebal/run.h"

#define SECONDS(ps) ((double)(ps) / (double)WB_S)
#define PER_PROGRESS 9 /* at most so many metrics from one progress, latency, series or group */
#define NAN_BITS 0x7ff8000000000000ull

const char *const wb_fault_name[WB_FAULT_KINDS] = {[WB_FAULT_IDLE_WHILE_WAITING] = "idle_while_work_waits",
                                                   [WB_FAULT_STARVATION] = "starvation",
                                                   [WB_FAULT_AFFINITY] = "affinity",
                                                   [WB_FAULT_PINGPONG] = "pingpong"};

/* ------------------------------------------------------------------ figures counted elsewhere */
void measure_metric(struct wb_measure *m, uint32_t instance, const struct wb_metric_def *def, double value,
                    bool integer)
{
    WB_CHECK(m->finished && !m->metric, "figures come between measure_finish and measure_result");
    if (m->nfigures == m->figures_room) {
        size_t room = m->figures_room ? m->figures_room * 2 : 64;
        struct figure *f = ARENA_NEW(&m->out, struct figure, room);
        if (!f) {
            m->out_of_memory = true;
            return;
        }
        if (m->nfigures) memcpy(f, m->figure, m->nfigures * sizeof(*f));
        m->figure = f;
        m->figures_room = room;
    }
    m->figure[m->nfigures++] = (struct figure){.def = *def, .instance = instance, .integer = integer, .value = value};
}

void measure_metric_named(struct wb_measure *m, uint32_t instance, const char *name, double value, bool integer)
{
    const struct wb_metric_def *def = wb_metric_def_find(name);
    WB_CHECK(def, "no metric is called %s", name);
    struct wb_metric_def named = *def; /* a pattern's row, under the name that was asked for */
    named.name = name;
    measure_metric(m, instance, &named, value, integer);
}

/* ------------------------------------------------------------------ assembling */
struct builder {
    struct wb_measure *m;
    bool failed;
};

static struct wb_metric *add(struct builder *b, const struct wb_metric *x)
{
    struct wb_metric *slot = &b->m->metric[b->m->nmetrics++];
    *slot = *x;
    return slot;
}

/* "name.suffix", or just one of them when the other is NULL. */
static const char *join(struct builder *b, const char *name, const char *suffix)
{
    if (!name || !suffix) return name ? name : suffix;
    size_t n = strlen(name), k = strlen(suffix);
    char *s = arena_alloc(&b->m->out, n + k + 2, 1, 1);
    if (!s) {
        b->failed = true;
        return name;
    }
    memcpy(s, name, n);
    s[n] = '.';
    memcpy(s + n + 1, suffix, k + 1);
    return s;
}

static double *doubles(struct builder *b, size_t n)
{
    double *v = ARENA_NEW(&b->m->out, double, n);
    if (!v) b->failed = true;
    return v;
}

/* A metric that inherits instance, unit, help and direction of `x`. */
static void add_part(struct builder *b, const struct wb_metric *x, const char *suffix, const char *help, double value)
{
    add(b, &(struct wb_metric){.name = join(b, x->name, suffix),
                               .unit = x->unit,
                               .help = help,
                               .better = x->better,
                               .instance = x->instance,
                               .value = value});
}

static void add_plain(struct builder *b, const struct wb_metric *x, const char *suffix, const char *help, double value)
{
    add(b, &(struct wb_metric){.name = join(b, x->name, suffix),
                               .unit = "1",
                               .help = help,
                               .better = WB_BETTER_NONE,
                               .instance = x->instance,
                               .value = value});
}

static void add_hist(struct builder *b, const struct wb_metric *x)
{
    const struct wb_hist *h = x->hist;
    bool some = h->count != 0;
    struct wb_metric *mean = add(b, x);
    mean->value = some ? wb_hist_mean(h) / (double)WB_S : NAN;
    static const struct {
        const char *suffix, *help;
        uint32_t ppm;
    } part[] = {{"p50", "Median.", 500000},
                {"p90", "90 % of the values are not above it.", 900000},
                {"p99", "99 % of the values are not above it.", 990000}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(part); i++)
        add_part(b, x, part[i].suffix, part[i].help, some ? SECONDS(wb_hist_quantile(h, part[i].ppm)) : NAN);
    add_part(b, x, "max", "The largest value.", some ? SECONDS(h->max) : NAN);
    add(b, &(struct wb_metric){.name = join(b, x->name, "count"),
                               .unit = "1",
                               .help = "How many values there are.",
                               .better = WB_BETTER_NONE,
                               .instance = x->instance,
                               .value = (double)h->count,
                               .integer = true});
}

/* When was an instance at work inside the measured time? *whole: its work was over before, then it is measured from
 * its start. */
static void work_time(const struct wb_measure *m, uint32_t instance, sim_time *begin, sim_time *end, bool *whole)
{
    sim_time started = 0, done = WB_TIME_NEVER;
    if (instance != MEASURE_MACHINE) {
        if (m->instance_start[instance] != WB_TIME_NEVER) started = m->instance_start[instance];
        done = m->instance_done[instance];
    }
    *begin = WB_MAX(m->start, started);
    *end = WB_MIN(m->finish, done);
    *whole = done <= m->start && done > started;
    if (*whole) *begin = started;
}

/* Metric value of n counts in `ps`. */
static double rate_of(const struct wb_metric_spec *spec, uint64_t n, sim_time ps)
{
    if (!ps) return NAN;
    if (spec->per_count) return n ? SECONDS(ps) / (double)n : NAN;
    return (double)n / SECONDS(ps);
}

/* Value of window k, by the time of it in which the instance was at work; NAN when that is less than half: what follows
 * the end of the work is no slow phase of it. */
static double window_rate(const struct wb_measure *m, const struct wb_metric_spec *spec, uint64_t n, uint32_t k,
                          const sim_time work[2])
{
    sim_time from = WB_MAX(m->start + k * m->window, work[0]), to = WB_MIN(m->start + (k + 1) * m->window, work[1]);
    if (to <= from || to - from < m->window / 2) return NAN;
    return rate_of(spec, n, to - from);
}

/* Spread over the windows in which the instance worked from edge to edge. */
static void add_windows(struct builder *b, struct wb_metric *x, double *scratch, sim_time begin, sim_time end)
{
    const struct wb_measure *m = b->m;
    size_t n = 0;
    for (uint32_t i = 0; i < m->nwindows; i++) {
        sim_time from = m->start + i * m->window;
        if (from >= begin && from + m->window <= end) scratch[n++] = x->window[i];
    }
    n = measure_compact(scratch, scratch, n);
    measure_sort(scratch, n);
    struct measure_modes s = measure_modes(scratch, n);
    add_part(b, x, "p10", "10 % of the windows are not above it.", measure_quantile(scratch, n, 0.1));
    add_part(b, x, "p50", "Median over the windows.", measure_quantile(scratch, n, 0.5));
    add_part(b, x, "p90", "90 % of the windows are not above it.", measure_quantile(scratch, n, 0.9));
    add_plain(b, x, "modes", "2 when the windows fall into two separate clusters, 1 when not, 0 without windows.",
              s.modes);
    add_part(b, x, "low_mode", "Mean of the windows in the lower mode (all windows when there is one mode).", s.low);
    add_part(b, x, "high_mode", "Mean of the windows in the upper mode (all windows when there is one mode).", s.high);
    add_plain(b, x, "high_share", "Share of the windows in the upper mode; 1 when there is one mode.", s.high_share);
}

static void add_progress(struct builder *b, const struct progress_item *i, double *scratch)
{
    struct wb_measure *m = b->m;
    const struct column *c = &m->column[i->p.column];
    sim_time begin, end;
    bool whole;
    work_time(m, i->p.instance, &begin, &end, &whole);
    struct wb_metric x = {.name = i->spec.name,
                          .unit = i->spec.unit,
                          .help = i->spec.help,
                          .better = i->spec.better,
                          .instance = i->p.instance};
    if (i->spec.elapsed) {
        sim_time done = i->p.instance == MEASURE_MACHINE ? WB_TIME_NEVER : m->instance_done[i->p.instance];
        sim_time from = done == WB_TIME_NEVER || m->instance_start[i->p.instance] == WB_TIME_NEVER
                            ? 0
                            : m->instance_start[i->p.instance];
        x.value = done == WB_TIME_NEVER ? NAN : SECONDS(done - from);
        add(b, &x);
        return;
    }
    x.value = rate_of(&i->spec, i->p.n - (whole ? 0 : c->base), end > begin ? end - begin : 0);
    double *w = doubles(b, m->nwindows);
    if (!w) return;
    for (uint32_t k = 0; k < m->nwindows; k++)
        w[k] = window_rate(m, &i->spec, c->window[k], k, (const sim_time[2]){begin, end});
    x.window = w;
    add(b, &x);
    add_windows(b, &x, scratch, begin, end);
}

static void add_series(struct builder *b, const struct series_item *s)
{
    struct wb_measure *m = b->m;
    const struct measure_series_def *d = &s->def;
    const struct column *c = &m->column[s->column];
    bool time = d->kind == SERIES_TIME;
    double per = time ? (double)d->per * (double)WB_S : 1, n = (double)(*c->value - c->base) / per;
    double elapsed = SECONDS(m->finish - m->start), rate = elapsed > 0 ? n / elapsed : NAN;
    double *w = doubles(b, m->nwindows);
    if (!w) return;
    for (uint32_t k = 0; k < m->nwindows; k++) w[k] = (double)c->window[k] / per / SECONDS(m->window);
    struct wb_metric x = {
        .name = d->name, .unit = d->unit, .help = d->help, .better = d->better, .instance = MEASURE_MACHINE};
    x.value = time ? rate : n;
    x.integer = !time;
    if (time) x.window = w;
    add(b, &x);
    if (time) return;
    add(b, &(struct wb_metric){.name = join(b, d->name, "rate"),
                               .unit = "1/s",
                               .help = d->help,
                               .better = d->better,
                               .instance = MEASURE_MACHINE,
                               .value = rate,
                               .window = w});
}

/* What had been counted when the measuring of this instance begins: nothing when its work was over before. */
static uint64_t base_of(const struct wb_measure *m, uint32_t instance, uint64_t base)
{
    sim_time begin, end;
    bool whole;
    work_time(m, instance, &begin, &end, &whole);
    return whole ? 0 : base;
}

static const char *help_of(const char *name)
{
    const struct wb_metric_def *d = wb_metric_def_find(name);
    return d ? d->help : "";
}

static void add_group(struct builder *b, const struct pair_group *g)
{
    struct wb_measure *m = b->m;
    const struct column *t = &m->column[g->col_together], *k = &m->column[g->col_known];
    uint64_t known = g->known - base_of(m, g->instance, k->base);
    uint64_t together = g->together - base_of(m, g->instance, t->base);
    double *w = doubles(b, m->nwindows);
    if (!w) return;
    for (uint32_t i = 0; i < m->nwindows; i++) w[i] = k->window[i] ? (double)t->window[i] / (double)k->window[i] : NAN;
    struct wb_metric x = {.name = join(b, g->name, "colocated"),
                          .unit = "1",
                          .help = help_of("colocated"),
                          .better = WB_BETTER_NONE,
                          .instance = g->instance,
                          .window = w};
    x.value = known ? (double)together / (double)known : NAN;
    add(b, &x);
    add(b, &(struct wb_metric){.name = join(b, g->name, "regime.changes"),
                               .unit = "1",
                               .help = help_of("regime.changes"),
                               .better = WB_BETTER_NONE,
                               .instance = g->instance,
                               .value = (double)g->changes,
                               .integer = true});
    static const char *const kind[2] = {"regime.apart", "regime.together"};
    for (int i = 0; i < 2; i++) {
        struct wb_metric h = {.name = join(b, g->name, kind[i]),
                              .unit = "s",
                              .help = help_of(kind[i]),
                              .better = WB_BETTER_NONE,
                              .instance = g->instance,
                              .hist = g->hist[i]};
        add_hist(b, &h);
    }
}

static int by_instance_and_name(const void *a, const void *b)
{
    const struct wb_metric *x = a, *y = b;
    if (x->instance != y->instance) return x->instance < y->instance ? -1 : 1;
    return strcmp(x->name, y->name);
}

static size_t room_needed(const struct wb_measure *m)
{
    size_t n = m->nfigures + (size_t)m->nseries * 2 + (size_t)m->ngroups * (2 + 2 * PER_PROGRESS);
    for (const struct progress_item *i = m->progress; i; i = i->next) n += PER_PROGRESS;
    for (const struct wb_latency *l = m->latency; l; l = l->next) n += PER_PROGRESS;
    for (const struct wb_counter *c = m->counter; c; c = c->next) n++;
    return n;
}

static void add_all(struct builder *b, double *scratch)
{
    struct wb_measure *m = b->m;
    for (const struct progress_item *i = m->progress; i; i = i->next) add_progress(b, i, scratch);
    for (const struct wb_latency *l = m->latency; l; l = l->next)
        add_hist(b, &(struct wb_metric){.name = l->name,
                                        .unit = "s",
                                        .help = l->help,
                                        .better = WB_BETTER_LOWER,
                                        .instance = l->instance,
                                        .hist = l->hist});
    for (const struct wb_counter *c = m->counter; c; c = c->next)
        add(b, &(struct wb_metric){.name = c->name,
                                   .unit = c->unit,
                                   .help = c->help,
                                   .better = WB_BETTER_NONE,
                                   .instance = c->instance,
                                   .value = (double)(c->n - base_of(m, c->instance, c->base)),
                                   .integer = true});
    for (uint32_t i = 0; i < m->nseries; i++) add_series(b, &m->series[i]);
    for (const struct pair_group *g = m->group; g; g = g->next) add_group(b, g);
    for (size_t i = 0; i < m->nfigures; i++) {
        const struct figure *f = &m->figure[i];
        add(b, &(struct wb_metric){.name = f->def.name,
                                   .unit = f->def.unit,
                                   .help = f->def.help,
                                   .better = f->def.better,
                                   .instance = f->instance,
                                   .value = f->value,
                                   .integer = f->integer});
    }
}

static int build(struct wb_measure *m)
{
    struct builder b = {.m = m};
    m->metric = ARENA_NEW(&m->out, struct wb_metric, room_needed(m));
    double *scratch = doubles(&b, m->nwindows);
    if (!m->metric || !scratch || m->out_of_memory) return -ENOMEM;
    add_all(&b, scratch);
    if (b.failed) return -ENOMEM;
    qsort(m->metric, m->nmetrics, sizeof(*m->metric), by_instance_and_name);
    for (size_t i = 1; i < m->nmetrics; i++)
        WB_CHECK(by_instance_and_name(&m->metric[i - 1], &m->metric[i]), "two metrics %s of instance %u",
                 m->metric[i].name, m->metric[i].instance);
    return 0;
}

int measure_result(struct wb_measure *m, struct wb_result *r)
{
    WB_CHECK(m->finished, "the run has not ended");
    if (!m->metric) {
        int rc = build(m);
        if (rc) return rc;
    }
    r->metric = m->metric;
    r->nmetrics = m->nmetrics;
    r->window_ps = m->window;
    r->nwindows = m->nwindows;
    r->measured_from = m->start;
    r->duration = m->finish;
    return 0;
}

const struct wb_metric *wb_result_find(const struct wb_result *r, uint32_t instance, const char *name)
{
    struct wb_metric key = {.name = name, .instance = instance};
    if (!r->nmetrics) return NULL;
    return bsearch(&key, r->metric, r->nmetrics, sizeof(*r->metric), by_instance_and_name);
}

/* ------------------------------------------------------------------ fingerprint */
static uint64_t hash_double(uint64_t h, double v)
{
    uint64_t bits = NAN_BITS;
    if (!isnan(v)) memcpy(&bits, &v, sizeof(bits));
    return measure_hash(h, bits);
}

static uint64_t hash_hist(uint64_t h, const struct wb_hist *x)
{
    h = measure_hash(measure_hash(measure_hash(h, x->count), x->min), x->max);
    h = measure_hash(measure_hash(h, (uint64_t)x->sum), (uint64_t)(x->sum >> 64));
    for (uint32_t i = 0; i < WB_HIST_BUCKETS; i++)
        if (x->bucket[i]) h = measure_hash(measure_hash(h, i), x->bucket[i]);
    return h;
}

static uint64_t hash_column(const struct wb_measure *m, uint64_t h, const struct column *c)
{
    h = measure_hash(h, *c->value - c->base);
    for (uint32_t k = 0; k < m->nwindows; k++) h = measure_hash(h, c->window[k]);
    return h;
}

uint64_t measure_fingerprint(const struct wb_measure *m)
{
    uint64_t h = measure_hash(measure_hash(0x77616b6562616cull, m->start), m->finish);
    h = measure_hash(measure_hash(h, m->window), m->nwindows);
    for (uint32_t i = 0; i < m->ninstances; i++)
        h = measure_hash(measure_hash(h, m->instance_start[i]), m->instance_done[i]);
    for (uint32_t i = 0; i < m->ncolumns; i++) h = hash_column(m, h, &m->column[i]);
    for (const struct wb_counter *c = m->counter; c; c = c->next) h = measure_hash(h, c->n - c->base);
    for (const struct wb_latency *l = m->latency; l; l = l->next) h = hash_hist(h, l->hist);
    for (const struct pair_group *g = m->group; g; g = g->next) {
        h = measure_hash(h, g->changes);
        for (int i = 0; i < 2; i++) h = hash_hist(h, g->hist[i]);
    }
    for (size_t i = 0; i < m->nfigures; i++) h = hash_double(h, m->figure[i].value);
    return h;
}

void measure_free(struct wb_measure *m)
{
    if (!m) return;
    arena_free(&m->out);
    free(m->pair);
    while (m->hists) {
        struct hist_piece *p = m->hists;
        m->hists = p->next;
        reserve_give(p, sizeof *p);
    }
}
