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

/* What of e lies inside [off, off + n). */
struct share extent_overlap(const struct extent *e, uint32_t off, uint32_t n);
/* Take [off, off + n) out of e; returns what was there. */
struct share extent_trim(struct extent *e, uint32_t off, uint32_t n);
/* Put `add` into [off, off + n); what e had there is replaced. The stretch becomes the least one that covers both. */
void extent_join(struct extent *e, uint32_t off, uint32_t n, struct share add);

/* Bring a holder up to its cache's present clock. */
void holder_refresh(const struct wb_machine_state *s, struct holder *h);
/* What a fresh holder has of the span. */
struct share holder_overlap(const struct holder *h, uint32_t off, uint32_t n);
/* Of the span, `now` is there after a touch: the run goes on, or a new run begins and the old one becomes part of the
 * rest. */
void holder_touch(struct holder *h, uint32_t off, uint32_t n, struct share now);
/* The span was written elsewhere: returns the bytes that are gone. */
uint32_t holder_invalidate(struct holder *h, uint32_t off, uint32_t n);
/* The span was read elsewhere: it is no longer modified here. */
void holder_clean(struct holder *h, uint32_t off, uint32_t n);
/* Insert `bytes` into a cache: free room first, the rest displaces. Returns how many displaced others. */
uint64_t cache_insert(struct cache *c, uint64_t bytes);

#endif
