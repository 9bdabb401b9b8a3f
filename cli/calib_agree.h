/*
 * calib_agree.h - `wakebal calibrate --agree NAME NAME...`: do several calibrations of one machine give the same values
 * within the intervals that they state?
 */
#ifndef WB_CLI_CALIB_AGREE_H
#define WB_CLI_CALIB_AGREE_H

#include "options.h"
#include "wakebal/keys.h"
#include "wakebal/scenario.h"

/* The scenario that joins NAME-machine.cfg and NAME-kernel.cfg; NULL with errors in d. */
struct wb_scenario *calib_files_load(const char *stem, const struct wb_key_registry *keys, struct wb_diag *d);
/* Whether the fit of a calibration explained its probes: false when costs that were fitted are called assumed. */
bool calib_files_explain(const struct wb_config *cfg);
/* Prints the table. Exit code: 0, EXIT_TOLERANCE when fewer than 95 % of the pairs of intervals meet, or what was wrong
 * with the files. */
int calib_agree_run(const struct cli_options *o, const struct wb_key_registry *keys, struct wb_diag *d);

#endif
