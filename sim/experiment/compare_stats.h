/*
 * compare_stats.h - how much B differs from A, how sure that is, and how many replications it would take.
 *
 * Figures of simulations spread by ratios rather than by amounts, so where all samples are positive the test is on
 * logarithms and the change is the ratio of geometric means less one; else it is on differences, in units of A's
 * mean. Samples of the same replication and seed have met the same arrivals and are taken in pairs (Student's t on
 * the differences); others are compared by Welch's t. Where samples do not spread at all the change is exact.
 */
#ifndef WB_EXPERIMENT_COMPARE_STATS_H
#define WB_EXPERIMENT_COMPARE_STATS_H

#include "exp_stats.h"

struct compare_change {
    double change, lo, hi; /* of A, for example -0.14; interval NAN below two samples; NAN when A is 0 */
    double p;              /* two-sided; NAN below two samples */
    double p_holm;         /* after compare_holm() */
    double sd;             /* of what the test is on: pairs, or pooled; on logs or in units of A's mean */
    size_t n, m;           /* samples used of A and of B; pairs: equal */
    bool paired, logs, exact;
};

/* Samples that are NAN are left out, in pairs both. */
struct compare_change compare_samples(const double *a, size_t na, const double *b, size_t nb, bool paired,
                                      double confidence);
/* Holm's correction (1979) over n tests: fills p_holm; tests without a p do not count. */
void compare_holm(struct compare_change *const *c, size_t n);
/* How many replications (pairs, or on each side) would find a change of `size` in four of five studies, at this
 * confidence: n ~ k ((t(1 - a/2) + t(0.8)) sd / size)^2 with k = 1 for pairs, 2 else, by iteration over the degrees
 * of freedom. 0: cannot be said. */
size_t compare_needed(const struct compare_change *c, double size, double confidence);

#endif
