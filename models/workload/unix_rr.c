/* unix_rr.c - request and response over an AF_UNIX stream pair: lmbench lat_unix with sizes; see rr.h. */
#include "rr.h"
#include "workloads.h"

static const struct wb_key keys[] = {
    RR_KEYS("unix_rr", "64 MiB"),
};

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d)
{
    static const struct rr_kind kind = {.kind = "unix_rr", .channel = "unix", .client = "client", .server = "server"};
    return rr_build(s, cfg, path, instance, d, &kind);
}

const struct wb_workload_ops wb_workload_unix_rr = {
    .abi = WB_POLICY_ABI,
    .kind = "unix_rr",
    .help = "Request and response over an AF_UNIX stream pair: one request outstanding.",
    .real = "lmbench lat_unix",
    .weakness = "As tcp_rr: it measures wakeups, idle exits and path length, not throughput.",
    .keys = keys,
    .nkeys = WB_ARRAY_SIZE(keys),
    .metrics = rr_figures,
    .nmetrics = RR_FIGURES,
    .frame_need = RR_FRAME_NEED,
    .build = build,
};
