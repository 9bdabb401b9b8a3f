/*
 * comm.h - names of tasks as traces show them, resolved once; who runs on a CPU before its first switch.
 *
 * Made by the exporters and views for the time of one call. Ids past the table (a record of a task that nobody knows)
 * get "<...>".
 */
#ifndef WB_TRACE_COMM_H
#define WB_TRACE_COMM_H

#include "wakebal/trace.h"
#include "wakebal/traceview.h"

struct comm_entry {
    char comm[WB_COMM_MAX];
    uint32_t pid, tgid, prio;
    bool idle;
};
struct comm_table {
    struct comm_entry *entry; /* [n] */
    uint32_t n;
    struct comm_entry unknown;
};

/* 0 or -ENOMEM. */
int comm_table_init(struct comm_table *t, const struct wb_trace_names *names) WB_MUST_USE;
void comm_table_free(struct comm_table *t); /* also of a zeroed one */

static inline const struct comm_entry *comm_of(const struct comm_table *t, task_id id)
{
    return id < t->n ? &t->entry[id] : &t->unknown;
}
static inline void comm_set_prio(struct comm_table *t, task_id id, uint32_t prio)
{
    if (id < t->n && prio) t->entry[id].prio = prio;
}

/* Who ran on each CPU when the ring begins: whom the first record there that tells (a switch, a waker, a tick) names.
 * Where nothing was recorded: whom names->running names, if the ring lost nothing; else WB_NO_TASK, which is drawn as
 * idle. */
void trace_first_tasks(const struct wb_trace *t, const struct wb_trace_names *names, task_id *current);

#endif
