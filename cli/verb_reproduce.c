/*
 * verb_reproduce.c - `wakebal reproduce [CASE...]`: published beside simulated, with the verdict and its
 * honest class.
 *
 * Exit codes: 4 when a prediction fails; with --expected 4 when any verdict differs from the committed one,
 * in either direction, and 0 when all agree, failures included.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "exit_code.h"
#include "exp_export.h"
#include "exp_file.h"
#include "exp_format.h"
#include "output.h"
#include "preflight.h"
#include "registry.h"
#include "reproduce_plot.h"
#include "verbs.h"
#include "wrap.h"

#define WIDTH 100

struct reproduce {
    struct cli_options o;
    const char *expected, *write_expected, *plot;
    json_t *doc; /* what --expected holds */
    bool no_sensitivity;
    struct wb_key_registry *keys;
    struct wb_diag *d;
    struct case_file **c;
    size_t n;
    struct out_progress progress;
};

enum { KEY_EXPECTED = 0x1000, KEY_WRITE_EXPECTED, KEY_PLOT, KEY_NO_SENSITIVITY };
static const struct argp_option own[] = {
    {"expected", KEY_EXPECTED, "FILE", 0, "Compare with committed verdicts: 0 when all agree, 4 when one changed", 4},
    {"write-expected", KEY_WRITE_EXPECTED, "FILE", 0, "Write the verdicts to commit", 4},
    {"plot", KEY_PLOT, "DIR", 0, "Draw windows over time and bars of each case into this folder", 4},
    {"no-sensitivity", KEY_NO_SENSITIVITY, NULL, 0, "Do not try the plausible ranges of assumed costs", 2},
    {0},
};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct reproduce *r = ctx;
    switch (key) {
    case KEY_EXPECTED: r->expected = arg; return 0;
    case KEY_WRITE_EXPECTED: r->write_expected = arg; return 0;
    case KEY_PLOT: r->plot = arg; return 0;
    case KEY_NO_SENSITIVITY: r->no_sensitivity = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int read_options(struct reproduce *r, int argc, char **argv)
{
    struct cli_spec spec = {
        .usage = "[CASE...]",
        .doc =
            "Run published cases and judge each row: calibrates (was used to set a cost), consistency (follows from "
            "what was put in), predicts (nothing in the files knew it). Without a name all shipped cases are run.\v"
            "A prediction is undetermined when its interval straddles the bound, or when its verdict flips inside the "
            "plausible range of an assumed cost.\n",
        .groups = CLI_SCENARIO | CLI_MEASURE | CLI_EXPORT,
        .own = own,
        .own_parse = parse_own,
        .own_ctx = r,
        .args_min = 0,
        .args_max = SIZE_MAX};
    return cli_options_parse(&spec, argc, argv, &r->o);
}

/* ------------------------------------------------------------------ loading and running */
static void add_case(struct reproduce *r, const char *name)
{
    struct wb_overrides over = cli_overrides(&r->o);
    struct case_file *c = case_load(name, r->keys, &over, r->d);
    if (!c) return;
    r->c = realloc(r->c, (r->n + 1) * sizeof(struct case_file *));
    WB_MEMORY(r->c, "out of memory for cases");
    r->c[r->n++] = c;
}

/* All cases are checked before any runs. */
static int load_cases(struct reproduce *r)
{
    size_t n = 0;
    bool all = !r->o.arg_n || (r->o.arg_n == 1 && !strcmp(r->o.arg[0], "all"));
    char **shipped = all ? wb_scenario_list("cases", &n) : NULL;
    for (size_t i = 0; !all && i < r->o.arg_n; i++) add_case(r, r->o.arg[i]);
    for (size_t i = 0; i < n; i++) add_case(r, shipped[i]);
    if (shipped) wb_scenario_list_free(shipped);
    if (wb_diag_count(r->d, WB_ERROR)) return EXIT_INVALID;
    if (r->n) return EXIT_FINE;
    return cli_usage_error("wakebal reproduce", "Set WAKEBAL_PATH to a folder that holds cases/",
                           "no cases are on the search path");
}

static void on_progress(void *ctx, const struct exp_progress *now)
{
    out_progress_step(&((struct reproduce *)ctx)->progress, now);
}

static int run_cases(struct reproduce *r)
{
    struct exp_options opt = {
        .registry = cli_models(), .jobs = r->o.jobs, .stop = &out_stop, .progress = on_progress, .ctx = r};
    out_catch_signals();
    for (size_t i = 0; i < r->n; i++) {
        opt.stage = r->c[i]->name;
        out_progress_init(&r->progress, &r->o, "variants");
        int rc = case_run(r->c[i], &opt, !r->no_sensitivity, r->d);
        out_progress_end(&r->progress);
        if (rc) return EXIT_INVALID;
        if (!r->c[i]->interrupted) continue;
        fprintf(stderr, "wakebal reproduce: interrupted; %zu of %zu cases are complete\n", i, r->n);
        for (size_t k = i; k < r->n; k++) case_free(r->c[k]);
        r->n = i;
        return out_stop_exit_code();
    }
    return EXIT_FINE;
}

/* ------------------------------------------------------------------ the table */
static void published_text(const struct case_row *r, char *buf, size_t n)
{
    char lo[48], hi[48];
    exp_format_value(lo, sizeof lo, r->lo, r->unit);
    exp_format_value(hi, sizeof hi, r->hi, r->unit);
    if (!strcmp(r->unit, "1")) { /* bounds are round numbers */
        snprintf(lo, sizeof lo, "%g", r->lo);
        snprintf(hi, sizeof hi, "%g", r->hi);
    }
    if (r->direction)
        snprintf(buf, n, "%s %s", r->direction > 0 ? ">" : "<", lo);
    else if (!r->has_published)
        snprintf(buf, n, "-");
    else if (r->range)
        snprintf(buf, n, "%s .. %s", lo, hi);
    else
        snprintf(buf, n, "%s", lo);
}

/* "4.15 GB/s +-0.3 %": a share of the mean keeps the column narrow. */
static void simulated_text(const struct case_row *r, const char *pm, char *buf, size_t n)
{
    char mean[48];
    exp_format_value(mean, sizeof mean, r->sum.mean, r->unit);
    if (isfinite(r->sum.hi) && r->sum.mean != 0)
        snprintf(buf, n, "%s %s%.1f %%", mean, pm, 50 * (r->sum.hi - r->sum.lo) / fabs(r->sum.mean));
    else
        snprintf(buf, n, "%s", mean);
}

static void add_row(struct out_table *t, const struct case_row *r, const struct out_style *st)
{
    const char *colour[] = {st->dim, st->good, st->bad, st->warn};
    char published[112], simulated[112], tolerance[24] = "";
    published_text(r, published, sizeof published);
    simulated_text(r, st->plus_minus, simulated, sizeof simulated);
    if (r->tolerance > 0) snprintf(tolerance, sizeof tolerance, "%.3g %%", 100 * r->tolerance);
    const char *class = r->verdict == CASE_NONE ? "-" : case_class_name[r->class];
    const char *cell[] = {r->name, class, published, simulated, tolerance, case_verdict_name[r->verdict]};
    out_table_row(t, cell);
    out_table_colour(t, 5, colour[r->verdict]);
}

static void print_wrapped(const char *head, const char *text)
{
    if (!text) return;
    char *s = exp_text_terminal(text, 0);
    wrap_row(stdout, head, s, strlen(head), WIDTH);
    free(s);
}

static void print_why(const struct case_file *c)
{
    for (size_t i = 0; i < c->nrows; i++) {
        const struct case_row *r = &c->row[i];
        char text[512];
        if (r->finding && r->verdict == CASE_PASS) print_wrapped("  found: ", r->finding);
        if (r->flips) {
            snprintf(text, sizeof text, "'%s' flips inside a plausible range: %s", r->name, r->flips);
            print_wrapped("  undetermined: ", text);
        } else if (r->disputed) {
            snprintf(text, sizeof text, "'%s': readings of '%s' differ in their verdicts", r->name, r->reading_of);
            print_wrapped("  undetermined: ", text);
        } else if (r->verdict == CASE_UNDETERMINED) {
            snprintf(text, sizeof text, "'%s': the interval straddles the bound, or the figure does not exist",
                     r->name);
            print_wrapped("  undetermined: ", text);
        } else if (r->verdict == CASE_FAIL) {
            snprintf(text, sizeof text, "'%s' (%s)", r->name, r->reason ? r->reason : "no reason given for its bound");
            print_wrapped("  failed: ", text);
        }
    }
}

static void print_tally(const struct case_file *c)
{
    size_t count[CASE_CLASSES][4] = {{0}};
    for (size_t i = 0; i < c->nrows; i++) count[c->row[i].class][c->row[i].verdict]++;
    printf("  predictions: %zu pass, %zu fail, %zu undetermined; consistency: %zu of %zu; calibration: %zu of %zu\n",
           count[CASE_PREDICTS][CASE_PASS], count[CASE_PREDICTS][CASE_FAIL], count[CASE_PREDICTS][CASE_UNDETERMINED],
           count[CASE_CONSISTENCY][CASE_PASS], count[CASE_CONSISTENCY][CASE_PASS] + count[CASE_CONSISTENCY][CASE_FAIL],
           count[CASE_CALIBRATES][CASE_PASS], count[CASE_CALIBRATES][CASE_PASS] + count[CASE_CALIBRATES][CASE_FAIL]);
}

static size_t base_runs(const struct case_file *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->study->n; i++) n += c->study->result[i] ? c->study->result[i]->replications : 0;
    return n;
}

static void print_case(const struct reproduce *p, const struct case_file *c)
{
    struct out_style st = out_style(&p->o, 1);
    char *title = exp_text_terminal(c->title ? c->title : "", WIDTH);
    printf("%s%s%s\n%s\n", st.bold, c->name, st.off, title);
    free(title);
    if (!p->o.quiet) print_wrapped("  source: ", c->source);
    if (!p->o.quiet) print_wrapped("  note: ", c->note);
    struct out_table *t = out_table_new("<<>>><");
    const char *head[] = {"row", "class", "published", "simulated", "tol.", "verdict"};
    putchar('\n');
    out_table_row(t, head);
    out_table_row(t, NULL);
    for (size_t i = 0; i < c->nrows; i++) add_row(t, &c->row[i], &st);
    out_table_print(t, stdout, 0, 0, WIDTH, st.off);
    putchar('\n');
    print_why(c);
    print_tally(c);
    printf("  %zu simulations of the variants, %zu at the ends of plausible ranges\n\n", base_runs(c),
           c->sensitivity_runs);
}

/* ------------------------------------------------------------------ files */
static int write_json(FILE *to, void *ctx)
{
    const struct reproduce *r = ctx;
    return exp_json_write(to, case_json(r->c, r->n));
}
static int write_expected(FILE *to, void *ctx)
{
    const struct reproduce *r = ctx;
    return exp_json_write(to, case_expected_json(r->c, r->n));
}

/* All variants of all cases, as results of points. */
static int write_results(const struct reproduce *r, FILE *to, int (*write)(FILE *, struct exp_result *const *, size_t))
{
    int rc = 0;
    for (size_t i = 0; i < r->n && !rc; i++) rc = write(to, r->c[i]->study->result, r->c[i]->study->n);
    return rc;
}
static int write_csv(FILE *to, void *ctx)
{
    return write_results(ctx, to, exp_export_csv);
}
static int write_markdown(FILE *to, void *ctx)
{
    return write_results(ctx, to, exp_export_markdown);
}
static int write_data(FILE *to, void *ctx)
{
    return write_results(ctx, to, exp_export_data);
}

static int write_files(struct reproduce *r)
{
    const struct {
        const char *path;
        int (*write)(FILE *, void *);
    } list[] = {{r->o.export_json, write_json},
                {r->o.export_csv, write_csv},
                {r->o.export_markdown, write_markdown},
                {r->o.export_data, write_data},
                {r->write_expected, write_expected}};
    int rc = EXIT_FINE;
    for (size_t i = 0; i < WB_ARRAY_SIZE(list); i++) {
        int one = list[i].path ? out_file(list[i].path, list[i].write, r) : EXIT_FINE;
        if (one) rc = one;
    }
    return rc;
}

/* ------------------------------------------------------------------ verdicts */
/* Before anything runs: a wrong name must not cost minutes. */
static int read_expected(struct reproduce *r)
{
    json_error_t e;
    if (!r->expected) return EXIT_FINE;
    r->doc = exp_json_load(r->expected, &e);
    if (r->doc) return EXIT_FINE;
    if (e.line > 0)
        fprintf(stderr, "%.200s:%d:%d: error: %s\n  = give a file that --write-expected wrote\n", r->expected, e.line,
                e.column, e.text);
    else
        fprintf(stderr, "error: %s\n  = give a file that --write-expected wrote\n", e.text);
    return EXIT_INVALID;
}

static int compare_expected(const struct reproduce *r)
{
    char *text = NULL;
    int n = case_compare_expected(r->c, r->n, r->doc, &text);
    if (n < 0)
        fprintf(stderr, "wakebal reproduce: '%.200s' holds no verdicts (schema wakebal.expected/1)\n", r->expected);
    char *line = NULL;
    for (char *p = text; n > 0 && p && *p; p = line) {
        line = p + strcspn(p, "\n");
        if (*line) *line++ = 0;
        char *safe = exp_text_terminal(p, 0);
        fprintf(stderr, "verdict changed: %s\n", safe);
        free(safe);
    }
    if (!n && !r->o.quiet) fprintf(stderr, "All verdicts are as committed in %s.\n", r->expected);
    free(text);
    return n < 0 ? EXIT_INVALID : n ? EXIT_EXPECTATION : EXIT_FINE;
}

static int prediction_failed(const struct reproduce *r)
{
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->c[i]->nrows; k++)
            if (r->c[i]->row[k].class == CASE_PREDICTS && r->c[i]->row[k].verdict == CASE_FAIL) return EXIT_EXPECTATION;
    return EXIT_FINE;
}

static bool uses_stdout(const struct cli_options *o)
{
    const char *const path[] = {o->export_json, o->export_csv, o->export_markdown, o->export_data};
    for (size_t i = 0; i < WB_ARRAY_SIZE(path); i++)
        if (path[i] && !strcmp(path[i], "-")) return true;
    return false;
}

static int print_plan(const struct reproduce *r)
{
    for (size_t i = 0; i < r->n; i++) {
        printf("%s: %zu rows, %zu variants\n", r->c[i]->name, r->c[i]->nrows, r->c[i]->nvariants);
        for (size_t k = 0; k < r->c[i]->nvariants; k++) {
            char *help = exp_text_terminal(r->c[i]->variant[k].help, 70);
            printf("  %-24s %s\n", r->c[i]->variant[k].name, help);
            free(help);
        }
    }
    return EXIT_FINE;
}

/* What would fail after minutes fails now: variants, figures, files. */
static int look_ahead(struct reproduce *r)
{
    const char *const more[] = {r->write_expected, NULL};
    const char **inputs = calloc(r->n + 2, sizeof *inputs);
    int bad = 0;
    WB_MEMORY(inputs, "out of memory for cases");
    for (size_t i = 0; i < r->n; i++) {
        inputs[i] = wb_scenario_path(r->c[i]->scenario);
        bad |= case_check(r->c[i], cli_models(), r->d);
    }
    int rc = bad ? EXIT_INVALID : preflight_outputs("wakebal reproduce", &r->o, more, inputs);
    free(inputs);
    return rc;
}

static int reproduce(struct reproduce *r)
{
    int rc = load_cases(r);
    if (!rc) rc = read_expected(r);
    if (!rc) rc = look_ahead(r);
    if (rc) return rc;
    if (r->o.dry_run) return print_plan(r);
    rc = run_cases(r);
    if (rc == EXIT_INVALID) return rc;
    int bad = write_files(r);
    for (size_t i = 0; i < r->n && !uses_stdout(&r->o); i++) print_case(r, r->c[i]);
    for (size_t i = 0; i < r->n && r->plot && !bad; i++) bad = reproduce_plot(r->c[i], r->plot, &r->o);
    if (rc || bad) return rc ? rc : bad;
    return r->expected ? compare_expected(r) : prediction_failed(r);
}

int verb_reproduce(int argc, char **argv)
{
    struct reproduce r = {.n = 0};
    cli_options_init(&r.o);
    int rc = read_options(&r, argc, argv);
    if (rc < 0) {
        r.keys = cli_keys_new();
        r.d = wb_diag_new();
        rc = reproduce(&r);
        int bad = cli_print_diag(&r.o, r.d);
        if (!rc) rc = bad;
        for (size_t i = 0; i < r.n; i++) case_free(r.c[i]);
        free(r.c);
        if (r.doc) json_decref(r.doc);
        wb_diag_free(r.d);
        wb_keys_free(r.keys);
    }
    cli_options_free(&r.o);
    return rc;
}
