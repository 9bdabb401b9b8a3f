/* simtrace.h - a simulation's trace as ftrace text; with simtest.h. Static, for tests that include it. */
#ifndef WB_TESTS_SIMTRACE_H
#define WB_TESTS_SIMTRACE_H

#include "simtest.h"
#include "wakebal/kernel.h"
#include "wakebal/trace.h"
#include "wakebal/traceview.h"
#include "wbtest.h"

/* Runs to the end. Malloc'd text; the simulation stays in *t for a look at it. */
static char *simtrace_text(const char *scenario, const char *const *sets, struct simtest *t)
{
    const struct wb_run_options opt = {.trace_capacity = 1u << 20, .trace_to = WB_TIME_NEVER, .task_totals = true};
    struct wb_trace_names names;
    char *text = NULL;
    size_t len = 0;
    *t = simtest_build(scenario, sets, &opt);
    (void)wb_sim_run(t->sim);
    wb_sim_trace_names(t->sim, &names);
    FILE *f = open_memstream(&text, &len);
    assert_int_equal(wb_trace_write_ftrace(f, wb_sim_trace(t->sim), &names, NULL), 0);
    fclose(f);
    return text;
}

#endif
