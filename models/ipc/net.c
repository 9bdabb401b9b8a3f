#include "net.h"

#include "tcp.h"

/* ---- packets ---- */

struct net_block {
    struct net_block *next;
    uint32_t n, used;
    struct net_packet packet[];
};

void net_append(struct net_queue *q, struct net_packet *p)
{
    p->next = NULL;
    if (q->last)
        q->last->next = p;
    else
        q->first = p;
    q->last = p;
    q->len++;
}

struct net_packet *net_remove_first(struct net_queue *q)
{
    struct net_packet *p = q->first;
    if (!p) return NULL;
    q->first = p->next;
    if (!q->first) q->last = NULL;
    q->len--;
    p->next = NULL;
    return p;
}

void net_reserve(struct net_stack *n, uint32_t packets)
{
    struct net_block *b = wb_sim_alloc(n->sim, sizeof *b + packets * sizeof b->packet[0]);
    b->n = packets;
    b->used = 0;
    b->next = n->fresh;
    n->fresh = b;
}

struct net_packet *net_packet_take(struct net_stack *n)
{
    struct net_packet *p = n->free;
    if (p) {
        n->free = p->next;
    } else {
        while (n->fresh && n->fresh->used == n->fresh->n) n->fresh = n->fresh->next;
        WB_CHECK(n->fresh, "more packets than the %llu that were reserved", (unsigned long long)n->alive);
        p = &n->fresh->packet[n->fresh->used++];
    }
    *p = (struct net_packet){.next = NULL};
    n->alive++;
    return p;
}

void net_packet_put(struct net_stack *n, struct net_packet *p)
{
    p->next = n->free;
    n->free = p;
    n->alive--;
}

uint32_t net_mtu(uint32_t version)
{
    return version < IPC_VERSION(3, 6, 0) ? NET_MTU_BEFORE_3_6 : NET_MTU_FROM_3_6;
}

/* ---- down: IP, the device, the backlog ---- */

struct transmit {
    struct wb_frame h;
    struct net_stack *n;
    struct net_packet *p;
    uint32_t fragments;
};

static enum wb_ret transmit_step(struct wb_exec *x, void *frame)
{
    struct transmit *f = frame;
    const struct net_labels *fn = &f->n->fn;
    WB_BEGIN(f);
    WB_FLUSH(x, f);
    wb_bh_disable(x);
    net_charge_n(x, fn->ip_output, f->fragments);
    net_charge_n(x, fn->dev_queue_xmit, f->fragments);
    net_charge_n(x, fn->loopback_xmit, f->fragments);
    net_charge_n(x, fn->netif_rx, f->fragments);
    WB_FLUSH(x, f);
    net_append(&f->n->backlog[x->cpu].q, f->p);
    if (!f->n->backlog[x->cpu].scheduled) wb_raise_softirq(x, WB_SOFTIRQ_NET_RX);
    f->n->backlog[x->cpu].scheduled = true;
    wb_bh_enable(x);
    WB_FLUSH(x, f); /* the softirq runs here, unless an outer section keeps softirqs off */
    WB_END();
}

void net_transmit(struct wb_exec *x, struct net_stack *n, struct net_packet *p, uint32_t fragments)
{
    struct transmit *f = WB_PUSH(x, transmit_step, struct transmit);
    f->n = n;
    f->p = p;
    f->fragments = fragments;
}

/* ---- up: the softirq ---- */

struct rx_action {
    struct wb_frame h;
    struct net_stack *n;
    struct net_packet *p;
};

static enum wb_ret rx_step(struct wb_exec *x, void *frame)
{
    struct rx_action *f = frame;
    const struct net_labels *fn = &f->n->fn;
    WB_BEGIN(f);
    net_charge(x, fn->net_rx_action);
    while ((f->p = net_remove_first(&f->n->backlog[x->cpu].q))) {
        net_charge(x, fn->process_backlog);
        net_charge(x, fn->netif_receive_skb);
        net_charge(x, fn->ip_rcv);
        WB_CALL(x, f, f->p->receive(x, f->p));
    }
    f->n->backlog[x->cpu].scheduled = false;
    WB_END();
}

static void rx_softirq(struct wb_exec *x)
{
    struct rx_action *f = WB_PUSH(x, rx_step, struct rx_action);
    f->n = tcp_net(x->sim);
}

/* ---- the run's stack ---- */

struct net_stack *net_stack_of(struct wb_sim *s)
{
    struct net_stack *n = tcp_net(s);
    if (n->backlog) return n;
    n->sim = s;
    n->backlog = wb_sim_alloc(s, wb_ncpus(s) * sizeof *n->backlog);
    for (cpu_id c = 0; c < wb_ncpus(s); c++) n->backlog[c] = (struct net_backlog){.scheduled = false};
    const struct {
        uint16_t *at;
        const char *name;
    } label[] = {
        {&n->fn.ip_output, "ip_output"},
        {&n->fn.dev_queue_xmit, "dev_queue_xmit"},
        {&n->fn.loopback_xmit, "loopback_xmit"},
        {&n->fn.netif_rx, "netif_rx"},
        {&n->fn.net_rx_action, "net_rx_action"},
        {&n->fn.process_backlog, "process_backlog"},
        {&n->fn.netif_receive_skb, "netif_receive_skb"},
        {&n->fn.ip_rcv, "ip_rcv"},
        {&n->fn.sys_sendto, "sys_sendto"},
        {&n->fn.sys_recvfrom, "sys_recvfrom"},
        {&n->fn.readable, "sock_def_readable"},
        {&n->fn.release_data, "skb_release_data"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(label); i++) *label[i].at = wb_fn_id(s, label[i].name, WB_CAT_SYSCALL, 0);
    wb_softirq_handler(s, WB_SOFTIRQ_NET_RX, rx_softirq);
    return n;
}
