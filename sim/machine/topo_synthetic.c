/*
 * topo_synthetic.c - hwloc's one-line topologies, read by ourselves.
 *
 * hwloc could parse them, but it prints on stderr, adds objects of its own and cannot say which column is wrong. The
 * language is the one of hwloc 2.9 (topology-synthetic.c documents it): levels "type:count(attributes)" from the top
 * down, memory attached with brackets, sizes with kB/KiB suffixes, indexes= as a list, as step*count loops or as
 * types. tests/prop compares the two readers.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "topology.h"

#define LEVELS_MAX 24u

enum kind {
    KIND_PACKAGE,
    KIND_NODE,
    KIND_DIE,
    KIND_GROUP,
    KIND_CORE,
    KIND_PU,
    KIND_L1,
    KIND_L2,
    KIND_L3,
    KIND_L4,
    KIND_ICACHE
};

static const struct {
    const char *name;
    enum kind kind;
} type_names[] = {
    {"package", KIND_PACKAGE}, {"pack", KIND_PACKAGE}, {"socket", KIND_PACKAGE},  {"numanode", KIND_NODE},
    {"numa", KIND_NODE},       {"node", KIND_NODE},    {"die", KIND_DIE},         {"group", KIND_GROUP},
    {"core", KIND_CORE},       {"pu", KIND_PU},        {"l1cache", KIND_L1},      {"l1dcache", KIND_L1},
    {"l1d", KIND_L1},          {"l1", KIND_L1},        {"l2cache", KIND_L2},      {"l2d", KIND_L2},
    {"l2", KIND_L2},           {"l3cache", KIND_L3},   {"l3u", KIND_L3},          {"l3", KIND_L3},
    {"l4cache", KIND_L4},      {"l4", KIND_L4},        {"l1icache", KIND_ICACHE}, {"l1i", KIND_ICACHE},
    {"l2icache", KIND_ICACHE}, {"l2i", KIND_ICACHE},
};

struct level {
    enum kind kind;
    uint32_t count, total;
    uint64_t size;       /* of a cache */
    const char *indexes; /* into the text, or NULL */
    size_t indexes_len;
    const char *at; /* where it starts */
};

struct parser {
    const char *text, *p;
    const struct wb_topo_options *opt;
    struct wb_diag *d;
    struct level level[LEVELS_MAX];
    uint32_t nlevels;
    bool has_node;       /* nodes exist, as a level or attached */
    uint32_t node_depth; /* node[position] = position / pus per object of this level; nlevels of the root: 0 */
    uint32_t node_total;
    uint64_t node_memory;
    const char *node_indexes;
    size_t node_indexes_len;
};

/* Add an error at `at`; always -1. On the command line the text itself becomes the source to point into. */
static int WB_PRINTF(4, 5) complain(struct parser *s, const char *at, const char *fix, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct wb_place place = s->opt->place;
    if (!place.file) {
        place = (struct wb_place){.file = "topology", .line = 1, .col = 1};
        wb_diag_source(s->d, place.file, s->text, strlen(s->text), NULL);
    }
    place.col += (int)(at - s->text);
    place.len = 1;
    wb_diag_add(s->d, WB_ERROR, NULL, place, fix, "topology string: %s", text);
    return -1;
}

static size_t word_length(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n])) n++;
    return n;
}

static int find_type(const char *word, size_t n)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(type_names); i++)
        if (strlen(type_names[i].name) == n && !strncasecmp(type_names[i].name, word, n))
            return (int)type_names[i].kind;
    return -1;
}

static int parse_type(struct parser *s, enum kind *kind)
{
    size_t n = word_length(s->p);
    int k = n ? find_type(s->p, n) : -1;
    if (k < 0) {
        size_t shown = n ? n : 1;
        return complain(
            s, s->p, "levels are pack, numa, die, l3, l2, l1, core, pu, from the top down, each with a count: pack:2",
            "'%.*s' is not a level", (int)WB_MIN(shown, 40u), s->p);
    }
    s->p += n;
    *kind = (enum kind)k;
    return 0;
}

/* A number with an optional size suffix as hwloc takes them: kB MB GB TB (1000), KiB MiB GiB TiB (1024). */
static int parse_size(struct parser *s, uint64_t *size)
{
    static const struct {
        const char *suffix;
        uint64_t factor;
    } suffixes[] = {{"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30},   {"TiB", 1ull << 40},
                    {"kB", 1000ull},     {"MB", 1000000ull},  {"GB", 1000000000ull}, {"TB", 1000000000000ull}};
    const char *at = s->p;
    uint64_t v = 0;
    if (!isdigit((unsigned char)*s->p))
        return complain(s, at, "sizes are bytes or have a unit: size=6291456 or size=6MiB", "'%c' is not a size",
                        *at ? *at : ')');
    for (; isdigit((unsigned char)*s->p); s->p++) {
        if (v > (1ull << 50)) return complain(s, at, NULL, "this size is too large");
        v = v * 10 + (uint64_t)(*s->p - '0');
    }
    for (size_t i = 0; i < WB_ARRAY_SIZE(suffixes); i++) {
        size_t n = strlen(suffixes[i].suffix);
        if (strncasecmp(s->p, suffixes[i].suffix, n)) continue;
        if (v > (1ull << 50) / suffixes[i].factor) return complain(s, at, NULL, "this size is too large");
        v *= suffixes[i].factor;
        s->p += n;
        break;
    }
    if (*s->p && *s->p != ' ' && *s->p != ')')
        return complain(s, s->p, "units are kB, KiB, MB, MiB, GB, GiB", "'%c' after a size", *s->p);
    *size = v;
    return 0;
}

struct attributes {
    uint64_t size, memory;
    const char *indexes;
    size_t indexes_len;
};

static int parse_attribute(struct parser *s, struct attributes *a)
{
    static const char *const known[] = {"size", "memory", "indexes"};
    size_t n = word_length(s->p);
    const char *at = s->p;
    if (!n || s->p[n] != '=')
        return complain(s, s->p + n, "attributes are (size=6MiB), (memory=8GB), (indexes=0,8,1,9)",
                        "an attribute needs a value");
    s->p += n + 1;
    if (n == 4 && !strncasecmp(at, known[0], n)) return parse_size(s, &a->size);
    if (n == 6 && !strncasecmp(at, known[1], n)) return parse_size(s, &a->memory);
    if (n == 7 && !strncasecmp(at, known[2], n)) {
        a->indexes = s->p;
        a->indexes_len = strcspn(s->p, " )");
        s->p += a->indexes_len;
        return 0;
    }
    char word[16];
    snprintf(word, sizeof word, "%.*s", (int)WB_MIN(n, sizeof word - 1), at);
    const char *near = wb_nearest(word, known, WB_ARRAY_SIZE(known));
    char fix[80];
    snprintf(fix, sizeof fix, "did you mean '%s'?", near ? near : "");
    return complain(s, at, near ? fix : "attributes are size, memory, indexes", "unknown attribute '%s'", word);
}

/* "(a=b c=d)" or nothing. */
static int parse_attributes(struct parser *s, struct attributes *a)
{
    *a = (struct attributes){0};
    if (*s->p != '(') return 0;
    const char *open = s->p++;
    for (;;) {
        while (*s->p == ' ') s->p++;
        if (*s->p == ')') break;
        if (!*s->p) return complain(s, open, NULL, "this '(' is never closed");
        if (parse_attribute(s, a)) return -1;
    }
    s->p++;
    return 0;
}

static int parse_count(struct parser *s, const char *type_at, uint32_t *count)
{
    char fix[120];
    const char *at = s->p;
    size_t type_len = (size_t)(at - type_at);
    snprintf(fix, sizeof fix, "after '%.*s' a number is needed, for example %.*s1%s", (int)WB_MIN(type_len, 12u),
             type_at, (int)WB_MIN(type_len, 12u), type_at, *type_at == 'l' ? "(size=6291456)" : "");
    size_t n = strcspn(s->p, " (");
    if (!isdigit((unsigned char)*s->p))
        return complain(s, at, fix, "'%.*s' is not a count", (int)WB_MIN(n, 40u), n ? at : "");
    uint64_t v = 0;
    for (; isdigit((unsigned char)*s->p); s->p++) v = WB_MIN(v * 10 + (uint64_t)(*s->p - '0'), WB_CPUS_MAX + 1ull);
    if (*s->p && *s->p != ' ' && *s->p != '(' && *s->p != '[') return complain(s, s->p, fix, "'%c' in a count", *s->p);
    if (!v) return complain(s, at, fix, "a count of 0");
    *count = (uint32_t)v;
    return 0;
}

static int add_level(struct parser *s, struct level l)
{
    uint32_t above = s->nlevels ? s->level[s->nlevels - 1].total : 1;
    for (uint32_t i = 0; i < s->nlevels; i++)
        if (s->level[i].kind == l.kind && l.kind != KIND_GROUP)
            return complain(s, l.at, NULL, "this level appears twice");
    if (s->nlevels && s->level[s->nlevels - 1].kind == KIND_PU)
        return complain(s, l.at, "pu is the last level", "nothing can be below pu");
    if (s->nlevels == LEVELS_MAX) return complain(s, l.at, NULL, "more than %u levels", LEVELS_MAX);
    if ((uint64_t)above * l.count > WB_CPUS_MAX) return complain(s, l.at, NULL, "more than %u CPUs", WB_CPUS_MAX);
    l.total = above * l.count;
    s->level[s->nlevels++] = l;
    return 0;
}

static int set_node(struct parser *s, const char *at, uint32_t depth, const struct attributes *a)
{
    if (s->has_node) return complain(s, at, "attach memory at one level only", "NUMA nodes appear twice");
    s->has_node = true;
    s->node_depth = depth;
    s->node_total = depth ? s->level[depth - 1].total : 1;
    s->node_memory = a->memory;
    s->node_indexes = a->indexes;
    s->node_indexes_len = a->indexes_len;
    return 0;
}

/* "[numa]" or "[numa(memory=8GB)]": every object of the level before has a node. */
static int parse_bracket(struct parser *s)
{
    const char *open = s->p++;
    enum kind kind = KIND_NODE;
    struct attributes a;
    while (*s->p == ' ') s->p++;
    const char *at = s->p;
    if (parse_type(s, &kind)) return -1;
    if (kind != KIND_NODE) return complain(s, at, "write [numa]", "only NUMA nodes go into brackets");
    if (parse_attributes(s, &a)) return -1;
    while (*s->p == ' ') s->p++;
    if (*s->p != ']') return complain(s, open, "write [numa] or [numa(memory=8GB)]", "this '[' is never closed");
    s->p++;
    return set_node(s, at, s->nlevels, &a);
}

static int parse_level(struct parser *s)
{
    struct attributes a;
    struct level l = {.at = s->p};
    if (parse_type(s, &l.kind)) return -1;
    if (*s->p != ':') {
        char fix[80];
        snprintf(fix, sizeof fix, "write it with a count: %.*s:1", (int)WB_MIN((size_t)(s->p - l.at), 12u), l.at);
        return complain(s, s->p, fix, "a ':' and a count are missing after '%.*s'",
                        (int)WB_MIN((size_t)(s->p - l.at), 12u), l.at);
    }
    s->p++;
    if (parse_count(s, l.at, &l.count) || parse_attributes(s, &a)) return -1;
    l.size = a.size;
    l.indexes = a.indexes;
    l.indexes_len = a.indexes_len;
    if (add_level(s, l)) return -1;
    return l.kind == KIND_NODE ? set_node(s, l.at, s->nlevels, &a) : 0;
}

static int parse_text(struct parser *s)
{
    for (;;) {
        while (*s->p == ' ' || *s->p == '\t') s->p++;
        if (!*s->p) break;
        if (*s->p == '[' ? parse_bracket(s) : parse_level(s)) return -1;
    }
    if (!s->nlevels) return complain(s, s->text, "for example \"pack:2 l3:1 core:4 pu:1\"", "it is empty");
    const struct level *last = &s->level[s->nlevels - 1];
    if (last->kind != KIND_PU)
        return complain(s, last->at, "end it with the threads of a core: pu:1", "the last level is not pu");
    return 0;
}

/* --- indexes= --- */

struct loop {
    uint32_t step, nb;
    uint32_t depth; /* types form: level index + 1 */
};

static int read_number(const char **p, const char *end, uint32_t *v)
{
    if (*p == end || !isdigit((unsigned char)**p)) return -1;
    for (*v = 0; *p < end && isdigit((unsigned char)**p); (*p)++) {
        if (*v > WB_CPUS_MAX) return -1;
        *v = *v * 10 + (uint32_t)(**p - '0');
    }
    return 0;
}

static int read_list(struct parser *s, const char *p, const char *end, uint32_t total, uint32_t *out)
{
    for (uint32_t i = 0; i < total; i++) {
        uint32_t got = i + !read_number(&p, end, &out[i]);
        if (got == total) break;
        if (got == i || p == end || *p++ != ',')
            return complain(s, p, "give one number per object, separated by commas", "indexes: %u of %u numbers", got,
                            total);
    }
    return p == end ? 0 : complain(s, p, "give one number per object", "indexes: more than %u numbers", total);
}

/* "step*count:step*count" */
static int read_loops(struct parser *s, const char *p, const char *end, struct loop *loop, uint32_t *n)
{
    for (*n = 0; p < end; (*n)++) {
        const char *at = p;
        if (*n == LEVELS_MAX || read_number(&p, end, &loop[*n].step) || p == end || *p++ != '*' ||
            read_number(&p, end, &loop[*n].nb) || !loop[*n].step || !loop[*n].nb || (p < end && *p++ != ':'))
            return complain(s, at, "for example indexes=4*2:1*4", "indexes: step*count is needed");
    }
    return 0;
}

/* "core:pack": types, slowest number last; step and count follow from the levels. */
static int read_types(struct parser *s, const char *p, const char *end, uint32_t total, struct loop *loop, uint32_t *n)
{
    for (*n = 0; p < end; (*n)++) {
        size_t len = word_length(p);
        int kind = find_type(p, len);
        uint32_t depth = 0;
        for (uint32_t i = 0; i < s->nlevels; i++)
            if (kind >= 0 && s->level[i].kind == (enum kind)kind) depth = i + 1;
        if (kind == KIND_NODE && s->has_node) depth = s->node_depth;
        if (!depth || *n == LEVELS_MAX || (p + len < end && p[len] != ':'))
            return complain(s, p, "name levels of this string: indexes=core:pack",
                            "indexes: not a level of this topology");
        loop[*n].depth = depth;
        p += len + (p + len < end);
    }
    for (uint32_t i = 0; i < *n; i++) {
        uint32_t above = 0;
        for (uint32_t j = 0; j < *n; j++)
            if (loop[j].depth < loop[i].depth && loop[j].depth > above) above = loop[j].depth;
        uint32_t width = s->level[loop[i].depth - 1].total;
        loop[i].step = WB_MAX(1u, total / width);
        loop[i].nb = width / (above ? s->level[above - 1].total : 1);
    }
    return 0;
}

static int run_loops(struct parser *s, const char *at, struct loop *loop, uint32_t n, uint32_t total, uint32_t *out)
{
    uint64_t covered = 1;
    uint32_t min_step = total;
    for (uint32_t i = 0; i < n; i++) {
        covered *= loop[i].nb;
        min_step = WB_MIN(min_step, loop[i].step);
        if (covered > total) break;
    }
    if (covered != total && covered && covered < total && total % covered == 0 && min_step == total / covered &&
        n < LEVELS_MAX) {
        loop[n++] = (struct loop){.step = 1, .nb = total / (uint32_t)covered};
        covered = total;
    }
    if (covered != total)
        return complain(s, at, "the counts must multiply to the number of objects",
                        "indexes: the loops cover %llu of %u objects", (unsigned long long)covered, total);
    uint32_t mul = 1;
    for (uint32_t j = 0; j < total; j++) out[j] = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < total; j++) out[j] += j / loop[i].step % loop[i].nb * mul;
        mul *= loop[i].nb;
    }
    return 0;
}

/* Place of a spot inside the text, for checks that are shared with others. */
static struct wb_place place_of(const struct parser *s, const char *at)
{
    struct wb_place place = s->opt->place;
    if (!place.file) place = (struct wb_place){.file = "topology", .line = 1, .col = 1};
    place.col += (int)(at - s->text);
    place.len = 1;
    return place;
}

static int parse_indexes(struct parser *s, const char *at, size_t len, uint32_t total, uint32_t *out)
{
    struct loop loop[LEVELS_MAX];
    uint32_t n = 0;
    const char *end = at + len;
    if (strspn(at, "0123456789,") >= len) {
        if (read_list(s, at, end, total, out)) return -1;
    } else if (isdigit((unsigned char)*at)) {
        if (read_loops(s, at, end, loop, &n) || run_loops(s, at, loop, n, total, out)) return -1;
    } else if (read_types(s, at, end, total, loop, &n) || run_loops(s, at, loop, n, total, out)) {
        return -1;
    }
    return topo_check_numbers(out, total, total, place_of(s, at), s->d) ? -1 : 0;
}

/* --- tree -> table --- */

/* column[position] = which object of level `depth` (0: the whole machine) it is in. */
static void fill_column(const struct parser *s, uint32_t depth, uint32_t *column)
{
    uint32_t n = s->level[s->nlevels - 1].total;
    uint32_t per = depth ? n / s->level[depth - 1].total : n;
    for (uint32_t i = 0; i < n; i++) column[i] = i / per;
}

static int fill_nodes(struct parser *s, uint32_t *column)
{
    fill_column(s, s->node_depth, column);
    if (!s->node_indexes) return 0;
    uint32_t *number = calloc(s->node_total, sizeof *number);
    if (!number) return complain(s, s->text, NULL, "out of memory");
    int rc = parse_indexes(s, s->node_indexes, s->node_indexes_len, s->node_total, number);
    for (uint32_t i = 0; !rc && i < s->level[s->nlevels - 1].total; i++) column[i] = number[column[i]];
    free(number);
    return rc;
}

struct columns {
    uint32_t *block, *core, *package, *node, *numbers, *cache[WB_CACHE_LEVELS];
    uint64_t *memory;
    uint8_t *distance;
};

static int take_columns(struct columns *c, uint32_t n, uint32_t nodes)
{
    c->block = calloc((size_t)n * (4 + WB_CACHE_LEVELS), sizeof *c->block);
    c->memory = calloc(nodes, sizeof *c->memory);
    if (!c->block || !c->memory) return -1;
    c->core = c->block;
    c->package = c->core + n;
    c->node = c->package + n;
    c->numbers = c->node + n;
    for (uint32_t l = 0; l < WB_CACHE_LEVELS; l++) c->cache[l] = c->numbers + (size_t)(l + 1) * n;
    return 0;
}

static void set_cache(struct parser *s, uint32_t i, struct columns *c, struct wb_topo_table *tab)
{
    uint32_t l = (uint32_t)s->level[i].kind - KIND_L1;
    fill_column(s, i + 1, c->cache[l]);
    tab->cache[l] = c->cache[l];
    if (s->level[i].size) tab->cache_size[l] = s->level[i].size;
}

/* Levels of the string into columns of the table. */
static int fill_table(struct parser *s, struct columns *c, struct wb_topo_table *tab)
{
    const struct wb_topo_options *opt = s->opt;
    const struct level *pu = &s->level[s->nlevels - 1];
    for (uint32_t l = 0; l < WB_CACHE_LEVELS; l++) {
        tab->cache_size[l] = l < 2 ? opt->cache_size[l] : 0;
        tab->cache_line[l] = opt->line;
    }
    for (uint32_t i = 0; i < s->nlevels; i++) {
        enum kind k = s->level[i].kind;
        if (k == KIND_CORE) fill_column(s, i + 1, c->core), tab->core = c->core;
        if (k == KIND_PACKAGE) fill_column(s, i + 1, c->package), tab->package = c->package;
        if (k >= KIND_L1 && k <= KIND_L4) {
            uint32_t l = (uint32_t)k - KIND_L1;
            tab->cache_size[l] = opt->cache_size[l];
            set_cache(s, i, c, tab);
        }
    }
    if (s->has_node) {
        if (fill_nodes(s, c->node)) return -1;
        tab->node = c->node;
        for (uint32_t i = 0; i < s->node_total; i++) c->memory[i] = s->node_memory;
        tab->memory = c->memory;
        if (!tab->package) tab->package = c->node;
    }
    if (opt->numbering == WB_NUMBER_DEFAULT && pu->indexes) {
        if (parse_indexes(s, pu->indexes, pu->indexes_len, pu->total, c->numbers)) return -1;
        tab->numbering = WB_NUMBER_TABLE;
        tab->numbers = c->numbers;
    }
    return 0;
}

/* What the options say beside the text: numbering and node distances. */
static int apply_options(struct parser *s, struct wb_topo_table *tab)
{
    const struct wb_topo_options *opt = s->opt;
    uint32_t nodes = s->has_node ? s->node_total : 1;
    if (opt->numbering != WB_NUMBER_DEFAULT) tab->numbering = opt->numbering;
    if (opt->numbering == WB_NUMBER_TABLE) {
        if (topo_check_numbers(opt->numbers, opt->nnumbers, tab->ncpus, opt->numbers_place, s->d)) return -1;
        tab->numbers = opt->numbers;
    }
    if (opt->distance && opt->ndistance != nodes * nodes) {
        wb_diag_add(s->d, WB_ERROR, NULL, opt->numbers_place,
                    "give nodes x nodes numbers, row by row, 10 on the diagonal", "%u node distances for %u nodes",
                    opt->ndistance, nodes);
        return -1;
    }
    tab->distance = opt->distance;
    return 0;
}

struct wb_topology *wb_topo_from_synthetic(const char *text, const struct wb_topo_options *opt, struct wb_diag *d)
{
    struct parser s = {.text = text, .p = text, .opt = opt, .d = d};
    struct columns c = {0};
    struct wb_topology *t = NULL;
    if (parse_text(&s)) return NULL;
    struct wb_topo_table tab = {.ncpus = s.level[s.nlevels - 1].total, .text = text};
    if (take_columns(&c, tab.ncpus, s.has_node ? s.node_total : 1))
        complain(&s, text, NULL, "out of memory");
    else if (!fill_table(&s, &c, &tab) && !apply_options(&s, &tab))
        t = wb_topo_from_table(&tab, place_of(&s, text), d);
    free(c.block);
    free(c.memory);
    return t;
}
