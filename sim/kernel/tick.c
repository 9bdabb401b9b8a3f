/*
 * tick.c - the timer tick.
 *
 * A tick is a hardirq on its CPU: it takes time, updates the policy's accounts and may balance (2.6.10, 2.6.11:
 * inside the interrupt) or raise the balance softirq (2.6.22 and later).
 */
#include "sim.h"

struct tick {
    struct wb_frame h;
    struct wb_rq *rq;
};

static enum wb_ret tick_step(struct wb_exec *x, void *frame)
{
    struct tick *f = frame;
    struct wb_sim *s = x->sim;
    WB_BEGIN(f);
    f->rq = &cpu_of(x)->rq;
    TRACE(s, .type = WB_TR_TICK, .cpu = (uint16_t)x->cpu, .task = f->rq->curr->id);
    wb_charge_fn(x, WB_FN_TIMER_TICK);
    WB_SPIN_LOCK(x, f, &f->rq->lock);
    wb_line_use(x, cpu_of(x)->rq_line, WB_LINE_WRITE, WB_FN_TIMER_TICK);
    f->rq->last_tick = s->now;
    f->rq->ticks++;
    x->sim->count.ticks++;
    s->ops->tick(x, f->rq);
    WB_SPIN_UNLOCK(x, f, &f->rq->lock);
    /* A policy that balances in a softirq has raised it by now, or says no here. */
    if (s->ops->balance_periodic && !f->rq->balance_softirq)
        WB_CALL(x, f, balance_run(x, wb_idle_cpu(f->rq) ? WB_BAL_PERIODIC_IDLE : WB_BAL_PERIODIC_BUSY, x->cpu));
    KICK_ALL(x, f);
    WB_FLUSH(x, f);
    WB_END();
}

void tick_handler(struct wb_exec *x)
{
    (void)WB_PUSH(x, tick_step, struct tick);
}

void wb_raise_balance(struct wb_exec *x)
{
    cpu_of(x)->rq.balance_softirq = true;
    wb_raise_softirq(x, WB_SOFTIRQ_SCHED);
}

/* ---- the balance softirq ---- */

static enum wb_ret sched_softirq_step(struct wb_exec *x, void *frame)
{
    struct tick *f = frame;
    struct wb_sim *s = x->sim;
    WB_BEGIN(f);
    f->rq = &cpu_of(x)->rq;
    f->rq->balance_softirq = false;
    /* On behalf of tickless CPUs first: they have waited longer (3.x run_rebalance_domains). Older orders are the
     * policy's to make: one of the two may do all. */
    if (s->ops->balance_nohz) WB_CALL(x, f, balance_run(x, WB_BAL_NOHZ, x->cpu));
    if (s->ops->balance_periodic)
        WB_CALL(x, f, balance_run(x, wb_idle_cpu(f->rq) ? WB_BAL_PERIODIC_IDLE : WB_BAL_PERIODIC_BUSY, x->cpu));
    WB_FLUSH(x, f);
    WB_END();
}

void sched_softirq(struct wb_exec *x)
{
    (void)WB_PUSH(x, sched_softirq_step, struct tick);
}

/* ---- ticks as events ---- */

void tick_event(struct wb_sim *s, cpu_id cpu)
{
    struct wb_cpu *c = &s->cpu[cpu];
    tick_catch_up(s, c);
    tick_measure(s, c);
    irq_raise(s, c, IRQ_TICK);
}

void wb_tick_stop(struct wb_sim *s, cpu_id cpu)
{
    tickring_stop(&s->ticks, cpu);
    horizon_forget(s);
}

void wb_tick_start(struct wb_sim *s, cpu_id cpu)
{
    if (!tickring_ticks(&s->ticks, cpu)) tickring_start(&s->ticks, cpu, s->now + 1);
    horizon_forget(s);
}

uint64_t jiffies_at(const struct wb_sim *s, sim_time t)
{
    return s->jiffies_start + (t + s->tick_ps - s->jiffies_phase) / s->tick_ps;
}

uint64_t wb_jiffies(const struct wb_sim *s)
{
    return jiffies_at(s, s->now);
}
