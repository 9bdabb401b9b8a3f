/*
 * guest_kernel.c - the kernel image of the guest: a file, or one of Debian's, downloaded and unpacked in the work
 * folder. Nothing is installed.
 *
 * Debian names its newest kernel of a series by a package that only depends on it: linux-image-6.12-cloud-amd64, and
 * linux-image-cloud-amd64 for the release's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest_lab.h"

/* ---- programs ---- */

bool guest_has_tool(const char *name)
{
    const char *path = getenv("PATH");
    char *copy = strdup(path ? path : "/usr/bin:/bin"), *rest = copy, *dir, file[512];
    bool found = false;
    while (!found && rest && (dir = strsep(&rest, ":")) != NULL) {
        (void)snprintf(file, sizeof file, "%s/%s", dir, name);
        found = !access(file, X_OK);
    }
    free(copy);
    return found;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What is in the pipe; false at its end. */
static bool drain(int fd, char **text, size_t *n)
{
    char buf[4096];
    ssize_t got = read(fd, buf, sizeof buf);
    if (got <= 0) return false;
    char *more = realloc(*text, *n + (size_t)got + 1);
    if (!more) return false;
    memcpy(more + *n, buf, (size_t)got);
    *n += (size_t)got;
    more[*n] = 0;
    *text = more;
    return true;
}

/* Until it ends or its time is over; its output meanwhile. */
static int wait_for(pid_t pid, int fd, uint32_t limit_s, char **out)
{
    double end = seconds_now() + limit_s;
    size_t n = 0;
    int status = 0;
    bool open = fd >= 0;
    for (;;) {
        pid_t got = waitpid(pid, &status, open ? WNOHANG : limit_s ? WNOHANG : 0);
        if (got == pid) break;
        if (limit_s && seconds_now() > end) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -2;
        }
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (open && poll(&p, 1, 100) > 0) open = drain(fd, out, &n);
        if (!open) poll(NULL, 0, 100);
    }
    while (open) open = drain(fd, out, &n);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int guest_spawn(const char *const *argv, const char *dir, uint32_t limit_s, char **out)
{
    int fd[2] = {-1, -1};
    pid_t pid;
    posix_spawn_file_actions_t act;
    if (out) *out = calloc(1, 1);
    if (out && (!*out || pipe2(fd, O_CLOEXEC))) return -1;
    posix_spawn_file_actions_init(&act);
    if (dir) posix_spawn_file_actions_addchdir_np(&act, dir);
    posix_spawn_file_actions_addopen(&act, 0, "/dev/null", O_RDONLY, 0);
    if (out) posix_spawn_file_actions_adddup2(&act, fd[1], 1);
    if (out) posix_spawn_file_actions_addopen(&act, 2, "/dev/null", O_WRONLY, 0);
    int err = posix_spawnp(&pid, argv[0], &act, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&act);
    if (fd[1] >= 0) close(fd[1]);
    int rc = err ? -1 : wait_for(pid, fd[0], limit_s, out);
    if (fd[0] >= 0) close(fd[0]);
    return rc;
}

/* ---- packages ---- */

static void complain(struct wb_diag *d, const char *fix, const char *fmt, const char *what)
{
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){0}, fix, fmt, what);
}

/* What the series' package depends on: the last word of the line that says so. */
static char *newest(const char *series)
{
    char meta[128], *text = NULL, *name = NULL;
    (void)snprintf(meta, sizeof meta, "linux-image-%s%scloud-amd64", series, *series ? "-" : "");
    const char *const argv[] = {"apt-cache", "depends", meta, NULL};
    int rc = guest_spawn(argv, NULL, 60, &text);
    const char *at = rc == 0 && text ? strstr(text, "Depends: linux-image-") : NULL;
    if (at) {
        at += strlen("Depends: ");
        name = strndup(at, strcspn(at, " \n"));
    }
    free(text);
    return name;
}

/* "linux-image-6.1.0-57-cloud-amd64" is of series 6.1. */
static bool of_series(const char *package, const char *series)
{
    size_t n = strlen(series);
    const char *at = package + strlen("linux-image-");
    return !strncmp(at, series, n) && (at[n] == '.' || at[n] == '-');
}

static char *find_package(const char *series)
{
    char *name = newest(series);
    if (name) return name;
    name = newest("");
    if (name && of_series(name, series)) return name;
    free(name);
    return NULL;
}

static char *first_match(const char *pattern)
{
    glob_t g;
    char *found = NULL;
    if (!glob(pattern, 0, NULL, &g) && g.gl_pathc) found = strdup(g.gl_pathv[0]);
    globfree(&g);
    return found;
}

static char *image_in(const char *work, const char *package)
{
    char pattern[512];
    (void)snprintf(pattern, sizeof pattern, "%s/%s/boot/vmlinuz-*", work, package);
    return first_match(pattern);
}

static char *fetch(const char *work, const char *package, struct wb_diag *d)
{
    char pattern[512], folder[512];
    const char *const get[] = {"apt-get", "-q", "download", package, NULL};
    char *said = NULL;
    if (guest_spawn(get, work, 600, &said))
        complain(d, "is there a network, and a Debian mirror?", "apt-get cannot download %s", package);
    free(said);
    (void)snprintf(pattern, sizeof pattern, "%s/%s_*.deb", work, package);
    (void)snprintf(folder, sizeof folder, "%s/%s", work, package);
    char *deb = first_match(pattern);
    if (!deb) return NULL;
    const char *const unpack[] = {"dpkg-deb", "-x", deb, folder, NULL};
    if (guest_spawn(unpack, NULL, 300, NULL)) complain(d, NULL, "dpkg-deb cannot unpack %s", deb);
    (void)unlink(deb);
    free(deb);
    return image_in(work, package);
}

/* One of the series that was unpacked before, for when apt does not answer: no network, or a busy machine. */
static char *kept_image(const char *work, const char *series)
{
    char pattern[512];
    (void)snprintf(pattern, sizeof pattern, "%s/linux-image-%s[.-]*/boot/vmlinuz-*", work, series);
    return first_match(pattern);
}

char *guest_kernel(const struct guest_options *o, struct wb_diag *d, enum guest_outcome *outcome)
{
    struct stat st;
    *outcome = GUEST_INVALID;
    if (strchr(o->kernel, '/')) {
        if (!stat(o->kernel, &st) && S_ISREG(st.st_mode)) return strdup(o->kernel);
        complain(d, NULL, "there is no kernel image %s", o->kernel);
        return NULL;
    }
    *outcome = GUEST_NO_TOOL;
    if (!guest_has_tool("apt-cache") || !guest_has_tool("dpkg-deb")) {
        complain(d, "give the path of an image: --kernel ./vmlinuz", "no apt here to download Linux %s with",
                 o->kernel);
        return NULL;
    }
    char *package = find_package(o->kernel), *kept = package ? NULL : kept_image(o->work, o->kernel);
    if (kept) {
        *outcome = GUEST_FINE;
        return kept;
    }
    if (!package) {
        complain(
            d,
            "apt-get update; series of Debian 12: 6.1, and 6.12 from bookworm-backports or updates; or the path of "
            "an image",
            "Debian has no cloud kernel %s that apt knows of", o->kernel);
        return NULL;
    }
    char *image = image_in(o->work, package);
    if (!image) image = fetch(o->work, package, d);
    if (!image) complain(d, NULL, "no kernel image in package %s", package);
    free(package);
    return image;
}
