/*
 * options.h - the options that verbs share: one table, chosen by group, parsed by argp.
 *
 * A verb names the groups it takes and gets them all, with the same letters, help and checks everywhere:
 *
 *     struct cli_options o;
 *     cli_options_init(&o);
 *     struct cli_spec spec = { .usage = "SCENARIO", .doc = "Simulate ...", .groups = CLI_SCENARIO | CLI_MEASURE,
 *                              .own = my_options, .own_parse = my_parse, .own_ctx = &mine, .args_min = 1, .args_max =
 *                              1 };
 *     int rc = cli_options_parse(&spec, argc, argv, &o);   // -1 = go on, else the exit code
 *     ...
 *     cli_options_free(&o);
 */
#ifndef WB_CLI_OPTIONS_H
#define WB_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wakebal/scenario.h"

enum cli_group {
    CLI_SCENARIO = 1 << 0, /* -s -m -k -p -S --print-config */
    CLI_MEASURE = 1 << 1,  /* -r --precision --confidence --warmup -j --dry-run --fail-if */
    CLI_SWEEP = 1 << 2,    /* --vary --zip --where */
    CLI_EXPORT = 1 << 3,   /* --export-json --export-csv --export-markdown --export-data */
    CLI_TRACE = 1 << 4,    /* --trace */
    CLI_OUTPUT = 1 << 5,   /* -o */
    CLI_TERMINAL = 1 << 6, /* --color --progress -q -v --ascii; every verb has these */
    /* Parts of CLI_EXPORT, for verbs that can write no more: an option that is taken and not obeyed is a trap. */
    CLI_EXPORT_JSON = 1 << 7,   /* --export-json */
    CLI_EXPORT_TABLES = 1 << 8, /* --export-csv --export-markdown */
    CLI_RUNS = 1 << 9           /* --keep-samples --manifest */
};

enum cli_when { CLI_AUTO, CLI_ALWAYS, CLI_NEVER, CLI_JSON };

struct cli_options {
    struct wb_override *set; /* --set and -S, -p, --warmup, ... in order of the command line */
    size_t set_n;
    const char *machine, *kernel; /* -m, -k */
    const char *plugin;           /* -p FILE.so; loaded by cli_options_parse() */
    const char **vary, **zip, **where, **fail_if;
    size_t vary_n, zip_n, where_n, fail_if_n;
    uint32_t jobs;      /* -j; 0 = auto */
    const char *output; /* -o */
    const char *export_json, *export_csv, *export_markdown, *export_data;
    const char *manifest; /* --manifest */
    bool keep_samples;
    bool trace;               /* --trace given */
    const char *trace_window; /* --trace=FROM..TO or NULL = all */
    enum cli_when color, progress;
    bool ascii, quiet, print_config, dry_run;
    int verbose;
    const char **arg; /* positional arguments, in order */
    size_t arg_n;
};

struct cli_spec {
    const char *usage, *doc;
    unsigned groups;               /* enum cli_group; CLI_TERMINAL is implied */
    const struct argp_option *own; /* options of the verb alone; keys from 0x1000 or free letters; NULL = none */
    error_t (*own_parse)(int key, char *arg, void *ctx);
    void *own_ctx;
    const char *missing;       /* what to say when an argument is: an example that works; NULL = see --help */
    const char *surplus;       /* the same where there is one too many */
    size_t args_min, args_max; /* positional arguments; args_max 0 = no more than args_min, SIZE_MAX = any */
};

/* When set, cli_options_parse() shows it what a verb takes and returns EXIT_FINE: the verb does nothing. For manual
 * pages and completions. */
extern void (*cli_options_observer)(const struct cli_spec *spec, const struct argp_option *option, size_t n);

void cli_options_init(struct cli_options *o);
void cli_options_free(struct cli_options *o);
/* Parse. Returns -1 to go on, or the exit code (help was printed, usage error reported with one line and one hint). */
int cli_options_parse(const struct cli_spec *spec, int argc, char **argv, struct cli_options *o) WB_MUST_USE;
/* The overrides of the command line, as the loader wants them; valid while o lives. */
struct wb_overrides cli_overrides(const struct cli_options *o);
/* "wakebal: TEXT" and a hint on stderr; returns EXIT_USAGE. hint NULL = "Try `VERB --help`". */
int cli_usage_error(const char *verb, const char *hint, const char *fmt, ...) WB_PRINTF(3, 4);
/* A time of the command line, not negative; text NULL: not given, *t stays. -1 to go on, else the exit code, told. */
int cli_read_time(const char *verb, const char *option, const char *text, sim_time *t) WB_MUST_USE;
/* Colour on this stream, by --color, NO_COLOR, CLICOLOR_FORCE, TERM and whether it is a terminal. */
bool cli_color(const struct cli_options *o, int fd);
/* Unicode allowed: the locale's charset is UTF-8 and --ascii was not given. */
bool cli_unicode(const struct cli_options *o);
/* Print all messages on stderr; returns EXIT_INVALID when there is an error, else EXIT_FINE. */
int cli_print_diag(const struct cli_options *o, const struct wb_diag *d);

#endif
