/*
 * fair_balance_stats.c - group statistics and who balances for a group.
 *
 * Linux kernel/sched*: update_sg_lb_stats, group_classify, group_is_overloaded, group_has_capacity,
 * should_we_balance, update_idle_cpu_scan, adjust_numa_imbalance, find_busiest_queue.
 */
#include "fair_groups.h"

/* ---- sums ---- */

static uint32_t load_index(const struct wb_balance *b)
{
    const struct wb_sd_level *l = b->sd->level;
    return fair_newly_idle(b) ? l->newidle_idx : ladder_busy(b) ? l->busy_idx : l->idle_idx;
}

static struct wb_rq *look(struct wb_exec *x, const struct wb_balance *b, cpu_id c)
{
    const struct fair_sim *f = fair_of(x);
    if (c != b->exec_cpu) wb_scan_rq(x, c);
    struct wb_rq *rq = wb_rq(x->sim, c);
    /* LBF_NOHZ_STATS: newidle brings the averages of tickless CPUs up to date on the way. */
    if (f->v->release == FAIR_5_4 && fair_newly_idle(b) && f->bal.nohz_has_blocked &&
        wb_mask_test(&f->bal.nohz.mask, c))
        (void)fair_update_blocked(x, rq);
    return rq;
}

static void add_cpu(const struct fair_sim *f, struct fair_group *s, const struct wb_rq *rq, uint64_t load)
{
    const struct fair_rq *r = fair_rq(rq);
    s->load += load;
    s->tasks += fair_cpu_load(f, r);
    s->max_cpu = WB_MAX(s->max_cpu, load);
    s->min_cpu = WB_MIN(s->min_cpu, load);
    s->nr += rq->nr_running;
    s->overloaded |= rq->nr_running > 1;
    s->h_nr += fair_nr_runnable(f, r);
    s->idle_cpus += !rq->nr_running && fair_idle_cpu(f, rq);
    if (f->v->release < FAIR_5_4) return;
    s->util += fair_cpu_util(f, r);
    s->runnable += fair_cpu_runnable(r);
}

static bool idle(const struct fair_sim *f, const struct wb_rq *rq, const struct wb_task *t)
{
    (void)t;
    return fair_idle_cpu(f, rq);
}

/* A whole group by its rows (fair_rows.h): when no CPU of it is left out, and none is brought up to date on the way.
 * Extremes of single CPUs count up to 2.6.36 only. */
static bool sum_rows(struct wb_exec *x, struct wb_balance *b, struct fair_group *s)
{
    struct fair_sim *f = fair_of(x);
    if (!f->rows.row || fair_pass(x)->excluded.n || b->exec_cpu != x->cpu) return false;
    if (f->v->release == FAIR_5_4 && fair_newly_idle(b) && f->bal.nohz_has_blocked) return false;
    wb_scan_rqs(x, &s->sg->mask);
    struct fair_row_sum sum = fair_rows_sum(x->sim, f, s->sg);
    s->load = s->tasks = sum.load;
    s->util = sum.util;
    s->runnable = sum.runnable;
    s->nr = sum.nr;
    s->h_nr = sum.h_nr;
    s->overloaded = sum.max_nr > 1;
    if (sum.empty) s->idle_cpus = fair_rows_idle(x->sim, f, s->sg, NULL, idle);
    if (s->nr) b->flags &= ~(uint32_t)LADDER_SD_IDLE;
    return true;
}

void fair_group_sum(struct wb_exec *x, struct wb_balance *b, struct wb_sg *g, bool local, struct fair_group *s)
{
    const struct fair_sim *f = fair_of(x);
    const struct fair_pass *pass = fair_pass(x);
    uint32_t idx = load_index(b);
    cpu_id c = g->first;
    *s = (struct fair_group){.sg = g, .weight = g->weight, .capacity = g->power, .min_cpu = UINT64_MAX};
    if (sum_rows(x, b, s)) return;
    for (uint32_t n = 0; n < g->weight; n++, c = wb_mask_next(&g->mask, c + 1)) {
        if (ladder_is_excluded(&pass->excluded, c)) continue;
        const struct wb_rq *rq = look(x, b, c);
        if (rq->nr_running) b->flags &= ~(uint32_t)LADDER_SD_IDLE;
        add_cpu(f, s, rq, local ? fair_target_load(f, fair_rq(rq), idx) : fair_source_load(f, fair_rq(rq), idx));
        if (!local || f->v->release == FAIR_5_4) s->misfit = WB_MAX(s->misfit, fair_rq(rq)->bal.misfit_load);
    }
}

/* ---- types ---- */

bool fair_group_has_room(uint32_t pct, const struct fair_group *s)
{
    if (s->nr < s->weight) return true;
    return s->capacity * pct >= s->runnable * 100 && s->capacity * 100 > s->util * pct;
}

static bool overloaded(uint32_t pct, const struct fair_group *s)
{
    if (s->nr <= s->weight) return false;
    return s->capacity * 100 < s->util * pct || s->capacity * pct < s->runnable * 100;
}

enum fair_group_type fair_group_type(uint32_t pct, const struct fair_group *s)
{
    if (overloaded(pct, s)) return FAIR_GROUP_OVERLOADED;
    if (*fair_group_pinned(s->sg)) return FAIR_GROUP_IMBALANCED;
    if (s->asym) return FAIR_GROUP_ASYM_PACKING;
    if (s->smt) return FAIR_GROUP_SMT_BALANCE;
    if (s->misfit) return FAIR_GROUP_MISFIT;
    return fair_group_has_room(pct, s) ? FAIR_GROUP_HAS_SPARE : FAIR_GROUP_FULLY_BUSY;
}

bool fair_group_overloaded_5_4(uint32_t pct, const struct fair_group *s)
{
    return s->h_nr > s->weight && s->capacity * 100 < s->util * pct;
}

bool fair_group_has_room_5_4(uint32_t pct, const struct fair_group *s)
{
    return s->h_nr < s->weight || s->capacity * 100 > s->util * pct;
}

cpu_id fair_preferred_cpu(const struct fair_sim *f, const struct wb_sg *g)
{
    cpu_id best = g->first;
    WB_FOR_EACH_CPU (c, &g->mask)
        if (f->bal.priority[c] > f->bal.priority[best]) best = c;
    return best;
}

/* ---- who balances ---- */

bool fair_core_idle(struct wb_exec *x, cpu_id cpu)
{
    uint32_t n;
    const cpu_id *member = wb_topo_members(wb_topo(x->sim), WB_LVL_CORE, cpu, &n);
    for (uint32_t i = 0; i < n; i++)
        if (member[i] != cpu && !fair_idle_cpu(fair_of(x), wb_rq(x->sim, member[i]))) return false;
    return true;
}

bool fair_asym_counts(struct wb_exec *x, const struct wb_sd *sd, cpu_id c)
{
    const struct fair_sim *f = fair_of(x);
    if (!f->br->sibling_cores || !f->pl.smt) return true;
    return sd->flags & WB_SD_SHARE_CPUPOWER || fair_core_idle(x, c);
}

/* The first idle CPU, from 6.5 on rather one on an idle core; else the first. */
bool fair_should_balance(struct wb_exec *x, const struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    const struct wb_rq *dst = wb_rq(x->sim, b->dst);
    const struct wb_sg *g = wb_sd_group(b->sd, 0);
    bool cores = f->br->sibling_cores && f->pl.smt && !(b->sd->flags & WB_SD_SHARE_CPUPOWER);
    cpu_id on_busy_core = WB_NO_CPU;
    if (fair_newly_idle(b)) return !f->br->newidle_bails || (!dst->nr_running && !dst->wake_list);
    WB_FOR_EACH_CPU (c, &g->mask) {
        if (ladder_is_excluded(&fair_pass(x)->excluded, c) || !fair_idle_cpu(f, wb_rq(x->sim, c))) continue;
        if (!cores || fair_core_idle(x, c)) return c == b->dst;
        if (on_busy_core == WB_NO_CPU) on_busy_core = c;
    }
    return (on_busy_core == WB_NO_CPU ? g->first : on_busy_core) == b->dst;
}

/* ---- what a search leaves behind ---- */

static void limit_scans(struct fair_sim *f, const struct wb_balance *b, uint64_t sum_util)
{
    const struct fair_seat *seat = &f->pl.seat[b->dst];
    uint64_t pct = b->sd->level->imbalance_pct, weight = seat->llc_size;
    if (!fair_on(f, FAIR_F_SIS_UTIL) || fair_newly_idle(b) || !seat->shared || b->sd->span_weight != weight) return;
    uint64_t util = sum_util / weight, used = util * util * pct * pct / (10000ull * PELT_SCALE);
    uint64_t left = PELT_SCALE - WB_MIN(used, (uint64_t)PELT_SCALE);
    seat->shared->nr_idle_scan = (uint32_t)(left * weight / PELT_SCALE);
}

void fair_note_domain(struct wb_exec *x, const struct wb_balance *b, uint64_t sum_util, bool seen_overloaded)
{
    struct fair_sim *f = fair_of(x);
    if (!b->sd->parent) *f->bal.overloaded = seen_overloaded;
    limit_scans(f, b, sum_util);
}

/* ---- nodes ---- */

uint32_t fair_numa_threshold(const struct fair_sim *f, const struct wb_sd *sd, uint64_t domain, uint64_t group)
{
    switch (f->bal.numa) {
    case FAIR_NUMA_NONE: return 0;
    case FAIR_NUMA_SOURCE: return (uint32_t)(domain >> 2);
    case FAIR_NUMA_QUARTER: return (uint32_t)(group >> 2);
    case FAIR_NUMA_LLCS: return (uint32_t)sd->cookie[0];
    }
    return 0;
}

bool fair_numa_allowed(const struct fair_sim *f, uint64_t running, uint64_t threshold)
{
    if (f->bal.numa == FAIR_NUMA_NONE) return false;
    return f->bal.numa == FAIR_NUMA_LLCS ? running <= threshold : running < threshold;
}

int64_t fair_numa_adjust(const struct fair_sim *f, uint64_t imbalance, uint64_t running, uint64_t threshold)
{
    if (!fair_numa_allowed(f, running, threshold)) return (int64_t)imbalance;
    return imbalance <= 2 ? 0 : (int64_t)imbalance;
}

/* ---- the queue to take from ---- */

struct queue_pick {
    struct wb_exec *x;
    const struct fair_sim *f;
    const struct wb_balance *b;
    const struct fair_pass *pass;
    uint64_t best, best_capacity;
    cpu_id cpu;
};

static void prefer(struct queue_pick *k, cpu_id c, uint64_t value, uint64_t capacity)
{
    if (value * k->best_capacity <= k->best * capacity) return;
    k->best = value;
    k->best_capacity = capacity;
    k->cpu = c;
}

static void see_weight(struct queue_pick *k, const struct wb_rq *rq)
{
    uint64_t load = fair_cpu_load(k->f, fair_rq(rq));
    if (rq->nr_running == 1 && load > (uint64_t)k->b->imbalance) return; /* would leave it idle */
    if (k->f->v->release < FAIR_2_6_35)
        prefer(k, rq->cpu, load, 1);
    else if (k->f->br->generation == FAIR_LB_WEIGHT)
        prefer(k, rq->cpu, load * PELT_SCALE / fair_capacity(k->f, rq->cpu), 1);
    else
        prefer(k, rq->cpu, load, fair_capacity(k->f, rq->cpu));
}

/* A bigger CPU, or one of higher priority, with one task: nothing to win. */
static bool better_there(const struct queue_pick *k, cpu_id c, uint64_t nr)
{
    const struct wb_balance *b = k->b;
    if (nr != 1) return false;
    uint64_t there = fair_capacity(k->f, c), here = fair_capacity(k->f, b->dst);
    if (b->sd->flags & WB_SD_ASYM_CAPACITY &&
        (k->f->br->generation == FAIR_LB_LOAD ? here < there : here * 1024 <= there * 1078))
        return true;
    return k->f->v->release >= FAIR_6_1 && b->sd->flags & WB_SD_ASYM_PACKING &&
           k->f->bal.priority[c] > k->f->bal.priority[b->dst] && fair_asym_counts(k->x, b->sd, c);
}

static void see_typed(struct queue_pick *k, const struct wb_rq *rq)
{
    const struct fair_rq *r = fair_rq(rq);
    uint64_t nr = fair_nr_runnable(k->f, r), load = fair_cpu_load(k->f, r), util = fair_cpu_util(k->f, r);
    if (!nr || better_there(k, rq->cpu, nr)) return;
    switch (k->pass->move) {
    case FAIR_MOVE_LOAD:
        if (nr == 1 && load > (uint64_t)k->b->imbalance) return;
        prefer(k, rq->cpu, load, fair_capacity(k->f, rq->cpu));
        break;
    case FAIR_MOVE_UTIL: /* 6.5+: waiting counts too (cpu_util_cfs_boost) */
        if (k->f->v->release >= FAIR_6_6) util = WB_MIN(WB_MAX(util, fair_cpu_runnable(r)), (uint64_t)PELT_SCALE);
        if (nr > 1) prefer(k, rq->cpu, util, 1);
        break;
    case FAIR_MOVE_TASK: prefer(k, rq->cpu, nr, 1); break;
    case FAIR_MOVE_MISFIT: prefer(k, rq->cpu, r->bal.misfit_load, 1); break;
    }
}

cpu_id fair_busiest_queue(struct wb_exec *x, struct wb_balance *b, const struct wb_sg *g)
{
    struct queue_pick k = {.x = x, .f = fair_of(x), .b = b, .pass = fair_pass(x), .best_capacity = 1, .cpu = WB_NO_CPU};
    cpu_id c = g->first;
    wb_charge_fn(x, k.f->bal.fn_queue);
    for (uint32_t n = 0; n < g->weight; n++, c = wb_mask_next(&g->mask, c + 1)) {
        const struct wb_rq *rq = wb_rq(x->sim, c);
        if (ladder_is_excluded(&k.pass->excluded, c)) continue;
        if (k.pass->src_misfit)
            prefer(&k, c, fair_rq(rq)->bal.misfit_load, 1);
        else if (k.f->br->generation == FAIR_LB_TYPES)
            see_typed(&k, rq);
        else if (!(k.f->br->generation == FAIR_LB_LOAD && better_there(&k, c, rq->nr_running)))
            see_weight(&k, rq);
    }
    return k.cpu == b->dst ? WB_NO_CPU : k.cpu;
}
