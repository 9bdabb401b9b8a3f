/*
 * verb_compare.c - `wakebal compare A B...`: studies, runs or exported results side by side.
 *
 * The first is the base. Exit code 4 when --fail-if holds, on the interval and not on the mean.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_rows.h"
#include "exit_code.h"
#include "exp_format.h"
#include "options.h"
#include "output.h"
#include "verbs.h"

static const char verb[] = "wakebal compare";

struct compare {
    struct cli_options o;
    const char *style, *by, *metrics;
    double confidence, detect;
    const char **gate;
    size_t ngates;
    struct compare_set *set;
    size_t nsets;
    struct compare_table *table;
};

enum { KEY_STYLE = 0x1000, KEY_BY, KEY_METRICS, KEY_CONFIDENCE, KEY_DETECT, KEY_FAIL_IF };
static const struct argp_option own[] = {
    {"style", KEY_STYLE, "table|mmtests|benchstat|markdown|csv", 0, "How to print", 1},
    {"metrics", KEY_METRICS, "A,B|all", 0,
     "Which figures; NAME@WORKLOAD for one workload's. Without it: all that are better one way or the other", 1},
    {"by", KEY_BY, "KEY", 0, "Compare the points of one study with each other: columns are the values of this axis", 1},
    {"confidence", KEY_CONFIDENCE, "RATIO", 0, "Of the intervals and tests; without it as the base was run", 1},
    {"detect", KEY_DETECT, "RATIO", 0, "Say how many replications would find a change of this size", 1},
    {"fail-if", KEY_FAIL_IF, "EXPR", 0,
     "Exit with code 4 when this holds: 'METRIC worse than BASE by 3%', 'any worse than BASE by 3%', 'METRIC changed "
     "by 1%'",
     2},
    {0},
};

typedef int (*style_fn)(FILE *, const struct compare_table *);
static const struct {
    const char *name;
    style_fn print; /* NULL: the table */
} styles[] = {{"table", NULL},
              {"mmtests", compare_style_mmtests},
              {"benchstat", compare_style_benchstat},
              {"markdown", compare_style_markdown},
              {"csv", compare_style_csv}};

static error_t parse_ratio(const char *option, const char *arg, double least, double most, double *v)
{
    if (exp_parse_value(arg, strlen(arg), "1", v) && *v > least && *v < most) return 0;
    cli_usage_error(verb, NULL, "--%s '%.60s' is no ratio between %g %% and %g %%", option, arg, 100 * least,
                    100 * most);
    return EINVAL;
}

static error_t parse_style(struct compare *c, const char *arg)
{
    const char *names[WB_ARRAY_SIZE(styles)];
    for (size_t i = 0; i < WB_ARRAY_SIZE(styles); i++) {
        names[i] = styles[i].name;
        if (strcmp(arg, names[i])) continue;
        c->style = names[i];
        return 0;
    }
    const char *near = wb_nearest(arg, names, WB_ARRAY_SIZE(styles));
    char hint[80];
    snprintf(hint, sizeof hint, "%s%s%sOne of: table, mmtests, benchstat, markdown, csv", near ? "Did you mean '" : "",
             near ? near : "", near ? "'?  " : "");
    cli_usage_error(verb, hint, "--style '%.60s' is not known", arg);
    return EINVAL;
}

static error_t parse_gate(struct compare *c, const char *arg)
{
    const char *why = compare_fail_if_syntax(arg);
    if (why) {
        cli_usage_error(verb, "For example: --fail-if 'time.total worse than base by 3%'", "--fail-if '%.200s': %s",
                        arg, why);
        return EINVAL;
    }
    c->gate = realloc(c->gate, (c->ngates + 1) * sizeof *c->gate);
    WB_MEMORY(c->gate, "out of memory for options");
    c->gate[c->ngates++] = arg;
    return 0;
}

static error_t parse_own(int key, char *arg, void *ctx)
{
    struct compare *c = ctx;
    switch (key) {
    case KEY_STYLE: return parse_style(c, arg);
    case KEY_BY: c->by = arg; return 0;
    case KEY_METRICS: c->metrics = arg; return 0;
    case KEY_CONFIDENCE: return parse_ratio("confidence", arg, 0.5, 1, &c->confidence);
    case KEY_DETECT: return parse_ratio("detect", arg, 0, 10, &c->detect);
    case KEY_FAIL_IF: return parse_gate(c, arg);
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ------------------------------------------------------------------ reading */
/* Two studies may have the same name: study/a.db and other/a.db. */
static void tell_apart(struct compare *c)
{
    for (size_t i = 1; i < c->nsets; i++)
        for (size_t k = 0; k < i; k++) {
            if (strcmp(c->set[i].name, c->set[k].name)) continue;
            char *name;
            int n = asprintf(&name, "%s#%zu", c->set[i].name, i + 1);
            WB_MEMORY(n >= 0, "out of memory for a name");
            free(c->set[i].name);
            c->set[i].name = name;
            break;
        }
}

static int read_sets(struct compare *c)
{
    char why[640];
    c->set = calloc(c->o.arg_n, sizeof *c->set);
    WB_MEMORY(c->set, "out of memory for a comparison");
    for (size_t i = 0; i < c->o.arg_n; i++) {
        c->nsets++;
        if (!compare_load(c->o.arg[i], &c->set[i], why, sizeof why)) continue;
        char *text = exp_text_terminal(why, 0);
        fprintf(stderr, "%s: %s\n", verb, text);
        free(text);
        return EXIT_INVALID;
    }
    if (c->by) {
        size_t n;
        struct compare_set *split = compare_split(c->set, c->by, &n);
        if (!split) return cli_usage_error(verb, NULL, "'%.200s' is no axis of this study", c->by);
        free(c->set);
        c->set = split;
        c->nsets = n;
    }
    tell_apart(c);
    return EXIT_FINE;
}

/* ------------------------------------------------------------------ the table */
static void value_text(char *buf, size_t n, const struct compare_cell *c, const struct out_style *st)
{
    char value[48];
    double half = exp_relative_half_width(&c->sum);
    if (!c->metric)
        snprintf(buf, n, "-");
    else if (isfinite(half) && half > 0)
        snprintf(buf, n, half < 0.0995 ? "%s %s%.2g %%" : "%s %s%.0f %%",
                 exp_format_value(value, sizeof value, c->sum.mean, c->metric->unit), st->plus_minus, 100 * half);
    else
        snprintf(buf, n, "%s", exp_format_value(value, sizeof value, c->sum.mean, c->metric->unit));
}

static void change_text(char *buf, size_t n, const struct compare_change *c)
{
    if (isnan(c->change))
        snprintf(buf, n, "-");
    else if (isnan(c->lo) || c->exact)
        snprintf(buf, n, "%+.2f %%", 100 * c->change);
    else
        snprintf(buf, n, "%+.1f %% (%+.1f .. %+.1f)", 100 * c->change, 100 * c->lo, 100 * c->hi);
}

static void print_row(struct out_table *t, const struct compare *c, const struct compare_row *r, size_t set,
                      const struct out_style *st)
{
    char name[192], base[64], other[64], change[80], verdict[64], need[32] = "";
    const struct compare_cell *x = &r->cell[set];
    snprintf(name, sizeof name, "%.100s%s%.80s", r->metric->name, r->metric->workload ? "@" : "",
             r->metric->workload ? r->metric->workload : "");
    value_text(base, sizeof base, &r->cell[0], st);
    value_text(other, sizeof other, x, st);
    change_text(change, sizeof change, &x->change);
    const char *stars = compare_stars(&x->change);
    snprintf(verdict, sizeof verdict, "%s%s%s", x->metric ? compare_verdict_name[x->verdict] : "only in the base",
             *stars ? "  " : "", stars);
    size_t n = c->detect > 0 ? compare_needed(&x->change, c->detect, c->table->confidence) : 0;
    if (n) snprintf(need, sizeof need, "%zu", n);
    const char *cell[] = {name, base, other, change, c->detect > 0 ? need : verdict, verdict};
    out_table_row(t, cell);
    const char *colour = x->verdict == COMPARE_BETTER ? st->good : x->verdict == COMPARE_WORSE ? st->bad : NULL;
    if (colour && *colour) out_table_colour(t, c->detect > 0 ? 5 : 4, colour);
}

static struct out_table *begin(const struct compare *c, size_t set)
{
    char change[40], need[48];
    struct out_table *t = out_table_new(c->detect > 0 ? "<>>>><" : "<>>><");
    snprintf(change, sizeof change, "change (%g %%)", 100 * c->table->confidence);
    snprintf(need, sizeof need, "n for %g %%", 100 * c->detect);
    const char *head[] = {
        "", c->table->set[0].name, c->table->set[set].name, change, c->detect > 0 ? need : "verdict", "verdict"};
    out_table_row(t, head);
    return t;
}

/* A table for each column against the base; a heading for each point. */
static void print_against(const struct compare *c, size_t set, const struct out_style *st)
{
    const struct compare_table *ct = c->table;
    for (size_t i = 0; i < ct->n;) {
        const struct compare_row *first = &ct->row[i];
        struct out_table *t = begin(c, set);
        if (*first->label) {
            char *label = exp_text_terminal(first->label, 100);
            printf("%s%s%s\n", st->bold, label, st->off);
            free(label);
        }
        for (; i < ct->n && ct->row[i].point == first->point; i++) print_row(t, c, &ct->row[i], set, st);
        out_table_print(t, stdout, *first->label ? 2 : 0, 0, 110, st->off);
    }
    double g = compare_geomean(ct, set);
    if (ct->n > 1 && !isnan(g) && fabs(g - 1) > 1e-9)
        printf("on the whole (geometric mean) %.3g %% %s\n", 100 * fabs(g - 1), g >= 1 ? "better" : "worse");
    putchar('\n');
}

static void print_table(const struct compare *c)
{
    struct out_style st = out_style(&c->o, 1);
    const struct compare_table *t = c->table;
    for (size_t s = 1; s < t->nsets; s++) print_against(c, s, &st);
    if (c->o.quiet) return;
    if (t->pairs) printf("%zu change%s by pairs with common seeds", t->pairs, t->pairs == 1 ? "" : "s");
    if (t->apart)
        printf("%s%zu change%s by independent samples (Welch)", t->pairs ? ", " : "", t->apart,
               t->apart == 1 ? "" : "s");
    if (t->tests)
        printf("; t tests, on logs where all is positive; Holm-corrected over %zu.  *** p<0.001 ** p<0.01 * p<0.05\n",
               t->tests);
    else
        printf("Too few replications for any test.\n");
    if (t->missing)
        printf("%zu point%s of the base %s not everywhere.\n", t->missing, t->missing == 1 ? "" : "s",
               t->missing == 1 ? "is" : "are");
}

/* ------------------------------------------------------------------ verdict */
static void tell(void *ctx, const struct compare_row *r, size_t set)
{
    const struct compare *c = ctx;
    char change[80];
    struct out_style st = out_style(&c->o, 2);
    char *label = exp_text_terminal(*r->label ? r->label : "the run", 80),
         *name = exp_text_terminal(c->table->set[set].name, 60), *metric = exp_text_terminal(r->metric->name, 60);
    change_text(change, sizeof change, &r->cell[set].change);
    fprintf(stderr, "%sfailed%s: %s: %s of %s changed by %s\n", st.bad, st.off, label, metric, name, change);
    free(label);
    free(name);
    free(metric);
}

static int check_gates(struct compare *c)
{
    int bad = 0;
    for (size_t i = 0; i < c->ngates; i++) {
        char why[256];
        int rc = compare_fail_if(c->table, c->gate[i], tell, c, why);
        if (rc < 0) return cli_usage_error(verb, NULL, "--fail-if '%.200s': %.250s", c->gate[i], why);
        bad += rc;
    }
    return bad ? EXIT_EXPECTATION : EXIT_FINE;
}

static int unknown_metric(struct compare *c, char *name)
{
    const char *names[1024];
    size_t n = 0;
    const struct compare_point *p = c->set[0].point;
    for (size_t i = 0; i < p->nmetrics && n < WB_ARRAY_SIZE(names); i++) names[n++] = p->metric[i].name;
    const char *near = wb_nearest(name, names, n);
    char hint[160];
    snprintf(hint, sizeof hint, "Did you mean '%.100s'?", near ? near : "");
    int rc =
        cli_usage_error(verb, near ? hint : "wakebal list metrics tells all; --metrics all shows those that are there",
                        "no figure is called '%.100s'", name);
    free(name);
    return rc;
}

static int print(struct compare *c)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(styles); i++)
        if (styles[i].print && !strcmp(c->style, styles[i].name))
            return styles[i].print(stdout, c->table) ? EXIT_OUTPUT : EXIT_FINE;
    print_table(c);
    return EXIT_FINE;
}

static int compare(struct compare *c)
{
    char *unknown = NULL;
    const struct compare_options opt = {.metrics = c->metrics, .confidence = c->confidence};
    int rc = read_sets(c);
    if (rc) return rc;
    if (c->nsets < 2) return cli_usage_error(verb, NULL, "there is nothing to compare '%.200s' with", c->set[0].name);
    c->table = compare_table_new(c->set, c->nsets, &opt, &unknown);
    if (unknown) return unknown_metric(c, unknown);
    rc = print(c);
    return rc ? rc : check_gates(c);
}

int verb_compare(int argc, char **argv)
{
    struct compare c = {.style = "table"};
    const struct cli_spec spec = {
        .usage = "A B...",
        .doc = "Put studies, runs or exported results side by side: how much each figure changed against the first, "
               "with its interval, and whether that is clear.\v"
               "A and B are studies (files or folders of wakebal sweep) or JSON (--export-json); NAME=FILE names a "
               "column. Replications with common seeds are compared in pairs.\n"
               "Examples:\n"
               "  wakebal compare base.db new.db --metrics bandwidth,wake_latency.p99\n"
               "  wakebal compare study/ --by kernel.pipe --style markdown\n"
               "  wakebal compare base=old.json new=now.json --fail-if 'any worse than base by 3%'\n",
        .own = own,
        .own_parse = parse_own,
        .own_ctx = &c,
        .args_min = 1,
        .args_max = 32};
    cli_options_init(&c.o);
    int rc = cli_options_parse(&spec, argc, argv, &c.o);
    if (rc < 0 && c.by && c.o.arg_n != 1)
        rc = cli_usage_error(verb, NULL, "--by takes one study apart; %zu were given", c.o.arg_n);
    if (rc < 0 && !c.by && c.o.arg_n < 2)
        rc = cli_usage_error(verb,
                             "For example: wakebal compare base.db new.db; the points of one study: wakebal compare "
                             "study.db --by KEY",
                             "an argument is missing: A B...");
    if (rc < 0) rc = compare(&c);
    compare_table_free(c.table);
    for (size_t i = 0; i < c.nsets; i++) compare_set_free(&c.set[i]);
    free(c.set);
    free(c.gate);
    cli_options_free(&c.o);
    return rc;
}
