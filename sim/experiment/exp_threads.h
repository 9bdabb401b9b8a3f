/*
 * exp_threads.h - how many threads there may be.
 *
 * Where a thread cannot be made (ulimit -u, ulimit -v, the pids of a container), the OpenMP runtime ends the whole
 * process. So threads are made for a moment first, all at once, and as many as the system gave are asked for.
 */
#ifndef WB_EXPERIMENT_EXP_THREADS_H
#define WB_EXPERIMENT_EXP_THREADS_H

#include <stddef.h>
#include <stdint.h>

/* How many threads, the caller among them, can be had now for `items` pieces of work: at most `wanted` (0: one a CPU
 * that may be used) and one a piece, at least 1. */
int exp_threads(uint32_t wanted, size_t items);

#endif
