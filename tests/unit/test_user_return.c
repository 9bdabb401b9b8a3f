/* Going back to user mode: what is paid once after a switch, and that the way out comes after the last look at
 * need_resched. */
#include "wbtest.h"

#include <math.h>
#include <stdio.h>

#include "simtest.h"

#define HEAD "schema = 1;\nmachine : { base = \"smp2\"; };\nkernel : { base = \"linux-6.18\"; };\n"
#define TAIL "run : { duration = \"20 ms\"; warmup = \"4 ms\"; start_spread = \"0 s\"; };\n"

static const char *const none[] = {"kernel.path.switch_fpu_prepare=0 ns", "kernel.path.exit_to_user_mode_loop=0 ns",
                                   "kernel.path.timer_tick=0 ns", NULL};
static const char *const saved[] = {"kernel.path.switch_fpu_prepare=1 us", "kernel.path.exit_to_user_mode_loop=0 ns",
                                    "kernel.path.timer_tick=0 ns", NULL};
static const char *const both[] = {"kernel.path.switch_fpu_prepare=1 us", "kernel.path.exit_to_user_mode_loop=3 us",
                                   "kernel.path.timer_tick=0 ns", NULL};

/* us for each 16 pages through a pipe on one CPU, written by calls of so many bytes. */
static double handover(const char *bytes, const char *const *sets)
{
    char text[1024];
    snprintf(text, sizeof text,
             HEAD "workload = ( { kind = \"custom\"; cpus = \"0\"; sched = \"batch\"; channels = [ \"p\" ];\n"
                  "  tasks = ( { name = \"w\"; program = [ \"loop\", \"write p %s\", \"end\" ]; },\n"
                  "    { name = \"r\"; program = [ \"loop\", \"readall p 64 KiB\", \"end\" ]; } ); } );\n" TAIL,
             bytes);
    struct simtest t = simtest_build(text, sets, NULL);
    (void)wb_sim_run(t.sim);
    double us = 16e3 / (simtest_metric(&t, UINT32_MAX, "pipe.fills") / 16);
    simtest_free(&t);
    return us;
}

/* Both tasks go back once for each 64 KiB, so both are saved. */
static void paid_once_a_switch(void **state)
{
    (void)state;
    double bare = handover("64 KiB", none);
    assert_true(fabs(handover("64 KiB", saved) - bare - 2) < 0.1);
    assert_true(fabs(handover("64 KiB", both) - bare - 8) < 0.2);
}

/* The writer of 1 MiB is woken sixteen times and goes back once. */
static void not_paid_within_a_call(void **state)
{
    (void)state;
    double bare = handover("1 MiB", none);
    assert_true(fabs(handover("1 MiB", saved) - bare - (1 + 1 / 16.0)) < 0.1);
    assert_true(fabs(handover("1 MiB", both) - bare - 4 * (1 + 1 / 16.0)) < 0.2);
}

/* A waker of little weight is preempted as it leaves its write: the partner does not wait for the rest of the way. */
static void preempted_before_the_way_out(void **state)
{
    (void)state;
    static const char text[] =
        HEAD "workload = ( { kind = \"custom\"; cpus = \"0\"; channels = [ \"to\", \"back\" ];\n"
             "  tasks = ( { name = \"w\"; nice = 19; program = [ \"loop\", \"write to 1 B\", \"readall back 1 B\", "
             "\"end\" ]; },\n"
             "    { name = \"p\"; program = [ \"loop\", \"readall to 1 B\", \"start own\", \"write back 1 B\", "
             "\"stop own\", \"end\" ]; } ); } );\n" TAIL;
    const char *sets[] = {"kernel.path.syscall_exit=50 us", NULL};
    struct simtest t = simtest_build(text, sets, NULL);
    (void)wb_sim_run(t.sim);
    const struct wb_metric *m = wb_result_find(wb_sim_result(t.sim), UINT32_MAX, "wake_latency");
    assert_non_null(m);
    assert_true(m->hist && m->hist->count > 10);
    assert_true(wb_hist_mean(m->hist) * 1e-6 < 10); /* us */
    simtest_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paid_once_a_switch), cmocka_unit_test(not_paid_within_a_call),
                                       cmocka_unit_test(preempted_before_the_way_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
