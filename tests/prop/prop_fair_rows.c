/*
 * prop_fair_rows.c - group statistics from rows against the queues themselves: on machines of more than 64 CPUs, whole
 * runs with rows and with searches that read every queue one by one give the same counters, under every version that
 * keeps rows; and at any time a row that is not marked equals its queue.
 */
#include "wbtest.h"

#include "fair.h"
#include "simtest.h"

/* One tree, nodes at two distances, threads: with kept sums and without. */
static const char *const machines[] = {
    "topology = \"pack:9 [numa] l3:1 core:8 pu:1\";",
    "topology = \"pack:3 [numa] l3:2 core:8 pu:2\";",
};
/* The last one: tasks come one by one to CPUs whose idle ticks are left out. */
static const struct {
    const char *run, *policy, *workload;
} loads[] = {
    {"", "",
     "{ kind = \"pipe_latency\"; copies = 60; think = \"exp(20 us)\"; }, { kind = \"hog\"; count = 40; chunk = \"1 "
     "ms\"; }"},
    {"", "", "{ kind = \"periodic\"; count = 150; }, { kind = \"hog\"; count = 30; nice = 5; chunk = \"2 ms\"; }"},
    {" start_spread = \"40 ms\"; horizon = \"60 ms\";", "policy : { nohz = false; };",
     "{ kind = \"pipe_latency\"; copies = 30; trips = 50; }"},
};
static const char *const versions[] = {"5.4", "5.15", "6.1", "6.6", "6.12", "6.18"};

/* Run it, with a look at all rows every 100 us. */
static uint64_t run(const char *text, bool rows)
{
    struct simtest t = simtest_build(text, NULL, NULL);
    struct wb_sim *s = t.sim;
    struct fair_sim *f = wb_policy_data(s);
    assert_non_null(f->rows.row);
    if (!rows) fair_rows_off(&f->rows);
    for (sim_time at = 100 * WB_US; wb_sim_step_to(s, at); at += 100 * WB_US)
        if (rows) assert_true(fair_rows_good(s, f, wb_task_of(s, 0)->allowed));
    (void)wb_sim_run(s);
    uint64_t sum = wb_sim_result(s)->fingerprint;
    simtest_free(&t);
    return sum;
}

static void rows_decide_as_queues_do(void **state)
{
    (void)state;
    for (size_t v = 0; v < WB_ARRAY_SIZE(versions); v++) {
        for (size_t i = 0; i < WB_ARRAY_SIZE(machines) * WB_ARRAY_SIZE(loads); i++) {
            size_t m = i % WB_ARRAY_SIZE(machines), l = i / WB_ARRAY_SIZE(machines);
            char text[1024];
            (void)snprintf(text, sizeof text,
                           "schema = 1;\nmachine : { %s };\nkernel : { base = \"linux-%s\"; };\n"
                           "run : { %s seed = %zu;%s };\n%s\nworkload = ( %s );\n",
                           machines[m], versions[v], *loads[l].run ? "" : "duration = \"8 ms\";", i + 1, loads[l].run,
                           loads[l].policy, loads[l].workload);
            if (run(text, true) != run(text, false)) fail_msg("%s, machine %zu, load %zu", versions[v], m, l);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_decide_as_queues_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
