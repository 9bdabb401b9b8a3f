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

static inline uint32_t extent_end(const struct extent *e)
{
    return e->start + e->len;
}

/* The part of an extent that a span cuts off. */
static inline struct share extent_part(const struct extent *e, uint32_t off, uint32_t n)
{
    uint32_t end = extent_end(e), lo = WB_MAX(e->start, off), hi = WB_MIN(end, off + n);
    uint64_t cut = hi - lo;
    if (e->bytes == e->len && (e->dirty == e->len || !e->dirty)) /* all there: nothing to divide */
        return (struct share){(uint32_t)cut, e->dirty ? (uint32_t)cut : 0};
    uint32_t bytes = (uint32_t)(e->bytes * cut / e->len);
    if (e->dirty == e->bytes) return (struct share){bytes, bytes};
    return (struct share){bytes, e->dirty ? (uint32_t)(e->dirty * cut / e->len) : 0};
}

/* What of e lies inside [off, off + n). */
static inline struct share extent_overlap(const struct extent *e, uint32_t off, uint32_t n)
{
    if (!e->len || off >= e->start + e->len || off + n <= e->start) return (struct share){0, 0};
    if (off <= e->start && off + n >= e->start + e->len) return (struct share){e->bytes, e->dirty};
    return extent_part(e, off, n);
}

/* Take [off, off + n) out of e; returns what was there. */
static inline struct share extent_trim(struct extent *e, uint32_t off, uint32_t n)
{
    struct share gone = extent_overlap(e, off, n);
    uint32_t end = off + n;
    if (!e->len || off >= extent_end(e) || end <= e->start) return gone;
    bool head = off <= e->start, tail = end >= extent_end(e);
    e->bytes -= gone.bytes;
    e->dirty -= gone.dirty;
    if (head && tail) {
        e->len = 0;
    } else if (head) {
        e->len = extent_end(e) - end;
        e->start = end;
    } else if (tail) {
        e->len = off - e->start;
    }
    if (!e->bytes) e->len = 0;
    return gone;
}

/* Put `bytes`, `dirty` of them modified, into [off, off + n); what e had there is replaced. The stretch becomes the
 * least one that covers both. */
static inline void extent_join(struct extent *e, uint32_t off, uint32_t n, uint32_t bytes, uint32_t dirty)
{
    extent_trim(e, off, n);
    if (!bytes) return;
    if (!e->len) {
        *e = (struct extent){off, n, bytes, dirty};
        return;
    }
    uint32_t lo = WB_MIN(e->start, off), end = extent_end(e), hi = WB_MAX(end, off + n);
    *e = (struct extent){lo, hi - lo, e->bytes + bytes, e->dirty + dirty};
}

/* Of everything, `factor` is left. */
static inline void extent_scale(struct extent *e, uint64_t factor)
{
    e->bytes = decay_apply(e->bytes, factor);
    e->dirty = decay_apply(e->dirty, factor);
    if (!e->bytes) e->len = 0;
}

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
/* Somebody is going to touch the region. */
static inline void holders_prefetch(const struct wb_machine_state *s, region_id id)
{
    const struct region *r = &s->region[id];
    __builtin_prefetch(&s->block[r->block[0]]);
    __builtin_prefetch(&s->block[r->block[0]].h[2]);
}
/* One more place, uninitialised; there must be fewer than HOLDERS. The last holder goes. */
struct holder *holder_add(struct wb_machine_state *s, struct region *r);
void holder_drop_last(struct wb_machine_state *s, struct region *r);

/* A rest that is empty yet. It is empty: its extent goes back. Whatever of [off, off + n) the rest has is joined by
 * the run's `part`. */
void holder_take_rest(struct wb_machine_state *s, struct holder *h);
void holder_drop_rest(struct wb_machine_state *s, struct holder *h);
void holder_move_to_rest(struct wb_machine_state *s, struct holder *h, uint32_t off, uint32_t n, struct share part);
/* Let a holder decay to its cache's present clock; factor: decay_factor() of what came since. */
static inline void holder_decay(struct wb_machine_state *s, struct holder *h, uint64_t factor)
{
    extent_scale(&h->run, factor);
    h->stamp = s->cache[h->cache].clock;
    if (!h->rest) return;
    extent_scale(&s->rest[h->rest], factor);
    if (!s->rest[h->rest].len) holder_drop_rest(s, h);
}

/* [off, off + n) leaves the rest; returns what was there. */
static inline struct share holder_trim_rest(struct wb_machine_state *s, struct holder *h, uint32_t off, uint32_t n)
{
    if (WB_LIKELY(!h->rest)) return (struct share){0, 0};
    struct share gone = extent_trim(&s->rest[h->rest], off, n);
    if (!s->rest[h->rest].len) holder_drop_rest(s, h);
    return gone;
}

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
static inline void holder_touch(struct wb_machine_state *s, struct holder *h, uint32_t off, uint32_t n, uint32_t bytes,
                                uint32_t dirty)
{
    struct extent *run = &h->run;
    bool inside = run->len && off >= run->start && off + n <= extent_end(run);
    bool same = dirty < n || run->dirty == run->len;
    if (inside && run->bytes == run->len && bytes == n && same) return; /* all there, before and after */
    (void)holder_trim_rest(s, h, off, n);
    if (run->len && off == extent_end(run)) {
        extent_join(run, off, n, bytes, dirty);
        return;
    }
    extent_trim(run, off, n);
    if (run->len) holder_move_to_rest(s, h, run->start, run->len, (struct share){run->bytes, run->dirty});
    *run = (struct extent){off, bytes ? n : 0, bytes, dirty};
}

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
