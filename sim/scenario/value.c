#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config_build.h"

/* How a value of each type is written, for the fix line. */
static const char *const example[] = {
    [WB_KEY_INT] = "4",
    [WB_KEY_BOOL] = "true",
    [WB_KEY_TIME] = "\"10 us\"",
    [WB_KEY_COST] = "\"400 ns\" or \"1200 cy\"",
    [WB_KEY_SIZE] = "\"64 KiB\"",
    [WB_KEY_RATE] = "\"6.4 GB/s\"",
    [WB_KEY_FREQ] = "\"1.5 GHz\"",
    [WB_KEY_RATIO] = "\"2 %\" or 0.02",
    [WB_KEY_STRING] = "\"text\"",
    [WB_KEY_ENUM] = "\"word\"",
    [WB_KEY_CPUS] = "\"0,2-5\" or \"free\"",
    [WB_KEY_DIST] = "\"10 us\" or \"exp(10 us)\"",
    [WB_KEY_STRINGS] = "[ \"a\", \"b\" ]",
    [WB_KEY_TABLE] = "[ 0, 2, 1, 3 ]",
    [WB_KEY_GROUPS] = "( { ... }, { ... } )",
    [WB_KEY_GROUP] = "{ ... }",
    [WB_KEY_EXPR] = "\"text\"",
    [WB_KEY_NUMBER] = "0.6 or \"0.35 s\"",
    [WB_KEY_VERSION] = "\"6.12\"",
};

static const char *const type_wanted[] = {
    [WB_KEY_INT] = "a count",
    [WB_KEY_BOOL] = "true or false",
    [WB_KEY_TIME] = "a time",
    [WB_KEY_COST] = "a time or a number of cycles",
    [WB_KEY_SIZE] = "a size",
    [WB_KEY_RATE] = "a rate",
    [WB_KEY_FREQ] = "a frequency",
    [WB_KEY_RATIO] = "a ratio",
    [WB_KEY_STRING] = "a text",
    [WB_KEY_ENUM] = "a word",
    [WB_KEY_CPUS] = "a CPU list",
    [WB_KEY_DIST] = "a distribution",
    [WB_KEY_STRINGS] = "a list of texts",
    [WB_KEY_TABLE] = "a list of counts",
    [WB_KEY_GROUPS] = "a list of groups",
    [WB_KEY_GROUP] = "a group",
    [WB_KEY_EXPR] = "an expression",
    [WB_KEY_NUMBER] = "a number or quantity",
    [WB_KEY_VERSION] = "a kernel version",
};

static int complain(const struct value_context *x, const char *code, struct wb_place at, const char *fix,
                    const char *fmt, ...) WB_PRINTF(5, 6);
static int complain(const struct value_context *x, const char *code, struct wb_place at, const char *fix,
                    const char *fmt, ...)
{
    if (!x->d) return -1;
    va_list ap;
    va_start(ap, fmt);
    char *text = wb_vtext(fmt, ap);
    va_end(ap);
    wb_diag_add(x->d, WB_ERROR, code, at, fix, "%s%s", at.file ? "" : x->prefix, text);
    free(text);
    return -1;
}

static const char *leaf(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

/* ---- integers that libconfig wraps ---- */

static char *wrap_fix(const struct value_context *x, const struct wb_key *row, const struct scan_node *node)
{
    enum wb_unit unit = row ? config_unit(row->type, row->unit) : WB_UNIT_COUNT;
    bool wide = node->text[strlen(node->text) - 1] == 'L', ignored;
    int64_t v = lex_integer(node->text, strlen(node->text), &ignored);
    char buf[64];
    if (row && row->type == WB_KEY_INT) {
        if (wide || v == INT64_MAX || v == INT64_MIN)
            return scan_printf(x->arena, "the largest integer is 9223372036854775807L");
        return scan_printf(x->arena, "write it with the suffix L: %sL", node->text);
    }
    if (unit == WB_UNIT_TIME && v > 0 && v <= INT64_MAX / 1000) /* such numbers are nanoseconds more often than not */
        return scan_printf(x->arena, "write it with its unit: \"%s\"",
                           wb_format_exact(buf, sizeof buf, v * 1000, WB_UNIT_TIME));
    if (unit == WB_UNIT_SIZE && v > 0 && v < INT64_MAX)
        return scan_printf(x->arena, "write it with its unit: \"%s\"",
                           wb_format_exact(buf, sizeof buf, v, WB_UNIT_SIZE));
    if (unit != WB_UNIT_COUNT) return scan_printf(x->arena, "write it with its unit: %s", example[row->type]);
    return scan_printf(x->arena, "write it with its unit: \"10 s\", or with the suffix L: 10000000000L");
}

void value_tell_wrap(const struct value_context *x, const struct wb_key *row, struct scan_node *node)
{
    if (node->wrap_told || !x->d) return;
    node->wrap_told = true;
    size_t n = strlen(node->text);
    char number[48];
    snprintf(number, sizeof number, "%.40s%s", node->text, n > 40 ? "..." : "");
    complain(x, "E120", node->at, wrap_fix(x, row, node),
             "%s does not fit a %d-bit integer and libconfig would silently read %" PRId64, number,
             node->text[n - 1] == 'L' ? 64 : 32, lex_wrapped(node->text, n));
}

/* ---- scalars ---- */

static int wrong_type(const struct value_context *x, const struct wb_key *row, const char *path,
                      const struct scan_node *node)
{
    bool number = node->kind == SCAN_INT || node->kind == SCAN_FLOAT;
    enum wb_unit unit = config_unit(row->type, row->unit);
    static const char *const usual[] = {
        [WB_UNIT_TIME] = "us", [WB_UNIT_SIZE] = "KiB", [WB_UNIT_RATE] = "GB/s", [WB_UNIT_FREQ] = "GHz"};
    char exact[64];
    if (node->kind == SCAN_INT && unit == WB_UNIT_SIZE && node->num > 0)
        return complain(x, "E121", node->at,
                        scan_printf(x->arena, "write it with its unit, for example \"%s\"",
                                    wb_format_exact(exact, sizeof exact, node->num, unit)),
                        "'%s' is %s and needs a unit; a bare number says nothing", leaf(path), type_wanted[row->type]);
    if (number && unit < WB_ARRAY_SIZE(usual) && usual[unit])
        return complain(
            x, "E121", node->at,
            scan_printf(x->arena, "write it with its unit, for example \"%.40s %s\"", node->text, usual[unit]),
            "'%s' is %s and needs a unit; a bare number says nothing", leaf(path), type_wanted[row->type]);
    if (row->type == WB_KEY_INT && node->kind == SCAN_FLOAT)
        return complain(x, "E122", node->at, "write a whole number", "'%s' is a count; %s is no whole number",
                        leaf(path), node->text);
    if (row->type == WB_KEY_CPUS && node->kind == SCAN_INT)
        return complain(x, "E122", node->at, scan_printf(x->arena, "write it in quotes: \"%s\"", node->text),
                        "'%s' wants %s, found %s", leaf(path), type_wanted[row->type], scan_kind_name(node->kind));
    if (row->type == WB_KEY_BOOL)
        return complain(x, "E122", node->at, "write true or false, without quotes",
                        "'%s' wants true or false, found %s", leaf(path), scan_kind_name(node->kind));
    bool word = row->def && (row->type == WB_KEY_STRING || row->type == WB_KEY_ENUM || row->type == WB_KEY_VERSION);
    return complain(x, "E122", node->at,
                    scan_printf(x->arena, word ? "for example: %s = \"%s\"" : "for example: %s = %s", leaf(path),
                                word ? row->def : example[row->type]),
                    "'%s' wants %s, found %s", leaf(path), type_wanted[row->type], scan_kind_name(node->kind));
}

/* Text of a quantity in a row's scale: cycles where costs allow them. */
static int quantity(const struct wb_key *row, const char *text, struct cfg_value *out, const char **why, size_t *at)
{
    size_t n = strlen(text);
    out->cycles = row->type == WB_KEY_COST && n > 2 && !strcmp(text + n - 2, "cy");
    return wb_parse_quantity(text, out->cycles ? WB_UNIT_CYCLES : config_unit(row->type, row->unit), &out->num, why,
                             at);
}

static bool scaled(enum wb_key_type t)
{
    return t == WB_KEY_TIME || t == WB_KEY_COST || t == WB_KEY_SIZE || t == WB_KEY_RATE || t == WB_KEY_FREQ ||
           t == WB_KEY_RATIO;
}

static int64_t bound(const struct wb_key *row, const char *text)
{
    struct cfg_value v = {0};
    const char *why = NULL;
    size_t at;
    int rc = quantity(row, text, &v, &why, &at);
    WB_CHECK(rc == 0, "bound \"%s\" of key %s: %s", text, row->path, why);
    return v.num;
}

static char *range_text(struct arena *a, const struct wb_key *row)
{
    if (row->min && row->max) return scan_printf(a, "%s .. %s", row->min, row->max);
    return scan_printf(a, "%s %s", row->min ? "at least" : "at most", row->min ? row->min : row->max);
}

static char *default_text(struct arena *a, const struct wb_key *row)
{
    if (!row->def) return NULL;
    if (!row->source) return scan_printf(a, "the default is %s", row->def);
    return scan_printf(a, "the default is %s: %s", row->def, row->source);
}

static int check_range(const struct value_context *x, const struct wb_key *row, const char *path,
                       const struct scan_node *node, const struct cfg_value *v)
{
    if (!row->min && !row->max) return 0;
    if (v->cycles) { /* bounds are times; without a clock only the sign can be judged */
        if (v->num >= 0) return 0;
        return complain(x, "E123", node->at, default_text(x->arena, row), "'%s' must not be negative", leaf(path));
    }
    bool low = row->min && v->num < bound(row, row->min), high = row->max && v->num > bound(row, row->max);
    if (!low && !high) return 0;
    return complain(x, "E123", node->at, default_text(x->arena, row), "'%s' = %.60s is outside its range: %s",
                    leaf(path), node->text, range_text(x->arena, row));
}

/* A unit in another spelling is named in ours; else an example. */
static char *unit_fix(const struct value_context *x, const struct wb_key *row, const char *path, const char *text)
{
    static const char *const other[][2] = {
        {"sec", "s"},        {"secs", "s"},    {"second", "s"},  {"seconds", "s"},   {"msec", "ms"},
        {"msecs", "ms"},     {"millis", "ms"}, {"usec", "us"},   {"usecs", "us"},    {"micros", "us"},
        {"nsec", "ns"},      {"nsecs", "ns"},  {"mins", "min"},  {"minutes", "min"}, {"hours", "h"},
        {"kilobytes", "kB"}, {"bytes", "B"},   {"kbytes", "kB"}, {"mbytes", "MB"},   {"mb/sec", "MB/s"},
        {"gb/sec", "GB/s"},  {"cycles", "cy"}, {"percent", "%"}};
    size_t number = strspn(text, "0123456789.+-eE"), blanks = strspn(text + number, " ");
    const char *unit = text + number + blanks;
    for (size_t i = 0; number && i < WB_ARRAY_SIZE(other); i++)
        if (!strcasecmp(unit, other[i][0]))
            return scan_printf(x->arena, "write %s = \"%.*s %s\"", leaf(path), (int)WB_MIN(number, (size_t)30), text,
                               other[i][1]);
    return scan_printf(x->arena, "for example: %s = %s", leaf(path), example[row->type]);
}

static int make_quantity(const struct value_context *x, const struct wb_key *row, const char *path,
                         struct scan_node *node, struct cfg_value *out)
{
    bool bare = row->type == WB_KEY_RATIO && (node->kind == SCAN_INT || node->kind == SCAN_FLOAT);
    if (node->kind != SCAN_STRING && !bare) return wrong_type(x, row, path, node);
    const char *why = NULL;
    size_t at = 0;
    if (quantity(row, node->text, out, &why, &at) < 0) {
        size_t rest = strlen(node->text) - WB_MIN(at, strlen(node->text));
        return complain(x, "E124", scan_place_in(node, at, rest), unit_fix(x, row, path, node->text),
                        "'%s' = \"%.60s\": %s", leaf(path), node->text, why);
    }
    if (out->num < 0 && !row->min)
        return complain(x, "E123", node->at, default_text(x->arena, row), "'%s' must not be negative", leaf(path));
    return check_range(x, row, path, node, out);
}

static int make_int(const struct value_context *x, const struct wb_key *row, const char *path, struct scan_node *node,
                    struct cfg_value *out)
{
    if (node->kind != SCAN_INT) return wrong_type(x, row, path, node);
    out->num = node->num;
    return check_range(x, row, path, node, out);
}

static int make_bool(const struct value_context *x, const struct wb_key *row, const char *path, struct scan_node *node,
                     struct cfg_value *out)
{
    if (node->kind != SCAN_BOOL) return wrong_type(x, row, path, node);
    out->num = node->num != 0;
    return 0;
}

static int make_text(const struct value_context *x, const struct wb_key *row, const char *path, struct scan_node *node,
                     struct cfg_value *out)
{
    if (node->kind != SCAN_STRING) return wrong_type(x, row, path, node);
    out->text = node->text;
    return 0;
}

static size_t split_words(struct arena *a, const char *words, const char ***list)
{
    size_t n = 0, cap = strlen(words) / 2 + 2;
    *list = scan_new(a, cap, sizeof **list);
    for (const char *p = words; *p;) {
        size_t len = strcspn(p, " ");
        if (len) (*list)[n++] = scan_strdup(a, p, len);
        p += len + strspn(p + len, " ");
    }
    return n;
}

static int make_enum(const struct value_context *x, const struct wb_key *row, const char *path, struct scan_node *node,
                     struct cfg_value *out)
{
    if (node->kind != SCAN_STRING) return wrong_type(x, row, path, node);
    const char *choices = keys_choices(x->keys, row);
    out->text = node->text;
    if (keys_word_in(choices, node->text, strlen(node->text)) && *node->text) return 0;
    const char **list, *near;
    size_t n = split_words(x->arena, choices, &list);
    near = wb_nearest(node->text, list, n);
    char *valid = scan_strdup(x->arena, "", 0);
    for (size_t i = 0; i < n; i++) valid = scan_printf(x->arena, "%s%s%s", valid, i ? ", " : "", list[i]);
    char *fix = near ? scan_printf(x->arena, "did you mean '%s'?  Valid here: %s", near, valid)
                     : scan_printf(x->arena, "valid here: %s", valid);
    if (!strcmp(row->path, "workload.kind")) /* the other thing that `list workloads` prints */
        fix = scan_printf(x->arena, "%s; a fragment by its name is base = \"NAME\"", fix);
    return complain(x, "E125", node->at, fix, "'%s' is no value of '%s'", node->text, leaf(path));
}

/* Mainline releases; the last is the newest whose rules are modelled. */
static const struct {
    unsigned major, minor, last; /* minor only of 2.6, where the third number counts releases */
} releases[] = {{2, 6, 39}, {3, 0, 19}, {4, 0, 20}, {5, 0, 19}, {6, 0, 18}};

static bool is_version(const char *text)
{
    unsigned part[3] = {0};
    const char *c = text;
    for (size_t n = 0; n < 3; n++) {
        size_t digits = strspn(c, "0123456789");
        if (!digits || digits > 4) return false;
        for (; digits; digits--) part[n] = part[n] * 10 + (unsigned)(*c++ - '0');
        if (!*c) break;
        if (n == 2 || *c++ != '.') return false;
    }
    for (size_t i = 0; i < WB_ARRAY_SIZE(releases); i++) {
        bool old = releases[i].minor; /* 2.6.x; later ones count stable releases there, without an end */
        if (part[0] != releases[i].major || (old && part[1] != releases[i].minor)) continue;
        return part[old ? 2 : 1] <= releases[i].last && part[2] < 1024;
    }
    return false;
}

static int make_version(const struct value_context *x, const struct wb_key *row, const char *path,
                        struct scan_node *node, struct cfg_value *out)
{
    if (node->kind != SCAN_STRING) return wrong_type(x, row, path, node);
    const char *text = out->text = node->text, *words = row->choices ? row->choices : "";
    if (is_version(text) || (*text && keys_word_in(words, text, strlen(text)))) return 0;
    char *valid = scan_strdup(x->arena, "", 0);
    for (size_t i = 0; i < WB_ARRAY_SIZE(releases); i++) {
        unsigned m = releases[i].major, last = releases[i].last;
        valid = releases[i].minor
                    ? scan_printf(x->arena, "%u.%u.0 to %u.%u.%u", m, releases[i].minor, m, releases[i].minor, last)
                    : scan_printf(x->arena, "%s, %u.0 to %u.%u", valid, m, m, last);
    }
    char *fix = scan_printf(x->arena, "valid here: %s%s%s", valid, *words ? ", " : "", words);
    return complain(x, "E125", node->at, fix, "'%s' = \"%.60s\": no version of Linux whose rules are known", leaf(path),
                    text);
}

static int make_cpus(const struct value_context *x, const struct wb_key *row, const char *path, struct scan_node *node,
                     struct cfg_value *out)
{
    static const char fix[] = "write \"free\", \"all\" or CPU numbers such as \"0,2-5\"";
    if (node->kind != SCAN_STRING) return wrong_type(x, row, path, node);
    out->text = node->text;
    if (!strcmp(node->text, "free") || !strcmp(node->text, "all")) return 0;
    uint64_t words[WB_CPUMASK_WORDS(WB_CPUS_MAX)] = {0};
    struct wb_cpumask mask = {.ncpus = WB_CPUS_MAX, .nwords = WB_ARRAY_SIZE(words), .w = words};
    const char *why = NULL;
    size_t at = 0;
    if (wb_mask_parse(node->text, &mask, &why, &at) < 0)
        return complain(x, "E126", scan_place_in(node, at, 1), fix, "'%s' = \"%.60s\": %s", leaf(path), node->text,
                        why);
    if (!wb_mask_count(&mask)) return complain(x, "E126", node->at, fix, "'%s' names no CPU", leaf(path));
    return 0;
}

/* What a range is held against: the largest value where there is one, else the mean or the median. */
static int64_t dist_most(const struct wb_dist *d)
{
    int64_t most = d->kind == WB_DIST_UNIFORM ? d->b : d->a;
    if (d->kind != WB_DIST_TABLE) return most;
    most = d->value[0];
    for (size_t i = 1; i < d->n; i++) most = WB_MAX(most, d->value[i]);
    return most;
}

static int make_dist(const struct value_context *x, const struct wb_key *row, const char *path, struct scan_node *node,
                     struct cfg_value *out)
{
    if (node->kind != SCAN_STRING) return wrong_type(x, row, path, node);
    const char *why = NULL;
    size_t at = 0;
    out->text = node->text;
    out->dist = dist_parse(x->arena, node->text, config_unit(row->type, row->unit), &why, &at);
    if (!out->dist)
        return complain(x, "E127", scan_place_in(node, at, 1),
                        "write \"10 us\", \"exp(10 us)\", \"uniform(1 us, 5 us)\", \"normal(10 us, 5 %)\", "
                        "\"lognormal(10 us, 50 %)\" or "
                        "\"table(10 us:3, 20 us:1)\"",
                        "'%s' = \"%.60s\": %s", leaf(path), node->text, why);
    out->num = out->dist->kind == WB_DIST_TABLE ? out->dist->value[0] : out->dist->a;
    struct cfg_value most = {.num = dist_most(out->dist)};
    return check_range(x, row, path, node, &most);
}

static int make_number(const struct value_context *x, const struct wb_key *row, const char *path,
                       struct scan_node *node, struct cfg_value *out)
{
    if (node->kind != SCAN_STRING && node->kind != SCAN_INT && node->kind != SCAN_FLOAT)
        return wrong_type(x, row, path, node);
    const char *t = node->text;
    out->text = t;
    if (!strcmp(t, "none")) return 0;
    t += strspn(t, "+- <>=~");
    if (*t < '0' || *t > '9')
        if (*t != '.')
            return complain(x, "E124", node->at,
                            scan_printf(x->arena, "for example: %s = %s", leaf(path), example[row->type]),
                            "'%s' = \"%.60s\" does not start with a number", leaf(path), node->text);
    return 0;
}

/* ---- lists ---- */

static int make_strings(const struct value_context *x, const struct wb_key *row, const char *path,
                        struct scan_node *node, struct cfg_value *out)
{
    if (node->kind != SCAN_ARRAY && node->kind != SCAN_LIST) return wrong_type(x, row, path, node);
    out->strs = scan_new(x->arena, node->n + 1, sizeof *out->strs);
    for (struct scan_node *e = node->first; e; e = e->next) {
        bool scalar = e->kind == SCAN_STRING || e->kind == SCAN_INT || e->kind == SCAN_FLOAT || e->kind == SCAN_BOOL;
        if (e->kind == SCAN_STRING || (scalar && (row->flags & WB_KEY_ANYSCALAR))) {
            if (e->wraps) value_tell_wrap(x, NULL, e);
            out->strs[out->n++] = e->text;
            continue;
        }
        return complain(x, "E122", e->at, scalar ? "write it in quotes" : "write plain values",
                        "an entry of '%s' must be a text, found %s", leaf(path), scan_kind_name(e->kind));
    }
    return 0;
}

static int make_table(const struct value_context *x, const struct wb_key *row, const char *path, struct scan_node *node,
                      struct cfg_value *out)
{
    if (node->kind != SCAN_ARRAY && node->kind != SCAN_LIST) return wrong_type(x, row, path, node);
    out->ints = scan_new(x->arena, node->n + 1, sizeof *out->ints);
    for (struct scan_node *e = node->first; e; e = e->next) {
        struct cfg_value one = {.num = e->num};
        if (e->kind != SCAN_INT)
            return complain(x, "E122", e->at, "write whole numbers", "an entry of '%s' must be a count, found %s",
                            leaf(path), scan_kind_name(e->kind));
        if (e->wraps) value_tell_wrap(x, row, e);
        if (e->wraps || check_range(x, row, path, e, &one) < 0) return -1;
        out->ints[out->n++] = e->num;
    }
    return 0;
}

static int make_group(const struct value_context *x, const struct wb_key *row, const char *path, struct scan_node *node,
                      struct cfg_value *out)
{
    char child[KEYS_PATTERN_MAX];
    bool fits = row->type == WB_KEY_GROUP ? node->kind == SCAN_GROUP : node->kind == SCAN_LIST;
    (void)out;
    if (fits) return 0;
    const char *name = leaf(path);
    bool base = node->kind == SCAN_STRING && keys_child(x->keys, path, "base", child);
    const char *inside = base ? scan_printf(x->arena, "base = \"%.100s\";", node->text) : "...";
    char *fix = scan_printf(x->arena, row->type == WB_KEY_GROUP ? "write %s : { %s };" : "write %s = ( { %s } );", name,
                            inside);
    return complain(x, "E122", node->at, fix, "'%s' is %s, found %s", name, type_wanted[row->type],
                    scan_kind_name(node->kind));
}

typedef int make_fn(const struct value_context *, const struct wb_key *, const char *, struct scan_node *,
                    struct cfg_value *);
static make_fn *const maker[] = {
    [WB_KEY_INT] = make_int,         [WB_KEY_BOOL] = make_bool,      [WB_KEY_TIME] = make_quantity,
    [WB_KEY_COST] = make_quantity,   [WB_KEY_SIZE] = make_quantity,  [WB_KEY_RATE] = make_quantity,
    [WB_KEY_FREQ] = make_quantity,   [WB_KEY_RATIO] = make_quantity, [WB_KEY_STRING] = make_text,
    [WB_KEY_ENUM] = make_enum,       [WB_KEY_CPUS] = make_cpus,      [WB_KEY_DIST] = make_dist,
    [WB_KEY_STRINGS] = make_strings, [WB_KEY_TABLE] = make_table,    [WB_KEY_GROUPS] = make_group,
    [WB_KEY_GROUP] = make_group,     [WB_KEY_EXPR] = make_text,      [WB_KEY_NUMBER] = make_number,
    [WB_KEY_VERSION] = make_version,
};

/* ---- priced values ---- */

static const char *const status_word[] = {
    [WB_MEASURED] = "measured", [WB_QUOTED] = "quoted", [WB_DERIVED] = "derived", [WB_ASSUMED] = "assumed"};

static enum wb_status status_of(const char *text, size_t len)
{
    for (int s = WB_MEASURED; s <= WB_ASSUMED; s++)
        if (strlen(status_word[s]) == len && !memcmp(status_word[s], text, len)) return (enum wb_status)s;
    return WB_STATUS_NONE;
}

enum wb_status value_status_of_source(const char *source)
{
    enum wb_status s = source ? status_of(source, strspn(source, "abcdefghijklmnopqrstuvwxyz")) : WB_STATUS_NONE;
    return s == WB_STATUS_NONE ? WB_ASSUMED : s;
}

static int make_status(const struct value_context *x, const char *path, const struct scan_node *node,
                       struct wb_origin *o)
{
    o->status = node->kind == SCAN_STRING ? status_of(node->text, strlen(node->text)) : WB_STATUS_NONE;
    if (o->status != WB_STATUS_NONE) return 0;
    return complain(x, "E128", node->at, "valid here: measured, quoted, derived, assumed",
                    "'%.60s' is no status of a cost; '%s' = ( value, status, range, source )",
                    node->kind == SCAN_STRING ? node->text : scan_kind_name(node->kind), leaf(path));
}

static int make_range(const struct value_context *x, const struct wb_key *row, const char *path,
                      const struct scan_node *node, struct cfg_value *v, struct wb_origin *o)
{
    static const char fix[] = "write \"LOW..HIGH\" with units, for example \"0.6 us..1.5 us\", or \"\" for none";
    if (node->kind != SCAN_STRING)
        return complain(x, "E129", node->at, fix, "the range of '%s' must be a string", leaf(path));
    if (!*node->text) return 0;
    const char *dots = strstr(node->text, "..");
    struct cfg_value lo = {0}, hi = {0};
    const char *why = "'..' is missing";
    size_t at = 0;
    if (dots) {
        char *first = scan_strdup(x->arena, node->text, (size_t)(dots - node->text));
        why = NULL;
        if (quantity(row, first, &lo, &why, &at) == 0 && quantity(row, dots + 2, &hi, &why, &at) == 0) why = NULL;
    }
    if (why) return complain(x, "E129", node->at, fix, "the range \"%.60s\" of '%s': %s", node->text, leaf(path), why);
    if (lo.cycles != v->cycles || hi.cycles != v->cycles)
        return complain(x, "E129", node->at, fix, "the range of '%s' mixes times and cycles", leaf(path));
    o->range_lo = lo.num;
    o->range_hi = hi.num;
    if (lo.num <= v->num && v->num <= hi.num) return 0;
    return complain(x, "E129", node->at, "widen the range or correct the value",
                    "the range \"%.60s\" of '%s' does not hold its value", node->text, leaf(path));
}

/* ( value, status, range, source ) */
static int make_priced(const struct value_context *x, const struct wb_key *row, const char *path,
                       struct scan_node *node, struct cfg_value *out, struct wb_origin *o)
{
    struct scan_node *e = node->first;
    if (!e || node->n > 4)
        return complain(
            x, "E128", node->at,
            scan_printf(x->arena, "write ( %s, \"assumed\", \"low..high\", \"source\" )", example[row->type]),
            "'%s' wants ( value, status, range, source )", leaf(path));
    if (e->kind == SCAN_LIST) return wrong_type(x, row, path, e);
    if (value_make(x, row, path, e, out, o) < 0) return -1;
    o->status = WB_STATUS_NONE;
    if ((e = e->next) && make_status(x, path, e, o) < 0) return -1;
    if (e && (e = e->next) && make_range(x, row, path, e, out, o) < 0) return -1;
    if (e && (e = e->next)) {
        if (e->kind != SCAN_STRING)
            return complain(x, "E128", e->at, "write it in quotes", "the source of '%s' must be a text", leaf(path));
        o->source = *e->text ? e->text : NULL;
    }
    if (o->status == WB_ASSUMED && o->range_lo > o->range_hi)
        return complain(x, "E129", node->at,
                        "say between which values it plausibly lies: ( value, \"assumed\", \"low..high\", \"why\" )",
                        "'%s' is assumed and has no plausible range", leaf(path));
    if (o->status == WB_STATUS_NONE) o->status = WB_STATUS_USER;
    return 0;
}

int value_make(const struct value_context *x, const struct wb_key *row, const char *path, struct scan_node *node,
               struct cfg_value *out, struct wb_origin *o)
{
    WB_CHECK((size_t)row->type < WB_ARRAY_SIZE(maker), "key type %d", (int)row->type);
    *out = (struct cfg_value){0};
    if (o) {
        o->status = WB_STATUS_NONE;
        o->range_lo = 1;
        o->range_hi = 0;
        o->source = NULL;
    }
    bool priced = row->flags & WB_KEY_PRICED;
    bool list = row->type == WB_KEY_TABLE || row->type == WB_KEY_STRINGS;
    if (priced && node->kind == SCAN_LIST && !list && o) return make_priced(x, row, path, node, out, o);
    if (node->kind == SCAN_INT && node->wraps) {
        value_tell_wrap(x, row, node);
        return -1;
    }
    if (priced && o && x->user) o->status = WB_STATUS_USER;
    return maker[row->type](x, row, path, node, out);
}

/* ---- from text ---- */

static struct scan_node *text_node(struct arena *a, const char *text, struct wb_place at)
{
    struct scan_node *n = scan_new(a, 1, sizeof *n);
    size_t len = strlen(text);
    if (len >= 2 && (text[0] == '"' || text[0] == '\'') && text[len - 1] == text[0]) text++, len -= 2;
    *n = (struct scan_node){.kind = SCAN_STRING, .at = at, .key_at = at, .text = scan_strdup(a, text, len)};
    return n;
}

struct scan_node *value_node(struct arena *a, const struct wb_key *row, const char *text, struct wb_place at)
{
    bool list = row->type == WB_KEY_STRINGS || row->type == WB_KEY_TABLE || row->type == WB_KEY_GROUPS;
    bool tuple = (row->flags & WB_KEY_PRICED) && text[0] == '(';
    bool bare =
        row->type == WB_KEY_INT || row->type == WB_KEY_BOOL || row->type == WB_KEY_RATIO || row->type == WB_KEY_NUMBER;
    struct scan_node *n = list || tuple || bare ? scan_value(a, text, at) : NULL;
    if (n && n->kind == SCAN_INT && n->wraps) {
        char *wide = scan_printf(a, "%sL", text);
        bool wraps; /* nothing wraps on the command line: 5000000000 is what it says */
        int64_t v = lex_integer(wide, strlen(wide), &wraps);
        if (!wraps) n->wraps = false, n->num = v;
    }
    if (!n && row->type == WB_KEY_STRINGS) { /* one text stands for a list of one */
        struct scan_node *e = text_node(a, text, at);
        n = scan_new(a, 1, sizeof *n);
        *n = (struct scan_node){.kind = SCAN_LIST, .at = at, .key_at = at, .n = 1, .first = e, .last = e};
        e->parent = n;
    }
    return n ? n : text_node(a, text, at);
}

/* ---- to text ---- */

static void list_text(const struct wb_key *row, const struct cfg_value *v, char *buf, size_t n)
{
    size_t len = (size_t)snprintf(buf, n, "[");
    for (size_t i = 0; i < v->n && len < n; i++) {
        const char *before = i ? ", " : " ";
        if (row->type == WB_KEY_TABLE)
            len += (size_t)snprintf(buf + len, n - len, "%s%" PRId64, before, v->ints[i]);
        else
            len += (size_t)snprintf(buf + len, n - len, "%s\"%s\"", before, v->strs[i]);
    }
    if (len < n) snprintf(buf + len, n - len, " ]");
}

char *value_text(const struct wb_key *row, const struct cfg_value *v, char *buf, size_t n)
{
    WB_CHECK(n > 0, "no room for a value");
    buf[0] = '\0';
    if (scaled(row->type))
        return wb_format_exact(buf, n, v->num, v->cycles ? WB_UNIT_CYCLES : config_unit(row->type, row->unit));
    switch (row->type) {
    case WB_KEY_INT: snprintf(buf, n, "%" PRId64, v->num); break;
    case WB_KEY_BOOL: snprintf(buf, n, "%s", v->num ? "true" : "false"); break;
    case WB_KEY_STRINGS:
    case WB_KEY_TABLE: list_text(row, v, buf, n); break;
    case WB_KEY_GROUPS: snprintf(buf, n, "%zu entr%s", v->n, v->n == 1 ? "y" : "ies"); break;
    case WB_KEY_GROUP: break;
    default: snprintf(buf, n, "%s", v->text ? v->text : "");
    }
    return buf;
}
