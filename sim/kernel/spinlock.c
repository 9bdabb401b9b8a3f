/* spinlock.c - a spinlock is a contended line with a holder and a queue of CPUs that spin. See exec.h. */
#include "lines.h"
#include "sim.h"

void wb_spin_init_kind(struct wb_sim *s, struct wb_spinlock *l, enum wb_spin_kind kind)
{
    *l = (struct wb_spinlock){.line = wb_sim_line(s), .kind = (unsigned)kind & 15u};
}

void wb_spin_init(struct wb_sim *s, struct wb_spinlock *l)
{
    wb_spin_init_kind(s, l, (enum wb_spin_kind)s->k.spin_kind);
}

void wb_spin_alias(struct wb_spinlock *l, struct wb_spinlock *as)
{
    WB_CHECK(as != l && !as->alias, "a lock's other name must stand for a lock");
    l->as = as;
    l->alias = true;
}

/* Kernels built for one CPU have no lock prefixes (kernel.build = "up"). */
static enum wb_line_op built(const struct wb_exec *x, enum wb_line_op op)
{
    return op == WB_LINE_RMW && !x->sim->k.smp ? WB_LINE_RMW_PLAIN : op;
}

/* The line stands behind a transfer, or is in none of the states that are seen to here. */
WB_APART static void access_any(struct wb_exec *x, uint32_t line, enum wb_line_op op, sim_time when, uint16_t fn,
                                enum wb_cat cat)
{
    struct wb_line_time t = wb_line_time(x->sim->hw, x->cpu, line, op, when);
    if (t.wait) charge_part(x, part_make(t.wait, fn, WB_CAT_LINE));
    if (t.local) charge_part(x, part_make(t.local, fn, cat));
}

/* The line is not here. */
WB_APART static void access_apart(struct wb_exec *x, uint32_t line, enum wb_line_op op, sim_time when, uint16_t fn,
                                  enum wb_cat cat)
{
    sim_time wait = line_foreign_wait(x->sim->hw, x->cpu, line, op, when);
    if (WB_LIKELY(wait))
        charge_part(x, part_make(wait, fn, WB_CAT_LINE));
    else
        access_any(x, line, op, when, fn, cat);
}

static inline void access_line(struct wb_exec *x, uint32_t line, enum wb_line_op op, sim_time when, uint16_t fn,
                               enum wb_cat cat)
{
    op = built(x, op);
    if (!line_is_idle_own(x->sim->hw, x->cpu, line, when)) {
        access_apart(x, line, op, when, fn, cat);
        return;
    }
    sim_time local = line_idle_own_time(x->sim->hw, line, op, when);
    if (local) charge_part(x, part_make(local, fn, cat));
}

static void use_line(struct wb_exec *x, uint32_t line, int kind, uint16_t fn, sim_time when)
{
    x->caller = fn;
    access_line(x, line, (enum wb_line_op)kind, when, fn, part_cat(x->sim->fn[fn].part));
}

/* The line of a lock, under the label of its function or of who called it. */
static void spin_line(struct wb_exec *x, uint32_t line, enum wb_line_op op, uint16_t fn)
{
    access_line(x, line, op, x->sim->now, spin_label(x, fn), WB_CAT_LOCK);
}

void wb_line_use(struct wb_exec *x, uint32_t line, int kind, uint16_t fn)
{
    use_line(x, line, kind, fn, x->sim->now);
}

void wb_line_soon(struct wb_exec *x, uint32_t line, int kind, uint16_t fn)
{
    use_line(x, line, kind, fn, x->sim->now + wb_charged(x));
}

static bool holds(const struct wb_exec *x, const struct wb_spinlock *l)
{
    return l->holder == x->cpu + 1;
}

static void own(struct wb_exec *x, struct wb_spinlock *l)
{
    l->holder = (uint16_t)(x->cpu + 1);
    x->preempt_off++;
    spin_line(x, l->line, WB_LINE_RMW, WB_FN_SPIN_LOCK);
}

/* Several names may stand for one lock (kernel.runqueue_lock = "global"): who has it may take it by another name. */
static bool takes_again(struct wb_exec *x, struct wb_spinlock *l)
{
    if (WB_LIKELY(!l->alias) || !holds(x, l->as)) return false;
    WB_CHECK(l->as->depth < UINT8_MAX, "cpu %u takes a lock by too many names", x->cpu);
    l->as->depth++;
    x->preempt_off++;
    return true;
}

/* Ticks may have been left out since somebody looked: he may have waited for this lock for long. */
static void make_up(struct wb_sim *s, struct wb_spinlock *l)
{
    struct wb_rq *rq = (struct wb_rq *)(void *)((uint8_t *)l - offsetof(struct wb_rq, lock));
    tick_catch_up(s, rq_cpu(s, rq));
}

bool wb_spin_try(struct wb_exec *x, struct wb_spinlock *l)
{
    if (WB_UNLIKELY(l->behind)) make_up(x->sim, l);
    if (takes_again(x, l)) return true;
    if (WB_UNLIKELY(l->alias)) l = l->as;
    if (!wb_spin_is_held(l)) {
        own(x, l);
        return true;
    }
    spin_line(x, l->line, WB_LINE_RMW, WB_FN_SPIN_LOCK);
    return false;
}

bool wb_spin_take(struct wb_exec *x, struct wb_spinlock *l)
{
    if (WB_UNLIKELY(l->behind)) make_up(x->sim, l);
    if (takes_again(x, l)) return true;
    if (WB_UNLIKELY(l->alias)) l = l->as;
    if (!wb_spin_is_held(l)) {
        own(x, l);
        return true;
    }
    WB_CHECK(!holds(x, l), "cpu %u spins for a lock that it holds", x->cpu);
    struct spinning *me = spin_of(x);
    me->lock = l;
    x->spin_granted = false;
    me->next = l->last ? spin_of(l->last)->next : x;
    if (l->last) spin_of(l->last)->next = x;
    l->last = x;
    return false;
}

/* Test-and-set locks go to the spinner that sees the free line first: the nearest one that is really spinning. Ticket
 * and queued locks go in order of arrival, even to a CPU that is away in an interrupt. */
static struct wb_exec *next_owner(struct wb_sim *s, struct wb_exec *x, struct wb_spinlock *l)
{
    struct wb_exec *first = spin_of(l->last)->next, *w = first, *best = first;
    if (l->kind != WB_SPIN_TAS) return first;
    enum wb_distance best_d = WB_DISTANCES;
    do {
        enum wb_distance d = wb_topo_distance(s->topo, x->cpu, w->cpu);
        if (s->cpu[w->cpu].ctx == w && d < best_d) {
            best = w;
            best_d = d;
        }
        w = spin_of(w)->next;
    } while (w != first);
    return best;
}

static void unlink_waiter(struct wb_spinlock *l, struct wb_exec *w)
{
    struct wb_exec *prev = l->last;
    while (spin_of(prev)->next != w) prev = spin_of(prev)->next;
    spin_of(prev)->next = spin_of(w)->next;
    if (l->last == w) l->last = prev == w ? NULL : prev;
    spin_of(w)->next = NULL;
}

void wb_spin_drop(struct wb_exec *x, struct wb_spinlock *l)
{
    struct wb_sim *s = x->sim;
    if (WB_UNLIKELY(l->alias)) l = l->as;
    WB_CHECK(holds(x, l), "cpu %u drops a lock of cpu %d", x->cpu, (int)l->holder - 1);
    x->preempt_off--;
    if (l->depth) {
        l->depth--;
        return;
    }
    spin_line(x, l->line, l->xchg ? WB_LINE_XCHG : WB_LINE_WRITE, WB_FN_SPIN_UNLOCK);
    if (!l->last) {
        l->holder = 0;
        return;
    }
    struct wb_exec *w = next_owner(s, x, l);
    unlink_waiter(l, w);
    l->holder = (uint16_t)(w->cpu + 1);
    w->spin_granted = true;
    event_post(s, s->now, EV_GRANT, w->cpu, ++s->cpu[w->cpu].ipino);
}

/* The context that spun goes on as the owner: its wait is accounted, the line comes over. */
void lock_granted(struct wb_sim *s, struct wb_cpu *c)
{
    struct wb_exec *x = c->ctx;
    struct wb_spinlock *l = c->spin[x->level].lock;
    c->spin[x->level].lock = NULL;
    x->spin_granted = false;
    x->preempt_off++;
    (void)s;
    spin_line(x, l->line, WB_LINE_RMW, WB_FN_SPIN_LOCK);
}
