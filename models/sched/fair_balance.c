/*
 * fair_balance.c - periodic, newly idle and active balancing as steps for the engine's driver.
 *
 * Linux kernel/sched.c (2.6.23 .. 2.6.36), kernel/sched/fair.c: load_balance, load_balance_newidle, rebalance_domains,
 * idle_balance, need_active_balance, active_load_balance_cpu_stop (sched_balance_rq, sched_balance_domains,
 * sched_balance_newidle from 6.10 on). Which group and how much is in fair_balance_{weight,load,types}.c, which tasks
 * in fair_balance_move.c, tickless CPUs in fair_balance_nohz.c.
 *
 * The same walk serves a CPU's own periodic balance and that on behalf of tickless CPUs; b->this_cpu says for whom.
 */
#include "fair_groups.h"

/* ---- find and pull: all kinds ---- */

/* Its siblings being idle matters at the SMT level (up to 2.6.36). */
static bool trap_level(const struct fair_sim *f, const struct wb_sd *sd)
{
    return f->br->trap_always && sd->flags & WB_SD_SHARE_CPUPOWER;
}

static void start_pass(struct wb_exec *x, struct wb_balance *b, struct wb_sd *sd)
{
    struct fair_pass *pass = fair_pass(x);
    *pass = (struct fair_pass){.new_dst = WB_NO_CPU};
    b->sd = sd;
    b->src = WB_NO_CPU;
    b->dst = b->this_cpu;
    b->moved = b->loops = b->redo = 0;
    b->imbalance = 0;
    b->flags &= ~(uint32_t)(LADDER_NOT_MINE | LADDER_PINNED | LADDER_SOME_PINNED | LADDER_NEW_DST | LADDER_SD_IDLE);
    if (trap_level(fair_of(x), sd) && !ladder_busy(b)) b->flags |= LADDER_SD_IDLE;
}

/* A task could go to another CPU of the group: the rest of the amount goes there. */
static bool go_on(struct wb_exec *x, struct wb_balance *b)
{
    struct fair_pass *pass = fair_pass(x);
    (void)ladder_exclude(&pass->excluded, b->dst);
    b->dst = pass->new_dst;
    b->flags &= ~(uint32_t)LADDER_NEW_DST;
    b->imbalance = pass->left;
    b->rule = FAIR_R_LB_MORE;
    b->skip_pull = wb_rq(x->sim, b->src)->nr_running <= 1;
    return true;
}

static struct wb_sg *busiest_group(struct wb_exec *x, struct wb_balance *b)
{
    static struct wb_sg *(*const find[])(struct wb_exec *,
                                         struct wb_balance *) = {[FAIR_LB_WEIGHT] = fair_busiest_weight,
                                                                 [FAIR_LB_LOAD] = fair_busiest_load,
                                                                 [FAIR_LB_TYPES] = fair_busiest_types};
    const struct fair_sim *f = fair_of(x);
    if (f->br->generation != FAIR_LB_WEIGHT && !fair_should_balance(x, b)) {
        b->flags |= LADDER_NOT_MINE;
        return NULL;
    }
    return find[f->br->generation](x, b);
}

static bool find(struct wb_exec *x, struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    struct wb_sd_stats *st = b->sd->stats;
    int i = ladder_stat_index(b);
    if (b->flags & LADDER_NEW_DST) return go_on(x, b);
    wb_charge_fn(x, f->bal.fn_group);
    if (st && !b->redo) st->lb_count[i]++;
    b->rule = FAIR_R_LB_BALANCED;
    struct wb_sg *g = busiest_group(x, b);
    if (b->flags & LADDER_NOT_MINE) b->rule = FAIR_R_LB_NOT_MINE;
    if (!g) {
        if (st) st->lb_nobusyg[i]++;
        return false;
    }
    b->src = fair_busiest_queue(x, b, g);
    if (b->src == WB_NO_CPU) {
        b->rule = FAIR_R_LB_NO_QUEUE;
        if (st) st->lb_nobusyq[i]++;
        return false;
    }
    if (st) st->lb_imbalance[i] += (uint32_t)b->imbalance;
    b->skip_pull = wb_rq(x->sim, b->src)->nr_running <= 1;
    if (b->skip_pull && f->br->generation == FAIR_LB_TYPES) b->flags |= LADDER_PINNED;
    fair_pass(x)->left = b->imbalance;
    return true;
}

/* Nothing moved at the SMT level and a sibling is busy: this CPU does not count as idle (the "-1" up to 2.6.36). */
static bool sibling_busy(const struct fair_sim *f, const struct wb_balance *b)
{
    return !b->moved && trap_level(f, b->sd) && !(b->flags & LADDER_SD_IDLE);
}

/* ---- learning ---- */

static bool kick(struct wb_exec *x, const struct wb_balance *b)
{
    return fair_of(x)->bal.active_balance && ladder_may_kick(x, b);
}

/* asym_active_balance: to a CPU of higher priority; from 6.5 on also from a core whose other threads are busy. */
static bool packs_actively(struct wb_exec *x, const struct wb_balance *b)
{
    const int32_t *priority = fair_of(x)->bal.priority;
    if (!(b->sd->flags & WB_SD_ASYM_PACKING) || !fair_dst_idle(b) || !fair_asym_counts(x, b->sd, b->dst)) return false;
    return priority[b->dst] > priority[b->src] || !fair_asym_counts(x, b->sd, b->src);
}

/* need_active_balance. */
static bool needs_active(struct wb_exec *x, const struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    const struct fair_pass *pass = fair_pass(x);
    const struct wb_sd *sd = b->sd;
    bool failed = sd->nr_balance_failed > sd->level->cache_nice_tries + 2;
    if (f->br->generation == FAIR_LB_WEIGHT) {
        if (!fair_newly_idle(b)) return failed;
        return f->br->asym_lowest && sd->flags & WB_SD_ASYM_PACKING && b->src > b->this_cpu;
    }
    if (packs_actively(x, b)) return true;
    if (pass->src_misfit || pass->move == FAIR_MOVE_MISFIT) return true;
    return failed && (!f->br->only_task_active || pass->move == FAIR_MOVE_TASK);
}

static bool counts_as_failure(const struct fair_sim *f, struct wb_exec *x, const struct wb_balance *b)
{
    if (fair_newly_idle(b) && !f->br->newidle_learns) return false;
    return !(f->br->misfit_uncounted && fair_pass(x)->move == FAIR_MOVE_MISFIT);
}

/* Intervals do not grow by newidle, which disregards them, nor by misfit tasks (6.10+). */
static void back_off(struct wb_exec *x, struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    bool weight = f->br->generation == FAIR_LB_WEIGHT;
    if (fair_newly_idle(b) && !(weight && f->br->newidle_learns)) return;
    if (f->br->misfit_uncounted && fair_pass(x)->move == FAIR_MOVE_MISFIT) return;
    ladder_back_off(b->sd, b->flags & LADDER_PINNED);
}

/* A source was found and nothing moved. */
static enum wb_balance_result failed(struct wb_exec *x, struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    struct wb_sd *sd = b->sd;
    bool weight = f->br->generation == FAIR_LB_WEIGHT;
    if (counts_as_failure(f, x, b)) sd->nr_balance_failed++;
    if (!needs_active(x, b)) {
        ladder_hurry(sd);
        return WB_BAL_FAILED;
    }
    const struct wb_rq *busiest = wb_rq(x->sim, b->src);
    if (!wb_idle_cpu(busiest) && !wb_mask_test(busiest->curr->allowed, b->this_cpu)) { /* OUT_ONE_PINNED */
        b->flags |= weight ? LADDER_PINNED : 0;
        back_off(x, b);
        return WB_BAL_FAILED;
    }
    bool kicks = kick(x, b);
    if (!f->br->failed_resets) sd->nr_balance_failed = sd->level->cache_nice_tries + 1;
    if (!kicks || f->br->failed_resets || (!weight && needs_active(x, b)))
        ladder_hurry(sd);
    else
        ladder_back_off(sd, false);
    return kicks ? WB_BAL_KICK_ACTIVE : WB_BAL_FAILED;
}

/* The level above is told when affinity kept this one from balancing. */
static void tell_parent(const struct wb_balance *b, bool pinned)
{
    if (b->sd->parent) *fair_group_pinned(wb_sd_group(b->sd->parent, 0)) = pinned;
}

/* Somebody outside the own group has not been passed over yet (4.13+, 65a4433aebe3). */
static bool others_left(const struct wb_balance *b, const struct ladder_excluded *excluded)
{
    const struct wb_cpumask *own = &wb_sd_group(b->sd, 0)->mask;
    WB_FOR_EACH_CPU (c, b->sd->span)
        if (!wb_mask_test(own, c) && !ladder_is_excluded(excluded, c)) return true;
    return false;
}

/* More to do for this source or another one: REDO. */
static bool again(struct wb_exec *x, struct wb_balance *b, bool found)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_pass *pass = fair_pass(x);
    if (!found) return false;
    if (b->flags & LADDER_NEW_DST) {
        if (pass->left > 0) return true;
        b->flags &= ~(uint32_t)LADDER_NEW_DST;
    }
    if (f->v->release >= FAIR_5_4 && b->flags & LADDER_SOME_PINNED && pass->left > 0) tell_parent(b, true);
    if (pass->nmoved || b->skip_pull || !(b->flags & LADDER_PINNED)) return false;
    if (!ladder_exclude(&pass->excluded, b->src)) return false;
    if (f->v->release >= FAIR_5_4 && !others_left(b, &pass->excluded)) return false;
    b->redo++;
    return true;
}

/* What load_balance() learns; the same for all kinds. */
static enum wb_balance_result judge(struct wb_exec *x, struct wb_balance *b, bool found)
{
    const struct fair_sim *f = fair_of(x);
    bool all_pinned = found && !b->skip_pull && b->flags & LADDER_PINNED && !fair_pass(x)->nmoved;
    ladder_count_pass(b, found);
    if (found && !all_pinned) {
        if (!fair_pass(x)->nmoved) return failed(x, b);
        b->sd->nr_balance_failed = 0;
        ladder_hurry(b->sd);
        return WB_BAL_PULLED;
    }
    if (f->v->release >= FAIR_5_4 && !(b->flags & LADDER_PINNED)) tell_parent(b, false);
    b->sd->nr_balance_failed = 0;
    back_off(x, b);
    return found ? WB_BAL_FAILED : WB_BAL_NONE;
}

/* ---- newly idle ---- */

enum { C_SPENT = LADDER_C_INTERVAL, C_SINCE = LADDER_C_CURSOR };

static bool gate(const struct fair_sim *f, const struct wb_rq *rq)
{
    const struct fair_rq *r = fair_rq(rq);
    switch (f->br->gate) {
    case FAIR_GATE_NONE: return true;
    case FAIR_GATE_IDLE: return r->avg_idle >= f->migration_cost;
    case FAIR_GATE_OVERLOADED: return r->avg_idle >= f->migration_cost && *f->bal.overloaded;
    case FAIR_GATE_COST:
    case FAIR_GATE_BOTH: break;
    }
    if (f->br->gate == FAIR_GATE_BOTH && r->avg_idle < f->migration_cost) return false;
    return *f->bal.overloaded && (!rq->sd || r->avg_idle >= rq->sd->max_newidle_cost / WB_NS);
}

static void next_visit(struct wb_exec *x, struct wb_balance *b, const struct wb_sd *sd)
{
    ladder_consider(b, sd->last_balance + fair_interval(x, b, sd));
}

static void store_next(struct wb_exec *x, const struct wb_balance *b, bool pulled)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_balance_rq *r = &fair_rq(wb_rq(x->sim, b->this_cpu))->bal;
    uint64_t horizon = wb_jiffies(x->sim) + f->hz;
    uint64_t next = b->flags & LADDER_NEXT_SET ? WB_MIN(b->cookie[LADDER_C_NEXT], horizon) : horizon;
    if (f->v->release <= FAIR_2_6_36) { /* a CPU that pulled is busy from here on; else the old date stands */
        if (pulled || wb_jiffies(x->sim) > r->next_balance) r->next_balance = next;
    } else {
        r->next_balance = WB_MIN(r->next_balance, next);
    }
}

static bool newidle_begin(struct wb_exec *x, struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    struct wb_rq *rq = wb_rq(x->sim, b->this_cpu);
    struct fair_rq *r = fair_rq(rq);
    b->unlock_find = f->br->newidle_unlocked;
    r->bal.misfit_load = 0;
    fair_update_clock(x, rq);
    if (f->v->release >= FAIR_5_15 && rq->wake_list) return false;
    r->idle_stamp = r->clock;
    if (!rq->sd || !f->bal.newidle) return false;
    b->cookie[C_SPENT] = 0;
    b->cookie[C_SINCE] = fair_ns(x);
    if (!gate(f, rq)) {
        if (f->v->release < FAIR_5_4) return false;
        next_visit(x, b, rq->sd);
        store_next(x, b, false);
        fair_nohz_newidle(x, rq); /* 5.4: only here */
        return false;
    }
    if (f->v->release >= FAIR_5_4) {
        wb_charge_fn(x, f->bal.fn_blocked);
        (void)fair_update_blocked(x, rq);
    }
    return true;
}

/* avg_idle must cover what was spent and what the domain is known to cost (3.13+). */
static bool affordable(const struct fair_sim *f, const struct fair_rq *r, const struct wb_balance *b,
                       const struct wb_sd *sd)
{
    return f->v->release < FAIR_5_4 || r->avg_idle >= b->cookie[C_SPENT] + sd->max_newidle_cost / WB_NS;
}

static bool newidle_next(struct wb_exec *x, struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    const struct wb_rq *rq = wb_rq(x->sim, b->this_cpu);
    struct wb_sd *sd = b->flags & LADDER_STARTED ? b->sd->parent : rq->sd;
    b->flags |= LADDER_STARTED;
    if (b->flags & LADDER_STOP) return false;
    for (; sd; sd = sd->parent) {
        uint32_t flags = sd->flags & f->bal.ladder.flag_mask;
        if (!(flags & WB_SD_LOAD_BALANCE)) continue;
        if (!affordable(f, fair_rq(rq), b, sd)) {
            next_visit(x, b, sd);
            return false;
        }
        if (flags & WB_SD_NEWIDLE && fair_newidle_lets(x, b->this_cpu, sd)) {
            if (!f->br->blocked_first) b->cookie[C_SINCE] = fair_ns(x);
            start_pass(x, b, sd);
            return true;
        }
        next_visit(x, b, sd);
    }
    return false;
}

/* update_newidle_cost, ns. */
static void record_cost(struct wb_exec *x, struct wb_sd *sd, uint64_t cost)
{
    const struct fair_sim *f = fair_of(x);
    uint64_t max = sd->max_newidle_cost / WB_NS, now = wb_jiffies(x->sim);
    if (cost > max) {
        if (f->br->cost_bump) cost = WB_MIN(cost, f->migration_cost + 200);
        sd->max_newidle_cost = cost * WB_NS;
        if (f->br->blocked_first) sd->next_decay = now + f->hz;
    } else if (f->br->blocked_first && now > sd->next_decay) {
        sd->max_newidle_cost = sd->max_newidle_cost * 253 / 256;
        sd->next_decay = now + f->hz;
    }
}

static void account_newidle(struct wb_exec *x, struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    uint64_t now = fair_ns(x), cost = now - b->cookie[C_SINCE];
    if (f->v->release < FAIR_5_4) return;
    b->cookie[C_SPENT] += cost;
    b->cookie[C_SINCE] = now;
    if (cost) fair_newidle_count(f, b->sd, fair_pass(x)->nmoved);
    if (f->br->cost_bump && !fair_pass(x)->nmoved) cost = 3 * (b->sd->max_newidle_cost / WB_NS) / 2;
    record_cost(x, b->sd, cost);
}

/* load_balance_newidle() of 2.6.23, 2.6.24 moves no intervals and starts nothing. */
static enum wb_balance_result judge_plain(struct wb_balance *b, bool found)
{
    ladder_count_pass(b, found);
    if (b->moved || !found) b->sd->nr_balance_failed = 0;
    return b->moved ? WB_BAL_PULLED : found ? WB_BAL_FAILED : WB_BAL_NONE;
}

static enum wb_balance_result newidle_done(struct wb_exec *x, struct wb_balance *b, bool found)
{
    const struct fair_sim *f = fair_of(x);
    const struct wb_rq *rq = wb_rq(x->sim, b->this_cpu);
    if (again(x, b, found)) return WB_BAL_REDO;
    bool plain = f->v->release <= FAIR_2_6_24;
    enum wb_balance_result r = plain ? judge_plain(b, found) : judge(x, b, found);
    account_newidle(x, b);
    next_visit(x, b, b->sd);
    bool come = f->v->release >= FAIR_5_4 && (rq->nr_running || (f->br->newidle_bails && rq->wake_list));
    if (fair_pass(x)->nmoved || sibling_busy(f, b) || come) b->flags |= LADDER_STOP;
    return r;
}

static void newidle_end(struct wb_exec *x, struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    struct wb_rq *rq = wb_rq(x->sim, b->this_cpu);
    struct fair_rq *r = fair_rq(rq);
    if (f->v->release >= FAIR_5_4) r->max_idle_cost = WB_MAX(r->max_idle_cost, b->cookie[C_SPENT]);
    store_next(x, b, b->flags & LADDER_STOP);
    /* Up to 2.6.36 a busy sibling counts as success here too. */
    if (rq->nr_running || (f->v->release <= FAIR_2_6_36 && b->flags & LADDER_STOP))
        r->idle_stamp = 0;
    else if (f->v->release >= FAIR_5_15) /* c6f886546cb8, 5.13 */
        fair_nohz_newidle(x, rq);
}

const struct wb_balance_ops fair_balance_newidle = {
    .begin = newidle_begin,
    .next = newidle_next,
    .find = find,
    .pull = fair_pull,
    .done = newidle_done,
    .end = newidle_end,
};

/* ---- periodic, and on behalf of tickless CPUs ---- */

static bool periodic_begin(struct wb_exec *x, struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(wb_rq(x->sim, b->this_cpu));
    if (x->level == WB_LEVEL_HARDIRQ) return false; /* the tick only raises the softirq */
    bool done = r->bal.self_done;
    r->bal.self_done = false;
    if (done) return false;
    b->kind = fair_idle_kind(x, b->this_cpu);
    if (b->kind == WB_BAL_PERIODIC_IDLE ? !f->bal.idle_balance : !f->bal.busy_balance) return false;
    if (f->v->release >= FAIR_5_4) {
        wb_charge_fn(x, f->bal.fn_blocked);
        (void)fair_update_blocked(x, wb_rq(x->sim, b->this_cpu));
    }
    return true;
}

/* What newidle costs is forgotten by 3/256 a second (rebalance_domains, 3.13+). */
static void decay_costs(struct wb_exec *x, cpu_id cpu)
{
    const struct fair_sim *f = fair_of(x);
    uint64_t now = wb_jiffies(x->sim), sum = 0;
    bool decayed = false;
    if (f->v->release < FAIR_5_4) return;
    WB_FOR_EACH_SD(sd, wb_rq(x->sim, cpu))
    {
        if (now > sd->next_decay) {
            sd->max_newidle_cost = sd->max_newidle_cost * 253 / 256;
            sd->next_decay = now + f->hz;
            decayed = true;
        }
        sum += sd->max_newidle_cost / WB_NS;
    }
    if (decayed) fair_rq(wb_rq(x->sim, cpu))->max_idle_cost = WB_MAX(f->migration_cost, sum);
}

static void finish_cpu(struct wb_exec *x, struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_balance_rq *r = &fair_rq(wb_rq(x->sim, b->this_cpu))->bal;
    struct fair_balance_rq *mine = &fair_rq(wb_rq(x->sim, b->exec_cpu))->bal;
    bool old = f->v->release <= FAIR_2_6_36;
    if (b->flags & LADDER_NEXT_SET)
        r->next_balance = b->cookie[LADDER_C_NEXT];
    else if (old)
        r->next_balance = wb_jiffies(x->sim) + 60ull * f->hz;
    if (old && r != mine) mine->next_balance = WB_MIN(mine->next_balance, r->next_balance);
    b->flags &= ~(uint32_t)(LADDER_NEXT_SET | LADDER_NOT_MINE | LADDER_BUSY);
}

static bool start_cpu(struct wb_exec *x, struct wb_balance *b, cpu_id c)
{
    b->this_cpu = b->dst = c;
    b->kind = c == b->exec_cpu ? fair_idle_kind(x, c) : WB_BAL_NOHZ;
    b->sd = NULL;
    decay_costs(x, c);
    return true;
}

static bool walk_next(struct wb_exec *x, struct wb_balance *b)
{
    const struct fair_sim *f = fair_of(x);
    bool more = b->kind == WB_BAL_NOHZ || fair_rq(wb_rq(x->sim, b->exec_cpu))->bal.self_done;
    struct wb_sd *due, *sd = b->sd ? b->sd->parent : wb_rq(x->sim, b->this_cpu)->sd;
    if (!(b->flags & LADDER_STARTED) && !more) decay_costs(x, b->this_cpu);
    if (b->flags & LADDER_NOT_MINE) sd = NULL; /* a better placed CPU does it here and above */
    bool fresh = more && !(b->flags & LADDER_STARTED);
    b->flags |= LADDER_STARTED;
    for (;;) {
        if (!fresh) {
            if (ladder_next_due(x, b, &f->bal.ladder, sd, &due)) {
                start_pass(x, b, due);
                return true;
            }
            finish_cpu(x, b);
            if (!more) return false;
        }
        fresh = false;
        cpu_id c = fair_nohz_next(x, b);
        if (c == WB_NO_CPU || !start_cpu(x, b, c)) return false;
        sd = wb_rq(x->sim, c)->sd;
    }
}

static enum wb_balance_result walk_done(struct wb_exec *x, struct wb_balance *b, bool found)
{
    const struct fair_sim *f = fair_of(x);
    if (again(x, b, found)) return WB_BAL_REDO;
    uint32_t moved = fair_pass(x)->nmoved;
    enum wb_balance_result r = judge(x, b, found);
    uint64_t interval = b->cookie[LADDER_C_INTERVAL];
    b->dst = b->this_cpu;
    if (f->v->release <= FAIR_2_6_36) {
        if (moved || sibling_busy(f, b)) b->flags |= LADDER_BUSY;
    } else {
        bool busy = !fair_idle_cpu(f, wb_rq(x->sim, b->this_cpu));
        if (moved) b->flags = busy ? b->flags | LADDER_BUSY : b->flags & ~(uint32_t)LADDER_BUSY;
        interval = fair_interval(x, b, b->sd);
    }
    ladder_visited(x, b, &f->bal.ladder, interval);
    return r;
}

static void walk_end(struct wb_exec *x, struct wb_balance *b)
{
    (void)x;
    WB_CHECK(!(b->flags & LADDER_SERIAL), "a pass ends with the lock of the serialised levels");
}

const struct wb_balance_ops fair_balance_periodic = {
    .begin = periodic_begin,
    .next = walk_next,
    .find = find,
    .pull = fair_pull,
    .done = walk_done,
    .end = walk_end,
};
const struct wb_balance_ops fair_balance_nohz = {
    .begin = fair_nohz_begin,
    .next = walk_next,
    .find = find,
    .pull = fair_pull,
    .done = walk_done,
    .end = fair_nohz_end,
};

/* ---- active balancing: the migration thread pushes to push_cpu ---- */

static bool active_begin(struct wb_exec *x, struct wb_balance *b)
{
    return wb_rq(x->sim, b->exec_cpu)->nr_running > 1;
}

static bool active_next(struct wb_exec *x, struct wb_balance *b)
{
    cpu_id target = wb_rq(x->sim, b->exec_cpu)->push_cpu;
    if (b->flags & LADDER_STARTED) return false;
    b->flags |= LADDER_STARTED;
    if (target >= wb_ncpus(x->sim) || target == b->exec_cpu) return false;
    b->sd = ladder_covering(wb_rq(x->sim, target), b->exec_cpu);
    b->this_cpu = b->dst = target;
    return b->sd != NULL;
}

static bool active_find(struct wb_exec *x, struct wb_balance *b)
{
    *fair_pass(x) = (struct fair_pass){.new_dst = WB_NO_CPU};
    if (b->sd->stats) b->sd->stats->alb_count++;
    b->src = b->exec_cpu;
    b->imbalance = 1;
    b->rule = FAIR_R_ACTIVE;
    return wb_rq(x->sim, b->exec_cpu)->nr_running > 1;
}

static enum wb_balance_result active_done(struct wb_exec *x, struct wb_balance *b, bool found)
{
    struct wb_sd_stats *st = b->sd->stats;
    if (st) {
        st->alb_pushed += b->moved != 0;
        st->alb_failed += found && !b->moved;
    }
    if (b->moved && fair_of(x)->v->release >= FAIR_5_4) b->sd->nr_balance_failed = 0;
    return b->moved ? WB_BAL_PULLED : WB_BAL_FAILED;
}

static void active_end(struct wb_exec *x, struct wb_balance *b)
{
    (void)x;
    (void)b;
}

const struct wb_balance_ops fair_balance_active = {
    .begin = active_begin,
    .next = active_next,
    .find = active_find,
    .pull = fair_pull_one,
    .done = active_done,
    .end = active_end,
};
