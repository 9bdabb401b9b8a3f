/*
 * o1_active.c - active_load_balance(): the migration thread pushes what runs on its CPU to an idle one.
 *
 * 2.6.10, 2.6.11: to completely idle cores, one task each, from the lowest domain up, until it is alone; 2.6.10
 * considers one CPU per group, 2.6.11 every CPU not visited yet. 2.6.22: to push_cpu only. b->cookie: [0] group, [1]
 * CPU to go on with.
 */
#include "o1.h"

enum { C_GROUP, C_CPU };

static bool begin(struct wb_exec *x, struct wb_balance *b)
{
    b->lock_find = false;
    return wb_rq(x->sim, b->exec_cpu)->nr_running > 1;
}

/* Candidates of a domain lie outside the one below, which was visited before. */
static bool visited(const struct wb_sd *sd, cpu_id c)
{
    return sd->child && wb_mask_test(sd->child->span, c);
}

static bool idle_target(struct wb_exec *x, const struct wb_balance *b, cpu_id c)
{
    return c != b->exec_cpu && o1_core_idle(x, c);
}

/* Next target in group g from CPU `from` on, or WB_NO_CPU. */
static cpu_id target_in(struct wb_exec *x, const struct wb_balance *b, const struct wb_sd *sd, const struct wb_sg *g,
                        cpu_id from)
{
    for (cpu_id c = wb_mask_next(&g->mask, from); c != WB_NO_CPU; c = wb_mask_next(&g->mask, c + 1)) {
        if (visited(sd, c)) continue;
        if (c != b->exec_cpu) wb_scan_rq(x, c);
        if (idle_target(x, b, c)) return c;
    }
    return WB_NO_CPU;
}

static void aim(struct wb_balance *b, struct wb_sd *sd, cpu_id target)
{
    b->sd = sd;
    b->this_cpu = b->dst = target;
}

static bool next_idle(struct wb_exec *x, struct wb_balance *b)
{
    struct wb_sd *sd = b->flags & LADDER_STARTED ? b->sd : wb_rq(x->sim, b->exec_cpu)->sd;
    b->flags |= LADDER_STARTED;
    for (; sd && o1_flags(o1_of(x), sd) & WB_SD_LOAD_BALANCE;
         sd = sd->parent, b->cookie[C_GROUP] = b->cookie[C_CPU] = 0) {
        for (; b->cookie[C_GROUP] < sd->ngroups; b->cookie[C_GROUP]++, b->cookie[C_CPU] = 0) {
            if (wb_rq(x->sim, b->exec_cpu)->nr_running <= 1) return false;
            cpu_id c = target_in(x, b, sd, wb_sd_group(sd, (uint32_t)b->cookie[C_GROUP]), (cpu_id)b->cookie[C_CPU]);
            if (c == WB_NO_CPU) continue;
            aim(b, sd, c);
            b->cookie[C_CPU] = c + 1;
            if (o1_of(x)->v->active_all) return true;
            b->cookie[C_GROUP]++;
            b->cookie[C_CPU] = 0;
            return true;
        }
    }
    return false;
}

/* Lowest domain of the target that covers this CPU. */
static bool next_pushed(struct wb_exec *x, struct wb_balance *b)
{
    cpu_id target = wb_rq(x->sim, b->exec_cpu)->push_cpu;
    if (b->flags & LADDER_STARTED) return false;
    b->flags |= LADDER_STARTED;
    if (target >= wb_ncpus(x->sim) || target == b->exec_cpu) return false;
    WB_FOR_EACH_SD(sd, wb_rq(x->sim, target))
    {
        if (!(o1_flags(o1_of(x), sd) & WB_SD_LOAD_BALANCE) || !wb_mask_test(sd->span, b->exec_cpu)) continue;
        aim(b, sd, target);
        return true;
    }
    return false;
}

static bool next(struct wb_exec *x, struct wb_balance *b)
{
    return o1_of(x)->v->weighted ? next_pushed(x, b) : next_idle(x, b);
}

static bool find(struct wb_exec *x, struct wb_balance *b)
{
    if (b->sd->stats) b->sd->stats->alb_count++;
    b->src = b->exec_cpu;
    b->imbalance = 1;
    b->rule = O1_R_ACTIVE;
    return wb_rq(x->sim, b->exec_cpu)->nr_running > 1;
}

static void pull(struct wb_exec *x, struct wb_balance *b)
{
    o1_move_tasks(x, b, 1, UINT64_MAX);
}

static enum wb_balance_result done(struct wb_exec *x, struct wb_balance *b, bool found)
{
    if (b->sd->stats) {
        b->sd->stats->alb_pushed += b->moved != 0;
        b->sd->stats->alb_failed += found && !b->moved;
    }
    if (wb_rq(x->sim, b->exec_cpu)->nr_running <= 1) return WB_BAL_STOP;
    return b->moved ? WB_BAL_PULLED : WB_BAL_FAILED;
}

static void end(struct wb_exec *x, struct wb_balance *b)
{
    (void)x;
    (void)b;
}

const struct wb_balance_ops o1_balance_active = {
    .begin = begin,
    .next = next,
    .find = find,
    .pull = pull,
    .done = done,
    .end = end,
};
