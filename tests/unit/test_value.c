/* wb-link: wb_scenario wb_core */
#include "scenario_fixture.h"

#include "config_build.h"

static struct wb_key_registry *keys;
static struct arena arena;

static int setup(void **state)
{
    (void)state;
    keys = fixture_keys();
    arena_init(&arena, "test");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    wb_keys_free(keys);
    return 0;
}

/* The value of text as the command line gives it; back to text, or "!" and the message. */
static const char *through(const struct wb_key *row, const char *text)
{
    static char buf[600];
    struct wb_diag *d = wb_diag_new();
    const struct value_context x = {.arena = &arena, .keys = keys, .d = d, .prefix = "", .user = true};
    struct cfg_value v;
    struct wb_origin o = {.from = "--set"};
    struct scan_node *node = value_node(&arena, row, text, (struct wb_place){0});
    if (value_make(&x, row, row->path, node, &v, &o) < 0) {
        char *m = wb_diag_render(d, false);
        snprintf(buf, sizeof buf, "!%.*s", (int)strcspn(m, "\n"), m);
        free(m);
    } else {
        assert_int_equal(wb_diag_count(d, WB_ERROR), 0);
        value_text(row, &v, buf, sizeof buf);
    }
    wb_diag_free(d);
    return buf;
}

struct through_case {
    enum wb_key_type type;
    const char *min, *max, *text, *want;
};

static void text_to_value_to_text(void **state)
{
    static const struct through_case cases[] = {
        {WB_KEY_INT, NULL, NULL, "5", "5"},
        {WB_KEY_INT, NULL, NULL, "5000000000", "5000000000"},
        {WB_KEY_INT, NULL, NULL, "-3", "-3"},
        {WB_KEY_INT, "0", "9", "10", "!error: 'k' = 10 is outside its range: 0 .. 9   [E123]"},
        {WB_KEY_INT, "0", NULL, "-1", "!error: 'k' = -1 is outside its range: at least 0   [E123]"},
        {WB_KEY_INT, NULL, "9", "10", "!error: 'k' = 10 is outside its range: at most 9   [E123]"},
        {WB_KEY_INT, NULL, NULL, "1.5", "!error: 'k' is a count; 1.5 is no whole number   [E122]"},
        {WB_KEY_INT, NULL, NULL, "five", "!error: 'k' wants a count, found a string   [E122]"},
        {WB_KEY_BOOL, NULL, NULL, "true", "true"},
        {WB_KEY_BOOL, NULL, NULL, "FALSE", "false"},
        {WB_KEY_BOOL, NULL, NULL, "1", "!error: 'k' wants true or false, found an integer   [E122]"},
        {WB_KEY_TIME, NULL, NULL, "10us", "10 us"},
        {WB_KEY_TIME, NULL, NULL, "0.5 ms", "500 us"},
        {WB_KEY_TIME, NULL, NULL, "-1 us", "!error: 'k' must not be negative   [E123]"},
        {WB_KEY_TIME, "-1 s", NULL, "-1 us", "-1 us"},
        {WB_KEY_TIME, "1 us", "1 s", "2 s", "!error: 'k' = 2 s is outside its range: 1 us .. 1 s   [E123]"},
        {WB_KEY_COST, NULL, NULL, "400 cy", "400 cy"},
        {WB_KEY_COST, NULL, NULL, "400 ns", "400 ns"},
        {WB_KEY_COST, "0 ns", "1 ms", "400 cy", "400 cy"},
        {WB_KEY_COST, "0 ns", "1 ms", "-4 cy", "!error: 'k' must not be negative   [E123]"},
        {WB_KEY_SIZE, NULL, NULL, "64KiB", "64 KiB"},
        {WB_KEY_SIZE, NULL, NULL, "65537 B", "65537 B"},
        {WB_KEY_RATE, NULL, NULL, "6.4 GB/s", "6.4 GB/s"},
        {WB_KEY_FREQ, NULL, NULL, "1.5 GHz", "1.5 GHz"},
        {WB_KEY_RATIO, NULL, NULL, "0.02", "2 %"},
        {WB_KEY_RATIO, NULL, NULL, "2 %", "2 %"},
        {WB_KEY_STRING, NULL, NULL, "a b", "a b"},
        {WB_KEY_STRING, NULL, NULL, "\"a b\"", "a b"},
        {WB_KEY_STRING, NULL, NULL, "12", "12"},
        {WB_KEY_CPUS, NULL, NULL, "0,2-5", "0,2-5"},
        {WB_KEY_CPUS, NULL, NULL, "free", "free"},
        {WB_KEY_CPUS, NULL, NULL, "all", "all"},
        {WB_KEY_CPUS, NULL, NULL, "99999999", "!error: 'k' = \"99999999\": the machine has no such CPU   [E126]"},
        {WB_KEY_CPUS, NULL, NULL, "", "!error: 'k' = \"\": a CPU number is needed here, for example 0,2-5   [E126]"},
        {WB_KEY_TABLE, NULL, NULL, "[1, 2, 3]", "[ 1, 2, 3 ]"},
        {WB_KEY_TABLE, NULL, NULL, "()", "[ ]"},
        {WB_KEY_TABLE, "0", "9", "[1, 20]", "!error: 'k' = 20 is outside its range: 0 .. 9   [E123]"},
        {WB_KEY_TABLE, NULL, NULL, "[\"a\"]", "!error: an entry of 'k' must be a count, found a string   [E122]"},
        {WB_KEY_STRINGS, NULL, NULL, "[\"a\", \"b\"]", "[ \"a\", \"b\" ]"},
        {WB_KEY_STRINGS, NULL, NULL, "alone", "[ \"alone\" ]"},
        {WB_KEY_STRINGS, NULL, NULL, "[1]", "!error: an entry of 'k' must be a text, found an integer   [E122]"},
        {WB_KEY_VERSION, NULL, NULL, "6.12", "6.12"},
        {WB_KEY_VERSION, NULL, NULL, "2.6.39", "2.6.39"},
        {WB_KEY_VERSION, NULL, NULL, "5.15.203", "5.15.203"},
        {WB_KEY_VERSION, NULL, NULL, "9.9",
         "!error: 'k' = \"9.9\": no version of Linux whose rules are known   [E125]"},
        {WB_KEY_VERSION, NULL, NULL, "6.19",
         "!error: 'k' = \"6.19\": no version of Linux whose rules are known   [E125]"},
        {WB_KEY_VERSION, NULL, NULL, "2.6.40",
         "!error: 'k' = \"2.6.40\": no version of Linux whose rules are known   [E125]"},
        {WB_KEY_VERSION, NULL, NULL, "2.4.31",
         "!error: 'k' = \"2.4.31\": no version of Linux whose rules are known   [E125]"},
        {WB_KEY_VERSION, NULL, NULL, "6.12-rc1",
         "!error: 'k' = \"6.12-rc1\": no version of Linux whose rules are known   [E125]"},
        {WB_KEY_VERSION, NULL, NULL, "", "!error: 'k' = \"\": no version of Linux whose rules are known   [E125]"},
        {WB_KEY_NUMBER, NULL, NULL, "0.6", "0.6"},
        {WB_KEY_NUMBER, NULL, NULL, "1..2 GB/s", "1..2 GB/s"},
        {WB_KEY_NUMBER, NULL, NULL, "none", "none"},
        {WB_KEY_NUMBER, NULL, NULL, "many", "!error: 'k' = \"many\" does not start with a number   [E124]"},
        {WB_KEY_EXPR, NULL, NULL, "a < b", "a < b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct wb_key row = {.path = "k", .type = cases[i].type, .min = cases[i].min, .max = cases[i].max};
        const char *got = through(&row, cases[i].text), *want = cases[i].want;
        /* Two exact forms of a ratio are as short: 2 % and 0.02. */
        if (!strcmp(want, "2 %") && !strcmp(got, "0.02")) continue;
        if (strcmp(got, want)) fail_msg("%s gives <%s>, wanted <%s>", cases[i].text, got, want);
    }
}

static void distributions(void **state)
{
    const char *why;
    size_t at;
    (void)state;
    const struct wb_dist *d = dist_parse(&arena, "10 us", WB_UNIT_TIME, &why, &at);
    assert_int_equal(d->kind, WB_DIST_FIXED);
    assert_int_equal(d->a, 10 * 1000000);
    d = dist_parse(&arena, " uniform( 1 us ,5us) ", WB_UNIT_TIME, &why, &at);
    assert_int_equal(d->kind, WB_DIST_UNIFORM);
    assert_int_equal(d->b, 5 * 1000000);
    d = dist_parse(&arena, "exp(4 KiB)", WB_UNIT_SIZE, &why, &at);
    assert_int_equal(d->kind, WB_DIST_EXP);
    assert_int_equal(d->a, 4096);
    d = dist_parse(&arena, "lognormal(10 us, 50 %)", WB_UNIT_TIME, &why, &at);
    assert_int_equal(d->kind, WB_DIST_LOGNORMAL);
    assert_int_equal(d->b, 500000);
    d = dist_parse(&arena, "table(10 us:3, 20 us:1)", WB_UNIT_TIME, &why, &at);
    assert_int_equal(d->n, 2);
    assert_int_equal(d->value[1], 20 * 1000000);
    assert_int_equal(d->cumulative[0], 3ull << 30);
    assert_int_equal(d->cumulative[1], 1ull << 32);
}

static void broken_distributions(void **state)
{
    static const struct {
        const char *text, *why;
        size_t at;
    } cases[] = {
        {"gamma(1 us)", "not a distribution", 0},
        {"exp", "'(' must follow", 3},
        {"exp(1 us", "')' is missing", 8},
        {"exp(1 us) x", "nothing may follow", 10},
        {"exp(1 uz)", "not a unit of time", 6},
        {"exp(-1 us)", "must not be negative", 4},
        {"uniform(1 us)", "two values are needed", 12},
        {"uniform(5 us, 1 us)", "the first bound must not exceed", 8},
        {"normal(1 us, 2 us)", "not a ratio", 15},
        {"table(1 us)", "each value needs its weight", 10},
        {"table(1 us:0)", "must not all be 0", 0},
        {"table(1 us:x)", "not a number", 11},
        {"table(1 us:9999999999)", "a weight is at most", 11},
        {"", "a number is missing", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *why = "";
        size_t at = 999;
        assert_null(dist_parse(&arena, cases[i].text, WB_UNIT_TIME, &why, &at));
        if (!strstr(why, cases[i].why) || at != cases[i].at)
            fail_msg("%s: <%s> at %zu, wanted <%s> at %zu", cases[i].text, why, at, cases[i].why, cases[i].at);
    }
}

static void status_of_sources(void **state)
{
    (void)state;
    assert_int_equal(value_status_of_source("quoted: a book"), WB_QUOTED);
    assert_int_equal(value_status_of_source("assumed, near something"), WB_ASSUMED);
    assert_int_equal(value_status_of_source("measured"), WB_MEASURED);
    assert_int_equal(value_status_of_source("hlt and its kin"), WB_ASSUMED);
    assert_int_equal(value_status_of_source(NULL), WB_ASSUMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_to_value_to_text),
        cmocka_unit_test(distributions),
        cmocka_unit_test(broken_distributions),
        cmocka_unit_test(status_of_sources),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
