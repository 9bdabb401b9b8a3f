/*
 * chain.h - a touch as the caches of the own chain see it.
 *
 * What a cache of the chain takes in depends on what it had and on what the next outer one had, not on what others
 * hold. touch.c adds who else has something, prices, and takes away.
 */
#ifndef WB_MACHINE_CHAIN_H
#define WB_MACHINE_CHAIN_H

#include "caches.h"

/* A span that a CPU touches. */
struct stroke {
    struct wb_machine_state *s;
    struct region *r;
    const uint32_t *cache; /* own chain, innermost first */
    uint32_t nlevels;      /* of it */
    uint32_t off, n;
    enum wb_access access;
};

/* WB_CHECK: CPU, region and span are good. */
static inline struct stroke chain_stroke(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *span,
                                         enum wb_access access)
{
    const struct wb_topology *topo = s->m->topo;
    WB_CHECK(cpu < topo->ncpus, "CPU %u", cpu);
    struct region *r = region_at(s, span->region);
    WB_CHECK((uint64_t)span->offset + span->bytes <= r->bytes, "span %u+%u outside region '%s' of %u bytes",
             span->offset, span->bytes, s->region_name[r->name], r->bytes);
    return (struct stroke){
        s, r, &topo->cache_of[(size_t)cpu * topo->nlevels], topo->nlevels, span->offset, span->bytes, access};
}

/* The holders are the own chain, outermost first as touches make them, and nobody else. A region that has a shape may
 * or may not be so: shapes.h does it. */
static inline bool chain_is_alone(const struct stroke *k)
{
    uint32_t n = k->nlevels;
    if (k->r->nholders != n || n > HOLDERS_BLOCK || k->r->shape) return false;
    const struct holder *h = holders_first(k->s, k->r);
    for (; n; n--, h++)
        if (h->cache != k->cache[n - 1]) return false;
    return true;
}

/* The cache has all of the span (and of its run, so that nothing is left to divide; modified already when it is to be
 * written) and is up to date: a touch that finds all in the next outer one changes nothing but its age. */
static inline bool chain_has_all(const struct stroke *k, const struct holder *h)
{
    const struct extent *e = &h->run;
    if (e->bytes != e->len || h->rest || h->stamp != k->s->cache[h->cache].clock) return false;
    if (k->off < e->start || k->off + k->n > e->start + e->len) return false;
    return e->dirty == e->len || (!e->dirty && k->access == WB_READ);
}

/* Of `held` bytes of the span, those that are still there when the touch comes by. */
uint32_t chain_reached(const struct stroke *k, const struct cache *c, uint32_t held);
/* One cache of the chain, whose holder is up to date and has `there`, takes in the `insert` bytes that it did not have:
 * see docs/model-machine.md, displacement. */
void chain_insert(const struct stroke *k, struct holder *h, struct share there, uint32_t insert);
/* All of that for a cache that may lack something; the next outer one had `outer` bytes of the span. How many it
 * had. */
uint32_t chain_touch(const struct stroke *k, struct holder *h, uint32_t outer);
/* chain_is_alone(): all caches are touched. hit: what was found in each, by level, is added. Returns what nobody
 * had. */
uint32_t chain_touch_alone(const struct stroke *k, uint64_t *hit);
/* The same when the outermost cache has all of the span and nobody else has any of it, or else false and nothing has
 * changed. *core: what it costs. */
bool chain_touch_within(const struct stroke *k, enum wb_pattern pattern, sim_time *core);
bool chain_copy_within(const struct stroke *from, const struct stroke *to, sim_time *core);

#endif
