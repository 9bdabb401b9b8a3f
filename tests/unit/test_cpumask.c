#include "wbtest.h"

#include "wakebal/cpumask.h"

enum { NCPUS = 130 };
static uint64_t words[WB_CPUMASK_WORDS(NCPUS)], others[WB_CPUMASK_WORDS(NCPUS)];
static struct wb_cpumask m = {.ncpus = NCPUS, .nwords = WB_CPUMASK_WORDS(NCPUS), .w = words};
static struct wb_cpumask other = {.ncpus = NCPUS, .nwords = WB_CPUMASK_WORDS(NCPUS), .w = others};

static void parse(const char *text, struct wb_cpumask *mask)
{
    const char *why = "";
    size_t at;
    if (wb_mask_parse(text, mask, &why, &at)) fail_msg("'%s': %s", text, why);
}

static void lists_are_read_and_written(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"0", "0"},         {"0,2-5", "0,2-5"}, {" 7 , 1 - 2 ", "1-2,7"},
        {"3,2,1,0", "0-3"}, {"63-64", "63-64"}, {"0-129", "0-129"},
        {"129", "129"},     {"5,5,5-5", "5"},   {"0,1,127,128", "0-1,127-128"},
    };
    char buf[256];
    for (size_t i = 0; i < WB_ARRAY_SIZE(pairs); i++) {
        parse(pairs[i][0], &m);
        assert_string_equal(wb_mask_format(buf, sizeof buf, &m), pairs[i][1]);
    }
    memset(words, 0, sizeof words);
    assert_string_equal(wb_mask_format(buf, sizeof buf, &m), "");
}

static void mistakes_are_placed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        const char *why;
    } bad[] = {
        {"", 0, "a CPU number is needed here, for example 0,2-5"},
        {"1,", 2, "a CPU number is needed here, for example 0,2-5"},
        {"1,,2", 2, "a CPU number is needed here, for example 0,2-5"},
        {"3-", 2, "a CPU number is needed here, for example 0,2-5"},
        {"-3", 0, "a CPU number is needed here, for example 0,2-5"},
        {"1,130", 2, "the machine has no such CPU"},
        {"99999999999999999999999", 0, "the machine has no such CPU"},
        {"2,5-3", 2, "the range runs backwards"},
        {"0xff", 0, "masks are not read; write a list of CPU numbers, for example 0,2-5"},
        {"1 2", 2, "only numbers, ranges and commas may stand here, for example 0,2-5"},
        {"1-2-3", 3, "only numbers, ranges and commas may stand here, for example 0,2-5"},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(bad); i++) {
        const char *why = NULL;
        size_t at = 999;
        assert_int_equal(wb_mask_parse(bad[i].text, &m, &why, &at), -1);
        if (strcmp(why, bad[i].why) || at != bad[i].at) fail_msg("'%s': at %zu: %s", bad[i].text, at, why);
    }
}

static void scans_ascend_and_end(void **state)
{
    (void)state;
    parse("3,63,64,129", &m);
    parse("0,63,129", &other);
    assert_int_equal(wb_mask_first(&m), 3);
    assert_int_equal(wb_mask_next(&m, 4), 63);
    assert_int_equal(wb_mask_next(&m, 65), 129);
    assert_int_equal(wb_mask_next(&m, 130), WB_NO_CPU);
    assert_int_equal(wb_mask_next(&m, 5000), WB_NO_CPU);
    assert_int_equal(wb_mask_count(&m), 4);
    assert_int_equal(wb_mask_nth(&m, 0), 3);
    assert_int_equal(wb_mask_nth(&m, 1), 63);
    assert_int_equal(wb_mask_nth(&m, 3), 129);
    assert_int_equal(wb_mask_nth(&m, 4), WB_NO_CPU);
    cpu_id seen[4], n = 0;
    WB_FOR_EACH_CPU_AND (c, &m, &other) seen[n++] = c;
    assert_int_equal(n, 2);
    assert_int_equal(seen[0], 63);
    assert_int_equal(seen[1], 129);
    assert_false(wb_mask_subset(&other, &m));
    wb_mask_clear(&other, 0);
    assert_true(wb_mask_subset(&other, &m));
    assert_false(wb_mask_equal(&other, &m));
}

static void short_buffers_are_safe(void **state)
{
    (void)state;
    char buf[8];
    parse("0,2,4,6,8,10,12", &m);
    wb_mask_format(buf, 6, &m);
    assert_string_equal(buf, "0,2,4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_read_and_written),
                                       cmocka_unit_test(mistakes_are_placed), cmocka_unit_test(scans_ascend_and_end),
                                       cmocka_unit_test(short_buffers_are_safe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
