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
    uint64_t util[TRACE_CPUS], stamp[TRACE_CPUS];
    uint32_t est[TRACE_CPUS];
};

struct conform_scratch *conform_scratch_new(void)
{
    return calloc(1, sizeof(struct conform_scratch));
}

static struct wb_choice ask(struct conform *c, const struct conform_question *q)
{
    struct wb_choice k = wb_drive_place(c->s, &q->w, q->level);
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

/* Flips are whole for tasks that were born in the section. */
static void try_wide(struct trial *t)
{
    struct conform *c = t->c;
    bool whole = c->past[t->q->wakee].born && (!t->q->waker || c->past[t->q->waker].born), on = c->f->pl.wide;
    if (whole || !on) return;
    c->f->pl.wide = false;
    note(t, CONFORM_F_WIDE, ask(c, t->q).cpu);
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

/* One CPU much more loaded than the other, both ways. */
static void try_load(struct trial *t)
{
    struct conform *c = t->c;
    struct fair_rq *here = fair_rq(wb_rq(c->s, t->q->w.this_cpu)), *prev = fair_rq(wb_rq(c->s, t->q->w.prev_cpu));
    if (here == prev) return;
    uint64_t here_load = here->avg.load_avg, prev_load = prev->avg.load_avg;
    here->avg.load_avg = 1ull << 40;
    note(t, CONFORM_F_LOAD, ask(c, t->q).cpu);
    here->avg.load_avg = 0;
    prev->avg.load_avg = 1ull << 40;
    note(t, CONFORM_F_LOAD, ask(c, t->q).cpu);
    here->avg.load_avg = here_load;
    prev->avg.load_avg = prev_load;
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

static void (*const trials[])(struct trial *t) = {try_sync,   try_wide,    try_caches,  try_load,
                                                  try_recent, try_delayed, try_leaving, try_pack};

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
    cpu_id recent = fair_task(q->w.task)->pl.recent_used_cpu;
    (void)wb_drive_place(c->s, &q->w, q->level);
    if (fair_task(q->w.task)->pl.recent_used_cpu != recent) c->past[q->wakee].recent_known = true;
}

/* ---- forks ---- */

static void set_util(const struct conform *c, bool back, bool reverse)
{
    for (cpu_id i = 0; i < c->f->ncpus; i++) {
        struct fair_rq *r = fair_rq(wb_rq(c->s, i));
        r->avg.util_avg = back ? c->scratch->util[i] : reverse ? PELT_SCALE - WB_MIN(c->scratch->util[i], PELT_SCALE) : 0;
        r->util_est = back ? c->scratch->est[i] : 0;
    }
}

static void try_stamps(struct conform *c, const uint32_t who[2], cpu_id cpu, struct conform_answer *a)
{
    for (int young = 0; young < 2; young++) {
        for (cpu_id i = 0; i < c->f->ncpus; i++)
            if (!c->idle_seen[i]) fair_rq(wb_rq(c->s, i))->idle_stamp = young ? c->now : 1;
        struct wb_choice k = wb_drive_fork(c->s, who[0] ? conform_task(c, who[0]) : NULL, conform_task(c, who[1]), cpu);
        conform_possible(a, k.cpu);
        if (k.cpu != a->base.cpu) a->facts |= 1u << CONFORM_F_STAMP;
        for (cpu_id i = 0; i < c->f->ncpus; i++) fair_rq(wb_rq(c->s, i))->idle_stamp = c->scratch->stamp[i];
    }
}

void conform_ask_fork(struct conform *c, uint32_t parent, uint32_t child, cpu_id cpu, struct conform_answer *a)
{
    struct wb_task *p = parent ? conform_task(c, parent) : NULL, *k = conform_task(c, child);
    memset(a, 0, sizeof *a);
    a->base = wb_drive_fork(c->s, p, k, cpu);
    conform_possible(a, a->base.cpu);
    for (cpu_id i = 0; i < c->f->ncpus; i++) {
        const struct fair_rq *r = fair_rq(wb_rq(c->s, i));
        c->scratch->util[i] = r->avg.util_avg;
        c->scratch->est[i] = r->util_est;
        c->scratch->stamp[i] = r->idle_stamp;
    }
    for (int reverse = 0; reverse < 2; reverse++) {
        set_util(c, false, reverse);
        cpu_id other = wb_drive_fork(c->s, p, k, cpu).cpu;
        conform_possible(a, other);
        if (other != a->base.cpu) a->facts |= 1u << CONFORM_F_UTIL;
    }
    set_util(c, true, false);
    try_stamps(c, (const uint32_t[2]){parent, child}, cpu, a);
}
