#include "exp_stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A sorted copy without NANs; the caller frees. */
static double *sorted_copy(const double *sample, size_t n, size_t *kept)
{
    double *v = malloc((n ? n : 1) * sizeof *v);
    WB_MEMORY(v, "out of memory for %zu samples", n);
    *kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(sample[i])) v[(*kept)++] = sample[i];
    qsort(v, *kept, sizeof *v, compare_double);
    return v;
}

static double middle(const double *v, size_t n)
{
    if (!n) return NAN;
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

static double student(double confidence, size_t n)
{
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    double t = gsl_cdf_tdist_Qinv((1 - confidence) / 2, (double)(n - 1));
    gsl_set_error_handler(old);
    return t;
}

struct exp_summary exp_summarize(const double *sample, size_t n, double confidence)
{
    struct exp_summary s = {.mean = NAN, .sd = NAN, .lo = NAN, .hi = NAN, .min = NAN, .max = NAN, .median = NAN};
    double *v = sorted_copy(sample, n, &s.n);
    s.missing = n - s.n;
    if (s.n) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < s.n; i++) sum += v[i];
        s.mean = sum / (double)s.n;
        for (size_t i = 0; i < s.n; i++) square += (v[i] - s.mean) * (v[i] - s.mean);
        s.min = v[0];
        s.max = v[s.n - 1];
        s.median = middle(v, s.n);
        if (s.min == s.max) s.mean = s.min, square = 0;
        if (s.n > 1) {
            s.sd = sqrt(square / (double)(s.n - 1));
            double half = student(confidence, s.n) * s.sd / sqrt((double)s.n);
            s.lo = s.mean - half;
            s.hi = s.mean + half;
        }
    }
    free(v);
    return s;
}

double exp_relative_half_width(const struct exp_summary *s)
{
    if (s->n < 2 || isnan(s->hi)) return INFINITY;
    double half = (s->hi - s->lo) / 2;
    if (half == 0) return 0;
    return s->mean == 0 ? INFINITY : half / fabs(s->mean);
}

size_t exp_samples_needed(const struct exp_summary *s, double goal, double confidence)
{
    if (s->n < 2 || goal <= 0 || s->mean == 0 || isnan(s->sd)) return 0;
    double t = student(confidence, s->n), need = t * s->sd / (goal * fabs(s->mean));
    need *= need;
    return need < 1e12 ? (size_t)ceil(need) : 0;
}

double exp_mad_score(const double *sample, size_t n, size_t i)
{
    size_t kept;
    double *v = sorted_copy(sample, n, &kept), mid = middle(v, kept);
    for (size_t k = 0; k < kept; k++) v[k] = fabs(v[k] - mid);
    qsort(v, kept, sizeof *v, compare_double);
    double scale = 1.4826 * middle(v, kept);
    free(v);
    return scale > 0 && !isnan(sample[i]) ? (sample[i] - mid) / scale : 0;
}

/* Sum of squares around the mean of v[from..to), from prefix sums. */
static double scatter(const double *sum, const double *square, size_t from, size_t to)
{
    double n = (double)(to - from), s = sum[to] - sum[from];
    double r = square[to] - square[from] - s * s / n;
    return r > 0 ? r : 0;
}

/* Index that splits sorted v best, and the scatter that is left. */
static size_t best_split(const double *v, size_t n, double *left_over)
{
    double *sum = calloc(2 * (n + 1), sizeof *sum);
    WB_MEMORY(sum, "out of memory for %zu samples", n);
    double *square = sum + n + 1, base = v[n / 2];
    for (size_t i = 0; i < n; i++) {
        sum[i + 1] = sum[i] + (v[i] - base);
        square[i + 1] = square[i] + (v[i] - base) * (v[i] - base);
    }
    size_t best = 1;
    *left_over = INFINITY;
    for (size_t k = 1; k < n; k++) {
        double r = scatter(sum, square, 0, k) + scatter(sum, square, k, n);
        if (r < *left_over) *left_over = r, best = k;
    }
    free(sum);
    return best;
}

struct exp_modes exp_modes(const double *sample, size_t n)
{
    struct exp_modes m = {0};
    size_t kept;
    double *v = sorted_copy(sample, n, &kept);
    if (kept >= 8) {
        double rest;
        size_t k = best_split(v, kept, &rest);
        for (size_t i = 0; i < kept; i++) *(i < k ? &m.low : &m.high) += v[i];
        m.low /= (double)k;
        m.high /= (double)(kept - k);
        m.share_low = (double)k / (double)kept;
        double dev = sqrt(rest / (double)kept), gap = m.high - m.low;
        m.bimodal = m.share_low >= 0.1 && m.share_low <= 0.9 && gap > 4 * dev && gap > 0.1 * fabs(m.high);
    }
    free(v);
    return m;
}
