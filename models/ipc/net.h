/*
 * net.h - the loopback path below TCP and UDP: packets, the backlog of each CPU, the softirq that works it off.
 *
 * A packet that is sent passes IP and the loopback device in the sender's context with softirqs off, is queued on the
 * backlog of the CPU that it is sent on (Linux netif_rx) and raises NET_RX there. That softirq runs as soon as the
 * sender enables softirqs again, usually still inside its system call, and carries the packet up to the receiver's
 * socket. So all of it, the wakeup of the receiver too, runs on the sender's CPU with the sender as `current`. A
 * softirq that sends (a bare ACK, a segment that an ACK has made room for) queues on the same backlog.
 *
 * Costs are path costs by kernel function (kernel.path.*). They count as `softirq` when they pass in that context, else
 * as `syscall`.
 *
 * Simplified: no qdisc (the device has none), no receive packet steering, no netfilter rules, no limit of the
 * backlog, no ksoftirqd: a softirq goes on until the backlog is empty.
 */
#ifndef WB_IPC_NET_H
#define WB_IPC_NET_H

#include "skb.h"

struct net_packet;
/* Frame, in softirq context: the packet has reached its protocol. */
typedef void (*net_receive_fn)(struct wb_exec *x, struct net_packet *p);

/* A packet on its way. Its buffer may be shared with the sender, who keeps it until it is acknowledged. */
struct net_packet {
    struct net_packet *next;
    struct skb *skb;
    void *to;   /* the kind's: socket that it goes to */
    void *from; /* the kind's: socket that sent it, or NULL */
    net_receive_fn receive;
    uint64_t ack;   /* bytes that its sender has got from the other side so far */
    uint64_t right; /* and how far the other side may send */
    uint32_t bytes; /* of data */
    uint32_t off;   /* of these, consumed */
    bool fin;
};

struct net_queue {
    struct net_packet *first, *last;
    uint32_t len;
};
void net_append(struct net_queue *q, struct net_packet *p);
struct net_packet *net_remove_first(struct net_queue *q); /* NULL: empty */

struct net_labels {
    uint16_t ip_output, dev_queue_xmit, loopback_xmit, netif_rx;        /* down */
    uint16_t net_rx_action, process_backlog, netif_receive_skb, ip_rcv; /* up */
    uint16_t sys_sendto, sys_recvfrom, readable, release_data;
};

/* What a CPU's softirq has to carry up. */
struct net_backlog {
    struct net_queue q;
    bool scheduled; /* NET_RX is raised or at work on it */
};

/* One per run, shared by TCP and UDP. */
struct net_stack {
    struct wb_sim *sim;
    struct net_labels fn;
    struct net_backlog *backlog; /* by CPU */
    struct net_packet *free;
    struct net_block *fresh; /* packets that were never used */
    uint64_t alive;
};
/* Build time: the run's stack, made when it is first asked for. */
struct net_stack *net_stack_of(struct wb_sim *s);
/* At most n more packets will be alive at once; calls add up. */
void net_reserve(struct net_stack *n, uint32_t packets);
struct net_packet *net_packet_take(struct net_stack *n);
void net_packet_put(struct net_stack *n, struct net_packet *p);

/* Charge a path in the category of the context. */
static inline void net_charge_n(struct wb_exec *x, uint16_t fn, uint32_t n)
{
    wb_charge_fn_as(x, fn, n, x->level == WB_LEVEL_SOFTIRQ ? WB_CAT_SOFTIRQ : WB_CAT_SYSCALL);
}
static inline void net_charge(struct wb_exec *x, uint16_t fn)
{
    net_charge_n(x, fn, 1);
}

/* Frame: from ip_output() to the backlog, then whatever softirq that raises. fragments: how many the device takes. */
void net_transmit(struct wb_exec *x, struct net_stack *n, struct net_packet *p, uint32_t fragments);

/* Bytes of data of the largest segment or fragment on loopback. */
#define NET_MTU_BEFORE_3_6 16436u /* drivers/net/loopback.c: 16 KiB + 20 + 20 + 12 */
#define NET_MTU_FROM_3_6 65536u   /* the same, commit 0cf833aefaa8 */
uint32_t net_mtu(uint32_t version);

/* Rows of the kernel.path.* keys of net.c and of both protocols. */
#define NET_KEYS 42
extern const struct wb_key net_keys[NET_KEYS];

#endif
