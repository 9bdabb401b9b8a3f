/*
 * biglock.c - one lock around system calls (kernel.big_lock).
 *
 * FreeBSD 4 on several CPUs: i386/i386/trap.c syscall2() takes the MP lock for nearly every call, get_mplock() spins
 * with a locked cmpxchg. WB_SYSCALL_ENTER cannot wait, so it only asks (WB_BIG_WANTED); the first flush of the call,
 * before which nothing of it can be seen by others, takes the lock. schedule() gives it up and takes it again,
 * wb_syscall_leave() drops it. Interrupt handlers do not take it here.
 */
#include "sim.h"

struct big {
    struct wb_frame h;
};

static enum wb_ret big_step(struct wb_exec *x, void *frame)
{
    struct big *f = frame;
    WB_BEGIN(f);
    WB_SPIN_LOCK(x, f, &x->sim->big);
    x->big = WB_BIG_HELD;
    WB_END();
}

void big_lock_push(struct wb_exec *x)
{
    x->big = WB_BIG_FREE;
    (void)WB_PUSH(x, big_step, struct big);
}
