/*
 * keys_machine.c - rows of machine.*: topology, caches, lines, buses, interrupts, idle states.
 *
 * Defaults describe a plain two-socket-class x86 server of about 2010, so that a machine can be made from a topology
 * string alone. They are assumed, between the figures of Nehalem and Westmere; machine files say better ones, each
 * with its source. wb_machine_spec_defaults() holds the same figures for code that has no scenario;
 * test_machine_build compares the two.
 */
#include "wakebal/keys.h"
#include "wakebal/machine.h"

#define WESTMERE \
    "assumed, near Westmere X5650 (7-cpu.com: L1 4, L2 10, L3 40-42 cycles, memory +67 ns local, +105 ns remote)"
#define C2C \
    "assumed, near Xeon E5-2695 v4 (N. Viennot, core-to-core-latency: SMT 7.6, same socket 44, other socket 118 ns)"
#define STREAMS "assumed: several lines in flight, between the rates of the shared cache and of memory"
#define OURS "convention of this program"
#define FLIGHT "assumed: a few hundred ns over the interrupt bus or the interconnect"
#define MENU "one state, the C1 of servers of that time; intel_idle.c (Linux 6.18) lists worst cases of 1-3 us for C1"
#define PALLIPADI "assumed, from 1200-2000 cycles on the sender's side (V. Pallipadi, linux-kernel, 6 Feb 2012)"

#define COST(p, d, src, text) \
    { \
        .path = "machine." p, .type = WB_KEY_COST, .unit = "time or cycles", .min = "0 ns", .max = "100 us", .def = d, \
        .flags = WB_KEY_PRICED, .help = text, .source = src \
    }
#define RATE(p, d, src, text) \
    { \
        .path = "machine." p, .type = WB_KEY_RATE, .unit = "bytes/s", .min = "1 MB/s", .max = "10000 GB/s", .def = d, \
        .flags = WB_KEY_PRICED, .help = text, .source = src \
    }
/* 0 = there is none, or no limit */
#define RATE_OR_NONE(p, d, src, text) \
    { \
        .path = "machine." p, .type = WB_KEY_RATE, .unit = "bytes/s", .min = "0 B/s", .max = "10000 GB/s", .def = d, \
        .flags = WB_KEY_PRICED, .help = text, .source = src \
    }
#define RATIO(p, lo, hi, d, src, text) \
    { \
        .path = "machine." p, .type = WB_KEY_RATIO, .min = lo, .max = hi, .def = d, .flags = WB_KEY_PRICED, \
        .help = text, .source = src \
    }
#define TABLE(p, text) \
    { \
        .path = "machine." p, .type = WB_KEY_TABLE, .help = text \
    }
#define GROUP(p, text) \
    { \
        .path = "machine." p, .type = WB_KEY_GROUP, .help = text \
    }

#define CACHE_LEVEL(l, name, size, lat, read, write) \
    GROUP("cache." l, "Costs of the " name " cache, by level of the chain of a CPU."), \
        {.path = "machine.cache." l ".size", \
         .type = WB_KEY_SIZE, \
         .unit = "bytes", \
         .min = "1 KiB", \
         .max = "4095 MiB", \
         .def = size, \
         .help = "Size of an " name \
                 " where the topology gives none. L1 and L2 that the topology does not name are private to a core; " \
                 "L3 and L4 exist only when it names them.", \
         .source = WESTMERE}, \
        COST("cache." l ".latency", lat, WESTMERE, "One dependent access that finds its line in the " name "."), \
        RATE("cache." l ".read", read, WESTMERE, "Bytes per second that a core reads in sequence from the " name "."), \
        RATE("cache." l ".write", write, WESTMERE, \
             "Bytes per second that a core writes in sequence into lines in the " name ".")

#define DISTANCE(d, where, lat, read, write, flight) \
    COST("line.transfer." d, lat, C2C, \
         "Moving a modified line from " where ", operation included: a contended atomic, or one random access."), \
        RATE("transfer." d ".read", read, STREAMS, \
             "Bytes per second read in sequence that are modified in the cache of " where "."), \
        RATE("transfer." d ".write", write, STREAMS, \
             "Bytes per second written in sequence that are modified in the cache of " where "."), \
        GROUP("transfer." d, "Streams out of the cache of " where "."), \
    { \
        .path = "machine.ipi.flight_" d, .type = WB_KEY_COST, .unit = "time or cycles", .min = "0 ns", .max = "1 ms", \
        .def = flight, .flags = WB_KEY_PRICED, .help = "Time an interrupt travels to " where ".", .source = FLIGHT \
    }

static const struct wb_key rows[] = {
    /* ---- who sits where ---- */
    {.path = "machine.topology",
     .type = WB_KEY_STRING,
     .def = "pack:1 l3:1 core:2 pu:1",
     .help = "CPUs and what they share, in hwloc's synthetic language: levels from the top down, each type:count, "
             "memory in brackets: "
             "\"pack:2 [numa] l3:1(size=8MiB) core:4 pu:2(indexes=0,8,1,9,...)\". \"live\" = the machine this runs on.",
     .source = "hwloc 2.9, synthetic topologies"},
    {.path = "machine.hwloc",
     .type = WB_KEY_STRING,
     .help = "An hwloc XML file (lstopo --of xml FILE) to take the topology from, instead of machine.topology; beside "
             "this file, or a path."},
    GROUP(
        "table",
        "Topology as explicit tables, instead of machine.topology: one number per CPU position; equal numbers share."),
    TABLE("table.core", "Core of each position; without it each is its own."),
    TABLE("table.l1", "L1 data cache of each position; without it one per core."),
    TABLE("table.l2", "L2 cache of each position; without it one per core."),
    TABLE("table.l3", "L3 cache of each position; without it there is none."),
    TABLE("table.l4", "L4 cache of each position; without it there is none."),
    TABLE("table.package", "Package of each position; without it all are in one."),
    TABLE("table.node", "NUMA node of each position, numbered 0, 1, ...; without it there is one."),
    {.path = "machine.numbering",
     .type = WB_KEY_ENUM,
     .choices = "default smt_first smt_last interleaved",
     .def = "default",
     .help = "CPU numbers of the positions. default: indexes= of the topology, else depth first. smt_first: siblings "
             "are neighbours. "
             "smt_last: first threads of all cores, then second threads. interleaved: round robin over packages, "
             "second threads last.",
     .source = "firmware tables decide; Linux takes their order (arch/x86/kernel/acpi/boot.c)"},
    TABLE("numbers", "CPU number of each position (depth first), a permutation; wins over machine.numbering."),
    TABLE("node_distance",
          "Distances between NUMA nodes, row by row, 10 on the diagonal; without it 20 between any two."),
    {.path = "machine.node_reclaim_distance",
     .type = WB_KEY_INT,
     .min = "0",
     .max = "255",
     .def = "0",
     .help = "What kernels raise the limit of kernel.domains.reclaim_distance to on this part: 32 on EPYC, whose "
             "packages are 32 apart. 0: they leave it.",
     .source = "Linux 5.4 arch/x86/kernel/cpu/amd.c init_amd_zn, commit a55c7454a8c8"},

    /* ---- speed ---- */
    {.path = "machine.clock",
     .type = WB_KEY_FREQ,
     .unit = "Hz",
     .min = "1 MHz",
     .max = "100 GHz",
     .def = "2.5 GHz",
     .flags = WB_KEY_PRICED,
     .help = "Clock of the cores. Costs in cycles scale with it, latencies in ns do not.",
     .source = "assumed: a server of about 2010"},
    {.path = "machine.cpi",
     .type = WB_KEY_RATIO,
     .min = "1 %",
     .max = "10000 %",
     .def = "100 %",
     .flags = WB_KEY_PRICED,
     .help = "Cycles that a path takes here for each cycle it took where it was measured.",
     .source = OURS},
    {.path = "machine.cpu_speed",
     .type = WB_KEY_STRINGS,
     .help = "Machines with several kinds of cores: speed of the slower ones, of the fastest: [ \"0-3 45 %\" ], 1 to "
             "100 %. Computing and path costs take so much longer there; what waits for memory, lines and interrupts "
             "does not. CPUs that are not named have 100 %. Kernels from 5.4 on know it (policy.cpu_capacity).",
     .source = "capacity-dmips-mhz of device trees times the clock"},
    RATIO("smt_share", "1 %", "100 %", "62 %",
          "assumed, 0.6-0.65 for integer kernel code (hyper-threading yields 20-30 %)",
          "Speed of each of two busy threads of a core."),
    RATIO("smt_share_4", "1 %", "100 %", "36 %", "assumed",
          "Speed of each of four busy threads of a core; three lie halfway."),
    RATIO("smt_share_8", "1 %", "100 %", "18 %", "assumed",
          "Speed of each of eight busy threads of a core; others lie between."),
    {.path = "machine.mlp",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "64",
     .def = "1",
     .help = "Misses in flight of a random pattern: 1 = a pointer chase.",
     .source = "a pointer chase has one"},

    /* ---- caches ---- */
    GROUP("cache", "Cache sizes, lines and what hits cost."),
    {.path = "machine.cache.line",
     .type = WB_KEY_SIZE,
     .unit = "bytes",
     .min = "16 B",
     .max = "1 KiB",
     .def = "64 B",
     .help = "Cache line: unit of coherence.",
     .source = "x86 since the Pentium 4's L1"},
    CACHE_LEVEL("l1", "L1", "32 KiB", "4 cy", "40 GB/s", "40 GB/s"),
    CACHE_LEVEL("l2", "L2", "256 KiB", "10 cy", "30 GB/s", "20 GB/s"),
    CACHE_LEVEL("l3", "L3", "8 MiB", "40 cy", "20 GB/s", "12 GB/s"),
    CACHE_LEVEL("l4", "L4", "64 MiB", "100 cy", "15 GB/s", "10 GB/s"),
    GROUP("copy", "Copy loop of a core (copy_to_user and the like)."),
    RATE("copy.l1", "10 GB/s", "assumed",
         "Bytes copied per second when source and destination are in the L1 (or just fetched)."),
    RATE("copy.l2", "8 GB/s", "assumed",
         "The same, both in the L2. A side in another level counts half of that level's."),
    RATE("copy.l3", "6 GB/s", "assumed", "The same, both in the L3."),
    RATE("copy.l4", "5 GB/s", "assumed", "The same, both in the L4."),

    /* ---- other caches ---- */
    GROUP("line", "Single contended lines: locks, counters, runqueue heads."),
    COST("line.read", "4 cy", WESTMERE, "Plain load of a line that is in the own cache."),
    COST("line.write", "4 cy", WESTMERE, "Plain store to an owned line."),
    COST("line.rmw", "20 cy", "assumed, 15-25 cycles on Core 2 and Nehalem",
         "Locked read-modify-write of an owned line."),
    COST("line.rmw_plain", "6 cy", "assumed", "Read-modify-write without lock prefix of an owned line."),
    RATIO("line.upgrade", "1 %", "1000 %", "100 %",
          "assumed: the answers of the others must come back before the write may go on",
          "Invalidating clean copies, relative to moving the line over the same distance."),
    {.path = "machine.line.upgrade_overlap",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "64",
     .def = "4",
     .flags = WB_KEY_PRICED,
     .help = "Invalidations in flight while writing in sequence.",
     .source = "assumed: some of the ten line fill buffers"},
    GROUP("line.transfer", "Moving a modified line, by distance."),
    GROUP("transfer", "Streams out of other caches, by distance."),
    DISTANCE("smt", "a sibling thread", "10 ns", "20 GB/s", "20 GB/s", "300 ns"),
    DISTANCE("cluster", "a core that shares an inner cache", "25 ns", "12 GB/s", "9 GB/s", "300 ns"),
    DISTANCE("llc", "a core below the same last-level cache", "45 ns", "10 GB/s", "7 GB/s", "300 ns"),
    DISTANCE("package", "a core of the same package, other last-level cache", "100 ns", "5 GB/s", "3 GB/s", "400 ns"),
    DISTANCE("node", "another package of the same node", "150 ns", "3 GB/s", "2 GB/s", "500 ns"),
    DISTANCE("remote", "another node", "120 ns", "4 GB/s", "3 GB/s", "600 ns"),
    {.path = "machine.clean_forward",
     .type = WB_KEY_BOOL,
     .def = "true",
     .help = "Clean lines come from the nearest cache that has them (MESIF, MOESI directories). false: from memory "
             "(MESI on a bus).",
     .source = "Intel since Nehalem (QPI, MESIF)"},

    /* ---- memory and shared bandwidth ---- */
    GROUP("memory", "Memory behind the caches, and the controller of each node."),
    COST("memory.latency", "80 ns", WESTMERE, "One dependent access to the own node's memory."),
    RATE("memory.read", "8 GB/s", WESTMERE, "Bytes per second that one core reads in sequence from its own node."),
    RATE("memory.write", "5 GB/s", WESTMERE,
         "Bytes per second that one core writes in sequence to its own node, reads for ownership included."),
    COST("memory.remote_latency", "130 ns", WESTMERE, "One dependent access to another node's memory."),
    RATE("memory.remote_read", "5 GB/s", WESTMERE,
         "Bytes per second that one core reads in sequence from another node."),
    RATE("memory.remote_write", "3 GB/s", WESTMERE,
         "Bytes per second that one core writes in sequence to another node."),
    RATE_OR_NONE("memory.rate", "25 GB/s", "assumed, three channels of DDR3-1333 are 32 GB/s at peak",
                 "What the memory controller of a node gives to all CPUs together; 0 B/s = not limited."),
    RATE_OR_NONE("memory.core_rate", "0 B/s", OURS,
                 "Most of it that one core can take; 0 B/s = no cap beside memory.read and memory.write."),
    GROUP("bus", "Front-side bus: everything that leaves a package's caches crosses it."),
    {.path = "machine.bus.span",
     .type = WB_KEY_ENUM,
     .choices = "none machine package",
     .def = "none",
     .help = "none, one bus for the whole machine, or one per package.",
     .source = "point-to-point links since Opteron and Nehalem"},
    RATE_OR_NONE("bus.rate", "0 B/s", OURS, "What a bus carries for all its CPUs together."),
    RATE_OR_NONE("bus.core_rate", "0 B/s", OURS, "Most of it that one core can take; 0 B/s = no cap of its own."),
    {.path = "machine.bus.line_bytes",
     .type = WB_KEY_SIZE,
     .unit = "bytes",
     .min = "0 B",
     .max = "4 KiB",
     .def = "0 B",
     .flags = WB_KEY_PRICED,
     .help = "Bus time of one line transfer in bytes, address phase included: a transfer takes longer while others "
             "load the bus.",
     .source = OURS},
    GROUP("link", "Interconnect port of each node, crossed by traffic to other nodes."),
    RATE_OR_NONE("link.rate", "11 GB/s", "assumed, QPI at 6.4 GT/s is 12.8 GB/s in each direction at peak",
                 "What the port of a node carries for all its CPUs together; 0 B/s = not limited."),
    RATE_OR_NONE("link.core_rate", "0 B/s", OURS, "Most of it that one core can take; 0 B/s = no cap of its own."),

    /* ---- clocks ---- */
    GROUP("timecounter", "Devices that tell the time, by name: timecounter : { i8254 : { read = \"0.9 us\"; reads = 3; "
                         "}; }. kernel.timecounter names the one in use."),
    GROUP("timecounter.*", "One device that tells the time."),
    COST("timecounter.*.read", "25 ns", "assumed, the cycle counter: some tens of cycles",
         "One access to the device: an instruction, or a cycle on the bus it sits on. Is not shortened by a faster CPU "
         "when given in ns."),
    {.path = "machine.timecounter.*.reads",
     .type = WB_KEY_INT,
     .min = "1",
     .max = "100",
     .def = "1",
     .help = "Accesses that one reading of the time takes.",
     .source = "i8254: latch, low byte, high byte; an ACPI timer that may tear is read three times"},

    /* ---- interrupts and idle ---- */
    GROUP("ipi", "Interrupts between CPUs: the sender's time, the flight, the receiver's entry."),
    COST("ipi.send", "600 ns", PALLIPADI, "Time that sending takes the sender."),
    COST("ipi.offset", "300 ns", "assumed: the write to the interrupt controller is about half way",
         "When the flight starts, counted from the sender's start."),
    COST("ipi.entry", "400 ns", "assumed, interrupt entry and exit are 200-500 ns",
         "Entry of the interrupt on the receiver in hardware and low-level code, before any handler."),
    {.path = "machine.idle",
     .type = WB_KEY_GROUP,
     .help = "Idle states by name, each with its costs: idle : { c1 : { enter = \"1 us\"; exit = \"2 us\"; }; c6 : { "
             "after = \"500 us\"; ... }; }. "
             "The hardware of an idle CPU is in the last state whose `after` has passed. Without any there is one: c1, "
             "enter 0.5 us, exit 1.5 us, woken by an interrupt."},
    {.path = "machine.idle.*", .type = WB_KEY_GROUP, .help = "One idle state."},
    {.path = "machine.idle.*.after",
     .type = WB_KEY_TIME,
     .unit = "time",
     .min = "0 s",
     .max = "10 s",
     .def = "0 s",
     .help = "A CPU idle for this long is in this state; the first state has 0.",
     .source = OURS},
    {.path = "machine.idle.*.enter",
     .type = WB_KEY_COST,
     .unit = "time or cycles",
     .min = "0 ns",
     .max = "10 ms",
     .def = "0 ns",
     .flags = WB_KEY_PRICED,
     .help = "Time to get in. A wake inside it needs no exit from this state.",
     .source = OURS},
    {.path = "machine.idle.*.exit",
     .type = WB_KEY_DIST,
     .unit = "time",
     .min = "0 ns",
     .max = "100 ms",
     .def = "1.5 us",
     .flags = WB_KEY_PRICED,
     .help = "Time to get out, a distribution.",
     .source = MENU},
    {.path = "machine.idle.*.wake",
     .type = WB_KEY_ENUM,
     .choices = "poll monitor ipi",
     .def = "ipi",
     .help = "poll: spins on need_resched, no interrupt. monitor: mwait, woken by the write to the flag. ipi: halted, "
             "needs an interrupt.",
     .source = "hlt and its kin"},
    {.path = "machine.idle.*.smt_load",
     .type = WB_KEY_RATIO,
     .min = "0 %",
     .max = "100 %",
     .def = "0 %",
     .flags = WB_KEY_PRICED,
     .help = "Load on the SMT siblings; 100 % = as a busy thread.",
     .source = "a halted thread leaves the core to its sibling"},
    {.path = "machine.idle.*.use",
     .type = WB_KEY_BOOL,
     .def = "true",
     .help = "false takes the state away, for example to study a machine without deep sleep.",
     .source = OURS},
};

const struct wb_key *wb_machine_keys(size_t *n)
{
    *n = WB_ARRAY_SIZE(rows);
    return rows;
}
