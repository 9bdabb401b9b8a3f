/* What should not happen, made to happen: one scripted situation for each kind, on a machine where nothing costs
 * time, so that every figure is exact. Placement is "where it was born", nobody balances but the script. */
#include "wbtest.h"

#include "steptest.h"
#include "testpol.h"
#include "wakebal/kernel.h"

#define LEVELS \
    "domains = ( { level = \"MC\"; span = \"llc\"; flags = [ \"LOAD_BALANCE\" ]; min_interval = \"1 ms\"; " \
    "max_interval = \"1 ms\"; }, { level = \"CPU\"; span = \"node\"; flags = [ \"LOAD_BALANCE\" ]; min_interval = " \
    "\"1 ms\"; max_interval = \"1 ms\"; } );"
#define TICKS "hz = 1000; tick_phases = [ \"0 ms\", \"0 ms\", \"0 ms\", \"0 ms\" ];"

/* Two packages of two CPUs: 0 and 1 share a cache, 2 and 3 another one. */
static const char *const two_caches[] = {"machine.topology=[numa] pack:2 l3:1 core:2 pu:1", NULL};
static const char *const bound_4_ms[] = {"machine.topology=[numa] pack:2 l3:1 core:2 pu:1", "run.starvation_bound=4 ms",
                                         NULL};

/* ---- the scheduler ---- */

static struct wb_choice stays(struct wb_exec *x, const struct wb_wakeup *w)
{
    (void)x;
    return (struct wb_choice){.cpu = w->prev_cpu};
}
static struct wb_choice is_born_here(struct wb_exec *x, struct wb_task *t)
{
    (void)t;
    return (struct wb_choice){.cpu = x->cpu};
}

/* At a tick of `dst`, the task that waits on `src` goes there. */
static const struct move {
    unsigned ms;
    cpu_id src, dst;
} * script;
static size_t script_left;

/* Is the fault of a task of that name ("b-": any copy of b)? */
static bool is_copy_of(const struct wb_fault *f, const char *name)
{
    return f && strstr(f->task, name) == f->task;
}

static bool never(struct wb_exec *x, struct wb_balance *b)
{
    (void)x, (void)b;
    return false;
}
static bool begin(struct wb_exec *x, struct wb_balance *b)
{
    return script_left && wb_now(x) == script->ms * WB_MS && b->this_cpu == script->dst;
}
static bool next(struct wb_exec *x, struct wb_balance *b)
{
    b->sd = wb_rq(x->sim, b->this_cpu)->sd;
    return !b->flags++;
}
static bool find(struct wb_exec *x, struct wb_balance *b)
{
    (void)x;
    b->src = script->src;
    return true;
}
static void pull(struct wb_exec *x, struct wb_balance *b)
{
    for (task_id i = 0; i < wb_ntasks(x->sim); i++) {
        struct wb_task *t = wb_task_of(x->sim, i);
        if (t->cpu != b->src || !t->on_rq || t->on_cpu || t->kthread) continue;
        wb_move_task(x, b, t, 0);
        script++;
        script_left--;
        return;
    }
    fail_msg("nobody waits on cpu %u", b->src);
}
static enum wb_balance_result done(struct wb_exec *x, struct wb_balance *b, bool found)
{
    (void)x, (void)b, (void)found;
    return WB_BAL_PULLED;
}
static void end(struct wb_exec *x, struct wb_balance *b)
{
    (void)x, (void)b;
}
static const struct wb_balance_ops no_newidle = {never, next, find, pull, done, end, false, false};
static const struct wb_balance_ops by_script = {begin, next, find, pull, done, end, false, false};
static const struct wb_policy_ops scripted = {.abi = WB_POLICY_ABI,
                                              .size = sizeof scripted,
                                              .name = "scripted",
                                              .place_wakeup = stays,
                                              .place_fork = is_born_here,
                                              .balance_newidle = &no_newidle,
                                              .balance_periodic = &by_script};

/* ---- the tasks ---- */

/* arg[0]: how long */
static enum wb_ret computes(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    WB_BEGIN(f);
    WB_USER(x, f, f->me->arg[0]);
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

/* Forbids itself its CPU behind the kernel's back, then yields arg[1] times. */
static enum wb_ret trespasses(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    WB_BEGIN(f);
    WB_USER(x, f, f->me->arg[0]);
    x->task->allowed = f->t->own;
    for (f->i = 0; f->i < f->me->arg[1]; f->i++) {
        WB_CALL(x, f, wb_yield(x));
        WB_USER(x, f, f->me->arg[0]);
    }
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static enum wb_ret yields(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    WB_BEGIN(f);
    for (f->i = 0; f->i < f->me->arg[1]; f->i++) {
        WB_USER(x, f, f->me->arg[0]);
        WB_CALL(x, f, wb_yield(x));
    }
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static struct steptest run(struct steps_task *task, uint32_t n, const char *const *sets, const char *ticks,
                           const char *how)
{
    const struct wb_run_options opt = {.overlay = &scripted};
    struct steptest t = {.task = task,
                         .n = n,
                         .cpus = 4,
                         .scheduler = "testpol",
                         .kernel = LEVELS,
                         .ticks = ticks,
                         .run = how,
                         .sets = sets};
    steptest_build(&t, &opt);
    (void)wb_sim_run(t.sim.sim);
    return t;
}

static void expect(struct steptest *t, const char *name, double want)
{
    double got = simtest_metric(&t->sim, UINT32_MAX, name);
    if (got != want) fail_msg("%s is %.12g, not %.12g", name, got, want);
}

static const struct wb_fault *fault(struct steptest *t, enum wb_fault_kind kind, size_t i)
{
    const struct wb_result *r = wb_sim_result(t->sim.sim);
    for (size_t k = 0; k < r->nfaults; k++)
        if (r->fault[k].kind == kind && !i--) return &r->fault[k];
    return NULL;
}

/* b waits for 10 ms behind a. All CPUs are busy for 1 ms, then one of the other cache is idle for 2 ms before CPU 1
 * is. */
static void idle_while_work_waits(void **state)
{
    (void)state;
    struct steps_task task[] = {
        {.name = "a", .step = computes, .cpu = 0, .arg = {10 * WB_MS}},
        {.name = "b", .step = computes, .cpu = 0, .arg = {1 * WB_MS}},
        {.name = "c", .step = computes, .cpu = 1, .arg = {3 * WB_MS}},
        {.name = "d", .step = computes, .cpu = 2, .arg = {1 * WB_MS}},
        {.name = "e", .step = computes, .cpu = 3, .arg = {1 * WB_MS}},
    };
    struct steptest t = run(task, 5, two_caches, NULL, NULL);
    expect(&t, "idle_while_work_waits.waits", 1);
    expect(&t, "idle_while_work_waits.wait", 0.009);
    expect(&t, "idle_while_work_waits.longest", 0.009);
    expect(&t, "idle_while_work_waits.domain.0", 0.007);
    expect(&t, "idle_while_work_waits.domain.1", 0.002);
    expect(&t, "idle_while_work_waits.domain.none", 0);
    const struct wb_fault *f = fault(&t, WB_FAULT_IDLE_WHILE_WAITING, 0);
    assert_non_null(f);
    assert_true(is_copy_of(f, "b-"));
    assert_int_equal(f->total, 9 * WB_MS);
    assert_int_equal(f->longest, 9 * WB_MS);
    assert_null(fault(&t, WB_FAULT_IDLE_WHILE_WAITING, 1));
    steptest_free(&t);
}

/* A task that may run nowhere else does not wait beside anything; the wait of an idle CPU's own task is none either. */
static void who_may_not_go_waits_beside_nothing(void **state)
{
    (void)state;
    struct steps_task task[] = {
        {.name = "a", .step = computes, .cpu = 0, .arg = {10 * WB_MS}},
        {.name = "b", .step = computes, .cpu = 0, .arg = {1 * WB_MS}, .pinned = true},
    };
    struct steptest t = run(task, 2, two_caches, NULL, NULL);
    expect(&t, "idle_while_work_waits.wait", 0);
    expect(&t, "idle_while_work_waits.waits", 0);
    assert_null(fault(&t, WB_FAULT_IDLE_WHILE_WAITING, 0));
    steptest_free(&t);
}

/* The end of the warm-up and of the run cut waits: b waits from 0 to 10 ms, c on from there to the end at 15 ms. */
static void waits_are_cut_to_what_is_measured(void **state)
{
    (void)state;
    struct steps_task task[] = {
        {.name = "a", .step = computes, .cpu = 0, .arg = {10 * WB_MS}},
        {.name = "b", .step = computes, .cpu = 0, .arg = {20 * WB_MS}},
        {.name = "c", .step = computes, .cpu = 0, .arg = {20 * WB_MS}},
    };
    static const char *const sets[] = {"machine.topology=[numa] pack:2 l3:1 core:2 pu:1", "run.warmup=4 ms",
                                       "run.starvation_bound=9 ms", NULL};
    struct steptest t = run(task, 3, sets, NULL, "duration = \"15 ms\";");
    expect(&t, "idle_while_work_waits.waits", 2);
    expect(&t, "idle_while_work_waits.wait", 0.017); /* 6 + 11 ms */
    expect(&t, "idle_while_work_waits.longest", 0.011);
    expect(&t, "starvation", 2); /* whole: 10 and 15 ms */
    expect(&t, "starvation.longest", 0.015);
    steptest_free(&t);
}

/* Three turns of 5 ms: the second waits 5 ms, the third 10 ms; the bound is 4 ms. One of 4 ms exactly is fine. */
static void starvation(void **state)
{
    (void)state;
    struct steps_task task[] = {
        {.name = "a", .step = computes, .cpu = 0, .arg = {5 * WB_MS}},
        {.name = "b", .step = computes, .cpu = 0, .arg = {5 * WB_MS}},
        {.name = "c", .step = computes, .cpu = 0, .arg = {5 * WB_MS}},
        {.name = "d", .step = computes, .cpu = 1, .arg = {4 * WB_MS}},
        {.name = "e", .step = computes, .cpu = 1, .arg = {1 * WB_MS}},
    };
    struct steptest t = run(task, 5, bound_4_ms, NULL, NULL);
    expect(&t, "starvation", 2);
    expect(&t, "starvation.longest", 0.010);
    const struct wb_fault *worst = fault(&t, WB_FAULT_STARVATION, 0), *second = fault(&t, WB_FAULT_STARVATION, 1);
    assert_non_null(worst);
    assert_non_null(second);
    assert_true(is_copy_of(worst, "c-"));
    assert_int_equal(worst->longest, 10 * WB_MS);
    assert_true(is_copy_of(second, "b-"));
    assert_null(fault(&t, WB_FAULT_STARVATION, 2));
    steptest_free(&t);
}

/* Each of the three switches back to it on CPU 0 is one. */
static void affinity(void **state)
{
    (void)state;
    struct steps_task task[] = {
        {.name = "trespasser", .step = trespasses, .cpu = 0, .arg = {1 * WB_MS, 3}},
        {.name = "other", .step = yields, .cpu = 0, .arg = {1 * WB_MS, 6}},
    };
    uint64_t bits = 2;
    struct wb_cpumask elsewhere = {.ncpus = 4, .nwords = 1, .w = &bits};
    const struct wb_run_options opt = {.overlay = &scripted};
    struct steptest t = {.task = task,
                         .n = 2,
                         .cpus = 4,
                         .scheduler = "testpol",
                         .kernel = LEVELS,
                         .sets = two_caches,
                         .own = &elsewhere};
    steptest_build(&t, &opt);
    (void)wb_sim_run(t.sim.sim);
    expect(&t, "affinity_violations", 3);
    const struct wb_fault *f = fault(&t, WB_FAULT_AFFINITY, 0);
    assert_non_null(f);
    assert_true(is_copy_of(f, "trespasser-"));
    assert_int_equal(f->count, 3);
    steptest_free(&t);
}

/* Back after 3 ms, after 15 ms (not counted), after 9 ms; to the other cache and back after 3 ms. */
static void ping_pong(void **state)
{
    (void)state;
    static const struct move moves[] = {{2, 0, 1}, {5, 1, 0}, {20, 0, 1}, {29, 1, 0}, {40, 0, 2}, {43, 2, 0}};
    struct steps_task task[] = {
        {.name = "hog", .step = computes, .cpu = 0, .arg = {80 * WB_MS}},
        {.name = "ball", .step = computes, .cpu = 0, .arg = {1 * WB_MS}},
        {.name = "hog", .step = computes, .cpu = 1, .arg = {80 * WB_MS}},
        {.name = "hog", .step = computes, .cpu = 2, .arg = {80 * WB_MS}},
    };
    script = moves;
    script_left = WB_ARRAY_SIZE(moves);
    struct steptest t = run(task, 4, two_caches, TICKS, NULL);
    assert_int_equal(script_left, 0);
    expect(&t, "migrations.periodic", 6);
    expect(&t, "migrations.pingpong", 3);
    expect(&t, "migrations.pingpong.periodic", 3);
    expect(&t, "migrations.pingpong.newidle", 0);
    expect(&t, "migrations.pingpong.domain.0", 2);
    expect(&t, "migrations.pingpong.domain.1", 1);
    const struct wb_fault *f = fault(&t, WB_FAULT_PINGPONG, 0);
    assert_non_null(f);
    assert_true(is_copy_of(f, "ball-"));
    assert_int_equal(f->count, 3);
    /* It waits 80 ms, and CPU 3 is idle all the time: 3 ms of them in its own cache. */
    expect(&t, "idle_while_work_waits.wait", 0.080);
    expect(&t, "idle_while_work_waits.domain.0", 0.003);
    expect(&t, "idle_while_work_waits.domain.1", 0.077);
    steptest_free(&t);
}

/* Nothing of it in a run that is all right. */
static void nothing_to_say(void **state)
{
    (void)state;
    struct steps_task task[] = {
        {.name = "a", .step = computes, .cpu = 0, .arg = {10 * WB_MS}},
        {.name = "b", .step = computes, .cpu = 1, .arg = {10 * WB_MS}},
    };
    struct steptest t = run(task, 2, two_caches, NULL, NULL);
    expect(&t, "idle_while_work_waits.wait", 0);
    expect(&t, "starvation", 0);
    expect(&t, "starvation.longest", 0);
    expect(&t, "affinity_violations", 0);
    expect(&t, "migrations.pingpong", 0);
    assert_int_equal(wb_sim_result(t.sim.sim)->nfaults, 0);
    steptest_free(&t);
}

int main(void)
{
    static const struct wb_policy_ops *const policies[] = {&testpol_ops, NULL};
    simtest_policies = policies;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_while_work_waits),
        cmocka_unit_test(who_may_not_go_waits_beside_nothing),
        cmocka_unit_test(waits_are_cut_to_what_is_measured),
        cmocka_unit_test(starvation),
        cmocka_unit_test(affinity),
        cmocka_unit_test(ping_pong),
        cmocka_unit_test(nothing_to_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
