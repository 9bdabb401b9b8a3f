/*
 * shapes.h - small touches of regions that several chains hold, as steps between numbered shapes.
 *
 * The control blocks and buffers that a pair of tasks works on are found in one of a few states, over and over: who has
 * which part, modified or not. While caches have room such a state is nothing but the holders' extents. It gets a
 * number, its shape, and what a touch makes of it is kept as a step from shape to shape: its price, what the own caches
 * take in, what others lose. The next such touch is found by the region's shape, the CPU and the span, and changes the
 * number instead of the holders. They are written when somebody wants to see them (shapes_settle): a touch that is not
 * a known step, the end of the region, and, for all regions, the first byte that some cache displaces. From then on
 * holders age, and there are no shapes any more in this state. Until then all clocks and stamps are 0.
 * What comes out is what touch.c would work out, to the byte (prop_short_cuts compares).
 *
 * Shapes are few: the first SHAPES that come. A simulation that has more goes the long way with the others. One that
 * learns more than it recalls gives up, and one of thousands of regions does not begin: the tables then take no memory.
 */
#ifndef WB_MACHINE_SHAPES_H
#define WB_MACHINE_SHAPES_H

#include "chain.h"

#define SHAPE_HOLDERS 5u /* two chains below one outermost cache */
#define SHAPE_LEVELS 3u
#define SHAPES 1024u        /* number 0: none */
#define SHAPE_REGIONS 4096u /* most regions, pages aside, with which they are tried */
#define SHAPE_LISTS 256u
#define SHAPE_STEPS_BITS 11u
#define SHAPE_CREDIT 2048u /* at first: learning costs half of what working it out does */
#define SHAPE_CREDIT_MAX 65536u

struct shape {
    struct {
        struct extent run, rest; /* zeros when empty */
    } h[SHAPE_HOLDERS];
    uint16_t cache[SHAPE_HOLDERS];
    uint16_t home; /* of the region: memory is priced by it */
    uint16_t nholders;
    uint16_t next; /* in the list of those with the same hash */
};

struct shape_step {
    uint64_t span; /* bytes and offset */
    uint64_t who;  /* shape, CPU, access, pattern; 0: an empty place */
    sim_time upgrade, refill;
    sim_time core;                                    /* of a touch (a copy prices its hits otherwise) */
    uint32_t filled[SHAPE_LEVELS], hit[SHAPE_LEVELS]; /* taken in by the own caches; found there */
    struct {
        uint32_t cache, bytes;
    } loss[SHAPE_HOLDERS];     /* of caches of other chains */
    uint8_t own[SHAPE_LEVELS]; /* which holders are the own caches after it, by level */
    uint8_t nlosses;
    uint16_t to; /* shape after it */
};

struct shapes {
    struct shape_step step[1u << SHAPE_STEPS_BITS];
    struct shape shape[SHAPES];
    uint16_t list[SHAPE_LISTS];
    uint32_t n;      /* numbers given out */
    uint32_t credit; /* a touch that has to be learned takes of it, one that is known adds to it; none: over */
    bool over;       /* something has been displaced, or there are too many regions */
};

/* The touch is a step that is known: do it, add to *out what it costs, true. The region's count of touches has been
 * raised for it. */
bool shapes_recall(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern, struct wb_touch *out);
/* The same for all of a touch of a region that has a shape, whose count is raised here: *out is what it costs. */
bool shapes_touch(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern, struct wb_touch *out);
/* The holders become what the shape says, and the region has none any more. */
void shapes_settle(struct wb_machine_state *s, struct region *r);
/* Some cache begins to displace: all are settled. */
void shapes_end(struct wb_machine_state *s);
/* Holder j of a region as it is, whether settled or not, and its rest; how many there are. */
uint32_t shapes_count(const struct wb_machine_state *s, const struct region *r);
struct holder shapes_holder(const struct wb_machine_state *s, struct region *r, uint32_t j, struct extent *rest);

/* A touch that is not known, of a settled region. What is there before it is worked out; from: 0 when it cannot be a
 * step. */
struct shape_before {
    uint32_t from;
    uint64_t free[SHAPE_LEVELS], hit[SHAPE_LEVELS];
    sim_time upgrade, refill, unstaged;
    uint32_t nstages;
};
void shapes_before(const struct stroke *k, const struct wb_touch *out, struct shape_before *b);
/* Keep it afterwards. */
void shapes_learn(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern, const struct shape_before *b,
                  const struct wb_touch *out);

#endif
