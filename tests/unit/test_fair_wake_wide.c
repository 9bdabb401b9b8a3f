/* Whole simulations: affine wakeups help a pair and hurt a waker of many, whom wake_wide() leaves out. */
#include "simtest.h"
#include "wbtest.h"

/* Two caches of four CPUs on two nodes. */
#define MACHINE \
    "schema = 1;\nkernel : { base = \"linux-5.4\"; };\n" \
    "machine : { base = \"smp16\"; topology = \"pack:2 [numa] l3:1(size=20MiB) core:4 pu:1\"; };\n"

/* One dispatcher of seven workers. A worker computes for 300 us on average and answers; every second time it tells a
 * logger too, so that it has flips of its own. */
static const char many[] = MACHINE
    "workload = ( { kind = \"custom\"; start_cpu = 0;\n"
    "  events = [ \"e0 0\", \"e1 0\", \"e2 0\", \"e3 0\", \"e4 0\", \"e5 0\", \"e6 0\", \"done 0\", \"log\" ];\n"
    "  tasks = (\n"
    "  { name = \"boss\"; program = [ \"loop 1000000\", \"wake e0 sync\", \"wake e1 sync\", \"wake e2 sync\", \"wake "
    "e3 sync\",\n"
    "    \"wake e4 sync\", \"wake e5 sync\", \"wake e6 sync\", \"wait done\", \"wait done\", \"wait done\", \"wait "
    "done\",\n"
    "    \"wait done\", \"wait done\", \"wait done\", \"count rounds\", \"end\" ]; },\n"
#define WORKER(n) \
    "  { name = \"w" n "\"; program = [ \"loop 1000000\", \"wait e" n \
    "\", \"run exp(300 us)\", \"wake log\", \"wake done\", \"wait e" n \
    "\", \"run exp(300 us)\", \"wake done\", \"end\" ]; },\n"
    WORKER("0") WORKER("1") WORKER("2") WORKER("3") WORKER("4") WORKER("5")
        WORKER("6") "  { name = \"logger\"; program = [ \"loop 1000000\", \"wait log\", \"end\" ]; } ); } );\n"
                    "run : { seed = 7L; duration = \"2 s\"; warmup = \"200 ms\"; };\n";

/* Two tasks that answer each other, left on two nodes by their affinity, which is then lifted. */
static const char pair[] =
    MACHINE "workload = ( { kind = \"custom\"; start_cpu = 0; events = [ \"a 0\", \"b 0\" ]; tasks = (\n"
            "  { name = \"a\"; program = [ \"pin 0\", \"run 1 ms\", \"pin 0-7\", \"loop 1000000\", \"wake b sync\",\n"
            "    \"wait a\", \"count trips\", \"end\" ]; },\n"
            "  { name = \"b\"; program = [ \"pin 4\", \"run 1 ms\", \"pin 0-7\", \"loop 1000000\", \"wait b\",\n"
            "    \"wake a sync\", \"end\" ]; } ); } );\n"
            "run : { seed = 7L; duration = \"300 ms\"; warmup = \"50 ms\"; };\n";

static double rate(const char *text, const char *metric, const char *kernel, const char *set)
{
    const char *const sets[] = {kernel, set, NULL};
    struct simtest t = simtest_build(text, sets, NULL);
    (void)wb_sim_run(t.sim);
    double v = simtest_metric(&t, 0, metric);
    simtest_free(&t);
    return v;
}

static void one_waker_of_many(const char *kernel)
{
    double wide = rate(many, "rounds", kernel, "policy.wake_wide=true");
    double pulled = rate(many, "rounds", kernel, "policy.wake_wide=false");
    double left = rate(many, "rounds", kernel, "policy.wake_affine=false");
    if (!(wide > 1.04 * pulled)) fail_msg("1:N, %s: %g rounds with wake_wide, %g without", kernel, wide, pulled);
    if (!(left > 1.04 * pulled)) fail_msg("1:N, %s: %g rounds without affine wakeups, %g with", kernel, left, pulled);
}

/* A pair on two nodes comes together within a cache, and has no use for wake_wide(). */
static void one_waker_of_one(const char *kernel)
{
    double pulled = rate(pair, "trips", kernel, "policy.wake_wide=true");
    double narrow = rate(pair, "trips", kernel, "policy.wake_wide=false");
    double left = rate(pair, "trips", kernel, "policy.wake_affine=false");
    if (!(pulled > 1.04 * left)) fail_msg("1:1, %s: %g trips with affine wakeups, %g without", kernel, pulled, left);
    assert_true(pulled == narrow);
}

static void signs_of_wake_wide(void **state)
{
    (void)state;
    static const char *const kernels[] = {"kernel.base=linux-5.4", "kernel.base=linux-6.12"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(kernels); i++) {
        one_waker_of_many(kernels[i]);
        one_waker_of_one(kernels[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_of_wake_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
