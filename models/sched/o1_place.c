/*
 * o1_place.c - where a woken task goes: the SMP part of try_to_wake_up() and wake_idle().
 *
 * 2.6.10, 2.6.11: a nearly idle previous CPU keeps the task unless the wakeup is sync; else domains are asked
 * bottom-up, an affine pull for a task that is cold there, a passive balance otherwise. 2.6.22: the smallest domain
 * that covers both CPUs is asked, and only loads count. Loads are unsigned: discounting the waker (sync) below zero
 * wraps, as it does there.
 */
#include "o1.h"

struct o1_wake {
    struct wb_exec *x;
    const struct o1_sim *o;
    const struct wb_wakeup *w;
    struct o1_task *p;
    struct wb_rq *prev, *here;
    bool sync;
    wb_rule rule;
    uint32_t scanned;
};

/* ---- 2.6.10, 2.6.11 ---- */

cpu_id o1_choose_tasks(struct o1_wake *k)
{
    uint64_t load = o1_source_load(k->o, k->prev, 0), this_load = o1_target_load(k->o, k->here, 0);
    if (k->sync) this_load -= O1_SCALE;
    if (load < O1_SCALE / 2 && this_load > O1_SCALE / 2) {
        k->rule = O1_R_PREV_IDLE;
        return k->prev->cpu;
    }
    WB_FOR_EACH_SD(sd, k->here)
    {
        uint64_t imbalance = sd->level->imbalance_pct + (sd->level->imbalance_pct - 100) / 2;
        uint32_t flags = o1_flags(k->o, sd);
        bool covers = wb_mask_test(sd->span, k->prev->cpu);
        if (flags & WB_SD_WAKE_AFFINE && !o1_hot(k->o, k->p, o1_rq(k->prev), sd)) {
            if (!covers) continue;
            if (sd->stats) sd->stats->ttwu_move_affine++;
            k->rule = k->sync ? O1_R_AFFINE_SYNC : O1_R_AFFINE;
            return k->here->cpu;
        }
        if (flags & WB_SD_WAKE_BALANCE && imbalance * this_load <= 100 * load) {
            if (!covers) continue;
            if (sd->stats) sd->stats->ttwu_move_balance++;
            k->rule = k->sync ? O1_R_BALANCE_SYNC : O1_R_BALANCE;
            return k->here->cpu;
        }
    }
    k->rule = O1_R_NO_PULL;
    return k->prev->cpu;
}

/* ---- 2.6.22 ---- */

static wb_rule affine(const struct o1_wake *k, uint32_t idx, uint64_t imbalance)
{
    static const wb_rule rule[][2] = {[LADDER_NO_PULL] = {O1_R_NONE, O1_R_NONE},
                                      [LADDER_ALONE] = {O1_R_AFFINE_ALONE, O1_R_AFFINE_ALONE_SYNC},
                                      [LADDER_LOAD] = {O1_R_AFFINE_LOAD, O1_R_AFFINE_LOAD_SYNC}};
    struct ladder_pull p = {.there = o1_source_load(k->o, k->prev, idx),
                            .here = o1_target_load(k->o, k->here, idx),
                            .there_target = o1_target_load(k->o, k->prev, idx),
                            .per_task = o1_load_per_task(k->here),
                            .waker = o1_task(k->x->task)->weight,
                            .wakee = k->p->weight,
                            .imbalance = imbalance,
                            .sync = k->sync};
    return rule[ladder_affine(&p)][k->sync];
}

cpu_id o1_choose_weight(struct o1_wake *k)
{
    struct wb_sd *sd = ladder_covering(k->here, k->prev->cpu);
    if (!sd) {
        k->rule = O1_R_NO_DOMAIN;
        return k->prev->cpu;
    }
    uint32_t idx = sd->level->wake_idx, flags = o1_flags(k->o, sd);
    uint64_t imbalance = 100 + (sd->level->imbalance_pct - 100) / 2;
    if (flags & WB_SD_WAKE_AFFINE && (k->rule = affine(k, idx, imbalance))) {
        if (sd->stats) sd->stats->ttwu_move_affine++;
        return k->here->cpu;
    }
    if (flags & WB_SD_WAKE_BALANCE &&
        imbalance * o1_target_load(k->o, k->here, idx) <= 100 * o1_source_load(k->o, k->prev, idx)) {
        if (sd->stats) sd->stats->ttwu_move_balance++;
        k->rule = O1_R_BALANCE;
        return k->here->cpu;
    }
    k->rule = O1_R_NO_PULL;
    return k->prev->cpu;
}

/* ---- wake_idle: compiled in with CONFIG_SCHED_SMT only ---- */

static cpu_id wake_idle(struct o1_wake *k, cpu_id cpu)
{
    const struct wb_rq *rq = cpu == k->here->cpu ? k->here : k->prev;
    struct ladder_idle_search w = {.x = k->x,
                                   .allowed = k->p->t->allowed,
                                   .seen = {k->here->cpu, k->prev->cpu},
                                   .flag_mask = k->o->ladder.flag_mask,
                                   .climbs = k->o->v->wake_idle_climbs,
                                   .nr_guard = k->o->v->wake_idle_nr};
    if (!k->o->wake_idle) return cpu;
    wb_charge_fn(k->x, k->o->fn_wake_idle);
    cpu_id c = ladder_wake_idle(&w, rq);
    k->scanned += w.scanned;
    if (c == WB_NO_CPU) return cpu;
    k->rule = w.depth ? O1_R_WAKE_IDLE_FAR : O1_R_WAKE_IDLE_NEAR;
    return c;
}

struct wb_choice o1_place_wakeup(struct wb_exec *x, const struct wb_wakeup *w)
{
    const struct o1_sim *o = o1_of(x);
    struct o1_wake k = {.x = x, .o = o, .w = w, .p = o1_task(w->task), .scanned = 1};
    if (w->task->on_cpu) return (struct wb_choice){.cpu = w->prev_cpu, .rule = O1_R_STILL_RUNNING};
    k.prev = wb_rq(x->sim, w->prev_cpu);
    k.here = wb_rq(x->sim, w->this_cpu);
    k.sync = o->sync && w->flags & WB_WF_SYNC;
    cpu_id cpu = w->prev_cpu;
    if (w->prev_cpu == w->this_cpu) {
        k.rule = O1_R_SAME_CPU;
    } else if (!wb_mask_test(w->task->allowed, w->this_cpu)) {
        k.rule = O1_R_NOT_ALLOWED;
    } else {
        k.scanned = 2;
        if (k.here->sd && k.here->sd->stats) k.here->sd->stats->ttwu_wake_remote++;
        cpu = o->v->choose(&k);
    }
    cpu = wake_idle(&k, cpu);
    return (struct wb_choice){.cpu = cpu, .rule = k.rule, .scanned = k.scanned};
}
