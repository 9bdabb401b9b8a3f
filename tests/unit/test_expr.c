/* wb-link: wb_scenario wb_core */
#include "scenario_fixture.h"

static struct wb_key_registry *keys;
static struct wb_scenario *scenario;

static int setup(void **state)
{
    static const struct fixture_file files[] = {
        {"a.cfg", "machine : { base = \"m\"; };\nkernel : { base = \"k\"; };\n"
                  "workload = ( { kind = \"pipe_bw\"; name = \"w\"; message = \"64 KiB\"; copies = 4; }, { kind = "
                  "\"pipe_latency\"; } );\nrun : { window = \"8 ms\"; };\n"},
        FIXTURE_MACHINE,
        FIXTURE_KERNEL,
        {NULL, NULL}};
    struct wb_diag *d = wb_diag_new();
    (void)state;
    keys = fixture_keys();
    scenario = fixture_load(files, keys, NULL, d);
    wb_diag_free(d);
    return scenario ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    wb_scenario_free(scenario);
    wb_keys_free(keys);
    return 0;
}

static bool facts(void *ctx, const char *name, struct wb_value *v)
{
    (void)ctx;
    *v = (struct wb_value){WB_VALUE_NUMBER, 16, "", NULL};
    return !strcmp(name, "machine.cpus");
}

static void truths(void **state)
{
    static const struct {
        const char *text;
        bool truth;
    } cases[] = {
        {"1 + 2 * 3 == 7", true},
        {"(1 + 2) * 3 == 9", true},
        {"10 - 2 - 3 == 5", true},
        {"-2 * -3 == 6", true},
        {"7 % 4 == 3", true},
        {"!false && true || false", true},
        {"true || false && false", true},
        {"workload.w.copies <= 2 * machine.cpus", true},
        {"workload.w.copies > machine.cpus", false},
        {"workload.w.message == 64 KiB", true},
        {"workload.w.message * 2 == 128KiB", true},
        {"workload.w.message / 1 KiB == 64", true},
        {"run.window == 8 ms", true},
        {"run.window < 8001 us && run.window > 7ms", true},
        {"run.window + 2 ms == 0.01 s", true},
        {"kernel.pipe == '2.6.11'", true},
        {"kernel.pipe != \"2.6.11\"", false},
        {"workload.w.cpus == 'free'", true},
        {"policy.idle_balance", false},
        {"!policy.idle_balance && policy.sync_wakeups == true", true},
        {"run.replications.half_width == 0.02", true},
        {"machine.clock == 1.5 GHz", true},
        {"workload == 2", true},
        {"workload[1].nice == 0", true},
        {"'a' < 'b'", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wb_diag *d = wb_diag_new();
        struct wb_expr *e = wb_expr_parse(cases[i].text, (struct wb_place){0}, d);
        bool truth = !cases[i].truth;
        if (!e || wb_expr_true(e, wb_scenario_config(scenario), facts, NULL, &truth, d) < 0 ||
            truth != cases[i].truth) {
            char *m = wb_diag_render(d, false);
            fail_msg("%s gives %d\n%s", cases[i].text, truth, m);
        }
        wb_expr_free(e);
        wb_diag_free(d);
    }
}

static void mistakes(void **state)
{
    /* text, column in it (1 = its first character), message */
    static const struct {
        const char *text;
        int col;
        const char *message;
    } cases[] = {
        {"1 +", 4, "a value is missing at the end   [E160]"},
        {"1 2", 3, "'2' is no operator   [E160]"},
        {"(1 == 1", 1, "'(' is never closed   [E160]"},
        {"1 == 1)", 7, "')' closes nothing   [E160]"},
        {"a = 1", 3, "'=' is no operator   [E160]"},
        {"true & true", 6, "'&' is no operator   [E160]"},
        {"'abc", 1, "text is never closed   [E160]"},
        {"5 parsec == 1", 1, "'5 parsec' is no number   [E160]"},
        {"* 2", 1, "a value is needed before '*'   [E160]"},
        {"workload.w.mesage == 1", 1, "'workload.w.mesage' is no key of this scenario   [E161]"},
        {"workload.message == 1 KiB", 1, "'workload.message' is no key of this scenario   [E161]"},
        {"machine.ipi.send == 1 us", 1, "key 'machine.ipi.send' has no value   [E161]"},
        {"run.window == 8", 12, "'==' between time and a plain number   [E162]"},
        {"run.window == 8 KiB", 12, "'==' between time and size   [E162]"},
        {"kernel.pipe == 2", 13, "'==' between a text and a plain number   [E162]"},
        {"1 && true", 3, "'&&' between a plain number and true/false   [E162]"},
        {"1 + 1", 1, "the expression is a plain number, not true/false   [E162]"},
        {"!1", 1, "'!' needs true/false, found a plain number   [E162]"},
        {"1 / 0 == 1", 3, "division by zero   [E162]"},
        {"1 ms * 1 ms == 1", 6, "'*' between time and time makes no sense   [E162]"},
        {"1 / run.window == 1", 3, "a plain number cannot be divided by time   [E162]"},
        {"'a' + 'b' == 'ab'", 5, "'+' needs numbers, found a text   [E162]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wb_diag *d = wb_diag_new();
        char want[300];
        bool truth;
        struct wb_expr *e =
            wb_expr_parse(cases[i].text, (struct wb_place){"x.cfg", 3, 10, (int)strlen(cases[i].text) + 2}, d);
        if (e) assert_int_equal(wb_expr_true(e, wb_scenario_config(scenario), facts, NULL, &truth, d), -1);
        char *m = wb_diag_render(d, false);
        snprintf(want, sizeof want, "x.cfg:3:%d: error: %s\n", 10 + cases[i].col, cases[i].message);
        if (strncmp(m, want, strlen(want)) || wb_diag_count(d, WB_ERROR) != 1)
            fail_msg("for <%s>\nwanted %sgot %s", cases[i].text, want, m);
        free(m);
        wb_expr_free(e);
        wb_diag_free(d);
    }
}

static void size_is_bounded(void **state)
{
    struct wb_diag *d = wb_diag_new();
    char *deep = calloc(1, 4000);
    (void)state;
    memset(deep, '(', 3000);
    assert_null(wb_expr_parse(deep, (struct wb_place){0}, d));
    memset(deep, 0, 4000);
    for (int i = 0; i < 900; i++) strcat(deep, "1+");
    strcat(deep, "1");
    assert_null(wb_expr_parse(deep, (struct wb_place){0}, d));
    assert_int_equal(wb_diag_count(d, WB_ERROR), 2);
    free(deep);
    wb_diag_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(truths), cmocka_unit_test(mistakes),
                                       cmocka_unit_test(size_is_bounded)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
