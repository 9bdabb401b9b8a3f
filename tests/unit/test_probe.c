/* wb-link: wb_validate wb_kernel wb_machine wb_measure wb_core */
#include "wbtest.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>

#include "probe.h"

static void test_median(void **state)
{
    (void)state;
    double one[] = {5}, odd[] = {9, 1, 5}, m, lo, hi;
    probe_median(one, 1, &m, &lo, &hi);
    assert_true(m == 5 && lo == 5 && hi == 5);
    probe_median(odd, 3, &m, &lo, &hi);
    assert_true(m == 5 && lo == 1 && hi == 9);
    /* Eleven samples: the 2nd and the 10th hold the median with 98.8 %, the 3rd and 9th with 93.5 % only. */
    double v[11];
    for (int i = 0; i < 11; i++) v[i] = 11 - i;
    probe_median(v, 11, &m, &lo, &hi);
    assert_true(m == 6 && lo == 2 && hi == 10);
    /* Twenty: 6th and 15th (95.9 %). */
    double w[20];
    for (int i = 0; i < 20; i++) w[i] = i + 1;
    probe_median(w, 20, &m, &lo, &hi);
    assert_true(m == 10.5 && lo == 6 && hi == 15);
    probe_median(w, 0, &m, &lo, &hi);
    assert_true(isnan(m));
}

static void test_quantiles(void **state)
{
    (void)state;
    float v[] = {1, 2, 3, 4, 5};
    struct probe_spread s = {.v = v, .n = 5};
    assert_true(probe_quantile(&s, 0) == 1 && probe_quantile(&s, 1) == 5 && probe_quantile(&s, 0.5) == 3);
    assert_true(fabs(probe_quantile(&s, 0.1) - 1.4) < 1e-6);
    assert_true(isnan(probe_quantile(NULL, 0.5)));
}

static void test_methods(void **state)
{
    (void)state;
    assert_string_equal(probe_method("transfer.llc"),
                        "locked additions in lines that the other CPU has just modified, or that both have read");
    assert_string_equal(probe_method("l2_read"), probe_method("l1_latency"));
    assert_string_equal(probe_method("nothing"), "");
    assert_true(probe_round_seconds() > 0.1 && probe_round_seconds() < 1);
}

/* Probes of one CPU run anywhere, in a container too; they give something above nothing and leave the affinity as it
 * was. */
static void test_one_round(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    struct wb_topo_options opt = {.cache_size = {32 << 10, 256 << 10, 8 << 20, 64 << 20}, .line = 64};
    struct wb_topology *t = wb_topo_live(&opt, d);
    struct probe_set s;
    struct probe_options o = {.rounds = 3, .only = "calls"};
    if (!t) skip();
    assert_int_equal(probe_all(t, &o, &s, d), 0);
    const struct probe_figure *f = probe_find(&s, "getppid");
    assert_non_null(f);
    assert_int_equal(f->n, 3);
    assert_true(f->median > 5 && f->median < 1e6 && f->lo <= f->median && f->median <= f->hi);
    assert_null(probe_find(&s, "l1_latency"));
    probe_free(&s);
    wb_topology_free(t);
    wb_diag_free(d);
}

/* Two batched tasks of one CPU sleep at each trip, once each; ordinary ones no more often. */
static void test_sleeps_counted(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    struct wb_topo_options opt = {.cache_size = {32 << 10, 256 << 10, 8 << 20, 64 << 20}, .line = 64};
    struct wb_topology *t = wb_topo_live(&opt, d);
    struct probe_set s;
    struct probe_options o = {.rounds = 3, .only = "local_echo"};
    if (!t) skip();
    assert_int_equal(probe_all(t, &o, &s, d), 0);
    const struct probe_figure *all = probe_find(&s, "local_sleeps"), *pair = probe_find(&s, "pair_sleeps");
    const struct probe_figure *switches = probe_find(&s, "pair_switches"), *cost = probe_find(&s, "sleep_wake");
    if (!all) skip(); /* SCHED_BATCH is refused */
    assert_true(all->n == 3 && all->median > 1.8 && all->median < 2.2);
    assert_true(pair->n == 3 && pair->median >= 0 && pair->median < 2.2);
    assert_true(switches->median >= pair->median);
    assert_true(!cost || isfinite(cost->median)); /* beside other load it may be anything */
    probe_free(&s);
    wb_topology_free(t);
    wb_diag_free(d);
}

/* More rounds of some probes stand beside the first; the others' figures stay as they were. */
static void test_more(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    struct wb_topo_options opt = {.cache_size = {32 << 10, 256 << 10, 8 << 20, 64 << 20}, .line = 64};
    struct wb_topology *t = wb_topo_live(&opt, d);
    struct probe_set s;
    struct probe_options o = {.rounds = 3, .only = "sides calls"};
    if (!t) skip();
    assert_int_equal(probe_all(t, &o, &s, d), 0);
    assert_null(probe_find(&s, "pipe_1"));
    double before = probe_find(&s, "getppid")->median;
    o.only = "sides";
    o.rounds = 4;
    assert_int_equal(probe_more(t, &o, &s, d), 0);
    const struct probe_figure *fill = probe_find(&s, "fill_512");
    assert_int_equal(fill->n, 7);
    for (uint32_t i = 0; i < 7; i++) assert_int_equal(fill->round[i], i);
    assert_true(fill->lo <= fill->median && fill->median <= fill->hi);
    assert_int_equal(probe_find(&s, "getppid")->n, 3);
    assert_true(probe_find(&s, "getppid")->median == before);
    assert_int_equal(s.rounds, 7);
    o.rounds = PROBE_ROUNDS_MAX; /* more than there is room for */
    o.only = "nothing";
    assert_int_equal(probe_more(t, &o, &s, d), 0);
    assert_int_equal(s.rounds, PROBE_ROUNDS_MAX);
    probe_free(&s);
    wb_topology_free(t);
    wb_diag_free(d);
}

static void test_stop(void **state)
{
    (void)state;
    struct wb_diag *d = wb_diag_new();
    struct wb_topo_options opt = {.cache_size = {32 << 10, 256 << 10, 8 << 20, 64 << 20}, .line = 64};
    struct wb_topology *t = wb_topo_live(&opt, d);
    volatile sig_atomic_t stop = 1;
    struct probe_set s;
    struct probe_options o = {.rounds = 3, .stop = &stop};
    if (!t) skip();
    assert_int_equal(probe_all(t, &o, &s, d), -EINTR);
    wb_topology_free(t);
    wb_diag_free(d);
}

static void add_samples(struct probe_set *s, const char *name, const double *v, uint32_t n)
{
    struct probe_figure *f = &s->figure[s->n++];
    snprintf(f->name, sizeof f->name, "%s", name);
    for (uint32_t i = 0; i < n; i++) {
        f->round[f->n] = (uint8_t)i;
        f->sample[f->n++] = v[i];
    }
}

/* A hypervisor moves the CPUs apart in round 4 (in its middle) and back after 6: figures of the distance come from the
 * others, those of one CPU from all; where nothing moves, nothing is left out. */
static void test_distance_changes(void **state)
{
    (void)state;
    static const double begin[] = {28, 29, 28, 30, 28, 126, 127, 28}, end[] = {28, 28, 29, 28, 125, 126, 126, 29};
    static const double trip[] = {40, 41, 42, 43, 60, 61, 62, 44}, local[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct probe_figure figure[4] = {0};
    struct probe_set s = {.figure = figure, .room = 4};
    add_samples(&s, "transfer.llc", begin, 8);
    add_samples(&s, "transfer_again.llc", end, 8);
    add_samples(&s, "far_trip_0.llc", trip, 8);
    add_samples(&s, "getppid", local, 8);
    probe_keep_one_distance(&s, "package");
    assert_int_equal(s.nmissing, 0);
    probe_keep_one_distance(&s, "llc");
    assert_int_equal(s.nmissing, 1);
    assert_int_equal(figure[2].n, 5);
    assert_true(figure[2].sample[4] == 44 && figure[2].round[4] == 7);
    assert_int_equal(figure[3].n, 8);
    probe_keep_one_distance(&s, "llc");
    assert_int_equal(s.nmissing, 1); /* one length is left */
}

/* Moving a line takes longer than a nanosecond; the affinity is as before. */
static void test_line_move(void **state)
{
    (void)state;
    cpu_set_t before, after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2 || !CPU_ISSET(0, &before) || !CPU_ISSET(1, &before)) skip();
    double ns = probe_line_move(0, 1);
    assert_true(ns > 1 && ns < 1e6);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),    cmocka_unit_test(test_quantiles), cmocka_unit_test(test_methods),
        cmocka_unit_test(test_one_round), cmocka_unit_test(test_stop),      cmocka_unit_test(test_distance_changes),
        cmocka_unit_test(test_line_move), cmocka_unit_test(test_more),      cmocka_unit_test(test_sleeps_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
