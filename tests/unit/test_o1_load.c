/* Damped loads: the numbers of a task that arrives, source and target loads.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fakekernel.h"
#include "o1.h"

#define TIGER "base = \"itanium2-tiger4\";"

static struct wb_sim *one_task(const char *kernel)
{
    struct wb_sim *s = fake_new(&o1_policy, kernel, TIGER, NULL);
    fake_running(s, 0, 0);
    return s;
}

/* 0 -> 1 task: 64, 96, 112, 120 ... and the +1 of a rising load makes it reach 128. */
static void cpu_load_2_6_11_rises(void **state)
{
    (void)state;
    static const uint64_t expected[] = {64, 96, 112, 120, 124, 126, 127, 128, 128};
    struct wb_sim *s = one_task("linux-2.6.11");
    for (size_t k = 0; k < WB_ARRAY_SIZE(expected); k++) {
        fake_ticks(s, 0, 1);
        assert_int_equal(o1_rq(&s->rq[0])->load[1], expected[k]);
    }
    fake_free(s);
}

static void cpu_load_2_6_11_falls(void **state)
{
    (void)state;
    struct wb_sim *s = one_task("linux-2.6.11");
    fake_ticks(s, 0, 10);
    fake_schedule(s, 0, WB_INTERRUPTIBLE);
    static const uint64_t expected[] = {64, 32, 16, 8, 4, 2, 1, 0};
    for (size_t k = 0; k < WB_ARRAY_SIZE(expected); k++) {
        fake_ticks(s, 0, 1);
        assert_int_equal(o1_rq(&s->rq[0])->load[1], expected[k]);
    }
    fake_free(s);
}

/* Index 2 moves a quarter of the way: (0 * 3 + 128 + 3) / 4 = 32, (32 * 3 + 131) / 4 = 56 ... */
static void cpu_load_2_6_22_by_index(void **state)
{
    (void)state;
    struct wb_sim *s = one_task("linux-2.6.22");
    const uint64_t *load = o1_rq(&s->rq[0])->load;
    fake_ticks(s, 0, 1);
    assert_int_equal(load[0], 128);
    assert_int_equal(load[1], 64);
    assert_int_equal(load[2], 32);
    fake_ticks(s, 0, 1);
    assert_int_equal(load[1], 96);
    assert_int_equal(load[2], 56);
    fake_ticks(s, 0, 1);
    assert_int_equal(load[2], 74); /* (56 * 3 + 131) / 4 */
    fake_ticks(s, 0, 40);
    assert_int_equal(load[2], 128);
    fake_free(s);
}

static void source_is_low_target_is_high(void **state)
{
    (void)state;
    struct wb_sim *s = one_task("linux-2.6.11");
    const struct o1_sim *o = s->policy;
    fake_ticks(s, 0, 2);
    fake_runnable(s, 0, 0);
    assert_int_equal(o1_source_load(o, &s->rq[0], 0), 96);
    assert_int_equal(o1_target_load(o, &s->rq[0], 0), 256);
    fake_free(s);
    s = one_task("linux-2.6.22");
    o = s->policy;
    fake_ticks(s, 0, 2);
    fake_runnable(s, 0, 0);
    assert_int_equal(o1_source_load(o, &s->rq[0], 0), 256); /* type 0: the present load */
    assert_int_equal(o1_source_load(o, &s->rq[0], 2), 96);
    assert_int_equal(o1_source_load(o, &s->rq[0], 3), 56);
    assert_int_equal(o1_target_load(o, &s->rq[0], 1), 256);
    assert_int_equal(o1_load_per_task(&s->rq[0]), 128);
    assert_int_equal(o1_load_per_task(&s->rq[1]), 128);
    fake_free(s);
}

/* 2.6.22 weighs by time slice: nice -20 1024, 0 128, 19 6; the migration thread nothing, real time above all. */
static void weights_2_6_22(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", TIGER, (const char *const[]){"kernel.hz=1000", NULL});
    const struct o1_sim *o = s->policy;
    static const int nice[] = {-20, -1, 0, 1, 19};
    static const uint32_t weight[] = {1024, 537, 128, 121, 6}; /* 8 * 128, 420 * 1.28, 128, 95 * 1.28, 5 * 1.28 */
    for (size_t i = 0; i < WB_ARRAY_SIZE(nice); i++)
        assert_int_equal(o1_weight(o, fake_task(s, 0, nice[i])), weight[i]);
    assert_int_equal(o1_weight(o, s->rq[0].stopper), 0);
    struct wb_task *rt = fake_task_of_class(s, 0, 0, WB_CLASS_FIFO);
    rt->rt_prio = 50;
    assert_int_equal(o1_weight(o, rt), 1024 + 64);
    fake_free(s);
}

/* Closed form: n ticks at once are n ticks. */
static void ticks_at_once(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 80; n++) {
        struct wb_sim *a = one_task("linux-2.6.22"), *b = one_task("linux-2.6.22");
        o1_rq(&a->rq[0])->load[1] = o1_rq(&b->rq[0])->load[1] = 4096;
        for (uint64_t k = 0; k < n; k++) o1_load_ticks(a->policy, &a->rq[0], 1);
        o1_load_ticks(b->policy, &b->rq[0], n);
        for (int i = 0; i < 3; i++) assert_int_equal(o1_rq(&a->rq[0])->load[i], o1_rq(&b->rq[0])->load[i]);
        fake_free(a);
        fake_free(b);
    }
}

/* task_hot compares with the last tick; whoever stopped after it is hot by a negative difference. */
static void hot_is_measured_at_the_last_tick(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.10", TIGER, NULL);
    struct wb_task *p = fake_runnable(s, 0, 0);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), p);
    const struct o1_sim *o = s->policy;
    fake_ticks(s, 0, 3);
    s->now += 300 * WB_US;
    fake_schedule(s, 0, WB_INTERRUPTIBLE);
    s->now += 500 * WB_US;
    assert_true(o1_hot(o, o1_task(p), o1_rq(&s->rq[0]), s->rq[0].sd)); /* no tick since */
    fake_ticks(s, 0, 1);
    assert_false(o1_hot(o, o1_task(p), o1_rq(&s->rq[0]), s->rq[0].sd)); /* 1.5 ms against 2.5 us */
    fake_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_load_2_6_11_rises),
        cmocka_unit_test(cpu_load_2_6_11_falls),
        cmocka_unit_test(cpu_load_2_6_22_by_index),
        cmocka_unit_test(source_is_low_target_is_high),
        cmocka_unit_test(weights_2_6_22),
        cmocka_unit_test(ticks_at_once),
        cmocka_unit_test(hot_is_measured_at_the_last_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
