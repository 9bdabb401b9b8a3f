/* Reserves: zeroed, and memory only where it was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reserve.h"

#define MIB (1u << 20)

static void untouched_costs_nothing(void **state)
{
    (void)state;
    size_t bytes = 64u * MIB;
    unsigned char *mem = reserve_take(bytes);
    assert_non_null(mem);
    assert_int_equal((uintptr_t)mem % 64, 0);
    assert_int_equal(reserve_touched(mem, bytes), 0);
    memset(mem + 20u * MIB, 1, MIB);
    assert_in_range(reserve_touched(mem, bytes), MIB, 4u * MIB); /* the system may use large pages */
    assert_int_equal(mem[0] | mem[bytes - 1] | mem[20u * MIB - 1], 0);
    reserve_give(mem, bytes);
}

static void nothing_is_fine(void **state)
{
    (void)state;
    void *mem = reserve_take(0);
    assert_non_null(mem);
    reserve_give(mem, 0);
    reserve_give(NULL, 4096);
    assert_null(reserve_take(SIZE_MAX / 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(untouched_costs_nothing), cmocka_unit_test(nothing_is_fine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
