/*
 * Four tasks that compute, three CPUs, nobody pinned: what the balancing of 2.6.23 .. 2.6.36 makes of it.
 *
 * Somebody has to share, and who does is decided by busy balancing: intervals of 64, 128, 256 ms of the same jiffies
 * on all CPUs, and loads that follow over several ticks (busy_idx 2, source = min(damped, present)). A CPU whose turn
 * comes a tick or two after another one has pulled sees the old load there and finds nothing. The turns do not drift,
 * so some task may never share in ten seconds.
 */
#include "wbtest.h"

#include "simtest.h"
#include "wakebal/kernel.h"

enum { HOGS = 4 };

static const char text[] =
    "schema = 1;\nmachine : { base = \"smp2\"; topology = \"pack:1 l3:1(size=16MiB) core:3 pu:1\"; };\n"
    "kernel : { base = \"linux-%s\"; };\n"
    "workload = ( { kind = \"hog\"; count = 4; chunk = \"1 ms\"; chunks = 100000; } );\n"
    "run : { seed = 1; duration = \"10 s\"; warmup = \"none\"; };\n";

struct spread {
    double least, most, sum, waste; /* s */
};

static struct spread run(const char *kernel, const char *set)
{
    char scenario[1024];
    const char *const sets[] = {set, NULL};
    snprintf(scenario, sizeof scenario, text, kernel);
    struct simtest t = simtest_build(scenario, sets, &(struct wb_run_options){.task_totals = true});
    (void)wb_sim_run(t.sim);
    struct spread s = {.least = 1e9, .waste = simtest_metric(&t, UINT32_MAX, "idle_while_work_waits.wait")};
    uint32_t n = 0;
    for (task_id i = 0; i < wb_ntasks(t.sim); i++) {
        const struct wb_task *k = wb_task_of(t.sim, i);
        if (k->kthread) continue;
        const struct wb_task_totals *all = wb_task_totals(k);
        double ran = (double)(all->run_total + (k->on_cpu ? wb_sim_now(t.sim) - all->run_start : 0)) * 1e-12;
        s.least = ran < s.least ? ran : s.least;
        s.most = ran > s.most ? ran : s.most;
        s.sum += ran;
        n++;
    }
    assert_int_equal(n, HOGS);
    simtest_free(&t);
    return s;
}

/* No CPU is wasted, and nobody gets less than the half of a CPU that the worst partner leaves. */
static void no_time_is_lost_and_nobody_has_less_than_half_a_cpu(void **state)
{
    (void)state;
    static const char *const kernels[] = {"2.6.22", "2.6.23", "2.6.24", "2.6.35", "2.6.36", "5.4",
                                          "5.15",   "6.1",    "6.6",    "6.12",   "6.18"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(kernels); i++) {
        struct spread s = run(kernels[i], NULL);
        if (s.sum < 29.9 || s.sum > 30.001) fail_msg("%s: %.3f s of CPU were used", kernels[i], s.sum);
        if (s.least < 4.9) fail_msg("%s: a task got %.3f s", kernels[i], s.least);
        if (s.waste > 0.01) fail_msg("%s: tasks waited %.3f s beside idle CPUs", kernels[i], s.waste);
    }
}

/* 2.6.23: with loads of the moment (busy_idx 0) every turn finds the CPU that has two, and all get the same. */
static void turns_are_locked_by_damped_loads_in_2_6_23(void **state)
{
    (void)state;
    struct spread damped = run("2.6.23", NULL), present = run("2.6.23", "kernel.domains[1].busy_idx=0");
    assert_true(damped.most > 9.9); /* never shares */
    assert_true(damped.least < 5.5);
    assert_near(present.most, 7.5, 0.15);
    assert_near(present.least, 7.5, 0.15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_time_is_lost_and_nobody_has_less_than_half_a_cpu),
        cmocka_unit_test(turns_are_locked_by_damped_loads_in_2_6_23),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
