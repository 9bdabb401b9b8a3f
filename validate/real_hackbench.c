/*
 * real_hackbench.c - hackbench: groups of senders and receivers, every sender writes to every receiver of its group.
 *
 * The scheme is that of hackbench (rt-tests src/hackbench/hackbench.c) and of `perf bench sched messaging`
 * (tools/perf/bench/sched-messaging.c): a group has `fds` senders and as many receivers, each receiver behind one
 * AF_UNIX stream pair or pipe; a sender sends `loops` times one message to each receiver in turn; a receiver reads
 * fds * loops whole messages. Every task reports that it is ready, then polls a common pipe for the start. The clock
 * runs from the byte that starts them until the last task has been reaped, so exits count, as they do there.
 *
 * Each task adds its own switches and migrations to the board before it exits, from files that it opened before the
 * clock ran: 25 us per task (measured: 80 tasks, 1.9 ms more), 0.5 % of a run of 0.4 s.
 */
#include "real_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench {
    struct real_board *b;
    int ready[2], wake[2];
    int perf[2];
    int *in, *out; /* a group's channels: receivers' ends, senders' ends */
    pthread_t *thread;
    uint32_t n; /* tasks so far */
};

/* One sender or receiver. In thread mode both lists belong to its group and stay until the end. */
struct worker {
    const struct bench *h;
    struct real_task *t;
    int *out; /* sender */
    int in;   /* receiver */
    bool sender;
};

static bool move(int fd, char *buf, size_t n, bool writes)
{
    while (n) {
        ssize_t got = writes ? write(fd, buf, n) : read(fd, buf, n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        buf += got;
        n -= (size_t)got;
    }
    return true;
}

static void report_ready(const struct bench *h)
{
    struct pollfd p = {.fd = h->wake[0], .events = POLLIN};
    char c = '*';
    if (write(h->ready[1], &c, 1) != 1) return;
    while (poll(&p, 1, -1) < 0 && errno == EINTR)
        ;
}

static bool send_messages(const struct worker *w, char *buf)
{
    const struct real_spec *s = &w->h->b->spec;
    for (uint64_t i = 0; i < s->loops; i++)
        for (uint32_t k = 0; k < s->fds; k++)
            if (!move(w->out[k], buf, s->message, true)) return false;
    return true;
}

static bool receive_messages(const struct worker *w, char *buf)
{
    const struct real_spec *s = &w->h->b->spec;
    for (uint64_t i = 0; i < s->loops * s->fds; i++)
        if (!move(w->in, buf, s->message, false)) return false;
    return true;
}

/* A life: settle, be ready, move messages, tell the counts. */
static void work(const struct worker *w)
{
    struct real_task *t = w->t;
    struct counts_self self = {-1, -1};
    bool counts = w->h->b->spec.counters != REAL_COUNT_NONE;
    char *buf = calloc(1, w->h->b->spec.message);
    (void)prctl(PR_SET_NAME, w->sender ? "wb-sender" : "wb-receiver");
    t->pid = getpid();
    t->tid = (int)syscall(SYS_gettid);
    bool settled = buf && task_settle(w->h->b, t);
    if (!buf) t->error = ENOMEM;
    if (counts) counts_open_self(&self);
    if (counts) counts_read_self(&self, &t->begin);
    report_ready(w->h);
    if (settled && !(w->sender ? send_messages(w, buf) : receive_messages(w, buf))) {
        t->error = errno ? errno : EPIPE;
        snprintf(t->why, sizeof t->why, "%s: %s", w->sender ? "write" : "read", strerror(t->error));
    }
    if (counts) counts_read_self(&self, &t->end_counts);
    counts_close_self(&self);
    atomic_store(&t->state, REAL_DONE);
    free(buf);
}

static void *thread_main(void *arg)
{
    struct worker w = *(struct worker *)arg;
    free(arg);
    work(&w);
    return NULL;
}

static int start_thread(struct bench *h, const struct worker *w)
{
    struct worker *own = malloc(sizeof *own);
    if (!own) return -ENOMEM;
    *own = *w;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    int rc = pthread_create(&h->thread[h->n], &attr, thread_main, own);
    pthread_attr_destroy(&attr);
    if (rc) free(own);
    return -rc;
}

static int start_process(struct bench *h, const struct worker *w)
{
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) return -errno;
    if (pid) return 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    /* A receiver must not keep the senders' ends open, nor a sender the receivers'. */
    const int *foreign = w->sender ? h->in : h->out;
    for (uint32_t k = 0; k < h->b->spec.fds; k++)
        if (foreign[k] >= 0) close(foreign[k]);
    work(w);
    _exit(w->t->error ? 1 : 0);
}

static int start_worker(struct bench *h, struct worker *w)
{
    w->h = h;
    w->t = board_task(h->b, h->n);
    snprintf(w->t->role, sizeof w->t->role, "%s", w->sender ? "sender" : "receiver");
    w->t->hand_out = h->n;
    w->t->end = w->sender ? 0 : 1;
    int rc = h->b->spec.threads ? start_thread(h, w) : start_process(h, w);
    if (rc < 0)
        board_fail(h->b, -rc, "task %u of %u: %s", h->n + 1, h->b->own, strerror(-rc));
    else
        h->n++;
    return rc;
}

static int make_channel(const struct bench *h, int *in, int *out)
{
    int fd[2];
    int rc = h->b->spec.pipe ? pipe2(fd, O_CLOEXEC) : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd);
    if (rc) return -errno;
    *in = fd[0];
    *out = fd[1];
    return 0;
}

/* Receivers first, each behind its channel; then the senders, who know all channels. */
static int start_group(struct bench *h)
{
    const struct real_spec *s = &h->b->spec;
    int rc = 0;
    if (s->threads || !h->in) { /* thread mode: every group keeps its lists */
        h->in = malloc(s->fds * sizeof *h->in);
        h->out = malloc(s->fds * sizeof *h->out);
    }
    if (!h->in || !h->out) return -ENOMEM;
    for (uint32_t k = 0; k < s->fds; k++) h->in[k] = h->out[k] = -1;
    for (uint32_t k = 0; k < s->fds; k++) {
        if ((rc = make_channel(h, &h->in[k], &h->out[k])) < 0) {
            board_fail(h->b, -rc, "channel: %s", strerror(-rc));
            return rc;
        }
        struct worker w = {.in = h->in[k]};
        if ((rc = start_worker(h, &w)) < 0) return rc;
        if (s->threads) continue;
        close(h->in[k]);
        h->in[k] = -1;
    }
    for (uint32_t k = 0; k < s->fds; k++) {
        struct worker w = {.sender = true, .out = h->out};
        if ((rc = start_worker(h, &w)) < 0) return rc;
    }
    for (uint32_t k = 0; k < s->fds && !s->threads; k++) close(h->out[k]);
    return 0;
}

/* The first that went wrong, on the board; the others would wait for it. */
static int worker_error(struct bench *h)
{
    for (uint32_t i = 0; i < h->n; i++) {
        const struct real_task *t = board_task(h->b, i);
        if (t->error) {
            board_fail(h->b, t->error, "%s: %s", t->role, t->why[0] ? t->why : strerror(t->error));
            return -t->error;
        }
    }
    return 0;
}

static int wait_ready(struct bench *h)
{
    char c;
    for (uint32_t i = 0; i < h->n; i++)
        if (read(h->ready[0], &c, 1) != 1) return -EPIPE;
    return worker_error(h);
}

static int reap(struct bench *h)
{
    for (uint32_t i = 0; i < h->n; i++) {
        int status = 0;
        if (h->b->spec.threads)
            pthread_join(h->thread[i], NULL);
        else if (waitpid(-1, &status, 0) < 0)
            return -errno;
        if (WIFSIGNALED(status)) board_fail(h->b, ECHILD, "a task was killed by signal %d", WTERMSIG(status));
        if (status) return worker_error(h) ? worker_error(h) : -ECHILD;
    }
    return worker_error(h);
}

static void sum_counts(struct bench *h, double seconds)
{
    struct real_counts perf = {0};
    for (uint32_t i = 0; i < h->n; i++) {
        struct real_task *t = board_task(h->b, i);
        struct real_counts own = counts_since(&t->begin, &t->end_counts);
        counts_add(&h->b->hackbench_counts, &own, i == 0);
    }
    counts_read_perf(h->perf, &perf);
    if (perf.have & REAL_HAVE_MIGRATIONS) {
        h->b->hackbench_counts.migrations = perf.migrations;
        h->b->hackbench_counts.have |= REAL_HAVE_MIGRATIONS;
    }
    if (!(h->b->hackbench_counts.have & REAL_HAVE_SWITCHES)) {
        h->b->hackbench_counts.voluntary = perf.voluntary;
        h->b->hackbench_counts.have |= perf.have & REAL_HAVE_SWITCHES;
    }
    h->b->hackbench_count_s = seconds;
}

static int run(struct bench *h)
{
    int rc = 0;
    for (uint32_t g = 0; g < h->b->spec.groups && !rc; g++) rc = start_group(h);
    if (rc || (rc = wait_ready(h))) return rc;
    uint64_t t = real_now();
    if (write(h->wake[1], "*", 1) != 1) return -errno;
    if ((rc = reap(h)) < 0) return rc;
    h->b->hackbench_s = (double)(real_now() - t) * 1e-9;
    sum_counts(h, h->b->hackbench_s);
    return 0;
}

static int prepare(struct bench *h)
{
    int error = 0;
    task_raise_files();
    task_confine(h->b); /* the main program is where its tasks may be: who wakes them from where shapes the run */
    if (pipe2(h->ready, O_CLOEXEC) || pipe2(h->wake, O_CLOEXEC)) return -errno;
    h->thread = calloc(h->b->own, sizeof *h->thread);
    if (!h->thread) return -ENOMEM;
    if (runner_wants_perf(h->b) && !counts_open_perf(0, true, h->perf, &error))
        board_leave_out(h->b, "migrations: perf events are refused (%s)", strerror(error));
    h->b->perf_used = h->perf[1] >= 0;
    return 0;
}

static int whole(struct real_board *b)
{
    struct bench h = {.b = b, .perf = {-1, -1}};
    int rc = prepare(&h);
    if (!rc) rc = run(&h);
    if (rc < 0) board_fail(b, -rc, "hackbench: %s", strerror(-rc));
    counts_close_perf(h.perf);
    return rc;
}

const struct real_ops real_ops_hackbench = {.ends = 2, .role = {"sender", "receiver"}, .whole = whole};
