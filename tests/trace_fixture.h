/* trace_fixture.h - a small recorded story for the tests of sim/trace: a pipe pair on two of three CPUs, with a
 * migration. */
#ifndef WB_TRACE_FIXTURE_H
#define WB_TRACE_FIXTURE_H

#include "tracering.h"
#include "wakebal/traceview.h"

enum { FIX_CPUS = 3, FIX_TASKS = 7, FIX_WR = 3, FIX_RD = 4, FIX_ODD = 5, FIX_TWIN = 6, FIX_PREEMPTED = 16 };

static inline void fix_task(void *ctx, task_id id, struct wb_trace_task *out)
{
    (void)ctx;
    static const char *const name[] = {NULL,        NULL, NULL, "bw_pipe-wr", "bw_pipe-rd", "a b=c:d/e\n0123456789",
                                       "bw_pipe-rd"};
    *out = (struct wb_trace_task){
        .name = name[id], .pid = 99 + id, .prio = 120, .tgid = id == FIX_ODD ? 0 : 101, .idle = id < 3, .cpu = id};
}

static inline const char *fix_rule(void *ctx, uint16_t rule)
{
    (void)ctx;
    return rule == 1 ? "idle sibling" : NULL;
}

static const struct wb_trace_names fix_names = {
    .task = fix_task, .rule = fix_rule, .ntasks = FIX_TASKS, .ncpus = FIX_CPUS};

#define FIX_PRIO (120u << 16 | 120u)
static inline void fix_switch(struct wb_trace *t, sim_time when, uint16_t cpu, task_id prev, uint32_t state,
                              task_id next)
{
    trace_emit(t,
               (struct wb_trace_record){
                   .when = when, .type = WB_TR_SWITCH, .cpu = cpu, .task = prev, .a = next, .b = state, .c = FIX_PRIO});
}

static inline void fix_wake(struct wb_trace *t, sim_time when, uint16_t cpu, task_id waker, task_id wakee,
                            uint32_t target)
{
    trace_emit(t, (struct wb_trace_record){
                      .when = when, .type = WB_TR_WAKING, .cpu = cpu, .task = wakee, .a = target, .b = waker});
    trace_emit(t, (struct wb_trace_record){
                      .when = when, .type = WB_TR_WAKEUP, .cpu = cpu, .task = wakee, .a = target, .b = waker});
}

/* 0 us the writer starts on cpu0; 4 us wakes the reader there; 8 us blocks, reader runs; 14 us reader wakes the
 * writer; 20 us the reader is preempted by the writer; 30 us cpu1 takes the reader and runs it; 40 us the writer
 * exits. cpu2 stays idle. */
static inline void fix_story(struct wb_trace *t)
{
    fix_switch(t, 0, 0, 0, 0, FIX_WR);
    fix_wake(t, 4 * WB_US, 0, FIX_WR, FIX_RD, 0);
    fix_switch(t, 8 * WB_US, 0, FIX_WR, 1, FIX_RD);
    fix_wake(t, 14 * WB_US, 0, FIX_RD, FIX_WR, 0);
    fix_switch(t, 20 * WB_US, 0, FIX_RD, FIX_PREEMPTED, FIX_WR);
    trace_emit(t, (struct wb_trace_record){
                      .when = 30 * WB_US, .type = WB_TR_MIGRATE, .cpu = 1, .task = FIX_RD, .a = 0, .b = 1, .rule = 1});
    fix_switch(t, 30 * WB_US + 250 * WB_NS, 1, 1, 0, FIX_RD);
    trace_emit(t, (struct wb_trace_record){.when = 40 * WB_US, .type = WB_TR_EXIT, .cpu = 0, .task = FIX_WR});
    fix_switch(t, 40 * WB_US, 0, FIX_WR, 3, 0);
}

static inline struct wb_trace fix_ring(struct arena *a, uint64_t capacity)
{
    struct wb_trace t;
    arena_init(a, "trace");
    if (trace_init(&t, a, capacity, 0, WB_TIME_NEVER)) abort();
    return t;
}

#endif
