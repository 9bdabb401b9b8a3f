/*
 * rng.h - counter-based random streams and integer distributions.
 *
 * A stream is a key made from (seed, replication, entity, purpose) and a counter; draw i of a stream never depends on
 * what other streams did, so variants of a study meet the same arrivals (common random numbers). Distributions draw
 * through integer inverse-CDF tables built without libm: the same values on every compiler and machine.
 */
#ifndef WAKEBAL_RNG_H
#define WAKEBAL_RNG_H

#include "wakebal/base.h"

struct wb_stream {
    uint64_t key;
    uint64_t counter;
};

/* purpose: a four-letter code, WB_PURPOSE('t','i','c','k'). */
#define WB_PURPOSE(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

struct wb_stream wb_stream_make(uint64_t seed, uint32_t replication, uint64_t entity, uint32_t purpose);
uint64_t wb_draw_u64(struct wb_stream *s);
/* Uniform in [0, n), n > 0: multiply and shift, the bias is below n / 2^64. */
uint64_t wb_draw_below(struct wb_stream *s, uint64_t n);

enum wb_dist_kind { WB_DIST_FIXED, WB_DIST_UNIFORM, WB_DIST_EXP, WB_DIST_NORMAL, WB_DIST_LOGNORMAL, WB_DIST_TABLE };

/*
 * fixed: a.  uniform: [a, b].  exp: mean a.  normal: mean a, deviation b ppm of a; what falls below 0 becomes 0.
 * lognormal: median a, deviation of the logarithm b ppm (1000000 = 1.0).  table: n > 0 values with cumulative weights
 * scaled to 2^32 (the last is 2^32).  a >= 0, b >= 0.
 */
struct wb_dist {
    enum wb_dist_kind kind;
    int64_t a, b;
    const int64_t *value;
    const uint64_t *cumulative;
    size_t n;
};
/* Never negative. Takes one draw of the stream, whatever the kind. */
int64_t wb_dist_draw(const struct wb_dist *d, struct wb_stream *s);
double wb_dist_mean(const struct wb_dist *d); /* for reports only */

#endif
