#include "pipe.h"

/*
 * A ring of slots, one queue for both sides (Linux 2.6.11 .. 5.4 fs/pipe.c).
 *
 * A write fills a slot per page and sleeps only when all are used; it wakes at its end after any copy, whether or not
 * the ring was empty. A read wakes the writers only when it has used up a whole slot. Which of the wakes are sync is
 * the version's.
 */

enum wb_ret pipe_ring_read_step(struct wb_exec *x, void *frame)
{
    struct pipe_call *f = frame;
    struct pipe *p = f->p;
    const struct pipe_state *st = p->st;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, st->fn.vfs_read);
    IPC_FGET(x, f, pipe_file_line(x, p, PIPE_READ_END), p->st->fn.fget);
    wb_charge_fn(x, st->fn.read);
    if (!f->left) goto leave;
    PIPE_LOCK(x, f, p);
    for (;;) {
        WB_LINE(x, f, p->line, WB_LINE_READ, st->fn.read);
        if (p->used) {
            pipe_open_slot(x, f);
            PIPE_COPY_OUT(x, f);
            WB_LINE(x, f, pipe_line_of_slot(p, 0), WB_LINE_WRITE, st->fn.read);
            if (pipe_slot_drained(x, f)) {
                WB_LINE(x, f, p->line, WB_LINE_WRITE, st->fn.read);
                pipe_free_slot(p);
                f->wake = true;
            }
            if (!f->left) break;
        }
        if (p->used) continue;
        if (!p->writers) break;
        if (f->ret && !(st->rules->syscall_merging && p->waiting_writers)) break;
        if (f->wake) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_READER, st->rules->sync_sleep));
        WB_CALL(x, f, pipe_wait(x, p, PIPE_BY_READER));
    }
    PIPE_UNLOCK(x, f, p);
    if (f->wake) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_READER, st->rules->sync_end));
leave:
    IPC_FGET(x, f, pipe_file_line(x, p, PIPE_READ_END), p->st->fn.fget);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->ret);
    WB_END();
}

enum wb_ret pipe_ring_write_step(struct wb_exec *x, void *frame)
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
    f->chars = p->readers ? pipe_mergeable(f) : 0;
    if (f->chars) {
        f->wake = true;
        WB_CALL(x, f, pipe_fill_last(x, f));
        if (!f->left) goto out;
    }
    for (;;) {
        if (!p->readers) {
            if (!f->ret) f->ret = PIPE_EPIPE;
            break;
        }
        if (!pipe_full(p)) {
            f->wake = true;
            pipe_take_slot(x, f);
            PIPE_COPY_IN(x, f);
            WB_LINE(x, f, pipe_line_of_slot(p, p->used), WB_LINE_WRITE, st->fn.write);
            WB_LINE(x, f, p->line, WB_LINE_WRITE, st->fn.write);
            pipe_append_slot(f);
            pipe_slot_filled(x, f);
            if (!f->left) break;
        }
        if (!pipe_full(p)) continue;
        if (f->wake) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_WRITER, st->rules->sync_sleep));
        f->wake = false;
        p->waiting_writers++;
        WB_CALL(x, f, pipe_wait(x, p, PIPE_BY_WRITER));
        p->waiting_writers--;
        WB_LINE(x, f, p->line, WB_LINE_READ, st->fn.write);
    }
out:
    PIPE_UNLOCK(x, f, p);
    if (f->wake) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_WRITER, st->rules->sync_end));
leave:
    IPC_FGET(x, f, pipe_file_line(x, p, PIPE_WRITE_END), p->st->fn.fget);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->ret);
    WB_END();
}
