/* masks.c - affinity masks that live as long as the run. See workload.h. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

const struct wb_cpumask *wb_mask_one(struct wb_sim *s, cpu_id c)
{
    WB_CHECK(c < s->ncpus, "cpu %u of %u", c, s->ncpus);
    if (s->one_cpu) return &s->one_cpu[c];
    uint64_t *windows = wb_sim_alloc(s, WB_MASK_WINDOWS(s->ncpus) * sizeof *windows);
    wb_mask_windows_init(windows, s->ncpus);
    s->one_cpu = wb_sim_alloc(s, s->ncpus * sizeof *s->one_cpu);
    for (cpu_id i = 0; i < s->ncpus; i++) s->one_cpu[i] = wb_mask_single(windows, s->ncpus, i);
    return &s->one_cpu[c];
}

/* ---- kept masks: each set of CPUs once, in the order in which they came; found by hash ---- */

static uint64_t hash(const struct wb_cpumask *m)
{
    uint64_t h = 0x9e3779b97f4a7c15ull;
    for (uint32_t i = 0; i < m->nwords; i++) {
        h = (h ^ m->w[i]) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    return h;
}

/* Where the number of m is in the table, or would go; numbers count from 1. There is a free slot. */
static uint32_t *slot_of(const struct wb_sim *s, const struct wb_cpumask *m)
{
    uint32_t last = s->mask_slots - 1, at = (uint32_t)hash(m) & last;
    while (s->mask_slot[at] && !wb_mask_equal(s->masks[s->mask_slot[at] - 1], m)) at = (at + 1) & last;
    return &s->mask_slot[at];
}

static void make_room(struct wb_sim *s)
{
    if (s->nmasks == s->masks_room) s->masks = table_grow((void *)s->masks, &s->masks_room, sizeof *s->masks);
    if (2 * s->nmasks < s->mask_slots) return;
    free(s->mask_slot);
    s->mask_slots = s->mask_slots ? 2 * s->mask_slots : 64;
    s->mask_slot = calloc(s->mask_slots, sizeof *s->mask_slot);
    WB_CHECK(s->mask_slot, "out of memory while building (a table of %u)", s->mask_slots);
    for (uint32_t i = 0; i < s->nmasks; i++) *slot_of(s, s->masks[i]) = i + 1;
}

static const struct wb_cpumask *copy(struct wb_sim *s, const struct wb_cpumask *m)
{
    struct wb_cpumask *k = wb_sim_alloc(s, sizeof *k);
    *k = (struct wb_cpumask){.ncpus = m->ncpus, .nwords = m->nwords, .w = wb_sim_alloc(s, m->nwords * sizeof *m->w)};
    memcpy(k->w, m->w, m->nwords * sizeof *m->w);
    wb_mask_trim(k);
    return k;
}

const struct wb_cpumask *wb_mask_keep(struct wb_sim *s, const struct wb_cpumask *m)
{
    cpu_id first = wb_mask_first(m);
    if (first != WB_NO_CPU && wb_mask_next(m, first + 1) == WB_NO_CPU) return wb_mask_one(s, first);
    make_room(s);
    uint32_t *at = slot_of(s, m);
    if (*at) return s->masks[*at - 1];
    *at = ++s->nmasks;
    return s->masks[*at - 1] = copy(s, m);
}
