/* machine_build.c - from the machine.* keys of a scenario to a machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine_impl.h"
#include "wakebal/config.h"

enum field_kind { FIELD_COST, FIELD_RATE, FIELD_RATIO, FIELD_COUNT };

/* key -> field of the spec. Costs and rates are 64 bits wide, ratios and counts 32. */
static const struct {
    const char *key;
    enum field_kind kind;
    size_t offset;
} fields[] = {
#define AT(f) offsetof(struct wb_machine_spec, f)
#define LEVEL(l, i) \
    {"machine.cache." l ".latency", FIELD_COST, AT(hit[i].latency)}, \
        {"machine.cache." l ".read", FIELD_RATE, AT(hit[i].stream_read)}, \
        {"machine.cache." l ".write", FIELD_RATE, AT(hit[i].stream_write)}, \
    { \
        "machine.copy." l, FIELD_RATE, AT(copy_rate[i]) \
    }
#define FAR(d, i) \
    {"machine.line.transfer." d, FIELD_COST, AT(dirty[i].latency)}, \
        {"machine.transfer." d ".read", FIELD_RATE, AT(dirty[i].stream_read)}, \
        {"machine.transfer." d ".write", FIELD_RATE, AT(dirty[i].stream_write)}, \
    { \
        "machine.ipi.flight_" d, FIELD_COST, AT(ipi_flight[i]) \
    }
    LEVEL("l1", 0),
    LEVEL("l2", 1),
    LEVEL("l3", 2),
    LEVEL("l4", 3),
    FAR("smt", WB_FAR_SMT),
    FAR("cluster", WB_FAR_CLUSTER),
    FAR("llc", WB_FAR_LLC),
    FAR("package", WB_FAR_PACKAGE),
    FAR("node", WB_FAR_NODE),
    FAR("remote", WB_FAR_REMOTE),
    {"machine.mlp", FIELD_COUNT, AT(mlp)},
    {"machine.line.read", FIELD_COST, AT(line_read)},
    {"machine.line.write", FIELD_COST, AT(line_write)},
    {"machine.line.rmw", FIELD_COST, AT(rmw_locked)},
    {"machine.line.rmw_plain", FIELD_COST, AT(rmw_plain)},
    {"machine.line.upgrade_overlap", FIELD_COUNT, AT(upgrade_overlap)},
    {"machine.memory.latency", FIELD_COST, AT(memory[0].latency)},
    {"machine.memory.read", FIELD_RATE, AT(memory[0].stream_read)},
    {"machine.memory.write", FIELD_RATE, AT(memory[0].stream_write)},
    {"machine.memory.remote_latency", FIELD_COST, AT(memory[1].latency)},
    {"machine.memory.remote_read", FIELD_RATE, AT(memory[1].stream_read)},
    {"machine.memory.remote_write", FIELD_RATE, AT(memory[1].stream_write)},
    {"machine.memory.rate", FIELD_RATE, AT(memory_bw.rate)},
    {"machine.memory.core_rate", FIELD_RATE, AT(memory_bw.core_rate)},
    {"machine.bus.rate", FIELD_RATE, AT(bus.rate)},
    {"machine.bus.core_rate", FIELD_RATE, AT(bus.core_rate)},
    {"machine.bus.line_bytes", FIELD_COUNT, AT(line_bus_bytes)},
    {"machine.link.rate", FIELD_RATE, AT(link.rate)},
    {"machine.link.core_rate", FIELD_RATE, AT(link.core_rate)},
    {"machine.ipi.send", FIELD_COST, AT(ipi_send)},
    {"machine.ipi.offset", FIELD_COST, AT(ipi_offset)},
    {"machine.ipi.entry", FIELD_COST, AT(ipi_entry)},
};

static void fill_fields(const struct wb_config *cfg, struct wb_machine_spec *s)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(fields); i++) {
        void *p = (char *)s + fields[i].offset;
        if (fields[i].kind == FIELD_COST)
            *(sim_time *)p = wb_cfg_cost(cfg, fields[i].key, s->clock_hz, 1000000);
        else if (fields[i].kind == FIELD_RATE)
            *(uint64_t *)p = (uint64_t)wb_cfg_int(cfg, fields[i].key);
        else
            *(uint32_t *)p = (uint32_t)wb_cfg_int(cfg, fields[i].key);
    }
}

/* smt_share is given for 2, 4 and 8 busy threads; the others lie on straight lines between. */
static void fill_smt(const struct wb_config *cfg, struct wb_machine_spec *s)
{
    uint32_t two = (uint32_t)wb_cfg_int(cfg, "machine.smt_share"),
             four = (uint32_t)wb_cfg_int(cfg, "machine.smt_share_4");
    uint32_t eight = (uint32_t)wb_cfg_int(cfg, "machine.smt_share_8");
    s->smt_share_ppm[0] = 1000000;
    s->smt_share_ppm[1] = two;
    s->smt_share_ppm[2] = (two + four) / 2;
    for (uint32_t i = 0; i <= 4; i++) s->smt_share_ppm[3 + i] = (four * (4 - i) + eight * i) / 4;
}

/* Figures that follow from others. */
static void fill_derived(const struct wb_config *cfg, struct wb_machine_spec *s)
{
    static const char *const span[] = {"none", "machine", "package"};
    uint64_t upgrade = (uint64_t)wb_cfg_int(cfg, "machine.line.upgrade");
    for (uint32_t d = 0; d < WB_DISTANCES; d++) {
        s->clean[d] = s->dirty[d]; /* forwarding a clean line takes the way of a modified one */
        s->upgrade[d] = s->dirty[d].latency * upgrade / 1000000;
    }
    s->clean_forward = wb_cfg_bool(cfg, "machine.clean_forward");
    for (uint32_t i = 0; i < WB_ARRAY_SIZE(span); i++)
        if (!strcmp(wb_cfg_str(cfg, "machine.bus.span"), span[i])) s->bus_span = (enum wb_bus_span)i;
}

/* What only the keys together can get wrong. */
static int check_together(const struct wb_config *cfg, const struct wb_machine_spec *s, struct wb_diag *d)
{
    if (s->bus_span == WB_BUS_NONE || s->bus.rate) return 0;
    wb_cfg_error(cfg, d, "machine.bus.span", "say what it carries: bus : { rate = \"6.4 GB/s\"; }",
                 "a bus needs a rate");
    return -1;
}

static void fill_idle_state(const struct wb_config *cfg, const char *name, const struct wb_machine_spec *s,
                            struct wb_idle_state *st)
{
    static const char *const wake[] = {"poll", "monitor", "ipi"};
    *st = (struct wb_idle_state){
        .after = (sim_time)wb_cfg_int(cfg, wb_cfg_path("machine.idle.%s.after", name)),
        .enter = wb_cfg_cost(cfg, wb_cfg_path("machine.idle.%s.enter", name), s->clock_hz, 1000000),
        .exit = *wb_cfg_dist(cfg, wb_cfg_path("machine.idle.%s.exit", name)),
        .smt_load_ppm = (uint32_t)wb_cfg_int(cfg, wb_cfg_path("machine.idle.%s.smt_load", name))};
    snprintf(st->name, sizeof st->name, "%.15s", name);
    for (uint32_t i = 0; i < WB_ARRAY_SIZE(wake); i++)
        if (!strcmp(wb_cfg_str(cfg, wb_cfg_path("machine.idle.%s.wake", name)), wake[i]))
            st->wake = (enum wb_wake_kind)i;
}

/* Insert by `after`; states of equal `after` are a mistake of the file. */
static int add_idle_state(const struct wb_config *cfg, struct wb_machine_spec *s, const struct wb_idle_state *st,
                          struct wb_diag *d)
{
    if (s->nidle == WB_IDLE_STATES_MAX) {
        wb_cfg_error(cfg, d, wb_cfg_path("machine.idle.%s.after", st->name), NULL, "more than %u idle states",
                     WB_IDLE_STATES_MAX);
        return -1;
    }
    uint32_t at = s->nidle;
    while (at && s->idle[at - 1].after > st->after) at--;
    if (at && s->idle[at - 1].after == st->after) {
        wb_cfg_error(cfg, d, wb_cfg_path("machine.idle.%s.after", st->name),
                     "give each state another `after`, or say use = false",
                     "idle states '%s' and '%s' begin at the same time", s->idle[at - 1].name, st->name);
        return -1;
    }
    memmove(&s->idle[at + 1], &s->idle[at], (s->nidle - at) * sizeof *st);
    s->idle[at] = *st;
    s->nidle++;
    return 0;
}

static int fill_idle(const struct wb_config *cfg, struct wb_machine_spec *s, struct wb_diag *d)
{
    const char *name;
    if (!wb_cfg_member(cfg, "machine.idle", 0)) return 0; /* the default state stands */
    s->nidle = 0;
    for (size_t i = 0; (name = wb_cfg_member(cfg, "machine.idle", i)) != NULL; i++) {
        struct wb_idle_state st;
        if (!wb_cfg_bool(cfg, wb_cfg_path("machine.idle.%s.use", name))) continue;
        fill_idle_state(cfg, name, s, &st);
        if (add_idle_state(cfg, s, &st, d)) return -1;
    }
    if (!s->nidle || s->idle[0].after) {
        const char *first = s->nidle ? s->idle[0].name : wb_cfg_member(cfg, "machine.idle", 0);
        wb_cfg_error(cfg, d, wb_cfg_path("machine.idle.%s.%s", first, s->nidle ? "after" : "use"),
                     "the state that idling begins with has after = \"0 s\"", "no idle state begins at once");
        return -1;
    }
    return 0;
}

/* --- topology --- */

/* A TABLE of 32-bit numbers, malloc'd; NULL with *n = 0 when the key has no value. */
static uint32_t *take_table(const struct wb_config *cfg, const char *path, uint32_t *n)
{
    *n = 0;
    if (!wb_cfg_has(cfg, path)) return NULL;
    size_t count = wb_cfg_count(cfg, path);
    uint32_t *v = calloc(count ? count : 1, sizeof *v);
    WB_MEMORY(v, "out of memory for %s", path);
    for (size_t i = 0; i < count; i++) v[i] = (uint32_t)WB_MIN((uint64_t)wb_cfg_int_at(cfg, path, i), UINT32_MAX);
    *n = (uint32_t)count;
    return v;
}

static void fill_numbering(const struct wb_config *cfg, struct wb_topo_options *opt)
{
    static const char *const names[] = {"default", "smt_first", "smt_last", "interleaved"};
    for (uint32_t i = 0; i < WB_ARRAY_SIZE(names); i++)
        if (!strcmp(wb_cfg_str(cfg, "machine.numbering"), names[i])) opt->numbering = (enum wb_numbering)i;
    opt->numbers = take_table(cfg, "machine.numbers", &opt->nnumbers);
    if (opt->numbers) opt->numbering = WB_NUMBER_TABLE;
}

static int fill_distance(const struct wb_config *cfg, struct wb_topo_options *opt, struct wb_diag *d)
{
    uint32_t n, *v = take_table(cfg, "machine.node_distance", &n);
    if (!v) return 0;
    uint8_t *dist = calloc(n ? n : 1, 1);
    WB_MEMORY(dist, "out of memory for machine.node_distance");
    int rc = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (v[i] < 10 || v[i] > 255) {
            wb_cfg_error(cfg, d, "machine.node_distance", "as in the ACPI SLIT: 10 is local, 20 twice as far",
                         "node distance %u is not in 10..255", v[i]);
            rc = -1;
        }
        dist[i] = (uint8_t)v[i];
    }
    free(v);
    opt->distance = dist;
    opt->ndistance = n;
    return rc;
}

static void fill_cache_sizes(const struct wb_config *cfg, struct wb_topo_options *opt)
{
    for (uint32_t l = 0; l < WB_CACHE_LEVELS; l++)
        opt->cache_size[l] = (uint64_t)wb_cfg_int(cfg, wb_cfg_path("machine.cache.l%u.size", l + 1));
    opt->line = (uint32_t)wb_cfg_int(cfg, "machine.cache.line");
}

/* machine.hwloc: as given when absolute or there, else beside the file that names it. Malloc'd. */
static char *find_beside(const struct wb_config *cfg, const char *key)
{
    const char *name = wb_cfg_str(cfg, key);
    const struct wb_origin *o = wb_cfg_origin(cfg, key);
    const char *slash = o && o->place.file ? strrchr(o->place.file, '/') : NULL;
    char *path = NULL;
    if (*name == '/' || !slash) return strdup(name);
    return asprintf(&path, "%.*s/%s", (int)(slash - o->place.file), o->place.file, name) < 0 ? NULL : path;
}

struct table_columns {
    uint32_t *column[7]; /* core l1 l2 l3 l4 package node */
    uint32_t n;
};

static const char *const column_key[] = {"machine.table.core", "machine.table.l1", "machine.table.l2",
                                         "machine.table.l3",   "machine.table.l4", "machine.table.package",
                                         "machine.table.node"};

static int take_columns(const struct wb_config *cfg, struct table_columns *c, struct wb_diag *d)
{
    int rc = 0;
    for (uint32_t i = 0; i < WB_ARRAY_SIZE(column_key); i++) {
        uint32_t n;
        c->column[i] = take_table(cfg, column_key[i], &n);
        if (!c->column[i]) continue;
        if (!c->n) c->n = n;
        if (n == c->n) continue;
        wb_cfg_error(cfg, d, column_key[i], "every column needs one number per CPU",
                     "this column has %u numbers, others have %u", n, c->n);
        rc = -1;
    }
    return rc;
}

static struct wb_topology *from_columns(const struct wb_config *cfg, const struct table_columns *c,
                                        const struct wb_topo_options *opt, struct wb_diag *d)
{
    struct wb_topo_table tab = {.ncpus = c->n,
                                .core = c->column[0],
                                .package = c->column[5],
                                .node = c->column[6],
                                .numbering = opt->numbering,
                                .numbers = opt->numbers,
                                .text = ""};
    for (uint32_t l = 0; l < WB_CACHE_LEVELS; l++) {
        tab.cache[l] = c->column[1 + l];
        if (l < 2 || tab.cache[l]) tab.cache_size[l] = opt->cache_size[l];
        tab.cache_line[l] = opt->line;
    }
    if (opt->numbers && opt->nnumbers != c->n) {
        wb_cfg_error(cfg, d, "machine.numbers", NULL, "%u numbers for %u CPUs", opt->nnumbers, c->n);
        return NULL;
    }
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < c->n && tab.node; i++) nodes = WB_MAX(nodes, tab.node[i]);
    nodes++;
    if (opt->distance && opt->ndistance != nodes * nodes) {
        wb_cfg_error(cfg, d, "machine.node_distance", NULL, "%u node distances for %u nodes", opt->ndistance, nodes);
        return NULL;
    }
    tab.distance = opt->distance;
    const struct wb_origin *o = wb_cfg_origin(cfg, "machine.table.core");
    return wb_topo_from_table(&tab, o ? o->place : (struct wb_place){0}, d);
}

static struct wb_topology *make_topology(const struct wb_config *cfg, const struct wb_topo_options *opt,
                                         struct wb_diag *d)
{
    struct table_columns c = {{NULL}, 0};
    struct wb_topology *t = NULL;
    int rc = take_columns(cfg, &c, d);
    if (rc) {
        t = NULL;
    } else if (wb_cfg_has(cfg, "machine.hwloc")) {
        char *path = find_beside(cfg, "machine.hwloc");
        t = path ? wb_topo_from_hwloc_xml(path, opt, d) : NULL;
        free(path);
    } else if (c.n) {
        t = from_columns(cfg, &c, opt, d);
    } else if (!strcmp(wb_cfg_str(cfg, "machine.topology"), "live")) {
        t = wb_topo_live(opt, d);
    } else {
        t = wb_topo_from_synthetic(wb_cfg_str(cfg, "machine.topology"), opt, d);
    }
    for (uint32_t i = 0; i < WB_ARRAY_SIZE(c.column); i++) free(c.column[i]);
    return t;
}

/* Where the text of machine.topology begins; on the command line there is no place and the text is its own source. */
static void fill_places(const struct wb_config *cfg, struct wb_topo_options *opt)
{
    const char *key = wb_cfg_has(cfg, "machine.hwloc") ? "machine.hwloc" : "machine.topology";
    const struct wb_origin *o = wb_cfg_origin(cfg, key);
    if (o && o->place.file) opt->place = wb_cfg_place_in(cfg, key, 0, 0, 1);
    const char *numbers = opt->distance && !opt->numbers ? "machine.node_distance" : "machine.numbers";
    const struct wb_origin *n = wb_cfg_has(cfg, numbers) ? wb_cfg_origin(cfg, numbers) : NULL;
    if (n) opt->numbers_place = n->place;
}

struct wb_machine *wb_machine_build(const struct wb_config *cfg, struct wb_diag *d)
{
    struct wb_machine_spec s;
    struct wb_topo_options opt = {0};
    wb_machine_spec_defaults(&s);
    if (wb_cfg_has(cfg, "machine.name")) snprintf(s.name, sizeof s.name, "%s", wb_cfg_str(cfg, "machine.name"));
    s.clock_hz = (uint64_t)wb_cfg_int(cfg, "machine.clock");
    s.cpi_ppm = (uint32_t)wb_cfg_int(cfg, "machine.cpi");
    fill_fields(cfg, &s);
    fill_smt(cfg, &s);
    fill_derived(cfg, &s);
    int rc = fill_idle(cfg, &s, d) | check_together(cfg, &s, d);
    fill_cache_sizes(cfg, &opt);
    fill_numbering(cfg, &opt);
    rc |= fill_distance(cfg, &opt, d);
    fill_places(cfg, &opt);
    struct wb_topology *t = rc ? NULL : make_topology(cfg, &opt, d);
    struct wb_machine *m = t ? wb_machine_new(t, &s, d) : NULL;
    free((void *)(uintptr_t)opt.numbers);
    free((void *)(uintptr_t)opt.distance);
    if (!m || !machine_read_speeds(m, cfg, d)) return m;
    wb_machine_free(m);
    return NULL;
}
