#include "custom.h"

/* ---- small frames for words that take time ---- */

struct spend {
    struct wb_frame h;
    sim_time dur, left;
};

static enum wb_ret spend_step(struct wb_exec *x, void *frame)
{
    struct spend *f = frame;
    WB_BEGIN(f);
    WORKLOAD_COMPUTE(x, f, f->dur);
    WB_END();
}

static void spend(struct wb_exec *x, sim_time dur)
{
    struct spend *f = WB_PUSH(x, spend_step, struct spend);
    f->dur = WB_MAX(dur, WB_NS);
}

struct touch {
    struct wb_frame h;
    uint32_t region;
    const struct custom_op *op;
};

static enum wb_ret touch_step(struct wb_exec *x, void *frame)
{
    struct touch *f = frame;
    WB_BEGIN(f);
    WB_TOUCH(x, f, WB_SPAN(f->region, 0, f->op->n), f->op->how & CUSTOM_TOUCH_RANDOM ? WB_RANDOM : WB_STREAM,
             f->op->how & CUSTOM_TOUCH_READ ? WB_READ : WB_WRITE, WB_FN_MEMORY);
    WB_FLUSH(x, f);
    WB_END();
}

/* All of a read or write: x->ret <= 0 = end of file or no reader. */
struct transfer {
    struct wb_frame h;
    struct wb_channel *ch;
    uint64_t left;
    uint32_t buf;
    uint16_t fn_call;
    uint8_t end;
    bool once;
};

static enum wb_ret transfer_step(struct wb_exec *x, void *frame)
{
    struct transfer *f = frame;
    WB_BEGIN(f);
    do {
        wb_charge_fn(x, f->fn_call);
        WB_FLUSH(x, f);
        WB_CALL(x, f,
                f->end ? f->ch->ops->read(x, f->ch, 1, f->buf, f->left)
                       : f->ch->ops->write(x, f->ch, 0, f->buf, f->left));
        if (x->ret <= 0) WB_RETURN(x, x->ret);
        f->left -= (uint64_t)x->ret;
    } while (f->left && !f->once);
    WB_RETURN(x, 1);
    WB_END();
}

/* ---- events: a wait queue, with a counter when they remember ---- */

struct event_call {
    struct wb_frame h;
    struct custom_event *e;
    struct wb_wait_entry w;
    uint16_t fn;
    uint8_t how;
    bool queued;
};

/* Without memory: sleep until the next wake. With memory: look, queue, look again, sleep; the kernels' wait_event(). */
static enum wb_ret wait_step(struct wb_exec *x, void *frame)
{
    struct event_call *f = frame;
    struct custom_event *e = f->e;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, f->fn);
    f->w.autoremove = true;
    for (;;) {
        WB_LINE(x, f, e->line, WB_LINE_RMW, f->fn);
        WB_FLUSH(x, f);
        if (e->count) {
            e->count--;
            break;
        }
        if (f->queued && !e->memory && !f->w.queued) break; /* woken */
        WB_CALL(x, f, wb_prepare_to_wait(x, &e->q, &f->w, true, WB_INTERRUPTIBLE));
        if (!e->count) WB_CALL(x, f, wb_schedule(x));
        f->queued = true;
    }
    if (f->queued) WB_CALL(x, f, wb_finish_wait(x, &e->q, &f->w));
    WB_SYSCALL_EXIT(x, f);
    WB_END();
}

static enum wb_ret wake_step(struct wb_exec *x, void *frame)
{
    struct event_call *f = frame;
    struct custom_event *e = f->e;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    wb_charge_fn(x, f->fn);
    WB_LINE(x, f, e->line, WB_LINE_RMW, f->fn);
    WB_FLUSH(x, f);
    if (e->memory) e->count++;
    WB_CALL(x, f,
            wb_wake_up(x, &e->q, 1u << WB_INTERRUPTIBLE, f->how & CUSTOM_HOW_ALL ? 0 : 1,
                       f->how & CUSTOM_HOW_SYNC ? WB_WF_SYNC : 0));
    WB_SYSCALL_EXIT(x, f);
    WB_END();
}

static void event_call(struct wb_exec *x, struct custom_frame *f, uint32_t event, bool wake)
{
    struct event_call *g = WB_PUSH(x, wake ? wake_step : wait_step, struct event_call);
    g->e = &f->copy->event[event];
    g->fn = wake ? f->copy->c->fn_wake : f->copy->c->fn_wait;
    g->how = f->op->how;
}

/* ---- locks ---- */

struct lock_call {
    struct wb_frame h;
    struct wb_sleeplock *l;
    bool take;
};

static void user_lock(struct wb_exec *x, struct futex *u, bool take)
{
    if (take)
        futex_lock(x, u);
    else
        futex_unlock(x, u);
}

static enum wb_ret lock_step(struct wb_exec *x, void *frame)
{
    struct lock_call *f = frame;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    if (f->take)
        WB_CALL(x, f, wb_sleeplock_lock(x, f->l));
    else
        WB_CALL(x, f, wb_sleeplock_unlock(x, f->l));
    WB_SYSCALL_EXIT(x, f);
    WB_END();
}

/* ---- closing ---- */

/* Closes the next end in f->closed that is still open; false = none left. */
static bool close_next(struct wb_exec *x, struct custom_frame *f, uint32_t channel, uint8_t ends)
{
    const struct custom_program *p = &f->task->prog;
    for (uint32_t i = 0; i < p->nends; i++) {
        if (f->closed >> i & 1 || !(ends >> p->end[i].end & 1)) continue;
        if (channel != CUSTOM_NONE && p->end[i].channel != channel) continue;
        f->closed |= 1u << i;
        struct wb_channel *ch = f->copy->channel[p->end[i].channel];
        ch->ops->close(x, ch, p->end[i].end);
        return true;
    }
    return false;
}

/* ---- words ---- */

static void do_run(struct wb_exec *x, struct custom_frame *f)
{
    spend(x, (sim_time)wb_dist_draw(f->op->dist, &f->draw));
}
static void do_sleep(struct wb_exec *x, struct custom_frame *f)
{
    wb_sleep_until(x, wb_now(x) + (sim_time)wb_dist_draw(f->op->dist, &f->draw));
}
static void do_timer(struct wb_exec *x, struct custom_frame *f)
{
    sim_time now = wb_now(x);
    f->due += f->op->n;
    if (f->due < now) f->due += (now - f->due + f->op->n - 1) / f->op->n * f->op->n;
    wb_sleep_until(x, f->due);
}
static void do_touch(struct wb_exec *x, struct custom_frame *f)
{
    struct touch *g = WB_PUSH(x, touch_step, struct touch);
    g->region = f->copy->region[f->op->ref];
    g->op = f->op;
}
static void do_transfer(struct wb_exec *x, struct custom_frame *f)
{
    struct transfer *g = WB_PUSH(x, transfer_step, struct transfer);
    g->ch = f->copy->channel[f->op->ref];
    g->left = f->op->n;
    g->buf = f->buf;
    g->fn_call = f->copy->c->e.fn_call;
    g->end = f->op->code != CUSTOM_WRITE;
    g->once = f->op->code == CUSTOM_READ;
}
static void do_close(struct wb_exec *x, struct custom_frame *f)
{
    if (!close_next(x, f, f->op->ref, f->op->how)) return;
    f->pc--; /* there may be another end */
}
static void do_wait(struct wb_exec *x, struct custom_frame *f)
{
    event_call(x, f, f->op->ref, false);
}
static void do_wake(struct wb_exec *x, struct custom_frame *f)
{
    event_call(x, f, f->op->ref, true);
}
/* Each entry of `tasks` has an event of its own behind the declared ones. */
static void do_suspend(struct wb_exec *x, struct custom_frame *f)
{
    const struct custom *c = f->copy->c;
    event_call(x, f, c->list[CUSTOM_EVENTS].n + (uint32_t)(f->task - c->task), false);
}
static void do_resume(struct wb_exec *x, struct custom_frame *f)
{
    event_call(x, f, f->copy->c->list[CUSTOM_EVENTS].n + f->op->ref, true);
}
static void do_lock(struct wb_exec *x, struct custom_frame *f)
{
    const struct custom_decl *d = &f->copy->c->list[CUSTOM_LOCKS].decl[f->op->ref];
    if (d->kind == CUSTOM_LOCK_FUTEX) {
        user_lock(x, &f->copy->futex[f->op->ref], f->op->code == CUSTOM_LOCK);
        return;
    }
    struct lock_call *g = WB_PUSH(x, lock_step, struct lock_call);
    g->l = &f->copy->lock[f->op->ref];
    g->take = f->op->code == CUSTOM_LOCK;
}
static void do_yield(struct wb_exec *x, struct custom_frame *f)
{
    (void)f;
    wb_yield(x);
}
static void do_loop(struct wb_exec *x, struct custom_frame *f)
{
    (void)x;
    f->left[f->depth++] = f->op->n;
}
/* Is done as a loop of one round, or not at all. */
static void do_every(struct wb_exec *x, struct custom_frame *f)
{
    sim_time now = wb_now(x), *next = &f->next[f->op->ref];
    if (now < *next) {
        f->pc = f->op->jump;
        return;
    }
    *next = now + (sim_time)f->op->n;
    f->left[f->depth++] = 1;
}
static void do_end(struct wb_exec *x, struct custom_frame *f)
{
    uint64_t *left = &f->left[f->depth - 1];
    if (f->depth == 1 && !(f->op->how & CUSTOM_END_EVERY)) wb_progress_add(x, f->copy->c->loops, 1);
    spend(x, WB_NS);
    if (*left && !--*left)
        f->depth--;
    else
        f->pc = f->op->jump;
}
static void do_count(struct wb_exec *x, struct custom_frame *f)
{
    wb_progress_add(x, f->copy->c->progress[f->op->ref], f->op->n);
}
static void do_start(struct wb_exec *x, struct custom_frame *f)
{
    f->watch[f->op->ref] = wb_now(x);
}
static void do_stop(struct wb_exec *x, struct custom_frame *f)
{
    wb_latency_add(x, f->task->prog.hist[f->op->ref], wb_now(x) - f->watch[f->op->ref]);
}
static void do_fork(struct wb_exec *x, struct custom_frame *f)
{
    struct custom_frame **first = &f->copy->dormant[f->op->ref], *child = *first;
    if (!child) return;
    *first = child->next_dormant;
    wb_fork(x, child->self);
}
static void do_pin(struct wb_exec *x, struct custom_frame *f)
{
    wb_set_affinity(x, x->task, f->op->mask);
}

static void (*const words[CUSTOM_CODES])(struct wb_exec *, struct custom_frame *) = {
    [CUSTOM_RUN] = do_run,        [CUSTOM_SLEEP] = do_sleep,     [CUSTOM_TIMER] = do_timer,
    [CUSTOM_TOUCH] = do_touch,    [CUSTOM_READ] = do_transfer,   [CUSTOM_READALL] = do_transfer,
    [CUSTOM_WRITE] = do_transfer, [CUSTOM_CLOSE] = do_close,     [CUSTOM_WAIT] = do_wait,
    [CUSTOM_WAKE] = do_wake,      [CUSTOM_SUSPEND] = do_suspend, [CUSTOM_RESUME] = do_resume,
    [CUSTOM_LOCK] = do_lock,      [CUSTOM_UNLOCK] = do_lock,     [CUSTOM_YIELD] = do_yield,
    [CUSTOM_LOOP] = do_loop,      [CUSTOM_EVERY] = do_every,     [CUSTOM_END] = do_end,
    [CUSTOM_COUNT] = do_count,    [CUSTOM_START] = do_start,     [CUSTOM_STOP] = do_stop,
    [CUSTOM_FORK] = do_fork,      [CUSTOM_PIN] = do_pin,
};

static bool transfers(const struct custom_op *op)
{
    return op->code == CUSTOM_READ || op->code == CUSTOM_READALL || op->code == CUSTOM_WRITE;
}

enum wb_ret custom_step(struct wb_exec *x, void *frame)
{
    struct custom_frame *f = frame;
    WB_BEGIN(f);
    f->due = wb_now(x);
    for (;;) {
        f->op = &f->task->prog.op[f->pc++];
        if (f->op->code == CUSTOM_EXIT) break;
        WB_FLUSH(x, f); /* stopwatches and counters at their own time */
        WB_CALL(x, f, words[f->op->code](x, f));
        if (transfers(f->op) && x->ret <= 0) break;
    }
    for (f->i = 0; f->i < f->task->prog.nends; f->i++) WB_CALL(x, f, close_next(x, f, CUSTOM_NONE, 3));
    if (!f->copy->c->e.background && !f->task->prog.endless) wb_instance_done(x, f->copy->c->e.instance);
    WB_CALL(x, f, wb_exit(x));
    WB_END();
}
