/*
 * tcp.h - TCP over loopback: what its files share.
 *
 * A connection is two sockets. Each has what struct sock and struct tcp_sock have for this path: the socket lock (a
 * spinlock and an owner), receive queue, prequeue, backlog, write queue, and the lines that move between the CPUs of
 * the two ends. Everything that differs between kernel versions is a column of struct tcp_rules (tcp_rules.c).
 *
 * A write copies into buffers, gives each a place in the write queue and sends what the window allows (tcp_send.c);
 * net.c carries it to the softirq on the sender's CPU, which finds one of three states of the receiver (tcp_rcv.c):
 *   - a task owns the socket: the packet waits in the socket's backlog, nobody is woken, and the owner takes it up when
 *     it gives the socket back;
 *   - a task sleeps in recv() and the version has prequeues: the packet joins the prequeue, the first one wakes the
 *     task, and all protocol work is done by it, on its CPU;
 *   - else protocol work is done in the softirq: receive queue, ACK processing, sk_data_ready.
 * ACKs ride on data of the other direction, or go alone when more than one full segment has not been acknowledged, when
 * a reader has emptied a queue of pushed segments, or when it has opened the window (tcp_cleanup_rbuf).
 *
 * Simplified: no loss, so no timers fire (mod_timer is paid), no sequence numbers on the wire, no congestion window (on
 * loopback it is open within a few exchanges), no Nagle delay (with one request outstanding there is never a second
 * short segment), no delayed-ACK timer (it never ends a wait that the rules above do not end), no handshake, no
 * urgent data, no TIME_WAIT. A close sends a FIN; data that nobody will read is thrown away and counted.
 */
#ifndef WB_IPC_TCP_H
#define WB_IPC_TCP_H

#include "net.h"

struct tcp_rules {
    const char *name; /* "2.6.26" */
    uint32_t version;
    bool ready_sync;    /* sk_data_ready wakes with the sync hint */
    bool prequeue;      /* segments wait for the task that sleeps in recv() */
    bool prequeue_sync; /* the prequeue's wake carries it */
    bool callback_lock; /* sk_data_ready and sk_write_space take sk_callback_lock for reading */
    const char *text;   /* for help */
};
extern const struct tcp_rules tcp_rules[];
extern const size_t tcp_rules_n;
const struct tcp_rules *tcp_rules_find(const char *version); /* NULL: no version */

enum tcp_sync { TCP_SYNC_VERSION, TCP_SYNC_ALWAYS, TCP_SYNC_NEVER };

struct tcp_labels {
    uint16_t sendmsg, recvmsg, lock, release, write_xmit, clone, transmit, queue_xmit, mod_timer; /* as in the kernel */
    uint16_t v4_rcv, prequeue, established, ack, clean_rtx, send_ack, delayed_ack;
    uint16_t wait_data, space_adjust, cleanup, write_space, state_change, close;
};

enum tcp_counter {
    TCP_WAKES,      /* sleepers woken by data */
    TCP_WAKES_SYNC, /* of these, with the sync hint */
    TCP_WAKES_ROOM, /* sleepers woken by room in the send buffer */
    TCP_PREQUEUED,
    TCP_BACKLOGGED,
    TCP_SEGMENTS,
    TCP_ACKS, /* bare */
    TCP_SLEEPS_DATA,
    TCP_SLEEPS_ROOM,
    TCP_COUNTERS
};
extern const struct wb_metric_def tcp_figures[TCP_COUNTERS];

/* Per run. Labels and counters are made when the first connection is. */
struct tcp_state {
    struct net_stack net; /* UDP's too */
    struct skb_pool pool;
    const struct tcp_rules *rules;
    struct tcp_labels fn;
    struct wb_counter *count[TCP_COUNTERS];
    uint32_t page_bytes, mss;
    uint8_t sync; /* enum tcp_sync */
    bool prequeue, ready;
};
struct net_stack *tcp_net(struct wb_sim *s);

struct tcp_sock {
    struct sock_core k;
    struct tcp_sock *peer;
    struct tcp_state *st;
    uint32_t rx_line, tx_line; /* struct tcp_sock: receiving part, sending part */
    bool owned;                /* sk_lock.users */
    struct wb_waitq owners;    /* who waits for it */
    struct net_queue rx, prequeue, backlog;
    struct {
        struct wb_task *task; /* who sleeps in recv() */
        uint32_t buf, left;
        uint64_t off;
    } ucopy;
    /* sending: bytes queued, sent, acknowledged so far, and how far the other end lets it send */
    struct skb_queue unsent, rtx;
    uint64_t write_seq, snd_nxt, snd_una, snd_right;
    /* receiving: bytes got so far, of these acknowledged, read; right edge of the window told */
    uint64_t rcv_nxt, rcv_wup, copied, rcv_right;
    uint32_t pushed;  /* segments got since the last ACK that was sent */
    bool pingpong;    /* data goes both ways: ACKs ride on it */
    bool fin_wanted;  /* closed; a FIN follows what is still unsent */
    bool closed;      /* and the call that did it is over */
    uint64_t dropped; /* bytes that nobody was there to read */
};

struct tcp_channel {
    struct wb_channel ch;
    struct tcp_sock end[2];
    const char *name;
};

/* ---- tcp_lock.c ---- */
/* lock_sock(): true = a frame was pushed. Flush first. */
bool tcp_own_start(struct wb_exec *x, struct tcp_sock *k);
bool tcp_disown_start(struct wb_exec *x, struct tcp_sock *k); /* release_sock(): the backlog is worked off */
#define TCP_OWN(x, f, k) \
    do { \
        WB_FLUSH(x, f); \
        WB_FRAMED_(x, f, tcp_own_start((x), (k))); \
    } while (0)
#define TCP_DISOWN(x, f, k) \
    do { \
        WB_FLUSH(x, f); \
        WB_FRAMED_(x, f, tcp_disown_start((x), (k))); \
    } while (0)

/* ---- tcp_send.c ---- */
void tcp_sendmsg(struct wb_exec *x, struct tcp_sock *k, uint32_t buf, uint64_t bytes); /* frame: the call */
/* Frame: send what is queued and the window allows. The socket is held by this context. */
void tcp_push(struct wb_exec *x, struct tcp_sock *k);
/* Frame: an ACK of its own. */
void tcp_send_ack(struct wb_exec *x, struct tcp_sock *k, bool fin);
uint64_t tcp_window_right(const struct tcp_sock *k);
static inline bool tcp_may_send(const struct tcp_sock *k)
{
    return k->unsent.first && k->snd_nxt + k->unsent.first->len <= k->snd_right;
}

/* ---- tcp_rcv.c ---- */
void tcp_receive(struct wb_exec *x, struct net_packet *p); /* frame, softirq: tcp_v4_rcv() */
/* Frame: tcp_v4_do_rcv(): protocol work on one packet. The socket is held by this context. */
void tcp_do_rcv(struct wb_exec *x, struct tcp_sock *k, struct net_packet *p);
/* Frame: __kfree_skb() on a clone or on the original: the buffer has one reference less; the last frees it, to the list
 * of this CPU. */
void tcp_release(struct wb_exec *x, struct tcp_state *st, struct skb *b);
enum { TCP_REFS, TCP_CLONED }; /* skb.cookie[]: references; has it ever been cloned? */

/* ---- tcp_recv.c ---- */
void tcp_recvmsg(struct wb_exec *x, struct tcp_sock *k, uint32_t buf, uint64_t bytes); /* frame: the call */

/* ---- tcp_model.c ---- */
extern const struct wb_ipc_ops wb_ipc_tcp;
enum tcp_wake { TCP_WAKE_DATA, TCP_WAKE_PREQUEUE, TCP_WAKE_ROOM, TCP_WAKE_STATE };
void tcp_wake(struct wb_exec *x, struct tcp_sock *k, enum tcp_wake why); /* frame */
static inline void tcp_count(struct wb_exec *x, const struct tcp_state *st, enum tcp_counter c, uint64_t n)
{
    if (n) wb_counter_add(x, st->count[c], n);
}

/* ---- udp.c ---- */
extern const struct wb_ipc_ops wb_ipc_udp;

#endif
