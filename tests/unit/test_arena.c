#include "wbtest.h"

#include "arena.h"

static void pieces_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, "test");
    unsigned char *last = NULL;
    for (size_t i = 1; i < 300; i++) {
        unsigned char *p = arena_alloc(&a, i, 7, 64);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t k = 0; k < i * 7; k++) assert_int_equal(p[k], 0);
        memset(p, 0xaa, i * 7);
        if (last) assert_true(last[0] == 0xaa);
        last = p;
    }
    assert_int_equal(a.pieces, 299);
    assert_true(a.used >= 7 * 299 * 300 / 2 && a.used <= a.reserved);
    arena_free(&a);
    assert_int_equal(a.reserved, 0);
}

static void large_pieces_get_their_own_block(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, "test");
    char *small = arena_alloc(&a, 10, 1, 1);
    char *large = arena_alloc(&a, 1, 10u << 20, 4096);
    assert_non_null(small);
    assert_non_null(large);
    assert_int_equal((uintptr_t)large % 4096, 0);
    large[(10u << 20) - 1] = 1;
    assert_non_null(arena_alloc(&a, 0, 8, 8));
    arena_free(&a);
}

/* All in blocks of megabytes, also pieces that else have one of their own. */
static void a_large_arena_takes_few_blocks(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, "test");
    arena_large(&a);
    unsigned char *small = arena_alloc(&a, 1, 100, 64), *middle = arena_alloc(&a, 1, 1u << 20, 64);
    assert_non_null(small);
    assert_non_null(middle);
    assert_int_equal((uintptr_t)middle % 64, 0);
    for (size_t k = 0; k < 1u << 20; k++) assert_int_equal(middle[k], 0);
    assert_ptr_equal(middle, small + 128);
    assert_true(a.reserved >= 8u << 20 && a.reserved < 9u << 20);
    arena_free(&a);
}

static void overflow_is_refused(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, "test");
    assert_null(arena_alloc(&a, SIZE_MAX / 2, 16, 8));
    assert_null(arena_alloc(&a, SIZE_MAX - 5, 1, 8));
    arena_free(&a);
}

static void strdup_copies_and_terminates(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, "test");
    char *s = arena_strdup(&a, "abcdef", 3);
    assert_string_equal(s, "abc");
    arena_free(&a);
}

static void alloc_after_seal(void)
{
    struct arena a;
    arena_init(&a, "kernel");
    arena_seal(&a);
    if (arena_alloc(&a, 1, 1, 1)) return;
}

static void sealed_means_sealed(void **state)
{
    (void)state;
    char text[1024];
    assert_int_equal(wb_dies(alloc_after_seal, text, sizeof text), 0);
    assert_non_null(strstr(text, "arena 'kernel' is sealed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_aligned_and_apart), cmocka_unit_test(large_pieces_get_their_own_block),
        cmocka_unit_test(a_large_arena_takes_few_blocks),      cmocka_unit_test(overflow_is_refused),
        cmocka_unit_test(strdup_copies_and_terminates),        cmocka_unit_test(sealed_means_sealed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
