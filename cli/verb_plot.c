/*
 * verb_plot.c - `wakebal plot STUDY|FILE.json|SCENARIO --kind KIND`.
 *
 * A file or a study is drawn as it is; a scenario is simulated first, with its axes, or traced (timeline,
 * migrations), or reproduced (tornado). The picture, its data and the script that draws it again lie side by side.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit_code.h"
#include "meant.h"
#include "output.h"
#include "plot_source.h"
#include "reproduce_plot.h"
#include "verbs.h"
#include "wrap.h"

#define KEEP_MAX 16

struct drawing {
    struct cli_options o;
    struct plot_options p;
    struct plot_source source;
    const char *kind, *format;
    const char *keep[KEEP_MAX];
    char base[4096], command[1024]; /* what p points to */
};

enum {
    KEY_KIND = 0x1000,
    KEY_FORMAT,
    KEY_TERMINAL,
    KEY_METRIC,
    KEY_TITLE,
    KEY_X,
    KEY_Y,
    KEY_SERIES,
    KEY_FACETS,
    KEY_ONLY,
    KEY_FROM,
    KEY_TO
};
static const struct argp_option own[] = {
    {"kind", KEY_KIND, "NAME", 0,
     "What to draw (see below); default: what fits the file, else windows of one point, bars of several, lines with "
     "--x",
     4},
    {"format", KEY_FORMAT, "png|svg|pdf|terminal", 0, "Kind of picture (default png)", 4},
    {"terminal", KEY_TERMINAL, NULL, 0, "The same as --format terminal: draw here, keep no files unless -o is given",
     4},
    {"metric", KEY_METRIC, "NAME", 0,
     "Figure to draw (default: the deciding one; wake_latency for cdf); the row of a case (tornado)", 4},
    {"title", KEY_TITLE, "TEXT", 0, "Title (default: the scenario's)", 4},
    {"x", KEY_X, "KEY", 0, "Axis of the sweep that goes across (default: the numbers with the most values)", 4},
    {"y", KEY_Y, "KEY|NAME", 0, "heat: axis that goes up; else the same as --metric", 4},
    {"series", KEY_SERIES, "KEY[,KEY]", 0, "A line for each of its values; bars: a colour", 4},
    {"facets", KEY_FACETS, "KEY[,KEY]", 0,
     "A panel for each of its values (lines, heat, windows, cdf, stacks); bars: a group", 4},
    {"only", KEY_ONLY, "KEY=VALUE[,VALUE]", 0, "Only points with this coordinate; may be repeated", 4},
    {"from", KEY_FROM, "TIME", 0,
     "timeline, migrations: begin of the window, simulated time (default: timeline, a little before the first task "
     "that "
     "balancing or else a wakeup moves after the warm-up; migrations, the begin of the run)",
     4},
    {"to", KEY_TO, "TIME", 0,
     "Its end (default: a dozen switches of timeline, 300 us after --from; the end of the run of migrations)", 4},
    {0},
};
static const char kinds_help[] =
    "\vKinds:\n"
    "  windows     a figure and the share of time together, over windows of time\n"
    "  bars        means with intervals, a bar a point\n"
    "  cdf         distribution of a latency\n"
    "  lines       a figure along --x with bands of its intervals, by --series and --facets\n"
    "  heat        a figure over two axes, --x and --y\n"
    "  stacks      where the CPU time went, by category\n"
    "  migrations  from CPU to CPU, grouped by domain (of a scenario)\n"
    "  timeline    who ran where, with arrows of wakeups (of a scenario)\n"
    "  scatter     predicted against measured (of wakebal validate --export-json)\n"
    "  tornado     how a figure of a case moves with its assumed costs (of a case, or of\n"
    "              wakebal reproduce --export-json)\n";

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct drawing *w = ctx;
    switch (key) {
    case KEY_KIND: w->kind = arg; return 0;
    case KEY_FORMAT: w->format = arg; return 0;
    case KEY_TERMINAL: w->format = "terminal"; return 0;
    case KEY_METRIC: w->p.metric = arg; return 0;
    case KEY_TITLE: w->p.title = arg; return 0;
    case KEY_X: w->p.x = arg; return 0;
    case KEY_Y: w->p.y = arg; return 0;
    case KEY_SERIES: w->p.series = arg; return 0;
    case KEY_FACETS: w->p.facets = arg; return 0;
    case KEY_ONLY:
        if (w->p.nkeep < KEEP_MAX) w->keep[w->p.nkeep++] = arg;
        return 0;
    case KEY_FROM: w->source.from = arg; return 0;
    case KEY_TO: w->source.until = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* What other programs call our words, or what one wants to see with them. */
static const struct meaning meanings[] = {
    {"latency", "cdf"},
    {"latencies", "cdf"},
    {"distribution", "cdf"},
    {"percentile", "cdf"},
    {"percentiles", "cdf"},
    {"quantiles", "cdf"},
    {"histogram", "cdf"},
    {"hist", "cdf"},
    {"ecdf", "cdf"},
    {"gantt", "timeline"},
    {"trace", "timeline"},
    {"schedule", "timeline"},
    {"map", "timeline"},
    {"timehist", "timeline"},
    {"perfetto", "timeline"},
    {"sensitivity", "tornado"},
    {"costs", "tornado"},
    {"bar", "bars"},
    {"column", "bars"},
    {"columns", "bars"},
    {"compare", "bars"},
    {"boxplot", "bars"},
    {"errorbars", "bars"},
    {"line", "lines"},
    {"curve", "lines"},
    {"scaling", "lines"},
    {"xy", "lines"},
    {"series", "lines"},
    {"heatmap", "heat"},
    {"grid", "heat"},
    {"surface", "heat"},
    {"time", "windows"},
    {"timeseries", "windows"},
    {"modes", "windows"},
    {"bandwidth", "windows"},
    {"throughput", "windows"},
    {"profile", "stacks"},
    {"flamegraph", "stacks"},
    {"area", "stacks"},
    {"cpu", "stacks"},
    {"breakdown", "stacks"},
    {"utilization", "stacks"},
    {"matrix", "migrations"},
    {"balance", "migrations"},
    {"moves", "migrations"},
    {"points", "scatter"},
    {"validation", "scatter"},
    {"correlation", "scatter"},
    {"jpg", "png"},
    {"jpeg", "png"},
    {"gif", "png"},
    {"image", "png"},
    {"eps", "pdf"},
    {"ps", "pdf"},
    {"html", "svg"},
    {"vector", "svg"},
    {"text", "terminal"},
    {"txt", "terminal"},
    {"ascii", "terminal"},
    {"dumb", "terminal"},
};

/* Index of a word in a list; -1 = none (told). */
static int find_word(const char *option, const char *word, const char *const *list, size_t n)
{
    char hint[256];
    for (size_t i = 0; i < n; i++)
        if (!strcmp(word, list[i])) return (int)i;
    const char *near = meant_word(word, meanings, WB_ARRAY_SIZE(meanings), list, n);
    size_t len = (size_t)snprintf(hint, sizeof hint, "%s%s%sOne of:", near ? "Did you mean '" : "", near ? near : "",
                                  near ? "'?  " : "");
    for (size_t i = 0; i < n && len < sizeof hint; i++)
        len += (size_t)snprintf(hint + len, sizeof hint - len, "%s %s", i ? "," : "", list[i]);
    (void)cli_usage_error("wakebal plot", hint, "%s '%.60s' is not known", option, word);
    return -1;
}

static bool is_trace(const struct drawing *w)
{
    return w->p.kind == PLOT_TIMELINE || w->p.kind == PLOT_MIGRATIONS;
}

/* Options that do not go together. -1 = fine. */
static int check_options(struct drawing *w)
{
    bool file = plot_source_is_file(w->o.arg[0]);
    for (size_t i = 0; i < w->p.nkeep; i++)
        if (!strchr(w->keep[i], '='))
            return cli_usage_error("wakebal plot", "For example --only copies=1,2", "--only '%.60s' has no value",
                                   w->keep[i]);
    if (file && (w->o.vary_n || w->o.zip_n || w->o.where_n))
        return cli_usage_error("wakebal plot", "Choose points of a file with --only KEY=VALUE",
                               "'%.60s' is no scenario: nothing can be varied", w->o.arg[0]);
    if (w->kind && is_trace(w) && w->o.vary_n)
        return cli_usage_error("wakebal plot", "Choose a point with --set KEY=VALUE", "%s draws a single run",
                               plot_kind_name[w->p.kind]);
    if ((w->source.from || w->source.until) && !(w->kind && is_trace(w)))
        return cli_usage_error("wakebal plot", NULL, "--from and --to belong to --kind timeline and migrations");
    return -1;
}

/* An option that would not be obeyed is not taken. -1 = fine. */
static int check_obeyed(const struct drawing *w)
{
    const char *option = plot_option_unused(&w->p);
    if (!option) return -1;
    return cli_usage_error("wakebal plot", "wakebal help plot tells what each kind shows", "%s has no %s",
                           plot_kind_name[w->p.kind], option);
}

/* -1 = go on, else the exit code. */
static int read_options(struct drawing *w, int argc, char **argv)
{
    char doc[1600];
    snprintf(doc, sizeof doc,
             "Draw a picture: of a study (wakebal sweep), of a file (--export-json of run, sweep, validate, "
             "reproduce), or of a scenario that is simulated first.%s",
             kinds_help);
    struct cli_spec spec = {.usage = "STUDY|FILE.json|SCENARIO",
                            .doc = doc,
                            .groups = CLI_SCENARIO | CLI_MEASURE | CLI_SWEEP | CLI_OUTPUT,
                            .own = own,
                            .own_parse = parse_own,
                            .own_ctx = w,
                            .missing = "For example: wakebal plot pipe, or: wakebal plot result.json --kind bars.  "
                                       "Options: wakebal plot --help",
                            .args_min = 1,
                            .args_max = 1};
    int rc = cli_options_parse(&spec, argc, argv, &w->o);
    if (rc >= 0) return rc;
    int format = find_word("--format", w->format ? w->format : "png", plot_format_name, PLOT_FORMATS);
    if (!w->kind && w->p.x) w->kind = "lines";
    int kind = w->kind ? find_word("--kind", w->kind, plot_kind_name, PLOT_KINDS) : PLOT_WINDOWS;
    if (format < 0 || kind < 0) return EXIT_USAGE;
    w->p.format = (enum plot_format)format;
    w->p.kind = (enum plot_kind)kind;
    if (kind != PLOT_HEAT && w->p.y && !w->p.metric) {
        w->p.metric = w->p.y;
        w->p.y = NULL;
    }
    w->p.keep = w->keep;
    w->source.o = &w->o;
    rc = check_options(w);
    return rc < 0 && w->kind ? check_obeyed(w) : rc;
}

static json_t *document_of(struct drawing *w, int *rc)
{
    if (plot_source_is_file(w->o.arg[0])) return plot_source_file(w->o.arg[0], rc);
    if (w->p.kind == PLOT_TIMELINE) return plot_source_timeline(&w->source, rc);
    if (w->p.kind == PLOT_MIGRATIONS) return plot_source_migrations(&w->source, rc);
    if (w->p.kind == PLOT_TORNADO) return plot_source_case(&w->source, rc);
    return plot_source_results(&w->source, rc);
}

/* ------------------------------------------------------------------ drawing */
/* "dir/pipe.json" -> "pipe-windows" in the working folder. */
static void default_base(const struct drawing *w, char *buf, size_t n)
{
    char arg[512];
    snprintf(arg, sizeof arg, "%s", w->o.arg[0]);
    size_t end = strlen(arg);
    while (end > 1 && arg[end - 1] == '/') arg[--end] = 0; /* the folder of a study */
    const char *slash = strrchr(arg, '/'), *stem = slash && slash[1] ? slash + 1 : arg, *dot = strrchr(stem, '.');
    int len = dot && dot != stem ? (int)(dot - stem) : (int)strlen(stem);
    snprintf(buf, n, "%.*s-%s", len, stem, plot_kind_name[w->p.kind]);
}

/* -o may name a folder (made when it ends in '/'), a file with its ending, or one without. */
static int choose_base(struct drawing *w, char *buf, size_t n)
{
    char name[512];
    struct stat st;
    const char *o = w->o.output;
    default_base(w, name, sizeof name);
    if (!o) {
        snprintf(buf, n, "%s", name);
        w->p.base = w->p.format == PLOT_TERMINAL ? NULL : buf;
        return EXIT_FINE;
    }
    size_t len = strlen(o);
    if (len && o[len - 1] == '/' && plot_make_folder(o)) return EXIT_OUTPUT;
    if (!stat(o, &st) && S_ISDIR(st.st_mode))
        snprintf(buf, n, "%s%s%s", o, len && o[len - 1] == '/' ? "" : "/", name);
    else
        snprintf(buf, n, "%s", o);
    for (int f = 0; f < PLOT_TERMINAL; f++) {
        size_t dot = strlen(buf) > 4 ? strlen(buf) - 4 : 0;
        if (!dot || buf[dot] != '.' || strcmp(buf + dot + 1, plot_format_name[f])) continue;
        buf[dot] = 0;
        if (!w->format) w->p.format = (enum plot_format)f;
        break;
    }
    w->p.base = buf;
    return EXIT_FINE;
}

/* The command without what only says where the picture goes. */
static void tell_command(const struct drawing *w, char *buf, size_t n)
{
    const struct {
        const char *option, *value;
    } list[] = {{"--metric", w->p.metric}, {"--x", w->p.x},           {"--y", w->p.y},
                {"--series", w->p.series}, {"--facets", w->p.facets}, {"--from", w->source.from},
                {"--to", w->source.until}};
    size_t len = (size_t)snprintf(buf, n, "wakebal plot %s --kind %s", w->o.arg[0], plot_kind_name[w->p.kind]);
    for (size_t i = 0; i < WB_ARRAY_SIZE(list) && len < n; i++)
        if (list[i].value) len += (size_t)snprintf(buf + len, n - len, " %s %s", list[i].option, list[i].value);
    for (size_t i = 0; i < w->p.nkeep && len < n; i++)
        len += (size_t)snprintf(buf + len, n - len, " --only %s", w->keep[i]);
}

static int draw(struct drawing *w)
{
    int rc = EXIT_INVALID;
    json_t *doc = document_of(w, &rc);
    if (!doc) return rc;
    if (!w->kind) {
        w->p.kind = plot_kind_for(doc);
        rc = check_obeyed(w);
        if (rc >= 0) {
            json_decref(doc);
            return rc;
        }
    }
    if (isatty(1)) w->p.columns = (uint32_t)WB_MIN(WB_MAX(wrap_width(), (size_t)40), (size_t)160);
    tell_command(w, w->command, sizeof w->command);
    rc = choose_base(w, w->base, sizeof w->base);
    w->p.command = w->command;
    w->p.terminal = stdout;
    w->p.colour = cli_color(&w->o, 1);
    w->p.unicode = cli_unicode(&w->o);
    if (!rc) rc = plot_and_tell(doc, &w->p, "wakebal plot");
    if (!rc && w->p.base && w->p.format != PLOT_TERMINAL && !w->o.quiet)
        out_line(stderr, "Picture: %s.%s (with .gp and .dat)", w->p.base, plot_format_name[w->p.format]);
    json_decref(doc);
    return rc;
}

int verb_plot(int argc, char **argv)
{
    struct drawing w = {.kind = NULL};
    cli_options_init(&w.o);
    int rc = read_options(&w, argc, argv);
    if (rc < 0) rc = draw(&w);
    cli_options_free(&w.o);
    return rc;
}
