/* tcp_recv.c - tcp_recvmsg(): taking data, sleeping for it, the prequeue worked off by the reader. Linux 2.6.22
 * net/ipv4/tcp.c. */
#include "tcp.h"

struct recv_call {
    struct wb_frame h;
    struct tcp_sock *k;
    struct net_packet *p;
    uint32_t buf, n;
    uint64_t off, left;
    int64_t why; /* 0: end of the stream, or -EINTR */
    bool mine;   /* this call is the one that ucopy speaks of */
};

/* ---- sleeping ---- */

struct wait_data {
    struct wb_frame h;
    struct tcp_sock *k;
    struct wb_wait_entry e;
};

/* sk_wait_data(): the socket is given back for the sleep; the backlog that this works off may bring the data. A
 * prequeued segment does not keep it awake by itself: its wake does. */
static enum wb_ret wait_step(struct wb_exec *x, void *frame)
{
    struct wait_data *f = frame;
    struct tcp_sock *k = f->k;
    WB_BEGIN(f);
    net_charge(x, k->st->fn.wait_data);
    tcp_count(x, k->st, TCP_SLEEPS_DATA, 1);
    f->e.autoremove = true;
    WB_CALL(x, f, wb_prepare_to_wait(x, &k->k.wait, &f->e, false, WB_INTERRUPTIBLE));
    TCP_DISOWN(x, f, k);
    if (!k->rx.first && !(k->k.shutdown & SOCK_RCV_SHUTDOWN) && !x->task->killed) WB_CALL(x, f, wb_schedule(x));
    TCP_OWN(x, f, k);
    WB_CALL(x, f, wb_finish_wait(x, &k->k.wait, &f->e));
    WB_END();
}

static void wait_data(struct wb_exec *x, struct tcp_sock *k)
{
    struct wait_data *f = WB_PUSH(x, wait_step, struct wait_data);
    f->k = k;
}

/* ---- the prequeue ---- */

struct prequeue {
    struct wb_frame h;
    struct tcp_sock *k;
    struct net_packet *p;
};

/* tcp_prequeue_process(): with softirqs off. */
static enum wb_ret prequeue_step(struct wb_exec *x, void *frame)
{
    struct prequeue *f = frame;
    WB_BEGIN(f);
    wb_bh_disable(x);
    while ((f->p = net_remove_first(&f->k->prequeue))) WB_CALL(x, f, tcp_do_rcv(x, f->k, f->p));
    WB_FLUSH(x, f);
    wb_bh_enable(x);
    WB_FLUSH(x, f);
    WB_END();
}

static void work_off_prequeue(struct wb_exec *x, struct tcp_sock *k)
{
    struct prequeue *f = WB_PUSH(x, prequeue_step, struct prequeue);
    f->k = k;
}

/* Packets in the backlog and prequeue may be copied to this call's buffer from now on. */
static void install(struct wb_exec *x, struct recv_call *f)
{
    struct tcp_sock *k = f->k;
    if (f->mine || !k->st->prequeue || k->ucopy.task) return;
    f->mine = true;
    k->ucopy.task = x->task;
    k->ucopy.buf = f->buf;
    k->ucopy.off = f->off;
    k->ucopy.left = (uint32_t)WB_MIN(f->left, (uint64_t)UINT32_MAX);
}

/* What came that way counts for the call. */
static void settle(struct recv_call *f)
{
    if (!f->mine) return;
    uint64_t n = f->k->ucopy.off - f->off;
    f->off += n;
    f->left -= n;
}

/* ---- the receive queue ---- */

static enum wb_ret take_step(struct wb_exec *x, void *frame)
{
    struct recv_call *f = frame;
    struct tcp_sock *k = f->k;
    struct tcp_state *st = k->st;
    WB_BEGIN(f);
    while (f->left && (f->p = k->rx.first)) {
        f->n = (uint32_t)WB_MIN(f->left, (uint64_t)(f->p->bytes - f->p->off));
        SKB_USE(x, f, &st->pool, (&(struct skb_move){f->p->skb, f->p->off, f->n, f->buf, f->off}), SKB_OUT,
                st->fn.recvmsg);
        net_charge(x, st->fn.space_adjust);
        f->p->off += f->n;
        f->off += f->n;
        f->left -= f->n;
        k->copied += f->n;
        if (f->p->off < f->p->bytes) continue;
        (void)net_remove_first(&k->rx);
        k->k.rmem -= f->p->skb->truesize;
        WB_CALL(x, f, tcp_release(x, st, f->p->skb));
        net_packet_put(&st->net, f->p);
    }
    WB_RETURN(x, (int64_t)f->off);
    WB_END();
}

static void take_queued(struct wb_exec *x, const struct recv_call *call)
{
    struct recv_call *f = WB_PUSH(x, take_step, struct recv_call);
    f->k = call->k;
    f->buf = call->buf;
    f->off = call->off;
    f->left = call->left;
}

/* ---- tcp_cleanup_rbuf() ---- */

/* Twice what the other end knows of is worth telling, if it knows of less than half. */
static bool window_opens(const struct tcp_sock *k)
{
    uint64_t now = k->rcv_right - k->rcv_nxt, open = tcp_window_right(k) - k->rcv_nxt;
    return 2 * now <= (uint64_t)k->k.rcvbuf / 4 * 3 && open >= k->st->mss && open >= 2 * now;
}

static bool ack_now(const struct tcp_sock *k, bool copied)
{
    if (k->k.dead) return false;
    if (k->rcv_nxt - k->rcv_wup > k->st->mss) return true;
    if (!copied) return false;
    if (!k->k.rmem && (k->pushed > 1 || (k->pushed && !k->pingpong))) return true;
    return window_opens(k);
}

/* ---- the call ---- */

static bool at_end(struct wb_exec *x, struct recv_call *f)
{
    const struct tcp_sock *k = f->k;
    if (!f->left || (f->off && !k->backlog.first)) return true;
    if (f->off) return false;
    if (x->task->killed) f->why = IPC_EINTR;
    return x->task->killed || (k->k.shutdown & SOCK_RCV_SHUTDOWN && !k->prequeue.first && !k->backlog.first);
}

static enum wb_ret recv_step(struct wb_exec *x, void *frame)
{
    struct recv_call *f = frame;
    struct tcp_sock *k = f->k;
    struct tcp_state *st = k->st;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    net_charge(x, st->net.fn.sys_recvfrom);
    IPC_FGET(x, f, k->k.file_line, st->net.fn.sys_recvfrom);
    TCP_OWN(x, f, k);
    IPC_LINE(x, f, k->rx_line, WB_LINE_WRITE, st->fn.recvmsg);
    net_charge(x, st->fn.recvmsg);
    for (;;) {
        if (k->rx.first) {
            WB_CALL(x, f, take_queued(x, f));
            f->left -= (uint64_t)x->ret - f->off;
            f->off = (uint64_t)x->ret;
            if (f->mine) k->ucopy.off = f->off, k->ucopy.left = (uint32_t)WB_MIN(f->left, (uint64_t)UINT32_MAX);
        }
        if (at_end(x, f)) break;
        install(x, f);
        if (f->off) {
            TCP_DISOWN(x, f, k);
            TCP_OWN(x, f, k);
        } else if (!f->mine || !k->prequeue.first) {
            WB_CALL(x, f, wait_data(x, k));
        }
        settle(f);
        if (f->mine && k->prequeue.first && !k->rx.first) WB_CALL(x, f, work_off_prequeue(x, k));
        settle(f);
    }
    if (f->mine) {
        if (k->prequeue.first) WB_CALL(x, f, work_off_prequeue(x, k));
        settle(f);
        k->ucopy.task = NULL;
    }
    net_charge(x, st->fn.cleanup);
    if (ack_now(k, f->off > 0)) WB_CALL(x, f, tcp_send_ack(x, k, false));
    TCP_DISOWN(x, f, k);
    IPC_FGET(x, f, k->k.file_line, st->net.fn.sys_recvfrom);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->off ? (int64_t)f->off : f->why);
    WB_END();
}

void tcp_recvmsg(struct wb_exec *x, struct tcp_sock *k, uint32_t buf, uint64_t bytes)
{
    struct recv_call *f = WB_PUSH(x, recv_step, struct recv_call);
    f->k = k;
    f->buf = buf;
    f->left = bytes;
}
