/* Load weights: the table and its rule, inverses, the kernels' divisions. wb-link: wb_sched wb_core */
#include "wbtest.h"

#include "weights.h"

static void ends_and_middle(void **state)
{
    (void)state;
    assert_int_equal(weights_of_nice(-20).value, 88761);
    assert_int_equal(weights_of_nice(0).value, WEIGHT_NICE_0);
    assert_int_equal(weights_of_nice(1).value, 820);
    assert_int_equal(weights_of_nice(5).value, 335);
    assert_int_equal(weights_of_nice(19).value, 15);
}

/* One level is a factor of about 1.25: within 5 % and the rounding of small weights. */
static void each_level_is_a_quarter_more(void **state)
{
    (void)state;
    for (int nice = WEIGHT_NICE_MIN; nice < WEIGHT_NICE_MAX; nice++) {
        double a = (double)weights_of_nice(nice).value, b = (double)weights_of_nice(nice + 1).value;
        assert_near(a / b, 1.25, 0.0625 + 1.25 * 0.5 / b);
    }
}

/* prio_to_wmult as the kernels have it. */
static void inverses_are_rounded_to_nearest(void **state)
{
    (void)state;
    assert_int_equal(weights_of_nice(-20).inv, 48388);
    assert_int_equal(weights_of_nice(-1).inv, 3363326);
    assert_int_equal(weights_of_nice(0).inv, 4194304);
    assert_int_equal(weights_of_nice(1).inv, 5237765);
    assert_int_equal(weights_of_nice(5).inv, 12820798);
    assert_int_equal(weights_of_nice(19).inv, 286331153);
    assert_int_equal(weights_single(3).inv, 1431655765);
}

static void scaling_divides_by_weight(void **state)
{
    (void)state;
    for (int nice = WEIGHT_NICE_MIN; nice <= WEIGHT_NICE_MAX; nice++) {
        struct weight w = weights_of_nice(nice);
        for (uint64_t delta = 1; delta < 1ull << 40; delta = delta * 3 + 1) {
            double exact = (double)delta * 1024 / (double)w.value;
            assert_near((double)weights_scale(delta, 1024, &w), exact, 1 + exact * 2e-5);
            if (delta < 1ull << 32)
                assert_near((double)weights_scale_rounded(delta, 1024, &w), exact, 64 + exact * 2e-5);
        }
    }
}

/* 2.6.2x: 1 ms at nice 5 = 3056716.4 ns; the product passes 2^32, so both shifts round. */
static void rounding_in_two_steps(void **state)
{
    (void)state;
    struct weight w = weights_of_nice(5);
    uint64_t product = 1000000ull * 1024, mid = (product + 32768) >> 16;
    assert_int_equal(mid, 15625);
    assert_int_equal(weights_scale_rounded(1000000, 1024, &w), (mid * 12820798 + 32768) >> 16);
    assert_int_equal(weights_scale(1000000, 1024, &w), 1000000ull * 1024 * 12820798 >> 32);
}

static void sums_compute_their_inverse_once(void **state)
{
    (void)state;
    struct weight w = {.value = 3 * 1024};
    assert_int_equal(weights_scale(3000000, 1024, &w), 999999); /* 2^32 / 3072 is truncated */
    assert_int_equal(w.inv, UINT32_MAX / 3072);
    struct weight old = {.value = 3 * 1024};
    /* 1 + (2^32 - 1536) / 3073 = 1397646; 3000000 * 1024 * 1397646 / 2^32 = 999674.3: the weight counts one more. */
    assert_int_equal(weights_scale_rounded(3000000, 1024, &old), 999674);
    assert_int_equal(old.inv, 1397646);
}

static void nice_0_runs_at_the_clock(void **state)
{
    (void)state;
    struct weight w = weights_of_nice(0), heavy = weights_of_nice(-5);
    assert_int_equal(weights_virtual(123456789, &w, false), 123456789);
    assert_true(weights_virtual(1000000, &heavy, false) < 330000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_and_middle),
        cmocka_unit_test(each_level_is_a_quarter_more),
        cmocka_unit_test(inverses_are_rounded_to_nearest),
        cmocka_unit_test(scaling_divides_by_weight),
        cmocka_unit_test(rounding_in_two_steps),
        cmocka_unit_test(sums_compute_their_inverse_once),
        cmocka_unit_test(nice_0_runs_at_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
