/*
 * verb_bench.c - `wakebal bench`: how fast the engine is on this machine.
 *
 * Times are CPU time of the measuring thread, best of several, so that neighbours do not count. One event is
 * one entry popped from the event set that changed state; stale entries are told beside it. Segments that ran
 * ahead inline are no events; because each of them is one with inline run-ahead off (same results, byte for
 * byte), the rate of that mode is measured too. Floor and goal come first, then the details; the exit code never hangs
 * on a time.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_speed.h"
#include "exit_code.h"
#include "exp_export.h"
#include "exp_format.h"
#include "output.h"
#include "registry.h"
#include "verbs.h"
#include "wakebal/bench.h"
#include "wakebal/run.h"

struct figure {
    char name[64];
    const char *unit, *better;
    double value;
};

struct bench {
    struct cli_options o;
    const char *times_text;
    unsigned times;
    const char *only;
    bool quick, scale;
    struct wb_key_registry *keys;
    struct wb_diag *d;
    struct bench_speed speed[BENCH_LOADS_MAX];
    bool measured[BENCH_LOADS_MAX];
    struct figure figure[512];
    size_t n;
};

enum { KEY_TIMES = 0x1000, KEY_QUICK, KEY_ONLY, KEY_SCALE };
static const struct argp_option own[] = {
    {"best-of", KEY_TIMES, "N", 0, "Runs of each load, the fastest counts (default 5): this decides how long it takes",
     2},
    {"only", KEY_ONLY, "LOAD", 0, "Just this load (16x64, 256x4096_eevdf, ...)", 2},
    {"quick", KEY_QUICK, NULL, 0, "Leave the largest loads out", 2},
    {"scale", KEY_SCALE, NULL, 0, "Just the growth: six sizes up to 4096 CPUs and 100000 tasks under four kernels", 2},
    {0},
};

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct bench *b = ctx;
    switch (key) {
    case KEY_TIMES: b->times_text = arg; return 0;
    case KEY_ONLY: b->only = arg; return 0;
    case KEY_QUICK: b->quick = true; return 0;
    case KEY_SCALE: b->scale = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static bool known_load(const char *tag)
{
    for (size_t i = 0; i < bench_nloads; i++)
        if (!strcmp(bench_loads[i].tag, tag)) return true;
    return false;
}

static const char *list_loads(char *buf, size_t n)
{
    size_t at = (size_t)snprintf(buf, n, "One of:");
    for (size_t i = 0; i < bench_nloads && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, " %s", bench_loads[i].tag);
    return buf;
}

static int read_options(struct bench *b, int argc, char **argv)
{
    struct cli_spec spec = {
        .usage = "",
        .doc = "Measure the engine on this machine: the event set alone (hold model), events per second of the shipped "
               "loads, loading time and memory of a large one, and how a pipe runs against real time.",
        .groups = CLI_EXPORT_JSON | CLI_EXPORT_TABLES,
        .own = own,
        .own_parse = parse_own,
        .own_ctx = b};
    int rc = cli_options_parse(&spec, argc, argv, &b->o);
    if (rc >= 0) return rc;
    b->times = 5;
    if (b->only && !known_load(b->only)) {
        char list[512];
        return cli_usage_error(argv[0], list_loads(list, sizeof list), "--only '%.40s' is no load", b->only);
    }
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

static const char *say_bytes(char buf[static 32], size_t bytes, uint32_t per)
{
    return exp_format_value(buf, 32, (double)bytes / per, "B");
}

/* The rate that is quoted counts entries popped in the mode in which nothing runs ahead, so that nothing else
 * is called an event. */
static void print_rate(const struct bench_load *l, const struct bench_speed *s)
{
    double rate = s->posted.events / s->posted.s * 1e-6;
    char aim[64] = "";
    if (l->floor > 0)
        snprintf(aim, sizeof aim, "  (floor %g, goal %g%s)", l->floor, l->goal, rate < l->floor ? ": BELOW" : "");
    printf("%s\n", l->what);
    printf("  %-11s %.2f million/s popped with every segment an event%s\n", "events", rate, aim);
    printf("  %-11s %.2f million/s popped with run-ahead, %.2f segments each run inline: %.2f million/s together\n", "",
           s->ahead.events / s->ahead.s * 1e-6, s->ahead.inlined / s->ahead.events,
           (s->ahead.events + s->ahead.inlined) / s->ahead.s * 1e-6);
    printf("  %-11s %.1f %% stale; at most %.0f pending\n", "",
           100 * s->ahead.stale / (s->ahead.events + s->ahead.stale), s->peak);
}

static void print_speed(const struct bench_load *l, const struct bench_speed *s)
{
    const struct wb_memory *m = &s->memory;
    char built[32], after[32], cpus[32];
    print_rate(l, s);
    printf("  %-11s %.0f ns per wakeup; %.3g CPU-seconds per second; %.2f x real time\n", "speed",
           s->ahead.s / s->ahead.wakeups * 1e9, s->simulated * m->ncpus / s->ahead.s, s->simulated / s->ahead.s);
    printf("  %-11s %.2f s of CPU time for the first %s: %.0f of %u tasks have started, %.0f more while measured\n",
           "beginning", s->settle_s, l->settle, s->born, m->ntasks, s->posted.births);
    printf("  %-11s %.3f s; all of it over its %u tasks: %s each when built, %s after %s; a CPU takes %s\n\n",
           "loading", s->load_s, m->ntasks, say_bytes(built, m->total, m->ntasks),
           say_bytes(after, s->after.total, m->ntasks), l->duration, say_bytes(cpus, m->cpus, m->ncpus));
}

static void keep_speed(struct bench *b, const char *tag, const struct bench_speed *s)
{
    const struct wb_memory *m = &s->memory;
    keep(b, "engine_rate_", tag, s->posted.events / s->posted.s, "1/s", "higher");
    keep(b, "popped_rate_", tag, s->ahead.events / s->ahead.s, "1/s", "higher");
    keep(b, "segment_rate_", tag, (s->ahead.events + s->ahead.inlined) / s->ahead.s, "1/s", "higher");
    keep(b, "inline_per_event_", tag, s->ahead.inlined / s->ahead.events, "1", "none");
    keep(b, "stale_share_", tag, s->ahead.stale / (s->ahead.events + s->ahead.stale), "1", "lower");
    keep(b, "wakeup_ns_", tag, s->ahead.s / s->ahead.wakeups * 1e9, "ns", "lower");
    keep(b, "cpu_seconds_per_s_", tag, s->simulated * m->ncpus / s->ahead.s, "1", "higher");
    keep(b, "real_time_", tag, s->simulated / s->ahead.s, "1", "higher");
    keep(b, "load_s_", tag, s->load_s, "s", "lower");
    keep(b, "beginning_s_", tag, s->settle_s, "s", "lower");
    keep(b, "births_", tag, s->posted.births, "1", "none");
    keep(b, "bytes_per_task_", tag, (double)m->total / m->ntasks, "B", "lower");
    keep(b, "bytes_per_task_after_", tag, (double)s->after.total / m->ntasks, "B", "lower");
    keep(b, "bytes_per_cpu_", tag, (double)m->cpus / m->ncpus, "B", "lower");
}

static bool wanted(const struct bench *b, size_t i)
{
    const struct bench_load *l = &bench_loads[i];
    uint32_t when = b->scale ? BENCH_SCALE : b->quick ? BENCH_QUICK : BENCH_PLAIN;
    return b->only ? !strcmp(b->only, l->tag) : l->when & when;
}

static int measure_one(struct bench *b, size_t i)
{
    const struct bench_load *l = &bench_loads[i];
    struct bench_speed *s = &b->speed[i];
    if (b->measured[i] || !wanted(b, i)) return EXIT_FINE;
    if (bench_measure(l, b->keys, b->times, b->d, s)) return EXIT_INVALID;
    if (out_stop) return out_stop_exit_code();
    b->measured[i] = true;
    keep_speed(b, l->tag, s);
    return EXIT_FINE;
}

static int bench_one(struct bench *b, size_t i)
{
    int rc = measure_one(b, i);
    if (!rc && b->measured[i]) print_speed(&bench_loads[i], &b->speed[i]);
    return rc;
}

/* ------------------------------------------------------------------ how the cost grows */

/* One series: the sizes of one kernel. Least squares of ns per event over log2 of the tasks. */
struct series {
    size_t n, at[16];
    double x[16], ns[16], base, per_doubling;
};

static struct series collect(const struct bench *b, const char *name)
{
    struct series r = {.n = 0};
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = 0; i < bench_nloads; i++) {
        if (!b->measured[i] || !bench_loads[i].series || strcmp(bench_loads[i].series, name)) continue;
        const struct bench_speed *s = &b->speed[i];
        double x = log2(s->memory.ntasks), ns = s->posted.s / s->posted.events * 1e9;
        r.at[r.n] = i;
        r.x[r.n] = x;
        r.ns[r.n++] = ns;
        sx += x;
        sy += ns;
        sxx += x * x;
        sxy += x * ns;
    }
    double n = (double)r.n, det = n * sxx - sx * sx;
    if (r.n < 2 || det <= 0) return r;
    r.per_doubling = (n * sxy - sx * sy) / det;
    r.base = (sy - r.per_doubling * sx) / n;
    return r;
}

static void print_series(struct bench *b, const char *name)
{
    struct series r = collect(b, name);
    if (r.n < 2) return;
    printf("Cost of an event by size, %s (every segment an event)\n", name);
    struct out_table *t = out_table_new("<>>>>>");
    const char *head[] = {"CPUs / tasks",       "ns per event",    "per log2 of tasks",
                          "times the smallest", "as log of tasks", "fit"};
    out_table_row(t, head);
    for (size_t i = 0; i < r.n; i++) {
        const struct wb_memory *m = &b->speed[r.at[i]].memory;
        char cell[6][32];
        snprintf(cell[0], sizeof cell[0], "%u / %u", m->ncpus, m->ntasks);
        snprintf(cell[1], sizeof cell[0], "%.1f", r.ns[i]);
        snprintf(cell[2], sizeof cell[0], "%.1f", r.ns[i] / r.x[i]);
        snprintf(cell[3], sizeof cell[0], "%.2f", r.ns[i] / r.ns[0]);
        snprintf(cell[4], sizeof cell[0], "%.2f", r.x[i] / r.x[0]);
        snprintf(cell[5], sizeof cell[0], "%.1f", r.base + r.per_doubling * r.x[i]);
        const char *row[] = {cell[0], cell[1], cell[2], cell[3], cell[4], cell[5]};
        out_table_row(t, row);
    }
    out_table_print(t, stdout, 2, SIZE_MAX, 120, "");
    printf("  fit: %.1f ns + %.1f ns for each doubling of the tasks\n\n", r.base, r.per_doubling);
    keep(b, "cost_ns_per_doubling_", name, r.per_doubling, "ns", "lower");
    keep(b, "cost_growth_over_log_", name, r.ns[r.n - 1] / r.ns[0] / (r.x[r.n - 1] / r.x[0]), "1", "lower");
}

/* Each series once, in the order of the loads. */
static void print_growth(struct bench *b)
{
    const char *last = "";
    for (size_t i = 0; i < bench_nloads; i++) {
        const char *name = bench_loads[i].series;
        if (!name || !strcmp(name, last)) continue;
        print_series(b, name);
        last = name;
    }
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

static double kept(const struct bench *b, const char *name)
{
    for (size_t i = 0; i < b->n; i++)
        if (!strcmp(b->figure[i].name, name)) return b->figure[i].value;
    return NAN;
}

/* What it comes to, before the details: the loads that decide are measured first. */
static int bench_verdict(struct bench *b)
{
    const struct bench_load *l = &bench_loads[0];
    char name[64];
    for (size_t i = 0; i < bench_nloads; i++) {
        int rc = i && strcmp(bench_loads[i].tag, "case") ? 0 : measure_one(b, i);
        if (rc) return rc;
    }
    snprintf(name, sizeof name, "engine_rate_%s", l->tag);
    double rate = kept(b, name) * 1e-6, real = kept(b, "real_time_case");
    if (isfinite(rate) && l->floor > 0)
        printf("Verdict: the floor of %g million events/s is %s, the goal of %g %s: %.1f (%s).\n", l->floor,
               rate >= l->floor ? "kept" : "MISSED", l->goal, rate >= l->goal ? "is reached" : "is not reached", rate,
               l->what);
    if (isfinite(real))
        printf("%s bw_pipe pair is simulated %.1f times as fast as it would run: %s than reality.\n",
               isfinite(rate) ? "One" : "Verdict: one", real, real >= 1 ? "faster" : "SLOWER");
    if (isfinite(rate) || isfinite(real)) putchar('\n');
    return EXIT_FINE;
}

static void explain_words(const struct bench *b)
{
    printf(
        "event: an entry taken from the event set that changed state. inline: work done without an entry, since "
        "nothing\n"
        "else could come before its end. stale: an entry that was overtaken. hold: take the earliest, add one later.\n"
        "fused: both in one step, as the engine does it. Times are CPU time of one thread, best of %u.\n",
        b->times);
}

static int bench(struct bench *b)
{
    if (!wb_bench_build_is_fast())
        printf("This is no optimised build: its times say nothing about the engine (cmake --preset release).\n\n");
    int rc = bench_verdict(b);
    if (!rc && !b->only && !b->scale) rc = bench_hold(b);
    for (size_t i = 0; i < bench_nloads && !rc; i++) rc = bench_one(b, i);
    if (rc) return rc;
    print_growth(b);
    explain_words(b);
    if (b->o.export_json) rc = out_file(b->o.export_json, write_json, b);
    if (b->o.export_csv && !rc) rc = out_file(b->o.export_csv, write_csv, b);
    if (b->o.export_markdown && !rc) rc = out_file(b->o.export_markdown, write_markdown, b);
    return rc;
}

int verb_bench(int argc, char **argv)
{
    struct bench *b = calloc(1, sizeof *b);
    WB_MEMORY(b, "out of memory for a benchmark");
    cli_options_init(&b->o);
    int rc = read_options(b, argc, argv);
    if (rc < 0) {
        b->keys = cli_keys_new();
        b->d = wb_diag_new();
        out_catch_signals();
        rc = bench(b);
        int bad = cli_print_diag(&b->o, b->d);
        if (!rc) rc = bad;
        wb_diag_free(b->d);
        wb_keys_free(b->keys);
    }
    cli_options_free(&b->o);
    free(b);
    return rc;
}
