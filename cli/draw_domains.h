/*
 * draw_domains.h - the sched domains of a built simulation as text.
 */
#ifndef WB_CLI_DRAW_DOMAINS_H
#define WB_CLI_DRAW_DOMAINS_H

#include <stdio.h>

#include "wakebal/kernel.h"

/* One line per CPU with the spans of its domains ("cpu0: SIBLING {0,1}  CPU {0-3}"); CPUs with equal lines are put
 * together. Then every level of `cpu` with its groups, flags and numbers, in the words of this version of
 * Linux ("6.12"; NULL: those of the scenario keys). */
void draw_domains(FILE *out, struct wb_sim *s, cpu_id cpu, const char *version);

#endif
