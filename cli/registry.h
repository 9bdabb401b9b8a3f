/*
 * registry.h - the one place where the program gathers what it can model.
 *
 * sim/ has never heard of the models: they and their key rows reach the loader and the engine through here. A new
 * model is a line in registry.c.
 */
#ifndef WB_CLI_REGISTRY_H
#define WB_CLI_REGISTRY_H

#include "wakebal/keys.h"
#include "wakebal/workload.h"

/* Schedulers, workloads and IPC kinds that are built in. Static. */
const struct wb_registry *cli_models(void);
/* Lay a plug-in over whatever policy a kernel names; before any registry of keys is made. It must stay loaded. */
/* sum: first digits of the SHA-256 of its file. */
void cli_overlay(const struct wb_policy_ops *policy, const char *sum);
/* A registry with the rows of sim/ and of every model. The caller frees it with wb_keys_free. */
struct wb_key_registry *cli_keys_new(void);

#endif
