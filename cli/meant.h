/* meant.h - "did you mean": by what a word means elsewhere, then by how it is spelled. */
#ifndef WB_CLI_MEANT_H
#define WB_CLI_MEANT_H

#include <stddef.h>

struct meaning {
    const char *foreign, *ours; /* what other programs call it, and we */
};

/* The word of the list that is meant: `word` is one of the foreign ones (in any case), or close to one of the list, or
 * close to a foreign one. NULL: nothing of the kind. */
const char *meant_word(const char *word, const struct meaning *m, size_t meanings, const char *const *list, size_t n);

#endif
