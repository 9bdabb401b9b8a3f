/* host_check_tools.c - clock, counters, tracing, limits, programs; see host_check.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host_check_inner.h"
#include "host_file.h"
#include "real_inner.h"

/* A clock read dearer than this distorts what it times. */
#define CLOCK_NS_MAX 100u
/* The default hackbench: 400 tasks, two descriptors each in thread mode. */
#define FILES_WANTED 1024u
#define PROCESSES_WANTED 512u

static uint64_t clock_cost(void)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 50; i++) {
        uint64_t t = real_now();
        for (int k = 0; k < 100; k++) (void)real_now();
        t = (real_now() - t) / 101;
        best = WB_MIN(best, t);
    }
    return best;
}

void host_check_clock(struct host_checker *c)
{
    const char *name = c->report->identity.clock;
    bool slow = !strcmp(name, "hpet") || !strcmp(name, "acpi_pm") || !strcmp(name, "jiffies") ||
                !strcmp(name, "refined-jiffies");
    char cost[48] = "";
    if (!c->root) {
        uint64_t ns = clock_cost();
        slow |= ns > CLOCK_NS_MAX;
        snprintf(cost, sizeof cost, ": a read costs %llu ns", (unsigned long long)ns);
    }
    struct host_finding *f =
        host_add(c, "clock", slow ? HOST_WARN : HOST_OK, "clock source %s%s", name[0] ? name : "not told", cost);
    if (slow)
        host_means(f, "each operation is timed by one read: short ones are lengthened by it",
                   "boot with clocksource=tsc where the TSC is stable");
}

/* Do software events count? Under perf_event_paranoid 2 they open for others than root, exclude the kernel, and stay
 * 0. */
static bool perf_counts_switches(int *error)
{
    int fd[2];
    struct real_counts c = {0};
    struct timespec t = {.tv_nsec = 100000};
    if (!counts_open_perf(0, false, fd, error)) return false;
    for (int i = 0; i < 3; i++) clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
    counts_read_perf(fd, &c);
    counts_close_perf(fd);
    return c.voluntary > 0;
}

void host_check_counters(struct host_checker *c)
{
    int64_t paranoid = -1;
    int error = 0;
    if (c->root) return;
    bool told = host_read_number(NULL, "/proc/sys/kernel/perf_event_paranoid", &paranoid),
         perf = perf_counts_switches(&error);
    char level[24] = "not told";
    if (told) snprintf(level, sizeof level, "%lld", (long long)paranoid);
    struct host_finding *f = host_add(c, "perf", HOST_OK, "software perf events %s (perf_event_paranoid %s)",
                                      perf    ? "count switches and migrations"
                                      : error ? strerror(error)
                                              : "count nothing",
                                      level);
    if (!perf) host_means(f, "counts come from /proc instead", "sysctl kernel.perf_event_paranoid=1");
    struct real_counts own;
    counts_read_proc("/proc", getpid(), getpid(), &own);
    bool migrations = own.have & REAL_HAVE_MIGRATIONS, any = migrations || perf;
    f = host_add(c, "counts", any ? HOST_OK : HOST_WARN, "/proc/PID/sched %s; /proc/PID/schedstat %s",
                 migrations ? "tells migrations" : "tells no migrations",
                 own.have & REAL_HAVE_WAIT ? "tells CPU time and run delay" : "tells nothing");
    if (!any)
        host_means(f, "migrations are not counted",
                   "a kernel with CONFIG_SCHED_DEBUG, or sysctl kernel.perf_event_paranoid=1");
}

void host_check_tracing(struct host_checker *c)
{
    static const char *const folders[] = {"/sys/kernel/tracing/events/sched", "/sys/kernel/debug/tracing/events/sched"};
    bool there = false;
    for (size_t i = 0; i < WB_ARRAY_SIZE(folders); i++) there |= host_readable(c->root, folders[i]);
    struct host_finding *f =
        host_add(c, "tracefs", HOST_OK, "scheduler trace events %s",
                 there ? "can be read (tracefs)" : "are not reachable (tracefs is not mounted, or not for us)");
    if (!there)
        host_means(f, "decisions of this kernel cannot be recorded for conform",
                   "as root: mount -t tracefs nodev /sys/kernel/tracing");
    bool stat = host_exists(c->root, "/proc/schedstat");
    f = host_add(c, "schedstat", HOST_OK, "%s",
                 stat ? "/proc/schedstat is there" : "no /proc/schedstat (kernel without CONFIG_SCHEDSTATS)");
    if (!stat) host_means(f, "domain counters will not be compared", "");
}

static bool loopback_works(int *error)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool works = fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof at) && !listen(fd, 1);
    if (!works) *error = errno;
    if (fd >= 0) close(fd);
    return works;
}

void host_check_limits(struct host_checker *c)
{
    struct rlimit files, processes;
    int error = 0;
    if (c->root) return;
    if (loopback_works(&error))
        host_add(c, "loopback", HOST_OK, "127.0.0.1 can be used");
    else
        host_means(host_add(c, "loopback", HOST_WARN, "127.0.0.1 cannot be used: %s", strerror(error)),
                   "tcp_rr and udp_rr are left out", "ip link set lo up");
    if (getrlimit(RLIMIT_NOFILE, &files) || getrlimit(RLIMIT_NPROC, &processes)) return;
    bool enough = files.rlim_max >= FILES_WANTED && processes.rlim_cur >= PROCESSES_WANTED;
    struct host_finding *f =
        host_add(c, "limits", enough ? HOST_OK : HOST_WARN, "limits: %llu open files, %llu processes",
                 (unsigned long long)files.rlim_max, (unsigned long long)processes.rlim_cur);
    if (!enough) host_means(f, "large hackbench runs will be refused", "raise ulimit -n and ulimit -u");
}

/* The first line of what a fixed command prints. */
static bool first_line(const char *command, char *text, size_t n)
{
    FILE *p = popen(command, "re");
    if (!p) return false;
    bool got = fgets(text, (int)n, p) != NULL;
    char rest[256];
    while (fgets(rest, sizeof rest, p)) continue; /* so that the command does not die of a closed pipe */
    int rc = pclose(p);
    if (got) text[strcspn(text, "\n")] = '\0';
    return got && !rc;
}

static void check_gnuplot(struct host_checker *c)
{
    static const char *const wanted[] = {"pngcairo", "svg", "pdfcairo", "dumb"};
    char path[256], version[80], terms[120] = "", command[120], text[80];
    size_t at = 0;
    if (!host_find_program("gnuplot", path, sizeof path) ||
        !first_line("gnuplot --version 2>/dev/null", version, sizeof version)) {
        host_means(host_add(c, "gnuplot", HOST_WARN, "gnuplot not found"), "no pictures; tables and JSON work",
                   "apt-get install gnuplot-nox");
        return;
    }
    for (size_t i = 0; i < WB_ARRAY_SIZE(wanted); i++) {
        snprintf(command, sizeof command, "gnuplot -e 'set terminal %s; print \"fine\"' 2>&1", wanted[i]);
        if (!first_line(command, text, sizeof text) || !strstr(text, "fine")) continue;
        at += (size_t)snprintf(terms + at, sizeof terms - at, "%s%s", at ? ", " : "", wanted[i]);
    }
    host_add(c, "gnuplot", HOST_OK, "%s with %s", version, terms[0] ? terms : "no terminal that is known");
}

void host_check_programs(struct host_checker *c)
{
    static const char *const names[] = {"perf",    "trace-cmd", "hackbench",         "bw_pipe",
                                        "netperf", "stress-ng", "qemu-system-x86_64"};
    char path[256], here[160] = "", missing[160] = "";
    size_t a = 0, b = 0;
    if (c->root) return;
    check_gnuplot(c);
    for (size_t i = 0; i < WB_ARRAY_SIZE(names); i++) {
        if (host_find_program(names[i], path, sizeof path))
            a += (size_t)snprintf(here + a, sizeof here - a, "%s%s", a ? ", " : "", names[i]);
        else
            b += (size_t)snprintf(missing + b, sizeof missing - b, "%s%s", b ? ", " : "", names[i]);
    }
    if (a) host_add(c, "programs", HOST_OK, "also here: %s", here);
    if (b)
        host_means(host_add(c, "programs", HOST_OK, "not here: %s", missing),
                   "only needed to record traces, to compare with peers, or for the guest lab", "");
}
