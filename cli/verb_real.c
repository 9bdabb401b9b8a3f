/* verb_real.c - `wakebal real`: run one real workload on this machine and print what came out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit_code.h"
#include "host_load.h"
#include "options.h"
#include "output.h"
#include "real_json.h"
#include "verbs.h"
#include "wakebal/units.h"

#define KEY_BASE 0x1000
enum { OPT_GATE = 0x1f00, OPT_LIST, OPT_DRY };

struct setting {
    const char *key, *value;
};

struct request {
    struct setting set[64];
    size_t n;
    const char *gate; /* off, warn, refuse */
    bool list;
    struct real_spec spec;
    struct cli_options o;
};

/* One option for each key: a name that stands in several rows (copies of ...) is one option. */
static struct argp_option *own_options(char (*help)[200])
{
    size_t n;
    const struct real_key *k = real_key_table(&n);
    struct argp_option *o = calloc(n + 1 + 3, sizeof *o), *at = o;
    char name[40];
    WB_MEMORY(o, "out of memory");
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s", k[i].name);
        for (char *c = name; *c; c++)
            if (*c == '_') *c = '-';
        *at++ = (struct argp_option){strdup(name), KEY_BASE + (int)i,
                                     k[i].arg,     strcmp(k[i].arg, "BOOL") != 0 ? 0 : OPTION_ARG_OPTIONAL,
                                     help[i],      1};
    }
    static const struct argp_option more[] = {
        {"gate", OPT_GATE, "off|warn|refuse", 0,
         "When the machine is not quiet before the run: go on, say so (the default), or refuse (exit code 8)", 2},
        {"dry-run", OPT_DRY, NULL, 0, "Say what would run, and stop", 2},
        {"list", OPT_LIST, NULL, 0, "List the kinds of workloads and what they are counterparts of", 2},
    };
    memcpy(at, more, sizeof more);
    return o;
}

/* "bytes of a message (pipe_bw pipe_latency hackbench)" */
static void write_help(char *text, size_t n, const struct real_key *k)
{
    size_t at = (size_t)snprintf(text, n, "%s", k->help);
    unsigned count = (unsigned)__builtin_popcount(k->kinds);
    for (unsigned i = 0, seen = 0; count <= 4 && i < REAL_KINDS && at < n; i++) {
        if (!(k->kinds & 1u << i)) continue;
        const char *before = seen ? " " : " (";
        seen++;
        at += (size_t)snprintf(text + at, n - at, "%s%s%s", before, real_kind_name((enum real_kind)i),
                               seen == count ? ")" : "");
    }
}

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct request *r = ctx;
    size_t n;
    const struct real_key *k = real_key_table(&n);
    if (key == OPT_GATE) {
        if (strcmp(arg, "off") != 0 && strcmp(arg, "warn") != 0 && strcmp(arg, "refuse") != 0) {
            cli_usage_error("wakebal real", "One of: off, warn, refuse", "--gate '%.100s' is not known", arg);
            return EINVAL;
        }
        r->gate = arg;
        return 0;
    }
    if (key == OPT_DRY) {
        r->o.dry_run = true;
        return 0;
    }
    if (key == OPT_LIST) {
        r->list = true;
        return 0;
    }
    if (key < KEY_BASE || key >= KEY_BASE + (int)n) return ARGP_ERR_UNKNOWN;
    if (r->n == WB_ARRAY_SIZE(r->set)) return EINVAL;
    r->set[r->n++] = (struct setting){k[key - KEY_BASE].name, arg ? arg : "true"};
    return 0;
}

static void list_kinds(void)
{
    for (unsigned k = 0; k < REAL_KINDS; k++)
        printf("%-14s %s (%s)\n", real_kind_name((enum real_kind)k), real_kind_help((enum real_kind)k),
               real_kind_peer((enum real_kind)k));
    printf("\nCalls of syscall:\n");
    for (uint32_t i = 0; real_call_name(i); i++) printf("%-18s %s\n", real_call_name(i), real_call_help(i));
}

/* KIND, or the command line of a benchmark. */
static int make_spec(struct request *r, struct wb_diag *d)
{
    enum real_kind kind;
    char text[1024];
    size_t at = 0;
    if (r->o.arg_n == 1 && !real_kind_find(r->o.arg[0], &kind)) {
        real_spec_init(&r->spec, kind);
    } else {
        for (size_t i = 0; i < r->o.arg_n && at < sizeof text; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? " " : "", r->o.arg[i]);
        if (at >= sizeof text) return cli_usage_error("wakebal real", NULL, "the command is too long");
        if (real_spec_from_cmd(&r->spec, text, d) < 0) return EXIT_USAGE;
    }
    for (size_t i = 0; i < r->n; i++)
        if (real_spec_set(&r->spec, r->set[i].key, r->set[i].value, d) < 0) return EXIT_USAGE;
    return real_spec_check(&r->spec, d) < 0 ? EXIT_USAGE : EXIT_FINE;
}

/* A number in the unit of a metric: "4.41 GB/s", "5.03 us", "69,372 /s". */
static const char *value_text(const struct real_metric *m, char *buf, size_t n)
{
    char digits[40];
    if (!isfinite(m->value))
        snprintf(buf, n, "?");
    else if (!strcmp(m->unit, "B/s"))
        wb_format_quantity(buf, n, m->value, WB_UNIT_RATE);
    else if (!strcmp(m->unit, "s"))
        wb_format_quantity(buf, n, m->value * 1e12, WB_UNIT_TIME);
    else if (m->value < 100)
        snprintf(buf, n, "%.3g /s", m->value);
    else
        snprintf(buf, n, "%s /s", out_thousands(digits, sizeof digits, m->value));
    return buf;
}

static const char *time_text(double ps, char *buf, size_t n)
{
    return wb_format_quantity(buf, n, ps, WB_UNIT_TIME);
}

static void print_windows(const struct real_result *r)
{
    char a[40], b[40], c[40];
    double one, two, mixed;
    bool rate = r->kind != REAL_PIPE_BW;
    struct real_metric m = {.unit = rate ? "1/s" : "B/s"}, lo = m, hi = m;
    m.value = real_window_quantile(r, 0.5);
    lo.value = real_window_quantile(r, 0.1);
    hi.value = real_window_quantile(r, 0.9);
    printf("  %-12s median %s   10-90 %% %s .. %s   (%u of %s)\n", "windows", value_text(&m, a, sizeof a),
           value_text(&lo, b, sizeof b), value_text(&hi, c, sizeof c), r->window_n,
           time_text((double)r->window_ns * 1e3, (char[32]){0}, 32));
    real_window_modes(r, &one, &two, &mixed);
    if (!isnan(r->together))
        printf("  %-12s %.1f %% of the work with both ends on one CPU; windows: %.0f %% together, %.0f %% apart, %.0f "
               "%% mixed\n",
               "together", r->together * 100, one * 100, two * 100, mixed * 100);
}

static void print_counts(const struct real_result *r)
{
    const struct real_counts *c = &r->counts;
    double s = r->count_seconds > 0 ? r->count_seconds : NAN,
           work = r->kind == REAL_PIPE_BW ? (double)r->ops / 1e6 : (double)r->ops;
    double share =
        r->seconds > 0 && s > 0 ? r->seconds / s : 1; /* work and counts were taken over nearly the same time */
    char a[40], b[40];
    if (c->have & REAL_HAVE_SWITCHES) {
        double all = (double)(c->voluntary + c->involuntary);
        printf("  %-12s %s /s", "switches", out_thousands(a, sizeof a, all / s));
        if (c->have & REAL_HAVE_SPLIT)
            printf(", %s of them involuntary", out_thousands(b, sizeof b, (double)c->involuntary / s));
        if (work > 0)
            printf("; %.3g per %s", all * share / work,
                   r->kind == REAL_PIPE_BW     ? "MB"
                   : r->kind == REAL_HACKBENCH ? "message"
                                               : "unit of work");
        printf("\n");
    }
    if (c->have & REAL_HAVE_MIGRATIONS)
        printf("  %-12s %.3g /s (counted by %s)\n", "migrations", (double)c->migrations / s, r->count_source);
    if (c->have & REAL_HAVE_CPU)
        printf("  %-12s %.2f CPUs used, %.2f waited for\n", "CPU time", (double)c->cpu_ns * 1e-9 / s,
               (double)c->wait_ns * 1e-9 / s);
}

static void print_result(const struct real_result *r)
{
    char t[6][40];
    for (uint32_t i = 0; i < r->metric_n; i++)
        printf("  %-12s %s\n", r->metric[i].name, value_text(&r->metric[i], t[0], sizeof t[0]));
    if (r->window_n) print_windows(r);
    if (r->latency && r->latency->count) {
        static const uint32_t ppm[] = {10000, 500000, 900000, 990000, 999000};
        for (size_t i = 0; i < WB_ARRAY_SIZE(ppm); i++)
            time_text((double)wb_hist_quantile(r->latency, ppm[i]), t[i], sizeof t[i]);
        printf("  %-12s p1 %s  p50 %s  p90 %s  p99 %s  p99.9 %s  max %s\n", r->latency_name, t[0], t[1], t[2], t[3],
               t[4], time_text((double)r->latency->max, t[5], sizeof t[5]));
    }
    print_counts(r);
    for (uint32_t i = 0; i < r->task_n; i++)
        if (r->task[i].background && r->task[i].counts.have & REAL_HAVE_CPU)
            printf("  %-12s %s %u: %.3f of a CPU\n", "beside", r->task[i].role, r->task[i].copy,
                   (double)r->task[i].counts.cpu_ns * 1e-9 / r->task[i].seconds);
    for (uint32_t i = 0; i < r->left_out_n; i++) printf("  left out     %s\n", r->left_out[i]);
}

static int export(const struct request *r, const struct real_result *res, const struct host_load *before,
                  const struct host_load *after)
{
    if (!r->o.export_json) return EXIT_FINE;
    json_t *o = real_result_json(&r->spec, res, before, after);
    int rc = out_file(r->o.export_json, out_put_json, o);
    json_decref(o);
    return rc;
}

/* The gate: is anybody else busy? Returns EXIT_FINE to go on. */
static int gate(const struct request *r, struct host_load *before)
{
    char text[160];
    if (!strcmp(r->gate, "off")) return EXIT_FINE;
    host_quiet_before(&host_gate_default, before);
    if (before->quiet) return EXIT_FINE;
    bool refuse = !strcmp(r->gate, "refuse");
    if (refuse || !r->o.quiet)
        fprintf(stderr, "wakebal: %s: the machine is not quiet (limits %.1f %% and %.1f %%): %s\n",
                refuse ? "error" : "warning", host_gate_default.foreign_max * 100, host_gate_default.steal_max * 100,
                host_load_text(before, text, sizeof text));
    return refuse ? EXIT_PERMISSION : EXIT_FINE;
}

/* What ran beside it, and what that means for the figures. */
static void check_after(const struct request *r, const struct host_load *after)
{
    char text[160];
    if (r->o.quiet || !strcmp(r->gate, "off")) return;
    fprintf(stderr, "Meanwhile %s%s\n", host_load_text(after, text, sizeof text),
            after->quiet ? "" : "; cross-CPU figures taken beside such load are off by up to a factor of two");
}

static int run_spec(struct request *r, struct wb_diag *d)
{
    struct host_load before = {0}, after = {0};
    struct real_result res;
    bool looked = strcmp(r->gate, "off") != 0;
    int rc = gate(r, &before);
    if (rc != EXIT_FINE) return rc;
    out_catch_signals();
    r->spec.stop = &out_stop;
    struct host_meter *m = looked ? host_meter_begin(NULL) : NULL;
    rc = real_run(&r->spec, &res, d);
    if (rc) {
        host_meter_free(m);
        if (rc == -EINTR) return out_stop_exit_code();
        return rc == -EPERM || rc == -EACCES ? EXIT_PERMISSION : rc == -1 ? EXIT_USAGE : EXIT_INTERNAL;
    }
    if (m) host_meter_end(m, res.cpu_ns_total * 1e-9, &host_gate_default, &after);
    if (!r->o.export_json || strcmp(r->o.export_json, "-") != 0) print_result(&res);
    check_after(r, &after);
    rc = export(r, &res, looked ? &before : NULL, looked ? &after : NULL);
    real_result_free(&res);
    return rc;
}

/* Errors of a run that was begun: "Nothing was run." would not be true. */
static void print_errors(const struct request *r, const struct wb_diag *d, bool begun)
{
    char *text = wb_diag_render(d, cli_color(&r->o, STDERR_FILENO)), *cut = strstr(text, "  Nothing was run.");
    if (begun && cut) memcpy(cut, "\n", 2);
    fputs(text, stderr);
    free(text);
}

static int run(struct request *r)
{
    char text[640], seconds[32];
    struct wb_diag *d = wb_diag_new();
    int rc = make_spec(r, d);
    if (rc == EXIT_FINE && !r->o.quiet) {
        double s = real_spec_seconds(&r->spec);
        fprintf(stderr, "Running %s: %s (%s)\n", real_kind_name(r->spec.kind),
                real_spec_describe(&r->spec, text, sizeof text),
                s > 0 ? wb_format_quantity(seconds, sizeof seconds, s * 1e12, WB_UNIT_TIME) : "until the work is done");
    }
    bool begin = rc == EXIT_FINE && !r->o.dry_run;
    if (begin) rc = run_spec(r, d);
    print_errors(r, d, begin);
    wb_diag_free(d);
    return rc;
}

int verb_real(int argc, char **argv)
{
    size_t n;
    const struct real_key *k = real_key_table(&n);
    char(*help)[200] = calloc(n, sizeof *help);
    struct request *r = calloc(1, sizeof *r);
    WB_MEMORY(help && r, "out of memory");
    for (size_t i = 0; i < n; i++) write_help(help[i], sizeof help[i], &k[i]);
    struct argp_option *own = own_options(help);
    const struct cli_spec spec = {
        .usage = "KIND | -- BENCHMARK COMMAND",
        .doc = "Run one real workload on this machine, on loopback and pipes only, and say what came out: throughput "
               "or latency, "
               "its spread over windows, context switches, migrations, and what else the machine did."
               "\vNo process is left behind, however it ends. Examples:\n"
               "  wakebal real pipe_latency --cpus 0,1 --duration 5s\n"
               "  wakebal real pipe_bw --background hog,nice=10 --export-json out.json\n"
               "  wakebal real -- hackbench -g 4 -l 1000 -P",
        .groups = CLI_EXPORT_JSON,
        .own = own,
        .own_parse = parse_own,
        .own_ctx = r,
        .args_max = SIZE_MAX,
    };
    r->gate = "warn";
    cli_options_init(&r->o);
    int rc = cli_options_parse(&spec, argc, argv, &r->o);
    if (rc < 0 && r->list)
        list_kinds(), rc = EXIT_FINE;
    else if (rc < 0)
        rc = r->o.arg_n ? run(r)
                        : cli_usage_error("wakebal real", NULL,
                                          "say which workload: pipe_bw, pipe_latency, tcp_rr, ... (--list)");
    cli_options_free(&r->o);
    for (struct argp_option *o = own; o->key && o->key < OPT_GATE; o++) free((char *)o->name);
    free(own);
    free(help);
    free(r);
    return rc;
}
