/*
 * verb_report.c - `wakebal report INPUT... -o FILE.html`: one self-contained file for those who were not there.
 *
 * An input is a result, a validation or published cases as JSON, a manifest, a study, or a scenario, which is
 * simulated first. Everything is read and checked before anything is written.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit_code.h"
#include "exp_costs.h"
#include "exp_export.h"
#include "exp_file.h"
#include "exp_format.h"
#include "exp_points.h"
#include "output.h"
#include "preflight.h"
#include "registry.h"
#include "report.h"
#include "study.h"
#include "study_cli.h"
#include "verbs.h"

#define INPUTS_MOST 64

static const char verb[] = "wakebal report";

struct reporting {
    struct cli_options o;
    const char *title;
    bool no_sweep;
    struct report_input *input;
    char **command, *path;
    size_t n;
    struct out_progress progress;
};

enum { KEY_TITLE = 0x1000, KEY_NO_SWEEP };
static const struct argp_option own[] = {
    {"title", KEY_TITLE, "TEXT", 0, "Title of the page (default: the scenario's)", 4},
    {"no-sweep", KEY_NO_SWEEP, NULL, 0, "Ignore the scenario's sweep block: run its base point only", 3},
    {0},
};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct reporting *w = ctx;
    switch (key) {
    case KEY_TITLE: w->title = arg; return 0;
    case KEY_NO_SWEEP: w->no_sweep = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int read_options(struct reporting *w, int argc, char **argv)
{
    struct cli_spec spec = {
        .usage = "INPUT...",
        .doc =
            "Write one self-contained HTML file: what was asked, verdict, pictures, tables, where every cost comes "
            "from, how to repeat it. It needs no network and opens in any browser.\v"
            "An input is a result, validation or cases file (JSON of --export-json), a manifest, a study (a file or\n"
            "folder of `wakebal sweep'), or a scenario, which is simulated first.\n"
            "Examples:\n"
            "  wakebal report pipe -o pipe.html\n"
            "  wakebal report study.db -o study.html\n"
            "  wakebal reproduce --export-json cases.json; wakebal report cases.json -o cases.html\n",
        .groups = CLI_SCENARIO | CLI_MEASURE | CLI_SWEEP | CLI_OUTPUT,
        .own = own,
        .own_parse = parse_own,
        .own_ctx = w,
        .missing = "For example: wakebal report pipe, or: wakebal report result.json -o result.html.  Options: wakebal "
                   "report --help",
        .args_min = 1,
        .args_max = INPUTS_MOST};
    return cli_options_parse(&spec, argc, argv, &w->o);
}

/* ------------------------------------------------------------------ inputs that are files */
static bool has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name), k = strlen(ending);
    return n > k && !strcmp(name + n - k, ending);
}

static json_t *load_json(const char *path)
{
    json_error_t e;
    json_t *doc = exp_json_load(path, &e);
    char *name = exp_text_terminal(path, 200);
    if (!doc && e.line > 0) {
        char *text = exp_text_terminal(e.text, 200);
        fprintf(stderr, "%s:%d:%d: error: %s\n", name, e.line, e.column, text);
        free(text);
    } else if (!doc) {
        fprintf(stderr, "%s: '%s' cannot be read\nMake one with `wakebal run SCENARIO --export-json FILE'\n", verb,
                name);
    } else if (report_kind_of(doc) == REPORT_UNKNOWN) {
        fprintf(stderr, "%s: '%s' is no result, validation, cases or manifest file of wakebal\n", verb, name);
        json_decref(doc);
        doc = NULL;
    }
    free(name);
    return doc;
}

static json_t *results_of(const struct exp_study *study)
{
    json_t *list = json_array();
    for (size_t i = 0; i < study->n; i++)
        if (study->result[i]) json_array_append_new(list, exp_json_result(study->result[i], false));
    return list;
}

static json_t *text_json(const char *text)
{
    json_t *v = text ? json_loads(text, 0, NULL) : NULL;
    return v ? v : json_null();
}

static json_t *load_study(const char *path, int *rc)
{
    struct store_fault f = {.kind = STORE_FINE};
    struct study_loaded *l = study_load(path, &f);
    if (!l) {
        *rc = study_report_fault(verb, &f);
        return NULL;
    }
    json_t *doc =
        json_pack("{s:s,s:o,s:o,s:b,s:I,s:o,s:o,s:o}", "schema", "wakebal.study/1", "name", exp_json_text(l->name),
                  "model", exp_json_text(l->model), "judged", (int)l->judged, "points", (json_int_t)l->points,
                  "results", results_of(l->study), "costs", text_json(l->costs), "manifest", text_json(l->manifest));
    study_loaded_free(l);
    return doc;
}

/* ------------------------------------------------------------------ a scenario is simulated */
static void on_progress(void *ctx, const struct exp_progress *now)
{
    out_progress_step(&((struct reporting *)ctx)->progress, now);
}

static json_t *run_points(struct reporting *w, struct exp_points *p, struct wb_scenario *s, bool sweep,
                          struct wb_diag *d)
{
    struct exp_options opt = {
        .registry = cli_models(), .jobs = w->o.jobs, .stop = &out_stop, .progress = on_progress, .ctx = w};
    json_t *doc = NULL;
    out_catch_signals();
    out_progress_init(&w->progress, &w->o, "points");
    struct exp_study *study = exp_points_warmup(p, s, &opt, d) ? NULL : exp_run(p->point, p->n, &opt, d);
    out_progress_end(&w->progress);
    if (study && !out_stop) {
        exp_costs_attach(study, p->point);
        json_t *list = results_of(study);
        doc = !sweep && json_array_size(list) == 1
                  ? json_incref(json_array_get(list, 0))
                  : json_pack("{s:s,s:O}", "schema", "wakebal.results/1", "results", list);
        json_decref(list);
    }
    exp_study_free(study);
    return doc;
}

static int make_axes(const struct reporting *w, struct wb_axes *axes, const struct wb_scenario *s, struct wb_diag *d)
{
    struct wb_place nowhere = {0};
    int bad = 0;
    for (size_t i = 0; i < w->o.vary_n; i++) bad |= wb_axes_add(axes, w->o.vary[i], nowhere, d);
    if (!w->no_sweep) bad |= wb_axes_add_config(axes, wb_scenario_config(s), d);
    for (size_t i = 0; i < w->o.zip_n; i++) bad |= wb_axes_zip(axes, w->o.zip[i], nowhere, d);
    for (size_t i = 0; i < w->o.where_n; i++) bad |= wb_axes_where(axes, w->o.where[i], nowhere, d);
    return bad;
}

static json_t *simulate(struct reporting *w, const char *name, int *rc)
{
    struct wb_key_registry *keys = cli_keys_new();
    struct wb_diag *d = wb_diag_new();
    struct wb_overrides over = cli_overrides(&w->o);
    struct wb_scenario *s = wb_scenario_load(name, keys, &over, d);
    struct wb_axes *axes = wb_axes_new(keys);
    struct exp_points *p = s && !make_axes(w, axes, s, d) ? exp_points_new(s, axes, d) : NULL;
    if (p && !p->n) preflight_no_points(p, s, d);
    if (p && p->n) exp_check_free(preflight_points(p, false, d));
    json_t *doc = p && p->n && !wb_diag_count(d, WB_ERROR) ? run_points(w, p, s, wb_axes_count(axes) > 0, d) : NULL;
    *rc = cli_print_diag(&w->o, d);
    if (!doc && out_stop) *rc = out_stop_exit_code();
    if (!doc && !*rc) *rc = EXIT_INVALID;
    exp_points_free(p);
    wb_axes_free(axes);
    wb_scenario_free(s);
    wb_diag_free(d);
    wb_keys_free(keys);
    return doc;
}

/* ------------------------------------------------------------------ the page */
static const char *leaf(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* "wakebal run pipe --set ..." as the user gave it; scenarios only. Malloc'd. */
static char *command_of(const struct reporting *w, const char *name)
{
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    WB_MEMORY(f, "out of memory for a report");
    fprintf(f, "wakebal run %s", name);
    if (w->o.machine) fprintf(f, " --machine %s", w->o.machine);
    if (w->o.kernel) fprintf(f, " --kernel %s", w->o.kernel);
    for (size_t i = 0; i < w->o.set_n; i++) fprintf(f, " --set '%s=%s'", w->o.set[i].key, w->o.set[i].value);
    for (size_t i = 0; i < w->o.vary_n; i++) fprintf(f, " --vary '%s'", w->o.vary[i]);
    for (size_t i = 0; i < w->o.zip_n; i++) fprintf(f, " --zip '%s'", w->o.zip[i]);
    for (size_t i = 0; i < w->o.where_n; i++) fprintf(f, " --where '%s'", w->o.where[i]);
    if (w->no_sweep) fputs(" --no-sweep", f);
    fclose(f);
    return text;
}

static char *command_for(const struct reporting *w, const json_t *doc, const char *arg, bool scenario)
{
    if (scenario) return command_of(w, arg);
    switch (report_kind_of(doc)) {
    case REPORT_RUN: return strdup("wakebal run SCENARIO --export-json FILE --manifest MANIFEST");
    case REPORT_VALIDATION:
        return strdup("wakebal calibrate -o me && wakebal validate --calibration me --export-json FILE");
    case REPORT_CASES: return strdup("wakebal reproduce --export-json FILE");
    default: return NULL;
    }
}

/* By name, or by its first letter: no scenario begins with a brace. */
static bool is_json(const char *arg)
{
    char first[2] = "";
    struct stat st;
    if (has_ending(arg, ".json")) return true;
    FILE *f = stat(arg, &st) || !S_ISREG(st.st_mode) ? NULL : fopen(arg, "re");
    if (!f) return false;
    bool brace = fscanf(f, " %1s", first) == 1 && *first == '{';
    fclose(f);
    return brace;
}

static int add_input(struct reporting *w, const char *arg)
{
    int rc = EXIT_INVALID;
    struct stat st;
    bool scenario = false;
    char *study = study_file_to_read(arg);
    json_t *doc;
    if (is_json(arg)) {
        doc = load_json(arg);
    } else if (study_is_file(study) || has_ending(arg, ".db") || (!stat(arg, &st) && S_ISDIR(st.st_mode))) {
        doc = load_study(study, &rc);
    } else {
        doc = simulate(w, arg, &rc);
        scenario = true;
    }
    free(study);
    if (!doc) return rc;
    w->command[w->n] = command_for(w, doc, arg, scenario);
    w->input[w->n] = (struct report_input){.doc = doc, .name = leaf(arg), .command = w->command[w->n]};
    w->n++;
    return EXIT_FINE;
}

static int write_page(FILE *to, void *ctx)
{
    return report_write(to, ctx);
}

/* "study/" -> study.html here, when no -o says otherwise. */
static void choose_path(struct reporting *w)
{
    const char *arg = leaf(w->o.arg[0]), *dot = strrchr(arg, '.');
    int len = dot && dot != arg ? (int)(dot - arg) : (int)strcspn(arg, "/");
    if (w->o.output)
        w->path = strdup(w->o.output);
    else if (asprintf(&w->path, "%.*s.html", len, arg) < 0)
        w->path = NULL;
    WB_MEMORY(w->path, "out of memory for a path");
}

static int make_report(struct reporting *w)
{
    choose_path(w);
    const char *const more[] = {w->path, NULL}, *inputs[INPUTS_MOST + 1] = {NULL};
    for (size_t i = 0; i < w->o.arg_n; i++) inputs[i] = w->o.arg[i];
    struct cli_options none = {.quiet = w->o.quiet};
    int rc = preflight_outputs(verb, &none, more, inputs);
    for (size_t i = 0; !rc && i < w->o.arg_n; i++) rc = add_input(w, w->o.arg[i]);
    if (rc) return rc;
    struct report r = {.input = w->input, .n = w->n, .title = w->title, .version = WB_VERSION};
    rc = out_file(w->path, write_page, &r);
    if (!rc && !w->o.quiet && strcmp(w->path, "-")) {
        char *name = exp_text_terminal(w->path, 200);
        fprintf(stderr, "Report: %s (open it in a browser; it needs nothing else)\n", name);
        free(name);
    }
    return rc;
}

int verb_report(int argc, char **argv)
{
    struct reporting w = {.n = 0};
    cli_options_init(&w.o);
    int rc = read_options(&w, argc, argv);
    if (rc < 0) {
        w.input = calloc(w.o.arg_n + 1, sizeof *w.input);
        w.command = calloc(w.o.arg_n + 1, sizeof *w.command);
        WB_MEMORY(w.input && w.command, "out of memory for a report");
        rc = make_report(&w);
        for (size_t i = 0; i < w.n; i++) {
            json_decref((json_t *)w.input[i].doc);
            free(w.command[i]);
        }
        free(w.input);
        free(w.command);
        free(w.path);
    }
    cli_options_free(&w.o);
    return rc;
}
