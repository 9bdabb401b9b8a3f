/* run_summary.c - the summary of one point. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exp_format.h"
#include "run_parts.h"
#include "workload_cmd.h"

#define LINE_COLUMNS 100

static void print_safe(const char *text, size_t columns)
{
    char *s = exp_text_terminal(text, columns);
    fputs(s, stdout);
    free(s);
}

static void print_head(const char *word, const struct out_style *st)
{
    printf("%s%-9s%s ", st->bold, word, st->off);
}

static void print_machine(const struct run_view *v, const struct exp_result *r, const struct out_style *st)
{
    bool measured = !strcmp(r->calibration, "measured");
    print_head("Machine", st);
    print_safe(r->machine, 40);
    if (v->facts->known) printf(": %s", v->facts->machine);
    printf("   %s%s%s - costs: %s\n", measured ? st->good : st->warn, measured ? "calibrated" : "UNCALIBRATED", st->off,
           r->machine_source);
}

/* A key that a preset gives and the workload's command line overrides says nothing about this run. */
static bool command_fixes(const struct wb_config *cfg, size_t i, const char *key)
{
    const char *path = wb_cfg_path("workload[%zu].from_cmd", i), *why;
    struct workload_cmd c = {.n = 0};
    size_t at, len;
    return wb_cfg_has(cfg, path) && *wb_cfg_str(cfg, path) &&
           wb_workload_from_cmd(wb_cfg_str(cfg, path), &c, &why, &at, &len) >= 0 && workload_cmd_find(&c, key);
}

/* The keys of a workload that somebody set, beside kind and name: "message 64 KiB, copies 4". */
static void print_workload(const struct wb_config *cfg, size_t i)
{
    char prefix[32], value[96];
    size_t len = (size_t)snprintf(prefix, sizeof prefix, "workload[%zu].", i), shown = 0;
    const char *path;
    for (size_t k = 0; (path = wb_cfg_path_at(cfg, k)); k++) {
        const char *key = path + len;
        if (strncmp(path, prefix, len) || strchr(key, '.') || strchr(key, '[')) continue;
        if (!strcmp(key, "kind") || !strcmp(key, "name") || !strcmp(key, "title") || !strcmp(key, "base") ||
            !strcmp(key, "schema"))
            continue;
        const struct wb_origin *o = wb_cfg_origin(cfg, path);
        if (!o || !strcmp(o->from, "default") || shown == 6 || command_fixes(cfg, i, key)) continue;
        printf("%s%s ", shown++ ? ", " : ": ", key);
        print_safe(wb_cfg_text(cfg, path, value, sizeof value), 32);
    }
}

static void print_workloads(const struct exp_result *r, const struct wb_config *cfg, const struct out_style *st)
{
    for (size_t i = 0; i < r->nworkloads && i < 6; i++) {
        print_head(i ? "" : "Workload", st);
        print_safe(r->workload[i], 40);
        const char *kind = wb_cfg_str(cfg, wb_cfg_path("workload[%zu].kind", i));
        if (strcmp(kind, r->workload[i])) printf(" (%s)", kind);
        print_workload(cfg, i);
        putchar('\n');
    }
    if (r->nworkloads > 6) printf("%10s... and %zu more\n", "", r->nworkloads - 6);
}

/* How long, and how much of it counts: a figure of a few milliseconds is another than one of seconds. */
static void print_length(const struct exp_result *r, const struct out_style *st)
{
    char all[48], counted[48];
    print_head("Runs", st);
    printf("%s simulated each", exp_format_value(all, sizeof all, r->duration, "s"));
    if (r->measured < r->duration * 0.9999)
        printf(", of which %s are counted", exp_format_value(counted, sizeof counted, r->measured, "s"));
    putchar('\n');
}

static const struct exp_metric *find(const struct exp_result *r, const char *name)
{
    return exp_result_lookup(r, name);
}

static double mean_of(const struct exp_result *r, const char *name)
{
    const struct exp_metric *m = find(r, name);
    return m ? m->sum.mean : NAN;
}

/* "wake_latency" -> "Wake latency" */
static void title_of(char *buf, size_t n, const char *name)
{
    snprintf(buf, n, "%s", name);
    for (char *p = buf; *p; p++)
        if (*p == '_' || *p == '.') *p = ' ';
    buf[0] = (char)toupper((unsigned char)buf[0]);
}

/* Noted with W017 (exp_describe.c): no work at all was counted. */
static bool nothing_counted(const struct exp_result *r, const struct exp_metric *m)
{
    bool noted = false;
    for (size_t i = 0; i < r->nnotes; i++) noted |= !strcmp(r->note[i].code, "W017");
    return noted && m->better == WB_BETTER_HIGHER && !(m->sum.max > 0);
}

static void print_primary(const struct exp_result *r, const struct out_style *st)
{
    const struct exp_metric *m = r->primary ? exp_result_find(r, r->primary_instance, r->primary) : NULL;
    char name[64], value[128], half[48];
    if (!m) return;
    title_of(name, sizeof name, m->name);
    if (nothing_counted(r, m)) {
        printf("  %s%-24s %snone were counted%s: see note W017 below\n", st->bold, name, st->warn, st->off);
        return;
    }
    printf("  %s%-24s %s%s", st->bold, name,
           exp_format_interval(value, sizeof value, m->sum.mean, (m->sum.hi - m->sum.lo) / 2, m->unit, st->plus_minus),
           st->off);
    if (m->batches)
        printf("   (steady to %s %s within the run, by %zu batches", st->plus_minus,
               exp_format_value(half, sizeof half, m->batch_half, m->unit), m->batches);
    else
        printf("   (%g %% interval", 100 * r->confidence);
    printf(", %zu replication%s; ", r->replications, r->replications == 1 ? "" : "s");
    if (!strcmp(r->stopped, "fixed number"))
        printf("%s", r->replications == 1 ? "no interval from one" : "as many as asked for");
    else
        printf("%sprecision goal %g %% %s%s", r->goal_reached ? "" : st->warn, 100 * r->goal,
               r->goal_reached ? "reached" : "NOT reached", r->goal_reached ? "" : st->off);
    printf(")\n");
    const struct exp_metric *together = exp_result_find(r, r->primary_instance, "colocated");
    if (together && isfinite(together->sum.mean))
        printf("  %-24s %.1f %% of the time on one CPU   (%.1f %% .. %.1f %% over replications)\n", "Together",
               100 * together->sum.mean, 100 * together->sum.min, 100 * together->sum.max);
}

/* A mean above the p99 looks like a mistake: the few beyond it say what it is made of. By less than a bucket of the
 * histogram is wide they are alike. */
static void print_tail(const struct exp_metric *m)
{
    char p99[48], max[48];
    double tail = (double)wb_hist_quantile(m->hist, 990000) * 1e-12;
    printf("   p99 %s", exp_format_value(p99, sizeof p99, tail, "s"));
    if (m->sum.mean > tail * (1 + 1.0 / (1 << WB_HIST_BITS)))
        printf("   max %s   (the mean is above p99: fewer than 1 in 100 are so long that they make it)",
               exp_format_value(max, sizeof max, (double)m->hist->max * 1e-12, "s"));
}

/* Other figures that workloads are run for. */
static void print_others(const struct exp_result *r)
{
    for (size_t i = 0, shown = 0; i < r->nmetrics && shown < 8; i++) {
        const struct exp_metric *m = &r->metric[i];
        char name[96], value[48];
        bool first = m->instance == r->primary_instance && r->primary && !strcmp(m->name, r->primary);
        if (m->instance == EXP_MACHINE || first || strchr(m->name, '.') || m->better == WB_BETTER_NONE) continue;
        if (r->nworkloads > 1)
            snprintf(name, sizeof name, "%s of %s", m->name, exp_result_workload(r, m->instance));
        else
            title_of(name, sizeof name, m->name);
        char *safe = exp_text_terminal(name, 40);
        printf("  %-24s %s", safe, exp_format_value(value, sizeof value, m->sum.mean, m->unit));
        if (m->hist && m->hist->count) print_tail(m);
        putchar('\n');
        free(safe);
        shown++;
    }
}

static void print_wakeups(const struct exp_result *r)
{
    const struct exp_metric *m = find(r, "wake_latency");
    char a[48], b[48], c[48], n[48];
    if (!m || !m->hist || !m->hist->count) return;
    printf("  %-24s p50 %s   p99 %s   max %s   (%s)\n", "Wakeup to running",
           exp_format_value(a, sizeof a, (double)wb_hist_quantile(m->hist, 500000) * 1e-12, "s"),
           exp_format_value(b, sizeof b, (double)wb_hist_quantile(m->hist, 990000) * 1e-12, "s"),
           exp_format_value(c, sizeof c, (double)m->hist->max * 1e-12, "s"),
           exp_format_value(n, sizeof n, mean_of(r, "wakeups.rate"), "1/s"));
}

static void print_migrations(const struct run_view *v, const struct exp_result *r)
{
    static const char *const kind[] = {"wake", "newidle", "periodic", "nohz", "active",
                                       "exec", "fork",    "affinity", "pick"};
    double all = mean_of(r, "migrations"), rate = mean_of(r, "migrations.rate");
    char n[48], name[64];
    if (isnan(all)) return;
    if (isnan(rate)) rate = all / r->measured;
    printf("  %-24s %s", "Migrations", exp_format_value(n, sizeof n, rate, "1/s"));
    for (size_t i = 0; all > 0 && i < v->facts->ndomains; i++) {
        snprintf(name, sizeof name, "migrations.domain.%zu", i);
        printf("   %s %.0f %%", v->facts->domain[i], 100 * mean_of(r, name) / all);
    }
    const char *between = "   (by ";
    for (size_t i = 0; all > 0 && i < WB_ARRAY_SIZE(kind); i++) {
        snprintf(name, sizeof name, "migrations.%s", kind[i]);
        double share = mean_of(r, name) / all;
        if (!(share >= 0.005)) continue;
        printf("%s%s %.0f %%", between, kind[i], 100 * share);
        between = ", ";
    }
    printf("%s\n", *between == ',' ? ")" : "");
}

static void print_times(const struct exp_result *r)
{
    double waited = mean_of(r, "idle_while_work_waits");
    if (isfinite(waited)) printf("  %-24s %.1f %% of CPU time\n", "Idle while work waited", 100 * waited);
    uint64_t all = 0;
    for (size_t k = 0; k < WB_CAT_N; k++) all += r->cat[k];
    printf("  %-24s", "CPU time");
    const char *between = " ";
    for (size_t k = 0; all && k < WB_CAT_N; k++) {
        double share = (double)r->cat[k] / (double)all;
        if (share < 0.005) continue;
        printf("%s%s %.0f %%", between, wb_cat_name[k], 100 * share);
        between = "  ";
    }
    putchar('\n');
}

/* ---- what should not happen: said whenever it did ---- */

static double sum_of(const struct exp_result *r, const char *name)
{
    double v = mean_of(r, name);
    return isfinite(v) ? v : 0;
}

/* The task that it happened to most. */
static void print_worst(const struct exp_result *r, enum wb_fault_kind kind)
{
    char a[48];
    for (size_t i = 0; i < r->nfaults; i++) {
        const struct exp_fault *f = &r->fault[i];
        if (f->kind != kind) continue;
        char *safe = exp_text_terminal(f->task, 40);
        printf("; most: %s", safe);
        if (kind <= WB_FAULT_STARVATION)
            printf(" %s", exp_format_value(a, sizeof a, (double)f->total * 1e-12 / (double)r->replications, "s"));
        free(safe);
        break;
    }
    putchar('\n');
}

/* "   SMT 10 %  MC 90 %": shares of `all` by domain level. */
static void print_by_domain(const struct run_view *v, const struct exp_result *r, const char *prefix, double all)
{
    char name[64];
    for (size_t i = 0; i <= v->facts->ndomains; i++) {
        bool last = i == v->facts->ndomains;
        snprintf(name, sizeof name, last ? "%s.none" : "%s.%zu", prefix, i);
        double share = sum_of(r, name) / all;
        if (share >= 0.005) printf("  %s %.0f %%", last ? "no domain" : v->facts->domain[i], 100 * share);
    }
}

static void print_idle_beside(const struct run_view *v, const struct exp_result *r)
{
    double all = sum_of(r, "idle_while_work_waits.wait");
    char a[48], b[48];
    if (!(all > 0)) return;
    printf("  %-24s %s, longest %s; idle CPU in:", "Waited beside idle CPU", exp_format_value(a, sizeof a, all, "s"),
           exp_format_value(b, sizeof b, sum_of(r, "idle_while_work_waits.longest"), "s"));
    print_by_domain(v, r, "idle_while_work_waits.domain", all);
    print_worst(r, WB_FAULT_IDLE_WHILE_WAITING);
}

static void print_undone(const struct run_view *v, const struct exp_result *r)
{
    static const char *const kind[] = {"newidle", "periodic", "nohz", "active"};
    double all = sum_of(r, "migrations.pingpong");
    char n[48], name[64];
    if (!(all > 0)) return;
    printf("  %-24s %s moves back within 10 ms by:", "Balance undone", exp_format_value(n, sizeof n, all, "1"));
    for (size_t i = 0; i < WB_ARRAY_SIZE(kind); i++) {
        snprintf(name, sizeof name, "migrations.pingpong.%s", kind[i]);
        double share = sum_of(r, name) / all;
        if (share >= 0.005) printf("  %s %.0f %%", kind[i], 100 * share);
    }
    printf("; across:");
    print_by_domain(v, r, "migrations.pingpong.domain", all);
    print_worst(r, WB_FAULT_PINGPONG);
}

static void print_invariants(const struct run_view *v, const struct exp_result *r, const struct wb_config *cfg)
{
    double starved = sum_of(r, "starvation"), wrong = sum_of(r, "affinity_violations");
    char a[48], b[48];
    print_idle_beside(v, r);
    if (starved > 0) {
        printf("  %-24s %s waits of more than ", "Starved", exp_format_value(a, sizeof a, starved, "1"));
        printf("%s, longest %s", wb_cfg_text(cfg, "run.starvation_bound", a, sizeof a),
               exp_format_value(b, sizeof b, sum_of(r, "starvation.longest"), "s"));
        print_worst(r, WB_FAULT_STARVATION);
    }
    if (wrong > 0) {
        printf("  %-24s %s times on a CPU that the task may not use", "Affinity broken",
               exp_format_value(a, sizeof a, wrong, "1"));
        print_worst(r, WB_FAULT_AFFINITY);
    }
    print_undone(v, r);
}

void run_print_note(const struct exp_note *note, const char *of, const struct out_style *st)
{
    char *text = exp_text_terminal(note->text, 1000), *all = wb_text("%s%s%s", of ? of : "", of ? ": " : "", text);
    size_t column = 0;
    printf("  %sNote %s%s: ", st->warn, note->code, st->off);
    for (char *word = all, *end; *word; word = end) {
        size_t len = strcspn(word, " ");
        end = word + len + strspn(word + len, " ");
        if (column && column + len > LINE_COLUMNS - 14) printf("\n%13s", ""), column = 0;
        printf("%s%.*s", column ? " " : "", (int)len, word);
        column += len + 1;
    }
    putchar('\n');
    free(text);
    free(all);
}

static void print_notes(const struct exp_result *r, const struct out_style *st)
{
    if (r->nnotes) putchar('\n');
    for (size_t i = 0; i < r->nnotes; i++) run_print_note(&r->note[i], NULL, st);
}

static void print_rules(const struct exp_result *r)
{
    uint64_t all = 0;
    for (size_t i = 0; i < r->nrules; i++) all += r->rule[i].count;
    if (!all) return;
    printf("\n  Rules that decided\n");
    for (size_t i = 0; i < r->nrules && i < 12 && r->rule[i].count; i++)
        printf("  %5.1f %%  %s\n", 100 * (double)r->rule[i].count / (double)all, r->rule[i].name);
}

/* An option as it was given, so that the hint is about the same run. */
static void print_option(const char *option, const char *value)
{
    if (!value) return;
    const char *quote = strpbrk(value, " ()[];&$*?|<>\"'`\\!#~{}") ? "'" : "";
    char text[256];
    size_t n = 0;
    for (; *value && n + 5 < sizeof text; value++) {
        if (*value == '\'') /* a shell's way to have one within its own kind */
            for (const char *c = "'\\''"; *c; c++) text[n++] = *c;
        else
            text[n++] = *value;
    }
    text[n] = 0;
    printf(" %s %s", option, quote);
    print_safe(text, 255);
    fputs(quote, stdout);
}

/* --set and what stands for it (-S, -p, --duration ...). */
static void print_sets(const struct cli_options *o)
{
    for (size_t i = 0; i < o->set_n; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "%s=%s", o->set[i].key, o->set[i].value);
        print_option("--set", text);
    }
}

void run_print_summary(const struct run_view *v)
{
    const struct exp_result *r = v->study->result[0];
    const struct wb_config *cfg = v->points->point[0].cfg;
    struct out_style st = out_style(v->o, 1);
    if (!v->o->quiet) {
        if (*r->title) {
            print_safe(r->title, LINE_COLUMNS);
            putchar('\n');
        }
        print_machine(v, r, &st);
        print_head("Kernel", &st);
        print_safe(r->kernel, 40);
        printf(", scheduler %s\n", r->policy);
        print_workloads(r, cfg, &st);
        print_length(r, &st);
        putchar('\n');
    }
    print_primary(r, &st);
    print_others(r);
    print_wakeups(r);
    print_migrations(v, r);
    print_times(r);
    print_invariants(v, r, cfg);
    if (v->o->verbose) print_rules(r);
    print_notes(r, &st);
    if (v->profile) {
        char *text = exp_result_profile(r);
        printf("\n%s", text);
        free(text);
    }
    if (v->o->quiet) return;
    char *name = exp_text_terminal(v->scenario, 60);
    printf("\nRun %s, seed %llu.  Try: wakebal %s %s", r->id, (unsigned long long)r->seed,
           v->profile ? "show timeline" : "run --profile", name);
    print_option("-m", v->o->machine);
    print_option("-k", v->o->kernel);
    print_sets(v->o);
    putchar('\n');
    free(name);
}
