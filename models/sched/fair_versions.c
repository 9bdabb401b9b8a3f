/*
 * fair_versions.c - what differs between the kernels in the core, as data.
 *
 * kernel/sched_fair.c, kernel/sched/fair.c of each: sysctl_sched_* defaults, sched_init_granularity /
 * get_update_sysctl_factor. 2.6.23: wait_runtime. 2.6.24: vruntime. 2.6.35: gentle sleepers, buddies, scaling by at
 * most 8 CPUs. 2.6.36: min_granularity 0.75 ms (0bf377bbb0b). 5.4, 5.15: PELT, a pick of the running task restarts
 * nothing. 6.1: idle_min_granularity. 6.6: EEVDF. 6.12: delayed dequeue, short slices preempt. 6.18: vprot, lazy
 * preemption, base slice 0.70 ms.
 */
#include "fair.h"

#include <stdio.h>
#include <string.h>

#define US 1000ull
#define MS 1000000ull

/* 2.6.35 to 6.1 share most. */
#define CFS_LATER \
    .order = FAIR_VRUNTIME, .latency = 6 * MS, .wakeup_granularity = 1 * MS, .scale_cpus = 8, .weight_idle = 3
#define EEVDF .order = FAIR_EEVDF, .load = FAIR_LOAD_PELT, .scale_cpus = 8, .weight_idle = 3

const struct fair_version fair_version[FAIR_RELEASES] = {
    [FAIR_2_6_23] =
        {
            .name = "2.6.23",
            .release = FAIR_2_6_23,
            .order = FAIR_WAIT_RUNTIME,
            .load = FAIR_LOAD_WEIGHT_EXEC,
            .latency = 20 * MS,
            .min_granularity = 2 * MS,
            .batch_wakeup_granularity = 25 * MS,
            .scale_cap = 100 * MS,
            .weight_idle = 2,
            .child_runs_first = true,
            .wakeup_follows_min = true,
            .rounded = true,
            .sync_unchecked = true,
            .repick_resets = true,
        },
    [FAIR_2_6_24] =
        {
            .name = "2.6.24",
            .release = FAIR_2_6_24,
            .order = FAIR_VRUNTIME,
            .load = FAIR_LOAD_WEIGHT,
            .latency = 20 * MS,
            .min_granularity = 4 * MS,
            .wakeup_granularity = 10 * MS,
            .batch_wakeup_granularity = 10 * MS,
            .scale_cap = 200 * MS,
            .nr_latency = 5,
            .weight_idle = 2,
            .child_runs_first = true,
            .rounded = true,
            .repick_resets = true,
        },
    [FAIR_2_6_35] =
        {
            .name = "2.6.35",
            .release = FAIR_2_6_35,
            CFS_LATER,
            .load = FAIR_LOAD_WEIGHT,
            .min_granularity = 2 * MS,
            .nr_latency = 3,
            .rounded = true,
            .repick_resets = true,
            .tick_unsigned = true,
        },
    [FAIR_2_6_36] =
        {
            .name = "2.6.36",
            .release = FAIR_2_6_36,
            CFS_LATER,
            .load = FAIR_LOAD_WEIGHT,
            .min_granularity = 750 * US,
            .nr_latency = 8,
            .rounded = true,
            .repick_resets = true,
            .tick_unsigned = true,
        },
    [FAIR_5_4] = {.name = "5.4",
                  .release = FAIR_5_4,
                  CFS_LATER,
                  .load = FAIR_LOAD_PELT_RUN,
                  .min_granularity = 750 * US,
                  .nr_latency = 8},
    [FAIR_5_15] = {.name = "5.15",
                   .release = FAIR_5_15,
                   CFS_LATER,
                   .load = FAIR_LOAD_PELT,
                   .min_granularity = 750 * US,
                   .nr_latency = 8},
    [FAIR_6_1] =
        {
            .name = "6.1",
            .release = FAIR_6_1,
            CFS_LATER,
            .load = FAIR_LOAD_PELT,
            .min_granularity = 750 * US,
            .idle_min_granularity = 750 * US,
            .nr_latency = 8,
            .idle_short_credit = true,
        },
    [FAIR_6_6] = {.name = "6.6", .release = FAIR_6_6, EEVDF, .base_slice = 750 * US, .initial_lost = true},
    [FAIR_6_12] = {.name = "6.12", .release = FAIR_6_12, EEVDF, .base_slice = 750 * US, .delayed_counts = true},
    [FAIR_6_18] = {.name = "6.18", .release = FAIR_6_18, EEVDF, .base_slice = 700 * US, .lazy = true},
};

const struct fair_version *fair_version_find(const char *name)
{
    for (size_t i = 0; i < FAIR_RELEASES; i++)
        if (!strcmp(fair_version[i].name, name)) return &fair_version[i];
    return NULL;
}

/* Runs of three and more are written "from to". */
char *fair_releases_text(uint32_t set, char *buf, size_t n)
{
    size_t at = 0;
    buf[0] = 0;
    for (uint32_t i = 0; i < FAIR_RELEASES; i++) {
        if (!(set >> i & 1)) continue;
        uint32_t last = i;
        while (last + 1 < FAIR_RELEASES && set >> (last + 1) & 1) last++;
        bool run = last > i + 1;
        int len = snprintf(buf + at, n - at, "%s%s%s%s", at ? ", " : "", fair_version[i].name, run ? " to " : "",
                           run ? fair_version[last].name : "");
        if (len < 0 || (size_t)len >= n - at) return buf;
        at += (size_t)len;
        if (run) i = last;
    }
    return buf;
}
