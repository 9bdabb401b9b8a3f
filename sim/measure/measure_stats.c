/* measure_stats.c - warm-up, batch means, quantiles, modes. */
#include "measure_stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MSER_BATCH 5u
#define GAP_MAX 1000.0

static double batch_mean(const double *v, size_t size)
{
    double sum = 0;
    for (size_t i = 0; i < size; i++) sum += v[i];
    return sum / (double)size;
}

size_t measure_warmup_mser(const double *v, size_t n)
{
    size_t nb = n / MSER_BATCH, best = 0;
    if (nb < 4) return 0;
    double mean = 0, squares = 0, least = INFINITY;
    /* Backwards with Welford's update: at step d, mean and squares belong to batches d .. nb-1. */
    for (size_t d = nb; d-- > 0;) {
        double x = batch_mean(v + d * MSER_BATCH, MSER_BATCH), count = (double)(nb - d);
        double delta = x - mean;
        mean += delta / count;
        squares += delta * (x - mean);
        double stat = squares / (count * count);
        if (d <= nb / 2 && stat <= least) { /* of the last few batches the smallest error is often chance */
            least = stat;
            best = d;
        }
    }
    return best == nb / 2 ? SIZE_MAX : best * MSER_BATCH;
}

double measure_half_width(double sd, size_t n, double confidence)
{
    if (n < 2 || !(confidence > 0 && confidence < 1)) return NAN;
    double t = gsl_cdf_tdist_Pinv(0.5 + confidence / 2, (double)(n - 1));
    return t * sd / sqrt((double)n);
}

/* Mean, variance and lag-1 autocorrelation of the means of batches of `size`. */
static void batch_moments(const double *v, size_t n, struct measure_batch *b, double *variance)
{
    double squares = 0, cross = 0, before = 0;
    b->nbatches = n / b->size;
    b->mean = batch_mean(v, b->nbatches * b->size);
    for (size_t i = 0; i < b->nbatches; i++) {
        double d = batch_mean(v + i * b->size, b->size) - b->mean;
        squares += d * d;
        if (i) cross += d * before;
        before = d;
    }
    b->lag1 = squares > 0 ? cross / squares : 0;
    *variance = b->nbatches > 1 ? squares / (double)(b->nbatches - 1) : 0;
}

struct measure_batch measure_batch_means(const double *v, size_t n, double confidence)
{
    struct measure_batch b = {.mean = NAN, .half_width = NAN, .lag1 = NAN};
    for (size_t size = 1; n / size >= MEASURE_BATCHES_MIN; size *= 2) {
        double variance;
        b.size = size;
        batch_moments(v, n, &b, &variance);
        if (b.lag1 < 1.96 / sqrt((double)b.nbatches)) {
            b.ok = true;
            b.half_width = measure_half_width(sqrt(variance), b.nbatches, confidence);
            return b;
        }
    }
    if (n && !b.size) b.mean = batch_mean(v, n);
    return b;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void measure_sort(double *v, size_t n)
{
    if (n) qsort(v, n, sizeof(*v), compare);
}

size_t measure_compact(double *out, const double *v, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(v[i])) out[k++] = v[i];
    return k;
}

double measure_quantile(const double *sorted, size_t n, double p)
{
    if (!n) return NAN;
    double at = p * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n) return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

/* Where to cut sorted values so that the squares inside both parts are least, i.e. those between are greatest. */
static size_t best_cut(const double *v, size_t n, double total)
{
    double left = 0, most = -1;
    size_t cut = 1;
    for (size_t k = 1; k < n; k++) {
        left += v[k - 1];
        if (v[k] <= v[k - 1]) continue; /* equal values stay together */
        double m1 = left / (double)k, m2 = (total - left) / (double)(n - k);
        double between = (double)k * (double)(n - k) * (m2 - m1) * (m2 - m1);
        if (between > most) {
            most = between;
            cut = k;
        }
    }
    return cut;
}

static double squares_around(const double *v, size_t n, double mean)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) s += (v[i] - mean) * (v[i] - mean);
    return s;
}

struct measure_modes measure_modes(const double *sorted, size_t n)
{
    struct measure_modes r = {.modes = n ? 1 : 0, .low = NAN, .high = NAN, .high_share = NAN};
    if (!n) return r;
    double mean = batch_mean(sorted, n), total = mean * (double)n;
    r.low = r.high = mean;
    r.high_share = 1;
    if (n < 10 || !(sorted[n - 1] > sorted[0])) return r;
    size_t cut = best_cut(sorted, n, total);
    double m1 = batch_mean(sorted, cut), m2 = batch_mean(sorted + cut, n - cut);
    double sd = sqrt((squares_around(sorted, cut, m1) + squares_around(sorted + cut, n - cut, m2)) / (double)n);
    r.gap = sd > 0 ? fmin((m2 - m1) / sd, GAP_MAX) : GAP_MAX;
    double share = (double)(n - cut) / (double)n;
    if (r.gap <= MEASURE_GAP_MIN * (1 + 10 / (double)n) || fmin(share, 1 - share) < MEASURE_MODE_SHARE_MIN) return r;
    if (m2 - m1 < MEASURE_MODE_DISTANCE_MIN * fmax(fabs(m1), fabs(m2))) return r;
    r = (struct measure_modes){.modes = 2, .low = m1, .high = m2, .high_share = share, .gap = r.gap};
    return r;
}
