#include "registry.h"

#include <stdio.h>

#include "bsd.h"
#include "case.h"
#include "fair.h"
#include "futex.h"
#include "o1.h"
#include "pipe.h"
#include "skb.h"
#include "unix.h"
#include "tcp.h"
#include "wakebal/kernel.h"
#include "wakebal/machine.h"
#include "workloads.h"

static const struct wb_policy_ops *const policies[] = {&o1_policy, &fair_cfs_policy, &fair_eevdf_policy, &bsd4_policy,
                                                       &ule_policy};
/* clang-format off */
static const struct wb_workload_ops *const workloads[] = {
    &wb_workload_pipe_bw,
    &wb_workload_pipe_latency,
    &wb_workload_tcp_rr,
    &wb_workload_udp_rr,
    &wb_workload_unix_rr,
    &wb_workload_hackbench,
    &wb_workload_hog,
    &wb_workload_periodic,
    &wb_workload_custom,
    &wb_workload_syscall,
};
static const struct wb_ipc_ops *const ipcs[] = {
    &wb_ipc_pipe,
    &wb_ipc_unix,
    &wb_ipc_tcp,
    &wb_ipc_udp,
};
/* clang-format on */

static struct wb_registry models = {
    .policies = policies,
    .npolicies = WB_ARRAY_SIZE(policies),
    .workloads = workloads,
    .nworkloads = WB_ARRAY_SIZE(workloads),
    .ipcs = ipcs,
    .nipcs = WB_ARRAY_SIZE(ipcs),
};

const struct wb_registry *cli_models(void)
{
    return &models;
}

void cli_overlay(const struct wb_policy_ops *policy, const char *sum)
{
    models.overlay = policy;
    (void)snprintf(models.overlay_sum, sizeof models.overlay_sum, "%s", sum);
}

struct wb_key_registry *cli_keys_new(void)
{
    struct wb_key_registry *r = wb_keys_new();
    size_t n;
    const struct wb_key *rows = wb_machine_keys(&n);
    wb_keys_add(r, rows, n);
    rows = wb_kernel_keys(&n);
    wb_keys_add(r, rows, n);
    rows = wb_domain_keys(&n);
    wb_keys_add(r, rows, n);
    wb_keys_add(r, case_keys, case_keys_n);
    for (size_t i = 0; i < models.npolicies; i++) wb_keys_add(r, models.policies[i]->keys, models.policies[i]->nkeys);
    for (size_t i = 0; i < models.nworkloads; i++)
        wb_keys_add(r, models.workloads[i]->keys, models.workloads[i]->nkeys);
    for (size_t i = 0; i < models.nipcs; i++) wb_keys_add(r, models.ipcs[i]->keys, models.ipcs[i]->nkeys);
    wb_keys_add(r, socket_keys, socket_keys_n);
    wb_keys_add(r, futex_keys, FUTEX_KEYS);
    if (models.overlay) wb_keys_add(r, models.overlay->keys, models.overlay->nkeys);
    return r;
}
