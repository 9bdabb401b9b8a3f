/* verb_check.c - wakebal check FILE... */
#include <stdio.h>
#include <unistd.h>

#include "exit_code.h"
#include "options.h"
#include "output.h"
#include "preflight.h"
#include "registry.h"
#include "verbs.h"

int verb_check(int argc, char **argv)
{
    struct cli_options o;
    const struct cli_spec spec = {
        .usage = "FILE...",
        .doc = "Find all mistakes of scenario, machine, kernel and workload files, without running anything."
               "\vA FILE may also be the name of something that ships (wakebal list cases). Exit code 3 when there is "
               "a mistake.",
        .missing = "For example: wakebal check my.cfg.  To start one: wakebal new scenario my",
        .args_min = 1,
        .args_max = SIZE_MAX,
    };
    cli_options_init(&o);
    int rc = cli_options_parse(&spec, argc, argv, &o);
    if (rc >= 0) {
        cli_options_free(&o);
        return rc;
    }
    struct wb_key_registry *keys = cli_keys_new();
    rc = EXIT_FINE;
    for (size_t i = 0; i < o.arg_n; i++) {
        struct wb_diag *d = wb_diag_new();
        int bad = preflight_file(o.arg[i], keys, d);
        int printed = cli_print_diag(&o, d);
        if (bad || printed != EXIT_FINE)
            rc = EXIT_INVALID;
        else if (!o.quiet)
            out_line(stdout, "%s: ok", o.arg[i]);
        wb_diag_free(d);
    }
    wb_keys_free(keys);
    cli_options_free(&o);
    return rc;
}
