/*
 * recall.h - what the touch of a cache came to the last time that everything was as it is now.
 *
 * A message of many pages finds the caches as the message before it did: what a full cache held of each page and
 * buffer, how much came in since, which part is touched. What follows from that is a chain of exponentials, products
 * and divisions in integers, the same each time, so it is looked up: a direct mapped table by all that goes into it.
 * What comes out is what working it out would give, to the byte (prop_caches compares).
 */
#ifndef WB_MACHINE_RECALL_H
#define WB_MACHINE_RECALL_H

#include <string.h>

#include "caches.h"

#define RECALL_BITS 9u  /* a message of 64 KiB needs 64 */
#define RECALL_MIN 512u /* bytes: smaller touches come at any offset and seldom twice */

/* All that a touch of a cache without free room depends on. */
struct recall_key {
    uint64_t size;           /* of the cache */
    uint64_t since;          /* bytes it took in since the holder was up to date */
    struct extent run, rest; /* of the holder; rest zeros: none */
    uint32_t off, n;         /* the touch, */
    uint32_t outer;          /* of which the next outer cache has that much */
    uint32_t access;         /* enum wb_access */
};
_Static_assert(sizeof(struct recall_key) == 64, "compared by words");

struct recall {
    struct recall_key key;   /* n = 0: empty */
    struct extent run, rest; /* after the touch */
    uint32_t held, displaced;
    uint32_t unused[6];
};
_Static_assert(sizeof(struct recall) == 128, "two lines");

static inline struct recall_key recall_key_of(const struct wb_machine_state *s, const struct holder *h)
{
    const struct cache *c = &s->cache[h->cache];
    struct recall_key k = {.size = c->size.bytes, .since = c->clock - h->stamp, .run = h->run};
    if (h->rest) k.rest = s->rest[h->rest];
    return k;
}

static inline bool recall_same(const struct recall_key *a, const struct recall_key *b)
{
    uint64_t v[8], w[8], differ = 0;
    memcpy(v, a, sizeof v);
    memcpy(w, b, sizeof w);
    for (uint32_t i = 0; i < 8; i++) differ |= v[i] ^ w[i];
    return !differ;
}

/* The place where it is if it is anywhere. */
static inline struct recall *recall_place(const struct wb_machine_state *s, const struct recall_key *k)
{
    /* Whatever varies from page to page; the others rarely differ where these are alike. */
    uint64_t x = (k->since + k->size) * 0x9e3779b97f4a7c15ull;
    x ^= ((uint64_t)k->run.bytes << 32 | k->run.len) * 0xc2b2ae3d27d4eb4full;
    x ^= ((uint64_t)k->off << 32 | (k->rest.bytes * 2u + k->access)) * 0x165667b19e3779f9ull;
    return &s->recall[x >> (64 - RECALL_BITS)];
}

/* The holder as it was then; the cache has taken in what it did then. */
static inline void recall_apply(struct wb_machine_state *s, const struct recall *m, struct holder *h)
{
    struct cache *c = &s->cache[h->cache];
    c->clock += m->displaced;
    h->stamp = c->clock;
    h->run = m->run;
    if (m->rest.len) {
        if (!h->rest) holder_take_rest(s, h);
        s->rest[h->rest] = m->rest;
    } else if (h->rest) {
        holder_drop_rest(s, h);
    }
}

#endif
