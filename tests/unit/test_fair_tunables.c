/* Numbers in force by version and CPUs, features and knobs by version, errors that name the versions.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fairtest.h"

#define MS 1000000ull
#define US 1000ull

struct numbers {
    enum fair_release v;
    const char *machine;
    uint64_t latency, min_granularity, wakeup, base_slice;
};

static void expect_numbers(const struct numbers *n)
{
    struct wb_sim *s = fair_test_new(n->v, n->machine, NULL);
    const struct fair_sim *f = fair_test_sim(s);
    assert_int_equal(f->latency, n->latency);
    assert_int_equal(f->min_granularity, n->min_granularity);
    assert_int_equal(f->wakeup_granularity, n->wakeup);
    assert_int_equal(f->base_slice, n->base_slice);
    fake_free(s);
}

/* schedulers' spot checks: 2.6.24 on 8 CPUs, 2.6.36 on 16, EEVDF on 8. */
static void cfs_2_6_24_8_cpus_wakeup_gran_40_ms_latency_80_ms(void **state)
{
    (void)state;
    expect_numbers(&(struct numbers){FAIR_2_6_24, FAIR_SMP(8), 80 * MS, 16 * MS, 40 * MS, 0});
}

static void cfs_2_6_36_16_cpus_latency_24_min_gran_3_wakeup_gran_4_ms(void **state)
{
    (void)state;
    expect_numbers(&(struct numbers){FAIR_2_6_36, FAIR_SMP(16), 24 * MS, 3 * MS, 4 * MS, 0});
}

static void eevdf_8_cpus_base_slice_3_and_2_8_ms(void **state)
{
    (void)state;
    expect_numbers(&(struct numbers){FAIR_6_6, FAIR_SMP(8), 0, 0, 0, 3 * MS});
    expect_numbers(&(struct numbers){FAIR_6_12, FAIR_SMP(8), 0, 0, 0, 3 * MS});
    expect_numbers(&(struct numbers){FAIR_6_18, FAIR_SMP(8), 0, 0, 0, 2800 * US});
}

static void numbers_scale_with_the_cpus(void **state)
{
    static const struct numbers table[] = {
        {FAIR_2_6_23, FAIR_SMP(1), 20 * MS, 2 * MS, 1 * MS, 0},
        {FAIR_2_6_23, FAIR_SMP(4), 60 * MS, 6 * MS, 3 * MS, 0},
        {FAIR_2_6_23, FAIR_SMP(8), 80 * MS, 8 * MS, 4 * MS, 0},
        {FAIR_2_6_23, FAIR_SMP(16), 100 * MS, 10 * MS, 5 * MS, 0},
        {FAIR_2_6_23, FAIR_SMP(64), 100 * MS, 14 * MS, 7 * MS, 0},
        {FAIR_2_6_24, FAIR_SMP(4), 60 * MS, 12 * MS, 30 * MS, 0},
        {FAIR_2_6_24, FAIR_SMP(16), 100 * MS, 20 * MS, 50 * MS, 0},
        {FAIR_2_6_35, FAIR_SMP(1), 6 * MS, 2 * MS, 1 * MS, 0},
        {FAIR_2_6_35, FAIR_SMP(8), 24 * MS, 8 * MS, 4 * MS, 0},
        {FAIR_2_6_35, FAIR_SMP(64), 24 * MS, 8 * MS, 4 * MS, 0},
        {FAIR_5_4, FAIR_SMP(4), 18 * MS, 2250 * US, 3 * MS, 0},
        {FAIR_5_15, FAIR_SMP(8), 24 * MS, 3 * MS, 4 * MS, 0},
        {FAIR_6_1, FAIR_SMP(2), 12 * MS, 1500 * US, 2 * MS, 0},
        {FAIR_6_6, FAIR_SMP(4), 0, 0, 0, 2250 * US},
        {FAIR_6_12, FAIR_SMP(64), 0, 0, 0, 3 * MS},
        {FAIR_6_18, FAIR_SMP(4), 0, 0, 0, 2100 * US},
    };
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) expect_numbers(&table[i]);
}

static void other_numbers_of_a_version(void **state)
{
    static const struct {
        enum fair_release v;
        uint32_t nr_latency, nr_migrate;
        uint64_t migration_cost, batch;
        bool child_first, nohz;
    } table[] = {
        {FAIR_2_6_23, 0, 0, 0, 25 * MS, true, false},   {FAIR_2_6_24, 5, 32, 500 * US, 40 * MS, true, true},
        {FAIR_2_6_35, 3, 32, 500 * US, 0, false, true}, {FAIR_2_6_36, 8, 32, 500 * US, 0, false, true},
        {FAIR_6_1, 8, 32, 500 * US, 0, false, true},    {FAIR_6_18, 0, 32, 500 * US, 0, false, true},
    };
    (void)state;
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = fair_test_new(table[i].v, FAIR_SMP(8), NULL);
        const struct fair_sim *f = fair_test_sim(s);
        assert_int_equal(f->nr_latency, table[i].nr_latency);
        assert_int_equal(f->nr_migrate, table[i].nr_migrate);
        assert_int_equal(f->migration_cost, table[i].migration_cost);
        assert_int_equal(f->batch_wakeup_granularity, table[i].batch);
        assert_int_equal(f->child_runs_first, table[i].child_first);
        assert_int_equal(f->nohz, table[i].nohz);
        fake_free(s);
    }
}

static void given_numbers_are_in_force_as_written(void **state)
{
    const char *sets[] = {"policy.latency=30 ms", "policy.min_granularity=4 ms", "policy.wakeup_granularity=0 ms",
                          NULL};
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_2_6_36, FAIR_SMP(16), sets);
    const struct fair_sim *f = fair_test_sim(s);
    assert_int_equal(f->latency, 30 * MS);
    assert_int_equal(f->min_granularity, 4 * MS);
    assert_int_equal(f->wakeup_granularity, 0);
    assert_int_equal(f->nr_latency, 8); /* 30 / 4, rounded up */
    fake_free(s);
}

static void scaling_can_be_linear_or_off(void **state)
{
    const char *none[] = {"policy.tunable_scaling=none", NULL}, *linear[] = {"policy.tunable_scaling=linear", NULL};
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_6_12, FAIR_SMP(16), none);
    assert_int_equal(fair_test_sim(s)->base_slice, 750 * US);
    fake_free(s);
    s = fair_test_new(FAIR_6_12, FAIR_SMP(16), linear);
    assert_int_equal(fair_test_sim(s)->base_slice, 6 * MS);
    assert_int_equal(fair_test_sim(s)->base_slice_unscaled, 750 * US);
    fake_free(s);
}

static void tasks_can_ask_for_slices(void **state)
{
    const char *sets[] = {"policy.task_slices=[\"task 10 ms\"]", NULL};
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_6_12, FAIR_SMP(2), sets);
    assert_int_equal(fair_task(fake_task(s, 0, 0))->slice, 10 * MS);
    fake_free(s);
}

/* ---- features ---- */

static bool on(enum fair_release v, enum fair_feature x)
{
    struct wb_sim *s = fair_test_new(v, FAIR_SMP(2), NULL);
    bool yes = fair_on(fair_test_sim(s), x);
    fake_free(s);
    return yes;
}

static void features_have_their_version_s_defaults(void **state)
{
    (void)state;
    assert_true(on(FAIR_2_6_23, FAIR_F_SLEEPER_LOAD_AVG) && !on(FAIR_2_6_23, FAIR_F_SLEEPER_AVG));
    assert_true(on(FAIR_2_6_24, FAIR_F_WAKEUP_PREEMPTION) && !on(FAIR_2_6_24, FAIR_F_GENTLE_FAIR_SLEEPERS));
    assert_true(on(FAIR_2_6_36, FAIR_F_LAST_BUDDY) && !on(FAIR_2_6_36, FAIR_F_NEXT_BUDDY));
    assert_true(on(FAIR_5_4, FAIR_F_SIS_PROP) && !on(FAIR_5_4, FAIR_F_SIS_UTIL));
    assert_true(on(FAIR_5_15, FAIR_F_SIS_UTIL) && !on(FAIR_5_15, FAIR_F_SIS_PROP));
    assert_true(on(FAIR_6_6, FAIR_F_RUN_TO_PARITY) && !on(FAIR_6_6, FAIR_F_DELAY_DEQUEUE));
    assert_true(on(FAIR_6_12, FAIR_F_DELAY_ZERO) && !on(FAIR_6_12, FAIR_F_PICK_BUDDY) &&
                on(FAIR_6_18, FAIR_F_PICK_BUDDY));
    for (enum fair_release v = FAIR_5_4; v < FAIR_RELEASES; v++)
        assert_true(on(v, FAIR_F_WA_IDLE) && on(v, FAIR_F_TTWU_QUEUE));
}

static void features_are_switched_by_name(void **state)
{
    const char *sets[] = {"policy.features=[\"NO_RUN_TO_PARITY\", \"NEXT_BUDDY\"]", NULL};
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_6_12, FAIR_SMP(2), sets);
    assert_false(fair_on(fair_test_sim(s), FAIR_F_RUN_TO_PARITY));
    assert_true(fair_on(fair_test_sim(s), FAIR_F_NEXT_BUDDY));
    fake_free(s);
}

/* ---- errors ---- */

/* What init() says about settings that the scenario loader accepts; severity E or W expected in text. */
static void complains(enum fair_release v, const char *set, const char *text, bool fatal)
{
    char kernel[32];
    const char *sets[] = {set, NULL};
    (void)snprintf(kernel, sizeof kernel, "linux-%s", fair_version[v].name);
    struct wb_sim *s = fake_load(fair_test_ops(v), kernel, FAIR_SMP(2), sets);
    struct fair_sim f = {.v = &fair_version[v]};
    const struct wb_config *cfg = wb_scenario_config(s->scenario);
    int err = fair_knobs_check(&f, cfg, s->diag);
    if (fair_features_read(&f, cfg, s->diag)) err = -1;
    char *said = wb_diag_render(s->diag, false);
    if (!strstr(said, text)) fail_msg("'%s' is not in: %s", text, said);
    assert_int_equal(err, fatal ? -1 : 0);
    free(said);
    fake_free(s);
}

static void a_knob_of_another_version_is_an_error_that_names_them(void **state)
{
    (void)state;
    complains(FAIR_6_6, "policy.latency=10 ms", "policy.latency does not exist in Linux 6.6; it is in 2.6.23 to 6.1",
              true);
    complains(FAIR_6_1, "policy.base_slice=1 ms", "policy.base_slice does not exist in Linux 6.1; it is in 6.6 to 6.18",
              true);
    complains(FAIR_2_6_24, "policy.runtime_limit=10 ms", "it is in 2.6.23", true);
    complains(FAIR_2_6_23, "policy.migration_cost=1 ms", "it is in 2.6.24 to 6.18", true);
    complains(FAIR_6_12, "policy.preempt_lazy=true", "it is in 6.18", true);
    complains(FAIR_5_15, "policy.idle_min_granularity=1 ms", "it is in 6.1", true);
}

/* What help shows, and what is said where the whole family is another one. */
static void keys_name_the_versions_that_have_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < fair_nknobs; i++) {
        char set[96];
        const struct wb_key *row = NULL;
        for (size_t k = 0; k < FAIR_KEYS && !row; k++)
            if (!strcmp(fair_keys[k].path, fair_knobs[i].key)) row = &fair_keys[k];
        assert_non_null(row);
        assert_non_null(row->versions);
        assert_string_equal(row->versions, fair_releases_text(fair_knobs[i].releases, set, sizeof set));
    }
}

static void a_feature_of_another_version_is_an_error_that_names_them(void **state)
{
    (void)state;
    complains(FAIR_5_4, "policy.features=[\"NO_RUN_TO_PARITY\"]",
              "sched feature RUN_TO_PARITY does not exist in Linux 5.4; it is in 6.6 to 6.18", true);
    complains(FAIR_6_12, "policy.features=[\"SIS_PROP\"]", "it is in 5.4 to 6.6", true);
    complains(FAIR_6_6, "policy.features=[\"WAKEUP_PREEMPT\"]", "it is in 2.6.24 to 2.6.36", true);
    complains(FAIR_6_6, "policy.features=[\"RUN_TO_PARTY\"]", "did you mean RUN_TO_PARITY?", true);
}

static void what_the_model_cannot_do_is_said(void **state)
{
    (void)state;
    complains(FAIR_6_6, "policy.features=[\"HRTICK\"]", "cannot be turned on in the model", true);
    complains(FAIR_6_6, "policy.features=[\"NO_HZ_BW\"]", "has no effect in the model", false);
    complains(FAIR_6_6, "policy.features=[\"NO_HRTICK\"]", "", false);
}

static void releases_are_named_in_short(void **state)
{
    char buf[96];
    (void)state;
    assert_string_equal(fair_releases_text(FAIR_SINCE(FAIR_6_12), buf, sizeof buf), "6.12, 6.18");
    assert_string_equal(fair_releases_text(FAIR_UNTIL(FAIR_2_6_35), buf, sizeof buf), "2.6.23 to 2.6.35");
    assert_string_equal(fair_releases_text(1u << FAIR_5_4 | 1u << FAIR_6_6, buf, sizeof buf), "5.4, 6.6");
    assert_string_equal(fair_releases_text(0, buf, sizeof buf), "");
}

static void tables_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < FAIR_KEYS; i++) assert_null(wb_key_lint(&fair_keys[i]));
    for (size_t i = 0; i < FAIR_RULES; i++) assert_non_null(fair_rules[i]);
    for (enum fair_release v = 0; v < FAIR_RELEASES; v++) {
        assert_int_equal(fair_version[v].release, v);
        assert_ptr_equal(fair_version_find(fair_version[v].name), &fair_version[v]);
    }
    assert_null(fair_version_find("2.6.22"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cfs_2_6_24_8_cpus_wakeup_gran_40_ms_latency_80_ms),
        cmocka_unit_test(cfs_2_6_36_16_cpus_latency_24_min_gran_3_wakeup_gran_4_ms),
        cmocka_unit_test(eevdf_8_cpus_base_slice_3_and_2_8_ms),
        cmocka_unit_test(numbers_scale_with_the_cpus),
        cmocka_unit_test(other_numbers_of_a_version),
        cmocka_unit_test(given_numbers_are_in_force_as_written),
        cmocka_unit_test(scaling_can_be_linear_or_off),
        cmocka_unit_test(tasks_can_ask_for_slices),
        cmocka_unit_test(features_have_their_version_s_defaults),
        cmocka_unit_test(features_are_switched_by_name),
        cmocka_unit_test(a_knob_of_another_version_is_an_error_that_names_them),
        cmocka_unit_test(keys_name_the_versions_that_have_them),
        cmocka_unit_test(a_feature_of_another_version_is_an_error_that_names_them),
        cmocka_unit_test(what_the_model_cannot_do_is_said),
        cmocka_unit_test(releases_are_named_in_short),
        cmocka_unit_test(tables_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
