/*
 * bsd4_prio.c - priorities of the 4BSD scheduler: estcpu, its decay, and what follows from it.
 *
 * FreeBSD 4.x kern/kern_synch.c, 5.2.1 kern/sched_4bsd.c: schedclock (sched_clock), resetpriority, updatepri,
 * schedcpu; kern_synch.c loadav.
 */
#include <string.h>

#include "bsd.h"

/* 4.x: sys/param.h, sys/proc.h, sys/resource.h. 5.2.1: sys/priority.h, sched_4bsd.c; there INVERSE_ESTCPU_WEIGHT grows
 * with the CPUs, so the machine's priorities spread as slowly as one CPU's. */
static const struct bsd4_version versions[] = {
    {
        .name = "4.7",
        .puser = 48,
        .prio_max = 127,
        .pribio = 16,
        .nice_weight = 2,
        .estcpu_levels = 2 * 20 - BSD_PPQ, /* NICE_WEIGHT * PRIO_MAX - PPQ */
        .last_cpu_first = true,
        .compares_lists = true,
        .three_sets = true,
    },
    {
        .name = "5.2.1",
        .puser = 160,
        .prio_max = 223,
        .pribio = 76,
        .nice_weight = 1,
        .nice_base = 20,
        .estcpu_levels = 40 - BSD_PPQ, /* NICE_WEIGHT * (PRIO_MAX - PRIO_MIN) - RQ_PPQ */
        .weight_per_cpu = true,
    },
};

const struct bsd4_version *bsd4_version_find(const char *name)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(versions); i++)
        if (!strcmp(versions[i].name, name)) return &versions[i];
    return NULL;
}

/* decay_cpu(loadfactor(ldavg), estcpu): 2 L / (2 L + 1). */
uint32_t bsd4_decay(const struct bsd4_sim *o, uint32_t estcpu)
{
    uint64_t factor = 2 * (uint64_t)o->ldavg;
    return o->decay ? (uint32_t)(factor * estcpu / (factor + BSD_FSCALE)) : estcpu;
}

uint32_t bsd4_limit(const struct bsd4_sim *o, uint32_t estcpu)
{
    return WB_MIN(estcpu, o->estcpu_max);
}

/* Real time: above everybody in user mode. 5.2.1 has a class of its own, 4.x a set of lists of its own. */
static uint8_t rt_prio(const struct bsd4_sim *o, const struct wb_task *t)
{
    if (t->klass == WB_CLASS_STOP) return 0;
    return (uint8_t)(o->v->three_sets ? 31 - WB_MIN(t->rt_prio, 99) * 31 / 99 : 159 - WB_MIN(t->rt_prio, 99) * 31 / 99);
}

void bsd4_reset_prio(const struct bsd4_sim *o, struct bsd_task *p)
{
    const struct bsd4_version *v = o->v;
    int32_t prio = (int32_t)(v->puser + p->estcpu / o->weight) + v->nice_weight * (p->t->nice + v->nice_base);
    prio = WB_MIN(WB_MAX(prio, v->three_sets ? 0 : v->puser), v->prio_max);
    if (p->t->klass == WB_CLASS_IDLE && !v->three_sets) prio = 224 + 31; /* PRI_MAX_IDLE */
    p->user_prio = bsd_is_rt(p->t) ? rt_prio(o, p->t) : (uint8_t)prio;
}

/* The seconds asleep beyond the first are made up for at once. */
void bsd4_update_prio(const struct bsd4_sim *o, struct bsd_task *p)
{
    if (p->slptime > 10 * (uint64_t)o->ldavg /* 5 * loadfac() */) {
        p->estcpu = 0;
    } else {
        p->slptime--;
        while (p->estcpu && --p->slptime) p->estcpu = bsd4_decay(o, p->estcpu);
    }
    bsd4_reset_prio(o, p);
}

void bsd4_clock(const struct bsd4_sim *o, struct bsd_task *p)
{
    p->estcpu = bsd4_limit(o, p->estcpu + 1);
    if (p->estcpu % o->weight == 0) bsd4_reset_prio(o, p);
}

/* exp(-5 s / 60 s) in fixed point (cexp[0] of kern_synch.c). */
uint32_t bsd4_load_step(uint32_t ldavg, uint32_t runnable)
{
    const uint64_t keep = 1884;
    return (uint32_t)((keep * ldavg + (uint64_t)runnable * BSD_FSCALE * (BSD_FSCALE - keep)) >> BSD_FSHIFT);
}

void bsd4_loadav(struct wb_exec *x)
{
    struct bsd4_sim *o = bsd4_of(x);
    uint32_t n = 0;
    for (cpu_id c = 0; c < o->ncpus; c++) n += wb_rq(x->sim, c)->nr_running;
    o->ldavg = bsd4_load_step(o->ldavg, n);
}

uint32_t bsd4_list(const struct bsd4_sim *o, const struct bsd_task *p)
{
    uint32_t prio = bsd_prio(p);
    if (!o->v->three_sets) return prio / BSD_PPQ;
    if (bsd_is_rt(p->t)) return prio;
    return (p->t->klass == WB_CLASS_IDLE ? 64 : 32) + prio / BSD_PPQ;
}

/* One task's second: asleep it is left alone from its second second on, until updatepri() at its wakeup. */
static void second(const struct bsd4_sim *o, struct bsd_task *p)
{
    p->slptime = p->t->on_rq ? 0 : p->slptime + 1;
    if (p->slptime > 1) return;
    p->estcpu = bsd4_decay(o, p->estcpu);
    bsd4_reset_prio(o, p);
    bsd4_requeue(o, p);
}

/* All priorities anew. Who is now better than the task of this CPU, which runs the callout, makes it reschedule. */
void bsd4_schedcpu(struct wb_exec *x, struct wb_rq *rq)
{
    const struct bsd4_sim *o = bsd4_of(x);
    uint32_t n = wb_ntasks(x->sim), looked = 0;
    for (task_id i = 0; i < n; i++) {
        struct wb_task *t = wb_task_of(x->sim, i);
        if (t->klass == WB_CLASS_SWAPPER || t->state == WB_NEW || t->state == WB_DEAD) continue;
        second(o, bsd_task(t));
        looked++;
    }
    wb_charge_fn_n(x, o->fn_schedcpu, looked);
    if (wb_idle_cpu(rq)) return;
    if (bsd_runq_best(&o->queue, 0) < bsd4_list(o, bsd_task(rq->curr))) wb_resched(x, rq);
}
