/*
 * fair_place_affine.c - the waker's CPU or the previous one?
 *
 * 2.6.23, 2.6.24: loads of the smallest domain that covers both. 2.6.35, 2.6.36 wake_affine: loads weighed by power.
 * 5.4 .. 6.18: wake_wide() leaves out wakers of many; wake_affine_idle(), then wake_affine_weight().
 */
#include "fair_placing.h"

struct wb_rq *place_look(struct placing *k, cpu_id c)
{
    k->scanned++;
    for (uint32_t i = 0; i < k->nseen; i++)
        if (k->seen[i] == c) return wb_rq(k->x->sim, c);
    if (k->nseen < WB_ARRAY_SIZE(k->seen)) k->seen[k->nseen++] = c;
    wb_scan_idle(k->x, c);
    return wb_rq(k->x->sim, c);
}

bool place_idle(struct placing *k, cpu_id c)
{
    const struct wb_rq *rq = place_look(k, c);
    return fair_idle_cpu(k->f, rq) || fair_joins_idle(k->f, k->p->t, rq);
}

uint64_t place_curr_weight(const struct wb_exec *x)
{
    return x->task->klass == WB_CLASS_SWAPPER ? WEIGHT_NICE_0 : fair_weight(fair_task(x->task));
}

/* ---- 2.6.23, 2.6.24 ---- */

/* task_hot: against prev's clock as it stands, which nobody refreshes for this. */
static bool cache_hot(const struct placing *k)
{
    const struct fair_sim *f = k->f;
    if (!f->bal.cache_hot || !f->migration_cost) return false;
    return (int64_t)(fair_rq(k->prev)->clock - k->p->exec_start) < (int64_t)f->migration_cost;
}

static bool affine_by_loads(struct placing *k, const struct wb_sd *sd, uint64_t imbalance)
{
    static const enum fair_how how[][2] = {
        [LADDER_ALONE] = {FAIR_H_ALONE, FAIR_H_ALONE_SYNC}, [LADDER_LOAD] = {FAIR_H_LOAD, FAIR_H_LOAD_SYNC}};
    if (k->f->pr->sync_cold && k->sync && !cache_hot(k)) {
        k->how = FAIR_H_COLD;
        return true;
    }
    uint32_t idx = sd->level->wake_idx;
    struct ladder_pull p = {.there = fair_source_load(k->f, fair_rq(k->prev), idx),
                            .here = fair_target_load(k->f, fair_rq(k->here), idx),
                            .there_target = fair_target_load(k->f, fair_rq(k->prev), idx),
                            .per_task = fair_load_per_task(k->f, k->here),
                            .waker = place_curr_weight(k->x),
                            .wakee = fair_weight(k->p),
                            .imbalance = imbalance,
                            .sync = k->sync};
    enum ladder_verdict v = ladder_affine(&p);
    if (v == LADDER_NO_PULL) return false;
    k->how = how[v][k->sync];
    return true;
}

cpu_id place_target_loads(struct placing *k)
{
    k->how = FAIR_H_SAME;
    if (k->here == k->prev) return k->prev->cpu;
    k->how = FAIR_H_NOT_ALLOWED;
    if (!wb_mask_test(k->p->t->allowed, k->here->cpu)) return k->prev->cpu;
    (void)place_look(k, k->prev->cpu);
    wb_charge_fn(k->x, k->f->pl.fn_affine);
    struct wb_sd *sd = ladder_covering(k->here, k->prev->cpu);
    k->how = FAIR_H_NO_DOMAIN;
    if (!sd) return k->prev->cpu;
    uint64_t imbalance = 100 + (sd->level->imbalance_pct - 100) / 2;
    uint32_t flags = sd->flags & k->f->bal.ladder.flag_mask, idx = sd->level->wake_idx;
    if (flags & WB_SD_WAKE_AFFINE && affine_by_loads(k, sd, imbalance)) {
        if (sd->stats) sd->stats->ttwu_move_affine++;
        return k->here->cpu;
    }
    if (flags & WB_SD_WAKE_BALANCE && imbalance * fair_target_load(k->f, fair_rq(k->here), idx) <=
                                          100 * fair_source_load(k->f, fair_rq(k->prev), idx)) {
        if (sd->stats) sd->stats->ttwu_move_balance++;
        k->how = FAIR_H_PASSIVE;
        return k->here->cpu;
    }
    k->how = FAIR_H_NO_PULL;
    return k->prev->cpu;
}

/* ---- who may be pulled at all ---- */

void place_record_wakee(struct placing *k, struct fair_task *waker)
{
    uint64_t now = wb_jiffies(k->x->sim);
    if (now > waker->pl.wakee_flip_decay + k->f->hz) {
        waker->pl.wakee_flips >>= 1;
        waker->pl.wakee_flip_decay = now;
    }
    if (waker->pl.last_wakee == k->p->t->id + 1) return;
    waker->pl.last_wakee = k->p->t->id + 1;
    waker->pl.wakee_flips++;
}

bool place_wide(const struct placing *k)
{
    uint32_t a = fair_task(k->x->task)->pl.wakee_flips, b = k->p->pl.wakee_flips;
    uint32_t master = WB_MAX(a, b), slave = WB_MIN(a, b), factor = k->f->pl.seat[k->here->cpu].llc_size;
    return k->f->pl.wide && slave >= factor && master >= slave * factor;
}

/* wake_cap: the smaller of both CPUs is much smaller than the biggest, and the task does not fit it. */
static bool unfit(const struct placing *k)
{
    const struct fair_sim *f = k->f;
    if (!f->pr->wake_cap || !f->bal.asym_capacity) return false;
    uint64_t least = WB_MIN(fair_capacity(f, k->here->cpu), fair_capacity(f, k->prev->cpu));
    if (f->bal.max_capacity - least < f->bal.max_capacity >> 3) return false;
    return !fair_fits(fair_task_util_est(f, k->p), least);
}

struct wb_sd *place_affine_domain(struct placing *k, bool wide)
{
    k->how = FAIR_H_OFF;
    if (k->f->v->release <= FAIR_2_6_36 && !fair_on(k->f, FAIR_F_AFFINE_WAKEUPS)) return NULL;
    k->how = FAIR_H_WIDE;
    if (wide && place_wide(k)) return NULL;
    k->how = FAIR_H_UNFIT;
    if (wide && unfit(k)) return NULL;
    k->how = FAIR_H_NOT_ALLOWED;
    if (!wb_mask_test(k->p->t->allowed, k->here->cpu)) return NULL;
    k->how = FAIR_H_SAME;
    WB_FOR_EACH_SD(sd, k->here)
    {
        uint32_t flags = sd->flags & k->f->bal.ladder.flag_mask;
        if (flags & WB_SD_LOAD_BALANCE && flags & WB_SD_WAKE_AFFINE && wb_mask_test(sd->span, k->prev->cpu)) return sd;
    }
    if (k->here != k->prev) k->how = FAIR_H_NO_DOMAIN;
    return NULL;
}

/* ---- 2.6.35, 2.6.36 ---- */

/* Is this CPU with the task, weighed by power, within the margin of the other's load? Without task groups the wakee's
 * weight is on one side only (effective_load). Unsigned: discounting the waker below zero wraps. */
static bool balanced(const struct placing *k, const struct wb_sd *sd, uint64_t this_load, uint64_t load)
{
    uint64_t this_power = fair_capacity(k->f, k->here->cpu), prev_power = fair_capacity(k->f, k->prev->cpu);
    if (!this_load) return true;
    uint64_t here = 100 * prev_power * (this_load + fair_weight(k->p));
    return here <= (100 + (sd->level->imbalance_pct - 100) / 2) * this_power * load;
}

cpu_id place_target_sibling(struct placing *k, const struct wb_sd *sd)
{
    const struct fair_sim *f = k->f;
    const struct fair_rq *here = fair_rq(k->here), *prev = fair_rq(k->prev);
    if (k->here == k->prev) return k->here->cpu;
    (void)place_look(k, k->prev->cpu);
    wb_charge_fn(k->x, f->pl.fn_affine);
    uint32_t idx = sd->level->wake_idx;
    uint64_t load = fair_source_load(f, prev, idx), this_load = fair_target_load(f, here, idx);
    if (k->sync) this_load -= place_curr_weight(k->x);
    bool even = balanced(k, sd, this_load, load);
    k->how = k->sync ? FAIR_H_LOAD_SYNC : FAIR_H_LOAD;
    if (!even) {
        k->how = FAIR_H_NO_PULL;
        if (this_load > load || this_load + fair_target_load(f, prev, idx) > fair_load_per_task(f, k->here))
            return k->prev->cpu;
        k->how = k->sync ? FAIR_H_ALONE_SYNC : FAIR_H_ALONE;
    }
    if (sd->stats) sd->stats->ttwu_move_affine++;
    return k->here->cpu;
}

/* ---- 5.4 and later ---- */

static bool available(struct placing *k, cpu_id c)
{
    return fair_idle_cpu(k->f, place_look(k, c));
}

static uint32_t really_running(const struct placing *k, const struct wb_rq *rq)
{
    return rq->nr_running - (k->f->pl.skips_delayed ? fair_rq(rq)->nr_delayed : 0);
}

/* wake_affine_idle. False: undecided. */
static bool by_idleness(struct placing *k)
{
    cpu_id here = k->here->cpu, prev = k->prev->cpu;
    if (available(k, here) && place_shares_cache(k->f, here, prev)) {
        k->how = available(k, prev) ? FAIR_H_BOTH_IDLE : FAIR_H_THIS_IDLE;
        return true;
    }
    if (k->sync && really_running(k, k->here) == 1) {
        k->how = FAIR_H_SYNC;
        return true;
    }
    if (k->f->pr->idle_prev && available(k, prev)) {
        k->how = FAIR_H_PREV_IDLE;
        return true;
    }
    return false;
}

/* wake_affine_weight: loads as the task would leave them. */
static void by_weight(struct placing *k, const struct wb_sd *sd)
{
    const struct fair_sim *f = k->f;
    int64_t here = (int64_t)fair_cpu_load(f, fair_rq(k->here));
    int64_t task = (int64_t)fair_task_h_load(k->p), pct = (int64_t)sd->level->imbalance_pct;
    bool bias = fair_on(f, FAIR_F_WA_BIAS);
    (void)place_look(k, k->prev->cpu);
    k->how = k->sync ? FAIR_H_LOAD_SYNC : FAIR_H_LOAD;
    if (k->sync) {
        int64_t waker = (int64_t)fair_task_h_load(fair_task(k->x->task));
        if (waker > here) return;
        here -= waker;
    }
    here = (here + task) * (bias ? 100 : 1) * (int64_t)fair_capacity(f, k->prev->cpu);
    int64_t prev = (int64_t)fair_cpu_load(f, fair_rq(k->prev)) - task;
    prev *= (bias ? 100 + (pct - 100) / 2 : 1) * (int64_t)fair_capacity(f, k->here->cpu);
    prev += k->sync;
    if (here >= prev) k->how = FAIR_H_NO_PULL;
}

cpu_id place_target_cache(struct placing *k, struct wb_sd *sd)
{
    const struct fair_sim *f = k->f;
    if (k->here == k->prev) return k->prev->cpu;
    wb_charge_fn(k->x, f->pl.fn_affine);
    k->how = FAIR_H_NO_PULL;
    bool decided = fair_on(f, FAIR_F_WA_IDLE) && by_idleness(k);
    if (!decided && fair_on(f, FAIR_F_WA_WEIGHT)) by_weight(k, sd);
    if (k->how == FAIR_H_NO_PULL || k->how == FAIR_H_PREV_IDLE || k->how == FAIR_H_BOTH_IDLE) return k->prev->cpu;
    if (sd->stats) sd->stats->ttwu_move_affine++;
    return k->here->cpu;
}
