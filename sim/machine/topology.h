/*
 * topology.h - what the makers of a topology share.
 *
 * Every maker (synthetic string, hwloc, tables of a machine file) fills a struct wb_topo_table, one row per position
 * (depth first), and lets wb_topo_from_table() number, group and check it.
 */
#ifndef WB_MACHINE_TOPOLOGY_H
#define WB_MACHINE_TOPOLOGY_H

#include "wakebal/machine.h"

/* Fill number[position] = CPU by a named scheme. core and package are the columns of the table (NULL as there). 0 or
 * -ENOMEM. */
int topo_number_positions(enum wb_numbering how, uint32_t n, const uint32_t *core, const uint32_t *package,
                          uint32_t *number) WB_MUST_USE;
/* number must hold each of 0 .. n-1 once. 0, or -1 with an error in d at `at`. */
int topo_check_numbers(const uint32_t *number, uint32_t given, uint32_t n, struct wb_place at,
                       struct wb_diag *d) WB_MUST_USE;

#endif
