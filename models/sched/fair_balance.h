/* fair_balance.h - state and version rules of load balancing (fair_balance*.c). Included by fair.h. */
#ifndef WB_SCHED_FAIR_BALANCE_H
#define WB_SCHED_FAIR_BALANCE_H

#include "wakebal/base.h"
#include "wakebal/cpumask.h"

/* What differs between the versions in balancing; a row for each release. */
struct fair_balance_rules {
    const char *name;
};

/* Per CPU. */
struct fair_balance_rq {
    uint64_t next_balance; /* jiffies */
};

/* Per run. */
struct fair_balance_sim {
    struct wb_cpumask nohz_idle;
};

#endif
