#include "wbtest.h"

#include "wakebal/hist.h"

#include <math.h>

static struct wb_hist h, g, both;

static void every_value_falls_in_its_bucket(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WB_HIST_BUCKETS; i++) {
        uint64_t first = wb_hist_bucket_first(i), last = wb_hist_bucket_last(i);
        assert_int_equal(wb_hist_index(first), i);
        assert_int_equal(wb_hist_index(last), i);
        assert_true((last - first) <= first / 64);
        if (i) assert_int_equal(wb_hist_bucket_last(i - 1) + 1, first);
    }
    assert_int_equal(wb_hist_index(0), 0);
    assert_int_equal(wb_hist_index(UINT64_MAX), WB_HIST_BUCKETS - 1);
}

static void empty_is_zero(void **state)
{
    (void)state;
    wb_hist_reset(&h);
    assert_int_equal(wb_hist_quantile(&h, 500000), 0);
    assert_true(wb_hist_mean(&h) == 0 && wb_hist_stddev(&h) == 0);
    wb_hist_reset(&g);
    wb_hist_add(&g, 9);
    wb_hist_merge(&g, &h);
    assert_int_equal(g.min, 9);
    assert_int_equal(g.max, 9);
}

static void small_values_are_exact(void **state)
{
    (void)state;
    wb_hist_reset(&h);
    for (uint64_t v = 1; v <= 100; v++) wb_hist_add(&h, v);
    assert_int_equal(h.count, 100);
    assert_int_equal(wb_hist_quantile(&h, 0), 1);
    assert_int_equal(wb_hist_quantile(&h, 10000), 1);
    assert_int_equal(wb_hist_quantile(&h, 500000), 50);
    assert_int_equal(wb_hist_quantile(&h, 990000), 99);
    assert_int_equal(wb_hist_quantile(&h, 990001), 100);
    assert_int_equal(wb_hist_quantile(&h, 1000000), 100);
    assert_true(wb_hist_mean(&h) == 50.5);
    assert_true(fabs(wb_hist_stddev(&h) - 29.011491975882016) < 1e-12);
}

static void large_quantiles_are_within_a_bucket(void **state)
{
    (void)state;
    wb_hist_reset(&h);
    for (uint64_t i = 1; i <= 100000; i++) wb_hist_add(&h, i * 1000000007);
    for (uint32_t ppm = 1000; ppm < 1000000; ppm += 997) {
        double exact = ppm / 10.0 * 1000000007, got = (double)wb_hist_quantile(&h, ppm);
        assert_true(fabs(got - exact) <= exact / 64 + 2e9);
    }
    assert_int_equal(wb_hist_quantile(&h, 1000000), h.max);
}

/* Deviation 1 on a mean of 10^18: hopeless in floating point. */
static void deviation_survives_a_large_mean(void **state)
{
    (void)state;
    wb_hist_reset(&h);
    for (unsigned i = 0; i < 3000; i++) wb_hist_add(&h, 1000000000000000000ull + (i % 3u));
    assert_true(fabs(wb_hist_stddev(&h) - sqrt(2000.0 / 2999)) < 1e-9);
}

static void squares_do_not_overflow(void **state)
{
    (void)state;
    wb_hist_reset(&h);
    for (int i = 0; i < 1000; i++) wb_hist_add(&h, i % 2 ? UINT64_MAX : 0);
    double half = 9223372036854775808.0;
    assert_true(fabs(wb_hist_mean(&h) - half) < half * 1e-12);
    assert_true(fabs(wb_hist_stddev(&h) - half * sqrt(1000.0 / 999)) < half * 1e-12);
    assert_true(h.squares_high > 0);
}

static void merging_is_adding(void **state)
{
    (void)state;
    wb_hist_reset(&h);
    wb_hist_reset(&g);
    wb_hist_reset(&both);
    for (uint64_t i = 0, v = 12345; i < 5000; i++, v = v * 6364136223846793005ull + 1442695040888963407ull) {
        wb_hist_add(i % 3 ? &h : &g, v >> (i % 60));
        wb_hist_add(&both, v >> (i % 60));
    }
    wb_hist_merge(&h, &g);
    assert_memory_equal(&h, &both, sizeof h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_falls_in_its_bucket),
        cmocka_unit_test(empty_is_zero),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(large_quantiles_are_within_a_bucket),
        cmocka_unit_test(deviation_survives_a_large_mean),
        cmocka_unit_test(squares_do_not_overflow),
        cmocka_unit_test(merging_is_adding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
