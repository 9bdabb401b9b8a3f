/*
 * sleeplock.c - locks that sleep: semaphore, mutex, spinning mutex, fair hand-off.
 *
 * The counter and the order of its steps are those of the kernels, because who may take a lock that a woken waiter
 * has not reached yet ("stealing") falls out of them:
 *
 *   semaphore   Linux 2.6.0 .. 2.6.15 lib/semaphore-sleepers.c, arch/ia64/kernel/semaphore.c (down, __down, up,
 *               __up): count is dropped first and repaired by the sleepers under the wait queue's lock; whoever gets
 *               it by the slow path wakes the next sleeper although the lock is taken, which then registers itself
 *               again and goes back to sleep.
 *   mutex       Linux 2.6.16 kernel/mutex.c (__mutex_lock_common, __mutex_unlock_common_slowpath): 1 free, 0 held, <
 *               0 held and somebody may wait. The waiter stays on the list until it has the lock.
 *   spinning    Linux 2.6.30 (mutex_spin_on_owner): first spins while the owner is on a CPU; from 3.15 spinners queue
 *               (kernel/locking/osq_lock.c): only the first one looks at the lock. Here they queue in all versions.
 *   hand-off    Linux 4.10 (MUTEX_FLAG_HANDOFF): a waiter that was woken, is first and did not get it asks that the
 *               next unlock give the lock to it; it spins meanwhile like the others.
 *   fair        every unlock gives the lock to the longest waiter (no kernel's mutex; a yardstick).
 */
#include "sim.h"

/* One look at the owner and one pause when kernel.path.mutex_spin_on_owner says nothing: PAUSE took about 40 cycles
 * up to Broadwell and takes about 140 from Skylake on (Intel 64 optimization manual, PAUSE latency): 15 .. 50 ns. */
#define SPIN_PAUSE (40 * WB_NS)
#define SPIN_LOOK_MIN WB_NS

/* Spinners behind the first only watch their own queue node; handing that on takes a line transfer anyway. */
#define BEHIND 4

const char *const wb_sleeplock_kind_name[] = {"semaphore", "mutex", "mutex_spin", "mutex_handoff", "fair", NULL};

struct lock_frame {
    struct wb_frame h;
    struct wb_sleeplock *l;
    struct wb_wait_entry w; /* on the list of sleepers */
    struct wb_wait_entry *next;
    uint32_t slept;
    bool asked; /* hand-off asked for */
};

static void list_append(struct wb_wait_entry **first, struct wb_wait_entry *e)
{
    struct wb_wait_entry *head = *first;
    e->next = NULL;
    e->queued = true;
    if (!head) {
        *first = e->prev = e;
        return;
    }
    e->prev = head->prev;
    head->prev->next = e;
    head->prev = e;
}

static void list_remove(struct wb_wait_entry **first, struct wb_wait_entry *e)
{
    WB_CHECK(e->queued && *first, "a waiter leaves a list that it is not on");
    if (e->next)
        e->next->prev = e->prev;
    else
        (*first)->prev = e->prev;
    if (*first == e)
        *first = e->next;
    else
        e->prev->next = e->next;
    e->next = e->prev = NULL;
    e->queued = false;
}

/* The lock is ours. Somebody who waited longer and is passed over has been robbed. */
static void own(struct wb_exec *x, struct wb_sleeplock *l, const struct wb_wait_entry *me)
{
    WB_CHECK(!l->owner, "two owners of one sleeping lock");
    l->owner = x->task;
    x->sim->locks.acquired++;
    if (l->first && l->first != me) x->sim->locks.stolen++;
}

/* ---- semaphore ---- */

static enum wb_ret sem_lock_step(struct wb_exec *x, void *frame)
{
    struct lock_frame *f = frame;
    struct wb_sleeplock *l = f->l;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_MUTEX_LOCK);
    WB_LINE(x, f, l->line, WB_LINE_RMW, WB_FN_MUTEX_LOCK);
    WB_FLUSH(x, f);
    if (--l->count >= 0) {
        own(x, l, NULL);
        WB_RETURN(x, 0);
    }
    x->sim->locks.contended++;
    wb_charge_fn(x, WB_FN_MUTEX_SLOWPATH);
    x->task->state = WB_UNINTERRUPTIBLE;
    f->w.task = x->task;
    wb_irq_disable(x);
    WB_SPIN_LOCK(x, f, &l->wait_lock);
    list_append(&l->first, &f->w);
    l->sleepers++;
    for (;;) {
        WB_LINE(x, f, l->line, WB_LINE_RMW, WB_FN_MUTEX_SLOWPATH);
        WB_FLUSH(x, f);
        l->count += l->sleepers - 1; /* everybody else's debt: they do not play while we hold the queue's lock */
        if (l->count >= 0) {
            l->sleepers = 0;
            break;
        }
        l->sleepers = 1;
        WB_SPIN_UNLOCK(x, f, &l->wait_lock);
        wb_irq_enable(x);
        f->slept++;
        x->sim->locks.slept++;
        WB_CALL(x, f, wb_schedule(x));
        wb_irq_disable(x);
        WB_SPIN_LOCK(x, f, &l->wait_lock);
        x->task->state = WB_UNINTERRUPTIBLE;
    }
    own(x, l, &f->w);
    list_remove(&l->first, &f->w);
    for (f->next = l->first; f->next; f->next = f->next->next) {
        WB_CALL(x, f, wb_try_to_wake_up(x, f->next->task, WB_ASLEEP, 0));
        if (x->ret) break;
    }
    WB_SPIN_UNLOCK(x, f, &l->wait_lock);
    wb_irq_enable(x);
    x->task->state = WB_RUNNING;
    WB_RETURN(x, f->slept);
    WB_END();
}

static enum wb_ret sem_unlock_step(struct wb_exec *x, void *frame)
{
    struct lock_frame *f = frame;
    struct wb_sleeplock *l = f->l;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_MUTEX_UNLOCK);
    WB_LINE(x, f, l->line, WB_LINE_RMW, WB_FN_MUTEX_UNLOCK);
    WB_FLUSH(x, f);
    l->owner = NULL;
    if (++l->count > 0) WB_RETURN(x, 0);
    wb_charge_fn(x, WB_FN_WAKE_UP);
    wb_irq_disable(x);
    WB_SPIN_LOCK(x, f, &l->wait_lock);
    for (f->next = l->first; f->next; f->next = f->next->next) {
        WB_CALL(x, f, wb_try_to_wake_up(x, f->next->task, WB_ASLEEP, l->sync_wake ? WB_WF_SYNC : 0));
        if (x->ret) break;
    }
    WB_SPIN_UNLOCK(x, f, &l->wait_lock);
    wb_irq_enable(x);
    WB_RETURN(x, 0);
    WB_END();
}

/* ---- mutex ---- */

static bool spins(const struct wb_sleeplock *l)
{
    return l->kind == WB_LOCK_MUTEX_SPIN || l->kind == WB_LOCK_MUTEX_HANDOFF;
}

/* May this spinner go on? Not when the owner is off its CPU (it may sleep for long) or somebody else needs ours. */
static bool may_spin(const struct wb_exec *x, const struct wb_sleeplock *l)
{
    return !wb_need_resched(x) && (!l->owner || l->owner->on_cpu);
}

static bool take_mutex(struct wb_exec *x, struct wb_sleeplock *l, const struct wb_wait_entry *me)
{
    if (l->count != 1) return false;
    l->count = l->first && l->kind == WB_LOCK_MUTEX_HANDOFF ? -1 : 0; /* there the flag "waiters" outlives a theft */
    own(x, l, me);
    return true;
}

struct spin_frame {
    struct wb_frame h;
    struct wb_sleeplock *l;
    const struct wb_wait_entry *me; /* on the list of sleepers already, or NULL */
    struct wb_wait_entry spin;      /* in the queue of spinners */
};

/* Would a look see why to stop, or to try? */
static bool sees(const struct wb_exec *x, const struct spin_frame *f)
{
    const struct wb_sleeplock *l = f->l;
    return l->owner == x->task || !may_spin(x, l) || (l->spin_first == &f->spin && l->count == 1);
}

/* How many looks to charge for: those behind the first do not look as often. */
static uint32_t looks(struct wb_exec *x, const struct spin_frame *f)
{
    uint32_t at_once = f->l->spin_first == &f->spin ? 1 : BEHIND;
    return sees(x, f) ? at_once : looks_begin(x, f->l, at_once);
}

/* Spin for the lock. x->ret: 1 = got it (or was handed it), 0 = go and sleep. */
static enum wb_ret spin_step(struct wb_exec *x, void *frame)
{
    struct spin_frame *f = frame;
    struct wb_sleeplock *l = f->l;
    WB_BEGIN(f);
    if (!may_spin(x, l)) WB_RETURN(x, 0);
    wb_preempt_disable(x);
    x->sim->locks.spun++;
    list_append(&l->spin_first, &f->spin);
    for (;;) {
        if (l->owner == x->task) break;
        if (!may_spin(x, l)) break;
        if (l->spin_first == &f->spin && l->count == 1) {
            WB_LINE(x, f, l->line, WB_LINE_RMW, WB_FN_MUTEX_LOCK);
            WB_FLUSH(x, f);
            if (take_mutex(x, l, f->me)) break;
        }
        wb_charge_fn_n(x, l->spin_fn, looks(x, f));
        WB_FLUSH(x, f);
        looks_end(x);
    }
    list_remove(&l->spin_first, &f->spin);
    looks_lock_changes(x->sim, l);
    wb_preempt_enable(x);
    WB_RETURN(x, l->owner == x->task);
    WB_END();
}

static void spin_for(struct wb_exec *x, struct wb_sleeplock *l, const struct wb_wait_entry *me)
{
    struct spin_frame *f = WB_PUSH(x, spin_step, struct spin_frame);
    f->l = l;
    f->me = me;
}

/* Where a call goes on that was begun without a frame. */
enum { MUTEX_CHARGED = 60001, MUTEX_REACHED };

static enum wb_ret mutex_lock_step(struct wb_exec *x, void *frame)
{
    struct lock_frame *f = frame;
    struct wb_sleeplock *l = f->l;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_MUTEX_LOCK);
    WB_FLUSH(x, f);
    WB_RESUME(MUTEX_CHARGED);
    wb_line_use(x, l->line, WB_LINE_RMW, WB_FN_MUTEX_LOCK);
    WB_FLUSH(x, f);
    WB_RESUME(MUTEX_REACHED);
    if (take_mutex(x, l, NULL)) WB_RETURN(x, 0);
    x->sim->locks.contended++;
    /* the failed decrement already sends the owner's unlock down the slow path */
    if (l->kind != WB_LOCK_MUTEX_HANDOFF) l->count--;
    wb_charge_fn(x, WB_FN_MUTEX_SLOWPATH);
    WB_FLUSH(x, f);
    if (spins(l)) {
        WB_CALL(x, f, spin_for(x, l, NULL));
        if (x->ret) WB_RETURN(x, 0);
    }
    WB_SPIN_LOCK(x, f, &l->wait_lock);
    f->w.task = x->task;
    list_append(&l->first, &f->w);
    for (;;) {
        WB_LINE(x, f, l->line, WB_LINE_RMW, WB_FN_MUTEX_SLOWPATH);
        WB_FLUSH(x, f);
        if (l->owner == x->task || take_mutex(x, l, &f->w)) break; /* handed over, or free */
        l->count = -1;
        if (f->slept && l->kind == WB_LOCK_MUTEX_HANDOFF && l->first == &f->w) l->handoff = f->asked = true;
        x->task->state = WB_UNINTERRUPTIBLE;
        WB_SPIN_UNLOCK(x, f, &l->wait_lock);
        if (f->asked) {
            x->task->state = WB_RUNNING;
            WB_CALL(x, f, spin_for(x, l, &f->w));
        }
        if (l->owner != x->task) {
            x->task->state = WB_UNINTERRUPTIBLE;
            f->slept++;
            x->sim->locks.slept++;
            WB_CALL(x, f, wb_schedule(x));
        }
        WB_SPIN_LOCK(x, f, &l->wait_lock);
    }
    x->task->state = WB_RUNNING;
    list_remove(&l->first, &f->w);
    if (f->asked) l->handoff = false;
    l->count = l->first ? -1 : 0;
    WB_SPIN_UNLOCK(x, f, &l->wait_lock);
    WB_RETURN(x, f->slept);
    WB_END();
}

/* Free it, or give it to the first waiter when that one has starved. Under the wait list's lock. */
static void release_mutex(struct wb_exec *x, struct wb_sleeplock *l)
{
    l->owner = NULL;
    if (l->handoff && l->first) {
        l->owner = l->first->task;
        x->sim->locks.acquired++;
        x->sim->locks.handed++;
    } else {
        l->count = 1;
    }
    looks_lock_changes(x->sim, l);
}

static enum wb_ret mutex_unlock_step(struct wb_exec *x, void *frame)
{
    struct lock_frame *f = frame;
    struct wb_sleeplock *l = f->l;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_MUTEX_UNLOCK);
    WB_FLUSH(x, f);
    WB_RESUME(MUTEX_CHARGED);
    wb_line_use(x, l->line, WB_LINE_RMW, WB_FN_MUTEX_UNLOCK);
    WB_FLUSH(x, f);
    WB_RESUME(MUTEX_REACHED);
    if (l->count == 0) { /* nobody waits */
        release_mutex(x, l);
        WB_RETURN(x, 0);
    }
    WB_SPIN_LOCK(x, f, &l->wait_lock);
    release_mutex(x, l);
    f->w.task = l->first ? l->first->task : NULL;
    if (spins(l)) { /* wake_q: after the list's lock is dropped (4.2+; before that under it, as without spinning) */
        WB_SPIN_UNLOCK(x, f, &l->wait_lock);
        if (f->w.task) WB_CALL(x, f, wb_try_to_wake_up(x, f->w.task, WB_ASLEEP, l->sync_wake ? WB_WF_SYNC : 0));
        WB_RETURN(x, 0);
    }
    if (f->w.task) WB_CALL(x, f, wb_try_to_wake_up(x, f->w.task, WB_ASLEEP, l->sync_wake ? WB_WF_SYNC : 0));
    WB_SPIN_UNLOCK(x, f, &l->wait_lock);
    WB_RETURN(x, 0);
    WB_END();
}

/* ---- fair: direct hand-off ---- */

static enum wb_ret fair_lock_step(struct wb_exec *x, void *frame)
{
    struct lock_frame *f = frame;
    struct wb_sleeplock *l = f->l;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_MUTEX_LOCK);
    WB_SPIN_LOCK(x, f, &l->wait_lock);
    if (!l->owner) {
        own(x, l, NULL);
        l->count = 0;
        WB_SPIN_UNLOCK(x, f, &l->wait_lock);
        WB_RETURN(x, 0);
    }
    x->sim->locks.contended++;
    wb_charge_fn(x, WB_FN_MUTEX_SLOWPATH);
    f->w.task = x->task;
    list_append(&l->first, &f->w);
    while (l->owner != x->task) {
        x->task->state = WB_UNINTERRUPTIBLE;
        WB_SPIN_UNLOCK(x, f, &l->wait_lock);
        f->slept++;
        x->sim->locks.slept++;
        WB_CALL(x, f, wb_schedule(x));
        WB_SPIN_LOCK(x, f, &l->wait_lock);
    }
    x->task->state = WB_RUNNING;
    WB_SPIN_UNLOCK(x, f, &l->wait_lock);
    WB_RETURN(x, f->slept);
    WB_END();
}

static enum wb_ret fair_unlock_step(struct wb_exec *x, void *frame)
{
    struct lock_frame *f = frame;
    struct wb_sleeplock *l = f->l;
    WB_BEGIN(f);
    wb_charge_fn(x, WB_FN_MUTEX_UNLOCK);
    WB_SPIN_LOCK(x, f, &l->wait_lock);
    f->next = l->first;
    l->owner = f->next ? f->next->task : NULL;
    l->count = f->next ? 0 : 1;
    if (f->next) {
        x->sim->locks.acquired++;
        x->sim->locks.handed++;
        list_remove(&l->first, f->next);
        f->w.task = l->owner;
        WB_CALL(x, f, wb_try_to_wake_up(x, f->w.task, WB_ASLEEP, l->sync_wake ? WB_WF_SYNC : 0));
    }
    WB_SPIN_UNLOCK(x, f, &l->wait_lock);
    WB_RETURN(x, 0);
    WB_END();
}

/* ---- public ---- */

struct lock_steps {
    wb_step_fn lock, unlock;
};
static const struct lock_steps steps[] = {
    [WB_LOCK_SEM] = {sem_lock_step, sem_unlock_step},
    [WB_LOCK_MUTEX] = {mutex_lock_step, mutex_unlock_step},
    [WB_LOCK_MUTEX_SPIN] = {mutex_lock_step, mutex_unlock_step},
    [WB_LOCK_MUTEX_HANDOFF] = {mutex_lock_step, mutex_unlock_step},
    [WB_LOCK_FAIR] = {fair_lock_step, fair_unlock_step},
};

void wb_sleeplock_init(struct wb_sim *s, struct wb_sleeplock *l, enum wb_sleeplock_kind kind, bool sync_wake)
{
    WB_CHECK((size_t)kind < WB_ARRAY_SIZE(steps), "unknown kind of sleeping lock %d", (int)kind);
    *l = (struct wb_sleeplock){.kind = (uint8_t)kind, .sync_wake = sync_wake, .count = 1};
    l->line = wb_sim_line(s);
    l->spin_fn = wb_fn_id(s, "mutex_spin_on_owner", WB_CAT_LOCK, SPIN_PAUSE);
    /* Looks that take no time would follow each other for ever. */
    if (part_dur(s->fn[l->spin_fn].part) < SPIN_LOOK_MIN)
        s->fn[l->spin_fn].part = part_make(SPIN_LOOK_MIN, l->spin_fn, WB_CAT_LOCK);
    wb_spin_init(s, &l->wait_lock);
}

const struct wb_sleeplock_counts *wb_sleeplock_counts(const struct wb_sim *s)
{
    return &s->locks;
}

static void push(struct wb_exec *x, struct wb_sleeplock *l, wb_step_fn step, uint16_t line)
{
    struct lock_frame *f = WB_PUSH(x, step, struct lock_frame);
    f->l = l;
    f->h.line = line;
}

static void check_lock(const struct wb_exec *x, const struct wb_sleeplock *l)
{
    WB_CHECK(x->level == WB_LEVEL_TASK, "a sleeping lock in interrupt context");
    WB_CHECK(l->owner != x->task, "task %u takes a lock twice", x->task->id);
}

static void check_unlock(const struct wb_exec *x, const struct wb_sleeplock *l)
{
    WB_CHECK(x->level == WB_LEVEL_TASK, "a sleeping lock in interrupt context");
    WB_CHECK(l->owner == x->task, "task %u drops a lock that it does not hold", x->task->id);
}

void wb_sleeplock_lock(struct wb_exec *x, struct wb_sleeplock *l)
{
    check_lock(x, l);
    push(x, l, steps[l->kind].lock, 0);
}

void wb_sleeplock_unlock(struct wb_exec *x, struct wb_sleeplock *l)
{
    check_unlock(x, l);
    push(x, l, steps[l->kind].unlock, 0);
}

/* The charge and the line of a mutex, without a frame. WB_DONE: there. WB_RUN: time must pass first, and the frame that
 * goes on is pushed. WB_AGAIN: not this time, or not this kind; nothing has happened. */
static enum wb_ret reach_mutex(struct wb_exec *x, struct wb_sleeplock *l, wb_step_fn step, uint16_t fn)
{
    bool mutex = l->kind != WB_LOCK_SEM && l->kind != WB_LOCK_FAIR;
    uint16_t at = MUTEX_CHARGED;
    if (WB_UNLIKELY(!mutex || x->big != WB_BIG_NONE || wb_step_waits(x))) return WB_AGAIN;
    wb_charge_fn(x, fn);
    if (WB_LIKELY(wb_flush_now(x))) {
        wb_line_use(x, l->line, WB_LINE_RMW, fn);
        if (WB_LIKELY(wb_flush_now(x))) return WB_DONE;
        at = MUTEX_REACHED;
    }
    push(x, l, step, at);
    return WB_RUN;
}

enum wb_ret wb_sleeplock_lock_now(struct wb_exec *x, const void *frame, struct wb_sleeplock *l)
{
    wb_step_fn step = steps[l->kind].lock;
    check_lock(x, l);
    enum wb_ret r = reach_mutex(x, l, step, WB_FN_MUTEX_LOCK);
    if (WB_UNLIKELY(r == WB_RUN)) return r;
    if (WB_LIKELY(r == WB_DONE && take_mutex(x, l, NULL))) WB_RETURN(x, 0);
    push(x, l, step, r == WB_DONE ? MUTEX_REACHED : 0);
    return wb_call_now(x, frame);
}

enum wb_ret wb_sleeplock_unlock_now(struct wb_exec *x, const void *frame, struct wb_sleeplock *l)
{
    wb_step_fn step = steps[l->kind].unlock;
    check_unlock(x, l);
    enum wb_ret r = reach_mutex(x, l, step, WB_FN_MUTEX_UNLOCK);
    if (WB_UNLIKELY(r == WB_RUN)) return r;
    if (WB_LIKELY(r == WB_DONE && l->count == 0)) {
        release_mutex(x, l);
        WB_RETURN(x, 0);
    }
    push(x, l, step, r == WB_DONE ? MUTEX_REACHED : 0);
    return wb_call_now(x, frame);
}

bool wb_sleeplock_try(struct wb_exec *x, struct wb_sleeplock *l)
{
    wb_charge_fn(x, WB_FN_MUTEX_LOCK);
    wb_line_use(x, l->line, WB_LINE_RMW, WB_FN_MUTEX_LOCK);
    if (l->count != 1 || l->owner) return false;
    l->count = l->first && l->kind != WB_LOCK_SEM ? -1 : 0;
    own(x, l, NULL);
    return true;
}
