/*
 * machine_file.c - writes a machine file: what `wakebal topology` prints.
 *
 * The keys and their help come from the key table, so a file written here is complete by construction. Keys that
 * cannot matter to the topology (distances that do not occur, caches that do not exist) are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology.h"
#include "wakebal/keys.h"
#include "wakebal/units.h"

#define DEPTH_MAX 4u

struct writer {
    const struct wb_topology *t;
    const struct wb_machine_file_options *opt;
    FILE *out;
    uint32_t depth; /* open groups */
    char open[DEPTH_MAX][32];
};

static bool has_distance(const struct wb_topology *t, const char *name)
{
    for (cpu_id c = 1; c < t->ncpus; c++)
        if (!strcmp(wb_distance_name(wb_topo_distance(t, 0, c)), name)) return true;
    return false;
}

static bool has_cache(const struct wb_topology *t, const char *name)
{
    for (uint32_t i = 0; i < t->ncaches; i++)
        if (name[0] == 'l' && (uint32_t)(name[1] - '0') == t->cache[i].level) return true;
    return false;
}

/* Does the part of a path after "machine." matter on this topology? */
static bool matters(const struct wb_topology *t, const char *key)
{
    static const char *const by_distance[] = {"line.transfer.", "transfer.", "ipi.flight_"};
    static const char *const by_cache[] = {"cache.l", "copy.l"};
    static const char *const elsewhere[] = {"topology",      "hwloc", "table", "numbering",  "numbers",
                                            "node_distance", "clock", "idle",  "timecounter"};
    char name[32];
    for (size_t i = 0; i < WB_ARRAY_SIZE(elsewhere); i++)
        if (!strncmp(key, elsewhere[i], strlen(elsewhere[i]))) return false;
    for (size_t i = 0; i < WB_ARRAY_SIZE(by_distance); i++) {
        size_t n = strlen(by_distance[i]);
        if (strncmp(key, by_distance[i], n)) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(key + n, "."), key + n);
        return has_distance(t, name);
    }
    for (size_t i = 0; i < WB_ARRAY_SIZE(by_cache); i++)
        if (!strncmp(key, by_cache[i], strlen(by_cache[i])) && strcmp(key, "cache.line"))
            return has_cache(t, key + strlen(by_cache[i]) - 1);
    if (!strncmp(key, "smt_share", 9)) return t->nsmt > (key[9] ? (uint32_t)(key[10] - '0') / 2 : 1);
    if (!strncmp(key, "memory.remote", 13) || !strncmp(key, "link.", 5) || !strcmp(key, "node_reclaim_distance"))
        return t->level[WB_LVL_NODE].ngroups > 1;
    return true;
}

static enum wb_unit unit_of(const struct wb_key *row, const char *text)
{
    size_t n = strlen(text);
    if (row->type == WB_KEY_COST) return n > 2 && !strcmp(text + n - 2, "cy") ? WB_UNIT_CYCLES : WB_UNIT_TIME;
    if (row->type == WB_KEY_RATE) return WB_UNIT_RATE;
    if (row->type == WB_KEY_RATIO) return WB_UNIT_RATIO;
    if (row->type == WB_KEY_FREQ) return WB_UNIT_FREQ;
    return row->type == WB_KEY_SIZE ? WB_UNIT_SIZE : WB_UNIT_COUNT;
}

/* The value of a row for this topology: sizes of its caches, else the default. */
static const char *value_of(const struct writer *w, const struct wb_key *row, char *buf, size_t n)
{
    const char *key = row->path + strlen("machine.");
    const struct wb_topology *t = w->t;
    for (uint32_t i = 0; i < t->nlevels; i++) {
        const struct wb_topo_cache *c = &t->cache[wb_topo_cache_of(t, 0, i)];
        char size[32];
        snprintf(size, sizeof size, "cache.l%u.size", c->level);
        if (!strcmp(key, size)) return wb_format_exact(buf, n, (int64_t)c->size, WB_UNIT_SIZE);
    }
    if (!strcmp(key, "cache.line")) return wb_format_exact(buf, n, t->cache[0].line, WB_UNIT_SIZE);
    return row->def;
}

/* "lo..hi": half to twice, inside the row's own limits. */
static void format_range(const struct wb_key *row, const char *text, char *buf, size_t n)
{
    enum wb_unit unit = unit_of(row, text);
    int64_t v = 0, max = INT64_MAX;
    const char *why;
    size_t at;
    char lo[32], hi[32];
    *buf = '\0';
    if (wb_parse_quantity(text, unit, &v, &why, &at)) return;
    if (row->max && unit != WB_UNIT_CYCLES && wb_parse_quantity(row->max, unit, &max, &why, &at)) max = INT64_MAX;
    snprintf(buf, n, "%s..%s", wb_format_exact(lo, sizeof lo, v > 1 ? v / 2 : v, unit),
             wb_format_exact(hi, sizeof hi, WB_MIN(v * 2, max), unit));
}

/* Close and open groups so that `key` ("cache.l1.read") can be written by its last name. */
static const char *enter(struct writer *w, const char *key)
{
    uint32_t depth = 0;
    for (const char *dot; (dot = strchr(key, '.')) != NULL && depth < DEPTH_MAX; key = dot + 1, depth++) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
        if (depth < w->depth && !strcmp(w->open[depth], name)) continue;
        while (w->depth > depth) fprintf(w->out, "%*s};\n", (int)(4 * --w->depth), "");
        fprintf(w->out, "%*s%s :\n%*s{\n", (int)(4 * depth), "", name, (int)(4 * depth), "");
        memcpy(w->open[w->depth++], name, sizeof name);
    }
    while (w->depth > depth) fprintf(w->out, "%*s};\n", (int)(4 * --w->depth), "");
    return key;
}

static void write_row(struct writer *w, const struct wb_key *row)
{
    char buf[64], range[80], known[400];
    const char *name = enter(w, row->path + strlen("machine."));
    const char *value = value_of(w, row, buf, sizeof buf);
    const char *cost =
        w->opt->cost ? w->opt->cost(w->opt->ctx, row->path + strlen("machine."), known, sizeof known) : NULL;
    int indent = (int)(4 * w->depth);
    bool bare = row->type == WB_KEY_INT || row->type == WB_KEY_BOOL;
    const char *quote = bare ? "" : "\"";
    format_range(row, value, range, sizeof range);
    fprintf(w->out, "%*s// %s\n", indent, "", row->help);
    if (cost)
        fprintf(w->out, "%*s%s = %s;\n", indent, "", name, cost);
    else if (row->flags & WB_KEY_PRICED && strcmp(value, "0 B/s") && strcmp(value, "0 B"))
        fprintf(w->out, "%*s%s = ( %s%s%s, \"assumed\", \"%s\", \"default of wakebal, not of this machine\" );\n",
                indent, "", name, quote, value, quote, range);
    else
        fprintf(w->out, "%*s%s = %s%s%s;\n", indent, "", name, quote, value, quote);
}

static int compare_rows(const void *a, const void *b)
{
    return strcmp((*(const struct wb_key *const *)a)->path, (*(const struct wb_key *const *)b)->path);
}

/* Top-level keys first, then groups in alphabetical order. */
static void write_costs(struct writer *w)
{
    size_t n, m = 0;
    const struct wb_key *rows = wb_machine_keys(&n);
    const struct wb_key **sorted = calloc(n, sizeof *sorted);
    if (!sorted) return;
    for (size_t i = 0; i < n; i++)
        if (rows[i].def && matters(w->t, rows[i].path + strlen("machine."))) sorted[m++] = &rows[i];
    qsort(sorted, m, sizeof *sorted, compare_rows);
    for (int grouped = 0; grouped < 2; grouped++)
        for (size_t i = 0; i < m; i++)
            if ((strchr(sorted[i]->path + strlen("machine."), '.') != NULL) == grouped) write_row(w, sorted[i]);
    enter(w, "");
    free(sorted);
}

/* Cache instances count on from level to level; in order of the lowest CPU, so CPU 0 has the first of its level. */
static void write_column(const struct writer *w, const char *name, const uint32_t *of, uint32_t stride)
{
    uint32_t base = stride > 1 ? of[0] : 0;
    fprintf(w->out, "    %s = [", name);
    for (cpu_id c = 0; c < w->t->ncpus; c++)
        fprintf(w->out, "%s%s%u", c ? "," : " ",
                c && c % 32 == 0 ? "\n        "
                : c              ? " "
                                 : "",
                of[(size_t)c * stride] - base);
    fprintf(w->out, " ];\n");
}

/* An irregular machine: one number per CPU and level. */
static void write_tables(const struct writer *w)
{
    const struct wb_topology *t = w->t;
    fprintf(w->out, "// Irregular: who shares what, by CPU number. Cache sizes are those of CPU 0.\ntable :\n{\n");
    write_column(w, "core", t->level[WB_LVL_CORE].of, 1);
    for (uint32_t i = 0; i < t->nlevels; i++) {
        char name[8];
        snprintf(name, sizeof name, "l%u", t->cache[wb_topo_cache_of(t, 0, i)].level);
        write_column(w, name, t->cache_of + i, t->nlevels);
    }
    write_column(w, "package", t->level[WB_LVL_PACKAGE].of, 1);
    write_column(w, "node", t->level[WB_LVL_NODE].of, 1);
    fprintf(w->out, "};\n");
}

static void write_distances(const struct writer *w)
{
    uint32_t nodes = w->t->level[WB_LVL_NODE].ngroups;
    if (nodes < 2) return;
    fprintf(w->out, "node_distance = [");
    for (uint32_t i = 0; i < nodes * nodes; i++)
        fprintf(w->out, "%s%s%u", i ? "," : " ", i && i % nodes == 0 ? "\n    " : i ? " " : "", w->t->node_distance[i]);
    fprintf(w->out, " ];\n");
}

static void write_clock(const struct writer *w, const struct wb_machine_file_options *opt)
{
    char clock[32], known[400];
    const char *cost = opt->cost ? opt->cost(opt->ctx, "clock", known, sizeof known) : NULL;
    if (cost)
        fprintf(w->out, "clock = %s;\n", cost);
    else if (opt->clock_hz)
        fprintf(w->out, "clock = ( \"%s\", \"measured\", \"\", \"%s\" );\n",
                wb_format_exact(clock, sizeof clock, (int64_t)opt->clock_hz, WB_UNIT_FREQ), opt->clock_source);
    else
        fprintf(w->out, "clock = ( \"2.5 GHz\", \"assumed\", \"1.25 GHz..5 GHz\", \"default of wakebal, not of this "
                        "machine\" );\n");
}

/* A string literal of libconfig: quotes and backslashes escaped, control characters made blanks. */
static void write_string(FILE *out, const char *key, const char *text)
{
    fprintf(out, "%s = \"", key);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', out);
        fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, out);
    }
    fprintf(out, "\";\n");
}

static void write_head(const struct writer *w, const struct wb_machine_file_options *opt)
{
    char title[300];
    snprintf(title, sizeof title, "%u CPUs, topology from %s", w->t->ncpus, opt->origin);
    fprintf(w->out, "%s",
            opt->head ? opt->head
                      : "// Machine file of wakebal. Costs are defaults and say so: put in what you know, with its "
                        "source, or calibrate.\n"
                        "// A cost is ( value, status, plausible range, source ); status: measured, quoted, derived, "
                        "assumed.\n");
    fprintf(w->out, "schema = 1;\n");
    write_string(w->out, "name", opt->name);
    write_string(w->out, "title", title);
    char *text = wb_topo_synthetic(w->t);
    if (text)
        write_string(w->out, "topology", text);
    else
        write_tables(w);
    free(text);
    write_distances(w);
    write_clock(w, opt);
}

static void write_idle(const struct writer *w)
{
    if (w->opt->idle) {
        fputs(w->opt->idle, w->out);
        return;
    }
    fprintf(
        w->out,
        "// Idle states, by name; the hardware of an idle CPU is in the last one whose `after` has passed.\n"
        "idle :\n{\n    c1 :\n    {\n        after = \"0 s\";\n"
        "        enter = ( \"500 ns\", \"assumed\", \"200 ns..1 us\", \"default of wakebal, not of this machine\" );\n"
        "        exit = ( \"1.5 us\", \"assumed\", \"0.5 us..5 us\", \"default of wakebal, not of this machine\" );\n"
        "        wake = \"ipi\";\n    };\n};\n");
}

char *wb_machine_file(const struct wb_topology *t, const struct wb_machine_file_options *opt)
{
    char *text = NULL;
    size_t n = 0;
    struct writer w = {.t = t, .opt = opt, .out = open_memstream(&text, &n)};
    if (!w.out) return NULL;
    write_head(&w, opt);
    write_costs(&w);
    write_idle(&w);
    return fclose(w.out) ? NULL : text;
}
