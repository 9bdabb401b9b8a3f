/*
 * o1.h - the O(1) scheduler of Linux 2.6.10, 2.6.11 and 2.6.22: what its files share.
 *
 * A runqueue has two priority arrays (140 FIFO lists and a bitmap each). The head of the best list of the active
 * array runs, and stays in its list while it does. A task whose time slice is used up goes to the expired array,
 * unless it counts as interactive; when the active array is empty the two are exchanged. Priority = static priority
 * minus a bonus of -5 .. +5 that grows with `sleep_avg`, a damped measure of how much the task sleeps. Balancing
 * moves tasks between the groups of a ladder of scheduling domains.
 *
 * Versions differ by data: struct o1_version says which rules hold, struct o1_sim the numbers in force in this run (a
 * version's default unless a policy.* key says otherwise). Names of the kernels' own functions and constants are kept
 * where there is one.
 *
 * Units. Loads count SCHED_LOAD_SCALE = 128 per task (2.6.10, 2.6.11) or per nice-0 task (2.6.22). Times of the
 * estimator are ns like sched_clock(), time slices are ticks, balancing intervals ms, deadlines jiffies. Unsigned
 * arithmetic wraps where the kernels' does.
 *
 * Ownership: all areas belong to the engine and come zeroed. The policy keeps wb_rq.nr_running.
 */
#ifndef WB_SCHED_O1_H
#define WB_SCHED_O1_H

#include "busiest.h"
#include "ladder.h"
#include "nohz_owner.h"
#include "wakebal/kernel.h"

#define O1_SCALE 128u    /* SCHED_LOAD_SCALE */
#define O1_PRIOS 140u    /* 0..99 real time, 100..139 nice -20..19 */
#define O1_RT_PRIOS 100u /* MAX_RT_PRIO */
#define O1_PRIO_IDLE O1_PRIOS
#define O1_BONUS_MAX 40u
#define O1_LOADS 3u /* damped loads: index i moves 1/2^i of the way per tick */

/* Why. Indexes into o1_rules[]. */
enum o1_rule {
    O1_R_NONE,
    O1_R_STILL_RUNNING,
    O1_R_SAME_CPU,
    O1_R_NOT_ALLOWED,
    O1_R_PREV_IDLE,
    O1_R_AFFINE,
    O1_R_AFFINE_SYNC,
    O1_R_BALANCE,
    O1_R_BALANCE_SYNC,
    O1_R_NO_PULL,
    O1_R_AFFINE_ALONE,
    O1_R_AFFINE_ALONE_SYNC,
    O1_R_AFFINE_LOAD,
    O1_R_AFFINE_LOAD_SYNC,
    O1_R_NO_DOMAIN,
    O1_R_WAKE_IDLE_NEAR,
    O1_R_WAKE_IDLE_FAR,
    O1_R_FORK_LOCAL,
    O1_R_FORK_IDLEST,
    O1_R_FORK_BALANCED,
    O1_R_FORK_AFFINITY,
    O1_R_EXEC_ALONE,
    O1_R_EXEC_NO_DOMAIN,
    O1_R_EXEC_STAY,
    O1_R_EXEC_MOVE,
    O1_R_CPU_IDLE,
    O1_R_PREEMPT,
    O1_R_NO_PREEMPT,
    O1_R_SYNC_UNCHECKED,
    O1_R_CHILD_FIRST,
    O1_R_CHILD_LAST,
    O1_R_LB_AVERAGE,
    O1_R_LB_TWO,
    O1_R_LB_GAIN,
    O1_R_LB_NEWIDLE,
    O1_R_LB_IDLE,
    O1_R_LB_POWER,
    O1_R_ACTIVE,
    O1_RULES
};
extern const char *const o1_rules[O1_RULES];

/* How a sleep counts: `activated` up to 2.6.17 (-1, 0, 1, 2), `sleep_type` later. */
enum o1_sleep { O1_SLEEP_NORMAL, O1_SLEEP_NONINTERACTIVE, O1_SLEEP_INTERACTIVE, O1_SLEEP_INTERRUPTED };

struct o1_array;

struct o1_task {
    struct wb_task *t;
    struct o1_task *next, *prev; /* circular list of its priority */
    struct o1_array *array;      /* NULL: not queued */
    uint64_t sleep_avg;          /* ns, 0 .. max_sleep */
    uint64_t timestamp;          /* ns: last activated, picked or switched out */
    uint64_t last_ran;           /* ns: last time in schedule() as the task that stops */
    task_id parent : 26;         /* gets an unused first time slice back; O1_NO_PARENT */
    uint32_t sleep : 2;          /* enum o1_sleep */
    bool first_slice : 1;        /* still living on what it got from its parent */
    bool running : 1;            /* picked, run time not charged yet */
    bool pulled_expired : 1;     /* being pulled by the balancer out of an expired array */
    bool pulled : 1;             /* being pulled: keeps array kind and priority */
    int32_t time_slice;          /* ticks left */
    uint32_t weight;             /* 2.6.22 load_weight */
    int16_t credit;              /* 2.6.10 interactive_credit */
    uint8_t prio, static_prio;
};
#define O1_NO_PARENT ((1u << 26) - 1) /* tasks are fewer than the event set can name: 2^24 */
_Static_assert(sizeof(struct o1_task) == 72, "there are very many");

#define O1_NORMAL_PRIOS (O1_PRIOS - O1_RT_PRIOS)
struct o1_array {
    uint32_t nr;
    uint64_t bitmap[3];
    struct o1_task *normal[O1_NORMAL_PRIOS]; /* heads of the lists from O1_RT_PRIOS on */
    struct o1_task *first;                   /* of priority 0: the migration thread's */
    struct o1_task **rt;                     /* of all before O1_RT_PRIOS: NULL while the run has no real-time task */
};

struct o1_rq {
    struct o1_array *active, *expired;
    struct o1_array array[2];
    uint64_t expired_since; /* jiffies when the first task expired */
    bool expired_set;
    uint8_t best_expired_prio; /* O1_PRIOS: none */
    uint64_t load[O1_LOADS];   /* cpu_load; 2.6.10 and 2.6.11 use [1] only */
    uint64_t weight;           /* raw_weighted_load */
    uint64_t clock;            /* ns: timestamp_last_tick; 2.6.22: most_recent_timestamp */
    uint64_t tick_jiffies;     /* jiffies at its last tick */
    uint64_t next_balance;     /* 2.6.22, jiffies */
    bool idle_at_tick, in_nohz_recently;
    bool forced_idle;                /* the last tick found it idle for SMT nice */
    struct ladder_excluded excluded; /* by the pass that this CPU executes */
};

struct o1_sim;
struct o1_wake; /* o1_place.c */

/* What a kernel version decides. Functions stand for rules that were rewritten as a whole. */
struct o1_version {
    const char *name;
    /* interactivity */
    uint32_t granularity_ms; /* TIMESLICE_GRANULARITY base */
    int16_t credit_limit;    /* interactive_credit; 0: there is none */
    bool granularity_prio;   /* the round robin among equals recomputes the priority */
    bool
        /* one long sleep lifts to INTERACTIVE_SLEEP only; else to just below the top, and a low bonus gains faster */
        sleep_ceiling;
    bool noninteractive; /* TASK_NONINTERACTIVE exists (2.6.14) */
    bool delta_floor;    /* DELTA(p) rounds down for negative nice */
    bool batch;          /* SCHED_BATCH exists (2.6.16) */
    bool clock_recent;   /* the runqueue's clock moves in schedule() too */
    /* placement */
    cpu_id (*choose)(struct o1_wake *k);
    bool wake_idle_climbs; /* searches upward while domains have WAKE_IDLE; else the lowest only */
    bool wake_idle_nr;     /* not when the CPU has more than one task */
    bool self_balance;     /* fork and exec descend find_idlest_group (2.6.13) */
    /* balancing */
    bool weighted;        /* smpnice, softirq, capacities: the balancer of 2.6.16 .. 2.6.22 */
    bool hot_unless_idle; /* can_migrate_task: a completely idle core ignores heat */
    bool active_all;      /* the migration thread tries every CPU of a group, not one */
    bool smt_nice;        /* dependent_sleeper() exists */
    uint32_t min_gain;    /* throughput gain, of O1_SCALE, that a small imbalance must promise */
};
const struct o1_version *o1_version_find(const char *name); /* NULL: unknown */

struct o1_sim {
    const struct o1_version *v;
    uint32_t ncpus, hz, nr_cpus; /* nr_cpus: as configured, for the phase of balancing */
    /* interactivity */
    uint32_t def_slice, min_slice, granularity; /* ticks */
    uint32_t max_bonus;                         /* MAX_BONUS: 40 * PRIO_BONUS_RATIO / 100 */
    uint32_t max_sleep_ticks;                   /* MAX_SLEEP_AVG */
    uint64_t max_sleep, tick_ns, starvation;
    int32_t interactive_delta, credit_limit;
    uint32_t child_penalty, parent_penalty, exit_weight, on_rq_weight, start_bonus;
    uint64_t bonus_from[O1_BONUS_MAX + 1]; /* least sleep_avg of each bonus */
    uint32_t slice_of[40];                 /* time slice by nice + 20 */
    bool interactive;
    /* placement and balancing */
    struct ladder_rules ladder;
    bool wake_idle, smt_nice, sched_smt, sync, hot, idle_balance, busy_balance, active_balance, nohz, power_savings;
    bool has_hot_time;
    bool rt_lists;     /* the run has real-time tasks */
    uint64_t hot_time; /* ns, overrides the domains' */
    uint32_t min_gain;
    /* state shared by all CPUs */
    bool serializing;         /* the global lock of SD_SERIALIZE levels is held */
    struct nohz_owner idlers; /* idle CPUs without tick, and who balances for them */
    uint16_t fn_recalc, fn_wake_idle, fn_find_idlest, fn_find_group, fn_find_queue, fn_move_tasks, fn_dependent,
        fn_rebalance;
};

/* ---- small accessors ---- */
static inline struct o1_sim *o1_of(const struct wb_exec *x)
{
    return wb_policy_data(x->sim);
}
static inline struct o1_rq *o1_rq(const struct wb_rq *rq)
{
    return rq->policy;
}
static inline struct o1_task *o1_task(const struct wb_task *t)
{
    return t->policy;
}
static inline bool o1_rt(const struct o1_task *p)
{
    return p->prio < O1_RT_PRIOS;
}
static inline uint64_t o1_ns(const struct wb_exec *x)
{
    return wb_now(x) / WB_NS;
}
static inline uint32_t o1_flags(const struct o1_sim *o, const struct wb_sd *sd)
{
    return sd->flags & o->ladder.flag_mask;
}
/* Priority of what runs there; the idle task is below everybody. */
static inline uint32_t o1_curr_prio(const struct wb_rq *rq)
{
    return wb_idle_cpu(rq) ? O1_PRIO_IDLE : o1_task(rq->curr)->prio;
}
/* ms -> jiffies, rounded up (include/linux/jiffies.h msecs_to_jiffies). */
static inline uint64_t o1_jiffies(const struct o1_sim *o, uint64_t ms)
{
    return (ms * o->hz + 999) / 1000;
}

/* ---- o1_array.c: priority arrays ---- */
static inline struct o1_task *o1_array_head(const struct o1_array *a, uint32_t prio)
{
    if (prio >= O1_RT_PRIOS) return a->normal[prio - O1_RT_PRIOS];
    return prio ? a->rt[prio] : a->first;
}
void o1_array_add(struct o1_array *a, struct o1_task *p);                             /* at the tail of its priority */
void o1_array_add_before(struct o1_array *a, struct o1_task *p, struct o1_task *ref); /* same priority as ref */
void o1_array_del(struct o1_array *a, struct o1_task *p);
uint32_t o1_array_best(const struct o1_array *a, uint32_t from); /* first priority >= from with a task, or O1_PRIOS */

/* ---- o1_prio.c: sleep average, priority, time slices ---- */
void o1_prio_init(struct o1_sim *o);                                  /* derived tables */
uint32_t o1_bonus(const struct o1_sim *o, const struct o1_task *p);   /* CURRENT_BONUS */
bool o1_interactive(const struct o1_sim *o, const struct o1_task *p); /* TASK_INTERACTIVE */
uint8_t o1_effective_prio(const struct o1_sim *o, const struct o1_task *p);
uint64_t o1_interactive_sleep(const struct o1_sim *o, const struct o1_task *p); /* INTERACTIVE_SLEEP, ns */
void o1_recalc(const struct o1_sim *o, struct o1_task *p, uint64_t now);        /* recalc_task_prio */
void o1_charge_run(const struct o1_sim *o, struct o1_task *p, uint64_t now);
uint64_t o1_bonus_sleep(const struct o1_sim *o, uint32_t bonus);          /* sleep_avg that gives this bonus */
uint32_t o1_timeslice(const struct o1_sim *o, const struct o1_task *p);   /* task_timeslice, ticks */
uint32_t o1_granularity(const struct o1_sim *o, const struct o1_task *p); /* TIMESLICE_GRANULARITY, ticks */
uint32_t o1_weight(const struct o1_sim *o, const struct wb_task *t);      /* set_load_weight */

/* ---- o1_queue.c: hooks of the queue ---- */
void o1_enqueue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags);
bool o1_dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags);
void o1_put_prev(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev);
struct wb_task *o1_pick(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev);
void o1_yield(struct wb_exec *x, struct wb_rq *rq);
void o1_migrate(struct wb_exec *x, struct wb_task *t, cpu_id from, cpu_id to);
bool o1_check_preempt(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule);

/* ---- o1_life.c: task_init, fork, exit, nice ---- */
void o1_task_init(struct wb_sim *s, struct wb_task *t);
void o1_fork(struct wb_exec *x, struct wb_task *parent, struct wb_task *child);
void o1_exit(struct wb_exec *x, struct wb_task *t);
void o1_task_changed(struct wb_exec *x, struct wb_task *t);

/* ---- o1_tick.c ---- */
void o1_tick(struct wb_exec *x, struct wb_rq *rq);
uint64_t o1_tick_idle_for(struct wb_sim *s, struct wb_rq *rq);
void o1_tick_closed(struct wb_sim *s, struct wb_rq *rq, uint64_t n, sim_time last);
void o1_slice_end(struct wb_exec *x, struct wb_rq *rq, struct o1_task *p);

/* ---- o1_load.c ---- */
uint64_t o1_raw_load(const struct o1_sim *o, const struct wb_rq *rq);
void o1_load_ticks(const struct o1_sim *o, struct wb_rq *rq, uint64_t n); /* n ticks under the present load */
/* type: 0 = now, i = damped load i - 1; versions without indices ignore it. */
uint64_t o1_source_load(const struct o1_sim *o, const struct wb_rq *rq, uint32_t type);
uint64_t o1_target_load(const struct o1_sim *o, const struct wb_rq *rq, uint32_t type);
uint64_t o1_load_per_task(const struct wb_rq *rq); /* cpu_avg_load_per_task */
/* task_hot: signed, so a task that stopped after the clock's last tick is hot. */
bool o1_hot(const struct o1_sim *o, const struct o1_task *p, const struct o1_rq *rq, const struct wb_sd *sd);

/* ---- o1_place.c, o1_forkexec.c ---- */
struct wb_choice o1_place_wakeup(struct wb_exec *x, const struct wb_wakeup *w);
cpu_id o1_choose_tasks(struct o1_wake *k);  /* 2.6.10, 2.6.11 */
cpu_id o1_choose_weight(struct o1_wake *k); /* 2.6.22 */
struct wb_choice o1_place_fork(struct wb_exec *x, struct wb_task *child);
struct wb_choice o1_place_exec(struct wb_exec *x, struct wb_task *t);

/* ---- o1_smt.c ---- */
bool o1_dependent_sleeper(struct wb_exec *x, struct wb_rq *rq);
void o1_wake_sleeping_dependent(struct wb_exec *x, struct wb_rq *rq);
/* A CPU and all threads of its core are idle; without CONFIG_SCHED_SMT just the CPU. */
bool o1_core_idle(struct wb_exec *x, cpu_id cpu);

/* ---- balancing ---- */
extern const struct wb_balance_ops o1_balance_newidle, o1_balance_periodic, o1_balance_active;
bool o1_group_tasks(struct wb_exec *x, struct wb_balance *b,
                    struct wb_sg **out); /* find_busiest_group, 2.6.10 and 2.6.11 */
bool o1_group_weight(struct wb_exec *x, struct wb_balance *b, struct wb_sg **out); /* 2.6.22 */
uint64_t o1_interval(const struct o1_sim *o, const struct wb_sd *sd, bool idle);   /* jiffies between passes, >= 1 */
/* The same for the CPU of a pass. */
uint64_t o1_interval_of_pass(const struct wb_exec *x, const struct wb_balance *b, const struct wb_sd *sd);
uint64_t o1_phase(const struct o1_sim *o, cpu_id cpu); /* HZ * cpu / NR_CPUS */
/* Move up to max_tasks tasks of together at most max_weight from b->src to b->dst; both are locked. */
void o1_move_tasks(struct wb_exec *x, struct wb_balance *b, uint64_t max_tasks, uint64_t max_weight);
struct o1_power_pick { /* power-savings balancing, o1_power.c */
    struct wb_sg *min, *leader;
    uint64_t min_nr, min_load_per_task, leader_nr;
    bool on;
};
struct o1_group_sum {
    struct wb_sg *g;
    uint64_t load, weight, nr, capacity;
    bool local;
};
void o1_power_see(struct o1_power_pick *p, const struct o1_group_sum *g, uint64_t local_nr);
void o1_domains_built(struct wb_sim *s); /* powers and phases; domains exist before init() runs */

/* ---- o1_nohz.c: tickless idle of 2.6.21+ ---- */
bool o1_idle_enter(struct wb_exec *x, struct wb_rq *rq);
void o1_idle_exit(struct wb_exec *x, struct wb_rq *rq);
bool o1_nohz_tick(struct wb_exec *x,
                  struct wb_rq *rq); /* part of trigger_load_balance(): false = do not raise the softirq */
cpu_id o1_nohz_next(struct wb_exec *x, cpu_id after); /* next CPU to balance for, or WB_NO_CPU */

#define O1_KEYS 40u
extern const struct wb_key o1_keys[O1_KEYS];
extern const struct wb_policy_ops o1_policy;

#endif
