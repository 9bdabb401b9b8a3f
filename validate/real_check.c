/* real_check.c - whether a real run can be asked for, and its description in words; see real.h. */
#include "real.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host_file.h"
#include "wakebal/units.h"

/* The most that UDP carries in one datagram over IPv4: 65535 less the headers. */
#define DATAGRAM_MAX 65507u
#define TASKS_MAX 20000u
#define PIPE_MAX (1u << 30)

static int refuse(struct wb_diag *d, const char *fix, const char *text)
{
    wb_diag_add(d, WB_ERROR, "E903", (struct wb_place){0}, fix, "%s", text);
    return -1;
}

static struct wb_cpumask as_mask(const struct real_cpus *set)
{
    return (struct wb_cpumask){.ncpus = WB_CPUS_MAX, .nwords = WB_ARRAY_SIZE(set->w), .w = (uint64_t *)set->w};
}

/* CPUs that are switched on; all that the C library knows of when /sys does not tell. */
static struct real_cpus online(void)
{
    struct real_cpus set = {.w = {0}};
    struct wb_cpumask m = as_mask(&set);
    char text[512];
    const char *why;
    size_t at;
    if (host_read(NULL, "/sys/devices/system/cpu/online", text, sizeof text) > 0 && !wb_mask_parse(text, &m, &why, &at))
        return set;
    memset(&set, 0, sizeof set);
    for (long c = 0, n = sysconf(_SC_NPROCESSORS_CONF); c < n && c < (long)WB_CPUS_MAX; c++) wb_mask_set(&m, (cpu_id)c);
    return set;
}

static int check_cpus(const struct real_cpus *want, const struct real_cpus *have, const char *who, struct wb_diag *d)
{
    struct wb_cpumask w = as_mask(want), h = as_mask(have);
    if (wb_mask_subset(&w, &h)) return 0;
    char asked[256], there[256], text[640];
    snprintf(text, sizeof text, "%s: CPUs %s are asked for, this machine has %s", who,
             wb_mask_format(asked, sizeof asked, &w), wb_mask_format(there, sizeof there, &h));
    return refuse(d, "use CPUs that are online", text);
}

static int check_all_cpus(const struct real_spec *s, struct wb_diag *d)
{
    struct real_cpus on = online();
    int rc = check_cpus(&s->allowed, &on, "allowed", d) | check_cpus(&s->cpus, &on, "cpus", d) |
             check_cpus(&s->end_cpus[0], &on, "first end", d) | check_cpus(&s->end_cpus[1], &on, "second end", d);
    for (uint32_t g = 0; g < s->background_n; g++) rc |= check_cpus(&s->background[g].cpus, &on, "background", d);
    return rc;
}

int real_spec_check(const struct real_spec *s, struct wb_diag *d)
{
    int rc = 0;
    uint32_t background = 0;
    for (uint32_t g = 0; g < s->background_n; g++) background += s->background[g].count;
    if ((unsigned)s->kind >= REAL_KINDS) return refuse(d, NULL, "unknown kind of workload");
    if (!s->copies || s->copies > REAL_COPIES_MAX || background > REAL_COPIES_MAX)
        rc |= refuse(d, "1 to 256", "too many copies, or none");
    if (s->kind == REAL_UDP_RR && (s->request > DATAGRAM_MAX || s->response > DATAGRAM_MAX))
        rc |= refuse(d, "at most 65507 B", "udp_rr: a message does not fit one datagram");
    if (s->kind == REAL_HACKBENCH && (!s->groups || !s->fds || (uint64_t)s->groups * s->fds * 2 > TASKS_MAX))
        rc |= refuse(d, "groups x fds x 2 up to 20000", "hackbench: too many tasks, or none");
    if (!s->message || !s->request || !s->response) rc |= refuse(d, "at least 1 B", "empty messages");
    if (s->kind == REAL_SYSCALL && !real_call_name(s->call)) rc |= refuse(d, NULL, "syscall: no such call");
    if (s->pipe_size > PIPE_MAX) rc |= refuse(d, "at most 1 GiB", "the pipe is too large");
    if (!s->window_ns) rc |= refuse(d, "at least 100 us", "the window is empty");
    if (s->kind == REAL_HACKBENCH && s->duration_ns)
        rc |= refuse(d, "set loops", "hackbench does fixed work: it takes no duration");
    return check_all_cpus(s, d) | rc;
}

static const char *cpus_text(const struct real_cpus *set, char *buf, size_t n)
{
    struct wb_cpumask m = as_mask(set);
    return wb_mask_count(&m) ? wb_mask_format(buf, n, &m) : "free";
}

static void describe_what(const struct real_spec *s, char *buf, size_t n)
{
    char a[32], b[32];
    const char *plural = s->copies == 1 ? "" : "s", *both = s->threads ? ", threads" : "";
    wb_format_exact(a, sizeof a, (int64_t)(s->kind >= REAL_TCP_RR && s->kind <= REAL_UNIX_RR ? s->request : s->message),
                    WB_UNIT_SIZE);
    wb_format_exact(b, sizeof b, (int64_t)s->response, WB_UNIT_SIZE);
    switch (s->kind) {
    case REAL_PIPE_BW:
    case REAL_PIPE_LATENCY: snprintf(buf, n, "%u pair%s, %s%s", s->copies, plural, a, both); break;
    case REAL_TCP_RR:
    case REAL_UDP_RR:
    case REAL_UNIX_RR: snprintf(buf, n, "%u pair%s, %s request, %s response%s", s->copies, plural, a, b, both); break;
    case REAL_HACKBENCH:
        snprintf(buf, n, "%u group%s of %u + %u %s over %s, %llu loops, %s", s->groups, s->groups == 1 ? "" : "s",
                 s->fds, s->fds, s->threads ? "threads" : "processes", s->pipe ? "pipes" : "sockets",
                 (unsigned long long)s->loops, a);
        break;
    case REAL_SYSCALL: snprintf(buf, n, "%u task%s calling %s", s->copies, plural, real_call_name(s->call)); break;
    default: snprintf(buf, n, "%u task%s", s->copies, plural); break;
    }
}

static size_t append(char *buf, size_t n, size_t at, const char *text)
{
    int k = snprintf(buf + at, n - at, "%s", text);
    return WB_MIN(n - 1, at + (size_t)k);
}

static size_t describe_where(const struct real_spec *s, char *buf, size_t n, size_t at)
{
    char list[2][128], text[320];
    struct wb_cpumask m[2] = {as_mask(&s->end_cpus[0]), as_mask(&s->end_cpus[1])};
    if (wb_mask_count(&m[0]) || wb_mask_count(&m[1]))
        snprintf(text, sizeof text, ", ends on CPU %s and %s", cpus_text(&s->end_cpus[0], list[0], sizeof list[0]),
                 cpus_text(&s->end_cpus[1], list[1], sizeof list[1]));
    else
        snprintf(text, sizeof text, ", CPUs %s", cpus_text(&s->cpus, list[0], sizeof list[0]));
    at = append(buf, n, at, text);
    struct wb_cpumask all = as_mask(&s->allowed);
    if (wb_mask_count(&all)) {
        snprintf(text, sizeof text, " within %s", wb_mask_format(list[0], sizeof list[0], &all));
        at = append(buf, n, at, text);
    }
    return at;
}

char *real_spec_describe(const struct real_spec *s, char *buf, size_t n)
{
    static const char *const sched[] = {"", ", SCHED_BATCH", ", SCHED_IDLE"};
    char text[160], t[2][32];
    describe_what(s, buf, n);
    size_t at = describe_where(s, buf, n, strlen(buf));
    if (s->nice) {
        snprintf(text, sizeof text, ", nice %d", s->nice);
        at = append(buf, n, at, text);
    }
    at = append(buf, n, at, sched[s->sched]);
    for (uint32_t g = 0; g < s->background_n; g++) {
        const struct real_background *b = &s->background[g];
        snprintf(text, sizeof text, "; beside %u %s%s on %s, nice %d%s", b->count, real_kind_name(b->kind),
                 b->count == 1 ? "" : "s", cpus_text(&b->cpus, t[0], sizeof t[0]), b->nice, sched[b->sched]);
        at = append(buf, n, at, text);
    }
    if (s->duration_ns) {
        snprintf(text, sizeof text, "; %s after %s",
                 wb_format_quantity(t[0], sizeof t[0], (double)s->duration_ns * 1e3, WB_UNIT_TIME),
                 wb_format_quantity(t[1], sizeof t[1], (double)s->warmup_ns * 1e3, WB_UNIT_TIME));
        append(buf, n, at, text);
    }
    return buf;
}

double real_spec_seconds(const struct real_spec *s)
{
    return s->duration_ns ? (double)(s->duration_ns + s->warmup_ns) * 1e-9 + 0.1 : 0;
}
