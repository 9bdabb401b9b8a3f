/* first_work.h - where a window on a traced run begins when nobody named a time. */
#ifndef WB_CLI_FIRST_WORK_H
#define WB_CLI_FIRST_WORK_H

#include "wakebal/run.h"
#include "wakebal/trace.h"

/* Step the simulation until somebody has been given a CPU. When that was; 0 when nobody ever is. */
sim_time first_work(struct wb_sim *s, const struct wb_trace *t);

#endif
