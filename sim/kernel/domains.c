/* domains.c - spans, groups and domains from a ladder of levels; dropping levels that add nothing. See domains.h. */
#include "domains.h"

#include <stdlib.h>
#include <string.h>

const char *const wb_sd_flag_name[] = {
    "LOAD_BALANCE", "BALANCE_NEWIDLE", "BALANCE_EXEC",        "BALANCE_FORK", "WAKE_IDLE",    "WAKE_AFFINE",
    "WAKE_BALANCE", "SHARE_CPUPOWER",  "SHARE_PKG_RESOURCES", "SERIALIZE",    "BALANCE_WAKE", "PREFER_SIBLING",
    "NUMA",         "ASYM_PACKING",    "ASYM_CPUCAPACITY",    "CLUSTER",      "OVERLAP",      "POWERSAVINGS_BALANCE",
    NULL,
};

struct builder {
    struct wb_sim *s;
    const struct wb_topology *topo;
    uint32_t ncpus, nwords, nnodes;
    uint64_t *windows; /* of single CPUs */
    struct wb_cpumask all;
    uint32_t *index;              /* [ncpus] position of a unit in its span, by its first CPU */
    const struct wb_cpumask *out; /* CPUs without domains, or NULL */
};

static bool is_out(const struct builder *b, cpu_id c)
{
    return b->out && wb_mask_test(b->out, c);
}

/* ---- disjoint sets that cover the machine ---- */

/* Caches end at nodes: of a cache that several nodes share (sub-NUMA clusters), CPUs of one node only count as siblings
 * (Linux arch/x86/kernel/smpboot.c match_llc, intel_cod_cpu; drivers/base/arch_topology.c cpu_coregroup_mask). */
static enum wb_topo_level topo_level(const struct builder *b, enum domains_span k, cpu_id c)
{
    static const enum wb_topo_level level[] = {
        [DOMAINS_SMT] = WB_LVL_CORE,        [DOMAINS_CLUSTER] = WB_LVL_CLUSTER, [DOMAINS_LLC] = WB_LVL_LLC,
        [DOMAINS_PACKAGE] = WB_LVL_PACKAGE, [DOMAINS_NODE] = WB_LVL_NODE,
    };
    uint32_t cache = 1, node = 1;
    if (k != DOMAINS_LLC) return level[k];
    (void)wb_topo_members(b->topo, WB_LVL_LLC, c, &cache);
    (void)wb_topo_members(b->topo, WB_LVL_NODE, c, &node);
    return cache > node ? WB_LVL_NODE : WB_LVL_LLC;
}

static bool is_set(enum domains_span k)
{
    return k >= DOMAINS_SMT && k <= DOMAINS_NODE;
}

static cpu_id first_of(const struct builder *b, enum domains_span k, cpu_id c)
{
    uint32_t n = b->ncpus, i = 0;
    if (k == DOMAINS_CPU) return c;
    const cpu_id *member = is_set(k) ? wb_topo_members(b->topo, topo_level(b, k, c), c, &n) : NULL;
    while (i + 1 < n && is_out(b, member ? member[i] : i)) i++;
    return member ? member[i] : i;
}

static uint32_t weight_of(const struct builder *b, enum domains_span k, cpu_id c)
{
    uint32_t n = k == DOMAINS_ALL ? b->ncpus : 1, in = 0;
    const cpu_id *member = is_set(k) ? wb_topo_members(b->topo, topo_level(b, k, c), c, &n) : NULL;
    if (!b->out || k == DOMAINS_CPU) return n;
    for (uint32_t i = 0; i < n; i++) in += !is_out(b, member ? member[i] : i);
    return in;
}

/* With the isolated CPUs. */
static uint32_t whole_weight(const struct builder *b, enum domains_span k, cpu_id c, uint32_t otherwise)
{
    uint32_t n = otherwise;
    if (is_set(k)) (void)wb_topo_members(b->topo, topo_level(b, k, c), c, &n);
    return k == DOMAINS_ALL ? b->ncpus : n;
}

static struct wb_cpumask single(struct builder *b, cpu_id c)
{
    if (!b->windows) {
        b->windows = wb_sim_alloc(b->s, WB_MASK_WINDOWS(b->ncpus) * sizeof *b->windows);
        memset(b->windows, 0, WB_MASK_WINDOWS(b->ncpus) * sizeof *b->windows);
        wb_mask_windows_init(b->windows, b->ncpus);
    }
    return wb_mask_single(b->windows, b->ncpus, c);
}

static struct wb_cpumask new_mask(struct builder *b)
{
    struct wb_cpumask m = {
        .ncpus = b->ncpus, .nwords = b->nwords, .w = wb_sim_alloc(b->s, b->nwords * sizeof(uint64_t))};
    memset(m.w, 0, b->nwords * sizeof(uint64_t));
    return m;
}

static const struct wb_cpumask *all_mask(struct builder *b)
{
    if (b->all.w) return &b->all;
    b->all = new_mask(b);
    for (cpu_id c = 0; c < b->ncpus; c++)
        if (!is_out(b, c)) wb_mask_set(&b->all, c);
    return &b->all;
}

static struct wb_cpumask without(struct builder *b, const struct wb_cpumask *m)
{
    struct wb_cpumask left = new_mask(b);
    for (cpu_id c = 0; c < b->ncpus; c++)
        if (wb_mask_test(m, c) && !is_out(b, c)) wb_mask_set(&left, c);
    return left;
}

static struct wb_cpumask mask_of(struct builder *b, enum domains_span k, cpu_id c)
{
    const struct wb_cpumask *m = is_set(k) ? wb_topo_mask(b->topo, topo_level(b, k, c), c) : NULL;
    if (m && b->out) return without(b, m);
    if (m) return *m;
    return k == DOMAINS_ALL ? *all_mask(b) : single(b, c);
}

/* ---- one level ---- */

struct rung {
    const struct wb_sd_level *level;
    enum domains_span span, unit; /* unit: what its groups are */
    const struct domains_row *row;
    const struct wb_sd *below;  /* [ncpus] the level below where its spans are the groups; NULL: `unit` says */
    struct wb_sd *sd;           /* [ncpus] */
    struct wb_sd_level *scaled; /* the level for spans of scaled_weight CPUs, when intervals grow with them */
    uint32_t scaled_weight;
};

static cpu_id first_of_unit(const struct builder *b, const struct rung *r, cpu_id c)
{
    return r->below ? wb_mask_first(r->below[c].span) : first_of(b, r->unit, c);
}

static void fill_group(struct builder *b, const struct rung *r, struct wb_sg *g, cpu_id first)
{
    const struct wb_sd *below = r->below ? &r->below[first] : NULL;
    WB_CHECK(g, "cpu %u begins a group of a domain that has none", first);
    *g = (struct wb_sg){.mask = below ? *below->span : mask_of(b, r->unit, first),
                        .first = first,
                        .weight = below ? below->span_weight : weight_of(b, r->unit, first)};
}

/* sd_init of 3.x and later: intervals in proportion to the span, isolated CPUs included (it takes tl->mask() as it is).
 */
static const struct wb_sd_level *level_of(struct builder *b, struct rung *r, cpu_id c, uint32_t weight)
{
    const struct domains_row *row = r->row;
    if (!row->min_per_span_cpu && !row->max_per_span_cpu) return r->level;
    if (b->out) weight = whole_weight(b, r->span, c, weight);
    if (r->scaled && r->scaled_weight == weight) return r->scaled;
    r->scaled = wb_sim_alloc(b->s, sizeof *r->scaled);
    r->scaled_weight = weight;
    *r->scaled = *r->level;
    r->scaled->min_interval += row->min_per_span_cpu * weight;
    r->scaled->max_interval += row->max_per_span_cpu * weight;
    r->scaled->initial_interval = r->scaled->min_interval;
    return r->scaled;
}

static void fill_sd(struct builder *b, struct rung *r, cpu_id c, const struct wb_cpumask *span, uint32_t weight)
{
    struct wb_sd *sd = &r->sd[c];
    sd->level = level_of(b, r, c, weight);
    sd->flags = sd->level->flags;
    sd->span = span;
    sd->span_weight = weight;
    sd->balance_interval_ms = WB_MAX(sd->level->initial_interval / WB_MS, 1u);
}

static const struct wb_cpumask *keep(struct builder *b, struct wb_cpumask m)
{
    struct wb_cpumask *k = wb_sim_alloc(b->s, sizeof *k);
    *k = m;
    wb_mask_trim(k);
    return k;
}

/* Every unit must lie within one span. */
static bool nests(const struct builder *b, const struct rung *r)
{
    enum domains_span span = r->span == DOMAINS_NODES ? DOMAINS_NODE : r->span;
    for (cpu_id c = 0; c < b->ncpus; c++)
        if (!is_out(b, c) && first_of(b, span, c) != first_of(b, span, first_of(b, r->unit, c))) return false;
    return true;
}

/* Spans that are disjoint. Ascending CPUs meet the groups of every span in ring order. */
static void raise_sets(struct builder *b, struct rung *r)
{
    uint32_t *count = wb_sim_alloc(b->s, b->ncpus * sizeof *count); /* groups of a span, by its first CPU */
    memset(count, 0, b->ncpus * sizeof *count);
    for (cpu_id c = 0; c < b->ncpus; c++)
        if (!is_out(b, c)) count[first_of(b, r->span, c)] += first_of_unit(b, r, c) == c;
    for (cpu_id c = 0; c < b->ncpus; c++) {
        if (is_out(b, c)) continue;
        cpu_id first = first_of(b, r->span, c), unit = first_of_unit(b, r, c);
        struct wb_sd *head = &r->sd[first];
        if (first == c) {
            fill_sd(b, r, c, keep(b, mask_of(b, r->span, c)), weight_of(b, r->span, c));
            head->groups = wb_sim_alloc(b->s, count[c] * sizeof *head->groups);
        } else {
            fill_sd(b, r, c, head->span, head->span_weight);
            r->sd[c].groups = head->groups;
        }
        if (unit == c) {
            b->index[c] = head->ngroups;
            fill_group(b, r, &head->groups[head->ngroups++], c);
        }
        r->sd[c].local = b->index[unit];
    }
    for (cpu_id c = 0; c < b->ncpus; c++)
        if (!is_out(b, c)) r->sd[c].ngroups = r->sd[first_of(b, r->span, c)].ngroups;
}

/* The node and its nearest: at equal distance the next by number, wrapping (2.6.10 arch/ia64 find_next_best_node). */
static void nearest_nodes(const struct builder *b, uint32_t node, uint32_t want, bool *chosen)
{
    const uint8_t *distance = b->topo->node_distance + (size_t)node * b->nnodes;
    memset(chosen, 0, b->nnodes * sizeof *chosen);
    chosen[node] = true;
    for (uint32_t k = 1; k < WB_MIN(want, b->nnodes); k++) {
        uint32_t best = node;
        for (uint32_t i = 1; i < b->nnodes; i++) {
            uint32_t n = (node + i) % b->nnodes;
            if (!chosen[n] && (best == node || distance[n] < distance[best])) best = n;
        }
        chosen[best] = true;
    }
}

static uint32_t node_of(const struct builder *b, cpu_id c)
{
    return wb_topo_group(b->topo, WB_LVL_NODE, c);
}

static void raise_node_list(struct builder *b, struct rung *r, uint32_t node, const bool *chosen)
{
    struct wb_cpumask span = new_mask(b);
    uint32_t ngroups = 0, weight = 0, at = 0;
    for (cpu_id c = 0; c < b->ncpus; c++) {
        if (!chosen[node_of(b, c)] || is_out(b, c)) continue;
        wb_mask_set(&span, c);
        weight++;
        ngroups += first_of_unit(b, r, c) == c;
    }
    const struct wb_cpumask *kept = keep(b, span);
    struct wb_sg *groups = wb_sim_alloc(b->s, ngroups * sizeof *groups);
    for (cpu_id c = 0; c < b->ncpus; c++) {
        if (!chosen[node_of(b, c)] || is_out(b, c)) continue;
        if (first_of_unit(b, r, c) == c) {
            b->index[c] = at;
            fill_group(b, r, &groups[at++], c);
        }
        if (node_of(b, c) != node) continue;
        fill_sd(b, r, c, kept, weight);
        r->sd[c].groups = groups;
        r->sd[c].ngroups = ngroups;
        r->sd[c].local = b->index[first_of_unit(b, r, c)];
    }
}

static bool within(const struct builder *b, cpu_id a, cpu_id c, uint32_t distance)
{
    uint32_t n = node_of(b, a), m = node_of(b, c);
    return n == m || b->topo->node_distance[(size_t)n * b->nnodes + m] <= distance;
}

/* Nodes within a distance. */
static void near_nodes(const struct builder *b, uint32_t node, uint32_t distance, bool *chosen)
{
    for (uint32_t n = 0; n < b->nnodes; n++)
        chosen[n] = n == node || b->topo->node_distance[(size_t)node * b->nnodes + n] <= distance;
}

static void raise_nodes(struct builder *b, struct rung *r)
{
    bool *chosen = wb_sim_alloc(b->s, b->nnodes * sizeof *chosen);
    uint32_t distance = r->row->hops ? domains_distance(b->topo, r->row->hops) : 0;
    for (uint32_t n = 0; n < b->nnodes; n++) {
        if (distance)
            near_nodes(b, n, distance, chosen);
        else
            nearest_nodes(b, n, r->row->span_nodes, chosen);
        raise_node_list(b, r, n, chosen);
    }
}

/* ---- dropping levels (2.6.12+ cpu_attach_domain; two in a row are both seen only from 2.6.28 on, not modelled)
 * ---- */

#define NEED_TWO_GROUPS \
    (WB_SD_LOAD_BALANCE | WB_SD_NEWIDLE | WB_SD_FORK | WB_SD_EXEC | WB_SD_SHARE_CPUPOWER | WB_SD_SHARE_PKG | \
     WB_SD_SERIALIZE | WB_SD_PREFER_SIBLING | WB_SD_NUMA | WB_SD_ASYM_PACKING | WB_SD_ASYM_CAPACITY | WB_SD_CLUSTER | \
     WB_SD_POWERSAVINGS)
#define NEED_NO_GROUPS (WB_SD_WAKE_IDLE | WB_SD_WAKE_AFFINE | WB_SD_WAKE_BALANCE | WB_SD_BALANCE_WAKE)

static bool degenerate(const struct wb_sd *sd)
{
    if (sd->span_weight == 1) return true;
    if (sd->flags & NEED_TWO_GROUPS && sd->ngroups > 1) return false;
    return !(sd->flags & NEED_NO_GROUPS);
}

/* Does `parent` add nothing to `sd`? WAKE_BALANCE is part of what WAKE_AFFINE does. */
static bool parent_degenerate(const struct wb_sd *sd, const struct wb_sd *parent)
{
    uint32_t flags = parent->flags;
    if (degenerate(parent)) return true;
    if (sd->span_weight != parent->span_weight) return false; /* spans nest */
    if (sd->flags & WB_SD_WAKE_AFFINE) flags &= ~(uint32_t)WB_SD_WAKE_BALANCE;
    if (parent->ngroups == 1) flags &= ~(uint32_t)NEED_TWO_GROUPS;
    return !(flags & ~sd->flags);
}

static struct wb_sd *drop_levels(struct wb_sd *lowest)
{
    for (struct wb_sd *sd = lowest; sd && sd->parent;) {
        if (!parent_degenerate(sd, sd->parent)) {
            sd = sd->parent;
            continue;
        }
        sd->parent = sd->parent->parent;
        if (sd->parent) sd->parent->child = sd;
    }
    if (!lowest || !degenerate(lowest)) return lowest;
    lowest = lowest->parent;
    if (lowest) lowest->child = NULL;
    return lowest;
}

/* ---- all of it ---- */

static void link_cpu(struct rung *rung, uint32_t n, cpu_id c, bool drop, struct wb_sd **lowest)
{
    for (uint32_t i = 0; i + 1 < n; i++) {
        rung[i].sd[c].parent = &rung[i + 1].sd[c];
        rung[i + 1].sd[c].child = &rung[i].sd[c];
    }
    struct wb_sd *sd = n ? &rung[0].sd[c] : NULL;
    *lowest = drop ? drop_levels(sd) : sd;
    uint8_t depth = 0;
    for (sd = *lowest; sd; sd = sd->parent) sd->depth = depth++;
}

/* Copies what is left of each CPU's chain of domains, one behind the other, and adds statistics: those of a level are
 * kept together for all CPUs. */
static void keep_domains(struct wb_sim *s, struct wb_sd **lowest, uint32_t ncpus)
{
    size_t n = 0;
    for (cpu_id c = 0; c < ncpus; c++)
        for (struct wb_sd *sd = lowest[c]; sd; sd = sd->parent) n++;
    struct wb_sd_stats *stats = wb_sim_alloc(s, DOMAINS_ROWS * sizeof *stats);
    struct wb_sd *to = wb_sim_alloc(s, n * sizeof *to + 1);
    for (cpu_id c = 0; c < ncpus; c++) {
        struct wb_sd *below = NULL;
        for (struct wb_sd *sd = lowest[c]; sd; sd = sd->parent) {
            *to = *sd;
            to->stats = &stats[sd->depth];
            to->child = below;
            if (below)
                below->parent = to;
            else
                lowest[c] = to;
            below = to++;
        }
    }
}

/* build_overlap_sched_groups: spans of nodes are groups of the level above where none overlaps another and each lies
 * within one span there; else nodes are. */
static void take_spans_below(const struct builder *b, struct rung *r, const struct rung *below)
{
    const struct wb_sd *sd = below->sd;
    if (below->span != DOMAINS_NODES || !below->row->hops) return;
    for (cpu_id c = 0; c < b->ncpus; c++) {
        if (is_out(b, c)) return; /* isolated CPUs and nodes in two boxes: not both */
        cpu_id first = wb_mask_first(sd[c].span);
        if (sd[c].span != sd[first].span && !wb_mask_equal(sd[c].span, sd[first].span)) return;
        if (sd[c].span_weight == b->ncpus) return;
    }
    r->below = sd;
    if (r->span != DOMAINS_NODES) return;
    uint32_t distance = domains_distance(b->topo, r->row->hops);
    for (cpu_id c = 0; c < b->ncpus; c++) {
        if (first_of(b, DOMAINS_NODE, c) != c) continue;
        for (cpu_id i = 0; i < b->ncpus; i++)
            if (within(b, c, i, distance) != within(b, c, wb_mask_first(sd[i].span), distance)) r->below = NULL;
    }
}

static enum domains_span unit_below(const struct domains_ladder *l, uint32_t i)
{
    if (!i) return DOMAINS_CPU;
    enum domains_span below = l->row[i - 1].span;
    return below == DOMAINS_NODES ? DOMAINS_NODE : below; /* overlapping spans cannot be groups: their nodes are */
}

/* What a level of nodes that are far apart does not do. */
static uint32_t lost_to_distance(const struct wb_topology *topo, const struct domains_row *row)
{
    uint32_t distance = row->hops ? domains_distance(topo, row->hops) : 0;
    for (uint32_t k = 1, d; !row->hops && (d = domains_distance(topo, k)); k++) distance = d;
    if (!row->reclaim_distance || distance <= row->reclaim_distance) return 0;
    return WB_SD_EXEC | WB_SD_FORK | WB_SD_WAKE_AFFINE;
}

/* Every level of every CPU, also those that fall away: for as long as the building takes. */
static struct wb_sd *rung_alloc(uint32_t ncpus)
{
    struct wb_sd *sd = calloc(ncpus, sizeof *sd);
    WB_MEMORY(sd, "out of memory for the domains of %u CPUs", ncpus);
    return sd;
}

static int free_rungs(const struct rung *rung, uint32_t n, int ret)
{
    for (uint32_t i = 0; i < n; i++) free(rung[i].sd);
    return ret;
}

int domains_make(struct wb_sim *s, const struct wb_topology *topo, const struct domains_ladder *l,
                 struct wb_sd **lowest)
{
    struct builder b = {
        .s = s, .topo = topo, .ncpus = topo->ncpus, .nwords = WB_CPUMASK_WORDS(topo->ncpus), .out = l->out};
    struct rung rung[DOMAINS_ROWS];
    struct wb_sd_level *level = wb_sim_alloc(s, (l->nrows + 1) * sizeof *level);
    b.nnodes = topo->level[WB_LVL_NODE].ngroups;
    b.index = wb_sim_alloc(s, b.ncpus * sizeof *b.index);
    for (uint32_t i = 0; i < l->nrows; i++) {
        level[i] = l->row[i].level;
        level[i].flags &= ~lost_to_distance(topo, &l->row[i]);
        rung[i] =
            (struct rung){.level = &level[i], .span = l->row[i].span, .unit = unit_below(l, i), .row = &l->row[i]};
        if (!nests(&b, &rung[i])) return free_rungs(rung, i, (int)i);
        if (i) take_spans_below(&b, &rung[i], &rung[i - 1]);
        rung[i].sd = rung_alloc(b.ncpus);
        if (rung[i].span == DOMAINS_NODES)
            raise_nodes(&b, &rung[i]);
        else
            raise_sets(&b, &rung[i]);
    }
    for (cpu_id c = 0; c < b.ncpus; c++) {
        lowest[c] = NULL;
        if (!is_out(&b, c)) link_cpu(rung, l->nrows, c, l->degenerate, &lowest[c]);
    }
    keep_domains(s, lowest, b.ncpus);
    return free_rungs(rung, l->nrows, -1);
}
