/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* The built-in workloads from the outside: amounts, pinning, think times, lateness, and that their keys are fit to
 * print. */
#include "simtest.h"
#include "wbtest.h"

#include "workloads.h"

static const char frame[] = "schema = 1;\n"
                            "machine : { base = \"smp2\"; topology = \"pack:4 l3:1(size=8MiB) core:1 pu:1\"; };\n"
                            "kernel : { scheduler = \"o1\"; hz = 100; %s };\n"
                            "workload = ( { start = \"0 s\"; %s } );\n"
                            "run : { warmup = \"none\"; horizon = \"5 s\"; %s };\n";

static struct simtest run(const char *workload, const char *kernel, const char *how)
{
    static char text[2048];
    snprintf(text, sizeof text, frame, kernel, workload, how);
    struct simtest t = simtest_build(text, NULL, NULL);
    enum wb_run_end r = wb_sim_run(t.sim);
    if (!strstr(how, "duration")) assert_int_equal(r, 0);
    return t;
}

static double machine(struct simtest *t, const char *name)
{
    return simtest_metric(t, UINT32_MAX, name);
}

static void near_to(double got, double want, double by)
{
    if (got < want - by || got > want + by) fail_msg("got %.9g, want %.9g", got, want);
}

static void keys_pass_the_lint(void **state)
{
    (void)state;
    static const struct wb_workload_ops *const kinds[] = {&wb_workload_pipe_bw,   &wb_workload_pipe_latency,
                                                          &wb_workload_hackbench, &wb_workload_hog,
                                                          &wb_workload_periodic,  &wb_workload_custom};
    for (size_t k = 0; k < WB_ARRAY_SIZE(kinds); k++) {
        assert_true(strlen(kinds[k]->help) > 20 && strlen(kinds[k]->weakness) > 20 && kinds[k]->real);
        for (size_t i = 0; i < kinds[k]->nkeys; i++) {
            const char *why = wb_key_lint(&kinds[k]->keys[i]);
            if (why) fail_msg("%s %s: %s", kinds[k]->kind, kinds[k]->keys[i].path, why);
        }
    }
}

/* bw_pipe moves `total` per copy, rounded as lmbench does: a total that is no multiple of the message nearly
 * doubles. */
static void bandwidth_moves_the_total(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double drains;
    } rows[] = {
        {"message = \"4 KiB\"; total = \"400 KiB\";", 100},
        {"message = \"4 KiB\"; total = \"401 KiB\";", 200.25}, /* 401 + 400 KiB, read in whole messages: 201 of them */
        {"message = \"4 KiB\"; total = \"1 KiB\";", 1},
        {"message = \"4 KiB\"; total = \"400 KiB\"; copies = 3;", 300},
        {"message = \"4 KiB\"; total = \"400 KiB\"; instances = 2;", 200}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        char text[256];
        snprintf(text, sizeof text, "kind = \"pipe_bw\"; %s", rows[i].keys);
        struct simtest t = run(text, "", "");
        near_to(machine(&t, "pipe.drains"), rows[i].drains, 1);
        assert_true(simtest_metric(&t, 0, "bandwidth") > 1e6);
        simtest_free(&t);
    }
}

static void duration_repeats_for_ever(void **state)
{
    (void)state;
    struct simtest t = run("kind = \"pipe_bw\"; message = \"4 KiB\"; total = \"4 KiB\";", "", "duration = \"20 ms\";");
    assert_true(machine(&t, "pipe.drains") > 100);
    assert_true(wb_sim_result(t.sim)->duration == 20 * WB_MS);
    simtest_free(&t);
}

/* cpus: one CPU for both ends, or handed out writer, reader, writer, reader; writer_cpus and reader_cpus win. */
static void pinning(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double colocated;
    } rows[] = {{"cpus = \"1\";", 1},
                {"cpus = \"1,3\";", 0},
                {"cpus = \"0-3\"; copies = 2;", 0},
                {"writer_cpus = \"2\"; reader_cpus = \"2\"; cpus = \"0,1\";", 1},
                {"writer_cpus = \"2\"; reader_cpus = \"3\";", 0}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        char text[256];
        snprintf(text, sizeof text, "kind = \"pipe_bw\"; total = \"4 MiB\"; %s", rows[i].keys);
        struct simtest t = run(text, "", "");
        near_to(simtest_metric(&t, 0, "colocated"), rows[i].colocated, 1e-9);
        near_to(machine(&t, "migrations.wake"), 0, 0);
        simtest_free(&t);
    }
}

static void from_cmd_wins(void **state)
{
    (void)state;
    struct simtest t = run("kind = \"pipe_bw\"; message = \"64 KiB\"; total = \"1 GiB\"; from_cmd = \"taskset -c 2 "
                           "bw_pipe -m 4k -M 40k -P 2\";",
                           "", "");
    near_to(machine(&t, "pipe.drains"), 20, 0);
    near_to(simtest_metric(&t, 0, "colocated"), 1, 1e-9);
    simtest_free(&t);
}

static void trips_and_think_time(void **state)
{
    (void)state;
    struct simtest t = run("kind = \"pipe_latency\"; trips = 1000; cpus = \"0\";", "", "");
    double plain = simtest_metric(&t, 0, "trip_time");
    near_to(simtest_metric(&t, 0, "trip_time.count"), 1000, 0);
    near_to(machine(&t, "pipe.drains"), 2 * 1001, 0); /* one untimed trip first */
    simtest_free(&t);
    t = run("kind = \"pipe_latency\"; trips = 1000; cpus = \"0\"; think = \"20 us\";", "", "");
    near_to(simtest_metric(&t, 0, "trip_time"), plain + 40e-6, 0.5e-6);
    simtest_free(&t);
    t = run("kind = \"pipe_latency\"; trips = 1000; cpus = \"0\"; threads = true;", "", "");
    assert_true(simtest_metric(&t, 0, "trip_time") < plain); /* the address space stays */
    simtest_free(&t);
    /* more than a pipe holds */
    t = run("kind = \"pipe_latency\"; trips = 300; cpus = \"0\"; message = \"200 KiB\";", "", "");
    near_to(simtest_metric(&t, 0, "trip_time.count"), 300, 0);
    simtest_free(&t);
}

static void pipe_size_needs_a_kernel_that_can(void **state)
{
    (void)state;
    struct simtest t =
        run("kind = \"pipe_bw\"; total = \"2 MiB\"; message = \"256 KiB\"; cpus = \"0\"; pipe_size = \"1 MiB\";",
            "pipe = \"6.12\";", "");
    assert_true(machine(&t, "pipe.sleeps_writer") < 4);
    simtest_free(&t);
    t = run("kind = \"pipe_bw\"; total = \"2 MiB\"; message = \"256 KiB\"; cpus = \"0\";", "pipe = \"6.12\";", "");
    assert_true(machine(&t, "pipe.sleeps_writer") > 16);
    simtest_free(&t);
}

/* Two hogs on one CPU take twice as long as two on two; a nicer one gets less. */
static void hogs_share(void **state)
{
    (void)state;
    struct simtest t = run("kind = \"hog\"; count = 2; chunks = 200; cpus = \"0,1\";", "", "");
    double apart = (double)wb_sim_result(t.sim)->duration;
    simtest_free(&t);
    t = run("kind = \"hog\"; count = 2; chunks = 200; cpus = \"0\";", "", "");
    double together = (double)wb_sim_result(t.sim)->duration;
    near_to(together / apart, 2, 0.02);
    simtest_free(&t);
    t = run("kind = \"hog\"; chunks = 100; working_set = \"32 KiB\"; chunk = \"10 us\"; cpus = \"0\";", "", "");
    assert_true(machine(&t, "time.refill") > 0);
    simtest_free(&t);
}

static void periodic_keeps_its_period(void **state)
{
    (void)state;
    struct simtest t = run("kind = \"periodic\"; run = \"1 ms\"; period = \"4 ms\"; cycles = 50;", "", "");
    near_to((double)wb_sim_result(t.sim)->duration * 1e-12, 0.2, 1e-3);
    near_to(simtest_metric(&t, 0, "lateness.count"), 50, 0);
    near_to(simtest_metric(&t, 0, "overruns"), 0, 0);
    assert_true(simtest_metric(&t, 0, "lateness") < 20e-6);
    simtest_free(&t);
    t = run("kind = \"periodic\"; run = \"5 ms\"; period = \"4 ms\"; cycles = 10;", "", "");
    near_to(simtest_metric(&t, 0, "overruns"), 10, 0);
    simtest_free(&t);
    t = run("kind = \"periodic\"; run = \"1 ms\"; sleep = \"4 ms\"; cycles = 50;", "", "");
    near_to((double)wb_sim_result(t.sim)->duration * 1e-12, 0.25, 5e-3);
    simtest_free(&t);
}

/* Segments that run inline and segments that are events give the same run, though lines are served together. */
static void hackbench_inline_or_not(void **state)
{
    (void)state;
    static const char *const kernels[] = {"linux-2.6.22", "linux-2.6.36", "linux-6.12"};
    static const struct wb_run_options inlined = {.audit = true}, posted = {.audit = true, .no_inline = true};
    for (size_t i = 0; i < WB_ARRAY_SIZE(kernels); i++) {
        char text[400];
        snprintf(
            text, sizeof text,
            "schema = 1;\nmachine : { base = \"nehalem-ep\"; };\nkernel : { base = \"%s\"; };\nworkload = ( { kind = "
            "\"hackbench\"; groups = 2; fds = 4; mode = \"thread\"; } );\nrun : { duration = \"4 ms\"; warmup = "
            "\"none\"; };\n",
            kernels[i]);
        assert_true(simtest_fingerprint(text, NULL, &inlined) == simtest_fingerprint(text, NULL, &posted));
    }
}

/* Each sender writes `loops` messages to each receiver of its group; the time begins when all are ready. */
static void hackbench_moves_its_messages(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double messages, atomics;
        bool socket;
    } rows[] = {
        {"groups = 2; fds = 3; loops = 5;", 90, 12, true},
        {"groups = 2; fds = 3; loops = 5; mode = \"thread\";", 90, 12, true},
        {"groups = 1; fds = 4; loops = 10; transport = \"pipe\"; mode = \"thread\";", 160, 0, false},
        {"from_cmd = \"hackbench 3 thread 7\"; fds = 2;", 84, 12, true},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "schema = 1;\nmachine : { base = \"nehalem-ep\"; };\nkernel : { base = \"linux-2.6.36\"; };\nworkload "
                 "= ( { "
                 "kind = \"hackbench\"; %s } );\nrun : { warmup = \"none\"; };\n",
                 rows[i].keys);
        struct simtest t = simtest_build(text, NULL, NULL);
        assert_int_equal(wb_sim_run(t.sim), 0);
        double time = simtest_metric(&t, 0, "time");
        assert_true(time > 0 && time < 0.1); /* the forks before it take longer */
        near_to(simtest_metric(&t, 0, "messages") * time, rows[i].messages, 0.5);
        if (rows[i].socket) near_to(machine(&t, "unix.messages"), rows[i].messages, 0);
        near_to(machine(&t, "unix.cred_atomics"), rows[i].messages * rows[i].atomics, 0);
        simtest_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hackbench_moves_its_messages),
                                       cmocka_unit_test(hackbench_inline_or_not),
                                       cmocka_unit_test(keys_pass_the_lint),
                                       cmocka_unit_test(bandwidth_moves_the_total),
                                       cmocka_unit_test(duration_repeats_for_ever),
                                       cmocka_unit_test(pinning),
                                       cmocka_unit_test(from_cmd_wins),
                                       cmocka_unit_test(trips_and_think_time),
                                       cmocka_unit_test(pipe_size_needs_a_kernel_that_can),
                                       cmocka_unit_test(hogs_share),
                                       cmocka_unit_test(periodic_keeps_its_period)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
