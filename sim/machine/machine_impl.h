/*
 * machine_impl.h - the insides of struct wb_machine and struct wb_machine_state, for the files of sim/machine only.
 *
 * Rates and latencies are turned into picoseconds per byte in units of 2^-10 when the machine is made ("q10"), so
 * that the event path multiplies and shifts: time = bytes * q10 >> 10. Rates are at least 1 MB/s.
 */
#ifndef WB_MACHINE_MACHINE_IMPL_H
#define WB_MACHINE_MACHINE_IMPL_H

#include "decay.h"
#include "wakebal/machine.h"

#define RATE_MIN 1000000ull

/* ps/byte * 2^10 by pattern and access. */
struct price {
    uint64_t q[2][2]; /* [enum wb_pattern][enum wb_access] */
};

struct wb_machine {
    struct wb_topology *topo;
    struct wb_machine_spec spec;
    uint8_t index_of_level[WB_CACHE_LEVELS + 1]; /* place in the chain of the cache level */
    uint32_t line_size;                          /* of the innermost cache: the unit of coherence */
    struct price hit[WB_CACHE_LEVELS];           /* by index in the chain (0 = innermost present) */
    struct price dirty[WB_DISTANCES], clean[WB_DISTANCES], memory[2];
    uint64_t copy_q[WB_CACHE_LEVELS];    /* by index in the chain */
    uint64_t upgrade_q[WB_DISTANCES][2]; /* by pattern */
    sim_time line_local[WB_LINE_OPS];    /* of a line that is in the own cache */
    /* From a cache where it is modified; 0 where that is not all there is to know: no time, or a bus between. */
    sim_time line_transfer[WB_DISTANCES][WB_LINE_OPS];
    uint32_t nservers, nbuses, nmemories, nlinks; /* ids: buses, then memory controllers, then links */
    uint32_t *speed_ppm;                          /* [ncpus] of machine.cpu_speed, owned; NULL: all CPUs are alike */
};

/* Reads machine.cpu_speed. 0, or -1 with errors in d. */
int machine_read_speeds(struct wb_machine *m, const struct wb_config *cfg, struct wb_diag *d);

static inline sim_time price_time(uint64_t bytes, uint64_t q10)
{
    return (sim_time)((unsigned __int128)bytes * q10 >> 10);
}

/* Server ids, WB_NO_SERVER when the machine has none of the kind. */
static inline server_id bus_of_cpu(const struct wb_machine *m, cpu_id c)
{
    if (!m->nbuses) return WB_NO_SERVER;
    return m->spec.bus_span == WB_BUS_MACHINE ? 0 : m->topo->level[WB_LVL_PACKAGE].of[c];
}
static inline server_id memory_of_node(const struct wb_machine *m, uint32_t node)
{
    return m->nmemories ? m->nbuses + node : WB_NO_SERVER;
}
static inline server_id link_of_cpu(const struct wb_machine *m, cpu_id c)
{
    return m->nlinks ? m->nbuses + m->nmemories + m->topo->level[WB_LVL_NODE].of[c] : WB_NO_SERVER;
}

/* ---- caches.c ---- */
struct cache {
    uint64_t clock; /* bytes inserted by displacing others */
    uint64_t free;  /* bytes of room nobody uses */
    struct decay_size size;
};

struct extent {
    uint32_t start, len;   /* stretch of the region; len 0 = empty */
    uint32_t bytes, dirty; /* of it, spread evenly: present, and modified among them */
};

/* What one cache instance holds of one region, as of the cache's clock `stamp`. run: the stretch of the latest
 * sequential touches; rest: what was there before, seldom anything. They do not overlap unless a hole was cut into
 * one. */
struct holder {
    uint64_t stamp;
    struct extent run;
    uint32_t rest; /* number of an extent in the pool, 0 = nothing */
    uint16_t cache;
    uint16_t used; /* region's touch count when it was last refreshed, modulo 2^16 */
};

/* Holders of a region stand in blocks of a pool, a chain of three levels in each: what nobody has touched needs
 * none. */
#define HOLDERS 8u /* two chains of four, or the chains of five CPUs below one cache */
#define HOLDERS_BLOCK 3u
#define HOLDER_BLOCKS ((HOLDERS + HOLDERS_BLOCK - 1) / HOLDERS_BLOCK)
#define CACHES_MAX 65535u
#define NO_HOME UINT16_MAX
struct region {
    uint32_t bytes;
    uint16_t home;                 /* node, NO_HOME before the first touch */
    uint16_t shape;                /* if not 0, the holders are what it says (shapes.h) */
    uint32_t block[HOLDER_BLOCKS]; /* in a free list: the next id */
    uint16_t touches;
    uint8_t nholders;
    uint8_t name; /* number of it */
};
#define REGION_NAMES 256u /* texts; further ones go without, as number 0 */
_Static_assert(sizeof(struct region) == 24, "there is one per task and page");
struct holder_block {
    struct holder h[HOLDERS_BLOCK];
};
/* Numbers of a pool: those given back first, then those never used. Number 0 is not given out. */
struct pool {
    uint32_t free, fresh, room;
};

/* ---- pages.c ---- */
struct page_list {
    uint32_t head, tail; /* nodes, hottest at head */
    uint32_t count;      /* pages */
};
/* Of a list: one page, or n neighbours that were never given out. */
struct page_node {
    uint32_t next, prev;
    uint32_t page, n;
};

/* ---- lines.c ---- */
#define LINE_BUSY_BITS 34
#define LINE_CPU_BITS 14
struct line {
    union {
        struct {
            uint64_t busy : LINE_BUSY_BITS; /* end of the queue, from line_epoch on; in the free list: next id */
            uint64_t state : 2;             /* enum line_state */
            uint64_t a : LINE_CPU_BITS;     /* the owner; two sharers, who may be the same; or both: number of a map */
            uint64_t b : LINE_CPU_BITS;
        };
        uint64_t word;
    };
};
_Static_assert(sizeof(struct line) == 8, "a pipe has twenty of them");
#define LINES_STRETCH_BITS 9u             /* a page of memory */
#define MAP_POOL_BYTES ((size_t)64 << 20) /* of address space; only maps that were in use cost memory */
/* Word k of map i is w[k * nmaps + i]: who scans many lines asks the same word of each, one behind the other. So that
 * they are side by side, lines that are walked have maps of their own, which come first. A word counts while its bit
 * in `some` is set, so that an empty map needs no clearing and a sparse one no searching. */
struct sharer_maps {
    uint32_t nwords, nmaps, nsums;
    uint32_t walked_first, walked; /* these lines have the maps from 0 on */
    uint64_t *w;
    uint64_t *some; /* [nmaps * nsums] */
    line_id *line;  /* which line uses a map, WB_NO_LINE = free */
    uint32_t *next;
    uint32_t free, fresh, hand; /* free list, then those never used, then a round robin hand */
};

/* The small spans that a CPU is in, those that say nothing new left out (lines.c). */
struct near_spans {
    cpu_id cpu; /* WB_NO_CPU: of nobody yet */
    uint32_t n;
    enum wb_distance beyond; /* nobody outside of them is nearer */
    struct {
        enum wb_distance far;
        const struct wb_cpumask *mask;
    } span[5];
    /* For reads of lines with maps: spans in one word of a map and nobody beyond them nearer than another, so that one
     * word of the map says what the read takes. */
    bool plain;
    uint64_t word[5]; /* of span[].mask */
    sim_time trip[5], beyond_trip;
};

/* ---- bus.c ---- */
struct job_link {
    cpu_id prev, next;
    server_id server; /* WB_NO_SERVER: unused */
    uint64_t demand;
};
struct server {
    uint64_t rate;
    uint64_t demand; /* sum over jobs */
    uint64_t share;  /* max-min share; UINT64_MAX while everybody is served in full */
    cpu_id head, tail;
    uint32_t active;
    char name[16];
};

#define SHARED_CPUS 64u /* of whose touches the order is known (shared.h) */

struct wb_machine_state {
    const struct wb_machine *m;
    size_t bytes; /* of the block that this begins */
    struct wb_machine_sizes sizes;
    bool by_the_book; /* no short cuts for regions that nobody else holds: what tests compare with */
    struct cache *cache;
    struct recall *recall;             /* [RECALL_PLACES] */
    struct shared *shared;             /* [SHARED_PLACES] */
    uint16_t shared_last[SHARED_CPUS]; /* place of the last touch of the CPU, or of another one whose number ends so */
    struct shapes *shapes;
    struct region *region; /* sizes.regions, then sizes.pages */
    const char *region_name[REGION_NAMES];
    uint32_t region_names;
    uint32_t region_free;  /* list of freed ids */
    uint32_t region_fresh; /* ids from here on were never used */
    uint32_t page_fresh;   /* how many have ever been in a list; given out */
    uint32_t pages_given;
    uint32_t page_nodes_free, page_nodes_fresh; /* list of free ones; those from here on were never used */
    struct holder_block *block;                 /* number 0 is not used, nor is extent 0 */
    struct extent *rest;
    struct pool blocks, rests; /* a free block or extent begins with the number of the next */
    struct page_list *page_cpu, *page_zone;
    struct page_node *page_node;    /* [sizes.pages] */
    struct wb_page_note *page_note; /* [sizes.pages] */
    struct line *line;
    uint8_t *line_used;  /* [sizes.lines >> LINES_STRETCH_BITS]: some line of the stretch has been accessed */
    sim_time *line_late; /* [sizes.lines] end of a queue that is too long for its line */
    sim_time line_epoch;
    uint32_t line_free, line_fresh;
    struct sharer_maps maps;
    struct near_spans near;
    struct server *server;
    struct job_link *job; /* [ncpus * WB_STAGE_SERVERS] */
};

void caches_init(struct wb_machine_state *s);
void pages_complete(struct wb_machine_sizes *z); /* defaults of the list rules */
void pages_init(struct wb_machine_state *s);
void lines_init(struct wb_machine_state *s);
void bus_init(struct wb_machine_state *s);

#endif
