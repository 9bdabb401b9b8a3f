/* chain.c - what the caches of a chain take in, and touches of regions that nobody else holds. */
#include "chain.h"

#include "recall.h"
#include "shapes.h"

/* What it inserts displaces part of them before it reaches them, which makes it insert more. Two steps of that fixed
 * point are near enough. */
uint32_t chain_reached(const struct stroke *k, const struct cache *c, uint32_t held)
{
    uint32_t found = held;
    for (int step = 0; step < 2 && k->n - found > c->free; step++)
        found = decay_apply(held, decay_average(k->n - found - c->free, &c->size));
    return found;
}

/* The run has all of itself and of the span, as modified as the touch leaves it: nothing changes. */
static bool stays(const struct stroke *k, const struct holder *h, struct share there)
{
    const struct extent *e = &h->run;
    if (k->off < e->start || k->off + k->n > e->start + e->len || e->bytes != e->len) return false;
    return e->dirty == e->len || (k->access == WB_READ && there.dirty < k->n);
}

void chain_insert(const struct stroke *k, struct holder *h, struct share there, uint32_t insert)
{
    struct cache *c = &k->s->cache[h->cache];
    uint64_t had = there.bytes, present;
    h->used = k->r->touches;
    if (!insert && stays(k, h, there)) return;
    uint64_t displaced = cache_insert(c, insert);
    if (displaced) shapes_end(k->s);
    uint64_t room = insert - displaced;
    if (displaced) {
        uint64_t left = decay_factor(displaced, &c->size);
        holder_decay(k->s, h, left);
        unsigned __int128 q32 =
            (unsigned __int128)c->size.bytes * (DECAY_ONE - left) + (unsigned __int128)(had + room) * left;
        present = (uint64_t)((q32 + DECAY_ONE / 2) >> 32);
        if (k->access == WB_READ) there = holder_overlap(k->s, h, k->off, k->n);
    } else {
        present = had + room;
    }
    uint32_t bytes = (uint32_t)WB_MIN(present, k->n), dirty = bytes;
    if (k->access == WB_READ) dirty = WB_MIN(there.dirty, bytes);
    holder_touch(k->s, h, k->off, k->n, bytes, dirty);
    h->stamp = c->clock;
}

static uint32_t work_out(const struct stroke *k, struct holder *h, uint32_t outer)
{
    holder_refresh(k->s, h);
    struct share there = holder_overlap(k->s, h, k->off, k->n);
    uint32_t held = there.bytes;
    if (held && held < k->n) held = chain_reached(k, &k->s->cache[h->cache], held);
    held = WB_MIN(held, outer);
    chain_insert(k, h, there, k->n - held);
    return held;
}

/* See struct recall_key. A holder that has nothing left is brought up to date first: then it does not matter since
 * when. */
static inline struct recall_key key_of(const struct stroke *k, struct holder *h, uint32_t outer)
{
    const struct cache *c = &k->s->cache[h->cache];
    struct recall_key key;
    key.w[0] = c->size.bytes;
    key.w[1] = c->clock - h->stamp;
    if (WB_UNLIKELY(key.w[1] >= DECAY_X_MAX * key.w[0])) {
        holder_decay(k->s, h, 0);
        key.w[1] = 0;
    }
    key.w[1] |= (uint64_t)k->access << 63;
    recall_extent(&key.w[2], &h->run);
    recall_extent(&key.w[4], &k->s->rest[h->rest]); /* number 0 is empty */
    key.w[6] = (uint64_t)k->n << 32 | k->off;
    key.w[7] = WB_MIN(c->free, k->n) << 32 | outer; /* no more than n goes in */
    return key;
}

/* Work it out and keep it in the first place of the set. The key is made once more: so it need not be in memory while
 * it is looked for. */
__attribute__((noinline)) static uint32_t learn(const struct stroke *k, struct holder *h, uint32_t outer,
                                                struct recall *set)
{
    struct cache *c = &k->s->cache[h->cache];
    const struct recall_key key = key_of(k, h, outer);
    uint64_t clock = c->clock, room = c->free;
    set[1] = set[0];
    memcpy(set->key, key.w, sizeof set->key);
    set->held = work_out(k, h, outer);
    set->displaced = (uint32_t)(c->clock - clock);
    set->filled = (uint32_t)(room - c->free);
    set->run = h->run;
    set->rest = k->s->rest[h->rest]; /* number 0 is empty */
    return set->held;
}

static inline uint32_t touch_cache(const struct stroke *k, struct holder *h, uint32_t outer)
{
    if (k->n < RECALL_MIN) return work_out(k, h, outer);
    const struct recall_key key = key_of(k, h, outer);
    struct recall *set = recall_set(k->s, &key), *m = set;
    if (WB_UNLIKELY(!recall_is(m, &key)) && !recall_is(++m, &key)) return learn(k, h, outer, set);
    recall_apply(k->s, m, h);
    h->used = k->r->touches;
    return m->held;
}

uint32_t chain_touch(const struct stroke *k, struct holder *h, uint32_t outer)
{
    return touch_cache(k, h, outer);
}

/* The caches of the chain from h, of level - 1, on inwards; the next outer one had `outer`. Those that have all come
 * first and cost next to nothing: the common case of small messages between tasks that share a CPU is all of them, that
 * of large ones all but the innermost. */
static inline void touch_inner(const struct stroke *k, struct holder *h, uint32_t level, uint32_t outer, uint64_t *hit)
{
    for (; level && outer == k->n && chain_has_all(k, h); level--) (h++)->used = k->r->touches;
    for (; level; level--) {
        uint32_t held = touch_cache(k, h++, outer);
        hit[level] += outer - held;
        outer = held;
    }
    hit[0] += outer;
}

uint32_t chain_touch_alone(const struct stroke *k, uint64_t *hit)
{
    struct holder *h = holders_first(k->s, k->r);
    k->r->touches++;
    uint32_t held = k->n;
    if (chain_has_all(k, h))
        h->used = k->r->touches;
    else
        held = touch_cache(k, h, k->n);
    touch_inner(k, h + 1, k->nlevels - 1, held, hit);
    return k->n - held;
}

/* ---- the own chain has everything ---- */

static inline bool is_within(const struct stroke *k)
{
    return chain_is_alone(k) && chain_has_all(k, holders_first(k->s, k->r)) && WB_LIKELY(!k->s->by_the_book);
}

static inline void touch_within(const struct stroke *k, uint64_t *hit)
{
    struct holder *h = holders_first(k->s, k->r);
    h->used = ++k->r->touches;
    touch_inner(k, h + 1, k->nlevels - 1, k->n, hit);
}

bool chain_touch_within(const struct stroke *k, enum wb_pattern pattern, sim_time *core)
{
    if (!is_within(k)) return false;
    uint64_t hit[WB_CACHE_LEVELS] = {0};
    touch_within(k, hit);
    sim_time sum = 0;
    for (uint32_t i = 0; i < k->nlevels; i++)
        if (hit[i]) sum += price_time(hit[i], k->s->m->hit[i].q[pattern][k->access]);
    *core = sum;
    return true;
}

bool chain_copy_within(const struct stroke *from, const struct stroke *to, sim_time *core)
{
    uint32_t n = from->nlevels;
    if (from->r->nholders != n || to->r->nholders != n || !is_within(from) || !is_within(to)) return false;
    uint64_t hit[WB_CACHE_LEVELS] = {0};
    touch_within(from, hit);
    touch_within(to, hit); /* inner caches may have lost some of it since; the outermost has not taken in anything */
    sim_time sum = 0;
    for (uint32_t i = 0; i < to->nlevels; i++)
        if (hit[i]) sum += price_time(hit[i], to->s->m->copy_q[i]) / 2;
    *core = sum;
    return true;
}
