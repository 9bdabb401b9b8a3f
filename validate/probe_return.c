/* probe_return.c - what a task pays for going back to user mode after it was switched to. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "probe_inner.h"

#define PAGES 200u /* of a batch */
#define BATCHES 5  /* of a kind; the first one is not counted */
#define CALL_PAGES 256u
#define SLEPT 0.9 /* of the pages: the reader waited for them */

struct writer {
    int fd[2];
    uint32_t page, pages; /* bytes; pages of a call */
    char *from;           /* the same page for all, so that it is in the L1 in both ways */
};

static void write_on(void *arg)
{
    const struct writer *w = arg;
    struct iovec v[CALL_PAGES];
    close(w->fd[0]);
    for (uint32_t i = 0; i < w->pages; i++) v[i] = (struct iovec){.iov_base = w->from, .iov_len = w->page};
    for (;;)
        if (writev(w->fd[1], v, (int)w->pages) != (ssize_t)w->pages * w->page) return;
}

/* ns for each page: that pass, and that the reader is charged for. */
struct cost {
    double wall, own;
};
static const struct cost none = {NAN, NAN};

static uint64_t own_time(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) ? 0 : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A batch that is read page by page; none: it cannot be, or the reader did not wait for them. */
static struct cost read_batch(const struct writer *w)
{
    static char into[65536];
    struct rusage before, after;
    (void)getrusage(RUSAGE_THREAD, &before);
    uint64_t begin = real_now(), charged = own_time();
    for (uint32_t i = 0; i < PAGES; i++)
        if (read(w->fd[0], into, w->page) != (ssize_t)w->page) return none;
    charged = own_time() - charged;
    uint64_t took = real_now() - begin;
    (void)getrusage(RUSAGE_THREAD, &after);
    if ((double)(after.ru_nvcsw - before.ru_nvcsw) < SLEPT * PAGES) return none;
    return (struct cost){(double)took / PAGES, (double)charged / PAGES};
}

static struct cost median_batch(const struct writer *w)
{
    double wall[BATCHES], own[BATCHES], lo, hi;
    struct cost median = none;
    uint32_t n = 0;
    (void)read_batch(w);
    for (int i = 0; i < BATCHES; i++) {
        struct cost c = read_batch(w);
        if (!isfinite(c.wall)) continue;
        wall[n] = c.wall;
        own[n++] = c.own;
    }
    if (n <= BATCHES / 2) return none;
    probe_median(wall, n, &median.wall, &lo, &hi);
    probe_median(own, n, &median.own, &lo, &hi);
    return median;
}

/* Pages over a pipe with room for one, written by calls of so many. */
static struct cost handed_over(struct probe_run *r, uint32_t pages)
{
    struct writer w = {.page = (uint32_t)sysconf(_SC_PAGESIZE), .pages = pages, .from = r->arena};
    struct cost c = none;
    if (w.page > 65536 || pipe(w.fd)) return none;
    pid_t child = -1;
    if (fcntl(w.fd[1], F_SETPIPE_SZ, w.page) == (int)w.page) child = probe_child(r->cpu, SCHED_BATCH, write_on, &w);
    close(w.fd[1]);
    if (child > 0) {
        c = median_batch(&w);
        probe_reap(child);
    }
    close(w.fd[0]);
    return c;
}

/* ns of a call that finds the pipe full: entry, exit, the way to the pipe, its lock. The least of some batches. */
static double vain_call(struct probe_run *r)
{
    enum { CALLS = 200 };
    int fd[2];
    uint64_t best = UINT64_MAX;
    struct iovec page = {.iov_base = r->arena, .iov_len = (size_t)sysconf(_SC_PAGESIZE)};
    if (pipe2(fd, O_NONBLOCK)) return NAN;
    while (writev(fd[1], &page, 1) > 0) {
    }
    for (int b = 0; b < BATCHES; b++) {
        uint64_t begin = real_now();
        for (int i = 0; i < CALLS; i++)
            if (writev(fd[1], &page, 1) > 0) best = 0;
        uint64_t took = real_now() - begin;
        best = WB_MIN(best, took);
    }
    close(fd[0]);
    close(fd[1]);
    return best ? (double)best / CALLS : NAN;
}

/* A writer that sleeps for each page does so between two calls, or within a call that writes many: the same sleeps,
 * wakeups, switches and copies, but it is back in user mode once for each page, or hardly ever. What the call itself
 * costs, when nobody was switched to, is taken off. Nobody preempts (SCHED_BATCH). A switch is charged to the one who
 * comes (the queue's clock is read before it), so what the reader is charged more is the saving of the writer's
 * registers, the rest its own way back. */
int probe_return(struct probe_run *r)
{
    struct sched_param param = {0};
    int own = sched_getscheduler(0);
    if (own < 0 || sched_setscheduler(0, SCHED_BATCH, &param)) return -errno;
    struct cost each = handed_over(r, 1), within = handed_over(r, CALL_PAGES);
    double call = vain_call(r), save = each.own - within.own;
    (void)sched_setscheduler(0, own, &param);
    probe_put(r, "switched_save", PROBE_DIFFERENCE, save);
    probe_put(r, "switched_return", PROBE_DIFFERENCE, each.wall - within.wall - save - call);
    return 0;
}
