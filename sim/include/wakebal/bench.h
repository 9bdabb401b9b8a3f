/*
 * bench.h - the hold model: what the event set costs on this machine.
 *
 * Hold = take the earliest of n pending events and add one later, at an exponential distance. Measured in CPU time of
 * the calling thread, best of several batches that alternate between the structures, so that a noisy neighbour hits
 * all of them. The structures to compare with are totally ordered too (one 128-bit key) and run in the same loop on
 * the same increments.
 */
#ifndef WAKEBAL_BENCH_H
#define WAKEBAL_BENCH_H

#include "wakebal/base.h"

enum wb_hold_kind {
    WB_HOLD_EVQ_REPLACE,   /* ours, pop and push fused */
    WB_HOLD_EVQ_POP_PUSH,  /* ours, two operations */
    WB_HOLD_HEAP4_REPLACE, /* plain 4-ary heap */
    WB_HOLD_HEAP4_POP_PUSH,
    WB_HOLD_HEAP2_REPLACE, /* plain binary heap */
    WB_HOLD_HEAP2_POP_PUSH,
    WB_HOLD_KINDS
};

struct wb_hold_result {
    uint32_t n;
    double ns[WB_HOLD_KINDS]; /* per hold, the random increment (about 1 ns) included */
    double best_reference_ns; /* the fastest that is not ours */
};

extern const char *const wb_hold_names[WB_HOLD_KINDS];

/* Measure with n pending events, best of `batches`. 0, or -ENOMEM. About 20 ms for n = 256 and 20 batches. */
int wb_bench_hold(uint32_t n, uint32_t batches, struct wb_hold_result *result) WB_MUST_USE;
/* False in builds whose times mean nothing (debug checks, no optimisation, sanitizers). */
bool wb_bench_build_is_fast(void);

#endif
