#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_build.h"

static char *prefix_of(struct build *b, const struct wb_override *o)
{
    if (o->at.file) return "";
    /* --duration=0 as it was typed; --set and --vary name their key, the fix says what an option stands for. */
    if (strcmp(o->from, "--set") && strcmp(o->from, "--vary") && !strncmp(o->from, "--", 2))
        return scan_printf(&b->c->arena, "%s=%.100s: ", o->from, o->value);
    return scan_printf(&b->c->arena, "%s %.100s=%.100s: ", o->from, o->key, o->value);
}

static int complain(struct build *b, const struct wb_override *o, const char *code, const char *fix, const char *what)
{
    wb_diag_add(b->d, WB_ERROR, code, o->at, fix, "%s%s", prefix_of(b, o), what);
    return -1;
}

/* "a, b, c": the names of a list's entries. */
static char *entry_names(struct build *b, const char *path, size_t n)
{
    char *all = scan_strdup(&b->c->arena, "", 0);
    for (size_t i = 0; i < n && i < 10; i++) {
        const char *name = raw_text(b, wb_cfg_path("%s[%zu].name", path, i));
        all = scan_printf(&b->c->arena, "%s%s%s", all, i ? ", " : "", name ? name : wb_cfg_path("[%zu]", i));
    }
    return all;
}

struct walk {
    struct build *b;
    const struct wb_override *o;
    const char *p; /* rest of the key */
    char *path, *pattern;
};

static bool append(char *path, const char *text, size_t len)
{
    size_t n = strlen(path);
    if (n + len + 1 > SCENARIO_PATH_MAX) return false;
    memcpy(path + n, text, len);
    path[n + len] = '\0';
    return true;
}

/* Which entry of the list at w->path is meant: "[2]", a name, or the only one. */
static int pick_entry(struct walk *w)
{
    struct arena *a = &w->b->c->arena;
    size_t n = raw_count(w->b, w->path), pick = n;
    if (*w->p == '[') {
        char *end;
        pick = strtoul(w->p + 1, &end, 10);
        if (end == w->p + 1 || *end != ']' || pick >= n)
            return complain(w->b, w->o, "E131", "indexes start at 0",
                            scan_printf(a, "'%s' has %zu entries", w->path, n));
        w->p = end + 1;
    } else if (*w->p == '.') {
        size_t len = strcspn(w->p + 1, ".[");
        for (size_t i = 0; i < n && pick == n; i++) {
            const char *name = raw_text(w->b, wb_cfg_path("%s[%zu].name", w->path, i));
            if (name && strlen(name) == len && !memcmp(name, w->p + 1, len)) pick = i;
        }
        if (pick < n) w->p += 1 + len;
        if (pick == n && n == 1) pick = 0;
    }
    if (pick < n) {
        const char *index = wb_cfg_path("[%zu]", pick);
        return append(w->path, index, strlen(index)) ? 0 : complain(w->b, w->o, "E130", NULL, "the key is too long");
    }
    if (!n)
        return complain(w->b, w->o, "E131", "add an entry to the scenario first",
                        scan_printf(a, "'%s' has no entries", w->path));
    if (!*w->p)
        return complain(w->b, w->o, "E131", scan_printf(a, "set one key of an entry: %s.NAME.KEY", w->path),
                        scan_printf(a, "'%s' is a list of groups", w->path));
    return complain(
        w->b, w->o, "E131",
        scan_printf(a, "say which: %s.NAME%s with NAME one of %s", w->path, w->p, entry_names(w->b, w->path, n)),
        scan_printf(a, "there are %zu entries in '%s'", n, w->path));
}

/* One segment of the key. */
static int step(struct walk *w)
{
    struct arena *a = &w->b->c->arena;
    const struct wb_key_registry *keys = w->b->s->keys;
    size_t len = strcspn(w->p, ".[");
    char *name = scan_strdup(a, w->p, WB_MIN(len, (size_t)100)), child[KEYS_PATTERN_MAX];
    const char *selector = *w->path ? raw_selector(w->b, w->path) : NULL;
    selector = known_selector(w->b, strncmp(w->pattern, "workload", 8) ? "policy" : "workload", selector);
    if (!len || len > 100 || !keys_child(keys, w->pattern, name, child))
        return complain(
            w->b, w->o, "E130", suggest_key(a, keys, w->pattern, selector, name),
            scan_printf(a, *w->pattern ? "unknown key '%s' in '%s'" : "unknown key '%s'", name, w->pattern));
    const struct wb_key *any = wb_keys_find(keys, child, NULL), *row = wb_keys_find(keys, child, selector);
    if (any && !row) {
        char in[64];
        keys_versions(keys, any, in, sizeof in);
        return complain(w->b, w->o, "E116", suggest_key(a, keys, w->pattern, selector, name),
                        scan_printf(a, "key '%s' belongs to %s, not to %s%s%s", name, any->only, selector,
                                    *in ? "; it is in " : "", in));
    }
    memcpy(w->pattern, child, sizeof child);
    if ((*w->path && !append(w->path, ".", 1)) || !append(w->path, w->p, len))
        return complain(w->b, w->o, "E130", NULL, "the key is too long");
    w->p += len;
    if (row && row->type == WB_KEY_GROUPS && (*w->p || raw_count(w->b, w->path))) return pick_entry(w);
    return 0;
}

int override_resolve(struct build *b, const struct wb_override *o, char path[SCENARIO_PATH_MAX],
                     char pattern[KEYS_PATTERN_MAX])
{
    struct walk w = {b, o, o->key, path, pattern};
    path[0] = pattern[0] = '\0';
    for (;;) {
        if (step(&w) < 0) return -1;
        if (!*w.p) break;
        if (*w.p != '.')
            return complain(b, o, "E130", NULL,
                            scan_printf(&b->c->arena, "'%s' is no list; '%s' cannot follow it", path, w.p));
        w.p++;
    }
    const struct wb_key *row = wb_keys_find(b->s->keys, pattern, NULL);
    if (row && row->type != WB_KEY_GROUP && row->type != WB_KEY_GROUPS && path[strlen(path) - 1] != ']') return 0;
    char base[KEYS_PATTERN_MAX];
    bool named = row && row->type == WB_KEY_GROUP && keys_child(b->s->keys, pattern, "base", base);
    return complain(b, o, "E130",
                    named ? scan_printf(&b->c->arena, "to choose one by name: %s.base=%.60s", path, o->value)
                          : suggest_key(&b->c->arena, b->s->keys, pattern, raw_selector(b, path), ""),
                    scan_printf(&b->c->arena, "'%s' is a group; name one key of it", path));
}

static struct scan_node *node_of(struct build *b, const struct wb_override *o, const char *path, const char *pattern)
{
    const struct wb_key *row = wb_keys_find(b->s->keys, pattern, raw_selector(b, path));
    if (!row) row = wb_keys_find(b->s->keys, pattern, NULL);
    return value_node(&b->c->arena, row, o->value, o->at);
}

int override_lay(struct build *b, const struct wb_override *o)
{
    char path[SCENARIO_PATH_MAX], pattern[KEYS_PATTERN_MAX];
    if (override_resolve(b, o, path, pattern) < 0) return -1;
    if (!strcmp(path, "base")) /* the files below have been laid */
        return complain(b, o, "E130", "name that scenario itself, or write base = \"...\"; into the file",
                        "the base of a scenario cannot be set from outside");
    struct raw *r = raw_set(b, path, node_of(b, o, path, pattern), o->from);
    r->loud = true;
    r->at = o->at;
    r->prefix = prefix_of(b, o);
    return 0;
}

int override_try(struct build *b, const struct wb_override *o)
{
    char path[SCENARIO_PATH_MAX], pattern[KEYS_PATTERN_MAX];
    if (override_resolve(b, o, path, pattern) < 0) return -1;
    struct value_context x = {.arena = &b->c->arena,
                              .keys = (struct wb_key_registry *)b->s->keys,
                              .d = b->d,
                              .prefix = prefix_of(b, o),
                              .user = true};
    struct cfg_value v;
    struct wb_origin origin;
    const struct wb_key *row = wb_keys_find(b->s->keys, pattern, raw_selector(b, path));
    return row ? value_make(&x, row, path, node_of(b, o, path, pattern), &v, &origin) : 0;
}
