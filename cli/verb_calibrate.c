/* verb_calibrate.c - `wakebal calibrate`: measure what this machine costs, fit the rest, write a machine file and a
 * kernel file. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "calib.h"
#include "calib_agree.h"
#include "exit_code.h"
#include "exp_export.h"
#include "host_profile.h"
#include "options.h"
#include "output.h"
#include "preflight.h"
#include "real_json.h"
#include "registry.h"
#include "verbs.h"

enum { OPT_CPUS = 0x1000, OPT_ROUNDS, OPT_QUICK, OPT_CHECK, OPT_GATE, OPT_NAME, OPT_AGREE };

#define ROUNDS 25u
#define ROUNDS_QUICK 5u

struct request {
    const char *cpus, *check, *gate, *name, *kernel;
    char nearest[HOST_PROFILE_MAX]; /* what kernel is without -k */
    uint32_t rounds;
    bool agree;
    double began, fit_began, fit_drawn; /* s */
    struct cli_options o;
};

static const struct argp_option own_options[] = {
    {"cpus", OPT_CPUS, "LIST", 0, "CPUs that may be used (those of the caller)", 1},
    {"rounds", OPT_ROUNDS, "N", 0, "How often each probe is taken (25)", 1},
    {"quick", OPT_QUICK, NULL, 0, "Five rounds: wider intervals", 1},
    {"check", OPT_CHECK, "NAME", 0,
     "Measure quickly and compare with NAME-machine.cfg and NAME-kernel.cfg; write nothing", 1},
    {"agree", OPT_AGREE, NULL, 0,
     "Measure nothing: compare the calibrations NAME NAME... with each other, interval by interval (exit code 5 when "
     "fewer than 95 % of the pairs meet)",
     1},
    {"gate", OPT_GATE, "off|warn|refuse", 0,
     "When the machine is not quiet before or during it: go on, say so (the default), or refuse (exit code 8)", 1},
    {"kernel", 'k', "NAME", 0, "Kernel profile that is completed (the one nearest to the running kernel)", 1},
    {"name", OPT_NAME, "NAME", 0, "machine.name and kernel.name in the files (the file names' own)", 1},
    {0}};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct request *r = ctx;
    char *end;
    unsigned long n;
    switch (key) {
    case OPT_CPUS: r->cpus = arg; return 0;
    case OPT_CHECK: r->check = arg; return 0;
    case OPT_NAME: r->name = arg; return 0;
    case OPT_AGREE: r->agree = true; return 0;
    case 'k': r->kernel = arg; return 0;
    case OPT_QUICK: r->rounds = ROUNDS_QUICK; return 0;
    case OPT_ROUNDS:
        n = strtoul(arg, &end, 10);
        if (*end || n < 3 || n > PROBE_ROUNDS_MAX) {
            cli_usage_error("wakebal calibrate", NULL, "--rounds takes 3 to %u, not '%.40s'", PROBE_ROUNDS_MAX, arg);
            return EINVAL;
        }
        r->rounds = (uint32_t)n;
        return 0;
    case OPT_GATE:
        if (strcmp(arg, "off") != 0 && strcmp(arg, "warn") != 0 && strcmp(arg, "refuse") != 0) {
            cli_usage_error("wakebal calibrate", "One of: off, warn, refuse", "--gate '%.100s' is not known", arg);
            return EINVAL;
        }
        r->gate = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ------------------------------------------------------------------ progress */
static bool progress_wanted(const struct request *r)
{
    return !r->o.quiet && (r->o.progress == CLI_ALWAYS || (r->o.progress == CLI_AUTO && isatty(STDERR_FILENO)));
}

static void progress(void *ctx, uint32_t round, uint32_t rounds, const char *probe)
{
    const struct request *r = ctx;
    if (!progress_wanted(r)) return;
    fprintf(stderr, "\r\033[Kround %u of %u: %s, %.0f s left", round + 1, rounds, probe,
            (rounds - round) * probe_round_seconds());
    fflush(stderr);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* About once a tenth of a second; how long it will take is known from how long it took so far. */
static void fit_progress(void *ctx, const char *stage, double done)
{
    struct request *r = ctx;
    double now = now_s();
    if (!progress_wanted(r) || now - r->fit_drawn < 0.1) return;
    r->fit_drawn = now;
    fprintf(stderr, "\r\033[Kfitting: %s, %.0f %%", stage, done * 100);
    if (done > 0.02) fprintf(stderr, ", about %.0f s left", (now - r->fit_began) * (1 - done) / done);
    fflush(stderr);
}

static void progress_end(const struct request *r)
{
    if (progress_wanted(r)) fprintf(stderr, "\r\033[K");
}

/* ------------------------------------------------------------------ what came out */
static const char *text_of(char *buf, size_t n, double v, enum wb_unit unit)
{
    if (unit == WB_UNIT_RATIO)
        snprintf(buf, n, "%.1f %%", v * 1e-4);
    else
        wb_format_quantity(buf, n, v, unit);
    return buf;
}

static void print_rows(const struct calib *c)
{
    struct out_table *t = out_table_new("<>>><");
    char a[3][32];
    out_table_row(t, (const char *[]){"cost", "value", "from", "to", "method"});
    for (uint32_t i = 0; i < c->n; i++) {
        const struct calib_row *r = &c->row[i];
        out_table_row(t,
                      (const char *[]){r->key, text_of(a[0], 32, r->value, r->unit), text_of(a[1], 32, r->lo, r->unit),
                                       text_of(a[2], 32, r->hi, r->unit), r->method});
    }
    for (uint32_t i = 0; i < c->nidle; i++) {
        char key[40], how[96];
        double width = c->idle[i].nquantiles ? c->idle[i].quantile[CALIB_QUANTILES - 3] - c->idle[i].quantile[2] : 0;
        snprintf(key, sizeof key, "machine.idle.i%u.exit", i);
        snprintf(how, sizeof how, "fitted; after %.0f us of idle time; 90 %% of single ones within %.1f us",
                 c->idle[i].after_ns * 1e-3, width * 1e-3);
        out_table_row(t, (const char *[]){key, text_of(a[0], 32, c->idle[i].exit_ns * 1e3, WB_UNIT_TIME),
                                          text_of(a[1], 32, c->idle[i].lo * 1e3, WB_UNIT_TIME),
                                          text_of(a[2], 32, c->idle[i].hi * 1e3, WB_UNIT_TIME), how});
    }
    out_table_print(t, stdout, 0, 4, 140, "");
}

static void print_fit(const struct calib *c)
{
    struct out_table *t = out_table_new("<>>>>");
    char a[4][32];
    if (!c->ntargets) return;
    printf(
        "\nFit by simulating the probes: %u iterations, %s, chi2 per figure of the worst stage %.2f (%s; farthest off: "
        "%s)\n",
        c->iterations, c->converged ? "converged" : "NOT converged", c->chi2, c->stage, c->target[c->farthest].name);
    out_table_row(t, (const char *[]){"probe", "measured", "interval", "simulated", "difference"});
    for (uint32_t i = 0; i < c->ntargets; i++) {
        const struct calib_target *g = &c->target[i];
        snprintf(a[3], 32, "%+.1f %%", (g->simulated / g->measured - 1) * 100);
        snprintf(a[1], 32, "%.4g..%.4g us", g->lo * 1e-3, g->hi * 1e-3);
        out_table_row(t, (const char *[]){g->name, text_of(a[0], 32, g->measured * 1e3, WB_UNIT_TIME), a[1],
                                          text_of(a[2], 32, g->simulated * 1e3, WB_UNIT_TIME), a[3]});
    }
    out_table_print(t, stdout, 2, SIZE_MAX, 120, "");
}

static json_t *row_json(const struct calib_row *r)
{
    static const char *const unit[] = {[WB_UNIT_COUNT] = "1",
                                       [WB_UNIT_TIME] = "s",
                                       [WB_UNIT_RATE] = "B/s",
                                       [WB_UNIT_FREQ] = "Hz",
                                       [WB_UNIT_RATIO] = "1"};
    double scale = r->unit == WB_UNIT_TIME ? 1e-12 : r->unit == WB_UNIT_RATIO ? 1e-6 : 1;
    return json_pack("{s:s,s:s,s:o,s:o,s:o,s:b,s:s}", "key", r->key, "unit", unit[r->unit], "value",
                     exp_json_number(r->value * scale), "lo", exp_json_number(r->lo * scale), "hi",
                     exp_json_number(r->hi * scale), "fitted", r->fitted, "method", r->method);
}

/* Cells of single exits around the median: [share, seconds] each. */
static json_t *quantiles_json(const struct calib *c, uint32_t i)
{
    json_t *list = json_array();
    for (uint32_t k = 0; k < c->idle[i].nquantiles; k++)
        json_array_append_new(
            list, json_pack("[f,o]", probe_cell_weight[k] / 100.0, exp_json_number(c->idle[i].quantile[k] * 1e-9)));
    return list;
}

/* What a probe gave, and each round's value: how a figure drifted is seen there only. */
static json_t *figure_json(const struct probe_figure *f)
{
    json_t *values = json_array();
    for (uint32_t i = 0; i < f->n; i++) json_array_append_new(values, exp_json_number(f->sample[i]));
    return json_pack("{s:s,s:o,s:o,s:o,s:i,s:o}", "name", f->name, "median", exp_json_number(f->median), "lo",
                     exp_json_number(f->lo), "hi", exp_json_number(f->hi), "samples", (int)f->n, "values", values);
}

static json_t *calib_json(const struct calib *c, const struct probe_set *p, const struct host_load *load)
{
    json_t *rows = json_array(), *fit = json_array(), *idle = json_array(), *missing = json_array(),
           *probes = json_array();
    for (uint32_t i = 0; i < c->n; i++) json_array_append_new(rows, row_json(&c->row[i]));
    for (uint32_t i = 0; i < c->ntargets; i++)
        json_array_append_new(fit, json_pack("{s:s,s:o,s:o,s:o,s:o}", "probe", c->target[i].name, "measured",
                                             exp_json_number(c->target[i].measured * 1e-9), "lo",
                                             exp_json_number(c->target[i].lo * 1e-9), "hi",
                                             exp_json_number(c->target[i].hi * 1e-9), "simulated",
                                             exp_json_number(c->target[i].simulated * 1e-9)));
    for (uint32_t i = 0; i < c->nidle; i++)
        json_array_append_new(
            idle, json_pack("{s:o,s:o,s:o,s:o,s:o}", "after", exp_json_number(c->idle[i].after_ns * 1e-9), "exit",
                            exp_json_number(c->idle[i].exit_ns * 1e-9), "lo", exp_json_number(c->idle[i].lo * 1e-9),
                            "hi", exp_json_number(c->idle[i].hi * 1e-9), "around", quantiles_json(c, i)));
    for (uint32_t i = 0; i < p->n; i++) json_array_append_new(probes, figure_json(&p->figure[i]));
    for (uint32_t i = 0; i < p->nmissing; i++) json_array_append_new(missing, json_string(p->missing[i]));
    return json_pack("{s:s,s:s,s:s,s:s,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:s,s:s}", "schema", "wakebal.calibration/1",
                     "date", c->date, "fingerprint", c->host.fingerprint, "kernel", c->kernel_base, "rounds",
                     (int)p->rounds, "costs", rows, "idle", idle, "fit", fit, "chi2", exp_json_number(c->chi2),
                     "probes", probes, "left_out", missing, "load", host_load_json(load), "converged", c->converged,
                     "worst_stage", c->stage ? c->stage : "", "farthest_off",
                     c->stage ? c->target[c->farthest].name : "");
}

/* ------------------------------------------------------------------ files */
static const char *plain_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int write_one(const struct request *r, const char *stem, const char *tail, char *text)
{
    char path[1100];
    snprintf(path, sizeof path, "%.1000s-%s.cfg", stem, tail);
    int rc = text ? out_file(path, out_put_scenario, text) : EXIT_INTERNAL;
    free(text);
    if (rc == EXIT_FINE && !r->o.quiet && !(r->o.export_json && !strcmp(r->o.export_json, "-")))
        out_line(stdout, "Wrote %s", path);
    return rc;
}

static int write_files(const struct request *r, const struct calib *c)
{
    const char *stem = r->o.output ? r->o.output : "calibrated", *name = r->name ? r->name : plain_name(stem);
    int rc = write_one(r, stem, "machine", calib_machine_text(c, name));
    if (rc == EXIT_FINE) rc = write_one(r, stem, "kernel", calib_kernel_text(c, name));
    return rc;
}

/* What to do next, after all tables. */
static void say_next(const struct request *r, const struct calib *c)
{
    const char *stem = r->o.output ? r->o.output : "calibrated";
    fflush(stdout); /* both may go to one file */
    if (!calib_explains(c))
        fprintf(stderr,
                "wakebal calibrate: warning: the fit %s (%.1f squared intervals a figure, %.0f at most; %s, %s is "
                "farthest off): the fitted costs are not this machine's and are called assumed in the files. Repeat it "
                "on a quiet machine (wakebal doctor), without --quick\n",
                c->converged ? "does not explain the probes" : "did not converge", c->chi2, CALIB_CHI2_POOR, c->stage,
                c->target[c->farthest].name);
    else if (!r->o.quiet && !(r->o.export_json && !strcmp(r->o.export_json, "-")))
        printf("Try: wakebal run pipe -m %s-machine.cfg -k %s-kernel.cfg\n", stem, stem);
}

/* ------------------------------------------------------------------ comparison */
static int compare(const struct request *r, const struct calib *c, const struct wb_key_registry *keys,
                   struct wb_diag *d)
{
    struct wb_scenario *s = calib_files_load(r->check, keys, d);
    if (!s) return EXIT_INVALID;
    struct calib_change *change = calloc(c->n, sizeof *change);
    uint32_t n = change ? calib_compare(c, wb_scenario_config(s), change) : 0, off = 0;
    char a[4][32];
    struct out_table *t = out_table_new("<>>>>");
    out_table_row(t, (const char *[]){"cost", "file", "now", "change", ""});
    for (uint32_t i = 0; i < n; i++) {
        snprintf(a[2], 32, "%+.1f %%", (change[i].now / change[i].was - 1) * 100);
        off += !change[i].fits;
        out_table_row(t, (const char *[]){change[i].key, text_of(a[0], 32, change[i].was, change[i].unit),
                                          text_of(a[1], 32, change[i].now, change[i].unit), a[2],
                                          change[i].fits ? "" : "differs"});
    }
    out_table_print(t, stdout, 0, SIZE_MAX, 120, "");
    printf("%u of %u costs differ by more than 5 %% and one and a half times the interval measured now: %s\n", off, n,
           off * 10 > n ? "the file no longer fits; calibrate again" : "the file still fits");
    free(change);
    wb_scenario_free(s);
    return off * 10 > n ? EXIT_TOLERANCE : EXIT_FINE;
}

/* ------------------------------------------------------------------ running */
static int gate(const struct request *r, const struct host_load *l, const char *when)
{
    char text[160];
    if (!strcmp(r->gate, "off") || l->quiet) return EXIT_FINE;
    bool refuse = !strcmp(r->gate, "refuse");
    fprintf(stderr, "wakebal: %s: the machine was not quiet %s: %s\n", refuse ? "error" : "warning", when,
            host_load_text(l, text, sizeof text));
    return refuse ? EXIT_PERMISSION : EXIT_FINE;
}

static int write_json(const struct request *r, const struct calib *c, const struct probe_set *p,
                      const struct host_load *during)
{
    if (!r->o.export_json) return EXIT_FINE;
    json_t *j = calib_json(c, p, during);
    int rc = out_file(r->o.export_json, out_put_json, j);
    json_decref(j);
    return rc;
}

/* Files first: whoever reads the tables may stop reading, and what was measured is not to be lost by that. */
static int finish(const struct request *r, const struct calib *c, const struct probe_set *p,
                  const struct host_load *during, const struct wb_key_registry *keys, struct wb_diag *d)
{
    bool silent = r->o.export_json && !strcmp(r->o.export_json, "-");
    int rc = r->check ? EXIT_FINE : write_files(r, c);
    if (rc == EXIT_FINE) rc = write_json(r, c, p, during);
    if (!silent) {
        if (!r->check) print_rows(c), print_fit(c);
        for (uint32_t i = 0; i < p->nmissing; i++) printf("left out: %s\n", p->missing[i]);
    }
    if (rc != EXIT_FINE) return rc;
    if (r->check) return compare(r, c, keys, d);
    say_next(r, c);
    return EXIT_FINE;
}

/* CPU time of this process and of the children that it has reaped. */
static double own_cpu_seconds(void)
{
    static const int who[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    double sum = 0;
    for (size_t i = 0; i < WB_ARRAY_SIZE(who); i++) {
        struct rusage u;
        if (getrusage(who[i], &u)) continue;
        sum +=
            (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
    }
    return sum;
}

/* What can be known to be wrong before the machine is kept busy: the files to compare with, the profile, the
 * outputs. */
static int look_ahead(const struct request *r, const struct wb_key_registry *keys, struct wb_diag *d)
{
    const char *stem = r->o.output ? r->o.output : "calibrated";
    char machine[1100], kernel[1100];
    struct wb_overrides o = {.kernel = r->kernel};
    struct wb_scenario *s = r->check ? calib_files_load(r->check, keys, d) : wb_scenario_load("pipe", keys, &o, d);
    if (!s) return EXIT_INVALID;
    wb_scenario_free(s);
    snprintf(machine, sizeof machine, "%.1000s-machine.cfg", stem);
    snprintf(kernel, sizeof kernel, "%.1000s-kernel.cfg", stem);
    const char *const more[] = {r->check ? NULL : machine, kernel, NULL};
    return preflight_outputs("wakebal calibrate", &r->o, more, NULL);
}

/* Without -k: the shipped profile that is nearest to the kernel that runs here, or the newest known. */
static void choose_kernel(struct request *r)
{
    static const char fallback[] = "linux-6.18";
    struct host_identity id;
    size_t n = 0;
    char **names = wb_scenario_list("kernels", &n);
    host_identify(NULL, &id);
    if (!names || !host_profile(&id, names, n, r->nearest)) memcpy(r->nearest, fallback, sizeof fallback);
    if (names) wb_scenario_list_free(names);
    r->kernel = r->nearest;
    if (!r->check && !r->o.quiet)
        fprintf(stderr, "Kernel profile: %s, for %s; -k names another\n", r->kernel, id.kernel);
}

static bool read_cpus(const char *list, struct real_cpus *cpus, struct wb_diag *d)
{
    struct real_spec *s = calloc(1, sizeof *s);
    WB_MEMORY(s, "out of memory for a list of CPUs");
    real_spec_init(s, REAL_HOG);
    bool fine = real_spec_set(s, "allowed", list, d) >= 0;
    *cpus = s->allowed;
    free(s);
    return fine;
}

static int measure(struct request *r, const struct wb_topology *topo, struct probe_set *p, struct host_load *during,
                   struct wb_diag *d)
{
    struct probe_options o = {.rounds = r->rounds, .stop = &out_stop, .progress = progress, .ctx = r};
    struct host_load before;
    if (r->cpus && !read_cpus(r->cpus, &o.cpus, d)) return EXIT_USAGE;
    if (strcmp(r->gate, "off") != 0) {
        host_quiet_before(&host_gate_default, &before);
        int rc = gate(r, &before, "before");
        if (rc != EXIT_FINE) return rc;
    }
    if (!r->o.quiet)
        fprintf(stderr, "Measuring: %u rounds of small probes on loopback, pipes and memory, about %.0f s\n", r->rounds,
                r->rounds * probe_round_seconds());
    struct host_meter *m = host_meter_begin(NULL);
    int rc = probe_all(topo, &o, p, d);
    progress_end(r);
    if (m) host_meter_end(m, own_cpu_seconds(), &host_gate_default, during);
    if (rc) return rc == -EINTR ? out_stop_exit_code() : EXIT_INTERNAL;
    return EXIT_FINE;
}

/* Where the costs do not explain a stage's figures, these may have been disturbed: as many rounds again of the probes
 * that they come from, all rounds together judged anew. Once, and only while it all stays below three minutes; else 0,
 * and the poor fit is what there is. 1: there are more figures now. */
#define SECONDS_MOST 170.0
static int probe_again(const struct request *r, const struct wb_topology *topo, struct probe_set *p,
                       const struct calib *c, struct wb_diag *d)
{
    struct probe_options o = {
        .rounds = r->rounds, .stop = &out_stop, .only = c->again, .progress = progress, .ctx = (void *)(uintptr_t)r};
    static struct real_spec s; /* large */
    double now = now_s(), again = r->rounds * probe_round_seconds() + 1.5 * (now - r->fit_began);
    if (calib_explains(c) || !c->again || now + again - r->began > SECONDS_MOST) return 0;
    if (!r->o.quiet)
        fprintf(stderr, "The fit does not explain %s (%s is farthest off): %u more rounds of its probes\n", c->stage,
                c->target[c->farthest].name, r->rounds);
    real_spec_init(&s, REAL_HOG);
    if (r->cpus && real_spec_set(&s, "allowed", r->cpus, d) < 0) return -EINVAL;
    o.cpus = s.allowed;
    int rc = probe_more(topo, &o, p, d);
    progress_end(r);
    return rc ? rc : 1;
}

/* The costs of the figures. 0, and the caller frees *c; or as calib_make. */
static int fit(struct request *r, const struct calib_env *env, const struct wb_topology *topo, struct probe_set *p,
               struct calib *c, struct wb_diag *d)
{
    if (!r->o.quiet) fprintf(stderr, "Fitting what no probe isolates, by simulating the probes\n");
    for (bool again = false;; again = true) {
        r->fit_began = now_s();
        int rc = calib_make(env, topo, p, c, d);
        progress_end(r);
        if (rc || again) return rc;
        rc = probe_again(r, topo, p, c, d);
        if (!rc) return 0;
        calib_free(c);
        if (rc < 0) return rc;
    }
}

static int run(struct request *r, const struct wb_key_registry *keys, struct wb_diag *d)
{
    struct wb_topo_options opt = {.cache_size = {32 << 10, 256 << 10, 8 << 20, 64 << 20}, .line = 64};
    struct wb_topology *topo = wb_topo_live(&opt, d);
    struct probe_set p = {0};
    struct host_load during = {0};
    struct calib c;
    if (!r->kernel) choose_kernel(r);
    struct calib_env env = {.models = cli_models(),
                            .keys = keys,
                            .stop = &out_stop,
                            .kernel_base = r->kernel,
                            .progress = fit_progress,
                            .ctx = r};
    if (!topo) return EXIT_INVALID;
    out_catch_signals();
    r->began = now_s();
    int rc = look_ahead(r, keys, d);
    if (rc == EXIT_FINE) rc = measure(r, topo, &p, &during, d);
    if (rc == EXIT_FINE) {
        int made = fit(r, &env, topo, &p, &c, d);
        rc = made == -EINTR ? out_stop_exit_code() : made ? EXIT_INVALID : EXIT_FINE;
        if (rc == EXIT_FINE) {
            rc = finish(r, &c, &p, &during, keys, d);
            calib_free(&c);
        }
        probe_free(&p);
    }
    wb_topology_free(topo);
    return rc;
}

int verb_calibrate(int argc, char **argv)
{
    struct request r = {.rounds = ROUNDS, .gate = "warn"};
    const struct cli_spec spec = {
        .usage = "[--agree NAME NAME...]",
        .doc =
            "Measure what this machine costs - clock, caches, lines, copies, calls, switches, interrupts, idle states, "
            "ticks - and write NAME-machine.cfg and NAME-kernel.cfg, each cost with its 95 % interval, method and "
            "date. "
            "What no probe isolates is fitted by simulating the probe."
            "\vWith -o NAME the files are NAME-machine.cfg and NAME-kernel.cfg (calibrated-...); -k names the kernel "
            "profile "
            "that is completed; without it that is the newest that is not newer than the running kernel. Takes about "
            "40 s; nothing is changed on the machine. Examples:\n"
            "  wakebal calibrate -o me\n"
            "  wakebal run pipe -m me-machine.cfg -k me-kernel.cfg\n"
            "  wakebal calibrate --check me\n"
            "  wakebal calibrate --agree monday tuesday",
        .groups = CLI_EXPORT_JSON | CLI_OUTPUT,
        .own = own_options,
        .own_parse = parse_own,
        .own_ctx = &r,
        .args_max = CALIB_AGREE_MAX,
    };
    cli_options_init(&r.o);
    int rc = cli_options_parse(&spec, argc, argv, &r.o);
    if (rc < 0) {
        struct wb_diag *d = wb_diag_new();
        struct wb_key_registry *keys = cli_keys_new();
        if (r.o.arg_n && !r.agree)
            rc = cli_usage_error("wakebal calibrate", "-o NAME names the files; --agree compares several",
                                 "no argument is expected: '%.60s'", r.o.arg[0]);
        else
            rc = r.agree ? calib_agree_run(&r.o, keys, d) : run(&r, keys, d);
        int said = cli_print_diag(&r.o, d);
        if (rc == EXIT_FINE) rc = said;
        wb_keys_free(keys);
        wb_diag_free(d);
    }
    cli_options_free(&r.o);
    return rc;
}
