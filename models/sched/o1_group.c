/*
 * o1_group.c - find_busiest_group(): which group of a domain should give, and how much.
 *
 * 2.6.10, 2.6.11 count tasks: imbalance is a number of tasks, and an idle CPU takes one even from a level machine.
 * 2.6.22 counts weights (smpnice): imbalance is a weight, a group must have more tasks than its capacity in CPUs, and
 * only the first idle CPU of a group balances for it.
 */
#include "o1.h"

struct search {
    struct wb_exec *x;
    const struct o1_sim *o;
    struct wb_balance *b;
    struct wb_sg *busiest, *local;
    uint64_t max_load, this_load, total_load, total_power;
    struct busiest_pair pair; /* 2.6.22 */
    struct o1_power_pick power;
};

static bool newidle(const struct wb_balance *b)
{
    return b->kind == WB_BAL_NEWIDLE;
}

static struct wb_rq *look(const struct search *f, cpu_id c)
{
    if (c != f->b->exec_cpu) wb_scan_rq(f->x, c);
    return wb_rq(f->x->sim, c);
}

/* Throughput of the two groups in units of O1_SCALE before and after a task moves from the busiest to the local one. */
static bool gains(const struct search *f, uint64_t add)
{
    uint64_t bp = f->busiest->power, tp = f->local->power, one = O1_SCALE;
    uint64_t now = (bp * WB_MIN(one, f->max_load) + tp * WB_MIN(one, f->this_load)) / O1_SCALE;
    uint64_t off = one * O1_SCALE / bp, move = 0;
    if (f->max_load > off) move += bp * WB_MIN(one, f->max_load - off);
    move += tp * WB_MIN(one, f->this_load + add);
    return move / O1_SCALE >= now + f->o->min_gain;
}

static bool take(struct wb_balance *b, int64_t imbalance, wb_rule rule)
{
    b->imbalance = imbalance;
    b->rule = rule;
    return true;
}

/* ---- 2.6.10, 2.6.11 ---- */

static void sum_tasks(struct search *f, struct wb_sg *g, bool local)
{
    uint64_t load = 0;
    cpu_id c = g->first;
    for (uint32_t n = 0; n < g->weight; n++, c = wb_mask_next(&g->mask, c + 1)) {
        const struct wb_rq *rq = look(f, c);
        load += local ? o1_target_load(f->o, rq, 0) : o1_source_load(f->o, rq, 0);
    }
    f->total_load += load;
    f->total_power += g->power;
    load = load * O1_SCALE / g->power;
    if (local) {
        f->this_load = load;
        f->local = g;
    } else if (load > f->max_load) {
        f->max_load = load;
        f->busiest = g;
    }
}

/* Too little for whole tasks: one may move when two apart, or when the pair of groups gets more done. */
static bool small_tasks(struct search *f)
{
    if (f->max_load - f->this_load >= 2 * (uint64_t)O1_SCALE) return take(f->b, 1, O1_R_LB_TWO);
    uint64_t add = WB_MIN((uint64_t)O1_SCALE * O1_SCALE / (uint64_t)f->local->power, f->max_load);
    if (!gains(f, add)) return false;
    return take(f->b, 1, O1_R_LB_GAIN);
}

static bool decide_tasks(struct search *f)
{
    if (f->this_load >= f->max_load) return false;
    uint64_t avg = O1_SCALE * f->total_load / f->total_power;
    if (f->this_load >= avg || 100 * f->max_load <= f->b->sd->level->imbalance_pct * f->this_load) return false;
    uint64_t least = WB_MIN(f->max_load - avg, avg - f->this_load);
    uint64_t imbalance = least * WB_MIN(f->busiest->power, f->local->power) / O1_SCALE;
    if (imbalance < O1_SCALE - 1) return small_tasks(f);
    return take(f->b, (int64_t)((imbalance + 1) / O1_SCALE), O1_R_LB_AVERAGE);
}

bool o1_group_tasks(struct wb_exec *x, struct wb_balance *b, struct wb_sg **out)
{
    struct search f = {.x = x, .o = o1_of(x), .b = b};
    for (uint32_t i = 0; i < b->sd->ngroups; i++) sum_tasks(&f, wb_sd_group(b->sd, i), i == 0);
    *out = f.busiest;
    if (!f.busiest) return false;
    if (decide_tasks(&f)) return true;
    if (newidle(b)) return take(b, 1, O1_R_LB_NEWIDLE);
    if (!ladder_busy(b) && f.max_load > O1_SCALE) return take(b, 1, O1_R_LB_IDLE);
    return false;
}

/* ---- 2.6.22 ---- */

static uint32_t load_index(const struct wb_balance *b)
{
    const struct wb_sd_level *l = b->sd->level;
    return newidle(b) ? l->newidle_idx : ladder_busy(b) ? l->busy_idx : l->idle_idx;
}

/* First idle CPU of the local group, else its first: who balances here and above. */
static cpu_id sum_weight(struct search *f, struct o1_group_sum *s, uint32_t idx)
{
    const struct wb_sg *g = s->g;
    cpu_id c = g->first, balancer = g->first;
    bool idle_seen = false;
    for (uint32_t n = 0; n < g->weight; n++, c = wb_mask_next(&g->mask, c + 1)) {
        if (ladder_is_excluded(&o1_rq(wb_rq(f->x->sim, f->b->exec_cpu))->excluded, c)) continue;
        const struct wb_rq *rq = look(f, c);
        if (!wb_idle_cpu(rq)) f->b->flags &= ~(uint32_t)LADDER_SD_IDLE;
        if (s->local && wb_idle_cpu(rq) && !idle_seen) {
            idle_seen = true;
            balancer = c;
        }
        s->load += s->local ? o1_target_load(f->o, rq, idx) : o1_source_load(f->o, rq, idx);
        s->nr += rq->nr_running;
        s->weight += o1_rq(rq)->weight;
    }
    return balancer;
}

static void rank_weight(struct search *f, struct o1_group_sum *s)
{
    struct busiest_side *busiest = &f->pair.busiest;
    f->total_load += s->load;
    f->total_power += s->g->power;
    s->load = s->load * O1_SCALE / s->g->power;
    s->capacity = s->g->power / O1_SCALE;
    struct busiest_side side = {s->load, s->weight, s->nr, s->g->power, s->capacity};
    if (s->local) {
        f->pair.local = side;
        f->local = s->g;
    } else if (s->load > busiest->load && s->nr > s->capacity) {
        *busiest = side;
        f->busiest = s->g;
    }
    if (f->power.on) o1_power_see(&f->power, s, f->pair.local.nr);
}

static bool decide_weight(struct search *f)
{
    static const wb_rule rule[] = {
        [BUSIEST_AVERAGE] = O1_R_LB_AVERAGE, [BUSIEST_TWO] = O1_R_LB_TWO, [BUSIEST_GAIN] = O1_R_LB_GAIN};
    const struct busiest_rules rules = {
        .scale = O1_SCALE, .min_gain = f->o->min_gain, .keep_task = true, .empty_counts = true};
    if (!f->busiest) return false;
    f->pair.avg = O1_SCALE * f->total_load / f->total_power;
    f->pair.pct = f->b->sd->level->imbalance_pct;
    enum busiest_verdict v = busiest_decide(&rules, &f->pair, &f->b->imbalance);
    if (v != BUSIEST_NONE) f->b->rule = rule[v];
    return v != BUSIEST_NONE;
}

bool o1_group_weight(struct wb_exec *x, struct wb_balance *b, struct wb_sg **out)
{
    struct search f = {.x = x, .o = o1_of(x), .b = b};
    uint32_t idx = load_index(b);
    f.power = (struct o1_power_pick){.on = !ladder_busy(b) && b->sd->flags & WB_SD_POWERSAVINGS, .min_nr = UINT64_MAX};
    for (uint32_t i = 0; i < b->sd->ngroups; i++) {
        struct o1_group_sum s = {.g = wb_sd_group(b->sd, i), .local = i == 0};
        cpu_id balancer = sum_weight(&f, &s, idx);
        if (s.local && !newidle(b) && balancer != b->this_cpu) {
            b->flags |= LADDER_NOT_MINE;
            return false;
        }
        rank_weight(&f, &s);
    }
    *out = f.busiest;
    if (decide_weight(&f)) return true;
    if (!f.power.on || f.power.leader != f.local || !f.power.min || f.power.min == f.local) return false;
    *out = f.power.min;
    return take(b, (int64_t)f.power.min_load_per_task, O1_R_LB_POWER);
}
