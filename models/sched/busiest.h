/*
 * busiest.h - find_busiest_group() up to 5.4 in numbers: does a group have so much more load than the local one that
 * some should move, and how much?
 *
 * Pure arithmetic on what a policy has summed up over groups. From 2.6.16 (smpnice) to 5.4 the shape stayed: average
 * of the domain, margin, the amount that levels both groups, and a closer look when that is less than a task
 * (fix_small_imbalance). Differences are in struct busiest_rules.
 */
#ifndef WB_SCHED_BUSIEST_H
#define WB_SCHED_BUSIEST_H

#include "wakebal/base.h"

struct busiest_rules {
    uint32_t scale;    /* load of a nice-0 task and power of one CPU: 128, from 2.6.23 on 1024 */
    uint32_t fuzz;     /* allowance on "two tasks apart" (SCHED_LOAD_SCALE_FUZZ, 2.6.23, 2.6.24) */
    uint32_t min_gain; /* throughput that moving one task must gain, beyond which it is worth it */
    bool keep_task;    /* a pull leaves the busiest group one task's load (up to 2.6.24); else its capacity */
    bool scaled_task;  /* "a task apart" is measured in the busiest group's power (2.6.32+) */
    bool small_stands; /* no gain: the small amount stands all the same (2.6.23+); else nothing moves */
    bool empty_counts; /* a local group without tasks counts as having nice-0 ones (up to 2.6.24) */
};

/* The two groups. load: per CPU power; weight: sum of the weights of their tasks. */
struct busiest_side {
    uint64_t load, weight, nr, power, capacity; /* capacity: in tasks */
};
struct busiest_pair {
    struct busiest_side busiest, local;
    uint64_t avg;   /* of the domain */
    uint32_t pct;   /* imbalance_pct */
    bool group_imb; /* loads within the busiest group differ by more than tasks explain */
};

enum busiest_verdict { BUSIEST_NONE, BUSIEST_AVERAGE, BUSIEST_TWO, BUSIEST_GAIN, BUSIEST_SMALL };

/* Is the busiest group beyond the local one and the average by the margin? */
bool busiest_beyond(const struct busiest_pair *p);
/* fix_small_imbalance: less than a task's load to move. per_task: of the busiest group. *imbalance is replaced when a
 * task should move. */
enum busiest_verdict busiest_small(const struct busiest_rules *r, const struct busiest_pair *p, uint64_t per_task,
                                   int64_t *imbalance);
/* The whole decision of 2.6.16 .. 2.6.36. */
enum busiest_verdict busiest_decide(const struct busiest_rules *r, const struct busiest_pair *p, int64_t *imbalance);

#endif
