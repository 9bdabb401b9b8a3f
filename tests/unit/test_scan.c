/* wb-link: wb_scenario wb_core */
#include "scenario_fixture.h"

#include "scan.h"

struct scanned {
    struct arena arena;
    struct wb_diag *d;
    struct scan_node *root;
    bool broken;
    char *text; /* of all messages */
};

static struct scanned scan_files(const struct fixture_file *files)
{
    struct scanned s = {.d = wb_diag_new()};
    const struct wb_reader reader = {fixture_read, fixture_exists, (void *)files};
    arena_init(&s.arena, "test");
    s.root = scan_text(&s.arena, &reader, files[0].path, files[0].text, strlen(files[0].text), s.d, &s.broken);
    s.text = wb_diag_render(s.d, false);
    return s;
}

static struct scanned scan(const char *text)
{
    return scan_files((struct fixture_file[]){{"a.cfg", text}, {NULL, NULL}});
}

static void done(struct scanned *s)
{
    arena_free(&s->arena);
    wb_diag_free(s->d);
    free(s->text);
}

static void expect_message(const char *text, const char *first_line)
{
    struct scanned s = scan(text);
    size_t n = strcspn(s.text, "\n");
    if (!s.broken || wb_diag_count(s.d, WB_ERROR) != 1 || strlen(first_line) != n || memcmp(s.text, first_line, n))
        fail_msg("for <%s>\nwanted one error: %s\ngot: %s", text, first_line, s.text);
    done(&s);
}

static void places_of_keys_and_values(void **state)
{
    struct scanned s = scan("// head\nmachine : { base = \"x\"; };\n\tlist = ( 1, 2.5,\n  \"c\" );\n");
    (void)state;
    assert_false(s.broken);
    const struct scan_node *machine = s.root->first, *base = machine->first, *list = machine->next;
    assert_int_equal(machine->key_at.line, 2);
    assert_int_equal(machine->at.col, 11);
    assert_string_equal(base->name, "base");
    assert_int_equal(base->key_at.col, 13);
    assert_int_equal(base->at.col, 20);
    assert_int_equal(base->at.len, 3);
    assert_int_equal(list->key_at.col, 2);
    assert_int_equal(list->n, 3);
    assert_int_equal(list->last->at.line, 4);
    assert_int_equal(list->last->at.col, 3);
    assert_int_equal(scan_place_in(base, 0, 1).col, 21);
    done(&s);
}

static void values_are_those_of_libconfig(void **state)
{
    struct scanned s =
        scan("a = 010; b = 0x10; c = -5; d = TRUE; e = \"x\\n\" \"y\\q\"; f = 5000000000L; g = 1e5; h = [ 1, 2 ]");
    static const int64_t want[] = {10, 16, -5, 1};
    const struct scan_node *n = s.root->first;
    (void)state;
    assert_false(s.broken);
    for (size_t i = 0; i < 4; i++, n = n->next) assert_int_equal(n->num, want[i]);
    assert_string_equal(n->text, "x\ny\\q");
    assert_int_equal(n->next->num, 5000000000);
    assert_int_equal(n->next->next->kind, SCAN_FLOAT);
    assert_int_equal(n->next->next->next->kind, SCAN_ARRAY);
    done(&s);
}

static void what_is_accepted(void **state)
{
    static const char *const good[] = {"",
                                       "# only a comment",
                                       "// no line end",
                                       "a = 1 b = 2",
                                       "a:1,b:2",
                                       "a = { b = { }; };\r\n",
                                       ("\xef\xbb\xbf"
                                        "a = 1;"),
                                       "a = ( { b = 1; }, { c = ( ); } );",
                                       "/* x */ a = /* y */ 1; /* z */",
                                       "a = \"\xc3\xa4\";",
                                       "\fa = 1;"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct scanned s = scan(good[i]);
        if (s.broken || wb_diag_count(s.d, WB_ERROR)) fail_msg("<%s> was refused:\n%s", good[i], s.text);
        done(&s);
    }
}

static void messages(void **state)
{
    static const char *const bad[][2] = {
        {"a = ;", "a.cfg:1:1: error: 'a' has no value   [E101]"},
        {"a 1;", "a.cfg:1:1: error: '=' is missing after 'a'   [E101]"},
        {"a = 1;;", "a.cfg:1:7: error: ';' ends nothing   [E101]"},
        {"a = thread;", "a.cfg:1:5: error: text is written in double quotes   [E107]"},
        {"a = 64 KiB;", "a.cfg:1:5: error: a quantity with a unit is a string   [E107]"},
        {"a = 64KiB; b = 1;", "a.cfg:1:5: error: a quantity with a unit is a string   [E107]"},
        {"a = 2 %;", "a.cfg:1:5: error: a quantity with a unit is a string   [E107]"},
        {"a = 'x';", "a.cfg:1:5: error: ''' means nothing here   [E108]"},
        {"_a = 1;", "a.cfg:1:1: error: a name cannot start with '_'   [E108]"},
        {"\"a\" = 1;", "a.cfg:1:1: error: a string stands where a key should   [E101]"},
        {"a = \"x;\n", "a.cfg:1:5: error: string is never closed   [E105]"},
        {"a = { b = \"x; };\n", "a.cfg:1:11: error: string is never closed   [E105]"},
        {"a = 1; /* x\n", "a.cfg:1:8: error: comment is never closed   [E104]"},
        {"a = { b = 1;\nc = 2;\n", "a.cfg:1:5: error: this '{' is never closed   [E109]"},
        {"a = { b = 1; }; };", "a.cfg:1:17: error: '}' closes nothing   [E109]"},
        {"a = ( { b = 1; );", "a.cfg:1:7: error: this '{' is not closed before the ')' on line 1   [E109]"},
        {"a = [ 1, 2.5 ];", "a.cfg:1:10: error: array mixes integer and real values; use a list: ( 1, 2.5 )   [E113]"},
        {"a = [ 1, \"b\" ];",
         "a.cfg:1:10: error: array mixes values of different types; use a list: ( 1, \"a\" )   [E113]"},
        {"a = [ { b = 1; } ];", "a.cfg:1:7: error: an array [ ] holds plain values only   [E113]"},
        {"a = ( 1, 2, );", "a.cfg:1:11: error: a value is missing beside this comma   [E101]"},
        {"a = ( 1 2 );", "a.cfg:1:9: error: ',' is missing between two entries of a list   [E101]"},
        {"a = ( 1; 2 );", "a.cfg:1:8: error: entries of a list are separated by ',', not ';'   [E101]"},
        {"a = ( b = 1 );", "a.cfg:1:7: error: a list holds values, not settings   [E101]"},
        {"a = 1;\na = 2;", "a.cfg:2:1: error: 'a' is set twice; first on line 1   [E114]"},
        {"@include \"none.cfg\"\n", "a.cfg:1:10: error: cannot include 'none.cfg': No such file or directory   [E111]"},
        {"a = 1; @include \"x\"\n",
         "a.cfg:1:8: error: @include needs a line of its own and a file name in quotes   [E106]"},
        {"@includ \"x\"\n", "a.cfg:1:1: error: the only word after '@' is 'include'   [E106]"},
        {"@include \"a.cfg\"\n", "a.cfg:1:10: error: 'a.cfg' includes itself   [E110]"},
        {"\xff\xfe"
         "a",
         "a.cfg:1:1: error: this is UTF-16 text   [E103]"},
        {"a = \v1;", "a.cfg:1:5: error: byte 0x0b means nothing here   [E108]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) expect_message(bad[i][0], bad[i][1]);
}

static void all_mistakes_in_one_pass(void **state)
{
    struct scanned s = scan("a = x;\nb = ;\nc = [ 1, 2.5 ];\nd = 1;\nd = 2;\ne = ( 1 2 );\n");
    (void)state;
    assert_int_equal(wb_diag_count(s.d, WB_ERROR), 5);
    assert_string_equal(s.root->last->name, "e");
    done(&s);
}

static void integers_that_wrap_are_marked(void **state)
{
    static const struct {
        const char *text;
        bool wraps;
        int64_t reads;
    } cases[] = {
        {"2147483647", false, 2147483647},
        {"2147483648", true, INT32_MIN},
        {"-2147483648", false, INT32_MIN},
        {"-2147483649", true, INT32_MAX},
        {"4294967296", true, 0},
        {"5000000000", true, 705032704},
        {"10000000000", true, 1410065408},
        {"0xFFFFFFFF", true, -1},
        {"0x7fffffff", false, INT32_MAX},
        {"99999999999999999999", true, -1},
        {"5000000000L", false, 5000000000},
        {"9223372036854775807L", false, INT64_MAX},
        {"9223372036854775808L", true, INT64_MAX},
        {"99999999999999999999LL", true, INT64_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool wraps;
        (void)lex_integer(cases[i].text, strlen(cases[i].text), &wraps);
        assert_int_equal(wraps, cases[i].wraps);
        assert_int_equal(lex_wrapped(cases[i].text, strlen(cases[i].text)), cases[i].reads);
    }
}

static void includes_keep_their_places(void **state)
{
    const struct fixture_file files[] = {
        {"d/a.cfg", "x = 1;\n@include \"b.cfg\"\ny = 2;\n"}, {"d/b.cfg", "p = 3;\nq = \"4\";"}, {NULL, NULL}};
    struct scanned s = scan_files(files);
    (void)state;
    assert_false(s.broken);
    const struct scan_node *q = s.root->first->next->next;
    assert_string_equal(q->name, "q");
    assert_string_equal(q->at.file, "d/b.cfg");
    assert_int_equal(q->at.line, 2);
    assert_string_equal(q->next->name, "y");
    assert_string_equal(q->next->at.file, "d/a.cfg");
    assert_int_equal(q->next->at.line, 3);
    done(&s);
    const struct fixture_file bad[] = {
        {"d/a.cfg", "x = 1;\n@include \"b.cfg\"\n"}, {"d/b.cfg", "p = ;\n"}, {NULL, NULL}};
    s = scan_files(bad);
    assert_non_null(strstr(s.text, "d/b.cfg:1:1: error: 'p' has no value"));
    assert_non_null(strstr(s.text, "   included from d/a.cfg:2\n"));
    done(&s);
}

static void limits(void **state)
{
    char deep[300];
    (void)state;
    memset(deep, 0, sizeof deep);
    strcpy(deep, "a = ");
    for (int i = 0; i < 40; i++) strcat(deep, "(");
    struct scanned s = scan(deep);
    assert_non_null(strstr(s.text, "more than 32 groups or lists inside each other"));
    done(&s);
    size_t n = SCAN_VALUES_MAX + 10;
    char *many = malloc(n * 2 + 10), *p = many;
    p += sprintf(p, "a = [1");
    for (size_t i = 0; i < n; i++) p += sprintf(p, ",1");
    s = scan(many);
    assert_non_null(strstr(s.text, "more than 200000 values"));
    done(&s);
    free(many);
}

/* A megabyte of nonsense is given up after a hundred mistakes, whatever they are. */
static void hopeless_files(void **state)
{
    static const char *const nonsense[] = {"}", "@include \"x\"\n", "a = /* x */ ", "x y\n", "a = 1;;\n", "_"};
    (void)state;
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        size_t n = strlen(nonsense[i]), times = (1 << 20) / n;
        char *text = calloc(times + 1, n);
        for (size_t k = 0; k < times; k++) memcpy(text + k * n, nonsense[i], n);
        struct scanned s = scan(text);
        assert_true(s.broken);
        assert_true(wb_diag_count(s.d, WB_ERROR) <= SCAN_ERRORS_MAX + 2);
        done(&s);
        free(text);
    }
}

static void values_of_the_command_line(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a, "test");
    struct wb_place none = {NULL, 0, 0, 0};
    assert_int_equal(scan_value(&a, "[1, 2]", none)->n, 2);
    assert_int_equal(scan_value(&a, "5", none)->num, 5);
    assert_null(scan_value(&a, "4KiB", none));
    assert_null(scan_value(&a, "{ a = 1; }", none));
    assert_null(scan_value(&a, "1; b = 2", none));
    assert_null(scan_value(&a, "\n@include \"/etc/passwd\"\n", none));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_of_keys_and_values),
        cmocka_unit_test(values_are_those_of_libconfig),
        cmocka_unit_test(what_is_accepted),
        cmocka_unit_test(messages),
        cmocka_unit_test(all_mistakes_in_one_pass),
        cmocka_unit_test(integers_that_wrap_are_marked),
        cmocka_unit_test(includes_keep_their_places),
        cmocka_unit_test(limits),
        cmocka_unit_test(hopeless_files),
        cmocka_unit_test(values_of_the_command_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
