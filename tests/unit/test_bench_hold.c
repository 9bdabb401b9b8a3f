#include "wbtest.h"

#include "wakebal/bench.h"

/* Agreement of the structures is checked inside wb_bench_hold() itself: a heap that loses its order aborts. */
static void every_structure_is_measured(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 5, 16, 300};
    for (size_t i = 0; i < WB_ARRAY_SIZE(sizes); i++) {
        struct wb_hold_result r;
        assert_int_equal(wb_bench_hold(sizes[i], 2, &r), 0);
        assert_int_equal(r.n, sizes[i]);
        double best = r.ns[WB_HOLD_HEAP4_REPLACE];
        for (int k = 0; k < WB_HOLD_KINDS; k++) {
            assert_true(r.ns[k] > 0.1 && r.ns[k] < 1e6);
            assert_true(strlen(wb_hold_names[k]) > 4);
            if (k >= WB_HOLD_HEAP4_REPLACE && r.ns[k] < best) best = r.ns[k];
        }
        assert_true(r.best_reference_ns == best);
    }
}

static void debug_builds_say_so(void **state)
{
    (void)state;
#ifdef WB_DEBUG
    assert_false(wb_bench_build_is_fast());
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_structure_is_measured),
                                       cmocka_unit_test(debug_builds_say_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
