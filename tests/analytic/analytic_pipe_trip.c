/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/*
 * A ping-pong through two pipes, both ends on one CPU: the round trip is the sum of its costs to the picosecond.
 *
 * With sync wakes (Linux 2.6.24) nobody is preempted, and a trip is twice this: write (a sleeper is woken), read
 * (nothing there: sleep, switch), and when it runs again the rest of that read. Counted by hand from the rules:
 *
 *   write: user call, entry, file layer, body, lock, one chunk, unlock, wake call that finds a sleeper, exit
 *   read:  user call, entry, file layer, body, lock, [wait: queue, unlock, schedule, switch, finish, lock], one
 *          chunk, unlock, wake call that finds nobody (the slot is free again), exit
 *
 * Two runs that differ by 500 trips give the time of one exactly. What the machine adds (copying a byte, lines that
 * are owned) is the same whatever the paths cost, so a run with all paths at zero gives it; then one path at a time
 * is raised by 1 ns, and all at once.
 */
#include "simtest.h"
#include "wbtest.h"

struct path {
    const char *name;
    unsigned per_trip;
};

static const struct path paths[] = {
    {"libc_call", 4},    {"syscall_entry", 4},   {"syscall_exit", 4},
    {"vfs_read", 2},     {"vfs_write", 2},       {"pipe_read", 2},
    {"pipe_write", 2},   {"pipe_buf", 4},        {"pipe_wait", 2},
    {"alloc_page", 0},   {"free_page", 0},       {"pipe_release", 0},
    {"mutex_lock", 6},   {"mutex_unlock", 6},    {"mutex_lock_slowpath", 0},
    {"wake_up", 4},      {"try_to_wake_up", 2},  {"enqueue_task", 2},
    {"dequeue_task", 2}, {"prepare_to_wait", 2}, {"finish_wait", 2},
    {"schedule", 2},     {"context_switch", 2},  {"switch_mm", 2},
    {"set_task_cpu", 0}, {"resched_task", 0},    {"reschedule_interrupt", 0},
    {"timer_tick", 0},
};
#define NPATHS WB_ARRAY_SIZE(paths)

/* Ticks are put where none falls into the run. cost[i]: ns of path i. */
static sim_time duration(const unsigned *cost, unsigned trips)
{
    static char text[8192];
    int n = snprintf(text, sizeof text,
                     "schema = 1;\nmachine : { base = \"smp2\"; };\n"
                     "workload = ( { kind = \"pipe_latency\"; trips = %u; cpus = \"0\"; start = \"0 s\"; } );\n"
                     "run : { warmup = \"none\"; };\n"
                     "kernel : { scheduler = \"o1\"; policy : { version = \"2.6.22\"; }; hz = 10; pipe = \"2.6.24\"; "
                     "tick_phases = [ \"99 ms\", \"99 ms\" ]; path : { fork = \"1 us\"; exit = \"1 us\"; ",
                     trips);
    for (size_t i = 0; i < NPATHS; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s = \"%u ns\"; ", paths[i].name, cost[i]);
    (void)snprintf(text + n, sizeof text - (size_t)n, "}; };\n");
    struct simtest t = simtest_build(text, NULL, NULL);
    assert_int_equal(wb_sim_run(t.sim), 0);
    sim_time d = wb_sim_result(t.sim)->duration;
    simtest_free(&t);
    return d;
}

/* Time of one trip; the two runs must differ by whole trips exactly. */
static sim_time trip(const unsigned *cost)
{
    sim_time d = duration(cost, 700) - duration(cost, 200);
    assert_int_equal(d % 500, 0);
    return d / 500;
}

static void a_trip_is_the_sum_of_its_costs(void **state)
{
    (void)state;
    unsigned cost[NPATHS] = {0};
    sim_time bare = trip(cost), sum = 0;
    assert_true(bare > 0 && bare < 2 * WB_US);
    for (size_t i = 0; i < NPATHS; i++) {
        cost[i] = 1;
        sim_time more = trip(cost) - bare;
        if (more != paths[i].per_trip * WB_NS)
            fail_msg("%s: %g per trip, want %u", paths[i].name, (double)more / 1000, paths[i].per_trip);
        cost[i] = 0;
    }
    for (size_t i = 0; i < NPATHS; i++) {
        cost[i] = 11 + 7 * (unsigned)i;
        sum += paths[i].per_trip * cost[i] * WB_NS;
    }
    assert_int_equal(trip(cost), bare + sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_trip_is_the_sum_of_its_costs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
