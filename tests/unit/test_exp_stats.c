/* wb-link: wb_experiment wb_scenario wb_core */
#include "wbtest.h"

#include "exp_stats.h"
#include "sha256.h"

#include <math.h>

/* Student's t(0.975) for 4 degrees of freedom is 2.776 (any table). */
static void test_interval_is_students(void **state)
{
    (void)state;
    const double v[] = {10, 12, 11, 13, 14};
    struct exp_summary s = exp_summarize(v, 5, 0.95);
    assert_near(s.mean, 12, 1e-12);
    assert_near(s.sd, sqrt(2.5), 1e-12);
    assert_near(s.hi - s.mean, 2.7764451 * sqrt(2.5) / sqrt(5), 1e-6);
    assert_near(s.mean - s.lo, s.hi - s.mean, 1e-12);
    assert_near(s.min, 10, 0);
    assert_near(s.max, 14, 0);
    assert_near(s.median, 12, 0);
    assert_near(exp_relative_half_width(&s), (s.hi - s.mean) / 12, 1e-12);
}

static void test_unknown_is_nan(void **state)
{
    (void)state;
    const double one[] = {3}, gap[] = {NAN, 2, NAN, 4};
    struct exp_summary s = exp_summarize(one, 1, 0.95);
    assert_true(isnan(s.sd) && isnan(s.lo) && s.mean == 3);
    assert_true(isinf(exp_relative_half_width(&s)));
    s = exp_summarize(gap, 4, 0.95);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.missing, 2);
    assert_near(s.mean, 3, 0);
    s = exp_summarize(gap, 1, 0.95);
    assert_true(isnan(s.mean) && isnan(s.min));
}

static void test_equal_samples_are_exact(void **state)
{
    (void)state;
    const double v[] = {0.1, 0.1, 0.1};
    struct exp_summary s = exp_summarize(v, 3, 0.95);
    assert_true(s.mean == 0.1 && s.lo == 0.1 && s.hi == 0.1);
    assert_near(exp_relative_half_width(&s), 0, 0);
}

static void test_outlier_and_need(void **state)
{
    (void)state;
    const double v[] = {10, 11, 9, 10, 11, 9, 10, 30};
    assert_true(exp_mad_score(v, 8, 7) > 10);
    assert_true(fabs(exp_mad_score(v, 8, 0)) < 1);
    struct exp_summary s = exp_summarize(v, 8, 0.95);
    size_t need = exp_samples_needed(&s, 0.01, 0.95);
    assert_true(need > 8 && need < 100000);
    assert_int_equal(exp_samples_needed(&s, 0, 0.95), 0);
}

static void test_modes(void **state)
{
    (void)state;
    double two[20], flat[20];
    for (size_t i = 0; i < 20; i++) {
        two[i] = (i % 2 ? 1.0 : 5.0) + 0.01 * (double)(i % 5);
        flat[i] = (double)i;
    }
    struct exp_modes m = exp_modes(two, 20);
    assert_true(m.bimodal);
    assert_near(m.low, 1.02, 0.001);
    assert_near(m.high, 5.02, 0.001);
    assert_near(m.share_low, 0.5, 0);
    assert_false(exp_modes(flat, 20).bimodal);
    assert_false(exp_modes(two, 7).bimodal);
}

/* FIPS 180-4 examples. */
static void test_sha256(void **state)
{
    (void)state;
    char hex[65];
    sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    sha256_hex(two, strlen(two), hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interval_is_students),
        cmocka_unit_test(test_unknown_is_nan),
        cmocka_unit_test(test_equal_samples_are_exact),
        cmocka_unit_test(test_outlier_and_need),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
