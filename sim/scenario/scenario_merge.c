#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scenario_build.h"

/* ---- raw settings ---- */

struct raw *raw_find(const struct build *b, const char *path)
{
    const struct cfg_entry *e = config_find(b->index, path);
    if (!e) return NULL;
    struct raw *r = &b->raw[e - b->index->entry];
    return r->dead ? NULL : r;
}

struct raw *raw_set(struct build *b, const char *path, struct scan_node *node, const char *from)
{
    const struct cfg_entry *e = config_find(b->index, path);
    struct raw *r;
    if (e) {
        r = &b->raw[e - b->index->entry];
    } else {
        b->raw = config_grow(b->raw, b->raw_n, &b->raw_cap, sizeof *b->raw);
        r = &b->raw[b->raw_n++];
        *r = (struct raw){.path = config_add(b->index, path, NULL)->path};
    }
    *r = (struct raw){.path = r->path, .node = node, .at = node->at, .from = from, .prefix = ""};
    return r;
}

const char *raw_text(const struct build *b, const char *path)
{
    const struct raw *r = raw_find(b, path);
    return r && r->kind == RAW_LEAF && r->node->kind == SCAN_STRING ? r->node->text : NULL;
}

size_t raw_count(const struct build *b, const char *path)
{
    const struct raw *r = raw_find(b, path);
    return r && r->kind == RAW_GROUPS ? r->n : 0;
}

const char *raw_selector(const struct build *b, const char *path)
{
    const char *key = keys_selector_key(path);
    char first[SCENARIO_PATH_MAX];
    size_t n = strcspn(path, ".");
    if (path[strcspn(path, ".[")] == '[') { /* a list: the key is one of the entry */
        key = NULL;
        snprintf(first, sizeof first, "%.*s", (int)strcspn(path, "["), path);
        const char *own = keys_selector_key(first);
        if (own && (size_t)snprintf(first, sizeof first, "%.*s.%s", (int)n, path, own) < sizeof first) key = first;
    }
    if (!key) return NULL;
    const char *text = raw_text(b, key);
    if (text) return text;
    const struct wb_key *row = strchr(key, '[') ? NULL : wb_keys_find(b->s->keys, key, NULL);
    return row ? row->def : NULL;
}

static void kill_below(struct build *b, const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < b->raw_n; i++)
        if (!strncmp(b->raw[i].path, path, n) && b->raw[i].path[n] == '[') b->raw[i].dead = true;
}

/* ---- laying a tree over them ---- */

/* A list whose entries are groups is a list of groups; any other is a value. */
static bool is_groups(const struct scan_node *n)
{
    if (n->kind != SCAN_LIST || !n->n) return false;
    for (const struct scan_node *e = n->first; e; e = e->next)
        if (e->kind != SCAN_GROUP) return false;
    return true;
}

struct cursor {
    struct scan_node *node; /* next to lay */
    size_t index;
    char path[SCENARIO_PATH_MAX]; /* of the group or list that it is in */
};

static void lay_fragments(struct build *b, struct scan_node *entry, const char *path);

/* Path of the cursor's node. False: too long for any key. */
static bool child_path(const struct cursor *c, char path[SCENARIO_PATH_MAX])
{
    int n;
    if (!c->node->name)
        n = snprintf(path, SCENARIO_PATH_MAX, "%s[%zu]", c->path, c->index);
    else if (!strcmp(c->path, "kernel") && !strcmp(c->node->name, "policy"))
        n = snprintf(path, SCENARIO_PATH_MAX, "policy"); /* a kernel sets policy.*, below what the scenario says */
    else
        n = snprintf(path, SCENARIO_PATH_MAX, "%s%s%s", c->path, *c->path ? "." : "", c->node->name);
    return n >= 0 && n < SCENARIO_PATH_MAX;
}

/* One node. Returns true when its children follow. */
static bool lay_node(struct build *b, struct scan_node *n, const char *path, const char *from)
{
    if (n->kind == SCAN_GROUP) {
        raw_set(b, path, n, from)->kind = RAW_ENTRY;
        if (n->name) return true;
        if (!strncmp(path, "workload[", 9) && !strchr(path, '.')) lay_fragments(b, n, path);
        return true;
    }
    if (raw_count(b, path)) kill_below(b, path); /* the list of a lower layer */
    struct raw *r = raw_set(b, path, n, from);
    if (!is_groups(n)) return false;
    r->kind = RAW_GROUPS;
    r->n = n->n;
    return true;
}

void raw_lay(struct build *b, struct scan_node *root, const char *at, const char *from)
{
    struct cursor *stack = scan_new(&b->c->arena, SCAN_DEPTH_MAX + 2, sizeof *stack);
    char path[SCENARIO_PATH_MAX];
    size_t depth = 0;
    snprintf(stack[0].path, sizeof stack[0].path, "%s", at);
    stack[0].node = root->first;
    for (;;) {
        struct cursor *c = &stack[depth];
        if (!c->node) {
            if (!depth--) return;
            continue;
        }
        struct scan_node *n = c->node;
        bool into = child_path(c, path) && lay_node(b, n, path, from) && n->first && depth < SCAN_DEPTH_MAX;
        c->node = n->next;
        c->index++;
        if (!into) continue;
        depth++;
        stack[depth].node = n->first;
        stack[depth].index = 0;
        memcpy(stack[depth].path, path, sizeof path);
    }
}

/* ---- layers ---- */

static int lay_chain(struct build *b, const char *name, const char *kind, const char *path, struct wb_place at)
{
    struct document *chain[SCENARIO_BASE_MAX];
    size_t n = document_chain(b->s, name, kind, at, b->d, chain);
    for (size_t i = 0; i < n; i++) {
        b->broken |= chain[i]->broken;
        raw_lay(b, chain[i]->root, path, "base");
    }
    if (!n) b->broken = true; /* what it would have held is unknown: report no absences */
    return n ? 0 : -1;
}

static void lay_fragments(struct build *b, struct scan_node *entry, const char *path)
{
    const struct scan_node *base = scan_child(entry, "base");
    if (base && base->kind == SCAN_STRING) (void)lay_chain(b, base->text, "workloads", path, base->at);
}

static const struct wb_override *last_override(const struct build *b, const char *key)
{
    for (size_t i = b->override_n; i-- > 0;)
        if (!strcmp(b->override[i].key, key)) return &b->override[i];
    return NULL;
}

/* "pack:2 l3:1 core:4 pu:2", as hwloc writes topologies. */
static bool is_synthetic(const char *text)
{
    return strchr(text, ':') && strpbrk(text, "0123456789");
}

/* "machine.xml", as lstopo writes topologies. */
static bool is_hwloc(const char *text)
{
    size_t n = strlen(text);
    return n > 4 && !strcasecmp(text + n - 4, ".xml");
}

struct part {
    const char *scope, *key, *kind, *option;
    const char *fallback; /* for a workload fragment that is run by its name alone */
    const char *forced;   /* -m or -k */
};

/* The base of the machine or kernel: --set, then -m, then the scenario's own. Lays its chain. */
static int lay_part(struct build *b, const struct part *p)
{
    const struct wb_override *o = last_override(b, p->key);
    struct wb_place at = {NULL, 0, 0, 0};
    const char *name = o ? o->value : p->forced;
    if (o) at = o->at;
    for (size_t i = b->s->chain_n; !name && i-- > 0;) {
        const struct scan_node *group = scan_child(b->s->chain[i]->root, p->scope);
        const struct scan_node *base = group ? scan_child(group, "base") : NULL;
        if (!base || base->kind != SCAN_STRING) continue;
        name = base->text;
        at = base->at;
    }
    if (!name && b->s->fragment && !b->s->only_scope) name = p->fallback;
    return name ? lay_chain(b, name, p->kind, p->scope, at) : 0;
}

static struct scan_node *make_node(struct arena *a, struct scan_node *parent, enum scan_kind kind, const char *name,
                                   const char *text)
{
    struct scan_node *n = scan_new(a, 1, sizeof *n);
    *n = (struct scan_node){.kind = kind, .name = name, .text = text, .parent = parent};
    if (parent) {
        parent->first = parent->last = n;
        parent->n = 1;
    }
    return n;
}

static void lay_text(struct build *b, const char *path, const char *text, const char *from)
{
    raw_set(b, path, make_node(&b->c->arena, NULL, SCAN_STRING, NULL, text), from)->loud = true;
}

/* What a fragment means on its own: workload = ( { base = "it"; } ); */
static void lay_lone_fragment(struct build *b)
{
    struct arena *a = &b->c->arena;
    struct scan_node *root = make_node(a, NULL, SCAN_GROUP, NULL, NULL);
    struct scan_node *list = make_node(a, root, SCAN_LIST, "workload", NULL);
    struct scan_node *entry = make_node(a, list, SCAN_GROUP, NULL, NULL);
    make_node(a, entry, SCAN_STRING, "base", b->s->fragment);
    raw_lay(b, root, "", "file");
    const char *kind = raw_text(b, "workload[0].kind");
    for (size_t i = 0; kind && i < wb_keys_count(b->s->keys); i++) {
        const struct wb_key *row = wb_keys_at(b->s->keys, i);
        if (!(row->flags & WB_KEY_JOB) || !row->only || strcmp(row->only, kind) != 0) continue;
        /* A job runs to its end, many times as much work as a timed run: a first answer need not be as narrow. */
        lay_text(b, "run.replications.half_width", "5 %", "a workload run by name");
        return;
    }
    /* Long enough for balancing to show: a benchmark's own amount of work may last a few milliseconds. */
    lay_text(b, "run.duration", "1 s", "a workload run by name");
}

/* The scenario's own groups; those that -m or -k replace stay out. */
static void lay_scenario(struct build *b, bool machine, bool kernel)
{
    for (size_t i = 0; i < b->s->chain_n; i++) {
        const struct document *doc = b->s->chain[i];
        b->broken |= doc->broken;
        struct scan_node view = *doc->root;
        view.first = view.last = NULL;
        for (struct scan_node *n = doc->root->first; n; n = n->next) {
            if ((!machine && !strcmp(n->name, "machine")) || (!kernel && !strcmp(n->name, "kernel"))) continue;
            /* a shallow list: the document is shared */
            struct scan_node *copy = scan_new(&b->c->arena, 1, sizeof *copy);
            *copy = *n;
            copy->next = NULL;
            if (view.last)
                view.last->next = copy;
            else
                view.first = copy;
            view.last = copy;
        }
        raw_lay(b, &view, "", i + 1 < b->s->chain_n ? "base" : "file");
    }
}

/* ---- names of workloads ---- */

/* Every workload gets a name: its own, else its kind, numbered when there are several. */
static void name_workloads(struct build *b)
{
    size_t n = raw_count(b, "workload");
    struct wb_config *taken = config_new(b->s->keys); /* used as a set of names */
    for (size_t i = 0; i < n; i++) {
        const char *own = raw_text(b, wb_cfg_path("workload[%zu].name", i));
        if (own && !config_find(taken, own)) config_add(taken, own, NULL);
    }
    for (size_t i = 0; i < n; i++) {
        if (raw_find(b, wb_cfg_path("workload[%zu].name", i))) continue;
        const char *kind = raw_text(b, wb_cfg_path("workload[%zu].kind", i)), *base = kind ? kind : "workload";
        char *name = scan_strdup(&b->c->arena, base, strlen(base));
        struct cfg_entry *first = config_find(taken, base);
        int64_t k = first && first->v.num ? first->v.num : 2; /* the number that its kind has come to */
        for (; config_find(taken, name); k++) name = scan_printf(&b->c->arena, "%s%" PRId64, base, k);
        if (first) first->v.num = k;
        config_add(taken, name, NULL);
        lay_text(b, wb_cfg_path("workload[%zu].name", i), name, "default");
    }
    wb_config_free(taken);
}

/* "workload.base", "workload.NAME.base": what it names lies below the entry's own keys, so the entry is laid anew. */
static bool is_workload_base(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot && !strncmp(key, "workload", 8) && strpbrk(key, ".[") == key + 8 && !strcmp(dot, ".base");
}

static int replace_base(struct build *b, const struct wb_override *o)
{
    char path[SCENARIO_PATH_MAX], pattern[KEYS_PATTERN_MAX];
    if (override_resolve(b, o, path, pattern) < 0) return -1;
    *strrchr(path, '.') = '\0';
    struct scan_node *entry = raw_find(b, path)->node;
    size_t n = strlen(path);
    for (size_t i = 0; i < b->raw_n; i++)
        if (!strncmp(b->raw[i].path, path, n) && b->raw[i].path[n] == '.') b->raw[i].dead = true;
    int rc = lay_chain(b, o->value, "workloads", path, o->at);
    raw_lay(b, entry, path, "file");
    lay_text(b, scan_printf(&b->c->arena, "%s.base", path), o->value, o->from);
    return rc;
}

static int lay_overrides(struct build *b)
{
    int rc = 0;
    bool replaced = false;
    for (size_t i = 0; i < b->override_n; i++) {
        if (!is_workload_base(b->override[i].key)) continue;
        if (replace_base(b, &b->override[i]) < 0) rc = -1;
        replaced = true;
    }
    if (replaced) name_workloads(b); /* the names that their kinds had given are gone with them */
    for (size_t i = 0; i < b->override_n; i++)
        if (!is_workload_base(b->override[i].key) && override_lay(b, &b->override[i]) < 0) rc = -1;
    return rc;
}

int merge_layers(struct build *b)
{
    struct arena *a = &b->c->arena;
    const char *machine = b->machine, *topology = NULL, *key = "machine.topology";
    if (machine && is_hwloc(machine)) {
        topology = machine;
        key = "machine.hwloc";
        machine = NULL;
    } else if (machine && is_synthetic(machine) &&
               !find_file(a, b->s->reader, b->s->search, b->s->only_folder, NULL, machine, "machines")) {
        topology = machine;
        machine = NULL;
    }
    const struct part parts[] = {
        /* A topology alone is no Itanium: its costs are generic, where no scenario names a machine. */
        {"machine", "machine.base", "machines", "-m", topology ? "smp2" : "itanium2-tiger4", machine},
        {"kernel", "kernel.base", "kernels", "-k", "linux-2.6.11", b->kernel},
    };
    int rc = 0;
    for (size_t i = 0; i < WB_ARRAY_SIZE(parts); i++)
        if (lay_part(b, &parts[i]) < 0) rc = -1;
    lay_scenario(b, !machine, !b->kernel);
    if (b->s->fragment) lay_lone_fragment(b);
    if (machine) lay_text(b, "machine.base", machine, "-m");
    if (b->kernel) lay_text(b, "kernel.base", b->kernel, "-k");
    if (topology) {
        lay_text(b, key, topology, "-m");
        lay_text(b, "machine.name", topology, "-m"); /* only its costs are those of the scenario's machine */
    }
    name_workloads(b);
    if (lay_overrides(b) < 0) rc = -1;
    return rc;
}
