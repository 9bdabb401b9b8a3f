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
        .puser = 50,
        .prio_max = 127,
        .pribio = 16,
        .nice_weight = 2,
        .estcpu_levels = 2 * 20 - BSD_PPQ, /* NICE_WEIGHT * PRIO_MAX - PPQ */
        .last_cpu_first = true,
        .asks_user_prio = true,
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
        .counts_runs = true,
        .callout_thread = true,
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

/* Real time before the others before idle: RTP_PRIO_BASE(). */
static int class_of(const struct wb_task *t)
{
    return bsd_is_rt(t) ? 0 : t->klass == WB_CLASS_IDLE ? 2 : 1;
}

/*
 * curpriority_cmp() of 4.x compares with what the running task has in user mode, though it may be in the kernel after a
 * sleep (tsleep: curpriority = p_usrpri), and less than PPQ apart counts as equal. maybe_resched() of 5.2.1 compares
 * the priorities that both have now.
 */
bool bsd4_better(const struct bsd4_sim *o, const struct bsd_task *p, const struct wb_rq *rq)
{
    if (wb_idle_cpu(rq)) return true;
    const struct bsd_task *curr = bsd_task(rq->curr);
    if (!o->v->asks_user_prio) return bsd_prio(p) < bsd_prio(curr);
    int mine = class_of(p->t), its = class_of(curr->t);
    if (mine != its) return mine < its;
    int apart = (int)bsd_prio(p) - (int)curr->user_prio;
    return mine == 0 ? apart < 0 : mine == 1 && apart <= -(int)BSD_PPQ;
}

/* exp(-5 s / 60 s) in fixed point (cexp[0] of kern_synch.c). */
uint32_t bsd4_load_step(uint32_t ldavg, uint32_t runnable)
{
    const uint64_t keep = 1884;
    return (uint32_t)((keep * ldavg + (uint64_t)runnable * BSD_FSCALE * (BSD_FSCALE - keep)) >> BSD_FSHIFT);
}

/* Every five seconds, a second more or less so that it does not keep in step with anybody. */
void bsd4_loadav(struct wb_exec *x, struct wb_rq *rq)
{
    struct bsd4_sim *o = bsd4_of(x);
    uint32_t n = 0;
    for (cpu_id c = 0; c < o->ncpus; c++) n += wb_rq(x->sim, c)->nr_running;
    o->ldavg = bsd4_load_step(o->ldavg, n);
    o->loadav_at = rq->ticks + 4 * (uint64_t)o->hz + wb_draw_below(&o->draws, 2 * (uint64_t)o->hz + 1);
    if (o->v->callout_thread && !wb_idle_cpu(rq)) wb_resched(x, rq);
}

uint32_t bsd4_list(const struct bsd4_sim *o, const struct bsd_task *p)
{
    uint32_t prio = bsd_prio(p);
    if (!o->v->three_sets) return prio / BSD_PPQ;
    if (bsd_is_rt(p->t)) return prio;
    return (p->t->klass == WB_CLASS_IDLE ? 64 : 32) + prio / BSD_PPQ;
}

/*
 * One task's second: asleep it is left alone from its second second on, until updatepri() at its wakeup. 5.2.1 counts a
 * task that ran since the last time as awake (KEF_DIDRUN). Returns whether resetpriority() would have the running task
 * give way, which 4.x asks of sleepers, too.
 */
static bool second(const struct bsd4_sim *o, struct bsd_task *p, const struct wb_rq *rq)
{
    bool awake = p->t->on_rq || (o->v->counts_runs && p->did_run);
    p->did_run = p->t->on_cpu;
    p->slptime = awake ? 0 : p->slptime + 1;
    if (p->slptime > 1) return false;
    bool told = p->t != rq->curr && bsd4_better(o, p, rq);
    p->estcpu = bsd4_decay(o, p->estcpu);
    bsd4_reset_prio(o, p);
    bsd4_requeue(o, p);
    return told;
}

/* Neither idle threads nor the engine's own, which FreeBSD does not have. */
static bool is_process(const struct wb_task *t)
{
    return t->klass != WB_CLASS_SWAPPER && t->klass != WB_CLASS_STOP && t->state != WB_NEW && t->state != WB_DEAD;
}

/*
 * All priorities anew. In 5.2.1 callouts have a thread of their own (softclock): that has preempted whoever ran here,
 * who is now at the tail of its list, and nobody is better than that thread.
 */
void bsd4_schedcpu(struct wb_exec *x, struct wb_rq *rq)
{
    const struct bsd4_sim *o = bsd4_of(x);
    uint32_t n = wb_ntasks(x->sim), looked = 0;
    bool told = o->v->callout_thread;
    for (task_id i = 0; i < n; i++) {
        struct wb_task *t = wb_task_of(x->sim, i);
        if (!is_process(t)) continue;
        told |= second(o, bsd_task(t), rq);
        looked++;
    }
    wb_charge_fn_n(x, o->fn_schedcpu, looked);
    if (told && !wb_idle_cpu(rq)) wb_resched(x, rq);
}
