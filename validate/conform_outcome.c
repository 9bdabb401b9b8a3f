/*
 * conform_outcome.c - what became of each wakeup, by looking ahead.
 *
 * try_to_wake_up() emits sched_waking, then decides, then sched_migrate_task when the task changes its CPU, then
 * sched_wakeup: at once under the target's lock, or on the target itself when the wakeup was queued there
 * (ttwu_queue_wakelist). Recordings without sched_wakeup (perf) end with the switch to the task. The decision was made
 * before the waker's CPU emitted anything else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conform_inner.h"

#define EXIT_NS 5000000u /* exit takes less than this (assumed; much less on real machines) */

struct ahead {
    size_t *open; /* [ntasks] index + 1 of the waking event that waits for its outcome */
    size_t *mine; /* [ntasks] index + 1 of the latest waking event that the task has issued since it was switched to */
    size_t *last; /* [ncpus] index + 1 of a waking event emitted there whose decision is not bounded yet */
};

/* Interrupts are off from sched_waking on: whatever its CPU emits next, the decision has been made by then, and without
 * a migration the task stays on its CPU. */
static void bound(struct conform *c, struct ahead *h, size_t i)
{
    const struct trace_event *e = &c->t->event[i];
    if (e->cpu == TRACE_NO_CPU || !h->last[e->cpu]) return;
    const struct trace_event *w = &c->t->event[h->last[e->cpu] - 1];
    struct conform_outcome *o = &c->outcome[h->last[e->cpu] - 1];
    h->last[e->cpu] = 0;
    if (!o->decided) o->decided = i;
    if (e->kind == TRACE_MIGRATE && e->task == w->task) return;
    if (o->cpu == TRACE_NO_CPU) o->cpu = w->from;
    if (!o->found) o->remote = true; /* until its wakeup is seen */
    o->found = true;
}

static void close_one(struct conform *c, struct ahead *h, size_t i, uint32_t task, uint16_t cpu)
{
    if (!h->open[task]) return;
    size_t w = h->open[task] - 1;
    struct conform_outcome *o = &c->outcome[w];
    if (o->cpu == TRACE_NO_CPU) o->cpu = cpu;
    o->found = true;
    o->remote = c->t->event[i].cpu != c->t->event[w].cpu;
    if (!o->decided) o->decided = i;
    h->open[task] = 0;
}

/* A task that dies at this switch was exiting when it issued its last wakeups: of its parent, of its pipes' ends. */
static void last_words(struct conform *c, struct ahead *h, const struct trace_event *e)
{
    bool dies = e->task && (e->state == 'X' || e->state == 'Z');
    for (size_t w = h->mine[e->task]; w && dies; w = c->outcome[w - 1].before) {
        if (c->t->event[w - 1].ns + EXIT_NS < e->ns) break;
        c->outcome[w - 1].exiting = true;
    }
    h->mine[e->task] = 0;
}

static void look(struct conform *c, struct ahead *h, size_t i)
{
    const struct trace_event *e = &c->t->event[i];
    bound(c, h, i);
    switch (e->kind) {
    case TRACE_WAKING:
        c->outcome[i] = (struct conform_outcome){.cpu = TRACE_NO_CPU};
        h->open[e->task] = i + 1;
        h->last[e->cpu] = i + 1;
        c->outcome[i].before = h->mine[e->by];
        h->mine[e->by] = i + 1;
        break;
    case TRACE_MIGRATE:
        if (h->open[e->task] && c->outcome[h->open[e->task] - 1].cpu == TRACE_NO_CPU) {
            struct conform_outcome *o = &c->outcome[h->open[e->task] - 1];
            o->cpu = e->to;
            if (!o->decided) o->decided = i;
            o->found = o->remote = true;
        }
        break;
    case TRACE_WAKEUP: close_one(c, h, i, e->task, e->to); break;
    case TRACE_SWITCH:
        if (e->next) close_one(c, h, i, e->next, e->cpu);
        last_words(c, h, e);
        break;
    default: break;
    }
}

int conform_outcomes(struct conform *c)
{
    const struct trace *t = c->t;
    struct ahead h = {.open = calloc(t->ntasks, sizeof *h.open), .last = calloc(t->ncpus, sizeof *h.last)};
    h.mine = calloc(t->ntasks, sizeof *h.mine);
    c->outcome = calloc(t->nevents + 1, sizeof *c->outcome);
    int err = h.open && h.last && h.mine && c->outcome ? 0 : -ENOMEM;
    for (uint32_t s = 0; s < t->nsections && !err; s++) {
        const struct trace_section *sec = &t->section[s];
        memset(h.open, 0, t->ntasks * sizeof *h.open);
        memset(h.mine, 0, t->ntasks * sizeof *h.mine);
        memset(h.last, 0, t->ncpus * sizeof *h.last);
        for (size_t i = 0; i < sec->n; i++) look(c, &h, sec->first + i);
    }
    free(h.open);
    free(h.mine);
    free(h.last);
    return err;
}
