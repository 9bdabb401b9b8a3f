/*
 * shared.h - what the touch of a region that several chains hold came to the last time that everything was as it is
 * now.
 *
 * The pages of a pipe go round: the writer takes them from the reader's caches, the reader fetches them from the
 * writer's, and each message finds them as the one before it did. So the whole touch is looked up by all that goes into
 * it, as recall.h does for one cache: what the holders have and since when, the span, the CPU, and the free room of its
 * caches. Kept are touches that cost no time on shared servers, of regions that few caches hold, each in one stretch.
 * What comes out is what touch.c would work out, to the byte (prop_short_cuts compares).
 *
 * A CPU's touches come in the same order with each message, so each kept touch knows which one followed it the last
 * time: that one is compared with first, without making a key of what is there.
 */
#ifndef WB_MACHINE_SHARED_H
#define WB_MACHINE_SHARED_H

#include "chain.h"
#include "recall.h"

#define SHARED_HOLDERS 5u /* two chains below one outermost cache */
#define SHARED_LEVELS 3u
#define SHARED_SETS_BITS 7u
#define SHARED_PLACES (2u << SHARED_SETS_BITS)
_Static_assert(SHARED_PLACES <= UINT16_MAX, "numbers of places are short");

struct shared_key {
    uint64_t span; /* of it: bytes and offset */
    uint64_t who;  /* home of the region, CPU, access, pattern, number of holders */
    uint64_t room; /* free in the own caches, as far as it matters */
    struct {
        uint64_t since;   /* the bytes that the cache took in since the holder was up to date; its number */
        uint64_t have[2]; /* its run */
    } holder[SHARED_HOLDERS];
};

struct shared {
    struct shared_key key;
    struct extent run[SHARED_HOLDERS]; /* of the holders after the touch; the first ones are those before it */
    uint16_t cache[SHARED_HOLDERS];
    uint8_t nholders;
    uint8_t own;   /* which are caches of the own chain, a bit each */
    uint16_t next; /* the place that served the CPU's next touch, as a rule */
    uint32_t displaced[SHARED_LEVELS], filled[SHARED_LEVELS]; /* taken in by the own caches, see recall.h */
    uint32_t hit[SHARED_LEVELS];                              /* bytes that were found there */
    uint32_t gone[SHARED_HOLDERS];                            /* bytes that the holders before the touch have lost */
    sim_time upgrade, refill;
};

/* The key of a touch, if it is of the kind that is kept; holders that have nothing left are brought up to date. */
bool shared_key_of(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern, struct shared_key *key);
/* It is the touch that followed the CPU's last one before: do it, add to *out what it costs, true. */
bool shared_follow(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern, struct wb_touch *out);
/* The same of any that is known, by its key. */
bool shared_recall(const struct stroke *k, const struct shared_key *key, struct wb_touch *out);

/* It is not known: note what is there before it is worked out, and keep it afterwards. */
struct shared_before {
    uint64_t clock[SHARED_LEVELS], room[SHARED_LEVELS], hit[SHARED_LEVELS];
    uint64_t others[SHARED_HOLDERS];
    sim_time upgrade, refill, unstaged;
    uint32_t nstages;
};
void shared_before(const struct stroke *k, const struct wb_touch *out, struct shared_before *b);
void shared_learn(const struct stroke *k, const struct shared_key *key, const struct shared_before *b,
                  const struct wb_touch *out);

#endif
