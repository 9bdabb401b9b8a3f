/*
 * config_build.h - inside of struct wb_config, for the files that make and print it.
 */
#ifndef WB_SCENARIO_CONFIG_BUILD_H
#define WB_SCENARIO_CONFIG_BUILD_H

#include "keys_index.h"
#include "scan.h"
#include "wakebal/config.h"
#include "wakebal/units.h"

struct cfg_value {
    int64_t num;                /* INT BOOL TIME COST SIZE RATE FREQ RATIO */
    bool cycles;                /* COST in milli-cycles instead of ps */
    const char *text;           /* STRING ENUM EXPR NUMBER CPUS DIST */
    const struct wb_dist *dist; /* DIST */
    size_t n;                   /* elements of STRINGS, TABLE, GROUPS */
    const char **strs;
    int64_t *ints;
};

struct cfg_entry {
    const char *path; /* concrete: "workload[0].message" */
    const struct wb_key *row;
    struct cfg_value v;
    struct wb_origin origin;
    const struct scan_node *node; /* where it was written; NULL: default */
};

/* Names of a "*" group in file order. */
struct cfg_members {
    const char *path;
    const char **name;
    size_t n, cap;
};

struct wb_config {
    struct arena arena;
    const struct wb_key_registry *keys;
    const char *label;       /* name of the scenario, for the head of --print-config */
    struct cfg_entry *entry; /* sorted by config_compare_paths */
    size_t n, cap;
    uint32_t *slot; /* hash table: index + 1 into entry; 0 = free */
    size_t slots;
    struct cfg_members *members;
    size_t members_n, members_cap;
    uint32_t shares; /* owners besides the first, who call wb_config_free() too */
};

struct wb_config *config_new(const struct wb_key_registry *keys);
struct cfg_entry *config_add(struct wb_config *c, const char *path, const struct wb_key *row);
/* Sort and index; no config_add afterwards. */
void config_finish(struct wb_config *c);
/* Works before and after config_finish. */
struct cfg_entry *config_find(const struct wb_config *c, const char *path);
void config_add_member(struct wb_config *c, const char *path, const char *name);
const struct cfg_members *config_members(const struct wb_config *c, const char *path);
/* By segments, numbers as numbers: workload[2] before workload[10]. */
int config_compare_paths(const char *a, const char *b);
/* The pattern of a concrete path (indexes dropped, names as "*"); false: no such key. */
bool config_pattern(const struct wb_key_registry *keys, const char *path, char pattern[KEYS_PATTERN_MAX]);
/* Base unit of a key type. */
enum wb_unit config_unit(enum wb_key_type t, const char *unit);
/* Growing arrays without fuss. */
void *config_grow(void *array, size_t n, size_t *cap, size_t size);

/* ---- value.c ---- */

struct value_context {
    struct arena *arena;
    struct wb_key_registry *keys;
    struct wb_diag *d;  /* NULL: nobody wants to hear */
    const char *prefix; /* "--set a=b: " or "" */
    bool user;          /* a bare priced value gets the status WB_STATUS_USER */
};

/* The value of `node` as `row` wants it. path is for messages. 0, or -1 with errors in d. origin->status, source,
 * range are filled. */
int value_make(const struct value_context *x, const struct wb_key *row, const char *path, struct scan_node *node,
               struct cfg_value *out, struct wb_origin *origin);
/* A node from text of the command line or of a row's default. */
struct scan_node *value_node(struct arena *a, const struct wb_key *row, const char *text, struct wb_place at);
/* "4 KiB" as wb_cfg_text gives it. */
char *value_text(const struct wb_key *row, const struct cfg_value *v, char *buf, size_t n);
/* "measured: ...", "assumed, near ..." as rows' sources begin; anything else counts as assumed. */
enum wb_status value_status_of_source(const char *source);
/* Report an integer that libconfig would wrap, once. */
void value_tell_wrap(const struct value_context *x, const struct wb_key *row, struct scan_node *node);

/* ---- dist_text.c ---- */

/* "10 us", "exp(10 us)", "uniform(a, b)", "normal(m, s %)", "lognormal(m, s %)", "table(v:w, ...)". NULL with *why,
 * *at. */
const struct wb_dist *dist_parse(struct arena *a, const char *text, enum wb_unit unit, const char **why, size_t *at);

#endif
