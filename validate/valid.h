/*
 * valid.h - predict, then measure, then compare.
 *
 * A case is one configuration of one real workload: a kind, its keys, load beside it. The same keys make the scenario
 * that is simulated (on the calibrated machine and kernel) and the real run. All predictions are made, written and
 * hashed before anything is measured; measuring goes round after round over all cases (A B C A B C ...), since machines
 * drift; nothing that calibrated is in the matrix.
 *
 * A prediction is a median with an interval: replications run with different random numbers, each with its own draw of
 * every calibrated cost from that cost's interval, and the class's usual spread of single runs on a real machine is
 * added (valid_classes). A prediction is right when it lies in the real runs' 10-90 % range or within the noise band
 * of its class around their median. Where the real runs have two modes, their shares are compared instead (see below).
 * Latency percentiles, context switches, migrations and shares of time together are scored by themselves, each with its
 * band (valid_figures.c); the floor is the throughput's.
 *
 * Ranks: of any two cases with the same metric, whose real medians differ by more than twice their spread, the
 * predictions must be ordered alike.
 */
#ifndef WB_VALIDATE_VALID_H
#define WB_VALIDATE_VALID_H

#include <jansson.h>

#include "host_load.h"
#include "real.h"
#include "wakebal/run.h"
#include "wakebal/scenario.h"

#define VALID_KEYS_MAX 12
#define VALID_ROUNDS_MAX 40

enum valid_class {
    VALID_SYSCALL,
    VALID_SAME,  /* both ends on one CPU */
    VALID_HOG,   /* unpinned pair beside hogs */
    VALID_AWAKE, /* two CPUs kept awake */
    VALID_CROSS, /* two CPUs, halting */
    VALID_FREE,  /* unpinned */
    VALID_BW_SAME,
    VALID_BW_CROSS,
    VALID_BW_FREE,
    VALID_HACKBENCH,
    VALID_MODES, /* two modes, chosen by the balancer: only modes can be predicted */
    VALID_CLASSES
};

/* What single runs of a class vary by on a real machine, and the band that a claim must live with. */
struct valid_class_info {
    const char *name;
    double band, cv;
    const char *source;
};
extern const struct valid_class_info valid_classes[VALID_CLASSES];

/* What is compared beside the throughput. */
enum valid_figure_kind {
    VALID_P50, /* of single trips, transactions or calls */
    VALID_P90,
    VALID_P99,
    VALID_SWITCHES,   /* context switches of tasks for each operation; hackbench: for the whole run */
    VALID_MIGRATIONS, /* per second */
    VALID_TOGETHER,   /* share of the work done while both ends were on one CPU; unpinned cases only */
    VALID_FIGURES
};

struct valid_figure_info {
    const char *name, *unit, *band;
};
extern const struct valid_figure_info valid_figures[VALID_FIGURES];

struct valid_figure {
    double predicted;              /* NAN: not predicted */
    double real[VALID_ROUNDS_MAX]; /* by round; NAN: not measured */
    double median, p10, p90;
    bool scored, right;
};

struct valid_case {
    char name[96];
    enum valid_class klass;
    enum real_kind kind;
    char key[VALID_KEYS_MAX][24], value[VALID_KEYS_MAX][64]; /* of the workload; the same in both worlds */
    size_t nkeys;
    char background[2][64]; /* "hog,count=1,nice=10"; "" = none */
    bool placement;         /* unpinned: needs a kernel profile that places as this host does */
    bool unpinned;          /* no end is bound to a CPU */
    bool in_quick, in_default;

    /* prediction, in the metric's unit */
    const char *metric, *unit;
    bool predicted;
    double mean, lo, hi;  /* median over replications and 95 % interval of one run */
    double mode_together; /* share of time together; NAN */
    struct valid_figure figure[VALID_FIGURES];
    char reason[160]; /* where the simulated time went */

    /* measurement */
    double real[VALID_ROUNDS_MAX]; /* in order of the rounds */
    double real_together[VALID_ROUNDS_MAX];
    double line_ns[VALID_ROUNDS_MAX]; /* a line's move between two CPUs at that time; NAN: not looked at */
    uint32_t rounds, dropped;         /* dropped: the machine was not quiet, or not the calibrated one: */
    uint32_t moved;                   /* of those: its CPUs lay nearer or farther than when it was calibrated */
    double median, p10, p90;
    char failed[96]; /* why it could not be run; "" */

    /* comparison */
    bool scored, right, by_range, covered;
    uint32_t runs_covered;
    double error; /* relative */
    bool bimodal;
    double real_mode_together;
};

struct valid_set {
    struct valid_case *c;
    size_t n;
    char hash[65];   /* of the predictions */
    cpu_id watch[2]; /* two CPUs of the machine; equal: there is one */
    double line_ns;  /* what moving a line between these two takes as calibrated; NAN = unknown */
    uint32_t inversions, pairs;
    struct {
        uint32_t a, b;
    } inversion[16];
    struct {
        uint32_t right, scored;
    } figure[VALID_FIGURES];
    uint32_t right, scored, covered, runs, runs_covered;
    double median_error; /* of the absolute errors */
};

enum valid_depth { VALID_QUICK, VALID_DEFAULT, VALID_FULL };

/* The built-in matrix for this machine (cpus: usable CPUs, in order; at least one). 0 or -ENOMEM. */
int valid_matrix(struct valid_set *v, const struct wb_topology *topo, const cpu_id *cpus, uint32_t ncpus,
                 enum valid_depth depth);
/* One case from a scenario: its first workload that is no background load and has a real counterpart, the others as
 * background. 0, or -1 with errors in d. */
int valid_from_scenario(struct valid_set *v, const struct wb_config *cfg, const char *name, struct wb_diag *d);
void valid_free(struct valid_set *v);
/* The real run of a case. 0, or -1 with errors in d. */
int valid_real_spec(const struct valid_case *c, struct real_spec *s, struct wb_diag *d) WB_MUST_USE;

/* Watch the distance of the first two of these CPUs: runs made while a line's move takes less than 1 / 1.6 or more than
 * 1.6 times what it took when the machine was calibrated are dropped and counted. Hypervisors move virtual CPUs between
 * physical ones, and what runs on two of them can be three times as fast a minute later: another machine. Cases that
 * one CPU decides are not watched. */
void valid_watch_distance(struct valid_set *v, const struct wb_topology *topo, const cpu_id *cpus, uint32_t ncpus,
                          const struct wb_config *cfg);
/* Is the machine the calibrated one, by a line's move of `ns`? Yes when either is unknown. */
bool valid_same_distance(double calibrated_ns, double ns);
/* ns that a line's move between the watched CPUs takes now; NAN: they are not watched, or it cannot be had. */
double valid_distance_now(const struct valid_set *v);
/* A case that has no run: why. NULL: it has some. */
const char *valid_why_dropped(const struct valid_case *c, char *buf, size_t n);

struct valid_env {
    const struct wb_registry *models;
    const struct wb_key_registry *keys;
    const char *machine, *kernel; /* files or names */
    uint32_t replications;        /* of each prediction */
    double seconds;               /* of each real run */
    uint32_t rounds;
    double scale_key;  /* negative control: this cost is multiplied by it ... */
    const char *scale; /* ... NULL = none */
    const volatile sig_atomic_t *stop;
    void (*progress)(void *ctx, const char *what, size_t done, size_t all, double seconds_left);
    void *ctx;
};

/* Simulate all cases. 0; -EINTR; -1 with errors in d. Afterwards v->hash is set. */
int valid_predict(struct valid_set *v, const struct valid_env *env, struct wb_diag *d) WB_MUST_USE;
/* Run all cases for real, in rounds. 0; -EINTR; -1 with errors in d. */
int valid_measure(struct valid_set *v, const struct valid_env *env, struct wb_diag *d) WB_MUST_USE;
/* Instead of measuring: the runs that a validation measured before, by the cases' names. Cases that it does not have
 * are left out. 0, or -1 with an error in d when this is no wakebal.validation/1. */
int valid_take_recorded(struct valid_set *v, const char *path, struct wb_diag *d) WB_MUST_USE;
void valid_score(struct valid_set *v);
/* Of one case, from its samples: for tests too. */
void valid_score_case(struct valid_case *c);

/* --- valid_figures.c --- */
/* Quantile of sorted v by linear interpolation. */
double valid_quantile(const double *v, uint32_t n, double q);
/* A rate per second as a count for each operation of the case, whose own figure is `value`. */
double valid_per_operation(const struct valid_case *c, double per_second, double value);
/* Note a real run's figure, of round c->rounds. */
void valid_note_figure(struct valid_case *c, enum valid_figure_kind k, double v);
void valid_score_figures(struct valid_case *c);

/* What was predicted (measured: and measured). Schema wakebal.validation/1. */
json_t *valid_json(const struct valid_set *v, const struct valid_env *env, bool measured);

#endif
