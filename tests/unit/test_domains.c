/* Scheduling domains: the published tables of 2.6.10, 2.6.11 and 2.6.22, cell by cell, and the ladders of real
 * machines. wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "domains.h"
#include "fakekernel.h"
#include "o1.h"

#include <time.h>

#define TIGER "base = \"itanium2-tiger4\";"
#define HT "topology = \"pack:2 [numa] l2:1 core:1 pu:2\";" /* 2 nodes, one HT package each */
#define NODES8 "topology = \"pack:8 [numa] l3:1 core:2 pu:1\";"
#define WOODCREST "topology = \"[numa] pack:2 l2:1 core:2 pu:1\";"
#define STOAKLEY "topology = \"[numa] pack:2 l2:2 core:2 pu:1\";"
#define TULSA "topology = \"[numa] pack:4 l3:1 core:2 pu:2\";"
#define TIGERTON "topology = \"[numa] pack:4 l2:2 core:2 pu:1\";"
#define NEHALEM "topology = \"pack:2 [numa] l3:1 core:4 pu:2\";"
#define NODES20 "topology = \"pack:20 [numa] l3:1 core:2 pu:1\";"

static void flags_text(uint32_t flags, char *buf, size_t n)
{
    *buf = 0;
    for (uint32_t i = 0; wb_sd_flag_name[i]; i++) {
        if (!(flags >> i & 1)) continue;
        if (*buf) strncat(buf, " ", n - strlen(buf) - 1);
        strncat(buf, wb_sd_flag_name[i], n - strlen(buf) - 1);
    }
}

/* min/max/initial ms, busy_factor, imbalance_pct, cache_nice_tries, cache_hot_time ns, per_cpu_gain; indices; flags. */
static void level_text(const struct wb_sd *sd, char *buf, size_t n)
{
    const struct wb_sd_level *l = sd->level;
    char flags[512];
    flags_text(sd->flags, flags, sizeof flags);
    (void)snprintf(buf, n, "%s %u/%u/%u %u %u %u %llu %u | %u %u %u %u %u | %s", l->name,
                   (unsigned)(l->min_interval / WB_MS), (unsigned)(l->max_interval / WB_MS),
                   (unsigned)sd->balance_interval_ms, l->busy_factor, l->imbalance_pct, l->cache_nice_tries,
                   (unsigned long long)(l->cache_hot_time / WB_NS), l->per_cpu_gain, l->busy_idx, l->idle_idx,
                   l->newidle_idx, l->wake_idx, l->forkexec_idx, flags);
}

static void expect_levels(const char *kernel, const char *machine, const char *const *levels)
{
    struct wb_sim *s = fake_new(&o1_policy, kernel, machine, NULL);
    struct wb_sd *sd = s->rq[0].sd;
    char buf[1024];
    for (; *levels; levels++, sd = sd->parent) {
        assert_non_null(sd);
        level_text(sd, buf, sizeof buf);
        assert_string_equal(buf, *levels);
    }
    assert_null(sd);
    fake_free(s);
}

/* "LEVEL spans/groups" of CPU 0, lowest first. */
static void expect_spans(const char *kernel, const char *machine, const char *text)
{
    struct wb_sim *s = fake_new(&o1_policy, kernel, machine, NULL);
    char buf[256] = "";
    WB_FOR_EACH_SD(sd, &s->rq[0])
    {
        size_t at = strlen(buf);
        (void)snprintf(buf + at, sizeof buf - at, "%s%s %u/%u", at ? ", " : "", sd->level->name, sd->span_weight,
                       sd->ngroups);
    }
    assert_string_equal(buf, text);
    fake_free(s);
}

static void table_2_6_10_i386(void **state)
{
    (void)state;
    expect_levels("linux-2.6.10-i386", HT,
                  (const char *const[]){
                      "SIBLING 1/2/1 8 110 0 0 25 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_NEWIDLE BALANCE_EXEC WAKE_IDLE "
                      "WAKE_AFFINE SHARE_CPUPOWER",
                      "CPU 1/4/1 64 125 1 2500 100 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_NEWIDLE BALANCE_EXEC WAKE_AFFINE "
                      "WAKE_BALANCE",
                      "NODE 8/32/1 32 125 1 10000 100 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_EXEC WAKE_BALANCE", NULL});
}

static void table_2_6_10_ia64(void **state)
{
    (void)state;
    expect_levels("linux-2.6.10", NODES8,
                  (const char *const[]){
                      "CPU 1/4/1 64 125 1 2500 100 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_NEWIDLE BALANCE_EXEC WAKE_AFFINE "
                      "WAKE_BALANCE",
                      "NODE 80/320/1 320 125 1 10000000 100 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_EXEC WAKE_BALANCE",
                      /* 100 * (63 + 16) / 64 = 123 ms */
                      "ALLNODES 80/320/123 320 125 1 10000000 100 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_EXEC", NULL});
}

static void table_2_6_11_i386(void **state)
{
    (void)state;
    expect_levels("linux-2.6.11-i386", HT,
                  (const char *const[]){"SIBLING 1/2/1 8 110 0 0 25 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_NEWIDLE "
                                        "BALANCE_EXEC WAKE_IDLE WAKE_AFFINE SHARE_CPUPOWER",
                                        "CPU 1/4/1 64 125 1 2500000 100 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_NEWIDLE "
                                        "BALANCE_EXEC WAKE_IDLE WAKE_AFFINE WAKE_BALANCE",
                                        "NODE 8/32/1 32 125 1 10000000 100 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_NEWIDLE "
                                        "BALANCE_EXEC WAKE_IDLE WAKE_BALANCE",
                                        NULL});
}

static void table_2_6_11_ia64(void **state)
{
    (void)state;
    expect_levels("linux-2.6.11", NODES8,
                  (const char *const[]){
                      "CPU 1/4/1 64 125 1 2500000 100 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_NEWIDLE BALANCE_EXEC "
                      "WAKE_IDLE WAKE_AFFINE WAKE_BALANCE",
                      "NODE 80/320/1 320 125 1 10000000 100 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_NEWIDLE BALANCE_EXEC "
                      "WAKE_IDLE WAKE_BALANCE",
                      "ALLNODES 80/320/123 320 125 1 10000000 100 | 0 0 0 0 0 | LOAD_BALANCE BALANCE_EXEC", NULL});
}

static void table_2_6_22_x86_64(void **state)
{
    (void)state;
    expect_levels(
        "linux-2.6.22", TULSA,
        (const char *const[]){
            "SIBLING 1/2/1 64 110 0 0 25 | 0 0 1 0 0 | LOAD_BALANCE BALANCE_NEWIDLE BALANCE_EXEC WAKE_IDLE WAKE_AFFINE "
            "SHARE_CPUPOWER",
            "MC 1/4/1 64 125 1 20000 100 | 2 1 2 1 1 | LOAD_BALANCE BALANCE_NEWIDLE BALANCE_EXEC WAKE_AFFINE "
            "SHARE_PKG_RESOURCES",
            "CPU 1/4/1 64 125 1 2000000 100 | 2 1 2 1 1 | LOAD_BALANCE BALANCE_NEWIDLE BALANCE_EXEC WAKE_AFFINE",
            NULL});
    expect_levels(
        "linux-2.6.22", "topology = \"pack:20 [numa] l3:1 core:1 pu:1\";",
        (const char *const[]){"NODE 8/32/1 32 125 2 4000000 100 | 3 2 0 1 1 | LOAD_BALANCE BALANCE_EXEC BALANCE_FORK "
                              "WAKE_BALANCE SERIALIZE",
                              /* 64 * 20 cpus = 1280 ms */
                              "ALLNODES 64/1280/64 128 133 1 4000000 100 | 3 3 0 0 0 | LOAD_BALANCE SERIALIZE", NULL});
}

static void table_2_6_22_i386_node(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22-i386", NEHALEM, NULL);
    char buf[1024];
    level_text(s->rq[0].sd->parent->parent, buf, sizeof buf);
    assert_string_equal(
        buf,
        "NODE 8/32/1 32 125 1 4000000 100 | 3 1 2 1 0 | LOAD_BALANCE BALANCE_EXEC BALANCE_FORK WAKE_BALANCE SERIALIZE");
    fake_free(s);
}

static void table_2_6_22_ia64(void **state)
{
    (void)state;
    expect_levels(
        "linux-2.6.22-ia64", NODES20,
        (const char *const[]){
            "CPU 1/4/1 64 125 2 2000000 100 | 2 1 2 1 1 | LOAD_BALANCE BALANCE_NEWIDLE BALANCE_EXEC WAKE_AFFINE",
            /* 8 * min(40, 32) = 256 ms */
            "NODE 8/256/64 64 125 2 4000000 100 | 3 2 0 1 1 | LOAD_BALANCE BALANCE_EXEC BALANCE_FORK WAKE_BALANCE "
            "SERIALIZE",
            "ALLNODES 64/2560/64 128 133 1 4000000 100 | 3 3 0 0 0 | LOAD_BALANCE SERIALIZE", NULL});
}

/* A 4-way Tiger is a single node: the CPU domain alone, four groups of power 128. */
static void tiger_has_one_domain(void **state)
{
    (void)state;
    static const char *const kernels[] = {"linux-2.6.10", "linux-2.6.11"};
    for (size_t k = 0; k < 2; k++) {
        expect_spans(kernels[k], TIGER, "CPU 4/4");
        struct wb_sim *s = fake_new(&o1_policy, kernels[k], TIGER, NULL);
        for (uint32_t i = 0; i < 4; i++) assert_int_equal(s->rq[0].sd->groups[i].power, 128);
        fake_free(s);
    }
}

static void ladders_of_2_6_22_machines(void **state)
{
    (void)state;
    expect_spans("linux-2.6.22", WOODCREST, "MC 2/2, CPU 4/2");
    expect_spans("linux-2.6.22", STOAKLEY, "MC 2/2, CPU 8/4");
    expect_spans("linux-2.6.22", TULSA, "SIBLING 2/2, MC 4/2, CPU 16/4");
    expect_spans("linux-2.6.22", TIGERTON, "MC 2/2, CPU 16/8");
    expect_spans("linux-2.6.22", NEHALEM, "SIBLING 2/2, MC 8/4, NODE 16/2"); /* CPU spans what MC does */
}

/* Without dropping, an SMT kernel keeps its level on machines without threads. */
static void levels_stay_without_degeneration(void **state)
{
    (void)state;
    expect_spans("linux-2.6.11-i386", STOAKLEY, "SIBLING 1/1, CPU 8/8");
}

static void power_2_6_11(void **state)
{
    (void)state;
    struct wb_sim *s =
        fake_new(&o1_policy, "linux-2.6.11-i386", "topology = \"numa:2 pack:2 l2:1 core:1 pu:2\";", NULL);
    struct wb_sd *sibling = s->rq[0].sd, *cpu = sibling->parent, *node = cpu->parent;
    assert_int_equal(sibling->groups[0].power, 128);
    assert_int_equal(cpu->groups[0].power, 140);  /* 128 + 128 * (2 - 1) / 10 */
    assert_int_equal(node->groups[0].power, 280); /* two packages */
    fake_free(s);
}

/* An L2 pair counts as one CPU, unless power is to be saved. */
static void power_2_6_22(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", STOAKLEY, NULL);
    assert_int_equal(s->rq[0].sd->groups[0].power, 128);
    assert_int_equal(s->rq[0].sd->parent->groups[3].power, 128);
    fake_free(s);
    s = fake_new(&o1_policy, "linux-2.6.22", STOAKLEY, (const char *const[]){"policy.mc_power_savings=true", NULL});
    assert_int_equal(s->rq[0].sd->parent->groups[3].power, 256);
    fake_free(s);
    s = fake_new(&o1_policy, "linux-2.6.22", NEHALEM, NULL);
    assert_int_equal(s->rq[0].sd->parent->groups[0].power, 128);         /* MC: a core with two threads */
    assert_int_equal(s->rq[0].sd->parent->parent->groups[0].power, 128); /* NODE: its child shares a cache */
    fake_free(s);
    s = fake_new(&o1_policy, "linux-2.6.22", "topology = \"pack:2 [numa] l2:4 core:1 pu:1\";", NULL);
    assert_int_equal(s->rq[0].sd->parent->groups[0].power, 512); /* NODE: sum of four CPUs with own caches */
    fake_free(s);
}

/* Rings ascend by first CPU; every CPU starts at its own group. */
static void rings_start_at_the_own_group(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", STOAKLEY, NULL);
    for (cpu_id c = 0; c < s->ncpus; c++) {
        struct wb_sd *cpu = s->rq[c].sd->parent;
        for (uint32_t i = 0; i < 4; i++) {
            struct wb_sg *g = wb_sd_group(cpu, i);
            assert_int_equal(g->first, (c / 2 * 2 + 2 * i) % 8);
            assert_int_equal(wb_mask_count(&g->mask), 2);
            assert_int_equal(g->weight, 2);
        }
        assert_ptr_equal(cpu->groups, s->rq[0].sd->parent->groups);
        assert_true(wb_mask_test(&wb_sd_group(cpu, 0)->mask, c));
    }
    fake_free(s);
}

/* SMT siblings numbered c and c + ncores: groups of the core level hold both. */
static void numbering_is_the_machine_s(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", NEHALEM " numbering = \"smt_last\";", NULL);
    assert_true(wb_mask_test(s->rq[1].sd->span, 9));
    assert_int_equal(s->rq[9].sd->local, 1);
    struct wb_sg *g = wb_sd_group(s->rq[9].sd->parent, 0);
    assert_int_equal(g->first, 1);
    assert_true(wb_mask_test(&g->mask, 9));
    fake_free(s);
}

/* Six nearest of eight nodes on a ring of distances; spans differ by node and overlap. */
static void node_spans_are_the_nearest(void **state)
{
    (void)state;
    char machine[1024] = "topology = \"pack:8 [numa] l3:1 core:2 pu:1\"; node_distance = [";
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++) {
            int d = abs(a - b) < 8 - abs(a - b) ? abs(a - b) : 8 - abs(a - b);
            char one[16];
            (void)snprintf(one, sizeof one, "%s %d", a || b ? "," : "", 10 + 10 * d);
            strcat(machine, one);
        }
    strcat(machine, "];");
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.10", machine, NULL);
    struct wb_sd *node = s->rq[6].sd->parent; /* node 3: nearest 4, 2, 5, 1, then 6 before 0 (wrapping upward) */
    char span[64];
    assert_string_equal(wb_mask_format(span, sizeof span, node->span), "2-13");
    assert_int_equal(node->ngroups, 6);
    assert_int_equal(wb_sd_group(node, 0)->first, 6);
    node = s->rq[0].sd->parent; /* node 0: 1, 7, 2, 6, 3 */
    assert_string_equal(wb_mask_format(span, sizeof span, node->span), "0-7,12-15");
    assert_int_equal(node->parent->span_weight, 16);
    assert_int_equal(node->parent->ngroups, 8);
    fake_free(s);
}

/* Sub-NUMA clusters: the package's L3 is above its two nodes. For the scheduler it ends at each of them. */
static void caches_end_at_nodes(void **state)
{
    (void)state;
    const char *snc2 = "topology = \"pack:2 l3:1 numa:2 core:3 pu:2\";";
    expect_spans("linux-2.6.22", snc2, "SIBLING 2/2, MC 6/3, NODE 24/4");
}

static void levels_must_nest(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    struct domains_ladder l = {.nrows = 2};
    struct wb_sd *lowest[8];
    l.row[0] = (struct domains_row){.span = DOMAINS_NODE, .level = {.name = "NODE"}};
    l.row[1] = (struct domains_row){.span = DOMAINS_PACKAGE, .level = {.name = "CPU"}};
    assert_int_equal(domains_make(s, s->topo, &l, lowest), 1);
    fake_free(s);
}

static void build_decides_which_rows_apply(void **state)
{
    (void)state;
    struct domains_ladder l;
    struct wb_sim *s =
        fake_load(&o1_policy, "linux-2.6.11", TIGER, (const char *const[]){"kernel.sched_smt=true", NULL});
    assert_int_equal(domains_read(wb_scenario_config(s->scenario), s->topo, &l, s->diag), 0);
    assert_int_equal(l.nrows, 2);
    assert_string_equal(l.row[0].level.name, "SIBLING");
    assert_false(l.degenerate);
    fake_free(s);
}

static void unknown_flags_are_named(void **state)
{
    (void)state;
    struct domains_ladder l;
    struct wb_sim *s =
        fake_load(&o1_policy,
                  "scheduler = \"o1\"; domains = ( { level = \"CPU\"; span = \"all\"; flags = [ \"WAKE_IDEL\" ]; } );",
                  TIGER, NULL);
    assert_int_equal(domains_read(wb_scenario_config(s->scenario), s->topo, &l, s->diag), -1);
    char *text = wb_diag_render(s->diag, false);
    assert_non_null(strstr(text, "no domain flag is called 'WAKE_IDEL'"));
    assert_non_null(strstr(text, "did you mean WAKE_IDLE"));
    free(text);
    fake_free(s);
}

/* 4096 CPUs: half a second at most, memory in proportion. */
static void large_machines_build_fast(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    struct wb_topo_options opt = {.cache_size = {32 << 10, 256 << 10, 8 << 20}};
    struct wb_topology *big = wb_topo_from_synthetic("pack:64 [numa] l3:4 core:8 pu:2", &opt, s->diag);
    assert_non_null(big);
    struct domains_ladder l;
    struct wb_sd **lowest = calloc(big->ncpus, sizeof *lowest);
    struct timespec a, b;
    assert_int_equal(domains_read(wb_scenario_config(s->scenario), big, &l, s->diag), 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    assert_int_equal(domains_make(s, big, &l, lowest), -1);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    assert_int_equal(big->ncpus, 4096);
    assert_int_equal(lowest[4095]->parent->span_weight, 6 * 64);
    double took = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
    if (took > 0.5) fail_msg("4096 CPUs took %.2f s", took);
    free(lowest);
    wb_topology_free(big);
    fake_free(s);
}

static void key_rows_are_sound(void **state)
{
    (void)state;
    size_t n;
    const struct wb_key *rows = wb_domain_keys(&n);
    for (size_t i = 0; i < n; i++)
        if (wb_key_lint(&rows[i])) fail_msg("%s: %s", rows[i].path, wb_key_lint(&rows[i]));
    for (size_t i = 0; i < O1_KEYS; i++)
        if (wb_key_lint(&o1_keys[i])) fail_msg("%s: %s", o1_keys[i].path, wb_key_lint(&o1_keys[i]));
    for (size_t i = 0; i < O1_RULES; i++) assert_non_null(o1_rules[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_2_6_10_i386),
        cmocka_unit_test(table_2_6_10_ia64),
        cmocka_unit_test(table_2_6_11_i386),
        cmocka_unit_test(table_2_6_11_ia64),
        cmocka_unit_test(table_2_6_22_x86_64),
        cmocka_unit_test(table_2_6_22_i386_node),
        cmocka_unit_test(table_2_6_22_ia64),
        cmocka_unit_test(tiger_has_one_domain),
        cmocka_unit_test(ladders_of_2_6_22_machines),
        cmocka_unit_test(levels_stay_without_degeneration),
        cmocka_unit_test(power_2_6_11),
        cmocka_unit_test(power_2_6_22),
        cmocka_unit_test(rings_start_at_the_own_group),
        cmocka_unit_test(numbering_is_the_machine_s),
        cmocka_unit_test(node_spans_are_the_nearest),
        cmocka_unit_test(caches_end_at_nodes),
        cmocka_unit_test(levels_must_nest),
        cmocka_unit_test(build_decides_which_rows_apply),
        cmocka_unit_test(unknown_flags_are_named),
        cmocka_unit_test(large_machines_build_fast),
        cmocka_unit_test(key_rows_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
