/* run_sweep.c - several points: a table, then who beats whom by how much. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exp_format.h"
#include "run_parts.h"

#define COMPARED_MAX 20
#define IDENTICAL_MAX 200 /* points that are compared each with each */

static const struct exp_metric *primary(const struct exp_result *r)
{
    return r && r->primary ? exp_result_find(r, r->primary_instance, r->primary) : NULL;
}

static const char *last_word(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

/* The last word of an axis' key; where another axis has the same one, the word before it, too: "x.count". Of NAME.base
 * NAME alone says as much: "machine". Returns its length; *at is where it begins. */
static int axis_name(const struct exp_result *r, size_t i, const char **at)
{
    const char *key = r->param[i].key, *word = last_word(key);
    bool shared = false;
    for (size_t k = 0; k < r->nparams; k++) shared |= k != i && !strcmp(word, last_word(r->param[k].key));
    *at = word;
    if (!shared || word == key) return (int)strlen(word);
    while (*at > key && (*at == word || (*at)[-1] != '.')) --*at;
    return strcmp(word, "base") ? (int)strlen(*at) : (int)(word - *at - 1);
}

/* "pipe=2.6.10, message=4 KiB"; long values are cut. */
static void point_label(const struct exp_result *r, char *buf, size_t n)
{
    size_t used = 0;
    buf[0] = 0;
    for (size_t i = 0; i < r->nparams && used < n; i++) {
        const char *name;
        int length = axis_name(r, i, &name);
        char *value = exp_text_terminal(r->param[i].value, 24);
        used += (size_t)snprintf(buf + used, n - used, "%s%.*s=%s", i ? ", " : "", length, name, value);
        free(value);
    }
    if (!r->nparams) snprintf(buf, n, "%s", r->label);
}

static const struct exp_result *first_result(const struct exp_study *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->result[i]) return s->result[i];
    return NULL;
}

/* The columns of the table: the figure that points are compared by, then that of each other workload in the
 * foreground. */
#define OTHERS_MAX 6
struct columns {
    const char *pm;
    uint32_t other[OTHERS_MAX]; /* instances */
    size_t nothers, left_out;
};

static struct columns choose_columns(const struct run_view *v, const struct exp_result *r, const char *pm)
{
    struct columns k = {.pm = pm};
    const struct wb_config *cfg = v->points->n ? v->points->point[0].cfg : NULL;
    for (uint32_t i = 0; cfg && i < r->nworkloads; i++) {
        const struct exp_metric *m = exp_result_headline(r, i);
        const char *path = wb_cfg_path("workload[%u].background", i);
        if (i == r->primary_instance || !m || !wb_cfg_has(cfg, path) || wb_cfg_bool(cfg, path)) continue;
        if (k.nothers == OTHERS_MAX)
            k.left_out++;
        else
            k.other[k.nothers++] = i;
    }
    return k;
}

static void interval_text(char *buf, size_t n, const struct exp_metric *m, const char *pm)
{
    exp_format_interval(buf, n, m ? m->sum.mean : NAN, m ? (m->sum.hi - m->sum.lo) / 2 : NAN, m ? m->unit : "1", pm);
}

static void table_row(struct out_table *t, const struct exp_result *r, const struct columns *k)
{
    const struct exp_metric *together = exp_result_find(r, r->primary_instance, "colocated");
    const struct exp_metric *moves = exp_result_lookup(r, "migrations.rate");
    char label[256], figure[OTHERS_MAX + 1][128], n[24], share[24] = "", rate[32] = "";
    const char *cell[OTHERS_MAX + 5] = {label, figure[0]};
    size_t c = 2;
    point_label(r, label, sizeof label);
    interval_text(figure[0], sizeof figure[0], primary(r), k->pm);
    for (size_t i = 0; i < k->nothers; i++) {
        interval_text(figure[i + 1], sizeof figure[0], exp_result_headline(r, k->other[i]), k->pm);
        cell[c++] = figure[i + 1];
    }
    snprintf(n, sizeof n, "%zu%s", r->replications, r->goal_reached ? "" : "!");
    if (together) snprintf(share, sizeof share, "%.1f %%", 100 * together->sum.mean);
    if (moves) exp_format_value(rate, sizeof rate, moves->sum.mean, "1/s");
    cell[c++] = n;
    cell[c++] = share;
    cell[c++] = rate;
    out_table_row(t, cell);
}

/* "bandwidth"; among several workloads "bandwidth of p". */
static void column_name(char *buf, size_t n, const struct exp_result *r, const struct exp_metric *m, bool alone)
{
    if (alone)
        snprintf(buf, n, "%s", m->name);
    else
        snprintf(buf, n, "%s of %.40s", m->name, exp_result_workload(r, m->instance));
}

static void table_head(struct out_table *t, const struct exp_result *r, const struct exp_metric *m,
                       const struct columns *k)
{
    char name[OTHERS_MAX + 1][96];
    const char *cell[OTHERS_MAX + 5] = {"point", name[0]};
    size_t c = 2;
    column_name(name[0], sizeof name[0], r, m, !k->nothers);
    for (size_t i = 0; i < k->nothers; i++) {
        column_name(name[i + 1], sizeof name[0], r, exp_result_headline(r, k->other[i]), false);
        cell[c++] = name[i + 1];
    }
    cell[c++] = "n";
    cell[c++] = "together";
    cell[c++] = "migrations";
    out_table_row(t, cell);
}

static bool any_missed(const struct exp_study *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->result[i] && !s->result[i]->goal_reached) return true;
    return false;
}

static void print_table(const struct run_view *v, const struct exp_result *r, const struct exp_metric *m,
                        const struct out_style *st)
{
    struct columns k = choose_columns(v, r, st->plus_minus);
    char align[] = "<>>>>>>>>>>>";
    align[5 + k.nothers] = 0;
    struct out_table *t = out_table_new(align);
    table_head(t, r, m, &k);
    for (size_t i = 0; i < v->study->n; i++)
        if (v->study->result[i]) table_row(t, v->study->result[i], &k);
    out_table_print(t, stdout, 2, 0, 120, st->off);
    if (k.left_out) printf("  ... and %zu more workloads: see --export-csv\n", k.left_out);
    if (any_missed(v->study)) printf("  ! precision goal not reached\n");
}

/* Ratio a/b over the replications that both have: they met the same random numbers, so pairs are compared. */
static struct exp_summary paired_ratio(const struct exp_metric *a, const struct exp_metric *b, double confidence)
{
    size_t n = WB_MIN(a->n, b->n);
    double *x = malloc((n ? n : 1) * sizeof *x);
    WB_MEMORY(x, "out of memory for a comparison");
    for (size_t i = 0; i < n; i++) {
        double q = a->sample[i] / b->sample[i];
        x[i] = q > 0 ? log(q) : NAN;
    }
    struct exp_summary s = exp_summarize(x, n, confidence);
    free(x);
    s.mean = exp(s.mean);
    s.lo = exp(s.lo);
    s.hi = exp(s.hi);
    return s;
}

static const struct exp_result *best_point(const struct exp_study *s, const struct exp_metric *like)
{
    const struct exp_result *best = NULL;
    for (size_t i = 0; i < s->n; i++) {
        const struct exp_metric *m = primary(s->result[i]), *b = primary(best);
        if (!m || isnan(m->sum.mean) || strcmp(m->name, like->name)) continue;
        bool ahead = b && (like->better == WB_BETTER_LOWER ? m->sum.mean < b->sum.mean : m->sum.mean > b->sum.mean);
        if (!b || ahead) best = s->result[i];
    }
    return best;
}

/* Every figure of every replication is the same to the last bit: nothing in which the points differ came into play. */
static bool identical(const struct exp_result *a, const struct exp_result *b)
{
    if (a->nmetrics != b->nmetrics || !a->nmetrics || a->replications != b->replications) return false;
    for (size_t i = 0; i < a->nmetrics; i++) {
        const struct exp_metric *x = &a->metric[i], *y = exp_result_find(b, x->instance, x->name);
        if (!y || x->n != y->n || (x->n && memcmp(x->sample, y->sample, x->n * sizeof *x->sample))) return false;
    }
    return true;
}

/* Groups of points that came out the same, which a reader takes for a mistake. */
static void print_identical(const struct exp_study *s)
{
    bool *told = calloc(s->n, sizeof *told);
    WB_MEMORY(told, "out of memory for a comparison");
    for (size_t i = 0, groups = 0; i < s->n && i < IDENTICAL_MAX && groups < 8; i++) {
        bool first = true;
        for (size_t k = i + 1; k < s->n && k < IDENTICAL_MAX; k++) {
            char name[256];
            if (told[i] || told[k] || !s->result[i] || !s->result[k] || !identical(s->result[i], s->result[k]))
                continue;
            told[k] = true;
            for (size_t side = first ? 0 : 1; side < 2; side++) {
                point_label(s->result[side ? k : i], name, sizeof name);
                char *label = exp_text_terminal(name, 100);
                printf("%s%s", side ? " = " : "\n  Identical: ", label);
                free(label);
            }
            first = false;
        }
        if (first) continue;
        groups++;
        printf(
            "\n    in every figure of every replication: nothing in which they differ came into play in these runs\n");
    }
    free(told);
}

static void compare_row(struct out_table *t, const struct exp_result *best, const struct exp_result *other,
                        const char *word)
{
    const struct exp_metric *a = primary(best), *b = primary(other);
    bool lower = a->better == WB_BETTER_LOWER;
    struct exp_summary s = lower ? paired_ratio(b, a, best->confidence) : paired_ratio(a, b, best->confidence);
    char ratio[64] = "not comparable with", range[64] = "", verdict[64];
    bool same = s.n > 1 && s.lo > 0.99 && s.hi < 1.01;
    if (isfinite(s.mean) && s.n && s.mean > 0) snprintf(ratio, sizeof ratio, "%.2fx %s than", s.mean, word);
    if (same) snprintf(ratio, sizeof ratio, "the same as");
    if (s.n > 1 && s.hi < 1000) snprintf(range, sizeof range, "(%.2f .. %.2f)", s.lo, s.hi);
    snprintf(verdict, sizeof verdict, "%s (paired, n=%zu)",
             !s.n                     ? "a figure is missing"
             : !isfinite(s.mean)      ? "some value is 0"
             : s.n < 2                ? "one pair only"
             : identical(best, other) ? "identical"
             : same                   ? "within 1 %"
             : s.lo > 1 || s.hi < 1   ? "significant"
                                      : "no clear change",
             s.n);
    char label[256];
    point_label(other, label, sizeof label);
    const char *cell[] = {ratio, label, range, verdict};
    out_table_row(t, cell);
}

static void print_comparison(const struct run_view *v, const struct exp_metric *m, const struct out_style *st)
{
    const struct exp_result *best = best_point(v->study, m);
    if (!best || m->better == WB_BETTER_NONE || v->study->n < 2) return;
    char name[256];
    point_label(best, name, sizeof name);
    char *label = exp_text_terminal(name, 100);
    printf("\n%sSummary%s (%s, %s is better)\n  %s  is\n", st->bold, st->off, m->name, wb_better_name(m->better),
           label);
    free(label);
    struct out_table *t = out_table_new("><<<");
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < v->study->n; i++) {
        const struct exp_result *r = v->study->result[i];
        if (!r || r == best || !primary(r) || strcmp(primary(r)->name, m->name)) continue;
        if (shown < COMPARED_MAX)
            compare_row(t, best, r, m->better == WB_BETTER_LOWER ? "lower" : "higher"), shown++;
        else
            more++;
    }
    out_table_print(t, stdout, 4, 1, 140, st->off);
    if (more) printf("    ... and %zu more\n", more);
    print_identical(v->study);
}

static void print_notes(const struct run_view *v, const struct out_style *st)
{
    size_t shown = 0;
    for (size_t i = 0; i < v->study->n; i++)
        for (size_t k = 0; v->study->result[i] && k < v->study->result[i]->nnotes; k++) {
            const struct exp_note *note = &v->study->result[i]->note[k];
            if (shown++ >= (v->o->verbose ? 1000u : 6u)) continue;
            char name[256];
            point_label(v->study->result[i], name, sizeof name);
            char *label = exp_text_terminal(name, 60);
            if (shown == 1) putchar('\n');
            run_print_note(note, label, st);
            free(label);
        }
    if (shown > 6 && !v->o->verbose) printf("  ... and %zu more notes (-v shows all)\n", shown - 6);
}

/* Do all points run on one machine? */
static bool one_machine(const struct exp_study *s, const struct exp_result *first)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->result[i] && strcmp(s->result[i]->machine, first->machine)) return false;
    return true;
}

/* How many points on which machine, and what is known of its costs; of several machines each has its own. */
static void print_head(const struct exp_study *s, const struct exp_result *r, const struct out_style *st)
{
    bool one = one_machine(s, r), measured = true;
    for (size_t i = 0; i < s->n; i++) measured &= !s->result[i] || !strcmp(s->result[i]->calibration, "measured");
    char *machine = exp_text_terminal(one ? r->machine : "several machines", 40);
    printf("%zu point%s; %s   %s%s%s", s->n, s->n == 1 ? "" : "s", machine, measured ? st->good : st->warn,
           measured ? "calibrated" : "UNCALIBRATED", st->off);
    if (one) printf(" - costs: %s", r->machine_source);
    printf("\n\n");
    free(machine);
}

void run_print_sweep(const struct run_view *v)
{
    const struct exp_result *r = first_result(v->study);
    const struct exp_metric *m = primary(r);
    struct out_style st = out_style(v->o, 1);
    if (r && *r->title && !v->o->quiet) {
        char *title = exp_text_terminal(r->title, 100);
        printf("%s\n", title);
        free(title);
    }
    if (r && !v->o->quiet) print_head(v->study, r, &st);
    if (!m) {
        printf("No workload reports a figure that points could be compared by; see --export-json.\n");
        return;
    }
    print_table(v, r, m, &st);
    print_comparison(v, m, &st);
    print_notes(v, &st);
}
