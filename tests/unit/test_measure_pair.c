/* Co-location of pairs: hand-made sequences of together and apart. */
#include "wbtest.h"

#include <math.h>

#include "measure.h"
#include "wakebal/run.h"

static struct arena arena;
static struct wb_measure *m;
static struct wb_result r;

static void begin(uint32_t instances, sim_time window)
{
    arena_init(&arena, "test");
    m = measure_new(&arena, &(struct measure_options){.ninstances = instances, .window = window});
    assert_non_null(m);
}

static void finish(sim_time now)
{
    measure_finish(m, now);
    memset(&r, 0, sizeof(r));
    assert_int_equal(measure_result(m, &r), 0);
}

static void end(void)
{
    measure_free(m);
    arena_free(&arena);
}

static const struct wb_metric *metric(uint32_t instance, const char *name)
{
    const struct wb_metric *x = wb_result_find(&r, instance, name);
    if (!x) fail_msg("no metric %s", name);
    return x;
}

/* 0..30 together (10 of it warm-up), 30..50 apart, 50..60 together, 60..100 apart. */
static void test_shares_and_regimes(void **state)
{
    (void)state;
    begin(1, 20);
    uint32_t p = measure_pair_new(m, 0, NULL);
    assert_int_equal(measure_seal(m), 0);
    measure_pair_set(m, p, true, 0);
    measure_start(m, 10);
    measure_window(m, 30);
    measure_pair_set(m, p, true, 30);
    measure_pair_set(m, p, false, 30);
    measure_window(m, 50);
    measure_pair_set(m, p, true, 50);
    measure_pair_set(m, p, false, 60);
    measure_window(m, 70);
    measure_window(m, 90);
    finish(100);
    assert_near(metric(0, "colocated")->value, 30.0 / 90, 1e-15);
    static const double share[] = {1, 0, 0.5, 0};
    for (unsigned i = 0; i < 4; i++) assert_near(metric(0, "colocated")->window[i], share[i], 1e-15);
    assert_near(metric(0, "regime.changes")->value, 3, 0);
    assert_true(metric(0, "regime.changes")->integer);
    assert_near(metric(0, "regime.together.count")->value, 2, 0); /* 20 (cut at 10) and 10 */
    assert_near(metric(0, "regime.together")->value * 1e12, 15, 1e-9);
    assert_near(metric(0, "regime.together.max")->value * 1e12, 20, 1e-9);
    assert_near(metric(0, "regime.apart.count")->value, 2, 0); /* 20 and 40 (cut by the end) */
    assert_near(metric(0, "regime.apart")->value * 1e12, 30, 1e-9);
    assert_int_equal(metric(0, "regime.apart")->hist->max, 40);
    end();
}

static void test_unknown_time_counts_for_nothing(void **state)
{
    (void)state;
    begin(1, 50);
    uint32_t p = measure_pair_new(m, 0, NULL);
    assert_int_equal(measure_seal(m), 0);
    measure_start(m, 0);
    measure_window(m, 50); /* nothing known: NAN */
    measure_pair_set(m, p, false, 60);
    measure_pair_set(m, p, true, 70);
    measure_pair_end(m, p, 80);
    measure_window(m, 100);
    finish(1000);
    assert_near(metric(0, "colocated")->value, 0.5, 1e-15);
    assert_true(isnan(metric(0, "colocated")->window[0]));
    assert_near(metric(0, "colocated")->window[1], 0.5, 1e-15);
    assert_near(metric(0, "regime.changes")->value, 1, 0);
    assert_near(metric(0, "regime.together.max")->value * 1e12, 10, 1e-9);
    end();
}

static void test_pairs_of_one_name_form_a_group(void **state)
{
    (void)state;
    begin(2, 1000);
    uint32_t a = measure_pair_new(m, 0, NULL), b = measure_pair_new(m, 0, NULL), c = measure_pair_new(m, 0, "bg");
    uint32_t d = measure_pair_new(m, 1, NULL), lone = measure_pair_new(m, MEASURE_MACHINE, NULL);
    assert_int_equal(measure_seal(m), 0);
    measure_start(m, 0);
    measure_pair_set(m, a, true, 0);
    measure_pair_set(m, b, false, 0);
    measure_pair_set(m, c, true, 0);
    measure_pair_set(m, d, false, 0);
    measure_pair_set(m, b, true, 60);
    finish(100);
    assert_near(metric(0, "colocated")->value, 0.7, 1e-15);
    assert_near(metric(0, "bg.colocated")->value, 1, 0);
    assert_near(metric(0, "bg.regime.together")->value * 1e12, 100, 1e-9);
    assert_near(metric(1, "colocated")->value, 0, 0);
    assert_true(isnan(metric(MEASURE_MACHINE, "colocated")->value));
    assert_int_equal(lone, 4);
    end();
}

static void test_run_that_ends_inside_its_warm_up(void **state)
{
    (void)state;
    begin(1, 10);
    uint32_t p = measure_pair_new(m, 0, NULL);
    assert_int_equal(measure_seal(m), 0);
    measure_pair_set(m, p, true, 0);
    finish(7);
    assert_true(isnan(metric(0, "colocated")->value));
    assert_int_equal(r.measured_from, 7);
    assert_int_equal(r.nwindows, 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_and_regimes),
        cmocka_unit_test(test_unknown_time_counts_for_nothing),
        cmocka_unit_test(test_pairs_of_one_name_form_a_group),
        cmocka_unit_test(test_run_that_ends_inside_its_warm_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
