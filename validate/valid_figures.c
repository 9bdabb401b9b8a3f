/*
 * valid_figures.c - what is compared beside the throughput, each with its own band.
 *
 * A figure is right within the real runs' 10-90 % range or within its band around their median, by ratio, so that twice
 * and half as much are equally wrong. Counts have a slack too: a switch in ten operations, twenty migrations a second
 * are what an idle guest shows without a cause in the workload.
 */
#include "valid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wakebal/units.h"

#define TAIL 2.0            /* times the class's band for the 99 % quantile: assumed, no series of it was taken */
#define HACKBENCH_BAND 1.0  /* switches of one hackbench command vary four-fold: within half and twice */
#define MIGRATION_BAND 1.0  /* the same for migrations */
#define SWITCH_SLACK 0.1    /* for each operation */
#define MIGRATION_SLACK 20. /* a second */
#define TOGETHER_SLACK 0.25 /* as for throughput with two modes */

const struct valid_figure_info valid_figures[VALID_FIGURES] = {
    [VALID_P50] = {"p50", "s", "the class's band"},
    [VALID_P90] = {"p90", "s", "the class's band"},
    [VALID_P99] = {"p99", "s", "twice the class's band"},
    [VALID_SWITCHES] = {"switches", "1", "the class's band or 0.1 for each operation; hackbench: half to twice"},
    [VALID_MIGRATIONS] = {"migrations", "1/s", "half to twice, or 20 a second"},
    [VALID_TOGETHER] = {"together", "1", "a quarter"},
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double valid_quantile(const double *v, uint32_t n, double q)
{
    double at = q * (double)(n - 1);
    uint32_t i = (uint32_t)at;
    return i + 1 < n ? v[i] + (v[i + 1] - v[i]) * (at - i) : v[n - 1];
}

/* Bytes of a message: "64 KiB". */
static double message_bytes(const struct valid_case *c)
{
    int64_t n = 0;
    const char *why;
    size_t at;
    for (size_t i = 0; i < c->nkeys; i++)
        if (!strcmp(c->key[i], "message") && wb_parse_quantity(c->value[i], WB_UNIT_SIZE, &n, &why, &at)) n = 0;
    return n > 0 ? (double)n : NAN;
}

double valid_per_operation(const struct valid_case *c, double per_second, double value)
{
    if (c->kind == REAL_PIPE_BW) return per_second * message_bytes(c) / value;
    bool time = c->kind == REAL_PIPE_LATENCY || c->kind == REAL_HACKBENCH;
    return time ? per_second * value : per_second / value;
}

void valid_note_figure(struct valid_case *c, enum valid_figure_kind k, double v)
{
    if (c->rounds < VALID_ROUNDS_MAX) c->figure[k].real[c->rounds] = v;
}

/* Allowed ratio less one, and allowed difference. */
static void band_of(const struct valid_case *c, enum valid_figure_kind k, double *band, double *slack)
{
    *band = valid_classes[c->klass].band;
    *slack = 0;
    if (k == VALID_P99) *band *= TAIL;
    if (k == VALID_SWITCHES && c->kind == REAL_HACKBENCH) *band = HACKBENCH_BAND;
    if (k == VALID_SWITCHES && c->kind != REAL_HACKBENCH) *slack = SWITCH_SLACK;
    if (k == VALID_MIGRATIONS) *band = MIGRATION_BAND, *slack = MIGRATION_SLACK;
    if (k == VALID_TOGETHER) *band = 0, *slack = TOGETHER_SLACK;
}

static void score(const struct valid_case *c, enum valid_figure_kind k, struct valid_figure *f)
{
    double v[VALID_ROUNDS_MAX], band, slack;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->rounds; i++)
        if (isfinite(f->real[i])) v[n++] = f->real[i];
    f->median = f->p10 = f->p90 = NAN;
    f->scored = f->right = false;
    if (!n) return;
    qsort(v, n, sizeof *v, compare);
    f->median = valid_quantile(v, n, 0.5);
    f->p10 = valid_quantile(v, n, 0.1);
    f->p90 = valid_quantile(v, n, 0.9);
    f->scored = c->scored && isfinite(f->predicted);
    if (!f->scored) return;
    band_of(c, k, &band, &slack);
    bool in_range = f->predicted >= f->p10 && f->predicted <= f->p90;
    bool in_band = f->predicted > 0 && f->median > 0 && fabs(log(f->predicted / f->median)) <= log1p(band);
    f->right = in_range || in_band || fabs(f->predicted - f->median) <= slack;
}

void valid_score_figures(struct valid_case *c)
{
    for (int k = 0; k < VALID_FIGURES; k++) score(c, (enum valid_figure_kind)k, &c->figure[k]);
}
