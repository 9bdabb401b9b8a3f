/*
 * o1_versions.c - what differs between the kernels, as data.
 *
 * 2.6.11: "reset cache_hot_time" (the microsecond/nanosecond mix-up is in the domain tables), interactive_credit
 * removed, wake_idle climbs, idle cores ignore heat in can_migrate_task(), the migration thread visits all CPUs.
 * 2.6.14: TASK_NONINTERACTIVE. 2.6.16: smpnice, SCHED_BATCH. 2.6.18: sleep_type. 2.6.20: SCHED_SOFTIRQ. 2.6.21: no
 * SMT nice.
 */
#include <string.h>

#include "o1.h"

static const struct o1_version versions[] = {
    {
        .name = "2.6.10",
        .granularity_ms = 5,
        .credit_limit = 100,
        .granularity_prio = true,
        .choose = o1_choose_tasks,
        .smt_nice = true,
        .min_gain = O1_SCALE / 8,
    },
    {
        .name = "2.6.11",
        .granularity_ms = 10,
        .choose = o1_choose_tasks,
        .wake_idle_climbs = true,
        .hot_unless_idle = true,
        .active_all = true,
        .smt_nice = true,
        .min_gain = O1_SCALE / 8,
    },
    {
        .name = "2.6.22",
        .granularity_ms = 10,
        .sleep_ceiling = true,
        .noninteractive = true,
        .delta_floor = true,
        .batch = true,
        .clock_recent = true,
        .choose = o1_choose_weight,
        .wake_idle_climbs = true,
        .wake_idle_nr = true,
        .self_balance = true,
        .weighted = true,
        .active_all = true,
        .min_gain = 0,
    },
};

const struct o1_version *o1_version_find(const char *name)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(versions); i++)
        if (!strcmp(versions[i].name, name)) return &versions[i];
    return NULL;
}
