/* import_make.c - what each recorded task did: runs, wakes, waits, sleeps. See import.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import.h"

enum state { UNSEEN, ASLEEP, WAKING, RUNNING, QUEUED, GONE };
#define NOT_IMPORTED UINT32_MAX

struct life {
    uint32_t index; /* in the import, or NOT_IMPORTED */
    uint8_t state;
    uint64_t since; /* running or asleep */
    uint64_t ran;   /* since its last item */
};

struct making {
    const struct trace *t;
    struct import *m;
    struct life *life; /* [ntasks] */
    uint64_t begin, end;
    bool no_memory;
};

static bool is_kthread(const char *comm)
{
    static const char *const prefix[] = {"kworker/", "ksoftirqd/", "migration/", "rcu_",   "rcuc/", "kthreadd",
                                         "kswapd",   "kcompactd",  "khugepaged", "cpuhp/", "irq/",  "kauditd"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(prefix); i++)
        if (!strncmp(comm, prefix[i], strlen(prefix[i]))) return true;
    return false;
}

static struct import_task *of(const struct making *k, uint32_t task)
{
    uint32_t i = k->life[task].index;
    return i == NOT_IMPORTED ? NULL : &k->m->task[i];
}

static void put(struct making *k, uint32_t task, struct import_item item)
{
    struct import_task *p = of(k, task);
    if (!p) return;
    if (!(p->n & (p->n - 1))) {
        struct import_item *more = realloc(p->item, (p->n ? 2 * p->n : 1) * sizeof *more);
        if (!more) {
            k->no_memory = true;
            return;
        }
        p->item = more;
    }
    p->item[p->n++] = item;
    p->runs += item.kind == IMPORT_RUN;
    p->waits += item.kind == IMPORT_WAIT || item.kind == IMPORT_SLEEP;
}

/* What it has computed since its last item, up to now. */
static void put_run(struct making *k, uint32_t task, uint64_t now)
{
    struct life *l = &k->life[task];
    struct import_task *p = of(k, task);
    if (l->state == RUNNING) {
        l->ran += now - l->since;
        l->since = now;
    }
    if (l->ran) put(k, task, (struct import_item){.kind = IMPORT_RUN, .ns = l->ran});
    if (p) p->run_ns += l->ran;
    l->ran = 0;
}

static void leave(struct making *k, const struct trace_event *e)
{
    struct life *l = &k->life[e->task];
    if (!e->task) return;
    if (l->state == UNSEEN) { /* ran from the beginning */
        l->state = RUNNING;
        l->since = k->begin;
    }
    if (l->state != RUNNING) return;
    l->ran += e->ns - l->since;
    l->state = QUEUED;
    if (e->state == 'R') return;
    put_run(k, e->task, e->ns);
    l->state = e->state == 'X' || e->state == 'Z' ? GONE : ASLEEP;
    l->since = e->ns;
}

static void enter(struct making *k, const struct trace_event *e)
{
    struct life *l = &k->life[e->next];
    struct import_task *p = of(k, e->next);
    if (!e->next) return;
    /* Never heard of: recordings without sched_wakeup_new, and what was queued before the window. It does not compute
     * before it was seen to. */
    if (l->state == UNSEEN && p) p->start_ns = e->ns - k->begin;
    if (l->state == ASLEEP) put(k, e->next, (struct import_item){.kind = IMPORT_SLEEP, .ns = e->ns - l->since});
    l->state = RUNNING;
    l->since = e->ns;
    if (p) p->cpus[e->cpu / 64] |= 1ull << e->cpu % 64;
}

/* By which task was it woken? Interrupts wake for somebody else, but for softirqs in a task's own send path. */
static uint32_t waker_of(const struct making *k, const struct trace_event *e)
{
    if (!e->by || e->context == TRACE_CTX_HARDIRQ || !of(k, e->by)) return 0;
    return k->life[e->by].state == RUNNING || k->life[e->by].state == UNSEEN ? e->by : 0;
}

static void wake(struct making *k, const struct trace_event *e)
{
    struct life *l = &k->life[e->task];
    if (l->state == UNSEEN) {
        l->state = ASLEEP;
        l->since = k->begin;
    }
    if (l->state != ASLEEP) return; /* it had not gone to sleep */
    uint32_t waker = of(k, e->task) ? waker_of(k, e) : 0;
    l->state = WAKING;
    if (!waker) {
        put(k, e->task, (struct import_item){.kind = IMPORT_SLEEP, .ns = e->ns - l->since});
        k->m->left_out += of(k, e->task) != NULL;
        return;
    }
    if (k->life[waker].state == UNSEEN) {
        k->life[waker].state = RUNNING;
        k->life[waker].since = k->begin;
    }
    put_run(k, waker, e->ns);
    put(k, waker,
        (struct import_item){.kind = IMPORT_WAKE, .other = l->index, .sync = e->context != TRACE_CTX_HARDIRQ});
    put(k, e->task, (struct import_item){.kind = IMPORT_WAIT});
    of(k, e->task)->waited = true;
}

/* By sched_wakeup_new, or where only that is there by sched_process_fork. */
static void born(struct making *k, uint32_t child, uint64_t now)
{
    struct life *l = &k->life[child];
    struct import_task *p = of(k, child);
    if (l->state != UNSEEN) return;
    l->state = WAKING;
    if (p) p->start_ns = now - k->begin;
}

static void see(struct making *k, const struct trace_event *e)
{
    switch (e->kind) {
    case TRACE_SWITCH:
        leave(k, e);
        enter(k, e);
        break;
    case TRACE_WAKING: wake(k, e); break;
    case TRACE_WAKEUP_NEW: born(k, e->task, e->ns); break;
    case TRACE_FORK: born(k, e->next, e->ns); break;
    default: break;
    }
}

/* ---- tasks ---- */

/* A name that a scenario takes: letters, digits, underscores. */
static void name_task(struct import_task *p, const struct trace_task *t)
{
    size_t n = 0;
    for (const char *c = t->comm; *c && n < sizeof p->name - 12; c++) {
        bool word = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9' && n);
        p->name[n++] = word ? *c : '_';
    }
    (void)snprintf(p->name + n, sizeof p->name - n, "_%d", t->pid);
}

static int choose_tasks(struct making *k, const struct import_options *o, size_t from, size_t to)
{
    const struct trace *t = k->t;
    bool *used = calloc(t->ntasks, sizeof *used);
    int16_t *prio = calloc(t->ntasks, sizeof *prio);
    k->m->task = calloc(t->ntasks, sizeof *k->m->task);
    if (!used || !prio || !k->m->task) {
        free(used);
        free(prio);
        return -ENOMEM;
    }
    for (size_t i = from; i < to; i++) {
        const struct trace_event *e = &t->event[i];
        if (e->kind != TRACE_SWITCH) continue;
        used[e->task] = used[e->next] = true;
        if (e->prio >= 0) prio[e->task] = e->prio;
        if (e->next_prio >= 0) prio[e->next] = e->next_prio;
    }
    for (uint32_t i = 0; i < t->ntasks; i++) {
        k->life[i].index = NOT_IMPORTED;
        if (!i || !used[i] || (!o->all && is_kthread(t->task[i].comm))) continue;
        k->life[i].index = k->m->n;
        struct import_task *p = &k->m->task[k->m->n++];
        p->task = i;
        p->nice = prio[i] >= 100 && prio[i] < 140 ? prio[i] - 120 : 0;
        name_task(p, &t->task[i]);
    }
    free(used);
    free(prio);
    return 0;
}

/* ---- all of it ---- */

static const struct trace_section *find_section(const struct trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->nsections; i++)
        if (t->section[i].n && (!name || !strcmp(t->section[i].name, name))) return &t->section[i];
    return NULL;
}

static struct import *refuse(struct import *m, struct wb_diag *d, const char *fix, const char *what)
{
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){0}, fix, "%s", what);
    import_free(m);
    return NULL;
}

static void walk(struct making *k, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) see(k, &k->t->event[i]);
    for (uint32_t i = 1; i < k->t->ntasks; i++)
        if (k->life[i].state == RUNNING || k->life[i].state == QUEUED) put_run(k, i, k->end);
}

struct import *import_make(const struct trace *t, const struct import_options *o, struct wb_diag *d)
{
    const struct trace_section *s = find_section(t, o->section);
    struct import *m = calloc(1, sizeof *m);
    struct making k = {.t = t, .m = m, .life = calloc(t->ntasks, sizeof *k.life)};
    WB_MEMORY(m && k.life, "out of memory for %u tasks of a recording", t->ntasks);
    if (!s) {
        free(k.life);
        return refuse(m, d, NULL, "the recording has no such section with events");
    }
    size_t from = s->first, to = s->first + s->n;
    uint64_t start = t->event[from].ns;
    while (from < to && t->event[from].ns < start + o->from_ns) from++;
    while (o->to_ns && to > from && t->event[to - 1].ns > start + o->to_ns) to--;
    if (from < to) {
        k.begin = t->event[from].ns;
        k.end = t->event[to - 1].ns;
        m->length_ns = k.end - k.begin;
        m->keep_cpus = o->keep_cpus;
        k.no_memory = choose_tasks(&k, o, from, to) < 0;
        if (!k.no_memory) walk(&k, from, to);
    }
    free(k.life);
    if (k.no_memory) return refuse(m, d, NULL, "not enough memory");
    if (!m->n) return refuse(m, d, "take another window, or --all", "no task of the window ran");
    const char *slash = strrchr(t->path, '/');
    (void)snprintf(m->source, sizeof m->source, "%.60s", slash ? slash + 1 : t->path);
    return m;
}

void import_free(struct import *m)
{
    if (!m) return;
    for (uint32_t i = 0; m->task && i < m->n; i++) free(m->task[i].item);
    free(m->task);
    free(m);
}
