/*
 * unix.h - AF_UNIX stream sockets (socketpair): what the files of models/ipc/unix_*.c share.
 *
 * A pair is two sockets. What one end sends is queued, buffer by buffer, to the receive queue of the other, and counts
 * against the send buffer of the *sending* socket until the receiver has freed it (sk_wmem_alloc). A sender that
 * finds the buffer full sleeps on its own socket; each free that leaves it at most a quarter full wakes all who do.
 * Each queued buffer wakes the receiver if somebody sleeps on its socket. One receiver at a time, by a lock that
 * sleeps.
 *
 * Lines that move per message: the receiver's lock, the lock and head of its receive queue, the head of its wait
 * queue, the sender's sk_wmem_alloc (added to by the sender, subtracted from twice by the receiver), head and data of
 * the buffer, and what credentials ask for. From 2.6.36 to 3.1 each message carries references on struct pid and
 * struct cred of the sender's process: twelve locked operations, half of them by the receiver, and seven plain reads
 * (unix_cred.c).
 *
 * Versions: struct unix_rules. Simplified: no datagrams, names, listening sockets, passed descriptors, SO_PASSCRED,
 * SO_RCVLOWAT, MSG_* flags and timeouts; a read returns what it got as soon as the queue is empty; the reader/writer
 * lock that guarded the state before 2.6.17 is a spinlock.
 */
#ifndef WB_IPC_UNIX_H
#define WB_IPC_UNIX_H

#include "skb.h"

/* A row holds from its version until the next. */
struct unix_rules {
    const char *name;
    uint32_t version;
    uint8_t lock;       /* enum wb_sleeplock_kind of the reader lock */
    bool sync_data;     /* wakes of receivers carry the sync hint */
    bool sync_space;    /* wakes of senders */
    bool callback_lock; /* wakes hold sk_callback_lock for reading */
    bool creds;         /* messages carry references on struct pid and struct cred */
    uint32_t max_bytes; /* largest buffer */
    bool fragments;     /* what a page does not hold is in pages of its own (skb_pool.fragments) */
    const char *text;   /* for help */
};
extern const struct unix_rules unix_rules[];
extern const size_t unix_rules_n;
const struct unix_rules *unix_rules_find(const char *version); /* NULL: not a version */

struct unix_labels {
    uint16_t vfs_read, vfs_write, fget, sock_sendmsg, sock_recvmsg, sendmsg, recvmsg, alloc, wait_wmem, data_wait,
        wfree, write_space, readable, wakeup, release, scm_to_skb, cred_to_ucred, pid_vnr, put_pid, destruct_scm;
};

struct unix_counters {
    struct wb_counter *messages, *data_wakes, *data_woken, *space_wakes, *space_woken;
    struct wb_counter *sleeps_sender, *sleeps_receiver, *lock_sleeps, *cred_atomics;
};

/* Per run. */
struct unix_state {
    const struct unix_rules *rules;
    struct skb_pool pool;
    struct unix_labels fn;
    struct unix_counters count;
    bool creds;
    int64_t pid_refs, cred_refs; /* held by messages and calls now */
};

struct unix_end {
    struct sock_core k;
    struct wb_sleeplock readlock; /* readsem, readlock, iolock */
    uint64_t hand, lost;          /* bytes of buffers that a read has taken off; that went with a closed socket */
};

struct unix_pair {
    struct wb_channel ch;
    struct unix_state *st;
    const char *name;
    struct unix_end end[2];
};

/* One read() or write() under way. */
struct unix_call {
    struct wb_frame h;
    struct unix_pair *u;
    struct unix_end *me, *peer;
    struct skb *b;
    uint32_t buf;
    uint32_t n; /* bytes of the buffer under way */
    uint64_t off, left;
    int64_t ret;
    uint32_t pid_line, cred_line; /* whose credentials it holds, or WB_NO_LINE */
};

enum wb_ret unix_send_step(struct wb_exec *x, void *frame);
enum wb_ret unix_recv_step(struct wb_exec *x, void *frame);

/* Frame: the destructor and kfree_skb of a buffer that came from `peer`: references, wmem, waking senders. */
void unix_free_skb(struct wb_exec *x, struct unix_state *st, struct unix_end *peer, struct skb *b);

/* ---- unix_cred.c: frames; each pays the lines and counts references ---- */
/* scm_set_cred(): take both and translate them. fn: the function it is inlined in. */
void unix_cred_set(struct wb_exec *x, struct unix_state *st, uint32_t pid_line, uint32_t cred_line, uint16_t fn);
/* unix_scm_to_skb(): the buffer refers to them too. */
void unix_cred_attach(struct wb_exec *x, struct unix_state *st, struct skb *b, uint32_t pid_line, uint32_t cred_line);
/* scm_destroy_cred(): put_pid(), put_cred(). */
void unix_cred_put(struct wb_exec *x, struct unix_state *st, uint32_t pid_line, uint32_t cred_line, uint16_t fn);

/* ---- unix_model.c ---- */
extern const struct wb_ipc_ops wb_ipc_unix;
struct unix_pair *unix_of(struct wb_channel *c);

/* ---- keys_unix.c ---- */
#define UNIX_KEYS 18
extern const struct wb_key unix_keys[UNIX_KEYS];

#endif
