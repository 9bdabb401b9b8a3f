/* masks.c - affinity masks that live as long as the run. See workload.h. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

/* A full-width mask with one bit needs no words of its own: all CPUs with the same bit share a window of zeros around
 * it. So single CPUs cost 16 bytes a CPU and a table, not a bit for each pair of CPUs. */
struct wb_cpumask mask_single(struct wb_sim *s, uint32_t ncpus, cpu_id c)
{
    uint32_t nwords = WB_CPUMASK_WORDS(ncpus);
    size_t width = 2 * nwords - 1;
    if (!s->one_bit) {
        s->one_bit = wb_sim_alloc(s, 64 * width * sizeof *s->one_bit);
        for (uint32_t i = 0; i < 64; i++) s->one_bit[i * width + nwords - 1] = 1ull << i;
    }
    WB_CHECK(c < ncpus, "cpu %u of %u", c, ncpus);
    return (struct wb_cpumask){
        .ncpus = ncpus, .nwords = nwords, .w = s->one_bit + (c & 63) * width + (nwords - 1) - (c >> 6)};
}

const struct wb_cpumask *wb_mask_one(struct wb_sim *s, cpu_id c)
{
    if (!s->one_cpu) {
        s->one_cpu = wb_sim_alloc(s, s->ncpus * sizeof *s->one_cpu);
        for (cpu_id i = 0; i < s->ncpus; i++) s->one_cpu[i] = mask_single(s, s->ncpus, i);
    }
    WB_CHECK(c < s->ncpus, "cpu %u of %u", c, s->ncpus);
    return &s->one_cpu[c];
}

/* ---- kept masks: each set of CPUs once, found by hash; the order in which they came is never looked at ---- */

static uint64_t hash(const struct wb_cpumask *m)
{
    uint64_t h = 0x9e3779b97f4a7c15ull;
    for (uint32_t i = 0; i < m->nwords; i++) {
        h = (h ^ m->w[i]) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    return h;
}

/* Where m is in the table, or would go. There is a free slot. */
static const struct wb_cpumask **slot_of(const struct wb_cpumask **slot, uint32_t room, const struct wb_cpumask *m)
{
    uint32_t at = (uint32_t)hash(m) & (room - 1);
    while (slot[at] && !wb_mask_equal(slot[at], m)) at = (at + 1) & (room - 1);
    return &slot[at];
}

static void make_room(struct wb_sim *s)
{
    if (2 * s->nmasks < s->masks_room) return;
    uint32_t room = s->masks_room ? 2 * s->masks_room : 64;
    const struct wb_cpumask **slot = calloc(room, sizeof *slot);
    WB_CHECK(slot, "out of memory while building (a table of %u)", room);
    for (uint32_t i = 0; i < s->masks_room; i++)
        if (s->masks[i]) *slot_of(slot, room, s->masks[i]) = s->masks[i];
    free((void *)s->masks);
    s->masks = slot;
    s->masks_room = room;
}

static const struct wb_cpumask *copy(struct wb_sim *s, const struct wb_cpumask *m)
{
    struct wb_cpumask *k = wb_sim_alloc(s, sizeof *k);
    *k = (struct wb_cpumask){.ncpus = m->ncpus, .nwords = m->nwords, .w = wb_sim_alloc(s, m->nwords * sizeof *m->w)};
    memcpy(k->w, m->w, m->nwords * sizeof *m->w);
    return k;
}

const struct wb_cpumask *wb_mask_keep(struct wb_sim *s, const struct wb_cpumask *m)
{
    cpu_id first = wb_mask_first(m);
    if (first != WB_NO_CPU && wb_mask_next(m, first + 1) == WB_NO_CPU) return wb_mask_one(s, first);
    make_room(s);
    const struct wb_cpumask **at = slot_of(s->masks, s->masks_room, m);
    if (*at) return *at;
    s->nmasks++;
    return *at = copy(s, m);
}
