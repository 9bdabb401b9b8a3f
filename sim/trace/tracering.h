/*
 * tracering.h - the ring of trace records: inline append on the event path, ordered reading afterwards.
 *
 * The ring keeps the last `capacity` records (a power of two) whose time lies in [from, to); older ones are
 * overwritten and counted as lost. Records are appended in nondecreasing time by one thread. A ring of capacity 0
 * must not be appended to: the caller tests "is tracing on" once, with the pointer.
 *
 * What the fields of a record hold beyond trace.h:
 *   SWITCH  c = prio of prev << 16 | prio of next, in the kernel's numbering (120 = nice 0)
 *   WAKING, WAKEUP, WAKEUP_NEW   cpu = where the wakeup executes, b = the waker (for an interrupt: the interrupted
 *   task) MIGRATE cpu = where the move executes
 *   TICK    task = who was interrupted (views learn from it who runs on a CPU that never switches)
 */
#ifndef WB_TRACE_TRACERING_H
#define WB_TRACE_TRACERING_H

#include "arena.h"
#include "wakebal/trace.h"

#define TRACE_PREEMPTED 16u /* added to the previous task's state in SWITCH */

/* Take room for at least `capacity` records (> 0) in the arena; keep [from, to). 0 or -ENOMEM. */
int trace_init(struct wb_trace *t, struct arena *a, uint64_t capacity, sim_time from, sim_time to) WB_MUST_USE;

/* Field by field: copying the whole struct would build it on the stack and stall on store forwarding (12 ns instead
 * of 1.5). trace_emit(t, (struct wb_trace_record){ .when = now, .type = WB_TR_SWITCH, ... }) */
static inline void trace_emit(struct wb_trace *t, struct wb_trace_record r)
{
    if (r.when < t->from || r.when >= t->to) return;
    struct wb_trace_record *slot = &t->ring[t->written++ & (t->capacity - 1)];
    slot->when = r.when;
    slot->type = r.type;
    slot->cpu = r.cpu;
    slot->task = r.task;
    slot->a = r.a;
    slot->b = r.b;
    slot->c = r.c;
    slot->rule = r.rule;
    slot->spare = r.spare;
}

/* Records in the ring, and how many were overwritten. */
static inline uint64_t trace_count(const struct wb_trace *t)
{
    return WB_MIN(t->written, t->capacity);
}
static inline uint64_t trace_lost(const struct wb_trace *t)
{
    return t->written - trace_count(t);
}
/* Oldest first; i < trace_count(). */
static inline const struct wb_trace_record *trace_at(const struct wb_trace *t, uint64_t i)
{
    return &t->ring[(trace_lost(t) + i) % t->capacity];
}

#endif
