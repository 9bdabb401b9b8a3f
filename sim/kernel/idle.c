/*
 * idle.c - the idle task, halting and waking, and the measure of idle CPUs while work waits.
 *
 * With kernel.idle_watches the loop watches need_resched from its begin until it halts, so over the time that stopping
 * the tick takes, and again while it starts the tick (Linux kernel/sched/idle.c: do_idle() sets TIF_POLLING_NRFLAG,
 * call_cpuidle() clears it after tick_nohz_idle_stop_tick(), do_idle() after tick_nohz_idle_exit()). A wakeup in that
 * time needs no interrupt (set_nr_if_polling()), and the CPU does not halt; but the tick that it has stopped has to be
 * started again.
 */
#include "sim.h"

struct idle_loop {
    struct wb_frame h;
    bool stopped; /* its tick, since it entered idle */
};

static const struct wb_idle_state *shallowest(const struct wb_sim *s)
{
    return &wb_machine_costs(s->machine)->idle[0];
}

static enum wb_ret idle_step(struct wb_exec *x, void *frame)
{
    struct idle_loop *f = frame;
    struct wb_sim *s = x->sim;
    WB_BEGIN(f);
    for (;;) {
        cpu_of(x)->rq.polling = s->k.idle_watches;
        while (!wb_need_resched(x)) {
            wb_irq_disable(x);
            wb_charge_fn(x, WB_FN_IDLE_ENTRY);
            WB_FLUSH(x, f);
            if (!wb_need_resched(x) && !cpu_of(x)->pending) {
                if (s->ops->idle_enter && s->ops->idle_enter(x, &cpu_of(x)->rq)) {
                    wb_tick_stop(s, x->cpu);
                    if (!f->stopped) wb_charge_fn(x, WB_FN_TICK_STOP);
                    f->stopped = true;
                    WB_FLUSH(x, f);
                }
                /* A policy whose queue is shared has looked once more and may have found something; an interrupt that
                 * came while the tick was stopped ends the halt at once. */
                if (!wb_need_resched(x) && !cpu_of(x)->pending) WB_YIELD_(f, WB_HALT);
                cpu_of(x)->rq.polling = s->k.idle_watches;
                if (s->ops->idle_exit) s->ops->idle_exit(x, &cpu_of(x)->rq);
                WB_FLUSH(x, f);
            }
            wb_irq_enable(x);
            WB_FLUSH(x, f);
        }
        wb_tick_start(s, x->cpu); /* a tickless kernel has stopped it */
        if (f->stopped) wb_charge_fn(x, WB_FN_TICK_RESTART);
        f->stopped = false;
        if (s->k.idle_watches) WB_FLUSH(x, f);
        cpu_of(x)->rq.polling = false;
        WB_CALL(x, f, wb_schedule(x));
    }
    WB_END();
}

void idle_task_init(struct wb_sim *s, struct wb_cpu *c)
{
    struct wb_task *t = s->task[c->id];
    (void)WB_PUSH(&t->x, idle_step, struct idle_loop);
    t->klass = WB_CLASS_SWAPPER;
    t->kthread = true;
    t->cpu = c->id;
    t->on_cpu = true;
    t->x.cpu = c->id;
    t->x.seg = &c->seg[WB_LEVEL_TASK];
    c->rq.idle = c->rq.curr = t;
    c->ctx = &t->x;
    c->idle_stream = wb_sim_stream(s, c->id, WB_PURPOSE('i', 'd', 'l', 'e'));
}

/* ---- work conservation, measured ---- */

void iww_update(struct wb_sim *s, int idle_delta, int waiting_delta)
{
    struct idle_while_waiting *w = &s->iww;
    uint32_t both = WB_MIN(w->idle_cpus, w->waiting);
    w->total += both * (s->now - w->since);
    w->since = s->now;
    w->idle_cpus = (uint32_t)((int)w->idle_cpus + idle_delta);
    w->waiting = (uint32_t)((int)w->waiting + waiting_delta);
}

/* ---- halting and waking ---- */

void idle_halt(struct wb_sim *s, struct wb_cpu *c)
{
    const struct wb_idle_state *st = shallowest(s);
    c->mode = CPU_HALT;
    c->since = c->idle_since = s->now;
    s->count.idle_entries++;
    c->rq.polling = s->k.idle_poll || st->wake != WB_WAKE_IPI;
    cpu_set_load(s, c, s->k.idle_poll ? 1000000 : st->smt_load_ppm);
    TRACE(s, .type = WB_TR_IDLE, .cpu = (uint16_t)c->id, .task = c->rq.idle->id, .a = 1);
    tick_consider_skip(s, c);
}

sim_time idle_exit_time(const struct wb_sim *s, sim_time since, sim_time when, struct wb_stream *rng)
{
    return s->k.idle_poll ? 0 : wb_idle_exit_latency(s->machine, since, when, rng);
}

/* Something has happened: the exit latency of the state that the hardware is in by now is worked off first. */
void idle_wake(struct wb_sim *s, struct wb_cpu *c)
{
    WB_CHECK(c->mode == CPU_HALT, "waking cpu %u, which is not idle", c->id);
    struct wb_exec *x = c->ctx;
    sim_time exit = idle_exit_time(s, c->idle_since, s->now, &c->idle_stream);
    acct_add(s, c, WB_FN_IDLE, WB_CAT_IDLE, s->now - c->since);
    c->since = s->now;
    c->mode = CPU_RUN;
    c->rq.polling = false;
    cpu_set_load(s, c, 1000000);
    wb_charge(x, WB_FN_IDLE_EXIT, WB_CAT_IDLE_EXIT, exit);
    TRACE(s, .type = WB_TR_IDLE, .cpu = (uint16_t)c->id, .task = c->rq.idle->id, .b = (uint32_t)(exit / WB_NS));
}

/* The idle loop has seen need_resched (or a queued wakeup) by itself. */
void idle_polled(struct wb_sim *s, struct wb_cpu *c)
{
    tick_catch_up(s, c);
    if (c->rq.wake_list || c->nohz_kick) c->pending |= 1u << IRQ_RESCHED;
    if (c->mode != CPU_HALT) {
        if (!c->pending || c->ctx->irq_off || c->ctx->level == WB_LEVEL_HARDIRQ) return;
        irq_raise(s, c, IRQ_RESCHED);
        return;
    }
    if (!c->rq.need_resched && !c->pending) return;
    idle_wake(s, c);
    cpu_run(c, s);
}
