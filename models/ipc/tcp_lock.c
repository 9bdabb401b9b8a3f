/*
 * tcp_lock.c - lock_sock() and release_sock(): a spinlock that softirqs take, and an owner that tasks are.
 *
 * Linux 2.6.22 net/core/sock.c. While the spinlock is free, taking or giving back the socket is one locked operation on
 * its line: what happens between its two ends, some ten instructions, is left out. When a softirq of another CPU
 * holds it, or packets wait in the backlog, the whole of it is run.
 */
#include "tcp.h"

struct owning {
    struct wb_frame h;
    struct tcp_sock *k;
    struct net_packet *p;
    struct net_queue q;
    struct wb_wait_entry e;
};

static enum wb_ret own_step(struct wb_exec *x, void *frame)
{
    struct owning *f = frame;
    struct tcp_sock *k = f->k;
    WB_BEGIN(f);
    wb_bh_disable(x);
    WB_SPIN_LOCK(x, f, &k->k.lock);
    while (k->owned) { /* __lock_sock: several tasks have this end */
        WB_SPIN_UNLOCK(x, f, &k->k.lock);
        wb_bh_enable(x);
        WB_CALL(x, f, wb_prepare_to_wait(x, &k->owners, &f->e, true, WB_UNINTERRUPTIBLE));
        if (k->owned) WB_CALL(x, f, wb_schedule(x));
        WB_CALL(x, f, wb_finish_wait(x, &k->owners, &f->e));
        WB_FLUSH(x, f);
        wb_bh_disable(x);
        WB_SPIN_LOCK(x, f, &k->k.lock);
    }
    k->owned = true;
    WB_SPIN_UNLOCK(x, f, &k->k.lock);
    wb_bh_enable(x);
    WB_END();
}

bool tcp_own_start(struct wb_exec *x, struct tcp_sock *k)
{
    net_charge(x, k->st->fn.lock);
    if (!k->owned && !wb_spin_is_held(&k->k.lock)) {
        k->owned = true;
        wb_line_use(x, k->k.lock.line, WB_LINE_RMW, k->st->fn.lock);
        return false;
    }
    struct owning *f = WB_PUSH(x, own_step, struct owning);
    f->k = k;
    return true;
}

/* __release_sock(): packets that came while the socket was owned are worked off by the owner, with softirqs on; then
 * it looks again. */
static enum wb_ret disown_step(struct wb_exec *x, void *frame)
{
    struct owning *f = frame;
    struct tcp_sock *k = f->k;
    WB_BEGIN(f);
    wb_bh_disable(x);
    WB_SPIN_LOCK(x, f, &k->k.lock);
    while (k->backlog.first) {
        f->q = k->backlog;
        k->backlog = (struct net_queue){.first = NULL};
        WB_SPIN_UNLOCK(x, f, &k->k.lock);
        wb_bh_enable(x);
        while ((f->p = net_remove_first(&f->q))) WB_CALL(x, f, tcp_do_rcv(x, k, f->p));
        WB_FLUSH(x, f);
        wb_bh_disable(x);
        WB_SPIN_LOCK(x, f, &k->k.lock);
    }
    k->owned = false;
    WB_SPIN_UNLOCK(x, f, &k->k.lock);
    wb_bh_enable(x);
    if (wb_waitq_active(&k->owners)) WB_CALL(x, f, wb_wake_up(x, &k->owners, WB_ASLEEP, 1, 0));
    WB_END();
}

bool tcp_disown_start(struct wb_exec *x, struct tcp_sock *k)
{
    net_charge(x, k->st->fn.release);
    if (!k->backlog.first && !wb_spin_is_held(&k->k.lock) && !wb_waitq_active(&k->owners)) {
        k->owned = false;
        wb_line_use(x, k->k.lock.line, WB_LINE_RMW, k->st->fn.release);
        return false;
    }
    struct owning *f = WB_PUSH(x, disown_step, struct owning);
    f->k = k;
    return true;
}
