/* FreeBSD kernels in the engine: the same bytes posted, ticked, audited; idle CPUs that are told, poll, or wait for
 * their tick; one kernel lock serialises, and is free at the end. */
#include "simtest.h"
#include "wbtest.h"

static const char *const kernels[] = {"freebsd-4.7", "freebsd-5.2", "freebsd-5.2-ule"};
static const char *const topos[] = {"pack:1 core:2 pu:1", "pack:4 core:1 pu:1", "pack:2 core:2 pu:2"};

static void scenario(char *buf, size_t n, const char *kernel, const char *topo, uint32_t i)
{
    (void)snprintf(
        buf, n,
        "schema = 1;\nmachine : { topology = \"%s\"; };\n"
        "kernel : { base = \"%s\"; noise = ( { gap = \"exp(300 us)\"; cost = \"uniform(1 us, 20 us)\"; } ); };\n"
        "workload = ( { name = \"a\"; kind = \"pipe_bw\"; message = \"64 KiB\"; copies = %u; },\n"
        "  { name = \"b\"; kind = \"pipe_latency\"; think = \"exp(5 us)\"; },\n"
        "  { name = \"c\"; kind = \"periodic\"; run = \"exp(3 ms)\"; sleep = \"exp(20 ms)\"; count = %u; },\n"
        "  { name = \"d\"; kind = \"hog\"; count = %u; nice = %d; } );\n"
        "run : { duration = \"%u ms\"; warmup = \"100 ms\"; seed = %u; start_spread = \"50 ms\"; };\n",

        /* what comes once a second comes once */
        topo, kernel, 1 + i % 2, 1 + i % 3, 1 + i % 3, (int)(i % 5) - 2, 1100 + 20 * i, i);
}

static void same_bytes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 9; i++) {
        char text[2048];
        scenario(text, sizeof text, kernels[i % 3], topos[i / 3], i + 1);
        uint64_t plain = simtest_fingerprint(text, NULL, NULL);
        uint64_t posted = simtest_fingerprint(text, NULL, &(struct wb_run_options){.no_inline = true});
        uint64_t audited = simtest_fingerprint(text, NULL, &(struct wb_run_options){.audit = true, .no_elide = true});
        if (posted != plain || audited != plain)
            fail_msg("scenario %u: posted %d ticked and audited %d\n%s", i, posted == plain, audited == plain, text);
    }
}

static double metric(const char *text, const char *const *sets, const char *name)
{
    struct simtest t = simtest_build(text, sets, NULL);
    wb_sim_run(t.sim);
    double v = simtest_metric(&t, UINT32_MAX, name);
    simtest_free(&t);
    return v;
}

/* Over some replications: of single ones it varies by a tenth. */
static double mean(const char *text, const char *const *sets, const char *name)
{
    enum { REPLICATIONS = 4 };
    double sum = 0;
    for (uint32_t i = 0; i < REPLICATIONS; i++) {
        struct simtest t = simtest_build_replication(text, sets, NULL, i);
        (void)wb_sim_run(t.sim);
        sum += simtest_metric(&t, UINT32_MAX, name);
        simtest_free(&t);
    }
    return sum / REPLICATIONS;
}

#define PIPE_PAIR \
    "schema = 1;\nmachine : { base = \"smp2\"; };\nkernel : { base = \"freebsd-5.2\"; };\n" \
    "workload = ( { kind = \"pipe_latency\"; think = \"300 us\"; } );\n" \
    "run : { duration = \"2 s\"; warmup = \"200 ms\"; seed = 3; };\n"

/* Signature of 5.2.1: a writer and its reader share one CPU while the other one halts and is told nothing; it
 * polls or gets an interrupt, and they run apart. */
static void halted_cpus_are_left_alone(void **state)
{
    (void)state;
    static const char pipe[] = "schema = 1;\nmachine : { base = \"smp2\"; };\nkernel : { base = \"freebsd-5.2\"; };\n"
                               "workload = ( { kind = \"pipe_bw\"; message = \"4 KiB\"; } );\n"
                               "run : { duration = \"600 ms\"; warmup = \"200 ms\"; seed = 3; };\n";
    double halted = mean(pipe, NULL, "idle_while_work_waits");
    double polled = mean(pipe, (const char *const[]){"kernel.idle=poll", NULL}, "idle_while_work_waits");
    double told = mean(pipe, (const char *const[]){"policy.wake_ipi=true", NULL}, "idle_while_work_waits");
    /* Telling costs an interrupt, during which the work goes on waiting: polling gains more. */
    if (!(halted > 1.5 * polled && halted > 1.25 * told && polled < told))
        fail_msg("halted %g polled %g told %g", halted, polled, told);
    assert_true(metric(pipe, NULL, "migrations") < 300); /* at most each tick */
    assert_true(metric(pipe, (const char *const[]){"kernel.idle=poll", NULL}, "ipis") == 0);
}

/* Two pairs of pipes on four CPUs: with the one lock they wait for each other in the kernel, without it they do not. */
static void the_big_lock_is_waited_for(void **state)
{
    (void)state;
    static const char two[] =
        "schema = 1;\nmachine : { topology = \"pack:1 core:4 pu:1\"; };\nkernel : { base = \"freebsd-4.7\"; };\n"
        "workload = ( { kind = \"pipe_bw\"; message = \"64 KiB\"; copies = 2; } );\n"
        "run : { duration = \"300 ms\"; warmup = \"50 ms\"; seed = 3; };\n";
    double with = metric(two, NULL, "time.lock");
    double without = metric(two, (const char *const[]){"kernel.big_lock=false", NULL}, "time.lock");
    assert_true(with > 0.1);
    assert_true(without < with / 2);
}

/* Taking a task from the queue is a migration of its own kind. */
static void picks_are_counted(void **state)
{
    (void)state;
    assert_true(metric(PIPE_PAIR, NULL, "migrations") == metric(PIPE_PAIR, NULL, "migrations.pick"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(halted_cpus_are_left_alone),
        cmocka_unit_test(the_big_lock_is_waited_for),
        cmocka_unit_test(picks_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
