/*
 * o1_queue.c - a runqueue's hooks: activate, deactivate, pick, yield, preemption check.
 *
 * Linux 2.6.10 .. 2.6.22 kernel/sched.c: activate_task, deactivate_task, pull_task, the middle of schedule(),
 * sys_sched_yield, TASK_PREEMPTS_CURR. The running task stays in its array.
 */
#include "o1.h"

/* ---- into and out of the arrays ---- */

static void insert(struct wb_rq *rq, struct o1_task *p, struct o1_array *a)
{
    o1_array_add(a, p);
    rq->nr_running++;
    o1_rq(rq)->weight += p->weight;
}

/* sched_clock() as the task's new CPU sees it: corrected by the difference of the last ticks ("drifting clocks"). */
static uint64_t clock_there(const struct wb_exec *x, const struct wb_rq *rq)
{
    uint64_t now = o1_ns(x);
    if (rq->cpu == x->cpu) return now;
    return now - o1_rq(wb_rq(x->sim, x->cpu))->clock + o1_rq(rq)->clock;
}

/* activate_task: what was slept is credited, and whether this wakeup came from an interrupt is remembered. */
static void activate(struct wb_exec *x, struct wb_rq *rq, struct o1_task *p)
{
    const struct o1_sim *o = o1_of(x);
    uint64_t now = clock_there(x, rq);
    wb_charge_fn(x, o->fn_recalc);
    o1_recalc(o, p, now);
    if (p->sleep == O1_SLEEP_NORMAL) p->sleep = x->level == WB_LEVEL_TASK ? O1_SLEEP_INTERACTIVE : O1_SLEEP_INTERRUPTED;
    p->timestamp = now;
    insert(rq, p, o1_rq(rq)->active);
}

/* wake_up_new_task: a forked child runs before its parent, a thread after it, one started on another CPU by
 * priority. */
static void start_new(struct wb_exec *x, struct wb_rq *rq, struct o1_task *p)
{
    struct o1_task *parent = p->parent == O1_NO_PARENT ? NULL : o1_task(wb_task_of(x->sim, p->parent));
    if (rq->cpu != x->cpu) p->timestamp = clock_there(x, rq);
    bool child_first =
        parent && parent->t == rq->curr && parent->array && rq->cpu == x->cpu && parent->t->mm != p->t->mm;
    if (!child_first || o1_rt(p) || o1_rt(parent)) {
        insert(rq, p, o1_rq(rq)->active);
        return;
    }
    p->prio = parent->prio;
    o1_array_add_before(parent->array, p, parent);
    rq->nr_running++;
    o1_rq(rq)->weight += p->weight;
}

void o1_enqueue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags)
{
    struct o1_task *p = o1_task(t);
    struct o1_rq *r = o1_rq(rq);
    if (p->pulled || flags & WB_ENQ_RESTORE) { /* pull_task, set_user_nice: same kind of array */
        insert(rq, p, p->pulled_expired ? r->expired : r->active);
        p->pulled = p->pulled_expired = false;
        return;
    }
    if (flags & WB_ENQ_NEW)
        start_new(x, rq, p);
    else
        activate(x, rq, p);
}

bool o1_dequeue(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags)
{
    const struct o1_sim *o = o1_of(x);
    struct o1_task *p = o1_task(t);
    WB_CHECK(p->array && rq->nr_running, "task %u leaves cpu %u without being queued there", t->id, rq->cpu);
    p->pulled_expired = p->array == o1_rq(rq)->expired && (p->pulled || flags & WB_DEQ_SAVE);
    o1_array_del(p->array, p);
    rq->nr_running--;
    o1_rq(rq)->weight -= p->weight;
    if (flags & WB_DEQ_SLEEP && (t->state == WB_UNINTERRUPTIBLE || (o->v->noninteractive && t->noninteractive)))
        p->sleep = O1_SLEEP_NONINTERACTIVE;
    return true;
}

/* The timestamp is carried over to the other CPU's clock. */
void o1_migrate(struct wb_exec *x, struct wb_task *t, cpu_id from, cpu_id to)
{
    struct o1_task *p = o1_task(t);
    if (!p->pulled) return; /* a sleeper's is not; activate_task() corrects for it */
    p->timestamp += o1_rq(wb_rq(x->sim, to))->clock - o1_rq(wb_rq(x->sim, from))->clock;
}

/* ---- schedule() ---- */

/* The run time of whoever stops is charged once, whether the engine asks through put_prev or pick. */
static void stop_running(struct wb_exec *x, struct o1_rq *r, struct o1_task *p)
{
    const struct o1_sim *o = o1_of(x);
    uint64_t now = o1_ns(x);
    if (o->v->clock_recent) r->clock = now;
    if (!p->running) return;
    p->running = false;
    o1_charge_run(o, p, now);
}

void o1_put_prev(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev)
{
    stop_running(x, o1_rq(rq), o1_task(prev));
}

static void exchange_arrays(struct o1_rq *r)
{
    struct o1_array *a = r->active;
    r->active = r->expired;
    r->expired = a;
    r->expired_set = false;
    r->best_expired_prio = O1_PRIOS;
}

/* Waiting in the queue after a wakeup counts as sleep: all of it after an interrupt's, ON_RUNQUEUE_WEIGHT percent
 * otherwise. */
static void credit_wait(struct wb_exec *x, struct o1_task *p, uint64_t now)
{
    const struct o1_sim *o = o1_of(x);
    struct o1_array *a = p->array;
    int64_t waited = (int64_t)(now - p->timestamp);
    uint64_t delta = waited < 0 ? 0 : (uint64_t)waited;
    if (p->sleep == O1_SLEEP_INTERACTIVE) delta = delta * (o->on_rq_weight * 128 / 100) / 128;
    wb_charge_fn(x, o->fn_recalc);
    uint8_t old = p->prio;
    uint64_t until = p->timestamp + delta;
    o1_array_del(a, p);
    o1_recalc(o, p, until);
    if (o->v->weighted && p->prio == old) { /* 2.6.22 requeues only a changed priority; the place is kept otherwise */
        if (o1_array_head(a, old))
            o1_array_add_before(a, p, o1_array_head(a, old));
        else
            o1_array_add(a, p);
        return;
    }
    o1_array_add(a, p);
}

static struct wb_task *pick_best(struct wb_exec *x, struct o1_rq *r)
{
    if (!r->active->nr) exchange_arrays(r);
    struct o1_task *p = o1_array_head(r->active, o1_array_best(r->active, 0));
    uint64_t now = o1_ns(x);
    if (!o1_rt(p) && (p->sleep == O1_SLEEP_INTERACTIVE || p->sleep == O1_SLEEP_INTERRUPTED)) credit_wait(x, p, now);
    p->sleep = O1_SLEEP_NORMAL;
    p->timestamp = now;
    p->running = true;
    return p->t;
}

struct wb_task *o1_pick(struct wb_exec *x, struct wb_rq *rq, struct wb_task *prev)
{
    const struct o1_sim *o = o1_of(x);
    struct o1_rq *r = o1_rq(rq);
    if (prev && prev != rq->idle) stop_running(x, r, o1_task(prev));
    if (o->v->clock_recent) r->clock = o1_ns(x);
    if (!rq->nr_running) {
        r->expired_set = false;
        if (o->smt_nice) o1_wake_sleeping_dependent(x, rq);
        return NULL;
    }
    if (o->smt_nice && o1_dependent_sleeper(x, rq)) return NULL;
    return pick_best(x, r);
}

/* To the expired array; a real-time task to the end of its list. */
void o1_yield(struct wb_exec *x, struct wb_rq *rq)
{
    struct o1_rq *r = o1_rq(rq);
    (void)x;
    if (wb_idle_cpu(rq)) return;
    struct o1_task *p = o1_task(rq->curr);
    if (!p->array) return;
    o1_array_del(p->array, p);
    o1_array_add(o1_rt(p) ? r->active : r->expired, p);
}

/* ---- preemption ---- */

bool o1_check_preempt(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, uint32_t flags, wb_rule *rule)
{
    const struct o1_task *p = o1_task(t);
    bool local = rq->cpu == x->cpu, idle = wb_idle_cpu(rq);
    if (flags & WB_WF_FORK && local && !idle && p->parent == rq->curr->id) {
        bool first = rq->curr->mm != t->mm;
        *rule = first ? O1_R_CHILD_FIRST : O1_R_CHILD_LAST;
        return first;
    }
    if (flags & WB_WF_SYNC && local && o1_of(x)->sync && !(flags & WB_WF_FORK)) {
        *rule = O1_R_SYNC_UNCHECKED;
        return false;
    }
    if (idle) {
        *rule = O1_R_CPU_IDLE;
        return true;
    }
    bool preempt = p->prio < o1_curr_prio(rq);
    *rule = preempt ? O1_R_PREEMPT : O1_R_NO_PREEMPT;
    return preempt;
}
