/*
 * futex.h - futexes, and the mutex that user programs make of them.
 *
 * The word is a line that user code changes by locked operations; the kernel is asked only when somebody has to wait
 * or may be waiting. Waiters hang, in order of arrival, on a hash bucket under its spinlock; here each futex has a
 * bucket of its own.
 *
 * futex_lock() and futex_unlock() are glibc's (nptl/lowlevellock.h __lll_lock, __lll_unlock; U. Drepper, "Futexes are
 * tricky", mutex 2): 0 free, 1 locked, 2 locked and perhaps wanted. Whoever has waited takes the lock with 2, so an
 * unlock after that wakes once more than needed; a running task may take the lock before the woken one does.
 *
 * Rules by version (kernel.futex): to 4.1 the waker wakes under the bucket's lock, so the woken may run into it; from
 * 4.2 on after it (commit 1d0dcb3ad9d3). Wakes are plain in all versions.
 *
 * Not modelled: buckets that several futexes share, requeueing, priority inheritance, robust lists, timeouts.
 */
#ifndef WB_IPC_FUTEX_H
#define WB_IPC_FUTEX_H

#include "wakebal/kernel.h"
#include "wakebal/keys.h"
#include "wakebal/workload.h"

struct futex_waiter {
    struct wb_task *task;
    struct futex_waiter *next;
    bool queued;
};

struct futex {
    uint32_t word_line;
    uint32_t word;
    struct wb_spinlock bucket;
    struct futex_waiter *first, *last;
    uint16_t fn_wait, fn_wake, fn_user;
    bool wake_after;       /* the bucket's lock is dropped before the wake */
    uint64_t waits, wakes; /* calls of futex_wait() that slept; tasks woken */
    struct wb_task *owner; /* of the mutex */
};

/* Build time. version: kernel.futex. 0, or -1 when it is no version. */
int futex_init(struct wb_sim *s, struct futex *f, const char *version);

/* Frames, whole system calls. Wait: sleeps if the word still is `expected`; x->ret = 0 when woken, IPC_EAGAIN when
 * the word differs, IPC_EINTR. Wake: at most n, in order; x->ret = how many. */
void futex_wait(struct wb_exec *x, struct futex *f, uint32_t expected);
void futex_wake(struct wb_exec *x, struct futex *f, uint32_t n);

/* Frames: the mutex, in user mode as long as nobody waits. A killed task stops waiting and does not get it: x->ret =
 * IPC_EINTR. */
void futex_lock(struct wb_exec *x, struct futex *f);
void futex_unlock(struct wb_exec *x, struct futex *f);

#define FUTEX_KEYS 4
extern const struct wb_key futex_keys[FUTEX_KEYS];

#endif
