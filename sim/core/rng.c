/*
 * rng.c - counter-based streams and integer distributions.
 *
 * A draw is a keyed hash of the stream's counter: two rounds of a 64-bit finaliser (Stafford's variant 13 of the
 * MurmurHash3 mixer, as in Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014) with the key
 * added before each. One round would be splitmix64, whose streams are all pieces of one sequence; the second round
 * with another function of the key takes that apart. Tested in tests/unit/test_rng.c: chi-square of every byte lane,
 * serial pairs, correlation between neighbouring streams and counters, avalanche.
 */
#include "wakebal/rng.h"

#include "quantile_tables.h"

#include <math.h>

typedef unsigned __int128 u128;

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

struct wb_stream wb_stream_make(uint64_t seed, uint32_t replication, uint64_t entity, uint32_t purpose)
{
    uint64_t key = mix(seed + 0x9e3779b97f4a7c15ull);
    key = mix(key ^ mix(((uint64_t)replication << 32 | purpose) + 0x3c6ef372fe94f82aull));
    key = mix(key + mix(entity + 0xdaa66d2c7ddf743full));
    return (struct wb_stream){.key = key};
}

uint64_t wb_draw_u64(struct wb_stream *s)
{
    uint64_t z = mix(s->counter++ * 0x9e3779b97f4a7c15ull + s->key);
    return mix(z + (s->key << 32 | s->key >> 32));
}

uint64_t wb_draw_below(struct wb_stream *s, uint64_t n)
{
    WB_CHECK(n, "draw below 0");
    return (uint64_t)((u128)wb_draw_u64(s) * n >> 64);
}

/* Value of a table of `steps` linear pieces at m, a fraction of the whole table in 2^64ths. */
static uint64_t interpolate(const uint64_t *table, unsigned steps_log2, uint64_t m)
{
    uint64_t i = m >> (64 - steps_log2), f = m << steps_log2 >> 32; /* f: 32 bits of position inside the piece */
    uint64_t a = table[i], b = table[i + 1];
    return b >= a ? a + ((b - a) * f >> 32) : a - ((a - b) * f >> 32);
}

/* u in [1, 2^64) stands for u / 2^64 = m / 2^z with m in [1/2, 1); *m is the position between 1/2 and 1 in 2^64ths. */
static unsigned split(uint64_t u, uint64_t *m)
{
    unsigned z = (unsigned)__builtin_clzll(u);
    *m = u << z << 1;
    return z;
}

/* -ln(U), Q32. */
static uint64_t exponential_q32(uint64_t u)
{
    uint64_t m;
    unsigned z = split(u | 1, &m);
    return z * LN_2_Q32 + interpolate(neg_log, 8, m);
}

/* Standard normal, Q32. The top bit is the sign, the rest the distance of U from 1/2. */
static int64_t normal_q32(uint64_t u)
{
    uint64_t m;
    unsigned z = split(u << 1 | 1, &m); /* 2U' / 2^64, so U' has one octave more */
    int64_t q = (int64_t)interpolate(normal_tail + (size_t)z * 33, 5, m);
    return u >> 63 ? q : -q;
}

/* round(a * q / 2^32) for a Q32 factor, held below INT64_MAX. */
static int64_t times_q32(int64_t a, uint64_t q)
{
    u128 v = ((u128)(uint64_t)a * q + (1ull << 31)) >> 32;
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static int64_t draw_normal(const struct wb_dist *d, uint64_t u)
{
    __int128 shift = (__int128)d->a * d->b / 1000000 * normal_q32(u) >> 32;
    __int128 v = d->a + shift;
    return v < 0 ? 0 : v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/* a * exp(sigma z), by powers of two. */
static int64_t draw_lognormal(const struct wb_dist *d, uint64_t u)
{
    __int128 y = (__int128)d->b * normal_q32(u) / 1000000; /* sigma z, Q32 */
    y = y * (__int128)LOG2_E_Q32 >> 32;                    /* in octaves */
    if (y >> 32 >= 63) return INT64_MAX;
    if (y >> 32 < -63) return 0;
    int octaves = (int)(y >> 32);
    uint64_t factor = interpolate(power_of_two, 8, (uint64_t)y << 32); /* [1, 2) Q32 */
    u128 v = (u128)(uint64_t)d->a * factor;
    v = octaves >= 0 ? (v >> 64 >> (62 - octaves) ? (u128)INT64_MAX << 32 : v << octaves) : v >> -octaves;
    v = (v + (1ull << 31)) >> 32;
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static int64_t draw_table(const struct wb_dist *d, uint64_t u)
{
    uint64_t x = u >> 32;
    size_t lo = 0, hi = d->n - 1;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (x < d->cumulative[mid])
            hi = mid;
        else
            lo = mid + 1;
    }
    return d->value[lo];
}

int64_t wb_dist_draw(const struct wb_dist *d, struct wb_stream *s)
{
    /* One draw whatever the kind, so that a variant with another distribution keeps the other numbers of the stream. */
    uint64_t u = wb_draw_u64(s);
    int64_t v = 0;

    switch (d->kind) {
    case WB_DIST_FIXED: v = d->a; break;
    case WB_DIST_UNIFORM: v = d->a + (int64_t)((u128)u * ((uint64_t)d->b - (uint64_t)d->a + 1) >> 64); break;
    case WB_DIST_EXP: v = times_q32(d->a, exponential_q32(u)); break;
    case WB_DIST_NORMAL: v = draw_normal(d, u); break;
    case WB_DIST_LOGNORMAL: v = draw_lognormal(d, u); break;
    case WB_DIST_TABLE: v = draw_table(d, u); break;
    }
    return v < 0 ? 0 : v;
}

static double normal_mean_above_zero(double mean, double sd)
{
    if (sd <= 0) return mean;
    double z = mean / sd;
    return mean * 0.5 * erfc(-z / sqrt(2)) + sd * exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
}

double wb_dist_mean(const struct wb_dist *d)
{
    double a = (double)d->a, b = (double)d->b, sum = 0, before = 0;

    switch (d->kind) {
    case WB_DIST_FIXED:
    case WB_DIST_EXP: return a;
    case WB_DIST_UNIFORM: return (a + b) / 2;
    case WB_DIST_NORMAL: return normal_mean_above_zero(a, a * b / 1e6);
    case WB_DIST_LOGNORMAL: return a * exp(b * b / 2e12);
    case WB_DIST_TABLE:
        for (size_t i = 0; i < d->n; i++) {
            double c = (double)d->cumulative[i] / 4294967296.0;
            sum += (double)d->value[i] * (c - before);
            before = c;
        }
        return sum;
    }
    return 0;
}
