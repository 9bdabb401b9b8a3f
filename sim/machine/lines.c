/*
 * lines.c - contended cache lines: an owner or sharers, and one queue per line.
 *
 * MESI without the transient states: MODIFIED at one CPU, SHARED by a set, or only in memory. A transfer once
 * granted occupies the line for its time; requests are granted in the order of the calls, which the engine makes in
 * time order. Reads of a clean line are served side by side: the directory or the bus answers them without waiting
 * for one another.
 *
 * There are many lines and few of them are contended at a time, so a line is one word. Two sharers fit into it; more
 * of them need a map, which comes from a pool (when that is empty, the next one in turn is taken from its line, which
 * then counts as being in memory). The end of the queue is kept as the distance from an epoch, which moves on before
 * distances grow too long; a queue that is longer still stands in a table of its own.
 */
#include "lines.h"

#include <string.h>

#define NOT_ALIVE 1u /* `a` of a line in memory that is on the free list */
#define NO_MAP UINT32_MAX
#define LATE LINE_LATE
#define EPOCH_MAX LINE_EPOCH_MAX
#define EPOCH_BEHIND (EPOCH_MAX / 2) /* of the access that moves it: others may still come with earlier times */
_Static_assert(WB_CPUS_MAX <= 1u << LINE_CPU_BITS, "a line names two CPUs");

void lines_init(struct wb_machine_state *s)
{
    s->near.cpu = WB_NO_CPU;
    s->line_free = WB_NO_LINE;
    s->line_fresh = 0;
    s->line_epoch = 0;
    s->maps.free = NO_MAP;
    s->maps.fresh = s->maps.hand = s->maps.walked;
}

static bool is_alive(const struct line *l)
{
    return l->state != LINE_MEMORY || l->a != NOT_ALIVE;
}

line_id wb_line_new(struct wb_machine_state *s)
{
    line_id id = s->line_free;
    if (id == WB_NO_LINE) { /* a fresh one is zero, that is in memory: nobody writes it before it is used */
        WB_CHECK(s->line_fresh < s->sizes.lines, "more than the planned %u lines", s->sizes.lines);
        return s->line_fresh++;
    }
    s->line_free = (line_id)s->line[id].busy;
    s->line[id] = (struct line){.state = LINE_MEMORY};
    return id;
}

line_id wb_lines_new(struct wb_machine_state *s, uint32_t n)
{
    WB_CHECK(n <= s->sizes.lines - s->line_fresh, "more than the planned %u lines", s->sizes.lines);
    s->line_fresh += n;
    return s->line_fresh - n;
}

/* ---- the queue ---- */

static sim_time busy_until(const struct wb_machine_state *s, line_id id)
{
    uint64_t busy = s->line[id].busy;
    return WB_UNLIKELY(busy == LATE) ? s->line_late[id] : s->line_epoch + busy;
}

static void set_busy(struct wb_machine_state *s, line_id id, sim_time until)
{
    uint64_t busy = until > s->line_epoch ? until - s->line_epoch : 0;
    if (WB_UNLIKELY(busy >= LATE)) s->line_late[id] = until;
    s->line[id].busy = WB_MIN(busy, LATE) & LATE;
}

/* The epoch moves on; what was over by then is forgotten. It stays behind, for accesses do not come quite in the
 * order of their times: some are told ahead (wb_line_soon), and ticks that were left out are run late. Every few
 * milliseconds of simulated time: O(lines in use), for looking at what nobody has used would make memory of it. */
static void move_epoch(struct wb_machine_state *s, sim_time now)
{
    sim_time old = s->line_epoch;
    s->line_epoch = now - EPOCH_BEHIND;
    for (line_id id = 0; id < s->line_fresh; id++) {
        if (!s->line_used[id >> LINES_STRETCH_BITS]) {
            id |= (1u << LINES_STRETCH_BITS) - 1;
            continue;
        }
        struct line *l = &s->line[id];
        if (!l->busy || !is_alive(l)) continue;
        set_busy(s, id, l->busy == LATE ? s->line_late[id] : old + l->busy);
    }
}

/* ---- sharers ---- */

static uint32_t map_of(const struct line *l)
{
    return (uint32_t)l->a << LINE_CPU_BITS | (uint32_t)l->b;
}

/* Which words of the line's map count. */
static uint64_t *map_some(const struct wb_machine_state *s, const struct line *l)
{
    return s->maps.some + (size_t)map_of(l) * s->maps.nsums;
}

static uint64_t *map_word(const struct wb_machine_state *s, const struct line *l, uint32_t k)
{
    return s->maps.w + (size_t)k * s->maps.nmaps + map_of(l);
}

/* The sharers among CPUs 64 k to 64 k + 63. */
static uint64_t map_bits(const struct wb_machine_state *s, const struct line *l, uint32_t k)
{
    return map_some(s, l)[k >> 6] >> (k & 63) & 1 ? *map_word(s, l, k) : 0;
}

static bool map_has(const struct wb_machine_state *s, const struct line *l, cpu_id c)
{
    return map_bits(s, l, c >> 6) >> (c & 63) & 1;
}

static void name_cpus(struct line *l, uint32_t a, uint32_t b)
{
    l->a = a & (WB_CPUS_MAX - 1);
    l->b = b & (WB_CPUS_MAX - 1);
}

static void drop_map(struct wb_machine_state *s, const struct line *l)
{
    uint32_t i = map_of(l);
    if (i < s->maps.walked) return; /* the line's own */
    s->maps.line[i] = WB_NO_LINE;
    s->maps.next[i] = s->maps.free;
    s->maps.free = i;
}

/* A map of the pool; who has one must give it up when none is left. */
static uint32_t pool_map(struct wb_machine_state *s, line_id id)
{
    struct sharer_maps *p = &s->maps;
    if (p->free == NO_MAP && p->fresh < p->nmaps) {
        p->next[p->fresh] = NO_MAP;
        p->free = p->fresh++;
    }
    if (p->free == NO_MAP) {
        struct line *loser = &s->line[p->line[p->hand]];
        if (++p->hand == p->nmaps) p->hand = p->walked;
        drop_map(s, loser);
        loser->state = LINE_MEMORY;
        name_cpus(loser, 0, 0);
    }
    uint32_t i = p->free;
    p->free = p->next[i];
    p->line[i] = id;
    return i;
}

/* An empty map for the line. */
static void take_map(struct wb_machine_state *s, line_id id)
{
    struct line *l = &s->line[id];
    uint32_t own = id - s->maps.walked_first, i = own < s->maps.walked ? own : pool_map(s, id);
    l->state = LINE_MANY;
    name_cpus(l, i >> LINE_CPU_BITS, i);
    memset(map_some(s, l), 0, s->maps.nsums * sizeof(uint64_t));
}

static void set_bit(struct wb_machine_state *s, const struct line *l, cpu_id c)
{
    uint32_t k = c >> 6;
    uint64_t *some = &map_some(s, l)[k >> 6], *w = map_word(s, l, k);
    *w = (*some >> (k & 63) & 1 ? *w : 0) | 1ull << (c & 63);
    *some |= 1ull << (k & 63);
}

static void add_sharer(struct wb_machine_state *s, line_id id, cpu_id c)
{
    struct line *l = &s->line[id];
    if (l->state == LINE_SHARED) {
        cpu_id a = l->a, b = l->b;
        if (c == a || c == b) return;
        if (a == b) {
            name_cpus(l, a, c);
            return;
        }
        take_map(s, id);
        set_bit(s, l, a);
        set_bit(s, l, b);
    }
    set_bit(s, l, c);
}

static inline bool is_sharer(const struct wb_machine_state *s, const struct line *l, cpu_id c)
{
    if (l->state == LINE_SHARED) return l->a == c || l->b == c;
    return l->state == LINE_MANY && map_has(s, l, c);
}

static inline bool has_copy(const struct wb_machine_state *s, const struct line *l, cpu_id c)
{
    return l->state == LINE_MODIFIED ? l->a == c : is_sharer(s, l, c);
}

static bool is_shared(const struct line *l)
{
    return l->state == LINE_SHARED || l->state == LINE_MANY;
}

void wb_line_free(struct wb_machine_state *s, line_id id)
{
    WB_CHECK(id < s->line_fresh && is_alive(&s->line[id]), "line %u is not alive", id);
    struct line *l = &s->line[id];
    if (l->state == LINE_MANY) drop_map(s, l);
    *l = (struct line){.state = LINE_MEMORY, .a = NOT_ALIVE, .busy = s->line_free};
    s->line_free = id;
}

/* The nearest or the farthest of those seen so far; `enough`: none can be nearer or farther. */
struct search {
    const struct wb_topology *topo;
    cpu_id cpu;
    bool farthest, found;
    enum wb_distance far, enough;
};

/* false: go no further. */
static bool look_at(struct search *q, cpu_id c)
{
    if (c == q->cpu) return true;
    enum wb_distance far = wb_topo_distance(q->topo, q->cpu, c);
    if (!q->found || (q->farthest ? far > q->far : far < q->far)) q->far = far;
    q->found = true;
    return q->far != q->enough;
}

static void look_at_all(const struct wb_machine_state *s, const struct line *l, struct search *q)
{
    const uint64_t *some = map_some(s, l);
    for (uint32_t i = 0; i < s->maps.nsums; i++) {
        for (uint64_t u = some[i]; u; u &= u - 1) {
            uint32_t k = i * 64 + (uint32_t)__builtin_ctzll(u);
            for (uint64_t v = *map_word(s, l, k); v; v &= v - 1)
                if (!look_at(q, k * 64 + (uint32_t)__builtin_ctzll(v))) return;
        }
    }
}

/* What no two CPUs of the machine are beyond. */
static enum wb_distance diameter(const struct wb_topology *t)
{
    if (t->level[WB_LVL_NODE].ngroups > 1) return WB_FAR_REMOTE;
    if (t->level[WB_LVL_PACKAGE].ngroups > 1) return WB_FAR_NODE;
    return t->level[WB_LVL_LLC].ngroups > 1 ? WB_FAR_PACKAGE : WB_FAR_LLC;
}

/* Is one of these CPUs, but for cpu itself, a sharer? */
static bool map_meets(const struct wb_machine_state *s, const struct line *l, const struct wb_cpumask *m, cpu_id cpu)
{
    for (uint32_t k = m->skip; k < m->nwords - m->tail; k++) {
        uint64_t v = map_bits(s, l, k) & m->w[k];
        if (k == cpu >> 6) v &= ~(1ull << (cpu & 63));
        if (v) return true;
    }
    return false;
}

/* What a read from each of the spans takes, when that is all there is to know. */
static void price_reads(const struct wb_machine_state *s, struct near_spans *k)
{
    const struct wb_machine_spec *p = &s->m->spec;
    uint32_t w = k->cpu >> 6;
    k->plain = k->beyond == diameter(s->m->topo);
    for (uint32_t i = 0; i < k->n; i++) {
        const struct wb_cpumask *m = k->span[i].mask;
        if (m->skip != w || m->nwords - m->tail != w + 1) k->plain = false;
        k->word[i] = m->w[w] & ~(1ull << (k->cpu & 63));
        k->trip[i] = p->clean_forward ? p->clean[k->span[i].far].latency : p->memory[0].latency;
    }
    k->beyond_trip = p->clean_forward ? p->clean[k->beyond].latency : p->memory[0].latency;
}

/* Spans around a CPU of at most this many, the nearest first. They are kept for the next line, since who looks at one
 * often looks at many. */
static const struct near_spans *spans_around(struct wb_machine_state *s, cpu_id cpu)
{
    enum { SMALL = 64 };
    static const struct {
        enum wb_topo_level level;
        enum wb_distance far;
    } ring[] = {{WB_LVL_CORE, WB_FAR_SMT},
                {WB_LVL_CLUSTER, WB_FAR_CLUSTER},
                {WB_LVL_LLC, WB_FAR_LLC},
                {WB_LVL_PACKAGE, WB_FAR_PACKAGE},
                {WB_LVL_NODE, WB_FAR_NODE}};
    const struct wb_topology *t = s->m->topo;
    struct near_spans *k = &s->near;
    uint32_t seen = 1; /* CPUs of the span before; the spans nest, so one as large is the same */
    _Static_assert(WB_ARRAY_SIZE(ring) == WB_ARRAY_SIZE(k->span), "a span for each level");
    if (k->cpu == cpu) return k;
    *k = (struct near_spans){.cpu = cpu, .beyond = WB_FAR_REMOTE};
    for (size_t i = 0; i < WB_ARRAY_SIZE(ring); i++) {
        uint32_t n;
        if (ring[i].level == WB_LVL_CLUSTER && t->nlevels <= 2) continue;
        (void)wb_topo_members(t, ring[i].level, cpu, &n);
        if (n == seen) continue;
        if (n > SMALL) {
            k->beyond = ring[i].far;
            break;
        }
        seen = n;
        k->span[k->n].far = ring[i].far;
        k->span[k->n++].mask = wb_topo_mask(t, ring[i].level, cpu);
    }
    price_reads(s, k);
    return k;
}

/* Small spans around the CPU are asked first: thousands may share a line, and nearly all of them are far away. The rest
 * is looked through until nobody can be nearer. */
static bool find_nearest(const struct wb_machine_state *s, const struct line *l, const struct near_spans *near,
                         struct search *q)
{
    for (uint32_t i = 0; i < near->n; i++) {
        q->far = near->span[i].far;
        if (map_meets(s, l, near->span[i].mask, q->cpu)) return true;
    }
    q->far = WB_FAR_SELF;
    q->enough = near->beyond;
    look_at_all(s, l, q);
    return q->found;
}

/* Nearest or farthest sharer other than cpu; false when there is none. */
static bool find_sharer(struct wb_machine_state *s, const struct line *l, cpu_id cpu, bool farthest,
                        enum wb_distance *d)
{
    const struct wb_topology *t = s->m->topo;
    struct search q = {.topo = t, .cpu = cpu, .farthest = farthest, .far = WB_FAR_SELF, .enough = WB_DISTANCES};
    if (l->state == LINE_SHARED) {
        (void)look_at(&q, l->a);
        (void)look_at(&q, l->b);
    } else if (farthest) {
        q.enough = diameter(t);
        look_at_all(s, l, &q);
    } else {
        q.found = find_nearest(s, l, spans_around(s, cpu), &q);
    }
    *d = q.far;
    return q.found;
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

/* Time the line travels to cpu, which has no copy, for a read: from the nearest sharer or from memory. */
static sim_time read_trip(struct wb_machine_state *s, const struct line *l, cpu_id cpu, enum wb_distance *from)
{
    const struct wb_machine_spec *p = &s->m->spec;
    *from = WB_FAR_SELF;
    if (is_shared(l) && p->clean_forward && find_sharer(s, l, cpu, false, from)) return p->clean[*from].latency;
    return p->memory[0].latency;
}

/* The same for a write: the farthest sharer must let go; who has no copy fetches one meanwhile. */
static sim_time write_trip(struct wb_machine_state *s, const struct line *l, cpu_id cpu, enum wb_distance *from)
{
    const struct wb_machine_spec *p = &s->m->spec;
    bool sharer = is_sharer(s, l, cpu);
    if (is_shared(l) && find_sharer(s, l, cpu, true, from)) {
        sim_time fetch = sharer ? 0 : p->dirty[*from].latency;
        return WB_MAX(p->upgrade[*from], fetch) + bus_delay(s, cpu, *from);
    }
    *from = WB_FAR_SELF;
    return sharer ? 0 : p->memory[0].latency;
}

static sim_time line_trip(struct wb_machine_state *s, const struct line *l, cpu_id cpu, bool write,
                          enum wb_distance *from)
{
    if (l->state != LINE_MODIFIED) return write ? write_trip(s, l, cpu, from) : read_trip(s, l, cpu, from);
    *from = wb_topo_distance(s->m->topo, cpu, l->a);
    return *from == WB_FAR_SELF ? 0 : s->m->spec.dirty[*from].latency + bus_delay(s, cpu, *from);
}

static void become_shared(struct wb_machine_state *s, line_id id, cpu_id cpu)
{
    struct line *l = &s->line[id];
    if (is_shared(l)) {
        add_sharer(s, id, cpu);
        return;
    }
    name_cpus(l, l->state == LINE_MODIFIED ? l->a : cpu, cpu);
    l->state = LINE_SHARED;
}

static void become_modified(struct wb_machine_state *s, struct line *l, cpu_id cpu)
{
    if (l->state == LINE_MANY) drop_map(s, l);
    l->state = LINE_MODIFIED;
    name_cpus(l, cpu, cpu);
}

/* Who has a copy reads it at once, and nothing changes. */
static void read_own(const struct wb_machine_state *s, sim_time now, struct wb_line_cost *out)
{
    sim_time local = s->m->line_local[WB_LINE_READ];
    *out = (struct wb_line_cost){.done = now + local, .local = local, .from = WB_FAR_SELF};
}

static inline void access_line(struct wb_machine_state *s, cpu_id cpu, line_id id, enum wb_line_op op, sim_time now,
                               struct wb_line_cost *out)
{
    WB_CHECK(cpu < s->m->topo->ncpus && id < s->line_fresh && is_alive(&s->line[id]), "CPU %u line %u", cpu, id);
    struct line *l = &s->line[id];
    s->line_used[id >> LINES_STRETCH_BITS] = 1;
    bool write = op != WB_LINE_READ;
    if (!write && has_copy(s, l, cpu)) {
        read_own(s, now, out);
        return;
    }
    bool modified = l->state == LINE_MODIFIED;
    sim_time trip = line_trip(s, l, cpu, write, &out->from);
    sim_time local = s->m->line_local[op];
    bool hit_read = !write && !trip; /* caches that pass it on in no time */
    sim_time queue_end = hit_read ? now : busy_until(s, id), start = WB_MAX(now, queue_end);
    out->queue = start - now;
    out->transfer = trip ? WB_MAX(trip, local) : 0; /* a transfer was measured with its operation */
    out->local = trip ? 0 : local;
    out->done = start + out->transfer + out->local;
    if (write || (modified && !hit_read)) set_busy(s, id, out->done);
    if (write)
        become_modified(s, l, cpu);
    else if (!(modified && hit_read))
        become_shared(s, id, cpu);
}

void wb_line_access(struct wb_machine_state *s, cpu_id cpu, line_id id, enum wb_line_op op, sim_time now,
                    struct wb_line_cost *out)
{
    if (WB_UNLIKELY(now > s->line_epoch + EPOCH_MAX)) move_epoch(s, now);
    access_line(s, cpu, id, op, now, out);
}

/* ---- the short way: the owner's access and the one after somebody else's write ---- */

/* Anything else. */
WB_APART static struct wb_line_time time_of_any(struct wb_machine_state *s, cpu_id cpu, line_id id, enum wb_line_op op,
                                                sim_time now)
{
    struct wb_line_cost c;
    wb_line_access(s, cpu, id, op, now, &c);
    return (struct wb_line_time){.wait = c.queue + c.transfer, .local = c.local};
}

/* Another CPU has modified the line, or anything else. */
WB_APART static struct wb_line_time time_of_foreign(struct wb_machine_state *s, cpu_id cpu, line_id id,
                                                    enum wb_line_op op, sim_time now)
{
    sim_time wait = line_foreign_wait(s, cpu, id, op, now);
    return wait ? (struct wb_line_time){.wait = wait} : time_of_any(s, cpu, id, op, now);
}

/* The owner's access is by far the most common. Its reads do not queue, its writes may stand behind a transfer. */
struct wb_line_time wb_line_time(struct wb_machine_state *s, cpu_id cpu, line_id id, enum wb_line_op op, sim_time now)
{
    WB_CHECK(id < s->line_fresh, "CPU %u line %u", cpu, id);
    uint64_t word = s->line[id].word;
    uint32_t owned = (uint32_t)(word >> LINE_BUSY_BITS) & ((4u << LINE_CPU_BITS) - 1); /* state and a */
    sim_time local = s->m->line_local[op];
    uint64_t at = now - s->line_epoch; /* long, too, when somebody has looked ahead and moved the epoch */
    if (owned != (LINE_MODIFIED | cpu << 2) || at > EPOCH_MAX) return time_of_foreign(s, cpu, id, op, now);
    if (op == WB_LINE_READ) return (struct wb_line_time){.local = local};
    uint64_t start = WB_MAX(at, word & LATE), busy = start + local;
    if (WB_UNLIKELY(busy >= LATE)) return time_of_any(s, cpu, id, op, now);
    s->line[id].word = (word & ~LATE) | busy;
    return (struct wb_line_time){.wait = start - at, .local = local};
}

/* ---- scans: many lines with many sharers each ---- */

/* access_line() for reads of those of the lines that have maps of their own and many sharers; which: in and out.
 * Whoever has no copy finds others that have one, so that the read's time hangs on the word of the map around the
 * reader. */
static sim_time read_many(struct wb_machine_state *s, const struct near_spans *near, line_id first, uint64_t *which,
                          sim_time now)
{
    const struct sharer_maps *p = &s->maps;
    uint32_t k = near->cpu >> 6;
    uint64_t bit = 1ull << (near->cpu & 63), in_some = 1ull << (k & 63), left = 0;
    sim_time local = s->m->line_local[WB_LINE_READ], sum = 0;
    const struct line *line = &s->line[first];
    uint64_t *some = p->some + (size_t)(first - p->walked_first) * p->nsums + (k >> 6);
    uint64_t *word = p->w + (size_t)k * p->nmaps + (first - p->walked_first);
    for (uint64_t u = *which; u; u &= u - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(u), n = 0;
        uint64_t l = line[i].word, busy = l & LATE, at = now - s->line_epoch;
        if ((l >> LINE_BUSY_BITS & 3) != LINE_MANY || busy == LATE) {
            left |= u & -u;
            continue;
        }
        uint64_t has = some[i * p->nsums] & in_some ? word[i] : 0;
        if (has & bit) {
            sum += local;
            continue;
        }
        while (n < near->n && !(has & near->word[n])) n++;
        sim_time trip = n < near->n ? near->trip[n] : near->beyond_trip;
        if (trip && busy > at) sum += busy - at;
        sum += trip ? WB_MAX(trip, local) : local;
        word[i] = has | bit;
        some[i * p->nsums] |= in_some;
    }
    *which = left;
    return sum;
}

sim_time wb_line_read_set(struct wb_machine_state *s, cpu_id cpu, line_id first, uint64_t which, sim_time now)
{
    sim_time sum = 0;
    if (WB_UNLIKELY(now > s->line_epoch + EPOCH_MAX)) move_epoch(s, now);
    uint32_t own = first - s->maps.walked_first, left = own < s->maps.walked ? s->maps.walked - own : 0;
    if (left && (left >= 64 || !(which >> left)) && now >= s->line_epoch) {
        const struct near_spans *near = spans_around(s, cpu);
        if (near->plain) sum = read_many(s, near, first, &which, now);
    }
    for (; which; which &= which - 1) {
        struct wb_line_cost c;
        access_line(s, cpu, first + (line_id)__builtin_ctzll(which), WB_LINE_READ, now, &c);
        sum += c.done - now;
    }
    return sum;
}

sim_time wb_line_busy_until(const struct wb_machine_state *s, line_id l)
{
    return busy_until(s, l);
}

cpu_id wb_line_owner(const struct wb_machine_state *s, line_id l)
{
    return s->line[l].state == LINE_MODIFIED ? s->line[l].a : WB_NO_CPU;
}
