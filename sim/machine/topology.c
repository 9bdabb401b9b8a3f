/* topology.c - groups, caches and distances out of a table of positions. */
#include "topology.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"

struct topo {
    struct wb_topology t; /* first: the public pointer is this object */
    struct arena arena;
};

/* What the builder has in hand; columns are by CPU here, not by position. */
struct builder {
    const struct wb_topo_table *tab;
    struct topo *o;
    struct wb_place at;
    struct wb_diag *d;
    uint32_t n;
    const uint32_t *position; /* [n] position of a CPU */
    uint32_t *scratch;        /* [n] */
    bool failed;              /* out of memory or a mistake: reported */
};

const char *wb_distance_name(enum wb_distance d)
{
    static const char *const names[] = {"self", "smt", "cluster", "llc", "package", "node", "remote"};
    WB_CHECK(d < WB_DISTANCES, "distance %d", (int)d);
    return names[d];
}

const char *wb_topo_level_name(enum wb_topo_level l)
{
    static const char *const names[] = {"core", "cluster", "llc", "package", "node"};
    WB_CHECK(l < WB_TOPO_LEVELS, "level %d", (int)l);
    return names[l];
}

static void *take(struct builder *b, size_t n, size_t size)
{
    void *p = b->failed ? NULL : arena_alloc(&b->o->arena, n, size, ARENA_LINE);
    if (!p && !b->failed) {
        wb_diag_add(b->d, WB_ERROR, NULL, b->at, NULL, "out of memory for a topology of %u CPUs", b->n);
        b->failed = true;
    }
    return p;
}

struct id_of_cpu {
    uint32_t id;
    cpu_id cpu;
};

static int compare_ids(const void *pa, const void *pb)
{
    const struct id_of_cpu *a = pa, *b = pb;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/* Rename arbitrary ids to 0, 1, ... in order of the lowest CPU that has them. of[] is changed in place. Returns how
 * many. */
static uint32_t make_dense(struct builder *b, uint32_t *of)
{
    struct id_of_cpu *pair = malloc(((size_t)b->n + 1) * sizeof *pair);
    uint32_t *leader = malloc(((size_t)b->n + 1) * sizeof *leader);
    uint32_t groups = 0;
    if (pair && leader) {
        for (uint32_t c = 0; c < b->n; c++) pair[c] = (struct id_of_cpu){of[c], c};
        qsort(pair, b->n, sizeof *pair, compare_ids);
        for (uint32_t i = 0; i < b->n; i++)
            leader[pair[i].cpu] = i && pair[i].id == pair[i - 1].id ? leader[pair[i - 1].cpu] : pair[i].cpu;
        for (uint32_t c = 0; c < b->n; c++) of[c] = leader[c] == c ? groups++ : of[leader[c]];
    } else if (!b->failed) {
        wb_diag_add(b->d, WB_ERROR, NULL, b->at, NULL, "out of memory for a topology of %u CPUs", b->n);
        b->failed = true;
    }
    free(pair);
    free(leader);
    return groups;
}

/* Column of the table by CPU; a missing column means one group for all or one per CPU. Dense ids. */
static uint32_t *take_column(struct builder *b, const uint32_t *column, bool own, uint32_t *groups)
{
    uint32_t *of = take(b, b->n, sizeof *of);
    if (!of) return NULL;
    for (uint32_t c = 0; c < b->n; c++) of[c] = column ? column[b->position[c]] : own ? c : 0;
    *groups = make_dense(b, of);
    return b->failed ? NULL : of;
}

/* Members by counting sort over dense ids; ascending because CPUs are scanned ascending. */
static void fill_members(struct builder *b, struct wb_topo_groups *g)
{
    uint32_t *first = take(b, g->ngroups + 1, sizeof *first);
    cpu_id *member = take(b, b->n, sizeof *member);
    if (b->failed) return;
    for (uint32_t c = 0; c < b->n; c++) first[g->of[c] + 1]++;
    for (uint32_t i = 0; i < g->ngroups; i++) first[i + 1] += first[i];
    memcpy(b->scratch, first, g->ngroups * sizeof *first);
    for (uint32_t c = 0; c < b->n; c++) member[b->scratch[g->of[c]]++] = c;
    g->first = first;
    g->member = member;
}

static void fill_masks(struct builder *b, struct wb_topo_groups *g)
{
    struct wb_cpumask *mask = take(b, g->ngroups, sizeof *mask);
    uint32_t words = WB_CPUMASK_WORDS(b->n), shared = 0;
    for (uint32_t i = 0; i < g->ngroups; i++) shared += g->first[i + 1] - g->first[i] > 1;
    uint64_t *w = take(b, (size_t)shared * words, sizeof *w);
    if (b->failed) return;
    for (uint32_t i = 0; i < g->ngroups; i++) {
        if (g->first[i + 1] - g->first[i] < 2) continue;
        mask[i] = (struct wb_cpumask){.ncpus = b->n, .nwords = words, .w = w};
        for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++) wb_mask_set(&mask[i], g->member[k]);
        wb_mask_trim(&mask[i]);
        w += words;
    }
    g->mask = mask;
}

/* A level that is made already and has the same groups, or NULL. Dense ids make equal partitions equal columns. */
static const struct wb_topo_groups *find_twin(const struct builder *b, const uint32_t *of, uint32_t groups)
{
    for (uint32_t l = 0; l < WB_TOPO_LEVELS; l++) {
        const struct wb_topo_groups *g = &b->o->t.level[l];
        if (g->mask && g->ngroups == groups && !memcmp(g->of, of, b->n * sizeof *of)) return g;
    }
    return NULL;
}

/* Level l from a column of dense ids; equal levels share their tables. */
static void set_level(struct builder *b, enum wb_topo_level l, const uint32_t *of, uint32_t groups)
{
    if (b->failed) return;
    struct wb_topo_groups *g = &b->o->t.level[l];
    const struct wb_topo_groups *twin = find_twin(b, of, groups);
    if (twin) {
        *g = *twin;
        return;
    }
    g->of = of;
    g->ngroups = groups;
    fill_members(b, g);
    if (!b->failed) fill_masks(b, g);
}

static bool level_exists(const struct wb_topo_table *tab, uint32_t l)
{
    return tab->cache[l] || tab->cache_size_at[l] || tab->cache_size[l];
}

struct cache_column {
    uint32_t level; /* 1 .. */
    uint32_t groups;
    const uint32_t *of;
};

/* Instances of one level; writes the cache_of column `index` and returns how many there are. */
static void add_caches(struct builder *b, const struct cache_column *col, uint32_t index, struct wb_topo_cache *cache,
                       uint32_t base)
{
    const struct wb_topo_table *tab = b->tab;
    struct wb_topology *t = &b->o->t;
    uint32_t *cache_of = (uint32_t *)(uintptr_t)t->cache_of;
    uint32_t l = col->level - 1;
    for (uint32_t c = 0; c < b->n; c++) {
        struct wb_topo_cache *k = &cache[base + col->of[c]];
        uint64_t size = tab->cache_size_at[l] ? tab->cache_size_at[l][b->position[c]] : tab->cache_size[l];
        cache_of[(size_t)c * t->nlevels + index] = base + col->of[c];
        if (!k->ncpus++) {
            k->level = col->level;
            k->size = size;
            k->line = tab->cache_line[l] ? tab->cache_line[l] : 64;
            k->first_cpu = c;
        }
        if (!size && !b->failed) {
            wb_diag_add(b->d, WB_ERROR, NULL, b->at, "give it a size: l2:1(size=262144)",
                        "topology: the L%u cache of CPU %u has no size", col->level, c);
            b->failed = true;
        }
    }
}

static void fill_caches(struct builder *b, const uint32_t *core, struct cache_column *col)
{
    struct wb_topology *t = &b->o->t;
    uint32_t total = 0;
    for (uint32_t l = 0; l < WB_CACHE_LEVELS; l++) {
        if (!level_exists(b->tab, l)) continue;
        struct cache_column *k = &col[t->nlevels];
        *k = (struct cache_column){.level = l + 1};
        if (b->tab->cache[l]) {
            k->of = take_column(b, b->tab->cache[l], false, &k->groups);
        } else {
            k->of = core;
            k->groups = t->level[WB_LVL_CORE].ngroups;
        }
        total += k->groups;
        t->nlevels++;
    }
    if (!t->nlevels && !b->failed) {
        wb_diag_add(b->d, WB_ERROR, NULL, b->at, "give it at least an L1", "topology: there is no cache at all");
        b->failed = true;
    }
    struct wb_topo_cache *cache = take(b, total, sizeof *cache);
    t->cache_of = take(b, (size_t)b->n * t->nlevels, sizeof *t->cache_of);
    if (b->failed) return;
    t->cache = cache;
    t->ncaches = total;
    uint32_t base = 0;
    for (uint32_t i = 0; i < t->nlevels; i++) {
        add_caches(b, &col[i], i, cache, base);
        base += col[i].groups;
    }
}

/* Every group of `in` must lie within one group of `out`: compare each CPU with the first of its inner group. */
static void check_nested(struct builder *b, const uint32_t *in, const char *in_name, const uint32_t *out,
                         const char *out_name)
{
    for (uint32_t c = 0; c < b->n; c++) b->scratch[c] = WB_NO_CPU;
    for (uint32_t c = 0; c < b->n && !b->failed; c++) {
        uint32_t *lead = &b->scratch[in[c]];
        if (*lead == WB_NO_CPU) *lead = c;
        if (out[*lead] == out[c]) continue;
        wb_diag_add(b->d, WB_ERROR, NULL, b->at, NULL, "topology: CPUs %u and %u share their %s but not their %s",
                    *lead, c, in_name, out_name);
        b->failed = true;
    }
}

static void check_nesting(struct builder *b, const struct cache_column *col)
{
    static const char *const names[] = {"L1", "L2", "L3", "L4"};
    const struct wb_topology *t = &b->o->t;
    const uint32_t *in = t->level[WB_LVL_CORE].of;
    const char *in_name = "core";
    for (uint32_t i = 0; i < t->nlevels && !b->failed; i++) {
        check_nested(b, in, in_name, col[i].of, names[col[i].level - 1]);
        in = col[i].of;
        in_name = names[col[i].level - 1];
    }
    if (!b->failed) check_nested(b, in, in_name, t->level[WB_LVL_PACKAGE].of, "package");
    if (!b->failed) check_nested(b, t->level[WB_LVL_CORE].of, "core", t->level[WB_LVL_NODE].of, "node");
}

/* Nodes keep the numbers of the table (distances are by node); they must be 0 .. nnodes-1 without a hole. */
static uint32_t *take_nodes(struct builder *b, uint32_t *nnodes)
{
    uint32_t *of = take(b, b->n, sizeof *of);
    if (!of) return NULL;
    uint32_t top = 0;
    memset(b->scratch, 0, b->n * sizeof *b->scratch);
    for (uint32_t c = 0; c < b->n; c++) {
        of[c] = b->tab->node ? b->tab->node[b->position[c]] : 0;
        if (of[c] < b->n) b->scratch[of[c]] = 1;
        top = WB_MAX(top, of[c]);
    }
    uint32_t filled = 0;
    while (filled < b->n && b->scratch[filled]) filled++;
    if (top >= WB_NODES_MAX || filled != top + 1) {
        wb_diag_add(b->d, WB_ERROR, NULL, b->at, "number nodes 0, 1, ... and give each at least one CPU",
                    "topology: node numbers are not 0, 1, ... without a gap, or above %u", WB_NODES_MAX - 1);
        b->failed = true;
        return NULL;
    }
    *nnodes = top + 1;
    return of;
}

static void fill_distances(struct builder *b)
{
    struct wb_topology *t = &b->o->t;
    uint32_t nn = t->level[WB_LVL_NODE].ngroups;
    uint8_t *dist = take(b, (size_t)nn * nn, 1);
    uint64_t *memory = take(b, nn, sizeof *memory);
    if (b->failed) return;
    for (uint32_t i = 0; i < nn * nn; i++) dist[i] = b->tab->distance ? b->tab->distance[i] : i % (nn + 1) ? 20 : 10;
    for (uint32_t i = 0; i < nn; i++) memory[i] = b->tab->memory ? b->tab->memory[i] : 0;
    t->node_distance = dist;
    t->node_memory = memory;
}

static void fill_smt(struct builder *b)
{
    struct wb_topology *t = &b->o->t;
    const struct wb_topo_groups *cores = &t->level[WB_LVL_CORE];
    uint8_t *smt = take(b, b->n, 1);
    if (b->failed) return;
    for (uint32_t g = 0; g < cores->ngroups; g++) {
        uint32_t threads = cores->first[g + 1] - cores->first[g];
        t->nsmt = WB_MAX(t->nsmt, threads);
        for (uint32_t k = 0; k < WB_MIN(threads, WB_SMT_MAX); k++) smt[cores->member[cores->first[g] + k]] = (uint8_t)k;
    }
    t->smt_index = smt;
    if (t->nsmt > WB_SMT_MAX) {
        wb_diag_add(b->d, WB_ERROR, NULL, b->at, NULL, "topology: %u threads in a core, the limit is %u", t->nsmt,
                    WB_SMT_MAX);
        b->failed = true;
    }
}

/* position[cpu] from the numbering. */
static void number_cpus(struct builder *b)
{
    uint32_t *number = take(b, b->n, sizeof *number), *position = take(b, b->n, sizeof *position);
    b->scratch = take(b, b->n + 1, sizeof *b->scratch);
    if (b->failed) return;
    const struct wb_topo_table *tab = b->tab;
    int rc = 0;
    if (tab->numbering == WB_NUMBER_TABLE) {
        rc = topo_check_numbers(tab->numbers, b->n, b->n, b->at, b->d);
        if (!rc) memcpy(number, tab->numbers, b->n * sizeof *number);
    } else {
        rc = topo_number_positions(tab->numbering, b->n, tab->core, tab->package, number);
    }
    if (rc) {
        b->failed = true;
        return;
    }
    for (uint32_t i = 0; i < b->n; i++) position[number[i]] = i;
    b->position = position;
}

enum wb_distance wb_topo_find_distance(const struct wb_topology *t, cpu_id a, cpu_id b)
{
    if (a == b) return WB_FAR_SELF;
    if (wb_topo_shares(t, WB_LVL_CORE, a, b)) return WB_FAR_SMT;
    if (wb_topo_shares(t, WB_LVL_LLC, a, b))
        return t->nlevels > 2 && wb_topo_shares(t, WB_LVL_CLUSTER, a, b) ? WB_FAR_CLUSTER : WB_FAR_LLC;
    if (wb_topo_shares(t, WB_LVL_PACKAGE, a, b)) return WB_FAR_PACKAGE;
    return wb_topo_shares(t, WB_LVL_NODE, a, b) ? WB_FAR_NODE : WB_FAR_REMOTE;
}

/* Asked for with every line that another CPU has. */
static void fill_far(struct builder *b)
{
    if (b->n > WB_FAR_TABLE_CPUS) return;
    uint8_t *far = take(b, (size_t)b->n * b->n, 1);
    if (b->failed) return;
    for (cpu_id i = 0; i < b->n; i++)
        for (cpu_id k = 0; k < b->n; k++) far[(size_t)i * b->n + k] = (uint8_t)wb_topo_find_distance(&b->o->t, i, k);
    b->o->t.far = far;
}

static void build_levels(struct builder *b)
{
    struct wb_topology *t = &b->o->t;
    struct cache_column col[WB_CACHE_LEVELS];
    uint32_t groups = 0;
    const uint32_t *core = take_column(b, b->tab->core, true, &groups);
    set_level(b, WB_LVL_CORE, core, groups);
    if (!b->failed) fill_smt(b);
    const uint32_t *package = b->failed ? NULL : take_column(b, b->tab->package, false, &groups);
    set_level(b, WB_LVL_PACKAGE, package, groups);
    const uint32_t *node = b->failed ? NULL : take_nodes(b, &groups);
    set_level(b, WB_LVL_NODE, node, groups);
    if (b->failed) return;
    fill_distances(b);
    fill_caches(b, core, col);
    if (b->failed) return;
    check_nesting(b, col);
    const struct cache_column *l2 = t->nlevels > 1 && col[1].level == 2 ? &col[1] : NULL;
    set_level(b, WB_LVL_CLUSTER, l2 ? l2->of : core, l2 ? l2->groups : t->level[WB_LVL_CORE].ngroups);
    set_level(b, WB_LVL_LLC, col[t->nlevels - 1].of, col[t->nlevels - 1].groups);
    if (!b->failed) fill_far(b);
}

struct wb_topology *wb_topo_from_table(const struct wb_topo_table *tab, struct wb_place at, struct wb_diag *d)
{
    if (!tab->ncpus || tab->ncpus > WB_CPUS_MAX) {
        wb_diag_add(d, WB_ERROR, NULL, at, NULL, "topology: %u CPUs; it must be 1..%u", tab->ncpus, WB_CPUS_MAX);
        return NULL;
    }
    struct topo *o = calloc(1, sizeof *o);
    if (!o) {
        wb_diag_add(d, WB_ERROR, NULL, at, NULL, "out of memory for a topology");
        return NULL;
    }
    arena_init(&o->arena, "topology");
    struct builder b = {.tab = tab, .o = o, .at = at, .d = d, .n = tab->ncpus};
    o->t.ncpus = tab->ncpus;
    number_cpus(&b);
    if (!b.failed) build_levels(&b);
    const char *text = tab->text ? tab->text : "";
    o->t.text = b.failed ? NULL : arena_strdup(&o->arena, text, strlen(text));
    if (o->t.text) return &o->t;
    wb_topology_free(&o->t);
    return NULL;
}

void wb_topology_free(struct wb_topology *t)
{
    if (!t) return;
    struct topo *o = (struct topo *)t;
    arena_free(&o->arena);
    free(o);
}

size_t wb_topology_bytes(const struct wb_topology *t)
{
    const struct topo *o = (const struct topo *)t;
    return sizeof *o + o->arena.reserved;
}
