/* Counts, warm-up, windows and their merging; results and fingerprint. */
#include "wbtest.h"

#include <math.h>

#include "measure.h"
#include "wakebal/run.h"

static struct arena arena;
static struct wb_measure *m;
static const struct wb_metric_spec bandwidth = {
    .name = "bandwidth", .unit = "B/s", .better = WB_BETTER_HIGHER, .help = "h"};
static const struct wb_metric_spec trip = {.name = "trip", .unit = "s", .better = WB_BETTER_LOWER, .per_count = true};
static const struct wb_metric_spec took = {.name = "took", .unit = "s", .better = WB_BETTER_LOWER, .elapsed = true};
static const struct measure_series_def switches = {.name = "switches", .unit = "1", .help = ""};
static const struct measure_series_def wasted = {
    .name = "waste", .unit = "1", .help = "", .kind = SERIES_TIME, .per = 4};

static void begin(const struct measure_options *o)
{
    arena_init(&arena, "test");
    m = measure_new(&arena, o);
    assert_non_null(m);
}

static void end(void)
{
    measure_free(m);
    arena_free(&arena);
}

static double value(const struct wb_result *r, uint32_t instance, const char *name)
{
    const struct wb_metric *x = wb_result_find(r, instance, name);
    if (!x) fail_msg("no metric %s of instance %u", name, instance);
    return x->value;
}

static void run_windows(unsigned n)
{
    for (unsigned i = 0; i < n; i++) measure_window(m, measure_window_end(m));
}

static void test_rates_leave_the_warm_up_out(void **state)
{
    (void)state;
    begin(&(struct measure_options){.ninstances = 2, .window = 100, .run_length = 1000});
    struct wb_progress *b = measure_progress_new(m, 0, &bandwidth), *t = measure_progress_new(m, 1, &trip);
    struct wb_counter *c = measure_counter_new(m, 0, "calls", "1", "");
    struct wb_latency *l = measure_latency_new(m, MEASURE_MACHINE, "delay", "");
    assert_ptr_equal(measure_progress_new(m, 0, &bandwidth), b); /* asked twice: the same */
    assert_int_equal(measure_seal(m), 0);
    measure_progress_add(b, 1000000); /* warm-up */
    measure_counter_add(c, 7);
    measure_latency_add(l, 5);
    measure_start(m, 500);
    for (unsigned i = 0; i < 10; i++) {
        measure_progress_add(b, i < 5 ? 10 : 30);
        measure_progress_add(t, 4);
        measure_counter_add(c, 1);
        measure_latency_add(l, 100 + i);
        measure_window(m, measure_window_end(m));
    }
    measure_progress_add(b, 2); /* in a window that does not close */
    measure_finish(m, 1550);
    struct wb_result r = {0};
    assert_int_equal(measure_result(m, &r), 0);
    assert_int_equal(r.nwindows, 10);
    assert_int_equal(r.window_ps, 100);
    assert_int_equal(r.measured_from, 500);
    assert_int_equal(r.duration, 1550);
    assert_near(value(&r, 0, "bandwidth"), 202 / 1050e-12, 1);
    assert_near(value(&r, 1, "trip") * 1e12, 1050.0 / 40, 1e-9);
    assert_near(value(&r, 0, "calls"), 10, 0);
    assert_near(value(&r, MEASURE_MACHINE, "delay") * 1e12, 104.5, 1e-9);
    assert_near(value(&r, MEASURE_MACHINE, "delay.max") * 1e12, 109, 1e-9);
    assert_near(value(&r, MEASURE_MACHINE, "delay.count"), 10, 0);
    const struct wb_metric *x = wb_result_find(&r, 0, "bandwidth");
    assert_near(x->window[4], 10 / 100e-12, 1);
    assert_near(x->window[5], 30 / 100e-12, 1);
    assert_near(value(&r, 0, "bandwidth.p50"), 20 / 100e-12, 1);
    assert_near(value(&r, 0, "bandwidth.modes"), 2, 0);
    assert_near(value(&r, 0, "bandwidth.high_share"), 0.5, 1e-12);
    assert_near(value(&r, 0, "bandwidth.low_mode"), 10 / 100e-12, 1);
    for (size_t i = 1; i < r.nmetrics; i++)
        assert_true(
            r.metric[i - 1].instance < r.metric[i].instance ||
            (r.metric[i - 1].instance == r.metric[i].instance && strcmp(r.metric[i - 1].name, r.metric[i].name) < 0));
    end();
}

static void test_rate_is_over_the_time_at_work(void **state)
{
    (void)state;
    begin(&(struct measure_options){.ninstances = 3, .window = 100});
    struct wb_progress *p[3];
    for (uint32_t i = 0; i < 3; i++) p[i] = measure_progress_new(m, i, &bandwidth);
    struct wb_counter *c = measure_counter_new(m, 0, "calls", "1", "");
    uint32_t pair = measure_pair_new(m, 0, NULL);
    struct wb_progress *t = measure_progress_new(m, 1, &took), *never = measure_progress_new(m, 2, &took);
    assert_non_null(t);
    assert_non_null(never);
    assert_int_equal(measure_seal(m), 0);
    measure_instance_started(m, 0, 10);
    measure_progress_add(p[0], 60);
    measure_counter_add(c, 5);
    measure_pair_set(m, pair, true, 10);
    measure_pair_set(m, pair, false, 25);
    measure_pair_end(m, pair, 70);
    measure_instance_done(m, 0, 70); /* over before the warm-up: measured whole */
    measure_start(m, 100);
    run_windows(1);
    measure_instance_started(m, 1, 240);
    measure_instance_started(m, 1, 999); /* only the first counts */
    measure_instance_started(m, 2, 240);
    for (unsigned i = 0; i < 5; i++) {
        measure_progress_add(p[1], 3);
        measure_progress_add(p[2], 5);
        run_windows(1);
    }
    measure_instance_done(m, 1, 540);
    measure_finish(m, 740);
    struct wb_result r = {0};
    assert_int_equal(measure_result(m, &r), 0);
    assert_near(value(&r, 0, "bandwidth") * 1e-12, 1.0, 1e-9);
    assert_near(value(&r, 0, "calls"), 5, 0);
    assert_near(value(&r, 0, "colocated"), 0.25, 1e-12);
    assert_near(value(&r, 1, "bandwidth") * 1e-12, 15.0 / 300, 1e-9);
    assert_near(value(&r, 2, "bandwidth") * 1e-12, 25.0 / 500, 1e-9);
    assert_near(value(&r, 1, "took") * 1e12, 300, 1e-9);
    assert_true(isnan(value(&r, 2, "took")));
    /* windows 100-200 and 200-300 hold time before the start, 500-600 and 600-700 time after the end: two are whole */
    assert_near(value(&r, 1, "bandwidth.p10") * 1e-12, 0.03, 1e-9);
    assert_near(value(&r, 1, "bandwidth.modes"), 1, 0);
    /* each window by the time at work in it; of less than half there is none: not even a rate of 0 */
    const double *w = wb_result_find(&r, 1, "bandwidth")->window;
    assert_true(isnan(w[0]) && isnan(w[4]) && isnan(w[5]));
    assert_near(w[1] * 1e-12, 3.0 / 60, 1e-9);
    assert_near(w[2] * 1e-12, 3.0 / 100, 1e-9);
    for (uint32_t i = 0; i < r.nwindows; i++) assert_true(isnan(wb_result_find(&r, 0, "bandwidth")->window[i]));
    end();
}

static void test_series_totals_rates_and_shares(void **state)
{
    (void)state;
    begin(&(struct measure_options){.window = 1000, .run_length = 4000});
    uint32_t s = measure_series_new(m, &switches), w = measure_series_new(m, &wasted);
    for (unsigned i = 0; i < 20; i++) { /* the array moves while it grows */
        static char name[20][8];
        snprintf(name[i], sizeof(name[i]), "s%u", i);
        assert_int_equal(measure_series_new(m, &(struct measure_series_def){.name = name[i], .unit = "1", .help = ""}),
                         i + 2);
    }
    assert_int_equal(measure_series_new(m, &switches), s);
    assert_int_equal(measure_seal(m), 0);
    measure_start(m, 0);
    for (unsigned i = 0; i < 4; i++) {
        measure_series_add(m, s, i);
        measure_series_add(m, w, 400 * i);
        run_windows(1);
    }
    assert_int_equal(measure_series_value(m, s), 6);
    measure_finish(m, 4000);
    struct wb_result r = {0};
    assert_int_equal(measure_result(m, &r), 0);
    assert_near(value(&r, MEASURE_MACHINE, "switches"), 6, 0);
    assert_near(value(&r, MEASURE_MACHINE, "switches.rate"), 6 / 4000e-12, 1);
    assert_near(value(&r, MEASURE_MACHINE, "waste"), 2400.0 / 16000, 1e-12);
    assert_near(wb_result_find(&r, MEASURE_MACHINE, "waste")->window[3], 0.3, 1e-12);
    assert_near(value(&r, MEASURE_MACHINE, "s19"), 0, 0);
    assert_null(wb_result_find(&r, MEASURE_MACHINE, "nothing"));
    end();
}

static void test_windows_double_when_they_run_out(void **state)
{
    (void)state;
    begin(&(struct measure_options){.ninstances = 1, .window = 10, .windows_max = 4, .run_length = 1000000});
    struct wb_progress *p = measure_progress_new(m, 0, &bandwidth);
    assert_int_equal(measure_seal(m), 0);
    measure_start(m, 0);
    static const sim_time want[] = {20, 30, 40, 60, 80, 120}; /* 20 wide after the fourth, 40 after the sixth */
    for (unsigned i = 0; i < WB_ARRAY_SIZE(want); i++) {
        measure_progress_add(p, 1ull << i);
        assert_int_equal(measure_window(m, measure_window_end(m)), want[i]);
    }
    measure_finish(m, 120);
    struct wb_result r = {0};
    assert_int_equal(measure_result(m, &r), 0);
    assert_int_equal(r.window_ps, 40);
    assert_int_equal(r.nwindows, 2);
    const struct wb_metric *x = wb_result_find(&r, 0, "bandwidth");
    assert_near(x->window[0] * 40e-12, 15, 1e-9);
    assert_near(x->window[1] * 40e-12, 48, 1e-9);
    end();
}

static void test_figures_from_elsewhere(void **state)
{
    (void)state;
    begin(&(struct measure_options){.ninstances = 1});
    assert_int_equal(measure_seal(m), 0);
    measure_start(m, 0);
    measure_finish(m, 5);
    static const struct wb_metric_def own = {"zeta", "B", WB_BETTER_LOWER, "own"};
    measure_metric(m, 0, &own, 2.5, false);
    for (unsigned i = 0; i < 200; i++) { /* past the first room */
        static char name[200][24];
        snprintf(name[i], sizeof(name[i]), "migrations.k%03u", i);
        measure_metric_named(m, MEASURE_MACHINE, name[i], i, true);
    }
    struct wb_result r = {0};
    assert_int_equal(measure_result(m, &r), 0);
    assert_int_equal(r.nmetrics, 201);
    assert_near(value(&r, 0, "zeta"), 2.5, 0);
    assert_near(value(&r, MEASURE_MACHINE, "migrations.k150"), 150, 0);
    assert_string_equal(wb_result_find(&r, MEASURE_MACHINE, "migrations.k150")->help,
                        wb_metric_def_find("migrations.KIND")->help);
    end();
}

/* One small run; `twist` changes one number. */
static uint64_t print_of(unsigned twist)
{
    begin(&(struct measure_options){.ninstances = 1, .window = 10});
    struct wb_progress *p = measure_progress_new(m, 0, &bandwidth);
    struct wb_counter *c = measure_counter_new(m, 0, "c", "1", "");
    struct wb_latency *l = measure_latency_new(m, 0, "l", "");
    uint32_t s = measure_series_new(m, &switches), pair = measure_pair_new(m, 0, NULL);
    assert_int_equal(measure_seal(m), 0);
    measure_start(m, 0);
    measure_pair_set(m, pair, true, 0);
    measure_progress_add(p, 1 + (twist == 1));
    measure_counter_add(c, 1 + (twist == 2));
    measure_latency_add(l, 1000 + (twist == 3));
    measure_series_add(m, s, 1 + (twist == 4));
    measure_pair_set(m, pair, false, 5 + (twist == 5));
    run_windows(1);
    measure_finish(m, 15);
    measure_metric_named(m, 0, "ipis", twist == 6 ? NAN : 1, true);
    uint64_t f = measure_fingerprint(m);
    end();
    return f;
}

static void test_fingerprint_sees_every_number(void **state)
{
    (void)state;
    uint64_t f = print_of(0);
    assert_true(f == print_of(0));
    for (unsigned i = 1; i <= 6; i++)
        if (print_of(i) == f) fail_msg("change %u does not show", i);
}

static void close_early(void)
{
    begin(&(struct measure_options){.window = 10});
    if (measure_seal(m)) return;
    measure_start(m, 0);
    measure_window(m, 9);
}

static void create_late(void)
{
    begin(&(struct measure_options){.ninstances = 1});
    if (measure_seal(m)) return;
    (void)!measure_progress_new(m, 0, &bandwidth);
}

static void test_misuse_is_caught(void **state)
{
    (void)state;
    char text[512];
    assert_int_equal(wb_dies(close_early, text, sizeof(text)), 0);
    assert_non_null(strstr(text, "this window ends at 10 ps"));
    assert_int_equal(wb_dies(create_late, text, sizeof(text)), 0);
    assert_non_null(strstr(text, "while building"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates_leave_the_warm_up_out),
        cmocka_unit_test(test_rate_is_over_the_time_at_work),
        cmocka_unit_test(test_series_totals_rates_and_shares),
        cmocka_unit_test(test_windows_double_when_they_run_out),
        cmocka_unit_test(test_figures_from_elsewhere),
        cmocka_unit_test(test_fingerprint_sees_every_number),
        cmocka_unit_test(test_misuse_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
