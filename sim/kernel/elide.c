/*
 * elide.c - ticks that need not be run.
 *
 * On an idle CPU most ticks only wake the CPU, age its load and send it back to sleep. When the last real tick was
 * such a one ("plain": it found the CPU halted and left it halted, was the only interrupt, balanced and moved
 * nothing, and touched no line that was elsewhere), and the policy vouches for the next k, those are left out of the
 * ring. The first who looks at the CPU, or interrupts it, has them applied: those that are over in closed form, the
 * one under way, if any, by really running it up to now. Its next tick is real again. So elision changes no byte of a
 * result (prop_elide compares).
 *
 * Not elided: ticks of CPUs with SMT siblings (they slow the sibling down), ticks that take one lock of all queues (the
 * other CPUs move its line), and anything while a trace is written.
 */
#include "sim.h"

void elide_log(struct wb_cpu *c, uint16_t fn, enum wb_cat cat, sim_time dur)
{
    struct tick_elision *e = &c->elide;
    if (cat == WB_CAT_IDLE || cat == WB_CAT_IDLE_EXIT) return; /* those differ from tick to tick */
    if (e->nlog < ELIDE_LOG) e->log[e->nlog] = part_make(dur, fn, cat);
    if (e->nlog <= ELIDE_LOG) e->nlog++;
}

void tick_measure(struct wb_sim *s, struct wb_cpu *c)
{
    struct tick_elision *e = &c->elide;
    by_parts_set(c, BY_PARTS_LOGGED,
                 !s->no_elide && !s->tracing && s->topo->nsmt == 1 && c->mode == CPU_HALT && !c->pending &&
                     !c->rq.need_resched && !c->rq.lock.alias && !e->catching_up);
    e->nlog = 0;
    e->started = s->now;
    e->irqs = c->irqs;
    e->moves = c->moves;
    e->switches = c->switches;
}

/* The own runqueue lock, free and its line here, costs its uncontended price and no more. */
static bool uncontended(const struct wb_sim *s, sim_time dur)
{
    const struct wb_machine_spec *m = wb_machine_costs(s->machine);
    return dur <= WB_MAX(m->rmw_locked, m->line_write);
}

/* Nobody has looked at the queue or taken its lock while the tick was under way: the next tick finds both lines
 * here. */
static bool undisturbed(const struct wb_sim *s, const struct wb_cpu *c)
{
    return wb_line_owner(s->hw, c->rq_line) == c->id && wb_line_owner(s->hw, c->rq.lock.line) == c->id;
}

static bool was_plain(const struct wb_sim *s, const struct wb_cpu *c)
{
    const struct tick_elision *e = &c->elide;
    if (c->irqs != e->irqs + 1 || c->moves != e->moves || c->switches != e->switches) return false;
    if (c->pending || c->softirqs || c->rq.need_resched || e->nlog > ELIDE_LOG) return false;
    if (!undisturbed(s, c)) return false;
    for (uint32_t i = 0; i < e->nlog; i++) {
        enum wb_cat k = part_cat(e->log[i]);
        if (k == WB_CAT_LINE || k == WB_CAT_BALANCE || k == WB_CAT_NOISE) return false;
        if (k == WB_CAT_LOCK && !uncontended(s, part_dur(e->log[i]))) return false;
    }
    return true;
}

/* The policy has answered for k ticks each of which sees one jiffy more than the one before. A CPU whose ticks come
 * just before a new jiffy may leave idle so late that one sees two: how many do not? */
static uint64_t evenly(const struct wb_sim *s, const struct wb_cpu *c, uint64_t k)
{
    const struct tick_elision *e = &c->elide;
    struct wb_stream ahead = c->idle_stream;
    sim_time since = c->idle_since;
    uint64_t jiffy = jiffies_at(s, c->rq.last_tick);
    if (jiffies_at(s, s->now) != jiffy) return 0;
    for (uint64_t i = 0; i < k; i++, since = since + e->cost) {
        sim_time when = tickring_time(&s->ticks, c->id, e->next + i);
        since = when + idle_exit_time(s, since, when, &ahead);
        jiffy++;
        if (jiffies_at(s, since + e->offset) != jiffy || jiffies_at(s, since + e->cost) != jiffy) return i;
    }
    return k;
}

/* The CPU halts. If that ends a plain tick, may the next ones be skipped? */
void tick_consider_skip(struct wb_sim *s, struct wb_cpu *c)
{
    struct tick_elision *e = &c->elide;
    if (!(c->by_parts & BY_PARTS_LOGGED)) return;
    by_parts_set(c, BY_PARTS_LOGGED, false);
    if (!was_plain(s, c) || !s->ops->tick_idle_for || !s->ops->tick_closed || !tickring_ticks(&s->ticks, c->id)) return;
    uint64_t k = WB_MIN(s->ops->tick_idle_for(s, &c->rq), ELIDE_TICKS);
    if (!k) return;
    e->cost = 0;
    for (uint32_t i = 0; i < e->nlog; i++) e->cost += part_dur(e->log[i]);
    sim_time exit = s->now - e->started - e->cost;
    e->offset = c->rq.last_tick - e->started - exit;
    e->next = tickring_next_index(&s->ticks, c->id);
    k = evenly(s, c, k);
    if (!k) return;
    e->until = e->next + k;
    e->active = true;
    c->rq.lock.behind = true;
    wb_mask_set(&s->behind, c->id);
    tickring_skip(&s->ticks, c->id, k);
    horizon_forget(s);
}

/* Everything a plain tick at `when` did, except to the policy. */
static void apply(struct wb_sim *s, struct wb_cpu *c, sim_time when, sim_time exit)
{
    const struct tick_elision *e = &c->elide;
    acct_add(s, c, WB_FN_IDLE, WB_CAT_IDLE, when - c->since);
    acct_add(s, c, WB_FN_IDLE_EXIT, WB_CAT_IDLE_EXIT, exit);
    for (uint32_t i = 0; i < e->nlog; i++) acct_add(s, c, part_fn(e->log[i]), part_cat(e->log[i]), part_dur(e->log[i]));
    c->since = c->idle_since = when + exit + e->cost;
    s->count.idle_entries++;
    s->count.ticks++;
    c->irqs++;
    c->rq.ticks++;
    c->rq.last_tick = when + exit + e->offset;
}

static bool due(const struct wb_sim *s, const struct wb_cpu *c)
{
    const struct tick_elision *e = &c->elide;
    if (e->next == e->until) return false;
    struct evq_entry t = {.time = tickring_time(&s->ticks, c->id, e->next), .key = evq_key(EV_TICK, c->id, e->next)};
    struct evq_entry at = sim_at(s);
    return evq_before(&t, &at);
}

/* A skipped tick is under way: run it for real, but not past the present. */
static void run_up_to_now(struct wb_sim *s, struct wb_cpu *c, sim_time when)
{
    struct evq_entry limit = s->limit, at = sim_at(s);
    cpu_id cpu = wb_where.cpu;
    sim_time now = s->now;
    c->elide.catching_up = true;
    s->catching_up++;
    horizon_forget(s);
    s->limit = at;
    s->now = when;
    irq_raise(s, c, IRQ_TICK);
    s->now = now;
    s->limit = limit;
    s->at = at;
    s->passed = NULL;
    wb_where.cpu = cpu;
    c->elide.catching_up = false;
    s->catching_up--;
}

void tick_catch_up(struct wb_sim *s, struct wb_cpu *c)
{
    struct tick_elision *e = &c->elide;
    if (WB_LIKELY(!e->active)) return;
    e->active = false;
    c->rq.lock.behind = false;
    wb_mask_clear(&s->behind, c->id);
    uint64_t n = 0;
    sim_time under_way = 0;
    while (due(s, c)) {
        sim_time when = tickring_time(&s->ticks, c->id, e->next);
        struct wb_stream ahead = c->idle_stream;
        sim_time exit = idle_exit_time(s, c->idle_since, when, &ahead);
        e->next++;
        if (when + exit + e->cost >= s->now) {
            under_way = when;
            break;
        }
        c->idle_stream = ahead;
        apply(s, c, when, exit);
        n++;
    }
    if (n) s->ops->tick_closed(s, &c->rq, n, c->rq.last_tick);
    struct evq_entry at = sim_at(s);
    tickring_start_after(&s->ticks, c->id, &at);
    horizon_forget(s);
    if (under_way) run_up_to_now(s, c, under_way);
}

void tick_catch_up_all(struct wb_sim *s)
{
    for (cpu_id c = 0; c < s->ncpus; c++) tick_catch_up(s, &s->cpu[c]);
}

struct wb_rq *wb_rq(struct wb_sim *s, cpu_id cpu)
{
    struct wb_cpu *c = &s->cpu[cpu];
    if (WB_UNLIKELY(c->elide.active)) tick_catch_up(s, c);
    return &c->rq;
}
