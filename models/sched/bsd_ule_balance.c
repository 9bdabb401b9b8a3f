/*
 * bsd_ule_balance.c - once a second, from the busiest CPU to the least busy one (FreeBSD 5.2.1 kern/sched_ule.c:
 * sched_balance, kseq_move, runq_steal). A callout, so the CPU that takes the clock does it.
 */
#include "bsd.h"

static bool begin(struct wb_exec *x, struct wb_balance *b)
{
    const struct ule_sim *o = ule_of(x);
    return o->balance && o->ncpus > 1 && b->exec_cpu == 0 && wb_rq(x->sim, 0)->ticks % o->balance_ticks == 0;
}

static bool next(struct wb_exec *x, struct wb_balance *b)
{
    if (b->flags) return false;
    b->flags = 1;
    b->sd = wb_rq(x->sim, b->this_cpu)->sd;
    return true;
}

/*
 * The callout's thread is a task of its CPU while it balances, and who it has preempted waits there. So a lone task of
 * that CPU counts as two, and is moved off: found out and mended after 5.2.1.
 */
static uint32_t load_of(const struct wb_balance *b, const struct wb_rq *rq)
{
    return rq->nr_running + (rq->cpu == b->exec_cpu);
}

static bool preempted(const struct wb_balance *b, const struct wb_rq *rq)
{
    return rq->cpu == b->exec_cpu && !wb_idle_cpu(rq) && ule_movable(rq->curr);
}

static bool find(struct wb_exec *x, struct wb_balance *b)
{
    struct wb_sim *s = x->sim;
    uint32_t high = 0, low = UINT32_MAX;
    wb_charge_fn(x, ule_of(x)->fn_balance);
    b->src = WB_NO_CPU;
    for (cpu_id c = 0; c < wb_ncpus(s); c++) {
        const struct wb_rq *rq = wb_rq(s, c);
        uint32_t waiting = ule_rq(rq)->transferable + preempted(b, rq);
        wb_scan_rq(x, c);
        if (waiting > high) {
            high = waiting;
            b->src = c;
        }
        if (load_of(b, rq) < low) {
            low = load_of(b, rq);
            b->dst = c;
        }
    }
    if (b->src == WB_NO_CPU || b->src == b->dst) return false;
    uint32_t load = load_of(b, wb_rq(s, b->src));
    b->imbalance = load > low ? (int64_t)WB_MIN((load - low + 1) / 2, high) : 0;
    b->rule = b->imbalance ? ULE_R_BALANCE : ULE_R_NONE;
    return b->imbalance > 0;
}

static struct bsd_task *steal_from(const struct bsd_runq *q, cpu_id to)
{
    for (uint32_t l = bsd_runq_best(q, 0); l < BSD_LISTS; l = bsd_runq_best(q, l + 1)) {
        struct bsd_task *p = q->head[l];
        do {
            if (p->movable && !p->t->on_cpu && wb_mask_test(p->t->allowed, to)) return p;
            p = p->next;
        } while (p != q->head[l]);
    }
    return NULL;
}

/* kseq_steal(): the best of the current calendar, which would run next, then of the next one, then the idle class. */
static struct bsd_task *steal(const struct ule_rq *r, cpu_id to)
{
    struct bsd_task *p = steal_from(r->curr, to);
    if (!p) p = steal_from(r->next, to);
    return p ? p : steal_from(&r->idle, to);
}

static void pull(struct wb_exec *x, struct wb_balance *b)
{
    const struct ule_rq *r = ule_rq(wb_rq(x->sim, b->src));
    struct bsd_task *p;
    for (; b->imbalance > 0 && (p = steal(r, b->dst)); b->imbalance--) {
        b->loops++;
        wb_move_task(x, b, p->t, b->rule);
    }
}

/* Who is left to be moved is who ran here: the CPU's own thread takes it, as the callout's would. */
static enum wb_balance_result done(struct wb_exec *x, struct wb_balance *b, bool found)
{
    if (found && b->imbalance > 0 && preempted(b, wb_rq(x->sim, b->src)) &&
        wb_mask_test(wb_rq(x->sim, b->src)->curr->allowed, b->dst))
        return WB_BAL_KICK_ACTIVE;
    if (b->moved) return WB_BAL_PULLED;
    return found ? WB_BAL_FAILED : WB_BAL_NONE;
}

static void end(struct wb_exec *x, struct wb_balance *b)
{
    (void)x;
    (void)b;
}

const struct wb_balance_ops ule_balance = {
    .begin = begin, .next = next, .find = find, .pull = pull, .done = done, .end = end};

/* ---- who ran on the balancer's CPU ---- */

static bool begin_preempted(struct wb_exec *x, struct wb_balance *b)
{
    (void)x;
    (void)b;
    return true;
}

static bool find_preempted(struct wb_exec *x, struct wb_balance *b)
{
    b->src = b->exec_cpu;
    b->dst = wb_rq(x->sim, b->src)->push_cpu;
    b->imbalance = 1;
    b->rule = ULE_R_CALLOUT;
    return b->dst < wb_ncpus(x->sim) && b->dst != b->src;
}

static enum wb_balance_result done_preempted(struct wb_exec *x, struct wb_balance *b, bool found)
{
    (void)x;
    (void)found;
    return b->moved ? WB_BAL_PULLED : WB_BAL_FAILED;
}

const struct wb_balance_ops ule_balance_active = {
    .begin = begin_preempted, .next = next, .find = find_preempted, .pull = pull, .done = done_preempted, .end = end};
