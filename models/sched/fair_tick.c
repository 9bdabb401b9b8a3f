/*
 * fair_tick.c - the timer tick, ticks that need not be run, and the tick of idle CPUs.
 *
 * Linux scheduler_tick, task_tick_fair; kernel/time/tick-sched.c. Tickless kernels (2.6.24+ on x86_64) stop an idle
 * CPU's tick. Up to 2.6.36 they do so at once; since 4.17 only if the idle governor expects the CPU to stay idle past
 * the next tick. menu and teo are not modelled: they are taken to expect that once a tick has come while the CPU was
 * idle, which is where they end up (assumed). Without a driver of idle states (cpuidle_idle_call()), and with the
 * haltpoll governor of guests as long as it does not poll (haltpoll_select(): poll_limit_ns 0), it is at once there
 * too: policy.nohz_at_once.
 */
#include "fair.h"

void fair_tick(struct wb_exec *x, struct wb_rq *rq)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    fair_update_clock(x, rq);
    r->tick_jiffies = wb_jiffies(x->sim);
    r->idle_at_tick = wb_idle_cpu(rq);
    if (rq->need_resched_lazy) wb_resched(x, rq); /* lazily long enough */
    fair_age_cpu_load(f, rq, 1);
    if (r->idle_at_tick) r->ticked_idle = true;
    if (r->curr) {
        wb_charge_fn(x, f->fn_update_curr);
        fair_update_curr(x, rq);
        fair_update_load(f, r, r->curr);
        f->ops->tick(x, rq, r->curr);
        fair_note_misfit(x, rq, r->curr);
    }
    fair_balance_tick(x, rq);
}

uint64_t fair_tick_idle_for(struct wb_sim *s, struct wb_rq *rq)
{
    if (!wb_idle_cpu(rq) || rq->nr_running || rq->need_resched || rq->wake_list) return 0;
    return fair_balance_quiet(s, rq);
}

void fair_tick_closed(struct wb_sim *s, struct wb_rq *rq, uint64_t n, sim_time last)
{
    const struct fair_sim *f = wb_policy_data(s);
    struct fair_rq *r = fair_rq(rq);
    if (!n) return;
    r->clock = WB_MAX(r->clock, last / WB_NS);
    r->pelt_lag = 0; /* the CPU was idle */
    r->tick_jiffies += n;
    r->idle_at_tick = r->ticked_idle = true;
    fair_age_cpu_load(f, rq, n);
}

bool fair_idle_enter(struct wb_exec *x, struct wb_rq *rq)
{
    const struct fair_sim *f = fair_of(x);
    if (!f->nohz || rq->nr_running || rq->need_resched) return false;
    if (!f->nohz_at_once && !fair_rq(rq)->ticked_idle) return false;
    return fair_balance_idle_enter(x, rq);
}

/* Up to 2.6.36 a CPU leaves the mask as its tick comes back (tick_nohz_restart_sched_tick), also when there turns out
 * to be nothing to run; interrupts that ask for nothing leave it there. */
void fair_idle_exit(struct wb_exec *x, struct wb_rq *rq)
{
    if (rq->need_resched) fair_balance_idle_exit(x, rq);
}

void fair_switched(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev, struct wb_task *next)
{
    if (next == rq->idle) {
        fair_pelt_idle(fair_of(x), fair_rq(rq));
        fair_balance_picked(x, rq, NULL);
    }
    if (prev != rq->idle) return;
    fair_rq(rq)->ticked_idle = false;
    fair_balance_idle_exit(x, rq);
}
