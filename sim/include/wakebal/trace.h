/*
 * trace.h - the event record and its ring.
 *
 * Every scheduling event becomes one 32-byte record, written only when tracing is on (one predictable branch
 * otherwise). Text is made off the event path by the exporters (sim/trace).
 */
#ifndef WAKEBAL_TRACE_H
#define WAKEBAL_TRACE_H

#include "wakebal/base.h"

enum wb_trace_type {
    WB_TR_SWITCH, /* task = prev, a = next, b = prev state (enum wb_task_state, +16 if preempted), c = prio pair */
    WB_TR_WAKING, /* task = wakee, a = chosen cpu, b = waker task, c = flags | level << 8 | previous cpu << 16; rule */
    WB_TR_WAKEUP, /* task = wakee, a = target cpu */
    WB_TR_WAKEUP_NEW,
    WB_TR_MIGRATE, /* task, a = from, b = to, c = enum wb_migration; rule */
    WB_TR_FORK,    /* task = parent, a = child */
    WB_TR_EXIT,
    WB_TR_RUNTIME, /* task, a = low, b = high 32 bits of ns */
    WB_TR_BALANCE, /* a = kind, b = src, c = domain depth << 16 | moved; rule */
    WB_TR_IPI,     /* a = target, b = vector */
    WB_TR_IDLE,    /* a = 1 enter, 0 exit; b = exit latency ns */
    WB_TR_TICK,
    WB_TR_PHASE, /* workload mark: task, a = code, b, c */
    WB_TR_COUNTER,
    WB_TR_N
};

struct wb_trace_record {
    sim_time when;
    uint16_t type;
    uint16_t cpu;
    uint32_t task;
    uint32_t a, b, c;
    uint16_t rule;
    uint16_t spare;
};
_Static_assert(sizeof(struct wb_trace_record) == 32, "the trace record is 32 bytes");

/* Ring of records; keeps the last `capacity`. */
struct wb_trace {
    struct wb_trace_record *ring;
    uint64_t capacity, written; /* written counts all */
    sim_time from, to;          /* window */
};

#endif
