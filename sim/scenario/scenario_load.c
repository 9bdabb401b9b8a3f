#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_build.h"

/* ---- documents ---- */

const struct scan_node *scan_child(const struct scan_node *group, const char *name)
{
    if (group->kind != SCAN_GROUP) return NULL;
    for (const struct scan_node *n = group->first; n; n = n->next)
        if (!strcmp(n->name, name)) return n;
    return NULL;
}

const char *scan_child_text(const struct scan_node *group, const char *name)
{
    const struct scan_node *n = scan_child(group, name);
    return n && n->kind == SCAN_STRING ? n->text : NULL;
}

static struct document *known_document(const struct wb_scenario *s, const char *path)
{
    for (size_t i = 0; i < s->doc_n; i++)
        if (!strcmp(s->doc[i]->path, path)) return s->doc[i];
    return NULL;
}

struct document *document_open(struct wb_scenario *s, const char *path, struct wb_place at, struct wb_diag *d)
{
    struct document *doc = known_document(s, path);
    if (doc) return doc;
    char *text;
    size_t len;
    const char *why = NULL;
    if (s->reader->read(s->reader->ctx, path, &text, &len, &why) < 0) {
        wb_diag_add(d, WB_ERROR, "E140", at, "check the path and its permissions", "cannot read '%s': %s", path, why);
        return NULL;
    }
    doc = scan_new(&s->arena, 1, sizeof *doc);
    doc->path = scan_strdup(&s->arena, path, strlen(path));
    if (at.file) wb_diag_source(d, doc->path, "", 0, &at); /* its text follows; this says who wants it */
    doc->root = scan_text(&s->arena, s->reader, path, text, len, d, &doc->broken);
    free(text);
    s->doc = config_grow(s->doc, s->doc_n, &s->doc_cap, sizeof *s->doc);
    s->doc[s->doc_n++] = doc;
    return doc;
}

static struct document *find_document(struct wb_scenario *s, const char *name, const char *kind, struct wb_place at,
                                      struct wb_diag *d)
{
    static const char *const what[][2] = {
        {"machines", "machine"}, {"kernels", "kernel"}, {"workloads", "workload"}, {"cases", "scenario"}};
    const char *path = find_file(&s->arena, s->reader, s->search, s->only_folder, at.file, name, kind),
               *singular = "file";
    for (size_t i = 0; i < WB_ARRAY_SIZE(what); i++)
        if (!strcmp(what[i][0], kind)) singular = what[i][1];
    if (path) return document_open(s, path, at, d);
    char shown[80];
    snprintf(shown, sizeof shown, "%.60s%s", name, strlen(name) > 60 ? "..." : "");
    wb_diag_add(d, WB_ERROR, "E141", at, s->only_folder ? NULL : suggest_file(&s->arena, name, kind),
                "no %s named '%s' is known", singular, shown);
    return NULL;
}

/* From `doc` up its bases. */
static size_t chain_up(struct wb_scenario *s, struct document *doc, const char *name, const char *kind,
                       struct wb_place at, struct wb_diag *d, struct document *chain[SCENARIO_BASE_MAX])
{
    struct document *up[SCENARIO_BASE_MAX];
    size_t n = 0;
    for (;;) {
        if (!doc) return 0;
        for (size_t i = 0; i < n; i++) {
            if (up[i] != doc) continue;
            wb_diag_add(d, WB_ERROR, "E142", at, "remove one `base` of the circle",
                        "'%.200s' is its own base, by way of %zu file%s", name, n, n == 1 ? "" : "s");
            return 0;
        }
        if (n == SCENARIO_BASE_MAX) {
            wb_diag_add(d, WB_ERROR, "E142", at, "write out some of it", "more than %d files build on each other",
                        SCENARIO_BASE_MAX);
            return 0;
        }
        up[n++] = doc;
        const struct scan_node *base = scan_child(doc->root, "base");
        if (!base || base->kind != SCAN_STRING) break;
        name = base->text;
        at = base->at;
        doc = find_document(s, name, kind, at, d);
    }
    for (size_t i = 0; i < n; i++) chain[i] = up[n - 1 - i];
    return n;
}

size_t document_chain(struct wb_scenario *s, const char *name, const char *kind, struct wb_place at, struct wb_diag *d,
                      struct document *chain[SCENARIO_BASE_MAX])
{
    return chain_up(s, find_document(s, name, kind, at, d), name, kind, at, d, chain);
}

/* ---- from raw settings to values ---- */

bool build_hopeless(struct build *b)
{
    if (b->hopeless || wb_diag_count(b->d, WB_ERROR) - b->errors <= SCENARIO_ERRORS_MAX) return b->hopeless;
    b->hopeless = true;
    wb_diag_add(b->d, WB_ERROR, "E112", (struct wb_place){b->s->path, 0, 0, 0}, "correct these first",
                "too many mistakes; the rest was not looked for");
    return true;
}

static void add_members(struct build *b, const char *path)
{
    char prefix[SCENARIO_PATH_MAX], pattern[KEYS_PATTERN_MAX], name[SCENARIO_PATH_MAX];
    for (const char *p = strchr(path, '.'); p; p = strchr(p + 1, '.')) {
        size_t n = strcspn(p + 1, ".[");
        snprintf(prefix, sizeof prefix, "%.*s", (int)(p - path) + 1 + (int)n, path);
        if (!config_pattern(b->s->keys, prefix, pattern)) return;
        size_t len = strlen(pattern);
        if (pattern[len - 1] != '*') continue;
        snprintf(name, sizeof name, "%.*s", (int)n, p + 1);
        prefix[p - path] = '\0';
        config_add_member(b->c, prefix, name);
    }
}

static const struct wb_key *row_of(const struct build *b, const char *path)
{
    char pattern[KEYS_PATTERN_MAX];
    if (!config_pattern(b->s->keys, path, pattern)) return NULL;
    const char *selector = raw_selector(b, path);
    const struct wb_key *row = wb_keys_find(b->s->keys, pattern, selector);
    bool scope = strchr(pattern, '.') != NULL;
    return row && scope && row->only && !keys_only_holds(row->only, selector) ? NULL : row;
}

/* Is it a value of the same key of another family, as a kernel's policy.version under -p? It says nothing then. */
static bool is_foreign(struct build *b, const struct raw *r, const struct wb_key *row)
{
    struct value_context x = {
        .arena = &b->c->arena, .keys = (struct wb_key_registry *)b->s->keys, .prefix = ""}; /* in silence */
    struct wb_origin origin;
    struct cfg_value v;
    if (r->loud || !row->only) return false;
    for (size_t i = 0; i < wb_keys_count(b->s->keys); i++) {
        const struct wb_key *other = wb_keys_at(b->s->keys, i);
        if (other != row && !strcmp(other->path, row->path) &&
            value_make(&x, other, r->path, r->node, &v, &origin) == 0)
            return true;
    }
    return false;
}

static void make_entry(struct build *b, struct raw *r)
{
    const struct wb_key *row = row_of(b, r->path);
    struct value_context x = {.arena = &b->c->arena,
                              .keys = (struct wb_key_registry *)b->s->keys,
                              .d = r->loud ? b->d : NULL,
                              .prefix = r->prefix,
                              .user = strcmp(r->from, "base") != 0};
    struct wb_origin origin = {.place = r->at, .from = r->from};
    struct cfg_value v;
    if (r->kind == RAW_ENTRY || row) add_members(b, r->path); /* a group may be named and empty */
    if (r->kind == RAW_ENTRY || !row || row->type == WB_KEY_GROUP) return;
    if (value_make(&x, row, r->path, r->node, &v, &origin) < 0) {
        r->dead = is_foreign(b, r, row);
        b->incomplete |= !r->dead;
        return;
    }
    if (r->kind == RAW_GROUPS) v.n = r->n;
    struct cfg_entry *e = config_add(b->c, r->path, row);
    e->v = v;
    e->origin = origin;
    e->node = r->node;
}

/* ---- what is not given ---- */

struct prefixes {
    char **path;
    size_t n, cap;
};

static void push_prefix(struct build *b, struct prefixes *l, const char *fmt, const char *a, const char *dot,
                        const char *name)
{
    l->path = config_grow(l->path, l->n, &l->cap, sizeof *l->path);
    l->path[l->n++] = scan_printf(&b->c->arena, fmt, a, dot, name);
}

/* Concrete paths of a row: one for each entry of the lists and each member of the "*" groups above it. */
static struct prefixes expand_row(struct build *b, const struct wb_key *row)
{
    struct prefixes now = {0};
    push_prefix(b, &now, "%s%s%s", "", "", "");
    for (const char *p = row->path; *p;) {
        size_t len = strcspn(p, ".");
        char *segment = scan_strdup(&b->c->arena, p, len);
        bool last = !p[len];
        struct prefixes next = {0};
        for (size_t i = 0; i < now.n; i++) {
            const char *up = now.path[i], *dot = *up ? "." : "";
            if (!strcmp(segment, "*")) {
                const struct cfg_members *m = last ? NULL : config_members(b->c, up);
                for (size_t k = 0; m && k < m->n; k++) push_prefix(b, &next, "%s%s%s", up, dot, m->name[k]);
                continue;
            }
            char *path = scan_printf(&b->c->arena, "%s%s%s", up, dot, segment);
            const struct wb_key *list = last ? NULL : row_of(b, path);
            if (!list || list->type != WB_KEY_GROUPS) {
                push_prefix(b, &next, "%s%s%s", path, "", "");
                continue;
            }
            for (size_t k = 0; k < raw_count(b, path); k++)
                push_prefix(b, &next, "%s%s%s", path, "", wb_cfg_path("[%zu]", k));
        }
        free(now.path);
        now = next;
        p += len + !last;
    }
    return now;
}

/* Nearest group around a path that was written somewhere. */
static struct wb_place place_around(const struct build *b, const char *path)
{
    char up[SCENARIO_PATH_MAX];
    snprintf(up, sizeof up, "%s", path);
    for (char *dot = strrchr(up, '.'); dot; dot = strrchr(up, '.')) {
        *dot = '\0';
        const struct raw *r = raw_find(b, up);
        if (r && r->node) return r->at;
    }
    return (struct wb_place){b->s->path, 0, 0, 0};
}

static bool scope_absent(const struct build *b, const char *path)
{
    char prefix[32];
    size_t n = strcspn(path, ".[");
    if (b->s->only_scope) return strlen(b->s->only_scope) != n || memcmp(b->s->only_scope, path, n);
    if (n + 2 > sizeof prefix) return false;
    snprintf(prefix, sizeof prefix, "%.*s.", (int)n, path);
    if (strcmp(prefix, "machine.") && strcmp(prefix, "kernel.") && strcmp(prefix, "policy.")) return false;
    if (!strcmp(prefix, "policy.")) snprintf(prefix, sizeof prefix, "kernel.");
    for (size_t i = 0; i < b->raw_n; i++)
        if (!b->raw[i].dead && !strncmp(b->raw[i].path, prefix, strlen(prefix))) return false;
    return true;
}

/* Was it meant by a key of the same group that nobody knows? That one is reported. */
static bool is_misspelt(const struct build *b, const char *path)
{
    const char *dot = strrchr(path, '.'), *key = dot ? dot + 1 : path;
    char group[SCENARIO_PATH_MAX], pattern[KEYS_PATTERN_MAX], child[KEYS_PATTERN_MAX];
    snprintf(group, sizeof group, "%.*s", dot ? (int)(dot - path) : 0, path);
    const struct raw *r = raw_find(b, group);
    if (!r || !r->node || !config_pattern(b->s->keys, group, pattern)) return false;
    for (const struct scan_node *n = r->node->first; n; n = n->next)
        if (n->name && !keys_child(b->s->keys, pattern, n->name, child) && wb_nearest(n->name, &key, 1)) return true;
    return false;
}

static void default_or_missing(struct build *b, const struct wb_key *row, const char *path)
{
    if (raw_find(b, path) || row_of(b, path) != row) return;
    if (row->flags & WB_KEY_REQUIRED) {
        b->incomplete = true;
        if (b->broken || scope_absent(b, path) || build_hopeless(b) || is_misspelt(b, path)) return;
        const char *dot = strrchr(path, '.');
        wb_diag_add(b->d, WB_ERROR, "E117", place_around(b, path),
                    scan_printf(&b->c->arena, "%s   (wakebal help %s)", row->help, row->path),
                    dot ? "'%s' is missing in '%.*s'" : "'%s' is missing", dot ? dot + 1 : path,
                    dot ? (int)(dot - path) : 0, path);
        return;
    }
    if (!row->def) return;
    struct value_context x = {.arena = &b->c->arena, .keys = (struct wb_key_registry *)b->s->keys, .prefix = ""};
    struct wb_origin origin = {.from = "default"};
    struct cfg_value v;
    struct scan_node *node = value_node(&b->c->arena, row, row->def, (struct wb_place){0});
    int rc = value_make(&x, row, path, node, &v, &origin);
    WB_CHECK(rc == 0, "default \"%s\" of key %s is no value of it", row->def, row->path);
    if (!origin.source) origin.source = row->source;
    if ((row->flags & WB_KEY_PRICED) && origin.status == WB_STATUS_NONE)
        origin.status = value_status_of_source(row->source);
    struct cfg_entry *e = config_add(b->c, path, row);
    e->v = v;
    e->origin = origin;
}

static void fill_absent(struct build *b)
{
    for (size_t i = 0; i < wb_keys_count(b->s->keys); i++) {
        const struct wb_key *row = wb_keys_at(b->s->keys, i);
        if (!row->def && !(row->flags & WB_KEY_REQUIRED)) continue;
        struct prefixes l = expand_row(b, row);
        for (size_t k = 0; k < l.n; k++) default_or_missing(b, row, l.path[k]);
        free(l.path);
    }
}

static void check_parts(struct build *b)
{
    static const char *const part[] = {"machine", "kernel"};
    if (b->broken || b->s->only_scope) return;
    for (size_t i = 0; i < WB_ARRAY_SIZE(part); i++) {
        if (!scope_absent(b, wb_cfg_path("%s.base", part[i]))) continue;
        b->incomplete = true;
        const struct raw *r = raw_find(b, part[i]);
        if (r && r->kind != RAW_ENTRY) continue; /* it is there and no group: that is reported */
        wb_diag_add(b->d, WB_ERROR, "E118", (struct wb_place){b->s->path, 0, 0, 0},
                    scan_printf(&b->c->arena, "add %s : { base = \"NAME\"; };   (wakebal list %ss)", part[i], part[i]),
                    "the scenario has no %s", part[i]);
    }
}

/* ---- building ---- */

static struct wb_config *build_config(struct wb_scenario *s, const struct wb_overrides *more, struct wb_diag *d)
{
    struct build b = {.s = s,
                      .d = d,
                      .c = config_new(s->keys),
                      .index = config_new(s->keys),
                      .machine = s->machine,
                      .kernel = s->kernel};
    size_t before = wb_diag_count(d, WB_ERROR), more_n = more ? more->n : 0;
    struct wb_override *all = scan_new(&b.c->arena, s->override_n + more_n + 1, sizeof *all);
    if (s->override_n) memcpy(all, s->override, s->override_n * sizeof *all);
    for (size_t i = 0; i < more_n; i++) { /* values made from them must live as long as the config */
        const struct wb_override *o = &more->item[i];
        all[s->override_n + i] = (struct wb_override){scan_strdup(&b.c->arena, o->key, strlen(o->key)),
                                                      scan_strdup(&b.c->arena, o->value, strlen(o->value)),
                                                      scan_strdup(&b.c->arena, o->from, strlen(o->from)), o->at};
    }
    b.override = all;
    b.errors = before;
    b.override_n = s->override_n + more_n;
    if (more && more->machine) b.machine = scan_strdup(&b.c->arena, more->machine, strlen(more->machine));
    if (more && more->kernel) b.kernel = scan_strdup(&b.c->arena, more->kernel, strlen(more->kernel));
    b.c->label = s->name;
    (void)merge_layers(&b);
    check_documents(&b);
    check_parts(&b);
    for (size_t i = 0; i < b.raw_n; i++)
        if (!b.raw[i].dead) make_entry(&b, &b.raw[i]);
    fill_absent(&b);
    config_finish(b.c);
    if (!b.broken) check_sense(&b);
    free(b.raw);
    wb_config_free(b.index);
    if (wb_diag_count(d, WB_ERROR) == before || (s->keep && !b.incomplete && !b.broken && !b.hopeless)) return b.c;
    wb_config_free(b.c);
    return NULL;
}

static char *own(struct wb_scenario *s, const char *text)
{
    return text ? scan_strdup(&s->arena, text, strlen(text)) : NULL;
}

static void keep_overrides(struct wb_scenario *s, const struct wb_overrides *o)
{
    if (!o) return;
    s->machine = own(s, o->machine);
    s->kernel = own(s, o->kernel);
    s->override = scan_new(&s->arena, o->n + 1, sizeof *s->override);
    s->override_n = o->n;
    for (size_t i = 0; i < o->n; i++)
        s->override[i] = (struct wb_override){own(s, o->item[i].key), own(s, o->item[i].value), own(s, o->item[i].from),
                                              o->item[i].at};
}

static void name_scenario(struct wb_scenario *s, const char *path)
{
    const char *slash = strrchr(path, '/');
    s->path = own(s, path);
    s->name = own(s, slash ? slash + 1 : path);
    size_t n = strlen(s->name);
    if (n > 4 && !strcmp(s->name + n - 4, ".cfg")) s->name[n - 4] = '\0';
}

static struct wb_scenario *new_scenario(const struct wb_key_registry *keys, const struct wb_scenario_options *o)
{
    struct wb_scenario *s = calloc(1, sizeof *s);
    WB_MEMORY(s, "out of memory while loading a scenario");
    arena_init(&s->arena, "scenario");
    s->keys = keys;
    s->reader = o && o->reader ? o->reader : &wb_reader_files;
    s->search = own(s, o && o->path ? o->path : getenv("WAKEBAL_PATH"));
    s->only_folder = o && o->only_folder;
    s->keep = o && o->keep;
    keep_overrides(s, o ? o->overrides : NULL);
    return s;
}

void wb_scenario_free(struct wb_scenario *s)
{
    if (!s) return;
    wb_config_free(s->config);
    for (size_t i = 0; i < s->doc_n; i++) free(s->doc[i]->checked);
    free(s->doc);
    arena_free(&s->arena);
    free(s);
}

/* The file that is meant and whether it is a workload fragment. NULL: none. */
static const char *locate(struct wb_scenario *s, const char *name, bool *fragment)
{
    static const char *const kinds[] = {"", "cases", "studies", "workloads"};
    *fragment = false;
    if (s->reader->exists(s->reader->ctx, name)) {
        const char *kind = s->reader == &wb_reader_files ? wb_scenario_kind(name, s->keys) : NULL;
        *fragment = kind && !strcmp(kind, "workload");
        return own(s, *fragment && !strpbrk(name, "/.") ? wb_cfg_path("./%s", name) : name);
    }
    for (size_t i = 0; i < WB_ARRAY_SIZE(kinds); i++) {
        const char *path = find_file(&s->arena, s->reader, s->search, s->only_folder, NULL, name, kinds[i]);
        *fragment = i == 3;
        if (path) return path;
    }
    return NULL;
}

/* Does a line `kind = "NAME"` stand in the text? */
static bool says_kind(const char *text, const char *name)
{
    size_t len = strlen(name);
    for (const char *p = strstr(text, "\nkind"); p; p = strstr(p + 1, "\nkind")) {
        const char *value = p + 5 + strspn(p + 5, " =");
        if (*value == '"' && !strncmp(value + 1, name, len) && value[len + 1] == '"') return true;
    }
    return false;
}

/* A kind where a name is wanted: the fragment of that kind that is ready to run; NULL when there is none. */
static const char *ready_of_kind(struct wb_scenario *s, const char *name)
{
    size_t n;
    const char *fix = NULL, *why = NULL;
    char **names = wb_scenario_list("workloads", &n);
    for (size_t i = 0; i < n && !fix; i++) {
        const char *path = find_file(&s->arena, s->reader, s->search, s->only_folder, NULL, names[i], "workloads");
        char *text = NULL;
        size_t len;
        if (!path || s->reader->read(s->reader->ctx, path, &text, &len, &why) < 0) continue;
        if (says_kind(text, name))
            fix = scan_printf(&s->arena, "'%.100s' is a kind; ready to run is '%s'   (wakebal list workloads)", name,
                              names[i]);
        free(text);
    }
    wb_scenario_list_free(names);
    return fix;
}

static void not_found(struct wb_scenario *s, const char *name, struct wb_diag *d)
{
    const char *fix = s->only_folder ? NULL : suggest_file(&s->arena, name, "cases"), *why = NULL;
    char *text = NULL;
    size_t len;
    if (s->reader->read(s->reader->ctx, name, &text, &len, &why) == -EISDIR) {
        wb_diag_add(d, WB_ERROR, "E140", (struct wb_place){0}, "give a file in it", "cannot read '%.200s': %s", name,
                    why);
        return;
    }
    free(text);
    static const char *const parts[][2] = {{"machines", "machine: give it with -m, beside a scenario"},
                                           {"kernels", "kernel: give it with -k, beside a scenario"}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(parts); i++)
        if (find_file(&s->arena, s->reader, s->search, s->only_folder, NULL, name, parts[i][0]))
            fix = scan_printf(&s->arena, "'%.200s' is a %s", name, parts[i][1]);
    const char *ready = s->only_folder ? NULL : ready_of_kind(s, name);
    if (ready) fix = ready;
    wb_diag_add(d, WB_ERROR, "E141", (struct wb_place){0}, fix, "no scenario or file named '%.200s'", name);
}

/* A machine or kernel file where a scenario is wanted: one sentence instead of an error for each of its keys. */
static bool is_only_a_part(struct wb_scenario *s, const char *path, struct wb_diag *d)
{
    const char *kind = s->reader == &wb_reader_files ? wb_scenario_kind(path, s->keys) : NULL;
    if (!kind || !strcmp(kind, "workload")) return false;
    wb_diag_add(d, WB_ERROR, "E118", (struct wb_place){path, 0, 0, 0},
                scan_printf(&s->arena, "give it with -%c, beside a scenario", *kind), "this is a %s, not a scenario",
                kind);
    return true;
}

struct wb_scenario *wb_scenario_load_with(const char *name, const struct wb_key_registry *keys,
                                          const struct wb_scenario_options *options, struct wb_diag *d)
{
    struct wb_scenario *s = new_scenario(keys, options);
    size_t before = wb_diag_count(d, WB_ERROR);
    bool fragment;
    const char *path = locate(s, name, &fragment);
    if (!path) {
        not_found(s, name, d);
        goto fail;
    }
    if (!fragment && is_only_a_part(s, path, d)) goto fail;
    name_scenario(s, path);
    if (fragment)
        s->fragment = s->path;
    else
        s->chain_n = chain_up(s, document_open(s, path, (struct wb_place){0}, d), path, "cases", (struct wb_place){0},
                              d, s->chain);
    if (!fragment && !s->chain_n) goto fail;
    s->keep = s->keep && wb_diag_count(d, WB_ERROR) == before; /* of a file that cannot be read nothing is known */
    s->config = build_config(s, NULL, d);
    /* scanning the file may have found errors, too */
    s->whole = s->config && wb_diag_count(d, WB_ERROR) == before;
    if (s->whole || (s->config && s->keep)) return s;
fail:
    wb_scenario_free(s);
    return NULL;
}

struct wb_scenario *wb_scenario_load(const char *name, const struct wb_key_registry *keys,
                                     const struct wb_overrides *overrides, struct wb_diag *d)
{
    return wb_scenario_load_with(name, keys, &(struct wb_scenario_options){.overrides = overrides}, d);
}

const struct wb_config *wb_scenario_config(const struct wb_scenario *s)
{
    return s->config;
}
const char *wb_scenario_path(const struct wb_scenario *s)
{
    return s->path;
}
const char *wb_scenario_name(const struct wb_scenario *s)
{
    return s->name;
}

struct wb_config *wb_scenario_at(struct wb_scenario *s, const struct wb_overrides *more, struct wb_diag *d)
{
    if (!s->whole || (more && (more->n || more->machine || more->kernel))) return build_config(s, more, d);
    s->config->shares++; /* it would be the same once more */
    return s->config;
}

struct wb_scenario *scenario_check_part(const char *path, const char *scope, const struct wb_key_registry *keys,
                                        struct wb_diag *d)
{
    struct wb_overrides part = {0};
    const char *file = strpbrk(path, "/.") ? path : wb_cfg_path("./%s", path);
    if (!strcmp(scope, "machine")) part.machine = file;
    if (!strcmp(scope, "kernel")) part.kernel = file;
    struct wb_scenario *s = new_scenario(keys, &(struct wb_scenario_options){.overrides = &part});
    name_scenario(s, path);
    s->only_scope = scope;
    if (!strcmp(scope, "workload")) s->fragment = own(s, file);
    s->config = build_config(s, NULL, d);
    if (s->config) return s;
    wb_scenario_free(s);
    return NULL;
}
