/* diag.c - collecting and rendering what the user did wrong; see diag.h. */
#include "wakebal/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 140,     /* columns of a source line that are shown */
    TEXT_MAX = 2000, /* bytes of one message or fix that are kept for showing */
    NAME_MAX_SHOWN = 200,
    CHAIN_MAX = 20,
    SHOWN_MAX = 20, /* messages of one file: who gives a picture for a scenario shall not get thousands */
};

struct message {
    enum wb_severity severity;
    char *code, *text, *fix;
    const char *file; /* owned by the list of sources, or NULL */
    int line, col, len;
    size_t seq;
};

struct source {
    char *name, *text; /* text NULL: only the name is known */
    size_t len;
    const char *includer; /* name of another source, or NULL */
    int includer_line;
    size_t seq;
};

struct wb_diag {
    struct message *m;
    size_t nm, room_m;
    struct source **s; /* pointers: names must not move */
    size_t ns, room_s;
    size_t count[3];
};

/* A text that grows. */
struct out {
    char *p;
    size_t n, room;
    bool colour;
    const struct source *last_source; /* what find_line() found last */
    const char *last_at;
    int last_line;
};

static void *need(void *p)
{
    WB_MEMORY(p, "no memory for a message");
    return p;
}

static char *copy_text(const char *s, size_t n)
{
    char *c = need(malloc(n + 1));
    if (n) memcpy(c, s, n);
    c[n] = 0;
    return c;
}

static void *grow(void *p, size_t n, size_t *room, size_t size)
{
    if (n < *room) return p;
    *room = *room ? *room * 2 : 16;
    return need(realloc(p, *room * size));
}

struct wb_diag *wb_diag_new(void)
{
    return need(calloc(1, sizeof(struct wb_diag)));
}

void wb_diag_free(struct wb_diag *d)
{
    if (!d) return;
    for (size_t i = 0; i < d->nm; i++) {
        free(d->m[i].code);
        free(d->m[i].text);
        free(d->m[i].fix);
    }
    for (size_t i = 0; i < d->ns; i++) {
        free(d->s[i]->name);
        free(d->s[i]->text);
        free(d->s[i]);
    }
    free(d->m);
    free(d->s);
    free(d);
}

static struct source *source_of(struct wb_diag *d, const char *name)
{
    for (size_t i = 0; i < d->ns; i++)
        if (!strcmp(d->s[i]->name, name)) return d->s[i];
    struct source *s = need(calloc(1, sizeof *s));
    s->name = copy_text(name, strlen(name));
    s->seq = d->ns;
    d->s = grow(d->s, d->ns, &d->room_s, sizeof(struct source *));
    d->s[d->ns++] = s;
    return s;
}

void wb_diag_source(struct wb_diag *d, const char *file, const char *text, size_t len, const struct wb_place *includer)
{
    struct source *s = source_of(d, file);
    free(s->text);
    s->text = copy_text(text, len);
    s->len = len;
    if (includer && includer->file) {
        s->includer = source_of(d, includer->file)->name;
        s->includer_line = includer->line;
    }
}

void wb_diag_add(struct wb_diag *d, enum wb_severity sev, const char *code, struct wb_place at, const char *fix,
                 const char *fmt, ...)
{
    va_list ap;
    WB_CHECK(sev >= WB_NOTE && sev <= WB_ERROR, "severity %d", (int)sev);
    va_start(ap, fmt);
    char *text = wb_vtext(fmt, ap);
    va_end(ap);
    d->m = grow(d->m, d->nm, &d->room_m, sizeof *d->m);
    d->m[d->nm] = (struct message){
        .severity = sev,
        .code = code ? copy_text(code, strlen(code)) : NULL,
        .text = text,
        .fix = fix ? copy_text(fix, strlen(fix)) : NULL,
        .file = at.file ? source_of(d, at.file)->name : NULL,
        .line = at.line,
        .col = at.col,
        .len = at.len,
        .seq = d->nm,
    };
    d->nm++;
    d->count[sev]++;
}

size_t wb_diag_count(const struct wb_diag *d, enum wb_severity sev)
{
    return d->count[sev];
}

/* --- rendering --------------------------------------------------------------------------------------------- */

static void put(struct out *o, const char *s, size_t n)
{
    if (o->n + n + 1 > o->room) {
        o->room = (o->n + n + 1) * 2;
        o->p = need(realloc(o->p, o->room));
    }
    memcpy(o->p + o->n, s, n);
    o->n += n;
    o->p[o->n] = 0;
}

static void puts_out(struct out *o, const char *s)
{
    put(o, s, strlen(s));
}

static void putf(struct out *o, const char *fmt, ...) WB_PRINTF(2, 3);
static void putf(struct out *o, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    puts_out(o, text);
}

static void colour(struct out *o, const char *code)
{
    if (o->colour) putf(o, "\x1b[%sm", code);
}

static bool is_control(unsigned char c)
{
    return c < 32 || c == 127;
}

/* Length of the well-formed UTF-8 sequence at s, 0 when there is none. C1 controls (U+0080..9F) count as ill-formed:
 * some terminals obey them. */
static size_t utf8_length(const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0], d = n > 1 ? (unsigned char)s[1] : 0;
    size_t len = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (!len || len > n) return 0;
    for (size_t i = 1; i < len; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80) return 0;
    if ((c == 0xc2 && d < 0xa0) || (c == 0xe0 && d < 0xa0) || (c == 0xed && d > 0x9f) || (c == 0xf0 && d < 0x90) ||
        (c == 0xf4 && d > 0x8f))
        return 0;
    return len;
}

/* One character of user text, escaped when it is not printable. Returns the bytes read; *columns the columns written.
 * */
static size_t put_character(struct out *o, const char *s, size_t n, size_t *columns)
{
    unsigned char c = (unsigned char)*s;
    size_t len = is_control(c) ? 0 : utf8_length(s, n);
    char text[8];
    if (len) {
        put(o, s, len);
        *columns = 1;
        return len;
    }
    if (c == '\n')
        snprintf(text, sizeof text, "\\n");
    else if (c == '\t')
        snprintf(text, sizeof text, "\\t");
    else
        snprintf(text, sizeof text, "\\x%02x", c);
    puts_out(o, text);
    *columns = strlen(text);
    return 1;
}

/* User text on one line; what passes `max` bytes is replaced by "...". */
static void put_clipped(struct out *o, const char *s, size_t max)
{
    size_t n = strlen(s), columns;
    for (size_t i = 0; i < n;) {
        if (i >= max) {
            puts_out(o, "...");
            return;
        }
        i += put_character(o, s + i, n - i, &columns);
    }
}

static const char *const severity_names[] = {"note", "warning", "error"};
static const char *const severity_colours[] = {"36;1", "35;1", "31;1"};

/* The text of a line, without its end; NULL when the file has no such line. */
static const char *find_line(struct out *o, const struct source *s, int line, size_t *len)
{
    const char *at = s->text, *end = s->text + s->len;
    int i = 1;
    /* Messages come sorted: go on from the last line found, or many mistakes in a large file cost a square. */
    if (o->last_source == s && o->last_line <= line) {
        at = o->last_at;
        i = o->last_line;
    }
    for (; at && i < line; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at) at++;
    }
    if (!at || at >= end) return NULL;
    o->last_source = s;
    o->last_line = line;
    o->last_at = at;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *len = (size_t)((stop ? stop : end) - at);
    if (*len && at[*len - 1] == '\r') --*len;
    return at;
}

/* First byte shown of a long line: such that the mistake is in view. */
static size_t window_start(const char *line, size_t len, size_t at)
{
    if (len <= WIDTH || at < WIDTH * 3 / 4) return 0;
    size_t start = at - WIDTH / 2;
    while (start && ((unsigned char)line[start] & 0xc0) == 0x80 && at - start < WIDTH / 2 + 4) start--;
    return start;
}

/* The source line and the caret line below it, both with tabs as single blanks and controls escaped. */
static void put_source_line(struct out *o, const struct message *m, const char *line, size_t len)
{
    size_t at = m->col > 0 ? WB_MIN((size_t)m->col - 1, len) : 0;
    size_t marked_end = at + (size_t)(m->len > 0 ? m->len : 1);
    size_t i = window_start(line, len, at), shown = 0, caret = 0, width = 0, columns;
    bool clipped_left = i > 0;

    putf(o, "%5d | ", m->line);
    if (clipped_left) puts_out(o, "...");
    while (i < len && shown < WIDTH) {
        bool marked = i >= at && i < marked_end;
        size_t read = 1;
        columns = 1;
        if (i <= at) caret = shown;
        if (line[i] == '\t')
            puts_out(o, " ");
        else
            read = put_character(o, line + i, len - i, &columns);
        if (marked) width += columns;
        shown += columns;
        i += read;
    }
    if (i <= at) caret = shown; /* just past the end of the line */
    if (i < len) puts_out(o, "...");
    puts_out(o, "\n");
    if (m->col <= 0) return;
    putf(o, "      | %*s", (int)(caret + (clipped_left ? 3 : 0)), "");
    colour(o, "32;1");
    puts_out(o, "^");
    for (size_t k = 1; k < width; k++) puts_out(o, "~");
    colour(o, "0");
    puts_out(o, "\n");
}

static void put_head(struct out *o, const struct message *m)
{
    colour(o, "1");
    if (m->file) {
        put_clipped(o, m->file, NAME_MAX_SHOWN);
        if (m->line > 0) putf(o, ":%d", m->line);
        if (m->line > 0 && m->col > 0) putf(o, ":%d", m->col);
        puts_out(o, ": ");
    }
    colour(o, severity_colours[m->severity]);
    putf(o, "%s: ", severity_names[m->severity]);
    colour(o, "0");
    put_clipped(o, m->text, TEXT_MAX);
    if (m->code) {
        puts_out(o, "   [");
        put_clipped(o, m->code, NAME_MAX_SHOWN);
        puts_out(o, "]");
    }
    puts_out(o, "\n");
}

static const struct source *find_source(const struct wb_diag *d, const char *name)
{
    for (size_t i = 0; name && i < d->ns; i++)
        if (d->s[i]->name == name) return d->s[i];
    return NULL;
}

static void put_message(struct out *o, const struct wb_diag *d, const struct message *m)
{
    const struct source *s = find_source(d, m->file);
    size_t len;
    put_head(o, m);
    const char *line = s && s->text && m->line > 0 ? find_line(o, s, m->line, &len) : NULL;
    if (line) put_source_line(o, m, line, len);
    if (m->fix) {
        puts_out(o, "      = ");
        put_clipped(o, m->fix, TEXT_MAX);
        puts_out(o, "\n");
    }
    for (int depth = 0; s && s->includer && depth < CHAIN_MAX; depth++) {
        puts_out(o, "   included from ");
        put_clipped(o, s->includer, NAME_MAX_SHOWN);
        putf(o, ":%d\n", s->includer_line);
        s = find_source(d, s->includer);
    }
}

static size_t file_rank(const struct wb_diag *d, const struct message *m)
{
    const struct source *s = find_source(d, m->file);
    return s ? s->seq + 1 : 0;
}

struct sort_key {
    size_t file;
    const struct message *m;
};

/* By file in order of first mention, then line; at one line in the order of finding. */
static int by_place(const void *pa, const void *pb)
{
    const struct sort_key *a = pa, *b = pb;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    if (a->m->line != b->m->line) return a->m->line < b->m->line ? -1 : 1;
    return a->m->seq < b->m->seq ? -1 : 1;
}

static void put_summary(struct out *o, size_t errors, size_t warnings)
{
    putf(o, "%zu error%s", errors, errors == 1 ? "" : "s");
    if (warnings) putf(o, ", %zu warning%s", warnings, warnings == 1 ? "" : "s");
    puts_out(o, ".  Nothing was run.\n");
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Points of a study and variants of a case share their files: what is wrong there is found once for each. */
static bool said_before(const struct sort_key *order, size_t i)
{
    const struct message *m = order[i].m;
    for (size_t k = i; k-- > 0;) {
        const struct message *o = order[k].m;
        if (order[k].file != order[i].file || o->line != m->line) return false;
        if (o->col == m->col && o->severity == m->severity && !strcmp(o->text, m->text) && same_text(o->code, m->code))
            return true;
    }
    return false;
}

struct shown {
    size_t file, here, left_out, count[3];
};

static void end_of_file(struct out *o, const struct wb_diag *d, const struct shown *n)
{
    if (!n->left_out) return;
    const char *name = NULL;
    for (size_t i = 0; i < d->ns; i++)
        if (d->s[i]->seq + 1 == n->file) name = d->s[i]->name;
    if (name) put_clipped(o, name, NAME_MAX_SHOWN), puts_out(o, ": ");
    putf(o, "... and %zu more\n", n->left_out);
}

static void put_one(struct out *o, const struct wb_diag *d, const struct sort_key *k, struct shown *n)
{
    if (k->file != n->file) {
        end_of_file(o, d, n);
        n->file = k->file;
        n->here = n->left_out = 0;
    }
    n->count[k->m->severity]++;
    if (n->here++ < SHOWN_MAX)
        put_message(o, d, k->m);
    else
        n->left_out++;
}

char *wb_diag_render(const struct wb_diag *d, bool with_colour)
{
    struct out o = {.colour = with_colour};
    struct sort_key *order = need(malloc((d->nm + 1) * sizeof *order));

    put(&o, "", 0);
    for (size_t i = 0; i < d->nm; i++) order[i] = (struct sort_key){file_rank(d, &d->m[i]), &d->m[i]};
    qsort(order, d->nm, sizeof *order, by_place);
    struct shown n = {0};
    for (size_t i = 0; i < d->nm; i++)
        if (!said_before(order, i)) put_one(&o, d, &order[i], &n);
    end_of_file(&o, d, &n);
    if (n.count[WB_ERROR]) put_summary(&o, n.count[WB_ERROR], n.count[WB_WARNING]);
    free(order);
    return o.p;
}
