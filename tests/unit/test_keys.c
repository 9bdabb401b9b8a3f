/* wb-link: wb_scenario wb_core */
#include "scenario_fixture.h"

#include "config_build.h"
#include "keys_index.h"

static void rows_are_found_by_path_and_selector(void **state)
{
    struct wb_key_registry *r = fixture_keys();
    (void)state;
    assert_string_equal(wb_keys_find(r, "workload.message", "pipe_bw")->max, "1 GiB");
    assert_string_equal(wb_keys_find(r, "workload.message", "pipe_latency")->max, "1 MiB");
    assert_null(wb_keys_find(r, "workload.message", "hog"));
    assert_non_null(wb_keys_find(r, "workload.message", NULL));
    assert_non_null(wb_keys_find(r, "workload.cpus", "hog"));
    assert_non_null(wb_keys_find(r, "policy.sync_wakeups", "cfs"));
    assert_null(wb_keys_find(r, "workload.messag", NULL));
    wb_keys_free(r);
}

static void rows_are_sorted(void **state)
{
    struct wb_key_registry *r = fixture_keys();
    (void)state;
    for (size_t i = 1; i < wb_keys_count(r); i++)
        assert_true(strcmp(wb_keys_at(r, i - 1)->path, wb_keys_at(r, i)->path) <= 0);
    wb_keys_free(r);
}

static void add_twice(void)
{
    struct wb_key_registry *r = fixture_keys();
    wb_keys_add(r, fixture_rows, 1);
}

static void a_row_twice_is_a_bug(void **state)
{
    char text[400];
    (void)state;
    assert_int_equal(wb_dies(add_twice, text, sizeof text), 0);
    assert_non_null(strstr(text, "machine.topology"));
}

static void children_and_patterns(void **state)
{
    struct wb_key_registry *r = fixture_keys();
    char child[KEYS_PATTERN_MAX], *text;
    const char *names[64];
    (void)state;
    assert_true(keys_child(r, "machine.idle", "c1", child));
    assert_string_equal(child, "machine.idle.*");
    assert_true(keys_child(r, "kernel", "path", child));
    assert_string_equal(child, "kernel.path");
    assert_false(keys_child(r, "kernel", "pat", child));
    assert_false(keys_child(r, "", "machine.idle", child));
    size_t n = keys_children(r, "policy", "o1", names, 64, &text);
    assert_int_equal(n, 2);
    assert_string_equal(names[0], "idle_balance");
    assert_string_equal(names[1], "sync_wakeups");
    free(text);
    assert_true(config_pattern(r, "workload[3].tasks[12].program", child));
    assert_string_equal(child, "workload.tasks.program");
    assert_true(config_pattern(r, "kernel.path.schedule", child));
    assert_string_equal(child, "kernel.path.*");
    assert_false(config_pattern(r, "workload[3]message", child));
    wb_keys_free(r);
}

static void selectors_are_collected(void **state)
{
    struct wb_key_registry *r = fixture_keys();
    (void)state;
    assert_string_equal(wb_keys_selectors(r, "workload"), "custom pipe_bw pipe_latency");
    assert_string_equal(wb_keys_selectors(r, "policy"), "cfs o1");
    assert_string_equal(keys_choices(r, wb_keys_find(r, "workload.kind", NULL)), "custom pipe_bw pipe_latency");
    assert_string_equal(keys_choices(r, wb_keys_find(r, "kernel.scheduler", NULL)), "cfs o1");
    wb_keys_free(r);
}

static void lint_finds_what_a_reviewer_would(void **state)
{
    const struct wb_key good = {
        .path = "a.b", .type = WB_KEY_INT, .def = "1", .help = "Something useful.", .source = "test"};
    struct wb_key bad = good;
    (void)state;
    assert_null(wb_key_lint(&good));
    bad.help = "";
    assert_non_null(wb_key_lint(&bad));
    bad = good, bad.source = NULL;
    assert_non_null(wb_key_lint(&bad));
    bad = good, bad.path = "a.B";
    assert_non_null(wb_key_lint(&bad));
    bad = good, bad.path = "a._b"; /* libconfig knows no such name */
    assert_non_null(wb_key_lint(&bad));
    bad = good, bad.flags = WB_KEY_REQUIRED;
    assert_non_null(wb_key_lint(&bad));
    bad = good, bad.choices = "x y";
    assert_non_null(wb_key_lint(&bad));
    bad = good, bad.type = WB_KEY_ENUM, bad.choices = "x y";
    assert_non_null(wb_key_lint(&bad));
}

static void own_rows_pass_lint(void **state)
{
    struct wb_key_registry *r = wb_keys_new();
    (void)state;
    for (size_t i = 0; i < wb_keys_count(r); i++) {
        const char *why = wb_key_lint(wb_keys_at(r, i));
        if (why) fail_msg("%s %s", wb_keys_at(r, i)->path, why);
    }
    wb_keys_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_found_by_path_and_selector),
        cmocka_unit_test(rows_are_sorted),
        cmocka_unit_test(a_row_twice_is_a_bug),
        cmocka_unit_test(children_and_patterns),
        cmocka_unit_test(selectors_are_collected),
        cmocka_unit_test(lint_finds_what_a_reviewer_would),
        cmocka_unit_test(own_rows_pass_lint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
