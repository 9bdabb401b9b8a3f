/*
 * wakeup.c - try_to_wake_up: lock, look, place, activate, kick.
 *
 * Two shapes. Up to 2.6.38 placement happens under the runqueue lock of the task's CPU, which is dropped and the
 * target's taken when the task moves (2.6.10 kernel/sched.c try_to_wake_up). Since 2.6.39 the task's own lock
 * serialises wakers, placement takes no runqueue lock, and a remote wakeup may be queued on its target instead of
 * locking it (5.8 kernel/sched/core.c).
 */
#include "sim.h"

struct ttwu {
    struct wb_frame h;
    struct wb_task *t;
    struct wb_rq *rq;
    uint32_t states, flags;
    cpu_id from;
    bool moved;
};

static void count_wakeup(struct wb_exec *x, const struct ttwu *f)
{
    struct wb_sim *s = x->sim;
    s->count.wakeups_sync += (f->flags & WB_WF_SYNC) != 0;
    s->count.wakeups_remote += f->t->cpu != x->cpu;
    s->count.wakeups++;
    if (s->totals) {
        s->totals[f->t->id].wakeups++;
        s->totals[f->t->id].last_waker = x->task->id;
    }
    f->t->woken_by_irq = x->level != WB_LEVEL_TASK;
    measure_series_add(s->m, s->series_wakeups, 1);
}

/* Flags of a recorded wakeup: how it was called, from where, and the CPU it slept on. */
static uint32_t waking_flags(const struct wb_exec *x, const struct ttwu *f, cpu_id prev)
{
    return (f->flags & 0xffu) | (uint32_t)x->level << 8 | prev << 16;
}

/* Where should it run? Records the rule; returns the CPU. */
static cpu_id place(struct wb_exec *x, struct ttwu *f)
{
    struct wb_sim *s = x->sim;
    struct wb_wakeup w = {.task = f->t, .this_cpu = x->cpu, .prev_cpu = f->t->cpu, .flags = f->flags};
    struct wb_choice c = s->ops->place_wakeup(x, &w);
    c.rule = rule_of(s, c.rule);
    WB_CHECK(c.cpu < s->ncpus && wb_mask_test(f->t->allowed, c.cpu), "task %u placed on cpu %u, which it may not use",
             f->t->id, c.cpu);
    WB_CHECK(c.rule < s->ops->nrules, "rule %u of %zu", c.rule, s->ops->nrules);
    s->rule_count[c.rule]++;
    TRACE(s, .type = WB_TR_WAKING, .cpu = (uint16_t)x->cpu, .task = f->t->id, .a = c.cpu, .b = x->task->id,
          .c = waking_flags(x, f, f->t->cpu), .rule = c.rule);
    f->from = f->t->cpu;
    f->moved = c.cpu != f->t->cpu;
    if (f->moved) {
        s->ops->migrate(x, f->t, f->from, c.cpu);
        task_set_cpu(s, f->t, c.cpu);
        count_migration(x, f->t, f->from, WB_MIG_WAKE, c.rule);
        wb_charge_fn(x, WB_FN_SELECT_TASK_RQ);
    }
    return c.cpu;
}

/* Queue a task on the locked runqueue, decide about preemption, start its latency clock. */
void task_activate(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t enqueue, uint32_t wake)
{
    struct wb_sim *s = x->sim;
    wb_rule rule = 0;
    WB_CHECK(t->cpu == rq->cpu, "task %u of cpu %u activated on cpu %u", t->id, t->cpu, rq->cpu);
    WB_CHECK(t->on_rq == !!(enqueue & WB_ENQ_DELAYED), "task %u is activated and is queued already", t->id);
    wb_charge_fn(x, WB_FN_ENQUEUE_TASK);
    wb_line_use(x, s->cpu[rq->cpu].rq_line, WB_LINE_WRITE, WB_FN_ENQUEUE_TASK);
    s->ops->enqueue(x, rq, t, enqueue);
    t->on_rq = true;
    t->delayed = false;
    t->waking = false;
    t->state = WB_RUNNING;
    t->queued_at = s->now;
    if (enqueue & (WB_ENQ_WAKEUP | WB_ENQ_NEW)) t->woken_at = s->now + 1; /* 0 means: not waking */
    iww_update(s, 0, 1);
    invariants_wait(s, t);
    TRACE(s, .type = enqueue & WB_ENQ_NEW ? WB_TR_WAKEUP_NEW : WB_TR_WAKEUP, .cpu = (uint16_t)x->cpu, .task = t->id,
          .a = rq->cpu);
    if (s->ops->check_preempt(x, rq, t, wake, &rule)) wb_resched(x, rq);
    rule = rule_of(s, rule);
    WB_CHECK(rule < s->ops->nrules, "rule %u of %zu", rule, s->ops->nrules);
    if (rule) s->rule_count[rule]++;
}

/* Still queued: either it never slept, or (6.12) its dequeue was delayed and is taken back. */
static void wake_queued(struct wb_exec *x, struct ttwu *f)
{
    struct wb_sim *s = x->sim;
    if (f->t->delayed) {
        TRACE(s, .type = WB_TR_WAKING, .cpu = (uint16_t)x->cpu, .task = f->t->id, .a = f->t->cpu, .b = x->task->id,
              .c = waking_flags(x, f, f->t->cpu));
        task_activate(x, f->rq, f->t, WB_ENQ_WAKEUP | WB_ENQ_DELAYED, f->flags);
        return;
    }
    f->t->state = WB_RUNNING;
    (void)s;
}

static uint32_t enqueue_flags(const struct wb_exec *x, const struct ttwu *f)
{
    uint32_t e = WB_ENQ_WAKEUP;
    if (f->moved) e |= WB_ENQ_MIGRATED;
    if ((f->flags & WB_WF_SYNC) && f->t->cpu == x->cpu) e |= WB_ENQ_SYNC_LOCAL;
    return e;
}

static uint32_t wake_flags(const struct ttwu *f)
{
    return f->flags | (f->moved ? WB_WF_MIGRATED : 0);
}

static void fetch_cpu(const struct wb_sim *s, cpu_id cpu)
{
    if (cpu == WB_NO_CPU) return;
    fetch_lines(&s->cpu[cpu], 4);
    fetch_lines(s->cpu[cpu].rq.policy, 5);
}

static enum wb_ret ttwu_locked_step(struct wb_exec *x, void *frame)
{
    struct ttwu *f = frame;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_TRY_TO_WAKE_UP);
    if (f->t->state == WB_NEW) WB_RETURN(x, 0); /* killed before it was started: it has no runqueue yet */
    wb_irq_disable(x);
    for (;;) { /* task_rq_lock: the task may move while we wait */
        f->rq = rq_to_lock(x->sim, f->t->cpu);
        WB_SPIN_LOCK(x, f, &f->rq->lock);
        if (f->rq->cpu != f->t->cpu) {
            WB_SPIN_UNLOCK(x, f, &f->rq->lock);
            continue;
        }
        if (!(f->states >> f->t->state & 1)) {
            WB_SPIN_UNLOCK(x, f, &f->rq->lock);
            wb_irq_enable(x);
            WB_RETURN(x, 0);
        }
        /* Placed already, queued, or not switched out yet: it stays where it is. */
        if (f->moved || f->t->on_rq || f->t->on_cpu) break;
        if (place(x, f) == f->rq->cpu) break;
        WB_SPIN_UNLOCK(x, f, &f->rq->lock);
    }
    count_wakeup(x, f);
    if (f->t->on_rq)
        wake_queued(x, f);
    else
        task_activate(x, f->rq, f->t, enqueue_flags(x, f), wake_flags(f));
    KICK_ALL(x, f);
    WB_SPIN_UNLOCK(x, f, &f->rq->lock);
    wb_irq_enable(x);
    WB_RETURN(x, 1);
    WB_END();
}

/* Nobody has woken it meanwhile, or is about to. */
static bool still_sleeps(const struct ttwu *f)
{
    return (f->states >> f->t->state & 1) && !f->t->waking;
}

/* Not to a CPU that its affinity has lost since it ran there (6.0 ttwu_queue_cond; until then a stopper moved it away
 * again). */
static bool queue_remote(struct wb_exec *x, const struct ttwu *f, cpu_id cpu)
{
    struct wb_sim *s = x->sim;
    struct wb_wakeup w = {.task = f->t, .this_cpu = x->cpu, .prev_cpu = f->from, .flags = f->flags};
    if (!wb_mask_test(f->t->allowed, cpu)) return false;
    return cpu != x->cpu && s->ops->queue_remote && s->ops->queue_remote(x, &w, cpu);
}

static enum wb_ret ttwu_pi_step(struct wb_exec *x, void *frame)
{
    struct ttwu *f = frame;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_TRY_TO_WAKE_UP);
    wb_irq_disable(x);
    WB_FLUSH(x, f);
    if (WB_UNLIKELY(x->sim->wide)) fetch_cpu(x->sim, f->t->cpu);
    if (!still_sleeps(f)) {
        wb_irq_enable(x);
        WB_RETURN(x, 0);
    }
    while (f->t->on_rq) { /* ttwu_runnable; __task_rq_lock: a queued one may be moved while we wait */
        f->rq = rq_to_lock(x->sim, f->t->cpu);
        WB_SPIN_LOCK(x, f, &f->rq->lock);
        if (still_sleeps(f) && f->t->on_rq && f->rq->cpu == f->t->cpu) {
            count_wakeup(x, f);
            wake_queued(x, f);
            KICK_ALL(x, f);
            WB_SPIN_UNLOCK(x, f, &f->rq->lock);
            wb_irq_enable(x);
            WB_RETURN(x, 1);
        }
        WB_SPIN_UNLOCK(x, f, &f->rq->lock);
        /* Another waker may have been as late (the kernel's pi_lock keeps it out). */
        if (!still_sleeps(f)) {
            wb_irq_enable(x);
            WB_RETURN(x, 0);
        }
    }
    f->from = f->t->cpu;
    f->t->waking = true;
    /* Its CPU is still leaving it: queue the wakeup there (5.8+) or wait. */
    if (f->t->on_cpu && queue_remote(x, f, f->t->cpu)) {
        count_wakeup(x, f);
        f->t->wake_cpu = (uint16_t)f->t->cpu;
        TRACE(x->sim, .type = WB_TR_WAKING, .cpu = (uint16_t)x->cpu, .task = f->t->id, .a = f->t->cpu, .b = x->task->id,
              .c = waking_flags(x, f, f->t->cpu));
        wake_list_add(x, f->t, f->t->cpu);
        KICK_ALL(x, f);
        wb_irq_enable(x);
        WB_RETURN(x, 1);
    }
    while (f->t->on_cpu) {
        WB_CHECK(f->t->cpu != x->cpu, "cpu %u waits for a task that it runs itself", x->cpu);
        wb_charge(x, WB_FN_TRY_TO_WAKE_UP, WB_CAT_LOCK, 20 * WB_NS);
        WB_FLUSH(x, f);
    }
    (void)place(x, f);
    count_wakeup(x, f);
    f->t->wake_cpu = (uint16_t)f->from;
    WB_FLUSH(x, f);
    if (queue_remote(x, f, f->t->cpu)) {
        wake_list_add(x, f->t, f->t->cpu);
        KICK_ALL(x, f);
        wb_irq_enable(x);
        WB_RETURN(x, 1);
    }
    f->rq = rq_to_lock(x->sim, f->t->cpu);
    WB_SPIN_LOCK(x, f, &f->rq->lock);
    f->t->waking = false;
    task_activate(x, f->rq, f->t, enqueue_flags(x, f), wake_flags(f));
    KICK_ALL(x, f);
    WB_SPIN_UNLOCK(x, f, &f->rq->lock);
    wb_irq_enable(x);
    WB_RETURN(x, 1);
    WB_END();
}

void wb_try_to_wake_up(struct wb_exec *x, struct wb_task *t, uint32_t states, uint32_t flags)
{
    struct ttwu *f = WB_PUSH(x, x->sim->k.ttwu_pi_lock ? ttwu_pi_step : ttwu_locked_step, struct ttwu);
    if (WB_UNLIKELY(x->sim->wide)) fetch_lines(t, TASK_LINES);
    f->t = t;
    f->states = states;
    f->flags = flags | (x->level != WB_LEVEL_TASK ? WB_WF_IRQ : 0);
}

void wb_kill(struct wb_exec *x, struct wb_task *t)
{
    t->killed = true;
    wb_try_to_wake_up(x, t, 1u << WB_INTERRUPTIBLE, 0);
}

/* ---- a new task starts: wake_up_new_task ---- */

struct wake_new {
    struct wb_frame h;
    struct wb_task *t;
    struct wb_rq *rq;
    uint32_t flags;
};

static enum wb_ret wake_new_step(struct wb_exec *x, void *frame)
{
    struct wake_new *f = frame;
    struct wb_sim *s = x->sim;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_FORK);
    WB_FLUSH(x, f); /* copy_process() is over when wake_up_new_task() looks at the CPUs */
    wb_irq_disable(x);
    f->t->cpu = x->cpu;
    f->t->waking = true;
    s->ops->fork(x, f->flags & WB_WF_FORK ? x->task : NULL, f->t);
    {
        struct wb_choice c = s->ops->place_fork(x, f->t);
        c.rule = rule_of(s, c.rule);
        WB_CHECK(c.cpu < s->ncpus && wb_mask_test(f->t->allowed, c.cpu), "new task %u placed on cpu %u", f->t->id,
                 c.cpu);
        s->rule_count[c.rule]++;
        if (c.cpu != f->t->cpu) {
            s->ops->migrate(x, f->t, f->t->cpu, c.cpu);
            task_set_cpu(s, f->t, c.cpu);
            count_migration(x, f->t, x->cpu, WB_MIG_FORK, c.rule);
        } else {
            task_set_cpu(s, f->t, c.cpu);
        }
    }
    TRACE(s, .type = WB_TR_FORK, .cpu = (uint16_t)x->cpu, .task = x->task->id, .a = f->t->id);
    f->rq = rq_to_lock(s, f->t->cpu);
    WB_SPIN_LOCK(x, f, &f->rq->lock);
    task_activate(x, f->rq, f->t, WB_ENQ_NEW, WB_WF_FORK);
    KICK_ALL(x, f);
    WB_SPIN_UNLOCK(x, f, &f->rq->lock);
    wb_irq_enable(x);
    WB_END();
}

void wake_new_task(struct wb_exec *x, struct wb_task *t, uint32_t flags)
{
    struct wake_new *f = WB_PUSH(x, wake_new_step, struct wake_new);
    f->t = t;
    f->flags = flags;
}

/* The parent is back in user mode afterwards: a request that came with the child, or since, is obeyed there. */
static enum wb_ret fork_step(struct wb_exec *x, void *frame)
{
    struct wake_new *f = frame;
    WB_BEGIN(f);
    WB_CALL(x, f, wake_new_task(x, f->t, WB_WF_FORK));
    WB_FLUSH(x, f);
    while (wb_need_resched(x) || cpu_of(x)->rq.need_resched_lazy) WB_CALL(x, f, wb_schedule(x));
    WB_END();
}

void wb_fork(struct wb_exec *x, struct wb_task *child)
{
    struct wake_new *f = WB_PUSH(x, fork_step, struct wake_new);
    f->t = child;
}
