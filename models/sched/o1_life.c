/* o1_life.c - birth, end and change of a task (2.6.10 .. 2.6.22 kernel/sched.c: sched_fork, wake_up_new_task,
 * sched_exit, set_user_nice). */
#include "o1.h"

static uint8_t static_prio(const struct wb_task *t)
{
    return (uint8_t)(120 + (t->klass == WB_CLASS_IDLE ? 19 : t->nice));
}

/* Real-time priority 99 is the best: 0. The migration thread has it. */
static uint8_t rt_prio(const struct wb_task *t)
{
    return (uint8_t)(t->klass == WB_CLASS_STOP ? 0 : O1_RT_PRIOS - 1 - WB_MIN(t->rt_prio, 99));
}

static bool is_rt(const struct wb_task *t)
{
    return t->klass == WB_CLASS_FIFO || t->klass == WB_CLASS_STOP;
}

/* Lists of real-time priorities, for the first run that has such a task: two hundred heads per CPU. */
static void make_rt_lists(struct wb_sim *s, struct o1_sim *o)
{
    struct o1_task **rt = wb_sim_alloc(s, (size_t)o->ncpus * 2 * O1_RT_PRIOS * sizeof *rt);
    for (cpu_id c = 0; c < o->ncpus; c++)
        for (int i = 0; i < 2; i++, rt += O1_RT_PRIOS) o1_rq(wb_rq(s, c))->array[i].rt = rt;
    o->rt_lists = true;
}

void o1_task_init(struct wb_sim *s, struct wb_task *t)
{
    struct o1_sim *o = wb_policy_data(s);
    if (t->klass == WB_CLASS_FIFO && !o->rt_lists) make_rt_lists(s, o);
    struct o1_task *p = o1_task(t);
    *p = (struct o1_task){.t = t, .parent = O1_NO_PARENT, .static_prio = static_prio(t)};
    p->sleep_avg = o1_bonus_sleep(o, WB_MIN(o->start_bonus, o->max_bonus));
    p->prio = is_rt(t) ? rt_prio(t) : O1_PRIOS - 1;
    p->time_slice = (int32_t)o1_timeslice(o, p);
    p->weight = o1_weight(o, t);
    p->prio = o1_effective_prio(o, p);
}

/* Half of the parent's slice. A parent with one tick left lives through the end of its slice at once. */
static void split_slice(struct wb_exec *x, struct o1_task *parent, struct o1_task *child)
{
    child->time_slice = (parent->time_slice + 1) / 2;
    child->first_slice = true;
    parent->time_slice /= 2;
    if (parent->time_slice) return;
    struct wb_rq *rq = wb_rq(x->sim, x->cpu);
    parent->time_slice = 1;
    if (parent->t == rq->curr && parent->array == o1_rq(rq)->active && !o1_rt(parent)) o1_slice_end(x, rq, parent);
}

static uint64_t penalised(const struct o1_sim *o, const struct o1_task *p, uint32_t percent)
{
    return o1_bonus_sleep(o, o1_bonus(o, p) * percent / 100);
}

/* parent NULL: started from outside the model, say by a shell: task_init() has set its start. */
void o1_fork(struct wb_exec *x, struct wb_task *parent, struct wb_task *child)
{
    const struct o1_sim *o = o1_of(x);
    struct o1_task *c = o1_task(child);
    c->timestamp = o1_ns(x);
    c->last_ran = c->timestamp;
    if (!parent || parent->klass == WB_CLASS_SWAPPER) return;
    struct o1_task *p = o1_task(parent);
    c->parent = parent->id & O1_NO_PARENT;
    split_slice(x, p, c);
    c->sleep_avg = p->sleep_avg;
    c->sleep_avg = penalised(o, c, o->child_penalty);
    c->credit = 0;
    c->prio = o1_effective_prio(o, c);
    p->sleep_avg = penalised(o, p, o->parent_penalty);
}

/* An unused first slice goes back to the parent, and a child that slept less drags its parent's average down. */
void o1_exit(struct wb_exec *x, struct wb_task *t)
{
    const struct o1_sim *o = o1_of(x);
    const struct o1_task *c = o1_task(t);
    if (c->parent == O1_NO_PARENT) return;
    struct wb_task *parent = wb_task_of(x->sim, c->parent);
    if (parent->state == WB_DEAD) return;
    (void)wb_rq(x->sim, parent->cpu); /* its skipped ticks are applied before its slice changes */
    struct o1_task *p = o1_task(parent);
    if (c->first_slice) p->time_slice = WB_MIN(p->time_slice + c->time_slice, (int32_t)o1_timeslice(o, p));
    if (c->sleep_avg < p->sleep_avg)
        p->sleep_avg = p->sleep_avg / (o->exit_weight + 1) * o->exit_weight + c->sleep_avg / (o->exit_weight + 1);
}

static void set_prio(struct wb_rq *rq, struct o1_task *p, uint8_t prio, uint32_t weight)
{
    struct o1_array *a = p->array;
    if (a) {
        o1_array_del(a, p);
        o1_rq(rq)->weight += weight - p->weight;
    }
    p->prio = prio;
    p->weight = weight;
    if (a) o1_array_add(a, p);
}

/* set_user_nice: the dynamic priority moves by as much; a better one, or a worse one of the running task,
 * reschedules. */
void o1_task_changed(struct wb_exec *x, struct wb_task *t)
{
    struct o1_task *p = o1_task(t);
    struct wb_rq *rq = wb_rq(x->sim, t->cpu);
    uint8_t old_static = p->static_prio;
    p->static_prio = static_prio(t);
    int32_t delta = (int32_t)p->static_prio - old_static, old = p->prio;
    int32_t prio = is_rt(t) ? rt_prio(t) : WB_MIN(WB_MAX(old + delta, (int32_t)O1_RT_PRIOS), (int32_t)O1_PRIOS - 1);
    uint32_t weight = o1_weight(o1_of(x), t);
    if (prio == old && weight == p->weight) return;
    set_prio(rq, p, (uint8_t)prio, weight);
    if (p->array && (delta < 0 || (delta > 0 && rq->curr == t))) wb_resched(x, rq);
}
