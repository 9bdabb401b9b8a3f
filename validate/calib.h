/*
 * calib.h - from probes to a machine file and a kernel file of this host.
 *
 * Most costs are what a probe measured (calib_rows.c: a table from figures to keys). What no probe isolates - the path
 * of a pipe call, of a context switch, of sending an interrupt, of leaving an idle state - is fitted: the probe
 * itself is simulated on the machine so far, and GSL's multifit_nlinear changes the unknowns until the simulated
 * figures are the measured ones, each weighted by its own uncertainty (calib_fit.c). Unknowns are factors of groups
 * of path costs, or single costs; what one factor stands for is said in its row. Intervals come from the covariance
 * of the fit.
 *
 * The result is two files that scenarios take as `machine.base` and `kernel.base`: every figure with its 95 % interval
 * as plausible range, method and date, and in the head the host's fingerprint. calib_compare() says whether an old file
 * still fits what is measured now.
 */
#ifndef WB_VALIDATE_CALIB_H
#define WB_VALIDATE_CALIB_H

#include "host_check.h"
#include "probe.h"
#include "wakebal/keys.h"
#include "wakebal/run.h"
#include "wakebal/scenario.h"

#define CALIB_IDLE_STATES 3
#define CALIB_QUANTILES PROBE_CELLS
#define CALIB_AGREE_MAX 8

struct calib_row {
    char key[72]; /* "machine.cache.l1.read", "kernel.path.schedule" */
    enum wb_unit unit;
    double value, lo, hi; /* ps, bytes/s, Hz, ppm; the 95 % interval */
    bool fitted, assumed;
    char method[200];
};

/* A figure that the fit was to meet, and how it met it. */
struct calib_target {
    char name[PROBE_NAME];
    double measured, lo, hi, simulated; /* ns */
};

struct calib_noise {
    double gap_ns, cost_ns[3]; /* mean time between; 10, 50 and 90 % of what one costs. gap 0: none was seen */
};

struct calib {
    struct calib_row *row;
    uint32_t n, room;
    struct calib_target target[32];
    uint32_t ntargets;
    uint32_t unknowns; /* how many were looked for */
    double chi2;       /* per figure, of the worst stage */
    const char *stage; /* which that is, in words; NULL without a fit */
    const char *again; /* the probes that its figures come from, blank-separated */
    uint32_t farthest; /* its figure that is farthest off, in units of its own error: index into target */
    uint32_t iterations;
    bool converged;
    struct {
        double after_ns, exit_ns, lo, hi; /* fitted median and its interval */
        /* How single exits lie around it, ns: measured, in cells of probe_cell_weight; nquantiles 0: not known */
        double quantile[CALIB_QUANTILES];
        uint32_t nquantiles;
    } idle[CALIB_IDLE_STATES];
    uint32_t nidle; /* 0: not measured */
    struct calib_noise noise;
    uint32_t hz;
    char date[16];
    struct host_identity host;
    const char *kernel_base; /* "linux-6.18": profile that the kernel file starts from */
    const struct wb_topology *topo;
};

/* Squared residual of a figure in units of its own interval, above which the costs do not explain the probes: they lie
 * twice as far off as their own noise allows. */
#define CALIB_CHI2_POOR 4.0

/* Whether the fitted costs explain the probes. Those of a fit that does not are written as "assumed". */
static inline bool calib_explains(const struct calib *c)
{
    return !c->ntargets || (c->converged && c->chi2 <= CALIB_CHI2_POOR);
}

/* What the library needs of the program. */
struct calib_env {
    const struct wb_registry *models;
    const struct wb_key_registry *keys;
    const char *kernel_base;
    const volatile sig_atomic_t *stop;
    /* Called after each simulated figure of the fit: which stage is at work, and about how much is done (0..1). NULL:
     * nobody asks. */
    void (*progress)(void *ctx, const char *stage, double done);
    void *ctx;
};

/* Digest probes: direct rows, then the fit. 0; -EINTR; -1 with errors in d. The caller frees *c. */
int calib_make(const struct calib_env *env, const struct wb_topology *topo, const struct probe_set *p, struct calib *c,
               struct wb_diag *d) WB_MUST_USE;
void calib_free(struct calib *c);
const struct calib_row *calib_find(const struct calib *c, const char *key);

/* The files' texts, malloc'd; NULL: no memory. name: machine.name and kernel.name. */
char *calib_machine_text(const struct calib *c, const char *name);
char *calib_kernel_text(const struct calib *c, const char *name);

/* A cost of a configuration: ps, bytes/s, Hz; 0 = no such key. */
double calib_cost(const struct wb_config *cfg, const char *key);
/* An old file against what is measured now. */
struct calib_change {
    char key[72];
    double was, now, lo, hi; /* base units; the new interval */
    enum wb_unit unit;
    bool fits; /* within the joint interval, or 5 % */
};
/* Compare the rows of c with the machine and kernel files of an earlier calibration (cfg: a scenario's configuration
 * that joins them). out[c->n]; returns how many were compared. */
uint32_t calib_compare(const struct calib *c, const struct wb_config *cfg, struct calib_change *out);

/* One measured cost in several calibrations. */
struct calib_overlap {
    char key[72];
    enum wb_unit unit;
    double value[CALIB_AGREE_MAX], lo[CALIB_AGREE_MAX], hi[CALIB_AGREE_MAX];
    uint32_t apart; /* pairs whose intervals do not meet */
};
/* Compare n calibrations (configurations that join machine and kernel file) pair by pair. Costs that one fit moved
 * together count once. out: room for max; returns how many costs all of them have measured. */
uint32_t calib_agree(const struct wb_config *const *cfg, uint32_t n, struct calib_overlap *out, uint32_t max);

/* --- calib_rows.c --- */
struct calib_row *calib_add(struct calib *c, const char *key, enum wb_unit unit);
void calib_direct(struct calib *c, const struct probe_set *p);
/* v (base units), or the end of what the key may be when it lies beyond: beside much other load figures do, and a file
 * that does not load helps nobody. */
double calib_within(const struct wb_key_registry *keys, const char *key, enum wb_unit unit, double v);
/* Value and interval of every row. */
void calib_rows_within(struct calib *c, const struct wb_key_registry *keys);
/* --- calib_fit.c --- */
int calib_fit(const struct calib_env *env, const struct probe_set *p, struct calib *c, struct wb_diag *d);
/* --- calib_sim.c --- */
struct calib_sim;
/* The simulated probes on the machine of c. NULL with errors in d. */
struct calib_sim *calib_sim_new(const struct calib_env *env, const struct calib *c, struct wb_diag *d);
void calib_sim_free(struct calib_sim *s);
/* One probe's figure in ns with some settings on top; NAN with errors in d. name: "pipe_4k", "fill_512",
 * "local_trip", "far_trip_20us.llc" ...; "pair_sleeps" is a count for each trip, "sleep_wake" a cost made of two
 * runs. */
double calib_sim_figure(struct calib_sim *s, const char *name, const struct wb_override *set, size_t n,
                        struct wb_diag *d);
/* A cost of the base configuration: ps, or bytes/s; 0 = no such key. */
double calib_sim_cost(const struct calib_sim *s, const char *key);

#endif
