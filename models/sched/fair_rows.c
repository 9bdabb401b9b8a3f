/* fair_rows.c - see fair_rows.h. */
#include "fair.h"

#include <string.h>

static const struct wb_sd *highest(struct wb_sim *s, cpu_id c)
{
    const struct wb_sd *top = NULL;
    WB_FOR_EACH_SD(sd, wb_rq(s, c)) top = sd;
    return top;
}

static void keep_sums(struct wb_sim *s, struct fair_sim *f)
{
    struct fair_rows *k = &f->rows;
    const struct wb_sd *top = highest(s, 0);
    if (!top || top->span_weight != f->ncpus) return;
    for (cpu_id c = 1; c < f->ncpus; c++) {
        const struct wb_sd *sd = highest(s, c);
        if (!sd || sd->groups != top->groups) return;
    }
    k->top = top->groups;
    k->ntop = top->ngroups;
    k->sum = wb_sim_alloc(s, k->ntop * sizeof *k->sum);
    k->sum_of = wb_sim_alloc(s, f->ncpus * sizeof *k->sum_of);
    memset(k->sum, 0, k->ntop * sizeof *k->sum);
    for (uint32_t i = 0; i < k->ntop; i++)
        WB_FOR_EACH_CPU (c, &k->top[i].mask) k->sum_of[c] = i;
}

void fair_rows_init(struct wb_sim *s, struct fair_sim *f)
{
    struct fair_rows *k = &f->rows;
    if (f->ncpus < FAIR_ROWS_CPUS || f->v->release < FAIR_5_4 || f->bal.asym_capacity) return;
    k->stale = (struct wb_cpumask){.ncpus = f->ncpus, .nwords = WB_CPUMASK_WORDS(f->ncpus)};
    k->stale.w = wb_sim_alloc(s, k->stale.nwords * sizeof *k->stale.w);
    memset(k->stale.w, 0, k->stale.nwords * sizeof *k->stale.w);
    k->row = wb_sim_alloc(s, f->ncpus * sizeof *k->row);
    for (cpu_id c = 0; c < f->ncpus; c++) wb_mask_set(&k->stale, c);
    keep_sums(s, f);
}

static struct fair_row row_of(const struct fair_sim *f, const struct wb_rq *rq)
{
    const struct fair_rq *r = fair_rq(rq);
    return (struct fair_row){.load = fair_cpu_load(f, r),
                             .runnable = fair_cpu_runnable(r),
                             .load_avg = r->avg.load_avg,
                             .util = (uint32_t)fair_cpu_util(f, r),
                             .nr = rq->nr_running,
                             .h_nr = fair_nr_runnable(f, r)};
}

static bool same(const struct fair_row *a, const struct fair_row *b)
{
    return a->load == b->load && a->runnable == b->runnable && a->load_avg == b->load_avg && a->util == b->util &&
           a->nr == b->nr && a->h_nr == b->h_nr;
}

bool fair_rows_good(struct wb_sim *s, const struct fair_sim *f, const struct wb_cpumask *m)
{
    WB_FOR_EACH_CPU (c, m) {
        struct fair_row now = row_of(f, wb_rq(s, c));
        if (!wb_mask_test(&f->rows.stale, c) && !same(&now, &f->rows.row[c])) return false;
    }
    return true;
}

static void refresh(struct wb_sim *s, struct fair_sim *f, const struct wb_cpumask *m)
{
    struct fair_rows *k = &f->rows;
    for (uint32_t i = m->skip; i < m->nwords - m->tail; i++) {
        uint64_t stale = k->stale.w[i] & m->w[i];
        k->stale.w[i] &= ~stale;
        for (; stale; stale &= stale - 1) {
            cpu_id c = i * 64 + (cpu_id)__builtin_ctzll(stale);
            k->row[c] = row_of(f, wb_rq(s, c));
        }
    }
}

static void add(const struct fair_sim *f, struct fair_row_sum *sum, cpu_id c)
{
    const struct fair_row *r = &f->rows.row[c];
    uint64_t capacity = fair_capacity(f, c);
    sum->load += r->load;
    sum->runnable += r->runnable;
    sum->load_avg += r->load_avg;
    sum->util += r->util;
    sum->nr += r->nr;
    sum->h_nr += r->h_nr;
    sum->room = WB_MAX(sum->room, capacity - WB_MIN(capacity, r->util));
    sum->max_nr = WB_MAX(sum->max_nr, r->nr);
    sum->empty += !r->nr;
}

struct fair_row_sum fair_rows_sum(struct wb_sim *s, struct fair_sim *f, const struct wb_sg *g)
{
    struct fair_rows *k = &f->rows;
    struct fair_row_sum now = {.good = true};
    bool kept = k->sum && g >= k->top && g < k->top + k->ntop;
    WB_DEBUG_CHECK(fair_rows_good(s, f, &g->mask), "a queue has changed and its row was not marked");
    if (kept && k->sum[g - k->top].good) return k->sum[g - k->top];
    refresh(s, f, &g->mask);
    WB_FOR_EACH_CPU (c, &g->mask) add(f, &now, c);
    if (kept) k->sum[g - k->top] = now;
    return now;
}

uint32_t fair_rows_idle(struct wb_sim *s, const struct fair_sim *f, const struct wb_sg *g, const struct wb_task *t,
                        fair_row_idle *idle)
{
    uint32_t n = 0;
    WB_FOR_EACH_CPU (c, &g->mask) n += !f->rows.row[c].nr && idle(f, wb_rq(s, c), t);
    return n;
}
