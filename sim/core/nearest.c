/* nearest.c - "did you mean": the closest name by edit distance. */
#include "wakebal/diag.h"

#include <string.h>

enum { WORD_MAX = 64 };

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = WB_MIN(a, b);
    return WB_MIN(m, c);
}

/* Edits (insert, delete, replace, swap of neighbours) from a to b: optimal string alignment. Both at most WORD_MAX
 * long. */
static size_t distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b), row[3][WORD_MAX + 1];
    size_t *before = row[0], *last = row[1], *now = row[2];

    for (size_t j = 0; j <= nb; j++) last[j] = before[j] = j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = WB_MIN(now[j], before[j - 2] + 1);
        }
        size_t *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[nb];
}

const char *wb_nearest(const char *word, const char *const *names, size_t n)
{
    size_t len = strlen(word), limit = WB_MAX((size_t)1, len / 3), best = limit + 1, best_off = 0;
    const char *nearest = NULL;

    if (!len || len > WORD_MAX) return NULL;
    for (size_t i = 0; i < n; i++) {
        if (!names[i] || strlen(names[i]) > WORD_MAX) continue;
        size_t d = distance(word, names[i]),
               off = strlen(names[i]) > len ? strlen(names[i]) - len : len - strlen(names[i]);
        if (d < best || (nearest && d == best && off < best_off)) {
            best = d;
            best_off = off;
            nearest = names[i];
        }
    }
    return nearest;
}
