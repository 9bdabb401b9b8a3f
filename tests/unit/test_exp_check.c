/* test_exp_check.c - values with units, and which points of a sweep are compared. */
#include <string.h>

#include "exp_check.h"
#include "wbtest.h"

static void values_need_their_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text, *unit;
        bool good;
        double v;
    } row[] = {{"2 GB/s", "B/s", true, 2e9}, {"2", "B/s", false, 0},      {"0", "B/s", true, 0},
               {"1e9", "B/s", false, 0},     {"10 us", "s", true, 10e-6}, {"10", "s", false, 0},
               {"3", "1", true, 3},          {"3 %", "1", true, 0.03},    {"3 s", "1", false, 0},
               {"64 KiB", "B", true, 65536}, {"500", "1/s", true, 500},   {"5 /s", "1/s", true, 5},
               {"5 /m", "1/s", false, 0},    {"", "s", false, 0}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(row); i++) {
        double v = 0;
        assert_int_equal(exp_check_value(row[i].text, row[i].unit, &v), row[i].good);
        if (row[i].good) assert_true(v > row[i].v * 0.999999 - 1e-15 && v < row[i].v * 1.000001 + 1e-15);
    }
}

static void points_agree_on_axes_that_nobody_names(void **state)
{
    (void)state;
    struct wb_override param[4][2] = {{{.key = "a.x", .value = "1"}, {.key = "a.y", .value = "1"}},
                                      {{.key = "a.x", .value = "2"}, {.key = "a.y", .value = "1"}},
                                      {{.key = "a.x", .value = "2"}, {.key = "a.y", .value = "2"}},
                                      {{.key = "a.x", .value = "1"}, {.key = "a.y", .value = "2"}}};
    struct exp_point point[4];
    for (size_t i = 0; i < 4; i++) point[i] = (struct exp_point){.param = param[i], .nparams = 2};
    struct exp_points p = {.point = point, .n = 4, .naxes = 2};
    assert_true(exp_points_agree(&p, 0, 1, "a.x == 1", "a.x == 2"));
    assert_false(exp_points_agree(&p, 0, 2, "a.x == 1", "a.x == 2"));
    assert_true(exp_points_agree(&p, 0, 2, "a.x == 1", "a.y == 2"));
    assert_true(exp_points_agree(&p, 3, 2, "a.x == 1", NULL));
    assert_false(exp_points_agree(&p, 0, 1, "a.xx == 1", "b.a.x == 2"));  /* other keys */
    assert_false(exp_points_agree(&p, 0, 1, "k.v == 'a.x'", "k.v == 2")); /* a text */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_need_their_unit),
                                       cmocka_unit_test(points_agree_on_axes_that_nobody_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
