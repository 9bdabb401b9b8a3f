/* busiest.c - how much load should leave the busiest group (Linux 2.6.16 .. 5.4 find_busiest_group,
 * calculate_imbalance, fix_small_imbalance). See busiest.h. */
#include "busiest.h"

bool busiest_beyond(const struct busiest_pair *p)
{
    if (p->local.load >= p->busiest.load || p->local.load >= p->avg) return false;
    return 100 * p->busiest.load > p->pct * p->local.load;
}

/* Weight per local task. Without any: that of a nice-0 task, or nothing. */
static uint64_t local_per_task(const struct busiest_rules *r, const struct busiest_pair *p)
{
    if (p->local.nr) return p->local.weight / p->local.nr;
    return r->empty_counts ? r->scale : 0;
}

/* Throughput of both groups before and after one task has moved. */
static bool gains(const struct busiest_rules *r, const struct busiest_pair *p, uint64_t per_task, uint64_t here)
{
    uint64_t bp = p->busiest.power, tp = p->local.power, max = p->busiest.load;
    uint64_t now = (bp * WB_MIN(per_task, max) + tp * WB_MIN(here, p->local.load)) / r->scale;
    uint64_t off = per_task * r->scale / bp, move = 0;
    if (max > off) move += bp * WB_MIN(per_task, max - off);
    uint64_t add = max * bp < per_task * r->scale ? max * bp / tp : per_task * r->scale / tp;
    move += tp * WB_MIN(here, p->local.load + add);
    return move / r->scale > now + r->min_gain;
}

enum busiest_verdict busiest_small(const struct busiest_rules *r, const struct busiest_pair *p, uint64_t per_task,
                                   int64_t *imbalance)
{
    uint64_t here = local_per_task(r, p), apart = p->local.nr && per_task > here ? 1 : 2;
    uint64_t task = r->scaled_task ? per_task * r->scale / p->busiest.power : per_task;
    uint64_t slack = r->scaled_task ? task : r->fuzz;
    if (p->busiest.load + slack >= p->local.load + task * apart) {
        *imbalance = (int64_t)per_task;
        return BUSIEST_TWO;
    }
    if (gains(r, p, per_task, here)) {
        *imbalance = (int64_t)per_task;
        return BUSIEST_GAIN;
    }
    return r->small_stands ? BUSIEST_SMALL : BUSIEST_NONE;
}

/* Most that may leave the busiest group, in load per power. */
static uint64_t pull_limit(const struct busiest_rules *r, const struct busiest_pair *p, uint64_t per_task)
{
    uint64_t above = p->busiest.load - p->avg;
    if (r->keep_task) return WB_MIN(above, p->busiest.load - per_task);
    if (p->group_imb) return above;
    uint64_t excess = p->busiest.nr - p->busiest.capacity;
    return WB_MIN(above, excess * r->scale * r->scale / p->busiest.power);
}

enum busiest_verdict busiest_decide(const struct busiest_rules *r, const struct busiest_pair *p, int64_t *imbalance)
{
    *imbalance = 0;
    if (!p->busiest.nr || !busiest_beyond(p)) return BUSIEST_NONE;
    uint64_t per_task = p->busiest.weight / p->busiest.nr;
    if (p->group_imb) per_task = WB_MIN(per_task, p->avg);
    if (r->keep_task && p->busiest.load <= per_task) return BUSIEST_NONE;
    if (p->busiest.load < p->avg) return busiest_small(r, p, per_task, imbalance); /* others may not give */
    uint64_t pull = pull_limit(r, p, per_task);
    uint64_t amount = WB_MIN(pull * p->busiest.power, (p->avg - p->local.load) * p->local.power) / r->scale;
    *imbalance = (int64_t)amount;
    if (amount < per_task) return busiest_small(r, p, per_task, imbalance);
    return BUSIEST_AVERAGE;
}
