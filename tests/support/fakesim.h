/*
 * fakesim.h - a stand-in for the engine: figures that follow a formula, so that what is made of them can be
 * checked by hand.
 *
 * Linked in place of sim/kernel's run.h functions. Replication r of a scenario gives, for workload 0,
 * `bandwidth` = 1e9 * scale plus a deviation that alternates in sign and shrinks as 1 / (1 + r); `colocated`
 * windows in two modes; a latency histogram; counts.
 */
#ifndef WB_TESTS_FAKESIM_H
#define WB_TESTS_FAKESIM_H

#include "wakebal/run.h"

struct fakesim_knobs {
    double scale, spread; /* of bandwidth; relative deviation of replication 0 */
    bool fail_build;      /* wb_sim_build() adds an error and gives NULL */
    bool unfinished;
    const char *cost_key; /* a cost in the scenario: bandwidth is divided by it in us; NULL = none */
};
extern struct fakesim_knobs fakesim;
extern int fakesim_runs; /* how many were built */

#endif
