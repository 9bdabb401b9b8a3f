#include "wbtest.h"

#include "compare_rows.h"

#include <math.h>

static void near(double is, double want, double by)
{
    if (!(fabs(is - want) <= by)) fail_msg("%.17g is not %.17g", is, want);
}

/* A reproducible normal deviate: the sum of twelve uniforms. */
static uint64_t random_state = 12345;
static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(random_state >> 11) / 9007199254740992.0;
    }
    return sum;
}

/* By hand: logs of ratios 1.1, 1.2, 1.3: mean 0.18015, sd 0.08375, t(2, 97.5 %) = 4.30265. */
static void test_pairs(void **state)
{
    (void)state;
    const double a[] = {100, 200, 50}, b[] = {110, 240, 65};
    struct compare_change c = compare_samples(a, 3, b, 3, true, 0.95);
    double l[] = {log(1.1), log(1.2), log(1.3)}, mean = (l[0] + l[1] + l[2]) / 3, var = 0;
    for (int i = 0; i < 3; i++) var += (l[i] - mean) * (l[i] - mean) / 2;
    double half = 4.302652729911275 * sqrt(var / 3);
    assert_true(c.paired && c.logs && c.n == 3);
    near(c.change, exp(mean) - 1, 1e-12);
    near(c.lo, exp(mean - half) - 1, 1e-9);
    near(c.hi, exp(mean + half) - 1, 1e-9);
    assert_true(c.p > 0.05 && c.p < 0.1);
}

/* Welch's own example is long; here df by hand: a = {1,2,3} + 10, b = {2,4,6} + 10 on differences (one is negative). */
static void test_welch(void **state)
{
    (void)state;
    const double a[] = {-1, 2, 5}, b[] = {2, 4, 6};
    struct compare_change c = compare_samples(a, 3, b, 3, false, 0.95);
    /* means 2 and 4, variances 9 and 4, in units of 2: change 1, error sqrt(13/3)/2, df (13/3)^2 / (3^2/2 +
     * (4/3)^2/2) */
    double error = sqrt(13.0 / 3) / 2, df = 13.0 / 3 * 13.0 / 3 / (4.5 + 16.0 / 18);
    assert_false(c.logs);
    near(c.change, 1, 1e-12);
    near(df, 3.4845, 1e-3);
    assert_true(c.hi - c.change > 2.77 * error && c.hi - c.change < 3.19 * error); /* between t(4) and t(3) */
}

static void test_edges(void **state)
{
    (void)state;
    const double a[] = {5, 5, 5}, b[] = {6, 6, 6}, zero[] = {0, 0}, gap[] = {5, NAN, 5};
    struct compare_change c = compare_samples(a, 3, a, 3, true, 0.95);
    assert_true(c.exact && c.p == 1 && c.change == 0);
    c = compare_samples(a, 3, b, 3, true, 0.95);
    assert_true(c.exact && c.p == 0);
    near(c.change, 0.2, 1e-12);
    c = compare_samples(a, 3, gap, 3, true, 0.95);
    assert_int_equal(c.n, 2);
    c = compare_samples(a, 1, b, 1, true, 0.95);
    assert_true(isnan(c.p) && isnan(c.lo));
    near(c.change, 0.2, 1e-12);
    c = compare_samples(zero, 2, zero, 2, true, 0.95);
    assert_true(c.exact && c.change == 0);
    c = compare_samples(zero, 2, b, 2, true, 0.95);
    assert_true(isnan(c.change));
    c = compare_samples(a, 0, b, 0, false, 0.95);
    assert_true(isnan(c.change) && isnan(c.p));
}

static void test_holm(void **state)
{
    (void)state;
    struct compare_change c[] = {{.p = 0.01}, {.p = 0.04}, {.p = 0.03}, {.p = NAN}, {.p = 0.005}}, *list[5];
    const double want[] = {0.03, 0.06, 0.06, NAN, 0.02}; /* Holm: 4 tests */
    for (size_t i = 0; i < 5; i++) list[i] = &c[i];
    for (size_t i = 0; i < 5; i++) c[i].p_holm = NAN;
    compare_holm(list, 5);
    for (size_t i = 0; i < 5; i++)
        if (isnan(want[i]))
            assert_true(isnan(c[i].p_holm));
        else
            near(c[i].p_holm, want[i], 1e-12);
}

/* Two studies of the same thing with other seeds, 200 figures: at the 5 % level at most 5 % may look different, and
 * after Holm's correction next to none; over 50 such pairs. */
static void test_nothing_changed(void **state)
{
    (void)state;
    size_t single = 0, corrected = 0;
    for (int study = 0; study < 50; study++) {
        static struct compare_change c[200], *list[200];
        for (size_t i = 0; i < 200; i++) {
            double a[8], b[8];
            for (int k = 0; k < 8; k++) a[k] = 100 * exp(0.1 * normal()), b[k] = 100 * exp(0.1 * normal());
            c[i] = compare_samples(a, 8, b, 8, i % 2, 0.95);
            list[i] = &c[i];
            single += c[i].p < 0.05;
        }
        compare_holm(list, 200);
        bool any = false;
        for (size_t i = 0; i < 200; i++) any |= c[i].p_holm < 0.05;
        corrected += any;
    }
    print_message("of 10000 tests %zu below 5 %%; of 50 tables %zu with a star\n", single, corrected);
    assert_true(single > 350 && single < 600); /* 500 +- 4.5 deviations of 22 */
    assert_true(corrected <= 8);               /* 2.5 expected */
}

/* An injected change of 2 % is found with the number of replications that is announced, four times of five. */
static void test_announced_number(void **state)
{
    (void)state;
    for (int paired = 0; paired < 2; paired++) {
        size_t n = 0, found = 0, rounds = 400;
        double a[400], b[400], pilot_a[400], pilot_b[400];
        for (int k = 0; k < 400; k++) pilot_a[k] = exp(0.03 * normal()), pilot_b[k] = exp(0.03 * normal());
        struct compare_change pilot = compare_samples(pilot_a, 400, pilot_b, 400, paired, 0.95);
        n = compare_needed(&pilot, 0.02, 0.95);
        assert_true(n > 10 && n < 100);
        for (size_t r = 0; r < rounds; r++) {
            for (size_t k = 0; k < n; k++) a[k] = exp(0.03 * normal()), b[k] = 1.02 * exp(0.03 * normal());
            found += compare_samples(a, n, b, n, paired, 0.95).p < 0.05;
        }
        print_message("%s: %zu replications announced, found %zu of %zu\n", paired ? "paired" : "apart", n, found,
                      rounds);
        assert_true(found > 290 && found < 360); /* 320 +- 5 deviations of 8 at the top, 4 below */
    }
}

/* ------------------------------------------------------------------ rows */
static double base_time[] = {1.0, 1.02, 0.98, 1.01}, slow_time[] = {1.10, 1.12, 1.08, 1.11}, rate[] = {5, 5, 5, 5};

static struct compare_set make_set(struct compare_point *p, struct compare_metric *m, const char *name, double *time)
{
    m[0] = (struct compare_metric){(char *)"time", (char *)"w", (char *)"s", WB_BETTER_LOWER, time, 4};
    m[1] = (struct compare_metric){(char *)"rate", NULL, (char *)"1/s", WB_BETTER_HIGHER, rate, 4};
    m[2] = (struct compare_metric){(char *)"count", NULL, (char *)"1", WB_BETTER_NONE, rate, 4};
    *p = (struct compare_point){
        .label = (char *)"", .seed = 1, .confidence = 0.95, .primary = (char *)"time", .metric = m, .nmetrics = 3};
    return (struct compare_set){.name = (char *)name, .point = p, .n = 1};
}

static void count(void *ctx, const struct compare_row *r, size_t set)
{
    (void)r, (void)set;
    ++*(int *)ctx;
}

static void test_rows_and_gates(void **state)
{
    (void)state;
    struct compare_point p[2];
    struct compare_metric m[2][3];
    struct compare_set set[] = {make_set(&p[0], m[0], "base", base_time), make_set(&p[1], m[1], "new", slow_time)};
    struct compare_options opt = {.confidence = 0};
    char *unknown, why[256];
    struct compare_table *t = compare_table_new(set, 2, &opt, &unknown);
    assert_null(unknown);
    assert_int_equal(t->n, 2);
    assert_string_equal(t->row[0].metric->name, "time");
    assert_int_equal(t->row[0].cell[1].verdict, COMPARE_WORSE);
    assert_int_equal(t->row[1].cell[1].verdict, COMPARE_SAME);
    assert_true(t->row[0].cell[1].change.paired);
    int told = 0;
    assert_int_equal(compare_fail_if(t, "time worse than base by 3%", count, &told, why), 1);
    assert_int_equal(told, 1);
    assert_int_equal(compare_fail_if(t, "time worse than base by 15%", count, &told, why), 0);
    assert_int_equal(compare_fail_if(t, "any worse than base", count, &told, why), 1);
    assert_int_equal(compare_fail_if(t, "rate changed by 1%", count, &told, why), 0);
    assert_int_equal(compare_fail_if(t, "time@w changed", count, &told, why), 1);
    assert_int_equal(compare_fail_if(t, "time worse than new", count, &told, why), -1);
    assert_int_equal(compare_fail_if(t, "nothing changed", count, &told, why), -1);
    assert_int_equal(compare_fail_if(t, "time is bad", count, &told, why), -1);
    assert_non_null(compare_fail_if_syntax("time worse than base by much"));
    compare_table_free(t);
    opt.metrics = "count,nonsense";
    t = compare_table_new(set, 2, &opt, &unknown);
    assert_string_equal(unknown, "nonsense");
    assert_int_equal(t->n, 1);
    free(unknown);
    compare_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs),           cmocka_unit_test(test_welch),
                                       cmocka_unit_test(test_edges),           cmocka_unit_test(test_holm),
                                       cmocka_unit_test(test_nothing_changed), cmocka_unit_test(test_announced_number),
                                       cmocka_unit_test(test_rows_and_gates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
