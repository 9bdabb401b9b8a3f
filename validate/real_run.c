/* real_run.c - the caller's side of a real run: shared memory, the runner, waiting, giving up; see real.h. */
#include "real_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long the runner gets to clean up before everything is killed. */
#define GRACE_MS 3000
/* Slack of the time limit that is chosen: a loaded machine must not fail a run. */
#define LIMIT_SLACK_S 60u
#define LIMIT_FIXED_S 600u

static uint32_t own_tasks(const struct real_spec *s)
{
    if (s->kind == REAL_HACKBENCH) return s->groups * s->fds * 2;
    return s->copies * real_ops_of(s->kind)->ends;
}

static void init_task(struct real_task *t, const char *role, uint32_t copy)
{
    memcpy(t->role, role, strnlen(role, sizeof t->role - 1));
    t->copy = copy;
    t->meter = UINT32_MAX;
    t->perf_fd[0] = t->perf_fd[1] = -1;
}

/* Who is who. hackbench names its own tasks. */
static void assign_tasks(struct real_board *b)
{
    const struct real_ops *ops = real_ops_of(b->spec.kind);
    for (uint32_t i = 0; i < b->own; i++) {
        struct real_task *t = board_task(b, i);
        uint32_t end = i % ops->ends;
        init_task(t, ops->role[end], i / ops->ends);
        /* Handed out as the models do: writer before reader, parent before child. */
        t->end = b->spec.kind == REAL_PIPE_BW ? !end : end;
        t->hand_out = t->copy * ops->ends + t->end;
        if (b->meters && !end) t->meter = t->copy;
    }
    uint32_t i = b->own;
    for (uint32_t g = 0; g < b->spec.background_n; g++)
        for (uint32_t k = 0; k < b->spec.background[g].count; k++, i++) {
            struct real_task *t = board_task(b, i);
            init_task(t, b->spec.background[g].kind == REAL_HOG ? "hog" : "periodic", REAL_ROLE_BACKGROUND);
            t->background = &b->spec.background[g];
            t->hand_out = k;
        }
}

static struct real_board *make_board(const struct real_spec *s)
{
    uint32_t own = own_tasks(s), meters = s->kind == REAL_HACKBENCH ? 0 : s->copies, tasks = own;
    for (uint32_t g = 0; g < s->background_n; g++) tasks += s->background[g].count;
    size_t bytes =
        sizeof(struct real_board) + 256 + tasks * sizeof(struct real_task) + meters * (sizeof(struct real_meter) + 64);
    struct real_board *b = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b == MAP_FAILED) return NULL;
    b->bytes = bytes;
    b->tasks = tasks;
    b->own = own;
    b->meters = meters;
    b->spec = *s;
    if (syscall(SYS_sched_getaffinity, 0, sizeof b->home.w, b->home.w) < 0) memset(b->home.w, 0xff, sizeof b->home.w);
    assign_tasks(b);
    return b;
}

static uint64_t limit_of(const struct real_spec *s)
{
    if (s->limit_ns) return s->limit_ns;
    uint64_t slack = s->duration_ns ? LIMIT_SLACK_S : LIMIT_FIXED_S;
    return s->warmup_ns + s->duration_ns + slack * 1000000000u;
}

/* Wait for the end of the life pipe: its last writer is gone, so is every process of the run. 0, -ETIMEDOUT, -EINTR. */
static int wait_life(int fd, const struct real_spec *s, uint64_t until)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    sigset_t ends, old;
    int rc = -ETIMEDOUT;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, &old); /* so that a signal between the look at *stop and the poll is not missed */
    for (uint64_t now; (now = real_now()) < until;) {
        if (s->stop && *s->stop) {
            rc = -EINTR;
            break;
        }
        uint64_t left = until - now;
        struct timespec t = {.tv_sec = (time_t)WB_MIN(left / 1000000000u, 1000000u),
                             .tv_nsec = (long)(left % 1000000000u)};
        if (ppoll(&p, 1, &t, &old) > 0) {
            rc = 0;
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

/* Ask the runner to clean up; when it does not, kill all that is in its group. */
static void stop_all(pid_t runner, int life)
{
    struct pollfd p = {.fd = life, .events = POLLIN};
    kill(runner, SIGTERM);
    if (poll(&p, 1, GRACE_MS) > 0) return;
    kill(-runner, SIGKILL);
    (void)poll(&p, 1, GRACE_MS);
}

static pid_t start_runner(struct real_board *b, const int life[2])
{
    pid_t parent = getpid(), pid = fork();
    if (pid) return pid < 0 ? -errno : pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    close(life[0]); /* life[1] stays open in everyone below */
    runner_main(b);
}

static int report(const struct real_board *b, int rc, struct wb_diag *d)
{
    if (rc == -ETIMEDOUT)
        wb_diag_add(d, WB_ERROR, "E910", (struct wb_place){0}, "lessen the work, or raise limit",
                    "real %s: not over in time; it was ended", real_kind_name(b->spec.kind));
    if (rc || !b->error) return rc;
    if (b->error == EINTR) return -EINTR;
    wb_diag_add(d, WB_ERROR, "E911", (struct wb_place){0},
                b->error == EPERM || b->error == EACCES ? "run as root, or without that" : NULL, "real %s: %s",
                real_kind_name(b->spec.kind), b->why);
    return -b->error;
}

static int run_board(struct real_board *b, struct wb_diag *d)
{
    int life[2], status = 0;
    if (pipe2(life, O_CLOEXEC)) return -errno;
    pid_t pid = start_runner(b, life);
    close(life[1]);
    if (pid < 0) {
        close(life[0]);
        wb_diag_add(d, WB_ERROR, "E911", (struct wb_place){0}, NULL, "fork: %s", strerror(-pid));
        return pid;
    }
    (void)setpgid(pid, pid); /* both sides do it: whoever comes first */
    int rc = wait_life(life[0], &b->spec, real_now() + limit_of(&b->spec));
    if (rc) stop_all(pid, life[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(life[0]);
    if (!rc && !b->error && (!WIFEXITED(status) || WEXITSTATUS(status)))
        board_fail(b, ECHILD, "the runner died of signal %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return report(b, rc, d);
}

int real_run(const struct real_spec *s, struct real_result *r, struct wb_diag *d)
{
    memset(r, 0, sizeof *r);
    if (real_spec_check(s, d) < 0) return -1;
    struct real_board *b = make_board(s);
    if (!b) {
        wb_diag_add(d, WB_ERROR, "E911", (struct wb_place){0}, "use fewer copies or groups", "no memory for the run");
        return -ENOMEM;
    }
    int rc = run_board(b, d);
    if (!rc) rc = real_collect(b, r);
    munmap(b, b->bytes);
    return rc;
}
