/*
 * fair_balance.h - state and version rules of load balancing (fair_balance*.c). Included by fair.h.
 *
 * Three generations. Weight (2.6.23 .. 2.6.36): sums of task weights, damped by index; groups with more tasks than
 * capacity may give. Load (5.4): PELT loads, groups typed as other, imbalanced, overloaded. Types (5.5 and later):
 * groups by type; load, utilisation or a number of tasks moves according to it.
 */
#ifndef WB_SCHED_FAIR_BALANCE_H
#define WB_SCHED_FAIR_BALANCE_H

#include "busiest.h"
#include "ladder.h"
#include "nohz_owner.h"

enum fair_generation { FAIR_LB_WEIGHT, FAIR_LB_LOAD, FAIR_LB_TYPES };
enum fair_order_of_pull { FAIR_PULL_TREE, FAIR_PULL_HEAD, FAIR_PULL_TAIL };
/* When a CPU that goes idle looks for tasks. */
enum fair_newidle_gate {
    FAIR_GATE_NONE,
    FAIR_GATE_IDLE,       /* avg_idle >= migration_cost (2.6.35) */
    FAIR_GATE_OVERLOADED, /* ... and some CPU has more than one task (5.4, 5.15) */
    FAIR_GATE_COST,       /* avg_idle >= what the lowest domain cost, and some CPU has more than one (6.1+) */
    FAIR_GATE_BOTH        /* as FAIR_GATE_COST, and avg_idle >= migration_cost: c5b0a7eefc70 (5.17) reverted */
};
enum fair_nohz_form { FAIR_NOHZ_OWNER, FAIR_NOHZ_PUSH, FAIR_NOHZ_FLAGS };
/* Imbalance between nodes that is left alone: none; while the busiest node runs less than a quarter of its CPUs (5.11
 * .. 5.15.32, 5.16, 5.17); the same for the destination (5.18 and stable kernels); by last-level caches (5.19+). */
enum fair_numa { FAIR_NUMA_NONE, FAIR_NUMA_SOURCE, FAIR_NUMA_QUARTER, FAIR_NUMA_LLCS };

/* What differs between the versions in balancing; a row for each release. */
struct fair_balance_rules {
    enum fair_generation generation;
    enum fair_order_of_pull order;
    enum fair_newidle_gate gate;
    enum fair_nohz_form nohz;
    enum fair_numa numa;
    struct busiest_rules busiest;
    bool trap_always;      /* SMT: a busy sibling ends the walk (up to 2.6.36) */
    bool group_imb;        /* uneven groups may give although within capacity (2.6.24+) */
    bool prefer_sibling;   /* groups of a level that spreads have room for one task only (2.6.35+) */
    bool asym_lowest;      /* asymmetric packing prefers low CPU numbers (2.6.36) */
    bool newidle_unlocked; /* newidle looks without its runqueue's lock (2.6.33+) */
    bool newidle_learns;   /* failures of newidle count, and it moves intervals (2.6.35, 2.6.36) */
    bool hot_test;         /* cache-hot tasks are kept (2.6.24+) */
    bool buddies_hot;      /* ... and buddies (2.6.32+) */
    bool limited;          /* sched_nr_migrate limits the tasks looked at */
    bool less_one;         /* busy intervals are one jiffy shorter (5.10+) */
    bool sibling_cores;    /* idle cores balance first; tasks per core count; groups' own flags (6.5+) */
    bool smt_balance;      /* group type smt_balance (6.5+) */
    bool halve_first;      /* the imbalance is halved before nodes are treated (5.15) */
    bool no_average;       /* a fully busy local group is not compared with the average (6.1.0) */
    bool newidle_bails;    /* newidle gives up when work has come (5.19+) */
    bool blocked_first;    /* the first domain pays for updating the averages; newidle decays costs (5.19+) */
    bool cost_bump;        /* a failed newidle records 1.5 times the cost, capped (6.17+) */
    bool past_pinned;      /* beyond nr_migrate while all tasks seen were bound elsewhere (5.19 .. 6.6) */
    bool util_shift;       /* utilisation too is relaxed by failures (6.12) */
    bool failed_resets;    /* active balancing does not set nr_balance_failed (5.13+) */
    bool only_task_active; /* failures start active balancing when tasks were to move only (5.10+) */
    bool ineligible_stays; /* tasks ahead of their queue's average stay at the first attempt; delayed ones move for load
                              only (6.14+) */
    bool misfit_uncounted; /* misfit passes neither count as failures nor lengthen intervals (6.10+) */
    /* of groups with equal misfit loads or preferred CPUs the first stands, not the last (6.9+) */
    bool strict_ties;
};
extern const struct fair_balance_rules fair_balance_rules[];

/* What one pass moves: load, utilisation, tasks, or a task that does not fit. */
enum fair_move { FAIR_MOVE_LOAD, FAIR_MOVE_UTIL, FAIR_MOVE_TASK, FAIR_MOVE_MISFIT };

/* The pass that this CPU executes: what struct wb_balance has no room for. Balancing runs with interrupts off, so there
 * is one at a time. */
struct fair_pass {
    struct ladder_excluded excluded;
    enum fair_move move;
    int64_t left;    /* of the imbalance */
    uint32_t nmoved; /* in all rounds */
    cpu_id new_dst;  /* where a task bound elsewhere could go */
    bool src_misfit; /* 5.4: the busiest group has a misfit task */
};

/* Per CPU. */
struct fair_balance_rq {
    uint64_t next_balance; /* jiffies */
    struct fair_pass pass;
    uint64_t misfit_load; /* of the running task, when it does not fit */
    uint8_t kick;         /* enum fair_kick: asked by others */
    bool self_done;       /* the nohz walk of this softirq has done this CPU too */
    bool in_nohz_recently, tick_stopped, counted_idle, has_blocked, newidle_stats;
    struct wb_stream dice;    /* fair_newidle.c */
    uint64_t blocked_jiffies; /* when its blocked load was last updated by others */
};
enum fair_kick { FAIR_KICK_STATS = 1, FAIR_KICK_BALANCE = 2 };

/* Per run. */
struct fair_balance_sim {
    struct ladder_rules ladder;
    bool serializing;
    bool *overloaded; /* some CPU has had more than one task (root_domain.overloaded) */
    enum fair_numa numa;
    bool cache_hot, newidle, idle_balance, busy_balance, active_balance; /* switches */
    bool newidle_one;
    bool newidle_random;   /* fair_newidle.c */
    uint64_t interval_cap; /* jiffies */
    uint32_t *capacity;    /* [ncpus] 1024: a CPU of full size */
    int32_t *priority;     /* [ncpus] arch_asym_cpu_priority */
    uint32_t max_capacity;
    bool asym_capacity;
    /* tickless idle */
    struct nohz_owner nohz;
    uint64_t nohz_next_balance, nohz_next_blocked; /* jiffies */
    bool nohz_has_blocked;
    cpu_id first_pick, second_pick; /* 2.6.36: busy CPUs that may kick */
    uint16_t fn_group, fn_queue, fn_pull, fn_blocked;
};

#endif
