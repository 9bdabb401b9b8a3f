/*
 * pelt.h - per-entity load tracking, with the kernels' integers (Linux 5.4 .. 6.18 kernel/sched/pelt.c).
 *
 * Time is cut into periods of 1024 us. What happened n periods ago counts y^n, with y^32 = 1/2: a half-life of 32.8
 * ms. Three signals: load (queued), runnable (queued, 5.7+; 5.4 weighs it) and util (running). Sums advance in whole
 * 1.024 us; averages are sums over the largest sum possible at this point of the period, and change when a period is
 * crossed or an entity comes or goes.
 *
 * The tables (y^n in 32-bit fixed point, the limit 47742 of the sum) are computed from y = 2^(-1/32) by integer
 * square roots.
 */
#ifndef WB_SCHED_PELT_H
#define WB_SCHED_PELT_H

#include "wakebal/base.h"

#define PELT_HALF_LIFE 32u /* periods */
#define PELT_PERIOD 1024u  /* units of 1024 ns */
#define PELT_SCALE 1024u   /* SCHED_CAPACITY_SCALE */

struct pelt_table {
    uint32_t y[PELT_HALF_LIFE]; /* (2^32 - 1) * y^n */
    uint32_t max;               /* LOAD_AVG_MAX */
};

struct pelt_avg {
    uint64_t last_update; /* ns */
    uint64_t load_sum, runnable_sum;
    uint32_t util_sum;
    uint32_t contrib; /* units into the current period */
    uint64_t load_avg, runnable_avg, util_avg;
};

/* What held since last_update: multipliers of elapsed time. load 0 means not queued: then nothing accrues. */
struct pelt_now {
    uint64_t load;     /* entity: 0 or 1; queue: sum of weights */
    uint64_t runnable; /* PELT_SCALE * number of runnable tasks; 5.4: queue only, sum of weights */
    bool running;
};

void pelt_init(struct pelt_table *t);
/* val * y^n. */
uint64_t pelt_decay(const struct pelt_table *t, uint64_t val, uint64_t n);
/* Advance the sums to `now` (ns). True when a period was crossed: the averages are due. */
bool pelt_update_sum(const struct pelt_table *t, struct pelt_avg *a, uint64_t now, const struct pelt_now *w);
/* Averages from sums; `load` multiplies the load average (entity: its weight; queue: 1). */
void pelt_update_avg(const struct pelt_table *t, struct pelt_avg *a, uint64_t load);
/* Largest sum possible at this point of the period (get_pelt_divider). */
static inline uint32_t pelt_divider(const struct pelt_table *t, const struct pelt_avg *a)
{
    return t->max - PELT_PERIOD + a->contrib;
}

#endif
