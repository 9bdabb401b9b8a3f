/* caches.c - extents, holders, displacement, and the life of regions. */
#include "caches.h"

#include <string.h>

#include "decay.h"
#include "shapes.h"

/* ---- pools: the number of the next free thing stands in the free thing ---- */

static uint32_t pool_take(struct pool *p, const void *things, size_t size)
{
    uint32_t i = p->free;
    if (!i) {
        WB_CHECK(p->fresh < p->room, "a pool of %u is used up", p->room);
        return p->fresh++;
    }
    memcpy(&p->free, (const char *)things + i * size, sizeof p->free);
    return i;
}

static void pool_give(struct pool *p, void *things, size_t size, uint32_t i)
{
    memcpy((char *)things + i * size, &p->free, sizeof p->free);
    p->free = i;
}

/* ---- holders ---- */

struct holder *holder_add(struct wb_machine_state *s, struct region *r)
{
    uint32_t k = r->nholders++;
    if (k % HOLDERS_BLOCK == 0) r->block[k / HOLDERS_BLOCK] = pool_take(&s->blocks, s->block, sizeof *s->block);
    return holder_at(s, r, k);
}

void holder_drop_last(struct wb_machine_state *s, struct region *r)
{
    uint32_t k = --r->nholders;
    if (k % HOLDERS_BLOCK == 0) pool_give(&s->blocks, s->block, sizeof *s->block, r->block[k / HOLDERS_BLOCK]);
}

void holder_drop_rest(struct wb_machine_state *s, struct holder *h)
{
    pool_give(&s->rests, s->rest, sizeof *s->rest, h->rest);
    h->rest = 0;
}

void holder_take_rest(struct wb_machine_state *s, struct holder *h)
{
    h->rest = pool_take(&s->rests, s->rest, sizeof *s->rest);
    s->rest[h->rest].len = 0;
}

/* Whatever of [off, off + n) the rest has is joined by the run's part of it. */
void holder_move_to_rest(struct wb_machine_state *s, struct holder *h, uint32_t off, uint32_t n, struct share part)
{
    if (!h->rest) holder_take_rest(s, h);
    struct extent *rest = &s->rest[h->rest];
    struct share there = extent_overlap(rest, off, n);
    uint32_t bytes = WB_MIN(n, part.bytes + there.bytes), dirty = WB_MIN(bytes, part.dirty + there.dirty);
    extent_join(rest, off, n, bytes, dirty);
    if (!rest->len) holder_drop_rest(s, h);
}

void holder_clear(struct wb_machine_state *s, struct holder *h)
{
    h->run.len = 0;
    if (h->rest) holder_drop_rest(s, h);
}

uint32_t holder_invalidate(struct wb_machine_state *s, struct holder *h, uint32_t off, uint32_t n)
{
    return extent_trim(&h->run, off, n).bytes + holder_trim_rest(s, h, off, n).bytes;
}

void holder_clean(struct wb_machine_state *s, struct holder *h, uint32_t off, uint32_t n)
{
    if (h->rest) s->rest[h->rest].dirty -= extent_overlap(&s->rest[h->rest], off, n).dirty;
    if (!h->run.dirty) return;
    uint32_t lo = WB_MAX(h->run.start, off), hi = WB_MIN(extent_end(&h->run), off + n);
    if (hi <= lo) return;
    if (hi - lo == h->run.len) {
        h->run.dirty = 0;
        return;
    }
    /* The run stays modified as a whole: the part that became clean is split off, so that a buffer read piece by piece
     * elsewhere is exact. */
    struct share part = extent_trim(&h->run, lo, hi - lo);
    holder_move_to_rest(s, h, lo, hi - lo, (struct share){part.bytes, 0});
}

uint64_t cache_insert(struct cache *c, uint64_t bytes)
{
    uint64_t room = WB_MIN(c->free, bytes);
    c->free -= room;
    c->clock += bytes - room;
    return bytes - room;
}

void caches_init(struct wb_machine_state *s)
{
    const struct wb_topology *t = s->m->topo;
    for (uint32_t i = 0; i < t->ncaches; i++)
        s->cache[i] = (struct cache){.free = t->cache[i].size, .size = decay_size_of(t->cache[i].size)};
    s->region_free = WB_NO_REGION;
    s->region_fresh = 0;
    s->region_name[0] = "page, or one of many names";
    s->region_names = 1;
    s->blocks.fresh = s->rests.fresh = 1;
}

/* Names are for messages. Texts that are alike come one after the other. */
static uint8_t name_of_region(struct wb_machine_state *s, const char *name)
{
    for (uint32_t i = s->region_names; i-- > 1;)
        if (s->region_name[i] == name) return (uint8_t)i;
    if (s->region_names == REGION_NAMES) return 0;
    s->region_name[s->region_names] = name;
    return (uint8_t)s->region_names++;
}

region_id wb_region_new(struct wb_machine_state *s, uint64_t bytes, const char *name)
{
    WB_CHECK(bytes && bytes <= UINT32_MAX, "region '%s' of %llu bytes; the limit is 4 GiB", name,
             (unsigned long long)bytes);
    region_id id = s->region_free;
    if (id != WB_NO_REGION) {
        s->region_free = s->region[id].block[0];
    } else {
        WB_CHECK(s->region_fresh < s->sizes.regions, "more than the planned %u regions ('%s')", s->sizes.regions, name);
        id = s->region_fresh++;
    }
    struct region *r = &s->region[id];
    r->name = name_of_region(s, name);
    r->bytes = (uint32_t)bytes;
    r->touches = 0;
    r->home = NO_HOME;
    r->shape = 0;
    r->nholders = 0;
    return id;
}

struct region *region_at(const struct wb_machine_state *s, region_id id)
{
    uint32_t fresh = id < s->sizes.regions ? s->region_fresh : s->sizes.regions + s->pages_given;
    WB_CHECK(id < fresh && s->region[id].bytes, "region %u is not alive", id);
    return &s->region[id];
}

void wb_region_free(struct wb_machine_state *s, region_id id)
{
    struct region *r = region_at(s, id);
    WB_CHECK(id < s->sizes.regions, "region %u is a page: wb_page_free", id);
    shapes_settle(s, r);
    while (r->nholders) {
        struct holder *h = holder_at(s, r, r->nholders - 1u);
        struct cache *c = &s->cache[h->cache];
        holder_refresh(s, h);
        c->free = WB_MIN(c->size.bytes, c->free + h->run.bytes + holder_rest_bytes(s, h));
        holder_clear(s, h);
        holder_drop_last(s, r);
    }
    r->bytes = 0;
    r->block[0] = s->region_free;
    s->region_free = id;
}

uint64_t wb_region_bytes(const struct wb_machine_state *s, region_id id)
{
    return region_at(s, id)->bytes;
}

uint64_t wb_region_resident(const struct wb_machine_state *s, region_id id, cpu_id cpu, uint32_t level)
{
    struct region *r = region_at(s, id);
    const struct wb_topology *t = s->m->topo;
    WB_CHECK(cpu < t->ncpus && level < t->nlevels, "cpu %u level %u", cpu, level);
    uint64_t least = UINT64_MAX;
    for (uint32_t i = level; i < t->nlevels; i++) {
        uint64_t held = 0;
        for (uint32_t k = 0; k < shapes_count(s, r); k++) {
            struct extent rest;
            const struct holder h = shapes_holder(s, r, k, &rest);
            if (h.cache != wb_topo_cache_of(t, cpu, i)) continue;
            const struct cache *c = &s->cache[h.cache];
            uint64_t factor = decay_factor(c->clock - h.stamp, &c->size);
            held = decay_apply(h.run.bytes, factor) + decay_apply(rest.len ? rest.bytes : 0, factor);
            held = WB_MIN(r->bytes, held);
        }
        least = WB_MIN(least, held); /* caches nest: an inner copy whose outer one is gone is gone too */
    }
    return least;
}
