#include "wakebal/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys_index.h"
#include "keys_sim.h"
#include "wakebal/units.h"

#define SELECTORS_MAX 16

struct wb_key_registry {
    const struct wb_key **row; /* sorted by path, then only */
    size_t n, cap;
    struct {
        char *scope, *words;
    } selectors[SELECTORS_MAX]; /* answers of wb_keys_selectors, kept until the next row */
    size_t selectors_n;
};

static const struct {
    const char *scope, *key;
} selector_key[] = {
    {"workload", "kind"},
    {"kernel", "kernel.scheduler"},
    {"policy", "kernel.scheduler"},
};

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static int compare_rows(const void *a, const void *b)
{
    const struct wb_key *x = *(const struct wb_key *const *)a, *y = *(const struct wb_key *const *)b;
    int c = strcmp(x->path, y->path);
    return c ? c : strcmp(or_empty(x->only), or_empty(y->only));
}

struct wb_key_registry *wb_keys_new(void)
{
    struct wb_key_registry *r = calloc(1, sizeof *r);
    WB_MEMORY(r, "out of memory");
    wb_keys_add(r, wb_scenario_keys, wb_scenario_keys_n);
    return r;
}

static void forget_selectors(struct wb_key_registry *r)
{
    for (size_t i = 0; i < r->selectors_n; i++) {
        free(r->selectors[i].scope);
        free(r->selectors[i].words);
    }
    r->selectors_n = 0;
}

void wb_keys_free(struct wb_key_registry *r)
{
    if (!r) return;
    forget_selectors(r);
    free(r->row);
    free(r);
}

void wb_keys_add(struct wb_key_registry *r, const struct wb_key *rows, size_t n)
{
    forget_selectors(r);
    if (r->n + n > r->cap) {
        r->cap = (r->n + n) * 2;
        r->row = realloc(r->row, r->cap * sizeof *r->row);
        WB_MEMORY(r->row, "out of memory");
    }
    for (size_t i = 0; i < n; i++) r->row[r->n++] = &rows[i];
    qsort(r->row, r->n, sizeof *r->row, compare_rows);
    for (size_t i = 1; i < r->n; i++)
        WB_CHECK(compare_rows(&r->row[i - 1], &r->row[i]), "key %s (only %s) is registered twice", r->row[i]->path,
                 or_empty(r->row[i]->only));
}

size_t wb_keys_count(const struct wb_key_registry *r)
{
    return r->n;
}

const struct wb_key *wb_keys_at(const struct wb_key_registry *r, size_t i)
{
    WB_CHECK(i < r->n, "key %zu of %zu", i, r->n);
    return r->row[i];
}

bool keys_word_in(const char *words, const char *word, size_t len)
{
    for (const char *p = words; p && *p;) {
        size_t n = strcspn(p, " ");
        if (n == len && !memcmp(p, word, len)) return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

bool keys_only_holds(const char *only, const char *selector)
{
    return !only || (selector && keys_word_in(only, selector, strlen(selector)));
}

/* First row whose path is not below `path` in order. */
static size_t lower_bound(const struct wb_key_registry *r, const char *path)
{
    size_t lo = 0, hi = r->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (strcmp(r->row[mid]->path, path) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct wb_key *wb_keys_find(const struct wb_key_registry *r, const char *path, const char *only)
{
    for (size_t i = lower_bound(r, path); i < r->n && !strcmp(r->row[i]->path, path); i++)
        if (!only || keys_only_holds(r->row[i]->only, only)) return r->row[i];
    return NULL;
}

char *keys_versions(const struct wb_key_registry *r, const struct wb_key *row, char *buf, size_t n)
{
    const char *first = NULL, *last = NULL;
    snprintf(buf, n, "%s", or_empty(row->versions));
    if (row->versions || !row->only) return buf;
    for (const char *p = row->only; *p; p += strspn(p, " ")) {
        char family[32];
        size_t len = strcspn(p, " ");
        snprintf(family, sizeof family, "%.*s", (int)WB_MIN(len, sizeof family - 1), p);
        const struct wb_key *v = wb_keys_find(r, "policy.version", family);
        p += len;
        if (!v || !v->choices) continue;
        if (!first) first = v->choices;
        last = strrchr(v->choices, ' ') ? strrchr(v->choices, ' ') + 1 : v->choices;
    }
    if (!first) return buf;
    int len = (int)strcspn(first, " ");
    bool one = !strcmp(last, first);
    snprintf(buf, n, "%.*s%s%s", len, first, one ? "" : " to ", one ? "" : last);
    return buf;
}

bool keys_is_group(const struct wb_key_registry *r, const char *pattern)
{
    if (!*pattern) return true;
    char prefix[KEYS_PATTERN_MAX];
    size_t n = strlen(pattern);
    if (n + 2 > sizeof prefix) return false;
    memcpy(prefix, pattern, n);
    memcpy(prefix + n, ".", 2);
    size_t i = lower_bound(r, prefix);
    return i < r->n && !strncmp(r->row[i]->path, prefix, n + 1);
}

static bool join(char out[KEYS_PATTERN_MAX], const char *pattern, const char *name)
{
    size_t a = strlen(pattern), b = strlen(name), dot = a > 0;
    if (a + dot + b + 1 > KEYS_PATTERN_MAX) return false;
    memcpy(out, pattern, a);
    if (dot) out[a] = '.';
    memcpy(out + a + dot, name, b + 1);
    return true;
}

bool keys_child(const struct wb_key_registry *r, const char *pattern, const char *name, char child[KEYS_PATTERN_MAX])
{
    if (!*name || strchr(name, '.')) return false;
    if (join(child, pattern, name) && (wb_keys_find(r, child, NULL) || keys_is_group(r, child))) return true;
    return join(child, pattern, "*") && (wb_keys_find(r, child, NULL) || keys_is_group(r, child));
}

size_t keys_children(const struct wb_key_registry *r, const char *pattern, const char *selector, const char **name,
                     size_t max, char **text)
{
    size_t plen = *pattern ? strlen(pattern) + 1 : 0, n = 0, used = 0, last_len = 0;
    const char *last = NULL;
    *text = calloc(r->n + 1, KEYS_PATTERN_MAX);
    WB_MEMORY(*text, "out of memory");
    for (size_t i = 0; i < r->n; i++) {
        const char *p = r->row[i]->path;
        if (plen && (strncmp(p, pattern, plen - 1) || p[plen - 1] != '.')) continue;
        if (selector && !keys_only_holds(r->row[i]->only, selector)) continue;
        p += plen;
        size_t len = strcspn(p, ".");
        if (last && len == last_len && !memcmp(last, p, len)) continue;
        last = p;
        last_len = len;
        if (n < max) {
            memcpy(*text + used, p, len);
            name[n] = *text + used;
            used += len + 1;
        }
        n++;
    }
    return n;
}

const char *keys_selector_key(const char *pattern)
{
    size_t n = strcspn(pattern, ".");
    for (size_t i = 0; i < WB_ARRAY_SIZE(selector_key); i++)
        if (strlen(selector_key[i].scope) == n && !memcmp(selector_key[i].scope, pattern, n))
            return selector_key[i].key;
    return NULL;
}

const char *keys_choices(struct wb_key_registry *r, const struct wb_key *row)
{
    if (row->choices) return row->choices;
    const char *scope = NULL, *dot = strrchr(row->path, '.');
    for (size_t i = 0; i < WB_ARRAY_SIZE(selector_key); i++) {
        size_t n = strlen(selector_key[i].scope);
        bool absolute = !strcmp(selector_key[i].key, row->path);
        bool of_entry = dot && !strcmp(selector_key[i].key, dot + 1) && !strncmp(row->path, selector_key[i].scope, n) &&
                        row->path + n == dot;
        if (absolute || of_entry) scope = selector_key[i].scope;
    }
    return scope ? wb_keys_selectors(r, scope) : "";
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The `only` words of rows below scope, sorted, joined by spaces. */
static char *collect_words(const struct wb_key_registry *r, const char *scope)
{
    size_t n = 0, len = strlen(scope), room = 1;
    char *words[256], *all;
    for (size_t i = 0; i < r->n; i++) {
        const char *p = r->row[i]->only;
        if (!p || strncmp(r->row[i]->path, scope, len) || r->row[i]->path[len] != '.') continue;
        while (*p && n < WB_ARRAY_SIZE(words)) {
            size_t w = strcspn(p, " ");
            words[n] = strndup(p, w);
            WB_MEMORY(words[n], "out of memory");
            n++;
            room += w + 1;
            p += w + strspn(p + w, " ");
        }
    }
    qsort(words, n, sizeof words[0], compare_words);
    all = calloc(room, 1);
    WB_MEMORY(all, "out of memory");
    for (size_t i = 0; i < n; i++) {
        if (i && !strcmp(words[i], words[i - 1])) continue;
        if (*all) strcat(all, " ");
        strcat(all, words[i]);
    }
    for (size_t i = 0; i < n; i++) free(words[i]);
    return all;
}

const char *wb_keys_selectors(struct wb_key_registry *r, const char *scope)
{
    for (size_t i = 0; i < r->selectors_n; i++)
        if (!strcmp(r->selectors[i].scope, scope)) return r->selectors[i].words;
    if (r->selectors_n == SELECTORS_MAX) forget_selectors(r);
    size_t i = r->selectors_n++;
    r->selectors[i].scope = strdup(scope);
    r->selectors[i].words = collect_words(r, scope);
    WB_MEMORY(r->selectors[i].scope, "out of memory");
    return r->selectors[i].words;
}

const char *wb_key_type_name(enum wb_key_type type)
{
    static const char *const name[] = {
        [WB_KEY_INT] = "count",
        [WB_KEY_BOOL] = "true/false",
        [WB_KEY_TIME] = "time",
        [WB_KEY_COST] = "time or cycles",
        [WB_KEY_SIZE] = "size",
        [WB_KEY_RATE] = "rate",
        [WB_KEY_FREQ] = "frequency",
        [WB_KEY_RATIO] = "ratio",
        [WB_KEY_STRING] = "text",
        [WB_KEY_ENUM] = "one of",
        [WB_KEY_CPUS] = "CPU list",
        [WB_KEY_DIST] = "distribution",
        [WB_KEY_STRINGS] = "list of texts",
        [WB_KEY_TABLE] = "list of counts",
        [WB_KEY_GROUPS] = "list of groups",
        [WB_KEY_GROUP] = "group",
        [WB_KEY_EXPR] = "expression",
        [WB_KEY_NUMBER] = "number or quantity",
        [WB_KEY_VERSION] = "kernel version",
    };
    WB_CHECK((size_t)type < WB_ARRAY_SIZE(name), "key type %d", (int)type);
    return name[type];
}

static bool has_scale(enum wb_key_type t)
{
    return t == WB_KEY_INT || t == WB_KEY_TIME || t == WB_KEY_COST || t == WB_KEY_SIZE || t == WB_KEY_RATE ||
           t == WB_KEY_FREQ || t == WB_KEY_RATIO || t == WB_KEY_DIST;
}

const char *wb_key_lint(const struct wb_key *row)
{
    if (!row->path || !*row->path) return "has no path";
    for (const char *p = row->path; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_' || *p == '.' || *p == '*'))
            return "its path holds something else than a-z 0-9 _ . *";
    for (const char *p = row->path; p; p = strchr(p, '.') ? strchr(p, '.') + 1 : NULL)
        if (!(*p >= 'a' && *p <= 'z') && *p != '*')
            return "has a segment that does not start with a letter: no file could set it";
    if (!row->help || strlen(row->help) < 10) return "has no help";
    bool group = row->type == WB_KEY_GROUP || row->type == WB_KEY_GROUPS;
    if (row->def && !group && !row->source) return "has a default without a source";
    if (row->def && (row->flags & WB_KEY_REQUIRED)) return "is required and has a default";
    if (row->choices && row->type != WB_KEY_ENUM && row->type != WB_KEY_VERSION)
        return "has choices but is neither an enum nor a version";
    if (row->type == WB_KEY_ENUM && row->choices && row->def && !keys_word_in(row->choices, row->def, strlen(row->def)))
        return "its default is none of its choices";
    if ((row->min || row->max) && !has_scale(row->type)) return "has a range but no scale";
    if ((row->flags & WB_KEY_ANYSCALAR) && row->type != WB_KEY_STRINGS)
        return "takes any scalar but is no list of texts";
    return NULL;
}
