/*
 * schedule.c - schedule(): put the current task away, find the next one, switch.
 *
 * The frame that switches out waits on its task's stack and goes on when the task gets a CPU again, possibly another
 * one, just as in the kernels. In between the runqueue's lock is held by the CPU (2.6.10 kernel/sched.c schedule,
 * context_switch, finish_task_switch); architectures with unlocked switches (ia64, arm) drop it first.
 */
#include "sim.h"

struct sched {
    struct wb_frame h;
    struct wb_task *next;
}; /* h.note: */
enum {
    SCHED_PREEMPT = 1, /* PREEMPT_ACTIVE: a task that is about to sleep stays runnable */
    SCHED_BIG = 2      /* takes the kernel lock again when it goes on */
};

/* ---- leaving ---- */

static void deactivate(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev)
{
    struct wb_sim *s = x->sim;
    uint32_t flags = WB_DEQ_SLEEP | (prev->state == WB_DEAD ? WB_DEQ_EXIT : 0);
    wb_charge_fn(x, WB_FN_DEQUEUE_TASK);
    wb_line_use(x, cpu_of(x)->rq_line, WB_LINE_WRITE, WB_FN_DEQUEUE_TASK);
    prev->delayed = !s->ops->dequeue(x, rq, prev, flags);
    prev->on_rq = prev->delayed;
}

void wb_finish_dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t)
{
    WB_CHECK(t->delayed, "task %u has no dequeue to finish", t->id);
    wb_charge_fn(x, WB_FN_DEQUEUE_TASK);
    (void)x->sim->ops->dequeue(x, rq, t, WB_DEQ_SLEEP | WB_DEQ_DELAYED);
    t->delayed = false;
    t->on_rq = false;
    if (t->state == WB_DEAD && !t->on_cpu) task_gone(x->sim, t);
}

static void put_prev(struct wb_exec *x, struct wb_rq *rq, const struct sched *f)
{
    struct wb_task *prev = x->task;
    rq->need_resched = rq->need_resched_lazy = false;
    if (prev->klass == WB_CLASS_SWAPPER) return;
    if (prev->state != WB_RUNNING && !(f->h.note & SCHED_PREEMPT)) deactivate(x, rq, prev);
    x->sim->ops->put_prev(x, rq, prev);
}

static struct wb_task *pick(struct wb_exec *x, struct wb_rq *rq)
{
    struct wb_task *next = x->sim->ops->pick(x, rq, x->task);
    return next ? next : rq->idle;
}

/* ---- statistics of a switch ---- */

static void account_prev(struct wb_sim *s, struct wb_task *prev, bool queued)
{
    if (prev->klass == WB_CLASS_SWAPPER) {
        iww_update(s, -1, 0);
        invariants_idle(s, prev->cpu, false);
        return;
    }
    if (s->totals) {
        s->totals[prev->id].run_total += s->now - s->totals[prev->id].run_start;
        s->totals[prev->id].run_start = s->now;
        s->totals[prev->id].switches++;
    }
    if (queued) { /* a wakeup during an unlocked switch has counted itself */
        prev->queued_at = s->now;
        iww_update(s, 0, 1);
        invariants_wait(s, prev);
    }
}

static void account_next(struct wb_sim *s, struct wb_task *next)
{
    if (s->totals) s->totals[next->id].run_start = s->now;
    if (next->klass == WB_CLASS_SWAPPER) {
        iww_update(s, 1, 0);
        invariants_idle(s, next->cpu, true);
        return;
    }
    iww_update(s, 0, -1);
    invariants_run(s, next);
    sim_time waited = s->now - next->queued_at;
    if (s->totals) s->totals[next->id].wait_total += waited;
    if (!next->kthread) measure_latency_add(s->run_delay, waited);
    if (next->woken_at && !next->kthread) measure_latency_add(s->wake_latency, s->now - (next->woken_at - 1));
    next->woken_at = 0;
}

/* From here on others see `next` as current; `prev` stays on_cpu until finish_switch. */
static void set_current(struct wb_exec *x, struct wb_rq *rq, struct wb_task *next)
{
    struct wb_task *prev = x->task;
    cpu_of(x)->switch_prev = prev;
    cpu_of(x)->prev_queued = prev->on_rq && !prev->delayed;
    rq->curr = next;
    next->on_cpu = true;
}

static void count_switch(struct wb_exec *x, struct wb_rq *rq, struct wb_task *next)
{
    struct wb_sim *s = x->sim;
    struct wb_cpu *c = cpu_of(x);
    struct wb_task *prev = x->task;
    bool preempted = c->prev_queued && prev->klass != WB_CLASS_SWAPPER;
    c->switches++;
    s->count.preemptions += preempted;
    measure_series_add(s->m, s->series_switches, 1);
    if (s->ops->switched) s->ops->switched(x, rq, prev, next);
    account_prev(s, prev, c->prev_queued);
    account_next(s, next);
    TRACE(s, .type = WB_TR_SWITCH, .cpu = (uint16_t)x->cpu, .task = prev->id, .a = next->id,
          .b = (uint32_t)prev->state | (preempted ? 16u : 0u));
    wb_where.task = next->id;
}

/* ---- arriving ---- */

/* The half of the switch that the next task does: the previous one is off the CPU from here on. */
static void finish_switch(struct wb_exec *x)
{
    struct wb_cpu *c = cpu_of(x);
    struct wb_task *prev = c->switch_prev;
    c->switch_prev = NULL;
    prev->on_cpu = false;
    looks_owner_leaves(x->sim, prev);
    if (prev->state == WB_DEAD && !prev->on_rq) task_gone(x->sim, prev);
}

static void charge_switch(struct wb_exec *x, const struct wb_task *next)
{
    wb_charge_fn(x, WB_FN_CONTEXT_SWITCH);
    if (!x->task->switched && x->task->mm) wb_charge_fn(x, WB_FN_FPU_SAVE);
    footprint_switch(x, next);
    if (next->mm && next->mm != cpu_of(x)->active_mm) {
        wb_charge_fn(x, WB_FN_SWITCH_MM);
        cpu_of(x)->active_mm = next->mm;
    }
}

static enum wb_ret sched_step(struct wb_exec *x, void *frame)
{
    struct sched *f = frame;
    struct wb_rq *rq = &cpu_of(x)->rq;
    WB_BEGIN(f);
    if (x->big > WB_BIG_FREE) {
        f->h.note |= SCHED_BIG;
        if (x->big == WB_BIG_HELD) WB_SPIN_UNLOCK(x, f, &x->sim->big);
        x->big = WB_BIG_FREE;
    }
    do {
        wb_preempt_disable(x);
        wb_charge_fn(x, WB_FN_SCHEDULE);
        wb_irq_disable(x);
        WB_SPIN_LOCK(x, f, &rq->lock);
        wb_line_use(x, cpu_of(x)->flag_line, WB_LINE_RMW, WB_FN_SCHEDULE); /* clear_tsk_need_resched */
        put_prev(x, rq, f);
        f->next = pick(x, rq);
        if (f->next == rq->idle && !rq->nr_running && x->sim->ops->balance_newidle) {
            WB_FLUSH(x, f);
            rq->newidle = true;
            WB_CALL(x, f, balance_run(x, WB_BAL_NEWIDLE, x->cpu));
            rq->newidle = false;
            f->next = pick(x, rq);
        }
        KICK_ALL(x, f); /* SMT nice: picking may make a sibling reschedule */
        if (f->next != x->task) {
            set_current(x, rq, f->next);
            if (x->sim->k.switch_unlocked) WB_SPIN_UNLOCK(x, f, &rq->lock);
            charge_switch(x, f->next);
            WB_FLUSH(x, f);
            count_switch(x, rq, f->next);
            WB_YIELD_(f, WB_SWITCH);
            finish_switch(x);
            x->task->switched = true;
        }
        if (!x->sim->k.switch_unlocked || f->next == x->task) {
            /* Unlocked switches have dropped it already, unless nothing was switched. */
            WB_SPIN_UNLOCK(x, f, &rq->lock);
        }
        wb_irq_enable(x);
        wb_preempt_enable(x);
        WB_FLUSH(x, f);
    } while (wb_need_resched(x) && !(f->h.note & SCHED_PREEMPT));
    if (f->h.note & SCHED_BIG) {
        WB_SPIN_LOCK(x, f, &x->sim->big);
        x->big = WB_BIG_HELD;
    }
    WB_END();
}

static void push_sched(struct wb_exec *x, bool preempt)
{
    WB_CHECK(x->level == WB_LEVEL_TASK, "schedule() in interrupt context");
    struct sched *f = WB_PUSH(x, sched_step, struct sched);
    f->h.note = preempt ? SCHED_PREEMPT : 0;
}

void wb_schedule(struct wb_exec *x)
{
    push_sched(x, false);
}

void schedule_preempt(struct wb_exec *x)
{
    push_sched(x, true);
}

/* ---- the first steps of a new task: schedule_tail ---- */

static enum wb_ret first_step(struct wb_exec *x, void *frame)
{
    struct sched *f = frame;
    WB_BEGIN(f);
    finish_switch(x);
    if (!x->sim->k.switch_unlocked) WB_SPIN_UNLOCK(x, f, &cpu_of(x)->rq.lock);
    wb_irq_enable(x);
    wb_preempt_enable(x);
    WB_FLUSH(x, f);
    while (wb_need_resched(x)) WB_CALL(x, f, wb_schedule(x));
    WB_END();
}

/* On top of its program: what a task runs when it is switched to for the first time. */
void push_first(struct wb_exec *x)
{
    (void)WB_PUSH(x, first_step, struct sched);
    wb_irq_disable(x);
    wb_preempt_disable(x);
    /* The CPU holds the runqueue's lock across the switch: this context drops it, so it counts here too. */
    if (!x->sim->k.switch_unlocked) x->preempt_off++;
}

/* ---- giving up the CPU in other ways ---- */

struct simple {
    struct wb_frame h;
};

static enum wb_ret yield_step(struct wb_exec *x, void *frame)
{
    struct simple *f = frame;
    struct wb_rq *rq = &cpu_of(x)->rq;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_YIELD);
    wb_irq_disable(x);
    WB_SPIN_LOCK(x, f, &rq->lock);
    x->sim->ops->yield(x, rq);
    WB_SPIN_UNLOCK(x, f, &rq->lock);
    wb_irq_enable(x);
    WB_CALL(x, f, wb_schedule(x));
    WB_END();
}

void wb_yield(struct wb_exec *x)
{
    (void)WB_PUSH(x, yield_step, struct simple);
}

/* Who was switched to returns to user mode the long way, once: work was left for it (the restartable sequence, its
 * CPU), its registers are loaded (6.18 kernel/entry/common.c exit_to_user_mode_loop, arch/x86 switch_fpu_return), and
 * what user mode needs has gone cold. Who sleeps again before it returns does not pay, nor are its registers saved
 * again (switch_fpu_prepare: not while TIF_NEED_FPU_LOAD is set). */
void charge_return(struct wb_exec *x)
{
    x->task->switched = false;
    wb_charge_fn(x, WB_FN_EXIT_LOOP);
}

/* The way out comes after the last look at need_resched, with interrupts off (2.6 ret_from_sys_call and work_pending,
 * 6.18 exit_to_user_mode_prepare; FreeBSD doreti): who is preempted there pays it when it goes on, and one that comes
 * in meanwhile preempts in user mode. */
static void leave(struct wb_exec *x)
{
    if (x->task->switched) charge_return(x);
    wb_charge_fn(x, WB_FN_SYSCALL_EXIT);
    footprint_call(x);
}

enum { LEAVE_FLUSHED = 60001 };

static enum wb_ret leave_step(struct wb_exec *x, void *frame)
{
    struct simple *f = frame;
    WB_BEGIN(f);
    x->task->nr_returns++;
    WB_FLUSH(x, f);
    WB_RESUME(LEAVE_FLUSHED);
    while (wb_need_resched(x) || cpu_of(x)->rq.need_resched_lazy) WB_CALL(x, f, wb_schedule(x));
    leave(x);
    if (x->big == WB_BIG_HELD) {
        WB_SPIN_UNLOCK(x, f, &x->sim->big);
        x->big = WB_BIG_FREE;
    }
    x->user = 1;
    WB_END();
}

void wb_syscall_leave(struct wb_exec *x)
{
    (void)WB_PUSH(x, leave_step, struct simple);
}

enum wb_ret wb_syscall_leave_now(struct wb_exec *x, const void *frame)
{
    const struct wb_rq *rq = &cpu_of(x)->rq;
    if (WB_UNLIKELY(x->big != WB_BIG_NONE || wb_step_waits(x))) {
        wb_syscall_leave(x);
        return wb_call_now(x, frame);
    }
    x->task->nr_returns++;
    bool passed = wb_flush_now(x);
    if (WB_LIKELY(passed && !rq->need_resched && !rq->need_resched_lazy)) {
        leave(x);
        x->user = 1;
        return WB_DONE;
    }
    WB_PUSH(x, leave_step, struct simple)->h.line = LEAVE_FLUSHED;
    return passed ? wb_call_now(x, frame) : WB_RUN;
}

static enum wb_ret exit_step(struct wb_exec *x, void *frame)
{
    struct simple *f = frame;
    WB_BEGIN(f);
    x->user = 0;
    wb_charge_fn(x, WB_FN_EXIT);
    WB_FLUSH(x, f);
    x->sim->ops->exit(x, x->task);
    TRACE(x->sim, .type = WB_TR_EXIT, .cpu = (uint16_t)x->cpu, .task = x->task->id);
    x->task->state = WB_DEAD;
    WB_CALL(x, f, wb_schedule(x));
    WB_CHECK(false, "task %u came back from exit", x->task->id);
    WB_END();
}

void wb_exit(struct wb_exec *x)
{
    (void)WB_PUSH(x, exit_step, struct simple);
}
