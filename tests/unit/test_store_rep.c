/* wb-link: wb_experiment wb_kernel wb_scenario wb_machine wb_measure wb_core */
#include "wbtest.h"

#include "store_rep.h"

#include <math.h>

/* A result with everything that can be awkward: NAN, infinities, wide sums, names to be escaped. */
static struct wb_hist hist;
static double window[3] = {0.1, NAN, 1e300};
static struct wb_metric metric[] = {
    {.name = "bandwidth",
     .unit = "B/s",
     .help = "say \"how\"\n",
     .better = WB_BETTER_HIGHER,
     .instance = 0,
     .value = 0.1 + 0.2,
     .window = window},
    {.name = "late\u00e9",
     .unit = "s",
     .help = "",
     .better = WB_BETTER_LOWER,
     .instance = UINT32_MAX,
     .value = NAN,
     .hist = &hist},
    {.name = "n",
     .unit = "1",
     .help = "h",
     .better = WB_BETTER_NONE,
     .instance = 3,
     .value = -INFINITY,
     .integer = true},
};
static const char *fn[] = {"do_fork", "idle"};
static uint64_t fn_time[] = {1, INT64_MAX}, rule_count[] = {7};
static const char *rule[] = {"previous CPU is idle"};
static sim_time cat[2][WB_CAT_N] = {{1, 2, 3}, {4}};

static struct wb_fault fault[] = {{WB_FAULT_PINGPONG, "hog-6", 3, 0, 0}, {WB_FAULT_STARVATION, "a \"b\"", 1, 99, 98}};

static struct exp_rep make(void)
{
    struct exp_rep rep = {.index = 5, .built = true, .finished = true};
    wb_hist_reset(&hist);
    wb_hist_add(&hist, 3);
    wb_hist_add(&hist, UINT64_MAX);
    wb_hist_add(&hist, UINT64_MAX - 5);
    rep.r = (struct wb_result){.seed = 0xfedcba9876543210u,
                               .replication = 5,
                               .duration = 10,
                               .measured_from = 3,
                               .finished = true,
                               .metric = metric,
                               .nmetrics = 3,
                               .window_ps = 2,
                               .nwindows = 3,
                               .events = 9,
                               .stale = 1,
                               .inlined = 2,
                               .peak_events = 4,
                               .fingerprint = 0xffffffffffffffffu,
                               .cat_time = cat,
                               .ncpus = 2,
                               .fn_time = fn_time,
                               .fn_name = fn,
                               .nfn = 2,
                               .rule_name = rule,
                               .rule_count = rule_count,
                               .nrules = 1,
                               .fault = fault,
                               .nfaults = 2,
                               .movable = 12};
    return rep;
}

static void equal_double(double a, double b)
{
    assert_memory_equal(&(bool){isnan(a)}, &(bool){isnan(b)}, sizeof(bool));
    if (!isnan(a)) assert_memory_equal(&a, &b, sizeof a);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct exp_rep rep = make(), back;
    char *layout, *body, *layout2, *body2;
    store_rep_write(&rep, &layout, &body);
    assert_int_equal(store_rep_read(layout, body, 5, &back), 0);
    assert_int_equal(back.index, 5);
    assert_true(back.finished && back.r.finished && back.built);
    assert_true(back.r.seed == rep.r.seed && back.r.fingerprint == rep.r.fingerprint);
    assert_int_equal(back.r.nmetrics, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(back.r.metric[i].name, metric[i].name);
        assert_string_equal(back.r.metric[i].unit, metric[i].unit);
        assert_string_equal(back.r.metric[i].help, metric[i].help);
        assert_int_equal(back.r.metric[i].better, metric[i].better);
        assert_int_equal(back.r.metric[i].instance, metric[i].instance);
        assert_int_equal(back.r.metric[i].integer, metric[i].integer);
        equal_double(back.r.metric[i].value, metric[i].value);
    }
    for (size_t i = 0; i < 3; i++) equal_double(back.r.metric[0].window[i], window[i]);
    assert_null(back.r.metric[1].window);
    assert_memory_equal(back.r.metric[1].hist, &hist, sizeof hist);
    assert_memory_equal(back.r.cat_time, cat, sizeof cat);
    assert_true(back.r.fn_time[1] == INT64_MAX && back.r.rule_count[0] == 7);
    assert_string_equal(back.r.rule_name[0], rule[0]);
    assert_int_equal(back.r.nfaults, 2);
    assert_int_equal(back.r.movable, 12);
    assert_memory_equal(&back.r.fault[0].kind, &fault[0].kind, sizeof fault[0].kind);
    assert_string_equal(back.r.fault[1].task, fault[1].task);
    assert_true(back.r.fault[1].count == 1 && back.r.fault[1].total == 99 && back.r.fault[1].longest == 98);
    store_rep_write(&back, &layout2, &body2);
    assert_string_equal(layout, layout2);
    assert_string_equal(body, body2);
    exp_rep_free(&back);
    free(layout);
    free(body);
    free(layout2);
    free(body2);
}

/* Any byte changed or cut off: refused, or read as something; never a crash. */
static void test_damage(void **state)
{
    (void)state;
    struct exp_rep rep = make(), back;
    char *layout, *body;
    store_rep_write(&rep, &layout, &body);
    size_t n = strlen(body), refused = 0;
    for (size_t i = 0; i < n; i++) {
        char kept = body[i];
        body[i] = kept == '1' ? '"' : '1';
        if (store_rep_read(layout, body, 0, &back))
            refused++;
        else
            exp_rep_free(&back);
        body[i] = 0;
        assert_int_equal(store_rep_read(layout, body, 0, &back), -1);
        body[i] = kept;
    }
    assert_true(refused > n / 4);
    assert_int_equal(store_rep_read("{}", body, 0, &back), -1);
    assert_int_equal(store_rep_read(layout, "{}", 0, &back), -1);
    assert_int_equal(store_rep_read("[", "]", 0, &back), -1);
    free(layout);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
