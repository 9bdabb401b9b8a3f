/*
 * workload_common.h - what all workload kinds read from their entry and do alike.
 *
 * An entry may have several copies, and sim/ builds it as often as workload.instances says; all of them count towards
 * the same figures. CPUs are handed out: with a list of n CPUs, the k-th task of an instance gets the k-th CPU of the
 * list, modulo n.
 *
 * With run.duration a workload goes on until the run ends; without it, each of its tasks does its fixed work once.
 */
#ifndef WB_WORKLOAD_COMMON_H
#define WB_WORKLOAD_COMMON_H

#include "wakebal/workload.h"

struct workload_entry {
    struct wb_sim *s;
    const struct wb_config *cfg;
    struct wb_diag *d;
    const char *path; /* "workload[2]" */
    uint32_t instance;
    int nice;
    enum wb_sched_class klass;
    bool pinned; /* cpus is a list */
    bool whole;  /* each task may use all of it, as under taskset; else they are handed out */
    struct wb_cpumask cpus;
    uint32_t ncpus; /* in it */
    bool start_given;
    sim_time start;
    cpu_id start_cpu; /* of the first task, or WB_NO_CPU */
    bool endless;     /* repeats until the run ends */
    bool background;  /* the run does not wait for it */
    uint16_t fn_call; /* label of the user-mode work around one call */
};

/* Read the keys that all kinds have. 0, or -1 with errors in d. */
int workload_read(struct workload_entry *e, struct wb_sim *s, const struct wb_config *cfg, const char *path,
                  uint32_t instance, struct wb_diag *d);
/* Path of a key of the entry. */
const char *workload_key(const struct workload_entry *e, const char *key);
/* A CPUS key that replaces `cpus` when given: *mask is what it says or, when absent, the k-th CPU handed out (NULL:
 * free). 0 or -1. */
int workload_cpus(const struct workload_entry *e, const char *key, uint32_t k, const struct wb_cpumask **mask);
/* A task specification with name, program, nice, start; allowed as given. first: the one that start_cpu speaks of. */
struct wb_task_spec workload_task(const struct workload_entry *e, const char *name, wb_step_fn step, size_t frame_bytes,
                                  const struct wb_cpumask *allowed, bool first);
/* How many parts of fixed work the run waits for (none of endless or background ones). */
void workload_expect(const struct workload_entry *e, uint32_t parts);
/* A channel of a kind that must exist. */
struct wb_channel *workload_channel(const struct workload_entry *e, const char *kind, const char *name);
/* Its room when workload.pipe_size is given. 0 or -1. */
int workload_resize(const struct workload_entry *e, struct wb_channel *c);
/* Messages are kept apart when workload.packets says so; bytes: the longest. 0 or -1. */
int workload_packets(const struct workload_entry *e, struct wb_channel *c, uint64_t bytes);

/* How long to compute: a draw, at least a nanosecond. */
static inline sim_time workload_draw_work(const struct wb_dist *d, struct wb_stream *s)
{
    sim_time work = (sim_time)wb_dist_draw(d, s);
    return WB_MAX(work, WB_NS);
}
/* Compute for `dur`, in pieces that a segment can hold (it holds 70 s of full speed). The frame has a `left`. */
#define WORKLOAD_PIECE (10 * WB_S)
#define WORKLOAD_COMPUTE(x, f, dur) \
    do { \
        (f)->left = (dur); \
        for (;;) { \
            WB_USER(x, f, WB_MIN((f)->left, WORKLOAD_PIECE)); \
            if ((f)->left <= WORKLOAD_PIECE) break; \
            (f)->left -= WORKLOAD_PIECE; \
        } \
    } while (0)

#endif
