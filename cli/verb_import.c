/* verb_import.c - `wakebal import`: a workload from a recording. */
#include <stdio.h>
#include <stdlib.h>

#include "exit_code.h"
#include "import_args.h"
#include "output.h"
#include "registry.h"
#include "verbs.h"

static const struct argp_option own_options[] = {IMPORT_OPTIONS, {0}};

static error_t parse_own(int key, char *arg, void *ctx)
{
    return import_args_parse("wakebal import", ctx, key, arg);
}

static int run(const struct cli_options *o, const struct import_args *a)
{
    struct wb_key_registry *keys = cli_keys_new();
    int rc;
    struct import *m = import_args_load("wakebal import", o, a, keys, &rc);
    if (m) {
        struct wb_diag *d = wb_diag_new();
        char *text = import_text(m, d);
        rc = cli_print_diag(o, d);
        if (text) rc = out_file(o->output ? o->output : "-", out_put_scenario, text);
        if (text && rc == EXIT_FINE && o->output && !o->quiet)
            out_line(stderr, "%u tasks, %.1f ms: %s; run it: wakebal run %s, under another kernel: -k NAME", m->n,
                     (double)m->length_ns * 1e-6, o->output, o->output);
        free(text);
        wb_diag_free(d);
    }
    import_free(m);
    wb_keys_free(keys);
    return rc;
}

int verb_import(int argc, char **argv)
{
    struct import_args a = {0};
    struct cli_options o;
    const struct cli_spec spec = {
        .usage = "RECORDING",
        .doc = "Make a scenario from a recording: what each task ran, slept and woke."
               "\vThe scenario goes to standard output or to -o FILE. -m and -k name the machine and the kernel that "
               "recorded "
               "it; the kernel's own work is measured on them and taken off the run times (--as-is leaves it in).\n"
               "  wakebal import trace.txt.gz -k linux-6.12 -o mine.cfg; wakebal run mine.cfg -k linux-6.1",
        .groups = CLI_SCENARIO | CLI_OUTPUT,
        .own = own_options,
        .own_parse = parse_own,
        .own_ctx = &a,
        .args_min = 1,
        .args_max = 1,
    };
    cli_options_init(&o);
    int rc = cli_options_parse(&spec, argc, argv, &o);
    if (rc < 0) rc = run(&o, &a);
    cli_options_free(&o);
    return rc;
}
