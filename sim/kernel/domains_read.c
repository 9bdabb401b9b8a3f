/* domains_read.c - the rows of kernel.domains that apply to a build on a machine. */
#include "domains.h"

#include <stdio.h>
#include <string.h>

struct row_reader {
    const struct wb_config *cfg;
    size_t i;
    struct wb_diag *d;
    bool failed;
};

static const char *path(const struct row_reader *r, const char *key)
{
    return wb_cfg_path("kernel.domains[%zu].%s", r->i, key);
}
static int64_t number(const struct row_reader *r, const char *key)
{
    return wb_cfg_int(r->cfg, path(r, key));
}
static sim_time duration(const struct row_reader *r, const char *key)
{
    return (sim_time)wb_cfg_int(r->cfg, path(r, key));
}

static uint32_t flag_bit(const char *name)
{
    for (uint32_t i = 0; wb_sd_flag_name[i]; i++)
        if (!strcmp(wb_sd_flag_name[i], name)) return 1u << i;
    return 0;
}

static uint32_t read_flags(struct row_reader *r)
{
    uint32_t flags = 0;
    size_t n = wb_cfg_has(r->cfg, path(r, "flags")) ? wb_cfg_count(r->cfg, path(r, "flags")) : 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = wb_cfg_str_at(r->cfg, path(r, "flags"), i);
        uint32_t bit = flag_bit(name);
        flags |= bit;
        if (bit) continue;
        size_t known = 0;
        while (wb_sd_flag_name[known]) known++;
        const char *near = wb_nearest(name, wb_sd_flag_name, known);
        char fix[80] = "see wakebal help kernel.domains.flags";
        if (near) {
            strcpy(fix, "did you mean ");
            strncat(fix, near, sizeof fix - strlen(fix) - 1);
        }
        wb_cfg_error(r->cfg, r->d, path(r, "flags"), fix, "no domain flag is called '%s'", name);
        r->failed = true;
    }
    return flags;
}

static enum domains_span read_span(const struct row_reader *r)
{
    static const char *const names[] = {
        [DOMAINS_SMT] = "smt",   [DOMAINS_CLUSTER] = "cluster", [DOMAINS_LLC] = "llc", [DOMAINS_PACKAGE] = "package",
        [DOMAINS_NODE] = "node", [DOMAINS_NODES] = "nodes",     [DOMAINS_ALL] = "all"};
    const char *s = wb_cfg_str(r->cfg, path(r, "span"));
    for (enum domains_span k = DOMAINS_SMT; k <= DOMAINS_ALL; k++)
        if (!strcmp(names[k], s)) return k;
    return DOMAINS_ALL;
}

uint32_t domains_distance(const struct wb_topology *topo, uint32_t k)
{
    uint32_t nodes = topo->level[WB_LVL_NODE].ngroups, at = 10; /* local */
    for (; k; k--) {
        uint32_t next = UINT32_MAX;
        for (size_t i = 0; i < (size_t)nodes * nodes; i++)
            if (topo->node_distance[i] > at) next = WB_MIN(next, topo->node_distance[i]);
        if (next == UINT32_MAX) return 0;
        at = next;
    }
    return at;
}

/* Limits that grow with the machine: 8 * min(cpus, 32) ms and the like. */
static sim_time grown(const struct row_reader *r, const char *key, const char *per_cpu, uint32_t ncpus)
{
    int64_t cpus = WB_MIN((int64_t)ncpus, number(r, "per_cpu_limit"));
    sim_time t = duration(r, key) + duration(r, per_cpu) * (uint64_t)cpus;
    return t / WB_MS * WB_MS; /* the kernels divide whole numbers of ms */
}

static void read_row(struct row_reader *r, uint32_t ncpus, struct domains_row *row)
{
    row->span = read_span(r);
    row->span_nodes = (uint32_t)number(r, "span_nodes");
    row->hops = (uint32_t)number(r, "hops");
    row->reclaim_distance = (uint32_t)number(r, "reclaim_distance");
    if (row->reclaim_distance && wb_cfg_has(r->cfg, "machine.node_reclaim_distance"))
        row->reclaim_distance =
            WB_MAX(row->reclaim_distance, (uint32_t)wb_cfg_int(r->cfg, "machine.node_reclaim_distance"));
    row->min_per_span_cpu = duration(r, "min_interval_per_span_cpu");
    row->max_per_span_cpu = duration(r, "max_interval_per_span_cpu");
    row->level = (struct wb_sd_level){
        .name = wb_cfg_str(r->cfg, path(r, "level")),
        .flags = read_flags(r),
        .min_interval = duration(r, "min_interval"),
        .max_interval = grown(r, "max_interval", "max_interval_per_cpu", ncpus),
        .initial_interval = grown(r, "initial_interval", "initial_interval_per_cpu", ncpus),
        .cache_hot_time = duration(r, "cache_hot_time"),
        .busy_factor = (uint32_t)number(r, "busy_factor"),
        .imbalance_pct = (uint32_t)number(r, "imbalance_pct"),
        .cache_nice_tries = (uint32_t)number(r, "cache_nice_tries"),
        .per_cpu_gain = (uint32_t)number(r, "per_cpu_gain"),
        .busy_idx = (uint8_t)number(r, "busy_idx"),
        .idle_idx = (uint8_t)number(r, "idle_idx"),
        .newidle_idx = (uint8_t)number(r, "newidle_idx"),
        .wake_idx = (uint8_t)number(r, "wake_idx"),
        .forkexec_idx = (uint8_t)number(r, "forkexec_idx"),
        .smt_gain = (uint32_t)number(r, "smt_gain"),
        .rank = (uint32_t)r->i,
    };
}

/* Cores of several kinds: an x86 hybrid, if it is an x86. */
static bool is_hybrid(const struct row_reader *r)
{
    return wb_cfg_has(r->cfg, "machine.cpu_speed") && wb_cfg_count(r->cfg, "machine.cpu_speed");
}

/* `words` has `word` among its space-separated words. */
static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (!p[n] || p[n] == ' ')) return true;
    return false;
}

static bool built(const struct row_reader *r, const char *key)
{
    return !wb_cfg_has(r->cfg, key) || wb_cfg_bool(r->cfg, key);
}

static bool applies(const struct row_reader *r, const struct wb_topology *topo)
{
    const char *needs = wb_cfg_str(r->cfg, path(r, "needs"));
    if (!strcmp(needs, "smt") && !built(r, "kernel.sched_smt")) return false;
    if (!strcmp(needs, "cluster") && !built(r, "kernel.sched_cluster")) return false;
    if (!strcmp(needs, "cluster") && is_hybrid(r) && !built(r, "kernel.cluster_hybrid")) return false;
    if (!strcmp(needs, "mc") && !built(r, "kernel.sched_mc")) return false;
    if (topo->level[WB_LVL_NODE].ngroups < (uint32_t)number(r, "min_nodes")) return false;
    uint32_t hops = (uint32_t)number(r, "hops");
    if (hops && !domains_distance(topo, hops + 1)) return false;
    if (!wb_cfg_has(r->cfg, path(r, "arch")) || !wb_cfg_has(r->cfg, "kernel.arch")) return true;
    return has_word(wb_cfg_str(r->cfg, path(r, "arch")), wb_cfg_str(r->cfg, "kernel.arch"));
}

/* An architecture that no level names would leave out all that name one, without a word. */
static int check_arch(struct row_reader *r, size_t n)
{
    char named[160] = "";
    if (!wb_cfg_has(r->cfg, "kernel.arch")) return 0;
    const char *arch = wb_cfg_str(r->cfg, "kernel.arch");
    for (r->i = 0; r->i < n; r->i++) {
        if (!wb_cfg_has(r->cfg, path(r, "arch"))) continue;
        const char *words = wb_cfg_str(r->cfg, path(r, "arch"));
        if (has_word(words, arch)) return 0;
        size_t len = strlen(named);
        if (!strstr(named, words)) (void)snprintf(named + len, sizeof named - len, "%s%s", len ? " " : "", words);
    }
    if (!*named) return 0;
    wb_cfg_error(r->cfg, r->d, "kernel.arch", wb_cfg_path("the levels of this kernel name: %s", named),
                 "no level of kernel.domains is built for '%.40s'", arch);
    return -1;
}

int domains_read(const struct wb_config *cfg, const struct wb_topology *topo, struct domains_ladder *out,
                 struct wb_diag *d)
{
    struct row_reader r = {.cfg = cfg, .d = d};
    size_t n = wb_cfg_has(cfg, "kernel.domains") ? wb_cfg_count(cfg, "kernel.domains") : 0;
    *out = (struct domains_ladder){.degenerate =
                                       !wb_cfg_has(cfg, "kernel.degenerate") || wb_cfg_bool(cfg, "kernel.degenerate")};
    if (check_arch(&r, n)) return -1;
    for (r.i = 0; r.i < n; r.i++) {
        if (!applies(&r, topo)) continue;
        if (out->nrows == DOMAINS_ROWS) {
            wb_cfg_error(cfg, d, "kernel.domains", "leave levels out", "more than %u levels apply", DOMAINS_ROWS);
            return -1;
        }
        read_row(&r, topo->ncpus, &out->row[out->nrows++]);
    }
    return r.failed ? -1 : 0;
}

int domains_build(struct wb_sim *s, const struct wb_config *cfg, const struct wb_topology *topo, struct wb_sd **lowest,
                  struct wb_diag *d)
{
    struct domains_ladder l;
    struct wb_cpumask out = {.ncpus = topo->ncpus, .nwords = WB_CPUMASK_WORDS(topo->ncpus)};
    if (domains_read(cfg, topo, &l, d)) return -1;
    if (wb_cfg_has(cfg, "kernel.isolated")) {
        int64_t last = wb_cfg_cpus_max(cfg, "kernel.isolated");
        if (last >= (int64_t)topo->ncpus) {
            wb_cfg_error(cfg, d, "kernel.isolated", NULL, "there is no CPU %d", (int)last);
            return -1;
        }
        out.w = wb_sim_alloc(s, out.nwords * sizeof *out.w);
        memset(out.w, 0, out.nwords * sizeof *out.w);
        if (wb_cfg_cpus(cfg, "kernel.isolated", &out)) l.out = &out;
    }
    int bad = domains_make(s, topo, &l, lowest);
    if (bad < 0) return 0;
    wb_cfg_error(cfg, d, "kernel.domains",
                 "order the levels from small to large, and let each hold whole spans of the one below",
                 "on this machine level %s does not hold whole spans of %s", l.row[bad].level.name,
                 bad ? l.row[bad - 1].level.name : "CPUs");
    return -1;
}
