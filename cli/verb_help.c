/* verb_help.c - wakebal help [VERB|KEY|GROUP|CODE] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config_build.h"
#include "exit_code.h"
#include "keys_index.h"
#include "options.h"
#include "registry.h"
#include "verbs.h"
#include "wakebal/scenario.h"
#include "wrap.h"

#define VERBS_EXPLAINED 10 /* in the short help */

void cli_short_help(FILE *to)
{
    fprintf(to, "Usage: wakebal VERB [OPTION...] [ARGUMENT...]\n"
                "Simulates how a kernel places and balances communicating tasks, and what that costs them.\n\n");
    /* The table begins with the verbs that one needs most; a screen has room for these. */
    for (size_t i = 0; i < WB_MIN(verb_table_n, (size_t)VERBS_EXPLAINED); i++)
        fprintf(to, "  %-10s %s\n", verb_table[i].name, verb_table[i].summary);
    fputs("  and", to);
    for (size_t i = VERBS_EXPLAINED; i < verb_table_n; i++)
        fprintf(to, "%s %s", i > VERBS_EXPLAINED ? "," : "       ", verb_table[i].name);
    fputs("\n\nExamples:\n"
          "  wakebal run hackbench                     simulate a benchmark; a second or two\n"
          "  wakebal run ia64-bw-pipe-2005             simulate a shipped case\n"
          "  wakebal check my.cfg                      find all mistakes of a scenario\n"
          "  wakebal help workload.message             what a key means, its range and default\n\n"
          "New here: wakebal learn.  More: wakebal VERB --help, wakebal help KEY, wakebal list.\n",
          to);
}

static void key_head(const struct wb_key_registry *keys, const struct wb_key *k)
{
    char range[160] = "", head[120];
    const char *choices = k->type == WB_KEY_ENUM ? keys_choices((struct wb_key_registry *)keys, k) : "";
    if (k->min && k->max)
        snprintf(range, sizeof range, "; range %s .. %s", k->min, k->max);
    else if (k->min || k->max)
        snprintf(range, sizeof range, k->min ? "; at least %s" : "; at most %s", k->min ? k->min : k->max);
    char *text = wb_text("%s%s%s%s%s%s%s%s%s%s%s%s", wb_key_type_name(k->type), *choices ? " " : "", choices,
                         k->def ? ", default \"" : "", k->def ? k->def : "", k->def ? "\"" : "",
                         k->flags & WB_KEY_REQUIRED ? ", required" : "", range, k->only ? "; only for " : "",
                         k->only ? k->only : "", k->versions ? ", in " : "", k->versions ? k->versions : "");
    snprintf(head, sizeof head, "%s  ", k->path);
    wrap_row(stdout, head, text, strlen(head) + 1, wrap_width());
    free(text);
}

/* "workload.message" -> --set workload.message=...: an example that works. */
static void key_example(const struct wb_key *k)
{
    static const char *const value[] = {
        [WB_KEY_INT] = "4",      [WB_KEY_BOOL] = "true",      [WB_KEY_TIME] = "10us",    [WB_KEY_COST] = "400ns",
        [WB_KEY_SIZE] = "64KiB", [WB_KEY_RATE] = "6.4GB/s",   [WB_KEY_FREQ] = "1.5GHz",  [WB_KEY_RATIO] = "2%",
        [WB_KEY_CPUS] = "0,2-5", [WB_KEY_DIST] = "exp(10us)", [WB_KEY_VERSION] = "6.12",
    };
    const char *v = (size_t)k->type < WB_ARRAY_SIZE(value) ? value[k->type] : NULL;
    if (k->def && strlen(k->def) < 30 && k->def[0] != '(') v = k->def;
    if (!v || strchr(k->path, '*')) return;
    printf("  Example: --set %s=%s%s%s\n", k->path, strpbrk(v, " ()") ? "'" : "", v, strpbrk(v, " ()") ? "'" : "");
}

static void help_key(const struct wb_key_registry *keys, const struct wb_key *k)
{
    key_head(keys, k);
    wrap_print(stdout, k->help, 2, wrap_width());
    if (k->source) {
        char *text;
        if (asprintf(&text, "Source: %s.", k->source) >= 0) {
            wrap_print(stdout, text, 2, wrap_width());
            free(text);
        }
    }
    if (k->flags & WB_KEY_PRICED)
        wrap_print(stdout,
                   "A cost: a plain value, or ( value, status, range, source ) with the status measured, quoted, "
                   "derived or assumed.",
                   2, wrap_width());
    key_example(k);
}

static void group_row(const struct wb_key *k)
{
    char first[400], head[160];
    snprintf(head, sizeof head, "  %-38s %s", k->path, wb_key_type_name(k->type));
    char *text = wb_text("%s%s%s%s", wrap_first_sentence(k->help, first, sizeof first), k->only ? " (only " : "",
                         k->only ? k->only : "", k->only ? ")" : "");
    wrap_row(stdout, head, text, 58, wrap_width());
    free(text);
}

static void help_group(const struct wb_key_registry *keys, const char *pattern)
{
    size_t n = strlen(pattern);
    const struct wb_key *own = wb_keys_find(keys, pattern, NULL);
    if (!own) printf("%s   group\n", pattern);
    printf("\nKeys of %s:\n", pattern);
    for (size_t i = 0; i < wb_keys_count(keys); i++) {
        const struct wb_key *k = wb_keys_at(keys, i);
        if (!strncmp(k->path, pattern, n) && k->path[n] == '.') group_row(k);
    }
}

static bool help_path(const struct wb_key_registry *keys, const char *word)
{
    char pattern[KEYS_PATTERN_MAX];
    bool found = false;
    if (!config_pattern(keys, word, pattern)) return false;
    for (size_t i = 0; i < wb_keys_count(keys); i++) {
        const struct wb_key *k = wb_keys_at(keys, i);
        if (strcmp(k->path, pattern)) continue;
        if (found) printf("\n");
        help_key(keys, k);
        found = true;
    }
    if (keys_is_group(keys, pattern)) help_group(keys, pattern);
    return true;
}

/* Keys whose last word it is: `help message`. */
static bool help_leaf(const struct wb_key_registry *keys, const char *word)
{
    bool found = false;
    for (size_t i = 0; i < wb_keys_count(keys); i++) {
        const struct wb_key *k = wb_keys_at(keys, i);
        const char *dot = strrchr(k->path, '.');
        if (!dot || strcmp(dot + 1, word)) continue;
        if (found) printf("\n");
        help_key(keys, k);
        found = true;
    }
    return found;
}

static bool help_code(const char *word)
{
    const struct wb_error_info *e = wb_error_find(word);
    if (!e) return false;
    printf("%s   %s\n", e->code, e->title);
    wrap_print(stdout, e->text, 2, wrap_width());
    char *fix;
    if (asprintf(&fix, "What to do: %s", e->fix) >= 0) {
        wrap_print(stdout, fix, 2, wrap_width());
        free(fix);
    }
    return true;
}

static bool help_verb(const struct verb *v, const struct wb_key_registry *keys)
{
    char name[64], *args[] = {name, "--help", NULL};
    if (!v) return false;
    snprintf(name, sizeof name, "wakebal %s", v->name);
    (void)v->run(2, args);
    if (keys_is_group(keys, v->name)) printf("\nScenario keys of the same name: wakebal help %s.\n", v->name);
    return true;
}

static void only_keys(const struct wb_key_registry *keys, const char *scope, const char *only)
{
    size_t n = strlen(scope);
    printf("  Keys of its own:\n");
    for (size_t i = 0; i < wb_keys_count(keys); i++) {
        const struct wb_key *k = wb_keys_at(keys, i);
        const char *at = k->only ? strstr(k->only, only) : NULL;
        char end = at ? at[strlen(only)] : 'x';
        if (!at || (end && end != ' ') || (at > k->only && at[-1] != ' ') || strncmp(k->path, scope, n)) continue;
        printf("    %-32s%s%s\n", k->path, k->def ? " " : "", k->def ? k->def : "");
    }
}

static void metric_row(const struct wb_metric_def *m)
{
    char *text;
    if (asprintf(&text, "%s [%s], %s is better: %s", m->name, m->unit, wb_better_name(m->better), m->help) < 0) return;
    wrap_print(stdout, text, 4, wrap_width());
    free(text);
}

/* A workload, an IPC kind or a scheduler family by its name: `help pipe_bw`, `help o1`. */
static bool help_model(const struct wb_key_registry *keys, const char *word)
{
    const struct wb_registry *r = cli_models();
    for (size_t i = 0; i < r->nworkloads; i++) {
        const struct wb_workload_ops *w = r->workloads[i];
        if (strcmp(w->kind, word)) continue;
        printf("%s   workload, as %s\n", w->kind, w->real);
        wrap_print(stdout, w->help, 2, wrap_width());
        if (w->weakness) wrap_print(stdout, w->weakness, 2, wrap_width());
        only_keys(keys, "workload.", word);
        if (w->nmetrics) printf("  Reports:\n");
        for (size_t k = 0; k < w->nmetrics; k++) metric_row(&w->metrics[k]);
        return true;
    }
    for (size_t i = 0; i < r->npolicies; i++) {
        if (strcmp(r->policies[i]->name, word)) continue;
        printf("%s   scheduler family\n", word);
        wrap_print(stdout, r->policies[i]->help, 2, wrap_width());
        only_keys(keys, "policy.", word);
        return true;
    }
    return false;
}

static bool help_metric(const char *word)
{
    const struct wb_registry *r = cli_models();
    const struct wb_metric_def *m = wb_metric_def_find(word);
    for (size_t i = 0; !m && i < r->nworkloads; i++)
        for (size_t k = 0; !m && k < r->workloads[i]->nmetrics; k++)
            if (!strcmp(r->workloads[i]->metrics[k].name, word)) m = &r->workloads[i]->metrics[k];
    if (!m) return false;
    printf("%s   metric\n", word);
    metric_row(m);
    return true;
}

/* What ships as a file, by its name: what it is, and the command that shows or uses it. */
static bool help_file(const char *word)
{
    static const struct {
        const char *kind, *what, *use;
    } files[] = {
        {"machines", "machine", "wakebal show topology %s, wakebal run pipe -m %s --print-config"},
        {"kernels", "kernel", "wakebal show domains pipe -k %s, wakebal run pipe -k %s --print-config"},
        {"cases", "case", "wakebal reproduce %s, wakebal run %s"},
        {"studies", "study", "wakebal sweep %s, wakebal run %s --print-config"},
        {"workloads", "workload, ready to run", "wakebal run %s, wakebal run %s --print-config"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(files); i++) {
        char *path = strchr(word, '/') ? NULL : wb_scenario_find(word, files[i].kind), *title = NULL;
        if (!path) continue;
        title = wb_scenario_title(word, files[i].kind);
        printf("%s   %s\n", word, files[i].what);
        if (title) wrap_print(stdout, title, 2, wrap_width());
        printf("  File: %s\n  See: ", path);
        for (const char *c = files[i].use; *c; c++) {
            bool name = !strncmp(c, "%s", 2);
            printf("%.*s", name ? (int)strlen(word) : 1, name ? word : c);
            c += name;
        }
        printf("   (all: wakebal list %s)\n", files[i].kind);
        free(title);
        free(path);
        return true;
    }
    return false;
}

/* Names of models and of what they report; names NULL: just count them. */
static size_t model_names(const char **names)
{
    const struct wb_registry *r = cli_models();
    size_t n = 0;
    for (size_t i = 0; i < r->npolicies; i++, n++)
        if (names) names[n] = r->policies[i]->name;
    for (size_t i = 0; i < r->nworkloads; i++, n++)
        if (names) names[n] = r->workloads[i]->kind;
    for (size_t i = 0; i < r->nworkloads; i++)
        for (size_t k = 0; k < r->workloads[i]->nmetrics; k++, n++)
            if (names) names[n] = r->workloads[i]->metrics[k].name;
    for (size_t i = 0; wb_metric_def_at(i); i++, n++)
        if (names) names[n] = wb_metric_def_at(i)->name;
    return n;
}

/* The last word of a key: what one remembers of workload.message. */
static const char *last_word(const struct wb_key *k)
{
    const char *dot = strrchr(k->path, '.');
    return dot ? dot + 1 : k->path;
}

/* The whole key of which a name is the last word; else the name. */
static const char *whole_key(const struct wb_key_registry *keys, const char *name)
{
    for (size_t i = 0; name && i < wb_keys_count(keys); i++)
        if (last_word(wb_keys_at(keys, i)) == name) return wb_keys_at(keys, i)->path;
    return name;
}

/* Names that begin so, in a hint that lists some; the first of them, or NULL. */
static const char *beginning_with(const char *const *names, size_t n, const char *word, char *hint, size_t room)
{
    const char *first = NULL;
    size_t len = strlen(word), at = 0, found = 0;
    for (size_t i = 0; len > 1 && i < n && found < 6 && at < room; i++) {
        if (strncasecmp(names[i], word, len)) continue;
        bool again = first && !strcmp(names[i], first);
        if (again) continue;
        at += (size_t)snprintf(hint + at, room - at, "%s%s", found++ ? ", " : "These begin so: ", names[i]);
        if (!first) first = names[i];
    }
    return first;
}

/* Verbs, whole keys and their last words, models and metrics compete by edit distance. */
static int unknown_word(const struct wb_key_registry *keys, const char *word)
{
    size_t n = 0, nkeys = wb_keys_count(keys), codes = 0;
    while (wb_error_at(codes)) codes++;
    size_t max = 2 * nkeys + verb_table_n + model_names(NULL) + codes;
    const char **names = calloc(max + 1, sizeof *names);
    if (!names) return EXIT_INTERNAL;
    for (size_t i = 0; i < verb_table_n; i++) names[n++] = verb_table[i].name;
    for (size_t i = 0; i < nkeys; i++) names[n++] = wb_keys_at(keys, i)->path;
    n += model_names(names + n);
    for (size_t i = 0; i < nkeys; i++) names[n++] = last_word(wb_keys_at(keys, i));
    const char *near = whole_key(keys, wb_nearest(word, names, n));
    for (size_t i = 0; i < codes; i++) names[n++] = wb_error_at(i)->code; /* near ones mean something else */
    char hint[300] = "";
    if (!near) near = beginning_with(names, n, word, hint, sizeof hint);
    if (!*hint)
        snprintf(hint, sizeof hint, "Did you mean '%s'?  See it with: wakebal help %s", near ? near : "",
                 near ? near : "");
    int rc = cli_usage_error(
        "wakebal help", near ? hint : "See `wakebal list keys', `wakebal list errors' and `wakebal help'.",
        "'%.100s' is no verb, key, group, workload, policy, metric, machine, kernel, case or error code", word);
    free(names);
    return rc;
}

/* The words of a run's summary, which are not the names of the figures. */
static bool help_summary(const char *word)
{
    static const char *const rows[][2] = {
        {"together", "colocated"},
        {"wakeup to running", "wake_latency"},
        {"idle while work waited", "idle_while_work_waits"},
        {"waited beside idle cpu", "idle_while_work_waits.wait"},
        {"uncalibrated", NULL},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        if (strcasecmp(word, rows[i][0])) continue;
        if (rows[i][1]) return help_metric(rows[i][1]);
        printf("%s   word of a run's head line\n", word);
        wrap_print(stdout,
                   "The costs of this machine were not measured on hardware at hand: each is quoted, derived or "
                   "assumed, with its source in the machine's file. Believe orders and mechanisms before absolute "
                   "values. wakebal calibrate measures the costs of the machine that it runs on.",
                   2, wrap_width());
        return true;
    }
    return false;
}

static int help_word(const char *word)
{
    struct wb_key_registry *keys = cli_keys_new();
    size_t n = strlen(word);
    char group[KEYS_PATTERN_MAX];
    int rc = EXIT_FINE;
    /* "run." is the group, "run" the verb */
    snprintf(group, sizeof group, "%.*s", (int)(n && word[n - 1] == '.' ? n - 1 : n), word);
    bool dotted = n && word[n - 1] == '.';
    bool found = !dotted && help_verb(verb_find(word), keys);
    if (!found)
        found = help_code(word) || help_model(keys, word) || help_path(keys, group) || help_leaf(keys, word) ||
                help_metric(word) || help_file(word) || help_summary(word);
    if (!found) rc = unknown_word(keys, word);
    wb_keys_free(keys);
    return rc;
}

int verb_help(int argc, char **argv)
{
    struct cli_options o;
    const struct cli_spec spec = {
        .usage = "[VERB|KEY|GROUP|CODE]",
        .doc = "Explain a verb, a scenario key, a group of keys or an error code."
               "\vExamples: wakebal help check, wakebal help workload.cpus, wakebal help run., wakebal help E120",
        .args_max = 1,
    };
    cli_options_init(&o);
    int rc = cli_options_parse(&spec, argc, argv, &o);
    if (rc < 0) {
        rc = EXIT_FINE;
        if (o.arg_n)
            rc = help_word(o.arg[0]);
        else
            cli_short_help(stdout);
    }
    cli_options_free(&o);
    return rc;
}
