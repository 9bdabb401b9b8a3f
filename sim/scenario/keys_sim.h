/*
 * keys_sim.h - key rows of the scenario file itself: run, sweep, expect, cases, and what machines, kernels and
 * workloads share.
 */
#ifndef WB_SCENARIO_KEYS_SIM_H
#define WB_SCENARIO_KEYS_SIM_H

#include "wakebal/keys.h"

extern const struct wb_key wb_scenario_keys[];
extern const size_t wb_scenario_keys_n;

#endif
