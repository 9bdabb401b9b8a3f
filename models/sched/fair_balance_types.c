/*
 * fair_balance_types.c - find_busiest_group() of 5.5 and later: groups by type; load, utilisation or tasks move.
 *
 * Linux 5.15 .. 6.18 kernel/sched/fair.c: update_sg_lb_stats, update_sd_pick_busiest, sibling_imbalance,
 * calculate_imbalance, find_busiest_group (sched_balance_find_src_group from 6.10 on). Energy-aware scheduling is not
 * modelled: machines count as overutilised.
 */
#include "fair_groups.h"

struct search {
    struct wb_exec *x;
    const struct fair_sim *f;
    struct wb_balance *b;
    struct fair_domain_stats st;
    uint32_t pct;
};

static bool smt_group(const struct wb_sg *g)
{
    return fair_group_flags(g) & WB_SD_SHARE_CPUPOWER;
}

/* One is made of threads, the other is not. */
static bool unlike(const struct fair_group *a, const struct fair_group *b)
{
    return a->sg && b->sg && smt_group(a->sg) != smt_group(b->sg);
}

static bool preferred(const struct fair_sim *f, cpu_id a, cpu_id to)
{
    return f->bal.priority[a] > f->bal.priority[to];
}

/* ---- types ---- */

/* asym_smt_can_pull_tasks of 5.16 to 6.4: a CPU without siblings helps a core with two busy threads whatever their
 * priorities; otherwise cores are to have equally many busy threads, and threads help single CPUs only from a core that
 * runs nothing. */
static bool threads_may_pull(const struct search *k, const struct fair_group *s, bool prefers)
{
    const struct fair_group *here = &k->st.local;
    uint64_t busy = s->weight - s->idle_cpus;
    if (!smt_group(here->sg)) return busy >= 2 || prefers;
    if (!smt_group(s->sg)) return !here->nr && prefers;
    return busy == here->weight - here->idle_cpus + 1 && prefers;
}

/* The idle destination should take over from this group. */
static bool asym(const struct search *k, const struct fair_group *s)
{
    const struct wb_balance *b = k->b;
    if (!(b->sd->flags & WB_SD_ASYM_PACKING) || !fair_dst_idle(b) || !s->h_nr) return false;
    bool prefers = preferred(k->f, b->dst, fair_preferred_cpu(k->f, s->sg));
    if (k->f->v->release == FAIR_6_1 && (smt_group(s->sg) || smt_group(k->st.local.sg)))
        return threads_may_pull(k, s, prefers);
    if (!fair_asym_counts(k->x, b->sd, b->dst)) return false;
    if (k->f->br->sibling_cores && smt_group(s->sg) && s->weight - s->idle_cpus != 1) return false;
    return prefers;
}

static void classify(const struct search *k, struct fair_group *s, bool local)
{
    if (!local) {
        s->asym = asym(k, s);
        s->smt = k->f->br->smt_balance && fair_dst_idle(k->b) && smt_group(s->sg) && s->h_nr > 1;
    }
    s->type = fair_group_type(k->pct, s);
    if (s->type == FAIR_GROUP_OVERLOADED) s->avg_load = s->load * PELT_SCALE / s->capacity;
}

/* ---- the busiest ---- */

static uint64_t capacity_extreme(const struct fair_sim *f, const struct wb_sg *g, bool most)
{
    uint64_t v = fair_capacity(f, g->first);
    WB_FOR_EACH_CPU (c, &g->mask) v = most ? WB_MAX(v, fair_capacity(f, c)) : WB_MIN(v, fair_capacity(f, c));
    return v;
}

/* capacity_greater: by 5 %. */
static bool greater(uint64_t a, uint64_t b)
{
    return a * 1024 > b * 1078;
}

static bool fewer_idle(const struct fair_group *s, const struct fair_group *best)
{
    if (s->idle_cpus != best->idle_cpus) return s->idle_cpus < best->idle_cpus;
    return s->nr > best->nr;
}

static bool busier_fully(const struct search *k, const struct fair_group *s)
{
    const struct fair_group *best = &k->st.busiest;
    if (!k->f->br->smt_balance) return s->avg_load > best->avg_load;
    if (s->avg_load != best->avg_load) return s->avg_load > best->avg_load;
    return !smt_group(best->sg);
}

/* Both have the same type. */
static bool busier_alike(const struct search *k, const struct fair_group *s)
{
    const struct fair_group *best = &k->st.busiest;
    bool strict = k->f->br->strict_ties;
    switch (s->type) {
    case FAIR_GROUP_OVERLOADED: return s->avg_load > best->avg_load;
    case FAIR_GROUP_IMBALANCED: return false;
    case FAIR_GROUP_ASYM_PACKING:
        if (strict) return preferred(k->f, fair_preferred_cpu(k->f, best->sg), fair_preferred_cpu(k->f, s->sg));
        return !preferred(k->f, fair_preferred_cpu(k->f, s->sg), fair_preferred_cpu(k->f, best->sg));
    case FAIR_GROUP_MISFIT: return strict ? s->misfit > best->misfit : s->misfit >= best->misfit;
    case FAIR_GROUP_SMT_BALANCE:
        if (s->idle_cpus || best->idle_cpus) return fewer_idle(s, best);
        return busier_fully(k, s);
    case FAIR_GROUP_FULLY_BUSY: return busier_fully(k, s);
    case FAIR_GROUP_HAS_SPARE:
        if (k->f->br->smt_balance && unlike(best, s)) return !(smt_group(s->sg) && s->h_nr <= 1);
        return fewer_idle(s, best);
    }
    return false;
}

static bool busier(const struct search *k, const struct fair_group *s)
{
    const struct fair_sim *f = k->f;
    bool by_capacity = k->b->sd->flags & WB_SD_ASYM_CAPACITY;
    uint64_t here = fair_capacity(f, k->b->dst);
    if (!s->h_nr) return false;
    if (by_capacity && s->type == FAIR_GROUP_MISFIT &&
        (!greater(here, capacity_extreme(f, s->sg, true)) || k->st.local.type != FAIR_GROUP_HAS_SPARE))
        return false;
    if (s->type != k->st.busiest.type) return s->type > k->st.busiest.type;
    if (!busier_alike(k, s)) return false;
    return !(by_capacity && s->type <= FAIR_GROUP_FULLY_BUSY && greater(capacity_extreme(f, s->sg, false), here));
}

static void see(struct search *k, struct wb_sg *g, bool local, bool *overloaded)
{
    struct fair_domain_stats *st = &k->st;
    struct fair_group s;
    fair_group_sum(k->x, k->b, g, local, &s);
    if (!(k->b->sd->flags & WB_SD_ASYM_CAPACITY)) s.misfit = 0;
    classify(k, &s, local);
    *overloaded |= s.overloaded || s.misfit;
    st->total_load += s.load;
    st->total_capacity += s.capacity;
    st->sum_util += s.util;
    if (local)
        st->local = s;
    else if (busier(k, &s))
        st->busiest = s;
}

/* ---- how much ---- */

static int64_t excess(uint64_t a, uint64_t b)
{
    return a > b ? (int64_t)(a - b) : 0;
}

/* Tasks that make groups uneven; from 6.5 on per core, and for idle destinations only. */
static int64_t sibling_imbalance(const struct search *k)
{
    const struct fair_group *there = &k->st.busiest, *here = &k->st.local;
    if (!k->f->br->sibling_cores) return excess(there->nr, here->nr);
    if (!fair_dst_idle(k->b) || !there->nr) return 0;
    uint64_t nt = fair_group_cores(there->sg), nh = fair_group_cores(here->sg);
    if (nt == nh) return excess(there->nr, here->nr);
    int64_t n = 2 * excess(nh * there->nr, nt * here->nr) + (int64_t)(nh + nt);
    n /= (int64_t)(nh + nt);
    return n <= 1 && !here->nr && there->nr > 1 ? 2 : n;
}

static struct wb_sg *give(const struct search *k, enum fair_move move, int64_t imbalance, wb_rule rule)
{
    fair_pass(k->x)->move = move;
    k->b->imbalance = imbalance;
    k->b->rule = rule;
    return imbalance > 0 ? k->st.busiest.sg : NULL;
}

static int64_t keep_on_nodes(const struct search *k, int64_t n)
{
    const struct fair_group *there = &k->st.busiest, *here = &k->st.local;
    if (!(k->b->sd->flags & WB_SD_NUMA)) return n;
    bool source = k->f->bal.numa == FAIR_NUMA_SOURCE;
    uint32_t threshold = source ? (uint32_t)(there->weight >> 2)
                                : fair_numa_threshold(k->f, k->b->sd, k->b->sd->span_weight, here->weight);
    return fair_numa_adjust(k->f, (uint64_t)n, source ? there->nr : here->nr + 1, threshold);
}

/* The local group has spare capacity. */
static struct wb_sg *fill(const struct search *k)
{
    const struct fair_group *there = &k->st.busiest, *here = &k->st.local;
    bool spread = there->weight == 1 || k->st.prefer_sibling;
    if (there->type > FAIR_GROUP_FULLY_BUSY && !(k->b->sd->flags & WB_SD_SHARE_PKG)) {
        int64_t room = excess(WB_MAX(here->capacity, here->util), here->util);
        if (!room && fair_dst_idle(k->b)) return give(k, FAIR_MOVE_TASK, 1, FAIR_R_LB_FILL_ONE);
        return give(k, FAIR_MOVE_UTIL, room, FAIR_R_LB_FILL);
    }
    int64_t n = spread ? sibling_imbalance(k) : excess(here->idle_cpus, there->idle_cpus);
    int64_t kept = k->f->br->halve_first ? keep_on_nodes(k, n >> 1) : keep_on_nodes(k, n) >> 1;
    if (!kept && n > 1) return give(k, FAIR_MOVE_TASK, 0, FAIR_R_LB_NUMA_KEPT);
    return give(k, FAIR_MOVE_TASK, kept, spread ? FAIR_R_LB_SIBLINGS : FAIR_R_LB_IDLE_CPUS);
}

static void domain_average(struct fair_domain_stats *st)
{
    st->avg_load = st->total_load * PELT_SCALE / st->total_capacity;
}

static struct wb_sg *level_loads(struct search *k)
{
    struct fair_group *there = &k->st.busiest, *here = &k->st.local;
    struct fair_domain_stats *st = &k->st;
    domain_average(st);
    if (here->type < FAIR_GROUP_OVERLOADED) {
        here->avg_load = here->load * PELT_SCALE / here->capacity;
        if (here->avg_load >= there->avg_load) return give(k, FAIR_MOVE_LOAD, 0, FAIR_R_LB_BALANCED);
        if (here->avg_load >= st->avg_load && !k->f->br->no_average)
            return give(k, FAIR_MOVE_LOAD, 0, FAIR_R_LB_BALANCED);
    }
    int64_t away = (int64_t)(there->avg_load - st->avg_load) * (int64_t)there->capacity;
    int64_t here_room = (int64_t)(st->avg_load - here->avg_load) * (int64_t)here->capacity;
    return give(k, FAIR_MOVE_LOAD, WB_MIN(away, here_room) / (int64_t)PELT_SCALE, FAIR_R_LB_LEVEL);
}

static struct wb_sg *calculate(struct search *k)
{
    const struct fair_group *there = &k->st.busiest;
    switch (there->type) {
    case FAIR_GROUP_MISFIT: return give(k, FAIR_MOVE_MISFIT, 1, FAIR_R_LB_MISFIT);
    case FAIR_GROUP_ASYM_PACKING: return give(k, FAIR_MOVE_TASK, (int64_t)there->h_nr, FAIR_R_LB_ASYM);
    case FAIR_GROUP_SMT_BALANCE: return give(k, FAIR_MOVE_TASK, 1, FAIR_R_LB_SMT);
    case FAIR_GROUP_IMBALANCED: return give(k, FAIR_MOVE_TASK, 1, FAIR_R_LB_IMBALANCED);
    default: break;
    }
    return k->st.local.type == FAIR_GROUP_HAS_SPARE ? fill(k) : level_loads(k);
}

/* ---- whether ---- */

static bool forced(const struct search *k)
{
    enum fair_group_type t = k->st.busiest.type;
    return t == FAIR_GROUP_MISFIT || t == FAIR_GROUP_ASYM_PACKING || t == FAIR_GROUP_IMBALANCED;
}

static bool overloads_level(struct search *k)
{
    const struct fair_group *there = &k->st.busiest, *here = &k->st.local;
    domain_average(&k->st);
    return here->avg_load >= there->avg_load || here->avg_load >= k->st.avg_load ||
           100 * there->avg_load <= k->pct * here->avg_load;
}

static bool worth_it(struct search *k)
{
    const struct fair_group *there = &k->st.busiest, *here = &k->st.local;
    if (here->type > there->type) return false;
    if (here->type == FAIR_GROUP_OVERLOADED && overloads_level(k)) return false;
    if (k->st.prefer_sibling && here->type == FAIR_GROUP_HAS_SPARE && sibling_imbalance(k) > 1) return true;
    if (there->type == FAIR_GROUP_OVERLOADED) return true;
    if (!fair_dst_idle(k->b)) return false;
    if (there->type == FAIR_GROUP_SMT_BALANCE && unlike(here, there)) return true;
    if (there->weight > 1 && here->idle_cpus <= there->idle_cpus + 1) return false;
    return there->h_nr != 1;
}

struct wb_sg *fair_busiest_types(struct wb_exec *x, struct wb_balance *b)
{
    struct search k = {.x = x, .f = fair_of(x), .b = b, .pct = b->sd->level->imbalance_pct};
    const struct wb_sd *child = b->sd->child;
    bool overloaded = false;
    b->rule = FAIR_R_LB_BALANCED;
    fair_pass(x)->move = FAIR_MOVE_TASK;
    k.st.busiest.idle_cpus = UINT64_MAX;
    for (uint32_t i = 0; i < b->sd->ngroups; i++) see(&k, wb_sd_group(b->sd, i), i == 0, &overloaded);
    fair_note_domain(x, b, k.st.sum_util, overloaded);
    if (!k.st.busiest.sg) return NULL;
    uint32_t below = k.f->br->sibling_cores ? fair_group_flags(k.st.busiest.sg) : child ? child->flags : 0;
    k.st.prefer_sibling = below & WB_SD_PREFER_SIBLING;
    return forced(&k) || worth_it(&k) ? calculate(&k) : NULL;
}
