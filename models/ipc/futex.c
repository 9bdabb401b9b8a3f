#include "futex.h"

#include "skb.h"

enum { WORD_FREE, WORD_LOCKED, WORD_WANTED };

struct futex_call {
    struct wb_frame h;
    struct futex *f;
    struct futex_waiter w;
    struct wb_task *woken; /* taken off, not woken yet */
    uint32_t n;            /* expected value, or how many to wake */
    uint32_t seen;
    int64_t ret;
};

int futex_init(struct wb_sim *s, struct futex *f, const char *version)
{
    uint32_t v;
    *f = (struct futex){.word_line = wb_sim_line(s),
                        .fn_wait = wb_fn_id(s, "futex_wait", WB_CAT_SYSCALL, 0),
                        .fn_wake = wb_fn_id(s, "futex_wake", WB_CAT_SYSCALL, 0),
                        .fn_user = wb_fn_id(s, "lll_lock", WB_CAT_USER, 0)};
    wb_spin_init(s, &f->bucket);
    if (!ipc_parse_version(version, &v)) return -1;
    f->wake_after = v >= IPC_VERSION(4, 2, 0);
    return 0;
}

static void append(struct futex *f, struct futex_waiter *w)
{
    w->next = NULL;
    w->queued = true;
    if (f->last)
        f->last->next = w;
    else
        f->first = w;
    f->last = w;
}

static struct futex_waiter *take_first(struct futex *f)
{
    struct futex_waiter *w = f->first;
    f->first = w->next;
    if (!f->first) f->last = NULL;
    w->next = NULL;
    w->queued = false;
    return w;
}

static void take_out(struct futex *f, struct futex_waiter *w)
{
    struct futex_waiter **at = &f->first, *prev = NULL;
    while (*at != w) {
        prev = *at;
        at = &(*at)->next;
    }
    *at = w->next;
    if (f->last == w) f->last = prev;
    w->queued = false;
}

/* ---- futex_wait() ---- */

/* Linux 2.6.22, 4.2 kernel/futex.c futex_wait_setup, futex_wait_queue_me, unqueue_me. */
static enum wb_ret wait_step(struct wb_exec *x, void *frame)
{
    struct futex_call *c = frame;
    struct futex *f = c->f;
    WB_BEGIN(c);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, f->fn_wait);
    WB_SPIN_LOCK(x, c, &f->bucket);
    WB_LINE(x, c, f->word_line, WB_LINE_READ, f->fn_wait);
    c->ret = f->word == c->n ? 0 : IPC_EAGAIN;
    if (c->ret) {
        WB_SPIN_UNLOCK(x, c, &f->bucket);
        goto out;
    }
    c->w.task = x->task;
    append(f, &c->w);
    x->task->state = WB_INTERRUPTIBLE;
    WB_SPIN_UNLOCK(x, c, &f->bucket);
    f->waits++;
    while (c->w.queued && !x->task->killed) {
        x->task->state = WB_INTERRUPTIBLE;
        WB_CALL(x, c, wb_schedule(x));
    }
    x->task->state = WB_RUNNING;
    WB_SPIN_LOCK(x, c, &f->bucket);
    if (c->w.queued) {
        take_out(f, &c->w);
        c->ret = IPC_EINTR;
    }
    WB_SPIN_UNLOCK(x, c, &f->bucket);
out:
    WB_SYSCALL_EXIT(x, c);
    WB_RETURN(x, c->ret);
    WB_END();
}

void futex_wait(struct wb_exec *x, struct futex *f, uint32_t expected)
{
    struct futex_call *c = WB_PUSH(x, wait_step, struct futex_call);
    c->f = f;
    c->n = expected;
}

/* ---- futex_wake() ---- */

static enum wb_ret wake_step(struct wb_exec *x, void *frame)
{
    struct futex_call *c = frame;
    struct futex *f = c->f;
    WB_BEGIN(c);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, f->fn_wake);
    WB_SPIN_LOCK(x, c, &f->bucket);
    while (c->ret < c->n && f->first) {
        c->ret++;
        f->wakes++;
        c->woken = take_first(f)->task; /* its frame may go once the lock is dropped */
        if (f->wake_after) WB_SPIN_UNLOCK(x, c, &f->bucket);
        WB_CALL(x, c, wb_try_to_wake_up(x, c->woken, WB_ASLEEP, 0));
        if (f->wake_after) WB_SPIN_LOCK(x, c, &f->bucket);
    }
    WB_SPIN_UNLOCK(x, c, &f->bucket);
    WB_SYSCALL_EXIT(x, c);
    WB_RETURN(x, c->ret);
    WB_END();
}

void futex_wake(struct wb_exec *x, struct futex *f, uint32_t n)
{
    struct futex_call *c = WB_PUSH(x, wake_step, struct futex_call);
    c->f = f;
    c->n = n;
}

/* ---- the mutex ---- */

static enum wb_ret lock_step(struct wb_exec *x, void *frame)
{
    struct futex_call *c = frame;
    struct futex *f = c->f;
    WB_BEGIN(c);
    x->user = 1;
    wb_charge_fn(x, f->fn_user);
    WB_LINE(x, c, f->word_line, WB_LINE_RMW, f->fn_user);
    if (f->word != WORD_FREE) {
        for (;;) {
            WB_LINE(x, c, f->word_line, WB_LINE_RMW, f->fn_user);
            c->seen = f->word;
            f->word = WORD_WANTED;
            if (c->seen == WORD_FREE) break;
            if (x->task->killed) WB_RETURN(x, IPC_EINTR);
            WB_CALL(x, c, futex_wait(x, f, WORD_WANTED));
        }
    } else {
        f->word = WORD_LOCKED;
    }
    WB_CHECK(!f->owner, "two owners of one futex");
    f->owner = x->task;
    WB_RETURN(x, 0);
    WB_END();
}

void futex_lock(struct wb_exec *x, struct futex *f)
{
    struct futex_call *c = WB_PUSH(x, lock_step, struct futex_call);
    c->f = f;
}

static enum wb_ret unlock_step(struct wb_exec *x, void *frame)
{
    struct futex_call *c = frame;
    struct futex *f = c->f;
    WB_BEGIN(c);
    x->user = 1;
    wb_charge_fn(x, f->fn_user);
    WB_LINE(x, c, f->word_line, WB_LINE_RMW, f->fn_user);
    WB_CHECK(f->owner == x->task, "a futex is dropped by task %u, which does not hold it", x->task->id);
    f->owner = NULL;
    c->seen = f->word;
    f->word = WORD_FREE;
    if (c->seen == WORD_WANTED) WB_CALL(x, c, futex_wake(x, f, 1));
    WB_RETURN(x, 0);
    WB_END();
}

void futex_unlock(struct wb_exec *x, struct futex *f)
{
    struct futex_call *c = WB_PUSH(x, unlock_step, struct futex_call);
    c->f = f;
}
