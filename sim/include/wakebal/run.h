/*
 * run.h - the library in one page: build a simulation from a scenario, run it, take its result.
 *
 *   struct wb_sim *s = wb_sim_build(cfg, registry, replication, diag);   NULL: errors are in diag
 *   wb_sim_run(s);
 *   struct wb_result *r = wb_sim_result(s);
 *   wb_sim_free(s);
 *
 * Thread-safe per object: replications run in parallel on their own struct wb_sim; cfg and registry are read only.
 */
#ifndef WAKEBAL_RUN_H
#define WAKEBAL_RUN_H

#include "wakebal/config.h"
#include "wakebal/hist.h"
#include "wakebal/metric.h"
#include "wakebal/policy.h"
#include "wakebal/trace.h"
#include "wakebal/workload.h"

struct wb_drive_task;
struct wb_trace_names;

struct wb_run_options {
    const struct wb_policy_ops *overlay; /* plug-in laid over the kernel's policy, or NULL */
    bool no_inline;                      /* post every segment as an event (tests) */
    bool no_elide;                       /* run every tick (tests) */
    uint64_t trace_capacity;             /* records; 0 = off */
    sim_time trace_from, trace_to;
    bool audit;               /* check invariants while running (slow) */
    bool task_totals;         /* keep wb_task_totals() */
    const volatile int *stop; /* looked at every few milliseconds: not 0 = break off; may be NULL */
    /* Tasks in place of the scenario's workloads; nothing is started. Only wb_drive_build() (drive.h) sets it. */
    const struct wb_drive_task *drive;
    uint32_t ndrive;
};

struct wb_sim *wb_sim_build(const struct wb_config *cfg, const struct wb_registry *reg, uint32_t replication,
                            const struct wb_run_options *opt, struct wb_diag *d);
/* How a run ended. Results exist after DONE and LATE only; the others leave a simulation that can just be freed. */
enum wb_run_end {
    WB_RUN_DONE,
    WB_RUN_LATE,   /* the horizon came before the fixed work was done (see result) */
    WB_RUN_BROKEN, /* options.stop asked for it */
    WB_RUN_STALLED /* some task goes on without time passing; wb_sim_stalled() names it */
};
/* Run to the end of the scenario (duration, or all fixed work done). */
enum wb_run_end wb_sim_run(struct wb_sim *s);
/* After WB_RUN_STALLED: the task, and the index of its workload in *instance. Valid while s lives. */
const char *wb_sim_stalled(const struct wb_sim *s, uint32_t *instance);
/* Run until simulated time `until` (for tests and step-wise views). true while there is more. */
bool wb_sim_step_to(struct wb_sim *s, sim_time until);
void wb_sim_free(struct wb_sim *s);

/* What a scheduler should not let happen, and to whom it happened (docs/metrics.md). */
enum wb_fault_kind {
    WB_FAULT_IDLE_WHILE_WAITING, /* it waited on a busy CPU beside an idle one */
    WB_FAULT_STARVATION,         /* it waited longer than run.starvation_bound */
    WB_FAULT_AFFINITY,           /* it ran where it may not */
    WB_FAULT_PINGPONG,           /* a balancer moved it back */
    WB_FAULT_KINDS
};
extern const char *const wb_fault_name[WB_FAULT_KINDS];
struct wb_fault {
    enum wb_fault_kind kind;
    char task[64]; /* "hog-6": name and pid */
    uint64_t count;
    sim_time total, longest; /* of the first two kinds; else 0 */
};

/* What the engine has done so far, also in the middle of a run. */
struct wb_sim_counts {
    uint64_t events;  /* entries popped from the event set that changed state */
    uint64_t stale;   /* popped and dropped: cancelled in the meantime */
    uint64_t inlined; /* segments that ran ahead without becoming an entry */
    uint64_t wakeups; /* that found a sleeper, on all CPUs */
    uint64_t born;    /* tasks of workloads that have been started: forked and placed */
};
struct wb_sim_counts wb_sim_counts(const struct wb_sim *s);
/* From here on every segment is an entry, or not, as with wb_run_options.no_inline: results are the same. */
void wb_sim_post_segments(struct wb_sim *s, bool all);

/* Bytes that a simulation has taken so far, by its own count: what it asked for (arenas, tables), and the touched pages
 * of what it only reserved. The scenario (configuration, sources) is not in it, nor are result and trace export. */
struct wb_memory {
    size_t cpus;    /* all that was there before the first task of a workload: CPUs, runqueues, domains, idle and
                       migration threads, the policy's tables */
    size_t tasks;   /* tasks, their programs, channels, statistics; tables over them */
    size_t stacks;  /* deep parts of stacks in use */
    size_t machine; /* topology and costs */
    size_t state;   /* caches, regions, lines, buses */
    size_t events;  /* the event set */
    size_t other;   /* ends of arena blocks */
    size_t total;   /* of all these */
    uint32_t ntasks, ncpus; /* tasks of workloads, idle and migration threads not counted */
};
void wb_sim_memory(const struct wb_sim *s, struct wb_memory *m);

struct wb_result {
    uint64_t seed;
    uint32_t replication;
    sim_time duration, measured_from; /* end of run; end of warm-up */
    bool finished;                    /* fixed work was done (or none asked) */
    struct wb_metric *metric;         /* sorted by instance then name */
    size_t nmetrics;
    sim_time window_ps;
    size_t nwindows;
    uint64_t events, stale, inlined, peak_events;
    uint64_t fingerprint;           /* hash of all counters: equal runs have equal fingerprints */
    sim_time (*cat_time)[WB_CAT_N]; /* [ncpus] */
    uint32_t ncpus;
    sim_time *fn_time; /* [nfn] over all CPUs */
    const char **fn_name;
    size_t nfn;
    /* rules: how often each decided */
    const char **rule_name;
    uint64_t *rule_count;
    size_t nrules;
    /* the tasks that it happened to most, at most eight per kind, by kind and then the worst first */
    struct wb_fault *fault;
    size_t nfaults;
    uint32_t movable; /* tasks of workloads that may run on more than one CPU */
    const struct wb_trace *trace;
};
/* Owned by the sim. Of a simulation that was not run: every figure that it would report, without a value. */
const struct wb_result *wb_sim_result(struct wb_sim *s);
/* What was recorded so far; NULL when tracing is off. */
const struct wb_trace *wb_sim_trace(const struct wb_sim *s);
/* How the exporters and views of traceview.h name this run's tasks and rules; valid while s lives. */
void wb_sim_trace_names(struct wb_sim *s, struct wb_trace_names *out);
const struct wb_metric *wb_result_find(const struct wb_result *r, uint32_t instance, const char *name);

#endif
