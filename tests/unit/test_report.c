/* Reports: text is inert in every place, documents of any shape become a page, pictures carry their text, axes fit;
 * provenance of costs is joined over configurations. */
#include "wbtest.h"

#include "simtest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exp_costs.h"
#include "registry.h"
#include "report_inner.h"

static char *page_of(const char *json, const char *title)
{
    json_t *doc = json_loads(json, 0, NULL);
    assert_non_null(doc);
    struct report_input in = {.doc = doc, .name = "<name>", .command = "a && b"};
    struct report r = {.input = &in, .n = 1, .title = title, .version = "1"};
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(report_write(f, &r), 0);
    fclose(f);
    json_decref(doc);
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = strstr(text, what); p; p = strstr(p + 1, what)) n++;
    return n;
}

static void test_text_is_inert(void **state)
{
    (void)state;
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    html_text(f, "<a href='x'>\"&\x01\x7f\xff</a>");
    html_text_cut(f, "\xc3\xa4\xc3\xb6\xc3\xbc", 2);
    fclose(f);
    assert_string_equal(text, "&lt;a href=&#39;x&#39;&gt;&quot;&amp;  \xef\xbf\xbd&lt;/a&gt;\xc3\xa4\xc3\xb6...");
    free(text);
}

static void test_documents_of_any_shape(void **state)
{
    (void)state;
    static const char *const doc[] = {
        "{\"schema\":\"wakebal.result/1\"}",
        "{\"schema\":\"wakebal.result/1\",\"run\":3,\"metrics\":{},\"time\":[],\"costs\":[4,{\"in\":[1]}]}",
        "{\"schema\":\"wakebal.results/1\",\"results\":[]}",
        "{\"schema\":\"wakebal.results/1\",\"results\":[{\"params\":{\"a\":[]}},{\"params\":4},null]}",
        "{\"schema\":\"wakebal.validation/1\",\"cases\":[null,{\"unit\":\"s\",\"predicted\":{},\"measured\":{}}]}",
        "{\"schema\":\"wakebal.cases/1\",\"cases\":[{\"rows\":[{\"published\":[1]},{}]},2]}",
        "{\"schema\":\"wakebal.manifest/1\",\"command\":[1,\"a b\",\"it's\"]}",
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(doc); i++) {
        char *page = page_of(doc[i], NULL);
        assert_non_null(strstr(page, "</html>"));
        assert_int_equal(count(page, "<script>"), 1);
        assert_int_equal(count(page, "<svg"), count(page, "<desc"));
        free(page);
    }
    json_t *other = json_pack("{s:s}", "schema", "wakebal.trace/1");
    assert_int_equal(report_kind_of(other), REPORT_UNKNOWN);
    json_decref(other);
}

static void test_title_and_name_are_shown_not_run(void **state)
{
    (void)state;
    char *page = page_of("{\"schema\":\"wakebal.manifest/1\",\"command\":[\"run\",\"it's <b>\"]}", "</title><script>x");
    assert_null(strstr(page, "</title><script>"));
    assert_non_null(strstr(page, "<h1>&lt;/title&gt;&lt;script&gt;x</h1>"));
    assert_non_null(strstr(page, "wakebal run &#39;it&#39;\\&#39;&#39;s &lt;b&gt;&#39;")); /* as a shell takes it */
    free(page);
}

/* The policy admits the one script by its digest: SHA-256, Base64 with one '=' at the end of 44 characters. */
static void test_policy_names_the_script(void **state)
{
    (void)state;
    char *page = page_of("{\"schema\":\"wakebal.result/1\"}", "t"), *at = strstr(page, "'sha256-");
    assert_non_null(at);
    assert_int_equal(strcspn(at + 8, "'"), 44);
    assert_int_equal(at[8 + 43], '=');
    assert_null(strstr(page, "unsafe-eval"));
    free(page);
}

static void test_axes_hold_what_they_show(void **state)
{
    (void)state;
    static const double range[][2] = {{0, 1}, {0, 0}, {3, 3}, {-4, 17}, {1e-9, 2e-9}, {0, 123456789}, {NAN, NAN}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(range); i++) {
        struct svg_axis a = {.unit = "1"}, b = {.unit = "1", .log = true};
        svg_axis_fit(&a, range[i][0], range[i][1]);
        assert_true(a.lo < a.hi);
        if (range[i][0] <= range[i][1]) assert_true(a.lo <= range[i][0] && a.hi >= range[i][1]);
        if (!(range[i][0] > 0)) continue;
        svg_axis_fit(&b, range[i][0], range[i][1]);
        assert_true(b.lo > 0 && b.lo <= range[i][0] * 1.0001 && b.hi >= range[i][1] * 0.9999 && b.lo < b.hi);
    }
}

static void test_costs_are_joined(void **state)
{
    (void)state;
    struct wb_key_registry *keys = cli_keys_new();
    struct wb_diag *d = wb_diag_new();
    struct wb_scenario *s = wb_scenario_load("pipe", keys, NULL, d);
    assert_non_null(s);
    const struct wb_override set = {.key = "kernel.path.context_switch", .value = "1234 cy", .from = "--set"};
    const struct wb_overrides over = {.item = &set, .n = 1};
    struct wb_config *other = wb_scenario_at(s, &over, d);
    const struct wb_config *both[] = {wb_scenario_config(s), other, NULL};
    const char *const name[] = {"base", "changed", "not run"};
    json_t *costs = exp_costs_json(both, name, 3), *one = exp_costs_json(both, name, 1);
    assert_int_equal(json_array_size(costs), json_array_size(one) + 1);
    size_t differing = 0;
    for (size_t i = 0; i < json_array_size(costs); i++) {
        const json_t *o = json_array_get(costs, i), *in = json_object_get(o, "in");
        if (!in) continue;
        differing++;
        assert_string_equal(doc_text(o, "key"), "kernel.path.context_switch");
        const char *who = json_string_value(json_array_get(in, 0));
        assert_string_equal(who, !strcmp(doc_text(o, "value"), "1234 cy") ? "changed" : "base");
        assert_string_equal(doc_text(o, "status"), !strcmp(who, "changed") ? "user" : "assumed");
    }
    assert_int_equal(differing, 2);
    json_decref(costs);
    json_decref(one);
    wb_config_free(other);
    wb_scenario_free(s);
    wb_diag_free(d);
    wb_keys_free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_inert),
        cmocka_unit_test(test_documents_of_any_shape),
        cmocka_unit_test(test_policy_names_the_script),
        cmocka_unit_test(test_title_and_name_are_shown_not_run),
        cmocka_unit_test(test_axes_hold_what_they_show),
        cmocka_unit_test(test_costs_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
