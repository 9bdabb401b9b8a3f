/*
 * trace_machine.c - the machine and the kernel of a recording, from its notes or from perf's header.
 *
 * A symmetric machine is told as an hwloc synthetic string: equal packages, caches, cores; a node for each package or
 * one for all. Any other (nodes within a package, unequal packages) is told as the columns of machine.table. CPUs that
 * were offline are left out where they come last (as maxcpus= does it); others have no domains.
 */
#include <stdlib.h>
#include <string.h>

#include "trace_read.h"

/* Distinct values of one column of the notes among CPUs whose `within` column is the first CPU's. */
static uint32_t distinct(const struct trace *t, size_t column, size_t within, bool all)
{
    uint32_t n = 0;
    const char *mine = (const char *)&t->place[0] + within;
    for (uint32_t i = 0; i < t->nplaces; i++) {
        const char *v = (const char *)&t->place[i] + column;
        if (!all && strcmp((const char *)&t->place[i] + within, mine) != 0) continue;
        bool seen = false;
        for (uint32_t k = 0; k < i && !seen; k++) seen = !strcmp((const char *)&t->place[k] + column, v);
        n += !seen;
    }
    return n;
}

#define COLUMN(x) offsetof(struct trace_place, x)

static long number(const char *text)
{
    return strtol(text, NULL, 10);
}

/* CPU numbers in the order of packages, caches, cores: by first CPU of each. */
static int by_place(const void *a, const void *b, void *ctx)
{
    const struct trace *t = ctx;
    const struct trace_place *p = &t->place[*(const uint32_t *)a], *q = &t->place[*(const uint32_t *)b];
    long d = number(p->node) - number(q->node);
    if (!d) d = number(p->package) - number(q->package);
    if (!d) d = number(p->llc) - number(q->llc);
    if (!d) d = number(p->core) - number(q->core);
    if (!d) d = (long)*(const uint32_t *)a - (long)*(const uint32_t *)b;
    return (d > 0) - (d < 0);
}

static void write_numbers(const struct trace *t, char *buf, size_t n)
{
    uint32_t *cpu = calloc(t->nplaces, sizeof *cpu);
    size_t at = 0;
    buf[0] = 0;
    if (!cpu) return;
    for (uint32_t i = 0; i < t->nplaces; i++) cpu[i] = i;
    qsort_r(cpu, t->nplaces, sizeof *cpu, by_place, (void *)(uintptr_t)t);
    for (uint32_t i = 0; i < t->nplaces && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, "%s%u", i ? "," : "", cpu[i]);
    free(cpu);
}

/* Symmetric machines only, as hwloc's synthetic strings are. */
static bool from_notes(const struct trace *t, char *buf, size_t n)
{
    if (!t->nplaces) return false;
    for (uint32_t i = 0; i < t->nplaces; i++)
        if (!t->place[i].core[0] || !t->place[i].package[0]) return false;
    uint32_t nodes = WB_MAX(distinct(t, COLUMN(node), 0, true), 1u), packs = distinct(t, COLUMN(package), 0, true);
    uint32_t llcs = distinct(t, COLUMN(llc), COLUMN(package), false);
    uint32_t cores = distinct(t, COLUMN(core), COLUMN(llc), false);
    uint32_t cpus = packs * llcs * cores;
    if (!cpus || t->nplaces % cpus || packs % nodes) return false;
    char numbers[8 * TRACE_CPUS];
    write_numbers(t, numbers, sizeof numbers);
    bool per_pack = nodes == packs && nodes > 1;
    int len = snprintf(buf, n, "%spack:%u %sl3:%u core:%u pu:%u(indexes=%s)", per_pack ? "" : "[numa] ", packs,
                       per_pack ? "[numa] " : "", llcs, cores, t->nplaces / cpus, numbers);
    return len > 0 && (size_t)len < n && (nodes == 1 || per_pack);
}

/* Offline at the end: they are no part of the machine. */
static uint32_t told(const struct trace *t)
{
    uint32_t n = t->nplaces;
    while (n && !t->place[n - 1].core[0]) n--;
    return WB_MAX(n, t->ncpus);
}

bool trace_machine(const struct trace *t, char *buf, size_t n)
{
    if (from_notes(t, buf, n)) return true;
    uint32_t cpus = told(t);
    (void)snprintf(buf, n, "[numa] pack:1 l3:1 core:%u pu:1", cpus);
    return cpus && cpus <= t->nplaces && t->place[0].core[0];
}

bool trace_isolated(const struct trace *t, char *buf, size_t n)
{
    uint32_t cpus = told(t);
    size_t at = (size_t)snprintf(buf, n, "%s", t->isolated);
    for (uint32_t i = 0; i < cpus && cpus <= t->nplaces && at < n; i++)
        if (!t->place[i].core[0]) at += (size_t)snprintf(buf + at, n - at, "%s%u", at ? "," : "", i);
    return at > 0 && at < n;
}

const char *const trace_column_key[TRACE_COLUMNS] = {"machine.table.core", "machine.table.l3", "machine.table.package",
                                                     "machine.table.node"};

/* A number for each distinct text of a column, in the order of CPUs (nodes may have gaps in their numbers). */
static uint32_t number_in(const struct trace *t, size_t column, uint32_t cpu)
{
    const char *mine = (const char *)&t->place[cpu] + column;
    uint32_t k = 0, n = 0;
    if (!*mine) return column == COLUMN(node) ? 0 : TRACE_CPUS + cpu; /* offline: beside nobody */
    for (; strcmp((const char *)&t->place[k] + column, mine) != 0; k++) {
        bool seen = false;
        for (uint32_t i = 0; i < k && !seen; i++)
            seen = !strcmp((const char *)&t->place[i] + column, (const char *)&t->place[k] + column);
        n += !seen;
    }
    return n;
}

char *trace_machine_column(const struct trace *t, enum trace_column which)
{
    static const size_t column[TRACE_COLUMNS] = {COLUMN(core), COLUMN(llc), COLUMN(package), COLUMN(node)};
    char symmetric[8 * TRACE_CPUS], *text = NULL;
    size_t len = 0;
    uint32_t cpus = told(t);
    if (from_notes(t, symmetric, sizeof symmetric) || cpus > t->nplaces) return NULL;
    if (cpus && !t->place[0].core[0]) return NULL;
    FILE *f = cpus ? open_memstream(&text, &len) : NULL;
    if (!f) return NULL;
    for (uint32_t i = 0; i < cpus; i++) fprintf(f, "%s%u", i ? ", " : "[ ", number_in(t, column[which], i));
    fputs(" ]", f);
    if (!fclose(f)) return text;
    free(text);
    return NULL;
}

/* Kernel versions whose rules are modelled, newest first: each stands for those from there to the next. Where rules
 * changed between two of them, `from` is the version with the change. */
static const struct {
    uint32_t from; /* major, minor, patch of 2.6: a byte each */
    const char *profile;
} modelled[] = {
#define V(a, b, c) ((a) << 16 | (b) << 8 | (c))
    {V(6, 15, 0), "linux-6.18"},   {V(6, 12, 0), "linux-6.12"},
    {V(6, 6, 0), "linux-6.6"},     {V(5, 19, 0), "linux-6.1"}, /* 70fb5ccf2ebb: searches bounded by utilisation */
    {V(5, 8, 0), "linux-5.15"},    {V(3, 12, 0), "linux-5.4"}, /* 62470419e993: wake_wide */
    {V(2, 6, 36), "linux-2.6.36"}, {V(2, 6, 35), "linux-2.6.35"},
    {V(2, 6, 24), "linux-2.6.24"}, {V(2, 6, 23), "linux-2.6.23"},
};

/* "6.12.117+deb12-cloud-amd64" -> 6.12; the third number counts in 2.6 only. */
static bool read_version(const char *text, uint32_t *v)
{
    unsigned a, b, c = 0;
    int n = sscanf(text, "%u.%u.%u", &a, &b, &c);
    if (n < 2 || a > 255 || b > 255 || c > 1000) return false;
    *v = V(a, b, a == 2 ? WB_MIN(c, 255u) : 0);
    return true;
}

bool trace_kernel(const struct trace *t, char *buf, size_t n)
{
    uint32_t v;
    if (t->own_kernel[0]) return (size_t)snprintf(buf, n, "%s", t->own_kernel) < n;
    if (!read_version(t->kernel, &v)) return false;
    for (size_t i = 0; i < WB_ARRAY_SIZE(modelled); i++)
        if (v >= modelled[i].from) return (size_t)snprintf(buf, n, "%s", modelled[i].profile) < n;
    return false;
}

bool trace_kernel_is_near(const struct trace *t)
{
    char profile[64];
    uint32_t recorded, taken;
    if (t->own_kernel[0] || !read_version(t->kernel, &recorded) || !trace_kernel(t, profile, sizeof profile))
        return false;
    return !read_version(profile + strlen("linux-"), &taken) || taken != recorded;
}
