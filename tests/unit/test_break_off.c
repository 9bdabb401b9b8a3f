/* test_break_off.c - a run looks up from its work: it can be broken off, and one that cannot end is found out. */
#include <string.h>

#include "o1.h"
#include "steptest.h"
#include "wbtest.h"

/* A tenth of a microsecond of work, for ever. */
static enum wb_ret busy(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    WB_BEGIN(f);
    for (;;) WB_USER(x, f, WB_NS * 100);
    WB_END();
}

struct nothing {
    struct wb_frame h;
};

static enum wb_ret nothing_step(struct wb_exec *x, void *frame)
{
    struct nothing *f = frame;
    (void)x;
    WB_BEGIN(f);
    WB_END();
}

static void nothing(struct wb_exec *x)
{
    (void)WB_PUSH(x, nothing_step, struct nothing);
}

/* Calls without cost, for ever. */
static enum wb_ret stuck(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    WB_BEGIN(f);
    WB_USER(x, f, WB_US);
    for (;;) WB_CALL(x, f, nothing(x));
    WB_END();
}

static void a_run_is_broken_off(void **state)
{
    (void)state;
    volatile int stop = 1;
    struct steps_task task[] = {{.name = "a", .step = busy, .cpu = 0}};
    struct steptest t = {.task = task, .n = 1, .scheduler = "o1", .cpus = 2, .run = "horizon = \"1000 s\";"};
    steptest_build(&t, &(struct wb_run_options){.stop = &stop, .audit = true});
    assert_int_equal(wb_sim_run(t.sim.sim), WB_RUN_BROKEN);
    steptest_free(&t);
}

static void an_endless_moment_is_found(void **state)
{
    (void)state;
    uint32_t instance = 7;
    struct steps_task task[] = {{.name = "fine", .step = busy, .cpu = 1, .pinned = true},
                                {.name = "stuck", .step = stuck, .cpu = 0, .pinned = true}};
    struct steptest t = {.task = task, .n = 2, .scheduler = "o1", .cpus = 2, .run = "horizon = \"10 ms\";"};
    steptest_build(&t, &(struct wb_run_options){.audit = true}); /* which does not look at half a step */
    assert_int_equal(wb_sim_run(t.sim.sim), WB_RUN_STALLED);
    assert_string_equal(wb_sim_stalled(t.sim.sim, &instance), "stuck");
    assert_int_equal(instance, 0);
    steptest_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_run_is_broken_off),
                                       cmocka_unit_test(an_endless_moment_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
