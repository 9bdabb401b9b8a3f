/* Kept affinity masks: each set once, single CPUs from the table; many of them in no time. */
#include "sim.h"

#include "simtest.h"
#include "wbtest.h"

static const char machine[] =
    "schema = 1;\nmachine : { topology = \"pack:130 core:2 pu:1\"; };\nkernel : { base = \"linux-2.6.22\"; };\n"
    "workload = ( { kind = \"hog\"; cpus = \"all\"; count = 300; } );\n"
    "run : { duration = \"1 ms\"; warmup = \"none\"; };\n";

static struct wb_cpumask fresh(uint64_t *words, uint32_t ncpus)
{
    struct wb_cpumask m = {.ncpus = ncpus, .nwords = WB_CPUMASK_WORDS(ncpus), .w = words};
    memset(words, 0, m.nwords * sizeof *words);
    return m;
}

static void each_set_is_kept_once(void **state)
{
    (void)state;
    struct simtest t = simtest_build(machine, NULL, NULL);
    t.sim->arena.sealed = false; /* masks are of build time */
    uint64_t words[8];
    uint32_t n = wb_ncpus(t.sim);
    assert_int_equal(n, 260);
    const struct wb_cpumask *first[260];
    for (int round = 0; round < 2; round++)
        for (cpu_id c = 0; c < n; c++) {
            struct wb_cpumask m = fresh(words, n);
            for (cpu_id k = 0; k <= c; k++) wb_mask_set(&m, (c * 7 + k * 3) % n);
            const struct wb_cpumask *k = wb_mask_keep(t.sim, &m);
            assert_ptr_not_equal(k, &m);
            assert_true(wb_mask_equal(k, &m));
            if (round) assert_ptr_equal(k, first[c]);
            first[c] = k;
        }
    for (cpu_id c = 1; c < n; c++) assert_ptr_not_equal(first[c], first[c - 1]);
    simtest_free(&t);
}

static void single_cpus_are_one_table(void **state)
{
    (void)state;
    struct simtest t = simtest_build(machine, NULL, NULL);
    t.sim->arena.sealed = false;
    uint64_t words[8];
    for (cpu_id c = 0; c < wb_ncpus(t.sim); c++) {
        struct wb_cpumask m = fresh(words, wb_ncpus(t.sim));
        wb_mask_set(&m, c);
        const struct wb_cpumask *one = wb_mask_one(t.sim, c);
        assert_true(wb_mask_equal(one, &m));
        assert_ptr_equal(wb_mask_keep(t.sim, &m), one);
        assert_int_equal(wb_mask_count(one), 1);
        assert_int_equal(wb_mask_first(one), c);
    }
    /* The hogs were handed out one to a CPU, round about. */
    for (uint32_t i = 0; i < 300; i++) assert_ptr_equal(t.sim->task[2 * 260 + i]->allowed, wb_mask_one(t.sim, i % 260));
    simtest_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_set_is_kept_once),
        cmocka_unit_test(single_cpus_are_one_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
