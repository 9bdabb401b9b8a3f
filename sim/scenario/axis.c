#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr.h"
#include "scenario_build.h"

#define AXIS_VALUES_MAX 100000
#define AXES_MAX 64

struct axis {
    const char *key, *from;
    struct wb_place at;
    const char **value;
    size_t n, cap;
    size_t zip; /* axes with the same number move in lock step */
};

struct wb_axes {
    struct arena arena;
    const struct wb_key_registry *keys;
    struct axis axis[AXES_MAX];
    size_t n;
    struct wb_expr *where[AXES_MAX];
    size_t where_n;
};

struct wb_axes *wb_axes_new(const struct wb_key_registry *keys)
{
    struct wb_axes *a = calloc(1, sizeof *a);
    WB_MEMORY(a, "out of memory");
    arena_init(&a->arena, "axes");
    a->keys = keys;
    return a;
}

void wb_axes_free(struct wb_axes *a)
{
    if (!a) return;
    for (size_t i = 0; i < a->n; i++) free(a->axis[i].value);
    for (size_t i = 0; i < a->where_n; i++) wb_expr_free(a->where[i]);
    arena_free(&a->arena);
    free(a);
}

static int complain(struct wb_axes *a, struct wb_diag *d, const char *code, const struct axis *x, const char *fix,
                    const char *what)
{
    const char *where = x->at.file ? "" : scan_printf(&a->arena, "%s %.100s: ", x->from, x->key);
    wb_diag_add(d, WB_ERROR, code, x->at, fix, "%s%s", where, what);
    return -1;
}

static const char grammar[] = "write a,b,c or 1..10 or 0..1 /11 or 1..1024 *2 or 1ms..64ms *4 or @file";

static int add_value(struct wb_axes *a, struct wb_diag *d, struct axis *x, const char *text, size_t len)
{
    while (len && (*text == ' ' || *text == '\t')) text++, len--;
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t' || text[len - 1] == '\r')) len--;
    if (len >= 2 && (*text == '"' || *text == '\'') && text[len - 1] == *text) text++, len -= 2;
    if (!len) return complain(a, d, "E170", x, grammar, "an empty value in the list");
    if (x->n == AXIS_VALUES_MAX) return complain(a, d, "E170", x, "take fewer", "more than 100000 values on one axis");
    x->value = config_grow(x->value, x->n, &x->cap, sizeof *x->value);
    x->value[x->n++] = scan_strdup(&a->arena, text, len);
    return 0;
}

/* ---- ranges ---- */

struct range {
    enum wb_unit unit;
    bool decimal; /* a plain number with decimals: kept in millionths */
    bool percent; /* written with %: so are its points */
    int64_t lo, hi;
};

static int parse_bound(const char *text, struct range *r, int64_t *v)
{
    const char *why;
    size_t at;
    return wb_parse_quantity(text, r->unit, v, &why, &at);
}

/* The kind of quantity that both ends are. */
static int parse_ends(const char *lo, const char *hi, struct range *r)
{
    static const enum wb_unit kinds[] = {WB_UNIT_COUNT, WB_UNIT_TIME,   WB_UNIT_SIZE, WB_UNIT_RATE,
                                         WB_UNIT_FREQ,  WB_UNIT_CYCLES, WB_UNIT_RATIO};
    for (size_t i = 0; i < WB_ARRAY_SIZE(kinds); i++) {
        r->unit = kinds[i];
        if (parse_bound(lo, r, &r->lo) < 0 || parse_bound(hi, r, &r->hi) < 0) continue;
        r->percent = r->unit == WB_UNIT_RATIO && (strchr(lo, '%') || strchr(hi, '%'));
        r->decimal = r->unit == WB_UNIT_RATIO && !r->percent;
        return 0;
    }
    return -1;
}

static int add_number(struct wb_axes *a, struct wb_diag *d, struct axis *x, const struct range *r, int64_t v)
{
    char buf[64];
    if (!r->decimal && !r->percent) {
        wb_format_exact(buf, sizeof buf, v, r->unit);
        return add_value(a, d, x, buf, strlen(buf));
    }
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, scale = r->percent ? 10000 : 1000000;
    int n = snprintf(buf, sizeof buf, "%s%" PRIu64 ".%0*" PRIu64, v < 0 ? "-" : "", u / scale, r->percent ? 4 : 6,
                     u % scale);
    while (n > 0 && buf[n - 1] == '0') buf[--n] = '\0';
    if (n > 0 && buf[n - 1] == '.') buf[--n] = '\0';
    if (r->percent) snprintf(buf + n, sizeof buf - (size_t)n, " %%");
    return add_value(a, d, x, buf, strlen(buf));
}

static int add_linear(struct wb_axes *a, struct wb_diag *d, struct axis *x, const struct range *r, int64_t points)
{
    struct range q = *r;
    if (points < 2 || points > AXIS_VALUES_MAX)
        return complain(a, d, "E170", x, "/N with N from 2 to 100000", "wrong number of points");
    __int128 den = points - 1, width = (__int128)q.hi - q.lo;
    if (q.unit == WB_UNIT_COUNT && width % den) { /* 0..1 /11: whole ends, points between */
        if (q.hi > INT64_MAX / 1000000 || q.lo < INT64_MIN / 1000000)
            return complain(a, d, "E170", x, "choose a number of points that divides the range",
                            "the points do not fall on whole numbers");
        q = (struct range){.unit = WB_UNIT_RATIO, .decimal = true, .lo = q.lo * 1000000, .hi = q.hi * 1000000};
        width *= 1000000;
    }
    for (int64_t i = 0; i < points; i++)
        if (add_number(a, d, x, &q, q.lo + (int64_t)((width * i + den / 2) / den)) < 0) return -1;
    return 0;
}

static int add_geometric(struct wb_axes *a, struct wb_diag *d, struct axis *x, const struct range *r,
                         int64_t factor_ppm)
{
    if (factor_ppm <= 1000000 || r->lo <= 0)
        return complain(a, d, "E170", x, "for example 1..1024 *2",
                        "a geometric range starts above 0 and grows by more than 1");
    for (int64_t v = r->lo, last = -1; v <= r->hi;) {
        if (v != last && add_number(a, d, x, r, v) < 0) return -1;
        last = v;
        __int128 next = ((__int128)v * factor_ppm + 500000) / 1000000;
        v = next > r->hi ? r->hi == INT64_MAX ? INT64_MAX : r->hi + 1 : (int64_t)next;
        if (v == last) v++; /* a factor too small to move a whole number */
    }
    return 0;
}

static int add_steps(struct wb_axes *a, struct wb_diag *d, struct axis *x, const struct range *r)
{
    if (r->unit != WB_UNIT_COUNT)
        return complain(a, d, "E170", x, "say how many points (/5) or which factor (*2)",
                        "a range of quantities has no natural step");
    if ((__int128)r->hi - r->lo >= AXIS_VALUES_MAX)
        return complain(a, d, "E170", x, "use *2 or /11", "more than 100000 values on one axis");
    for (int64_t v = r->lo; v <= r->hi; v++)
        if (add_number(a, d, x, r, v) < 0) return -1;
    return 0;
}

static void trim(char *s)
{
    size_t n = strlen(s), lead = strspn(s, " \t");
    while (n > lead && (s[n - 1] == ' ' || s[n - 1] == '\t')) n--;
    memmove(s, s + lead, n - lead);
    s[n - lead] = '\0';
}

/* "LOW..HIGH", "LOW..HIGH /N", "LOW..HIGH *F". */
static int add_range(struct wb_axes *a, struct wb_diag *d, struct axis *x, const char *text)
{
    char *lo = scan_strdup(&a->arena, text, strlen(text)), *hi = strstr(lo, "..");
    struct range r = {.unit = WB_UNIT_COUNT}, whole = {.unit = WB_UNIT_COUNT}, ratio = {.unit = WB_UNIT_RATIO};
    *hi = '\0';
    hi += 2;
    size_t mark = strcspn(hi, "*");
    if (!hi[mark]) { /* '/' may belong to a unit: "1 GB/s..4 GB/s /4" */
        char *slash = strrchr(hi, '/');
        mark = slash && strspn(slash + 1, " 0123456789") == strlen(slash + 1) ? (size_t)(slash - hi) : strlen(hi);
    }
    char how = hi[mark], *amount = how ? hi + mark + 1 : hi + mark;
    hi[mark] = '\0';
    trim(lo);
    trim(hi);
    trim(amount);
    if (parse_ends(lo, hi, &r) < 0)
        return complain(a, d, "E170", x, grammar,
                        scan_printf(&a->arena, "'%.40s..%.40s': both ends must be numbers of the same kind", lo, hi));
    if (r.lo > r.hi)
        return complain(a, d, "E170", x, "write the smaller end first",
                        scan_printf(&a->arena, "the range '%.80s' runs backwards", text));
    int64_t v;
    if (how == '/' && parse_bound(amount, &whole, &v) == 0) return add_linear(a, d, x, &r, v);
    if (how == '*' && parse_bound(amount, &ratio, &v) == 0) return add_geometric(a, d, x, &r, v);
    if (how)
        return complain(a, d, "E170", x, grammar,
                        scan_printf(&a->arena, "'%c%.40s' is neither a number of points nor a factor", how, amount));
    return add_steps(a, d, x, &r);
}

/* ---- lists ---- */

static int add_list(struct wb_axes *a, struct wb_diag *d, struct axis *x, const char *text)
{
    int depth = 0;
    char quote = 0;
    const char *from = text;
    for (const char *p = text;; p++) {
        if (quote && *p == quote)
            quote = 0;
        else if (!quote && (*p == '"' || *p == '\''))
            quote = *p;
        else if (!quote && (*p == '(' || *p == '['))
            depth++;
        else if (!quote && (*p == ')' || *p == ']'))
            depth--;
        if (*p && (*p != ',' || quote || depth > 0)) continue;
        if (add_value(a, d, x, from, (size_t)(p - from)) < 0) return -1;
        if (!*p) return 0;
        from = p + 1;
    }
}

static int add_file(struct wb_axes *a, struct wb_diag *d, struct axis *x, const char *name)
{
    const char *slash = x->at.file ? strrchr(x->at.file, '/') : NULL, *why = NULL;
    const char *path =
        slash && name[0] != '/' ? scan_printf(&a->arena, "%.*s/%s", (int)(slash - x->at.file), x->at.file, name) : name;
    char *text;
    size_t len;
    int rc = 0;
    if (wb_reader_files.read(NULL, path, &text, &len, &why) < 0)
        return complain(a, d, "E170", x, "one value a line",
                        scan_printf(&a->arena, "cannot read '%.200s': %s", path, why));
    for (char *p = text; *p && rc == 0;) {
        size_t n = strcspn(p, "\n"), blank = strspn(p, " \t\r");
        if (blank < n && p[blank] != '#') rc = add_value(a, d, x, p, n);
        p += n + (p[n] == '\n');
    }
    free(text);
    return rc;
}

static bool has_range(const char *text)
{
    const char *dots = strstr(text, "..");
    return dots && dots > text && !strpbrk(text, "\"',");
}

static int add_values(struct wb_axes *a, struct wb_diag *d, struct axis *x, const char *text)
{
    text += strspn(text, " ");
    int rc = *text == '@'      ? add_file(a, d, x, text + 1)
             : has_range(text) ? add_range(a, d, x, text)
                               : add_list(a, d, x, text);
    if (rc < 0) return rc;
    return x->n ? 0 : complain(a, d, "E170", x, grammar, "the axis has no values");
}

/* ---- axes ---- */

static struct axis *find_axis(struct wb_axes *a, const char *key)
{
    for (size_t i = 0; i < a->n; i++)
        if (!strcmp(a->axis[i].key, key)) return &a->axis[i];
    return NULL;
}

static struct axis *new_axis(struct wb_axes *a, struct wb_diag *d, const char *key, const char *from,
                             struct wb_place at)
{
    struct axis x = {.key = scan_strdup(&a->arena, key, strlen(key)), .from = from, .at = at, .zip = a->n};
    if (find_axis(a, key)) {
        complain(a, d, "E171", &x, "put all its values into one", "two axes vary the same key");
        return NULL;
    }
    if (a->n == AXES_MAX) {
        complain(a, d, "E171", &x, "take fewer", "more than 64 axes");
        return NULL;
    }
    a->axis[a->n] = x;
    return &a->axis[a->n++];
}

int wb_axes_add(struct wb_axes *a, const char *text, struct wb_place at, struct wb_diag *d)
{
    size_t n = strcspn(text, "=");
    struct axis bad = {.key = text, .from = "--vary", .at = at};
    if (!text[n] || !n) return complain(a, d, "E170", &bad, "write --vary KEY=VALUES", "'=' is missing");
    struct axis *x = new_axis(a, d, scan_strdup(&a->arena, text, n), "--vary", at);
    return x ? add_values(a, d, x, text + n + 1) : -1;
}

int wb_axes_zip(struct wb_axes *a, const char *names, struct wb_place at, struct wb_diag *d)
{
    struct axis bad = {.key = names, .from = "--zip", .at = at}, *first = NULL;
    for (const char *p = names; *p;) {
        size_t n = strcspn(p, ",");
        char *key = scan_strdup(&a->arena, p, n);
        trim(key);
        struct axis *x = find_axis(a, key);
        if (!x)
            return complain(a, d, "E172", &bad, "vary it first", scan_printf(&a->arena, "'%.100s' is no axis", key));
        if (x == first)
            return complain(a, d, "E172", &bad, "name two different axes",
                            scan_printf(&a->arena, "'%s' cannot move in lock step with itself", x->key));
        if (!first) first = x;
        if (x->n != first->n)
            return complain(
                a, d, "E172", &bad, "give both the same number of values",
                scan_printf(&a->arena, "'%s' has %zu values and '%s' has %zu", first->key, first->n, x->key, x->n));
        x->zip = first->zip;
        p += n + (p[n] == ',');
    }
    if (first && strchr(names, ',')) return 0;
    return complain(a, d, "E172", &bad, "write --zip KEY,KEY", first ? "one axis alone is named" : "no axis is named");
}

int wb_axes_where(struct wb_axes *a, const char *text, struct wb_place at, struct wb_diag *d)
{
    struct axis bad = {.key = text, .from = "--where", .at = at};
    if (a->where_n == AXES_MAX) return complain(a, d, "E160", &bad, "join them with &&", "more than 64 conditions");
    a->where[a->where_n] = wb_expr_parse(text, at, d);
    if (!a->where[a->where_n]) return -1;
    a->where_n++;
    return 0;
}

static struct wb_place place_of(const struct wb_config *c, const char *path)
{
    return wb_cfg_origin(c, path)->place;
}

static int add_config_axis(struct wb_axes *a, const struct wb_config *c, size_t i, struct wb_diag *d)
{
    const char *set = wb_cfg_path("sweep.over[%zu].set", i), *values = wb_cfg_path("sweep.over[%zu].values", i);
    const char *range = wb_cfg_path("sweep.over[%zu].range", i), *key = wb_cfg_str(c, set);
    struct axis *old = find_axis(a, key);
    if (old && !strcmp(old->from, "--vary")) return 0;
    struct axis *x = new_axis(a, d, key, "sweep", place_of(c, set));
    if (!x) return -1;
    if (wb_cfg_has(c, values) == wb_cfg_has(c, range))
        return complain(a, d, "E170", x, "write values = [ ... ] or range = \"1..8 *2\"",
                        wb_cfg_has(c, values) ? "the axis has both values and a range" : "the axis has no values");
    if (wb_cfg_has(c, range)) {
        x->at = place_of(c, range);
        return add_values(a, d, x, wb_cfg_str(c, range));
    }
    x->at = place_of(c, values);
    for (size_t k = 0; k < wb_cfg_count(c, values); k++) {
        const char *text = wb_cfg_str_at(c, values, k);
        if (add_value(a, d, x, text, strlen(text)) < 0) return -1;
    }
    return x->n ? 0 : complain(a, d, "E170", x, grammar, "the axis has no values");
}

int wb_axes_add_config(struct wb_axes *a, const struct wb_config *c, struct wb_diag *d)
{
    int rc = 0;
    for (size_t i = 0; i < wb_cfg_count(c, "sweep.over"); i++)
        if (add_config_axis(a, c, i, d) < 0) rc = -1;
    for (size_t i = 0; rc == 0 && i < (wb_cfg_has(c, "sweep.zip") ? wb_cfg_count(c, "sweep.zip") : 0); i++)
        if (wb_axes_zip(a, wb_cfg_str_at(c, "sweep.zip", i), place_of(c, "sweep.zip"), d) < 0) rc = -1;
    if (wb_cfg_has(c, "sweep.where") &&
        wb_axes_where(a, wb_cfg_str(c, "sweep.where"), place_of(c, "sweep.where"), d) < 0)
        rc = -1;
    return rc;
}

/* ---- points ---- */

size_t wb_axes_count(const struct wb_axes *a)
{
    return a->n;
}

const char *wb_axes_key(const struct wb_axes *a, size_t axis)
{
    WB_CHECK(axis < a->n, "axis %zu of %zu", axis, a->n);
    return a->axis[axis].key;
}

/* The first axis of a zip leads; the others follow it. */
static bool leads(const struct wb_axes *a, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (a->axis[k].zip == a->axis[i].zip) return false;
    return true;
}

size_t wb_axes_points(const struct wb_axes *a)
{
    size_t n = 1;
    for (size_t i = 0; i < a->n; i++)
        if (leads(a, i) && __builtin_mul_overflow(n, a->axis[i].n, &n)) return SIZE_MAX;
    return n;
}

void wb_axes_point(const struct wb_axes *a, size_t point, struct wb_override *out)
{
    size_t pick[AXES_MAX] = {0};
    WB_CHECK(point < wb_axes_points(a), "point %zu of %zu", point, wb_axes_points(a));
    for (size_t i = a->n; i-- > 0;) {
        if (!leads(a, i)) continue;
        pick[a->axis[i].zip] = point % a->axis[i].n;
        point /= a->axis[i].n;
    }
    for (size_t i = 0; i < a->n; i++) {
        const struct axis *x = &a->axis[i];
        out[i] = (struct wb_override){x->key, x->value[pick[x->zip]], x->from, x->at};
    }
}

char *wb_axes_label(const struct wb_axes *a, size_t point, char *buf, size_t n)
{
    struct wb_override o[AXES_MAX];
    size_t len = 0;
    WB_CHECK(n > 0, "no room for a label");
    buf[0] = '\0';
    wb_axes_point(a, point, o);
    for (size_t i = 0; i < a->n && len < n; i++)
        len += (size_t)snprintf(buf + len, n - len, "%s%s=%s", i ? ", " : "", o[i].key, o[i].value);
    return buf;
}

int wb_axes_keep(const struct wb_axes *a, const struct wb_config *c, wb_expr_fact fact, void *ctx, bool *keep,
                 struct wb_diag *d)
{
    *keep = true;
    for (size_t i = 0; i < a->where_n && *keep; i++)
        if (wb_expr_true(a->where[i], c, fact, ctx, keep, d) < 0) return -1;
    return 0;
}
