#include "host_load.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host_file.h"

const struct host_gate host_gate_default = {.foreign_max = 0.045, .steal_max = 0.01, .seconds = 0.5};

struct cpu_times {
    uint64_t idle, steal, total; /* ticks of USER_HZ; idle with iowait */
    bool there;
};

struct process {
    int pid;
    uint64_t ticks;
    char name[16];
};

struct sample {
    struct cpu_times *cpu; /* by CPU number */
    uint32_t cpus;
    uint64_t forks;
    struct process *process;
    size_t processes;
    double at, own_cpu; /* s: clock, CPU time of this process */
    bool known;
};

struct host_meter {
    char root[256];
    bool has_root;
    struct sample begin;
};

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* "cpu3 user nice system idle iowait irq softirq steal guest guest_nice": guest is in user already. */
static bool parse_cpu(const char *line, uint32_t *number, struct cpu_times *t)
{
    uint64_t v[8] = {0};
    char *at, *end;
    if (line[3] < '0' || line[3] > '9') return false; /* the sum of all stands first */
    *number = (uint32_t)strtoul(line + 3, &at, 10);
    for (int i = 0; i < 8 && *at == ' '; i++, at = end) { /* old kernels have fewer */
        v[i] = strtoull(at, &end, 10);
        if (i < 4 && end == at) return false;
    }
    *t = (struct cpu_times){.idle = v[3] + v[4], .steal = v[7], .there = true};
    for (int i = 0; i < 8; i++) t->total += v[i];
    return true;
}

static void read_stat(const char *root, struct sample *s)
{
    char *text = host_read_all(root, "/proc/stat"), forks[32];
    if (!text) return;
    if (host_field(text, "processes", forks, sizeof forks)) s->forks = strtoull(forks, NULL, 10);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        uint32_t n;
        struct cpu_times t;
        line += *line == '\n';
        if (strncmp(line, "cpu", 3) != 0 || !parse_cpu(line, &n, &t) || n >= WB_CPUS_MAX) continue;
        if (n >= s->cpus) {
            struct cpu_times *larger = realloc(s->cpu, (n + 1) * sizeof *larger);
            if (!larger) break;
            memset(larger + s->cpus, 0, (n + 1 - s->cpus) * sizeof *larger);
            s->cpu = larger;
            s->cpus = n + 1;
        }
        s->cpu[n] = t;
        s->known = true;
    }
    free(text);
}

/* PID (comm) S ppid ... utime stime: fields 14 and 15; comm may hold blanks and brackets. */
static bool parse_process(const char *text, struct process *p)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open) return false;
    const char *at = close + 1;
    for (int field = 2; at && field < 13; field++) at = strchr(at + 1, ' '); /* to the blank before utime */
    if (!at) return false;
    char *next;
    uint64_t user = strtoull(at, &next, 10), system = strtoull(next, NULL, 10);
    p->pid = (int)strtol(text, NULL, 10);
    p->ticks = user + system;
    snprintf(p->name, sizeof p->name, "%.*s", (int)(close - open - 1), open + 1);
    return true;
}

static void add_process(struct sample *s, size_t *room, const struct process *p)
{
    if (s->processes == *room) {
        size_t more = *room ? 2 * *room : 256;
        struct process *larger = realloc(s->process, more * sizeof *larger);
        if (!larger) return;
        s->process = larger;
        *room = more;
    }
    s->process[s->processes++] = *p;
}

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static void read_processes(const char *root, struct sample *s)
{
    char path[300], text[512];
    size_t room = 0;
    struct process p;
    snprintf(path, sizeof path, "%s/proc", root ? root : "");
    DIR *dir = opendir(path);
    if (!dir) return;
    for (const struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] < '0' || e->d_name[0] > '9') continue;
        snprintf(path, sizeof path, "/proc/%.32s/stat", e->d_name);
        if (host_read(root, path, text, sizeof text) > 0 && parse_process(text, &p)) add_process(s, &room, &p);
    }
    closedir(dir);
    if (s->processes) qsort(s->process, s->processes, sizeof *s->process, by_pid);
}

static void take(const char *root, struct sample *s)
{
    memset(s, 0, sizeof *s);
    read_processes(root, s);
    read_stat(root, s);
    s->at = seconds_of(CLOCK_MONOTONIC);
    s->own_cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

static void drop(struct sample *s)
{
    free(s->cpu);
    free(s->process);
}

struct host_meter *host_meter_begin(const char *root)
{
    struct host_meter *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->has_root = root != NULL;
    if (root) snprintf(m->root, sizeof m->root, "%s", root);
    take(root, &m->begin);
    return m;
}

void host_meter_free(struct host_meter *m)
{
    if (!m) return;
    drop(&m->begin);
    free(m);
}

/* CPUs that count: those this process may use, when that can be told. */
static bool counts(const cpu_set_t *may, bool known, uint32_t cpu)
{
    return !known || cpu >= CPU_SETSIZE || CPU_ISSET(cpu, may);
}

static void compare_cpus(const struct sample *a, const struct sample *b, bool everything, struct host_load *out,
                         double *busy)
{
    cpu_set_t may;
    uint64_t total = 0, steal = 0, idle = 0;
    bool known = !everything && !sched_getaffinity(0, sizeof may, &may);
    for (uint32_t c = 0; c < a->cpus && c < b->cpus; c++) {
        if (!a->cpu[c].there || !b->cpu[c].there || !counts(&may, known, c)) continue;
        uint64_t t = b->cpu[c].total - a->cpu[c].total, i = b->cpu[c].idle - a->cpu[c].idle;
        if (b->cpu[c].total < a->cpu[c].total || b->cpu[c].idle < a->cpu[c].idle)
            continue; /* idle may step back on hot-plug */
        total += t;
        idle += i;
        steal += b->cpu[c].steal - a->cpu[c].steal;
        out->cpus++;
        if (t && (double)(t - i) / (double)t > out->busiest_cpu) out->busiest_cpu = (double)(t - i) / (double)t;
    }
    out->known = a->known && b->known && total > 0;
    out->steal = total ? (double)steal / (double)total : 0;
    *busy = total ? (double)(total - idle - steal) / (double)total : 0;
}

static void note_culprit(struct host_load *out, const struct process *p, double cpus)
{
    uint32_t at = out->culprits;
    while (at && out->culprit[at - 1].cpus < cpus) at--;
    if (at == HOST_CULPRITS) return;
    if (out->culprits < HOST_CULPRITS) out->culprits++;
    memmove(&out->culprit[at + 1], &out->culprit[at], (out->culprits - at - 1) * sizeof out->culprit[0]);
    memcpy(out->culprit[at].name, p->name, sizeof p->name);
    out->culprit[at].pid = p->pid;
    out->culprit[at].cpus = cpus;
}

/* Processes that were there before and after, and used at least a hundredth of a CPU. */
static void find_culprits(const struct sample *a, const struct sample *b, struct host_load *out)
{
    double hz = (double)sysconf(_SC_CLK_TCK);
    for (size_t i = 0, k = 0; i < b->processes; i++) {
        const struct process *p = &b->process[i];
        while (k < a->processes && a->process[k].pid < p->pid) k++;
        uint64_t before = k < a->processes && a->process[k].pid == p->pid ? a->process[k].ticks : 0;
        double cpus = p->ticks > before ? (double)(p->ticks - before) / hz / out->seconds : 0;
        if (cpus >= 0.01 && p->pid != getpid()) note_culprit(out, p, cpus);
    }
}

void host_meter_end(struct host_meter *m, double own_cpu_s, const struct host_gate *gate, struct host_load *out)
{
    struct sample now;
    double busy;
    memset(out, 0, sizeof *out);
    take(m->has_root ? m->root : NULL, &now);
    out->seconds = now.at - m->begin.at;
    compare_cpus(&m->begin, &now, m->has_root, out, &busy);
    double own = own_cpu_s + (m->has_root ? 0 : now.own_cpu - m->begin.own_cpu), all = out->seconds * out->cpus;
    out->foreign = all > 0 ? fmax(0, busy - own / all) : 0;
    out->new_processes = (uint32_t)(now.forks - m->begin.forks);
    if (out->seconds > 0) find_culprits(&m->begin, &now, out);
    out->quiet = out->known && out->foreign <= gate->foreign_max && out->steal <= gate->steal_max;
    drop(&now);
    host_meter_free(m);
}

void host_quiet_before(const struct host_gate *gate, struct host_load *out)
{
    struct host_meter *m = host_meter_begin(NULL);
    struct timespec t = {.tv_sec = (time_t)gate->seconds, .tv_nsec = (long)(fmod(gate->seconds, 1) * 1e9)};
    memset(out, 0, sizeof *out);
    if (!m) return;
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        ;
    host_meter_end(m, 0, gate, out);
}

static long hundredths(double v)
{
    return lround(100 * v);
}

/* " (1.20 of 2 CPUs: cc1 0.85, ld 0.10, others 0.25)": in printed hundredths, so that the names and the rest add up. A
 * process' own count may pass the CPUs' (it also ran on CPUs that are not ours, or its ticks fell otherwise): said. */
static size_t add_culprits(const struct host_load *l, char *buf, size_t n)
{
    long left = hundredths(l->foreign * l->cpus);
    size_t at =
        (size_t)snprintf(buf, n, " (%ld.%02ld of %u CPU%s:", left / 100, left % 100, l->cpus, l->cpus == 1 ? "" : "s");
    for (uint32_t i = 0; i < l->culprits && i < 3 && at < n; i++) {
        long one = hundredths(l->culprit[i].cpus);
        at += (size_t)snprintf(buf + at, n - at, "%s %.15s %ld.%02ld", i ? "," : "", l->culprit[i].name, one / 100,
                               one % 100);
        left -= one;
    }
    if (left > 0 && at < n) at += (size_t)snprintf(buf + at, n - at, ", others %ld.%02ld", left / 100, left % 100);
    if (left < 0 && at < n)
        at += (size_t)snprintf(buf + at, n - at, ", by their own counts %ld.%02ld more", -left / 100, -left % 100);
    if (at < n) at += (size_t)snprintf(buf + at, n - at, ")");
    return at;
}

char *host_load_text(const struct host_load *l, char *buf, size_t n)
{
    if (!l->known) {
        snprintf(buf, n, "load unknown: /proc/stat tells nothing");
        return buf;
    }
    size_t at = (size_t)snprintf(buf, n, "foreign load %.1f %%", l->foreign * 100);
    if (l->culprits && at < n) at += add_culprits(l, buf + at, n - at);
    if (at < n) snprintf(buf + at, n - at, ", steal %.1f %%", l->steal * 100);
    return buf;
}
