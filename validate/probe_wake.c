/* probe_wake.c - two processes pass a byte to and fro, with work between the trips so that the partner's CPU idles for
 * a known time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe_inner.h"

#define TRIPS_MAX 4096

struct echo {
    int own[2], peer[2];      /* what the waker reads and writes, what the partner does; the same number for a socket */
    double write_ns, trip_ns; /* medians */
    uint32_t n;
    double write[TRIPS_MAX], trip[TRIPS_MAX];
};

static void close_end(const int fd[2])
{
    close(fd[0]);
    if (fd[1] != fd[0]) close(fd[1]);
}

/* The partner: answers until end of file. */
static void answer(void *arg)
{
    struct echo *e = arg;
    char c;
    close_end(e->own);
    while (read(e->peer[0], &c, 1) == 1)
        if (write(e->peer[1], &c, 1) != 1) break;
}

static int exchange(struct echo *e, uint64_t think_ns, uint32_t trips)
{
    char c = 0;
    for (uint32_t i = 0; i < trips; i++) {
        uint64_t until = real_now() + think_ns, t0 = real_now();
        while (t0 < until) t0 = real_now();
        if (write(e->own[1], &c, 1) != 1) return -EPIPE;
        uint64_t t1 = real_now();
        if (read(e->own[0], &c, 1) != 1) return -EPIPE;
        uint64_t t2 = real_now();
        /* until guest and host have settled: hosts learn how long to poll before they halt */
        if (i < trips / 2) continue;
        e->write[e->n] = (double)(t1 - t0);
        e->trip[e->n++] = (double)(t2 - t0);
    }
    return 0;
}

/* Trips between this CPU and `cpu` over what stands open in e; it is closed. */
static int echo(struct echo *e, cpu_id cpu, uint64_t think_ns, uint32_t trips)
{
    double lo, hi;
    e->n = 0;
    pid_t child = probe_child(cpu, false, answer, e);
    close_end(e->peer);
    int rc = child < 0 ? (int)child : exchange(e, think_ns, WB_MIN(trips, (uint32_t)WB_ARRAY_SIZE(e->trip)));
    close_end(e->own);
    if (child > 0) probe_reap(child);
    if (rc) return rc;
    probe_median(e->write, e->n, &e->write_ns, &lo, &hi);
    probe_median(e->trip, e->n, &e->trip_ns, &lo, &hi);
    return 0;
}

static int pipe_echo(struct echo *e, cpu_id cpu, uint64_t think_ns, uint32_t trips)
{
    int to[2], back[2];
    if (pipe(to)) return -errno;
    if (pipe(back)) {
        int rc = -errno;
        close_end(to);
        return rc;
    }
    e->own[0] = back[0];
    e->own[1] = to[1];
    e->peer[0] = to[0];
    e->peer[1] = back[1];
    return echo(e, cpu, think_ns, trips);
}

int probe_local_echo(struct probe_run *r)
{
    static struct echo e;
    int rc = pipe_echo(&e, r->cpu, 0, 512);
    if (!rc) probe_put(r, "local_trip", PROBE_NS, e.trip_ns);
    return rc;
}

/* The same over sockets, on one CPU. */
int probe_socket_echo(struct probe_run *r)
{
    static struct echo e;
    static const struct {
        const char *name;
        int family, type;
    } kind[] = {
        {"unix_trip", AF_UNIX, SOCK_STREAM}, {"udp_trip", AF_INET, SOCK_DGRAM}, {"tcp_trip", AF_INET, SOCK_STREAM}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(kind); i++) {
        int fd[2], rc;
        if (kind[i].family == AF_UNIX)
            rc = socketpair(AF_UNIX, SOCK_STREAM, 0, fd) ? -errno : 0;
        else
            rc = probe_inet_pair(kind[i].type, fd);
        if (rc) return rc;
        e.own[0] = e.own[1] = fd[1];
        e.peer[0] = e.peer[1] = fd[0];
        if ((rc = echo(&e, r->cpu, 0, 250)) < 0) return rc;
        probe_put(r, kind[i].name, PROBE_NS, e.trip_ns);
    }
    return 0;
}

static const struct {
    const char *name;
    uint64_t think_ns;
    uint32_t trips;
} idle_times[] = {{"0", 0, 3000}, {"20us", 20000, 1500}, {"200us", 200000, 300}, {"2ms", 2000000, 40}};

int probe_far_echo(struct probe_run *r)
{
    static struct echo e;
    char name[PROBE_NAME];
    for (size_t i = 0; i < WB_ARRAY_SIZE(idle_times); i++) {
        int rc = pipe_echo(&e, r->other[r->far], idle_times[i].think_ns, idle_times[i].trips);
        if (rc) return rc;
        snprintf(name, sizeof name, "far_trip_%s", idle_times[i].name);
        probe_put(r, name, PROBE_NS, e.trip_ns);
        for (uint32_t k = 0; k < e.n; k++) probe_put_spread(r, name, e.trip[k]);
        snprintf(name, sizeof name, "far_write_%s", idle_times[i].name);
        probe_put(r, name, PROBE_NS, e.write_ns);
    }
    return 0;
}

static void spin_for_ever(void *arg)
{
    (void)arg;
    for (;;) real_spin(100000);
}

/* Both CPUs are kept awake by tasks of SCHED_IDLE: what is left is interrupt and switch. */
int probe_awake_echo(struct probe_run *r)
{
    static struct echo e;
    pid_t pid[2];
    pid[0] = probe_child(r->cpu, true, spin_for_ever, NULL);
    pid[1] = probe_child(r->other[r->far], true, spin_for_ever, NULL);
    int rc = pid[0] < 0 ? (int)pid[0] : pid[1] < 0 ? (int)pid[1] : pipe_echo(&e, r->other[r->far], 0, 2000);
    for (int i = 0; i < 2; i++)
        if (pid[i] > 0) probe_reap(pid[i]);
    if (rc) return rc;
    probe_put(r, "awake_trip", PROBE_NS, e.trip_ns);
    probe_put(r, "awake_write", PROBE_NS, e.write_ns);
    return 0;
}
