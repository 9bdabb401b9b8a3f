#include "pipe.h"

/* ---- waking ---- */

struct wake_call {
    struct wb_frame h; /* note: sync */
    struct pipe *p;
    struct wb_waitq *q;
};

/* Whom this wake will meet: all sleepers up to and including the first exclusive one. */
static void count_found(struct wb_exec *x, const struct wake_call *f)
{
    const struct pipe_counters *n = &f->p->st->count;
    for (const struct wb_wait_entry *e = f->q->first; e; e = e->next) {
        if (!(WB_ASLEEP >> e->task->state & 1)) continue;
        wb_counter_add(x, n->found[f->h.note][e->task->cpu != x->cpu], 1);
        if (e->exclusive) return;
    }
}

static enum wb_ret wake_step(struct wb_exec *x, void *frame)
{
    struct wake_call *f = frame;
    WB_BEGIN(f);
    WB_FLUSH(x, f);
    count_found(x, f);
    WB_CALL(x, f, wb_wake_up(x, f->q, 1u << WB_INTERRUPTIBLE, 1, f->h.note ? WB_WF_SYNC : 0));
    WB_END();
}

void pipe_wake(struct wb_exec *x, struct pipe *p, struct wb_waitq *q, enum pipe_by by, bool sync)
{
    if (p->st->sync != PIPE_SYNC_VERSION) sync = p->st->sync == PIPE_SYNC_ALWAYS;
    struct wake_call *f = WB_PUSH(x, wake_step, struct wake_call);
    f->p = p;
    f->q = q;
    f->h.note = sync;
    wb_counter_add(x, p->st->count.wake[by][sync], 1);
}

/* ---- sleeping, one queue ---- */

struct wait_call {
    struct wb_frame h;
    struct pipe *p;
    struct wb_wait_entry e;
}; /* h.note: enum pipe_by */

static enum wb_ret wait_step(struct wb_exec *x, void *frame)
{
    struct wait_call *f = frame;
    struct pipe *p = f->p;
    WB_BEGIN(f);
    wb_charge_fn(x, p->st->fn.wait);
    wb_counter_add(x, p->st->count.sleeps[f->h.note], 1);
    f->e.task = x->task;
    f->e.autoremove = true;
    x->task->noninteractive = p->st->rules->noninteractive;
    WB_CALL(x, f, wb_prepare_to_wait(x, &p->rd, &f->e, false, WB_INTERRUPTIBLE));
    PIPE_UNLOCK(x, f, p);
    WB_CALL(x, f, wb_schedule(x));
    x->task->noninteractive = false;
    WB_CALL(x, f, wb_finish_wait(x, &p->rd, &f->e));
    PIPE_LOCK(x, f, p);
    WB_END();
}

void pipe_wait(struct wb_exec *x, struct pipe *p, enum pipe_by by)
{
    struct wait_call *f = WB_PUSH(x, wait_step, struct wait_call);
    f->p = p;
    f->h.note = (uint16_t)by;
}
