/* Scores of predictions, by hand; and the matrix: both worlds take every case. */
#include "wbtest.h"

#include "simtest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "valid.h"

struct wb_key_registry *cli_keys_new(void);

static struct valid_case measured(enum valid_class klass, double predicted, const double *v, uint32_t n)
{
    struct valid_case c = {.klass = klass,
                           .kind = REAL_PIPE_LATENCY,
                           .predicted = true,
                           .mean = predicted,
                           .lo = predicted * 0.9,
                           .hi = predicted * 1.1,
                           .rounds = n,
                           .mode_together = NAN};
    for (uint32_t i = 0; i < n; i++) {
        c.real[i] = v[i];
        c.real_together[i] = NAN;
    }
    return c;
}

static void test_right_and_wrong(void **state)
{
    (void)state;
    static const double v[] = {100, 102, 98, 101, 99, 100, 103, 97, 100, 100};
    struct valid_case c = measured(VALID_SAME, 100, v, 10);
    valid_score_case(&c);
    assert_true(c.right && c.by_range && c.covered);
    assert_true(fabs(c.median - 100) < 1e-9 && fabs(c.p10 - 97.9) < 1e-9 && fabs(c.p90 - 102.1) < 1e-9);
    assert_int_equal(c.runs_covered, 10);
    c = measured(VALID_SAME, 107, v, 10); /* outside the range, inside 8 % */
    valid_score_case(&c);
    assert_true(c.right && !c.by_range && c.covered);
    c = measured(VALID_SAME, 109, v, 10);
    valid_score_case(&c);
    assert_false(c.right);
    assert_int_equal(c.runs_covered, 8);   /* 98.1 .. 119.9: not 97 and 98 */
    c = measured(VALID_CROSS, 120, v, 10); /* the band of two halting CPUs is 25 % */
    valid_score_case(&c);
    assert_true(c.right && !c.covered);
    c = measured(VALID_CROSS, 126, v, 10);
    valid_score_case(&c);
    assert_false(c.right);
}

static void test_modes(void **state)
{
    (void)state;
    static const double v[] = {5, 5, 5, 40, 40, 40, 5, 40, 5, 40};
    struct valid_case c = measured(VALID_FREE, 20, v, 10);
    for (int i = 0; i < 10; i++) c.real_together[i] = v[i] < 10 ? 1 : 0;
    c.mode_together = 0.6;
    valid_score_case(&c);
    assert_true(c.bimodal && c.right && fabs(c.real_mode_together - 0.5) < 1e-9);
    c.mode_together = 0.9;
    valid_score_case(&c);
    assert_false(c.right);
}

static void test_ranks(void **state)
{
    (void)state;
    static const double low[] = {10, 11, 9, 10}, high[] = {20, 21, 19, 20};
    struct valid_case two[2] = {measured(VALID_SAME, 10, low, 4), measured(VALID_SAME, 20, high, 4)};
    struct valid_set v = {.c = two, .n = 2};
    valid_score(&v);
    assert_int_equal(v.pairs, 1);
    assert_int_equal(v.inversions, 0);
    two[0].mean = 30;
    valid_score(&v);
    assert_int_equal(v.inversions, 1);
    assert_int_equal(v.inversion[0].a, 0);
    two[0].kind = REAL_PIPE_BW; /* other metrics are not compared */
    valid_score(&v);
    assert_int_equal(v.pairs, 0);
}

static void set_figure(struct valid_case *c, enum valid_figure_kind k, double predicted, const double *real)
{
    c->figure[k].predicted = predicted;
    memcpy(c->figure[k].real, real, c->rounds * sizeof *real);
}

/* Percentiles, switches, migrations and shares have their own bands. */
static void test_figures(void **state)
{
    (void)state;
    static const double v[] = {100, 100, 100, 100}, move[] = {0, 5, 0, 5}, none[] = {NAN, NAN, NAN, NAN};
    struct valid_case c = measured(VALID_CROSS, 100, v, 4); /* 25 % */
    set_figure(&c, VALID_P50, 124, v);
    set_figure(&c, VALID_P90, 126, v);
    set_figure(&c, VALID_P99, 149, v);          /* a tail may be twice as far off */
    set_figure(&c, VALID_MIGRATIONS, 21, move); /* under 20 a second off the median of 2.5 */
    set_figure(&c, VALID_SWITCHES, 2, none);
    set_figure(&c, VALID_TOGETHER, NAN, v);
    valid_score_case(&c);
    assert_true(c.figure[VALID_P50].scored && c.figure[VALID_P50].right);
    assert_true(c.figure[VALID_P90].scored && !c.figure[VALID_P90].right);
    assert_true(c.figure[VALID_P99].right && c.figure[VALID_MIGRATIONS].right);
    assert_false(c.figure[VALID_SWITCHES].scored || c.figure[VALID_TOGETHER].scored);
    assert_true(c.right);
    c.figure[VALID_P99].predicted = 151;
    c.figure[VALID_P50].predicted = 79; /* by ratio: 1/1.25 = 0.8 */
    c.figure[VALID_MIGRATIONS].predicted = 30;
    struct valid_set set = {.c = &c, .n = 1};
    valid_score(&set);
    assert_false(c.figure[VALID_P99].right || c.figure[VALID_P50].right || c.figure[VALID_MIGRATIONS].right);
    assert_int_equal(set.figure[VALID_P99].scored, 1);
    assert_int_equal(set.figure[VALID_P99].right, 0);
    assert_int_equal(set.figure[VALID_SWITCHES].scored, 0);
}

/* Switches are for each trip, transaction or message; hackbench's for the run. */
static void test_per_operation(void **state)
{
    (void)state;
    struct valid_case c = {.kind = REAL_PIPE_LATENCY};
    assert_true(fabs(valid_per_operation(&c, 40000, 50e-6) - 2) < 1e-9);
    c.kind = REAL_TCP_RR;
    assert_true(fabs(valid_per_operation(&c, 40000, 20000) - 2) < 1e-9);
    c = (struct valid_case){.kind = REAL_PIPE_BW, .key = {"message"}, .value = {"64 KiB"}, .nkeys = 1};
    assert_true(fabs(valid_per_operation(&c, 30000, 65536 * 15000.0) - 2) < 1e-9);
    c.kind = REAL_HACKBENCH;
    assert_true(fabs(valid_per_operation(&c, 30000, 0.25) - 7500) < 1e-9);
}

/* A case that was not run does not count. */
static void test_left_out(void **state)
{
    (void)state;
    struct valid_case one[2] = {{.predicted = true, .mean = 1}, {.predicted = false}};
    struct valid_set v = {.c = one, .n = 2};
    valid_score(&v);
    assert_int_equal(v.scored, 0);
    assert_true(isnan(v.median_error));
}

static void test_matrix(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    struct wb_topo_options opt = {.cache_size = {32 << 10, 1 << 20, 32 << 20, 64 << 20}, .line = 64};
    struct wb_topology *t = wb_topo_from_synthetic("pack:1 l3:1 core:2 pu:1", &opt, d);
    static const cpu_id cpus[] = {0, 1};
    size_t n[3];
    for (int depth = VALID_QUICK; depth <= VALID_FULL; depth++) {
        struct valid_set v;
        assert_int_equal(valid_matrix(&v, t, cpus, 2, (enum valid_depth)depth), 0);
        n[depth] = v.n;
        for (size_t i = 0; i < v.n; i++)
            for (size_t j = 0; j < i; j++) assert_string_not_equal(v.c[i].name, v.c[j].name);
        valid_free(&v);
    }
    assert_true(n[0] >= 10 && n[0] < n[1] && n[1] < n[2]);
    struct valid_set one; /* nothing between CPUs on one CPU */
    assert_int_equal(valid_matrix(&one, t, cpus, 1, VALID_FULL), 0);
    for (size_t i = 0; i < one.n; i++) assert_null(strstr(one.c[i].name, "llc"));
    valid_free(&one);
    wb_topology_free(t);
    wb_diag_free(d);
}

/* Every case is a real run that real_spec_check accepts, as far as this machine has two CPUs. */
static void test_real_specs(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    struct wb_topo_options opt = {.cache_size = {32 << 10, 1 << 20, 32 << 20, 64 << 20}, .line = 64};
    struct wb_topology *t = wb_topo_from_synthetic("pack:1 l3:1 core:2 pu:1", &opt, d);
    static const cpu_id cpus[] = {0, 0};
    struct valid_set v;
    assert_int_equal(valid_matrix(&v, t, cpus, 1, VALID_FULL), 0);
    for (size_t i = 0; i < v.n; i++) {
        struct real_spec s;
        if (valid_real_spec(&v.c[i], &s, d) < 0) {
            char *text = wb_diag_render(d, false);
            fail_msg("%s: %s", v.c[i].name, text);
        }
    }
    valid_free(&v);
    wb_topology_free(t);
    wb_diag_free(d);
}

/* A machine whose CPUs were moved is another one; what is not known is no reason to drop a run. */
static void test_distance(void **state)
{
    (void)state;
    assert_true(valid_same_distance(28, 30) && valid_same_distance(28, 20) && valid_same_distance(28, 44));
    assert_false(valid_same_distance(28, 126) || valid_same_distance(126, 28) || valid_same_distance(28, 46));
    assert_true(valid_same_distance(NAN, 30) && valid_same_distance(28, NAN) && valid_same_distance(0, 30));
    struct valid_set one = {.watch = {0, 0}, .line_ns = 28}, unknown = {.watch = {0, 1}, .line_ns = NAN};
    assert_true(isnan(valid_distance_now(&one)) && isnan(valid_distance_now(&unknown)));
}

/* A case without a run says why. */
static void test_why_dropped(void **state)
{
    (void)state;
    struct valid_case c = {.rounds = 1, .dropped = 9};
    char why[96];
    assert_null(valid_why_dropped(&c, why, sizeof why));
    c.rounds = 0;
    assert_string_equal(valid_why_dropped(&c, why, sizeof why), "the machine was not quiet in 9 of 9 runs");
    c.moved = 4;
    assert_string_equal(valid_why_dropped(&c, why, sizeof why),
                        "the machine was not quiet in 5 of 9 runs, and not as calibrated in the others");
    c.moved = 9;
    assert_string_equal(valid_why_dropped(&c, why, sizeof why),
                        "the CPUs lay nearer or farther apart than when they were calibrated in all 9 runs");
    c.dropped = 0;
    assert_null(valid_why_dropped(&c, why, sizeof why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_and_wrong), cmocka_unit_test(test_modes),
                                       cmocka_unit_test(test_ranks),           cmocka_unit_test(test_figures),
                                       cmocka_unit_test(test_per_operation),   cmocka_unit_test(test_left_out),
                                       cmocka_unit_test(test_matrix),          cmocka_unit_test(test_real_specs),
                                       cmocka_unit_test(test_distance),        cmocka_unit_test(test_why_dropped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
