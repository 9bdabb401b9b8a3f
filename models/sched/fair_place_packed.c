/*
 * fair_place_packed.c - a packing rule laid over the search for an idle CPU.
 *
 * Some guests run a 6.18 kernel with a vendor's packing option (boot line sched_vcpu_pack=, symbol vcpu_pack_room; its
 * source is not public). Measured on such a 2-CPU guest: a task that slept on its waker's CPU stays there although
 * another CPU is idle, as long as that CPU is less than about 66 % busy; at 65 % duty of the waker 99 % of wakeups
 * stay, at 67.5 % 0.2 %. Tasks whose previous CPU is another one are placed as mainline does. In recordings of that
 * guest a task stays only where nothing but the waker is runnable; with more it moves to the idle CPU. What "busy"
 * means to the rule is not known: policy.pack names the candidates. Tasks that use little of a CPU (receivers of
 * hackbench, rcu_preempt, kworkers) are put on such a waker's CPU even though they slept on another one, which is idle;
 * pairs, each of whom uses a quarter of a CPU, never are. policy.pack_small is where "little" ends.
 */
#include "fair_placing.h"

#include <string.h>

#include "wakebal/config.h"

static const char *const signals[] = {
    [FAIR_PACK_NONE] = "none",        [FAIR_PACK_CPU_UTIL] = "cpu_util", [FAIR_PACK_CPU_EST] = "cpu_util_est",
    [FAIR_PACK_WAKER] = "waker_util", [FAIR_PACK_PAIR] = "pair_util",    [FAIR_PACK_RUNNABLE] = "cpu_runnable",
    [FAIR_PACK_ALWAYS] = "always",
};

static uint64_t signal_of(const struct placing *k)
{
    const struct fair_sim *f = k->f;
    const struct fair_rq *r = fair_rq(k->here);
    const struct fair_task *waker = fair_task(k->x->task);
    switch (f->pl.pack.signal) {
    case FAIR_PACK_CPU_UTIL: return r->avg.util_avg;
    case FAIR_PACK_CPU_EST: return fair_cpu_util(f, r);
    case FAIR_PACK_WAKER: return waker->avg.util_avg;
    case FAIR_PACK_PAIR: return waker->avg.util_avg + fair_task_util_est(f, k->p);
    case FAIR_PACK_RUNNABLE: return r->avg.runnable_avg;
    default: return 0;
    }
}

/* From another CPU that is idle. */
static bool small(const struct placing *k)
{
    return fair_task_util_est(k->f, k->p) < k->f->pl.pack.small && fair_idle_cpu(k->f, k->prev);
}

bool place_packed(struct placing *k)
{
    const struct fair_pack *p = &k->f->pl.pack;
    if (p->signal == FAIR_PACK_NONE || !(k->here == k->prev || small(k))) return false;
    if (!wb_mask_test(k->p->t->allowed, k->here->cpu) || fair_idle_cpu(k->f, k->here)) return false;
    if (k->here->nr_running - fair_rq(k->here)->nr_delayed > 1) return false;
    if (signal_of(k) >= p->limit) return false;
    k->target = k->here->cpu;
    return true;
}

void fair_pack_init(struct fair_sim *f, const struct wb_config *cfg)
{
    const char *name = wb_cfg_has(cfg, "policy.pack") ? wb_cfg_str(cfg, "policy.pack") : signals[FAIR_PACK_NONE];
    f->pl.pack = (struct fair_pack){.limit = PELT_SCALE * 2 / 3};
    for (unsigned i = 0; i < WB_ARRAY_SIZE(signals); i++)
        if (!strcmp(name, signals[i])) f->pl.pack.signal = (enum fair_pack_signal)i;
    if (wb_cfg_has(cfg, "policy.pack_limit"))
        f->pl.pack.limit = (uint64_t)wb_cfg_int(cfg, "policy.pack_limit") * PELT_SCALE / 1000000;
    f->pl.pack.small = fair_given(cfg, "policy.pack_small", 0) * PELT_SCALE / 1000000;
}
