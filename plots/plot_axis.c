/* plot_axis.c - which coordinate of a sweep goes where: across, into series, into panels. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_inner.h"
#include "wakebal/units.h"

#define KEYS_MAX 32

/* ------------------------------------------------------------------ keys */
struct keys {
    const char *key[KEYS_MAX]; /* those that differ between results */
    size_t n;
};

static void value_text(const json_t *result, const char *key, char *buf, size_t n)
{
    const json_t *v = json_object_get(json_object_get(result, "params"), key);
    *buf = 0;
    if (json_is_string(v)) snprintf(buf, n, "%s", json_string_value(v));
    if (json_is_boolean(v)) snprintf(buf, n, "%s", json_is_true(v) ? "true" : "false");
    if (json_is_number(v)) snprintf(buf, n, "%.12g", json_number_value(v));
}

static bool differs(const struct plot_input *in, const char *key)
{
    char first[256], v[256];
    value_text(in->result[0], key, first, sizeof first);
    for (size_t i = 1; i < in->n; i++) {
        value_text(in->result[i], key, v, sizeof v);
        if (strcmp(v, first)) return true;
    }
    return false;
}

static void collect_keys(const struct plot_input *in, struct keys *k)
{
    const char *key;
    json_t *v;
    json_object_foreach(json_object_get(in->result[0], "params"), key, v)
    {
        if (k->n < KEYS_MAX && differs(in, key)) k->key[k->n++] = key;
    }
}

/* "copies" for "workload.copies": the whole key, or its last words. */
static bool is_called(const char *key, const char *name, size_t n)
{
    size_t len = strlen(key);
    if (n > len || !n || memcmp(key + len - n, name, n)) return false;
    return n == len || key[len - n - 1] == '.';
}

/* The key of that name among all parameters, or NULL. */
static const char *find_key(const struct plot_input *in, const char *name, size_t n)
{
    const char *key, *found = NULL;
    json_t *v;
    json_object_foreach(json_object_get(in->result[0], "params"), key, v)
    {
        if (is_called(key, name, n)) found = key;
    }
    return found;
}

static const char *last_word(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot && dot[1] ? dot + 1 : key;
}

/* What an axis is called: "base" alone says too little. */
static void name_axis(struct plot_axis *a)
{
    char text[256] = "";
    for (size_t i = 0; i < a->nkeys; i++) {
        const char *word = last_word(a->key[i]);
        size_t len = strlen(text);
        if (!strcmp(word, "base") && word > a->key[i]) {
            const char *from = word - 1;
            while (from > a->key[i] && from[-1] != '.') from--;
            snprintf(text + len, sizeof text - len, "%s%.*s", i ? ", " : "", (int)(word - 1 - from), from);
        } else {
            snprintf(text + len, sizeof text - len, "%s%s", i ? ", " : "", word);
        }
    }
    plot_text_into(a->name, sizeof a->name, text, 60);
}

static void add_key(struct plot_axis *a, const char *key)
{
    a->key = plot_need(realloc(a->key, (a->nkeys + 1) * sizeof *a->key));
    a->key[a->nkeys++] = plot_need(strdup(key));
}

static bool ask(struct plot_input *in, struct plot_axis *a, const char *names, const struct keys *keys)
{
    for (const char *p = names; p && *p;) {
        size_t n = strcspn(p, ",");
        const char *key = find_key(in, p, n);
        if (!key) {
            size_t len = (size_t)snprintf(in->why, sizeof in->why, "nothing to draw: no axis is called '%.*s'",
                                          (int)WB_MIN(n, (size_t)60), p);
            for (size_t i = 0; i < keys->n && len < sizeof in->why; i++)
                len += (size_t)snprintf(in->why + len, sizeof in->why - len, "%s%s",
                                        i ? ", " : "; the points differ in ", keys->key[i]);
            return false;
        }
        add_key(a, key);
        p += n + (p[n] == ',');
    }
    return true;
}

/* ------------------------------------------------------------------ values */
static void text_at(const struct plot_axis *a, const json_t *result, char *buf, size_t n)
{
    size_t len = 0;
    *buf = 0;
    for (size_t i = 0; i < a->nkeys && len < n; i++) {
        char v[160];
        value_text(result, a->key[i], v, sizeof v);
        len += (size_t)snprintf(buf + len, n - len, "%s%s", i ? ", " : "", v);
    }
}

/* "smp2, copies=1": words explain themselves. */
static void named_text_at(const struct plot_axis *a, const json_t *result, char *buf, size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < a->nkeys && len < n; i++) {
        char v[160];
        value_text(result, a->key[i], v, sizeof v);
        bool bare = isalpha((unsigned char)*v) && strcmp(v, "true") && strcmp(v, "false");
        len += (size_t)snprintf(buf + len, n - len, "%s%s%s%s", i ? ", " : "", bare ? "" : last_word(a->key[i]),
                                bare ? "" : "=", v);
    }
}

static const struct {
    enum wb_unit unit;
    double scale;
} readings[] = {{WB_UNIT_COUNT, 1}, {WB_UNIT_TIME, 1e-12}, {WB_UNIT_SIZE, 1},
                {WB_UNIT_RATE, 1},  {WB_UNIT_FREQ, 1},     {WB_UNIT_RATIO, 1e-6}};

static bool read_all(struct plot_axis *a, size_t r)
{
    for (size_t i = 0; i < a->n; i++) {
        const char *why;
        size_t at;
        int64_t v;
        if (wb_parse_quantity(a->value[i].text, readings[r].unit, &v, &why, &at)) return false;
        a->value[i].at = (double)v * readings[r].scale;
    }
    return true;
}

static int by_value(const void *x, const void *y)
{
    double a = ((const struct plot_tick *)x)->at, b = ((const struct plot_tick *)y)->at;
    return (a > b) - (a < b);
}

/* Steps that grow with the value want a logarithmic axis. */
static bool grows(const struct plot_axis *a)
{
    double least = INFINITY, most = 0;
    if (a->n < 2 || a->value[0].at <= 0) return false;
    for (size_t i = 1; i < a->n; i++) {
        double step = a->value[i].at - a->value[i - 1].at;
        least = fmin(least, step);
        most = fmax(most, step);
    }
    return a->value[a->n - 1].at / a->value[0].at >= 6 && (a->n == 2 || most / least > 3);
}

static void order_values(struct plot_axis *a)
{
    for (size_t r = 0; r < WB_ARRAY_SIZE(readings) && !a->numeric; r++) a->numeric = a->n > 1 && read_all(a, r);
    if (a->numeric)
        qsort(a->value, a->n, sizeof *a->value, by_value);
    else
        for (size_t i = 0; i < a->n; i++) a->value[i].at = (double)i;
    a->log = a->numeric && grows(a);
}

static size_t index_of(const struct plot_axis *a, const char *text)
{
    size_t i = 0;
    while (i < a->n && strcmp(a->value[i].text, text)) i++;
    return i;
}

static void read_values(const struct plot_input *in, struct plot_axis *a)
{
    char text[512];
    for (size_t i = 0; i < in->n; i++) {
        text_at(a, in->result[i], text, sizeof text);
        if (index_of(a, text) < a->n) continue;
        a->value = plot_need(realloc(a->value, (a->n + 1) * sizeof *a->value));
        a->value[a->n++] = (struct plot_tick){.text = plot_need(strdup(text))};
    }
    order_values(a);
    a->place = plot_need(calloc(in->n + 1, sizeof *a->place));
    for (size_t i = 0; i < in->n; i++) {
        text_at(a, in->result[i], text, sizeof text);
        a->place[i] = index_of(a, text);
    }
    for (size_t i = 0; i < a->n; i++) { /* from here on they are only shown */
        size_t of = 0;
        while (a->nkeys > 1 && a->place[of] != i) of++;
        if (a->nkeys > 1) named_text_at(a, in->result[of], text, sizeof text);
        char *clean = plot_text(a->nkeys > 1 ? text : a->value[i].text, 60);
        free(a->value[i].text);
        a->value[i].text = clean;
    }
    name_axis(a);
}

static void free_axis(struct plot_axis *a)
{
    for (size_t i = 0; i < a->n; i++) free(a->value[i].text);
    for (size_t i = 0; i < a->nkeys; i++) free(a->key[i]);
    free(a->value);
    free(a->key);
    free(a->place);
    *a = (struct plot_axis){.n = 0};
}

void plot_axes_free(struct plot_axes *a)
{
    free_axis(&a->x);
    free_axis(&a->series);
    free_axis(&a->facet);
}

/* ------------------------------------------------------------------ choosing */
static bool has_key(const struct plot_axis *a, const char *key)
{
    for (size_t i = 0; i < a->nkeys; i++)
        if (!strcmp(a->key[i], key)) return true;
    return false;
}

static bool same_at(const struct plot_axis *a, const json_t *r, const json_t *s)
{
    char x[512], y[512];
    text_at(a, r, x, sizeof x);
    text_at(a, s, y, sizeof y);
    return !strcmp(x, y);
}

/* Two results that only `key` tells apart: it needs a place of its own (axes that move together do not). */
static bool is_open(const struct plot_input *in, const struct plot_axes *a, const char *key)
{
    char x[256], y[256];
    if (has_key(&a->x, key) || has_key(&a->series, key) || has_key(&a->facet, key)) return false;
    for (size_t i = 0; i < in->n; i++)
        for (size_t k = i + 1; k < in->n; k++) {
            value_text(in->result[i], key, x, sizeof x);
            value_text(in->result[k], key, y, sizeof y);
            if (strcmp(x, y) && same_at(&a->x, in->result[i], in->result[k]) &&
                same_at(&a->series, in->result[i], in->result[k]) && same_at(&a->facet, in->result[i], in->result[k]))
                return true;
        }
    return false;
}

static size_t count_values(const struct plot_input *in, const char *key, bool *numeric)
{
    struct plot_axis a = {.n = 0};
    add_key(&a, key);
    read_values(in, &a);
    size_t n = a.n;
    *numeric = a.numeric;
    free_axis(&a);
    return n;
}

/* Numbers with the most values go across. */
static const char *best_across(const struct plot_input *in, const struct plot_axes *a, const struct keys *k)
{
    const char *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < k->n; i++) {
        bool numeric;
        size_t n = count_values(in, k->key[i], &numeric) + (numeric ? 1000 : 0);
        if (n <= most || !is_open(in, a, k->key[i])) continue;
        most = n;
        best = k->key[i];
    }
    return best;
}

static const char *next_open(const struct plot_input *in, const struct plot_axes *a, const struct keys *k)
{
    for (size_t i = 0; i < k->n; i++)
        if (is_open(in, a, k->key[i])) return k->key[i];
    return NULL;
}

static bool choose_rest(struct plot_input *in, struct plot_axes *a, const struct keys *k, bool heat)
{
    struct plot_axis *free_place[] = {&a->x, &a->series, &a->facet};
    for (size_t i = 0; i < WB_ARRAY_SIZE(free_place); i++) {
        if (free_place[i]->nkeys) continue;
        const char *key = i < (heat ? 2u : 1u) ? best_across(in, a, k) : next_open(in, a, k);
        if (key) add_key(free_place[i], key);
    }
    const char *left = next_open(in, a, k);
    if (left)
        snprintf(in->why, sizeof in->why,
                 "nothing to draw: points also differ in '%.80s'; keep one value with --only %.80s=VALUE, or put it "
                 "into --series or --facets (KEY,KEY joins)",
                 left, left);
    return !left;
}

static bool few_enough(struct plot_input *in, const struct plot_axes *a, size_t most_series)
{
    if (a->facet.n <= PLOT_PANELS_MAX && a->series.n <= most_series) return true;
    bool facets = a->facet.n > PLOT_PANELS_MAX;
    snprintf(in->why, sizeof in->why, "nothing to draw: %zu %s of '%.80s' are more than %zu; keep some with --only",
             facets ? a->facet.n : a->series.n, facets ? "panels" : "series", facets ? a->facet.name : a->series.name,
             facets ? (size_t)PLOT_PANELS_MAX : most_series);
    return false;
}

bool plot_axes_read_facets(struct plot_input *in, struct plot_axes *a, size_t most_series)
{
    struct keys k = {.n = 0};
    collect_keys(in, &k);
    if (!ask(in, &a->facet, in->o->facets, &k)) return false;
    for (const char *key; (key = next_open(in, a, &k));) add_key(&a->series, key);
    read_values(in, &a->series);
    read_values(in, &a->facet);
    return few_enough(in, a, most_series);
}

bool plot_axes_read(struct plot_input *in, struct plot_axes *a, bool heat)
{
    struct keys k = {.n = 0};
    collect_keys(in, &k);
    const struct plot_options *o = in->o;
    if (!ask(in, &a->x, o->x, &k) || !ask(in, &a->series, heat ? o->y : o->series, &k) ||
        !ask(in, &a->facet, o->facets, &k) || !choose_rest(in, a, &k, heat))
        return false;
    if (!a->x.nkeys || (heat && !a->series.nkeys)) {
        snprintf(in->why, sizeof in->why, "nothing to draw: %s needs points along %s (--vary KEY=VALUES)",
                 heat ? "a heat map" : "a line", heat ? "two axes" : "an axis");
        return false;
    }
    read_values(in, &a->x);
    read_values(in, &a->series);
    read_values(in, &a->facet);
    return few_enough(in, a, heat ? SIZE_MAX : PLOT_SERIES_MAX);
}

size_t plot_axes_find(const struct plot_input *in, const struct plot_axes *a, size_t x, size_t series, size_t facet)
{
    for (size_t i = 0; i < in->n; i++)
        if (a->x.place[i] == x && a->series.place[i] == series && a->facet.place[i] == facet) return i;
    return SIZE_MAX;
}

void plot_put_ticks(FILE *f, const struct plot_axis *a, size_t most, bool by_index)
{
    size_t step = (a->n + most - 1) / most;
    fputc('(', f);
    for (size_t i = 0; i < a->n; i += step) {
        if (i) fputs(", ", f);
        plot_put_quoted(f, a->value[i].text);
        fprintf(f, " %.12g", by_index ? (double)i : a->value[i].at);
    }
    fputc(')', f);
}
