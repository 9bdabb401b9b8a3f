/*
 * conform_ask.c - what would the kernel model do, and does that hang on something a recording does not hold?
 *
 * Each question is put to the policy's own place_wakeup hook. Before and after, the few values it writes are saved and
 * put back, so that asking leaves no trace; conform_apply() asks for good. Then every fact that is not in the
 * recording is changed alone, and the question asked again.
 */
#include <stdlib.h>
#include <string.h>

#include "conform_inner.h"

/* ---- what asking changes ---- */

struct saved {
    struct fair_place_task waker, wakee;
    struct fair_llc llc[TRACE_CPUS];
    uint64_t wake_avg_idle, wake_stamp, scan_cost;
};

static struct fair_task *waker_of(const struct conform *c, const struct conform_question *q)
{
    return fair_task(wb_rq(c->s, q->w.this_cpu)->curr);
}

static void save(const struct conform *c, const struct conform_question *q, struct saved *v)
{
    const struct fair_rq *r = fair_rq(wb_rq(c->s, q->w.this_cpu));
    v->waker = waker_of(c, q)->pl;
    v->wakee = fair_task(q->w.task)->pl;
    for (cpu_id i = 0; i < c->f->ncpus; i++)
        if (c->f->pl.seat[i].shared) v->llc[i] = *c->f->pl.seat[i].shared;
    v->wake_avg_idle = r->wake_avg_idle;
    v->wake_stamp = r->wake_stamp;
    v->scan_cost = c->f->pl.seat[q->w.this_cpu].scan_cost;
}

static void restore(const struct conform *c, const struct conform_question *q, const struct saved *v)
{
    struct fair_rq *r = fair_rq(wb_rq(c->s, q->w.this_cpu));
    waker_of(c, q)->pl = v->waker;
    fair_task(q->w.task)->pl = v->wakee;
    for (cpu_id i = 0; i < c->f->ncpus; i++)
        if (c->f->pl.seat[i].shared) *c->f->pl.seat[i].shared = v->llc[i];
    r->wake_avg_idle = v->wake_avg_idle;
    r->wake_stamp = v->wake_stamp;
    c->f->pl.seat[q->w.this_cpu].scan_cost = v->scan_cost;
}

struct conform_scratch {
    struct saved before;
    uint64_t util[TRACE_CPUS], runnable[TRACE_CPUS], load[TRACE_CPUS], stamp[TRACE_CPUS];
    uint32_t est[TRACE_CPUS], nr_idle[TRACE_CPUS];
    struct wb_task *list[TRACE_CPUS], *curr[TRACE_CPUS];
};

struct conform_scratch *conform_scratch_new(void)
{
    return calloc(1, sizeof(struct conform_scratch));
}

/* CPUs in the middle of a switch show the task that they leave. */
static void hold(struct conform *c)
{
    for (cpu_id i = 0; i < c->f->ncpus; i++) {
        struct wb_rq *rq = wb_rq(c->s, i);
        c->scratch->curr[i] = rq->curr;
        if (c->leaving[i] && rq->curr == rq->idle) rq->curr = c->leaving[i];
    }
}

static void let_go(struct conform *c)
{
    for (cpu_id i = 0; i < c->f->ncpus; i++) wb_rq(c->s, i)->curr = c->scratch->curr[i];
}

/* A waker elsewhere has a CPU's lock, and has most likely queued its task: sched_wakeup comes last, after the interrupt
 * has been sent (ttwu_do_activate). */
static struct wb_choice place(struct conform *c, const struct conform_question *q)
{
    hold(c);
    for (cpu_id i = 0; c->under_way_all && i < c->f->ncpus; i++) wb_rq(c->s, i)->nr_running += c->under_way[i];
    struct wb_choice k = wb_drive_place(c->s, &q->w, q->level);
    for (cpu_id i = 0; c->under_way_all && i < c->f->ncpus; i++) wb_rq(c->s, i)->nr_running -= c->under_way[i];
    let_go(c);
    return k;
}

static struct wb_choice ask(struct conform *c, const struct conform_question *q)
{
    struct wb_choice k = place(c, q);
    restore(c, q, &c->scratch->before);
    return k;
}

/* ---- facts changed one by one ---- */

struct trial {
    struct conform *c;
    const struct conform_question *q;
    struct conform_answer *a;
};

static void note(struct trial *t, enum conform_fact fact, cpu_id cpu)
{
    conform_possible(t->a, cpu);
    if (cpu != t->a->base.cpu) t->a->facts |= 1u << fact;
}

static void try_sync(struct trial *t)
{
    struct conform_question q = *t->q;
    q.w.flags ^= WB_WF_SYNC;
    note(t, CONFORM_F_SYNC, ask(t->c, &q).cpu);
}

/* One CPU much more loaded than the other, both ways. */
static void ask_loads(struct trial *t, enum conform_fact fact)
{
    struct conform *c = t->c;
    struct fair_rq *here = fair_rq(wb_rq(c->s, t->q->w.this_cpu)), *prev = fair_rq(wb_rq(c->s, t->q->w.prev_cpu));
    if (here == prev) return;
    uint64_t here_load = here->avg.load_avg, prev_load = prev->avg.load_avg;
    here->avg.load_avg = 1ull << 40;
    note(t, fact, ask(c, t->q).cpu);
    here->avg.load_avg = 0;
    prev->avg.load_avg = 1ull << 40;
    note(t, fact, ask(c, t->q).cpu);
    here->avg.load_avg = here_load;
    prev->avg.load_avg = prev_load;
}

static void try_load(struct trial *t)
{
    ask_loads(t, CONFORM_F_LOAD);
}

/* Flips are whole for tasks that were born in the section. Where nobody is wide, loads may decide. */
static void try_wide(struct trial *t)
{
    struct conform *c = t->c;
    bool whole = c->past[t->q->wakee].born && (!t->q->waker || c->past[t->q->waker].born), on = c->f->pl.wide;
    if (whole || !on) return;
    c->f->pl.wide = false;
    note(t, CONFORM_F_WIDE, ask(c, t->q).cpu);
    ask_loads(t, CONFORM_F_WIDE);
    c->f->pl.wide = on;
    waker_of(c, t->q)->pl.wakee_flips = UINT32_MAX / 2;
    waker_of(c, t->q)->pl.wakee_flip_decay = wb_jiffies(c->s);
    fair_task(t->q->w.task)->pl.wakee_flips = UINT32_MAX / 2 / (c->f->ncpus + 1);
    note(t, CONFORM_F_WIDE, ask(c, t->q).cpu);
}

static void set_caches(const struct conform *c, int cores, int depth)
{
    for (cpu_id i = 0; i < c->f->ncpus; i++) {
        struct fair_llc *l = c->f->pl.seat[i].shared;
        if (!l) continue;
        if (cores >= 0) l->has_idle_cores = cores;
        if (depth >= 0) l->nr_idle_scan = depth ? c->f->pl.seat[i].llc_size : 0;
    }
}

static void try_caches(struct trial *t)
{
    struct conform *c = t->c;
    for (int on = 0; on < 2; on++) {
        if (c->f->pl.smt) {
            set_caches(c, on, -1);
            note(t, CONFORM_F_CORES, ask(c, t->q).cpu);
        }
        set_caches(c, -1, on);
        note(t, CONFORM_F_DEPTH, ask(c, t->q).cpu);
    }
}

/* Searches bounded by idle time against their cost (SIS_PROP): as short as they get, and without a bound. */
static void try_budget(struct trial *t)
{
    struct conform *c = t->c;
    struct fair_rq *mine = fair_rq(wb_rq(c->s, t->q->w.this_cpu));
    uint64_t *cost = &c->f->pl.seat[t->q->w.this_cpu].scan_cost, idle = mine->avg_idle;
    if (!fair_on(c->f, FAIR_F_SIS_PROP)) return;
    *cost = UINT64_MAX / 16;
    note(t, CONFORM_F_DEPTH, ask(c, t->q).cpu);
    *cost = 0;
    mine->avg_idle = UINT64_MAX / 16 / TRACE_CPUS;
    mine->wake_avg_idle = mine->avg_idle;
    mine->wake_stamp = UINT64_MAX;
    note(t, CONFORM_F_DEPTH, ask(c, t->q).cpu);
    mine->avg_idle = idle;
}

static void try_recent(struct trial *t)
{
    struct conform *c = t->c;
    if (c->past[t->q->wakee].recent_known) return;
    for (cpu_id i = 0; i < c->f->ncpus; i++) {
        if (!fair_idle_cpu(c->f, wb_rq(c->s, i))) continue;
        fair_task(t->q->w.task)->pl.recent_used_cpu = i;
        note(t, CONFORM_F_RECENT, ask(c, t->q).cpu);
    }
}

/* Could its dequeue have been delayed, and not be finished? It slept while others were queued, and the CPU has not
 * gone idle since. */
static void try_delayed(struct trial *t)
{
    struct conform *c = t->c;
    const struct conform_past *p = &c->past[t->q->wakee];
    const struct wb_task *k = t->q->w.task;
    if (c->f->v->release < FAIR_6_12 || !fair_on(c->f, FAIR_F_DELAY_DEQUEUE)) return;
    if (k->delayed) {
        note(t, CONFORM_F_DELAYED, ask(c, t->q).cpu);
        return;
    }
    if (p->may_delay && p->idle_epoch == c->idle_epoch[k->cpu]) note(t, CONFORM_F_DELAYED, t->q->w.prev_cpu);
}

/* Just switched out, and its CPU has not been heard of since. */
static void try_leaving(struct trial *t)
{
    struct conform *c = t->c;
    const struct conform_past *p = &c->past[t->q->wakee];
    cpu_id prev = t->q->w.prev_cpu;
    if (!p->left_ns || prev == t->q->w.this_cpu || c->now - p->left_ns > c->o->window_ns) return;
    if (c->last_event[prev] <= p->left_ns) note(t, CONFORM_F_LEAVING, prev);
}

/* A CPU to which a wakeup is under way: up to 6.1 it looks idle between the moment when it takes its list (ttwu_pending
 * goes back to 0) and the queueing of the task; later it is the other way round (commit d6962c4fe8f9). */
static void try_pending(struct trial *t)
{
    struct conform *c = t->c;
    bool any = false;
    if (c->f->v->release > FAIR_6_1) return;
    for (cpu_id i = 0; i < c->f->ncpus; i++) {
        struct wb_rq *rq = wb_rq(c->s, i);
        c->scratch->list[i] = rq->wake_list;
        any = any || rq->wake_list;
        rq->wake_list = NULL;
    }
    if (any) note(t, CONFORM_F_RACE, ask(c, t->q).cpu);
    for (cpu_id i = 0; i < c->f->ncpus; i++) wb_rq(c->s, i)->wake_list = c->scratch->list[i];
}

/* Nothing has been queued yet by wakers who are at it elsewhere. */
static void try_under_way(struct trial *t)
{
    struct conform *c = t->c;
    uint32_t all = c->under_way_all;
    if (!all) return;
    c->under_way_all = 0;
    note(t, CONFORM_F_RACE, ask(c, t->q).cpu);
    c->under_way_all = all;
}

/* The packing rule's signal: just below and just above its limit. */
static void try_pack(struct trial *t)
{
    struct conform *c = t->c;
    if (c->f->pl.pack.signal == FAIR_PACK_NONE) return;
    uint64_t limit = c->f->pl.pack.limit;
    c->f->pl.pack.limit = 0;
    note(t, CONFORM_F_PACK, ask(c, t->q).cpu);
    c->f->pl.pack.limit = UINT64_MAX;
    note(t, CONFORM_F_PACK, ask(c, t->q).cpu);
    c->f->pl.pack.limit = limit;
}

/* Nobody is SCHED_IDLE. */
static void try_class(struct trial *t)
{
    struct conform *c = t->c;
    for (cpu_id i = 0; c->idle && i < c->f->ncpus; i++) {
        struct fair_rq *r = fair_rq(wb_rq(c->s, i));
        c->scratch->nr_idle[i] = r->nr_idle;
        r->nr_idle = 0;
    }
    if (c->idle) note(t, CONFORM_F_CLASS, ask(c, t->q).cpu);
    for (cpu_id i = 0; c->idle && i < c->f->ncpus; i++) fair_rq(wb_rq(c->s, i))->nr_idle = c->scratch->nr_idle[i];
}

/* A migration thread has moved it: since then it may be bound. Where it slept it was allowed, so an answer that
 * leaves it there stands. */
static void try_affinity(struct trial *t)
{
    if (!t->c->past[t->q->wakee].pushed || t->a->base.cpu == t->q->w.prev_cpu) return;
    for (cpu_id i = 0; i < t->c->f->ncpus; i++) note(t, CONFORM_F_AFFINITY, i);
}

static void (*const trials[])(struct trial *t) = {try_sync,   try_wide,    try_caches,  try_budget,  try_load,
                                                  try_recent, try_delayed, try_leaving, try_pending, try_under_way,
                                                  try_pack,   try_class,   try_affinity};

void conform_ask(struct conform *c, const struct conform_question *q, struct conform_answer *a)
{
    struct trial t = {.c = c, .q = q, .a = a};
    memset(a, 0, sizeof *a);
    save(c, q, &c->scratch->before);
    a->base = ask(c, q);
    if (q->w.task->delayed) a->base = (struct wb_choice){.cpu = q->w.prev_cpu, .rule = FAIR_R_STILL_RUNNING};
    conform_possible(a, a->base.cpu);
    for (size_t i = 0; i < WB_ARRAY_SIZE(trials); i++) trials[i](&t);
}

cpu_id conform_ask_again(struct conform *c, const struct conform_question *q)
{
    if (q->w.task->delayed) return q->w.prev_cpu;
    save(c, q, &c->scratch->before);
    return ask(c, q).cpu;
}

void conform_apply(struct conform *c, const struct conform_question *q)
{
    if (q->w.task->delayed) return;
    cpu_id recent = fair_task(q->w.task)->pl.recent_used_cpu, waker = waker_of(c, q)->pl.recent_used_cpu;
    (void)place(c, q);
    if (fair_task(q->w.task)->pl.recent_used_cpu != recent) c->past[q->wakee].recent_known = true;
    if (q->waker && waker_of(c, q)->pl.recent_used_cpu != waker) c->past[q->waker].recent_known = true;
}

/* ---- forks ---- */

/* How busy the groups are: as derived (FORK_KEPT), nothing, reversed, full where somebody runs (but for `least`). */
enum fork_util { FORK_KEPT, FORK_NONE, FORK_REVERSED, FORK_FULL };

static uint64_t util_of(const struct conform *c, cpu_id i, enum fork_util how)
{
    uint64_t kept = c->scratch->util[i];
    if (how == FORK_NONE) return 0;
    if (how == FORK_REVERSED) return PELT_SCALE - WB_MIN(kept, PELT_SCALE);
    return how == FORK_FULL && wb_rq(c->s, i)->nr_running ? PELT_SCALE : kept;
}

static void set_util(const struct conform *c, enum fork_util how, cpu_id least)
{
    for (cpu_id i = 0; i < c->f->ncpus; i++) {
        struct fair_rq *r = fair_rq(wb_rq(c->s, i));
        bool spared = how == FORK_FULL && i == least;
        r->avg.util_avg = spared ? 0 : util_of(c, i, how) + (how != FORK_KEPT && i != least);
        r->util_est = how == FORK_KEPT ? c->scratch->est[i] : 0;
        bool full = how == FORK_FULL && r->nr && !spared;
        r->avg.runnable_avg = full ? (uint64_t)PELT_SCALE * r->nr : c->scratch->runnable[i];
        r->avg.load_avg = full ? r->load.value : c->scratch->load[i];
    }
}

struct fork_trial {
    struct conform *c;
    struct wb_task *parent, *child;
    cpu_id cpu;
    struct conform_answer *a;
};

static void try_fork(const struct fork_trial *t, enum conform_fact fact)
{
    cpu_id cpu = wb_drive_fork(t->c->s, t->parent, t->child, t->cpu).cpu;
    conform_possible(t->a, cpu);
    if (cpu != t->a->base.cpu) t->a->facts |= 1u << fact;
}

/* Any CPU may be the least used, and so may its group. */
static void try_utils(const struct fork_trial *t)
{
    for (cpu_id least = 0; least < t->c->f->ncpus; least++) {
        set_util(t->c, FORK_NONE, least);
        try_fork(t, CONFORM_F_UTIL);
        set_util(t->c, FORK_FULL, least);
        try_fork(t, CONFORM_F_UTIL);
    }
    set_util(t->c, FORK_REVERSED, WB_NO_CPU);
    try_fork(t, CONFORM_F_UTIL);
    set_util(t->c, FORK_FULL, WB_NO_CPU);
    try_fork(t, CONFORM_F_UTIL);
    set_util(t->c, FORK_KEPT, WB_NO_CPU);
}

/* Of CPUs that were idle when the section began, any may have become so last. */
static void try_stamps(const struct fork_trial *t)
{
    const struct conform *c = t->c;
    for (cpu_id young = 0; young < c->f->ncpus; young++) {
        if (c->idle_seen[young]) continue;
        for (cpu_id i = 0; i < c->f->ncpus; i++)
            if (!c->idle_seen[i]) fair_rq(wb_rq(c->s, i))->idle_stamp = i == young ? c->now : 1;
        try_fork(t, CONFORM_F_STAMP);
    }
    for (cpu_id i = 0; i < c->f->ncpus; i++) fair_rq(wb_rq(c->s, i))->idle_stamp = c->scratch->stamp[i];
}

/* A wakeup under way to an idle CPU: it counts as busy from some moment of it on. */
static void try_fork_pending(const struct fork_trial *t)
{
    struct conform *c = t->c;
    bool any = false;
    for (cpu_id i = 0; i < c->f->ncpus; i++) {
        struct wb_rq *rq = wb_rq(c->s, i);
        c->scratch->list[i] = rq->wake_list;
        any = any || rq->wake_list;
        rq->wake_list = NULL;
    }
    if (any) try_fork(t, CONFORM_F_RACE);
    for (cpu_id i = 0; i < c->f->ncpus; i++) wb_rq(c->s, i)->wake_list = c->scratch->list[i];
}

static void try_fork_class(const struct fork_trial *t)
{
    struct conform *c = t->c;
    if (!c->idle) return;
    for (cpu_id i = 0; i < c->f->ncpus; i++) {
        struct fair_rq *r = fair_rq(wb_rq(c->s, i));
        c->scratch->nr_idle[i] = r->nr_idle;
        r->nr_idle = 0;
    }
    try_fork(t, CONFORM_F_CLASS);
    for (cpu_id i = 0; i < c->f->ncpus; i++) fair_rq(wb_rq(c->s, i))->nr_idle = c->scratch->nr_idle[i];
}

void conform_ask_fork(struct conform *c, uint32_t parent, uint32_t child, cpu_id cpu, struct conform_answer *a)
{
    struct fork_trial t = {c, parent ? conform_task(c, parent) : NULL, conform_task(c, child), cpu, a};
    const struct wb_cpumask *own = t.child->allowed;
    memset(a, 0, sizeof *a);
    hold(c);
    t.child->allowed = wb_rq(c->s, cpu)->idle->allowed; /* kernel threads are bound after they have started */
    a->base = wb_drive_fork(c->s, t.parent, t.child, cpu);
    conform_possible(a, a->base.cpu);
    for (cpu_id i = 0; i < c->f->ncpus; i++) {
        const struct fair_rq *r = fair_rq(wb_rq(c->s, i));
        c->scratch->util[i] = r->avg.util_avg;
        c->scratch->runnable[i] = r->avg.runnable_avg;
        c->scratch->load[i] = r->avg.load_avg;
        c->scratch->est[i] = r->util_est;
        c->scratch->stamp[i] = r->idle_stamp;
    }
    try_fork_pending(&t);
    try_fork_class(&t);
    try_utils(&t);
    try_stamps(&t);
    let_go(c);
    t.child->allowed = own;
}
