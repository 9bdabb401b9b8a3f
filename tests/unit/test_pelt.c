/* Load averages: the kernels' tables, half-life, and an exact sum in floating point as a twin. wb-link: wb_sched
 * wb_core */
#include "wbtest.h"

#include <math.h>

#include "pelt.h"

#define MS 1000000ull

static struct pelt_table table;

static int setup(void **state)
{
    (void)state;
    pelt_init(&table);
    return 0;
}

/* runnable_avg_yN_inv of kernel/sched/sched-pelt.h, here and there. */
static void tables_are_the_kernels(void **state)
{
    static const struct {
        uint32_t n, y;
    } known[] = {{0, 0xffffffff},  {1, 0xfa83b2da},  {2, 0xf5257d14},  {7, 0xdbfbb796},  {12, 0xc5672a10},
                 {16, 0xb504f333}, {20, 0xa5fed6a9}, {24, 0x9837f050}, {28, 0x8b95c1e3}, {31, 0x82cd8698}};
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(known); i++) assert_int_equal(table.y[known[i].n], known[i].y);
    assert_int_equal(table.max, 47742);
}

static void half_is_left_after_32_periods(void **state)
{
    (void)state;
    assert_int_equal(pelt_decay(&table, 1 << 20, 32), (1 << 19) - 1); /* y^0 is 2^32 - 1 of 2^32 */
    assert_int_equal(pelt_decay(&table, 1 << 20, 64), (1 << 18) - 1);
    assert_int_equal(pelt_decay(&table, 1 << 20, 32 * 63 + 1), 0);
}

static struct pelt_avg runs(uint64_t from, uint64_t to, uint64_t step)
{
    struct pelt_avg a = {.last_update = from};
    const struct pelt_now w = {.load = 1, .runnable = PELT_SCALE, .running = true};
    for (uint64_t t = from + step; t <= to; t += step)
        if (pelt_update_sum(&table, &a, t, &w)) pelt_update_avg(&table, &a, 1024);
    return a;
}

/* A task that runs all the time from nothing: half of 1024 after one half-life of 32.8 ms. */
static void util_of_a_task_that_runs_32_8_ms_is_512(void **state)
{
    (void)state;
    struct pelt_avg a = runs(0, 32 * 1024 * 1024, 1024 * 1024);
    assert_near((double)a.util_avg, 512, 1);
    assert_near((double)a.load_avg, 512, 1);
    assert_near((double)a.runnable_avg, 512, 1);
}

static void converges_to_full_scale(void **state)
{
    (void)state;
    assert_near((double)runs(0, 500 * MS, 4 * MS).util_avg, 1024, 2);
    assert_near((double)runs(0, 160 * MS, 4 * MS).util_avg, 1024 * 0.966, 8); /* 5 half-lives: 97 % */
}

/* When it is updated makes no difference beyond truncation. */
static void step_size_does_not_matter(void **state)
{
    (void)state;
    double once = (double)runs(0, 100 * MS, 100 * MS).util_avg;
    assert_near((double)runs(0, 100 * MS, MS / 10).util_avg, once, 3);
    assert_near((double)runs(0, 100 * MS, 7 * MS).util_avg, once, 40); /* 98 ms */
}

static void less_than_a_microsecond_waits(void **state)
{
    (void)state;
    struct pelt_avg a = {.last_update = 0};
    const struct pelt_now w = {.load = 1, .running = true};
    assert_false(pelt_update_sum(&table, &a, 1023, &w));
    assert_int_equal(a.last_update, 0);
    assert_false(pelt_update_sum(&table, &a, 1025, &w));
    assert_int_equal(a.last_update, 1024);
    assert_int_equal(a.util_sum, 1024);
}

static void sleeping_decays(void **state)
{
    (void)state;
    struct pelt_avg a = runs(0, 500 * MS, 4 * MS);
    const struct pelt_now asleep = {0};
    assert_true(pelt_update_sum(&table, &a, 500 * MS + 32 * 1048576ull, &asleep));
    pelt_update_avg(&table, &a, 1024);
    assert_near((double)a.util_avg, 512, 2);
    assert_near((double)a.load_avg, 512, 2);
}

static void a_clock_that_goes_back_is_taken_as_it_is(void **state)
{
    (void)state;
    struct pelt_avg a = {.last_update = 5 * MS, .util_sum = 77};
    const struct pelt_now w = {.load = 1, .running = true};
    assert_false(pelt_update_sum(&table, &a, 4 * MS, &w));
    assert_int_equal(a.last_update, 4 * MS);
    assert_int_equal(a.util_sum, 77);
}

/* Random bursts against the continuous average; the kernels' is within a period's part of it. */
static void random_bursts_follow_the_continuous_average(void **state)
{
    (void)state;
    struct pelt_avg a = {0};
    double y = pow(0.5, 1.0 / (32 * 1048576.0)), twin = 0;
    uint64_t t = 0, r = 12345;
    for (int i = 0; i < 3000; i++) {
        r = r * 6364136223846793005ull + 1442695040888963407ull;
        uint64_t len = (r >> 33) % (12 * MS) + 1024;
        bool run = r >> 20 & 1;
        const struct pelt_now w = {.load = 1, .running = run};
        double left = pow(y, (double)len);
        t += len;
        if (pelt_update_sum(&table, &a, t, &w)) pelt_update_avg(&table, &a, 1024);
        twin = twin * left + (run ? 1024 * (1 - left) : 0);
        assert_near((double)a.util_avg, twin, 32);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_the_kernels),
        cmocka_unit_test(half_is_left_after_32_periods),
        cmocka_unit_test(util_of_a_task_that_runs_32_8_ms_is_512),
        cmocka_unit_test(converges_to_full_scale),
        cmocka_unit_test(step_size_does_not_matter),
        cmocka_unit_test(less_than_a_microsecond_waits),
        cmocka_unit_test(sleeping_decays),
        cmocka_unit_test(a_clock_that_goes_back_is_taken_as_it_is),
        cmocka_unit_test(random_bursts_follow_the_continuous_average),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
