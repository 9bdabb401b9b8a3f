/* machine_spec.c - default costs, checks, and the tables that a machine derives from its spec. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine_impl.h"

#define GB 1000000000ull

/* The same figures as the defaults of the key table (keys_machine.c, which tells where they come from); a test
 * compares. */
void wb_machine_spec_defaults(struct wb_machine_spec *s)
{
    *s = (struct wb_machine_spec){
        .name = "default",
        .clock_hz = 2500000000ull,
        .cpi_ppm = 1000000,
        .smt_share_ppm = {1000000, 620000, 490000, 360000, 315000, 270000, 225000, 180000},
        .hit = {{40 * GB, 40 * GB, 1600},
                {30 * GB, 20 * GB, 4000},
                {20 * GB, 12 * GB, 16000},
                {15 * GB, 10 * GB, 40000}},
        .dirty = {[WB_FAR_SMT] = {20 * GB, 20 * GB, 10 * WB_NS},
                  [WB_FAR_CLUSTER] = {12 * GB, 9 * GB, 25 * WB_NS},
                  [WB_FAR_LLC] = {10 * GB, 7 * GB, 45 * WB_NS},
                  [WB_FAR_PACKAGE] = {5 * GB, 3 * GB, 100 * WB_NS},
                  [WB_FAR_NODE] = {3 * GB, 2 * GB, 150 * WB_NS},
                  [WB_FAR_REMOTE] = {4 * GB, 3 * GB, 120 * WB_NS}},
        .clean_forward = true,
        .memory = {{8 * GB, 5 * GB, 80 * WB_NS}, {5 * GB, 3 * GB, 130 * WB_NS}},
        .mlp = 1,
        .copy_rate = {10 * GB, 8 * GB, 6 * GB, 5 * GB},
        .upgrade_overlap = 4,
        .line_read = 1600,
        .line_write = 1600,
        .rmw_locked = 8 * WB_NS,
        .rmw_plain = 2400,
        .bus_span = WB_BUS_NONE,
        .memory_bw = {25 * GB, 0},
        .link = {11 * GB, 0},
        .ipi_send = 600 * WB_NS,
        .ipi_offset = 300 * WB_NS,
        .ipi_flight = {0, 300 * WB_NS, 300 * WB_NS, 300 * WB_NS, 400 * WB_NS, 500 * WB_NS, 600 * WB_NS},
        .ipi_entry = 400 * WB_NS,
        .nidle = 1,
        .idle =
            {{.name = "c1", .enter = 500 * WB_NS, .exit = {.kind = WB_DIST_FIXED, .a = 1500000}, .wake = WB_WAKE_IPI}},
    };
    for (uint32_t d = 0; d < WB_DISTANCES; d++) {
        s->clean[d] = s->dirty[d];
        s->upgrade[d] = s->dirty[d].latency;
    }
}

struct check {
    struct wb_diag *d;
    bool bad;
};

static void WB_PRINTF(2, 3) reject(struct check *k, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    wb_diag_add(k->d, WB_ERROR, NULL, (struct wb_place){0}, NULL, "machine: %s", text);
    k->bad = true;
}

static void check_supply(struct check *k, const struct wb_supply *s, const char *what)
{
    if (s->stream_read < RATE_MIN || s->stream_write < RATE_MIN) reject(k, "rate of %s is below 1 MB/s", what);
    if (s->latency > WB_S) reject(k, "latency of %s is above 1 s", what);
}

static void check_supplies(struct check *k, const struct wb_topology *t, const struct wb_machine_spec *s)
{
    static const char *const level[] = {"L1", "L2", "L3", "L4"};
    for (uint32_t i = 0; i < t->nlevels; i++) {
        uint32_t l = t->cache[wb_topo_cache_of(t, 0, i)].level - 1;
        check_supply(k, &s->hit[l], level[l]);
        if (s->copy_rate[l] < RATE_MIN) reject(k, "copy rate of %s is below 1 MB/s", level[l]);
    }
    for (uint32_t d = WB_FAR_SMT; d < WB_DISTANCES; d++) {
        check_supply(k, &s->dirty[d], wb_distance_name((enum wb_distance)d));
        check_supply(k, &s->clean[d], wb_distance_name((enum wb_distance)d));
    }
    check_supply(k, &s->memory[0], "memory");
    check_supply(k, &s->memory[1], "remote memory");
}

static void check_idle(struct check *k, const struct wb_machine_spec *s)
{
    if (!s->nidle || s->nidle > WB_IDLE_STATES_MAX) {
        reject(k, "%u idle states; it must be 1..%u", s->nidle, WB_IDLE_STATES_MAX);
        return;
    }
    if (s->idle[0].after) reject(k, "the first idle state '%s' must start at once (after = 0)", s->idle[0].name);
    for (uint32_t i = 1; i < s->nidle; i++)
        if (s->idle[i].after <= s->idle[i - 1].after)
            reject(k, "idle state '%s' must come later than '%s'", s->idle[i].name, s->idle[i - 1].name);
}

static void check_bandwidth(struct check *k, const struct wb_machine_spec *s)
{
    const struct wb_bandwidth *const all[] = {&s->bus, &s->memory_bw, &s->link};
    static const char *const name[] = {"bus", "memory controller", "link"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(all); i++) {
        if (all[i]->rate && all[i]->rate < RATE_MIN) reject(k, "rate of the %s is below 1 MB/s", name[i]);
        if (all[i]->core_rate && all[i]->core_rate < RATE_MIN)
            reject(k, "core rate of the %s is below 1 MB/s", name[i]);
    }
    if (s->bus_span != WB_BUS_NONE && !s->bus.rate) reject(k, "there is a bus without a rate");
}

static bool check_spec(const struct wb_topology *t, const struct wb_machine_spec *s, struct wb_diag *d)
{
    struct check k = {.d = d};
    if (t->ncaches > CACHES_MAX) reject(&k, "%u caches; the limit is %u", t->ncaches, CACHES_MAX);
    if (s->clock_hz < 1000000 || s->clock_hz > 100000000000ull) reject(&k, "clock must be 1 MHz..100 GHz");
    if (!s->cpi_ppm) reject(&k, "cpi must be above 0");
    for (uint32_t i = 0; i < WB_SMT_MAX; i++)
        if (!s->smt_share_ppm[i] || s->smt_share_ppm[i] > 1000000)
            reject(&k, "smt_share must be above 0 and at most 1");
    if (!s->mlp || !s->upgrade_overlap) reject(&k, "mlp and upgrade_overlap must be at least 1");
    check_supplies(&k, t, s);
    check_idle(&k, s);
    check_bandwidth(&k, s);
    return !k.bad;
}

/* ps per byte * 2^10 at a rate, not faster than cap (0 = no cap); rounded to nearest. */
static uint64_t rate_q10(uint64_t rate, uint64_t cap)
{
    if (cap && cap < rate) rate = cap;
    return (WB_S * 1024 + rate / 2) / rate;
}

/* One access per line, mlp of them in flight. */
static uint64_t latency_q10(sim_time latency, uint64_t line, uint32_t overlap)
{
    return (latency * 1024 + line * overlap / 2) / (line * overlap);
}

static struct price price_of(const struct wb_machine *m, const struct wb_supply *s, uint64_t cap)
{
    uint64_t random = latency_q10(s->latency, m->line_size, m->spec.mlp);
    return (struct price){{{rate_q10(s->stream_read, cap), rate_q10(s->stream_write, cap)}, {random, random}}};
}

/* Least of the caps that are set. */
static uint64_t least_cap(uint64_t a, uint64_t b)
{
    if (!a || !b) return a ? a : b;
    return WB_MIN(a, b);
}

static void derive_prices(struct wb_machine *m)
{
    const struct wb_machine_spec *s = &m->spec;
    for (uint32_t i = 0; i < m->topo->nlevels; i++) {
        uint32_t l = m->topo->cache[wb_topo_cache_of(m->topo, 0, i)].level - 1;
        m->index_of_level[l + 1] = (uint8_t)i;
        m->hit[i] = price_of(m, &s->hit[l], 0);
        m->copy_q[i] = rate_q10(s->copy_rate[l], 0);
    }
    uint64_t bus_cap = s->bus_span == WB_BUS_NONE ? 0 : s->bus.core_rate;
    uint64_t memory_cap = least_cap(bus_cap, s->memory_bw.core_rate);
    for (uint32_t d = WB_FAR_SMT; d < WB_DISTANCES; d++) {
        uint64_t cap = d < WB_FAR_PACKAGE ? 0 : d == WB_FAR_REMOTE ? least_cap(bus_cap, s->link.core_rate) : bus_cap;
        m->dirty[d] = price_of(m, &s->dirty[d], cap);
        m->clean[d] = price_of(m, &s->clean[d], cap);
        m->upgrade_q[d][WB_STREAM] = latency_q10(s->upgrade[d], m->line_size, s->upgrade_overlap);
        m->upgrade_q[d][WB_RANDOM] = latency_q10(s->upgrade[d], m->line_size, s->mlp);
    }
    m->line_local[WB_LINE_READ] = s->line_read;
    m->line_local[WB_LINE_WRITE] = s->line_write;
    m->line_local[WB_LINE_RMW] = m->line_local[WB_LINE_XCHG] = s->rmw_locked;
    m->line_local[WB_LINE_RMW_PLAIN] = s->rmw_plain;
    for (int far = WB_FAR_SMT; far < WB_FAR_PACKAGE; far++)
        for (int op = 0; op < WB_LINE_OPS; op++)
            if (s->dirty[far].latency) m->line_transfer[far][op] = WB_MAX(s->dirty[far].latency, m->line_local[op]);
    m->memory[0] = price_of(m, &s->memory[0], memory_cap);
    m->memory[1] = price_of(m, &s->memory[1], least_cap(memory_cap, s->link.core_rate));
}

static void count_servers(struct wb_machine *m)
{
    const struct wb_machine_spec *s = &m->spec;
    uint32_t nodes = m->topo->level[WB_LVL_NODE].ngroups;
    m->nbuses = s->bus_span == WB_BUS_NONE      ? 0
                : s->bus_span == WB_BUS_MACHINE ? 1
                                                : m->topo->level[WB_LVL_PACKAGE].ngroups;
    m->nmemories = s->memory_bw.rate ? nodes : 0;
    m->nlinks = s->link.rate && nodes > 1 ? nodes : 0;
    m->nservers = m->nbuses + m->nmemories + m->nlinks;
}

struct wb_machine *wb_machine_new(struct wb_topology *topo, const struct wb_machine_spec *spec, struct wb_diag *d)
{
    if (!topo) return NULL;
    struct wb_machine *m = check_spec(topo, spec, d) ? calloc(1, sizeof *m) : NULL;
    if (!m) {
        if (!wb_diag_count(d, WB_ERROR))
            wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){0}, NULL, "out of memory for a machine");
        wb_topology_free(topo);
        return NULL;
    }
    m->topo = topo;
    m->spec = *spec;
    m->line_size = topo->cache[wb_topo_cache_of(topo, 0, 0)].line;
    derive_prices(m);
    count_servers(m);
    return m;
}

void wb_machine_free(struct wb_machine *m)
{
    if (!m) return;
    wb_topology_free(m->topo);
    free(m->speed_ppm);
    free(m);
}

size_t wb_machine_bytes(const struct wb_machine *m)
{
    return sizeof *m + wb_topology_bytes(m->topo);
}

const struct wb_topology *wb_machine_topo(const struct wb_machine *m)
{
    return m->topo;
}

const struct wb_machine_spec *wb_machine_costs(const struct wb_machine *m)
{
    return &m->spec;
}

uint32_t wb_machine_ncpus(const struct wb_machine *m)
{
    return m->topo->ncpus;
}

/* ps = millicycles * 1e9 / Hz, rounded to nearest; 128 bits because a long path on a slow clock passes 2^64. */
sim_time wb_machine_cycles(const struct wb_machine *m, uint64_t millicycles, bool scaled)
{
    unsigned __int128 v = (unsigned __int128)millicycles * 1000000000u;
    uint64_t hz = m->spec.clock_hz;
    if (scaled) {
        v *= m->spec.cpi_ppm;
        hz *= 1000000;
    }
    return (sim_time)((v + hz / 2) / hz);
}
