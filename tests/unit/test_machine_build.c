/*
 * test_machine_build.c - from machine.* keys to a machine: defaults, cycles, idle states, tables, numbering, mistakes.
 * wb-link: wb_machine wb_scenario wb_core
 */
#include "machine_fixture.h"

#include "wakebal/keys.h"
#include "wakebal/scenario.h"

/* One file in memory. */
static const char *file_text;

static int read_memory(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    if (!strstr(path, "t.cfg")) return wb_reader_files.read(ctx, path, text, len, why);
    *why = NULL;
    *text = strdup(file_text);
    *len = strlen(file_text);
    return *text ? 0 : -12;
}

static bool exists_memory(void *ctx, const char *path)
{
    return strstr(path, "t.cfg") || wb_reader_files.exists(ctx, path);
}

struct built {
    struct wb_key_registry *keys;
    struct wb_scenario *scenario;
    struct wb_diag *diag;
    struct wb_machine *m;
    char *shown;
};

static struct built build(const char *machine)
{
    static const struct wb_reader reader = {read_memory, exists_memory, NULL};
    static const struct wb_key scheduler[] = {
        {.path = "workload.work", .type = WB_KEY_INT, .only = "nothing", .help = "for this test"}};
    static char text[40000];
    snprintf(
        text, sizeof text,
        "schema = 1;\nmachine : {\n%s\n};\nkernel : { title = \"none\"; };\nworkload = ( { kind = \"nothing\"; } );\n",
        machine);
    file_text = text;
    struct built b = {.keys = wb_keys_new(), .diag = wb_diag_new()};
    size_t n;
    const struct wb_key *rows = wb_machine_keys(&n);
    wb_keys_add(b.keys, rows, n);
    wb_keys_add(b.keys, scheduler, 1);
    struct wb_scenario_options opt = {.reader = &reader};
    b.scenario = wb_scenario_load_with("t.cfg", b.keys, &opt, b.diag);
    if (b.scenario) b.m = wb_machine_build(wb_scenario_config(b.scenario), b.diag);
    b.shown = wb_diag_render(b.diag, false);
    return b;
}

static void drop(struct built *b)
{
    wb_machine_free(b->m);
    wb_scenario_free(b->scenario);
    wb_diag_free(b->diag);
    wb_keys_free(b->keys);
    free(b->shown);
}

static struct built build_good(const char *machine)
{
    struct built b = build(machine);
    if (!b.m) fail_msg("%s", b.shown);
    return b;
}

/* Every key has a default, and they are those of wb_machine_spec_defaults(). */
static void defaults_agree(void **state)
{
    (void)state;
    struct wb_machine_spec want;
    wb_machine_spec_defaults(&want);
    struct built b = build_good("topology = \"pack:2 l3:1 core:8 pu:1\";");
    const struct wb_machine_spec *got = wb_machine_costs(b.m);
    assert_int_equal(got->clock_hz, want.clock_hz);
    assert_int_equal(got->cpi_ppm, want.cpi_ppm);
    assert_memory_equal(got->smt_share_ppm, want.smt_share_ppm, sizeof want.smt_share_ppm);
    assert_memory_equal(got->hit, want.hit, sizeof want.hit);
    for (int d = WB_FAR_SMT; d < WB_DISTANCES; d++) {
        assert_memory_equal(&got->dirty[d], &want.dirty[d], sizeof want.dirty[d]);
        assert_memory_equal(&got->clean[d], &want.clean[d], sizeof want.clean[d]);
        assert_int_equal(got->upgrade[d], want.upgrade[d]);
        assert_int_equal(got->ipi_flight[d], want.ipi_flight[d]);
    }
    assert_memory_equal(got->memory, want.memory, sizeof want.memory);
    assert_memory_equal(got->copy_rate, want.copy_rate, sizeof want.copy_rate);
    assert_int_equal(got->clean_forward, want.clean_forward);
    assert_int_equal(got->mlp, want.mlp);
    assert_int_equal(got->upgrade_overlap, want.upgrade_overlap);
    assert_int_equal(got->line_read, want.line_read);
    assert_int_equal(got->line_write, want.line_write);
    assert_int_equal(got->rmw_locked, want.rmw_locked);
    assert_int_equal(got->rmw_plain, want.rmw_plain);
    assert_int_equal(got->line_bus_bytes, want.line_bus_bytes);
    assert_int_equal(got->bus_span, want.bus_span);
    assert_memory_equal(&got->bus, &want.bus, sizeof want.bus);
    assert_memory_equal(&got->memory_bw, &want.memory_bw, sizeof want.memory_bw);
    assert_memory_equal(&got->link, &want.link, sizeof want.link);
    assert_int_equal(got->ipi_send, want.ipi_send);
    assert_int_equal(got->ipi_offset, want.ipi_offset);
    assert_int_equal(got->ipi_entry, want.ipi_entry);
    assert_int_equal(got->nidle, want.nidle);
    assert_int_equal(got->idle[0].exit.a, want.idle[0].exit.a);
    assert_int_equal(wb_machine_ncpus(b.m), 16);
    drop(&b);
}

static void rows_are_sound(void **state)
{
    (void)state;
    size_t n;
    const struct wb_key *rows = wb_machine_keys(&n);
    for (size_t i = 0; i < n; i++) {
        const char *why = wb_key_lint(&rows[i]);
        if (why) fail_msg("%s %s", rows[i].path, why);
    }
}

static void cycles_scale_with_the_clock(void **state)
{
    (void)state;
    struct built b =
        build_good("clock = \"1.5 GHz\"; line : { rmw = ( \"15 cy\", \"assumed\", \"10 cy..20 cy\", \"why\" ); };");
    assert_int_equal(wb_machine_costs(b.m)->rmw_locked, 10000);
    assert_int_equal(wb_machine_costs(b.m)->hit[0].latency, 2667);
    drop(&b);
}

static void idle_states_in_order(void **state)
{
    (void)state;
    struct built b =
        build_good("idle : { deep = { after = \"1 ms\"; exit = \"uniform(50 us, 90 us)\"; enter = \"10 us\"; };\n"
                   "         poll = { exit = \"100 ns\"; wake = \"poll\"; smt_load = \"50 %\"; };\n"
                   "         gone = { after = \"2 ms\"; use = false; };\n"
                   "         c1 = { after = \"20 us\"; exit = \"2 us\"; wake = \"monitor\"; }; };");
    const struct wb_machine_spec *s = wb_machine_costs(b.m);
    assert_int_equal(s->nidle, 3);
    assert_string_equal(s->idle[0].name, "poll");
    assert_string_equal(s->idle[1].name, "c1");
    assert_string_equal(s->idle[2].name, "deep");
    assert_int_equal(s->idle[0].wake, WB_WAKE_POLL);
    assert_int_equal(s->idle[0].smt_load_ppm, 500000);
    assert_int_equal(s->idle[1].wake, WB_WAKE_MONITOR);
    assert_int_equal(s->idle[2].exit.kind, WB_DIST_UNIFORM);
    drop(&b);
}

static void tables_and_numbers(void **state)
{
    (void)state;
    struct built b = build_good("table : { core = [0, 0, 1, 1, 2]; l2 = [0, 0, 0, 0, 1]; l3 = [0, 0, 0, 0, 0];\n"
                                "          node = [0, 0, 0, 0, 1]; };\n"
                                "numbers = [0, 4, 1, 3, 2]; node_distance = [10, 17, 17, 10];");
    const struct wb_topology *t = wb_machine_topo(b.m);
    assert_int_equal(t->ncpus, 5);
    assert_int_equal(wb_topo_distance(t, 0, 4), WB_FAR_SMT);
    assert_int_equal(wb_topo_distance(t, 0, 3), WB_FAR_CLUSTER);
    assert_int_equal(wb_topo_distance(t, 0, 2), WB_FAR_LLC);
    assert_int_equal(t->node_distance[1], 17);
    assert_int_equal(t->level[WB_LVL_NODE].of[2], 1);
    drop(&b);
}

static void expect(const char *machine, const char *place, const char *message)
{
    struct built b = build(machine);
    assert_null(b.m);
    char want[300];
    snprintf(want, sizeof want, "%s: error: %s", place, message);
    const char *at = strstr(b.shown, want);
    if (!at) fail_msg("wanted '%s' in '%s'", want, b.shown);
    drop(&b);
}

static void mistakes_have_places(void **state)
{
    (void)state;
    expect("  topology = \"pack:4 l3:x core:1 pu:1\";", "t.cfg:3:25", "topology string: 'x' is not a count");
    expect("  topology = \"pack:2 core:2 pu:1\";\n  numbers = [0, 1, 2];", "t.cfg:4:13",
           "numbering: 3 numbers for 4 CPUs");
    expect("  node_distance = [10, 5, 5, 10];", "t.cfg:3:19", "node distance 5 is not in 10..255");
    expect("  idle : { a = { after = \"1 us\"; }; };", "t.cfg:3:26", "no idle state begins at once");
    expect("  idle : { a = { after = \"0 s\"; }; b = { after = \"0 s\"; }; };", "t.cfg:3:50",
           "idle states 'a' and 'b' begin at the same time");
    expect("  table : { core = [0, 1]; l2 = [0]; };", "t.cfg:3:33", "this column has 1 numbers, others have 2");
    expect("  bus : { span = \"machine\"; };", "t.cfg:3:18", "a bus needs a rate");
    expect("  hwloc = \"none.xml\";", "t.cfg:3:12", "none.xml: No such file or directory");
}

static const char *const shipped[] = {"itanium2-tiger4", "smp2", "smp16", "nehalem-ep"};

/* Every shipped machine builds, names itself, and each cost that its files give has a status, a source and, when
 * assumed, a range. */
static void shipped_machines(void **state)
{
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(shipped); i++) {
        char text[100];
        snprintf(text, sizeof text, "base = \"%s\";", shipped[i]);
        struct built b = build_good(text);
        assert_string_equal(wb_machine_costs(b.m)->name, shipped[i]);
        const struct wb_config *c = wb_scenario_config(b.scenario);
        const char *path;
        for (size_t k = 0; (path = wb_cfg_path_at(c, k)) != NULL; k++) {
            const struct wb_key *row = wb_cfg_row(c, path);
            const struct wb_origin *o = wb_cfg_origin(c, path);
            if (!row || !(row->flags & WB_KEY_PRICED) || !o->place.file) continue;
            if (o->status == WB_STATUS_USER || o->status == WB_STATUS_NONE || !o->source)
                fail_msg("%s: %s has no status or no source", shipped[i], path);
        }
        drop(&b);
    }
}

/* The Tiger: what the case of January 2005 builds on. */
static void tiger(void **state)
{
    (void)state;
    struct built b = build_good("base = \"itanium2-tiger4\";");
    const struct wb_machine_spec *s = wb_machine_costs(b.m);
    const struct wb_topology *t = wb_machine_topo(b.m);
    assert_int_equal(t->ncpus, 4);
    assert_int_equal(wb_topo_distance(t, 0, 3), WB_FAR_NODE);
    assert_int_equal(t->cache[wb_topo_cache_of(t, 0, 0)].size, 16384);
    assert_int_equal(t->cache[wb_topo_cache_of(t, 0, 2)].size, 6291456);
    assert_int_equal(t->cache[wb_topo_cache_of(t, 0, 2)].line, 128);
    assert_int_equal(s->bus_span, WB_BUS_MACHINE);
    assert_int_equal(s->bus.rate, 6400000000ull);
    assert_int_equal(s->dirty[WB_FAR_NODE].latency, 175000);
    assert_int_equal(s->idle[0].wake, WB_WAKE_IPI);
    assert_false(s->clean_forward);
    drop(&b);
}

/* What `wakebal topology` writes reads back to the same machine, regular or not. */
static void machine_files_read_back(void **state)
{
    (void)state;
    static const char *const text[] = {"pack:2 [numa] l3:1(size=16MiB) core:8 pu:2(indexes=2*16:1*2)",
                                       "pu:1",
                                       "[numa] pack:4 l3:1(size=6291456) core:1 pu:1",
                                       "pack:2 group:2 [numa] l3:2 core:2 pu:1",
                                       "[numa] pack:2 l2:2(size=6MiB) core:2 pu:1",
                                       "pack:2 [numa] l3:1 l2:2 core:2 pu:2"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(text); i++) {
        struct wb_topology *t = fixture_topology(text[i]);
        char *synthetic = wb_topo_synthetic(t);
        assert_non_null(synthetic);
        free(synthetic);
        struct wb_machine_file_options opt = {
            .name = "a \"name\"", .origin = text[i], .clock_hz = 3000000000u, .clock_source = "test"};
        char *file = wb_machine_file(t, &opt);
        struct built b = build_good(file);
        const struct wb_topology *back = wb_machine_topo(b.m);
        assert_int_equal(back->ncpus, t->ncpus);
        for (int l = 0; l < WB_TOPO_LEVELS; l++)
            assert_memory_equal(back->level[l].of, t->level[l].of, t->ncpus * sizeof(uint32_t));
        assert_string_equal(wb_machine_costs(b.m)->name, "a \"name\"");
        assert_int_equal(wb_machine_costs(b.m)->clock_hz, 3000000000u);
        drop(&b);
        free(file);
        wb_topology_free(t);
    }
}

/* Keys that cannot matter stay out; those that do are in. */
static void only_keys_that_matter(void **state)
{
    (void)state;
    static const struct {
        const char *text, *with, *without;
    } want[] = {{"[numa] pack:2 l3:1 core:2 pu:1", "node :", "remote"},
                {"pack:2 [numa] l3:1 core:2 pu:1", "remote_latency", "node :"},
                {"core:2 pu:1", "l2 :", "l3 :"},
                {"l3:1 core:2 pu:1", "l3 :", "smt_share"},
                {"l3:1 core:2 pu:2", "smt_share", "smt_share_4"},
                {"l3:1 core:2 pu:4", "smt_share_4", "smt_share_8"}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(want); i++) {
        struct wb_topology *t = fixture_topology(want[i].text);
        struct wb_machine_file_options opt = {.name = "x", .origin = "y"};
        char *file = wb_machine_file(t, &opt);
        if (!strstr(file, want[i].with)) fail_msg("%s: no %s", want[i].text, want[i].with);
        if (strstr(file, want[i].without)) fail_msg("%s: %s", want[i].text, want[i].without);
        free(file);
        wb_topology_free(t);
    }
}

static void irregular_machine_file(void **state)
{
    (void)state;
    const uint32_t l2[] = {0, 0, 1}, l3[] = {0, 0, 0}, node[] = {0, 0, 1};
    struct wb_topo_table tab = {
        .ncpus = 3, .node = node, .cache = {NULL, l2, l3}, .cache_size = {32768, 524288, 8388608}};
    struct wb_diag *d = wb_diag_new();
    struct wb_topology *t = wb_topo_from_table(&tab, (struct wb_place){0}, d);
    assert_null(wb_topo_synthetic(t));
    struct wb_machine_file_options opt = {.name = "odd", .origin = "tables"};
    char *file = wb_machine_file(t, &opt);
    assert_non_null(strstr(file, "l2 = [ 0, 0, 1 ];"));
    struct built b = build_good(file);
    const struct wb_topology *back = wb_machine_topo(b.m);
    for (int l = 0; l < WB_TOPO_LEVELS; l++)
        assert_memory_equal(back->level[l].of, t->level[l].of, 3 * sizeof(uint32_t));
    assert_int_equal(back->cache[wb_topo_cache_of(back, 0, 1)].size, 524288);
    drop(&b);
    free(file);
    wb_topology_free(t);
    wb_diag_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_agree),
        cmocka_unit_test(rows_are_sound),
        cmocka_unit_test(cycles_scale_with_the_clock),
        cmocka_unit_test(idle_states_in_order),
        cmocka_unit_test(tables_and_numbers),
        cmocka_unit_test(mistakes_have_places),
        cmocka_unit_test(shipped_machines),
        cmocka_unit_test(tiger),
        cmocka_unit_test(machine_files_read_back),
        cmocka_unit_test(irregular_machine_file),
        cmocka_unit_test(only_keys_that_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
