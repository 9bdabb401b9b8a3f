#include "pipe.h"

/*
 * One page as a circular buffer, one queue for both sides (Linux 2.6.0 .. 2.6.10 fs/pipe.c pipe_readv, pipe_writev).
 *
 * A writer that finds too little room wakes (sync, lock held), counts itself among the waiting writers and sleeps. A
 * reader that has emptied the page goes on waiting for the rest of its request while writers wait ("syscall
 * merging"); it wakes before every such sleep and again, plainly, at the end: do_wakeup is set by the first chunk and
 * never cleared.
 */

enum wb_ret pipe_page_read_step(struct wb_exec *x, void *frame)
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
        if (p->len) {
            f->chars = (uint32_t)WB_MIN(f->left, WB_MIN(p->len, st->page_bytes - p->start));
            WB_CALL(x, f, pipe_drain_page(x, f));
            f->wake = true;
            if (!f->left) break;
        }
        if (p->len) continue; /* it wraps */
        if (!p->writers) break;
        if (!p->waiting_writers && f->ret) break;
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

enum wb_ret pipe_page_write_step(struct wb_exec *x, void *frame)
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
    f->min = f->left > PIPE_BUF_BYTES ? 1 : f->left;
    PIPE_LOCK(x, f, p);
    for (;;) {
        WB_LINE(x, f, p->line, WB_LINE_READ, st->fn.write);
        if (!p->readers) {
            if (!f->ret) f->ret = PIPE_EPIPE;
            break;
        }
        if (st->page_bytes - p->len >= f->min) {
            uint32_t end = (p->start + p->len) & (st->page_bytes - 1);
            f->chars = (uint32_t)WB_MIN(f->left, WB_MIN(st->page_bytes - p->len, st->page_bytes - end));
            f->wake = true;
            WB_CALL(x, f, pipe_fill_page(x, f));
            if (!f->left) break;
        }
        if (p->len < st->page_bytes && f->ret) { /* room is left at the front of the page */
            f->min = 1;
            continue;
        }
        if (f->wake) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_WRITER, st->rules->sync_sleep));
        f->wake = false;
        p->waiting_writers++;
        WB_CALL(x, f, pipe_wait(x, p, PIPE_BY_WRITER));
        p->waiting_writers--;
    }
    PIPE_UNLOCK(x, f, p);
    if (f->wake) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_WRITER, st->rules->sync_end));
leave:
    IPC_FGET(x, f, pipe_file_line(x, p, PIPE_WRITE_END), p->st->fn.fget);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->ret);
    WB_END();
}
