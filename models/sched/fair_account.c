/*
 * fair_account.c - clocks, run time and least virtual time of a queue.
 *
 * Linux kernel/sched*: update_rq_clock, update_curr, update_min_vruntime. A queue's clock stands while nobody updates
 * it: an idle CPU without ticks keeps the time of its last event, and what others read of it (hot tests, averages) is
 * as old.
 *
 * A queue event that asks for a reschedule has updated the clock, so schedule() saves itself that (3.19
 * rq_clock_skip_update() in check_preempt_curr, 6.7+ wakeup_preempt). 2.6.35 meant to (rq->skip_clock_update), but it
 * and 2.6.36 look at the flag of the woken task instead of the running one's, which is never set here; mended in
 * 2.6.37 by "Sched: fix skip_clock_update optimization". What the running task
 * does from the wakeup until it is switched out - the rest of its system call - is charged to the task that preempts
 * it. On one CPU that is what decides whether two tasks who wake each other go on preempting each other.
 *
 * Loads have a clock of their own (update_rq_clock_pelt, 5.1+): on a CPU of half the capacity it runs at half the
 * speed while something runs, so that a task's utilisation says how much of a full-size CPU it needs. An idle CPU's
 * has caught up.
 */
#include "fair.h"

void fair_update_clock(struct wb_exec *x, struct wb_rq *rq)
{
    struct fair_rq *r = fair_rq(rq);
    uint64_t now = fair_ns(x), passed = now - r->clock;
    fair_rows_touch(&fair_of(x)->rows, rq->cpu);
    if (r->capacity < PELT_SCALE && (int64_t)passed > 0)
        r->pelt_lag = wb_idle_cpu(rq) ? 0 : r->pelt_lag + passed - (passed * r->capacity >> 10);
    r->clock = now;
}

void fair_schedule_clock(struct wb_exec *x, struct wb_rq *rq)
{
    fair_rows_touch(&fair_of(x)->rows, rq->cpu);
    if (!fair_rq(rq)->clock_kept) fair_update_clock(x, rq);
}

void fair_update_curr(struct wb_exec *x, struct wb_rq *rq)
{
    struct fair_rq *r = fair_rq(rq);
    struct fair_task *curr = r->curr;
    if (!curr) return;
    uint64_t ran = r->clock - curr->exec_start;
    if ((int64_t)ran <= 0) return;
    curr->exec_start = r->clock;
    curr->sum_exec += ran;
    fair_of(x)->ops->charge(x, rq, curr, ran);
}

/* It never goes back. EEVDF keeps its sum relative to it. */
void fair_min_vruntime(const struct fair_sim *f, struct fair_rq *r)
{
    const struct fair_task *curr = r->curr;
    uint64_t v = r->min_vruntime;
    if (curr && f->v->release >= FAIR_5_4 && !curr->on_rq) curr = NULL;
    if (curr) v = curr->vruntime;
    if (r->tree.root) {
        uint64_t least = r->tree.root->aux_min;
        if (!curr || fair_before(least, v)) v = least;
    }
    int64_t delta = (int64_t)(v - r->min_vruntime);
    if (delta <= 0) return;
    r->sum_lag -= r->sum_weight * delta;
    r->min_vruntime = v;
}

void fair_idle_over(const struct fair_sim *f, struct fair_rq *r)
{
    if (!r->idle_stamp) return;
    uint64_t idle = r->clock - r->idle_stamp;
    bool modern = f->v->release >= FAIR_5_4; /* cap after averaging, at twice the measured cost (3.13+) */
    uint64_t max = 2 * (modern ? r->max_idle_cost : f->migration_cost);
    if (!modern && idle > max)
        r->avg_idle = max;
    else
        r->avg_idle = (uint64_t)((int64_t)r->avg_idle + ((int64_t)(idle - r->avg_idle) >> 3));
    r->avg_idle = WB_MIN(r->avg_idle, max);
    r->wake_stamp = r->clock;
    r->wake_avg_idle = r->avg_idle / 2;
    r->idle_stamp = 0;
}
