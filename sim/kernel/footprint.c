/*
 * footprint.c - the kernel's own data that calls and switches touch: stack, task, run queue, descriptors.
 *
 * Path costs are measured with these lines in the L1. Who moves 16 KiB through it, or runs a hundred tasks in turn,
 * finds them further away. So a task has a region of its own: each system call touches the first kernel.call_lines of
 * it, each switch to it the kernel.switch_lines behind them, at random, and pays what that takes beyond as many hits
 * in the L1. They take room in the caches too. 0 lines: nothing is declared, touched or paid.
 *
 * Simplified: all of it is the task's, nothing the CPU's or shared; a touch is made when the call ends or the switch
 * is paid, in one piece.
 */
#include "sim.h"

/* Once all tasks are there, before memory is laid out. */
void footprint_declare(struct wb_sim *s)
{
    struct kernel_profile *k = &s->k;
    uint32_t line = wb_topo(s)->cache[wb_topo_cache_of(wb_topo(s), 0, 0)].line;
    k->call_bytes = k->call_lines * line;
    k->switch_bytes = k->switch_lines * line;
    if (!k->call_bytes && !k->switch_bytes) return;
    k->footprint_first = s->nregions;
    for (uint32_t i = 0; i < s->ntasks; i++) (void)wb_sim_region(s, k->call_bytes + k->switch_bytes, "kernel's data");
}

static void touch(struct wb_exec *x, const struct wb_task *t, uint32_t offset, uint32_t bytes, uint16_t fn)
{
    const struct kernel_profile *k = &x->sim->k;
    const struct wb_machine_spec *m = wb_machine_costs(x->sim->machine);
    struct wb_span span = {.region = k->footprint_first + t->id, .offset = offset, .bytes = bytes};
    struct wb_touch out;
    uint32_t line = wb_topo(x->sim)->cache[wb_topo_cache_of(wb_topo(x->sim), x->cpu, 0)].line;
    wb_region_touch(x->sim->hw, x->cpu, &span, WB_RANDOM, WB_WRITE, &out);
    sim_time near = bytes / line * m->hit[0].latency / m->mlp;
    if (out.total > near) wb_charge(x, fn, WB_CAT_REFILL, out.total - near);
}

void footprint_call(struct wb_exec *x)
{
    if (WB_LIKELY(!x->sim->k.call_bytes) || x->task->kthread) return;
    touch(x, x->task, 0, x->sim->k.call_bytes, WB_FN_SYSCALL_EXIT);
}

void footprint_switch(struct wb_exec *x, const struct wb_task *next)
{
    const struct kernel_profile *k = &x->sim->k;
    if (WB_LIKELY(!k->switch_bytes) || next->kthread || next->klass == WB_CLASS_SWAPPER) return;
    touch(x, next, k->call_bytes, k->switch_bytes, WB_FN_CONTEXT_SWITCH);
}
