/* The kernel's own data (footprint.c): free while it stays in the L1, paid for when something else has filled that, or
 * when there are more tasks than fit. */
#include "wbtest.h"

#include <math.h>
#include <stdio.h>

#include "simtest.h"

static const char pair[] =
    "schema = 1;\nmachine : { base = \"smp2\"; };\nkernel : { base = \"linux-6.18\"; };\n"
    "workload = ( { kind = \"pipe_latency\"; message = \"%s\"; cpus = \"0\"; sched = \"batch\"; } );\n"
    "run : { duration = \"10 ms\"; warmup = \"2 ms\"; start_spread = \"0 s\"; };\n";

/* Seconds of a round trip on one CPU. */
static double trip(const char *message, const char *calls, const char *switches)
{
    char text[512];
    const char *sets[] = {calls, switches, NULL};
    snprintf(text, sizeof text, pair, message);
    struct simtest t = simtest_build(text, sets, NULL);
    (void)wb_sim_run(t.sim);
    double s = simtest_metric(&t, 0, "round_trip");
    simtest_free(&t);
    return s;
}

static void free_in_the_l1(void **state)
{
    (void)state;
    double none = trip("1 B", "kernel.call_lines=0", "kernel.switch_lines=0"),
           some = trip("1 B", "kernel.call_lines=10", "kernel.switch_lines=20");
    assert_true(fabs(some / none - 1) < 0.01);
}

/* 64 KiB of buffers and pages run through an L1 of 32 KiB. The trip has four calls and two switches; what they find
 * gone is paid at the latency of the next cache, so it is less than all their lines and grows with them. */
static void paid_behind_large_messages(void **state)
{
    (void)state;
    double none = trip("32 KiB", "kernel.call_lines=0", "kernel.switch_lines=0"),
           calls = trip("32 KiB", "kernel.call_lines=20", "kernel.switch_lines=0"),
           both = trip("32 KiB", "kernel.call_lines=20", "kernel.switch_lines=40");
    assert_true(calls - none > 50e-9 && calls - none < 4 * 20 * 20e-9);
    assert_true(both - calls > 100e-9 && both - calls < 2 * 40 * 20e-9);
}

/* Tasks that wake one another in a ring, each once a round. */
static double hop(unsigned tasks, const char *lines)
{
    static char text[16384];
    const char *sets[] = {lines, NULL};
    size_t n = (size_t)snprintf(text, sizeof text,
                                "schema = 1;\nmachine : { base = \"smp2\"; };\nkernel : { base = \"linux-6.18\"; };\n"
                                "workload = ( { kind = \"custom\"; cpus = \"0\"; sched = \"batch\"; channels = [ ");
    for (unsigned i = 0; i < tasks; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\"c%u\"", i ? ", " : "", i);
    n += (size_t)snprintf(text + n, sizeof text - n, " ]; tasks = ( ");
    for (unsigned i = 0; i < tasks; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s{ name = \"t%u\"; program = [ \"loop\", \"%s c%u 1 B\", \"%s c%u 1 B\", \"end\" ]; }",
                              i ? ", " : "", i, i ? "readall" : "write", i ? i : 1, i ? "write" : "readall",
                              i ? (i + 1) % tasks : 0);
    snprintf(text + n, sizeof text - n,
             " ); } );\nrun : { duration = \"20 ms\"; warmup = \"4 ms\"; start_spread = \"0 s\"; };\n");
    struct simtest t = simtest_build(text, sets, NULL);
    (void)wb_sim_run(t.sim);
    double s = 16e-3 / simtest_metric(&t, UINT32_MAX, "pipe.fills");
    simtest_free(&t);
    return s;
}

/* 20 lines of 4 tasks fit into the L1, those of 60 (77 KB) do not. */
static void many_tasks_push_each_other_out(void **state)
{
    (void)state;
    double few = hop(4, "kernel.switch_lines=20") / hop(4, "kernel.switch_lines=0"),
           many = hop(60, "kernel.switch_lines=20") / hop(60, "kernel.switch_lines=0");
    assert_true(fabs(few - 1) < 0.01);
    assert_true(many > 1.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_in_the_l1), cmocka_unit_test(paid_behind_large_messages),
                                       cmocka_unit_test(many_tasks_push_each_other_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
