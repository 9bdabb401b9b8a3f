/*
 * o1_balance.c - periodic and newly-idle balancing as steps for the engine's driver.
 *
 * 2.6.10, 2.6.11 rebalance_tick(): in every tick's interrupt, CPUs de-phased by HZ * cpu / NR_CPUS, missed periods
 * are caught up, a pass that pulled makes the rest of the domains balance as busy. 2.6.22 rebalance_domains(): in the
 * softirq, from `now`, one CPU per group, NUMA levels serialised, and on behalf of tickless CPUs too.
 */
#include "o1.h"

uint64_t o1_phase(const struct o1_sim *o, cpu_id cpu)
{
    return (uint64_t)o->hz * cpu / o->nr_cpus;
}

uint64_t o1_interval(const struct o1_sim *o, const struct wb_sd *sd, bool idle)
{
    uint64_t ms = sd->balance_interval_ms * (idle ? 1 : sd->level->busy_factor);
    return WB_MAX(o1_jiffies(o, ms), 1u);
}

uint64_t o1_interval_of_pass(const struct wb_exec *x, const struct wb_balance *b, const struct wb_sd *sd)
{
    return o1_interval(o1_of(x), sd, !ladder_busy(b));
}

static bool idle_kind(const struct wb_balance *b)
{
    return !ladder_busy(b);
}

static bool exclude(struct wb_exec *x, const struct wb_balance *b)
{
    return ladder_exclude(&o1_rq(wb_rq(x->sim, b->exec_cpu))->excluded, b->src);
}

/* Its siblings being idle matters at the SMT level, unless power is saved above it (test_sd_parent). */
static bool smt_level(const struct o1_sim *o, const struct wb_sd *sd)
{
    return o->v->weighted && sd->flags & WB_SD_SHARE_CPUPOWER &&
           !(sd->parent && sd->parent->flags & WB_SD_POWERSAVINGS);
}

static void start_pass(struct wb_exec *x, struct wb_balance *b, struct wb_sd *sd)
{
    const struct o1_sim *o = o1_of(x);
    b->sd = sd;
    b->src = WB_NO_CPU;
    b->dst = b->this_cpu;
    b->moved = b->loops = b->redo = 0;
    b->imbalance = 0;
    b->flags &= ~(uint32_t)(LADDER_NOT_MINE | LADDER_PINNED | LADDER_SD_IDLE);
    if (smt_level(o, sd) && !ladder_busy(b)) b->flags |= LADDER_SD_IDLE;
    o1_rq(wb_rq(x->sim, b->exec_cpu))->excluded.n = 0;
}

/* ---- find and pull: the same for all kinds ---- */

static cpu_id busiest_queue(struct wb_exec *x, const struct wb_balance *b, const struct wb_sg *g)
{
    const struct o1_sim *o = o1_of(x);
    const struct o1_rq *mine = o1_rq(wb_rq(x->sim, b->exec_cpu));
    uint64_t max_load = 0;
    cpu_id busiest = WB_NO_CPU, c = g->first;
    wb_charge_fn(x, o->fn_find_queue);
    for (uint32_t n = 0; n < g->weight; n++, c = wb_mask_next(&g->mask, c + 1)) {
        const struct wb_rq *rq = wb_rq(x->sim, c);
        if (o->v->weighted && ladder_is_excluded(&mine->excluded, c)) continue;
        uint64_t load = o1_source_load(o, rq, 0);
        if (o->v->weighted && rq->nr_running == 1 && load > (uint64_t)b->imbalance) continue; /* would leave it idle */
        if (load <= max_load) continue;
        max_load = load;
        busiest = c;
    }
    return busiest == b->dst ? WB_NO_CPU : busiest;
}

static bool find(struct wb_exec *x, struct wb_balance *b)
{
    const struct o1_sim *o = o1_of(x);
    struct wb_sd_stats *st = b->sd->stats;
    struct wb_sg *g = NULL;
    int i = ladder_stat_index(b);
    wb_charge_fn(x, o->fn_find_group);
    if (st && !b->redo) st->lb_count[i]++;
    b->skip_pull = false;
    bool found = o->v->weighted ? o1_group_weight(x, b, &g) : o1_group_tasks(x, b, &g);
    if (!found) {
        if (st) st->lb_nobusyg[i]++;
        return false;
    }
    b->src = busiest_queue(x, b, g);
    if (b->src == WB_NO_CPU) {
        if (st) st->lb_nobusyq[i]++;
        return false;
    }
    if (st) st->lb_imbalance[i] += (uint32_t)b->imbalance;
    bool locks_anyway = b->kind == WB_BAL_NEWIDLE && !o->v->weighted;
    b->skip_pull = !locks_anyway && wb_rq(x->sim, b->src)->nr_running <= 1;
    return true;
}

static void pull(struct wb_exec *x, struct wb_balance *b)
{
    uint32_t nr = wb_rq(x->sim, b->src)->nr_running;
    if (o1_of(x)->v->weighted)
        o1_move_tasks(x, b, nr ? nr - 1 : 0, (uint64_t)b->imbalance);
    else
        o1_move_tasks(x, b, (uint64_t)b->imbalance, UINT64_MAX);
}

/* Nothing moved at the SMT level and a sibling is busy: this CPU does not count as idle (the "-1" of 2.6.22). */
static bool sibling_busy(const struct o1_sim *o, const struct wb_balance *b)
{
    return !b->moved && smt_level(o, b->sd) && !(b->flags & LADDER_SD_IDLE);
}

/* ---- newly idle ---- */

static bool newidle_begin(struct wb_exec *x, struct wb_balance *b)
{
    const struct o1_sim *o = o1_of(x);
    b->lock_find = false; /* schedule() holds the lock */
    return o->idle_balance && o->ladder.flag_mask & WB_SD_NEWIDLE && wb_rq(x->sim, b->this_cpu)->sd;
}

static bool newidle_next(struct wb_exec *x, struct wb_balance *b)
{
    const struct o1_sim *o = o1_of(x);
    if (b->flags & LADDER_STOP) return false;
    struct wb_sd *sd = b->flags & LADDER_STARTED ? b->sd->parent : wb_rq(x->sim, b->this_cpu)->sd;
    b->flags |= LADDER_STARTED;
    for (; sd; sd = sd->parent) {
        if (o->v->weighted) ladder_consider(b, sd->last_balance + o1_interval(o, sd, true));
        if (!(o1_flags(o, sd) & WB_SD_NEWIDLE)) continue;
        start_pass(x, b, sd);
        return true;
    }
    return false;
}

static enum wb_balance_result newidle_done(struct wb_exec *x, struct wb_balance *b, bool found)
{
    const struct o1_sim *o = o1_of(x);
    ladder_count_pass(b, found);
    if (o->v->weighted && found && !b->moved && !b->skip_pull && exclude(x, b)) {
        b->redo++;
        return WB_BAL_REDO;
    }
    if (b->moved || sibling_busy(o, b)) {
        if (b->moved && o->v->weighted) b->sd->nr_balance_failed = 0;
        b->flags |= LADDER_STOP;
        return b->moved ? WB_BAL_PULLED : WB_BAL_STOP;
    }
    if (o->v->weighted && !found) b->sd->nr_balance_failed = 0;
    return found ? WB_BAL_FAILED : WB_BAL_NONE;
}

/* idle_balance() of 2.6.22: going idle, the next balance is that of an idle CPU, in a minute at the latest. */
static void newidle_end(struct wb_exec *x, struct wb_balance *b)
{
    const struct o1_sim *o = o1_of(x);
    if (!o->v->weighted || b->flags & LADDER_STOP) return;
    uint64_t horizon = wb_jiffies(x->sim) + 60ull * o->hz;
    uint64_t next = b->flags & LADDER_NEXT_SET ? b->cookie[LADDER_C_NEXT] : horizon;
    o1_rq(wb_rq(x->sim, b->this_cpu))->next_balance = WB_MIN(next, horizon);
}

const struct wb_balance_ops o1_balance_newidle = {
    .begin = newidle_begin,
    .next = newidle_next,
    .find = find,
    .pull = pull,
    .done = newidle_done,
    .end = newidle_end,
};

/* ---- periodic ---- */

static bool due(const struct o1_sim *o, const struct wb_balance *b, const struct wb_sd *sd)
{
    uint64_t j = b->cookie[LADDER_C_CURSOR];
    return o1_flags(o, sd) & WB_SD_LOAD_BALANCE && j - sd->last_balance >= o1_interval(o, sd, idle_kind(b));
}

static bool any_due(struct wb_exec *x, const struct wb_balance *b)
{
    WB_FOR_EACH_SD(sd, wb_rq(x->sim, b->this_cpu))
    if (due(o1_of(x), b, sd)) return true;
    return false;
}

static bool periodic_begin(struct wb_exec *x, struct wb_balance *b)
{
    const struct o1_sim *o = o1_of(x);
    const struct o1_rq *r = o1_rq(wb_rq(x->sim, b->this_cpu));
    if (o->v->weighted) {
        if (x->level == WB_LEVEL_HARDIRQ) return false; /* the tick only raises the softirq */
        b->kind = r->idle_at_tick ? WB_BAL_PERIODIC_IDLE : WB_BAL_PERIODIC_BUSY;
        b->lock_find = false;
        b->cookie[LADDER_C_CURSOR] = wb_jiffies(x->sim);
    } else {
        if (r->forced_idle) b->kind = WB_BAL_PERIODIC_BUSY;
        b->lock_find = true;
        b->cookie[LADDER_C_CURSOR] = wb_jiffies(x->sim) + o1_phase(o, b->this_cpu);
    }
    if (idle_kind(b) ? !o->idle_balance : !o->busy_balance) return false;
    return o->v->weighted || any_due(x, b);
}

static bool next_tasks(struct wb_exec *x, struct wb_balance *b)
{
    const struct o1_sim *o = o1_of(x);
    struct wb_sd *sd = b->flags & LADDER_STARTED ? b->sd->parent : wb_rq(x->sim, b->this_cpu)->sd;
    b->flags |= LADDER_STARTED;
    for (; sd; sd = sd->parent) {
        if (!due(o, b, sd)) continue;
        b->cookie[LADDER_C_INTERVAL] = o1_interval(o, sd, idle_kind(b));
        wb_charge_fn(x, o->fn_rebalance);
        start_pass(x, b, sd);
        return true;
    }
    return false;
}

static void finish_cpu(struct wb_exec *x, struct wb_balance *b)
{
    const struct o1_sim *o = o1_of(x);
    struct o1_rq *r = o1_rq(wb_rq(x->sim, b->this_cpu)), *mine = o1_rq(wb_rq(x->sim, b->exec_cpu));
    r->next_balance = b->flags & LADDER_NEXT_SET ? b->cookie[LADDER_C_NEXT] : wb_jiffies(x->sim) + 60ull * o->hz;
    if (r != mine) mine->next_balance = WB_MIN(mine->next_balance, r->next_balance);
    b->flags &= ~(uint32_t)(LADDER_NEXT_SET | LADDER_NOT_MINE | LADDER_BUSY);
}

static bool next_weight(struct wb_exec *x, struct wb_balance *b)
{
    struct wb_sd *due, *sd = b->flags & LADDER_STARTED ? b->sd->parent : wb_rq(x->sim, b->this_cpu)->sd;
    b->flags |= LADDER_STARTED;
    if (b->flags & LADDER_NOT_MINE) sd = NULL; /* a better placed CPU does it here and above */
    for (;;) {
        if (ladder_next_due(x, b, &o1_of(x)->ladder, sd, &due)) {
            start_pass(x, b, due);
            return true;
        }
        finish_cpu(x, b);
        cpu_id c = o1_nohz_next(x, b->this_cpu == b->exec_cpu ? WB_NO_CPU : b->this_cpu);
        if (c == WB_NO_CPU) return false;
        b->kind = WB_BAL_NOHZ;
        b->this_cpu = b->dst = c;
        sd = wb_rq(x->sim, c)->sd;
    }
}

static bool periodic_next(struct wb_exec *x, struct wb_balance *b)
{
    return o1_of(x)->v->weighted ? next_weight(x, b) : next_tasks(x, b);
}

static bool may_kick(struct wb_exec *x, const struct wb_balance *b)
{
    return o1_of(x)->active_balance && ladder_may_kick(x, b);
}

static enum wb_balance_result done_tasks(struct wb_exec *x, struct wb_balance *b, bool found)
{
    struct wb_sd *sd = b->sd;
    uint64_t max = ladder_ms(sd->level->max_interval);
    enum wb_balance_result result = WB_BAL_NONE;
    ladder_count_pass(b, found);
    sd->last_balance += b->cookie[LADDER_C_INTERVAL];
    if (!found) {
        if (sd->balance_interval_ms < max) sd->balance_interval_ms *= 2;
        return result;
    }
    if (b->moved) {
        sd->nr_balance_failed = 0;
        ladder_hurry(sd);
        b->flags |= LADDER_BUSY;
        return WB_BAL_PULLED;
    }
    result = WB_BAL_FAILED;
    if (++sd->nr_balance_failed > sd->level->cache_nice_tries + 2) {
        if (may_kick(x, b)) result = WB_BAL_KICK_ACTIVE;
        sd->nr_balance_failed = sd->level->cache_nice_tries;
    }
    if (sd->balance_interval_ms < max) sd->balance_interval_ms++;
    return result;
}

static enum wb_balance_result failed_weight(struct wb_exec *x, struct wb_balance *b)
{
    struct wb_sd *sd = b->sd;
    if (++sd->nr_balance_failed <= sd->level->cache_nice_tries + 2) {
        ladder_hurry(sd);
        return WB_BAL_FAILED;
    }
    const struct wb_rq *busiest = wb_rq(x->sim, b->src);
    if (!wb_mask_test(busiest->curr->allowed ? busiest->curr->allowed : sd->span, b->this_cpu)) {
        ladder_back_off(sd, true);
        return WB_BAL_FAILED;
    }
    bool kick = may_kick(x, b);
    sd->nr_balance_failed = sd->level->cache_nice_tries + 1;
    if (kick)
        ladder_back_off(sd, false);
    else
        ladder_hurry(sd);
    return kick ? WB_BAL_KICK_ACTIVE : WB_BAL_FAILED;
}

static enum wb_balance_result judge_weight(struct wb_exec *x, struct wb_balance *b, bool found)
{
    if (!found) {
        b->sd->nr_balance_failed = 0;
        ladder_back_off(b->sd, b->flags & LADDER_PINNED);
        return WB_BAL_NONE;
    }
    if (!b->moved) return failed_weight(x, b);
    b->sd->nr_balance_failed = 0;
    ladder_hurry(b->sd);
    return WB_BAL_PULLED;
}

static enum wb_balance_result done_weight(struct wb_exec *x, struct wb_balance *b, bool found)
{
    const struct o1_sim *o = o1_of(x);
    enum wb_balance_result result;
    ladder_count_pass(b, found);
    if (found && !b->moved && !b->skip_pull && b->flags & LADDER_PINNED) {
        if (exclude(x, b)) {
            b->redo++;
            return WB_BAL_REDO;
        }
        b->sd->nr_balance_failed = 0;
        ladder_back_off(b->sd, true);
        result = WB_BAL_FAILED;
    } else {
        result = judge_weight(x, b, found);
    }
    if (b->moved || sibling_busy(o, b)) b->flags |= LADDER_BUSY;
    ladder_visited(x, b, &o->ladder, b->cookie[LADDER_C_INTERVAL]);
    return result;
}

static enum wb_balance_result periodic_done(struct wb_exec *x, struct wb_balance *b, bool found)
{
    return o1_of(x)->v->weighted ? done_weight(x, b, found) : done_tasks(x, b, found);
}

static void periodic_end(struct wb_exec *x, struct wb_balance *b)
{
    (void)x;
    WB_CHECK(!(b->flags & LADDER_SERIAL), "a pass ends with the lock of the serialised levels");
}

const struct wb_balance_ops o1_balance_periodic = {
    .begin = periodic_begin,
    .next = periodic_next,
    .find = find,
    .pull = pull,
    .done = periodic_done,
    .end = periodic_end,
};
