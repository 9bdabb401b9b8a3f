/*
 * arena.h - memory that is taken while loading and given back all at once.
 *
 * An arena hands out zeroed, aligned pieces and never frees one. It grows by blocks while a scenario loads;
 * arena_seal() then forbids any further piece, which is how "no allocation between the first and the last event" is
 * enforced rather than hoped for. Pieces never move. The name is what the memory report prints ("kernel", "machine").
 *
 * One owner, one thread. The struct is the caller's; its blocks belong to the arena until arena_free().
 */
#ifndef WB_CORE_ARENA_H
#define WB_CORE_ARENA_H

#include "wakebal/base.h"

struct arena_block;

struct arena {
    const char *name;          /* not copied */
    struct arena_block *block; /* newest first */
    size_t used;               /* bytes asked for, padding included */
    size_t reserved;           /* bytes taken from the system */
    size_t pieces;
    bool dense; /* arena_large() */
    bool sealed;
};

#define ARENA_LINE 64u /* alignment of hot arrays: a cache line */

/* No memory is taken yet. `name` must outlive the arena. */
void arena_init(struct arena *a, const char *name);
/* It will hold many megabytes: by blocks that the system can use large pages for, from the first on. */
void arena_large(struct arena *a);
/* `n` zeroed elements of `size` bytes, aligned to `align` (a power of two up to 4096). NULL when the system refuses
 * or n * size overflows; n == 0 gives a valid pointer to nothing. A sealed arena is a bug of the caller. */
void *arena_alloc(struct arena *a, size_t n, size_t size, size_t align) WB_MUST_USE;
/* A copy of a string of known length, terminated; NULL as above. */
char *arena_strdup(struct arena *a, const char *text, size_t len) WB_MUST_USE;
/* From here on arena_alloc() is a bug. */
void arena_seal(struct arena *a);
/* Gives everything back; the arena is as after arena_init(). */
void arena_free(struct arena *a);

/* Typed and cache-line aligned: struct task *t = ARENA_NEW(a, struct task, ntasks); */
#define ARENA_NEW(a, type, n) ((type *)arena_alloc((a), (n), sizeof(type), ARENA_LINE))

#endif
