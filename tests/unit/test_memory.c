/* Memory of a large simulation by its own count: bytes per task, with and without what the CPUs take. */
#include "simtest.h"
#include "wbtest.h"

/* Bytes for all that 1024 CPUs and 16384 tasks take, and for what is left of it without the CPUs: bounds against
 * creeping growth, a little above what there is. */
struct bound {
    const char *kernel;
    size_t whole, without_cpus;
};
static const struct bound bounds[] = {{"linux-2.6.22", 1160, 928}, {"linux-6.12", 1440, 1216}};

static void scenario(char *buf, size_t n, const char *kernel, uint32_t packages, uint32_t tasks)
{
    (void)snprintf(
        buf, n,
        "schema = 1;\nmachine : { base = \"smp2\"; topology = \"pack:%u [numa] l3:1(size=20MiB) core:8 "
        "pu:1\"; };\nkernel : { base = \"%s\"; };\n"
        "workload = ( { name = \"pairs\"; kind = \"pipe_latency\"; copies = %u; message = \"100 B\"; "
        "think = \"exp(20 us)\"; },\n  { name = \"hogs\"; kind = \"hog\"; count = %u; chunk = \"1 ms\"; } );\n"
        "run : { seed = 1; duration = \"100 us\"; warmup = \"none\"; };\n",
        packages, kernel, tasks * 3 / 8, tasks / 4);
}

static struct wb_memory built(const char *kernel, uint32_t packages, uint32_t tasks, struct wb_memory *after)
{
    char text[1024];
    struct wb_memory m;
    scenario(text, sizeof text, kernel, packages, tasks);
    struct simtest t = simtest_build(text, NULL, NULL);
    wb_sim_memory(t.sim, &m);
    wb_sim_run(t.sim);
    wb_sim_memory(t.sim, after);
    simtest_free(&t);
    return m;
}

static void check(const struct bound *b, const char *when, const struct wb_memory *m)
{
    size_t whole = m->total / m->ntasks, tasks = (m->total - m->cpus - m->machine) / m->ntasks;
    print_message("%s %s: %u CPUs, %u tasks: %zu bytes a task, %zu without the CPUs; %zu bytes a CPU\n", b->kernel,
                  when, m->ncpus, m->ntasks, whole, tasks, m->cpus / m->ncpus);
    assert_int_equal(m->ncpus, 1024);
    assert_int_equal(m->ntasks, 16384);
    assert_int_equal(m->total, m->cpus + m->tasks + m->stacks + m->machine + m->state + m->events + m->other);
    assert_in_range(whole, 512, b->whole);
    assert_in_range(tasks, 512, b->without_cpus);
}

static void bytes_do_not_creep_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(bounds); i++) {
        struct wb_memory after, m = built(bounds[i].kernel, 128, 16384, &after);
        check(&bounds[i], "built", &m);
        check(&bounds[i], "run", &after);
        assert_true(after.total - m.total < 1 << 20); /* only touched pages of reserves come to it */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_do_not_creep_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
