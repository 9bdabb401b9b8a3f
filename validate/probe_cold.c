/* probe_cold.c - what calls and switches cost more when something else has filled the L1 meanwhile. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe_inner.h"

enum { BATCHES = 9, TIMES = 100 };

struct cold {
    int to[2], back[2]; /* pipes; the ends of the waker: to[1], back[0] */
    volatile char *buf; /* shared by both processes; each runs through a half of it */
    size_t half;        /* 0: nobody runs through anything */
};

static void sweep(const struct cold *c, size_t from)
{
    for (size_t i = from; i < from + c->half; i += 64) (void)c->buf[i];
}

static int move_byte(int in, int out)
{
    char byte = 0;
    if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1) return -EPIPE;
    return 0;
}

/* What is timed: once. */
typedef int once_fn(const struct cold *c);

static int two_sweeps(const struct cold *c)
{
    sweep(c, 0);
    sweep(c, c->half);
    return 0;
}

/* A byte through an own pipe, by two calls, each after a sweep. */
static int two_calls(const struct cold *c)
{
    char byte = 0;
    sweep(c, 0);
    if (write(c->to[1], &byte, 1) != 1) return -EPIPE;
    sweep(c, c->half);
    return read(c->to[0], &byte, 1) == 1 ? 0 : -EPIPE;
}

/* A byte to the partner, and one back; each side sweeps before it sends. */
static int one_trip(const struct cold *c)
{
    sweep(c, 0);
    return move_byte(c->back[0], c->to[1]);
}

static void answer(void *arg)
{
    const struct cold *c = arg;
    char byte;
    close(c->to[1]);
    while (read(c->to[0], &byte, 1) == 1) {
        sweep(c, c->half);
        if (write(c->back[1], &byte, 1) != 1) break;
    }
}

/* ns each, the least of some batches; negative: -errno. */
static double timed(const struct cold *c, once_fn *once)
{
    double best = HUGE_VAL;
    for (int b = 0; b < BATCHES; b++) {
        uint64_t begin = real_now();
        for (int i = 0; i < TIMES; i++) {
            int rc = once(c);
            if (rc) return rc;
        }
        best = fmin(best, (double)(real_now() - begin) / TIMES);
    }
    return best;
}

static double trips(struct cold *c, cpu_id cpu)
{
    pid_t child = probe_child(cpu, SCHED_BATCH, answer, c);
    if (child < 0) return (double)child;
    double ns = timed(c, one_trip);
    close(c->to[1]); /* ends the child */
    probe_reap(child);
    return ns;
}

/* Pipes for one measurement; the child closes none of its ends before it is done. */
static int open_pipes(struct cold *c)
{
    if (pipe(c->to)) return -errno;
    if (!pipe(c->back)) return 0;
    int rc = -errno;
    close(c->to[0]);
    close(c->to[1]);
    return rc;
}

static double over_pipes(struct cold *c, cpu_id cpu, bool trip)
{
    int rc = open_pipes(c);
    if (rc) return rc;
    double ns = trip ? trips(c, cpu) : timed(c, two_calls);
    if (!trip) close(c->to[1]);
    close(c->to[0]);
    close(c->back[0]);
    close(c->back[1]);
    return ns;
}

/* With and without the sweeps, less the sweeps themselves. */
static double surplus(struct cold *c, cpu_id cpu, bool trip)
{
    size_t half = c->half;
    double cold = over_pipes(c, cpu, trip), sweeps = timed(c, two_sweeps);
    c->half = 0;
    double warm = over_pipes(c, cpu, trip);
    c->half = half;
    return cold > 0 && warm > 0 ? cold - sweeps - warm : NAN;
}

/* Two halves of twice the L1: they stay in an L2 of four times that, and so does what they displace. */
int probe_cold(struct probe_run *r)
{
    struct cold c = {.half = 2 * r->level[0]};
    struct sched_param param = {0};
    int own = sched_getscheduler(0), rc = 0;
    if (!c.half || r->level[1] < 8 * r->level[0]) return 0;
    void *m = mmap(NULL, 2 * c.half, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (m == MAP_FAILED) return -errno;
    c.buf = m;
    if (own < 0 || sched_setscheduler(0, SCHED_BATCH, &param)) rc = -errno;
    if (!rc) {
        probe_put(r, "cold_calls", PROBE_NS, surplus(&c, r->cpu, false));
        probe_put(r, "cold_trip", PROBE_NS, surplus(&c, r->cpu, true));
        (void)sched_setscheduler(0, own, &param);
    }
    munmap(m, 2 * c.half);
    return rc;
}
