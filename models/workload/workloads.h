/*
 * workloads.h - the kinds of models/workload.
 */
#ifndef WB_WORKLOADS_H
#define WB_WORKLOADS_H

#include "wakebal/workload.h"

#define WORKLOAD_IPC_FRAMES 112u /* of an IPC call that sleeps (pipe_call, wait_call); sim/ adds its own */
#define WORKLOAD_PREEMPTED 32u   /* of a task that sim/ puts aside in user mode */

extern const struct wb_workload_ops wb_workload_pipe_bw;
extern const struct wb_workload_ops wb_workload_pipe_latency;
extern const struct wb_workload_ops wb_workload_hackbench;
extern const struct wb_workload_ops wb_workload_tcp_rr;
extern const struct wb_workload_ops wb_workload_udp_rr;
extern const struct wb_workload_ops wb_workload_unix_rr;
extern const struct wb_workload_ops wb_workload_hog;
extern const struct wb_workload_ops wb_workload_periodic;
extern const struct wb_workload_ops wb_workload_custom;
extern const struct wb_workload_ops wb_workload_syscall;

#endif
