/*
 * fair_groups.h - statistics of a group of CPUs and what they say (sg_lb_stats, group_classify); private to
 * fair_balance*.c and fair_place_fork.c.
 */
#ifndef WB_SCHED_FAIR_GROUPS_H
#define WB_SCHED_FAIR_GROUPS_H

#include "fair.h"

/* enum group_type, ascending: what may give comes later. 5.4 has OTHER for the first two and only MISFIT, IMBALANCED
 * and OVERLOADED besides. */
enum fair_group_type {
    FAIR_GROUP_HAS_SPARE,
    FAIR_GROUP_FULLY_BUSY,
    FAIR_GROUP_MISFIT,
    FAIR_GROUP_SMT_BALANCE,
    FAIR_GROUP_ASYM_PACKING,
    FAIR_GROUP_IMBALANCED,
    FAIR_GROUP_OVERLOADED
};

struct fair_group {
    struct wb_sg *sg;
    uint64_t load, util, runnable;
    uint64_t tasks;            /* sum of the CPUs' present loads */
    uint64_t max_cpu, min_cpu; /* loads of single CPUs; not of the local group */
    uint64_t nr, h_nr, idle_cpus;
    uint64_t weight, capacity; /* CPUs; power */
    uint64_t misfit, avg_load, per_task;
    enum fair_group_type type;
    bool asym, smt, no_capacity, overloaded; /* the last: some CPU has more than one task */
};

/* All groups of a domain, from one CPU's point of view. */
struct fair_domain_stats {
    struct fair_group local, busiest;
    uint64_t total_load, total_capacity, avg_load, sum_util;
    bool prefer_sibling;
};

/* What the passes of a CPU count as: idle, newly idle, busy. */
static inline bool fair_dst_idle(const struct wb_balance *b)
{
    return !ladder_busy(b);
}
static inline bool fair_newly_idle(const struct wb_balance *b)
{
    return b->kind == WB_BAL_NEWIDLE;
}
static inline struct fair_pass *fair_pass(const struct wb_exec *x)
{
    return &fair_rq(wb_rq(x->sim, x->cpu))->bal.pass;
}
/* Flags of the domain below that a group is the span of; CPUs of its kind. Set at the start. */
static inline uint32_t fair_group_flags(const struct wb_sg *g)
{
    return (uint32_t)g->cookie[1];
}
static inline uint32_t fair_group_cores(const struct wb_sg *g)
{
    return (uint32_t)(g->cookie[1] >> 32);
}
/* sgc->imbalance: affinity kept a lower level from balancing. */
static inline uint64_t *fair_group_pinned(struct wb_sg *g)
{
    return &g->cookie[0];
}

/* ---- fair_balance_stats.c ---- */
/* Sums over the CPUs of a group that the pass has not given up on; charges the looks. Average and type are not set. */
void fair_group_sum(struct wb_exec *x, struct wb_balance *b, struct wb_sg *g, bool local, struct fair_group *s);
bool fair_group_has_room(uint32_t pct, const struct fair_group *s); /* group_has_capacity */
enum fair_group_type fair_group_type(uint32_t pct, const struct fair_group *s);
/* group_is_overloaded, group_has_capacity of 5.4: utilisation only. */
bool fair_group_overloaded_5_4(uint32_t pct, const struct fair_group *s);
bool fair_group_has_room_5_4(uint32_t pct, const struct fair_group *s);
bool fair_core_idle(struct wb_exec *x, cpu_id c);
/* Do priorities of CPUs count for this one in this domain? Between cores only if its core is idle but for it (6.5+
 * sched_use_asym_prio). */
bool fair_asym_counts(struct wb_exec *x, const struct wb_sd *sd, cpu_id c);
cpu_id fair_preferred_cpu(const struct fair_sim *f, const struct wb_sg *g); /* of the highest priority */
/* Is this CPU the one of its group that balances here and above? */
bool fair_should_balance(struct wb_exec *x, const struct wb_balance *b);
/* update_idle_cpu_scan, and root_domain.overloaded at the highest domain. overloaded: seen in this domain. */
void fair_note_domain(struct wb_exec *x, const struct wb_balance *b, uint64_t sum_util, bool overloaded);

/* imb_numa_nr and its predecessors. domain, group: CPUs. */
uint32_t fair_numa_threshold(const struct fair_sim *f, const struct wb_sd *sd, uint64_t domain, uint64_t group);
bool fair_numa_allowed(const struct fair_sim *f, uint64_t running, uint64_t threshold);
int64_t fair_numa_adjust(const struct fair_sim *f, uint64_t imbalance, uint64_t running, uint64_t threshold);

/* ---- find_busiest_group: the group to take from, or NULL; sets b->imbalance, b->rule, the pass's move ---- */
struct wb_sg *fair_busiest_weight(struct wb_exec *x, struct wb_balance *b); /* fair_balance_weight.c */
struct wb_sg *fair_busiest_load(struct wb_exec *x, struct wb_balance *b);   /* fair_balance_load.c */
struct wb_sg *fair_busiest_types(struct wb_exec *x, struct wb_balance *b);  /* fair_balance_types.c */
/* find_busiest_queue, or WB_NO_CPU. */
cpu_id fair_busiest_queue(struct wb_exec *x, struct wb_balance *b, const struct wb_sg *g);

/* ---- fair_balance_move.c ---- */
/* Move tasks from b->src to b->dst; both are locked. active: one, whatever its heat. */
void fair_pull(struct wb_exec *x, struct wb_balance *b);
void fair_pull_one(struct wb_exec *x, struct wb_balance *b);

/* ---- fair_balance_nohz.c ---- */
enum wb_balance_kind fair_idle_kind(const struct wb_exec *x, cpu_id cpu);
/* Next CPU that the nohz walk of b->exec_cpu balances for after b->this_cpu, or WB_NO_CPU; brings its averages up to
 * date. */
cpu_id fair_nohz_next(struct wb_exec *x, struct wb_balance *b);
bool fair_nohz_begin(struct wb_exec *x, struct wb_balance *b);
void fair_nohz_end(struct wb_exec *x, struct wb_balance *b);
void fair_nohz_newidle(struct wb_exec *x, struct wb_rq *rq); /* nohz_newidle_balance */
/* fair_newidle.c: whether the dice lets this CPU look at this domain now; what a look has brought. */
bool fair_newidle_lets(struct wb_exec *x, cpu_id cpu, struct wb_sd *sd);
void fair_newidle_count(const struct fair_sim *f, struct wb_sd *sd, bool pulled);
void fair_newidle_init(struct wb_sim *s, struct fair_sim *f, const struct wb_config *cfg);

/* ---- fair_balance_init.c ---- */
uint64_t fair_interval(const struct wb_exec *x, const struct wb_balance *b, const struct wb_sd *sd);

#endif
