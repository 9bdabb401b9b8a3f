#include "wbtest.h"

#include "wakebal/diag.h"

static void renders_to(const struct wb_diag *d, const char *expected)
{
    char *text = wb_diag_render(d, false);
    assert_string_equal(text, expected);
    free(text);
}

static void source(struct wb_diag *d, const char *file, const char *text, const struct wb_place *includer)
{
    wb_diag_source(d, file, text, strlen(text), includer);
}

static void nothing_renders_to_nothing(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    renders_to(d, "");
    assert_int_equal(wb_diag_count(d, WB_ERROR), 0);
    wb_diag_free(d);
    wb_diag_free(NULL);
}

static void line_caret_and_fix(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    source(d, "hackbench.cfg", "a = 1;\n  sync_wakeup = true;\n", NULL);
    wb_diag_add(d, WB_ERROR, "E101", (struct wb_place){"hackbench.cfg", 2, 3, 11}, "did you mean 'sync_wakeups'?",
                "unknown key '%s' in '%s'", "sync_wakeup", "policy");
    renders_to(d, "hackbench.cfg:2:3: error: unknown key 'sync_wakeup' in 'policy'   [E101]\n"
                  "    2 |   sync_wakeup = true;\n"
                  "      |   ^~~~~~~~~~~\n"
                  "      = did you mean 'sync_wakeups'?\n"
                  "1 error.  Nothing was run.\n");
    wb_diag_free(d);
}

static void include_chain(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    source(d, "main.cfg", "x\ny\n", NULL);
    source(d, "middle.inc", "z\n", &(struct wb_place){"main.cfg", 2, 1, 1});
    source(d, "deep.inc", "  horizon  = 10;\n", &(struct wb_place){"middle.inc", 1, 1, 1});
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){"deep.inc", 1, 14, 2}, NULL, "too big");
    renders_to(d, "deep.inc:1:14: error: too big\n"
                  "    1 |   horizon  = 10;\n"
                  "      |              ^~\n"
                  "   included from middle.inc:1\n"
                  "   included from main.cfg:2\n"
                  "1 error.  Nothing was run.\n");
    wb_diag_free(d);
}

static void an_include_loop_ends(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    source(d, "a", "", &(struct wb_place){"b", 1, 1, 1});
    source(d, "b", "", &(struct wb_place){"a", 1, 1, 1});
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){"a", 1, 1, 1}, NULL, "round and round");
    char *text = wb_diag_render(d, false);
    assert_true(strlen(text) < 1000);
    free(text);
    wb_diag_free(d);
}

static void sorted_by_file_and_line_with_counts(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    source(d, "one", "", NULL);
    wb_diag_add(d, WB_WARNING, NULL, (struct wb_place){"two", 1, 0, 0}, NULL, "w");
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){"one", 9, 0, 0}, NULL, "second");
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){"one", 2, 5, 0}, NULL, "first");
    wb_diag_add(d, WB_ERROR, "E310", (struct wb_place){0}, NULL, "no place");
    wb_diag_add(d, WB_NOTE, NULL, (struct wb_place){"one", 9, 0, 0}, NULL, "third");
    renders_to(d, "error: no place   [E310]\n"
                  "one:2:5: error: first\n"
                  "one:9: error: second\n"
                  "one:9: note: third\n"
                  "two:1: warning: w\n"
                  "3 errors, 1 warning.  Nothing was run.\n");
    assert_int_equal(wb_diag_count(d, WB_ERROR), 3);
    assert_int_equal(wb_diag_count(d, WB_WARNING), 1);
    assert_int_equal(wb_diag_count(d, WB_NOTE), 1);
    wb_diag_free(d);
}

static void warnings_alone_stop_nothing(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    wb_diag_add(d, WB_WARNING, NULL, (struct wb_place){0}, "do this", "odd");
    renders_to(d, "warning: odd\n      = do this\n");
    wb_diag_free(d);
}

static void text_and_sources_are_copied(void **state)
{
    (void)state;
    char name[] = "f", fix[] = "fix", line[] = "abc";
    struct wb_diag *d = wb_diag_new();
    wb_diag_source(d, name, line, 3, NULL);
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){name, 1, 2, 1}, fix, "m");
    name[0] = fix[0] = line[1] = '!';
    renders_to(d, "f:1:2: error: m\n    1 | abc\n      |  ^\n      = fix\n1 error.  Nothing was run.\n");
    wb_diag_free(d);
}

static void controls_are_escaped(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    source(d, "a\nb\x1b[31m", "\tk\x1b]0;x\x07 = \xc3\xa4\xff\xc2\x9b;\r\n", NULL);
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){"a\nb\x1b[31m", 1, 3, 1}, "a\tb\nc", "bad \x1b \x7f name\n");
    renders_to(d, "a\\nb\\x1b[31m:1:3: error: bad \\x1b \\x7f name\\n\n"
                  "    1 |  k\\x1b]0;x\\x07 = \xc3\xa4\\xff\\xc2\\x9b;\n"
                  "      |   ^~~~\n"
                  "      = a\\tb\\nc\n"
                  "1 error.  Nothing was run.\n");
    wb_diag_free(d);
}

static void caret_past_the_end_and_missing_lines(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    source(d, "f", "ab", NULL);
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){"f", 1, 3, 1}, NULL, "end");
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){"f", 1, 99, 5}, NULL, "far");
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){"f", 2, 1, 1}, NULL, "no such line");
    renders_to(d, "f:1:3: error: end\n    1 | ab\n      |   ^\n"
                  "f:1:99: error: far\n    1 | ab\n      |   ^\n"
                  "f:2:1: error: no such line\n"
                  "3 errors.  Nothing was run.\n");
    wb_diag_free(d);
}

static void huge_lines_are_clipped_round_the_mistake(void **state)
{
    (void)state;
    enum { HUGE_LINE = 1 << 20 };
    struct wb_diag *d = wb_diag_new();
    char *big = malloc(HUGE_LINE + 1);
    assert_non_null(big);
    memset(big, 'x', HUGE_LINE);
    big[HUGE_LINE] = 0;
    big[500000] = '@';
    wb_diag_source(d, "f", big, HUGE_LINE, NULL);
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){"f", 1, 500001, HUGE_LINE}, big, "%s", big);
    char *text = wb_diag_render(d, false);
    assert_true(strlen(text) < 5000);
    char *line = strstr(text, "    1 | ..."), *at = strchr(line, '@'), *caret = strchr(at, '^');
    assert_non_null(caret);
    char *caret_line = caret;
    while (caret_line[-1] != '\n') caret_line--;
    assert_int_equal(at - line, caret - caret_line);
    free(text);
    free(big);
    wb_diag_free(d);
}

static void many_mistakes_in_a_large_file_are_quick(void **state)
{
    (void)state;
    enum { LINES = 50000 };
    struct wb_diag *d = wb_diag_new();
    char *text = malloc(LINES * 20);
    assert_non_null(text);
    for (size_t i = 0; i < LINES; i++) memcpy(text + i * 20, "0123456789012345678\n", 20);
    wb_diag_source(d, "f", text, LINES * 20, NULL);
    for (int i = LINES; i; i--) wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){"f", i, 1, 1}, NULL, "e");
    char *all = wb_diag_render(d, false);
    assert_non_null(strstr(all, "50000 errors.  Nothing was run."));
    assert_non_null(strstr(all, "f:20:1: error: e\n   20 | 0123"));
    assert_null(strstr(all, "f:21:1"));
    assert_non_null(strstr(all, "f: ... and 49980 more\n"));
    free(all);
    free(text);
    wb_diag_free(d);
}

static void the_same_message_is_given_once(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    for (int i = 0; i < 3; i++) {
        wb_diag_add(d, WB_ERROR, "E1", (struct wb_place){"f", 3, 1, 1}, NULL, "m");
        wb_diag_add(d, WB_ERROR, "E1", (struct wb_place){"f", 3, 2, 1}, NULL, "m");
    }
    char *all = wb_diag_render(d, false);
    assert_int_equal(wb_diag_count(d, WB_ERROR), 6); /* callers compare counts before and after */
    assert_non_null(strstr(all, "2 errors.  Nothing was run."));
    assert_null(strstr(strstr(all, "f:3:2") + 1, "f:3:2"));
    free(all);
    wb_diag_free(d);
}

static void colours_only_on_request(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    wb_diag_add(d, WB_ERROR, NULL, (struct wb_place){0}, NULL, "m");
    char *plain = wb_diag_render(d, false), *coloured = wb_diag_render(d, true);
    assert_null(strchr(plain, 0x1b));
    assert_non_null(strstr(coloured, "\x1b[31;1merror: \x1b[0m"));
    free(plain);
    free(coloured);
    wb_diag_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_renders_to_nothing),
        cmocka_unit_test(line_caret_and_fix),
        cmocka_unit_test(include_chain),
        cmocka_unit_test(an_include_loop_ends),
        cmocka_unit_test(sorted_by_file_and_line_with_counts),
        cmocka_unit_test(warnings_alone_stop_nothing),
        cmocka_unit_test(text_and_sources_are_copied),
        cmocka_unit_test(controls_are_escaped),
        cmocka_unit_test(caret_past_the_end_and_missing_lines),
        cmocka_unit_test(huge_lines_are_clipped_round_the_mistake),
        cmocka_unit_test(many_mistakes_in_a_large_file_are_quick),
        cmocka_unit_test(the_same_message_is_given_once),
        cmocka_unit_test(colours_only_on_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
