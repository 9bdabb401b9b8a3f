/* The layout of scenario files: rules one by one, shipped files, and texts whose blanks were shuffled: same words
 * always, formatting twice is formatting once. */
/* wb-link: wb_scenario wb_core */
#include "wbtest.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

static void expect(const char *in, const char *want)
{
    char *out = format_text(in, strlen(in), false);
    if (strcmp(out, want)) fail_msg("'%s'\nbecame\n'%s', not\n'%s'", in, out, want);
    char *again = format_text(out, strlen(out), false);
    assert_string_equal(again, out);
    free(again);
    free(out);
}

static void test_rules(void **state)
{
    (void)state;
    expect("", "");
    expect("\n\n", "");
    expect("a=1;", "a = 1;\n");
    expect("\xef\xbb\xbf"
           "a=1 ;\r\n\r\n\r\n\r\nb  =  2 ;  \r\n",
           "a = 1;\n\nb  =  2;\n");
    expect("a = 1;//x\n", "a = 1; //x\n");
    expect("a = 1;    // x  \n          // y\n", "a = 1;    // x\n          // y\n");
    expect("a:{b=1;c={d=2;};};", "a : { b = 1; c = { d = 2; }; };\n");
    expect("a :\n{\nb = 1;\n    c = 2; };\n", "a :\n{\n  b = 1;\n  c = 2; };\n");
    expect("a : { b = 1;\nc = 2;\n};\n", "a : { b = 1;\n      c = 2;\n};\n");
    expect("w = ( { k = \"x\";\n m = 1; } ,\n{ k = \"y\"; } );",
           "w = ( { k = \"x\";\n        m = 1; },\n      { k = \"y\"; } );\n");
    expect("l = [1,2 ,3];\nm = [ 1,2 ];\n", "l = [1, 2, 3];\nm = [ 1, 2 ];\n");
    expect("e = ();\nf = ( );\n", "e = ();\nf = ( );\n");
    expect("  # c\n    @include \"x\"  \n", "# c\n@include \"x\"\n");
    expect("t = \"a;b = {\"\n  \"c\";\n", "t = \"a;b = {\"\n  \"c\";\n");
    expect("t = \"a\\\"}\";\n", "t = \"a\\\"}\";\n");
    expect("/* a\n  b */ x = 1;\n", "/* a\n  b */ x = 1;\n");
    expect("a = 1;\n\n\n\nb = 2;", "a = 1;\n\nb = 2;\n");
}

static void test_words_are_told_apart(void **state)
{
    (void)state;
    assert_true(format_same_words("a=1;", 4, " a = 1 ;\n", 9));
    assert_false(format_same_words("a=1;", 4, "a=2;", 4));
    assert_false(format_same_words("a=1;", 4, "a=1", 3));
    assert_false(format_same_words("ab", 2, "a b", 3));
    assert_false(format_same_words("// a\nb", 6, "// a b", 6));
    assert_false(format_same_words("\"a b\"", 5, "\"a  b\"", 6));
}

static char *read_all(const char *path, size_t *len)
{
    FILE *f = fopen(path, "re");
    char *text = calloc(1, 1 << 20);
    assert_non_null(f);
    assert_non_null(text);
    *len = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

static uint32_t next(uint32_t *s)
{
    return (*s = *s * 1664525u + 1013904223u) >> 8;
}

/* Blanks become other blanks where they part words anyway; comments and strings keep theirs. */
static char *shuffle(const char *text, size_t len, uint32_t seed, size_t *out_len)
{
    char *out = calloc(4, len + 4);
    assert_non_null(out);
    size_t n = 0;
    bool string = false, comment = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (!comment && c == '"' && (!i || text[i - 1] != '\\')) string = !string;
        if (!string && (c == '#' || (c == '/' && text[i + 1] == '/'))) comment = true;
        if (!string && c == '@') comment = true;
        if (c == '\n') comment = false;
        out[n++] = c;
        if (c != ' ' || string || comment) continue;
        for (uint32_t k = next(&seed) % 3; k; k--) out[n++] = next(&seed) % 5 ? ' ' : '\t';
        if (next(&seed) % 8 == 0) out[n++] = '\n';
    }
    *out_len = n;
    return out;
}

static void check_text(const char *name, const char *text, size_t len, bool inc)
{
    char *once = format_text(text, len, inc), *twice = format_text(once, strlen(once), inc);
    if (!format_same_words(text, len, once, strlen(once))) fail_msg("%s: words have changed", name);
    if (strcmp(once, twice)) fail_msg("%s: formatting twice is not formatting once", name);
    free(once);
    free(twice);
}

static void walk(const char *folder, bool shipped)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        char path[4096];
        size_t len, n = strlen(e->d_name), k;
        if (n < 5 || (strcmp(e->d_name + n - 4, ".cfg") && strcmp(e->d_name + n - 4, ".inc"))) continue;
        bool inc = !strcmp(e->d_name + n - 4, ".inc");
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        char *text = read_all(path, &len), *out = format_text(text, len, inc);
        if (shipped && strcmp(text, out)) fail_msg("%s is not formatted: wakebal fmt %s", e->d_name, e->d_name);
        free(out);
        if (strlen(text) == len) check_text(path, text, len, inc);
        for (uint32_t seed = 1; shipped && seed <= 5; seed++) {
            char *other = shuffle(text, len, seed, &k);
            check_text(path, other, k, inc);
            free(other);
        }
        free(text);
    }
    closedir(d);
}

static void test_shipped_files_are_formatted(void **state)
{
    (void)state;
    static const char *const part[] = {"machines", "kernels", "workloads", "cases", "studies"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(part); i++) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s/%s", WB_SOURCE_SCENARIOS, part[i]);
        walk(folder, true);
    }
    walk(WB_SOURCE_SCENARIOS "/../docs/examples/new", true);
}

static void test_broken_files_keep_their_words(void **state)
{
    (void)state;
    walk(WB_TESTS_DIR "/bad", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_words_are_told_apart),
        cmocka_unit_test(test_shipped_files_are_formatted),
        cmocka_unit_test(test_broken_files_keep_their_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
