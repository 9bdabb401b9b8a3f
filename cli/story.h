/*
 * story.h - which moment of a run a picture shows when nobody named one.
 *
 * The first moments of a run are tasks being made, before wakeups and balancing have met. So a run of its own is
 * recorded and searched, from the end of its warm-up on, for the first task that balancing takes to another CPU; where
 * none does, for the first that a wakeup takes there; else for a switch. A run that ends before its warm-up does is
 * searched from its beginning. The answer depends on nothing but the scenario.
 */
#ifndef WB_CLI_STORY_H
#define WB_CLI_STORY_H

#include "wakebal/run.h"

struct story {
    sim_time from, to; /* ps; a window of `span` around the moment, as far as the run goes back */
    char why[112];     /* what happens in it: "idle balancing takes bw_pipe-rd from cpu3 to cpu1" */
};

/* Search replication 0 of `cfg`. span 0: a length of 100 us to 1 s, a round number, in which the busiest CPU switches
 * about a dozen times. 0; -1: the run cannot be built (d says why). Nobody ever ran: the first `span` of the run. */
int story_find(const struct wb_config *cfg, sim_time span, struct story *out, struct wb_diag *d) WB_MUST_USE;
/* "100.2 ms to 100.5 ms: the first move after the warm-up: ... Another window: --from 100.2ms --to 100.5ms". Returns
 * buf. */
char *story_tell(const struct story *s, char *buf, size_t n);

#endif
