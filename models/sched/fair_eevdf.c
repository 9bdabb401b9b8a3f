/*
 * fair_eevdf.c - EEVDF of Linux 6.6, 6.12 and 6.18: of the eligible tasks, the one with the earliest virtual deadline.
 *
 * kernel/sched/fair.c: avg_vruntime, entity_eligible, update_entity_lag, place_entity, update_deadline, pick_eevdf,
 * dequeue_entity, requeue_delayed_entity, set_protect_slice, check_preempt_wakeup_fair, yield_task_fair. After I.
 * Stoica, H. Abdel-Wahab, "Earliest Eligible Virtual Deadline First", 1995.
 *
 * V, the average of virtual run times by weight, is where everybody would be had all been served fairly. lag = V - v;
 * a task with lag >= 0 is eligible. A task that sleeps keeps its lag, scaled so that queueing it again moves V by
 * just as much as makes the lag true. The tree is ordered by deadline; which task is found does not depend on the
 * tree that 6.6 used instead (by vruntime).
 *
 * The running task is protected (RUN_TO_PARITY) until it has run its request: 6.6 and 6.12 remember the deadline at
 * which it started and protect while that stands; 6.18 protects up to `vprot`. Protection is renewed only by a real
 * switch.
 */
#include "fair.h"

static struct fair_bound average(const struct fair_rq *r)
{
    struct fair_bound b = {.base = r->min_vruntime, .load = r->sum_weight, .sum = r->sum_lag};
    const struct fair_task *curr = r->curr;
    if (!curr || !curr->on_rq) return b;
    int64_t w = (int64_t)curr->weight.value;
    b.sum += (int64_t)(curr->vruntime - r->min_vruntime) * w;
    b.load += w;
    return b;
}

/* avg_vruntime, rounded down. */
static uint64_t average_vruntime(const struct fair_rq *r)
{
    struct fair_bound b = average(r);
    if (!b.load) return r->min_vruntime;
    int64_t sum = b.sum < 0 ? b.sum - (b.load - 1) : b.sum;
    return r->min_vruntime + (uint64_t)(sum / b.load);
}

bool fair_eligible(const struct fair_rq *r, const struct fair_task *p)
{
    struct fair_bound b = average(r);
    return fair_within(&b, p->vruntime);
}

/* ---- slices and protection ---- */

static void renew_slice(const struct fair_sim *f, struct fair_task *p)
{
    if (!p->custom_slice) p->slice = f->base_slice;
}

static uint64_t least_slice(const struct fair_rq *r)
{
    uint64_t s = UINT64_MAX;
    if (r->curr && r->curr->on_rq) s = r->curr->slice;
    return r->tree.root ? WB_MIN(s, r->tree.root->slice_min) : s;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return fair_before(b, a) ? b : a;
}

static bool protected_now(const struct fair_sim *f, const struct fair_task *p)
{
    if (f->v->release == FAIR_6_18) return fair_before(p->vruntime, p->vprot);
    return p->vprot == p->deadline;
}

/* Whether that counts: 6.18 protects a little without RUN_TO_PARITY too. */
static bool guarded(const struct fair_sim *f, const struct fair_task *p)
{
    return (f->v->release == FAIR_6_18 || fair_on(f, FAIR_F_RUN_TO_PARITY)) && protected_now(f, p);
}

static void protect(const struct fair_sim *f, const struct fair_rq *r, struct fair_task *p)
{
    p->vprot = p->deadline;
    if (f->v->release != FAIR_6_18) return;
    uint64_t s = fair_on(f, FAIR_F_RUN_TO_PARITY) ? least_slice(r) : f->base_slice_unscaled;
    if (s < p->slice) p->vprot = earlier(p->deadline, p->vruntime + fair_virtual(f, s, p));
}

static void cancel_protection(const struct fair_sim *f, struct fair_task *p)
{
    if (!protected_now(f, p)) return;
    p->vprot = f->v->release == FAIR_6_18 ? p->vruntime : p->deadline + 1;
}

/* ---- running ---- */

/* The request is used up: the next one starts where it ended. */
static bool renew_deadline(const struct fair_sim *f, struct fair_task *p)
{
    if (fair_before(p->vruntime, p->deadline)) return false;
    renew_slice(f, p);
    p->deadline = p->vruntime + fair_virtual(f, p->slice, p);
    return true;
}

/* 6.12: a task whose protection a shorter one broke gives way once it is not eligible. 6.18: protection over. */
static bool over(const struct fair_sim *f, const struct fair_rq *r, const struct fair_task *curr)
{
    if (f->v->release == FAIR_6_6) return false;
    if (f->v->release == FAIR_6_18) return !protected_now(f, curr);
    return fair_on(f, FAIR_F_PREEMPT_SHORT) && !protected_now(f, curr) && !fair_eligible(r, curr);
}

static void charge(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr, uint64_t ran)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    curr->vruntime += fair_virtual(f, ran, curr);
    bool done = renew_deadline(f, curr);
    fair_min_vruntime(f, r);
    if (r->nr == 1 || (!done && !over(f, r, curr))) return;
    fair_resched(x, rq);
    fair_clear_buddies(r, curr);
}

/* ---- coming and going ---- */

/* update_entity_lag: clamped to what one request may be early or late. With policy.delayed_lag = "kept" nobody's debt
 * grows while his dequeue is delayed (commit 059258b0d424). */
static void note_lag(const struct fair_sim *f, const struct fair_rq *r, struct fair_task *p)
{
    int64_t lag = (int64_t)(average_vruntime(r) - p->vruntime);
    int64_t limit = (int64_t)fair_virtual(f, WB_MAX(2 * p->slice, f->tick_ns), p);
    int64_t before = p->vlag;
    p->vlag = WB_MAX(WB_MIN(lag, limit), -limit);
    if (f->lag_kept && p->delayed) p->vlag = WB_MAX(p->vlag, before);
}

/* Once queued, p pulls the average towards itself: the lag is inflated so that it is true afterwards. */
static int64_t inflated(const struct fair_rq *r, const struct fair_task *p)
{
    int64_t load = average(r).load;
    return load ? p->vlag * (load + (int64_t)p->weight.value) / load : p->vlag;
}

/* place_entity. */
static void place_in_time(const struct fair_sim *f, const struct fair_rq *r, struct fair_task *p, bool initial)
{
    int64_t lag = 0;
    uint64_t v = average_vruntime(r);
    renew_slice(f, p);
    uint64_t vslice = fair_virtual(f, p->slice, p);
    if (fair_on(f, FAIR_F_PLACE_LAG) && r->nr && (p->vlag || f->v->release < FAIR_6_18)) lag = inflated(r, p);
    p->vruntime = v - (uint64_t)lag;
    if (p->rel_deadline) {
        p->deadline += p->vruntime;
        p->rel_deadline = false;
        return;
    }
    if (initial && fair_on(f, FAIR_F_PLACE_DEADLINE_INITIAL)) vslice /= 2;
    p->deadline = p->vruntime + vslice;
}

static void place(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t flags)
{
    const struct fair_sim *f = fair_of(x);
    place_in_time(f, fair_rq(rq), p, flags & WB_ENQ_NEW && !f->v->initial_lost);
}

/* A task that sleeps while it is ahead of the average stays, to pay off its debt (6.12+). The dying do not. */
static bool delays(const struct fair_sim *f, const struct fair_rq *r, const struct fair_task *p, uint32_t flags)
{
    if (!fair_on(f, FAIR_F_DELAY_DEQUEUE) || !(flags & WB_DEQ_SLEEP)) return false;
    if (flags & (WB_DEQ_DELAYED | WB_DEQ_EXIT)) return false;
    return !fair_eligible(r, p);
}

static bool leave(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t flags)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    bool delayed = delays(f, r, p, flags);
    if (!delayed || f->lag_kept) note_lag(f, r, p);
    if (delayed) return false;
    if (!fair_on(f, FAIR_F_PLACE_REL_DEADLINE) || flags & WB_DEQ_SLEEP) return true;
    p->deadline -= p->vruntime;
    p->rel_deadline = true;
    return true;
}

static void left(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t flags)
{
    const struct fair_sim *f = fair_of(x);
    fair_min_vruntime(f, fair_rq(rq));
    if (flags & WB_DEQ_DELAYED && fair_on(f, FAIR_F_DELAY_ZERO) && p->vlag > 0) p->vlag = 0;
}

/* Out of the tree and in again, with the lag that p is to have. */
static void place_again(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    bool in_tree = p->in_tree;
    fair_tree_del(f, r, p);
    p->on_rq = false; /* average() shall not count it */
    r->nr--;
    place_in_time(f, r, p, false);
    r->nr++;
    p->on_rq = true;
    if (in_tree) fair_tree_add(f, r, p);
}

/* requeue_delayed_entity: woken before its debt was paid, it goes on with what is left of it; a credit is forfeit
 * (DELAY_ZERO). With policy.delayed_lag = "kept" it is placed anew whenever its lag is not what its place says. */
static void revive(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    WB_CHECK(p->delayed, "task %u is woken in its queue and was not delayed", p->t->id);
    fair_util_est_enqueue(f, r, p);
    bool zero = fair_on(f, FAIR_F_DELAY_ZERO);
    if (zero || f->lag_kept) note_lag(f, r, p);
    bool credit = zero && p->vlag > 0;
    if (credit) p->vlag = 0;
    if (credit || (f->lag_kept && (int64_t)(average_vruntime(r) - p->vruntime) != p->vlag)) place_again(f, r, p);
    fair_update_load(f, r, p);
    p->delayed = false;
    r->nr_delayed--;
}

/* ---- pick ---- */

static struct fair_task *pick_eevdf(const struct fair_sim *f, struct fair_rq *r, bool may_protect)
{
    struct fair_task *curr = r->curr;
    if (curr && !curr->on_rq) curr = NULL;
    WB_CHECK(curr || r->tree.first, "%u tasks queued and none in the tree", r->nr);
    if (r->nr == 1) return curr ? curr : fair_of_node(r->tree.first);
    struct fair_bound b = average(r);
    if (f->v->release == FAIR_6_18 && fair_on(f, FAIR_F_PICK_BUDDY) && r->next && fair_within(&b, r->next->vruntime))
        return r->next;
    if (curr && !fair_within(&b, curr->vruntime)) curr = NULL;
    if (curr && may_protect && guarded(f, curr)) return curr;
    struct fair_node *n = fair_tree_first_within(&r->tree, &b);
    struct fair_task *best = n ? fair_of_node(n) : NULL;
    if (!best || (curr && fair_before(curr->deadline, best->deadline))) best = curr;
    WB_CHECK(best, "no task of %u is eligible", r->nr);
    return best;
}

static struct fair_task *choose(struct wb_exec *x, struct wb_rq *rq)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    if (f->v->release < FAIR_6_18 && fair_on(f, FAIR_F_NEXT_BUDDY) && r->next && fair_eligible(r, r->next))
        return r->next;
    return pick_eevdf(f, r, true);
}

static void start(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p)
{
    protect(fair_of(x), fair_rq(rq), p);
}

static void tick(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr)
{
    (void)x; /* everything is in charge() */
    (void)rq;
    (void)curr;
}

/* ---- wakeup preemption ---- */

/* 6.12 do_preempt_short. */
static bool shorter_and_due(const struct fair_rq *r, const struct fair_task *p, const struct fair_task *curr)
{
    if (!fair_eligible(r, p)) return false;
    return fair_before(p->deadline, curr->deadline) || !fair_eligible(r, curr);
}

static enum fair_rule why_not(const struct fair_sim *f, const struct fair_rq *r, const struct fair_task *p,
                              const struct fair_task *picked)
{
    if (!fair_eligible(r, p)) return FAIR_R_EEVDF_INELIGIBLE;
    return picked == r->curr && guarded(f, picked) ? FAIR_R_EEVDF_PROTECTED : FAIR_R_EEVDF_LATER;
}

/* Who would run next. pick_next_entity() from the wakeup (policy.wakeup_drops_delayed): a sleeper that is found has
 * paid its debt and is in nobody's way, so it is dequeued for good. NULL: the wakee was one, and nobody is left. */
static const struct fair_task *next_to_run(struct wb_exec *x, struct wb_rq *rq, bool may_protect)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    while (r->nr) {
        struct fair_task *p = pick_eevdf(f, r, may_protect);
        if (!p->delayed || !f->drops_delayed) return p;
        wb_finish_dequeue(x, rq, p->t);
    }
    return NULL;
}

static bool preempts(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t wake_flags, wb_rule *rule)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    struct fair_task *curr = r->curr;
    fair_update_curr(x, rq);
    bool shorter = fair_on(f, FAIR_F_PREEMPT_SHORT) && p->slice < curr->slice, v18 = f->v->release == FAIR_6_18;
    if (f->fork_waits && wake_flags & WB_WF_FORK && !shorter) {
        *rule = FAIR_R_FORK_WAITS;
        return false;
    }
    if (shorter && !v18 && shorter_and_due(r, p, curr)) cancel_protection(f, curr);
    const struct fair_task *picked = next_to_run(x, rq, !(shorter && v18));
    if (picked == p) {
        if (shorter && v18) cancel_protection(f, curr);
        *rule = shorter ? FAIR_R_EEVDF_SHORT : FAIR_R_EEVDF_PICKED;
        return true;
    }
    if (!picked) return false;
    if (shorter && v18 && fair_on(f, FAIR_F_RUN_TO_PARITY))
        curr->vprot = earlier(curr->vprot, curr->vruntime + fair_virtual(f, least_slice(r), curr));
    *rule = (wb_rule)why_not(f, r, p, picked);
    return false;
}

/* ---- sched_yield, nice ---- */

static void yield(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    if (r->nr == 1) return;
    fair_clear_buddies(r, curr);
    fair_update_curr(x, rq);
    bool forfeits = f->v->release == FAIR_6_18; /* what is left of the request too, unless it is ahead already */
    if (forfeits && !fair_eligible(r, curr)) return;
    if (forfeits) curr->vruntime = curr->deadline;
    curr->deadline += fair_virtual(f, curr->slice, curr);
    if (forfeits) fair_min_vruntime(f, r);
}

static void fork_task(struct wb_exec *x, struct wb_rq *rq, struct fair_task *parent, struct fair_task *child)
{
    (void)rq;
    (void)parent;
    child->vlag = 0;
    renew_slice(fair_of(x), child);
}

/* reweight_entity: lag in real time and the part of the request that is left stay the same. */
static void reweigh(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, struct weight w)
{
    int64_t old = (int64_t)p->weight.value, new = (int64_t)w.value;
    uint64_t v = average_vruntime(fair_rq(rq));
    int64_t lag = (int64_t)(v - p->vruntime) * old / new, request = (int64_t)(p->deadline - p->vruntime) * old / new;
    (void)x;
    p->vruntime = v - (uint64_t)lag;
    p->deadline = p->vruntime + (uint64_t)request;
}

const struct fair_order_ops fair_eevdf_order = {
    .charge = charge,
    .place = place,
    .leave = leave,
    .left = left,
    .revive = revive,
    .choose = choose,
    .start = start,
    .tick = tick,
    .preempts = preempts,
    .yield = yield,
    .fork = fork_task,
    .reweigh = reweigh,
};
