/* Ticks: in closed form as if run, when an idle CPU stops them, lazy requests, real-time tasks.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fairtest.h"

/* Busy for a while, then idle. */
static struct wb_sim *gone_idle(enum fair_release v)
{
    struct wb_sim *s = fair_test_new(v, FAIR_SMP(2), NULL);
    fair_test_fork(s, 0, 0, WB_CLASS_NORMAL);
    fair_test_fork(s, 0, 0, WB_CLASS_NORMAL);
    fake_schedule(s, 0, WB_RUNNING);
    fake_ticks(s, 0, 50);
    fake_schedule(s, 0, WB_INTERRUPTIBLE);
    fake_schedule(s, 0, WB_INTERRUPTIBLE);
    while (s->rq[0].curr != s->rq[0].idle) fake_schedule(s, 0, WB_INTERRUPTIBLE);
    fake_ticks(s, 0, 1);
    return s;
}

static void skipped_ticks_leave_what_run_ones_do(void **state)
{
    static const uint32_t counts[] = {1, 2, 7, 40, 1000};
    (void)state;
    for (enum fair_release v = 0; v < FAIR_RELEASES; v++) {
        for (size_t i = 0; i < WB_ARRAY_SIZE(counts); i++) {
            struct wb_sim *run = gone_idle(v), *skip = gone_idle(v);
            fake_ticks(run, 0, counts[i]);
            skip->now += counts[i] * wb_tick_ps(skip);
            skip->ops->tick_closed(skip, &skip->rq[0], counts[i], skip->now);
            const struct fair_rq *a = fair_test_rq(run, 0), *b = fair_test_rq(skip, 0);
            assert_memory_equal(a->cpu_load, b->cpu_load, sizeof a->cpu_load);
            assert_int_equal(a->clock, b->clock);
            assert_int_equal(a->tick_jiffies, b->tick_jiffies);
            assert_int_equal(a->load_jiffies, b->load_jiffies);
            assert_int_equal(a->idle_at_tick, b->idle_at_tick);
            assert_memory_equal(&a->avg, &b->avg, sizeof a->avg);
            /* The next measured load of 2.6.23 starts from the same place. */
            assert_int_equal(a->load_exec_start, b->load_exec_start);
            assert_int_equal(a->load_stamp, b->load_stamp);
            fake_free(run);
            fake_free(skip);
        }
    }
}

static void ticks_of_busy_cpus_are_run(void **state)
{
    (void)state;
    for (enum fair_release v = 0; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = gone_idle(v);
        fair_test_fork(s, 0, 0, WB_CLASS_NORMAL);
        assert_int_equal(s->ops->tick_idle_for(s, &s->rq[0]), 0); /* about to run */
        fake_schedule(s, 0, WB_RUNNING);
        assert_int_equal(s->ops->tick_idle_for(s, &s->rq[0]), 0);
        fake_free(s);
    }
}

/* 2.6.23 x86_64 has no NO_HZ. Up to 2.6.36 the tick stops at once, later once it has come in vain. */
static void idle_cpus_stop_their_ticks(void **state)
{
    (void)state;
    for (enum fair_release v = 0; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(2), NULL);
        struct wb_rq *rq = &s->rq[1];
        fair_test_fork(s, 0, 0, WB_CLASS_NORMAL); /* somebody is busy */
        fake_schedule(s, 0, WB_RUNNING);
        bool at_once = s->ops->idle_enter(fake_exec(s, 1), rq);
        fake_ticks(s, 1, 1);
        bool after = s->ops->idle_enter(fake_exec(s, 1), rq);
        if (v == FAIR_2_6_23) assert_false(at_once || after);
        if (v >= FAIR_5_4) assert_true(!at_once && after);
        fake_free(s);
    }
}

static void a_period_of_work_forgets_the_idle_tick(void **state)
{
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_6_12, FAIR_SMP(1), NULL);
    fake_ticks(s, 0, 1);
    assert_true(fair_test_rq(s, 0)->ticked_idle);
    s->ops->switched(fake_exec(s, 0), &s->rq[0], s->rq[0].idle, fair_test_fork(s, 0, 0, WB_CLASS_NORMAL));
    assert_false(fair_test_rq(s, 0)->ticked_idle);
    fake_free(s);
}

/* The migration thread runs before all, a SCHED_FIFO task before fair ones, both in order of arrival within a
 * priority. */
static void real_time_tasks_run_first(void **state)
{
    (void)state;
    for (enum fair_release v = 0; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), NULL);
        struct wb_task *fair = fair_test_fork(s, 0, 0, WB_CLASS_NORMAL),
                       *low = fake_task_of_class(s, 0, 0, WB_CLASS_FIFO),
                       *high = fake_task_of_class(s, 0, 0, WB_CLASS_FIFO), *stop = s->rq[0].stopper;
        low->rt_prio = 1;
        high->rt_prio = 50;
        assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), fair);
        fake_enqueue(s, low, WB_ENQ_WAKEUP);
        fake_enqueue(s, high, WB_ENQ_WAKEUP);
        assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), high);
        fake_enqueue(s, stop, WB_ENQ_WAKEUP);
        assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), stop);
        assert_int_equal(s->rq[0].nr_running, 4);
        assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), high);
        assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), low);
        assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), fair);
        assert_int_equal(s->rq[0].nr_running, 1);
        fake_free(s);
    }
}

static void states_can_be_described(void **state)
{
    (void)state;
    for (enum fair_release v = 0; v < FAIR_RELEASES; v++) {
        char text[200] = "";
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), NULL);
        struct wb_task *t = fair_test_fork(s, 0, 0, WB_CLASS_NORMAL);
        s->ops->describe(s, &s->rq[0], t, text, sizeof text);
        assert_non_null(strstr(text, "queued, weight 1024"));
        s->ops->describe(s, &s->rq[0], NULL, text, sizeof text);
        assert_non_null(strstr(text, "1 running, 1 fair"));
        s->ops->describe(s, &s->rq[0], s->rq[0].stopper, text, sizeof text);
        assert_non_null(strstr(text, "real time"));
        fake_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipped_ticks_leave_what_run_ones_do),
        cmocka_unit_test(ticks_of_busy_cpus_are_run),
        cmocka_unit_test(idle_cpus_stop_their_ticks),
        cmocka_unit_test(a_period_of_work_forgets_the_idle_tick),
        cmocka_unit_test(real_time_tasks_run_first),
        cmocka_unit_test(states_can_be_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
