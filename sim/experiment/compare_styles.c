/* compare_styles.c - a comparison as other tools print it, as Markdown and as CSV. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_rows.h"
#include "exp_format.h"

static char *plain(const char *text)
{
    return exp_text_terminal(text, 0);
}

static const char *label_of(const struct compare_row *r)
{
    return *r->label ? r->label : "-";
}

/* Columns a text takes, padded to. */
static void put_padded(FILE *out, const char *text, int width)
{
    char *s = plain(text);
    int used = (int)exp_text_columns(s);
    bool left = width < 0;
    int pad = abs(width) - used;
    if (!left)
        for (; pad > 0; pad--) fputc(' ', out);
    fputs(s, out);
    if (left)
        for (; pad > 0; pad--) fputc(' ', out);
    free(s);
}

/* Is this row of the figure that `of` is of? */
static bool same_figure(const struct compare_row *r, const struct compare_row *of)
{
    const struct compare_metric *a = r->metric, *b = of->metric;
    bool workload = a->workload && b->workload ? !strcmp(a->workload, b->workload) : a->workload == b->workload;
    return workload && !strcmp(a->name, b->name);
}

static bool is_first(const struct compare_table *t, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_figure(&t->row[k], &t->row[i])) return false;
    return true;
}

static int label_width(const struct compare_table *t)
{
    size_t width = 4;
    for (size_t i = 0; i < t->n; i++) width = WB_MAX(width, exp_text_columns(label_of(&t->row[i])));
    return (int)width;
}

/* ------------------------------------------------------------------ mmtests */
/* Percentages in which more is always better. */
static double gain(const struct compare_row *r, double base, double value)
{
    if (!(base != 0)) return 0;
    double change = (value - base) / fabs(base);
    return 100 * (r->metric->better == WB_BETTER_LOWER ? -change : change);
}

static double harmonic(const struct compare_metric *m)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->sample[i] > 0) sum += 1 / m->sample[i], n++;
    return n ? (double)n / sum : NAN;
}

static double mm_value(const struct compare_row *r, const struct compare_cell *c, int which)
{
    if (!c->metric) return NAN;
    if (which) return c->sum.sd;
    return r->metric->better == WB_BETTER_HIGHER ? harmonic(c->metric) : c->sum.mean;
}

static void mm_line(FILE *out, const struct compare_table *t, const struct compare_row *r, int which, int width)
{
    const char *name = which ? "Stddev" : r->metric->better == WB_BETTER_HIGHER ? "Hmean" : "Amean";
    fprintf(out, "%-9s ", name);
    put_padded(out, label_of(r), -width);
    double base = mm_value(r, &r->cell[0], which);
    for (size_t s = 0; s < t->nsets; s++) {
        const struct compare_cell *c = &r->cell[s];
        double v = mm_value(r, c, which),
               g = which ? (base != 0 ? -100 * (v - base) / fabs(base) : 0) : gain(r, base, v);
        bool star = s && !which && *compare_stars(&c->change);
        if (isnan(v))
            fprintf(out, " %24s", "-");
        else
            fprintf(out, " %12.6g %c%8.2f%%%c", v, star ? '*' : '(', s ? g : 0.0, star ? '*' : ')');
    }
    fputc('\n', out);
}

int compare_style_mmtests(FILE *out, const struct compare_table *t)
{
    int width = label_width(t);
    for (size_t i = 0; i < t->n; i++) {
        if (!is_first(t, i)) continue;
        const struct compare_metric *m = t->row[i].metric;
        exp_put_text(out, plain, m->name);
        if (m->workload) fputs(" of ", out), exp_put_text(out, plain, m->workload);
        fputs(" (", out);
        exp_put_text(out, plain, m->unit);
        fprintf(out, ")\n%*s", width + 10, "");
        for (size_t s = 0; s < t->nsets; s++) put_padded(out, t->set[s].name, 25);
        fputc('\n', out);
        for (int which = 0; which < 2; which++)
            for (size_t k = i; k < t->n; k++)
                if (same_figure(&t->row[k], &t->row[i])) mm_line(out, t, &t->row[k], which, width);
        fputc('\n', out);
    }
    return exp_stream_state(out);
}

/* ------------------------------------------------------------------ benchstat */
static void bench_value(FILE *out, const struct compare_cell *c)
{
    char value[48], text[96];
    if (!c->metric || isnan(c->sum.mean)) {
        put_padded(out, "-", 20);
        return;
    }
    exp_format_value(value, sizeof value, c->sum.mean, c->metric->unit);
    double half = exp_relative_half_width(&c->sum);
    if (isfinite(half))
        snprintf(text, sizeof text, "%s \u00b1 %.0f%%", value, 100 * half);
    else
        snprintf(text, sizeof text, "%s \u00b1 \u221e", value);
    put_padded(out, text, 20);
}

static void bench_delta(FILE *out, const struct compare_cell *c)
{
    const struct compare_change *x = &c->change;
    char text[96] = "", tail[64] = "";
    if (!c->metric || isnan(x->change))
        snprintf(text, sizeof text, "?");
    else if (c->verdict == COMPARE_NOT_CLEAR || c->verdict == COMPARE_SAME || c->verdict == COMPARE_UNKNOWN)
        snprintf(text, sizeof text, "~");
    else
        snprintf(text, sizeof text, "%+.2f%%", 100 * x->change);
    if (!isnan(x->p)) snprintf(tail, sizeof tail, " (p=%.3f n=%zu+%zu)", x->p_holm, x->n, x->m);
    put_padded(out, text, 10);
    put_padded(out, tail, -20);
}

static void bench_head(FILE *out, const struct compare_table *t, const struct compare_metric *m, int width)
{
    char *name = plain(m->name), *unit = plain(m->unit), text[128];
    snprintf(text, sizeof text, "%.60s (%.20s)", name, unit);
    free(name);
    free(unit);
    put_padded(out, text, -WB_MAX(width, 24));
    for (size_t s = 0; s < t->nsets; s++) {
        put_padded(out, t->set[s].name, 20);
        if (s) put_padded(out, "vs base", 10), put_padded(out, "", -20);
    }
    fputc('\n', out);
}

int compare_style_benchstat(FILE *out, const struct compare_table *t)
{
    int width = label_width(t);
    for (size_t i = 0; i < t->n; i++) {
        if (!is_first(t, i)) continue;
        bench_head(out, t, t->row[i].metric, width);
        for (size_t k = i; k < t->n; k++) {
            if (!same_figure(&t->row[k], &t->row[i])) continue;
            put_padded(out, label_of(&t->row[k]), -WB_MAX(width, 24));
            for (size_t s = 0; s < t->nsets; s++) {
                bench_value(out, &t->row[k].cell[s]);
                if (s) bench_delta(out, &t->row[k].cell[s]);
            }
            fputc('\n', out);
        }
        fputc('\n', out);
    }
    return exp_stream_state(out);
}

/* ------------------------------------------------------------------ Markdown */
static void md_cell(FILE *out, const char *text)
{
    fputc(' ', out);
    exp_put_text(out, exp_text_markdown, text);
    fputs(" |", out);
}

static void md_value(FILE *out, const struct compare_cell *c)
{
    char value[48], text[96] = "-";
    if (c->metric && !isnan(c->sum.mean)) {
        double half = exp_relative_half_width(&c->sum);
        exp_format_value(value, sizeof value, c->sum.mean, c->metric->unit);
        if (isfinite(half))
            snprintf(text, sizeof text, half < 0.0995 ? "%s \u00b1%.2g %%" : "%s \u00b1%.0f %%", value, 100 * half);
        else
            snprintf(text, sizeof text, "%s", value);
    }
    md_cell(out, text);
}

static void md_change(FILE *out, const struct compare_cell *c)
{
    char text[96] = "-", verdict[48];
    const struct compare_change *x = &c->change;
    if (!isnan(x->change) && !isnan(x->lo))
        snprintf(text, sizeof text, "%+.1f %% (%+.1f .. %+.1f)", 100 * x->change, 100 * x->lo, 100 * x->hi);
    else if (!isnan(x->change))
        snprintf(text, sizeof text, "%+.1f %%", 100 * x->change);
    md_cell(out, text);
    snprintf(verdict, sizeof verdict, "%s %s", compare_verdict_name[c->verdict], compare_stars(x));
    verdict[strlen(verdict) - (*compare_stars(x) ? 0 : 1)] = 0;
    md_cell(out, verdict);
}

int compare_style_markdown(FILE *out, const struct compare_table *t)
{
    bool points = false;
    for (size_t i = 0; i < t->n; i++) points |= *t->row[i].label != 0;
    fputs(points ? "| point | metric |" : "| metric |", out);
    for (size_t s = 0; s < t->nsets; s++) {
        md_cell(out, t->set[s].name);
        if (s) fprintf(out, " change (%g %%) | verdict |", 100 * t->confidence);
    }
    fputs(points ? "\n|:--|:--|" : "\n|:--|", out);
    for (size_t s = 0; s < t->nsets; s++) fputs(s ? "--:|--:|:--|" : "--:|", out);
    fputc('\n', out);
    for (size_t i = 0; i < t->n; i++) {
        const struct compare_row *r = &t->row[i];
        fputc('|', out);
        if (points) md_cell(out, r->label);
        md_cell(out, r->metric->name);
        for (size_t s = 0; s < t->nsets; s++) {
            md_value(out, &r->cell[s]);
            if (s) md_change(out, &r->cell[s]);
        }
        fputc('\n', out);
    }
    return exp_stream_state(out);
}

/* ------------------------------------------------------------------ CSV */
static void put_number(FILE *out, double v)
{
    if (isfinite(v)) fprintf(out, "%.12g", v);
    fputc(',', out);
}

static void csv_line(FILE *out, const struct compare_table *t, const struct compare_row *r, size_t s)
{
    const struct compare_cell *c = &r->cell[s];
    const char *text[] = {
        r->label,       r->metric->name, r->metric->workload, r->metric->unit, wb_better_name(r->metric->better),
        t->set[0].name, t->set[s].name};
    for (size_t i = 0; i < WB_ARRAY_SIZE(text); i++) {
        exp_put_text(out, exp_text_csv, text[i]);
        fputc(',', out);
    }
    const double v[] = {
        r->cell[0].sum.mean, c->metric ? c->sum.mean : NAN, c->change.change, c->change.lo, c->change.hi, c->change.p,
        c->change.p_holm};
    for (size_t i = 0; i < WB_ARRAY_SIZE(v); i++) put_number(out, v[i]);
    fprintf(out, "%zu,%zu,%s,%s\n", c->change.n, c->change.m, c->change.paired ? "paired" : "apart",
            compare_verdict_name[c->verdict]);
}

int compare_style_csv(FILE *out, const struct compare_table *t)
{
    fputs("point,metric,workload,unit,better,base,other,base_mean,other_mean,change,change_low,change_high,p,p_holm,"
          "base_n,other_n,samples,verdict\n",
          out);
    for (size_t i = 0; i < t->n; i++)
        for (size_t s = 1; s < t->nsets; s++) csv_line(out, t, &t->row[i], s);
    return exp_stream_state(out);
}
