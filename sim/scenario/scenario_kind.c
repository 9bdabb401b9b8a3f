#include <stdlib.h>
#include <string.h>

#include "scenario_build.h"

/* ---- checking one file alone: which kind is it? ---- */

static const char *const scope[] = {"machine", "kernel", "workload"};

static size_t known_keys(const struct wb_key_registry *keys, const struct scan_node *root, const char *pattern)
{
    size_t n = 0;
    char child[KEYS_PATTERN_MAX];
    for (const struct scan_node *k = root->first; k; k = k->next) n += keys_child(keys, pattern, k->name, child);
    return n;
}

/* Where most of its keys are known; NULL = a scenario. A folder name decides a draw. */
static const char *kind_of(const struct wb_key_registry *keys, const struct scan_node *root, const char *path)
{
    const char *best = NULL;
    size_t most = known_keys(keys, root, "");
    for (size_t i = 0; i < WB_ARRAY_SIZE(scope); i++) {
        size_t n = known_keys(keys, root, scope[i]);
        bool folder = strstr(path, scope[i]) && n == most && n;
        if (n > most || folder) best = scope[i], most = n;
    }
    return best;
}

/* The kind of file at `path`, or NULL when it is a scenario or cannot be read. */
static const char *look_at(const char *path, const struct wb_key_registry *keys)
{
    struct arena a;
    struct wb_diag *quiet = wb_diag_new();
    char *text;
    size_t len;
    const char *why, *kind = NULL;
    bool broken;
    arena_init(&a, "kind");
    if (wb_reader_files.read(wb_reader_files.ctx, path, &text, &len, &why) == 0) {
        kind = kind_of(keys, scan_text(&a, &wb_reader_files, path, text, len, quiet, &broken), path);
        free(text);
    }
    arena_free(&a);
    wb_diag_free(quiet);
    return kind;
}

/* A file as given, or the name of something that ships. Malloc'd, or NULL. */
static char *resolve(const char *name)
{
    static const char *const kinds[] = {"", "cases", "studies", "workloads", "machines", "kernels"};
    char *path = wb_reader_files.exists(wb_reader_files.ctx, name) ? strdup(name) : NULL;
    for (size_t i = 0; !path && i < WB_ARRAY_SIZE(kinds); i++) path = wb_scenario_find(name, kinds[i]);
    return path;
}

const char *wb_scenario_kind(const char *name, const struct wb_key_registry *keys)
{
    char *path = resolve(name);
    const char *kind = path ? look_at(path, keys) : NULL;
    free(path);
    return kind;
}

int wb_scenario_check(const char *name, const struct wb_key_registry *keys, struct wb_diag *d)
{
    char *path = resolve(name);
    const char *kind = path ? look_at(path, keys) : NULL;
    struct wb_scenario *s =
        kind ? scenario_check_part(path, kind, keys, d) : wb_scenario_load(path ? path : name, keys, NULL, d);
    wb_scenario_free(s);
    free(path);
    return s ? 0 : -1;
}

char *wb_scenario_title(const char *name, const char *kind)
{
    char *path = wb_scenario_find(name, kind), *text = NULL, *title = NULL;
    const char *why;
    size_t len;
    if (path && wb_reader_files.read(wb_reader_files.ctx, path, &text, &len, &why) == 0) {
        struct arena a;
        struct wb_diag *quiet = wb_diag_new();
        bool broken;
        arena_init(&a, "title");
        const char *found = scan_child_text(scan_text(&a, &wb_reader_files, path, text, len, quiet, &broken), "title");
        title = found ? strndup(found, 200) : NULL;
        for (char *c = title; c && *c; c++)
            if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
        arena_free(&a);
        wb_diag_free(quiet);
        free(text);
    }
    free(path);
    return title;
}
