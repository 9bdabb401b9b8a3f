/* real_task.c - what every task of a real run does at its start and end; see real_inner.h. */
#include "real_inner.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t real_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A chain of multiply and add: no memory, nothing to overlap, so its time scales with the clock alone. */
void real_spin(uint64_t loops)
{
    uint64_t x = loops;
    for (uint64_t i = 0; i < loops; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
}

double real_spin_rate(void)
{
    double best = 0;
    uint64_t loops = 20000;
    for (int i = 0; i < 200; i++) {
        uint64_t t = real_now();
        real_spin(loops);
        t = real_now() - t;
        if (t && (double)loops / (double)t > best) best = (double)loops / (double)t;
    }
    return best;
}

void real_work(const struct real_board *b, int64_t ps)
{
    real_spin((uint64_t)((double)ps * 1e-3 * b->loops_per_ns));
}

void task_raise_files(void)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur == l.rlim_max) return;
    l.rlim_cur = l.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &l);
}

char *task_buffer(size_t n, size_t skew)
{
    char *p = mmap(NULL, n + skew, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    memset(p, 1, n + skew); /* every page is there before the clock runs */
    return p + skew;
}

static void announce(struct real_board *b)
{
    uint64_t one = 1;
    ssize_t n = write(b->event_fd, &one, sizeof one);
    WB_CHECK(n == (ssize_t)sizeof one, "eventfd: %s", strerror(errno));
}

static void wait_word(_Atomic uint32_t *word)
{
    while (!atomic_load_explicit(word, memory_order_acquire)) syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

void task_ready(struct real_board *b, struct real_task *t)
{
    atomic_store(&t->state, REAL_READY);
    announce(b);
    wait_word(&b->go);
}

static _Noreturn void park(struct real_board *b)
{
    for (;;) wait_word(&b->quit);
}

void task_done(struct real_board *b, struct real_task *t)
{
    atomic_store(&t->state, REAL_DONE);
    announce(b);
    park(b);
}

void task_fail(struct real_board *b, struct real_task *t, int error, const char *what)
{
    t->error = error ? error : EIO;
    snprintf(t->why, sizeof t->why, "%s: %s", what, strerror(t->error));
    task_done(b, t);
}

/* The turn of a task in a list of CPUs. */
static uint32_t nth_cpu(const struct real_cpus *set, uint32_t k)
{
    struct wb_cpumask m = {.ncpus = WB_CPUS_MAX, .nwords = WB_ARRAY_SIZE(set->w), .w = (uint64_t *)set->w};
    uint32_t n = wb_mask_count(&m);
    if (!n) return WB_NO_CPU;
    cpu_id c = wb_mask_first(&m);
    for (k %= n; k; k--) c = wb_mask_next(&m, c + 1);
    return c;
}

static bool set_affinity(const struct real_cpus *set)
{
    return syscall(SYS_sched_setaffinity, 0, sizeof set->w, set->w) >= 0;
}

static bool is_empty(const struct real_cpus *set)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(set->w); i++)
        if (set->w[i]) return false;
    return true;
}

void task_confine(const struct real_board *b)
{
    if (!is_empty(&b->spec.allowed)) (void)set_affinity(&b->spec.allowed);
}

/* Which CPUs: its end's own, else its turn of the list, else all that are allowed. */
static bool pin(const struct real_board *b, const struct real_task *t)
{
    const struct real_spec *s = &b->spec;
    const struct real_cpus *list = t->background ? &t->background->cpus : &s->cpus;
    if (!t->background && !is_empty(&s->end_cpus[t->end])) return set_affinity(&s->end_cpus[t->end]);
    uint32_t cpu = nth_cpu(list, t->hand_out);
    if (cpu != WB_NO_CPU) {
        struct real_cpus one = {.w = {0}};
        one.w[cpu / 64] = 1ull << (cpu % 64);
        return set_affinity(&one);
    }
    return set_affinity(is_empty(&s->allowed) ? &b->home
                                              : &s->allowed); /* not what the task that forked it was bound to */
}

bool task_settle(struct real_board *b, struct real_task *t)
{
    static const int policy[] = {
        [REAL_SCHED_OTHER] = SCHED_OTHER, [REAL_SCHED_BATCH] = SCHED_BATCH, [REAL_SCHED_IDLE] = SCHED_IDLE};
    int nice = t->background ? t->background->nice : b->spec.nice;
    enum real_sched sched = t->background ? t->background->sched : b->spec.sched;
    const char *what = "sched_setaffinity";
    bool fine = pin(b, t);
    if (fine && nice) {
        what = "setpriority";
        fine = !setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice);
    }
    if (fine && sched != REAL_SCHED_OTHER) {
        struct sched_param none = {.sched_priority = 0};
        what = "sched_setscheduler";
        fine = !sched_setscheduler(0, policy[sched], &none);
    }
    if (fine) return true;
    t->error = errno;
    snprintf(t->why, sizeof t->why, "%s: %s", what, strerror(errno));
    return false;
}

static void introduce(struct real_task *t)
{
    char comm[16];
    snprintf(comm, sizeof comm, "wb-%.12s", t->role);
    (void)prctl(PR_SET_NAME, comm);
    atomic_store(&t->pid, getpid());
    atomic_store(&t->tid, (int)syscall(SYS_gettid));
}

static _Noreturn void live(struct real_board *b, struct real_task *t, real_body *body, void *arg)
{
    introduce(t);
    if (!task_settle(b, t)) task_done(b, t);
    body(b, t, arg);
    task_done(b, t);
}

pid_t task_fork(struct real_board *b, struct real_task *t, real_body *body, void *arg)
{
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) return -errno;
    if (pid) {
        atomic_store(&t->pid,
                     pid); /* at once: the runner kills by this number, even a task that has not come to life yet */
        return pid;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0); /* it died before the line above */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    live(b, t, body, arg);
}

struct thread_start {
    struct real_board *b;
    struct real_task *t;
    real_body *body;
    void *arg;
};

static void *thread_main(void *arg)
{
    struct thread_start s = *(struct thread_start *)arg;
    free(arg);
    live(s.b, s.t, s.body, s.arg);
}

int task_thread(struct real_board *b, struct real_task *t, real_body *body, void *arg)
{
    pthread_t id;
    struct thread_start *s = malloc(sizeof *s);
    if (!s) return -ENOMEM;
    *s = (struct thread_start){b, t, body, arg};
    int rc = pthread_create(&id, NULL, thread_main, s);
    if (rc)
        free(s);
    else
        pthread_detach(id);
    return -rc;
}

struct real_task *board_task(struct real_board *b, uint32_t i)
{
    size_t at = (sizeof *b + 63) & ~(size_t)63;
    WB_CHECK(i < b->tasks, "task %u of %u", i, b->tasks);
    return (struct real_task *)((char *)b + at) + i;
}

struct real_meter *board_meter(struct real_board *b, uint32_t i)
{
    size_t at = ((sizeof *b + 63) & ~(size_t)63) + b->tasks * sizeof(struct real_task),
           each = (sizeof(struct real_meter) + 63) & ~(size_t)63;
    WB_CHECK(i < b->meters, "meter %u of %u", i, b->meters);
    return (struct real_meter *)((char *)b + at + i * each);
}

void board_leave_out(struct real_board *b, const char *fmt, ...)
{
    char text[160];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (uint32_t i = 0; i < b->left_out_n; i++)
        if (!strcmp(b->left_out[i], text)) return;
    if (b->left_out_n < REAL_LEFT_OUT_MAX) memcpy(b->left_out[b->left_out_n++], text, sizeof text);
}

void board_fail(struct real_board *b, int error, const char *fmt, ...)
{
    if (b->error) return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(b->why, sizeof b->why, fmt, ap);
    va_end(ap);
    b->error = error ? error : EIO;
}
