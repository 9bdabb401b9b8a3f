/*
 * o1_load.c - how loaded a CPU is.
 *
 * 2.6.10, 2.6.11 rebalance_tick: one value of 128 per task that moves half way per tick, rounded towards a higher
 * one. 2.6.22 update_load: the sum of weights, damped at three speeds. Index 1 of the latter is the former.
 * source_load() is the lower of the damped and the present load (careful about taking), target_load() the higher
 * (careful about giving).
 */
#include "o1.h"

uint64_t o1_raw_load(const struct o1_sim *o, const struct wb_rq *rq)
{
    return o->v->weighted ? o1_rq(rq)->weight : (uint64_t)rq->nr_running * O1_SCALE;
}

static uint64_t damp(uint64_t old, uint64_t load, uint32_t index)
{
    uint64_t scale = 1ull << index;
    if (load > old) load += scale - 1;
    return (old * (scale - 1) + load) >> index;
}

/* A load that stays put reaches a fixed point after some tens of ticks: exact for any n. */
void o1_load_ticks(const struct o1_sim *o, struct wb_rq *rq, uint64_t n)
{
    struct o1_rq *r = o1_rq(rq);
    uint64_t load = o1_raw_load(o, rq);
    for (uint32_t i = 0; i < O1_LOADS; i++) {
        for (uint64_t k = 0; k < n; k++) {
            uint64_t next = damp(r->load[i], load, i);
            if (next == r->load[i]) break;
            r->load[i] = next;
        }
    }
}

static uint64_t damped(const struct o1_sim *o, const struct wb_rq *rq, uint32_t type)
{
    return o1_rq(rq)->load[o->v->weighted ? type - 1 : 1];
}

uint64_t o1_source_load(const struct o1_sim *o, const struct wb_rq *rq, uint32_t type)
{
    uint64_t raw = o1_raw_load(o, rq);
    if (o->v->weighted && !type) return raw;
    uint64_t old = damped(o, rq, type);
    return WB_MIN(old, raw);
}

uint64_t o1_target_load(const struct o1_sim *o, const struct wb_rq *rq, uint32_t type)
{
    uint64_t raw = o1_raw_load(o, rq);
    if (o->v->weighted && !type) return raw;
    uint64_t old = damped(o, rq, type);
    return WB_MAX(old, raw);
}

uint64_t o1_load_per_task(const struct wb_rq *rq)
{
    return rq->nr_running ? o1_rq(rq)->weight / rq->nr_running : O1_SCALE;
}

bool o1_hot(const struct o1_sim *o, const struct o1_task *p, const struct o1_rq *rq, const struct wb_sd *sd)
{
    if (!o->hot) return false;
    uint64_t limit = sd->level->cache_hot_time / WB_NS;
    if (o->has_hot_time && limit) limit = o->hot_time;
    return (int64_t)(rq->clock - p->last_ran) < (int64_t)limit;
}
