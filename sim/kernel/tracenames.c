/* tracenames.c - names of tasks and rules for the exporters and views of sim/trace. */
#include "sim.h"

#include "wakebal/traceview.h"

/* Priority as traces print it (Linux: 0-99 real time, 100-139 normal, 120 = nice 0; idle tasks show 120). */
static uint32_t trace_prio(const struct wb_task *t)
{
    switch (t->klass) {
    case WB_CLASS_STOP: return 0;
    case WB_CLASS_FIFO: return 99u - t->rt_prio;
    case WB_CLASS_SWAPPER: return 120;
    default: return (uint32_t)(120 + t->nice);
    }
}

static void name_task(void *ctx, task_id id, struct wb_trace_task *out)
{
    const struct wb_task *t = wb_task_of(ctx, id);
    *out = (struct wb_trace_task){.name = wb_task_name(t),
                                  .pid = t->pid,
                                  .tgid = t->tgid,
                                  .prio = trace_prio(t),
                                  .idle = t->klass == WB_CLASS_SWAPPER,
                                  .cpu = t->cpu};
}

static const char *name_rule(void *ctx, uint16_t rule)
{
    const struct wb_sim *s = ctx;
    return rule < s->ops->nrules ? s->ops->rules[rule] : NULL;
}

const struct wb_trace *wb_sim_trace(const struct wb_sim *s)
{
    return s->tracing ? &s->trace : NULL;
}

void wb_sim_trace_names(struct wb_sim *s, struct wb_trace_names *out)
{
    *out =
        (struct wb_trace_names){.task = name_task, .rule = name_rule, .ctx = s, .ntasks = s->ntasks, .ncpus = s->ncpus};
}
