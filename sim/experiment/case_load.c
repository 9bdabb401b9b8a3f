/* case_load.c - from a case file to variants and rows, with all mistakes in one pass. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "exp_format.h"
#include "wakebal/units.h"

const char *const case_class_name[CASE_CLASSES] = {"calibrates", "consistency", "predicts"};
const char *const case_verdict_name[] = {"reported", "pass", "fail", "undetermined"};

struct loader {
    struct case_file *c;
    const struct wb_config *cfg;
    struct wb_diag *d;
    size_t errors;
};

static void *need(void *p)
{
    WB_MEMORY(p, "out of memory while a case was loaded");
    return p;
}

static const char *text_of(const struct wb_config *c, const char *path)
{
    return wb_cfg_has(c, path) ? wb_cfg_str(c, path) : NULL;
}

/* ------------------------------------------------------------------ variants */
#define SETTINGS_MAX 64

/* Add the "key=value" texts of a list to a variant. */
static void add_settings(struct loader *l, struct case_variant *v, const char *path)
{
    for (size_t i = 0; wb_cfg_has(l->cfg, path) && i < wb_cfg_count(l->cfg, path); i++) {
        const char *line = wb_cfg_str_at(l->cfg, path, i), *eq = strchr(line, '=');
        if (!eq || eq == line || v->nset == SETTINGS_MAX) {
            wb_cfg_error(l->cfg, l->d, path, "write it as \"key=value\"; at most 64 of them", "'%.60s' is no setting",
                         line);
            l->errors++;
            continue;
        }
        v->set = need(realloc(v->set, (v->nset + 1) * sizeof *v->set));
        v->set[v->nset++] = (struct wb_override){.key = need(strndup(line, (size_t)(eq - line))),
                                                 .value = need(strdup(eq + 1)),
                                                 .from = "variant",
                                                 .at = wb_cfg_origin(l->cfg, path)->place};
    }
}

struct wb_config *case_variant_config(const struct case_file *c, size_t variant, const struct wb_override *more,
                                      size_t n, struct wb_diag *d)
{
    const struct case_variant *v = &c->variant[variant];
    struct wb_override *all = need(calloc(v->nset + n + 1, sizeof *all));
    if (v->nset) memcpy(all, v->set, v->nset * sizeof *all);
    if (n) memcpy(all + v->nset, more, n * sizeof *all);
    struct wb_overrides over = {.item = all, .n = v->nset + n, .kernel = v->kernel, .machine = v->machine};
    struct wb_config *cfg = wb_scenario_at(c->scenario, &over, d);
    free(all);
    return cfg;
}

static size_t add_variant(struct loader *l, const struct case_variant *v)
{
    struct case_file *c = l->c;
    c->variant = need(realloc(c->variant, (c->nvariants + 1) * sizeof *c->variant));
    c->variant[c->nvariants] = *v;
    struct case_variant *made = &c->variant[c->nvariants++];
    made->cfg = case_variant_config(c, c->nvariants - 1, NULL, 0, l->d);
    l->errors += !made->cfg;
    return c->nvariants - 1;
}

static size_t find_variant(const struct case_file *c, const char *name)
{
    for (size_t i = 0; i < c->nvariants; i++)
        if (!strcmp(c->variant[i].name, name)) return i;
    return SIZE_MAX;
}

static void check_variant_name(struct loader *l, const char *path, const char *name)
{
    bool twice = find_variant(l->c, name) != SIZE_MAX, bad = strpbrk(name, "[]") || !*name;
    if (twice)
        wb_cfg_error(l->cfg, l->d, path, "give each variant a name of its own", "variant '%.60s' exists twice", name);
    if (bad)
        wb_cfg_error(l->cfg, l->d, path, "use letters, digits and '-'",
                     "a variant's name must not be empty or hold brackets");
    l->errors += twice + bad;
}

static void load_variant(struct loader *l, size_t i)
{
    char set[64];
    const char *name = wb_cfg_str(l->cfg, wb_cfg_path("variants[%zu].name", i));
    const char *help = text_of(l->cfg, wb_cfg_path("variants[%zu].help", i));
    check_variant_name(l, wb_cfg_path("variants[%zu].name", i), name);
    struct case_variant v = {.name = need(strdup(name)),
                             .help = need(strdup(help ? help : name)),
                             .per = wb_cfg_int(l->cfg, wb_cfg_path("variants[%zu].per", i)),
                             .kernel = text_of(l->cfg, wb_cfg_path("variants[%zu].kernel", i)),
                             .machine = text_of(l->cfg, wb_cfg_path("variants[%zu].machine", i))};
    add_settings(l, &v, "common");
    snprintf(set, sizeof set, "variants[%zu].set", i);
    add_settings(l, &v, set);
    add_variant(l, &v);
}

/* A row with `set` or `against` of its own: the configuration becomes a variant named after its settings. */
static size_t variant_of_settings(struct loader *l, size_t row, const char *key)
{
    char path[64]; /* a wb_cfg_path() would not live long enough */
    snprintf(path, sizeof path, "rows[%zu].%s", row, key);
    char name[256] = "";
    for (size_t i = 0; i < wb_cfg_count(l->cfg, path); i++) {
        size_t used = strlen(name);
        snprintf(name + used, sizeof name - used, "%s%s", used ? ", " : "", wb_cfg_str_at(l->cfg, path, i));
    }
    for (char *p = name; *p; p++)
        if (*p == '[' || *p == ']') *p = '|';
    size_t at = find_variant(l->c, name);
    if (at != SIZE_MAX) return at;
    struct case_variant v = {.name = need(strdup(name)), .help = need(strdup(name)), .per = 1};
    add_settings(l, &v, "common");
    add_settings(l, &v, path);
    return add_variant(l, &v);
}

/* ------------------------------------------------------------------ rows */
/* "5 GB/s", "0.5..1", "1..2 GB/s" (the unit of the second part holds for both). */
static bool read_published(const char *text, const char *unit, struct case_row *r)
{
    const char *dots = strstr(text, "..");
    if (!dots) {
        bool good = exp_parse_value(text, strlen(text), unit, &r->lo);
        r->hi = r->lo;
        return good;
    }
    char first[160];
    const char *tail = dots + 2, *word = tail + strcspn(tail, " ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz%");
    size_t n = (size_t)(dots - text);
    r->range = true;
    if (!exp_parse_value(tail, strlen(tail), unit, &r->hi)) return false;
    if (!exp_parse_value(text, n, unit, &r->lo)) return false;
    if (*word && text[n ? n - 1 : 0] >= '0' &&
        text[n ? n - 1 : 0] <= '9') { /* bare first number: take the unit of the second */
        if (snprintf(first, sizeof first, "%.*s%s", (int)n, text, word) >= (int)sizeof first) return false;
        if (!exp_parse_value(first, strlen(first), unit, &r->lo)) return false;
    }
    return r->lo <= r->hi;
}

static void row_error(struct loader *l, size_t i, const char *key, const char *fix, const char *text)
{
    const char *path = wb_cfg_path("rows[%zu].%s", i, key);
    wb_cfg_error(l->cfg, l->d, path, fix, "rows[%zu].%s: %s", i, key, text);
    l->errors++;
}

static void load_figures(struct loader *l, struct case_row *r, size_t i)
{
    const char *pub = text_of(l->cfg, wb_cfg_path("rows[%zu].published", i));
    const char *tol = text_of(l->cfg, wb_cfg_path("rows[%zu].tolerance", i));
    const char *dir = text_of(l->cfg, wb_cfg_path("rows[%zu].direction", i));
    r->direction = !dir ? 0 : !strcmp(dir, "higher") ? 1 : !strcmp(dir, "lower") ? -1 : 0;
    r->has_published = pub && strcmp(pub, "none");
    r->lo = r->hi = 1;
    if (r->has_published && !read_published(pub, r->unit, r))
        row_error(l, i, "published", "for example: 4, \"5 GB/s\", \"0.5..1\" or \"none\"",
                  "no number in this row's unit");
    if (r->direction && r->range)
        row_error(l, i, "direction", "give one bound, or a range without a direction", "a range has no direction");
    if (tol && (!exp_parse_value(tol, strlen(tol), "1", &r->tolerance) || r->tolerance < 0))
        row_error(l, i, "tolerance", "for example: \"20 %\"", "no ratio");
    if (dir && !strcmp(dir, "same") && !tol)
        row_error(l, i, "direction", "say how close: tolerance = \"10 %\"", "\"same\" needs a tolerance");
    if (dir && !strcmp(dir, "same")) r->has_published = true;
}

/* The expression, and which variants it looks at. */
static void load_metric(struct loader *l, struct case_row *r, size_t i)
{
    size_t at;
    const char *why, *variant, *name;
    r->expr = figure_expr_parse(r->metric, &at, &why);
    if (!r->expr) {
        char text[256];
        snprintf(text, sizeof text, "'%.120s' at character %zu: %s", r->metric, at + 1, why);
        row_error(l, i, "metric", "for example: \"bandwidth[new] / bandwidth[old]\"", text);
        return;
    }
    for (size_t k = 0; (name = figure_expr_name(r->expr, k, &variant, &at)); k++) {
        size_t v = variant ? find_variant(l->c, variant) : r->variant;
        if (v == SIZE_MAX) {
            char text[256];
            snprintf(text, sizeof text, variant ? "no variant is called '%.80s'" : "'%.80s' says no variant",
                     variant ? variant : name);
            row_error(l, i, "metric",
                      variant ? "see the names in `variants`" : "write figure[variant], or set `variant`", text);
            return;
        }
        l->c->variant[v].used = true;
        l->c->variant[v].predicts |= r->class == CASE_PREDICTS && case_row_judged(r);
    }
}

/* A row that compares two settings of its own: the figure becomes their ratio. */
static char *ratio_metric(struct loader *l, const char *metric, size_t of, size_t against)
{
    char *text;
    int n = asprintf(&text, "%s[%s] / %s[%s]", metric, l->c->variant[of].name, metric, l->c->variant[against].name);
    WB_MEMORY(n >= 0, "out of memory while a case was loaded");
    return text;
}

static void load_row(struct loader *l, size_t i)
{
    const struct wb_config *cfg = l->cfg;
    struct case_row *r = &l->c->row[i];
    const char *class = wb_cfg_str(cfg, wb_cfg_path("rows[%zu].class", i)),
               *variant = text_of(cfg, wb_cfg_path("rows[%zu].variant", i));
    r->name = wb_cfg_str(cfg, wb_cfg_path("rows[%zu].name", i));
    r->metric = wb_cfg_str(cfg, wb_cfg_path("rows[%zu].metric", i));
    r->unit = text_of(cfg, wb_cfg_path("rows[%zu].unit", i));
    r->reason = text_of(cfg, wb_cfg_path("rows[%zu].reason", i));
    r->source = text_of(cfg, wb_cfg_path("rows[%zu].source", i));
    r->reading_of = text_of(cfg, wb_cfg_path("rows[%zu].reading_of", i));
    r->finding = text_of(cfg, wb_cfg_path("rows[%zu].finding", i));
    if (!r->unit) r->unit = "1";
    while (r->class + 1 < CASE_CLASSES && strcmp(case_class_name[r->class], class)) r->class ++;
    r->variant = variant ? find_variant(l->c, variant) : SIZE_MAX;
    if (variant && r->variant == SIZE_MAX) row_error(l, i, "variant", "see the names in `variants`", "no such variant");
    load_figures(l, r, i);
    if (wb_cfg_has(cfg, wb_cfg_path("rows[%zu].set", i))) r->variant = variant_of_settings(l, i, "set");
    if (wb_cfg_has(cfg, wb_cfg_path("rows[%zu].against", i))) {
        size_t of = r->variant == SIZE_MAX ? 0 : r->variant;
        char *ratio = ratio_metric(l, r->metric, of, variant_of_settings(l, i, "against"));
        r->metric = ratio;
        l->c->owned = need(realloc(l->c->owned, (l->c->nowned + 1) * sizeof *l->c->owned));
        l->c->owned[l->c->nowned++] = ratio;
    }
    load_metric(l, r, i);
}

static void check_rows(struct loader *l)
{
    for (size_t i = 0; i < l->c->nrows; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(l->c->row[i].name, l->c->row[k].name))
                row_error(l, i, "name", "give each row a name of its own", "this name exists twice");
}

struct case_file *case_load(const char *name, const struct wb_key_registry *keys, const struct wb_overrides *over,
                            struct wb_diag *d)
{
    struct wb_scenario *s = wb_scenario_load(name, keys, over, d);
    if (!s) return NULL;
    struct case_file *c = need(calloc(1, sizeof *c));
    struct loader l = {.c = c, .cfg = wb_scenario_config(s), .d = d};
    c->scenario = s;
    c->name = wb_scenario_name(s);
    c->title = text_of(l.cfg, "title");
    c->source = text_of(l.cfg, "source");
    c->note = text_of(l.cfg, "note");
    for (size_t i = 0; wb_cfg_has(l.cfg, "variants") && i < wb_cfg_count(l.cfg, "variants"); i++) load_variant(&l, i);
    c->nrows = wb_cfg_has(l.cfg, "rows") ? wb_cfg_count(l.cfg, "rows") : 0;
    c->row = need(calloc(c->nrows ? c->nrows : 1, sizeof *c->row));
    for (size_t i = 0; i < c->nrows; i++) load_row(&l, i);
    check_rows(&l);
    if (!c->nrows) {
        struct wb_place whole = {.file = wb_scenario_path(s)};
        wb_diag_add(d, WB_ERROR, "E330", whole, "cases have `rows`; see `wakebal list cases`",
                    "'%s' is no case: it has no rows", c->name);
        l.errors++;
    }
    if (!l.errors) return c;
    case_free(c);
    return NULL;
}

void case_free(struct case_file *c)
{
    if (!c) return;
    exp_study_free(c->study);
    for (size_t i = 0; i < c->nvariants; i++) {
        for (size_t k = 0; k < c->variant[i].nset; k++) {
            free((char *)c->variant[i].set[k].key);
            free((char *)c->variant[i].set[k].value);
        }
        free(c->variant[i].set);
        free(c->variant[i].name);
        free(c->variant[i].help);
        wb_config_free(c->variant[i].cfg);
    }
    for (size_t i = 0; i < c->nrows; i++) {
        figure_expr_free(c->row[i].expr);
        free(c->row[i].sample);
        free(c->row[i].flips);
        free(c->row[i].swing);
    }
    for (size_t i = 0; i < c->nowned; i++) free(c->owned[i]);
    free(c->owned);
    free(c->variant);
    free(c->row);
    wb_scenario_free(c->scenario);
    free(c);
}
