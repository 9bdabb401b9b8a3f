/* engine.c - the main loop: take the earliest event, let its CPU step. */
#include "sim.h"

/* The earliest entry besides the one being handled. */
static struct evq_entry queue_next(const struct wb_sim *s)
{
    if (!s->hole) return *evq_peek(&s->q);
    return s->q.n > 1 ? s->q.h[evq_min4(s->q.h, 1)] : EVQ_NEVER;
}

static inline const struct evq_entry *earlier(const struct evq_entry *a, const struct evq_entry *b)
{
    return evq_before(b, a) ? b : a;
}

/* The earliest thing that anybody waits for. Kept until an event is taken or ticks change; a post can only bring it
 * forward. */
static const struct evq_entry *horizon(struct wb_sim *s)
{
    if (WB_LIKELY(s->horizon_valid)) return &s->horizon;
    struct evq_entry q = queue_next(s);
    s->horizon = *earlier(earlier(&q, tickring_peek(&s->ticks)), &s->limit);
    s->horizon_valid = !s->no_inline && !s->stopped && !s->catching_up;
    s->passes_before = s->horizon_valid ? s->horizon.time : 0;
    return &s->horizon;
}

void horizon_renew(struct wb_sim *s)
{
    (void)horizon(s);
}

void engine_stop(struct wb_sim *s)
{
    s->stopped = true;
    horizon_forget(s);
}

void event_post(struct wb_sim *s, sim_time when, enum event_class class, uint32_t entity, uint64_t counter)
{
    WB_CHECK(when >= s->now, "event %d of %u in the past: %llu", (int)class, entity, (unsigned long long)when);
    struct evq_entry e = {.time = when, .key = evq_key(class, entity, counter)};
    if (evq_before(&e, &s->horizon)) {
        s->horizon = e;
        if (s->horizon_valid) s->passes_before = when;
    }
    if (s->hole) {
        s->hole = false;
        evq_replace_top(&s->q, e);
    } else {
        evq_push(&s->q, e);
    }
}

/* Would the end of a segment be the very next thing to happen? Then it need not be an event. */
bool event_may_run_to(struct wb_sim *s, sim_time end, cpu_id cpu, uint64_t counter)
{
    struct evq_entry mine = {.time = end, .key = evq_key(EV_SEGMENT, cpu, counter)};
    if (WB_UNLIKELY(step_looks_up(s))) { /* a program may go on inline for long */
        sim_look_up(s, NULL);
        if (s->broken_off) return false;
    }
    if (WB_UNLIKELY(s->cpu[cpu].elide.catching_up)) return evq_before(&mine, &s->limit); /* where the others stand */
    return !s->no_inline && !s->stopped && evq_before(&mine, horizon(s));
}

static void on_segment(struct wb_sim *s, uint32_t cpu, uint64_t counter)
{
    struct wb_cpu *c = &s->cpu[cpu];
    if ((c->ev & EVQ_COUNTER_MASK) != counter || !c->ev) {
        s->stale++;
        s->popped--;
        return;
    }
    cpu_segment_end(s, c);
}

static void on_grant(struct wb_sim *s, uint32_t cpu, uint64_t counter)
{
    struct wb_cpu *c = &s->cpu[cpu];
    (void)counter;
    if (c->mode != CPU_SPIN || !c->ctx->spin_granted) return; /* it is away in an interrupt, or has it already */
    acct_add(s, c, spin_label(c->ctx, WB_FN_SPIN_LOCK), WB_CAT_LOCK, s->now - c->since);
    c->since = s->now;
    cpu_run(c, s);
}

static void on_irq(struct wb_sim *s, uint32_t cpu, uint64_t counter)
{
    (void)counter;
    s->cpu[cpu].ipi_arrived = true;
    irq_raise(s, &s->cpu[cpu], IRQ_RESCHED);
}

static void on_polled(struct wb_sim *s, uint32_t cpu, uint64_t counter)
{
    (void)counter;
    idle_polled(s, &s->cpu[cpu]);
}

static void on_timer(struct wb_sim *s, uint32_t task, uint64_t counter)
{
    struct wb_task *t = s->task[task];
    if (t->timer_no != counter) {
        s->stale++;
        s->popped--;
        return;
    }
    struct wb_cpu *c = &s->cpu[t->timer_cpu];
    t->wq_next = c->timer_due;
    c->timer_due = t;
    irq_raise(s, c, IRQ_TIMER);
}

static void on_start(struct wb_sim *s, uint32_t task, uint64_t cpu)
{
    struct wb_task *t = s->task[task];
    struct wb_cpu *c = &s->cpu[cpu];
    t->wq_next = c->start_due;
    c->start_due = t;
    irq_raise(s, c, IRQ_START);
}

static void on_noise(struct wb_sim *s, uint32_t source, uint64_t counter)
{
    (void)counter;
    noise_event(s, source);
}

static void on_window(struct wb_sim *s, uint32_t entity, uint64_t counter)
{
    (void)entity;
    event_post(s, measure_window(s->m, s->now), EV_WINDOW, 0, counter + 1);
}

static void on_warm(struct wb_sim *s, uint32_t entity, uint64_t counter)
{
    (void)entity;
    (void)counter;
    result_baseline(s);
    measure_start(s->m, s->now);
    event_post(s, measure_window_end(s->m), EV_WINDOW, 0, 0);
}

static void on_stop(struct wb_sim *s, uint32_t entity, uint64_t counter)
{
    (void)entity;
    (void)counter;
    engine_stop(s);
}

static void (*const handler[EV_CLASSES])(struct wb_sim *s, uint32_t entity, uint64_t counter) = {
    [EV_SEGMENT] = on_segment, [EV_GRANT] = on_grant, [EV_IRQ] = on_irq,     [EV_POLLED] = on_polled,
    [EV_TIMER] = on_timer,     [EV_NOISE] = on_noise, [EV_START] = on_start, [EV_WINDOW] = on_window,
    [EV_WARM] = on_warm,       [EV_STOP] = on_stop};

static void handle(struct wb_sim *s, const struct evq_entry *e)
{
    s->now = e->time;
    s->at = *e;
    s->passed = NULL;
    wb_where.now = e->time;
    s->popped++;
    handler[evq_class(e->key)](s, evq_entity(e->key), evq_counter(e->key));
}

/* Machines of thousands of CPUs do not fit the host's caches, and each event meets another CPU and task. The next one
 * is among the four below the top: all their CPUs are fetched, which most of them have been for a while, and the task
 * of the earliest. */
WB_APART static void look_ahead(const struct wb_sim *s)
{
    const struct evq_entry *next = &s->q.h[1], *first = &s->q.h[evq_min4(s->q.h, 1)];
    for (uint32_t i = 0; i < 4; i++) {
        if (evq_class(next[i].key) != EV_SEGMENT) continue;
        const struct wb_cpu *c = &s->cpu[evq_entity(next[i].key)];
        fetch_lines(c, 5);
        fetch_lines(&c->spin[0], 1);
        fetch_lines(c->acct, 2);
    }
    if (evq_class(first->key) == EV_SEGMENT) fetch_lines(s->cpu[evq_entity(first->key)].ctx, 7);
}

static void handle_queue(struct wb_sim *s)
{
    struct evq_entry e = *evq_peek(&s->q);
    if (WB_UNLIKELY(s->wide)) look_ahead(s);
    s->hole = true;
    horizon_forget(s);
    handle(s, &e);
    if (!s->hole) return;
    s->hole = false;
    (void)evq_pop(&s->q);
}

void sim_trace(struct wb_sim *s, const struct wb_trace_record *r)
{
    trace_emit(&s->trace, *r);
}

void sim_look_up(struct wb_sim *s, const struct wb_cpu *c)
{
    if (s->opt.stop && *s->opt.stop) s->broken_off = true;
    if (s->now != s->looked_at) s->looks_at_this_time = 0;
    s->looked_at = s->now;
    if (s->looks_at_this_time++ >= STALLED_LOOKS && c) s->stalled = c->ctx->task ? c->ctx->task : s->task[0];
    if (s->broken_off || s->stalled) engine_stop(s);
}

bool wb_sim_step_to(struct wb_sim *s, sim_time until)
{
    /* Everything at `until` itself still happens. */
    s->limit = (struct evq_entry){.time = until, .key = UINT64_MAX};
    horizon_forget(s);
    while (!s->stopped) {
        if (WB_UNLIKELY(step_looks_up(s))) sim_look_up(s, NULL);
        const struct evq_entry *t = tickring_peek(&s->ticks);
        const struct evq_entry *q = evq_peek(&s->q);
        bool tick = evq_before(t, q);
        if ((tick ? t : q)->time > until) break;
        if ((tick ? t : q)->time == WB_TIME_NEVER) {
            engine_stop(s);
        } else if (tick) {
            cpu_id cpu = evq_entity(t->key);
            s->now = t->time;
            s->at = *t;
            s->passed = NULL;
            wb_where.now = t->time;
            s->popped++;
            tickring_advance(&s->ticks);
            horizon_forget(s);
            tick_event(s, cpu);
        } else {
            handle_queue(s);
        }
        /* What was broken off may stand in the middle of a step. */
        if (WB_UNLIKELY(s->audit) && !s->broken_off && !s->stalled) sim_audit(s);
    }
    return !s->stopped;
}

enum wb_run_end wb_sim_run(struct wb_sim *s)
{
    wb_where = (struct wb_where){.seed = s->seed, .replication = s->replication, .cpu = WB_NO_CPU, .task = WB_NO_TASK};
    (void)wb_sim_step_to(s, WB_TIME_NEVER - 1);
    if (s->stalled || s->broken_off) return s->stalled ? WB_RUN_STALLED : WB_RUN_BROKEN;
    tick_catch_up_all(s);
    measure_finish(s->m, s->now);
    return s->finished || !s->stop_when_done ? WB_RUN_DONE : WB_RUN_LATE;
}

const char *wb_sim_stalled(const struct wb_sim *s, uint32_t *instance)
{
    WB_CHECK(s->stalled, "no task is stalled");
    *instance = s->stalled->owner;
    return s->names[s->stalled->name];
}
