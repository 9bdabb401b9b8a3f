/*
 * trace_read.h - scheduler recordings: text of ftrace, of `trace-cmd report` and of `perf script`, plain or gzip.
 *
 * One line is one event; the shapes are told apart line by line, so a file may mix them. What is not an event of the
 * scheduler is counted and passed over. Lines that start with "###" are notes of the guest lab: kernel, features,
 * topology, the begin and end of a section, /proc/schedstat before and after it.
 *
 * Tasks are told by pid; the idle tasks of all CPUs are task 0. Events stand in the order of time; those of one
 * section only belong together. trace_infer() (trace_health.h) adds what the recording left out.
 *
 * Ownership: everything belongs to the struct trace and goes with trace_free(). Errors: a file that cannot be read or
 * holds no event gives NULL and an error in the diag; damaged lines are counted.
 */
#ifndef WB_VALIDATE_TRACE_READ_H
#define WB_VALIDATE_TRACE_READ_H

#include <stdio.h>

#include "wakebal/base.h"
#include "wakebal/diag.h"

#define TRACE_COMM 24u
#define TRACE_CPUS 1024u /* numbers above are damage */
#define TRACE_NO_CPU UINT16_MAX

enum trace_kind {
    TRACE_SWITCH,
    TRACE_WAKING,
    TRACE_WAKEUP,
    TRACE_WAKEUP_NEW,
    TRACE_MIGRATE,
    TRACE_FORK,
    TRACE_EXIT,
    TRACE_RUNTIME,
    TRACE_LOST, /* events of this CPU (TRACE_NO_CPU: of any) are missing here */
    TRACE_KINDS
};
/* Where it was emitted, from the flags column. perf has none. */
enum trace_context { TRACE_CTX_UNKNOWN, TRACE_CTX_TASK, TRACE_CTX_SOFTIRQ, TRACE_CTX_HARDIRQ };
enum trace_inferred { TRACE_SEEN, TRACE_INFERRED };

struct trace_event {
    uint64_t ns;
    uint64_t runtime; /* of TRACE_RUNTIME, ns */
    uint32_t line;    /* in the file */
    uint32_t by;      /* task that ran on the CPU (head of the line) */
    uint32_t task;    /* whom it is about; of a switch: who leaves */
    uint32_t next;    /* switch: who comes; fork: the child */
    uint16_t cpu;
    uint16_t from, to; /* waking: CPU it slept on, none; wakeup: none, CPU it is queued on; migrate: both */
    uint16_t section;
    int16_t prio, next_prio; /* as the kernel prints them: 120 is nice 0; -1: not told */
    char state;              /* of who leaves: R (still runnable), S, D, X ...; ? not told */
    uint8_t kind, context, inferred;
};

struct trace_task {
    int32_t pid;
    char comm[TRACE_COMM];
    bool named; /* the name is not "<...>" */
};

/* /proc/schedstat as text, of the guest lab. NULL: none. What is beyond 16 MiB is left out. */
struct trace_stat {
    char *text;
    size_t len;
};
struct trace_section {
    char name[32];
    size_t first, n; /* events */
    struct trace_stat before, after;
};

/* How the reader understood the lines. */
struct trace_lines {
    uint64_t all, events, other, damaged, notes, comments; /* comments: before the first event */
    uint64_t lost_marks, lost_events;
    bool cut;             /* the compressed file ends in its middle */
    uint64_t overwritten; /* events that the ring buffer had no more room for, by its header */
    uint64_t back;        /* events older than the one before on the same CPU */
    uint64_t by_shape[4]; /* ftrace, trace-cmd, perf, latency format */
};

/* A CPU's place, of "### topo" notes: list of CPUs, as sysfs writes it. */
struct trace_place {
    char core[64], package[64], llc[64], node[64];
};

/* A level of CPU 0's scheduling domains, of "### dom" notes. */
#define TRACE_LEVELS 12u
struct trace_level {
    char name[16], flags[256]; /* as debugfs writes them: "SD_BALANCE_NEWIDLE SD_..." */
    uint32_t imbalance_pct, min_ms, max_ms;
};

struct trace {
    char *path;
    struct trace_event *event;
    size_t nevents;
    struct trace_task *task; /* [0]: idle */
    uint32_t ntasks;
    struct trace_section *section; /* at least one */
    uint32_t nsections;
    uint32_t ncpus; /* highest CPU named, plus one */
    struct trace_lines lines;
    bool sorted; /* events had to be put in order */
    char kernel[96];
    char own_machine[128], own_kernel[64]; /* by name, of a simulation's own trace; "" = not told */
    char isolated[128];                    /* "### isolated 6-7" */
    char *features;                        /* of "### features", or NULL */
    struct trace_place *place;
    uint32_t nplaces;
    struct trace_level level[TRACE_LEVELS];
    uint32_t nlevels;
    struct trace_index *index; /* pid to task */
};

struct trace *trace_read_file(const char *path, struct wb_diag *d) WB_MUST_USE;
/* The same from memory; name is for messages. */
struct trace *trace_read_text(const char *name, const char *text, size_t len, struct wb_diag *d) WB_MUST_USE;
void trace_free(struct trace *t);
/* The machine it was recorded on as a synthetic string. False: the notes do not say, and one package with one cache is
 * taken. True with columns (below): the string has the right number of CPUs only, and the columns say the rest. */
bool trace_machine(const struct trace *t, char *buf, size_t n);
/* A column of machine.table as a list, "[ 0, 0, 1 ]", to be freed by the caller; NULL: the synthetic string says it
 * all, or the notes say nothing. */
enum trace_column { TRACE_COLUMN_CORE, TRACE_COLUMN_LLC, TRACE_COLUMN_PACKAGE, TRACE_COLUMN_NODE, TRACE_COLUMNS };
extern const char *const trace_column_key[TRACE_COLUMNS];
char *trace_machine_column(const struct trace *t, enum trace_column which);
/* CPUs without domains as a list, "3,6-7": isolated ones, and offline ones below others. False: none. */
bool trace_isolated(const struct trace *t, char *buf, size_t n);
/* The kernel profile for what recorded it: by the notes of our own traces, else the newest modelled version that is not
 * newer in its rules. False: not told, or older than all. */
bool trace_kernel(const struct trace *t, char *buf, size_t n);
/* The recording's own version is not modelled: another's rules stand for it. */
bool trace_kernel_is_near(const struct trace *t);

/* ---- shared by trace_read*.c ---- */
struct trace_span {
    const char *at, *end;
};
/* The head of a line: "comm-pid [cpu] flags time: event: " in any shape. */
struct trace_head {
    struct trace_span comm, event, body;
    int32_t pid;
    uint32_t cpu;
    uint64_t ns;
    uint8_t context, shape;
};
/* False: no such line. */
bool trace_read_head(struct trace_span line, struct trace_head *h);
/* Fill kind and fields from the body. 1 = an event of ours, 0 = some other event, -1 = damaged. */
int trace_read_body(struct trace *t, const struct trace_head *h, struct trace_event *e);
/* The task of a pid, made when new; UINT32_MAX when there is no memory. */
uint32_t trace_task_of(struct trace *t, int32_t pid, struct trace_span comm);
/* Notes. text: after "###". */
void trace_read_note(struct trace *t, struct trace_span text);
/* Makes t->place long enough for this CPU; false: no memory. */
bool trace_room_for_place(struct trace *t, uint32_t cpu);
/* A comment, behind "#": `wakebal run --trace` names machine and kernel, ftrace the CPUs and how much was overwritten,
 * perf the release, the CPUs and, with -I, their places. */
void trace_read_comment(struct trace *t, struct trace_span text);
void trace_read_own(struct trace *t, struct trace_span text);
bool trace_span_is(struct trace_span s, const char *word);
bool trace_span_number(struct trace_span *s, int64_t *v); /* reads digits off the front */
extern const char *const trace_kind_name[TRACE_KINDS];

#endif
