/* probe_wake.c - two processes pass a byte to and fro, with work between the trips so that the partner's CPU idles for
 * a known time. */
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe_inner.h"

#define TRIPS_MAX 4096
#define FEWER_SLEEPS 0.2 /* for each trip, of an ordinary pair than of a batched one; for their difference to tell */
#define HOPS_LEAST 10u   /* in a round, for its quantiles to mean something */

/* How bytes go: each kind by the calls that the workload of its name uses. */
enum how { BY_FILE, BY_STREAM, BY_DATAGRAM };

/* Context switches of one task: it went to sleep; it was preempted. */
struct switches {
    uint64_t sleeps, preempted;
};

/* What the partner writes for the waker: when it woke up and when it answered, to be read once the answer is there; its
 * switches at the first trip that counts and after the last. */
struct stamps {
    uint64_t woke, sent;
    struct switches begin, end;
};

struct echo {
    int own[2], peer[2]; /* what the waker reads and writes, what the partner does; the same number for a socket */
    enum how how;
    struct sockaddr_in to_peer, to_own; /* BY_DATAGRAM */
    int policy;                         /* of the partner */
    struct stamps *stamps;              /* shared; NULL = not wanted */
    bool stamped;                       /* each way is timed */
    uint32_t trips;                     /* the second half of them counts */
    double write_ns, trip_ns;           /* medians */
    double each_ns;                     /* time for each trip, all in all: with what the program does in between */
    double sleeps, switches;            /* of both, for each trip; without stamps NAN */
    uint32_t n;
    double write[TRIPS_MAX], trip[TRIPS_MAX], there[TRIPS_MAX], back[TRIPS_MAX];
};

static void close_end(const int fd[2])
{
    close(fd[0]);
    if (fd[1] != fd[0]) close(fd[1]);
}

static ssize_t put_byte(enum how how, int fd, const struct sockaddr_in *to)
{
    char c = 0;
    if (how == BY_FILE) return write(fd, &c, 1);
    if (how == BY_STREAM) return send(fd, &c, 1, 0);
    return sendto(fd, &c, 1, 0, (const struct sockaddr *)to, sizeof *to);
}

static ssize_t take_byte(enum how how, int fd)
{
    char c;
    struct sockaddr_in from;
    socklen_t n = sizeof from;
    if (how == BY_FILE) return read(fd, &c, 1);
    if (how == BY_STREAM) return recv(fd, &c, 1, 0);
    return recvfrom(fd, &c, 1, 0, (struct sockaddr *)&from, &n);
}

/* Switches of the caller so far. The kernel counts them anyway; a perf event would count the same and make each
 * switch a microsecond dearer. */
static struct switches switches_now(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_THREAD, &u)) return (struct switches){0};
    return (struct switches){(uint64_t)u.ru_nvcsw, (uint64_t)u.ru_nivcsw};
}

/* The partner: answers until end of file. */
static void answer(void *arg)
{
    struct echo *e = arg;
    close_end(e->own);
    for (uint32_t i = 1; take_byte(e->how, e->peer[0]) == 1; i++) {
        if (e->stamped) e->stamps->woke = real_now();
        if (e->stamps && i == e->trips / 2) e->stamps->begin = switches_now();
        if (e->stamps && i == e->trips) e->stamps->end = switches_now();
        if (e->stamped) e->stamps->sent = real_now();
        if (put_byte(e->how, e->peer[1], &e->to_own) != 1) break;
    }
}

static void take_trip(struct echo *e, uint64_t t0, uint64_t t1, uint64_t t2)
{
    e->write[e->n] = (double)(t1 - t0);
    e->trip[e->n] = (double)(t2 - t0);
    if (e->stamped) {
        e->there[e->n] = (double)e->stamps->woke - (double)t0;
        e->back[e->n] = (double)t2 - (double)e->stamps->sent;
    }
    e->n++;
}

/* Both tasks' switches for each trip, the waker's between `from` and now. The partner's two readings are as many trips
 * apart. */
static void count_switches(struct echo *e, struct switches from)
{
    e->sleeps = e->switches = NAN;
    if (!e->stamps || !e->n) return;
    struct switches to = switches_now();
    const struct switches *b = &e->stamps->begin, *a = &e->stamps->end;
    uint64_t sleeps = to.sleeps - from.sleeps + a->sleeps - b->sleeps;
    e->sleeps = (double)sleeps / e->n;
    e->switches = (double)(sleeps + to.preempted - from.preempted + a->preempted - b->preempted) / e->n;
}

static int exchange(struct echo *e, uint64_t think_ns)
{
    uint64_t begin = 0;
    struct switches from = {0};
    for (uint32_t i = 0; i < e->trips; i++) {
        if (i == e->trips / 2) from = switches_now(), begin = real_now();
        uint64_t until = real_now() + think_ns, t0 = real_now();
        while (t0 < until) t0 = real_now();
        if (put_byte(e->how, e->own[1], &e->to_peer) != 1) return -EPIPE;
        uint64_t t1 = real_now();
        if (take_byte(e->how, e->own[0]) != 1) return -EPIPE;
        uint64_t t2 = real_now();
        /* until guest and host have settled: hosts learn how long to poll before they halt */
        if (i >= e->trips / 2) take_trip(e, t0, t1, t2);
    }
    if (e->n) e->each_ns = (double)(real_now() - begin) / e->n;
    count_switches(e, from);
    return 0;
}

/* Trips between this CPU and `cpu` over what stands open in e; it is closed. */
static int echo(struct echo *e, cpu_id cpu, uint64_t think_ns, uint32_t trips)
{
    static double v[TRIPS_MAX];
    double lo, hi;
    e->n = 0;
    e->trips = WB_MIN(trips, (uint32_t)TRIPS_MAX) & ~1u;
    pid_t child = probe_child(cpu, e->policy, answer, e);
    close_end(e->peer);
    int rc = child < 0 ? (int)child : exchange(e, think_ns);
    close_end(e->own);
    if (child > 0) probe_reap(child);
    if (rc) return rc;
    memcpy(v, e->write, e->n * sizeof *v);
    probe_median(v, e->n, &e->write_ns, &lo, &hi);
    memcpy(v, e->trip, e->n * sizeof *v);
    probe_median(v, e->n, &e->trip_ns, &lo, &hi);
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

/* On one CPU. Between tasks of SCHED_BATCH nobody preempts: a write wakes its reader and goes on, and each trip is two
 * wakeups, two sleeps and two switches. Between ordinary tasks the wakee mostly preempts its waker, which then finds
 * the answer there: one wakeup and one sleep less. How many sleeps there were is counted (2.00 and 1.15 on one
 * machine), so the difference tells what one costs. On one CPU a trip is counted as the workloads count it: elapsed
 * time over trips, reading the clock and noting included. */
static int batched(struct echo *e, struct probe_run *r, int open_and_echo(struct echo *e, struct probe_run *r))
{
    struct sched_param param = {0};
    int own = sched_getscheduler(0);
    if (own < 0 || sched_setscheduler(0, SCHED_BATCH, &param)) return -errno;
    e->policy = SCHED_BATCH;
    int rc = open_and_echo(e, r);
    (void)sched_setscheduler(0, own, &param);
    return rc;
}

static int local_pipe(struct echo *e, struct probe_run *r)
{
    return pipe_echo(e, r->cpu, 0, 512);
}

static struct stamps *shared_stamps(void)
{
    void *m = mmap(NULL, sizeof(struct stamps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return m == MAP_FAILED ? NULL : m;
}

int probe_local_echo(struct probe_run *r)
{
    static struct echo e;
    if (!e.stamps) e.stamps = shared_stamps(); /* without them nothing is counted */
    int rc = batched(&e, r, local_pipe);
    if (rc) return rc;
    double trip = e.each_ns, sleeps = e.sleeps;
    probe_put(r, "local_sleeps", PROBE_COUNT, e.sleeps);
    probe_put(r, "local_switches", PROBE_COUNT, e.switches);
    probe_put(r, "local_write", PROBE_NS, e.write_ns);
    probe_put(r, "local_trip", PROBE_NS, e.each_ns);
    e.policy = SCHED_OTHER;
    if ((rc = local_pipe(&e, r)) < 0) return rc;
    probe_put(r, "pair_trip", PROBE_NS, e.each_ns);
    probe_put(r, "pair_sleeps", PROBE_COUNT, e.sleeps);
    probe_put(r, "pair_switches", PROBE_COUNT, e.switches);
    /* Both in one round, so that what drifts is in both. */
    if (sleeps - e.sleeps >= FEWER_SLEEPS)
        probe_put(r, "sleep_wake", PROBE_DIFFERENCE, (trip - e.each_ns) / (sleeps - e.sleeps));
    return 0;
}

/* Two bound sockets that are not connected; -errno. */
static int datagram_pair(struct echo *e, int fd[2])
{
    struct sockaddr_in *at[2] = {&e->to_peer, &e->to_own};
    for (int i = 0; i < 2; i++) {
        socklen_t n = sizeof **at;
        *at[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        fd[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd[i] >= 0 && !bind(fd[i], (struct sockaddr *)at[i], n) &&
            !getsockname(fd[i], (struct sockaddr *)at[i], &n))
            continue;
        int rc = errno ? -errno : -EIO;
        for (int k = 0; k <= i; k++)
            if (fd[k] >= 0) close(fd[k]);
        return rc;
    }
    return 0;
}

static int local_socket(struct echo *e, struct probe_run *r)
{
    int fd[2] = {-1, -1}, rc;
    if (e->how == BY_FILE)
        rc = socketpair(AF_UNIX, SOCK_STREAM, 0, fd) ? -errno : 0;
    else
        rc = e->how == BY_STREAM ? probe_inet_pair(SOCK_STREAM, fd) : datagram_pair(e, fd);
    if (rc) return rc;
    e->own[0] = e->own[1] = fd[1];
    e->peer[0] = e->peer[1] = fd[0];
    return echo(e, r->cpu, 0, 250);
}

/* The same over sockets. */
int probe_socket_echo(struct probe_run *r)
{
    static struct echo e;
    static const struct {
        const char *name;
        enum how how;
    } kind[] = {{"unix_trip", BY_FILE}, {"udp_trip", BY_DATAGRAM}, {"tcp_trip", BY_STREAM}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(kind); i++) {
        e.how = kind[i].how;
        int rc = batched(&e, r, local_socket);
        if (rc) return rc;
        probe_put(r, kind[i].name, PROBE_NS, e.each_ns);
    }
    return 0;
}

static const struct {
    const char *name;
    uint64_t think_ns;
    uint32_t trips;
} idle_times[] = {{"0", 0, 3000}, {"20us", 20000, 1500}, {"200us", 200000, 300}, {"2ms", 2000000, 40}};

/* One way: the partner has slept for the waker's think time; the waker itself always as long as a trip takes, so its
 * way back is of the same kind as the partner's only without thinking. */
static void put_hops(struct probe_run *r, const struct echo *e, const char *think, bool both)
{
    static double v[2 * TRIPS_MAX];
    char name[PROBE_NAME];
    double sum = 0, lo, hi, median;
    uint32_t n = e->n;
    memcpy(v, e->there, n * sizeof *v);
    if (both) memcpy(v + n, e->back, n * sizeof *v), n *= 2;
    if (n < HOPS_LEAST) return;
    probe_median(v, n, &median, &lo, &hi); /* sorts */
    for (uint32_t k = 0; k < PROBE_CELLS; k++) {
        double at = (sum + probe_cell_weight[k] / 2.0) / 100 * (double)(n - 1);
        uint32_t i = (uint32_t)at;
        sum += probe_cell_weight[k];
        snprintf(name, sizeof name, "far_hop_%s_q%02u", think, k);
        probe_put(r, name, PROBE_NS, v[i] + (v[WB_MIN(i + 1, n - 1)] - v[i]) * (at - i));
    }
}

int probe_far_echo(struct probe_run *r)
{
    static struct echo e;
    char name[PROBE_NAME];
    if (!e.stamps && !(e.stamps = shared_stamps())) return -ENOMEM;
    e.stamped = true;
    for (size_t i = 0; i < WB_ARRAY_SIZE(idle_times); i++) {
        int rc = pipe_echo(&e, r->other[r->far], idle_times[i].think_ns, idle_times[i].trips);
        if (rc) return rc;
        snprintf(name, sizeof name, "far_trip_%s", idle_times[i].name);
        probe_put(r, name, PROBE_NS, e.trip_ns);
        for (uint32_t k = 0; k < e.n; k++) probe_put_spread(r, name, e.trip[k]);
        put_hops(r, &e, idle_times[i].name, i == 0);
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
    pid[0] = probe_child(r->cpu, SCHED_IDLE, spin_for_ever, NULL);
    pid[1] = probe_child(r->other[r->far], SCHED_IDLE, spin_for_ever, NULL);
    int rc = pid[0] < 0 ? (int)pid[0] : pid[1] < 0 ? (int)pid[1] : pipe_echo(&e, r->other[r->far], 0, 2000);
    for (int i = 0; i < 2; i++)
        if (pid[i] > 0) probe_reap(pid[i]);
    if (rc) return rc;
    probe_put(r, "awake_trip", PROBE_NS, e.trip_ns);
    probe_put(r, "awake_write", PROBE_NS, e.write_ns);
    return 0;
}
