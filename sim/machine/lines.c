/*
 * lines.c - contended cache lines: an owner or sharers, and one queue per line.
 *
 * MESI without the transient states: MODIFIED at one CPU, SHARED by a set, or only in memory. A transfer once
 * granted occupies the line for its time; requests are granted in the order of the calls, which the engine makes in
 * time order. Reads of a clean line are served side by side: the directory or the bus answers them without waiting
 * for one another.
 *
 * Up to 64 CPUs the set of sharers is a word in the line. On larger machines only lines that are shared just now
 * need a set: it comes from a pool; when the pool is empty, the next one in turn is taken from its line, which then
 * counts as being in memory.
 */
#include "machine_impl.h"

#include <string.h>

enum line_state { LINE_MEMORY, LINE_SHARED, LINE_MODIFIED, LINE_FREE };
#define NO_MAP UINT32_MAX

void lines_init(struct wb_machine_state *s)
{
    s->line_free = WB_NO_LINE;
    s->line_fresh = 0;
    for (uint32_t i = 0; i < s->maps.nmaps; i++) {
        s->maps.line[i] = WB_NO_LINE;
        s->maps.next[i] = i + 1 < s->maps.nmaps ? i + 1 : NO_MAP;
    }
    s->maps.free = s->maps.nmaps ? 0 : NO_MAP;
    s->maps.hand = 0;
}

line_id wb_line_new(struct wb_machine_state *s)
{
    line_id id = s->line_free;
    if (id != WB_NO_LINE) {
        s->line_free = s->line[id].owner;
    } else {
        WB_CHECK(s->line_fresh < s->sizes.lines, "more than the planned %u lines", s->sizes.lines);
        id = s->line_fresh++;
    }
    s->line[id] = (struct line){.owner = WB_NO_CPU, .state = LINE_MEMORY};
    return id;
}

static bool small(const struct wb_machine_state *s)
{
    return s->m->topo->ncpus <= 64;
}

static uint64_t *map_words(const struct wb_machine_state *s, const struct line *l)
{
    return s->maps.w + l->sharers * s->maps.nwords;
}

static void drop_sharers(struct wb_machine_state *s, struct line *l)
{
    if (!small(s)) {
        uint32_t i = (uint32_t)l->sharers;
        s->maps.line[i] = WB_NO_LINE;
        s->maps.next[i] = s->maps.free;
        s->maps.free = i;
    }
    l->sharers = 0;
}

/* An empty set for the line. */
static void take_sharers(struct wb_machine_state *s, line_id id)
{
    struct line *l = &s->line[id];
    l->sharers = 0;
    if (small(s)) return;
    struct sharer_maps *p = &s->maps;
    if (p->free == NO_MAP) {
        struct line *loser = &s->line[p->line[p->hand]];
        p->hand = (p->hand + 1) % p->nmaps;
        drop_sharers(s, loser);
        loser->state = LINE_MEMORY;
    }
    uint32_t i = p->free;
    p->free = p->next[i];
    p->line[i] = id;
    l->sharers = i;
    memset(map_words(s, l), 0, p->nwords * sizeof(uint64_t));
}

static void add_sharer(struct wb_machine_state *s, struct line *l, cpu_id c)
{
    if (small(s))
        l->sharers |= 1ull << c;
    else
        map_words(s, l)[c >> 6] |= 1ull << (c & 63);
}

static bool is_sharer(const struct wb_machine_state *s, const struct line *l, cpu_id c)
{
    if (l->state != LINE_SHARED) return false;
    return (small(s) ? l->sharers >> c : map_words(s, l)[c >> 6] >> (c & 63)) & 1;
}

void wb_line_free(struct wb_machine_state *s, line_id id)
{
    WB_CHECK(id < s->line_fresh && s->line[id].state != LINE_FREE, "line %u is not alive", id);
    struct line *l = &s->line[id];
    if (l->state == LINE_SHARED) drop_sharers(s, l);
    l->state = LINE_FREE;
    l->owner = s->line_free;
    s->line_free = id;
}

/* Nearest or farthest sharer other than cpu; false when there is none. O(sharers). */
static bool find_sharer(const struct wb_machine_state *s, const struct line *l, cpu_id cpu, bool farthest,
                        enum wb_distance *d)
{
    const uint64_t *w = small(s) ? &l->sharers : map_words(s, l);
    uint32_t nwords = WB_CPUMASK_WORDS(s->m->topo->ncpus);
    bool found = false;
    for (uint32_t i = 0; i < nwords; i++) {
        for (uint64_t v = w[i]; v; v &= v - 1) {
            cpu_id c = i * 64 + (uint32_t)__builtin_ctzll(v);
            if (c == cpu) continue;
            enum wb_distance far = wb_topo_distance(s->m->topo, cpu, c);
            if (!found || (farthest ? far > *d : far < *d)) *d = far;
            found = true;
        }
    }
    return found;
}

static sim_time local_price(const struct wb_machine_spec *p, enum wb_line_op op)
{
    const sim_time price[] = {p->line_read, p->line_write, p->rmw_locked, p->rmw_plain};
    return price[op];
}

/* A transfer between caches also needs the front-side bus: while others load it, its share of the line's time
 * stretches. */
static sim_time bus_delay(const struct wb_machine_state *s, cpu_id cpu, enum wb_distance far)
{
    const struct wb_machine *m = s->m;
    server_id v = bus_of_cpu(m, cpu);
    if (v == WB_NO_SERVER || far < WB_FAR_PACKAGE || !m->spec.line_bus_bytes) return 0;
    const struct server *bus = &s->server[v];
    if (bus->share >= bus->rate) return 0; /* nobody is held back */
    uint64_t full = m->spec.line_bus_bytes * WB_S / bus->rate;
    uint64_t shared = m->spec.line_bus_bytes * WB_S / WB_MAX(bus->share, 1ull);
    return shared - full;
}

/* Time the line travels to cpu for a read: from the nearest sharer or from memory; 0: cpu has it. */
static sim_time read_trip(const struct wb_machine_state *s, const struct line *l, cpu_id cpu, enum wb_distance *from)
{
    const struct wb_machine_spec *p = &s->m->spec;
    *from = WB_FAR_SELF;
    if (is_sharer(s, l, cpu)) return 0;
    if (l->state == LINE_SHARED && p->clean_forward && find_sharer(s, l, cpu, false, from))
        return p->clean[*from].latency;
    return p->memory[0].latency;
}

/* The same for a write: the farthest sharer must let go; who has no copy fetches one meanwhile. */
static sim_time write_trip(const struct wb_machine_state *s, const struct line *l, cpu_id cpu, enum wb_distance *from)
{
    const struct wb_machine_spec *p = &s->m->spec;
    bool sharer = is_sharer(s, l, cpu);
    if (l->state == LINE_SHARED && find_sharer(s, l, cpu, true, from)) {
        sim_time fetch = sharer ? 0 : p->dirty[*from].latency;
        return WB_MAX(p->upgrade[*from], fetch) + bus_delay(s, cpu, *from);
    }
    *from = WB_FAR_SELF;
    return sharer ? 0 : p->memory[0].latency;
}

static sim_time line_trip(const struct wb_machine_state *s, const struct line *l, cpu_id cpu, bool write,
                          enum wb_distance *from)
{
    if (l->state != LINE_MODIFIED) return write ? write_trip(s, l, cpu, from) : read_trip(s, l, cpu, from);
    *from = wb_topo_distance(s->m->topo, cpu, l->owner);
    return *from == WB_FAR_SELF ? 0 : s->m->spec.dirty[*from].latency + bus_delay(s, cpu, *from);
}

static void become_shared(struct wb_machine_state *s, line_id id, cpu_id cpu)
{
    struct line *l = &s->line[id];
    if (l->state != LINE_SHARED) {
        cpu_id owner = l->state == LINE_MODIFIED ? l->owner : WB_NO_CPU;
        take_sharers(s, id);
        if (owner != WB_NO_CPU) add_sharer(s, l, owner);
        l->state = LINE_SHARED;
        l->owner = WB_NO_CPU;
    }
    add_sharer(s, l, cpu);
}

static void become_modified(struct wb_machine_state *s, struct line *l, cpu_id cpu)
{
    if (l->state == LINE_SHARED) drop_sharers(s, l);
    l->state = LINE_MODIFIED;
    l->owner = cpu;
}

void wb_line_access(struct wb_machine_state *s, cpu_id cpu, line_id id, enum wb_line_op op, sim_time now,
                    struct wb_line_cost *out)
{
    WB_CHECK(cpu < s->m->topo->ncpus && id < s->line_fresh && s->line[id].state != LINE_FREE, "CPU %u line %u", cpu,
             id);
    struct line *l = &s->line[id];
    bool write = op != WB_LINE_READ;
    bool modified = l->state == LINE_MODIFIED;
    sim_time trip = line_trip(s, l, cpu, write, &out->from);
    sim_time local = local_price(&s->m->spec, op);
    bool hit_read = !write && !trip; /* owner or sharer looks at its own copy */
    sim_time start = hit_read ? now : WB_MAX(now, l->busy_until);
    out->queue = start - now;
    out->transfer = trip ? WB_MAX(trip, local) : 0; /* a transfer was measured with its operation */
    out->local = trip ? 0 : local;
    out->done = start + out->transfer + out->local;
    if (write || (modified && !hit_read)) l->busy_until = out->done;
    if (write)
        become_modified(s, l, cpu);
    else if (!(modified && hit_read))
        become_shared(s, id, cpu);
}

sim_time wb_line_busy_until(const struct wb_machine_state *s, line_id l)
{
    return s->line[l].busy_until;
}

cpu_id wb_line_owner(const struct wb_machine_state *s, line_id l)
{
    return s->line[l].state == LINE_MODIFIED ? s->line[l].owner : WB_NO_CPU;
}
