/* fork() ends on the way back to user mode: what its child, or anybody since, has asked for is obeyed there, not at the
 * next tick (Linux kernel/entry/common.c exit_to_user_mode_loop; before 5.9 arch/x86/entry/common.c). */
#include "wbtest.h"

#include <string.h>

#include "simtest.h"
#include "wakebal/kernel.h"

/* 80 forks of 60 us on one CPU; slices of 0.7 ms (6.18) end at the next child that is queued. Nothing ticks
 * meanwhile. */
static const char text[] =
    "schema = 1;\nmachine : { base = \"smp2\"; };\n"
    "kernel : { base = \"linux-6.18\"; hz = 100; tick_phases = [ \"9.99 ms\", \"9.99 ms\" ]; };\n"
    "workload = ( { kind = \"hackbench\"; groups = 2; loops = 1; cpus = \"0\"; start = \"0 s\"; } );\n"
    "run : { warmup = \"none\"; start_spread = \"0 s\"; };\n";

static void a_parent_past_its_slice_gives_way(void **state)
{
    (void)state;
    const struct wb_run_options opt = {.trace_capacity = 100000, .trace_to = WB_TIME_NEVER};
    struct simtest t = simtest_build(text, NULL, &opt);
    (void)wb_sim_run(t.sim);
    const struct wb_trace *trace = wb_sim_result(t.sim)->trace;
    uint32_t forks = 0, preempted = 0;
    for (uint64_t i = 0; i < trace->written && forks < 80; i++) {
        const struct wb_trace_record *r = &trace->ring[i];
        forks += r->type == WB_TR_FORK;
        if (r->type != WB_TR_SWITCH || r->task >= wb_ntasks(t.sim) || r->b < 16) continue;
        preempted += !strcmp(wb_task_name(wb_task_of(t.sim, r->task)), "hackbench");
    }
    simtest_free(&t);
    if (preempted < 2 || preempted > 8) fail_msg("preempted %u times in %u forks", preempted, forks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_parent_past_its_slice_gives_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
