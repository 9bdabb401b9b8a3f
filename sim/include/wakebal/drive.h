/*
 * drive.h - a kernel driven by hand: states as a recording tells them, decisions as the policy makes them.
 *
 * wb_drive_build() makes machine, domains, runqueues and policy of a scenario with the tasks that the caller names,
 * and no workload; nothing runs by itself. The caller moves time and says who is switched to, who sleeps, who was
 * moved where; wb_drive_place() and wb_drive_fork() ask the policy what it would do in that state. The policy's own
 * bookkeeping (load averages, flips, idle marks) goes on as it would in a run, with what it charges thrown away.
 *
 * A policy can be driven when its ops have `set_next`. Time never goes back. Single-threaded; nothing is allocated
 * after the build. Free with wb_sim_free().
 */
#ifndef WAKEBAL_DRIVE_H
#define WAKEBAL_DRIVE_H

#include "wakebal/run.h"

struct wb_drive_task {
    const char *name;
    const struct wb_cpumask *allowed; /* NULL: all */
    enum wb_sched_class klass;
    int8_t nice;
    uint8_t rt_prio;
    bool kthread;
    cpu_id cpu; /* where it sleeps */
};

/* The scenario's workloads are not built. NULL: errors in d. */
struct wb_sim *wb_drive_build(const struct wb_config *cfg, const struct wb_registry *reg,
                              const struct wb_drive_task *task, uint32_t n, struct wb_diag *d) WB_MUST_USE;
/* The i-th of those tasks. */
struct wb_task *wb_drive_task(struct wb_sim *s, uint32_t i);
const struct wb_policy_ops *wb_drive_ops(const struct wb_sim *s);

/* Set the clock; earlier times are ignored. */
void wb_drive_time(struct wb_sim *s, sim_time now);
/* The context of what executes on a CPU at that level, with nothing charged. */
struct wb_exec *wb_drive_context(struct wb_sim *s, cpu_id cpu, enum wb_level level);
void wb_drive_tick(struct wb_sim *s, cpu_id cpu);

/* Ask. Neither moves nor queues the task. */
struct wb_choice wb_drive_place(struct wb_sim *s, const struct wb_wakeup *w, enum wb_level level);
struct wb_choice wb_drive_fork(struct wb_sim *s, struct wb_task *parent, struct wb_task *child, cpu_id cpu);

/* What newly idle balancing of an idle CPU would pull from, level by level, were there time for all of them: the first
 * source that has a waiting task. WB_NO_CPU: none. */
struct wb_drive_pull {
    cpu_id src;
    uint8_t depth; /* of the domain */
    wb_rule rule;
};
struct wb_drive_pull wb_drive_newidle(struct wb_sim *s, cpu_id cpu);

/* Tell. A wakeup under way on its target's list (ttwu_queue_wakelist) until it is queued. */
void wb_drive_pend(struct wb_sim *s, struct wb_task *t, cpu_id cpu);
void wb_drive_unpend(struct wb_sim *s, struct wb_task *t);
/* Queue a sleeper on its CPU; flags: enum wb_enqueue_flags. One that is queued already is left (a delayed one is
 * revived). */
void wb_drive_queue(struct wb_sim *s, struct wb_task *t, uint32_t flags);
/* Change the CPU of a task that does not run. -1: it runs. */
int wb_drive_move(struct wb_sim *s, struct wb_task *t, cpu_id to);
/* The delayed dequeue of a sleeper ends. */
void wb_drive_sleep(struct wb_sim *s, struct wb_task *t);
/* schedule() on a CPU whose current task goes to `state`; next NULL: idle. Returns how many tasks the policy still
 * held queued although the CPU went idle (they are taken to sleep). */
uint32_t wb_drive_switch(struct wb_sim *s, cpu_id cpu, struct wb_task *next, enum wb_task_state state);

#endif
