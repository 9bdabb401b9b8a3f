/*
 * ladder.h - what the balancers and the placement of all Linux versions share: the ladder of scheduling domains.
 *
 * Climbing it when a CPU's balance is due (rebalance_domains), descending it at fork and exec (sched_balance_self,
 * select_task_rq_fair), searching it for an idle CPU (wake_idle), learning from a pass (intervals, failures, queues
 * that hold pinned tasks only), and what groups can do in 2.6.22 .. 2.6.24 (init_sched_groups_power).
 *
 * A policy says what differs by data (struct ladder_rules) and by how loaded a CPU is (struct ladder_loads). Nothing
 * here keeps state of its own: it is in the domains, in struct wb_balance and in the areas of the policy.
 *
 * Units: intervals of domains ms, intervals between passes and deadlines jiffies.
 */
#ifndef WB_SCHED_LADDER_H
#define WB_SCHED_LADDER_H

#include "wakebal/kernel.h"

/* Bits of wb_balance.flags. */
enum ladder_flag {
    LADDER_STARTED = 1 << 0,
    LADDER_STOP = 1 << 1,        /* no more domains */
    LADDER_NOT_MINE = 1 << 2,    /* another CPU of the group is better placed: `balance`, `continue_balancing` = 0 */
    LADDER_SD_IDLE = 1 << 3,     /* all CPUs of the SMT domain seen so far are idle (up to 2.6.36) */
    LADDER_PINNED = 1 << 4,      /* every task looked at was bound elsewhere */
    LADDER_SERIAL = 1 << 5,      /* holds the lock of SD_SERIALIZE levels */
    LADDER_NEXT_SET = 1 << 6,    /* cookie[LADDER_C_NEXT] is valid */
    LADDER_BUSY = 1 << 7,        /* has pulled: the rest of its domains balance as if it were busy */
    LADDER_SOME_PINNED = 1 << 8, /* a task was bound elsewhere */
    LADDER_NEW_DST = 1 << 9      /* ... and could go to another CPU of the group: go on with that (3.7+) */
};
/* Meanings of wb_balance.cookie[]. */
enum ladder_cookie { LADDER_C_INTERVAL, LADDER_C_NEXT, LADDER_C_CURSOR };

#define LADDER_EXCLUDED 32u
/* Queues that one pass has given up on. The kernels' mask is unbounded; after that many a pass fails. */
struct ladder_excluded {
    uint32_t n;
    uint16_t cpu[LADDER_EXCLUDED];
};
static inline bool ladder_is_excluded(const struct ladder_excluded *e, cpu_id cpu)
{
    for (uint32_t i = 0; i < e->n; i++)
        if (e->cpu[i] == cpu) return true;
    return false;
}
static inline bool ladder_exclude(struct ladder_excluded *e, cpu_id cpu)
{
    if (e->n == LADDER_EXCLUDED) return false;
    e->cpu[e->n++] = (uint16_t)cpu;
    return true;
}

/* ---- climbing ---- */

struct ladder_rules {
    uint32_t flag_mask; /* domain flags that are honoured */
    bool *serializing;  /* the global lock of SD_SERIALIZE levels is held */
    uint16_t fn_visit;  /* charged for each domain that is due */
    /* Jiffies between passes of a domain: those of busy CPUs (ladder_busy(b)) are far apart. */
    uint64_t (*interval)(const struct wb_exec *x, const struct wb_balance *b, const struct wb_sd *sd);
};
static inline bool ladder_busy(const struct wb_balance *b)
{
    return b->kind == WB_BAL_PERIODIC_BUSY || b->flags & LADDER_BUSY;
}
/* Index into wb_sd_stats: idle, busy, newly idle. */
static inline int ladder_stat_index(const struct wb_balance *b)
{
    return b->kind == WB_BAL_NEWIDLE ? 2 : ladder_busy(b) ? 1 : 0;
}
/* Remember when this domain wants to be visited next, if that is earlier than what is known. */
void ladder_consider(struct wb_balance *b, uint64_t when);
/* rebalance_domains() of one CPU from `sd` on (NULL: no more): true = a domain is due and returned in *out, its
 * interval in the cookie and its lock taken. Levels that are not due only say when to come back. */
bool ladder_next_due(struct wb_exec *x, struct wb_balance *b, const struct ladder_rules *r, struct wb_sd *sd,
                     struct wb_sd **out);
/* A pass over b->sd is over: stamps it, releases the lock. interval: until the next. */
void ladder_visited(struct wb_exec *x, struct wb_balance *b, const struct ladder_rules *r, uint64_t interval);

/* ---- learning ---- */
static inline uint64_t ladder_ms(sim_time t)
{
    return t / WB_MS;
}
/* OUT_BALANCED and OUT_ONE_PINNED: the interval doubles, beyond its maximum (up to 512 ms) when nothing may move
 * anyway. */
void ladder_back_off(struct wb_sd *sd, bool pinned);
void ladder_hurry(struct wb_sd *sd); /* back to the shortest interval */
void ladder_count_pass(const struct wb_balance *b, bool found);
/* The queue's migration thread exists and has not been asked already. */
bool ladder_may_kick(struct wb_exec *x, const struct wb_balance *b);

/* ---- finding domains ---- */
struct wb_sd *ladder_covering(const struct wb_rq *rq, cpu_id other); /* lowest that has both, or NULL */
/* Highest with the flag among those smaller than `below` CPUs and beneath power-saving ones. */
struct wb_sd *ladder_highest(const struct wb_rq *rq, uint32_t flag, uint32_t mask, uint32_t below);
/* The domain of another CPU at the level of `as`, or NULL when it has none there. */
struct wb_sd *ladder_same_level(struct wb_sim *s, cpu_id cpu, const struct wb_sd *as);

/* ---- fork and exec ---- */
struct ladder_descent {
    struct wb_exec *x;
    struct wb_task *t;
    cpu_id cpu; /* where it stands */
    uint32_t flag, flag_mask, scanned;
    /* A group other than the local one to go to, or NULL; a CPU in it (WB_NO_CPU: none). */
    struct wb_sg *(*group)(struct ladder_descent *d, const struct wb_sd *sd);
    cpu_id (*pick)(struct ladder_descent *d, const struct wb_sg *g);
    const struct ladder_loads *loads; /* of ladder_idlest_* */
    uint16_t fn;                      /* charged for each search of a domain */
};
/* From the highest domain with the flag down; d->cpu is the answer. False: no domain has the flag. */
bool ladder_descend(struct ladder_descent *d);

/* How loaded a CPU is, by damped load index (0 = now): the lower and the higher of it and the present, and now. */
struct ladder_loads {
    uint64_t (*source)(const struct wb_exec *x, const struct wb_rq *rq, uint32_t idx);
    uint64_t (*target)(const struct wb_exec *x, const struct wb_rq *rq, uint32_t idx);
    uint64_t (*now)(const struct wb_exec *x, const struct wb_rq *rq);
    uint32_t scale; /* load of a nice-0 task, power of a CPU */
};
/* find_idlest_group, find_idlest_cpu of 2.6.13 .. 2.6.36: another group must be less loaded by half of the domain's
 * margin. */
struct wb_sg *ladder_idlest_group(struct ladder_descent *d, const struct wb_sd *sd);
cpu_id ladder_idlest_cpu(struct ladder_descent *d, const struct wb_sg *g);

/* ---- wakeups of 2.6.22 .. 2.6.24 ---- */
/* Loads and weights of an affine decision. `here` and `there` are the waker's and the previous CPU. */
struct ladder_pull {
    uint64_t there, here, there_target; /* source_load(prev), target_load(this), target_load(prev) */
    uint64_t per_task;                  /* cpu_avg_load_per_task(this) */
    uint64_t waker, wakee, imbalance;   /* weights; 100 + half of the margin */
    bool sync;
};
enum ladder_verdict { LADDER_NO_PULL, LADDER_ALONE, LADDER_LOAD };
/* The waker's CPU would be no busier and hold one task in all, or stays below the other's load by the margin.
 * Discounting the waker (sync) below zero wraps, as in the kernels. */
enum ladder_verdict ladder_affine(const struct ladder_pull *p);

struct ladder_idle_search {
    struct wb_exec *x;
    const struct wb_cpumask *allowed;
    cpu_id seen[2]; /* looked at already: not charged again */
    uint32_t flag_mask, scanned;
    bool climbs;   /* 2.6.11+: upward while domains have WAKE_IDLE; else the lowest only */
    bool nr_guard; /* 2.6.22+: not when the CPU has more than one task */
    uint8_t depth; /* of the domain where one was found */
};
/* wake_idle(): the first idle CPU, ascending, of the domains of rq's CPU with WAKE_IDLE; WB_NO_CPU: none, or not asked
 * for. */
cpu_id ladder_wake_idle(struct ladder_idle_search *w, const struct wb_rq *rq);

/* ---- powers of 2.6.22 .. 2.6.24 ---- */
/* 1 CPU's worth (scale) for a group without child domain or whose child shares a core or a cache, so that load spreads
 * over caches first; the sum of the child's groups otherwise, and with power savings. */
uint32_t ladder_power_of_caches(const struct wb_sd *sd, const struct wb_sd *child, const struct wb_sg *g,
                                uint32_t scale);
/* Sets wb_sg.power of all groups of all domains, lower levels first, by `power`. Groups are shared by the CPUs of a
 * span: who meets them first sets them. */
typedef uint32_t ladder_power(struct wb_sim *s, const struct wb_sd *sd, const struct wb_sd *child,
                              const struct wb_sg *g);
void ladder_set_powers(struct wb_sim *s, ladder_power *power);
uint32_t ladder_child_power(const struct wb_sd *child); /* sum over its groups */

#endif
