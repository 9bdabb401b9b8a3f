/* timer.c - sleeping for a time, tasks that the outside world starts, and background interrupts. */
#include "sim.h"

/* ---- nanosleep ---- */

struct sleeping {
    struct wb_frame h;
    sim_time when;
};

/* Timers on jiffies fire on the first tick of this CPU that is at or after the moment asked for. */
static sim_time round_to_timer(struct wb_sim *s, cpu_id cpu, sim_time when)
{
    if (!s->k.timer_jiffies) return when;
    return tickring_time(&s->ticks, cpu, tickring_index_from(&s->ticks, cpu, when));
}

static enum wb_ret sleep_step(struct wb_exec *x, void *frame)
{
    struct sleeping *f = frame;
    struct wb_sim *s = x->sim;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_NANOSLEEP);
    WB_FLUSH(x, f);
    if (f->when <= s->now) WB_RETURN(x, 0);
    x->task->timer_cpu = (uint16_t)x->cpu;
    x->task->state = WB_INTERRUPTIBLE;
    event_post(s, round_to_timer(s, x->cpu, f->when), EV_TIMER, x->task->id, ++x->task->timer_no);
    WB_CALL(x, f, wb_schedule(x));
    WB_RETURN(x, 0);
    WB_END();
}

void wb_sleep_until(struct wb_exec *x, sim_time when)
{
    struct sleeping *f = WB_PUSH(x, sleep_step, struct sleeping);
    f->when = when;
}

/* ---- interrupts that wake or start a list of tasks ---- */

struct task_list {
    struct wb_frame h;
    struct wb_task *t, *next;
};

static enum wb_ret timer_step(struct wb_exec *x, void *frame)
{
    struct task_list *f = frame;
    WB_BEGIN(f);
    f->next = cpu_of(x)->timer_due;
    cpu_of(x)->timer_due = NULL;
    while (f->next) {
        f->t = f->next;
        f->next = f->t->wq_next;
        wb_charge_fn(x, WB_FN_TIMER_IRQ);
        WB_CALL(x, f, wb_try_to_wake_up(x, f->t, WB_ASLEEP, 0));
    }
    WB_END();
}

void timer_handler(struct wb_exec *x)
{
    (void)WB_PUSH(x, timer_step, struct task_list);
}

static enum wb_ret start_step(struct wb_exec *x, void *frame)
{
    struct task_list *f = frame;
    WB_BEGIN(f);
    f->next = cpu_of(x)->start_due;
    cpu_of(x)->start_due = NULL;
    while (f->next) {
        f->t = f->next;
        f->next = f->t->wq_next;
        measure_instance_started(x->sim->m, f->t->owner, x->sim->now);
        WB_CALL(x, f, wake_new_task(x, f->t, 0));
    }
    WB_END();
}

void start_handler(struct wb_exec *x)
{
    (void)WB_PUSH(x, start_step, struct task_list);
}

/* ---- background interrupts named by the scenario ---- */

#define NOISE_PIECE (10 * WB_S)     /* a segment holds 70 s */
#define NOISE_DUE_MAX (1000 * WB_S) /* a CPU that owes so much does nothing else any more */

struct noise_frame {
    struct wb_frame h;
    sim_time left;
};

static enum wb_ret noise_step(struct wb_exec *x, void *frame)
{
    struct noise_frame *f = frame;
    WB_BEGIN(f);
    f->left = cpu_of(x)->noise_due;
    cpu_of(x)->noise_due = 0;
    for (;;) {
        wb_charge(x, WB_FN_NOISE, WB_CAT_NOISE, WB_MIN(f->left, NOISE_PIECE));
        WB_FLUSH(x, f);
        if (f->left <= NOISE_PIECE) break;
        f->left -= NOISE_PIECE;
    }
    WB_END();
}

void noise_handler(struct wb_exec *x)
{
    (void)WB_PUSH(x, noise_step, struct noise_frame);
}

void noise_event(struct wb_sim *s, uint32_t source)
{
    struct noise_source *n = &s->noise[source];
    cpu_id cpu = n->cpu == WB_NO_CPU ? (cpu_id)wb_draw_below(&n->stream, s->ncpus) : n->cpu;
    sim_time cost = (sim_time)wb_dist_draw(&n->cost, &n->stream);
    sim_time gap = (sim_time)wb_dist_draw(&n->gap, &n->stream);
    event_post(s, s->now + WB_MAX(gap, WB_NS), EV_NOISE, source, 0);
    s->cpu[cpu].noise_due = WB_MIN(s->cpu[cpu].noise_due + WB_MIN(cost, NOISE_DUE_MAX), NOISE_DUE_MAX);
    irq_raise(s, &s->cpu[cpu], IRQ_NOISE);
}
