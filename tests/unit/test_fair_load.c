/* Loads: cpu_load[5] of 2.6.23 .. 2.6.36, PELT of tasks and queues, utilisation estimates, average idle time.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fairtest.h"

#define MS 1000000ull

static struct fair_task *fork_fair(struct wb_sim *s, cpu_id cpu, int nice)
{
    return fair_task(fair_test_fork(s, cpu, nice, WB_CLASS_NORMAL));
}

static void bring_up_to_date(struct wb_sim *s, cpu_id cpu)
{
    struct wb_exec *x = fake_exec(s, cpu);
    fair_update_clock(x, &s->rq[cpu]);
    fair_update_curr(x, &s->rq[cpu]);
    fair_update_load(fair_test_sim(s), fair_test_rq(s, cpu), fair_test_rq(s, cpu)->curr);
}

/* ---- cpu_load ---- */

/* From 0 to one nice-0 task: index i moves 1/2^i of the way a tick and rounds up (2.6.24 and later). */
static void cpu_load_follows_at_five_speeds(void **state)
{
    static const uint64_t want[3][5] = {
        {1024, 512, 256, 128, 64}, {1024, 768, 448, 240, 124}, {1024, 896, 592, 338, 181}};
    (void)state;
    for (enum fair_release v = FAIR_2_6_24; v <= FAIR_2_6_36; v++) {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), NULL);
        fork_fair(s, 0, 0);
        fake_schedule(s, 0, WB_RUNNING);
        for (int k = 0; k < 3; k++) {
            fake_ticks(s, 0, 1);
            for (int i = 0; i < 5; i++) assert_int_equal(fair_test_rq(s, 0)->cpu_load[i], want[k][i]);
        }
        fake_ticks(s, 0, 200);
        for (int i = 0; i < 5; i++) assert_int_equal(fair_test_rq(s, 0)->cpu_load[i], 1024);
        fake_free(s);
    }
}

/* One nice-0 task that runs half of each tick. */
static uint64_t half_busy(enum fair_release v)
{
    wb_rule rule;
    struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), NULL);
    struct fair_task *p = fork_fair(s, 0, 0);
    for (int i = 0; i < 100; i++) {
        fake_schedule(s, 0, WB_RUNNING);
        s->now += wb_tick_ps(s) / 2;
        fake_schedule(s, 0, WB_INTERRUPTIBLE);
        s->now += wb_tick_ps(s) / 2;
        s->ops->tick(fake_exec_irq(s, 0, WB_LEVEL_HARDIRQ), &s->rq[0]);
        (void)fair_test_wake(s, p->t, 0, &rule);
    }
    uint64_t load = fair_test_rq(s, 0)->cpu_load[0];
    fake_free(s);
    return load;
}

static void a_half_busy_cpu_shows_512_in_2_6_23_and_nothing_in_2_6_24(void **state)
{
    (void)state;
    assert_near((double)half_busy(FAIR_2_6_23), 512, 3);
    assert_int_equal(half_busy(FAIR_2_6_24), 0); /* idle whenever the tick looks */
}

static void queued_weight_is_sampled_without_precise_cpu_load(void **state)
{
    const char *off[] = {"policy.features=[\"NO_PRECISE_CPU_LOAD\"]", NULL};
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_2_6_23, FAIR_SMP(1), off);
    fork_fair(s, 0, 0);
    fork_fair(s, 0, 0);
    fake_schedule(s, 0, WB_RUNNING);
    fake_ticks(s, 0, 1);
    assert_int_equal(fair_test_rq(s, 0)->cpu_load[0], 2048);
    assert_int_equal(fair_test_rq(s, 0)->cpu_load[2], 512); /* 2048 / 4, no rounding up */
    fake_free(s);
}

/* 2.6.36: ticks that were left out while idle are made up for, once a jiffy. (7/8)^16 of 1024 = 121; the table gives
 * 121. */
static void missed_ticks_decay_in_2_6_36(void **state)
{
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_2_6_36, FAIR_SMP(1), NULL);
    struct fair_rq *r = fair_test_rq(s, 0);
    fork_fair(s, 0, 0);
    fake_schedule(s, 0, WB_RUNNING);
    fake_ticks(s, 0, 300);
    fake_schedule(s, 0, WB_INTERRUPTIBLE);
    s->now += 15 * wb_tick_ps(s);
    fake_ticks(s, 0, 1);
    assert_int_equal(r->cpu_load[0], 0);
    assert_near((double)r->cpu_load[3], 1024 * 0.118, 8);
    assert_near((double)r->cpu_load[4], 1024 * 0.356, 8);
    uint64_t before = r->cpu_load[4];
    s->ops->tick(fake_exec_irq(s, 0, WB_LEVEL_HARDIRQ), &s->rq[0]); /* the same jiffy */
    assert_int_equal(r->cpu_load[4], before);
    s->now += 200 * wb_tick_ps(s);
    fake_ticks(s, 0, 1);
    assert_int_equal(r->cpu_load[4], 0);
    fake_free(s);
}

static void source_is_careful_about_taking_target_about_giving(void **state)
{
    const char *off[] = {"policy.features=[\"NO_LB_BIAS\"]", NULL};
    (void)state;
    for (int bias = 0; bias < 2; bias++) {
        struct wb_sim *s = fair_test_new(FAIR_2_6_36, FAIR_SMP(1), bias ? NULL : off);
        const struct fair_sim *f = fair_test_sim(s);
        struct fair_rq *r = fair_test_rq(s, 0);
        fork_fair(s, 0, 0);
        r->cpu_load[2] = 300;
        assert_int_equal(fair_source_load(f, r, 0), 1024);
        assert_int_equal(fair_source_load(f, r, 3), bias ? 300 : 1024);
        assert_int_equal(fair_target_load(f, r, 3), 1024);
        r->cpu_load[2] = 3000;
        assert_int_equal(fair_source_load(f, r, 3), 1024);
        assert_int_equal(fair_target_load(f, r, 3), bias ? 3000 : 1024);
        fake_free(s);
    }
}

/* ---- PELT ---- */

/* A task that runs continuously from utilisation 0: 512 after 32.8 ms. */
static void pelt_util_of_a_task_that_runs_32_8_ms_is_512(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_4; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), NULL);
        struct fair_task *p = fork_fair(s, 0, 0);
        fake_schedule(s, 0, WB_RUNNING);
        p->avg.util_avg = p->avg.util_sum = 0;
        s->now += 32768 * 1024 * WB_NS;
        bring_up_to_date(s, 0);
        assert_near((double)p->avg.util_avg, 512, 2);
        fake_free(s);
    }
}

static void two_that_always_run_make_2048(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_4; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), NULL);
        fork_fair(s, 0, 0);
        fork_fair(s, 0, 0);
        fake_schedule(s, 0, WB_RUNNING);
        for (int i = 0; i < 250; i++) {
            fake_ticks(s, 0, 1);
            if (s->rq[0].need_resched) fake_schedule(s, 0, WB_RUNNING);
        }
        const struct fair_rq *r = fair_test_rq(s, 0);
        assert_near((double)fair_cpu_load(fair_test_sim(s), r), 2048, 8);
        assert_near((double)r->avg.load_avg, 2048, 8);
        assert_near((double)r->avg.util_avg, 1024, 4);
        if (v >= FAIR_5_15) assert_near((double)fair_cpu_runnable(r), 2048, 8);
        assert_near((double)r->head->avg.util_avg, 512, 60);
        fake_free(s);
    }
}

/* A sleeper's load stays and decays; in 5.4 what balancing reads leaves with it at once. */
static void blocked_load_stays_and_decays(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_4; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), NULL);
        const struct fair_sim *f = fair_test_sim(s);
        fork_fair(s, 0, 0);
        fake_schedule(s, 0, WB_RUNNING);
        fake_ticks(s, 0, 250);
        assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), s->rq[0].idle);
        assert_near((double)fair_cpu_load(f, fair_test_rq(s, 0)), v == FAIR_5_4 ? 0 : 1024, 8);
        s->now += 32768 * 1024 * WB_NS;
        assert_true(fair_update_blocked(fake_exec(s, 0), &s->rq[0]));
        assert_near((double)fair_test_rq(s, 0)->avg.load_avg, 512, 8);
        assert_near((double)fair_cpu_util(f, fair_test_rq(s, 0)), 512, 8);
        s->now += 3 * WB_S;
        assert_false(fair_update_blocked(fake_exec(s, 0), &s->rq[0]));
        fake_free(s);
    }
}

/* A wakeup elsewhere takes the load along; the old queue gives it up at its next update. */
static void load_goes_with_a_wakeup_elsewhere(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_5_4; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(2), NULL);
        struct fair_task *p = fork_fair(s, 0, 0);
        fake_schedule(s, 0, WB_RUNNING);
        fake_ticks(s, 0, 250);
        fake_schedule(s, 0, WB_INTERRUPTIBLE);
        s->ops->migrate(fake_exec(s, 1), p->t, 0, 1);
        p->t->cpu = 1;
        fake_enqueue(s, p->t, WB_ENQ_WAKEUP | WB_ENQ_MIGRATED);
        assert_near((double)fair_test_rq(s, 1)->avg.load_avg, 1024, 8);
        assert_near((double)fair_test_rq(s, 0)->avg.load_avg, 1024, 8);
        (void)fair_update_blocked(fake_exec(s, 0), &s->rq[0]);
        assert_near((double)fair_test_rq(s, 0)->avg.load_avg, 0, 8);
        assert_near((double)fair_test_rq(s, 0)->avg.util_avg, 0, 8);
        fake_free(s);
    }
}

/* Queues are the sum of their tasks, whatever happens: random runs, sleeps, wakeups, moves on two CPUs. */
static void a_queue_is_the_sum_of_its_tasks(void **state)
{
    enum { TASKS = 6 };
    (void)state;
    for (enum fair_release v = FAIR_5_4; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(2), NULL);
        struct fair_task *p[TASKS];
        uint64_t r = 99;
        for (int i = 0; i < TASKS; i++) p[i] = fork_fair(s, (cpu_id)i & 1, i - 3);
        for (int step = 0; step < 3000; step++) {
            wb_rule rule;
            r = r * 6364136223846793005ull + 1442695040888963407ull;
            cpu_id cpu = r >> 40 & 1;
            struct fair_task *q = p[(r >> 50) % TASKS];
            s->now += (r >> 33) % (5 * WB_MS);
            fake_schedule(s, cpu, r >> 45 & 1 ? WB_RUNNING : WB_INTERRUPTIBLE);
            if (q->t->state == WB_INTERRUPTIBLE && !q->t->on_rq && r >> 47 & 1) {
                s->ops->migrate(fake_exec(s, cpu), q->t, q->t->cpu, q->t->cpu ^ 1);
                q->t->cpu ^= 1;
            }
            if (q->t->state == WB_INTERRUPTIBLE) (void)fair_test_wake(s, q->t, 0, &rule);
            if (q->t->on_rq && !q->t->on_cpu && q != fair_test_rq(s, q->t->cpu)->curr && !(r >> 60)) {
                struct wb_balance b = {.src = q->t->cpu, .dst = q->t->cpu ^ 1};
                wb_move_task(fake_exec(s, b.dst), &b, q->t, 0);
            }
        }
        for (cpu_id c = 0; c < 2; c++) {
            double load = 0, util = 0, runnable = 0;
            bring_up_to_date(s, c);
            for (int i = 0; i < TASKS; i++) {
                if (p[i]->t->cpu != c || !p[i]->attached) continue;
                fair_update_load(fair_test_sim(s), fair_test_rq(s, c), p[i]);
                load += (double)p[i]->avg.load_avg;
                util += (double)p[i]->avg.util_avg;
                runnable += (double)p[i]->avg.runnable_avg;
            }
            const struct fair_rq *q = fair_test_rq(s, c);
            assert_near((double)q->avg.load_avg, load, 12);
            assert_near((double)q->avg.util_avg, util, 12);
            if (v == FAIR_6_12) /* the queue counts delayed sleepers, they do not (76f2f783294d, 6.13) */
                assert_true((double)q->avg.runnable_avg >= runnable - 12);
            else if (v >= FAIR_5_15)
                assert_near((double)q->avg.runnable_avg, runnable, 12);
        }
        fake_free(s);
    }
}

static void a_new_task_starts_with_full_load(void **state)
{
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_6_12, FAIR_SMP(1), NULL);
    struct fair_task *p = fork_fair(s, 0, 5);
    assert_near((double)fair_task_h_load(p), 335, 1);
    assert_int_equal(p->avg.util_avg, 512); /* half of what is left of an empty CPU */
    struct fair_task *q = fork_fair(s, 0, 0);
    assert_in_range(q->avg.util_avg, 250, 256); /* half of the rest */
    fake_free(s);
}

/* ---- utilisation estimates ---- */

static void util_est_remembers_what_a_task_used(void **state)
{
    wb_rule rule;
    (void)state;
    for (enum fair_release v = FAIR_5_4; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), NULL);
        const struct fair_sim *f = fair_test_sim(s);
        struct fair_task *p = fork_fair(s, 0, 0);
        fake_schedule(s, 0, WB_RUNNING);
        fake_ticks(s, 0, 100);
        fake_schedule(s, 0, WB_INTERRUPTIBLE);
        assert_int_equal(fair_test_rq(s, 0)->util_est, 0);
        s->now += 100 * WB_MS;
        (void)fair_test_wake(s, p->t, 0, &rule);
        assert_true(p->avg.util_avg < 200);
        assert_near((double)fair_task_util_est(f, p), 1024, 8); /* three half-lives later */
        assert_near((double)fair_cpu_util(f, fair_test_rq(s, 0)), 1024, 8);
        assert_near((double)fair_cpu_util_without(f, fair_test_rq(s, 0), p), 0, 8);
        fake_free(s);
    }
}

/* ---- average idle time ---- */

static void avg_idle_moves_an_eighth_of_the_way_and_is_capped(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_2_6_35; v < FAIR_RELEASES; v++) {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), NULL);
        struct fair_rq *r = fair_test_rq(s, 0);
        struct fair_task *p = fair_task(fake_task(s, 0, 0));
        p->is_new = false;
        assert_int_equal(r->avg_idle, MS);
        s->now = 10 * WB_MS;
        r->idle_stamp = 10 * MS - 200000;
        fake_enqueue(s, p->t, WB_ENQ_WAKEUP);
        assert_int_equal(r->avg_idle, 900000); /* 1 ms + (0.2 - 1) / 8 */
        assert_int_equal(r->idle_stamp, 0);
        fake_schedule(s, 0, WB_RUNNING);
        fake_schedule(s, 0, WB_INTERRUPTIBLE);
        r->idle_stamp = 1;
        fake_enqueue(s, p->t, WB_ENQ_WAKEUP);
        assert_int_equal(r->avg_idle, MS);
        fake_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_load_follows_at_five_speeds),
        cmocka_unit_test(a_half_busy_cpu_shows_512_in_2_6_23_and_nothing_in_2_6_24),
        cmocka_unit_test(queued_weight_is_sampled_without_precise_cpu_load),
        cmocka_unit_test(missed_ticks_decay_in_2_6_36),
        cmocka_unit_test(source_is_careful_about_taking_target_about_giving),
        cmocka_unit_test(pelt_util_of_a_task_that_runs_32_8_ms_is_512),
        cmocka_unit_test(two_that_always_run_make_2048),
        cmocka_unit_test(blocked_load_stays_and_decays),
        cmocka_unit_test(load_goes_with_a_wakeup_elsewhere),
        cmocka_unit_test(a_queue_is_the_sum_of_its_tasks),
        cmocka_unit_test(a_new_task_starts_with_full_load),
        cmocka_unit_test(util_est_remembers_what_a_task_used),
        cmocka_unit_test(avg_idle_moves_an_eighth_of_the_way_and_is_capped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
