/*
 * o1_forkexec.c - where children start and what exec() may move.
 *
 * 2.6.10, 2.6.11: a child starts on its parent's CPU; sched_exec() looks through the highest BALANCE_EXEC domain for
 * the least loaded CPU. 2.6.13 .. 2.6.22: sched_balance_self() descends from the highest domain with the flag through
 * find_idlest_group() and find_idlest_cpu().
 */
#include "o1.h"

/* ---- 2.6.10, 2.6.11 sched_exec, find_idlest_cpu ---- */

static cpu_id exec_target(struct wb_exec *x, const struct wb_sd *sd, const struct wb_task *t, uint32_t *scanned)
{
    const struct o1_sim *o = o1_of(x);
    const struct wb_rq *here = wb_rq(x->sim, x->cpu);
    uint64_t best = UINT64_MAX, imbalance = 100 + (sd->level->imbalance_pct - 100) / 2;
    cpu_id cpu = x->cpu;
    WB_FOR_EACH_CPU_AND (c, sd->span, t->allowed) {
        if (c != x->cpu) wb_scan_rq(x, c);
        ++*scanned;
        uint64_t load = o1_target_load(o, wb_rq(x->sim, c), 0);
        if (load >= best) continue;
        best = load;
        cpu = c;
        if (!load) break;
    }
    return best * imbalance < (o1_source_load(o, here, 0) + O1_SCALE) * 100 ? cpu : x->cpu;
}

static struct wb_choice exec_once(struct wb_exec *x, const struct wb_task *t)
{
    struct wb_choice c = {.cpu = x->cpu, .rule = O1_R_EXEC_NO_DOMAIN};
    struct wb_sd *sd = ladder_highest(wb_rq(x->sim, x->cpu), WB_SD_EXEC, o1_of(x)->ladder.flag_mask, UINT32_MAX);
    if (!sd) return c;
    wb_charge_fn(x, o1_of(x)->fn_find_idlest);
    c.cpu = exec_target(x, sd, t, &c.scanned);
    c.rule = c.cpu == x->cpu ? O1_R_EXEC_STAY : O1_R_EXEC_MOVE;
    return c;
}

/* ---- 2.6.13 .. 2.6.22 sched_balance_self ---- */

static uint64_t source(const struct wb_exec *x, const struct wb_rq *rq, uint32_t idx)
{
    return o1_source_load(o1_of(x), rq, idx);
}

static uint64_t target(const struct wb_exec *x, const struct wb_rq *rq, uint32_t idx)
{
    return o1_target_load(o1_of(x), rq, idx);
}

static uint64_t now(const struct wb_exec *x, const struct wb_rq *rq)
{
    return o1_raw_load(o1_of(x), rq);
}

static const struct ladder_loads loads = {.source = source, .target = target, .now = now, .scale = O1_SCALE};

static struct ladder_descent start(struct wb_exec *x, struct wb_task *t, uint32_t flag)
{
    const struct o1_sim *o = o1_of(x);
    return (struct ladder_descent){.x = x,
                                   .t = t,
                                   .cpu = x->cpu,
                                   .flag = flag,
                                   .flag_mask = o->ladder.flag_mask,
                                   .group = ladder_idlest_group,
                                   .pick = ladder_idlest_cpu,
                                   .loads = &loads,
                                   .fn = o->fn_find_idlest};
}

/* ---- the hooks ---- */

struct wb_choice o1_place_fork(struct wb_exec *x, struct wb_task *child)
{
    struct wb_choice c = {.cpu = x->cpu, .rule = O1_R_FORK_LOCAL};
    struct ladder_descent d = start(x, child, WB_SD_FORK);
    if (o1_of(x)->v->self_balance && ladder_descend(&d)) {
        c = (struct wb_choice){.cpu = d.cpu, .rule = O1_R_FORK_IDLEST, .scanned = d.scanned};
        if (d.cpu == x->cpu) c.rule = O1_R_FORK_BALANCED;
    }
    if (wb_mask_test(child->allowed, c.cpu)) return c;
    /* Born with a mask of its own: as if it had called sched_setaffinity() at once. */
    return (struct wb_choice){.cpu = wb_mask_first(child->allowed), .rule = O1_R_FORK_AFFINITY};
}

struct wb_choice o1_place_exec(struct wb_exec *x, struct wb_task *t)
{
    struct ladder_descent d = start(x, t, WB_SD_EXEC);
    if (o1_of(x)->v->self_balance) {
        if (!ladder_descend(&d)) return (struct wb_choice){.cpu = x->cpu, .rule = O1_R_EXEC_NO_DOMAIN};
        return (struct wb_choice){
            .cpu = d.cpu, .rule = d.cpu == x->cpu ? O1_R_EXEC_STAY : O1_R_EXEC_MOVE, .scanned = d.scanned};
    }
    if (wb_rq(x->sim, x->cpu)->nr_running <= 1) return (struct wb_choice){.cpu = x->cpu, .rule = O1_R_EXEC_ALONE};
    return exec_once(x, t);
}
