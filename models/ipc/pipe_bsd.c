#include "pipe.h"

/*
 * Pipes of FreeBSD 4.x and 5.2.1 (kern/sys_pipe.c pipe_read, pipe_write, pipe_direct_write, pipe_build_write_buffer).
 *
 * A circular buffer of 16 KiB, made 64 KiB by the first write of more than that. A write of 8192 bytes or more is
 * *direct*: the writer wires its own pages and sleeps until a reader has copied straight out of them, one buffer's
 * size at a time. Both sides sleep on one channel; the flags WANTR and WANTW say whether anybody has to be told, and
 * a reader tells a writer that waits for room only when less than a third of 16 KiB is left at the end of its call,
 * or when it is about to sleep itself. wakeup(9) knows no sync hint.
 *
 * The pipe's lock is held while copying, as PIPE_LOCKFL is. 4.x has the kernel's own lock above it (kernel.big_lock).
 */
#define BSD_PIPE_SIZE 16384u
#define BSD_BIG_PIPE_SIZE 65536u
#define BSD_MINDIRECT 8192u
#define BSD_MINPIPESIZE (BSD_PIPE_SIZE / 3)
#define BSD_PIPE_BUF 512u /* POSIX PIPE_BUF there */

/* A chunk on its way: between the caller's buffer and the pipe's, or straight from the writer's. */
struct bsd_chunk {
    struct wb_frame h;
    struct pipe_call *c;
    uint32_t end;
};

static void copied(struct wb_exec *x, struct pipe_call *c, bool in)
{
    struct pipe *p = c->p;
    const struct pipe_counters *n = &p->st->count;
    c->off += c->chars;
    c->left -= c->chars;
    c->ret += c->chars;
    wb_counter_add(x, in ? n->fills : n->drains, 1);
    if (!in && p->filled) wb_counter_add(x, n->handoffs, 1);
    p->filled = in;
}

static enum wb_ret fill_step(struct wb_exec *x, void *frame)
{
    struct bsd_chunk *f = frame;
    struct pipe_call *c = f->c;
    struct pipe *p = c->p;
    WB_BEGIN(f);
    wb_charge_fn(x, p->st->fn.buf);
    f->end = (p->start + p->len) & (p->bsd.size - 1);
    c->chars = (uint32_t)WB_MIN(c->left, WB_MIN(p->bsd.size - p->len, p->bsd.size - f->end));
    WB_COPY(x, f, WB_SPAN(c->buf, c->off, c->chars), WB_SPAN(p->page, f->end, c->chars), WB_FN_COPY_USER);
    WB_LINE(x, f, p->line, WB_LINE_WRITE, p->st->fn.write);
    p->len += c->chars;
    p->in += c->chars;
    copied(x, c, true);
    WB_END();
}

static enum wb_ret drain_step(struct wb_exec *x, void *frame)
{
    struct bsd_chunk *f = frame;
    struct pipe_call *c = f->c;
    struct pipe *p = c->p;
    WB_BEGIN(f);
    wb_charge_fn(x, p->st->fn.buf);
    c->chars = (uint32_t)WB_MIN(c->left, WB_MIN(p->len, p->bsd.size - p->start));
    WB_COPY(x, f, WB_SPAN(p->page, p->start, c->chars), WB_SPAN(c->buf, c->off, c->chars), WB_FN_COPY_USER);
    WB_LINE(x, f, p->line, WB_LINE_WRITE, p->st->fn.read);
    p->len -= c->chars;
    p->start = p->len ? (p->start + c->chars) & (p->bsd.size - 1) : 0; /* back to the front when empty */
    p->out += c->chars;
    copied(x, c, false);
    WB_END();
}

static enum wb_ret direct_step(struct wb_exec *x, void *frame)
{
    struct bsd_chunk *f = frame;
    struct pipe_call *c = f->c;
    struct pipe *p = c->p;
    WB_BEGIN(f);
    wb_charge_fn(x, p->st->fn.buf);
    c->chars = (uint32_t)WB_MIN(c->left, p->bsd.left);
    WB_COPY(x, f, WB_SPAN(p->bsd.buf, p->bsd.off, c->chars), WB_SPAN(c->buf, c->off, c->chars), WB_FN_COPY_USER);
    WB_LINE(x, f, p->line, WB_LINE_WRITE, p->st->fn.read);
    p->bsd.off += c->chars;
    p->bsd.left -= c->chars;
    p->in += c->chars;
    p->out += c->chars;
    p->filled = true; /* what is taken out was put there by a writer just before */
    copied(x, c, false);
    WB_END();
}

static void chunk(struct wb_exec *x, struct pipe_call *c, wb_step_fn step)
{
    WB_PUSH(x, step, struct bsd_chunk)->c = c;
}

/* Somebody on the other side has asked to be told. */
static bool claim(bool *want)
{
    bool was = *want;
    *want = false;
    return was;
}

enum wb_ret pipe_bsd_read_step(struct wb_exec *x, void *frame)
{
    struct pipe_call *f = frame;
    struct pipe *p = f->p;
    const struct pipe_state *st = p->st;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, st->fn.vfs_read);
    wb_charge_fn(x, st->fn.read);
    PIPE_LOCK(x, f, p);
    while (f->left) {
        WB_LINE(x, f, p->line, WB_LINE_READ, st->fn.read);
        if (p->len) {
            WB_CALL(x, f, chunk(x, f, drain_step));
        } else if (p->bsd.direct && p->bsd.left) {
            WB_CALL(x, f, chunk(x, f, direct_step));
            if (p->bsd.left) continue;
            p->bsd.direct = false;
            WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_READER, false));
        } else {
            if (!p->writers) break;
            if (claim(&p->bsd.want_w)) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_READER, false));
            if (f->ret) break;
            p->bsd.want_r = true;
            WB_CALL(x, f, pipe_wait(x, p, PIPE_BY_READER));
        }
    }
    if (p->len < BSD_MINPIPESIZE && claim(&p->bsd.want_w))
        WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_READER, false));
    PIPE_UNLOCK(x, f, p);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->ret);
    WB_END();
}

/* Wire the pages of the next part and offer it. */
static void offer(struct wb_exec *x, struct pipe_call *f)
{
    struct pipe *p = f->p;
    uint32_t page = p->st->page_bytes;
    p->bsd.direct = true;
    p->bsd.buf = f->buf;
    p->bsd.off = f->off;
    p->bsd.left = f->chars = (uint32_t)WB_MIN(f->left, p->bsd.size);
    for (uint32_t n = (f->chars + page - 1) / page; n; n--) wb_charge_fn(x, p->st->fn.wire);
}

static bool direct(const struct pipe_call *f)
{
    return f->left >= BSD_MINDIRECT;
}

/* A write of up to PIPE_BUF bytes goes in at once or not at all; nothing is added to 16 KiB or more. */
static bool has_room(const struct pipe_call *f)
{
    const struct pipe *p = f->p;
    uint32_t room = p->bsd.size - p->len;
    return room && p->len < BSD_PIPE_SIZE && (room >= f->left || f->min > BSD_PIPE_BUF);
}

static void grow(struct wb_exec *x, const struct pipe_call *f)
{
    struct pipe *p = f->p;
    if (f->left <= BSD_PIPE_SIZE || p->bsd.size > BSD_PIPE_SIZE || p->len || p->bsd.direct) return;
    wb_charge_fn(x, p->st->fn.alloc);
    p->bsd.size = BSD_BIG_PIPE_SIZE;
    p->start = 0;
}

enum wb_ret pipe_bsd_write_step(struct wb_exec *x, void *frame)
{
    struct pipe_call *f = frame;
    struct pipe *p = f->p;
    const struct pipe_state *st = p->st;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, st->fn.vfs_write);
    wb_charge_fn(x, st->fn.write);
    f->min = f->left;
    PIPE_LOCK(x, f, p);
    grow(x, f);
    while (f->left && p->readers) {
        WB_LINE(x, f, p->line, WB_LINE_WRITE, st->fn.write);
        if (direct(f) && !p->len && !p->bsd.direct) {
            offer(x, f);
            while (p->bsd.direct && p->readers) {
                if (claim(&p->bsd.want_r)) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_WRITER, false));
                WB_CALL(x, f, pipe_wait(x, p, PIPE_BY_WRITER));
            }
            f->chars -= p->bsd.direct ? p->bsd.left : 0; /* what was taken before the readers went */
            p->bsd.direct = false;
            f->off += f->chars;
            f->left -= f->chars;
            f->ret += f->chars;
            wb_counter_add(x, st->count.fills, 1);
            continue;
        }
        if (!direct(f) && has_room(f)) {
            WB_CALL(x, f, chunk(x, f, fill_step));
            continue;
        }
        if (claim(&p->bsd.want_r)) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_WRITER, false));
        p->bsd.want_w = true;
        WB_CALL(x, f, pipe_wait(x, p, PIPE_BY_WRITER));
    }
    if (!p->readers && !f->ret && f->left) f->ret = PIPE_EPIPE;
    if (p->len && claim(&p->bsd.want_r)) WB_CALL(x, f, pipe_wake(x, p, &p->rd, PIPE_BY_WRITER, false));
    PIPE_UNLOCK(x, f, p);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->ret);
    WB_END();
}
