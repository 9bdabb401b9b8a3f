/*
 * verb_plot.c - `wakebal plot RESULT.json|SCENARIO --kind windows|bars|cdf`.
 *
 * A result file is drawn as it is; a scenario is simulated first, with its axes. The picture, its data and
 * the script that draws it again lie side by side.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit_code.h"
#include "exp_export.h"
#include "exp_format.h"
#include "exp_points.h"
#include "output.h"
#include "preflight.h"
#include "registry.h"
#include "reproduce_plot.h"
#include "verbs.h"

struct drawing {
    struct cli_options o;
    struct plot_options p;
    const char *kind, *format;
    struct out_progress progress;
};

enum { KEY_KIND = 0x1000, KEY_FORMAT, KEY_TERMINAL, KEY_METRIC, KEY_TITLE };
static const struct argp_option own[] = {
    {"kind", KEY_KIND, "windows|bars|cdf", 0,
     "What to draw: a figure and the share of time together over windows of time; means with intervals; "
     "the distribution of a latency (default: windows, or bars of several points)",
     4},
    {"format", KEY_FORMAT, "png|svg|terminal", 0, "Kind of picture (default png)", 4},
    {"terminal", KEY_TERMINAL, NULL, 0, "The same as --format terminal: draw here, keep no files unless -o is given",
     4},
    {"metric", KEY_METRIC, "NAME", 0, "Figure to draw (default: the deciding one; wake_latency for cdf)", 4},
    {"title", KEY_TITLE, "TEXT", 0, "Title (default: the scenario's)", 4},
    {0},
};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct drawing *w = ctx;
    switch (key) {
    case KEY_KIND: w->kind = arg; return 0;
    case KEY_FORMAT: w->format = arg; return 0;
    case KEY_TERMINAL: w->format = "terminal"; return 0;
    case KEY_METRIC: w->p.metric = arg; return 0;
    case KEY_TITLE: w->p.title = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Index of a word in a list; -1 = none (told). */
static int find_word(const char *option, const char *word, const char *const *list, size_t n)
{
    char hint[96];
    for (size_t i = 0; i < n; i++)
        if (!strcmp(word, list[i])) return (int)i;
    const char *near = wb_nearest(word, list, n);
    snprintf(hint, sizeof hint, "%s%s%sOne of: %s, %s, %s", near ? "Did you mean '" : "", near ? near : "",
             near ? "'?  " : "", list[0], list[1], list[2]);
    (void)cli_usage_error("wakebal plot", hint, "%s '%.60s' is not known", option, word);
    return -1;
}

/* -1 = go on, else the exit code. */
static int read_options(struct drawing *w, int argc, char **argv)
{
    struct cli_spec spec = {
        .usage = "RESULT.json|SCENARIO",
        .doc = "Draw a picture of a result file (wakebal run --export-json), or of a scenario that is simulated first.",
        .groups = CLI_SCENARIO | CLI_MEASURE | CLI_SWEEP | CLI_OUTPUT,
        .own = own,
        .own_parse = parse_own,
        .own_ctx = w,
        .args_min = 1,
        .args_max = 1};
    int rc = cli_options_parse(&spec, argc, argv, &w->o);
    if (rc >= 0) return rc;
    int format = find_word("--format", w->format ? w->format : "png", plot_format_name, PLOT_FORMATS);
    int kind = w->kind ? find_word("--kind", w->kind, plot_kind_name, PLOT_KINDS) : PLOT_WINDOWS;
    if (format < 0 || kind < 0) return EXIT_USAGE;
    w->p.format = (enum plot_format)format;
    w->p.kind = (enum plot_kind)kind;
    return -1;
}

/* ------------------------------------------------------------------ where the document comes from */
static json_t *load_result(const char *path)
{
    json_error_t e;
    json_t *doc = json_load_file(path, 0, &e);
    const char *schema = json_string_value(json_object_get(doc, "schema"));
    if (doc && schema && !strncmp(schema, "wakebal.result", 14)) return doc;
    char *name = exp_text_terminal(path, 200);
    if (!doc && e.line > 0)
        fprintf(stderr, "%s:%d:%d: error: %s\n", name, e.line, e.column, e.text);
    else if (!doc)
        fprintf(stderr, "wakebal plot: %s\nMake one with `wakebal run SCENARIO --export-json %s'\n", e.text, name);
    else
        fprintf(stderr, "wakebal plot: '%s' is no result of `wakebal run --export-json` (schema %s)\n", name,
                schema ? schema : "missing");
    free(name);
    json_decref(doc);
    return NULL;
}

static void on_progress(void *ctx, const struct exp_progress *now)
{
    out_progress_step(&((struct drawing *)ctx)->progress, now);
}

static json_t *document_of(struct exp_study *study, bool sweep)
{
    json_t *list = json_array();
    if (!sweep && study->n == 1 && study->result[0]) {
        json_decref(list);
        return exp_json_result(study->result[0], false);
    }
    for (size_t i = 0; i < study->n; i++)
        if (study->result[i]) json_array_append_new(list, exp_json_result(study->result[i], false));
    return json_pack("{s:s,s:o}", "schema", "wakebal.results/1", "results", list);
}

static json_t *run_points(struct drawing *w, struct wb_scenario *s, struct wb_axes *axes, struct wb_diag *d)
{
    struct exp_options opt = {
        .registry = cli_models(), .jobs = w->o.jobs, .stop = &out_stop, .progress = on_progress, .ctx = w};
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
    out_progress_init(&w->progress, &w->o, "points");
    if (!exp_points_warmup(p, s, &opt, d)) {
        struct exp_study *study = exp_run(p->point, p->n, &opt, d);
        if (study && !out_stop) doc = document_of(study, wb_axes_count(axes) > 0);
        exp_study_free(study);
    }
    out_progress_end(&w->progress);
    exp_points_free(p);
    return doc;
}

static int make_axes(const struct drawing *w, struct wb_axes *axes, const struct wb_scenario *s, struct wb_diag *d)
{
    struct wb_place nowhere = {0};
    int bad = 0;
    for (size_t i = 0; i < w->o.vary_n; i++) bad |= wb_axes_add(axes, w->o.vary[i], nowhere, d);
    bad |= wb_axes_add_config(axes, wb_scenario_config(s), d);
    for (size_t i = 0; i < w->o.zip_n; i++) bad |= wb_axes_zip(axes, w->o.zip[i], nowhere, d);
    for (size_t i = 0; i < w->o.where_n; i++) bad |= wb_axes_where(axes, w->o.where[i], nowhere, d);
    return bad;
}

static json_t *simulate(struct drawing *w)
{
    struct wb_key_registry *keys = cli_keys_new();
    struct wb_diag *d = wb_diag_new();
    struct wb_overrides over = cli_overrides(&w->o);
    struct wb_scenario *s = wb_scenario_load(w->o.arg[0], keys, &over, d);
    struct wb_axes *axes = wb_axes_new(keys);
    json_t *doc = s && !make_axes(w, axes, s, d) ? run_points(w, s, axes, d) : NULL;
    if (cli_print_diag(&w->o, d) && !s)
        fprintf(stderr,
                "A picture is drawn of a scenario, or of a result file (.json) of `wakebal run --export-json'.\n");
    wb_axes_free(axes);
    wb_scenario_free(s);
    wb_diag_free(d);
    wb_keys_free(keys);
    return doc;
}

/* ------------------------------------------------------------------ drawing */
static bool is_result_file(const char *arg)
{
    size_t n = strlen(arg);
    return n > 5 && !strcmp(arg + n - 5, ".json");
}

/* "dir/pipe.json" -> "pipe-windows" in the working folder. */
static void default_base(const struct drawing *w, char *buf, size_t n)
{
    const char *arg = w->o.arg[0], *slash = strrchr(arg, '/'), *stem = slash ? slash + 1 : arg,
               *dot = strrchr(stem, '.');
    int len = dot && dot != stem ? (int)(dot - stem) : (int)strlen(stem);
    snprintf(buf, n, "%.*s-%s", len, stem, plot_kind_name[w->p.kind]);
}

/* -o may name a folder (made when it ends in '/'), a file with its ending, or one without. */
static int choose_base(struct drawing *w, char *buf, size_t n)
{
    char name[512];
    struct stat st;
    const char *o = w->o.output;
    default_base(w, name, sizeof name);
    if (!o) {
        snprintf(buf, n, "%s", name);
        w->p.base = w->p.format == PLOT_TERMINAL ? NULL : buf;
        return EXIT_FINE;
    }
    size_t len = strlen(o);
    if (len && o[len - 1] == '/' && plot_make_folder(o)) return EXIT_OUTPUT;
    if (!stat(o, &st) && S_ISDIR(st.st_mode))
        snprintf(buf, n, "%s%s%s", o, len && o[len - 1] == '/' ? "" : "/", name);
    else if (len > 4 && (!strcmp(o + len - 4, ".png") || !strcmp(o + len - 4, ".svg")))
        snprintf(buf, n, "%.*s", (int)len - 4, o);
    else
        snprintf(buf, n, "%s", o);
    if (len > 4 && !strcmp(o + len - 4, ".svg") && !w->format) w->p.format = PLOT_SVG;
    w->p.base = buf;
    return EXIT_FINE;
}

static int draw(struct drawing *w)
{
    char base[4096], command[512];
    json_t *doc = is_result_file(w->o.arg[0]) ? load_result(w->o.arg[0]) : simulate(w);
    if (!doc) return out_stop ? out_stop_exit_code() : EXIT_INVALID;
    struct winsize ws;
    if (!w->kind && json_array_size(json_object_get(doc, "results")) > 1) w->p.kind = PLOT_BARS;
    if (isatty(1) && !ioctl(1, TIOCGWINSZ, &ws) && ws.ws_col >= 40) w->p.columns = ws.ws_col < 160 ? ws.ws_col : 160;
    snprintf(command, sizeof command, "wakebal plot %s --kind %s", w->o.arg[0], plot_kind_name[w->p.kind]);
    int rc = choose_base(w, base, sizeof base);
    w->p.command = command;
    w->p.terminal = stdout;
    w->p.colour = cli_color(&w->o, 1);
    w->p.unicode = cli_unicode(&w->o);
    if (!rc) rc = plot_and_tell(doc, &w->p, "wakebal plot");
    if (!rc && w->p.base && w->p.format != PLOT_TERMINAL && !w->o.quiet)
        fprintf(stderr, "Picture: %s.%s (with .gp and .dat)\n", w->p.base, plot_format_name[w->p.format]);
    json_decref(doc);
    return rc;
}

int verb_plot(int argc, char **argv)
{
    struct drawing w = {.kind = NULL};
    cli_options_init(&w.o);
    int rc = read_options(&w, argc, argv);
    if (rc < 0) rc = draw(&w);
    cli_options_free(&w.o);
    return rc;
}
