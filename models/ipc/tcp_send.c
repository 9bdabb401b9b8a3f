/* tcp_send.c - tcp_sendmsg(), the write queue, segments and ACKs on their way out. Linux 2.6.22 net/ipv4/tcp.c,
 * tcp_output.c; net/core/stream.c. */
#include "tcp.h"

/* ---- what goes out ---- */

/* How far the other end may send: a quarter of the free room is kept for overhead (tcp_adv_win_scale = 2), and what was
 * once told stays. */
uint64_t tcp_window_right(const struct tcp_sock *k)
{
    uint64_t room = k->k.rcvbuf > k->k.rmem ? k->k.rcvbuf - k->k.rmem : 0;
    return WB_MAX(k->rcv_right, k->rcv_nxt + room / 4 * 3);
}

/* A packet with the state of the receiving half in it, which so is told. */
static struct net_packet *make_packet(struct tcp_sock *k, struct skb *b, uint32_t bytes)
{
    struct net_packet *p = net_packet_take(&k->st->net);
    *p = (struct net_packet){.skb = b, .to = k->peer, .from = k, .receive = tcp_receive, .bytes = bytes};
    p->ack = k->rcv_wup = k->rcv_nxt;
    p->right = k->rcv_right = tcp_window_right(k);
    k->pushed = 0;
    return p;
}

struct push {
    struct wb_frame h;
    struct tcp_sock *k;
    struct skb *b;
};

/* tcp_write_xmit(), tcp_transmit_skb(): the clone goes, the original stays until it is acknowledged. */
static enum wb_ret push_step(struct wb_exec *x, void *frame)
{
    struct push *f = frame;
    struct tcp_sock *k = f->k;
    const struct tcp_labels *fn = &k->st->fn;
    WB_BEGIN(f);
    while (tcp_may_send(k)) {
        net_charge(x, fn->write_xmit);
        net_charge(x, fn->clone);
        net_charge(x, fn->transmit);
        net_charge(x, fn->queue_xmit);
        net_charge(x, fn->mod_timer);
        WB_FLUSH(x, f);
        f->b = skb_remove_first(&k->unsent);
        skb_append(&k->rtx, f->b);
        f->b->cookie[TCP_REFS]++;
        f->b->cookie[TCP_CLONED] = 1;
        k->snd_nxt += f->b->len;
        k->pingpong = k->rcv_nxt > 0;
        tcp_count(x, k->st, TCP_SEGMENTS, 1);
        WB_CALL(x, f, net_transmit(x, &k->st->net, make_packet(k, f->b, f->b->len), 1));
    }
    if (k->fin_wanted && !k->unsent.first) {
        k->fin_wanted = false;
        WB_CALL(x, f, tcp_send_ack(x, k, true));
    }
    WB_END();
}

void tcp_push(struct wb_exec *x, struct tcp_sock *k)
{
    struct push *f = WB_PUSH(x, push_step, struct push);
    f->k = k;
}

struct bare {
    struct wb_frame h;
    struct tcp_sock *k;
    struct skb *b;
    struct net_packet *p;
    bool fin;
};

static enum wb_ret bare_step(struct wb_exec *x, void *frame)
{
    struct bare *f = frame;
    struct tcp_state *st = f->k->st;
    WB_BEGIN(f);
    SKB_ALLOC(x, f, &st->pool, f->b, 0);
    net_charge(x, st->fn.send_ack);
    net_charge(x, st->fn.queue_xmit);
    WB_FLUSH(x, f);
    f->b->cookie[TCP_REFS] = 1;
    f->b->cookie[TCP_CLONED] = 0;
    f->p = make_packet(f->k, f->b, 0);
    f->p->fin = f->fin;
    if (!f->fin) tcp_count(x, st, TCP_ACKS, 1);
    WB_CALL(x, f, net_transmit(x, &st->net, f->p, 1));
    WB_END();
}

void tcp_send_ack(struct wb_exec *x, struct tcp_sock *k, bool fin)
{
    struct bare *f = WB_PUSH(x, bare_step, struct bare);
    f->k = k;
    f->fin = fin;
}

/* ---- waiting for room ---- */

struct wait_room {
    struct wb_frame h;
    struct tcp_sock *k;
    struct wb_wait_entry e;
};

/* sk_stream_wait_memory(): x->ret = 0, or why there will be none. */
static enum wb_ret wait_room_step(struct wb_exec *x, void *frame)
{
    struct wait_room *f = frame;
    struct tcp_sock *k = f->k;
    WB_BEGIN(f);
    tcp_count(x, k->st, TCP_SLEEPS_ROOM, 1);
    f->e.autoremove = true;
    while (k->k.wmem >= k->k.sndbuf && !(k->k.shutdown & SOCK_SEND_SHUTDOWN) && !x->task->killed) {
        k->k.nospace = true;
        WB_CALL(x, f, wb_prepare_to_wait(x, &k->k.wait, &f->e, false, WB_INTERRUPTIBLE));
        TCP_DISOWN(x, f, k);
        WB_FLUSH(x, f);
        if (k->k.wmem >= k->k.sndbuf && !(k->k.shutdown & SOCK_SEND_SHUTDOWN) && !x->task->killed)
            WB_CALL(x, f, wb_schedule(x));
        TCP_OWN(x, f, k);
        WB_CALL(x, f, wb_finish_wait(x, &k->k.wait, &f->e));
    }
    WB_RETURN(x, k->k.wmem < k->k.sndbuf || k->k.shutdown & SOCK_SEND_SHUTDOWN ? 0 : IPC_EINTR);
    WB_END();
}

static void wait_room(struct wb_exec *x, struct tcp_sock *k)
{
    struct wait_room *f = WB_PUSH(x, wait_room_step, struct wait_room);
    f->k = k;
}

/* ---- the call ---- */

struct send_call {
    struct wb_frame h;
    struct tcp_sock *k;
    struct skb *b;
    uint32_t buf, n;
    uint64_t off, left;
    int64_t why; /* that nothing more could be taken: 0 or -errno */
};

/* A filled buffer joins the write queue. */
static void queue_buffer(struct send_call *f)
{
    struct tcp_sock *k = f->k;
    f->b->cookie[TCP_REFS] = 1;
    f->b->cookie[TCP_CLONED] = 0;
    skb_append(&k->unsent, f->b);
    k->k.wmem += f->b->truesize;
    k->write_seq += f->n;
    f->off += f->n;
    f->left -= f->n;
}

static enum wb_ret send_step(struct wb_exec *x, void *frame)
{
    struct send_call *f = frame;
    struct tcp_sock *k = f->k;
    struct tcp_state *st = k->st;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    net_charge(x, st->net.fn.sys_sendto);
    IPC_FGET(x, f, k->k.file_line, st->net.fn.sys_sendto);
    TCP_OWN(x, f, k);
    IPC_LINE(x, f, k->tx_line, WB_LINE_WRITE, st->fn.sendmsg);
    net_charge(x, st->fn.sendmsg);
    while (f->left && !f->why) {
        if (k->k.shutdown & SOCK_SEND_SHUTDOWN) {
            f->why = IPC_EPIPE;
        } else if (k->k.wmem >= k->k.sndbuf) {
            WB_CALL(x, f, wait_room(x, k));
            f->why = x->ret;
        } else {
            f->n = (uint32_t)WB_MIN(f->left, (uint64_t)st->mss);
            f->b = skb_take(x, &st->pool, f->n);
            SKB_USE(x, f, &st->pool, (&(struct skb_move){f->b, 0, f->n, f->buf, f->off}), SKB_IN, st->pool.fn_alloc);
            queue_buffer(f);
            WB_CALL(x, f, tcp_push(x, k));
        }
    }
    TCP_DISOWN(x, f, k);
    IPC_FGET(x, f, k->k.file_line, st->net.fn.sys_sendto);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->off ? (int64_t)f->off : f->why);
    WB_END();
}

void tcp_sendmsg(struct wb_exec *x, struct tcp_sock *k, uint32_t buf, uint64_t bytes)
{
    struct send_call *f = WB_PUSH(x, send_step, struct send_call);
    f->k = k;
    f->buf = buf;
    f->left = bytes;
}
