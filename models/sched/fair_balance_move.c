/*
 * fair_balance_move.c - which tasks go: balance_tasks(), detach_tasks(), can_migrate_task(), task_hot().
 *
 * 2.6.23, 2.6.24: the queue's tree from the left, by weight. 2.6.35, 2.6.36: the list of tasks from the most recently
 * queued on. 5.4 and later: from the least recently run on; by load, utilisation, number, or fit.
 */
#include "fair_groups.h"

struct moving {
    struct wb_exec *x;
    const struct fair_sim *f;
    struct wb_balance *b;
    struct fair_pass *pass;
    struct wb_rq *src, *dst;
    uint32_t loops, moved;
    bool active; /* the migration thread asks */
};

/* ---- may it go? ---- */

static bool buddy(const struct moving *m, const struct fair_task *p)
{
    const struct fair_rq *r = fair_rq(m->src);
    return m->f->br->buddies_hot && fair_on(m->f, FAIR_F_CACHE_HOT_BUDDY) && m->dst->nr_running &&
           (r->next == p || r->last == p);
}

static bool hot(const struct moving *m, const struct fair_task *p)
{
    const struct fair_sim *f = m->f;
    if (!f->br->hot_test || !f->bal.cache_hot) return false;
    if (f->v->release >= FAIR_5_4 && p->t->klass == WB_CLASS_IDLE) return false;
    if (f->v->release >= FAIR_5_15 && m->b->sd->flags & WB_SD_SHARE_CPUPOWER) return false;
    if (buddy(m, p)) return true;
    if (!f->migration_cost) return false;
    return (int64_t)(fair_rq(m->src)->clock - p->exec_start) < (int64_t)f->migration_cost;
}

/* 3.7+: another CPU of the destination's group may do instead. */
static void bound_elsewhere(const struct moving *m, const struct fair_task *p)
{
    struct wb_balance *b = m->b;
    if (m->f->v->release < FAIR_5_4) return;
    b->flags |= LADDER_SOME_PINNED;
    if (fair_newly_idle(b) || b->flags & LADDER_NEW_DST || m->active) return;
    const struct wb_sg *g = wb_sd_group(b->sd, 0);
    WB_FOR_EACH_CPU_AND (c, &g->mask, p->t->allowed) {
        if (c == b->dst || ladder_is_excluded(&m->pass->excluded, c)) continue;
        b->flags |= LADDER_NEW_DST;
        m->pass->new_dst = c;
        return;
    }
}

static bool can_migrate(const struct moving *m, const struct fair_task *p)
{
    const struct wb_task *t = p->t;
    const struct wb_sd *sd = m->b->sd;
    m->b->loops++;
    if (m->f->br->ineligible_stays && !m->active) {
        if (p->delayed && m->pass->move != FAIR_MOVE_LOAD) return false;
        if (!sd->nr_balance_failed && fair_on(m->f, FAIR_F_PLACE_LAG) && fair_rq(m->dst)->nr &&
            !fair_eligible(fair_rq(m->src), p))
            return false;
    }
    if (!wb_mask_test(t->allowed, m->dst->cpu)) {
        bound_elsewhere(m, p);
        return false;
    }
    m->b->flags &= ~(uint32_t)LADDER_PINNED;
    if (t == m->src->curr || t->on_cpu) return false;
    if (m->active && m->f->v->release >= FAIR_5_15) return true;
    return sd->nr_balance_failed > sd->level->cache_nice_tries || !hot(m, p);
}

static void take(struct moving *m, struct fair_task *p)
{
    struct wb_sd_stats *st = m->b->sd->stats;
    int i = ladder_stat_index(m->b);
    if (st) {
        st->lb_gained[i]++;
        st->lb_hot_gained[i] += hot(m, p);
    }
    wb_move_task(m->x, m->b, p->t, m->b->rule);
    m->moved++;
    m->pass->nmoved++;
}

static bool one_is_enough(const struct moving *m)
{
    return fair_newly_idle(m->b) && m->f->bal.newidle_one;
}

/* ---- 2.6.23 .. 2.6.36: by weight ---- */

static uint32_t prio_of(const struct wb_task *t)
{
    return t->klass == WB_CLASS_SWAPPER ? 140u
           : fair_is_rt(t)              ? 99u - WB_MIN(t->rt_prio, 99u)
                                        : (uint32_t)(120 + t->nice);
}

/* Heavier than twice what is left, unless it would be the best of its new CPU (up to 2.6.31). */
static bool too_heavy(const struct moving *m, const struct fair_task *p, uint32_t best_prio)
{
    if ((int64_t)(p->weight.value >> 1) <= m->pass->left + (int64_t)m->f->br->busiest.fuzz) return false;
    return m->f->br->order != FAIR_PULL_TREE || prio_of(p->t) >= best_prio;
}

static struct fair_task *first_by_weight(const struct moving *m)
{
    struct fair_rq *r = fair_rq(m->src);
    if (m->f->br->order == FAIR_PULL_HEAD) return r->head;
    return r->tree.first ? fair_of_node(r->tree.first) : NULL;
}

static struct fair_task *next_by_weight(const struct moving *m, struct fair_task *p)
{
    if (m->f->br->order == FAIR_PULL_HEAD) return p->next;
    struct fair_node *n = fair_tree_next(&p->node);
    return n ? fair_of_node(n) : NULL;
}

/* One walk over the tasks: at most nr_migrate + 1 of them. */
static void walk_weight(struct moving *m)
{
    uint32_t best_prio = prio_of(m->dst->curr);
    struct fair_task *next;
    m->loops = 0;
    for (struct fair_task *p = first_by_weight(m); p; p = next) {
        next = next_by_weight(m, p);
        if (m->f->br->limited && m->loops++ > m->f->nr_migrate) return;
        if (too_heavy(m, p, best_prio) || !can_migrate(m, p)) continue;
        take(m, p);
        m->pass->left -= (int64_t)p->weight.value;
        if (m->pass->left <= 0 || (m->f->br->order == FAIR_PULL_HEAD && one_is_enough(m))) return;
        best_prio = WB_MIN(best_prio, prio_of(p->t));
    }
}

/* move_tasks: from 2.6.32 on walks are repeated while they move something. */
static void pull_weight(struct moving *m)
{
    uint32_t before;
    do {
        before = m->moved;
        walk_weight(m);
        if (m->f->br->order == FAIR_PULL_TREE || (one_is_enough(m) && m->dst->nr_running)) return;
    } while (m->moved != before && m->pass->left > 0);
}

/* ---- 5.4 and later: by what the pass moves ---- */

static uint64_t relaxed(const struct moving *m, uint64_t v)
{
    return v >> WB_MIN(m->b->sd->nr_balance_failed, 63u);
}

/* Does the amount allow it? Takes it off what is left. */
static bool within(struct moving *m, const struct fair_task *p)
{
    const struct fair_sim *f = m->f;
    int64_t *left = &m->pass->left;
    uint64_t load = fair_task_h_load(p), util = fair_task_util_est(f, p);
    switch (m->pass->move) {
    case FAIR_MOVE_LOAD:
        if (f->br->generation == FAIR_LB_TYPES) load = WB_MAX(load, 1u);
        if (fair_on(f, FAIR_F_LB_MIN) && load < 16 && !m->b->sd->nr_balance_failed) return false;
        if ((int64_t)(f->br->generation == FAIR_LB_LOAD ? load / 2 : relaxed(m, load)) > *left) return false;
        *left -= (int64_t)load;
        return true;
    case FAIR_MOVE_UTIL:
        if ((int64_t)(f->br->util_shift ? relaxed(m, util) : util) > *left) return false;
        *left -= (int64_t)util;
        return true;
    case FAIR_MOVE_TASK: --*left; return true;
    case FAIR_MOVE_MISFIT:
        if (fair_fits(util, fair_capacity(f, m->src->cpu))) return false;
        *left = 0;
        return true;
    }
    return false;
}

/* Without the pauses that the kernels make in longer walks: nr_migrate ends them before. */
static void pull_tail(struct moving *m)
{
    struct fair_rq *r = fair_rq(m->src);
    uint32_t max = WB_MIN(m->f->nr_migrate, m->src->nr_running), seen = r->nr;
    while (r->tail && m->pass->left > 0) {
        struct fair_task *p = r->tail;
        if (fair_dst_idle(m->b) && m->src->nr_running <= 1) return;
        if (!seen-- && m->f->br->past_pinned) return; /* all of them are bound elsewhere */
        m->loops++;
        if (m->loops > max && !(m->f->br->past_pinned && m->b->flags & LADDER_PINNED)) return;
        if (can_migrate(m, p) && within(m, p)) {
            take(m, p);
            if (one_is_enough(m)) return;
        } else {
            fair_list_touch(r, p);
        }
    }
}

/* ---- what the balancer calls ---- */

static struct moving begin(struct wb_exec *x, struct wb_balance *b, bool active)
{
    struct moving m = {.x = x, .f = fair_of(x), .b = b, .pass = fair_pass(x), .active = active};
    m.src = wb_rq(x->sim, b->src);
    m.dst = wb_rq(x->sim, b->dst);
    wb_charge_fn(x, m.f->bal.fn_pull);
    if (m.f->v->release >= FAIR_5_4) fair_update_clock(x, m.src);
    return m;
}

void fair_pull(struct wb_exec *x, struct wb_balance *b)
{
    struct moving m = begin(x, b, false);
    m.pass->left = b->imbalance;
    if (m.src->nr_running <= 1) {
        b->flags &= ~(uint32_t)LADDER_PINNED;
        return;
    }
    if (b->imbalance <= 0) return;
    b->flags |= LADDER_PINNED;
    if (m.f->br->generation == FAIR_LB_WEIGHT)
        pull_weight(&m);
    else
        pull_tail(&m);
}

/* detach_one_task, move_one_task: the first that can go. */
void fair_pull_one(struct wb_exec *x, struct wb_balance *b)
{
    struct moving m = begin(x, b, true);
    struct fair_rq *r = fair_rq(m.src);
    bool tail = m.f->br->generation != FAIR_LB_WEIGHT;
    m.pass->move = FAIR_MOVE_TASK;
    struct fair_task *next;
    for (struct fair_task *p = tail ? r->tail : first_by_weight(&m); p; p = next) {
        next = tail ? p->prev : next_by_weight(&m, p);
        if (!can_migrate(&m, p)) continue;
        take(&m, p);
        return;
    }
}
