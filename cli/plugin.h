/*
 * plugin.h - scheduler policies of the user's own, loaded from a shared object that the command line names.
 *
 * Never from a scenario: a scenario is data. A plug-in is checked before anything runs (ABI, size, hooks that only
 * make sense together); if it crashes later, the message says that it was the plug-in, in which function, and where
 * the simulation stood.
 */
#ifndef WB_CLI_PLUGIN_H
#define WB_CLI_PLUGIN_H

#include "wakebal/diag.h"

/* Is the argument of --policy a file (has a slash or ends in .so) rather than the name of a family? */
bool plugin_is_path(const char *policy);
/* From now on only this one is loaded (NULL: none): what a manifest asks for is data, what the user typed is not. */
void plugin_allow_only(const char *path);
/* Load, check and hand to the registry (registry.h). 0, or -1 with errors in d. The object stays loaded; one per
 * process. */
int plugin_load(const char *path, struct wb_diag *d);
#endif
