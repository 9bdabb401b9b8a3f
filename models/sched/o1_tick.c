/*
 * o1_tick.c - scheduler_tick() and the ticks that need not be run.
 *
 * 2.6.10, 2.6.11: slice, load, and then rebalance_tick() in the same interrupt (the engine's balancing driver calls
 * begin() right after this hook). 2.6.22: slice, load, and SCHED_SOFTIRQ when a balance is due.
 */
#include "o1.h"

#define NO_LIMIT (1ull << 32)

/* EXPIRED_STARVING: somebody has waited too long in the expired array, or is more important than who runs. */
static bool starving(const struct wb_exec *x, const struct wb_rq *rq)
{
    const struct o1_sim *o = o1_of(x);
    const struct o1_rq *r = o1_rq(rq);
    if (o->starvation && r->expired_set && wb_jiffies(x->sim) - r->expired_since >= o->starvation * rq->nr_running + 1)
        return true;
    return o1_task(rq->curr)->static_prio > r->best_expired_prio;
}

void o1_slice_end(struct wb_exec *x, struct wb_rq *rq, struct o1_task *p)
{
    const struct o1_sim *o = o1_of(x);
    struct o1_rq *r = o1_rq(rq);
    o1_array_del(p->array, p);
    wb_resched(x, rq);
    p->prio = o1_effective_prio(o, p);
    p->time_slice = (int32_t)o1_timeslice(o, p);
    p->first_slice = false;
    if (!r->expired_set) {
        r->expired_set = true;
        r->expired_since = wb_jiffies(x->sim);
    }
    if (o1_interactive(o, p) && !starving(x, rq)) {
        o1_array_add(r->active, p);
        return;
    }
    o1_array_add(r->expired, p);
    r->best_expired_prio = (uint8_t)WB_MIN(r->best_expired_prio, p->static_prio);
}

/* Interactive tasks of one priority take turns before their slices end. */
static bool round_robin_due(const struct o1_sim *o, const struct o1_task *p)
{
    if (!o1_interactive(o, p)) return false;
    uint32_t g = o1_granularity(o, p), left = (uint32_t)p->time_slice;
    return (o1_timeslice(o, p) - left) % g == 0 && left >= g;
}

static void take_turns(struct wb_exec *x, struct wb_rq *rq, struct o1_task *p)
{
    const struct o1_sim *o = o1_of(x);
    struct o1_array *a = p->array;
    o1_array_del(a, p);
    if (o->v->granularity_prio) p->prio = o1_effective_prio(o, p);
    o1_array_add(a, p);
    wb_resched(x, rq);
}

static void running_tick(struct wb_exec *x, struct wb_rq *rq)
{
    struct o1_task *p = o1_task(rq->curr);
    if (p->array != o1_rq(rq)->active) { /* expired, or about to sleep */
        wb_resched(x, rq);
        return;
    }
    if (o1_rt(p)) return; /* SCHED_FIFO has no slice */
    if (--p->time_slice <= 0)
        o1_slice_end(x, rq, p);
    else if (round_robin_due(o1_of(x), p))
        take_turns(x, rq, p);
}

void o1_tick(struct wb_exec *x, struct wb_rq *rq)
{
    const struct o1_sim *o = o1_of(x);
    struct o1_rq *r = o1_rq(rq);
    r->clock = o1_ns(x);
    r->tick_jiffies = wb_jiffies(x->sim);
    r->idle_at_tick = wb_idle_cpu(rq);
    r->forced_idle = r->idle_at_tick && o->smt_nice && rq->nr_running;
    if (r->forced_idle) /* wake_priority_sleeper */
        wb_resched(x, rq);
    else if (!r->idle_at_tick)
        running_tick(x, rq);
    o1_load_ticks(o, rq, 1);
    if (o->v->weighted && o1_nohz_tick(x, rq) && r->tick_jiffies >= r->next_balance) wb_raise_balance(x);
}

/* ---- ticks in closed form ---- */

/* The k-th next tick sees tick_jiffies + k. Before the first one at which a domain is due, balancing does nothing. */
static uint64_t until_balance(const struct o1_sim *o, const struct wb_rq *rq, bool idle)
{
    const struct o1_rq *r = o1_rq(rq);
    uint64_t n = NO_LIMIT;
    if (o->v->weighted) return r->next_balance > r->tick_jiffies ? r->next_balance - r->tick_jiffies - 1 : 0;
    if (idle ? !o->idle_balance : !o->busy_balance) return n;
    uint64_t j = r->tick_jiffies + o1_phase(o, rq->cpu);
    WB_FOR_EACH_SD(sd, rq)
    {
        if (!(o1_flags(o, sd) & WB_SD_LOAD_BALANCE)) continue;
        uint64_t due = sd->last_balance + o1_interval(o, sd, idle);
        n = WB_MIN(n, due > j ? due - j - 1 : 0);
    }
    return n;
}

static uint64_t until_slice(const struct o1_sim *o, const struct wb_rq *rq)
{
    const struct o1_task *p = o1_task(rq->curr);
    if (p->array != o1_rq(rq)->active) return 0;
    if (o1_rt(p)) return NO_LIMIT;
    int64_t left = p->time_slice, n = left - 1;
    if (n > 0 && o1_interactive(o, p)) {
        int64_t g = o1_granularity(o, p), used = (int64_t)o1_timeslice(o, p) - left;
        if (used < 0) return 0;
        int64_t turn = g - used % g;
        if (left - turn >= g) n = WB_MIN(n, turn - 1);
    }
    return (uint64_t)WB_MAX(n, 0);
}

uint64_t o1_tick_idle_for(struct wb_sim *s, struct wb_rq *rq)
{
    const struct o1_sim *o = wb_policy_data(s);
    const struct o1_rq *r = o1_rq(rq);
    bool idle = wb_idle_cpu(rq);
    if (rq->need_resched || r->in_nohz_recently || (o->nohz && o->idlers.ilb == rq->cpu)) return 0;
    if (idle && rq->nr_running && o->smt_nice) return 0;
    uint64_t n = until_balance(o, rq, idle);
    return idle || !n ? n : WB_MIN(n, until_slice(o, rq));
}

void o1_tick_closed(struct wb_sim *s, struct wb_rq *rq, uint64_t n, sim_time last)
{
    const struct o1_sim *o = wb_policy_data(s);
    struct o1_rq *r = o1_rq(rq);
    if (!n) return;
    r->clock = WB_MAX(r->clock, last / WB_NS);
    r->tick_jiffies += n;
    r->idle_at_tick = wb_idle_cpu(rq);
    r->forced_idle = false;
    if (!r->idle_at_tick && !o1_rt(o1_task(rq->curr))) o1_task(rq->curr)->time_slice -= (int32_t)n;
    o1_load_ticks(o, rq, n);
}
