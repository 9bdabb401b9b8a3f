/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/*
 * Closed M/M/c//N queue (machine repairmen): N tasks run exp(S) and sleep exp(Z) on c CPUs with one first-in first-out
 * queue, at no cost. Throughput, share of busy CPUs, tasks that wait and how long they wait, each against the exact
 * solution, within the interval of the replications.
 *
 * The intervals hold together with 95 %: each of the figures gets a confidence of 1 - 5 % / figures (Bonferroni), for
 * with sixty of them some would miss a 95 % interval of their own in most seeds.
 */
#include "wbtest.h"

#include "exp_stats.h"
#include "steptest.h"
#include "testpol.h"

enum { REPLICATIONS = 12, FIGURES = 4 };

static const struct queue {
    unsigned c, n;
    double run_ms, sleep_ms;
} queues[] = {
    {1, 1, 20, 40}, {1, 3, 20, 40},  {1, 8, 20, 200},  {1, 16, 20, 20}, /* the last one: always busy */
    {2, 2, 20, 30}, {2, 5, 20, 30},  {2, 16, 20, 140}, {3, 30, 20, 20}, /* far too many for the CPUs */
    {4, 9, 20, 25}, {4, 16, 20, 60}, {4, 16, 20, 400},
};
static const char *const figure_name[FIGURES] = {"throughput", "busy share", "waiting tasks", "wait"};

/* p(n) ~ C(N, n) (S / Z)^n for n <= c, times n! / (c! c^(n - c)) beyond. The wait follows from Little's law. */
static void exact(const struct queue *q, double figure[FIGURES])
{
    double p = 1, sum = 1, busy = 0, waiting = 0, s = q->run_ms / 1000, z = q->sleep_ms / 1000;
    for (unsigned n = 1; n <= q->n; n++) {
        double servers = n < q->c ? n : q->c;
        p *= (q->n - n + 1) * s / (z * servers);
        sum += p;
        busy += p * servers;
        waiting += p * (n - servers);
    }
    figure[0] = busy / sum / s;
    figure[1] = busy / sum / q->c;
    figure[2] = waiting / sum;
    figure[3] = figure[2] / figure[0];
}

static void simulate(const struct queue *q, uint32_t replication, double figure[FIGURES])
{
    char text[12288];
    int n = snprintf(text, sizeof text,
                     "schema = 1;\nmachine : { topology = \"[numa] pack:1 l3:1 core:%u pu:1\"; %s };\n"
                     "kernel : { scheduler = \"testpol\"; hz = 10; path : { %s}; };\n"
                     "workload = ( { kind = \"periodic\"; count = %u; run = \"exp(%g ms)\"; sleep = \"exp(%g ms)\"; } "
                     ");\nrun : { duration = \"100 s\"; warmup = \"5 s\"; };\n",
                     q->c, steptest_free_machine, steptest_free_paths("testpol"), q->n, q->run_ms, q->sleep_ms);
    assert_true(n > 0 && (size_t)n < sizeof text);
    struct simtest t = simtest_build_replication(text, NULL, NULL, replication);
    (void)wb_sim_run(t.sim);
    figure[0] = simtest_metric(&t, 0, "cycles");
    figure[1] = simtest_metric(&t, UINT32_MAX, "time.user");
    figure[3] = simtest_metric(&t, UINT32_MAX, "run_delay");
    figure[2] = figure[0] * figure[3];
    assert_near(figure[1] + simtest_metric(&t, UINT32_MAX, "time.idle"), 1, 1e-12);
    simtest_free(&t);
}

static void compare(const struct queue *q)
{
    double want[FIGURES], got[REPLICATIONS][FIGURES], sample[REPLICATIONS];
    const double confidence = 1 - 0.05 / (FIGURES * WB_ARRAY_SIZE(queues));
    exact(q, want);
    for (uint32_t r = 0; r < REPLICATIONS; r++) simulate(q, r, got[r]);
    for (int k = 0; k < FIGURES; k++) {
        for (uint32_t r = 0; r < REPLICATIONS; r++) sample[r] = got[r][k];
        struct exp_summary s = exp_summarize(sample, REPLICATIONS, confidence);
        double slack = 1e-4 * want[k] + 1e-9; /* draws are whole ps from a table: the mean is that exact */
        if (s.lo - slack > want[k] || s.hi + slack < want[k])
            fail_msg("c=%u N=%u %s: %.6g .. %.6g, exact %.6g", q->c, q->n, figure_name[k], s.lo, s.hi, want[k]);
        if (want[k] > 0.1 && s.hi - s.lo > 0.2 * want[k])
            fail_msg("c=%u N=%u %s: %.6g .. %.6g is too wide to say anything", q->c, q->n, figure_name[k], s.lo, s.hi);
    }
}

static void within_the_interval(void **state)
{
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(queues); i++) compare(&queues[i]);
}

int main(void)
{
    static const struct wb_policy_ops *const policies[] = {&testpol_ops, NULL};
    simtest_policies = policies;
    const struct CMUnitTest tests[] = {cmocka_unit_test(within_the_interval)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
