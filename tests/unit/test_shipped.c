/*
 * test_shipped.c - what ships obeys the rules: key rows are complete, files load, and every cost says where it comes
 * from.
 */
#include "../../cli/registry.c"

#include "scenario_fixture.h"

static struct wb_key_registry *keys;

static int setup(void **state)
{
    (void)state;
    unsetenv("WAKEBAL_PATH");
    keys = cli_keys_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    wb_keys_free(keys);
    return 0;
}

static void key_rows_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < wb_keys_count(keys); i++) {
        const char *why = wb_key_lint(wb_keys_at(keys, i));
        if (why) fail_msg("key %s %s", wb_keys_at(keys, i)->path, why);
    }
}

/* A config of a shipped machine and kernel with a small workload. */
static struct wb_scenario *load(const char *machine, const char *kernel, struct wb_diag *d)
{
    static char text[400];
    snprintf(text, sizeof text,
             "machine : { base = \"%s/machines/%s.cfg\"; };\nkernel : { base = \"%s/kernels/%s.cfg\"; };\nworkload = ( "
             "{ kind = \"pipe_bw\"; } );\n",
             WB_SOURCE_SCENARIOS, machine, WB_SOURCE_SCENARIOS, kernel);
    char path[] = "/tmp/shipped-XXXXXX.cfg";
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    struct wb_scenario *s = wb_scenario_load(path, keys, NULL, d);
    unlink(path);
    return s;
}

/* Every priced value that a shipped file gives has status and source; an assumed one a range that holds it (the
 * loader sees to that). */
static void check_costs(const char *machine, const char *kernel)
{
    struct wb_diag *d = wb_diag_new();
    struct wb_scenario *s = load(machine, kernel, d);
    if (!s) {
        char *text = wb_diag_render(d, false);
        fail_msg("%s on %s does not load:\n%s", kernel, machine, text);
    }
    const struct wb_config *c = wb_scenario_config(s);
    const char *path;
    size_t priced = 0;
    for (size_t i = 0; (path = wb_cfg_path_at(c, i)); i++) {
        const struct wb_origin *o = wb_cfg_origin(c, path);
        if (!(wb_cfg_row(c, path)->flags & WB_KEY_PRICED)) continue;
        priced++;
        if (!o->source || o->status == WB_STATUS_NONE || o->status == WB_STATUS_USER)
            fail_msg("%s:%d: %s has no %s", o->place.file ? o->place.file : "default", o->place.line, path,
                     o->source ? "status" : "source");
        if (strcmp(o->from, "default") && o->status == WB_ASSUMED && o->range_lo > o->range_hi)
            fail_msg("%s:%d: %s is assumed without a range", o->place.file, o->place.line, path);
    }
    assert_true(priced > 20);
    wb_scenario_free(s);
    wb_diag_free(d);
}

static void costs_have_status_and_source(void **state)
{
    size_t nm, nk;
    char **machines = wb_scenario_list("machines", &nm), **kernels = wb_scenario_list("kernels", &nk);
    (void)state;
    assert_true(nm > 0 && nk > 0);
    for (size_t i = 0; i < nm; i++) check_costs(machines[i], kernels[0]);
    for (size_t i = 0; i < nk; i++) check_costs(machines[0], kernels[i]);
    wb_scenario_list_free(machines);
    wb_scenario_list_free(kernels);
}

static void every_file_passes_check(void **state)
{
    static const char *const kinds[] = {"machines", "kernels", "workloads", "cases", "studies"};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        size_t n;
        char **names = wb_scenario_list(kinds[k], &n);
        for (size_t i = 0; i < n; i++) {
            char *path = wb_scenario_find(names[i], kinds[k]), *title = wb_scenario_title(names[i], kinds[k]);
            struct wb_diag *d = wb_diag_new();
            if (wb_scenario_check(path, keys, d) < 0) {
                char *text = wb_diag_render(d, false);
                fail_msg("%s:\n%s", path, text);
            }
            if (!title) fail_msg("%s has no title", path);
            wb_diag_free(d);
            free(path);
            free(title);
        }
        wb_scenario_list_free(names);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_rows_are_complete),
        cmocka_unit_test(costs_have_status_and_source),
        cmocka_unit_test(every_file_passes_check),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
