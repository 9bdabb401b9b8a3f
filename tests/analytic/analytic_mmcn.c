/* Closed M/M/c//N queue: N tasks run exp(S) and sleep exp(Z) on c CPUs with one first-in first-out queue. Throughput
 * and share of busy CPUs against the exact solution, within the interval of the replications. Path costs are not zero
 * but a ten-thousandth of S. */
#include "wbtest.h"

#include "simtest.h"
#include "testpol.h"

#include <math.h>

enum { REPLICATIONS = 8 };

/* Product form: p(n) ~ C(N, n) (S / Z)^n for n <= c, times n! / (c! c^(n - c)) beyond. Throughput = sum p(n) min(n,
 * c) / S. */
static double exact_throughput(unsigned c, unsigned n_tasks, double s, double z)
{
    double p = 1, sum = 1, busy = 0;
    for (unsigned n = 1; n <= n_tasks; n++) {
        double servers = n < c ? n : c;
        p *= (n_tasks - n + 1) * s / (z * servers);
        sum += p;
        busy += p * servers;
    }
    return busy / sum / s;
}

static void compare(unsigned c, unsigned n_tasks, double run_ms, double sleep_ms)
{
    char text[1024];
    double sum = 0, squares = 0;
    (void)snprintf(
        text, sizeof text,
        "schema = 1;\nmachine : { topology = \"[numa] pack:1 l3:1 core:%u pu:1\"; };\n"
        "kernel : { scheduler = \"testpol\"; hz = 10; };\n"
        "workload = ( { kind = \"periodic\"; count = %u; run = \"exp(%g ms)\"; sleep = \"exp(%g ms)\"; } );\n"
        "run : { duration = \"100 s\"; warmup = \"5 s\"; };\n",
        c, n_tasks, run_ms, sleep_ms);
    for (uint32_t r = 0; r < REPLICATIONS; r++) {
        struct simtest t = simtest_build_replication(text, NULL, NULL, r);
        (void)wb_sim_run(t.sim);
        double v = simtest_metric(&t, 0, "cycles");
        sum += v;
        squares += v * v;
        simtest_free(&t);
    }
    double mean = sum / REPLICATIONS, sd = sqrt((squares - sum * mean) / (REPLICATIONS - 1));
    double half = 3.50 * sd / sqrt(REPLICATIONS); /* t, 7 degrees of freedom, 99 % */
    double exact = exact_throughput(c, n_tasks, run_ms / 1000, sleep_ms / 1000);
    if (fabs(mean - exact) > half + 3e-4 * exact)
        fail_msg("c=%u N=%u: %.3f/s +- %.3f, exact %.3f/s", c, n_tasks, mean, half, exact);
    if (half > 0.03 * exact) fail_msg("c=%u N=%u: the interval is %.1f %% wide", c, n_tasks, 100 * half / exact);
}

static void one_server(void **state)
{
    (void)state;
    compare(1, 3, 20, 40);
}
static void several_servers(void **state)
{
    (void)state;
    compare(2, 5, 20, 30);
    compare(4, 9, 20, 25);
}
static void saturated(void **state)
{
    (void)state;
    compare(3, 30, 20, 20);
}

int main(void)
{
    static const struct wb_policy_ops *const policies[] = {&testpol_ops, NULL};
    simtest_policies = policies;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_server),
        cmocka_unit_test(several_servers),
        cmocka_unit_test(saturated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
