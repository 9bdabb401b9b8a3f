/* EEVDF: lag, placement, deadlines, protection, delayed dequeue, yield. One CPU unless said: slices of 0.75 ms (6.18:
 * 0.70 ms), ticks of 4 ms. wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fairtest.h"

#define US 1000ll
#define MS 1000000ll
#define EACH_EEVDF(v) for (enum fair_release v = FAIR_6_6; v <= FAIR_6_18; v++)

static struct fair_task *fork_fair(struct wb_sim *s, int nice)
{
    return fair_task(fair_test_fork(s, 0, nice, WB_CLASS_NORMAL));
}

/* A runs alone. */
static struct wb_sim *alone(enum fair_release v, int nice, struct fair_task **a)
{
    struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), NULL);
    *a = fork_fair(s, nice);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), (*a)->t);
    return s;
}

/* A sleeping task with a lag of its own. */
static struct fair_task *sleeper(struct wb_sim *s, int64_t vlag)
{
    struct fair_task *p = fair_task(fake_task(s, 0, 0));
    p->is_new = false;
    p->vlag = vlag;
    return p;
}

static bool wake(struct wb_sim *s, struct fair_task *p, wb_rule *rule)
{
    bool yes = fair_test_wake(s, p->t, 0, rule);
    if (yes) s->rq[0].need_resched = true;
    return yes;
}

static int64_t at(const struct fair_task *p, const struct fair_task *from)
{
    return (int64_t)(p->vruntime - from->vruntime);
}

/* ---- placement ---- */

/* With one other nice-0 task queued lag' = 2 * vlag, so that the lag is true once both are queued. */
static void lag_after_sleep_with_one_other_nice_0_queued_is_twice_vlag(void **state)
{
    (void)state;
    EACH_EEVDF(v)
    {
        struct fair_task *a;
        wb_rule rule;
        struct wb_sim *s = alone(v, 0, &a);
        struct fair_task *b = sleeper(s, -500 * US);
        (void)wake(s, b, &rule);
        assert_int_equal(at(b, a), 2 * 500 * US);
        struct fair_task *c = sleeper(s, 300 * US); /* two queued at +0 and +1000: V = 500; 300 * 3 / 2 behind it */
        (void)wake(s, c, &rule);
        assert_int_equal(at(c, a), (500 - 450) * US);
        fake_free(s);
    }
}

static void inflation_goes_by_weight(void **state)
{
    (void)state;
    struct fair_task *a;
    wb_rule rule;
    struct wb_sim *s = alone(FAIR_6_12, 5, &a);
    struct fair_task *b = sleeper(s, -335 * US);
    (void)wake(s, b, &rule);
    assert_int_equal(at(b, a), (335 + 1024) * US); /* 335 * (335 + 1024) / 335 */
    fake_free(s);
}

static void lag_is_lost_on_an_empty_queue(void **state)
{
    (void)state;
    EACH_EEVDF(v)
    {
        wb_rule rule;
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), NULL);
        struct fair_task *b = sleeper(s, -500 * US);
        (void)wake(s, b, &rule);
        assert_int_equal(b->vruntime, fair_test_rq(s, 0)->min_vruntime);
        assert_int_equal(b->deadline - b->vruntime, v == FAIR_6_18 ? 700 * US : 750 * US);
        fake_free(s);
    }
}

static void place_lag_can_be_off(void **state)
{
    const char *off[] = {"policy.features=[\"NO_PLACE_LAG\"]", NULL};
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_6_12, FAIR_SMP(1), off);
    wb_rule rule;
    struct fair_task *a = fork_fair(s, 0);
    fake_schedule(s, 0, WB_RUNNING);
    struct fair_task *b = sleeper(s, -500 * US);
    (void)wake(s, b, &rule);
    assert_int_equal(at(b, a), 0);
    fake_free(s);
}

/* 6.6 gives it, and overwrites it when the task is queued. */
static void a_new_task_has_half_a_slice_from_6_12_on(void **state)
{
    (void)state;
    EACH_EEVDF(v)
    {
        struct fair_task *a;
        struct wb_sim *s = alone(v, 0, &a);
        struct fair_task *b = fork_fair(s, 0);
        assert_int_equal(at(b, a), 0);
        assert_int_equal(b->deadline - b->vruntime, v == FAIR_6_6 ? 750 * US : v == FAIR_6_12 ? 375 * US : 350 * US);
        fake_free(s);
    }
}

static void deadlines_go_by_weight(void **state)
{
    (void)state;
    struct fair_task *a;
    struct wb_sim *s = alone(FAIR_6_6, 0, &a);
    struct fair_task *b = fork_fair(s, 5);
    assert_int_equal(b->deadline - b->vruntime, 2292537); /* 750 us * 1024 / 335, truncated */
    fake_free(s);
}

/* ---- running ---- */

static void a_request_that_is_used_up_is_renewed(void **state)
{
    (void)state;
    EACH_EEVDF(v)
    {
        struct fair_task *a;
        struct wb_sim *s = alone(v, 0, &a);
        fake_ticks(s, 0, 1);
        assert_int_equal(a->deadline - a->vruntime, v == FAIR_6_18 ? 700 * US : 750 * US);
        assert_false(s->rq[0].need_resched); /* nobody else */
        fork_fair(s, 0);
        fake_ticks(s, 0, 1);
        assert_true(s->rq[0].need_resched);
        fake_free(s);
    }
}

/*
 * Protection is renewed by a real switch only: at the end of its request A goes on, because B is not eligible, and is
 * unprotected then. So a wakee with an earlier deadline preempts it before its second request is over.
 */
static void a_second_request_in_a_row_is_not_protected(void **state)
{
    (void)state;
    EACH_EEVDF(v)
    {
        struct fair_task *a;
        wb_rule rule;
        struct wb_sim *s = alone(v, 0, &a);
        struct fair_task *b = sleeper(s, -3 * MS);
        (void)wake(s, b, &rule);
        assert_int_equal(rule, FAIR_R_EEVDF_INELIGIBLE);
        fake_ticks(s, 0, 1); /* 4 ms: past the request, and still 2 ms behind B */
        assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), a->t);
        /* V is about 5.05 ms: placed at 2.8, due at 3.5; A is due at 4.7 */
        struct fair_task *c = sleeper(s, 1500 * US);
        s->now += 100 * WB_US;
        assert_int_equal(wake(s, c, &rule), v != FAIR_6_18);
        /* 6.18 has asked for rescheduling by itself when A was charged: protection is over. */
        assert_int_equal(rule, v == FAIR_6_18 ? FAIR_R_RESCHED_ALREADY : FAIR_R_EEVDF_PICKED);
        fake_free(s);
    }
}

/* 6.18: min slice of all queued bounds the protected time; without RUN_TO_PARITY the unscaled base slice. */
static void vprot_of_6_18_is_the_shortest_slice(void **state)
{
    (void)state;
    struct fair_task *a;
    struct wb_sim *s = fair_test_new(FAIR_6_18, FAIR_SMP(8), NULL); /* 2.8 ms */
    a = fork_fair(s, 0);
    struct fair_task *b = sleeper(s, -10 * MS);
    wb_rule rule;
    b->custom_slice = true;
    b->slice = 500 * US;
    (void)wake(s, b, &rule);
    fake_schedule(s, 0, WB_RUNNING);
    assert_int_equal(a->vprot - a->vruntime, 500 * US);
    fake_free(s);
    const char *off[] = {"policy.features=[\"NO_RUN_TO_PARITY\"]", NULL};
    s = fair_test_new(FAIR_6_18, FAIR_SMP(8), off);
    a = fork_fair(s, 0);
    a->slice = 2800 * US;
    fake_schedule(s, 0, WB_RUNNING);
    assert_int_equal(a->vprot - a->vruntime, 700 * US);
    fake_free(s);
}

/* A shorter slice breaks the protection (PREEMPT_SHORT, 6.12+), if its task is due. */
static void a_shorter_slice_preempts_from_6_12_on(void **state)
{
    (void)state;
    EACH_EEVDF(v)
    {
        struct fair_task *a;
        wb_rule rule;
        struct wb_sim *s = alone(v, 0, &a);
        struct fair_task *b = sleeper(s, 0);
        b->custom_slice = true;
        b->slice = 200 * US;
        bool yes = wake(s, b, &rule);
        assert_int_equal(yes, v >= FAIR_6_12);
        assert_int_equal(rule, v >= FAIR_6_12 ? FAIR_R_EEVDF_SHORT : FAIR_R_EEVDF_PROTECTED);
        fake_free(s);
    }
}

/* ---- two tasks in turn (ping-pong on one CPU) ---- */

/*
 * A and B in turn: wake the other, work `burst`, sleep. A starts level with B and gets ahead by the burst; B's burst
 * closes the gap. Returns the preemptions by wakeups in `rounds`.
 */
static uint32_t ping_pong(enum fair_release v, sim_time burst, uint32_t rounds, uint32_t *delayed)
{
    struct fair_task *a;
    uint32_t preempted = 0;
    wb_rule rule;
    struct wb_sim *s = alone(v, 0, &a);
    struct fair_task *pair[2] = {a, sleeper(s, 0)};
    for (uint32_t i = 0; i < rounds; i++) {
        struct fair_task *me = pair[i & 1], *other = pair[(i & 1) ^ 1];
        assert_ptr_equal(s->rq[0].curr, me->t);
        preempted += wake(s, other, &rule);
        s->rq[0].need_resched = false;
        s->now += burst;
        assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), other->t);
        *delayed += me->delayed;
    }
    fake_free(s);
    return preempted;
}

static void ping_pong_in_6_6_never_preempts(void **state)
{
    uint32_t delayed = 0;
    (void)state;
    assert_int_equal(ping_pong(FAIR_6_6, 20 * WB_US, 200, &delayed), 0);
    assert_int_equal(delayed, 0);
}

/* A is ahead of the average whenever it sleeps, B never. */
static void ping_pong_from_6_12_on_delays_the_one_that_is_ahead(void **state)
{
    (void)state;
    for (enum fair_release v = FAIR_6_12; v <= FAIR_6_18; v++) {
        uint32_t delayed = 0;
        (void)ping_pong(v, 20 * WB_US, 200, &delayed);
        assert_int_equal(delayed, 100);
    }
}

/* ---- delayed dequeue ---- */

/* A has run `t` longer than B and sleeps: it is ahead of V. */
static struct wb_sim *ahead_and_asleep(enum fair_release v, sim_time t, struct fair_task **a, struct fair_task **b)
{
    struct wb_sim *s = alone(v, 0, a);
    *b = fork_fair(s, 0);
    s->now += t;
    assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), (*b)->t);
    return s;
}

static void who_sleeps_ahead_of_the_average_stays_queued(void **state)
{
    struct fair_task *a, *b;
    (void)state;
    EACH_EEVDF(v)
    {
        struct wb_sim *s = ahead_and_asleep(v, 500 * WB_US, &a, &b);
        const struct fair_rq *r = fair_test_rq(s, 0);
        bool delays = v >= FAIR_6_12;
        assert_int_equal(a->delayed, delays);
        assert_int_equal(a->on_rq, delays);
        assert_int_equal(s->rq[0].nr_running, delays ? 2 : 1);
        assert_int_equal(fair_nr_runnable(fair_test_sim(s), r), v == FAIR_6_12 ? 2 : 1);
        fake_free(s);
    }
}

static void who_sleeps_behind_the_average_goes(void **state)
{
    (void)state;
    EACH_EEVDF(v)
    {
        struct fair_task *a;
        wb_rule rule;
        struct wb_sim *s = alone(v, 0, &a);
        struct fair_task *b = sleeper(s, -2 * MS);
        (void)wake(s, b, &rule);
        s->now += 100 * WB_US;
        fake_schedule(s, 0, WB_INTERRUPTIBLE);
        assert_false(a->on_rq);
        assert_int_equal(a->vlag, 1950 * US); /* B was 4 ms ahead of A; A has run 0.1; a tick of lag may be kept */
        fake_free(s);
    }
}

static void the_dying_are_not_delayed(void **state)
{
    struct fair_task *a;
    (void)state;
    struct wb_sim *s = alone(FAIR_6_18, 0, &a);
    fork_fair(s, 0);
    s->now += 500 * WB_US;
    fake_schedule(s, 0, WB_DEAD);
    assert_false(a->on_rq);
    assert_int_equal(s->rq[0].nr_running, 1);
    fake_free(s);
}

/* V rises while B runs; once A is chosen, it is taken off for good, and a lag that it has won is forfeit. */
static void a_delayed_task_that_is_chosen_leaves(void **state)
{
    struct fair_task *a, *b;
    (void)state;
    struct wb_sim *s = ahead_and_asleep(FAIR_6_12, 500 * WB_US, &a, &b);
    s->now += 3 * WB_MS;
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), b->t);
    assert_false(a->on_rq);
    assert_false(a->delayed);
    assert_int_equal(a->vlag, 0);
    assert_int_equal(s->rq[0].nr_running, 1);
    fake_free(s);
    const char *keep[] = {"policy.features=[\"NO_DELAY_ZERO\"]", NULL};
    s = fair_test_new(FAIR_6_12, FAIR_SMP(1), keep);
    a = fork_fair(s, 0);
    fake_schedule(s, 0, WB_RUNNING);
    b = fork_fair(s, 0);
    s->now += 500 * WB_US;
    fake_schedule(s, 0, WB_INTERRUPTIBLE);
    s->now += 3 * WB_MS;
    fake_schedule(s, 0, WB_RUNNING);
    assert_int_equal(a->vlag, 1250 * US); /* B ran 2.5 ms more: V is half of that ahead of A */
    fake_free(s);
}

static void a_queue_of_delayed_tasks_goes_idle(void **state)
{
    struct fair_task *a, *b;
    (void)state;
    struct wb_sim *s = ahead_and_asleep(FAIR_6_12, 500 * WB_US, &a, &b);
    s->now += 100 * WB_US;
    assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), s->rq[0].idle); /* B is behind: it goes, and A is flushed */
    assert_int_equal(s->rq[0].nr_running, 0);
    assert_false(a->on_rq || b->on_rq);
    fake_free(s);
}

/* Woken in place, on its old CPU, with the debt that is left. */
static void a_delayed_task_that_is_woken_keeps_its_place(void **state)
{
    struct fair_task *a, *b;
    wb_rule rule;
    (void)state;
    EACH_EEVDF(v)
    {
        if (v == FAIR_6_6) continue;
        struct wb_sim *s = ahead_and_asleep(v, 500 * WB_US, &a, &b);
        uint64_t before = a->vruntime;
        s->now += 100 * WB_US;
        assert_false(wake(s, a, &rule));
        assert_int_equal(rule, FAIR_R_EEVDF_INELIGIBLE);
        assert_int_equal(a->vruntime, before);
        assert_false(a->delayed);
        assert_int_equal(fair_test_rq(s, 0)->nr_delayed, 0);
        fake_free(s);
    }
}

/* A sleeps 500 us ahead of B, 250 ahead of V. C comes with 600 us of credit: at -650 us, and V goes back to -50. A
 * would owe 550 now; with policy.delayed_lag = "kept" it owes 250 still: V without A is -325, and -250 * 3 / 2 beyond
 * it is 50. */
static void debts_of_the_delayed_grow_or_are_kept(void **state)
{
    (void)state;
    static const char *const sets[][2] = {
        {NULL, NULL}, {"policy.delayed_lag=grows", NULL}, {"policy.delayed_lag=kept", NULL}};
    for (enum fair_release v = FAIR_6_12; v <= FAIR_6_18; v++) {
        for (int i = 0; i < 3; i++) {
            wb_rule rule;
            struct wb_sim *s = fair_test_new(v, FAIR_SMP(1), sets[i]);
            struct fair_task *a = fork_fair(s, 0);
            assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), a->t);
            struct fair_task *b = fork_fair(s, 0);
            s->now += 500 * WB_US;
            assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), b->t);
            assert_true(a->delayed);
            b->vruntime = a->vruntime - 500 * US;
            b->deadline = b->vruntime + 700 * US;
            a->vlag = -250 * US;
            (void)wake(s, sleeper(s, 600 * US), &rule);
            (void)wake(s, a, &rule);
            assert_int_equal(at(a, b), i == 2 ? 50 * US : 500 * US);
            assert_false(a->delayed);
            assert_int_equal(fair_test_rq(s, 0)->nr, 3);
            fake_free(s);
        }
    }
}

static void a_delayed_task_that_has_won_lag_is_placed_at_the_average(void **state)
{
    struct fair_task *a, *b;
    wb_rule rule;
    (void)state;
    struct wb_sim *s = ahead_and_asleep(FAIR_6_12, 500 * WB_US, &a, &b);
    s->now += 700 * WB_US; /* B is at 700, A at 500: it is owed 100 */
    fair_update_clock(fake_exec(s, 0), &s->rq[0]);
    fair_update_curr(fake_exec(s, 0), &s->rq[0]);
    (void)wake(s, a, &rule);
    assert_int_equal(at(a, b), 0); /* V without A is B's */
    fake_free(s);
}

/* ---- moving, yielding, nice ---- */

/* PLACE_REL_DEADLINE: a task that is moved keeps what is left of its request. */
static void a_moved_task_keeps_its_request(void **state)
{
    (void)state;
    EACH_EEVDF(v)
    {
        struct wb_sim *s = fair_test_new(v, FAIR_SMP(2), NULL);
        struct fair_task *a = fork_fair(s, 0), *b = fork_fair(s, 0),
                         *c = fair_task(fair_test_fork(s, 1, 0, WB_CLASS_NORMAL));
        fake_schedule(s, 0, WB_RUNNING);
        fake_schedule(s, 1, WB_RUNNING);
        struct fair_task *moved = a->t == s->rq[0].curr ? b : a;
        moved->deadline = moved->vruntime + 111 * US;
        fair_tree_del(fair_test_sim(s), fair_test_rq(s, 0), moved);
        fair_tree_add(fair_test_sim(s), fair_test_rq(s, 0), moved);
        struct wb_balance bal = {.kind = WB_BAL_NEWIDLE, .src = 0, .dst = 1};
        wb_move_task(fake_exec(s, 1), &bal, moved->t, 0);
        int64_t left = (int64_t)(moved->deadline - moved->vruntime);
        assert_int_equal(left, v >= FAIR_6_12 ? 111 * US : (int64_t)fair_test_sim(s)->base_slice);
        assert_int_equal(at(moved, c), 0); /* no lag on either side */
        fake_free(s);
    }
}

static void yield_gives_up_the_request_and_from_6_18_on_the_lag(void **state)
{
    (void)state;
    EACH_EEVDF(v)
    {
        struct fair_task *a;
        struct wb_sim *s = alone(v, 0, &a);
        fork_fair(s, 0);
        uint64_t vruntime = a->vruntime, deadline = a->deadline, slice = fair_test_sim(s)->base_slice;
        s->ops->yield(fake_exec(s, 0), &s->rq[0]);
        assert_int_equal(a->deadline, deadline + slice);
        assert_int_equal(a->vruntime, v == FAIR_6_18 ? deadline : vruntime);
        fake_free(s);
    }
}

static void nice_keeps_lag_and_request_in_real_time(void **state)
{
    (void)state;
    struct fair_task *a;
    wb_rule rule;
    struct wb_sim *s = alone(FAIR_6_12, 0, &a);
    struct fair_task *b = sleeper(s, -1024 * US);
    (void)wake(s, b, &rule);
    uint64_t request = b->deadline - b->vruntime;
    b->t->nice = 5;
    s->ops->task_changed(fake_exec(s, 0), b->t);
    assert_int_equal(b->weight.value, 335);
    /* V was at +1024; b was 1024 ahead of it and is now 1024 * 1024 / 335. */
    assert_near((double)at(b, a), 1024e3 + 1024e3 * 1024 / 335, 4);
    assert_near((double)(b->deadline - b->vruntime), (double)request * 1024 / 335, 4);
    assert_int_equal(fair_test_rq(s, 0)->load.value, 1024 + 335);
    fake_free(s);
}

/* ---- lazy preemption ---- */

static void lazy_requests_wait_for_the_tick(void **state)
{
    const char *lazy[] = {"policy.preempt_lazy=true", NULL};
    (void)state;
    struct wb_sim *s = fair_test_new(FAIR_6_18, FAIR_SMP(1), lazy);
    wb_rule rule;
    struct fair_task *a = fork_fair(s, 0);
    fake_schedule(s, 0, WB_RUNNING);
    s->now += 900 * WB_US; /* past its request, and ahead once somebody else is there */
    struct fair_task *b = sleeper(s, 0);
    assert_false(wake(s, b, &rule));
    assert_true(s->rq[0].need_resched_lazy);
    assert_false(s->rq[0].need_resched);
    fake_ticks(s, 0, 1);
    assert_true(s->rq[0].need_resched);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), b->t);
    assert_false(s->rq[0].need_resched_lazy);
    (void)a;
    fake_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lag_after_sleep_with_one_other_nice_0_queued_is_twice_vlag),
        cmocka_unit_test(inflation_goes_by_weight),
        cmocka_unit_test(lag_is_lost_on_an_empty_queue),
        cmocka_unit_test(place_lag_can_be_off),
        cmocka_unit_test(a_new_task_has_half_a_slice_from_6_12_on),
        cmocka_unit_test(deadlines_go_by_weight),
        cmocka_unit_test(a_request_that_is_used_up_is_renewed),
        cmocka_unit_test(a_second_request_in_a_row_is_not_protected),
        cmocka_unit_test(vprot_of_6_18_is_the_shortest_slice),
        cmocka_unit_test(a_shorter_slice_preempts_from_6_12_on),
        cmocka_unit_test(ping_pong_in_6_6_never_preempts),
        cmocka_unit_test(ping_pong_from_6_12_on_delays_the_one_that_is_ahead),
        cmocka_unit_test(who_sleeps_ahead_of_the_average_stays_queued),
        cmocka_unit_test(who_sleeps_behind_the_average_goes),
        cmocka_unit_test(the_dying_are_not_delayed),
        cmocka_unit_test(a_delayed_task_that_is_chosen_leaves),
        cmocka_unit_test(a_queue_of_delayed_tasks_goes_idle),
        cmocka_unit_test(a_delayed_task_that_is_woken_keeps_its_place),
        cmocka_unit_test(debts_of_the_delayed_grow_or_are_kept),
        cmocka_unit_test(a_delayed_task_that_has_won_lag_is_placed_at_the_average),
        cmocka_unit_test(a_moved_task_keeps_its_request),
        cmocka_unit_test(yield_gives_up_the_request_and_from_6_18_on_the_lag),
        cmocka_unit_test(nice_keeps_lag_and_request_in_real_time),
        cmocka_unit_test(lazy_requests_wait_for_the_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
