/* real_counts.c - context switches, migrations and CPU time of a task: /proc and software perf events; see
 * real_inner.h. */
#include "real_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number after "name ... :" at the start of a line. */
static bool find_number(const char *text, const char *name, uint64_t *value)
{
    size_t n = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, n) != 0) continue;
        const char *c = line + n + strspn(line + n, " \t");
        if (*c != ':') continue;
        char *end;
        uint64_t v = strtoull(c + 1, &end, 10);
        if (end == c + 1) return false;
        *value = v;
        return true;
    }
    return false;
}

/* Linux kernel/sched/debug.c proc_sched_show_task: "nr_voluntary_switches   :   12". */
void counts_parse_sched(const char *text, struct real_counts *c)
{
    uint64_t vol, inv, all;
    if (find_number(text, "se.nr_migrations", &c->migrations)) c->have |= REAL_HAVE_MIGRATIONS;
    if (find_number(text, "nr_voluntary_switches", &vol) && find_number(text, "nr_involuntary_switches", &inv)) {
        c->voluntary = vol;
        c->involuntary = inv;
        c->have |= REAL_HAVE_SWITCHES | REAL_HAVE_SPLIT;
    } else if (find_number(text, "nr_switches", &all)) {
        c->voluntary = all;
        c->have |= REAL_HAVE_SWITCHES;
    }
}

/* Linux fs/proc/array.c task_context_switch_counts. */
void counts_parse_status(const char *text, struct real_counts *c)
{
    if (!find_number(text, "voluntary_ctxt_switches", &c->voluntary)) return;
    c->have |= REAL_HAVE_SWITCHES;
    if (find_number(text, "nonvoluntary_ctxt_switches", &c->involuntary)) c->have |= REAL_HAVE_SPLIT;
}

/* Linux Documentation/scheduler/sched-stats.rst: run time, wait time (ns), timeslices. A kernel without the
 * accounting prints zeros. */
void counts_parse_schedstat(const char *text, struct real_counts *c)
{
    char *end;
    uint64_t cpu = strtoull(text, &end, 10);
    if (end == text) return;
    const char *second = end;
    uint64_t wait = strtoull(second, &end, 10);
    if (end == second || (!cpu && !wait && !strtoull(end, NULL, 10))) return;
    c->cpu_ns = cpu;
    c->wait_ns = wait;
    c->have |= REAL_HAVE_CPU | REAL_HAVE_WAIT;
}

static bool read_text(const char *path, char *text, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    size_t got = 0;
    ssize_t more;
    while (got + 1 < n && (more = read(fd, text + got, n - 1 - got)) > 0) got += (size_t)more;
    close(fd);
    text[got] = '\0';
    return got > 0;
}

void counts_read_proc(const char *proc, int pid, int tid, struct real_counts *c)
{
    static const struct {
        const char *file;
        void (*parse)(const char *text, struct real_counts *c);
        uint32_t for_what;
    } source[] = {
        {"schedstat", counts_parse_schedstat, REAL_HAVE_CPU},
        {"sched", counts_parse_sched, REAL_HAVE_MIGRATIONS},
        {"status", counts_parse_status, REAL_HAVE_SWITCHES},
    };
    char path[96], text[8192];
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < WB_ARRAY_SIZE(source); i++) {
        if (c->have & source[i].for_what) continue;
        snprintf(path, sizeof path, "%s/%d/task/%d/%s", proc, pid, tid, source[i].file);
        if (read_text(path, text, sizeof text)) source[i].parse(text, c);
    }
}

void counts_open_self(struct counts_self *s)
{
    s->sched = open("/proc/thread-self/sched", O_RDONLY | O_CLOEXEC);
    s->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

static bool read_again(int fd, char *text, size_t n)
{
    ssize_t got = fd >= 0 ? pread(fd, text, n - 1, 0) : -1;
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

void counts_read_self(const struct counts_self *s, struct real_counts *c)
{
    char text[4096]; /* what is looked for stands in the first lines */
    struct rusage own;
    memset(c, 0, sizeof *c);
    if (read_again(s->schedstat, text, sizeof text)) counts_parse_schedstat(text, c);
    if (read_again(s->sched, text, sizeof text)) counts_parse_sched(text, c);
    if (c->have & REAL_HAVE_SWITCHES || getrusage(RUSAGE_THREAD, &own)) return;
    c->voluntary = (uint64_t)own.ru_nvcsw;
    c->involuntary = (uint64_t)own.ru_nivcsw;
    c->have |= REAL_HAVE_SWITCHES | REAL_HAVE_SPLIT;
}

void counts_close_self(struct counts_self *s)
{
    if (s->sched >= 0) close(s->sched);
    if (s->schedstat >= 0) close(s->schedstat);
    s->sched = s->schedstat = -1;
}

static int open_event(uint64_t config, int tid, bool inherit)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = config,
        .inherit = inherit,
    };
    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int counts_open_perf(int tid, bool inherit, int fd[2], int *error)
{
    static const uint64_t config[2] = {PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS};
    int open_n = 0;
    for (int i = 0; i < 2; i++) {
        fd[i] = open_event(config[i], tid, inherit);
        if (fd[i] >= 0)
            open_n++;
        else
            *error = errno;
    }
    return open_n;
}

void counts_close_perf(int fd[2])
{
    for (int i = 0; i < 2; i++) {
        if (fd[i] >= 0) close(fd[i]);
        fd[i] = -1;
    }
}

void counts_read_perf(const int fd[2], struct real_counts *c)
{
    uint64_t v;
    if (fd[0] >= 0 && read(fd[0], &v, sizeof v) == (ssize_t)sizeof v) {
        /* perf does not tell voluntary from involuntary; /proc's split is kept when it is there. */
        if (!(c->have & REAL_HAVE_SPLIT)) c->voluntary = v;
        c->have |= REAL_HAVE_SWITCHES;
    }
    if (fd[1] >= 0 && read(fd[1], &v, sizeof v) == (ssize_t)sizeof v) {
        c->migrations = v;
        c->have |= REAL_HAVE_MIGRATIONS;
    }
}

static uint64_t less(uint64_t after, uint64_t before)
{
    return after > before ? after - before : 0;
}

struct real_counts counts_since(const struct real_counts *before, const struct real_counts *after)
{
    return (struct real_counts){
        .have = before->have & after->have,
        .voluntary = less(after->voluntary, before->voluntary),
        .involuntary = less(after->involuntary, before->involuntary),
        .migrations = less(after->migrations, before->migrations),
        .cpu_ns = less(after->cpu_ns, before->cpu_ns),
        .wait_ns = less(after->wait_ns, before->wait_ns),
    };
}

void counts_add(struct real_counts *sum, const struct real_counts *c, bool first)
{
    sum->have = first ? c->have : sum->have & c->have;
    sum->voluntary += c->voluntary;
    sum->involuntary += c->involuntary;
    sum->migrations += c->migrations;
    sum->cpu_ns += c->cpu_ns;
    sum->wait_ns += c->wait_ns;
}
