/*
 * domains.h - building the ladder of scheduling domains that every CPU climbs when it balances or places a task.
 *
 * A kernel profile lists levels, lowest first (`kernel.domains`). A level spans the CPUs that share something (a
 * core, a cache, a package, a node, the nearest N nodes, all) and is divided into groups: the spans of the level
 * below, or single CPUs at the bottom; where spans of nodes overlap, the nodes. Groups are in ascending order of
 * their first CPU; wb_sd.local says where a CPU's own group is, and rings start there. Spans, masks and groups are
 * shared by the CPUs of a span, so memory is proportional to CPUs times levels. Group powers are the policy's to set
 * (0 here).
 *
 * Which rows apply depends on the build (kernel.arch, sched_smt, sched_mc) and the machine (min_nodes). Whether a
 * level that adds nothing is dropped depends on the version (kernel.degenerate): Linux 2.6.12+ kernel/sched.c
 * sd_degenerate, sd_parent_degenerate.
 */
#ifndef WB_KERNEL_DOMAINS_H
#define WB_KERNEL_DOMAINS_H

#include "wakebal/config.h"
#include "wakebal/kernel.h"

#define DOMAINS_ROWS 16u

/* Order: from the smallest on. NODES: the node and its nearest others. */
enum domains_span {
    DOMAINS_CPU,
    DOMAINS_SMT,
    DOMAINS_CLUSTER,
    DOMAINS_LLC,
    DOMAINS_PACKAGE,
    DOMAINS_NODE,
    DOMAINS_NODES,
    DOMAINS_ALL
};

struct domains_row {
    struct wb_sd_level level;
    enum domains_span span;
    uint32_t span_nodes;                         /* NODES: how many, the own one included */
    uint32_t hops;                               /* NODES: all within the hops-th distance instead; 0: span_nodes */
    uint32_t reclaim_distance;                   /* beyond it no exec, fork and affine wakeups; 0: none */
    sim_time min_per_span_cpu, max_per_span_cpu; /* added to the level's intervals */
};

/* The rows that apply to this build and machine, lowest first. */
struct domains_ladder {
    struct domains_row row[DOMAINS_ROWS];
    uint32_t nrows;
    bool degenerate;
    const struct wb_cpumask *out; /* isolated CPUs have no domains; NULL: none are */
};

/* Read the rows of kernel.domains that apply to this build on this machine. Names stay owned by cfg. 0, or -1 with
 * errors in d. */
int domains_read(const struct wb_config *cfg, const struct wb_topology *topo, struct domains_ladder *out,
                 struct wb_diag *d);
/* The k-th smallest distance between different nodes (k >= 1), or 0. */
uint32_t domains_distance(const struct wb_topology *topo, uint32_t k);
/* Build in the memory of `s`. lowest[cpu]: its lowest domain or NULL. Returns the row whose span does not hold whole
 * spans of the row below (their machine cannot be laddered so), or -1 when all is well. */
int domains_make(struct wb_sim *s, const struct wb_topology *topo, const struct domains_ladder *l,
                 struct wb_sd **lowest);
/* Both. 0, or -1 with errors in d. */
int domains_build(struct wb_sim *s, const struct wb_config *cfg, const struct wb_topology *topo, struct wb_sd **lowest,
                  struct wb_diag *d);

#endif
