/*
 * touch.c - what a touch of a region costs and does.
 *
 * Order of business: bring the region's holders up to date; see what the own chain has; see what other caches have;
 * price the bytes by where they come from; then change the state: others lose (write) or clean (read) their copies,
 * the own chain inserts what it did not have. Equations and simplifications: docs/model-machine.md.
 */
#include <string.h>

#include "caches.h"
#include "recall.h"

/* How a holder of the region stands to the toucher. */
struct sight {
    bool own;           /* a cache of the own chain */
    bool speaks;        /* the outermost cache of a foreign chain that we do not share: it answers for that chain, whose
                             inner caches hold parts of the same bytes */
    uint8_t shared;     /* innermost level of the own chain that also serves its CPUs, or nlevels */
    uint8_t far;        /* enum wb_distance */
    cpu_id cpu;         /* a CPU below it */
    struct share there; /* what it has of the span */
};

struct toucher {
    struct wb_machine_state *s;
    const struct wb_machine *m;
    struct region *r;
    struct wb_touch *out;
    uint64_t *hit; /* hit_bytes of it */
    cpu_id cpu;
    uint32_t off, n;
    enum wb_pattern pattern;
    enum wb_access access;
    uint32_t nlevels, nsights;
    const uint32_t *cache;          /* own chain, innermost first */
    struct sight sight[HOLDERS];    /* by holder; only until the state changes */
    uint32_t held[WB_CACHE_LEVELS]; /* bytes of the span found at or inside that level */
    uint32_t missing;               /* bytes that must come from outside */
};

static uint32_t chain_index(const struct toucher *t, uint32_t cache)
{
    return t->m->index_of_level[t->m->topo->cache[cache].level];
}

static bool is_own(const struct toucher *t, uint32_t cache)
{
    return t->cache[chain_index(t, cache)] == cache;
}

static void look_at(struct toucher *t, const struct holder *h, struct sight *v)
{
    const struct wb_topology *topo = t->m->topo;
    uint32_t level = chain_index(t, h->cache);
    v->own = t->cache[level] == h->cache;
    v->speaks = false;
    v->there = holder_overlap(t->s, h, t->off, t->n);
    if (v->own) {
        t->held[level] = v->there.bytes;
        return;
    }
    if (!v->there.bytes) return; /* it has nothing to say */
    v->cpu = topo->cache[h->cache].first_cpu;
    /* Caches nest: the outermost foreign one is below one of ours, or the last. */
    v->shared = (uint8_t)(level + 1);
    v->speaks =
        v->shared == t->nlevels || topo->cache_of[(size_t)v->cpu * t->nlevels + v->shared] == t->cache[v->shared];
    if (v->speaks) v->far = (uint8_t)wb_topo_distance(topo, t->cpu, v->cpu);
}

static void look_around(struct toucher *t)
{
    t->nsights = t->r->nholders;
    for (uint32_t i = 0; i < t->nlevels; i++) t->held[i] = 0;
    for (uint32_t k = 0; k < t->nsights; k++) {
        struct holder *h = holder_at(t->s, t->r, k);
        holder_refresh(t->s, h);
        look_at(t, h, &t->sight[k]);
    }
}

/* Of `held` bytes of the span, those that are still there when the touch comes by: what it inserts displaces part of
 * them before it reaches them, which makes it insert more. Two steps of that fixed point are near enough. */
static inline uint32_t reached(const struct cache *c, uint32_t n, uint32_t held)
{
    uint32_t found = held;
    for (int step = 0; step < 2 && n - found > c->free; step++)
        found = decay_apply(held, decay_average(n - found - c->free, &c->size));
    return found;
}

/* held[]: what each level has when the touch comes by. */
static void measure_own(struct toucher *t)
{
    for (uint32_t i = 0; i < t->nlevels; i++)
        if (t->held[i] && t->held[i] < t->n) t->held[i] = reached(&t->s->cache[t->cache[i]], t->n, t->held[i]);
    for (uint32_t i = t->nlevels - 1; i > 0; i--) t->held[i - 1] = WB_MIN(t->held[i - 1], t->held[i]);
}

static bool same_servers(const server_id *a, const server_id *b)
{
    return !memcmp(a, b, WB_STAGE_SERVERS * sizeof *a);
}

/* Add refill time that crosses the given servers; equal sets share a stage. */
static void add_stage(struct wb_touch *out, sim_time time, uint64_t bytes, const server_id *server)
{
    static const server_id none[WB_STAGE_SERVERS] = {WB_NO_SERVER, WB_NO_SERVER, WB_NO_SERVER};
    out->refill += time;
    if (same_servers(server, none)) {
        out->unstaged += time;
        return;
    }
    uint32_t i = 0;
    while (i < out->nstages && !same_servers(out->stage[i].server, server)) i++;
    if (i == WB_TOUCH_STAGES)
        i--; /* more kinds than stages: the last one takes it, the time is right, the server is not */
    if (i == out->nstages) {
        out->nstages++;
        out->stage[i] = (struct wb_stage){0};
        memcpy(out->stage[i].server, server, sizeof out->stage[i].server);
    }
    out->stage[i].time += time;
    out->stage[i].bytes += bytes;
}

/* Bytes that come out of another cache, `far` away below CPU `other`. */
static void price_transfer(struct toucher *t, enum wb_distance far, cpu_id other, uint32_t bytes, bool dirty)
{
    const struct wb_machine *m = t->m;
    const struct price *p = dirty ? &m->dirty[far] : &m->clean[far];
    sim_time time = price_time(bytes, p->q[t->pattern][t->access]);
    server_id v[WB_STAGE_SERVERS] = {WB_NO_SERVER, WB_NO_SERVER, WB_NO_SERVER};
    if (far >= WB_FAR_PACKAGE) v[0] = bus_of_cpu(m, t->cpu);
    if (far == WB_FAR_NODE && bus_of_cpu(m, other) != v[0]) v[1] = bus_of_cpu(m, other);
    if (far == WB_FAR_REMOTE) {
        v[1] = link_of_cpu(m, t->cpu);
        v[2] = link_of_cpu(m, other);
    }
    *(dirty ? &t->out->dirty_bytes[far] : &t->out->clean_bytes[far]) += bytes;
    *(dirty ? &t->out->dirty_time[far] : &t->out->clean_time[far]) += time;
    add_stage(t->out, time, bytes, v);
}

static void price_memory(struct toucher *t, uint32_t bytes)
{
    const struct wb_machine *m = t->m;
    uint32_t node = m->topo->level[WB_LVL_NODE].of[t->cpu];
    bool remote = t->r->home != node;
    sim_time time = price_time(bytes, m->memory[remote].q[t->pattern][t->access]);
    server_id v[WB_STAGE_SERVERS] = {bus_of_cpu(m, t->cpu), memory_of_node(m, t->r->home),
                                     remote ? link_of_cpu(m, t->cpu) : WB_NO_SERVER};
    t->out->memory_bytes[remote] += bytes;
    t->out->memory_time[remote] += time;
    add_stage(t->out, time, bytes, v);
}

/* Modified copies elsewhere come first: they are the only valid ones. Below a shared cache they replace hits there. */
static void take_dirty(struct toucher *t, uint32_t *hit)
{
    for (uint32_t k = 0; k < t->nsights; k++) {
        const struct sight *v = &t->sight[k];
        uint32_t dirty = v->there.dirty, from_hits = 0;
        if (!v->speaks || !dirty) continue;
        if (v->shared < t->nlevels) {
            from_hits = WB_MIN(dirty, hit[v->shared]);
            hit[v->shared] -= from_hits;
        }
        uint32_t from_missing = WB_MIN(dirty - from_hits, t->missing);
        t->missing -= from_missing;
        if (from_hits + from_missing)
            price_transfer(t, (enum wb_distance)v->far, v->cpu, from_hits + from_missing, true);
    }
}

/* Clean copies elsewhere, nearest first; only where caches forward clean lines. */
static void take_clean(struct toucher *t)
{
    for (uint32_t far = WB_FAR_PACKAGE; far < WB_DISTANCES && t->missing; far++) {
        for (uint32_t k = 0; k < t->nsights && t->missing; k++) {
            const struct sight *v = &t->sight[k];
            uint32_t clean = v->there.bytes - v->there.dirty;
            if (!v->speaks || v->far != far || !clean) continue;
            clean = WB_MIN(clean, t->missing);
            t->missing -= clean;
            price_transfer(t, (enum wb_distance)far, v->cpu, clean, false);
        }
    }
}

/* Writing bytes that we hold and others hold too: one invalidation per line, priced by the farthest holder. */
static void price_upgrades(struct toucher *t, uint32_t valid)
{
    uint32_t most = 0, farthest = WB_FAR_SMT;
    for (uint32_t k = 0; k < t->nsights; k++) {
        const struct sight *v = &t->sight[k];
        uint32_t clean = v->there.bytes - v->there.dirty;
        if (!v->speaks || !clean) continue;
        most = WB_MAX(most, clean);
        farthest = WB_MAX(farthest, v->far);
    }
    uint32_t bytes = WB_MIN(most, valid);
    if (!bytes) return;
    t->out->upgrade_lines += (bytes + t->m->line_size - 1) / t->m->line_size;
    t->out->upgrade += price_time(bytes, t->m->upgrade_q[farthest][t->pattern]);
}

static void price_span(struct toucher *t)
{
    uint32_t hit[WB_CACHE_LEVELS], inner = 0, hits = 0;
    for (uint32_t i = 0; i < t->nlevels; i++) {
        hit[i] = t->held[i] - inner;
        inner = t->held[i];
    }
    t->missing = t->n - inner;
    take_dirty(t, hit);
    if (t->missing && t->m->spec.clean_forward) take_clean(t);
    if (t->missing) price_memory(t, t->missing);
    for (uint32_t i = 0; i < t->nlevels; i++) {
        t->hit[i] += hit[i];
        hits += hit[i];
    }
    if (t->access == WB_WRITE) price_upgrades(t, hits);
}

/* Others after the touch: a write takes their copies away, a read leaves them clean. From the last to the first,
 * because the last one takes the place of one that goes. */
static void change_others(struct toucher *t)
{
    for (uint32_t k = t->nsights; k-- > 0;) {
        if (t->sight[k].own) continue;
        struct holder *h = holder_at(t->s, t->r, k);
        if (t->access == WB_WRITE) {
            struct cache *c = &t->s->cache[h->cache];
            uint64_t gone = holder_invalidate(t->s, h, t->off, t->n);
            c->free = WB_MIN(c->size.bytes, c->free + gone);
        } else {
            holder_clean(t->s, h, t->off, t->n);
        }
        if (h->run.len || h->rest) continue;
        *h = *holder_at(t->s, t->r, t->r->nholders - 1u);
        holder_drop_last(t->s, t->r);
    }
}

/* Which holder to forget when all places are taken: a clean one before a dirty one, an inner cache before an outer
 * one, the least recent first. Never one of the own chain; the last writer's outermost is the most recent dirty one
 * and so never goes while the chain is shorter than the list. */
static uint32_t choose_victim(const struct toucher *t)
{
    uint32_t best = HOLDERS;
    uint64_t best_rank = UINT64_MAX;
    for (uint32_t k = 0; k < t->r->nholders; k++) {
        const struct holder *h = holder_at(t->s, t->r, k);
        if (is_own(t, h->cache)) continue;
        uint16_t age = (uint16_t)(t->r->touches - h->used);
        uint64_t rank = (uint64_t)(h->run.dirty || (h->rest && t->s->rest[h->rest].dirty)) << 48 |
                        (uint64_t)chain_index(t, h->cache) << 32 | (65535u - age);
        if (rank < best_rank) {
            best_rank = rank;
            best = k;
        }
    }
    WB_CHECK(best < HOLDERS, "region '%s': no holder to forget", t->s->region_name[t->r->name]);
    return best;
}

static struct holder *holder_of(struct toucher *t, uint32_t cache)
{
    struct region *r = t->r;
    struct holder *h;
    for (uint32_t k = 0; k < r->nholders; k += HOLDERS_BLOCK) {
        h = t->s->block[r->block[k / HOLDERS_BLOCK]].h;
        for (const struct holder *end = h + WB_MIN(HOLDERS_BLOCK, r->nholders - k); h < end; h++)
            if (h->cache == cache) return h;
    }
    if (r->nholders < HOLDERS) {
        h = holder_add(t->s, r);
    } else {
        h = holder_at(t->s, r, choose_victim(t));
        holder_clear(t->s, h);
    }
    *h = (struct holder){.cache = (uint16_t)cache, .stamp = t->s->cache[cache].clock};
    return h;
}

/* The run has all of itself and of the span, as modified as the touch leaves it: nothing changes. */
static bool stays(const struct toucher *t, const struct holder *h, struct share there)
{
    const struct extent *e = &h->run;
    if (t->off < e->start || t->off + t->n > e->start + e->len || e->bytes != e->len) return false;
    return e->dirty == e->len || (t->access == WB_READ && there.dirty < t->n);
}

/* One level of the own chain, whose holder is up to date and has `there`, takes in the `insert` bytes that it did not
 * have: see docs/model-machine.md, displacement. */
static inline void insert_level(const struct toucher *t, struct holder *h, struct share there, uint32_t insert)
{
    struct cache *c = &t->s->cache[h->cache];
    uint64_t had = there.bytes, present;
    h->used = t->r->touches;
    if (!insert && stays(t, h, there)) return;
    uint64_t displaced = cache_insert(c, insert);
    uint64_t room = insert - displaced;
    if (displaced) {
        uint64_t left = decay_factor(displaced, &c->size);
        holder_decay(t->s, h, left);
        unsigned __int128 q32 = (unsigned __int128)c->size.bytes * (DECAY_ONE - left) + (had + room) * left;
        present = (uint64_t)((q32 + DECAY_ONE / 2) >> 32);
        if (t->access == WB_READ) there = holder_overlap(t->s, h, t->off, t->n);
    } else {
        present = had + room;
    }
    uint32_t bytes = (uint32_t)WB_MIN(present, t->n), dirty = bytes;
    if (t->access == WB_READ) dirty = WB_MIN(there.dirty, bytes);
    holder_touch(t->s, h, t->off, t->n, bytes, dirty);
    h->stamp = c->clock;
}

/* The holders are the own chain, outermost first as touches make them, and nobody else. */
static inline bool alone(const struct wb_machine_state *s, cpu_id cpu, const struct region *r)
{
    uint32_t n = s->m->topo->nlevels;
    if (r->nholders != n || n > HOLDERS_BLOCK) return false;
    const uint32_t *own = &s->m->topo->cache_of[(size_t)cpu * n + n];
    const struct holder *first = holders_first(s, r);
    for (const struct holder *h = first; h < first + n; h++)
        if (h->cache != *--own) return false;
    return true;
}

/* The cache has all of the span (and of its run, so that nothing is left to divide; modified already when it is to be
 * written) and is up to date: a touch that finds all in the next outer one changes nothing but its age. */
static inline bool has_all(const struct toucher *t, const struct holder *h)
{
    const struct extent *e = &h->run;
    if (h->rest || h->stamp != t->s->cache[h->cache].clock) return false;
    if (t->off < e->start || t->off + t->n > e->start + e->len || e->bytes != e->len) return false;
    return e->dirty == e->len || (!e->dirty && t->access == WB_READ);
}

static uint32_t work_out(const struct toucher *t, struct holder *h, uint32_t outer)
{
    holder_refresh(t->s, h);
    struct share there = holder_overlap(t->s, h, t->off, t->n);
    uint32_t held = there.bytes;
    if (held && held < t->n) held = reached(&t->s->cache[h->cache], t->n, held);
    held = WB_MIN(held, outer);
    insert_level(t, h, there, t->n - held);
    return held;
}

/* A cache of the own chain that may lack something is touched; the next outer one had `outer` bytes of the span. How
 * many it had. */
static inline uint32_t touch_cache(const struct toucher *t, struct holder *h, uint32_t outer)
{
    struct cache *c = &t->s->cache[h->cache];
    if (c->free || t->n < RECALL_MIN || t->s->by_the_book) return work_out(t, h, outer);
    struct recall_key k = recall_key_of(t->s, h);
    k.off = t->off;
    k.n = t->n;
    k.outer = outer;
    k.access = t->access;
    struct recall *m = recall_place(t->s, &k);
    if (WB_LIKELY(recall_same(&m->key, &k))) {
        recall_apply(t->s, m, h);
        h->used = t->r->touches;
        return m->held;
    }
    uint64_t before = c->clock;
    uint32_t held = work_out(t, h, outer);
    *m = (struct recall){.key = k, .run = h->run, .held = held, .displaced = (uint32_t)(c->clock - before)};
    if (h->rest) m->rest = t->s->rest[h->rest];
    return held;
}

/* alone(): there is nobody to ask and nobody to change, and the caches of the chain do not depend on one another but
 * for what each finds in the next outer one. Those that have all come first and cost next to nothing: the common case
 * of small messages between tasks that share a CPU is all of them, that of large ones all but the innermost. */
static void touch_alone(struct toucher *t)
{
    struct holder *h = holders_first(t->s, t->r) - 1;
    uint32_t level = t->nlevels, outer = t->n;
    uint16_t now = ++t->r->touches;
    while (level && has_all(t, h + 1)) {
        (++h)->used = now;
        level--;
    }
    t->missing = 0;
    for (; level; level--) {
        uint32_t held = touch_cache(t, ++h, outer);
        if (level == t->nlevels)
            t->missing = t->n - held;
        else
            t->hit[level] += outer - held;
        outer = held;
    }
    t->hit[0] += outer;
}

/* Everything of one span but the core time. */
static void touch_span(struct toucher *t)
{
    if (!t->n) return;
    if (alone(t->s, t->cpu, t->r) && WB_LIKELY(!t->s->by_the_book)) {
        touch_alone(t);
        if (t->missing) price_memory(t, t->missing);
        return;
    }
    t->r->touches++;
    if (t->r->home == WB_NO_CPU) t->r->home = t->m->topo->level[WB_LVL_NODE].of[t->cpu];
    look_around(t);
    measure_own(t);
    price_span(t);
    change_others(t);
    for (uint32_t i = t->nlevels; i-- > 0;) {
        struct holder *h = holder_of(t, t->cache[i]);
        insert_level(t, h, holder_overlap(t->s, h, t->off, t->n), t->n - t->held[i]);
    }
}

static struct region *region_of(const struct wb_machine_state *s, const struct wb_span *span)
{
    struct region *r = region_at(s, span->region);
    WB_CHECK((uint64_t)span->offset + span->bytes <= r->bytes, "span %u+%u outside region '%s' of %u bytes",
             span->offset, span->bytes, s->region_name[r->name], r->bytes);
    return r;
}

static void begin(struct toucher *t, struct wb_machine_state *s, cpu_id cpu, const struct wb_span *span)
{
    WB_CHECK(cpu < s->m->topo->ncpus, "CPU %u", cpu);
    struct region *r = region_of(s, span);
    t->s = s;
    t->m = s->m;
    t->r = r;
    t->cpu = cpu;
    t->off = span->offset;
    t->n = span->bytes;
    t->nlevels = s->m->topo->nlevels;
    t->cache = &t->m->topo->cache_of[(size_t)cpu * t->nlevels];
}

/* All but the stages, which nstages says are not there. */
static void clear(struct wb_touch *out)
{
    memset(out, 0, offsetof(struct wb_touch, stage));
}

static void sum_up(struct wb_touch *out, uint32_t nlevels)
{
    out->core = 0;
    for (uint32_t i = 0; i < nlevels; i++) out->core += out->hit_time[i];
    out->total = out->core + out->upgrade + out->refill;
}

/* ---- the own chain has everything ---- */

/* The outermost cache has all of the span and nobody else has any of it. */
static inline bool within(const struct toucher *t)
{
    return alone(t->s, t->cpu, t->r) && has_all(t, holders_first(t->s, t->r)) && WB_LIKELY(!t->s->by_the_book);
}

bool wb_region_touch_near(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *span, enum wb_pattern pattern,
                          enum wb_access access, sim_time *core)
{
    uint64_t hit[WB_CACHE_LEVELS] = {0};
    struct toucher t;
    begin(&t, s, cpu, span);
    t.access = access;
    t.hit = hit;
    if (!within(&t)) return false;
    touch_alone(&t);
    *core = 0;
    for (uint32_t i = 0; i < t.nlevels; i++)
        if (hit[i]) *core += price_time(hit[i], s->m->hit[i].q[pattern][access]);
    return true;
}

bool wb_region_copy_near(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *src, const struct wb_span *dst,
                         sim_time *core)
{
    uint64_t hit[WB_CACHE_LEVELS] = {0};
    struct toucher from, to;
    if (src->bytes != dst->bytes || src->region == dst->region) return false;
    begin(&from, s, cpu, src);
    begin(&to, s, cpu, dst);
    from.access = WB_READ;
    to.access = WB_WRITE;
    from.hit = to.hit = hit;
    if (!within(&from) || !within(&to)) return false;
    touch_alone(&from);
    touch_alone(&to); /* inner caches may have lost some of it since; the outermost has not taken in anything */
    *core = 0;
    for (uint32_t i = 0; i < from.nlevels; i++)
        if (hit[i]) *core += price_time(hit[i], s->m->copy_q[i]) / 2;
    return true;
}

/* ---- the general case ---- */

void wb_region_touch(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *span, enum wb_pattern pattern,
                     enum wb_access access, struct wb_touch *out)
{
    struct toucher t;
    clear(out);
    begin(&t, s, cpu, span);
    t.out = out;
    t.hit = out->hit_bytes;
    t.pattern = pattern;
    t.access = access;
    touch_span(&t);
    for (uint32_t i = 0; i < t.nlevels; i++)
        if (out->hit_bytes[i]) out->hit_time[i] = price_time(out->hit_bytes[i], s->m->hit[i].q[pattern][access]);
    sum_up(out, t.nlevels);
}

void wb_region_copy(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *src, const struct wb_span *dst,
                    struct wb_touch *out)
{
    struct toucher t;
    WB_CHECK(src->bytes == dst->bytes && src->region != dst->region, "copy of %u to %u bytes, region %u to %u",
             src->bytes, dst->bytes, src->region, dst->region);
    clear(out);
    t.out = out;
    t.hit = out->hit_bytes;
    t.pattern = WB_STREAM;
    begin(&t, s, cpu, src);
    t.access = WB_READ;
    touch_span(&t);
    begin(&t, s, cpu, dst);
    t.access = WB_WRITE;
    touch_span(&t);
    uint64_t fetched = 2ull * src->bytes;
    for (uint32_t i = 0; i < t.nlevels; i++) fetched -= out->hit_bytes[i];
    for (uint32_t i = 0; i < t.nlevels; i++) {
        uint64_t bytes = out->hit_bytes[i] + (i ? 0 : fetched);
        if (bytes) out->hit_time[i] = price_time(bytes, s->m->copy_q[i]) / 2;
    }
    sum_up(out, t.nlevels);
}
