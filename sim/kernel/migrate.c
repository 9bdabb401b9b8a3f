/* migrate.c - moving a task because it must: affinity, exec; and the bookkeeping of every move. */
#include "sim.h"

const char *const wb_mig_name[WB_MIG_N] = {
    [WB_MIG_WAKE] = "wake", [WB_MIG_NEWIDLE] = "newidle",   [WB_MIG_PERIODIC] = "periodic",
    [WB_MIG_NOHZ] = "nohz", [WB_MIG_ACTIVE] = "active",     [WB_MIG_EXEC] = "exec",
    [WB_MIG_FORK] = "fork", [WB_MIG_AFFINITY] = "affinity", [WB_MIG_PICK] = "pick",
};

static void pair_update(struct wb_sim *s, struct wb_task *t)
{
    if (!t->pair) return;
    struct pair_record *p = &s->pair[t->pair - 1];
    const struct wb_task *a = s->task[p->a], *b = s->task[p->b];
    if (a->state == WB_NEW || b->state == WB_NEW) return;
    measure_pair_set(s->m, p->measure, a->cpu == b->cpu, s->now);
}

void task_set_cpu(struct wb_sim *s, struct wb_task *t, cpu_id to)
{
    t->cpu = to;
    if (t->state == WB_NEW) t->state = WB_RUNNING;
    pair_update(s, t);
}

/* Depth of the smallest domain that has both CPUs; ndepths when none has. */
static uint32_t depth_of_move(struct wb_sim *s, cpu_id from, cpu_id to)
{
    WB_FOR_EACH_SD(sd, &s->cpu[from].rq)
    if (wb_mask_test(sd->span, to)) return sd->depth;
    return s->ndepths;
}

void count_migration(struct wb_exec *x, struct wb_task *t, cpu_id from, enum wb_migration kind, wb_rule rule)
{
    struct wb_sim *s = x->sim;
    rule = rule_of(s, rule);
    s->migrations[kind]++;
    uint32_t depth = depth_of_move(s, from, t->cpu);
    s->mig_depth[depth]++;
    invariants_moved(s, t, from);
    s->cpu[from].moves++;
    s->cpu[t->cpu].moves++;
    measure_series_add(s->m, s->series_migrations, 1);
    if (s->totals) s->totals[t->id].migrations++;
    bool balanced = kind != WB_MIG_WAKE && kind != WB_MIG_FORK && kind != WB_MIG_EXEC && kind != WB_MIG_AFFINITY &&
                    kind != WB_MIG_PICK;
    if (balanced) {
        if (t->migrated_from == t->cpu && t->migrated_at && s->now - t->migrated_at < INVARIANTS_PINGPONG)
            invariants_pingpong(s, t, kind, depth);
        t->migrated_from = (uint16_t)from;
        t->migrated_at = s->now;
    }
    TRACE(s, .type = WB_TR_MIGRATE, .cpu = (uint16_t)x->cpu, .task = t->id, .a = from, .b = t->cpu, .c = kind,
          .rule = rule);
}

void wb_adopt_task(struct wb_exec *x, struct wb_rq *rq, struct wb_task *t, wb_rule rule)
{
    struct wb_sim *s = x->sim;
    cpu_id from = t->cpu;
    WB_CHECK(t->on_rq && !t->on_cpu && from != rq->cpu, "task %u is not waiting on another cpu", t->id);
    WB_CHECK(wb_mask_test(t->allowed, rq->cpu), "task %u may not run on cpu %u", t->id, rq->cpu);
    s->ops->migrate(x, t, from, rq->cpu);
    task_set_cpu(s, t, rq->cpu);
    count_migration(x, t, from, WB_MIG_PICK, rule);
    s->rule_count[rule_of(s, rule)]++;
}

void wb_pair_tasks(struct wb_sim *s, struct wb_task *a, struct wb_task *b)
{
    WB_CHECK(s->npairs < s->pairs_room || s->npairs < UINT32_MAX, "too many pairs");
    if (s->npairs == s->pairs_room) s->pair = table_grow(s->pair, &s->pairs_room, sizeof *s->pair);
    s->pair[s->npairs] =
        (struct pair_record){.a = a->id, .b = b->id, .measure = measure_pair_new(s->m, a->owner, NULL)};
    a->pair = b->pair = ++s->npairs;
}

/* ---- forced moves ---- */

struct forced {
    struct wb_frame h;
    struct wb_task *t;
    struct wb_rq *src, *dst, *again;
    cpu_id to;
    enum wb_migration kind;
};

static cpu_id any_allowed(const struct wb_task *t, cpu_id want)
{
    return wb_mask_test(t->allowed, want) ? want : wb_mask_first(t->allowed);
}

static void list_add(struct wb_rq *rq, struct wb_task *t)
{
    t->in_migrate_list = true;
    t->migrate_next = rq->migrate_list ? rq->migrate_list->id : WB_NO_TASK;
    rq->migrate_list = t;
}

/* Its request is served; a mask that changed meanwhile makes another one, of the CPU where it is by now. */
static struct wb_rq *served(struct wb_sim *s, struct wb_task *t)
{
    t->in_migrate_list = false;
    if (!(t->on_rq || t->on_cpu) || wb_mask_test(t->allowed, t->cpu)) return NULL;
    t->migrate_to = (uint16_t)any_allowed(t, t->cpu);
    struct wb_rq *rq = rq_to_lock(s, t->cpu); /* by the wakeup of its migration thread; no tick reads the list */
    list_add(rq, t);
    return rq;
}

/* It is still where we think, not running, not in a waker's hands, and may go there. */
static bool is_movable(const struct forced *f)
{
    const struct wb_task *t = f->t;
    if (t->cpu != f->src->cpu || t->on_cpu || t->waking || !wb_mask_test(t->allowed, f->to)) return false;
    return t->on_rq || t->state != WB_DEAD;
}

/* Both runqueues locked in CPU order. */
static enum wb_ret forced_step(struct wb_exec *x, void *frame)
{
    struct forced *f = frame;
    struct wb_sim *s = x->sim;
    WB_BEGIN(f);
    wb_irq_disable(x);
    f->src = rq_to_lock(s, f->t->cpu);
    f->dst = rq_to_lock(s, f->to);
    if (f->src == f->dst) {
        f->t->in_migrate_list = false;
        wb_irq_enable(x);
        WB_RETURN(x, 0);
    }
    WB_SPIN_LOCK(x, f, f->src->cpu < f->dst->cpu ? &f->src->lock : &f->dst->lock);
    WB_SPIN_LOCK(x, f, f->src->cpu < f->dst->cpu ? &f->dst->lock : &f->src->lock);
    if (is_movable(f)) {
        struct wb_balance b = {.kind = WB_BAL_ACTIVE, .src = f->src->cpu, .dst = f->to};
        bool queued = f->t->on_rq;
        wb_rule rule = 0;
        if (queued) (void)s->ops->dequeue(x, f->src, f->t, WB_DEQ_MIGRATE);
        s->ops->migrate(x, f->t, b.src, b.dst);
        task_set_cpu(s, f->t, f->to);
        count_migration(x, f->t, b.src, f->kind, 0);
        if (queued) {
            s->ops->enqueue(x, f->dst, f->t, WB_ENQ_MIGRATE);
            if (s->ops->check_preempt(x, f->dst, f->t, WB_WF_MIGRATED, &rule)) wb_resched(x, f->dst);
        }
        wb_charge_fn(x, WB_FN_MOVE_TASK);
    }
    f->again = served(s, f->t);
    KICK_ALL(x, f);
    WB_SPIN_UNLOCK(x, f, &f->dst->lock);
    WB_SPIN_UNLOCK(x, f, &f->src->lock);
    wb_irq_enable(x);
    if (f->again && f->again->cpu != x->cpu) WB_CALL(x, f, wb_try_to_wake_up(x, f->again->stopper, WB_ASLEEP, 0));
    WB_END();
}

void migrate_first(struct wb_exec *x)
{
    struct wb_rq *rq = &cpu_of(x)->rq;
    struct wb_task *t = rq->migrate_list;
    rq->migrate_list = t->migrate_next == WB_NO_TASK ? NULL : x->sim->task[t->migrate_next];
    struct forced *f = WB_PUSH(x, forced_step, struct forced);
    f->t = t;
    f->to = any_allowed(t, t->migrate_to);
    f->kind = t->migrate_exec ? WB_MIG_EXEC : WB_MIG_AFFINITY;
}

/* ---- sched_setaffinity, exec ---- */

struct asking {
    struct wb_frame h;
    struct wb_task *t;
    struct wb_rq *rq;
    const struct wb_cpumask *mask; /* new affinity, or NULL: exec, which asks the policy */
    cpu_id to;
    bool asked;
};

/* A sleeper goes at once, while the lock of its runqueue keeps wakers of old kernels out (2.6.10 kernel/sched.c
 * migrate_task). */
static void move_sleeper(struct wb_exec *x, struct wb_task *t, cpu_id to)
{
    cpu_id from = t->cpu;
    x->sim->ops->migrate(x, t, from, to);
    task_set_cpu(x->sim, t, to);
    count_migration(x, t, from, WB_MIG_AFFINITY, 0);
    wb_charge_fn(x, WB_FN_MOVE_TASK);
}

/* Under the lock of its runqueue: takes the new mask. True: it is queued or running where it may not stay, so the
 * migration thread there has to move it. */
static bool must_be_moved(struct wb_exec *x, struct asking *f)
{
    struct wb_task *t = f->t;
    if (f->mask) {
        t->allowed = f->mask;
        invariants_allowed(x->sim, t);
        if (x->sim->ops->task_changed) x->sim->ops->task_changed(x, t);
        f->to = any_allowed(t, t->cpu);
    }
    if (t->cpu == f->to) return false;
    if (!(t->on_cpu || t->on_rq)) {
        move_sleeper(x, t, f->to);
        return false;
    }
    if (!t->in_migrate_list) list_add(f->rq, t);
    t->migrate_to = (uint16_t)f->to;
    t->migrate_exec = !f->mask;
    return true;
}

/* Where the policy wants the task that has just called exec(), and has nothing in the caches to lose. */
static cpu_id exec_target(struct wb_exec *x)
{
    struct wb_sim *s = x->sim;
    struct wb_choice c = s->ops->place_exec(x, x->task);
    c.rule = rule_of(s, c.rule);
    WB_CHECK(c.cpu < s->ncpus && (c.cpu == x->cpu || wb_mask_test(x->task->allowed, c.cpu)),
             "exec of task %u placed on cpu %u", x->task->id, c.cpu);
    s->rule_count[c.rule]++;
    return c.cpu;
}

static enum wb_ret ask_step(struct wb_exec *x, void *frame)
{
    struct asking *f = frame;
    WB_BEGIN(f);
    wb_charge_fn(x, f->mask ? WB_FN_SET_AFFINITY : WB_FN_EXEC);
    WB_FLUSH(x, f); /* what came before is over when sched_exec() looks at the CPUs */
    if (!f->mask) f->to = exec_target(x);
    if (f->t->state == WB_DEAD || f->t->state == WB_NEW) {
        if (f->mask) {
            f->t->allowed = f->mask;
            invariants_allowed(x->sim, f->t);
        }
        WB_RETURN(x, 0);
    }
    if (!f->mask && f->t->cpu == f->to) WB_RETURN(x, 0);
    for (;;) { /* it may move while we wait */
        /* A waker has placed it by the old mask. Since 2.6.39 its pi_lock keeps us out until it is queued; a wakeup
         * on its way to the target's list keeps the migration thread busy there (migration_cpu_stop). Interrupts
         * stay on: the list may be this CPU's. */
        while (f->t->waking) {
            wb_charge(x, f->mask ? WB_FN_SET_AFFINITY : WB_FN_EXEC, WB_CAT_LOCK, 20 * WB_NS);
            WB_FLUSH(x, f);
        }
        wb_irq_disable(x);
        f->rq = rq_to_lock(x->sim, f->t->cpu);
        WB_SPIN_LOCK(x, f, &f->rq->lock);
        if (f->rq->cpu == f->t->cpu && !f->t->waking) break;
        WB_SPIN_UNLOCK(x, f, &f->rq->lock);
        wb_irq_enable(x);
    }
    f->asked = must_be_moved(x, f);
    WB_SPIN_UNLOCK(x, f, &f->rq->lock);
    wb_irq_enable(x);
    if (!f->asked) WB_RETURN(x, 0);
    WB_CALL(x, f, wb_try_to_wake_up(x, f->rq->stopper, WB_ASLEEP, 0));
    /* A task that moves itself waits until it has been moved. */
    while (f->t == x->task && x->cpu != f->to && f->t->in_migrate_list) WB_CALL(x, f, wb_schedule(x));
    WB_END();
}

void wb_set_affinity(struct wb_exec *x, struct wb_task *t, const struct wb_cpumask *mask)
{
    struct asking *f = WB_PUSH(x, ask_step, struct asking);
    f->t = t;
    f->mask = mask;
}

void wb_exec_image(struct wb_exec *x)
{
    struct asking *f = WB_PUSH(x, ask_step, struct asking);
    f->t = x->task;
}
