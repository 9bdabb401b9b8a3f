/* test_topology.c - synthetic strings, tables, numbering, distances, errors that point at the column, size at 4096
 * CPUs. */
#include <pthread.h>

#include "machine_fixture.h"

#include <malloc.h>
#include <time.h>

static void expect_numbers(const struct wb_topology *t, enum wb_topo_level l, cpu_id c, const char *want)
{
    char got[200];
    uint32_t n;
    const cpu_id *cpu = wb_topo_members(t, l, c, &n);
    size_t used = 0;
    got[0] = 0;
    for (uint32_t i = 0; i < n; i++) used += (size_t)snprintf(got + used, sizeof got - used, i ? ",%u" : "%u", cpu[i]);
    assert_string_equal(got, want);
    const struct wb_cpumask *m = wb_topo_mask(t, l, c);
    if (n == 1) {
        assert_null(m);
        return;
    }
    assert_non_null(m);
    assert_int_equal(wb_mask_count(m), n);
    for (uint32_t i = 0; i < n; i++) assert_true(wb_mask_test(m, cpu[i]));
}

static void nehalem_with_linux_numbers(void **state)
{
    (void)state;
    struct wb_topology *t = fixture_topology(
        "pack:2 [numa(memory=8GB)] l3:1(size=8388608) core:4 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)");
    assert_int_equal(t->ncpus, 16);
    assert_int_equal(t->nsmt, 2);
    assert_int_equal(t->nlevels, 3);
    expect_numbers(t, WB_LVL_CORE, 0, "0,8");
    expect_numbers(t, WB_LVL_CORE, 15, "7,15");
    expect_numbers(t, WB_LVL_LLC, 9, "0,1,2,3,8,9,10,11");
    expect_numbers(t, WB_LVL_PACKAGE, 4, "4,5,6,7,12,13,14,15");
    expect_numbers(t, WB_LVL_NODE, 4, "4,5,6,7,12,13,14,15");
    assert_int_equal(t->smt_index[8], 1);
    assert_int_equal(t->node_memory[1], 8000000000ull);
    assert_int_equal(t->node_distance[0], 10);
    assert_int_equal(t->node_distance[1], 20);
    assert_int_equal(wb_topo_distance(t, 0, 0), WB_FAR_SELF);
    assert_int_equal(wb_topo_distance(t, 0, 8), WB_FAR_SMT);
    assert_int_equal(wb_topo_distance(t, 0, 3), WB_FAR_LLC);
    assert_int_equal(wb_topo_distance(t, 0, 4), WB_FAR_REMOTE);
    wb_topology_free(t);
}

static void bus_machine_and_shared_l2(void **state)
{
    (void)state;
    struct wb_topology *t = fixture_topology("[numa] pack:4 l3:1(size=6291456) core:1 pu:1");
    assert_int_equal(t->ncpus, 4);
    assert_int_equal(wb_topo_distance(t, 0, 3), WB_FAR_NODE);
    assert_int_equal(t->cache[wb_topo_cache_of(t, 2, 2)].size, 6291456);
    expect_numbers(t, WB_LVL_NODE, 0, "0,1,2,3");
    expect_numbers(t, WB_LVL_LLC, 2, "2");
    wb_topology_free(t);

    /* Harpertown: pairs share the L2, which is the last level; two pairs in a package. */
    t = fixture_topology("[numa] pack:2 l2:2(size=6MiB) core:2 pu:1");
    assert_int_equal(t->nlevels, 2);
    expect_numbers(t, WB_LVL_LLC, 5, "4,5");
    assert_int_equal(wb_topo_distance(t, 0, 1), WB_FAR_LLC);
    assert_int_equal(wb_topo_distance(t, 0, 2), WB_FAR_PACKAGE);
    assert_int_equal(wb_topo_distance(t, 0, 4), WB_FAR_NODE);
    wb_topology_free(t);

    /* A cluster: two cores on one L2 below an L3. */
    t = fixture_topology("l3:1 l2:2 core:2 pu:1");
    assert_int_equal(wb_topo_distance(t, 0, 1), WB_FAR_CLUSTER);
    assert_int_equal(wb_topo_distance(t, 0, 2), WB_FAR_LLC);
    wb_topology_free(t);
}

static void number(const char *text, enum wb_numbering how, const char *core0, const char *package0)
{
    struct wb_topo_options opt = fixture_options();
    opt.numbering = how;
    struct wb_diag *d = wb_diag_new();
    struct wb_topology *t = wb_topo_from_synthetic(text, &opt, d);
    assert_non_null(t);
    expect_numbers(t, WB_LVL_CORE, 0, core0);
    expect_numbers(t, WB_LVL_PACKAGE, 0, package0);
    wb_topology_free(t);
    wb_diag_free(d);
}

static void named_numberings(void **state)
{
    (void)state;
    const char *text = "pack:2 l3:1 core:2 pu:2";
    number(text, WB_NUMBER_DEFAULT, "0,1", "0,1,2,3");
    number(text, WB_NUMBER_SMT_FIRST, "0,1", "0,1,2,3");
    number(text, WB_NUMBER_SMT_LAST, "0,4", "0,1,4,5");
    number(text, WB_NUMBER_INTERLEAVED, "0,4", "0,2,4,6");
}

static void numbering_table(void **state)
{
    (void)state;
    const uint32_t good[] = {3, 2, 1, 0}, twice[] = {0, 1, 1, 2}, big[] = {0, 1, 2, 4};
    struct wb_topo_options opt = fixture_options();
    opt.numbering = WB_NUMBER_TABLE;
    opt.numbers = good;
    opt.nnumbers = 4;
    struct wb_diag *d = wb_diag_new();
    struct wb_topology *t = wb_topo_from_synthetic("core:2 pu:2", &opt, d);
    assert_non_null(t);
    expect_numbers(t, WB_LVL_CORE, 3, "2,3");
    wb_topology_free(t);
    opt.numbers = twice;
    assert_null(wb_topo_from_synthetic("core:2 pu:2", &opt, d));
    opt.numbers = big;
    assert_null(wb_topo_from_synthetic("core:2 pu:2", &opt, d));
    opt.nnumbers = 3;
    assert_null(wb_topo_from_synthetic("core:2 pu:2", &opt, d));
    char *text = wb_diag_render(d, false);
    assert_non_null(strstr(text, "1 appears twice"));
    assert_non_null(strstr(text, "4 at position 3 is not a CPU (0..3)"));
    assert_non_null(strstr(text, "3 numbers for 4 CPUs"));
    free(text);
    wb_diag_free(d);
}

/* text must fail with `message` at column `col` (counted from 1 inside the string). */
static void refuse(const char *text, int col, const char *message)
{
    struct wb_topo_options opt = fixture_options();
    opt.place = (struct wb_place){.file = "m.cfg", .line = 6, .col = 15};
    struct wb_diag *d = wb_diag_new();
    assert_null(wb_topo_from_synthetic(text, &opt, d));
    char *shown = wb_diag_render(d, false);
    char head[300];
    snprintf(head, sizeof head, "m.cfg:6:%d: error: topology string: %s", 14 + col, message);
    if (strncmp(shown, head, strlen(head))) fail_msg("wanted '%s'\n   got '%s'", head, shown);
    free(shown);
    wb_diag_free(d);
}

static void mistakes_point_at_their_column(void **state)
{
    (void)state;
    refuse("pack:4 l3:x core:1 pu:1", 11, "'x' is not a count");
    refuse("pack:4 l3: core:1 pu:1", 11, "'' is not a count");
    refuse("pack:4 l3:0 core:1 pu:1", 11, "a count of 0");
    refuse("pack:2 l9:1 pu:1", 8, "'l9' is not a level");
    refuse("pack:2 core pu:1", 12, "a ':' and a count are missing after 'core'");
    refuse("pack:2 pack:2 pu:1", 8, "this level appears twice");
    refuse("pack:2 core:2", 8, "the last level is not pu");
    refuse("pack:2 pu:2 core:2", 13, "nothing can be below pu");
    refuse("", 1, "it is empty");
    refuse("pack:2 l3:1(size=6XB) pu:1", 19, "'X' after a size");
    refuse("pack:2 l3:1(size=) pu:1", 18, "')' is not a size");
    refuse("pack:2 l3:1(sise=6) pu:1", 13, "unknown attribute 'sise'");
    refuse("pack:2 l3:1(size=6 pu:1", 22, "an attribute needs a value");
    refuse("pack:2 l3:1(size=6", 12, "this '(' is never closed");
    refuse("pack:2 l3:1(size=99999999999999999999) pu:1", 18, "this size is too large");
    refuse("pack:2 [pack] pu:1", 9, "only NUMA nodes go into brackets");
    refuse("pack:2 [numa pu:1", 8, "this '[' is never closed");
    refuse("[numa] pack:2 [numa] pu:1", 16, "NUMA nodes appear twice");
    refuse("pack:2 pu:2(indexes=0,1,2)", 26, "indexes: 3 of 4 numbers");
    refuse("pack:2 pu:2(indexes=0,1,2,3,4)", 28, "indexes: more than 4 numbers");
    refuse("pack:2 pu:2(indexes=2*2:1*3)", 21, "indexes: the loops cover 6 of 4 objects");
    refuse("pack:2 pu:2(indexes=2*)", 21, "indexes: step*count is needed");
    refuse("pack:2 pu:2(indexes=core)", 21, "indexes: not a level of this topology");
    refuse("pack:200 core:200 pu:2", 10, "more than 16384 CPUs");
}

static void caches_need_sizes_and_nest(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    struct wb_topo_options opt = {.line = 64};
    assert_null(wb_topo_from_synthetic("l3:1 core:1 pu:1", &opt, d));
    struct wb_topo_options good = fixture_options();
    assert_null(wb_topo_from_synthetic("l3:1 pack:2 core:1 pu:1", &good, d));
    const uint32_t core[] = {0, 0, 1, 1}, l2[] = {0, 1, 2, 2};
    struct wb_topo_table tab = {.ncpus = 4, .core = core, .cache = {NULL, l2}, .cache_size = {32768, 262144}};
    assert_null(wb_topo_from_table(&tab, (struct wb_place){0}, d));
    char *text = wb_diag_render(d, false);
    assert_non_null(strstr(text, "L3 cache of CPU 0 has no size"));
    assert_non_null(strstr(text, "CPUs 0 and 1 share their L3 but not their package"));
    assert_non_null(strstr(text, "CPUs 0 and 1 share their L1 but not their L2"));
    free(text);
    wb_diag_free(d);
}

/* Irregular machines come as tables: three cores, two of them on one L2. */
static void table_of_an_irregular_machine(void **state)
{
    (void)state;
    const uint32_t l2[] = {7, 7, 9}, l3[] = {1, 1, 1}, node[] = {0, 0, 1};
    const uint64_t size[] = {1048576, 1048576, 262144};
    struct wb_topo_table tab = {.ncpus = 3,
                                .node = node,
                                .cache = {NULL, l2, l3},
                                .cache_size = {32768, 0, 8388608},
                                .cache_size_at = {NULL, size}};
    struct wb_diag *d = wb_diag_new();
    struct wb_topology *t = wb_topo_from_table(&tab, (struct wb_place){0}, d);
    assert_non_null(t);
    assert_int_equal(wb_topo_distance(t, 0, 1), WB_FAR_CLUSTER);
    assert_int_equal(wb_topo_distance(t, 0, 2), WB_FAR_LLC);
    assert_int_equal(t->cache[wb_topo_cache_of(t, 2, 1)].size, 262144);
    assert_int_equal(t->level[WB_LVL_NODE].ngroups, 2);
    const uint32_t gap[] = {0, 0, 2};
    tab.node = gap;
    assert_null(wb_topo_from_table(&tab, (struct wb_place){0}, d));
    wb_topology_free(t);
    wb_diag_free(d);
}

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Memory in proportion to the CPUs, and no time: 1024 CPUs in well under 0.3 s, 4096 too. */
static void large_machines(void **state)
{
    (void)state;
    size_t used[2];
    const char *const text[] = {"pack:8 [numa] l3:8 core:8 pu:2", "pack:32 [numa] l3:8 core:8 pu:2"};
    for (int i = 0; i < 2; i++) {
        size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
        double start = seconds();
        struct wb_topology *t = fixture_topology(text[i]);
        assert_true(seconds() - start < 0.3);
        used[i] = mallinfo2().uordblks + mallinfo2().hblkhd - before;
        assert_int_equal(t->ncpus, i ? 4096 : 1024);
        assert_int_equal(wb_topo_distance(t, 0, t->ncpus - 1), WB_FAR_REMOTE);
        wb_topology_free(t);
    }
    /* masks of shared groups have ncpus bits each, so it is not quite linear: bounded per CPU instead */
    print_message("topology of 1024 CPUs %zu B, of 4096 CPUs %zu B\n", used[0], used[1]);
    assert_true(used[1] < 4096 * 600);
}

static void one_cpu(void **state)
{
    (void)state;
    struct wb_topology *t = fixture_topology("pu:1");
    assert_int_equal(t->ncpus, 1);
    assert_int_equal(t->nlevels, 2);
    for (int l = 0; l < WB_TOPO_LEVELS; l++) assert_null(wb_topo_mask(t, (enum wb_topo_level)l, 0));
    wb_topology_free(t);
}

static void live_and_missing_xml(void **state)
{
    (void)state;
    struct wb_topo_options opt = fixture_options();
    struct wb_diag *d = wb_diag_new();
    struct wb_topology *t = wb_topo_live(&opt, d);
    assert_non_null(t);
    assert_true(t->ncpus >= 1 && t->nlevels >= 1);
    wb_topology_free(t);
    assert_null(wb_topo_from_hwloc_xml("/nonexistent/machine.xml", &opt, d));
    char *text = wb_diag_render(d, false);
    assert_non_null(strstr(text, "/nonexistent/machine.xml: No such file or directory"));
    free(text);
    wb_diag_free(d);
}

/* Replications are built side by side: hwloc and the child that tries the file must not meet. */
static void *read_hybrid(void *wrong)
{
    for (int i = 0; i < 10; i++) {
        struct wb_topo_options opt = fixture_options();
        struct wb_diag *d = wb_diag_new();
        struct wb_topology *t = wb_topo_from_hwloc_xml(WB_TESTS_DIR "/machines/hybrid.xml", &opt, d);
        if (!t || t->ncpus != 20) ++*(int *)wrong;
        wb_topology_free(t);
        wb_diag_free(d);
    }
    return NULL;
}

static void xml_is_read_by_many_at_once(void **state)
{
    pthread_t thread[6];
    int wrong[6] = {0};
    (void)state;
    for (int i = 0; i < 6; i++) assert_int_equal(pthread_create(&thread[i], NULL, read_hybrid, &wrong[i]), 0);
    for (int i = 0; i < 6; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 6; i++) assert_int_equal(wrong[i], 0);
}

/* Six cores with two threads and an L2 each, two clusters of four cores: Alder Lake, as lstopo writes it. */
static void hybrid_from_xml(void **state)
{
    (void)state;
    struct wb_topo_options opt = fixture_options();
    struct wb_diag *d = wb_diag_new();
    struct wb_topology *t = wb_topo_from_hwloc_xml(WB_TESTS_DIR "/machines/hybrid.xml", &opt, d);
    uint32_t n;
    assert_non_null(t);
    (void)wb_topo_members(t, WB_LVL_CORE, 1, &n);
    assert_int_equal(n, 2);
    (void)wb_topo_members(t, WB_LVL_CORE, 13, &n);
    assert_int_equal(n, 1);
    (void)wb_topo_members(t, WB_LVL_CLUSTER, 13, &n);
    assert_int_equal(n, 4);
    (void)wb_topo_members(t, WB_LVL_LLC, 13, &n);
    assert_int_equal(n, 20);
    wb_topology_free(t);
    wb_diag_free(d);
}

static void draw(const char *text, uint32_t width, bool unicode, const char *want)
{
    struct wb_topology *t = fixture_topology(text);
    char *got = wb_topo_draw(t, width, unicode);
    assert_string_equal(got, want);
    free(got);
    wb_topology_free(t);
}

static void a_cache_above_nodes_names_them(void **state)
{
    (void)state;
    draw("pack:1 l3:1(size=8388608) numa:2 core:1 pu:1", 80, false,
         "Nodes 0 to 1\nPackage 0\n+- L3 8 MiB -----+\n| core0   core1  |\n|  0       1     |\n+----------------+\n");
}

static void drawings(void **state)
{
    (void)state;
    draw("pack:2 [numa(memory=8GiB)] l3:1(size=8MiB) core:4 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)", 80,
         false,
         "Node 0 (8 GiB)                     Node 1 (8 GiB)\n"
         "+- L3 8 MiB ---------------------+ +- L3 8 MiB ---------------------+\n"
         "| core0   core1   core2   core3  | | core4   core5   core6   core7  |\n"
         "|  0  8    1  9    2 10    3 11  | |  4 12    5 13    6 14    7 15  |\n"
         "+--------------------------------+ +--------------------------------+\n");
    draw("[numa] pack:2 l3:1(size=6291456) core:1 pu:1", 80, false,
         "Node 0\n"
         "Package 0        Package 1\n"
         "+- L3 6 MiB ---+ +- L3 6 MiB ---+\n"
         "| core0        | | core1        |\n"
         "|  0           | |  1           |\n"
         "+--------------+ +--------------+\n");
    draw("l3:1(size=8MiB) l2:2 core:2 pu:1", 80, true,
         "Node 0\n"
         "┌─ L3 8 MiB ─────────────────────┐\n"
         "│ [core0  core1]  [core2  core3] │\n"
         "│  0       1       2       3     │\n"
         "└────────────────────────────────┘\n");
}

/* Any machine at any width is drawn without harm, and no line is wider than asked (from a sensible width on). */
static void drawings_of_large_machines(void **state)
{
    (void)state;
    static const char *const text[] = {"pack:64 [numa] l3:8 core:8 pu:1", "l3:1 core:200 pu:8", "core:300 pu:1",
                                       "pu:1"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(text); i++)
        for (uint32_t width = 0; width < 200; width += 13) {
            struct wb_topology *t = fixture_topology(text[i]);
            char *got = wb_topo_draw(t, width, false);
            for (char *line = strtok(got, "\n"); line && width > 60; line = strtok(NULL, "\n"))
                assert_true(strlen(line) <= width);
            free(got);
            wb_topology_free(t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nehalem_with_linux_numbers),
        cmocka_unit_test(bus_machine_and_shared_l2),
        cmocka_unit_test(named_numberings),
        cmocka_unit_test(numbering_table),
        cmocka_unit_test(mistakes_point_at_their_column),
        cmocka_unit_test(caches_need_sizes_and_nest),
        cmocka_unit_test(table_of_an_irregular_machine),
        cmocka_unit_test(large_machines),
        cmocka_unit_test(one_cpu),
        cmocka_unit_test(live_and_missing_xml),
        cmocka_unit_test(xml_is_read_by_many_at_once),
        cmocka_unit_test(hybrid_from_xml),
        cmocka_unit_test(a_cache_above_nodes_names_them),
        cmocka_unit_test(drawings),
        cmocka_unit_test(drawings_of_large_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
