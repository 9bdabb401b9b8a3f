/*
 * weights.h - load weights of the 40 nice levels, and the division by a weight that the fair classes do.
 *
 * One nice level is worth about 10 % of CPU: the weight falls by a factor of 1.25 per level from 1024 at nice 0,
 * rounded to the integers that the kernels have used unchanged since 2.6.23 (sched_prio_to_weight). SCHED_IDLE weighs
 * 3 (2 before 2.6.30).
 *
 * The kernels do not divide by a weight: they multiply with a rounded inverse, 2^32 / weight, and shift.
 * weights_scale() does the same, bit for bit, so that sums of virtual time drift as theirs do.
 */
#ifndef WB_SCHED_WEIGHTS_H
#define WB_SCHED_WEIGHTS_H

#include "wakebal/base.h"

#define WEIGHT_NICE_0 1024u
#define WEIGHT_NICE_MIN (-20)
#define WEIGHT_NICE_MAX 19

/* A weight and 2^32 / weight; inv 0 = not computed yet: the functions below fill it in. As struct load_weight. */
struct weight {
    uint64_t value;
    uint32_t inv;
};

/* nice -20 .. 19. */
struct weight weights_of_nice(int nice);
/* A task's weight with its tabled inverse, rounded to nearest (prio_to_wmult). value > 1. */
struct weight weights_single(uint64_t value);
/* delta * weight / w->value by w's inverse, truncated (__calc_delta of 3.x and later). weight <= 2^31. */
uint64_t weights_scale(uint64_t delta, uint64_t weight, struct weight *w);
/* The same as 2.6.23 .. 2.6.36 calc_delta_mine() did it: rounds to nearest, and in two steps when the product passes
 * 2^32. delta * weight < 2^63. */
uint64_t weights_scale_rounded(uint64_t delta, uint64_t weight, struct weight *w);
/* Run time to virtual time: nice 0 runs at the rate of the clock. */
static inline uint64_t weights_virtual(uint64_t delta, struct weight *w, bool rounded)
{
    if (w->value == WEIGHT_NICE_0) return delta;
    return rounded ? weights_scale_rounded(delta, WEIGHT_NICE_0, w) : weights_scale(delta, WEIGHT_NICE_0, w);
}

#endif
