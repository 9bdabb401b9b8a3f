/* trace_health.c - consistency of a recording; missing switches. See trace_health.h. */
#include "trace_health.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX
#define LOOK_AHEAD 20000u
#define NO_RUN_NS 100000000ull

const struct trace_health_text trace_health_text[TRACE_H_N] = {
    [TRACE_H_LOST] = {"lost-event marks", "the recorder dropped events; the CPU's state is unknown after each", true},
    [TRACE_H_OVERWRITTEN] = {"overwritten events",
                             "the ring buffer was full: nothing is scored until each CPU has been heard of", true},
    [TRACE_H_FROM_IDLE] = {"missing switches from idle", "a task ran on a CPU that had gone idle; put in", true},
    [TRACE_H_SWITCH] = {"other missing switches", "another task ran than the last switch said; put in", true},
    [TRACE_H_TWO_CPUS] = {"task on two CPUs", "came to a CPU while it ran on another; the other is unknown then", true},
    [TRACE_H_JUMP] = {"CPU changed without migration", "turned up on a CPU without having been moved there", true},
    [TRACE_H_NO_RUN] = {"wakes without later run", "woken and not seen running, 100 ms or more before the end", true},
    [TRACE_H_TIME_BACK] = {"time going back", "events of a CPU not in order of time; sorted", true},
    [TRACE_H_NO_NAME] = {"unknown names", "tasks that no line names", false},
    [TRACE_H_NO_WAKING] = {"wakeups without sched_waking", "who woke whom from where is not told: none is scored",
                           false},
    [TRACE_H_CUT] = {"cut off", "the compressed file ends in its middle; what came before is used", true},
    [TRACE_H_DAMAGED] = {"damaged lines", "lines of a scheduler event that cannot be read; left out", true},
    [TRACE_H_SILENT_CPUS] = {"silent CPUs", "no event in a section: taken to be idle in it", false},
};

struct insertion {
    size_t before; /* index of the event it stands before */
    struct trace_event e;
};

struct walk {
    struct trace *t;
    struct trace_health *h;
    uint32_t *cur;     /* [ncpus] who runs, or NOBODY */
    uint64_t *idle_at; /* [ncpus] index + 1 of the event with which it went idle */
    uint16_t *at;      /* [ntasks] where it was last */
    uint64_t *woken;   /* [ntasks] time of a wakeup that has not led to a run, + 1 */
    size_t *wakeup;    /* [ntasks] index + 1 of its last wakeup */
    bool *seen;        /* [ncpus] in this section */
    struct insertion *put;
    size_t nput, room;
    bool no_memory;
};

static void put_switch(struct walk *w, size_t before, uint64_t ns, const struct trace_event *as, uint32_t next)
{
    if (w->nput == w->room) {
        size_t room = w->room ? 2 * w->room : 256;
        struct insertion *more = realloc(w->put, room * sizeof *more);
        if (!more) {
            w->no_memory = true;
            return;
        }
        w->put = more;
        w->room = room;
    }
    struct trace_event e = *as;
    e.kind = TRACE_SWITCH;
    e.ns = ns;
    e.by = e.task = w->cur[as->cpu];
    e.next = next;
    e.from = e.to = TRACE_NO_CPU;
    e.prio = e.next_prio = -1;
    e.state = e.task ? 'S' : 'R';
    e.context = TRACE_CTX_TASK;
    e.inferred = TRACE_INFERRED;
    w->put[w->nput++] = (struct insertion){before, e};
}

/* Did the task that must have left a CPU go to sleep? Its next event tells: a wakeup, or that it runs. */
static char how_it_left(const struct walk *w, size_t from, uint32_t task)
{
    const struct trace *t = w->t;
    for (size_t i = from; i < t->nevents && i < from + LOOK_AHEAD; i++) {
        const struct trace_event *e = &t->event[i];
        if (e->section != t->event[from].section) break;
        if ((e->kind == TRACE_WAKING || e->kind == TRACE_WAKEUP) && e->task == task) return 'S';
        if (e->by == task || (e->kind == TRACE_SWITCH && e->next == task)) return 'R';
    }
    return 'S';
}

static void leave_other(struct walk *w, uint32_t task, uint16_t cpu)
{
    for (uint16_t c = 0; task && c < w->t->ncpus; c++) {
        if (c == cpu || w->cur[c] != task) continue;
        w->h->count[TRACE_H_TWO_CPUS]++;
        w->cur[c] = NOBODY;
    }
}

/* The line says that `who` runs on its CPU. */
static void check_runner(struct walk *w, size_t i, uint32_t who)
{
    const struct trace_event *e = &w->t->event[i];
    uint32_t cur = w->cur[e->cpu];
    if (cur == who) return;
    if (cur != NOBODY) {
        bool from_idle = cur == 0;
        size_t before = i, wake = who ? w->wakeup[who] : 0;
        uint64_t ns = e->ns;
        if (from_idle && wake && wake > w->idle_at[e->cpu] && w->t->event[wake - 1].to == e->cpu) {
            before = wake; /* it was woken there when the CPU had gone idle: it began then */
            ns = w->t->event[wake - 1].ns;
        }
        w->h->count[from_idle ? TRACE_H_FROM_IDLE : TRACE_H_SWITCH]++;
        put_switch(w, before, ns, e, who);
        if (!from_idle && !w->no_memory) w->put[w->nput - 1].e.state = how_it_left(w, i, cur);
    }
    leave_other(w, who, e->cpu);
    w->cur[e->cpu] = who;
    if (who) w->at[who] = e->cpu;
    if (who) w->woken[who] = 0;
}

static void moved_to(struct walk *w, uint32_t task, uint16_t cpu)
{
    if (cpu == TRACE_NO_CPU || !task) return;
    if (w->at[task] != TRACE_NO_CPU && w->at[task] != cpu) w->h->count[TRACE_H_JUMP]++;
    w->at[task] = cpu;
}

static void see(struct walk *w, size_t i)
{
    const struct trace_event *e = &w->t->event[i];
    if (e->kind == TRACE_LOST) {
        for (uint32_t c = 0; c < w->t->ncpus; c++)
            if (e->cpu == TRACE_NO_CPU || e->cpu == c) w->cur[c] = NOBODY;
        return;
    }
    w->h->per_cpu[e->cpu]++;
    w->seen[e->cpu] = true;
    check_runner(w, i, e->kind == TRACE_SWITCH ? e->task : e->by);
    switch (e->kind) {
    case TRACE_SWITCH:
        leave_other(w, e->next, e->cpu);
        moved_to(w, e->next, e->cpu);
        w->cur[e->cpu] = e->next;
        if (e->next) w->woken[e->next] = 0;
        if (!e->next) w->idle_at[e->cpu] = i + 1;
        break;
    case TRACE_WAKING: moved_to(w, e->task, e->from); break;
    case TRACE_WAKEUP:
    case TRACE_WAKEUP_NEW:
        if (e->kind == TRACE_WAKEUP_NEW) w->at[e->task] = e->to;
        moved_to(w, e->task, e->to);
        w->woken[e->task] = e->ns + 1;
        w->wakeup[e->task] = i + 1;
        break;
    case TRACE_MIGRATE: w->at[e->task] = e->to; break;
    default: break;
    }
}

static void begin_section(struct walk *w)
{
    for (uint32_t c = 0; c < w->t->ncpus; c++) {
        w->cur[c] = NOBODY;
        w->idle_at[c] = 0;
        w->seen[c] = false;
    }
    for (uint32_t k = 0; k < w->t->ntasks; k++) {
        w->at[k] = TRACE_NO_CPU;
        w->woken[k] = 0;
        w->wakeup[k] = 0;
    }
}

static void end_section(struct walk *w, const struct trace_section *s)
{
    if (!s->n) return;
    uint64_t end = w->t->event[s->first + s->n - 1].ns;
    for (uint32_t k = 1; k < w->t->ntasks; k++)
        if (w->woken[k] && end - (w->woken[k] - 1) >= NO_RUN_NS) w->h->count[TRACE_H_NO_RUN]++;
    for (uint32_t c = 0; c < w->t->ncpus; c++) w->h->count[TRACE_H_SILENT_CPUS] += !w->seen[c];
}

/* ---- the list with what was put in ---- */

static int by_place(const void *a, const void *b)
{
    const struct insertion *x = a, *y = b;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    if (x->e.ns != y->e.ns) return x->e.ns < y->e.ns ? -1 : 1;
    return x->e.line < y->e.line ? -1 : x->e.line > y->e.line;
}

static int merge(struct walk *w)
{
    struct trace *t = w->t;
    if (!w->nput) return 0;
    struct trace_event *all = malloc((t->nevents + w->nput) * sizeof *all);
    if (!all) return -ENOMEM;
    qsort(w->put, w->nput, sizeof *w->put, by_place);
    size_t n = 0, k = 0;
    for (size_t i = 0; i <= t->nevents; i++) {
        while (k < w->nput && w->put[k].before == i) all[n++] = w->put[k++].e;
        if (i < t->nevents) all[n++] = t->event[i];
    }
    free(t->event);
    t->event = all;
    t->nevents = n;
    for (uint32_t s = 0; s < t->nsections; s++) t->section[s].n = 0;
    for (size_t i = 0; i < n; i++) {
        struct trace_section *s = &t->section[all[i].section];
        if (!s->n++) s->first = i;
    }
    return 0;
}

/* In the order of the file: a sorted list cannot tell. */
static void count_back(const struct trace *t, struct trace_health *h)
{
    if (t->sorted) h->count[TRACE_H_TIME_BACK] = WB_MAX(t->lines.back, 1u);
}

static bool make(struct walk *w)
{
    size_t cpus = w->t->ncpus, tasks = w->t->ntasks;
    w->cur = calloc(cpus, sizeof *w->cur);
    w->idle_at = calloc(cpus, sizeof *w->idle_at);
    w->seen = calloc(cpus, sizeof *w->seen);
    w->at = calloc(tasks, sizeof *w->at);
    w->woken = calloc(tasks, sizeof *w->woken);
    w->wakeup = calloc(tasks, sizeof *w->wakeup);
    w->h->per_cpu = calloc(cpus, sizeof *w->h->per_cpu);
    w->h->ncpus = (uint32_t)cpus;
    return w->cur && w->idle_at && w->seen && w->at && w->woken && w->wakeup && w->h->per_cpu;
}

static uint64_t unannounced(const struct trace *t)
{
    uint64_t n = 0;
    for (size_t i = 0; i < t->nevents; i++) {
        if (t->event[i].kind == TRACE_WAKING) return 0;
        n += t->event[i].kind == TRACE_WAKEUP;
    }
    return n;
}

int trace_infer(struct trace *t, struct trace_health *h)
{
    struct walk w = {.t = t, .h = h};
    *h = (struct trace_health){0};
    int err = make(&w) ? 0 : -ENOMEM;
    for (uint32_t s = 0; s < t->nsections && !err; s++) {
        const struct trace_section *sec = &t->section[s];
        begin_section(&w);
        for (size_t i = 0; i < sec->n; i++) see(&w, sec->first + i);
        end_section(&w, sec);
    }
    h->count[TRACE_H_LOST] = t->lines.lost_marks;
    h->count[TRACE_H_OVERWRITTEN] = t->lines.overwritten;
    h->count[TRACE_H_DAMAGED] = t->lines.damaged;
    h->count[TRACE_H_NO_WAKING] = unannounced(t);
    h->count[TRACE_H_CUT] = t->lines.cut;
    for (uint32_t k = 1; k < t->ntasks; k++) h->count[TRACE_H_NO_NAME] += !t->task[k].named;
    count_back(t, h);
    if (!err) err = w.no_memory ? -ENOMEM : merge(&w);
    free(w.cur);
    free(w.idle_at);
    free(w.seen);
    free(w.at);
    free(w.woken);
    free(w.wakeup);
    free(w.put);
    return err;
}

void trace_health_free(struct trace_health *h)
{
    free(h->per_cpu);
    h->per_cpu = NULL;
}

const struct trace_health_text *trace_health_broken(const struct trace_health *h)
{
    for (int i = 0; i < TRACE_H_N; i++)
        if (trace_health_text[i].strict && h->count[i]) return &trace_health_text[i];
    return NULL;
}
