/* comm.c - safe task names. */
#include "comm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tracering.h"

/* Importers split lines on blanks, '=' and ':', marks on '|'; '-' splits comm from pid only at its last place. UTF-8
 * passes. */
static bool is_safe(char c)
{
    return (unsigned char)c > ' ' && c != 127 && c != '=' && c != ':' && c != '/' && c != '|';
}

/* Length of the UTF-8 sequence at s that a terminal obeys (C1) or that reorders a line (bidirectional overrides), or
 * 0. */
static size_t obeyed(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0) return 2;
    if (s[0] != 0xe2) return 0;
    bool override = s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae,
         isolate = s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
    return override || isolate ? 3 : 0;
}

/* Cut at 15 bytes, not inside a UTF-8 character. */
static size_t cut(const char *name)
{
    size_t n = strnlen(name, WB_COMM_MAX - 1);
    if (n < WB_COMM_MAX - 1) return n;
    while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80) n--;
    return n;
}

void wb_trace_comm(char *out, const struct wb_trace_task *t)
{
    if (t->idle) {
        snprintf(out, WB_COMM_MAX, "swapper/%u", t->cpu);
        return;
    }
    if (!t->name) {
        memcpy(out, "<...>", 6);
        return;
    }
    size_t n = cut(t->name);
    for (size_t i = 0, bad = 0; i<n; i++, bad -= bad> 0) {
        if (!bad) bad = obeyed(t->name + i);
        out[i] = !bad && is_safe(t->name[i]) ? t->name[i] : '_';
    }
    out[n] = 0;
    if (!n) memcpy(out, "_", 2);
}

int comm_table_init(struct comm_table *t, const struct wb_trace_names *names)
{
    *t = (struct comm_table){.n = names->ntasks, .unknown = {.comm = "<...>", .prio = 120}};
    t->entry = calloc((size_t)names->ntasks + 1, sizeof(*t->entry));
    if (!t->entry) return -ENOMEM;
    for (uint32_t i = 0; i < t->n; i++) {
        struct wb_trace_task task = {0};
        names->task(names->ctx, i, &task);
        wb_trace_comm(t->entry[i].comm, &task);
        t->entry[i].pid = task.idle ? 0 : task.pid;
        t->entry[i].tgid = task.tgid;
        t->entry[i].prio = task.prio;
        t->entry[i].idle = task.idle;
    }
    return 0;
}

void comm_table_free(struct comm_table *t)
{
    free(t->entry);
    t->entry = NULL;
}

/* The task that ran on r->cpu just before r, or WB_NO_TASK when r does not tell. */
static task_id runner_of(const struct wb_trace_record *r)
{
    switch (r->type) {
    case WB_TR_SWITCH:
    case WB_TR_TICK:
    case WB_TR_IDLE:
    case WB_TR_IPI:
    case WB_TR_FORK:
    case WB_TR_EXIT: return r->task;
    case WB_TR_WAKING: return r->b;
    default: return WB_NO_TASK;
    }
}

void trace_first_tasks(const struct wb_trace *t, const struct wb_trace_names *names, task_id *current)
{
    uint32_t ncpus = names->ncpus, left = ncpus;
    uint64_t n = trace_count(t);
    for (uint32_t c = 0; c < ncpus; c++) current[c] = WB_NO_TASK;
    for (uint64_t i = 0; i < n && left; i++) {
        const struct wb_trace_record *r = trace_at(t, i);
        task_id who = runner_of(r);
        if (who == WB_NO_TASK || r->cpu >= ncpus || current[r->cpu] != WB_NO_TASK) continue;
        current[r->cpu] = who;
        left--;
    }
    if (!names->running || trace_lost(t)) return;
    for (uint32_t c = 0; c < ncpus; c++)
        if (current[c] == WB_NO_TASK) current[c] = names->running[c];
}
