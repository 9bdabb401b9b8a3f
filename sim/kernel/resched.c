/* resched.c - need_resched, and how another CPU gets to know: an IPI, or the flag that its idle loop watches. */
#include "sim.h"

bool wb_need_resched(const struct wb_exec *x)
{
    return cpu_of(x)->rq.need_resched;
}

void wb_resched(struct wb_exec *x, struct wb_rq *rq)
{
    if (rq->need_resched) return;
    rq->need_resched = true;
    looks_cpu_needed(x->sim, rq_cpu(x->sim, rq));
    if (rq->cpu == x->cpu) return;
    struct wb_cpu *c = cpu_of(x);
    WB_CHECK(c->nkick < KICKS_MAX, "more than %u CPUs to kick at once", KICKS_MAX);
    c->kick[c->nkick++] = rq->cpu;
    wb_charge_fn(x, WB_FN_RESCHED_TASK);
}

/* The flag is set in the other CPU's line, a locked operation (resched_task, set_tsk_need_resched). A polling CPU
 * notices it once the line has travelled back; any other needs an interrupt. */
void kick_send(struct wb_exec *x)
{
    struct wb_sim *s = x->sim;
    struct wb_cpu *me = cpu_of(x);
    for (uint32_t i = 0; i < me->nkick; i++) {
        struct wb_cpu *c = &s->cpu[me->kick[i]];
        wb_line_use(x, c->flag_line, WB_LINE_RMW, WB_FN_RESCHED_TASK);
        bool polls = c->rq.polling || (s->k.idle_poll && wb_idle_cpu(&c->rq));
        if (!polls) {
            ipi_send(x, c->id);
            continue;
        }
        /* Not halted yet: it will not, now (current_clr_polling_and_test() after the tick is stopped). */
        if (c->mode != CPU_HALT && (c->rq.wake_list || c->nohz_kick)) c->pending |= 1u << IRQ_RESCHED;
        enum wb_distance d = wb_topo_distance(s->topo, x->cpu, c->id);
        event_post(s, s->now + wb_machine_costs(s->machine)->dirty[d].latency, EV_POLLED, c->id, ++c->ipino);
    }
    me->nkick = 0;
}

/* ---- the reschedule interrupt: also carries queued wakeups ---- */

struct resched_irq {
    struct wb_frame h;
    struct wb_task *list;
};

static struct wb_task *list_reverse(struct wb_task *t)
{
    struct wb_task *out = NULL;
    while (t) {
        struct wb_task *next = t->wq_next;
        t->wq_next = out;
        out = t;
        t = next;
    }
    return out;
}

static enum wb_ret resched_irq_step(struct wb_exec *x, void *frame)
{
    struct resched_irq *f = frame;
    struct wb_cpu *c = cpu_of(x);
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_RESCHED_IRQ);
    if (c->nohz_kick) {
        c->nohz_kick = false;
        wb_raise_balance(x);
    }
    if (!c->rq.wake_list) WB_RETURN(x, 0);
    WB_LINE(x, f, c->list_line, WB_LINE_RMW, WB_FN_RESCHED_IRQ);
    f->list = list_reverse(c->rq.wake_list);
    c->rq.wake_list = NULL;
    WB_SPIN_LOCK(x, f, &c->rq.lock);
    while (f->list) {
        struct wb_task *t = f->list;
        f->list = t->wq_next;
        t->waking = false;
        task_activate(x, &c->rq, t, WB_ENQ_WAKEUP | (t->wake_cpu != x->cpu ? WB_ENQ_MIGRATED : 0), 0);
    }
    KICK_ALL(x, f);
    WB_SPIN_UNLOCK(x, f, &c->rq.lock);
    WB_END();
}

void resched_handler(struct wb_exec *x)
{
    (void)WB_PUSH(x, resched_irq_step, struct resched_irq);
}

/* Queue a wakeup on its target (5.8 ttwu_queue_wakelist). The interrupt is needed only for the first of a batch. */
void wake_list_add(struct wb_exec *x, struct wb_task *t, cpu_id cpu)
{
    struct wb_cpu *c = &x->sim->cpu[cpu];
    tick_catch_up(x->sim, c); /* to a tick it is idle no longer */
    bool first = c->rq.wake_list == NULL;
    t->wq_next = c->rq.wake_list;
    c->rq.wake_list = t;
    wb_line_use(x, c->list_line, WB_LINE_RMW, WB_FN_TRY_TO_WAKE_UP);
    if (!first) return;
    struct wb_cpu *me = cpu_of(x);
    WB_CHECK(me->nkick < KICKS_MAX, "more than %u CPUs to kick at once", KICKS_MAX);
    me->kick[me->nkick++] = cpu;
}

void wb_kick_nohz(struct wb_exec *x, cpu_id cpu)
{
    struct wb_cpu *c = &x->sim->cpu[cpu];
    struct wb_cpu *me = cpu_of(x);
    if (c->nohz_kick) return;
    c->nohz_kick = true;
    WB_CHECK(me->nkick < KICKS_MAX, "more than %u CPUs to kick at once", KICKS_MAX);
    me->kick[me->nkick++] = cpu;
}
