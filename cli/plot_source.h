/*
 * plot_source.h - where `wakebal plot` gets its document: a file, a study, a scenario that is run, a case, a trace.
 */
#ifndef WB_CLI_PLOT_SOURCE_H
#define WB_CLI_PLOT_SOURCE_H

#include <jansson.h>

#include "options.h"
#include "plot.h"

struct plot_source {
    const struct cli_options *o;
    const char *from, *until; /* window of a trace, as given; NULL = chosen */
};

/* A file of results, a validation, cases, a timeline or migrations, or a study. NULL with *rc set: not one, told. */
json_t *plot_source_file(const char *path, int *rc);
/* Is it a file or folder of those, and no scenario? */
bool plot_source_is_file(const char *path);
/* Simulate a scenario with its axes. NULL: *rc, told. */
json_t *plot_source_results(const struct plot_source *s, int *rc);
/* Reproduce a case with the ranges of its costs. NULL: *rc, told. */
json_t *plot_source_case(const struct plot_source *s, int *rc);
/* Replication 0 of a scenario with tracing: who ran where in the window (default: story.h), and which
 * CPU gave tasks to which (default: all of the run). NULL: *rc, told. */
json_t *plot_source_timeline(const struct plot_source *s, int *rc);
json_t *plot_source_migrations(const struct plot_source *s, int *rc);

#endif
