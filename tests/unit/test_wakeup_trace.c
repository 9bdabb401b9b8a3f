/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/*
 * Three short stories of the O(1) scheduler that one can read: the race between a waker that is about to sleep and the
 * tick of an idle CPU, the affine pull of a sync wakeup, and active balancing.
 *
 * Two CPUs below one domain, rules and numbers of Linux 2.6.11 at HZ 1000. CPU 0 ticks at every whole millisecond,
 * CPU 1 half a millisecond later. Nothing takes time but a wakeup (1 us), a switch (2 us), moving a queued task (3 us)
 * and the flight of an interrupt to the other CPU (4 us). Bonuses are off: all tasks have one priority, so nobody
 * preempts.
 */
#include "wbtest.h"

#include "steptest.h"

static const char *const costs[] = {
    "kernel.path.try_to_wake_up=1 us", "kernel.path.context_switch=2 us", "kernel.path.move_task=3 us",
    "machine.ipi.flight_llc=4 us",     "policy.interactive=false",        NULL,
};

struct story {
    struct steps_task *task;
    uint32_t n;
    struct wb_waitq gate;
    sim_time from, to;
    bool ticks;
};

static void setup(struct steptest *t, struct wb_sim *s)
{
    struct story *y = t->own;
    wb_waitq_init(s, &y->gate);
}

static void expect(struct story *y, const char *want)
{
    static const struct wb_run_options traced = {.trace_capacity = 4096, .audit = true};
    struct steptest t = {.task = y->task,
                         .n = y->n,
                         .cpus = 2,
                         .scheduler = "o1",
                         .kernel = "base = \"linux-2.6.11\";",
                         .ticks = "hz = 1000; tick_phases = [ \"0 ms\", \"500 us\" ];",
                         .sets = costs,
                         .setup = setup,
                         .own = y,
                         .show_ticks = y->ticks};
    steptest_build(&t, &traced);
    assert_int_equal(wb_sim_run(t.sim.sim), 0);
    char *got = steptest_timeline(&t, y->from, y->to);
    if (strcmp(got, want)) print_error("--- wanted\n%s--- got\n%s---\n", want, got);
    assert_string_equal(got, want);
    free(got);
    steptest_free(&t);
}

/* arg: how long it runs before it waits at the gate, and after it was woken. */
static enum wb_ret wakee_step(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct story *y = f->t->own;
    WB_BEGIN(f);
    WB_USER(x, f, f->me->arg[0]);
    x->user = 0;
    WB_CALL(x, f, wb_prepare_to_wait(x, &y->gate, &f->wait, false, WB_INTERRUPTIBLE));
    WB_CALL(x, f, wb_schedule(x));
    WB_CALL(x, f, wb_finish_wait(x, &y->gate, &f->wait));
    WB_USER(x, f, f->me->arg[1]);
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

/* arg: how long it runs before the wakeup, how long after it, wake flags. */
static enum wb_ret waker_step(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct story *y = f->t->own;
    WB_BEGIN(f);
    WB_USER(x, f, f->me->arg[0]);
    x->user = 0;
    WB_CALL(x, f, wb_wake_up(x, &y->gate, WB_ASLEEP, 1, (uint32_t)f->me->arg[2]));
    WB_USER(x, f, f->me->arg[1]);
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

/* arg: how long it runs. */
static enum wb_ret busy_step(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    WB_BEGIN(f);
    WB_USER(x, f, f->me->arg[0]);
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

/* The wakee went to sleep on CPU `cpu` at 1.1 ms; the waker runs on CPU 0 from 2 ms on, wakes it at 10.1 ms and goes on
 * for `rest`. Told from 10 ms on. */
static struct story wakeup(struct steps_task *task, cpu_id cpu, uint32_t flags, sim_time rest)
{
    task[0] = (struct steps_task){
        .name = "wakee", .step = wakee_step, .cpu = cpu, .start = WB_MS, .arg = {100 * WB_US, 2 * WB_MS}};
    task[1] = (struct steps_task){
        .name = "waker", .step = waker_step, .cpu = 0, .start = 2 * WB_MS, .arg = {8098 * WB_US, rest, flags}};
    return (struct story){.task = task, .n = 2, .from = 10 * WB_MS, .to = 13 * WB_MS};
}

/* The wakee waits behind its waker. CPU 1's next tick does nothing: the load of CPU 0 is damped and still one task's.
 * The tick of CPU 0 lifts it to one and a half, and the second tick of CPU 1 takes the wakee away, cold as it is. */
static void the_idle_cpu_grabs(void **state)
{
    struct steps_task task[2];
    struct story y = wakeup(task, 0, 0, 2500 * WB_US);
    (void)state;
    y.ticks = true;
    expect(&y,
           "      0.0 cpu0: tick\n"
           "    101.0 cpu0: waker wakes wakee on cpu0 [slept on the waker's CPU: stays]\n"
           "    500.0 cpu1: tick\n"
           "   1000.0 cpu0: tick\n"
           "   1500.0 cpu1: tick\n"
           "   1500.0 cpu1: wakee moves cpu0 -> cpu1: periodic [moving one task gains throughput]\n"
           "   1503.0 cpu1: balance: from cpu0, 1 moved [moving one task gains throughput]\n"
           "   1505.0 cpu1: wakee runs\n"
           "   2000.0 cpu0: tick\n"
           "   2500.0 cpu1: tick\n"
           "   2601.0 cpu0: balance: from cpu1, 0 moved [newly idle: takes one from the busiest group in any case]\n"
           "   2603.0 cpu0: waker ends, idle runs\n");
}

/* The same, but the waker stops after 0.2 ms: the tick comes too late, and the two stay on one CPU. */
static void the_waker_sleeps_first(void **state)
{
    struct steps_task task[2];
    struct story y = wakeup(task, 0, 0, 200 * WB_US);
    (void)state;
    y.ticks = true;
    expect(&y, "      0.0 cpu0: tick\n"
               "    101.0 cpu0: waker wakes wakee on cpu0 [slept on the waker's CPU: stays]\n"
               "    303.0 cpu0: waker ends, wakee runs\n"
               "    500.0 cpu1: tick\n"
               "   1000.0 cpu0: tick\n"
               "   1500.0 cpu1: tick\n"
               "   1500.0 cpu1: balance: nothing to do\n"
               "   2000.0 cpu0: tick\n"
               "   2303.0 cpu0: balance: nothing to do\n");
}

/* A sync waker does not count as load: the wakee follows it, and runs when it stops. */
static void a_sync_wakeup_pulls(void **state)
{
    struct steps_task task[2];
    struct story y = wakeup(task, 1, WB_WF_SYNC, 200 * WB_US);
    (void)state;
    y.to = 10400 * WB_US;
    expect(&y, "    101.0 cpu0: waker wakes wakee on cpu0, sync [sync: affine pull, cache cold]\n"
               "    101.0 cpu0: wakee moves cpu1 -> cpu0: wake [sync: affine pull, cache cold]\n"
               "    303.0 cpu0: waker ends, wakee runs\n");
}

/* Without the hint the idle CPU keeps it, an interrupt and a switch later. */
static void a_plain_wakeup_does_not(void **state)
{
    struct steps_task task[2];
    struct story y = wakeup(task, 1, 0, 200 * WB_US);
    (void)state;
    y.to = 10400 * WB_US;
    expect(&y,
           "    101.0 cpu0: waker wakes wakee on cpu1 [previous CPU nearly idle and waker's CPU busy: previous CPU]\n"
           "    107.0 cpu1: wakee runs\n"
           "    301.0 cpu0: balance: nothing to do\n"
           "    303.0 cpu0: waker ends, idle runs\n");
}

/* Who may move runs, and who waits may not move: idle CPU 1 balances in vain, at longer and longer intervals. The
 * fourth time it wakes the migration thread of CPU 0, which preempts the movable task and pushes it over. */
static void the_migration_thread_pushes(void **state)
{
    struct steps_task task[] = {
        {.name = "free", .step = busy_step, .cpu = 0, .start = WB_MS, .arg = {20 * WB_MS}},
        {.name = "pinned", .step = busy_step, .cpu = 0, .pinned = true, .start = 2 * WB_MS, .arg = {20 * WB_MS}}};
    struct story y = {.task = task, .n = 2, .from = 2 * WB_MS, .to = 14515 * WB_US};
    (void)state;
    expect(&y,
           "   1500.0 cpu1: balance: from cpu0, 0 moved [moving one task gains throughput]\n"
           "   4500.0 cpu1: balance: from cpu0, 0 moved [moving one task gains throughput]\n"
           "   8500.0 cpu1: balance: from cpu0, 0 moved [busiest group above the average]\n"
           "  12500.0 cpu1: balance: from cpu0, 0 moved [busiest group above the average]\n"
           "  12501.0 cpu1: idle wakes migration on cpu0 [waker's CPU not allowed: previous CPU]\n"
           "  12507.0 cpu0: free preempted, migration runs\n"
           "  12507.0 cpu0: free moves cpu0 -> cpu1: active [active balance: migration thread pushes to an idle CPU]\n"
           "  12510.0 cpu1: balance: from cpu0, 1 moved [active balance: migration thread pushes to an idle CPU]\n"
           "  12512.0 cpu0: migration sleeps, pinned runs\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_idle_cpu_grabs),          cmocka_unit_test(the_waker_sleeps_first),
        cmocka_unit_test(a_sync_wakeup_pulls),         cmocka_unit_test(a_plain_wakeup_does_not),
        cmocka_unit_test(the_migration_thread_pushes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
