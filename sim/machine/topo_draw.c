/* topo_draw.c - a topology as boxes: one per last-level cache, cores and their CPU numbers inside, nodes and packages
 * above. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology.h"
#include "wakebal/units.h"

#define CORE_LINES_MAX 4u /* lines of cores in a box */
#define BOX_ROWS_MAX 8u   /* rows of boxes */
#define BOXES_MAX 64u     /* boxes in a row */

struct pen {
    const struct wb_topology *t;
    FILE *out;
    uint32_t width;
    uint32_t digits;   /* of a CPU number */
    uint32_t cell;     /* columns of a core with its gap */
    const char *h, *v; /* line pieces */
    const char *corner[4];
    bool packages; /* packages are not nodes: name them too */
};

struct box {
    uint32_t llc;
    uint32_t ncores, per_line, lines; /* lines: shown */
    uint32_t inner;                   /* columns between the side lines */
};

static uint32_t count_digits(uint32_t v)
{
    uint32_t n = 1;
    while (v /= 10) n++;
    return n;
}

/* First CPU of the k-th core of a last-level cache, or WB_NO_CPU. */
static cpu_id core_of_llc(const struct wb_topology *t, uint32_t llc, uint32_t k)
{
    const struct wb_topo_groups *g = &t->level[WB_LVL_LLC], *cores = &t->level[WB_LVL_CORE];
    for (uint32_t i = g->first[llc]; i < g->first[llc + 1]; i++) {
        cpu_id c = g->member[i];
        if (cores->member[cores->first[cores->of[c]]] == c && !k--) return c;
    }
    return WB_NO_CPU;
}

static struct box plan_box(const struct pen *p, uint32_t llc)
{
    struct box b = {.llc = llc};
    while (core_of_llc(p->t, llc, b.ncores) != WB_NO_CPU && b.ncores < 4096) b.ncores++;
    uint32_t fit = p->width > p->cell + 4 ? (p->width - 3) / p->cell : 1;
    uint32_t lines = WB_MAX((b.ncores + fit - 1) / fit, 1u);
    b.per_line = (b.ncores + lines - 1) / lines;
    b.lines = WB_MIN(lines, CORE_LINES_MAX);
    b.inner = WB_MAX(b.per_line * p->cell, 14u);
    return b;
}

static void repeat(FILE *out, const char *s, uint32_t n)
{
    while (n--) fputs(s, out);
}

/* `text` in a field of `width` columns (ASCII text only). */
static void pad(FILE *out, const char *text, uint32_t width)
{
    fprintf(out, "%-*.*s", (int)width, (int)width, text);
}

static void draw_edge(const struct pen *p, const struct box *b, bool top)
{
    const struct wb_topo_cache *c = &p->t->cache[wb_topo_cache_of(
        p->t, p->t->level[WB_LVL_LLC].member[p->t->level[WB_LVL_LLC].first[b->llc]], p->t->nlevels - 1)];
    char size[32], name[48] = "";
    if (top)
        snprintf(name, sizeof name, " L%u %s ", c->level,
                 wb_format_quantity(size, sizeof size, (double)c->size, WB_UNIT_SIZE));
    uint32_t used = (uint32_t)strlen(name) + (top ? 1 : 0);
    fputs(p->corner[top ? 0 : 2], p->out);
    if (top) fputs(p->h, p->out);
    fputs(name, p->out);
    repeat(p->out, p->h, b->inner > used ? b->inner - used : 0);
    fputs(p->corner[top ? 1 : 3], p->out);
}

/* Cores that share an inner cache are bracketed: "[core0 core1]". */
static void core_name(const struct pen *p, cpu_id c, char *text, size_t n)
{
    const struct wb_topo_groups *cl = &p->t->level[WB_LVL_CLUSTER];
    uint32_t g = cl->of[c], core = p->t->level[WB_LVL_CORE].of[c];
    bool shared = p->t->nlevels > 2 && p->t->level[WB_LVL_CORE].of[cl->member[cl->first[g + 1] - 1]] !=
                                           p->t->level[WB_LVL_CORE].of[cl->member[cl->first[g]]];
    bool first = cl->member[cl->first[g]] == c;
    bool last = p->t->level[WB_LVL_CORE].of[cl->member[cl->first[g + 1] - 1]] == core;
    snprintf(text, n, "%score%u%s", shared && first ? "[" : "", core, shared && last && !first ? "]" : "");
}

static void core_cpus(const struct pen *p, cpu_id c, char *text, size_t n)
{
    uint32_t threads;
    const cpu_id *cpu = wb_topo_members(p->t, WB_LVL_CORE, c, &threads);
    size_t used = 0;
    for (uint32_t i = 0; i < threads && used < n; i++)
        used += (size_t)snprintf(text + used, n - used, i ? " %*u" : "%*u", (int)p->digits, cpu[i]);
}

/* One text line inside a box: row 2k names cores, row 2k + 1 lists their CPUs. */
static void draw_inside(const struct pen *p, const struct box *b, uint32_t row)
{
    char text[160];
    uint32_t used = 1;
    fprintf(p->out, "%s ", p->v);
    for (uint32_t i = 0; i < b->per_line; i++) {
        uint32_t k = row / 2 * b->per_line + i;
        cpu_id c = row / 2 < b->lines && k < b->ncores ? core_of_llc(p->t, b->llc, k) : WB_NO_CPU;
        if (c == WB_NO_CPU) continue;
        (row % 2 ? core_cpus : core_name)(p, c, text, sizeof text);
        uint32_t room = i + 1 < b->per_line ? p->cell : p->cell - 1;
        pad(p->out, text, room);
        used += room;
    }
    uint32_t shown = b->lines * b->per_line;
    if (row == 2 * b->lines && shown < b->ncores) {
        snprintf(text, sizeof text, "... %u more", b->ncores - shown);
        pad(p->out, text, b->inner - 1);
        used = b->inner;
    }
    repeat(p->out, " ", b->inner > used ? b->inner - used : 0);
    fputs(p->v, p->out);
}

/* The line above the boxes that names nodes (or packages) where they begin. */
static void draw_names(const struct pen *p, const struct box *b, uint32_t n, enum wb_topo_level l)
{
    char line[BOXES_MAX * 24 + 400];
    size_t at = 0;
    uint32_t column = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct wb_topo_groups *llc = &p->t->level[WB_LVL_LLC];
        cpu_id c = llc->member[llc->first[b[i].llc]];
        uint32_t g = p->t->level[l].of[c];
        bool begins = p->t->level[l].member[p->t->level[l].first[g]] == c;
        uint32_t last = p->t->level[l].of[llc->member[llc->first[b[i].llc + 1] - 1]];
        char name[80] = "", size[32];
        if (begins && last != g) /* sub-NUMA clusters: several nodes share the cache */
            snprintf(name, sizeof name, "Nodes %u to %u", g, last);
        else if (begins && l == WB_LVL_NODE && p->t->node_memory[g])
            snprintf(name, sizeof name, "Node %u (%s)", g,
                     wb_format_quantity(size, sizeof size, (double)p->t->node_memory[g], WB_UNIT_SIZE));
        else if (begins)
            snprintf(name, sizeof name, "%s %u", l == WB_LVL_NODE ? "Node" : "Package", g);
        while (at < column && at + 1 < sizeof line) line[at++] = ' ';
        if (at <= column && *name) at += (size_t)snprintf(line + at, sizeof line - at, "%s", name);
        column += b[i].inner + 3;
    }
    line[WB_MIN(at, sizeof line - 1)] = '\0';
    for (size_t k = strlen(line); k && line[k - 1] == ' ';) line[--k] = '\0';
    if (*line) fprintf(p->out, "%s\n", line);
}

static void draw_row(const struct pen *p, const struct box *b, uint32_t n)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < n; i++) rows = WB_MAX(rows, 2 * b[i].lines + (b[i].lines * b[i].per_line < b[i].ncores));
    draw_names(p, b, n, WB_LVL_NODE);
    if (p->packages) draw_names(p, b, n, WB_LVL_PACKAGE);
    for (uint32_t row = 0; row < rows + 2; row++) {
        for (uint32_t i = 0; i < n; i++) {
            if (i) fputc(' ', p->out);
            if (row && row <= rows)
                draw_inside(p, &b[i], row - 1);
            else
                draw_edge(p, &b[i], !row);
        }
        fputc('\n', p->out);
    }
}

static void draw_all(const struct pen *p)
{
    uint32_t total = p->t->level[WB_LVL_LLC].ngroups, next = 0;
    struct box b[BOXES_MAX];
    for (uint32_t row = 0; row < BOX_ROWS_MAX && next < total; row++) {
        uint32_t n = 0, columns = 0;
        while (next < total && n < BOXES_MAX) {
            b[n] = plan_box(p, next);
            if (n && columns + b[n].inner + 3 > p->width + 1) break;
            columns += b[n++].inner + 3;
            next++;
        }
        draw_row(p, b, n);
    }
    if (next < total) fprintf(p->out, "... %u more last-level caches, %u CPUs in all\n", total - next, p->t->ncpus);
}

static bool packages_are_nodes(const struct wb_topology *t)
{
    const struct wb_topo_groups *a = &t->level[WB_LVL_PACKAGE], *b = &t->level[WB_LVL_NODE];
    return a->ngroups == b->ngroups && !memcmp(a->of, b->of, t->ncpus * sizeof *a->of);
}

char *wb_topo_draw(const struct wb_topology *t, uint32_t width, bool unicode)
{
    char *text = NULL;
    size_t n = 0;
    struct pen p = {
        .t = t, .width = WB_MIN(WB_MAX(width, 20u), 400u), .h = "-", .v = "|", .corner = {"+", "+", "+", "+"}};
    if (unicode) {
        p.h = "─";
        p.v = "│";
        p.corner[0] = "┌";
        p.corner[1] = "┐";
        p.corner[2] = "└";
        p.corner[3] = "┘";
    }
    p.digits = WB_MAX(2u, count_digits(t->ncpus - 1));
    uint32_t names = 4 + count_digits(t->level[WB_LVL_CORE].ngroups - 1) + (t->nlevels > 2 ? 1 : 0);
    p.cell = WB_MAX(names, t->nsmt * (p.digits + 1) - 1) + 2;
    p.packages = !packages_are_nodes(t);
    p.out = open_memstream(&text, &n);
    if (!p.out) return NULL;
    draw_all(&p);
    return fclose(p.out) ? NULL : text;
}
