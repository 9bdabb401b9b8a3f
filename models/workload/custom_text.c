#include "custom.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "wakebal/units.h"

#define VALUE_MAX 256
#define TABLE_MAX 32

size_t custom_text_word(struct custom_text *t, size_t *start)
{
    t->pos += strspn(t->text + t->pos, " \t");
    *start = t->pos;
    size_t len = strcspn(t->text + t->pos, " \t");
    t->pos += len;
    return len;
}

int custom_text_error(const struct custom_text *t, size_t start, size_t len, const char *fix, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    wb_diag_add(t->c->e.d, WB_ERROR, "E150", wb_cfg_place_in(t->c->e.cfg, t->path, t->index, start, len ? len : 1), fix,
                "%s", text);
    return -1;
}

const char *custom_text_keep(const struct custom_text *t, size_t start, size_t len)
{
    char *copy = wb_sim_alloc(t->c->e.s, len + 1);
    memcpy(copy, t->text + start, len);
    copy[len] = '\0';
    return copy;
}

const char *custom_text_path(const struct custom *c, const char *fmt, ...)
{
    char key[128];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(key, sizeof key, fmt, ap);
    va_end(ap);
    const char *path = workload_key(&c->e, key);
    size_t n = strlen(path) + 1;
    return memcpy(wb_sim_alloc(c->e.s, n), path, n);
}

void custom_text_join(char *buf, size_t n, const char *a, const char *b, const char *c)
{
    snprintf(buf, n, "%s%s%s", a, b, c);
}

/* The rest of the text without blanks around it; false when it is empty or absurdly long (reported). */
static bool rest(struct custom_text *t, const char *wanted, char value[VALUE_MAX], size_t *start)
{
    t->pos += strspn(t->text + t->pos, " \t");
    *start = t->pos;
    size_t len = strlen(t->text + t->pos);
    while (len && (t->text[t->pos + len - 1] == ' ' || t->text[t->pos + len - 1] == '\t')) len--;
    if (!len) return custom_text_error(t, *start, 1, NULL, "%s is missing", wanted) == 0;
    if (len >= VALUE_MAX) return custom_text_error(t, *start, len, NULL, "this is too long") == 0;
    memcpy(value, t->text + t->pos, len);
    value[len] = '\0';
    t->pos += len;
    return true;
}

int custom_text_quantity(struct custom_text *t, enum custom_args what, bool size, uint64_t *v)
{
    char value[VALUE_MAX];
    const char *why;
    size_t start, at;
    int64_t n;
    enum wb_unit unit = size ? WB_UNIT_SIZE : what == ARGS_TIME ? WB_UNIT_TIME : WB_UNIT_COUNT;
    const char *wanted = size ? "a size such as 4 KiB" : what == ARGS_TIME ? "a time such as 10 ms" : "a count";
    if (!rest(t, wanted, value, &start)) return -1;
    if (wb_parse_quantity(value, unit, &n, &why, &at) < 0)
        return custom_text_error(t, start + at, strlen(value) - at, NULL, "'%s': %s", value, why);
    if (n < 1) return custom_text_error(t, start, strlen(value), NULL, "must be above zero");
    if (size && n > 1 << 30) return custom_text_error(t, start, strlen(value), NULL, "at most 1 GiB");
    *v = (uint64_t)n;
    return 0;
}

int custom_text_cpus(struct custom_text *t, const struct wb_cpumask **mask)
{
    char value[VALUE_MAX];
    const char *why;
    size_t start, at;
    struct wb_sim *s = t->c->e.s;
    if (!rest(t, "a list of CPUs such as 0,2-3", value, &start)) return -1;
    struct wb_cpumask m = {.ncpus = wb_ncpus(s), .nwords = WB_CPUMASK_WORDS(wb_ncpus(s))};
    m.w = wb_sim_alloc(s, m.nwords * sizeof *m.w);
    memset(m.w, 0, m.nwords * sizeof *m.w);
    if (wb_mask_parse(value, &m, &why, &at) < 0)
        return custom_text_error(t, start + at, 1, NULL, "'%s': %s", value, why);
    if (wb_mask_first(&m) == WB_NO_CPU) return custom_text_error(t, start, strlen(value), NULL, "no CPU is left");
    *mask = wb_mask_keep(s, &m);
    return 0;
}

/* ---- distributions ---- */

struct dist_form {
    const char *name;
    enum wb_dist_kind kind;
    int args;
    enum wb_unit second;
};
static const struct dist_form forms[] = {
    {"fixed", WB_DIST_FIXED, 1, WB_UNIT_TIME},          {"exp", WB_DIST_EXP, 1, WB_UNIT_TIME},
    {"uniform", WB_DIST_UNIFORM, 2, WB_UNIT_TIME},      {"normal", WB_DIST_NORMAL, 2, WB_UNIT_RATIO},
    {"lognormal", WB_DIST_LOGNORMAL, 2, WB_UNIT_RATIO}, {"table", WB_DIST_TABLE, 0, WB_UNIT_COUNT},
};

struct dist_reader {
    char *text;
    size_t pos, at;
    const char *why;
};

/* A quantity up to one of `stop`, which is overwritten and skipped; *end = the character that stopped it. */
static bool argument(struct dist_reader *r, enum wb_unit unit, const char *stop, int64_t *v, char *end)
{
    size_t n = strcspn(r->text + r->pos, stop), at = 0;
    char *part = r->text + r->pos;
    *end = part[n];
    part[n] = '\0';
    size_t lead = strspn(part, " \t"), len = strlen(part + lead);
    while (len && (part[lead + len - 1] == ' ' || part[lead + len - 1] == '\t')) part[lead + --len] = '\0';
    bool good = wb_parse_quantity(part + lead, unit, v, &r->why, &at) == 0;
    if (good && *v < 0) {
        good = false;
        r->why = "must not be negative";
    }
    r->at = r->pos + lead + at;
    r->pos += n + (*end != '\0');
    return good;
}

static bool table(struct wb_sim *s, struct dist_reader *r, struct wb_dist *d)
{
    int64_t value[TABLE_MAX], weight[TABLE_MAX], total = 0;
    char end = ',';
    while (end == ',') {
        r->why = "at most 32 values";
        if (d->n == TABLE_MAX || !argument(r, WB_UNIT_TIME, ":,)", &value[d->n], &end)) return false;
        r->why = "each value needs its weight: table(10 us:3, 20 us:1)";
        if (end != ':' || !argument(r, WB_UNIT_COUNT, ",)", &weight[d->n], &end)) return false;
        if (weight[d->n] > INT32_MAX) return false;
        total += weight[d->n++];
    }
    r->why = total ? "')' is missing" : "the weights must not all be 0";
    if (end != ')' || !total) return false;
    int64_t *values = wb_sim_alloc(s, d->n * sizeof *values);
    uint64_t *cumulative = wb_sim_alloc(s, d->n * sizeof *cumulative), sum = 0;
    for (size_t i = 0; i < d->n; i++) {
        sum += (uint64_t)weight[i];
        values[i] = value[i];
        cumulative[i] = (uint64_t)(((unsigned __int128)sum << 32) / (uint64_t)total);
    }
    d->value = values;
    d->cumulative = cumulative;
    return true;
}

static bool parse_dist(struct wb_sim *s, struct dist_reader *r, struct wb_dist *d)
{
    size_t n = strspn(r->text, "abcdefghijklmnopqrstuvwxyz");
    char end;
    if (!n) {
        d->kind = WB_DIST_FIXED;
        return argument(r, WB_UNIT_TIME, "", &d->a, &end);
    }
    for (size_t i = 0; i < WB_ARRAY_SIZE(forms); i++) {
        if (strlen(forms[i].name) != n || memcmp(forms[i].name, r->text, n)) continue;
        d->kind = forms[i].kind;
        r->at = r->pos = n;
        r->why = "'(' must follow the name of a distribution";
        if (r->text[r->pos++] != '(') return false;
        if (!forms[i].args) return table(s, r, d) && !r->text[r->pos];
        if (!argument(r, WB_UNIT_TIME, ",)", &d->a, &end)) return false;
        r->why = "two values are needed here, separated by ','";
        if ((end == ',') != (forms[i].args == 2)) return false;
        if (forms[i].args == 2 && !argument(r, forms[i].second, ",)", &d->b, &end)) return false;
        r->why = "the distribution must end with ')'";
        if (end != ')' || r->text[r->pos]) return false;
        r->why = "the first bound must not exceed the second";
        return d->kind != WB_DIST_UNIFORM || d->a <= d->b;
    }
    r->why = "not a distribution: fixed, exp, uniform, normal, lognormal or table";
    return false;
}

int custom_text_dist(struct custom_text *t, const struct wb_dist **dist)
{
    char value[VALUE_MAX];
    size_t start;
    if (!rest(t, "a time such as 5 us or exp(5 us)", value, &start)) return -1;
    size_t len = strlen(value);
    struct wb_dist *d = wb_sim_alloc(t->c->e.s, sizeof *d);
    *d = (struct wb_dist){.n = 0};
    struct dist_reader r = {.text = value};
    if (!parse_dist(t->c->e.s, &r, d))
        return custom_text_error(t, start + WB_MIN(r.at, len), r.at < len ? len - r.at : 1,
                                 "times such as 5 us, exp(5 us), uniform(1 us, 9 us)", "%s", r.why);
    *dist = d;
    return 0;
}
