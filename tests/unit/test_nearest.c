#include "wbtest.h"

#include "wakebal/diag.h"

static const char *const names[] = {"wake", "sync_wakeups", "balance", "balance_interval", "hz", NULL};

static const char *near_to(const char *word)
{
    return wb_nearest(word, names, WB_ARRAY_SIZE(names));
}

static void close_words_are_found(void **state)
{
    (void)state;
    assert_string_equal(near_to("sync_wakeup"), "sync_wakeups");
    assert_string_equal(near_to("blaance"), "balance");
    assert_string_equal(near_to("balance_intervall"), "balance_interval");
    assert_string_equal(near_to("Hz"), "hz");
    assert_string_equal(near_to("wkae"), "wake"); /* a swap counts once */
}

static void silence_when_nothing_is_close(void **state)
{
    (void)state;
    assert_null(near_to("frequency"));
    assert_null(near_to("walks")); /* 2 edits, 1 allowed */
    assert_null(near_to(""));
    assert_null(wb_nearest("wake", names, 0));
    char huge[10000];
    memset(huge, 'w', sizeof huge - 1);
    huge[sizeof huge - 1] = 0;
    assert_null(near_to(huge));
}

static void of_equals_the_one_as_long_wins(void **state)
{
    static const char *const kernels[] = {"linux-6.1", "linux-6.12", "linux-6.18"};
    (void)state;
    assert_string_equal(wb_nearest("linux-6.13", kernels, 3), "linux-6.12");
    assert_string_equal(wb_nearest("linux-6.2", kernels, 3), "linux-6.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(close_words_are_found),
                                       cmocka_unit_test(of_equals_the_one_as_long_wins),
                                       cmocka_unit_test(silence_when_nothing_is_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
