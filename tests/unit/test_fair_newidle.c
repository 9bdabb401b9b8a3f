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
        cmocka_unit_test(only_where_it_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
