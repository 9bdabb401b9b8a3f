/*
 * registry.h - the one place where the program gathers what it can model.
 *
 * sim/ has never heard of the models: their key rows reach the loader through here.
 */
#ifndef WB_CLI_REGISTRY_H
#define WB_CLI_REGISTRY_H

#include "wakebal/keys.h"

/* A registry with the rows of sim/scenario, sim/machine, sim/kernel and of every model. The caller frees it with wb_keys_free. */
struct wb_key_registry *cli_keys_new(void);

#endif
