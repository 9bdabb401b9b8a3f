/*
 * verb_learn.c - `wakebal learn`: a tutorial that runs.
 *
 * Each step says what is done and why, shows the command, runs it, and explains what came out, with the figures that
 * just came out. On a terminal it waits for Enter between steps; elsewhere it runs through and fails when a step does,
 * so that it is its own test. Files are made in a folder of their own, which is removed unless --keep names it.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit_code.h"
#include "exp_format.h"
#include "options.h"
#include "output.h"
#include "verbs.h"
#include "wrap.h"

#define WIDTH 80
#define WORDS_MAX 24

struct learner {
    struct cli_options o;
    const char *keep;
    char folder[4096];
    bool ask; /* both ends are a terminal */
};

/* ------------------------------------------------------------------ what came out */
/* A figure of a result file of the step: of the index-th point; NAN. */
static double figure(const char *file, size_t index, const char *name)
{
    json_t *doc = json_load_file(file, 0, NULL), *list = json_object_get(doc, "results");
    const json_t *metrics = json_object_get(list ? json_array_get(list, index) : doc, "metrics");
    double v = NAN;
    for (size_t i = 0; i < json_array_size(metrics); i++) {
        const json_t *m = json_array_get(metrics, i);
        const char *s = json_string_value(json_object_get(m, "name"));
        if (s && !strcmp(s, name)) v = json_number_value(json_object_get(m, "mean"));
    }
    json_decref(doc);
    return v;
}

static void say(const char *fmt, ...) WB_PRINTF(1, 2);
static void say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = wb_vtext(fmt, ap);
    va_end(ap);
    wrap_print(stdout, text, 0, WIDTH);
    free(text);
}

static void explain_pair(void)
{
    char bandwidth[64];
    double together = figure("pair.json", 0, "colocated");
    exp_format_value(bandwidth, sizeof bandwidth, figure("pair.json", 0, "bandwidth"), "B/s");
    say("The pair moved %s. +- is the 95 %% interval: runs were repeated with other random numbers until it was narrow "
        "enough. Writer and reader were on one CPU for %.0f %% of the time: %s. Wakeups pull such a pair together, "
        "idle CPUs "
        "and the balancer pull it apart; who wins, and what each move costs, is what this program is about. "
        "UNCALIBRATED "
        "means: the costs of this machine come from books, not from your hardware.",
        bandwidth, 100 * together,
        together < 0.2   ? "here they were pulled apart, and every message crossed from one CPU's cache to another's"
        : together > 0.8 ? "here they stayed together"
                         : "here neither side wins for long");
}

static void explain_where(void)
{
    double at_will = figure("where.json", 0, "bandwidth"), same = figure("where.json", 1, "bandwidth"),
           apart = figure("where.json", 2, "bandwidth");
    say("The same load three times: free, on CPU 0 alone, on CPUs 0 and 1. On one CPU it is %.2f times as fast as on "
        "two "
        "of them, and %.2f times as fast as where the scheduler puts it: that is what placement costs here. All three "
        "met "
        "the same random numbers, so the ratios are of pairs, with their intervals.",
        same / apart, same / at_will);
}

static void explain_mistake(void)
{
    say("file:line:column, what is wrong, what was probably meant. All mistakes come in one pass, and the exit code is "
        "3, so a script can tell a wrong file from a slow kernel.");
}

static void explain_study(void)
{
    struct stat st;
    bool there = !stat("study.db", &st);
    say("A study is one file%s. Killed at any moment it loses only what was in flight; the same command continues it, "
        "adds replications or further points, and runs nothing twice.",
        there ? " (study.db)" : "");
}

static void explain_report(void)
{
    struct stat st;
    say("first.html is one file of %lld kB that needs nothing else: verdict, pictures, tables, and for every cost its "
        "value, status and source. `--keep FOLDER' keeps it for your browser.",
        stat("first.html", &st) ? 0LL : (long long)st.st_size / 1000);
}

/* ------------------------------------------------------------------ steps */
struct step {
    const char *title, *before;
    const char *command; /* words, separated by blanks */
    const char *after;   /* NULL: explain() says it */
    void (*explain)(void);
    int code;            /* exit code that is expected */
    const char *file[2]; /* a file that the step needs: name, text */
};

static const struct step steps[] = {
    {"A pair on a pipe",
     "Two tasks, one pipe: a writer and a reader of 64 KiB messages on a four-CPU machine of 2005 under Linux 2.6.11. "
     "No "
     "file is needed.",
     "run pipe --duration 500ms -r 5 --export-json pair.json",
     NULL,
     explain_pair,
     EXIT_FINE,
     {NULL}},
    {"Looking at it",
     "A hundred microseconds of that run, a row per CPU: A reads, B writes.",
     "show timeline pipe --from 100ms --to 100.1ms",
     "Every change of a letter is a switch; two letters in different rows at the same time are a pair that runs apart. "
     "Other views: map, latency, timehist, domains.",
     NULL,
     EXIT_FINE,
     {NULL}},
    {"Where the time goes",
     "CPU time by kernel function, as a sampling profiler would print it.",
     "run pipe --duration 200ms -r 2 --profile -q",
     "Nothing here is put in as a total: each row is a cost per call times how often the model called it. `wakebal "
     "help "
     "kernel.path.context_switch' says where that cost comes from.",
     NULL,
     EXIT_FINE,
     {NULL}},
    {"Asking a question",
     "What if both sides are pinned? --vary takes any key of a scenario; each value is a point.",
     "run pipe --duration 300ms -r 5 --vary workload.cpus=free,0,0-1 --export-json where.json -q",
     NULL,
     explain_where,
     EXIT_FINE,
     {NULL}},
    {"What a key means",
     "Every key explains itself; so do metrics, workloads, policies and error codes.",
     "help kernel.pipe",
     "The same table makes the checks, the completion of your shell and the manual pages.",
     NULL,
     EXIT_FINE,
     {NULL}},
    {"A scenario of your own",
     "A file that works, to start from.",
     "new scenario first",
     "It names a machine, a kernel and a load, each from a preset, and asks a question with its axes. `wakebal list "
     "machines' shows the others; `wakebal topology --live' makes one of your own machine.",
     NULL,
     EXIT_FINE,
     {NULL}},
    {"Checking it",
     "",
     "check first.cfg",
     "Machine, kernel, keys, units, metrics of expectations: all is looked at.",
     NULL,
     EXIT_FINE,
     {NULL}},
    {"A mistake",
     "Here is a file with two: a key that does not exist, and a size without its unit.",
     "check wrong.cfg",
     NULL,
     explain_mistake,
     EXIT_INVALID,
     {"wrong.cfg", "schema = 1;\nmachine : { base = \"smp2\"; };\nkernel : { base = \"linux-6.18\"; };\n"
                   "workload = ( { kind = \"pipe_bw\"; mesage = \"4 KiB\"; total = 10; } );\n"}},
    {"A study",
     "Axes multiply; results go to one file.",
     "sweep first.cfg --vary workload.message=4KiB,64KiB -r 3 --duration 50ms -o study.db -q",
     NULL,
     explain_study,
     EXIT_FINE,
     {NULL}},
    {"A report",
     "One page of that study, for those who were not there.",
     "report study.db -o first.html",
     NULL,
     explain_report,
     EXIT_FINE,
     {NULL}},
    {"Against what was published",
     "Cases are files, too: what a source published, which of it the model was told, and which it has to predict.",
     "reproduce numaimb-two-hogs",
     "`predicts' rows count: nothing in the files knew them. `wakebal reproduce' runs all cases; those that fail are "
     "shown as failed. For your own machine: `wakebal calibrate', then `wakebal validate'.",
     NULL,
     EXIT_FINE,
     {NULL}},
};

/* The words of a command; none of them holds a blank. */
static size_t split(char *text, char **word)
{
    size_t n = 0;
    char *save = NULL;
    for (char *w = strtok_r(text, " ", &save); w && n < WORDS_MAX; w = strtok_r(NULL, " ", &save)) word[n++] = w;
    word[n] = NULL;
    return n;
}

static int run_command(const char *command)
{
    char *text = strdup(command), *word[WORDS_MAX + 1], name[64];
    WB_MEMORY(text, "out of memory for the tutorial");
    size_t n = split(text, word);
    const struct verb *v = verb_find(word[0]);
    WB_CHECK(v && n, "the tutorial calls '%s'", command);
    snprintf(name, sizeof name, "wakebal %s", word[0]);
    word[0] = name;
    fflush(stdout);
    int rc = v->run((int)n, word);
    fflush(stdout);
    fflush(stderr);
    free(text);
    return rc;
}

/* true: go on. */
static bool pause_here(const struct learner *l, size_t i)
{
    char line[64];
    if (!l->ask || i + 1 == WB_ARRAY_SIZE(steps)) return true;
    printf("\n[Enter: next of %zu steps, q: leave] ", WB_ARRAY_SIZE(steps));
    fflush(stdout);
    return fgets(line, sizeof line, stdin) && line[0] != 'q';
}

static int put_file(const char *const file[2])
{
    return file[0] ? out_file(file[0], out_put_text, (void *)file[1]) : EXIT_FINE;
}

static int take_step(const struct step *s, size_t i, const struct out_style *st)
{
    printf("%s\n%s%zu of %zu: %s%s\n", i ? "\n" : "", st->bold, i + 1, WB_ARRAY_SIZE(steps), s->title, st->off);
    if (*s->before) say("%s", s->before);
    printf("\n  $ wakebal %s\n\n", s->command);
    int rc = put_file(s->file);
    if (rc) return rc;
    rc = run_command(s->command);
    if (out_stop) return out_stop_exit_code();
    if (rc != s->code && rc != EXIT_PRECISION) {
        fflush(stdout);
        fprintf(stderr, "wakebal learn: this step ended with exit code %d, not %d\n", rc, s->code);
        return rc ? rc : EXIT_INTERNAL;
    }
    putchar('\n');
    if (s->explain)
        s->explain();
    else
        say("%s", s->after);
    return EXIT_FINE;
}

static int walk(const struct learner *l)
{
    struct out_style st = out_style(&l->o, STDOUT_FILENO);
    for (size_t i = 0; i < WB_ARRAY_SIZE(steps); i++) {
        int rc = take_step(&steps[i], i, &st);
        if (rc) return rc;
        if (!pause_here(l, i)) return EXIT_FINE;
    }
    putchar('\n');
    say("That was all of it. Next: docs/scenario-files.md for files, docs/studies.md for large questions, "
        "docs/plugin-tutorial.md for a placement rule of your own, `wakebal doctor' for real measurements.");
    return EXIT_FINE;
}

/* ------------------------------------------------------------------ the folder */
static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static int make_folder(struct learner *l)
{
    const char *tmp = getenv("TMPDIR");
    if (l->keep) {
        snprintf(l->folder, sizeof l->folder, "%s", l->keep);
        if (!mkdir(l->folder, 0777) || errno == EEXIST) return EXIT_FINE;
    } else {
        snprintf(l->folder, sizeof l->folder, "%s/wakebal-learn-XXXXXX", tmp && *tmp ? tmp : "/tmp");
        if (mkdtemp(l->folder)) return EXIT_FINE;
    }
    char *name = exp_text_terminal(l->folder, 200);
    fprintf(stderr, "wakebal learn: cannot make the folder '%s': %s\n", name, strerror(errno));
    free(name);
    return EXIT_OUTPUT;
}

static int learn(struct learner *l)
{
    int rc = make_folder(l), back;
    if (rc) return rc;
    back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (chdir(l->folder)) {
        fprintf(stderr, "wakebal learn: cannot go to '%s': %s\n", l->folder, strerror(errno));
        rc = EXIT_OUTPUT;
    } else {
        rc = walk(l);
    }
    if (fchdir(back) && !rc) rc = EXIT_OUTPUT;
    close(back);
    if (!l->keep) (void)nftw(l->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return rc;
}

enum { KEY_KEEP = 0x1000 };
static const struct argp_option own[] = {
    {"keep", KEY_KEEP, "FOLDER", 0, "Work in this folder and leave the files there", 4},
    {0},
};

static error_t parse_own(int key, char *arg, void *ctx)
{
    if (key != KEY_KEEP) return ARGP_ERR_UNKNOWN;
    ((struct learner *)ctx)->keep = arg;
    return 0;
}

int verb_learn(int argc, char **argv)
{
    struct learner l = {.keep = NULL};
    const struct cli_spec spec = {
        .usage = "",
        .doc =
            "A tutorial that runs: each step is explained, run, and its result explained. On a terminal it waits for "
            "Enter between steps; elsewhere it runs through and takes a few seconds.",
        .own = own,
        .own_parse = parse_own,
        .own_ctx = &l};
    cli_options_init(&l.o);
    int rc = cli_options_parse(&spec, argc, argv, &l.o);
    l.ask = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (rc < 0) rc = learn(&l);
    cli_options_free(&l.o);
    return rc;
}
