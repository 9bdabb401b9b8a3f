/* Which group gives, and how much: decision tables of every version, worked by hand.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fair_groups.h"
#include "fairscene.h"
#include "fakekernel.h"

#define NEWIDLE WB_BAL_NEWIDLE
#define IDLE WB_BAL_PERIODIC_IDLE
#define BUSY WB_BAL_PERIODIC_BUSY
#define V66 FAIR_SINCE(FAIR_6_6)
#define V61 ONLY(FAIR_6_1)
#define V515_61 FAIR_IN(FAIR_5_15, FAIR_6_1)
#define NONE WB_NO_CPU
#define OCTS "topology = \"pack:2 [numa] l3:1(size=8388608) core:8 pu:1\";" /* 0-7 | 8-15 */

struct row {
    uint32_t releases;
    const char *machine;
    uint32_t level; /* of the domain, 0 = lowest */
    cpu_id dst;
    enum wb_balance_kind kind;
    const char *busy; /* hogs: each of load 1024, its CPU's utilisation full */
    cpu_id src;       /* NONE: nothing found */
    int64_t imbalance;
    enum fair_rule rule;
    /* less common */
    enum fair_move move;
    const char *light, *heavy, *set; /* tasks of utilisation 100; of nice -5 (weight 3121) */
    cpu_id pinned;                   /* + 1: its group has the imbalance flag */
};
#define AT(v, m, l, d, k, b) .releases = (v), .machine = (m), .level = (l), .dst = (d), .kind = (k), .busy = (b)
#define GIVES(c, n, r) .src = (c), .imbalance = (n), .rule = FAIR_R_LB_##r
#define NOTHING(r) .src = NONE, .rule = FAIR_R_LB_##r

static const struct row rows[] = {
    /* ---- 2.6.23, 2.6.24: power 1024 a pair, room for one task */
    {AT(V23 | V24, PAIRS, 0, 0, IDLE, "1x2"), GIVES(1, 1024, AVERAGE)}, /* min(2048 - 1024, 1024 - 0) */
    {AT(V23 | V24, PAIRS, 0, 0, NEWIDLE, "1x2"), GIVES(1, 1024, AVERAGE)},
    {AT(V23 | V24, PAIRS, 0, 0, IDLE, "1"), NOTHING(BALANCED)},     /* one task, room for one */
    {AT(V23 | V24, PAIRS, 1, 0, IDLE, "2-3"), GIVES(2, 1024, TWO)}, /* 512 < 1024; 2048 + 1024 >= 2048 */
    {AT(V23 | V24, PAIRS, 1, 0, IDLE, "2"), NOTHING(BALANCED)},
    {AT(V23 | V24, PAIRS, 1, 0, IDLE, "2x3 3"), GIVES(2, 1024, AVERAGE)}, /* average 4096 / 4 */
    {AT(V23 | V24, PAIRS, 1, 1, IDLE, "2x4"), NOTHING(NOT_MINE)},
    {AT(V23 | V24, PAIRS, 1, 1, NEWIDLE, "2x4"), GIVES(2, 1024, AVERAGE)},
    {AT(V23 | V24, PAIRS, 1, 1, IDLE, "0 2x4"), GIVES(2, 1024, TWO)}, /* min(2816, 256); 4096 + 1024 >= 1024 + 2048 */
    {AT(V24, PAIRS, 0, 0, BUSY, "0 1x3"), GIVES(1, 1024, AVERAGE)},   /* average 2048 */
    {AT(V23, PAIRS, 0, 0, BUSY, "0 1x3"), GIVES(1, 1024, TWO)},       /* measured loads are rounded down: 1023 */
    {AT(V23 | V24, PAIRS, 0, 0, BUSY, "0x4 1x5"), NOTHING(BALANCED)}, /* 5120 <= 125 % of 4096 */
    {AT(V24, PAIRS, 0, 0, BUSY, "0x2 1x3"), GIVES(1, 1024, TWO)},     /* 512; 3072 + 1024 >= 2048 + 2048 */
    /* an uneven group within its capacity: 3121 - 0 > 1024 (2.6.24); its only task is too heavy to take */
    {AT(V24, PAIRS, 1, 0, IDLE, ""), NOTHING(NO_QUEUE), .heavy = "2"},
    {AT(V23, PAIRS, 1, 0, IDLE, ""), NOTHING(BALANCED), .heavy = "2"},

    /* ---- 2.6.35, 2.6.36: power 1024 a CPU, room for one task a group where the level below spreads */
    {AT(V35, PAIRS, 0, 0, IDLE, "1x2"), GIVES(1, 1024, AVERAGE)},
    {AT(V35, PAIRS, 0, 0, IDLE, "1"), NOTHING(BALANCED)},
    {AT(V35, PAIRS, 1, 0, IDLE, "2-3"), GIVES(2, 1024, TWO)}, /* min(768, 512) * 2 > 512; 1024 + 512 >= 1024 */
    {AT(V35, PAIRS, 1, 0, IDLE, "2"), NOTHING(BALANCED)},
    {AT(V35, PAIRS, 1, 0, NEWIDLE, "2-3"), GIVES(2, 1024, TWO)},
    {AT(V35, PAIRS, 1, 1, IDLE, "2-3"), NOTHING(NOT_MINE)},
    {AT(V35, PAIRS, 0, 0, BUSY, "0 1x3"), GIVES(1, 1024, AVERAGE)}, /* min(1024, 2048), 2048 - 1024 */
    {AT(V35, PAIRS, 0, 0, BUSY, "0x4 1x5"), NOTHING(BALANCED)},
    {AT(V35, PAIRS, 0, 0, IDLE, "1x4"), GIVES(1, 2048, AVERAGE)}, /* min(2048, 3072), 2048 */
    /* threads of 589, cores of 1178: min(1335, 890), 445 -> 511; 1780 + 890 >= 1780 */
    {AT(V35, SMT, 1, 0, IDLE, "2-3"), GIVES(2, 1024, TWO)},
    {AT(V35, SMT, 1, 0, IDLE, "2"), NOTHING(BALANCED)},
    {AT(V35, SMT, 0, 0, IDLE, "1x2"), GIVES(1, 1024, TWO)}, /* average 1780: 890 * 589 / 1024 = 511 */

    /* ---- 5.4 */
    /* overloaded: min(1536, 512) = 512 < 1024; 2048 + 1024 >= 2048 */
    {AT(V54, QUADS, 0, 0, IDLE, "1x2"), GIVES(1, 1024, TWO)},
    {AT(V54, QUADS, 0, 0, IDLE, "1"), NOTHING(BALANCED)},                /* 1 idle <= 0 + 1 */
    {AT(V54, QUADS, 0, 0, NEWIDLE, "1"), GIVES(1, 1024, TWO)},           /* load alone; its only task runs */
    {AT(V54, QUADS, 0, 0, IDLE, ""), NOTHING(BALANCED), .light = "1x2"}, /* not overloaded, 1 <= 0 + 1 */
    {AT(V54, QUADS, 0, 0, NEWIDLE, ""), GIVES(1, 1024, TWO), .light = "1x2"},
    /* two tasks more than here where the level below spreads: no capacity. 256 * 2 = 512; 1024 + 512 >= 1024 */
    {AT(V54, SMT, 1, 0, IDLE, "2-3"), GIVES(2, 1024, TWO)},
    {AT(V54, SMT, 1, 0, IDLE, "2"), NOTHING(BALANCED)},
    {AT(V54, QUADS, 0, 0, BUSY, "0 1x3 2-3"),
     GIVES(1, 1024, TWO)}, /* average 1536: 512; 3072 + 1024 >= 1024 + 1024 * 2 */
    {AT(V54, QUADS, 0, 0, BUSY, "0x2 1x2 2-3"), NOTHING(BALANCED)},
    {AT(V54, QUADS, 1, 1, IDLE, "4x2"), NOTHING(NOT_MINE)},
    /* affinity: a quarter of a task would level all, but the queue's only task is heavier */
    {AT(V54, QUADS, 0, 0, IDLE, "1"), NOTHING(NO_QUEUE), .pinned = 2},
    {AT(V54, QUADS, 0, 0, IDLE, "1x2"), GIVES(1, 1024, TWO), .pinned = 2}, /* overloaded comes first */
    /* nodes: two tasks more than here: no capacity; min(512 - 256, 256) * 4 */
    {AT(V54, QUADS, 1, 0, IDLE, "4-5"), GIVES(4, 1024, AVERAGE)},
    {AT(V54, QUADS, 1, 0, IDLE, "4"), NOTHING(BALANCED)},
    {AT(V54, QUADS, 1, 0, BUSY, "0-3 4-7"), NOTHING(BALANCED)},
    {AT(V54, QUADS, 0, 0, IDLE, "1x2 2x3"), GIVES(2, 1280, AVERAGE)}, /* average 1280: min(1792, 1280) */
    {AT(V54, QUADS, 0, 0, BUSY, "0 1x2"), NOTHING(BALANCED)},         /* 1024 >= 768 */
    {AT(V54, SMT, 0, 0, IDLE, "1x2"), GIVES(1, 1024, AVERAGE)},       /* min(2048 - 1024, 1024) */
    {AT(V54, SMT, 1, 1, IDLE, "0 2-3"), NOTHING(BALANCED)},           /* one more than here: no spreading; 1 <= 0 + 1 */

    /* ---- 5.15 and later: one cache */
    {AT(V515, QUADS, 0, 0, IDLE, "1x2"), GIVES(1, 1, SIBLINGS), .move = FAIR_MOVE_TASK},
    {AT(V515, QUADS, 0, 0, NEWIDLE, "1x2"), GIVES(1, 1, SIBLINGS), .move = FAIR_MOVE_TASK},
    {AT(V515, QUADS, 0, 0, IDLE, "1x5"), GIVES(1, 2, SIBLINGS), .move = FAIR_MOVE_TASK},
    {AT(V515, QUADS, 0, 0, IDLE, ""), GIVES(1, 1, SIBLINGS), .move = FAIR_MOVE_TASK, .light = "1x2"},
    {AT(V515, QUADS, 0, 0, IDLE, "1"), NOTHING(BALANCED), .move = FAIR_MOVE_TASK},
    {AT(V515, QUADS, 0, 0, IDLE, "1-3"), NOTHING(BALANCED), .move = FAIR_MOVE_TASK},
    {AT(V515, QUADS, 0, 0, IDLE, "1-2 3x2"), GIVES(3, 1, SIBLINGS), .move = FAIR_MOVE_TASK},
    /* fully busy here: against the average of 1536, or of 1024 when two CPUs are idle */
    {AT(V515, QUADS, 0, 0, BUSY, "0 1x3 2-3"), GIVES(1, 512, LEVEL), .move = FAIR_MOVE_LOAD},
    {AT(V515 & ~V61, QUADS, 0, 0, BUSY, "0 1x3"), NOTHING(BALANCED), .move = FAIR_MOVE_LOAD},
    {AT(V61, QUADS, 0, 0, BUSY, "0 1x3"), NOTHING(LEVEL), .move = FAIR_MOVE_LOAD}, /* min(2048, 0) */
    /* both overloaded: min(3072 - 2304, 2304 - 2048); the margin of 17 % */
    {AT(V515, QUADS, 0, 0, BUSY, "0x2 1x3 2x2 3x2"), GIVES(1, 256, LEVEL), .move = FAIR_MOVE_LOAD},
    {AT(V515, QUADS, 0, 0, BUSY, "0x2 1x2 2x2 3x2"), NOTHING(BALANCED), .move = FAIR_MOVE_TASK},
    {AT(V515, QUADS, 0, 0, BUSY, "0x6 1x7 2x7 3x6"), NOTHING(BALANCED), .move = FAIR_MOVE_TASK}, /* 700 <= 702 */
    {AT(V515, QUADS, 0, 0, IDLE, "1"), GIVES(1, 1, IMBALANCED), .move = FAIR_MOVE_TASK, .pinned = 2},

    /* nodes of four: two tasks over there. 5.15: 0 + 1 < 4 / 4 no; 5.19+: 0 + 1 <= 1 */
    {AT(ONLY(FAIR_5_15), QUADS, 1, 0, IDLE, "4-5"), GIVES(4, 1, SIBLINGS), .move = FAIR_MOVE_TASK},
    {AT(FAIR_SINCE(FAIR_6_1), QUADS, 1, 0, IDLE, "4-5"), NOTHING(NUMA_KEPT), .move = FAIR_MOVE_TASK},
    {AT(V515, QUADS, 1, 0, IDLE, "4-6"), GIVES(4, 1, SIBLINGS), .move = FAIR_MOVE_TASK},
    {AT(V515, QUADS, 1, 0, IDLE, "4-5"), GIVES(4, 1, SIBLINGS), .move = FAIR_MOVE_TASK,
     .set = "policy.numa_imbalance=none"},
    {AT(V515, QUADS, 1, 0, IDLE, "4"), NOTHING(BALANCED), .move = FAIR_MOVE_TASK},
    {AT(V515, QUADS, 1, 1, IDLE, "4x3"), NOTHING(NOT_MINE), .move = FAIR_MOVE_TASK},
    /* overloaded over there, nothing here: spare utilisation */
    {AT(V515, QUADS, 1, 0, IDLE, "4-7x2"), GIVES(4, 4096, FILL), .move = FAIR_MOVE_UTIL},
    {AT(V515, QUADS, 1, 0, NEWIDLE, "1-3 4-7x2"), GIVES(4, 1024, FILL), .move = FAIR_MOVE_UTIL},
    /* a busy CPU takes from groups with spare capacity only where the level below spreads, up to 6.1 */
    {AT(V515, QUADS, 0, 0, BUSY, ""), NOTHING(BALANCED), .move = FAIR_MOVE_TASK, .light = "0 1x2"},
    {AT(V515_61, SMT, 1, 0, BUSY, ""), GIVES(2, 1, SIBLINGS), .move = FAIR_MOVE_TASK, .light = "0-1 2-3x2"},
    {AT(V66, SMT, 1, 0, BUSY, ""), NOTHING(BALANCED), .move = FAIR_MOVE_TASK, .light = "0-1 2-3x2"},
    /* an idle core first from 6.5 on: CPU 1 is idle on a busy core, 2 on an idle one */
    {AT(V66, "topology = \"pack:2 [numa] l3:1(size=8388608) core:2 pu:2\";", 2, 2, IDLE, "0 4-7x2"),
     GIVES(4, 3072, FILL), .move = FAIR_MOVE_UTIL},
    {AT(V515_61, "topology = \"pack:2 [numa] l3:1(size=8388608) core:2 pu:2\";", 2, 2, IDLE, "0 4-7x2"),
     NOTHING(NOT_MINE), .move = FAIR_MOVE_TASK},
    /* asymmetric packing: an idle CPU of higher priority takes what runs on lower ones */
    {AT(V515, QUADS, 0, 0, IDLE, "1"), GIVES(1, 1, ASYM), .move = FAIR_MOVE_TASK,
     .set = "policy.cpu_priority=[\"0 2\",\"1-3 1\"]"},
    {AT(V515, QUADS, 0, 1, IDLE, "0"), NOTHING(BALANCED), .move = FAIR_MOVE_TASK,
     .set = "policy.cpu_priority=[\"0 2\",\"1-3 1\"]"},
    /* ... of two that are as low as each other the last, from 6.9 on the first */
    {AT(FAIR_IN(FAIR_5_15, FAIR_6_6), QUADS, 0, 0, IDLE, "1-2"), GIVES(2, 1, ASYM), .move = FAIR_MOVE_TASK,
     .set = "policy.cpu_priority=[\"0 2\",\"1-3 1\"]"},
    {AT(FAIR_SINCE(FAIR_6_12), QUADS, 0, 0, IDLE, "1-2"), GIVES(1, 1, ASYM), .move = FAIR_MOVE_TASK,
     .set = "policy.cpu_priority=[\"0 2\",\"1-3 1\"]"},
    {AT(V54, QUADS, 0, 0, IDLE, "1"), GIVES(1, 1024, ASYM), .set = "policy.cpu_priority=[\"0 2\",\"1-3 1\"]"},
    /* two hogs of one node of eight while the other is empty: 5.11 to 5.17 looked at the source (2 < 2 no), 5.18 at the
     * destination (0 + 1 < 2), 5.19 at the caches (0 + 1 <= 1) */
    {AT(ONLY(FAIR_5_15), OCTS, 1, 0, IDLE, "8-9"), GIVES(8, 1, SIBLINGS), .move = FAIR_MOVE_TASK,
     .set = "policy.numa_imbalance=source"},
    {AT(V515, OCTS, 1, 0, IDLE, "8-9"), NOTHING(NUMA_KEPT), .move = FAIR_MOVE_TASK},

    /* threads: two on one core, none here */
    {AT(V515_61, SMT, 1, 0, IDLE, "2-3"), GIVES(2, 1, SIBLINGS), .move = FAIR_MOVE_TASK},
    {AT(V66, SMT, 1, 0, IDLE, "2-3"), GIVES(2, 1, SMT), .move = FAIR_MOVE_TASK},
    {AT(V515, SMT, 1, 1, IDLE, "0 2-3"), NOTHING(BALANCED), .move = FAIR_MOVE_TASK},
    {AT(V515, SMT, 1, 0, IDLE, "2"), NOTHING(BALANCED), .move = FAIR_MOVE_TASK},
    {AT(V515, SMT, 1, 0, IDLE, "2x2 3"), .src = 2, .imbalance = 1, .move = FAIR_MOVE_TASK, .rule = 0},
};

/* ---- states ---- */

/* What CPUs look like after their tasks have run for seconds. */
static void steady(struct wb_sim *s, uint64_t util_of_light, const bool *light)
{
    for (cpu_id c = 0; c < s->ncpus; c++) {
        struct fair_rq *r = fair_rq(&s->rq[c]);
        const struct fair_sim *f = s->policy;
        uint64_t util = !r->nr ? 0 : light[c] ? util_of_light * r->nr : PELT_SCALE;
        r->avg.load_avg = r->load.value;
        r->avg.util_avg = util;
        r->util_est = 0;
        r->avg.runnable_avg = f->v->release == FAIR_5_4 ? r->load.value : light[c] ? util : PELT_SCALE * r->nr;
    }
}

static struct wb_sim *build(const struct row *r, enum fair_release v)
{
    const char *sets[] = {r->set, NULL};
    struct wb_sim *s = scene_new(v, r->machine, sets);
    bool light[64] = {false};
    scene_busy(s, r->light, 0, WB_CLASS_NORMAL);
    for (cpu_id c = 0; c < s->ncpus; c++) light[c] = fair_rq(&s->rq[c])->nr > 0;
    scene_busy(s, r->heavy, -5, WB_CLASS_NORMAL);
    scene_busy(s, r->busy, 0, WB_CLASS_NORMAL);
    scene_settle(s);
    steady(s, 100, light);
    return s;
}

static struct wb_sd *domain(struct wb_sim *s, cpu_id cpu, uint32_t level)
{
    struct wb_sd *sd = s->rq[cpu].sd;
    while (level--) sd = sd->parent;
    assert_non_null(sd);
    return sd;
}

static const char *text(const struct wb_sim *s, const struct wb_balance *b, bool found)
{
    static char buf[200];
    const struct fair_sim *f = s->policy;
    (void)snprintf(buf, sizeof buf, "%s src %d imbalance %lld move %d (%s) [%s]", f->v->name, found ? (int)b->src : -1,
                   (long long)b->imbalance, (int)fair_rq(&s->rq[b->exec_cpu])->bal.pass.move, fair_rules[b->rule],
                   b->sd->level->name);
    return buf;
}

static int bad_rows;

static void check_row(const struct row *r, size_t i, enum fair_release v)
{
    struct wb_sim *s = build(r, v);
    struct wb_sd *sd = domain(s, r->dst, r->level);
    if (r->pinned)
        for (uint32_t g = 0; g < sd->ngroups; g++)
            if (wb_mask_test(&sd->groups[g].mask, r->pinned - 1)) *fair_group_pinned(&sd->groups[g]) = 1;
    struct wb_balance b = {
        .kind = r->kind, .this_cpu = r->dst, .exec_cpu = r->dst, .dst = r->dst, .src = NONE, .sd = sd};
    struct fair_pass *pass = &fair_rq(&s->rq[r->dst])->bal.pass;
    *pass = (struct fair_pass){.new_dst = NONE};
    const struct wb_balance_ops *ops = r->kind == WB_BAL_NEWIDLE ? &fair_balance_newidle : &fair_balance_periodic;
    bool found = ops->find(fake_exec(s, r->dst), &b);
    bool ok = found == (r->src != NONE) && (!r->rule || b.rule == r->rule);
    if (ok && found) ok = b.src == r->src && b.imbalance == r->imbalance && pass->move == r->move;
    if (!ok) {
        print_error("row %zu: %s, expected src %d imbalance %lld move %d (%s)\n", i, text(s, &b, found), (int)r->src,
                    (long long)r->imbalance, (int)r->move, fair_rules[r->rule]);
        bad_rows++;
    }
    fake_free(s);
}

static void tables(void **state)
{
    (void)state;
    for (uint32_t v = 0; v < FAIR_RELEASES; v++)
        for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++)
            if (rows[i].releases >> v & 1) check_row(&rows[i], i, (enum fair_release)v);
    assert_int_equal(bad_rows, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
