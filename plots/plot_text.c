/* plot_text.c - texts of users, made fit for a gnuplot script and its data. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "exp_format.h"
#include "plot_inner.h"

/* Length of the UTF-8 sequence at s, or 0. Overlong forms do no harm in a label; broken ones would. */
static size_t sequence(const unsigned char *s)
{
    size_t n = *s < 0x80                 ? 1
               : *s >= 0xc2 && *s < 0xe0 ? 2
               : *s >= 0xe0 && *s < 0xf0 ? 3
               : *s >= 0xf0 && *s < 0xf5 ? 4
                                         : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    return n;
}

char *plot_text(const char *text, size_t columns)
{
    char *out = malloc(4 * columns + 4), *o = out;
    WB_MEMORY(out, "out of memory for a label");
    size_t used = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p; used++) {
        size_t n = sequence(p);
        if (used == columns) { /* the last three give way */
            o = out + (o - out >= 3 ? o - out - 3 : 0);
            while (o > out && ((unsigned char)*o & 0xc0) == 0x80) o--;
            strcpy(o, "...");
            return out;
        }
        if (n <= 1) {
            bool plain = n && *p >= 0x20 && *p != 0x7f && !strchr("\"'`\\@$", *p);
            *o++ = plain ? (char)*p : *p == '"' || *p == '\'' || *p == '`' ? ' ' : '?';
        } else if (exp_text_is_control(p, n)) {
            *o++ = '?';
        } else {
            memcpy(o, p, n);
            o += n;
        }
        p += n ? n : 1;
    }
    *o = 0;
    return out;
}

char *plot_text_into(char *buf, size_t n, const char *text, size_t columns)
{
    char *clean = plot_text(text, columns);
    snprintf(buf, n, "%s", clean);
    free(clean);
    return buf;
}

size_t plot_text_columns(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

void plot_put_quoted(FILE *f, const char *text)
{
    char *s = plot_text(text, 200);
    fprintf(f, "'%s'", s);
    free(s);
}

void *plot_need(void *p)
{
    WB_MEMORY(p, "out of memory for a plot");
    return p;
}

char *plot_say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = wb_vtext(fmt, ap);
    va_end(ap);
    return s;
}
