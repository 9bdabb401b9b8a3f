/*
 * rr.h - request and response over any channel with two ends that both read and write: netperf TCP_RR and UDP_RR,
 * lmbench lat_unix.
 *
 * netperf 2.7 src/nettest_omni.c: one request outstanding; a transaction is over when the whole response is there. A
 * client and a server are processes of their own (netserver forks one for each connection), or threads of one. One
 * untimed exchange first. `think`: each side computes that long before it sends; the server not before its first
 * answer.
 */
#ifndef WB_WORKLOAD_RR_H
#define WB_WORKLOAD_RR_H

#include "wakebal/workload.h"

struct rr_kind {
    const char *kind, *channel;  /* "tcp_rr", "tcp" */
    const char *client, *server; /* names of the tasks */
    uint64_t message_max;        /* bytes; 0 = no limit */
};
int rr_build(struct wb_sim *s, const struct wb_config *cfg, const char *path, uint32_t instance, struct wb_diag *d,
             const struct rr_kind *kind);

#define RR_FIGURES 2
extern const struct wb_metric_def rr_figures[RR_FIGURES];
#define RR_FRAME_NEED 320u /* its program's frame, a whole message, a call, in it a wait */

/* Rows of the keys that all these kinds have. `only` is the kind. */
#define RR_KEYS(kind_name, max_message) \
    {.path = "workload.request", \
     .type = WB_KEY_SIZE, \
     .unit = "bytes", \
     .min = "1 B", \
     .max = max_message, \
     .def = "1 B", \
     .only = kind_name, \
     .help = "Size of a request (first number of -r).", \
     .source = "netperf: 1"}, \
        {.path = "workload.response", \
         .type = WB_KEY_SIZE, \
         .unit = "bytes", \
         .min = "1 B", \
         .max = max_message, \
         .def = "1 B", \
         .only = kind_name, \
         .help = "Size of a response (second number of -r).", \
         .source = "netperf: 1"}, \
        {.path = "workload.transactions", \
         .type = WB_KEY_INT, \
         .min = "1", \
         .max = "1000000000", \
         .def = "100000", \
         .only = kind_name, \
         .help = "Transactions of each copy. With run.duration they go on until the run ends.", \
         .source = "netperf runs for 10 s (-l); a fixed number suffices without measurement noise"}, \
        {.path = "workload.copies", \
         .type = WB_KEY_INT, \
         .min = "1", \
         .max = "65536", \
         .def = "1", \
         .only = kind_name, \
         .help = "Pairs that run at once.", \
         .source = "one netperf"}, \
        {.path = "workload.threads", \
         .type = WB_KEY_BOOL, \
         .def = "false", \
         .only = kind_name, \
         .help = "Client and server are threads of one process.", \
         .source = "netperf and netserver are processes"}, \
        {.path = "workload.think", \
         .type = WB_KEY_DIST, \
         .unit = "time", \
         .def = "0 s", \
         .only = kind_name, \
         .help = "Time that each side computes before it sends: \"5 us\", \"exp(20 us)\".", \
         .source = "netperf: none"}, \
        {.path = "workload.client_cpus", \
         .type = WB_KEY_CPUS, \
         .only = kind_name, \
         .help = "CPUs that the clients may use (first number of -T). Without it: free, or its turn of workload.cpus " \
                 "(client, server, client, server ...)."}, \
    { \
        .path = "workload.server_cpus", .type = WB_KEY_CPUS, .only = kind_name, \
        .help = "CPUs that the servers may use (second number of -T). Without it as client_cpus." \
    }

#endif
