/* probe_call.c - system calls, and messages that one task sends to itself: no switch, no wake. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe_inner.h"

#define PIPE_BYTES 65536u /* of a new pipe */

/* The least of some batches, ns a call: what an interrupt hits is not taken. */
#define TIMED(result, n, statement) \
    do { \
        uint64_t timed_best = UINT64_MAX; \
        for (int timed_k = 0; timed_k < 5; timed_k++) { \
            uint64_t timed_t = real_now(); \
            for (int timed_i = 0; timed_i < (n); timed_i++) { \
                statement; \
            } \
            timed_t = real_now() - timed_t; \
            timed_best = WB_MIN(timed_best, timed_t); \
        } \
        (result) = (double)timed_best / (n); \
    } while (0)

int probe_calls(struct probe_run *r)
{
    double ns;
    long sink = 0;
    TIMED(ns, 3000, sink += syscall(SYS_getppid));
    probe_put(r, "getppid", PROBE_NS, ns);
    TIMED(ns, 3000, sink += real_now() > 1);
    probe_put(r, "clock_read", PROBE_NS, ns);
    struct timeval tv = {0, 0};
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    TIMED(ns, 2000, sink += write(null, NULL, 0));
    if (null >= 0) probe_put(r, "call_write", PROBE_NS, ns), close(null);
    TIMED(ns, 2000, sink += select(0, NULL, NULL, NULL, &tv));
    probe_put(r, "call_select", PROBE_NS, ns);
    TIMED(ns, 2000, sink += socket(AF_INET, 77, 0));
    probe_put(r, "call_socket_protocol", PROBE_NS, ns);
    __asm__ volatile("" : : "r"(sink));
    return 0;
}

/* `n` bytes in and out again, ns for both; both ends in this task, which uses one buffer: what is simulated has no
 * other. -errno. */
static int loop(struct probe_run *r, const char *name, const int fd[2], size_t n)
{
    double ns;
    ssize_t rc = 0;
    char *buf = r->arena;
    int count = n > 20000 ? 60 : n > 3000 ? 300 : 800;
    TIMED(ns, count, {
        rc = write(fd[1], buf, n);
        for (size_t got = 0; rc == (ssize_t)n && got < n;) {
            ssize_t k = read(fd[0], buf, n - got);
            if (k <= 0) return -EIO;
            got += (size_t)k;
        }
    });
    if (rc != (ssize_t)n) return rc < 0 ? -errno : -EIO;
    probe_put(r, name, PROBE_NS, ns);
    return 0;
}

int probe_inet_pair(int type, int fd[2])
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof a;
    int l = socket(AF_INET, type, 0), rc = -1;
    fd[0] = -1;
    fd[1] = socket(AF_INET, type, 0);
    if (l >= 0 && fd[1] >= 0 && !bind(l, (struct sockaddr *)&a, sizeof a) &&
        !getsockname(l, (struct sockaddr *)&a, &len)) {
        if (type == SOCK_STREAM)
            rc = !listen(l, 1) && !connect(fd[1], (struct sockaddr *)&a, sizeof a) &&
                         (fd[0] = accept(l, NULL, NULL)) >= 0
                     ? 0
                     : -1;
        else if (!(rc = connect(fd[1], (struct sockaddr *)&a, sizeof a)) &&
                 !(rc = getsockname(fd[1], (struct sockaddr *)&a, &len)))
            rc = connect(l, (struct sockaddr *)&a, sizeof a);
    }
    int e = errno;
    if (type == SOCK_DGRAM && !rc)
        fd[0] = l;
    else if (l >= 0)
        close(l);
    return rc ? -e : 0;
}

static void close_pair(const int fd[2])
{
    for (int i = 0; i < 2; i++)
        if (fd[i] >= 0) close(fd[i]);
}

int probe_loops(struct probe_run *r)
{
    int fd[2], rc = 0;
    if (pipe(fd)) return -errno;
    static const struct {
        const char *name;
        size_t n;
    } size[] = {{"pipe_1", 1}, {"pipe_4k", 4096}, {"pipe_8k", 8192}, {"pipe_12k", 12288}, {"pipe_64k", 65536}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(size) && !rc; i++) rc = loop(r, size[i].name, fd, size[i].n);
    close_pair(fd);
    if (rc) return rc;
    if (!socketpair(AF_UNIX, SOCK_STREAM, 0, fd)) {
        rc = loop(r, "unix_1", fd, 1);
        if (!rc) rc = loop(r, "unix_64k", fd, 65536);
        close_pair(fd);
    }
    if (!rc && !probe_inet_pair(SOCK_DGRAM, fd)) {
        rc = loop(r, "udp_1", fd, 1);
        close_pair(fd);
    }
    if (!rc && !probe_inet_pair(SOCK_STREAM, fd)) {
        rc = loop(r, "tcp_1", fd, 1);
        close_pair(fd);
    }
    return rc;
}

/* One user page written n times by one call, and read again: ns of each call, the least mean of some series. */
static int page_calls(const int fd[2], char *page, int n, double best[2])
{
    struct iovec v[5];
    for (int i = 0; i < n; i++) v[i] = (struct iovec){.iov_base = page, .iov_len = 4096};
    best[0] = best[1] = HUGE_VAL;
    for (int k = 0; k < 9; k++) {
        uint64_t sum[2] = {0, 0};
        for (int i = 0; i < 20; i++) {
            uint64_t t[3] = {real_now()};
            if (writev(fd[1], v, n) != n * 4096) return -EIO;
            t[1] = real_now();
            if (readv(fd[0], v, n) != n * 4096) return -EIO;
            t[2] = real_now();
            for (int j = 0; j < 2; j++) sum[j] += t[j + 1] - t[j];
        }
        for (int j = 0; j < 2; j++) best[j] = fmin(best[j], (double)sum[j] / 20);
    }
    return 0;
}

/* A pipe keeps two free pages (6.18; one before, where the figures come out near nothing): the third page of a call is
 * the first that comes from the allocator. What it costs beyond the fifth: the one more page of three than of two,
 * less the one more of five than of four; all slots and copies are alike. */
int probe_pages(struct probe_run *r)
{
    int fd[2], rc = 0;
    double ns[6][2];
    if (pipe2(fd, O_NONBLOCK)) return -errno;
    for (int n = 2; n <= 5 && !rc; n++) rc = page_calls(fd, r->arena, n, ns[n]);
    close_pair(fd);
    if (rc) return rc;
    static const char *const name[] = {"page_first_get", "page_first_put"};
    for (int j = 0; j < 2; j++) probe_put(r, name[j], PROBE_NS, fmax(ns[3][j] - ns[2][j] - (ns[5][j] - ns[4][j]), 0));
    return 0;
}

/* All of an empty pipe filled by writes of n bytes, and emptied again by reads; ns of the whole, the least of some. */
static int fill_and_drain(struct probe_run *r, const int fd[2], size_t n)
{
    uint64_t best[2] = {UINT64_MAX, UINT64_MAX};
    char name[32];
    for (int k = 0; k < 9; k++) {
        uint64_t t[3];
        t[0] = real_now();
        for (size_t at = 0; at < PIPE_BYTES; at += n)
            if (write(fd[1], r->arena, n) != (ssize_t)n) return -EIO;
        t[1] = real_now();
        for (size_t at = 0; at < PIPE_BYTES; at += n)
            if (read(fd[0], r->arena, n) != (ssize_t)n) return -EIO;
        t[2] = real_now();
        for (int i = 0; i < 2; i++) best[i] = WB_MIN(best[i], t[i + 1] - t[i]);
    }
    snprintf(name, sizeof name, "fill_%zu", n);
    probe_put(r, name, PROBE_NS, (double)best[0]);
    snprintf(name, sizeof name, "drain_%zu", n);
    probe_put(r, name, PROBE_NS, (double)best[1]);
    return 0;
}

/* What the two sides of a pipe cost apart from each other. */
int probe_sides(struct probe_run *r)
{
    int fd[2];
    if (pipe2(fd, O_NONBLOCK)) return -errno; /* a smaller pipe, as users over their limit get it, is an error */
    int rc = fill_and_drain(r, fd, 512);
    if (!rc) rc = fill_and_drain(r, fd, 4096);
    close_pair(fd);
    return rc;
}

/* ------------------------------------------------------------------ birth and end of a process */
/* A child that ends at once, on our CPU. What the buffers of the probes would cost is kept out of it by
 * MADV_DONTFORK: a workload's tasks do not have them. The end runs from the child's last instruction until the parent
 * has reaped it, so a wakeup and a switch are in it. When the child runs before fork() is back, the fork is not told.
 * 0 or -errno. */
static int one_life(_Atomic uint64_t *last, double *fork_ns, double *end_ns)
{
    atomic_store(last, 0);
    uint64_t begin = real_now();
    pid_t pid = fork();
    if (!pid) {
        atomic_store(last, real_now());
        _exit(0);
    }
    uint64_t back = real_now();
    if (pid < 0) return -errno;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    uint64_t reaped = real_now(), ended = atomic_load(last);
    *fork_ns = ended > back ? (double)(back - begin) : NAN;
    *end_ns = ended && ended < reaped ? (double)(reaped - ended) : NAN;
    return 0;
}

int probe_life(struct probe_run *r)
{
    enum { LIVES = 5 };
    double born[LIVES], ended[LIVES], median, lo, hi;
    uint32_t n[2] = {0, 0};
    int rc = 0;
    _Atomic uint64_t *last = mmap(NULL, sizeof *last, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (last == MAP_FAILED) return -errno;
    (void)madvise(r->arena, r->bytes, MADV_DONTFORK);
    if (r->big_bytes) (void)madvise(r->big, 2 * r->big_bytes, MADV_DONTFORK);
    for (int i = 0; i < LIVES && !rc; i++) {
        double b = NAN, e = NAN;
        rc = one_life(last, &b, &e);
        if (isfinite(b)) born[n[0]++] = b;
        if (isfinite(e)) ended[n[1]++] = e;
    }
    (void)madvise(r->arena, r->bytes, MADV_DOFORK);
    if (r->big_bytes) (void)madvise(r->big, 2 * r->big_bytes, MADV_DOFORK);
    munmap((void *)last, sizeof *last);
    probe_median(born, n[0], &median, &lo, &hi);
    probe_put(r, "fork_call", PROBE_NS, median);
    probe_median(ended, n[1], &median, &lo, &hi);
    probe_put(r, "child_end", PROBE_NS, median);
    return rc;
}
