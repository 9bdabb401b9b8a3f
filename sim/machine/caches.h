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

/* Bytes of e inside [off, off + n). */
uint32_t extent_overlap(const struct extent *e, uint32_t off, uint32_t n);
/* Take [off, off + n) out of e; returns the bytes that were there. */
uint32_t extent_trim(struct extent *e, uint32_t off, uint32_t n);
/* Put `bytes` into [off, off + n); what e had there is replaced. The hull becomes the least one that covers both. */
void extent_join(struct extent *e, uint32_t off, uint32_t n, uint32_t bytes);

/* Bring a holder up to its cache's present clock. */
void holder_refresh(const struct wb_machine_state *s, struct holder *h);
/* Bytes of the span that a fresh holder has. */
uint32_t holder_overlap(const struct holder *h, uint32_t off, uint32_t n);
/* Insert `bytes` into a cache: free room first, the rest displaces. Returns how many displaced others. */
uint64_t cache_insert(struct cache *c, uint64_t bytes);

#endif
