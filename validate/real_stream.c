/*
 * real_stream.c - pipe_bw: a writer fills a pipe, its parent empties it.
 *
 * What lmbench's bw_pipe (src/bw_pipe.c) describes: the timed process opens the pipe and forks the writer; both touch
 * their buffers once; then the writer writes messages for ever and the reader reads `total` bytes per iteration, in
 * reads of one message. Neither looks at its data, but for the CPU number that the writer leaves in the first bytes
 * of a message, by which the reader knows whether both are on one CPU.
 */
#include "real_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* The clock is read once for this many bytes: below 1 % of the time of small messages. */
#define CLOCK_BYTES 32768u
/* lmbench's reader uses a buffer that starts 128 bytes past a page boundary. */
#define READER_SKEW 128u

static void write_forever(struct real_board *b, struct real_task *t, void *arg)
{
    const int *fd = arg;
    size_t n = b->spec.message;
    char *buf = task_buffer(n, 0);
    if (!buf) task_fail(b, t, ENOMEM, "buffer");
    if (!b->spec.threads) close(fd[0]);
    task_ready(b, t);
    for (;;) {
        buf[0] = (char)sched_getcpu();
        for (size_t done = 0; done < n;) {
            ssize_t got = write(fd[1], buf + done, n - done);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return;
            done += (size_t)got;
        }
    }
}

/* lmbench rounds the total up, to nearly twice when it is no multiple of the message. */
static uint64_t rounded_total(const struct real_spec *s)
{
    if (s->total < s->message) return s->message;
    return s->total % s->message ? s->total + (s->total - s->total % s->message) : s->total;
}

struct reader {
    int fd;
    char *buf;
    size_t message, offset; /* offset: in the message that comes next */
    bool together;
};

/* Read once; keep track of where messages begin. Bytes, or -1. */
static ssize_t read_some(struct reader *r)
{
    ssize_t got;
    while ((got = read(r->fd, r->buf, r->message)) < 0 && errno == EINTR)
        ;
    if (got <= 0) return -1;
    size_t first = r->offset ? r->message - r->offset : 0;
    if (first < (size_t)got) r->together = (unsigned char)r->buf[first] == (sched_getcpu() & 0xff);
    r->offset = (r->offset + (size_t)got) % r->message;
    return got;
}

static void measure(struct real_board *b, struct real_task *t, struct reader *rd)
{
    struct meter_run r;
    uint64_t left = b->spec.duration_ns ? UINT64_MAX : rounded_total(&b->spec);
    bool more = true;
    board_meter(b, t->meter)->knows_together = true;
    meter_start(&r, board_meter(b, t->meter), b);
    while (more && left) {
        uint64_t bytes = 0;
        while (bytes < CLOCK_BYTES && bytes < left) {
            ssize_t got = read_some(rd);
            if (got < 0) task_fail(b, t, errno, "read");
            bytes += (uint64_t)got;
        }
        left -= WB_MIN(bytes, left);
        more = meter_count(&r, real_now(), bytes, rd->together, 0);
    }
    meter_finish(&r);
}

static void read_timed(struct real_board *b, struct real_task *t, void *arg)
{
    static int fd[2];
    const struct real_spec *s = &b->spec;
    (void)arg;
    struct reader rd = {.buf = task_buffer(s->message, READER_SKEW), .message = s->message};
    if (!rd.buf) task_fail(b, t, ENOMEM, "buffer");
    if (pipe2(fd, O_CLOEXEC)) task_fail(b, t, errno, "pipe");
    if (s->pipe_size && fcntl(fd[1], F_SETPIPE_SZ, (int)s->pipe_size) < 0) task_fail(b, t, errno, "pipe size");
    rd.fd = fd[0];
    int rc = s->threads ? task_thread(b, t + 1, write_forever, fd) : (int)task_fork(b, t + 1, write_forever, fd);
    if (rc < 0) task_fail(b, t, -rc, "writer");
    if (!s->threads) close(fd[1]);
    task_ready(b, t);
    measure(b, t, &rd);
}

static int start(struct real_board *b, uint32_t copy)
{
    pid_t pid = task_fork(b, board_task(b, 2 * copy), read_timed, NULL);
    if (pid < 0) board_fail(b, -pid, "fork: %s", strerror(-pid));
    return pid < 0 ? pid : 0;
}

const struct real_ops real_ops_stream = {.ends = 2, .role = {"reader", "writer"}, .start = start};
