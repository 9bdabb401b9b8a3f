/* fair_place.h - state and version rules of wakeup, fork and exec placement (fair_place*.c). Included by fair.h. */
#ifndef WB_SCHED_FAIR_PLACE_H
#define WB_SCHED_FAIR_PLACE_H

#include "wakebal/base.h"

/* What differs between the versions in placement; a row for each release. */
struct fair_place_rules {
    const char *name;
};

struct fair_place_task {
    task_id last_wakee; /* + 1; 0: none */
    uint32_t wakee_flips;
    uint64_t wakee_flip_decay; /* jiffies of the last halving */
    cpu_id recent_used_cpu;
};

struct fair_place_sim {
    uint16_t fn_select_idle;
};

#endif
