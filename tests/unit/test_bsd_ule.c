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
    /* last ran elsewhere: there, whatever the loads */
    {{1, 0, 0, 0}, false, 1, ANY, 1, ULE_R_LAST_CPU, ULE_R_CPU_IDLE},
    {{1, 1, 0, 0}, false, 1, ANY, 1, ULE_R_LAST_CPU, ULE_R_PREEMPT},
    {{1, 1, 0, 0}, true, 1, ANY, 1, ULE_R_LAST_CPU, ULE_R_WAITS},
    {{1, 3, 0, 0}, true, 1, ANY, 1, ULE_R_LAST_CPU, ULE_R_WAITS},
    {{3, 1, 0, 0}, true, 1, ANY, 1, ULE_R_LAST_CPU, ULE_R_WAITS}, /* no idle push for those */
    {{1, 1, 1, 0}, false, 3, ANY, 3, ULE_R_LAST_CPU, ULE_R_CPU_IDLE},
    {{0, 1, 1, 1}, true, 3, ANY, 3, ULE_R_LAST_CPU, ULE_R_WAITS}, /* though the waker's CPU idles */
    {{0, 0, 0, 0}, false, 2, ANY, 2, ULE_R_LAST_CPU, ULE_R_CPU_IDLE},
    /* last ran here: the waker alone is no reason to go */
    {{1, 0, 0, 0}, false, 0, ANY, 0, ULE_R_HERE, ULE_R_PREEMPT},
    {{1, 0, 0, 0}, true, 0, ANY, 0, ULE_R_HERE, ULE_R_WAITS},
    {{1, 1, 1, 1}, true, 0, ANY, 0, ULE_R_HERE, ULE_R_WAITS},
    {{0, 0, 0, 0}, false, 0, ANY, 0, ULE_R_HERE, ULE_R_CPU_IDLE}, /* woken by an interrupt */
    /* another one besides the waker: first idle CPU */
    {{2, 0, 0, 0}, false, 0, ANY, 1, ULE_R_IDLE_PUSH, ULE_R_CPU_IDLE},
    {{2, 1, 0, 0}, false, 0, ANY, 2, ULE_R_IDLE_PUSH, ULE_R_CPU_IDLE},
    {{2, 1, 1, 0}, true, 0, ANY, 3, ULE_R_IDLE_PUSH, ULE_R_CPU_IDLE},
    {{5, 1, 1, 0}, true, 0, ANY, 3, ULE_R_IDLE_PUSH, ULE_R_CPU_IDLE},
    {{2, 1, 1, 1}, true, 0, ANY, 0, ULE_R_HERE, ULE_R_WAITS},
    {{2, 1, 1, 1}, false, 0, ANY, 0, ULE_R_HERE, ULE_R_PREEMPT},
    /* affinity */
    {{2, 0, 0, 0}, true, 0, 0, 0, ULE_R_HERE, ULE_R_WAITS},
    {{1, 0, 0, 0}, false, 1, 0, 0, ULE_R_NOT_ALLOWED, ULE_R_PREEMPT},
    {{1, 0, 0, 0}, false, 1, 3, 3, ULE_R_NOT_ALLOWED, ULE_R_CPU_IDLE},
    {{2, 0, 0, 0}, false, 0, 3, 3, ULE_R_NOT_ALLOWED, ULE_R_CPU_IDLE},
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
    struct wb_sim *s = ule_new();
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
        {{1, 5, 1, 0}, 3, 1, 3},                          /* (5 - 0 + 1) / 2 */
        {{1, 4, 1, 0}, 2, 1, 3}, {{2, 1, 1, 1}, 1, 0, 1}, /* a difference of one moves one, and back the next second */
        {{1, 1, 1, 1}, 0, 0, 0}, {{1, 0, 0, 0}, 0, 0, 1}, /* found, but the only one runs */
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(table); i++) {
        struct wb_sim *s = ule_new();
        struct wb_balance last = {0};
        for (cpu_id c = 0; c < 4; c++) fill(s, c, table[i].load[c], false);
        fake_ticks(s, 0, 50);
        assert_int_equal(fake_balance(s, WB_BAL_PERIODIC_BUSY, 0, WB_LEVEL_HARDIRQ, NULL), 0);
        assert_int_equal(after_a_second(s, &last), table[i].moved);
        if (table[i].moved) {
            assert_int_equal(last.src, table[i].from);
            assert_int_equal(last.dst, table[i].to);
            assert_int_equal(last.rule, ULE_R_BALANCE);
            assert_int_equal(s->rq[table[i].to].nr_running, table[i].load[table[i].to] + table[i].moved);
        }
        assert_int_equal(fake_balance(s, WB_BAL_PERIODIC_BUSY, 1, WB_LEVEL_HARDIRQ, NULL), 0); /* CPU 0 does it */
        fake_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_and_whom),
        cmocka_unit_test(score),
        cmocka_unit_test(priority),
        cmocka_unit_test(slices),
        cmocka_unit_test(history),
        cmocka_unit_test(hogs_take_turns_by_calendar),
        cmocka_unit_test(interactive_goes_first),
        cmocka_unit_test(half_the_difference_once_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
