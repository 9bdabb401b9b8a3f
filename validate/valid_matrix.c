/* valid_matrix.c - which configurations are predicted: a table of kinds, placements and loads. */
#include "valid.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAND_SOURCE "series of runs over minutes on a quiet two-CPU guest"

const struct valid_class_info valid_classes[VALID_CLASSES] = {
    [VALID_SYSCALL] = {"call", 0.05, 0.02, BAND_SOURCE},
    [VALID_SAME] = {"one CPU", 0.08, 0.04, BAND_SOURCE},
    [VALID_HOG] = {"free beside a hog", 0.08, 0.04, BAND_SOURCE},
    [VALID_AWAKE] = {"two CPUs, awake", 0.20, 0.12, BAND_SOURCE},
    [VALID_CROSS] = {"two CPUs, halting", 0.25, 0.10, BAND_SOURCE},
    [VALID_FREE] = {"free", 0.35, 0.14, BAND_SOURCE},
    [VALID_BW_SAME] = {"stream, one CPU", 0.08, 0.04, BAND_SOURCE},
    [VALID_BW_CROSS] = {"stream, two CPUs", 0.25, 0.20, BAND_SOURCE},
    [VALID_BW_FREE] = {"stream, free", 0.30, 0.20, BAND_SOURCE},
    [VALID_HACKBENCH] = {"hackbench", 0.20, 0.10, BAND_SOURCE},
    [VALID_MODES] = {"two modes", 1.00, 0.60, BAND_SOURCE},
};

enum place { SAME, CROSS, FREE };
enum load { QUIET, HOG, HOGS, NICE_HOG, IDLE_HOGS };
enum depth { QUICK = VALID_QUICK, DEFAULT = VALID_DEFAULT, FULL = VALID_FULL };

/* One family: each combination of its places and loads is a case. keys: "message=4096 think=20us". depth: from which
 * depth on it is run, by place ("same cross free") for a quiet machine; loads by their own. */
static const struct family {
    enum real_kind kind;
    const char *keys;
    uint8_t depth[3];
} families[] = {
    {REAL_PIPE_LATENCY, "message=1B", {FULL, FULL, DEFAULT}}, /* pinned: it calibrates, never scored */
    {REAL_PIPE_LATENCY, "message=1KiB", {FULL, FULL, FULL}},
    {REAL_PIPE_LATENCY, "message=4KiB", {QUICK, QUICK, DEFAULT}},
    {REAL_PIPE_LATENCY, "message=16KiB", {DEFAULT, DEFAULT, FULL}},
    {REAL_PIPE_LATENCY, "message=64KiB", {DEFAULT, DEFAULT, DEFAULT}},
    {REAL_PIPE_LATENCY, "message=1B think=5us", {DEFAULT, DEFAULT, FULL}},
    {REAL_PIPE_LATENCY, "message=1B think=20us", {DEFAULT, DEFAULT, DEFAULT}},
    {REAL_PIPE_LATENCY, "message=1B think=100us", {DEFAULT, DEFAULT, DEFAULT}},
    {REAL_UNIX_RR, "request=1B response=1B", {DEFAULT, DEFAULT, FULL}},
    {REAL_UNIX_RR, "request=16KiB response=16KiB", {DEFAULT, FULL, FULL}},
    {REAL_UDP_RR, "request=1B response=1B", {QUICK, QUICK, DEFAULT}},
    {REAL_UDP_RR, "request=1KiB response=1KiB", {DEFAULT, DEFAULT, FULL}},
    {REAL_TCP_RR, "request=1B response=1B", {QUICK, QUICK, DEFAULT}},
    {REAL_TCP_RR, "request=1KiB response=1KiB", {DEFAULT, DEFAULT, FULL}},
    {REAL_PIPE_BW, "message=512B", {DEFAULT, DEFAULT, FULL}},
    {REAL_PIPE_BW, "message=4KiB", {DEFAULT, FULL, FULL}},
    {REAL_PIPE_BW, "message=16KiB", {DEFAULT, DEFAULT, FULL}},
    {REAL_PIPE_BW, "message=64KiB", {QUICK, QUICK, QUICK}},
    {REAL_PIPE_BW, "message=256KiB", {DEFAULT, DEFAULT, FULL}},
    {REAL_PIPE_BW, "message=1MiB", {DEFAULT, DEFAULT, DEFAULT}},
    {REAL_PIPE_BW, "message=64KiB copies=2", {FULL, FULL, QUICK}},
    {REAL_PIPE_BW, "message=64KiB copies=4", {FULL, FULL, DEFAULT}},
    {REAL_HACKBENCH, "groups=1 loops=1000 transport=pipe", {FULL, FULL, DEFAULT}},
    {REAL_HACKBENCH, "groups=2 loops=500 transport=pipe", {DEFAULT, FULL, QUICK}},
    {REAL_HACKBENCH, "groups=5 loops=200 transport=pipe", {FULL, FULL, DEFAULT}},
    {REAL_HACKBENCH, "groups=2 loops=500 transport=pipe mode=thread", {FULL, FULL, DEFAULT}},
    {REAL_HACKBENCH, "groups=2 loops=500 transport=socket", {DEFAULT, FULL, DEFAULT}},
    {REAL_HACKBENCH, "groups=5 loops=200 transport=socket", {FULL, FULL, DEFAULT}},
    {REAL_HACKBENCH, "groups=2 loops=500 transport=socket mode=thread", {FULL, FULL, DEFAULT}},
    {REAL_HACKBENCH, "groups=2 loops=500 transport=pipe message=1KiB", {FULL, FULL, FULL}},
    {REAL_SYSCALL, "call=write", {FULL, FULL, FULL}}, /* alone on a CPU they calibrate */
    {REAL_SYSCALL, "call=select", {FULL, FULL, FULL}},
    {REAL_SYSCALL, "call=socket_protocol", {FULL, FULL, FULL}},
    {REAL_SYSCALL, "call=write copies=2", {FULL, FULL, DEFAULT}},
    {REAL_SYSCALL, "call=select copies=3", {FULL, FULL, DEFAULT}},
};

/* Loads beside a pair. place: of the pair. Hogs are handed CPUs only where it says so. */
static const struct loaded {
    enum real_kind kind;
    const char *keys;
    enum place place;
    enum load load;
    uint8_t depth;
} loaded[] = {
    {REAL_PIPE_LATENCY, "message=1B", FREE, HOG, QUICK},
    {REAL_PIPE_LATENCY, "message=1B", FREE, NICE_HOG, DEFAULT},
    {REAL_PIPE_LATENCY, "message=1B", FREE, HOGS, DEFAULT},
    {REAL_PIPE_LATENCY, "message=1B", FREE, IDLE_HOGS, DEFAULT},
    {REAL_PIPE_LATENCY, "message=1B", SAME, HOG, DEFAULT},
    {REAL_PIPE_LATENCY, "message=1B", SAME, IDLE_HOGS, FULL},
    {REAL_PIPE_LATENCY, "message=4KiB", CROSS, IDLE_HOGS, DEFAULT},
    {REAL_PIPE_LATENCY, "message=1B", CROSS, HOG, FULL},
    {REAL_UDP_RR, "request=1B response=1B", CROSS, IDLE_HOGS, DEFAULT},
    {REAL_TCP_RR, "request=1B response=1B", CROSS, IDLE_HOGS, DEFAULT},
    {REAL_TCP_RR, "request=1B response=1B", FREE, HOG, DEFAULT},
    {REAL_SYSCALL, "call=write", SAME, HOG, DEFAULT},
    {REAL_PIPE_BW, "message=64KiB", FREE, HOG, QUICK},
    {REAL_PIPE_BW, "message=64KiB", FREE, NICE_HOG, DEFAULT},
    {REAL_PIPE_BW, "message=64KiB", FREE, HOGS, FULL},
    {REAL_PIPE_BW, "message=64KiB", CROSS, IDLE_HOGS, FULL},
};

static const char *const end_keys[REAL_KINDS][2] = {
    [REAL_PIPE_BW] = {"writer_cpus", "reader_cpus"}, [REAL_PIPE_LATENCY] = {"parent_cpus", "child_cpus"},
    [REAL_TCP_RR] = {"client_cpus", "server_cpus"},  [REAL_UDP_RR] = {"client_cpus", "server_cpus"},
    [REAL_UNIX_RR] = {"client_cpus", "server_cpus"},
};

static void add_key(struct valid_case *c, const char *key, const char *value)
{
    WB_CHECK(c->nkeys < VALID_KEYS_MAX, "case %s has too many keys", c->name);
    snprintf(c->key[c->nkeys], sizeof c->key[0], "%s", key);
    (void)snprintf(c->value[c->nkeys++], sizeof c->value[0], "%.31s", value); /* words and figures of keys */
}

static void add_keys(struct valid_case *c, const char *keys)
{
    char text[128], *save = NULL;
    snprintf(text, sizeof text, "%s", keys);
    for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        char *eq = strchr(w, '=');
        *eq = '\0';
        /* "4KiB" -> "4 KiB": both worlds read it */
        char value[32];
        size_t digits = strspn(eq + 1, "0123456789.");
        snprintf(value, sizeof value, "%.*s%s%s", (int)digits, eq + 1, digits && eq[1 + digits] ? " " : "",
                 eq + 1 + digits);
        add_key(c, w, value);
    }
}

static void add_cpu(struct valid_case *c, const char *key, cpu_id cpu)
{
    char n[16];
    snprintf(n, sizeof n, "%u", cpu);
    add_key(c, key, n);
}

static struct valid_case *append(struct valid_set *v)
{
    struct valid_case *p = realloc(v->c, (v->n + 1) * sizeof *p);
    if (!p) return NULL;
    v->c = p;
    memset(&p[v->n], 0, sizeof *p);
    return &p[v->n++];
}

static enum valid_class class_of(enum real_kind kind, enum place place, enum load load, const char *keys)
{
    if (kind == REAL_SYSCALL) return VALID_SYSCALL;
    if (kind == REAL_HACKBENCH) return VALID_HACKBENCH;
    bool stream = kind == REAL_PIPE_BW, many = strstr(keys, "copies=") != NULL;
    if (load == HOGS && place == FREE) return VALID_MODES;
    if (load == IDLE_HOGS && place != SAME) return VALID_AWAKE;
    if (place == FREE && (load == HOG || load == NICE_HOG || many)) return VALID_HOG;
    if (place == SAME) return stream ? VALID_BW_SAME : VALID_SAME;
    if (place == CROSS) return stream ? VALID_BW_CROSS : VALID_CROSS;
    return stream ? VALID_BW_FREE : VALID_FREE;
}

struct maker {
    struct valid_set *v;
    const struct wb_topology *topo;
    const cpu_id *cpus;
    uint32_t ncpus;
    enum valid_depth depth;
};

static void describe_load(struct valid_case *c, const struct maker *m, enum load load, enum place place)
{
    switch (load) {
    case QUIET: break;
    case HOG:
        if (place == SAME)
            snprintf(c->background[0], sizeof c->background[0], "hog,count=1,cpus=%u", m->cpus[0]);
        else
            snprintf(c->background[0], sizeof c->background[0], "hog,count=1");
        break;
    case NICE_HOG: snprintf(c->background[0], sizeof c->background[0], "hog,count=1,nice=10"); break;
    case HOGS: snprintf(c->background[0], sizeof c->background[0], "hog,count=%u", m->ncpus); break;
    case IDLE_HOGS:
        for (uint32_t i = 0; i < 2 && i < m->ncpus; i++)
            snprintf(c->background[i], sizeof c->background[i], "hog,count=1,sched=idle,cpus=%u", m->cpus[i]);
        break;
    }
}

static int add_case(struct maker *m, enum real_kind kind, const char *keys, enum place place, enum load load,
                    cpu_id other, const char *far)
{
    static const char *const load_name[] = {"", ", 1 hog", ", a hog for each CPU", ", 1 hog at nice 10",
                                            ", SCHED_IDLE hogs"};
    struct valid_case *c = append(m->v);
    if (!c) return -ENOMEM;
    c->kind = kind;
    c->klass = class_of(kind, place, load, keys);
    c->unpinned = place == FREE;
    c->placement = place == FREE && load == QUIET && !strstr(keys, "copies=") && kind != REAL_HACKBENCH;
    snprintf(c->name, sizeof c->name, "%s %s %s%s", real_kind_name(kind), keys,
             place == SAME   ? "same CPU"
             : place == FREE ? "free"
                             : far,
             load_name[load]);
    add_keys(c, keys);
    if (place == SAME && kind != REAL_HACKBENCH && kind != REAL_SYSCALL) {
        add_cpu(c, end_keys[kind][0], m->cpus[0]);
        add_cpu(c, end_keys[kind][1], m->cpus[0]);
    } else if (place == SAME) {
        add_cpu(c, "cpus", m->cpus[0]);
    } else if (place == CROSS) {
        add_cpu(c, end_keys[kind][0], m->cpus[0]);
        add_cpu(c, end_keys[kind][1], other);
    }
    describe_load(c, m, load, place);
    return 0;
}

/* A case for each distance that the machine has. */
static int add_cross(struct maker *m, enum real_kind kind, const char *keys, enum load load)
{
    bool seen[WB_DISTANCES] = {false};
    int rc = 0;
    for (uint32_t i = 1; i < m->ncpus && !rc; i++) {
        enum wb_distance d = wb_topo_distance(m->topo, m->cpus[0], m->cpus[i]);
        if (seen[d] || !end_keys[kind][0]) continue;
        seen[d] = true;
        rc = add_case(m, kind, keys, CROSS, load, m->cpus[i], wb_distance_name(d));
    }
    return rc;
}

static int add_place(struct maker *m, enum real_kind kind, const char *keys, enum place place, enum load load)
{
    if (place == CROSS) return add_cross(m, kind, keys, load);
    if (place == FREE && m->ncpus < 2) return 0;
    if (place == FREE && kind == REAL_SYSCALL && !strstr(keys, "copies=")) return 0;
    if (place == SAME && kind == REAL_SYSCALL && strstr(keys, "copies=")) return 0;
    return add_case(m, kind, keys, place, load, 0, "");
}

/* What calibrated is never predicted: the one-byte pipe on pinned CPUs, one byte over sockets on one CPU, calls
 * alone. */
static bool calibrated(const struct family *f, enum place place)
{
    if (f->kind == REAL_PIPE_LATENCY) return !strcmp(f->keys, "message=1B") && place != FREE;
    if (f->kind == REAL_SYSCALL) return place == SAME;
    return f->kind <= REAL_UNIX_RR && !strcmp(f->keys, "request=1B response=1B") && place == SAME;
}

int valid_matrix(struct valid_set *v, const struct wb_topology *topo, const cpu_id *cpus, uint32_t ncpus,
                 enum valid_depth depth)
{
    struct maker m = {v, topo, cpus, ncpus, depth};
    int rc = 0;
    memset(v, 0, sizeof *v);
    for (size_t i = 0; i < WB_ARRAY_SIZE(families); i++)
        for (int place = SAME; place <= FREE && !rc; place++)
            if (families[i].depth[place] <= (uint8_t)depth && !calibrated(&families[i], (enum place)place))
                rc = add_place(&m, families[i].kind, families[i].keys, (enum place)place, QUIET);
    for (size_t i = 0; i < WB_ARRAY_SIZE(loaded) && !rc; i++)
        if (loaded[i].depth <= (uint8_t)depth)
            rc = add_place(&m, loaded[i].kind, loaded[i].keys, loaded[i].place, loaded[i].load);
    if (rc) valid_free(v);
    return rc;
}

void valid_free(struct valid_set *v)
{
    free(v->c);
    memset(v, 0, sizeof *v);
}

int valid_real_spec(const struct valid_case *c, struct real_spec *s, struct wb_diag *d)
{
    real_spec_init(s, c->kind);
    for (size_t i = 0; i < c->nkeys; i++)
        if (real_spec_set(s, c->key[i], c->value[i], d) < 0) return -1;
    for (size_t i = 0; i < WB_ARRAY_SIZE(c->background); i++)
        if (c->background[i][0] && real_spec_set(s, "background", c->background[i], d) < 0) return -1;
    return real_spec_check(s, d);
}

/* ------------------------------------------------------------------ users' own scenarios */
/* Keys of a kind that both worlds know and that the scenario gives. */
static void take_keys(struct valid_case *c, const struct wb_config *cfg, size_t at)
{
    size_t n;
    char text[64];
    const struct real_key *k = real_key_table(&n);
    for (size_t i = 0; i < n; i++) {
        static const char *const run[] = {"duration", "warmup", "window",  "limit",
                                          "counters", "seed",   "allowed", "background"};
        bool skip = !(k[i].kinds & 1u << c->kind);
        for (size_t j = 0; j < WB_ARRAY_SIZE(run) && !skip; j++) skip = !strcmp(k[i].name, run[j]);
        const char *path = wb_cfg_path("workload[%zu].%s", at, k[i].name);
        if (skip || !wb_cfg_has(cfg, path) || c->nkeys == VALID_KEYS_MAX) continue;
        const struct wb_origin *o = wb_cfg_origin(cfg, path);
        if (!o || !strcmp(o->from, "default")) continue;
        wb_cfg_text(cfg, path, text, sizeof text);
        if (!strcmp(text, "free") || !strcmp(text, "all")) continue;
        add_key(c, k[i].name, text);
    }
}

static void take_background(struct valid_case *c, const struct wb_config *cfg, size_t at, size_t slot)
{
    char cpus[32], *b = c->background[slot];
    const char *path = wb_cfg_path("workload[%zu].cpus", at);
    wb_cfg_text(cfg, path, cpus, sizeof cpus);
    snprintf(b, sizeof c->background[0], "hog,count=%lld,nice=%lld,sched=%s%s%s",
             (long long)wb_cfg_int(cfg, wb_cfg_path("workload[%zu].count", at)),
             (long long)wb_cfg_int(cfg, wb_cfg_path("workload[%zu].nice", at)),
             wb_cfg_str(cfg, wb_cfg_path("workload[%zu].sched", at)), strcmp(cpus, "free") ? ",cpus=" : "",
             strcmp(cpus, "free") ? cpus : "");
}

int valid_from_scenario(struct valid_set *v, const struct wb_config *cfg, const char *name, struct wb_diag *d)
{
    struct valid_case *c = append(v);
    size_t slot = 0;
    bool found = false;
    if (!c) return -1;
    snprintf(c->name, sizeof c->name, "%s", name);
    for (size_t i = 0; i < wb_cfg_count(cfg, "workload"); i++) {
        const char *kind = wb_cfg_str(cfg, wb_cfg_path("workload[%zu].kind", i));
        bool background = wb_cfg_bool(cfg, wb_cfg_path("workload[%zu].background", i));
        if (!found && !background && !real_kind_find(kind, &c->kind)) {
            found = true;
            take_keys(c, cfg, i);
        } else if (!strcmp(kind, "hog") && slot < WB_ARRAY_SIZE(c->background)) {
            take_background(c, cfg, i, slot++);
        } else {
            wb_cfg_error(
                cfg, d, wb_cfg_path("workload[%zu].kind", i),
                "one workload with a real counterpart (wakebal real --list) and at most two entries of hogs beside it",
                "'%s' cannot be run for real here", kind);
            return -1;
        }
    }
    bool pinned = false;
    for (size_t i = 0; i < c->nkeys; i++) pinned |= strstr(c->key[i], "cpus") != NULL;
    c->placement = c->unpinned = !pinned;
    c->klass = class_of(c->kind, pinned ? CROSS : FREE, slot ? HOG : QUIET, "");
    return found ? 0 : -1;
}
