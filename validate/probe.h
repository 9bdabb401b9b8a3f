/*
 * probe.h - what this machine costs: small measurements in user mode, each of one thing.
 *
 * A probe is one row of a table: a function that takes one sample of a few figures in some milliseconds. probe_all()
 * runs them round after round (A B C A B C ...), so that drift and bursts of other load hit all alike; a figure's value
 * is the median over the rounds, its interval the order statistics that hold the true median with 95 %, widened to the
 * medians of fifths of the rounds (machines drift). Probes of
 * distances run once for each distance that the machine has, on one pair of CPUs of each.
 *
 * Times are ns, rates bytes/s, frequencies Hz, shares 0..1, counts for each trip, differences ns that noise may
 * take below 0. Nothing needs privileges; what the machine refuses (a
 * second CPU, an affinity) leaves its figures out, and probe_missing() says why. Children die with their parent
 * (PR_SET_PDEATHSIG).
 */
#ifndef WB_VALIDATE_PROBE_H
#define WB_VALIDATE_PROBE_H

#include <signal.h>

#include "real.h"
#include "wakebal/machine.h"
#include "wakebal/units.h"

#define PROBE_ROUNDS_MAX 64u
#define PROBE_NAME 56u

/* A distribution is taken in cells: the quantile in the middle of each, in each round, so that one burst of other load
 * does not make the tail. Per cent of all samples that a cell stands for; small at the ends. */
#define PROBE_CELLS 24
extern const uint8_t probe_cell_weight[PROBE_CELLS];

enum probe_unit { PROBE_NS, PROBE_RATE, PROBE_HZ, PROBE_SHARE, PROBE_COUNT, PROBE_DIFFERENCE };

/* A figure, sample by sample. */
struct probe_figure {
    char name[PROBE_NAME]; /* "l2_latency", "transfer.llc" */
    enum probe_unit unit;
    double sample[PROBE_ROUNDS_MAX]; /* in order of the rounds; finite */
    uint8_t round[PROBE_ROUNDS_MAX]; /* in which round each was taken */
    uint32_t n;
    double median, lo, hi; /* after probe_all */
};

/* Many samples of one thing, whose distribution counts: single wake latencies, gaps. */
struct probe_spread {
    char name[PROBE_NAME];
    float *v; /* ns, sorted after probe_all */
    uint32_t n, room;
};

struct probe_set {
    struct probe_figure *figure;
    uint32_t n, room;
    struct probe_spread *spread;
    uint32_t nspreads;
    char missing[16][120]; /* what could not be had, and why */
    uint32_t nmissing;
    double seconds; /* that it took */
    uint32_t rounds;
};

struct probe_options {
    uint32_t rounds;       /* 25 is what calibration takes */
    struct real_cpus cpus; /* CPUs that may be used; empty = those of the caller */
    const char *only;      /* names of probes, blank-separated; NULL = all */
    const volatile sig_atomic_t *stop;
    void (*progress)(void *ctx, uint32_t round, uint32_t rounds, const char *probe);
    void *ctx;
};

/* Run all probes. 0; -EINTR when *stop was raised; -errno with an error in d. On 0 the caller owns *out
 * (probe_free). topo: the live machine's. */
int probe_all(const struct wb_topology *topo, const struct probe_options *o, struct probe_set *out,
              struct wb_diag *d) WB_MUST_USE;
/* o->rounds more rounds into *s, of which probe_all made the first: what they give stands beside what was there, and
 * medians and intervals are those of all. At most PROBE_ROUNDS_MAX rounds come together. On failure *s is as it was,
 * less order and what was left out. */
int probe_more(const struct wb_topology *topo, const struct probe_options *o, struct probe_set *s,
               struct wb_diag *d) WB_MUST_USE;
void probe_free(struct probe_set *s);
/* NULL: not there. */
const struct probe_figure *probe_find(const struct probe_set *s, const char *name);
const struct probe_spread *probe_find_spread(const struct probe_set *s, const char *name);
/* The figure of a distribution's cell: "far_hop_0" of "llc", cell 3 -> "far_hop_0_q03.llc". */
const struct probe_figure *probe_find_cell(const struct probe_set *s, const char *name, const char *far, uint32_t cell);
/* Quantile (0..1) of a spread; NAN without samples. */
double probe_quantile(const struct probe_spread *s, double q);
/* Median and the interval that holds the true one with 95 % (order statistics; with fewer than 6 samples the range).
 * v is sorted by it. */
void probe_median(double *v, uint32_t n, double *median, double *lo, double *hi);
/* One line on what a figure is and how it is taken; "" = unknown name. */
const char *probe_method(const char *figure);
/* ns that a line takes to CPU `at` that CPU `other` has just modified: some milliseconds. NAN when it cannot be had.
 * Virtual CPUs are moved between physical ones, so it may be several times as long a minute later. */
double probe_line_move(cpu_id at, cpu_id other);
/* When a line's move had two lengths, 1.6-fold apart or more, keep the samples of distance `far` ("llc") from those
 * rounds that began and ended with the more frequent one; s->missing says so. probe_all does it. */
void probe_keep_one_distance(struct probe_set *s, const char *far);
/* Wall time of one round, about, in seconds. */
double probe_round_seconds(void);

#endif
