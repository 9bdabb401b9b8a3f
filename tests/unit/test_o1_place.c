/* Wake placement: every cell of the worked tables of 2.6.10, 2.6.11 and 2.6.22, by rule.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "fakekernel.h"
#include "o1.h"

#define TIGER "base = \"itanium2-tiger4\";"
#define STOAKLEY "topology = \"[numa] pack:2 l2:2 core:2 pu:1\";"
#define HT4 "topology = \"[numa] pack:4 l2:1 core:1 pu:2\";" /* siblings 0,1 2,3 4,5 6,7 */

enum { PREV = 0, THIS = 1 };

/* W runs alone on THIS; p went to sleep on PREV `ticks` ticks of PREV ago; `others` tasks are runnable on PREV, loads
 * settled. */
static struct wb_sim *scene(const char *kernel, const char *machine, uint32_t others, uint32_t ticks,
                            struct wb_task **p)
{
    struct wb_sim *s = fake_new(&o1_policy, kernel, machine, NULL);
    fake_running(s, THIS, 0);
    fake_ticks(s, THIS, 20);
    *p = fake_task(s, PREV, 0);
    for (uint32_t i = 0; i < others; i++) fake_runnable(s, PREV, 0);
    if (others) fake_schedule(s, PREV, WB_RUNNING);
    fake_ticks(s, PREV, 20);
    s->now += 100 * WB_US;
    o1_task(*p)->last_ran = s->now / WB_NS;
    s->now += 100 * WB_US;
    fake_ticks(s, PREV, ticks);
    return s;
}

static void expect(const char *kernel, const char *machine, uint32_t others, uint32_t ticks, uint32_t flags, cpu_id cpu,
                   wb_rule rule)
{
    struct wb_task *p;
    struct wb_sim *s = scene(kernel, machine, others, ticks, &p);
    struct wb_wakeup w = {.task = p, .this_cpu = THIS, .prev_cpu = PREV, .flags = flags};
    struct wb_choice c = o1_policy.place_wakeup(fake_exec(s, THIS), &w);
    if (c.cpu != cpu || c.rule != rule)
        fail_msg("%s, %u others, %u ticks, flags %u: cpu %u (%s), expected %u (%s)", kernel, others, ticks, flags,
                 c.cpu, o1_rules[c.rule], cpu, o1_rules[rule]);
    fake_free(s);
}

/* ---- 2.6.10, 2.6.11: waker alone, previous CPU idle ---- */

static void not_sync_prev_idle_stays(void **state)
{
    (void)state;
    for (uint32_t ticks = 0; ticks < 6; ticks++) {
        expect("linux-2.6.10", TIGER, 0, ticks, 0, PREV, O1_R_PREV_IDLE);
        expect("linux-2.6.11", TIGER, 0, ticks, 0, PREV, O1_R_PREV_IDLE);
    }
}

static void sync_prev_idle_pulls_2_6_10(void **state)
{
    (void)state;
    expect("linux-2.6.10", TIGER, 0, 0, WB_WF_SYNC, THIS, O1_R_BALANCE_SYNC); /* no tick on prev since: hot, 0 <= 0 */
    expect("linux-2.6.10", TIGER, 0, 1, WB_WF_SYNC, THIS, O1_R_AFFINE_SYNC);  /* one tick, 2.5 us: cold */
}

static void sync_prev_idle_pulls_2_6_11(void **state)
{
    (void)state;
    expect("linux-2.6.11", TIGER, 0, 0, WB_WF_SYNC, THIS, O1_R_BALANCE_SYNC);
    expect("linux-2.6.11", TIGER, 0, 2, WB_WF_SYNC, THIS, O1_R_BALANCE_SYNC); /* 2 ms: hot */
    expect("linux-2.6.11", TIGER, 0, 3, WB_WF_SYNC, THIS, O1_R_AFFINE_SYNC);  /* 3 ms: cold */
}

/* ---- and with another runnable task on the previous CPU ---- */

static void not_sync_prev_busy(void **state)
{
    (void)state;
    expect("linux-2.6.10", TIGER, 1, 1, 0, THIS, O1_R_AFFINE);
    expect("linux-2.6.10", TIGER, 1, 0, 0, PREV, O1_R_NO_PULL); /* 137 * 128 <= 100 * 128 is false */
    expect("linux-2.6.11", TIGER, 1, 3, 0, THIS, O1_R_AFFINE);
    expect("linux-2.6.11", TIGER, 1, 2, 0, PREV, O1_R_NO_PULL);
}

static void sync_prev_busy(void **state)
{
    (void)state;
    expect("linux-2.6.10", TIGER, 1, 1, WB_WF_SYNC, THIS, O1_R_AFFINE_SYNC);
    expect("linux-2.6.10", TIGER, 1, 0, WB_WF_SYNC, THIS, O1_R_BALANCE_SYNC); /* 0 <= 12800 */
    expect("linux-2.6.11", TIGER, 1, 3, WB_WF_SYNC, THIS, O1_R_AFFINE_SYNC);
    expect("linux-2.6.11", TIGER, 1, 2, WB_WF_SYNC, THIS, O1_R_BALANCE_SYNC);
}

/* Two others: 137 * 128 = 17536 <= 100 * 256. */
static void passive_balance_needs_its_margin(void **state)
{
    (void)state;
    expect("linux-2.6.11", TIGER, 2, 0, 0, THIS, O1_R_BALANCE);
}

/* A sync wakeup from an interrupt on an idle CPU: 0 - 128 wraps to a huge load. */
static void discounting_the_waker_wraps(void **state)
{
    (void)state;
    static const uint32_t others[] = {0, 1};
    static const wb_rule rule[] = {O1_R_PREV_IDLE, O1_R_NO_PULL};
    for (int i = 0; i < 2; i++) {
        struct wb_task *p;
        struct wb_sim *s = scene("linux-2.6.11", TIGER, others[i], 0, &p);
        struct wb_wakeup w = {.task = p, .this_cpu = 3, .prev_cpu = PREV, .flags = WB_WF_SYNC | WB_WF_IRQ};
        struct wb_choice c = o1_policy.place_wakeup(fake_exec_irq(s, 3, WB_LEVEL_HARDIRQ), &w);
        assert_int_equal(c.cpu, PREV);
        assert_int_equal(c.rule, rule[i]);
        fake_free(s);
    }
}

static void own_cpu_and_affinity_come_first(void **state)
{
    (void)state;
    struct wb_task *p;
    struct wb_sim *s = scene("linux-2.6.11", TIGER, 1, 9, &p);
    struct wb_wakeup same = {.task = p, .this_cpu = PREV, .prev_cpu = PREV, .flags = WB_WF_SYNC};
    assert_int_equal(o1_policy.place_wakeup(fake_exec(s, PREV), &same).rule, O1_R_SAME_CPU);
    uint64_t word = 1u << PREV;
    struct wb_cpumask only = {.ncpus = 4, .nwords = 1, .w = &word};
    p->allowed = &only;
    struct wb_wakeup w = {.task = p, .this_cpu = THIS, .prev_cpu = PREV, .flags = WB_WF_SYNC};
    struct wb_choice c = o1_policy.place_wakeup(fake_exec(s, THIS), &w);
    assert_int_equal(c.rule, O1_R_NOT_ALLOWED);
    assert_int_equal(c.cpu, PREV);
    p->on_cpu = true;
    assert_int_equal(o1_policy.place_wakeup(fake_exec(s, THIS), &w).rule, O1_R_STILL_RUNNING);
    fake_free(s);
}

/* ---- wake_idle ---- */

/* All CPUs busy but `idle`; p slept on PREV, cold. Where does a plain wakeup from THIS go? */
static struct wb_choice wake_with_idle(const char *kernel, cpu_id idle, const char *const *sets)
{
    struct wb_sim *s = fake_new(&o1_policy, kernel, HT4, sets);
    struct wb_task *p = fake_task(s, PREV, 0);
    for (cpu_id c = 0; c < s->ncpus; c++) {
        if (c == idle) continue;
        fake_running(s, c, 0);
        fake_ticks(s, c, 12);
    }
    struct wb_wakeup w = {.task = p, .this_cpu = 2, .prev_cpu = PREV};
    struct wb_choice c = o1_policy.place_wakeup(fake_exec(s, 2), &w);
    fake_free(s);
    return c;
}

static void wake_idle_2_6_10_looks_at_siblings_only(void **state)
{
    (void)state;
    assert_int_equal(wake_with_idle("linux-2.6.10-i386", 3, NULL).cpu, 3); /* affine pull to 2, then its sibling */
    assert_int_equal(wake_with_idle("linux-2.6.10-i386", 3, NULL).rule, O1_R_WAKE_IDLE_NEAR);
    assert_int_equal(wake_with_idle("linux-2.6.10-i386", 6, NULL).cpu, 2);
    assert_int_equal(wake_with_idle("linux-2.6.10-i386", 6, NULL).rule, O1_R_AFFINE);
}

static void wake_idle_2_6_11_climbs(void **state)
{
    (void)state;
    assert_int_equal(wake_with_idle("linux-2.6.11-i386", 3, NULL).rule, O1_R_WAKE_IDLE_NEAR);
    assert_int_equal(wake_with_idle("linux-2.6.11-i386", 6, NULL).cpu, 6);
    assert_int_equal(wake_with_idle("linux-2.6.11-i386", 6, NULL).rule, O1_R_WAKE_IDLE_FAR);
    assert_int_equal(wake_with_idle("linux-2.6.11-i386", 99, NULL).cpu, 2); /* nobody idle */
}

static void wake_idle_is_a_switch(void **state)
{
    (void)state;
    static const char *const off[] = {"policy.wake_idle=false", NULL};
    assert_int_equal(wake_with_idle("linux-2.6.11-i386", 6, off).cpu, 2);
    /* ia64 of 2.6.11 has no SCHED_SMT, so no wake_idle() */
    assert_int_equal(wake_with_idle("linux-2.6.11", 6, NULL).cpu, 2);
    static const char *const on[] = {"policy.wake_idle=true", NULL};
    assert_int_equal(wake_with_idle("linux-2.6.11", 6, on).cpu, 6);
}

/* 2.6.22: not when the CPU has more than one task already. */
static void wake_idle_2_6_22_guards(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", HT4, NULL);
    struct wb_task *p = fake_task(s, 2, 0);
    fake_running(s, 2, 0);
    struct wb_wakeup w = {.task = p, .this_cpu = 2, .prev_cpu = 2};
    assert_int_equal(o1_policy.place_wakeup(fake_exec(s, 2), &w).cpu, 3);
    fake_runnable(s, 2, 0);
    assert_int_equal(o1_policy.place_wakeup(fake_exec(s, 2), &w).cpu, 2);
    fake_free(s);
}

static void ignoring_sync_is_a_switch(void **state)
{
    (void)state;
    struct wb_sim *s =
        fake_new(&o1_policy, "linux-2.6.11", TIGER, (const char *const[]){"policy.sync_wakeups=false", NULL});
    struct wb_task *p = fake_task(s, PREV, 0);
    fake_running(s, THIS, 0);
    fake_ticks(s, THIS, 12);
    wb_rule preempt;
    struct wb_choice c = fake_wake(s, p, THIS, WB_WF_SYNC, &preempt);
    assert_int_equal(c.rule, O1_R_PREV_IDLE);
    assert_int_equal(preempt, O1_R_CPU_IDLE);
    fake_free(s);
}

/* ---- 2.6.22 ---- */

static void worked_cases_2_6_22(void **state)
{
    (void)state;
    expect("linux-2.6.22", STOAKLEY, 0, 2, 0, PREV, O1_R_NO_PULL);                    /* 128 <= 0 no, 25600 <= 0 no */
    expect("linux-2.6.22", STOAKLEY, 0, 2, WB_WF_SYNC, THIS, O1_R_AFFINE_ALONE_SYNC); /* 0 <= 0 and 0 <= 128 */
    expect("linux-2.6.22", STOAKLEY, 1, 2, 0, PREV, O1_R_NO_PULL); /* 256 <= 128 no, 25600 <= 14336 no */
    expect("linux-2.6.22", STOAKLEY, 1, 2, WB_WF_SYNC, THIS, O1_R_AFFINE_ALONE_SYNC); /* 0 <= 128 and 128 <= 128 */
    expect("linux-2.6.22", STOAKLEY, 2, 2, 0, THIS, O1_R_AFFINE_LOAD);                /* 100 * 256 <= 112 * 256 */
}

/* The margin is 100 + 25 / 2 = 112 %: 25600 <= 112 * 215 is false (125 % would pull). */
static void affine_margin_2_6_22(void **state)
{
    (void)state;
    struct wb_task *p;
    struct wb_sim *s = scene("linux-2.6.22", STOAKLEY, 1, 0, &p);
    fake_runnable(s, PREV, 6);
    assert_int_equal(o1_rq(&s->rq[PREV])->weight, 215); /* 128 + 17 ticks of 25 */
    fake_ticks(s, PREV, 9);
    struct wb_wakeup w = {.task = p, .this_cpu = THIS, .prev_cpu = PREV};
    assert_int_equal(o1_policy.place_wakeup(fake_exec(s, THIS), &w).rule, O1_R_NO_PULL);
    fake_free(s);
}

/* The smallest domain that covers both CPUs decides; NODE has WAKE_BALANCE only. */
static void one_domain_decides_2_6_22(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.22", "topology = \"pack:2 [numa] l3:1 core:2 pu:1\";", NULL);
    struct wb_task *p = fake_task(s, 0, 0);
    fake_running(s, 2, 0);
    fake_ticks(s, 2, 9);
    struct wb_wakeup w = {.task = p, .this_cpu = 2, .prev_cpu = 0, .flags = WB_WF_SYNC};
    assert_int_equal(o1_policy.place_wakeup(fake_exec(s, 2), &w).rule, O1_R_NO_PULL);
    for (int i = 0; i < 2; i++) fake_runnable(s, 0, 0);
    fake_schedule(s, 0, WB_RUNNING);
    fake_ticks(s, 0, 9); /* 112 * 128 <= 100 * 256 */
    assert_int_equal(o1_policy.place_wakeup(fake_exec(s, 2), &w).rule, O1_R_BALANCE);
    fake_free(s);
}

/* ---- preemption ---- */

static void preemption_by_priority(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&o1_policy, "linux-2.6.11", TIGER, NULL);
    wb_rule rule;
    struct wb_task *waker = fake_running(s, 0, 0), *p = fake_task(s, 0, 0), *q = fake_task(s, 0, -5),
                   *r = fake_task(s, 0, -5);
    o1_task(p)->sleep_avg = o1_task(waker)->sleep_avg; /* both drift to the top bonus: equals do not preempt */
    fake_wake(s, p, 0, 0, &rule);
    assert_int_equal(rule, O1_R_NO_PREEMPT);
    assert_false(s->rq[0].need_resched);
    fake_wake(s, q, 0, WB_WF_SYNC, &rule);
    assert_int_equal(rule, O1_R_SYNC_UNCHECKED);
    assert_false(s->rq[0].need_resched);
    fake_wake(s, r, 0, 0, &rule);
    assert_int_equal(rule, O1_R_PREEMPT);
    assert_true(s->rq[0].need_resched);
    fake_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_sync_prev_idle_stays),
        cmocka_unit_test(sync_prev_idle_pulls_2_6_10),
        cmocka_unit_test(sync_prev_idle_pulls_2_6_11),
        cmocka_unit_test(not_sync_prev_busy),
        cmocka_unit_test(sync_prev_busy),
        cmocka_unit_test(passive_balance_needs_its_margin),
        cmocka_unit_test(discounting_the_waker_wraps),
        cmocka_unit_test(own_cpu_and_affinity_come_first),
        cmocka_unit_test(wake_idle_2_6_10_looks_at_siblings_only),
        cmocka_unit_test(wake_idle_2_6_11_climbs),
        cmocka_unit_test(wake_idle_is_a_switch),
        cmocka_unit_test(wake_idle_2_6_22_guards),
        cmocka_unit_test(ignoring_sync_is_a_switch),
        cmocka_unit_test(worked_cases_2_6_22),
        cmocka_unit_test(affine_margin_2_6_22),
        cmocka_unit_test(one_domain_decides_2_6_22),
        cmocka_unit_test(preemption_by_priority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
