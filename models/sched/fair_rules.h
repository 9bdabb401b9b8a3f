/* fair_rules.h - why the fair classes decided as they did: rule ids; their words are in fair_rules.c. Three sections,
 * one for each part. */
#ifndef WB_SCHED_FAIR_RULES_H
#define WB_SCHED_FAIR_RULES_H

/* A wakeup is placed in two steps: how the target (the waker's CPU or the task's previous one) was chosen, and where
 * the search for an idle CPU near it ended. The rule says both: FAIR_R_AT(how, where). */
#define FAIR_HOWS(X) \
    X(SAME, "slept on the waker's CPU") \
    X(NOT_ALLOWED, "waker's CPU not allowed, previous CPU") \
    X(NO_DOMAIN, "no affine domain covers both CPUs, previous CPU") \
    X(OFF, "affine wakeups are off, previous CPU") \
    X(WIDE, "waker of many (wake_wide), previous CPU") \
    X(UNFIT, "task too big for the smaller of both CPUs, previous CPU") \
    X(COLD, "sync and cache cold, waker's CPU") \
    X(ALONE, "affine: no busier, and one task there in all, waker's CPU") \
    X(ALONE_SYNC, "sync, affine: one task there once the waker sleeps, waker's CPU") \
    X(LOAD, "affine: less loaded by the margin, waker's CPU") \
    X(LOAD_SYNC, "sync, affine: less loaded by the margin, waker's CPU") \
    X(PASSIVE, "passive balance: waker's CPU is less loaded") \
    X(NO_PULL, "load says previous CPU") \
    X(THIS_IDLE, "waker's CPU is idle and near, waker's CPU") \
    X(BOTH_IDLE, "both CPUs are idle and near, previous CPU") \
    X(SYNC, "sync, the waker is alone, waker's CPU") \
    X(PREV_IDLE, "previous CPU is idle, previous CPU")
#define FAIR_WHERES(X, h, t) \
    X(h, t, TARGET, "no search") \
    X(h, t, IDLE, "it is idle") \
    X(h, t, NEAR, "idle CPU of its lowest domain") \
    X(h, t, FAR, "idle CPU of a higher domain") \
    X(h, t, PREV, "previous CPU is idle and shares the cache") \
    X(h, t, KTHREAD, "woken by a per-CPU kernel thread, stays with it") \
    X(h, t, RECENT, "recently used CPU is idle") \
    X(h, t, SIBLING, "idle sibling thread of the previous CPU") \
    X(h, t, CORE, "idle core of its cache") \
    X(h, t, CPU, "idle CPU of its cache") \
    X(h, t, CLUSTER, "idle CPU of its cluster") \
    X(h, t, SMT, "idle sibling thread") \
    X(h, t, PREV_FAR, "previous CPU is idle, in another cluster") \
    X(h, t, RECENT_FAR, "recently used CPU is idle, in another cluster") \
    X(h, t, CAPACITY, "idle CPU that is big enough") \
    X(h, t, IDLEST, "not near it, as a new task: idlest CPU") \
    X(h, t, PACKED, "packed, its CPU has room") \
    X(h, t, LIMIT, "search limit reached, stacked on it") \
    X(h, t, FULL, "its cache is too busy to search, stacked on it") \
    X(h, t, NONE, "no idle CPU near, stacked on it") \
    X(h, t, FALLBACK, "not allowed there, first CPU that is")
#define FAIR_HOW_(h, t) FAIR_H_##h,
#define FAIR_WHERE_(h, t, w, s) FAIR_W_##w,
enum fair_how { FAIR_HOWS(FAIR_HOW_) FAIR_HOWS_N };
enum fair_where { FAIR_WHERES(FAIR_WHERE_, , ) FAIR_WHERES_N };

enum fair_rule {
    FAIR_R_NONE,
    /* preemption: fair_preempt.c and the orders */
    FAIR_R_CPU_IDLE,
    FAIR_R_RT,
    FAIR_R_RT_CURR,
    FAIR_R_RESCHED_ALREADY,
    FAIR_R_IDLE_CURR,
    FAIR_R_IDLE_WAKEE,
    FAIR_R_BATCH_WAKEE,
    FAIR_R_NO_PREEMPTION,
    FAIR_R_SYNC_UNCHECKED,
    FAIR_R_KEY_FAR,
    FAIR_R_KEY_NEAR,
    FAIR_R_VRUNTIME_FAR,
    FAIR_R_VRUNTIME_NEAR,
    FAIR_R_CHILD_FIRST,
    FAIR_R_PARENT_FIRST,
    FAIR_R_EEVDF_PICKED,
    FAIR_R_EEVDF_SHORT,
    FAIR_R_EEVDF_PROTECTED,
    FAIR_R_EEVDF_INELIGIBLE,
    FAIR_R_EEVDF_LATER,
    /* placement: fair_place*.c */
    FAIR_R_PLACE,
    FAIR_R_PLACE_LAST = FAIR_R_PLACE + FAIR_HOWS_N * FAIR_WHERES_N - 1,
    FAIR_R_STILL_RUNNING,
    FAIR_R_ONE_CPU,
    FAIR_R_RT_STAYS,
    FAIR_R_CURRENT_CPU,
    FAIR_R_FORK_LOCAL,
    FAIR_R_FORK_IDLEST,
    FAIR_R_FORK_STAY,
    FAIR_R_FORK_AFFINITY,
    FAIR_R_EXEC_NO_DOMAIN,
    FAIR_R_EXEC_STAY,
    FAIR_R_EXEC_MOVE,
    FAIR_R_QUEUE_FAR,
    FAIR_R_QUEUE_IDLE,
    /* balancing: fair_balance*.c */
    FAIR_R_LB_NOT_MINE,
    FAIR_R_LB_BALANCED,
    FAIR_R_LB_NO_QUEUE,
    FAIR_R_LB_AVERAGE,
    FAIR_R_LB_TWO,
    FAIR_R_LB_GAIN,
    FAIR_R_LB_SMALL,
    FAIR_R_LB_ASYM,
    FAIR_R_LB_IMBALANCED,
    FAIR_R_LB_MISFIT,
    FAIR_R_LB_SMT,
    FAIR_R_LB_FILL,
    FAIR_R_LB_FILL_ONE,
    FAIR_R_LB_SIBLINGS,
    FAIR_R_LB_IDLE_CPUS,
    FAIR_R_LB_LEVEL,
    FAIR_R_LB_NUMA_KEPT,
    FAIR_R_LB_MORE,
    FAIR_R_ACTIVE,
    FAIR_R_FORK_WAITS,
    FAIR_RULES
};
#define FAIR_R_AT(how, where) ((unsigned)FAIR_R_PLACE + (unsigned)(how)*FAIR_WHERES_N + (unsigned)(where))
extern const char *const fair_rules[FAIR_RULES];

#endif
