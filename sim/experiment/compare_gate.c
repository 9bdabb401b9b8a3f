/* compare_gate.c - --fail-if on a comparison. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_rows.h"
#include "exp_format.h"

struct gate {
    char metric[128], base[256];
    bool changed; /* either way */
    double by;
};

static const char grammar[] = "write: METRIC worse than BASE by 3%, or METRIC changed by 3%";

static bool take(char *to, size_t n, const char *from, const char *end)
{
    while (from < end && *from == ' ') from++;
    while (end > from && end[-1] == ' ') end--;
    size_t len = (size_t)(end - from);
    if (!len || len >= n) return false;
    memcpy(to, from, len);
    to[len] = 0;
    return true;
}

/* NULL, or what is wrong. */
static const char *parse(const char *text, struct gate *g)
{
    const char *worse = strstr(text, " worse than "), *changed = strstr(text, " changed"), *end = text + strlen(text),
               *by = NULL;
    *g = (struct gate){.changed = !worse};
    if (!worse && !changed) return grammar;
    const char *verb = worse ? worse : changed;
    for (const char *p = strstr(verb, " by "); p; p = strstr(p + 1, " by ")) by = p;
    if (by && (!exp_parse_value(by + 4, strlen(by + 4), "1", &g->by) || g->by < 0))
        return "after 'by' a ratio is needed, for example 3%";
    if (!take(g->metric, sizeof g->metric, text, verb)) return grammar;
    if (worse && !take(g->base, sizeof g->base, worse + 12, by ? by : end)) return grammar;
    if (!worse && (by ? by : end) != changed + 8) return grammar;
    return NULL;
}

const char *compare_fail_if_syntax(const char *text)
{
    struct gate g;
    return parse(text, &g);
}

static bool is_meant(const struct gate *g, const struct compare_row *r)
{
    const char *at = strchr(g->metric, '@');
    size_t n = at ? (size_t)(at - g->metric) : strlen(g->metric);
    if (!strcmp(g->metric, "any")) return g->changed || r->metric->better != WB_BETTER_NONE;
    if (strlen(r->metric->name) != n || strncmp(r->metric->name, g->metric, n)) return false;
    return !at || (r->metric->workload && !strcmp(r->metric->workload, at + 1));
}

/* The whole interval lies beyond; without an interval the value. */
static bool fails(const struct gate *g, const struct compare_row *r, const struct compare_change *c)
{
    double lo = isnan(c->lo) ? c->change : c->lo, hi = isnan(c->hi) ? c->change : c->hi;
    bool up = lo > g->by, down = hi < -g->by;
    if (g->changed) return up || down;
    return r->metric->better == WB_BETTER_HIGHER ? down : up;
}

/* Its name, or the word "base": columns of --by are called by values, which may hold blanks. */
static bool names_base(const struct compare_table *t, const char *name)
{
    for (size_t i = 0; i < t->nsets; i++)
        if (!strcmp(name, t->set[i].name)) return i == 0;
    return !strcmp(name, "base");
}

int compare_fail_if(const struct compare_table *t, const char *text,
                    void (*tell)(void *ctx, const struct compare_row *row, size_t set), void *ctx, char why[256])
{
    struct gate g;
    const char *wrong = parse(text, &g);
    int bad = 0;
    bool found = false;
    snprintf(why, 256, "%s", wrong ? wrong : "");
    if (!wrong && !g.changed && !names_base(t, g.base))
        wrong = "", snprintf(why, 256, "'%.100s' is not the base, which is '%.100s'", g.base, t->set[0].name);
    for (size_t i = 0; !wrong && i < t->n; i++) {
        const struct compare_row *r = &t->row[i];
        if (!is_meant(&g, r)) continue;
        found = true;
        if (!g.changed && r->metric->better == WB_BETTER_NONE)
            wrong = "", snprintf(why, 256, "'%.100s' has no better direction", r->metric->name);
        for (size_t s = 1; !wrong && s < t->nsets; s++)
            if (fails(&g, r, &r->cell[s].change)) tell(ctx, r, s), bad++;
    }
    if (!wrong && !found) wrong = "", snprintf(why, 256, "'%.100s' is not in the table (see --metrics)", g.metric);
    return wrong ? -1 : bad;
}
