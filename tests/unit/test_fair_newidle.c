/* When CPUs that run out of work look elsewhere: the gates of newidle_balance(), and what a failed pass costs. */
#include "simtest.h"
#include "wbtest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More short work than CPUs: idle times are far below migration_cost, and now and then somebody has two tasks. */
#define SCENARIO(kernel) \
    "schema = 1;\nmachine : { base = \"smp2\"; topology = \"pack:1 l3:1(size=16MiB) core:4 pu:1\"; };\n" \
    "kernel : { base = \"" kernel "\"; };\n" \
    "workload = ( { kind = \"periodic\"; run = \"exp(40 us)\"; sleep = \"exp(80 us)\"; count = 9; } );\n" \
    "run : { duration = \"60 ms\"; warmup = \"10 ms\"; seed = 2; };\n"
static const char text[] = SCENARIO("linux-6.6");

static double passes(const char *gate)
{
    char set[64];
    (void)snprintf(set, sizeof set, "policy.newidle_gate=%s", gate);
    struct simtest t = simtest_build(text, (const char *const[]){set, NULL}, NULL);
    (void)wb_sim_run(t.sim);
    double v = simtest_metric(&t, UINT32_MAX, "balance.newidle.calls");
    simtest_free(&t);
    return v;
}

static void gates(void **state)
{
    (void)state;
    double none = passes("none"), cost = passes("cost"), both = passes("migration_cost");
    if (!(none > 1000 && none > cost && cost > 100 && both < cost / 10))
        fail_msg("none %g, cost %g, migration_cost %g", none, cost, both);
}

/* A pass that finds nothing makes the next one rarer. */
static void a_failed_pass_raises_the_cost(void **state)
{
    (void)state;
    double v[2];
    for (int bump = 0; bump < 2; bump++) {
        struct simtest t = simtest_build(
            text, (const char *const[]){bump ? "policy.newidle_bump=true" : "policy.newidle_bump=false", NULL}, NULL);
        (void)wb_sim_run(t.sim);
        v[bump] = simtest_metric(&t, UINT32_MAX, "balance.newidle.calls");
        simtest_free(&t);
    }
    if (!(v[1] < v[0] / 2)) fail_msg("%g passes, %g when failures count", v[0], v[1]);
}

static double passes_of(const char *scenario, const char *random, const char *ratio)
{
    const char *sets[] = {random, ratio, NULL};
    struct simtest t = simtest_build(scenario, sets, NULL);
    (void)wb_sim_run(t.sim);
    double v = simtest_metric(&t, UINT32_MAX, "balance.newidle.calls");
    simtest_free(&t);
    return v;
}

/* NI_RANDOM: a share of the passes that there would be, until 512 of a domain tell another one. */
static void a_dice_decides(void **state)
{
    (void)state;
    static const char modern[] = SCENARIO("linux-6.12");
    double all = passes_of(modern, "policy.newidle_random=false", NULL);
    double half = passes_of(modern, "policy.newidle_random=true", NULL);
    double tenth = passes_of(modern, "policy.newidle_random=true", "policy.newidle_ratio=0.1");
    if (!(all > 500 && half > 0.35 * all && half < 0.75 * all && tenth > 0.05 * all && tenth < 0.25 * all))
        fail_msg("%g passes, %g at one half, %g at a tenth", all, half, tenth);
}

/* CPU 0 has two tasks that may not leave it; CPU 1 goes idle 4000 times a second and never gets one. */
static const char vain[] = "schema = 1;\nmachine : { base = \"smp2\"; };\nkernel : { base = \"linux-6.12\"; };\n"
                           "workload = ( { kind = \"hog\"; count = 2; cpus = \"0\"; },\n"
                           "  { kind = \"periodic\"; run = \"20 us\"; sleep = \"180 us\"; cpus = \"1\"; } );\n"
                           "run : { duration = \"1 s\"; warmup = \"none\"; };\n";

/* Half of the first 512 passes are made; that nobody came makes the ratio 256 of 1024 (sd_init's success), then half of
 * that, and so on. */
static void what_brings_nothing_is_left_alone(void **state)
{
    (void)state;
    double all = passes_of(vain, "policy.newidle_random=false", NULL);
    double random = passes_of(vain, "policy.newidle_random=true", NULL);
    if (!(all > 3000 && random > 400 && random < 640)) fail_msg("%g passes, %g with the dice", all, random);
}

static void only_where_it_exists(void **state)
{
    (void)state;
    char *said = simtest_refused(SCENARIO("linux-5.4"), (const char *const[]){"policy.newidle_gate=cost", NULL});
    assert_non_null(strstr(said, "newidle_gate"));
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates),
        cmocka_unit_test(a_failed_pass_raises_the_cost),
        cmocka_unit_test(a_dice_decides),
        cmocka_unit_test(what_brings_nothing_is_left_alone),
        cmocka_unit_test(only_where_it_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
