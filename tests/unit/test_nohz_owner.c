/*
 * Tickless idle of 2.6.21 .. 2.6.36: who balances for the idle has a tick of its own. wb-link: all
 *
 * An idle CPU whose tick stands is interrupted and goes back to halt without having left the idle loop. If the owner
 * has gone meanwhile, it must not become the owner: nobody would start its tick, and nobody would balance for the
 * idle ever after (found on 176 CPUs: a third of them idle beside waiting tasks).
 */
#include "wbtest.h"

#include "nohz_owner.h"
#include "simtest.h"

static void who_stopped_its_tick_does_not_become_owner(void **state)
{
    (void)state;
    uint64_t w = 0;
    struct nohz_owner o = {.ilb = WB_NO_CPU, .mask = {.ncpus = 4, .nwords = 1, .w = &w}};
    assert_false(nohz_owner_enter(&o, 0, 4)); /* owner: keeps its tick */
    assert_true(nohz_owner_enter(&o, 1, 4));  /* stops it */
    assert_false(nohz_owner_enter(&o, 0, 4)); /* the owner after an interrupt: still the owner */
    nohz_owner_restart(&o, 0);                /* it runs something: still, until a tick finds it busy */
    assert_int_equal(o.ilb, 0);
    nohz_owner_leave(&o, 0);
    assert_true(nohz_owner_enter(&o, 1, 4)); /* after an interrupt: its tick stands */
    assert_int_equal(o.ilb, WB_NO_CPU);
    nohz_owner_restart(&o, 1); /* told to look again: its tick comes back */
    assert_false(nohz_owner_enter(&o, 1, 4));
    assert_int_equal(o.ilb, 1);
    assert_int_equal(o.count, 1);
}

static double wasted(const char *kernel)
{
    static const char text[] =
        "schema = 1;\nmachine : { topology = \"pack:2 [numa] l3:11(size=10MiB) core:2 pu:4\"; };\n"
        "kernel : { base = \"linux-%s\"; };\n"
        "workload = ( { base = \"hogs\"; } );\n"
        "run : { seed = 1; duration = \"500 ms\"; warmup = \"200 ms\"; };\n";
    char scenario[1024];
    snprintf(scenario, sizeof scenario, text, kernel);
    struct simtest t = simtest_build(scenario, NULL, NULL);
    (void)wb_sim_run(t.sim);
    double share = simtest_metric(&t, UINT32_MAX, "idle_while_work_waits");
    simtest_free(&t);
    return share;
}

static void no_third_of_the_cpus_is_forgotten(void **state)
{
    (void)state;
    static const char *const kernels[] = {"2.6.22-i386", "2.6.24", "2.6.35", "2.6.36"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(kernels); i++) {
        double share = wasted(kernels[i]);
        if (share > 0.15) fail_msg("%s: %.1f %% of the CPU time idle while tasks wait", kernels[i], 100 * share);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_stopped_its_tick_does_not_become_owner),
        cmocka_unit_test(no_third_of_the_cpus_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
