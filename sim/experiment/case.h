/*
 * case.h - published results: rows that name a figure, what was published, and how it may be judged.
 *
 * A case is a scenario with
 *
 *   common      = [ "key=value", ... ]            settings of all variants
 *   variants    = ( { name; help; kernel; machine; set = [ "key=value" ] }, ... )
 *   rows        = ( { name; variant; metric; class; published; direction; unit; tolerance; reason; source }, ... )
 *   sensitivity = [ "machine.idle.*.exit", ... ]  assumed costs; "all" = every assumed cost that has a range
 *
 * A row's figure is an expression over the figures of variants (figure_expr.h), evaluated per replication,
 * since replication i of every variant met the same random numbers; its interval is Student's over
 * replications.
 *
 * A source may leave open what a figure means: rows with the same `reading_of` are readings of one
 * statement, and all of them are undetermined when their verdicts differ.
 *
 * Verdicts. The wanted set of values is published (1 +- tolerance), the published range widened by the
 * tolerance, or, with a direction, all values above (below) the published bound less (plus) the tolerance;
 * without `published` the bound of a direction is 1.
 *   calibrates, consistency   pass when the mean is in the set, else fail
 *   predicts                  pass when the whole interval is, fail when all of it is outside, else undetermined;
 *                             and undetermined when the mean changes sides at either end of the plausible
 *                             range of a sensitive cost
 *   nothing published and no direction: shown without verdict
 * A row's `finding` is printed when the row passes: a sentence that follows from the run, "placement excluded".
 *
 * Besides metrics a figure may be profile.FUNCTION, the share of a function, and placement.movable, how many tasks
 * may run on more than one CPU.
 */
#ifndef WB_EXPERIMENT_CASE_H
#define WB_EXPERIMENT_CASE_H

#include <jansson.h>

#include "exp_run.h"
#include "figure_expr.h"

extern const struct wb_key case_keys[]; /* rows of the key table that only cases have; for the registry */
extern const size_t case_keys_n;

enum case_class { CASE_CALIBRATES, CASE_CONSISTENCY, CASE_PREDICTS, CASE_CLASSES };
enum case_verdict { CASE_NONE, CASE_PASS, CASE_FAIL, CASE_UNDETERMINED };
extern const char *const case_class_name[CASE_CLASSES];
extern const char *const case_verdict_name[]; /* "reported" for CASE_NONE */

struct case_variant {
    char *name, *help;
    const char *kernel, *machine;
    struct wb_override *set; /* common settings, then its own; keys and values owned */
    size_t nset;
    int64_t per; /* the bar chart divides by it */
    struct wb_config *cfg;
    bool predicts; /* some `predicts` row looks at it */
    bool used;
};

/* A figure with one assumed cost at both ends of its plausible range, all else as it is. */
struct case_swing {
    const char *key;        /* owned by the configuration of a variant */
    char low[64], high[64]; /* values of the cost */
    double at_low, at_high; /* the figure there, base unit */
    int64_t v_low, v_high;  /* the same values, base unit of the key */
};

struct case_row {
    const char *name, *metric, *unit, *reason, *source; /* owned by the scenario's configuration */
    const char *reading_of;                             /* statement that it is one reading of; NULL: the only one */
    const char *finding;                                /* what the case has found when the row passes, or NULL */
    size_t variant;                                     /* of figures without brackets; SIZE_MAX = none */
    enum case_class class;
    bool has_published, range;
    double lo, hi;    /* published figure (lo == hi) or range */
    int direction;    /* +1 higher, -1 lower, 0 none */
    double tolerance; /* relative */
    struct figure_expr *expr;
    /* results */
    double *sample;
    size_t n;
    struct exp_summary sum;
    enum case_verdict verdict;
    struct case_swing *swing; /* [nswings] of a prediction, after case_run() with `sensitive` */
    size_t nswings;
    double unswung; /* the figure of runs as short as those, with all costs as they are */
    char *flips;    /* "machine.ipi.flight = 200 ns gives 0.91", or NULL */
    bool disputed;  /* another reading has another verdict */
};

struct case_file {
    struct wb_scenario *scenario;
    const char *name, *title, *source, *note;
    struct case_variant *variant;
    size_t nvariants;
    struct case_row *row;
    size_t nrows;
    char **owned; /* texts made while loading */
    size_t nowned;
    struct exp_study *study; /* results of the variants, by index */
    size_t sensitivity_runs; /* simulations done for it */
    bool interrupted;
};

/* Load and check. NULL: errors in d. */
struct case_file *case_load(const char *name, const struct wb_key_registry *keys, const struct wb_overrides *over,
                            struct wb_diag *d) WB_MUST_USE;
void case_free(struct case_file *c);
/* Will the variants build, and report the figures that rows name? 0, or -1 with errors in d. */
int case_check(const struct case_file *c, const struct wb_registry *models, struct wb_diag *d);
/* Run all variants and judge all rows; `sensitive` also tries the ranges of assumed costs. 0, or -1 with
 * errors in d. */
int case_run(struct case_file *c, const struct exp_options *opt, bool sensitive, struct wb_diag *d) WB_MUST_USE;

/* ---- shared between the files of the case ---- */
/* "profile.put_pid": share of a function in the CPU time, idle time left out. */
#define CASE_SHARE "profile."
#define CASE_MOVABLE "placement.movable"
/* The function of such a figure, or NULL. */
const char *case_share_of(const char *figure);
/* The figure of a row from results of all variants (NULL entries: not run), per replication; the mean over
 * replications in return. */
double case_row_evaluate(const struct case_file *c, struct case_row *r, struct exp_result *const *res, double **sample,
                         size_t *n);
/* Is v in the wanted set? */
bool case_row_wants(const struct case_row *r, double v);
/* Does the row say what is wanted at all? */
bool case_row_judged(const struct case_row *r);
/* The configuration of a variant with further settings on top. The caller frees it. NULL: errors in d. */
struct wb_config *case_variant_config(const struct case_file *c, size_t variant, const struct wb_override *more,
                                      size_t n, struct wb_diag *d) WB_MUST_USE;
/* Try both ends of the sensitive costs and mark rows whose verdict flips. */
int case_try_ranges(struct case_file *c, const struct exp_options *opt, struct wb_diag *d) WB_MUST_USE;

/* ---- documents ---- */
/* {"schema":"wakebal.cases/1","cases":[...]}. New reference. */
json_t *case_json(struct case_file *const *c, size_t n);
/* Committed verdicts: {"schema":"wakebal.expected/1","cases":[{"name","rows":[{"name","verdict"}]}]}. New
 * reference. */
json_t *case_expected_json(struct case_file *const *c, size_t n);
/* Compare with a document of either schema. One malloc'd line per difference into *text (NULL when none);
 * returns how many, or -1 when the document is neither. */
int case_compare_expected(struct case_file *const *c, size_t n, const json_t *expected, char **text);

#endif
