/* topo_text.c - a topology back into a synthetic string, when it is regular enough. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology.h"

static _Thread_local const struct wb_topology *sort_by; /* for compare_cpus, set while sorting */

/* Depth first: node, package, last-level cache, cluster, core, thread. */
static int compare_cpus(const void *pa, const void *pb)
{
    static const enum wb_topo_level order[] = {WB_LVL_NODE, WB_LVL_PACKAGE, WB_LVL_LLC, WB_LVL_CLUSTER, WB_LVL_CORE};
    const struct wb_topology *t = sort_by;
    cpu_id a = *(const cpu_id *)pa, b = *(const cpu_id *)pb;
    for (size_t i = 0; i < WB_ARRAY_SIZE(order); i++) {
        uint32_t x = t->level[order[i]].of[a], y = t->level[order[i]].of[b];
        if (x != y) return x < y ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

/* Append to *text; on lack of memory *text becomes NULL and stays so. */
static void WB_PRINTF(2, 3) append(char **text, const char *fmt, ...)
{
    char *more = NULL, *joined = NULL;
    va_list ap;
    if (!*text) return;
    va_start(ap, fmt);
    int n = vasprintf(&more, fmt, ap);
    va_end(ap);
    if (n < 0 || asprintf(&joined, "%s%s", *text, more) < 0) joined = NULL;
    if (n >= 0) free(more);
    free(*text);
    *text = joined;
}

/* The levels; wrong for irregular machines, which the caller finds out by reading it back. */
static char *write_levels(const struct wb_topology *t)
{
    const struct wb_topo_groups *g = t->level;
    uint32_t packages = g[WB_LVL_PACKAGE].ngroups, nodes = g[WB_LVL_NODE].ngroups, llcs = g[WB_LVL_LLC].ngroups;
    uint32_t clusters = g[WB_LVL_CLUSTER].ngroups, cores = g[WB_LVL_CORE].ngroups;
    const struct wb_topo_cache *last = &t->cache[wb_topo_cache_of(t, 0, t->nlevels - 1)];
    char *text = strdup("");
    uint32_t above = packages;
    WB_CHECK(packages && nodes && llcs && clusters && cores, "a topology lacks a level");
    if (nodes == 1) append(&text, "[numa] ");
    append(&text, "pack:%u", packages);
    if (nodes == packages && nodes > 1) append(&text, " [numa]");
    if (nodes > packages) {
        append(&text, " group:%u [numa]", nodes / packages);
        above = nodes;
    }
    if (last->level > 2 || llcs != cores) {
        append(&text, " l%u:%u(size=%llu)", last->level, llcs / above, (unsigned long long)last->size);
        above = llcs;
    }
    if (t->nlevels > 2 && clusters != cores) {
        const struct wb_topo_cache *l2 = &t->cache[wb_topo_cache_of(t, 0, 1)];
        append(&text, " l2:%u(size=%llu)", clusters / above, (unsigned long long)l2->size);
        above = clusters;
    }
    append(&text, " core:%u pu:%u", cores / above, t->ncpus / cores);
    return text;
}

/* "(indexes=...)" unless positions and CPU numbers agree. */
static void write_indexes(const struct wb_topology *t, char **text)
{
    cpu_id *cpu = calloc(t->ncpus, sizeof *cpu);
    bool same = true;
    if (!cpu) return;
    for (cpu_id c = 0; c < t->ncpus; c++) cpu[c] = c;
    sort_by = t;
    qsort(cpu, t->ncpus, sizeof *cpu, compare_cpus);
    for (cpu_id c = 0; c < t->ncpus; c++) same &= cpu[c] == c;
    for (cpu_id c = 0; c < t->ncpus && !same; c++) append(text, "%s%u", c ? "," : "(indexes=", cpu[c]);
    if (!same) append(text, ")");
    free(cpu);
}

static bool same_groups(const struct wb_topology *a, const struct wb_topology *b)
{
    if (a->ncpus != b->ncpus || a->nlevels != b->nlevels) return false;
    for (uint32_t l = 0; l < WB_TOPO_LEVELS; l++)
        if (memcmp(a->level[l].of, b->level[l].of, a->ncpus * sizeof *a->level[l].of)) return false;
    for (cpu_id c = 0; c < a->ncpus; c++)
        for (uint32_t i = 0; i < a->nlevels; i++) {
            const struct wb_topo_cache *x = &a->cache[wb_topo_cache_of(a, c, i)],
                                       *y = &b->cache[wb_topo_cache_of(b, c, i)];
            if (x->level != y->level || x->size != y->size || x->ncpus != y->ncpus) return false;
        }
    return true;
}

char *wb_topo_synthetic(const struct wb_topology *t)
{
    char *text = write_levels(t);
    write_indexes(t, &text);
    if (!text) return NULL;
    struct wb_topo_options opt = {.line = t->cache[0].line};
    for (uint32_t i = 0; i < t->nlevels; i++) {
        const struct wb_topo_cache *c = &t->cache[wb_topo_cache_of(t, 0, i)];
        opt.cache_size[c->level - 1] = c->size;
    }
    struct wb_diag *quiet = wb_diag_new();
    struct wb_topology *back = wb_topo_from_synthetic(text, &opt, quiet);
    bool good = back && same_groups(t, back);
    wb_topology_free(back);
    wb_diag_free(quiet);
    if (good) return text;
    free(text);
    return NULL;
}
