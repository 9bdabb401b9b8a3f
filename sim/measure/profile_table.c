/* profile_table.c - the tables of `run --profile`. */
#include "wakebal/profileview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE_DEFAULT 1000u
#define BAR 40u        /* columns of a CPU's bar */
#define CPUS_SHOWN 64u /* more CPUs than this are only summed up */

struct line {
    const char *name;
    sim_time time;
};

static bool is(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

static int by_time(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->time != y->time) return x->time > y->time ? -1 : 1;
    return strcmp(x->name, y->name);
}

static double percent(sim_time part, sim_time all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static void print_functions(FILE *out, const struct wb_profile *p, struct line *line, size_t n)
{
    uint32_t rate = p->rate ? p->rate : RATE_DEFAULT;
    sim_time all = 0, rest = 0;
    for (size_t i = 0; i < n; i++) all += line[i].time;
    qsort(line, n, sizeof(*line), by_time);
    size_t shown = p->lines && p->lines < n ? p->lines : n;
    fprintf(out, "%10s %8s  %s\n", "samples", "percent", "function");
    for (size_t i = 0; i < shown; i++)
        fprintf(out, "%10.0f %7.2f%%  %s\n", (double)line[i].time / (double)WB_S * rate, percent(line[i].time, all),
                line[i].name);
    for (size_t i = shown; i < n; i++) rest += line[i].time;
    if (rest)
        fprintf(out, "%10.0f %7.2f%%  (%zu more)\n", (double)rest / (double)WB_S * rate, percent(rest, all), n - shown);
}

static int functions(FILE *out, const struct wb_profile *p)
{
    struct line *line = calloc(p->nfn + 1, sizeof(*line));
    if (!line) return -1;
    size_t n = 0;
    for (size_t i = 0; i < p->nfn; i++)
        if (p->fn_time[i] && (p->with_idle || !is(p->fn_name[i], p->idle_fn)))
            line[n++] = (struct line){p->fn_name[i], p->fn_time[i]};
    fprintf(out, "%u CPU%s, %.6g s%s, %u samples/s per CPU%s\n", p->ncpus, p->ncpus == 1 ? "" : "s",
            (double)p->elapsed / (double)WB_S, p->ncpus == 1 ? "" : " each", p->rate ? p->rate : RATE_DEFAULT,
            p->with_idle ? "" : ", idle left out");
    print_functions(out, p, line, n);
    free(line);
    return 0;
}

/* Letters of the bar: the category's first letter, in capitals the second category that begins so, then digits. */
static void bar_letters(const struct wb_profile *p, const bool *used, char *letter)
{
    bool taken[128] = {false};
    for (size_t k = 0; k < p->ncats; k++) {
        if (!used[k]) continue;
        char first = p->cat_name[k][0], choice = first;
        if (is(p->cat_name[k], p->idle_cat))
            choice = '.';
        else if (taken[(unsigned char)first & 127])
            choice = (char)(first - 'a' + 'A');
        for (char d = '0'; taken[(unsigned char)choice & 127] && d <= '9'; d++) choice = d;
        letter[k] = choice;
        taken[(unsigned char)choice & 127] = true;
    }
}

/* Columns by largest remainder would be exact; cumulative rounding is simpler and never off by more than one. */
static void print_bar(FILE *out, const struct wb_profile *p, const sim_time *t, const char *letter)
{
    sim_time all = 0, sum = 0;
    unsigned drawn = 0;
    for (size_t k = 0; k < p->ncats; k++) all += t[k];
    fputs("  ", out);
    for (size_t k = 0; k < p->ncats; k++) {
        sum += t[k];
        unsigned upto = all ? (unsigned)((double)sum / (double)all * BAR + 0.5) : 0;
        for (; drawn < upto; drawn++) fputc(letter[k], out);
    }
    fputc('\n', out);
}

static void print_row(FILE *out, const struct wb_profile *p, const sim_time *t, const bool *used, const char *letter)
{
    sim_time all = 0;
    for (size_t k = 0; k < p->ncats; k++) all += t[k];
    for (size_t k = 0; k < p->ncats; k++)
        if (used[k]) fprintf(out, " %*.2f", (int)WB_MAX(strlen(p->cat_name[k]), 6), percent(t[k], all));
    print_bar(out, p, t, letter);
}

static void print_head(FILE *out, const struct wb_profile *p, const bool *used, const char *letter)
{
    fprintf(out, "\nPercent of each CPU's time; bar:");
    for (size_t k = 0; k < p->ncats; k++)
        if (used[k]) fprintf(out, " %c %s", letter[k], p->cat_name[k]);
    fprintf(out, "\n%-5s", "cpu");
    for (size_t k = 0; k < p->ncats; k++)
        if (used[k]) fprintf(out, " %*s", (int)WB_MAX(strlen(p->cat_name[k]), 6), p->cat_name[k]);
    fputc('\n', out);
}

static int categories(FILE *out, const struct wb_profile *p)
{
    sim_time *sum = calloc(p->ncats + 1, sizeof(*sum));
    bool *used = calloc(p->ncats + 1, sizeof(*used));
    char *letter = calloc(p->ncats + 1, 1);
    int rc = sum && used && letter ? 0 : -1;
    if (rc) goto out;
    for (size_t i = 0; i < p->ncpus * p->ncats; i++) sum[i % p->ncats] += p->cat_time[i];
    for (size_t k = 0; k < p->ncats; k++) used[k] = sum[k] > 0;
    bar_letters(p, used, letter);
    print_head(out, p, used, letter);
    for (uint32_t c = 0; p->ncpus <= CPUS_SHOWN && c < p->ncpus; c++) {
        fprintf(out, "%-5u", c);
        print_row(out, p, p->cat_time + (size_t)c * p->ncats, used, letter);
    }
    fprintf(out, "%-5s", "all");
    print_row(out, p, sum, used, letter);
out:
    free(sum);
    free(used);
    free(letter);
    return rc;
}

char *wb_profile_render(const struct wb_profile *p)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out) return NULL;
    int rc = functions(out, p);
    if (!rc && p->cat_time && p->ncats) rc = categories(out, p);
    if (fclose(out) || rc) {
        free(text);
        return NULL;
    }
    return text;
}
