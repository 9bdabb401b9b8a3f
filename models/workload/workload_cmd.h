/*
 * workload_cmd.h - from the command line of a real benchmark to the keys of a workload.
 *
 *   bw_pipe -m 65536 -M 50m -P 1        kind pipe_bw: message, total, copies
 *   lat_pipe -P 4                       kind pipe_latency: message 1 B, copies
 *   perf bench sched pipe -l 100000 -T  kind pipe_latency: message 4 B, trips, threads
 *   hackbench -g 4 -f 20 -l 1000 -s 100 -p -T
 *   hackbench 100 process 2000          kind hackbench: groups, fds, loops, message, transport, mode
 *   perf bench sched messaging -g 20 -t -l 5000
 *   netperf -t TCP_RR -T 0,7 -- -r 1,1  kind tcp_rr or udp_rr: request, response, client_cpus, server_cpus
 *   perf bench syscall basic -l 1000    kind syscall: calls
 *   lat_syscall null -P 2               kind syscall: copies (lmbench wants the options first)
 *
 * `taskset -c LIST` and `nice -n N` (or `nice -N`) may stand in front. Options that only say how the real tool
 * measures (-W, -N of lmbench) are accepted and have no effect here: replications and warm-up are the run's. Sizes
 * are lmbench's: k and m are powers of 1024.
 */
#ifndef WB_WORKLOAD_CMD_H
#define WB_WORKLOAD_CMD_H

#include "workload_common.h"

#define WORKLOAD_CMD_MAX 12

struct workload_setting {
    const char *key; /* "message": the key below workload. */
    char value[72];  /* as it would be written in a scenario */
    int64_t number;  /* in base units; 0 for texts */
    size_t at, len;  /* where the command says so: bytes of its text */
};

struct workload_cmd {
    const char *kind; /* NULL: no command was given */
    struct workload_setting set[WORKLOAD_CMD_MAX];
    size_t n;
};

/* Parse a command line. 0; or -1 with a sentence in *why, the offset of the offending word in *at and its length in
 * *len. */
int wb_workload_from_cmd(const char *text, struct workload_cmd *out, const char **why, size_t *at, size_t *len);
/* The setting of a key, or NULL. */
const struct workload_setting *workload_cmd_find(const struct workload_cmd *c, const char *key);

/* Read workload.from_cmd of an entry of this kind. Applies taskset and nice to the entry. 0, or -1 with errors in
 * e->d. */
int workload_cmd_read(struct workload_entry *e, const char *kind, struct workload_cmd *c);
/* A number: what the command says, else the key of the entry. */
int64_t workload_cmd_int(const struct workload_entry *e, const struct workload_cmd *c, const char *key);
/* CPUs that the command gives to one end (netperf -T, and taskset in front of it). 0 or -1. */
int workload_cmd_cpus(const struct workload_entry *e, const struct workload_cmd *c, const char *key,
                      const struct wb_cpumask **mask);
bool workload_cmd_bool(const struct workload_entry *e, const struct workload_cmd *c, const char *key);

#endif
