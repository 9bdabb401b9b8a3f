/* wb-link: wb_scenario wb_core */
#include "scenario_fixture.h"

static const struct wb_place nowhere = {NULL, 0, 0, 0};

/* "a b c": the values of the only axis, or "!" and the first message. */
static char *values_of(const char *text)
{
    struct wb_key_registry *keys = fixture_keys();
    struct wb_axes *a = wb_axes_new(keys);
    struct wb_diag *d = wb_diag_new();
    char *out = calloc(1, 4000), all[200];
    snprintf(all, sizeof all, "workload.copies=%s", text);
    if (wb_axes_add(a, all, nowhere, d) < 0) {
        char *m = wb_diag_render(d, false);
        snprintf(out, 4000, "!%.*s", (int)strcspn(m, "\n"), m);
        free(m);
    } else {
        for (size_t i = 0; i < wb_axes_points(a); i++) {
            struct wb_override o;
            wb_axes_point(a, i, &o);
            snprintf(out + strlen(out), 4000 - strlen(out), "%s%s", i ? " " : "", o.value);
        }
    }
    wb_diag_free(d);
    wb_axes_free(a);
    wb_keys_free(keys);
    return out;
}

static void the_grammar(void **state)
{
    static const char *const cases[][2] = {
        {"1,2,8", "1 2 8"},
        {"1..10", "1 2 3 4 5 6 7 8 9 10"},
        {"0..1 /11", "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1"},
        {"1..1024 *2", "1 2 4 8 16 32 64 128 256 512 1024"},
        {"1..1000*2", "1 2 4 8 16 32 64 128 256 512"},
        {"1ms..64ms *4", "1 ms 4 ms 16 ms 64 ms"},
        {"1 KiB .. 4 KiB /4", "1 KiB 2 KiB 3 KiB 4 KiB"},
        {"1 GB/s..4 GB/s /2", "1 GB/s 4 GB/s"},
        {"1 GB/s..4 GB/s *2", "1 GB/s 2 GB/s 4 GB/s"},
        {"1..8 *1.5", "1 2 3 5 8"},
        {"0.5..2 *2", "0.5 1 2"},
        {"10 %..30 % /3", "10 % 20 % 30 %"},
        {"free,0,\"0,1\"", "free 0 0,1"},
        {"10 us, exp(10 us), uniform(1 us, 5 us)", "10 us exp(10 us) uniform(1 us, 5 us)"},
        {"2.6.10,2.6.11", "2.6.10 2.6.11"},
        {"-2..2", "-2 -1 0 1 2"},
        {"100..400 /4", "100 200 300 400"},
        {"5", "5"},
        {"", "!error: --vary workload.copies: an empty value in the list   [E170]"},
        {"1,,2", "!error: --vary workload.copies: an empty value in the list   [E170]"},
        {"9..1", "!error: --vary workload.copies: the range '9..1' runs backwards   [E170]"},
        {"1ms..4KiB",
         "!error: --vary workload.copies: '1ms..4KiB': both ends must be numbers of the same kind   [E170]"},
        {"1ms..4ms", "!error: --vary workload.copies: a range of quantities has no natural step   [E170]"},
        {"1..10 /4", NULL},
        {"1..10 /3", "1 5.5 10"},
        {"0..8 *2",
         "!error: --vary workload.copies: a geometric range starts above 0 and grows by more than 1   [E170]"},
        {"1..8 *1",
         "!error: --vary workload.copies: a geometric range starts above 0 and grows by more than 1   [E170]"},
        {"1..8 *x", "!error: --vary workload.copies: '*x' is neither a number of points nor a factor   [E170]"},
        {"1..8 /1", "!error: --vary workload.copies: wrong number of points   [E170]"},
        {"1..10000000", "!error: --vary workload.copies: more than 100000 values on one axis   [E170]"},
        {"@/nonexistent",
         "!error: --vary workload.copies: cannot read '/nonexistent': No such file or directory   [E170]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *got = values_of(cases[i][0]);
        if (!cases[i][1])
            assert_string_equal(got, "1 4 7 10");
        else if (strcmp(got, cases[i][1]))
            fail_msg("%s gives <%s>, wanted <%s>", cases[i][0], got, cases[i][1]);
        free(got);
    }
}

static void values_from_a_file(void **state)
{
    char path[] = "/tmp/axis-XXXXXX", text[64];
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    assert_true(write(fd, "# head\n4 KiB\n\n64 KiB\r\n", 22) == 22);
    close(fd);
    snprintf(text, sizeof text, "@%s", path);
    char *got = values_of(text);
    assert_string_equal(got, "4 KiB 64 KiB");
    free(got);
    unlink(path);
}

static void products_and_zips(void **state)
{
    struct wb_key_registry *keys = fixture_keys();
    struct wb_axes *a = wb_axes_new(keys);
    struct wb_diag *d = wb_diag_new();
    char label[200];
    (void)state;
    assert_int_equal(wb_axes_points(a), 1);
    assert_int_equal(wb_axes_add(a, "kernel.pipe=a,b", nowhere, d), 0);
    assert_int_equal(wb_axes_add(a, "workload.copies=1..3", nowhere, d), 0);
    assert_int_equal(wb_axes_points(a), 6);
    assert_string_equal(wb_axes_label(a, 0, label, sizeof label), "kernel.pipe=a, workload.copies=1");
    /* first axis slowest */
    assert_string_equal(wb_axes_label(a, 4, label, sizeof label), "kernel.pipe=b, workload.copies=2");
    assert_int_equal(wb_axes_add(a, "kernel.hz=100,250,1000", nowhere, d), 0);
    assert_int_equal(wb_axes_zip(a, "workload.copies,kernel.hz", nowhere, d), 0);
    assert_int_equal(wb_axes_points(a), 6);
    assert_string_equal(wb_axes_label(a, 5, label, sizeof label), "kernel.pipe=b, workload.copies=3, kernel.hz=1000");
    assert_int_equal(wb_diag_count(d, WB_ERROR), 0);
    assert_int_equal(wb_axes_zip(a, "kernel.pipe,kernel.hz", nowhere, d), -1);
    assert_int_equal(wb_axes_zip(a, "kernel.nix", nowhere, d), -1);
    assert_int_equal(wb_axes_add(a, "kernel.pipe=c", nowhere, d), -1);
    assert_int_equal(wb_axes_add(a, "kernel.pipe", nowhere, d), -1);
    assert_int_equal(wb_diag_count(d, WB_ERROR), 4);
    wb_axes_free(a);
    wb_diag_free(d);
    wb_keys_free(keys);
}

static bool cpus(void *ctx, const char *name, struct wb_value *v)
{
    if (strcmp(name, "machine.cpus")) return false;
    *v = (struct wb_value){WB_VALUE_NUMBER, *(double *)ctx, "", NULL};
    return true;
}

static void the_sweep_of_a_scenario(void **state)
{
    static const char text[] =
        "machine : { base = \"m\"; };\nkernel : { base = \"k\"; };\nworkload = ( { kind = \"pipe_bw\"; } );\n"
        "sweep : { over = ( { set = \"kernel.pipe\"; values = [ \"a\", \"b\" ]; }, { set = \"workload.copies\"; range "
        "= \"1..8 *2\"; } );\n"
        "  where = \"workload.copies <= 2 * machine.cpus\"; };\n";
    const struct fixture_file files[] = {{"a.cfg", text}, FIXTURE_MACHINE, FIXTURE_KERNEL, {NULL, NULL}};
    struct wb_key_registry *keys = fixture_keys();
    struct wb_diag *d = wb_diag_new();
    struct wb_scenario *s = fixture_load(files, keys, NULL, d);
    struct wb_axes *a = wb_axes_new(keys);
    double n = 2;
    size_t kept = 0;
    (void)state;
    assert_non_null(s);
    assert_int_equal(wb_axes_add(a, "kernel.pipe=x", nowhere, d), 0); /* --vary wins over the file */
    assert_int_equal(wb_axes_add_config(a, wb_scenario_config(s), d), 0);
    assert_int_equal(wb_axes_points(a), 4);
    for (size_t i = 0; i < wb_axes_points(a); i++) {
        struct wb_override o[2];
        bool keep;
        wb_axes_point(a, i, o);
        struct wb_config *c = wb_scenario_at(s, &(struct wb_overrides){.item = o, .n = 2}, d);
        assert_non_null(c);
        assert_string_equal(wb_cfg_str(c, "kernel.pipe"), "x");
        assert_int_equal(wb_axes_keep(a, c, cpus, &n, &keep, d), 0);
        kept += keep;
        wb_config_free(c);
    }
    assert_int_equal(kept, 3); /* 1 2 4 */
    wb_axes_free(a);
    wb_scenario_free(s);
    wb_diag_free(d);
    wb_keys_free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grammar),
        cmocka_unit_test(values_from_a_file),
        cmocka_unit_test(products_and_zips),
        cmocka_unit_test(the_sweep_of_a_scenario),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
