/*
 * evq.h - the set of pending events.
 *
 * An implicit 4-ary heap of 16-byte entries. The order is total: (time, class, entity, counter), packed so that one
 * 128-bit compare decides it; two entries that compare equal are the same event. Sibling groups of four fill exactly
 * one cache line.
 *
 * Cancellation is lazy: the owner of an event remembers the counter it pushed last and, on popping an entry with
 * another counter, drops it as stale. Nothing is ever removed from the middle.
 *
 * Slots past the last entry hold EVQ_NEVER, so that a sift may always look at four siblings and evq_peek() of an
 * empty set says "never" without a test. Comparisons are turned into arithmetic by hand: gcc 12 -O2 compiles the
 * plain ternary to branches that mispredict, which costs 1.7x (the perf test counts them).
 *
 * evq_push() may double the storage, the one allocation allowed while events run; memory refused there is fatal
 * (wb_bug), everything else cannot fail. Five operations: push, replace_top (pop and push fused, the cheap way to
 * "take one, schedule one later"), pop, peek, count.
 */
#ifndef WB_CORE_EVQ_H
#define WB_CORE_EVQ_H

#include "wakebal/base.h"

/* The low half comes first in memory: the pair then is a little-endian 128-bit integer. */
struct evq_entry {
    uint64_t key; /* class:6 | entity:24 | counter:34 */
    uint64_t time;
};
_Static_assert(sizeof(struct evq_entry) == 16, "four entries must fill a cache line");

enum { EVQ_CLASS_BITS = 6, EVQ_ENTITY_BITS = 24, EVQ_COUNTER_BITS = 34 };
#define EVQ_COUNTER_MASK ((1ull << EVQ_COUNTER_BITS) - 1)
#define EVQ_ENTITY_MASK ((1ull << EVQ_ENTITY_BITS) - 1)
#define EVQ_NEVER ((struct evq_entry){.key = UINT64_MAX, .time = WB_TIME_NEVER})

struct evq {
    struct evq_entry *h; /* h[0] is the earliest; &h[1] is cache-line aligned */
    uint32_t n, room;
    uint32_t peak; /* largest n ever */
    void *mem;
};

/* Room for `room` entries at once (at least 4). 0, or -ENOMEM. */
int evq_init(struct evq *q, uint32_t room) WB_MUST_USE;
void evq_free(struct evq *q);
void evq_grow(struct evq *q); /* doubles the room; for evq_push */
void evq_fit(struct evq *q);  /* room for a quarter more than there is, if that is less than now */
/* Every parent is earlier than its children and every free slot is EVQ_NEVER: O(n), for debug checks and tests. */
bool evq_valid(const struct evq *q);

/* event_class < 64, entity < 2^24. The counter is taken modulo 2^34: 1.7e10 events of one entity. */
static inline uint64_t evq_key(uint32_t event_class, uint32_t entity, uint64_t counter)
{
    return (uint64_t)event_class << (EVQ_ENTITY_BITS + EVQ_COUNTER_BITS) | (uint64_t)entity << EVQ_COUNTER_BITS |
           (counter & EVQ_COUNTER_MASK);
}
static inline uint32_t evq_class(uint64_t key)
{
    return (uint32_t)(key >> (EVQ_ENTITY_BITS + EVQ_COUNTER_BITS));
}
static inline uint32_t evq_entity(uint64_t key)
{
    return (uint32_t)(key >> EVQ_COUNTER_BITS & EVQ_ENTITY_MASK);
}
static inline uint64_t evq_counter(uint64_t key)
{
    return key & EVQ_COUNTER_MASK;
}

static inline unsigned __int128 evq_order(const struct evq_entry *e)
{
    return (unsigned __int128)e->time << 64 | e->key;
}
/* a is to happen before b. */
static inline bool evq_before(const struct evq_entry *a, const struct evq_entry *b)
{
    return evq_order(a) < evq_order(b);
}

static inline uint32_t evq_count(const struct evq *q)
{
    return q->n;
}
/* The earliest entry; EVQ_NEVER when there is none. Valid until the next change. */
static inline const struct evq_entry *evq_peek(const struct evq *q)
{
    return &q->h[0];
}

/* Index of the earliest of the four siblings that start at c. */
static inline uint32_t evq_min4(const struct evq_entry *h, uint32_t c)
{
    uint32_t a = c + evq_before(&h[c + 1], &h[c]);
    uint32_t b = c + 2 + evq_before(&h[c + 3], &h[c + 2]);
    uint32_t take_b = -(uint32_t)evq_before(&h[b], &h[a]);
    return a ^ ((a ^ b) & take_b);
}

/* Let e sink from the root, among n entries. */
static inline void evq_sink(struct evq_entry *h, uint32_t n, struct evq_entry e)
{
    uint32_t i = 0;
    for (uint32_t c = 1; c < n; c = 4 * i + 1) {
        uint32_t m = evq_min4(h, c);
        if (!evq_before(&h[m], &e)) break;
        h[i] = h[m];
        i = m;
    }
    h[i] = e;
}

static inline void evq_push(struct evq *q, struct evq_entry e)
{
    if (WB_UNLIKELY(q->n == q->room)) evq_grow(q);
    struct evq_entry *h = q->h;
    uint32_t i = q->n++;
    if (q->n > q->peak) q->peak = q->n;
    while (i) {
        uint32_t parent = (i - 1) / 4;
        if (!evq_before(&e, &h[parent])) break;
        h[i] = h[parent];
        i = parent;
    }
    h[i] = e;
}

/* Remove and return the earliest entry. There must be one. */
static inline struct evq_entry evq_pop(struct evq *q)
{
    WB_CHECK(q->n, "pop from an empty event set");
    struct evq_entry top = q->h[0];
    struct evq_entry last = q->h[--q->n];
    q->h[q->n] = EVQ_NEVER;
    if (q->n) evq_sink(q->h, q->n, last);
    return top;
}

/* Remove the earliest entry and add e, in one pass. There must be one. Same result as evq_pop() and evq_push(). */
static inline void evq_replace_top(struct evq *q, struct evq_entry e)
{
    WB_CHECK(q->n, "replace in an empty event set");
    evq_sink(q->h, q->n, e);
}

#endif
