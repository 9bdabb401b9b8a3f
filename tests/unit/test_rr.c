/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* tcp_rr and udp_rr: keys, command line, pairs; what stopping the tick costs them. */
#include "simtest.h"
#include "wbtest.h"
#include "workloads.h"

static struct simtest run(const char *kernel, const char *keys, const char *more)
{
    char text[600];
    snprintf(text, sizeof text,
             "schema = 1;\nmachine : { base = \"stoakley\"; };\nkernel : { base = \"%s\"; };\nworkload = ( { %s } );\n"
             "run : { warmup = \"none\"; %s };\n",
             kernel, keys, more);
    struct simtest t = simtest_build(text, NULL, NULL);
    assert_int_equal(wb_sim_run(t.sim), 0);
    return t;
}

static void near_enough(double got, double want)
{
    if (got < want - 1e-9 || got > want + 1e-9) fail_msg("got %.9g, want %.9g", got, want);
}

static double machine(struct simtest *t, const char *name)
{
    return simtest_metric(t, UINT32_MAX, name);
}

/* `transactions` of each copy after one untimed exchange; segments follow from the sizes. */
static void each_copy_does_its_work(void **state)
{
    static const struct {
        const char *keys;
        const char *counter;
        double done, packets;
    } rows[] = {
        {"kind = \"tcp_rr\"; transactions = 40;", "tcp.segments", 40, 82},
        {"kind = \"tcp_rr\"; transactions = 40; copies = 3;", "tcp.segments", 120, 246},
        {"kind = \"tcp_rr\"; transactions = 20; request = \"40000 B\";", "tcp.segments", 20, 84},
        {"kind = \"tcp_rr\"; transactions = 20; response = \"100 kB\"; threads = true;", "tcp.segments", 20, 0},
        {"kind = \"udp_rr\"; transactions = 40; request = \"40000 B\";", "udp.datagrams", 40, 82},
        {"kind = \"tcp_rr\"; transactions = 30; from_cmd = \"netperf -t TCP_RR -T 0,7 -- -r 100,200\";", "tcp.segments",
         30, 62},
    };
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        struct simtest t = run("linux-2.6.22", rows[i].keys, "");
        near_enough(simtest_metric(&t, 0, "transaction_time.count"), rows[i].done);
        if (rows[i].packets > 0) near_enough(machine(&t, rows[i].counter), rows[i].packets);
        simtest_free(&t);
    }
}

/* taskset and -T bind one end each; the two then never share a CPU. */
static void the_command_binds_its_ends(void **state)
{
    (void)state;
    struct simtest t =
        run("linux-2.6.22", "kind = \"tcp_rr\"; transactions = 20; from_cmd = \"netperf -t TCP_RR -T 3,3\";", "");
    assert_int_equal(wb_sim_result(t.sim)->movable, 0);
    near_enough(simtest_metric(&t, 0, "colocated"), 1);
    simtest_free(&t);
    t = run("linux-2.6.22", "kind = \"udp_rr\"; transactions = 20; from_cmd = \"taskset -c 0 netperf -t UDP_RR\";", "");
    assert_int_equal(wb_sim_result(t.sim)->movable, 1);
    simtest_free(&t);
    t = run("linux-2.6.22", "kind = \"udp_rr\"; transactions = 20;", "");
    assert_int_equal(wb_sim_result(t.sim)->movable, 2);
    simtest_free(&t);
}

static void datagrams_have_a_limit(void **state)
{
    (void)state;
    char *why =
        simtest_refused("schema = 1;\nmachine : { base = \"smp2\"; };\nkernel : { scheduler = \"o1\"; };\n"
                        "workload = ( { kind = \"udp_rr\"; from_cmd = \"netperf -t UDP_RR -- -r 1,70000\"; } );\n",
                        NULL);
    assert_non_null(strstr(why, "65507"));
    free(why);
}

static double rate(const char *kernel, const char *more)
{
    char text[600];
    snprintf(text, sizeof text,
             "schema = 1;\nmachine : { base = \"stoakley\"; };\nkernel : { base = \"%s\"; path : { %s }; };\nworkload "
             "= ( { kind = "
             "\"tcp_rr\"; client_cpus = \"0\"; server_cpus = \"7\"; } );\nrun : { duration = \"20 ms\"; warmup = \"2 "
             "ms\"; };\n",
             kernel, more);
    struct simtest t = simtest_build(text, NULL, NULL);
    assert_int_equal(wb_sim_run(t.sim), 0);
    double r = simtest_metric(&t, 0, "transactions");
    simtest_free(&t);
    return r;
}

/* Starting the tick again is on the way of each answer in a tickless kernel; a ticking one does not do it. */
static void restarting_the_tick_costs(void **state)
{
    (void)state;
    double cheap = rate("linux-2.6.24", "tick_nohz_restart = \"0 cy\";"),
           dear = rate("linux-2.6.24", "tick_nohz_restart = \"20 us\";");
    assert_true(dear < 0.9 * cheap);
    double o1 = rate("linux-2.6.22", "tick_nohz_restart = \"0 cy\";"),
           same = rate("linux-2.6.22", "tick_nohz_restart = \"20 us\";");
    assert_true(o1 == same);
}

/* One pair that is free to move under 2.6.36: the search for an idle core begins at the waker's and walks on with every
 * wakeup, a buddy stays a buddy. */
static void searches_walk_or_stay(void **state)
{
    static const char *const search[] = {"cores", "buddy"};
    double wakes[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[400];
        snprintf(
            text, sizeof text,
            "schema = 1;\nmachine : { base = \"westmere-ex-4s\"; };\nkernel : { base = \"linux-2.6.36\"; policy : { "
            "idle_search = \"%s\"; }; };\nworkload = ( { kind = \"tcp_rr\"; } );\nrun : { duration = \"5 ms\"; warmup "
            "= "
            "\"1 ms\"; };\n",
            search[i]);
        struct simtest t = simtest_build(text, NULL, NULL);
        assert_int_equal(wb_sim_run(t.sim), 0);
        double moved = machine(&t, "migrations.wake");
        wakes[i] = machine(&t, "tcp.wakes");
        assert_true(wakes[i] > 20);
        assert_true(i ? moved <= 2 : moved > 0.9 * wakes[i]);
        simtest_free(&t);
    }
    assert_true(wakes[1] > 4 * wakes[0]); /* who walks wakes cores that sleep deeply */
}

static void keys_pass_the_lint(void **state)
{
    static const struct wb_workload_ops *const kinds[] = {&wb_workload_tcp_rr, &wb_workload_udp_rr};
    (void)state;
    for (size_t k = 0; k < WB_ARRAY_SIZE(kinds); k++)
        for (size_t i = 0; i < kinds[k]->nkeys; i++) assert_null(wb_key_lint(&kinds[k]->keys[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_pass_the_lint),         cmocka_unit_test(each_copy_does_its_work),
        cmocka_unit_test(the_command_binds_its_ends), cmocka_unit_test(datagrams_have_a_limit),
        cmocka_unit_test(restarting_the_tick_costs),  cmocka_unit_test(searches_walk_or_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
