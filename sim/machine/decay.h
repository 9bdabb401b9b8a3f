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

/* exp(-n / size) in units of 2^-32, 0 .. DECAY_ONE. size > 0. */
uint64_t decay_factor(uint64_t n, uint64_t size);
/* (1 - exp(-n / size)) * size / n in units of 2^-32: what is left, on average, of bytes that are displaced evenly
 * while n are inserted. DECAY_ONE for n = 0. */
uint64_t decay_average(uint64_t n, uint64_t size);

/* bytes * factor, rounded down; exact for DECAY_ONE. */
static inline uint32_t decay_apply(uint32_t bytes, uint64_t factor)
{
    return (uint32_t)(bytes * factor >> 32);
}

#endif
