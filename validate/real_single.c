/*
 * real_single.c - workloads of single tasks: system calls in a loop, CPU hogs, tasks that run and sleep. Hogs and
 * periodic tasks serve as background load too.
 */
#include "real_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* --- syscall
 * ---------------------------------------------------------------------------------------------------------- */

/* Calls between two looks at the clock. */
#define BATCH 64u

/* n calls of one kind. Descriptor 0 is /dev/null. Results do not matter: most of these calls fail, on purpose and
 * cheaply. */
#define LOOP(name, call) \
    static void name(uint32_t n) \
    { \
        for (uint32_t i = 0; i < n; i++) { \
            struct timeval tv = {0, 0}; \
            long rc = (long)(call); \
            __asm__ volatile("" : : "r"(rc), "r"(&tv) : "memory"); \
        } \
    }
LOOP(call_write, write(0, NULL, 0))
LOOP(call_write_bad, write(-1, NULL, 0))
LOOP(call_socket, socket(0, 0, 0))
LOOP(call_socket_protocol, socket(AF_INET, 77, 0))
LOOP(call_select, select(0, NULL, NULL, NULL, &tv))
LOOP(call_gettimeofday, gettimeofday(&tv, NULL))
LOOP(call_gettimeofday_trap, syscall(SYS_gettimeofday, &tv, NULL))
LOOP(call_getppid, getppid())

static const struct {
    const char *name, *help;
    void (*loop)(uint32_t n);
} calls[] = {
    {"write", "write of no bytes to /dev/null", call_write},
    {"socket", "socket of family 0: refused at once", call_socket},
    {"select", "select of no descriptors with a zero timeout", call_select},
    {"gettimeofday", "gettimeofday as libc does it (often without entering the kernel)", call_gettimeofday},
    {"getppid", "getppid, as perf bench syscall basic", call_getppid},
    {"gettimeofday_trap", "gettimeofday by system call", call_gettimeofday_trap},
    {"write_bad", "write to descriptor -1", call_write_bad},
    {"socket_protocol", "AF_INET socket of an unknown type", call_socket_protocol},
};

const char *real_call_name(uint32_t i)
{
    return i < WB_ARRAY_SIZE(calls) ? calls[i].name : NULL;
}
const char *real_call_help(uint32_t i)
{
    return i < WB_ARRAY_SIZE(calls) ? calls[i].help : NULL;
}

static void syscall_body(struct real_board *b, struct real_task *t, void *arg)
{
    void (*loop)(uint32_t) = calls[b->spec.call].loop;
    uint64_t left = b->spec.duration_ns ? UINT64_MAX : b->spec.count_each;
    struct meter_run r;
    bool more = true;
    (void)arg;
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0 || (fd != 0 && dup2(fd, 0) < 0)) task_fail(b, t, errno, "/dev/null");
    task_ready(b, t);
    meter_start(&r, board_meter(b, t->meter), b);
    while (more && left) {
        uint32_t n = (uint32_t)WB_MIN(left, BATCH);
        loop(n);
        left -= n;
        uint64_t now = real_now();
        more = meter_count(&r, now, n, false, (now - r.last) * 1000 / n);
    }
    meter_finish(&r);
}

/* --- hog, periodic
 * ------------------------------------------------------------------------------------------------------ */

/* What a hog or periodic task does: the workload's own keys, or those of a background entry. */
struct load {
    struct wb_dist chunk, run, sleep;
    uint64_t period_ns, working_set;
    bool random_pattern, endless;
    char *set;
    uint64_t lines, step;
    struct wb_stream draws;
};

static struct load load_of(const struct real_board *b, const struct real_task *t)
{
    const struct real_spec *s = &b->spec;
    const struct real_background *g = t->background;
    struct load l = {.chunk = s->chunk,
                     .run = s->run,
                     .sleep = s->sleep,
                     .period_ns = s->period_ns,
                     .working_set = s->working_set,
                     .random_pattern = s->random_pattern,
                     .endless = s->duration_ns > 0};
    if (g)
        l = (struct load){.chunk = g->chunk,
                          .run = g->run,
                          .sleep = g->sleep,
                          .period_ns = g->period_ns,
                          .working_set = g->working_set,
                          .random_pattern = g->random_pattern,
                          .endless = true};
    l.draws = wb_stream_make(s->seed, 0, (g ? 1u << 20 : 0) + t->hand_out, WB_PURPOSE('l', 'o', 'a', 'd'));
    return l;
}

/* How far apart lines follow each other: 1, or a step over pages that meets each line once and that no prefetcher
 * follows. */
static uint64_t line_step(const struct load *l)
{
    if (!l->random_pattern || l->lines < 3) return 1;
    uint64_t step = l->lines * 5 / 8 | 1;
    while (wb_gcd(l->lines, step) != 1) step++;
    return step;
}

/* Write to every line of the working set. */
static void run_through(const struct load *l)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < l->lines; i++) {
        l->set[at * 64]++;
        at += l->step;
        if (at >= l->lines) at -= l->lines;
    }
}

static void hog_body(struct real_board *b, struct real_task *t, void *arg)
{
    struct load l = load_of(b, t);
    uint64_t left = l.endless ? UINT64_MAX : b->spec.count_each;
    struct meter_run r;
    bool more = true;
    (void)arg;
    l.lines = l.working_set / 64;
    l.step = line_step(&l);
    if (l.lines && !(l.set = task_buffer(l.working_set, 0))) task_fail(b, t, ENOMEM, "working set");
    task_ready(b, t);
    if (t->meter == UINT32_MAX)
        for (;;) {
            real_work(b, wb_dist_draw(&l.chunk, &l.draws));
            run_through(&l);
        }
    meter_start(&r, board_meter(b, t->meter), b);
    while (more && left--) {
        real_work(b, wb_dist_draw(&l.chunk, &l.draws));
        run_through(&l);
        uint64_t now = real_now();
        more = meter_count(&r, now, 1, false, (now - r.last) * 1000);
    }
    meter_finish(&r);
}

static void sleep_until(uint64_t ns)
{
    struct timespec at = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

static void periodic_body(struct real_board *b, struct real_task *t, void *arg)
{
    struct load l = load_of(b, t);
    uint64_t left = l.endless ? UINT64_MAX : b->spec.count_each;
    struct meter_run r;
    bool more = true, timed = t->meter != UINT32_MAX;
    (void)arg;
    (void)prctl(PR_SET_TIMERSLACK, (unsigned long)b->spec.timer_slack_ns);
    task_ready(b, t);
    if (timed) meter_start(&r, board_meter(b, t->meter), b);
    uint64_t due = real_now();
    while (more && left--) {
        real_work(b, wb_dist_draw(&l.run, &l.draws));
        uint64_t now = real_now();
        if (!l.period_ns)
            due = now + (uint64_t)wb_dist_draw(&l.sleep, &l.draws) / 1000;
        else
            do due += l.period_ns;
            while (due <= now); /* periods that were missed are skipped */
        sleep_until(due);
        now = real_now();
        if (timed) more = meter_count(&r, now, 1, false, (now - due) * 1000 + 1);
    }
    if (timed) meter_finish(&r);
}

/* --- starting
 * ------------------------------------------------------------------------------------------------------------ */

static int start_task(struct real_board *b, struct real_task *t, real_body *body)
{
    pid_t pid = task_fork(b, t, body, NULL);
    if (pid < 0) board_fail(b, -pid, "fork: %s", strerror(-pid));
    return pid < 0 ? pid : 0;
}

static int start_syscall(struct real_board *b, uint32_t copy)
{
    return start_task(b, board_task(b, copy), syscall_body);
}
static int start_hog(struct real_board *b, uint32_t i)
{
    return start_task(b, board_task(b, i), hog_body);
}
static int start_periodic(struct real_board *b, uint32_t i)
{
    return start_task(b, board_task(b, i), periodic_body);
}

const struct real_ops real_ops_syscall = {
    .ends = 1, .role = {"caller"}, .latency_name = "call_time", .start = start_syscall};
const struct real_ops real_ops_hog = {
    .ends = 1, .needs_work = true, .role = {"hog"}, .latency_name = "chunk_time", .start = start_hog};
const struct real_ops real_ops_periodic = {
    .ends = 1, .needs_work = true, .role = {"periodic"}, .latency_name = "lateness", .start = start_periodic};
