/* fair_rules.c - rules in words. */
#include "fair_rules.h"

const char *const fair_rules[FAIR_RULES] = {
    [FAIR_R_NONE] = "none",
    [FAIR_R_CPU_IDLE] = "CPU idle: runs at once",
    [FAIR_R_RT] = "real-time task: preempts fair ones",
    [FAIR_R_RT_CURR] = "a real-time task runs: waits",
    [FAIR_R_RESCHED_ALREADY] = "running task is to be rescheduled already",
    [FAIR_R_IDLE_CURR] = "running task is SCHED_IDLE: preempted by any other",
    [FAIR_R_IDLE_WAKEE] = "SCHED_IDLE task: does not preempt",
    [FAIR_R_BATCH_WAKEE] = "SCHED_BATCH task: does not preempt",
    [FAIR_R_NO_PREEMPTION] = "wakeup preemption is off: waits",
    [FAIR_R_SYNC_UNCHECKED] = "sync wakeup on the waker's CPU: no preemption check",
    [FAIR_R_KEY_FAR] = "owed more than the running task by the granularity: preempts",
    [FAIR_R_KEY_NEAR] = "not owed enough more than the running task: waits",
    [FAIR_R_VRUNTIME_FAR] = "behind the running task by more than the wakeup granularity: preempts",
    [FAIR_R_VRUNTIME_NEAR] = "not behind the running task by the wakeup granularity: waits",
    [FAIR_R_CHILD_FIRST] = "fork: the child runs before its parent",
    [FAIR_R_PARENT_FIRST] = "fork: rescheduled, the parent stays in front",
    [FAIR_R_EEVDF_PICKED] = "eligible with the earliest deadline: preempts",
    [FAIR_R_EEVDF_SHORT] = "shorter slice, eligible with the earliest deadline: preempts",
    [FAIR_R_EEVDF_PROTECTED] = "running task has not used up its request: protected",
    [FAIR_R_EEVDF_INELIGIBLE] = "ahead of the average: not eligible, waits",
    [FAIR_R_EEVDF_LATER] = "another eligible task has an earlier deadline: waits",
};
