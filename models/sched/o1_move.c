/*
 * o1_move.c - move_tasks() and can_migrate_task(): which queued tasks go.
 *
 * Expired array before active, best priority first, and within a list from the tail: who was queued last. 2.6.22 also
 * limits the sum of weights and passes over tasks that are too heavy, unless that would leave the best priority behind.
 */
#include "o1.h"

struct moving {
    struct wb_exec *x;
    const struct o1_sim *o;
    struct wb_balance *b;
    struct wb_rq *src, *dst;
    uint64_t tasks_left;
    int64_t weight_left;
    uint32_t best_here, best_there;
    bool best_seen; /* a task of the source's best priority was passed over: others of it need not stay */
};

static bool tried_often(const struct moving *m, bool more_than)
{
    uint32_t failed = m->b->sd->nr_balance_failed, tries = m->b->sd->level->cache_nice_tries;
    return more_than ? failed > tries : failed >= tries;
}

/* The hot test of the version: does this task's cache content keep it where it is? */
static bool kept_by_cache(const struct moving *m, const struct o1_task *p)
{
    bool hot = o1_hot(m->o, p, o1_rq(m->src), m->b->sd);
    if (m->o->v->weighted) return !tried_often(m, true) && hot;
    if (m->o->v->hot_unless_idle) return !tried_often(m, true) && hot && !o1_core_idle(m->x, m->dst->cpu);
    return (m->b->kind == WB_BAL_NEWIDLE || !tried_often(m, false)) && hot;
}

static bool can_migrate(struct moving *m, const struct o1_task *p)
{
    m->b->loops++;
    if (!m->o->v->weighted && p->t == m->src->curr) return false;
    if (!wb_mask_test(p->t->allowed, m->dst->cpu)) return false;
    m->b->flags &= ~(uint32_t)LADDER_PINNED;
    if (p->t == m->src->curr || p->t->on_cpu) return false;
    return !kept_by_cache(m, p);
}

static bool skipped_for_weight(struct moving *m, const struct o1_task *p, uint32_t prio)
{
    if (!m->o->v->weighted || (int64_t)p->weight <= m->weight_left) return false;
    if (prio >= m->best_here) return true;
    return !m->best_seen && prio == m->best_there;
}

static void pull(struct moving *m, struct o1_task *p)
{
    int i = ladder_stat_index(m->b);
    if (m->b->sd->stats) {
        m->b->sd->stats->lb_gained[i]++;
        m->b->sd->stats->lb_hot_gained[i] += o1_hot(m->o, p, o1_rq(m->src), m->b->sd);
    }
    p->pulled = true;
    wb_move_task(m->x, m->b, p->t, m->b->rule);
    m->tasks_left--;
    m->weight_left -= p->weight;
}

static bool done(const struct moving *m)
{
    return !m->tasks_left || (m->o->v->weighted && m->weight_left <= 0);
}

/* One list, from the tail. */
static void move_list(struct moving *m, struct o1_array *a, uint32_t prio)
{
    struct o1_task *p = o1_array_head(a, prio)->prev;
    for (bool last = false; !last && !done(m);) {
        struct o1_task *next = p->prev;
        last = p == o1_array_head(a, prio);
        if (skipped_for_weight(m, p, prio) || !can_migrate(m, p)) {
            m->best_seen |= prio == m->best_there;
        } else {
            pull(m, p);
            m->best_here = WB_MIN(m->best_here, prio);
        }
        p = next;
    }
}

static void move_array(struct moving *m, struct o1_array *a)
{
    if (!a->nr) return;
    for (uint32_t prio = o1_array_best(a, 0); prio < O1_PRIOS && !done(m); prio = o1_array_best(a, prio + 1))
        move_list(m, a, prio);
}

static uint32_t best_prio(const struct wb_rq *rq)
{
    return WB_MIN(o1_curr_prio(rq), (uint32_t)o1_rq(rq)->best_expired_prio);
}

void o1_move_tasks(struct wb_exec *x, struct wb_balance *b, uint64_t max_tasks, uint64_t max_weight)
{
    struct moving m = {.x = x, .o = o1_of(x), .b = b, .tasks_left = max_tasks};
    m.src = wb_rq(x->sim, b->src);
    m.dst = wb_rq(x->sim, b->dst);
    m.weight_left = (int64_t)WB_MIN(max_weight, (uint64_t)INT64_MAX);
    wb_charge_fn(x, m.o->fn_move_tasks);
    if (!max_tasks || !max_weight || (!m.o->v->weighted && m.src->nr_running <= 1)) return;
    b->flags |= LADDER_PINNED;
    m.best_here = best_prio(m.dst);
    m.best_there = best_prio(m.src);
    m.best_seen = m.best_there == o1_curr_prio(m.src);
    move_array(&m, o1_rq(m.src)->expired);
    move_array(&m, o1_rq(m.src)->active);
}
