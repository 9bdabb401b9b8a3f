/* wb-link: wb_experiment wb_measure wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include <math.h>

#include "exp_export.h"
#include "exp_format.h"
#include "support/fakesim.h"

/* Exports of two points made by the stand-in engine, against committed files. WB_UPDATE_GOLDEN=1 writes them anew. */

static struct exp_result *made(const char *label, double scale)
{
    struct exp_result *res = exp_result_new();
    fakesim = (struct fakesim_knobs){.scale = scale, .spread = 0.01};
    for (uint32_t i = 0; i < 3; i++) {
        struct wb_run_options opt = {.trace_capacity = 0};
        struct wb_sim *s = wb_sim_build(NULL, NULL, i, &opt, NULL);
        struct exp_rep rep = {.index = i};
        struct wb_result r = *wb_sim_result(s);
        struct wb_fault fault[] = {
            {.kind = WB_FAULT_STARVATION, .task = "b-2", .count = 1, .total = 2 * WB_S, .longest = 2 * WB_S},
            {.kind = WB_FAULT_IDLE_WHILE_WAITING,
             .task = "a-1",
             .count = 2 + i,
             .total = (1 + i) * WB_MS,
             .longest = WB_MS},
            {.kind = WB_FAULT_IDLE_WHILE_WAITING, .task = "c-3", .count = 1, .total = 9 * WB_MS, .longest = 9 * WB_MS},
            {.kind = WB_FAULT_PINGPONG, .task = "b-2", .count = 4}};
        r.fault = fault; /* summed, the longest kept, the worst first */
        r.nfaults = i == 1 ? 2 : WB_ARRAY_SIZE(fault);
        exp_rep_copy(&rep, &r);
        wb_sim_free(s);
        exp_result_fold(res, &rep);
        exp_rep_free(&rep);
    }
    res->confidence = 0.95;
    exp_result_finish(res);
    free(res->label);
    res->label = strdup(label);
    res->title = strdup("two points");
    res->machine = strdup("toy");
    res->machine_source = strdup("nowhere");
    res->calibration = strdup("preset");
    res->kernel = strdup("toy-kernel");
    res->policy = strdup("o1");
    res->workload = calloc(1, sizeof(char *));
    res->workload[0] = strdup("pair");
    res->nworkloads = 1;
    res->param = calloc(1, sizeof *res->param);
    res->param[0] = (struct exp_param){strdup("workload.message"), strdup(label)};
    res->nparams = 1;
    strcpy(res->id, "0123abcd");
    strcpy(res->sha256, "00");
    res->primary = exp_result_find(res, 0, "bandwidth")->name;
    exp_result_note(res, "W012", "replication 1 is an outlier");
    return res;
}

static void compare(const char *name, int (*write)(FILE *, struct exp_result *const *, size_t),
                    struct exp_result *const *res)
{
    char path[512], *text, *want;
    size_t n, m = 0;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(write(f, res, 2), 0);
    fclose(f);
    for (char *v; (v = strstr(text, "\"" WB_VERSION "\""));) { /* a new version is no difference */
        size_t len = strlen(WB_VERSION);
        memmove(v + 1, v + 1 + len, n - (size_t)(v - text) - len);
        n -= len;
    }
    snprintf(path, sizeof path, "%s/golden/%s", WB_TESTS_DIR, name);
    if (getenv("WB_UPDATE_GOLDEN")) {
        f = fopen(path, "w");
        assert_non_null(f);
        fwrite(text, 1, n, f);
        fclose(f);
    }
    f = fopen(path, "r");
    if (!f) fail_msg("no %s", path);
    want = calloc(1, 1 << 20);
    m = fread(want, 1, 1 << 20, f);
    fclose(f);
    if (m != n || memcmp(text, want, n)) fail_msg("%s differs from what is made now:\n%s", path, text);
    free(want);
    free(text);
}

static int write_json(FILE *f, struct exp_result *const *res, size_t n)
{
    struct exp_export_options o = {.sweep = true};
    return exp_export_json(f, res, n, &o);
}

static void test_golden(void **state)
{
    (void)state;
    struct exp_result *res[] = {made("4KiB", 1), made("64KiB", 4)};
    compare("results.json", write_json, res);
    compare("results.csv", exp_export_csv, res);
    compare("results.md", exp_export_markdown, res);
    compare("results.dat", exp_export_data, res);
    exp_result_free(res[0]);
    exp_result_free(res[1]);
}

static void check(char *(*f)(const char *), const char *in, const char *want)
{
    char *s = f(in);
    if (strcmp(s, want)) fail_msg("'%s' became '%s', not '%s'", in, s, want);
    free(s);
}

static void test_texts(void **state)
{
    (void)state;
    check(exp_text_csv, "plain", "plain");
    check(exp_text_csv, "a,b", "\"a,b\"");
    check(exp_text_csv, "say \"x\"", "\"say \"\"x\"\"\"");
    check(exp_text_csv, "=1+1", "\"'=1+1\"");
    check(exp_text_csv, "@SUM(A1)", "\"'@SUM(A1)\"");
    check(exp_text_csv, "-2", "\"'-2\"");
    check(exp_text_csv, "+x", "\"'+x\"");
    check(exp_text_csv, "\tx", "\"'\tx\"");
    check(exp_text_csv, "a\nb", "\"a\nb\"");
    check(exp_text_markdown, "a|b <script> `x` *y*\nz", "a\\|b &lt;script&gt; \\`x\\` \\*y\\* z");
    check(exp_text_utf8, "a\xff\xc3\xa9", "a\xef\xbf\xbd\xc3\xa9");
    check(exp_text_utf8, "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
    char *s = exp_text_terminal("a\x1b[31mb\nc\xc2\x9b", 0);
    assert_string_equal(s, "a?[31mb c?");
    free(s);
    s = exp_text_terminal("0123456789", 6);
    assert_string_equal(s, "012...");
    free(s);
    s = exp_text_terminal("012345", 6);
    assert_string_equal(s, "012345");
    free(s);
    s = exp_text_terminal("a\xe2\x80\xae"
                          "b",
                          0); /* right-to-left override */
    assert_string_equal(s, "a?b");
    free(s);
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *unit, *want;
    } row[] = {{5e9, "B/s", "5.00 GB/s"},
               {4.1e-6, "s", "4.1 us"},
               {0.5, "1", "0.500"},
               {3, "1", "3"},
               {18402.4, "1/s", "18,402 /s"},
               {0.372, "%", "37.2 %"},
               {-0.25, "1", "-0.250"},
               {999.6, "1", "1,000"},
               {1234567, "1", "1,234,567"},
               {-4321, "1/s", "-4,321 /s"},
               {2e13, "1", "2e+13"},
               {0, "s", "0 s"},
               {0, "1/s", "0 /s"},
               {12345, "s", "12,345 s"}};
    char buf[64];
    for (size_t i = 0; i < WB_ARRAY_SIZE(row); i++)
        if (strcmp(exp_format_value(buf, sizeof buf, row[i].v, row[i].unit), row[i].want))
            fail_msg("%g %s became '%s'", row[i].v, row[i].unit, buf);
    double v;
    assert_true(exp_parse_value("5 GB/s", 6, "B/s", &v) && v == 5e9);
    assert_true(exp_parse_value("20 %", 4, "1", &v) && v == 0.2);
    assert_true(exp_parse_value(" 4 ", 3, "1", &v) && v == 4);
    assert_true(exp_parse_value("10 us", 5, "s", &v));
    assert_near(v, 1e-5, 1e-15);
    assert_false(exp_parse_value("10 us", 5, "B/s", &v));
    assert_false(exp_parse_value("", 0, "1", &v));
    assert_false(exp_parse_value("inf", 3, "1", &v));
    assert_false(exp_parse_value("4 apples", 8, "1", &v));
}

/* One formatter for values and intervals: same unit, same decimals, digits by the interval, groups of three. */
static void test_intervals(void **state)
{
    (void)state;
    static const struct {
        double mean, half;
        const char *unit, *want;
    } row[] = {
        {1.45e9, 174e3, "B/s", "1.45000 +- 0.00017 GB/s"},
        {1.45e9, 0, "B/s", "1.45 +- 0 GB/s"},
        {0, 0, "s", "0 +- 0 s"},
        {1.45e9, 2.1e8, "B/s", "1.45 +- 0.21 GB/s"},
        {4.1e-6, 3e-8, "s", "4.100 +- 0.030 us"},
        {116471.3, 23.4, "1/s", "116,471 +- 23 /s"},
        {116471.3, 1234, "1/s", "116,471 +- 1,234 /s"},
        {0.372, 0.004, "%", "37.20 +- 0.40 %"},
        {3, 0.5, "1", "3.00 +- 0.50"},
        {5e-9, 2e-6, "s", "0.0 +- 2.0 us"},
        {1e9, 1.5, "B/s", "1.000000 +- 0.000001 GB/s"},
        {-0.25, 0.01, "1", "-0.250 +- 0.010"},
        {5e9, NAN, "B/s", "5.00 GB/s"},
        {5e9, INFINITY, "B/s", "5.00 GB/s"},
        {NAN, 1, "B/s", "-"},
    };
    static const struct {
        double lo, hi;
        const char *unit, *want;
    } range[] = {
        {1.44983e9, 1.45017e9, "B/s", "1.44983 .. 1.45017 GB/s"},
        {116448, 116494, "1/s", "116,448 .. 116,494 /s"},
        {1e-6, 1e-6, "s", "1 us .. 1 us"},
        {-0.1, 0.1, "1", "-0.10 .. 0.10"},
        {NAN, NAN, "s", "-"},
    };
    char buf[128];
    for (size_t i = 0; i < WB_ARRAY_SIZE(row); i++)
        if (strcmp(exp_format_interval(buf, sizeof buf, row[i].mean, row[i].half, row[i].unit, "+-"), row[i].want))
            fail_msg("%g %g %s became '%s', not '%s'", row[i].mean, row[i].half, row[i].unit, buf, row[i].want);
    for (size_t i = 0; i < WB_ARRAY_SIZE(range); i++)
        if (strcmp(exp_format_range(buf, sizeof buf, range[i].lo, range[i].hi, range[i].unit), range[i].want))
            fail_msg("%g %g %s became '%s', not '%s'", range[i].lo, range[i].hi, range[i].unit, buf, range[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "support/fakesim.c"
