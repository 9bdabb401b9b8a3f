/*
 * fair_balance_weight.c - find_busiest_group() of 2.6.23 .. 2.6.36: sums of weights.
 *
 * 2.6.23, 2.6.24 kernel/sched.c: powers as in 2.6.22, an allowance of one task (FUZZ); 2.6.24 lets uneven groups give.
 * 2.6.35, 2.6.36 kernel/sched_fair.c: capacity is rounded from the power, one task per group where the level below
 * spreads (PREFER_SIBLING), powers of threads by smt_gain; 2.6.36 asymmetric packing.
 */
#include "fair_groups.h"

struct search {
    struct wb_exec *x;
    const struct fair_sim *f;
    struct wb_balance *b;
    struct busiest_pair pair;
    struct wb_sg *busiest;
    uint64_t total_load, total_power;
    bool prefer_sibling;
};

static bool uneven(const struct search *k, const struct fair_group *s)
{
    if (!k->f->br->group_imb || s->min_cpu > s->max_cpu) return false;
    if (k->f->v->release < FAIR_2_6_35) return s->max_cpu - s->min_cpu > WEIGHT_NICE_0;
    return s->max_cpu - s->min_cpu > 2 * (s->nr ? s->tasks / s->nr : 0);
}

/* How many tasks a group runs without any waiting. */
static uint64_t room(const struct search *k, const struct fair_group *s)
{
    if (k->f->v->release < FAIR_2_6_35) return s->capacity / WEIGHT_NICE_0;
    uint64_t n = (s->capacity + WEIGHT_NICE_0 / 2) / WEIGHT_NICE_0;
    /* fix_small_capacity (2.6.36): a thread of a core of more than two counts as one. */
    if (!n && k->f->v->release == FAIR_2_6_36 && k->b->sd->flags & WB_SD_SHARE_CPUPOWER) n = 1;
    return k->prefer_sibling ? WB_MIN(n, 1u) : n;
}

static bool packs(const struct search *k, const struct fair_group *s)
{
    if (!k->f->br->asym_lowest || !(k->b->sd->flags & WB_SD_ASYM_PACKING) || !s->nr) return false;
    return k->b->this_cpu < s->sg->first && (!k->busiest || k->busiest->first > s->sg->first);
}

static void rank(struct search *k, const struct fair_group *s, bool local)
{
    struct busiest_side side = {.load = s->load * WEIGHT_NICE_0 / s->capacity,
                                .weight = s->tasks,
                                .nr = s->nr,
                                .power = s->capacity,
                                .capacity = room(k, s)};
    bool imb = uneven(k, s);
    k->total_load += s->load;
    k->total_power += s->capacity;
    if (local) {
        k->pair.local = side;
        return;
    }
    if (side.load <= k->pair.busiest.load || !(s->nr > side.capacity || imb || packs(k, s))) return;
    k->pair.busiest = side;
    k->pair.group_imb = imb;
    k->busiest = s->sg;
}

/* Packing takes everything from CPUs of higher numbers. */
static bool check_packing(struct search *k)
{
    const struct wb_sd *sd = k->b->sd;
    if (!k->f->br->asym_lowest || !(sd->flags & WB_SD_ASYM_PACKING) || !fair_dst_idle(k->b) || !k->busiest ||
        k->b->this_cpu > k->busiest->first)
        return false;
    uint64_t power = k->pair.busiest.power;
    k->b->imbalance = (int64_t)((k->pair.busiest.load * power + WEIGHT_NICE_0 / 2) / WEIGHT_NICE_0);
    k->b->rule = FAIR_R_LB_ASYM;
    return true;
}

struct wb_sg *fair_busiest_weight(struct wb_exec *x, struct wb_balance *b)
{
    static const wb_rule rule[] = {[BUSIEST_NONE] = FAIR_R_LB_BALANCED,
                                   [BUSIEST_AVERAGE] = FAIR_R_LB_AVERAGE,
                                   [BUSIEST_TWO] = FAIR_R_LB_TWO,
                                   [BUSIEST_GAIN] = FAIR_R_LB_GAIN,
                                   [BUSIEST_SMALL] = FAIR_R_LB_SMALL};
    struct search k = {.x = x, .f = fair_of(x), .b = b};
    const struct wb_sd *child = b->sd->child;
    k.prefer_sibling = k.f->br->prefer_sibling && child && child->flags & WB_SD_PREFER_SIBLING;
    k.pair.pct = b->sd->level->imbalance_pct;
    for (uint32_t i = 0; i < b->sd->ngroups; i++) {
        struct fair_group s;
        fair_group_sum(x, b, wb_sd_group(b->sd, i), i == 0, &s);
        if (i == 0 && !fair_should_balance(x, b)) {
            b->flags |= LADDER_NOT_MINE;
            return NULL;
        }
        rank(&k, &s, i == 0);
    }
    if (check_packing(&k)) return k.busiest;
    if (!k.busiest) return NULL;
    k.pair.avg = WEIGHT_NICE_0 * k.total_load / k.total_power;
    enum busiest_verdict v = busiest_decide(&k.f->br->busiest, &k.pair, &b->imbalance);
    b->rule = rule[v];
    return v == BUSIEST_NONE ? NULL : k.busiest;
}
