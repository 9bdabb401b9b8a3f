/* import_args.h - what `wakebal import` and `wakebal replay` have in common: which part of a recording, of which
 * tasks. */
#ifndef WB_CLI_IMPORT_ARGS_H
#define WB_CLI_IMPORT_ARGS_H

#include "import.h"
#include "options.h"

#define IMPORT_KEY 0x1100 /* first key of these options */

struct import_args {
    struct import_options o;
    bool strict, as_is; /* --strict; --as-is: leave the kernel's own work in */
};

#define IMPORT_OPTIONS \
    {"section", IMPORT_KEY, "NAME", 0, "Section of the recording (default: the first)", 1}, \
        {"window", IMPORT_KEY + 1, "FROM..TO", 0, "Part of the section: 10ms..60ms, from its beginning", 1}, \
        {"all", IMPORT_KEY + 2, NULL, 0, "Kernel threads too", 1}, \
        {"keep-cpus", IMPORT_KEY + 3, NULL, 0, "Tasks keep to the CPUs that they were seen on", 1}, \
        {"as-is", \
         IMPORT_KEY + 4, \
         NULL, \
         0, \
         "Leave the recording kernel's work (waking, switching) in the run times: a replay does it again", \
         1}, \
    { \
        "strict", IMPORT_KEY + 5, NULL, 0, "Refuse a recording that is not whole (exit code 3)", 1 \
    }

/* 0, or an errno after saying what is wrong. */
error_t import_args_parse(const char *verb, struct import_args *a, int key, char *arg);
/* Read, check, import, settle. NULL: *rc is the exit code. */
struct import *import_args_load(const char *verb, const struct cli_options *o, const struct import_args *a,
                                struct wb_key_registry *keys, int *rc);

#endif
