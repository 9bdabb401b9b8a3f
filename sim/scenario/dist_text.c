#include <stdlib.h>
#include <string.h>

#include "config_build.h"

#define TABLE_MAX 4096

struct dist_reader {
    struct arena *arena;
    const char *text, *why;
    size_t pos, at;
    enum wb_unit unit;
};

static const struct {
    const char *name;
    enum wb_dist_kind kind;
    int args;            /* 0: any number of v:w */
    enum wb_unit second; /* WB_UNIT_COUNT: as the first */
} forms[] = {
    {"fixed", WB_DIST_FIXED, 1, WB_UNIT_COUNT},         {"exp", WB_DIST_EXP, 1, WB_UNIT_COUNT},
    {"uniform", WB_DIST_UNIFORM, 2, WB_UNIT_COUNT},     {"normal", WB_DIST_NORMAL, 2, WB_UNIT_RATIO},
    {"lognormal", WB_DIST_LOGNORMAL, 2, WB_UNIT_RATIO}, {"table", WB_DIST_TABLE, 0, WB_UNIT_COUNT},
};

static bool refuse(struct dist_reader *r, size_t at, const char *why)
{
    r->at = at;
    r->why = why;
    return false;
}

static void blanks(struct dist_reader *r)
{
    r->pos += strspn(r->text + r->pos, " \t");
}

/* One quantity up to one of the characters in `stop`. */
static bool quantity(struct dist_reader *r, enum wb_unit unit, const char *stop, int64_t *v)
{
    blanks(r);
    size_t n = strcspn(r->text + r->pos, stop), from = r->pos, at = 0;
    const char *why = NULL;
    char *part = scan_strdup(r->arena, r->text + from, n);
    while (n && (part[n - 1] == ' ' || part[n - 1] == '\t')) part[--n] = '\0';
    if (wb_parse_quantity(part, unit, v, &why, &at) < 0) return refuse(r, from + at, why);
    if (*v < 0) return refuse(r, from, "must not be negative");
    r->pos += strcspn(r->text + r->pos, stop);
    return true;
}

static bool expect(struct dist_reader *r, char c, const char *why)
{
    blanks(r);
    if (r->text[r->pos] != c) return refuse(r, r->pos, why);
    r->pos++;
    return true;
}

/* As many as can come: each but the last is followed by a comma. */
static size_t table_room(const struct dist_reader *r)
{
    size_t n = 1;
    for (const char *c = r->text + r->pos; *c && n < TABLE_MAX; c++) n += *c == ',';
    return n;
}

static bool table(struct dist_reader *r, struct wb_dist *d)
{
    size_t room = table_room(r);
    int64_t *value = scan_new(r->arena, room, sizeof *value), *weight = scan_new(r->arena, room, sizeof *weight);
    int64_t total = 0;
    do {
        if (d->n == TABLE_MAX) return refuse(r, r->pos, "more than 4096 values in a table");
        if (!quantity(r, r->unit, ":,)", &value[d->n])) return false;
        if (!expect(r, ':', "each value needs its weight: table(10 us:3, 20 us:1)")) return false;
        size_t from = r->pos;
        if (!quantity(r, WB_UNIT_COUNT, ",)", &weight[d->n])) return false;
        if (weight[d->n] > INT32_MAX) return refuse(r, from, "a weight is at most 2147483647");
        total += weight[d->n++];
    } while (r->text[r->pos] == ',' && r->text[++r->pos]);
    if (!total) return refuse(r, 0, "the weights of a table must not all be 0");
    int64_t *values = scan_new(r->arena, d->n, sizeof *values);
    uint64_t *cumulative = scan_new(r->arena, d->n, sizeof *cumulative);
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < d->n; i++) {
        values[i] = value[i];
        sum += (unsigned __int128)weight[i];
        cumulative[i] = (uint64_t)((sum << 32) / (uint64_t)total);
    }
    d->value = values;
    d->cumulative = cumulative;
    return true;
}

static bool arguments(struct dist_reader *r, size_t form, struct wb_dist *d)
{
    size_t from = r->pos;
    if (forms[form].kind == WB_DIST_TABLE) return table(r, d);
    if (!quantity(r, r->unit, ",)", &d->a)) return false;
    if (forms[form].args == 1) return true;
    if (!expect(r, ',', "two values are needed here, separated by ','")) return false;
    enum wb_unit second = forms[form].second == WB_UNIT_COUNT ? r->unit : forms[form].second;
    if (!quantity(r, second, ",)", &d->b)) return false;
    if (d->kind == WB_DIST_UNIFORM && d->a > d->b) return refuse(r, from, "the first bound must not exceed the second");
    return true;
}

static bool parse(struct dist_reader *r, struct wb_dist *d)
{
    blanks(r);
    size_t from = r->pos, n = strspn(r->text + from, "abcdefghijklmnopqrstuvwxyz");
    if (!n) {
        d->kind = WB_DIST_FIXED;
        return quantity(r, r->unit, "", &d->a);
    }
    for (size_t i = 0; i < WB_ARRAY_SIZE(forms); i++) {
        if (strlen(forms[i].name) != n || memcmp(forms[i].name, r->text + from, n)) continue;
        d->kind = forms[i].kind;
        r->pos += n;
        if (!expect(r, '(', "'(' must follow the name of a distribution") || !arguments(r, i, d) ||
            !expect(r, ')', "')' is missing"))
            return false;
        blanks(r);
        return r->text[r->pos] ? refuse(r, r->pos, "nothing may follow the distribution") : true;
    }
    return refuse(r, from, "not a distribution: fixed, exp, uniform, normal, lognormal or table");
}

const struct wb_dist *dist_parse(struct arena *a, const char *text, enum wb_unit unit, const char **why, size_t *at)
{
    struct dist_reader r = {.arena = a, .text = text, .unit = unit};
    struct wb_dist *d = scan_new(a, 1, sizeof *d);
    if (parse(&r, d)) return d;
    *why = r.why;
    *at = r.at;
    return NULL;
}
