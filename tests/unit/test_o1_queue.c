/* Arrays, picking, expiry, yielding, birth and end of tasks.
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
#define MS 1000000ull

static struct wb_sim *make(const char *kernel)
{
    return fake_new(&o1_policy, kernel, TIGER, HZ1000);
}

static void equal_tasks_run_in_order(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *a = fake_runnable(s, 0, 0), *b = fake_runnable(s, 0, 0), *c = fake_runnable(s, 0, -1);
    assert_int_equal(s->rq[0].nr_running, 3);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), c);
    assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), a);
    assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), b);
    assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), s->rq[0].idle);
    assert_int_equal(s->rq[0].nr_running, 0);
    fake_free(s);
}

/* Slices used up: a hog goes to the expired array, and comes back when the active one is empty. */
static void expired_tasks_wait_for_the_exchange(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *a = fake_runnable(s, 0, 0), *b = fake_runnable(s, 0, 0);
    o1_task(a)->sleep_avg = o1_task(b)->sleep_avg = 0;
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), a);
    fake_ticks(s, 0, 99);
    assert_false(s->rq[0].need_resched);
    fake_ticks(s, 0, 1);
    assert_true(s->rq[0].need_resched);
    assert_ptr_equal(o1_task(a)->array, o1_rq(&s->rq[0])->expired);
    assert_int_equal(o1_task(a)->time_slice, 100);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), b);
    assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), a);
    assert_ptr_equal(o1_task(a)->array, o1_rq(&s->rq[0])->active);
    assert_int_equal(o1_rq(&s->rq[0])->best_expired_prio, O1_PRIOS);
    fake_free(s);
}

/* An interactive task is put back into the active array, until somebody starves: 1000 ticks times two tasks, and
 * one. */
static void interactive_tasks_stay_active_until_others_starve(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *p = fake_runnable(s, 0, 0), *hog = fake_runnable(s, 0, 0);
    o1_task(p)->sleep_avg = 1000 * MS;
    o1_task(p)->time_slice = 1;
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), p);
    fake_ticks(s, 0, 1);
    assert_ptr_equal(o1_task(p)->array, o1_rq(&s->rq[0])->active);
    o1_array_del(o1_task(hog)->array, o1_task(hog));
    o1_array_add(o1_rq(&s->rq[0])->expired, o1_task(hog));
    o1_rq(&s->rq[0])->expired_since = wb_jiffies(s);
    s->now += 2000 * WB_MS;
    o1_task(p)->time_slice = 1;
    fake_ticks(s, 0, 1); /* 2001 ticks: now it is expired too */
    assert_ptr_equal(o1_task(p)->array, o1_rq(&s->rq[0])->expired);
    fake_free(s);
}

static void more_important_expired_tasks_starve_at_once(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *p = fake_runnable(s, 0, 5);
    o1_task(p)->sleep_avg = 1000 * MS;
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), p);
    o1_rq(&s->rq[0])->best_expired_prio = 120;
    o1_task(p)->time_slice = 1;
    fake_ticks(s, 0, 1);
    assert_ptr_equal(o1_task(p)->array, o1_rq(&s->rq[0])->expired);
    fake_free(s);
}

/* 2.6.11, four CPUs, top bonus: turns every 10 * 4 ticks while 40 are left. */
static void interactive_equals_take_turns(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *a = fake_task(s, 0, 0), *b = fake_task(s, 0, 0);
    o1_task(a)->sleep_avg = o1_task(b)->sleep_avg = 1000 * MS;
    fake_enqueue(s, a, WB_ENQ_WAKEUP);
    fake_enqueue(s, b, WB_ENQ_WAKEUP);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), a);
    fake_ticks(s, 0, 39);
    assert_false(s->rq[0].need_resched);
    fake_ticks(s, 0, 1);
    assert_true(s->rq[0].need_resched);
    assert_int_equal(o1_task(a)->time_slice, 60);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), b);
    fake_free(s);
}

static void yield_goes_to_the_expired_array(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *a = fake_runnable(s, 0, -5), *b = fake_runnable(s, 0, 10);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), a);
    o1_policy.yield(fake_exec(s, 0), &s->rq[0]);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), b);
    fake_free(s);
}

/* Waiting after a wakeup: 30 % (38/128) counts as sleep, all of it when an interrupt woke. */
static void queue_wait_counts_as_sleep(void **state)
{
    (void)state;
    static const uint64_t gain[] = {100 * MS * 38 / 128, 100 * MS};
    for (int irq = 0; irq < 2; irq++) {
        struct wb_sim *s = make("linux-2.6.22"); /* no multiplier */
        struct wb_task *p = fake_task(s, 0, 0);
        o1_task(p)->sleep_avg = 100 * MS;
        o1_task(p)->timestamp = s->now / WB_NS;
        o1_policy.enqueue(fake_exec_irq(s, 0, irq ? WB_LEVEL_HARDIRQ : WB_LEVEL_TASK), &s->rq[0], p, WB_ENQ_WAKEUP);
        s->now += 100 * WB_MS;
        assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), p);
        assert_int_equal(o1_task(p)->sleep_avg, 100 * MS + gain[irq]);
        assert_int_equal(o1_task(p)->sleep, O1_SLEEP_NORMAL);
        fake_free(s);
    }
}

/* put_prev and pick both see the task that stops: it pays once. */
static void run_time_is_charged_once(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *p = fake_runnable(s, 0, 0);
    fake_schedule(s, 0, WB_RUNNING);
    o1_task(p)->sleep_avg = 1000 * MS;
    s->now += 100 * WB_MS;
    fake_schedule(s, 0, WB_INTERRUPTIBLE);
    assert_int_equal(o1_task(p)->sleep_avg, 990 * MS);
    s->now += 100 * WB_MS;
    fake_schedule(s, 0, WB_RUNNING);
    assert_int_equal(o1_task(p)->sleep_avg, 990 * MS);
    fake_free(s);
}

static void uninterruptible_and_noninteractive_sleeps_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        enum wb_task_state state;
        bool noninteractive;
        enum o1_sleep sleep;
    } table[] = {
        {"linux-2.6.11", WB_UNINTERRUPTIBLE, false, O1_SLEEP_NONINTERACTIVE},
        {"linux-2.6.11", WB_INTERRUPTIBLE, true, O1_SLEEP_NORMAL}, /* TASK_NONINTERACTIVE came with 2.6.14 */
        {"linux-2.6.22", WB_INTERRUPTIBLE, true, O1_SLEEP_NONINTERACTIVE},
        {"linux-2.6.22", WB_INTERRUPTIBLE, false, O1_SLEEP_NORMAL},
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = make(table[i].kernel);
        struct wb_task *p = fake_runnable(s, 0, 0);
        fake_schedule(s, 0, WB_RUNNING);
        p->noninteractive = table[i].noninteractive;
        fake_schedule(s, 0, table[i].state);
        assert_int_equal(o1_task(p)->sleep, table[i].sleep);
        fake_free(s);
    }
}

/* ---- fork, exit, nice ---- */

static struct wb_task *fork_one(struct wb_sim *s, struct wb_task *parent, bool thread, wb_rule *rule)
{
    struct wb_task *c = fake_task(s, parent->cpu, parent->nice);
    struct wb_exec *x = fake_exec(s, parent->cpu);
    if (thread) c->mm = parent->mm;
    o1_policy.fork(x, parent, c);
    assert_int_equal(o1_policy.place_fork(x, c).cpu, parent->cpu);
    o1_policy.enqueue(x, &s->rq[parent->cpu], c, WB_ENQ_NEW);
    c->on_rq = true;
    c->state = WB_RUNNING;
    if (o1_policy.check_preempt(x, &s->rq[parent->cpu], c, WB_WF_FORK, rule)) wb_resched(x, &s->rq[parent->cpu]);
    return c;
}

static void forked_child_runs_first_and_splits_the_slice(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *parent = fake_runnable(s, 0, 0), *other = fake_runnable(s, 0, 1);
    wb_rule rule;
    fake_schedule(s, 0, WB_RUNNING);
    o1_task(parent)->time_slice = 51;
    struct wb_task *child = fork_one(s, parent, false, &rule);
    assert_int_equal(rule, O1_R_CHILD_FIRST);
    assert_int_equal(o1_task(child)->time_slice, 26);
    assert_int_equal(o1_task(parent)->time_slice, 25);
    assert_true(s->rq[0].need_resched);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), child);
    assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), parent);
    assert_ptr_equal(fake_schedule(s, 0, WB_INTERRUPTIBLE), other);
    fake_free(s);
}

static void new_thread_runs_last(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *parent = fake_runnable(s, 0, 0);
    wb_rule rule;
    o1_task(parent)->sleep_avg = 0; /* lowest bonus: the child has the same priority */
    o1_task(parent)->prio = 125;
    fake_schedule(s, 0, WB_RUNNING);
    struct wb_task *child = fork_one(s, parent, true, &rule);
    assert_int_equal(rule, O1_R_CHILD_LAST);
    assert_false(s->rq[0].need_resched);
    assert_int_equal(s->rq[0].nr_running, 2);
    assert_non_null(o1_task(child)->array);
    fake_free(s);
}

/* 95 % of a bonus of 10 is 9. */
static void child_pays_the_penalty(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *parent = fake_runnable(s, 0, 0);
    wb_rule rule;
    o1_task(parent)->sleep_avg = 1000 * MS;
    fake_schedule(s, 0, WB_RUNNING);
    struct wb_task *child = fork_one(s, parent, true, &rule);
    assert_int_equal(o1_bonus(s->policy, o1_task(child)), 9);
    assert_int_equal(o1_bonus(s->policy, o1_task(parent)), 10);
    assert_int_equal(o1_bonus(s->policy, o1_task(fake_task(s, 0, 0))), 9); /* from outside: as from a shell */
    fake_free(s);
}

static void last_tick_is_used_up_by_forking(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *parent = fake_runnable(s, 0, 0);
    fake_schedule(s, 0, WB_RUNNING);
    o1_task(parent)->sleep_avg = 0;
    o1_task(parent)->time_slice = 1;
    struct wb_task *c = fake_task(s, 0, 0);
    o1_policy.fork(fake_exec(s, 0), parent, c);
    assert_int_equal(o1_task(c)->time_slice, 1);
    assert_int_equal(o1_task(parent)->time_slice, 100);
    assert_ptr_equal(o1_task(parent)->array, o1_rq(&s->rq[0])->expired);
    fake_free(s);
}

static void unused_first_slice_goes_back(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *parent = fake_runnable(s, 0, 0);
    wb_rule rule;
    fake_schedule(s, 0, WB_RUNNING);
    o1_task(parent)->time_slice = 60;
    o1_task(parent)->sleep_avg = 1000 * MS;
    struct wb_task *child = fork_one(s, parent, true, &rule);
    o1_task(child)->sleep_avg = 200 * MS;
    o1_policy.exit(fake_exec(s, 0), child);
    assert_int_equal(o1_task(parent)->time_slice, 60);
    assert_int_equal(o1_task(parent)->sleep_avg, 800 * MS); /* 3/4 * 1000 + 1/4 * 200 */
    fake_free(s);
}

static void nice_moves_a_queued_task(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.22");
    struct wb_task *a = fake_runnable(s, 0, 0), *b = fake_runnable(s, 0, 0);
    fake_schedule(s, 0, WB_RUNNING);
    b->nice = -10;
    o1_policy.task_changed(fake_exec(s, 0), b);
    assert_true(s->rq[0].need_resched);
    assert_int_equal(o1_rq(&s->rq[0])->weight, o1_task(a)->weight + 768);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), b);
    fake_free(s);
}

static void state_can_be_described(void **state)
{
    (void)state;
    struct wb_sim *s = make("linux-2.6.11");
    struct wb_task *a = fake_runnable(s, 0, 0);
    char buf[160];
    o1_policy.describe(s, &s->rq[0], a, buf, sizeof buf);
    assert_string_equal(buf, "prio 116 (static 120), bonus 9 interactive, slice 100 of 100 ticks, active array");
    o1_policy.describe(s, &s->rq[0], NULL, buf, sizeof buf);
    assert_string_equal(buf, "1 running, 1 active, 0 expired, cpu_load 0 0 0");
    fake_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_tasks_run_in_order),
        cmocka_unit_test(expired_tasks_wait_for_the_exchange),
        cmocka_unit_test(interactive_tasks_stay_active_until_others_starve),
        cmocka_unit_test(more_important_expired_tasks_starve_at_once),
        cmocka_unit_test(interactive_equals_take_turns),
        cmocka_unit_test(yield_goes_to_the_expired_array),
        cmocka_unit_test(queue_wait_counts_as_sleep),
        cmocka_unit_test(run_time_is_charged_once),
        cmocka_unit_test(uninterruptible_and_noninteractive_sleeps_are_told_apart),
        cmocka_unit_test(forked_child_runs_first_and_splits_the_slice),
        cmocka_unit_test(new_thread_runs_last),
        cmocka_unit_test(child_pays_the_penalty),
        cmocka_unit_test(last_tick_is_used_up_by_forking),
        cmocka_unit_test(unused_first_slice_goes_back),
        cmocka_unit_test(nice_moves_a_queued_task),
        cmocka_unit_test(state_can_be_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
