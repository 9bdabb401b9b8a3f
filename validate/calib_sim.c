/* calib_sim.c - the probes as scenarios: the same programs, on the machine as calibrated so far. */
#include "calib.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wakebal/scenario.h"

#define MACHINE_FILE "calibrated-machine.cfg"
#define KERNEL_FILE "calibrated-kernel.cfg"

/* What all of them begin with. The tick keeps its hour and loses its cost: a probe takes the least or the median of
 * its batches, in which there is none, and one of 17 us within a simulated millisecond would be 2 % of it, come and
 * gone with the smallest change of another cost. */
#define HEAD \
    "schema = 1;\n" \
    "machine : { base = \"" MACHINE_FILE "\"; };\n" \
    "kernel : { base = \"" KERNEL_FILE "\"; path : { timer_tick = \"0 s\"; }; };\n"

/* One shape of scenario; the settings of a figure go on top. */
static const char *const self_text =
    HEAD "workload = ( { kind = \"custom\"; channels = [ \"p %s\" ];\n"
         "  tasks = ( { name = \"self\"; cpus = \"%u\"; program = [ \"loop\", \"start trip\", "
         "\"write p %s\", \"readall p %s\", \"stop trip\", \"end\" ]; } ); } );\n"
         "run : { duration = \"1500 us\"; warmup = \"500 us\"; start_spread = \"0 s\"; };\n";

static const char *const echo_text = HEAD
    "workload = ( { name = \"echo\"; kind = \"custom\"; sched = \"%s\"; channels = [ \"to\", \"back\" ];\n"
    "  tasks = ( { name = \"waker\"; cpus = \"%u\"; program = [ \"loop\", \"run %s\", \"start trip\", \"start send\", "
    "\"write to 1 B\", \"stop send\", \"readall back 1 B\", \"stop trip\", \"end\" ]; },\n"
    "    { name = \"partner\"; cpus = \"%u\"; program = [ \"loop\", \"readall to 1 B\", \"write back 1 B\", \"end\" ]; "
    "} ); }%s );\n"
    "run : { duration = \"%s\"; warmup = \"1 ms\"; start_spread = \"0 s\"; };\n";

/* The whole pipe filled by writes of one size, then emptied. */
static const char *const sides_text = HEAD
    "workload = ( { kind = \"custom\"; channels = [ \"p\" ];\n"
    "  tasks = ( { name = \"self\"; cpus = \"%u\"; program = [ \"loop\", \"start fill\", \"loop %u\", \"write p %u "
    "B\", "
    "\"end\", \"stop fill\", \"start drain\", \"loop %u\", \"readall p %u B\", \"end\", \"stop drain\", \"end\" ]; } "
    "); } "
    ");\n"
    "run : { duration = \"1500 us\"; warmup = \"500 us\"; start_spread = \"0 s\"; };\n";

static const char *const socket_text =
    HEAD "workload = ( { kind = \"%.*s_rr\"; sched = \"batch\"; client_cpus = \"0\"; server_cpus = \"0\"; } );\n"
         "run : { duration = \"3 ms\"; warmup = \"1 ms\"; start_spread = \"0 s\"; };\n";

static const char *const spinners =
    ",\n  { kind = \"hog\"; count = 2; cpus = \"%u,%u\"; sched = \"idle\"; background = true; }";

struct shape {
    char name[PROBE_NAME];
    struct wb_scenario *s;
};

struct calib_sim {
    const struct calib_env *env;
    const struct wb_topology *topo;
    struct wb_reader reader; /* the scenarios keep it */
    char *machine, *kernel;  /* texts of the machine file and the kernel file */
    char *text;              /* of the scenario that is being loaded */
    struct shape shape[32];
    uint32_t n;
    struct wb_scenario *base; /* for costs */
};

static int read_text(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    const struct calib_sim *s = ctx;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *own = !strcmp(name, MACHINE_FILE)        ? s->machine
                      : !strcmp(name, KERNEL_FILE)       ? s->kernel
                      : !strcmp(name, "calibration.cfg") ? s->text
                                                         : NULL;
    if (!own) return wb_reader_files.read(wb_reader_files.ctx, path, text, len, why);
    *text = strdup(own);
    *len = strlen(own);
    return *text ? 0 : -ENOMEM;
}

static bool exists(void *ctx, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    (void)ctx;
    if (!strcmp(name, MACHINE_FILE) || !strcmp(name, KERNEL_FILE) || !strcmp(name, "calibration.cfg")) return true;
    return wb_reader_files.exists(wb_reader_files.ctx, path);
}

/* The partner of CPU `first` at a distance. */
static cpu_id partner(const struct wb_topology *t, cpu_id first, const char *far)
{
    for (cpu_id c = 0; c < t->ncpus; c++)
        if (!strcmp(wb_distance_name(wb_topo_distance(t, first, c)), far)) return c;
    return first;
}

static const char *const sockets[] = {"unix_trip", "udp_trip", "tcp_trip"};

/* "far_trip_20us.llc": text of its scenario. */
static void write_scenario(const struct calib_sim *s, const char *name, char *out, size_t n)
{
    static const struct {
        const char *figure, *channel, *size;
    } self[] = {{"pipe_1", "pipe", "1 B"},       {"pipe_4k", "pipe", "4096 B"},   {"pipe_8k", "pipe", "8192 B"},
                {"pipe_12k", "pipe", "12288 B"}, {"pipe_64k", "pipe", "65536 B"}, {"unix_1", "unix", "1 B"}};
    char spin[160] = "", think[32] = "0 s";
    const char *far = strchr(name, '.'), *length = "5 ms";
    for (size_t i = 0; i < WB_ARRAY_SIZE(self); i++)
        if (!strcmp(name, self[i].figure)) {
            snprintf(out, n, self_text, self[i].channel, 0u, self[i].size, self[i].size);
            return;
        }
    bool fill = !strncmp(name, "fill_", 5), drain = !strncmp(name, "drain_", 6);
    unsigned bytes = fill || drain ? (unsigned)strtoul(strchr(name, '_') + 1, NULL, 10) : 0;
    if (bytes) {
        snprintf(out, n, sides_text, 0u, 65536 / bytes, bytes, 65536 / bytes, bytes);
        return;
    }
    for (size_t i = 0; i < WB_ARRAY_SIZE(sockets); i++)
        if (!strcmp(name, sockets[i])) {
            snprintf(out, n, socket_text, (int)strcspn(name, "_"), name);
            return;
        }
    cpu_id other = far ? partner(s->topo, 0, far + 1) : 0;
    const char *last = strrchr(name, '_');
    if (!strncmp(name, "far_", 4) && last && last[1] != '0') {
        size_t digits = strspn(last + 1, "0123456789");
        snprintf(think, sizeof think, "%.*s %.2s", (int)digits, last + 1, last + 1 + digits);
        length = strstr(name, "2ms") ? "60 ms" : "20 ms";
    }
    if (!strncmp(name, "awake", 5)) {
        snprintf(spin, sizeof spin, spinners, 0u, other);
        length = "30 ms";
    }
    if (!strncmp(name, "pair", 4)) length = "20 ms"; /* how often one preempts the other goes in fits and starts */
    const char *sched = !strncmp(name, "local", 5) ? "batch" : "other";
    snprintf(out, n, echo_text, sched, 0u, think, other, spin, length);
}

static struct wb_scenario *load(struct calib_sim *s, const char *name, struct wb_diag *d)
{
    char text[2048];
    struct wb_scenario_options o = {.reader = &s->reader};
    write_scenario(s, name, text, sizeof text);
    s->text = text;
    struct wb_scenario *sc = wb_scenario_load_with("calibration.cfg", s->env->keys, &o, d);
    s->text = NULL;
    return sc;
}

/* The kernel with the costs that are known directly (entering it, its tick): they are in every figure, and what is
 * fitted must not stand for them too. Without what disturbs at random: figures are means. */
static char *direct_kernel(const struct calib *c)
{
    struct calib quiet = *c;
    quiet.noise.gap_ns = 0;
    return calib_kernel_text(&quiet, "calibrated");
}

struct calib_sim *calib_sim_new(const struct calib_env *env, const struct calib *c, struct wb_diag *d)
{
    struct calib_sim *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->env = env;
    s->reader = (struct wb_reader){read_text, exists, s};
    s->topo = c->topo;
    s->machine = calib_machine_text(c, "calibrated");
    s->kernel = direct_kernel(c);
    s->base = s->machine && s->kernel ? load(s, "pipe_1", d) : NULL;
    if (s->base) return s;
    calib_sim_free(s);
    return NULL;
}

void calib_sim_free(struct calib_sim *s)
{
    if (!s) return;
    for (uint32_t i = 0; i < s->n; i++) wb_scenario_free(s->shape[i].s);
    if (s->base) wb_scenario_free(s->base);
    free(s->machine);
    free(s->kernel);
    free(s);
}

double calib_sim_cost(const struct calib_sim *s, const char *key)
{
    return calib_cost(wb_scenario_config(s->base), key);
}

static struct wb_scenario *shape(struct calib_sim *s, const char *name, struct wb_diag *d)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (!strcmp(s->shape[i].name, name)) return s->shape[i].s;
    if (s->n == WB_ARRAY_SIZE(s->shape)) return NULL;
    struct wb_scenario *sc = load(s, name, d);
    if (!sc) return NULL;
    snprintf(s->shape[s->n].name, sizeof s->shape[0].name, "%s", name);
    s->shape[s->n++].s = sc;
    return sc;
}

/* Sleeps of both tasks of a pair for each trip: they are switched out having nothing to do, or in spite of it. */
static double sleeps(const struct wb_result *r)
{
    const struct wb_metric *all = wb_result_find(r, UINT32_MAX, "switches"),
                           *preempted = wb_result_find(r, UINT32_MAX, "preemptions");
    const struct wb_metric *trip = wb_result_find(r, 0, "trip");
    if (!all || !preempted || !trip || !trip->hist || !trip->hist->count) return NAN;
    return (all->value - preempted->value) / (double)trip->hist->count;
}

/* Seconds of the metric that a figure is. */
static double seconds(const struct wb_result *r, const char *name)
{
    const char *metric = strstr(name, "_write")       ? "send"
                         : !strncmp(name, "fill", 4)  ? "fill"
                         : !strncmp(name, "drain", 5) ? "drain"
                                                      : "trip";
    for (size_t i = 0; i < WB_ARRAY_SIZE(sockets); i++)
        if (!strcmp(name, sockets[i])) metric = "transaction_time";
    const struct wb_metric *m = wb_result_find(r, 0, metric);
    if (!m) return NAN;
    /* The mean of exact times: medians of histograms and counts per second come in steps too coarse to fit by. Ticks
     * hardly count in so short a run. */
    return m->hist ? wb_hist_mean(m->hist) * 1e-12 : m->value;
}

#define SLEEPS_APART 0.05 /* for each trip: less tells nothing, and costs far from this machine's may bring it */

/* A run's figure in ns, and its sleeps for each trip. */
struct outcome {
    double ns, sleeps;
};

static struct outcome run_shape(struct calib_sim *s, const char *name, const struct wb_overrides *o, struct wb_diag *d)
{
    struct outcome out = {NAN, NAN};
    struct wb_scenario *sc = shape(s, name, d);
    struct wb_run_options opt = {0};
    struct wb_config *cfg = sc ? wb_scenario_at(sc, o, d) : NULL;
    if (!cfg) return out;
    struct wb_sim *sim = wb_sim_build(cfg, s->env->models, 0, &opt, d);
    if (sim) {
        (void)wb_sim_run(sim);
        out = (struct outcome){seconds(wb_sim_result(sim), name) * 1e9, sleeps(wb_sim_result(sim))};
        wb_sim_free(sim);
    }
    wb_config_free(cfg);
    return out;
}

double calib_sim_figure(struct calib_sim *s, const char *name, const struct wb_override *set, size_t n,
                        struct wb_diag *d)
{
    struct wb_overrides o = {.item = set, .n = n};
    bool sleep_wake = !strcmp(name, "sleep_wake"), counted = !strcmp(name, "pair_sleeps");
    struct outcome r = run_shape(s, sleep_wake || counted ? "pair_trip" : name, &o, d);
    if (counted) return r.sleeps;
    if (!sleep_wake) return r.ns;
    struct outcome all = run_shape(s, "local_trip", &o, d);
    return isfinite(all.ns - r.ns) ? fmax((all.ns - r.ns) / fmax(all.sleeps - r.sleeps, SLEEPS_APART), 1) : NAN;
}
