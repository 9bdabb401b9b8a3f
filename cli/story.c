/* story.c - the first contest after the warm-up of a run; see story.h. */
#include "story.h"

#include <stdlib.h>
#include <string.h>

#include "registry.h"
#include "wakebal/traceview.h"
#include "wakebal/units.h"

#define RING (1u << 18)       /* records: 8 MiB, read every STEP */
#define STEP (200 * WB_US)    /* simulated between two readings */
#define FAR (300 * WB_MS)     /* how far beyond the warm-up the search goes ... */
#define RECORDS_MAX 2000000ul /* ... and how much it reads: about a second */
#define SWITCHES 12u          /* of the busiest CPU that make a window */
#define SPAN_MIN (100 * WB_US)
#define SPAN_MAX WB_S
#define SPAN_STILL (100 * WB_MS) /* where nobody switches after the warm-up */

/* What a window may be about, the best first. */
enum moment { PULLED, WOKEN, SWITCHED, EARLY_PULLED, EARLY_WOKEN, EARLY_SWITCHED, MOMENTS };

struct search {
    struct wb_sim *s;
    const struct wb_trace *t;
    uint64_t seen;
    sim_time start; /* end of the warm-up */
    struct wb_trace_record first[MOMENTS];
    bool found[MOMENTS];
    uint32_t *switches, most; /* [cpus] since start; of the busiest */
};

static void note(struct search *w, enum moment late, const struct wb_trace_record *r)
{
    enum moment m = r->when >= w->start ? late : late + EARLY_PULLED;
    if (!w->found[m]) w->first[m] = *r;
    w->found[m] = true;
}

static void take(struct search *w, const struct wb_trace_record *r)
{
    if (r->type == WB_TR_MIGRATE && r->a != r->b) {
        bool pull = r->c == WB_MIG_NEWIDLE || r->c == WB_MIG_PERIODIC || r->c == WB_MIG_NOHZ || r->c == WB_MIG_ACTIVE;
        if (pull || r->c == WB_MIG_WAKE) note(w, pull ? PULLED : WOKEN, r);
    }
    if (r->type != WB_TR_SWITCH) return;
    note(w, SWITCHED, r);
    if (r->when < w->start || r->cpu >= wb_ncpus(w->s)) return;
    w->switches[r->cpu]++;
    w->most = WB_MAX(w->most, w->switches[r->cpu]);
}

static void read_ring(struct search *w)
{
    uint64_t oldest = w->t->written > w->t->capacity ? w->t->written - w->t->capacity : 0;
    for (w->seen = WB_MAX(w->seen, oldest); w->seen < w->t->written; w->seen++)
        take(w, &w->t->ring[w->seen % w->t->capacity]);
}

static void search(struct search *w)
{
    bool more = true; /* the clock stands at the last event: it does not tell how far was looked */
    for (sim_time at = STEP; more && w->seen < RECORDS_MAX && at <= w->start + FAR; at += STEP) {
        more = wb_sim_step_to(w->s, at);
        read_ring(w);
        if (w->found[PULLED] && w->most >= SWITCHES) break;
    }
}

/* The warm-up as the run is cut; "auto" as for a single run, which has no others to be judged by. */
static sim_time warmup_of(const struct wb_config *c)
{
    const char *text = wb_cfg_str(c, "run.warmup"), *why = NULL;
    const char *end = wb_cfg_has(c, "run.duration") ? "run.duration" : NULL;
    size_t at = 0;
    int64_t v = 0;
    if (!strcmp(text, "auto")) return end ? (sim_time)wb_cfg_int(c, end) / 10 : 0;
    if (!strcmp(text, "none") || wb_parse_quantity(text, WB_UNIT_TIME, &v, &why, &at) || v < 0) return 0;
    return (sim_time)v;
}

/* The least of 1, 2, 5 times a power of ten that is not below `t`. */
static sim_time round_up(sim_time t)
{
    sim_time step = SPAN_MIN;
    while (step < t && step * 2 < t && step * 5 < t && step < SPAN_MAX) step *= 10;
    return step >= t ? step : step * 2 >= t ? step * 2 : step * 5;
}

static sim_time choose_span(const struct search *w)
{
    if (!w->most) return SPAN_STILL;
    sim_time ran = wb_sim_now(w->s) - w->start;
    sim_time span = round_up(ran / w->most * SWITCHES);
    return WB_MIN(span, SPAN_MAX);
}

/* A begin that one can read and type: a multiple of a hundredth of the window, at least 1 us. */
static sim_time round_down(sim_time t, sim_time span)
{
    sim_time to = WB_MAX(span / 100, WB_US);
    return t / to * to;
}

static void task_called(const struct search *w, task_id id, char *buf)
{
    struct wb_trace_names names;
    struct wb_trace_task t = {.name = NULL};
    wb_sim_trace_names(w->s, &names);
    if (id < names.ntasks) names.task(names.ctx, id, &t);
    wb_trace_comm(buf, &t);
}

static void tell(const struct search *w, enum moment m, const struct wb_trace_record *r, struct story *out)
{
    static const char *const who[WB_MIG_N] = {
        [WB_MIG_NEWIDLE] = "idle balancing", [WB_MIG_PERIODIC] = "periodic balancing",
        [WB_MIG_NOHZ] = "nohz balancing",    [WB_MIG_ACTIVE] = "active balancing",
        [WB_MIG_WAKE] = "a wakeup",
    };
    char comm[WB_COMM_MAX];
    bool early = m >= EARLY_PULLED;
    if (m == SWITCHED || m == EARLY_SWITCHED) {
        snprintf(out->why, sizeof out->why, "no task is moved: the first switch%s",
                 !early && w->start ? " after the warm-up" : "");
        return;
    }
    task_called(w, r->task, comm);
    snprintf(out->why, sizeof out->why, "the first move%s: %s takes %s from cpu%u to cpu%u",
             !early && w->start ? " after the warm-up" : "", who[r->c], comm, r->a, r->b);
}

static void place(const struct search *w, sim_time span, struct story *out)
{
    enum moment m = PULLED;
    while (m < MOMENTS && !w->found[m]) m++;
    if (!span) span = choose_span(w);
    out->from = 0;
    snprintf(out->why, sizeof out->why, "nobody ever runs");
    if (m < MOMENTS) {
        bool moved = m != SWITCHED && m != EARLY_SWITCHED;
        sim_time lead = moved ? span / 3 : 0, at = w->first[m].when;
        out->from = round_down(at > lead ? at - lead : 0, span);
        tell(w, m, &w->first[m], out);
    }
    out->to = out->from + span;
}

int story_find(const struct wb_config *cfg, sim_time span, struct story *out, struct wb_diag *d)
{
    struct wb_run_options run = {.trace_capacity = RING};
    struct search w = {.start = warmup_of(cfg)};
    w.s = wb_sim_build(cfg, cli_models(), 0, &run, d);
    if (!w.s) return -1;
    w.t = wb_sim_trace(w.s);
    w.switches = calloc(wb_ncpus(w.s), sizeof *w.switches);
    WB_MEMORY(w.switches, "out of memory for a trace");
    search(&w);
    place(&w, span, out);
    free(w.switches);
    wb_sim_free(w.s);
    return 0;
}

char *story_tell(const struct story *s, char *buf, size_t n)
{
    double from = (double)s->from / (double)WB_MS, to = (double)s->to / (double)WB_MS;
    snprintf(buf, n, "%.10g ms to %.10g ms: %s. Another window: --from %.10gms --to %.10gms", from, to, s->why, to,
             to + (to - from));
    return buf;
}
