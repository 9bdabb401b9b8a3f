/*
 * scenario_build.h - inside of the loader: documents, the merged raw settings, and the steps from one to the other.
 *
 * A *document* is one file (with its includes) as a tree. Documents are cached: the points of a sweep share them, and
 * each is checked against the key table once per place where it is used. *Raw settings* are the merged trees:
 * concrete path -> node, the highest layer's. Values are made from raw settings at the end, when all selectors
 * (workload kinds, the scheduler family) are known.
 */
#ifndef WB_SCENARIO_BUILD_H
#define WB_SCENARIO_BUILD_H

#include "config_build.h"

#define SCENARIO_BASE_MAX 16    /* files in a chain of `base` */
#define SCENARIO_ERRORS_MAX 200 /* after so many no more are looked for */
#define SCENARIO_PATH_MAX 512   /* bytes of a concrete path */

struct document {
    const char *path;
    struct scan_node *root;
    bool broken;          /* syntax: reported */
    const char **checked; /* "scope selector" already checked */
    size_t checked_n, checked_cap;
};

struct wb_scenario {
    struct arena arena;
    const struct wb_key_registry *keys;
    const struct wb_reader *reader;
    const char *search; /* WAKEBAL_PATH or what stands for it */
    bool only_folder, keep;
    bool whole; /* `config` is what the files say, without a mistake */
    char *path, *name;
    struct document **doc;
    size_t doc_n, doc_cap;
    struct document *chain[SCENARIO_BASE_MAX]; /* scenario files, deepest base first */
    size_t chain_n;
    const char *fragment;         /* a workload file that stands for the scenario */
    const char *only_scope;       /* checking one machine, kernel or workload file: the rest may be absent */
    struct wb_override *override; /* of the command line, copied */
    size_t override_n;
    const char *machine, *kernel; /* -m, -k */
    struct wb_config *config;
};

enum raw_kind { RAW_LEAF, RAW_GROUPS, RAW_ENTRY }; /* a value; a list of groups; a group, of a list or named */

struct raw {
    const char *path;
    struct scan_node *node;
    struct wb_place at;
    const char *from, *prefix; /* prefix: "--set a=b: " for messages about it, or "" */
    enum raw_kind kind;
    size_t n;  /* RAW_GROUPS: entries */
    bool dead; /* a higher layer replaced the list that it was in */
    bool loud; /* not part of a checked document: its mistakes are reported when its value is made */
};

/* One building of a config. */
struct build {
    struct wb_scenario *s;
    struct wb_diag *d;
    struct wb_config *c;     /* the result; its arena holds everything */
    struct wb_config *index; /* path -> raw, by position */
    struct raw *raw;
    size_t raw_n, raw_cap;
    const struct wb_override *override; /* of the command line and of the point */
    size_t override_n;
    const char *machine, *kernel;
    size_t errors;   /* in d before this building */
    bool hopeless;   /* that there are too many mistakes was said */
    bool broken;     /* some document does not parse: absences are not reported */
    bool incomplete; /* some value could not be made or is missing */
    bool clean;      /* no error before the sense of the whole was looked at */
};

/* Too many mistakes to look for more? Says so once. */
bool build_hopeless(struct build *b);

/* ---- documents: scenario_load.c ---- */

/* Read and scan once. NULL: cannot be read (reported at `at`, as needed by `what`). */
struct document *document_open(struct wb_scenario *s, const char *path, struct wb_place at, struct wb_diag *d);
/* The chain of `base` files that starts with `name` (of the folder kind), deepest first. Returns the number, 0 on
 * error. */
size_t document_chain(struct wb_scenario *s, const char *name, const char *kind, struct wb_place at, struct wb_diag *d,
                      struct document *chain[SCENARIO_BASE_MAX]);
/* Load a machine, kernel or workload file as if it were all of a scenario. NULL: errors in d. */
struct wb_scenario *scenario_check_part(const char *path, const char *scope, const struct wb_key_registry *keys,
                                        struct wb_diag *d);
const struct scan_node *scan_child(const struct scan_node *group, const char *name);
/* Text of a string child, or NULL. */
const char *scan_child_text(const struct scan_node *group, const char *name);

/* ---- files: scenario_find.c ---- */

/* Find `name` of a kind, beside `beside` (a file, or NULL = as given from the working folder) and on the search path.
 * In the arena, or NULL. */
const char *find_file(struct arena *a, const struct wb_reader *reader, const char *search, bool only_folder,
                      const char *beside, const char *name, const char *kind);
/* Names of a kind, for suggestions. */
const char *suggest_file(struct arena *a, const char *name, const char *kind);

/* ---- merging: scenario_merge.c ---- */

/* All layers into b->raw. 0, or -1 with errors. */
int merge_layers(struct build *b);
struct raw *raw_find(const struct build *b, const char *path);
struct raw *raw_set(struct build *b, const char *path, struct scan_node *node, const char *from);
/* Text of a raw string setting, or NULL. */
const char *raw_text(const struct build *b, const char *path);
/* Entries of the list at `path`. */
size_t raw_count(const struct build *b, const char *path);
/* Value that selects rows at this concrete path ("pipe_bw", "o1"), or NULL. */
const char *raw_selector(const struct build *b, const char *path);
/* Lay a tree over the raw settings at `path`. */
void raw_lay(struct build *b, struct scan_node *root, const char *path, const char *from);

/* ---- checking: scenario_check.c ---- */

/* Check all documents in use against the key table. */
void check_documents(struct build *b);
/* The selector, or NULL when it names nothing known: it restricts nothing then, and its own mistake is reported, not
 * those that follow from it. scope: "workload" or "policy". */
const char *known_selector(const struct build *b, const char *scope, const char *selector);
/* "did you mean ...? Valid here: ..." below a pattern. */
char *suggest_key(struct arena *a, const struct wb_key_registry *keys, const char *pattern, const char *selector,
                  const char *name);

/* ---- overrides: scenario_override.c ---- */

/* The concrete path of a key of the command line ("workload.message"), and its pattern. 0, or -1 with an error. */
int override_resolve(struct build *b, const struct wb_override *o, char path[SCENARIO_PATH_MAX],
                     char pattern[KEYS_PATTERN_MAX]);
/* Lay it over the raw settings. 0, or -1 with an error. */
int override_lay(struct build *b, const struct wb_override *o);
/* Would it work? For `set` rows of cases and axes of sweeps. */
int override_try(struct build *b, const struct wb_override *o);

/* ---- sense: scenario_sense.c ---- */

/* Mistakes that lie in no single value. */
void check_sense(struct build *b);

#endif
