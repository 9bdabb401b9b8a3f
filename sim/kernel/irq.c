/* irq.c - interrupts and softirqs: they nest on whatever runs and extend it. */
#include "sim.h"

typedef void (*push_fn)(struct wb_exec *x);

static const push_fn vector_push[IRQ_VECTORS] = {
    [IRQ_TICK] = tick_handler,   [IRQ_TIMER] = timer_handler, [IRQ_RESCHED] = resched_handler,
    [IRQ_NOISE] = noise_handler, [IRQ_START] = start_handler,
};

/* An interrupt arrives: at once if the CPU takes interrupts now, else when it enables them. */
void irq_raise(struct wb_sim *s, struct wb_cpu *c, enum irq_vector v)
{
    tick_catch_up(s, c);
    c->pending = (uint16_t)(c->pending | 1u << v);
    if (c->mode == CPU_HALT) {
        idle_wake(s, c);
        cpu_run(c, s);
        return;
    }
    const struct wb_exec *x = c->ctx;
    if (x->level == WB_LEVEL_HARDIRQ || x->irq_off) return;
    if (c->mode == CPU_SPIN) {
        acct_add(s, c, spin_label(x, WB_FN_SPIN_LOCK), WB_CAT_LOCK, s->now - c->since);
        c->since = s->now;
    }
    cpu_pause(s, c);
    cpu_run(c, s);
}

/* What came over the interconnect has its entry in hardware before the kernel's; timers are local. Queued wakeups that
 * a polling idle loop notices by itself are handled without any interrupt (flush_smp_call_function_queue, 5.10). */
static void charge_entry(const struct wb_sim *s, struct wb_cpu *c, struct wb_exec *x, enum irq_vector v)
{
    if (v == IRQ_RESCHED) {
        if (!c->ipi_arrived) return;
        c->ipi_arrived = false;
        wb_charge(x, WB_FN_IRQ_ENTRY, WB_CAT_IRQ, wb_machine_costs(s->machine)->ipi_entry);
    }
    wb_charge_fn(x, WB_FN_IRQ_ENTRY);
}

bool irq_enter(struct wb_sim *s, struct wb_cpu *c)
{
    if (!c->pending) return false;
    enum irq_vector v = (enum irq_vector)__builtin_ctz(c->pending);
    c->pending &= c->pending - 1;
    c->irqs++;
    struct wb_exec *x = &c->irq;
    c->irq_below = c->ctx;
    seg_shelve(s, c->ctx->seg);
    c->ctx = x;
    x->task = c->rq.curr;
    x->cpu = c->id;
    charge_entry(s, c, x, v);
    vector_push[v](x);
    return true;
}

void irq_leave(struct wb_sim *s, struct wb_cpu *c)
{
    (void)s;
    c->ctx = c->irq_below;
}

bool softirq_enter(struct wb_sim *s, struct wb_cpu *c)
{
    if (!c->softirqs) return false;
    enum wb_softirq nr = (enum wb_softirq)__builtin_ctz(c->softirqs);
    c->softirqs &= c->softirqs - 1;
    c->irqs++;
    struct wb_exec *x = &c->softirq;
    WB_CHECK(s->softirq_push[nr], "softirq %d has no handler", (int)nr);
    c->softirq_below = c->ctx;
    seg_shelve(s, c->ctx->seg);
    c->ctx = x;
    x->task = c->rq.curr;
    x->cpu = c->id;
    wb_charge_fn(x, WB_FN_DO_SOFTIRQ);
    s->softirq_push[nr](x);
    return true;
}

void softirq_leave(struct wb_sim *s, struct wb_cpu *c)
{
    (void)s;
    c->ctx = c->softirq_below;
}

void wb_softirq_handler(struct wb_sim *s, enum wb_softirq nr, void (*push)(struct wb_exec *x))
{
    s->softirq_push[nr] = push;
}

void wb_raise_softirq(struct wb_exec *x, enum wb_softirq nr)
{
    cpu_of(x)->softirqs = (uint16_t)(cpu_of(x)->softirqs | 1u << nr);
}

void wb_bh_enable(struct wb_exec *x)
{
    WB_CHECK(x->bh_off, "bh_enable without bh_disable");
    x->bh_off--;
}

void wb_irq_enable(struct wb_exec *x)
{
    WB_CHECK(x->irq_off, "irq_enable without irq_disable");
    x->irq_off--;
}

/* ---- inter-processor interrupts ---- */

/* One IPI. The sender is busy for a while; flight overlaps that from a stated offset. The caller has flushed: it
 * leaves now. */
void ipi_send(struct wb_exec *x, cpu_id to)
{
    struct wb_sim *s = x->sim;
    struct wb_ipi ipi;
    wb_ipi_cost(s->machine, x->cpu, to, &ipi);
    wb_charge(x, WB_FN_SEND_IPI, WB_CAT_IRQ, ipi.send);
    x->sim->count.ipis++;
    TRACE(s, .type = WB_TR_IPI, .cpu = (uint16_t)x->cpu, .task = x->task->id, .a = to);
    event_post(s, s->now + ipi.offset + ipi.flight, EV_IRQ, to, ++s->cpu[to].ipino);
}
