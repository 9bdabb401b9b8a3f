/*
 * verb_bench.c - `wakebal bench`: how fast the engine is on this machine.
 *
 * Times are CPU time of the measuring thread, best of several, so that neighbours do not count. One event is
 * one entry popped from the event set that changed state; stale entries are told beside it. Segments that ran
 * ahead inline are no events; because each of them is one with inline run-ahead off (same results, byte for
 * byte), the rate of that mode is measured too. Floors and goals are printed, never judged: a time is no
 * verdict.
 */
#include <jansson.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exit_code.h"
#include "exp_export.h"
#include "exp_format.h"
#include "output.h"
#include "registry.h"
#include "verbs.h"
#include "wakebal/bench.h"
#include "wakebal/run.h"

struct load {
    const char *scenario, *tag, *what;
    const char *kernel;
    double floor, goal;   /* million events per second; 0 = none */
    const char *duration; /* of one run; NULL = the scenario's */
    bool quick;           /* also with --quick */
};
/* The first three are the loads whose rates are quoted; the others are real ones. */
static const struct load loads[] = {
    {"bench-16x64", "16x64", "16 CPUs, 24 pairs and 16 hogs", NULL, 5, 20, "500 ms", true},
    {"bench-256x4096", "256x4096", "256 CPUs, 1536 pairs and 1024 hogs", NULL, 2.5, 5, "50 ms", true},
    {"bench-1024x16384", "1024x16384", "1024 CPUs, 6144 pairs and 4096 hogs", NULL, 0, 0, "20 ms", false},
    {"ia64-bw-pipe-2005", "case", "bw_pipe on the Itanium, 2.6.11, free (the case)", NULL, 0, 0, "500 ms", true},
    {"ia64-bw-pipe-2005", "case_old", "bw_pipe on the Itanium, 2.6.10, free (the case)", "linux-2.6.10", 0, 0, "500 ms",
     true},
};

struct figure {
    char name[64];
    const char *unit, *better;
    double value;
};

struct bench {
    struct cli_options o;
    const char *times_text;
    unsigned times;
    bool quick;
    struct wb_key_registry *keys;
    struct wb_diag *d;
    struct figure figure[64];
    size_t n;
};

enum { KEY_TIMES = 0x1000, KEY_QUICK };
static const struct argp_option own[] = {
    {"best-of", KEY_TIMES, "N", 0, "Runs of each load, the fastest counts (default 5)", 2},
    {"quick", KEY_QUICK, NULL, 0, "Leave the largest loads out", 2},
    {0},
};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct bench *b = ctx;
    switch (key) {
    case KEY_TIMES: b->times_text = arg; return 0;
    case KEY_QUICK: b->quick = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int read_options(struct bench *b, int argc, char **argv)
{
    struct cli_spec spec = {
        .usage = "",
        .doc = "Measure the engine on this machine: the event set alone (hold model), events per second of the shipped "
               "loads, loading time and memory of a large one, and how a pipe runs against real time.",
        .groups = CLI_EXPORT,
        .own = own,
        .own_parse = parse_own,
        .own_ctx = b};
    int rc = cli_options_parse(&spec, argc, argv, &b->o);
    if (rc >= 0) return rc;
    b->times = 5;
    if (!b->times_text) return -1;
    char *end;
    unsigned long n = strtoul(b->times_text, &end, 10);
    if (*b->times_text < '0' || *b->times_text > '9' || *end || n < 1 || n > 1000)
        return cli_usage_error(argv[0], "For example: --best-of 10", "--best-of '%.40s' is no number from 1 to 1000",
                               b->times_text);
    b->times = (unsigned)n;
    return -1;
}

static void keep(struct bench *b, const char *stem, const char *tag, double value, const char *unit, const char *better)
{
    WB_CHECK(b->n < WB_ARRAY_SIZE(b->figure), "too many figures");
    struct figure *f = &b->figure[b->n++];
    snprintf(f->name, sizeof f->name, "%s%s", stem, tag);
    f->value = value;
    f->unit = unit;
    f->better = better;
}

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Bytes that are allocated now. */
static size_t heap_bytes(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* ------------------------------------------------------------------ the event set alone */
static int bench_hold(struct bench *b)
{
    static const uint32_t size[] = {16, 256, 4096, 65536};
    printf("Event set: take the earliest of n, add one later (ns per hold)\n");
    struct out_table *t = out_table_new(">>>>>>");
    const char *head[] = {"n", "fused", "pop, push", "4-ary heap", "binary heap", "fused / best other"};
    out_table_row(t, head);
    for (size_t i = 0; i < WB_ARRAY_SIZE(size); i++) {
        struct wb_hold_result r;
        char tag[24], cell[6][32];
        if (b->quick && size[i] > 4096) continue;
        if (wb_bench_hold(size[i], 20, &r)) return EXIT_INTERNAL;
        const double shown[] = {r.ns[WB_HOLD_EVQ_REPLACE], r.ns[WB_HOLD_EVQ_POP_PUSH], r.ns[WB_HOLD_HEAP4_REPLACE],
                                r.ns[WB_HOLD_HEAP2_REPLACE]};
        snprintf(cell[0], sizeof cell[0], "%u", size[i]);
        for (size_t k = 0; k < 4; k++) snprintf(cell[k + 1], sizeof cell[0], "%.1f", shown[k]);
        snprintf(cell[5], sizeof cell[0], "%.2f", shown[0] / r.best_reference_ns);
        const char *row[] = {cell[0], cell[1], cell[2], cell[3], cell[4], cell[5]};
        out_table_row(t, row);
        snprintf(tag, sizeof tag, "%u_ns", size[i]);
        keep(b, "hold_", tag, shown[0], "ns", "lower");
        snprintf(tag, sizeof tag, "%u_ratio", size[i]);
        keep(b, "hold_", tag, shown[0] / r.best_reference_ns, "1", "lower");
    }
    out_table_print(t, stdout, 2, SIZE_MAX, 120, "");
    putchar('\n');
    return EXIT_FINE;
}

/* ------------------------------------------------------------------ whole simulations */
struct speed {
    double load_s, run_s; /* CPU time of loading the scenario and building it; best run */
    size_t bytes;         /* of one simulation, built */
    double events, stale, inlined, wakeups, simulated, peak;
    double posted_s, posted_events; /* with every segment an event */
    uint32_t ncpus, ntasks;
};

static double metric_of(const struct wb_result *r, const char *name)
{
    const struct wb_metric *m = wb_result_find(r, UINT32_MAX, name);
    return m ? m->value : NAN;
}

/* Every segment as an event, once. */
static bool run_posted(struct bench *b, const struct wb_config *cfg, struct speed *s)
{
    struct wb_run_options posted = {.no_inline = true};
    struct wb_sim *sim = wb_sim_build(cfg, cli_models(), 0, &posted, b->d);
    if (!sim) return false;
    double from = thread_seconds();
    (void)wb_sim_run(sim);
    s->posted_s = WB_MIN(s->posted_s, thread_seconds() - from);
    s->posted_events = (double)wb_sim_result(sim)->events;
    wb_sim_free(sim);
    return true;
}

static bool run_once(struct bench *b, const struct wb_config *cfg, struct speed *s)
{
    struct wb_run_options plain = {.trace_capacity = 0};
    struct wb_sim *sim = wb_sim_build(cfg, cli_models(), 0, &plain, b->d);
    if (!sim) return false;
    double from = thread_seconds();
    (void)wb_sim_run(sim);
    double spent = thread_seconds() - from;
    const struct wb_result *r = wb_sim_result(sim);
    if (spent < s->run_s) s->run_s = spent;
    s->events = (double)r->events;
    s->stale = (double)r->stale;
    s->inlined = (double)r->inlined;
    s->peak = (double)r->peak_events;
    s->simulated = (double)r->duration * 1e-12;
    s->wakeups = metric_of(r, "wakeups");
    s->ncpus = r->ncpus;
    wb_sim_free(sim);
    return true;
}

/* Load and build once, measured, and throw it away. */
static struct wb_scenario *load_once(struct bench *b, const struct load *l, struct speed *s)
{
    struct wb_override set[] = {{.key = "run.duration", .value = l->duration, .from = "bench"},
                                {.key = "run.warmup", .value = "none", .from = "bench"}};
    struct wb_overrides over = {.item = set, .n = WB_ARRAY_SIZE(set), .kernel = l->kernel};
    struct wb_run_options plain = {.trace_capacity = 0};
    double from = thread_seconds();
    struct wb_scenario *sc = wb_scenario_load(l->scenario, b->keys, &over, b->d);
    if (!sc) return NULL;
    size_t before = heap_bytes();
    struct wb_sim *sim = wb_sim_build(wb_scenario_config(sc), cli_models(), 0, &plain, b->d);
    s->load_s = thread_seconds() - from;
    s->bytes = heap_bytes() - before;
    if (sim) s->ntasks = wb_ntasks(sim);
    if (sim) wb_sim_free(sim);
    if (sim) return sc;
    wb_scenario_free(sc);
    return NULL;
}

/* The rate that is quoted counts entries popped in the mode in which nothing runs ahead, so that nothing else
 * is called an event. */
static void print_speed(const struct load *l, const struct speed *s)
{
    double rate = s->posted_events / s->posted_s * 1e-6;
    char aim[64] = "", bytes[32];
    if (l->floor > 0)
        snprintf(aim, sizeof aim, "  (floor %g, goal %g%s)", l->floor, l->goal, rate < l->floor ? ": BELOW" : "");
    printf("%s\n", l->what);
    printf("  %-11s %.2f million/s popped with every segment an event%s\n", "events", rate, aim);
    printf(
        "  %-11s %.2f million/s popped with run-ahead: %.2f segments per event run inline, %.2f million/s together\n",
        "", s->events / s->run_s * 1e-6, s->inlined / s->events, (s->events + s->inlined) / s->run_s * 1e-6);
    printf("  %-11s %.1f%% stale; at most %.0f pending\n", "", 100 * s->stale / (s->events + s->stale), s->peak);
    printf("  %-11s %.0f ns per wakeup; %.3g CPU-seconds per second; %.2f x real time\n", "speed",
           s->run_s / s->wakeups * 1e9, s->simulated * s->ncpus / s->run_s, s->simulated / s->run_s);
    printf("  %-11s %.3f s; %s per task (%u tasks, idle and kernel threads included)\n\n", "loading", s->load_s,
           exp_format_value(bytes, sizeof bytes, (double)s->bytes / s->ntasks, "B"), s->ntasks);
}

static int bench_load(struct bench *b, const struct load *l)
{
    struct speed s = {.run_s = INFINITY, .posted_s = INFINITY};
    struct wb_scenario *sc = load_once(b, l, &s);
    if (!sc) return EXIT_INVALID;
    bool good = true;
    for (unsigned i = 0; i < b->times && good && !out_stop; i++)
        good = run_once(b, wb_scenario_config(sc), &s) && run_posted(b, wb_scenario_config(sc), &s);
    wb_scenario_free(sc);
    if (!good) return EXIT_INVALID;
    if (out_stop) return out_stop_exit_code();
    print_speed(l, &s);
    keep(b, "engine_rate_", l->tag, s.posted_events / s.posted_s, "1/s", "higher");
    keep(b, "popped_rate_", l->tag, s.events / s.run_s, "1/s", "higher");
    keep(b, "segment_rate_", l->tag, (s.events + s.inlined) / s.run_s, "1/s", "higher");
    keep(b, "inline_per_event_", l->tag, s.inlined / s.events, "1", "none");
    keep(b, "stale_share_", l->tag, s.stale / (s.events + s.stale), "1", "lower");
    keep(b, "wakeup_ns_", l->tag, s.run_s / s.wakeups * 1e9, "ns", "lower");
    keep(b, "cpu_seconds_per_s_", l->tag, s.simulated * s.ncpus / s.run_s, "1", "higher");
    keep(b, "real_time_", l->tag, s.simulated / s.run_s, "1", "higher");
    keep(b, "load_s_", l->tag, s.load_s, "s", "lower");
    keep(b, "bytes_per_task_", l->tag, (double)s.bytes / s.ntasks, "B", "lower");
    return EXIT_FINE;
}

/* ------------------------------------------------------------------ results */
static int compare_figures(const void *a, const void *b)
{
    return strcmp(((const struct figure *)a)->name, ((const struct figure *)b)->name);
}

static int write_json(FILE *to, void *ctx)
{
    struct bench *b = ctx;
    json_t *list = json_array();
    qsort(b->figure, b->n, sizeof *b->figure, compare_figures);
    for (size_t i = 0; i < b->n; i++)
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s,s:o}", "name", b->figure[i].name, "unit", b->figure[i].unit,
                                        "better", b->figure[i].better, "value", exp_json_number(b->figure[i].value)));
    return exp_json_write(to, json_pack("{s:s,s:{s:s,s:s},s:b,s:i,s:o}", "schema", "wakebal.bench/1", "tool", "name",
                                        "wakebal", "version", WB_VERSION, "optimised", wb_bench_build_is_fast(),
                                        "best_of", (int)b->times, "metrics", list));
}

static int write_csv(FILE *to, void *ctx)
{
    const struct bench *b = ctx;
    fputs("metric,unit,better,value\n", to);
    for (size_t i = 0; i < b->n; i++)
        fprintf(to, "%s,%s,%s,%.12g\n", b->figure[i].name, b->figure[i].unit, b->figure[i].better, b->figure[i].value);
    return 0;
}

static int write_markdown(FILE *to, void *ctx)
{
    const struct bench *b = ctx;
    fputs("| metric | value | unit |\n|:-------|------:|:-----|\n", to);
    for (size_t i = 0; i < b->n; i++)
        fprintf(to, "| %s | %.6g | %s |\n", b->figure[i].name, b->figure[i].value, b->figure[i].unit);
    return 0;
}

static int bench(struct bench *b)
{
    if (!wb_bench_build_is_fast())
        printf("This is no optimised build: its times say nothing about the engine (cmake --preset release).\n\n");
    int rc = bench_hold(b);
    for (size_t i = 0; i < WB_ARRAY_SIZE(loads) && !rc; i++)
        if (!b->quick || loads[i].quick) rc = bench_load(b, &loads[i]);
    if (rc) return rc;
    if (b->o.export_json) rc = out_file(b->o.export_json, write_json, b);
    if (b->o.export_csv && !rc) rc = out_file(b->o.export_csv, write_csv, b);
    if (b->o.export_markdown && !rc) rc = out_file(b->o.export_markdown, write_markdown, b);
    return rc;
}

int verb_bench(int argc, char **argv)
{
    struct bench b = {.n = 0};
    cli_options_init(&b.o);
    int rc = read_options(&b, argc, argv);
    if (rc < 0) {
        b.keys = cli_keys_new();
        b.d = wb_diag_new();
        out_catch_signals();
        rc = bench(&b);
        int bad = cli_print_diag(&b.o, b.d);
        if (!rc) rc = bad;
        wb_diag_free(b.d);
        wb_keys_free(b.keys);
    }
    cli_options_free(&b.o);
    return rc;
}
