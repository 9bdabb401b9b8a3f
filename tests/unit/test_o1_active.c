/* The migration thread: whom it pushes where, by version; SMT nice; fork and exec placement; tickless idle.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fakekernel.h"
#include "o1.h"

#define TIGER "base = \"itanium2-tiger4\";"
#define HT4 "topology = \"[numa] pack:4 l2:1 core:1 pu:2\";"
#define NODES2 "topology = \"pack:2 [numa] l3:1 core:4 pu:1\";"

/* Tasks on a CPU, cold but for the first, which was running; the CPU's migration thread has just preempted it. */
static void stop_cpu(struct wb_sim *s, cpu_id cpu, uint32_t tasks)
{
    fake_ticks(s, cpu, 50);
    for (uint32_t i = 0; i < tasks; i++) fake_runnable(s, cpu, 0);
    fake_schedule(s, cpu, WB_RUNNING);
    fake_enqueue(s, s->rq[cpu].stopper, WB_ENQ_WAKEUP);
    assert_ptr_equal(fake_schedule(s, cpu, WB_RUNNING), s->rq[cpu].stopper);
}

static void pushes_one_to_each_idle_cpu(void **state)
{
    (void)state;
    static const char *const kernels[] = {"linux-2.6.10", "linux-2.6.11"};
    for (size_t k = 0; k < 2; k++) {
        struct wb_sim *s = fake_new(&o1_policy, kernels[k], TIGER, NULL);
        fake_running(s, 2, 0);
        stop_cpu(s, 1, 4);
        assert_int_equal(fake_balance(s, WB_BAL_ACTIVE, 1, WB_LEVEL_TASK, NULL), 2);
        assert_int_equal(s->rq[0].nr_running, 1);
        assert_int_equal(s->rq[2].nr_running, 1); /* busy: gets none */
        assert_int_equal(s->rq[3].nr_running, 1);
        assert_int_equal(s->rq[1].sd->stats->alb_pushed, 2);
        fake_free(s);
    }
}

/* It goes on until it is alone. */
static void stops_when_alone(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    stop_cpu(s, 1, 1);
    assert_int_equal(fake_balance(s, WB_BAL_ACTIVE, 1, WB_LEVEL_TASK, NULL), 1);
    assert_int_equal(s->rq[2].nr_running, 1); /* groups are asked in ring order from the own one */
    assert_int_equal(s->rq[1].nr_running, 1);
    assert_int_equal(fake_balance(s, WB_BAL_ACTIVE, 1, WB_LEVEL_TASK, NULL), 0);
    fake_free(s);
}

/* Only completely idle cores get one; 2.6.10 takes one CPU of a group, 2.6.11 all of them. */
static void whole_cores_and_groups(void **state)
{
    (void)state;
    static const char *const kernels[] = {"linux-2.6.10-i386", "linux-2.6.11-i386"};
    static const uint32_t moved[] = {2, 4}; /* a CPU that was just given a task still runs its idle task */
    for (size_t k = 0; k < 2; k++) {
        struct wb_sim *s = fake_new(&o1_policy, kernels[k], HT4, NULL);
        fake_running(s, 2, 0); /* so 3 is no target */
        stop_cpu(s, 0, 6);
        /* 1 shares a core with the migration thread; 4..7 are idle cores: one or both CPUs of each group of two */
        assert_int_equal(fake_balance(s, WB_BAL_ACTIVE, 0, WB_LEVEL_TASK, NULL), moved[k]);
        assert_int_equal(s->rq[1].nr_running, 0);
        assert_int_equal(s->rq[3].nr_running, 0);
        assert_int_equal(s->rq[4].nr_running, 1);
        assert_int_equal(s->rq[6].nr_running, 1);
        fake_free(s);
    }
}

static void pushes_to_push_cpu_only_2_6_22(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", NODES2, NULL);
    stop_cpu(s, 1, 3);
    s->rq[1].push_cpu = 6;
    struct wb_balance last = {0};
    assert_int_equal(fake_balance(s, WB_BAL_ACTIVE, 1, WB_LEVEL_TASK, &last), 1);
    assert_int_equal(s->rq[6].nr_running, 1);
    assert_string_equal(last.sd->level->name, "NODE"); /* lowest domain of the target that covers the source */
    assert_int_equal(last.rule, O1_R_ACTIVE);
    fake_free(s);
}

/* ---- SMT nice ---- */

static void low_priority_idles_beside_a_long_slice(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11-i386", HT4, NULL);
    struct wb_task *nice19 = fake_runnable(s, 0, 19);
    fake_running(s, 1, 0); /* 100 * 75 / 100 > 5 */
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), s->rq[0].idle);
    assert_int_equal(s->rq[0].nr_running, 1);
    fake_ticks(s, 0, 1); /* wake_priority_sleeper */
    assert_true(s->rq[0].need_resched);
    o1_task(s->rq[1].curr)->time_slice = 6; /* 4 > 5 is false */
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), nice19);
    fake_free(s);
}

static void high_priority_kicks_its_sibling(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11-i386", HT4, NULL);
    fake_running(s, 1, 19);
    struct wb_task *p = fake_runnable(s, 0, 0);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), p);
    assert_true(s->rq[1].need_resched);
    s->rq[1].need_resched = false;
    assert_ptr_equal(fake_schedule(s, 1, WB_RUNNING), s->rq[1].idle);
    fake_schedule(s, 0, WB_INTERRUPTIBLE); /* wake_sleeping_dependent */
    assert_true(s->rq[1].need_resched);
    fake_free(s);
}

static void equals_never_idle_for_each_other(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11-i386", HT4, NULL);
    fake_running(s, 1, 0);
    struct wb_task *p = fake_runnable(s, 0, 0);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), p);
    assert_false(s->rq[1].need_resched);
    fake_free(s);
    s = fake_new(&o1_policy, "linux-2.6.22-i386", HT4, NULL); /* removed in 2.6.21 */
    fake_running(s, 1, 0);
    p = fake_runnable(s, 0, 19);
    assert_ptr_equal(fake_schedule(s, 0, WB_RUNNING), p);
    fake_free(s);
}

/* ---- fork and exec ---- */

static struct wb_choice exec_on(struct wb_sim *s, cpu_id cpu)
{
    return o1_policy.place_exec(fake_exec(s, cpu), s->rq[cpu].curr);
}

static void exec_2_6_11_takes_the_least_loaded(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    fake_running(s, 1, 0);
    assert_int_equal(exec_on(s, 1).rule, O1_R_EXEC_ALONE);
    fake_runnable(s, 1, 0);
    fake_running(s, 0, 0);
    fake_ticks(s, 0, 10);
    struct wb_choice c = exec_on(s, 1);
    assert_int_equal(c.cpu, 2); /* first with load 0 */
    assert_int_equal(c.rule, O1_R_EXEC_MOVE);
    fake_running(s, 2, 0);
    fake_running(s, 3, 0); /* 128 * 112 < (0 + 128) * 100 is false: cpu_load of this CPU is still 0 */
    assert_int_equal(exec_on(s, 1).rule, O1_R_EXEC_STAY);
    fake_ticks(s, 1, 10); /* now 256 + 128 against 128 */
    assert_int_equal(exec_on(s, 1).cpu, 0);
    fake_free(s);
}

static void exec_2_6_22_descends(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", NODES2, NULL);
    for (cpu_id c = 0; c < 4; c++) {
        fake_running(s, c, 0);
        fake_runnable(s, c, 0);
        fake_ticks(s, c, 20);
    }
    fake_running(s, 4, 0);
    fake_ticks(s, 4, 20);
    struct wb_choice c = exec_on(s, 1);
    assert_int_equal(c.cpu, 6); /* other node: 5; there 100 * 0 < 112 * 0 is false, so on to the next idle one */
    assert_int_equal(c.rule, O1_R_EXEC_MOVE);
    fake_free(s);
}

static void fork_by_version(void **state)
{
    (void)state;
    static const char *const kernels[] = {"linux-2.6.11-i386", "linux-2.6.22"};
    static const wb_rule rule[] = {O1_R_FORK_LOCAL, O1_R_FORK_IDLEST};
    for (size_t k = 0; k < 2; k++) {
        struct wb_sim *s = fake_new(&o1_policy, kernels[k], NODES2, NULL);
        for (cpu_id c = 0; c < 4; c++) {
            fake_running(s, c, 0);
            fake_ticks(s, c, 20);
        }
        struct wb_choice c = o1_policy.place_fork(fake_exec(s, 0), fake_task(s, 0, 0));
        assert_int_equal(c.rule, rule[k]);
        assert_int_equal(c.cpu, k ? 4 : 0);
        fake_free(s);
    }
}

static void children_keep_to_their_mask(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    uint64_t word = 4;
    struct wb_cpumask only2 = {.ncpus = 4, .nwords = 1, .w = &word};
    struct wb_task *t = fake_task(s, 0, 0);
    t->allowed = &only2;
    struct wb_choice c = o1_policy.place_fork(fake_exec(s, 0), t);
    assert_int_equal(c.cpu, 2);
    assert_int_equal(c.rule, O1_R_FORK_AFFINITY);
    fake_free(s);
}

/* ---- tickless idle ---- */

static bool goes_idle(struct wb_sim *s, cpu_id cpu)
{
    bool stop = o1_policy.idle_enter(fake_exec(s, cpu), &s->rq[cpu]);
    if (stop) wb_tick_stop(s, cpu);
    return stop;
}

static void one_idle_cpu_keeps_its_tick(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22-i386", TIGER, NULL);
    const struct o1_sim *o = s->policy;
    assert_true(o->nohz);
    fake_running(s, 0, 0);
    assert_false(goes_idle(s, 2)); /* becomes the idle load balancer */
    assert_int_equal(o->idlers.ilb, 2);
    assert_true(goes_idle(s, 1));
    assert_true(goes_idle(s, 3));
    s->rq[2].need_resched = true; /* gets work: its tick never stood, so it is still the owner */
    o1_policy.idle_exit(fake_exec(s, 2), &s->rq[2]);
    assert_int_equal(o->idlers.ilb, 2);
    fake_running(s, 2, 0);
    fake_ticks(s, 2, 1); /* first busy tick: gives up, nominates the first of the mask */
    assert_int_equal(o->idlers.ilb, WB_NO_CPU);
    assert_false(wb_mask_test(&o->idlers.mask, 2));
    assert_true(s->rq[1].need_resched);
    o1_policy.idle_exit(fake_exec(s, 1), &s->rq[1]); /* its tick comes back, and it finds nothing to run */
    s->rq[1].need_resched = false;
    assert_false(goes_idle(s, 1));
    assert_int_equal(o->idlers.ilb, 1);
    fake_free(s);
}

static void idle_balancer_works_for_the_others(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22-i386", TIGER, NULL);
    for (int i = 0; i < 6; i++) fake_runnable(s, 0, 0);
    fake_schedule(s, 0, WB_RUNNING);
    fake_ticks(s, 0, 20);
    assert_false(goes_idle(s, 1));
    assert_true(goes_idle(s, 2));
    assert_true(goes_idle(s, 3));
    for (uint32_t i = 0; i < s->ntasks; i++)
        if (s->task[i]->klass == WB_CLASS_NORMAL) o1_task(s->task[i])->last_ran = 0;
    s->now += WB_S;
    fake_ticks(s, 1, 1);
    s->rq[1].need_resched = false;
    assert_true(fake_balance(s, WB_BAL_PERIODIC_IDLE, 1, WB_LEVEL_SOFTIRQ, NULL) > 0);
    assert_true(s->rq[2].nr_running > 0 || s->rq[3].nr_running > 0 || s->rq[1].need_resched);
    fake_free(s);
}

static void all_idle_stops_every_tick(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22-i386", TIGER, NULL);
    const struct o1_sim *o = s->policy;
    assert_false(goes_idle(s, 0));
    for (cpu_id c = 1; c < 4; c++) assert_true(goes_idle(s, c));
    fake_ticks(s, 0, 1); /* nobody left to balance for: schedule, go idle again */
    assert_true(s->rq[0].need_resched);
    s->rq[0].need_resched = false;
    assert_true(goes_idle(s, 0));
    assert_int_equal(o->idlers.ilb, WB_NO_CPU);
    fake_free(s);
    s = fake_new(&o1_policy, "linux-2.6.22", TIGER, NULL); /* x86_64: not before 2.6.24 */
    assert_false(goes_idle(s, 0));
    assert_false(goes_idle(s, 1));
    fake_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_one_to_each_idle_cpu),
        cmocka_unit_test(stops_when_alone),
        cmocka_unit_test(whole_cores_and_groups),
        cmocka_unit_test(pushes_to_push_cpu_only_2_6_22),
        cmocka_unit_test(low_priority_idles_beside_a_long_slice),
        cmocka_unit_test(high_priority_kicks_its_sibling),
        cmocka_unit_test(equals_never_idle_for_each_other),
        cmocka_unit_test(exec_2_6_11_takes_the_least_loaded),
        cmocka_unit_test(exec_2_6_22_descends),
        cmocka_unit_test(fork_by_version),
        cmocka_unit_test(children_keep_to_their_mask),
        cmocka_unit_test(one_idle_cpu_keeps_its_tick),
        cmocka_unit_test(idle_balancer_works_for_the_others),
        cmocka_unit_test(all_idle_stops_every_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
