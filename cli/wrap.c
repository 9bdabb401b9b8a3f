#include "wrap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "wakebal/base.h"

enum { USUAL = 80, NARROWEST = 30, WIDEST = 1000, TEXT_LEAST = 34, BELOW = 6 };

static size_t columns_named(void)
{
    const char *text = getenv("COLUMNS");
    long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 ? (size_t)WB_MIN(n, (long)WIDEST) : 0;
}

size_t wrap_width(void)
{
    struct winsize ws;
    size_t n = columns_named();
    if (!n && isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws)) n = ws.ws_col;
    if (!n) return USUAL;
    return n < NARROWEST ? NARROWEST : WB_MIN(n, (size_t)WIDEST);
}

size_t wrap_list_width(void)
{
    return columns_named() || isatty(STDOUT_FILENO) ? wrap_width() : 0;
}

/* The same when `col` columns of the first line are taken. */
static void print_from(FILE *out, const char *text, size_t indent, size_t width, size_t col)
{
    bool begun = false;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, " \n");
        if (n && begun && col + 1 + n > width) {
            fputc('\n', out);
            begun = false;
            col = 0;
        }
        if (n) {
            size_t blanks = begun ? 1 : indent > col ? indent - col : 0;
            col += (size_t)fprintf(out, "%*s%.*s", (int)blanks, "", (int)n, p);
            begun = true;
        }
        p += n;
        p += *p != '\0';
    }
    fputc('\n', out);
}

void wrap_print(FILE *out, const char *text, size_t indent, size_t width)
{
    print_from(out, text, indent, width, 0);
}

void wrap_row(FILE *out, const char *head, const char *text, size_t column, size_t width)
{
    size_t n = strlen(head);
    if (!width) {
        fprintf(out, "%-*s %s\n", (int)column - 1, head, text);
        return;
    }
    while (n && head[n - 1] == ' ') n--;
    bool below = column + TEXT_LEAST > width;
    fprintf(out, "%.*s", (int)n, head);
    if (below || n >= column) {
        fputc('\n', out);
        n = 0;
    }
    print_from(out, text, below ? BELOW : column, width, n);
}

char *wrap_first_sentence(const char *text, char *buf, size_t n)
{
    const char *end = strstr(text, ". ");
    size_t len = end ? (size_t)(end - text) : strlen(text);
    if (!end && len && text[len - 1] == '.') len--;
    if (len >= n) len = n - 1;
    memcpy(buf, text, len);
    buf[len] = '\0';
    return buf;
}
