/*
 * looks.c - who spins for a sleeping lock looks at it over and over, and all looks but the last see nothing new.
 *
 * So they are one segment of many looks, long enough to end after whatever the others do next. What a look could see
 * changes in few places: the lock is released, a spinner before this one leaves, the owner leaves its CPU, somebody
 * needs this CPU. Those call looks_...(), which cut the segment at the first look that comes after that place in the
 * order of events. A cut too many does no harm: a look that sees nothing is followed by others.
 *
 * Looks end at multiples of their length before the end of the segment, so an interrupt, which stops the segment for a
 * while, moves them as it moves single ones. They need full speed throughout: not where SMT siblings change it.
 */
#include "sim.h"

#define LOOKS_AHEAD 256u /* some ten microseconds, longer than most locks are held */
#define LOOKS_MAX 65536u

static bool may_look_ahead(const struct wb_exec *x)
{
    const struct wb_sim *s = x->sim;
    const struct wb_seg *g = x->seg;
    return !s->no_inline && !s->catching_up && s->topo->nsmt == 1 && !g->filled && !g->cpu->attention;
}

uint32_t looks_begin(struct wb_exec *x, const struct wb_sleeplock *l, uint32_t at_once)
{
    struct wb_sim *s = x->sim;
    struct wb_cpu *c = cpu_of(x);
    sim_time one = part_dur(s->fn[l->spin_fn].part) * at_once;
    if (!may_look_ahead(x) || one >= PART_MAX / LOOKS_MAX) return at_once;
    uint64_t n = s->passes_before > s->now ? (s->passes_before - s->now) / one : 0;
    n = WB_MAX(LOOKS_AHEAD, WB_MIN(n, LOOKS_MAX));
    s->inlined += n - 1;
    c->look = (struct looking){.lock = l, .one = one, .next = s->lookers};
    s->lookers = c;
    return (uint32_t)n * at_once;
}

void looks_end(struct wb_exec *x)
{
    struct wb_cpu *me = cpu_of(x), **link = &x->sim->lookers;
    if (!me->look.lock) return;
    while (*link != me) link = &(*link)->look.next;
    *link = me->look.next;
    me->look.lock = NULL;
}

/* How much of `left` goes by until the first look that comes after what happens now. */
static sim_time until_next(const struct wb_sim *s, const struct wb_cpu *c, bool runs, sim_time left)
{
    sim_time rest = left % c->look.one;
    struct evq_entry here = sim_at(s), end = {.time = s->now, .key = evq_key(EV_SEGMENT, c->id, c->ev)};
    /* the one due now is yet to come */
    if (rest || (runs && s->now > c->since && evq_before(&here, &end))) return rest;
    return WB_MIN(left, c->look.one);
}

static void cut(struct wb_sim *s, struct wb_cpu *c)
{
    struct wb_seg *g = &c->seg[WB_LEVEL_TASK];
    bool runs = c->ev && c->ctx->seg == g;
    sim_time left = runs ? g->sum - (s->now - c->since) : g->sum;
    sim_time rest = until_next(s, c, runs, left);
    if (rest == left) return;
    s->inlined -= (left - rest) / c->look.one;
    cpu_shorten(s, c, runs, rest);
}

void looks_cut(struct wb_sim *s, const struct wb_sleeplock *l, const struct wb_task *t, const struct wb_cpu *c)
{
    for (struct wb_cpu *w = s->lookers; w; w = w->look.next)
        if (w->look.lock == l || w == c || (t && w->look.lock->owner == t)) cut(s, w);
}
