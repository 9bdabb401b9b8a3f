/* verb_fmt.c - wakebal fmt FILE...: the layout of scenario files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exit_code.h"
#include "exp_format.h"
#include "format.h"
#include "options.h"
#include "output.h"
#include "scan.h"
#include "verbs.h"

struct formatting {
    struct cli_options o;
    bool check;
    size_t changed;
};

enum { KEY_CHECK = 0x1000 };
static const struct argp_option own[] = {
    {"check", KEY_CHECK, NULL, 0, "Change nothing: name the files that are not formatted; exit code 4 if there are any",
     4},
    {0},
};

static error_t parse_own(int key, char *arg, void *ctx)
{
    (void)arg;
    if (key != KEY_CHECK) return ARGP_ERR_UNKNOWN;
    ((struct formatting *)ctx)->check = true;
    return 0;
}

/* What cannot be read as a scenario is left alone. */
static bool syntax_is_fine(struct formatting *w, const char *path, const char *text, size_t len)
{
    struct arena a;
    struct wb_diag *d = wb_diag_new();
    bool broken = false;
    arena_init(&a, "fmt");
    (void)scan_text(&a, &wb_reader_files, path, text, len, d, &broken);
    bool fine = !broken && cli_print_diag(&w->o, d) == EXIT_FINE;
    if (broken) (void)cli_print_diag(&w->o, d);
    arena_free(&a);
    wb_diag_free(d);
    return fine;
}

static int format_one(struct formatting *w, const char *path, const char *text, size_t len)
{
    if (!syntax_is_fine(w, path, text, len)) return EXIT_INVALID;
    size_t n = strlen(path);
    char *out = format_text(text, len, n > 4 && !strcmp(path + n - 4, ".inc")), *name = exp_text_terminal(path, 200);
    int rc = EXIT_FINE;
    WB_CHECK(format_same_words(text, len, out, strlen(out)), "formatting changes more than the layout of %s", path);
    bool same = strlen(out) == len && !memcmp(out, text, len);
    w->changed += !same;
    if (w->check && !same) printf("%s\n", name);
    if (!w->check && !same) rc = out_file(path, out_put_text, out);
    if (!w->check && !same && !rc && !w->o.quiet) fprintf(stderr, "formatted %s\n", name);
    free(name);
    free(out);
    return rc;
}

static int read_and_format(struct formatting *w, const char *path)
{
    char *text;
    size_t len;
    const char *why;
    if (wb_reader_files.read(wb_reader_files.ctx, path, &text, &len, &why)) {
        char *name = exp_text_terminal(path, 200);
        fprintf(stderr, "wakebal fmt: '%s' cannot be read: %s\n", name, why);
        free(name);
        return EXIT_INVALID;
    }
    int rc = format_one(w, path, text, len);
    free(text);
    return rc;
}

int verb_fmt(int argc, char **argv)
{
    struct formatting w = {.check = false};
    const struct cli_spec spec = {
        .usage = "FILE...",
        .doc = "Format scenario, machine, kernel and workload files in place: indentation, blanks, empty lines. Words, "
               "comments and lines stay; columns that were lined up within a line stay.",
        .own = own,
        .own_parse = parse_own,
        .own_ctx = &w,
        .args_min = 1,
        .args_max = SIZE_MAX};
    cli_options_init(&w.o);
    int rc = cli_options_parse(&spec, argc, argv, &w.o);
    if (rc < 0) {
        rc = EXIT_FINE;
        for (size_t i = 0; i < w.o.arg_n; i++) {
            int one = read_and_format(&w, w.o.arg[i]);
            if (one) rc = one;
        }
        if (!rc && w.check && w.changed) rc = EXIT_EXPECTATION;
    }
    cli_options_free(&w.o);
    return rc;
}
