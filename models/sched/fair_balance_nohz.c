/*
 * fair_balance_nohz.c - balancing for CPUs without tick, and the hooks of the tick and of idling.
 *
 * 2.6.23 .. 2.6.35: one idle CPU keeps its tick (nohz_owner.h). 2.6.36: a busy CPU's tick kicks the first idle one; two
 * busy CPUs at most are let decide (nohz_kick_needed). 5.4 and later (nohz_balancer_kick, nohz_idle_balance,
 * nohz_balance_enter_idle): kicks by number of tasks, priority, fit and busy CPUs of the cache; blocked load of idle
 * CPUs is kept fresh too.
 */
#include "fair_groups.h"

#define NO_LIMIT (1ull << 32)
#define STALE_MS 32u /* LOAD_AVG_PERIOD: how old blocked load may get */

static struct fair_balance_rq *bal(struct wb_sim *s, cpu_id c)
{
    return &fair_rq(wb_rq(s, c))->bal;
}

/* The engine's idle flag of the tick; up to 6.18 of whoever runs now when kicked. */
enum wb_balance_kind fair_idle_kind(const struct wb_exec *x, cpu_id cpu)
{
    const struct fair_sim *f = fair_of(x);
    const struct wb_rq *rq = wb_rq(x->sim, cpu);
    bool idle = f->v->release <= FAIR_2_6_36 ? fair_rq(rq)->idle_at_tick : fair_idle_cpu(f, rq);
    return idle ? WB_BAL_PERIODIC_IDLE : WB_BAL_PERIODIC_BUSY;
}

/* ---- busy CPUs of a cache ---- */

static void count_busy(struct fair_sim *f, struct wb_rq *rq, bool busy)
{
    struct fair_balance_rq *r = &fair_rq(rq)->bal;
    struct fair_llc *llc = f->pl.seat[rq->cpu].shared;
    if (r->counted_idle != busy) return;
    r->counted_idle = !busy;
    if (llc) llc->nr_busy += busy ? 1u : UINT32_MAX;
}

/* ---- kicking, 2.6.36 ---- */

static bool picked_elsewhere(cpu_id pick, cpu_id cpu)
{
    return pick != WB_NO_CPU && pick != cpu;
}

/* The first busy CPU kicks with two tasks, the second with one. */
static bool push_needed(struct fair_sim *f, const struct wb_rq *rq)
{
    cpu_id *first = &f->bal.first_pick, *second = &f->bal.second_pick, cpu = rq->cpu;
    if (picked_elsewhere(*first, cpu) && picked_elsewhere(*second, cpu)) return false;
    if (*first == WB_NO_CPU || *first == cpu) {
        *first = cpu;
        if (*second == cpu) *second = WB_NO_CPU;
        return rq->nr_running > 1;
    }
    *second = cpu;
    return rq->nr_running > 0;
}

static void push_kick(struct wb_exec *x, struct fair_sim *f)
{
    cpu_id ilb = f->bal.nohz.ilb != WB_NO_CPU ? f->bal.nohz.ilb : wb_mask_first(&f->bal.nohz.mask);
    f->bal.nohz_next_balance++;
    if (ilb == WB_NO_CPU || bal(x->sim, ilb)->kick) return;
    bal(x->sim, ilb)->kick = FAIR_KICK_BALANCE;
    wb_kick_nohz(x, ilb);
}

/* ---- kicking, 5.4 and later ---- */

static bool better_idle(struct wb_exec *x, const struct wb_sd *sd, cpu_id cpu)
{
    const struct fair_sim *f = fair_of(x);
    WB_FOR_EACH_CPU_AND (c, sd->span, &f->bal.nohz.mask)
        if (f->bal.priority[c] > f->bal.priority[cpu] && fair_asym_counts(x, sd, c)) return true;
    return false;
}

static const struct wb_sd *highest_packing(const struct wb_rq *rq)
{
    const struct wb_sd *found = NULL;
    WB_FOR_EACH_SD(sd, rq)
    if (sd->flags & WB_SD_ASYM_PACKING) found = sd;
    return found;
}

static bool misfit_kicks(const struct fair_sim *f, const struct wb_rq *rq)
{
    return fair_rq(rq)->bal.misfit_load && fair_capacity(f, rq->cpu) < f->bal.max_capacity;
}

/* Does this busy CPU want an idle one to balance? */
static bool wants_balance(struct wb_exec *x, const struct fair_sim *f, const struct wb_rq *rq)
{
    if (rq->nr_running >= 2) return true;
    const struct wb_sd *asym = highest_packing(rq);
    if (asym && better_idle(x, asym, rq->cpu)) return true;
    if (f->pl.seat[rq->cpu].asym) return misfit_kicks(f, rq); /* caches do not matter there */
    const struct fair_llc *llc = f->pl.seat[rq->cpu].shared;
    return llc && llc->nr_busy > 1;
}

static cpu_id find_ilb(const struct wb_exec *x, const struct fair_sim *f)
{
    WB_FOR_EACH_CPU (c, &f->bal.nohz.mask)
        if (c != x->cpu && fair_idle_cpu(f, wb_rq(x->sim, c))) return c;
    return WB_NO_CPU;
}

static void kick_ilb(struct wb_exec *x, struct fair_sim *f, uint8_t flags)
{
    uint64_t now = wb_jiffies(x->sim);
    if (flags & FAIR_KICK_BALANCE)
        f->bal.nohz_next_balance = f->v->release < FAIR_5_15 ? f->bal.nohz_next_balance + 1 : now + 1;
    cpu_id ilb = find_ilb(x, f);
    if (ilb == WB_NO_CPU) return;
    uint8_t before = bal(x->sim, ilb)->kick;
    bal(x->sim, ilb)->kick = before | flags;
    if (!before) wb_kick_nohz(x, ilb);
}

static void kick_by_flags(struct wb_exec *x, struct fair_sim *f, struct wb_rq *rq)
{
    struct fair_balance_rq *r = &fair_rq(rq)->bal;
    uint64_t now = wb_jiffies(x->sim);
    uint8_t flags = 0;
    if (fair_rq(rq)->idle_at_tick) return;
    if (r->tick_stopped) { /* first busy tick: nohz_balance_exit_idle */
        r->tick_stopped = false;
        nohz_owner_leave(&f->bal.nohz, rq->cpu);
        count_busy(f, rq, true);
    }
    if (!f->bal.nohz.count) return;
    if (f->bal.nohz_has_blocked && now > f->bal.nohz_next_blocked) flags = FAIR_KICK_STATS;
    if (now >= f->bal.nohz_next_balance && wants_balance(x, f, rq)) flags = FAIR_KICK_STATS | FAIR_KICK_BALANCE;
    if (flags) kick_ilb(x, f, flags);
}

/* ---- the tick ---- */

/* False: this tick raises no softirq. */
static bool owner_tick(struct wb_exec *x, struct fair_sim *f, struct wb_rq *rq)
{
    struct fair_rq *r = fair_rq(rq);
    if (!f->nohz) return true;
    if (r->idle_at_tick) return nohz_owner_idle_tick(x, &f->bal.nohz, rq);
    if (r->bal.in_nohz_recently) {
        r->bal.in_nohz_recently = false;
        nohz_owner_leave(&f->bal.nohz, rq->cpu);
        nohz_owner_nominate(x, &f->bal.nohz);
    }
    return true;
}

void fair_balance_tick(struct wb_exec *x, struct wb_rq *rq)
{
    struct fair_sim *f = fair_of(x);
    const struct fair_rq *r = fair_rq(rq);
    bool balances = r->idle_at_tick ? f->bal.idle_balance : f->bal.busy_balance;
    bool due = balances && r->tick_jiffies >= r->bal.next_balance;
    switch (f->br->nohz) {
    case FAIR_NOHZ_OWNER:
        if (owner_tick(x, f, rq) && due) wb_raise_balance(x);
        break;
    case FAIR_NOHZ_PUSH:
        if (due)
            wb_raise_balance(x);
        else if (f->nohz && !r->idle_at_tick && rq->nr_running && r->tick_jiffies >= f->bal.nohz_next_balance &&
                 push_needed(f, rq))
            push_kick(x, f);
        break;
    case FAIR_NOHZ_FLAGS:
        if (due) wb_raise_balance(x);
        if (f->nohz) kick_by_flags(x, f, rq);
        break;
    }
}

uint64_t fair_balance_quiet(struct wb_sim *s, struct wb_rq *rq)
{
    const struct fair_sim *f = wb_policy_data(s);
    const struct fair_rq *r = fair_rq(rq);
    if (f->br->nohz == FAIR_NOHZ_OWNER && f->nohz && (f->bal.nohz.ilb == rq->cpu || r->bal.in_nohz_recently)) return 0;
    if (!f->bal.idle_balance) return NO_LIMIT;
    return r->bal.next_balance > r->tick_jiffies ? r->bal.next_balance - r->tick_jiffies - 1 : 0;
}

/* ---- idling ---- */

static bool enter_by_flags(struct wb_exec *x, struct fair_sim *f, struct wb_rq *rq)
{
    struct fair_balance_rq *r = &fair_rq(rq)->bal;
    if (r->newidle_stats) { /* nohz_run_idle_balance */
        r->newidle_stats = false;
        WB_FOR_EACH_CPU (c, &f->bal.nohz.mask) {
            if (c == rq->cpu || !fair_idle_cpu(f, wb_rq(x->sim, c))) continue;
            wb_scan_rq(x, c);
            (void)fair_update_blocked(x, wb_rq(x->sim, c));
        }
        f->bal.nohz_next_blocked = wb_jiffies(x->sim) + (uint64_t)STALE_MS * f->hz / 1000;
    }
    r->has_blocked = f->bal.nohz_has_blocked = true;
    if (r->tick_stopped) return true;
    r->tick_stopped = true;
    (void)nohz_owner_enter(&f->bal.nohz, rq->cpu, f->ncpus);
    count_busy(f, rq, false);
    return true;
}

bool fair_balance_idle_enter(struct wb_exec *x, struct wb_rq *rq)
{
    struct fair_sim *f = fair_of(x);
    if (f->br->nohz == FAIR_NOHZ_FLAGS) return enter_by_flags(x, f, rq);
    bool stop = nohz_owner_enter(&f->bal.nohz, rq->cpu, f->ncpus);
    if (f->br->nohz == FAIR_NOHZ_OWNER) {
        fair_rq(rq)->bal.in_nohz_recently = true;
        return stop;
    }
    if (f->bal.first_pick == rq->cpu) f->bal.first_pick = WB_NO_CPU;
    if (f->bal.second_pick == rq->cpu) f->bal.second_pick = WB_NO_CPU;
    if (f->bal.nohz.ilb == WB_NO_CPU) f->bal.nohz.ilb = rq->cpu;
    return true;
}

void fair_balance_idle_exit(struct wb_exec *x, struct wb_rq *rq)
{
    struct fair_sim *f = fair_of(x);
    if (!f->nohz) return;
    if (f->br->nohz == FAIR_NOHZ_OWNER) nohz_owner_restart(&f->bal.nohz, rq->cpu);
    if (f->br->nohz == FAIR_NOHZ_PUSH) nohz_owner_leave(&f->bal.nohz, rq->cpu);
}

/* Capacity of the biggest CPU that a task may use. */
static uint64_t biggest_allowed(const struct fair_sim *f, const struct wb_task *t)
{
    uint64_t max = 0;
    WB_FOR_EACH_CPU (c, t->allowed) max = WB_MAX(max, fair_capacity(f, c));
    return max;
}

/* Tasks that may use one CPU are none from 5.12 on (0ae78eec8aa6), from 6.10 on neither those that may use no bigger
 * one (task_struct.max_allowed_capacity). */
void fair_note_misfit(struct wb_exec *x, struct wb_rq *rq, const struct fair_task *p)
{
    const struct fair_sim *f = fair_of(x);
    uint64_t here = fair_capacity(f, rq->cpu), *load = &fair_rq(rq)->bal.misfit_load;
    *load = 0;
    if (!f->bal.asym_capacity || fair_fits(fair_task_util_est(f, p), here)) return;
    if (f->v->release >= FAIR_5_15 && wb_mask_next(p->t->allowed, wb_mask_first(p->t->allowed) + 1) == WB_NO_CPU)
        return;
    if (f->v->release >= FAIR_6_12 && biggest_allowed(f, p->t) == here) return;
    *load = WB_MAX(fair_task_h_load(p), 1u);
}

/* __update_idle_core: the core of a CPU that goes idle may be idle as a whole. The look at the siblings is part of the
 * switch's cost. */
void fair_balance_picked(struct wb_exec *x, struct wb_rq *rq, struct fair_task *next)
{
    struct fair_sim *f = fair_of(x);
    if (next) {
        fair_note_misfit(x, rq, next);
        return;
    }
    fair_rq(rq)->bal.misfit_load = 0;
    struct fair_llc *llc = f->pl.seat[rq->cpu].shared;
    if (f->pl.smt && llc && !llc->has_idle_cores && fair_core_idle(x, rq->cpu)) llc->has_idle_cores = true;
}

void fair_nohz_newidle(struct wb_exec *x, struct wb_rq *rq)
{
    struct fair_sim *f = fair_of(x);
    if (!f->nohz || f->v->release < FAIR_5_4) return;
    if (fair_rq(rq)->avg_idle < f->migration_cost || !f->bal.nohz_has_blocked) return;
    if (wb_jiffies(x->sim) < f->bal.nohz_next_blocked) return;
    fair_rq(rq)->bal.newidle_stats = true;
}

/* ---- the walk on behalf of others ---- */

static bool owner_begins(const struct wb_exec *x, const struct fair_sim *f)
{
    const struct fair_rq *r = fair_rq(wb_rq(x->sim, x->cpu));
    if (f->br->nohz == FAIR_NOHZ_OWNER)
        return f->bal.nohz.ilb == x->cpu && r->idle_at_tick && f->bal.nohz.count > 1 &&
               wb_jiffies(x->sim) >= r->bal.next_balance;
    return r->bal.kick && wb_idle_cpu(wb_rq(x->sim, x->cpu));
}

bool fair_nohz_begin(struct wb_exec *x, struct wb_balance *b)
{
    struct fair_sim *f = fair_of(x);
    struct wb_rq *rq = wb_rq(x->sim, x->cpu);
    struct fair_balance_rq *r = &fair_rq(rq)->bal;
    uint8_t kick = r->kick;
    b->cookie[LADDER_C_CURSOR] = 0;
    if (!f->nohz || !f->bal.idle_balance) return false;
    if (f->br->nohz != FAIR_NOHZ_FLAGS) {
        r->self_done = owner_begins(x, f);
        if (r->self_done && f->br->nohz == FAIR_NOHZ_PUSH) fair_rq(rq)->idle_at_tick = true;
        return r->self_done;
    }
    r->kick = 0;
    if (!kick || !fair_idle_cpu(f, rq) || rq->need_resched) return false;
    if (kick & FAIR_KICK_STATS) f->bal.nohz_has_blocked = false;
    if (!(kick & FAIR_KICK_BALANCE)) b->flags |= LADDER_STOP; /* statistics only */
    r->self_done = true;
    return true;
}

/* Own CPU first, then the mask in ascending order. */
static cpu_id next_ascending(struct wb_exec *x, const struct fair_sim *f, struct wb_balance *b)
{
    uint64_t step = b->cookie[LADDER_C_CURSOR]++;
    if (!step) return b->exec_cpu;
    return nohz_owner_next(x, &f->bal.nohz, step == 1 ? WB_NO_CPU : b->this_cpu);
}

/* What is left to decay there keeps blocked load on the list. Once a jiffy. */
static void refresh(struct wb_exec *x, struct fair_sim *f, cpu_id c)
{
    struct fair_balance_rq *r = bal(x->sim, c);
    if (!r->has_blocked) return;
    if (wb_jiffies(x->sim) > r->blocked_jiffies) {
        r->blocked_jiffies = wb_jiffies(x->sim);
        wb_scan_rq(x, c);
        wb_charge_fn(x, f->bal.fn_blocked);
        r->has_blocked = fair_update_blocked(x, wb_rq(x->sim, c));
    }
    f->bal.nohz_has_blocked |= r->has_blocked;
}

/* From the next CPU on, wrapping, so that this one comes last; those that are not due are passed over. */
static cpu_id next_wrapped(struct wb_exec *x, struct fair_sim *f, struct wb_balance *b)
{
    uint64_t *step = &b->cookie[LADDER_C_CURSOR];
    while (*step < f->ncpus) {
        cpu_id c = (cpu_id)((b->exec_cpu + ++*step) % f->ncpus);
        struct wb_rq *rq = wb_rq(x->sim, c);
        if (!wb_mask_test(&f->bal.nohz.mask, c) || !fair_idle_cpu(f, rq)) continue;
        if (wb_rq(x->sim, b->exec_cpu)->need_resched) {
            f->bal.nohz_has_blocked = true;
            return WB_NO_CPU;
        }
        refresh(x, f, c);
        if (b->flags & LADDER_STOP || wb_jiffies(x->sim) < bal(x->sim, c)->next_balance) continue;
        fair_update_clock(x, rq);
        return c;
    }
    return WB_NO_CPU;
}

cpu_id fair_nohz_next(struct wb_exec *x, struct wb_balance *b)
{
    struct fair_sim *f = fair_of(x);
    return f->br->nohz == FAIR_NOHZ_FLAGS ? next_wrapped(x, f, b) : next_ascending(x, f, b);
}

void fair_nohz_end(struct wb_exec *x, struct wb_balance *b)
{
    struct fair_sim *f = fair_of(x);
    uint64_t now = wb_jiffies(x->sim), next = now + 60ull * f->hz;
    WB_CHECK(!(b->flags & LADDER_SERIAL), "a pass ends with the lock of the serialised levels");
    if (f->br->nohz == FAIR_NOHZ_OWNER) return;
    if (f->br->nohz == FAIR_NOHZ_PUSH) {
        bal(x->sim, b->exec_cpu)->kick = 0;
        f->bal.nohz_next_balance = bal(x->sim, b->exec_cpu)->next_balance;
        return;
    }
    f->bal.nohz_next_blocked = now + (uint64_t)STALE_MS * f->hz / 1000;
    WB_FOR_EACH_CPU (c, &f->bal.nohz.mask) next = WB_MIN(next, bal(x->sim, c)->next_balance);
    f->bal.nohz_next_balance = next;
}
