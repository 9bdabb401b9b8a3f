/*
 * keys.h - the one table of scenario keys.
 *
 * Every key that a scenario, machine or kernel file may hold is a row: path, type, unit, range, default, help,
 * source. The loader, `check`, `help KEY`, `list keys`, completion, the schema and the reference page are all made
 * from these rows, so they cannot disagree. sim/ has the rows that everybody needs; models and plug-ins register
 * theirs.
 *
 * Paths are dotted: "machine.ipi.flight". A row of a list of groups is written with its scope: "workload.message" is
 * the key `message` of each entry of the list `workload`; a segment "*" stands for any name ("machine.idle.*.exit").
 * `only` restricts a row to entries whose selector matches: for workloads the value of `kind` ("pipe_bw"), for
 * policies and kernels the scheduler family ("o1"), elsewhere NULL. It may name several, space separated. A group
 * needs no row of its own; give it one (WB_KEY_GROUP) when `help GROUP` should say what it is.
 *
 * Kernel files may hold a group `policy`: it sets policy.* below what the scenario's own `policy` says.
 */
#ifndef WAKEBAL_KEYS_H
#define WAKEBAL_KEYS_H

#include "wakebal/base.h"

enum wb_key_type {
    WB_KEY_INT, /* count; bare integer */
    WB_KEY_BOOL,
    WB_KEY_TIME,  /* "10 us" -> ps */
    WB_KEY_COST,  /* time or cycles: "400 ns" | "1200 cy" */
    WB_KEY_SIZE,  /* "64 KiB" -> bytes */
    WB_KEY_RATE,  /* "6.4 GB/s" -> bytes/s */
    WB_KEY_FREQ,  /* "1.5 GHz" -> Hz */
    WB_KEY_RATIO, /* "2 %" or 0.02 -> ppm */
    WB_KEY_STRING,
    WB_KEY_ENUM, /* one of `choices`, space separated */
    WB_KEY_CPUS, /* "free" | "0,2-5" | "all" */
    /* time or size distribution: "10 us" | "exp(10 us)" | "uniform(1 us, 5 us)" | "table(v:w, v:w, ...)" */
    WB_KEY_DIST,
    WB_KEY_STRINGS, /* list of strings */
    WB_KEY_TABLE,   /* list of integers (CPU numbering, distances, ...) */
    WB_KEY_GROUPS,  /* list of groups, each with the rows below this path */
    WB_KEY_GROUP,   /* named group: members have rows below this path; "*" as a segment = any name */
    WB_KEY_EXPR,    /* program or expression text, parsed by its owner */
    /* number, quantity or range whose unit another key decides: 0.6, "0.35 s", "1..2 GB/s"; kept as text */
    WB_KEY_NUMBER,
    /* a version of Linux that exists and whose rules are known: "2.6.22", "6.12", "5.15.3"; or one of `choices` */
    WB_KEY_VERSION
};

enum {
    /* a cost: must carry status and source in shipped files; may be ( value, status, range, source ) */
    WB_KEY_PRICED = 1 << 0,
    WB_KEY_REQUIRED = 1 << 1,  /* no default; must be given */
    WB_KEY_SWEEP_NO = 1 << 2,  /* cannot be an axis */
    WB_KEY_ANYSCALAR = 1 << 3, /* STRINGS only: elements may be numbers and booleans too; kept as text */
    /* the amount of a job whose length is the figure (hackbench): run by name, such a workload is run to its end */
    WB_KEY_JOB = 1 << 4
};

struct wb_key {
    const char *path;
    enum wb_key_type type;
    const char *unit; /* shown in help: "time", "bytes", ... or NULL */
    const char *min;  /* textual with unit, or NULL */
    const char *max;
    const char *def; /* textual default, NULL = none (then REQUIRED or optional-without-value) */
    /* WB_KEY_ENUM, WB_KEY_VERSION: space separated; of an ENUM, NULL = the words that rows of this list use as
     * `only` */
    const char *choices;
    const char *only;     /* selector value of the entry this row belongs to, or NULL = all */
    const char *versions; /* whose versions have it, when not all that `only` names: "2.6.23 to 6.1"; else NULL */
    const char *help;     /* one or more sentences */
    /* where default and meaning come from (kernel version and function, paper, lmbench option ...) */
    const char *source;
    unsigned flags;
};

struct wb_key_registry;                    /* opaque */
struct wb_key_registry *wb_keys_new(void); /* with the rows of sim/ already in */
void wb_keys_free(struct wb_key_registry *r);
/* Rows must outlive the registry (static tables). Registering a path twice with the same `only` is a bug of ours. */
void wb_keys_add(struct wb_key_registry *r, const struct wb_key *rows, size_t n);
size_t wb_keys_count(const struct wb_key_registry *r);
const struct wb_key *wb_keys_at(const struct wb_key_registry *r, size_t i); /* sorted by path, then only */
/* The row of `path` (a pattern: no indexes) for selector `only`; a row for all entries answers too. only NULL: any
 * row of the path. */
const struct wb_key *wb_keys_find(const struct wb_key_registry *r, const char *path, const char *only);
/* "time", "count", ... as help prints a type. */
const char *wb_key_type_name(enum wb_key_type type);
/* Selector words of a list or group ("workload" -> pipe_bw, hog, ...): space separated, sorted; owned by the
 * registry. */
const char *wb_keys_selectors(struct wb_key_registry *r, const char *scope);
/* First problem of a row that a reviewer would reject (no help, default outside its range, ...), or NULL. */
const char *wb_key_lint(const struct wb_key *row);

#endif
