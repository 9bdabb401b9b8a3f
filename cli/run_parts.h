/*
 * run_parts.h - the parts of `wakebal run`: what is printed, what is expected, what is traced.
 */
#ifndef WB_CLI_RUN_PARTS_H
#define WB_CLI_RUN_PARTS_H

#include "exp_points.h"
#include "output.h"
#include "wakebal/run.h"

/* What only the simulation itself knows; taken from replication 0 of the first point. */
struct run_facts {
    char machine[160];  /* "4 packages x 1 core" */
    char domain[8][24]; /* names of the sched domain levels of CPU 0 */
    size_t ndomains;
    bool known;
};
void run_facts_take(struct run_facts *f, struct wb_sim *s);

struct run_view {
    const struct cli_options *o;
    const char *scenario; /* as the user named it */
    const struct exp_study *study;
    const struct exp_points *points;
    const struct run_facts *facts;
    bool profile;
};
/* One point: machine, workload, policy, figures, notes, what to try next. */
void run_print_summary(const struct run_view *v);
/* A note, broken at blanks so that it keeps to the page; of: the point that it belongs to, or NULL. */
void run_print_note(const struct exp_note *note, const char *of, const struct out_style *st);
/* Several points: a table, then who beats whom by how much. */
void run_print_sweep(const struct run_view *v);

/* Judge `expect` of the scenario and --fail-if. Prints what is violated on stderr. EXIT_FINE,
 * EXIT_EXPECTATION, or EXIT_USAGE / EXIT_INVALID when one cannot be understood. */
int run_check_expectations(const struct run_view *v, struct wb_diag *d);

/* Record replication 0 of the scenario again, with tracing on, into `path` ("-" = stdout). */
int run_write_trace(const struct cli_options *o, const struct wb_config *cfg, const struct wb_registry *models,
                    const char *path, struct wb_diag *d);
/* Parse --trace=FROM..TO. -1 = fine, else the exit code. */
int run_trace_window(const struct cli_options *o, sim_time *from, sim_time *to);

#endif
