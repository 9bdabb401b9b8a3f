/*
 * calls_run.c - one system call, step by step; see calls.h.
 */
#include "calls.h"

struct call_frame {
    struct wb_frame h;
    const struct call *c;
    struct call_lock *const *lock;
    uint32_t i;
};
_Static_assert(sizeof(struct call_frame) <= 64, "CALL_FRAME_NEED counts on it");

static const struct call_step *step_of(const struct call_frame *f)
{
    return &f->c->step[f->i];
}
static struct call_lock *lock_of(const struct call_frame *f)
{
    return f->lock[step_of(f)->ref];
}
static bool is(const struct call_frame *f, enum call_op op)
{
    return step_of(f)->op == op;
}

static int access_of(const struct call_frame *f)
{
    return is(f, CALL_READ) ? WB_LINE_READ : is(f, CALL_WRITE) ? WB_LINE_WRITE : WB_LINE_RMW;
}

/* Steps that touch nothing others can see. */
static bool charged(struct wb_exec *x, const struct call_frame *f)
{
    if (is(f, CALL_RUN)) wb_charge_fn(x, step_of(f)->fn);
    if (is(f, CALL_CLOCK)) wb_charge(x, step_of(f)->fn, WB_CAT_SYSCALL, f->c->clock);
    return is(f, CALL_RUN) || is(f, CALL_CLOCK);
}

static enum wb_ret call_run_step(struct wb_exec *x, void *frame)
{
    struct call_frame *f = frame;
    WB_BEGIN(f);
    WB_SYSCALL_ENTER(x);
    if (f->c->mpsafe && x->big == WB_BIG_WANTED) x->big = WB_BIG_FREE;
    if (x->big == WB_BIG_WANTED) WB_FLUSH(x, f); /* entering comes before the lock, the path is under it */
    for (f->i = 0; f->i < f->c->nsteps; f->i++) {
        if (charged(x, f)) continue;
        if (is(f, CALL_LOCK) && lock_of(f)->irqs_off) wb_irq_disable(x);
        if (is(f, CALL_LOCK) && lock_of(f)->sleeps) {
            WB_CALL(x, f, wb_sleeplock_lock(x, &lock_of(f)->sleep));
        } else if (is(f, CALL_LOCK)) {
            WB_SPIN_LOCK(x, f, &lock_of(f)->spin);
        } else if (is(f, CALL_UNLOCK) && lock_of(f)->sleeps) {
            WB_FLUSH(x, f);
            WB_CALL(x, f, wb_sleeplock_unlock(x, &lock_of(f)->sleep));
        } else if (is(f, CALL_UNLOCK)) {
            WB_SPIN_UNLOCK(x, f, &lock_of(f)->spin);
            if (lock_of(f)->irqs_off) wb_irq_enable(x);
        } else {
            WB_LINE(x, f, lock_of(f)->line, access_of(f), step_of(f)->fn);
        }
    }
    WB_SYSCALL_EXIT(x, f);
    WB_END();
}

void call_push(struct wb_exec *x, const struct call *c, struct call_lock *const *lock)
{
    struct call_frame *f = WB_PUSH(x, call_run_step, struct call_frame);
    f->c = c;
    f->lock = lock;
}
