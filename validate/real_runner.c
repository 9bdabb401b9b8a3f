/*
 * real_runner.c - the process between caller and tasks: starts them, takes counts at the beginning and the end, sees
 * failures, and leaves nobody behind; see real_inner.h.
 *
 * It sleeps while the tasks run: the clock times are on the board before `go`, and it wakes only to take counts. It
 * is the leader of a process group of its own (Ctrl-C goes to the caller, who decides), and the subreaper of
 * everything below.
 */
#include "real_inner.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct runner {
    struct real_board *b;
    const struct real_ops *ops;
    int signal_fd;
    uint64_t events; /* tasks that were announced ready or done */
    uint32_t first;  /* tasks that are counted here begin at it; hackbench counts its own */
    pid_t main;      /* hackbench's main program; 0 */
    bool failed;
};

static const struct real_ops *const ops_table[REAL_KINDS] = {
    [REAL_PIPE_BW] = &real_ops_stream,  [REAL_PIPE_LATENCY] = &real_ops_pipe, [REAL_TCP_RR] = &real_ops_tcp,
    [REAL_UDP_RR] = &real_ops_udp,      [REAL_UNIX_RR] = &real_ops_unix,      [REAL_HACKBENCH] = &real_ops_hackbench,
    [REAL_SYSCALL] = &real_ops_syscall, [REAL_HOG] = &real_ops_hog,           [REAL_PERIODIC] = &real_ops_periodic,
};

const struct real_ops *real_ops_of(enum real_kind kind)
{
    return ops_table[kind];
}

static bool proc_has_migrations(void)
{
    struct real_counts c;
    counts_read_proc("/proc", getpid(), getpid(), &c);
    return c.have & REAL_HAVE_MIGRATIONS;
}

bool runner_wants_perf(const struct real_board *b)
{
    enum real_counters how = b->spec.counters;
    return how == REAL_COUNT_PERF || (how == REAL_COUNT_AUTO && !proc_has_migrations());
}

static void fail(struct runner *r, int error, const char *why)
{
    board_fail(r->b, error, "%s", why);
    r->failed = true;
}

/* A process is gone: its number may belong to somebody else now. */
static void forget(struct runner *r, pid_t pid)
{
    for (uint32_t i = r->first; i < r->b->tasks; i++)
        if (board_task(r->b, i)->pid == pid) atomic_store(&board_task(r->b, i)->pid, 0);
    if (r->main == pid) r->main = 0;
}

/* Some process below died. No task ends by itself before the runner's end, but for hackbench's main program. */
static void reap_dead(struct runner *r)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        forget(r, pid);
        if (!WIFSIGNALED(status)) continue;
        board_fail(r->b, ECHILD, "task %d was killed by signal %d (%s)", (int)pid, WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
        r->failed = true;
    }
}

static void take_signal(struct runner *r)
{
    struct signalfd_siginfo info;
    if (read(r->signal_fd, &info, sizeof info) != (ssize_t)sizeof info) return;
    if (info.ssi_signo == SIGCHLD)
        reap_dead(r);
    else
        fail(r, EINTR, "interrupted");
}

/* What a task could not do, if any. */
static bool all_fine(struct runner *r)
{
    for (uint32_t i = r->first; i < r->b->tasks && !r->failed; i++) {
        const struct real_task *t = board_task(r->b, i);
        if (!t->error) continue;
        board_fail(r->b, t->error, "%s %u: %s", t->role, t->copy == REAL_ROLE_BACKGROUND ? t->hand_out : t->copy,
                   t->why);
        r->failed = true;
    }
    return !r->failed;
}

/* Sleep until `until` (CLOCK_MONOTONIC ns), or until `events` announcements have come. false when something went
 * wrong. */
static bool wait_for(struct runner *r, uint64_t until, uint64_t events)
{
    struct pollfd p[2] = {{.fd = r->signal_fd, .events = POLLIN}, {.fd = r->b->event_fd, .events = POLLIN}};
    while (!r->failed && r->events < events) {
        uint64_t now = real_now(), left = until > now ? until - now : 0;
        if (!left) return events == UINT64_MAX;
        struct timespec t = {.tv_sec = (time_t)WB_MIN(left / 1000000000u, 1000000u),
                             .tv_nsec = (long)(left % 1000000000u)};
        if (ppoll(p, 2, &t, NULL) < 0 && errno != EINTR) return false;
        uint64_t n;
        if (p[0].revents) take_signal(r);
        if (p[1].revents && read(r->b->event_fd, &n, sizeof n) == (ssize_t)sizeof n) {
            r->events += n;
            all_fine(r);
        }
        p[0].revents = p[1].revents = 0;
    }
    return !r->failed;
}

static void open_perf(struct runner *r)
{
    struct real_board *b = r->b;
    for (uint32_t i = 0; i < b->tasks; i++) {
        struct real_task *t = board_task(b, i);
        int error = 0, n = counts_open_perf(t->tid, false, t->perf_fd, &error);
        if (n < 2)
            board_leave_out(b, "migrations: perf events are refused (%s)", strerror(error));
        else
            b->perf_used = 1;
    }
}

static void snapshot(struct runner *r, bool end)
{
    for (uint32_t i = r->first; i < r->b->tasks; i++) {
        struct real_task *t = board_task(r->b, i);
        struct real_counts *c = end ? &t->end_counts : &t->begin;
        counts_read_proc("/proc", t->pid, t->tid, c);
        counts_read_perf(t->perf_fd, c);
        *(end ? &t->end_ns : &t->begin_ns) = real_now();
    }
}

static void release(struct real_board *b)
{
    const struct real_spec *s = &b->spec;
    uint64_t now = real_now();
    b->begin_at = s->duration_ns ? now + s->warmup_ns : 0;
    b->stop_at = s->duration_ns ? b->begin_at + s->duration_ns : UINT64_MAX;
    atomic_store_explicit(&b->go, 1, memory_order_release);
    syscall(SYS_futex, &b->go, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* From `go` to the last timed task. */
static void measure(struct runner *r)
{
    struct real_board *b = r->b;
    bool counts = b->spec.counters != REAL_COUNT_NONE, by_time = b->spec.duration_ns > 0;
    if (counts && !by_time) snapshot(r, false);
    release(b);
    if (by_time && !wait_for(r, b->begin_at, UINT64_MAX)) return;
    if (counts && by_time) snapshot(r, false);
    if (!wait_for(r, UINT64_MAX, b->tasks + b->meters)) return;
    if (counts) snapshot(r, true);
}

static int start_background(struct runner *r, uint32_t i)
{
    struct real_task *t = board_task(r->b, i);
    return real_ops_of(t->background->kind)->start(r->b, i);
}

static void run_timed(struct runner *r)
{
    struct real_board *b = r->b;
    for (uint32_t i = b->own; i < b->tasks; i++)
        if (start_background(r, i) < 0) return;
    for (uint32_t k = 0; k < b->own / r->ops->ends; k++)
        if (r->ops->start(b, k) < 0) return;
    if (!wait_for(r, UINT64_MAX, b->tasks)) return;
    if (runner_wants_perf(b)) open_perf(r);
    measure(r);
}

/* hackbench: its main program is a process of its own, so that this one stays awake to signals. */
static void run_whole(struct runner *r)
{
    struct real_board *b = r->b;
    uint32_t background = b->tasks - b->own;
    for (uint32_t i = b->own; i < b->tasks; i++)
        if (start_background(r, i) < 0) return;
    if (!wait_for(r, UINT64_MAX, background)) return;
    atomic_store(&b->go, 1);
    syscall(SYS_futex, &b->go, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    if (background && !wait_for(r, real_now() + b->spec.warmup_ns, UINT64_MAX)) return;
    if (b->spec.counters != REAL_COUNT_NONE) snapshot(r, false);
    pid_t parent = getpid();
    r->main = fork();
    if (!r->main) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) (void)r->ops->whole(b);
        uint64_t one = 1;
        (void)!write(b->event_fd, &one, sizeof one);
        _exit(0);
    }
    if (r->main < 0)
        fail(r, errno, "fork");
    else
        wait_for(r, UINT64_MAX, background + 1);
    if (b->spec.counters != REAL_COUNT_NONE) snapshot(r, true);
}

/* Kill and reap whatever is below. What has not been reaped still owns its number; a task that another task forked
 * dies with it and comes to this process to be reaped. */
static void clean_up(struct runner *r)
{
    struct real_board *b = r->b;
    (void)signal(SIGTERM, SIG_IGN);
    if (r->main > 0) kill(r->main, SIGKILL);
    for (uint32_t i = r->first; i < b->tasks; i++) {
        pid_t pid = board_task(b, i)->pid;
        if (pid > 0) kill(pid, SIGKILL);
    }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
    struct rusage self, below;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &below);
    struct timeval sum[4] = {self.ru_utime, self.ru_stime, below.ru_utime, below.ru_stime};
    for (int i = 0; i < 4; i++) b->cpu_ns += (uint64_t)sum[i].tv_sec * 1000000000u + (uint64_t)sum[i].tv_usec * 1000u;
}

static void set_up(struct runner *r)
{
    sigset_t watched;
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)prctl(PR_SET_NAME, "wb-runner");
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGCHLD, SIG_DFL);
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    sigprocmask(SIG_SETMASK, &watched, NULL);
    r->signal_fd = signalfd(-1, &watched, SFD_CLOEXEC);
    r->b->event_fd = eventfd(0, EFD_CLOEXEC);
    if (r->signal_fd < 0 || r->b->event_fd < 0) fail(r, errno, "signalfd or eventfd");
}

static bool needs_work(const struct real_board *b, const struct real_ops *ops)
{
    return ops->needs_work || b->spec.think.a > 0 || b->tasks > b->own;
}

void runner_main(struct real_board *b)
{
    struct runner r = {.b = b, .ops = real_ops_of(b->spec.kind)};
    if (r.ops->whole) r.first = b->own;
    set_up(&r);
    task_raise_files();
    if (needs_work(b, r.ops)) b->loops_per_ns = real_spin_rate();
    if (!r.failed && r.ops->whole)
        run_whole(&r);
    else if (!r.failed)
        run_timed(&r);
    clean_up(&r);
    _exit(0);
}
