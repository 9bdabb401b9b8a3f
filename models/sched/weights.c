/* weights.c - see weights.h. Linux 2.6.23 .. 6.18 kernel/sched*: prio_to_weight, calc_delta_mine, __calc_delta. */
#include "weights.h"

static const uint32_t of_nice[40] = {
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906,  3121,  2501,  1991,  1586,  1277,  1024,  820,   655,   526,   423,  335,  272,  215,
    172,   137,   110,   87,    70,    56,    45,    36,    29,    23,    18,   15,
};

#define TWO_32 (1ull << 32)

/* The table of inverses (prio_to_wmult) is rounded to nearest; inverses of sums are not. */
struct weight weights_single(uint64_t value)
{
    return (struct weight){.value = value, .inv = (uint32_t)((TWO_32 + value / 2) / value)};
}

struct weight weights_of_nice(int nice)
{
    WB_CHECK(nice >= WEIGHT_NICE_MIN && nice <= WEIGHT_NICE_MAX, "nice %d", nice);
    return weights_single(of_nice[nice - WEIGHT_NICE_MIN]);
}

uint64_t weights_scale(uint64_t delta, uint64_t weight, struct weight *w)
{
    unsigned shift = 32;
    if (!w->inv) w->inv = (uint32_t)(UINT32_MAX / w->value);
    uint64_t factor = weight * w->inv;
    if (factor >> 32) { /* keep 32 significant bits */
        unsigned bits = 32u - (unsigned)__builtin_clzll(factor);
        factor >>= bits;
        shift -= bits;
    }
    return (uint64_t)((unsigned __int128)delta * factor >> shift);
}

static uint64_t shift_rounded(uint64_t v, unsigned n)
{
    return (v + (1ull << (n - 1))) >> n;
}

uint64_t weights_scale_rounded(uint64_t delta, uint64_t weight, struct weight *w)
{
    if (!w->inv) w->inv = (uint32_t)(1 + (TWO_32 - w->value / 2) / (w->value + 1));
    uint64_t product = delta * weight;
    if (product > TWO_32) return shift_rounded(shift_rounded(product, 16) * w->inv, 16);
    return shift_rounded(product * w->inv, 32);
}
