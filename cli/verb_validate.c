/* verb_validate.c - `wakebal validate`: predict, hash, measure for real, compare. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calib_agree.h"
#include "exit_code.h"
#include "options.h"
#include "output.h"
#include "plot.h"
#include "real_json.h"
#include "registry.h"
#include "valid.h"
#include "verbs.h"
#include "wakebal/units.h"

enum {
    OPT_QUICK = 0x1000,
    OPT_FULL,
    OPT_CALIBRATION,
    OPT_ROUNDS,
    OPT_SECONDS,
    OPT_SCALE,
    OPT_PREDICT_ONLY,
    OPT_FLOOR,
    OPT_GATE,
    OPT_RECORDED
};

struct request {
    const char *calibration, *machine, *kernel, *gate, *recorded;
    enum valid_depth depth;
    uint32_t rounds, replications;
    double seconds, floor;
    char scale_key[80];
    double scale;
    bool predict_only;
    struct cli_options o;
};

static const struct argp_option own_options[] = {
    {"calibration", OPT_CALIBRATION, "NAME", 0,
     "NAME-machine.cfg and NAME-kernel.cfg of `wakebal calibrate` (calibrated)", 1},
    {"machine", 'm', "NAME|FILE", 0, "Another machine than that of the calibration", 1},
    {"kernel", 'k', "NAME|FILE", 0, "Another kernel profile", 1},
    {"quick", OPT_QUICK, NULL, 0, "The most telling cases, three rounds: under 3 minutes", 2},
    {"full", OPT_FULL, NULL, 0, "Every case of the matrix", 2},
    {"rounds", OPT_ROUNDS, "N", 0, "How often each case is run for real (10; 3 with --quick)", 2},
    {"seconds", OPT_SECONDS, "S", 0, "Counted length of each real run (0.5)", 2},
    {"floor", OPT_FLOOR, "SHARE", 0, "Least share of right predictions, below it exit code 5 (85 %)", 2},
    {"scale", OPT_SCALE, "KEY=FACTOR", 0,
     "Negative control: multiply a cost of the model, for example machine.ipi.send=3", 3},
    {"recorded", OPT_RECORDED, "FILE", 0,
     "Compare with the runs of an earlier validation (its exported JSON) instead of running anything", 3},
    {"predict-only", OPT_PREDICT_ONLY, NULL, 0, "Write the predictions, run nothing for real", 3},
    {"gate", OPT_GATE, "off|warn|refuse", 0,
     "When the machine is not quiet before it: go on, say so (the default), or refuse (exit code 8)", 3},
    {0}};

static int parse_scale(struct request *r, const char *arg)
{
    const char *eq = strchr(arg, '=');
    char *end;
    if (!eq || (size_t)(eq - arg) >= sizeof r->scale_key) return -1;
    snprintf(r->scale_key, sizeof r->scale_key, "%.*s", (int)(eq - arg), arg);
    r->scale = strtod(eq + 1, &end);
    return *end || !(r->scale > 0) ? -1 : 0;
}

static error_t parse_number(double *out, const char *what, const char *arg, double lo, double hi)
{
    char *end;
    double v = strtod(arg, &end);
    if (*end == '%') {
        v /= 100;
        end++;
    }
    if (end == arg || *end || !(v >= lo && v <= hi)) {
        cli_usage_error("wakebal validate", NULL, "%s takes %g to %g, not '%.40s'", what, lo, hi, arg);
        return EINVAL;
    }
    *out = v;
    return 0;
}

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct request *r = ctx;
    double v = 0;
    error_t rc;
    switch (key) {
    case OPT_CALIBRATION: r->calibration = arg; return 0;
    case 'm': r->machine = arg; return 0;
    case 'k': r->kernel = arg; return 0;
    case OPT_QUICK: r->depth = VALID_QUICK; return 0;
    case OPT_FULL: r->depth = VALID_FULL; return 0;
    case OPT_RECORDED: r->recorded = arg; return 0;
    case OPT_PREDICT_ONLY: r->predict_only = true; return 0;
    case OPT_ROUNDS:
        rc = parse_number(&v, "--rounds", arg, 1, VALID_ROUNDS_MAX);
        r->rounds = (uint32_t)v;
        return rc;
    case OPT_SECONDS: return parse_number(&r->seconds, "--seconds", arg, 0.05, 60);
    case OPT_FLOOR: return parse_number(&r->floor, "--floor", arg, 0, 1);
    case OPT_SCALE:
        if (!parse_scale(r, arg)) return 0;
        cli_usage_error("wakebal validate", "for example --scale machine.ipi.send=3",
                        "--scale '%.60s' is not KEY=FACTOR", arg);
        return EINVAL;
    case OPT_GATE:
        if (!strcmp(arg, "off") || !strcmp(arg, "warn") || !strcmp(arg, "refuse")) {
            r->gate = arg;
            return 0;
        }
        cli_usage_error("wakebal validate", "One of: off, warn, refuse", "--gate '%.100s' is not known", arg);
        return EINVAL;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ------------------------------------------------------------------ printing */
static void progress(void *ctx, const char *what, size_t done, size_t all, double left)
{
    const struct request *r = ctx;
    if (r->o.quiet || r->o.progress == CLI_NEVER || (r->o.progress == CLI_AUTO && !isatty(STDERR_FILENO))) return;
    fprintf(stderr, "\r\033[K%s %zu of %zu", what, done + 1, all);
    if (left > 0) fprintf(stderr, ", %.0f s left", left);
    fflush(stderr);
}

static void progress_end(const struct request *r)
{
    if (!r->o.quiet && r->o.progress != CLI_NEVER && isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K");
}

static const char *value(char *buf, size_t n, double v, const char *unit)
{
    char digits[40];
    if (!isfinite(v)) return snprintf(buf, n, "?"), buf;
    if (!strcmp(unit, "B/s")) return wb_format_quantity(buf, n, v, WB_UNIT_RATE);
    if (!strcmp(unit, "s")) return wb_format_quantity(buf, n, v * 1e12, WB_UNIT_TIME);
    snprintf(buf, n, "%s /s", out_thousands(digits, sizeof digits, v));
    return buf;
}

static void print_case(struct out_table *t, const struct valid_case *c, const struct out_style *style)
{
    char a[4][40], range[90], verdict[48];
    value(a[0], 40, c->mean, c->unit);
    value(a[1], 40, c->median, c->unit);
    snprintf(range, sizeof range, "%s..%s", value(a[2], 40, c->p10, c->unit), value(a[3], 40, c->p90, c->unit));
    if (c->bimodal)
        snprintf(verdict, sizeof verdict, "%s: together %.0f %% / %.0f %%", c->right ? "right" : "WRONG",
                 c->mode_together * 100, c->real_mode_together * 100);
    else
        snprintf(verdict, sizeof verdict, "%s%s", c->right ? "right" : "WRONG",
                 c->by_range ? ""
                 : c->right  ? " (band)"
                             : "");
    char error[16];
    snprintf(error, sizeof error, "%+.1f %%", c->error * 100);
    out_table_row(t, (const char *[]){c->name, a[0], a[1], range, error, c->covered ? "yes" : "no", verdict});
    out_table_colour(t, 6, c->right ? style->good : style->bad);
}

static void print_table(const struct request *r, const struct valid_set *v)
{
    struct out_style style = out_style(&r->o, STDOUT_FILENO);
    struct out_table *t = out_table_new("<>>>><<");
    out_table_row(t, (const char *[]){"case", "predicted", "measured", "10-90 %", "error", "covered", "verdict"});
    for (size_t i = 0; i < v->n; i++)
        if (v->c[i].scored) print_case(t, &v->c[i], &style);
    out_table_print(t, stdout, 0, 0, 170, style.off);
    char why[96];
    for (size_t i = 0; i < v->n; i++) {
        if (v->c[i].failed[0]) printf("left out: %s: %s\n", v->c[i].name, v->c[i].failed);
        if (valid_why_dropped(&v->c[i], why, sizeof why)) printf("dropped: %s: %s\n", v->c[i].name, why);
    }
}

/* Without measurements: what is expected, so that it can be read before anything runs. */
static void print_predictions(const struct request *r, const struct valid_set *v)
{
    struct out_style style = out_style(&r->o, STDOUT_FILENO);
    struct out_table *t = out_table_new("<>>>");
    out_table_row(t, (const char *[]){"case", "predicted", "95 % of single runs", "together"});
    for (size_t i = 0; i < v->n; i++) {
        const struct valid_case *c = &v->c[i];
        char a[3][40], range[90], together[16] = "-";
        if (!c->predicted) continue;
        snprintf(range, sizeof range, "%s..%s", value(a[1], 40, c->lo, c->unit), value(a[2], 40, c->hi, c->unit));
        if (!isnan(c->mode_together)) snprintf(together, sizeof together, "%.0f %%", c->mode_together * 100);
        out_table_row(t, (const char *[]){c->name, value(a[0], 40, c->mean, c->unit), range, together});
    }
    out_table_print(t, stdout, 0, 0, 170, style.off);
}

static int by_error(const void *a, const void *b)
{
    const struct valid_case *x = *(const struct valid_case *const *)a, *y = *(const struct valid_case *const *)b;
    double u = fabs(x->error) / valid_classes[x->klass].band, w = fabs(y->error) / valid_classes[y->klass].band;
    return (u < w) - (u > w);
}

/* The cases that are most wrong for their class, with where the simulated time went. */
static void print_worst(const struct valid_set *v)
{
    const struct valid_case **list = calloc(v->n ? v->n : 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; list && i < v->n; i++)
        if (v->c[i].scored && !v->c[i].right) list[n++] = &v->c[i];
    if (n) {
        qsort(list, n, sizeof *list, by_error);
        printf("\nWorst, and where the simulated time went:\n");
        for (size_t i = 0; i < WB_MIN(n, (size_t)5); i++)
            printf("  %s: %+.0f %% (band %.0f %%); %s%s\n", list[i]->name, list[i]->error * 100,
                   valid_classes[list[i]->klass].band * 100, list[i]->reason,
                   list[i]->placement ? "; unpinned: placement counts" : "");
    }
    free(list);
}

/* Percentiles, switches, migrations, shares: right of compared, and which cases are wrong. */
static void print_figures(const struct valid_set *v)
{
    for (int k = 0; k < VALID_FIGURES; k++) {
        const struct valid_figure_info *info = &valid_figures[k];
        if (!v->figure[k].scored) continue;
        printf("  %-10s %u of %u right (band: %s)\n", info->name, v->figure[k].right, v->figure[k].scored, info->band);
        for (size_t i = 0, said = 0; i < v->n && said < 3; i++) {
            const struct valid_figure *f = &v->c[i].figure[k];
            char a[2][40];
            if (!f->scored || f->right) continue;
            bool time = !strcmp(info->unit, "s");
            for (int w = 0; w < 2; w++) {
                double x = w ? f->median : f->predicted;
                if (time)
                    wb_format_quantity(a[w], 40, x * 1e12, WB_UNIT_TIME);
                else
                    snprintf(a[w], 40, "%.3g", x);
            }
            printf("    %s: predicted %s, measured %s\n", v->c[i].name, a[0], a[1]);
            said++;
        }
    }
}

/* Runs that were made and not kept. */
static void print_dropped(const struct valid_set *v)
{
    uint32_t dropped = 0, moved = 0;
    for (size_t i = 0; i < v->n; i++) {
        dropped += v->c[i].dropped;
        moved += v->c[i].moved;
    }
    if (dropped > moved) printf("%u runs were dropped: the machine was not quiet\n", dropped - moved);
    if (moved)
        printf("%u runs were dropped: a line's move between CPUs did not take the calibrated %.0f ns (virtual CPUs are "
               "moved)\n",
               moved, v->line_ns);
}

static void print_summary(const struct request *r, const struct valid_set *v)
{
    if (!v->scored) {
        printf("\nNothing could be compared: no real run was kept\n");
        print_dropped(v);
        return;
    }
    printf("\n%u of %u predictions right (%.0f %%), median |error| %.1f %%, %u of %u medians and %u of %u single runs "
           "inside the "
           "95 %% interval\n",
           v->right, v->scored, 100.0 * v->right / v->scored, v->median_error * 100, v->covered, v->scored,
           v->runs_covered, v->runs);
    print_figures(v);
    print_dropped(v);
    printf("%u of %u orderings that are really apart are inverted\n", v->inversions, v->pairs);
    for (uint32_t i = 0; i < WB_MIN(v->inversions, (uint32_t)WB_ARRAY_SIZE(v->inversion)); i++)
        printf("  %s  <->  %s\n", v->c[v->inversion[i].a].name, v->c[v->inversion[i].b].name);
    printf("Predictions were made before anything ran: sha256 %.16s...\n", v->hash);
    if (r->scale_key[0]) printf("Negative control: %s was multiplied by %g\n", r->scale_key, r->scale);
}

/* ------------------------------------------------------------------ running */
static int write_json(const struct request *r, const struct valid_set *v, const struct valid_env *env, bool measured)
{
    if (!r->o.export_json) return EXIT_FINE;
    json_t *j = valid_json(v, env, measured);
    int rc = out_file(r->o.export_json, out_put_json, j);
    json_decref(j);
    return rc;
}

/* The calibrated length of a line's move, to know the machine again by. */
static int watch_distance(struct valid_set *v, const struct valid_env *env, const struct wb_topology *topo,
                          const cpu_id *cpus, uint32_t n, struct wb_diag *d)
{
    struct wb_overrides over = {.machine = env->machine, .kernel = env->kernel};
    struct wb_scenario *s = wb_scenario_load("pipe", env->keys, &over, d);
    if (!s) return EXIT_INVALID;
    valid_watch_distance(v, topo, cpus, n, wb_scenario_config(s));
    wb_scenario_free(s);
    return EXIT_FINE;
}

static int make_cases(struct request *r, struct valid_set *v, struct valid_env *env, struct wb_diag *d)
{
    struct wb_topo_options opt = {.cache_size = {32 << 10, 256 << 10, 8 << 20, 64 << 20}, .line = 64};
    struct wb_topology *topo = wb_topo_live(&opt, d);
    cpu_id *cpus = calloc(WB_CPUS_MAX, sizeof *cpus);
    cpu_set_t own;
    uint32_t n = 0;
    WB_MEMORY(cpus, "out of memory for a list of CPUs");
    if (!topo) {
        free(cpus);
        return EXIT_INVALID;
    }
    CPU_ZERO(&own);
    (void)sched_getaffinity(0, sizeof own, &own);
    for (cpu_id c = 0; c < topo->ncpus && c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &own)) cpus[n++] = c;
    int rc = EXIT_FINE;
    if (!r->o.arg_n) {
        rc = valid_matrix(v, topo, cpus, n, r->depth) < 0 ? EXIT_INTERNAL : EXIT_FINE;
    } else {
        for (size_t i = 0; i < r->o.arg_n && rc == EXIT_FINE; i++) {
            struct wb_overrides o = {.machine = env->machine, .kernel = env->kernel};
            struct wb_scenario *s = wb_scenario_load(r->o.arg[i], env->keys, &o, d);
            if (!s || valid_from_scenario(v, wb_scenario_config(s), wb_scenario_name(s), d) < 0) rc = EXIT_INVALID;
            if (s) wb_scenario_free(s);
        }
    }
    if (rc == EXIT_FINE) rc = watch_distance(v, env, topo, cpus, n, d);
    free(cpus);
    wb_topology_free(topo);
    return rc;
}

static int gate(const struct request *r)
{
    struct host_load before;
    char text[160];
    if (!strcmp(r->gate, "off")) return EXIT_FINE;
    host_quiet_before(&host_gate_default, &before);
    if (before.quiet) return EXIT_FINE;
    bool refuse = !strcmp(r->gate, "refuse");
    fprintf(stderr, "wakebal: %s: the machine is not quiet: %s; runs beside such load are dropped\n",
            refuse ? "error" : "warning", host_load_text(&before, text, sizeof text));
    return refuse ? EXIT_PERMISSION : EXIT_FINE;
}

/* Fill in what was measured: now, or in a recording. 0, -EINTR, or -1 with errors in d. */
static int measure(struct request *r, struct valid_set *v, const struct valid_env *env, struct wb_diag *d)
{
    if (r->recorded) return valid_take_recorded(v, r->recorded, d);
    if (!r->o.quiet)
        fprintf(stderr, "Running %zu cases for real, %u rounds: about %.0f s; pipes and 127.0.0.1 only\n", v->n,
                env->rounds, (double)v->n * env->rounds * (env->seconds + 0.15));
    int done = valid_measure(v, env, d);
    progress_end(r);
    return done;
}

/* Said before the minutes are spent: what will be dropped. */
static void say_distance(const struct valid_set *v)
{
    double ns = valid_distance_now(v);
    if (valid_same_distance(v->line_ns, ns)) return;
    fprintf(stderr,
            "wakebal validate: warning: a line moves between CPUs in %.0f ns now, calibrated were %.0f ns: runs on two "
            "CPUs "
            "are dropped while that lasts. Wait, or calibrate again\n",
            ns, v->line_ns);
}

static int measure_and_compare(struct request *r, struct valid_set *v, struct valid_env *env, struct wb_diag *d)
{
    int rc = r->recorded ? EXIT_FINE : gate(r);
    if (rc != EXIT_FINE) return rc;
    if (!r->recorded) say_distance(v);
    int done = measure(r, v, env, d);
    if (done == -1) return EXIT_INVALID;
    valid_score(v);
    bool silent = r->o.export_json && !strcmp(r->o.export_json, "-");
    if (!silent) print_table(r, v), print_worst(v), print_summary(r, v);
    rc = write_json(r, v, env, true);
    if (rc != EXIT_FINE) return rc;
    if (done == -EINTR) return out_stop_exit_code();
    if (!v->scored) return EXIT_PERMISSION;
    return (double)v->right < r->floor * v->scored ? EXIT_TOLERANCE : EXIT_FINE;
}

/* Predictions from a calibration that does not explain its own probes say little: that is said before anything else. */
static int check_calibration(const struct request *r, const char *stem, const struct wb_key_registry *keys,
                             struct wb_diag *d)
{
    if (r->machine || r->kernel) return EXIT_FINE;
    struct wb_scenario *s = calib_files_load(stem, keys, d);
    if (!s) return EXIT_INVALID;
    if (!calib_files_explain(wb_scenario_config(s)))
        fprintf(stderr,
                "wakebal validate: warning: the fit of %s did not explain its probes: its fitted costs are called "
                "assumed. Calibrate again on a quiet machine\n",
                stem);
    wb_scenario_free(s);
    return EXIT_FINE;
}

static int run(struct request *r, const struct wb_key_registry *keys, struct wb_diag *d)
{
    char machine[1100], kernel[1100];
    struct valid_set v = {0};
    const char *stem = r->calibration ? r->calibration : "calibrated", *here = strchr(stem, '/') ? "" : "./";
    snprintf(machine, sizeof machine, "%s%.1000s-machine.cfg", here, stem);
    snprintf(kernel, sizeof kernel, "%s%.1000s-kernel.cfg", here, stem);
    struct valid_env env = {.models = cli_models(),
                            .keys = keys,
                            .machine = r->machine ? r->machine : machine,
                            .kernel = r->kernel ? r->kernel : kernel,
                            .replications = r->replications,
                            .seconds = r->seconds,
                            .rounds = r->rounds                 ? r->rounds
                                      : r->depth == VALID_QUICK ? 3
                                                                : 10,
                            .scale = r->scale_key[0] ? r->scale_key : NULL,
                            .scale_key = r->scale,
                            .stop = &out_stop,
                            .progress = progress,
                            .ctx = r};
    if (!r->machine && access(machine, R_OK))
        return cli_usage_error("wakebal validate",
                               "wakebal calibrate -o NAME writes NAME-machine.cfg and NAME-kernel.cfg",
                               "there is no %s", machine);
    out_catch_signals();
    int rc = check_calibration(r, stem, keys, d);
    if (rc == EXIT_FINE) rc = make_cases(r, &v, &env, d);
    if (rc == EXIT_FINE) {
        int made = valid_predict(&v, &env, d);
        progress_end(r);
        rc = made == -EINTR ? out_stop_exit_code() : made ? EXIT_INVALID : EXIT_FINE;
    }
    /* The predictions stand in the file before anything runs. */
    if (rc == EXIT_FINE) rc = write_json(r, &v, &env, false);
    if (rc == EXIT_FINE && r->predict_only && !(r->o.export_json && !strcmp(r->o.export_json, "-")))
        print_predictions(r, &v);
    if (rc == EXIT_FINE && !r->o.quiet) fprintf(stderr, "Predicted %zu cases: sha256 %s\n", v.n, v.hash);
    if (rc == EXIT_FINE && !r->predict_only) rc = measure_and_compare(r, &v, &env, d);
    valid_free(&v);
    return rc;
}

int verb_validate(int argc, char **argv)
{
    struct request r = {.gate = "warn", .depth = VALID_DEFAULT, .seconds = 0.5, .replications = 8, .floor = 0.85};
    const struct cli_spec spec = {
        .usage = "[SCENARIO...]",
        .doc = "Predict what this machine will do, write the predictions down, run the real workloads round after "
               "round, and "
               "compare. Without a scenario: the built-in matrix of placements, sizes, copies and loads."
               "\vNeeds a calibration of this machine (wakebal calibrate). What calibrated is never scored. A "
               "prediction is "
               "right inside the real runs' 10-90 % range or the noise band of its class. Exit code 5 below the floor. "
               "Examples:\n"
               "  wakebal calibrate -o me && wakebal validate --calibration me --quick\n"
               "  wakebal validate --calibration me pipe --rounds 20\n"
               "  wakebal validate --calibration me --scale machine.ipi.send=3    # must be rejected",
        .groups = CLI_EXPORT_JSON,
        .own = own_options,
        .own_parse = parse_own,
        .own_ctx = &r,
        .args_max = SIZE_MAX,
    };
    cli_options_init(&r.o);
    int rc = cli_options_parse(&spec, argc, argv, &r.o);
    if (rc < 0) {
        struct wb_diag *d = wb_diag_new();
        struct wb_key_registry *keys = cli_keys_new();
        rc = run(&r, keys, d);
        int said = cli_print_diag(&r.o, d);
        if (rc == EXIT_FINE) rc = said;
        wb_keys_free(keys);
        wb_diag_free(d);
    }
    cli_options_free(&r.o);
    return rc;
}
