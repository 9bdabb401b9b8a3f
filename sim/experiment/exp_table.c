/* exp_table.c - results as CSV, Markdown and gnuplot data. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exp_export.h"
#include "exp_format.h"

static void put_number(FILE *out, double v)
{
    if (isfinite(v)) fprintf(out, "%.12g", v);
}

/* ------------------------------------------------------------------ CSV */
/* Keys that any point varies, in order of appearance; the caller frees the array, not the strings. */
static const char **varied_keys(struct exp_result *const *res, size_t n, size_t *nkeys)
{
    const char **key = NULL;
    *nkeys = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; res[i] && p < res[i]->nparams; p++) {
            size_t k = 0;
            while (k < *nkeys && strcmp(key[k], res[i]->param[p].key)) k++;
            if (k < *nkeys) continue;
            key = realloc(key, (*nkeys + 1) * sizeof *key);
            WB_MEMORY(key, "out of memory for column names");
            key[(*nkeys)++] = res[i]->param[p].key;
        }
    return key;
}

static const char *param_of(const struct exp_result *res, const char *key)
{
    for (size_t p = 0; p < res->nparams; p++)
        if (!strcmp(res->param[p].key, key)) return res->param[p].value;
    return "";
}

static void csv_row(FILE *out, const struct exp_result *res, const struct exp_metric *m, const char **key, size_t nkeys)
{
    for (size_t k = 0; k < nkeys; k++) {
        exp_put_text(out, exp_text_csv, param_of(res, key[k]));
        fputc(',', out);
    }
    exp_put_text(out, exp_text_csv, exp_result_workload(res, m->instance));
    fputc(',', out);
    exp_put_text(out, exp_text_csv, m->name);
    fputc(',', out);
    exp_put_text(out, exp_text_csv, m->unit);
    fprintf(out, ",%s,%zu,", wb_better_name(m->better), m->sum.n);
    const double v[] = {m->sum.mean, m->sum.lo, m->sum.hi, res->confidence, m->sum.sd, m->sum.min, m->sum.max};
    for (size_t i = 0; i < WB_ARRAY_SIZE(v); i++) {
        put_number(out, v[i]);
        fputc(i + 1 < WB_ARRAY_SIZE(v) ? ',' : '\n', out);
    }
}

int exp_export_csv(FILE *out, struct exp_result *const *res, size_t n)
{
    size_t nkeys;
    const char **key = varied_keys(res, n, &nkeys);
    for (size_t k = 0; k < nkeys; k++) {
        exp_put_text(out, exp_text_csv, key[k]);
        fputc(',', out);
    }
    fputs("workload,metric,unit,better,n,mean,ci_low,ci_high,confidence,sd,min,max\n", out);
    for (size_t i = 0; i < n; i++)
        for (size_t m = 0; res[i] && m < res[i]->nmetrics; m++) csv_row(out, res[i], &res[i]->metric[m], key, nkeys);
    free(key);
    return exp_stream_state(out);
}

/* ------------------------------------------------------------------ Markdown */
enum { MD_COLUMNS = 5 };
struct md_row {
    char *cell[MD_COLUMNS];
};

static char *owned(const char *text)
{
    char *s = strdup(text);
    WB_MEMORY(s, "out of memory for a table");
    return s;
}

static struct md_row md_metric(const struct exp_result *res, const struct exp_metric *m)
{
    const char *workload = exp_result_workload(res, m->instance);
    char mean[48], text[128];
    struct md_row r = {
        {exp_text_markdown(m->name), exp_text_markdown(workload ? workload : "machine"), NULL, NULL, NULL}};
    r.cell[2] = owned(exp_format_value(mean, sizeof mean, m->sum.mean, m->unit));
    r.cell[3] = owned(exp_format_range(text, sizeof text, m->sum.lo, m->sum.hi, m->unit));
    snprintf(text, sizeof text, "%zu", m->sum.n);
    r.cell[4] = owned(text);
    return r;
}

static void put_blanks(FILE *out, size_t n)
{
    while (n--) fputc(' ', out);
}

/* The first two columns to the left, figures to the right. */
static void md_print_row(FILE *out, const struct md_row *r, const size_t *width)
{
    for (size_t c = 0; c < MD_COLUMNS; c++) {
        size_t pad = width[c] - exp_text_columns(r->cell[c]);
        fputs("| ", out);
        put_blanks(out, c < 2 ? 0 : pad);
        fputs(r->cell[c], out);
        put_blanks(out, c < 2 ? pad + 1 : 1);
    }
    fputs("|\n", out);
}

static void md_print(FILE *out, const struct md_row *row, size_t n)
{
    size_t width[MD_COLUMNS] = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < MD_COLUMNS; c++) width[c] = WB_MAX(width[c], exp_text_columns(row[i].cell[c]));
    for (size_t i = 0; i < n; i++) {
        md_print_row(out, &row[i], width);
        for (size_t c = 0; !i && c < MD_COLUMNS; c++) {
            fputs(c < 2 ? "|:" : "|-", out);
            for (size_t k = 0; k < width[c]; k++) fputc('-', out);
            fputc(c < 2 ? '-' : ':', out);
        }
        if (!i) fputs("|\n", out);
    }
}

static void md_result(FILE *out, const struct exp_result *res)
{
    static const char *const head[MD_COLUMNS] = {"metric", "workload", "mean", "interval", "n"};
    struct md_row *row = calloc(res->nmetrics + 1, sizeof *row);
    WB_MEMORY(row, "out of memory for a table");
    for (size_t c = 0; c < MD_COLUMNS; c++) row[0].cell[c] = owned(head[c]);
    for (size_t i = 0; i < res->nmetrics; i++) row[i + 1] = md_metric(res, &res->metric[i]);
    const char *name = *res->label ? res->label : *res->title ? res->title : res->machine;
    fputs("### ", out);
    exp_put_text(out, exp_text_markdown, name);
    fprintf(out, "\n\nrun %s, %zu replications, %g %% intervals\n\n", res->id, res->replications,
            100 * res->confidence);
    md_print(out, row, res->nmetrics + 1);
    for (size_t i = 0; i < res->nnotes; i++) {
        fprintf(out, "%s- %s: ", i ? "" : "\n", res->note[i].code);
        exp_put_text(out, exp_text_markdown, res->note[i].text);
        fputc('\n', out);
    }
    fputc('\n', out);
    for (size_t i = 0; i <= res->nmetrics; i++)
        for (size_t c = 0; c < MD_COLUMNS; c++) free(row[i].cell[c]);
    free(row);
}

static const struct exp_metric *primary_of(const struct exp_result *res)
{
    return res && res->primary ? exp_result_find(res, res->primary_instance, res->primary) : NULL;
}

/* All points by the figure that they are run for, first: the tables of single points are long. */
static void md_points(FILE *out, struct exp_result *const *res, size_t n)
{
    struct md_row *row = calloc(n + 1, sizeof *row);
    WB_MEMORY(row, "out of memory for a table");
    size_t rows = 1;
    for (size_t i = 0; i < n; i++) {
        const struct exp_metric *m = primary_of(res[i]);
        if (!m) continue;
        if (rows == 1)
            row[0] = (struct md_row){
                {owned("point"), owned("workload"), exp_text_markdown(m->name), owned("interval"), owned("n")}};
        row[rows] = md_metric(res[i], m);
        free(row[rows].cell[0]);
        row[rows++].cell[0] = exp_text_markdown(res[i]->label);
    }
    if (rows > 2) md_print(out, row, rows), fputc('\n', out);
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < MD_COLUMNS; c++) free(row[i].cell[c]);
    free(row);
}

int exp_export_markdown(FILE *out, struct exp_result *const *res, size_t n)
{
    if (n > 1) md_points(out, res, n);
    for (size_t i = 0; i < n; i++)
        if (res[i]) md_result(out, res[i]);
    return exp_stream_state(out);
}

/* ------------------------------------------------------------------ gnuplot data */
/* A word of gnuplot data: quoted, without quotes, backslashes and controls. */
static void put_word(FILE *out, const char *text)
{
    char *s = exp_text_terminal(text ? text : "machine", 60);
    for (char *p = s; *p; p++)
        if (*p == '"' || *p == '\\' || *p == '`' || *p == '$') *p = '\'';
    fprintf(out, "\"%s\"", s);
    free(s);
}

static void data_windows(FILE *out, const struct exp_result *res, const struct exp_metric *m)
{
    fprintf(out, "\n\n# run %s: ", res->id);
    put_word(out, m->name);
    fprintf(out, " per window; columns: time_s value\n");
    for (size_t i = 0; i < m->nwindow[0]; i++) {
        fprintf(out, "%.9g ", ((double)i + 0.5) * res->window_s + res->duration - res->measured);
        put_number(out, m->window[0][i]);
        fputs(isfinite(m->window[0][i]) ? "\n" : "NaN\n", out);
    }
}

int exp_export_data(FILE *out, struct exp_result *const *res, size_t n)
{
    fputs("# columns: run point workload metric unit n mean ci_low ci_high\n", out);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; res[i] && k < res[i]->nmetrics; k++) {
            const struct exp_metric *m = &res[i]->metric[k];
            fprintf(out, "%s ", res[i]->id);
            put_word(out, res[i]->label);
            fputc(' ', out);
            put_word(out, exp_result_workload(res[i], m->instance));
            fputc(' ', out);
            put_word(out, m->name);
            fputc(' ', out);
            put_word(out, m->unit);
            fprintf(out, " %zu %.12g %.12g %.12g\n", m->sum.n, m->sum.mean, m->sum.lo, m->sum.hi);
        }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; res[i] && k < res[i]->nmetrics; k++)
            if (res[i]->metric[k].window[0]) data_windows(out, res[i], &res[i]->metric[k]);
    return exp_stream_state(out);
}
