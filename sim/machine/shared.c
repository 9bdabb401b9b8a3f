/* shared.c - touches of shared regions that come again; see shared.h. */
#include "shared.h"

#include <string.h>

#define ROOM_BITS 21u /* of a key's room, for each level */
#define SINCE_BITS 48u

static bool is_own(const struct stroke *k, uint32_t cache)
{
    for (uint32_t i = 0; i < k->nlevels; i++)
        if (k->cache[i] == cache) return true;
    return false;
}

static inline uint64_t span_of(const struct stroke *k)
{
    return (uint64_t)k->n << 32 | k->off;
}

static inline uint64_t who_of(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern)
{
    return (uint64_t)k->r->home << 48 | (uint64_t)cpu << 32 | (uint64_t)k->access << 16 | (uint64_t)pattern << 8 |
           k->r->nholders;
}

static inline uint64_t room_of(const struct stroke *k)
{
    uint64_t room = 0;
    for (uint32_t i = 0; i < k->nlevels; i++) room = room << ROOM_BITS | WB_MIN(k->s->cache[k->cache[i]].free, k->n);
    return room;
}

bool shared_key_of(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern, struct shared_key *key)
{
    struct wb_machine_state *s = k->s;
    uint32_t n = k->r->nholders;
    if (!n || n > SHARED_HOLDERS || k->nlevels > SHARED_LEVELS || k->n < RECALL_MIN || k->n >> ROOM_BITS) return false;
    if (cpu > UINT16_MAX) return false;
    key->span = span_of(k);
    key->who = who_of(k, cpu, pattern);
    key->room = room_of(k);
    struct holder *h = holders_first(s, k->r);
    for (uint32_t j = 0; j < n; j++, h++) {
        if (j == HOLDERS_BLOCK) h = s->block[k->r->block[1]].h;
        const struct cache *c = &s->cache[h->cache];
        uint64_t since = c->clock - h->stamp;
        if (h->rest) return false;
        if (WB_UNLIKELY(since >= DECAY_X_MAX * c->size.bytes)) {
            holder_decay(s, h, 0);
            since = 0;
        }
        if (WB_UNLIKELY(since >> SINCE_BITS)) return false;
        key->holder[j].since = (uint64_t)h->cache << SINCE_BITS | since;
        memcpy(key->holder[j].have, &h->run, sizeof h->run);
    }
    return true;
}

/* The set where it is if it is anywhere. */
static struct shared *set_of(const struct wb_machine_state *s, const struct shared_key *key)
{
    uint64_t x = (key->who + key->span) * 0x9e3779b97f4a7c15ull + key->room;
    for (uint32_t j = 0; j < (key->who & 0xff); j++)
        x = (x ^ x >> 32 ^ key->holder[j].since ^ key->holder[j].have[1]) * 0xc2b2ae3d27d4eb4full;
    return &s->shared[x >> (64 - SHARED_SETS_BITS) << 1];
}

static bool same(const struct shared_key *a, const struct shared_key *b)
{
    uint64_t differ = (a->span ^ b->span) | (a->who ^ b->who) | (a->room ^ b->room);
    for (uint32_t j = 0; j < (b->who & 0xff); j++)
        differ |= (a->holder[j].since ^ b->holder[j].since) | (a->holder[j].have[0] ^ b->holder[j].have[0]) |
                  (a->holder[j].have[1] ^ b->holder[j].have[1]);
    return !differ;
}

/* The caches have taken in and lost what they did then. */
static void change_caches(const struct stroke *k, const struct shared *m)
{
    struct wb_machine_state *s = k->s;
    for (uint32_t i = 0; i < k->nlevels; i++) {
        struct cache *c = &s->cache[k->cache[i]];
        c->clock += m->displaced[i];
        c->free -= m->filled[i];
    }
    if (k->access == WB_READ) return;
    for (uint32_t j = 0; j < (m->key.who & 0xff); j++) {
        if (!m->gone[j]) continue;
        struct cache *c = &s->cache[m->key.holder[j].since >> SINCE_BITS];
        c->free = WB_MIN(c->size.bytes, c->free + m->gone[j]);
    }
}

static void change_holders(const struct stroke *k, const struct shared *m)
{
    struct wb_machine_state *s = k->s;
    struct region *r = k->r;
    while (r->nholders > m->nholders) holder_drop_last(s, r);
    while (r->nholders < m->nholders) *holder_add(s, r) = (struct holder){.rest = 0};
    struct holder *h = holders_first(s, r);
    for (uint32_t j = 0; j < m->nholders; j++, h++) {
        if (j == HOLDERS_BLOCK) h = s->block[r->block[1]].h;
        h->cache = m->cache[j];
        h->stamp = s->cache[h->cache].clock;
        h->run = m->run[j];
        if (m->own >> j & 1) h->used = r->touches;
    }
}

/* What it came to then. */
static void recall(const struct stroke *k, const struct shared *m, struct wb_touch *out)
{
    change_caches(k, m);
    change_holders(k, m);
    for (uint32_t i = 0; i < k->nlevels; i++) out->hit_bytes[i] += m->hit[i];
    out->upgrade += m->upgrade;
    out->refill += m->refill;
    out->unstaged += m->refill;
}

static inline uint16_t *last_of(const struct stroke *k, cpu_id cpu)
{
    return &k->s->shared_last[cpu % SHARED_CPUS];
}

/* Bits in which n holders that stand side by side differ from what a key says. */
static inline uint64_t differ(struct wb_machine_state *s, struct holder *h, const struct shared_key *key,
                              uint32_t first, uint32_t n)
{
    uint64_t bits = 0;
    for (uint32_t j = first; j < first + n; j++, h++) {
        const struct cache *c = &s->cache[h->cache];
        uint64_t have[2], since = c->clock - h->stamp, known = key->holder[j].since;
        if (WB_UNLIKELY(since >= DECAY_X_MAX * c->size.bytes)) { /* as in shared_key_of() */
            holder_decay(s, h, 0);
            since = 0;
        }
        memcpy(have, &h->run, sizeof have);
        bits |= (since ^ (known & ((1ull << SINCE_BITS) - 1))) | (h->cache ^ known >> SINCE_BITS) | h->rest |
                (have[0] ^ key->holder[j].have[0]) | (have[1] ^ key->holder[j].have[1]);
    }
    return bits;
}

/* Is all as the key says? As many holders are there as it has, since `who` is the same. */
static bool is_so(const struct stroke *k, const struct shared_key *key)
{
    uint32_t n = k->r->nholders, block = WB_MIN(n, HOLDERS_BLOCK);
    uint64_t bits = (key->room ^ room_of(k)) | differ(k->s, holders_first(k->s, k->r), key, 0, block);
    if (n > block) bits |= differ(k->s, k->s->block[k->r->block[1]].h, key, block, n - block);
    return !bits;
}

bool shared_follow(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern, struct wb_touch *out)
{
    uint16_t *last = last_of(k, cpu), next = k->s->shared[*last].next;
    const struct shared *m = &k->s->shared[next];
    if (m->key.span != span_of(k) || m->key.who != who_of(k, cpu, pattern) || !is_so(k, &m->key)) return false;
    *last = next;
    recall(k, m, out);
    return true;
}

bool shared_recall(const struct stroke *k, const struct shared_key *key, struct wb_touch *out)
{
    struct shared *all = k->s->shared;
    const struct shared *m = set_of(k->s, key);
    if (!same(&m->key, key) && !same(&(++m)->key, key)) return false;
    uint16_t *last = last_of(k, (cpu_id)(key->who >> 32 & UINT16_MAX)), place = (uint16_t)(m - all);
    all[*last].next = place;
    *last = place;
    recall(k, m, out);
    return true;
}

void shared_before(const struct stroke *k, const struct wb_touch *out, struct shared_before *b)
{
    for (uint32_t i = 0; i < k->nlevels; i++) {
        b->clock[i] = k->s->cache[k->cache[i]].clock;
        b->room[i] = k->s->cache[k->cache[i]].free;
        b->hit[i] = out->hit_bytes[i];
    }
    for (uint32_t j = 0; j < k->r->nholders; j++) b->others[j] = k->s->cache[holder_at(k->s, k->r, j)->cache].free;
    b->upgrade = out->upgrade;
    b->refill = out->refill;
    b->unstaged = out->unstaged;
    b->nstages = out->nstages;
}

/* The holders after the touch. false: they are not of the kind that is kept. */
static bool note_holders(const struct stroke *k, struct shared *m)
{
    m->nholders = k->r->nholders;
    m->own = 0;
    if (m->nholders > SHARED_HOLDERS) return false;
    for (uint32_t j = 0; j < m->nholders; j++) {
        const struct holder *h = holder_at(k->s, k->r, j);
        bool own = is_own(k, h->cache),
             stayed = j < (m->key.who & 0xff) && h->cache == m->key.holder[j].since >> SINCE_BITS;
        if (h->rest || (!own && !stayed)) return false; /* another's age would have to move with it */
        m->cache[j] = h->cache;
        m->run[j] = h->run;
        if (own) m->own |= (uint8_t)(1u << j);
    }
    return true;
}

/* What caches of others have lost. false: one is empty, and may have been cut off at its size. */
static bool note_losses(const struct stroke *k, const struct shared_before *b, struct shared *m)
{
    for (uint32_t j = 0; j < (m->key.who & 0xff); j++) {
        uint32_t id = (uint32_t)(m->key.holder[j].since >> SINCE_BITS);
        const struct cache *c = &k->s->cache[id];
        m->gone[j] = 0;
        if (is_own(k, id)) continue;
        if (c->free == c->size.bytes) return false;
        m->gone[j] = (uint32_t)(c->free - b->others[j]);
    }
    return true;
}

void shared_learn(const struct stroke *k, const struct shared_key *key, const struct shared_before *b,
                  const struct wb_touch *out)
{
    struct shared m = {.key = *key, .upgrade = out->upgrade - b->upgrade, .refill = out->refill - b->refill};
    if (out->nstages != b->nstages || m.refill != out->unstaged - b->unstaged) return;
    if (!note_holders(k, &m) || !note_losses(k, b, &m)) return;
    for (uint32_t i = 0; i < k->nlevels; i++) {
        const struct cache *c = &k->s->cache[k->cache[i]];
        m.displaced[i] = (uint32_t)(c->clock - b->clock[i]);
        m.filled[i] = (uint32_t)(b->room[i] - c->free);
        m.hit[i] = (uint32_t)(out->hit_bytes[i] - b->hit[i]);
    }
    struct shared *set = set_of(k->s, key);
    set[1] = set[0];
    set[0] = m;
}
