/*
 * Fairness with everything there is: engine, ticks that cost time, placement, balancing. Tasks that compute all the
 * time, pinned so many to a CPU, get CPU in proportion to their weights: within 1 % over 10 simulated seconds, or one
 * run where that is more. Audited.
 */
#include "wbtest.h"

#include "fair.h"
#include "simtest.h"

enum { CPUS = 16, PER_CPU = 4 };

static const int nices[PER_CPU] = {0, 3, -2, 0};

/* `per` tasks on each of `cpus` CPUs. */
static void scenario(char *text, size_t n, const char *release, int cpus, int per)
{
    int at =
        snprintf(text, n,
                 "schema = 1;\nmachine : { topology = \"[numa] pack:1 l2:1 core:%d pu:1\"; };\n"
                 "kernel : { base = \"linux-%s\"; };\nrun : { duration = \"10 s\"; warmup = \"none\"; };\nworkload = (",
                 cpus, release);
    for (int c = 0; c < cpus; c++)
        for (int i = 0; i < per; i++)
            at += snprintf(text + at, n - (size_t)at, "%s { kind = \"hog\"; cpus = \"%d\"; nice = %d; }",
                           c || i ? "," : "", c, nices[i]);
    (void)snprintf(text + at, n - (size_t)at, " );\n");
}

/* Slice of the version on so many CPUs for the heaviest of `per` tasks, and two ticks. */
static double one_run(enum fair_release v, int cpus, int per)
{
    const struct fair_version *f = &fair_version[v];
    double factor = 1 + (cpus >= 2) + (cpus >= 4) + (cpus >= 8) + (cpus >= 16 && !f->scale_cpus);
    if (f->order == FAIR_EEVDF) return (double)f->base_slice * factor + 8e6;
    double latency = (double)f->latency * factor;
    if (f->scale_cap && latency > (double)f->scale_cap) latency = (double)f->scale_cap;
    return (per > 1 ? latency * 0.65 : latency) + 8e6; /* nice -2 among them: at most 0.65 of the weight */
}

static void check_cpu(struct simtest *t, enum fair_release v, int cpus, int per, task_id first)
{
    double weight = 0, ran = 0;
    for (int i = 0; i < per; i++) {
        weight += (double)weights_of_nice(nices[i]).value;
        ran += (double)wb_task_totals(wb_task_of(t->sim, first + (task_id)i))->run_total / 1000;
    }
    assert_near(ran, 10e9, 0.02 * 10e9); /* ticks and starting take the rest */
    for (int i = 0; i < per; i++) {
        double want = ran * (double)weights_of_nice(nices[i]).value / weight, slack = one_run(v, cpus, per);
        double got = (double)wb_task_totals(wb_task_of(t->sim, first + (task_id)i))->run_total / 1000;
        if (slack < 0.01 * want) slack = 0.01 * want;
        if (got > want + slack || got < want - slack)
            fail_msg("%s, %d of %d CPUs: task %d of nice %d ran %.4f s, fair %.4f s", fair_version[v].name, cpus, per,
                     i, nices[i], got / 1e9, want / 1e9);
    }
}

static void shares(int cpus, int per)
{
    static char text[16384];
    const struct wb_run_options opt = {.audit = cpus == 1, .task_totals = true};
    for (enum fair_release v = 0; v < FAIR_RELEASES; v++) {
        scenario(text, sizeof text, fair_version[v].name, cpus, per);
        struct simtest t = simtest_build(text, NULL, &opt);
        assert_int_equal(wb_sim_run(t.sim), 0);
        task_id first = 0;
        while (wb_task_of(t.sim, first)->kthread) first++;
        for (int c = 0; c < cpus; c++) check_cpu(&t, v, cpus, per, first + (task_id)(c * per));
        simtest_free(&t);
    }
}

static void one_cpu_two_tasks(void **state)
{
    (void)state;
    shares(1, 2);
}
static void one_cpu_four_tasks(void **state)
{
    (void)state;
    shares(1, 4);
}
static void four_cpus_twelve_tasks(void **state)
{
    (void)state;
    shares(4, 3);
}
static void sixteen_cpus_sixty_four_tasks(void **state)
{
    (void)state;
    shares(16, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cpu_two_tasks),
        cmocka_unit_test(one_cpu_four_tasks),
        cmocka_unit_test(four_cpus_twelve_tasks),
        cmocka_unit_test(sixteen_cpus_sixty_four_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
