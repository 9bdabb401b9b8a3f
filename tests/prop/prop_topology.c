/*
 * prop_topology.c - our reader of synthetic strings against hwloc's, over random strings.
 *
 * Whatever hwloc accepts must give the same CPUs with the same numbers, sharing the same packages, nodes, caches and
 * cores; and whatever we write back must read back.
 */
#include "machine_fixture.h"

#include <hwloc.h>
#include <unistd.h>

#include "propcheck.h"

enum { TEXT_MAX = 600 };

/* Counts come from a, indexes and brackets from b. */
static void make_text(const struct prop_op *op, char *text)
{
    static const char *const levels[] = {"pack", "die", "l3", "l2", "l1", "core", "pu"};
    uint64_t a = op->a, b = op->b;
    uint32_t total = 1, counts[7];
    size_t n = 0;
    for (int i = 0; i < 7; i++) {
        counts[i] = 1 + (uint32_t)(a >> (i * 4)) % 3;
        bool leave_out = i < 6 && (b >> i & 1);
        if (leave_out || (i == 4 && counts[i] > 1)) counts[i] = 0;
        if (counts[i] && total * counts[i] <= 200)
            total *= counts[i];
        else if (counts[i])
            counts[i] = 1;
    }
    uint32_t node_after = (uint32_t)(b >> 8) % 4; /* 0: in front; 1, 2: after a level; 3: none */
    text[0] = 0;
    if (!node_after) n += (size_t)snprintf(text + n, TEXT_MAX - n, "[numa(memory=1GB)] ");
    for (int i = 0; i < 7; i++) {
        if (!counts[i]) continue;
        n += (size_t)snprintf(text + n, TEXT_MAX - n, "%s:%u", levels[i], counts[i]);
        if (i == 2)
            n += (size_t)snprintf(text + n, TEXT_MAX - n, "(size=%u%s)", 1 + (uint32_t)(b >> 12) % 64,
                                  b >> 20 & 1 ? "MB" : "MiB");
        if (i == 6 && (b >> 24) % 4 == 1)
            n += (size_t)snprintf(text + n, TEXT_MAX - n, "(indexes=%u*%u)", total / counts[6], counts[6]);
        if (i == 6 && (b >> 24) % 4 == 2 && counts[0] && counts[5])
            n += (size_t)snprintf(text + n, TEXT_MAX - n, "(indexes=%s)", b >> 28 & 1 ? "pack:core" : "core:pack");
        if (node_after && i == (int)node_after * 2 - 2) n += (size_t)snprintf(text + n, TEXT_MAX - n, " [numa]");
        n += (size_t)snprintf(text + n, TEXT_MAX - n, " ");
    }
}

/* hwloc writes to stderr what it thinks of a string. */
static bool hwloc_reads(hwloc_topology_t *h, const char *text)
{
    int saved = dup(2);
    FILE *null = fopen("/dev/null", "w");
    dup2(fileno(null), 2);
    hwloc_topology_init(h);
    bool good = !hwloc_topology_set_synthetic(*h, text) && !hwloc_topology_load(*h);
    dup2(saved, 2);
    close(saved);
    fclose(null);
    if (!good) hwloc_topology_destroy(*h);
    return good;
}

static hwloc_obj_t pu_of(hwloc_topology_t h, cpu_id c)
{
    return hwloc_get_pu_obj_by_os_index(h, c);
}

static hwloc_obj_t above(hwloc_topology_t h, cpu_id c, hwloc_obj_type_t type)
{
    return hwloc_get_ancestor_obj_by_type(h, type, pu_of(h, c));
}

static bool same_sharing(hwloc_topology_t h, const struct wb_topology *t, cpu_id a, cpu_id b, const char **what)
{
    static const struct {
        hwloc_obj_type_t type;
        enum wb_topo_level level;
        const char *name;
    } pair[] = {{HWLOC_OBJ_PACKAGE, WB_LVL_PACKAGE, "package"},
                {HWLOC_OBJ_L3CACHE, WB_LVL_LLC, "l3"},
                {HWLOC_OBJ_CORE, WB_LVL_CORE, "core"}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(pair); i++) {
        hwloc_obj_t x = above(h, a, pair[i].type), y = above(h, b, pair[i].type);
        *what = pair[i].name;
        if (x && (x == y) != wb_topo_shares(t, pair[i].level, a, b)) return false;
    }
    int nodes = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_NUMANODE);
    *what = "node";
    for (int k = 0; k < nodes; k++) {
        hwloc_obj_t node = hwloc_get_obj_by_type(h, HWLOC_OBJ_NUMANODE, (unsigned)k);
        bool both = hwloc_bitmap_isset(node->cpuset, a) && hwloc_bitmap_isset(node->cpuset, b);
        if (hwloc_bitmap_isset(node->cpuset, a) && both != wb_topo_shares(t, WB_LVL_NODE, a, b)) return false;
    }
    return true;
}

static bool compare(hwloc_topology_t h, const struct wb_topology *t, char *why, size_t n)
{
    const char *what = "";
    if ((int)t->ncpus != hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_PU)) {
        snprintf(why, n, "%u CPUs, hwloc has %d", t->ncpus, hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_PU));
        return false;
    }
    for (cpu_id a = 0; a < t->ncpus; a++) {
        hwloc_obj_t l3 = above(h, a, HWLOC_OBJ_L3CACHE);
        const struct wb_topo_cache *last = &t->cache[wb_topo_cache_of(t, a, t->nlevels - 1)];
        if (l3 && l3->attr->cache.size != last->size) {
            snprintf(why, n, "L3 of %llu bytes, hwloc has %llu", (unsigned long long)last->size,
                     (unsigned long long)l3->attr->cache.size);
            return false;
        }
        for (cpu_id b = 0; b < t->ncpus; b++) {
            if (same_sharing(h, t, a, b, &what)) continue;
            snprintf(why, n, "CPUs %u and %u: %s", a, b, what);
            return false;
        }
    }
    return true;
}

static bool reads_back(const struct wb_topology *t, char *why, size_t n)
{
    char *text = wb_topo_synthetic(t);
    if (text) { /* wb_topo_synthetic() compares by itself; here: it must be legible to us */
        wb_topology_free(fixture_topology(text));
        free(text);
        return true;
    }
    snprintf(why, n, "a regular topology has no text");
    return false;
}

static uint32_t compared;

static bool run_one(const struct prop_op *ops, size_t count, char *why, size_t n)
{
    char text[TEXT_MAX];
    struct wb_topo_options opt = fixture_options();
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        hwloc_topology_t h;
        make_text(&ops[i], text);
        struct wb_diag *d = wb_diag_new();
        struct wb_topology *t = wb_topo_from_synthetic(text, &opt, d);
        bool simple = strstr(text, "pack") && !strstr(text, "l1"); /* an L1 of several cores has no text, but tables */
        if (hwloc_reads(&h, text)) {
            if (t) good = compare(h, t, why, n) && (!simple || reads_back(t, why, n));
            compared += t != NULL;
            hwloc_topology_destroy(h);
        } else if (t && strstr(text, "indexes")) {
            snprintf(why, n, "hwloc refuses, we do not");
            good = false;
        }
        if (!good) fprintf(stderr, "string: %s\n", text);
        wb_topology_free(t);
        wb_diag_free(d);
    }
    return good;
}

static struct prop_op make_any(struct prop_rng *r)
{
    return (struct prop_op){.kind = 0, .a = prop_u64(r), .b = prop_u64(r)};
}

static void synthetic_as_hwloc(void **state)
{
    (void)state;
    const struct property p = {"synthetic_as_hwloc", 5, make_any, run_one};
    bool good = prop_check(&p, 100);
    print_message("%u strings compared\n", compared);
    assert_true(good);
    assert_true(compared > 30 || getenv("WB_PROP_SEED") || getenv("WB_PROP_RUNS"));
}

/* An XML file that hwloc writes gives the machine that its string gives: groups, numbers, sizes, distances. */
static void xml_as_synthetic(void **state)
{
    (void)state;
    static const char *const text[] = {
        "pack:2 [numa(memory=8GB)] l3:1(size=8388608) core:4 pu:2(indexes=2*8:1*2)",
        "[numa] pack:4 l3:1(size=6291456) l2:1(size=262144) l1:1(size=16384) core:1 pu:1"};
    char path[] = "/tmp/wakebal-xml-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < WB_ARRAY_SIZE(text); i++) {
        hwloc_topology_t h;
        assert_true(hwloc_reads(&h, text[i]));
        assert_int_equal(hwloc_topology_export_xml(h, path, 0), 0);
        struct wb_topo_options opt = fixture_options();
        struct wb_diag *d = wb_diag_new();
        struct wb_topology *a = fixture_topology(text[i]), *b = wb_topo_from_hwloc_xml(path, &opt, d);
        assert_non_null(b);
        assert_int_equal(a->ncpus, b->ncpus);
        for (int l = 0; l < WB_TOPO_LEVELS; l++)
            assert_memory_equal(a->level[l].of, b->level[l].of, a->ncpus * sizeof(uint32_t));
        assert_int_equal(a->cache[wb_topo_cache_of(a, 0, 2)].size, b->cache[wb_topo_cache_of(b, 0, 2)].size);
        assert_int_equal(b->node_distance[0], 10);
        if (!i) assert_int_equal(a->node_memory[1], b->node_memory[1]);
        hwloc_topology_destroy(h);
        wb_topology_free(a);
        wb_topology_free(b);
        wb_diag_free(d);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(synthetic_as_hwloc), cmocka_unit_test(xml_as_synthetic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
