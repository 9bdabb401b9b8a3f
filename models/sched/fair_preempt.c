/*
 * fair_preempt.c - should a task that was just queued preempt the running one?
 *
 * Linux check_preempt_wakeup (2.6.24 .. 6.6), check_preempt_wakeup_fair (6.7+), check_preempt_curr_fair (2.6.23). The
 * order of the tests is part of the version: 6.12 asks for WAKEUP_PREEMPTION before it looks at SCHED_IDLE, 2.6.35 at
 * the wakee's class before the running task's.
 */
#include "fair.h"

static bool answer(wb_rule *rule, enum fair_rule why, bool yes)
{
    *rule = (wb_rule)why;
    return yes;
}

static bool against_rt(const struct wb_rq *rq, const struct wb_task *t, wb_rule *rule)
{
    const struct wb_task *c = rq->curr;
    if (!fair_is_rt(t)) return answer(rule, FAIR_R_RT_CURR, false);
    bool yes = !fair_is_rt(c) || fair_rt_rank(t) > fair_rt_rank(c);
    return answer(rule, yes ? FAIR_R_RT : FAIR_R_RT_CURR, yes);
}

/* Tests on classes and features: true = decided, *yes says how. */
static bool by_class(const struct fair_sim *f, const struct wb_rq *rq, const struct wb_task *t, wb_rule *rule,
                     bool *yes)
{
    enum fair_release v = f->v->release;
    bool idle_curr = rq->curr->klass == WB_CLASS_IDLE, idle = t->klass == WB_CLASS_IDLE,
         off = !fair_on(f, FAIR_F_WAKEUP_PREEMPTION);
    *yes = false;
    if (v == FAIR_2_6_23) return false;
    if (v >= FAIR_2_6_35 && rq->need_resched)
        *rule = FAIR_R_RESCHED_ALREADY;
    else if (v >= FAIR_6_12 && off)
        *rule = FAIR_R_NO_PREEMPTION;
    else if (v >= FAIR_5_4 && idle_curr && !idle)
        *yes = answer(rule, FAIR_R_IDLE_CURR, true);
    else if (t->klass == WB_CLASS_BATCH)
        *rule = FAIR_R_BATCH_WAKEE;
    else if (v >= FAIR_2_6_35 && idle)
        *rule = FAIR_R_IDLE_WAKEE;
    else if (v >= FAIR_2_6_35 && idle_curr)
        *yes = answer(rule, FAIR_R_IDLE_CURR, true);
    else if (off)
        *rule = FAIR_R_NO_PREEMPTION;
    return *rule != FAIR_R_NONE;
}

/* A wakeup marks its task as the next to run (NEXT_BUDDY, off by default). */
static void mark_next(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p, uint32_t flags)
{
    if (!fair_on(f, FAIR_F_NEXT_BUDDY) || flags & WB_WF_FORK || p->delayed) return;
    if (f->v->order == FAIR_EEVDF || r->nr >= f->nr_latency) fair_set_next_buddy(r, p);
}

/* Who is preempted may be preferred when the preempting task is done; only on a queue that is long enough. */
static void mark_last(const struct fair_sim *f, struct fair_rq *r)
{
    struct fair_task *curr = r->curr;
    if (!fair_on(f, FAIR_F_LAST_BUDDY) || r->nr < f->nr_latency) return;
    if (curr->on_rq && curr->t->klass != WB_CLASS_IDLE) r->last = curr;
}

static bool preempted(struct wb_exec *x, struct wb_rq *rq, wb_rule rule)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    mark_last(f, r);
    if (rule == FAIR_R_IDLE_CURR && f->v->release == FAIR_6_18 && fair_before(r->curr->vruntime, r->curr->vprot))
        r->curr->vprot = r->curr->vruntime; /* it is not protected against its betters */
    if (!f->lazy) return true;
    fair_resched(x, rq);
    return false;
}

static bool decide(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    struct fair_task *p = fair_task(t);
    bool yes;
    *rule = FAIR_R_NONE;
    if (f->v->sync_unchecked && flags & WB_WF_SYNC && rq->cpu == x->cpu && !(flags & WB_WF_FORK))
        return answer(rule, FAIR_R_SYNC_UNCHECKED, false);
    if (wb_idle_cpu(rq)) return answer(rule, FAIR_R_CPU_IDLE, true);
    if (fair_is_rt(t) || fair_is_rt(rq->curr)) {
        /* Up to 2.6.36 the fair class answers for a real-time wakee, and remembers whom it preempts. */
        if (f->v->release <= FAIR_2_6_36 && r->curr) mark_last(f, r);
        return against_rt(rq, t, rule);
    }
    if (!r->curr) return false; /* the running one is being put away */
    if (f->v->release >= FAIR_2_6_35) mark_next(f, r, p, flags);
    if (!by_class(f, rq, t, rule, &yes)) yes = f->ops->preempts(x, rq, p, flags, rule);
    return yes && preempted(x, rq, *rule);
}

/* check_preempt_curr(), wakeup_preempt(): while the running task is still queued, the clock is as new as it need be. A
 * lazy request does not count. */
bool fair_check_preempt(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule)
{
    struct fair_rq *r = fair_rq(rq);
    bool yes = decide(x, rq, t, flags, rule), queued = !r->curr || r->curr->on_rq;
    if (fair_of(x)->v->release > FAIR_2_6_36 && (yes || rq->need_resched) && queued) r->clock_kept = true;
    return yes;
}
