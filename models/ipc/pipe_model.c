#include "pipe.h"

#include <string.h>

/* ---- calls ---- */

struct generation {
    wb_step_fn read, write;
};
static const struct generation generations[] = {
    [PIPE_GEN_PAGE] = {pipe_page_read_step, pipe_page_write_step},
    [PIPE_GEN_RING] = {pipe_ring_read_step, pipe_ring_write_step},
    [PIPE_GEN_HEAD] = {pipe_head_read_step, pipe_head_write_step},
    [PIPE_GEN_BSD] = {pipe_bsd_read_step, pipe_bsd_write_step},
};

struct pipe *pipe_of(struct wb_channel *c)
{
    WB_CHECK(c && c->ops == &wb_ipc_pipe, "a channel that is no pipe");
    return (struct pipe *)c;
}

static void start_call(struct wb_exec *x, struct pipe *p, wb_step_fn step, uint32_t buf, uint64_t bytes)
{
    struct pipe_call *f = WB_PUSH(x, step, struct pipe_call);
    f->p = p;
    WB_CHECK(bytes <= UINT32_MAX, "a call of %llu bytes on a pipe", (unsigned long long)bytes);
    f->buf = buf;
    f->left = (uint32_t)bytes;
}

static void pipe_read(struct wb_exec *x, struct wb_channel *c, int end, uint32_t buf, uint64_t bytes)
{
    struct pipe *p = pipe_of(c);
    WB_CHECK(end == PIPE_READ_END && p->holders[end], "read from the wrong or a closed end of a pipe");
    start_call(x, p, generations[p->st->rules->gen].read, buf, bytes);
}

static void pipe_write(struct wb_exec *x, struct wb_channel *c, int end, uint32_t buf, uint64_t bytes)
{
    struct pipe *p = pipe_of(c);
    WB_CHECK(end == PIPE_WRITE_END && p->holders[end], "write to the wrong or a closed end of a pipe");
    start_call(x, p, generations[p->st->rules->gen].write, buf, bytes);
}

/* ---- closing ---- */

struct close_call {
    struct wb_frame h;
    struct pipe *p;
    int end;
};

/* pipe_release(): up to 5.4 one wake of the common queue, from 5.5 all sleepers of both queues when one side is left;
 * lock held. */
static enum wb_ret close_step(struct wb_exec *x, void *frame)
{
    struct close_call *f = frame;
    struct pipe *p = f->p;
    const struct pipe_state *st = p->st;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, st->fn.release);
    WB_FLUSH(x, f);
    if (--p->holders[f->end]) goto leave;
    PIPE_LOCK(x, f, p);
    WB_LINE(x, f, p->line, WB_LINE_WRITE, st->fn.release);
    if (f->end == PIPE_READ_END)
        p->readers = false;
    else
        p->writers = false;
    if (!p->readers && !p->writers) {
        if (pipe_has_slots(p)) pipe_free_pages(x, p);
    } else if (st->rules->gen == PIPE_GEN_HEAD) {
        WB_CALL(x, f, wb_wake_up(x, &p->rd, 1u << WB_INTERRUPTIBLE, 0, 0));
        WB_CALL(x, f, wb_wake_up(x, &p->wr, 1u << WB_INTERRUPTIBLE, 0, 0));
    } else {
        WB_CALL(x, f, wb_wake_up(x, &p->rd, 1u << WB_INTERRUPTIBLE, 1, st->rules->sync_close ? WB_WF_SYNC : 0));
    }
    PIPE_UNLOCK(x, f, p);
leave:
    WB_SYSCALL_EXIT(x, f);
    WB_RETURN(x, 0);
    WB_END();
}

static void pipe_close(struct wb_exec *x, struct wb_channel *c, int end)
{
    struct pipe *p = pipe_of(c);
    WB_CHECK(p->holders[end], "end %d of a pipe is closed once too often", end);
    struct close_call *f = WB_PUSH(x, close_step, struct close_call);
    f->p = p;
    f->end = end;
}

static void pipe_hold(struct wb_channel *c, int end, uint32_t n)
{
    struct pipe *p = pipe_of(c);
    WB_CHECK(p->holders[end], "end %d of a pipe is shared after it was closed", end);
    p->holders[end] += n;
}

static struct wb_waitq *pipe_poll_queue(struct wb_channel *c, int end, uint32_t events)
{
    struct pipe *p = pipe_of(c);
    (void)events;
    p->poll_usage = true;
    return end == PIPE_READ_END || p->st->rules->gen != PIPE_GEN_HEAD ? &p->rd : &p->wr;
}

/* kern/sys_pipe.c pipe_poll: room for PIPE_BUF bytes. */
static uint32_t bsd_poll(const struct pipe *p, int end)
{
    bool data = p->len || p->bsd.direct, room = p->bsd.size - p->len >= 512 && !p->bsd.direct;
    if (end == PIPE_READ_END) return (data ? (uint32_t)WB_POLL_IN : 0) | (p->writers ? 0 : (uint32_t)WB_POLL_HUP);
    return (room ? (uint32_t)WB_POLL_OUT : 0) | (p->readers ? 0 : (uint32_t)WB_POLL_HUP);
}

/* Linux 2.6.11, 5.15 fs/pipe.c pipe_poll. */
static uint32_t pipe_poll(const struct wb_channel *c, int end)
{
    const struct pipe *p = (const struct pipe *)c;
    bool one_page = p->st->rules->gen == PIPE_GEN_PAGE;
    if (p->st->rules->gen == PIPE_GEN_BSD) return bsd_poll(p, end);
    if (end == PIPE_READ_END) {
        bool data = one_page ? p->len : p->used;
        return (data ? (uint32_t)WB_POLL_IN : 0) | (p->writers ? 0 : (uint32_t)WB_POLL_HUP);
    }
    bool room = one_page ? !p->len : !pipe_full(p);
    return (room ? (uint32_t)WB_POLL_OUT : 0) | (p->readers ? 0 : (uint32_t)WB_POLL_HUP);
}

/* ---- building ---- */

/* Descriptors of n slots, on lines of their own. */
static void make_slots(struct wb_sim *s, struct pipe *p, uint32_t n)
{
    p->nslots = (uint16_t)n;
    p->slot_line = WB_NO_LINE;
    wb_sim_lines_later(s, pipe_slot_lines(p));
}

static struct pipe *pipe_alloc(struct wb_sim *s, enum pipe_generation gen)
{
    static const size_t bytes[] = {[PIPE_GEN_PAGE] = offsetof(struct pipe, wr),
                                   [PIPE_GEN_RING] = offsetof(struct pipe, wr),
                                   [PIPE_GEN_HEAD] = offsetof(struct pipe, bsd),
                                   [PIPE_GEN_BSD] = sizeof(struct pipe)};
    return wb_sim_alloc(s, bytes[gen]);
}

static struct wb_channel *pipe_open(struct wb_sim *s, const char *name)
{
    struct pipe_state *st = wb_ipc_state(s, &wb_ipc_pipe);
    WB_CHECK(st, "a pipe is opened before the kind was set up");
    struct pipe *p = pipe_alloc(s, (enum pipe_generation)st->rules->gen);
    p->ch.ops = &wb_ipc_pipe;
    p->st = st;
    p->readers = p->writers = true;
    p->holders[0] = p->holders[1] = 1;
    if (pipe_has_slots(p)) p->oldest = p->newest = p->tmp[0] = p->tmp[1] = WB_NO_REGION;
    wb_sleeplock_init(s, &p->lock, st->lock_kind, st->lock_sync);
    wb_waitq_init(s, &p->rd);
    if (st->rules->gen >= PIPE_GEN_HEAD) wb_waitq_init(s, &p->wr);
    p->line = wb_sim_line(s);
    p->file_line = WB_NO_LINE;
    wb_sim_lines_later(s, 2);
    if (st->rules->gen == PIPE_GEN_PAGE) {
        p->page = wb_sim_region(s, st->page_bytes, name);
        return &p->ch;
    }
    if (st->rules->gen == PIPE_GEN_BSD) {
        p->bsd.size = 16384; /* pipe_bsd.c; grows into the rest */
        p->page = wb_sim_region(s, 65536, name);
        return &p->ch;
    }
    make_slots(s, p, PIPE_SLOTS_DEFAULT);
    wb_sim_pages(s, p->nslots + st->rules->tmp_pages, st->page_bytes);
    return &p->ch;
}

/* Linux 5.15 fs/pipe.c pipe_set_size, round_pipe_size: whole pages, a power of two of them. */
static int pipe_resize(struct wb_channel *c, uint64_t bytes)
{
    struct pipe *p = pipe_of(c);
    uint64_t slots = 1, page = p->st->page_bytes;
    if (!p->st->rules->resizable || !bytes || bytes > PIPE_MAX_BYTES) return -1;
    while (slots * page < bytes) slots *= 2;
    if (slots > p->nslots) wb_sim_pages(p->st->sim, (uint32_t)slots - p->nslots, p->st->page_bytes);
    make_slots(p->st->sim, p, (uint32_t)slots);
    return 0;
}

/* Linux 3.4 fs/pipe.c pipe_write: is_packetized(). A read takes one packet; here reads are as large as writes. */
static int pipe_packets(struct wb_channel *c, uint64_t bytes)
{
    struct pipe *p = pipe_of(c);
    if (!p->st->rules->resizable || bytes > p->st->page_bytes) return -1;
    p->packets = true;
    return 0;
}

static void pipe_audit(const struct wb_channel *c, uint64_t *in, uint64_t *out, uint64_t *inside)
{
    const struct pipe *p = (const struct pipe *)c;
    *in = p->in;
    *out = p->out;
    *inside = pipe_has_slots(p) ? 0 : p->len;
    if (!pipe_has_slots(p)) return;
    for (uint32_t page = p->oldest; page != WB_NO_REGION; page = pipe_note(p, page)->next)
        *inside += pipe_note(p, page)->len;
}

/* ---- per run ---- */

static void make_labels(struct wb_sim *s, struct pipe_labels *fn)
{
    *fn = (struct pipe_labels){
        .fget = wb_fn_id(s, "fget_light", WB_CAT_SYSCALL, 0),
        .read = wb_fn_id(s, "pipe_read", WB_CAT_SYSCALL, 0),
        .write = wb_fn_id(s, "pipe_write", WB_CAT_SYSCALL, 0),
        .vfs_read = wb_fn_id(s, "vfs_read", WB_CAT_SYSCALL, 0),
        .vfs_write = wb_fn_id(s, "vfs_write", WB_CAT_SYSCALL, 0),
        .buf = wb_fn_id(s, "pipe_buf", WB_CAT_SYSCALL, 0),
        .wait = wb_fn_id(s, "pipe_wait", WB_CAT_SYSCALL, 0),
        .alloc = wb_fn_id(s, "alloc_page", WB_CAT_SYSCALL, 0),
        .free = wb_fn_id(s, "free_page", WB_CAT_SYSCALL, 0),
        .release = wb_fn_id(s, "pipe_release", WB_CAT_SYSCALL, 0),
        .wire = wb_fn_id(s, "pipe_wire_page", WB_CAT_SYSCALL, 0),
        .alloc_first = wb_fn_id(s, "alloc_page_first", WB_CAT_SYSCALL, 0),
        .free_first = wb_fn_id(s, "free_page_first", WB_CAT_SYSCALL, 0),
    };
}

/* What all pipes of the machine count. */
static const struct wb_metric_def figures[] = {
    {"pipe.wake_plain_writer", "1", WB_BETTER_NONE, "Wake calls without the sync hint made by writes."},
    {"pipe.wake_sync_writer", "1", WB_BETTER_NONE, "Wake calls with the sync hint made by writes."},
    {"pipe.wake_plain_reader", "1", WB_BETTER_NONE, "Wake calls without the sync hint made by reads."},
    {"pipe.wake_sync_reader", "1", WB_BETTER_NONE, "Wake calls with the sync hint made by reads."},
    {"pipe.found_plain_together", "1", WB_BETTER_NONE, "Sleepers met by a plain wake on the waker's CPU."},
    {"pipe.found_plain_apart", "1", WB_BETTER_NONE, "Sleepers met by a plain wake on another CPU."},
    {"pipe.found_sync_together", "1", WB_BETTER_NONE, "Sleepers met by a sync wake on the waker's CPU."},
    {"pipe.found_sync_apart", "1", WB_BETTER_NONE, "Sleepers met by a sync wake on another CPU."},
    {"pipe.handoffs", "1", WB_BETTER_NONE, "Turnovers: a chunk is taken out right after one was put in."},
    {"pipe.fills", "1", WB_BETTER_NONE, "Chunks copied into pipes."},
    {"pipe.drains", "1", WB_BETTER_NONE, "Chunks copied out of pipes."},
    {"pipe.lock_sleeps", "1", WB_BETTER_NONE, "How often a task slept for a pipe's lock."},
    {"pipe.sleeps_writer", "1", WB_BETTER_NONE, "How often a write waited for room."},
    {"pipe.sleeps_reader", "1", WB_BETTER_NONE, "How often a read waited for data."},
};

static void make_counters(struct wb_sim *s, struct pipe_counters *n)
{
    struct wb_counter **const place[] = {
        &n->wake[PIPE_BY_WRITER][0],
        &n->wake[PIPE_BY_WRITER][1],
        &n->wake[PIPE_BY_READER][0],
        &n->wake[PIPE_BY_READER][1],
        &n->found[0][0],
        &n->found[0][1],
        &n->found[1][0],
        &n->found[1][1],
        &n->handoffs,
        &n->fills,
        &n->drains,
        &n->lock_sleeps,
        &n->sleeps[PIPE_BY_WRITER],
        &n->sleeps[PIPE_BY_READER],
    };
    _Static_assert(WB_ARRAY_SIZE(place) == WB_ARRAY_SIZE(figures), "one counter per row");
    for (size_t i = 0; i < WB_ARRAY_SIZE(figures); i++)
        *place[i] = wb_counter_new(s, UINT32_MAX, figures[i].name, figures[i].unit, figures[i].help);
}

static uint8_t index_of(const char *word, const char *const *words)
{
    uint8_t i = 0;
    while (words[i] && strcmp(words[i], word)) i++;
    WB_CHECK(words[i], "'%s' is not one of the words of its key", word);
    return i;
}

static int pipe_init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d)
{
    static const char *const sync_words[] = {"version", "always", "never", NULL};
    const char *version = wb_cfg_str(cfg, "kernel.pipe"), *lock = wb_cfg_str(cfg, "kernel.pipe_lock");
    int64_t page = wb_cfg_int(cfg, "kernel.page_size");
    struct pipe_state *st = wb_sim_alloc(s, sizeof *st);
    st->sim = s;
    st->rules = pipe_rules_find(version);
    if (!st->rules)
        wb_cfg_error(cfg, d, "kernel.pipe",
                     "a kernel version such as \"2.6.11\" or \"6.12\" from 2.6.0 on, or \"freebsd\"",
                     "'%s' is not a version whose pipe rules are known", version);
    if (page < 4096 || page > 65536 || (page & (page - 1)))
        wb_cfg_error(cfg, d, "kernel.page_size", "4 KiB, 8 KiB, 16 KiB, 32 KiB or 64 KiB",
                     "a page is a power of two of bytes");
    if (!st->rules || page < 4096 || page > 65536 || (page & (page - 1))) return -1;
    st->page_bytes = (uint32_t)page;
    uint32_t line = wb_topo(s)->cache[wb_topo_cache_of(wb_topo(s), 0, 0)].line;
    st->slots_per_line = WB_MAX(line / WB_MAX(st->rules->slot_bytes, (uint8_t)1), 1u);
    st->lock_kind = strcmp(lock, "version") ? index_of(lock, wb_sleeplock_kind_name) : st->rules->lock;
    st->sync = index_of(wb_cfg_str(cfg, "kernel.pipe_sync"), sync_words);
    st->lock_sync = wb_cfg_bool(cfg, "kernel.pipe_lock_sync");
    make_labels(s, &st->fn);
    make_counters(s, &st->count);
    wb_ipc_set_state(s, &wb_ipc_pipe, st);
    return 0;
}

/* A call, in it a wait. */
#define FRAME_NEED 112

const struct wb_ipc_ops wb_ipc_pipe = {
    .abi = WB_POLICY_ABI,
    .kind = "pipe",
    .help =
        "An anonymous pipe. Rules by kernel version (kernel.pipe): one page, a ring of 16 pages, head and tail with "
        "exclusive sleepers, or FreeBSD's.",
    .keys = pipe_keys,
    .nkeys = PIPE_KEYS,
    .metrics = figures,
    .nmetrics = WB_ARRAY_SIZE(figures),
    .frame_need = FRAME_NEED,
    .init = pipe_init,
    .open = pipe_open,
    .read = pipe_read,
    .write = pipe_write,
    .close = pipe_close,
    .hold = pipe_hold,
    .resize = pipe_resize,
    .packets = pipe_packets,
    .poll = pipe_poll,
    .poll_queue = pipe_poll_queue,
    .audit = pipe_audit,
};
