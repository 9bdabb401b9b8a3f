/* 4BSD: who is told of a wakeup, who takes whom from the common queue, and the arithmetic of priorities.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "bsd.h"
#include "fakekernel.h"

#define FOUR "topology = \"pack:2 core:2 pu:1\";" /* 0 and 1 near, 2 and 3 far */

/* of a CPU: a task in user mode, in the kernel, in the kernel after a sleep */
enum state { IDLE, USER, KERNEL, BETTER };

static struct wb_task *occupy(struct wb_sim *s, cpu_id cpu, enum state st)
{
    if (st == IDLE) return NULL;
    struct wb_task *t = fake_task(s, cpu, 0);
    if (st == BETTER) bsd_lend(bsd_task(t), 1);
    fake_enqueue(s, t, WB_ENQ_NEW);
    assert_ptr_equal(fake_schedule(s, cpu, WB_RUNNING), t);
    t->x.user = st == USER;
    return t;
}

/* Somebody who slept on CPU `last` wakes up on CPU 0. */
struct row {
    const char *kernel;
    enum state cpu[4];
    cpu_id last;
    cpu_id only; /* allowed there only, or WB_NO_CPU */
    wb_rule why;
    bool here;    /* CPU 0 is asked to reschedule */
    cpu_id noted; /* an idle CPU that notices, or WB_NO_CPU */
};
#define ANY WB_NO_CPU
#define NOBODY WB_NO_CPU

static const struct row rows[] = {
    /* 4.x: idle CPUs poll; the nearest sees it first, wherever the task was; the waker's task is preempted as well,
     * though it has slept in this call itself: it is compared by its user priority */
    {"freebsd-4.7", {USER, IDLE, IDLE, IDLE}, 1, ANY, BSD4_R_PREEMPT, true, 1},
    {"freebsd-4.7", {KERNEL, IDLE, IDLE, IDLE}, 1, ANY, BSD4_R_PREEMPT, true, 1},
    {"freebsd-4.7", {BETTER, IDLE, IDLE, IDLE}, 1, ANY, BSD4_R_PREEMPT, true, 1},
    {"freebsd-4.7", {BETTER, IDLE, IDLE, IDLE}, 0, ANY, BSD4_R_PREEMPT, true, 1},
    {"freebsd-4.7", {BETTER, IDLE, IDLE, IDLE}, 3, ANY, BSD4_R_PREEMPT, true, 1},
    {"freebsd-4.7", {BETTER, USER, IDLE, IDLE}, 1, ANY, BSD4_R_PREEMPT, true, 2},
    {"freebsd-4.7", {BETTER, USER, USER, IDLE}, 1, ANY, BSD4_R_PREEMPT, true, 3},
    {"freebsd-4.7", {BETTER, USER, USER, USER}, 1, ANY, BSD4_R_PREEMPT, true, NOBODY},
    {"freebsd-4.7", {USER, USER, USER, USER}, 3, ANY, BSD4_R_PREEMPT, true, NOBODY},
    {"freebsd-4.7", {BETTER, IDLE, IDLE, IDLE}, 3, 3, BSD4_R_POLLED, false, 3},
    {"freebsd-4.7", {USER, USER, IDLE, USER}, 3, 3, BSD4_R_NOT_HERE, false, NOBODY},
    {"freebsd-4.7", {IDLE, IDLE, IDLE, IDLE}, 3, ANY, BSD4_R_CPU_IDLE, true, NOBODY}, /* by an interrupt */
    /* 5.2.1: idle CPUs halt, and nobody tells them */
    {"freebsd-5.2", {USER, IDLE, IDLE, IDLE}, 1, ANY, BSD4_R_PREEMPT, true, NOBODY},
    {"freebsd-5.2", {KERNEL, IDLE, IDLE, IDLE}, 1, ANY, BSD4_R_PREEMPT, true, NOBODY},
    {"freebsd-5.2", {BETTER, IDLE, IDLE, IDLE}, 1, ANY, BSD4_R_UNTOLD, false, NOBODY},
    {"freebsd-5.2", {BETTER, IDLE, IDLE, IDLE}, 0, ANY, BSD4_R_UNTOLD, false, NOBODY},
    {"freebsd-5.2", {BETTER, USER, IDLE, IDLE}, 1, ANY, BSD4_R_UNTOLD, false, NOBODY},
    {"freebsd-5.2", {BETTER, USER, USER, USER}, 1, ANY, BSD4_R_WAITS, false, NOBODY}, /* though CPU 1 runs user code */
    {"freebsd-5.2", {USER, USER, USER, USER}, 2, ANY, BSD4_R_PREEMPT, true, NOBODY},
    {"freebsd-5.2", {USER, IDLE, IDLE, IDLE}, 1, 1, BSD4_R_UNTOLD, false, NOBODY},
    {"freebsd-5.2", {USER, USER, USER, USER}, 1, 1, BSD4_R_NOT_HERE, false, NOBODY},
    {"freebsd-5.2", {IDLE, USER, USER, USER}, 1, ANY, BSD4_R_CPU_IDLE, true, NOBODY},
};

static void check_row(const struct row *r)
{
    struct wb_sim *s = fake_new(&bsd4_policy, r->kernel, FOUR, NULL);
    uint64_t word = 1ull << (r->only & 63);
    struct wb_cpumask one = {.ncpus = 4, .nwords = 1, .w = &word};
    for (cpu_id c = 0; c < 4; c++) (void)occupy(s, c, r->cpu[c]);
    struct wb_task *t = fake_task(s, r->last, 0);
    if (r->only != ANY) t->allowed = &one;
    bsd_lend(bsd_task(t), bsd4_of(&t->x)->sleep_prio);
    wb_rule why;
    struct wb_choice c = fake_wake(s, t, 0, 0, &why);
    assert_int_equal(c.cpu, r->last);
    assert_int_equal(c.rule, BSD4_R_STAYS);
    if (why != r->why) fail_msg("row %td: %s, expected %s", r - rows, bsd4_rules[why], bsd4_rules[r->why]);
    for (cpu_id i = 0; i < 4; i++) {
        bool told = i == 0 ? r->here : i == r->noted;
        if (s->rq[i].need_resched != told) fail_msg("row %td: cpu %u was%s told", r - rows, i, told ? " not" : "");
    }
    fake_free(s);
}

static void who_is_told(void **state)
{
    (void)state;
    assert_true(WB_ARRAY_SIZE(rows) >= 20);
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) check_row(&rows[i]);
}

static void with_an_interrupt_for_each_wakeup_they_are_told(void **state)
{
    (void)state;
    static const char *const sets[] = {"policy.wake_ipi=true", NULL};
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-5.2", FOUR, sets);
    (void)occupy(s, 0, BETTER);
    wb_rule why;
    (void)fake_wake(s, fake_task(s, 3, 0), 0, 0, &why);
    assert_int_equal(why, BSD4_R_POLLED);
    assert_true(s->rq[1].need_resched);
    fake_free(s);
}

/* ---- the queue ---- */

static void affinity_is_4x_only(void **state)
{
    (void)state;
    static const char *const kernel[] = {"freebsd-4.7", "freebsd-5.2"};
    for (int v = 0; v < 2; v++) {
        struct wb_sim *s = fake_new(&bsd4_policy, kernel[v], FOUR, NULL);
        struct wb_task *a = fake_runnable(s, 0, 0), *b = fake_runnable(s, 2, 0);
        assert_int_equal(s->rq[2].nr_running, 1);
        struct wb_task *next = fake_schedule(s, 2, WB_RUNNING);
        assert_ptr_equal(next, v ? a : b); /* 4.x: who ran here last; 5.2.1: the head */
        assert_int_equal(next->cpu, 2);
        assert_int_equal(s->rq[0].nr_running + s->rq[2].nr_running, 2);
        assert_int_equal(s->moves, v);
        fake_free(s);
    }
}

static void best_list_beats_affinity(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-4.7", FOUR, NULL);
    (void)fake_runnable(s, 2, 10); /* 2 * 10 / 4 = 5 lists worse */
    struct wb_task *far = fake_runnable(s, 0, 0);
    assert_ptr_equal(fake_schedule(s, 2, WB_RUNNING), far);
    fake_free(s);
}

static void who_is_not_allowed_is_passed_over(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-5.2", FOUR, NULL);
    uint64_t word = 1;
    struct wb_cpumask zero = {.ncpus = 4, .nwords = 1, .w = &word};
    struct wb_task *a = fake_task(s, 0, 0), *b;
    a->allowed = &zero;
    fake_enqueue(s, a, WB_ENQ_WAKEUP);
    assert_ptr_equal(fake_schedule(s, 2, WB_RUNNING), s->rq[2].idle);
    b = fake_runnable(s, 1, 19);
    assert_ptr_equal(fake_schedule(s, 2, WB_RUNNING), b);
    fake_free(s);
}

static void preempted_goes_to_the_tail(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-5.2", FOUR, NULL);
    struct wb_task *a = fake_runnable(s, 0, 0), *b = fake_runnable(s, 0, 0);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), a);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), b);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), a);
    assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), b);
    assert_int_equal(s->rq[0].nr_running, 1);
    fake_free(s);
}

static void round_robin_every_100_ms(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-5.2", FOUR, NULL);
    (void)fake_runnable(s, 1, 0);
    (void)fake_schedule(s, 1, WB_RUNNING);
    fake_ticks(s, 1, 9);
    assert_false(s->rq[1].need_resched);
    fake_ticks(s, 1, 1); /* 10 ticks of HZ 100 */
    assert_true(s->rq[1].need_resched);
    fake_free(s);
}

static void an_idle_cpu_sees_work_at_its_tick(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-5.2", FOUR, NULL);
    fake_ticks(s, 3, 1);
    assert_false(s->rq[3].need_resched);
    (void)fake_runnable(s, 0, 0);
    fake_ticks(s, 3, 1);
    assert_true(s->rq[3].need_resched);
    fake_free(s);
}

/* ---- priorities ---- */

static void lent_priority_ends_with_the_system_call(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-4.7", FOUR, NULL);
    struct wb_task *t = fake_runnable(s, 0, 0);
    (void)fake_schedule(s, 0, WB_RUNNING);
    assert_int_equal(bsd_prio(bsd_task(t)), 50);
    (void)fake_schedule(s, 0, WB_INTERRUPTIBLE);
    fake_enqueue(s, t, WB_ENQ_WAKEUP);
    assert_int_equal(bsd_prio(bsd_task(t)), 16); /* PRIBIO */
    t->nr_returns++;
    assert_int_equal(bsd_prio(bsd_task(t)), 50); /* also in its next system call */
    fake_free(s);
}

static void priority_of_use_and_nice(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        int nice;
        uint32_t estcpu;
        uint8_t prio;
    } table[] = {
        {"freebsd-4.7", 0, 0, 50},      {"freebsd-4.7", 0, 7, 50},    {"freebsd-4.7", 0, 8, 51},
        {"freebsd-4.7", 0, 295, 86},    {"freebsd-4.7", 10, 0, 70},   {"freebsd-4.7", -20, 0, 10},
        {"freebsd-4.7", 20, 295, 126},  {"freebsd-5.2", 0, 0, 180},   {"freebsd-5.2", 0, 31, 180},
        {"freebsd-5.2", 0, 32, 181},    {"freebsd-5.2", -20, 0, 160}, {"freebsd-5.2", 20, 0, 200},
        {"freebsd-5.2", 20, 1183, 223}, /* 236, cut to PRI_MAX_TIMESHARE */
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = fake_new(&bsd4_policy, table[i].kernel, FOUR, NULL);
        struct wb_task *t = fake_task(s, 0, table[i].nice);
        bsd_task(t)->estcpu = table[i].estcpu;
        bsd4_reset_prio(wb_policy_data(s), bsd_task(t));
        assert_int_equal(bsd_task(t)->user_prio, table[i].prio);
        fake_free(s);
    }
}

/* 128 ticks of stathz in a second; the limit is 8 * 36 + 7 = 295 in 4.x. */
static void a_second_of_running(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-4.7", FOUR, NULL);
    struct wb_task *t = fake_runnable(s, 1, 0);
    (void)fake_schedule(s, 1, WB_RUNNING);
    fake_ticks(s, 1, 100);
    assert_int_equal(bsd_task(t)->estcpu, 128);
    assert_int_equal(bsd_task(t)->user_prio, 66);
    fake_ticks(s, 1, 200);
    assert_int_equal(bsd_task(t)->estcpu, 295);
    fake_free(s);
}

/* Load 1: 2/3 a second, "90 % forgotten in 5.68 s"; load 0 forgets at once. */
static void decay_by_load(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-4.7", FOUR, NULL);
    struct bsd4_sim *o = wb_policy_data(s);
    assert_int_equal(bsd4_decay(o, 300), 0);
    o->ldavg = BSD_FSCALE;
    assert_int_equal(bsd4_decay(o, 300), 200);
    o->ldavg = 4 * BSD_FSCALE;
    assert_int_equal(bsd4_decay(o, 270), 240);
    assert_int_equal(bsd4_load_step(0, 1), 2048 - 1884);
    assert_int_equal(bsd4_load_step(2048, 1), 2048);
    fake_free(s);
}

static void long_sleep_is_made_up_for(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-4.7", FOUR, NULL);
    struct bsd4_sim *o = wb_policy_data(s);
    struct wb_task *t = fake_task(s, 0, 0);
    struct bsd_task *p = bsd_task(t);
    o->ldavg = BSD_FSCALE;
    p->estcpu = 243;
    p->slptime = 4; /* decremented, then --slptime while it lasts: 2 decays */
    fake_enqueue(s, t, WB_ENQ_WAKEUP);
    assert_int_equal(p->estcpu, 108);
    assert_int_equal(p->user_prio, 50 + 13);
    assert_int_equal(p->slptime, 0);
    fake_free(s);
}

static void schedcpu_requeues(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-4.7", FOUR, NULL);
    struct bsd4_sim *o = wb_policy_data(s);
    struct wb_task *a = fake_task(s, 1, 0);
    o->ldavg = BSD_FSCALE;
    bsd_task(a)->estcpu = 240;
    bsd4_reset_prio(o, bsd_task(a));
    fake_enqueue(s, a, WB_ENQ_NEW);
    assert_int_equal(bsd_task(a)->list, 32 + 80 / 4);
    fake_ticks(s, 0, 100);
    assert_int_equal(bsd_task(a)->estcpu, 160);
    assert_int_equal(bsd_task(a)->list, 32 + 70 / 4);
    fake_free(s);
}

/* 4.x asks by priority differences of four and more, not by lists, and by class first; 5.2.1 by what both have now. */
static void who_is_better(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        uint8_t mine, its, its_lent; /* user priorities; what a sleep has lent the running task, or 0 */
        bool better;
    } table[] = {
        {"freebsd-4.7", 50, 53, 0, false},    {"freebsd-4.7", 51, 54, 0, false}, /* of different lists */
        {"freebsd-4.7", 50, 54, 0, true},     {"freebsd-4.7", 52, 55, 0, false},  {"freebsd-4.7", 46, 50, 16, true},
        {"freebsd-4.7", 60, 50, 0, false},    {"freebsd-5.2", 180, 181, 0, true}, {"freebsd-5.2", 180, 180, 0, false},
        {"freebsd-5.2", 160, 180, 76, false},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = fake_new(&bsd4_policy, table[i].kernel, FOUR, NULL);
        const struct bsd4_sim *o = wb_policy_data(s);
        struct wb_task *curr = occupy(s, 0, KERNEL), *t = fake_task(s, 1, 0);
        bsd_task(curr)->user_prio = table[i].its;
        bsd_task(t)->user_prio = table[i].mine;
        if (table[i].its_lent) bsd_lend(bsd_task(curr), table[i].its_lent);
        if (bsd4_better(o, bsd_task(t), &s->rq[0]) != table[i].better) fail_msg("row %zu", i);
        fake_free(s);
    }
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-4.7", FOUR, NULL);
    (void)occupy(s, 0, KERNEL);
    struct wb_task *rt = fake_task_of_class(s, 1, 0, WB_CLASS_FIFO), *idle = fake_task_of_class(s, 1, 0, WB_CLASS_IDLE);
    assert_true(bsd4_better(wb_policy_data(s), bsd_task(rt), &s->rq[0]));
    bsd_task(idle)->user_prio = 0;
    assert_false(bsd4_better(wb_policy_data(s), bsd_task(idle), &s->rq[0]));
    fake_free(s);
}

/* Once a second. 4.x asks even sleepers of the last two seconds whether they are better than who runs there: their
 * sleep's priority is. 5.2.1: the callout's thread has preempted who ran there, whoever waits. */
static void schedcpu_makes_room(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        bool sleeper;
        uint32_t slptime;
        bool told;
    } table[] = {{"freebsd-4.7", false, 0, false},
                 {"freebsd-4.7", true, 0, true},
                 {"freebsd-4.7", true, 1, false},
                 {"freebsd-5.2", false, 0, true},
                 {"freebsd-5.2", true, 0, true}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s =
            fake_new(&bsd4_policy, table[i].kernel, FOUR, (const char *const[]){"policy.quantum=10 s", NULL});
        (void)occupy(s, 0, USER);
        struct wb_task *t = fake_runnable(s, 1, 0);
        (void)fake_schedule(s, 1, WB_RUNNING);
        if (table[i].sleeper) (void)fake_schedule(s, 1, WB_INTERRUPTIBLE);
        bsd_task(t)->slptime = table[i].slptime;
        bsd_task(t)->estcpu = 290; /* no better in user mode */
        bsd4_reset_prio(wb_policy_data(s), bsd_task(t));
        fake_ticks(s, 0, 99);
        assert_false(s->rq[0].need_resched);
        fake_ticks(s, 0, 1);
        if (s->rq[0].need_resched != table[i].told) fail_msg("row %zu", i);
        fake_free(s);
    }
}

/* A task that sleeps when the second ends but ran in it is awake in 5.2.1, and asleep for a second in 4.x. */
static void who_ran_is_awake_in_5_2_1(void **state)
{
    (void)state;
    static const char *const kernel[] = {"freebsd-4.7", "freebsd-5.2"};
    for (uint32_t v = 0; v < 2; v++) {
        struct wb_sim *s = fake_new(&bsd4_policy, kernel[v], FOUR, NULL);
        struct wb_task *t = fake_runnable(s, 1, 0);
        (void)fake_schedule(s, 1, WB_RUNNING);
        (void)fake_schedule(s, 1, WB_INTERRUPTIBLE);
        for (uint32_t second = 1; second <= 3; second++) {
            fake_ticks(s, 0, 100);
            assert_int_equal(bsd_task(t)->slptime, second - v);
        }
        fake_free(s);
    }
}

/* donice(), sched_nice(): the user priority at once, the place in the queue at the end of the second. */
static void nice_waits_for_the_second(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-5.2", FOUR, NULL);
    struct wb_task *t = fake_runnable(s, 1, 0);
    uint32_t before = bsd_task(t)->list;
    t->nice = 10;
    s->ops->task_changed(fake_exec(s, 0), t);
    assert_int_equal(bsd_task(t)->user_prio, 190);
    assert_int_equal(bsd_task(t)->list, before);
    fake_ticks(s, 0, 100);
    assert_int_equal(bsd_task(t)->list, 190 / 4);
    fake_free(s);
}

/* loadav() comes every four to six seconds, by chance: exp(-5/60) of the old each time. */
static void load_average_every_five_seconds_or_so(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&bsd4_policy, "freebsd-5.2", FOUR, NULL);
    struct bsd4_sim *o = wb_policy_data(s);
    (void)fake_runnable(s, 1, 0);
    fake_ticks(s, 0, 499);
    assert_int_equal(o->ldavg, 0);
    fake_ticks(s, 0, 1);
    uint64_t least = UINT64_MAX, most = 0;
    for (int i = 0; i < 40; i++) {
        uint64_t gap = o->loadav_at - s->rq[0].ticks;
        least = WB_MIN(least, gap);
        most = gap > most ? gap : most;
        assert_true(gap >= 400 && gap <= 600);
        uint32_t old = o->ldavg;
        fake_ticks(s, 0, (uint32_t)gap);
        assert_int_equal(o->ldavg, bsd4_load_step(old, 1));
    }
    assert_true(least < 450 && most > 550);
    fake_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_told),
        cmocka_unit_test(with_an_interrupt_for_each_wakeup_they_are_told),
        cmocka_unit_test(affinity_is_4x_only),
        cmocka_unit_test(best_list_beats_affinity),
        cmocka_unit_test(who_is_not_allowed_is_passed_over),
        cmocka_unit_test(preempted_goes_to_the_tail),
        cmocka_unit_test(round_robin_every_100_ms),
        cmocka_unit_test(an_idle_cpu_sees_work_at_its_tick),
        cmocka_unit_test(lent_priority_ends_with_the_system_call),
        cmocka_unit_test(priority_of_use_and_nice),
        cmocka_unit_test(a_second_of_running),
        cmocka_unit_test(decay_by_load),
        cmocka_unit_test(long_sleep_is_made_up_for),
        cmocka_unit_test(schedcpu_requeues),
        cmocka_unit_test(who_is_better),
        cmocka_unit_test(schedcpu_makes_room),
        cmocka_unit_test(who_ran_is_awake_in_5_2_1),
        cmocka_unit_test(nice_waits_for_the_second),
        cmocka_unit_test(load_average_every_five_seconds_or_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
