/* format.c - see format.h. */
#include "format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64 /* brackets inside each other; deeper ones share the last column */
#define INDENT 2

enum piece_kind {
    PIECE_END,
    PIECE_WORD,
    PIECE_OPEN,
    PIECE_CLOSE,
    PIECE_ASSIGN,
    PIECE_STOP,
    PIECE_COMMENT,
    PIECE_INCLUDE
};

struct piece {
    enum piece_kind kind;
    const char *text;
    size_t len;
    size_t lines;  /* newlines before it */
    size_t column; /* original, from 0; a tab counts as one */
    size_t gap;    /* blanks before it on its line */
};

/* ------------------------------------------------------------------ reading */
struct source {
    const char *p, *end, *line; /* line: begin of the current one */
};

/* A string or comment that never ends: all but the blanks at the end of the text, which are no words. */
static size_t unclosed_length(const struct source *s)
{
    const char *q = s->end;
    while (q > s->p + 1 && strchr(" \t\r\n\f\v", q[-1])) q--;
    return (size_t)(q - s->p);
}

static size_t comment_length(const struct source *s)
{
    const char *p = s->p, *q;
    if (*p == '#' || (p[0] == '/' && p + 1 < s->end && p[1] == '/')) {
        q = memchr(p, '\n', (size_t)(s->end - p));
        if (!q) q = s->end;
        while (q > p && (q[-1] == ' ' || q[-1] == '\t' || q[-1] == '\r')) q--;
        return (size_t)(q - p);
    }
    if (p[0] != '/' || p + 1 >= s->end || p[1] != '*') return 0;
    for (q = p + 2; q + 1 < s->end; q++)
        if (q[0] == '*' && q[1] == '/') return (size_t)(q + 2 - p);
    return unclosed_length(s);
}

static size_t string_length(const struct source *s)
{
    const char *q = s->p + 1;
    while (q < s->end && *q != '"') q += *q == '\\' && q + 1 < s->end ? 2 : 1;
    return q < s->end ? (size_t)(q + 1 - s->p) : unclosed_length(s);
}

/* The whole line: the path is between quotes, and libconfig wants nothing else there. */
static size_t include_length(const struct source *s)
{
    static const char word[] = "@include";
    if ((size_t)(s->end - s->p) < sizeof word - 1 || memcmp(s->p, word, sizeof word - 1)) return 0;
    const char *q = memchr(s->p, '\n', (size_t)(s->end - s->p));
    if (!q) q = s->end;
    while (q > s->p && (q[-1] == ' ' || q[-1] == '\t' || q[-1] == '\r')) q--;
    return (size_t)(q - s->p);
}

static size_t word_length(const struct source *s)
{
    const char *q = s->p;
    while (q < s->end && !strchr(" \t\r\n\f\v(){}[];,=:\"#", *q) &&
           !(q[0] == '/' && q + 1 < s->end && strchr("/*", q[1])))
        q++;
    return q > s->p ? (size_t)(q - s->p) : 1;
}

static void skip_blanks(struct source *s, struct piece *out)
{
    while (s->p < s->end && strchr(" \t\r\n\f\v", *s->p)) {
        if (*s->p == '\n') {
            out->lines++;
            s->line = s->p + 1;
        }
        out->gap = *s->p == '\n' ? 0 : out->gap + 1;
        s->p++;
    }
}

static struct piece next_piece(struct source *s)
{
    struct piece out = {.kind = PIECE_END};
    skip_blanks(s, &out);
    if (s->p >= s->end) return out;
    out.text = s->p;
    out.column = (size_t)(s->p - s->line);
    if ((out.len = comment_length(s)) > 0) {
        out.kind = PIECE_COMMENT;
    } else if ((out.len = include_length(s)) > 0) {
        out.kind = PIECE_INCLUDE;
    } else if (*s->p == '"') {
        out.kind = PIECE_WORD;
        out.len = string_length(s);
    } else {
        static const char single[] = "({[)}];,=:";
        static const enum piece_kind kind[] = {PIECE_OPEN,  PIECE_OPEN, PIECE_OPEN, PIECE_CLOSE,  PIECE_CLOSE,
                                               PIECE_CLOSE, PIECE_STOP, PIECE_STOP, PIECE_ASSIGN, PIECE_ASSIGN};
        const char *at = *s->p ? strchr(single, *s->p) : NULL;
        out.kind = at ? kind[at - single] : PIECE_WORD;
        out.len = at ? 1 : word_length(s);
    }
    for (size_t i = 0; i < out.len; i++)
        if (out.text[i] == '\n') s->line = out.text + i + 1; /* a comment of several lines */
    s->p += out.len;
    return out;
}

static struct source source_of(const char *text, size_t len)
{
    if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) text += 3, len -= 3;
    return (struct source){text, text + len, text};
}

/* ------------------------------------------------------------------ writing */
struct bracket {
    size_t outer;   /* column of the line that opened it */
    size_t content; /* column of the first word after it on its line; SIZE_MAX: none yet */
};

struct writer {
    FILE *f;
    size_t base;   /* column of lines outside of all brackets */
    size_t column; /* of what comes next */
    size_t indent; /* of the current line */
    struct bracket open[DEPTH_MAX];
    size_t depth; /* may be beyond DEPTH_MAX */
    struct piece last;
    size_t last_column, last_original; /* where the last piece was put, and had been */
};

static void blanks(struct writer *w, size_t n)
{
    for (size_t i = 0; i < n; i++) fputc(' ', w->f);
    w->column += n;
}

static struct bracket *innermost(struct writer *w)
{
    return w->depth ? &w->open[WB_MIN(w->depth, (size_t)DEPTH_MAX) - 1] : NULL;
}

static size_t code_column(struct writer *w)
{
    const struct bracket *b = innermost(w);
    if (!b) return w->base;
    return b->content != SIZE_MAX ? b->content : b->outer + INDENT;
}

/* Does the value that was begun go on here: "text" on two lines? */
static bool goes_on(const struct writer *w)
{
    return w->last.kind == PIECE_WORD || w->last.kind == PIECE_ASSIGN;
}

static size_t line_column(struct writer *w, const struct piece *p)
{
    size_t base = code_column(w);
    if (p->kind == PIECE_INCLUDE) return 0;
    if (p->kind == PIECE_CLOSE) return innermost(w) ? innermost(w)->outer : w->base;
    if (p->kind == PIECE_COMMENT && !w->depth && !p->column) return 0; /* what heads a fragment */
    if (p->kind == PIECE_COMMENT)
        return w->last.kind == PIECE_COMMENT && w->last_column > w->indent && p->column == w->last_original
                   ? w->last_column
                   : base;
    if (p->kind == PIECE_OPEN && w->last.kind == PIECE_ASSIGN) return base; /* "cache :" and "{" below it */
    return goes_on(w) && p->kind == PIECE_WORD ? WB_MAX(p->column, base + INDENT) : base;
}

static void new_line(struct writer *w, const struct piece *p)
{
    bool first = w->last.kind == PIECE_END;
    if (!first) fputs(p->lines > 1 ? "\n\n" : "\n", w->f);
    w->column = 0;
    size_t to = line_column(w, p);
    bool aside = p->kind == PIECE_COMMENT && to > code_column(w);
    blanks(w, to);
    if (!aside) w->indent = to;
}

static size_t gap_before(const struct writer *w, const struct piece *p)
{
    bool square = p->text[0] == '[' || p->text[0] == ']' || w->last.text[0] == '[';
    if (p->kind == PIECE_STOP) return 0;
    if (w->last.kind == PIECE_OPEN && p->kind == PIECE_CLOSE) return WB_MIN(p->gap, (size_t)1);
    if (square && (w->last.kind == PIECE_OPEN || p->kind == PIECE_CLOSE)) return WB_MIN(p->gap, (size_t)1);
    return WB_MAX(p->gap, (size_t)1);
}

static void put_piece(struct writer *w, const struct piece *p)
{
    struct bracket *b = innermost(w);
    if (w->last.kind == PIECE_END || p->lines)
        new_line(w, p);
    else
        blanks(w, gap_before(w, p));
    if (b && w->last.kind == PIECE_OPEN && !p->lines && p->kind != PIECE_COMMENT && p->kind != PIECE_CLOSE)
        b->content = w->column;
    w->last_column = w->column;
    w->last_original = p->column;
    for (size_t i = 0; i < p->len; i++) {
        if (p->text[i] == '\r' && p->kind == PIECE_COMMENT) continue;
        fputc(p->text[i], w->f);
        w->column = p->text[i] == '\n' ? 0 : w->column + 1;
    }
    if (p->kind == PIECE_OPEN && ++w->depth <= DEPTH_MAX) *innermost(w) = (struct bracket){w->indent, SIZE_MAX};
    if (p->kind == PIECE_CLOSE && w->depth) w->depth--;
    w->last = *p;
}

/* Column of the first word that is no comment. */
static size_t first_column(const char *text, size_t len)
{
    struct source s = source_of(text, len);
    struct piece p = next_piece(&s);
    while (p.kind == PIECE_COMMENT || p.kind == PIECE_INCLUDE) p = next_piece(&s);
    return p.column;
}

char *format_text(const char *text, size_t len, bool fragment)
{
    char *out;
    size_t n;
    struct source s = source_of(text, len);
    struct writer w = {.f = open_memstream(&out, &n), .base = fragment ? first_column(text, len) : 0};
    WB_MEMORY(w.f, "out of memory for a formatted text");
    for (struct piece p = next_piece(&s); p.kind != PIECE_END; p = next_piece(&s)) put_piece(&w, &p);
    if (w.last.kind != PIECE_END) fputc('\n', w.f);
    fclose(w.f);
    WB_MEMORY(out, "out of memory for a formatted text");
    return out;
}

/* ------------------------------------------------------------------ comparing */
/* Comments may have lost carriage returns. */
static bool same_piece(const struct piece *a, const struct piece *b)
{
    size_t i = 0, k = 0;
    if (a->kind != b->kind) return false;
    for (;;) {
        while (i < a->len && a->text[i] == '\r') i++;
        while (k < b->len && b->text[k] == '\r') k++;
        if (i == a->len || k == b->len) return i == a->len && k == b->len;
        if (a->text[i++] != b->text[k++]) return false;
    }
}

bool format_same_words(const char *a, size_t a_len, const char *b, size_t b_len)
{
    struct source s = source_of(a, a_len), t = source_of(b, b_len);
    for (;;) {
        struct piece p = next_piece(&s), q = next_piece(&t);
        if (p.kind == PIECE_END || q.kind == PIECE_END) return p.kind == q.kind;
        if (!same_piece(&p, &q)) return false;
    }
}
