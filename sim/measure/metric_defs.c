/*
 * metric_defs.c - the definitions of the figures that sim/ reports. One row per name, sorted by name as strcmp sorts.
 *
 * A segment in capitals stands for any text: RATE = a progress metric of a workload, TIME = a histogram of times.
 */
#include "wakebal/metric.h"

#include <string.h>

#define DOWN WB_BETTER_LOWER
#define NONE WB_BETTER_NONE

static const struct wb_metric_def def[] = {
    {"RATE.high_mode", "RATE", NONE,
     "Mean of the windows in the upper mode; the mean of all windows when there is one mode."},
    {"RATE.high_share", "1", NONE, "Share of the windows in the upper mode; 1 when there is one mode."},
    {"RATE.low_mode", "RATE", NONE,
     "Mean of the windows in the lower mode; the mean of all windows when there is one mode."},
    {"RATE.modes", "1", NONE,
     "2 when the windows fall into two clusters whose means are more than 5 (1 + 10 / windows) inner standard "
     "deviations and 2 % apart, each with 5 % of the windows; else 1. 0 without a full window."},
    {"RATE.p10", "RATE", NONE, "10 % of the full windows are not above it."},
    {"RATE.p50", "RATE", NONE, "Median over the full windows."},
    {"RATE.p90", "RATE", NONE, "90 % of the full windows are not above it."},
    {"TIME.count", "1", NONE, "How many times the histogram holds."},
    {"TIME.max", "s", DOWN, "The largest value, exact."},
    {"TIME.p50", "s", DOWN, "Median: half of the values are not above it (within 1/64)."},
    {"TIME.p90", "s", DOWN, "90 % of the values are not above it (within 1/64)."},
    {"TIME.p99", "s", DOWN, "99 % of the values are not above it (within 1/64)."},
    {"affinity_violations", "1", DOWN,
     "Switches to a task on a CPU that it may not use, except while the migration thread has been asked to move it."},
    {"balance.KIND.calls", "1", NONE, "Balancing passes of that kind over one sched domain."},
    {"balance.KIND.pulled", "1", NONE, "Tasks that passes of that kind moved."},
    {"colocated", "1", NONE,
     "Share of time in which the two tasks of a pair belonged to the same CPU, over the pairs of the workload."},
    {"idle_entries", "1", NONE, "How often CPUs went idle."},
    {"idle_while_work_waits", "1", DOWN,
     "Share of CPU time that was idle while at least as many tasks were runnable and did not run: broken work "
     "conservation."},
    {"idle_while_work_waits.domain.LEVEL", "s", DOWN,
     "That waiting time by the lowest sched domain of the task's CPU with an idle CPU, 0 = innermost, none = no "
     "domain; with an affinity mask by the lowest domain that covers the mask."},
    {"idle_while_work_waits.longest", "s", DOWN, "The longest such part of one wait."},
    {"idle_while_work_waits.wait", "s", DOWN,
     "Time that tasks waited on a busy CPU while another one that they may use was idle, summed over tasks."},
    {"idle_while_work_waits.waits", "1", DOWN, "How many waits had such a part."},
    {"ipis", "1", DOWN, "Inter-processor interrupts sent to make another CPU reschedule or wake."},
    {"migrations", "1", NONE, "Changes of CPU of all tasks, of any kind."},
    {"migrations.KIND", "1", NONE,
     "Migrations by cause: wake (placed elsewhere by a wakeup), newidle, periodic, nohz, active (balancers), exec, "
     "fork, affinity, pick (taken from a queue that several CPUs share)."},
    {"migrations.domain.LEVEL", "1", NONE,
     "Migrations by the lowest sched domain that spans both CPUs, 0 = innermost."},
    {"migrations.pingpong", "1", DOWN,
     "Balancer moves that brought a task back to the CPU from which the previous balancer move had taken it less than "
     "10 ms before: balancing that undoes itself."},
    {"migrations.pingpong.KIND", "1", DOWN, "Such moves by the kind that moved back: newidle, periodic, nohz, active."},
    {"migrations.pingpong.domain.LEVEL", "1", DOWN,
     "Such moves by the lowest sched domain that spans both CPUs, 0 = innermost, none = no domain."},
    {"migrations.rate", "1/s", NONE, "Migrations per second."},
    {"placement.movable", "1", NONE,
     "Tasks of workloads that may run on more than one CPU: 0 when placement can decide nothing; for rows of cases "
     "only."},
    {"preemptions", "1", NONE, "Switches from a task that could have gone on running."},
    {"profile.FUNCTION", "1", NONE,
     "Share of one kernel function in the CPU time, idle time left out, as run --profile prints it; for rows of cases "
     "only."},
    {"regime.apart", "s", NONE,
     "How long a pair stayed on different CPUs without a break; periods cut by the ends of the measurement count with "
     "their part."},
    {"regime.changes", "1", NONE, "How often pairs went from one CPU to two or back."},
    {"regime.together", "s", NONE,
     "How long a pair stayed on one CPU without a break; periods cut by the ends of the measurement count with their "
     "part."},
    {"run_delay", "s", DOWN, "From becoming runnable (woken, preempted or moved) to running: waiting in a runqueue."},
    {"starvation", "1", DOWN, "Waits of a runnable task for a CPU that were longer than run.starvation_bound."},
    {"starvation.longest", "s", DOWN, "The longest of these waits; 0 without any."},
    {"switches", "1", NONE, "Context switches, to and from idle included."},
    {"switches.rate", "1/s", NONE, "Context switches per second."},
    {"ticks", "1", NONE, "Timer ticks of all CPUs; skipped idle ticks that were accounted in closed form count."},
    {"time.CATEGORY", "1", NONE, "Share of all CPU time in one category; the shares sum to 1."},
    {"wake_latency", "s", DOWN, "From try_to_wake_up() making a task runnable to its first instruction."},
    {"wakeups", "1", NONE, "Wakeups that found a sleeper."},
    {"wakeups.rate", "1/s", NONE, "Wakeups per second."},
    {"wakeups.remote", "1", NONE, "Wakeups that queued the task on another CPU than the waker's."},
    {"wakeups.sync", "1", NONE, "Wakeups with the hint that the waker is about to sleep."},
};

const struct wb_metric_def *wb_metric_def_at(size_t i)
{
    return i < WB_ARRAY_SIZE(def) ? &def[i] : NULL;
}

static size_t segment(const char *s)
{
    return strcspn(s, ".");
}

static bool is_wild(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] < 'A' || s[i] > 'Z') return false;
    return n > 0;
}

/* Segments equal one by one, where capitals in the pattern stand for any segment; at its begin for any number of
 * them. */
static bool matches(const char *pattern, const char *name)
{
    size_t head = segment(pattern);
    if (is_wild(pattern, head)) {
        size_t tail = strlen(pattern + head), n = strlen(name);
        return n > tail && !strcmp(name + n - tail, pattern + head);
    }
    for (;;) {
        size_t n = segment(pattern), k = segment(name);
        if (!k || (!is_wild(pattern, n) && (n != k || memcmp(pattern, name, n)))) return false;
        pattern += n;
        name += k;
        if (!*pattern || !*name) return *pattern == *name;
        pattern++;
        name++;
    }
}

const struct wb_metric_def *wb_metric_def_find(const char *name)
{
    const struct wb_metric_def *wild = NULL;
    for (size_t i = 0; i < WB_ARRAY_SIZE(def); i++) {
        if (!strcmp(def[i].name, name)) return &def[i];
        if (!wild && matches(def[i].name, name)) wild = &def[i];
    }
    return wild;
}

const char *wb_better_name(enum wb_better b)
{
    static const char *const name[] = {
        [WB_BETTER_HIGHER] = "higher", [WB_BETTER_LOWER] = "lower", [WB_BETTER_NONE] = "none"};
    WB_CHECK((size_t)b < WB_ARRAY_SIZE(name), "no direction %d", (int)b);
    return name[b];
}
