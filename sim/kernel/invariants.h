/*
 * invariants.h - what a scheduler should not let happen, counted in every run.
 *
 *   idle while work waits   a task waits on a busy CPU while another CPU that it may use is idle. Exact and cheap:
 *                           each set of CPUs that matters (the spans of sched domains, affinity masks, the machine)
 *                           keeps a clock that runs while one of its CPUs is idle; a wait reads the clocks of its
 *                           CPU's domains at both ends. Time in which the task's own CPU is idle is none of it: that
 *                           CPU is on its way already (wake_latency). The time goes to the lowest domain that has an
 *                           idle CPU; for a task with an affinity mask to the lowest one that covers its mask.
 *   starvation              a wait in a runqueue that is longer than run.starvation_bound
 *   affinity                a CPU switches to a task that may not use it (not counted while the migration thread has
 *                           been asked to take that task away, as in the kernels)
 *   ping-pong               a balancer moves a task back to the CPU from which the previous balancer move had taken it
 *                           less than INVARIANTS_PINGPONG ago
 *
 * Kernel threads are left out. Counting starts at the end of the warm-up: an idle-while-work-waits wait that is under
 * way then counts with its part after it, a starving one whole. Waits under way when the run ends count up to there.
 *
 * Life: invariants_init() when everything is built (takes all memory; invariants_free()), the hooks while running,
 * invariants_start() when the warm-up ends, invariants_finish() before figures are read. Nothing here changes what a
 * run does.
 */
#ifndef WB_KERNEL_INVARIANTS_H
#define WB_KERNEL_INVARIANTS_H

#include "wakebal/cpumask.h"
#include "wakebal/policy.h"
#include "wakebal/run.h"

/* A balancer move back within this long undoes the one before: shorter than the averages that decide can change much
 * (PELT halves in 32 ms, cpu_load[2] moves by a quarter a tick), longer than the idle intervals of small domains. */
#define INVARIANTS_PINGPONG (10 * WB_MS)
#define INVARIANTS_WORST 8u /* tasks that are named per kind, the worst first */

struct wb_sim;

/* A set of CPUs and the time in which at least one of them was idle. */
struct idle_watch {
    const struct wb_cpumask *mask;
    uint32_t idle;  /* CPUs of it that are idle now */
    sim_time clock; /* while one is: less the time when that began, so that adding `now` gives the sum */
};

/* A wait under way: one of a pool, which holds as many as ever wait at a time. */
struct fault_wait {
    sim_time beside; /* before the last change of CPU; in the free list: the next one's number */
    sim_time mark[]; /* [levels + 1]: clocks when the wait began or came to this CPU; the last one is own */
};

/* What happened to one task; those to whom nothing happened have none. */
struct fault_account {
    sim_time total[2]; /* idle while work waits; starvation: sums of lengths */
    sim_time longest[2];
    uint32_t count[WB_FAULT_KINDS];
};

/* Numbers by task, from 1; 0: none. */
struct task_faults {
    uint32_t wait, account;
    uint32_t watch; /* of its affinity mask: FAULTS_ONE_CPU, or number of the watch + FAULTS_WATCH; 0: look for it */
};

struct invariants {
    uint32_t levels;              /* domains of the deepest CPU, then the machine */
    struct idle_watch *watch;     /* [nwatches]; the machine is the first */
    struct idle_watch **by_level; /* [ncpus * levels]: of the CPU's domain, lowest first; padded with the machine */
    struct idle_watch **touched;  /* watches with a CPU: touched[first[c]] .. touched[first[c + 1] - 1] */
    uint32_t *first;
    sim_time *own; /* [ncpus]: clock of the CPU alone, as in struct idle_watch */
    bool *idle;    /* [ncpus] */
    uint32_t nwatches;
    struct task_faults *task;
    char *waits;                    /* [ntasks] of wait_bytes; reserves, of which only what was in use costs memory */
    struct fault_account *accounts; /* [ntasks] */
    uint32_t wait_bytes, wait_free, wait_fresh, naccounts, ntasks;
    sim_time bound;           /* of starvation */
    sim_time *level_time;     /* [levels] */
    uint64_t *pingpong_depth; /* [levels]; the last: no domain has both CPUs */
    uint64_t pingpong_kind[WB_MIG_N];
    uint64_t count[WB_FAULT_KINDS];
    sim_time total[2], longest[2];
};

void invariants_init(struct wb_sim *s);
void invariants_start(struct wb_sim *s);
void invariants_finish(struct wb_sim *s);
void invariants_free(struct wb_sim *s);
size_t invariants_touched(const struct wb_sim *s); /* of the reserves, in bytes */
/* The task's affinity mask is another one. */
void invariants_allowed(struct wb_sim *s, const struct wb_task *t);
/* A CPU goes idle or leaves it. */
void invariants_idle(struct wb_sim *s, cpu_id cpu, bool idle);
/* t begins to wait on its CPU; its wait is over because it runs now. */
void invariants_wait(struct wb_sim *s, struct wb_task *t);
void invariants_run(struct wb_sim *s, struct wb_task *t);
/* t, which may be waiting, has been moved. A balancer's move: kind of it, and the depth of the move. */
void invariants_moved(struct wb_sim *s, struct wb_task *t, cpu_id from);
void invariants_pingpong(struct wb_sim *s, struct wb_task *t, enum wb_migration kind, uint32_t depth);
/* Who did worst: at most INVARIANTS_WORST per kind, longest total (or most) first. Room for WB_FAULT_KINDS *
 * INVARIANTS_WORST; returns how many. Strings are the simulation's. */
size_t invariants_worst(struct wb_sim *s, struct wb_fault *out);

#endif
