/*
 * fair_place.h - state and version rules of wakeup, fork and exec placement (fair_place*.c). Included by fair.h.
 *
 * Three forms of wakeup placement. Loads (2.6.23, 2.6.24): the smallest domain that covers both CPUs compares loads,
 * then wake_idle(). Siblings (2.6.35, 2.6.36): wake_affine() in a domain with WAKE_AFFINE, then the first idle CPU of
 * the caches around the target. Caches (5.4 and later): wake_wide, wake_affine by idleness and load, then
 * select_idle_sibling() over the last-level cache, with a limit on how far it looks.
 *
 * Every look at another CPU costs kernel.path.select_idle_cpu and the transfer of its runqueue's line.
 */
#ifndef WB_SCHED_FAIR_PLACE_H
#define WB_SCHED_FAIR_PLACE_H

#include "wakebal/cpumask.h"

struct wb_sd;

enum fair_place_form { FAIR_PLACE_LOADS, FAIR_PLACE_SIBLINGS, FAIR_PLACE_CACHES };
enum fair_fork_form { FAIR_FORK_LOADS, FAIR_FORK_SPARE, FAIR_FORK_TYPES };

/* What differs between the versions in placement; a row for each release. */
struct fair_place_rules {
    enum fair_place_form form;
    enum fair_fork_form fork;
    bool sync_cold;     /* a sync wakeup takes a cache-cold task to the waker's CPU (2.6.24) */
    bool wake_cap;      /* no affine wakeup of a task too big for one of the CPUs (up to 5.8) */
    bool idle_prev;     /* an idle previous CPU is preferred (5.9+) */
    bool recent_kept;   /* recent_used_cpu becomes the previous CPU only when used; the waker's follows it (5.4) */
    bool recent_unseen; /* not the recent CPU but the previous one is looked up in the task's mask (5.15 .. 6.4) */
    bool merged_scan;   /* one pass looks for idle cores and CPUs, from target + 1 (5.12+) */
    bool kthread_stays; /* a per-CPU kernel thread's wakeup on its own CPU stays (5.6+) */
    bool cluster;       /* cores that share an L2 are searched first (6.7+) */
    bool current_cpu;   /* WF_CURRENT_CPU (6.6+) */
    bool queue_idle;    /* wakeups of idle CPUs that share the cache are queued on them too (5.8 .. 6.0) */
};
extern const struct fair_place_rules fair_place_rules[];

struct fair_place_task {
    task_id last_wakee; /* + 1; 0: none */
    uint32_t wakee_flips;
    uint64_t wakee_flip_decay; /* jiffies of the last halving */
    cpu_id recent_used_cpu;
};

/* One last-level cache (struct sched_domain_shared). */
enum fair_search { FAIR_SEARCH_FIRST, FAIR_SEARCH_CORES, FAIR_SEARCH_BUDDY };

struct fair_llc {
    uint32_t nr_busy, nr_idle_scan;
    bool has_idle_cores;
};

/* Where a CPU sits (sd_llc, sd_llc_id, sd_llc_size, sd_share_id), and what scanning cost it (avg_scan_cost, ns). */
struct fair_seat {
    struct wb_sd *llc;  /* highest domain that shares the cache, or NULL */
    struct wb_sd *asym; /* sd_asym_cpucapacity, or NULL */
    struct fair_llc *shared;
    cpu_id llc_id, share_id;
    uint32_t llc_size;
    uint64_t scan_cost;
};

/* What a packing rule compares with its limit (fair_place_packed.c), of 1024. */
enum fair_pack_signal {
    FAIR_PACK_NONE,     /* no such rule */
    FAIR_PACK_CPU_UTIL, /* the CPU's utilisation average */
    FAIR_PACK_CPU_EST,  /* the same or the estimate of its queued tasks, the larger */
    FAIR_PACK_WAKER,    /* the running task's */
    FAIR_PACK_PAIR,     /* running and woken task's together */
    FAIR_PACK_RUNNABLE, /* the CPU's runnable average */
    FAIR_PACK_ALWAYS    /* no limit */
};
struct fair_pack {
    enum fair_pack_signal signal;
    uint64_t limit, small; /* shares of PELT_SCALE */
};

struct fair_place_sim {
    struct fair_seat *seat; /* [ncpus] */
    bool smt, clusters;     /* sched_smt_present, sched_cluster_active */
    bool wake_idle;         /* wake_idle() is compiled in (2.6.23, 2.6.24) */
    struct fair_pack pack;
    uint32_t start_flips;      /* wakee flips of tasks that nobody in the scenario forked */
    bool idle_spreads;         /* a CPU with SCHED_IDLE tasks only is no idle one for another SCHED_IDLE task (7.1) */
    bool skips_delayed;        /* sleepers whose dequeue is delayed do not run beside the waker (6.15+) */
    bool sync, wide;           /* switches: the sync hint counts, wake_wide() filters */
    bool queue_l2;             /* wakeups are queued across L2s too */
    uint8_t search;            /* enum fair_search: 2.6.35, 2.6.36 */
    struct wb_cpumask scratch; /* select_idle_mask */
    uint16_t fn_affine, fn_siblings, fn_find_idlest;
};

#endif
