/*
 * view_map.c - who runs where, switch by switch, as `perf sched map` prints it.
 *
 * One column per CPU with the short name of its task ('.' idle, blank unknown), '*' before the CPU where the switch
 * happened, the time in seconds, and the full name when a short one appears for the first time. Migrations are lines
 * of their own. CPUs on which nothing happened in the window have no column when there are many.
 */
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "tracering.h"
#include "wakebal/traceview.h"

#define LINES_DEFAULT 10000u
#define ALL_CPUS 16u /* up to so many CPUs all have a column */

struct map {
    FILE *out;
    const struct wb_trace *trace;
    const struct wb_trace_names *names;
    struct comm_table tasks;
    sim_time from, to;
    uint64_t lines, lines_max, left_out;
    task_id *current; /* [ncpus] */
    bool *shown;      /* [ncpus] */
    char (*brief)[4]; /* [ntasks] "" = none yet */
    uint32_t nbrief;
};

static bool in_window(const struct map *m, const struct wb_trace_record *r)
{
    return r->when >= m->from && r->when < m->to;
}

/* A0, B0, ... Z0, A1, ... Z9, then numbers. True when the name is new. */
static bool name_task(struct map *m, task_id id)
{
    if (id >= m->tasks.n || m->brief[id][0]) return false;
    if (m->tasks.entry[id].idle) {
        memcpy(m->brief[id], ".", 2);
        return false;
    }
    uint32_t i = m->nbrief++;
    if (i < 260) {
        m->brief[id][0] = (char)('A' + i % 26);
        m->brief[id][1] = (char)('0' + i / 26);
    } else {
        snprintf(m->brief[id], sizeof(m->brief[id]), "%03u", i % 1000);
    }
    return true;
}

static void print_cpus(const struct map *m, cpu_id here)
{
    for (cpu_id c = 0; c < m->names->ncpus; c++) {
        if (!m->shown[c]) continue;
        task_id id = m->current[c];
        fprintf(m->out, "%c%-3s", c == here ? '*' : ' ', id < m->tasks.n ? m->brief[id] : "");
    }
}

static void print_seconds(const struct map *m, sim_time t)
{
    fprintf(m->out, " %5llu.%09llu secs", (unsigned long long)(t / WB_S), (unsigned long long)(t % WB_S / WB_NS));
}

static void print_switch(struct map *m, const struct wb_trace_record *r, bool fresh)
{
    print_cpus(m, r->cpu);
    print_seconds(m, r->when);
    const struct comm_entry *t = comm_of(&m->tasks, r->a);
    if (fresh) fprintf(m->out, "  %s => %s:%u", m->brief[r->a], t->comm, t->pid);
    fputc('\n', m->out);
}

static void print_migration(struct map *m, const struct wb_trace_record *r)
{
    name_task(m, r->task);
    print_cpus(m, WB_NO_CPU);
    print_seconds(m, r->when);
    const char *rule = m->names->rule && r->rule ? m->names->rule(m->names->ctx, r->rule) : NULL;
    fprintf(m->out, "  %s moves from cpu%u to cpu%u", r->task < m->tasks.n ? m->brief[r->task] : "?", r->a, r->b);
    if (rule) fprintf(m->out, " (%s)", rule);
    fputc('\n', m->out);
}

static void step(struct map *m, const struct wb_trace_record *r)
{
    bool wanted = in_window(m, r), is_switch = r->type == WB_TR_SWITCH;
    if (is_switch) m->current[r->cpu] = r->a;
    if (!wanted || (!is_switch && r->type != WB_TR_MIGRATE)) return;
    if (m->lines == m->lines_max) {
        m->left_out++;
        return;
    }
    m->lines++;
    if (is_switch)
        print_switch(m, r, name_task(m, r->a));
    else
        print_migration(m, r);
}

static void print_head(struct map *m)
{
    for (cpu_id c = 0; c < m->names->ncpus; c++)
        if (m->shown[c]) fprintf(m->out, " %-3u", c);
    fputs("  time\n", m->out);
    for (cpu_id c = 0; c < m->names->ncpus; c++)
        if (m->current[c] < m->tasks.n && name_task(m, m->current[c]))
            fprintf(m->out, "%s => %s:%u\n", m->brief[m->current[c]], m->tasks.entry[m->current[c]].comm,
                    m->tasks.entry[m->current[c]].pid);
}

/* Which CPUs get a column. */
static void choose_cpus(struct map *m)
{
    uint64_t n = trace_count(m->trace);
    bool all = m->names->ncpus <= ALL_CPUS;
    for (cpu_id c = 0; c < m->names->ncpus; c++) m->shown[c] = all;
    for (uint64_t i = 0; i < n; i++) {
        const struct wb_trace_record *r = trace_at(m->trace, i);
        if (r->type == WB_TR_SWITCH && in_window(m, r)) m->shown[r->cpu] = true;
    }
}

static int run(struct map *m)
{
    if (comm_table_init(&m->tasks, m->names)) return -1;
    m->current = malloc((m->names->ncpus + 1u) * sizeof(*m->current));
    m->shown = calloc(m->names->ncpus + 1u, sizeof(*m->shown));
    m->brief = calloc(m->names->ntasks + 1u, sizeof(*m->brief));
    if (!m->current || !m->shown || !m->brief) return -1;
    trace_first_tasks(m->trace, m->names, m->current);
    choose_cpus(m);
    print_head(m);
    uint64_t n = trace_count(m->trace);
    for (uint64_t i = 0; i < n; i++) step(m, trace_at(m->trace, i));
    if (m->left_out) fprintf(m->out, "... %llu more lines\n", (unsigned long long)m->left_out);
    return 0;
}

char *wb_view_map(const struct wb_trace *t, const struct wb_trace_names *names, const struct wb_view_options *o)
{
    char *text = NULL;
    size_t n = 0;
    struct map m = {.trace = t, .names = names, .from = o->from, .to = o->to ? o->to : WB_TIME_NEVER};
    m.lines_max = o->lines ? o->lines : LINES_DEFAULT;
    m.out = open_memstream(&text, &n);
    if (!m.out) return NULL;
    int rc = run(&m);
    comm_table_free(&m.tasks);
    free(m.current);
    free(m.shown);
    free(m.brief);
    if (fclose(m.out) || rc) {
        free(text);
        return NULL;
    }
    return text;
}
