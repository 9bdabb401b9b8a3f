/* nohz_owner.c - see nohz_owner.h. */
#include "nohz_owner.h"

#include <string.h>

void nohz_owner_init(struct wb_sim *s, struct nohz_owner *o)
{
    uint32_t n = wb_ncpus(s);
    *o = (struct nohz_owner){.ilb = WB_NO_CPU, .mask = {.ncpus = n, .nwords = WB_CPUMASK_WORDS(n)}};
    o->mask.w = wb_sim_alloc(s, o->mask.nwords * sizeof(uint64_t));
    memset(o->mask.w, 0, o->mask.nwords * sizeof(uint64_t));
}

/* Who is in the mask without owning it stopped its tick before, has only been interrupted since, and is not asked
 * again (tick_nohz_stop_sched_tick: ts->tick_stopped): as owner it would have no tick to balance at. */
bool nohz_owner_enter(struct nohz_owner *o, cpu_id cpu, uint32_t ncpus)
{
    if (wb_mask_test(&o->mask, cpu) && o->ilb != cpu) return true;
    if (!wb_mask_test(&o->mask, cpu)) {
        wb_mask_set(&o->mask, cpu);
        o->count++;
    }
    if (o->count == ncpus) { /* all idle: nothing to balance */
        if (o->ilb == cpu) o->ilb = WB_NO_CPU;
        return true;
    }
    if (o->ilb == WB_NO_CPU) o->ilb = cpu;
    return o->ilb != cpu;
}

void nohz_owner_leave(struct nohz_owner *o, cpu_id cpu)
{
    if (!wb_mask_test(&o->mask, cpu)) return;
    wb_mask_clear(&o->mask, cpu);
    o->count--;
    if (o->ilb == cpu) o->ilb = WB_NO_CPU;
}

void nohz_owner_restart(struct nohz_owner *o, cpu_id cpu)
{
    if (o->ilb != cpu) nohz_owner_leave(o, cpu);
}

void nohz_owner_nominate(struct wb_exec *x, struct nohz_owner *o)
{
    cpu_id first = wb_mask_first(&o->mask);
    if (o->ilb == WB_NO_CPU && first != WB_NO_CPU) wb_resched(x, wb_rq(x->sim, first));
}

bool nohz_owner_idle_tick(struct wb_exec *x, struct nohz_owner *o, struct wb_rq *rq)
{
    if (o->ilb == rq->cpu && o->count == wb_ncpus(x->sim)) {
        wb_resched(x, rq);
        return false;
    }
    return o->ilb == rq->cpu || !wb_mask_test(&o->mask, rq->cpu);
}

cpu_id nohz_owner_next(struct wb_exec *x, const struct nohz_owner *o, cpu_id after)
{
    if (wb_rq(x->sim, x->cpu)->need_resched) return WB_NO_CPU;
    cpu_id c = wb_mask_next(&o->mask, after == WB_NO_CPU ? 0 : after + 1);
    return c == x->cpu ? wb_mask_next(&o->mask, c + 1) : c;
}
