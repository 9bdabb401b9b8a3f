#include "unix.h"

/* ---- freeing ---- */

struct free_call {
    struct wb_frame h;
    struct unix_state *st;
    struct unix_end *peer;
    struct skb *b;
};

/* Linux 2.6.35 net/unix/af_unix.c unix_writable(): at most a quarter of the send buffer is in use. */
static bool is_writable(const struct sock_core *k)
{
    return (uint64_t)k->wmem * 4 <= k->sndbuf;
}

/*
 * Linux 2.6.35 net/core/sock.c sock_wfree(): all but one byte is given back, then sk_write_space() is called, then
 * the last one: two locked operations on the sender's socket (before 2.6.31 the second one was on sk_refcnt, beside
 * it). The wake is for all who wait for room.
 */
static enum wb_ret free_step(struct wb_exec *x, void *frame)
{
    struct free_call *f = frame;
    struct unix_state *st = f->st;
    struct sock_core *k = &f->peer->k;
    WB_BEGIN(f);
    if (f->b->cookie[0] != WB_NO_LINE)
        WB_CALL(x, f, unix_cred_put(x, st, f->b->cookie[0], f->b->cookie[1], st->fn.destruct_scm));
    wb_charge_fn(x, st->fn.wfree);
    WB_LINE(x, f, k->wmem_line, WB_LINE_RMW, st->fn.wfree);
    k->wmem -= f->b->truesize;
    wb_charge_fn(x, st->fn.write_space);
    if (is_writable(k)) {
        WB_CALL(x, f,
                sock_wake(x, k,
                          &(struct sock_wake){.fn = st->fn.write_space,
                                              .callback_lock = st->rules->callback_lock,
                                              .sync = st->rules->sync_space,
                                              .nr_exclusive = 1}));
        if (x->ret >= 0) wb_counter_add(x, st->count.space_wakes, 1);
        if (x->ret > 0) wb_counter_add(x, st->count.space_woken, (uint64_t)x->ret);
    } else if (st->rules->callback_lock) { /* looked at under the lock */
        IPC_LINE(x, f, k->callback_line, WB_LINE_RMW, st->fn.write_space);
        IPC_LINE(x, f, k->callback_line, WB_LINE_RMW, st->fn.write_space);
    }
    wb_line_soon(x, k->wmem_line, WB_LINE_RMW, st->fn.wfree);
    skb_put(x, &st->pool, f->b);
    WB_END();
}

void unix_free_skb(struct wb_exec *x, struct unix_state *st, struct unix_end *peer, struct skb *b)
{
    struct free_call *f = WB_PUSH(x, free_step, struct free_call);
    f->st = st;
    f->peer = peer;
    f->b = b;
}

/* ---- waiting for data ---- */

struct data_wait {
    struct wb_frame h;
    struct unix_pair *u;
    struct sock_core *k;
    struct wb_wait_entry e;
    bool sleep;
};

static bool has_news(const struct wb_exec *x, const struct sock_core *k)
{
    return k->rx.first || k->shutdown & SOCK_RCV_SHUTDOWN || x->task->killed;
}

/* Linux 2.6.35 net/unix/af_unix.c unix_stream_data_wait(): looks under the socket's lock, sleeps without it. */
static enum wb_ret data_wait_step(struct wb_exec *x, void *frame)
{
    struct data_wait *f = frame;
    const struct unix_state *st = f->u->st;
    WB_BEGIN(f);
    wb_charge_fn(x, st->fn.data_wait);
    f->e.autoremove = true; /* DEFINE_WAIT: a waker takes it off, be it for room in the send buffer */
    WB_SPIN_LOCK(x, f, &f->k->lock);
    for (;;) {
        WB_CALL(x, f, wb_prepare_to_wait(x, &f->k->wait, &f->e, false, WB_INTERRUPTIBLE));
        WB_LINE(x, f, f->k->rx.lock.line, WB_LINE_READ, st->fn.data_wait);
        WB_FLUSH(x, f);
        if (has_news(x, f->k)) break;
        WB_SPIN_UNLOCK(x, f, &f->k->lock);
        wb_counter_add(x, st->count.sleeps_receiver, 1);
        WB_CALL(x, f, wb_schedule(x));
        WB_SPIN_LOCK(x, f, &f->k->lock);
    }
    WB_CALL(x, f, wb_finish_wait(x, &f->k->wait, &f->e));
    WB_SPIN_UNLOCK(x, f, &f->k->lock);
    WB_END();
}

static void wait_for_data(struct wb_exec *x, struct unix_call *c)
{
    struct data_wait *f = WB_PUSH(x, data_wait_step, struct data_wait);
    f->u = c->u;
    f->k = &c->me->k;
}

/* ---- the next buffer ---- */

struct take_call {
    struct wb_frame h;
    struct unix_call *c;
};

/* c->b = the first buffer of the queue, taken off, or NULL; x->ret = 1 at the end of the stream. */
static enum wb_ret take_step(struct wb_exec *x, void *frame)
{
    struct take_call *f = frame;
    struct unix_call *c = f->c;
    struct sock_core *k = &c->me->k;
    WB_BEGIN(f);
    WB_SPIN_LOCK(x, f, &k->lock);
    wb_irq_disable(x);
    SOCK_LOCK_INNER(x, f, &k->rx.lock);
    c->b = skb_remove_first(&k->rx);
    if (c->b) __builtin_prefetch(wb_page_note(wb_machine_state_of(x->sim), c->b->page));
    if (c->b) c->me->hand += c->b->len - c->b->off;
    SOCK_UNLOCK_BOTH(x, f, &k->rx.lock, &k->lock);
    wb_irq_enable(x);
    WB_RETURN(x, !c->b && k->shutdown & SOCK_RCV_SHUTDOWN);
    WB_END();
}

static void take_skb(struct wb_exec *x, struct unix_call *c)
{
    struct take_call *f = WB_PUSH(x, take_step, struct take_call);
    f->c = c;
}

static const struct skb_move *payload(const struct unix_call *c, struct skb_move *m)
{
    *m = (struct skb_move){.b = c->b, .at = c->b->off, .n = c->n, .buf = c->buf, .buf_off = c->off};
    return m;
}

/* What a read does with a buffer that it has taken off: credentials, copy, free or put back. */
static enum wb_ret use_step(struct wb_exec *x, void *frame)
{
    struct take_call *f = frame;
    struct unix_call *c = f->c;
    struct unix_state *st = c->u->st;
    struct sock_core *k = &c->me->k;
    struct skb_move m;
    WB_BEGIN(f);
    if (c->pid_line == WB_NO_LINE && c->b->cookie[0] != WB_NO_LINE) {
        c->pid_line = c->b->cookie[0];
        c->cred_line = c->b->cookie[1];
        WB_CALL(x, f, unix_cred_set(x, st, c->pid_line, c->cred_line, st->fn.recvmsg));
    }
    c->n = (uint32_t)WB_MIN(c->left, c->b->len - c->b->off);
    SKB_USE(x, f, &st->pool, payload(c, &m), SKB_OUT, st->fn.recvmsg);
    c->b->off += c->n;
    c->me->hand -= c->n;
    k->out += c->n;
    c->off += c->n;
    c->left -= c->n;
    c->ret += c->n;
    if (c->b->off == c->b->len) {
        WB_CALL(x, f, unix_free_skb(x, st, c->peer, c->b));
        WB_RETURN(x, 0);
    }
    wb_irq_disable(x);
    WB_SPIN_LOCK(x, f, &k->rx.lock);
    skb_push_first(&k->rx, c->b);
    c->me->hand -= c->b->len - c->b->off;
    WB_SPIN_UNLOCK(x, f, &k->rx.lock);
    wb_irq_enable(x);
    WB_RETURN(x, 0);
    WB_END();
}

static void use_skb(struct wb_exec *x, struct unix_call *c)
{
    struct take_call *f = WB_PUSH(x, use_step, struct take_call);
    f->c = c;
}

/* ---- unix_stream_recvmsg() ---- */

struct lock_call {
    struct wb_frame h;
    struct unix_call *c;
};

static enum wb_ret lock_step(struct wb_exec *x, void *frame)
{
    struct lock_call *f = frame;
    WB_BEGIN(f);
    WB_CALL_NOW(x, f, wb_sleeplock_lock_now(x, f, &f->c->me->readlock));
    if (x->ret) wb_counter_add(x, f->c->u->st->count.lock_sleeps, (uint64_t)x->ret);
    WB_END();
}

static void take_readlock(struct wb_exec *x, struct unix_call *c)
{
    struct lock_call *f = WB_PUSH(x, lock_step, struct lock_call);
    f->c = c;
}

enum wb_ret unix_recv_step(struct wb_exec *x, void *frame)
{
    struct unix_call *f = frame;
    struct unix_state *st = f->u->st;
    WB_BEGIN(f);
    __builtin_prefetch(f->me->k.rx.first); /* one of thousands: hackbench waits for these more than for anything else */
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, st->fn.vfs_read);
    IPC_FGET(x, f, f->me->k.file_line, st->fn.fget);
    wb_charge_fn(x, st->fn.sock_recvmsg);
    WB_CALL(x, f, take_readlock(x, f));
    while (f->left) {
        WB_CALL(x, f, take_skb(x, f));
        if (f->b) {
            wb_charge_fn(x, st->fn.recvmsg); /* of each buffer: a look that finds none costs its locks */
            WB_CALL(x, f, use_skb(x, f));
            continue;
        }
        if (x->ret || f->ret) break;
        WB_CALL_NOW(x, f, wb_sleeplock_unlock_now(x, f, &f->me->readlock));
        WB_CALL(x, f, wait_for_data(x, f));
        if (x->task->killed) {
            f->ret = IPC_EINTR;
            goto out;
        }
        WB_CALL(x, f, take_readlock(x, f));
    }
    WB_CALL_NOW(x, f, wb_sleeplock_unlock_now(x, f, &f->me->readlock));
    if (f->pid_line != WB_NO_LINE) WB_CALL(x, f, unix_cred_put(x, st, f->pid_line, f->cred_line, st->fn.recvmsg));
out:
    IPC_FGET(x, f, f->me->k.file_line, st->fn.fget);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->ret);
    WB_END();
}
