#include "pipe.h"

/*
 * A ring of slots, a queue of exclusive sleepers for each side (Linux 5.5 and later fs/pipe.c).
 *
 * Wakes happen only when the ring stopped being empty or full, after the lock is dropped, always sync; a woken reader
 * or writer that leaves something passes the wake on to the next of its kind. A read returns as soon as it has
 * anything.
 */

struct event_call {
    struct wb_frame h;
    struct pipe *p;
    struct wb_wait_entry e;
}; /* h.note: enum pipe_by, and once it is on the queue EVENT_PREPARED */
enum { EVENT_BY = 1, EVENT_PREPARED = 2 };

/* pipe_readable() and pipe_writable(): looked at without the lock. */
static bool ready(const struct event_call *f)
{
    const struct pipe *p = f->p;
    return (f->h.note & EVENT_BY) == PIPE_BY_READER ? p->used || !p->writers : !pipe_full(p) || !p->readers;
}

static struct wb_waitq *queue_of(struct event_call *f)
{
    return (f->h.note & EVENT_BY) == PIPE_BY_READER ? &f->p->rd : &f->p->wr;
}

/* wait_event_interruptible_exclusive(): look, queue, look again, sleep. */
static enum wb_ret event_step(struct wb_exec *x, void *frame)
{
    struct event_call *f = frame;
    struct pipe *p = f->p;
    WB_BEGIN(f);
    f->e.task = x->task;
    f->e.autoremove = true;
    WB_LINE(x, f, p->line, WB_LINE_READ, p->st->fn.wait);
    WB_FLUSH(x, f);
    while (!ready(f)) {
        wb_charge_fn(x, p->st->fn.wait);
        WB_CALL(x, f, wb_prepare_to_wait(x, queue_of(f), &f->e, true, WB_INTERRUPTIBLE));
        f->h.note |= EVENT_PREPARED;
        WB_LINE(x, f, p->line, WB_LINE_READ, p->st->fn.wait);
        WB_FLUSH(x, f);
        if (ready(f)) break;
        wb_counter_add(x, p->st->count.sleeps[f->h.note & EVENT_BY], 1);
        WB_CALL(x, f, wb_schedule(x));
    }
    if (f->h.note & EVENT_PREPARED) WB_CALL(x, f, wb_finish_wait(x, queue_of(f), &f->e));
    WB_END();
}

static void wait_event(struct wb_exec *x, struct pipe *p, enum pipe_by by)
{
    struct event_call *f = WB_PUSH(x, event_step, struct event_call);
    f->p = p;
    f->h.note = (uint16_t)by;
}

enum wb_ret pipe_head_read_step(struct wb_exec *x, void *frame)
{
    struct pipe_call *f = frame;
    struct pipe *p = f->p;
    const struct pipe_state *st = p->st;
    const bool by_fullness = st->rules->wake_writer == PIPE_WAKE_WAS_FULL;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, st->fn.vfs_read);
    IPC_FGET(x, f, pipe_file_line(x, p, PIPE_READ_END), p->st->fn.fget);
    wb_charge_fn(x, st->fn.read);
    if (!f->left) goto leave;
    PIPE_LOCK(x, f, p);
    WB_LINE(x, f, p->line, WB_LINE_READ, st->fn.read);
    f->was = by_fullness && pipe_full(p);
    for (;;) {
        if (p->used) {
            f->wake = pipe_full(p);
            pipe_open_slot(x, f);
            PIPE_COPY_OUT(x, f);
            WB_LINE(x, f, pipe_line_of_slot(p, 0), WB_LINE_WRITE, st->fn.read);
            if (pipe_slot_drained(x, f)) {
                WB_LINE(x, f, p->line, WB_LINE_WRITE, st->fn.read);
                if (st->rules->publish_first) WB_SPIN_LOCK(x, f, &p->rd.lock);
                pipe_free_slot(p);
                if (st->rules->publish_first) WB_SPIN_UNLOCK(x, f, &p->rd.lock);
                if (f->wake) f->was = true; /* freed while full: implied by was_full before 6.18 */
            }
            if (!f->left) break;
            if (p->used) continue;
        }
        if (!p->writers || f->ret) break;
        PIPE_UNLOCK(x, f, p);
        if (f->was) WB_CALL(x, f, pipe_wake(x, p, &p->wr, PIPE_BY_READER, st->rules->sync_sleep));
        WB_CALL(x, f, wait_event(x, p, PIPE_BY_READER));
        PIPE_LOCK(x, f, p);
        WB_LINE(x, f, p->line, WB_LINE_READ, st->fn.read);
        f->was = by_fullness && pipe_full(p);
        f->chain = true;
    }
    if (!p->used) f->chain = false;
    PIPE_UNLOCK(x, f, p);
    if (f->was) WB_CALL(x, f, pipe_wake(x, p, &p->wr, PIPE_BY_READER, st->rules->sync_end));
    if (f->chain) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_READER, st->rules->sync_end));
leave:
    IPC_FGET(x, f, pipe_file_line(x, p, PIPE_READ_END), p->st->fn.fget);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->ret);
    WB_END();
}

enum wb_ret pipe_head_write_step(struct wb_exec *x, void *frame)
{
    struct pipe_call *f = frame;
    struct pipe *p = f->p;
    const struct pipe_state *st = p->st;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, st->fn.vfs_write);
    IPC_FGET(x, f, pipe_file_line(x, p, PIPE_WRITE_END), p->st->fn.fget);
    wb_charge_fn(x, st->fn.write);
    if (!f->left) goto leave;
    PIPE_LOCK(x, f, p);
    WB_LINE(x, f, p->line, WB_LINE_READ, st->fn.write);
    f->was = p->readers && !p->used;
    f->chars = p->readers ? pipe_mergeable(f) : 0;
    if (f->chars) {
        WB_CALL(x, f, pipe_fill_last(x, f));
        if (!f->left) goto out;
    }
    for (;;) {
        if (!p->readers) {
            if (!f->ret) f->ret = PIPE_EPIPE;
            break;
        }
        if (!pipe_full(p)) {
            pipe_take_slot(x, f);
            if (st->rules->publish_first) {
                WB_SPIN_LOCK(x, f, &p->rd.lock);
                pipe_append_slot(f);
                WB_SPIN_UNLOCK(x, f, &p->rd.lock);
            }
            PIPE_COPY_IN(x, f);
            WB_LINE(x, f, pipe_line_of_slot(p, p->used - st->rules->publish_first), WB_LINE_WRITE, st->fn.write);
            WB_LINE(x, f, p->line, WB_LINE_WRITE, st->fn.write);
            if (!st->rules->publish_first) pipe_append_slot(f);
            pipe_slot_filled(x, f);
            if (!f->left) break;
        }
        if (!pipe_full(p)) continue;
        PIPE_UNLOCK(x, f, p);
        if (f->was) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_WRITER, st->rules->sync_sleep));
        WB_CALL(x, f, wait_event(x, p, PIPE_BY_WRITER));
        PIPE_LOCK(x, f, p);
        WB_LINE(x, f, p->line, WB_LINE_READ, st->fn.write);
        f->was = !p->used;
        f->chain = true;
    }
out:
    if (pipe_full(p)) f->chain = false;
    PIPE_UNLOCK(x, f, p);
    if (f->was || p->poll_usage) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_WRITER, st->rules->sync_end));
    if (f->chain) WB_CALL(x, f, pipe_wake(x, p, &p->wr, PIPE_BY_WRITER, st->rules->sync_end));
leave:
    IPC_FGET(x, f, pipe_file_line(x, p, PIPE_WRITE_END), p->st->fn.fget);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->ret);
    WB_END();
}
