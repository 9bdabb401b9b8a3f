/*
 * Cores of several kinds (machine.cpu_speed): work takes longer on the slow ones, waiting for memory does not, and
 * kernels that know capacities put what needs one on a fast core.
 */
#include "wbtest.h"

#include "simtest.h"
#include "wakebal/kernel.h"

static const char text[] =
    "schema = 1;\nmachine : { base = \"smp2\"; topology = \"pack:1 [numa] l3:1(size=16MiB) core:4 pu:1\"; cpu_speed = "
    "[ \"0-1 40 %%\" ]; };\n"
    "kernel : { base = \"linux-%s\"; };\n"
    "workload = ( { kind = \"hog\"; count = 1; chunk = \"1 ms\"; chunks = 100; cpus = \"%s\"; start = \"0 s\"; } );\n"
    "run : { seed = 1; warmup = \"none\"; };\n";

static double seconds(const char *kernel, const char *cpu)
{
    char scenario[1024];
    snprintf(scenario, sizeof scenario, text, kernel, cpu);
    struct simtest t = simtest_build(scenario, NULL, NULL);
    (void)wb_sim_run(t.sim);
    double s = (double)wb_sim_now(t.sim) * 1e-12;
    simtest_free(&t);
    return s;
}

static void a_slow_core_takes_longer(void **state)
{
    (void)state;
    double fast = seconds("6.12", "2"), slow = seconds("6.12", "1");
    if (fast < 0.1 || fast > 0.102) fail_msg("%.4f s on a fast core", fast);
    if (slow < 0.25 || slow > 0.255) fail_msg("%.4f s on a slow core", slow);
}

/* Two tasks that compute, born on the slow cores: where are they after a second? */
static uint32_t on_fast(const char *kernel, const char *set)
{
    static const char both[] = "schema = 1;\nmachine : { base = \"smp2\"; topology = \"pack:1 [numa] l2:2(size=1MiB) "
                               "core:2 pu:1\"; cpu_speed = [ \"0-1 40 %%\" ]; };\n"
                               "kernel : { base = \"linux-%s\"; };\n"
                               "workload = ( { kind = \"custom\"; start = \"0 s\"; start_cpu = 0; tasks = ( { name = "
                               "\"t\"; count = 2; cpus = \"0-1\"; "
                               "program = [ \"run 50 ms\", \"pin 0-3\", \"loop\", \"run 1 ms\", \"end\" ]; } ); } );\n"
                               "run : { seed = 1; duration = \"1500 ms\"; warmup = \"none\"; };\n";
    char scenario[1024];
    const char *const sets[] = {set, NULL};
    snprintf(scenario, sizeof scenario, both, kernel);
    struct simtest t = simtest_build(scenario, sets, NULL);
    (void)wb_sim_run(t.sim);
    uint32_t n = 0;
    for (task_id i = 0; i < wb_ntasks(t.sim); i++) {
        const struct wb_task *k = wb_task_of(t.sim, i);
        n += !k->kthread && k->cpu >= 2;
    }
    simtest_free(&t);
    return n;
}

static void misfits_go_to_the_fast_cores(void **state)
{
    (void)state;
    static const char *const knows[] = {"5.4", "5.15", "6.1", "6.6", "6.12", "6.18"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(knows); i++)
        if (on_fast(knows[i], NULL) != 2) fail_msg("%s leaves tasks on slow cores", knows[i]);
    /* A kernel that believes that all are alike moves one to the idle group of two, no more. */
    assert_int_equal(on_fast("6.12", "policy.cpu_capacity=[\"0-3 1024\"]"), 1);
    assert_int_equal(on_fast("2.6.24", NULL), 1);
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"machine.cpu_speed=[\"0-9 40 %\"]", "machine.cpu_speed=[\"0 0.5 %\"]",
                                        "machine.cpu_speed=[\"0 140 %\"]", "machine.cpu_speed=[\"40 %\"]",
                                        "machine.cpu_speed=[\"0-1\"]"};
    char scenario[1024];
    snprintf(scenario, sizeof scenario, text, "6.12", "1");
    for (size_t i = 0; i < WB_ARRAY_SIZE(wrong); i++) {
        const char *const sets[] = {wrong[i], NULL};
        char *shown = simtest_refused(scenario, sets);
        if (!strstr(shown, "machine.cpu_speed: no CPUs and speed")) fail_msg("%s: %s", wrong[i], shown);
        free(shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_core_takes_longer),
        cmocka_unit_test(misfits_go_to_the_fast_cores),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
