/* host_check_cpu.c - CPUs, who may use them, SMT, frequency, idle states, speed; see host_check.h. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host_check_inner.h"
#include "probe.h"
#include "host_file.h"
#include "real_inner.h"

/* How many CPUs are tried for speed: 15 ms each. */
#define SPEED_CPUS 16u

static uint32_t list_count(const char *root, const char *path, char *text, size_t n)
{
    struct real_cpus set = {.w = {0}};
    struct wb_cpumask m = {.ncpus = WB_CPUS_MAX, .nwords = WB_ARRAY_SIZE(set.w), .w = set.w};
    const char *why;
    size_t at;
    if (host_read(root, path, text, n) <= 0 || wb_mask_parse(text, &m, &why, &at) < 0) return 0;
    return wb_mask_count(&m);
}

/* Distinct values of a file over the first CPUs: sharing groups of a cache or package. */
static uint32_t distinct(const char *root, const char *pattern_end, uint32_t cpus)
{
    char path[128], *seen[64], text[256];
    uint32_t n = 0;
    for (uint32_t c = 0; c < cpus && n < 64; c++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", c, pattern_end);
        if (host_read(root, path, text, sizeof text) <= 0) continue;
        uint32_t i = 0;
        while (i < n && strcmp(seen[i], text) != 0) i++;
        if (i == n && (seen[n] = strdup(text))) n++;
    }
    for (uint32_t i = 0; i < n; i++) free(seen[i]);
    return n;
}

void host_check_cpus(struct host_checker *c)
{
    char online[256], nodes[128];
    uint32_t n = list_count(c->root, "/sys/devices/system/cpu/online", online, sizeof online);
    uint32_t node_n = list_count(c->root, "/sys/devices/system/node/online", nodes, sizeof nodes);
    if (!n) {
        host_means(host_add(c, "cpus", HOST_WARN, "CPUs cannot be read from /sys"),
                   "the topology of this machine is not known", "mount /sys");
        return;
    }
    uint32_t llcs = distinct(c->root, "cache/index3/shared_cpu_list", n),
             packages = distinct(c->root, "topology/physical_package_id", n);
    struct host_finding *f = host_add(c, "cpus", n > 1 ? HOST_OK : HOST_WARN,
                                      "%u CPU%s (%s), %u package%s, %u last-level cache%s, %u node%s read from /sys", n,
                                      n == 1 ? "" : "s", online, packages, packages == 1 ? "" : "s", llcs,
                                      llcs == 1 ? "" : "s", node_n, node_n == 1 ? "" : "s");
    if (n == 1) host_means(f, "nothing can be measured across CPUs: placement and balancing are left out", "");
}

void host_check_affinity(struct host_checker *c)
{
    char online[256];
    cpu_set_t may;
    uint32_t n = list_count(c->root, "/sys/devices/system/cpu/online", online, sizeof online);
    if (c->root || sched_getaffinity(0, sizeof may, &may)) return;
    uint32_t own = (uint32_t)CPU_COUNT(&may);
    if (own >= n) {
        host_add(c, "affinity", HOST_OK, "this process may use all of them");
        return;
    }
    host_means(host_add(c, "affinity", HOST_WARN, "this process may use %u of %u CPUs", own, n),
               "free tasks stay within them; domains in the model must be cut alike",
               "start without taskset, or in a wider cpuset");
}

/* The path of this process in a controller's hierarchy, by /proc/self/cgroup ("4:cpu,cpuacct:/a/b" or "0::/a/b"). */
static bool own_group(const char *root, const char *controller, char *path, size_t n)
{
    char *text = host_read_all(root, "/proc/self/cgroup");
    bool found = false;
    for (char *next = text, *line; next && (line = strsep(&next, "\n"));) {
        char *names = strchr(line, ':'), *at = names ? strchr(names + 1, ':') : NULL;
        if (!at) continue;
        *at++ = '\0';
        names++;
        bool ours = !*controller && !*names;
        for (char *more = names, *name; *controller && (name = strsep(&more, ","));) ours |= !strcmp(name, controller);
        if (!ours) continue;
        snprintf(path, n, "%s", strcmp(at, "/") != 0 ? at : "");
        found = true;
        break;
    }
    free(text);
    return found;
}

/* CPUs' worth of quota of a group and all above it; the least. 0 = none. */
static double least_quota(const char *root, const char *mount, char *group, bool v2)
{
    double least = 0;
    for (;;) {
        char path[400], text[64];
        int64_t quota = 0, period = 100000;
        snprintf(path, sizeof path, "%s%s/%s", mount, group, v2 ? "cpu.max" : "cpu.cfs_quota_us");
        bool got = host_read(root, path, text, sizeof text) > 0;
        char *end = text;
        if (got) quota = strtoll(text, &end, 10); /* "max 100000" reads as 0 */
        if (got && v2 && *end) period = strtoll(end, NULL, 10);
        if (got && !v2) {
            snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", mount, group);
            (void)host_read_number(root, path, &period);
        }
        if (quota > 0 && period > 0 && (least == 0 || (double)quota / (double)period < least))
            least = (double)quota / (double)period;
        char *slash = strrchr(group, '/');
        if (!slash) return least;
        *slash = '\0';
    }
}

void host_check_quota(struct host_checker *c)
{
    char group[256] = "";
    const char *const v1[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    double quota = 0;
    bool known = false;
    if (host_exists(c->root, "/sys/fs/cgroup/cgroup.controllers") && own_group(c->root, "", group, sizeof group)) {
        quota = least_quota(c->root, "/sys/fs/cgroup", group, true);
        known = true;
    }
    for (size_t i = 0; i < WB_ARRAY_SIZE(v1) && !known; i++) {
        if (!host_exists(c->root, v1[i]) || !own_group(c->root, "cpu", group, sizeof group)) continue;
        quota = least_quota(c->root, v1[i], group, false);
        known = true;
    }
    if (!known)
        host_means(host_add(c, "quota", HOST_OK, "no CPU quota can be seen (no cgroup file system here)"),
                   "one set outside would look like steal", "");
    else if (quota <= 0)
        host_add(c, "quota", HOST_OK, "no CPU quota (cgroup)");
    else
        host_means(host_add(c, "quota", HOST_FAIL, "the cgroup allows only %.2f CPUs (quota)", quota),
                   "tasks are stopped for the rest of each period: throughput and latency are the quota's, not the "
                   "scheduler's",
                   "run in a group without cpu.max (docker: without --cpus)");
}

void host_check_smt(struct host_checker *c)
{
    int64_t active;
    if (!host_read_number(c->root, "/sys/devices/system/cpu/smt/active", &active)) {
        host_means(host_add(c, "smt", HOST_OK, "SMT: not told by /sys"),
                   "whether CPUs share cores is not known: pinned pairs may be siblings", "");
        return;
    }
    if (!active) {
        struct host_finding *f = host_add(c, "smt", HOST_OK, "SMT is off, or not shown to this machine");
        if (c->report->identity.hypervisor[0])
            host_means(f, "two CPUs of a guest may still be threads of one core", "");
        return;
    }
    host_means(host_add(c, "smt", HOST_WARN, "SMT is on"),
               "busy siblings slow each other: pin ends to chosen siblings or cores, and say which",
               "to measure without: echo off >/sys/devices/system/cpu/smt/control");
}

void host_check_frequency(struct host_checker *c)
{
    char governor[64], driver[64];
    int64_t boost;
    if (host_read(c->root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor) <= 0) {
        host_means(host_add(c, "governor", HOST_OK, "no frequency scaling that this system controls"),
                   "the clock may still change below it (firmware, hypervisor), and nothing here would show it", "");
        return;
    }
    (void)host_read(c->root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", driver, sizeof driver);
    bool fixed = !strcmp(governor, "performance");
    struct host_finding *f = host_add(c, "governor", fixed ? HOST_OK : HOST_WARN, "governor is '%s' (%s)%s", governor,
                                      driver, fixed ? "" : "; validation wants 'performance'");
    if (!fixed)
        host_means(f, "tasks that sleep run slower than tasks that compute: cycles do not convert to time",
                   "cpupower frequency-set -g performance");
    if (host_read_number(c->root, "/sys/devices/system/cpu/cpufreq/boost", &boost) && boost)
        host_means(host_add(c, "boost", HOST_WARN, "the clock may boost"),
                   "one busy CPU runs faster than two: single and parallel runs are not at one clock",
                   "echo 0 >/sys/devices/system/cpu/cpufreq/boost");
}

void host_check_idle(struct host_checker *c)
{
    char path[96], name[32], states[120] = "";
    const char *driver = c->report->identity.idle;
    int64_t poll_ns = -1;
    size_t at = 0;
    for (int i = 0; i < 10 && at < sizeof states; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cpuidle/state%d/name", i);
        if (host_read(c->root, path, name, sizeof name) <= 0) break;
        at += (size_t)snprintf(states + at, sizeof states - at, "%s%s", i ? ", " : "", name);
    }
    if (!strncmp(driver, "haltpoll", 8))
        (void)host_read_number(c->root, "/sys/module/haltpoll/parameters/guest_halt_poll_ns", &poll_ns);
    struct host_finding *f =
        host_add(c, "idle", HOST_OK, "idle: %s%s%s%s", driver, states[0] ? " with states " : "", states,
                 poll_ns == 0  ? "; halts at once (guest_halt_poll_ns 0)"
                 : poll_ns > 0 ? "; polls before it halts"
                               : "");
    host_means(
        f, poll_ns > 0 ? "a wake during the poll needs no interrupt: the cost of a remote wake has two modes" : "", "");
}

/* The same work on each CPU in turn. */
void host_check_speed(struct host_checker *c)
{
    cpu_set_t may, one;
    double slowest = 0, fastest = 0;
    uint32_t tried = 0, slow_cpu = 0;
    if (c->root || sched_getaffinity(0, sizeof may, &may)) return;
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE && tried < SPEED_CPUS; cpu++) {
        if (!CPU_ISSET(cpu, &may)) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one)) continue;
        double rate = real_spin_rate();
        if (!tried++ || rate < slowest) {
            slowest = rate;
            slow_cpu = cpu;
        }
        fastest = WB_MAX(fastest, rate);
    }
    (void)sched_setaffinity(0, sizeof may, &may);
    if (!tried) return;
    double off = (fastest - slowest) / fastest * 100;
    struct host_finding *f = host_add(c, "speed", off < 5 ? HOST_OK : HOST_WARN,
                                      "%u CPUs do the same work at their best within %.1f %%", tried, off);
    if (off >= 5) {
        snprintf(f->meaning, sizeof f->meaning,
                 "CPU %u is slower than others, or was never left alone: pinned results depend on the CPU", slow_cpu);
        snprintf(f->fix, sizeof f->fix, "look at big and little cores, thermal limits, and other load; run again");
    }
}

/* How long a line takes from one CPU to the next, a few times. A hypervisor's placement shows in it. */
void host_check_distance(struct host_checker *c)
{
    enum { LOOKS = 5 };
    cpu_set_t may;
    double least = 0, most = 0;
    cpu_id cpu[2];
    uint32_t n = 0;
    if (c->root || sched_getaffinity(0, sizeof may, &may)) return;
    for (cpu_id i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, &may)) cpu[n++] = i;
    for (int i = 0; n == 2 && i < LOOKS; i++) {
        double ns = probe_line_move(cpu[0], cpu[1]);
        if (!(ns > 0)) return;
        least = i ? WB_MIN(least, ns) : ns;
        most = WB_MAX(most, ns);
    }
    if (n < 2) return;
    bool changes = most > 1.6 * least; /* probe.c: two lengths of a move */
    struct host_finding *f = host_add(c, "distance", changes ? HOST_WARN : HOST_OK,
                                      changes ? "a line moves from CPU %u to CPU %u in %.0f to %.0f ns"
                                              : "a line moves from CPU %u to CPU %u in %.0f ns",
                                      cpu[1], cpu[0], changes ? least : most, most);
    char name[64];
    host_hypervisor(c->root, name, sizeof name);
    if (changes)
        host_means(f, "virtual CPUs that are moved, or other load: what runs on two CPUs changes with it",
                   "look again when the machine is quiet; validate drops runs of another distance");
    else if (name[0])
        host_means(f, "a hypervisor may move CPUs apart (28 and 126 ns have been seen on one guest, minutes each)", "");
}
