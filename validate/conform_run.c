/*
 * conform_run.c - the walk through a recording: the kernel is told what happened and asked at each wakeup.
 *
 * At the beginning of a section a CPU runs whom its first event shows; a CPU without events is idle; tasks that run
 * without having been woken were queued there. Between events busy CPUs tick, so that load averages go on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conform_inner.h"

#define GAP_NS 1000000000ull /* between sections whose clocks do not go on */
/* Clocks beyond are not taken over but go on from the last section: simulated time counts picoseconds and ends after
 * 213 days, machines run for longer. */
#define LATE_NS (100 * 24 * 3600 * 1000000000ull)

/* ---- time ---- */

static void pass(struct conform *c, uint64_t ns)
{
    while (c->next_tick <= ns) {
        if (ns - c->next_tick > 1000 * c->tick_ns) c->next_tick = ns - 1000 * c->tick_ns;
        wb_drive_time(c->s, c->next_tick * WB_NS);
        for (cpu_id i = 0; i < c->r->ncpus; i++)
            if (!wb_idle_cpu(wb_rq(c->s, i))) wb_drive_tick(c->s, i);
        c->next_tick += c->tick_ns;
    }
    c->now = WB_MAX(c->now, ns);
    wb_drive_time(c->s, c->now * WB_NS);
}

/* ---- switches ---- */

static enum wb_task_state state_of(char letter)
{
    switch (letter) {
    case 'R': return WB_RUNNING;
    case 'X':
    case 'Z': return WB_DEAD;
    case 'D': return WB_UNINTERRUPTIBLE;
    default: return WB_INTERRUPTIBLE;
    }
}

static void note_leaving(struct conform *c, cpu_id cpu, uint32_t task, enum wb_task_state state)
{
    struct conform_past *p = &c->past[task];
    if (!task) return;
    p->met = true;
    p->left_ns = c->now;
    p->may_delay = state != WB_RUNNING && wb_rq(c->s, cpu)->nr_running > 1;
    p->idle_epoch = c->idle_epoch[cpu];
}

/* The task's queueing by a waker on another CPU begins (at) or is over (TRACE_NO_CPU). */
static void set_going(struct conform *c, uint32_t task, uint16_t at)
{
    struct conform_past *p = &c->past[task];
    if (p->going) {
        c->under_way[p->going - 1]--;
        c->under_way_all--;
    }
    p->going = at == TRACE_NO_CPU ? 0 : (uint16_t)(at + 1);
    if (!p->going) return;
    c->under_way[at]++;
    c->under_way_all++;
}

static void do_switch(struct conform *c, cpu_id cpu, uint32_t task, uint32_t next, char letter)
{
    enum wb_task_state state = state_of(letter);
    struct wb_task *n = next ? conform_task(c, next) : NULL;
    note_leaving(c, cpu, task, state);
    if (next) set_going(c, next, TRACE_NO_CPU);
    if (n && n->on_cpu && n->cpu != cpu) { /* the recording has lost its switch there */
        c->r->repaired++;
        (void)wb_drive_switch(c->s, n->cpu, NULL, WB_RUNNING);
    }
    if (n && n->on_cpu) return;
    c->r->repaired += wb_drive_switch(c->s, cpu, n, state);
    if (next) return;
    if (!c->starting) conform_newidle(c, cpu, TRACE_NO_CPU);
    c->idle_epoch[cpu]++;
    c->idle_seen[cpu] = c->now;
}

/* Whoever the model has there, `who` runs. */
static void be_running(struct conform *c, cpu_id cpu, uint32_t who)
{
    struct wb_rq *rq = wb_rq(c->s, cpu);
    struct wb_task *want = who ? conform_task(c, who) : rq->idle;
    if (rq->curr == want) return;
    uint32_t cur = rq->curr == rq->idle ? 0 : rq->curr->id - 2 * c->r->ncpus + 1;
    do_switch(c, cpu, cur, who, 'S');
}

/* ---- sections ---- */

static void fall_asleep(struct conform *c)
{
    for (cpu_id i = 0; i < c->r->ncpus; i++) be_running(c, i, 0);
    for (uint32_t k = 1; k < c->t->ntasks; k++) {
        struct wb_task *t = conform_task(c, k);
        if (t->waking) { /* its queueing was cut off */
            wb_drive_queue(c->s, t, WB_ENQ_WAKEUP);
            (void)wb_drive_switch(c->s, t->cpu, NULL, WB_RUNNING);
        }
        c->past[k] = (struct conform_past){.met = c->past[k].met};
    }
    for (cpu_id i = 0; i < c->r->ncpus; i++) {
        c->idle_seen[i] = c->last_event[i] = 0;
        c->under_way[i] = 0;
        c->unknown[i] = false;
        c->leaving[i] = NULL;
    }
    c->under_way_all = 0;
}

/* First appearance of each task: if it is a switch to it, it was queued there from the beginning. */
static void first_state(struct conform *c, const struct trace_section *s)
{
    bool *seen = calloc(c->t->ntasks, sizeof *seen), *cpu_seen = calloc(c->r->ncpus, sizeof *cpu_seen);
    for (size_t i = s->first; seen && cpu_seen && i < s->first + s->n; i++) {
        const struct trace_event *e = &c->t->event[i];
        if (e->kind == TRACE_LOST) continue;
        uint32_t runner = e->kind == TRACE_SWITCH ? e->task : e->by;
        if (!cpu_seen[e->cpu]) {
            cpu_seen[e->cpu] = true;
            c->unknown[e->cpu] = c->t->lines.overwritten > 0; /* its buffer begins here, the others' elsewhere */
            seen[runner] = true;
            if (runner && !conform_task(c, runner)->on_cpu) {
                fair_task(conform_task(c, runner))->is_new = !c->past[runner].met;
                (void)wb_drive_move(c->s, conform_task(c, runner), e->cpu);
                be_running(c, e->cpu, runner);
            }
        }
        if (e->kind == TRACE_SWITCH && e->next && !seen[e->next]) {
            struct wb_task *t = conform_task(c, e->next);
            (void)wb_drive_move(c->s, t, e->cpu);
            fair_task(t)->is_new = !t->on_rq && !c->past[e->next].met;
            if (!t->on_rq) wb_drive_queue(c->s, t, WB_ENQ_WAKEUP);
            seen[e->next] = true;
        }
        seen[e->task] = true;
    }
    free(seen);
    free(cpu_seen);
}

/* ---- wakeups ---- */

/* Pipes, sockets and exits wake their readers synchronously (Linux wake_up_interruptible_sync_poll, sock_def_readable,
 * __wake_up_parent); timers, futexes, workqueues and RCU do not. */
static bool sync_class(const struct conform *c, const struct trace_event *e)
{
    if (!e->by || e->context == TRACE_CTX_HARDIRQ) return false;
    if (c->outcome[e - c->t->event].exiting && e->context != TRACE_CTX_SOFTIRQ) return false; /* PF_EXITING */
    return !conform_task(c, e->task)->kthread;
}

static enum wb_level level_of(const struct trace_event *e)
{
    if (e->context == TRACE_CTX_HARDIRQ || (e->context == TRACE_CTX_UNKNOWN && !e->by)) return WB_LEVEL_HARDIRQ;
    return e->context == TRACE_CTX_SOFTIRQ ? WB_LEVEL_SOFTIRQ : WB_LEVEL_TASK;
}

static enum conform_kind kind_of(const struct conform *c, const struct trace_event *e, const struct wb_task *t)
{
    static const enum conform_kind by_context[] = {[TRACE_CTX_UNKNOWN] = CONFORM_ANY,
                                                   [TRACE_CTX_TASK] = CONFORM_TASK,
                                                   [TRACE_CTX_SOFTIRQ] = CONFORM_SOFTIRQ,
                                                   [TRACE_CTX_HARDIRQ] = CONFORM_HARDIRQ};
    const struct conform_outcome *o = &c->outcome[e - c->t->event];
    if (!o->found) return CONFORM_NO_OUTCOME;
    if (c->bound[e->task]) return CONFORM_BOUND;
    if (t->on_rq && !t->delayed && o->cpu == e->from) return CONFORM_QUEUED;
    if (fair_is_rt(t)) return CONFORM_RT;
    for (cpu_id i = 0; i < c->r->ncpus; i++)
        if (c->unknown[i]) return CONFORM_NO_STATE;
    return by_context[e->context];
}

/* The model has it queued or elsewhere, and the recording shows that it slept here. */
static void be_asleep(struct conform *c, struct wb_task *t, cpu_id at)
{
    if (t->on_cpu && t->on_rq) {
        be_running(c, t->cpu, 0);
        c->r->repaired++;
    }
    if (t->on_rq && !t->delayed) {
        uint32_t task = t->id - 2 * c->r->ncpus + 1;
        do_switch(c, t->cpu, 0, task, 'R');
        be_running(c, t->cpu, 0);
        c->r->repaired++;
    }
    if (t->cpu != at && t->delayed) wb_drive_sleep(c->s, t);
    if (t->cpu != at) (void)wb_drive_move(c->s, t, at);
}

struct pending {
    bool any;
    struct conform_question q;
    struct conform_answer a;
    const struct trace_event *e;
    size_t end;
};

/* The decision has been made by now: does the state at its end say something else than that at its beginning? */
static void settle(struct conform *c, struct pending *p, size_t i)
{
    if (!p->any || i < p->end) return;
    struct wb_task *t = p->q.w.task;
    const struct conform_outcome *o = &c->outcome[p->e - c->t->event];
    p->any = false;
    if (i > (size_t)(p->e - c->t->event) + 1 && !t->on_rq) {
        bool waking = t->waking;
        if (waking) wb_drive_unpend(c->s, t);
        cpu_id late = conform_ask_again(c, &p->q);
        if (waking) wb_drive_pend(c->s, t, o->cpu);
        conform_possible(&p->a, late);
        if (late != p->a.base.cpu) p->a.facts |= 1u << CONFORM_F_RACE;
    }
    conform_score(c, p->e, &p->q, &p->a, o->cpu);
}

static void settle_all(struct conform *c, struct pending *p, size_t i)
{
    for (cpu_id k = 0; k < c->r->ncpus; k++) settle(c, &p[k], i);
}

static void wake(struct conform *c, const struct trace_event *e, struct pending *p)
{
    struct wb_task *t = conform_task(c, e->task);
    const struct conform_outcome *o = &c->outcome[e - c->t->event];
    enum conform_kind kind = kind_of(c, e, t);
    bool leaving = t->on_cpu && t->cpu == e->from && e->cpu != e->from;
    c->r->wakeups++;
    c->r->count[kind]++;
    if (kind == CONFORM_QUEUED) return;
    if (t->cpu != e->from || (t->on_rq && !t->delayed)) be_asleep(c, t, e->from);
    struct conform_question q = {.w = {.task = t, .this_cpu = e->cpu, .prev_cpu = e->from},
                                 .level = level_of(e),
                                 .waker = e->by,
                                 .wakee = e->task};
    if (sync_class(c, e)) q.w.flags = WB_WF_SYNC;
    if (kind < CONFORM_SCORED) {
        p->q = q;
        conform_ask(c, &q, &p->a);
        if (p->a.base.cpu != o->cpu) conform_describe(c, t, p->a.state, sizeof p->a.state);
        p->e = e;
        p->end = o->decided;
        p->any = true;
    }
    if (t->on_cpu) return;
    conform_apply(c, &q);
    if (leaving) c->leaving[e->from] = t; /* not for itself: its waker waits until it has left */
    if (t->delayed && o->cpu != e->from) wb_drive_sleep(c->s, t); /* it had been dequeued after all */
    if (!o->found || t->on_rq) return;
    if (o->cpu != t->cpu && o->remote) (void)wb_drive_move(c->s, t, o->cpu);
    if (o->remote) wb_drive_pend(c->s, t, o->cpu);
    if (!o->remote && o->cpu != e->cpu && o->cpu < c->r->ncpus) set_going(c, e->task, o->cpu);
}

static void queue(struct conform *c, const struct trace_event *e)
{
    struct wb_task *t = conform_task(c, e->task);
    set_going(c, e->task, TRACE_NO_CPU);
    if (t->cpu != e->to && !t->on_cpu) (void)wb_drive_move(c->s, t, e->to);
    if (!t->on_cpu) wb_drive_queue(c->s, t, WB_ENQ_WAKEUP);
}

static void born(struct conform *c, const struct trace_event *e)
{
    struct conform_answer a;
    struct wb_task *t = conform_task(c, e->task);
    bool known = true;
    for (cpu_id i = 0; i < c->r->ncpus; i++) known = known && !c->unknown[i];
    if (t->on_rq || t->on_cpu) return;
    if (known && !fair_is_rt(t)) {
        conform_ask_fork(c, e->by, e->task, e->cpu, &a);
        if (a.base.cpu != e->to) conform_describe(c, NULL, a.state, sizeof a.state);
        conform_score_fork(c, e, &a);
    }
    struct conform_past *p = &c->past[e->task];
    *p = (struct conform_past){.born = !e->by || c->past[e->by].born, .recent_known = true, .met = true};
    t->cpu = e->to;
    fair_task(t)->is_new = true;
    wb_drive_queue(c->s, t, WB_ENQ_NEW);
}

/* ---- one event ---- */

static void migrate(struct conform *c, const struct trace_event *e, bool wakeup)
{
    struct wb_task *t = conform_task(c, e->task);
    conform_count_move(c, e, wakeup);
    if (!wakeup && !strncmp(c->t->task[e->by].comm, "migration/", 10)) c->past[e->task].pushed = true;
    if (conform_is_newidle(c, e, wakeup) && !t->on_cpu && t->on_rq) {
        note_leaving(c, e->cpu, e->by, WB_INTERRUPTIBLE); /* its task sleeps: schedule() has taken it off */
        c->r->repaired += wb_drive_switch(c->s, e->cpu, NULL, WB_INTERRUPTIBLE);
        conform_newidle(c, e->cpu, e->from);
    }
    if (e->to < c->r->ncpus && !t->on_cpu) (void)wb_drive_move(c->s, t, e->to);
}

static void lost(struct conform *c, const struct trace_event *e)
{
    for (cpu_id i = 0; i < c->r->ncpus; i++)
        if (e->cpu == TRACE_NO_CPU || e->cpu == i) c->unknown[i] = true;
}

/* Is this move part of a wakeup? Then its waking event waits for it. */
static bool of_wakeup(const struct conform *c, size_t i, const size_t *open)
{
    const struct trace_event *e = &c->t->event[i];
    return open[e->task] && c->outcome[open[e->task] - 1].cpu == e->to && c->t->event[open[e->task] - 1].cpu == e->cpu;
}

static void follow(struct conform *c, size_t i, struct pending *p, size_t *open)
{
    const struct trace_event *e = &c->t->event[i];
    if (e->kind == TRACE_LOST) {
        lost(c, e);
        return;
    }
    be_running(c, e->cpu, e->kind == TRACE_SWITCH ? e->task : e->by);
    c->unknown[e->cpu] = false;
    c->leaving[e->cpu] = NULL;
    switch (e->kind) {
    case TRACE_SWITCH: do_switch(c, e->cpu, e->task, e->next, e->state); break;
    case TRACE_WAKING:
        open[e->task] = i + 1;
        if (e->from < c->r->ncpus) wake(c, e, &p[e->cpu]);
        break;
    case TRACE_WAKEUP:
        open[e->task] = 0;
        queue(c, e);
        break;
    case TRACE_WAKEUP_NEW: born(c, e); break;
    case TRACE_MIGRATE: migrate(c, e, of_wakeup(c, i, open)); break;
    default: break;
    }
    c->last_event[e->cpu] = c->now;
}

static void walk_section(struct conform *c, const struct trace_section *s, struct pending *p, size_t *open)
{
    if (!s->n) return;
    uint64_t start = c->t->event[s->first].ns;
    c->shift = start > c->now && start < LATE_NS ? 0 : c->now + GAP_NS - start;
    memset(open, 0, c->t->ntasks * sizeof *open);
    if (!c->next_tick) c->next_tick = start + c->shift;
    pass(c, start + c->shift);
    c->starting = true;
    fall_asleep(c);
    first_state(c, s);
    c->starting = false;
    for (size_t i = s->first; i < s->first + s->n; i++) {
        pass(c, c->t->event[i].ns + c->shift);
        settle_all(c, p, i);
        follow(c, i, p, open);
    }
    settle_all(c, p, SIZE_MAX);
}

/* ---- all of it ---- */

static int make(struct conform *c)
{
    c->past = calloc(c->t->ntasks, sizeof *c->past);
    c->bound = calloc(c->t->ntasks, sizeof *c->bound);
    c->idle_epoch = calloc(TRACE_CPUS, sizeof *c->idle_epoch);
    c->idle_seen = calloc(TRACE_CPUS, sizeof *c->idle_seen);
    c->last_event = calloc(TRACE_CPUS, sizeof *c->last_event);
    c->under_way = calloc(TRACE_CPUS, sizeof *c->under_way);
    c->unknown = calloc(TRACE_CPUS, sizeof *c->unknown);
    c->leaving = calloc(TRACE_CPUS, sizeof(struct wb_task *));
    c->scratch = conform_scratch_new();
    bool all = c->past && c->bound && c->idle_epoch && c->idle_seen && c->last_event && c->under_way && c->unknown;
    return all && c->leaving && c->scratch ? 0 : -ENOMEM;
}

static void unmake(struct conform *c)
{
    wb_sim_free(c->s);
    wb_scenario_free(c->scenario);
    free(c->outcome);
    free(c->past);
    free(c->bound);
    free(c->idle_epoch);
    free(c->idle_seen);
    free(c->last_event);
    free(c->under_way);
    free(c->unknown);
    free(c->leaving);
    free(c->by_rule);
    free(c->masks[0]);
    free(c->masks[1]);
    free(c->scratch);
}

static int walk(struct conform *c)
{
    struct pending *p = calloc(c->r->ncpus, sizeof *p);
    size_t *open = calloc(c->t->ntasks, sizeof *open);
    c->by_rule = calloc(wb_drive_ops(c->s)->nrules, sizeof *c->by_rule);
    int err = p && open && c->by_rule ? conform_outcomes(c) : -ENOMEM;
    for (uint32_t s = 0; s < c->t->nsections && !err; s++) walk_section(c, &c->t->section[s], p, open);
    free(p);
    free(open);
    return err ? err : conform_finish(c);
}

#define VOTES_MIN 3u

/* Once through the recording. 0, -1 with errors in d, or -ENOMEM. */
static int attempt(struct conform *c, const struct wb_registry *reg, const struct wb_key_registry *keys,
                   struct wb_diag *d)
{
    int err = make(c);
    if (!err) err = conform_build(c, reg, keys, d) ? -1 : 0;
    if (!err) err = walk(c);
    unmake(c);
    return err;
}

static uint64_t wrong(const struct conform_result *r)
{
    return r->total.known - r->total.known_agree + r->fork.known - r->fork.known_agree;
}

/* SCHED_IDLE cannot be read off a recording, and changes where others go: tasks whose busy CPUs were chosen again and
 * again as if they were idle are taken for such, if that explains more than half of what was wrong. Returns the better
 * result. */
static struct conform_result *try_idle_tasks(struct conform *first, const struct wb_registry *reg,
                                             const struct wb_key_registry *keys)
{
    struct conform_result *r = first->r, *again = calloc(1, sizeof *again);
    struct wb_diag *quiet = wb_diag_new();
    bool *idle = calloc(first->t->ntasks, sizeof *idle), better = false;
    uint32_t n = 0;
    for (uint32_t k = 1; idle && k < first->t->ntasks; k++) n += idle[k] = first->votes[k] >= VOTES_MIN;
    if (idle && again && quiet && n) {
        again->trace = r->trace;
        struct conform c = {.r = again, .o = first->o, .t = first->t, .idle = idle};
        c.votes = calloc(first->t->ntasks, sizeof *c.votes);
        better = c.votes && !attempt(&c, reg, keys, quiet) && 2 * wrong(again) < wrong(r);
        free(c.votes);
    }
    struct conform_result *worse = better ? r : again;
    if (better) {
        again->health = r->health;
        again->seem_idle = n;
        r->health = (struct trace_health){0};
    }
    if (worse) worse->trace = NULL;
    conform_free(worse);
    free(idle);
    wb_diag_free(quiet);
    return better ? again : r;
}

struct conform_result *conform_run_trace(struct trace *t, const struct conform_options *o,
                                         const struct wb_registry *reg, const struct wb_key_registry *keys,
                                         struct wb_diag *d)
{
    struct conform_result *r = calloc(1, sizeof *r);
    struct conform c = {.r = r, .o = o, .t = t};
    if (!r) {
        trace_free(t);
        return NULL;
    }
    r->trace = t;
    int err = trace_infer(t, &r->health);
    c.votes = err ? NULL : calloc(t->ntasks, sizeof *c.votes);
    if (!err) err = c.votes ? attempt(&c, reg, keys, d) : -ENOMEM;
    if (!err && r->total.known) r = try_idle_tasks(&c, reg, keys);
    free(c.votes);
    if (err == -ENOMEM) wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){.file = t->path}, NULL, "not enough memory");
    if (!err) return r;
    conform_free(r);
    return NULL;
}

struct conform_result *conform_run(const char *path, const struct conform_options *o, const struct wb_registry *reg,
                                   const struct wb_key_registry *keys, struct wb_diag *d)
{
    struct trace *t = trace_read_file(path, d);
    return t ? conform_run_trace(t, o, reg, keys, d) : NULL;
}
