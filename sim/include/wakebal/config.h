/*
 * config.h - an effective scenario: every key with its value, its place and its provenance.
 *
 * Made by the loader (scenario.h) from files, `base` chains and --set; complete: every row of the key table that
 * applies has a value or is known to be absent. Getters are typed and cannot fail for a key that exists and has a
 * default; asking for a path that is not in the key table, or with the wrong type, is a bug of ours (WB_CHECK).
 * Values are integers in base units (units.h). Entries of lists are written "workload[0].message"; wb_cfg_path()
 * builds such paths.
 */
#ifndef WAKEBAL_CONFIG_H
#define WAKEBAL_CONFIG_H

#include "wakebal/base.h"
#include "wakebal/cpumask.h"
#include "wakebal/diag.h"
#include "wakebal/rng.h"

struct wb_config; /* opaque, immutable once loaded */

enum wb_status { WB_STATUS_NONE, WB_MEASURED, WB_QUOTED, WB_DERIVED, WB_ASSUMED, WB_STATUS_USER };
const char *wb_status_name(enum wb_status s); /* "measured", ...; "" for none */

struct wb_origin {
    struct wb_place place;      /* file NULL: default or command line */
    const char *from;           /* "default", "file", "--set", "base", "sweep" */
    enum wb_status status;      /* of priced keys */
    const char *source;         /* text or NULL */
    int64_t range_lo, range_hi; /* plausible range of an assumed cost (same unit as value), lo > hi: none */
};

void wb_config_free(struct wb_config *c);

bool wb_cfg_has(const struct wb_config *c, const char *path);    /* given or defaulted */
int64_t wb_cfg_int(const struct wb_config *c, const char *path); /* INT TIME SIZE RATE FREQ RATIO */
bool wb_cfg_bool(const struct wb_config *c, const char *path);
/* STRING ENUM EXPR NUMBER; owned by the config */
const char *wb_cfg_str(const struct wb_config *c, const char *path);
/* A COST in ps; cycles are converted with clock_hz and cpi_ppm (1000000 = as measured). */
sim_time wb_cfg_cost(const struct wb_config *c, const char *path, uint64_t clock_hz, uint64_t cpi_ppm);
const struct wb_dist *wb_cfg_dist(const struct wb_config *c, const char *path);
/* CPUS: false = "free" (no affinity), else *mask is filled (must have ncpus bits). */
bool wb_cfg_cpus(const struct wb_config *c, const char *path, struct wb_cpumask *mask);
/* Highest CPU number that a CPUS value names, -1 when it is "free" or "all": check it against the machine before
 * wb_cfg_cpus. */
int64_t wb_cfg_cpus_max(const struct wb_config *c, const char *path);
/* elements of a GROUPS, STRINGS, TABLE; members of a "*" group */
size_t wb_cfg_count(const struct wb_config *c, const char *path);
const char *wb_cfg_str_at(const struct wb_config *c, const char *path, size_t i);
int64_t wb_cfg_int_at(const struct wb_config *c, const char *path, size_t i);
/* Members of a "*" group, in file order: names owned by the config. */
const char *wb_cfg_member(const struct wb_config *c, const char *path, size_t i);   /* NULL past the end */
const struct wb_origin *wb_cfg_origin(const struct wb_config *c, const char *path); /* NULL: unknown path */
struct wb_key;
const struct wb_key *wb_cfg_row(const struct wb_config *c, const char *path); /* the key's row; NULL: no value */
/* Every path that has a value, sorted; NULL past the end. */
const char *wb_cfg_path_at(const struct wb_config *c, size_t i);
/* The value as text that reads back to the same value ("64 KiB", "true", "0,2-5"); into buf, cut to n. Returns buf. */
char *wb_cfg_text(const struct wb_config *c, const char *path, char *buf, size_t n);
/* --print-config: every key with value, place, status and source. Malloc'd; the caller frees. */
char *wb_cfg_print(const struct wb_config *c);
/* The same values and nothing else, one `path = value` a line: what a run's identity is hashed from. Malloc'd. */
char *wb_cfg_canonical(const struct wb_config *c);
/* Place of bytes [offset, offset + len) of the i-th string of a STRINGS value (of a STRING: i = 0), for mistakes
 * inside its text. Where the value is a default or comes from the command line, the place of the key. */
struct wb_place wb_cfg_place_in(const struct wb_config *c, const char *path, size_t i, size_t offset, size_t len);
/* printf into one of a few rotating thread-local buffers: wb_cfg_int(c, wb_cfg_path("workload[%zu].loops", i)). */
const char *wb_cfg_path(const char *fmt, ...) WB_PRINTF(1, 2);
/* Add an error of meaning (found by a model) at the place of `path`. */
void wb_cfg_error(const struct wb_config *c, struct wb_diag *d, const char *path, const char *fix, const char *fmt, ...)
    WB_PRINTF(5, 6);

#endif
