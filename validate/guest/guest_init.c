/*
 * guest_init.c - the first and only program of the guest: says what the machine is, runs a list of small workloads
 * under the scheduler's tracepoints, writes everything to the second serial line, switches the machine off.
 *
 * Its report is what validate/trace_read_notes.c reads: "### kernel", "### features", "### topo", "### dom", then per
 * run "### begin NAME", /proc/schedstat before and after, the trace, "### end NAME"; at last "### done". /runs has the
 * list, one run a line: NAME KIND NUMBERS. The kernel's command line may hold wb_features=NO_WA_IDLE,NEXT_BUDDY,
 * wb_sched=base_slice_ns:400000,migration_cost_ns:0 (files of debugfs sched/), wb_offline=3,5 (CPUs to be taken off)
 * and wb_autogroup (a session of its own for each run).
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "guest_load.h"

#define TRACING "/sys/kernel/tracing/"
#define SCHED "/sys/kernel/debug/sched/"

static FILE *out;

static void note(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("### ", out);
    vfprintf(out, fmt, ap);
    fputc('\n', out);
    va_end(ap);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    if (fd < 0) return;
    if (write(fd, text, strlen(text)) < 0) note("failed %s < %s", path, text);
    close(fd);
}

/* First line of a file, or "". */
static const char *line_of(char *buf, size_t n, const char *fmt, ...)
{
    char path[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    buf[0] = 0;
    FILE *f = fopen(path, "r");
    if (!f) return buf;
    if (!fgets(buf, (int)n, f)) buf[0] = 0;
    fclose(f);
    buf[strcspn(buf, "\n")] = 0;
    return buf;
}

/* Everything but comments. */
static void copy_file(const char *path)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    if (!f) return;
    while (fgets(line, sizeof line, f))
        if (line[0] != '#') fputs(line, out);
    fclose(f);
}

/* ---- start ---- */

static void mount_all(void)
{
    static const char *const fs[][3] = {{"proc", "/proc", "proc"},
                                        {"sys", "/sys", "sysfs"},
                                        {"dev", "/dev", "devtmpfs"},
                                        {"debug", "/sys/kernel/debug", "debugfs"},
                                        {"trace", "/sys/kernel/tracing", "tracefs"}};
    for (size_t i = 0; i < sizeof fs / sizeof *fs; i++) {
        mkdir(fs[i][1], 0755);
        if (mount(fs[i][0], fs[i][1], fs[i][2], 0, NULL)) perror(fs[i][1]);
    }
}

static void open_line(void)
{
    struct termios t;
    int fd = open("/dev/ttyS1", O_WRONLY | O_NOCTTY);
    if (fd >= 0 && !tcgetattr(fd, &t)) {
        cfmakeraw(&t);
        tcsetattr(fd, TCSANOW, &t);
    }
    out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out) out = stdout;
}

/* ---- what it is ---- */

/* The last level of cache that sysfs knows. */
static const char *llc_of(char *buf, size_t n, int cpu)
{
    for (int index = 4; index > 0; index--)
        if (*line_of(buf, n, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index)) return buf;
    return buf;
}

static int node_of(int cpu)
{
    char path[128];
    for (int node = 0; node < 64; node++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/node%d", cpu, node);
        if (!access(path, F_OK)) return node;
    }
    return 0;
}

static void say_topology(void)
{
    char core[128], package[128], llc[128], path[128];
    for (int cpu = 0; cpu < 1024; cpu++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
        if (access(path, F_OK)) break;
        if (!*line_of(core, sizeof core, "%s/topology/thread_siblings_list", path)) continue; /* offline */
        note("topo cpu%d core %s pkg %s llc %s node %d", cpu,
             line_of(core, sizeof core, "%s/topology/thread_siblings_list", path),
             line_of(package, sizeof package, "%s/topology/core_siblings_list", path), llc_of(llc, sizeof llc, cpu),
             node_of(cpu));
    }
    for (int d = 0; d < 16; d++) {
        char name[64], flags[512], imbalance[32], min[32], max[32];
        const char *dir = SCHED "domains/cpu0/domain";
        if (!*line_of(name, sizeof name, "%s%d/name", dir, d)) break;
        note("dom domain%d %s flags %s imb %s min %s max %s", d, name,
             line_of(flags, sizeof flags, "%s%d/flags", dir, d),
             line_of(imbalance, sizeof imbalance, "%s%d/imbalance_pct", dir, d),
             line_of(min, sizeof min, "%s%d/min_interval", dir, d),
             line_of(max, sizeof max, "%s%d/max_interval", dir, d));
    }
}

/* Each word of a list on the kernel's command line. */
static void each_word(const char *key, void (*use)(char *word))
{
    char line[4096], *at, *word;
    line_of(line, sizeof line, "/proc/cmdline");
    at = strstr(line, key);
    if (!at) return;
    at += strlen(key);
    at[strcspn(at, " ")] = 0;
    while ((word = strsep(&at, ",")) != NULL)
        if (*word) use(word);
}

static void set_feature(char *word)
{
    write_file(SCHED "features", word);
}

static void set_number(char *word)
{
    char path[256], *value = strchr(word, ':');
    if (!value) return;
    *value++ = 0;
    snprintf(path, sizeof path, SCHED "%s", word);
    write_file(path, value);
    note("sched %s %s", word, value);
}

static void take_off(char *cpu)
{
    char path[256];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%s/online", cpu);
    write_file(path, "0");
}

static bool has_word(const char *word)
{
    char line[4096];
    return strstr(line_of(line, sizeof line, "/proc/cmdline"), word) != NULL;
}

static void say_kernel(void)
{
    struct utsname u;
    char buf[2048];
    uname(&u);
    each_word("wb_offline=", take_off);
    if (has_word("wb_autogroup")) write_file("/proc/sys/kernel/sched_autogroup_enabled", "1");
    note("kernel %s cpus %s", u.release, line_of(buf, sizeof buf, "/sys/devices/system/cpu/online"));
    note("isolated %s", line_of(buf, sizeof buf, "/sys/devices/system/cpu/isolated"));
    each_word("wb_features=", set_feature);
    each_word("wb_sched=", set_number);
    note("features %s", line_of(buf, sizeof buf, SCHED "features"));
    note("base_slice %s", line_of(buf, sizeof buf, SCHED "base_slice_ns"));
}

/* ---- runs ---- */

static void prepare_tracing(void)
{
    static const char *const event[] = {"sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_switch",
                                        "sched_migrate_task"};
    char path[256];
    write_file(TRACING "tracing_on", "0");
    write_file(TRACING "buffer_size_kb", "4096");
    write_file(TRACING "trace_clock", "mono");
    for (size_t i = 0; i < sizeof event / sizeof *event; i++) {
        snprintf(path, sizeof path, TRACING "events/sched/%s/enable", event[i]);
        write_file(path, "1");
    }
}

static void say_schedstat(const char *when)
{
    note("schedstat %s", when);
    copy_file("/proc/schedstat");
}

/* Opening it for truncation empties the buffers. */
static void clear_trace(void)
{
    int fd = open(TRACING "trace", O_WRONLY | O_TRUNC);
    if (fd >= 0) close(fd);
}

static void run(const char *name, const char *kind, const long arg[3])
{
    note("begin %s %s %ld %ld %ld", name, kind, arg[0], arg[1], arg[2]);
    say_schedstat("before");
    fflush(out);
    clear_trace();
    write_file(TRACING "tracing_on", "1");
    pid_t pid = fork();
    if (!pid) {
        if (has_word("wb_autogroup")) (void)setsid();
        _exit(guest_load_run(kind, arg) ? 1 : 0);
    }
    int status = 1;
    if (pid > 0) waitpid(pid, &status, 0);
    write_file(TRACING "tracing_on", "0");
    say_schedstat("after");
    copy_file(TRACING "trace");
    if (status) note("failed %s: status %d", name, status);
    note("end %s", name);
    fflush(out);
}

static void run_all(void)
{
    char line[256], name[64], kind[64];
    FILE *f = fopen("/runs", "r");
    if (!f) note("failed /runs");
    while (f && fgets(line, sizeof line, f)) {
        long arg[3] = {0};
        int used = 0, words = sscanf(line, "%63s %63s%n", name, kind, &used);
        if (words < 2 || name[0] == '#') continue;
        char *at = line + used, *end;
        size_t n = 0;
        for (; n < 3 && (arg[n] = strtol(at, &end, 10), end != at); n++) at = end;
        if (!n) continue;
        run(name, kind, arg);
    }
    if (f) fclose(f);
}

int main(void)
{
    mount_all();
    open_line();
    say_kernel();
    say_topology();
    prepare_tracing();
    run_all();
    note("done");
    fflush(out);
    tcdrain(fileno(out));
    sync();
    sleep(1);
    reboot(RB_POWER_OFF);
    return 0;
}
