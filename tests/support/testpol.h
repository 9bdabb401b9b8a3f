/*
 * testpol.h - a policy for tests: one global first-in first-out queue, never preempting, and a use for every hook of
 * policy.h.
 *
 * Tasks that find an idle CPU run there at once. The others wait on a home CPU (0, or the first that they may use);
 * whoever runs out of work takes the one that has waited longest. So the CPUs are c servers of one queue (M/M/c//N
 * when path costs are 0).
 *
 * Keys of kernel.scheduler = "testpol": policy.delay_dequeue (every third sleeper stays queued until it is met),
 * policy.queue_remote, policy.tickless, policy.softirq (balance every eighth tick in the softirq), policy.active (ask
 * migration threads). Off: a plain queue.
 */
#ifndef WB_TESTS_TESTPOL_H
#define WB_TESTS_TESTPOL_H

#include "wakebal/policy.h"

enum testpol_hook {
    TP_INIT,
    TP_TASK_INIT,
    TP_PLACE_WAKEUP,
    TP_PLACE_FORK,
    TP_PLACE_EXEC,
    TP_FORK,
    TP_EXIT,
    TP_ENQUEUE,
    TP_DEQUEUE,
    TP_PUT_PREV,
    TP_PICK,
    TP_YIELD,
    TP_MIGRATE,
    TP_TICK,
    TP_TICK_IDLE_FOR,
    TP_TICK_CLOSED,
    TP_CHECK_PREEMPT,
    TP_SWITCHED,
    TP_NEWIDLE,
    TP_PERIODIC,
    TP_NOHZ,
    TP_ACTIVE,
    TP_REDO,
    TP_QUEUE_REMOTE,
    TP_DOMAINS_BUILT,
    TP_IDLE_ENTER,
    TP_IDLE_EXIT,
    TP_TASK_CHANGED,
    TP_DESCRIBE,
    TP_DELAYED,
    TP_FINISHED,
    TP_RECALLED,
    TP_PULLED,
    TP_PUSHED,
    TP_HOOKS
};
extern const char *const testpol_hook_name[TP_HOOKS];
extern const struct wb_policy_ops testpol_ops;
/* How often each hook ran in this simulation. */
const uint64_t *testpol_counts(struct wb_sim *s);
/* Tasks waiting (queued, not running) now. */
uint32_t testpol_waiting(struct wb_sim *s);

#endif
