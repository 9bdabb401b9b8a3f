/*
 * simtest.h - a simulation from scenario text, for tests: everything that is built in, no files but the shipped ones.
 */
#ifndef WB_SIMTEST_H
#define WB_SIMTEST_H

#include "wakebal/run.h"
#include "wakebal/scenario.h"

struct simtest {
    struct wb_key_registry *keys;
    struct wb_diag *diag;
    struct wb_scenario *scenario;
    struct wb_sim *sim;
};

/* Load and build replication 0; fails the test with the rendered errors when that does not work. sets:
 * "key=value" strings, NULL-terminated, or NULL. opt may be NULL. */
struct simtest simtest_build(const char *text, const char *const *sets, const struct wb_run_options *opt);
struct simtest simtest_build_replication(const char *text, const char *const *sets, const struct wb_run_options *opt,
                                         uint32_t replication);
/* Models of a test besides those that are built in; set before building. NULL-terminated, or NULL. */
extern const struct wb_policy_ops *const *simtest_policies;
extern const struct wb_workload_ops *const *simtest_workloads;
/* The same when a refusal is an answer too: .sim is NULL then, all is freed, and *why (may be NULL) has the errors,
 * malloc'd. */
struct simtest simtest_try(const char *text, const struct wb_overrides *over, const struct wb_run_options *opt,
                           char **why);
/* The errors of a scenario that loads but does not build (the test fails when it builds); malloc'd. */
char *simtest_refused(const char *text, const char *const *sets);
void simtest_free(struct simtest *t);
/* Build, run to the end, return the named metric of `instance` (UINT32_MAX = machine); fails the test when it
 * is not there. */
double simtest_metric(struct simtest *t, uint32_t instance, const char *name);
/* Build, run, fingerprint, free. */
uint64_t simtest_fingerprint(const char *text, const char *const *sets, const struct wb_run_options *opt);

#endif
