/*
 * decay.h - exp(-n / size) in integers.
 *
 * exp(-x) = 2^(-x * log2 e): the whole part is a shift, the fraction comes from a table of 257 values with linear
 * interpolation. Error below 2e-6 (of the average: 2e-5) (test_caches checks it); the same bits on every compiler,
 * no libm.
 */
#ifndef WB_MACHINE_DECAY_H
#define WB_MACHINE_DECAY_H

#include <stdint.h>

#define DECAY_ONE (1ull << 32)

/* A cache size with its reciprocal, so that the event path multiplies where it would divide. */
struct decay_size {
    uint64_t bytes;
    uint64_t reciprocal; /* 2^56 / bytes */
};

static inline struct decay_size decay_size_of(uint64_t bytes)
{
    return (struct decay_size){bytes, (1ull << 56) / bytes};
}

/* exp(-n / size) in units of 2^-32, 0 .. DECAY_ONE. */
uint64_t decay_factor(uint64_t n, const struct decay_size *size);
/* (1 - exp(-n / size)) * size / n in units of 2^-32: what is left, on average, of bytes that are displaced evenly
 * while n are inserted. DECAY_ONE for n = 0. */
uint64_t decay_average(uint64_t n, const struct decay_size *size);

/* bytes * factor, rounded down; exact for DECAY_ONE. */
static inline uint32_t decay_apply(uint32_t bytes, uint64_t factor)
{
    return (uint32_t)(bytes * factor >> 32);
}

#endif
