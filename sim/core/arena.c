/* arena.c - bump allocation in blocks; see arena.h. */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

#include "reserve.h"

struct arena_block {
    struct arena_block *next;
    size_t used, room; /* of bytes that follow this header */
};

enum { BLOCK_MIN = 64 * 1024, PIECE_LARGE = BLOCK_MIN / 16, BLOCK_LARGE = 256 * 1024, ALIGN_MAX = 4096 };
/* Past this size an arena grows by blocks so large that the system can use large pages for them: tasks of which each
 * event meets another one are found with fewer misses of the TLB. */
#define GROWN ((size_t)48 << 20)
#define BLOCK_GROWN ((size_t)8 << 20)

void arena_init(struct arena *a, const char *name)
{
    WB_CHECK(name, "an arena needs a name");
    *a = (struct arena){.name = name};
}

/* Bytes to skip so that the next piece of the block is aligned. */
static size_t padding(const struct arena_block *b, size_t align)
{
    uintptr_t at = (uintptr_t)(b + 1) + b->used;
    return (size_t)(-at & (align - 1));
}

static bool fits(const struct arena_block *b, size_t bytes, size_t align)
{
    size_t pad = padding(b, align), left = b->room - b->used;
    return left >= pad && left - pad >= bytes;
}

void arena_large(struct arena *a)
{
    a->dense = true;
}

static struct arena_block *add_block(struct arena *a, size_t bytes, size_t align)
{
    bool own = a->block && bytes > PIECE_LARGE; /* small pieces go on filling the block before */
    size_t usual = a->reserved < GROWN && !a->dense ? (size_t)BLOCK_MIN : BLOCK_GROWN;
    if (a->dense && bytes < BLOCK_GROWN) own = false; /* few ends that nothing fits in */
    size_t room = own ? bytes + align : WB_MAX(bytes + align, usual);
    /* From the system, not the heap: what nobody touches of a large table costs nothing. */
    struct arena_block *b = room < BLOCK_LARGE ? calloc(1, sizeof *b + room) : reserve_take(sizeof *b + room);
    if (!b) return NULL;
    if (room >= BLOCK_GROWN) reserve_dense(b, sizeof *b + room);
    b->room = room;
    a->reserved += sizeof *b + room;
    if (own) {
        b->next = a->block->next;
        a->block->next = b;
        return b;
    }
    b->next = a->block;
    a->block = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t n, size_t size, size_t align)
{
    size_t bytes;

    WB_CHECK(!a->sealed, "arena '%s' is sealed: nothing may be allocated while events run", a->name);
    WB_CHECK(align && !(align & (align - 1)) && align <= ALIGN_MAX, "alignment %zu", align);
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2) return NULL;
    struct arena_block *b = a->block;
    if (!b || !fits(b, bytes, align)) b = add_block(a, bytes, align);
    if (!b) return NULL;
    size_t pad = padding(b, align);
    void *piece = (char *)(b + 1) + b->used + pad;
    b->used += pad + bytes;
    a->used += pad + bytes;
    a->pieces++;
    return piece;
}

char *arena_strdup(struct arena *a, const char *text, size_t len)
{
    char *copy = arena_alloc(a, len + 1, 1, 1);
    if (copy) memcpy(copy, text, len);
    return copy;
}

void arena_seal(struct arena *a)
{
    a->sealed = true;
}

void arena_free(struct arena *a)
{
    while (a->block) {
        struct arena_block *b = a->block;
        a->block = b->next;
        if (b->room < BLOCK_LARGE)
            free(b);
        else
            reserve_give(b, sizeof *b + b->room);
    }
    arena_init(a, a->name);
}
