/* preflight_files.c - --fail-if and the files of results, before anything runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit_code.h"
#include "exp_file.h"
#include "exp_format.h"
#include "fail_if.h"
#include "output.h"
#include "preflight.h"

/* ------------------------------------------------------------------ --fail-if */
static int refuse(const char *text, const char *hint, const char *why)
{
    return cli_usage_error("wakebal run", hint, "--fail-if '%.200s': %s", text, why);
}

static int check_figures(const struct exp_check *k, const struct fail_if *f, const char *text)
{
    const char *name, *variant, *unit = NULL;
    char fix[256], why[300];
    size_t at;
    double v;
    for (size_t i = 0; (name = figure_expr_name(f->figure, i, &variant, &at)); i++) {
        if (variant) return refuse(text, "Only rows of cases have variants", "no [variant] belongs here");
        if (exp_check_figure(k, name, &unit, fix, sizeof fix)) continue;
        snprintf(why, sizeof why, "no metric is called '%.100s'", name);
        return refuse(text, fix, why);
    }
    if (!figure_expr_plain(f->figure)) unit = "1";
    if (!unit || exp_check_value(f->value, unit, &v)) return EXIT_FINE;
    snprintf(why, sizeof why, "'%.80s' is no value in %s", f->value, strcmp(unit, "1") ? unit : "plain numbers");
    return refuse(text, "For example: --fail-if 'bandwidth < 2 GB/s'", why);
}

static int check_file(const struct exp_check *k, const struct fail_if *f, const char *text)
{
    const char *unit;
    char fix[256], why[400];
    json_error_t e;
    if (!exp_check_figure(k, f->metric, &unit, fix, sizeof fix)) {
        snprintf(why, sizeof why, "no metric is called '%.100s'", f->metric);
        return refuse(text, fix, why);
    }
    struct stat st;
    bool pipe = !stat(f->value, &st) && S_ISFIFO(st.st_mode); /* which can be read once only */
    json_t *doc = pipe ? NULL : exp_json_load(f->value, &e);
    if (pipe) snprintf(e.text, sizeof e.text, "it is a pipe, and is read again when all runs are done");
    if (doc) {
        json_decref(doc);
        return EXIT_FINE;
    }
    snprintf(why, sizeof why, "%.200s", e.text);
    return refuse(text, "Give a file that --export-json wrote", why);
}

int preflight_fail_if(const struct cli_options *o, const struct exp_check *k)
{
    int rc = EXIT_FINE;
    for (size_t i = 0; i < o->fail_if_n; i++) {
        struct fail_if f;
        const char *text = o->fail_if[i], *why = fail_if_parse(text, &f);
        int one = EXIT_FINE;
        if (why)
            one = refuse(text, "For example: --fail-if 'bandwidth < 2 GB/s'", why);
        else if (k)
            one = f.op == 'w' ? check_file(k, &f, text) : check_figures(k, &f, text);
        fail_if_free(&f);
        if (one) rc = one;
    }
    return rc;
}

/* ------------------------------------------------------------------ files that will be written */
/* The same file under two names: by device and number when it exists, else by text. */
static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    bool known_a = !stat(a, &x), known_b = !stat(b, &y);
    if (known_a && known_b) return x.st_dev == y.st_dev && x.st_ino == y.st_ino && S_ISREG(x.st_mode);
    return known_a == known_b && !strcmp(a, b);
}

static int cannot_write(const char *path, int error)
{
    char *name = exp_text_terminal(path, 200);
    fprintf(stderr, "wakebal: cannot write '%s': %s\nNothing was run.\n", name, strerror(error));
    free(name);
    return EXIT_OUTPUT;
}

static int try_to_write(const char *path)
{
    struct stat st;
    if (!strcmp(path, "-")) return EXIT_FINE;
    bool there = !stat(path, &st);
    int rc = there && S_ISDIR(st.st_mode)  ? -EISDIR
             : there && access(path, W_OK) ? -errno /* a file that may not be written is not replaced either */
                                           : out_file_possible(path);
    return rc ? cannot_write(path, -rc) : EXIT_FINE;
}

static int check_output(const char *verb, const char *const *path, size_t i, const char *const *inputs)
{
    bool out = !strcmp(path[i], "-");
    for (size_t k = 0; k < i; k++)
        if (out ? !strcmp(path[k], "-") : same_file(path[k], path[i]))
            return cli_usage_error(verb, "Give each export a file of its own",
                                   out ? "two exports go to standard output%.0s"
                                       : "two exports go to '%.200s': the later would replace the earlier",
                                   path[i]);
    for (size_t k = 0; !out && inputs && inputs[k]; k++)
        if (same_file(inputs[k], path[i]))
            return cli_usage_error(verb, "Give the export another name",
                                   "'%.200s' is read as input; an export may not replace it", path[i]);
    return try_to_write(path[i]);
}

int preflight_outputs(const char *verb, const struct cli_options *o, const char *const *more, const char *const *inputs)
{
    const char *const exports[] = {o->export_json, o->export_csv, o->export_markdown, o->export_data, o->manifest};
    const char *path[32];
    size_t n = 0;
    int rc = EXIT_FINE;
    for (size_t i = 0; i < WB_ARRAY_SIZE(exports); i++)
        if (exports[i]) path[n++] = exports[i];
    for (size_t i = 0; more && more[i] && n < WB_ARRAY_SIZE(path); i++) path[n++] = more[i];
    for (size_t i = 0; i < n; i++) {
        int one = check_output(verb, path, i, inputs);
        if (one && !rc) rc = one;
    }
    return rc;
}

int preflight_output_name(const char *verb, const char *output, bool study)
{
    static const struct {
        const char *ending, *wish;
    } files[] = {{".csv", "--export-csv"},
                 {".json", "--export-json"},
                 {".md", "--export-markdown"},
                 {".dat", "--export-data"},
                 {".txt", "--trace -o"},
                 {".html", "wakebal report SCENARIO -o"},
                 {".png", "wakebal plot SCENARIO -o"},
                 {".svg", "wakebal plot SCENARIO -o"},
                 {".pdf", "wakebal plot SCENARIO -o"}};
    const char *dot = output ? strrchr(output, '.') : NULL;
    struct stat st;
    char hint[512];
    if (!dot || dot == output || !stat(output, &st)) return EXIT_FINE; /* what is there was meant */
    for (size_t i = 0; i < WB_ARRAY_SIZE(files); i++) {
        if (strcasecmp(dot, files[i].ending)) continue;
        snprintf(hint, sizeof hint, "For that file: %s %.200s.   For a folder of that name: -o %.200s/", files[i].wish,
                 output, output);
        return cli_usage_error(verb, hint, "-o names a %s, and '%.200s' looks like a file of another kind",
                               study ? "study (FILE.db, or a folder)" : "folder", output);
    }
    return EXIT_FINE;
}

int preflight_spare(const char *verb, const struct cli_options *o, const char *study)
{
    const char *const exports[] = {o->export_json, o->export_csv, o->export_markdown, o->export_data, o->manifest};
    for (size_t i = 0; i < WB_ARRAY_SIZE(exports); i++)
        if (exports[i] && same_file(exports[i], study))
            return cli_usage_error(verb, "Give the export another name",
                                   "'%.200s' is the study; an export would destroy it", exports[i]);
    return EXIT_FINE;
}
