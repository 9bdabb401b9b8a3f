/*
 * pipe.h - anonymous pipes: what the files of models/ipc share.
 *
 * A pipe is a lock that sleeps, a ring of slots (or one page used as a circular buffer), one or two wait queues and
 * two counts of open ends. Everything that differs between kernel versions is a column of struct pipe_rules
 * (pipe_rules.c); three pairs of step functions cover three generations of the code: pipe_page.c (one page, up to
 * 2.6.10), pipe_ring.c (16 slots, one queue, up to 5.4), pipe_head.c (two queues of exclusive sleepers, 5.5 and later).
 * pipe_bsd.c has FreeBSD's, which hand over large writes without a copy in between.
 *
 * Copies run under the pipe's lock. Where a wake stands relative to the lock is part of the rules: up to 5.4 the wake
 * before sleeping happens under the lock and the wake at the end of the call after it; from 5.5 both happen after it.
 *
 * Costs: each call pays its path (kernel.path.pipe_read ...), each chunk a path, the line of the pipe's counters, the
 * line of its slot descriptor and a copy between the caller's buffer region and the slot's page region; what that
 * costs depends on who touched them last. Pages come from the free list of the CPU that runs the writer and go to the
 * list of the one that runs the reader.
 *
 * Simplified: no signals (EPIPE without SIGPIPE), no splice, no O_DIRECT packets, no async notification, no inode
 * times, no line for struct page.
 */
#ifndef WB_IPC_PIPE_H
#define WB_IPC_PIPE_H

#include "ipc_file.h"
#include "wakebal/kernel.h"
#include "wakebal/machine.h"
#include "wakebal/workload.h"

#define PIPE_BUF_BYTES 4096u /* POSIX PIPE_BUF of Linux: writes up to this are atomic */
#define PIPE_SLOTS_DEFAULT 16u
#define PIPE_MAX_BYTES (1u << 20) /* /proc/sys/fs/pipe-max-size */
#define PIPE_EPIPE (-32)

enum pipe_end { PIPE_WRITE_END, PIPE_READ_END };

enum pipe_generation { PIPE_GEN_PAGE, PIPE_GEN_RING, PIPE_GEN_HEAD, PIPE_GEN_BSD };

enum pipe_merge {
    PIPE_MERGE_NONE,
    PIPE_MERGE_SMALL, /* a write below a page, if all of it fits behind the last slot's data */
    PIPE_MERGE_TAIL   /* the odd part of any write (size modulo page), if it fits there */
};

/* When does a read wake the writers at its end? */
enum pipe_wake_writer {
    PIPE_WAKE_PROGRESS, /* after anything was taken (one page) or a slot was released (ring) */
    PIPE_WAKE_WAS_FULL, /* the ring was full when the call, or its wait, began */
    PIPE_WAKE_FREED     /* a slot was released while the ring was full */
};

/* The rules of a kernel version. A row holds from `name` until the next row. */
struct pipe_rules {
    const char *name;    /* "2.6.11" */
    uint32_t version;    /* IPC_VERSION(2, 6, 11) */
    uint8_t gen;         /* enum pipe_generation */
    uint8_t merge;       /* enum pipe_merge */
    uint8_t wake_writer; /* enum pipe_wake_writer */
    uint8_t tmp_pages;   /* free pages that the pipe keeps */
    uint8_t slot_bytes;  /* size of a slot's descriptor: how many share a line */
    uint8_t lock;        /* enum wb_sleeplock_kind */
    bool sync_sleep;     /* the wake before sleeping carries the sync hint */
    bool sync_end;       /* so does the wake at the end of the call */
    bool sync_close;
    bool syscall_merging; /* a read waits for more while a writer sleeps */
    bool noninteractive;  /* sleeps are marked TASK_NONINTERACTIVE */
    bool publish_first;   /* the writer claims a slot, under the read queue's lock, before it copies */
    bool resizable;       /* F_SETPIPE_SZ */
    const char *text;     /* for help */
};

extern const struct pipe_rules pipe_rules[];
extern const size_t pipe_rules_n;
/* Rules of a version such as "2.6.22" or "6.12": the newest row that is not newer; or of "freebsd". NULL: neither. */
const struct pipe_rules *pipe_rules_find(const char *version);

enum pipe_sync { PIPE_SYNC_VERSION, PIPE_SYNC_ALWAYS, PIPE_SYNC_NEVER };

struct pipe_labels {
    uint16_t fget, read, write, vfs_read, vfs_write, buf, wait, alloc, free, release, wire, alloc_first, free_first;
};

/* Who calls the wake, and how. */
enum pipe_by { PIPE_BY_WRITER, PIPE_BY_READER };

struct pipe_counters {
    struct wb_counter *wake[2][2];  /* [enum pipe_by][sync] wake calls of reads and writes */
    struct wb_counter *found[2][2]; /* [sync][waker on another CPU than the sleeper] sleepers met by them */
    struct wb_counter *handoffs, *fills, *drains, *lock_sleeps;
    struct wb_counter *sleeps[2]; /* [enum pipe_by] */
};

/* FreeBSD: the size of the buffer, and the part of a writer's own memory that readers copy from. */
struct pipe_bsd {
    uint32_t size;
    uint32_t buf, left; /* region; bytes that nobody has taken yet */
    uint64_t off;
    bool direct;         /* a writer offers its memory and waits (PIPE_DIRECTW) */
    bool want_r, want_w; /* a reader, a writer sleeps and wants to be told */
};

/* Per run: shared by all pipes. */
struct pipe_state {
    struct wb_sim *sim;
    const struct pipe_rules *rules;
    uint32_t page_bytes;
    uint32_t slots_per_line;
    uint8_t lock_kind;
    bool lock_sync;
    uint8_t sync; /* enum pipe_sync */
    struct pipe_labels fn;
    struct pipe_counters count;
};

/* Large simulations have ten thousands: what only some generations need stands last and is there for them only. */
struct pipe {
    struct wb_channel ch;
    struct pipe_state *st;
    struct wb_sleeplock lock;
    struct wb_waitq rd; /* one-queue versions use it for both sides */
    uint32_t line;      /* counters: cursor, used, waiting writers */
    uint32_t file_line; /* pipe_file_line() */
    uint32_t slot_line; /* of the first slot's descriptor, once used; the others follow, slots_per_line on each */
    uint16_t nslots, first, used;
    bool readers : 1, writers : 1; /* the end is open */
    bool poll_usage : 1;           /* somebody has polled: every write wakes the read queue (5.5+) */
    bool filled : 1;               /* the last copy went in */
    bool packets : 1;              /* O_DIRECT: nothing is added to a slot that is in use */
    union {
        struct {                     /* PIPE_GEN_RING, PIPE_GEN_HEAD */
            uint32_t oldest, newest; /* pages of the slots in use, a list (struct wb_page_note), or WB_NO_REGION */
            uint32_t tmp[2];         /* pages kept for the next write */
        };
        struct { /* PIPE_GEN_PAGE, PIPE_GEN_BSD: the region and what is in it */
            uint32_t page, start, len;
        };
    };
    uint32_t waiting_writers;
    uint32_t holders[2]; /* tasks that hold an end */
    uint64_t in, out;
    struct wb_waitq wr;  /* from PIPE_GEN_HEAD on */
    struct pipe_bsd bsd; /* PIPE_GEN_BSD */
};
_Static_assert(PIPE_MAX_BYTES / 4096 <= UINT16_MAX, "slots are counted in 16 bits");

/* One read() or write() under way. */
struct pipe_call {
    struct wb_frame h;
    struct pipe *p;
    int64_t ret;
    uint32_t buf;   /* the caller's buffer region */
    uint32_t chars; /* of the chunk that is being copied */
    uint32_t off, left;
    union {
        uint32_t min;  /* one page: least free room that a copy waits for */
        uint32_t page; /* ring: of the slot that is being filled */
    };
    bool wake;  /* do_wakeup */
    bool was;   /* was_full or was_empty */
    bool chain; /* wake_next_reader, wake_next_writer */
    bool paged; /* has got a page from the allocator, or given one back */
};

/* f_count of the struct file of an end. Only tasks that share a table of files ask. */
static inline uint32_t pipe_file_line(const struct wb_exec *x, struct pipe *p, enum pipe_end end)
{
    if (p->file_line == WB_NO_LINE) p->file_line = wb_lines_new(wb_machine_state_of(x->sim), 2);
    return p->file_line + end;
}
/* Slots with pages of their own, or one region. */
static inline bool pipe_has_slots(const struct pipe *p)
{
    return p->st->rules->gen == PIPE_GEN_RING || p->st->rules->gen == PIPE_GEN_HEAD;
}
static inline bool pipe_full(const struct pipe *p)
{
    return p->used >= p->nslots;
}
static inline uint32_t pipe_slot_lines(const struct pipe *p)
{
    return (p->nslots + p->st->slots_per_line - 1) / p->st->slots_per_line;
}
/* The line of the i-th slot from the oldest. */
static inline uint32_t pipe_line_of_slot(const struct pipe *p, uint32_t i)
{
    uint32_t k = p->first + i;
    return p->slot_line + (k >= p->nslots ? k - p->nslots : k) / p->st->slots_per_line;
}
static inline struct wb_page_note *pipe_note(const struct pipe *p, uint32_t page)
{
    return wb_page_note(wb_machine_state_of(p->st->sim), page);
}

/* ---- pipe_common.c: frames that all generations use ---- */
/* Begin and end of a call: system call entry, lock; lock dropped (if held), return to user mode. */
#define PIPE_LOCK(x, f, p) \
    do { \
        WB_CALL_NOW(x, f, wb_sleeplock_lock_now((x), (f), &(p)->lock)); \
        if ((x)->ret) wb_counter_add((x), (p)->st->count.lock_sleeps, (uint64_t)(x)->ret); \
    } while (0)
#define PIPE_UNLOCK(x, f, p) WB_CALL_NOW(x, f, wb_sleeplock_unlock_now((x), (f), &(p)->lock))
/* Wake a queue of the pipe and count it. sync: what the version says; kernel.pipe_sync may overrule it. */
void pipe_wake(struct wb_exec *x, struct pipe *p, struct wb_waitq *q, enum pipe_by by, bool sync);
/* pipe_wait() of 2.6.10 .. 5.4: queue, drop the lock, sleep, take the lock again. */
void pipe_wait(struct wb_exec *x, struct pipe *p, enum pipe_by by);

/* ---- pipe_copy.c: chunks; the call's counters move on ---- */
/* Frames; the caller has set f->chars. One page: append behind what is there, take from the front. Ring: behind the
 * data of the last slot. */
void pipe_fill_page(struct wb_exec *x, struct pipe_call *f);
void pipe_drain_page(struct wb_exec *x, struct pipe_call *f);
void pipe_fill_last(struct wb_exec *x, struct pipe_call *f);
/* Ring: whole slots, by far the most frequent. The steps copy and touch lines themselves, which saves a frame; here is
 * what comes between. A slot with a page of its own: take the page (sets f->chars and f->page); copy; the slot's line
 * and the pipe's; append; filled. The order of the last three is the version's. */
void pipe_take_slot(struct wb_exec *x, struct pipe_call *f);
void pipe_append_slot(struct pipe_call *f);
void pipe_slot_filled(struct wb_exec *x, struct pipe_call *f);
#define PIPE_COPY_IN(x, f) \
    WB_COPY(x, f, WB_SPAN((f)->buf, (f)->off, (f)->chars), WB_SPAN((f)->page, 0, (f)->chars), WB_FN_COPY_USER)
/* The oldest slot: open it (sets f->chars); copy; the slot's line; drained: true when nothing is left, then its page
 * has gone, and the slot is to be freed after the pipe's line. */
void pipe_open_slot(struct wb_exec *x, struct pipe_call *f);
bool pipe_slot_drained(struct wb_exec *x, struct pipe_call *f);
void pipe_free_slot(struct pipe *p);
#define PIPE_COPY_OUT(x, f) \
    WB_COPY(x, f, WB_SPAN((f)->p->oldest, pipe_note((f)->p, (f)->p->oldest)->offset, (f)->chars), \
            WB_SPAN((f)->buf, (f)->off, (f)->chars), WB_FN_COPY_USER)
/* Ring: how many bytes of this write the version lets join the last slot. */
uint32_t pipe_mergeable(const struct pipe_call *f);
/* Both ends are closed: the pages go back. */
void pipe_free_pages(struct wb_exec *x, struct pipe *p);

/* ---- step functions by generation ---- */
enum wb_ret pipe_page_read_step(struct wb_exec *x, void *frame);
enum wb_ret pipe_page_write_step(struct wb_exec *x, void *frame);
enum wb_ret pipe_ring_read_step(struct wb_exec *x, void *frame);
enum wb_ret pipe_ring_write_step(struct wb_exec *x, void *frame);
enum wb_ret pipe_head_read_step(struct wb_exec *x, void *frame);
enum wb_ret pipe_head_write_step(struct wb_exec *x, void *frame);
enum wb_ret pipe_bsd_read_step(struct wb_exec *x, void *frame);
enum wb_ret pipe_bsd_write_step(struct wb_exec *x, void *frame);

/* ---- pipe_model.c ---- */
extern const struct wb_ipc_ops wb_ipc_pipe;
struct pipe *pipe_of(struct wb_channel *c);

/* ---- keys_pipe.c ---- */
#define PIPE_KEYS 21
extern const struct wb_key pipe_keys[PIPE_KEYS];

#endif
