/* Domain tables of the kernels from 2.6.23 on, as their sd_init builds them: levels, spans, intervals, flags, on the
 * machines of the time. wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fairtest.h"

#define STOAKLEY "topology = \"[numa] pack:2 l2:2 core:2 pu:1\";"
#define TULSA "topology = \"[numa] pack:4 l3:1 core:2 pu:2\";"
#define NEHALEM "topology = \"pack:2 [numa] l3:1 core:4 pu:2\";"
#define MILAN "topology = \"pack:2 [numa] l3:8 core:8 pu:2\";"
#define SPR "topology = \"pack:2 [numa] l3:1 core:56 pu:1\";"
#define KUNPENG "topology = \"pack:2 [numa] l3:1 l2:6 core:4 pu:1\";"

enum {
    BASE = WB_SD_LOAD_BALANCE | WB_SD_NEWIDLE | WB_SD_EXEC,
    OLD = BASE | WB_SD_WAKE_AFFINE,
    NEW = BASE | WB_SD_FORK | WB_SD_WAKE_AFFINE,
    SMT = WB_SD_SHARE_CPUPOWER,
    LLC = WB_SD_SHARE_PKG,
    SIB = WB_SD_PREFER_SIBLING,
    NUMA = WB_SD_NUMA | WB_SD_SERIALIZE
};

struct level {
    const char *name;
    uint32_t span, groups, flags, pct, tries, busy, min_ms, max_ms;
};

static void expect_of(struct wb_sim *s, cpu_id c, const struct level *want, size_t n)
{
    enum fair_release v = ((const struct fair_sim *)wb_policy_data(s))->v->release;
    size_t i = 0;
    WB_FOR_EACH_SD(sd, &s->rq[c])
    {
        const struct wb_sd_level *l = sd->level;
        if (i >= n) fail_msg("%s: a level %s more", fair_version[v].name, l->name);
        const struct level *w = &want[i++];
        if (strcmp(l->name, w->name) || sd->span_weight != w->span || sd->ngroups != w->groups ||
            sd->flags != w->flags || l->imbalance_pct != w->pct || l->cache_nice_tries != w->tries ||
            l->busy_factor != w->busy || l->min_interval != w->min_ms * WB_MS || l->max_interval != w->max_ms * WB_MS)
            fail_msg("%s, cpu %u: %s span %u groups %u flags %#x pct %u tries %u busy %u, %llu..%llu ms is not as %s",
                     fair_version[v].name, c, l->name, sd->span_weight, sd->ngroups, sd->flags, l->imbalance_pct,
                     l->cache_nice_tries, l->busy_factor, (unsigned long long)(l->min_interval / WB_MS),
                     (unsigned long long)(l->max_interval / WB_MS), w->name);
        if (v >= FAIR_5_4) assert_int_equal(sd->balance_interval_ms, w->span);
    }
    assert_int_equal(i, n);
}

/* The first CPU and the last have these levels. */
static void expect(enum fair_release v, const char *machine, const struct level *want, size_t n)
{
    struct wb_sim *s = fair_test_new(v, machine, NULL);
    for (cpu_id c = 0; c < s->ncpus; c += s->ncpus - 1) expect_of(s, c, want, n);
    fake_free(s);
}

static void the_first_cfs_searches_idle_cpus_below_node(void **state)
{
    static const struct level stoakley[] = {
        {"MC", 2, 2, OLD | LLC | WB_SD_WAKE_IDLE, 125, 1, 64, 1, 4},
        {"CPU", 8, 4, OLD | WB_SD_WAKE_IDLE, 125, 1, 64, 1, 4},
    };
    static const struct level tulsa[] = {
        {"SIBLING", 2, 2, OLD | SMT | WB_SD_WAKE_IDLE, 110, 0, 64, 1, 2},
        {"MC", 4, 2, OLD | LLC | WB_SD_WAKE_IDLE, 125, 1, 64, 1, 4},
        {"CPU", 16, 4, OLD | WB_SD_WAKE_IDLE, 125, 1, 64, 1, 4},
    };
    (void)state;
    expect(FAIR_2_6_23, STOAKLEY, stoakley, WB_ARRAY_SIZE(stoakley));
    expect(FAIR_2_6_23, TULSA, tulsa, WB_ARRAY_SIZE(tulsa));
}

static void wake_idle_stops_at_mc_in_2_6_24(void **state)
{
    static const struct level tulsa[] = {
        {"SIBLING", 2, 2, OLD | SMT | WB_SD_WAKE_IDLE, 110, 0, 64, 1, 2},
        {"MC", 4, 2, OLD | LLC | WB_SD_WAKE_IDLE, 125, 1, 64, 1, 4},
        {"CPU", 16, 4, OLD, 125, 1, 64, 1, 4},
    };
    (void)state;
    expect(FAIR_2_6_24, TULSA, tulsa, WB_ARRAY_SIZE(tulsa));
}

/* Load indices of .23 and .24. */
static void load_indices_of_the_first_two(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_2_6_23; v <= FAIR_2_6_24; v++) {
        struct wb_sim *s = fair_test_new(v, TULSA, NULL);
        bool later = v == FAIR_2_6_24;
        const struct wb_sd *smt = s->rq[0].sd, *mc = smt->parent, *cpu = mc->parent;
        assert_int_equal(smt->level->newidle_idx, 0);
        assert_int_equal(mc->level->busy_idx * 100 + mc->level->idle_idx * 10 + mc->level->newidle_idx, 200);
        assert_int_equal(cpu->level->busy_idx * 100 + cpu->level->idle_idx * 10 + cpu->level->newidle_idx,
                         later ? 212 : 200);
        assert_int_equal(cpu->level->wake_idx * 10 + cpu->level->forkexec_idx, 11);
        fake_free(s);
    }
}

static void cpu_level_of_2_6_35_degenerates_on_nehalem(void **state)
{
    static const struct level nehalem[] = {
        {"SIBLING", 2, 2, NEW | SMT | LLC, 110, 0, 64, 1, 2},
        {"MC", 8, 4, NEW | LLC | SIB, 125, 1, 64, 1, 4},
        {"NODE", 16, 2, NEW | WB_SD_SERIALIZE, 125, 2, 32, 8, 32},
    };
    (void)state;
    expect(FAIR_2_6_35, NEHALEM, nehalem, WB_ARRAY_SIZE(nehalem));
    expect(FAIR_2_6_36, NEHALEM, nehalem, WB_ARRAY_SIZE(nehalem));
}

/* EPYC Milan, NPS1: 2, 16, 128, 256 CPUs; intervals of 1 and 2 ms a CPU. */
static void milan(void **state)
{
    static const struct level old[] = {
        {"SMT", 2, 2, NEW | SMT | LLC | SIB, 110, 0, 32, 2, 4},
        {"MC", 16, 8, NEW | LLC | SIB, 117, 1, 32, 16, 32},
        {"DIE", 128, 8, NEW | SIB, 125, 1, 32, 128, 256},
        {"NUMA", 256, 2, NEW | NUMA, 125, 2, 32, 256, 512},
    };
    struct level new[] = {
        {"SMT", 2, 2, NEW | SMT | LLC | SIB, 110, 0, 16, 2, 4},
        {"MC", 16, 8, NEW | LLC | SIB, 117, 1, 16, 16, 32},
        {"DIE", 128, 8, NEW | SIB, 117, 1, 16, 128, 256},
        {"NUMA", 256, 2, NEW | NUMA, 117, 2, 16, 256, 512},
    };
    (void)state;
    expect(FAIR_5_4, MILAN, old, WB_ARRAY_SIZE(old));
    for (enum fair_release v = FAIR_5_15; v <= FAIR_6_6; v++) expect(v, MILAN, new, WB_ARRAY_SIZE(new));
    new[2].name = "PKG"; /* 6.7 renamed it */
    for (enum fair_release v = FAIR_6_12; v <= FAIR_6_18; v++) expect(v, MILAN, new, WB_ARRAY_SIZE(new));
}

/* One LLC a node: the DIE level has nothing to add. */
static void sapphire_rapids(void **state)
{
    static const struct level spr[] = {
        {"MC", 56, 56, NEW | LLC | SIB, 117, 1, 16, 56, 112},
        {"NUMA", 112, 2, NEW | NUMA, 117, 2, 16, 112, 224},
    };
    (void)state;
    expect(FAIR_6_12, SPR, spr, WB_ARRAY_SIZE(spr));
}

/* Clusters have a level from 5.16 on. */
static void clusters(void **state)
{
    static const struct level with[] = {
        {"CLS", 4, 4, NEW | LLC | SIB | WB_SD_CLUSTER, 117, 1, 16, 4, 8},
        {"MC", 24, 6, NEW | LLC | SIB, 117, 1, 16, 24, 48},
        {"NUMA", 48, 2, NEW | NUMA, 117, 2, 16, 48, 96},
    };
    static const struct level without[] = {
        {"MC", 24, 24, NEW | LLC | SIB, 117, 1, 16, 24, 48},
        {"NUMA", 48, 2, NEW | NUMA, 117, 2, 16, 48, 96},
    };
    (void)state;
    for (enum fair_release v = FAIR_6_1; v <= FAIR_6_18; v++) expect(v, KUNPENG, with, WB_ARRAY_SIZE(with));
    expect(FAIR_5_15, KUNPENG, without, WB_ARRAY_SIZE(without));
}

/* x86 hybrids have no cluster level from 5.16 to 6.5: their topology is one without it. */
static void clusters_of_hybrids(void **state)
{
    static const struct level with[] = {
        {"CLS", 4, 4, NEW | LLC | WB_SD_CLUSTER, 117, 1, 16, 4, 8},
        {"MC", 8, 2, NEW | LLC | SIB | WB_SD_ASYM_CAPACITY, 117, 1, 16, 8, 16},
    };
    static const struct level without[] = {{"MC", 8, 8, NEW | LLC | SIB | WB_SD_ASYM_CAPACITY, 117, 1, 16, 8, 16}};
    static const char *const machine = "topology = \"pack:1 l3:1 l2:2 core:4 pu:1\"; cpu_speed = [ \"4-7 60 %\" ];";
    (void)state;
    expect(FAIR_6_1, machine, without, WB_ARRAY_SIZE(without));
    for (enum fair_release v = FAIR_6_6; v <= FAIR_6_18; v++) expect(v, machine, with, WB_ARRAY_SIZE(with));
}

/* Four nodes in two pairs, 12 within a pair and 32 between: beyond 30 neither wakeups nor new tasks are placed. The
 * groups of the upper level are the pairs (build_overlap_sched_groups: the spans of its child). */
static void distances_make_levels(void **state)
{
    static const char *const machine =
        "topology = \"pack:4 [numa] l3:1 core:2 pu:1\"; node_distance = [10, 12, 32, 32, 12, 10, 32, 32, 32, 32, 10, "
        "12, 32, 32, 12, 10];";
    static const struct level far_[] = {
        {"MC", 2, 2, NEW | LLC | SIB, 117, 1, 16, 2, 4},
        {"NUMA1", 4, 2, NEW | NUMA, 117, 2, 16, 4, 8},
        {"NUMA", 8, 2, WB_SD_LOAD_BALANCE | WB_SD_NEWIDLE | NUMA, 117, 2, 16, 8, 16},
    };
    (void)state;
    expect(FAIR_6_12, machine, far_, WB_ARRAY_SIZE(far_));
}

/* Two packages of EPYC, 32 apart: its kernels raise node_reclaim_distance to that (5.4+, init_amd_zn). */
static void epyc_places_across_packages(void **state)
{
    static const char *const machine =
        "topology = \"pack:2 [numa] l3:1 core:2 pu:1\"; node_distance = [10, 32, 32, 10]; "
        "node_reclaim_distance = 32;";
    static const struct level near_[] = {
        {"MC", 2, 2, NEW | LLC | SIB, 117, 1, 16, 2, 4},
        {"NUMA", 4, 2, NEW | NUMA, 117, 2, 16, 4, 8},
    };
    (void)state;
    expect(FAIR_6_12, machine, near_, WB_ARRAY_SIZE(near_));
    expect(FAIR_5_15, machine, near_, WB_ARRAY_SIZE(near_));
}

/* ---- machines that do not ship: sd_init and sched_init_numa followed by hand ---- */

/* Nodes in two equal boxes: a distance within a box and one between. */
static const char *two_boxes(const char *topology, int nodes, int near, int far, const char *more)
{
    static char text[2000];
    size_t at = (size_t)snprintf(text, sizeof text, "topology = \"%s\"; %s node_distance = [", topology, more);
    for (int i = 0; i < nodes * nodes; i++) {
        int a = i / nodes, b = i % nodes, d = a == b ? 10 : a / (nodes / 2) == b / (nodes / 2) ? near : far;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%d", i ? ", " : "", d);
    }
    (void)snprintf(text + at, sizeof text - at, "];");
    return text;
}

/* Two EPYC Rome, four nodes each, each of four caches of four cores: node, package and machine are levels. */
static void rome_nps4(void **state)
{
    static const struct level old[] = {
        {"SMT", 2, 2, NEW | SMT | LLC | SIB, 110, 0, 32, 2, 4}, {"MC", 8, 4, NEW | LLC | SIB, 117, 1, 32, 8, 16},
        {"DIE", 32, 4, NEW | SIB, 125, 1, 32, 32, 64},          {"NUMA1", 128, 4, NEW | NUMA, 125, 2, 32, 128, 256},
        {"NUMA", 256, 2, NEW | NUMA, 125, 2, 32, 256, 512},
    };
    struct level new[] = {
        {"SMT", 2, 2, NEW | SMT | LLC | SIB, 110, 0, 16, 2, 4}, {"MC", 8, 4, NEW | LLC | SIB, 117, 1, 16, 8, 16},
        {"DIE", 32, 4, NEW | SIB, 117, 1, 16, 32, 64},          {"NUMA1", 128, 4, NEW | NUMA, 117, 2, 16, 128, 256},
        {"NUMA", 256, 2, NEW | NUMA, 117, 2, 16, 256, 512},
    };
    const char *machine = two_boxes("pack:2 numa:4 l3:4 core:4 pu:2", 8, 12, 32, "node_reclaim_distance = 32;");
    (void)state;
    expect(FAIR_5_4, machine, old, WB_ARRAY_SIZE(old));
    for (enum fair_release v = FAIR_5_15; v <= FAIR_6_6; v++) expect(v, machine, new, WB_ARRAY_SIZE(new));
    new[2].name = "PKG";
    for (enum fair_release v = FAIR_6_12; v <= FAIR_6_18; v++) expect(v, machine, new, WB_ARRAY_SIZE(new));
}

/* Two Sapphire Rapids in SNC4: the L3 is the package's, but siblings end at the node (match_llc, intel_cod_cpu). */
static void sapphire_rapids_snc4(void **state)
{
    static const struct level want[] = {
        {"SMT", 2, 2, NEW | SMT | LLC | SIB, 110, 0, 16, 2, 4},
        {"MC", 28, 14, NEW | LLC | SIB, 117, 1, 16, 28, 56},
        {"NUMA1", 112, 4, NEW | NUMA, 117, 2, 16, 112, 224},
        {"NUMA", 224, 2, NEW | NUMA, 117, 2, 16, 224, 448},
    };
    const char *machine = two_boxes("pack:2 l3:1 numa:4 core:14 pu:2", 8, 12, 21, "");
    (void)state;
    for (enum fair_release v = FAIR_5_15; v <= FAIR_6_18; v++) expect(v, machine, want, WB_ARRAY_SIZE(want));
}

/* Eight packages in two boxes, 31 apart: no wakeup and no new task crosses. */
static void eight_packages(void **state)
{
    static const struct level want[] = {
        {"SMT", 2, 2, NEW | SMT | LLC | SIB, 110, 0, 16, 2, 4},
        {"MC", 56, 28, NEW | LLC | SIB, 117, 1, 16, 56, 112},
        {"NUMA1", 224, 4, NEW | NUMA, 117, 2, 16, 224, 448},
        {"NUMA", 448, 2, WB_SD_LOAD_BALANCE | WB_SD_NEWIDLE | NUMA, 117, 2, 16, 448, 896},
    };
    (void)state;
    expect(FAIR_6_1, two_boxes("pack:8 [numa] l3:1 core:28 pu:2", 8, 21, 31, ""), want, WB_ARRAY_SIZE(want));
}

/* Graviton 3: one mesh, one node, no threads; a Raspberry Pi 4 has no L3 but an L2 for all. */
static void one_cache_one_level(void **state)
{
    static const struct level graviton[] = {{"MC", 64, 64, NEW | LLC | SIB, 117, 1, 16, 64, 128}};
    static const struct level pi[] = {{"MC", 4, 4, NEW | LLC | SIB, 117, 1, 16, 4, 8}};
    (void)state;
    for (enum fair_release v = FAIR_5_15; v <= FAIR_6_18; v++)
        expect(v, "topology = \"pack:1 [numa] l3:1 l2:64 core:1 pu:1\";", graviton, 1);
    expect(FAIR_5_15, "topology = \"pack:1 [numa] l2:1 core:4 pu:1\";", pi, 1);
}

/* Xeon Phi 7250: tiles of two cores with four threads each and an L2, no L3: the last level of cache is the tile's. */
static void xeon_phi(void **state)
{
    static const struct level before[] = {
        {"SMT", 4, 4, NEW | SMT | LLC | SIB, 110, 0, 16, 4, 8},
        {"MC", 8, 2, NEW | LLC | SIB, 117, 1, 16, 8, 16},
        {"DIE", 272, 34, NEW | SIB, 117, 1, 16, 272, 544},
    };
    static const struct level since[] = {
        {"SMT", 4, 4, NEW | SMT | LLC | SIB, 110, 0, 16, 4, 8},
        {"CLS", 8, 2, NEW | LLC | SIB | WB_SD_CLUSTER, 117, 1, 16, 8, 16},
        {"DIE", 272, 34, NEW | SIB, 117, 1, 16, 272, 544},
    };
    static const char machine[] = "topology = \"pack:1 [numa] l2:34 core:2 pu:4\";";
    (void)state;
    expect(FAIR_5_15, machine, before, WB_ARRAY_SIZE(before));
    expect(FAIR_6_1, machine, since, WB_ARRAY_SIZE(since));
}

/* Two big cores with threads, four small ones that share an L2: each climbs its own ladder, and above them the groups
 * are what each has below. */
static void hybrid(void **state)
{
    static const char machine[] = "table : { core = [0, 0, 1, 1, 2, 3, 4, 5]; l2 = [0, 0, 1, 1, 2, 2, 2, 2]; "
                                  "l3 = [0, 0, 0, 0, 0, 0, 0, 0]; };";
    static const struct level big[] = {
        {"SMT", 2, 2, NEW | SMT | LLC | SIB, 110, 0, 16, 2, 4},
        {"MC", 8, 3, NEW | LLC | SIB, 117, 1, 16, 8, 16},
    };
    static const struct level small[] = {
        {"CLS", 4, 4, NEW | LLC | SIB | WB_SD_CLUSTER, 117, 1, 16, 4, 8},
        {"MC", 8, 3, NEW | LLC | SIB, 117, 1, 16, 8, 16},
    };
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_6_12, machine, NULL);
    expect_of(s, 0, big, WB_ARRAY_SIZE(big));
    expect_of(s, 7, small, WB_ARRAY_SIZE(small));
    fake_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_cfs_searches_idle_cpus_below_node),
        cmocka_unit_test(wake_idle_stops_at_mc_in_2_6_24),
        cmocka_unit_test(load_indices_of_the_first_two),
        cmocka_unit_test(cpu_level_of_2_6_35_degenerates_on_nehalem),
        cmocka_unit_test(milan),
        cmocka_unit_test(sapphire_rapids),
        cmocka_unit_test(clusters),
        cmocka_unit_test(clusters_of_hybrids),
        cmocka_unit_test(distances_make_levels),
        cmocka_unit_test(epyc_places_across_packages),
        cmocka_unit_test(rome_nps4),
        cmocka_unit_test(sapphire_rapids_snc4),
        cmocka_unit_test(eight_packages),
        cmocka_unit_test(one_cache_one_level),
        cmocka_unit_test(xeon_phi),
        cmocka_unit_test(hybrid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
