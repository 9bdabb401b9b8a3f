/* cpu.c - a CPU steps its active context; segments of work pass in time. See sim.h and exec.h. */
#include "sim.h"

#include <string.h>

/* ---- time and accounts of segments ---- */

/* Waiting for memory does not go slower because the SMT sibling computes. */
static const bool cat_is_stall[WB_CAT_N] = {[WB_CAT_REFILL] = true,
                                            [WB_CAT_LINE] = true,
                                            [WB_CAT_LOCK] = true,
                                            [WB_CAT_IDLE_EXIT] = true,
                                            [WB_CAT_IDLE] = true};

/* How long a part takes at this pace. Rounded up per part, the same way everywhere: the accounts stay exact. */
static sim_time part_wall(uint64_t p, bool stage, uint32_t pace)
{
    sim_time dur = part_dur(p);
    if (WB_LIKELY(pace == SPEED_FULL) || (!stage && cat_is_stall[part_cat(p)])) return dur;
    return ((dur << SPEED_SHIFT) + pace - 1) / pace;
}

static sim_time seg_wall(const struct wb_seg *g, uint32_t pace)
{
    sim_time t = 0;
    if (WB_LIKELY(pace == SPEED_FULL)) return g->sum;
    for (uint32_t i = 0; i < g->nparts; i++) t += part_wall(g->part[i], g->stage != 0, pace);
    return t;
}

void acct_add(struct wb_sim *s, struct wb_cpu *c, uint16_t fn, enum wb_cat cat, sim_time dur)
{
    c->acct[cat] += dur;
    s->fn_time[fn] += dur;
    if (WB_UNLIKELY(c->by_parts & BY_PARTS_LOGGED)) elide_log(c, fn, cat, dur);
}

/* The parts go on the accounts, or off them again. */
static void seg_book(struct wb_sim *s, const struct wb_seg *g, bool on)
{
    struct wb_cpu *c = g->cpu;
    for (uint32_t i = 0; i < g->nparts; i++) {
        sim_time dur = on ? part_dur(g->part[i]) : -part_dur(g->part[i]);
        c->acct[part_cat(g->part[i])] += dur;
        s->fn_time[part_fn(g->part[i])] += dur;
    }
}

void seg_clear(struct wb_cpu *c, enum wb_level level)
{
    c->seg[level] = (struct wb_seg){.cpu = c};
}

void seg_shelve(struct wb_sim *s, struct wb_seg *g)
{
    if (g->state != WB_SEG_OPEN || !g->nparts) return;
    seg_book(s, g, false);
    g->state = WB_SEG_SHELVED;
}

void seg_set_stage(struct wb_exec *x, uint32_t stage)
{
    seg_shelve(x->sim, x->seg);
    x->seg->stage = (uint16_t)(stage + 1);
}

/* Account `elapsed` to the parts in their order and take it off the work. */
static void seg_consume(struct wb_sim *s, struct wb_cpu *c, struct wb_exec *x, sim_time elapsed)
{
    struct wb_seg *g = x->seg;
    uint32_t i = 0;
    while (i < g->nparts) {
        uint64_t p = g->part[i];
        sim_time wall = part_wall(p, g->stage != 0, c->pace);
        if (elapsed < wall) {
            acct_add(s, c, part_fn(p), part_cat(p), elapsed);
            sim_time dur = part_dur(p);
            sim_time done = wall == dur ? elapsed : elapsed * c->pace >> SPEED_SHIFT;
            elapsed = 0;
            if (done < dur) {
                g->part[i] = part_make(dur - done, part_fn(p), part_cat(p));
                break;
            }
        } else {
            acct_add(s, c, part_fn(p), part_cat(p), wall);
            elapsed -= wall;
        }
        i++;
    }
    WB_CHECK(elapsed == 0, "%llu ps that no part accounts for", (unsigned long long)elapsed);
    g->nparts = (uint8_t)(g->nparts - i);
    g->sum = 0;
    for (uint32_t k = 0; k < g->nparts; k++) {
        g->part[k] = g->part[k + i];
        g->sum += part_dur(g->part[k]);
    }
}

/* ---- charges ---- */

/* More is charged to work that waited. */
WB_APART static void charge_shelved(struct wb_exec *x, uint64_t part)
{
    struct wb_seg *g = x->seg;
    WB_CHECK(g->state != WB_SEG_STARTED, "a charge to a segment of cpu %u that is under way", g->cpu->id);
    seg_book(x->sim, g, true);
    g->state = WB_SEG_OPEN;
    charge_part(x, part);
}

/* More of the last part. A full segment lends its last label: time stays exact, the profile is off by one small
 * part. What no part holds (70 s: the largest cost of a path, once for each of many CPUs or tasks) is not charged at
 * all. */
WB_APART static void charge_last(struct wb_exec *x, sim_time dur)
{
    struct wb_seg *g = x->seg;
    uint64_t *last = &g->part[g->nparts - 1u];
    sim_time room = PART_MAX - 1 - part_dur(*last);
    dur = WB_MIN(dur, room);
    *last += dur << PART_SHIFT;
    g->sum += dur;
    g->cpu->acct[part_cat(*last)] += dur;
    x->sim->fn_time[part_fn(*last)] += dur;
}

/* One more part, or more of the last one. What is seldom is apart, so that nothing needs saving here. */
void charge_part(struct wb_exec *x, uint64_t part)
{
    struct wb_seg *g = x->seg;
    uint32_t n = g->filled;
    sim_time dur = part_dur(part);
    if (n) {
        if (WB_UNLIKELY(n > WB_SEG_PARTS)) {
            charge_shelved(x, part);
            return;
        }
        if (n == WB_SEG_PARTS || !((g->part[n - 1] ^ part) << (64 - PART_SHIFT))) {
            charge_last(x, dur);
            return;
        }
    }
    g->part[n] = part;
    g->filled = (uint16_t)(n + 1); /* as wide as it is read, or the load would wait for the store */
    g->sum += dur;
    g->cpu->acct[part_cat(part)] += dur;
    x->sim->fn_time[part_fn(part)] += dur;
}

void wb_charge(struct wb_exec *x, uint16_t fn, enum wb_cat cat, sim_time dur)
{
    x->caller = fn;
    if (!dur) return;
    WB_CHECK(dur < PART_MAX, "charge of %llu ps: more than 70 s", (unsigned long long)dur);
    charge_part(x, part_make(dur, fn, cat));
}

void wb_charge_fn_n(struct wb_exec *x, uint16_t fn, uint32_t n)
{
    uint64_t one = x->sim->fn[fn].part;
    sim_time dur = part_dur(one) * n;
    wb_charge(x, fn, part_cat(one), WB_MIN(dur, PART_MAX - 1));
}

void wb_charge_fn_as(struct wb_exec *x, uint16_t fn, uint32_t n, enum wb_cat cat)
{
    sim_time dur = part_dur(x->sim->fn[fn].part) * n;
    wb_charge(x, fn, cat, WB_MIN(dur, PART_MAX - 1));
}

void wb_charge_fn(struct wb_exec *x, uint16_t fn)
{
    uint64_t part = x->sim->fn[fn].part;
    x->caller = fn;
    if (part_dur(part)) charge_part(x, part);
}

sim_time wb_now(const struct wb_exec *x)
{
    return x->sim->now;
}

sim_time wb_charged(const struct wb_exec *x)
{
    return x->seg->sum;
}

/* ---- shared servers ---- */

static const struct wb_stage *seg_stage(const struct wb_exec *x)
{
    return (const struct wb_stage *)(const void *)stack_at(x, x->seg->stage - 1u);
}

/* Everybody else on the server goes on at a new speed. */
static void repace_others(struct wb_sim *s, server_id v, cpu_id me)
{
    for (cpu_id c = wb_server_first(s->hw, v); c != WB_NO_CPU; c = wb_server_next(s->hw, v, c))
        if (c != me) cpu_repace(s, &s->cpu[c]);
}

static void stage_join(struct wb_sim *s, struct wb_cpu *c, struct wb_exec *x)
{
    const struct wb_stage *st = seg_stage(x);
    uint64_t demand = wb_stage_demand(st);
    x->seg->joined = true;
    for (uint32_t i = 0; i < WB_STAGE_SERVERS && st->server[i] != WB_NO_SERVER; i++)
        if (wb_server_join(s->hw, st->server[i], c->id, demand)) repace_others(s, st->server[i], c->id);
}

static void stage_leave(struct wb_sim *s, struct wb_cpu *c, struct wb_exec *x)
{
    const struct wb_stage *st = seg_stage(x);
    x->seg->joined = false;
    for (uint32_t i = 0; i < WB_STAGE_SERVERS && st->server[i] != WB_NO_SERVER; i++)
        if (wb_server_leave(s->hw, st->server[i], c->id)) repace_others(s, st->server[i], c->id);
}

static uint32_t stage_pace(const struct wb_sim *s, const struct wb_cpu *c, const struct wb_exec *x)
{
    const struct wb_stage *st = seg_stage(x);
    uint64_t ppm = 1000000;
    for (uint32_t i = 0; i < WB_STAGE_SERVERS && st->server[i] != WB_NO_SERVER; i++) {
        uint64_t v = wb_server_speed_ppm(s->hw, st->server[i], c->id);
        ppm = WB_MIN(ppm, v);
    }
    uint32_t pace = (uint32_t)((ppm << SPEED_SHIFT) / 1000000);
    return pace ? pace : 1;
}

static uint32_t current_pace(const struct wb_sim *s, const struct wb_cpu *c, const struct wb_exec *x)
{
    return x->seg->stage ? stage_pace(s, c, x) : c->speed;
}

/* ---- segments ---- */

/* It is over: what was not booked before is now. */
static void segment_finish(struct wb_sim *s, struct wb_cpu *c, struct wb_exec *x)
{
    struct wb_seg *g = x->seg;
    sim_time left = s->now - c->since;
    for (uint32_t i = 0; i < g->nparts; i++) {
        uint64_t p = g->part[i];
        sim_time wall = part_wall(p, g->stage != 0, c->pace);
        acct_add(s, c, part_fn(p), part_cat(p), wall);
        left -= wall;
    }
    WB_CHECK(left == 0, "a segment of another length");
    g->nparts = 0;
    g->sum = 0;
    c->since = s->now;
    g->state = WB_SEG_OPEN;
    if (g->joined) stage_leave(s, c, x);
    g->stage = 0;
}

/* Time passes to the end of work that is booked and runs at full speed. */
static inline void segment_pass(struct wb_sim *s, struct wb_cpu *c, struct wb_seg *g, sim_time end)
{
    s->now = c->since = end;
    s->passed = c;
    s->inlined++;
    g->filled = 0; /* open still */
    g->sum = 0;
}

/* Let the segment pass. true: it has, inline. false: its end is an event. */
WB_APART static bool segment_begin(struct wb_sim *s, struct wb_cpu *c, struct wb_exec *x)
{
    struct wb_seg *g = x->seg;
    c->since = s->now;
    if (g->stage && !g->joined) stage_join(s, c, x);
    c->pace = current_pace(s, c, x);
    sim_time end = s->now + seg_wall(g, c->pace);
    bool inlined = event_may_run_to(s, end, c->id, c->evno + 1);
    if (inlined && g->state == WB_SEG_OPEN && !c->by_parts) {
        segment_pass(s, c, g, end);
        return true;
    }
    seg_shelve(s, g);
    g->state = WB_SEG_STARTED;
    if (inlined) {
        s->now = end;
        s->passed = c;
        s->inlined++;
        segment_finish(s, c, x);
        return true;
    }
    c->ev = ++c->evno;
    event_post(s, end, EV_SEGMENT, c->id, c->ev);
    return false;
}

/* Account what has passed; the work left stays in the context. */
void cpu_pause(struct wb_sim *s, struct wb_cpu *c)
{
    if (!c->ev) return;
    struct wb_exec *x = c->ctx;
    c->ev = 0;
    seg_consume(s, c, x, s->now - c->since);
    c->since = s->now;
    if (x->seg->joined) stage_leave(s, c, x);
}

void cpu_repace(struct wb_sim *s, struct wb_cpu *c)
{
    if (!c->ev) return;
    struct wb_exec *x = c->ctx;
    uint32_t pace = current_pace(s, c, x);
    if (pace == c->pace) return;
    seg_consume(s, c, x, s->now - c->since);
    c->since = s->now;
    c->pace = pace;
    c->ev = ++c->evno;
    event_post(s, s->now + seg_wall(x->seg, pace), EV_SEGMENT, c->id, c->ev);
}

void cpu_settle(struct wb_sim *s, struct wb_cpu *c)
{
    struct wb_exec *x = c->ctx;
    seg_consume(s, c, x, s->now - c->since);
    c->since = s->now;
    c->ev = ++c->evno;
    event_post(s, s->now + seg_wall(x->seg, c->pace), EV_SEGMENT, c->id, c->ev);
}

void cpu_shorten(struct wb_sim *s, struct wb_cpu *c, bool runs, sim_time left)
{
    struct wb_seg *g = &c->seg[WB_LEVEL_TASK];
    if (runs) seg_consume(s, c, c->ctx, s->now - c->since);
    WB_CHECK(g->state == WB_SEG_STARTED && g->nparts == 1 && left < g->sum, "cpu %u has no work to shorten", c->id);
    g->part[0] -= (g->sum - left) << PART_SHIFT;
    g->sum = left;
    if (!runs) return;
    c->since = s->now;
    c->ev = ++c->evno;
    event_post(s, s->now + left, EV_SEGMENT, c->id, c->ev);
}

void cpu_segment_end(struct wb_sim *s, struct wb_cpu *c)
{
    c->ev = 0;
    segment_finish(s, c, c->ctx);
    cpu_run(c, s);
}

void by_parts_set(struct wb_cpu *c, enum by_parts why, bool is)
{
    if (is)
        c->by_parts |= why;
    else
        c->by_parts &= ~(uint32_t)why;
}

uint32_t cpu_speed(const struct wb_sim *s, cpu_id c, uint64_t others_ppm)
{
    uint64_t ppm = wb_smt_speed_ppm(s->machine, others_ppm);
    ppm = ppm * wb_machine_speed_ppm(s->machine, c) / 1000000;
    return (uint32_t)((ppm << SPEED_SHIFT) / 1000000);
}

/* What an SMT sibling's change of load does to this core's other threads. */
void cpu_set_load(struct wb_sim *s, struct wb_cpu *c, uint64_t load_ppm)
{
    if (c->smt_load_ppm == load_ppm) return;
    c->smt_load_ppm = load_ppm;
    if (s->topo->nsmt < 2) return;
    uint32_t n;
    const cpu_id *sib = wb_topo_members(s->topo, WB_LVL_CORE, c->id, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct wb_cpu *o = &s->cpu[sib[i]];
        uint64_t others = 0;
        if (o == c) continue;
        for (uint32_t k = 0; k < n; k++)
            if (sib[k] != o->id) others += s->cpu[sib[k]].smt_load_ppm;
        tick_catch_up(s, o);
        o->speed = cpu_speed(s, o->id, others);
        by_parts_set(o, BY_PARTS_SPEED, o->speed != SPEED_FULL);
        if (o->ev && !o->ctx->seg->stage) cpu_repace(s, o);
    }
}

/* ---- frames ---- */

void exec_init(struct wb_exec *x, struct wb_sim *s, void *stack, size_t own)
{
    x->sim = s;
    ptrdiff_t from = (uint8_t *)stack - (uint8_t *)x;
    WB_CHECK(from > 0 && from <= UINT16_MAX && own <= UINT16_MAX, "a stack %td bytes behind its context", from);
    x->stack = (uint16_t)from;
    x->own = (uint16_t)own;
    x->top = WB_STACK_EMPTY;
    x->used = 0;
}

static int pool_init(struct stack_pool *p, uint32_t parts, uint32_t bytes)
{
    *p = (struct stack_pool){.parts = parts, .bytes = bytes, .mem = reserve_take((size_t)parts * bytes)};
    return p->mem ? 0 : -1;
}

/* Their parts are used from the first on. */
void stacks_dense(struct wb_sim *s)
{
    reserve_dense(s->middle.mem, (size_t)s->middle.parts * s->middle.bytes);
    reserve_dense(s->deep.mem, (size_t)s->deep.parts * s->deep.bytes);
}

int stacks_init(struct wb_sim *s)
{
    uint32_t parts = s->ntasks + 2 * s->ncpus;
    if (pool_init(&s->middle, parts, sizeof(struct middle_head) + WB_STACK_MIDDLE)) return -1;
    return pool_init(&s->deep, parts, DEEP_STACK_BYTES);
}

void stacks_free(struct wb_sim *s)
{
    reserve_give(s->middle.mem, (size_t)s->middle.parts * s->middle.bytes);
    reserve_give(s->deep.mem, (size_t)s->deep.parts * s->deep.bytes);
}

size_t stacks_touched(const struct wb_sim *s)
{
    return reserve_touched(s->middle.mem, (size_t)s->middle.parts * s->middle.bytes) +
           reserve_touched(s->deep.mem, (size_t)s->deep.parts * s->deep.bytes);
}

/* A part that was given back is warm and is taken before one that nobody has touched. */
static uint8_t *part_take(struct stack_pool *p, const struct wb_exec *x)
{
    uint8_t *part = p->free;
    if (part) {
        memcpy(&p->free, part, sizeof p->free);
        return part;
    }
    WB_CHECK(p->fresh < p->parts, "a frame of task %u does not fit its stack while it is built", x->task->id);
    return p->mem + (size_t)p->fresh++ * p->bytes;
}

static void part_give(struct stack_pool *p, uint8_t *part)
{
    memcpy(part, &p->free, sizeof p->free);
    p->free = part;
}

static struct middle_head *middle_of(const struct wb_exec *x)
{
    return (struct middle_head *)(void *)(x->lent + x->own) - 1;
}

/* The part in use has no room for a frame: go on in the next one, or the one after it. */
WB_APART static void enter_next_part(struct wb_exec *x, size_t size)
{
    uint32_t deep = x->own + WB_STACK_MIDDLE;
    if (x->used <= x->own) {
        x->lent = part_take(&x->sim->middle, x) + sizeof(struct middle_head) - x->own;
        x->used = x->own;
    }
    if (x->used + size <= deep) return;
    middle_of(x)->deep = part_take(&x->sim->deep, x) - deep;
    x->used = (uint16_t)deep;
}

/* The first frame of a lent part has gone: give the part back, and go on where the one before ended. */
WB_APART static void leave_part(struct wb_exec *x)
{
    uint32_t deep = x->own + WB_STACK_MIDDLE, prev = x->top == WB_STACK_EMPTY ? 0 : x->top;
    if (x->used == deep) part_give(&x->sim->deep, middle_of(x)->deep + deep);
    if (prev < x->own) part_give(&x->sim->middle, (uint8_t *)middle_of(x));
    x->used = x->top == WB_STACK_EMPTY ? 0 : (uint16_t)(prev + stack_at(x, prev)->size);
}

void *wb_push_part(struct wb_exec *x, uint32_t size)
{
    uint32_t deep = x->own + WB_STACK_MIDDLE, end = x->used <= x->own ? x->own : deep;
    if (x->used <= deep && x->used + size > end) enter_next_part(x, size);
    WB_CHECK(x->used + size <= deep + DEEP_STACK_BYTES, "frame stack of %u bytes overflows (frame of %u)",
             deep + DEEP_STACK_BYTES, size);
    return stack_at(x, x->used);
}

void *wb_push(struct wb_exec *x, wb_step_fn step, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    struct wb_frame *f = wb_push_part(x, (uint32_t)size);
    memset(f + 1, 0, size - sizeof *f);
    *f = (struct wb_frame){.step = step, .prev = x->top, .size = (uint16_t)size};
    x->top = x->used;
    x->used = (uint16_t)(x->used + size);
    if (x->used > x->stack_peak) x->stack_peak = x->used;
    return f;
}

/* The frame on top, f, is over. */
static inline void pop(struct wb_exec *x, const struct wb_frame *f)
{
    uint16_t at = x->top;
    x->top = f->prev;
    x->used = at;
    if (WB_UNLIKELY(at == x->own || at == x->own + WB_STACK_MIDDLE)) leave_part(x);
}

/* ---- stepping ---- */

static bool takes_irq(const struct wb_cpu *c, const struct wb_exec *x)
{
    return c->pending && x->level != WB_LEVEL_HARDIRQ && !x->irq_off;
}

static bool takes_softirq(const struct wb_cpu *c, const struct wb_exec *x)
{
    return c->softirqs && x->level == WB_LEVEL_TASK && !x->irq_off && !x->bh_off;
}

static inline bool is_interrupted(const struct wb_cpu *c, const struct wb_exec *x)
{
    return WB_UNLIKELY(c->interrupts) && (takes_irq(c, x) || takes_softirq(c, x));
}

/* Nobody knew how far work may run since the last event: plain work may yet. */
static inline bool passes_after_all(struct wb_sim *s, struct wb_cpu *c, struct wb_seg *g)
{
    if (s->passes_before || g->state != WB_SEG_OPEN || c->by_parts || g->stage) return false;
    horizon_renew(s);
    if (s->now + g->sum >= s->passes_before) return false;
    segment_pass(s, c, g, s->now + g->sum);
    return true;
}

/* There is more to do, or to look at, than to let the time pass. */
WB_APART static bool flush_apart(struct wb_exec *x)
{
    struct wb_cpu *c = cpu_of(x);
    if (WB_UNLIKELY(x->big == WB_BIG_WANTED)) {
        big_lock_push(x);
        return false;
    }
    if (is_interrupted(c, x)) return false;
    if (!x->seg->nparts) return true;
    if (passes_after_all(x->sim, c, x->seg)) return true;
    return segment_begin(x->sim, c, x);
}

/* The usual case is plain work at full speed that ends before anything else happens. */
bool wb_flush_now(struct wb_exec *x)
{
    struct wb_sim *s = x->sim;
    struct wb_seg *g = x->seg;
    sim_time end = s->now + g->sum;
    if (WB_UNLIKELY(end >= s->passes_before || g->state != WB_SEG_OPEN || g->cpu->attention)) return flush_apart(x);
    if (g->nparts) segment_pass(s, g->cpu, g, end);
    return true;
}

/* A call costs no trip through cpu_run() unless something is to be done there first. */
enum wb_ret wb_call_now(struct wb_exec *x, const void *frame)
{
    struct wb_sim *s = x->sim;
    const struct wb_cpu *c = cpu_of(x);
    for (;;) {
        if (is_interrupted(c, x)) return WB_AGAIN;
        struct wb_frame *f = stack_at(x, x->top);
        if (f == frame) return WB_DONE;
        if (!step_goes_on(s)) return WB_AGAIN;
        enum wb_ret r = f->step(x, f);
        if (r == WB_DONE)
            pop(x, f);
        else if (r != WB_AGAIN)
            return r;
    }
}

bool wb_step_waits(struct wb_exec *x)
{
    return is_interrupted(cpu_of(x), x) || !step_goes_on(x->sim);
}

struct preempted {
    struct wb_frame h; /* note: it was in user mode */
    uint16_t stage;
    uint8_t nparts;
    uint8_t state;
    bool joined;
    uint64_t part[]; /* nparts of them: mostly one */
};

/* Preempted on return from an interrupt: put the half-done segment aside, schedule, take it up again. */
static enum wb_ret preempted_step(struct wb_exec *x, void *frame)
{
    struct preempted *f = frame;
    WB_BEGIN(f);
    WB_CALL(x, f, schedule_preempt(x));
    if (wb_need_resched(x)) {
        f->h.line = 0;
        return WB_AGAIN;
    }
    if (f->h.note && x->task->switched) charge_return(x);
    WB_FLUSH(x, f);
    *x->seg = (struct wb_seg){
        .nparts = f->nparts, .state = f->state, .joined = f->joined, .stage = f->stage, .cpu = cpu_of(x)};
    for (uint32_t i = 0; i < f->nparts; i++) {
        x->seg->part[i] = f->part[i];
        x->seg->sum += part_dur(f->part[i]);
    }
    x->user = (uint8_t)f->h.note;
    WB_END();
}

static void preempt(struct wb_exec *x)
{
    struct wb_seg *g = x->seg;
    size_t parts = g->nparts * sizeof g->part[0];
    seg_shelve(x->sim, g);
    struct preempted *f = wb_push(x, preempted_step, sizeof *f + parts);
    f->h.note = x->user;
    f->nparts = g->nparts;
    f->state = g->state;
    f->joined = g->joined;
    f->stage = g->stage;
    memcpy(f->part, g->part, parts);
    seg_clear(g->cpu, WB_LEVEL_TASK);
    x->user = 0;
}

/* Back from an interrupt into a task: is this a point where the kernel reschedules? */
static bool preempts_here(const struct wb_sim *s, const struct wb_cpu *c, const struct wb_exec *x)
{
    if (x->task->klass == WB_CLASS_SWAPPER) return false;
    if (!c->rq.need_resched) return c->rq.need_resched_lazy && x->user;
    return x->user || (s->k.preempt && !x->preempt_off && !x->irq_off && !x->bh_off);
}

/* What a frame yielded that is neither over nor goes on at once. false: the CPU waits. */
static bool yielded(struct wb_sim *s, struct wb_cpu *c, struct wb_exec *x, enum wb_ret r)
{
    if (r == WB_RUN && c->ev) return false;
    if (r == WB_SWITCH) {
        c->ctx = &c->rq.curr->x;
        c->ctx->cpu = c->id;
        c->ctx->seg = &c->seg[WB_LEVEL_TASK];
        return true;
    }
    seg_shelve(s, x->seg);
    if (r == WB_RUN) {
        if (x->seg->nparts) x->seg->state = WB_SEG_STARTED;
        return true;
    }
    if (r == WB_HALT) {
        idle_halt(s, c);
        return c->mode != CPU_HALT;
    }
    c->mode = CPU_SPIN;
    c->since = s->now;
    return false;
}

/* Step the active context until something else may be to be done first. false: the CPU waits. */
static bool step(struct wb_sim *s, struct wb_cpu *c, struct wb_exec *x)
{
    do {
        struct wb_frame *f = stack_at(x, x->top);
        enum wb_ret r = f->step(x, f);
        if (r == WB_DONE)
            pop(x, f);
        else if (r != WB_AGAIN)
            return yielded(s, c, x, r);
        if (x->top == WB_STACK_EMPTY || !step_goes_on(s)) break;
    } while (!c->interrupts && x->seg->state == WB_SEG_OPEN); /* not what preempted_step() takes up again */
    return true;
}

/* A context has nothing left to run. */
static void leave(struct wb_sim *s, struct wb_cpu *c, struct wb_exec *x)
{
    WB_CHECK(x->level != WB_LEVEL_TASK, "task %u ran off its program", x->task->id);
    if (x->level == WB_LEVEL_HARDIRQ)
        irq_leave(s, c);
    else
        softirq_leave(s, c);
    c->check_resched = true;
}

void cpu_run(struct wb_cpu *c, struct wb_sim *s)
{
    c->mode = CPU_RUN;
    wb_where.cpu = c->id;
    for (;;) {
        struct wb_exec *x = c->ctx;
        if (WB_UNLIKELY(step_looks_up(s))) {
            sim_look_up(s, c);
            if (s->broken_off || s->stalled) {
                seg_shelve(s, x->seg);
                return;
            }
        }
        if (is_interrupted(c, x)) {
            if (takes_irq(c, x))
                irq_enter(s, c);
            else
                softirq_enter(s, c);
            continue;
        }
        if (spin_of(x)->lock && !x->spin_granted) {
            c->mode = CPU_SPIN;
            c->since = s->now;
            return;
        }
        if (x->spin_granted) lock_granted(s, c);
        if (c->check_resched && x->level == WB_LEVEL_TASK) {
            c->check_resched = false;
            if (preempts_here(s, c, x)) preempt(x);
        }
        if (x->seg->state == WB_SEG_STARTED) {
            if (!segment_begin(s, c, x)) return;
            continue;
        }
        if (x->top == WB_STACK_EMPTY) {
            if (x->seg->nparts) {
                if (!segment_begin(s, c, x)) return;
                continue;
            }
            leave(s, c, x);
            continue;
        }
        if (!step(s, c, x)) return;
    }
}
