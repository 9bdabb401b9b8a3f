#include "figure_expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum item_kind { ITEM_NUMBER, ITEM_FIGURE, ITEM_OP };
struct item {
    enum item_kind kind;
    char op; /* + - * / ~ (negation) */
    double number;
    char *name, *variant;
    size_t at;
};
struct figure_expr {
    struct item item[FIGURE_EXPR_MAX];
    size_t n;
};

struct parser {
    const char *text, *p;
    struct figure_expr *e;
    char stack[FIGURE_EXPR_MAX];
    size_t depth;
    const char *why;
};

static int rank(char op)
{
    return op == '(' ? 0 : op == '+' || op == '-' ? 1 : op == '~' ? 3 : 2;
}

static struct item *emit(struct parser *s, enum item_kind kind)
{
    if (s->e->n == FIGURE_EXPR_MAX) {
        s->why = "too long: at most 128 figures, numbers and operators";
        return NULL;
    }
    struct item *i = &s->e->item[s->e->n++];
    i->kind = kind;
    i->at = (size_t)(s->p - s->text);
    return i;
}

static void shift(struct parser *s, char op)
{
    if (s->depth == FIGURE_EXPR_MAX)
        s->why = "too many open parentheses";
    else
        s->stack[s->depth++] = op;
}

/* Move operators that bind at least as tightly as `floor` to the output. */
static void reduce(struct parser *s, int floor)
{
    while (!s->why && s->depth && rank(s->stack[s->depth - 1]) >= floor) {
        struct item *i = emit(s, ITEM_OP);
        if (i) i->op = s->stack[--s->depth];
    }
}

static void read_figure(struct parser *s)
{
    const char *from = s->p;
    struct item *i = emit(s, ITEM_FIGURE);
    if (!i) return;
    while (isalnum((unsigned char)*s->p) || *s->p == '_' || *s->p == '.') s->p++;
    i->name = strndup(from, (size_t)(s->p - from));
    if (*s->p != '[') return;
    const char *end = strchr(s->p, ']');
    if (!end || end == s->p + 1) {
        s->why = end ? "a variant's name is missing between the brackets" : "']' is missing";
        return;
    }
    i->variant = strndup(s->p + 1, (size_t)(end - s->p - 1));
    s->p = end + 1;
}

static void read_number(struct parser *s)
{
    char *end;
    struct item *i = emit(s, ITEM_NUMBER);
    if (!i) return;
    i->number = strtod(s->p, &end);
    if (end == s->p || !isfinite(i->number))
        s->why = "a number, a figure or '(' is needed here";
    else
        s->p = end;
}

/* One operand, or something that may come before it. Returns true when an operator must follow. */
static bool read_operand(struct parser *s)
{
    if (*s->p == '(' || *s->p == '-') {
        shift(s, *s->p == '(' ? '(' : '~');
        s->p += !s->why;
        return false;
    }
    if (isalpha((unsigned char)*s->p) || *s->p == '_')
        read_figure(s);
    else if (isdigit((unsigned char)*s->p) || *s->p == '.')
        read_number(s);
    else
        s->why = "a number, a figure or '(' is needed here";
    return true;
}

/* One operator or ')'. Returns true when an operator must follow again. */
static bool read_operator(struct parser *s)
{
    if (*s->p == ')') {
        reduce(s, 1);
        if (!s->why && !s->depth) s->why = "')' without '('";
        if (!s->why) s->depth--, s->p++;
        return true;
    }
    if (!*s->p || !strchr("+-*/", *s->p)) {
        s->why = "an operator (+ - * /) is needed here";
        return true;
    }
    reduce(s, rank(*s->p));
    if (!s->why) shift(s, *s->p);
    s->p += !s->why;
    return false;
}

struct figure_expr *figure_expr_parse(const char *text, size_t *at, const char **why)
{
    struct parser s = {.text = text, .p = text, .e = calloc(1, sizeof *s.e)};
    WB_MEMORY(s.e, "out of memory for an expression");
    bool operand_seen = false;
    for (;;) {
        while (isspace((unsigned char)*s.p)) s.p++;
        if (!*s.p) break;
        operand_seen = operand_seen ? read_operator(&s) : read_operand(&s);
        if (s.why) break;
    }
    if (!s.why && !operand_seen) s.why = "the expression ends where a number or a figure is needed";
    if (!s.why) reduce(&s, 1);
    if (!s.why && s.depth) s.why = "')' is missing";
    if (!s.why) return s.e;
    *at = (size_t)(s.p - text);
    *why = s.why;
    figure_expr_free(s.e);
    return NULL;
}

void figure_expr_free(struct figure_expr *e)
{
    for (size_t i = 0; e && i < e->n; i++) {
        free(e->item[i].name);
        free(e->item[i].variant);
    }
    free(e);
}

const char *figure_expr_name(const struct figure_expr *e, size_t i, const char **variant, size_t *at)
{
    for (size_t k = 0; k < e->n; k++) {
        if (e->item[k].kind != ITEM_FIGURE || i--) continue;
        *variant = e->item[k].variant;
        *at = e->item[k].at;
        return e->item[k].name;
    }
    return NULL;
}

static double apply(char op, double a, double b)
{
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    default: return b == 0 ? NAN : a / b;
    }
}

double figure_expr_value(const struct figure_expr *e, figure_lookup lookup, void *ctx)
{
    double v[FIGURE_EXPR_MAX] = {0};
    size_t n = 0;
    for (size_t k = 0; k < e->n; k++) {
        const struct item *i = &e->item[k];
        if (i->kind == ITEM_NUMBER)
            v[n++] = i->number;
        else if (i->kind == ITEM_FIGURE)
            v[n++] = lookup(ctx, i->name, i->variant);
        else if (i->op == '~')
            v[n - 1] = -v[n - 1];
        else
            n--, v[n - 1] = apply(i->op, v[n - 1], v[n]);
    }
    WB_CHECK(n == 1, "an expression left %zu values", n);
    return v[0];
}

bool figure_expr_plain(const struct figure_expr *e)
{
    return e->n == 1 && e->item[0].kind == ITEM_FIGURE;
}
