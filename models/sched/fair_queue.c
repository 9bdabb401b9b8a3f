/*
 * fair_queue.c - hooks of the queue: enqueue, dequeue, pick, put_prev, yield, migrate.
 *
 * Linux kernel/sched*: enqueue_task_fair, dequeue_task_fair, pick_next_task_fair, put_prev_entity, set_next_entity.
 * What an order does in between is behind struct fair_order_ops. The running task is out of the tree, but for 2.6.23,
 * which leaves it there.
 *
 * Real-time tasks (SCHED_FIFO and the migration thread) run before fair ones, by priority, first come first served.
 */
#include "fair.h"

/* ---- tree ---- */

void fair_tree_add(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    bool eevdf = f->v->order == FAIR_EEVDF;
    p->node.key = eevdf ? p->deadline : p->vruntime;
    p->node.aux = p->vruntime;
    p->node.slice = p->slice;
    p->in_tree = true;
    fair_tree_insert(&r->tree, &p->node);
    if (!eevdf) return;
    r->sum_lag += (int64_t)(p->vruntime - r->min_vruntime) * (int64_t)p->weight.value;
    r->sum_weight += (int64_t)p->weight.value;
}

void fair_tree_del(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    if (!p->in_tree) return;
    p->in_tree = false;
    fair_tree_erase(&r->tree, &p->node);
    if (f->v->order != FAIR_EEVDF) return;
    r->sum_lag -= (int64_t)(p->node.aux - r->min_vruntime) * (int64_t)p->weight.value;
    r->sum_weight -= (int64_t)p->weight.value;
}

/* ---- buddies ---- */

void fair_clear_buddies(struct fair_rq *r, const struct fair_task *p)
{
    if (!p || r->next == p) r->next = NULL;
    if (!p || r->last == p) r->last = NULL;
    if (!p || r->skip == p) r->skip = NULL;
}

void fair_set_next_buddy(struct fair_rq *r, struct fair_task *p)
{
    if (p->t->klass != WB_CLASS_IDLE) r->next = p;
}

void fair_resched(struct wb_exec *x, struct wb_rq *rq)
{
    if (fair_of(x)->lazy && !wb_idle_cpu(rq) && !rq->need_resched)
        rq->need_resched_lazy = true; /* no interrupt: it acts on the way to user mode, or at the next tick */
    else
        wb_resched(x, rq);
}

/* ---- list of all tasks ---- */

static void list_add(struct fair_rq *r, struct fair_task *p)
{
    p->prev = NULL;
    p->next = r->head;
    if (r->head)
        r->head->prev = p;
    else
        r->tail = p;
    r->head = p;
}

static void list_del(struct fair_rq *r, struct fair_task *p)
{
    if (p->prev)
        p->prev->next = p->next;
    else
        r->head = p->next;
    if (p->next)
        p->next->prev = p->prev;
    else
        r->tail = p->prev;
}

void fair_list_touch(struct fair_rq *r, struct fair_task *p)
{
    list_del(r, p);
    list_add(r, p);
}

/* ---- counting ---- */

static void count(const struct fair_sim *f, struct wb_rq *rq, struct fair_task *p)
{
    struct fair_rq *r = fair_rq(rq);
    p->on_rq = true;
    p->is_new = false;
    r->load.value += p->weight.value;
    r->load.inv = 0;
    r->nr++;
    r->nr_idle += p->t->klass == WB_CLASS_IDLE;
    r->nr_delayed += p->delayed;
    rq->nr_running++;
    fair_note_overload(f, rq);
    list_add(r, p);
    fair_queue_load(f, r, p, true);
}

static void uncount(const struct fair_sim *f, struct wb_rq *rq, struct fair_task *p)
{
    struct fair_rq *r = fair_rq(rq);
    WB_CHECK(p->on_rq && r->nr && rq->nr_running, "task %u leaves cpu %u without being queued there", p->t->id,
             rq->cpu);
    fair_queue_load(f, r, p, false);
    p->on_rq = false;
    r->load.value -= p->weight.value;
    r->load.inv = 0;
    r->nr--;
    r->nr_idle -= p->t->klass == WB_CLASS_IDLE;
    r->nr_delayed -= p->delayed;
    rq->nr_running--;
    list_del(r, p);
}

/* ---- real time ---- */

static void rt_enqueue(struct wb_rq *rq, struct fair_task *p)
{
    struct fair_rq *r = fair_rq(rq);
    struct fair_task **at = &r->rt;
    while (*at && fair_rt_rank((*at)->t) >= fair_rt_rank(p->t)) at = &(*at)->next;
    p->next = *at;
    *at = p;
    p->on_rq = true;
    r->nr_rt++;
    rq->nr_running++;
}

static void rt_dequeue(struct wb_rq *rq, struct fair_task *p)
{
    struct fair_rq *r = fair_rq(rq);
    struct fair_task **at = &r->rt;
    while (*at && *at != p) at = &(*at)->next;
    WB_CHECK(*at, "real-time task %u is not queued on cpu %u", p->t->id, rq->cpu);
    *at = p->next;
    p->on_rq = false;
    r->nr_rt--;
    rq->nr_running--;
}

/* ---- enqueue, dequeue ---- */

static void arrive_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    if (p->is_new) fair_new_load(f, r, p);
    fair_update_load(f, r, p);
    if (!p->attached) fair_attach_load(f, r, p);
    if (!p->delayed) fair_util_est_enqueue(f, r, p);
}

void fair_enqueue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    struct fair_task *p = fair_task(t);
    fair_update_clock(x, rq);
    if (flags & WB_ENQ_WAKEUP) fair_idle_over(f, r);
    if (fair_is_rt(t)) {
        rt_enqueue(rq, p);
        return;
    }
    if (flags & WB_ENQ_DELAYED) {
        f->ops->revive(x, rq, p);
        return;
    }
    wb_charge_fn_as(x, f->fn_update_curr, 1, WB_CAT_WAKEUP);
    wb_charge_fn(x, f->fn_place);
    fair_update_curr(x, rq);
    arrive_load(f, r, p);
    f->ops->place(x, rq, p, flags);
    count(f, rq, p);
    fair_tree_add(f, r, p);
}

/* Taken off for good: its loads, its buddies, its place. */
static void depart(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, uint32_t flags)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    fair_update_load(f, r, p);
    fair_clear_buddies(r, p);
    fair_tree_del(f, r, p);
    uncount(f, rq, p);
    p->delayed = false;
    if (f->ops->left) f->ops->left(x, rq, p, flags);
    if (flags & WB_DEQ_MIGRATE) fair_detach_load(f, r, p);
    if (flags & WB_DEQ_EXIT) fair_remove_load(f, r, p, 0);
}

bool fair_dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    struct fair_task *p = fair_task(t);
    if (flags & WB_DEQ_SLEEP)
        fair_schedule_clock(x, rq);
    else
        fair_update_clock(x, rq);
    if (fair_is_rt(t)) {
        rt_dequeue(rq, p);
        return true;
    }
    wb_charge_fn_as(x, f->fn_update_curr, 1, WB_CAT_SCHED);
    fair_update_curr(x, rq);
    if (!(flags & WB_DEQ_DELAYED) && !p->delayed) fair_util_est_dequeue(f, r, p, flags & WB_DEQ_SLEEP);
    if (!f->ops->leave(x, rq, p, flags)) {
        fair_clear_buddies(r, p);
        fair_update_load(f, r, p);
        p->delayed = true;
        r->nr_delayed++;
        return false;
    }
    bool delayed = p->delayed && flags & WB_DEQ_MIGRATE; /* it moves as it is */
    depart(x, rq, p, flags);
    p->delayed = delayed;
    return true;
}

/* ---- schedule() ---- */

void fair_put_prev(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev)
{
    struct fair_task *curr = fair_rq(rq)->curr;
    (void)prev;
    fair_schedule_clock(x, rq);
    if (curr && curr->on_rq) fair_update_curr(x, rq);
}

/* The running task loses the CPU: back into the tree if it is still queued. */
static void stop_curr(struct wb_exec *x, struct wb_rq *rq)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    struct fair_task *curr = r->curr;
    if (!curr) return;
    curr->last_clock = r->clock;
    if (curr->on_rq) {
        if (f->ops->stop) f->ops->stop(x, rq, curr);
        if (!curr->in_tree) fair_tree_add(f, r, curr);
        fair_update_load(f, r, curr);
    }
    r->curr = NULL;
}

static void start_curr(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    fair_clear_buddies(r, p);
    if (f->v->order != FAIR_WAIT_RUNTIME) fair_tree_del(f, r, p);
    fair_update_load(f, r, p);
    p->exec_start = r->clock;
    p->prev_sum_exec = p->sum_exec;
    r->curr = p;
    if (f->v->release >= FAIR_5_4) fair_list_touch(r, p);
    if (f->ops->start) f->ops->start(x, rq, p);
}

/* The order's choice. A sleeper whose dequeue was delayed is dequeued for good when its turn comes. */
static struct fair_task *choose(struct wb_exec *x, struct wb_rq *rq)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    while (r->nr) {
        struct fair_task *p = f->ops->choose(x, rq);
        if (!p->delayed) return p;
        wb_finish_dequeue(x, rq, p->t);
    }
    return NULL;
}

static struct wb_task *next_task(struct wb_exec *x, struct wb_rq *rq)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    if (r->rt) {
        stop_curr(x, rq);
        return r->rt->t;
    }
    struct fair_task *p = choose(x, rq);
    if (!p) {
        stop_curr(x, rq);
        return NULL;
    }
    if (p == r->curr && !f->v->repick_resets) {
        if (f->v->order == FAIR_VRUNTIME) fair_clear_buddies(r, p); /* pick_next_entity; later set_next_entity */
        fair_note_misfit(x, rq, p);
        return p->t;
    }
    stop_curr(x, rq);
    start_curr(x, rq, p);
    fair_balance_picked(x, rq, p);
    return p->t;
}

struct wb_task *fair_pick(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev)
{
    (void)prev;
    fair_schedule_clock(x, rq);
    wb_charge_fn(x, fair_of(x)->fn_pick);
    struct wb_task *next = next_task(x, rq);
    fair_rq(rq)->clock_kept = false;
    /* What update_curr() asked for on the way is answered by this pick (clear_tsk_need_resched). */
    rq->need_resched = rq->need_resched_lazy = false;
    return next;
}

/* Driven by a recording: who comes is told. */
void fair_set_next(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t)
{
    fair_schedule_clock(x, rq);
    fair_rq(rq)->clock_kept = false;
    stop_curr(x, rq);
    if (t && !fair_is_rt(t)) {
        start_curr(x, rq, fair_task(t));
        fair_balance_picked(x, rq, fair_task(t));
    }
    rq->need_resched = rq->need_resched_lazy = false;
}

void fair_yield(struct wb_exec *x, struct wb_rq *rq)
{
    struct fair_rq *r = fair_rq(rq);
    if (!r->curr) return;
    fair_update_clock(x, rq);
    fair_of(x)->ops->yield(x, rq, r->curr);
}

void fair_migrate(struct wb_exec *x, struct wb_task *t, cpu_id from, cpu_id to)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_task *p = fair_task(t);
    if (fair_is_rt(t) || p->is_new) return;
    struct wb_rq *src = wb_rq(x->sim, from), *dst = wb_rq(x->sim, to);
    if (f->ops->migrate) f->ops->migrate(x, p, fair_rq(src), fair_rq(dst));
    uint64_t now = f->v->release >= FAIR_6_1 && wb_idle_cpu(src) ? fair_ns(x) : 0;
    fair_remove_load(f, fair_rq(src), p, now);
    if (f->v->release >= FAIR_5_4) p->exec_start = 0; /* no longer cache hot */
}
