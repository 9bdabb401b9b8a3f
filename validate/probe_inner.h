/*
 * probe_inner.h - what the probes share; private to validate/probe_*.c.
 */
#ifndef WB_VALIDATE_PROBE_INNER_H
#define WB_VALIDATE_PROBE_INNER_H

#include "probe.h"
#include "real_inner.h"

struct probe_run {
    const struct wb_topology *topo;
    const struct probe_options *o;
    struct probe_set *set;
    cpu_id cpu;               /* where single-CPU probes run */
    cpu_id cpus[WB_CPUS_MAX]; /* usable ones, ascending */
    uint32_t ncpus;
    bool have[WB_DISTANCES];         /* a pair at that distance exists */
    cpu_id other[WB_DISTANCES];      /* the partner of `cpu` there */
    uint64_t level[WB_CACHE_LEVELS]; /* bytes of the caches of `cpu`, innermost first; 0 past the last */
    uint32_t round;                  /* from 0 */
    enum wb_distance far;            /* that the running probe is for */
    char *arena;                     /* for what the caches hold, touched */
    size_t bytes;
    char *big;        /* no cache holds it: first a chase, then room for writes of the same size */
    size_t big_bytes; /* of each of the two; 0 = memory is too short */
    void **chase;     /* where the chase stands */
    size_t big_at;    /* where the next stream begins */
};

/* One sample of each of its figures, through probe_put. 0, or -errno: the figures are left out from then on. */
typedef int probe_fn(struct probe_run *r);
struct probe {
    const char *name, *method;
    const char *figures; /* blank-separated, for probe_method() */
    probe_fn *round;
    double seconds; /* of one round */
    bool far;       /* once for each distance */
};
extern const struct probe probe_table[];
extern const size_t probe_table_n;

probe_fn probe_clock, probe_lines, probe_smt, probe_gaps;                 /* probe_core.c */
probe_fn probe_caches, probe_copies, probe_memory, probe_memory_all;      /* probe_cache.c */
probe_fn probe_transfer, probe_transfer_again, probe_dirty, probe_shared; /* probe_far.c */
probe_fn probe_calls, probe_loops, probe_sides, probe_pages, probe_life;  /* probe_call.c */
probe_fn probe_timer, probe_queueing;                                     /* probe_wait.c */
probe_fn probe_cold;                                                      /* probe_cold.c */
probe_fn probe_return;                                                    /* probe_return.c */
probe_fn probe_local_echo, probe_socket_echo;                             /* probe_wake.c */
probe_fn probe_far_echo, probe_awake_echo;                                /* probe_wake.c */

/* Add a sample; names of distance probes get ".DISTANCE". What is not finite is dropped, and what is not above 0
 * unless it is a count or a difference. */
void probe_put(struct probe_run *r, const char *name, enum probe_unit unit, double v);
void probe_put_spread(struct probe_run *r, const char *name, double ns);
/* A random cycle through the lines of m; where it begins, or NULL. */
void **probe_make_chase(char *m, size_t bytes);
/* A connected pair over 127.0.0.1; both ends read and write. 0 or -errno. */
int probe_inet_pair(int type, int fd[2]);
/* Bind the calling thread. 0 or -errno. */
int probe_pin(cpu_id cpu);

/* A thread on another CPU that does `work(arg)` beside the caller: started by probe_beside, awaited by probe_join. */
struct probe_thread;
struct probe_thread *probe_beside(cpu_id cpu, void (*work)(void *arg), void *arg);
void probe_join(struct probe_thread *t);
/* A child process on a CPU that does work(arg) and exits. pid or -errno. policy: SCHED_OTHER, SCHED_BATCH,
 * SCHED_IDLE. */
pid_t probe_child(cpu_id cpu, int policy, void (*work)(void *arg), void *arg);
void probe_reap(pid_t pid);

#endif
