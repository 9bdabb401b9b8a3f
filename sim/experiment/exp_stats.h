/*
 * exp_stats.h - what replications say: mean, spread, interval, outliers, modes.
 *
 * Samples are in order of replication. A NAN among them (a figure that did not exist in that replication) is
 * left out and counted in `missing`; what cannot be said is NAN, never a guess. GSL supplies the quantiles;
 * its aborting error handler is off.
 */
#ifndef WB_EXPERIMENT_EXP_STATS_H
#define WB_EXPERIMENT_EXP_STATS_H

#include "wakebal/base.h"

struct exp_summary {
    size_t n, missing; /* samples used, samples that were NAN */
    double mean, sd;   /* sd NAN below two samples */
    double lo, hi;     /* confidence interval of the mean by Student's t; NAN below two samples */
    double min, max, median;
};

/* confidence in 0..1. */
struct exp_summary exp_summarize(const double *sample, size_t n, double confidence);
/* Half width of the interval over |mean|; 0 when all samples agree, INFINITY when it cannot be said. */
double exp_relative_half_width(const struct exp_summary *s);
/* How many samples would bring the half width down to `goal` (relative), by n ~ (t sd / (goal mean))^2. 0:
 * cannot be said. */
size_t exp_samples_needed(const struct exp_summary *s, double goal, double confidence);
/* Distance of sample i from the median in units of the scaled median absolute deviation (1.4826 MAD); 0 when
 * that is 0. */
double exp_mad_score(const double *sample, size_t n, size_t i);

/* Two clusters with an empty middle: the best split into a lower and an upper part, by least squares on
 * sorted values. */
struct exp_modes {
    bool bimodal;
    double low, high; /* means of the parts */
    double share_low; /* of the samples */
};
/* Bimodal: each part holds at least a tenth of the samples, and their means lie more than four pooled
 * deviations and a tenth of the larger mean apart. Needs at least eight samples. The rule is ours; Ashman's D
 * > 2 is the usual mildest criterion. */
struct exp_modes exp_modes(const double *sample, size_t n);

#endif
