/*
 * measure_stats.h - statistics of window series: warm-up, independent batches, quantiles, two modes.
 *
 * Off the event path, doubles, GSL for the distribution functions. Nothing here allocates beyond what it frees; NAN
 * values must be taken out by the caller (measure_compact()).
 */
#ifndef WB_MEASURE_STATS_H
#define WB_MEASURE_STATS_H

#include "wakebal/base.h"

/* MSER-5 (White 1997, "An effective truncation heuristic for bias reduction in simulation output"): averages of five
 * neighbours; drop the prefix, at most half of the series, that minimises the squared standard error of the rest.
 * Returns how many observations to drop (a multiple of five); 0 when n < 20; SIZE_MAX when half would have to go: the
 * series is too short to say, or not steady. */
size_t measure_warmup_mser(const double *v, size_t n);

struct measure_batch {
    double mean, half_width; /* of the confidence interval; NAN when ok is false */
    double lag1;             /* autocorrelation of neighbouring batch means */
    size_t nbatches, size;   /* observations of the rest at the end are not used */
    bool ok;                 /* at least MEASURE_BATCHES_MIN batches whose lag-1 correlation is not significant */
};
#define MEASURE_BATCHES_MIN 8u
/* Batch means with the smallest batch (1, 2, 4, ...) whose lag-1 autocorrelation is below 1.96 / sqrt(nbatches) (von
 * Neumann's criterion in Law, "Simulation Modeling and Analysis", 9.5.3). confidence 0.95 = 95 %. */
struct measure_batch measure_batch_means(const double *v, size_t n, double confidence);
/* Half width of Student's interval of the mean of n values with standard deviation sd; NAN for n < 2. */
double measure_half_width(double sd, size_t n, double confidence);

void measure_sort(double *v, size_t n);
/* Copy what is not NAN to out; returns how many. */
size_t measure_compact(double *out, const double *v, size_t n);
/* Quantile p of sorted values by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996); NAN
 * for n == 0. */
double measure_quantile(const double *sorted, size_t n, double p);

/* The best split of sorted values in two clusters (exact 2-means in one dimension) and whether it is more than a cut
 * through one hump. gap = distance of the means over the pooled standard deviation inside the clusters. Cutting one
 * hump in two gives 2.7 for a normal and 3.5 for a uniform distribution, so two modes need a gap above 5 (1 + 10 /
 * n), by which short series of one hump pass in fewer than 1 of 100 cases; each must
 * hold 5 % of the values, and they must lie 2 % of the larger mean apart (else it is granularity, not behaviour). At
 * least 10 values. */
#define MEASURE_GAP_MIN 5.0
#define MEASURE_MODE_SHARE_MIN 0.05
#define MEASURE_MODE_DISTANCE_MIN 0.02
struct measure_modes {
    unsigned modes;    /* 1 or 2; 0 = no values */
    double low, high;  /* means of the modes; equal when there is one */
    double high_share; /* share of the values in the upper mode; 1 when there is one */
    double gap;        /* of the best split, also when it is not significant; at most 1000 */
};
struct measure_modes measure_modes(const double *sorted, size_t n);

#endif
