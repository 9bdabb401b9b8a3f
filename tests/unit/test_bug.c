#include "wbtest.h"

#include "wakebal/base.h"

static void fail_with_place(void)
{
    wb_where = (struct wb_where){.seed = 42, .replication = 3, .now = 123456, .cpu = 7, .task = WB_NO_TASK};
    WB_CHECK(1 + 1 == 3, "sums are off by %d", 1);
}

static void a_failing_check_says_where_it_stood(void **state)
{
    (void)state;
    char text[1024];
    assert_int_equal(wb_dies(fail_with_place, text, sizeof text), 0);
    assert_non_null(strstr(text, "check '1 + 1 == 3' failed: sums are off by 1"));
    assert_non_null(strstr(text, "test_bug.c:"));
    assert_non_null(strstr(text, "seed 42 replication 3 time 123456 ps cpu 7 task -"));
}

static void a_true_check_is_silent(void **state)
{
    (void)state;
    WB_CHECK(1, "never");
    WB_DEBUG_CHECK(1, "never");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_failing_check_says_where_it_stood),
                                       cmocka_unit_test(a_true_check_is_silent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
