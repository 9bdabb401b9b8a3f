/* plot_gnuplot.c - gnuplot as a process: no shell in between, its output and its complaints caught. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plot_inner.h"

struct text {
    char *s;
    size_t n;
};

static bool drain(int fd, struct text *t)
{
    char buf[8192];
    ssize_t got = read(fd, buf, sizeof buf);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    t->s = realloc(t->s, t->n + (size_t)got + 1);
    WB_MEMORY(t->s, "out of memory for the output of gnuplot");
    memcpy(t->s + t->n, buf, (size_t)got);
    t->n += (size_t)got;
    t->s[t->n] = 0;
    return true;
}

/* Until both are closed. */
static void drain_both(int out, int err, struct text *to, struct text *te)
{
    struct pollfd p[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    while (p[0].fd >= 0 || p[1].fd >= 0) {
        if (poll(p, 2, -1) < 0 && errno != EINTR) return;
        if (p[0].fd >= 0 && p[0].revents && !drain(out, to)) p[0].fd = -1;
        if (p[1].fd >= 0 && p[1].revents && !drain(err, te)) p[1].fd = -1;
    }
}

static int spawn(const char *folder, const char *script, const int *out, const int *err, pid_t *pid)
{
    posix_spawn_file_actions_t a;
    char *argv[] = {"gnuplot", (char *)script, NULL};
    if (posix_spawn_file_actions_init(&a)) return -1;
    posix_spawn_file_actions_addopen(&a, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&a, out[1], 1);
    posix_spawn_file_actions_adddup2(&a, err[1], 2);
    posix_spawn_file_actions_addchdir_np(&a, folder);
    int rc = posix_spawnp(pid, "gnuplot", &a, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&a);
    return rc;
}

int plot_run_gnuplot(const char *folder, const char *script, char **out_text, char **err_text)
{
    int out[2], err[2], status = 0;
    struct text to = {NULL, 0}, te = {NULL, 0};
    pid_t pid;
    *out_text = *err_text = NULL;
    if (pipe2(out, O_CLOEXEC)) return -1;
    if (pipe2(err, O_CLOEXEC)) {
        close(out[0]);
        close(out[1]);
        return -1;
    }
    int rc = spawn(folder, script, out, err, &pid);
    close(out[1]);
    close(err[1]);
    if (!rc) drain_both(out[0], err[0], &to, &te);
    close(out[0]);
    close(err[0]);
    if (rc) return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    *out_text = to.s;
    *err_text = te.s;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
