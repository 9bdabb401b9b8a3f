/*
 * bsd.h - the schedulers of FreeBSD 4 and 5.2: what their files share.
 *
 * Family "bsd4": one queue for the machine, 4BSD priorities. Nobody decides where a task runs: whichever CPU asks first
 * takes the head of the best list. Family "ule": a queue per CPU with two calendars, interactivity from the ratio of
 * sleep to run time, tasks stay on their CPU unless an idle one is handed work or the balancer comes by once a second.
 *
 * Priorities. Smaller is better. A task has a user priority, which follows its past use of the CPU, and, from the
 * moment it goes to sleep in the kernel until it returns to user mode, the fixed and better priority that the sleep
 * named (tsleep(9)); so who wakes up in the kernel preempts who computes. wb_task.nr_returns tells when that has ended.
 *
 * Locks. All of it is under one lock (splhigh and the MP lock in 4.x, sched_lock in 5.x): kernel.runqueue_lock must be
 * "global", and a pick may then take a task that is charged to another CPU (wb_adopt_task()). wb_rq.nr_running counts
 * the queued and running tasks by the CPU where they last ran.
 *
 * The CPUs' statistics clock (stathz) is folded into the ticks of hz. Ownership: areas belong to the engine.
 */
#ifndef WB_SCHED_BSD_H
#define WB_SCHED_BSD_H

#include "wakebal/kernel.h"

#define BSD_LISTS 96u  /* lists of a queue; 4.x has 3 x 32 (real time, normal, idle), 5.x 64 */
#define BSD_PPQ 4u     /* priorities of one list: PPQ, RQ_PPQ */
#define BSD_FSHIFT 11u /* fixed point of load averages, sys/param.h */
#define BSD_FSCALE (1u << BSD_FSHIFT)

struct bsd_runq;

/* One task, in either family. */
struct bsd_task {
    struct wb_task *t;
    struct bsd_task *next, *prev; /* circular list */
    struct bsd_runq *queue;       /* where it waits; NULL: it runs or sleeps */
    uint8_t list;                 /* in that queue */
    uint8_t user_prio;            /* p_usrpri, kg_user_pri */
    uint8_t sleep_prio;           /* what the last sleep in the kernel gave it */
    bool lent;                    /* sleep_prio holds while t->nr_returns == lent_at */
    uint32_t lent_at;
    task_id parent; /* WB_NO_TASK */
    /* 4BSD */
    uint32_t estcpu;  /* recent use of the CPU, in ticks of stathz, decaying */
    uint32_t slptime; /* whole seconds asleep, as schedcpu() has counted */
    bool did_run;     /* since the last schedcpu() */
    /* ULE: times in 1/1024 tick */
    uint64_t runtime, sleeptime;
    uint64_t slept_at;     /* jiffies when it went to sleep */
    int32_t slice;         /* ticks left; 0: none is due to it */
    struct bsd_runq *home; /* the calendar that it returns to when it is preempted */
    bool counted, movable; /* in its CPU's table of nice values; in ule_rq.transferable while it waits */
    int8_t counted_nice;
};

/* Lists by priority with a bitmap of those that are not empty (struct runq, qs[]). */
struct bsd_runq {
    uint64_t bitmap[2];
    uint32_t nr;
    struct bsd_task *head[BSD_LISTS];
};

/* ---- bsd_runq.c; also bsd_check_lock(), bsd_yield() ---- */
void bsd_runq_add(struct bsd_runq *q, struct bsd_task *p, uint32_t list); /* at the tail */
void bsd_runq_del(struct bsd_task *p);
/* First list >= from that is not empty, or BSD_LISTS. */
uint32_t bsd_runq_best(const struct bsd_runq *q, uint32_t from);

/* kernel.runqueue_lock must be "global": one queue, or one sched_lock. Returns 0 or -1. */
int bsd_check_lock(const struct wb_config *cfg, struct wb_diag *d);

/* Optional keys. */
static inline uint64_t bsd_given(const struct wb_config *cfg, const char *path, uint64_t otherwise)
{
    return wb_cfg_has(cfg, path) ? (uint64_t)wb_cfg_int(cfg, path) : otherwise;
}
static inline bool bsd_given_bool(const struct wb_config *cfg, const char *path, bool otherwise)
{
    return wb_cfg_has(cfg, path) ? wb_cfg_bool(cfg, path) : otherwise;
}
/* A time as whole ticks, at least one. */
static inline uint32_t bsd_ticks(const struct wb_config *cfg, const char *path, uint64_t def, uint32_t hz)
{
    return (uint32_t)WB_MAX(bsd_given(cfg, path, def) / WB_US * hz / 1000000, 1u);
}
/* sched_yield() only asks for a switch: the tail of its list is where the switch puts the task. */
void bsd_yield(struct wb_exec *x, struct wb_rq *rq);

/* ---- small accessors ---- */
static inline struct bsd_task *bsd_task(const struct wb_task *t)
{
    return t->policy;
}
/* Does the priority of its last sleep still hold? */
static inline bool bsd_lent(const struct bsd_task *p)
{
    return p->lent && p->lent_at == p->t->nr_returns && !p->t->x.user;
}
static inline uint8_t bsd_prio(const struct bsd_task *p)
{
    return bsd_lent(p) ? p->sleep_prio : p->user_prio;
}
/* It goes to sleep in the kernel with that priority (sleep(), sched_sleep()). */
static inline void bsd_lend(struct bsd_task *p, uint8_t prio)
{
    p->sleep_prio = prio;
    p->lent = true;
    p->lent_at = p->t->nr_returns;
}
static inline bool bsd_is_rt(const struct wb_task *t)
{
    return t->klass == WB_CLASS_FIFO || t->klass == WB_CLASS_STOP;
}

/* ================================================================ 4BSD */
enum bsd4_rule {
    BSD4_R_NONE,
    BSD4_R_STAYS,
    BSD4_R_NOT_ALLOWED,
    BSD4_R_FORK,
    BSD4_R_EXEC,
    BSD4_R_BOUND,
    BSD4_R_CPU_IDLE,
    BSD4_R_PREEMPT,
    BSD4_R_POLLED,
    BSD4_R_UNTOLD,
    BSD4_R_WAITS,
    BSD4_R_NOT_HERE,
    BSD4_R_TAKEN,
    BSD4_RULES
};
extern const char *const bsd4_rules[BSD4_RULES];

/* What a version decides, as data. */
struct bsd4_version {
    const char *name;
    uint8_t puser, prio_max; /* best and worst user priority of the time-sharing class */
    uint8_t pribio;          /* what a sleep on a pipe names */
    uint8_t nice_weight;     /* priorities per nice level */
    uint8_t nice_base;       /* subtracted from nice: PRIO_MIN or 0 */
    uint8_t estcpu_levels;   /* priorities that estcpu can cost */
    bool weight_per_cpu;     /* INVERSE_ESTCPU_WEIGHT is 8 * CPUs, not 8 */
    bool last_cpu_first;     /* chooseproc(): within the best list who last ran here */
    bool asks_user_prio;     /* curpriority_cmp(): against the running task's user priority, by four and more */
    bool counts_runs;        /* KEF_DIDRUN: who ran since the last schedcpu() was awake */
    bool callout_thread;     /* softclock() is a thread, which preempts whoever runs on the CPU of the clock */
    bool three_sets;         /* lists of real time, normal and idle class apart */
};
const struct bsd4_version *bsd4_version_find(const char *name); /* NULL: unknown */

struct bsd4_sim {
    const struct bsd4_version *v;
    struct bsd_runq queue;
    uint32_t ncpus, hz, stathz, quantum; /* quantum: ticks between round robins */
    uint32_t weight;                     /* INVERSE_ESTCPU_WEIGHT */
    uint32_t estcpu_max;                 /* ESTCPULIM */
    uint32_t ldavg;                      /* load average of a minute, BSD_FSCALE = 1 */
    uint64_t loadav_at;                  /* tick of CPU 0 when it is taken next */
    struct wb_stream draws;              /* of those intervals */
    uint8_t sleep_prio;
    bool polls;    /* kernel.idle = "poll" */
    bool wake_ipi; /* counterfactual: wakeups tell an idle CPU */
    bool decay;
    uint16_t fn_choose, fn_schedcpu;
};
struct bsd4_rq {
    uint32_t stat; /* fraction of a stathz tick, in 1/hz */
};
static inline struct bsd4_sim *bsd4_of(const struct wb_exec *x)
{
    return wb_policy_data(x->sim);
}

/* ---- bsd4_prio.c: estcpu and what follows from it ---- */
uint32_t bsd4_decay(const struct bsd4_sim *o, uint32_t estcpu);         /* one second */
uint32_t bsd4_limit(const struct bsd4_sim *o, uint32_t estcpu);         /* ESTCPULIM */
void bsd4_reset_prio(const struct bsd4_sim *o, struct bsd_task *p);     /* resetpriority */
void bsd4_update_prio(const struct bsd4_sim *o, struct bsd_task *p);    /* updatepri: after a long sleep */
void bsd4_clock(const struct bsd4_sim *o, struct bsd_task *p);          /* schedclock: one stathz tick of running */
uint32_t bsd4_load_step(uint32_t ldavg, uint32_t runnable);             /* loadav(), every 5 s */
uint32_t bsd4_list(const struct bsd4_sim *o, const struct bsd_task *p); /* list of its priority */
void bsd4_schedcpu(struct wb_exec *x, struct wb_rq *rq);                /* once a second */
void bsd4_loadav(struct wb_exec *x, struct wb_rq *rq);
/* Would it have the CPU's running task give way? (maybe_resched) An idle CPU always takes it. */
bool bsd4_better(const struct bsd4_sim *o, const struct bsd_task *p, const struct wb_rq *rq);

/* ---- bsd4_queue.c ---- */
void bsd4_enqueue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags);
bool bsd4_dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags);
void bsd4_put_prev(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev);
struct wb_task *bsd4_pick(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev);
bool bsd4_check_preempt(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule);
/* Something that may run on this CPU is queued: look at it as the idle loop does. */
bool bsd4_work_for(const struct bsd4_sim *o, const struct wb_rq *rq);
/* A priority changed while the task may be queued. */
void bsd4_requeue(const struct bsd4_sim *o, struct bsd_task *p);

#define BSD4_KEYS 10
extern const struct wb_key bsd4_keys[BSD4_KEYS];
extern const struct wb_policy_ops bsd4_policy;

/* ================================================================ ULE */
enum ule_rule {
    ULE_R_NONE,
    ULE_R_LAST_CPU,
    ULE_R_HERE,
    ULE_R_IDLE_PUSH,
    ULE_R_REAL_TIME,
    ULE_R_NOT_ALLOWED,
    ULE_R_FORK,
    ULE_R_EXEC,
    ULE_R_CPU_IDLE,
    ULE_R_PREEMPT,
    ULE_R_WAITS,
    ULE_R_BALANCE,
    ULE_R_CALLOUT,
    ULE_RULES
};
extern const char *const ule_rules[ULE_RULES];

#define ULE_NICES 41u /* -20 .. 20 */
struct ule_sim {
    uint32_t ncpus, hz, stathz;
    uint32_t slice_min, slice_max; /* set up in ticks of hz, counted in ticks of stathz */
    uint32_t interact_threshold;
    uint64_t history, history_fork; /* SCHED_SLP_RUN_MAX, _FORK, 1/1024 tick */
    uint32_t balance_ticks;
    uint8_t sleep_prio;
    bool idle_push, balance;
    uint16_t fn_score, fn_choose, fn_balance;
};
struct ule_rq {
    struct bsd_runq calendar[2], idle; /* idle: class idle */
    struct bsd_runq *curr, *next;
    uint32_t transferable; /* ksq_load_transferable: waiting here and free to go elsewhere */
    uint32_t stat;         /* fraction of a stathz tick, in 1/hz */
    uint32_t timeshare;    /* runnable, of the time-sharing class, the running one included */
    uint32_t nice[ULE_NICES];
};
static inline struct ule_sim *ule_of(const struct wb_exec *x)
{
    return wb_policy_data(x->sim);
}
static inline struct ule_rq *ule_rq(const struct wb_rq *rq)
{
    return rq->policy;
}

/* ---- bsd_ule_prio.c ---- */
uint32_t ule_score(const struct bsd_task *p);                            /* sched_interact_score, 0 .. 100 */
bool ule_interactive(const struct ule_sim *o, const struct bsd_task *p); /* SCHED_INTERACTIVE */
void ule_forget(const struct ule_sim *o, struct bsd_task *p);            /* sched_interact_update */
void ule_forget_fork(const struct ule_sim *o, struct bsd_task *p);
void ule_priority(struct bsd_task *p);                                               /* sched_priority */
int ule_nice_min(const struct ule_rq *r);                                            /* 0 when nobody counts */
void ule_slice(const struct ule_sim *o, const struct ule_rq *r, struct bsd_task *p); /* sched_slice */
bool ule_current(const struct ule_sim *o, const struct bsd_task *p, uint8_t now);    /* SCHED_CURR */
void ule_ran(const struct ule_sim *o, struct bsd_task *p, uint32_t n);               /* n stathz ticks */

/* ---- bsd_ule_queue.c ---- */
void ule_enqueue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags);
bool ule_dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags);
void ule_put_prev(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev);
struct wb_task *ule_pick(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev);
bool ule_check_preempt(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule);
void ule_queue(struct ule_rq *r, struct bsd_task *p);    /* kseq_runq_add: into its home */
void ule_unqueue(struct ule_rq *r, struct bsd_task *p);  /* kseq_runq_rem */
bool ule_movable(const struct wb_task *t);               /* KSE_CAN_MIGRATE */
void ule_load_add(struct ule_rq *r, struct bsd_task *p); /* kseq_load_add: runnable here, running or not */
void ule_load_rem(struct ule_rq *r, struct bsd_task *p);

extern const struct wb_balance_ops ule_balance, ule_balance_active; /* bsd_ule_balance.c */
#define ULE_KEYS 13
extern const struct wb_key ule_keys[ULE_KEYS];
extern const struct wb_policy_ops ule_policy;

#endif
