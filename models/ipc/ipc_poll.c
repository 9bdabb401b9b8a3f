#include "ipc_poll.h"

#include "skb.h"

void ipc_poll_init(struct wb_sim *s, struct ipc_poll *p)
{
    p->fn = wb_fn_id(s, "do_sys_poll", WB_CAT_SYSCALL, 0);
}

struct poll_call {
    struct wb_frame h;
    const struct ipc_poll *p;
    struct wb_channel *c;
    struct wb_wait_entry e;
    struct wb_waitq *q;
    uint32_t events, got;
    int end;
    bool killed;
};

static uint32_t look(const struct poll_call *f)
{
    return f->c->ops->poll(f->c, f->end) & (f->events | WB_POLL_HUP);
}

static enum wb_ret poll_step(struct wb_exec *x, void *frame)
{
    struct poll_call *f = frame;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, f->p->fn);
    f->q = f->c->ops->poll_queue(f->c, f->end, f->events);
    for (;;) {
        WB_CALL(x, f, wb_prepare_to_wait(x, f->q, &f->e, false, WB_INTERRUPTIBLE));
        WB_FLUSH(x, f);
        f->got = look(f);
        f->killed = x->task->killed;
        if (f->got || f->killed) break;
        WB_CALL(x, f, wb_schedule(x));
    }
    WB_CALL(x, f, wb_finish_wait(x, f->q, &f->e));
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, f->got ? (int64_t)f->got : IPC_EINTR);
    WB_END();
}

void ipc_poll(struct wb_exec *x, const struct ipc_poll *p, struct wb_channel *c, int end, uint32_t events)
{
    struct poll_call *f = WB_PUSH(x, poll_step, struct poll_call);
    f->p = p;
    f->c = c;
    f->end = end;
    f->events = events;
}
