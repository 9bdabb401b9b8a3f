/*
 * exp_threads.h - how many threads there may be.
 *
 * Where a thread cannot be made (ulimit -u, ulimit -v, the pids of a container), the OpenMP runtime ends the whole
 * process. So threads are made for a moment first, all at once, and as many as the system gave are asked for.
 */
#ifndef WB_EXPERIMENT_EXP_THREADS_H
#define WB_EXPERIMENT_EXP_THREADS_H

/* How many of `wanted` threads, the caller among them, can be had now; at least 1. */
int exp_threads(int wanted);

#endif
