/* valid_score.c - what is right, what is covered, what is in the wrong order. */
#include "valid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Two modes: some runs mostly together, some mostly apart. */
static void find_modes(struct valid_case *c)
{
    uint32_t together = 0, apart = 0;
    double sum = 0;
    for (uint32_t i = 0; i < c->rounds; i++) {
        together += c->real_together[i] > 0.9;
        apart += c->real_together[i] < 0.1;
        sum += c->real_together[i];
    }
    c->real_mode_together = c->rounds ? sum / c->rounds : NAN;
    c->bimodal = c->klass == VALID_MODES || (together && apart && WB_MIN(together, apart) * 5 >= c->rounds);
}

void valid_score_case(struct valid_case *c)
{
    double v[VALID_ROUNDS_MAX];
    c->scored = c->predicted && !c->failed[0] && c->rounds > 0;
    if (!c->scored) return;
    memcpy(v, c->real, c->rounds * sizeof *v);
    qsort(v, c->rounds, sizeof *v, compare);
    c->median = valid_quantile(v, c->rounds, 0.5);
    c->p10 = valid_quantile(v, c->rounds, 0.1);
    c->p90 = valid_quantile(v, c->rounds, 0.9);
    c->error = c->mean / c->median - 1;
    c->runs_covered = 0;
    for (uint32_t i = 0; i < c->rounds; i++) c->runs_covered += v[i] >= c->lo && v[i] <= c->hi;
    c->covered = c->median >= c->lo && c->median <= c->hi;
    find_modes(c);
    c->by_range = c->mean >= c->p10 && c->mean <= c->p90;
    c->right = c->by_range || fabs(c->error) <= valid_classes[c->klass].band;
    /* With two modes a mean says nothing: the share of time together must agree within a quarter. */
    if (c->bimodal && isfinite(c->mode_together) && isfinite(c->real_mode_together))
        c->right = fabs(c->mode_together - c->real_mode_together) <= 0.25;
    valid_score_figures(c);
}

/* b really above a by more than twice their spread, but predicted below. */
static bool inverted(const struct valid_case *a, const struct valid_case *b, bool *decided)
{
    double spread = fmax((a->p90 - a->p10) / 2, (b->p90 - b->p10) / 2);
    *decided = b->median - a->median > 2 * spread;
    return *decided && b->mean < a->mean;
}

static void score_ranks(struct valid_set *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t j = 0; j < v->n; j++) {
            const struct valid_case *a = &v->c[i], *b = &v->c[j];
            bool decided;
            if (i == j || !a->scored || !b->scored || a->kind != b->kind || a->bimodal || b->bimodal) continue;
            bool wrong = inverted(a, b, &decided);
            v->pairs += decided;
            if (!wrong) continue;
            if (v->inversions < WB_ARRAY_SIZE(v->inversion)) {
                v->inversion[v->inversions].a = i;
                v->inversion[v->inversions].b = j;
            }
            v->inversions++;
        }
}

void valid_score(struct valid_set *v)
{
    double *error = malloc((v->n ? v->n : 1) * sizeof *error);
    uint32_t n = 0;
    v->right = v->scored = v->covered = v->runs = v->runs_covered = v->inversions = v->pairs = 0;
    memset(v->figure, 0, sizeof v->figure);
    for (size_t i = 0; i < v->n; i++) {
        struct valid_case *c = &v->c[i];
        valid_score_case(c);
        if (!c->scored) continue;
        v->scored++;
        v->right += c->right;
        for (int k = 0; k < VALID_FIGURES; k++) {
            v->figure[k].scored += c->figure[k].scored;
            v->figure[k].right += c->figure[k].right;
        }
        v->covered += c->covered;
        v->runs += c->rounds;
        v->runs_covered += c->runs_covered;
        if (error && !c->bimodal) error[n++] = fabs(c->error);
    }
    v->median_error = NAN;
    if (error && n) {
        qsort(error, n, sizeof *error, compare);
        v->median_error = valid_quantile(error, n, 0.5);
    }
    free(error);
    score_ranks(v);
}
