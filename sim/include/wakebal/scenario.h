/*
 * scenario.h - from a name or a file to an effective configuration.
 *
 * A scenario joins a machine, a kernel and workloads. Each may have a `base`: a shipped name or a file, whose own
 * `base` may go further. Layers, lowest first: defaults of the key table, base chains, the scenario's own groups,
 * `policy`, then overrides in order. All mistakes of all files are found in one pass and added to the struct wb_diag.
 *
 * Files are looked for in the folder of the file that names them, the folders of WAKEBAL_PATH, the source tree's
 * scenarios/ and the installed one; in each as given and in machines/ kernels/ workloads/ cases/ studies/ by kind.
 *
 * A scenario is data: nothing in it is executed, only regular files below 8 MiB are read.
 *
 * Loading is not thread-safe per scenario (it caches files); a struct wb_config, once made, may be read by many
 * threads.
 */
#ifndef WAKEBAL_SCENARIO_H
#define WAKEBAL_SCENARIO_H

#include "wakebal/config.h"
#include "wakebal/diag.h"
#include "wakebal/keys.h"

struct wb_scenario; /* opaque */

/* key = value as given on the command line, or one coordinate of a sweep. Strings must outlive the call only. */
struct wb_override {
    const char *key;    /* "workload.message", "workload.NAME.message", "machine.ipi.flight" */
    const char *value;  /* "4KiB", "true", "[1, 2]" */
    const char *from;   /* "--set", "--vary", "sweep", ... as provenance and messages print it */
    struct wb_place at; /* where it was written; file NULL = the command line */
};

struct wb_overrides {
    const struct wb_override *item;
    size_t n;
    const char *machine; /* -m NAME|FILE|SYNTHETIC: replaces the machine group; NULL = as the scenario says */
    const char *kernel;  /* the same for the kernel */
};

/* Where text comes from; tests and the fuzz target put memory in the place of the file system. */
struct wb_reader {
    /* Read `path` into *text (malloc'd, *len bytes, NUL-terminated besides). 0, or -errno with *why set to a static
     * sentence. */
    int (*read)(void *ctx, const char *path, char **text, size_t *len, const char **why);
    bool (*exists)(void *ctx, const char *path);
    void *ctx;
};
extern const struct wb_reader wb_reader_files; /* the file system, regular files up to 8 MiB, or the layer over it */
extern const struct wb_reader wb_reader_disk;  /* the file system whatever lies over it */
/* Let everything that reads wb_reader_files read this instead: manifests note what was read, and a repetition reads
 * what was noted. For the whole process; NULL = the file system. *r must outlive its use. Returns what was set
 * before. */
const struct wb_reader *wb_reader_set_layer(const struct wb_reader *r);

struct wb_scenario_options {
    const struct wb_overrides *overrides; /* NULL = none */
    const struct wb_reader *reader;       /* NULL = wb_reader_files */
    const char *path;                     /* WAKEBAL_PATH form; NULL = the environment variable */
    bool only_folder;                     /* look beside the file only (fuzzing) */
    bool keep; /* return it in spite of mistakes when every value is known all the same: to look for more of them */
};

/* Load a scenario by name or path. NULL when it cannot be used; then `d` holds the errors. A workload fragment
 * is a scenario too: that workload on the default machine and kernel. The registry must outlive the scenario. */
struct wb_scenario *wb_scenario_load(const char *name_or_path, const struct wb_key_registry *keys,
                                     const struct wb_overrides *overrides, struct wb_diag *d) WB_MUST_USE;
struct wb_scenario *wb_scenario_load_with(const char *name_or_path, const struct wb_key_registry *keys,
                                          const struct wb_scenario_options *options, struct wb_diag *d) WB_MUST_USE;
void wb_scenario_free(struct wb_scenario *s);

const struct wb_config *wb_scenario_config(const struct wb_scenario *s); /* base point; owned by the scenario */
const char *wb_scenario_path(const struct wb_scenario *s);               /* the file that was read */
const char *wb_scenario_name(const struct wb_scenario *s);               /* its name without folder and .cfg */
/* The configuration with `more` on top (a point of a sweep, a row of a case). The caller frees it with
 * wb_config_free; it must not outlive the scenario. NULL: errors in d. */
struct wb_config *wb_scenario_at(struct wb_scenario *s, const struct wb_overrides *more, struct wb_diag *d) WB_MUST_USE;

/* Check a scenario, machine, kernel or workload file alone (its keys tell what it is), by path or shipped name. 0, or
 * -1 with errors in d. */
int wb_scenario_check(const char *name, const struct wb_key_registry *keys, struct wb_diag *d);

/* "machine", "kernel" or "workload" when the file (or shipped name) is one of these alone, by its keys; NULL: a
 * scenario, or nothing that can be read. */
const char *wb_scenario_kind(const char *name, const struct wb_key_registry *keys);

/* Folders in which shipped files are looked for, in order; NULL past the end. A program that runs from its build tree
 * takes those of the sources first; any other one takes PREFIX/share/wakebal beside its own PREFIX/bin first, wherever
 * PREFIX was moved to. */
const char *wb_scenario_root(size_t i);
/* PREFIX of a program that runs from PREFIX/bin and finds its shipped files there; NULL: from the build tree. */
const char *wb_scenario_prefix(void);

/* Find a shipped or user file. kind: "machines" "kernels" "workloads" "cases" "studies". Malloc'd path or NULL. */
char *wb_scenario_find(const char *name, const char *kind);
/* Names (without .cfg) of a kind on the search path: sorted, no doubles; malloc'd array of malloc'd strings,
 * NULL-terminated. */
char **wb_scenario_list(const char *kind, size_t *n);
void wb_scenario_list_free(char **names);
/* The title of such a file, one line, control characters escaped; malloc'd, or NULL. */
char *wb_scenario_title(const char *name, const char *kind);

/* ---- sweeps ---- */

struct wb_expr; /* a parsed expression */
struct wb_axes; /* axes of a sweep */

enum wb_value_kind { WB_VALUE_NONE, WB_VALUE_BOOL, WB_VALUE_NUMBER, WB_VALUE_STRING };
struct wb_value {
    enum wb_value_kind kind;
    double number;    /* NUMBER and BOOL (0, 1) */
    const char *unit; /* NUMBER: "" or "time" "size" "rate" "freq" "ratio" */
    const char *str;  /* STRING */
};

/* Typed expressions: 'text', numbers with units ("8 ms" or 8ms), keys, + - * / %, comparisons, && || !, parentheses.
 * The unit of both sides of + - and comparisons must agree. NULL: error added to d at `at`. */
struct wb_expr *wb_expr_parse(const char *text, struct wb_place at, struct wb_diag *d) WB_MUST_USE;
void wb_expr_free(struct wb_expr *e);
/* Facts that are no keys (machine.cpus, machine.llcs, machine.nodes): fill *v and return true, else false. */
typedef bool (*wb_expr_fact)(void *ctx, const char *name, struct wb_value *v);
/* 0 with the value, or -1 with an error in d (unknown key, wrong type). */
int wb_expr_value(const struct wb_expr *e, const struct wb_config *c, wb_expr_fact fact, void *ctx, struct wb_value *v,
                  struct wb_diag *d) WB_MUST_USE;
/* The same, wanted as a truth. */
int wb_expr_true(const struct wb_expr *e, const struct wb_config *c, wb_expr_fact fact, void *ctx, bool *truth,
                 struct wb_diag *d) WB_MUST_USE;

struct wb_axes *wb_axes_new(const struct wb_key_registry *keys);
void wb_axes_free(struct wb_axes *a);
/* Add "key=1,2,8 | 1..10 | 0..1 /11 | 1..1024 *2 | 1ms..64ms *4 | @file" (--vary). 0 or -1 with errors in d. */
int wb_axes_add(struct wb_axes *a, const char *text, struct wb_place at, struct wb_diag *d) WB_MUST_USE;
/* Run the named axes in lock step ("workload.a,workload.b"). 0 or -1. */
int wb_axes_zip(struct wb_axes *a, const char *names, struct wb_place at, struct wb_diag *d) WB_MUST_USE;
/* Keep the points for which the expression holds. 0 or -1. */
int wb_axes_where(struct wb_axes *a, const char *text, struct wb_place at, struct wb_diag *d) WB_MUST_USE;
/* The scenario's own `sweep` block. Axes of the same key given before (by --vary) win. 0 or -1. */
int wb_axes_add_config(struct wb_axes *a, const struct wb_config *c, struct wb_diag *d) WB_MUST_USE;

size_t wb_axes_count(const struct wb_axes *a); /* axes */
const char *wb_axes_key(const struct wb_axes *a, size_t axis);
size_t wb_axes_points(const struct wb_axes *a); /* product, before `where`; 1 without axes */
/* Coordinates of point i, first axis slowest: fills out[wb_axes_count()]; strings owned by the axes. */
void wb_axes_point(const struct wb_axes *a, size_t i, struct wb_override *out);
/* "kernel.pipe=2.6.11, workload.cpus=free" of point i; into buf, returns buf. */
char *wb_axes_label(const struct wb_axes *a, size_t i, char *buf, size_t n);
/* Does the point pass every `where`? 0 or -1 with errors in d. */
int wb_axes_keep(const struct wb_axes *a, const struct wb_config *at_point, wb_expr_fact fact, void *ctx, bool *keep,
                 struct wb_diag *d) WB_MUST_USE;

/* ---- error codes ---- */

struct wb_error_info {
    const char *code;  /* "E123", "W104" */
    const char *title; /* one line */
    const char *text;  /* what it means and why */
    const char *fix;   /* what to do */
};
const struct wb_error_info *wb_error_find(const char *code); /* NULL = unknown */
const struct wb_error_info *wb_error_at(size_t i);           /* sorted by code; NULL past the end */

#endif
