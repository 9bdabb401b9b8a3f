#include "config_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *config_grow(void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return array;
    *cap = *cap * 2 + 16;
    array = realloc(array, *cap * size);
    WB_MEMORY(array, "out of memory while loading a scenario");
    return array;
}

struct wb_config *config_new(const struct wb_key_registry *keys)
{
    struct wb_config *c = calloc(1, sizeof *c);
    WB_MEMORY(c, "out of memory while loading a scenario");
    arena_init(&c->arena, "config");
    c->keys = keys;
    return c;
}

void wb_config_free(struct wb_config *c)
{
    if (!c) return;
    if (c->shares) {
        c->shares--;
        return;
    }
    for (size_t i = 0; i < c->members_n; i++) free(c->members[i].name);
    free(c->members);
    free(c->entry);
    free(c->slot);
    arena_free(&c->arena);
    free(c);
}

/* ---- the table ---- */

static uint64_t hash(const char *s) /* FNV-1a */
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *s; s++) h = (h ^ (unsigned char)*s) * 0x100000001b3u;
    return h;
}

static void insert_slot(struct wb_config *c, size_t i)
{
    size_t at = (size_t)hash(c->entry[i].path) & (c->slots - 1);
    while (c->slot[at]) at = (at + 1) & (c->slots - 1);
    c->slot[at] = (uint32_t)i + 1;
}

static void index_all(struct wb_config *c)
{
    while (c->slots < 2 * c->cap + 2) c->slots = c->slots ? c->slots * 2 : 64;
    free(c->slot);
    c->slot = calloc(c->slots, sizeof *c->slot);
    WB_MEMORY(c->slot, "out of memory while loading a scenario");
    for (size_t i = 0; i < c->n; i++) insert_slot(c, i);
}

struct cfg_entry *config_add(struct wb_config *c, const char *path, const struct wb_key *row)
{
    size_t cap = c->cap;
    c->entry = config_grow(c->entry, c->n, &c->cap, sizeof *c->entry);
    c->entry[c->n] = (struct cfg_entry){.path = scan_strdup(&c->arena, path, strlen(path)), .row = row};
    c->entry[c->n].origin.range_lo = 1;
    c->n++;
    if (c->cap != cap)
        index_all(c);
    else
        insert_slot(c, c->n - 1);
    return &c->entry[c->n - 1];
}

struct cfg_entry *config_find(const struct wb_config *c, const char *path)
{
    if (!c->slots) return NULL;
    size_t at = (size_t)hash(path) & (c->slots - 1);
    for (; c->slot[at]; at = (at + 1) & (c->slots - 1))
        if (!strcmp(c->entry[c->slot[at] - 1].path, path)) return &c->entry[c->slot[at] - 1];
    return NULL;
}

int config_compare_paths(const char *a, const char *b)
{
    while (*a && *a == *b && *a != '[') a++, b++;
    while (*a == '[' && *b == '[') {
        char *ea, *eb;
        unsigned long x = strtoul(a + 1, &ea, 10), y = strtoul(b + 1, &eb, 10);
        if (x != y) return x < y ? -1 : 1;
        a = ea;
        b = eb;
        while (*a && *a == *b && *a != '[') a++, b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static int compare_entries(const void *a, const void *b)
{
    return config_compare_paths(((const struct cfg_entry *)a)->path, ((const struct cfg_entry *)b)->path);
}

void config_finish(struct wb_config *c)
{
    if (c->n) qsort(c->entry, c->n, sizeof *c->entry, compare_entries);
    index_all(c);
}

const struct cfg_members *config_members(const struct wb_config *c, const char *path)
{
    for (size_t i = 0; i < c->members_n; i++)
        if (!strcmp(c->members[i].path, path)) return &c->members[i];
    return NULL;
}

void config_add_member(struct wb_config *c, const char *path, const char *name)
{
    struct cfg_members *m = (struct cfg_members *)config_members(c, path);
    if (!m) {
        c->members = config_grow(c->members, c->members_n, &c->members_cap, sizeof *c->members);
        m = &c->members[c->members_n++];
        *m = (struct cfg_members){.path = scan_strdup(&c->arena, path, strlen(path))};
    }
    for (size_t i = 0; i < m->n; i++)
        if (!strcmp(m->name[i], name)) return;
    m->name = config_grow(m->name, m->n, &m->cap, sizeof *m->name);
    m->name[m->n++] = scan_strdup(&c->arena, name, strlen(name));
}

bool config_pattern(const struct wb_key_registry *keys, const char *path, char pattern[KEYS_PATTERN_MAX])
{
    char segment[KEYS_PATTERN_MAX], child[KEYS_PATTERN_MAX];
    pattern[0] = '\0';
    for (const char *p = path;;) {
        size_t n = strcspn(p, ".["), skip = n;
        while (p[skip] == '[') {
            skip += strcspn(p + skip, "]");
            if (p[skip] == ']') skip++;
        }
        if (n >= sizeof segment || (p[skip] && p[skip] != '.')) return false;
        memcpy(segment, p, n);
        segment[n] = '\0';
        if (!keys_child(keys, pattern, segment, child)) return false;
        memcpy(pattern, child, sizeof child);
        if (!p[skip]) return true;
        p += skip + 1;
    }
}

enum wb_unit config_unit(enum wb_key_type t, const char *unit)
{
    switch (t) {
    case WB_KEY_TIME:
    case WB_KEY_COST: return WB_UNIT_TIME;
    case WB_KEY_SIZE: return WB_UNIT_SIZE;
    case WB_KEY_RATE: return WB_UNIT_RATE;
    case WB_KEY_FREQ: return WB_UNIT_FREQ;
    case WB_KEY_RATIO: return WB_UNIT_RATIO;
    case WB_KEY_DIST:
        if (unit && (!strcmp(unit, "bytes") || !strcmp(unit, "size"))) return WB_UNIT_SIZE;
        if (unit && !strcmp(unit, "count")) return WB_UNIT_COUNT;
        if (unit && !strcmp(unit, "ratio")) return WB_UNIT_RATIO;
        return WB_UNIT_TIME;
    default: return WB_UNIT_COUNT;
    }
}

/* ---- getters ---- */

/* The entry, or NULL for a key that exists in the table and has no value. Anything else is a bug of ours. */
static const struct cfg_entry *lookup(const struct wb_config *c, const char *path)
{
    const struct cfg_entry *e = config_find(c, path);
    if (e) return e;
    char pattern[KEYS_PATTERN_MAX];
    WB_CHECK(config_pattern(c->keys, path, pattern), "no key '%s' in the key table", path);
    return NULL;
}

static const struct cfg_entry *need(const struct wb_config *c, const char *path, unsigned types)
{
    const struct cfg_entry *e = lookup(c, path);
    WB_CHECK(e, "key '%s' has no value and no default; ask wb_cfg_has first", path);
    WB_CHECK(types >> e->row->type & 1, "key '%s' is a %s and was asked for as something else", path,
             wb_key_type_name(e->row->type));
    return e;
}

#define T(type) (1u << (type))

/* Is anything of the group given? Entries are sorted, so those below `path` stand together. */
static bool has_below(const struct wb_config *c, const char *path)
{
    char prefix[512];
    size_t n = strlen(path), lo = 0, hi = c->n;
    if (n + 2 > sizeof prefix) return false;
    memcpy(prefix, path, n);
    memcpy(prefix + n, ".", 2);
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (config_compare_paths(c->entry[mid].path, prefix) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->n && !strncmp(c->entry[lo].path, prefix, n + 1);
}

bool wb_cfg_has(const struct wb_config *c, const char *path)
{
    if (config_find(c, path) || config_members(c, path) || has_below(c, path)) return true;
    (void)lookup(c, path);
    return false;
}

int64_t wb_cfg_int(const struct wb_config *c, const char *path)
{
    return need(c, path,
                T(WB_KEY_INT) | T(WB_KEY_TIME) | T(WB_KEY_SIZE) | T(WB_KEY_RATE) | T(WB_KEY_FREQ) | T(WB_KEY_RATIO))
        ->v.num;
}

bool wb_cfg_bool(const struct wb_config *c, const char *path)
{
    return need(c, path, T(WB_KEY_BOOL))->v.num != 0;
}

const char *wb_cfg_str(const struct wb_config *c, const char *path)
{
    unsigned types = T(WB_KEY_STRING) | T(WB_KEY_ENUM) | T(WB_KEY_EXPR) | T(WB_KEY_NUMBER) | T(WB_KEY_VERSION) |
                     T(WB_KEY_CPUS) | T(WB_KEY_DIST);
    return need(c, path, types)->v.text;
}

sim_time wb_cfg_cost(const struct wb_config *c, const char *path, uint64_t clock_hz, uint64_t cpi_ppm)
{
    const struct cfg_entry *e = need(c, path, T(WB_KEY_COST) | T(WB_KEY_TIME));
    if (!e->v.cycles) return (sim_time)e->v.num;
    WB_CHECK(clock_hz > 0, "cost '%s' is in cycles and the clock is 0", path);
    /* milli-cycles * cpi / 1e6 -> milli-cycles; / 1e3 / Hz -> s; * 1e12 -> ps */
    unsigned __int128 ps = (unsigned __int128)(uint64_t)e->v.num * cpi_ppm * 1000u;
    ps = (ps + clock_hz / 2) / clock_hz;
    return ps > INT64_MAX ? (sim_time)INT64_MAX : (sim_time)ps;
}

const struct wb_dist *wb_cfg_dist(const struct wb_config *c, const char *path)
{
    return need(c, path, T(WB_KEY_DIST))->v.dist;
}

bool wb_cfg_cpus(const struct wb_config *c, const char *path, struct wb_cpumask *mask)
{
    const struct cfg_entry *e = need(c, path, T(WB_KEY_CPUS));
    for (uint32_t i = 0; i < mask->nwords; i++) mask->w[i] = 0;
    if (!strcmp(e->v.text, "free")) return false;
    if (!strcmp(e->v.text, "all")) {
        for (cpu_id i = 0; i < mask->ncpus; i++) wb_mask_set(mask, i);
        return true;
    }
    const char *why;
    size_t at;
    int rc = wb_mask_parse(e->v.text, mask, &why, &at);
    WB_CHECK(rc == 0, "'%s' = \"%s\" was not checked against the %u CPUs of the machine: %s", path, e->v.text,
             mask->ncpus, why);
    return true;
}

int64_t wb_cfg_cpus_max(const struct wb_config *c, const char *path)
{
    const struct cfg_entry *e = need(c, path, T(WB_KEY_CPUS));
    int64_t max = -1, number = -1;
    for (const char *p = e->v.text;; p++) {
        if (*p >= '0' && *p <= '9') {
            number = (number < 0 ? 0 : number * 10) + (*p - '0');
            continue;
        }
        max = WB_MAX(max, number);
        number = -1;
        if (!*p) return max;
    }
}

size_t wb_cfg_count(const struct wb_config *c, const char *path)
{
    const struct cfg_entry *e = lookup(c, path);
    if (e) return need(c, path, T(WB_KEY_GROUPS) | T(WB_KEY_STRINGS) | T(WB_KEY_TABLE))->v.n;
    const struct cfg_members *m = config_members(c, path);
    return m ? m->n : 0;
}

const char *wb_cfg_str_at(const struct wb_config *c, const char *path, size_t i)
{
    const struct cfg_entry *e = need(c, path, T(WB_KEY_STRINGS));
    WB_CHECK(i < e->v.n, "element %zu of %zu of '%s'", i, e->v.n, path);
    return e->v.strs[i];
}

int64_t wb_cfg_int_at(const struct wb_config *c, const char *path, size_t i)
{
    const struct cfg_entry *e = need(c, path, T(WB_KEY_TABLE));
    WB_CHECK(i < e->v.n, "element %zu of %zu of '%s'", i, e->v.n, path);
    return e->v.ints[i];
}

const char *wb_cfg_member(const struct wb_config *c, const char *path, size_t i)
{
    const struct cfg_members *m = config_members(c, path);
    return m && i < m->n ? m->name[i] : NULL;
}

const struct wb_origin *wb_cfg_origin(const struct wb_config *c, const char *path)
{
    const struct cfg_entry *e = config_find(c, path);
    return e ? &e->origin : NULL;
}

const char *wb_cfg_path_at(const struct wb_config *c, size_t i)
{
    return i < c->n ? c->entry[i].path : NULL;
}

const struct wb_key *wb_cfg_row(const struct wb_config *c, const char *path)
{
    const struct cfg_entry *e = config_find(c, path);
    return e ? e->row : NULL;
}

char *wb_cfg_text(const struct wb_config *c, const char *path, char *buf, size_t n)
{
    const struct cfg_entry *e = lookup(c, path);
    WB_CHECK(e, "key '%s' has no value", path);
    return value_text(e->row, &e->v, buf, n);
}

const char *wb_cfg_path(const char *fmt, ...)
{
    static _Thread_local char ring[8][512];
    static _Thread_local unsigned next;
    char *buf = ring[next++ % WB_ARRAY_SIZE(ring)];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(buf, sizeof ring[0], fmt, ap);
    va_end(ap);
    WB_CHECK(n >= 0 && (size_t)n < sizeof ring[0], "path is too long: %s", buf);
    return buf;
}

void wb_cfg_error(const struct wb_config *c, struct wb_diag *d, const char *path, const char *fix, const char *fmt, ...)
{
    const struct cfg_entry *e = config_find(c, path);
    struct wb_place at = e ? e->origin.place : (struct wb_place){NULL, 0, 0, 0};
    va_list ap;
    va_start(ap, fmt);
    char *text = wb_vtext(fmt, ap);
    va_end(ap);
    if (at.file)
        wb_diag_add(d, WB_ERROR, "E150", at, fix, "%s", text);
    else
        wb_diag_add(d, WB_ERROR, "E150", at, fix, "%s (%s): %s", path, e ? e->origin.from : "not given", text);
    free(text);
}

struct wb_place wb_cfg_place_in(const struct wb_config *c, const char *path, size_t i, size_t offset, size_t len)
{
    const struct cfg_entry *e = config_find(c, path);
    const struct scan_node *n = e ? e->node : NULL;
    if (!e) return (struct wb_place){NULL, 0, 0, 0};
    if (n && (n->kind == SCAN_LIST || n->kind == SCAN_ARRAY))
        for (n = n->first; n && i; i--) n = n->next;
    return n && n->kind == SCAN_STRING ? scan_place_in(n, offset, len) : e->origin.place;
}
