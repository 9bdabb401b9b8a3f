/* verb_conform.c - `wakebal conform`: a recording's scheduling decisions beside a kernel model's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform.h"
#include "exit_code.h"
#include "options.h"
#include "output.h"
#include "registry.h"
#include "trace_table.h"
#include "verbs.h"

enum { KEY_STRICT = 0x1000, KEY_FIRST, KEY_FLOOR, KEY_TOPOLOGY, KEY_WINDOW };

struct request {
    bool strict;
    unsigned long first, window_us;
    double floor; /* share; below 0: none */
    const char *topology;
};

static const struct argp_option own_options[] = {
    {"topology", KEY_TOPOLOGY, "STRING", 0,
     "Machine it was recorded on, as an hwloc synthetic string; the same as -m. Default: the recording's notes, else "
     "one "
     "package with one cache",
     1},
    {"strict", KEY_STRICT, NULL, 0, "Refuse a recording that is not whole (exit code 3)", 1},
    {"first", KEY_FIRST, "N", 0, "Disagreements to show with their state (default 5)", 1},
    {"floor", KEY_FLOOR, "SHARE", 0, "Exit code 5 when fewer of the wakeups with known state agree: 97 %, 0.97", 1},
    {"leaving", KEY_WINDOW, "US", 0, "A task may still be leaving its CPU this long after its switch (default 50 us)",
     1},
    {0}};

static error_t read_share(const char *text, double *share)
{
    char *end;
    *share = strtod(text, &end);
    while (*end == ' ') end++;
    if (*end == '%') {
        *share /= 100;
        end++;
    }
    if (end != text && !*end && *share >= 0 && *share <= 1) return 0;
    (void)cli_usage_error("wakebal conform", "For example: --floor '97 %'", "--floor '%.100s' is no share", text);
    return EINVAL;
}

static error_t read_count(const char *name, const char *text, unsigned long max, unsigned long *n)
{
    char *end;
    *n = strtoul(text, &end, 10);
    if (end != text && !*end && *text != '-' && *n <= max) return 0;
    (void)cli_usage_error("wakebal conform", NULL, "--%s takes a number up to %lu, not '%.100s'", name, max, text);
    return EINVAL;
}

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct request *r = ctx;
    switch (key) {
    case KEY_STRICT: r->strict = true; return 0;
    case KEY_TOPOLOGY: r->topology = arg; return 0;
    case KEY_FLOOR: return read_share(arg, &r->floor);
    case KEY_FIRST: return read_count("first", arg, 100000, &r->first);
    case KEY_WINDOW: return read_count("leaving", arg, 1000000, &r->window_us);
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- tables ---- */

static const char *number(char *buf, size_t n, uint64_t v)
{
    return out_thousands(buf, n, (double)v);
}

static const char *share(char *buf, size_t n, uint64_t part, uint64_t all)
{
    if (all)
        (void)snprintf(buf, n, "%.2f %%", 100.0 * (double)part / (double)all);
    else
        (void)snprintf(buf, n, "-");
    return buf;
}

static void tally_row(struct out_table *t, const char *name, const struct conform_tally *k)
{
    char v[5][32];
    const char *cell[] = {name,
                          number(v[0], 32, k->known),
                          share(v[1], 32, k->known_agree, k->known),
                          number(v[2], 32, k->derived),
                          share(v[3], 32, k->derived_agree, k->derived),
                          share(v[4], 32, k->derived_possible, k->derived)};
    out_table_row(t, cell);
}

static void print_agreement(const struct conform_result *r, const struct out_style *s)
{
    static const char *const head[] = {"woken from", "known", "agree", "derived", "agree", "possible"};
    struct out_table *t = out_table_new("<>>>>>");
    out_table_row(t, head);
    for (int k = 0; k < CONFORM_SCORED; k++)
        if (r->by_kind[k].known || r->by_kind[k].derived) tally_row(t, conform_kind_name[k], &r->by_kind[k]);
    tally_row(t, "all scored", &r->total);
    if (r->fork.known || r->fork.derived) tally_row(t, "(forks)", &r->fork);
    printf("%sPlacement%s\n", s->bold, s->off);
    out_table_print(t, stdout, 2, SIZE_MAX, 120, s->off);
    printf("  not scored:");
    const char *sep = " ";
    for (int k = CONFORM_SCORED; k < CONFORM_KINDS; k++) {
        if (!r->count[k]) continue;
        printf("%s%" PRIu64 " %s", sep, r->count[k], conform_kind_name[k]);
        sep = ", ";
    }
    printf("%s\n\n", *sep == ' ' ? " none" : "");
}

static void print_rules(const struct conform_result *r, const struct out_style *s)
{
    static const char *const head[] = {"rule of the model", "known", "agree", "derived", "agree", "possible"};
    struct out_table *t = out_table_new("<>>>>>");
    out_table_row(t, head);
    for (size_t i = 0; i < r->nrules; i++) tally_row(t, r->rule[i].rule, &r->rule[i].tally);
    out_table_print(t, stdout, 2, 0, 140, s->off);
    printf("\n");
}

static void print_facts(const struct conform_result *r, const struct out_style *s)
{
    static const char *const head[] = {"answer hangs on", "wakeups", "agree", "what it is taken from"};
    struct out_table *t = out_table_new("<>><");
    bool any = false;
    out_table_row(t, head);
    for (int f = 0; f < CONFORM_FACTS; f++) {
        char v[2][32];
        const char *cell[] = {conform_fact_text[f].name, number(v[0], 32, r->by_fact[f]),
                              share(v[1], 32, r->by_fact_agree[f], r->by_fact[f]), conform_fact_text[f].help};
        if (!r->by_fact[f]) continue;
        out_table_row(t, cell);
        any = true;
    }
    out_table_print(t, any ? stdout : stderr, 2, 3, 140, s->off);
    if (any) printf("\n");
}

static void print_confusion(const struct conform_result *r, const struct out_style *s)
{
    const char *head[CONFORM_PLACES + 1] = {"recorded \\ model"};
    struct out_table *t = out_table_new("<>>>>>>");
    for (int i = 0; i < CONFORM_PLACES; i++) head[i + 1] = conform_place_name[i];
    out_table_row(t, head);
    for (int i = 0; i < CONFORM_PLACES; i++) {
        char v[CONFORM_PLACES][32];
        const char *cell[CONFORM_PLACES + 1] = {conform_place_name[i]};
        for (int k = 0; k < CONFORM_PLACES; k++)
            cell[k + 1] = r->confusion[i][k] ? number(v[k], 32, r->confusion[i][k]) : ".";
        out_table_row(t, cell);
    }
    printf("Known wakeups by where they went\n");
    out_table_print(t, stdout, 2, SIZE_MAX, 160, s->off);
    printf("\n");
}

static void print_cases(const struct conform_result *r, const struct out_style *s)
{
    if (!r->ncases) return;
    printf("%sFirst disagreements%s\n", s->bold, s->off);
    for (size_t i = 0; i < r->ncases; i++) {
        const struct conform_case *k = &r->cases[i];
        out_line(stdout, "  line %u, %.6f s: %s-%d on cpu%u wakes %s-%d of cpu%u: recorded cpu%u, model cpu%u", k->line,
                 (double)k->ns * 1e-9, k->waker_comm, k->waker, k->this_cpu, k->wakee_comm, k->wakee, k->prev_cpu,
                 k->chosen, k->model);
        printf("    %s\n", k->rule_text);
        if (k->facts) printf("    hangs on:");
        for (int f = 0; f < CONFORM_FACTS; f++)
            if (k->facts >> f & 1) printf(" %s%s", conform_fact_text[f].name, k->facts >> (f + 1) ? "," : "");
        if (k->facts) printf(" (recorded CPU %s)\n", k->possible ? "possible" : "not possible");
        out_line(stdout, "    %s", k->state);
    }
    printf("\n");
}

static void print_levels(const struct conform_result *r, const struct out_style *s)
{
    if (!r->nlevels) return;
    printf("%sDomains of CPU 0%s, recorded and the model's\n", s->bold, s->off);
    for (uint32_t i = 0; i < r->nlevels; i++) {
        const struct conform_level *l = &r->level[i];
        out_line(stdout, "  %-5s %-5s %s", l->recorded, l->model[0] ? l->model : "-",
                 l->differs[0] ? l->differs : "the same");
    }
    printf("\n");
}

static void print_newidle(const struct conform_result *r, const struct out_style *s)
{
    const struct conform_newidle *n = &r->newidle;
    uint64_t waits = n->idle - n->idle_quiet;
    printf("%sNewly idle%s\n  went idle %" PRIu64 " times, %" PRIu64
           " while somebody waited: of these the model finds nothing to pull "
           "%" PRIu64 " times\n",
           s->bold, s->off, n->idle, waits, n->idle_agree);
    if (n->pulls)
        printf("  pulled %" PRIu64 " times: the model from the same CPU %" PRIu64 ", same level %" PRIu64
               ", other level %" PRIu64 ", nothing %" PRIu64 "\n",
               n->pulls, n->same_cpu, n->same_level, n->other_level, n->nothing);
    printf("\n");
}

static void print_domains(const struct conform_result *r, const struct out_style *s)
{
    static const char *const head[] = {"domain", "idle calls", "gained",     "busy calls", "gained", "newidle calls",
                                       "gained", "pushed",     "moves seen", "affine",     "model"};
    struct out_table *t;
    if (!r->ndomains) return;
    t = out_table_new("<>>>>>>>>>>");
    out_table_row(t, head);
    for (size_t i = 0; i < r->ndomains; i++) {
        const struct conform_domain *d = &r->domain[i];
        uint64_t v[] = {d->calls[0],  d->gained[0], d->calls[1],   d->gained[1],   d->calls[2],
                        d->gained[2], d->pushed,    d->moved_seen, d->move_affine, d->model_affine};
        char text[10][32];
        const char *cell[11] = {d->name};
        for (int k = 0; k < 10; k++) cell[k + 1] = number(text[k], 32, v[k]);
        out_table_row(t, cell);
    }
    printf("%sBalancing, by /proc/schedstat%s (moves seen: of the recording, wakeups not included)\n", s->bold, s->off);
    out_table_print(t, stdout, 2, SIZE_MAX, 140, s->off);
    printf("\n");
}

static void print_all(const struct cli_options *o, const struct conform_result *r)
{
    struct out_style s = out_style(o, 1);
    out_line(stdout, "%s: %s on \"%s\"%s", r->trace->path, r->kernel, r->machine,
             r->machine_assumed ? " (assumed: the recording does not say; give -m or --topology)" : "");
    if (r->kernel_near)
        out_line(stdout, "The recording's kernel, %s, is not modelled: the rules of %s stand for it", r->trace->kernel,
                 r->kernel);
    trace_table_print(o, r->trace, &r->health);
    if (r->seem_idle)
        printf("  tasks that seem to be SCHED_IDLE: %u (wakeups went to CPUs that they kept busy; taken for such)\n",
               r->seem_idle);
    printf("%" PRIu64 " wakeups; the state is known for %.1f %% of those scored\n\n", r->wakeups,
           100.0 * (double)r->total.known / (double)WB_MAX(r->total.known + r->total.derived, 1u));
    print_agreement(r, &s);
    print_rules(r, &s);
    print_facts(r, &s);
    print_confusion(r, &s);
    print_levels(r, &s);
    print_newidle(r, &s);
    print_domains(r, &s);
    print_cases(r, &s);
}

/* ---- the verb ---- */

static int put_json(FILE *to, void *ctx)
{
    json_t *j = conform_json(ctx);
    int rc = out_put_sorted_json(to, j);
    json_decref(j);
    return rc;
}

static int judge(const struct request *q, const struct conform_result *r)
{
    const struct trace_health_text *broken = trace_health_broken(&r->health);
    if (q->strict && broken) {
        fprintf(stderr, "wakebal conform: --strict: %s: %s\n", broken->name, broken->help);
        return EXIT_INVALID;
    }
    if (q->floor < 0 || conform_share(&r->total) >= q->floor) return EXIT_FINE;
    fprintf(stderr, "wakebal conform: %.2f %% of the wakeups with known state agree, fewer than %.2f %%\n",
            100 * conform_share(&r->total), 100 * q->floor);
    return EXIT_TOLERANCE;
}

static int run(const struct cli_options *o, const struct request *q)
{
    struct conform_options c = {.machine = q->topology ? q->topology : o->machine,
                                .kernel = o->kernel,
                                .set = o->set,
                                .set_n = o->set_n,
                                .first = q->first,
                                .window_ns = q->window_us * 1000};
    struct wb_diag *d = wb_diag_new();
    struct wb_key_registry *keys = cli_keys_new();
    struct conform_result *r = conform_run(o->arg[0], &c, cli_models(), keys, d);
    int rc = cli_print_diag(o, d);
    if (r) {
        if (o->export_json) rc = out_file(o->export_json, put_json, r);
        if (!o->export_json || strcmp(o->export_json, "-") != 0) print_all(o, r);
        if (rc == EXIT_FINE) rc = judge(q, r);
    } else if (rc == EXIT_FINE) {
        rc = EXIT_INVALID;
    }
    conform_free(r);
    wb_keys_free(keys);
    wb_diag_free(d);
    return rc;
}

int verb_conform(int argc, char **argv)
{
    struct request q = {.first = 5, .window_us = 50, .floor = -1};
    struct cli_options o;
    const struct cli_spec spec = {
        .usage = "RECORDING",
        .doc = "Ask a kernel model, at every wakeup of a recording, where it would have put the task."
               "\vRECORDING: text of ftrace, `trace-cmd report` or `perf script`, plain or gzip. Agreement is printed "
               "for wakeups whose state the recording tells, and apart for those that hang on what it does not.\n"
               "  wakebal conform trace.txt.gz -k linux-6.12 --topology \"pack:2 [numa] l3:1 core:8 pu:2\"\n"
               "  wakebal conform guest.trace --export-json out.json --floor '97 %'",
        .groups = CLI_SCENARIO | CLI_EXPORT_JSON,
        .own = own_options,
        .own_parse = parse_own,
        .own_ctx = &q,
        .args_min = 1,
        .args_max = 1,
    };
    cli_options_init(&o);
    int rc = cli_options_parse(&spec, argc, argv, &o);
    if (rc < 0) rc = run(&o, &q);
    cli_options_free(&o);
    return rc;
}
