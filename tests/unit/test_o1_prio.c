/* Time slices, bonuses, sleep averages, interactivity credits.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fakekernel.h"
#include "o1.h"

#define TIGER "base = \"itanium2-tiger4\";"
#define HZ1000 \
    (const char *const[]) \
    { \
        "kernel.hz=1000", NULL \
    }

#define MS 1000000ull /* ns */

static struct wb_sim *make(const char *kernel)
{
    return fake_new(&o1_policy, kernel, TIGER, HZ1000);
}

static void slices_by_nice(void **state)
{
    (void)state;
    static const struct {
        int nice;
        uint32_t ms;
    } table[] = {{-20, 800}, {-10, 600}, {-1, 420}, {0, 100}, {1, 95}, {10, 50}, {19, 5}};
    static const char *const kernels[] = {"linux-2.6.10", "linux-2.6.11", "linux-2.6.22"};
    for (size_t k = 0; k < WB_ARRAY_SIZE(kernels); k++) {
        struct wb_sim *s = make(kernels[k]);
        for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++)
            assert_int_equal(o1_timeslice(s->policy, o1_task(fake_task(s, 0, table[i].nice))), table[i].ms);
        fake_free(s);
    }
}

/* Bonus 0 .. 10 shifts the priority by +5 .. -5 within 100 .. 139. */
static void bonus_shifts_priority(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    const struct o1_sim *o = s->policy;
    struct o1_task *p = o1_task(fake_task(s, 0, 0)), *low = o1_task(fake_task(s, 0, 19)),
                   *high = o1_task(fake_task(s, 0, -20));
    for (uint32_t b = 0; b <= 10; b++) {
        p->sleep_avg = low->sleep_avg = high->sleep_avg = b * 100 * MS;
        assert_int_equal(o1_bonus(o, p), b);
        assert_int_equal(o1_effective_prio(o, p), 125 - b);
        assert_int_equal(o1_effective_prio(o, low), WB_MIN(144 - b, 139u));
        assert_int_equal(o1_effective_prio(o, high), WB_MAX(105 - b, 100u));
    }
    p->sleep_avg = 699 * MS + 999999; /* whole ticks count */
    assert_int_equal(o1_bonus(o, p), 6);
    fake_free(s);
}

static void interactive_by_bonus_and_nice(void **state)
{
    (void)state;
    static const struct {
        int nice;
        uint32_t bonus; /* least that counts as interactive; 11: none */
    } table[] = {{-20, 2}, {-10, 5}, {0, 7}, {10, 9}, {19, 11}};
    struct wb_sim *s = make("linux-2.6.11");
    const struct o1_sim *o = s->policy;
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct o1_task *p = o1_task(fake_task(s, 0, table[i].nice));
        for (uint32_t b = 0; b <= 10; b++) {
            p->sleep_avg = b * 100 * MS;
            p->prio = o1_effective_prio(o, p);
            if (p->static_prio - 5 >= 100 && p->static_prio + 5 <= 139)
                assert_int_equal(o1_interactive(o, p), b >= table[i].bonus);
        }
    }
    fake_free(s);
}

static void interactive_sleep_of_nice_0(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    assert_int_equal(o1_interactive_sleep(s->policy, o1_task(fake_task(s, 0, 0))), 799 * MS); /* 0.8 s less one tick */
    fake_free(s);
}

static void granularity_by_version(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        uint32_t base;
    } table[] = {{"linux-2.6.10", 5}, {"linux-2.6.11", 10}, {"linux-2.6.22", 10}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = make(table[i].kernel); /* four CPUs */
        struct o1_task *p = o1_task(fake_task(s, 0, 0));
        p->sleep_avg = 1000 * MS;
        assert_int_equal(o1_granularity(s->policy, p), table[i].base * 4);
        p->sleep_avg = 900 * MS;
        assert_int_equal(o1_granularity(s->policy, p), table[i].base * 4);
        p->sleep_avg = 700 * MS;
        assert_int_equal(o1_granularity(s->policy, p), table[i].base * 4 * 4);
        fake_free(s);
    }
}

/* Short sleeps: a low bonus gains (10 - bonus) times as much, up to 2.6.17. */
static void sleep_gain_by_version(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        uint64_t gain;
    } table[] = {{"linux-2.6.10", 20 * 8}, {"linux-2.6.11", 20 * 8}, {"linux-2.6.22", 20}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = make(table[i].kernel);
        struct o1_task *p = o1_task(fake_task(s, 0, 0));
        p->sleep_avg = 200 * MS;
        p->timestamp = 5000 * MS;
        o1_recalc(s->policy, p, 5020 * MS);
        assert_int_equal(p->sleep_avg, (200 + table[i].gain) * MS);
        fake_free(s);
    }
}

/* One long sleep: just below the top in 2.6.10 and 2.6.11, to the ceiling in 2.6.22. */
static void long_sleep_by_version(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        uint64_t avg;
    } table[] = {{"linux-2.6.10", 900}, {"linux-2.6.11", 900}, {"linux-2.6.22", 799}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = make(table[i].kernel);
        struct o1_task *p = o1_task(fake_task(s, 0, 0));
        p->sleep_avg = 0;
        p->timestamp = 5000 * MS;
        o1_recalc(s->policy, p, 5801 * MS);
        assert_int_equal(p->sleep_avg, table[i].avg * MS);
        assert_int_equal(p->credit, i == 0);
        fake_free(s);
    }
}

static void uninterruptible_sleep_is_capped(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct o1_task *p = o1_task(fake_task(s, 0, 0));
    p->sleep = O1_SLEEP_NONINTERACTIVE;
    p->sleep_avg = 750 * MS;
    p->timestamp = 5000 * MS;
    o1_recalc(s->policy, p, 5100 * MS);
    assert_int_equal(p->sleep_avg, 799 * MS);
    o1_recalc(s->policy, p, 5100 * MS);
    assert_int_equal(p->sleep_avg, 799 * MS);
    p->t->mm = 0; /* kernel threads are not */
    o1_recalc(s->policy, p, 5100 * MS);
    assert_int_equal(p->sleep_avg, 1000 * MS);
    fake_free(s);
}

/* Run time costs 1/bonus; in 2.6.10 only with high credit. */
static void run_time_by_bonus_and_credit(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        int credit;
        uint64_t left;
    } table[] = {{"linux-2.6.11", 0, 990},
                 {"linux-2.6.22", 0, 990},
                 {"linux-2.6.10", 0, 900},
                 {"linux-2.6.10", 100, 900},
                 {"linux-2.6.10", 101, 990}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = make(table[i].kernel);
        struct o1_task *p = o1_task(fake_task(s, 0, 0));
        p->sleep_avg = 1000 * MS;
        p->credit = (int16_t)table[i].credit;
        p->timestamp = 5000 * MS;
        o1_charge_run(s->policy, p, 5100 * MS);
        assert_int_equal(p->sleep_avg, table[i].left * MS);
        assert_int_equal(p->last_ran, 5100 * MS);
        fake_free(s);
    }
}

static void credit_stays_within_its_limits(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.10");
    struct o1_task *p = o1_task(fake_task(s, 0, 0));
    for (int i = 0; i < 300; i++) {
        p->timestamp = 0;
        o1_recalc(s->policy, p, 900 * MS);
    }
    assert_int_equal(p->credit, 101);
    p->credit = 0;
    for (int i = 0; i < 300; i++) {
        p->sleep_avg = 1;
        p->timestamp = 0;
        o1_charge_run(s->policy, p, 900 * MS);
    }
    assert_int_equal(p->credit, -101);
    p->timestamp = 0; /* low credit: at most a time slice is gained */
    p->sleep_avg = 0;
    o1_recalc(s->policy, p, 700 * MS);
    assert_int_equal(p->sleep_avg, 100 * MS);
    fake_free(s);
}

/* A wakeup on another CPU's clock before the task's timestamp: unsigned, so a sleep without end. */
static void clocks_out_of_phase_wrap(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct o1_task *p = o1_task(fake_task(s, 0, 0));
    p->sleep_avg = 0;
    p->timestamp = 5000 * MS;
    o1_recalc(s->policy, p, 5000 * MS - 1);
    assert_int_equal(p->sleep_avg, 900 * MS);
    fake_free(s);
}

/* At HZ = 1024 a slice is 102 ticks and the longest average 1020 ticks. */
static void macros_count_whole_ticks(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    const struct o1_sim *o = s->policy;
    assert_int_equal(o->hz, 1024);
    assert_int_equal(o->def_slice, 102);
    assert_int_equal(o->min_slice, 5);
    assert_int_equal(o->max_sleep, 1020ull * 976562);
    assert_int_equal(o1_jiffies(o, 1), 2);
    assert_int_equal(o1_jiffies(o, 64), 66);
    fake_free(s);
}

static void estimator_is_a_switch(void **state)
{
    (void)state;
    struct wb_sim *s =
        fake_new(&o1_policy, "linux-2.6.11", TIGER, (const char *const[]){"policy.interactive=false", NULL});
    struct o1_task *p = o1_task(fake_task(s, 0, 0));
    p->timestamp = 0;
    o1_recalc(s->policy, p, 5000 * MS);
    assert_int_equal(p->prio, 120);
    fake_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_by_nice),
        cmocka_unit_test(bonus_shifts_priority),
        cmocka_unit_test(interactive_by_bonus_and_nice),
        cmocka_unit_test(interactive_sleep_of_nice_0),
        cmocka_unit_test(granularity_by_version),
        cmocka_unit_test(sleep_gain_by_version),
        cmocka_unit_test(long_sleep_by_version),
        cmocka_unit_test(uninterruptible_sleep_is_capped),
        cmocka_unit_test(run_time_by_bonus_and_credit),
        cmocka_unit_test(credit_stays_within_its_limits),
        cmocka_unit_test(clocks_out_of_phase_wrap),
        cmocka_unit_test(macros_count_whole_ticks),
        cmocka_unit_test(estimator_is_a_switch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
