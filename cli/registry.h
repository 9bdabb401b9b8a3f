/*
 * registry.h - the one place where the program gathers what it can model.
 *
 * sim/ has never heard of the models: their key rows reach the loader through here.
 */
#ifndef WB_CLI_REGISTRY_H
#define WB_CLI_REGISTRY_H

#include "wakebal/keys.h"
#include "wakebal/workload.h"

/* A registry with the rows of sim/scenario, sim/machine, sim/kernel and of every model. The caller frees it with wb_keys_free. */
struct wb_key_registry *cli_keys_new(void);

/* Every policy, workload and IPC kind that is built in. Static. */
const struct wb_registry *cli_models(void);

#endif
