/* tcp_model.c - TCP as a kind of channel: connections, closing, polling, what they count. */
#include <string.h>

#include "tcp.h"

static struct tcp_sock *end_of(const struct wb_channel *c, int end)
{
    WB_CHECK(c && c->ops == &wb_ipc_tcp && (end == 0 || end == 1), "a channel that is no TCP connection");
    return &((struct tcp_channel *)(uintptr_t)c)->end[end];
}

static void tcp_read(struct wb_exec *x, struct wb_channel *c, int end, uint32_t buf, uint64_t bytes)
{
    WB_CHECK(end_of(c, end)->k.holders, "read from a closed socket");
    tcp_recvmsg(x, end_of(c, end), buf, bytes);
}

static void tcp_write(struct wb_exec *x, struct wb_channel *c, int end, uint32_t buf, uint64_t bytes)
{
    WB_CHECK(end_of(c, end)->k.holders, "write to a closed socket");
    tcp_sendmsg(x, end_of(c, end), buf, bytes);
}

/* ---- waking ---- */

struct wake_call {
    struct wb_frame h;
    struct tcp_sock *k;
    uint8_t why; /* enum tcp_wake */
    bool sync;
};

static bool is_sync(const struct tcp_state *st, enum tcp_wake why)
{
    if (why == TCP_WAKE_ROOM || why == TCP_WAKE_STATE) return false;
    if (st->sync != TCP_SYNC_VERSION) return st->sync == TCP_SYNC_ALWAYS;
    return why == TCP_WAKE_DATA ? st->rules->ready_sync : st->rules->prequeue_sync;
}

/* sk_data_ready, sk_write_space and sk_state_change look for sleepers first; the prequeue's wake does not. */
static void start_wake(struct wb_exec *x, const struct wake_call *f)
{
    const struct tcp_state *st = f->k->st;
    const uint16_t fn[] = {st->net.fn.readable, st->fn.prequeue, st->fn.write_space, st->fn.state_change};
    if (f->why == TCP_WAKE_PREQUEUE) {
        wb_wake_up(x, &f->k->k.wait, 1u << WB_INTERRUPTIBLE, 1, f->sync ? WB_WF_SYNC : 0);
        return;
    }
    sock_wake(x, &f->k->k,
              &(struct sock_wake){.fn = fn[f->why],
                                  .callback_lock = st->rules->callback_lock && f->why != TCP_WAKE_ROOM,
                                  .sync = f->sync,
                                  .nr_exclusive = f->why == TCP_WAKE_STATE ? 0 : 1});
}

static enum wb_ret wake_step(struct wb_exec *x, void *frame)
{
    struct wake_call *f = frame;
    uint64_t n;
    WB_BEGIN(f);
    f->sync = is_sync(f->k->st, (enum tcp_wake)f->why);
    WB_CALL(x, f, start_wake(x, f));
    n = x->ret > 0 ? (uint64_t)x->ret : 0;
    if (f->why == TCP_WAKE_ROOM) tcp_count(x, f->k->st, TCP_WAKES_ROOM, n);
    if (f->why == TCP_WAKE_ROOM || f->why == TCP_WAKE_STATE) WB_RETURN(x, 0);
    tcp_count(x, f->k->st, TCP_WAKES, n);
    if (f->sync) tcp_count(x, f->k->st, TCP_WAKES_SYNC, n);
    WB_END();
}

void tcp_wake(struct wb_exec *x, struct tcp_sock *k, enum tcp_wake why)
{
    struct wake_call *f = WB_PUSH(x, wake_step, struct wake_call);
    f->k = k;
    f->why = (uint8_t)why;
}

/* ---- closing ---- */

struct close_call {
    struct wb_frame h;
    struct tcp_sock *k;
    struct net_packet *p;
};

/* Both ends are closed: nobody will take or acknowledge anything any more. */
struct purge {
    struct wb_frame h;
    struct tcp_sock *k;
    struct skb *b;
    struct net_packet *p;
    uint8_t left;
};

static struct net_packet *any_packet(struct tcp_sock *k)
{
    struct net_packet *p = net_remove_first(&k->rx);
    if (!p) p = net_remove_first(&k->prequeue);
    return p ? p : net_remove_first(&k->backlog);
}

static enum wb_ret purge_step(struct wb_exec *x, void *frame)
{
    struct purge *f = frame;
    WB_BEGIN(f);
    for (f->left = 2; f->left; f->left--, f->k = f->k->peer) {
        while ((f->b = skb_remove_first(&f->k->unsent))) {
            f->k->dropped += f->b->len;
            WB_CALL(x, f, tcp_release(x, f->k->st, f->b));
        }
        while ((f->b = skb_remove_first(&f->k->rtx))) WB_CALL(x, f, tcp_release(x, f->k->st, f->b));
        while ((f->p = any_packet(f->k))) {
            f->k->dropped += f->p->bytes - f->p->off;
            WB_CALL(x, f, tcp_release(x, f->k->st, f->p->skb));
            net_packet_put(&f->k->st->net, f->p);
        }
    }
    WB_END();
}

static void purge(struct wb_exec *x, struct tcp_sock *k)
{
    struct purge *f = WB_PUSH(x, purge_step, struct purge);
    f->k = k;
}

/* tcp_close(): what was not read is lost; what was not sent still goes out, a FIN behind it. */
static enum wb_ret close_step(struct wb_exec *x, void *frame)
{
    struct close_call *f = frame;
    struct tcp_sock *k = f->k;
    struct tcp_state *st = k->st;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    net_charge(x, st->fn.close);
    WB_FLUSH(x, f);
    if (--k->k.holders) goto leave;
    TCP_OWN(x, f, k);
    k->k.dead = true;
    k->k.shutdown |= SOCK_RCV_SHUTDOWN | SOCK_SEND_SHUTDOWN;
    while ((f->p = net_remove_first(&k->rx))) {
        k->dropped += f->p->bytes - f->p->off;
        k->k.rmem -= f->p->skb->truesize;
        WB_CALL(x, f, tcp_release(x, st, f->p->skb));
        net_packet_put(&st->net, f->p);
    }
    k->fin_wanted = true;
    WB_CALL(x, f, tcp_push(x, k));
    TCP_DISOWN(x, f, k);
    k->closed = true;
    if (k->peer->closed) WB_CALL(x, f, purge(x, k));
leave:
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, 0);
    WB_END();
}

static void tcp_close(struct wb_exec *x, struct wb_channel *c, int end)
{
    struct close_call *f = WB_PUSH(x, close_step, struct close_call);
    f->k = end_of(c, end);
}

static void tcp_hold(struct wb_channel *c, int end, uint32_t n)
{
    end_of(c, end)->k.holders += n;
}

/* ---- polling ---- */

static uint32_t tcp_poll(const struct wb_channel *c, int end)
{
    const struct tcp_sock *k = end_of(c, end);
    bool no_more = k->k.shutdown & SOCK_RCV_SHUTDOWN;
    uint32_t events = k->rx.first || no_more ? WB_POLL_IN : 0;
    if (k->k.wmem < k->k.sndbuf && k->k.sndbuf - k->k.wmem >= k->k.wmem / 2) events |= WB_POLL_OUT;
    if (no_more && k->k.shutdown & SOCK_SEND_SHUTDOWN) events |= WB_POLL_HUP | WB_POLL_OUT;
    return events;
}

static struct wb_waitq *tcp_poll_queue(struct wb_channel *c, int end, uint32_t events)
{
    struct tcp_sock *k = end_of(c, end);
    if (events & WB_POLL_OUT && !(tcp_poll(c, end) & WB_POLL_OUT)) k->k.nospace = true;
    return &k->k.wait;
}

/* ---- conservation ---- */

static uint64_t queued(const struct net_queue *q, const struct tcp_sock *k)
{
    uint64_t bytes = 0;
    for (const struct net_packet *p = q->first; p; p = p->next)
        if (p->to == k) bytes += p->bytes - p->off;
    return bytes;
}

static void tcp_audit(const struct wb_channel *c, uint64_t *in, uint64_t *out, uint64_t *inside)
{
    *in = *out = *inside = 0;
    for (int e = 0; e < 2; e++) {
        const struct tcp_sock *k = end_of(c, e);
        const struct net_stack *n = &k->st->net;
        *in += k->write_seq;
        *out += k->copied;
        *inside += k->unsent.bytes + queued(&k->rx, k) + queued(&k->prequeue, k) + queued(&k->backlog, k) + k->dropped;
        for (cpu_id cpu = 0; cpu < wb_ncpus(n->sim); cpu++) *inside += queued(&n->backlog[cpu].q, k);
    }
}

/* ---- making ---- */

static void make_labels(struct wb_sim *s, struct tcp_labels *fn)
{
    const struct {
        uint16_t *at;
        const char *name;
    } label[] = {
        {&fn->sendmsg, "tcp_sendmsg"},
        {&fn->recvmsg, "tcp_recvmsg"},
        {&fn->lock, "lock_sock"},
        {&fn->release, "release_sock"},
        {&fn->write_xmit, "tcp_write_xmit"},
        {&fn->clone, "skb_clone"},
        {&fn->transmit, "tcp_transmit_skb"},
        {&fn->queue_xmit, "ip_queue_xmit"},
        {&fn->mod_timer, "mod_timer"},
        {&fn->v4_rcv, "tcp_v4_rcv"},
        {&fn->prequeue, "tcp_prequeue"},
        {&fn->established, "tcp_rcv_established"},
        {&fn->ack, "tcp_ack"},
        {&fn->clean_rtx, "tcp_clean_rtx_queue"},
        {&fn->send_ack, "tcp_send_ack"},
        {&fn->delayed_ack, "tcp_send_delayed_ack"},
        {&fn->wait_data, "sk_wait_data"},
        {&fn->space_adjust, "tcp_rcv_space_adjust"},
        {&fn->cleanup, "tcp_cleanup_rbuf"},
        {&fn->write_space, "sk_stream_write_space"},
        {&fn->state_change, "sock_def_wakeup"},
        {&fn->close, "tcp_close"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(label); i++) *label[i].at = wb_fn_id(s, label[i].name, WB_CAT_SYSCALL, 0);
}

const struct wb_metric_def tcp_figures[TCP_COUNTERS] = {
    {"tcp.wakes", "1", WB_BETTER_NONE, "Sleepers woken by data for a TCP socket."},
    {"tcp.wakes_sync", "1", WB_BETTER_NONE, "Of these, woken with the sync hint."},
    {"tcp.wakes_room", "1", WB_BETTER_NONE, "Sleepers woken because an ACK made room in a send buffer."},
    {"tcp.prequeued", "1", WB_BETTER_NONE, "Packets left to a task that sleeps in recv()."},
    {"tcp.backlogged", "1", WB_BETTER_NONE, "Packets left to a task that owns the socket."},
    {"tcp.segments", "1", WB_BETTER_NONE, "Segments with data."},
    {"tcp.acks", "1", WB_BETTER_NONE, "ACKs without data."},
    {"tcp.sleeps_data", "1", WB_BETTER_NONE, "Sleeps for data."},
    {"tcp.sleeps_room", "1", WB_BETTER_NONE, "Sleeps for room in a send buffer."},
};

struct net_stack *tcp_net(struct wb_sim *s)
{
    return &((struct tcp_state *)wb_ipc_state(s, &wb_ipc_tcp))->net;
}

static struct tcp_state *ready_state(struct wb_sim *s)
{
    struct tcp_state *st = wb_ipc_state(s, &wb_ipc_tcp);
    if (st->ready) return st;
    st->ready = true;
    (void)net_stack_of(s);
    make_labels(s, &st->fn);
    skb_pool_init(s, &st->pool, st->rules->version, st->page_bytes);
    for (size_t i = 0; i < TCP_COUNTERS; i++)
        st->count[i] = wb_counter_new(s, UINT32_MAX, tcp_figures[i].name, tcp_figures[i].unit, tcp_figures[i].help);
    return st;
}

/* Buffers and packets that can be alive at once: what fills both send buffers and both receive buffers with the
 * shortest segments, and an ACK for each. */
static void reserve(struct tcp_state *st, uint32_t sndbuf, uint32_t rcvbuf)
{
    uint32_t least = skb_truesize(st->pool.rules, 1);
    uint32_t n = 2 * (sndbuf + rcvbuf) / least + 2 * (sndbuf + rcvbuf) / st->mss + 64;
    skb_reserve(&st->pool, n, 1);
    skb_reserve(&st->pool, 2 * (sndbuf + rcvbuf) / st->mss + 8, st->mss);
    net_reserve(&st->net, n);
}

/* Linux 2.6.22 net/ipv4/tcp_input.c tcp_fixup_sndbuf(): room for three segments of the largest size; tcp_rmem[1]. */
#define RCVBUF 87380u
static void make_end(struct wb_sim *s, struct tcp_state *st, struct tcp_sock *k)
{
    memset(k, 0, sizeof *k);
    sock_init(s, &k->k, st->pool.rules);
    k->st = st;
    k->k.sndbuf = 3 * (skb_truesize(st->pool.rules, st->mss) + 256);
    k->k.rcvbuf = WB_MAX(RCVBUF, 4 * skb_truesize(st->pool.rules, st->mss));
    k->rx_line = wb_sim_line(s);
    k->tx_line = wb_sim_line(s);
    wb_waitq_init(s, &k->owners);
    skb_queue_init(s, &k->unsent);
    skb_queue_init(s, &k->rtx);
    k->rcv_right = tcp_window_right(k);
}

static struct wb_channel *tcp_open(struct wb_sim *s, const char *name)
{
    struct tcp_state *st = ready_state(s);
    struct tcp_channel *c = wb_sim_alloc(s, sizeof *c);
    c->ch.ops = &wb_ipc_tcp;
    c->name = name;
    for (int e = 0; e < 2; e++) {
        make_end(s, st, &c->end[e]);
        c->end[e].peer = &c->end[!e];
    }
    for (int e = 0; e < 2; e++) c->end[e].snd_right = c->end[!e].rcv_right;
    reserve(st, c->end[0].k.sndbuf, c->end[0].k.rcvbuf);
    return &c->ch;
}

/* SO_SNDBUF of both ends; never below three full segments, so that no sender depends on the timer of delayed ACKs. */
static int tcp_resize(struct wb_channel *c, uint64_t bytes)
{
    struct tcp_state *st = end_of(c, 0)->st;
    uint64_t least = 3 * (uint64_t)(skb_truesize(st->pool.rules, st->mss) + 256);
    if (bytes > (16u << 20)) return -1;
    for (int e = 0; e < 2; e++) end_of(c, e)->k.sndbuf = (uint32_t)WB_MAX(2 * bytes, least);
    reserve(st, end_of(c, 0)->k.sndbuf, 0);
    return 0;
}

static int tcp_init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    static const char *const sync_words[] = {"version", "always", "never", NULL};
    const char *version = wb_cfg_str(cfg, "kernel.tcp"), *sync = wb_cfg_str(cfg, "kernel.tcp_sync");
    struct tcp_state *st = wb_sim_alloc(s, sizeof *st);
    memset(st, 0, sizeof *st);
    st->rules = tcp_rules_find(version);
    if (!st->rules) {
        wb_cfg_error(cfg, d, "kernel.tcp", "a kernel version such as \"2.6.24\" or \"6.12\"; from 2.6.0 on",
                     "'%s' is not a version whose TCP rules are known", version);
        return -1;
    }
    uint32_t v = 0;
    (void)ipc_parse_version(version, &v);
    while (strcmp(sync_words[st->sync], sync)) st->sync++;
    st->page_bytes = (uint32_t)wb_cfg_int(cfg, "kernel.page_size");
    st->prequeue = st->rules->prequeue && !wb_cfg_bool(cfg, "kernel.tcp_low_latency");
    /* a segment is at most half of the window (tcp_bound_to_half_wnd) */
    st->mss = WB_MIN(net_mtu(v) - 52, RCVBUF / 4 * 3 / 2);
    wb_ipc_set_state(s, &wb_ipc_tcp, st);
    return 0;
}

const struct wb_ipc_ops wb_ipc_tcp = {
    .abi = WB_POLICY_ABI,
    .flags = WB_IPC_DUPLEX,
    .kind = "tcp",
    .help =
        "A TCP connection over loopback. Rules by kernel version (kernel.tcp): prequeue, sync hints. The receiver's "
        "side runs in the softirq on the sender's CPU.",
    .keys = net_keys,
    .nkeys = NET_KEYS,
    .metrics = tcp_figures,
    .nmetrics = TCP_COUNTERS,
    .frame_need = 176, /* a call, in it a wait */
    .init = tcp_init,
    .open = tcp_open,
    .read = tcp_read,
    .write = tcp_write,
    .close = tcp_close,
    .hold = tcp_hold,
    .resize = tcp_resize,
    .poll = tcp_poll,
    .poll_queue = tcp_poll_queue,
    .audit = tcp_audit,
};
