/* memory.c - touches and copies: what is in reach is charged, what must cross a shared server is a stage of its own. */
#include "sim.h"

#include <string.h>

struct stages {
    struct wb_frame h;
    uint16_t fn;
    uint16_t n, i;
    struct wb_stage stage[]; /* n of them */
};

/* One stage is one segment, paced by its servers. */
static enum wb_ret stages_step(struct wb_exec *x, void *frame)
{
    struct stages *f = frame;
    WB_BEGIN(f);
    WB_FLUSH(x, f);
    for (; f->i < f->n; f->i++) {
        wb_charge(x, f->fn, WB_CAT_REFILL, f->stage[f->i].time);
        seg_set_stage(x, (uint32_t)(x->top + ((uint8_t *)&f->stage[f->i] - (uint8_t *)f)));
        WB_FLUSH(x, f);
    }
    WB_END();
}

static void charge_core(struct wb_exec *x, sim_time core, uint16_t fn)
{
    if (core) wb_charge(x, fn, part_cat(x->sim->fn[fn].part), core);
}

static bool charge_touch(struct wb_exec *x, const struct wb_touch *t, uint16_t fn)
{
    charge_core(x, t->core, fn);
    if (t->upgrade) wb_charge(x, fn, WB_CAT_LINE, t->upgrade);
    if (t->unstaged) wb_charge(x, fn, WB_CAT_REFILL, t->unstaged);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->nstages; i++) n += t->stage[i].time != 0;
    if (!n) return false;
    struct stages *f = wb_push(x, stages_step, sizeof *f + n * sizeof f->stage[0]);
    f->fn = fn;
    for (uint32_t i = 0; i < t->nstages; i++)
        if (t->stage[i].time) f->stage[f->n++] = t->stage[i];
    return true;
}

bool wb_touch_start(struct wb_exec *x, const struct wb_span *span, int pattern, int access, uint16_t fn)
{
    struct wb_touch t;
    if (!span->bytes) return false;
    if (!wb_region_touch_cost(x->sim->hw, x->cpu, span, (enum wb_pattern)pattern, (enum wb_access)access, &t))
        return charge_touch(x, &t, fn);
    charge_core(x, t.core, fn);
    return false;
}

bool wb_copy_start(struct wb_exec *x, const struct wb_span *src, const struct wb_span *dst, uint16_t fn)
{
    struct wb_touch t;
    if (!src->bytes) return false;
    if (!wb_region_copy_cost(x->sim->hw, x->cpu, src, dst, &t)) return charge_touch(x, &t, fn);
    charge_core(x, t.core, fn);
    return false;
}
