#include "unix.h"

#include <string.h>

struct unix_pair *unix_of(struct wb_channel *c)
{
    WB_CHECK(c && c->ops == &wb_ipc_unix, "a channel that is no AF_UNIX pair");
    return (struct unix_pair *)c;
}

/* ---- calls ---- */

static struct unix_call *start_call(struct wb_exec *x, struct unix_pair *u, wb_step_fn step, int end)
{
    WB_CHECK(u->end[end].k.holders, "end %d of pair %s is used after it was closed", end, u->name);
    struct unix_call *f = WB_PUSH(x, step, struct unix_call);
    f->u = u;
    f->me = &u->end[end];
    f->peer = &u->end[1 - end];
    f->pid_line = f->cred_line = WB_NO_LINE;
    return f;
}

static void unix_read(struct wb_exec *x, struct wb_channel *c, int end, uint32_t buf, uint64_t bytes)
{
    struct unix_call *f = start_call(x, unix_of(c), unix_recv_step, end);
    f->buf = buf;
    f->left = bytes;
}

static void unix_write(struct wb_exec *x, struct wb_channel *c, int end, uint32_t buf, uint64_t bytes)
{
    struct unix_call *f = start_call(x, unix_of(c), unix_send_step, end);
    f->buf = buf;
    f->left = bytes;
}

/* ---- closing ---- */

struct close_call {
    struct wb_frame h;
    struct unix_pair *u;
    struct unix_end *me, *peer;
    struct skb *b;
};

static const struct sock_wake *everybody(const struct unix_state *st, struct sock_wake *how)
{
    *how = (struct sock_wake){.fn = st->fn.wakeup, .callback_lock = st->rules->callback_lock};
    return how;
}

/* Linux 2.6.35 net/unix/af_unix.c unix_release_sock(): the socket is dead, its peer is shut down both ways and woken,
 * what was not read is freed. */
static enum wb_ret close_step(struct wb_exec *x, void *frame)
{
    struct close_call *f = frame;
    struct unix_state *st = f->u->st;
    struct sock_core *k = &f->me->k, *p = &f->peer->k;
    struct sock_wake how;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    WB_FLUSH(x, f);
    if (--k->holders) goto leave;
    wb_charge_fn(x, st->fn.release);
    WB_SPIN_LOCK(x, f, &k->lock);
    k->dead = true;
    k->shutdown = SOCK_RCV_SHUTDOWN | SOCK_SEND_SHUTDOWN;
    WB_SPIN_UNLOCK(x, f, &k->lock);
    WB_SPIN_LOCK(x, f, &p->lock);
    p->shutdown = SOCK_RCV_SHUTDOWN | SOCK_SEND_SHUTDOWN;
    WB_SPIN_UNLOCK(x, f, &p->lock);
    WB_CALL(x, f, sock_wake(x, p, everybody(st, &how)));
    for (;;) {
        WB_FLUSH(x, f);
        f->b = skb_remove_first(&k->rx);
        if (!f->b) break;
        f->me->lost += f->b->len - f->b->off;
        WB_CALL(x, f, unix_free_skb(x, st, f->peer, f->b));
    }
leave:
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, 0);
    WB_END();
}

static void unix_close(struct wb_exec *x, struct wb_channel *c, int end)
{
    struct unix_pair *u = unix_of(c);
    WB_CHECK(u->end[end].k.holders, "end %d of pair %s is closed once too often", end, u->name);
    struct close_call *f = WB_PUSH(x, close_step, struct close_call);
    f->u = u;
    f->me = &u->end[end];
    f->peer = &u->end[1 - end];
}

static void unix_hold(struct wb_channel *c, int end, uint32_t n)
{
    struct unix_pair *u = unix_of(c);
    WB_CHECK(u->end[end].k.holders, "end %d of pair %s is shared after it was closed", end, u->name);
    u->end[end].k.holders += n;
    /* Each holder that has passed the check may hold one buffer beyond the limit. */
    skb_reserve(&u->st->pool, n, u->st->rules->max_bytes);
}

/* ---- polling ---- */

/* Linux 2.6.35 net/unix/af_unix.c unix_poll. */
static uint32_t unix_poll(const struct wb_channel *c, int end)
{
    const struct sock_core *k = &((const struct unix_pair *)c)->end[end].k;
    uint32_t got = 0;
    if (k->rx.first || k->shutdown & SOCK_RCV_SHUTDOWN) got |= WB_POLL_IN;
    if ((uint64_t)k->wmem * 4 <= k->sndbuf) got |= WB_POLL_OUT;
    if (k->shutdown == (SOCK_RCV_SHUTDOWN | SOCK_SEND_SHUTDOWN)) got |= WB_POLL_HUP;
    return got;
}

static struct wb_waitq *unix_poll_queue(struct wb_channel *c, int end, uint32_t events)
{
    (void)events;
    return &unix_of(c)->end[end].k.wait;
}

/* ---- building ---- */

/* Room for all buffers that a send buffer of this size admits, whatever their size: short ones need a page each, long
 * ones no more pages than that. */
static void reserve(struct unix_state *st, uint32_t sndbuf)
{
    skb_reserve(&st->pool, sndbuf / skb_truesize(st->pool.rules, 1) + 1, 1);
    skb_reserve(&st->pool, 1, st->rules->max_bytes);
}

static struct wb_channel *unix_open(struct wb_sim *s, const char *name)
{
    struct unix_state *st = wb_ipc_state(s, &wb_ipc_unix);
    struct unix_pair *u = wb_sim_alloc(s, sizeof *u);
    WB_CHECK(st, "a pair is opened before the kind was set up");
    *u = (struct unix_pair){.ch = {.ops = &wb_ipc_unix}, .st = st, .name = name};
    for (int e = 0; e < 2; e++) {
        sock_init(s, &u->end[e].k, st->pool.rules);
        wb_sleeplock_init(s, &u->end[e].readlock, st->rules->lock, false);
        reserve(st, u->end[e].k.sndbuf);
    }
    return &u->ch;
}

/* setsockopt(SO_SNDBUF): twice what is asked for, 2048 at least; both ends. */
static int unix_resize(struct wb_channel *c, uint64_t bytes)
{
    struct unix_pair *u = unix_of(c);
    if (!bytes || bytes > 16u << 20) return -1;
    for (int e = 0; e < 2; e++) {
        u->end[e].k.sndbuf = (uint32_t)WB_MAX(2 * bytes, (uint64_t)2048);
        if (u->end[e].k.sndbuf > u->st->pool.rules->buffer) reserve(u->st, u->end[e].k.sndbuf);
    }
    return 0;
}

static void unix_audit(const struct wb_channel *c, uint64_t *in, uint64_t *out, uint64_t *inside)
{
    const struct unix_pair *u = (const struct unix_pair *)c;
    *in = *out = *inside = 0;
    for (int e = 0; e < 2; e++) {
        const struct unix_end *me = &u->end[e];
        *in += me->k.in;
        *out += me->k.out;
        *inside += me->k.rx.bytes + me->hand + me->lost;
    }
}

/* ---- per run ---- */

static void make_labels(struct wb_sim *s, struct unix_labels *fn)
{
    const struct {
        uint16_t *id;
        const char *name;
    } rows[] = {
        {&fn->vfs_read, "vfs_read"},
        {&fn->vfs_write, "vfs_write"},
        {&fn->fget, "fget_light"},
        {&fn->sock_sendmsg, "sock_sendmsg"},
        {&fn->sock_recvmsg, "sock_recvmsg"},
        {&fn->sendmsg, "unix_stream_sendmsg"},
        {&fn->recvmsg, "unix_stream_recvmsg"},
        {&fn->alloc, "sock_alloc_send_pskb"},
        {&fn->wait_wmem, "sock_wait_for_wmem"},
        {&fn->data_wait, "unix_stream_data_wait"},
        {&fn->wfree, "sock_wfree"},
        {&fn->write_space, "unix_write_space"},
        {&fn->readable, "sock_def_readable"},
        {&fn->wakeup, "sock_def_wakeup"},
        {&fn->release, "unix_release_sock"},
        {&fn->scm_to_skb, "unix_scm_to_skb"},
        {&fn->cred_to_ucred, "cred_to_ucred"},
        {&fn->pid_vnr, "pid_vnr"},
        {&fn->put_pid, "put_pid"},
        {&fn->destruct_scm, "unix_destruct_scm"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) *rows[i].id = wb_fn_id(s, rows[i].name, WB_CAT_SYSCALL, 0);
}

/* What all pairs of the machine count. */
static const struct wb_metric_def figures[] = {
    {"unix.messages", "1", WB_BETTER_NONE, "Buffers queued to AF_UNIX sockets."},
    {"unix.data_wakes", "1", WB_BETTER_NONE, "Buffers that found somebody on the receiver's wait queue."},
    {"unix.data_woken", "1", WB_BETTER_NONE, "Sleepers woken by them."},
    {"unix.space_wakes", "1", WB_BETTER_NONE, "Frees that found somebody on the sender's wait queue."},
    {"unix.space_woken", "1", WB_BETTER_NONE, "Sleepers woken by them."},
    {"unix.sleeps_sender", "1", WB_BETTER_NONE, "How often a send waited for room."},
    {"unix.sleeps_receiver", "1", WB_BETTER_NONE, "How often a receive waited for data."},
    {"unix.lock_sleeps", "1", WB_BETTER_NONE, "How often a task slept for the readers' lock."},
    {"unix.cred_atomics", "1", WB_BETTER_NONE, "Locked operations on struct pid and struct cred."},
};

static void make_counters(struct wb_sim *s, struct unix_counters *n)
{
    struct wb_counter **const place[] = {
        &n->messages,      &n->data_wakes,      &n->data_woken,  &n->space_wakes,  &n->space_woken,
        &n->sleeps_sender, &n->sleeps_receiver, &n->lock_sleeps, &n->cred_atomics,
    };
    _Static_assert(WB_ARRAY_SIZE(place) == WB_ARRAY_SIZE(figures), "one counter per row");
    for (size_t i = 0; i < WB_ARRAY_SIZE(figures); i++)
        *place[i] = wb_counter_new(s, UINT32_MAX, figures[i].name, figures[i].unit, figures[i].help);
}

static int unix_init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    const char *version = wb_cfg_str(cfg, "kernel.unix"), *creds = wb_cfg_str(cfg, "kernel.unix_creds");
    struct unix_state *st = wb_sim_alloc(s, sizeof *st);
    uint32_t v = 0;
    *st = (struct unix_state){.rules = unix_rules_find(version)};
    if (!st->rules || !ipc_parse_version(version, &v)) {
        wb_cfg_error(cfg, d, "kernel.unix", "a kernel version such as \"2.6.36\" or \"6.12\"; from 2.6.0 on",
                     "'%s' is not a version whose AF_UNIX rules are known", version);
        return -1;
    }
    skb_pool_init(s, &st->pool, v, (uint32_t)wb_cfg_int(cfg, "kernel.page_size"));
    st->pool.fragments = st->rules->fragments;
    st->creds = strcmp(creds, "version") ? !strcmp(creds, "references") : st->rules->creds;
    make_labels(s, &st->fn);
    make_counters(s, &st->count);
    wb_ipc_set_state(s, &wb_ipc_unix, st);
    return 0;
}

/* The deepest stack: a call, in it queueing or freeing, in that the wake. */
#define FRAME_NEED 256

const struct wb_ipc_ops wb_ipc_unix = {
    .abi = WB_POLICY_ABI,
    .flags = WB_IPC_DUPLEX,
    .kind = "unix",
    .help = "A pair of connected AF_UNIX stream sockets. Rules by kernel version (kernel.unix): accounting of buffers, "
            "wakes, the readers' lock, credentials.",
    .keys = unix_keys,
    .nkeys = UNIX_KEYS,
    .metrics = figures,
    .nmetrics = WB_ARRAY_SIZE(figures),
    .frame_need = FRAME_NEED,
    .init = unix_init,
    .open = unix_open,
    .read = unix_read,
    .write = unix_write,
    .close = unix_close,
    .hold = unix_hold,
    .resize = unix_resize,
    .poll = unix_poll,
    .poll_queue = unix_poll_queue,
    .audit = unix_audit,
};
