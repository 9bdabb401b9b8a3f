/* docs/scheduler-checks.md says where each check of the schedulers stands: the functions are there and are run. */
#include "wbtest.h"

#include <string.h>

static char *contents(const char *path)
{
    char full[512];
    snprintf(full, sizeof full, WB_TESTS_DIR "/../%s", path);
    FILE *f = fopen(full, "r");
    if (!f) fail_msg("no file %s", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

/* "... | FILE | `FUNCTION` |": defined in the file and in its list of tests. */
static void check_row(const char *row, size_t len)
{
    char path[128], function[128], wanted[192];
    const char *end = row + len, *name = end - 1, *file;
    while (name > row && name[-1] != '`') name--;
    while (--name > row && *name != '|') continue; /* before the function's name */
    for (file = name - 1; file > row && file[-1] != '|'; file--) continue;
    assert_int_equal(sscanf(file, " %127[^ |]", path), 1);
    assert_int_equal(sscanf(name, "| `%127[^`]", function), 1);
    char *text = contents(path);
    snprintf(wanted, sizeof wanted, "static void %s(void **state)", function);
    if (!strstr(text, wanted)) fail_msg("%s has no %s", path, function);
    snprintf(wanted, sizeof wanted, "cmocka_unit_test(%s)", function);
    if (!strstr(text, wanted)) fail_msg("%s does not run %s", path, function);
    free(text);
}

static void every_check_stands_where_it_is_said_to(void **state)
{
    (void)state;
    size_t rows = 0;
    char *page = contents("docs/scheduler-checks.md");
    for (const char *line = page; *line; line += strcspn(line, "\n") + 1) {
        size_t len = strcspn(line, "\n");
        if (*line != '|' || !memmem(line, len, "tests/", 6)) continue;
        check_row(line, len);
        rows++;
    }
    assert_int_equal(rows, 77);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_check_stands_where_it_is_said_to)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
