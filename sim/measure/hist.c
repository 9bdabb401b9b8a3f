/* hist.c - what is done with a histogram after the run; see hist.h. */
#include "wakebal/hist.h"

#include <math.h>
#include <string.h>

typedef unsigned __int128 u128;

/* 256 bits, least significant word first. */
struct wide {
    uint64_t w[4];
};

void wb_hist_reset(struct wb_hist *h)
{
    memset(h, 0, sizeof *h);
    h->min = UINT64_MAX;
}

void wb_hist_clear(struct wb_hist *h)
{
    if (!h->count) return;
    uint32_t first = wb_hist_index(h->min), last = wb_hist_index(h->max);
    memset(&h->bucket[first], 0, (last - first + 1) * sizeof h->bucket[0]);
    h->count = 0;
    h->min = UINT64_MAX;
    h->max = 0;
    h->sum = h->squares = 0;
    h->squares_high = 0;
}

void wb_hist_merge(struct wb_hist *dst, const struct wb_hist *src)
{
    dst->count += src->count;
    dst->min = WB_MIN(dst->min, src->min);
    dst->max = WB_MAX(dst->max, src->max);
    dst->sum += src->sum;
    dst->squares += src->squares;
    dst->squares_high += src->squares_high + (dst->squares < src->squares);
    for (uint32_t i = 0; i < WB_HIST_BUCKETS; i++) dst->bucket[i] += src->bucket[i];
}

uint64_t wb_hist_bucket_first(uint32_t i)
{
    WB_CHECK(i < WB_HIST_BUCKETS, "bucket %u", i);
    uint32_t group = i >> WB_HIST_BITS;
    if (group < 2) return i;
    return (uint64_t)((i & ((1u << WB_HIST_BITS) - 1)) | 1u << WB_HIST_BITS) << (group - 1);
}

uint64_t wb_hist_bucket_last(uint32_t i)
{
    return i + 1 < WB_HIST_BUCKETS ? wb_hist_bucket_first(i + 1) - 1 : UINT64_MAX;
}

uint64_t wb_hist_quantile(const struct wb_hist *h, uint32_t ppm)
{
    WB_CHECK(ppm <= 1000000, "quantile of %u ppm", ppm);
    if (!h->count) return 0;
    uint64_t rank = (uint64_t)(((u128)h->count * ppm + 999999) / 1000000), seen = 0;
    if (!rank) return h->min;
    uint32_t i = wb_hist_index(h->min);
    for (; i + 1 < WB_HIST_BUCKETS; i++)
        if ((seen += h->bucket[i]) >= rank) break;
    uint64_t first = wb_hist_bucket_first(i), middle = first + (wb_hist_bucket_last(i) - first) / 2;
    if (rank == h->count) return h->max;
    return middle < h->min ? h->min : middle > h->max ? h->max : middle;
}

static double wide_to_double(const struct wide *v)
{
    double d = 0;
    for (int i = 3; i >= 0; i--) d = d * 18446744073709551616.0 + (double)v->w[i];
    return d;
}

static void add_at(struct wide *v, int at, u128 x)
{
    for (; x && at < 4; at++) {
        x += v->w[at];
        v->w[at] = (uint64_t)x;
        x >>= 64;
    }
}

static struct wide multiply(const uint64_t *a, int na, const uint64_t *b, int nb)
{
    struct wide r = {{0}};
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) add_at(&r, i + j, (u128)a[i] * b[j]);
    return r;
}

static void subtract(struct wide *a, const struct wide *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        u128 d = (u128)a->w[i] - b->w[i] - borrow;
        a->w[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
}

double wb_hist_mean(const struct wb_hist *h)
{
    return h->count ? (double)h->sum / (double)h->count : 0;
}

double wb_hist_stddev(const struct wb_hist *h)
{
    if (h->count < 2) return 0;
    /* (n * squares - sum^2) exactly: in floating point the difference of two large numbers would be noise. */
    uint64_t squares[3] = {(uint64_t)h->squares, (uint64_t)(h->squares >> 64), h->squares_high};
    uint64_t sum[2] = {(uint64_t)h->sum, (uint64_t)(h->sum >> 64)};
    struct wide spread = multiply(squares, 3, &h->count, 1), square_of_sum = multiply(sum, 2, sum, 2);
    subtract(&spread, &square_of_sum);
    return sqrt(wide_to_double(&spread) / (double)h->count / (double)(h->count - 1));
}
