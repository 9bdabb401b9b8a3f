#include "scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One text being read; includes stack up. */
struct source {
    struct lexer lex;
    size_t copied;   /* how much of it is in the expanded text */
    int copied_line; /* the line that `copied` is on */
};

struct parser {
    struct arena *arena;
    const struct wb_reader *reader;
    struct wb_diag *d;
    bool *broken;
    bool by_indent; /* braces do not balance: believe the indentation where they disagree */
    struct source source[SCAN_INCLUDE_MAX + 1];
    size_t depth;
    struct scan_node *root, *cur; /* cur: the open group, list or array */
    size_t level, values;
    bool after; /* in a list: a value was just read */
    bool too_big;
    size_t errors; /* in d before */
    struct scan_expanded *out;
};

void *scan_new(struct arena *a, size_t n, size_t size)
{
    void *p = arena_alloc(a, n, size, 16);
    WB_MEMORY(p, "out of memory while loading a scenario");
    return p;
}

char *scan_strdup(struct arena *a, const char *text, size_t len)
{
    char *p = arena_strdup(a, text, len);
    WB_MEMORY(p, "out of memory while loading a scenario");
    return p;
}

char *scan_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = wb_vtext(fmt, ap);
    va_end(ap);
    char *copy = scan_strdup(a, text, strlen(text));
    free(text);
    return copy;
}

const char *scan_kind_name(enum scan_kind k)
{
    static const char *const name[] = {"a group { }", "a list ( )",    "an array [ ]", "a string",
                                       "an integer",  "a real number", "true/false"};
    return name[k];
}

struct wb_place scan_place_in(const struct scan_node *s, size_t offset, size_t len)
{
    struct wb_place at = s->at;
    if (s->kind != SCAN_STRING || !s->plain || !at.file) return at;
    at.col += 1 + (int)offset;
    at.len = (int)WB_MAX(len, (size_t)1);
    return at;
}

static void fail(struct parser *p, const char *code, struct wb_place at, const char *fix, const char *text)
{
    *p->broken = true;
    wb_diag_add(p->d, WB_ERROR, code, at, fix, "%s", text);
}

/* A file with so many mistakes is no scenario; the rest of it is not looked at. */
static bool hopeless(struct parser *p)
{
    if (p->too_big || wb_diag_count(p->d, WB_ERROR) - p->errors <= SCAN_ERRORS_MAX) return p->too_big;
    p->too_big = true;
    fail(p, "E112",
         p->source[p->depth - 1].lex.file ? (struct wb_place){p->source[p->depth - 1].lex.file, 0, 0, 0}
                                          : (struct wb_place){0},
         "is it a scenario at all?", "too many mistakes; the rest was not looked at");
    return true;
}

/* ---- the text that libconfig gets ---- */

static void make_room(struct scan_expanded *x, size_t more)
{
    if (x->len + more > x->cap) {
        x->cap = (x->len + more) * 2;
        x->text = realloc(x->text, x->cap);
        WB_MEMORY(x->text, "out of memory while loading a scenario");
    }
    if (x->segments < x->segments_cap) return;
    x->segments_cap = x->segments_cap * 2 + 8;
    x->segment = realloc(x->segment, x->segments_cap * sizeof *x->segment);
    WB_MEMORY(x->segment, "out of memory while loading a scenario");
}

/* Append what lies between the last copy and `to`. */
static void expand(struct scan_expanded *x, struct source *s, size_t to)
{
    if (!x) return;
    size_t n = to - s->copied;
    make_room(x, n + 2);
    x->segment[x->segments++] = (struct scan_segment){x->lines + 1, s->lex.file, s->copied_line};
    memcpy(x->text + x->len, s->lex.text + s->copied, n);
    for (size_t i = 0; i < n; i++) s->copied_line += s->lex.text[s->copied + i] == '\n';
    for (size_t i = 0; i < n; i++) x->lines += x->text[x->len + i] == '\n';
    x->lines++;
    x->len += n;
    x->text[x->len++] = '\n'; /* a comment at the very end would be a syntax error for libconfig */
    x->text[x->len] = '\0';
    s->copied = to;
}

/* ---- sources ---- */

static const char *beside(struct parser *p, const char *file, const char *name)
{
    const char *slash = strrchr(file, '/');
    if (name[0] == '/' || !slash) return name;
    return scan_printf(p->arena, "%.*s/%s", (int)(slash - file), file, name);
}

/* Is it text at all? What is not is reported once and not looked into. */
static bool admit(struct parser *p, const char *file, const char *text, size_t len)
{
    if (len >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2))) {
        fail(p, "E103", (struct wb_place){file, 1, 1, 1}, "save it as UTF-8", "this is UTF-16 text");
        return false;
    }
    const char *nul = memchr(text, '\0', len);
    if (!nul) return true;
    int line = 1, col = 1;
    for (const char *c = text; c < nul; c++) {
        line += *c == '\n';
        col = *c == '\n' ? 1 : col + 1;
    }
    fail(p, "E103", (struct wb_place){file, line, col, 1}, "a scenario is plain text", "the file holds a NUL byte");
    return false;
}

static void push_source(struct parser *p, const char *file, const char *text, size_t len,
                        const struct wb_place *includer)
{
    if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) text += 3, len -= 3; /* a byte-order mark */
    wb_diag_source(p->d, file, text, len, includer);
    if (!admit(p, file, text, len)) len = 0;
    p->source[p->depth++] = (struct source){
        .copied_line = 1,
        .lex = {.file = file, .text = text, .len = len, .line = 1, .arena = p->arena, .d = p->d, .broken = p->broken},
    };
}

static bool included_already(const struct parser *p, const char *file)
{
    for (size_t i = 0; i < p->depth; i++)
        if (!strcmp(p->source[i].lex.file, file)) return true;
    return false;
}

static void include(struct parser *p, const struct token *t)
{
    struct source *s = &p->source[p->depth - 1];
    bool plain = true;
    const char *name = lex_decode(p->arena, t->text, t->len, &plain);
    const char *file = beside(p, s->lex.file, name), *why = NULL;
    expand(p->out, s, WB_MAX(s->lex.line_start, s->copied));
    s->copied = s->lex.pos;
    if (included_already(p, file)) {
        fail(p, "E110", t->at, "remove one of the two", scan_printf(p->arena, "'%s' includes itself", name));
        return;
    }
    if (p->depth > SCAN_INCLUDE_MAX) {
        fail(p, "E110", t->at, "put the text into fewer files", "more than 10 files include each other");
        return;
    }
    char *text;
    size_t len;
    if (p->reader->read(p->reader->ctx, file, &text, &len, &why) < 0) {
        fail(p, "E111", t->at, "the path is relative to the folder of the file that includes it",
             scan_printf(p->arena, "cannot include '%s': %s", name, why));
        return;
    }
    const char *kept = scan_strdup(p->arena, text, len);
    free(text);
    push_source(p, file, kept, len, &t->at);
}

/* Next token across includes. */
static struct token take(struct parser *p)
{
    for (;;) {
        struct source *s = &p->source[p->depth - 1];
        struct token t = lex_next(&s->lex);
        if (t.kind == TOKEN_INCLUDE && !hopeless(p)) {
            include(p, &t);
            continue;
        }
        if (t.kind != TOKEN_END || p->depth == 1) return t;
        expand(p->out, s, s->lex.len);
        p->depth--;
    }
}

/* Next token of the same text, without taking it. */
static struct token peek(const struct parser *p, size_t ahead)
{
    struct lexer copy = p->source[p->depth - 1].lex;
    bool ignored = false;
    copy.d = NULL;
    copy.broken = &ignored;
    struct token t = lex_next(&copy);
    while (ahead-- > 0 && t.kind != TOKEN_END) t = lex_next(&copy);
    return t;
}

/* ---- the tree ---- */

static struct scan_node *add(struct parser *p, enum scan_kind kind, const struct token *value, const struct token *key)
{
    struct scan_node *n = scan_new(p->arena, 1, sizeof *n), *parent = p->cur;
    *n = (struct scan_node){.kind = kind, .at = value->at, .key_at = key ? key->at : value->at, .parent = parent};
    if (key) n->name = scan_strdup(p->arena, key->text, key->len);
    if (parent->last)
        parent->last->next = n;
    else
        parent->first = n;
    parent->last = n;
    parent->n++;
    p->values++;
    if (p->values > SCAN_VALUES_MAX && !p->too_big) {
        p->too_big = true;
        fail(p, "E112", value->at, "split the file", "more than 200000 values in one scenario");
    }
    return n;
}

static void open_node(struct parser *p, enum scan_kind kind, const struct token *value, const struct token *key)
{
    p->cur = add(p, kind, value, key);
    p->cur->closer = kind == SCAN_GROUP ? '}' : kind == SCAN_LIST ? ')' : ']';
    p->after = false;
    if (++p->level <= SCAN_DEPTH_MAX || p->too_big) return;
    p->too_big = true;
    fail(p, "E112", value->at, "flatten it", "more than 32 groups or lists inside each other");
}

static void leave(struct parser *p)
{
    if (p->cur->parent->kind == SCAN_GROUP && peek(p, 0).kind == TOKEN_SEMICOLON)
        (void)take(p);
    else if (p->cur->parent->kind == SCAN_GROUP && peek(p, 0).kind == TOKEN_COMMA)
        (void)take(p);
    p->cur = p->cur->parent;
    p->level--;
    p->after = true;
}

/* A string and the literals right behind it: libconfig joins them. */
static void add_string(struct parser *p, const struct token *t, const struct token *key)
{
    struct scan_node *n = add(p, SCAN_STRING, t, key);
    n->plain = true;
    n->text = lex_decode(p->arena, t->text, t->len, &n->plain);
    if (peek(p, 0).kind != TOKEN_STRING) return;
    n->plain = false;
    char *whole = NULL;
    size_t len;
    FILE *out = open_memstream(&whole, &len);
    WB_MEMORY(out, "out of memory while loading a scenario");
    fputs(n->text, out);
    while (peek(p, 0).kind == TOKEN_STRING) {
        struct token more = take(p);
        fputs(lex_decode(p->arena, more.text, more.len, &n->plain), out);
    }
    fclose(out);
    n->text = scan_strdup(p->arena, whole, len);
    free(whole);
}

static bool add_scalar(struct parser *p, const struct token *t, const struct token *key)
{
    struct scan_node *n;
    switch (t->kind) {
    case TOKEN_STRING: add_string(p, t, key); return true;
    case TOKEN_INT:
        n = add(p, SCAN_INT, t, key);
        n->num = lex_integer(t->text, t->len, &n->wraps);
        break;
    case TOKEN_FLOAT: n = add(p, SCAN_FLOAT, t, key); break;
    case TOKEN_BOOL:
        n = add(p, SCAN_BOOL, t, key);
        n->num = (t->text[0] | 0x20) == 't';
        break;
    default: return false;
    }
    n->text = scan_strdup(p->arena, t->text, t->len);
    return true;
}

static bool add_aggregate(struct parser *p, const struct token *t, const struct token *key)
{
    switch (t->kind) {
    case TOKEN_OPEN_GROUP: open_node(p, SCAN_GROUP, t, key); return true;
    case TOKEN_OPEN_LIST: open_node(p, SCAN_LIST, t, key); return true;
    case TOKEN_OPEN_ARRAY: open_node(p, SCAN_ARRAY, t, key); return true;
    default: return false;
    }
}

/* ---- recovery ---- */

static bool starts_setting(const struct parser *p)
{
    return peek(p, 0).kind == TOKEN_NAME && peek(p, 0).first_on_line && peek(p, 1).kind == TOKEN_ASSIGN;
}

/* Skip the rest of a setting that makes no sense: to its ';', the end of its group, or the next line that is a
 * setting. */
static void resync(struct parser *p)
{
    size_t inside = 0;
    for (;;) {
        struct token t = peek(p, 0);
        bool opens = t.kind == TOKEN_OPEN_GROUP || t.kind == TOKEN_OPEN_LIST || t.kind == TOKEN_OPEN_ARRAY;
        bool closes = t.kind == TOKEN_CLOSE_GROUP || t.kind == TOKEN_CLOSE_LIST || t.kind == TOKEN_CLOSE_ARRAY;
        if (t.kind == TOKEN_END || t.kind == TOKEN_INCLUDE) return;
        if (closes && !inside) return;
        if (!inside && p->cur->kind == SCAN_GROUP && starts_setting(p)) return;
        if (!inside && p->cur->kind != SCAN_GROUP && t.kind == TOKEN_COMMA) return;
        inside += opens;
        inside -= closes;
        (void)take(p);
        if (!inside && p->cur->kind == SCAN_GROUP && t.kind == TOKEN_SEMICOLON) return;
    }
}

/* ---- grammar ---- */

static bool closes(const struct token *t, const struct scan_node *open)
{
    return t->text[0] == open->closer;
}

static char opener_of(const struct scan_node *n)
{
    return n->closer == '}' ? '{' : n->closer == ')' ? '(' : '[';
}

static void close_node(struct parser *p, const struct token *t)
{
    if (p->cur != p->root && closes(t, p->cur)) {
        leave(p);
        return;
    }
    /* The bracket of an outer level: the inner one was forgotten. */
    for (struct scan_node *n = p->cur; n != p->root; n = n->parent) {
        if (!closes(t, n)) continue;
        while (p->cur != n) {
            char *what = scan_printf(p->arena, "this '%c' is not closed before the '%c' on line %d", opener_of(p->cur),
                                     t->text[0], t->at.line);
            fail(p, "E109", p->cur->at, scan_printf(p->arena, "close it with '%c'", p->cur->closer), what);
            p->cur = p->cur->parent;
            p->level--;
        }
        leave(p);
        return;
    }
    fail(p, "E109", t->at, "remove it", scan_printf(p->arena, "'%c' closes nothing", t->text[0]));
    if (peek(p, 0).kind == TOKEN_SEMICOLON) (void)take(p);
}

/* Braces do not balance and this key stands no deeper than the name of the open group: that one lacks its bracket. */
static void close_by_indent(struct parser *p, const struct token *t)
{
    if (!p->by_indent || !t->first_on_line) return;
    while (p->cur != p->root && p->cur->key_at.file == t->at.file && p->cur->key_at.col >= t->at.col) {
        fail(p, "E109", p->cur->at,
             scan_printf(p->arena, "close it with '%c' before line %d", p->cur->closer, t->at.line),
             scan_printf(p->arena, "this '%c' is never closed", opener_of(p->cur)));
        p->cur = p->cur->parent;
        p->level--;
    }
}

static void setting(struct parser *p, const struct token *key)
{
    if (peek(p, 0).kind != TOKEN_ASSIGN) {
        fail(p, "E101", key->at,
             scan_printf(p->arena, "write %.*s = VALUE;", (int)WB_MIN(key->len, (size_t)60), key->text),
             scan_printf(p->arena, "'=' is missing after '%.*s'", (int)WB_MIN(key->len, (size_t)60), key->text));
        resync(p);
        return;
    }
    (void)take(p);
    struct token ahead = peek(p, 0);
    if ((ahead.kind == TOKEN_NAME && peek(p, 1).kind == TOKEN_ASSIGN) || ahead.kind == TOKEN_SEMICOLON ||
        ahead.kind == TOKEN_CLOSE_GROUP || ahead.kind == TOKEN_END) {
        fail(p, "E101", key->at,
             scan_printf(p->arena, "write %.*s = VALUE;", (int)WB_MIN(key->len, (size_t)60), key->text),
             scan_printf(p->arena, "'%.*s' has no value", (int)WB_MIN(key->len, (size_t)60), key->text));
        if (ahead.kind == TOKEN_SEMICOLON) (void)take(p);
        return;
    }
    struct token v = take(p);
    if (add_aggregate(p, &v, key)) return;
    if (!add_scalar(p, &v, key)) {
        if (v.kind == TOKEN_NAME)
            fail(p, "E107", v.at, scan_printf(p->arena, "write \"%.*s\"", (int)WB_MIN(v.len, (size_t)60), v.text),
                 "text is written in double quotes");
        else if (v.kind != TOKEN_BAD)
            fail(p, "E101", v.at, NULL, scan_printf(p->arena, "'%c' is no value", v.text[0]));
        resync(p);
        return;
    }
    enum token_kind end = peek(p, 0).kind;
    if (end == TOKEN_SEMICOLON || end == TOKEN_COMMA) (void)take(p);
}

static void in_group(struct parser *p, const struct token *t)
{
    switch (t->kind) {
    case TOKEN_NAME:
        close_by_indent(p, t);
        if (p->cur->kind != SCAN_GROUP) return; /* cannot be: indentation closes groups and lists alike */
        setting(p, t);
        return;
    case TOKEN_CLOSE_GROUP:
    case TOKEN_CLOSE_LIST:
    case TOKEN_CLOSE_ARRAY: close_node(p, t); return;
    case TOKEN_BAD: resync(p); return;
    case TOKEN_STRING:
        fail(p, "E101", t->at, "names of keys are written without quotes", "a string stands where a key should");
        break;
    case TOKEN_SEMICOLON:
    case TOKEN_COMMA:
        fail(p, "E101", t->at, "remove it", scan_printf(p->arena, "'%c' ends nothing", t->text[0]));
        return;
    default:
        fail(p, "E101", t->at, "a setting is written: key = value;",
             scan_printf(p->arena, "'%.*s' stands where a key should", (int)WB_MIN(t->len, (size_t)20), t->text));
    }
    resync(p);
}

static const char *mixed(const struct scan_node *array, enum scan_kind second)
{
    enum scan_kind first = array->first->kind;
    if (first == second) return NULL;
    if ((first == SCAN_INT && second == SCAN_FLOAT) || (first == SCAN_FLOAT && second == SCAN_INT))
        return "array mixes integer and real values; use a list: ( 1, 2.5 )";
    return "array mixes values of different types; use a list: ( 1, \"a\" )";
}

static void element(struct parser *p, const struct token *t)
{
    if (p->cur->kind == SCAN_ARRAY &&
        (t->kind == TOKEN_OPEN_GROUP || t->kind == TOKEN_OPEN_LIST || t->kind == TOKEN_OPEN_ARRAY)) {
        fail(p, "E113", t->at, "use a list: ( ... )", "an array [ ] holds plain values only");
        p->cur->kind = SCAN_LIST; /* as was meant */
        p->cur->closer = ']';
        (void)add_aggregate(p, t, NULL);
        return;
    }
    if (add_aggregate(p, t, NULL)) return;
    if (add_scalar(p, t, NULL)) {
        const char *text = p->cur->kind == SCAN_ARRAY ? mixed(p->cur, p->cur->last->kind) : NULL;
        if (text) fail(p, "E113", p->cur->last->at, NULL, text);
    } else if (t->kind == TOKEN_NAME) {
        fail(p, "E107", t->at, scan_printf(p->arena, "write \"%.*s\"", (int)WB_MIN(t->len, (size_t)60), t->text),
             "text is written in double quotes");
    } else if (t->kind != TOKEN_BAD) {
        fail(p, "E101", t->at, NULL, scan_printf(p->arena, "'%c' is no value", t->text[0]));
    }
    p->after = true;
}

/* Separators: one message for a list, however many are wrong. */
static void separator(struct parser *p, const struct token *t, const char *fix, const char *what)
{
    if (!p->cur->told) fail(p, "E101", t->at, fix, what);
    p->cur->told = true;
}

static void comma(struct parser *p, const struct token *t)
{
    enum token_kind next = peek(p, 0).kind;
    bool trailing = next == TOKEN_CLOSE_LIST || next == TOKEN_CLOSE_ARRAY;
    if (!p->after || trailing) separator(p, t, "remove it", "a value is missing beside this comma");
    p->after = trailing;
}

static void semicolon(struct parser *p, const struct token *t)
{
    struct token next = peek(p, 0);
    p->after = false;
    /* Behind it comes a setting further left: the list was not closed, and that is what will be said. */
    if (p->by_indent && next.kind == TOKEN_NAME && next.first_on_line && next.at.col <= p->cur->key_at.col) return;
    separator(p, t, "write ','", "entries of a list are separated by ',', not ';'");
}

/* "( key = value )": the braces of the entry were forgotten. */
static void setting_in_list(struct parser *p, const struct token *t)
{
    fail(p, "E101", t->at, "put the settings of one entry into braces: ( { key = value; } )",
         "a list holds values, not settings");
    for (size_t inside = 0;;) {
        enum token_kind k = peek(p, 0).kind;
        bool opens = k == TOKEN_OPEN_GROUP || k == TOKEN_OPEN_LIST || k == TOKEN_OPEN_ARRAY;
        bool shuts = k == TOKEN_CLOSE_GROUP || k == TOKEN_CLOSE_LIST || k == TOKEN_CLOSE_ARRAY;
        if (k == TOKEN_END || k == TOKEN_INCLUDE || (shuts && !inside)) return;
        inside += opens;
        inside -= shuts;
        (void)take(p);
    }
}

static void in_list(struct parser *p, const struct token *t)
{
    bool is_setting = t->kind == TOKEN_NAME && peek(p, 0).kind == TOKEN_ASSIGN;
    if (t->kind == TOKEN_CLOSE_GROUP || t->kind == TOKEN_CLOSE_LIST || t->kind == TOKEN_CLOSE_ARRAY) {
        close_node(p, t);
        return;
    }
    if (is_setting) close_by_indent(p, t);
    if (is_setting && p->cur->kind == SCAN_GROUP)
        setting(p, t);
    else if (is_setting)
        setting_in_list(p, t);
    else if (t->kind == TOKEN_COMMA)
        comma(p, t);
    else if (t->kind == TOKEN_SEMICOLON)
        semicolon(p, t);
    else {
        if (p->after) separator(p, t, "put a ',' before it", "',' is missing between two entries of a list");
        element(p, t);
    }
}

static void unclosed(struct parser *p)
{
    if (p->source[0].lex.cut) return;
    for (struct scan_node *n = p->cur; n != p->root; n = n->parent) {
        fail(p, "E109", n->at, scan_printf(p->arena, "close it with '%c'", n->closer),
             scan_printf(p->arena, "this '%c' is never closed", opener_of(n)));
    }
}

static void parse(struct parser *p)
{
    for (;;) {
        struct token t = take(p);
        if (hopeless(p)) return;
        if (t.kind == TOKEN_END) break;
        if (p->cur->kind == SCAN_GROUP)
            in_group(p, &t);
        else
            in_list(p, &t);
    }
    expand(p->out, &p->source[0], p->source[0].lex.len);
    unclosed(p);
}

/* ---- after the text ---- */

struct by_name {
    const struct scan_node *node;
    size_t order;
};

static int compare_names(const void *a, const void *b)
{
    const struct by_name *x = a, *y = b;
    int c = strcmp(x->node->name, y->node->name);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static void find_doubles(struct parser *p, const struct scan_node *group)
{
    if (group->n < 2 || hopeless(p)) return;
    if (group->n > SCAN_KEYS_MAX) {
        fail(p, "E112", group->at, "use a list", "more than 4096 keys in one group");
        return;
    }
    struct by_name *sorted = scan_new(p->arena, group->n, sizeof *sorted);
    size_t i = 0;
    for (const struct scan_node *n = group->first; n; n = n->next, i++) sorted[i] = (struct by_name){n, i};
    qsort(sorted, group->n, sizeof *sorted, compare_names);
    for (i = 1; i < group->n; i++) {
        const struct scan_node *first = sorted[i - 1].node, *n = sorted[i].node;
        if (strcmp(first->name, n->name) || hopeless(p)) continue;
        fail(p, "E114", n->key_at, "keep one of the two",
             scan_printf(p->arena, "'%s' is set twice; first on line %d", n->name, first->key_at.line));
    }
}

static void find_all_doubles(struct parser *p)
{
    struct scan_node *n = p->root;
    while (n) {
        if (n->kind == SCAN_GROUP) find_doubles(p, n);
        if (n->first) {
            n = n->first;
            continue;
        }
        while (n && !n->next) n = n->parent;
        if (n) n = n->next;
    }
}

/* Do { } ( ) [ ] pair up? Decides how unclosed ones are found, before anything is reported. */
static bool balanced(const char *text, size_t len)
{
    struct arena scratch;
    arena_init(&scratch, "scan");
    bool ignored = false, ok = true;
    struct lexer l = {.file = "", .text = text, .len = len, .line = 1, .arena = &scratch, .broken = &ignored};
    long depth = 0;
    for (struct token t = lex_next(&l); t.kind != TOKEN_END && ok; t = lex_next(&l)) {
        if (t.kind == TOKEN_OPEN_GROUP || t.kind == TOKEN_OPEN_LIST || t.kind == TOKEN_OPEN_ARRAY) depth++;
        if (t.kind == TOKEN_CLOSE_GROUP || t.kind == TOKEN_CLOSE_LIST || t.kind == TOKEN_CLOSE_ARRAY) depth--;
    }
    arena_free(&scratch);
    return depth <= 0;
}

struct scan_node *scan_text(struct arena *a, const struct wb_reader *reader, const char *file, const char *text,
                            size_t len, struct wb_diag *d, bool *broken)
{
    struct scan_expanded expanded = {0};
    struct parser p = {.arena = a, .reader = reader, .d = d, .broken = broken, .out = &expanded};
    struct scan_node *root = scan_new(a, 1, sizeof *root);
    const char *name = scan_strdup(a, file, strlen(file)), *kept = scan_strdup(a, text, len);
    *root = (struct scan_node){.kind = SCAN_GROUP, .at = {name, 1, 1, 1}, .key_at = {name, 1, 1, 1}};
    p.root = p.cur = root;
    p.errors = wb_diag_count(d, WB_ERROR);
    *broken = false;
    p.by_indent = !balanced(kept, len);
    push_source(&p, name, kept, len, NULL);
    parse(&p);
    if (!p.too_big) find_all_doubles(&p);
    if (!*broken && scan_ask_libconfig(a, &expanded, root, d) < 0) *broken = true;
    free(expanded.text);
    free(expanded.segment);
    return root;
}

struct scan_node *scan_value(struct arena *a, const char *text, struct wb_place at)
{
    static const struct wb_reader nothing = {0};
    struct wb_diag *quiet = wb_diag_new();
    bool broken = false;
    char *whole = scan_printf(a, "v = %s;", text);
    struct parser p = {.arena = a, .reader = &nothing, .d = quiet, .broken = &broken};
    struct scan_node *root = scan_new(a, 1, sizeof *root);
    p.root = p.cur = root;
    if (!strchr(text, '@')) {
        push_source(&p, "", whole, strlen(whole), NULL);
        parse(&p);
    }
    wb_diag_free(quiet);
    if (broken || root->n != 1 || root->first->kind == SCAN_GROUP) return NULL;
    struct scan_node *n = root->first;
    while (n) { /* the places of the command line are not columns of a file */
        n->at = n->key_at = at;
        n->plain = false;
        if (n->first) {
            n = n->first;
            continue;
        }
        while (n != root->first && !n->next) n = n->parent;
        n = n == root->first ? NULL : n->next;
    }
    return root->first;
}
