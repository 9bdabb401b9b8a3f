/* wb-link: wb_scenario wb_core */
#include <fcntl.h>
#include <sys/stat.h>

#include "scenario_fixture.h"

#include "scenario_build.h"

static char dir[64];

static void put(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int setup(void **state)
{
    char path[200];
    (void)state;
    strcpy(dir, "/tmp/find-XXXXXX");
    if (!mkdtemp(dir)) return -1;
    snprintf(path, sizeof path, "%s/machines", dir);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/one", dir);
    mkdir(path, 0700);
    put("machines/zz-test-a.cfg", "title = \"machine\\na\";");
    put("machines/zz-test-b.cfg", "clock = ;");
    put("one/zz-test-a.cfg", "title = \"beside\";");
    put("one/plain", "no scenario");
    setenv("WAKEBAL_PATH", dir, 1);
    return 0;
}

static int teardown(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command) ? -1 : 0;
}

static void expect_found(const char *beside, const char *name, const char *want)
{
    struct arena a;
    char full[300], from[300];
    arena_init(&a, "test");
    snprintf(full, sizeof full, "%s/%s", dir, want ? want : "");
    snprintf(from, sizeof from, "%s/%s", dir, beside);
    const char *got = find_file(&a, &wb_reader_files, dir, false, from, name, "machines");
    if (want)
        assert_string_equal(got, full);
    else
        assert_null(got);
    arena_free(&a);
}

static void beside_first_then_the_path(void **state)
{
    (void)state;
    expect_found("one/x.cfg", "zz-test-a", "one/zz-test-a.cfg");
    expect_found("x.cfg", "zz-test-a", "machines/zz-test-a.cfg");
    expect_found("one/x.cfg", "zz-test-b", "machines/zz-test-b.cfg");
    expect_found("one/x.cfg", "zz-test-b.cfg", "machines/zz-test-b.cfg");
    expect_found("one/x.cfg", "plain", NULL); /* a bare word is no file */
    expect_found("one/x.cfg", "../machines/zz-test-a.cfg", "one/../machines/zz-test-a.cfg");
    expect_found("one/x.cfg", "zz-test-c", NULL);
    expect_found("one/x.cfg", "", NULL);
}

static void listing_and_titles(void **state)
{
    size_t n, mine = 0;
    char **names = wb_scenario_list("machines", &n);
    (void)state;
    for (size_t i = 0; i < n; i++) {
        mine += !strncmp(names[i], "zz-test-", 8);
        if (i) assert_true(strverscmp(names[i - 1], names[i]) < 0);
    }
    assert_int_equal(mine, 2);
    wb_scenario_list_free(names);
    char *title = wb_scenario_title("zz-test-a", "machines");
    assert_string_equal(title, "machine a"); /* one line */
    free(title);
    assert_null(wb_scenario_title("zz-test-b", "machines"));
    assert_null(wb_scenario_find("zz-test-c", "machines"));
}

static void expect_refused(const char *path, const char *want)
{
    char *text = NULL;
    size_t len;
    const char *why = "";
    assert_true(wb_reader_files.read(wb_reader_files.ctx, path, &text, &len, &why) < 0);
    assert_string_equal(why, want);
}

static void only_regular_files_are_read(void **state)
{
    char path[300], *text;
    size_t len;
    const char *why;
    (void)state;
    expect_refused("/dev/zero", "it is no regular file");
    expect_refused(dir, "it is a folder");
    snprintf(path, sizeof path, "%s/fifo", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refused(path, "it is no regular file"); /* and does not wait for a writer */
    snprintf(path, sizeof path, "%s/large", dir);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(ftruncate(fd, (8 << 20) + 1), 0);
    close(fd);
    expect_refused(path, "it is larger than 8 MiB");
    expect_refused("/nonexistent", "No such file or directory");
    snprintf(path, sizeof path, "%s/one/plain", dir);
    assert_int_equal(wb_reader_files.read(wb_reader_files.ctx, path, &text, &len, &why), 0);
    assert_string_equal(text, "no scenario");
    assert_int_equal(len, 11);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside_first_then_the_path),
        cmocka_unit_test(listing_and_titles),
        cmocka_unit_test(only_regular_files_are_read),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
