/* keys_domains.c - key rows of scheduling domains. */
#include "domains.h"

#define SRC "Linux 2.6 include/linux/topology.h SD_*_INIT, include/linux/sched.h struct sched_domain"
#define ROW(name, kind) .path = "kernel.domains." name, .type = WB_KEY_##kind

static const struct wb_key rows[] = {
    {.path = "kernel.arch",
     .type = WB_KEY_STRING,
     .help = "Architecture of the build: picks the rows of kernel.domains that name it in `arch`. Without it all rows "
             "apply.",
     .source = "include/asm-*/topology.h"},
    {.path = "kernel.sched_smt",
     .type = WB_KEY_BOOL,
     .def = "true",
     .help = "CONFIG_SCHED_SMT: domains of sibling threads, wake_idle() and SMT nice are compiled in. ia64 has it from "
             "2.6.12 on.",
     .source = "Linux 2.6 arch/*/Kconfig SCHED_SMT, on in distribution kernels"},
    {.path = "kernel.sched_mc",
     .type = WB_KEY_BOOL,
     .def = "true",
     .help = "CONFIG_SCHED_MC: domains of cores that share the last-level cache (2.6.17 on).",
     .source = "Linux 2.6.17 arch/*/Kconfig SCHED_MC, on in distribution kernels"},
    {.path = "kernel.sched_cluster",
     .type = WB_KEY_BOOL,
     .def = "true",
     .help = "CONFIG_SCHED_CLUSTER: domains of cores that share an L2 (5.16 on).",
     .source = "Linux 5.16 arch/x86/Kconfig SCHED_CLUSTER, on in distribution kernels"},
    {.path = "kernel.cluster_hybrid",
     .type = WB_KEY_BOOL,
     .def = "true",
     .help =
         "The cluster level exists also on machines with cores of several kinds (machine.cpu_speed): x86 kernels of "
         "5.16 to 6.5 leave it out there.",
     .source =
         "Linux arch/x86/kernel/smpboot.c x86_hybrid_topology; \"sched/x86: Add cluster topology to hybrid CPU\", "
         "T. Chen, June 2023"},
    {.path = "kernel.degenerate",
     .type = WB_KEY_BOOL,
     .def = "true",
     .help = "Levels that add nothing to the one below are dropped (2.6.12 on).",
     .source = "Linux 2.6.12 kernel/sched.c sd_degenerate"},

    {.path = "kernel.isolated",
     .type = WB_KEY_CPUS,
     .help = "CPUs that belong to no scheduling domain, as boot options isolcpus= and nohz_full= have them: nothing is "
             "placed or pulled there that is not bound to them. Offline CPUs are told the same way.",
     .source = "Linux kernel/sched/isolation.c housekeeping_isolcpus_setup, HK_FLAG_DOMAIN"},
    {.path = "kernel.domains",
     .type = WB_KEY_GROUPS,
     .help = "Levels of scheduling domains, lowest first. Groups of a level are the spans of the one below it, single "
             "CPUs at the bottom.",
     .source = SRC},
    {ROW("level", STRING), .flags = WB_KEY_REQUIRED, .help = "Name: SIBLING, MC, CPU, NODE, ALLNODES.", .source = SRC},
    {ROW("span", ENUM), .choices = "smt cluster llc package node nodes all", .flags = WB_KEY_REQUIRED,
     .help = "CPUs of one domain: threads of a core, cores that share an L2, CPUs that share the last-level cache, a "
             "package, a NUMA node, "
             "the nearest span_nodes nodes, or all.",
     .source = SRC},
    {ROW("span_nodes", INT), .min = "1", .max = "1024", .def = "6",
     .help = "How many nodes a span = \"nodes\" has, the own one included.",
     .source = "SD_NODES_PER_DOMAIN: 6 in 2.6.10 (ia64), 16 in 2.6.22"},
    {ROW("hops", INT), .min = "0", .max = "1024", .def = "0",
     .help = "A span = \"nodes\" has the nodes within the hops-th distance of the distance table, instead of "
             "span_nodes; the level "
             "exists where there is a larger distance too. 0: span_nodes counts.",
     .source = "Linux kernel/sched/topology.c sched_init_numa"},
    {ROW("reclaim_distance", INT), .min = "0", .max = "255", .def = "0",
     .help = "A level whose largest node distance is beyond this loses BALANCE_EXEC, BALANCE_FORK and WAKE_AFFINE; 0: "
             "none does.",
     .source = "Linux kernel/sched/topology.c sd_init, node_reclaim_distance"},
    {ROW("arch", STRING),
     .help = "The level exists in builds for these architectures only, space separated. Without it in all.",
     .source = "include/asm-*/topology.h"},
    {ROW("needs", ENUM), .choices = "nothing smt mc cluster", .def = "nothing",
     .help = "The level exists only with kernel.sched_smt, kernel.sched_mc or kernel.sched_cluster.",
     .source = "CONFIG_SCHED_SMT, CONFIG_SCHED_MC, CONFIG_SCHED_CLUSTER"},
    {ROW("min_nodes", INT), .min = "0", .max = "1024", .def = "0",
     .help = "The level exists on machines with at least so many NUMA nodes.",
     .source = "CONFIG_NUMA, SD_NODES_PER_DOMAIN"},
    {ROW("flags", STRINGS),
     .help = "What is done at this level: LOAD_BALANCE BALANCE_NEWIDLE BALANCE_EXEC BALANCE_FORK WAKE_IDLE WAKE_AFFINE "
             "WAKE_BALANCE "
             "SHARE_CPUPOWER SHARE_PKG_RESOURCES SERIALIZE BALANCE_WAKE PREFER_SIBLING NUMA ASYM_PACKING "
             "ASYM_CPUCAPACITY CLUSTER OVERLAP "
             "POWERSAVINGS_BALANCE.",
     .source = "Linux include/linux/sched.h SD_*"},
    {ROW("min_interval", TIME), .unit = "time", .min = "0 ms", .max = "1000 s", .def = "1 ms",
     .help = "Shortest time between balances of an idle CPU.", .source = SRC},
    {ROW("max_interval", TIME), .unit = "time", .min = "0 ms", .max = "1000 s", .def = "4 ms",
     .help = "Longest time between balances of an idle CPU.", .source = SRC},
    {ROW("initial_interval", TIME), .unit = "time", .min = "0 ms", .max = "1000 s", .def = "1 ms",
     .help = "Time between balances at the start.", .source = SRC},
    {ROW("min_interval_per_span_cpu", TIME), .unit = "time", .min = "0 ms", .max = "100 s", .def = "0 ms",
     .help = "Added to min_interval for each CPU of the span; balancing then starts at the shortest interval.",
     .source = "Linux kernel/sched/topology.c sd_init"},
    {ROW("max_interval_per_span_cpu", TIME), .unit = "time", .min = "0 ms", .max = "100 s", .def = "0 ms",
     .help = "Added to max_interval for each CPU of the span.", .source = "Linux kernel/sched/topology.c sd_init"},
    {ROW("max_interval_per_cpu", TIME), .unit = "time", .min = "0 ms", .max = "100 s", .def = "0 ms",
     .help = "Added to max_interval for each CPU of the machine.",
     .source = "include/asm-ia64/topology.h SD_NODE_INIT"},
    {ROW("initial_interval_per_cpu", TIME), .unit = "time", .min = "0 ms", .max = "100 s", .def = "0 ms",
     .help = "Added to initial_interval for each CPU of the machine.",
     .source = "include/asm-ia64/topology.h SD_ALLNODES_INIT"},
    {ROW("per_cpu_limit", INT), .min = "1", .max = "16384", .def = "16384",
     .help = "Most CPUs that the per-CPU intervals count.", .source = "include/asm-ia64/topology.h SD_NODE_INIT"},
    {ROW("busy_factor", INT), .min = "1", .max = "100000", .def = "64",
     .help = "A busy CPU balances so many times less often.", .source = SRC},
    {ROW("imbalance_pct", INT), .unit = "%", .min = "100", .max = "1000", .def = "125",
     .help = "Load, in percent of the other side's, from which there is an imbalance.", .source = SRC},
    {ROW("cache_nice_tries", INT), .min = "0", .max = "1000", .def = "1",
     .help = "Failed balances before cache-hot tasks may move; two more start active balancing.", .source = SRC},
    {ROW("cache_hot_time", TIME), .unit = "time", .min = "0 ns", .max = "1000 s", .def = "0 ns",
     .help = "How long after it ran a task is cache hot at this level.", .source = SRC},
    {ROW("per_cpu_gain", INT), .unit = "%", .min = "0", .max = "100", .def = "100",
     .help = "Throughput that one more CPU of the domain brings; SMT nice uses it.", .source = SRC},
    {ROW("busy_idx", INT), .min = "0", .max = "4", .def = "0",
     .help = "Damped load that busy balancing looks at; 0 = the present one.", .source = SRC},
    {ROW("idle_idx", INT), .min = "0", .max = "4", .def = "0", .help = "The same for idle balancing.", .source = SRC},
    {ROW("newidle_idx", INT), .min = "0", .max = "4", .def = "0", .help = "The same for newly idle balancing.",
     .source = SRC},
    {ROW("wake_idx", INT), .min = "0", .max = "4", .def = "0", .help = "The same for wakeups.", .source = SRC},
    {ROW("forkexec_idx", INT), .min = "0", .max = "4", .def = "0", .help = "The same for fork and exec.",
     .source = SRC},
    {ROW("smt_gain", INT), .min = "0", .max = "8192", .def = "0",
     .help = "Capacity of a core with all threads busy, 1024 = one CPU.",
     .source = "Linux 2.6.32 include/linux/topology.h SD_SIBLING_INIT"},
};

const struct wb_key *wb_domain_keys(size_t *n)
{
    *n = WB_ARRAY_SIZE(rows);
    return rows;
}
