/*
 * traceview.h - reading a recorded ring: ftrace text, timeline, map, latencies.
 *
 * All of it runs after the simulation (or between two steps of it), reads the ring and the names, and changes
 * neither. Tasks are named through a callback so that a view of an imported trace can use its own names. Names are
 * made safe: at most 15 bytes, no blank, '=', ':' or control character, '/' only in swapper/N.
 */
#ifndef WAKEBAL_TRACEVIEW_H
#define WAKEBAL_TRACEVIEW_H

#include <stdio.h>

#include "wakebal/trace.h"

#define WB_COMM_MAX 16 /* with the terminating zero, like TASK_COMM_LEN */

struct wb_trace_task {
    const char *name;   /* any text; NULL = unknown, shown as <...> */
    uint32_t pid, tgid; /* tgid 0 = unknown */
    uint32_t prio;      /* kernel numbering, 120 = nice 0; used until a switch says otherwise */
    bool idle;          /* an idle task: pid 0, swapper/N */
    cpu_id cpu;         /* of an idle task */
};
struct wb_trace_names {
    void (*task)(void *ctx, task_id id, struct wb_trace_task *out); /* `out` comes zeroed */
    const char *(*rule)(void *ctx, uint16_t rule);                  /* text of a rule id or NULL; may be NULL */
    void *ctx;
    uint32_t ntasks, ncpus;
    /* [ncpus] who ran on each CPU at trace.from, for CPUs on which nothing was recorded; NULL: those were idle. */
    const task_id *running;
};

/* The name as traces show it. out has WB_COMM_MAX bytes. */
void wb_trace_comm(char *out, const struct wb_trace_task *t);

/* ---- ftrace text ---- */
struct wb_ftrace_options {
    const char *machine, *run;             /* of the comment lines at the head; NULL = "-" */
    const char *kernel, *policy, *version; /* kernel profile, scheduler family, of this program; NULL = "-" */
    uint64_t seed;
    uint32_t replication;
    bool marks;         /* migrations, balancing, phases and counters as tracing_mark_write lines too */
    bool schedule_only; /* only sched_* lines */
};
/* Write the ring as tracefs text. 0, or -errno of the stream. */
int wb_trace_write_ftrace(FILE *out, const struct wb_trace *t, const struct wb_trace_names *names,
                          const struct wb_ftrace_options *opt) WB_MUST_USE;

/* ---- terminal views; each returns malloc'd text (NULL: no memory) that the caller frees ---- */
struct wb_view_options {
    sim_time from, to; /* to 0: the last record */
    uint32_t width;    /* columns of a line; 0 = 80 */
    bool unicode;      /* else ASCII */
    uint64_t lines;    /* most lines of map; 0 = 10000 */
};
/* One row per CPU, one letter per task (the longest running of each column), '.' idle, migrations marked; legend at
 * the right. */
char *wb_view_timeline(const struct wb_trace *t, const struct wb_trace_names *names, const struct wb_view_options *o);
/* Like perf sched map: one column per CPU with two-letter names, one line per switch, '*' where it happened. */
char *wb_view_map(const struct wb_trace *t, const struct wb_trace_names *names, const struct wb_view_options *o);
/* Like perf sched latency: per task run time, switches, average and worst delay from wakeup to running. */
char *wb_view_latency(const struct wb_trace *t, const struct wb_trace_names *names, const struct wb_view_options *o);
/* Like perf sched timehist: per time on CPU the wait time (asleep or preempted before), scheduling delay and run
 * time. */
char *wb_view_timehist(const struct wb_trace *t, const struct wb_trace_names *names, const struct wb_view_options *o);

#endif
