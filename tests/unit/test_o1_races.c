/* Three stories that the balancer and the waker tell each other, as traces that one can read: an idle CPU grabs a
 * woken task before its waker sleeps, a sync wakeup pulls a task over, the migration thread pushes a running one
 * away. Two CPUs, 2.6.11. */
#include "wbtest.h"

#include "o1.h"
#include "simtest.h"

static char story[8192];

static void say(const char *fmt, ...) WB_PRINTF(1, 2);
static void say(const char *fmt, ...)
{
    size_t at = strlen(story);
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(story + at, sizeof story - at, fmt, ap);
    va_end(ap);
}

static const char *name_of(struct wb_sim *s, uint32_t task)
{
    const struct wb_task *t = wb_task_of(s, task);
    return t->klass == WB_CLASS_SWAPPER ? "idle" : wb_task_name(t);
}

/* Only what a person would tell: who wakes whom where and why, who moves, who runs. */
static void tell(struct wb_sim *s, const struct wb_trace_record *r)
{
    switch (r->type) {
    case WB_TR_WAKING:
        say("%s wakes %s%s on %u: %s\n", name_of(s, r->b), name_of(s, r->task), r->c & WB_WF_SYNC ? " (sync)" : "",
            r->a, o1_rules[r->rule]);
        break;
    case WB_TR_MIGRATE:
        if (r->c != WB_MIG_WAKE)
            say("%s moves %u -> %u, %s: %s\n", name_of(s, r->task), r->a, r->b, wb_mig_name[r->c], o1_rules[r->rule]);
        break;
    case WB_TR_SWITCH: say("cpu %u: %s -> %s\n", r->cpu, name_of(s, r->task), name_of(s, r->a)); break;
    default: break;
    }
}

/* Runs tasks (libconfig text of the list) with pins of both tasks done by `from`, and tells what happened until
 * `to`. */
static void run(const char *tasks, const char *extra, sim_time from, sim_time to)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "schema = 1;\nmachine : { topology = \"[numa] pack:2 l2:1 core:1 pu:1\"; };\n"
                   "kernel : { base = \"linux-2.6.11\"; tick_phases = [ \"0 us\", \"400 us\" ]; %s };\n"
                   "workload = ( { kind = \"custom\"; start = \"0 s\"; events = [ \"go\" ]; tasks = ( %s ); } );\n"
                   "run : { duration = \"100 ms\"; warmup = \"none\"; start_spread = \"0 s\"; };\n",
                   extra, tasks);
    struct wb_run_options opt = {.trace_capacity = 100000, .trace_from = from, .trace_to = to};
    struct simtest t = simtest_build(text, NULL, &opt);
    (void)wb_sim_run(t.sim);
    const struct wb_trace *trace = wb_sim_result(t.sim)->trace;
    *story = 0;
    for (uint64_t i = 0; i < trace->written; i++) tell(t.sim, &trace->ring[i]);
    simtest_free(&t);
}

#define WAITER \
    "{ name = \"reader\"; start = \"1 ms\"; program = [ \"pin 0\", \"pin 0-1\", \"wait go\", \"run 300 us\", \"wait " \
    "go\" ]; }, "

/* The waker goes on for long: the other CPU's idle tick finds two tasks here and takes the one that does not run. */
static void idle_cpu_grabs_before_the_waker_sleeps(void **state)
{
    (void)state;
    run(WAITER "{ name = \"writer\"; start = \"5 ms\"; program = [ \"pin 0\", \"pin 0-1\", \"run 10 ms\", \"wake go\", "
               "\"run 6 ms\", \"sleep 1 s\" ]; }",
        "", 12 * WB_MS, 30 * WB_MS);
    assert_string_equal(story, "writer wakes reader on 0: slept on the waker's CPU: stays\n"
                               "reader moves 0 -> 1, periodic: moving one task gains throughput\n"
                               "cpu 1: idle -> reader\n"
                               "cpu 1: reader -> idle\n"
                               "cpu 0: writer -> idle\n");
}

/* The waker sleeps at once: nobody was faster, the task runs where it was woken. */
static void waker_sleeps_before_an_idle_cpu_grabs(void **state)
{
    (void)state;
    run(WAITER "{ name = \"writer\"; start = \"5 ms\"; program = [ \"pin 0\", \"pin 0-1\", \"run 10 ms\", \"wake go\", "
               "\"sleep 1 s\" ]; }",
        "", 12 * WB_MS, 30 * WB_MS);
    assert_string_equal(story, "writer wakes reader on 0: slept on the waker's CPU: stays\n"
                               "cpu 0: writer -> reader\n"
                               "cpu 0: reader -> idle\n");
}

/* The reader slept on CPU 1, its caches there are cold by now: a sync wakeup takes it to the waker, a plain one
 * leaves it. */
static void sync_wakeup_pulls_a_cold_task(void **state)
{
    (void)state;
    static const char reader[] = "{ name = \"reader\"; start = \"1 ms\"; program = [ \"pin 1\", \"pin 0-1\", \"wait "
                                 "go\", \"run 300 us\", \"wait go\" ]; }, ";
    static const char *const expected[] = {
        "writer wakes reader on 1: previous CPU nearly idle and waker's CPU busy: previous CPU\n"
        "cpu 0: writer -> idle\n"
        "cpu 1: idle -> reader\n"
        "cpu 1: reader -> idle\n",
        "writer wakes reader (sync) on 0: sync: affine pull, cache cold\n"
        "cpu 0: writer -> reader\n"
        "cpu 0: reader -> idle\n",
    };
    char tasks[512];
    for (int sync = 0; sync < 2; sync++) {
        (void)snprintf(tasks, sizeof tasks,
                       "%s{ name = \"writer\"; start = \"5 ms\"; program = [ \"pin 0\", \"pin 0-1\", \"run 10 ms\", "
                       "\"wake go%s\", \"sleep 1 s\" ]; }",
                       reader, sync ? " sync" : "");
        run(tasks, "", 12 * WB_MS, 30 * WB_MS);
        assert_string_equal(story, expected[sync]);
    }
}

/* One task runs, the other may not leave: nothing can be pulled, so after four failures the migration thread pushes
 * the first. */
static void migration_thread_pushes_the_running_task(void **state)
{
    (void)state;
    run("{ name = \"bound\"; start = \"1 ms\"; cpus = \"0\"; nice = 19; program = [ \"run 1 s\" ]; }, "
        "{ name = \"free\"; start = \"2 ms\"; nice = -10; program = [ \"pin 0\", \"pin 0-1\", \"run 1 s\" ]; }",
        "", 3 * WB_MS, 60 * WB_MS);
    assert_string_equal(story, "idle wakes migration on 0: waker's CPU not allowed: previous CPU\n"
                               "cpu 0: free -> migration\n"
                               "free moves 0 -> 1, active: active balance: migration thread pushes to an idle CPU\n"
                               "cpu 0: migration -> bound\n"
                               "cpu 1: idle -> free\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_cpu_grabs_before_the_waker_sleeps),
        cmocka_unit_test(waker_sleeps_before_an_idle_cpu_grabs),
        cmocka_unit_test(sync_wakeup_pulls_a_cold_task),
        cmocka_unit_test(migration_thread_pushes_the_running_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
