#include "unix.h"

/* ---- room ---- */

struct room_wait {
    struct wb_frame h;
    struct unix_pair *u;
    struct sock_core *k;
    struct wb_wait_entry e;
};

static bool must_wait(const struct sock_core *k)
{
    return k->wmem >= k->sndbuf && !(k->shutdown & SOCK_SEND_SHUTDOWN);
}

/* Linux 2.6.35 net/core/sock.c sock_wait_for_wmem(): non-exclusive, so that a free wakes all. */
static enum wb_ret room_step(struct wb_exec *x, void *frame)
{
    struct room_wait *f = frame;
    const struct unix_state *st = f->u->st;
    WB_BEGIN(f);
    wb_charge_fn(x, st->fn.wait_wmem);
    f->k->nospace = true;
    f->e.autoremove = true;
    wb_counter_add(x, st->count.sleeps_sender, 1);
    for (;;) {
        WB_CALL(x, f, wb_prepare_to_wait(x, &f->k->wait, &f->e, false, WB_INTERRUPTIBLE));
        WB_LINE(x, f, f->k->wmem_line, WB_LINE_READ, st->fn.wait_wmem);
        WB_FLUSH(x, f);
        if (!must_wait(f->k) || x->task->killed) break;
        WB_CALL(x, f, wb_schedule(x));
    }
    WB_CALL(x, f, wb_finish_wait(x, &f->k->wait, &f->e));
    WB_END();
}

static void wait_for_room(struct wb_exec *x, struct unix_call *c)
{
    struct room_wait *f = WB_PUSH(x, room_step, struct room_wait);
    f->u = c->u;
    f->k = &c->me->k;
}

/* ---- one buffer: sock_alloc_send_pskb() ---- */

struct alloc_call {
    struct wb_frame h;
    struct unix_call *c;
};

/* x->ret: 0, IPC_EPIPE or IPC_EINTR. Senders that pass the check together may all go over the limit, as they do
 * there. */
static enum wb_ret alloc_step(struct wb_exec *x, void *frame)
{
    struct alloc_call *f = frame;
    struct unix_call *c = f->c;
    struct unix_state *st = c->u->st;
    struct sock_core *k = &c->me->k;
    WB_BEGIN(f);
    wb_charge_fn(x, st->fn.alloc);
    WB_LINE(x, f, k->wmem_line, WB_LINE_READ, st->fn.alloc);
    while (must_wait(k)) {
        if (x->task->killed) WB_RETURN(x, IPC_EINTR);
        WB_CALL(x, f, wait_for_room(x, c));
        WB_LINE(x, f, k->wmem_line, WB_LINE_READ, st->fn.alloc);
    }
    if (k->shutdown & SOCK_SEND_SHUTDOWN) WB_RETURN(x, IPC_EPIPE);
    /* Charged at the time of the check; there a buffer is allocated in between. */
    c->b = skb_take(x, &st->pool, c->n);
    c->b->cookie[0] = c->b->cookie[1] = WB_NO_LINE;
    wb_line_soon(x, k->wmem_line, WB_LINE_RMW, st->fn.alloc);
    k->wmem += c->b->truesize;
    WB_RETURN(x, 0);
    WB_END();
}

static void alloc_skb(struct wb_exec *x, struct unix_call *c)
{
    struct unix_state *st = c->u->st;
    uint64_t half = c->me->k.sndbuf / 2 - 64;
    c->n = (uint32_t)WB_MIN(WB_MIN(c->left, half), st->rules->max_bytes);
    struct alloc_call *f = WB_PUSH(x, alloc_step, struct alloc_call);
    f->c = c;
}

/* ---- queueing ---- */

struct queue_call {
    struct wb_frame h;
    struct unix_call *c;
    int64_t ret;
};

static enum wb_ret queue_step(struct wb_exec *x, void *frame)
{
    struct queue_call *f = frame;
    struct unix_call *c = f->c;
    const struct unix_state *st = c->u->st;
    struct sock_core *k = &c->peer->k;
    WB_BEGIN(f);
    WB_SPIN_LOCK(x, f, &k->lock);
    if (k->dead || k->shutdown & SOCK_RCV_SHUTDOWN) {
        f->ret = IPC_EPIPE;
    } else {
        wb_irq_disable(x);
        SOCK_LOCK_INNER(x, f, &k->rx.lock);
        skb_append(&k->rx, c->b);
        k->in += c->n;
        SOCK_UNLOCK_BOTH(x, f, &k->rx.lock, &k->lock);
        wb_irq_enable(x);
    }
    if (f->ret) {
        WB_SPIN_UNLOCK(x, f, &k->lock);
        WB_CALL(x, f, unix_free_skb(x, c->u->st, c->me, c->b));
        WB_RETURN(x, f->ret);
    }
    wb_counter_add(x, st->count.messages, 1);
    WB_CALL(x, f,
            sock_wake(x, k,
                      &(struct sock_wake){.fn = st->fn.readable,
                                          .callback_lock = st->rules->callback_lock,
                                          .sync = st->rules->sync_data,
                                          .nr_exclusive = 1}));
    if (x->ret >= 0) wb_counter_add(x, st->count.data_wakes, 1);
    if (x->ret > 0) wb_counter_add(x, st->count.data_woken, (uint64_t)x->ret);
    WB_RETURN(x, 0);
    WB_END();
}

static void queue_skb(struct wb_exec *x, struct unix_call *c)
{
    struct queue_call *f = WB_PUSH(x, queue_step, struct queue_call);
    f->c = c;
}

/* ---- unix_stream_sendmsg() ---- */

static const struct skb_move *payload(const struct unix_call *f, struct skb_move *m)
{
    *m = (struct skb_move){.b = f->b, .at = 0, .n = f->n, .buf = f->buf, .buf_off = f->off};
    return m;
}

enum wb_ret unix_send_step(struct wb_exec *x, void *frame)
{
    struct unix_call *f = frame;
    struct unix_state *st = f->u->st;
    struct skb_move m;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, st->fn.vfs_write);
    IPC_FGET(x, f, f->me->k.file_line, st->fn.fget);
    wb_charge_fn(x, st->fn.sock_sendmsg);
    if (st->creds) {
        f->pid_line = wb_task_pid_line(x->task);
        f->cred_line = f->pid_line + 1;
        WB_CALL(x, f, unix_cred_set(x, st, f->pid_line, f->cred_line, st->fn.sendmsg));
    }
    while (f->left) {
        wb_charge_fn(x, st->fn.sendmsg);
        WB_CALL(x, f, alloc_skb(x, f));
        if (x->ret < 0) break;
        if (st->creds) WB_CALL(x, f, unix_cred_attach(x, st, f->b, f->pid_line, f->cred_line));
        SKB_USE(x, f, &st->pool, payload(f, &m), SKB_IN, st->pool.fn_alloc);
        WB_CALL(x, f, queue_skb(x, f));
        if (x->ret < 0) break;
        f->off += f->n;
        f->left -= f->n;
        f->ret += f->n;
    }
    if (f->left && !f->ret) f->ret = x->ret;
    if (st->creds) WB_CALL(x, f, unix_cred_put(x, st, f->pid_line, f->cred_line, st->fn.sendmsg));
    IPC_FGET(x, f, f->me->k.file_line, st->fn.fget);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->ret);
    WB_END();
}
