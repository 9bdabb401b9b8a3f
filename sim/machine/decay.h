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

#include "wakebal/base.h"

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

#define DECAY_LOG2E_Q24 24204406ull /* log2(e) * 2^24 */
#define DECAY_X_MAX 24u             /* exp(-24) < 2^-32 */

extern const uint32_t decay_table[257];

/* n / size in units of 2^-24; n < DECAY_X_MAX * size, so the product stays below 2^61. */
static inline uint64_t decay_ratio_q24(uint64_t n, const struct decay_size *size)
{
    return n * size->reciprocal >> 32;
}

/* exp(-n / size) in units of 2^-32, 0 .. DECAY_ONE. */
static inline uint64_t decay_factor(uint64_t n, const struct decay_size *size)
{
    if (!n) return DECAY_ONE;
    if (n >= DECAY_X_MAX * size->bytes) return 0;
    uint64_t y = decay_ratio_q24(n, size) * DECAY_LOG2E_Q24 >> 24;
    uint32_t whole = (uint32_t)(y >> 24), k = (uint32_t)(y >> 16 & 255), rest = (uint32_t)(y & 0xffff);
    uint64_t hi = decay_table[k], lo = decay_table[k + 1];
    return (hi - ((hi - lo) * rest >> 16)) >> whole;
}

/* 1 - x/2 + x^2/6 - x^3/24 for x < 1/16, where the closed form would lose the digits. */
static inline uint64_t decay_average_series(uint64_t x)
{
    uint64_t x2 = x * x >> 32, x3 = x2 * x >> 32;
    return DECAY_ONE - x / 2 + x2 / 6 - x3 / 24;
}

/* (1 - exp(-n / size)) * size / n in units of 2^-32: what is left, on average, of bytes that are displaced evenly
 * while n are inserted. DECAY_ONE for n = 0. */
static inline uint64_t decay_average(uint64_t n, const struct decay_size *size)
{
    if (n >= DECAY_X_MAX * size->bytes) return (uint64_t)(((unsigned __int128)size->bytes << 32) / n);
    uint64_t x = decay_ratio_q24(n, size);
    if (x < 1u << 20) return decay_average_series(x << 8);
    uint64_t average = ((DECAY_ONE - decay_factor(n, size)) << 24) / x;
    return WB_MIN(average, DECAY_ONE);
}

/* bytes * factor, rounded down; exact for DECAY_ONE. */
static inline uint32_t decay_apply(uint32_t bytes, uint64_t factor)
{
    return (uint32_t)(bytes * factor >> 32);
}

#endif
