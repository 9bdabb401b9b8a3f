/*
 * fair_balance_load.c - find_busiest_group() of 5.4: runnable PELT loads, four group types (Linux 5.4
 * kernel/sched/fair.c update_sd_lb_stats, update_sd_pick_busiest, calculate_imbalance, fix_small_imbalance).
 *
 * Groups other than the local one that run more tasks than it by two count as overloaded where the level below spreads
 * and the local group has room: that is what spreads tasks over cores and caches.
 */
#include "fair_groups.h"

struct search {
    struct wb_exec *x;
    const struct fair_sim *f;
    struct wb_balance *b;
    struct fair_domain_stats st;
    uint32_t pct;
};

static void classify(struct fair_group *s)
{
    s->type = s->no_capacity              ? FAIR_GROUP_OVERLOADED
              : *fair_group_pinned(s->sg) ? FAIR_GROUP_IMBALANCED
              : s->misfit                 ? FAIR_GROUP_MISFIT
                                          : FAIR_GROUP_HAS_SPARE; /* group_other */
}

static void finish(const struct search *k, struct fair_group *s)
{
    s->avg_load = s->load * PELT_SCALE / s->capacity;
    s->per_task = s->h_nr ? s->load / s->h_nr : 0;
    s->no_capacity = fair_group_overloaded_5_4(k->pct, s);
    classify(s);
}

static bool lower(const struct fair_sim *f, cpu_id a, cpu_id than)
{
    return f->bal.priority[a] < f->bal.priority[than];
}

/* Groups of lower priority than an idle CPU count as busy, the lowest first. */
static bool packs(const struct search *k, const struct fair_group *s)
{
    cpu_id there = fair_preferred_cpu(k->f, s->sg);
    if (!s->h_nr || !lower(k->f, there, k->b->dst)) return false;
    return !k->st.busiest.sg || lower(k->f, there, fair_preferred_cpu(k->f, k->st.busiest.sg));
}

static uint64_t cpu_extreme(const struct fair_sim *f, const struct wb_sg *g, bool most)
{
    uint64_t v = fair_capacity(f, g->first);
    WB_FOR_EACH_CPU (c, &g->mask) v = most ? WB_MAX(v, fair_capacity(f, c)) : WB_MIN(v, fair_capacity(f, c));
    return v;
}

/* group_smaller_{min,max}_cpu_capacity: by 20 %. */
static bool smaller(uint64_t a, uint64_t b)
{
    return a * 1280 < b * 1024;
}

static bool busier(const struct search *k, const struct fair_group *s)
{
    const struct fair_group *best = &k->st.busiest;
    const struct fair_sim *f = k->f;
    const struct wb_sg *here = k->st.local.sg;
    uint32_t flags = k->b->sd->flags;
    if (s->type == FAIR_GROUP_MISFIT && (!smaller(cpu_extreme(f, s->sg, true), cpu_extreme(f, here, true)) ||
                                         !fair_group_has_room_5_4(k->pct, &k->st.local)))
        return false;
    if (s->type != best->type) return s->type > best->type;
    if (s->avg_load <= best->avg_load) return false;
    if (flags & WB_SD_ASYM_CAPACITY) {
        if (s->h_nr <= s->weight && smaller(cpu_extreme(f, here, false), cpu_extreme(f, s->sg, false))) return false;
        if (s->type == FAIR_GROUP_MISFIT && s->misfit < best->misfit) return false;
    }
    if (!(flags & WB_SD_ASYM_PACKING) || !fair_dst_idle(k->b)) return true;
    return packs(k, s);
}

static void see(struct search *k, struct wb_sg *g, bool local, bool *overloaded)
{
    struct fair_domain_stats *st = &k->st;
    struct fair_group s;
    fair_group_sum(k->x, k->b, g, local, &s);
    finish(k, &s);
    *overloaded |= s.overloaded || s.misfit;
    st->total_load += s.load;
    st->total_capacity += s.capacity;
    if (local) {
        st->local = s;
        return;
    }
    if (st->prefer_sibling && fair_group_has_room_5_4(k->pct, &st->local) && s.h_nr > st->local.h_nr + 1) {
        s.no_capacity = true;
        classify(&s);
    }
    if (busier(k, &s)) st->busiest = s;
}

static struct wb_sg *give(struct search *k, uint64_t imbalance, wb_rule rule)
{
    k->b->imbalance = (int64_t)imbalance;
    k->b->rule = rule;
    return imbalance ? k->st.busiest.sg : NULL;
}

/* The busiest group as find_busiest_group() and fix_small_imbalance() compare it with the local one. */
static struct busiest_pair pair_of(const struct search *k)
{
    const struct fair_group *there = &k->st.busiest, *here = &k->st.local;
    struct busiest_pair p = {.avg = k->st.avg_load, .pct = k->pct};
    p.busiest = (struct busiest_side){there->avg_load, there->load, there->h_nr, there->capacity, 0};
    p.local = (struct busiest_side){here->avg_load, here->load, here->h_nr, here->capacity, 0};
    return p;
}

static struct wb_sg *small(struct search *k, uint64_t imbalance)
{
    struct busiest_pair p = pair_of(k);
    int64_t amount = (int64_t)imbalance;
    static const wb_rule rule[] = {
        [BUSIEST_SMALL] = FAIR_R_LB_SMALL, [BUSIEST_TWO] = FAIR_R_LB_TWO, [BUSIEST_GAIN] = FAIR_R_LB_GAIN};
    enum busiest_verdict v = busiest_small(&k->f->br->busiest, &p, k->st.busiest.per_task, &amount);
    return give(k, (uint64_t)amount, rule[v]);
}

static uint64_t above_capacity(const struct search *k)
{
    const struct fair_group *there = &k->st.busiest;
    uint64_t load = there->h_nr * PELT_SCALE;
    if (there->type != FAIR_GROUP_OVERLOADED || k->st.local.type != FAIR_GROUP_OVERLOADED) return UINT64_MAX;
    if (load <= there->capacity) return UINT64_MAX;
    return (load - there->capacity) * WEIGHT_NICE_0 / there->capacity;
}

static struct wb_sg *calculate(struct search *k)
{
    struct fair_group *there = &k->st.busiest, *here = &k->st.local;
    uint64_t avg = k->st.avg_load;
    bool misfit = there->type == FAIR_GROUP_MISFIT;
    fair_pass(k->x)->src_misfit = misfit;
    if (there->type == FAIR_GROUP_IMBALANCED) there->per_task = WB_MIN(there->per_task, avg);
    if (!misfit && (there->avg_load <= avg || here->avg_load >= avg)) return small(k, 0);
    uint64_t pull = WB_MIN(there->avg_load - avg, above_capacity(k));
    uint64_t amount = WB_MIN(pull * there->capacity, (avg - here->avg_load) * here->capacity) / PELT_SCALE;
    if (misfit) return give(k, WB_MAX(amount, there->misfit), FAIR_R_LB_MISFIT);
    if (amount < there->per_task) return small(k, amount);
    return give(k, amount, there->type == FAIR_GROUP_IMBALANCED ? FAIR_R_LB_IMBALANCED : FAIR_R_LB_AVERAGE);
}

static bool forced(const struct search *k)
{
    const struct fair_group *there = &k->st.busiest;
    if (there->type == FAIR_GROUP_IMBALANCED || there->type == FAIR_GROUP_MISFIT) return true;
    return fair_dst_idle(k->b) && fair_group_has_room_5_4(k->pct, &k->st.local) && there->no_capacity;
}

static bool worth_it(const struct search *k)
{
    const struct fair_group *there = &k->st.busiest, *here = &k->st.local;
    if (here->avg_load >= there->avg_load || here->avg_load >= k->st.avg_load) return false;
    if (fair_dst_idle(k->b) && !fair_newly_idle(k->b))
        return there->type == FAIR_GROUP_OVERLOADED || here->idle_cpus > there->idle_cpus + 1;
    return 100 * there->avg_load > k->pct * here->avg_load;
}

/* check_asym_packing: all of it. */
static bool pack_all(struct search *k)
{
    const struct fair_group *there = &k->st.busiest;
    if (!(k->b->sd->flags & WB_SD_ASYM_PACKING) || !fair_dst_idle(k->b) || !there->sg) return false;
    if (lower(k->f, k->b->dst, fair_preferred_cpu(k->f, there->sg))) return false;
    k->b->imbalance = (int64_t)there->load;
    k->b->rule = FAIR_R_LB_ASYM;
    return true;
}

struct wb_sg *fair_busiest_load(struct wb_exec *x, struct wb_balance *b)
{
    struct search k = {.x = x, .f = fair_of(x), .b = b, .pct = b->sd->level->imbalance_pct};
    const struct wb_sd *child = b->sd->child;
    bool overloaded = false;
    b->rule = FAIR_R_LB_BALANCED;
    fair_pass(x)->move = FAIR_MOVE_LOAD;
    k.st.prefer_sibling = child && child->flags & WB_SD_PREFER_SIBLING;
    for (uint32_t i = 0; i < b->sd->ngroups; i++) see(&k, wb_sd_group(b->sd, i), i == 0, &overloaded);
    fair_note_domain(x, b, 0, overloaded);
    if (pack_all(&k)) return k.st.busiest.sg;
    if (!k.st.busiest.sg || !k.st.busiest.h_nr) return NULL;
    k.st.avg_load = PELT_SCALE * k.st.total_load / k.st.total_capacity;
    return forced(&k) || worth_it(&k) ? calculate(&k) : NULL;
}
