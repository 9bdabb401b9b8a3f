#include "keys_sim.h"

#define OURS "convention of this program"

#define FILE_KEYS(scope, what)                                                                                                   \
    { .path = scope ".schema", .type = WB_KEY_INT, .min = "1", .max = "1", .flags = WB_KEY_SWEEP_NO,                             \
      .help = "Version of the file format; 1 is the only one so far. For files of their own." },                                 \
    { .path = scope ".name", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO, .help = "Name of this " what ", as reports print it." }, \
    { .path = scope ".title", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO, .help = "One line that says what this " what " is." }

const struct wb_key wb_scenario_keys[] = {
    /* ---- the file ---- */
    { .path = "schema", .type = WB_KEY_INT, .min = "1", .max = "1", .def = "1", .flags = WB_KEY_SWEEP_NO,
      .help = "Version of the scenario format; 1 is the only one so far.", .source = OURS },
    { .path = "title", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO, .help = "One line that says what is asked. Shown by reports and plots." },
    { .path = "source", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO,
      .help = "Where a case was published: authors, list or journal, date, subject." },
    { .path = "base", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO,
      .help = "Another scenario whose settings hold unless this file sets them: a shipped name or a file. A list given here (workload, "
              "expect, rows) replaces the whole list of the base." },
    { .path = "machine", .type = WB_KEY_GROUP, .help = "The hardware: topology, caches, lines, buses, interrupts, idle states, with a source for each cost." },
    { .path = "machine.base", .type = WB_KEY_STRING,
      .help = "Machine to start from: a shipped name (wakebal list machines) or a file. Keys of this group change it." },
    FILE_KEYS("machine", "machine"),
    { .path = "kernel", .type = WB_KEY_GROUP, .help = "The modelled operating system: scheduler family, tick, domains, IPC rules, path costs." },
    { .path = "kernel.base", .type = WB_KEY_STRING,
      .help = "Kernel to start from: a shipped name (wakebal list kernels) or a file. Keys of this group change it." },
    FILE_KEYS("kernel", "kernel"),
    { .path = "policy", .type = WB_KEY_GROUP, .help = "Switches of the scheduler; they override what the kernel says. Which exist depends on kernel.scheduler." },

    /* ---- workloads ---- */
    { .path = "workload", .type = WB_KEY_GROUPS, .flags = WB_KEY_REQUIRED,
      .help = "What runs: a list of workloads, each a group with a kind. With one of them `workload.KEY` is a path; with several "
              "`workload.NAME.KEY`." },
    { .path = "workload.base", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO,
      .help = "Workload to start from: a shipped fragment (wakebal list workloads) or a file." },
    FILE_KEYS("workload", "workload"),
    { .path = "workload.kind", .type = WB_KEY_ENUM, .flags = WB_KEY_REQUIRED, .help = "Which program it is. Decides what other keys the entry may have." },
    { .path = "workload.instances", .type = WB_KEY_INT, .min = "1", .max = "4096", .def = "1",
      .help = "How many independent copies of the whole workload run at once.", .source = "one, as when the benchmark is started by hand" },
    { .path = "workload.cpus", .type = WB_KEY_CPUS, .def = "free",
      .help = "CPUs that its tasks may use: \"free\" (no affinity), \"all\", or a list such as \"0,2-5\". One CPU pins them all to it; several are "
              "handed out as the kind says (both ends of a pipe: first and second).",
      .source = "no affinity, as when the benchmark is started by hand" },
    { .path = "workload.nice", .type = WB_KEY_INT, .min = "-20", .max = "19", .def = "0", .help = "Nice value of its tasks.",
      .source = "nice(2): a new process has 0" },
    { .path = "workload.start", .type = WB_KEY_TIME, .min = "0 s", .max = "1000 s",
      .help = "When it starts. Without it each replication draws a start within run.start_spread." },
    { .path = "workload.start_cpu", .type = WB_KEY_INT, .min = "0", .max = "16383",
      .help = "CPU on which its first task is born. Without it each replication draws one of the allowed CPUs." },
    { .path = "workload.background", .type = WB_KEY_BOOL, .def = "false",
      .help = "Background load: the run does not wait for it to finish, and its figures are not the headline.", .source = OURS },

    /* ---- the run ---- */
    { .path = "run", .type = WB_KEY_GROUP, .help = "How long, how often and with which random numbers to simulate." },
    { .path = "run.seed", .type = WB_KEY_INT, .min = "0", .def = "1", .flags = WB_KEY_SWEEP_NO,
      .help = "Seed of all random streams. Replication i of every variant draws the same numbers.", .source = OURS },
    { .path = "run.replications", .type = WB_KEY_GROUP, .help = "How often to repeat: at least min, at most max, until the interval is narrow enough." },
    { .path = "run.replications.min", .type = WB_KEY_INT, .min = "1", .max = "100000", .def = "5",
      .help = "Replications that always run.", .source = "below five a 95 % t interval is wider than most effects (Student 1908)" },
    { .path = "run.replications.max", .type = WB_KEY_INT, .min = "1", .max = "100000", .def = "40",
      .help = "Replications after which it gives up (exit code 6).", .source = OURS },
    { .path = "run.replications.half_width", .type = WB_KEY_RATIO, .min = "0.01 %", .max = "100 %", .def = "2 %",
      .help = "Precision goal: half width of the interval over the mean.", .source = OURS },
    { .path = "run.replications.confidence", .type = WB_KEY_RATIO, .min = "50 %", .max = "99.99 %", .def = "95 %",
      .help = "Confidence of all intervals.", .source = "customary (Law, Simulation Modeling and Analysis)" },
    { .path = "run.replications.metric", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO,
      .help = "Metric whose interval decides. Without it the headline metric of the first workload." },
    { .path = "run.warmup", .type = WB_KEY_STRING, .def = "auto",
      .help = "Time at the start that is not counted: \"auto\" (found from the windows), \"none\" or a time.",
      .source = "MSER-5 truncation (White 1997)" },
    { .path = "run.duration", .type = WB_KEY_TIME, .min = "1 us", .max = "1000 s",
      .help = "Simulated time after which a run ends. Without it, it ends when all workloads have done their fixed work." },
    { .path = "run.horizon", .type = WB_KEY_TIME, .min = "1 us", .max = "10000 s", .def = "100 s",
      .help = "Simulated time after which a run that should have ended by itself is given up.", .source = OURS },
    { .path = "run.window", .type = WB_KEY_TIME, .min = "1 us", .max = "100 s", .def = "100 ms",
      .help = "Width of the windows of time series. Effects here change regime within hundreds of milliseconds: look at the windows, not "
              "only at means.",
      .source = "regimes of hundreds of ms in traces (I. Molnar, linux-kernel, January 2005)" },
    { .path = "run.start_spread", .type = WB_KEY_TIME, .min = "0 s", .max = "10 s", .def = "10 ms",
      .help = "Workloads without `start` begin at a random time up to this.", .source = "a few ticks at HZ=100..1000, so that tick phases differ" },

    /* ---- sweep ---- */
    { .path = "sweep", .type = WB_KEY_GROUP, .help = "A parameter study: the product of all axes, points outside `where` left out." },
    { .path = "sweep.over", .type = WB_KEY_GROUPS, .flags = WB_KEY_SWEEP_NO, .help = "Axes, the first one slowest." },
    { .path = "sweep.over.set", .type = WB_KEY_STRING, .flags = WB_KEY_REQUIRED | WB_KEY_SWEEP_NO, .help = "Key that varies, as for --set." },
    { .path = "sweep.over.values", .type = WB_KEY_STRINGS, .flags = WB_KEY_ANYSCALAR | WB_KEY_SWEEP_NO,
      .help = "Its values: [ \"free\", \"0,1\" ] or [ 1, 2, 8 ]." },
    { .path = "sweep.over.range", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO,
      .help = "Its values as a range: \"1..10\", \"0..1 /11\" (eleven points), \"1..1024 *2\", \"1 ms..64 ms *4\"." },
    { .path = "sweep.zip", .type = WB_KEY_STRINGS, .flags = WB_KEY_SWEEP_NO,
      .help = "Axes that move in lock step instead of forming a product: [ \"workload.a,workload.b\" ]." },
    { .path = "sweep.where", .type = WB_KEY_EXPR, .flags = WB_KEY_SWEEP_NO,
      .help = "Keep only points for which this holds, for example \"workload.groups <= 2 * machine.cpus\"." },

    /* ---- expectations ---- */
    { .path = "expect", .type = WB_KEY_GROUPS, .flags = WB_KEY_SWEEP_NO, .help = "What must hold of the results; violated: exit code 4." },
    { .path = "expect.metric", .type = WB_KEY_STRING, .flags = WB_KEY_REQUIRED | WB_KEY_SWEEP_NO, .help = "Metric that is looked at (wakebal list metrics)." },
    { .path = "expect.workload", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO, .help = "Name of the workload whose metric it is; without it the first that has it." },
    { .path = "expect.min", .type = WB_KEY_NUMBER, .flags = WB_KEY_SWEEP_NO, .help = "Smallest value allowed, with its unit." },
    { .path = "expect.max", .type = WB_KEY_NUMBER, .flags = WB_KEY_SWEEP_NO, .help = "Largest value allowed, with its unit." },
    { .path = "expect.min_ratio", .type = WB_KEY_NUMBER, .flags = WB_KEY_SWEEP_NO, .help = "Smallest ratio allowed of the metric at `of` to the metric at `against`." },
    { .path = "expect.max_ratio", .type = WB_KEY_NUMBER, .flags = WB_KEY_SWEEP_NO, .help = "Largest ratio allowed of the metric at `of` to the metric at `against`." },
    { .path = "expect.of", .type = WB_KEY_EXPR, .flags = WB_KEY_SWEEP_NO, .help = "Points of the sweep that are compared." },
    { .path = "expect.against", .type = WB_KEY_EXPR, .flags = WB_KEY_SWEEP_NO, .help = "Points of the sweep that they are compared with." },
    { .path = "expect.at", .type = WB_KEY_EXPR, .flags = WB_KEY_SWEEP_NO, .help = "Points of the sweep at which min and max must hold; without it all." },

    /* ---- cases ---- */
    { .path = "rows", .type = WB_KEY_GROUPS, .flags = WB_KEY_SWEEP_NO, .help = "Published figures of a case, each with its class; `wakebal reproduce` judges them." },
    { .path = "rows.name", .type = WB_KEY_STRING, .flags = WB_KEY_REQUIRED | WB_KEY_SWEEP_NO, .help = "Short name of the row, unique in the case." },
    { .path = "rows.set", .type = WB_KEY_STRINGS, .flags = WB_KEY_SWEEP_NO, .help = "Settings of this row over the case's own: [ \"kernel.pipe=2.6.10\" ]." },
    { .path = "rows.against", .type = WB_KEY_STRINGS, .flags = WB_KEY_SWEEP_NO,
      .help = "Settings of the point that this row is compared with; then the figure is the ratio of the two." },
    { .path = "rows.metric", .type = WB_KEY_STRING, .flags = WB_KEY_REQUIRED | WB_KEY_SWEEP_NO, .help = "Metric that is compared." },
    { .path = "rows.workload", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO, .help = "Name of the workload whose metric it is; without it the first that has it." },
    { .path = "rows.class", .type = WB_KEY_ENUM, .choices = "calibrates consistency predicts", .flags = WB_KEY_REQUIRED | WB_KEY_SWEEP_NO,
      .help = "calibrates: set a cost. consistency: follows from what was put in. predicts: nothing in the files knew it." },
    { .path = "rows.calibrates", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO, .help = "Key of the cost that a `calibrates` row set." },
    { .path = "rows.published", .type = WB_KEY_NUMBER, .flags = WB_KEY_SWEEP_NO,
      .help = "The published figure or range, for example \"5 GB/s\" or \"1.5..2\"; \"none\" when only a direction was published." },
    { .path = "rows.direction", .type = WB_KEY_ENUM, .choices = "higher lower same none", .def = "none", .flags = WB_KEY_SWEEP_NO,
      .help = "Which way this point stands to the point of `against`.", .source = "no direction unless the report names one" },
    { .path = "rows.unit", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO, .help = "Unit in which the row is printed." },
    { .path = "rows.tolerance", .type = WB_KEY_NUMBER, .flags = WB_KEY_SWEEP_NO, .help = "Relative deviation allowed, for example \"20 %\". Written before the model ran." },
    { .path = "rows.reason", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO, .help = "Why this tolerance." },
    { .path = "rows.source", .type = WB_KEY_STRING, .flags = WB_KEY_SWEEP_NO, .help = "Message, table or figure that holds the number." },
    { .path = "sensitivity", .type = WB_KEY_STRINGS, .flags = WB_KEY_SWEEP_NO,
      .help = "Assumed costs whose plausible range is tried: a verdict that flips inside it is `undetermined`. [ \"all\" ] = every assumed cost." },
};
const size_t wb_scenario_keys_n = WB_ARRAY_SIZE(wb_scenario_keys);
