/*
 * udp.c - UDP over loopback: datagrams between two sockets.
 *
 * Linux 2.6.22 net/ipv4/udp.c, net/core/datagram.c. A datagram is copied into a buffer, passes the loopback path of
 * net.c (in as many fragments as the device's packet size asks for) and is queued on the receiver's socket by the
 * softirq on the sender's CPU, under the lock of its receive queue; sk_data_ready wakes one of the readers, which
 * sleep exclusively. A read takes one datagram and loses what it has no room for. The device gives the sender its
 * memory back as it takes a packet (skb_orphan), so senders never wait; a datagram that finds the receive buffer full
 * is dropped and counted.
 *
 * Simplified: no socket lock and memory accounting of later versions (2.6.25 on), no checksum, no connect().
 */
#include <string.h>

#include "net.h"
#include "tcp.h"

#define DATAGRAM_MAX 65507u

struct udp_labels {
    uint16_t sendmsg, append, push, rcv, queue, recvmsg, datagram, close, state_change;
};
enum udp_counter { UDP_WAKES, UDP_WAKES_SYNC, UDP_DATAGRAMS, UDP_DROPPED, UDP_SLEEPS, UDP_COUNTERS };

struct udp_state {
    struct net_stack *net;
    struct skb_pool pool;
    struct udp_labels fn;
    struct wb_counter *count[UDP_COUNTERS];
    uint32_t page_bytes, fragment;
    uint32_t version;
    bool sync, callback_lock, ready;
};

struct udp_sock {
    struct sock_core k;
    struct udp_sock *peer;
    struct udp_state *st;
    uint64_t sent, taken, lost;
};

struct udp_channel {
    struct wb_channel ch;
    struct udp_sock end[2];
    const char *name;
};

static struct udp_sock *end_of(const struct wb_channel *c, int end)
{
    WB_CHECK(c && c->ops == &wb_ipc_udp && (end == 0 || end == 1), "a channel that is no pair of UDP sockets");
    return &((struct udp_channel *)(uintptr_t)c)->end[end];
}

struct udp_call {
    struct wb_frame h;
    struct udp_sock *k;
    struct skb *b;
    struct net_packet *p;
    uint32_t buf, bytes, n;
    struct wb_wait_entry e;
};

/* ---- up ---- */

static enum wb_ret rcv_step(struct wb_exec *x, void *frame)
{
    struct udp_call *f = frame;
    struct udp_sock *k = f->k;
    struct udp_state *st = k->st;
    WB_BEGIN(f);
    net_charge(x, st->fn.rcv);
    net_charge(x, st->fn.queue);
    WB_LINE(x, f, k->k.rmem_line, WB_LINE_RMW, st->fn.queue);
    f->b = f->p->skb;
    net_packet_put(st->net, f->p);
    if (k->k.dead || k->k.rmem + f->b->truesize > k->k.rcvbuf) {
        k->lost += f->b->len;
        wb_counter_add(x, st->count[UDP_DROPPED], 1);
        skb_put(x, &st->pool, f->b);
        WB_RETURN(x, 0);
    }
    wb_irq_disable(x);
    WB_SPIN_LOCK(x, f, &k->k.rx.lock);
    k->k.rmem += f->b->truesize;
    skb_append(&k->k.rx, f->b);
    WB_SPIN_UNLOCK(x, f, &k->k.rx.lock);
    wb_irq_enable(x);
    WB_CALL(x, f,
            sock_wake(x, &k->k,
                      &(struct sock_wake){.fn = st->net->fn.readable,
                                          .callback_lock = st->callback_lock,
                                          .sync = st->sync,
                                          .nr_exclusive = 1}));
    if (x->ret > 0) wb_counter_add(x, st->count[UDP_WAKES], (uint64_t)x->ret);
    if (x->ret > 0 && st->sync) wb_counter_add(x, st->count[UDP_WAKES_SYNC], (uint64_t)x->ret);
    WB_END();
}

static void udp_rcv(struct wb_exec *x, struct net_packet *p)
{
    struct udp_call *f = WB_PUSH(x, rcv_step, struct udp_call);
    f->k = p->to;
    f->p = p;
}

/* ---- sending ---- */

static uint32_t fragments(const struct udp_state *st, uint32_t bytes)
{
    return (bytes + st->fragment - 1) / st->fragment;
}

static enum wb_ret send_step(struct wb_exec *x, void *frame)
{
    struct udp_call *f = frame;
    struct udp_sock *k = f->k;
    struct udp_state *st = k->st;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    net_charge(x, st->net->fn.sys_sendto);
    IPC_FGET(x, f, k->k.file_line, st->net->fn.sys_sendto);
    net_charge(x, st->fn.sendmsg);
    net_charge_n(x, st->fn.append, fragments(st, f->bytes));
    f->b = skb_take(x, &st->pool, f->bytes);
    SKB_USE(x, f, &st->pool, (&(struct skb_move){f->b, 0, f->bytes, f->buf, 0}), SKB_IN, st->pool.fn_alloc);
    IPC_LINE(x, f, k->k.wmem_line, WB_LINE_RMW, st->fn.push);
    net_charge(x, st->fn.push);
    WB_FLUSH(x, f);
    k->sent += f->bytes;
    wb_counter_add(x, st->count[UDP_DATAGRAMS], 1);
    f->p = net_packet_take(st->net);
    *f->p = (struct net_packet){.skb = f->b, .to = k->peer, .from = k, .receive = udp_rcv, .bytes = f->bytes};
    WB_CALL(x, f, net_transmit(x, st->net, f->p, fragments(st, f->bytes)));
    IPC_FGET(x, f, k->k.file_line, st->net->fn.sys_sendto);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->bytes);
    WB_END();
}

static void start_call(struct wb_exec *x, struct udp_sock *k, wb_step_fn step, uint32_t buf, uint64_t bytes)
{
    struct udp_call *f = WB_PUSH(x, step, struct udp_call);
    WB_CHECK(k->k.holders, "a call on a closed socket");
    f->k = k;
    f->buf = buf;
    f->bytes = (uint32_t)WB_MIN(bytes, (uint64_t)DATAGRAM_MAX);
}

static void udp_write(struct wb_exec *x, struct wb_channel *c, int end, uint32_t buf, uint64_t bytes)
{
    start_call(x, end_of(c, end), send_step, buf, bytes);
}

/* ---- receiving ---- */

static enum wb_ret recv_step(struct wb_exec *x, void *frame)
{
    struct udp_call *f = frame;
    struct udp_sock *k = f->k;
    struct udp_state *st = k->st;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    net_charge(x, st->net->fn.sys_recvfrom);
    IPC_FGET(x, f, k->k.file_line, st->net->fn.sys_recvfrom);
    net_charge(x, st->fn.recvmsg);
    f->e.autoremove = true;
    for (;;) {
        net_charge(x, st->fn.datagram);
        wb_irq_disable(x);
        WB_SPIN_LOCK(x, f, &k->k.rx.lock);
        f->b = skb_remove_first(&k->k.rx);
        WB_SPIN_UNLOCK(x, f, &k->k.rx.lock);
        wb_irq_enable(x);
        if (f->b || k->k.shutdown || x->task->killed) break;
        wb_counter_add(x, st->count[UDP_SLEEPS], 1);
        WB_CALL(x, f, wb_prepare_to_wait(x, &k->k.wait, &f->e, true, WB_INTERRUPTIBLE));
        if (!k->k.rx.first && !k->k.shutdown && !x->task->killed) WB_CALL(x, f, wb_schedule(x));
        WB_CALL(x, f, wb_finish_wait(x, &k->k.wait, &f->e));
    }
    if (f->b) {
        f->n = WB_MIN(f->bytes, f->b->len);
        SKB_USE(x, f, &st->pool, (&(struct skb_move){f->b, 0, f->n, f->buf, 0}), SKB_OUT, st->fn.recvmsg);
        IPC_LINE(x, f, k->k.rmem_line, WB_LINE_RMW, st->fn.datagram);
        k->k.rmem -= f->b->truesize;
        k->taken += f->b->len;
        skb_put(x, &st->pool, f->b);
    }
    IPC_FGET(x, f, k->k.file_line, st->net->fn.sys_recvfrom);
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->b ? (int64_t)f->n : x->task->killed ? IPC_EINTR : 0);
    WB_END();
}

static void udp_read(struct wb_exec *x, struct wb_channel *c, int end, uint32_t buf, uint64_t bytes)
{
    start_call(x, end_of(c, end), recv_step, buf, bytes);
}

/* ---- closing: UDP tells nobody; here the other end is told, so that programs can end ---- */

static enum wb_ret close_step(struct wb_exec *x, void *frame)
{
    struct udp_call *f = frame;
    struct udp_sock *k = f->k;
    struct udp_state *st = k->st;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    net_charge(x, st->fn.close);
    WB_FLUSH(x, f);
    if (--k->k.holders) goto leave;
    k->k.dead = true;
    wb_bh_disable(x);
    WB_SPIN_LOCK(x, f, &k->k.rx.lock);
    while ((f->b = skb_remove_first(&k->k.rx))) {
        k->lost += f->b->len;
        k->k.rmem -= f->b->truesize;
        skb_put(x, &st->pool, f->b);
    }
    WB_SPIN_UNLOCK(x, f, &k->k.rx.lock);
    wb_bh_enable(x);
    k->peer->k.shutdown |= SOCK_RCV_SHUTDOWN;
    WB_CALL(x, f, sock_wake(x, &k->peer->k, &(struct sock_wake){.fn = st->fn.state_change, .nr_exclusive = 0}));
leave:
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, 0);
    WB_END();
}

static void udp_close(struct wb_exec *x, struct wb_channel *c, int end)
{
    struct udp_call *f = WB_PUSH(x, close_step, struct udp_call);
    f->k = end_of(c, end);
}

static void udp_hold(struct wb_channel *c, int end, uint32_t n)
{
    end_of(c, end)->k.holders += n;
}

static uint32_t udp_poll(const struct wb_channel *c, int end)
{
    const struct udp_sock *k = end_of(c, end);
    return WB_POLL_OUT | (k->k.rx.first || k->k.shutdown ? WB_POLL_IN : 0u);
}

static struct wb_waitq *udp_poll_queue(struct wb_channel *c, int end, uint32_t events)
{
    (void)events;
    return &end_of(c, end)->k.wait;
}

static void udp_audit(const struct wb_channel *c, uint64_t *in, uint64_t *out, uint64_t *inside)
{
    *in = *out = *inside = 0;
    for (int e = 0; e < 2; e++) {
        const struct udp_sock *k = end_of(c, e);
        const struct net_stack *n = k->st->net;
        *in += k->sent;
        *out += k->taken;
        *inside += k->k.rx.bytes + k->lost;
        for (cpu_id cpu = 0; cpu < wb_ncpus(n->sim); cpu++)
            for (const struct net_packet *p = n->backlog[cpu].q.first; p; p = p->next)
                if (p->to == k) *inside += p->bytes;
    }
}

/* ---- making ---- */

static const struct wb_metric_def figures[UDP_COUNTERS] = {
    {"udp.wakes", "1", WB_BETTER_NONE, "Sleepers woken by a datagram."},
    {"udp.wakes_sync", "1", WB_BETTER_NONE, "Of these, woken with the sync hint."},
    {"udp.datagrams", "1", WB_BETTER_NONE, "Datagrams sent."},
    {"udp.dropped", "1", WB_BETTER_LOWER, "Datagrams that found the receive buffer full or nobody."},
    {"udp.sleeps", "1", WB_BETTER_NONE, "Sleeps for a datagram."},
};

static struct udp_state *ready_state(struct wb_sim *s)
{
    struct udp_state *st = wb_ipc_state(s, &wb_ipc_udp);
    if (st->ready) return st;
    st->ready = true;
    st->net = net_stack_of(s);
    skb_pool_init(s, &st->pool, st->version, st->page_bytes);
    struct udp_labels *fn = &st->fn;
    const struct {
        uint16_t *at;
        const char *name;
    } label[] = {
        {&fn->sendmsg, "udp_sendmsg"},          {&fn->append, "ip_append_data"},
        {&fn->push, "ip_push_pending_frames"},  {&fn->rcv, "udp_rcv"},
        {&fn->queue, "sock_queue_rcv_skb"},     {&fn->recvmsg, "udp_recvmsg"},
        {&fn->datagram, "skb_recv_datagram"},   {&fn->close, "release_sock"},
        {&fn->state_change, "sock_def_wakeup"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(label); i++) *label[i].at = wb_fn_id(s, label[i].name, WB_CAT_SYSCALL, 0);
    for (size_t i = 0; i < UDP_COUNTERS; i++)
        st->count[i] = wb_counter_new(s, UINT32_MAX, figures[i].name, figures[i].unit, figures[i].help);
    return st;
}

static void reserve(struct udp_state *st, uint32_t rcvbuf)
{
    uint32_t n = 2 * rcvbuf / skb_truesize(st->pool.rules, 1) + 64;
    skb_reserve(&st->pool, n, 1);
    skb_reserve(&st->pool, 2 * rcvbuf / DATAGRAM_MAX + 16, DATAGRAM_MAX);
    net_reserve(st->net, 64);
}

static struct wb_channel *udp_open(struct wb_sim *s, const char *name)
{
    struct udp_state *st = ready_state(s);
    struct udp_channel *c = wb_sim_alloc(s, sizeof *c);
    memset(c, 0, sizeof *c);
    c->ch.ops = &wb_ipc_udp;
    c->name = name;
    for (int e = 0; e < 2; e++) {
        sock_init(s, &c->end[e].k, st->pool.rules);
        c->end[e].st = st;
        c->end[e].peer = &c->end[!e];
    }
    reserve(st, c->end[0].k.rcvbuf);
    return &c->ch;
}

/* SO_RCVBUF of both ends. */
static int udp_resize(struct wb_channel *c, uint64_t bytes)
{
    if (bytes > (16u << 20)) return -1;
    for (int e = 0; e < 2; e++) end_of(c, e)->k.rcvbuf = (uint32_t)WB_MAX(2 * bytes, (uint64_t)2304);
    reserve(end_of(c, 0)->st, end_of(c, 0)->k.rcvbuf);
    return 0;
}

/* The version is TCP's: tcp_init() has complained if it is none. */
static int udp_init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    const char *version = wb_cfg_str(cfg, "kernel.tcp"), *sync = wb_cfg_str(cfg, "kernel.tcp_sync");
    const struct tcp_rules *rules = tcp_rules_find(version);
    struct udp_state *st = wb_sim_alloc(s, sizeof *st);
    memset(st, 0, sizeof *st);
    (void)d;
    if (!rules) return -1;
    (void)ipc_parse_version(version, &st->version);
    st->sync = strcmp(sync, "version") ? !strcmp(sync, "always") : rules->ready_sync;
    st->callback_lock = rules->callback_lock;
    st->page_bytes = (uint32_t)wb_cfg_int(cfg, "kernel.page_size");
    st->fragment = net_mtu(st->version) - 28;
    wb_ipc_set_state(s, &wb_ipc_udp, st);
    return 0;
}

const struct wb_ipc_ops wb_ipc_udp = {
    .abi = WB_POLICY_ABI,
    .flags = WB_IPC_DUPLEX | WB_IPC_DATAGRAM,
    .kind = "udp",
    .help = "Two UDP sockets over loopback that send to each other. Follows kernel.tcp.",
    .metrics = figures,
    .nmetrics = UDP_COUNTERS,
    .frame_need = 144, /* a call, in it schedule() */
    .init = udp_init,
    .open = udp_open,
    .read = udp_read,
    .write = udp_write,
    .close = udp_close,
    .hold = udp_hold,
    .resize = udp_resize,
    .poll = udp_poll,
    .poll_queue = udp_poll_queue,
    .audit = udp_audit,
};
