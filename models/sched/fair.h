/*
 * fair.h - the fair class of Linux: CFS 2.6.23 .. 6.1 and EEVDF 6.6 .. 6.18; what its files share.
 *
 * One core, three orders of the queue. wait_runtime (2.6.23): each task has a balance of CPU time it is owed; the key
 * is a "fair clock" less that balance. vruntime (2.6.24 .. 6.1): CPU time weighed by nice; the least runs. EEVDF
 * (6.6+): each task asks for slices; among those whose virtual runtime is not ahead of the weighted average
 * (eligible), the one with the earliest virtual deadline runs.
 *
 * Versions differ by data. struct fair_version says which rules of the core hold, struct fair_place_rules and struct
 * fair_balance_rules those of placement and balancing; struct fair_sim has the numbers in force in this run (a
 * version's default unless a policy.* key says otherwise). Names of the kernels' own functions, features and
 * constants are kept where there is one.
 *
 * Files: fair_tree (ordered queue), weights, pelt; fair_queue (enqueue, dequeue, pick), fair_account (update_curr,
 * clocks, loads), fair_wait, fair_vruntime, fair_eevdf (the three orders), fair_preempt, fair_tick, fair_life,
 * fair_features, fair_keys, fair_versions, fair.c (tables and configuration). Placement (fair_place*.c) and balancing
 * (fair_balance*.c) see queues through the last section here.
 *
 * Units. Times are ns in 64 bits, as sched_clock() has them; virtual times wrap and are compared by signed
 * difference. Loads and weights: 1024 for a nice-0 task. Balancing intervals are ms, deadlines jiffies. There is one
 * root group: no cgroups, no autogroup.
 *
 * Ownership: all areas belong to the engine and come zeroed. The policy keeps wb_rq.nr_running: all queued tasks of
 * any class, with the running one and, from 6.12 on, with those whose dequeue is delayed.
 */
#ifndef WB_SCHED_FAIR_H
#define WB_SCHED_FAIR_H

#include "fair_balance.h"
#include "fair_place.h"
#include "fair_rows.h"
#include "fair_rules.h"
#include "fair_tree.h"
#include "pelt.h"
#include "wakebal/kernel.h"
#include "weights.h"

/* ------------------------------------------------------------------ versions */
enum fair_release {
    FAIR_2_6_23,
    FAIR_2_6_24,
    FAIR_2_6_35,
    FAIR_2_6_36,
    FAIR_5_4,
    FAIR_5_15,
    FAIR_6_1,
    FAIR_6_6,
    FAIR_6_12,
    FAIR_6_18,
    FAIR_RELEASES
};
/* Sets of releases: FAIR_SINCE(2.6.35) & FAIR_UNTIL(6.1). */
#define FAIR_SINCE(r) ((uint32_t)((1u << FAIR_RELEASES) - (1u << (r))))
#define FAIR_UNTIL(r) ((uint32_t)((2u << (r)) - 1u))
#define FAIR_IN(from, to) (FAIR_SINCE(from) & FAIR_UNTIL(to))

enum fair_order { FAIR_WAIT_RUNTIME, FAIR_VRUNTIME, FAIR_EEVDF };
/* What cpu_load() and the load comparisons mean. */
enum fair_load_kind {
    FAIR_LOAD_WEIGHT_EXEC, /* 2.6.23: cpu_load[5] of the measured weight (PRECISE_CPU_LOAD) */
    FAIR_LOAD_WEIGHT,      /* 2.6.24 .. 2.6.36: cpu_load[5] of the queued weight */
    FAIR_LOAD_PELT_RUN,    /* 5.4: runnable_load_avg */
    FAIR_LOAD_PELT         /* 5.15+: load_avg */
};

/* Every sched feature of any version (features.h), placement and balancing included. fair_features.c says which
 * versions have it. */
enum fair_feature {
    FAIR_F_FAIR_SLEEPERS,
    FAIR_F_SLEEPER_AVG,
    FAIR_F_SLEEPER_LOAD_AVG,
    FAIR_F_PRECISE_CPU_LOAD,
    FAIR_F_SKIP_INITIAL,
    FAIR_F_NEW_FAIR_SLEEPERS,
    FAIR_F_TREE_AVG,
    FAIR_F_APPROX_AVG,
    FAIR_F_GENTLE_FAIR_SLEEPERS,
    FAIR_F_START_DEBIT,
    FAIR_F_WAKEUP_PREEMPTION,
    FAIR_F_AFFINE_WAKEUPS,
    FAIR_F_LAST_BUDDY,
    FAIR_F_NEXT_BUDDY,
    FAIR_F_PICK_BUDDY,
    FAIR_F_CACHE_HOT_BUDDY,
    FAIR_F_LB_BIAS,
    FAIR_F_LB_SHARES_UPDATE,
    FAIR_F_ASYM_EFF_LOAD,
    FAIR_F_OWNER_SPIN,
    FAIR_F_ARCH_POWER,
    FAIR_F_HRTICK,
    FAIR_F_HRTICK_DL,
    FAIR_F_DOUBLE_TICK,
    FAIR_F_NONTASK_CAPACITY,
    FAIR_F_TTWU_QUEUE,
    FAIR_F_SIS_AVG_CPU,
    FAIR_F_SIS_PROP,
    FAIR_F_SIS_UTIL,
    FAIR_F_WARN_DOUBLE_CLOCK,
    FAIR_F_RT_RUNTIME_SHARE,
    FAIR_F_RT_PUSH_IPI,
    FAIR_F_LB_MIN,
    FAIR_F_ATTACH_AGE_LOAD,
    FAIR_F_WA_IDLE,
    FAIR_F_WA_WEIGHT,
    FAIR_F_WA_BIAS,
    FAIR_F_UTIL_EST,
    FAIR_F_UTIL_EST_FASTUP,
    FAIR_F_LATENCY_WARN,
    FAIR_F_ALT_PERIOD,
    FAIR_F_BASE_SLICE,
    FAIR_F_HZ_BW,
    FAIR_F_PLACE_LAG,
    FAIR_F_PLACE_DEADLINE_INITIAL,
    FAIR_F_PLACE_REL_DEADLINE,
    FAIR_F_RUN_TO_PARITY,
    FAIR_F_PREEMPT_SHORT,
    FAIR_F_DELAY_DEQUEUE,
    FAIR_F_DELAY_ZERO,
    FAIR_FEATURES
};

/* Rules of the core. Times in ns, 0 = the version has no such number. */
struct fair_version {
    const char *name;
    enum fair_release release;
    enum fair_order order;
    enum fair_load_kind load;
    uint64_t latency, min_granularity, wakeup_granularity, batch_wakeup_granularity, idle_min_granularity, base_slice;
    uint64_t scale_cap;  /* scaled numbers do not pass it; 0: no cap */
    uint32_t scale_cpus; /* CPUs beyond this do not scale further; 0: all count */
    uint32_t nr_latency;
    uint32_t weight_idle; /* of SCHED_IDLE */
    bool child_runs_first;
    bool wakeup_follows_min; /* wakeup granularity is half of the scaled min_granularity (2.6.23) */
    bool rounded;            /* divisions by weight round to nearest (calc_delta_mine, up to 2.6.36) */
    bool sync_unchecked;     /* a sync wakeup on the waker's CPU is not checked for preemption (2.6.23) */
    bool repick_resets;      /* a pick of the task that runs already starts its slice anew (before 3.15) */
    bool tick_unsigned;      /* a leftmost task to the right of the running one reschedules too (2.6.33 .. 2.6.37) */
    bool initial_lost;       /* the half first slice is overwritten when the task is queued (6.6) */
    bool idle_short_credit;  /* SCHED_IDLE tasks get less sleeper credit and slice (6.1) */
    bool delayed_counts;     /* delayed tasks count as runnable for load and placement (6.12) */
    bool lazy;               /* has lazy preemption (6.13+) */
};
extern const struct fair_version fair_version[FAIR_RELEASES];
const struct fair_version *fair_version_find(const char *name); /* NULL: unknown */
/* "2.6.35, 2.6.36" ... "2.6.24 to 6.1" of a set of releases, for messages. Returns buf. */
char *fair_releases_text(uint32_t set, char *buf, size_t n);

/* ------------------------------------------------------------------ state */
struct fair_task {
    struct fair_node node; /* first: key and aux as the order has them */
    struct wb_task *t;
    struct fair_task *next, *prev; /* list of the queue's tasks; rt: of its priority */
    struct weight weight;
    bool on_rq; /* queued, running, or delayed */
    bool in_tree, delayed, rel_deadline;
    bool relative; /* vruntime is relative to a queue's min_vruntime: between queues */
    bool custom_slice;
    bool is_new;                   /* never queued yet */
    bool attached;                 /* its load is part of its queue's (also while it sleeps) */
    uint64_t vruntime, exec_start; /* exec_start: rq clock when last accounted as running; 0 after a move (5.x) */
    uint64_t sum_exec, prev_sum_exec;
    uint64_t last_clock; /* queue's clock at which it last stopped running */
    /* wait_runtime */
    int64_t wait_runtime;
    uint64_t wait_start, sleep_start;          /* on the fair clock */
    bool waits, sleeps;                        /* those two are valid */
    uint64_t held_exec, held_wait, held_sleep; /* below stat_granularity: not accounted yet */
    /* EEVDF */
    uint64_t deadline, slice;
    /* running: protected until here (6.18); protected while equal to deadline (6.6, 6.12) */
    uint64_t vprot;
    int64_t vlag; /* lag when it left the queue */
    /* loads */
    struct pelt_avg avg;
    uint32_t util_est, util_ewma; /* at the last sleep, and its average */
    uint32_t util_queued;         /* what the queue's util_est holds for it */
    bool util_moved;              /* util_avg has changed since it was queued */
    struct fair_place_task pl;
};

struct fair_rq {
    struct fair_tree tree;
    struct fair_task *curr;               /* running fair task, or NULL */
    struct fair_task *next, *last, *skip; /* buddies */
    /* all queued tasks, the running one too: enqueued and (5.x) picked ones go to the head */
    struct fair_task *head, *tail;
    struct fair_task *rt;         /* SCHED_FIFO and the migration thread, best first */
    uint32_t nr;                  /* fair tasks queued or running, delayed ones included */
    uint32_t nr_delayed, nr_idle; /* delayed ones; SCHED_IDLE ones */
    uint32_t nr_rt;
    struct weight load; /* sum of weights of those nr */
    uint64_t clock;     /* rq->clock: as of the last update */
    uint64_t pelt_lag;  /* rq->clock_pelt is that much behind: small CPUs do less in the same time (5.1+) */
    uint64_t pelt_lost; /* rq->lost_idle_time */
    uint32_t capacity;  /* arch_scale_cpu_capacity (5.4+; 1024 before) */
    bool clock_kept;    /* the next schedule() does not update it (fair_schedule_clock) */
    uint64_t min_vruntime;
    int64_t sum_lag;    /* EEVDF: sum of (vruntime - min_vruntime) * weight over the tree */
    int64_t sum_weight; /* EEVDF: sum of weights over the tree */
    /* wait_runtime */
    uint64_t fair_clock, exec_clock, sleeper_bonus;
    uint64_t load_exec_start, load_fair_start, load_stamp; /* of the last sample of cpu_load */
    /* loads */
    uint64_t cpu_load[5];  /* up to 2.6.36 */
    uint64_t load_jiffies; /* when cpu_load was last aged */
    struct pelt_avg avg;   /* 5.4+; runnable is runnable_load_avg in 5.4 (queued tasks only) */
    struct {
        uint64_t load, util, runnable;
        uint32_t nr;
    } removed;         /* of sleepers that were placed elsewhere: taken off at the next update */
    uint32_t util_est; /* of the queued tasks */
    /* idleness */
    uint64_t idle_stamp, avg_idle, max_idle_cost; /* idle_stamp 0: not idle since newidle looked */
    uint64_t wake_stamp, wake_avg_idle;           /* 5.12 .. 6.6 SIS_PROP */
    bool idle_at_tick;
    bool ticked_idle;           /* a tick has come in this idle period */
    uint64_t tick_jiffies;      /* jiffies at its last tick */
    struct fair_balance_rq bal; /* fair_balance.h */
};

/* A task that asks for a slice of its own (sched_attr.sched_runtime). */
struct fair_slice {
    const char *task;
    uint64_t ns;
};

struct fair_sim {
    const struct fair_version *v;
    const struct fair_place_rules *pr;
    const struct fair_balance_rules *br;
    const struct fair_order_ops *ops;
    struct pelt_table pelt;
    uint8_t degrade[5][8]; /* 2.6.36: what 2^j missed ticks leave of cpu_load[i], of 128 */
    uint64_t features;     /* bit per enum fair_feature */
    uint32_t ncpus, hz;
    uint64_t tick_ns;
    /* tunables in force, scaled, ns */
    uint64_t latency, min_granularity, wakeup_granularity, batch_wakeup_granularity, idle_min_granularity, base_slice,
        base_slice_unscaled, runtime_limit, stat_granularity, migration_cost;
    uint32_t nr_latency, nr_migrate;
    bool child_runs_first, compat_yield, lazy, nohz, nohz_at_once, drops_delayed, fork_waits;
    bool lag_kept;             /* policy.delayed_lag */
    struct fair_slice *slices; /* policy.task_slices */
    uint32_t nslices;
    struct fair_place_sim pl;
    struct fair_balance_sim bal;
    struct fair_rows rows;
    uint16_t fn_update_curr, fn_pick, fn_place;
};

/* ---- small accessors ---- */
static inline struct fair_sim *fair_of(const struct wb_exec *x)
{
    return wb_policy_data(x->sim);
}
static inline struct fair_rq *fair_rq(const struct wb_rq *rq)
{
    return rq->policy;
}
static inline struct fair_task *fair_task(const struct wb_task *t)
{
    return t->policy;
}
static inline bool fair_on(const struct fair_sim *f, enum fair_feature x)
{
    return f->features >> x & 1;
}
static inline bool fair_has(const struct fair_sim *f, uint32_t releases)
{
    return releases >> f->v->release & 1;
}
static inline uint64_t fair_ns(const struct wb_exec *x)
{
    return wb_now(x) / WB_NS;
}
static inline bool fair_is_rt(const struct wb_task *t)
{
    return t->klass == WB_CLASS_FIFO || t->klass == WB_CLASS_STOP;
}
/* The migration thread is above all SCHED_FIFO priorities. */
static inline uint32_t fair_rt_rank(const struct wb_task *t)
{
    return t->klass == WB_CLASS_STOP ? 100u : t->rt_prio;
}
/* Weight of a task where the versions mean task.se.load.weight; the migration thread has none. */
static inline uint64_t fair_weight(const struct fair_task *p)
{
    return p->weight.value;
}
/* Runnable fair tasks: without delayed ones where the version says so (h_nr_runnable). */
static inline uint32_t fair_nr_runnable(const struct fair_sim *f, const struct fair_rq *r)
{
    return f->v->delayed_counts ? r->nr : r->nr - r->nr_delayed;
}

/* ---- fair_account.c: clocks, run time, loads ---- */
/* update_rq_clock: rq->clock = now, and the queue may change (fair_rows.h). The kernels do so at enqueue, dequeue,
 * tick, schedule() and in balancing, not in placement. */
void fair_update_clock(struct wb_exec *x, struct wb_rq *rq);
/* The same, by schedule(): unless a task that was just queued asked for it. */
void fair_schedule_clock(struct wb_exec *x, struct wb_rq *rq);
/* The CPU goes idle: what its load clock lacks is made up for, or lost if it never had idle time
 * (update_idle_rq_clock_pelt). */
void fair_pelt_idle(const struct fair_sim *f, struct fair_rq *r);
/* Charge the running task up to rq->clock; EEVDF renews its deadline and asks for rescheduling. */
void fair_update_curr(struct wb_exec *x, struct wb_rq *rq);
void fair_min_vruntime(const struct fair_sim *f, struct fair_rq *r);
/* Load of one entity and its queue up to the clock (update_load_avg); p NULL: the queue alone. */
void fair_update_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p);
void fair_attach_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p);
void fair_detach_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p);
/* A sleeper leaves its queue: its blocked load goes at the queue's next update (remove_entity_load_avg). now: 0, or
 * the time to which it is aged when its CPU is idle and its queue's clock stands (migrate_se_pelt_lag, 5.19+). */
void fair_remove_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p, uint64_t now);
void fair_new_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p); /* post_init_entity_util_avg */
/* 5.4: the queued tasks' part of the load signal comes and goes with them (enqueue_runnable_load_avg). */
void fair_queue_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p, bool comes);
/* util_est: what a task used when it last slept (util_est_enqueue, util_est_dequeue, util_est_update). */
void fair_util_est_enqueue(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p);
void fair_util_est_dequeue(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p, bool sleeps);
void fair_loads_init(struct fair_sim *f);                                           /* tables */
void fair_age_cpu_load(const struct fair_sim *f, struct wb_rq *rq, uint64_t ticks); /* update_cpu_load, up to 2.6.36 */

/* ---- the orders: fair_wait.c, fair_vruntime.c, fair_eevdf.c ---- */
struct fair_order_ops {
    /* The running task has run for `ran` ns of the queue's clock. */
    void (*charge)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr, uint64_t ran);
    /* Give a task that comes its place: before it is counted in the queue. */
    void (*place)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t enqueue_flags);
    /* A task goes, and is still counted. false: its dequeue is delayed. */
    bool (*leave)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t dequeue_flags);
    /* it is gone; optional */
    void (*left)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t dequeue_flags);
    /* A delayed task is woken (6.12+); optional. */
    void (*revive)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p);
    struct fair_task *(*choose)(struct wb_exec *x, struct wb_rq *rq);        /* nr > 0 */
    void (*start)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p); /* it gets the CPU; optional */
    void (*stop)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p);  /* it loses it, still queued; optional */
    void (*tick)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr);
    bool (*preempts)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t wake_flags, wb_rule *rule);
    void (*yield)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *curr);
    /* In the parent's context, on its CPU; parent NULL: started from outside. Optional. */
    void (*fork)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *parent, struct fair_task *child);
    void (*migrate)(struct wb_exec *x, struct fair_task *p, struct fair_rq *from, struct fair_rq *to); /* optional */
    /* The weight of a queued task changes; it is out of the tree and still counted with its old one. Optional. */
    void (*reweigh)(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, struct weight w);
};
extern const struct fair_order_ops fair_wait_order, fair_vruntime_order, fair_eevdf_order;

/* ---- fair_queue.c: the tree and the buddies ---- */
void fair_tree_add(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p);
void fair_tree_del(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p);
static inline struct fair_task *fair_of_node(struct fair_node *n)
{
    return (struct fair_task *)(void *)n;
} /* its first member */
void fair_clear_buddies(struct fair_rq *r, const struct fair_task *p); /* p NULL: all */
void fair_list_touch(struct fair_rq *r, struct fair_task *p);          /* to the head of the queue's tasks */
void fair_set_next_buddy(struct fair_rq *r, struct fair_task *p);      /* SCHED_IDLE tasks are none */
/* Reschedule for the fair class: lazily where the version and the scenario say so. */
void fair_resched(struct wb_exec *x, struct wb_rq *rq);
/* Run time to virtual time of a task; part of a period by weight. */
static inline uint64_t fair_virtual(const struct fair_sim *f, uint64_t delta, struct fair_task *p)
{
    return weights_virtual(delta, &p->weight, f->v->rounded);
}
static inline uint64_t fair_scale(const struct fair_sim *f, uint64_t delta, uint64_t weight, struct weight *w)
{
    return f->v->rounded ? weights_scale_rounded(delta, weight, w) : weights_scale(delta, weight, w);
}

/* ---- hooks of the core ---- */
void fair_enqueue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags);
bool fair_dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags);
void fair_put_prev(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev);
struct wb_task *fair_pick(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev);
void fair_set_next(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t);
void fair_yield(struct wb_exec *x, struct wb_rq *rq);
void fair_migrate(struct wb_exec *x, struct wb_task *t, cpu_id from, cpu_id to);
bool fair_check_preempt(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule);
void fair_tick(struct wb_exec *x, struct wb_rq *rq);
uint64_t fair_tick_idle_for(struct wb_sim *s, struct wb_rq *rq);
void fair_tick_closed(struct wb_sim *s, struct wb_rq *rq, uint64_t n, sim_time last);
void fair_task_init(struct wb_sim *s, struct wb_task *t);
void fair_fork(struct wb_exec *x, struct wb_task *parent, struct wb_task *child);
void fair_exit(struct wb_exec *x, struct wb_task *t);
void fair_task_changed(struct wb_exec *x, struct wb_task *t);
bool fair_idle_enter(struct wb_exec *x, struct wb_rq *rq);
void fair_idle_exit(struct wb_exec *x, struct wb_rq *rq);
void fair_switched(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev, struct wb_task *next);

/* ------------------------------------------------------------------ what placement and balancing provide
 * (fair_place*.c, fair_balance*.c) */
/* Read their policy.* keys, make their per-CPU state. Domains and runqueues exist; f->v and f->features are set. 0 or
 * -1. */
int fair_place_init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d);
int fair_balance_init(struct wb_sim *s, const struct wb_config *cfg, struct wb_diag *d);
void fair_pack_init(struct fair_sim *f, const struct wb_config *cfg); /* policy.pack */
struct wb_choice fair_place_wakeup(struct wb_exec *x, const struct wb_wakeup *w);
struct wb_choice fair_place_fork(struct wb_exec *x, struct wb_task *child);
struct wb_choice fair_place_exec(struct wb_exec *x, struct wb_task *t);
/* ttwu_queue_cond, NULL rule up to 2.6.36 */
bool fair_queue_remote(struct wb_exec *x, const struct wb_wakeup *w, cpu_id cpu);
extern const struct wb_balance_ops fair_balance_newidle, fair_balance_periodic, fair_balance_nohz, fair_balance_active;
/* At the end of the tick: trigger_load_balance, nohz_balancer_kick. r->idle_at_tick is set. */
void fair_balance_tick(struct wb_exec *x, struct wb_rq *rq);
/* How many of this CPU's next ticks would find nothing to balance or to kick? The k-th sees jiffies r->tick_jiffies +
 * k. */
uint64_t fair_balance_quiet(struct wb_sim *s, struct wb_rq *rq);
/* A CPU is about to halt and its tick may stop as far as the core is concerned: true = stop it
 * (nohz_balance_enter_idle, select_nohz_load_balancer). */
bool fair_balance_idle_enter(struct wb_exec *x, struct wb_rq *rq);
/* A CPU has switched from its idle task to another; the engine has restarted its tick. */
void fair_balance_idle_exit(struct wb_exec *x, struct wb_rq *rq);
/* The idle task has been picked (__update_idle_core, nr_busy_cpus) / a fair task has been picked (misfit). */
void fair_balance_picked(struct wb_exec *x, struct wb_rq *rq, struct fair_task *next); /* NULL: idle */
/* Does the running task fit its CPU? (update_misfit_status: at picks and ticks) */
void fair_note_misfit(struct wb_exec *x, struct wb_rq *rq, const struct fair_task *p);

/* What balancing believes a CPU can do (capacity_of; 1024: a full-size CPU). */
static inline uint64_t fair_capacity(const struct fair_sim *f, cpu_id cpu)
{
    return f->bal.capacity[cpu];
}
/* fits_capacity: with a margin of 20 %. */
static inline bool fair_fits(uint64_t util, uint64_t capacity)
{
    return util * 1280 < capacity * 1024;
}
/* A queue has got a second task (root_domain.overloaded). */
static inline void fair_note_overload(const struct fair_sim *f, const struct wb_rq *rq)
{
    if (rq->nr_running == 2) *f->bal.overloaded = true;
}

/* ------------------------------------------------------------------ what they may read and call */
/* Instantaneous: weight queued now (2.6.23 .. 2.6.36 weighted_cpuload), 5.4 runnable_load_avg, 5.5+ load_avg as of
 * the last update. */
uint64_t fair_cpu_load(const struct fair_sim *f, const struct fair_rq *r);
/* Up to 5.4 with an index: source = the lower of cpu_load[idx - 1] and now, target = the higher; idx 0, NO_LB_BIAS
 * (2.6.35+) or 5.4: now. */
uint64_t fair_source_load(const struct fair_sim *f, const struct fair_rq *r, uint32_t idx);
uint64_t fair_target_load(const struct fair_sim *f, const struct fair_rq *r, uint32_t idx);
/* cpu_avg_load_per_task: fair_cpu_load / nr_running, and the nice-0 weight when nothing runs (2.6.2x) or 0
 * (2.6.35+). */
uint64_t fair_load_per_task(const struct fair_sim *f, const struct wb_rq *rq);
uint64_t fair_task_h_load(const struct fair_task *p); /* load_avg of the task */
uint64_t fair_cpu_runnable(const struct fair_rq *r);  /* runnable_avg */
/* max(util_avg, util_est), at most capacity */
uint64_t fair_cpu_util(const struct fair_sim *f, const struct fair_rq *r);
uint64_t fair_task_util_est(const struct fair_sim *f, const struct fair_task *p);
/* cpu_util_without: the CPU's utilisation as it would be without p (fork and exec). */
uint64_t fair_cpu_util_without(const struct fair_sim *f, const struct fair_rq *r, const struct fair_task *p);
/* update_blocked_averages: clock and queue averages up to now; true: something is left to decay. */
bool fair_update_blocked(struct wb_exec *x, struct wb_rq *rq);
bool fair_eligible(const struct fair_rq *r, const struct fair_task *p); /* EEVDF: in its own queue */
/* Only SCHED_IDLE tasks there, at least one (sched_idle_cpu). */
static inline bool fair_sched_idle(const struct wb_rq *rq)
{
    return rq->nr_running && rq->nr_running == fair_rq(rq)->nr_idle;
}
/* choose_sched_idle_rq: and this task may join them as if the CPU were idle. */
static inline bool fair_joins_idle(const struct fair_sim *f, const struct wb_task *t, const struct wb_rq *rq)
{
    return fair_sched_idle(rq) && !(f->pl.idle_spreads && t->klass == WB_CLASS_IDLE);
}
/* idle_cpu(): the idle task runs and, from 3.x, nothing is queued and (5.8+) no remote wakeup is pending. */
static inline bool fair_idle_cpu(const struct fair_sim *f, const struct wb_rq *rq)
{
    if (!wb_idle_cpu(rq)) return false;
    return f->v->release <= FAIR_2_6_36 || (!rq->nr_running && (f->v->release < FAIR_5_15 || !rq->wake_list));
}
/* First idle time over: avg_idle moves 1/8 of the way, capped (called by the core when a wakeup activates). */
void fair_idle_over(const struct fair_sim *f, struct fair_rq *r);

/* ------------------------------------------------------------------ tables */
#define FAIR_KEYS 66u
extern const struct wb_key fair_keys[FAIR_KEYS]; /* both families' rows; listed by the "cfs" policy */
/* policy.* keys that not every version has, and who has them: fair_keys.c. */
struct fair_knob {
    const char *key;
    uint32_t releases;
};
extern const struct fair_knob fair_knobs[];
extern const size_t fair_nknobs;
/* An error for each policy.* key that is given although the version lacks it, with the versions that have it. 0 or
 * -1. */
int fair_knobs_check(const struct fair_sim *f, const struct wb_config *cfg, struct wb_diag *d);
/* A key's value, or `otherwise` when it is not given; times in ns. */
uint64_t fair_given(const struct wb_config *cfg, const char *path, uint64_t otherwise);
uint64_t fair_given_ns(const struct wb_config *cfg, const char *path, uint64_t otherwise_ns);
bool fair_given_bool(const struct wb_config *cfg, const char *path, bool otherwise);
/* Reads policy.features; 0 or -1. */
int fair_features_read(struct fair_sim *f, const struct wb_config *cfg, struct wb_diag *d);
/* "NO_WA_IDLE": is it modelled in that version ("6.12"), and not what that version does by default? */
bool fair_feature_differs(const char *version, const char *text);
extern const struct wb_policy_ops fair_cfs_policy, fair_eevdf_policy;

#endif
