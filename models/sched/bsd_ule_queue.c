/*
 * bsd_ule_queue.c - a CPU's calendars (FreeBSD 5.2.1 kern/sched_ule.c: kseq_runq_add, kseq_load_add, kseq_choose,
 * sched_wakeup, sched_sleep, sched_add, sched_switch). The running task is in no list.
 */
#include "bsd.h"

static bool is_timeshare(const struct wb_task *t)
{
    return t->klass == WB_CLASS_NORMAL || t->klass == WB_CLASS_BATCH;
}

/* KSE_CAN_MIGRATE: not bound. */
bool ule_movable(const struct wb_task *t)
{
    return t->klass != WB_CLASS_STOP && wb_mask_count(t->allowed) > 1;
}

void ule_queue(struct ule_rq *r, struct bsd_task *p)
{
    WB_CHECK(r, "a task is queued nowhere");
    bsd_runq_add(p->home ? p->home : r->curr, p, bsd_prio(p) / BSD_PPQ);
    p->movable = ule_movable(p->t);
    r->transferable += p->movable;
}

void ule_unqueue(struct ule_rq *r, struct bsd_task *p)
{
    bsd_runq_del(p);
    r->transferable -= p->movable;
    p->movable = false;
}

static void count_nice(struct ule_rq *r, int nice, int by)
{
    r->timeshare = (uint32_t)((int)r->timeshare + by);
    r->nice[nice + 20] = (uint32_t)((int)r->nice[nice + 20] + by);
}

/* What was counted is remembered: nice may change meanwhile. */
void ule_load_add(struct ule_rq *r, struct bsd_task *p)
{
    p->counted = is_timeshare(p->t);
    p->counted_nice = p->t->nice;
    if (p->counted) count_nice(r, p->counted_nice, 1);
}

void ule_load_rem(struct ule_rq *r, struct bsd_task *p)
{
    if (p->counted) count_nice(r, p->counted_nice, -1);
    p->counted = false;
}

/* sched_add(): which calendar. */
static void choose_home(const struct ule_sim *o, struct ule_rq *r, struct bsd_task *p)
{
    if (p->t->klass == WB_CLASS_IDLE)
        p->home = &r->idle;
    else
        p->home = bsd_is_rt(p->t) || ule_current(o, p, bsd_prio(p)) ? r->curr : r->next;
}

/* sched_wakeup(): what was slept counts, then priority and slice anew. */
static void woken(struct wb_exec *x, const struct ule_rq *r, struct bsd_task *p)
{
    const struct ule_sim *o = ule_of(x);
    uint64_t slept = (wb_jiffies(x->sim) - p->slept_at) << 10;
    wb_charge_fn(x, o->fn_score);
    if (slept >= o->history) {
        p->sleeptime = o->history;
        p->runtime = 1;
    } else {
        p->sleeptime += slept;
        ule_forget(o, p);
    }
    ule_priority(p);
    ule_slice(o, r, p);
}

void ule_enqueue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags)
{
    const struct ule_sim *o = ule_of(x);
    struct ule_rq *r = ule_rq(rq);
    struct bsd_task *p = bsd_task(t);
    if (flags & WB_ENQ_WAKEUP) woken(x, r, p);
    choose_home(o, r, p);
    ule_queue(r, p);
    ule_load_add(r, p);
    rq->nr_running++;
}

bool ule_dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags)
{
    struct ule_rq *r = ule_rq(rq);
    struct bsd_task *p = bsd_task(t);
    WB_CHECK(rq->nr_running, "task %u leaves cpu %u, which has none", t->id, rq->cpu);
    if (p->queue) ule_unqueue(r, p);
    ule_load_rem(r, p);
    rq->nr_running--;
    if (flags & WB_DEQ_SLEEP) {
        p->slept_at = wb_jiffies(x->sim);
        if (!bsd_is_rt(t)) bsd_lend(p, ule_of(x)->sleep_prio);
    }
    return true;
}

/* sched_switch(): back to the calendar where it belongs, at the tail of its priority. */
void ule_put_prev(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev)
{
    struct bsd_task *p = bsd_task(prev);
    (void)x;
    if (prev->on_rq && !p->queue) ule_queue(ule_rq(rq), p);
}

static struct bsd_task *best_of(const struct bsd_runq *q)
{
    return q->nr ? q->head[bsd_runq_best(q, 0)] : NULL;
}

/* kseq_choose(): the current calendar, then the next one, then the idle class. */
static struct bsd_task *choose(struct ule_rq *r)
{
    if (!r->curr->nr) {
        struct bsd_runq *q = r->curr;
        r->curr = r->next;
        r->next = q;
    }
    return r->curr->nr ? best_of(r->curr) : best_of(&r->idle);
}

/* Who has no slice coming is put off to the next calendar. */
struct wb_task *ule_pick(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev)
{
    const struct ule_sim *o = ule_of(x);
    struct ule_rq *r = ule_rq(rq);
    struct bsd_task *p;
    (void)prev;
    wb_charge_fn(x, o->fn_choose);
    for (uint32_t tries = 2 * rq->nr_running; (p = choose(r)) && tries; tries--) {
        if (p->slice || !is_timeshare(p->t)) break;
        ule_unqueue(r, p);
        ule_slice(o, r, p);
        p->home = r->next;
        ule_queue(r, p);
    }
    if (!p) return NULL;
    ule_unqueue(r, p);
    return p->t;
}

/* sched_add() for this CPU, kseq_notify() for another: its task is told when the new one is better, and so is its idle
 * thread. */
bool ule_check_preempt(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule)
{
    (void)x;
    (void)flags;
    if (wb_idle_cpu(rq)) {
        *rule = ULE_R_CPU_IDLE;
        return true;
    }
    bool better = bsd_prio(bsd_task(t)) < bsd_prio(bsd_task(rq->curr));
    *rule = better ? ULE_R_PREEMPT : ULE_R_WAITS;
    return better;
}
