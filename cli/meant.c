#include "meant.h"

#include <string.h>
#include <strings.h>

#include "wakebal/diag.h"

static const char *in_list(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; word && i < n; i++)
        if (!strcmp(word, list[i])) return list[i];
    return NULL;
}

const char *meant_word(const char *word, const struct meaning *m, size_t meanings, const char *const *list, size_t n)
{
    const char *found = NULL;
    for (size_t i = 0; i < meanings && !found; i++)
        if (!strcasecmp(word, m[i].foreign)) found = in_list(m[i].ours, list, n);
    if (!found) found = wb_nearest(word, list, n);
    for (size_t i = 0; i < meanings && !found; i++)
        if (wb_nearest(word, &m[i].foreign, 1)) found = in_list(m[i].ours, list, n);
    return found;
}
