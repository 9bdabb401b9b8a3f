/*
 * bsd4_queue.c - the one queue of 4BSD: setrunqueue, chooseproc, maybe_resched.
 *
 * FreeBSD 4.x kern/kern_switch.c, kern_synch.c; 5.2.1 kern/kern_switch.c, sched_4bsd.c. The running task is in no list.
 */
#include "bsd.h"

static void queue(struct bsd4_sim *o, struct bsd_task *p)
{
    if (!p->queue) bsd_runq_add(&o->queue, p, bsd4_list(o, p));
}

void bsd4_enqueue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags)
{
    struct bsd4_sim *o = bsd4_of(x);
    struct bsd_task *p = bsd_task(t);
    if (flags & WB_ENQ_WAKEUP) {
        if (p->slptime > 1) bsd4_update_prio(o, p);
        p->slptime = 0;
    }
    queue(o, p);
    rq->nr_running++;
}

bool bsd4_dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags)
{
    const struct bsd4_sim *o = bsd4_of(x);
    struct bsd_task *p = bsd_task(t);
    WB_CHECK(rq->nr_running, "task %u leaves cpu %u, which has none", t->id, rq->cpu);
    if (p->queue) bsd_runq_del(p);
    rq->nr_running--;
    if (flags & WB_DEQ_SLEEP) {
        p->slptime = 0;
        if (!bsd_is_rt(t)) bsd_lend(p, o->sleep_prio);
    }
    return true;
}

/* mi_switch(): who could go on running goes to the tail of its list. */
void bsd4_put_prev(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev)
{
    (void)rq;
    if (prev->on_rq) queue(bsd4_of(x), bsd_task(prev));
}

/* A task that another CPU has not switched away from completely is not there yet. */
static bool may_run(const struct bsd_task *p, const struct wb_rq *rq)
{
    return wb_mask_test(p->t->allowed, rq->cpu) && (!p->t->on_cpu || p->t->cpu == rq->cpu);
}

/* "Trivial affinity" of 4.x: in the list, first who ran here last. The head otherwise. */
static struct bsd_task *from_list(const struct bsd4_sim *o, const struct wb_rq *rq, struct bsd_task *head)
{
    struct bsd_task *first = NULL, *p = head;
    do {
        if (may_run(p, rq)) {
            if (!o->v->last_cpu_first || p->t->cpu == rq->cpu) return p;
            if (!first) first = p;
        }
        p = p->next;
    } while (p != head);
    return first;
}

static struct bsd_task *choose(const struct bsd4_sim *o, const struct wb_rq *rq)
{
    for (uint32_t l = bsd_runq_best(&o->queue, 0); l < BSD_LISTS; l = bsd_runq_best(&o->queue, l + 1)) {
        struct bsd_task *p = from_list(o, rq, o->queue.head[l]);
        if (p) return p;
    }
    return NULL;
}

bool bsd4_work_for(const struct bsd4_sim *o, const struct wb_rq *rq)
{
    return o->queue.nr && choose(o, rq);
}

struct wb_task *bsd4_pick(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev)
{
    struct bsd4_sim *o = bsd4_of(x);
    struct bsd_task *p = choose(o, rq);
    (void)prev;
    wb_charge_fn(x, o->fn_choose);
    if (!p) return NULL;
    bsd_runq_del(p);
    p->did_run = true;
    if (p->t->cpu == rq->cpu) return p->t;
    wb_rq(x->sim, p->t->cpu)->nr_running--;
    rq->nr_running++;
    wb_adopt_task(x, rq, p->t, BSD4_R_TAKEN);
    return p->t;
}

void bsd4_requeue(const struct bsd4_sim *o, struct bsd_task *p)
{
    struct bsd_runq *q = p->queue;
    uint32_t list = bsd4_list(o, p);
    if (!q || p->list == list) return;
    bsd_runq_del(p);
    bsd_runq_add(q, p, list);
}

/* ---- who is told ---- */

/* The nearest idle CPU that nothing has been announced to yet. */
static struct wb_rq *idle_near(struct wb_exec *x, const struct wb_task *t)
{
    struct wb_rq *best = NULL;
    enum wb_distance best_d = WB_DISTANCES;
    for (cpu_id c = wb_mask_first(t->allowed); c != WB_NO_CPU; c = wb_mask_next(t->allowed, c + 1)) {
        struct wb_rq *rq = wb_rq(x->sim, c);
        if (c == x->cpu || !wb_idle_cpu(rq) || rq->need_resched) continue;
        enum wb_distance d = wb_topo_distance(wb_topo(x->sim), x->cpu, c);
        if (d >= best_d) continue;
        best = rq;
        best_d = d;
    }
    return best;
}

/*
 * maybe_resched() looks at the CPU that executes the wakeup and at no other. Whether an idle CPU finds out by itself
 * depends on its idle loop: one that polls sees the queue's bitmap change (the nearest one first), one that halts sees
 * it at its next interrupt.
 */
bool bsd4_check_preempt(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule)
{
    const struct bsd4_sim *o = bsd4_of(x);
    struct wb_rq *mine = wb_rq(x->sim, x->cpu);
    (void)flags;
    if (t->klass == WB_CLASS_STOP) {
        *rule = BSD4_R_BOUND;
        return true;
    }
    bool here = wb_mask_test(t->allowed, x->cpu) && bsd4_better(o, bsd_task(t), mine);
    struct wb_rq *idle = idle_near(x, t);
    if (here)
        *rule = wb_idle_cpu(mine) ? BSD4_R_CPU_IDLE : BSD4_R_PREEMPT;
    else if (idle)
        *rule = o->polls || o->wake_ipi ? BSD4_R_POLLED : BSD4_R_UNTOLD;
    else
        *rule = wb_mask_test(t->allowed, x->cpu) ? BSD4_R_WAITS : BSD4_R_NOT_HERE;
    if (idle && (o->polls || o->wake_ipi) && !(here && wb_idle_cpu(mine))) wb_resched(x, idle);
    if (here && mine == rq) return true;
    if (here) wb_resched(x, mine);
    return false;
}
