/* fair_life.c - birth, end and change of a task (Linux sched_fork, wake_up_new_task, task_dead_fair, set_user_nice,
 * reweight_entity). */
#include "fair.h"

#include <string.h>

static struct weight weight_of(const struct fair_sim *f, const struct wb_task *t)
{
    return t->klass == WB_CLASS_IDLE ? weights_single(f->v->weight_idle) : weights_of_nice(t->nice);
}

/* The slice that the scenario asks for by sched_setattr(), or 0. */
static uint64_t asked_slice(const struct fair_sim *f, const struct wb_task *t)
{
    for (uint32_t i = 0; i < f->nslices; i++)
        if (!strcmp(f->slices[i].task, wb_task_name(t))) return f->slices[i].ns;
    return 0;
}

void fair_task_init(struct wb_sim *s, struct wb_task *t)
{
    const struct fair_sim *f = wb_policy_data(s);
    struct fair_task *p = fair_task(t);
    *p = (struct fair_task){.t = t, .is_new = true, .weight = weight_of(f, t)};
    fair_node_init(&p->node, t->id);
    uint64_t slice = asked_slice(f, t);
    p->custom_slice = slice != 0;
    p->slice = slice ? slice : f->base_slice;
    p->pl.recent_used_cpu = WB_NO_CPU;
    p->pl.wakee_flips = f->pl.start_flips;
}

void fair_fork(struct wb_exec *x, struct wb_task *parent, struct wb_task *child)
{
    const struct fair_sim *f = fair_of(x);
    struct wb_rq *rq = wb_rq(x->sim, x->cpu);
    fair_update_clock(x, rq);
    fair_update_curr(x, rq);
    if (parent) { /* dup_task_struct copies them, and nothing sets them back */
        fair_task(child)->pl.last_wakee = fair_task(parent)->pl.last_wakee;
        fair_task(child)->pl.wakee_flips = fair_task(parent)->pl.wakee_flips;
        fair_task(child)->pl.wakee_flip_decay = fair_task(parent)->pl.wakee_flip_decay;
    }
    if (f->ops->fork) f->ops->fork(x, rq, parent ? fair_task(parent) : NULL, fair_task(child));
}

/* Its load leaves with its last dequeue. */
void fair_exit(struct wb_exec *x, struct wb_task *t)
{
    (void)x;
    (void)t;
}

/* ---- another weight ---- */

static void reweigh_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p, struct weight w)
{
    if (f->v->release < FAIR_5_4 || !p->attached) return;
    if (p->on_rq) fair_queue_load(f, r, p, false);
    r->avg.load_avg -= WB_MIN(p->avg.load_avg, r->avg.load_avg);
    r->avg.load_sum -= WB_MIN(p->weight.value * p->avg.load_sum, r->avg.load_sum);
    p->avg.load_avg = w.value * p->avg.load_sum / pelt_divider(&f->pelt, &p->avg);
    r->avg.load_avg += p->avg.load_avg;
    r->avg.load_sum += w.value * p->avg.load_sum;
}

static void set_weight(struct wb_exec *x, struct wb_rq *rq, struct fair_task *p, struct weight w)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    bool in_tree = p->in_tree;
    fair_update_clock(x, rq);
    fair_update_curr(x, rq);
    fair_update_load(f, r, p);
    if (p->on_rq && f->ops->reweigh) f->ops->reweigh(x, rq, p, w);
    if (!p->on_rq) p->vlag = p->vlag * (int64_t)p->weight.value / (int64_t)w.value;
    fair_tree_del(f, r, p);
    reweigh_load(f, r, p, w);
    if (p->on_rq) {
        r->load.value += w.value - p->weight.value;
        r->load.inv = 0;
    }
    p->weight = w;
    if (p->on_rq && p->attached) fair_queue_load(f, r, p, true);
    if (in_tree) fair_tree_add(f, r, p);
    fair_min_vruntime(f, r);
}

/* Up to 5.5 set_user_nice() reschedules for any gain of a waiting task; from 5.6 on (5443a0be6121) prio_changed_fair()
 * asks whether it would preempt, and a lone task changes nothing. */
static void changed_queued(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, int64_t gain)
{
    bool running = rq->curr == t, asks = fair_of(x)->v->release >= FAIR_5_15;
    wb_rule rule;
    if (asks && fair_rq(rq)->nr == 1) return;
    if (asks && !running) {
        if (fair_check_preempt(x, rq, t, 0, &rule)) wb_resched(x, rq);
    } else if (running ? gain < 0 : gain > 0) {
        wb_resched(x, rq);
    }
}

void fair_task_changed(struct wb_exec *x, struct wb_task *t)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_task *p = fair_task(t);
    if (fair_is_rt(t)) return;
    struct wb_rq *rq = wb_rq(x->sim, t->cpu);
    struct weight w = weight_of(f, t);
    uint64_t old = p->weight.value;
    if (w.value == old) return;
    if (p->is_new) {
        p->weight = w;
        return;
    }
    set_weight(x, rq, p, w);
    if (p->on_rq) changed_queued(x, rq, t, (int64_t)(w.value - old));
}
