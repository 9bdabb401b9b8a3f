#include "compare_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const compare_verdict_name[] = {
    [COMPARE_UNKNOWN] = "too few samples", [COMPARE_SAME] = "same",   [COMPARE_NOT_CLEAR] = "no clear change",
    [COMPARE_BETTER] = "better",           [COMPARE_WORSE] = "worse", [COMPARE_CHANGED] = "changed"};

static void *need(void *p)
{
    WB_MEMORY(p, "out of memory for a comparison");
    return p;
}

/* ------------------------------------------------------------------ which figures */
static bool is_named(const char *list, const struct compare_metric *m)
{
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ","), name = strcspn(p, ",@");
        bool workload = name < n;
        if (strlen(m->name) == name && !strncmp(p, m->name, name) &&
            (!workload ||
             (m->workload && strlen(m->workload) == n - name - 1 && !strncmp(p + name + 1, m->workload, n - name - 1))))
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

/* Without a list: what is better one way or the other, and no part of something else; of latencies the 99th, too. */
static bool wanted(const struct compare_options *o, const struct compare_metric *m)
{
    const char *dot = strchr(m->name, '.');
    if (!o->metrics) return m->better != WB_BETTER_NONE && (!dot || !strcmp(dot, ".p99"));
    return !strcmp(o->metrics, "all") || is_named(o->metrics, m);
}

static const struct compare_metric *find_metric(const struct compare_point *p, const struct compare_metric *like)
{
    for (size_t i = 0; p && i < p->nmetrics; i++) {
        const struct compare_metric *m = &p->metric[i];
        bool same =
            m->workload && like->workload ? !strcmp(m->workload, like->workload) : m->workload == like->workload;
        if (same && !strcmp(m->name, like->name)) return m;
    }
    return NULL;
}

static const struct compare_point *find_point(const struct compare_set *s, const struct compare_set *base, size_t i)
{
    if (s->n == 1 && base->n == 1) return s->point;
    for (size_t k = 0; k < s->n; k++)
        if (!strcmp(s->point[k].label, base->point[i].label)) return &s->point[k];
    return NULL;
}

/* ------------------------------------------------------------------ rows */
static void fill_cell(const struct compare_table *t, struct compare_cell *c, const struct compare_point *base,
                      const struct compare_point *p, const struct compare_metric *like)
{
    const struct compare_metric *a = find_metric(base, like);
    c->metric = find_metric(p, like);
    c->change = (struct compare_change){.change = NAN, .lo = NAN, .hi = NAN, .p = NAN, .p_holm = NAN, .sd = NAN};
    if (!c->metric) return;
    c->sum = exp_summarize(c->metric->sample, c->metric->n, t->confidence);
    if (p == base || !a) return;
    c->change = compare_samples(a->sample, a->n, c->metric->sample, c->metric->n, p->seed == base->seed, t->confidence);
}

static void add_row(struct compare_table *t, size_t point, const struct compare_metric *m)
{
    const struct compare_point *base = &t->set[0].point[point];
    t->row = need(realloc(t->row, (t->n + 1) * sizeof *t->row));
    struct compare_row *r = &t->row[t->n++];
    *r = (struct compare_row){
        .point = point, .label = base->label, .metric = m, .cell = need(calloc(t->nsets, sizeof *r->cell))};
    for (size_t s = 0; s < t->nsets; s++)
        fill_cell(t, &r->cell[s], base, s ? find_point(&t->set[s], t->set, point) : base, m);
}

static int by_name(const void *a, const void *b)
{
    const struct compare_metric *x = *(const struct compare_metric *const *)a,
                                *y = *(const struct compare_metric *const *)b;
    int c = strcmp(x->name, y->name);
    if (c) return c;
    return x->workload && y->workload ? strcmp(x->workload, y->workload)
                                      : (y->workload != NULL) - (x->workload != NULL);
}

/* The deciding metric first, the others by name. */
static void add_rows(struct compare_table *t, size_t point, const struct compare_options *o)
{
    const struct compare_point *p = &t->set[0].point[point];
    const struct compare_metric **m = need(calloc(p->nmetrics + 1, sizeof *m));
    size_t n = 0;
    for (size_t i = 0; i < p->nmetrics; i++)
        if (wanted(o, &p->metric[i])) m[n++] = &p->metric[i];
    if (n) qsort(m, n, sizeof *m, by_name);
    for (int first = 1; first >= 0; first--)
        for (size_t i = 0; i < n; i++)
            if ((p->primary && !strcmp(m[i]->name, p->primary)) == first) add_row(t, point, m[i]);
    free(m);
}

/* ------------------------------------------------------------------ verdicts */
static enum compare_verdict judge(const struct compare_change *c, enum wb_better better, double alpha)
{
    if (isnan(c->p)) return COMPARE_UNKNOWN;
    if (c->exact && c->p == 1) return COMPARE_SAME;
    if (!(c->p_holm < alpha)) return COMPARE_NOT_CLEAR;
    if (better == WB_BETTER_NONE || isnan(c->change)) return COMPARE_CHANGED;
    return (c->change > 0) == (better == WB_BETTER_HIGHER) ? COMPARE_BETTER : COMPARE_WORSE;
}

static void judge_all(struct compare_table *t)
{
    size_t n = 0;
    struct compare_change **c = need(calloc(t->n * t->nsets + 1, sizeof *c));
    for (size_t i = 0; i < t->n; i++)
        for (size_t s = 1; s < t->nsets; s++) {
            struct compare_change *x = &t->row[i].cell[s].change;
            c[n++] = x;
            if (isnan(x->p)) continue;
            t->tests++;
            ++*(x->paired ? &t->pairs : &t->apart);
        }
    compare_holm(c, n);
    free(c);
    for (size_t i = 0; i < t->n; i++)
        for (size_t s = 1; s < t->nsets; s++)
            t->row[i].cell[s].verdict = judge(&t->row[i].cell[s].change, t->row[i].metric->better, 1 - t->confidence);
}

/* First name of the list that no point has. */
static char *find_unknown(const struct compare_set *set, const char *list)
{
    for (const char *p = list; p && strcmp(list, "all") && *p;) {
        size_t n = strcspn(p, ",");
        char *one = need(strndup(p, n));
        bool known = false;
        for (size_t i = 0; i < set->n && !known; i++)
            for (size_t k = 0; k < set->point[i].nmetrics && !known; k++)
                known = is_named(one, &set->point[i].metric[k]);
        if (!known) return one;
        free(one);
        p += n + (p[n] == ',');
    }
    return NULL;
}

struct compare_table *compare_table_new(const struct compare_set *set, size_t n, const struct compare_options *opt,
                                        char **unknown)
{
    struct compare_table *t = need(calloc(1, sizeof *t));
    WB_CHECK(n >= 1 && set->n >= 1, "a comparison of nothing");
    t->set = set;
    t->nsets = n;
    t->confidence = opt->confidence > 0 ? opt->confidence : set->point[0].confidence;
    *unknown = find_unknown(set, opt->metrics);
    for (size_t i = 0; i < set->n; i++) {
        bool missing = false;
        for (size_t s = 1; s < n; s++) missing |= !find_point(&set[s], set, i);
        t->missing += missing;
        add_rows(t, i, opt);
    }
    judge_all(t);
    return t;
}

void compare_table_free(struct compare_table *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->n; i++) free(t->row[i].cell);
    free(t->row);
    free(t);
}

const char *compare_stars(const struct compare_change *c)
{
    double p = c->p_holm;
    return isnan(p) || p >= 0.05 ? "" : p < 0.001 ? "***" : p < 0.01 ? "**" : "*";
}

double compare_geomean(const struct compare_table *t, size_t set)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct compare_row *r = &t->row[i];
        double ratio = 1 + r->cell[set].change.change;
        if (r->metric->better == WB_BETTER_NONE || !(ratio > 0) || isinf(ratio)) continue;
        sum += r->metric->better == WB_BETTER_HIGHER ? log(ratio) : -log(ratio);
        n++;
    }
    return n ? exp(sum / (double)n) : NAN;
}
