/* memory_use.c - what a simulation takes, by its own count. See run.h. */
#include "sim.h"

void memory_mark(struct wb_sim *s)
{
    s->arena_before_tasks = s->arena.used;
}

static size_t tables(const struct wb_sim *s)
{
    return s->tasks_room * sizeof *s->task + s->pairs_room * sizeof *s->pair + s->names_room * sizeof *s->names +
           s->masks_room * sizeof *s->masks + s->mask_slots * sizeof *s->mask_slot +
           s->regions_room * (s->region ? sizeof *s->region : 0);
}

void wb_sim_memory(const struct wb_sim *s, struct wb_memory *m)
{
    size_t blocks = s->arena.reserved - s->arena.used; /* headers, and ends that nothing fitted in */
    *m = (struct wb_memory){
        .cpus = s->arena_before_tasks + balances_touched(s) + result_touched(s),
        .tasks = s->arena.used - s->arena_before_tasks + tables(s) + invariants_touched(s) + measure_touched(s->m),
        .stacks = stacks_touched(s),
        .machine = wb_machine_bytes(s->machine),
        .state = wb_machine_state_touched(s->hw),
        .events = (s->q.room + 8) * sizeof(struct evq_entry),
        .other = sizeof *s + blocks,
        .ntasks = s->ntasks - 2 * s->ncpus,
        .ncpus = s->ncpus,
    };
    m->total = m->cpus + m->tasks + m->stacks + m->machine + m->state + m->events + m->other;
}
