/* wb-link: wb_experiment wb_measure wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "case.h"
#include "compare_input.h"
#include "exp_export.h"
#include "exp_points.h"
#include "study.h"
#include "support/fakesim.h"
#include "workers_shard.h"

#include <unistd.h>

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

static const struct wb_key rows[] = {
    {.path = "workload.message",
     .only = "pipe_bw",
     .type = WB_KEY_SIZE,
     .def = "64 KiB",
     .help = "Bytes of a message.",
     .source = "test"},
    {.path = "kernel.scheduler", .type = WB_KEY_STRING, .def = "o1", .help = "Family.", .source = "test"},
};

static struct wb_key_registry *keys;
static char path[64] = "/tmp/wb-study-XXXXXX";

#define BODY \
    "workload = ( { kind = \"pipe_bw\"; } ); machine : { name = \"toy\"; }; kernel : { name = \"toy\"; };" \
    "sweep : { over = ( { set = \"workload.message\"; values = [ \"1 KiB\", \"4 KiB\", \"16 KiB\" ]; } ); };"
#define FIXED(n) BODY "run : { warmup = \"none\"; replications : { min = " #n "; max = " #n "; }; };"

struct bench {
    struct wb_scenario *s;
    struct wb_axes *axes;
    struct exp_points *p;
    struct wb_diag *d;
};

static struct bench begin(const char *text)
{
    static struct wb_reader reader;
    reader = (struct wb_reader){.read = read_text, .exists = text_exists, .ctx = (void *)text};
    struct wb_scenario_options o = {.reader = &reader, .only_folder = true};
    struct bench b = {.d = wb_diag_new()};
    b.s = wb_scenario_load_with("mine.cfg", keys, &o, b.d);
    if (!b.s) fail_msg("%s", wb_diag_render(b.d, false));
    b.axes = wb_axes_new(keys);
    assert_int_equal(wb_axes_add_config(b.axes, wb_scenario_config(b.s), b.d), 0);
    b.p = exp_points_new(b.s, b.axes, b.d);
    assert_non_null(b.p);
    fakesim = (struct fakesim_knobs){.scale = 1, .spread = 0.01};
    fakesim_runs = 0;
    return b;
}

static void end(struct bench *b)
{
    exp_points_free(b->p);
    wb_axes_free(b->axes);
    wb_scenario_free(b->s);
    wb_diag_free(b->d);
}

static char *json_of(const struct exp_study *study)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    const struct exp_export_options e = {.sweep = true, .keep_samples = true};
    assert_int_equal(exp_export_json(out, study->result, study->n, &e), 0);
    fclose(out);
    return text;
}

/* Run the points over the study at `path`; the JSON of what came out. */
static char *sweep(struct bench *b, uint32_t jobs)
{
    struct store_fault f = {.kind = STORE_FINE};
    const struct study_options so = {.path = path, .name = "mine", .model = "m1"};
    struct study *st = study_open(&so, &f);
    if (!st) fail_msg("%s", f.text);
    struct exp_options o = {.jobs = jobs, .keeper = study_keeper(st)};
    assert_int_equal(study_register(st, b->p->point, b->p->n, NULL, &f), 0);
    struct exp_study *study = exp_run(b->p->point, b->p->n, &o, b->d);
    assert_non_null(study);
    assert_int_equal(study_judge(st, b->p->point, study, &f), 0);
    study_close(st);
    char *text = json_of(study);
    exp_study_free(study);
    return text;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void test_nothing_runs_twice(void **state)
{
    (void)state;
    struct bench b = begin(FIXED(3));
    struct exp_options plain = {.jobs = 1};
    struct exp_study *study = exp_run(b.p->point, b.p->n, &plain, b.d);
    char *whole = json_of(study);
    exp_study_free(study);
    assert_int_equal(fakesim_runs, 9);
    char *first = sweep(&b, 2);
    assert_int_equal(fakesim_runs, 18);
    char *second = sweep(&b, 1);
    assert_int_equal(fakesim_runs, 18);
    assert_string_equal(whole, first);
    assert_string_equal(whole, second);
    /* What the file alone tells is the same. */
    struct store_fault f = {.kind = STORE_FINE};
    struct study_loaded *l = study_load(path, &f);
    if (!l) fail_msg("%s", f.text);
    assert_true(l->judged && l->points == 3);
    assert_string_equal(l->name, "mine");
    char *loaded = json_of(l->study);
    assert_string_equal(whole, loaded);
    study_loaded_free(l);
    free(whole);
    free(first);
    free(second);
    free(loaded);
    end(&b);
    /* Two more replications are two more runs a point. */
    b = begin(FIXED(5));
    free(sweep(&b, 1));
    assert_int_equal(fakesim_runs, 6);
    end(&b);
}

static void test_identity(void **state)
{
    (void)state;
    static const struct {
        const char *text, *model;
        bool same;
    } other[] = {{FIXED(9), "m1", true},
                 {FIXED(3) "title = \"another\";", "m1", true},
                 {FIXED(3) "expect = ( { metric = \"bandwidth\"; max = \"1 GB/s\"; } );", "m1", true},
                 {FIXED(3), "m2", false},
                 {BODY "run : { warmup = \"none\"; seed = 5; };", "m1", false},
                 {BODY "run : { warmup = \"1 ms\"; };", "m1", false}};
    char ident[65], its[65];
    struct bench b = begin(FIXED(3));
    study_ident(b.p->point[0].cfg, "m1", ident);
    study_ident(b.p->point[1].cfg, "m1", its);
    assert_string_not_equal(ident, its);
    end(&b);
    for (size_t i = 0; i < WB_ARRAY_SIZE(other); i++) {
        b = begin(other[i].text);
        study_ident(b.p->point[0].cfg, other[i].model, its);
        if (!strcmp(ident, its) != other[i].same) fail_msg("identity %zu", i);
        end(&b);
    }
}

/* Shards of a fixed and of an adaptive study: together every run once, evenly where the number is fixed. */
static void test_shards(void **state)
{
    (void)state;
    static const char *const text[] = {FIXED(4), BODY "run : { warmup = \"none\"; };"};
    for (int t = 0; t < 2; t++) {
        size_t count[3][64] = {{0}}, all = 0;
        for (size_t k = 1; k <= 5; k++) {
            struct bench b = begin(text[t]);
            struct workers_shard s = {.k = k, .n = 5};
            size_t n, *place;
            workers_shard_survey(&s, b.p);
            assert_int_equal(s.fixed, t == 0);
            workers_shard_points(&s, b.p, &place);
            struct exp_task_id *id = workers_shard_runs(&s, b.p, place, &n);
            if (t == 0) assert_true(n == 2 || n == 3);
            for (size_t i = 0; i < n; i++) count[place[id[i].point]][id[i].replication]++, all++;
            free(id);
            free(place);
            end(&b);
        }
        assert_int_equal(all, t == 0 ? 12 : 15);
        for (size_t p = 0; p < 3; p++)
            for (size_t r = 0; r < (t == 0 ? 4u : 5u); r++) assert_int_equal(count[p][r], 1);
    }
    struct workers_shard s;
    assert_null(workers_shard_parse("3/8", &s));
    assert_true(s.k == 3 && s.n == 8);
    static const char *const bad[] = {"", "3", "3/", "/8", "0/8", "9/8", "1/0", "1/2/3", "-1/2", "1/ 2", "a/b"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(bad); i++)
        if (!workers_shard_parse(bad[i], &s)) fail_msg("'%s' was taken", bad[i]);
}

static void test_split_by_an_axis(void **state)
{
    (void)state;
    struct bench b = begin(FIXED(3));
    free(sweep(&b, 1));
    end(&b);
    struct compare_set set;
    char why[256];
    size_t n;
    assert_int_equal(compare_load(path, &set, why, sizeof why), 0);
    assert_int_equal(set.n, 3);
    assert_null(compare_split(&set, "kernel.scheduler", &n));
    struct compare_set *by = compare_split(&set, "workload.message", &n);
    assert_int_equal(n, 3);
    assert_string_equal(by[1].name, "4 KiB");
    assert_string_equal(by[1].point[0].label, "");
    for (size_t i = 0; i < n; i++) compare_set_free(&by[i]);
    free(by);
}

int main(void)
{
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    keys = wb_keys_new();
    wb_keys_add(keys, rows, WB_ARRAY_SIZE(rows));
    wb_keys_add(keys, case_keys, case_keys_n);
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_nothing_runs_twice, teardown),
                                       cmocka_unit_test(test_identity), cmocka_unit_test(test_shards),
                                       cmocka_unit_test_teardown(test_split_by_an_axis, teardown)};
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    wb_keys_free(keys);
    return rc;
}

#include "support/fakesim.c"
