#include "expr.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPR_OPS_MAX 256

enum op {
    OP_OR,
    OP_AND,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_NOT,
    OP_NEG,
    OP_OPEN,
    OP_NUMBER,
    OP_STRING,
    OP_NAME
};

static const struct {
    const char *text;
    int level; /* binds tighter when higher */
} op_info[] = {
    [OP_OR] = {"||", 1}, [OP_AND] = {"&&", 2}, [OP_EQ] = {"==", 3}, [OP_NE] = {"!=", 3},
    [OP_LT] = {"<", 4},  [OP_LE] = {"<=", 4},  [OP_GT] = {">", 4},  [OP_GE] = {">=", 4},
    [OP_ADD] = {"+", 5}, [OP_SUB] = {"-", 5},  [OP_MUL] = {"*", 6}, [OP_DIV] = {"/", 6},
    [OP_MOD] = {"%", 6}, [OP_NOT] = {"!", 7},  [OP_NEG] = {"-", 7}, [OP_OPEN] = {"(", 0},
};

struct item {
    enum op op;
    size_t at, len; /* in the text */
    double number;
    const char *unit; /* OP_NUMBER */
    const char *text; /* OP_STRING, OP_NAME */
};

struct wb_expr {
    struct arena arena;
    const char *text;
    struct wb_place place;
    struct item *rpn;
    size_t n;
};

static const char *const facts[] = {"machine.cpus", "machine.cores", "machine.llcs", "machine.nodes",
                                    "machine.packages"};

bool expr_is_fact(const char *name)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(facts); i++)
        if (!strcmp(facts[i], name)) return true;
    return false;
}

static struct wb_place place_at(const struct wb_expr *e, size_t at, size_t len)
{
    struct wb_place p = e->place;
    if (!p.file || p.len != (int)strlen(e->text) + 2) return p; /* a literal with escapes: point at its start */
    p.col += 1 + (int)at;
    p.len = (int)WB_MAX(len, (size_t)1);
    return p;
}

static int complain(const struct wb_expr *e, struct wb_diag *d, const char *code, const struct item *at,
                    const char *fix, const char *what)
{
    const char *where = e->place.file ? "" : scan_printf((struct arena *)&e->arena, "expression \"%.200s\": ", e->text);
    wb_diag_add(d, WB_ERROR, code, place_at(e, at->at, at->len), fix, "%s%s", where, what);
    return -1;
}

/* ---- reading ---- */

struct reader {
    struct wb_expr *e;
    struct wb_diag *d;
    size_t pos;
    struct item stack[EXPR_OPS_MAX];
    size_t depth;
    bool want_value; /* a value must follow */
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '[' || c == ']';
}

static int emit(struct reader *r, struct item i)
{
    if (r->e->n == EXPR_OPS_MAX) return complain(r->e, r->d, "E160", &i, "split it", "the expression is too long");
    r->e->rpn[r->e->n++] = i;
    return 0;
}

static int push(struct reader *r, struct item i)
{
    if (r->depth == EXPR_OPS_MAX) return complain(r->e, r->d, "E160", &i, "split it", "the expression is too deep");
    r->stack[r->depth++] = i;
    return 0;
}

/* Operators that bind at least as tightly go first. */
static int flush(struct reader *r, int level)
{
    while (r->depth && r->stack[r->depth - 1].op != OP_OPEN && op_info[r->stack[r->depth - 1].op].level >= level)
        if (emit(r, r->stack[--r->depth]) < 0) return -1;
    return 0;
}

/* "2", "0.5", "8 ms", "8ms", "64 KiB". "%" is always the remainder: ratios are plain numbers here (0.02). */
static int read_number(struct reader *r)
{
    static const struct {
        enum wb_unit unit;
        const char *name;
        double scale;
    } kinds[] = {{WB_UNIT_COUNT, "", 1},    {WB_UNIT_TIME, "time", 1}, {WB_UNIT_SIZE, "size", 1},
                 {WB_UNIT_RATE, "rate", 1}, {WB_UNIT_FREQ, "freq", 1}, {WB_UNIT_RATIO, "", 1e-6}};
    const char *t = r->e->text;
    size_t from = r->pos, i = from;
    while (isdigit((unsigned char)t[i]) || (t[i] == '.' && isdigit((unsigned char)t[i + 1]))) i++;
    size_t digits = i, blank = i + strspn(t + i, " ");
    size_t unit = blank;
    while (isalpha((unsigned char)t[unit]) || (t[unit] == '/' && t[unit + 1] == 's' && unit > blank)) unit++;
    if (unit > blank) i = unit;
    struct item it = {.op = OP_NUMBER, .at = from, .len = i - from};
    char *text = scan_strdup(&r->e->arena, t + from, i - from);
    int64_t v;
    const char *why;
    size_t at;
    for (size_t k = 0; k < WB_ARRAY_SIZE(kinds); k++) {
        if (wb_parse_quantity(text, kinds[k].unit, &v, &why, &at) < 0) continue;
        it.number = (double)v * kinds[k].scale;
        it.unit = kinds[k].name;
        r->pos = i;
        return emit(r, it);
    }
    r->pos = digits;
    return complain(r->e, r->d, "E160", &it, "units are written as in the scenario: 8 ms, 64 KiB, 6.4 GB/s",
                    scan_printf(&r->e->arena, "'%s' is no number", text));
}

static int read_string(struct reader *r)
{
    const char *t = r->e->text;
    char quote = t[r->pos];
    const char *end = strchr(t + r->pos + 1, quote);
    struct item it = {.op = OP_STRING, .at = r->pos, .len = 1};
    if (!end) return complain(r->e, r->d, "E160", &it, "close it with the same quote", "text is never closed");
    it.len = (size_t)(end - (t + r->pos)) + 1;
    it.text = scan_strdup(&r->e->arena, t + r->pos + 1, it.len - 2);
    r->pos += it.len;
    return emit(r, it);
}

static int read_name(struct reader *r)
{
    size_t n = 0;
    while (is_word(r->e->text[r->pos + n])) n++;
    struct item it = {.op = OP_NAME, .at = r->pos, .len = n, .text = scan_strdup(&r->e->arena, r->e->text + r->pos, n)};
    r->pos += n;
    if (!strcmp(it.text, "true") || !strcmp(it.text, "false")) {
        it.op = OP_NUMBER;
        it.number = it.text[0] == 't';
        it.unit = "bool";
    }
    return emit(r, it);
}

static int read_value(struct reader *r)
{
    char c = r->e->text[r->pos];
    struct item it = {.at = r->pos, .len = 1};
    if (c == '(' || c == '!' || c == '-') {
        it.op = c == '(' ? OP_OPEN : c == '!' ? OP_NOT : OP_NEG;
        r->pos++;
        return push(r, it);
    }
    r->want_value = false;
    if (isdigit((unsigned char)c)) return read_number(r);
    if (c == '\'' || c == '"') return read_string(r);
    if (isalpha((unsigned char)c)) return read_name(r);
    return complain(r->e, r->d, "E160", &it, "for example: workload.groups <= 2 * machine.cpus",
                    c ? scan_printf(&r->e->arena, "a value is needed before '%c'", c)
                      : "a value is missing at the end");
}

static int close_bracket(struct reader *r, struct item it)
{
    if (flush(r, 1) < 0) return -1;
    if (!r->depth) return complain(r->e, r->d, "E160", &it, "remove it", "')' closes nothing");
    r->depth--;
    r->pos++;
    return 0;
}

static int read_operator(struct reader *r)
{
    /* Longer ones first: "<=" before "<". */
    static const enum op binary[] = {OP_OR, OP_AND, OP_EQ,  OP_NE,  OP_LE,  OP_GE, OP_LT,
                                     OP_GT, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD};
    const char *t = r->e->text + r->pos;
    struct item it = {.at = r->pos, .len = 1};
    if (*t == ')') return close_bracket(r, it);
    for (size_t i = 0; i < WB_ARRAY_SIZE(binary); i++) {
        size_t n = strlen(op_info[binary[i]].text);
        if (strncmp(t, op_info[binary[i]].text, n)) continue;
        it.op = binary[i];
        it.len = n;
        r->pos += n;
        r->want_value = true;
        return flush(r, op_info[it.op].level) < 0 ? -1 : push(r, it);
    }
    const char *fix = *t == '='                ? "write == to compare"
                      : *t == '&' || *t == '|' ? "write && or ||"
                                               : "write one of + - * / % == != < <= > >= && ||";
    return complain(r->e, r->d, "E160", &it, fix, scan_printf(&r->e->arena, "'%c' is no operator", *t));
}

static int read_all(struct reader *r)
{
    for (;;) {
        r->pos += strspn(r->e->text + r->pos, " \t\r\n");
        if (!r->e->text[r->pos]) break;
        if ((r->want_value ? read_value(r) : read_operator(r)) < 0) return -1;
    }
    if (r->want_value) return read_value(r); /* says that it is missing */
    if (flush(r, 1) < 0) return -1;
    return r->depth ? complain(r->e, r->d, "E160", &r->stack[r->depth - 1], "close it with ')'", "'(' is never closed")
                    : 0;
}

struct wb_expr *wb_expr_parse(const char *text, struct wb_place at, struct wb_diag *d)
{
    struct wb_expr *e = calloc(1, sizeof *e);
    struct reader *r = calloc(1, sizeof *r);
    WB_MEMORY(e && r, "out of memory");
    arena_init(&e->arena, "expr");
    e->text = scan_strdup(&e->arena, text, strlen(text));
    e->place = at;
    if (at.file) e->place.file = scan_strdup(&e->arena, at.file, strlen(at.file));
    e->rpn = scan_new(&e->arena, EXPR_OPS_MAX, sizeof *e->rpn);
    *r = (struct reader){.e = e, .d = d, .want_value = true};
    int rc = read_all(r);
    free(r);
    if (rc == 0) return e;
    wb_expr_free(e);
    return NULL;
}

void wb_expr_free(struct wb_expr *e)
{
    if (!e) return;
    arena_free(&e->arena);
    free(e);
}

/* ---- names ---- */

/* One step down a finished config: which entry of the list at `path` does `rest` mean? */
static bool pick_entry(const struct wb_config *c, char path[512], const char **rest)
{
    const struct cfg_entry *list = config_find(c, path);
    size_t n = list && list->row->type == WB_KEY_GROUPS ? list->v.n : 0, len = strcspn(*rest + 1, ".["),
           used = strlen(path);
    if (!n || **rest != '.') return true;
    for (size_t i = 0; i < n; i++) {
        const struct cfg_entry *name = config_find(c, wb_cfg_path("%s[%zu].name", path, i));
        if (!name || !name->v.text || strlen(name->v.text) != len || memcmp(name->v.text, *rest + 1, len)) continue;
        *rest += 1 + len;
        return (size_t)snprintf(path + used, 512 - used, "[%zu]", i) < 512 - used;
    }
    return n == 1 && (size_t)snprintf(path + used, 512 - used, "[0]") < 512 - used;
}

bool config_resolve(const struct wb_config *c, const char *key, char path[512])
{
    size_t used = 0;
    for (const char *p = key;;) {
        size_t n = strcspn(p, ".");
        if (used + n + 2 > 512) return false;
        memcpy(path + used, p, n);
        path[used + n] = '\0';
        p += n;
        if (!pick_entry(c, path, &p)) return false;
        if (!*p) return true;
        used = strlen(path);
        if (used + 2 > 512) return false;
        path[used++] = '.';
        p++;
    }
}

static const struct cfg_entry *lookup(const struct wb_expr *e, const struct item *it, const struct wb_config *c,
                                      struct wb_diag *d)
{
    char path[512], pattern[KEYS_PATTERN_MAX];
    bool known = config_resolve(c, it->text, path) && config_pattern(c->keys, path, pattern);
    const struct cfg_entry *found = known ? config_find(c, path) : NULL;
    if (found) return found;
    if (known && wb_keys_find(c->keys, pattern, NULL))
        complain(e, d, "E161", it, "give it a value in the scenario",
                 scan_printf((struct arena *)&e->arena, "key '%s' has no value", it->text));
    else
        complain(e, d, "E161", it,
                 "names are keys of the scenario, or machine.cpus, machine.cores, machine.llcs, machine.nodes, "
                 "machine.packages",
                 scan_printf((struct arena *)&e->arena, "'%s' is no key of this scenario", it->text));
    return NULL;
}

int expr_check_names(const struct wb_expr *e, const struct wb_config *c, bool unsure, struct wb_diag *d)
{
    int rc = 0;
    char pattern[KEYS_PATTERN_MAX];
    for (size_t i = 0; i < e->n; i++) {
        const struct item *it = &e->rpn[i];
        if (it->op != OP_NAME || expr_is_fact(it->text)) continue;
        if (unsure && (!strncmp(it->text, "workload.", 9) || config_pattern(c->keys, it->text, pattern))) continue;
        if (!lookup(e, it, c, d)) rc = -1;
    }
    return rc;
}

/* ---- evaluating ---- */

static bool from_entry(const struct cfg_entry *f, struct wb_value *v)
{
    static const char *const unit[] = {
        [WB_KEY_INT] = "",      [WB_KEY_TIME] = "time", [WB_KEY_SIZE] = "size", [WB_KEY_RATE] = "rate",
        [WB_KEY_FREQ] = "freq", [WB_KEY_RATIO] = "",    [WB_KEY_COST] = "time"};
    switch (f->row->type) {
    case WB_KEY_BOOL: *v = (struct wb_value){WB_VALUE_BOOL, (double)f->v.num, "bool", NULL}; return true;
    case WB_KEY_STRING:
    case WB_KEY_ENUM:
    case WB_KEY_CPUS:
    case WB_KEY_DIST:
    case WB_KEY_NUMBER:
    case WB_KEY_VERSION:
    case WB_KEY_EXPR: *v = (struct wb_value){WB_VALUE_STRING, 0, "", f->v.text}; return true;
    case WB_KEY_STRINGS:
    case WB_KEY_TABLE:
    case WB_KEY_GROUPS: *v = (struct wb_value){WB_VALUE_NUMBER, (double)f->v.n, "", NULL}; return true;
    case WB_KEY_GROUP: return false;
    default: break;
    }
    double scale = f->row->type == WB_KEY_RATIO ? 1e-6 : 1;
    *v =
        (struct wb_value){WB_VALUE_NUMBER, (double)f->v.num * scale, f->v.cycles ? "cycles" : unit[f->row->type], NULL};
    return true;
}

static int operand(const struct wb_expr *e, const struct item *it, const struct wb_config *c, wb_expr_fact fact,
                   void *ctx, struct wb_value *v, struct wb_diag *d)
{
    if (it->op == OP_NUMBER) {
        bool truth = !strcmp(it->unit, "bool");
        *v = (struct wb_value){truth ? WB_VALUE_BOOL : WB_VALUE_NUMBER, it->number, it->unit, NULL};
        return 0;
    }
    if (it->op == OP_STRING) {
        *v = (struct wb_value){WB_VALUE_STRING, 0, "", it->text};
        return 0;
    }
    if (fact && fact(ctx, it->text, v)) return 0;
    const struct cfg_entry *found = lookup(e, it, c, d);
    if (!found) return -1;
    return from_entry(found, v) ? 0 : complain(e, d, "E162", it, NULL, "a group has no value");
}

static const char *kind_name(const struct wb_value *v)
{
    if (v->kind == WB_VALUE_STRING) return "a text";
    if (v->kind == WB_VALUE_BOOL) return "true/false";
    return v->unit && *v->unit ? v->unit : "a plain number";
}

static bool same_type(const struct wb_value *a, const struct wb_value *b)
{
    return a->kind == b->kind && (a->kind != WB_VALUE_NUMBER || !strcmp(a->unit, b->unit));
}

static int compare(enum op op, const struct wb_value *a, const struct wb_value *b)
{
    int c = a->kind == WB_VALUE_STRING ? strcmp(a->str, b->str) : (a->number > b->number) - (a->number < b->number);
    switch (op) {
    case OP_EQ: return c == 0;
    case OP_NE: return c != 0;
    case OP_LT: return c < 0;
    case OP_LE: return c <= 0;
    case OP_GT: return c > 0;
    default: return c >= 0;
    }
}

/* * / %: at most one side has a unit, or both the same for a ratio. */
static int scale(const struct wb_expr *e, const struct item *it, struct wb_value *a, const struct wb_value *b,
                 struct wb_diag *d)
{
    if (a->kind != WB_VALUE_NUMBER || b->kind != WB_VALUE_NUMBER)
        return complain(e, d, "E162", it, NULL,
                        scan_printf((struct arena *)&e->arena, "'%s' needs numbers, found %s and %s",
                                    op_info[it->op].text, kind_name(a), kind_name(b)));
    if (*a->unit && *b->unit && (it->op == OP_MUL || strcmp(a->unit, b->unit)))
        return complain(e, d, "E162", it, NULL,
                        scan_printf((struct arena *)&e->arena, "'%s' between %s and %s makes no sense",
                                    op_info[it->op].text, kind_name(a), kind_name(b)));
    if (it->op != OP_MUL && b->number == 0) return complain(e, d, "E162", it, NULL, "division by zero");
    const char *unit = *a->unit ? a->unit : b->unit;
    if (it->op == OP_DIV && *a->unit && *b->unit) unit = "";
    if (it->op == OP_DIV && !*a->unit && *b->unit)
        return complain(e, d, "E162", it, NULL,
                        scan_printf((struct arena *)&e->arena, "a plain number cannot be divided by %s", kind_name(b)));
    a->number = it->op == OP_MUL   ? a->number * b->number
                : it->op == OP_DIV ? a->number / b->number
                                   : fmod(a->number, b->number);
    a->unit = unit;
    return 0;
}

static int apply_binary(const struct wb_expr *e, const struct item *it, struct wb_value *a, const struct wb_value *b,
                        struct wb_diag *d)
{
    struct arena *arena = (struct arena *)&e->arena;
    const char *text = op_info[it->op].text;
    if (it->op == OP_MUL || it->op == OP_DIV || it->op == OP_MOD) return scale(e, it, a, b, d);
    if (!same_type(a, b))
        return complain(e, d, "E162", it,
                        a->kind == WB_VALUE_STRING || b->kind == WB_VALUE_STRING ? "texts are written in quotes: 'free'"
                                                                                 : "give both sides the same unit",
                        scan_printf(arena, "'%s' between %s and %s", text, kind_name(a), kind_name(b)));
    if (it->op == OP_AND || it->op == OP_OR) {
        if (a->kind != WB_VALUE_BOOL)
            return complain(e, d, "E162", it, "compare it with something",
                            scan_printf(arena, "'%s' needs true/false on both sides, found %s", text, kind_name(a)));
        a->number = it->op == OP_AND ? (a->number != 0 && b->number != 0) : (a->number != 0 || b->number != 0);
        return 0;
    }
    if (it->op == OP_ADD || it->op == OP_SUB) {
        if (a->kind != WB_VALUE_NUMBER)
            return complain(e, d, "E162", it, NULL,
                            scan_printf(arena, "'%s' needs numbers, found %s", text, kind_name(a)));
        a->number += it->op == OP_ADD ? b->number : -b->number;
        return 0;
    }
    *a = (struct wb_value){WB_VALUE_BOOL, compare(it->op, a, b), "bool", NULL};
    return 0;
}

static int apply_unary(const struct wb_expr *e, const struct item *it, struct wb_value *a, struct wb_diag *d)
{
    enum wb_value_kind want = it->op == OP_NOT ? WB_VALUE_BOOL : WB_VALUE_NUMBER;
    if (a->kind != want)
        return complain(e, d, "E162", it, NULL,
                        scan_printf((struct arena *)&e->arena, "'%s' needs %s, found %s", op_info[it->op].text,
                                    want == WB_VALUE_BOOL ? "true/false" : "a number", kind_name(a)));
    a->number = it->op == OP_NOT ? a->number == 0 : -a->number;
    return 0;
}

int wb_expr_value(const struct wb_expr *e, const struct wb_config *c, wb_expr_fact fact, void *ctx, struct wb_value *v,
                  struct wb_diag *d)
{
    struct wb_value stack[EXPR_OPS_MAX] = {0};
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++) {
        const struct item *it = &e->rpn[i];
        int rc;
        if (it->op >= OP_NUMBER)
            rc = operand(e, it, c, fact, ctx, &stack[n++], d);
        else if (it->op == OP_NOT || it->op == OP_NEG)
            rc = apply_unary(e, it, &stack[n - 1], d);
        else
            rc = apply_binary(e, it, &stack[n - 2], &stack[n - 1], d), n--;
        if (rc < 0) return -1;
    }
    WB_CHECK(n == 1, "expression leaves %zu values", n);
    *v = stack[0];
    return 0;
}

int wb_expr_true(const struct wb_expr *e, const struct wb_config *c, wb_expr_fact fact, void *ctx, bool *truth,
                 struct wb_diag *d)
{
    struct wb_value v;
    struct item all = {.at = 0, .len = strlen(e->text)};
    if (wb_expr_value(e, c, fact, ctx, &v, d) < 0) return -1;
    if (v.kind != WB_VALUE_BOOL)
        return complain(e, d, "E162", &all, "compare it with something",
                        scan_printf((struct arena *)&e->arena, "the expression is %s, not true/false", kind_name(&v)));
    *truth = v.number != 0;
    return 0;
}
