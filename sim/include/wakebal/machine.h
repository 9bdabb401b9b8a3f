/*
 * machine.h - the simulated hardware: topology, caches, contended lines, buses, IPIs, idle states, SMT.
 *
 * Three objects, from immutable to mutable:
 *
 *   struct wb_topology       who sits where. Immutable; shared by every run and thread.
 *   struct wb_machine        topology + the spec (all costs) + tables derived from both. Immutable; shared.
 *   struct wb_machine_state  what caches hold, who owns which line, who uses which bus, free pages. One per
 * replication,
 *                            one block of memory, nothing is allocated after wb_machine_state_init().
 *
 * Nothing here knows events, tasks or the kernel. A call answers "what does this cost" and changes the state at
 * once; the engine turns the answer into simulated time. Calls must come in nondecreasing simulated time (line
 * queues and caches are served in the order of the calls). Everything on the event path is integer, O(1) (a constant
 * number of cache levels and of holders of a region) unless stated, and deterministic.
 *
 * Units: time ps, size bytes, rate bytes/s, ratio ppm. Costs given in cycles were converted when the spec was filled.
 */
#ifndef WAKEBAL_MACHINE_H
#define WAKEBAL_MACHINE_H

#include "wakebal/base.h"
#include "wakebal/cpumask.h"
#include "wakebal/diag.h"
#include "wakebal/rng.h"

struct wb_config;
struct wb_key;

/* ---------------------------------------------------------------- topology */

#define WB_CACHE_LEVELS 4u /* L1 (data) .. L4 */
#define WB_NO_CACHE UINT32_MAX
#define WB_NODES_MAX 1024u
#define WB_SMT_MAX 8u

/* How far CPU b is from CPU a, nearest first. CLUSTER: another core that shares an L2 which is not the last level.
 * LLC: shares the last-level cache. PACKAGE: same package, other last-level cache. NODE: other package of the same NUMA
 * node (bus machines). REMOTE: another NUMA node. */
enum wb_distance {
    WB_FAR_SELF,
    WB_FAR_SMT,
    WB_FAR_CLUSTER,
    WB_FAR_LLC,
    WB_FAR_PACKAGE,
    WB_FAR_NODE,
    WB_FAR_REMOTE,
    WB_DISTANCES
};

/* Levels at which CPUs form groups. The groups of a level partition the CPUs. */
enum wb_topo_level { WB_LVL_CORE, WB_LVL_CLUSTER, WB_LVL_LLC, WB_LVL_PACKAGE, WB_LVL_NODE, WB_TOPO_LEVELS };

/* One level: group g has the CPUs member[first[g] .. first[g+1]-1], ascending. mask[g].w is NULL when the group is
 * one CPU alone (no such mask is stored: memory stays proportional to the CPUs on machines without sharing). */
struct wb_topo_groups {
    uint32_t ngroups;
    const uint32_t *of;            /* [ncpus] group of a CPU */
    const uint32_t *first;         /* [ngroups + 1] */
    const cpu_id *member;          /* [ncpus] */
    const struct wb_cpumask *mask; /* [ngroups] */
};

struct wb_topo_cache {
    uint32_t level;   /* 1 .. WB_CACHE_LEVELS */
    uint64_t size;    /* bytes */
    uint32_t line;    /* bytes */
    uint32_t ncpus;   /* how many CPUs share it */
    cpu_id first_cpu; /* lowest of them */
};

struct wb_topology {
    uint32_t ncpus;
    uint32_t nsmt;    /* largest number of threads of a core */
    uint32_t nlevels; /* cache levels present, 1 .. WB_CACHE_LEVELS */
    struct wb_topo_groups level[WB_TOPO_LEVELS];
    const uint8_t *smt_index;          /* [ncpus] 0 = first thread of its core */
    const uint32_t *cache_of;          /* [ncpus * nlevels] instance, innermost first; use wb_topo_cache_of() */
    const struct wb_topo_cache *cache; /* [ncaches] */
    uint32_t ncaches;
    const uint8_t *far;           /* [ncpus * ncpus] enum wb_distance; NULL with more than WB_FAR_TABLE_CPUS */
    const uint8_t *node_distance; /* [nnodes * nnodes] SLIT units, 10 = local */
    const uint64_t *node_memory;  /* [nnodes] bytes, 0 = unknown */
    const char *text;             /* what it was made from, for messages; "" when from tables */
};

static inline uint32_t wb_topo_group(const struct wb_topology *t, enum wb_topo_level l, cpu_id c)
{
    return t->level[l].of[c];
}
/* CPUs of c's group at level l, ascending, c among them; *n = how many (>= 1). */
static inline const cpu_id *wb_topo_members(const struct wb_topology *t, enum wb_topo_level l, cpu_id c, uint32_t *n)
{
    const struct wb_topo_groups *g = &t->level[l];
    uint32_t i = g->of[c];
    *n = g->first[i + 1] - g->first[i];
    return g->member + g->first[i];
}
/* Mask of c's group at level l, or NULL when c is alone in it. */
static inline const struct wb_cpumask *wb_topo_mask(const struct wb_topology *t, enum wb_topo_level l, cpu_id c)
{
    const struct wb_cpumask *m = &t->level[l].mask[t->level[l].of[c]];
    return m->w ? m : NULL;
}
static inline bool wb_topo_shares(const struct wb_topology *t, enum wb_topo_level l, cpu_id a, cpu_id b)
{
    return t->level[l].of[a] == t->level[l].of[b];
}
/* Cache instance of CPU c at index i (0 = L1, innermost first; i < nlevels). */
static inline uint32_t wb_topo_cache_of(const struct wb_topology *t, cpu_id c, uint32_t i)
{
    return t->cache_of[(size_t)c * t->nlevels + i];
}
#define WB_FAR_TABLE_CPUS 64u                                                            /* 4 KiB, part of a cache */
enum wb_distance wb_topo_find_distance(const struct wb_topology *t, cpu_id a, cpu_id b); /* without the table */
static inline enum wb_distance wb_topo_distance(const struct wb_topology *t, cpu_id a, cpu_id b)
{
    if (WB_LIKELY(t->far)) return (enum wb_distance)t->far[(size_t)a * t->ncpus + b];
    return wb_topo_find_distance(t, a, b);
}
/* "self", "smt", "cluster", "llc", "package", "node", "remote". */
const char *wb_distance_name(enum wb_distance d);
/* "core", "cluster", "llc", "package", "node". */
const char *wb_topo_level_name(enum wb_topo_level l);

/* How the positions of a topology (depth first: package, cache, core, thread) get their CPU numbers. */
enum wb_numbering {
    WB_NUMBER_DEFAULT,     /* indexes= of the synthetic string if there, else depth first */
    WB_NUMBER_SMT_FIRST,   /* depth first: siblings are neighbours (0,1) */
    WB_NUMBER_SMT_LAST,    /* first threads of all cores, then second threads: siblings are c and c + ncores */
    WB_NUMBER_INTERLEAVED, /* round robin over packages; second threads after all first ones */
    WB_NUMBER_TABLE        /* table[position] = CPU */
};

/* A topology as tables: per position the group it belongs to (any ids; equal id = same group; nodes 0 .. nnodes-1).
 * A column may be NULL: core = each position its own, package = one, node = one, cache with a size = one per core.
 * Threads of a core must share everything, an L2 must lie within one last-level cache and that within one package. */
struct wb_topo_table {
    uint32_t ncpus;
    const uint32_t *core, *package, *node;
    const uint32_t *cache[WB_CACHE_LEVELS];         /* id of the L1..L4 a position uses, or NULL: see cache_size */
    uint64_t cache_size[WB_CACHE_LEVELS];           /* bytes; 0 and no column: that level does not exist */
    const uint64_t *cache_size_at[WB_CACHE_LEVELS]; /* size by position (hybrid machines), or NULL */
    uint32_t cache_line[WB_CACHE_LEVELS];           /* bytes; 0 = 64 */
    const uint8_t *distance;                        /* [nnodes * nnodes] or NULL: 10 local, 20 remote */
    const uint64_t *memory;                         /* [nnodes] or NULL */
    enum wb_numbering numbering;
    const uint32_t *numbers; /* WB_NUMBER_TABLE: CPU of each position, a permutation */
    const char *text;
};

/* Options of the textual makers. */
struct wb_topo_options {
    enum wb_numbering numbering;
    const uint32_t *numbers; /* WB_NUMBER_TABLE */
    uint32_t nnumbers;
    uint64_t
        cache_size[WB_CACHE_LEVELS]; /* size where the text names none; L1, L2: also makes the level exist per core */
    uint32_t line;                   /* bytes, 0 = 64 */
    struct wb_place place;           /* of the first character inside the topology string, for messages */
    const uint8_t *distance;         /* node distances to use instead of the text's, or NULL */
    uint32_t ndistance;              /* entries in it: must be nodes^2 */
    struct wb_place numbers_place;   /* of the numbering, for messages */
};

/* Make a topology. All return a malloc'd object (wb_topology_free) or NULL with errors in d. Errors of a string
 * point at the very column (opt->place.col + offset). Same language as hwloc's synthetic strings: "pack:2 [numa]
 * l3:1(size=8388608) core:4 pu:2(indexes=0,8,...)", types pack numa die l4..l1 core pu group; counts and attributes
 * as hwloc reads them. */
struct wb_topology *wb_topo_from_synthetic(const char *text, const struct wb_topo_options *opt, struct wb_diag *d);
struct wb_topology *wb_topo_from_table(const struct wb_topo_table *tab, struct wb_place at, struct wb_diag *d);
struct wb_topology *wb_topo_from_hwloc_xml(const char *path, const struct wb_topo_options *opt, struct wb_diag *d);
struct wb_topology *wb_topo_live(const struct wb_topo_options *opt, struct wb_diag *d);
void wb_topology_free(struct wb_topology *t);
size_t wb_topology_bytes(const struct wb_topology *t); /* memory it takes */

/* The boxes of `show topology`: one per last-level cache, cores and their CPU numbers inside, nodes (and packages,
 * where they are not the same) named above. Malloc'd, caller frees; NULL: out of memory. width: columns available
 * (80); unicode: box drawing characters. Large machines are cut ("... 56 more"). */
char *wb_topo_draw(const struct wb_topology *t, uint32_t width, bool unicode);

/* ---------------------------------------------------------------- spec: every cost of a machine */

/* Costs of the bytes that come from one kind of place: a cache level of the own chain, another cache, memory.
 * stream_*: bytes/s a core gets when it runs through consecutive addresses (prefetched); latency: one dependent
 * access. */
struct wb_supply {
    uint64_t stream_read;  /* bytes/s */
    uint64_t stream_write; /* bytes/s; read for ownership included */
    sim_time latency;      /* ps */
};

enum wb_wake_kind {
    WB_WAKE_POLL,    /* spins on need_resched: no IPI, exit = noticing it */
    WB_WAKE_MONITOR, /* mwait: woken by the write to the flag, no IPI; does not load its sibling */
    WB_WAKE_IPI      /* halted: needs an interrupt */
};

#define WB_IDLE_STATES_MAX 8u
/* One idle state. The hardware of a CPU idle for t is in the last state with after <= t. */
struct wb_idle_state {
    char name[16];
    sim_time after;      /* idle for at least this long; 0 for the first */
    sim_time enter;      /* time to get in; a wake inside it needs no exit from this state */
    struct wb_dist exit; /* exit latency */
    enum wb_wake_kind wake;
    uint32_t smt_load_ppm; /* load this state puts on its SMT siblings, 1000000 = as a busy thread */
};

/* Shared bandwidth servers. rate 0 = there is none of this kind. core_rate: most that one core can take, 0 = no cap. */
enum wb_bus_span { WB_BUS_NONE, WB_BUS_MACHINE, WB_BUS_PACKAGE }; /* one front-side bus for all, or one per package */
struct wb_bandwidth {
    uint64_t rate;
    uint64_t core_rate;
};

struct wb_machine_spec {
    char name[64];
    uint64_t clock_hz;
    uint32_t cpi_ppm;                      /* cycles of paths measured elsewhere, 1000000 = as measured */
    uint32_t smt_share_ppm[WB_SMT_MAX];    /* speed of each thread when i+1 siblings are busy; [0] = 1000000 */
    struct wb_supply hit[WB_CACHE_LEVELS]; /* data found in the own chain */
    struct wb_supply dirty[WB_DISTANCES];  /* modified in another cache at that distance; latency = line transfer */
    struct wb_supply clean[WB_DISTANCES];  /* clean in another cache; used when clean_forward */
    bool clean_forward;                    /* false: clean lines of others come from memory (front-side bus, MESI) */
    struct wb_supply memory[2];            /* [0] own node, [1] other node */
    uint32_t mlp;                          /* misses in flight of a random pattern, >= 1 */
    uint64_t copy_rate[WB_CACHE_LEVELS];   /* bytes copied per s when source and destination are both at that level */
    sim_time upgrade[WB_DISTANCES];        /* invalidating copies at that distance: latency of one */
    uint32_t upgrade_overlap;              /* invalidations in flight when streaming, >= 1 */
    /* contended lines; transfer time = dirty[d].latency, it includes the operation itself */
    sim_time line_read, line_write; /* plain load, store: line already owned */
    sim_time rmw_locked, rmw_plain; /* atomic and unlocked read-modify-write of an owned line */
    uint32_t line_bus_bytes; /* bytes of bus time a transfer takes between caches (address phase too), 0 = none */
    /* shared servers */
    enum wb_bus_span bus_span;
    struct wb_bandwidth bus, memory_bw, link; /* bus; controller of each node; interconnect port of each node */
    /* interrupts */
    sim_time ipi_send;   /* sender is busy this long */
    sim_time ipi_offset; /* flight starts this long after the sender began */
    sim_time ipi_flight[WB_DISTANCES];
    sim_time ipi_entry; /* receiver: interrupt entry, before any handler */
    /* idle */
    uint32_t nidle; /* >= 1 */
    struct wb_idle_state idle[WB_IDLE_STATES_MAX];
};

/* A plain two-issue machine of about 2010: every field has a value that works. */
void wb_machine_spec_defaults(struct wb_machine_spec *s);

/* ---------------------------------------------------------------- machine */

struct wb_machine; /* opaque, immutable */

/* Takes ownership of topo (also on failure). NULL with errors in d. The spec is copied; tables of its wb_dist are
 * shared and must outlive the machine (those of a config live as long as the config). */
struct wb_machine *wb_machine_new(struct wb_topology *topo, const struct wb_machine_spec *spec, struct wb_diag *d);
/* From the `machine.*` keys. NULL with errors at their places. */
struct wb_machine *wb_machine_build(const struct wb_config *cfg, struct wb_diag *d);
void wb_machine_free(struct wb_machine *m);
size_t wb_machine_bytes(const struct wb_machine *m); /* memory it takes, its topology included */

const struct wb_topology *wb_machine_topo(const struct wb_machine *m);
const struct wb_machine_spec *wb_machine_costs(const struct wb_machine *m);
uint32_t wb_machine_ncpus(const struct wb_machine *m);
/* Milli-cycles on this machine's clock, in ps; scaled: multiply by cpi first (paths measured elsewhere). */
sim_time wb_machine_cycles(const struct wb_machine *m, uint64_t millicycles, bool scaled);
/* Rows of all machine.* keys. */
const struct wb_key *wb_machine_keys(size_t *n);

/* Speed of a thread whose siblings together put other_load_ppm on the core (1000000 per busy thread; idle states
 * declare theirs): linear between the entries of smt_share. 1000000 = full speed. */
uint32_t wb_smt_speed_ppm(const struct wb_machine *m, uint64_t other_load_ppm);
/* Speed of this CPU alone on its core, of the fastest kind of core: 1000000 unless machine.cpu_speed says less. */
uint32_t wb_machine_speed_ppm(const struct wb_machine *m, cpu_id c);

/* Cost of one IPI. Sender busy [0, send); receiver's interrupt arrives at offset + flight; entry follows the idle
 * exit. */
struct wb_ipi {
    sim_time send, offset, flight, entry;
};
void wb_ipi_cost(const struct wb_machine *m, cpu_id from, cpu_id to, struct wb_ipi *out);

/* The idle state that hardware is in after idling for `idle_for` (index into costs->idle; entry time counts as
 * inside). */
const struct wb_idle_state *wb_idle_state_at(const struct wb_machine *m, sim_time idle_for);
/* Exit latency of a CPU idle since idle_since that is woken at now: a draw from its state's distribution. A wake
 * while a state is still being entered costs the exit of the one before (0 for the first). */
sim_time wb_idle_exit_latency(const struct wb_machine *m, sim_time idle_since, sim_time now, struct wb_stream *stream);

/* ---------------------------------------------------------------- state of one run */

typedef uint32_t region_id;
typedef uint32_t line_id;
typedef uint32_t server_id;
#define WB_NO_REGION UINT32_MAX
#define WB_NO_LINE UINT32_MAX
#define WB_NO_SERVER UINT32_MAX

struct wb_machine_sizes {
    uint32_t regions; /* most regions alive at once, pages not counted */
    uint32_t pages;   /* most pages in use at once; what sits in the lists of CPUs is added by the state itself */
    uint32_t lines;   /* most contended lines alive at once */
    /* Lines that many look through one behind the other (wb_line_read_set), by number. Their sets of sharers do not
     * come from the pool. */
    uint32_t walked_first, walked;
    /* Rules of the page lists; 0 = as Linux 2.6.3 .. 2.6.14: pages of 4096, batch = 256 KiB / page size / 4, low = 2
     * batches, high = 6 (low is taken as given when high is). A list of `low` pages takes a batch before it gives
     * one, a list of `high` gives a batch back. */
    uint32_t page_bytes, page_batch, page_low, page_high;
};

struct wb_machine_state; /* opaque, mutable, one per run */
size_t wb_machine_state_size(const struct wb_machine *m, const struct wb_machine_sizes *sizes);
/* mem: wb_machine_state_size() bytes, zeroed, 64-byte aligned, owned by the caller; the state lives in it. Most of it
 * is room for the worst case and is not touched before it is used. */
struct wb_machine_state *wb_machine_state_init(void *mem, const struct wb_machine *m,
                                               const struct wb_machine_sizes *sizes);
/* Bytes of it that are in memory now; for reports. */
size_t wb_machine_state_touched(const struct wb_machine_state *s);
/* The same with memory from the system, used as it is touched; free with wb_machine_state_free(). NULL: out of
 * memory. */
struct wb_machine_state *wb_machine_state_new(const struct wb_machine *m, const struct wb_machine_sizes *sizes);
void wb_machine_state_free(struct wb_machine_state *s);

/* --- regions: sets of bytes that somebody touches ---
 *
 * A cache instance holds some bytes of some regions. Of a region it knows stretches that were touched through it (the
 * present run, what was there before, the modified part) and how many bytes of each are still there, spread evenly;
 * so a buffer run through piece by piece is exact and everything stays O(1). Insertions first use free room, then
 * displace what is there in proportion: n inserted bytes leave exp(-n / size) of the others. Caches nest (L1 within
 * L2 within L3). A region remembers at most 8 caches; the innermost, least recent clean one of another CPU is
 * forgotten first, the last writer's never.
 *
 * A read of bytes that another cache holds dirty is a cache-to-cache transfer that leaves both copies clean. A write
 * invalidates all other copies: bytes it holds that others hold too cost upgrades (invalidations), bytes it does not
 * hold are read for ownership. */

enum wb_pattern { WB_STREAM, WB_RANDOM };
enum wb_access { WB_READ, WB_WRITE };

struct wb_span {
    region_id region;
    uint32_t offset; /* offset + bytes <= size of the region */
    uint32_t bytes;
};

/* Part of a touch that uses shared servers: at full speed it takes `time`. The engine joins all of server[] for its
 * length and runs it at the least of their speeds. Unused entries are WB_NO_SERVER. */
#define WB_STAGE_SERVERS 3u
struct wb_stage {
    sim_time time;
    uint64_t bytes;
    server_id server[WB_STAGE_SERVERS];
};

/* What a touch or copy costs when nobody else uses the buses. total = core + upgrade + refill.
 * core scales with the speed of the CPU (SMT); refill and upgrade do not. refill = sum of stage[].time + unstaged. */
#define WB_TOUCH_STAGES 6u
struct wb_touch {
    sim_time core;     /* bytes found in the own chain, or the copy loop */
    sim_time upgrade;  /* invalidating other clean copies */
    sim_time refill;   /* bytes from elsewhere */
    sim_time unstaged; /* part of refill that crosses no shared server (other cache below the same last level) */
    sim_time total;
    uint64_t hit_bytes[WB_CACHE_LEVELS];                           /* by level of the own chain */
    uint64_t dirty_bytes[WB_DISTANCES], clean_bytes[WB_DISTANCES]; /* from other caches, by distance */
    uint64_t memory_bytes[2];                                      /* local, remote */
    sim_time hit_time[WB_CACHE_LEVELS];                            /* of a touch; for a copy the shares of core */
    sim_time dirty_time[WB_DISTANCES], clean_time[WB_DISTANCES], memory_time[2];
    uint64_t upgrade_lines;
    uint32_t nstages;
    struct wb_stage stage[WB_TOUCH_STAGES];
};

/* name: static text for debugging. Bytes 1 .. 2^32-1. WB_CHECK on overflow of sizes->regions. Home node = first
 * toucher's. */
region_id wb_region_new(struct wb_machine_state *s, uint64_t bytes, const char *name);
/* Its bytes leave all caches at once (their room is free again). */
void wb_region_free(struct wb_machine_state *s, region_id r);
uint64_t wb_region_bytes(const struct wb_machine_state *s, region_id r);
/* Bytes of r that the chain of cpu holds at level index i now (0 = L1). For statistics and policies that look. */
uint64_t wb_region_resident(const struct wb_machine_state *s, region_id r, cpu_id cpu, uint32_t i);
/* Touch a span: fills *out and changes the caches. */
void wb_region_touch(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *span, enum wb_pattern pattern,
                     enum wb_access access, struct wb_touch *out) __attribute__((nonnull));
/* Copy src to dst (equal bytes; different regions): a stream read of src, a stream write of dst. core = the copy
 * loop at copy_rate of the level where the bytes were, half weight for each side; bytes that had to be fetched run
 * at the L1 rate once they are there and add their refill. */
void wb_region_copy(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *src, const struct wb_span *dst,
                    struct wb_touch *out);
/* The same, but only what it costs is filled in. true: the outermost own cache had all bytes and nobody else any, so
 * that it costs no more than core, and nothing but core is filled in. false: upgrade, refill, unstaged, total and the
 * stages as well. */
bool wb_region_touch_cost(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *span, enum wb_pattern pattern,
                          enum wb_access access, struct wb_touch *out);
bool wb_region_copy_cost(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *src, const struct wb_span *dst,
                         struct wb_touch *out);

/* --- pages: regions of page_bytes with hot free lists ---
 * A page freed by CPU c is the next one c gets (LIFO). Lists are topped up and drained by batches at their cold end
 * (pages.c states the kernel rules). Caches keep what they hold of a free page. */
region_id wb_page_alloc(struct wb_machine_state *s, cpu_id cpu); /* WB_NO_REGION: sizes->pages are all in use */
void wb_page_free(struct wb_machine_state *s, cpu_id cpu, region_id page);
/* What the owner of a page notes about it (a pipe's slot): the bytes in use, the next page of its list. Zeros and
 * WB_NO_REGION when the page is given out; gone when it is freed. */
struct wb_page_note {
    uint32_t offset, len;
    region_id next;
};
struct wb_page_note *wb_page_note(struct wb_machine_state *s, region_id page);

/* --- contended lines ---
 * Owner (last writer) or sharers, and a queue in front. Transfers of a line are served one at a time in the order of
 * calls: start = max(now, busy_until). Reads of a line that is clean somewhere overlap each other; a hit needs no
 * transfer. READ of a line modified elsewhere: transfer from the owner, both share it afterwards. WRITE or RMW:
 * transfer from the owner or, when shared, the invalidation of the farthest sharer. */
/* XCHG is an RMW that stays locked in kernels built for one CPU (x86: xchg with memory needs no prefix). */
enum wb_line_op { WB_LINE_READ, WB_LINE_WRITE, WB_LINE_RMW, WB_LINE_RMW_PLAIN, WB_LINE_XCHG, WB_LINE_OPS };
struct wb_line_cost {
    sim_time done;         /* completion = now + queue + transfer + local */
    sim_time queue;        /* waited for earlier requests */
    sim_time transfer;     /* the line (or an invalidation) travelled */
    sim_time local;        /* served from the own cache: uncontended price */
    enum wb_distance from; /* WB_FAR_SELF: hit */
};
line_id wb_line_new(struct wb_machine_state *s);
/* n neighbours that were never used: the first of them. */
line_id wb_lines_new(struct wb_machine_state *s, uint32_t n);
void wb_line_free(struct wb_machine_state *s, line_id l);
void wb_line_access(struct wb_machine_state *s, cpu_id cpu, line_id l, enum wb_line_op op, sim_time now,
                    struct wb_line_cost *out);
/* The same access, and of its cost what most callers want. */
struct wb_line_time {
    sim_time wait;  /* queue + transfer */
    sim_time local; /* done = now + wait + local */
};
struct wb_line_time wb_line_time(struct wb_machine_state *s, cpu_id cpu, line_id l, enum wb_line_op op, sim_time now);
/* Reads of lines first + i, for the bits i of `which` ascending, all asked for at `now`: the sum of done - now. */
sim_time wb_line_read_set(struct wb_machine_state *s, cpu_id cpu, line_id first, uint64_t which, sim_time now);
sim_time wb_line_busy_until(const struct wb_machine_state *s, line_id l);
cpu_id wb_line_owner(const struct wb_machine_state *s, line_id l); /* WB_NO_CPU: shared or in memory */

/* --- shared servers: processor sharing with a cap per job ---
 * A job is a CPU inside a stage; it wants `demand` = bytes/s at full speed. While the demands fit the server's rate
 * everybody runs at full speed; else the rate is shared max-min fairly (equal shares, what small jobs leave goes to
 * the others). */
uint32_t wb_server_count(const struct wb_machine_state *s);
const char *wb_server_name(const struct wb_machine_state *s, server_id v); /* "bus0", "memory1", "link0" */
/* Demand of a stage in bytes/s. */
uint64_t wb_stage_demand(const struct wb_stage *stage);
/* A CPU is in at most WB_STAGE_SERVERS servers at once and in each at most once. True: the speed of somebody else on
 * this server changed, repace them. O(1) while the demands fit, else O(active). */
bool wb_server_join(struct wb_machine_state *s, server_id v, cpu_id cpu, uint64_t demand);
bool wb_server_leave(struct wb_machine_state *s, server_id v, cpu_id cpu);
uint32_t wb_server_speed_ppm(const struct wb_machine_state *s, server_id v, cpu_id cpu); /* of a job that is in */
uint32_t wb_server_active(const struct wb_machine_state *s, server_id v);
/* Jobs in order of joining. */
cpu_id wb_server_first(const struct wb_machine_state *s, server_id v);
cpu_id wb_server_next(const struct wb_machine_state *s, server_id v, cpu_id cpu);

/* ---------------------------------------------------------------- machine files */

struct wb_machine_file_options {
    const char *name;         /* machine.name */
    const char *origin;       /* one line: where the topology came from */
    uint64_t clock_hz;        /* 0 = default */
    const char *clock_source; /* with clock_hz */
    /* What a calibration knows: the right side of a key without "machine." ("( \"12 ns\", \"measured\", ... )") in buf,
     * or NULL for the default. NULL: defaults only. */
    const char *(*cost)(void *ctx, const char *key, char *buf, size_t n);
    void *ctx;
    const char *head; /* comment lines at the top instead of the usual two; NULL = those */
    const char *idle; /* the group of idle states as text; NULL = the default one */
};
/* A complete, commented machine file (libconfig text) for this topology: all keys that matter to it, costs at their
 * defaults with status assumed and a range of half to twice. What `wakebal topology` writes. Malloc'd; NULL: out of
 * memory. */
char *wb_machine_file(const struct wb_topology *t, const struct wb_machine_file_options *opt);
/* The topology as a synthetic string that reads back to the same groups and numbers, malloc'd; NULL when it is
 * irregular. */
char *wb_topo_synthetic(const struct wb_topology *t);

#endif
