/*
 * trace_machine.c - the machine of a recording as an hwloc synthetic string, from its "### topo" notes.
 *
 * Symmetric machines only, as synthetic strings are: equal packages, caches, cores; a node for each package or one for
 * all.
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

bool trace_machine(const struct trace *t, char *buf, size_t n)
{
    if (from_notes(t, buf, n)) return true;
    (void)snprintf(buf, n, "[numa] pack:1 l3:1 core:%u pu:1", t->ncpus);
    return false;
}

/* "6.12.117+deb12-cloud-amd64" -> "linux-6.12". */
bool trace_kernel(const struct trace *t, char *buf, size_t n)
{
    char *dot, *end = NULL;
    unsigned long major = strtoul(t->kernel, &dot, 10), minor = *dot == '.' ? strtoul(dot + 1, &end, 10) : 0;
    if (t->own_kernel[0]) return (size_t)snprintf(buf, n, "%s", t->own_kernel) < n;
    if (dot == t->kernel || *dot != '.' || end == dot + 1) return false;
    return (size_t)snprintf(buf, n, "linux-%lu.%lu", major, minor) < n;
}
