#include "unix.h"

/*
 * The credentials that AF_UNIX messages carry from 2.6.36 to 3.1 (commits 257b5358b32 and 7361c36c522 of June 2010;
 * taken back for sockets that did not ask by 16e572626961, 3.2). scm_set_cred() takes a reference on the struct pid
 * of the sender's thread group and on its struct cred and translates both (cred_to_ucred, pid_vnr): at the sender for
 * the call, at the receiver for what it was sent. unix_scm_to_skb() takes two more for the buffer. put_pid() looks at
 * the count before it decrements it, so it often pays twice.
 *
 * All fields that matter lie in the first line of each structure, with the count: a plain read of them misses whenever
 * another CPU has counted since.
 */

struct cred_call {
    struct wb_frame h;
    struct unix_state *st;
    uint32_t pid, cred;
    uint16_t fn;
};

static struct cred_call *start(struct wb_exec *x, wb_step_fn step, struct unix_state *st, uint32_t pid, uint32_t cred)
{
    struct cred_call *f = WB_PUSH(x, step, struct cred_call);
    f->st = st;
    f->pid = pid;
    f->cred = cred;
    return f;
}

static void count(struct wb_exec *x, struct unix_state *st, int n)
{
    st->pid_refs += n;
    st->cred_refs += n;
    wb_counter_add(x, st->count.cred_atomics, 2);
}

static enum wb_ret set_step(struct wb_exec *x, void *frame)
{
    struct cred_call *f = frame;
    const struct unix_labels *fn = &f->st->fn;
    WB_BEGIN(f);
    IPC_LINE(x, f, f->pid, WB_LINE_RMW, f->fn);
    IPC_LINE(x, f, f->cred, WB_LINE_RMW, f->fn);
    count(x, f->st, 1);
    wb_charge_fn(x, fn->pid_vnr);
    IPC_LINE(x, f, f->pid, WB_LINE_READ, fn->pid_vnr);
    wb_charge_fn(x, fn->cred_to_ucred);
    IPC_LINE(x, f, f->cred, WB_LINE_READ, fn->cred_to_ucred);
    WB_END();
}

void unix_cred_set(struct wb_exec *x, struct unix_state *st, uint32_t pid_line, uint32_t cred_line, uint16_t fn)
{
    start(x, set_step, st, pid_line, cred_line)->fn = fn;
}

static enum wb_ret attach_step(struct wb_exec *x, void *frame)
{
    struct cred_call *f = frame;
    WB_BEGIN(f);
    wb_charge_fn(x, f->st->fn.scm_to_skb);
    IPC_LINE(x, f, f->pid, WB_LINE_RMW, f->st->fn.scm_to_skb);
    IPC_LINE(x, f, f->cred, WB_LINE_RMW, f->st->fn.scm_to_skb);
    count(x, f->st, 1);
    WB_END();
}

void unix_cred_attach(struct wb_exec *x, struct unix_state *st, struct skb *b, uint32_t pid_line, uint32_t cred_line)
{
    b->cookie[0] = pid_line;
    b->cookie[1] = cred_line;
    (void)start(x, attach_step, st, pid_line, cred_line);
}

static enum wb_ret put_step(struct wb_exec *x, void *frame)
{
    struct cred_call *f = frame;
    const struct unix_labels *fn = &f->st->fn;
    WB_BEGIN(f);
    wb_charge_fn(x, fn->put_pid);
    IPC_LINE(x, f, f->pid, WB_LINE_READ, fn->put_pid);
    IPC_LINE(x, f, f->pid, WB_LINE_RMW, fn->put_pid);
    IPC_LINE(x, f, f->cred, WB_LINE_RMW, f->fn);
    count(x, f->st, -1);
    WB_END();
}

void unix_cred_put(struct wb_exec *x, struct unix_state *st, uint32_t pid_line, uint32_t cred_line, uint16_t fn)
{
    start(x, put_step, st, pid_line, cred_line)->fn = fn;
}
