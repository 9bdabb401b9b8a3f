/* The first CFS, 2.6.23: what tasks are owed, keys, granularities, sleepers. One CPU: latency and limit 20 ms,
 * granularity 2 ms. wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fairtest.h"

#define US 1000ll
#define MS 1000000ll

static struct fair_task *fork_fair(struct wb_sim *s, int nice)
{
    return fair_task(fair_test_fork(s, 0, nice, WB_CLASS_NORMAL));
}

/* n tasks of nice 0, owed nothing, keys at the fair clock; the first one runs. */
static struct wb_sim *level(int n, const char *const *sets, struct fair_task **p)
{
    struct wb_sim *s = fair_test_new(FAIR_2_6_23, FAIR_SMP(1), sets);
    for (int i = 0; i < n; i++) p[i] = fork_fair(s, 0);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), p[0]->t);
    for (int i = 0; i < n; i++) p[i]->wait_runtime = 0;
    return s;
}

static void charge(struct wb_sim *s)
{
    fair_update_clock(fake_exec(s, 0), &s->rq[0]);
    fair_update_curr(fake_exec(s, 0), &s->rq[0]);
}

/* Two tasks: 4 ms of running are 2 ms of fair time; who ran is owed 2 ms less, who waited 2 ms more. */
static void running_costs_and_waiting_earns(void **state)
{
    struct fair_task *p[2];
    (void)state;
    struct wb_sim *s = level(2, NULL, p);
    struct fair_rq *r = fair_test_rq(s, 0);
    uint64_t before = r->fair_clock;
    s->now += 4 * WB_MS;
    charge(s);
    assert_near((double)(r->fair_clock - before), 2e6, 2e3);
    assert_near((double)p[0]->wait_runtime, -2e6, 2e3);
    p[0]->vruntime += 1; /* so that the other is left of it */
    fair_tree_del(fair_test_sim(s), r, p[0]);
    fair_tree_add(fair_test_sim(s), r, p[0]);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), p[1]->t);
    assert_near((double)p[1]->wait_runtime, 2e6, 2e3);
    fake_free(s);
}

static void the_sum_is_nothing(void **state)
{
    struct fair_task *p[5];
    (void)state;
    struct wb_sim *s = level(5, NULL, p);
    for (int i = 0; i < 500; i++) {
        fake_ticks(s, 0, 1);
        if (s->rq[0].need_resched) fake_schedule(s, 0, WB_RUNNING);
    }
    double sum = 0;
    for (int i = 0; i < 5; i++) {
        sum += (double)p[i]->wait_runtime;
        if (p[i]->waits) sum += (double)(fair_test_rq(s, 0)->fair_clock - p[i]->wait_start);
    }
    assert_near(sum, 0, 4e6); /* 2 s of running: the rounding of the weight's inverse */
    fake_free(s);
}

static void what_is_owed_is_limited(void **state)
{
    struct fair_task *p[2];
    (void)state;
    struct wb_sim *s = level(2, NULL, p);
    s->now += 100 * WB_MS;
    charge(s);
    assert_int_equal(p[0]->wait_runtime, -20 * MS);
    p[0]->vruntime += 1;
    fair_tree_del(fair_test_sim(s), fair_test_rq(s, 0), p[0]);
    fair_tree_add(fair_test_sim(s), fair_test_rq(s, 0), p[0]);
    fake_schedule(s, 0, WB_RUNNING);
    assert_int_equal(p[1]->wait_runtime, 20 * MS);
    fake_free(s);
}

/* Keys at nice levels: own time to fair time by the weight's inverse. */
static void keys_go_by_weight(void **state)
{
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_2_6_23, FAIR_SMP(1), NULL);
    struct fair_rq *r = fair_test_rq(s, 0);
    struct fair_task *p = fair_task(fake_task(s, 0, 5)), *n = fair_task(fake_task(s, 0, 0));
    p->is_new = n->is_new = false;
    p->wait_runtime = 1 * MS;
    n->wait_runtime = -3 * MS;
    fake_enqueue(s, p->t, 0);
    fake_enqueue(s, n->t, 0);
    assert_near((double)(r->fair_clock - p->vruntime), 1e6 * 1024 / 335, 2);
    assert_int_equal(n->vruntime - r->fair_clock, 3 * MS);
    fake_free(s);
}

/* Asleep for t of fair time: owed as much, twice the limit at most and never more than the limit in all; the bonus
 * counts what was given. */
static void sleepers_are_owed_their_sleep(void **state)
{
    struct fair_task *p[2];
    wb_rule rule;
    (void)state;
    struct wb_sim *s = level(2, NULL, p);
    struct fair_rq *r = fair_test_rq(s, 0);
    fake_schedule(s, 0, WB_INTERRUPTIBLE);
    s->now += 3 * WB_MS; /* p[1] runs alone: fair time is real time */
    (void)fair_test_wake(s, p[0]->t, 0, &rule);
    assert_near((double)p[0]->wait_runtime, 3e6, 3e3);
    assert_near((double)r->sleeper_bonus, 3e6, 3e3);
    assert_int_equal((int64_t)(r->fair_clock - p[0]->vruntime), p[0]->wait_runtime);
    assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), p[0]->t);
    fake_free(s);
}

static void fair_sleepers_can_be_off_and_batch_tasks_get_none(void **state)
{
    const char *off[] = {"policy.features=[\"NO_FAIR_SLEEPERS\"]", NULL};
    (void)state;
    for (int batch = 0; batch < 2; batch++) {
        struct fair_task *p[2];
        wb_rule rule;
        struct wb_sim *s = level(2, batch ? NULL : off, p);
        if (batch) p[0]->t->klass = WB_CLASS_BATCH;
        fake_schedule(s, 0, WB_INTERRUPTIBLE);
        s->now += 3 * WB_MS;
        (void)fair_test_wake(s, p[0]->t, 0, &rule);
        assert_int_equal(p[0]->wait_runtime, 0);
        fake_free(s);
    }
}

/* The bonus that sleepers got is taken from those who run, once it passes min_granularity. */
static void the_bonus_is_paid_back_by_who_runs(void **state)
{
    struct fair_task *p[2];
    (void)state;
    struct wb_sim *s = level(2, NULL, p);
    struct fair_rq *r = fair_test_rq(s, 0);
    r->sleeper_bonus = 5 * MS;
    s->now += 4 * WB_MS; /* entitled to 2 ms, all of it taken */
    charge(s);
    assert_near((double)r->sleeper_bonus, 3e6, 2e3);
    assert_near((double)p[0]->wait_runtime, -4e6, 2e3);
    fake_free(s);
}

/* Ticks of 1 ms until the running one of n is asked to go, all level at the start: granularity latency/n -
 * latency/n^2, at least 2 ms, until it has run latency/n. */
static uint32_t ticks_to_resched(int n)
{
    const char *sets[] = {"kernel.hz=1000", NULL};
    struct fair_task *p[16];
    struct wb_sim *s = level(n, sets, p);
    struct fair_rq *r = fair_test_rq(s, 0);
    for (int i = 0; i < n; i++) {
        fair_tree_del(fair_test_sim(s), r, p[i]);
        p[i]->vruntime = r->fair_clock;
        fair_tree_add(fair_test_sim(s), r, p[i]);
    }
    uint32_t ticks = 0;
    while (!s->rq[0].need_resched && ticks < 100) {
        fake_ticks(s, 0, 1);
        ticks++;
    }
    fake_free(s);
    return ticks;
}

static void slices_follow_the_granularity(void **state)
{
    (void)state;
    /* 2: granularity 5 ms. The key moves fair + owed = t / 2 + t / 2 = t to the right: past 5 ms at 6. */
    assert_int_equal(ticks_to_resched(2), 6);
    /* 4: 20/4 - 20/16 = 3.75 ms: at 4. */
    assert_int_equal(ticks_to_resched(4), 4);
    /* 16: 20/16 - 20/256 = 1.2, so 2 ms: past it at 3; latency/n = 1.25, at least 2 ms: "longer than 2" at 3 as
     * well. */
    assert_int_equal(ticks_to_resched(16), 3);
    assert_int_equal(ticks_to_resched(1), 100);
}

/* The child's key lies a granularity left of its parent's: it preempts; a thread of the same address space does not. */
static void a_child_runs_first_a_thread_does_not(void **state)
{
    (void)state;
    for (int thread = 0; thread < 2; thread++) {
        struct fair_task *p[1];
        wb_rule rule;
        struct wb_sim *s = level(1, NULL, p);
        struct fair_task *c = fair_task(fake_task(s, 0, 0));
        if (thread) c->t->mm = p[0]->t->mm;
        s->ops->fork(fake_exec(s, 0), p[0]->t, c->t);
        fake_enqueue(s, c->t, WB_ENQ_NEW);
        bool yes = s->ops->check_preempt(fake_exec(s, 0), &s->rq[0], c->t, WB_WF_FORK, &rule);
        assert_int_equal(yes, !thread);
        assert_int_equal(rule, thread ? FAIR_R_KEY_NEAR : FAIR_R_CHILD_FIRST);
        if (!thread) assert_int_equal(c->wait_runtime, -10 * MS); /* half of the granularity of one task, 20 ms */
        fake_free(s);
    }
}

static void yield_refreshes_the_key_only(void **state)
{
    struct fair_task *p[2];
    (void)state;
    struct wb_sim *s = level(2, NULL, p);
    struct fair_rq *r = fair_test_rq(s, 0);
    s->now += 1 * WB_MS;
    s->ops->yield(fake_exec(s, 0), &s->rq[0]);
    assert_int_equal((int64_t)(r->fair_clock - p[0]->vruntime), p[0]->wait_runtime);
    assert_true(p[0]->in_tree);
    fake_free(s);
}

/* With stat_granularity little times are kept back until they add up. */
static void stat_granularity_holds_small_times_back(void **state)
{
    const char *sets[] = {"policy.stat_granularity=1 ms", NULL};
    struct fair_task *p[2];
    (void)state;
    struct wb_sim *s = level(2, sets, p);
    s->now += 900 * WB_US;
    charge(s);
    assert_int_equal(p[0]->wait_runtime, 0);
    s->now += 200 * WB_US;
    charge(s);
    assert_near((double)p[0]->wait_runtime, -550e3, 1e3);
    fake_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_costs_and_waiting_earns),
        cmocka_unit_test(the_sum_is_nothing),
        cmocka_unit_test(what_is_owed_is_limited),
        cmocka_unit_test(keys_go_by_weight),
        cmocka_unit_test(sleepers_are_owed_their_sleep),
        cmocka_unit_test(fair_sleepers_can_be_off_and_batch_tasks_get_none),
        cmocka_unit_test(the_bonus_is_paid_back_by_who_runs),
        cmocka_unit_test(slices_follow_the_granularity),
        cmocka_unit_test(a_child_runs_first_a_thread_does_not),
        cmocka_unit_test(yield_refreshes_the_key_only),
        cmocka_unit_test(stat_granularity_holds_small_times_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
