/* tcp_rr.c - netperf TCP_RR over loopback; see rr.h. */
#include "rr.h"
#include "workloads.h"

static const struct wb_key keys[] = {
    RR_KEYS("tcp_rr", "64 MiB"),
    {.path = "workload.nodelay",
     .type = WB_KEY_BOOL,
     .def = "false",
     .only = "tcp_rr",
     .help = "TCP_NODELAY. Without effect here: with one request outstanding Nagle's algorithm never holds a segment.",
     .source = "netperf leaves it off (-D)"},
};

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d)
{
    static const struct rr_kind kind = {.kind = "tcp_rr", .channel = "tcp", .client = "netperf", .server = "netserver"};
    return rr_build(s, cfg, path, instance, d, &kind);
}

const struct wb_workload_ops wb_workload_tcp_rr = {
    .abi = WB_POLICY_ABI,
    .kind = "tcp_rr",
    .help = "Request and response over TCP on loopback: one request outstanding.",
    .real = "netperf TCP_RR",
    .weakness = "One request is outstanding, so never more than one of the two has work: it measures wakeups, idle "
                "exits and path length, not throughput.",
    .keys = keys,
    .nkeys = WB_ARRAY_SIZE(keys),
    .metrics = rr_figures,
    .nmetrics = RR_FIGURES,
    .frame_need = RR_FRAME_NEED,
    .build = build,
};
