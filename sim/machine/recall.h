/*
 * recall.h - what the touch of a cache came to the last time that everything was as it is now.
 *
 * A message of many pages finds the caches as the message before it did: what a full cache held of each page and
 * buffer, how much came in since, which part is touched. What follows from that is a chain of exponentials, products
 * and divisions in integers, the same each time, so it is looked up: a table by all that goes into it, in sets of two,
 * where the newer one is first. What comes out is what working it out would give, to the byte (prop_short_cuts
 * compares).
 */
#ifndef WB_MACHINE_RECALL_H
#define WB_MACHINE_RECALL_H

#include <string.h>

#include "caches.h"

#define RECALL_SETS_BITS 9u /* a message of 64 KiB needs a hundred places */
#define RECALL_PLACES (2u << RECALL_SETS_BITS)
#define RECALL_MIN 512u /* bytes: smaller touches come at any offset and seldom twice */
#define RECALL_WORDS 8u

struct recall {
    uint64_t key[RECALL_WORDS]; /* struct recall_key; zeros: empty */
    struct extent run, rest;    /* after the touch; rest.len 0: none */
    uint32_t held;              /* bytes of the span that were there */
    uint32_t displaced, filled; /* bytes taken in, by displacing others and into free room */
    uint32_t unused[5];
};
_Static_assert(sizeof(struct recall) == 128, "two lines");

/* All that a touch of a cache depends on: its size; bytes that it took in since the holder was up to date, the top bit
 * for a write; run and rest of the holder; the span; what of it the next outer cache had; free room, as far as it
 * matters. An array, so that it stays in registers. */
struct recall_key {
    uint64_t w[RECALL_WORDS];
};

static inline void recall_extent(uint64_t *w, const struct extent *e)
{
    memcpy(w, e, sizeof *e);
}

/* The set where it is if it is anywhere. */
static inline struct recall *recall_set(const struct wb_machine_state *s, const struct recall_key *k)
{
    /* Whatever varies from page to page; the others rarely differ where these are alike. */
    uint64_t x = (k->w[0] + k->w[1]) * 0x9e3779b97f4a7c15ull + (k->w[2] + k->w[3]) * 0xc2b2ae3d27d4eb4full;
    x += (k->w[5] + k->w[6]) * 0x165667b19e3779f9ull;
    return &s->recall[x >> (64 - RECALL_SETS_BITS) << 1];
}

static inline bool recall_is(const struct recall *m, const struct recall_key *k)
{
    const uint64_t *a = m->key, *b = k->w;
    /* Word by word: a vector would have to wait until the key is in memory. */
    return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) | (a[4] ^ b[4]) | (a[5] ^ b[5]) |
             (a[6] ^ b[6]) | (a[7] ^ b[7]));
}

/* The holder as it was then; the cache takes in what it took in then. */
static inline void recall_apply(struct wb_machine_state *s, const struct recall *m, struct holder *h)
{
    struct cache *c = &s->cache[h->cache];
    c->clock += m->displaced;
    c->free -= m->filled;
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
