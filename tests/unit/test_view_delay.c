/* Latency and timehist against numbers worked out by hand from the story of trace_fixture.h. */
#include "wbtest.h"

#include "trace_fixture.h"

/* Reader: ready at 4, runs 8-20, ready at 20 (preempted), runs from 30.25 to the end at 40: delays 4 and 10.25 us.
 * Writer: runs 0-8 and 20-40, ready at 14: delay 6. */
static void test_latency(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 64);
    fix_story(&t);
    char *got = wb_view_latency(&t, &fix_names, &(struct wb_view_options){.to = 0});
    assert_non_null(got);
    assert_string_equal(
        got,
        "  Task                   |    Runtime ms |   Switches |  Avg delay ms |  Max delay ms | Max delay at s |\n"
        "  bw_pipe-rd:103         |      0.021750 |          1 |      0.007125 |      0.010250 |       0.000030 |\n"
        "  bw_pipe-wr:102         |      0.028000 |          2 |      0.006000 |      0.006000 |       0.000020 |\n"
        "  TOTAL                  |      0.049750 |          3 |\n");
    free(got);
    got = wb_view_latency(&t, &fix_names, &(struct wb_view_options){.from = 15 * WB_US, .to = 35 * WB_US});
    assert_string_equal(
        got,
        "  Task                   |    Runtime ms |   Switches |  Avg delay ms |  Max delay ms | Max delay at s |\n"
        "  bw_pipe-rd:103         |      0.009750 |          1 |      0.010250 |      0.010250 |       0.000030 |\n"
        "  bw_pipe-wr:102         |      0.015000 |          0 |      0.006000 |      0.006000 |       0.000020 |\n"
        "  TOTAL                  |      0.024750 |          1 |\n");
    free(got);
    arena_free(&a);
}

static void test_timehist(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 64);
    fix_story(&t);
    char *got = wb_view_timehist(&t, &fix_names, &(struct wb_view_options){.to = 0});
    assert_non_null(got);
    assert_string_equal(got,
                        "           time    cpu  task name                     wait time    sch delay     run time\n"
                        "                        [pid]                            (msec)       (msec)       (msec)\n"
                        "    0.000008000 [0000]  bw_pipe-wr[102]                0.000000     0.000000     0.008000\n"
                        "    0.000020000 [0000]  bw_pipe-rd[103]                0.000000     0.004000     0.012000\n"
                        "    0.000040000 [0000]  bw_pipe-wr[102]                0.012000     0.006000     0.020000\n");
    free(got);
    got = wb_view_timehist(&t, &fix_names, &(struct wb_view_options){.lines = 1});
    assert_non_null(strstr(got, "... 2 more lines\n"));
    free(got);
    arena_free(&a);
}

/* A hog that neither comes nor goes is known by the ticks that interrupt it. */
static void test_a_task_that_never_switches(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t = fix_ring(&a, 64);
    for (sim_time i = 1; i <= 4; i++)
        trace_emit(&t, (struct wb_trace_record){.when = i * WB_MS, .type = WB_TR_TICK, .cpu = 2, .task = FIX_WR});
    char *got = wb_view_latency(&t, &fix_names, &(struct wb_view_options){.to = 3 * WB_MS});
    assert_non_null(strstr(got, "bw_pipe-wr:102         |      3.000000 |          0 |"));
    free(got);
    got = wb_view_timehist(&t, &fix_names, &(struct wb_view_options){.to = 0});
    assert_null(strstr(got, "bw_pipe-wr"));
    free(got);
    got = wb_view_timeline(&t, &fix_names, &(struct wb_view_options){.width = 30});
    assert_non_null(strstr(got, "cpu2 AAAAAAAAAAAAAAAAAAAAAAAAA\n"));
    free(got);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_latency), cmocka_unit_test(test_timehist),
                                       cmocka_unit_test(test_a_task_that_never_switches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
