/*
 * guest_load.c - pairs over pipes, one-way streams, groups, a fan of wakees, hogs, sleepers, TCP, tasks of all classes,
 * forks, tasks that change their affinity. See guest_load.h.
 */
#include "guest_load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MANY 64

static void nap(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void compute(long long ns)
{
    for (long long end = now_ns() + ns; now_ns() < end;) {
    }
}

/* A child with a name of its own; true in the child. */
static bool child(const char *name, int number, pid_t *pid)
{
    char comm[32]; /* the kernel keeps 15 */
    pid_t p = fork();
    if (pid) *pid = p;
    if (p) return false;
    snprintf(comm, sizeof comm, "%s%d", name, number);
    prctl(PR_SET_NAME, comm);
    return true;
}

/* All n bytes, or the process ends: its peer has gone. */
static void get(int fd, char *buf, size_t n)
{
    while (n) {
        ssize_t r = read(fd, buf, n);
        if (r <= 0) _exit(1);
        n -= (size_t)r;
    }
}
static void put(int fd, const char *buf, size_t n)
{
    while (n) {
        ssize_t r = write(fd, buf, n);
        if (r <= 0) _exit(1);
        n -= (size_t)r;
    }
}

static void reap(void)
{
    while (wait(NULL) > 0 || errno == EINTR) {
    }
}

/* ---- kinds ---- */

static void answer(int in, int out, long loops)
{
    char token;
    for (; loops > 0; loops--) {
        get(in, &token, 1);
        put(out, &token, 1);
    }
    _exit(0);
}

static void ask(int out, int in, long loops)
{
    char token = 0;
    for (; loops > 0; loops--) {
        put(out, &token, 1);
        get(in, &token, 1);
    }
    _exit(0);
}

/* The guest's init configures no network: loopback is brought up by the first that wants it. */
static void raise_loopback(void)
{
    struct ifreq r = {0};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0) return;
    strcpy(r.ifr_name, "lo");
    r.ifr_flags = IFF_UP | IFF_RUNNING;
    (void)ioctl(fd, SIOCSIFFLAGS, &r);
    close(fd);
}

/* Both ends of one TCP connection over loopback; false when there is no network. */
static bool connect_pair(int end[2])
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int door = socket(AF_INET, SOCK_STREAM, 0);
    end[0] = socket(AF_INET, SOCK_STREAM, 0);
    end[1] = -1;
    if (door >= 0 && end[0] >= 0 && !bind(door, (struct sockaddr *)&a, size) && !listen(door, 1) &&
        !getsockname(door, (struct sockaddr *)&a, &size) && !connect(end[0], (struct sockaddr *)&a, size))
        end[1] = accept(door, NULL, NULL);
    close(door);
    return end[1] >= 0;
}

/* Request and response of one byte over TCP, which wakes from the softirq of the sender. */
static void run_tcp(const long *a)
{
    raise_loopback();
    for (int i = 0; i < a[0]; i++) {
        int end[2];
        if (!connect_pair(end)) break;
        if (child("server", i, NULL)) answer(end[1], end[1], a[1]);
        if (child("client", i, NULL)) ask(end[0], end[0], a[1]);
        close(end[0]);
        close(end[1]);
    }
}

static void one_pair(int number, long loops)
{
    int to[2], back[2];
    if (pipe(to) || pipe(back)) return;
    if (child("pong", number, NULL)) answer(to[0], back[1], loops);
    if (child("ping", number, NULL)) ask(to[1], back[0], loops);
    close(to[0]);
    close(to[1]);
    close(back[0]);
    close(back[1]);
}

static void run_pipe(const long *a)
{
    for (int i = 0; i < a[0]; i++) one_pair(i, a[1]);
}

static void run_stream(const long *a)
{
    size_t bytes = a[2] > 0 ? (size_t)a[2] : 65536;
    char *buf = calloc(1, bytes);
    for (int i = 0; buf && i < a[0]; i++) {
        int fd[2];
        if (pipe(fd)) break;
        if (child("reader", i, NULL)) {
            for (long n = 0; n < a[1]; n++) get(fd[0], buf, bytes);
            _exit(0);
        }
        if (child("writer", i, NULL)) {
            for (long n = 0; n < a[1]; n++) put(fd[1], buf, bytes);
            _exit(0);
        }
        close(fd[0]);
        close(fd[1]);
    }
    free(buf);
}

/* Every sender writes to every receiver of its group; all wait for the end of file on `go`. */
static void one_group(int group, int ends, long loops, const int go[2])
{
    int fd[MANY][2];
    char msg[100] = {0};
    for (int i = 0; i < ends; i++)
        if (pipe(fd[i])) return;
    for (int i = 0; i < ends; i++) {
        if (!child("recv", group * ends + i, NULL)) continue;
        close(go[1]);
        for (long n = 0; n < loops * ends; n++) get(fd[i][0], msg, sizeof msg);
        _exit(0);
    }
    for (int i = 0; i < ends; i++) {
        if (!child("send", group * ends + i, NULL)) continue;
        close(go[1]);
        if (read(go[0], msg, 1) < 0) _exit(1);
        for (long n = 0; n < loops; n++)
            for (int k = 0; k < ends; k++) put(fd[k][1], msg, sizeof msg);
        _exit(0);
    }
    for (int i = 0; i < ends; i++) {
        close(fd[i][0]);
        close(fd[i][1]);
    }
}

static void run_hack(const long *a)
{
    int go[2], ends = a[1] < MANY ? (int)a[1] : MANY;
    if (pipe(go)) return;
    for (int g = 0; g < a[0]; g++) one_group(g, ends, a[2], go);
    close(go[0]);
    nap(20);
    close(go[1]);
}

/* One waker wakes all, then waits for the answer of each. */
static void run_fan(const long *a)
{
    int in[MANY][2], out[2], n = a[0] < MANY ? (int)a[0] : MANY;
    char token = 0;
    if (pipe(out)) return;
    for (int i = 0; i < n; i++) {
        if (pipe(in[i])) return;
        if (child("wakee", i, NULL)) answer(in[i][0], out[1], a[1]);
    }
    if (!child("waker", 0, NULL)) return;
    for (long k = 0; k < a[1]; k++) {
        for (int i = 0; i < n; i++) put(in[i][1], &token, 1);
        for (int i = 0; i < n; i++) get(out[0], &token, 1);
    }
    _exit(0);
}

static int start_hogs(long n, long ms, pid_t *pid)
{
    int k = 0;
    for (; k < n && k < MANY; k++) {
        if (!child("hog", k, &pid[k])) continue;
        compute(ms * 1000000ll);
        _exit(0);
    }
    return k;
}

static void run_hog(const long *a)
{
    pid_t pid[MANY];
    (void)start_hogs(a[0], a[1], pid);
}

static void run_mixed(const long *a)
{
    pid_t pid[MANY];
    int hogs = start_hogs(a[0], 60000, pid);
    nap(200);
    one_pair(0, a[1]);
    wait(NULL);
    wait(NULL);
    for (int i = 0; i < hogs; i++) kill(pid[i], SIGKILL);
}

/* Everything at once: hogs that end by themselves, TCP pairs, a group of senders and receivers. */
static void run_brew(const long *a)
{
    const long tcp[2] = {a[1], a[2]}, hack[3] = {1, 3, a[2] / 4};
    pid_t pid[MANY];
    (void)start_hogs(a[0], 3000, pid);
    run_tcp(tcp);
    run_hack(hack);
}

static void run_sleep(const long *a)
{
    for (int i = 0; i < a[0]; i++) {
        if (!child("sleeper", i, NULL)) continue;
        for (long n = 0; n < a[1]; n++) {
            struct timespec t = {0, a[2] * 1000};
            nanosleep(&t, NULL);
            compute(50000);
        }
        _exit(0);
    }
}

/* A pair of a class: 0 nice, 1 batch, 2 idle, 3 real-time for the answering side. */
static void class_pair(int number, long loops)
{
    static const int policy[] = {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO};
    static const int nice_of[] = {-10, 5, 0, 0};
    struct sched_param p = {.sched_priority = number % 4 == 3 ? 10 : 0};
    if (sched_setscheduler(0, policy[number % 4], &p)) return;
    (void)setpriority(PRIO_PROCESS, 0, nice_of[number % 4]);
    one_pair(number, loops);
    p.sched_priority = 0;
    (void)sched_setscheduler(0, SCHED_OTHER, &p);
    (void)setpriority(PRIO_PROCESS, 0, 0);
}

static void run_class(const long *a)
{
    pid_t pid[MANY];
    for (int i = 0; i < a[0]; i++) class_pair(i, a[1]);
    (void)start_hogs(a[2], 500, pid);
}

/* Parents that fork children which compute for a moment and end, one after the other. */
static void run_forks(const long *a)
{
    for (int i = 0; i < a[0]; i++) {
        if (!child("parent", i, NULL)) continue;
        for (int n = 0; n < a[1]; n++) {
            if (child("brief", n, NULL)) {
                compute(a[2] * 1000);
                _exit(0);
            }
            if (n % 2) reap();
        }
        reap();
        _exit(0);
    }
}

/* Binds the caller to one CPU after the other, then to all again. */
static void move_about(int step)
{
    cpu_set_t set;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(&set);
    for (long c = 0; c < cpus; c++)
        if (step % 3 == 2 || c == step % cpus) CPU_SET((size_t)c, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

/* Pairs of which one end changes its affinity every few trips. */
static void run_bind(const long *a)
{
    for (int i = 0; i < a[0]; i++) {
        int to[2], back[2];
        char token = 0;
        if (pipe(to) || pipe(back)) return;
        if (child("pong", i, NULL)) answer(to[0], back[1], a[1]);
        if (child("mover", i, NULL)) {
            for (long n = 0; n < a[1]; n++) {
                if (n % 16 == 0) move_about((int)(n / 16) + i);
                put(to[1], &token, 1);
                get(back[0], &token, 1);
            }
            _exit(0);
        }
        for (int k = 0; k < 2; k++) {
            close(to[k]);
            close(back[k]);
        }
    }
}

static const struct {
    const char *kind;
    void (*run)(const long *arg);
} kinds[] = {
    {"pipe", run_pipe}, {"stream", run_stream}, {"hack", run_hack},   {"fan", run_fan},
    {"hog", run_hog},   {"mixed", run_mixed},   {"sleep", run_sleep}, {"tcp", run_tcp},
    {"brew", run_brew}, {"class", run_class},   {"forks", run_forks}, {"bind", run_bind},
};

int guest_load_run(const char *kind, const long arg[3])
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].kind, kind) != 0) continue;
        kinds[i].run(arg);
        reap();
        return 0;
    }
    return -1;
}
