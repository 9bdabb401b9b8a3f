/* The ring: capacity, overwriting, window. */
#include "wbtest.h"

#include "tracering.h"

static void test_keeps_the_last_records(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t;
    arena_init(&a, "t");
    assert_int_equal(trace_init(&t, &a, 5, 0, WB_TIME_NEVER), 0);
    assert_int_equal(t.capacity, 8);
    assert_int_equal(trace_count(&t), 0);
    for (uint32_t i = 0; i < 20; i++) {
        trace_emit(&t, (struct wb_trace_record){.when = i, .type = WB_TR_TICK, .task = 100 + i});
        assert_int_equal(trace_count(&t), WB_MIN(i + 1, 8));
        assert_int_equal(trace_at(&t, trace_count(&t) - 1)->task, 100 + i);
    }
    assert_int_equal(trace_lost(&t), 12);
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(trace_at(&t, i)->when, 12 + i);
    arena_free(&a);
}

static void test_window(void **state)
{
    (void)state;
    struct arena a;
    struct wb_trace t;
    arena_init(&a, "t");
    assert_int_equal(trace_init(&t, &a, 64, 10, 20), 0);
    for (sim_time i = 0; i < 30; i++) trace_emit(&t, (struct wb_trace_record){.when = i});
    assert_int_equal(trace_count(&t), 10);
    assert_int_equal(trace_at(&t, 0)->when, 10);
    assert_int_equal(trace_at(&t, 9)->when, 19);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keeps_the_last_records), cmocka_unit_test(test_window)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
