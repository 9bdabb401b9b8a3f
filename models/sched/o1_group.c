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
    uint64_t busiest_nr, busiest_weight, local_nr, local_weight; /* 2.6.22 */
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

/* Throughput of the two groups in units of O1_SCALE before and after moving `one` from the busiest to the local one. */
static bool gains(const struct search *f, uint64_t one, uint64_t one_here, uint64_t add_below, uint64_t min_gain,
                  bool strict)
{
    uint64_t bp = f->busiest->power, tp = f->local->power;
    uint64_t now = (bp * WB_MIN(one, f->max_load) + tp * WB_MIN(one_here, f->this_load)) / O1_SCALE;
    uint64_t off = one * O1_SCALE / bp, move = 0;
    if (f->max_load > off) move += bp * WB_MIN(one, f->max_load - off);
    move += tp * WB_MIN(one_here, f->this_load + add_below);
    move /= O1_SCALE;
    return strict ? move > now + min_gain : move >= now + min_gain;
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
    if (f->max_load - f->this_load >= 2 * O1_SCALE) return take(f->b, 1, O1_R_LB_TWO);
    uint64_t add = WB_MIN(O1_SCALE * O1_SCALE / (uint64_t)f->local->power, f->max_load);
    if (!gains(f, O1_SCALE, O1_SCALE, add, f->o->min_gain, false)) return false;
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
    if (!o1_busy(b) && f.max_load > O1_SCALE) return take(b, 1, O1_R_LB_IDLE);
    return false;
}

/* ---- 2.6.22 ---- */

static uint32_t load_index(const struct wb_balance *b)
{
    const struct wb_sd_level *l = b->sd->level;
    return newidle(b) ? l->newidle_idx : o1_busy(b) ? l->busy_idx : l->idle_idx;
}

/* First idle CPU of the local group, else its first: who balances here and above. */
static cpu_id sum_weight(struct search *f, struct o1_group_sum *s, uint32_t idx)
{
    const struct wb_sg *g = s->g;
    cpu_id c = g->first, balancer = g->first;
    bool idle_seen = false;
    for (uint32_t n = 0; n < g->weight; n++, c = wb_mask_next(&g->mask, c + 1)) {
        if (o1_excluded(o1_rq(wb_rq(f->x->sim, f->b->exec_cpu)), c)) continue;
        const struct wb_rq *rq = look(f, c);
        if (!wb_idle_cpu(rq)) f->b->flags &= ~(uint32_t)O1_B_SD_IDLE;
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
    f->total_load += s->load;
    f->total_power += s->g->power;
    s->load = s->load * O1_SCALE / s->g->power;
    s->capacity = s->g->power / O1_SCALE;
    if (s->local) {
        f->this_load = s->load;
        f->local = s->g;
        f->local_nr = s->nr;
        f->local_weight = s->weight;
    } else if (s->load > f->max_load && s->nr > s->capacity) {
        f->max_load = s->load;
        f->busiest = s->g;
        f->busiest_nr = s->nr;
        f->busiest_weight = s->weight;
    }
    if (f->power.on) o1_power_see(&f->power, s, f->local_nr);
}

/* A weight too small to move any task for certain: one task may still move. */
static bool small_weight(struct search *f, uint64_t per_task)
{
    uint64_t here = O1_SCALE, apart = 2;
    if (f->local_nr) {
        here = f->local_weight / f->local_nr;
        if (per_task > here) apart = 1;
    }
    if (f->max_load - f->this_load >= per_task * apart) return take(f->b, (int64_t)per_task, O1_R_LB_TWO);
    uint64_t bp = f->busiest->power, tp = f->local->power;
    uint64_t add = f->max_load * bp < per_task * O1_SCALE ? f->max_load * bp / tp : per_task * O1_SCALE / tp;
    if (!gains(f, per_task, here, add, f->o->min_gain, true)) return false;
    return take(f->b, (int64_t)per_task, O1_R_LB_GAIN);
}

static bool decide_weight(struct search *f)
{
    if (!f->busiest || f->this_load >= f->max_load || !f->busiest_nr) return false;
    uint64_t avg = O1_SCALE * f->total_load / f->total_power, per_task = f->busiest_weight / f->busiest_nr;
    if (f->this_load >= avg || 100 * f->max_load <= f->b->sd->level->imbalance_pct * f->this_load) return false;
    if (f->max_load <= per_task) return false;
    if (f->max_load < avg) return small_weight(f, per_task); /* groups within their capacity are not candidates */
    uint64_t pull = WB_MIN(f->max_load - avg, f->max_load - per_task);
    uint64_t imbalance = WB_MIN(pull * f->busiest->power, (avg - f->this_load) * f->local->power) / O1_SCALE;
    if (imbalance < per_task) return small_weight(f, per_task);
    return take(f->b, (int64_t)imbalance, O1_R_LB_AVERAGE);
}

bool o1_group_weight(struct wb_exec *x, struct wb_balance *b, struct wb_sg **out)
{
    struct search f = {.x = x, .o = o1_of(x), .b = b};
    uint32_t idx = load_index(b);
    f.power = (struct o1_power_pick){.on = !o1_busy(b) && b->sd->flags & WB_SD_POWERSAVINGS, .min_nr = UINT64_MAX};
    for (uint32_t i = 0; i < b->sd->ngroups; i++) {
        struct o1_group_sum s = {.g = wb_sd_group(b->sd, i), .local = i == 0};
        cpu_id balancer = sum_weight(&f, &s, idx);
        if (s.local && !newidle(b) && balancer != b->this_cpu) {
            b->flags |= O1_B_NOT_MINE;
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
