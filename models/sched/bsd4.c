/* bsd4.c - the 4BSD scheduler of FreeBSD 4.x and 5.2.1: table, configuration, ticks, life of a task. */
#include "bsd.h"

#include <stdio.h>
#include <string.h>

const char *const bsd4_rules[BSD4_RULES] = {
    [BSD4_R_NONE] = "none",
    [BSD4_R_STAYS] = "one queue for all CPUs: charged to where it last ran",
    [BSD4_R_NOT_ALLOWED] = "last CPU not allowed: charged to the first allowed one",
    [BSD4_R_FORK] = "one queue for all CPUs: charged to its parent's",
    [BSD4_R_EXEC] = "exec changes nothing",
    [BSD4_R_BOUND] = "bound kernel thread: its CPU reschedules",
    [BSD4_R_CPU_IDLE] = "woken by an interrupt of an idle CPU: that one takes it",
    [BSD4_R_PREEMPT] = "better priority than who runs on the waker's CPU: preempts there",
    [BSD4_R_POLLED] = "an idle CPU sees the queue change",
    [BSD4_R_UNTOLD] = "idle CPUs halt and are not told: waits for their next interrupt",
    [BSD4_R_WAITS] = "no better priority and no idle CPU: waits",
    [BSD4_R_NOT_HERE] = "may not run on the waker's CPU, no other is looked at: waits",
    [BSD4_R_TAKEN] = "taken from the common queue by another CPU than its last",
};

/* ---- configuration ---- */

static void read_numbers(struct bsd4_sim *o, const struct wb_config *cfg)
{
    const struct bsd4_version *v = o->v;
    o->quantum = bsd_ticks(cfg, "policy.quantum", 100 * WB_MS, o->hz);
    o->stathz = (uint32_t)bsd_given(cfg, "policy.stathz", 128);
    o->weight =
        (uint32_t)bsd_given(cfg, "policy.inverse_estcpu_weight", v->weight_per_cpu ? 8 * (uint64_t)o->ncpus : 8u);
    o->estcpu_max = o->weight * v->estcpu_levels + o->weight - 1;
    o->sleep_prio = (uint8_t)bsd_given(cfg, "policy.sleep_priority", v->pribio);
    o->ldavg = (uint32_t)(bsd_given(cfg, "policy.load_average", 0) * BSD_FSCALE / 100);
    o->decay = bsd_given_bool(cfg, "policy.decay", true);
    o->wake_ipi = bsd_given_bool(cfg, "policy.wake_ipi", false);
    o->loadav_at = 5 * (uint64_t)o->hz;
    o->polls = !strcmp(wb_cfg_str(cfg, "kernel.idle"), "poll");
}

static int init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    struct bsd4_sim *o = wb_policy_data(s);
    o->v = bsd4_version_find(wb_cfg_str(cfg, "policy.version"));
    if (!o->v) {
        wb_cfg_error(cfg, d, "policy.version", "one of 4.7, 5.2.1", "the 4BSD scheduler has no version \"%s\"",
                     wb_cfg_str(cfg, "policy.version"));
        return -1;
    }
    if (bsd_check_lock(cfg, d)) return -1;
    o->ncpus = wb_ncpus(s);
    o->hz = wb_hz(s);
    o->draws = wb_sim_stream(s, 0, WB_PURPOSE('l', 'd', 'a', 'v'));
    read_numbers(o, cfg);
    o->fn_choose = wb_fn_id(s, "runq_choose", WB_CAT_SCHED, 60 * WB_NS);
    o->fn_schedcpu = wb_fn_id(s, "schedcpu", WB_CAT_TICK, 100 * WB_NS);
    return 0;
}

/* ---- placement: nobody decides where ---- */

static struct wb_choice place_wakeup(struct wb_exec *x, const struct wb_wakeup *w)
{
    (void)x;
    if (wb_mask_test(w->task->allowed, w->prev_cpu))
        return (struct wb_choice){.cpu = w->prev_cpu, .rule = BSD4_R_STAYS};
    return (struct wb_choice){.cpu = wb_mask_first(w->task->allowed), .rule = BSD4_R_NOT_ALLOWED};
}

static struct wb_choice place_fork(struct wb_exec *x, struct wb_task *child)
{
    if (wb_mask_test(child->allowed, x->cpu)) return (struct wb_choice){.cpu = x->cpu, .rule = BSD4_R_FORK};
    return (struct wb_choice){.cpu = wb_mask_first(child->allowed), .rule = BSD4_R_NOT_ALLOWED};
}

static struct wb_choice place_exec(struct wb_exec *x, struct wb_task *t)
{
    (void)t;
    return (struct wb_choice){.cpu = x->cpu, .rule = BSD4_R_EXEC};
}

/* ---- life of a task ---- */

static void task_init(struct wb_sim *s, struct wb_task *t)
{
    struct bsd_task *p = bsd_task(t);
    *p = (struct bsd_task){.t = t, .parent = WB_NO_TASK};
    bsd4_reset_prio(wb_policy_data(s), p);
}

static void fork_task(struct wb_exec *x, struct wb_task *parent, struct wb_task *child)
{
    if (!parent || parent->klass == WB_CLASS_SWAPPER) return;
    struct bsd_task *c = bsd_task(child);
    c->parent = parent->id;
    c->estcpu = bsd_task(parent)->estcpu;
    bsd4_reset_prio(bsd4_of(x), c);
}

/* wait1(), sched_exit(): what the child used counts as its parent's use. */
static void exit_task(struct wb_exec *x, struct wb_task *t)
{
    const struct bsd4_sim *o = bsd4_of(x);
    const struct bsd_task *c = bsd_task(t);
    if (c->parent == WB_NO_TASK) return;
    struct wb_task *parent = wb_task_of(x->sim, c->parent);
    if (parent->state == WB_DEAD) return;
    struct bsd_task *p = bsd_task(parent);
    p->estcpu = bsd4_limit(o, p->estcpu + c->estcpu);
}

static void task_changed(struct wb_exec *x, struct wb_task *t)
{
    const struct bsd4_sim *o = bsd4_of(x);
    struct bsd_task *p = bsd_task(t);
    bsd4_reset_prio(o, p); /* its place in the queue follows with the next second (schedcpu) */
}

static void migrate(struct wb_exec *x, struct wb_task *t, cpu_id from, cpu_id to)
{
    (void)x;
    (void)t;
    (void)from;
    (void)to;
}

/* ---- ticks ---- */

static void running_tick(struct wb_exec *x, struct wb_rq *rq)
{
    const struct bsd4_sim *o = bsd4_of(x);
    struct bsd4_rq *r = rq->policy;
    struct bsd_task *p = bsd_task(rq->curr);
    for (r->stat += o->stathz; r->stat >= o->hz; r->stat -= o->hz) bsd4_clock(o, p);
    if (rq->ticks % o->quantum == 0) wb_resched(x, rq); /* roundrobin(), forward_roundrobin() */
}

/* The callouts of schedcpu() and loadav() run on the CPU that takes the clock. An idle CPU that an interrupt has woken
 * looks at the queue. */
static void tick(struct wb_exec *x, struct wb_rq *rq)
{
    const struct bsd4_sim *o = bsd4_of(x);
    if (rq->cpu == 0 && rq->ticks >= o->loadav_at) bsd4_loadav(x, rq);
    if (rq->cpu == 0 && rq->ticks % o->hz == 0) bsd4_schedcpu(x, rq);
    if (!wb_idle_cpu(rq))
        running_tick(x, rq);
    else if (bsd4_work_for(o, rq))
        wb_resched(x, rq);
}

/* cpu_idle(): looks once more with interrupts off before it halts, and again after any interrupt. */
static bool idle_enter(struct wb_exec *x, struct wb_rq *rq)
{
    if (bsd4_work_for(bsd4_of(x), rq)) wb_resched(x, rq);
    return false;
}
static void idle_exit(struct wb_exec *x, struct wb_rq *rq)
{
    (void)idle_enter(x, rq);
}

/* ---- explain ---- */

static void describe(const struct wb_sim *s, const struct wb_rq *rq, const struct wb_task *t, char *buf, size_t n)
{
    const struct bsd4_sim *o = wb_policy_data((struct wb_sim *)(uintptr_t)s);
    if (!t) {
        snprintf(buf, n, "%u last ran here, %u in the common queue, load average %u.%02u", rq->nr_running, o->queue.nr,
                 o->ldavg / BSD_FSCALE, o->ldavg % BSD_FSCALE * 100 / BSD_FSCALE);
        return;
    }
    const struct bsd_task *p = bsd_task(t);
    snprintf(buf, n, "priority %u (user %u%s), estcpu %u, %s", bsd_prio(p), p->user_prio,
             bsd_lent(p) ? ", lent by its sleep" : "", p->estcpu, p->queue ? "queued" : "not queued");
}

const struct wb_policy_ops bsd4_policy = {
    .abi = WB_POLICY_ABI,
    .size = sizeof(struct wb_policy_ops),
    .name = "bsd4",
    .help = "4BSD scheduler of FreeBSD 4.x and 5.2.1: one queue for all CPUs, decaying priorities, nobody is told.",
    .rules = bsd4_rules,
    .nrules = BSD4_RULES,
    .keys = bsd4_keys,
    .nkeys = BSD4_KEYS,
    .sim_bytes = sizeof(struct bsd4_sim),
    .rq_bytes = sizeof(struct bsd4_rq),
    .task_bytes = sizeof(struct bsd_task),
    .init = init,
    .task_init = task_init,
    .place_wakeup = place_wakeup,
    .place_fork = place_fork,
    .place_exec = place_exec,
    .fork = fork_task,
    .exit = exit_task,
    .enqueue = bsd4_enqueue,
    .dequeue = bsd4_dequeue,
    .put_prev = bsd4_put_prev,
    .pick = bsd4_pick,
    .yield = bsd_yield,
    .migrate = migrate,
    .tick = tick,
    .check_preempt = bsd4_check_preempt,
    .idle_enter = idle_enter,
    .idle_exit = idle_exit,
    .task_changed = task_changed,
    .describe = describe,
};
