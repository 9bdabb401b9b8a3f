/* wb-link: wb_plots wb_measure wb_core */
#include "wbtest.h"

#include "plot_inner.h"

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
    assert_non_null(strstr(dat, "\"pipe=2.6.10, cpus=free\" 2 1.9 2.1 \"2.00 \u00b1 0.10\" 5682409\n"));
    assert_non_null(strstr(dat, "\"x\" 4 4 4 \"4\" 5682409\n"));
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
    assert_non_null(strstr(text, " 2.00 +- 0.10\n"));
    free(text);
    json_decref(doc);
}

/* ------------------------------------------------------------------ kinds, by the data they write */
/* Draw without gnuplot; what came into the data file. The status goes to *st, the sentence to why[]. */
static const char *drawn_data(const json_t *doc, struct plot_options o, enum plot_status *st, char why[512])
{
    static char text[1 << 16];
    char dir[] = "/tmp/wbplotXXXXXX", base[64], path[80], *sentence;
    assert_non_null(mkdtemp(dir));
    snprintf(base, sizeof base, "%s/p", dir);
    setenv("PATH", dir, 1);
    o.base = base;
    *st = plot_draw(doc, &o, &sentence);
    snprintf(why, 512, "%s", sentence ? sentence : "");
    free(sentence);
    *text = 0;
    snprintf(path, sizeof path, "%s.dat", base);
    if (*st == PLOT_NO_GNUPLOT) snprintf(text, sizeof text, "%s", read_file(path));
    unlink(path);
    snprintf(path, sizeof path, "%s.gp", base);
    if (*st == PLOT_NO_GNUPLOT && strpbrk(read_file(path), "@`"))
        fail_msg("the script of %s is not filled", plot_kind_name[o.kind]);
    unlink(path);
    rmdir(dir);
    return text;
}

static void holds(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("no '%s' in:\n%s", part, text);
}

/* A sweep of sizes, copies and kernels: value = 10 * size index + copies, kernel b adds 100. */
static json_t *sweep(void)
{
    static const char *const size[] = {"64 KiB", "1 KiB", "8 KiB"};
    json_t *list = json_array();
    for (int i = 0; i < 3; i++)
        for (int copies = 1; copies <= 2; copies++)
            for (int k = 0; k < 2; k++) {
                double v = 10 * i + copies + 100 * k;
                json_array_append_new(
                    list,
                    json_pack("{s:s,s:{s:s,s:s,s:i},s:{s:s,s:s},s:[{s:s,s:n,s:s,s:f,s:[f,f],s:i,s:f}]}", "label", "p",
                              "params", "workload.message", size[i], "kernel.base", k ? "b" : "a", "workload.copies",
                              copies, "run", "id", "abc", "metric", "m", "metrics", "name", "m", "workload", "unit",
                              "1", "mean", v, "ci", v - 0.5, v + 0.5, "n", 3, "confidence", 0.95));
            }
    return json_pack("{s:s,s:o}", "schema", "wakebal.results/1", "results", list);
}

static void test_axes_find_their_places(void **state)
{
    (void)state;
    char why[512];
    enum plot_status st;
    json_t *doc = sweep();
    struct plot_options o = {.kind = PLOT_LINES};
    const char *dat = drawn_data(doc, o, &st, why);
    assert_int_equal(st, PLOT_NO_GNUPLOT);
    /* Sizes go across, in order of size; kernels into series; copies into panels. */
    holds(dat, "# \"1\" \"a\": message mean_ low high shown_message\n1024 11 10.5 11.5 \"1 KiB\"\n8192 21 20.5 21.5 "
               "\"8 KiB\"\n65536 1 0.5 1.5 \"64 KiB\"\n");
    holds(dat, "# \"2\" \"b\": message mean_ low high shown_message\n1024 112 ");
    o.series = "copies";
    o.facets = "kernel.base";
    holds(drawn_data(doc, o, &st, why), "# \"b\" \"copies=2\": message mean_ low high shown_message\n1024 112 ");
    o.facets = "nothing";
    drawn_data(doc, o, &st, why);
    assert_int_equal(st, PLOT_NOTHING);
    holds(why, "no axis is called 'nothing'; the points differ in workload.message, kernel.base, workload.copies");
    json_decref(doc);
}

/* A row a result, at the height of its coordinates in every panel; what is not asked of a kind is told. */
static void test_facets_of_stacks(void **state)
{
    (void)state;
    char why[512];
    enum plot_status st;
    json_t *doc = sweep(), *list = json_object_get(doc, "results"), *r;
    size_t i;
    json_array_foreach(list, i, r) json_object_set_new(
        r, "metrics",
        json_pack("[{s:s,s:s,s:f},{s:s,s:s,s:f}]", "name", "time.copy", "unit", "1", "mean", 0.25 + 0.01 * (double)i,
                  "name", "time.idle", "unit", "1", "mean", 0.75 - 0.01 * (double)i));
    const char *keep[] = {"message=1KiB"};
    struct plot_options o = {.kind = PLOT_STACKS, .facets = "base", .keep = keep, .nkeep = 1};
    const char *dat = drawn_data(doc, o, &st, why);
    assert_int_equal(st, PLOT_NO_GNUPLOT);
    holds(dat,
          "# \"a\" \"copy\": from_% until_% row ends_low ends_high shown \"point\"\n0 29 0 NaN NaN \"29\" \"p\"\n0 "
          "31 1 NaN NaN \"31\" \"p\"\n");
    holds(dat, "# \"b\" \"idle\": from_% until_% row ends_low ends_high shown \"point\"\n30 100 0 ");
    o.facets = "nothing";
    drawn_data(doc, o, &st, why);
    assert_int_equal(st, PLOT_NOTHING);
    assert_null(plot_option_unused(&o));
    o.series = "copies";
    assert_string_equal(plot_option_unused(&o), "--series");
    json_decref(doc);
}

static void test_only_keeps_points(void **state)
{
    (void)state;
    char why[512];
    enum plot_status st;
    json_t *doc = sweep();
    const char *keep[] = {"message=1KiB,8KiB", "base=b"};
    struct plot_options o = {.kind = PLOT_HEAT, .keep = keep, .nkeep = 2};
    const char *dat = drawn_data(doc, o, &st, why);
    assert_int_equal(st, PLOT_NO_GNUPLOT);
    holds(dat, "\n0 0 111 110.5 111.5 0 \"111.00\" \"\u00b10.50\"\n");
    holds(dat, "\n1 1 122 121.5 122.5 16777215 \"122.00\" \"\u00b10.50\"\n");
    assert_null(strstr(dat, "101"));
    const char *none[] = {"message=2KiB"};
    o.keep = none;
    o.nkeep = 1;
    drawn_data(doc, o, &st, why);
    assert_int_equal(st, PLOT_NOTHING);
    o.kind = PLOT_SCATTER; /* drawn of something else */
    drawn_data(doc, o, &st, why);
    holds(why, "scatter is drawn of wakebal.validation/1");
    json_decref(doc);
}

static json_t *parse(const char *text)
{
    json_error_t e;
    json_t *doc = json_loads(text, 0, &e);
    if (!doc) fail_msg("line %d: %s", e.line, e.text);
    return doc;
}

static void test_matrix_groups_domains(void **state)
{
    (void)state;
    char why[512];
    enum plot_status st;
    json_t *doc = parse("{\"schema\":\"wakebal.migrations/1\",\"from_s\":0,\"until_s\":1,\"cpus\":["
                        "{\"cpu\":0,\"domains\":[{\"level\":\"MC\",\"first\":0},{\"level\":\"NODE\",\"first\":0}]},"
                        "{\"cpu\":1,\"domains\":[{\"level\":\"MC\",\"first\":1},{\"level\":\"NODE\",\"first\":0}]},"
                        "{\"cpu\":2,\"domains\":[{\"level\":\"MC\",\"first\":0},{\"level\":\"NODE\",\"first\":0}]},"
                        "{\"cpu\":3,\"domains\":[{\"level\":\"MC\",\"first\":1},{\"level\":\"NODE\",\"first\":0}]}],"
                        "\"moves\":[[0,2,30],[2,1,10],[9,9,5]]}");
    struct plot_options o = {.kind = PLOT_MIGRATIONS};
    const char *dat = drawn_data(doc, o, &st, why);
    assert_int_equal(st, PLOT_NO_GNUPLOT);
    /* Order is 0 2 1 3: to, from, moves, ..., CPUs. */
    holds(dat, "\n1 0 30 16777215 \"30\" 2 0\n");
    holds(dat, "\n2 1 10 16777215 \"10\" 1 2\n");
    holds(dat, "# frames of MC\nNaN NaN\n-0.5 -0.5\n1.5 -0.5\n");
    json_decref(doc);
}

static void test_timeline_cuts_at_the_window(void **state)
{
    (void)state;
    char why[512];
    enum plot_status st;
    json_t *doc =
        parse("{\"schema\":\"wakebal.timeline/1\",\"from_s\":1,\"until_s\":1.001,\"cpus\":2,\"tasks\":[\"a\",\"b'\"],"
              "\"runs\":[[0,1,0.9,1.0005],[1,0,1.0005,2],[0,7,1,1.1]],\"wakes\":[[1.0002,0,1.0005,1,0]],"
              "\"moves\":[[1.0003,0,1,0],[1.000303,0,1,1],[1.00031,1,0,1],[1.0009,0,1,0],[1.0009,7,0,0]]}");
    struct plot_options o = {.kind = PLOT_TIMELINE};
    const char *dat = drawn_data(doc, o, &st, why);
    assert_int_equal(st, PLOT_NO_GNUPLOT);
    holds(dat, "# A = \"b \": from_us until_us cpu letter\n0 500 0 \"A\"\n");
    holds(dat, "# B = \"a\": from_us until_us cpu letter\n500 1000 1 \"B\"\n");
    holds(dat, "ran_cpu_minus_cpu\nNaN NaN NaN NaN\n200 0 300 1\n");
    /* those at once are one arrow; a CPU that does not exist has none */
    holds(dat, "how_many\nNaN NaN NaN \" \"\n300 0 1 \"2\"\n900 0 1 \" \"\n310 1 -1 \" \"\n");
    json_decref(doc);
}

static void test_scatter_names_the_worst(void **state)
{
    (void)state;
    char why[512];
    enum plot_status st;
    json_t *doc =
        parse("{\"schema\":\"wakebal.validation/1\",\"cases\":["
              "{\"name\":\"good\",\"class\":\"c\",\"unit\":\"s\",\"metric\":\"t\",\"predicted\":{\"value\":1,\"lo\":0."
              "9,\"hi\":1.1},"
              "\"measured\":{\"median\":1.05,\"p10\":1,\"p90\":1.2},\"score\":{\"band\":0.1,\"right\":true}},"
              "{\"name\":\"bad\",\"class\":\"c\",\"unit\":\"s\",\"metric\":\"t\",\"predicted\":{\"value\":4,\"lo\":3,"
              "\"hi\":5},"
              "\"measured\":{\"median\":2,\"p10\":1.9,\"p90\":2.2},\"score\":{\"band\":0.25,\"right\":false}},"
              "{\"name\":\"unmeasured\",\"unit\":\"s\",\"predicted\":{\"value\":4},\"measured\":null}]}");
    struct plot_options o = {.kind = PLOT_SCATTER};
    const char *dat = drawn_data(doc, o, &st, why);
    assert_int_equal(st, PLOT_NO_GNUPLOT);
    holds(dat, " 1.05 1 1.2 1 0.9 1.1 1 \"good\"\n");
    holds(dat, " 2 1.9 2.2 4 3 5 0 \"bad\"\n");
    holds(dat, "\n2 4 \"r\" \"bad: 2.00 x\"\n");
    holds(dat, "# band of 25 %");
    assert_null(strstr(dat, "unmeasured"));
    json_decref(doc);
}

static void test_tornado_orders_by_swing(void **state)
{
    (void)state;
    char why[512];
    enum plot_status st;
    json_t *doc = parse(
        "{\"schema\":\"wakebal.cases/"
        "1\",\"cases\":[{\"title\":\"T\",\"rows\":[{\"name\":\"r\",\"unit\":\"1\",\"simulated\":5,\"ci\":[4,6],"
        "\"published\":5.5,\"sensitivity_base\":5.2,\"sensitivity\":["
        "{\"key\":\"small\",\"low\":\"1 ns\",\"high\":\"2 ns\",\"at_low\":5,\"at_high\":5.5},"
        "{\"key\":\"large\",\"low\":\"3 ns\",\"high\":\"4 ns\",\"at_low\":7,\"at_high\":3}]},{\"name\":\"other\"}]}]}");
    struct plot_options o = {.kind = PLOT_TORNADO};
    const char *dat = drawn_data(doc, o, &st, why);
    assert_int_equal(st, PLOT_NO_GNUPLOT);
    holds(dat, "0 \"large\" 7 3 \"3 ns\" \"4 ns\"\n1 \"small\" 5 5.5 \"1 ns\" \"2 ns\"\n");
    o.metric = "other";
    drawn_data(doc, o, &st, why);
    assert_int_equal(st, PLOT_NOTHING);
    json_decref(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_are_inert),
        cmocka_unit_test(test_files_without_gnuplot),
        cmocka_unit_test(test_bars_as_text),
        cmocka_unit_test(test_axes_find_their_places),
        cmocka_unit_test(test_facets_of_stacks),
        cmocka_unit_test(test_only_keeps_points),
        cmocka_unit_test(test_matrix_groups_domains),
        cmocka_unit_test(test_timeline_cuts_at_the_window),
        cmocka_unit_test(test_scatter_names_the_worst),
        cmocka_unit_test(test_tornado_orders_by_swing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
