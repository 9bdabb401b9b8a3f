/*
 * o1_forkexec.c - where children start and what exec() may move.
 *
 * 2.6.10, 2.6.11: a child starts on its parent's CPU; sched_exec() looks through the highest BALANCE_EXEC domain for
 * the least loaded CPU. 2.6.13 .. 2.6.22: sched_balance_self() descends from the highest domain with the flag through
 * find_idlest_group() and find_idlest_cpu().
 */
#include "o1.h"

static struct wb_sd *highest(const struct o1_sim *o, const struct wb_rq *rq, uint32_t flag, uint32_t below)
{
    struct wb_sd *found = NULL;
    WB_FOR_EACH_SD(sd, rq)
    {
        if (sd->span_weight >= below || sd->flags & WB_SD_POWERSAVINGS) break;
        if (o1_flags(o, sd) & flag) found = sd;
    }
    return found;
}

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
    struct wb_sd *sd = highest(o1_of(x), wb_rq(x->sim, x->cpu), WB_SD_EXEC, UINT32_MAX);
    if (!sd) return c;
    wb_charge_fn(x, o1_of(x)->fn_find_idlest);
    c.cpu = exec_target(x, sd, t, &c.scanned);
    c.rule = c.cpu == x->cpu ? O1_R_EXEC_STAY : O1_R_EXEC_MOVE;
    return c;
}

/* ---- 2.6.13 .. 2.6.22 sched_balance_self ---- */

struct descent {
    struct wb_exec *x;
    const struct o1_sim *o;
    const struct wb_task *t;
    cpu_id cpu;
    uint32_t scanned;
};

static uint64_t group_load(struct descent *d, const struct wb_sg *g, bool local, uint32_t idx)
{
    uint64_t sum = 0;
    cpu_id c = g->first;
    for (uint32_t n = 0; n < g->weight; n++, c = wb_mask_next(&g->mask, c + 1)) {
        const struct wb_rq *rq = wb_rq(d->x->sim, c);
        if (c != d->x->cpu) wb_scan_rq(d->x, c);
        d->scanned++;
        sum += local ? o1_source_load(d->o, rq, idx) : o1_target_load(d->o, rq, idx);
    }
    return sum * O1_SCALE / WB_MAX(g->power, 1u);
}

/* Another group must be less loaded by half of the domain's margin. */
static struct wb_sg *idlest_group(struct descent *d, const struct wb_sd *sd)
{
    struct wb_sg *idlest = NULL;
    uint64_t this_load = 0, min_load = UINT64_MAX, imbalance = 100 + (sd->level->imbalance_pct - 100) / 2;
    wb_charge_fn(d->x, d->o->fn_find_idlest);
    for (uint32_t i = 0; i < sd->ngroups; i++) {
        struct wb_sg *g = wb_sd_group(sd, i);
        if (wb_mask_next_and(&g->mask, d->t->allowed, g->first) == WB_NO_CPU) continue;
        uint64_t load = group_load(d, g, i == 0, sd->level->forkexec_idx);
        if (i == 0) {
            this_load = load;
        } else if (load < min_load) {
            min_load = load;
            idlest = g;
        }
    }
    return !idlest || 100 * this_load < imbalance * min_load ? NULL : idlest;
}

static cpu_id idlest_cpu(struct descent *d, const struct wb_sg *g)
{
    uint64_t min_load = UINT64_MAX;
    cpu_id best = WB_NO_CPU;
    for (cpu_id c = wb_mask_next_and(&g->mask, d->t->allowed, g->first); c != WB_NO_CPU;
         c = wb_mask_next_and(&g->mask, d->t->allowed, c + 1)) {
        uint64_t load = o1_raw_load(d->o, wb_rq(d->x->sim, c));
        if (load < min_load || (load == min_load && c == d->cpu)) {
            min_load = load;
            best = c;
        }
    }
    return best;
}

static void descend(struct descent *d, uint32_t flag)
{
    struct wb_sd *sd = highest(d->o, wb_rq(d->x->sim, d->cpu), flag, UINT32_MAX);
    while (sd) {
        struct wb_sg *g = o1_flags(d->o, sd) & flag ? idlest_group(d, sd) : NULL;
        cpu_id c = g ? idlest_cpu(d, g) : WB_NO_CPU;
        if (c == WB_NO_CPU || c == d->cpu) {
            sd = sd->child;
            continue;
        }
        d->cpu = c;
        sd = highest(d->o, wb_rq(d->x->sim, c), flag, sd->span_weight);
    }
}

/* ---- the hooks ---- */

struct wb_choice o1_place_fork(struct wb_exec *x, struct wb_task *child)
{
    const struct o1_sim *o = o1_of(x);
    struct wb_choice c = {.cpu = x->cpu, .rule = O1_R_FORK_LOCAL};
    if (o->v->self_balance && highest(o, wb_rq(x->sim, x->cpu), WB_SD_FORK, UINT32_MAX)) {
        struct descent d = {.x = x, .o = o, .t = child, .cpu = x->cpu};
        descend(&d, WB_SD_FORK);
        c = (struct wb_choice){.cpu = d.cpu, .rule = O1_R_FORK_IDLEST, .scanned = d.scanned};
        if (d.cpu == x->cpu) c.rule = O1_R_FORK_BALANCED;
    }
    if (wb_mask_test(child->allowed, c.cpu)) return c;
    /* Born with a mask of its own: as if it had called sched_setaffinity() at once. */
    return (struct wb_choice){.cpu = wb_mask_first(child->allowed), .rule = O1_R_FORK_AFFINITY};
}

struct wb_choice o1_place_exec(struct wb_exec *x, struct wb_task *t)
{
    const struct o1_sim *o = o1_of(x);
    if (o->v->self_balance) {
        struct descent d = {.x = x, .o = o, .t = t, .cpu = x->cpu};
        if (!highest(o, wb_rq(x->sim, x->cpu), WB_SD_EXEC, UINT32_MAX))
            return (struct wb_choice){.cpu = x->cpu, .rule = O1_R_EXEC_NO_DOMAIN};
        descend(&d, WB_SD_EXEC);
        return (struct wb_choice){
            .cpu = d.cpu, .rule = d.cpu == x->cpu ? O1_R_EXEC_STAY : O1_R_EXEC_MOVE, .scanned = d.scanned};
    }
    if (wb_rq(x->sim, x->cpu)->nr_running <= 1) return (struct wb_choice){.cpu = x->cpu, .rule = O1_R_EXEC_ALONE};
    return exec_once(x, t);
}
