/* wb-link: wb_validate wb_measure wb_core */
#include "wbtest.h"

#include "real_inner.h"

/* A board that only meters look at; the clock is the test's own (meter_start reads the real one: begin_at is set from
 * it). */
static struct real_board *board(uint64_t begin_in, uint64_t length, uint64_t window)
{
    struct real_board *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->begin_at = real_now() + begin_in;
    b->stop_at = length ? b->begin_at + length : UINT64_MAX;
    b->spec.window_ns = window;
    return b;
}

static struct real_meter *meter(void)
{
    struct real_meter *m = calloc(1, sizeof *m);
    assert_non_null(m);
    return m;
}

/* Work before begin_at is not counted; the operation that crosses the end is, with its time. */
static void test_edges(void **state)
{
    (void)state;
    struct real_board *b = board(1000000000, 100, 1000);
    struct real_meter *m = meter();
    struct meter_run r;
    meter_start(&r, m, b);
    uint64_t t0 = b->begin_at;
    assert_true(meter_count(&r, t0 - 50, 1, false, 7000));
    assert_true(meter_count(&r, t0 + 3, 1, false, 7000)); /* crosses begin_at: the clock starts here */
    assert_true(meter_count(&r, t0 + 50, 1, true, 47000));
    assert_false(meter_count(&r, t0 + 110, 1, false, 60000));
    assert_int_equal(m->begin_ns, t0 + 3);
    assert_int_equal(m->end_ns, t0 + 110);
    assert_int_equal(m->ops, 2);
    assert_int_equal(m->together, 1);
    assert_int_equal(m->latency.count, 2);
    assert_int_equal(m->latency.max, 60000);
    assert_int_equal(m->windows, 0); /* not one was complete */
    free(m);
    free(b);
}

/* An operation belongs to the window in which it began; windows that it passes over are empty. */
static void test_windows(void **state)
{
    (void)state;
    struct real_board *b = board(1000000000, 1000, 100);
    struct real_meter *m = meter();
    struct meter_run r;
    meter_start(&r, m, b);
    uint64_t t0 = b->begin_at;
    meter_count(&r, t0, 1, false, 1); /* starts the clock */
    meter_count(&r, t0 + 40, 2, true, 1);
    meter_count(&r, t0 + 90, 3, false, 1);
    meter_count(&r, t0 + 310, 5, true, 1); /* began in window 0, ends in window 3 */
    meter_count(&r, t0 + 350, 7, false, 1);
    meter_count(&r, t0 + 400, 1, false, 1);
    assert_int_equal(m->windows, 4);
    const uint64_t ops[] = {10, 0, 0, 8}, together[] = {7, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(m->window[i].ops, ops[i]);
        assert_int_equal(m->window[i].together, together[i]);
    }
    meter_finish(&r);
    assert_int_equal(m->ops, 18);
    assert_int_equal(m->end_ns, t0 + 400);
    free(m);
    free(b);
}

/* However many windows, memory is bounded: they become longer; nothing is lost, and later ones keep their place. */
static void test_halving(void **state)
{
    (void)state;
    struct real_board *b = board(1000000000, 0, 10);
    struct real_meter *m = meter();
    struct meter_run r;
    const uint64_t n = 5 * REAL_WINDOWS_MAX + 3;
    meter_start(&r, m, b);
    meter_count(&r, b->begin_at, 1, false, 0);
    for (uint64_t i = 1; i <= 10 * n; i++) meter_count(&r, b->begin_at + i, 1, false, 0);
    meter_finish(&r);
    assert_true(m->windows < REAL_WINDOWS_MAX);
    assert_int_equal(m->window_ns, 80); /* 10 x 8 */
    assert_int_equal(m->windows, 10 * n / 80);
    assert_int_equal(m->ops, 10 * n);
    for (uint32_t i = 0; i < m->windows; i++) assert_int_equal(m->window[i].ops, 80);
    free(m);
    free(b);
}

/* By count: begins at once, ends with the last operation. */
static void test_by_count(void **state)
{
    (void)state;
    struct real_board *b = board(0, 0, 1000);
    struct real_meter *m = meter();
    struct meter_run r;
    b->begin_at = 0;
    uint64_t before = real_now();
    meter_start(&r, m, b);
    assert_true(m->begin_ns >= before);
    uint64_t t0 = m->begin_ns;
    for (uint64_t i = 1; i <= 10; i++) assert_true(meter_count(&r, t0 + 7 * i, 1, false, 0));
    meter_finish(&r);
    assert_int_equal(m->ops, 10);
    assert_int_equal(m->end_ns - m->begin_ns, 70);
    meter_finish(&r); /* twice does no harm */
    assert_int_equal(m->ops, 10);
    free(m);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_halving),
        cmocka_unit_test(test_by_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
