/* wb-link: wb_plots wb_measure wb_core */
#include "wbtest.h"

#include "plot.h"

#include <unistd.h>

static void check_text(const char *in, size_t columns, const char *want)
{
    char *s = plot_text(in, columns);
    if (strcmp(s, want)) fail_msg("'%s' became '%s', not '%s'", in, s, want);
    free(s);
}

static void test_texts_are_inert(void **state)
{
    (void)state;
    check_text("plain", 20, "plain");
    check_text("it's `id` $(reboot) \"x\" @HOME \\n", 60, "it s  id  ?(reboot)  x  ?HOME ?n");
    check_text("a\nb\x1b[31mc\x7f", 60, "a?b?[31mc?");
    check_text("\xff\xfe x \xc3", 60, "?? x ?");
    check_text("\xc2\xb1 \xe2\x82\xac", 60, "\xc2\xb1 \xe2\x82\xac");
    check_text("0123456789", 6, "012...");
    check_text("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4, "\xc3\xa9\xc3\xa9...");
    check_text("", 4, "");
}

static char *read_file(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static json_t *document(const char *title)
{
    json_error_t e;
    json_t *doc = json_loads(
        "{\"schema\":\"wakebal.results/1\",\"results\":["
        "{\"label\":\"kernel.pipe=2.6.10, "
        "workload.cpus=free\",\"run\":{\"id\":\"abc\",\"metric\":\"bandwidth\",\"duration_s\":1,"
        "\"measured_s\":0.8},\"metrics\":[{\"name\":\"bandwidth\",\"workload\":\"p\",\"unit\":\"B/s\",\"mean\":2e9,"
        "\"ci\":[1.9e9,2.1e9],\"windows\":{\"width_s\":0.4,\"values\":[[1e9,3e9]]}},{\"name\":\"colocated\","
        "\"workload\":\"p\","
        "\"unit\":\"1\",\"windows\":{\"width_s\":0.4,\"values\":[[0,1]]}}]},"
        "{\"label\":\"x\",\"run\":{\"id\":\"def\",\"metric\":\"bandwidth\"},\"metrics\":[{\"name\":\"bandwidth\","
        "\"workload\":\"p\","
        "\"unit\":\"B/s\",\"mean\":4e9,\"ci\":null}]}]}",
        0, &e);
    assert_non_null(doc);
    json_t *run = json_object_get(json_array_get(json_object_get(doc, "results"), 0), "run");
    json_object_set_new(run, "title", json_string(title));
    return doc;
}

/* Without a gnuplot on the path, data and script stay. */
static void test_files_without_gnuplot(void **state)
{
    (void)state;
    char dir[] = "/tmp/wbplotXXXXXX", base[64], path[80], *why;
    assert_non_null(mkdtemp(dir));
    snprintf(base, sizeof base, "%s/p", dir);
    setenv("PATH", dir, 1);
    json_t *doc = document("a 'title' with `id`");
    struct plot_options o = {.kind = PLOT_BARS, .format = PLOT_PNG, .base = base};
    assert_int_equal(plot_draw(doc, &o, &why), PLOT_NO_GNUPLOT);
    assert_non_null(strstr(why, "gnuplot not found"));
    free(why);
    snprintf(path, sizeof path, "%s.dat", base);
    const char *dat = read_file(path);
    assert_non_null(strstr(dat, "\"pipe=2.6.10, cpus=free\" 2 1.9 2.1 \"2\"\n"));
    assert_non_null(strstr(dat, "\"x\" 4 4 4 \"4\"\n"));
    unlink(path);
    snprintf(path, sizeof path, "%s.gp", base);
    const char *gp = read_file(path);
    assert_non_null(strstr(gp, "set label 1 'a  title  with  id ' at screen"));
    assert_non_null(strstr(gp, "plot 'p.dat' using"));
    assert_null(strchr(gp, '`'));
    assert_null(strstr(gp, "@"));
    unlink(path);
    o.kind = PLOT_WINDOWS;
    assert_int_equal(plot_draw(doc, &o, &why), PLOT_NO_GNUPLOT);
    free(why);
    snprintf(path, sizeof path, "%s.dat", base);
    dat = read_file(path);
    assert_non_null(strstr(dat, "0.2 1 0\n0.6 1 0\n0.6 3 1\n1 3 1\n"));
    unlink(path);
    snprintf(path, sizeof path, "%s.gp", base);
    unlink(path);
    o.kind = PLOT_CDF;
    assert_int_equal(plot_draw(doc, &o, &why), PLOT_NOTHING);
    assert_non_null(strstr(why, "wake_latency"));
    free(why);
    unlink(path);
    snprintf(path, sizeof path, "%s.dat", base);
    unlink(path);
    rmdir(dir);
    json_decref(doc);
}

static void test_bars_as_text(void **state)
{
    (void)state;
    char *text, *why;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    json_t *doc = document("t");
    struct plot_options o = {.kind = PLOT_BARS, .format = PLOT_TERMINAL, .terminal = f, .columns = 60};
    assert_int_equal(plot_draw(doc, &o, &why), PLOT_DONE);
    fclose(f);
    assert_non_null(strstr(text, "bandwidth (GB/s)"));
    assert_non_null(strstr(text, "pipe=2.6.10, cpus=free  ##"));
    assert_non_null(strstr(text, " 2 +- 0.1\n"));
    free(text);
    json_decref(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_are_inert),
        cmocka_unit_test(test_files_without_gnuplot),
        cmocka_unit_test(test_bars_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
