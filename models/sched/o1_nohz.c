/*
 * o1_nohz.c - tickless idle of 2.6.22: one idle CPU keeps its tick and balances for those that do not (nohz_owner.h).
 */
#include "o1.h"

bool o1_idle_enter(struct wb_exec *x, struct wb_rq *rq)
{
    struct o1_sim *o = o1_of(x);
    if (!o->nohz) return false;
    o1_rq(rq)->in_nohz_recently = true;
    return nohz_owner_enter(&o->idlers, rq->cpu, o->ncpus);
}

/* The tick comes back only when there is something to run; other interrupts leave the CPU in the mask. */
void o1_idle_exit(struct wb_exec *x, struct wb_rq *rq)
{
    struct o1_sim *o = o1_of(x);
    if (!o->nohz || !rq->need_resched) return;
    nohz_owner_restart(&o->idlers, rq->cpu);
    wb_tick_start(x->sim, rq->cpu);
}

bool o1_nohz_tick(struct wb_exec *x, struct wb_rq *rq)
{
    struct o1_sim *o = o1_of(x);
    struct o1_rq *r = o1_rq(rq);
    if (r->idle_at_tick ? !o->idle_balance : !o->busy_balance) return false;
    if (!o->nohz) return true;
    if (r->idle_at_tick) return nohz_owner_idle_tick(x, &o->idlers, rq);
    if (!r->in_nohz_recently) return true;
    r->in_nohz_recently = false;
    nohz_owner_leave(&o->idlers, rq->cpu);
    nohz_owner_nominate(x, &o->idlers);
    return true;
}

cpu_id o1_nohz_next(struct wb_exec *x, cpu_id after)
{
    const struct o1_sim *o = o1_of(x);
    if (!o->nohz || o->idlers.ilb != x->cpu || !o1_rq(wb_rq(x->sim, x->cpu))->idle_at_tick) return WB_NO_CPU;
    return nohz_owner_next(x, &o->idlers, after);
}
