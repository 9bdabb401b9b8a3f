/*
 * fair_rows.h - what group statistics read of each queue, side by side, for large machines.
 *
 * A search of groups (update_sg_lb_stats, update_sg_wakeup_stats) reads a handful of numbers of every CPU, each in
 * several cache lines of its queue. Here they stand in one row per CPU. Whoever may change a queue marks its row
 * (fair_update_clock does: every hook that changes a queue begins with it), and a search brings marked rows up to
 * date first; so a row that is read equals the queue, always (debug builds compare; prop_fair_rows compares runs). The
 * rows of a group are added up once for as long as none of them changes: all values are as of their last update, in
 * the kernels too, so that time alone changes nothing.
 *
 * Kept from FAIR_ROWS_CPUS CPUs on, for 5.4 and later, and not with unequal capacities: their misfit loads change
 * between hooks. Otherwise the rows are NULL and searches read the queues.
 */
#ifndef WB_SCHED_FAIR_ROWS_H
#define WB_SCHED_FAIR_ROWS_H

#include "wakebal/kernel.h"

#define FAIR_ROWS_CPUS 65u

struct fair_row {
    uint64_t load;     /* fair_cpu_load */
    uint64_t runnable; /* fair_cpu_runnable */
    uint64_t load_avg; /* PELT load, blocked load included: 5.4 has a load that is not it */
    uint32_t util;     /* fair_cpu_util */
    uint32_t nr, h_nr; /* wb_rq.nr_running, fair_nr_runnable */
};

/* A group's rows together. */
struct fair_row_sum {
    uint64_t load, runnable, load_avg, util, nr, h_nr;
    uint64_t room;   /* most capacity that one CPU has left */
    uint32_t max_nr; /* of one CPU */
    uint32_t empty;  /* CPUs with nr 0: the idle ones are among them */
    bool good;       /* as long as no row of the group is marked */
};

struct fair_rows {
    struct fair_row *row; /* [ncpus], or NULL */
    struct wb_cpumask stale;
    /* The groups of the highest domain, when that is one and the same for all CPUs: their sums are kept, too. */
    const struct wb_sg *top;
    uint32_t ntop;
    struct fair_row_sum *sum; /* [ntop] */
    uint32_t *sum_of;         /* [ncpus] which group a CPU is in */
};

struct fair_sim;
void fair_rows_init(struct wb_sim *s, struct fair_sim *f);
/* The sum of a group as it is now. */
struct fair_row_sum fair_rows_sum(struct wb_sim *s, struct fair_sim *f, const struct wb_sg *g);
/* How many of the CPUs with nr 0 count as idle, with `t` on one of them (NULL: nobody): a look at those queues. */
typedef bool fair_row_idle(const struct fair_sim *f, const struct wb_rq *rq, const struct wb_task *t);
uint32_t fair_rows_idle(struct wb_sim *s, const struct fair_sim *f, const struct wb_sg *g, const struct wb_task *t,
                        fair_row_idle *idle);
/* Every row of these CPUs is marked or equals its queue. */
bool fair_rows_good(struct wb_sim *s, const struct fair_sim *f, const struct wb_cpumask *m);
/* From here on searches read the queues (tests compare with it). */
static inline void fair_rows_off(struct fair_rows *rows)
{
    rows->row = NULL;
}
/* This CPU's queue may change from here on until the hook under way returns. */
static inline void fair_rows_touch(struct fair_rows *rows, cpu_id cpu)
{
    if (!rows->row) return;
    wb_mask_set(&rows->stale, cpu);
    if (rows->sum) rows->sum[rows->sum_of[cpu]].good = false;
}

#endif
