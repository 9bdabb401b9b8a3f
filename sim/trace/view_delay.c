/*
 * view_delay.c - how long tasks waited: per task as `perf sched latency`, per stay on a CPU as `perf sched timehist`.
 *
 * Words as in perf: run time = on a CPU; sch delay = from becoming runnable (woken, or preempted) to running; wait
 * time = from leaving a CPU to running again, sleep and delay together. A wakeup counts from the waking record when
 * there is one, else from the wakeup. Delays that began before the ring did have no
 * beginning and are left out; run time counts with its part in the window.
 */
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "tracering.h"
#include "wakebal/traceview.h"

#define NEVER WB_TIME_NEVER
#define LINES_DEFAULT 10000u

struct life {
    sim_time ready;       /* runnable and waiting since, or NEVER */
    bool running, cut;    /* cut: it ran already when the ring begins */
    sim_time in, out;     /* last came to a CPU, last left one; NEVER = before the ring */
    sim_time wait, delay; /* of the present stay; NEVER = unknown */
    /* sums over the window */
    sim_time ran, delay_sum, delay_max, delay_at;
    uint64_t switches, delays;
};
struct walk {
    FILE *out;
    const struct wb_trace *trace;
    const struct wb_trace_names *names;
    struct comm_table tasks;
    struct life *life; /* [ntasks] */
    sim_time from, to;
    uint64_t lines, lines_max, left_out;
    void (*stay)(struct walk *w, task_id id, cpu_id cpu, sim_time end); /* a stay has ended inside the window */
};

/* ------------------------------------------------------------------ following the tasks */
static void becomes_ready(struct walk *w, task_id id, sim_time now)
{
    struct life *l = id < w->tasks.n ? &w->life[id] : NULL;
    if (l && l->ready == NEVER) l->ready = now;
}

static void comes(struct walk *w, task_id id, sim_time now)
{
    if (id >= w->tasks.n) return;
    struct life *l = &w->life[id];
    l->in = now;
    l->running = true;
    l->cut = false;
    l->wait = l->out == NEVER ? NEVER : now - l->out;
    l->delay = l->ready == NEVER ? NEVER : now - l->ready;
    bool counts = l->delay != NEVER && now >= w->from && now < w->to;
    if (counts) {
        l->delays++;
        l->delay_sum += l->delay;
        if (l->delay > l->delay_max || !l->delay_at) {
            l->delay_max = l->delay;
            l->delay_at = now;
        }
    }
    l->ready = NEVER;
}

/* The part of a stay that ends at `end` and lies in the window. */
static void add_run_time(const struct walk *w, struct life *l, sim_time end)
{
    sim_time from = WB_MAX(l->in, w->from), to = WB_MIN(end, w->to);
    if (l->running && to > from) l->ran += to - from;
}

static void leaves(struct walk *w, const struct wb_trace_record *r)
{
    if (r->task >= w->tasks.n) return;
    struct life *l = &w->life[r->task];
    uint32_t state = r->b & (TRACE_PREEMPTED - 1);
    bool wanted = r->when >= w->from && r->when < w->to;
    l->switches += wanted;
    add_run_time(w, l, r->when);
    if (wanted && w->stay && l->running && !l->cut) w->stay(w, r->task, r->cpu, r->when);
    l->running = false;
    l->out = r->when;
    l->ready = state == 0 || r->b & TRACE_PREEMPTED ? r->when : NEVER;
}

static void step(struct walk *w, const struct wb_trace_record *r)
{
    switch (r->type) {
    case WB_TR_SWITCH:
        leaves(w, r);
        comes(w, r->a, r->when);
        break;
    case WB_TR_WAKING:
    case WB_TR_WAKEUP:
    case WB_TR_WAKEUP_NEW: becomes_ready(w, r->task, r->when); break;
    default: break;
    }
}

/* Tasks that run when the ring begins. */
static int find_runners(struct walk *w)
{
    task_id *first = malloc((w->names->ncpus + 1u) * sizeof *first);
    if (!first) return -1;
    bool whole = !trace_lost(w->trace);
    sim_time begin = whole ? w->trace->from : trace_at(w->trace, 0)->when;
    trace_first_tasks(w->trace, w->names, first);
    for (cpu_id c = 0; c < w->names->ncpus; c++) {
        if (first[c] >= w->tasks.n) continue;
        struct life *l = &w->life[first[c]];
        l->in = begin;
        l->running = l->cut = true;
    }
    free(first);
    return 0;
}

static int walk_start(struct walk *w, const struct wb_view_options *o)
{
    w->from = o->from;
    w->to = o->to ? o->to : NEVER;
    w->lines_max = o->lines ? o->lines : LINES_DEFAULT;
    if (comm_table_init(&w->tasks, w->names)) return -1;
    w->life = calloc(w->names->ntasks + 1u, sizeof(*w->life));
    if (!w->life) return -1;
    for (task_id i = 0; i < w->tasks.n; i++) w->life[i] = (struct life){.ready = NEVER, .in = NEVER, .out = NEVER};
    return find_runners(w);
}

static void walk_all(struct walk *w)
{
    uint64_t n = trace_count(w->trace);
    for (uint64_t i = 0; i < n; i++) step(w, trace_at(w->trace, i));
    for (task_id i = 0; n && i < w->tasks.n; i++) add_run_time(w, &w->life[i], trace_at(w->trace, n - 1)->when);
}

static char *walk_end(struct walk *w, int rc, char **text)
{
    comm_table_free(&w->tasks);
    free(w->life);
    if (fclose(w->out) || rc) {
        free(*text);
        *text = NULL;
    }
    return *text;
}

static double ms(sim_time t)
{
    return (double)t / (double)WB_MS;
}

/* ------------------------------------------------------------------ latency */
struct ranked {
    task_id id;
    const struct life *l;
};

static double average(const struct life *l)
{
    return l->delays ? (double)l->delay_sum / (double)l->delays : 0;
}

/* Longest average delay first, as perf sorts. */
static int by_delay(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    double p = average(x->l), q = average(y->l);
    if (p != q) return p > q ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void print_latency(const struct walk *w, const struct ranked *r)
{
    char name[WB_COMM_MAX + 12];
    snprintf(name, sizeof(name), "%s:%u", w->tasks.entry[r->id].comm, w->tasks.entry[r->id].pid);
    fprintf(w->out, "  %-22s | %13.6f | %10llu | %13.6f | %13.6f | %14.6f |\n", name, ms(r->l->ran),
            (unsigned long long)r->l->switches, average(r->l) / (double)WB_MS, ms(r->l->delay_max),
            (double)r->l->delay_at / (double)WB_S);
}

static int latency_table(struct walk *w)
{
    struct ranked *list = calloc(w->tasks.n + 1u, sizeof(*list));
    if (!list) return -1;
    size_t n = 0;
    struct life sum = {0};
    for (task_id i = 0; i < w->tasks.n; i++) {
        const struct life *l = &w->life[i];
        if (w->tasks.entry[i].idle || (!l->switches && !l->delays && !l->ran)) continue;
        list[n++] = (struct ranked){i, l};
        sum.ran += l->ran;
        sum.switches += l->switches;
    }
    qsort(list, n, sizeof(*list), by_delay);
    fprintf(w->out, "  %-22s | %13s | %10s | %13s | %13s | %13s |\n", "Task", "Runtime ms", "Switches", "Avg delay ms",
            "Max delay ms", "Max delay at s");
    for (size_t i = 0; i < n; i++) print_latency(w, &list[i]);
    fprintf(w->out, "  %-22s | %13.6f | %10llu |\n", "TOTAL", ms(sum.ran), (unsigned long long)sum.switches);
    free(list);
    return 0;
}

char *wb_view_latency(const struct wb_trace *t, const struct wb_trace_names *names, const struct wb_view_options *o)
{
    char *text = NULL;
    size_t n = 0;
    struct walk w = {.trace = t, .names = names};
    w.out = open_memstream(&text, &n);
    if (!w.out) return NULL;
    int rc = walk_start(&w, o);
    if (!rc) {
        walk_all(&w);
        rc = latency_table(&w);
    }
    return walk_end(&w, rc, &text);
}

/* ------------------------------------------------------------------ timehist */
static void print_stay(struct walk *w, task_id id, cpu_id cpu, sim_time end)
{
    const struct life *l = &w->life[id];
    const struct comm_entry *t = &w->tasks.entry[id];
    char name[WB_COMM_MAX + 12];
    if (t->idle) return;
    if (w->lines++ >= w->lines_max) {
        w->left_out++;
        return;
    }
    snprintf(name, sizeof(name), "%s[%u]", t->comm, t->pid);
    fprintf(w->out, "%5llu.%09llu [%04u]  %-26s %12.6f %12.6f %12.6f\n", (unsigned long long)(end / WB_S),
            (unsigned long long)(end % WB_S / WB_NS), cpu, name, l->wait == NEVER ? 0 : ms(l->wait),
            l->delay == NEVER ? 0 : ms(l->delay), ms(end - l->in));
}

char *wb_view_timehist(const struct wb_trace *t, const struct wb_trace_names *names, const struct wb_view_options *o)
{
    char *text = NULL;
    size_t n = 0;
    struct walk w = {.trace = t, .names = names, .stay = print_stay};
    w.out = open_memstream(&text, &n);
    if (!w.out) return NULL;
    int rc = walk_start(&w, o);
    if (!rc) {
        fprintf(w.out, "%15s %6s  %-26s %12s %12s %12s\n", "time", "cpu", "task name", "wait time", "sch delay",
                "run time");
        fprintf(w.out, "%15s %6s  %-26s %12s %12s %12s\n", "", "", "[pid]", "(msec)", "(msec)", "(msec)");
        walk_all(&w);
        if (w.left_out) fprintf(w.out, "... %llu more lines\n", (unsigned long long)w.left_out);
    }
    return walk_end(&w, rc, &text);
}
