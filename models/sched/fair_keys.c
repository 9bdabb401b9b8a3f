/*
 * fair_keys.c - key rows of the fair classes. Rows without default take the value of policy.version.
 *
 * Tunables are written as sysctl shows them on the machine: scaled already. Names are those of
 * /proc/sys/kernel/sched_NAME_ns and /sys/kernel/debug/sched, without prefix and unit. fair_knobs[] says which
 * versions have which.
 */
#include "fair.h"

#define CFS_SRC "Linux kernel/sched_fair.c, kernel/sched/fair.c "
#define ASSUMED \
    "assumed: some hundred instructions on data in the cache, a third to three times as much is plausible; kernel " \
    "files " \
    "replace it"
#define KEY(name, kind) .path = "policy." name, .type = WB_KEY_##kind, .only = "cfs eevdf"
#define PATH(fn, cost, text) \
    { \
        .path = "kernel.path." fn, .type = WB_KEY_COST, .unit = "time or cycles", .min = "0 ns", .max = "1 ms", \
        .def = cost, .only = "cfs eevdf", .flags = WB_KEY_PRICED, .help = text, .source = ASSUMED \
    }

const struct wb_key fair_keys[FAIR_KEYS] = {
    {.path = "policy.version",
     .type = WB_KEY_ENUM,
     .only = "cfs",
     .choices = "2.6.23 2.6.24 2.6.35 2.6.36 5.4 5.15 6.1",
     .def = "6.1",
     .help = "Kernel version whose rules hold: queue, preemption, placement, balancing. Shipped kernels set it.",
     .source = CFS_SRC},
    {.path = "policy.version",
     .type = WB_KEY_ENUM,
     .only = "eevdf",
     .choices = "6.6 6.12 6.18",
     .def = "6.12",
     .help = "Kernel version whose rules hold: queue, preemption, placement, balancing. Shipped kernels set it.",
     .source = CFS_SRC},

    /* the core */
    {KEY("features", STRINGS),
     .help = "Sched features to turn on (\"NEXT_BUDDY\") or off (\"NO_RUN_TO_PARITY\"), as into "
             "/sys/kernel/debug/sched/features. A feature "
             "that the version does not have is an error that says which have it.",
     .source = "Linux kernel/sched_features.h, kernel/sched/features.h"},
    {KEY("latency", TIME), .versions = "2.6.23 to 6.1", .unit = "time", .min = "100 us", .max = "10 s",
     .help = "sched_latency: everybody runs once in it, as long as there are not too many. Up to 6.1. Without it 20 ms "
             "(2.6.23, 2.6.24) or 6 ms "
             "times 1 + log2 of the CPUs.",
     .source = CFS_SRC "sysctl_sched_latency"},
    {KEY("min_granularity", TIME), .versions = "2.6.23 to 6.1", .unit = "time", .min = "10 us", .max = "10 s",
     .help = "sched_min_granularity: no slice is shorter. Up to 6.1. Without it 2, 4, 2 (2.6.35) or 0.75 ms, scaled.",
     .source = CFS_SRC "sysctl_sched_min_granularity"},
    {KEY("wakeup_granularity", TIME), .versions = "2.6.23 to 6.1", .unit = "time", .min = "0 ms", .max = "10 s",
     .help = "sched_wakeup_granularity: lead from which a woken task preempts. Up to 6.1. Without it half of "
             "min_granularity (2.6.23), 10 ms "
             "(2.6.24) or 1 ms, scaled.",
     .source = CFS_SRC "sysctl_sched_wakeup_granularity"},
    {KEY("batch_wakeup_granularity", TIME), .versions = "2.6.23, 2.6.24", .unit = "time", .min = "0 ms", .max = "10 s",
     .help = "The same for SCHED_BATCH tasks (2.6.23; 2.6.24 has the number and does not use it). Without it 25 ms, 10 "
             "ms scaled.",
     .source = CFS_SRC "sysctl_sched_batch_wakeup_granularity"},
    {KEY("runtime_limit", TIME), .versions = "2.6.23", .unit = "time", .min = "1 ms", .max = "10 s",
     .help = "What a task can be owed at most (2.6.23). Without it the latency.",
     .source = CFS_SRC "sysctl_sched_runtime_limit"},
    {KEY("stat_granularity", TIME), .versions = "2.6.23", .unit = "time", .min = "0 ms", .max = "1 s",
     .help = "Run, wait and sleep times are accounted once they add up to more than this (2.6.23). Without it 0.",
     .source = CFS_SRC "sysctl_sched_stat_granularity"},
    {KEY("idle_min_granularity", TIME), .versions = "6.1", .unit = "time", .min = "10 us", .max = "10 s",
     .help = "Shortest slice of SCHED_IDLE tasks beside others (6.1). Without it 0.75 ms, not scaled.",
     .source = CFS_SRC "sysctl_sched_idle_min_granularity"},
    {KEY("nr_latency", INT), .versions = "2.6.24 to 6.1", .min = "1", .max = "10000",
     .help = "Tasks beyond which slices stop shrinking, and from which buddies count. Not a sysctl: without it latency "
             "/ min_granularity, "
             "rounded up, when one of them is given, else 5 (2.6.24), 3 (2.6.35) or 8.",
     .source = CFS_SRC "sched_nr_latency"},
    {KEY("base_slice", TIME), .versions = "6.6 to 6.18", .unit = "time", .min = "100 us", .max = "100 ms",
     .help = "base_slice_ns: request of a task that asks for none (6.6+). Without it 0.75 ms, from 6.15 on 0.70 ms, "
             "scaled.",
     .source = CFS_SRC "sysctl_sched_base_slice"},
    {KEY("task_slices", STRINGS), .versions = "6.12, 6.18",
     .help = "Tasks that ask for a slice of their own (sched_attr.sched_runtime, 6.12+): [ \"NAME 3 ms\" ], 0.1 to 100 "
             "ms; NAME as traces show "
             "it.",
     .source = CFS_SRC "__setparam_fair"},
    {KEY("tunable_scaling", ENUM), .versions = "2.6.35 to 6.18", .choices = "none log linear",
     .help = "How numbers that are not given grow with the CPUs (2.6.33+). Without it log: 1 + log2 of the CPUs, of 8 "
             "at most.",
     .source = CFS_SRC "sysctl_sched_tunable_scaling"},
    {KEY("child_runs_first", BOOL), .versions = "2.6.23 to 6.6",
     .help = "A new task runs before its parent (up to 6.6, which has it and does nothing with it). Without it true "
             "up to 2.6.31, false later.",
     .source = CFS_SRC "sysctl_sched_child_runs_first"},
    {KEY("compat_yield", BOOL), .versions = "2.6.23 to 2.6.36",
     .help = "sched_yield() goes behind everybody (up to 2.6.38). Without it false.",
     .source = CFS_SRC "sysctl_sched_compat_yield"},
    {KEY("delayed_lag", ENUM), .versions = "6.12, 6.18", .choices = "grows kept",
     .help =
         "Debt of a sleeper whose dequeue is delayed (6.12+), when others who come meanwhile move the average back: it "
         "grows, or stays what it was at most and the sleeper is placed anew when it is woken (kept, as from April "
         "2026 on). Without it grows.",
     .source = CFS_SRC "update_entity_lag, requeue_delayed_entity; commit 059258b0d424"},
    {KEY("preempt_lazy", BOOL), .versions = "6.18",
     .help = "Lazy preemption (6.13+): requests of fair tasks wait for the return to user mode or the next tick, and "
             "send no interrupt. Without it "
             "false.",
     .source = "Linux 6.13 PREEMPT_LAZY, resched_curr_lazy"},
    {KEY("wakeup_drops_delayed", BOOL), .versions = "6.12, 6.18",
     .help = "A wakeup that asks who would run next dequeues the sleepers that it meets there (delayed, debt paid) and "
             "asks again (7.1; 6.18-stable from May 2026 on). Before, such a sleeper was the answer, and the wakee did "
             "not preempt. Without it false.",
     .source = CFS_SRC "check_preempt_wakeup_fair; commit ac8e69e69363, April 2026"},
    {KEY("fork_waits", BOOL), .versions = "6.18",
     .help = "A new task does not preempt, unless its slice is shorter (6.19; 6.18-stable from May 2026 on). Without "
             "it false.",
     .source = CFS_SRC "check_preempt_wakeup_fair; commit e837456fdca8, November 2025"},
    {KEY("nohz", BOOL),
     .help = "Idle CPUs stop their ticks (CONFIG_NO_HZ, NO_HZ_IDLE). Without it true, in 2.6.23 false (x86_64 got it "
             "with 2.6.24).",
     .source = "Linux kernel/time/tick-sched.c"},
    {KEY("nohz_at_once", BOOL),
     .help =
         "An idle CPU stops its tick at once, not only after a tick in vain: kernels without a driver of idle states "
         "(most guests), and the haltpoll governor that does not poll. Without it true up to 2.6.36, false from 5.4.",
     .source = "Linux kernel/sched/idle.c cpuidle_idle_call; drivers/cpuidle/governors/haltpoll.c haltpoll_select"},
    {KEY("migration_cost", TIME), .versions = "2.6.24 to 6.18", .unit = "time", .min = "0 ms", .max = "1 s",
     .help = "sched_migration_cost: how long after it ran a task is cache hot, and the scale of avg_idle (2.6.24+). "
             "Without it 0.5 ms.",
     .source = CFS_SRC "sysctl_sched_migration_cost"},
    {KEY("nr_migrate", INT), .versions = "2.6.24 to 6.18", .min = "1", .max = "100000",
     .help = "sched_nr_migrate: tasks that one balancing pass looks at (2.6.24+). Without it 32.",
     .source = CFS_SRC "sysctl_sched_nr_migrate"},

    /* path costs */
    PATH("update_curr", "25 ns",
         "Accounting of the running task: clock, virtual time, load (kernels with a fair class)."),
    PATH("pick_next_entity", "20 ns", "Finding the next task in the tree, and moving the running one."),
    PATH("place_entity", "15 ns", "Giving a task that is queued its virtual time."),

    /* placement: switches are counterfactuals, no sysctls */
    {KEY("sync_wakeups", BOOL), .def = "true", .help = "The sync hint counts in placement. Off: it is ignored there.",
     .source = "Linux try_to_wake_up, wake_affine"},
    {KEY("sync_skips_delayed", BOOL), .versions = "6.12, 6.18",
     .help = "Whether the waker of a sync wakeup is alone on its CPU is said without sleepers whose dequeue is delayed "
             "(6.15+, and stable kernels from 6.12.37 on; 6.12 itself counts them). Without it as the version has it.",
     .source = CFS_SRC "wake_affine_idle; commit aa3ee4f0b754, March 2025"},
    {KEY("idle_wakee", ENUM), .versions = "5.4 to 6.18", .choices = "joins spreads",
     .help =
         "Where a SCHED_IDLE task goes: joins: a CPU on which only such tasks run counts as idle for it, too; spreads: "
         "for others only (7.1). Without it joins.",
     .source = CFS_SRC "choose_sched_idle_rq; commit fd54d81c2c0e, February 2026"},
    {KEY("placement", ENUM), .versions = "5.15", .choices = "5.10 5.13",
     .help = "Earlier rules for where a woken task goes: 5.10 (5.8 to 5.10: cores, CPUs and siblings are searched one "
             "after the other, an idle previous CPU far away has no precedence) or 5.13 (5.12 to 5.14); in both the "
             "recently used CPU is the one from which the wakee last woke somebody. Without it those of 5.15.",
     .source = CFS_SRC "select_idle_sibling, wake_affine_idle; commits 9fe1f127b913, d8fcb81f1acf, 89aafd67f28c"},
    {KEY("idle_search", ENUM), .versions = "2.6.35, 2.6.36", .choices = "first cores buddy",
     .help =
         "How 2.6.35 and 2.6.36 look for an idle CPU that shares the target's cache: the first one; the first core "
         "that "
         "is idle as a whole, from the target's own on round the package (3.3 to 3.5); or only the CPU with which the "
         "target is paired (3.6-rc). Without it first.",
     .source = "Linux select_idle_sibling; commit 970e178985ca"},
    {KEY("wake_queue", ENUM), .versions = "5.4 to 6.18", .choices = "llc l2",
     .help =
         "Wakeups of a CPU that shares no cache of this level with the waker are queued on it instead of taking its "
         "runqueue's lock (TTWU_QUEUE, 5.4 on). Without it llc; l2 was proposed in August 2023.",
     .source = "Linux kernel/sched/core.c ttwu_queue_cond: last-level caches"},
    {KEY("wake_affine", BOOL), .def = "true",
     .help = "Domains with WAKE_AFFINE pull woken tasks. Off: the flag is cleared everywhere.",
     .source = "Linux SD_WAKE_AFFINE"},
    {KEY("wake_wide", BOOL), .versions = "5.4 to 6.18",
     .help = "Wakers of many tasks leave them where they were (3.12+, 5.4 here).", .source = CFS_SRC "wake_wide"},
    {KEY("start_flips", INT), .versions = "5.4 to 6.18", .min = "0", .max = "1000000",
     .help = "How many different tasks, one after the other, those had woken who started the tasks of the scenario (a "
             "shell's history). fork() hands the count on and wake_wide() compares it (5.4+). Without it none.",
     .source = "Linux wakee_flips: dup_task_struct() copies it, nothing sets it back; halved once a second at most"},
    {KEY("wake_idle", BOOL), .versions = "2.6.23, 2.6.24",
     .help = "wake_idle() is compiled in (2.6.23, 2.6.24): a wakeup whose CPU is busy looks for an idle one in domains "
             "with WAKE_IDLE. Without "
             "it as kernel.sched_smt says.",
     .source = "Linux kernel/sched.c wake_idle"},
    {KEY("pack", ENUM), .versions = "6.18",
     .choices = "none cpu_util cpu_util_est waker_util pair_util cpu_runnable always",
     .help =
         "Packing rule of a vendor's 6.18: a task that slept on its waker's CPU stays there, idle CPUs or not, while "
         "this is below pack_limit: the CPU's utilisation, the same or its estimate, the waker's, waker's and "
         "wakee's together, the CPU's runnable average; always: no limit. Without it none (mainline).",
     .source = "measured on a 2-CPU guest; which signal the rule uses is assumed"},
    {KEY("pack_limit", RATIO), .versions = "6.18", .unit = "ratio", .min = "0", .max = "2",
     .help = "Limit of policy.pack, as a share of a CPU. Without it two thirds.",
     .source = "measured on a 2-CPU guest: between 65 and 67.5 % duty of the waker"},
    {KEY("pack_small", RATIO), .versions = "6.18", .unit = "ratio", .min = "0", .max = "2",
     .help =
         "policy.pack also takes a task that slept on another CPU, which is idle, when it uses less than this share of "
         "a CPU. Without it none.",
     .source = "seen on a 2-CPU guest: receivers of hackbench and kernel threads; between 5 and 15 %, assumed"},
    {KEY("exec_balance", BOOL), .def = "true", .help = "exec() may move to an idler CPU.",
     .source = "Linux SD_BALANCE_EXEC"},
    {KEY("fork_balance", BOOL), .def = "true", .help = "New tasks may start elsewhere, where domains have FORK.",
     .source = "Linux SD_BALANCE_FORK"},
    PATH("wake_affine", "15 ns", "Comparing loads of the waker's and the previous CPU (2.6.35+), without the looks."),
    PATH("select_idle_sibling", "10 ns", "Search for an idle CPU near the target, without its looks (2.6.35+)."),
    PATH("find_idlest_group", "80 ns",
         "Search for the idlest group of a domain at fork or exec, without its looks at runqueues."),
    PATH("wake_idle", "15 ns", "Comparing loads and searching an idle CPU (2.6.23, 2.6.24), without the looks."),

    /* balancing */
    {KEY("idle_balance", BOOL), .def = "true",
     .help = "Idle and newly idle CPUs pull tasks. Off: only busy CPUs balance.", .source = "Linux load_balance"},
    {KEY("newidle", BOOL), .def = "true", .help = "CPUs pull as they run out of work.",
     .source = "Linux idle_balance, newidle_balance"},
    {KEY("newidle_gate", ENUM), .versions = "6.1 to 6.18", .choices = "none migration_cost cost",
     .help = "When a CPU that runs out of work looks at other queues (6.1+): always; while some CPU has more than one "
             "task and its own idle times cover what looking has cost (cost); and only if they reach migration_cost "
             "besides (migration_cost, as before 5.17). Without it cost.",
     .source = CFS_SRC "newidle_balance; commit c5b0a7eefc70"},
    {KEY("newidle_bump", BOOL), .versions = "6.1 to 6.18",
     .help =
         "A pass that found nothing raises what newly idle balancing of its domain is taken to cost by half (6.1+). "
         "Without it as the version has it: 6.18 does.",
     .source = CFS_SRC "update_newidle_cost; commit 155213a2aed4"},
    {KEY("newidle_random", BOOL), .versions = "6.12, 6.18",
     .help =
         "A CPU that runs out of work looks at other queues with a probability only: the share of its looks at that "
         "domain that have pulled (7.0; stable kernels from 6.12.65 and 6.18.5 on). Without it false.",
     .source = CFS_SRC "sched_balance_newidle, feature NI_RANDOM; commit 33cf66d88306, November 2025"},
    {KEY("newidle_ratio", RATIO), .versions = "6.12, 6.18", .unit = "ratio", .min = "0", .max = "1",
     .help = "That share at the beginning: what the machine did before. Without it one half, as after booting.",
     .source = CFS_SRC "update_newidle_stats; kernel/sched/topology.c sd_init"},
    {KEY("newidle_one", BOOL), .versions = "2.6.35 to 6.18",
     .help = "A CPU that runs out of work pulls one task and no more (CONFIG_PREEMPT, from 5.4 on CONFIG_PREEMPTION, "
             "which PREEMPT_DYNAMIC selects whatever model is chosen at boot; 2.6.28+). Without it as kernel.preempt "
             "says.",
     .source = "Linux balance_tasks, detach_tasks"},
    {KEY("busy_balance", BOOL), .def = "true", .help = "Busy CPUs pull tasks at their ticks.",
     .source = "Linux rebalance_domains"},
    {KEY("active_balance", BOOL), .def = "true",
     .help =
         "After repeated failures, or to bigger or preferred CPUs, the migration thread pushes a running task away.",
     .source = "Linux active_load_balance_cpu_stop"},
    {KEY("cache_hot", BOOL), .def = "true",
     .help = "Cache-hot tasks are kept (2.6.24+). Off: every task counts as cold.", .source = "Linux task_hot"},
    {KEY("nr_cpus_configured", INT), .versions = "2.6.23 to 2.6.36", .min = "1", .max = "16384",
     .help = "NR_CPUS of the build: balancing intervals are at most HZ * NR_CPUS / 10 ticks (up to 2.6.36). Without it "
             "255.",
     .source = "Linux kernel/sched.c rebalance_domains; arch/x86/Kconfig NR_CPUS of distribution kernels"},
    {KEY("numa_imbalance", ENUM), .versions = "5.15 to 6.18", .choices = "none source quarter llcs",
     .help = "Imbalance of two tasks between nodes that is left alone (5.15+): none; while the busiest node runs less "
             "than a quarter of its "
             "CPUs (5.11 to 5.17); while the destination does (5.18 and 5.15.135, the \"5.15\" here); up to one task "
             "per last-level cache "
             "(5.19+). Without it as the version has it.",
     .source = CFS_SRC "adjust_numa_imbalance, allow_numa_imbalance; commits 7d2b5dd0bcc4, 2cfb7a1b031b, e496132ebedd"},
    {KEY("cpu_capacity", STRINGS), .versions = "5.4 to 6.18",
     .help =
         "Capacities that the scheduler believes in, 1024 for the biggest: [ \"0-3 446\", \"4-7 1024\" ] (5.4+). CPUs "
         "that are not named, and all without it, have what machine.cpu_speed says.",
     .source = "Linux arch_scale_cpu_capacity"},
    {KEY("cpu_priority", STRINGS), .versions = "5.4 to 6.18",
     .help =
         "Priorities of CPUs for asymmetric packing, higher is preferred: [ \"0-7 2\", \"8-15 1\" ]; levels within a "
         "package that span "
         "different ones get ASYM_PACKING (ITMT, 4.10+). Without it lower CPU numbers are preferred, where a level has "
         "the flag.",
     .source = "Linux arch_asym_cpu_priority, arch/x86/kernel/itmt.c"},
    PATH("find_busiest_group", "150 ns", "Search for the busiest group of a domain, without its looks at runqueues."),
    PATH("find_busiest_queue", "40 ns",
         "Search for the busiest runqueue of a group; its lines are in the cache by then."),
    PATH("detach_tasks", "60 ns", "Walking the source's tasks, without the moves (5.4+)."),
    PATH("move_tasks", "60 ns", "Walking the source's tasks, without the moves (up to 2.6.36)."),
    PATH("rebalance_domains", "20 ns", "One domain that is due, in the balance softirq."),
    PATH("update_blocked_averages", "60 ns", "Bringing a runqueue's load averages up to date (5.4+)."),
};

const struct fair_knob fair_knobs[] = {
    {"policy.latency", FAIR_UNTIL(FAIR_6_1)},
    {"policy.min_granularity", FAIR_UNTIL(FAIR_6_1)},
    {"policy.wakeup_granularity", FAIR_UNTIL(FAIR_6_1)},
    {"policy.batch_wakeup_granularity", FAIR_UNTIL(FAIR_2_6_24)},
    {"policy.runtime_limit", FAIR_UNTIL(FAIR_2_6_23)},
    {"policy.stat_granularity", FAIR_UNTIL(FAIR_2_6_23)},
    {"policy.idle_min_granularity", FAIR_IN(FAIR_6_1, FAIR_6_1)},
    {"policy.nr_latency", FAIR_IN(FAIR_2_6_24, FAIR_6_1)},
    {"policy.base_slice", FAIR_SINCE(FAIR_6_6)},
    {"policy.task_slices", FAIR_SINCE(FAIR_6_12)},
    {"policy.tunable_scaling", FAIR_SINCE(FAIR_2_6_35)},
    {"policy.child_runs_first", FAIR_UNTIL(FAIR_6_6)},
    {"policy.compat_yield", FAIR_UNTIL(FAIR_2_6_36)},
    {"policy.delayed_lag", FAIR_SINCE(FAIR_6_12)},
    {"policy.preempt_lazy", FAIR_SINCE(FAIR_6_18)},
    {"policy.sync_skips_delayed", FAIR_SINCE(FAIR_6_12)},
    {"policy.wakeup_drops_delayed", FAIR_SINCE(FAIR_6_12)},
    {"policy.fork_waits", FAIR_SINCE(FAIR_6_18)},
    {"policy.migration_cost", FAIR_SINCE(FAIR_2_6_24)},
    {"policy.nr_migrate", FAIR_SINCE(FAIR_2_6_24)},
    {"policy.wake_idle", FAIR_UNTIL(FAIR_2_6_24)},
    {"policy.wake_wide", FAIR_SINCE(FAIR_5_4)},
    {"policy.start_flips", FAIR_SINCE(FAIR_5_4)},
    {"policy.wake_queue", FAIR_SINCE(FAIR_5_4)},
    {"policy.idle_wakee", FAIR_SINCE(FAIR_5_4)},
    {"policy.placement", FAIR_IN(FAIR_5_15, FAIR_5_15)},
    {"policy.idle_search", FAIR_IN(FAIR_2_6_35, FAIR_2_6_36)},
    {"policy.pack", FAIR_SINCE(FAIR_6_18)},
    {"policy.pack_limit", FAIR_SINCE(FAIR_6_18)},
    {"policy.pack_small", FAIR_SINCE(FAIR_6_18)},
    {"policy.nr_cpus_configured", FAIR_UNTIL(FAIR_2_6_36)},
    {"policy.newidle_one", FAIR_SINCE(FAIR_2_6_35)},
    {"policy.newidle_gate", FAIR_SINCE(FAIR_6_1)},
    {"policy.newidle_bump", FAIR_SINCE(FAIR_6_1)},
    {"policy.newidle_random", FAIR_SINCE(FAIR_6_12)},
    {"policy.newidle_ratio", FAIR_SINCE(FAIR_6_12)},
    {"policy.numa_imbalance", FAIR_SINCE(FAIR_5_15)},
    {"policy.cpu_capacity", FAIR_SINCE(FAIR_5_4)},
    {"policy.cpu_priority", FAIR_SINCE(FAIR_5_4)},
};
const size_t fair_nknobs = WB_ARRAY_SIZE(fair_knobs);
