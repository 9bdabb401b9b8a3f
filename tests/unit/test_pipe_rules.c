/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
#include "pipe.h"
#include "wbtest.h"

static void version_finds_the_rules_before_it(void **state)
{
    (void)state;
    static const struct {
        const char *version, *row;
    } cases[] = {{"2.6.0", "2.6.0"},   {"2.6.10", "2.6.0"},  {"2.6.11", "2.6.11"}, {"2.6.13", "2.6.11"},
                 {"2.6.14", "2.6.14"}, {"2.6.15", "2.6.14"}, {"2.6.16", "2.6.16"}, {"2.6.22", "2.6.16"},
                 {"2.6.23", "2.6.23"}, {"2.6.24", "2.6.24"}, {"2.6.29", "2.6.24"}, {"2.6.30", "2.6.30"},
                 {"2.6.36", "2.6.35"}, {"3.0", "2.6.35"},    {"4.9", "2.6.35"},    {"4.10", "4.10"},
                 {"5.4", "4.10"},      {"5.4.77", "4.10"},   {"5.5", "5.5"},       {"6.17", "5.5"},
                 {"6.18", "6.18"},     {"7.0", "6.18"}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(cases); i++) {
        const struct pipe_rules *r = pipe_rules_find(cases[i].version);
        assert_non_null(r);
        assert_string_equal(r->name, cases[i].row);
    }
    assert_int_equal(pipe_rules_find("freebsd")->gen, PIPE_GEN_BSD);
}

static void not_a_version(void **state)
{
    (void)state;
    static const char *const bad[] = {"",           "2",        "2.4.31", "2.6.",    "v2.6.11",
                                      "2.6.11-rc1", "2.6.11.3", "2..6",   "6.99999", "-1"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(bad); i++) {
        /* "2" is 2.0.0: a version, but older than any rules */
        assert_null(pipe_rules_find(bad[i]));
    }
}

static void table_is_in_order_and_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < pipe_rules_n; i++) {
        const struct pipe_rules *r = &pipe_rules[i];
        assert_ptr_equal(pipe_rules_find(r->name), r);
        if (i) assert_true(r->version > r[-1].version);
        if (i) assert_true(r->gen >= r[-1].gen);
        assert_non_null(r->text);
        assert_true(r->gen == PIPE_GEN_PAGE || (r->slot_bytes && r->tmp_pages >= 1 && r->tmp_pages <= 2));
    }
}

/* The switches that decide the published cases. */
static void what_changed_when(void **state)
{
    (void)state;
    assert_true(pipe_rules_find("2.6.10")->gen == PIPE_GEN_PAGE);
    assert_true(pipe_rules_find("2.6.11")->gen == PIPE_GEN_RING && !pipe_rules_find("2.6.11")->sync_end);
    assert_true(!pipe_rules_find("2.6.23")->sync_end && pipe_rules_find("2.6.24")->sync_end);
    assert_true(!pipe_rules_find("2.6.13")->noninteractive && pipe_rules_find("2.6.14")->noninteractive);
    assert_true(pipe_rules_find("2.6.22")->noninteractive && !pipe_rules_find("2.6.23")->noninteractive);
    assert_true(pipe_rules_find("5.4")->syscall_merging && !pipe_rules_find("5.5")->syscall_merging);
    assert_int_equal(pipe_rules_find("2.6.15")->lock, WB_LOCK_SEM);
    assert_int_equal(pipe_rules_find("2.6.29")->lock, WB_LOCK_MUTEX);
    assert_int_equal(pipe_rules_find("2.6.30")->lock, WB_LOCK_MUTEX_SPIN);
    assert_int_equal(pipe_rules_find("4.10")->lock, WB_LOCK_MUTEX_HANDOFF);
    assert_true(!pipe_rules_find("2.6.34")->resizable && pipe_rules_find("2.6.35")->resizable);
    assert_int_equal(pipe_rules_find("6.18")->tmp_pages, 2);
}

static void keys_pass_the_lint(void **state)
{
    (void)state;
    for (size_t i = 0; i < PIPE_KEYS; i++) {
        assert_non_null(pipe_keys[i].path);
        const char *why = wb_key_lint(&pipe_keys[i]);
        if (why) fail_msg("%s: %s", pipe_keys[i].path, why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(version_finds_the_rules_before_it),
                                       cmocka_unit_test(not_a_version),
                                       cmocka_unit_test(table_is_in_order_and_complete),
                                       cmocka_unit_test(what_changed_when), cmocka_unit_test(keys_pass_the_lint)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
