/*
 * calls.h - system calls as data: what a call runs through, which locks it takes, how often it reads the clock.
 *
 * A kernel profile has three tables (rows in calls_keys.c):
 *
 *     locks :    { Giant : { kind = "mutex"; }; FILE : { kind = "mutex"; scope = "process"; }; };
 *     function : { fhold : { cost = ("8 cy", ...); steps = [ "lock FILE", "self", "unlock FILE" ]; }; };
 *     calls :    { write-tty : { steps = [ "fget", "vn_write", "fdrop" ]; }; };
 *
 * A step is the name of a function, or one of
 *
 *     self            the function's own path cost (without it: before the first step)
 *     lock L, unlock L
 *     atomic L        a locked instruction on L's line
 *     read L, write L plain access to L's line
 *     clock           reads the kernel's timecounter as often as the device needs
 *
 * A step may be followed by xN: N times. Locks are the engine's: a line that moves, a holder, waiters that spin or
 * sleep. One instance of a lock is there for all, for each process or for each task (scope). So a lone caller pays
 * the sum of its steps, and several callers meet at the locks that they share.
 *
 * A call is flattened once into a list of operations; running it is a frame.
 */
#ifndef WB_WORKLOAD_CALLS_H
#define WB_WORKLOAD_CALLS_H

#include "workload_common.h"

enum call_op { CALL_RUN, CALL_LOCK, CALL_UNLOCK, CALL_ATOMIC, CALL_READ, CALL_WRITE, CALL_CLOCK, CALL_OPS };

struct call_step {
    uint8_t op;   /* enum call_op */
    uint16_t fn;  /* label that it is charged to */
    uint16_t ref; /* lock, in the order of kernel.locks */
};

/* One lock of a process, a task or all. Only one of the two is in use, as the kind says. */
struct call_lock {
    bool sleeps, line_only, irqs_off;
    uint32_t line;
    struct wb_spinlock spin;
    struct wb_sleeplock sleep;
};

#define CALL_LOCKS 64u
#define CALL_STEPS 512u

struct call {
    struct call_step *step;
    uint32_t nsteps, count[CALL_OPS];
    bool mpsafe;    /* runs without the kernel's big lock */
    sim_time clock; /* one reading of the time */
};

/* Flatten kernel.calls.NAME. 0, or -1 with errors in e->d: no such call, unknown word, functions in a circle. */
int call_compile(const struct workload_entry *e, const char *name, struct call *out);
/* How often a call takes a lock; for tests and reports. */
uint32_t call_locks(const struct workload_entry *e, const struct call *c, const char *lock);

/* The locks that a new process meets, [CALL_LOCKS], or that a further task of the process `of` meets. NULL `of`: a
 * process of its own. Build time. */
struct call_lock **call_locks_new(const struct workload_entry *e, struct call_lock *const *of);

/* Push the frame of one call, from entering the kernel to being back in user mode. */
void call_push(struct wb_exec *x, const struct call *c, struct call_lock *const *lock);
#define CALL_FRAME_NEED 256u /* its own frame and that of a sleeping lock; sim/ adds its own */

#endif
