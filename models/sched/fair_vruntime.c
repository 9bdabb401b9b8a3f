/*
 * fair_vruntime.c - CFS from 2.6.24 to 6.1: the task with the least virtual run time runs.
 *
 * Linux kernel/sched_fair.c, kernel/sched/fair.c: update_curr, place_entity, sched_slice, check_preempt_tick,
 * check_preempt_wakeup, wakeup_preempt_entity, pick_next_entity, task_new_fair, task_fork_fair, yield_task_fair. A
 * sleeper comes back at most a latency (2.6.24) or half of one (GENTLE_FAIR_SLEEPERS) behind the queue; a new task
 * starts a slice ahead of it (START_DEBIT).
 */
#include "fair.h"

static uint64_t later(uint64_t a, uint64_t b)
{
    return fair_before(a, b) ? b : a;
}

static void charge(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr, uint64_t ran)
{
    const struct fair_sim *f = fair_of(x);
    curr->vruntime += fair_virtual(f, ran, curr);
    fair_min_vruntime(f, fair_rq(rq));
}

/* ---- slices ---- */

/* __sched_period: everybody runs once in it. */
static uint64_t period(const struct fair_sim *f, uint64_t n)
{
    if (n <= f->nr_latency) return f->latency;
    return f->v->release == FAIR_2_6_24 ? f->latency * n / WB_MAX(f->nr_latency, 1) : n * f->min_granularity;
}

/* sched_slice: a task's share of the period; p may be about to be queued. */
static uint64_t slice(const struct fair_sim *f, struct fair_rq *r, const struct fair_task *p)
{
    uint64_t all = period(f, r->nr + !p->on_rq);
    if (f->v->release == FAIR_2_6_24) return all * p->weight.value / r->load.value;
    struct weight with = {.value = r->load.value + p->weight.value};
    uint64_t s = fair_scale(f, all, p->weight.value, p->on_rq ? &r->load : &with);
    if (!fair_on(f, FAIR_F_BASE_SLICE)) return s;
    bool idle = f->v->idle_short_credit && p->t->klass == WB_CLASS_IDLE && r->nr != r->nr_idle;
    return WB_MAX(s, idle ? f->idle_min_granularity : f->min_granularity);
}

/* Virtual length of a new task's first slice. */
static uint64_t vslice(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    if (f->v->release == FAIR_2_6_24) return period(f, r->nr + 1) * WEIGHT_NICE_0 / (r->load.value + p->weight.value);
    return fair_virtual(f, slice(f, r, p), p);
}

/* ---- placement in virtual time ---- */

static uint64_t sleeper_credit(const struct fair_sim *f, const struct fair_task *p)
{
    if (f->v->release == FAIR_2_6_24) return fair_on(f, FAIR_F_NEW_FAIR_SLEEPERS) ? f->latency : 0;
    uint64_t credit = f->v->idle_short_credit && p->t->klass == WB_CLASS_IDLE ? f->min_granularity : f->latency;
    return fair_on(f, FAIR_F_GENTLE_FAIR_SLEEPERS) ? credit / 2 : credit;
}

/* 2.6.24 TREE_AVG, APPROX_AVG: the middle of the queue instead of its start. */
static uint64_t reference(const struct fair_sim *f, struct fair_rq *r)
{
    uint64_t v = r->min_vruntime;
    if (f->v->release != FAIR_2_6_24) return v;
    struct fair_node *last = fair_on(f, FAIR_F_TREE_AVG) ? fair_tree_last(&r->tree) : NULL;
    if (last) return (v + last->key) >> 1;
    if (fair_on(f, FAIR_F_APPROX_AVG) && !fair_on(f, FAIR_F_TREE_AVG) && r->nr)
        v += period(f, r->nr) * WEIGHT_NICE_0 / r->load.value / 2;
    return v;
}

/* place_entity. */
static void place_in_time(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p, bool initial)
{
    uint64_t v = reference(f, r);
    if (initial && fair_on(f, FAIR_F_START_DEBIT)) v += vslice(f, r, p);
    if (!initial) v -= sleeper_credit(f, p);
    bool plain = initial && f->v->release == FAIR_2_6_24;
    p->vruntime = plain ? v : later(p->vruntime, v);
}

/* The parent runs on, or the child first: whoever is to run first has the lesser virtual time. */
static bool swap_with_parent(const struct fair_sim *f, struct fair_task *curr, struct fair_task *p)
{
    if (!f->child_runs_first || !curr || !fair_before(curr->vruntime, p->vruntime)) return false;
    uint64_t v = curr->vruntime;
    curr->vruntime = p->vruntime;
    p->vruntime = v;
    return true;
}

static void place(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t flags)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    if (p->relative) p->vruntime += r->min_vruntime;
    p->relative = false;
    if (flags & WB_ENQ_WAKEUP) place_in_time(f, r, p, false);
    if (!(flags & WB_ENQ_NEW) || f->v->release != FAIR_2_6_24) return;
    place_in_time(f, r, p, true);
    if (rq->cpu == x->cpu) (void)swap_with_parent(f, r->curr, p);
}

/* From 2.6.32 on the place is taken on the parent's queue and carried over as a distance from min_vruntime. */
static void fork_task(struct wb_exec *x, struct wb_rq *rq, struct fair_task *parent, struct fair_task *p)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    (void)parent;
    if (f->v->release == FAIR_2_6_24) return;
    p->vruntime = r->curr ? r->curr->vruntime : r->min_vruntime;
    place_in_time(f, r, p, true);
    if (swap_with_parent(f, r->curr, p)) wb_resched(x, rq);
    p->vruntime -= r->min_vruntime;
    p->relative = true;
}

static bool leave(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t flags)
{
    if (fair_of(x)->v->release >= FAIR_5_4 && flags & WB_DEQ_MIGRATE) { /* before min_vruntime forgets the task */
        p->vruntime -= fair_rq(rq)->min_vruntime;
        p->relative = true;
    }
    return true;
}

static void left(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t flags)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    if (f->v->release == FAIR_2_6_24) return;
    fair_min_vruntime(f, r);
    if (p->relative || !(flags & WB_DEQ_MIGRATE)) return;
    p->vruntime -= r->min_vruntime;
    p->relative = true;
}

static void migrate(struct wb_exec *x, struct fair_task *p, struct fair_rq *from, struct fair_rq *to)
{
    if (p->relative) return;
    p->vruntime -= from->min_vruntime;
    p->relative = true;
    if (fair_of(x)->v->release != FAIR_2_6_24) return; /* set_task_cpu of 2.6.24 does both halves at once */
    p->vruntime += to->min_vruntime;
    p->relative = false;
}

/* ---- preemption ---- */

/* wakeup_preempt_entity: -1 = p is not left of curr, 0 = within the wakeup granularity, 1 = far left. */
static int leads(const struct fair_sim *f, const struct fair_task *curr, struct fair_task *p)
{
    int64_t diff = (int64_t)(curr->vruntime - p->vruntime);
    if (diff <= 0) return -1;
    return diff > (int64_t)fair_virtual(f, f->wakeup_granularity, p);
}

/* 2.6.24 scales the granularity by the running task's weight. */
static bool preempts_2_6_24(const struct fair_sim *f, struct fair_task *curr, const struct fair_task *p)
{
    return fair_before(p->vruntime + fair_virtual(f, f->wakeup_granularity, curr), curr->vruntime);
}

static bool preempts(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t wake_flags, wb_rule *rule)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    struct fair_task *curr = r->curr;
    if (wake_flags & WB_WF_FORK && f->v->release == FAIR_2_6_24) { /* task_new_fair always reschedules */
        *rule = fair_before(p->vruntime, curr->vruntime) ? FAIR_R_CHILD_FIRST : FAIR_R_PARENT_FIRST;
        return true;
    }
    fair_update_curr(x, rq);
    bool yes = f->v->release == FAIR_2_6_24 ? preempts_2_6_24(f, curr, p) : leads(f, curr, p) == 1;
    *rule = yes ? FAIR_R_VRUNTIME_FAR : FAIR_R_VRUNTIME_NEAR;
    if (yes && f->v->release >= FAIR_5_4) fair_set_next_buddy(r, p);
    return yes;
}

static struct fair_task *leftmost(const struct fair_rq *r)
{
    return r->tree.first ? fair_of_node(r->tree.first) : NULL;
}

/* check_preempt_tick. */
static void tick(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    const struct fair_task *left_one = leftmost(r);
    if (r->nr < 2 || !left_one) return;
    uint64_t ran = curr->sum_exec - curr->prev_sum_exec, ideal = slice(f, r, curr);
    if (ran > ideal) {
        wb_resched(x, rq);
        fair_clear_buddies(r, curr); /* so that the next one really gets its turn */
        return;
    }
    if (f->v->release == FAIR_2_6_24 || ran < f->min_granularity) return;
    if (f->v->release <= FAIR_2_6_36 && !fair_on(f, FAIR_F_WAKEUP_PREEMPTION)) return;
    int64_t ahead = (int64_t)(curr->vruntime - left_one->vruntime);
    /* 2.6.33 .. 2.6.37 compare with an unsigned slice: a negative lead counts as huge (fixed by d7d8294415f0). */
    if (f->v->tick_unsigned ? (uint64_t)ahead > ideal : ahead > (int64_t)ideal) wb_resched(x, rq);
}

/* ---- pick ---- */

static bool fair_enough(const struct fair_sim *f, const struct fair_task *buddy, struct fair_task *left_one)
{
    return buddy && leads(f, buddy, left_one) < 1;
}

/* Who follows the best in line, the running task among them. */
static struct fair_task *second(struct fair_task *best, struct fair_task *curr, struct fair_rq *r)
{
    if (best == curr) return leftmost(r);
    struct fair_node *n = fair_tree_next(&best->node);
    if (!n) return curr;
    struct fair_task *p = fair_of_node(n);
    return curr && fair_before(curr->vruntime, p->vruntime) ? curr : p;
}

static struct fair_task *choose(struct wb_exec *x, struct wb_rq *rq)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    struct fair_task *curr = r->curr && r->curr->on_rq ? r->curr : NULL, *best = leftmost(r);
    if (!best || (curr && fair_before(curr->vruntime, best->vruntime))) best = curr;
    WB_CHECK(best, "%u tasks queued and none in the tree", r->nr);
    struct fair_task *p = best;
    if (r->skip == p) {
        struct fair_task *s = second(p, curr, r);
        if (s && leads(f, s, best) < 1) p = s;
    }
    bool next_wins = f->v->release >= FAIR_5_4;
    if (!next_wins && fair_enough(f, r->next, best)) p = r->next;
    if (fair_enough(f, r->last, best)) p = r->last;
    if (next_wins && fair_enough(f, r->next, best)) p = r->next;
    return p;
}

/* ---- sched_yield ---- */

/* sched_compat_yield: behind everybody. */
static void yield_to_last(struct fair_rq *r, struct fair_task *curr)
{
    struct fair_node *last = fair_tree_last(&r->tree);
    if (last && !fair_before(last->key, curr->vruntime)) curr->vruntime = last->key + 1;
}

static void yield(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    bool batch = curr->t->klass == WB_CLASS_BATCH;
    if (r->nr == 1) return;
    fair_clear_buddies(r, curr);
    if (f->v->release >= FAIR_5_4) {
        if (!batch) fair_update_curr(x, rq);
        r->skip = curr;
        return;
    }
    fair_update_curr(x, rq);
    if (f->compat_yield || batch) yield_to_last(r, curr);
}

/* Virtual time stays; only its rate changes. */
const struct fair_order_ops fair_vruntime_order = {
    .charge = charge,
    .place = place,
    .leave = leave,
    .left = left,
    .choose = choose,
    .tick = tick,
    .preempts = preempts,
    .yield = yield,
    .fork = fork_task,
    .migrate = migrate,
};
