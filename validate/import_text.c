/*
 * import_text.c - an import as a scenario file; in programs that would be too long repeated stretches become loops.
 *
 * A stretch of up to PERIOD_MAX items that comes again and again, alike in kind and partner, is written once; its
 * run times are drawn from a table of what was recorded: sixteen parts by size, each with its mean.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "import.h"

#define PERIOD_MAX 48u
#define REPEATS_MIN 4u
#define QUANTILES 16u
#define PROGRAM_MAX 4000u /* words; the compiler takes 4096 */

struct writing {
    FILE *f;
    const struct import *m;
    const struct import_task *p;
    size_t words;
    bool first;
    double fits; /* smallest share of a task's items that a program of PROGRAM_MAX words holds */
};

static bool alike(const struct import_item *a, const struct import_item *b)
{
    return a->kind == b->kind && (a->kind != IMPORT_WAKE || (a->other == b->other && a->sync == b->sync));
}

/* How often the `period` items at `at` come in a row. */
static size_t repeats(const struct import_task *p, size_t at, size_t period)
{
    size_t k = 1;
    while (at + (k + 1) * period <= p->n) {
        for (size_t i = 0; i < period; i++)
            if (!alike(&p->item[at + i], &p->item[at + k * period + i])) return k;
        k++;
    }
    return k;
}

static size_t best_period(const struct import_task *p, size_t at, size_t *count)
{
    size_t best = 1, covered = 0;
    *count = 1;
    for (size_t period = 1; period <= PERIOD_MAX && at + REPEATS_MIN * period <= p->n; period++) {
        size_t k = repeats(p, at, period);
        if (k < REPEATS_MIN || k * period <= covered) continue;
        covered = k * period;
        best = period;
        *count = k;
    }
    return best;
}

/* ---- words ---- */

static void WB_PRINTF(2, 3) word(struct writing *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs(w->first ? "\n        \"" : ",\n        \"", w->f);
    vfprintf(w->f, fmt, ap);
    fputc('"', w->f);
    va_end(ap);
    w->first = false;
    w->words++;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t less(const struct writing *w, uint64_t ns)
{
    return ns - WB_MIN(ns, w->p->overhead_ns);
}

/* Times of the i-th item of every round, as one value or a table of their quantiles. */
static void times(struct writing *w, const char *what, const struct import_item *item, size_t period, size_t count)
{
    bool run = item->kind == IMPORT_RUN;
    uint64_t *v = malloc(count * sizeof *v), sum = 0;
    if (!v) return;
    for (size_t k = 0; k < count; k++) {
        v[k] = run ? less(w, item[k * period].ns) : item[k * period].ns;
        sum += v[k];
    }
    qsort(v, count, sizeof *v, by_value);
    if (!sum) {
        free(v);
        return;
    }
    if (v[0] == v[count - 1] || count < REPEATS_MIN) {
        word(w, "%s %llu ns", what, (unsigned long long)v[0]);
        free(v);
        return;
    }
    size_t n = WB_MIN(count, (size_t)QUANTILES), at = 0;
    char text[QUANTILES * 40 + 8];
    for (size_t i = 0; i < n; i++) { /* the mean of each part */
        size_t from = i * count / n, to = (i + 1) * count / n;
        uint64_t part = 0;
        for (size_t k = from; k < to; k++) part += v[k];
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%llu ns:%zu", i ? ", " : "",
                               (unsigned long long)((part + (to - from) / 2) / (to - from)), to - from);
    }
    word(w, "%s table(%s)", what, text);
    free(v);
}

static void one_item(struct writing *w, const struct import_item *item, size_t period, size_t count)
{
    switch (item->kind) {
    case IMPORT_RUN: times(w, "run", item, period, count); break;
    case IMPORT_SLEEP: times(w, "sleep", item, period, count); break;
    case IMPORT_WAIT: word(w, "wait %s", w->p->name); break;
    case IMPORT_WAKE: word(w, "wake %s%s", w->m->task[item->other].name, item->sync ? " sync" : ""); break;
    default: break;
    }
}

static void program(struct writing *w)
{
    const struct import_task *p = w->p;
    bool exact = p->n <= PROGRAM_MAX;
    size_t at = 0;
    while (at < p->n && w->words <= PROGRAM_MAX) {
        size_t count = 1, period = exact ? 1 : best_period(p, at, &count);
        if (count < REPEATS_MIN) {
            one_item(w, &p->item[at++], 1, 1);
            continue;
        }
        word(w, "loop %zu", count);
        for (size_t i = 0; i < period; i++) one_item(w, &p->item[at + i], period, count);
        word(w, "end");
        at += period * count;
    }
    if (w->words > PROGRAM_MAX) w->fits = WB_MIN(w->fits, (double)at / (double)p->n);
    if (!w->words) word(w, "run 1 ns");
}

/* ---- the file ---- */

static void put_cpus(FILE *f, const struct import_task *p)
{
    const char *sep = "";
    fputs(" cpus = \"", f);
    for (unsigned c = 0; c < TRACE_CPUS; c++) {
        if (!(p->cpus[c / 64] >> c % 64 & 1)) continue;
        fprintf(f, "%s%u", sep, c);
        sep = ",";
    }
    fputs("\";", f);
}

static void put_task(struct writing *w, bool last)
{
    const struct import_task *p = w->p;
    fprintf(w->f, "    { name = \"%s\"; start = \"%llu ns\";", p->name, (unsigned long long)p->start_ns);
    if (p->nice) fprintf(w->f, " nice = %d;", p->nice);
    bool seen = false;
    for (size_t i = 0; i < WB_ARRAY_SIZE(p->cpus); i++) seen = seen || p->cpus[i];
    if (w->m->keep_cpus && seen) put_cpus(w->f, p);
    fputs("\n      program = [", w->f);
    program(w);
    fprintf(w->f, " ]; }%s\n", last ? "" : ",");
}

static void put_head(FILE *f, const struct import *m)
{
    fprintf(f,
            "// Imported from a recording: %s. What each task ran, slept and woke; what passed through pipes and "
            "sockets is\n"
            "// not in a recording. Wakeups are taken to be sync (pipes, sockets).\n"
            "schema = 1;\ntitle = \"Imported from a recording\";\n",
            m->source);
    if (m->machine[0]) {
        bool synthetic = strchr(m->machine, ':') != NULL;
        fprintf(f, "machine : { %s = \"%s\"; };\n", synthetic ? "topology" : "base", m->machine);
    }
    if (m->kernel[0]) fprintf(f, "kernel : { base = \"%s\"; };\n", m->kernel);
    fputs("workload = (\n{ kind = \"custom\"; name = \"imported\";\n  events = [", f);
    const char *sep = " ";
    for (uint32_t i = 0; i < m->n; i++) {
        if (!m->task[i].waited) continue;
        fprintf(f, "%s\"%s 0\"", sep, m->task[i].name);
        sep = ", ";
    }
    fputs(" ];\n  tasks = (\n", f);
}

char *import_text(const struct import *m, struct wb_diag *d)
{
    char *text = NULL;
    size_t len = 0;
    struct writing w = {.f = open_memstream(&text, &len), .m = m, .fits = 1};
    if (!w.f) return NULL;
    put_head(w.f, m);
    const char *too_long = NULL;
    for (uint32_t i = 0; i < m->n; i++) {
        w.p = &m->task[i];
        w.words = 0;
        w.first = true;
        put_task(&w, i + 1 == m->n);
        if (w.words > PROGRAM_MAX) too_long = w.p->name;
    }
    fputs("  ); }\n);\n", w.f);
    if (fclose(w.f) || !too_long) return text;
    free(text);
    double ms = 0.8 * w.fits * (double)m->length_ns / 1e6; /* 0.8: it is not equally irregular all along */
    int digits = ms < 10 ? 2 : 0;
    char *fix = wb_text("of these %.*f ms about %.*f fit: --window 0..%.*fms", digits, (double)m->length_ns / 1e6,
                        digits, ms, digits, ms);
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){0}, fix,
                "what task %s did is too irregular for a program of %u words", too_long, PROGRAM_MAX);
    free(fix);
    return NULL;
}
