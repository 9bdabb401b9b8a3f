/* wb-link: wb_experiment wb_measure wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "case.h"
#include "exp_export.h"
#include "exp_format.h"
#include "exp_points.h"
#include "support/fakesim.h"

#include <errno.h>
#include <math.h>

/* A file system of one text. */
static int read_text(void *ctx, const char *path, char **text, size_t *len, const char **why)
{
    (void)path, (void)why;
    *text = strdup(ctx);
    *len = strlen(ctx);
    return 0;
}
static bool text_exists(void *ctx, const char *path)
{
    (void)ctx;
    return !strcmp(path, "mine.cfg");
}

static const struct wb_key test_rows[] = {
    {.path = "workload.message",
     .only = "pipe_bw",
     .type = WB_KEY_SIZE,
     .def = "64 KiB",
     .help = "Bytes of a message.",
     .source = "test"},
    {.path = "machine.flight",
     .type = WB_KEY_COST,
     .def = "1 us",
     .flags = WB_KEY_PRICED,
     .help = "Flight.",
     .source = "test"},
    {.path = "kernel.scheduler", .type = WB_KEY_STRING, .def = "o1", .help = "Family.", .source = "test"},
};

static struct wb_key_registry *keys;

static struct wb_scenario *load(const char *text)
{
    struct wb_reader reader = {.read = read_text, .exists = text_exists, .ctx = (void *)text};
    struct wb_scenario_options o = {.reader = &reader, .only_folder = true};
    static struct wb_reader kept;
    kept = reader;
    o.reader = &kept;
    struct wb_diag *d = wb_diag_new();
    struct wb_scenario *s = wb_scenario_load_with("mine.cfg", keys, &o, d);
    if (!s) fail_msg("%s", wb_diag_render(d, false));
    wb_diag_free(d);
    return s;
}

#define PIPE "workload = ( { kind = \"pipe_bw\"; } ); machine : { name = \"toy\"; }; kernel : { name = \"toy\"; };"

static struct exp_study *run(struct wb_scenario *s, uint32_t jobs)
{
    struct wb_diag *d = wb_diag_new();
    struct exp_points *p = exp_points_new(s, NULL, d);
    assert_non_null(p);
    struct exp_options o = {.jobs = jobs};
    struct exp_study *study = exp_run(p->point, p->n, &o, d);
    exp_points_free(p);
    wb_diag_free(d);
    return study;
}

static int setup(void **state)
{
    (void)state;
    keys = wb_keys_new();
    wb_keys_add(keys, test_rows, WB_ARRAY_SIZE(test_rows));
    wb_keys_add(keys, case_keys, case_keys_n);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    wb_keys_free(keys);
    return 0;
}
static int reset(void **state)
{
    (void)state;
    fakesim = (struct fakesim_knobs){.scale = 1, .spread = 0.01};
    fakesim_runs = 0;
    return 0;
}

static void test_stops_when_precise(void **state)
{
    (void)state;
    struct wb_scenario *s =
        load(PIPE "run : { warmup = \"none\"; replications : { min = 3; max = 50; half_width = \"0.5 %\"; }; };");
    struct exp_study *study = run(s, 2);
    const struct exp_result *r = study->result[0];
    assert_string_equal(r->primary, "bandwidth");
    assert_true(r->goal_reached && r->half_width <= 0.005);
    assert_string_equal(r->stopped, "precision reached");
    assert_true(r->replications > 3 && r->replications < 50);
    assert_int_equal(r->replications, fakesim_runs);
    const struct exp_metric *m = exp_result_lookup(r, "bandwidth");
    assert_true(m->sample[0] == 1.01e9 && m->sample[1] == 1e9 * (1 - 0.005));
    assert_true(m->sum.lo < m->sum.mean && m->sum.mean < m->sum.hi);
    assert_int_equal(exp_result_lookup(r, "wake_latency")->hist->count, 100 * r->replications);
    exp_study_free(study);
    wb_scenario_free(s);
}

static void test_gives_up_at_max(void **state)
{
    (void)state;
    fakesim.spread = 5;
    struct wb_scenario *s =
        load(PIPE "run : { warmup = \"none\"; replications : { min = 3; max = 7; half_width = \"0.1 %\"; }; };");
    struct exp_study *study = run(s, 1);
    const struct exp_result *r = study->result[0];
    assert_int_equal(r->replications, 7);
    assert_false(r->goal_reached);
    assert_string_equal(r->stopped, "maximum reached");
    assert_int_equal(r->nnotes > 0, 1);
    assert_string_equal(r->note[0].code, "W010");
    exp_study_free(study);
    wb_scenario_free(s);
}

/* What is told while it runs: after the first round not only what is planned next, but what the goal will take. */
struct told {
    size_t planned, expected; /* when the second round was planned */
    size_t last_runs, last_expected;
};

static void note_progress(void *ctx, const struct exp_progress *p)
{
    struct told *t = ctx;
    assert_true(p->runs_expected >= p->runs && p->runs >= p->runs_done);
    if (p->runs > 3 && !t->planned) {
        t->planned = p->runs;
        t->expected = p->runs_expected;
    }
    t->last_runs = p->runs;
    t->last_expected = p->runs_expected;
}

static void test_runs_to_come_are_expected(void **state)
{
    (void)state;
    struct told told = {0};
    struct wb_scenario *s =
        load(PIPE "run : { warmup = \"none\"; replications : { min = 3; max = 40; half_width = \"0.2 %\"; }; };");
    struct wb_diag *d = wb_diag_new();
    struct exp_points *p = exp_points_new(s, NULL, d);
    struct exp_options o = {.jobs = 1, .progress = note_progress, .ctx = &told};
    struct exp_study *study = exp_run(p->point, p->n, &o, d);
    /* 1.01, 0.995, 1.00333: t(2) sd / (0.2 % mean) = 16.2 squared = 261, more than the 40 that are allowed */
    assert_int_equal(told.planned, 5);
    assert_int_equal(told.expected, 40);
    assert_int_equal(told.last_runs, study->result[0]->replications);
    assert_true(told.last_expected < told.expected); /* better known with more of them */
    exp_study_free(study);
    exp_points_free(p);
    wb_diag_free(d);
    wb_scenario_free(s);
}

static char *json_of(struct exp_study *study)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    struct exp_export_options o = {.keep_samples = true};
    assert_int_equal(exp_export_json(f, study->result, study->n, &o), 0);
    fclose(f);
    return text;
}

static void test_same_bytes_for_any_jobs(void **state)
{
    (void)state;
    struct wb_scenario *s =
        load(PIPE "run : { warmup = \"none\"; replications : { min = 3; max = 50; half_width = \"0.2 %\"; }; };");
    struct exp_study *a = run(s, 1), *b = run(s, 7);
    char *x = json_of(a), *y = json_of(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
    exp_study_free(a);
    exp_study_free(b);
    wb_scenario_free(s);
}

static void test_a_failed_build_is_reported(void **state)
{
    (void)state;
    fakesim.fail_build = true;
    struct wb_scenario *s = load(PIPE "run : { warmup = \"none\"; };");
    struct wb_diag *d = wb_diag_new();
    struct exp_points *p = exp_points_new(s, NULL, d);
    struct exp_options o = {.jobs = 2};
    assert_null(exp_run(p->point, p->n, &o, d));
    assert_int_equal(wb_diag_count(d, WB_ERROR), 1);
    char *text = wb_diag_render(d, false);
    assert_non_null(strstr(text, "refuses replication 0"));
    free(text);
    exp_points_free(p);
    wb_diag_free(d);
    wb_scenario_free(s);
}

/* Windows alternate, so nothing is gained by cutting; a ramp at the start is cut. */
static void test_warmup_detection(void **state)
{
    (void)state;
    const double ramp[] = {1, 5, 9, 10, 10, 10, 10, 10, 10, 10}, flat[] = {3, 3, 3, 3};
    assert_int_equal(exp_mser(ramp, 10), 3);
    assert_int_equal(exp_mser(flat, 4), 0);
    struct wb_scenario *s = load(PIPE "run : { warmup = \"auto\"; replications : { min = 2; max = 2; }; };");
    struct wb_diag *d = wb_diag_new();
    struct exp_points *p = exp_points_new(s, NULL, d);
    struct exp_options o = {.jobs = 1};
    assert_int_equal(exp_points_warmup(p, s, &o, d), 0);
    assert_string_equal(wb_cfg_str(p->cfg[0], "run.warmup"), "none");
    assert_true(p->pilots);
    exp_points_free(p);
    wb_diag_free(d);
    wb_scenario_free(s);
}

static void test_axes_make_points(void **state)
{
    (void)state;
    struct wb_scenario *s = load(PIPE "run : { warmup = \"none\"; replications : { min = 2; max = 2; }; };");
    struct wb_diag *d = wb_diag_new();
    struct wb_axes *a = wb_axes_new(keys);
    assert_int_equal(wb_axes_add(a, "workload.message=4KiB,64KiB", (struct wb_place){0}, d), 0);
    struct exp_points *p = exp_points_new(s, a, d);
    assert_non_null(p);
    assert_int_equal(p->n, 2);
    assert_int_equal(wb_cfg_int(p->cfg[1], "workload[0].message"), 65536);
    struct exp_options o = {.jobs = 2};
    struct exp_study *study = exp_run(p->point, p->n, &o, d);
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(exp_export_csv(f, study->result, study->n), 0);
    fclose(f);
    assert_memory_equal(text, "workload.message,workload,metric,unit", 37);
    assert_non_null(strstr(text, "\n4KiB,pipe_bw,bandwidth,B/s,higher,2,"));
    assert_non_null(strstr(text, "\n64KiB,,migrations,1,lower,2,42,42,42,"));
    free(text);
    exp_study_free(study);
    exp_points_free(p);
    wb_axes_free(a);
    wb_diag_free(d);
    wb_scenario_free(s);
}

/* The JSON is valid, hostile text comes back as it went in, and unknown is null. */
static void test_json_shape_and_hostile_title(void **state)
{
    (void)state;
    struct wb_scenario *s = load("title = \"\\\"; <script>alert(1)</script> `id` $(reboot) \\n|=1+1\"; " PIPE
                                 "run : { warmup = \"none\"; replications : { min = 1; max = 1; }; };");
    struct exp_study *study = run(s, 1);
    char *text = json_of(study);
    json_error_t e;
    json_t *j = json_loads(text, 0, &e);
    if (!j) fail_msg("%s in %s", e.text, text);
    assert_string_equal(json_string_value(json_object_get(j, "schema")), "wakebal.result/1");
    assert_non_null(strstr(json_string_value(json_object_get(json_object_get(j, "run"), "title")), "<script>"));
    json_t *m = json_array_get(json_object_get(j, "metrics"), 0);
    assert_string_equal(json_string_value(json_object_get(m, "name")), "bandwidth");
    assert_true(json_is_null(json_object_get(m, "ci"))); /* one replication has no interval */
    assert_null(strstr(text, "NaN"));
    json_decref(j);
    free(text);
    exp_study_free(study);
    wb_scenario_free(s);
}

/* ------------------------------------------------------------------ cases */
#define CASE(rows) \
    PIPE "run : { warmup = \"none\"; replications : { min = 4; max = 4; }; };" \
         "variants = ( { name = \"a\"; set = [ \"workload.message=4 KiB\" ]; }, { name = \"b\"; } );" rows

static char last_flip[256];

static char last_swing[200];

static enum case_verdict verdict_of(const char *row)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", strstr(row, "variants") ? "" : CASE(""), row);
    struct wb_diag *d = wb_diag_new();
    char dir[] = "/tmp/wbcaseXXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/x.cfg", dir);
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    assert_int_equal(chdir(dir), 0);
    struct case_file *c = case_load("x.cfg", keys, NULL, d);
    if (!c) fail_msg("%s", wb_diag_render(d, false));
    struct exp_options o = {.jobs = 2};
    assert_int_equal(case_run(c, &o, true, d), 0);
    enum case_verdict v = c->row[0].verdict;
    snprintf(last_flip, sizeof last_flip, "%s", c->row[0].flips ? c->row[0].flips : "");
    const struct case_swing *w = c->row[0].swing;
    *last_swing = 0;
    if (w)
        snprintf(last_swing, sizeof last_swing, "%zu %s %s..%s: %.2g..%.2g about %.2g", c->row[0].nswings, w->key,
                 w->low, w->high, w->at_low, w->at_high, c->row[0].unswung);
    case_free(c);
    wb_diag_free(d);
    unlink(path);
    rmdir(dir);
    return v;
}

static void test_verdicts(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        enum case_verdict want;
    } t[] = {
        {"class = \"calibrates\"; variant = \"a\"; metric = \"bandwidth\"; published = \"1 GB/s\"; unit = \"B/s\"; "
         "tolerance = \"5 %\";",
         CASE_PASS},
        {"class = \"calibrates\"; variant = \"a\"; metric = \"bandwidth\"; published = \"2 GB/s\"; unit = \"B/s\"; "
         "tolerance = \"5 %\";",
         CASE_FAIL},
        {"class = \"predicts\"; variant = \"b\"; metric = \"bandwidth\"; published = \"0.9..1.1 GB/s\"; unit = "
         "\"B/s\";",
         CASE_PASS},
        {"class = \"predicts\"; variant = \"b\"; metric = \"colocated\"; published = \"0.6..1\";", CASE_FAIL},
        {"class = \"predicts\"; metric = \"bandwidth[a] / bandwidth[b]\"; direction = \"lower\";", CASE_FAIL},
        {"class = \"predicts\"; metric = \"bandwidth[a] / bandwidth[b] / 2\"; direction = \"lower\";", CASE_PASS},
        {"class = \"predicts\"; variant = \"a\"; metric = \"bandwidth\"; published = \"1 GB/s\"; direction = "
         "\"higher\"; unit = \"B/s\";",
         CASE_UNDETERMINED},
        {"class = \"predicts\"; variant = \"a\"; metric = \"no.such\"; published = 1;", CASE_UNDETERMINED},
        {"class = \"consistency\"; variant = \"a\"; metric = \"pipe.wakes\"; published = 1000; tolerance = \"1 %\";",
         CASE_PASS},
        {"class = \"consistency\"; variant = \"a\"; metric = \"pipe.wakes\";", CASE_NONE},
        {"class = \"predicts\"; set = [ \"workload.message=4 KiB\" ]; against = [ \"workload.message=8 KiB\" ]; metric "
         "= \"bandwidth\"; "
         "direction = \"same\"; tolerance = \"1 %\";",
         CASE_PASS},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(t); i++) {
        char text[1024];
        snprintf(text, sizeof text, "rows = ( { name = \"r\"; %s } );", t[i].row);
        enum case_verdict v = verdict_of(text);
        if (v != t[i].want) fail_msg("%s gives %s", t[i].row, case_verdict_name[v]);
    }
}

#define FLIGHT(range) "machine : { name = \"toy\"; flight = ( \"1 us\", \"assumed\", \"" range "\", \"a guess\" ); };"
#define SENSITIVE \
    "kernel : { name = \"toy\"; }; workload = ( { kind = \"pipe_bw\"; } ); sensitivity = [ \"machine.fl*\" ]; " \
    "run : { warmup = \"none\"; replications : { min = 4; max = 4; }; }; variants = ( { name = \"a\"; } ); " \
    "rows = ( { name = \"r\"; class = \"predicts\"; variant = \"a\"; metric = \"bandwidth\"; published = \"0.6 " \
    "GB/s\"; " \
    "direction = \"higher\"; unit = \"B/s\"; } );"

static void test_a_flip_inside_the_range_is_undetermined(void **state)
{
    (void)state;
    fakesim.cost_key = "machine.flight";
    assert_int_equal(verdict_of(FLIGHT("0.5 us..1.5 us") SENSITIVE), CASE_PASS); /* worst: 0.67 GB/s */
    assert_string_equal(last_flip, "");
    assert_int_equal(verdict_of(FLIGHT("0.5 us..2 us") SENSITIVE), CASE_UNDETERMINED);
    assert_string_equal(last_flip, "machine.flight = 2 us gives 501 MB/s");
    assert_string_equal(last_swing, "1 machine.flight 500 ns..2 us: 2e+09..5e+08 about 1e+09");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_stops_when_precise, reset),
        cmocka_unit_test_setup(test_gives_up_at_max, reset),
        cmocka_unit_test_setup(test_runs_to_come_are_expected, reset),
        cmocka_unit_test_setup(test_same_bytes_for_any_jobs, reset),
        cmocka_unit_test_setup(test_a_failed_build_is_reported, reset),
        cmocka_unit_test_setup(test_warmup_detection, reset),
        cmocka_unit_test_setup(test_axes_make_points, reset),
        cmocka_unit_test_setup(test_json_shape_and_hostile_title, reset),
        cmocka_unit_test_setup(test_verdicts, reset),
        cmocka_unit_test_setup(test_a_flip_inside_the_range_is_undetermined, reset),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

#include "support/fakesim.c"
