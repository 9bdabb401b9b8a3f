/* udp_rr.c - netperf UDP_RR over loopback; see rr.h. */
#include "rr.h"
#include "workloads.h"

static const struct wb_key keys[] = {
    RR_KEYS("udp_rr", "65507 B"),
};

static int build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d)
{
    static const struct rr_kind kind = {
        .kind = "udp_rr", .channel = "udp", .client = "netperf", .server = "netserver", .message_max = 65507};
    return rr_build(s, cfg, path, instance, d, &kind);
}

const struct wb_workload_ops wb_workload_udp_rr = {
    .abi = WB_POLICY_ABI,
    .kind = "udp_rr",
    .help = "Request and response over UDP on loopback: one request outstanding.",
    .real = "netperf UDP_RR",
    .weakness = "As tcp_rr. A lost datagram would stop it for ever.",
    .keys = keys,
    .nkeys = WB_ARRAY_SIZE(keys),
    .metrics = rr_figures,
    .nmetrics = RR_FIGURES,
    .frame_need = RR_FRAME_NEED,
    .build = build,
};
