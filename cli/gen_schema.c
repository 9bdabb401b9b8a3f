/* gen_schema.c - the key table as JSON Schema, and scenario files as JSON; see gen.h. */
#include "gen.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "keys_index.h"
#include "scan.h"

/* ------------------------------------------------------------------ values */
static json_t *typed(const char *type)
{
    return json_pack("{s:s}", "type", type);
}

static json_t *either(const char *a, const char *b)
{
    return json_pack("{s:[s,s]}", "type", a, b);
}

static bool plain_integer(const char *s)
{
    return s && *s && strlen(s) < 18 && s[strspn(s + (*s == '-'), "0123456789") + (*s == '-')] == '\0';
}

static json_t *integer_of(const struct wb_key *k)
{
    json_t *o = typed("integer");
    if (plain_integer(k->min)) json_object_set_new(o, "minimum", json_integer(strtoll(k->min, NULL, 10)));
    if (plain_integer(k->max)) json_object_set_new(o, "maximum", json_integer(strtoll(k->max, NULL, 10)));
    return o;
}

static json_t *choices_of(struct wb_key_registry *keys, const struct wb_key *k)
{
    json_t *list = json_array();
    for (const char *p = keys_choices(keys, k); *p;) {
        size_t n = strcspn(p, " ");
        json_array_append_new(list, json_stringn(p, n));
        p += n + strspn(p + n, " ");
    }
    return json_pack("{s:o}", "enum", list);
}

/* What may stand for a row that is no group, without its list of origin. */
static json_t *bare_value(struct wb_key_registry *keys, const struct wb_key *k)
{
    switch (k->type) {
    case WB_KEY_INT: return integer_of(k);
    case WB_KEY_BOOL: return typed("boolean");
    case WB_KEY_ENUM: return choices_of(keys, k);
    case WB_KEY_VERSION: return json_pack("{s:s,s:s}", "type", "string", "pattern", "^[0-9a-z.]+$");
    case WB_KEY_RATIO: return either("string", "number");
    case WB_KEY_NUMBER: return either("string", "number");
    case WB_KEY_TABLE: return json_pack("{s:s,s:o}", "type", "array", "items", typed("integer"));
    case WB_KEY_STRINGS:
        return json_pack("{s:s,s:o}", "type", "array", "items",
                         k->flags & WB_KEY_ANYSCALAR ? json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean")
                                                     : typed("string"));
    case WB_KEY_TIME:
    case WB_KEY_COST:
    case WB_KEY_SIZE:
    case WB_KEY_RATE:
    case WB_KEY_FREQ: return json_pack("{s:s,s:s}", "type", "string", "pattern", "[0-9]");
    default: return typed("string");
    }
}

/* ( value, status, range, source ) beside the plain value. */
static json_t *priced(json_t *value)
{
    json_t *status = json_pack("{s:[s,s,s,s]}", "enum", "measured", "quoted", "derived", "assumed");
    json_t *list = json_pack("{s:s,s:i,s:i,s:[O,o,o,o]}", "type", "array", "minItems", 1, "maxItems", 4, "prefixItems",
                             value, status, typed("string"), typed("string"));
    return json_pack("{s:[o,o]}", "anyOf", value, list);
}

static json_t *value_of(struct wb_key_registry *keys, const struct wb_key *k)
{
    bool list = k->type == WB_KEY_TABLE || k->type == WB_KEY_STRINGS;
    json_t *v = bare_value(keys, k);
    if (k->flags & WB_KEY_PRICED && !list) v = priced(v);
    json_object_set_new(v, "description", json_string(k->help));
    if (k->def && *k->def) json_object_set_new(v, "$comment", json_pack("s+", "default: ", k->def));
    return v;
}

/* ------------------------------------------------------------------ groups */
/* The row of a path whose next one differs in `only`: all of them may stand there. */
static json_t *node_of(struct wb_key_registry *keys, const char *path);

/* Children of `path` as properties; the depth is that of the key table. */
static json_t *group_of(struct wb_key_registry *keys, const char *path)
{
    json_t *properties = json_object(), *rest = json_false();
    size_t n = strlen(path);
    char child[KEYS_PATTERN_MAX];
    for (size_t i = 0; i < wb_keys_count(keys); i++) {
        const char *p = wb_keys_at(keys, i)->path;
        if (n && (strncmp(p, path, n) || p[n] != '.')) continue;
        const char *name = p + n + (n > 0);
        snprintf(child, sizeof child, "%.*s", (int)(name - p) + (int)strcspn(name, "."), p);
        const char *leaf = child + n + (n > 0);
        if (!strcmp(leaf, "*")) {
            if (json_is_false(rest)) rest = node_of(keys, child);
        } else if (!json_object_get(properties, leaf)) {
            json_object_set_new(properties, leaf, node_of(keys, child));
        }
    }
    return json_pack("{s:s,s:o,s:o}", "type", "object", "properties", properties, "additionalProperties", rest);
}

static bool same_row_seen(json_t *list, json_t *v)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), v)) return true;
    return false;
}

static json_t *node_of(struct wb_key_registry *keys, const char *path)
{
    json_t *forms = json_array();
    for (size_t i = 0; i < wb_keys_count(keys); i++) {
        const struct wb_key *k = wb_keys_at(keys, i);
        if (strcmp(k->path, path) || k->type == WB_KEY_GROUP || k->type == WB_KEY_GROUPS) continue;
        json_t *v = value_of(keys, k);
        if (!same_row_seen(forms, v)) json_array_append(forms, v);
        json_decref(v);
    }
    if (keys_is_group(keys, path)) {
        const struct wb_key *k = wb_keys_find(keys, path, NULL);
        json_t *g = group_of(keys, path);
        if (k && k->type == WB_KEY_GROUPS) g = json_pack("{s:s,s:o}", "type", "array", "items", g);
        if (k) json_object_set_new(g, "description", json_string(k->help));
        json_array_append_new(forms, g);
    }
    json_t *one =
        json_array_size(forms) == 1 ? json_incref(json_array_get(forms, 0)) : json_pack("{s:O}", "anyOf", forms);
    json_decref(forms);
    return one;
}

/* Keys of other kinds are wrong: if kind is X, the names are those of X. */
static void restrict_kinds(struct wb_key_registry *keys, json_t *entry)
{
    json_t *all = json_array();
    char *words = strdup(wb_keys_selectors(keys, "workload")), *save = NULL;
    WB_MEMORY(words, "out of memory for the schema");
    for (char *kind = strtok_r(words, " ", &save); kind; kind = strtok_r(NULL, " ", &save)) {
        json_t *names = json_array(), *seen = json_object();
        for (size_t i = 0; i < wb_keys_count(keys); i++) {
            const struct wb_key *k = wb_keys_at(keys, i);
            char leaf[KEYS_PATTERN_MAX];
            if (strncmp(k->path, "workload.", 9) || !keys_only_holds(k->only, kind)) continue;
            snprintf(leaf, sizeof leaf, "%.*s", (int)strcspn(k->path + 9, "."), k->path + 9);
            if (json_object_get(seen, leaf)) continue;
            json_object_set_new(seen, leaf, json_true());
            json_array_append_new(names, json_string(leaf));
        }
        json_decref(seen);
        json_array_append_new(all, json_pack("{s:{s:{s:{s:s}},s:[s]},s:{s:{s:o}}}", "if", "properties", "kind", "const",
                                             kind, "required", "kind", "then", "propertyNames", "enum", names));
    }
    free(words);
    json_object_set_new(entry, "allOf", all);
}

/* A file of one kind alone: the keys of its group, and what heads every file. */
static json_t *fragment(json_t *scenario, json_t *group)
{
    static const char *const head[] = {"schema", "title", "name", "note", "source", "base"};
    json_t *o = json_deep_copy(group), *properties = json_object_get(o, "properties");
    for (size_t i = 0; i < WB_ARRAY_SIZE(head); i++) {
        json_t *v = json_object_get(json_object_get(scenario, "properties"), head[i]);
        if (v && !json_object_get(properties, head[i])) json_object_set(properties, head[i], v);
    }
    return o;
}

json_t *gen_schema(struct wb_key_registry *keys)
{
    json_t *scenario = group_of(keys, ""), *top = json_object_get(scenario, "properties");
    json_t *machine = json_object_get(top, "machine"), *kernel = json_object_get(top, "kernel"),
           *entry = json_object_get(json_object_get(top, "workload"), "items");
    WB_CHECK(machine && kernel && entry, "the key table lacks machine, kernel or workload");
    /* kernel files may set keys of the policy */
    json_object_set_new(json_object_get(kernel, "properties"), "policy",
                        json_deep_copy(json_object_get(top, "policy")));
    json_t *m = fragment(scenario, machine), *k = fragment(scenario, kernel), *w = fragment(scenario, entry);
    restrict_kinds(keys, entry);
    return json_pack("{s:s,s:s,s:s,s:[{s:s},{s:s},{s:s},{s:s}],s:{s:o,s:o,s:o,s:o}}", "$schema",
                     "https://json-schema.org/draft/2020-12/schema", "title", "wakebal scenario files", "description",
                     "Scenario, machine, kernel and workload files of wakebal " WB_VERSION
                     ", as `wakebal generate json FILE` shows them.",
                     "anyOf", "$ref", "#/$defs/scenario", "$ref", "#/$defs/machine", "$ref", "#/$defs/kernel", "$ref",
                     "#/$defs/workload", "$defs", "scenario", scenario, "machine", m, "kernel", k, "workload", w);
}

/* ------------------------------------------------------------------ a file as JSON */
static json_t *scalar(const struct scan_node *n)
{
    switch (n->kind) {
    case SCAN_STRING: {
        json_t *s = json_string(n->text);
        return s ? s : json_string("?"); /* not UTF-8 */
    }
    case SCAN_INT: return json_integer(n->num);
    case SCAN_FLOAT: return json_real(strtod(n->text, NULL));
    case SCAN_BOOL: return json_boolean(n->num != 0);
    case SCAN_GROUP: return json_object();
    default: return json_array();
    }
}

static void attach(json_t *to, const struct scan_node *n, json_t *v)
{
    if (json_is_array(to))
        json_array_append_new(to, v);
    else
        json_object_set_new(to, n->name ? n->name : "?", v);
}

/* The scanner keeps to SCAN_DEPTH_MAX, so a stack of that size does. */
static json_t *tree_json(const struct scan_node *root)
{
    json_t *open[SCAN_DEPTH_MAX + 2] = {json_object()};
    size_t depth = 0;
    const struct scan_node *n = root->first;
    while (n || depth) {
        if (!n) break;
        json_t *v = scalar(n);
        attach(open[depth], n, v);
        if (n->first && depth < SCAN_DEPTH_MAX) {
            open[++depth] = v;
            n = n->first;
            continue;
        }
        while (n != root && !n->next) {
            n = n->parent;
            if (n == root || !depth) return open[0];
            depth--;
        }
        n = n->next;
    }
    return open[0];
}

json_t *gen_file_json(const char *path, struct wb_diag *d)
{
    struct arena a;
    char *text;
    size_t len;
    const char *why;
    bool broken = false;
    json_t *doc = NULL;
    arena_init(&a, "json");
    if (wb_reader_files.read(wb_reader_files.ctx, path, &text, &len, &why)) {
        wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){0}, NULL, "'%s' cannot be read: %s", path, why);
    } else {
        const struct scan_node *root = scan_text(&a, &wb_reader_files, path, text, len, d, &broken);
        if (!wb_diag_count(d, WB_ERROR)) doc = tree_json(root);
        free(text);
    }
    arena_free(&a);
    return doc;
}
