/* The map against golden text. */
#include "wbtest.h"

#include "trace_fixture.h"

static void test_story(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 64);
    fix_story(&t);
    char *got = wb_view_map(&t, &fix_names, &(struct wb_view_options){.to = 0});
    assert_non_null(got);
    assert_string_equal(got, " 0   1   2    time\n"
                             "*A0  .           0.000000000 secs  A0 => bw_pipe-wr:102\n"
                             "*B0  .           0.000008000 secs  B0 => bw_pipe-rd:103\n"
                             "*A0  .           0.000020000 secs\n"
                             " A0  .           0.000030000 secs  B0 moves from cpu0 to cpu1 (idle sibling)\n"
                             " A0 *B0          0.000030250 secs\n"
                             "*.   B0          0.000040000 secs\n");
    free(got);
    got = wb_view_map(&t, &fix_names, &(struct wb_view_options){.from = 10 * WB_US, .lines = 2});
    assert_string_equal(got, " 0   1   2    time\n"
                             "*A0  .           0.000020000 secs  A0 => bw_pipe-wr:102\n"
                             " A0  .           0.000030000 secs  B0 moves from cpu0 to cpu1 (idle sibling)\n"
                             "... 2 more lines\n");
    free(got);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_story)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
