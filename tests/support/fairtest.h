/*
 * fairtest.h - states of the fair classes made by hand: a fake kernel of a release, tasks that run and sleep
 * for given times.
 */
#ifndef WB_TESTS_FAIRTEST_H
#define WB_TESTS_FAIRTEST_H

#include "fair.h"
#include "fakekernel.h"

/* One package, one cache, n CPUs. */
#define FAIR_SMP(n) "topology = \"[numa] pack:1 l2:1 core:" #n " pu:1\";"

/* EEVDF's key rows are in the table of the CFS policy. */
static inline const struct wb_policy_ops *fair_test_ops(enum fair_release v)
{
    static struct wb_policy_ops eevdf;
    if (fair_version[v].order != FAIR_EEVDF) return &fair_cfs_policy;
    eevdf = fair_eevdf_policy;
    eevdf.keys = fair_keys;
    eevdf.nkeys = FAIR_KEYS;
    return &eevdf;
}

static inline struct wb_sim *fair_test_new(enum fair_release v, const char *machine, const char *const *sets)
{
    char kernel[32];
    (void)snprintf(kernel, sizeof kernel, "linux-%s", fair_version[v].name);
    return fake_new(fair_test_ops(v), kernel, machine, sets);
}

static inline struct fair_sim *fair_test_sim(struct wb_sim *s)
{
    return s->policy;
}
static inline struct fair_rq *fair_test_rq(struct wb_sim *s, cpu_id cpu)
{
    return fair_rq(&s->rq[cpu]);
}

/* A task that is forked on `cpu` and queued there; its first pick is up to schedule(). */
static inline struct wb_task *fair_test_fork(struct wb_sim *s, cpu_id cpu, int nice, enum wb_sched_class klass)
{
    struct wb_task *t = fake_task_of_class(s, cpu, nice, klass);
    s->ops->fork(fake_exec(s, cpu), NULL, t);
    fake_enqueue(s, t, WB_ENQ_NEW);
    return t;
}

/* Let time pass; the running task is charged when somebody looks. */
static inline void fair_test_pass(struct wb_sim *s, sim_time t)
{
    s->now += t;
}

/* Wake a sleeper in place and test for preemption. */
static inline bool fair_test_wake(struct wb_sim *s, struct wb_task *t, uint32_t flags, wb_rule *rule)
{
    struct wb_rq *rq = &s->rq[t->cpu];
    struct wb_exec *x = fake_exec(s, t->cpu);
    s->ops->enqueue(x, rq, t, WB_ENQ_WAKEUP | (t->delayed ? WB_ENQ_DELAYED : 0u));
    t->on_rq = true;
    t->delayed = false;
    t->state = WB_RUNNING;
    *rule = 0;
    return s->ops->check_preempt(x, rq, t, flags, rule);
}

#endif
