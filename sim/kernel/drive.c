/*
 * drive.c - a kernel driven by hand; see drive.h.
 *
 * The steps are those of schedule.c, wakeup.c and migrate.c without locks, costs and events. Contexts get the CPU's
 * segment with nothing in it before each step, so that charges never add up.
 */
#include "wakebal/drive.h"

#include "sim.h"

struct wb_sim *wb_drive_build(const struct wb_config *cfg, const struct wb_registry *reg,
                              const struct wb_drive_task *task, uint32_t n, struct wb_diag *d)
{
    static const struct wb_drive_task nobody;
    struct wb_run_options opt = {.drive = task ? task : &nobody, .ndrive = n};
    struct wb_sim *s = wb_sim_build(cfg, reg, 0, &opt, d);
    if (!s || s->ops->set_next) return s;
    wb_cfg_error(cfg, d, "kernel.scheduler", "kernels with scheduler = \"cfs\" or \"eevdf\" can",
                 "a kernel of scheduler family %s cannot follow a recording", s->ops->name);
    wb_sim_free(s);
    return NULL;
}

void drive_build_tasks(struct wb_sim *s)
{
    for (uint32_t i = 0; i < s->opt.ndrive; i++) {
        const struct wb_drive_task *spec = &s->opt.drive[i];
        struct wb_task *t =
            task_alloc(s, &(struct wb_task_spec){
                              .name = spec->name, .nice = spec->nice, .klass = spec->klass, .allowed = spec->allowed});
        t->pid = t->tgid = ++s->next_pid;
        t->mm = spec->kthread ? 0 : wb_mm_new(s);
        t->kthread = spec->kthread;
        t->rt_prio = spec->rt_prio;
        t->cpu = spec->cpu;
        t->wake_cpu = (uint16_t)spec->cpu;
        t->state = WB_INTERRUPTIBLE;
        policy_task_init(s, t);
    }
}

struct wb_task *wb_drive_task(struct wb_sim *s, uint32_t i)
{
    return s->task[2 * s->ncpus + i]; /* behind the idle tasks and the migration threads */
}

const struct wb_policy_ops *wb_drive_ops(const struct wb_sim *s)
{
    return s->ops;
}

void wb_drive_time(struct wb_sim *s, sim_time now)
{
    if (now > s->now) s->now = now;
}

struct wb_exec *wb_drive_context(struct wb_sim *s, cpu_id cpu, enum wb_level level)
{
    struct wb_cpu *c = &s->cpu[cpu];
    struct wb_exec *x = level == WB_LEVEL_HARDIRQ ? &c->irq : level == WB_LEVEL_SOFTIRQ ? &c->softirq : &c->rq.curr->x;
    x->task = c->rq.curr;
    x->cpu = cpu;
    x->seg = &c->seg[level];
    seg_clear(c, level);
    c->nkick = 0;
    return x;
}

/* A balancing pass that looks and learns, and leaves the moving to the recording. */
static void look_only(struct wb_sim *s, cpu_id cpu, const struct wb_balance_ops *o, enum wb_balance_kind kind)
{
    struct wb_exec *x = wb_drive_context(s, cpu, WB_LEVEL_SOFTIRQ);
    struct wb_balance b = {.kind = kind, .this_cpu = cpu, .exec_cpu = cpu, .dst = cpu, .src = WB_NO_CPU};
    if (!o || !o->begin(x, &b)) return;
    while (o->next(x, &b)) {
        b.moved = b.loops = 0;
        b.started = s->now;
        (void)o->find(x, &b);
        seg_clear(&s->cpu[cpu], WB_LEVEL_SOFTIRQ);
        if (o->done(x, &b, false) == WB_BAL_STOP) break;
    }
    o->end(x, &b);
}

void wb_drive_tick(struct wb_sim *s, cpu_id cpu)
{
    struct wb_rq *rq = &s->cpu[cpu].rq;
    rq->last_tick = s->now;
    rq->ticks++;
    rq->balance_softirq = false;
    s->ops->tick(wb_drive_context(s, cpu, WB_LEVEL_HARDIRQ), rq);
    rq->need_resched = rq->need_resched_lazy = false;
    enum wb_balance_kind kind = wb_idle_cpu(rq) ? WB_BAL_PERIODIC_IDLE : WB_BAL_PERIODIC_BUSY;
    if (rq->balance_softirq) look_only(s, cpu, s->ops->balance_periodic, kind);
    for (cpu_id c = 0; c < s->ncpus; c++) {
        if (!s->cpu[c].nohz_kick) continue;
        s->cpu[c].nohz_kick = false;
        look_only(s, c, s->ops->balance_nohz, WB_BAL_NOHZ);
    }
    rq->balance_softirq = false;
}

/* ---- ask ---- */

struct wb_choice wb_drive_place(struct wb_sim *s, const struct wb_wakeup *w, enum wb_level level)
{
    struct wb_choice c = s->ops->place_wakeup(wb_drive_context(s, w->this_cpu, level), w);
    c.rule = rule_of(s, c.rule);
    return c;
}

struct wb_choice wb_drive_fork(struct wb_sim *s, struct wb_task *parent, struct wb_task *child, cpu_id cpu)
{
    struct wb_exec *x = wb_drive_context(s, cpu, WB_LEVEL_TASK);
    child->cpu = cpu;
    s->ops->fork(x, parent, child);
    struct wb_choice c = s->ops->place_fork(x, child);
    c.rule = rule_of(s, c.rule);
    return c;
}

/* Queued there, neither running nor a sleeper with a debt. */
static bool has_waiting(const struct wb_sim *s, cpu_id cpu)
{
    for (uint32_t i = 2 * s->ncpus; i < s->ntasks; i++) {
        const struct wb_task *t = s->task[i];
        if (t->cpu == cpu && t->on_rq && !t->on_cpu && !t->delayed) return true;
    }
    return false;
}

struct wb_drive_pull wb_drive_newidle(struct wb_sim *s, cpu_id cpu)
{
    const struct wb_balance_ops *o = s->ops->balance_newidle;
    struct wb_exec *x = wb_drive_context(s, cpu, WB_LEVEL_TASK);
    struct wb_balance b = {.kind = WB_BAL_NEWIDLE, .this_cpu = cpu, .exec_cpu = cpu, .dst = cpu, .src = WB_NO_CPU};
    struct wb_drive_pull none = {.src = WB_NO_CPU};
    if (!o || !o->begin(x, &b)) return none;
    while (o->next(x, &b)) {
        b.src = WB_NO_CPU;
        bool found = o->find(x, &b);
        seg_clear(&s->cpu[cpu], WB_LEVEL_TASK);
        if (found && b.src != WB_NO_CPU && has_waiting(s, b.src))
            return (struct wb_drive_pull){.src = b.src, .depth = b.sd->depth, .rule = rule_of(s, b.rule)};
    }
    return none;
}

/* ---- tell ---- */

void wb_drive_unpend(struct wb_sim *s, struct wb_task *t)
{
    for (cpu_id c = 0; t->waking && c < s->ncpus; c++) {
        for (struct wb_task **at = &s->cpu[c].rq.wake_list; *at; at = &(*at)->wq_next) {
            if (*at != t) continue;
            *at = t->wq_next;
            t->waking = false;
            break;
        }
    }
    t->wq_next = NULL;
}

void wb_drive_pend(struct wb_sim *s, struct wb_task *t, cpu_id cpu)
{
    if (t->waking) wb_drive_unpend(s, t);
    t->waking = true;
    t->wq_next = s->cpu[cpu].rq.wake_list;
    s->cpu[cpu].rq.wake_list = t;
}

void wb_drive_queue(struct wb_sim *s, struct wb_task *t, uint32_t flags)
{
    struct wb_rq *rq = &s->cpu[t->cpu].rq;
    if (t->waking) wb_drive_unpend(s, t);
    if (t->on_rq && !t->delayed) return;
    if (t->delayed) flags |= WB_ENQ_DELAYED;
    s->ops->enqueue(wb_drive_context(s, t->cpu, WB_LEVEL_TASK), rq, t, flags);
    t->on_rq = true;
    t->delayed = false;
    t->state = WB_RUNNING;
}

int wb_drive_move(struct wb_sim *s, struct wb_task *t, cpu_id to)
{
    cpu_id from = t->cpu;
    if (from == to) return 0;
    if (t->on_cpu) return -1;
    struct wb_exec *x = wb_drive_context(s, to, WB_LEVEL_TASK);
    if (t->on_rq) (void)s->ops->dequeue(x, &s->cpu[from].rq, t, WB_DEQ_MIGRATE);
    s->ops->migrate(x, t, from, to);
    t->cpu = to;
    if (t->on_rq) s->ops->enqueue(x, &s->cpu[to].rq, t, WB_ENQ_MIGRATE);
    return 0;
}

void wb_drive_sleep(struct wb_sim *s, struct wb_task *t)
{
    if (!t->delayed) return;
    struct wb_exec *x = wb_drive_context(s, t->cpu, WB_LEVEL_TASK);
    (void)s->ops->dequeue(x, &s->cpu[t->cpu].rq, t, WB_DEQ_SLEEP | WB_DEQ_DELAYED);
    t->delayed = t->on_rq = false;
}

static void put_away(struct wb_sim *s, struct wb_rq *rq, enum wb_task_state state)
{
    struct wb_task *prev = rq->curr;
    struct wb_exec *x = wb_drive_context(s, rq->cpu, WB_LEVEL_TASK);
    rq->need_resched = rq->need_resched_lazy = false;
    if (prev == rq->idle) return;
    if (state != WB_RUNNING && prev->on_rq) {
        prev->state = (uint8_t)state;
        prev->delayed = !s->ops->dequeue(x, rq, prev, WB_DEQ_SLEEP | (state == WB_DEAD ? WB_DEQ_EXIT : 0u));
        prev->on_rq = prev->delayed;
    }
    s->ops->put_prev(x, rq, prev);
}

/* The CPU goes idle, so nobody is queued there: debts are paid, the rest is a hole in the recording. */
static uint32_t empty(struct wb_sim *s, struct wb_rq *rq)
{
    uint32_t strays = 0;
    for (uint32_t i = 2 * s->ncpus; rq->nr_running && i < s->ntasks; i++) {
        struct wb_task *t = s->task[i];
        if (t->cpu != rq->cpu || !t->on_rq) continue;
        if (t->delayed) {
            wb_drive_sleep(s, t);
            continue;
        }
        (void)s->ops->dequeue(wb_drive_context(s, rq->cpu, WB_LEVEL_TASK), rq, t, WB_DEQ_SAVE);
        t->on_rq = false;
        t->state = WB_INTERRUPTIBLE;
        strays++;
    }
    return strays;
}

static void newly_idle(struct wb_sim *s, struct wb_rq *rq)
{
    struct wb_balance b = {.kind = WB_BAL_NEWIDLE, .this_cpu = rq->cpu, .exec_cpu = rq->cpu, .dst = rq->cpu};
    if (s->ops->balance_newidle) (void)s->ops->balance_newidle->begin(wb_drive_context(s, rq->cpu, WB_LEVEL_TASK), &b);
}

uint32_t wb_drive_switch(struct wb_sim *s, cpu_id cpu, struct wb_task *next, enum wb_task_state state)
{
    struct wb_rq *rq = &s->cpu[cpu].rq;
    struct wb_task *prev = rq->curr;
    uint32_t strays = 0;
    put_away(s, rq, state);
    prev->on_cpu = false;
    if (next) {
        if (next->cpu != cpu) (void)wb_drive_move(s, next, cpu);
        wb_drive_queue(s, next, WB_ENQ_WAKEUP);
    } else {
        s->ops->set_next(wb_drive_context(s, cpu, WB_LEVEL_TASK), rq, NULL);
        strays = empty(s, rq);
        newly_idle(s, rq);
    }
    struct wb_exec *x = wb_drive_context(s, cpu, WB_LEVEL_TASK);
    if (next) s->ops->set_next(x, rq, next);
    rq->curr = next ? next : rq->idle;
    rq->curr->on_cpu = true;
    x = wb_drive_context(s, cpu, WB_LEVEL_TASK);
    if (s->ops->switched) s->ops->switched(x, rq, prev, rq->curr);
    if (!next && s->ops->idle_enter) (void)s->ops->idle_enter(x, rq);
    if (prev == rq->idle && next && s->ops->idle_exit) s->ops->idle_exit(x, rq);
    return strays;
}
