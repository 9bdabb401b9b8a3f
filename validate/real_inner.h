/*
 * real_inner.h - what the runner, the tasks and the caller of a real run share; private to validate/real_*.c.
 *
 * Everything shared lies in one anonymous MAP_SHARED mapping (struct real_board, then tasks, then meters), made
 * before the first fork: parent, runner and tasks see it at the same address. Each task writes only its own struct
 * real_task and its own meter; the board is written by the runner, before `go`. The tasks wait for `go` on a futex
 * and read the clock themselves, so that nobody has to be woken when warm-up or run ends.
 */
#ifndef WB_VALIDATE_REAL_INNER_H
#define WB_VALIDATE_REAL_INNER_H

#include <stdatomic.h>
#include <sys/types.h>

#include "real.h"

#define REAL_ROLE_BACKGROUND UINT32_MAX

/* What a timed task writes down. */
struct real_meter {
    struct wb_hist latency; /* ps */
    uint64_t window_ns;     /* doubled whenever the windows are full */
    uint64_t ops, together; /* counted work; that part of it during which both ends were on one CPU */
    uint64_t begin_ns, end_ns;
    uint32_t windows; /* complete ones */
    bool knows_together;
    struct {
        uint64_t ops, together;
    } window[REAL_WINDOWS_MAX];
};

enum real_state { REAL_UNBORN, REAL_READY, REAL_DONE };

struct real_task {
    _Alignas(64) char role[16];
    uint32_t copy;                            /* or REAL_ROLE_BACKGROUND */
    uint32_t end;                             /* 0 or 1 */
    uint32_t hand_out;                        /* its turn of the CPU list */
    uint32_t meter;                           /* index; UINT32_MAX = not timed */
    const struct real_background *background; /* of a background task, in the spec that was copied to the board */
    _Atomic uint32_t state;                   /* enum real_state */
    _Atomic int pid, tid;
    int perf_fd[2]; /* of the runner: switches, migrations; -1 */
    struct real_counts begin, end_counts;
    uint64_t begin_ns, end_ns;
    int error; /* errno of what went wrong, with `why` */
    char why[112];
};

struct real_board {
    _Atomic uint32_t go;         /* futex: 0 wait, 1 run */
    _Atomic uint32_t quit;       /* futex, never raised: parked tasks wait here until they are killed */
    uint64_t begin_at, stop_at;  /* CLOCK_MONOTONIC ns; stop_at UINT64_MAX = by count */
    double loops_per_ns;         /* of spin work; 0 = nobody needs it */
    int event_fd;                /* eventfd: one count for each task that is ready, later done */
    uint32_t tasks, meters, own; /* own: tasks of the workload itself, the first ones */
    size_t bytes;
    struct real_cpus home; /* what the caller may use */
    struct real_spec spec; /* a copy, so that pointers into it are good in every process */
    /* results of the runner */
    int error; /* errno; 0 */
    char why[192];
    double hackbench_s;
    struct real_counts hackbench_counts;
    double hackbench_count_s;
    uint64_t cpu_ns;    /* runner and all that it reaped */
    uint32_t perf_used; /* counts came from perf events */
    char left_out[REAL_LEFT_OUT_MAX][160];
    uint32_t left_out_n;
};

struct real_task *board_task(struct real_board *b, uint32_t i);
struct real_meter *board_meter(struct real_board *b, uint32_t i);
/* Note something that cannot be had here, once. */
void board_leave_out(struct real_board *b, const char *fmt, ...) WB_PRINTF(2, 3);
/* First error wins. */
void board_fail(struct real_board *b, int error, const char *fmt, ...) WB_PRINTF(3, 4);

/* How a kind is run. Tasks [0, ends * copies) are its own; a kind without `start` is run by `whole`. */
struct real_ops {
    uint32_t ends;   /* tasks of one copy: 2 for pairs, 1 */
    bool needs_work; /* spins: the speed of this CPU is wanted */
    const char *role[2];
    const char *latency_name; /* of the histogram, NULL = none */
    /* Start the tasks of one copy: fork or create them and return in the runner. 0 or -errno with board_fail. */
    int (*start)(struct real_board *b, uint32_t copy);
    /* Do it all: sets hackbench_s and counts. 0 or -errno with board_fail. */
    int (*whole)(struct real_board *b);
};
extern const struct real_ops real_ops_stream, real_ops_pipe, real_ops_tcp, real_ops_udp, real_ops_unix,
    real_ops_hackbench, real_ops_syscall, real_ops_hog, real_ops_periodic;
const struct real_ops *real_ops_of(enum real_kind kind);

/* --- real_task.c: what every task does ---------------------------------------------------------------------------- */
/* Fork a task that dies with its parent and runs body(b, task, arg); it exits when body returns. Returns pid or
 * -errno. */
typedef void real_body(struct real_board *b, struct real_task *t, void *arg);
pid_t task_fork(struct real_board *b, struct real_task *t, real_body *body, void *arg);
/* The same as a thread of the calling process (never returns from parking: the process is killed). 0 or -errno. */
int task_thread(struct real_board *b, struct real_task *t, real_body *body, void *arg);
/* Affinity, nice, class of a task, by the spec. false with t->error set. */
bool task_settle(struct real_board *b, struct real_task *t);
/* Bind the caller to `allowed`, as taskset would; nothing when it is not given. Refusals show up in the tasks. */
void task_confine(const struct real_board *b);
/* Say that this task is ready, and wait for `go`. */
void task_ready(struct real_board *b, struct real_task *t);
/* Say that this task's timed part is over, and wait to be killed. */
void task_done(struct real_board *b, struct real_task *t) __attribute__((noreturn));
/* Something was refused: note it and end this task. */
void task_fail(struct real_board *b, struct real_task *t, int error, const char *what) __attribute__((noreturn));
/* A buffer of n bytes, touched; `skew` bytes past a page boundary. NULL when there is no memory. */
char *task_buffer(size_t n, size_t skew);
/* Lower a soft limit's distance to the hard one. */
void task_raise_files(void);

uint64_t real_now(void);        /* CLOCK_MONOTONIC ns */
void real_spin(uint64_t loops); /* fixed work: registers only */
double real_spin_rate(void);    /* loops per ns on this CPU now: the best of several tries, about 15 ms */
void real_work(const struct real_board *b, int64_t ps); /* that much work */

/* --- real_meter.c: counting of a timed task ----------------------------------------------------------------------- */
struct meter_run {
    struct real_meter *m;
    uint64_t begin_at, stop_at, last, edge; /* edge: the next moment at which something changes */
    uint64_t win_ops, win_together;
    bool counting, over;
};
void meter_start(struct meter_run *r, struct real_meter *m, const struct real_board *b);
void meter_edge(struct meter_run *r, uint64_t now);
void meter_finish(struct meter_run *r); /* by count: the last operation was the end */

/* One operation (or n units of work) is over at `now`; latency in ps goes into the histogram when it is not 0.
 * Returns whether to go on. */
static inline bool meter_count(struct meter_run *r, uint64_t now, uint64_t n, bool together, uint64_t latency_ps)
{
    if (r->counting) {
        r->win_ops += n;
        r->win_together += together ? n : 0;
        if (latency_ps) wb_hist_add(&r->m->latency, latency_ps);
    }
    r->last = now;
    if (WB_UNLIKELY(now >= r->edge)) meter_edge(r, now);
    return !r->over;
}

/* --- real_counts.c ------------------------------------------------------------------------------------------------ */
/* Counts of a task from PROC/PID/task/TID/{schedstat,sched,status}. proc: "/proc" (a test has its own). */
void counts_read_proc(const char *proc, int pid, int tid, struct real_counts *c);
/* The caller's own counts, for a task that must not spend time on it at the end: files opened before the clock runs
 * are read again. */
struct counts_self {
    int sched, schedstat; /* descriptors or -1 */
};
void counts_open_self(struct counts_self *s);
void counts_read_self(const struct counts_self *s, struct real_counts *c);
void counts_close_self(struct counts_self *s);
void counts_parse_sched(const char *text, struct real_counts *c);
void counts_parse_status(const char *text, struct real_counts *c);
void counts_parse_schedstat(const char *text, struct real_counts *c);
/* Software events of a task (0 = the caller) into fd[2] = switches, migrations; inherit: its future children too.
 * Those that cannot be opened are -1. Returns how many are open; *error is the errno of the last refusal. */
int counts_open_perf(int tid, bool inherit, int fd[2], int *error);
void counts_close_perf(int fd[2]);
/* Overwrite what perf knows better. */
void counts_read_perf(const int fd[2], struct real_counts *c);
/* after - before; what one of them lacks is lacking. */
struct real_counts counts_since(const struct real_counts *before, const struct real_counts *after);
void counts_add(struct real_counts *sum, const struct real_counts *c, bool first);

/* --- real_runner.c ------------------------------------------------------------------------------------------------ */
/* The runner process: everything between the first task and the last. Never returns. life_fd is held by it and all
 * its tasks. */
void runner_main(struct real_board *b) __attribute__((noreturn));
/* Decide by the spec where counts come from: whether perf events are to be opened. */
bool runner_wants_perf(const struct real_board *b);

/* --- real_collect.c ----------------------------------------------------------------------------------------------- */
int real_collect(struct real_board *b, struct real_result *r);

#endif
