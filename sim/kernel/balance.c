/*
 * balance.c - the balancing driver: domains, source, locks, move, learn. Decisions are the policy's (struct
 * wb_balance_ops).
 *
 * Every look and move takes time, so a decision can be stale by the time the locks are held, as in the kernels.
 */
#include "sim.h"

/* A pass keeps its state beside the CPU (one for each level that it may run at), not in the task's small stack: it
 * never sleeps and never leaves the CPU. */
struct balancing {
    struct wb_frame h;
};

void balances_init(struct wb_sim *s)
{
    struct balance_pool *p = &s->balances;
    p->room = 3 * s->ncpus;
    p->work = reserve_take(p->room * sizeof *p->work);
    p->free = reserve_take(p->room * sizeof *p->free);
    WB_MEMORY(p->work && p->free, "out of memory for balancing on %u CPUs", s->ncpus);
}

void balances_free(struct wb_sim *s)
{
    struct balance_pool *p = &s->balances;
    reserve_give(p->work, p->room * sizeof *p->work);
    reserve_give(p->free, p->room * sizeof *p->free);
}

size_t balances_touched(const struct wb_sim *s)
{
    const struct balance_pool *p = &s->balances;
    return reserve_touched(p->work, p->room * sizeof *p->work) + reserve_touched(p->free, p->room * sizeof *p->free);
}

static struct balance_work *work_of(const struct wb_exec *x)
{
    return &x->sim->balances.work[cpu_of(x)->balance[x->level]];
}

static struct balance_work *work_take(struct wb_exec *x)
{
    struct balance_pool *p = &x->sim->balances;
    uint32_t i = p->nfree ? p->free[--p->nfree] : p->fresh++;
    WB_CHECK(i < p->room, "more than %u balancing passes at once", p->room);
    cpu_of(x)->balance[x->level] = (uint16_t)i;
    return &p->work[i];
}

static void work_give(struct wb_exec *x)
{
    struct balance_pool *p = &x->sim->balances;
    p->free[p->nfree++] = cpu_of(x)->balance[x->level];
}

static const struct wb_balance_ops *ops_of(const struct wb_sim *s, enum wb_balance_kind kind)
{
    const struct wb_policy_ops *p = s->ops;
    const struct wb_balance_ops *by_kind[WB_BAL_N] = {
        [WB_BAL_PERIODIC_IDLE] = p->balance_periodic, [WB_BAL_PERIODIC_BUSY] = p->balance_periodic,
        [WB_BAL_NEWIDLE] = p->balance_newidle,        [WB_BAL_NOHZ] = p->balance_nohz,
        [WB_BAL_ACTIVE] = p->balance_active,
    };
    return by_kind[kind];
}

static const enum wb_migration migration_of[WB_BAL_N] = {
    [WB_BAL_PERIODIC_IDLE] = WB_MIG_PERIODIC, [WB_BAL_PERIODIC_BUSY] = WB_MIG_PERIODIC,
    [WB_BAL_NEWIDLE] = WB_MIG_NEWIDLE,        [WB_BAL_NOHZ] = WB_MIG_NOHZ,
    [WB_BAL_ACTIVE] = WB_MIG_ACTIVE,
};

static void scan(struct wb_exec *x, cpu_id cpu, uint16_t fn)
{
    wb_charge_fn(x, fn);
    if (cpu == x->cpu) return;
    (void)wb_rq(x->sim, cpu);
    wb_line_use(x, x->sim->cpu[cpu].rq_line, WB_LINE_READ, fn);
}

void wb_scan_rq(struct wb_exec *x, cpu_id cpu)
{
    scan(x, cpu, WB_FN_SCAN_RQ);
}

/* A full segment takes everything under its last label (wb_charge), so only the sum matters. */
static void scan_word(struct wb_exec *x, uint32_t k, uint64_t which)
{
    struct wb_sim *s = x->sim;
    sim_time walk = (sim_time)__builtin_popcountll(which) * part_dur(s->fn[WB_FN_SCAN_RQ].part);
    sim_time lines = wb_line_read_set(s->hw, x->cpu, s->rq_lines + k * 64, which, s->now);
    wb_charge(x, WB_FN_SCAN_RQ, WB_CAT_LINE, walk + lines);
}

void wb_scan_rqs(struct wb_exec *x, const struct wb_cpumask *m)
{
    for (uint32_t k = m->skip; k < m->nwords - m->tail; k++) {
        uint64_t which = m->w[k];
        if (k == x->cpu >> 6) which &= ~(1ull << (x->cpu & 63));
        while (which && (x->seg->nparts < WB_SEG_PARTS || x->sim->behind.w[k] & which)) {
            wb_scan_rq(x, k * 64 + (cpu_id)__builtin_ctzll(which));
            which &= which - 1;
        }
        if (which) scan_word(x, k, which);
    }
}

void wb_scan_idle(struct wb_exec *x, cpu_id cpu)
{
    scan(x, cpu, WB_FN_SCAN_CPU);
}

void wb_move_task(struct wb_exec *x, struct wb_balance *b, struct wb_task *t, wb_rule rule)
{
    struct wb_sim *s = x->sim;
    struct wb_rq *src = wb_rq(s, b->src), *dst = wb_rq(s, b->dst);
    wb_rule preempt_rule = 0;
    WB_CHECK(t->on_rq && !t->on_cpu && t->cpu == b->src, "task %u is not movable from cpu %u", t->id, b->src);
    WB_CHECK(wb_mask_test(t->allowed, b->dst), "task %u may not run on cpu %u", t->id, b->dst);
    wb_charge_fn(x, WB_FN_MOVE_TASK);
    wb_line_use(x, s->cpu[b->src].rq_line, WB_LINE_WRITE, WB_FN_MOVE_TASK);
    wb_line_use(x, s->cpu[b->dst].rq_line, WB_LINE_WRITE, WB_FN_MOVE_TASK);
    (void)s->ops->dequeue(x, src, t, WB_DEQ_MIGRATE);
    s->ops->migrate(x, t, b->src, b->dst);
    task_set_cpu(s, t, b->dst);
    count_migration(x, t, b->src, migration_of[b->kind], rule);
    s->ops->enqueue(x, dst, t, WB_ENQ_MIGRATE);
    b->moved++;
    if (s->ops->check_preempt(x, dst, t, WB_WF_MIGRATED, &preempt_rule)) wb_resched(x, dst);
    s->count.balance_pulled[b->kind]++;
}

static void trace_pass(struct wb_exec *x, const struct balance_work *f)
{
    wb_rule rule = rule_of(x->sim, f->b.rule);
    TRACE(x->sim, .type = WB_TR_BALANCE, .cpu = (uint16_t)f->b.this_cpu, .task = x->task->id, .a = f->b.kind,
          .b = f->b.src, .c = (f->b.sd ? (uint32_t)f->b.sd->depth << 16 : 0) | f->b.moved, .rule = rule);
    x->sim->rule_count[rule]++;
}

/* Asks the source CPU's migration thread to push. */
struct kicking {
    struct wb_frame h;
    struct wb_rq *src;
    cpu_id push_cpu;
    bool fresh;
};

static enum wb_ret kick_step(struct wb_exec *x, void *frame)
{
    struct kicking *f = frame;
    WB_BEGIN(f);
    wb_irq_disable(x);
    WB_SPIN_LOCK(x, f, &f->src->lock);
    if (!f->src->active_balance) {
        f->src->active_balance = true;
        f->src->push_cpu = f->push_cpu;
        f->fresh = true;
    }
    WB_SPIN_UNLOCK(x, f, &f->src->lock);
    wb_irq_enable(x);
    if (f->fresh) WB_CALL(x, f, wb_try_to_wake_up(x, f->src->stopper, WB_ASLEEP, 0));
    WB_END();
}

static void kick_active(struct wb_exec *x, const struct wb_balance *b)
{
    struct kicking *f = WB_PUSH(x, kick_step, struct kicking);
    f->src = rq_to_lock(x->sim, b->src);
    f->push_cpu = b->dst;
}

/* Both locks, lower CPU first (double_rq_lock; double_lock_balance drops the own one only when the other is taken). */
static enum wb_ret lock_both_step(struct wb_exec *x, void *frame)
{
    struct balancing *f = frame;
    struct balance_work *w = work_of(x);
    WB_BEGIN(f);
    if (w->have_dst && w->src->cpu < w->dst->cpu && wb_spin_is_held(&w->src->lock)) {
        WB_SPIN_UNLOCK(x, f, &w->dst->lock);
        w->have_dst = false;
    }
    if (!w->have_dst && w->dst->cpu < w->src->cpu) {
        WB_SPIN_LOCK(x, f, &w->dst->lock);
        w->have_dst = true;
    }
    WB_SPIN_LOCK(x, f, &w->src->lock);
    if (!w->have_dst) WB_SPIN_LOCK(x, f, &w->dst->lock);
    w->have_dst = true;
    WB_END();
}

static void lock_both(struct wb_exec *x)
{
    (void)WB_PUSH(x, lock_both_step, struct balancing);
}

/* One pass over one domain: look, lock both, look closer and pull, learn. x->ret = enum wb_balance_result. */
static enum wb_ret pass_step(struct wb_exec *x, void *frame)
{
    struct balancing *f = frame;
    struct balance_work *w = work_of(x);
    struct wb_balance *b = &w->b;
    WB_BEGIN(f);
    w->dst = b->dst == WB_NO_CPU ? NULL : wb_rq(x->sim, b->dst); /* find() may choose the target */
    if (b->lock_find && !w->have_dst && w->dst) {
        WB_SPIN_LOCK(x, f, &w->dst->lock);
        w->have_dst = true;
    }
    if (b->unlock_find && w->have_dst) {
        WB_SPIN_UNLOCK(x, f, &w->dst->lock);
        w->have_dst = false;
    }
    WB_FLUSH(x, f);
    *b = (struct wb_balance){.kind = b->kind,
                             .this_cpu = b->this_cpu,
                             .exec_cpu = b->exec_cpu,
                             .sd = b->sd,
                             .dst = b->dst,
                             .src = b->src,
                             .redo = b->redo,
                             .flags = b->flags,
                             .started = x->sim->now,
                             .lock_find = b->lock_find,
                             .unlock_find = b->unlock_find,
                             .cookie = {b->cookie[0], b->cookie[1], b->cookie[2]}};
    w->found = w->ops->find(x, b);
    WB_FLUSH(x, f);
    if (w->found && !b->skip_pull && b->src != b->dst) {
        w->src = wb_rq(x->sim, b->src);
        w->dst = wb_rq(x->sim, b->dst);
        WB_CALL(x, f, lock_both(x));
        w->ops->pull(x, b);
        KICK_ALL(x, f);
        WB_SPIN_UNLOCK(x, f, &w->src->lock);
        w->total += b->moved;
    }
    if (w->have_dst && b->kind != WB_BAL_NEWIDLE) {
        WB_SPIN_UNLOCK(x, f, &w->dst->lock);
        w->have_dst = false;
    }
    x->sim->count.balance_calls[b->kind]++;
    w->result = (uint8_t)w->ops->done(x, b, w->found);
    trace_pass(x, w);
    WB_END();
}

static void balance_pass(struct wb_exec *x)
{
    (void)WB_PUSH(x, pass_step, struct balancing);
}

static enum wb_ret balancing_step(struct wb_exec *x, void *frame)
{
    struct balancing *f = frame;
    struct balance_work *w = work_of(x);
    struct wb_balance *b = &w->b;
    WB_BEGIN(f);
    wb_irq_disable(x);
    w->have_dst = b->kind == WB_BAL_NEWIDLE; /* schedule() holds it */
    b->started = x->sim->now;
    b->lock_find = w->ops->lock_find;
    b->unlock_find = w->ops->unlock_find;
    if (!w->ops->begin(x, b)) {
        wb_irq_enable(x);
        work_give(x);
        WB_RETURN(x, 0);
    }
    wb_charge_fn(x, WB_FN_LOAD_BALANCE);
    while (w->ops->next(x, b)) {
        do {
            WB_CALL(x, f, balance_pass(x));
        } while (w->result == WB_BAL_REDO);
        if (w->result == WB_BAL_KICK_ACTIVE) WB_CALL(x, f, kick_active(x, b));
        if (w->result == WB_BAL_STOP) break;
    }
    w->ops->end(x, b);
    if (b->kind == WB_BAL_NEWIDLE && !w->have_dst) WB_SPIN_LOCK(x, f, &cpu_of(x)->rq.lock);
    KICK_ALL(x, f);
    wb_irq_enable(x);
    WB_FLUSH(x, f);
    work_give(x);
    WB_RETURN(x, w->total);
    WB_END();
}

void balance_run(struct wb_exec *x, enum wb_balance_kind kind, cpu_id on_behalf)
{
    struct balance_work *w = work_take(x);
    (void)WB_PUSH(x, balancing_step, struct balancing);
    *w = (struct balance_work){.ops = ops_of(x->sim, kind)};
    WB_CHECK(w->ops, "no balancing of kind %d", (int)kind);
    w->b = (struct wb_balance){
        .kind = kind, .this_cpu = on_behalf, .exec_cpu = x->cpu, .dst = on_behalf, .src = WB_NO_CPU};
}

/* ---- the migration thread ---- */

struct stopper {
    struct wb_frame h;
};

static enum wb_ret stopper_step(struct wb_exec *x, void *frame)
{
    struct stopper *f = frame;
    struct wb_rq *rq = &cpu_of(x)->rq;
    WB_BEGIN(f);
    for (;;) {
        x->task->state = WB_INTERRUPTIBLE;
        if (!rq->active_balance && !rq->migrate_list) {
            WB_CALL(x, f, wb_schedule(x));
            continue;
        }
        x->task->state = WB_RUNNING;
        wb_charge_fn(x, WB_FN_MIGRATION_THREAD);
        WB_FLUSH(x, f);
        while (rq->migrate_list) WB_CALL(x, f, migrate_first(x));
        if (rq->active_balance) {
            if (x->sim->ops->balance_active) WB_CALL(x, f, balance_run(x, WB_BAL_ACTIVE, x->cpu));
            rq->active_balance = false;
        }
    }
    WB_END();
}

void stopper_init(struct wb_sim *s, struct wb_cpu *c)
{
    struct wb_task *t = c->rq.stopper;
    (void)WB_PUSH(&t->x, stopper_step, struct stopper);
    push_first(&t->x);
    (void)s;
}
