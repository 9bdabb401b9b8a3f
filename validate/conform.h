/*
 * conform.h - a recording's scheduling decisions beside those of a kernel model.
 *
 * conform_run() rebuilds from the events who was where (a kernel driven by hand, wakebal/drive.h), and at every wakeup
 * asks the placement code of the chosen kernel profile, the very code that simulations run, where it would have put
 * the task. So do forks.
 *
 * What a recording does not hold is either derived from its history (load averages, wakee flips, the sync flag by
 * class of waker, recently used CPU, idle cores, delayed dequeues) or unknown. For each such fact the decision is
 * asked again with the fact changed: a wakeup's state is *known* when no change leads to another CPU. Agreement is
 * reported for the known ones, and apart for those that hang on a derived fact. Wakeups that had no choice (still
 * queued, bound to one CPU, real time) are counted and not scored.
 *
 * Times in ns. Ownership: conform_free(). Single-threaded.
 */
#ifndef WB_VALIDATE_CONFORM_H
#define WB_VALIDATE_CONFORM_H

#include <jansson.h>

#include "trace_health.h"
#include "wakebal/keys.h"
#include "wakebal/scenario.h"
#include "wakebal/workload.h"

/* From where it was woken; then those that are not scored. */
enum conform_kind {
    CONFORM_TASK,
    CONFORM_SOFTIRQ,
    CONFORM_HARDIRQ,
    CONFORM_ANY, /* the recording has no context column */
    CONFORM_SCORED,
    CONFORM_QUEUED = CONFORM_SCORED, /* had not left its queue */
    CONFORM_BOUND,                   /* may use one CPU */
    CONFORM_RT,                      /* real-time class: the model keeps them where they are */
    CONFORM_NO_OUTCOME,              /* the recording ends before, or is damaged */
    CONFORM_NO_STATE,                /* events were lost: who runs where is not known */
    CONFORM_FORK,                    /* of disagreements: no wakeup but a fork */
    CONFORM_KINDS
};
extern const char *const conform_kind_name[CONFORM_KINDS];

/* Facts that are not in a recording, one bit each. */
enum conform_fact {
    CONFORM_F_SYNC,     /* sync flag of the wakeup: by class of waker */
    CONFORM_F_WIDE,     /* wakee flips: counted since the beginning of the section */
    CONFORM_F_CORES,    /* the cache's "has idle cores" mark */
    CONFORM_F_DEPTH,    /* how far the cache may be searched: 0 or all (SIS_UTIL) */
    CONFORM_F_LOAD,     /* load averages of both CPUs */
    CONFORM_F_RECENT,   /* recently used CPU */
    CONFORM_F_DELAYED,  /* dequeue delayed: still queued, not placed (6.12+) */
    CONFORM_F_LEAVING,  /* not switched out completely: queued where it is */
    CONFORM_F_RACE,     /* a CPU changed while the decision was made */
    CONFORM_F_UTIL,     /* fork: utilisation of groups */
    CONFORM_F_STAMP,    /* fork: which idle CPU went idle last */
    CONFORM_F_CLASS,    /* tasks that seem to be SCHED_IDLE */
    CONFORM_F_AFFINITY, /* a migration thread has moved the wakee: it may be bound */
    CONFORM_F_PACK,     /* the packing rule's signal */
    CONFORM_FACTS
};
struct conform_fact_text {
    const char *name, *help;
};
extern const struct conform_fact_text conform_fact_text[CONFORM_FACTS];

#define CONFORM_STATE_MAX 1024u
/* One disagreement, with what the model saw. */
struct conform_case {
    uint64_t ns;
    uint32_t line, section;
    int32_t waker, wakee; /* pids; 0 idle */
    char waker_comm[TRACE_COMM], wakee_comm[TRACE_COMM];
    uint16_t this_cpu, prev_cpu, chosen, model;
    uint16_t rule;
    const char *rule_text;
    uint8_t kind;
    uint32_t facts;                /* bits on which the model's answer hangs; 0: known */
    bool possible;                 /* some value of those facts gives the recorded CPU */
    char state[CONFORM_STATE_MAX]; /* "cpu0 run pong0 nr 1, cpu1 idle ..." */
};

struct conform_tally {
    uint64_t known, known_agree; /* no derived fact decides */
    uint64_t derived, derived_agree, derived_possible;
};
struct conform_rule_row {
    const char *rule;
    struct conform_tally tally;
};

/* Where a wakeup went, as seen from its waker: for the confusion table. */
enum conform_place {
    CONFORM_P_STAY,       /* waker's CPU, where it slept */
    CONFORM_P_PULL,       /* waker's CPU, from another */
    CONFORM_P_PREV,       /* where it slept, another CPU than the waker's */
    CONFORM_P_NEAR,       /* a third CPU of the cache of where it slept */
    CONFORM_P_NEAR_WAKER, /* a third CPU of the waker's cache */
    CONFORM_P_FAR,
    CONFORM_PLACES
};
extern const char *const conform_place_name[CONFORM_PLACES];

/* Balancing of one domain level, all CPUs: what the machine counted and what the recording shows. */
struct conform_domain {
    char name[16];
    uint32_t depth;
    uint64_t calls[3], balanced[3], failed[3], gained[3]; /* idle, busy, newly idle */
    uint64_t pushed;                                      /* active balancing */
    uint64_t moved_seen;                                  /* recorded moves across this level, wakeups not included */
    uint64_t wake_remote, move_affine;                    /* counted */
    uint64_t model_affine;                                /* the model's, over the same wakeups */
};

/* Newly idle balancing, by recorded events: a CPU goes idle, or pulls a task as it runs out of work. The model is asked
 * what it would pull, had it time for all levels (the gates are times, which a recording does not hold). */
struct conform_newidle {
    uint64_t idle, idle_quiet;                                  /* went idle; of these nobody waited anywhere */
    uint64_t idle_agree;                                        /* not quiet, and the model finds nothing either */
    uint64_t pulls, same_cpu, same_level, other_level, nothing; /* pulled; the model's source */
};

/* A level of CPU 0's domains: what of the recorded one is otherwise in the model. */
struct conform_level {
    char recorded[16], model[16]; /* names; "" = there is none */
    char differs[320];            /* "imbalance 117, not 125"; "" = nothing */
};

struct conform_options {
    const char *machine; /* -m: name, file or synthetic string; NULL: the recording's notes, else one cache */
    const char *kernel;  /* -k; NULL: the recording's notes */
    const struct wb_override *set;
    size_t set_n;
    size_t first;       /* disagreements to keep */
    uint64_t window_ns; /* for CONFORM_F_LEAVING */
};

struct conform_result {
    struct trace *trace;
    struct trace_health health;
    char machine[256], kernel[64];
    bool machine_assumed, kernel_near; /* kernel_near: the recording's version is not modelled, this one is nearest */
    uint32_t ncpus, seem_idle;         /* tasks that are taken for SCHED_IDLE */
    uint64_t wakeups, count[CONFORM_KINDS];
    struct conform_tally total, by_kind[CONFORM_SCORED], fork;
    uint64_t by_fact[CONFORM_FACTS], by_fact_agree[CONFORM_FACTS];
    uint64_t confusion[CONFORM_PLACES][CONFORM_PLACES]; /* [recorded][model], known ones */
    struct conform_rule_row *rule;                      /* in the order of the policy's table; only those used */
    size_t nrules;
    struct conform_case *cases; /* disagreements: known ones first come first */
    size_t ncases;
    struct conform_level level[TRACE_LEVELS];
    uint32_t nlevels; /* recorded ones; 0: the recording does not tell */
    struct conform_domain *domain;
    size_t ndomains;
    struct conform_newidle newidle;
    uint64_t moves_newidle, moves_softirq, moves_stopper, moves_other; /* recorded moves that are no wakeups */
    uint64_t repaired; /* times the rebuilt state contradicted the recording */
};

/* Read and rebuild. NULL: errors in d. reg, keys: what can be modelled. */
struct conform_result *conform_run(const char *path, const struct conform_options *o, const struct wb_registry *reg,
                                   const struct wb_key_registry *keys, struct wb_diag *d) WB_MUST_USE;
/* The same of a recording that was read already; takes it over, also on failure. */
struct conform_result *conform_run_trace(struct trace *t, const struct conform_options *o,
                                         const struct wb_registry *reg, const struct wb_key_registry *keys,
                                         struct wb_diag *d) WB_MUST_USE;
void conform_free(struct conform_result *r);
json_t *conform_json(const struct conform_result *r);
json_t *trace_health_json(const struct trace *t, const struct trace_health *h);
/* Share of agreement among known ones; 1 when there is none. */
double conform_share(const struct conform_tally *t);

#endif
