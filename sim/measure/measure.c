/* measure.c - building the counts, warm-up, windows. See measure.h for the life of the object. */
#include "measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure_inner.h"
#include "reserve.h"

#define WINDOWS_MAX_DEFAULT 4096u
#define WINDOWS_UNKNOWN 1024u /* when nobody says how long the run will be */

void *measure_grow(struct arena *a, void *old, uint32_t n, uint32_t *room, size_t size)
{
    if (n < *room) return old;
    uint32_t want = *room ? *room * 2 : 8;
    void *p = arena_alloc(a, want, size, ARENA_LINE);
    if (!p) return NULL;
    if (n) memcpy(p, old, n * size);
    *room = want;
    return p;
}

static sim_time *times_new(struct arena *a, uint32_t n)
{
    sim_time *t = ARENA_NEW(a, sim_time, n);
    for (uint32_t i = 0; t && i < n; i++) t[i] = WB_TIME_NEVER;
    return t;
}

struct wb_measure *measure_new(struct arena *a, const struct measure_options *opt)
{
    WB_CHECK(!(opt->windows_max & 1), "an even number of windows, not %u", opt->windows_max);
    struct wb_measure *m = ARENA_NEW(a, struct wb_measure, 1);
    if (!m) return NULL;
    m->a = a;
    m->ninstances = opt->ninstances;
    m->window = opt->window ? opt->window : MEASURE_WINDOW_DEFAULT;
    m->run_length = opt->run_length;
    m->windows_max = opt->windows_max ? opt->windows_max : WINDOWS_MAX_DEFAULT;
    m->instance_start = times_new(a, opt->ninstances);
    m->instance_done = times_new(a, opt->ninstances);
    if (!m->instance_start || !m->instance_done) return NULL;
    m->progress_end = &m->progress;
    m->counter_end = &m->counter;
    m->latency_end = &m->latency;
    m->group_end = &m->group;
    arena_init(&m->out, "results");
    return m;
}

uint32_t measure_column(struct wb_measure *m, const uint64_t *value)
{
    WB_CHECK(!m->sealed, "counts are created while building");
    struct column *c = measure_grow(m->a, m->column, m->ncolumns, &m->columns_room, sizeof(*c));
    if (!c) return UINT32_MAX;
    m->column = c;
    c[m->ncolumns] = (struct column){.value = value};
    return m->ncolumns++;
}

struct wb_hist *measure_hist_new(struct wb_measure *m)
{
    struct hist_piece *p = reserve_take(sizeof *p);
    if (!p) return NULL;
    p->hist.min = UINT64_MAX; /* the rest is zero already */
    p->next = m->hists;
    m->hists = p;
    return &p->hist;
}

size_t measure_touched(const struct wb_measure *m)
{
    size_t n = m->npairs * sizeof *m->pair;
    for (const struct hist_piece *p = m->hists; p; p = p->next) n += reserve_touched(p, sizeof *p);
    return n;
}

static void check_instance(const struct wb_measure *m, uint32_t instance)
{
    WB_CHECK(instance == MEASURE_MACHINE || instance < m->ninstances, "instance %u of %u", instance, m->ninstances);
    WB_CHECK(!m->sealed, "counts are created while building");
}

struct wb_progress *measure_progress_new(struct wb_measure *m, uint32_t instance, const struct wb_metric_spec *spec)
{
    check_instance(m, instance);
    for (struct progress_item *i = m->progress; i; i = i->next)
        if (i->p.instance == instance && !strcmp(i->spec.name, spec->name)) return &i->p;
    struct progress_item *i = ARENA_NEW(m->a, struct progress_item, 1);
    if (!i) return NULL;
    i->spec = *spec;
    i->p.instance = instance;
    i->p.column = measure_column(m, &i->p.n);
    if (i->p.column == UINT32_MAX) return NULL;
    *m->progress_end = i;
    m->progress_end = &i->next;
    return &i->p;
}

struct wb_latency *measure_latency_new(struct wb_measure *m, uint32_t instance, const char *name, const char *help)
{
    check_instance(m, instance);
    for (struct wb_latency *l = m->latency; l; l = l->next)
        if (l->instance == instance && !strcmp(l->name, name)) return l;
    struct wb_latency *l = ARENA_NEW(m->a, struct wb_latency, 1);
    if (!l) return NULL;
    l->hist = measure_hist_new(m);
    if (!l->hist) return NULL;
    l->instance = instance;
    l->name = name;
    l->help = help;
    *m->latency_end = l;
    m->latency_end = &l->next;
    return l;
}

struct wb_counter *measure_counter_new(struct wb_measure *m, uint32_t instance, const char *name, const char *unit,
                                       const char *help)
{
    check_instance(m, instance);
    for (struct wb_counter *c = m->counter; c; c = c->next)
        if (c->instance == instance && !strcmp(c->name, name)) return c;
    struct wb_counter *c = ARENA_NEW(m->a, struct wb_counter, 1);
    if (!c) return NULL;
    *c = (struct wb_counter){.instance = instance, .name = name, .unit = unit, .help = help};
    *m->counter_end = c;
    m->counter_end = &c->next;
    return c;
}

uint32_t measure_series_new(struct wb_measure *m, const struct measure_series_def *def)
{
    for (uint32_t i = 0; i < m->nseries; i++)
        if (!strcmp(m->series[i].def.name, def->name)) return i;
    uint32_t room = m->series_room;
    struct series_item *s = measure_grow(m->a, m->series, m->nseries, &room, sizeof(*s));
    uint64_t *v = measure_grow(m->a, m->hot.series, m->nseries, &m->series_room, sizeof(*v));
    uint32_t column = measure_column(m, NULL);
    if (!s || !v || column == UINT32_MAX) return UINT32_MAX;
    m->series = s;
    m->hot.series = v;
    s[m->nseries] = (struct series_item){.def = *def, .column = column};
    if (!s[m->nseries].def.per) s[m->nseries].def.per = 1;
    return m->nseries++;
}

/* Windows for the asked length, one more for rounding; even, so that merging neighbours never leaves one over. */
static uint32_t windows_wanted(const struct wb_measure *m)
{
    uint64_t n = m->run_length ? m->run_length / m->window + 1 : WINDOWS_UNKNOWN;
    n = WB_MAX(n + (n & 1), 2);
    return (uint32_t)WB_MIN(n, m->windows_max);
}

int measure_seal(struct wb_measure *m)
{
    WB_CHECK(!m->sealed, "sealed twice");
    m->windows_max = windows_wanted(m);
    uint64_t *w = ARENA_NEW(m->a, uint64_t, (size_t)m->ncolumns * m->windows_max);
    m->group_table = ARENA_NEW(m->a, struct pair_group *, m->ngroups);
    if (!w || !m->group_table) return -ENOMEM;
    for (uint32_t i = 0; i < m->ncolumns; i++) m->column[i].window = w + (size_t)i * m->windows_max;
    for (uint32_t i = 0; i < m->nseries; i++) m->column[m->series[i].column].value = &m->hot.series[i];
    for (struct pair_group *g = m->group; g; g = g->next) m->group_table[g->index] = g;
    struct pair *exact = m->npairs ? realloc(m->pair, m->npairs * sizeof *exact) : NULL;
    if (exact) m->pair = exact;
    m->sealed = true;
    return 0;
}

void measure_start(struct wb_measure *m, sim_time now)
{
    WB_CHECK(m->sealed && !m->started, "measure_start comes once, after measure_seal");
    m->started = true;
    m->start = now;
    m->window_end = now + m->window;
    measure_pairs_start(m, now);
    for (uint32_t i = 0; i < m->ncolumns; i++) m->column[i].base = m->column[i].last = *m->column[i].value;
    for (struct wb_counter *c = m->counter; c; c = c->next) c->base = c->n;
    for (struct wb_latency *l = m->latency; l; l = l->next) wb_hist_clear(l->hist);
}

/* All windows are in use: neighbours become one, the width doubles. */
static void merge_windows(struct wb_measure *m)
{
    uint32_t half = m->nwindows / 2;
    for (uint32_t i = 0; i < m->ncolumns; i++) {
        uint64_t *w = m->column[i].window;
        for (size_t k = 0; k < half; k++) w[k] = w[2 * k] + w[2 * k + 1];
    }
    m->nwindows = half;
    m->window *= 2;
}

sim_time measure_window(struct wb_measure *m, sim_time now)
{
    WB_CHECK(m->started && !m->finished, "windows close between start and finish");
    WB_CHECK(now == m->window_end, "this window ends at %llu ps", (unsigned long long)m->window_end);
    measure_pairs_flush(m, now);
    for (uint32_t i = 0; i < m->ncolumns; i++) {
        struct column *c = &m->column[i];
        c->window[m->nwindows] = *c->value - c->last;
        c->last = *c->value;
    }
    if (++m->nwindows == m->windows_max) merge_windows(m);
    return m->window_end = now + m->window;
}

sim_time measure_window_end(const struct wb_measure *m)
{
    return m->window_end;
}

static void note_time(struct wb_measure *m, sim_time *at, uint32_t instance, sim_time now)
{
    WB_CHECK(instance < m->ninstances, "instance %u of %u", instance, m->ninstances);
    if (at[instance] == WB_TIME_NEVER) at[instance] = now;
}

void measure_instance_started(struct wb_measure *m, uint32_t instance, sim_time now)
{
    note_time(m, m->instance_start, instance, now);
}

void measure_instance_begin(struct wb_measure *m, uint32_t instance, sim_time now)
{
    m->instance_start[instance] = now;
}

void measure_instance_done(struct wb_measure *m, uint32_t instance, sim_time now)
{
    note_time(m, m->instance_done, instance, now);
}

void measure_finish(struct wb_measure *m, sim_time now)
{
    WB_CHECK(!m->finished, "finished twice");
    if (!m->started) measure_start(m, now); /* the run ended inside its warm-up: nothing was measured */
    WB_CHECK(now >= m->start, "the end comes after the start");
    measure_pairs_finish(m, now);
    m->finish = now;
    m->finished = true;
}

bool measure_finished(const struct wb_measure *m)
{
    return m->finished;
}

uint64_t measure_progress_value(const struct wb_measure *m, const struct wb_progress *p)
{
    return p->n - m->column[p->column].base;
}

uint64_t measure_series_value(const struct wb_measure *m, uint32_t series)
{
    WB_CHECK(series < m->nseries, "series %u of %u", series, m->nseries);
    return m->hot.series[series] - m->column[m->series[series].column].base;
}

uint64_t measure_counter_value(const struct wb_measure *m, const struct wb_counter *c)
{
    (void)m;
    return c->n - c->base;
}
