/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/* Futexes: no system call without a waiter, mutual exclusion, order of waking, kills, what a version changes. */
#include "futex.h"
#include "skb.h"
#include "steptest.h"
#include "wbtest.h"

struct shop {
    const char *version;
    struct futex f;
    uint32_t inside, most, rounds, order[8], norder;
    int64_t ret[4];
};

static void setup(struct steptest *t, struct wb_sim *s)
{
    struct shop *p = t->own;
    assert_int_equal(futex_init(s, &p->f, p->version ? p->version : "2.6.22"), 0);
}

/* arg: rounds, time with the lock, time without. */
static enum wb_ret worker(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct shop *p = f->t->own;
    WB_BEGIN(f);
    for (f->i = 0; f->i < f->me->arg[0]; f->i++) {
        WB_CALL(x, f, futex_lock(x, &p->f));
        p->ret[f->me - f->t->task] = x->ret;
        if (x->ret) break;
        p->inside++;
        p->most = WB_MAX(p->most, p->inside);
        WB_USER(x, f, f->me->arg[1]);
        p->inside--;
        p->rounds++;
        WB_CALL(x, f, futex_unlock(x, &p->f));
        WB_USER(x, f, f->me->arg[2]);
    }
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static enum wb_ret waiter(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct shop *p = f->t->own;
    WB_BEGIN(f);
    WB_CALL(x, f, futex_wait(x, &p->f, (uint32_t)f->me->arg[0]));
    p->ret[f->me - f->t->task] = x->ret;
    p->order[p->norder++] = (uint32_t)(f->me - f->t->task);
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static enum wb_ret waker(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct shop *p = f->t->own;
    WB_BEGIN(f);
    WB_USER(x, f, WB_MS);
    if (f->me->arg[1]) WB_CALL(x, f, wb_kill(x, f->t->task[0].task));
    WB_USER(x, f, WB_MS);
    WB_CALL(x, f, futex_wake(x, &p->f, (uint32_t)f->me->arg[0]));
    p->ret[f->me - f->t->task] = x->ret;
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static int run(struct steptest *t, struct shop *p)
{
    t->setup = setup;
    t->own = p;
    t->scheduler = "o1";
    t->cpus = 4;
    static const struct wb_run_options audited = {.audit = true};
    steptest_build(t, &audited);
    return (int)wb_sim_run(t->sim.sim);
}

static void alone_it_asks_nobody(void **state)
{
    (void)state;
    struct shop p = {.most = 0};
    struct steps_task task[] = {{.name = "a", .step = worker, .cpu = 0, .pinned = true, .arg = {100, WB_US, WB_US}}};
    struct steptest t = {.task = task, .n = 1};
    assert_int_equal(run(&t, &p), 0);
    assert_int_equal(p.rounds, 100);
    assert_int_equal(p.f.waits + p.f.wakes, 0);
    assert_int_equal(p.f.word, 0);
    steptest_free(&t);
}

static void one_at_a_time(void **state)
{
    (void)state;
    static const char *const versions[] = {"2.6.22", "6.12"};
    for (size_t v = 0; v < 2; v++) {
        struct shop p = {.version = versions[v]};
        struct steps_task task[4];
        for (uint32_t i = 0; i < 4; i++)
            task[i] = (struct steps_task){.name = "w",
                                          .step = worker,
                                          .cpu = i % 3,
                                          .pinned = true,
                                          .arg = {300, 3 * WB_US + i, 2 * WB_US + 7 * i}};
        const char *const sets[] = {"machine.line.rmw=20 ns", "kernel.path.futex_wait=300 ns", NULL};
        struct steptest t = {.task = task, .n = 4, .sets = sets};
        assert_int_equal(run(&t, &p), 0);
        assert_int_equal(p.most, 1);
        assert_int_equal(p.rounds, 1200);
        assert_true(p.f.waits > 100 && p.f.wakes > 100);
        assert_int_equal(p.f.wake_after, v);
        assert_null(p.f.first);
        steptest_free(&t);
    }
}

static void wakes_in_order(void **state)
{
    (void)state;
    struct shop p = {.most = 0};
    struct steps_task task[] = {{.name = "a", .step = waiter, .cpu = 0, .pinned = true},
                                {.name = "b", .step = waiter, .cpu = 1, .pinned = true, .start = WB_US},
                                {.name = "no", .step = waiter, .cpu = 2, .pinned = true, .arg = {5}},
                                {.name = "k", .step = waker, .cpu = 3, .pinned = true, .arg = {10}}};
    struct steptest t = {.task = task, .n = 4};
    assert_int_equal(run(&t, &p), 0);
    assert_int_equal(p.ret[2], IPC_EAGAIN); /* the word is 0, not 5 */
    assert_int_equal(p.ret[3], 2);
    assert_int_equal(p.norder, 3);
    assert_int_equal(p.order[1], 0);
    assert_int_equal(p.order[2], 1);
    steptest_free(&t);
}

static void a_kill_ends_the_wait(void **state)
{
    (void)state;
    struct shop p = {.most = 0};
    struct steps_task task[] = {{.name = "a", .step = waiter, .cpu = 0, .pinned = true},
                                {.name = "b", .step = waiter, .cpu = 1, .pinned = true},
                                {.name = "k", .step = waker, .cpu = 2, .pinned = true, .arg = {10, 1}}};
    struct steptest t = {.task = task, .n = 3};
    assert_int_equal(run(&t, &p), 0);
    assert_int_equal(p.ret[0], IPC_EINTR);
    assert_int_equal(p.ret[1], 0);
    assert_int_equal(p.ret[2], 1);
    steptest_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alone_it_asks_nobody), cmocka_unit_test(one_at_a_time),
                                       cmocka_unit_test(wakes_in_order), cmocka_unit_test(a_kill_ends_the_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
