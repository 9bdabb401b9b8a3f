/*
 * o1_smt.c - SMT nice: threads of one core that run tasks of unequal importance (2.6.10, 2.6.11; removed in 2.6.21),
 * and the test for a completely idle core.
 *
 * Simplified: the siblings' runqueue locks, which dependent_sleeper() takes all at once, are not taken; looking at
 * them is charged.
 */
#include "o1.h"

static const struct wb_sd *smt_domain(const struct wb_rq *rq)
{
    WB_FOR_EACH_SD(sd, rq)
    if (sd->flags & WB_SD_SHARE_CPUPOWER) return sd;
    return NULL;
}

static struct o1_task *best_queued(const struct o1_rq *r)
{
    const struct o1_array *a = r->active->nr ? r->active : r->expired;
    return a->nr ? o1_array_head(a, o1_array_best(a, 0)) : NULL;
}

/* Does `a`, with what is left of its slice, outweigh a whole slice of `b`? Kernel threads never do. */
static bool outranks(const struct o1_sim *o, const struct wb_sd *sd, const struct o1_task *a, const struct o1_task *b)
{
    int64_t left = (int64_t)a->time_slice * (100 - (int64_t)sd->level->per_cpu_gain) / 100;
    if (!a->t->mm || !b->t->mm || o1_rt(b)) return false;
    return left > (int64_t)o1_timeslice(o, b) || o1_rt(a);
}

static bool forced_idle(const struct wb_rq *rq)
{
    return wb_idle_cpu(rq) && rq->nr_running;
}

bool o1_dependent_sleeper(struct wb_exec *x, struct wb_rq *rq)
{
    const struct o1_sim *o = o1_of(x);
    const struct wb_sd *sd = smt_domain(rq);
    const struct o1_task *p = best_queued(o1_rq(rq));
    bool sleep = false;
    if (!sd || sd->span_weight < 2 || !p) return false;
    wb_charge_fn(x, o->fn_dependent);
    WB_FOR_EACH_CPU (c, sd->span) {
        if (c == rq->cpu) continue;
        struct wb_rq *other = wb_rq(x->sim, c);
        const struct o1_task *q = wb_idle_cpu(other) ? NULL : o1_task(other->curr);
        wb_scan_rq(x, c);
        if (q && outranks(o, sd, q, p)) sleep = true;
        if ((q && outranks(o, sd, p, q)) || forced_idle(other)) wb_resched(x, other);
    }
    return sleep;
}

void o1_wake_sleeping_dependent(struct wb_exec *x, struct wb_rq *rq)
{
    const struct wb_sd *sd = smt_domain(rq);
    if (!sd || sd->span_weight < 2) return;
    WB_FOR_EACH_CPU (c, sd->span) {
        struct wb_rq *other = wb_rq(x->sim, c);
        if (c != rq->cpu && forced_idle(other)) wb_resched(x, other);
    }
}

bool o1_core_idle(struct wb_exec *x, cpu_id cpu)
{
    uint32_t n = 1;
    const cpu_id one = cpu;
    const cpu_id *member = o1_of(x)->sched_smt ? wb_topo_members(wb_topo(x->sim), WB_LVL_CORE, cpu, &n) : &one;
    for (uint32_t i = 0; i < n; i++)
        if (!wb_idle_cpu(wb_rq(x->sim, member[i]))) return false;
    return true;
}
