/* Warm-up, batch means, quantiles, modes: closed forms, and error rates on drawn series. */
#include "wbtest.h"

#include <math.h>

#include "measure_stats.h"
#include "propcheck.h"

/* A sum of twelve uniforms less six: near enough to a normal variate, without libm. */
static double normal(struct prop_rng *r)
{
    double s = -6;
    for (int i = 0; i < 12; i++) s += (double)(prop_u64(r) >> 11) / 9007199254740992.0;
    return s;
}

static void test_quantiles(void **state)
{
    (void)state;
    double v[] = {4, 1, 3, 2, NAN};
    double c[5];
    size_t n = measure_compact(c, v, 5);
    assert_int_equal(n, 4);
    measure_sort(c, n);
    assert_near(measure_quantile(c, n, 0), 1, 0);
    assert_near(measure_quantile(c, n, 1), 4, 0);
    assert_near(measure_quantile(c, n, 0.5), 2.5, 1e-12);
    assert_near(measure_quantile(c, n, 0.1), 1.3, 1e-12); /* R: quantile(1:4, .1) */
    assert_near(measure_quantile(c, 1, 0.9), 1, 0);
    assert_true(isnan(measure_quantile(c, 0, 0.5)));
}

static void test_interval(void **state)
{
    (void)state;
    assert_near(measure_half_width(1, 10, 0.95), 2.262157 / sqrt(10), 1e-6); /* t table, 9 degrees */
    assert_near(measure_half_width(2, 5, 0.99), 2 * 4.604095 / sqrt(5), 1e-5);
    assert_true(isnan(measure_half_width(1, 1, 0.95)));
}

static void test_mser_finds_the_start_up(void **state)
{
    (void)state;
    double v[200];
    for (unsigned i = 0; i < 200; i++) v[i] = (i < 30 ? 500 : 100) + (i % 2 ? 1 : -1);
    assert_int_equal(measure_warmup_mser(v, 200), 30);
    for (unsigned i = 0; i < 200; i++) v[i] = 100;
    assert_int_equal(measure_warmup_mser(v, 200), 0);
    for (unsigned i = 0; i < 200; i++) v[i] = i; /* never settles */
    assert_true(measure_warmup_mser(v, 200) == SIZE_MAX);
    assert_int_equal(measure_warmup_mser(v, 19), 0);
}

static void test_mser_on_noise_with_decay(void **state)
{
    (void)state;
    struct prop_rng r = {7};
    size_t sum = 0;
    for (int k = 0; k < 50; k++) {
        double v[300], decay = 20;
        for (unsigned i = 0; i < 300; i++, decay *= 0.95) v[i] = 50 + normal(&r) + decay;
        size_t cut = measure_warmup_mser(v, 300);
        assert_true(cut != SIZE_MAX && cut >= 20 && cut <= 150);
        sum += cut;
    }
    assert_in_range(sum / 50, 30, 110); /* 20 * 0.95^k falls below the noise of a five-batch, 0.45, at k = 74 */
}

static void test_batches_of_independent_values(void **state)
{
    (void)state;
    double v[64];
    for (unsigned i = 0; i < 64; i++) v[i] = (i * 37 % 64);
    struct measure_batch b = measure_batch_means(v, 64, 0.95);
    assert_true(b.ok);
    assert_int_equal(b.size, 1);
    assert_near(b.mean, 31.5, 1e-12);
    double sd = sqrt((64.0 * 64 - 1) / 12 * 64 / 63); /* of 0..63 */
    assert_near(b.half_width, measure_half_width(sd, 64, 0.95), 1e-9);
    assert_false(measure_batch_means(v, 7, 0.95).ok);
    assert_near(measure_batch_means(v, 2, 0.95).mean, 18.5, 1e-12);
}

static void test_batches_grow_until_independent(void **state)
{
    (void)state;
    struct prop_rng r = {3};
    unsigned covered = 0, good = 0;
    for (int k = 0; k < 200; k++) {
        double v[1024], x = normal(&r) / sqrt(1 - 0.81);
        for (unsigned i = 0; i < 1024; i++) v[i] = 10 + (x = 0.9 * x + normal(&r));
        struct measure_batch b = measure_batch_means(v, 1024, 0.95);
        if (!b.ok) continue;
        good++;
        assert_true(b.size >= 4);
        covered += fabs(b.mean - 10) <= b.half_width;
    }
    assert_true(good >= 190);
    /* The naive interval (size 1) would cover 35 % here; batch means of this length cover about 90 %. */
    assert_true(covered * 100 >= good * 85);
}

static void test_two_modes(void **state)
{
    (void)state;
    double v[] = {1.0, 1.01, 0.99, 1.0, 5.0, 5.05, 4.95, 5.0, 5.0, 5.0};
    measure_sort(v, 10);
    struct measure_modes s = measure_modes(v, 10);
    assert_int_equal(s.modes, 2);
    assert_near(s.low, 1, 1e-12);
    assert_near(s.high, 5, 1e-12);
    assert_near(s.high_share, 0.6, 1e-12);
    assert_near(s.gap, 4 / sqrt((2 * 0.01 * 0.01 + 2 * 0.05 * 0.05) / 10), 1e-6);
}

static void test_one_mode(void **state)
{
    (void)state;
    double flat[] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, grain[20], one[40];
    assert_int_equal(measure_modes(flat, 10).modes, 1);
    assert_near(measure_modes(flat, 10).high_share, 1, 0);
    assert_int_equal(measure_modes(flat, 0).modes, 0);
    for (unsigned i = 0; i < 20; i++) grain[i] = i < 10 ? 1000 : 1001; /* two values, 0.1 % apart */
    assert_int_equal(measure_modes(grain, 20).modes, 1);
    for (unsigned i = 0; i < 40; i++) one[i] = i < 39 ? 10 + 0.01 * i : 20; /* one outlier is no mode */
    assert_int_equal(measure_modes(one, 40).modes, 1);
}

/* How often does one hump look like two? */
static void test_noise_is_rarely_bimodal(void **state)
{
    (void)state;
    struct prop_rng r = {11};
    unsigned wrong = 0, found = 0;
    for (int k = 0; k < 1000; k++) {
        double v[20], w[20];
        for (unsigned i = 0; i < 20; i++) {
            v[i] = 100 + 10 * normal(&r);
            w[i] = (i % 3 ? 100 : 250) + 10 * normal(&r);
        }
        measure_sort(v, 20);
        measure_sort(w, 20);
        wrong += measure_modes(v, 20).modes == 2;
        found += measure_modes(w, 20).modes == 2;
    }
    assert_true(wrong <= 10);
    assert_true(found >= 990);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_mser_finds_the_start_up),
        cmocka_unit_test(test_mser_on_noise_with_decay),
        cmocka_unit_test(test_batches_of_independent_values),
        cmocka_unit_test(test_batches_grow_until_independent),
        cmocka_unit_test(test_two_modes),
        cmocka_unit_test(test_one_mode),
        cmocka_unit_test(test_noise_is_rarely_bimodal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
