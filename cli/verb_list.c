/* verb_list.c - wakebal list WHAT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exit_code.h"
#include "keys_index.h"
#include "options.h"
#include "registry.h"
#include "verbs.h"
#include "wakebal/metric.h"
#include "wakebal/scenario.h"
#include "wrap.h"

struct list {
    const struct wb_key_registry *keys;
    bool markdown;
};

/* ---- keys ---- */

static void list_keys_plain(const struct wb_key_registry *keys)
{
    char first[160], head[200], text[320];
    size_t width = wrap_list_width();
    const char *form = width && width < 105 ? "%s   %s   %s" : "%-40s %-16s %s";
    for (size_t i = 0; i < wb_keys_count(keys); i++) {
        const struct wb_key *k = wb_keys_at(keys, i);
        const char *def = k->def ? k->def : k->flags & WB_KEY_REQUIRED ? "required" : "-";
        snprintf(head, sizeof head, form, k->path, wb_key_type_name(k->type), def);
        snprintf(text, sizeof text, "%s%s%s%s", wrap_first_sentence(k->help, first, sizeof first),
                 k->only ? "   (only " : "", k->only ? k->only : "", k->only ? ")" : "");
        wrap_row(stdout, head, text, 71, width);
    }
}

/* A cell of a Markdown table: no bars, no line ends. */
static void cell(const char *text)
{
    for (; text && *text; text++) {
        if (*text == '|' || *text == '*' || *text == '_' || *text == '<') putchar('\\');
        putchar(*text == '\n' ? ' ' : *text);
    }
}

static void markdown_row(const struct wb_key_registry *keys, const struct wb_key *k)
{
    printf("| `%s` | %s", k->path, wb_key_type_name(k->type));
    if (k->type == WB_KEY_ENUM) {
        printf(" ");
        cell(keys_choices((struct wb_key_registry *)keys, k));
    }
    printf(" | ");
    cell(k->def ? k->def : k->flags & WB_KEY_REQUIRED ? "required" : "");
    printf(" | ");
    cell(k->min ? k->min : "");
    printf("%s", k->min || k->max ? " .. " : "");
    cell(k->max ? k->max : "");
    printf(" | ");
    cell(k->help);
    if (k->only) printf(" Only for `%s`.", k->only);
    printf(" | ");
    cell(k->source ? k->source : "");
    printf(" |\n");
}

static void list_keys_markdown(const struct wb_key_registry *keys)
{
    char group[KEYS_PATTERN_MAX] = "";
    printf("# Scenario reference\n\n"
           "Made from the key table by `wakebal list keys --markdown`; do not edit. The grammar is libconfig's; how "
           "files are found, layered and\n"
           "checked is in `sim/include/wakebal/scenario.h`. Times, sizes, rates and frequencies are strings with a "
           "unit (`\"10 us\"`, `\"64 KiB\"`); bare\n"
           "numbers are counts and ratios. A cost may be `( value, status, range, source )`. A segment `*` stands for "
           "any name.\n");
    for (size_t i = 0; i < wb_keys_count(keys); i++) {
        const struct wb_key *k = wb_keys_at(keys, i);
        size_t n = strcspn(k->path, ".");
        bool top = !keys_is_group(keys, k->path) && !k->path[n];
        const char *title = top ? "top level" : k->path;
        size_t len = top ? strlen(title) : n;
        if (strlen(group) != len || memcmp(group, title, len)) {
            snprintf(group, sizeof group, "%.*s", (int)len, title);
            printf("\n## %s\n\n| key | type | default | range | meaning | source |\n|---|---|---|---|---|---|\n",
                   group);
        }
        markdown_row(keys, k);
    }
}

static int list_keys(const struct list *l)
{
    if (l->markdown)
        list_keys_markdown(l->keys);
    else
        list_keys_plain(l->keys);
    return EXIT_FINE;
}

/* ---- files ---- */

static int list_files(const char *kind)
{
    size_t n;
    char **names = wb_scenario_list(kind, &n);
    for (size_t i = 0; i < n; i++) {
        char *title = wb_scenario_title(names[i], kind);
        wrap_row(stdout, names[i], title ? title : "", 29, wrap_list_width());
        free(title);
    }
    wb_scenario_list_free(names);
    return EXIT_FINE;
}

static int list_machines(const struct list *l)
{
    (void)l;
    return list_files("machines");
}
static int list_kernels(const struct list *l)
{
    (void)l;
    return list_files("kernels");
}
static int list_cases(const struct list *l)
{
    (void)l;
    return list_files("cases");
}
static int list_studies(const struct list *l)
{
    (void)l;
    return list_files("studies");
}

/* ---- models ---- */

static int list_workloads(const struct list *l)
{
    const struct wb_registry *m = cli_models();
    (void)l;
    printf("Kinds (workload.kind):\n");
    for (size_t i = 0; i < m->nworkloads; i++) {
        const struct wb_workload_ops *w = m->workloads[i];
        char head[80], text[600];
        snprintf(head, sizeof head, "  %s", w->kind);
        snprintf(text, sizeof text, "%s%s%s%s", w->help, w->real ? "   [as " : "", w->real ? w->real : "",
                 w->real ? "]" : "");
        wrap_row(stdout, head, text, 19, wrap_list_width());
    }
    printf("\nFragments (workload.base, or run by name):\n");
    return list_files("workloads");
}

static int list_policies(const struct list *l)
{
    const struct wb_registry *m = cli_models();
    (void)l;
    for (size_t i = 0; i < m->npolicies; i++)
        wrap_row(stdout, m->policies[i]->name, m->policies[i]->help, 17, wrap_list_width());
    return EXIT_FINE;
}

static void print_metrics(const struct wb_metric_def *d, size_t n)
{
    char head[160];
    for (size_t i = 0; i < n; i++) {
        snprintf(head, sizeof head, "%-34s %-5s %s", d[i].name, d[i].unit, wb_better_name(d[i].better));
        wrap_row(stdout, head, d[i].help, 49, wrap_list_width());
    }
}

static int list_metrics(const struct list *l)
{
    const struct wb_registry *m = cli_models();
    const struct wb_metric_def *d;
    (void)l;
    for (size_t i = 0; (d = wb_metric_def_at(i)); i++) print_metrics(d, 1);
    for (size_t i = 0; i < m->nworkloads; i++) {
        if (m->workloads[i]->nmetrics) printf("\nOf workload %s:\n", m->workloads[i]->kind);
        print_metrics(m->workloads[i]->metrics, m->workloads[i]->nmetrics);
    }
    for (size_t i = 0; i < m->nipcs; i++) {
        if (m->ipcs[i]->nmetrics) printf("\nOf %s:\n", m->ipcs[i]->kind);
        print_metrics(m->ipcs[i]->metrics, m->ipcs[i]->nmetrics);
    }
    return EXIT_FINE;
}

static int list_errors(const struct list *l)
{
    const struct wb_error_info *e;
    (void)l;
    for (size_t i = 0; (e = wb_error_at(i)); i++) wrap_row(stdout, e->code, e->title, 7, wrap_list_width());
    return EXIT_FINE;
}

static const struct {
    const char *name;
    int (*print)(const struct list *);
    const char *what;
} whats[] = {
    {"workloads", list_workloads, "loads, by kind and ready to run by name (wakebal run NAME)"},
    {"machines", list_machines, "machines to run on (-m NAME)"},
    {"kernels", list_kernels, "kernels to run under (-k NAME)"},
    {"cases", list_cases, "published results, to simulate (wakebal reproduce NAME)"},
    {"studies", list_studies, "ready questions over several points (wakebal sweep NAME)"},
    {"policies", list_policies, "scheduler families"},
    {"metrics", list_metrics, "figures that results hold"},
    {"keys", list_keys, "keys of scenario files (wakebal help KEY explains one)"},
    {"errors", list_errors, "codes of messages (wakebal help CODE explains one)"},
};

static int list_all(void)
{
    printf("What can be listed:\n\n");
    for (size_t i = 0; i < WB_ARRAY_SIZE(whats); i++) printf("  wakebal list %-10s %s\n", whats[i].name, whats[i].what);
    return EXIT_FINE;
}

#define WHAT_HINT "One of: keys, machines, kernels, workloads, policies, cases, studies, metrics, errors."

static int list_what(const struct list *l, const char *what)
{
    const char *names[WB_ARRAY_SIZE(whats)];
    for (size_t i = 0; i < WB_ARRAY_SIZE(whats); i++) {
        names[i] = whats[i].name;
        if (!strcmp(whats[i].name, what)) return whats[i].print(l);
    }
    const char *near = wb_nearest(what, names, WB_ARRAY_SIZE(names));
    char hint[200];
    snprintf(hint, sizeof hint, "%s%s%s" WHAT_HINT, near ? "Did you mean '" : "", near ? near : "", near ? "'?  " : "");
    return cli_usage_error("wakebal list", hint, "nothing called '%.100s' can be listed", what);
}

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct list *l = ctx;
    (void)arg;
    if (key != 0x1000) return ARGP_ERR_UNKNOWN;
    l->markdown = true;
    return 0;
}

int verb_list(int argc, char **argv)
{
    struct cli_options o;
    struct list l = {0};
    static const struct argp_option own[] = {
        {"markdown", 0x1000, NULL, 0, "keys: as the reference page of the documentation", 1}, {0}};
    const struct cli_spec spec = {
        .usage = "[WHAT]",
        .doc = "What ships or is on the search path."
               "\vWHAT is one of keys, machines, kernels, workloads, policies, cases, studies, metrics, errors.",
        .surplus = "The keys of a group: wakebal help workload; one entry: wakebal help NAME",
        .own = own,
        .own_parse = parse_own,
        .own_ctx = &l,
        .args_min = 0,
        .args_max = 1,
    };
    cli_options_init(&o);
    int rc = cli_options_parse(&spec, argc, argv, &o);
    if (rc < 0) {
        struct wb_key_registry *keys = cli_keys_new();
        l.keys = keys;
        rc = o.arg_n ? list_what(&l, o.arg[0]) : list_all();
        wb_keys_free(keys);
    }
    cli_options_free(&o);
    return rc;
}
