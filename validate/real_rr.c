/*
 * real_rr.c - ping-pong and request/response: one message to and fro over a pipe pair, an AF_UNIX stream, loopback
 * TCP or UDP.
 *
 * pipe_latency does what lmbench's lat_pipe (src/lat_pipe.c) and `perf bench sched pipe`
 * (tools/perf/bench/sched-pipe.c) describe: two pipes, the timed parent writes then reads, the child reads then
 * writes, after one trip that shows that both have started. tcp_rr and udp_rr do what netperf's TCP_RR and UDP_RR
 * (src/nettest_omni.c) describe: one request outstanding, the transaction is over when the whole response is there;
 * Nagle's algorithm stays on unless nodelay is set; UDP sockets are not connected, both sides name the address with
 * each datagram, as netperf does unless told -n and -N. unix_rr is the same over a socket pair.
 *
 * The answering side writes the number of its CPU into the first bytes of the response, which costs nothing and tells
 * the timed side whether both were on one CPU.
 */
#include "real_inner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One side's view: what it reads from and writes to. */
struct wire {
    int in, out;
    enum { BY_FILE, BY_STREAM, BY_DATAGRAM } how; /* read and write; recv and send; recvfrom and sendto */
    struct sockaddr_in peer;                      /* of datagrams: the other side */
};

struct pair {
    struct wire
        side[2]; /* timed, answering; in of side[1] is a listening socket until the answering side has accepted */
    bool accepts;
};

static int make_pipes(const struct real_spec *s, struct pair *p)
{
    int there[2], back[2];
    if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC)) return -errno;
    if (s->pipe_size &&
        (fcntl(there[1], F_SETPIPE_SZ, (int)s->pipe_size) < 0 || fcntl(back[1], F_SETPIPE_SZ, (int)s->pipe_size) < 0))
        return -errno;
    p->side[0] = (struct wire){.in = back[0], .out = there[1]};
    p->side[1] = (struct wire){.in = there[0], .out = back[1]};
    return 0;
}

static int make_unix(const struct real_spec *s, struct pair *p)
{
    int fd[2];
    (void)s;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)) return -errno;
    for (int i = 0; i < 2; i++) p->side[i] = (struct wire){.in = fd[i], .out = fd[i]};
    return 0;
}

/* A socket on 127.0.0.1 with a port of the kernel's choice. */
static int local_socket(int type, struct sockaddr_in *at)
{
    socklen_t n = sizeof *at;
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)at, sizeof *at) || getsockname(fd, (struct sockaddr *)at, &n))
        return -errno;
    return fd;
}

static int make_udp(const struct real_spec *s, struct pair *p)
{
    struct sockaddr_in at[2];
    int fd[2];
    (void)s;
    for (int i = 0; i < 2; i++)
        if ((fd[i] = local_socket(SOCK_DGRAM, &at[i])) < 0) return fd[i];
    for (int i = 0; i < 2; i++)
        p->side[i] = (struct wire){.in = fd[i], .out = fd[i], .peer = at[!i], .how = BY_DATAGRAM};
    return 0;
}

static int set_nodelay(const struct real_spec *s, int fd)
{
    int one = 1;
    return s->nodelay && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) ? -errno : 0;
}

/* The timed side connects; the answering side accepts once it lives. */
static int make_tcp(const struct real_spec *s, struct pair *p)
{
    struct sockaddr_in at;
    int listener = local_socket(SOCK_STREAM, &at);
    if (listener < 0) return listener;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || listen(listener, 1) || connect(fd, (struct sockaddr *)&at, sizeof at)) return -errno;
    p->side[0] = (struct wire){.in = fd, .out = fd, .how = BY_STREAM};
    p->side[1] = (struct wire){.in = listener, .out = listener, .how = BY_STREAM};
    p->accepts = true;
    return set_nodelay(s, fd);
}

/* Each kind calls what its counterpart calls: lmbench reads and writes, netperf sends and receives. */
static ssize_t send_some(const struct wire *w, const char *buf, size_t n)
{
    if (w->how == BY_FILE) return write(w->out, buf, n);
    if (w->how == BY_STREAM) return send(w->out, buf, n, 0);
    return sendto(w->out, buf, n, 0, (const struct sockaddr *)&w->peer, sizeof w->peer);
}

static ssize_t receive_some(struct wire *w, char *buf, size_t n)
{
    socklen_t len = sizeof w->peer;
    if (w->how == BY_FILE) return read(w->in, buf, n);
    if (w->how == BY_STREAM) return recv(w->in, buf, n, 0);
    return recvfrom(w->in, buf, n, 0, (struct sockaddr *)&w->peer, &len);
}

static bool send_all(const struct wire *w, const char *buf, size_t n)
{
    while (n) {
        ssize_t got = send_some(w, buf, n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        buf += got;
        n -= (size_t)got;
    }
    return true;
}

static bool receive_all(struct wire *w, char *buf, size_t n)
{
    while (n) {
        ssize_t got = receive_some(w, buf, n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || (w->how == BY_DATAGRAM && (size_t)got != n)) return false;
        buf += got;
        n -= (size_t)got;
    }
    return true;
}

struct sizes {
    size_t there, back, buf;
};

static struct sizes sizes_of(const struct real_spec *s)
{
    struct sizes z = {s->message, s->message, 0};
    if (s->kind != REAL_PIPE_LATENCY) z = (struct sizes){s->request, s->response, 0};
    z.buf = WB_MAX(z.there, z.back);
    return z;
}

static void close_side(const struct real_spec *s, const struct wire *w)
{
    if (s->threads) return; /* one table of descriptors for both */
    close(w->in);
    if (w->out != w->in) close(w->out);
}

static void answer(struct real_board *b, struct real_task *t, void *arg)
{
    struct pair *p = arg;
    const struct real_spec *s = &b->spec;
    struct sizes z = sizes_of(s);
    struct wb_stream draws = wb_stream_make(s->seed, 0, t->hand_out, WB_PURPOSE('t', 'h', 'n', 'k'));
    struct wire *w = &p->side[1];
    char *buf = task_buffer(z.buf, 0);
    close_side(s, &p->side[0]);
    if (!buf) task_fail(b, t, ENOMEM, "buffer");
    if (p->accepts) {
        int fd = accept4(w->in, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 || set_nodelay(s, fd)) task_fail(b, t, errno, "accept on 127.0.0.1");
        close(w->in);
        w->in = w->out = fd;
    }
    bool thinks = s->think.a > 0;
    task_ready(b, t);
    for (uint64_t i = 0; receive_all(w, buf, z.there); i++) {
        if (thinks && i) real_work(b, wb_dist_draw(&s->think, &draws));
        int cpu = sched_getcpu();
        buf[0] = (char)cpu;
        if (z.back > 1) buf[1] = (char)(cpu >> 8);
        if (!send_all(w, buf, z.back)) break;
    }
}

static bool same_cpu(const char *buf, size_t n)
{
    int cpu = sched_getcpu();
    return (unsigned char)buf[0] == (cpu & 0xff) && (n < 2 || (unsigned char)buf[1] == (cpu >> 8 & 0xff));
}

static bool exchange(struct wire *w, char *buf, const struct sizes *z)
{
    return send_all(w, buf, z->there) && receive_all(w, buf, z->back);
}

/* The timed loop of one copy. */
static void measure(struct real_board *b, struct real_task *t, struct wire *w, char *buf)
{
    const struct real_spec *s = &b->spec;
    struct sizes z = sizes_of(s);
    struct wb_stream draws = wb_stream_make(s->seed, 0, t->hand_out, WB_PURPOSE('t', 'h', 'n', 'k'));
    struct meter_run r;
    bool thinks = s->think.a > 0, more = true;
    uint64_t left = s->duration_ns ? UINT64_MAX : s->count_each;
    if (!exchange(w, buf, &z)) task_fail(b, t, errno, "first exchange");
    board_meter(b, t->meter)->knows_together = true;
    meter_start(&r, board_meter(b, t->meter), b);
    while (more && left--) {
        if (thinks) real_work(b, wb_dist_draw(&s->think, &draws));
        if (!exchange(w, buf, &z)) task_fail(b, t, errno, "exchange");
        uint64_t now = real_now();
        more = meter_count(&r, now, 1, same_cpu(buf, z.back), (now - r.last) * 1000);
    }
    meter_finish(&r);
}

static int make_pair(const struct real_spec *s, struct pair *p)
{
    static int (*const make[REAL_KINDS])(const struct real_spec *, struct pair *) = {[REAL_PIPE_LATENCY] = make_pipes,
                                                                                     [REAL_TCP_RR] = make_tcp,
                                                                                     [REAL_UDP_RR] = make_udp,
                                                                                     [REAL_UNIX_RR] = make_unix};
    return make[s->kind](s, p);
}

static void ask(struct real_board *b, struct real_task *t, void *arg)
{
    const struct real_spec *s = &b->spec;
    struct real_task *other = t + 1;
    struct pair *p = calloc(1, sizeof *p);
    char *buf = task_buffer(sizes_of(s).buf, 0);
    (void)arg;
    if (!p || !buf) task_fail(b, t, ENOMEM, "buffer");
    int rc = make_pair(s, p);
    if (rc < 0) task_fail(b, t, -rc, "channel");
    rc = s->threads ? task_thread(b, other, answer, p) : (int)task_fork(b, other, answer, p);
    if (rc < 0) task_fail(b, t, -rc, "second end");
    close_side(s, &p->side[1]);
    task_ready(b, t);
    measure(b, t, &p->side[0], buf);
}

static int start(struct real_board *b, uint32_t copy)
{
    pid_t pid = task_fork(b, board_task(b, 2 * copy), ask, NULL);
    if (pid < 0) board_fail(b, -pid, "fork: %s", strerror(-pid));
    return pid < 0 ? pid : 0;
}

const struct real_ops real_ops_pipe = {
    .ends = 2, .role = {"parent", "child"}, .latency_name = "trip_time", .start = start};
const struct real_ops real_ops_tcp = {
    .ends = 2, .role = {"client", "server"}, .latency_name = "transaction_time", .start = start};
const struct real_ops real_ops_udp = {
    .ends = 2, .role = {"client", "server"}, .latency_name = "transaction_time", .start = start};
const struct real_ops real_ops_unix = {
    .ends = 2, .role = {"client", "server"}, .latency_name = "transaction_time", .start = start};
