/* bsd_keys.c - key rows of "bsd4" and "ule". Rows without default take the value of the version. */
#include "bsd.h"

#define ASSUMED \
    "assumed: some hundred instructions on data in the cache, a third to three times as much is plausible; kernel " \
    "files replace it"
#define PATH(family, fn, cost, text) \
    { \
        .path = "kernel.path." fn, .type = WB_KEY_COST, .unit = "time or cycles", .min = "0 ns", .max = "1 ms", \
        .def = cost, .only = family, .flags = WB_KEY_PRICED, .help = text, .source = ASSUMED \
    }
#define KEY(family, name, kind) .path = "policy." name, .type = WB_KEY_##kind, .only = family

#define SRC4 "FreeBSD 4 kern/kern_synch.c, 5.2.1 kern/sched_4bsd.c: "
const struct wb_key bsd4_keys[BSD4_KEYS] = {
    {KEY("bsd4", "version", ENUM), .choices = "4.7 5.2.1", .def = "4.7",
     .help = "FreeBSD version whose rules hold: priority numbers, affinity in the queue. Later shipped kernels set it.",
     .source = SRC4 "chooseproc, maybe_resched, resetpriority"},
    {KEY("bsd4", "quantum", TIME), .unit = "time", .min = "1 ms", .max = "10 s", .def = "100 ms",
     .help = "Tasks of equal priority take turns after this long.", .source = SRC4 "roundrobin, hz / 10"},
    {KEY("bsd4", "stathz", INT), .unit = "1/s", .min = "1", .max = "10000", .def = "128",
     .help = "Frequency of the statistics clock, each tick of which adds 1 to the running task's estcpu.",
     .source = "i386/isa/clock.c: RTC at 128 Hz; " SRC4 "schedclock"},
    {KEY("bsd4", "inverse_estcpu_weight", INT), .min = "1", .max = "100000",
     .help = "Ticks of stathz that cost one priority. Without it 8, in 5.2.1 times the CPUs.",
     .source = SRC4 "INVERSE_ESTCPU_WEIGHT"},
    {KEY("bsd4", "sleep_priority", INT), .min = "0", .max = "255",
     .help =
         "Priority that a task has from going to sleep in a system call to the end of that call. Without it PRIBIO, "
         "as sleeps on pipes name it: 16 in 4.x, 76 in 5.2.1.",
     .source = "kern/sys_pipe.c, sys/param.h, sys/priority.h"},
    {KEY("bsd4", "load_average", INT), .unit = "1/100", .min = "0", .max = "1000000", .def = "0",
     .help = "Load average of the minute before the run, in hundredths. It sets how fast estcpu decays: at 0 the next "
             "second forgets it.",
     .source = "a machine that was idle; kern_synch.c loadav"},
    {KEY("bsd4", "decay", BOOL), .def = "true",
     .help = "Use of the CPU is forgotten once a second. Off: priorities only fall (a counterfactual).",
     .source = SRC4 "schedcpu"},
    {KEY("bsd4", "wake_ipi", BOOL), .def = "false",
     .help = "Wakeups tell the nearest idle CPU, by interrupt if it halts (5.3 and later have such a thing; here a "
             "counterfactual).",
     .source = SRC4 "maybe_resched looks at the waker's CPU only"},
    PATH("bsd4", "runq_choose", "60 ns", "Finding and taking the best queued task."),
    PATH("bsd4", "schedcpu", "100 ns", "Once a second: decaying one task's estcpu."),
};

#define SRCU "FreeBSD 5.2.1 kern/sched_ule.c: "
const struct wb_key ule_keys[ULE_KEYS] = {
    {KEY("ule", "version", ENUM), .choices = "5.2.1", .def = "5.2.1", .help = "FreeBSD version whose rules hold.",
     .source = SRCU},
    {KEY("ule", "stathz", INT), .unit = "1/s", .min = "1", .max = "10000", .def = "128",
     .help = "Frequency of the statistics clock, in whose ticks slices and run times are counted.",
     .source = "i386/isa/clock.c: RTC at 128 Hz; " SRCU "sched_clock"},
    {KEY("ule", "slice_min", TIME), .unit = "time", .min = "1 ms", .max = "1 s", .def = "10 ms",
     .help = "Time slice of interactive tasks and of the nicest within the window, in ticks of hz: as many ticks of "
             "stathz are granted.",
     .source = SRCU "slice_min"},
    {KEY("ule", "slice_max", TIME), .unit = "time", .min = "1 ms", .max = "10 s", .def = "140 ms",
     .help = "Time slice of the least nice tasks of a CPU, counted likewise: at 100 and 128 Hz 14 ticks, 109 ms.",
     .source = SRCU "slice_max"},
    {KEY("ule", "interact_threshold", INT), .min = "0", .max = "101", .def = "30",
     .help = "Interactivity score (0 sleeps, 100 runs) below which a task goes to the current calendar.",
     .source = SRCU "SCHED_INTERACT_THRESH"},
    {KEY("ule", "history", TIME), .unit = "time", .min = "100 ms", .max = "1000 s", .def = "5 s",
     .help = "How much sleep and run time the score remembers.", .source = SRCU "SCHED_SLP_RUN_MAX"},
    {KEY("ule", "balance_interval", TIME), .unit = "time", .min = "1 ms", .max = "1000 s", .def = "1 s",
     .help = "How often the busiest CPU gives tasks to the least busy one.", .source = SRCU "sched_balance, hz ticks"},
    {KEY("ule", "balance", BOOL), .def = "true", .help = "That balancing is done at all.",
     .source = SRCU "sched_balance"},
    {KEY("ule", "idle_push", BOOL), .def = "true",
     .help = "Who last ran on a CPU where more than one task waits goes to an idle CPU.", .source = SRCU "sched_add"},
    {KEY("ule", "sleep_priority", INT), .min = "0", .max = "255", .def = "76",
     .help = "Priority that a task has from going to sleep in a system call to the end of that call: PRIBIO.",
     .source = "kern/sys_pipe.c, sys/priority.h"},
    PATH("ule", "sched_interact_score", "30 ns", "Score, priority and slice at a wakeup or the end of a slice."),
    PATH("ule", "runq_choose", "60 ns", "Finding and taking the best queued task."),
    PATH("ule", "sched_balance", "150 ns", "Looking for the busiest and the least busy CPU, without their lines."),
};
