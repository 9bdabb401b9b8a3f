#include "first_work.h"

static sim_time first_switch(const struct wb_trace *t)
{
    uint64_t n = WB_MIN(t->written, t->capacity);
    for (uint64_t i = 0; i < n; i++)
        if (t->ring[i].type == WB_TR_SWITCH) return t->ring[i].when;
    return WB_TIME_NEVER;
}

sim_time first_work(struct wb_sim *s, const struct wb_trace *t)
{
    sim_time at = 0, first;
    bool more = true;
    while ((first = first_switch(t)) == WB_TIME_NEVER && more) more = wb_sim_step_to(s, at += WB_MS);
    return first == WB_TIME_NEVER ? 0 : first;
}
