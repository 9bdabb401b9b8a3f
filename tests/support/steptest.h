/*
 * steptest.h - whole simulations in which each task's program is a C step function, on a machine where nothing costs
 * time unless the test says so.
 *
 *     static enum wb_ret busy(struct wb_exec *x, void *frame)
 *     {
 *         struct steps_frame *f = frame;
 *         WB_BEGIN(f);
 *         WB_USER(x, f, f->me->arg[0]);
 *         WB_CALL(x, f, steps_end(x));
 *         WB_END();
 *     }
 *     struct steps_task task[] = {{.name = "a", .step = busy, .cpu = 0, .arg = {WB_MS}}};
 *     struct steptest t = {.task = task, .n = 1, .scheduler = "testpol", .cpus = 2};
 *     steptest_build(&t, NULL);
 *     wb_sim_run(t.sim.sim); ... steptest_free(&t);
 *
 * Free means: all path costs, lines, IPIs and idle states are 0, and no tick comes in the first 90 ms. `sets` brings
 * single costs back.
 */
#ifndef WB_TESTS_STEPTEST_H
#define WB_TESTS_STEPTEST_H

#include "simtest.h"
#include "wakebal/kernel.h"

#define STEPS_ARGS 4

struct steps_task {
    const char *name;
    wb_step_fn step; /* its frame is a struct steps_frame */
    cpu_id cpu;      /* where it is born */
    bool pinned;     /* it may not leave that CPU */
    sim_time start;
    sim_time arg[STEPS_ARGS]; /* the test's own */
    struct wb_task *task;     /* filled in by steptest_build() */
};

struct steps_frame {
    struct wb_frame h;
    struct steptest *t;
    struct steps_task *me;
    struct wb_wait_entry wait;
    uint64_t i, seen;
};

struct steptest {
    struct steps_task *task;
    uint32_t n;
    unsigned cpus;           /* cores below one L3 */
    const char *scheduler;   /* family: "o1", "testpol" */
    const char *kernel;      /* further text of kernel : { }: base = , noise = ; or NULL */
    const char *machine;     /* further text of machine : { }, or NULL */
    const char *ticks;       /* "hz = 1000; tick_phases = [ ... ];", or NULL: HZ 10, the first tick at 99 ms */
    const char *run;         /* NULL: horizon = "90 ms"; */
    const char *const *sets; /* "machine.ipi.send=1 us", NULL-terminated; or NULL */
    bool show_ticks;         /* in the timeline */
    void (*setup)(struct steptest *t, struct wb_sim *s); /* locks, lines, regions: while building; may be NULL */
    void *own;                                           /* the test's */
    struct simtest sim;
    uint32_t instance;
};

void steptest_build(struct steptest *t, const struct wb_run_options *opt);
void steptest_free(struct steptest *t);
/* Frame: the task ends; when all have, the run ends. */
void steps_end(struct wb_exec *x);

/* "name = \"0 ns\"; ..." of every kernel.path.* key of a scheduler family; static until the next call. */
const char *steptest_free_paths(const char *scheduler);
/* Lines, IPIs, idle states and memory latency at no cost; goes into machine : { ... }. */
extern const char steptest_free_machine[];

/*
 * What was recorded, one line a record, in us since `from`: switches, wakeups with their rule, moves with kind and
 * rule, balancing passes, ticks if asked for.
 *
 *     "    100.0 cpu0: a wakes b on cpu0 [slept on the waker's CPU: stays]\n"
 *
 * malloc'd. Built with a trace that has room for everything.
 */
char *steptest_timeline(const struct steptest *t, sim_time from, sim_time to);

#endif
