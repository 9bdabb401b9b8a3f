/*
 * real.h - the real workloads, run on this machine: the counterparts of the models in models/workload, under the same
 * names, with the same keys and units.
 *
 * A run is one call of real_run(): it forks a runner, the runner forks or creates the tasks, lets them warm up,
 * counts for the asked time and hands the figures back through shared memory. Whatever happens - success, error, a
 * caught signal (spec.stop), the limit of time, the death of the caller by SIGKILL - no process is left behind: every
 * task dies with its parent (PR_SET_PDEATHSIG) and the runner is the subreaper of all. Traffic stays on pipes, socket
 * pairs and 127.0.0.1.
 *
 * The caller's thread must live until real_run returns (the parent-death signal follows threads). real_run may be
 * called from a process that has other threads, one call at a time.
 *
 * Nothing needs privileges. What the kernel does not give (migration counts without /proc/PID/sched, a negative nice)
 * is listed in result.left_out, or is an error when the user asked for it by name. Times are nanoseconds of
 * CLOCK_MONOTONIC; latencies in histograms are picoseconds, as the simulator's are.
 */
#ifndef WB_VALIDATE_REAL_H
#define WB_VALIDATE_REAL_H

#include <signal.h>

#include "wakebal/cpumask.h"
#include "wakebal/diag.h"
#include "wakebal/hist.h"
#include "wakebal/rng.h"

#define REAL_BACKGROUND_MAX 16
#define REAL_COPIES_MAX 256u
#define REAL_WINDOWS_MAX 1024u
#define REAL_LEFT_OUT_MAX 8

enum real_kind {
    REAL_PIPE_BW,
    REAL_PIPE_LATENCY,
    REAL_TCP_RR,
    REAL_UDP_RR,
    REAL_UNIX_RR,
    REAL_HACKBENCH,
    REAL_SYSCALL,
    REAL_HOG,
    REAL_PERIODIC,
    REAL_KINDS
};

enum real_sched { REAL_SCHED_OTHER, REAL_SCHED_BATCH, REAL_SCHED_IDLE };

/* Where switches and migrations are counted. AUTO takes /proc/PID/sched, which costs the tasks nothing, and software
 * perf events where that file lacks: a perf event on a task slows a ping-pong pair by a quarter
 * (docs/validation.md). */
enum real_counters { REAL_COUNT_AUTO, REAL_COUNT_PROC, REAL_COUNT_PERF, REAL_COUNT_NONE };

/* A set of CPUs by the kernel's numbering; empty = not given. Handed out one by one where a key says so. */
struct real_cpus {
    uint64_t w[WB_CPUMASK_WORDS(WB_CPUS_MAX)];
};

/* Load beside the measured one: hogs or periodic tasks. They run from before the warm-up until after the end. */
struct real_background {
    enum real_kind kind; /* REAL_HOG or REAL_PERIODIC */
    uint32_t count;
    int nice;
    enum real_sched sched;
    struct real_cpus cpus; /* the k-th task gets the k-th CPU, modulo their number */
    struct wb_dist chunk, run, sleep;
    uint64_t period_ns, working_set;
    bool random_pattern;
};

/* Fill with real_spec_init, then set fields or call real_spec_set. Plain data: may be copied and compared. */
struct real_spec {
    enum real_kind kind;
    uint64_t message;           /* bytes: pipe_bw, pipe_latency, hackbench */
    uint64_t total;             /* bytes of each reader: pipe_bw without a duration */
    uint64_t request, response; /* bytes: tcp_rr, udp_rr, unix_rr */
    uint64_t count_each;        /* trips, transactions, calls, chunks or cycles of each copy, without a duration */
    uint32_t copies;            /* pairs, or tasks of a kind that has single ones */
    uint32_t groups, fds;       /* hackbench: groups, senders (and receivers) of a group */
    uint64_t loops;             /* hackbench: messages of each sender to each receiver */
    bool threads;               /* ends are threads of one process */
    bool pipe;                  /* hackbench: pipes instead of socket pairs */
    bool nodelay;               /* tcp_rr: TCP_NODELAY; netperf leaves Nagle's algorithm on */
    uint32_t call;              /* syscall: index of real_call_name */
    uint64_t pipe_size;         /* bytes, F_SETPIPE_SZ; 0 = the kernel's */
    struct wb_dist think;       /* ps of work before a side sends */
    struct wb_dist chunk;       /* hog: ps of work counted as one */
    struct wb_dist run, sleep;  /* periodic: ps of work and of sleep */
    uint64_t period_ns;         /* periodic: wake at its multiples; 0 = sleep after the work */
    uint64_t working_set;       /* hog: bytes that are written after each chunk */
    bool random_pattern;        /* hog: in random order */
    uint64_t timer_slack_ns;    /* periodic: how much later the kernel may wake it (PR_SET_TIMERSLACK) */
    uint64_t duration_ns;       /* of the counted part; 0 = fixed work */
    uint64_t warmup_ns, window_ns;
    uint64_t limit_ns; /* wall time after which the run is killed; 0 = chosen */
    int nice;
    enum real_sched sched;
    enum real_counters counters;
    struct real_cpus allowed; /* CPUs that all tasks may use, as `taskset -c` */
    struct real_cpus cpus;    /* handed out: the k-th task gets the k-th CPU, modulo their number */
    struct real_cpus
        end_cpus[2]; /* of the first and second end (writer/reader, parent/child, client/server, sender/receiver) */
    uint64_t seed;   /* of think, run and sleep times that are random */
    struct real_background background[REAL_BACKGROUND_MAX];
    uint32_t background_n;
    const volatile sig_atomic_t *stop; /* not 0: give up and clean up; may be NULL. Set it from a signal handler */
    uint64_t given;                    /* which keys were set by name; of real_spec.c */
};

enum real_have {
    REAL_HAVE_SWITCHES = 1,
    REAL_HAVE_SPLIT = 2,
    REAL_HAVE_MIGRATIONS = 4,
    REAL_HAVE_CPU = 8,
    REAL_HAVE_WAIT = 16
};

/* What the kernel counted for a task, or for several. */
struct real_counts {
    uint32_t have;                   /* enum real_have: what is known; the rest is 0 */
    uint64_t voluntary, involuntary; /* context switches; all in `voluntary` when not split */
    uint64_t migrations;
    uint64_t cpu_ns, wait_ns; /* time on a CPU; runnable without one */
};

struct real_task_result {
    char role[16]; /* "writer", "client", "hog" ... */
    uint32_t copy;
    int pid;
    bool background;
    struct real_counts counts;
    double seconds; /* over which they were counted */
    uint64_t ops;   /* of the timed end; else 0 */
    double rate;    /* ops per second of its own time */
};

/* One window of the series, all copies together. */
struct real_window {
    double ops;
    double together; /* share of the ops during which both ends were on one CPU; NAN = not known */
};

struct real_metric {
    const char *name, *unit;
    bool higher_better;
    double value;
};

struct real_result {
    enum real_kind kind;
    struct real_metric metric[4]; /* the first is the kind's own */
    uint32_t metric_n;
    double seconds;           /* counted part; mean of the copies */
    uint64_t ops;             /* of all copies, in the kind's unit of work (bytes, trips ...) */
    double together;          /* share of the work done while both ends were on one CPU; NAN = not known */
    const char *latency_name; /* NULL: the kind has none */
    struct wb_hist *latency;
    uint64_t window_ns;
    struct real_window *window;
    uint32_t window_n;
    struct real_counts counts; /* sums over the workload's own tasks */
    double count_seconds;      /* over which they were counted */
    double cpu_ns_total;       /* of everything that the run started, background and runner too, from fork to reaping */
    const char *count_source;  /* "perf", "proc", "none" */
    struct real_task_result *task; /* workload's ends (hackbench: none), then background */
    uint32_t task_n;
    char left_out[REAL_LEFT_OUT_MAX][160];
    uint32_t left_out_n;
    double work_ns; /* duration of one unit of spin work on this CPU; 0 = not calibrated */
};

/* The names "pipe_bw", "hackbench" ...; the unit of its first metric; one line of help. NULL past the end. */
const char *real_kind_name(enum real_kind kind);
const char *real_kind_help(enum real_kind kind);
const char *real_kind_peer(enum real_kind kind); /* the benchmark that it is the counterpart of */
/* 0 with *kind set, or -1. */
int real_kind_find(const char *name, enum real_kind *kind);
/* Calls of kind syscall: NULL past the end. */
const char *real_call_name(uint32_t i);
const char *real_call_help(uint32_t i);

/* Keys, for help texts and option tables: those of the scenario's workload of that kind, and the run's (duration,
 * warmup, window, counters). kinds: bit k set = kind k has it. */
struct real_key {
    const char *name, *arg, *help;
    uint32_t kinds;
};
const struct real_key *real_key_table(size_t *n);

void real_spec_init(struct real_spec *s, enum real_kind kind);
/* Set one key from text ("message", "64 KiB"; '-' counts as '_'). Key `background` adds one:
 * "hog,count=2,nice=10,cpus=0". 0, or -1 with an error in d. */
int real_spec_set(struct real_spec *s, const char *key, const char *value, struct wb_diag *d) WB_MUST_USE;
/* From the command line of the real benchmark: `hackbench -g 4 -l 1000 -P`, `perf bench sched pipe -T`, `netperf -t
 * TCP_RR -- -r 1,1`, `bw_pipe -m 64k`, old hackbench's `hackbench 10 process 100`. Initialises *s. 0, or -1 with an
 * error in d. */
int real_spec_from_cmd(struct real_spec *s, const char *text, struct wb_diag *d) WB_MUST_USE;
/* Ranges, and whether the CPUs asked for exist. 0, or -1 with errors in d. real_run does it too. */
int real_spec_check(const struct real_spec *s, struct wb_diag *d) WB_MUST_USE;
/* "1 pair, 64 KiB, writer on 0, reader on 1; 2 s after 200 ms". Returns buf. */
char *real_spec_describe(const struct real_spec *s, char *buf, size_t n);
/* Wall time that the run will need, about; 0 when it depends on the work. */
double real_spec_seconds(const struct real_spec *s);

/* Run. 0; -1 with errors in d (spec wrong, or the run went wrong); -EINTR when spec->stop was raised; -ETIMEDOUT past
 * the limit; another -errno when the system refused, with the reason in d. On 0 the caller owns *r and frees it with
 * real_result_free. */
int real_run(const struct real_spec *s, struct real_result *r, struct wb_diag *d) WB_MUST_USE;
void real_result_free(struct real_result *r);

/* Quantile (0..1) of the windows' rates in ops per second; NAN without windows. */
double real_window_quantile(const struct real_result *r, double q);
/* Share of the windows that are mostly (over 90 %) together, mostly apart (under 10 %) and mixed. NAN when not
 * known. */
void real_window_modes(const struct real_result *r, double *together, double *apart, double *mixed);

#endif
