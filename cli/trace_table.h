/* trace_table.h - the table that verbs which read recordings print first: is it whole? */
#ifndef WB_CLI_TRACE_TABLE_H
#define WB_CLI_TRACE_TABLE_H

#include "options.h"
#include "trace_health.h"

/* Events per CPU, and the checks that found something. */
void trace_table_print(const struct cli_options *o, const struct trace *t, const struct trace_health *h);

#endif
