#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_name_start(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '*' || c == '_';
}
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static bool is_name(char c)
{
    return is_name_start(c) || is_digit(c) || c == '-';
}
static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

static char look(const struct lexer *l, size_t ahead)
{
    return l->pos + ahead < l->len ? l->text[l->pos + ahead] : '\0';
}

static void step(struct lexer *l)
{
    if (l->text[l->pos++] != '\n') return;
    l->line++;
    l->line_start = l->pos;
}

static struct wb_place place(const struct lexer *l, size_t from, size_t len)
{
    size_t col = from >= l->line_start ? from - l->line_start + 1 : 1;
    return (struct wb_place){l->file, l->line, (int)col, (int)WB_MIN(len, (size_t)4096)};
}

static void complain(struct lexer *l, const char *code, struct wb_place at, const char *fix, const char *what)
{
    *l->broken = true;
    if (l->d) wb_diag_add(l->d, WB_ERROR, code, at, fix, "%s", what);
}

/* Past a comment that starts here. False when there is none. */
static bool skip_comment(struct lexer *l)
{
    if (look(l, 0) == '#' || (look(l, 0) == '/' && look(l, 1) == '/')) {
        while (l->pos < l->len && l->text[l->pos] != '\n') l->pos++;
        return true;
    }
    if (look(l, 0) != '/' || look(l, 1) != '*') return false;
    struct wb_place open = place(l, l->pos, 2);
    l->pos += 2;
    while (l->pos < l->len && !(look(l, 0) == '*' && look(l, 1) == '/')) step(l);
    if (l->pos < l->len) {
        l->pos += 2;
        return true;
    }
    l->cut = true;
    complain(l, "E104", open, "end it with */", "comment is never closed");
    return true;
}

static void skip_space(struct lexer *l)
{
    while (l->pos < l->len) {
        if (is_blank(l->text[l->pos]) || l->text[l->pos] == '\n')
            step(l);
        else if (!skip_comment(l))
            return;
    }
}

static bool only_blanks_before(const struct lexer *l)
{
    for (size_t i = l->line_start; i < l->pos; i++)
        if (!is_blank(l->text[i])) return false;
    return true;
}

static struct token lex_string(struct lexer *l, struct token t)
{
    t.kind = TOKEN_STRING;
    l->pos++;
    size_t from = l->pos;
    while (l->pos < l->len && l->text[l->pos] != '"') {
        if (l->text[l->pos] == '\\' && l->pos + 1 < l->len) step(l);
        step(l);
    }
    t.text = l->text + from;
    t.len = l->pos - from;
    if (l->pos >= l->len) {
        t.at.len = 1;
        l->cut = true;
        /* After a forgotten quote all strings are inside out, and only the last one has no end. */
        complain(l, "E105", t.at,
                 l->wide ? scan_printf(l->arena, "end it with \", or the string that runs on from line %d", l->wide)
                         : "end it with \"",
                 "string is never closed");
        t.kind = TOKEN_BAD;
        return t;
    }
    l->pos++;
    if (t.at.line == l->line)
        t.at.len = (int)WB_MIN(t.len + 2, (size_t)4096);
    else if (!l->wide)
        l->wide = t.at.line;
    return t;
}

static struct token lex_include(struct lexer *l, struct token t)
{
    static const char fix[] = "write it alone on its line: @include \"file.cfg\"";
    bool alone = only_blanks_before(l);
    size_t word = 0;
    while (is_name(look(l, 1 + word))) word++;
    bool known = word == 7 && !memcmp(l->text + l->pos + 1, "include", 7);
    t.kind = TOKEN_BAD;
    t.at.len = (int)word + 1;
    l->pos += word + 1;
    if (!known) {
        complain(l, "E106", t.at, fix, "the only word after '@' is 'include'");
        return t;
    }
    while (is_blank(look(l, 0))) l->pos++;
    if (look(l, 0) != '"' || !alone) {
        complain(l, "E106", t.at, fix, "@include needs a line of its own and a file name in quotes");
        while (l->pos < l->len && l->text[l->pos] != '\n') l->pos++;
        return t;
    }
    struct token s = lex_string(l, (struct token){.at = place(l, l->pos, 1)});
    if (s.kind == TOKEN_BAD) return s;
    if (s.at.line != l->line) {
        complain(l, "E106", s.at, fix, "the file name of @include runs over the end of the line");
        return t;
    }
    s.kind = TOKEN_INCLUDE;
    return s;
}

/* Integer, float, or something that only looks like one ("64KiB"): digits and what sticks to them. */
static bool is_integer(const char *s, size_t n)
{
    size_t i = 0, digits = 0;
    bool hex = n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    if (hex)
        i = 2;
    else if (n && (s[0] == '-' || s[0] == '+'))
        i = 1;
    for (; i < n; i++, digits++) {
        char c = s[i];
        if (!is_digit(c) && !(hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))) break;
    }
    while (i < n && s[i] == 'L' && n - i <= 2) i++;
    return digits > 0 && i == n;
}

static bool is_float(const char *s, size_t n)
{
    size_t i = 0, digits = 0;
    bool point = false, exponent = false;
    if (n && (s[0] == '-' || s[0] == '+')) i = 1;
    for (; i < n && (is_digit(s[i]) || (s[i] == '.' && !point)); i++) {
        if (s[i] == '.')
            point = true;
        else
            digits++;
    }
    if (digits && i < n && (s[i] == 'e' || s[i] == 'E')) {
        exponent = true;
        i++;
        if (i < n && (s[i] == '-' || s[i] == '+')) i++;
        size_t from = i;
        while (i < n && is_digit(s[i])) i++;
        if (i == from) return false;
    }
    return digits > 0 && (point || exponent) && i == n;
}

static bool sticks(const struct lexer *l, size_t from)
{
    char c = look(l, 0), before = l->pos > from ? l->text[l->pos - 1] : '\0';
    if (is_digit(c) || is_name_start(c) || c == '.' || c == '%') return true;
    bool exponent = before == 'e' || before == 'E';
    return (c == '+' || c == '-') && (l->pos == from || exponent);
}

/* "64 KiB" without quotes: how far a unit after the number reaches; 0 when the word is the next key. */
static size_t unit_behind(const struct lexer *l)
{
    size_t i = 0;
    while (look(l, i) == ' ' || look(l, i) == '\t') i++;
    size_t word = i;
    if (!is_name_start(look(l, i)) && look(l, i) != '%') return 0;
    for (char c = look(l, i); is_name(c) || c == '/' || c == '%'; c = look(l, i)) {
        if (c == '/' && (look(l, i + 1) == '/' || look(l, i + 1) == '*')) break;
        i++;
    }
    if (i == word) return 0; /* a comment */
    size_t end = i;
    while (look(l, i) == ' ' || look(l, i) == '\t') i++;
    return look(l, i) == '=' || look(l, i) == ':' ? 0 : end;
}

static struct token lex_number(struct lexer *l, struct token t)
{
    size_t from = l->pos;
    while (sticks(l, from)) l->pos++;
    l->pos += unit_behind(l);
    t.text = l->text + from;
    t.len = l->pos - from;
    t.at.len = (int)WB_MIN(t.len, (size_t)4096);
    if (is_integer(t.text, t.len)) {
        t.kind = TOKEN_INT;
    } else if (is_float(t.text, t.len)) {
        t.kind = TOKEN_FLOAT;
    } else {
        t.kind = TOKEN_BAD;
        char *fix = scan_printf(l->arena, "write it in quotes: \"%.*s\"", (int)WB_MIN(t.len, (size_t)60), t.text);
        complain(l, "E107", t.at, fix,
                 is_digit(t.text[0]) ? "a quantity with a unit is a string" : "this is no number");
    }
    return t;
}

static bool word_is(const struct token *t, const char *word)
{
    if (strlen(word) != t->len) return false;
    for (size_t i = 0; i < t->len; i++)
        if ((t->text[i] | 0x20) != word[i]) return false;
    return true;
}

static struct token lex_word(struct lexer *l, struct token t)
{
    t.text = l->text + l->pos;
    while (is_name(look(l, 0))) l->pos++;
    t.len = (size_t)(l->text + l->pos - t.text);
    t.at.len = (int)WB_MIN(t.len, (size_t)4096);
    t.kind = word_is(&t, "true") || word_is(&t, "false") ? TOKEN_BOOL : TOKEN_NAME;
    if (t.text[0] == '_') {
        complain(l, "E108", t.at, "names start with a letter", "a name cannot start with '_'");
        t.kind = TOKEN_BAD;
    }
    return t;
}

static const struct {
    char c;
    enum token_kind kind;
} punctuation[] = {
    {'=', TOKEN_ASSIGN},     {':', TOKEN_ASSIGN},      {';', TOKEN_SEMICOLON}, {',', TOKEN_COMMA},
    {'{', TOKEN_OPEN_GROUP}, {'}', TOKEN_CLOSE_GROUP}, {'(', TOKEN_OPEN_LIST}, {')', TOKEN_CLOSE_LIST},
    {'[', TOKEN_OPEN_ARRAY}, {']', TOKEN_CLOSE_ARRAY},
};

static struct token lex_other(struct lexer *l, struct token t)
{
    unsigned char c = (unsigned char)l->text[l->pos];
    for (size_t i = 0; i < WB_ARRAY_SIZE(punctuation); i++) {
        if (c != (unsigned char)punctuation[i].c) continue;
        t.kind = punctuation[i].kind;
        l->pos++;
        return t;
    }
    t.kind = TOKEN_BAD;
    char *what = c > 0x20 && c < 0x7f ? scan_printf(l->arena, "'%c' means nothing here", c)
                                      : scan_printf(l->arena, "byte 0x%02x means nothing here", c);
    const char *fix = c == '\'' ? "strings are written in double quotes: \"text\"" : "text belongs in double quotes";
    complain(l, "E108", t.at, fix, what);
    /* One message for a run of them: a pasted paragraph is one mistake. */
    while (l->pos < l->len && l->text[l->pos] != '\n' && l->text[l->pos] != ';') l->pos++;
    return t;
}

struct token lex_next(struct lexer *l)
{
    skip_space(l);
    struct token t = {.kind = TOKEN_END, .at = place(l, l->pos, 1), .text = l->text + l->pos};
    if (l->pos >= l->len) return t;
    t.first_on_line = only_blanks_before(l);
    t.len = 1;
    char c = l->text[l->pos];
    if (c == '"') return lex_string(l, t);
    if (c == '@') return lex_include(l, t);
    if (is_name_start(c)) return lex_word(l, t);
    if (is_digit(c) || c == '.' || c == '-' || c == '+') return lex_number(l, t);
    return lex_other(l, t);
}

static int hex_digit(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

char *lex_decode(struct arena *a, const char *text, size_t len, bool *plain)
{
    static const char from[] = "nrtf\\\"", to[] = "\n\r\t\f\\\"";
    char *out = scan_new(a, len + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '\n') *plain = false;
        if (c != '\\' || i + 1 >= len) {
            out[n++] = c;
            continue;
        }
        *plain = false;
        const char *known = text[i + 1] ? strchr(from, text[i + 1]) : NULL;
        if (known) {
            out[n++] = to[known - from];
            i++;
        } else if ((text[i + 1] == 'x' || text[i + 1] == 'X') && i + 3 < len && hex_digit(text[i + 2]) >= 0 &&
                   hex_digit(text[i + 3]) >= 0) {
            out[n++] = (char)(hex_digit(text[i + 2]) * 16 + hex_digit(text[i + 3]));
            i += 3;
        } else {
            out[n++] = c; /* libconfig keeps an unknown escape as it stands */
        }
    }
    out[n] = '\0';
    return out;
}

int64_t lex_integer(const char *text, size_t len, bool *wraps)
{
    char buf[64];
    bool hex = len > 1 && (text[1] == 'x' || text[1] == 'X'), wide = text[len - 1] == 'L';
    *wraps = false;
    while (len && text[len - 1] == 'L') len--;
    if (len >= sizeof buf) {
        *wraps = true;
        return INT64_MAX;
    }
    memcpy(buf, text, len);
    buf[len] = '\0';
    errno = 0;
    long long v = strtoll(buf, NULL, hex ? 16 : 10);
    *wraps = errno == ERANGE || (!wide && (v > INT32_MAX || v < INT32_MIN));
    return v;
}

int64_t lex_wrapped(const char *text, size_t len)
{
    bool wraps, wide = text[len - 1] == 'L';
    int64_t v = lex_integer(text, len, &wraps);
    /* Without L: the low 32 bits of what strtol gives, which saturates. With L it saturates too. */
    return wide ? v : (int64_t)(int32_t)(uint32_t)(uint64_t)v;
}
