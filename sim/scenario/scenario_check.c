#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_build.h"

#define NAME_MAX_LEN 64 /* of members of "*" groups */
#define VALID_SHOWN 12  /* keys named after "Valid here" */
#define UNKNOWN_MAX 50  /* unknown keys of one file that are reported one by one */

struct check_frame {
    struct scan_node *node; /* next to check */
    size_t index;
    char pattern[KEYS_PATTERN_MAX];
    const char *selector;
};

struct check {
    struct build *b;
    struct value_context x;
    size_t unknown;
};

static bool listed(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

const char *known_selector(const struct build *b, const char *scope, const char *selector)
{
    if (!selector || !*selector) return NULL;
    const char *words = wb_keys_selectors((struct wb_key_registry *)b->s->keys, scope);
    return keys_word_in(words, selector, strlen(selector)) ? selector : NULL;
}

/* The key that a bare word at the top level is the last word of: `message` of workload.message. */
static const char *whole_key(const struct wb_key_registry *keys, const char *name)
{
    for (size_t i = 0; i < wb_keys_count(keys); i++) {
        const char *path = wb_keys_at(keys, i)->path, *dot = strrchr(path, '.');
        if (dot && !strcmp(dot + 1, name) && !strchr(path, '*')) return path;
    }
    return NULL;
}

char *suggest_key(struct arena *a, const struct wb_key_registry *keys, const char *pattern, const char *selector,
                  const char *name)
{
    enum { MAX = 512 };
    const char *names[MAX];
    char *text, *valid = scan_strdup(a, "", 0);
    size_t n = keys_children(keys, pattern, selector, names, MAX, &text);
    if (n > MAX) n = MAX;
    bool any = listed(names, n, "*");
    const char *whole = *pattern ? NULL : whole_key(keys, name), *near = whole ? whole : wb_nearest(name, names, n);
    for (size_t i = 0; i < n && i < VALID_SHOWN; i++) valid = scan_printf(a, "%s%s%s", valid, i ? ", " : "", names[i]);
    const char *help = scan_printf(a, *pattern ? "wakebal help %s" : "wakebal list keys", pattern);
    const char *more = n > VALID_SHOWN ? ", ..." : "";
    char *fix;
    if (any)
        fix = scan_printf(a, "see %s", help);
    else if (near)
        fix = scan_printf(a, "did you mean '%s'?  Valid here: %s%s   (%s)", near, valid, more, help);
    else
        fix = scan_printf(a, "valid here: %s%s   (%s)", valid, more, help);
    free(text);
    return fix;
}

static void complain(struct check *k, const char *code, struct wb_place at, const char *fix, const char *what)
{
    wb_diag_add(k->b->d, WB_ERROR, code, at, fix, "%s", what);
}

static void unknown_key(struct check *k, const struct check_frame *f, const struct scan_node *n)
{
    struct arena *a = &k->b->c->arena;
    char shown[80];
    if (k->unknown++ >= UNKNOWN_MAX) return;
    snprintf(shown, sizeof shown, "%.60s%s", n->name, strlen(n->name) > 60 ? "..." : "");
    complain(k, "E115", n->key_at, suggest_key(a, k->b->s->keys, f->pattern, f->selector, n->name),
             *f->pattern ? scan_printf(a, "unknown key '%s' in '%s'", shown, f->pattern)
                         : scan_printf(a, "unknown key '%s'", shown));
}

/* A key of the table that belongs to entries of another kind. */
static void foreign_key(struct check *k, const struct check_frame *f, const struct scan_node *n,
                        const struct wb_key *row)
{
    struct arena *a = &k->b->c->arena;
    const char *what = !strncmp(row->path, "workload", 8) ? "kind" : "scheduler";
    char versions[64];
    keys_versions(k->b->s->keys, row, versions, sizeof versions);
    complain(k, "E116", n->key_at, suggest_key(a, k->b->s->keys, f->pattern, f->selector, n->name),
             scan_printf(a, "key '%s' belongs to %s %s, not to %s%s%s", n->name, what, row->only, f->selector,
                         *versions ? "; it is in " : "", versions));
}

/* `kind` of a workload entry: its own, else that of its base. */
static const char *entry_selector(struct check *k, const struct scan_node *entry)
{
    const char *kind = scan_child_text(entry, "kind"), *base = scan_child_text(entry, "base");
    if (kind || !base) return kind;
    struct document *chain[SCENARIO_BASE_MAX];
    struct wb_diag *quiet = wb_diag_new(); /* merging has reported what cannot be read */
    size_t n = document_chain(k->b->s, base, "workloads", entry->at, quiet, chain);
    wb_diag_free(quiet);
    while (!kind && n-- > 0) kind = scan_child_text(chain[n]->root, "kind");
    return kind;
}

static const char *selector_of_group(struct check *k, const char *pattern)
{
    if (!strcmp(pattern, "kernel") || !strcmp(pattern, "policy"))
        return known_selector(k->b, "policy", raw_selector(k->b, pattern));
    return NULL;
}

/* Check one node. True: its children follow, with the pattern and selector in *into. */
static bool check_node(struct check *k, const struct check_frame *f, struct scan_node *n, struct check_frame *into)
{
    const struct wb_key_registry *keys = k->b->s->keys;
    into->selector = f->selector;
    into->index = 0;
    into->node = n->first;
    if (!n->name) { /* an entry of a list of groups */
        memcpy(into->pattern, f->pattern, sizeof into->pattern);
        if (!strcmp(f->pattern, "workload")) into->selector = known_selector(k->b, "workload", entry_selector(k, n));
        if (n->kind == SCAN_GROUP) return true;
        complain(k, "E122", n->at, "write { key = value; }",
                 scan_printf(&k->b->c->arena, "an entry of '%s' must be a group, found %s", f->pattern,
                             scan_kind_name(n->kind)));
        return false;
    }
    bool moved = !strcmp(f->pattern, "kernel") && !strcmp(n->name, "policy");
    if (!keys_child(keys, moved ? "" : f->pattern, n->name, into->pattern)) {
        unknown_key(k, f, n);
        return false;
    }
    size_t plen = strlen(into->pattern);
    if (plen && into->pattern[plen - 1] == '*' && strlen(n->name) > NAME_MAX_LEN) {
        complain(k, "E115", n->key_at, "use a shorter one", "names are at most 64 characters long");
        return false;
    }
    const struct wb_key *row = wb_keys_find(keys, into->pattern, f->selector),
                        *any = wb_keys_find(keys, into->pattern, NULL);
    if (!row && any) {
        foreign_key(k, f, n, any);
        return false;
    }
    if (!strchr(into->pattern, '.') && !moved) into->selector = selector_of_group(k, into->pattern);
    if (row) {
        struct cfg_value v;
        struct wb_origin o;
        k->x.user = false;
        bool ok = value_make(&k->x, row, into->pattern, n, &v, &o) == 0;
        return ok && (row->type == WB_KEY_GROUP || row->type == WB_KEY_GROUPS);
    }
    static const struct wb_key implicit = {.type = WB_KEY_GROUP};
    struct cfg_value v;
    return value_make(&k->x, &implicit, into->pattern, n, &v, NULL) == 0;
}

static void check_tree(struct check *k, struct scan_node *root, const char *scope, const char *selector)
{
    struct check_frame *stack = scan_new(&k->b->c->arena, SCAN_DEPTH_MAX + 2, sizeof *stack);
    size_t depth = 0;
    k->unknown = 0;
    stack[0].node = root->first;
    stack[0].selector = selector;
    snprintf(stack[0].pattern, sizeof stack[0].pattern, "%s", scope);
    for (;;) {
        struct check_frame *f = &stack[depth];
        struct scan_node *n = f->node;
        if (!n) {
            if (!depth--) break;
            continue;
        }
        if (build_hopeless(k->b)) return;
        f->node = n->next;
        f->index++;
        if (depth < SCAN_DEPTH_MAX && check_node(k, f, n, &stack[depth + 1])) depth++;
    }
    if (k->unknown > UNKNOWN_MAX)
        complain(k, "E115", root->at, "is it a scenario at all?",
                 scan_printf(&k->b->c->arena, "%zu more unknown keys", k->unknown - UNKNOWN_MAX));
}

/* Integers that libconfig wraps, wherever nobody looked at them. */
static void tell_wraps(struct check *k, struct scan_node *root)
{
    for (struct scan_node *n = root; n;) {
        if (n->kind == SCAN_INT && n->wraps) value_tell_wrap(&k->x, NULL, n);
        if (n->first) {
            n = n->first;
            continue;
        }
        while (n && !n->next) n = n->parent;
        if (n) n = n->next;
    }
}

static void check_document(struct check *k, struct document *doc, const char *scope, const char *selector)
{
    struct arena *a = &k->b->s->arena;
    char *mark = scan_printf(a, "%s %s", scope, selector ? selector : "");
    for (size_t i = 0; i < doc->checked_n; i++)
        if (!strcmp(doc->checked[i], mark)) return;
    doc->checked = config_grow(doc->checked, doc->checked_n, &doc->checked_cap, sizeof *doc->checked);
    doc->checked[doc->checked_n++] = mark;
    check_tree(k, doc->root, scope, selector);
    tell_wraps(k, doc->root);
}

/* Which scheduler the files of a kernel chain were written for: their policy switches are judged by it, even when -p
 * takes another. */
static const char *chain_scheduler(struct document *const *chain, size_t n)
{
    const char *own = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *text = scan_child_text(chain[i]->root, "scheduler");
        if (text) own = text;
    }
    return own;
}

static void check_chain(struct check *k, const char *name, struct wb_place at, const char *scope, const char *kind,
                        const char *selector)
{
    struct document *chain[SCENARIO_BASE_MAX];
    struct wb_diag *quiet = wb_diag_new(); /* merging has reported what cannot be read */
    size_t n = document_chain(k->b->s, name, kind, at, quiet, chain);
    wb_diag_free(quiet);
    const char *own = strcmp(scope, "kernel") ? NULL : known_selector(k->b, "policy", chain_scheduler(chain, n));
    for (size_t i = 0; i < n; i++) check_document(k, chain[i], scope, own ? own : selector);
}

void check_documents(struct build *b)
{
    static const char *const part[][2] = {{"machine", "machines"}, {"kernel", "kernels"}};
    struct check k = {
        .b = b, .x = {.arena = &b->s->arena, .keys = (struct wb_key_registry *)b->s->keys, .d = b->d, .prefix = ""}};
    for (size_t i = 0; i < b->s->chain_n; i++) check_document(&k, b->s->chain[i], "", NULL);
    for (size_t i = 0; i < WB_ARRAY_SIZE(part); i++) {
        const struct raw *base = raw_find(b, wb_cfg_path("%s.base", part[i][0]));
        const char *name = base && base->node->kind == SCAN_STRING ? base->node->text : NULL;
        if (!name) continue;
        check_chain(&k, name, base->at, part[i][0], part[i][1], selector_of_group(&k, part[i][0]));
    }
    for (size_t i = 0; i < raw_count(b, "workload"); i++) {
        const struct raw *entry = raw_find(b, wb_cfg_path("workload[%zu]", i));
        const char *base = raw_text(b, wb_cfg_path("workload[%zu].base", i));
        const char *selector = known_selector(b, "workload", raw_selector(b, wb_cfg_path("workload[%zu]", i)));
        if (entry && base) check_chain(&k, base, entry->at, "workload", "workloads", selector);
    }
}
