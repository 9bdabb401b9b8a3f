/*
 * o1_nohz.c - tickless idle: one idle CPU keeps its tick and balances for those that do not (2.6.21+ kernel/sched.c
 * select_nohz_load_balancer, trigger_load_balance, run_rebalance_domains).
 */
#include "o1.h"

static void leave(struct o1_sim *o, cpu_id cpu)
{
    if (!wb_mask_test(&o->nohz_mask, cpu)) return;
    wb_mask_clear(&o->nohz_mask, cpu);
    o->nohz_count--;
    if (o->ilb == cpu) o->ilb = WB_NO_CPU;
}

bool o1_idle_enter(struct wb_exec *x, struct wb_rq *rq)
{
    struct o1_sim *o = o1_of(x);
    if (!o->nohz) return false;
    if (!wb_mask_test(&o->nohz_mask, rq->cpu)) {
        wb_mask_set(&o->nohz_mask, rq->cpu);
        o->nohz_count++;
    }
    o1_rq(rq)->in_nohz_recently = true;
    if (o->nohz_count == o->ncpus) { /* all idle: nothing to balance */
        if (o->ilb == rq->cpu) o->ilb = WB_NO_CPU;
        return true;
    }
    if (o->ilb == WB_NO_CPU) o->ilb = rq->cpu;
    return o->ilb != rq->cpu;
}

/* The tick comes back only when there is something to run; other interrupts leave the CPU in the mask. */
void o1_idle_exit(struct wb_exec *x, struct wb_rq *rq)
{
    struct o1_sim *o = o1_of(x);
    if (!o->nohz || !rq->need_resched) return;
    leave(o, rq->cpu);
    wb_tick_start(x->sim, rq->cpu);
}

bool o1_nohz_tick(struct wb_exec *x, struct wb_rq *rq)
{
    struct o1_sim *o = o1_of(x);
    struct o1_rq *r = o1_rq(rq);
    if (r->idle_at_tick ? !o->idle_balance : !o->busy_balance) return false;
    if (!o->nohz) return true;
    if (r->in_nohz_recently && !r->idle_at_tick) { /* first busy tick: somebody else has to balance for the idle */
        r->in_nohz_recently = false;
        leave(o, rq->cpu);
        cpu_id first = wb_mask_first(&o->nohz_mask);
        if (o->ilb == WB_NO_CPU && first != WB_NO_CPU) wb_resched(x, wb_rq(x->sim, first));
    }
    if (!r->idle_at_tick) return true;
    if (o->ilb == rq->cpu && o->nohz_count == o->ncpus) { /* everybody is idle: stop */
        wb_resched(x, rq);
        return false;
    }
    return o->ilb == rq->cpu || !wb_mask_test(&o->nohz_mask, rq->cpu);
}

cpu_id o1_nohz_next(struct wb_exec *x, cpu_id after)
{
    struct o1_sim *o = o1_of(x);
    const struct wb_rq *rq = wb_rq(x->sim, x->cpu);
    if (!o->nohz || o->ilb != x->cpu || !o1_rq(rq)->idle_at_tick || rq->need_resched) return WB_NO_CPU;
    cpu_id c = wb_mask_next(&o->nohz_mask, after == WB_NO_CPU ? 0 : after + 1);
    if (c == x->cpu) c = wb_mask_next(&o->nohz_mask, c + 1);
    return c;
}
