/*
 * caches.h - extents and holders: what a cache instance knows of a region.
 *
 * An extent is a stretch [start, start + len) of a region of which `bytes` are present, spread evenly. Operations on
 * whole extents and on their ends are exact; a hole in the middle lowers the density instead (documented
 * simplification).
 */
#ifndef WB_MACHINE_CACHES_H
#define WB_MACHINE_CACHES_H

#include "machine_impl.h"

struct share {
    uint32_t bytes, dirty;
};

/* The part of an extent that a span cuts off. */
struct share extent_part(const struct extent *e, uint32_t off, uint32_t n);
/* What of e lies inside [off, off + n). */
static inline struct share extent_overlap(const struct extent *e, uint32_t off, uint32_t n)
{
    if (!e->len || off >= e->start + e->len || off + n <= e->start) return (struct share){0, 0};
    if (off <= e->start && off + n >= e->start + e->len) return (struct share){e->bytes, e->dirty};
    return extent_part(e, off, n);
}
/* Take [off, off + n) out of e; returns what was there. */
struct share extent_trim(struct extent *e, uint32_t off, uint32_t n);
/* Put `bytes`, `dirty` of them modified, into [off, off + n); what e had there is replaced. The stretch becomes the
 * least one that covers both. */
void extent_join(struct extent *e, uint32_t off, uint32_t n, uint32_t bytes, uint32_t dirty);

/* The k-th holder of a region. */
static inline struct holder *holder_at(const struct wb_machine_state *s, struct region *r, uint32_t k)
{
    return &s->block[r->block[k / HOLDERS_BLOCK]].h[k % HOLDERS_BLOCK];
}
/* The first HOLDERS_BLOCK of them; there is at least one. */
static inline struct holder *holders_first(const struct wb_machine_state *s, const struct region *r)
{
    return s->block[r->block[0]].h;
}
/* One more place, uninitialised; there must be fewer than HOLDERS. The last holder goes. */
struct holder *holder_add(struct wb_machine_state *s, struct region *r);
void holder_drop_last(struct wb_machine_state *s, struct region *r);

/* Let a holder decay to its cache's present clock; factor: decay_factor() of what came since. */
void holder_decay(struct wb_machine_state *s, struct holder *h, uint64_t factor);
static inline void holder_refresh(struct wb_machine_state *s, struct holder *h)
{
    const struct cache *c = &s->cache[h->cache];
    if (h->stamp != c->clock) holder_decay(s, h, decay_factor(c->clock - h->stamp, &c->size));
}
/* What it has besides the run. */
static inline uint32_t holder_rest_bytes(const struct wb_machine_state *s, const struct holder *h)
{
    return h->rest ? s->rest[h->rest].bytes : 0;
}
/* What a fresh holder has of the span. */
static inline struct share holder_overlap(const struct wb_machine_state *s, const struct holder *h, uint32_t off,
                                          uint32_t n)
{
    struct share a = extent_overlap(&h->run, off, n);
    if (WB_LIKELY(!h->rest)) return a;
    struct share b = extent_overlap(&s->rest[h->rest], off, n);
    a.bytes += b.bytes;
    a.dirty += b.dirty;
    return (struct share){WB_MIN(n, a.bytes), WB_MIN(n, a.dirty)};
}
/* Of the span, `bytes` are there after a touch, `dirty` of them modified: the run goes on, or a new run begins and
 * the old one becomes part of the rest. */
void holder_touch(struct wb_machine_state *s, struct holder *h, uint32_t off, uint32_t n, uint32_t bytes,
                  uint32_t dirty);
/* The span was written elsewhere: returns the bytes that are gone. */
uint32_t holder_invalidate(struct wb_machine_state *s, struct holder *h, uint32_t off, uint32_t n);
/* The span was read elsewhere: it is no longer modified here. */
void holder_clean(struct wb_machine_state *s, struct holder *h, uint32_t off, uint32_t n);
/* It holds nothing any more. */
void holder_clear(struct wb_machine_state *s, struct holder *h);
/* A region that is alive, checked. */
struct region *region_at(const struct wb_machine_state *s, region_id id);
/* Insert `bytes` into a cache: free room first, the rest displaces. Returns how many displaced others. */
uint64_t cache_insert(struct cache *c, uint64_t bytes);

#endif
