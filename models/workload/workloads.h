/*
 * workloads.h - the kinds of models/workload.
 */
#ifndef WB_WORKLOADS_H
#define WB_WORKLOADS_H

#include "wakebal/workload.h"

#define WORKLOAD_IPC_FRAMES 1024u /* room that the frames of any IPC call need, checked by a test */

extern const struct wb_workload_ops wb_workload_pipe_bw;
extern const struct wb_workload_ops wb_workload_pipe_latency;
extern const struct wb_workload_ops wb_workload_hog;
extern const struct wb_workload_ops wb_workload_periodic;
extern const struct wb_workload_ops wb_workload_custom;

#endif
