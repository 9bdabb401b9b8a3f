#include "wrap.h"

#include <string.h>

void wrap_print(FILE *out, const char *text, size_t indent, size_t width)
{
    size_t col = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, " \n");
        if (col && col + 1 + n > width) {
            fputc('\n', out);
            col = 0;
        }
        if (n) {
            col += (size_t)fprintf(out, "%*s%.*s", col ? 1 : (int)indent, "", (int)n, p);
        }
        p += n;
        p += *p != '\0';
    }
    fputc('\n', out);
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
