#include "wbtest.h"

#include "wakebal/units.h"

struct good {
    const char *text;
    enum wb_unit unit;
    int64_t value;
};

static const struct good good[] = {
    {"0", WB_UNIT_COUNT, 0},
    {"-5", WB_UNIT_COUNT, -5},
    {"1e6", WB_UNIT_COUNT, 1000000},
    {"010", WB_UNIT_COUNT, 10},
    {"1.50e1", WB_UNIT_COUNT, 15},
    {"9223372036854775807", WB_UNIT_COUNT, INT64_MAX},
    {"-9223372036854775808", WB_UNIT_COUNT, INT64_MIN},
    {"10 us", WB_UNIT_TIME, 10000000},
    {"10\xc2\xb5s", WB_UNIT_TIME, 10000000},
    {"1.28 s", WB_UNIT_TIME, 1280000000000},
    {"2 min", WB_UNIT_TIME, 120000000000000},
    {" 3 ms ", WB_UNIT_TIME, 3000000000},
    {"0", WB_UNIT_TIME, 0},
    {"0.0", WB_UNIT_SIZE, 0},
    {".5 ns", WB_UNIT_TIME, 500},
    {"64 KiB", WB_UNIT_SIZE, 65536},
    {"1.25 MiB", WB_UNIT_SIZE, 1310720},
    {"64 kB", WB_UNIT_SIZE, 64000},
    {"100B", WB_UNIT_SIZE, 100},
    {"6.4 GB/s", WB_UNIT_RATE, 6400000000},
    {"1 MiB/s", WB_UNIT_RATE, 1048576},
    {"1.5 GHz", WB_UNIT_FREQ, 1500000000},
    {"2 %", WB_UNIT_RATIO, 20000},
    {"0.02", WB_UNIT_RATIO, 20000},
    {"20000 ppm", WB_UNIT_RATIO, 20000},
    {"1", WB_UNIT_RATIO, 1000000},
    {"400 cy", WB_UNIT_CYCLES, 400000},
    {"0.5 kcy", WB_UNIT_CYCLES, 500000},
    {"-2 ns", WB_UNIT_TIME, -2000},
    /* half up, and exactly so: one digit less and it is rounded down */
    {"0.5 ps", WB_UNIT_TIME, 1},
    {"0.4999999999999999999 ps", WB_UNIT_TIME, 0},
    {"-0.5 ps", WB_UNIT_TIME, -1},
    {"1.0005 ns", WB_UNIT_TIME, 1001},
    {"1e-40 h", WB_UNIT_TIME, 0},
    {"0.1000000000000000000000000 ns", WB_UNIT_TIME, 100},
    {"9223372036854775.807 ns", WB_UNIT_TIME, INT64_MAX},
};

struct bad {
    const char *text;
    enum wb_unit unit;
    size_t at;
    const char *why;
};

static const struct bad bad[] = {
    {"", WB_UNIT_TIME, 0, "a number is missing"},
    {"fast", WB_UNIT_TIME, 0, "not a number"},
    {"- 5 ns", WB_UNIT_TIME, 0, "not a number"},
    {"1. s", WB_UNIT_TIME, 1, "a digit must follow the point"},
    {"1.2.3 s", WB_UNIT_TIME, 3, "not a unit of time: ps, ns, us, ms, s, min or h"},
    {"5", WB_UNIT_TIME, 1, "a time needs a unit, for example \"10 us\""},
    {"5 parsec", WB_UNIT_TIME, 2, "not a unit of time: ps, ns, us, ms, s, min or h"},
    {"0x10 ns", WB_UNIT_TIME, 1, "not a unit of time: ps, ns, us, ms, s, min or h"},
    {"10,000 us", WB_UNIT_TIME, 2, "digits stand without separators"},
    {"107 d", WB_UNIT_TIME, 4, "not a unit of time: ps, ns, us, ms, s, min or h"},
    {"9223372036854775.808 ns", WB_UNIT_TIME, 0, "too large: the most is 106 days"},
    {"1e400 s", WB_UNIT_TIME, 0, "too large: the most is 106 days"},
    {"64 KB", WB_UNIT_SIZE, 3, "ambiguous: write KiB (1024 bytes) or kB (1000 bytes)"},
    {"64K", WB_UNIT_SIZE, 2, "ambiguous: write KiB (1024 bytes) or kB (1000 bytes)"},
    {"64", WB_UNIT_SIZE, 2, "a size needs a unit, for example \"64 KiB\""},
    {"1.5", WB_UNIT_COUNT, 0, "must be a whole number"},
    {"5 s", WB_UNIT_COUNT, 2, "a count has no unit"},
    {"9223372036854775808", WB_UNIT_COUNT, 0, "too large: the most is 9223372036854775807"},
    {"12345678901234567891234 ps", WB_UNIT_TIME, 19, "more than 19 significant digits"},
    {"3 eggs", WB_UNIT_RATIO, 2, "not a ratio: write \"2 %\", 0.02 or \"20000 ppm\""},
};

static void good_quantities(void **state)
{
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(good); i++) {
        int64_t v = -77;
        const char *why = "";
        size_t at;
        if (wb_parse_quantity(good[i].text, good[i].unit, &v, &why, &at)) fail_msg("'%s': %s", good[i].text, why);
        if (v != good[i].value) fail_msg("'%s' is %lld", good[i].text, (long long)v);
    }
}

static void bad_quantities(void **state)
{
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(bad); i++) {
        int64_t v = -77;
        const char *why = NULL;
        size_t at = 999;
        if (!wb_parse_quantity(bad[i].text, bad[i].unit, &v, &why, &at)) fail_msg("'%s' was read", bad[i].text);
        if (strcmp(why, bad[i].why) || at != bad[i].at) fail_msg("'%s': at %zu: %s", bad[i].text, at, why);
        assert_int_equal(v, -77);
    }
}

struct shown {
    double value;
    enum wb_unit unit;
    const char *text;
};

static const struct shown shown[] = {
    {1.28e12, WB_UNIT_TIME, "1.28 s"},    {4.1e6, WB_UNIT_TIME, "4.1 us"},  {999.6e6, WB_UNIT_TIME, "1 ms"},
    {999.4e6, WB_UNIT_TIME, "999 us"},    {0, WB_UNIT_TIME, "0 ps"},        {12345e12, WB_UNIT_TIME, "12345 s"},
    {-2500, WB_UNIT_TIME, "-2.5 ns"},     {65536, WB_UNIT_SIZE, "64 KiB"},  {5e9, WB_UNIT_RATE, "5.00 GB/s"},
    {6.234e6, WB_UNIT_RATE, "6.23 MB/s"}, {1.5e9, WB_UNIT_FREQ, "1.5 GHz"}, {123456, WB_UNIT_RATIO, "12.3 %"},
    {3100, WB_UNIT_RATIO, "0.31 %"},      {12, WB_UNIT_RATIO, "0.0012 %"},  {400000, WB_UNIT_CYCLES, "400 cy"},
    {1234567, WB_UNIT_COUNT, "1234567"},  {2.5, WB_UNIT_COUNT, "2.5"},      {-0.00000001, WB_UNIT_COUNT, "0"},
};

static void human_form(void **state)
{
    (void)state;
    char buf[64];
    for (size_t i = 0; i < WB_ARRAY_SIZE(shown); i++)
        assert_string_equal(wb_format_quantity(buf, sizeof buf, shown[i].value, shown[i].unit), shown[i].text);
    assert_string_equal(wb_format_quantity(buf, sizeof buf, __builtin_nan(""), WB_UNIT_TIME), "-");
    assert_string_equal(wb_format_quantity(buf, sizeof buf, __builtin_inf(), WB_UNIT_TIME), "-");
    assert_string_equal(wb_format_quantity(buf, 4, 1.28e12, WB_UNIT_TIME), "1.2");
}

static void exact_form(void **state)
{
    (void)state;
    char buf[64];
    assert_string_equal(wb_format_exact(buf, sizeof buf, 10000000, WB_UNIT_TIME), "10 us");
    assert_string_equal(wb_format_exact(buf, sizeof buf, 65537, WB_UNIT_SIZE), "65537 B");
    assert_string_equal(wb_format_exact(buf, sizeof buf, 65536, WB_UNIT_SIZE), "64 KiB");
    assert_string_equal(wb_format_exact(buf, sizeof buf, 1310720, WB_UNIT_SIZE), "1280 KiB");
    assert_string_equal(wb_format_exact(buf, sizeof buf, 1572864, WB_UNIT_SIZE), "1.5 MiB");
    assert_string_equal(wb_format_exact(buf, sizeof buf, 100000000, WB_UNIT_TIME), "100 us");
    assert_string_equal(wb_format_exact(buf, sizeof buf, 20000, WB_UNIT_RATIO), "2 %");
    assert_string_equal(wb_format_exact(buf, sizeof buf, 1000, WB_UNIT_COUNT), "1000");
    assert_string_equal(wb_format_exact(buf, sizeof buf, 0, WB_UNIT_SIZE), "0 B");
    assert_string_equal(wb_format_exact(buf, sizeof buf, -1500, WB_UNIT_TIME), "-1.5 ns");
    assert_string_equal(wb_format_exact(buf, sizeof buf, INT64_MIN, WB_UNIT_COUNT), "-9223372036854775808");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(good_quantities), cmocka_unit_test(bad_quantities),
                                       cmocka_unit_test(human_form), cmocka_unit_test(exact_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
