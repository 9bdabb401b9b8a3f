/* tcp_rcv.c - packets on their way in: tcp_v4_rcv(), tcp_rcv_established(), tcp_ack(). Linux 2.6.22
 * net/ipv4/tcp_ipv4.c, tcp_input.c; include/net/tcp.h tcp_prequeue(). */
#include "tcp.h"

/* ---- references to buffers ---- */

struct release {
    struct wb_frame h;
    struct tcp_state *st;
    struct skb *b;
    bool last;
};

/* struct skb_shared_info, which has the count of references, lies behind the data. */
static uint32_t shared_info(const struct skb_pool *p, const struct skb *b)
{
    uint32_t room = p->page_bytes - p->touched - 64;
    return p->touched + ((WB_MIN(b->len, room) + 63) & ~63u);
}

/* The count moves between sender and receiver, if the buffer was ever cloned. */
static enum wb_ret release_step(struct wb_exec *x, void *frame)
{
    struct release *f = frame;
    const struct skb_pool *pool = &f->st->pool;
    WB_BEGIN(f);
    net_charge(x, f->st->net.fn.release_data);
    WB_FLUSH(x, f);
    f->last = !--f->b->cookie[TCP_REFS];
    if (f->b->cookie[TCP_CLONED])
        WB_TOUCH(x, f, WB_SPAN(f->b->page, shared_info(pool, f->b), 64), WB_RANDOM, WB_WRITE,
                 f->st->net.fn.release_data);
    if (f->last) skb_put(x, &f->st->pool, f->b);
    WB_END();
}

void tcp_release(struct wb_exec *x, struct tcp_state *st, struct skb *b)
{
    struct release *f = WB_PUSH(x, release_step, struct release);
    f->st = st;
    f->b = b;
}

/* ---- ACKs ---- */

struct ack {
    struct wb_frame h;
    struct tcp_sock *k;
    uint64_t ack;
    bool freed;
};

static bool acked(const struct ack *f)
{
    const struct skb *b = f->k->rtx.first;
    return b && f->k->snd_una + b->len <= f->ack;
}

/* sk_stream_write_space(): a third of the buffer is free. */
static bool has_room(const struct tcp_sock *k)
{
    return k->k.wmem < k->k.sndbuf && k->k.sndbuf - k->k.wmem >= k->k.wmem / 2;
}

static enum wb_ret ack_step(struct wb_exec *x, void *frame)
{
    struct ack *f = frame;
    struct tcp_sock *k = f->k;
    struct skb *b;
    WB_BEGIN(f);
    IPC_LINE(x, f, k->tx_line, WB_LINE_WRITE, k->st->fn.ack);
    net_charge(x, k->st->fn.ack);
    if (acked(f)) net_charge(x, k->st->fn.clean_rtx);
    while (acked(f)) {
        b = skb_remove_first(&k->rtx);
        k->snd_una += b->len;
        k->k.wmem -= b->truesize;
        f->freed = true;
        WB_CALL(x, f, tcp_release(x, k->st, b));
    }
    if (f->freed && k->k.nospace && has_room(k)) {
        k->k.nospace = false;
        WB_CALL(x, f, tcp_wake(x, k, TCP_WAKE_ROOM));
    }
    WB_END();
}

static void take_ack(struct wb_exec *x, struct tcp_sock *k, const struct net_packet *p)
{
    k->snd_right = WB_MAX(k->snd_right, p->right);
    struct ack *f = WB_PUSH(x, ack_step, struct ack);
    f->k = k;
    f->ack = p->ack;
}

/* ---- data ---- */

struct input {
    struct wb_frame h;
    struct tcp_sock *k;
    struct net_packet *p;
    bool eaten;
};

/* May the task that owns the socket copy it to its buffer at once? */
static bool direct(const struct wb_exec *x, const struct input *f)
{
    const struct tcp_sock *k = f->k;
    return x->level == WB_LEVEL_TASK && k->ucopy.task == x->task && !k->rx.first && f->p->bytes <= k->ucopy.left;
}

static void copied_to_user(struct wb_exec *x, struct input *f)
{
    struct tcp_sock *k = f->k;
    k->ucopy.off += f->p->bytes;
    k->ucopy.left -= f->p->bytes;
    k->copied += f->p->bytes;
    net_charge(x, k->st->fn.space_adjust);
    f->eaten = true;
}

/* Data for a socket that is closed: the other end is reset. */
static void throw_away(struct input *f)
{
    struct tcp_sock *k = f->k;
    k->dropped += f->p->bytes;
    k->peer->k.shutdown |= SOCK_RCV_SHUTDOWN | SOCK_SEND_SHUTDOWN;
    f->eaten = true;
}

static enum wb_ret data_step(struct wb_exec *x, void *frame)
{
    struct input *f = frame;
    struct tcp_sock *k = f->k;
    struct tcp_state *st = k->st;
    WB_BEGIN(f);
    k->rcv_nxt += f->p->bytes;
    k->pushed++;
    if (k->k.dead) {
        throw_away(f);
        WB_CALL(x, f, tcp_wake(x, k->peer, TCP_WAKE_STATE));
    } else if (direct(x, f)) {
        x->task->state = WB_RUNNING; /* it may be about to sleep in sk_wait_data() */
        SKB_USE(x, f, &st->pool, (&(struct skb_move){f->p->skb, 0, f->p->bytes, k->ucopy.buf, k->ucopy.off}), SKB_OUT,
                st->fn.established);
        copied_to_user(x, f);
    } else {
        k->k.rmem += f->p->skb->truesize;
        net_append(&k->rx, f->p);
    }
    if (k->rcv_nxt - k->rcv_wup > st->mss)
        WB_CALL(x, f, tcp_send_ack(x, k, false));
    else
        net_charge(x, st->fn.delayed_ack);
    if (f->eaten) {
        WB_CALL(x, f, tcp_release(x, st, f->p->skb));
        net_packet_put(&st->net, f->p);
    } else {
        WB_CALL(x, f, tcp_wake(x, k, TCP_WAKE_DATA));
    }
    WB_END();
}

static void take_data(struct wb_exec *x, struct tcp_sock *k, struct net_packet *p)
{
    struct input *f = WB_PUSH(x, data_step, struct input);
    f->k = k;
    f->p = p;
}

static enum wb_ret rcv_step(struct wb_exec *x, void *frame)
{
    struct input *f = frame;
    struct tcp_sock *k = f->k;
    struct tcp_state *st = k->st;
    WB_BEGIN(f);
    IPC_LINE(x, f, k->rx_line, WB_LINE_WRITE, st->fn.established);
    net_charge(x, st->fn.established);
    /* a softirq finds the head where the sender has just written it; who copies looks at both at once */
    if (x->level == WB_LEVEL_TASK && !(f->p->bytes && direct(x, f)))
        SKB_LOOK(x, f, &st->pool, f->p->skb, st->fn.established);
    if (f->p->ack > k->snd_una || f->p->right > k->snd_right) WB_CALL(x, f, take_ack(x, k, f->p));
    if (f->p->bytes) {
        WB_CALL(x, f, take_data(x, k, f->p));
    } else {
        if (f->p->fin) {
            k->k.shutdown |= SOCK_RCV_SHUTDOWN;
            WB_CALL(x, f, tcp_wake(x, k, TCP_WAKE_STATE));
        }
        WB_CALL(x, f, tcp_release(x, st, f->p->skb));
        net_packet_put(&st->net, f->p);
    }
    if (tcp_may_send(k)) WB_CALL(x, f, tcp_push(x, k));
    WB_END();
}

void tcp_do_rcv(struct wb_exec *x, struct tcp_sock *k, struct net_packet *p)
{
    struct input *f = WB_PUSH(x, rcv_step, struct input);
    f->k = k;
    f->p = p;
}

/* ---- tcp_v4_rcv(): in the softirq, under the socket's spinlock ---- */

/* The prequeue has outgrown the receive buffer: the softirq does the work after all. */
static bool prequeue_full(const struct tcp_sock *k)
{
    uint64_t bytes = 0;
    if (k->prequeue.len < 16) return false;
    for (const struct net_packet *p = k->prequeue.first; p; p = p->next) bytes += p->skb->truesize;
    return bytes > k->k.rcvbuf;
}

static enum wb_ret v4_step(struct wb_exec *x, void *frame)
{
    struct input *f = frame;
    struct tcp_sock *k = f->k;
    struct tcp_state *st = k->st;
    WB_BEGIN(f);
    net_charge(x, st->fn.v4_rcv);
    WB_SPIN_LOCK(x, f, &k->k.lock);
    if (k->owned) {
        WB_LINE(x, f, k->k.rmem_line, WB_LINE_WRITE, st->fn.v4_rcv);
        net_append(&k->backlog, f->p);
        tcp_count(x, st, TCP_BACKLOGGED, 1);
    } else if (st->prequeue && k->ucopy.task) {
        IPC_LINE(x, f, k->rx_line, WB_LINE_WRITE, st->fn.prequeue);
        net_charge(x, st->fn.prequeue);
        net_append(&k->prequeue, f->p);
        tcp_count(x, st, TCP_PREQUEUED, 1);
        if (prequeue_full(k)) {
            while ((f->p = net_remove_first(&k->prequeue))) WB_CALL(x, f, tcp_do_rcv(x, k, f->p));
        } else if (k->prequeue.len == 1) {
            WB_CALL(x, f, tcp_wake(x, k, TCP_WAKE_PREQUEUE));
            net_charge(x, st->fn.mod_timer);
        }
    } else {
        WB_CALL(x, f, tcp_do_rcv(x, k, f->p));
    }
    WB_SPIN_UNLOCK(x, f, &k->k.lock);
    WB_END();
}

void tcp_receive(struct wb_exec *x, struct net_packet *p)
{
    struct input *f = WB_PUSH(x, v4_step, struct input);
    f->k = p->to;
    f->p = p;
}
