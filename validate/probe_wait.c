/* probe_wait.c - parts of going to sleep and of idling that a task can see without sleeping. */
#include <errno.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "probe_inner.h"

#define FAR_S 3600      /* beyond every other timer */
#define NEAR_NS 150000L /* before the next tick, nearly always, and not over before it is moved away again */

/* ns that moving a timer takes; -1: it cannot be. */
static double set_timer(int fd, time_t s, long ns)
{
    struct itimerspec at = {.it_value = {.tv_sec = s, .tv_nsec = ns}};
    uint64_t begin = real_now();
    if (timerfd_settime(fd, 0, &at, NULL)) return -1;
    return (double)(real_now() - begin);
}

/* What programming the timer hardware costs: a timer that becomes the CPU's next one makes the kernel program it
 * (hrtimer_start_range_ns: reprogram when it is first), one far away does not. In a guest each time is a trap. */
int probe_timer(struct probe_run *r)
{
    enum { TIMES = 31 };
    double near[TIMES], far[TIMES], median[2], lo, hi;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (fd < 0) return -errno;
    for (int i = 0; i < TIMES; i++) {
        near[i] = set_timer(fd, 0, NEAR_NS);
        (void)set_timer(fd, FAR_S, 0);
        far[i] = set_timer(fd, FAR_S, 0);
    }
    close(fd);
    probe_median(near, TIMES, &median[0], &lo, &hi);
    probe_median(far, TIMES, &median[1], &lo, &hi);
    probe_put(r, "timer_program", PROBE_NS, median[0] - median[1]);
    return 0;
}

/* ns of a poll() of two ends, the least of some batches; -1: it cannot be. */
static double poll_ns(struct pollfd *p)
{
    enum { BATCHES = 5, CALLS = 400 };
    uint64_t best = UINT64_MAX;
    for (int b = 0; b < BATCHES; b++) {
        uint64_t begin = real_now();
        for (int i = 0; i < CALLS; i++)
            if (poll(p, 2, 1000) != 1) return -1;
        uint64_t took = real_now() - begin;
        best = WB_MIN(best, took);
    }
    return (double)best / CALLS;
}

/* A place in a wait queue, taken and left. poll() queues at every end until it finds one that is ready
 * (fs/select.c do_poll: _qproc is cleared then), so the order of a ready and an empty pipe tells. */
int probe_queueing(struct probe_run *r)
{
    int ready[2], empty[2], rc = 0;
    if (pipe(ready)) return -errno;
    if (pipe(empty)) {
        rc = -errno;
    } else {
        if (write(ready[1], "x", 1) != 1) rc = -EIO;
        struct pollfd p[3] = {
            {.fd = ready[0], .events = POLLIN}, {.fd = empty[0], .events = POLLIN}, {.fd = ready[0], .events = POLLIN}};
        double not_queued = poll_ns(p), queued = poll_ns(p + 1);
        if (not_queued > 0 && queued > 0 && !rc) probe_put(r, "wait_entry", PROBE_NS, queued - not_queued);
        close(empty[0]);
        close(empty[1]);
    }
    close(ready[0]);
    close(ready[1]);
    return rc;
}
