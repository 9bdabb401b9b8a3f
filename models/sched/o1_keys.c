/* o1_keys.c - key rows of the O(1) scheduler. Rows without default take the value of policy.version. */
#include "o1.h"

#define SRC "Linux 2.6.10 .. 2.6.22 kernel/sched.c "
#define ASSUMED \
    "assumed: some hundred instructions on data in the cache, a third to three times as much is plausible; kernel " \
    "files replace it"
#define PATH(fn, cost, text) \
    { \
        .path = "kernel.path." fn, .type = WB_KEY_COST, .unit = "time or cycles", .min = "0 ns", .max = "1 ms", \
        .def = cost, .only = "o1", .flags = WB_KEY_PRICED, .help = text, .source = ASSUMED \
    }
#define KEY(name, kind) .path = "policy." name, .type = WB_KEY_##kind, .only = "o1"

const struct wb_key o1_keys[O1_KEYS] = {
    {KEY("version", ENUM), .choices = "2.6.10 2.6.11 2.6.22", .def = "2.6.11",
     .help = "Kernel version whose rules hold: placement, interactivity, balancing. Shipped kernels set it.",
     .source = SRC},

    {KEY("def_timeslice", TIME), .unit = "time", .min = "1 ms", .max = "10 s", .def = "100 ms",
     .help = "Time slice at nice 0. Other nice values scale from it; ten of them are the longest sleep average.",
     .source = SRC "DEF_TIMESLICE"},
    {KEY("min_timeslice", TIME), .unit = "time", .min = "100 us", .max = "1 s", .def = "5 ms",
     .help = "No time slice is shorter.", .source = SRC "MIN_TIMESLICE"},
    {KEY("granularity", TIME), .unit = "time", .min = "100 us", .max = "1 s",
     .help = "Interactive tasks of one priority take turns after this times 2^(missing bonus - 1) times the number of "
             "CPUs. Without it "
             "5 ms in 2.6.10 and 10 ms from 2.6.11 on.",
     .source = SRC "TIMESLICE_GRANULARITY"},
    {KEY("interactive", BOOL), .def = "true",
     .help = "Sleep averages move priorities. Off: priority is nice alone (a counterfactual).",
     .source = SRC "effective_prio"},
    {KEY("prio_bonus_ratio", INT), .unit = "%", .min = "0", .max = "100", .def = "25",
     .help = "Share of the 40 nice levels that the interactivity bonus spans: 25 % is -5 .. +5.",
     .source = SRC "PRIO_BONUS_RATIO"},
    {KEY("interactive_delta", INT), .min = "-5", .max = "10", .def = "2",
     .help = "Bonus above the middle from which a nice-0 task counts as interactive.",
     .source = SRC "INTERACTIVE_DELTA"},
    {KEY("credit_limit", INT), .min = "0", .max = "1000",
     .help = "interactive_credit beyond which run time is charged by bonus; 0: there are no credits. Without it 100 in "
             "2.6.10, 0 later.",
     .source = SRC "CREDIT_LIMIT"},
    {KEY("on_runqueue_weight", INT), .unit = "%", .min = "0", .max = "100", .def = "30",
     .help = "Share of the wait for a CPU after a wakeup that counts as sleep (all of it after an interrupt's wakeup).",
     .source = SRC "ON_RUNQUEUE_WEIGHT"},
    {KEY("child_penalty", INT), .unit = "%", .min = "0", .max = "100", .def = "95",
     .help = "Share of its parent's bonus that a new task starts with.", .source = SRC "CHILD_PENALTY"},
    {KEY("parent_penalty", INT), .unit = "%", .min = "0", .max = "100", .def = "100",
     .help = "Share of its bonus that a task keeps when it forks.", .source = SRC "PARENT_PENALTY"},
    {KEY("exit_weight", INT), .min = "0", .max = "100", .def = "3",
     .help = "Weight of the parent's sleep average against that of a child that exits.", .source = SRC "EXIT_WEIGHT"},
    {KEY("starvation_limit", TIME), .unit = "time", .min = "0 s", .max = "100 s",
     .help = "Wait in the expired array, per runnable task, after which interactive tasks expire too; 0: never. "
             "Without it the longest "
             "sleep average.",
     .source = SRC "STARVATION_LIMIT"},
    {KEY("start_bonus", INT), .min = "0", .max = "40", .def = "9",
     .help = "Bonus of a task that the scenario starts from outside: the child of an interactive shell.",
     .source = "derived: 95 % (CHILD_PENALTY) of the shell's bonus of 10, " SRC "wake_up_new_task"},

    {KEY("sync_wakeups", BOOL), .def = "true",
     .help =
         "The sync hint counts. Off: every wakeup is placed and preempts as if it were not sync (a counterfactual).",
     .source = SRC "try_to_wake_up"},
    {KEY("wake_affine", BOOL), .def = "true",
     .help = "Domains with WAKE_AFFINE pull. Off: the flag is cleared everywhere.", .source = SRC "try_to_wake_up"},
    {KEY("wake_balance", BOOL), .def = "true",
     .help = "Domains with WAKE_BALANCE pull. Off: the flag is cleared everywhere.", .source = SRC "try_to_wake_up"},
    {KEY("wake_idle", BOOL),
     .help = "wake_idle() is compiled in: a wakeup whose CPU is busy looks for an idle one in domains with WAKE_IDLE. "
             "Without it as "
             "kernel.sched_smt says.",
     .source = SRC "wake_idle, ARCH_HAS_SCHED_WAKE_IDLE"},
    {KEY("exec_balance", BOOL), .def = "true", .help = "exec() may move to a less loaded CPU.",
     .source = SRC "sched_exec"},
    {KEY("fork_balance", BOOL), .def = "true",
     .help = "New tasks may start elsewhere, where domains have FORK (2.6.22).",
     .source = SRC "sched_fork, sched_balance_self"},
    {KEY("smt_nice", BOOL), .versions = "2.6.10, 2.6.11",
     .help = "A less important task idles while a sibling thread runs a more important one. Without it as "
             "kernel.sched_smt says, and "
             "never in 2.6.22.",
     .source = SRC "dependent_sleeper (removed in 2.6.21)"},

    {KEY("idle_balance", BOOL), .def = "true",
     .help = "Idle and newly idle CPUs pull tasks. Off: only busy CPUs balance (a counterfactual).",
     .source = SRC "rebalance_tick, idle_balance"},
    {KEY("newidle", BOOL), .def = "true",
     .help = "CPUs pull as they run out of work. Off: idle ones still do at their ticks.",
     .source = SRC "idle_balance"},
    {KEY("busy_balance", BOOL), .def = "true", .help = "Busy CPUs pull tasks at their ticks.",
     .source = SRC "rebalance_tick"},
    {KEY("active_balance", BOOL), .def = "true",
     .help = "After repeated failures the migration thread pushes a running task away.",
     .source = SRC "active_load_balance"},
    {KEY("cache_hot", BOOL), .def = "true",
     .help = "Cache-hot tasks are kept. Off: every task counts as cold (a counterfactual).", .source = SRC "task_hot"},
    {KEY("cache_hot_time", TIME), .unit = "time", .min = "0 s", .max = "10 s",
     .help = "How long after it ran a task is cache hot, in all domains that have such a time. Without it as "
             "kernel.domains says.",
     .source = SRC "task_hot, sd->cache_hot_time"},
    {KEY("min_gain", INT), .min = "0", .max = "128",
     .help = "Throughput, in 1/128 of a CPU, that moving one task must gain when whole tasks do not fit the imbalance. "
             "Without it 16 in "
             "2.6.10 and 2.6.11, more than 0 in 2.6.22.",
     .source = SRC "find_busiest_group"},
    {KEY("nr_cpus_configured", INT), .versions = "2.6.10, 2.6.11", .min = "1", .max = "16384",
     .help = "NR_CPUS of the build: CPU i balances HZ * i / NR_CPUS ticks out of phase (2.6.10, 2.6.11). Without it "
             "the CPUs there are.",
     .source = SRC "CPU_OFFSET"},
    {KEY("nohz", BOOL), .versions = "2.6.22",
     .help =
         "Idle CPUs stop their tick and one of them balances for all (2.6.22, CONFIG_NO_HZ; i386 only at the time). "
         "Without it false.",
     .source = SRC "select_nohz_load_balancer"},
    {KEY("mc_power_savings", BOOL), .versions = "2.6.22",
     .help = "sched_mc_power_savings: packages that share caches fill up before others are used (2.6.22). Without it "
             "false.",
     .source = SRC "find_busiest_group, init_sched_groups_power"},

    PATH("recalc_task_prio", "20 ns", "Sleep average and priority at a wakeup, and once more when the task is picked."),
    PATH("wake_idle", "10 ns", "Search for an idle CPU at a wakeup, without its looks at runqueues."),
    PATH("find_idlest_group", "80 ns",
         "Search for the least loaded group or CPU at fork or exec, without its looks at runqueues."),
    PATH("find_busiest_group", "150 ns", "Search for the busiest group of a domain, without its looks at runqueues."),
    PATH("find_busiest_queue", "40 ns",
         "Search for the busiest runqueue of a group; its lines are in the cache by then."),
    PATH("move_tasks", "60 ns", "Walking the source's priority arrays, without the moves."),
    PATH("dependent_sleeper", "40 ns",
         "SMT nice: comparing with the sibling threads, without the looks at their runqueues."),
    PATH("rebalance_tick", "20 ns", "One domain that is due, at a tick (2.6.10, 2.6.11)."),
    PATH("rebalance_domains", "20 ns", "One domain that is due, in the balance softirq (2.6.22)."),
};
