/* waitqueue.c - who is woken, in which order. Linux kernel/wait.c and __wake_up_common (2.6.10 kernel/sched.c). */
#include "sim.h"

#include <string.h>

void wb_waitq_init(struct wb_sim *s, struct wb_waitq *q)
{
    wb_spin_init(s, &q->lock);
    q->first = NULL;
}

static void queue_head(struct wb_waitq *q, struct wb_wait_entry *e)
{
    e->prev = q->first ? q->first->prev : e;
    e->next = q->first;
    if (q->first) q->first->prev = e;
    q->first = e;
    e->queued = true;
}

static void queue_tail(struct wb_waitq *q, struct wb_wait_entry *e)
{
    if (!q->first) {
        queue_head(q, e);
        return;
    }
    e->next = NULL;
    e->prev = q->first->prev;
    q->first->prev->next = e;
    q->first->prev = e;
    e->queued = true;
}

static void unqueue(struct wb_waitq *q, struct wb_wait_entry *e)
{
    if (!e->queued) return;
    if (e->next)
        e->next->prev = e->prev;
    else
        q->first->prev = e->prev;
    if (q->first == e)
        q->first = e->next;
    else
        e->prev->next = e->next;
    e->next = e->prev = NULL;
    e->queued = false;
}

/* ---- prepare_to_wait, finish_wait ---- */

struct waiting {
    struct wb_frame h;
    struct wb_waitq *q;
    struct wb_wait_entry *e;
    uint8_t state;
};

static enum wb_ret prepare_step(struct wb_exec *x, void *frame)
{
    struct waiting *f = frame;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_PREPARE_TO_WAIT);
    wb_irq_disable(x);
    WB_SPIN_LOCK(x, f, &f->q->lock);
    if (!f->e->queued) {
        if (f->e->exclusive)
            queue_tail(f->q, f->e);
        else
            queue_head(f->q, f->e);
    }
    x->task->state = f->state;
    WB_SPIN_UNLOCK(x, f, &f->q->lock);
    wb_irq_enable(x);
    WB_END();
}

void wb_prepare_to_wait(struct wb_exec *x, struct wb_waitq *q, struct wb_wait_entry *e, bool exclusive, int state)
{
    struct waiting *f = WB_PUSH(x, prepare_step, struct waiting);
    e->task = x->task;
    e->exclusive = exclusive;
    f->q = q;
    f->e = e;
    f->state = (uint8_t)state;
}

static void finish_woken(struct wb_exec *x)
{
    x->task->state = WB_RUNNING;
    wb_charge_fn(x, WB_FN_FINISH_WAIT);
}

static enum wb_ret finish_step(struct wb_exec *x, void *frame)
{
    struct waiting *f = frame;
    WB_BEGIN(f);
    finish_woken(x);
    if (f->e->queued) { /* the waker has not taken it off: the lock is needed */
        wb_irq_disable(x);
        WB_SPIN_LOCK(x, f, &f->q->lock);
        unqueue(f->q, f->e);
        WB_SPIN_UNLOCK(x, f, &f->q->lock);
        wb_irq_enable(x);
    }
    WB_END();
}

void wb_finish_wait(struct wb_exec *x, struct wb_waitq *q, struct wb_wait_entry *e)
{
    if (!e->queued && !wb_step_waits(x)) {
        finish_woken(x);
        return;
    }
    struct waiting *f = WB_PUSH(x, finish_step, struct waiting);
    f->q = q;
    f->e = e;
}

/* ---- __wake_up ---- */

struct wake_up {
    struct wb_frame h;
    struct wb_waitq *q;
    struct wb_wait_entry *e, *next;
    struct wb_task *t;
    uint32_t states, flags, eflags;
    int nr_exclusive;
    int32_t woken;
};

static struct wb_task *wakes(struct wb_exec *x, struct wb_wait_entry *e, uint32_t *flags)
{
    if (WB_LIKELY(!e->hooked)) return e->task;
    struct wb_wait_hook *h = (struct wb_wait_hook *)(void *)e;
    return h->func(x, h, flags);
}

static enum wb_ret wake_up_step(struct wb_exec *x, void *frame)
{
    struct wake_up *f = frame;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_WAKE_UP);
    wb_irq_disable(x);
    WB_SPIN_LOCK(x, f, &f->q->lock);
    for (f->e = f->q->first; f->e; f->e = f->next) {
        f->next = f->e->next;
        f->eflags = f->flags | f->e->wake_flags_or;
        f->t = wakes(x, f->e, &f->eflags);
        if (!f->t) continue;
        WB_CALL(x, f, wb_try_to_wake_up(x, f->t, f->states, f->eflags));
        if (!x->ret) continue;
        f->woken++;
        if (f->e->autoremove) unqueue(f->q, f->e);
        if (f->e->exclusive && --f->nr_exclusive == 0) break;
    }
    WB_SPIN_UNLOCK(x, f, &f->q->lock);
    wb_irq_enable(x);
    WB_RETURN(x, f->woken);
    WB_END();
}

void wb_wake_up(struct wb_exec *x, struct wb_waitq *q, uint32_t states, int nr_exclusive, uint32_t flags)
{
    struct wake_up *f = WB_PUSH(x, wake_up_step, struct wake_up);
    if (WB_UNLIKELY(x->sim->wide) && q->first) fetch_lines(q->first, 1);
    f->q = q;
    f->states = states;
    f->nr_exclusive = nr_exclusive;
    f->flags = flags;
}
