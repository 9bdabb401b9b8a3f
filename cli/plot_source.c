#include "plot_source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "case.h"
#include "exit_code.h"
#include "exp_export.h"
#include "exp_file.h"
#include "exp_format.h"
#include "exp_points.h"
#include "output.h"
#include "preflight.h"
#include "registry.h"
#include "study.h"
#include "study_cli.h"

/* ------------------------------------------------------------------ files */
static json_t *document_of(struct exp_result *const *result, size_t n, bool list)
{
    if (!list && n == 1 && result[0]) return exp_json_result(result[0], false);
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++)
        if (result[i]) json_array_append_new(a, exp_json_result(result[i], false));
    return json_pack("{s:s,s:o}", "schema", "wakebal.results/1", "results", a);
}

static json_t *load_json(const char *path)
{
    json_error_t e;
    json_t *doc = exp_json_load(path, &e);
    const char *schema = json_string_value(json_object_get(doc, "schema"));
    if (doc && plot_kind_for(doc) != PLOT_KINDS) return doc;
    char *name = exp_text_terminal(path, 200), *shown = exp_text_terminal(schema ? schema : "missing", 60);
    if (!doc && e.line > 0)
        fprintf(stderr, "%s:%d:%d: error: %s\n", name, e.line, e.column, e.text);
    else if (!doc)
        fprintf(stderr, "wakebal plot: %s\nMake one with `wakebal run SCENARIO --export-json %s'\n", e.text, name);
    else
        fprintf(stderr,
                "wakebal plot: '%s' is nothing that can be drawn (schema %s); results, validations and cases are made "
                "by --export-json of run, sweep, validate and reproduce\n",
                name, shown);
    free(name);
    free(shown);
    json_decref(doc);
    return NULL;
}

static json_t *load_study(const char *path, int *rc)
{
    struct store_fault f = {.kind = STORE_FINE};
    struct study_loaded *l = study_load(path, &f);
    if (!l) {
        *rc = study_report_fault("wakebal plot", &f);
        return NULL;
    }
    json_t *doc = document_of(l->study->result, l->points, true);
    study_loaded_free(l);
    return doc;
}

json_t *plot_source_file(const char *path, int *rc)
{
    char *file = study_file_to_read(path);
    *rc = EXIT_INVALID;
    json_t *doc = study_is_file(file) ? load_study(file, rc) : load_json(path);
    free(file);
    return doc;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

bool plot_source_is_file(const char *path)
{
    char *file = study_file_to_read(path);
    struct stat st;
    bool study = ends_in(path, ".db") || (strcmp(file, path) && !stat(file, &st)) || study_is_file(file);
    bool pipe = !stat(path, &st) && S_ISFIFO(st.st_mode); /* no scenario is read from one */
    free(file);
    return study || pipe || ends_in(path, ".json");
}

/* ------------------------------------------------------------------ scenarios */
struct running {
    const struct plot_source *s;
    struct out_progress progress;
};

static void on_progress(void *ctx, const struct exp_progress *now)
{
    out_progress_step(&((struct running *)ctx)->progress, now);
}

static json_t *run_points(struct running *w, struct wb_scenario *s, struct wb_axes *axes, struct wb_diag *d)
{
    const struct cli_options *o = w->s->o;
    struct exp_options opt = {
        .registry = cli_models(), .jobs = o->jobs, .stop = &out_stop, .progress = on_progress, .ctx = w};
    struct exp_points *p = exp_points_new(s, axes, d);
    json_t *doc = NULL;
    if (!p) return NULL;
    if (!p->n) preflight_no_points(p, s, d);
    if (p->n) exp_check_free(preflight_points(p, false, d));
    if (wb_diag_count(d, WB_ERROR)) {
        exp_points_free(p);
        return NULL;
    }
    out_catch_signals();
    out_progress_init(&w->progress, o, "points");
    if (!exp_points_warmup(p, s, &opt, d)) {
        struct exp_study *study = exp_run(p->point, p->n, &opt, d);
        if (study && !out_stop) doc = document_of(study->result, study->n, wb_axes_count(axes) > 0);
        exp_study_free(study);
    }
    out_progress_end(&w->progress);
    exp_points_free(p);
    return doc;
}

static int make_axes(const struct cli_options *o, struct wb_axes *axes, const struct wb_scenario *s, struct wb_diag *d)
{
    struct wb_place nowhere = {0};
    int bad = 0;
    for (size_t i = 0; i < o->vary_n; i++) bad |= wb_axes_add(axes, o->vary[i], nowhere, d);
    bad |= wb_axes_add_config(axes, wb_scenario_config(s), d);
    for (size_t i = 0; i < o->zip_n; i++) bad |= wb_axes_zip(axes, o->zip[i], nowhere, d);
    for (size_t i = 0; i < o->where_n; i++) bad |= wb_axes_where(axes, o->where[i], nowhere, d);
    return bad;
}

json_t *plot_source_results(const struct plot_source *source, int *rc)
{
    struct running w = {.s = source};
    struct wb_key_registry *keys = cli_keys_new();
    struct wb_diag *d = wb_diag_new();
    struct wb_overrides over = cli_overrides(source->o);
    struct wb_scenario *s = wb_scenario_load(source->o->arg[0], keys, &over, d);
    struct wb_axes *axes = wb_axes_new(keys);
    json_t *doc = s && !make_axes(source->o, axes, s, d) ? run_points(&w, s, axes, d) : NULL;
    if (cli_print_diag(source->o, d) && !s)
        fprintf(stderr,
                "A picture is drawn of a scenario, of a study, or of a file (.json) of `wakebal run --export-json'.\n");
    *rc = out_stop ? out_stop_exit_code() : EXIT_INVALID;
    wb_axes_free(axes);
    wb_scenario_free(s);
    wb_diag_free(d);
    wb_keys_free(keys);
    return doc;
}

json_t *plot_source_case(const struct plot_source *source, int *rc)
{
    struct running w = {.s = source};
    struct wb_key_registry *keys = cli_keys_new();
    struct wb_diag *d = wb_diag_new();
    struct wb_overrides over = cli_overrides(source->o);
    struct case_file *c = case_load(source->o->arg[0], keys, &over, d);
    struct exp_options opt = {
        .registry = cli_models(), .jobs = source->o->jobs, .stop = &out_stop, .progress = on_progress, .ctx = &w};
    json_t *doc = NULL;
    *rc = EXIT_INVALID;
    if (c) {
        out_catch_signals();
        out_progress_init(&w.progress, source->o, "variants");
        int bad = case_run(c, &opt, true, d);
        out_progress_end(&w.progress);
        if (c->interrupted) *rc = out_stop_exit_code();
        if (!bad && !c->interrupted) doc = case_json(&c, 1);
    }
    (void)cli_print_diag(source->o, d);
    if (c) case_free(c);
    wb_diag_free(d);
    wb_keys_free(keys);
    return doc;
}
