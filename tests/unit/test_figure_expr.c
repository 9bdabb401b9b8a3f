/* wb-link: wb_experiment wb_scenario wb_core */
#include "wbtest.h"

#include "figure_expr.h"

#include <math.h>

static double lookup(void *ctx, const char *name, const char *variant)
{
    (void)ctx;
    if (!strcmp(name, "bandwidth")) return variant && !strcmp(variant, "new-free") ? 2 : 8;
    if (!strcmp(name, "wake.p99")) return variant ? NAN : 5;
    return NAN;
}

static double value(const char *text)
{
    size_t at = 0;
    const char *why = NULL;
    struct figure_expr *e = figure_expr_parse(text, &at, &why);
    if (!e) fail_msg("'%s': %s at %zu", text, why, at);
    double v = figure_expr_value(e, lookup, NULL);
    figure_expr_free(e);
    return v;
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double want;
    } row[] = {
        {"1", 1},         {"1 + 2 * 3", 7},     {"(1 + 2) * 3", 9},
        {"8 / 4 / 2", 1}, {"8 - 4 - 2", 2},     {"-2 * -3", 6},
        {"2 - -3", 5},    {"-(1 + 2)", -3},     {"bandwidth[new-free] / bandwidth[old-free]", 0.25},
        {"bandwidth", 8}, {"wake.p99 * 2", 10}, {"bandwidth[new-free]*65536/bandwidth[new-free]", 65536},
        {"1.5e3", 1500},  {".5", 0.5},          {"((((3))))", 3},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(row); i++) assert_near(value(row[i].text), row[i].want, 1e-12);
    assert_true(isnan(value("1 / 0")));
    assert_true(isnan(value("unknown + 1")));
}

static void test_mistakes_have_a_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
        size_t at;
    } row[] = {
        {"", "ends where", 0},          {"1 +", "ends where", 3},     {"1 2", "an operator", 2},
        {"(1", "')' is missing", 2},    {"1)", "')' without '('", 1}, {"a[b", "']' is missing", 1},
        {"a[]", "a variant's name", 1}, {"1 + ?", "a number", 4},     {"$(reboot)", "a number", 0},
        {"a b", "an operator", 2},      {"* 2", "a number", 0},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(row); i++) {
        size_t at = 99;
        const char *why = NULL;
        struct figure_expr *e = figure_expr_parse(row[i].text, &at, &why);
        if (e) fail_msg("'%s' was accepted", row[i].text);
        if (!strstr(why, row[i].why) || at != row[i].at) fail_msg("'%s': '%s' at %zu", row[i].text, why, at);
    }
}

static void test_long_input_is_refused(void **state)
{
    (void)state;
    static char text[1 << 20];
    size_t at;
    const char *why = NULL;
    memset(text, '(', sizeof text - 1);
    assert_null(figure_expr_parse(text, &at, &why));
    memset(text, '-', sizeof text - 1);
    assert_null(figure_expr_parse(text, &at, &why));
    for (size_t i = 0; i + 2 < sizeof text; i += 2) memcpy(text + i, "1+", 2);
    assert_null(figure_expr_parse(text, &at, &why));
}

static void test_names(void **state)
{
    (void)state;
    size_t at;
    const char *why, *variant;
    struct figure_expr *e = figure_expr_parse("2 * a.b[x y] - c", &at, &why);
    assert_non_null(e);
    assert_string_equal(figure_expr_name(e, 0, &variant, &at), "a.b");
    assert_string_equal(variant, "x y");
    assert_int_equal(at, 4);
    assert_string_equal(figure_expr_name(e, 1, &variant, &at), "c");
    assert_null(variant);
    assert_null(figure_expr_name(e, 2, &variant, &at));
    assert_false(figure_expr_plain(e));
    figure_expr_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_mistakes_have_a_place),
        cmocka_unit_test(test_long_input_is_refused),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
