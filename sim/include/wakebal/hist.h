/*
 * hist.h - log-linear histograms of unsigned integers, cheap enough for the event path.
 *
 * Every octave has 64 buckets, so a bucket is at most 1/64 of its value wide (values below 128 are exact): the shape
 * that fio and schbench print, over all of 64 bits. Beside the buckets: count, minimum, maximum, exact sum and exact
 * sum of squares, so mean and deviation owe nothing to the buckets. Adding takes about 2 ns and allocates nothing;
 * merging is exact and order does not matter. The unit of the values is the user's business (latencies: picoseconds).
 *
 * A struct is 30 KiB; the caller owns it. wb_hist_reset() before first use.
 */
#ifndef WAKEBAL_HIST_H
#define WAKEBAL_HIST_H

#include "wakebal/base.h"

enum { WB_HIST_BITS = 6, WB_HIST_BUCKETS = (64 - WB_HIST_BITS + 1) << WB_HIST_BITS };

struct wb_hist {
    uint64_t count;
    uint64_t min, max; /* min > max while empty */
    unsigned __int128 sum;
    unsigned __int128 squares; /* low 128 bits of the sum of squares */
    uint64_t squares_high;     /* and the 64 above */
    uint64_t bucket[WB_HIST_BUCKETS];
};

void wb_hist_reset(struct wb_hist *h);
/* The same for one that is in use: writes only where it has counted. */
void wb_hist_clear(struct wb_hist *h);
/* Add all of src to dst. */
void wb_hist_merge(struct wb_hist *dst, const struct wb_hist *src);

/* Value below which ppm millionths of the samples lie (nearest rank; 500000 = median, 990000 = p99): the middle of
 * its bucket, held inside [min, max]. 0 when empty. */
uint64_t wb_hist_quantile(const struct wb_hist *h, uint32_t ppm);
double wb_hist_mean(const struct wb_hist *h);   /* 0 when empty */
double wb_hist_stddev(const struct wb_hist *h); /* of the sample (n - 1); 0 below two samples */
/* First and last value of a bucket, for those who draw. */
uint64_t wb_hist_bucket_first(uint32_t i);
uint64_t wb_hist_bucket_last(uint32_t i);

static inline uint32_t wb_hist_index(uint64_t v)
{
    uint32_t octave = 63u - (uint32_t)__builtin_clzll(v | 1);
    uint32_t shift = octave > WB_HIST_BITS ? octave - WB_HIST_BITS : 0;
    return (shift << WB_HIST_BITS) + (uint32_t)(v >> shift);
}

static inline void wb_hist_add(struct wb_hist *h, uint64_t v)
{
    unsigned __int128 square = (unsigned __int128)v * v;
    h->bucket[wb_hist_index(v)]++;
    h->count++;
    h->min = v < h->min ? v : h->min;
    h->max = v > h->max ? v : h->max;
    h->sum += v;
    h->squares += square;
    h->squares_high += h->squares < square; /* the carry */
}

#endif
