/* ULE of FreeBSD 5.2.1: where a wakeup goes and whom it preempts, scores, slices, calendars, balancing.
 * wb-link: wb_sched wb_ipc wb_kernel wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "bsd.h"
#include "fakekernel.h"

#define FOUR "topology = \"pack:2 core:2 pu:1\";"
#define KERNEL \
    "scheduler = \"ule\"; hz = 100; ttwu = \"rq_lock\"; runqueue_lock = \"global\";" /* as freebsd-5.2-ule.cfg */

static struct wb_sim *ule_new(void)
{
    return fake_new(&ule_policy, KERNEL, FOUR, NULL);
}

/* n tasks on a CPU, one of which runs; better: after a sleep in the kernel, above everybody. */
static void fill(struct wb_sim *s, cpu_id cpu, uint32_t n, bool better)
{
    for (uint32_t i = 0; i < n; i++) {
        struct wb_task *t = fake_task(s, cpu, 0);
        bsd_task(t)->runtime = 100 << 10; /* a hog: score 100 */
        ule_priority(bsd_task(t));
        if (better && !i) bsd_lend(bsd_task(t), 1);
        fake_enqueue(s, t, WB_ENQ_NEW);
    }
    if (n) (void)fake_schedule(s, cpu, WB_RUNNING);
}

/* Loads of CPUs 0..3; somebody who slept on `last` wakes up on CPU 0. */
struct row {
    uint32_t load[4];
    bool better; /* than the wakee: who runs on the CPUs */
    cpu_id last;
    cpu_id only; /* allowed there only, or WB_NO_CPU */
    cpu_id cpu;
    wb_rule where, then;
};
#define ANY WB_NO_CPU

static const struct row rows[] = {
    /* last ran elsewhere: there, unless more than one waits there */
    {{1, 0, 0, 0}, false, 1, ANY, 1, ULE_R_LAST_CPU, ULE_R_CPU_IDLE},
    {{1, 1, 0, 0}, false, 1, ANY, 1, ULE_R_LAST_CPU, ULE_R_PREEMPT},
    {{1, 1, 0, 0}, true, 1, ANY, 1, ULE_R_LAST_CPU, ULE_R_WAITS},
    {{1, 2, 0, 0}, true, 1, ANY, 1, ULE_R_LAST_CPU, ULE_R_WAITS},
    {{1, 3, 0, 0}, true, 1, ANY, 2, ULE_R_IDLE_PUSH, ULE_R_CPU_IDLE},
    {{1, 3, 1, 1}, true, 1, ANY, 1, ULE_R_LAST_CPU, ULE_R_WAITS},
    {{3, 1, 0, 0}, true, 1, ANY, 1, ULE_R_LAST_CPU, ULE_R_WAITS}, /* who waits at the waker's does not count */
    {{1, 1, 1, 0}, false, 3, ANY, 3, ULE_R_LAST_CPU, ULE_R_CPU_IDLE},
    {{0, 1, 1, 1}, true, 3, ANY, 3, ULE_R_LAST_CPU, ULE_R_WAITS}, /* though the waker's CPU idles */
    {{0, 0, 0, 0}, false, 2, ANY, 2, ULE_R_LAST_CPU, ULE_R_CPU_IDLE},
    /* last ran here: neither the waker nor one that waits is a reason to go */
    {{1, 0, 0, 0}, false, 0, ANY, 0, ULE_R_HERE, ULE_R_PREEMPT},
    {{1, 0, 0, 0}, true, 0, ANY, 0, ULE_R_HERE, ULE_R_WAITS},
    {{2, 0, 0, 0}, true, 0, ANY, 0, ULE_R_HERE, ULE_R_WAITS},
    {{1, 1, 1, 1}, true, 0, ANY, 0, ULE_R_HERE, ULE_R_WAITS},
    {{0, 0, 0, 0}, false, 0, ANY, 0, ULE_R_HERE, ULE_R_CPU_IDLE}, /* woken by an interrupt */
    /* two that wait: first idle CPU */
    {{3, 0, 0, 0}, false, 0, ANY, 1, ULE_R_IDLE_PUSH, ULE_R_CPU_IDLE},
    {{3, 1, 0, 0}, false, 0, ANY, 2, ULE_R_IDLE_PUSH, ULE_R_CPU_IDLE},
    {{3, 1, 1, 0}, true, 0, ANY, 3, ULE_R_IDLE_PUSH, ULE_R_CPU_IDLE},
    {{5, 1, 1, 0}, true, 0, ANY, 3, ULE_R_IDLE_PUSH, ULE_R_CPU_IDLE},
    {{3, 1, 1, 1}, true, 0, ANY, 0, ULE_R_HERE, ULE_R_WAITS},
    {{3, 1, 1, 1}, false, 0, ANY, 0, ULE_R_HERE, ULE_R_PREEMPT},
    /* affinity */
    {{3, 0, 0, 0}, true, 0, 0, 0, ULE_R_HERE, ULE_R_WAITS},
    {{1, 0, 0, 0}, false, 1, 0, 0, ULE_R_NOT_ALLOWED, ULE_R_PREEMPT},
    {{1, 0, 0, 0}, false, 1, 3, 3, ULE_R_NOT_ALLOWED, ULE_R_CPU_IDLE},
    {{3, 0, 0, 0}, false, 0, 3, 3, ULE_R_NOT_ALLOWED, ULE_R_CPU_IDLE},
};

static void where_and_whom(void **state)
{
    (void)state;
    assert_true(WB_ARRAY_SIZE(rows) >= 20);
    for (size_t i = 0; i < WB_ARRAY_SIZE(rows); i++) {
        const struct row *r = &rows[i];
        struct wb_sim *s = ule_new();
        uint64_t word = 1ull << (r->only & 63);
        struct wb_cpumask one = {.ncpus = 4, .nwords = 1, .w = &word};
        for (cpu_id c = 0; c < 4; c++) fill(s, c, r->load[c], r->better);
        struct wb_task *t = fake_task(s, r->last, 0);
        if (r->only != ANY) t->allowed = &one;
        bsd_lend(bsd_task(t), 76);
        wb_rule then;
        struct wb_choice c = fake_wake(s, t, 0, 0, &then);
        if (c.cpu != r->cpu || c.rule != r->where || then != r->then)
            fail_msg("row %zu: cpu %u, %s, %s", i, c.cpu, ule_rules[c.rule], ule_rules[then]);
        assert_int_equal(s->rq[r->cpu].need_resched, r->then != ULE_R_WAITS);
        fake_free(s);
    }
}

/* A CPU that runs the idle class only counts as idle; real-time tasks belong to the waker's CPU, and are handed on,
 * too. */
static void classes(void **state)
{
    (void)state;
    struct wb_sim *s = ule_new();
    fill(s, 0, 3, true);
    struct wb_task *idle = fake_task_of_class(s, 1, 0, WB_CLASS_IDLE);
    fake_enqueue(s, idle, WB_ENQ_NEW);
    assert_ptr_equal(fake_schedule(s, 1, WB_RUNNING), idle);
    struct wb_task *rt = fake_task_of_class(s, 3, 0, WB_CLASS_FIFO);
    rt->rt_prio = 50;
    ule_priority(bsd_task(rt));
    wb_rule then;
    struct wb_choice c = fake_wake(s, rt, 0, 0, &then);
    assert_int_equal(c.rule, ULE_R_IDLE_PUSH);
    assert_int_equal(c.cpu, 1);
    assert_int_equal(then, ULE_R_PREEMPT);
    (void)fake_schedule(s, 1, WB_RUNNING);
    c = fake_wake(s, fake_task_of_class(s, 3, 0, WB_CLASS_FIFO), 2, 0, &then);
    assert_int_equal(c.rule, ULE_R_REAL_TIME);
    assert_int_equal(c.cpu, 2);
    fake_free(s);
}

/* ---- scores, priorities, slices ---- */

static void score(void **state)
{
    (void)state;
    static const struct {
        uint64_t run, sleep; /* ticks */
        uint32_t score;
    } table[] = {{0, 0, 0},     {1, 1, 0},     {100, 0, 100}, {100, 50, 75},
                 {100, 99, 51}, {50, 100, 25}, {10, 100, 5},  {0, 500, 0}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct bsd_task p = {.runtime = table[i].run << 10, .sleeptime = table[i].sleep << 10};
        assert_int_equal(ule_score(&p), table[i].score);
    }
}

/* 160 + score * 64 / 100 + nice, within 160 .. 223. */
static void priority(void **state)
{
    (void)state;
    static const struct {
        uint64_t run, sleep;
        int nice;
        uint8_t prio;
    } table[] = {{0, 100, 0, 160},   {50, 100, 0, 176},  {100, 50, 0, 208}, {100, 0, 0, 223},
                 {100, 0, -20, 204}, {0, 100, -20, 160}, {0, 100, 19, 179}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_task t = {.nice = (int8_t)table[i].nice};
        struct bsd_task p = {.t = &t, .runtime = table[i].run << 10, .sleeptime = table[i].sleep << 10};
        ule_priority(&p);
        assert_int_equal(p.user_prio, table[i].prio);
    }
}

/* Hogs at HZ 100: 14 ticks for the least nice, 14 - away * 14 / 19 within the window, none beyond; 1 when
 * interactive. */
static void slices(void **state)
{
    (void)state;
    static const int32_t expected[] = {14, 14, 13, 12, 12, 11, 10, 9, 9, 8, 7, 6, 6, 5, 4, 3, 3, 2, 1, 0};
    struct wb_sim *s = ule_new();
    const struct ule_sim *o = wb_policy_data(s);
    struct ule_rq *r = ule_rq(&s->rq[0]);
    struct wb_task *t = fake_task(s, 0, 0);
    struct bsd_task *p = bsd_task(t);
    p->runtime = 100 << 10;
    t->nice = -5;
    ule_slice(o, r, p);
    assert_int_equal(p->slice, 14); /* nobody else */
    (void)fake_runnable(s, 0, 0);
    ule_slice(o, r, p);
    assert_int_equal(p->slice, 14); /* less nice than all */
    for (int away = 0; away < 20; away++) {
        t->nice = (int8_t)away;
        ule_slice(o, r, p);
        assert_int_equal(p->slice, expected[away]);
    }
    t->nice = 20;
    ule_slice(o, r, p);
    assert_int_equal(p->slice, 0);
    (void)fake_runnable(s, 0, -20);
    t->nice = 0;
    ule_slice(o, r, p);
    assert_int_equal(p->slice, 1); /* out of the window, but of nice 0 */
    p->sleeptime = 1000 << 10;
    ule_slice(o, r, p);
    assert_int_equal(p->slice, 1);
    fake_free(s);
}

/* History of 5 s: a fifth goes when it is full, half beyond 6 s; of a child half a second stays. */
static void history(void **state)
{
    (void)state;
    struct wb_sim *s = ule_new();
    const struct ule_sim *o = wb_policy_data(s);
    struct bsd_task p = {.runtime = 200 << 10, .sleeptime = 299 << 10};
    ule_forget(o, &p);
    assert_int_equal(p.runtime, 200 << 10);
    p.sleeptime = 300 << 10;
    ule_forget(o, &p);
    assert_int_equal(p.runtime, 160 << 10);
    assert_int_equal(p.sleeptime, 240 << 10);
    p = (struct bsd_task){.runtime = 300 << 10, .sleeptime = 301 << 10};
    ule_forget(o, &p);
    assert_int_equal(p.runtime, 150 << 10);
    p = (struct bsd_task){.runtime = 100 << 10, .sleeptime = 100 << 10};
    ule_forget_fork(o, &p);
    assert_int_equal(p.runtime, 25 << 10);
    fake_free(s);
}

/* ---- calendars ---- */

static void hogs_take_turns_by_calendar(void **state)
{
    (void)state;
    struct wb_sim *s = fake_new(&ule_policy, KERNEL, FOUR, (const char *const[]){"policy.stathz=100", NULL});
    struct wb_task *t[3];
    fill(s, 1, 3, false);
    for (int i = 0; i < 3; i++) t[i] = s->task[s->ntasks - 3 + (uint32_t)i];
    assert_ptr_equal(s->rq[1].curr, t[0]);
    for (int i = 0; i < 3; i++) {
        s->rq[1].need_resched = false;
        bsd_task(t[i])->slice = 14;
        fake_ticks(s, 1, 13);
        assert_false(s->rq[1].need_resched);
        fake_ticks(s, 1, 1);
        assert_true(s->rq[1].need_resched);
        assert_ptr_equal(fake_schedule(s, 1, WB_RUNNING), t[(i + 1) % 3]);
    }
    fake_free(s);
}

/* The statistics clock counts slices and run times: 14 of its ticks are 10.9 of hz = 100, a second of running is 1.28 s
 * of history. */
static void the_statistics_clock_counts(void **state)
{
    (void)state;
    struct wb_sim *s = ule_new();
    fill(s, 1, 2, false);
    struct bsd_task *p = bsd_task(s->rq[1].curr);
    p->slice = 14;
    p->runtime = 0;
    fake_ticks(s, 1, 10);
    assert_false(s->rq[1].need_resched);
    assert_int_equal(p->runtime, 12 << 10);
    fake_ticks(s, 1, 1);
    assert_true(s->rq[1].need_resched);
    fake_ticks(s, 1, 89);
    assert_int_equal(p->runtime, 128 << 10);
    fake_free(s);
}

/* SCHED_CURR: a slice whose end changes the priority leaves the task in the current calendar, before those of the next
 * one; once the score stands it has to wait for them. */
static void a_moving_score_stays_current(void **state)
{
    (void)state;
    struct wb_sim *s = ule_new();
    fill(s, 1, 2, false);
    struct wb_task *t = s->rq[1].curr;
    struct bsd_task *p = bsd_task(t);
    p->runtime = 300 << 10;
    p->sleeptime = 100 << 10; /* score 84, priority 213 */
    ule_priority(p);
    p->sleeptime = 0; /* 100: 223 */
    p->slice = 1;
    fake_ticks(s, 1, 1);
    assert_ptr_equal(p->home, ule_rq(&s->rq[1])->curr);
    p->slice = 1;
    fake_ticks(s, 1, 1);
    assert_int_equal(p->user_prio, 223);
    assert_ptr_equal(p->home, ule_rq(&s->rq[1])->next);
    fake_free(s);
}

/* sched_fork_ksegrp(): a child has the priority as it is and a bounded history; its parent pays a tick. */
static void fork_costs_the_parent_a_tick(void **state)
{
    (void)state;
    struct wb_sim *s = ule_new();
    struct wb_task *parent = fake_task(s, 1, 0), *child = fake_task(s, 1, 0);
    struct bsd_task *p = bsd_task(parent);
    p->runtime = 100 << 10;
    p->sleeptime = 100 << 10;
    p->user_prio = 200; /* as its last slice left it */
    s->ops->fork(fake_exec(s, 1), parent, child);
    assert_int_equal(p->runtime, 101 << 10);
    assert_int_equal(bsd_task(child)->runtime, 25 << 10);
    assert_int_equal(bsd_task(child)->user_prio, 200);
    assert_int_equal(bsd_task(child)->slice, 1);
    fake_free(s);
}

/* sched_nice(): who runs is asked to reschedule, who waits stays where it is; the CPU's nice values follow. */
static void nice_of_who_waits(void **state)
{
    (void)state;
    struct wb_sim *s = ule_new();
    fill(s, 1, 2, false);
    struct wb_task *runs = s->rq[1].curr, *waits = s->task[s->ntasks - 1];
    uint32_t list = bsd_task(waits)->list;
    waits->nice = -10;
    s->ops->task_changed(fake_exec(s, 0), waits);
    assert_int_equal(bsd_task(waits)->list, list);
    assert_int_equal(ule_nice_min(ule_rq(&s->rq[1])), -10);
    assert_false(s->rq[1].need_resched);
    runs->nice = 5;
    s->ops->task_changed(fake_exec(s, 0), runs);
    assert_true(s->rq[1].need_resched);
    fake_free(s);
}

/* A sleeper that wakes up goes to the current calendar and so before hogs of the next one. */
static void interactive_goes_first(void **state)
{
    (void)state;
    struct wb_sim *s = ule_new();
    fill(s, 1, 2, false);
    struct wb_task *t = fake_task(s, 1, 19);
    bsd_task(t)->sleeptime = 400 << 10;
    fake_enqueue(s, t, WB_ENQ_WAKEUP);
    assert_ptr_equal(bsd_task(t)->queue, ule_rq(&s->rq[1])->curr);
    assert_ptr_equal(fake_schedule(s, 1, WB_RUNNING), t);
    fake_free(s);
}

/* ---- balancing ---- */

static uint32_t after_a_second(struct wb_sim *s, struct wb_balance *last)
{
    fake_ticks(s, 0, 100 - (uint32_t)(s->rq[0].ticks % 100));
    return fake_balance(s, WB_BAL_PERIODIC_BUSY, 0, WB_LEVEL_HARDIRQ, last);
}

static void half_the_difference_once_a_second(void **state)
{
    (void)state;
    static const struct {
        uint32_t load[4], moved;
        cpu_id from, to;
    } table[] = {
        {{1, 5, 1, 0}, 3, 1, 3}, /* (5 - 0 + 1) / 2 */
        {{1, 4, 1, 0}, 2, 1, 3},
        {{2, 1, 1, 1}, 1, 0, 1}, /* 3 with the balancer itself: (3 - 1 + 1) / 2 */
        {{0, 2, 2, 2}, 1, 1, 0}, /* the balancer's CPU counts 1: (2 - 1 + 1) / 2, and back the next second */
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = ule_new();
        struct wb_balance last = {0};
        for (cpu_id c = 0; c < 4; c++) fill(s, c, table[i].load[c], false);
        fake_ticks(s, 0, 50);
        assert_int_equal(fake_balance(s, WB_BAL_PERIODIC_BUSY, 0, WB_LEVEL_HARDIRQ, NULL), 0);
        if (after_a_second(s, &last) != table[i].moved) fail_msg("row %zu", i);
        assert_int_equal(last.src, table[i].from);
        assert_int_equal(last.dst, table[i].to);
        assert_int_equal(last.rule, ULE_R_BALANCE);
        assert_int_equal(s->rq[table[i].to].nr_running, table[i].load[table[i].to] + table[i].moved);
        assert_int_equal(fake_balance(s, WB_BAL_PERIODIC_BUSY, 1, WB_LEVEL_HARDIRQ, NULL), 0); /* CPU 0 does it */
        fake_free(s);
    }
}

/* The balancer's thread counts as a task of its CPU, and who ran there waits: alone, it is moved away, and that CPU has
 * nothing to do for a second. */
static void the_balancer_counts_itself(void **state)
{
    (void)state;
    static const struct {
        uint32_t load[4];
        bool kicked;
        cpu_id to;
    } table[] = {{{1, 1, 1, 1}, true, 1}, {{1, 0, 0, 0}, true, 1}, {{0, 1, 1, 1}, false, 0}, {{1, 2, 2, 2}, false, 0}};
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = ule_new();
        for (cpu_id c = 0; c < 4; c++) fill(s, c, table[i].load[c], false);
        struct wb_task *t = s->rq[0].curr;
        assert_int_equal(after_a_second(s, NULL), 0);
        if (s->rq[0].active_balance != table[i].kicked) fail_msg("row %zu", i);
        if (table[i].kicked) {
            assert_int_equal(s->rq[0].push_cpu, table[i].to);
            (void)fake_schedule(s, 0, WB_RUNNING); /* as the CPU's thread does that preempts it */
            s->rq[0].curr = s->rq[0].idle;
            bsd_task(t)->home = ule_rq(&s->rq[0])->curr;
            if (!bsd_task(t)->queue) ule_queue(ule_rq(&s->rq[0]), bsd_task(t));
            t->on_cpu = false;
            assert_int_equal(fake_balance(s, WB_BAL_ACTIVE, 0, WB_LEVEL_TASK, NULL), 1);
            assert_int_equal(t->cpu, table[i].to);
        }
        fake_free(s);
    }
}

/* kseq_steal(): from the current calendar before the next one. */
static void who_would_run_next_is_moved(void **state)
{
    (void)state;
    struct wb_sim *s = ule_new();
    fill(s, 1, 4, false);
    struct wb_task *t = fake_task(s, 1, 19);
    bsd_task(t)->sleeptime = 400 << 10;
    fake_enqueue(s, t, WB_ENQ_WAKEUP);
    assert_ptr_equal(bsd_task(t)->queue, ule_rq(&s->rq[1])->curr);
    assert_int_equal(ule_rq(&s->rq[1])->next->nr + ule_rq(&s->rq[1])->curr->nr, 4);
    assert_int_equal(after_a_second(s, NULL), 3);
    assert_int_equal(t->cpu, 2);
    fake_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_and_whom),
        cmocka_unit_test(classes),
        cmocka_unit_test(score),
        cmocka_unit_test(priority),
        cmocka_unit_test(slices),
        cmocka_unit_test(history),
        cmocka_unit_test(hogs_take_turns_by_calendar),
        cmocka_unit_test(the_statistics_clock_counts),
        cmocka_unit_test(a_moving_score_stays_current),
        cmocka_unit_test(fork_costs_the_parent_a_tick),
        cmocka_unit_test(nice_of_who_waits),
        cmocka_unit_test(interactive_goes_first),
        cmocka_unit_test(half_the_difference_once_a_second),
        cmocka_unit_test(the_balancer_counts_itself),
        cmocka_unit_test(who_would_run_next_is_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
