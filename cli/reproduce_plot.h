/* reproduce_plot.h - pictures of a case: windows over time, bars of all variants. */
#ifndef WB_CLI_REPRODUCE_PLOT_H
#define WB_CLI_REPRODUCE_PLOT_H

#include "case.h"
#include "options.h"
#include "plot.h"

/* CASE-windows.png and CASE-bars.png (with .gp and .dat) in `folder`, made when missing; both on the terminal
 * too unless -q. Prints what it wrote or what is in the way. Returns an exit code. */
int reproduce_plot(const struct case_file *c, const char *folder, const struct cli_options *o);
/* Draw and tell; shared with `wakebal plot`. */
int plot_and_tell(const json_t *doc, const struct plot_options *p, const char *verb);
/* Make a folder when it is not there. An exit code. */
int plot_make_folder(const char *folder);

#endif
