/*
 * fakekernel.h - the accessors of kernel.h over plain data, for testing a policy's decisions on states made by hand.
 *
 * Stands in for sim/kernel's engine (it defines struct wb_sim and wb_rq(), wb_move_task(), wb_resched() ...): time is
 * a number, charging counts, moving a task happens at once. Configuration, key tables, machine description and
 * scheduling domains are the real ones, so shipped kernel files are tested with it. A test names it in an #include
 * and is linked with fakekernel.c.
 */
#ifndef WB_TESTS_FAKEKERNEL_H
#define WB_TESTS_FAKEKERNEL_H

#include "wakebal/kernel.h"
#include "wakebal/scenario.h"

#define FAKE_TASKS 2048u
#define FAKE_FNS 64u

struct wb_sim {
    const struct wb_policy_ops *ops;
    sim_time now;
    uint64_t jiffies_start;
    uint32_t hz, ncpus, ntasks;
    const struct wb_topology *topo;
    struct wb_machine *machine;
    struct wb_rq *rq;
    struct wb_task *task[FAKE_TASKS];
    struct wb_cpumask all;
    void *policy;
    void *block; /* allocated memory, linked */
    const char *fn_name[FAKE_FNS];
    uint32_t nfn;
    /* what the policy did */
    uint64_t charged[FAKE_FNS], scans, moves, resched_calls, balance_raised, kicks;
    cpu_id kicked; /* the last one that was asked to balance for the idle */
    bool *tick_stopped;
    struct wb_key_registry *keys;
    struct wb_diag *diag;
    struct wb_scenario *scenario;
    struct wb_reader reader;
};

/* Builds from a kernel profile ("linux-2.6.11") or kernel group ("base = \"...\"; ...") and a machine group
 * ("topology = \"...\";"); fails the test on errors. sets: "key=value" strings, NULL-terminated, or NULL. */
struct wb_sim *fake_new(const struct wb_policy_ops *ops, const char *kernel, const char *machine,
                        const char *const *sets);
/* The same without CPUs and policy: configuration and topology only. */
struct wb_sim *fake_load(const struct wb_policy_ops *ops, const char *kernel, const char *machine,
                         const char *const *sets);
void fake_free(struct wb_sim *s);

/* A task of class normal with an address space of its own, asleep on `cpu`. */
struct wb_task *fake_task(struct wb_sim *s, cpu_id cpu, int nice);
struct wb_task *fake_task_of_class(struct wb_sim *s, cpu_id cpu, int nice, enum wb_sched_class klass);
/* Context of whoever executes on `cpu` now. */
struct wb_exec *fake_exec(struct wb_sim *s, cpu_id cpu);
struct wb_exec *fake_exec_irq(struct wb_sim *s, cpu_id cpu, enum wb_level level);
/* Queue a sleeping task on its CPU as a wakeup does, without preemption check; make it the running one; a runnable
 * task in one go. */
void fake_enqueue(struct wb_sim *s, struct wb_task *t, uint32_t flags);
void fake_run(struct wb_sim *s, struct wb_task *t);
struct wb_task *fake_runnable(struct wb_sim *s, cpu_id cpu, int nice);
struct wb_task *fake_running(struct wb_sim *s, cpu_id cpu, int nice);
/* schedule() on a CPU; state: what its current task does (WB_RUNNING: nothing). Returns the next task, or the idle
 * task. */
struct wb_task *fake_schedule(struct wb_sim *s, cpu_id cpu, enum wb_task_state state);
/* Move time to `t` and let every CPU tick n times at its end, in CPU order, one tick period apart; balancing is not
 * run. */
void fake_ticks(struct wb_sim *s, cpu_id cpu, uint32_t n);
/* try_to_wake_up: place, move, queue, preemption check. Returns the choice. */
struct wb_choice fake_wake(struct wb_sim *s, struct wb_task *t, cpu_id waker_cpu, uint32_t flags, wb_rule *preempt);
/* The balancing driver without locks and time. log: one result per pass, or NULL. Returns tasks moved. */
uint32_t fake_balance(struct wb_sim *s, enum wb_balance_kind kind, cpu_id cpu, enum wb_level level,
                      struct wb_balance *last);

#endif
