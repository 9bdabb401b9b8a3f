/*
 * verb_run.c - `wakebal run SCENARIO|PRESET`: simulate, replicate until precise, print the summary.
 *
 * With axes (--vary, or the scenario's `sweep` block) every point is run and the points are compared. Results
 * live in memory; exports write them out. Exit codes: 4 expectation violated, 6 precision goal missed, 130
 * interrupted (what was complete is printed).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exit_code.h"
#include "exp_costs.h"
#include "exp_export.h"
#include "exp_format.h"
#include "registry.h"
#include "preflight.h"
#include "run_parts.h"
#include "study.h"
#include "study_cli.h"
#include "verbs.h"

struct run {
    struct cli_options o;
    bool profile, no_sweep;
    const char *trace_format;
    struct wb_key_registry *keys;
    struct wb_diag *d;
    struct wb_scenario *s;
    struct wb_axes *axes;
    struct exp_points *points;
    struct exp_study *study;
    struct out_progress progress;
    struct run_facts facts;
    struct study_manifest *manifest; /* NULL: none is wanted */
    char *in_folder[3];              /* files of -o */
};

enum { KEY_PROFILE = 0x1000, KEY_TRACE_FORMAT, KEY_NO_SWEEP };
static const struct argp_option own[] = {
    {"profile", KEY_PROFILE, NULL, 0, "Print where CPU time went, by kernel function, as a profiler would", 4},
    {"trace-format", KEY_TRACE_FORMAT, "ftrace", 0, "Format of --trace: ftrace text (the only one so far)", 4},
    {"no-sweep", KEY_NO_SWEEP, NULL, 0, "Ignore the scenario's sweep block: run its base point only", 3},
    {0},
};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct run *r = ctx;
    switch (key) {
    case KEY_PROFILE: r->profile = true; return 0;
    case KEY_TRACE_FORMAT: r->trace_format = arg; return 0;
    case KEY_NO_SWEEP: r->no_sweep = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* -1 = go on, else the exit code. */
static int read_options(struct run *r, int argc, char **argv)
{
    struct cli_spec spec = {
        .usage = "SCENARIO|PRESET",
        .doc = "Simulate a scenario, replicate until the interval is narrow enough, print the summary.\v"
               "A preset is a shipped workload (wakebal list workloads) on the default machine and kernel.\n"
               "Examples:\n"
               "  wakebal run pipe\n"
               "  wakebal run pipe -m itanium2-tiger4 -k linux-2.6.11 --vary workload.message=4KiB,64KiB\n"
               "  wakebal run hog --profile --export-json -\n",
        .groups = CLI_SCENARIO | CLI_MEASURE | CLI_SWEEP | CLI_EXPORT | CLI_RUNS | CLI_TRACE | CLI_OUTPUT,
        .own = own,
        .own_parse = parse_own,
        .own_ctx = r,
        .missing = "For example: wakebal run pipe, or: wakebal run hackbench.\n"
                   "What there is: wakebal list workloads, wakebal list cases.  Options: wakebal run --help",
        .surplus =
            "The command line of the real tool goes in whole: wakebal run hackbench --set 'workload.from_cmd=hackbench "
            "10 process 100'",
        .args_min = 1,
        .args_max = 2};
    sim_time from, to;
    int rc = cli_options_parse(&spec, argc, argv, &r->o);
    if (rc >= 0) return rc;
    if (r->o.arg_n == 2 && !r->o.trace)
        return cli_usage_error(argv[0], "With --trace a second argument names the trace file",
                               "'%.200s' is one argument too many", r->o.arg[1]);
    if (r->trace_format && strcmp(r->trace_format, "ftrace"))
        return cli_usage_error(argv[0], "Only ftrace so far", "--trace-format '%.60s' is not known", r->trace_format);
    rc = preflight_fail_if(&r->o, NULL);
    return rc ? rc : run_trace_window(&r->o, &from, &to);
}

/* ------------------------------------------------------------------ preparing */
static int make_axes(struct run *r)
{
    const struct cli_options *o = &r->o;
    struct wb_place nowhere = {0};
    int bad = 0;
    r->axes = wb_axes_new(r->keys);
    for (size_t i = 0; i < o->vary_n; i++) bad |= wb_axes_add(r->axes, o->vary[i], nowhere, r->d);
    if (!r->no_sweep) bad |= wb_axes_add_config(r->axes, wb_scenario_config(r->s), r->d);
    for (size_t i = 0; i < o->zip_n; i++) bad |= wb_axes_zip(r->axes, o->zip[i], nowhere, r->d);
    for (size_t i = 0; i < o->where_n; i++) bad |= wb_axes_where(r->axes, o->where[i], nowhere, r->d);
    return bad ? EXIT_INVALID : EXIT_FINE;
}

static int prepare(struct run *r)
{
    struct wb_overrides over = cli_overrides(&r->o);
    r->s = wb_scenario_load(r->o.arg[0], r->keys, &over, r->d);
    if (!r->s) {
        preflight_more(r->o.arg[0], r->keys, &over, r->d);
        return EXIT_INVALID;
    }
    int rc = make_axes(r);
    if (rc) return rc;
    r->points = exp_points_new(r->s, r->axes, r->d);
    if (!r->points) return EXIT_INVALID;
    if (r->points->n) return EXIT_FINE;
    if (!r->o.where_n) {
        preflight_no_points(r->points, r->s, r->d);
        preflight_base(r->s, r->d);
        return EXIT_INVALID;
    }
    return cli_usage_error("wakebal run", "Relax --where, or the scenario's sweep.where",
                           "no point is left: all %zu fail a `where`", r->points->left_out);
}

/* Where the trace goes, or NULL. */
static const char *trace_path(const struct run *r)
{
    if (!r->o.trace) return NULL;
    return r->o.arg_n == 2 ? r->o.arg[1] : r->o.output ? r->o.output : "trace.txt";
}

/* -o without --trace: a folder that takes the result in every form that no option names. */
static int make_folder(struct run *r)
{
    static const char *const name[] = {"result.json", "result.csv", "result.md"};
    const char **to[] = {&r->o.export_json, &r->o.export_csv, &r->o.export_markdown};
    const char *folder = r->o.output;
    if (!folder || r->o.trace) return EXIT_FINE;
    int rc = preflight_output_name("wakebal run", folder, false);
    if (rc) return rc;
    if (mkdir(folder, 0777) && errno != EEXIST) {
        char *safe = exp_text_terminal(folder, 200);
        fprintf(stderr, "wakebal: cannot make the folder '%s': %s\nNothing was run.\n", safe, strerror(errno));
        free(safe);
        return EXIT_OUTPUT;
    }
    for (size_t i = 0; i < WB_ARRAY_SIZE(name); i++) {
        if (*to[i]) continue;
        int n = asprintf(&r->in_folder[i], "%s/%s", folder, name[i]);
        WB_MEMORY(n >= 0, "out of memory for a path");
        *to[i] = r->in_folder[i];
    }
    return EXIT_FINE;
}

/* What only the models and the results know, and whether files can be written: before minutes are spent. */
static int look_ahead(struct run *r)
{
    const struct cli_options *o = &r->o;
    bool own_axes = !o->vary_n && !o->where_n && !o->zip_n && !r->no_sweep && !o->set_n && !o->machine && !o->kernel;
    struct exp_check *k = preflight_points(r->points, own_axes, r->d);
    int rc = wb_diag_count(r->d, WB_ERROR) ? EXIT_INVALID : EXIT_FINE, bad = preflight_fail_if(o, k);
    exp_check_free(k);
    if (rc || bad) return rc ? rc : bad;
    rc = make_folder(r);
    if (rc) return rc;
    const char *const more[] = {trace_path(r), NULL}, *const inputs[] = {wb_scenario_path(r->s), NULL};
    return preflight_outputs("wakebal run", o, more, inputs);
}

static int print_config(const struct run *r)
{
    char *text = wb_cfg_print(wb_scenario_config(r->s));
    WB_MEMORY(text, "out of memory for the configuration");
    fputs(text, stdout);
    free(text);
    return EXIT_FINE;
}

static int print_plan(const struct run *r)
{
    const struct exp_points *p = r->points;
    long long min = wb_cfg_int(p->point[0].cfg, "run.replications.min"),
              max = wb_cfg_int(p->point[0].cfg, "run.replications.max");
    printf("%zu point%s, ", p->n, p->n == 1 ? "" : "s");
    if (min < max) printf("%lld to ", min);
    printf("%lld replication%s each", max, max == 1 ? "" : "s");
    if (p->left_out) printf(" (%zu left out by `where`)", p->left_out);
    putchar('\n');
    for (size_t i = 0; i < p->n; i++) {
        char *label = exp_text_terminal(*p->label[i] ? p->label[i] : wb_scenario_name(r->s), 0);
        printf("  %s\n", label);
        free(label);
    }
    return EXIT_FINE;
}

/* ------------------------------------------------------------------ running */
static void on_progress(void *ctx, const struct exp_progress *now)
{
    out_progress_step(&((struct run *)ctx)->progress, now);
}

static void on_simulation(void *ctx, size_t point, struct wb_sim *s, const struct wb_result *res)
{
    struct run *r = ctx;
    (void)res;
    if (!point) run_facts_take(&r->facts, s);
}

static int simulate(struct run *r)
{
    struct exp_options opt = {.registry = cli_models(),
                              .jobs = r->o.jobs,
                              .stop = &out_stop,
                              .progress = on_progress,
                              .inspect = on_simulation,
                              .ctx = r};
    out_catch_signals();
    out_progress_init(&r->progress, &r->o, "points");
    int rc = exp_points_warmup(r->points, r->s, &opt, r->d);
    if (!rc && !out_stop) r->study = exp_run(r->points->point, r->points->n, &opt, r->d);
    out_progress_end(&r->progress);
    if (rc || (!r->study && !out_stop)) return EXIT_INVALID;
    return EXIT_FINE;
}

/* ------------------------------------------------------------------ output */
static bool goal_missed(const struct exp_study *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->result[i] && !s->result[i]->goal_reached) return true;
    return false;
}

static size_t finished(const struct exp_study *s)
{
    size_t n = 0;
    for (size_t i = 0; s && i < s->n; i++) n += s->result[i] ? s->result[i]->replications : 0;
    return n;
}

static int say_interrupted(const struct run *r)
{
    size_t n = finished(r->study);
    if (n)
        fprintf(stderr, "wakebal run: interrupted; %zu complete replication%s reported, nothing is judged\n", n,
                n == 1 ? " is" : "s are");
    else
        fprintf(stderr, "wakebal run: interrupted before any replication was complete: there is nothing to report\n");
    return out_stop_exit_code();
}

static int report(struct run *r)
{
    bool data_on_stdout = r->o.trace && r->o.arg_n == 2 && !strcmp(r->o.arg[1], "-");
    struct run_view v = {.o = &r->o,
                         .scenario = r->o.arg[0],
                         .study = r->study,
                         .points = r->points,
                         .facts = &r->facts,
                         .profile = r->profile};
    if (r->o.export_json) exp_costs_attach(r->study, r->points->point);
    int rc = study_write_exports(&r->o, r->study, wb_axes_count(r->axes) > 0, &data_on_stdout, r->manifest);
    if (!rc) rc = study_write_manifest(&r->o, r->study, r->manifest);
    bool one = r->study->n == 1 && r->study->result[0] && !wb_axes_count(r->axes);
    if (!data_on_stdout && one) run_print_summary(&v);
    if (!data_on_stdout && !one) run_print_sweep(&v);
    if (r->o.trace && !rc && !out_stop) {
        rc = run_write_trace(&r->o, r->points->point[0].cfg, cli_models(), trace_path(r), r->d);
    }
    if (rc) return rc;
    if (r->study->interrupted) return say_interrupted(r);
    rc = run_check_expectations(&v, r->d);
    return rc ? rc : goal_missed(r->study) ? EXIT_PRECISION : EXIT_FINE;
}

static int run(struct run *r)
{
    int rc = prepare(r);
    if (rc) return rc;
    if (r->o.print_config) return print_config(r);
    rc = look_ahead(r);
    if (rc) return rc;
    if (r->o.dry_run) return print_plan(r);
    rc = simulate(r);
    if (rc) return rc;
    return finished(r->study) ? report(r) : say_interrupted(r);
}

int verb_run(int argc, char **argv)
{
    struct run r = {.profile = false};
    cli_options_init(&r.o);
    int rc = read_options(&r, argc, argv);
    if (rc < 0) {
        char *model = r.o.manifest ? study_model_with(r.o.plugin) : NULL;
        if (r.o.manifest) r.manifest = study_manifest_open(argc, argv, model ? model : study_model());
        free(model);
        r.keys = cli_keys_new();
        r.d = wb_diag_new();
        rc = run(&r);
        int bad = cli_print_diag(&r.o, r.d);
        if (!rc) rc = bad;
        exp_study_free(r.study);
        exp_points_free(r.points);
        wb_axes_free(r.axes);
        wb_scenario_free(r.s);
        study_manifest_close(r.manifest);
        for (size_t i = 0; i < WB_ARRAY_SIZE(r.in_folder); i++) free(r.in_folder[i]);
        wb_diag_free(r.d);
        wb_keys_free(r.keys);
    }
    cli_options_free(&r.o);
    return rc;
}
