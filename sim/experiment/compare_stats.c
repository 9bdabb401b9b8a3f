#include "compare_stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>

#define NOISE 1e-10 /* relative: exports are written with twelve digits */
#define POWER 0.8   /* chance to find a change that is there */
#define NEEDED_MAX 1e9

struct moments {
    size_t n;
    double mean, var;
};

static struct moments moments_of(const double *v, size_t n)
{
    struct moments m = {.n = n};
    for (size_t i = 0; i < n; i++) m.mean += v[i] / (double)n;
    for (size_t i = 0; i < n && n > 1; i++) m.var += (v[i] - m.mean) * (v[i] - m.mean) / (double)(n - 1);
    return m;
}

/* Two-sided p and half width factor of a t test; handler off, since extreme values are our business. */
static void student(struct compare_change *c, double mean, double error, double df, double confidence)
{
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    double half = gsl_cdf_tdist_Qinv((1 - confidence) / 2, df) * error;
    c->p = 2 * gsl_cdf_tdist_Q(fabs(mean) / error, df);
    gsl_set_error_handler(old);
    c->lo = mean - half;
    c->hi = mean + half;
}

/* Samples that do not spread: the difference is what it is. */
static void take_exact(struct compare_change *c, double mean)
{
    bool same = fabs(mean) < NOISE;
    c->exact = true;
    c->lo = c->hi = same ? 0 : mean;
    c->change = c->lo;
    c->p = same ? 1 : 0;
}

static void test_pairs(struct compare_change *c, const double *a, const double *b, double confidence)
{
    double *d = malloc((c->n ? c->n : 1) * sizeof *d);
    WB_MEMORY(d, "out of memory for %zu pairs", c->n);
    for (size_t i = 0; i < c->n; i++) d[i] = b[i] - a[i];
    struct moments m = moments_of(d, c->n);
    free(d);
    c->change = m.mean;
    c->sd = sqrt(m.var);
    if (m.n < 2) return;
    if (c->sd < NOISE)
        take_exact(c, m.mean);
    else
        student(c, m.mean, c->sd / sqrt((double)m.n), (double)(m.n - 1), confidence);
}

static void test_apart(struct compare_change *c, const double *a, const double *b, double confidence)
{
    struct moments x = moments_of(a, c->n), y = moments_of(b, c->m);
    c->change = y.mean - x.mean;
    c->sd = sqrt((x.var + y.var) / 2);
    if (x.n < 2 || y.n < 2) return;
    double ex = x.var / (double)x.n, ey = y.var / (double)y.n, e = ex + ey;
    if (c->sd < NOISE) {
        take_exact(c, c->change);
        return;
    }
    double df = e * e / (ex * ex / (double)(x.n - 1) + ey * ey / (double)(y.n - 1));
    student(c, c->change, sqrt(e), df, confidence);
}

static size_t drop_missing(double *a, size_t na)
{
    size_t n = 0;
    for (size_t i = 0; i < na; i++)
        if (isfinite(a[i])) a[n++] = a[i];
    return n;
}

static size_t drop_missing_pairs(double *a, double *b, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i])) continue;
        a[kept] = a[i];
        b[kept++] = b[i];
    }
    return kept;
}

static bool all_positive(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(v[i] > 0)) return false;
    return true;
}

/* To what is tested: logarithms, or multiples of A's mean. false: A's mean is 0 and B's is not. */
static bool transform(struct compare_change *c, double *a, double *b)
{
    c->logs = all_positive(a, c->n) && all_positive(b, c->m);
    double unit = fabs(moments_of(a, c->n).mean);
    bool zero = !c->logs && unit == 0;
    if (zero) unit = 1;
    for (size_t i = 0; i < c->n; i++) a[i] = c->logs ? log(a[i]) : a[i] / unit;
    for (size_t i = 0; i < c->m; i++) b[i] = c->logs ? log(b[i]) : b[i] / unit;
    return !zero;
}

static double *copy(const double *v, size_t n)
{
    double *to = malloc((n ? n : 1) * sizeof *to);
    WB_MEMORY(to, "out of memory for %zu samples", n);
    for (size_t i = 0; i < n; i++) to[i] = v[i];
    return to;
}

struct compare_change compare_samples(const double *a, size_t na, const double *b, size_t nb, bool paired,
                                      double confidence)
{
    struct compare_change c = {
        .change = NAN, .lo = NAN, .hi = NAN, .p = NAN, .p_holm = NAN, .sd = NAN, .paired = paired};
    double *x = copy(a, na), *y = copy(b, nb);
    c.n = paired ? drop_missing_pairs(x, y, WB_MIN(na, nb)) : drop_missing(x, na);
    c.m = paired ? c.n : drop_missing(y, nb);
    if (c.n && c.m) {
        bool relative = transform(&c, x, y);
        (paired ? test_pairs : test_apart)(&c, x, y, confidence);
        if (c.logs) c.change = expm1(c.change), c.lo = expm1(c.lo), c.hi = expm1(c.hi);
        if (!relative && c.change != 0) c.change = c.lo = c.hi = NAN; /* no multiple of nothing */
    }
    free(x);
    free(y);
    return c;
}

/* ------------------------------------------------------------------ many tests */
static int by_p(const void *a, const void *b)
{
    const struct compare_change *x = *(struct compare_change *const *)a, *y = *(struct compare_change *const *)b;
    return (x->p > y->p) - (x->p < y->p);
}

void compare_holm(struct compare_change *const *c, size_t n)
{
    struct compare_change **order = malloc((n ? n : 1) * sizeof *order);
    WB_MEMORY(order, "out of memory for %zu tests", n);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(c[i]->p)) order[k++] = c[i];
    qsort(order, k, sizeof *order, by_p);
    double least = 0;
    for (size_t i = 0; i < k; i++) {
        least = fmax(least, fmin(1, (double)(k - i) * order[i]->p));
        order[i]->p_holm = least;
    }
    free(order);
}

size_t compare_needed(const struct compare_change *c, double size, double confidence)
{
    double step = c->logs ? log1p(size) : size, sides = c->paired ? 1 : 2, n = 2;
    if (isnan(c->sd) || WB_MIN(c->n, c->m) < 2 || !(size > 0)) return 0;
    if (c->sd < NOISE) return 2;
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    for (int i = 0; i < 50; i++) { /* the quantiles depend on n; it settles in a few steps */
        double df = fmax(1, sides * (n - 1)), t = gsl_cdf_tdist_Qinv((1 - confidence) / 2, df),
               power = gsl_cdf_tdist_Qinv(1 - POWER, df), r = (t + power) * c->sd / step,
               next = fmin(NEEDED_MAX, fmax(2, ceil(sides * r * r)));
        if (next == n) break;
        n = n < next ? fmin(next, n + fmax(1, (next - n) / 2)) : next;
        n = ceil(n);
    }
    gsl_set_error_handler(old);
    return n >= NEEDED_MAX ? 0 : (size_t)n;
}
