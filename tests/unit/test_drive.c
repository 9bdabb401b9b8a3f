/* A kernel driven by hand: switches, wakeups and moves as told, decisions as the policy makes them. wb-link: all */
#include "wbtest.h"

#include "fair.h"
#include "registry.h"
#include "simtest.h"
#include "wakebal/drive.h"

struct kernel {
    struct wb_key_registry *keys;
    struct wb_diag *d;
    struct wb_scenario *scenario;
    struct wb_sim *s;
};

static struct kernel make(const char *name, const char *machine, uint32_t ntasks)
{
    static struct wb_drive_task spec[16];
    struct kernel k = {.keys = cli_keys_new(), .d = wb_diag_new()};
    struct wb_overrides over = {.kernel = name, .machine = machine};
    assert_true(ntasks <= WB_ARRAY_SIZE(spec));
    for (uint32_t i = 0; i < ntasks; i++) spec[i] = (struct wb_drive_task){.name = "t", .klass = WB_CLASS_NORMAL};
    k.scenario = wb_scenario_load("hog", k.keys, &over, k.d);
    assert_non_null(k.scenario);
    k.s = wb_drive_build(wb_scenario_config(k.scenario), cli_models(), spec, ntasks, k.d);
    return k;
}

static void unmake(struct kernel *k)
{
    wb_sim_free(k->s);
    wb_scenario_free(k->scenario);
    wb_keys_free(k->keys);
    wb_diag_free(k->d);
}

static struct wb_task *run_on(struct wb_sim *s, uint32_t i, cpu_id cpu)
{
    struct wb_task *t = wb_drive_task(s, i);
    assert_int_equal(wb_drive_move(s, t, cpu), 0);
    wb_drive_queue(s, t, WB_ENQ_WAKEUP);
    assert_int_equal(wb_drive_switch(s, cpu, t, WB_RUNNING), 0);
    return t;
}

/* A waker's previous-CPU wakee: idle there, busy there, both. */
static void places_as_the_policy_does(void **state)
{
    (void)state;
    struct kernel k = make("linux-6.12", "smp2", 3);
    struct wb_task *waker = run_on(k.s, 0, 0), *sleeper = wb_drive_task(k.s, 1);
    assert_int_equal(wb_rq(k.s, 0)->nr_running, 1);
    assert_ptr_equal(wb_rq(k.s, 0)->curr, waker);
    assert_int_equal(wb_drive_move(k.s, sleeper, 1), 0);
    struct wb_wakeup w = {.task = sleeper, .this_cpu = 0, .prev_cpu = 1, .flags = WB_WF_SYNC};
    struct wb_choice c = wb_drive_place(k.s, &w, WB_LEVEL_TASK);
    assert_int_equal(c.cpu, 1); /* idle */
    assert_int_equal(c.rule, FAIR_R_AT(FAIR_H_SYNC, FAIR_W_PREV));
    (void)run_on(k.s, 2, 1);
    c = wb_drive_place(k.s, &w, WB_LEVEL_TASK);
    assert_int_equal(c.cpu, 0); /* nobody is idle: with its waker, who is alone */
    assert_int_equal(c.rule, FAIR_R_AT(FAIR_H_SYNC, FAIR_W_NONE));
    unmake(&k);
}

/* From being put on the target's list until it is queued the target is not idle. */
static void a_wakeup_under_way_is_seen(void **state)
{
    (void)state;
    struct kernel k = make("linux-6.12", "smp2", 3);
    (void)run_on(k.s, 0, 0);
    struct wb_task *first = wb_drive_task(k.s, 1), *second = wb_drive_task(k.s, 2);
    assert_int_equal(wb_drive_move(k.s, first, 1), 0);
    struct wb_wakeup w = {.task = second, .this_cpu = 0, .prev_cpu = 0};
    assert_int_equal(wb_drive_place(k.s, &w, WB_LEVEL_TASK).cpu, 1);
    wb_drive_pend(k.s, first, 1);
    assert_int_equal(wb_drive_place(k.s, &w, WB_LEVEL_TASK).cpu, 0);
    wb_drive_unpend(k.s, first);
    assert_false(first->waking);
    assert_int_equal(wb_drive_place(k.s, &w, WB_LEVEL_TASK).cpu, 1);
    wb_drive_pend(k.s, first, 1);
    wb_drive_queue(k.s, first, WB_ENQ_WAKEUP);
    assert_null(wb_rq(k.s, 1)->wake_list);
    assert_int_equal(wb_rq(k.s, 1)->nr_running, 1);
    unmake(&k);
}

static void idle_cpus_hold_nobody(void **state)
{
    (void)state;
    struct kernel k = make("linux-6.12", "smp2", 3);
    struct wb_task *a = run_on(k.s, 0, 0), *b = wb_drive_task(k.s, 1);
    wb_drive_queue(k.s, b, WB_ENQ_WAKEUP);
    assert_int_equal(wb_rq(k.s, 0)->nr_running, 2);
    wb_drive_time(k.s, 5 * WB_MS);
    assert_int_equal(wb_drive_switch(k.s, 0, NULL, WB_INTERRUPTIBLE), 1); /* b was forgotten there */
    assert_int_equal(wb_rq(k.s, 0)->nr_running, 0);
    assert_false(a->on_rq || b->on_rq || a->on_cpu);
    assert_int_equal(wb_drive_move(k.s, run_on(k.s, 0, 0), 1), -1); /* running */
    unmake(&k);
}

/* A CPU that runs out of work finds the waiting one. */
static void newly_idle_looks(void **state)
{
    (void)state;
    struct kernel k = make("linux-6.12", "smp2", 4);
    (void)run_on(k.s, 0, 0);
    wb_drive_queue(k.s, wb_drive_task(k.s, 1), WB_ENQ_WAKEUP);
    wb_drive_queue(k.s, wb_drive_task(k.s, 2), WB_ENQ_WAKEUP);
    (void)run_on(k.s, 3, 1);
    wb_drive_time(k.s, 20 * WB_MS);
    assert_int_equal(wb_drive_switch(k.s, 1, NULL, WB_INTERRUPTIBLE), 0);
    struct wb_drive_pull p = wb_drive_newidle(k.s, 1);
    assert_int_equal(p.src, 0);
    assert_int_equal(p.depth, 0);
    assert_int_equal(wb_rq(k.s, 0)->nr_running, 3); /* asked, not done */
    assert_int_equal(wb_drive_switch(k.s, 0, NULL, WB_INTERRUPTIBLE), 2);
    assert_int_equal(wb_drive_newidle(k.s, 1).src, WB_NO_CPU);
    unmake(&k);
}

static void other_families_cannot(void **state)
{
    (void)state;
    struct kernel k = make("linux-2.6.11", "smp2", 1);
    assert_null(k.s);
    assert_int_equal(wb_diag_count(k.d, WB_ERROR), 1);
    unmake(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_as_the_policy_does), cmocka_unit_test(a_wakeup_under_way_is_seen),
        cmocka_unit_test(idle_cpus_hold_nobody),     cmocka_unit_test(newly_idle_looks),
        cmocka_unit_test(other_families_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
