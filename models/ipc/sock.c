#include "skb.h"

void sock_init(struct wb_sim *s, struct sock_core *k, const struct skb_rules *r)
{
    *k = (struct sock_core){.sndbuf = r->buffer, .rcvbuf = r->buffer, .holders = 1};
    wb_spin_init(s, &k->lock);
    skb_queue_init(s, &k->rx);
    wb_waitq_init(s, &k->wait);
    k->wmem_line = wb_sim_line(s);
    k->rmem_line = wb_sim_line(s);
    k->callback_line = wb_sim_line(s);
    k->file_line = wb_sim_line(s);
}

struct wake_call {
    struct wb_frame h;
    struct sock_core *k;
    struct sock_wake how;
    int32_t ret;
};

/* Linux 2.6.35 net/core/sock.c sock_def_readable(): wq_has_sleeper(), then the wake. Before, sk_callback_lock is held
 * for reading, a locked operation at each end (commit 43815482370). */
static enum wb_ret wake_step(struct wb_exec *x, void *frame)
{
    struct wake_call *f = frame;
    WB_BEGIN(f);
    f->ret = -1;
    wb_charge_fn(x, f->how.fn);
    if (f->how.callback_lock) IPC_LINE(x, f, f->k->callback_line, WB_LINE_RMW, f->how.fn);
    IPC_LINE(x, f, f->k->wait.lock.line, WB_LINE_READ, f->how.fn);
    if (wb_waitq_active(&f->k->wait)) {
        WB_CALL(x, f,
                wb_wake_up(x, &f->k->wait, 1u << WB_INTERRUPTIBLE, f->how.nr_exclusive, f->how.sync ? WB_WF_SYNC : 0));
        f->ret = (int32_t)x->ret;
    }
    if (f->how.callback_lock) WB_LINE(x, f, f->k->callback_line, WB_LINE_RMW, f->how.fn);
    WB_RETURN(x, f->ret);
    WB_END();
}

void sock_wake(struct wb_exec *x, struct sock_core *k, const struct sock_wake *how)
{
    struct wake_call *f = WB_PUSH(x, wake_step, struct wake_call);
    f->k = k;
    f->how = *how;
}
