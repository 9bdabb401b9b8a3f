/* The metric registry: sorted, complete rows, patterns. */
#include "wbtest.h"

#include "wakebal/metric.h"

static void test_rows(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct wb_metric_def *d; (d = wb_metric_def_at(n)); n++) {
        if (n && strcmp(wb_metric_def_at(n - 1)->name, d->name) >= 0) fail_msg("%s is out of order", d->name);
        assert_true(*d->unit && strlen(d->help) > 10);
        assert_int_equal(d->help[strlen(d->help) - 1], '.');
        assert_ptr_equal(wb_metric_def_find(d->name), d);
    }
    assert_true(n > 30);
    assert_string_equal(wb_better_name(WB_BETTER_LOWER), "lower");
}

static void test_patterns(void **state)
{
    (void)state;
    assert_string_equal(wb_metric_def_find("migrations.newidle")->name, "migrations.KIND");
    assert_string_equal(wb_metric_def_find("migrations.rate")->name, "migrations.rate");
    assert_string_equal(wb_metric_def_find("bandwidth.p10")->name, "RATE.p10");
    assert_string_equal(wb_metric_def_find("balance.newidle.calls")->name, "balance.KIND.calls");
    assert_string_equal(wb_metric_def_find("regime.apart.p99")->name, "TIME.p99");
    assert_null(wb_metric_def_find("migrations.a.b"));
    assert_null(wb_metric_def_find(".p99"));
    assert_null(wb_metric_def_find("migrations."));
    assert_null(wb_metric_def_find("balance.newidle"));
    assert_null(wb_metric_def_find(""));
    assert_null(wb_metric_def_find("wakeup"));
}

/* docs/metrics.md has each row as it is here. */
static void test_the_page_agrees(void **state)
{
    (void)state;
    FILE *f = fopen(WB_TESTS_DIR "/../docs/metrics.md", "r");
    assert_non_null(f);
    static char page[1 << 16];
    size_t n = fread(page, 1, sizeof page - 1, f), rows = 0;
    fclose(f);
    assert_true(n > 1000 && n < sizeof page - 1);
    page[n] = 0;
    for (const struct wb_metric_def *d; (d = wb_metric_def_at(rows)); rows++) {
        char row[600];
        snprintf(row, sizeof row, "\n| `%s` | %s | %s | %s |\n", d->name, d->unit, wb_better_name(d->better), d->help);
        if (!strstr(page, row)) fail_msg("docs/metrics.md lacks %s", row);
    }
    size_t found = 0;
    for (const char *p = page; (p = strstr(p, "\n| `")); p++) found++;
    assert_int_equal(found, rows); /* and no others */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_patterns),
                                       cmocka_unit_test(test_the_page_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
