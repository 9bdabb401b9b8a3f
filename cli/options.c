/* options.c - the table of shared options; see options.h. */
#include "options.h"
#include "plugin.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit_code.h"
#include "exp_format.h"
#include "meant.h"
#include "registry.h"
#include "wrap.h"
#include "wakebal/units.h"

enum {
    OPT_PRINT_CONFIG = 0x2000,
    OPT_PRECISION,
    OPT_CONFIDENCE,
    OPT_WARMUP,
    OPT_DRY_RUN,
    OPT_FAIL_IF,
    OPT_VARY,
    OPT_ZIP,
    OPT_WHERE,
    OPT_JSON,
    OPT_CSV,
    OPT_MARKDOWN,
    OPT_DATA,
    OPT_KEEP_SAMPLES,
    OPT_MANIFEST,
    OPT_TRACE,
    OPT_COLOR,
    OPT_PROGRESS,
    OPT_ASCII,
    OPT_DURATION
};

static const struct {
    struct argp_option o;
    unsigned group;
} shared[] = {
    {{"set", 's', "KEY=VALUE", 0, "Set a scenario key (wakebal list keys)", 1}, CLI_SCENARIO},
    {{"machine", 'm', "NAME|FILE|SYNTHETIC", 0,
      "Run on another machine; a topology (\"pack:2 core:4 pu:2\") keeps the scenario's costs, or has generic ones", 1},
     CLI_SCENARIO},
    {{"kernel", 'k', "NAME|FILE", 0, "Run on another kernel", 1}, CLI_SCENARIO},
    {{"policy", 'p', "NAME|FILE.so", 0, "Scheduler family (sets kernel.scheduler), or a plug-in laid over the kernel's",
      1},
     CLI_SCENARIO},
    {{"seed", 'S', "N", 0, "Seed of all random streams: sets run.seed", 1}, CLI_SCENARIO},
    {{"print-config", OPT_PRINT_CONFIG, NULL, 0, "Print every key with its value and where it came from, and stop", 1},
     CLI_SCENARIO},
    {{"replications", 'r', "N|MIN..MAX", 0, "How often to repeat", 2}, CLI_MEASURE},
    {{"precision", OPT_PRECISION, "RATIO", 0, "Goal for the half width of the interval, for example 2%", 2},
     CLI_MEASURE},
    {{"confidence", OPT_CONFIDENCE, "RATIO", 0, "Confidence of the intervals, for example 95%", 2}, CLI_MEASURE},
    {{"warmup", OPT_WARMUP, "auto|none|TIME", 0, "Time at the start that is not counted", 2}, CLI_MEASURE},
    {{"duration", OPT_DURATION, "TIME", 0, "Simulated time of a run: sets run.duration", 2}, CLI_MEASURE},
    {{"jobs", 'j', "N|auto", 0, "Replications that run at once", 2}, CLI_MEASURE},
    {{"dry-run", OPT_DRY_RUN, NULL, 0, "Say what would run, and stop", 2}, CLI_MEASURE},
    {{"fail-if", OPT_FAIL_IF, "EXPR", 0, "Exit with code 4 when this holds of the results", 2}, CLI_MEASURE},
    {{"vary", OPT_VARY, "KEY=VALUES", 0, "An axis: a,b,c  1..10  0..1 /11  1..1024 *2  1ms..64ms *4  @file", 3},
     CLI_SWEEP},
    {{"zip", OPT_ZIP, "KEY,KEY", 0, "Axes that move in lock step", 3}, CLI_SWEEP},
    {{"where", OPT_WHERE, "EXPR", 0, "Keep only points for which this holds", 3}, CLI_SWEEP},
    {{"output", 'o', "DIR|FILE", 0, "Where files go: a folder for results, or the file of --trace or of a picture", 4},
     CLI_OUTPUT},
    {{"export-json", OPT_JSON, "FILE", 0, "Write results as JSON; - is standard output", 4},
     CLI_EXPORT | CLI_EXPORT_JSON},
    {{"export-csv", OPT_CSV, "FILE", 0, "Write results as CSV, long form", 4}, CLI_EXPORT | CLI_EXPORT_TABLES},
    {{"export-markdown", OPT_MARKDOWN, "FILE", 0, "Write results as a Markdown table", 4},
     CLI_EXPORT | CLI_EXPORT_TABLES},
    {{"export-data", OPT_DATA, "FILE", 0, "Write results as gnuplot data", 4}, CLI_EXPORT},
    {{"keep-samples", OPT_KEEP_SAMPLES, NULL, 0, "Keep the value of each replication in the results", 4}, CLI_RUNS},
    {{"manifest", OPT_MANIFEST, "FILE", 0, "Write what it takes to repeat this (wakebal rerun FILE)", 4}, CLI_RUNS},
    {{"trace", OPT_TRACE, "FROM..TO", OPTION_ARG_OPTIONAL, "Record a trace, of this window or of all", 4}, CLI_TRACE},
    {{"color", OPT_COLOR, "auto|always|never", 0, "Colours", 5}, CLI_TERMINAL},
    {{"progress", OPT_PROGRESS, "auto|always|never|json", 0,
      "Progress on standard error; auto: a line on a terminal, one in 30 s in a log", 5},
     CLI_TERMINAL},
    {{"ascii", OPT_ASCII, NULL, 0, "No characters beyond ASCII", 5}, CLI_TERMINAL},
    {{"quiet", 'q', NULL, 0, "Only results and errors", 5}, CLI_TERMINAL},
    {{"verbose", 'v', NULL, 0, "Say more; twice for even more", 5}, CLI_TERMINAL},
    {{"help", 'h', NULL, 0, "Show this help", 6}, CLI_TERMINAL},
};

struct parse {
    const struct cli_spec *spec;
    struct cli_options *o;
    const char *verb;
    int rc; /* -1 = go on */
};

void cli_options_init(struct cli_options *o)
{
    *o = (struct cli_options){0};
}

void cli_options_free(struct cli_options *o)
{
    for (size_t i = 0; i < o->set_n; i++) free((char *)o->set[i].key);
    free(o->set);
    free(o->vary);
    free(o->zip);
    free(o->where);
    free(o->fail_if);
    free(o->arg);
    *o = (struct cli_options){0};
}

static void *need(void *p)
{
    if (p) return p;
    wb_no_memory("out of memory for the command line");
}

static void append(const char ***list, size_t *n, const char *text)
{
    *list = need(realloc(*list, (*n + 1) * sizeof **list));
    (*list)[(*n)++] = text;
}

/* key and value are copied into one block, which the key owns. */
static void add_set(struct cli_options *o, const char *key, size_t key_len, const char *value, const char *from)
{
    size_t n = strlen(value);
    char *block = need(malloc(key_len + n + 2));
    memcpy(block, key, key_len);
    block[key_len] = '\0';
    memcpy(block + key_len + 1, value, n + 1);
    o->set = need(realloc(o->set, (o->set_n + 1) * sizeof *o->set));
    o->set[o->set_n++] = (struct wb_override){block, block + key_len + 1, from, {NULL, 0, 0, 0}};
}

static void set_key(struct cli_options *o, const char *key, const char *value, const char *from)
{
    add_set(o, key, strlen(key), value, from);
}

int cli_usage_error(const char *verb, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = wb_vtext(fmt, ap);
    va_end(ap);
    char *shown = exp_text_terminal(text, 0); /* what the user typed is in it */
    fprintf(stderr, "%s: %s", verb, shown);
    free(shown);
    free(text);
    if (hint)
        fprintf(stderr, "\n%s\n", hint);
    else
        fprintf(stderr, "\nTry `%s --help'.\n", verb);
    return EXIT_USAGE;
}

static error_t wrong(struct parse *p, int rc)
{
    p->rc = rc;
    return EINVAL;
}

int cli_read_time(const char *verb, const char *option, const char *text, sim_time *t)
{
    const char *why = NULL;
    size_t at = 0;
    int64_t v = 0;
    if (!text) return -1;
    if (wb_parse_quantity(text, WB_UNIT_TIME, &v, &why, &at) || v < 0)
        return cli_usage_error(verb, "Write a time with its unit, for example 250us or \"1.5 ms\"", "%s '%.60s': %s",
                               option, text, why ? why : "a time cannot be negative");
    *t = (sim_time)v;
    return -1;
}

/* ---- options with values of their own ---- */

static error_t parse_set(struct parse *p, const char *arg)
{
    size_t n = strcspn(arg, "=");
    if (!n || !arg[n])
        return wrong(p, cli_usage_error(p->verb, "For example: --set workload.message=\"4 KiB\"",
                                        "--set '%.200s' is not KEY=VALUE", arg));
    add_set(p->o, arg, n, arg + n + 1, "--set");
    return 0;
}

static error_t parse_replications(struct parse *p, const char *arg)
{
    const char *dots = strstr(arg, "..");
    char min[32];
    size_t n = dots ? (size_t)(dots - arg) : strlen(arg);
    const char *max = dots ? dots + 2 : arg;
    if (!n || n >= sizeof min || strspn(arg, "0123456789") != n || !*max || max[strspn(max, "0123456789")])
        return wrong(p, cli_usage_error(p->verb, "For example: -r 10, or -r 5..40",
                                        "--replications '%.100s' is neither N nor MIN..MAX", arg));
    memcpy(min, arg, n);
    min[n] = '\0';
    set_key(p->o, "run.replications.min", min, "--replications");
    set_key(p->o, "run.replications.max", max, "--replications");
    return 0;
}

static error_t parse_jobs(struct parse *p, const char *arg)
{
    char *end;
    unsigned long n = strtoul(arg, &end, 10);
    if (!strcmp(arg, "auto")) {
        p->o->jobs = 0;
        return 0;
    }
    if (*end || end == arg || n < 1 || n > 4096 || *arg == '-')
        return wrong(p, cli_usage_error(p->verb, "For example: -j 4, or -j auto",
                                        "--jobs '%.100s' is no number from 1 to 4096", arg));
    p->o->jobs = (uint32_t)n;
    return 0;
}

static error_t parse_when(struct parse *p, const char *option, const char *arg, bool json, enum cli_when *when)
{
    static const char *const words[] = {
        [CLI_AUTO] = "auto", [CLI_ALWAYS] = "always", [CLI_NEVER] = "never", [CLI_JSON] = "json"};
    size_t n = json ? 4 : 3;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i], arg)) continue;
        *when = (enum cli_when)i;
        return 0;
    }
    const char *near = wb_nearest(arg, words, n);
    char hint[80];
    snprintf(hint, sizeof hint, "%s%s%sOne of: auto, always, never%s", near ? "Did you mean '" : "", near ? near : "",
             near ? "'?  " : "", json ? ", json" : "");
    return wrong(p, cli_usage_error(p->verb, hint, "--%s '%.100s' is not known", option, arg));
}

/* A list where one name belongs: several are an axis. Topologies of hwloc may hold commas. */
static error_t take_one(struct parse *p, const char *option, const char *key, char *arg, const char **to)
{
    bool list = strchr(arg, ',') && !strpbrk(arg, ": (") && access(arg, F_OK);
    *to = arg;
    if (!list) return 0;
    char hint[300];
    bool sweeps = p->spec->groups & CLI_SWEEP;
    snprintf(hint, sizeof hint,
             sweeps ? "To compare them: --vary %s=%.200s" : "One at a time; wakebal run compares: --vary %s=%.200s",
             key, arg);
    return wrong(p, cli_usage_error(p->verb, hint, "%s takes one name, and '%.200s' is a list", option, arg));
}

/* ---- dispatch ---- */

static error_t parse_scenario(struct parse *p, int key, char *arg)
{
    switch (key) {
    case 's': return parse_set(p, arg);
    case 'm': return take_one(p, "-m", "machine.base", arg, &p->o->machine);
    case 'k': return take_one(p, "-k", "kernel.base", arg, &p->o->kernel);
    case 'p':
        if (plugin_is_path(arg))
            p->o->plugin = arg;
        else
            set_key(p->o, "kernel.scheduler", arg, "--policy");
        return plugin_is_path(arg) ? 0 : take_one(p, "-p", "kernel.scheduler", arg, &(const char *){NULL});
    case 'S': set_key(p->o, "run.seed", arg, "--seed"); return 0;
    case OPT_PRINT_CONFIG: p->o->print_config = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_measure(struct parse *p, int key, char *arg)
{
    struct cli_options *o = p->o;
    switch (key) {
    case 'r': return parse_replications(p, arg);
    case 'j': return parse_jobs(p, arg);
    case OPT_PRECISION: set_key(o, "run.replications.half_width", arg, "--precision"); return 0;
    case OPT_CONFIDENCE: set_key(o, "run.replications.confidence", arg, "--confidence"); return 0;
    case OPT_WARMUP: set_key(o, "run.warmup", arg, "--warmup"); return 0;
    case OPT_DURATION: set_key(o, "run.duration", arg, "--duration"); return 0;
    case OPT_DRY_RUN: o->dry_run = true; return 0;
    case OPT_FAIL_IF: append(&o->fail_if, &o->fail_if_n, arg); return 0;
    case OPT_VARY: append(&o->vary, &o->vary_n, arg); return 0;
    case OPT_ZIP: append(&o->zip, &o->zip_n, arg); return 0;
    case OPT_WHERE: append(&o->where, &o->where_n, arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_output(struct parse *p, int key, char *arg)
{
    struct cli_options *o = p->o;
    switch (key) {
    case 'o': o->output = arg; return 0;
    case OPT_JSON: o->export_json = arg; return 0;
    case OPT_CSV: o->export_csv = arg; return 0;
    case OPT_MARKDOWN: o->export_markdown = arg; return 0;
    case OPT_DATA: o->export_data = arg; return 0;
    case OPT_MANIFEST: o->manifest = arg; return 0;
    case OPT_KEEP_SAMPLES: o->keep_samples = true; return 0;
    case OPT_TRACE:
        o->trace = true;
        o->trace_window = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* What it does, examples, then the options; the long list of all options in brackets is left to --usage. */
static void print_help(const struct parse *p, const struct argp_state *state)
{
    const char *doc = p->spec->doc, *more = strchr(doc, '\v');
    printf("Usage: %s [OPTION...]%s%s\n\n", p->verb, *p->spec->usage ? " " : "", p->spec->usage);
    char *first = strndup(doc, more ? (size_t)(more - doc) : strlen(doc));
    WB_MEMORY(first, "out of memory for the help");
    wrap_print(stdout, first, 0, 80);
    free(first);
    if (more) printf("\n%s%s", more + 1, more[strlen(more) - 1] == '\n' ? "" : "\n");
    printf("\nOptions:\n");
    argp_help(state->root_argp, stdout, ARGP_HELP_LONG, (char *)p->verb);
}

static error_t parse_terminal(struct parse *p, int key, char *arg, struct argp_state *state)
{
    struct cli_options *o = p->o;
    switch (key) {
    case OPT_COLOR: return parse_when(p, "color", arg, false, &o->color);
    case OPT_PROGRESS: return parse_when(p, "progress", arg, true, &o->progress);
    case OPT_ASCII: o->ascii = true; return 0;
    case 'q': o->quiet = true; return 0;
    case 'v': o->verbose++; return 0;
    case 'h': print_help(p, state); return wrong(p, EXIT_FINE);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t check_count(struct parse *p)
{
    const struct cli_spec *s = p->spec;
    size_t max = s->args_max > s->args_min ? s->args_max : s->args_min, n = p->o->arg_n;
    if (n < s->args_min) return wrong(p, cli_usage_error(p->verb, s->missing, "an argument is missing: %s", s->usage));
    if (n > max)
        return wrong(p, cli_usage_error(p->verb, s->surplus, "'%.200s' is one argument too many", p->o->arg[max]));
    return 0;
}

static error_t parse_one(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;
    error_t e =
        p->spec->own_parse && key != ARGP_KEY_ARG ? p->spec->own_parse(key, arg, p->spec->own_ctx) : ARGP_ERR_UNKNOWN;
    if (e == EINVAL) p->rc = EXIT_USAGE; /* the verb has said why */
    if (e == ARGP_ERR_UNKNOWN) e = parse_scenario(p, key, arg);
    if (e == ARGP_ERR_UNKNOWN) e = parse_measure(p, key, arg);
    if (e == ARGP_ERR_UNKNOWN) e = parse_output(p, key, arg);
    if (e == ARGP_ERR_UNKNOWN) e = parse_terminal(p, key, arg, state);
    if (e != ARGP_ERR_UNKNOWN) return e;
    if (key == ARGP_KEY_ARG) {
        append(&p->o->arg, &p->o->arg_n, arg);
        return 0;
    }
    return key == ARGP_KEY_END && p->rc < 0 ? check_count(p) : ARGP_ERR_UNKNOWN;
}

/* ---- words that are no options ---- */

static size_t build_options(const struct cli_spec *s, struct argp_option *out)
{
    size_t n = 0;
    for (const struct argp_option *o = s->own; o && (o->name || o->key || o->doc); o++) out[n++] = *o;
    for (size_t i = 0; i < WB_ARRAY_SIZE(shared); i++)
        if (shared[i].group & (s->groups | CLI_TERMINAL)) out[n++] = shared[i].o;
    out[n] = (struct argp_option){0};
    return n;
}

/* getopt takes any unambiguous beginning of a name. */
static const struct argp_option *find_long(const struct argp_option *o, size_t n, const char *word, size_t len,
                                           size_t *hits)
{
    const struct argp_option *found = NULL;
    *hits = 0;
    for (size_t i = 0; i < n; i++) {
        if (!o[i].name || strncmp(o[i].name, word, len)) continue;
        found = &o[i];
        ++*hits;
        if (strlen(o[i].name) == len) {
            *hits = 1;
            return found;
        }
    }
    return found;
}

/* What other programs call our options. */
static const struct meaning foreign[] = {
    {"time", "duration"},
    {"seconds", "duration"},
    {"length", "duration"},
    {"runtime", "duration"},
    {"repeat", "replications"},
    {"runs", "replications"},
    {"iterations", "replications"},
    {"loops", "replications"},
    {"threads", "jobs"},
    {"parallel", "jobs"},
    {"json", "export-json"},
    {"csv", "export-csv"},
    {"markdown", "export-markdown"},
    {"out", "output"},
    {"file", "output"},
    {"output-file", "output"},
    {"sched", "policy"},
    {"scheduler", "policy"},
    {"sweep", "vary"},
    {"param", "set"},
    {"silent", "quiet"},
    {"topology", "machine"},
    {"colour", "color"},
    {"ci", "confidence"},
    /* bench: how often decides how long */
    {"duration", "best-of"},
    {"time", "best-of"},
    {"seconds", "best-of"},
    {"repeat", "best-of"},
    {"runs", "best-of"},
    {"replications", "best-of"},
};

/* The key of which it is the last word, where keys can be set; else NULL. The caller frees it. */
static char *key_called(const char *name)
{
    static const char *const scope[] = {"workload.", "run.", "policy.", "kernel.", "machine."};
    struct wb_key_registry *keys = cli_keys_new();
    char word[64], *found = NULL;
    snprintf(word, sizeof word, "%s", name);
    for (char *p = word; *p; p++)
        if (*p == '-') *p = '_';
    for (size_t s = 0; s < WB_ARRAY_SIZE(scope); s++)
        for (size_t i = 0; !found && i < wb_keys_count(keys); i++) {
            const char *path = wb_keys_at(keys, i)->path, *dot = strrchr(path, '.');
            if (dot && !strcmp(dot + 1, word) && !strchr(path, '*') && !strncmp(path, scope[s], strlen(scope[s])))
                found = wb_text("%s", path);
        }
    wb_keys_free(keys);
    return found;
}

static int bad_long(const char *verb, const struct argp_option *o, size_t n, const char *word, size_t len)
{
    const char *names[96];
    char name[64], hint[200] = "";
    size_t k = 0;
    bool sets = false;
    for (size_t i = 0; i < n && k < WB_ARRAY_SIZE(names); i++) {
        if (!o[i].name) continue;
        names[k++] = o[i].name;
        sets |= !strcmp(o[i].name, "set");
    }
    snprintf(name, sizeof name, "%.*s", (int)WB_MIN(len, sizeof name - 1), word);
    char *key = sets ? key_called(name) : NULL;
    const char *near = meant_word(name, foreign, WB_ARRAY_SIZE(foreign), names, k);
    if (key)
        snprintf(hint, sizeof hint, "To set the key of that name: --set %s=VALUE   (wakebal help %s)", key, key);
    else if (near)
        snprintf(hint, sizeof hint, "Did you mean '--%s'?", near);
    free(key);
    return cli_usage_error(verb, *hint ? hint : NULL, "there is no option '--%s'", name);
}

/* Before argp sees them, so that a mistyped option gets a suggestion. -1 = all known. */
static int check_words(const struct argp_option *o, size_t n, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *w = argv[i];
        if (!strcmp(w, "--")) break;
        if (strncmp(w, "--", 2)) continue;
        size_t len = strcspn(w + 2, "="), hits;
        if (!strcmp(w, "--usage")) continue;
        const struct argp_option *f = find_long(o, n, w + 2, len, &hits);
        if (!f) return bad_long(argv[0], o, n, w + 2, len);
        if (hits == 1 && f->arg && !(f->flags & OPTION_ARG_OPTIONAL) && !w[2 + len]) i++; /* its value */
    }
    return -1;
}

/* Before any scenario is read: a plug-in may bring keys. */
static int load_plugin(const struct cli_options *o)
{
    struct wb_diag *d = wb_diag_new();
    int rc = plugin_load(o->plugin, d) ? cli_print_diag(o, d) : -1;
    wb_diag_free(d);
    return rc;
}

void (*cli_options_observer)(const struct cli_spec *spec, const struct argp_option *option, size_t n);

int cli_options_parse(const struct cli_spec *spec, int argc, char **argv, struct cli_options *o)
{
    struct argp_option options[96];
    size_t n = build_options(spec, options);
    struct argp argp = {.options = options, .parser = parse_one, .args_doc = spec->usage, .doc = spec->doc};
    struct parse p = {.spec = spec, .o = o, .verb = argv[0], .rc = -1};
    WB_CHECK(n + 1 < WB_ARRAY_SIZE(options), "%zu options", n);
    if (cli_options_observer) {
        cli_options_observer(spec, options, n);
        return EXIT_FINE;
    }
    int rc = check_words(options, n, argc, argv);
    if (rc >= 0) return rc;
    error_t e = argp_parse(&argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &p);
    if (p.rc >= 0) return p.rc;
    if (e) return EXIT_USAGE;
    return o->plugin ? load_plugin(o) : -1;
}

struct wb_overrides cli_overrides(const struct cli_options *o)
{
    return (struct wb_overrides){.item = o->set, .n = o->set_n, .machine = o->machine, .kernel = o->kernel};
}

/* ---- the terminal ---- */

bool cli_color(const struct cli_options *o, int fd)
{
    const char *force = getenv("CLICOLOR_FORCE"), *none = getenv("NO_COLOR"), *term = getenv("TERM");
    if (o->color != CLI_AUTO) return o->color == CLI_ALWAYS;
    if (none && *none) return false;
    if (force && *force && strcmp(force, "0")) return true;
    return isatty(fd) && term && strcmp(term, "dumb");
}

bool cli_unicode(const struct cli_options *o)
{
    return !o->ascii && !strcmp(nl_langinfo(CODESET), "UTF-8");
}

int cli_print_diag(const struct cli_options *o, const struct wb_diag *d)
{
    char *text = wb_diag_render(d, cli_color(o, STDERR_FILENO));
    fputs(text, stderr);
    free(text);
    return wb_diag_count(d, WB_ERROR) ? EXIT_INVALID : EXIT_FINE;
}
