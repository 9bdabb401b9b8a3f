/* main.c - wakebal VERB ...: finds the verb and runs it. */
#include <jansson.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "exit_code.h"
#include "exp_format.h"
#include "options.h"
#include "verbs.h"
#include "wakebal/diag.h"
#include "wakebal/scenario.h"

/* Those that one needs most come first. */
const struct verb verb_table[] = {
    {"run", verb_run, "SCENARIO|PRESET", "simulate, replicate until precise, print the summary"},
    {"sweep", verb_sweep, "SCENARIO", "a study over axes that survives being stopped; shards for many machines"},
    {"compare", verb_compare, "A B...", "studies, runs or result files side by side: changes with their intervals"},
    {"reproduce", verb_reproduce, "[CASE...]", "run published cases: published beside simulated, with the verdict"},
    {"plot", verb_plot, "RESULT.json|SCENARIO",
     "draw windows over time, bars with intervals, or a latency distribution"},
    {"report", verb_report, "INPUT...", "one HTML file of a run, study, validation or of published cases"},
    {"show", verb_show, "VIEW SCENARIO", "timeline, map, topology or domains in the terminal"},
    {"check", verb_check, "FILE...", "find all mistakes of scenario, machine, kernel and workload files"},
    {"list", verb_list, "[WHAT]", "keys, machines, kernels, workloads, policies, cases, studies, metrics, errors"},
    {"calibrate", verb_calibrate, "", "measure what this machine costs; write a machine file and a kernel file"},
    {"validate", verb_validate, "[SCENARIO...]", "predict this machine's real workloads, run them, compare"},
    {"learn", verb_learn, "", "a ten-minute tutorial that runs, step by step"},
    {"doctor", verb_doctor, "", "look at this machine: what it is, what that means for real runs, what to change"},
    {"new", verb_new, "WHAT NAME", "write a scenario, machine, kernel, workload or policy plug-in to start from"},
    {"fmt", verb_fmt, "FILE...", "format scenario files: indentation and blanks, never words or comments"},
    {"merge", verb_merge, "STUDY...", "join the shards of a study into one file"},
    {"rerun", verb_rerun, "MANIFEST|STUDY", "repeat a run or a study exactly; --check compares"},
    {"topology", verb_topology, "--live|--synthetic S",
     "make a machine file from this machine or from a topology string"},
    {"real", verb_real, "KIND", "run one real workload on this machine: what came out, and what was counted"},
    {"conform", verb_conform, "RECORDING", "compare a recording's scheduling decisions with those of a kernel model"},
    {"import", verb_import, "RECORDING", "make a scenario from a recording: what each task ran, slept and woke"},
    {"replay", verb_replay, "RECORDING", "run a recording's tasks under another kernel or on another machine"},
    {"guest", verb_guest, "", "boot a real kernel on a chosen topology under QEMU and record its decisions"},
    {"bench", verb_bench, "", "how fast the engine is on this machine"},
    {"help", verb_help, "[VERB|KEY|GROUP|CODE]", "explain a verb, a scenario key, a group of keys or an error code"},
};
const size_t verb_table_n = sizeof verb_table / sizeof verb_table[0];

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < verb_table_n; i++)
        if (!strcmp(verb_table[i].name, name)) return &verb_table[i];
    return NULL;
}

static int unknown_verb(const char *word)
{
    const char *names[64];
    for (size_t i = 0; i < verb_table_n; i++) names[i] = verb_table[i].name;
    const char *near = wb_nearest(word, names, verb_table_n);
    char *shown = exp_text_terminal(word, 100);
    fprintf(stderr, "wakebal: '%s' is no verb", shown);
    free(shown);
    if (near)
        fprintf(stderr, "; did you mean '%s'?\n", near);
    else
        fprintf(stderr, "\nTry `wakebal help'.\n");
    return EXIT_USAGE;
}

static int version(int argc, char **argv)
{
    printf("wakebal %s\n", WB_VERSION);
    if (argc > 2 && !strcmp(argv[2], "--verbose"))
        printf("compiler   %s\nscenarios  %s\n           %s\nlibraries  GSL, libconfig, hwloc, jansson, "
               "SQLite\nlicence    GPL-3.0-or-later\n",
               __VERSION__, wb_scenario_root(0), wb_scenario_root(1));
    return EXIT_FINE;
}

static int run_verb(const struct verb *v, int argc, char **argv)
{
    char name[64];
    char **args = calloc((size_t)argc + 1, sizeof *args);
    if (!args) {
        fprintf(stderr, "wakebal: out of memory\n");
        return EXIT_INTERNAL;
    }
    snprintf(name, sizeof name, "wakebal %s", v->name);
    args[0] = name;
    for (int i = 2; i < argc; i++) args[i - 1] = argv[i];
    int rc = v->run(argc - 1, args);
    free(args);
    return rc;
}

static int dispatch(int argc, char **argv)
{
    char *help[] = {"wakebal help", NULL};
    if (argc < 2) {
        fprintf(stderr, "wakebal: a verb is missing\n\n");
        cli_short_help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) return verb_help(1, help);
    if (!strcmp(argv[1], "--version")) return version(argc, argv);
    static const struct verb hidden = {.name = "generate", .run = verb_generate};
    const struct verb *v = strcmp(argv[1], hidden.name) ? verb_find(argv[1]) : &hidden;
    return v ? run_verb(v, argc, argv) : unknown_verb(argv[1]);
}

/* Bytes of address space in use, from the system. */
static unsigned long used_mib(void)
{
    char line[128] = "";
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && !fgets(line, sizeof line, f)) line[0] = 0;
    if (f) fclose(f);
    return strtoul(line, NULL, 10) * (unsigned long)sysconf(_SC_PAGESIZE) >> 20;
}

/* No memory: a refusal of the system. Nothing can be saved without some, so the program ends here. */
static void refuse_memory(const char *text)
{
    struct rlimit limit;
    fflush(stdout);
    fprintf(stderr, "wakebal: %s\n", text);
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
        fprintf(stderr, "  %lu MiB of address space are in use, the limit is %llu MiB (ulimit -v)\n", used_mib(),
                (unsigned long long)limit.rlim_cur >> 20);
    fprintf(stderr, "  = take fewer jobs (-j 1), fewer points, or a smaller machine and load\n");
    _exit(EXIT_PERMISSION);
}

/* jansson answers no memory with NULL, as it does a mistake of its caller: only here can the two be told apart. */
static void *json_memory(size_t n)
{
    void *p = malloc(n ? n : 1);
    WB_MEMORY(p, "out of memory for %zu bytes of JSON", n);
    return p;
}

static void too_large(int number)
{
    (void)number;
}

/*
 * `ulimit -f` ends a program without a word unless the signal is caught: then the write fails and is reported.
 * Caught, not ignored: what is ignored would be inherited by the commands of `real`.
 */
static void catch_file_limit(void)
{
    struct sigaction a = {.sa_handler = too_large, .sa_flags = SA_RESTART};
    (void)sigaction(SIGXFSZ, &a, NULL);
}

int cli_main(int argc, char **argv)
{
    catch_file_limit();
    wb_no_memory_hook = refuse_memory;
    json_set_alloc_funcs(json_memory, free);
    setlocale(LC_CTYPE, ""); /* nothing else: numbers and order must not depend on the locale */
    int rc = dispatch(argc, argv);
    /* Output that did not arrive (a full disk) is a failure, whatever was computed. */
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "wakebal: cannot write to standard output\n");
        if (rc == EXIT_FINE) rc = EXIT_OUTPUT;
    }
    return rc;
}
