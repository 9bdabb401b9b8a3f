/*
 * verb_show.c - `wakebal show VIEW SCENARIO`: what a run looks like, in the terminal.
 *
 * Views of the machine (topology, domains) need the simulation built, not run. The others run it with tracing on up
 * to the end of the window; without --from and --to they show the moment that story.h finds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "draw_domains.h"
#include "exit_code.h"
#include "exp_format.h"
#include "options.h"
#include "registry.h"
#include "story.h"
#include "verbs.h"
#include "wakebal/run.h"
#include "wakebal/traceview.h"
#include "wakebal/units.h"
#include "wrap.h"

#define RING (1u << 20) /* records: 32 MiB */

struct show;
struct view {
    const char *name, *help;
    sim_time span; /* default length of the window; 0 = needs no run */
    bool stretch;  /* as long as story.h finds, when nobody names a window */
    char *(*draw)(struct show *w);
};
struct show {
    struct cli_options o;
    const struct view *view;
    const char *from_text, *to_text, *width_text, *cpu_text;
    sim_time from, to; /* to 0 = not given */
    struct story story;
    bool told; /* the window is the story's */
    uint32_t width;
    cpu_id cpu;
    struct wb_sim *s;
    const struct wb_config *cfg;
    struct wb_run_options run;
    const struct wb_trace *trace;
    struct wb_trace_names names;
    task_id *running; /* [ncpus] when the window begins */
};

/* ------------------------------------------------------------------ the views */
static struct wb_view_options view_options(const struct show *w)
{
    return (struct wb_view_options){.from = w->from, .to = w->to, .width = w->width, .unicode = cli_unicode(&w->o)};
}

static char *draw_timeline(struct show *w)
{
    struct wb_view_options v = view_options(w);
    return wb_view_timeline(w->trace, &w->names, &v);
}

static char *draw_map(struct show *w)
{
    struct wb_view_options v = view_options(w);
    return wb_view_map(w->trace, &w->names, &v);
}

static char *draw_latency(struct show *w)
{
    struct wb_view_options v = view_options(w);
    return wb_view_latency(w->trace, &w->names, &v);
}

static char *draw_timehist(struct show *w)
{
    struct wb_view_options v = view_options(w);
    return wb_view_timehist(w->trace, &w->names, &v);
}

static char *draw_topology(struct show *w)
{
    return wb_topo_draw(wb_topo(w->s), w->width, cli_unicode(&w->o));
}

static char *draw_domains_of(struct show *w)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out) return NULL;
    draw_domains(out, w->s, w->cpu, wb_cfg_has(w->cfg, "policy.version") ? wb_cfg_str(w->cfg, "policy.version") : NULL);
    if (!fclose(out)) return text;
    free(text);
    return NULL;
}

static const struct view views[] = {
    {"timeline", "one row per CPU, one letter per task (a dozen switches; after --from 300 us)", 300 * WB_US, true,
     draw_timeline},
    {"map", "one line per switch, like perf sched map (1 ms)", WB_MS, false, draw_map},
    {"latency", "delays per task, like perf sched latency (100 ms)", 100 * WB_MS, false, draw_latency},
    {"timehist", "stays on a CPU with their waits, like perf sched timehist (1 ms)", WB_MS, false, draw_timehist},
    {"topology", "CPUs, caches and nodes (also of a machine: its name or file)", 0, false, draw_topology},
    {"domains", "sched domains with groups, flags and numbers", 0, false, draw_domains_of},
};

/* ------------------------------------------------------------------ options */
enum { KEY_FROM = 0x1000, KEY_TO, KEY_WIDTH, KEY_CPU };
static const struct argp_option own[] = {
    {"from", KEY_FROM, "TIME", 0,
     "Begin of the window, simulated time (\"1.5 ms\"); default: a little before the first task that balancing, or "
     "else a wakeup, takes to another CPU after the warm-up",
     0},
    {"to", KEY_TO, "TIME", 0, "End of the window; default: as long as the view says in brackets", 0},
    {"width", KEY_WIDTH, "N", 0, "Columns (default: the terminal's, else 80)", 0},
    {"cpu", KEY_CPU, "N", 0, "Whose domains to show in full (default 0)", 0},
    {0},
};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct show *w = ctx;
    switch (key) {
    case KEY_FROM: w->from_text = arg; return 0;
    case KEY_TO: w->to_text = arg; return 0;
    case KEY_WIDTH: w->width_text = arg; return 0;
    case KEY_CPU: w->cpu_text = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int read_count(const char *option, const char *text, uint32_t lo, uint32_t hi, uint32_t *n)
{
    char *end = NULL;
    if (!text) return -1;
    unsigned long v = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || v < lo || v > hi)
        return cli_usage_error("show", NULL, "%s '%s': a number from %u to %u is needed", option, text, lo, hi);
    *n = (uint32_t)v;
    return -1;
}

static int find_view(struct show *w, const char *name)
{
    const char *names[WB_ARRAY_SIZE(views)];
    for (size_t i = 0; i < WB_ARRAY_SIZE(views); i++) {
        names[i] = views[i].name;
        if (!strcmp(name, views[i].name)) w->view = &views[i];
    }
    if (w->view) return -1;
    const char *near = wb_nearest(name, names, WB_ARRAY_SIZE(views));
    char hint[96];
    (void)snprintf(hint, sizeof hint, "%s%s%s", near ? "did you mean '" : "views are listed by `wakebal show --help`",
                   near ? near : "", near ? "'?" : "");
    return cli_usage_error("show", hint, "unknown view '%s'", name);
}

static int view_or_scenario_missing(const struct show *w)
{
    const char *given = w->o.arg_n ? w->o.arg[0] : NULL;
    char hint[256];
    size_t n = (size_t)snprintf(hint, sizeof hint, "Views:");
    for (size_t i = 0; i < WB_ARRAY_SIZE(views); i++) {
        n += (size_t)snprintf(hint + n, sizeof hint - n, " %s", views[i].name);
        if (given && !strcmp(given, views[i].name))
            return cli_usage_error("wakebal show", "For example: wakebal show timeline pipe",
                                   "of which scenario is '%.60s' to be shown?", given);
    }
    snprintf(hint + n, sizeof hint - n, ".  For example: wakebal show timeline %.60s", given ? given : "pipe");
    return cli_usage_error("wakebal show", hint, "a view and a scenario are needed");
}

/* `show topology -m smp16`: a view of the machine that needs no scenario. */
static bool machine_is_enough(const struct show *w)
{
    bool still = false;
    for (size_t i = 0; i < WB_ARRAY_SIZE(views); i++) still |= !views[i].span && !strcmp(w->o.arg[0], views[i].name);
    return still && w->o.machine;
}

/* -1 = go on, else the exit code. */
static int read_options(struct show *w, int argc, char **argv)
{
    char doc[1024];
    size_t n = (size_t)snprintf(doc, sizeof doc, "Show what a run looks like, in the terminal.\vViews:\n");
    for (size_t i = 0; i < WB_ARRAY_SIZE(views) && n < sizeof doc; i++)
        n += (size_t)snprintf(doc + n, sizeof doc - n, "  %-9s %s\n", views[i].name, views[i].help);
    struct cli_spec spec = {.usage = "VIEW SCENARIO",
                            .doc = doc,
                            .groups = CLI_SCENARIO,
                            .own = own,
                            .own_parse = parse_own,
                            .own_ctx = w,
                            .args_min = 0,
                            .args_max = 2};
    int rc = cli_options_parse(&spec, argc, argv, &w->o);
    if (rc < 0 && !w->o.arg_n) rc = view_or_scenario_missing(w);
    if (rc < 0 && w->o.arg_n == 1 && !machine_is_enough(w)) rc = view_or_scenario_missing(w);
    if (rc < 0) rc = find_view(w, w->o.arg[0]);
    if (rc < 0) rc = cli_read_time("show", "--from", w->from_text, &w->from);
    if (rc < 0) rc = cli_read_time("show", "--to", w->to_text, &w->to);
    w->width = (uint32_t)wrap_width();
    if (rc < 0) rc = read_count("--width", w->width_text, 30, 10000, &w->width);
    if (rc < 0 && w->cpu_text && strcmp(w->view->name, "domains"))
        rc = cli_usage_error("wakebal show", "It says whose domains to show: wakebal show domains SCENARIO --cpu N",
                             "%s has no --cpu", w->view->name);
    if (rc < 0) rc = read_count("--cpu", w->cpu_text, 0, WB_CPUS_MAX - 1, &w->cpu);
    if (rc < 0 && w->to_text && w->to <= w->from)
        rc = cli_usage_error("show", NULL, "the window ends (--to %s) before it begins", w->to_text);
    if (rc < 0 && w->from_text && !w->to_text) w->to = w->from + w->view->span;
    return rc;
}

/* ------------------------------------------------------------------ running */
/* Nobody named a window. */
static int find_window(struct show *w, struct wb_diag *d)
{
    if (story_find(w->cfg, w->view->stretch ? 0 : w->view->span, &w->story, d)) return EXIT_INVALID;
    w->from = w->story.from;
    w->to = w->story.to;
    w->told = true;
    return EXIT_FINE;
}

/* Step to where recording begins and see who is running: a task that never leaves its CPU has no record. */
static void note_runners(struct show *w)
{
    w->running = calloc(wb_ncpus(w->s), sizeof *w->running);
    WB_MEMORY(w->running, "out of memory for the view");
    if (w->run.trace_from) (void)wb_sim_step_to(w->s, w->run.trace_from);
    for (cpu_id c = 0; c < wb_ncpus(w->s); c++) w->running[c] = wb_rq(w->s, c)->curr->id;
}

static int run_window(struct show *w)
{
    w->trace = wb_sim_trace(w->s);
    note_runners(w);
    (void)wb_sim_step_to(w->s, w->to);
    wb_sim_trace_names(w->s, &w->names);
    w->names.running = w->running;
    if (!w->trace->written) {
        char end[48];
        fprintf(stderr, "wakebal show: nothing happens in this window; the run ends at %s\n",
                wb_format_quantity(end, sizeof end, (double)wb_sim_now(w->s), WB_UNIT_TIME));
        return EXIT_USAGE;
    }
    if (w->trace->written > w->trace->capacity)
        fprintf(stderr, "wakebal show: the first %llu events of the window are missing; narrow it\n",
                (unsigned long long)(w->trace->written - w->trace->capacity));
    return EXIT_FINE;
}

static const char *name_of(const struct wb_config *c, const char *name, const char *base)
{
    const char *key = wb_cfg_has(c, name) ? name : base;
    return wb_cfg_has(c, key) ? wb_cfg_str(c, key) : "unnamed";
}

/* Which run this is: pictures are passed on without their command. */
static void print_what(const struct show *w)
{
    const struct wb_config *c = w->cfg;
    char text[512];
    snprintf(text, sizeof text, "%.60s on %.60s, %.60s, seed %lld%s", w->o.arg[1],
             name_of(c, "machine.name", "machine.base"), name_of(c, "kernel.name", "kernel.base"),
             (long long)wb_cfg_int(c, "run.seed"),
             wb_cfg_count(c, "sweep.over") ? "; the point without its sweep" : "");
    char *safe = exp_text_terminal(text, w->width);
    puts(safe);
    free(safe);
    if (!w->told) return;
    char window[320];
    wrap_print(stdout, story_tell(&w->story, window, sizeof window), 0, w->width);
}

static int show(struct show *w)
{
    if (w->view->span) {
        int rc = run_window(w);
        if (rc) return rc;
    } else if (w->cpu >= wb_ncpus(w->s)) {
        return cli_usage_error("show", NULL, "--cpu %u: this machine has CPUs 0 to %u", w->cpu, wb_ncpus(w->s) - 1);
    }
    if (w->view->span && !w->o.quiet) print_what(w);
    char *text = w->view->draw(w);
    WB_MEMORY(text, "out of memory for the view");
    bool failed = fputs(text, stdout) < 0 || fflush(stdout);
    free(text);
    return failed ? EXIT_OUTPUT : EXIT_FINE;
}

/* A machine, by name or as a file, where a scenario is expected. */
static bool is_machine(const char *name, const struct wb_key_registry *keys)
{
    size_t n = strlen(name);
    if (n > 4 && !strcasecmp(name + n - 4, ".xml")) return true; /* lstopo's */
    const char *kind = wb_scenario_kind(name, keys);
    return kind && !strcmp(kind, "machine");
}

static int show_scenario(struct show *w, const struct wb_key_registry *keys, struct wb_diag *d)
{
    struct wb_overrides overrides = cli_overrides(&w->o);
    const char *scenario = w->o.arg_n > 1 ? w->o.arg[1] : "pipe";
    if (!w->view->span && !overrides.machine && is_machine(scenario, keys)) {
        overrides.machine = scenario;
        scenario = "pipe";
    }
    struct wb_scenario *sc = wb_scenario_load(scenario, keys, &overrides, d);
    int rc = EXIT_INVALID;
    if (!sc) return rc;
    if (w->o.print_config) {
        char *text = wb_cfg_print(wb_scenario_config(sc));
        rc = !text || fputs(text, stdout) < 0 || fflush(stdout) ? EXIT_OUTPUT : EXIT_FINE;
        free(text);
        wb_scenario_free(sc);
        return rc;
    }
    w->cfg = wb_scenario_config(sc);
    rc = w->view->span && !w->to ? find_window(w, d) : EXIT_FINE;
    if (w->view->span)
        w->run = (struct wb_run_options){.trace_capacity = RING, .trace_from = w->from, .trace_to = w->to};
    w->s = rc ? NULL : wb_sim_build(w->cfg, cli_models(), 0, &w->run, d);
    rc = w->s ? show(w) : EXIT_INVALID;
    if (w->s) wb_sim_free(w->s);
    free(w->running);
    wb_scenario_free(sc);
    return rc;
}

int verb_show(int argc, char **argv)
{
    struct show w = {.width = 0};
    cli_options_init(&w.o);
    int rc = read_options(&w, argc, argv);
    if (rc < 0) {
        struct wb_key_registry *keys = cli_keys_new();
        struct wb_diag *d = wb_diag_new();
        rc = show_scenario(&w, keys, d);
        int bad = cli_print_diag(&w.o, d);
        if (!rc) rc = bad;
        wb_diag_free(d);
        wb_keys_free(keys);
    }
    cli_options_free(&w.o);
    return rc;
}
