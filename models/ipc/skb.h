/*
 * skb.h - what all socket kinds of models/ipc are made of: buffers, queues of them, and the part of struct sock that
 * they share.
 *
 * A buffer (struct skb) is a record with the pages that stand for its slab objects: in the first page, the head
 * (struct sk_buff and struct skb_shared_info, skb_rules.head_bytes + info_bytes) and behind it the data, which goes on
 * in further pages when it is long. Objects come from the hot list of the CPU that allocates and go to the list of the
 * CPU that frees, last in first out, in batches beyond the limits of the lists (wb_page_alloc), as SLAB's per-CPU
 * arrays do. So a buffer that is sent on one CPU and consumed on another moves, and both ends pay for it.
 *
 * A socket (struct sock_core) has the lines that move between the CPUs of its two ends: its lock, the lock and head of
 * its receive queue, the head of its wait queue, sk_wmem_alloc, sk_callback_lock and the reference count of its file.
 * Kinds embed it, add their own state and take what they need; nothing here decides when a line is touched, but for
 * sock_wake().
 *
 * Accounting: a buffer counts with its truesize, in wmem of the socket that sent it until it is freed, or in rmem of
 * the one that received it. Functions that change it are immediate: flush first, touch the line by WB_LINE.
 *
 * Simplified: one list of objects stands for skbuff_head_cache and the size-N caches, and it is the list of pages: what
 * pipes use comes from it too. Lists of other nodes and their locks are not modelled.
 */
#ifndef WB_IPC_SKB_H
#define WB_IPC_SKB_H

#include "ipc_file.h"
#include "wakebal/kernel.h"
#include "wakebal/machine.h"
#include "wakebal/workload.h"

#define IPC_VERSION(a, b, c) ((uint32_t)(a) << 20 | (uint32_t)(b) << 10 | (uint32_t)(c))
/* "2.6.22", "6.12", "5.15.3"; false when it is no version. */
bool ipc_parse_version(const char *text, uint32_t *version);

/* A lock inside another one that has just been taken, and both dropped together. */
#define SOCK_LOCK_INNER(x, f, l) WB_SPIN_LOCK_NOFLUSH_(x, f, l)
#define SOCK_UNLOCK_BOTH(x, f, inner, outer) \
    do { \
        WB_FLUSH(x, f); \
        wb_spin_drop((x), (inner)); \
        wb_spin_drop((x), (outer)); \
    } while (0)

#define IPC_EINTR (-4)
#define IPC_EAGAIN (-11)
#define IPC_EPIPE (-32)

/* Rows of the kernel.path.* keys that all socket kinds and ipc_poll() use. */
extern const struct wb_key socket_keys[];
extern const size_t socket_keys_n;

/* ---- buffers ---- */

/* How truesize follows from the bytes of a buffer. */
enum skb_account {
    SKB_DATA_AND_HEAD, /* data, aligned to a line, and struct sk_buff (to 3.1) */
    SKB_SLAB,          /* the whole size-N object, which holds the shared info too, and struct sk_buff (3.2 on) */
    SKB_SMALL_HEAD     /* the same; short ones come from a cache of 640-byte objects (6.3 on) */
};

/* A row holds from its version until the next. */
struct skb_rules {
    const char *name;
    uint32_t version;
    uint16_t head_bytes; /* struct sk_buff as it is accounted */
    uint16_t info_bytes; /* struct skb_shared_info, aligned */
    uint8_t account;     /* enum skb_account */
    uint32_t buffer;     /* default of sk_sndbuf and sk_rcvbuf: 256 times the truesize of 256 bytes */
};
extern const struct skb_rules skb_rules[];
extern const size_t skb_rules_n;
/* The newest row that is not newer than the version; the first one for older ones. */
const struct skb_rules *skb_rules_at(uint32_t version);
uint32_t skb_truesize(const struct skb_rules *r, uint32_t bytes);

struct skb {
    struct skb *next;
    uint32_t page; /* its first page; the others follow by wb_page_note.next */
    uint32_t len;  /* bytes of data */
    uint32_t off;  /* of these, consumed */
    uint32_t truesize;
    uint32_t cookie[3]; /* the kind's own: lines it refers to, sequence number */
    void *owner;        /* the kind's own: the sender's socket */
};

/* One per kind and run. */
struct skb_pool {
    struct wb_sim *sim;
    const struct skb_rules *rules;
    uint32_t page_bytes;
    uint32_t touched; /* bytes of struct sk_buff, in lines; the data begins behind it */
    uint64_t copy_q;  /* ps per 1024 bytes of a copy in the innermost cache */
    struct skb *free;
    struct skb_block *fresh; /* records that were never used */
    uint64_t alive, made;
    uint16_t fn_alloc, fn_free; /* alloc_skb, kfree_skb */
    uint16_t fn_alloc_page, fn_free_page;
    bool fragments; /* what a page does not hold lies in pages of its own, not behind the head (AF_UNIX, 3.10 on) */
};

/* Build time. page_bytes: kernel.page_size. */
void skb_pool_init(struct wb_sim *s, struct skb_pool *p, uint32_t version, uint32_t page_bytes);
/* At most n more buffers, of at most `bytes` each, will be alive at once. */
void skb_reserve(struct skb_pool *p, uint32_t n, uint32_t bytes);

/* How many blocks of pages a buffer of `bytes` gets besides its head, with pool.fragments: what is beyond the linear
 * part of one page, in whole pages, by the largest powers of two up to 32 KiB. 0: the head holds all.
 * Linux 3.10 net/unix/af_unix.c unix_stream_sendmsg, net/core/sock.c sock_alloc_send_pskb; 4.x and later
 * net/core/skbuff.c alloc_skb_with_frags. */
uint32_t skb_fragments(const struct skb_pool *p, uint32_t bytes);

/* Immediate: a buffer for `bytes` from this CPU's list; charges alloc_skb, and alloc_page for each of its blocks. Its
 * memory is touched by SKB_ALLOC, or by SKB_USE when it is filled. */
struct skb *skb_take(struct wb_exec *x, struct skb_pool *p, uint32_t bytes);
/* Immediate: back to this CPU's list; charges kfree_skb, and free_page for each of its blocks. */
void skb_put(struct wb_exec *x, struct skb_pool *p, struct skb *b);
enum skb_direction { SKB_IN, SKB_OUT };
/* n bytes between the caller's buffer region and the buffer's data from byte `at` on. */
struct skb_move {
    struct skb *b;
    uint32_t at, n;
    uint32_t buf;
    uint64_t buf_off;
};
/* As wb_copy_start: true = a frame was pushed. Flush first. Only the data, as a stream. */
bool skb_copy_start(struct wb_exec *x, const struct skb_pool *p, const struct skb_move *m, enum skb_direction dir,
                    uint16_t fn);
#define SKB_COPY(x, f, p, m, dir, fn) \
    do { \
        WB_FLUSH(x, f); \
        WB_FRAMED_(x, f, skb_copy_start((x), (p), (m), (dir), (fn))); \
    } while (0)
/* The buffer is in nobody else's hands, so no flush comes first. Head and data at once: written (SKB_IN) or read
 * (SKB_OUT). Up to SKB_SHORT bytes they are one random touch under `fn`, bound by latency, and a copy in reach; more
 * are a touch of the head and a stream. */
#define SKB_SHORT 512u
bool skb_use_start(struct wb_exec *x, const struct skb_pool *p, const struct skb_move *m, enum skb_direction dir,
                   uint16_t fn);
#define SKB_USE(x, f, p, m, dir, fn) WB_FRAMED_(x, f, skb_use_start((x), (p), (m), (dir), (fn)))
/* The head alone. SKB_ALLOC: dst = a buffer for n bytes whose head this CPU has written; dst must lie in the frame.
 * SKB_LOOK: its reader looks at it. */
#define SKB_ALLOC(x, f, p, dst, n) \
    do { \
        WB_FLUSH(x, f); \
        (dst) = skb_take((x), (p), (n)); \
        WB_FRAMED_(x, f, \
                   wb_touch_start((x), WB_SPAN((dst)->page, 0, (p)->touched), WB_RANDOM, WB_WRITE, (p)->fn_alloc)); \
    } while (0)
#define SKB_LOOK(x, f, p, b, fn) WB_TOUCH(x, f, WB_SPAN((b)->page, 0, (p)->touched), WB_RANDOM, WB_READ, (fn))

/* ---- queues of buffers ---- */
struct skb_queue {
    struct wb_spinlock lock;
    struct skb *first, *last;
    uint32_t len;   /* buffers */
    uint64_t bytes; /* of data not consumed yet */
};
void skb_queue_init(struct wb_sim *s, struct skb_queue *q);
/* Immediate; the queue's (or the socket's) lock is held. */
void skb_append(struct skb_queue *q, struct skb *b);
struct skb *skb_remove_first(struct skb_queue *q); /* NULL: empty */
void skb_push_first(struct skb_queue *q, struct skb *b);

/* ---- sockets ---- */
enum sock_shutdown { SOCK_RCV_SHUTDOWN = 1, SOCK_SEND_SHUTDOWN = 2 };

struct sock_core {
    struct wb_spinlock lock; /* unix_state_lock; sk_lock.slock */
    struct skb_queue rx;     /* sk_receive_queue */
    struct wb_waitq wait;    /* sk_sleep */
    uint32_t wmem_line;      /* sk_wmem_alloc */
    uint32_t rmem_line;      /* sk_rmem_alloc, sk_backlog */
    uint32_t callback_line;  /* sk_callback_lock, read-locked around wakes to 2.6.34 */
    uint32_t file_line;      /* f_count of its struct file */
    uint32_t wmem, sndbuf;
    uint32_t rmem, rcvbuf;
    uint32_t holders; /* file descriptors that name it */
    uint8_t shutdown; /* enum sock_shutdown */
    bool dead;        /* SOCK_DEAD: its last holder has closed it */
    bool nospace;     /* SOCK_NOSPACE: a sender waits for room */
    uint64_t in, out; /* bytes queued to it and taken from it */
};
void sock_init(struct wb_sim *s, struct sock_core *k, const struct skb_rules *r);

/* How a kind wakes. */
struct sock_wake {
    uint16_t fn;        /* sock_def_readable, unix_write_space ...: its path cost is charged */
    bool callback_lock; /* takes sk_callback_lock for reading */
    bool sync;
    int nr_exclusive; /* 0 = all */
};
/* Frame: sk_data_ready, sk_write_space, sk_state_change: look whether anybody sleeps, wake them. x->ret = how many
 * slept; -1: nobody was on the queue. */
void sock_wake(struct wb_exec *x, struct sock_core *k, const struct sock_wake *how);

#endif
