/*
 * touch.c - what a touch of a region costs and does.
 *
 * Order of business: bring the region's holders up to date; see what the own chain has; see what other caches have;
 * price the bytes by where they come from; then change the state: others lose (write) or clean (read) their copies,
 * the own chain inserts what it did not have. Equations and simplifications: docs/model-machine.md.
 */
#include <string.h>

#include "caches.h"
#include "decay.h"

struct toucher {
    struct wb_machine_state *s;
    const struct wb_machine *m;
    struct region *r;
    struct wb_touch *out;
    cpu_id cpu;
    uint32_t off, n;
    enum wb_pattern pattern;
    enum wb_access access;
    uint32_t nlevels;
    uint32_t cache[WB_CACHE_LEVELS]; /* own chain, innermost first */
    struct holder *own[WB_CACHE_LEVELS];
    uint32_t held[WB_CACHE_LEVELS]; /* bytes of the span found at or inside that level */
    uint32_t missing;               /* bytes that must come from outside */
};

/* Index of the innermost level of the own chain that also serves the CPUs below cache k, or nlevels. */
static uint32_t shared_level(const struct toucher *t, uint32_t k)
{
    const struct wb_topology *topo = t->m->topo;
    cpu_id other = topo->cache[k].first_cpu;
    for (uint32_t i = 0; i < t->nlevels; i++)
        if (wb_topo_cache_of(topo, other, i) == t->cache[i]) return i;
    return t->nlevels;
}

static uint32_t chain_index(const struct toucher *t, uint32_t k)
{
    const struct wb_topology *topo = t->m->topo;
    cpu_id first = topo->cache[k].first_cpu;
    uint32_t i = 0;
    while (wb_topo_cache_of(topo, first, i) != k) i++;
    return i;
}

static bool is_own(const struct toucher *t, const struct holder *h)
{
    for (uint32_t i = 0; i < t->nlevels; i++)
        if (t->cache[i] == h->cache) return true;
    return false;
}

/* True for the outermost cache of a foreign chain that we do not share: the one that answers for that chain. Its
 * inner caches hold parts of the same bytes. */
static bool speaks_for_chain(const struct toucher *t, const struct holder *h, uint32_t *shared)
{
    *shared = shared_level(t, h->cache);
    return chain_index(t, h->cache) + 1 == *shared;
}

static void find_own(struct toucher *t)
{
    for (uint32_t i = 0; i < t->nlevels; i++) {
        t->cache[i] = wb_topo_cache_of(t->m->topo, t->cpu, i);
        t->own[i] = NULL;
    }
    for (uint32_t k = 0; k < t->r->nholders; k++) {
        struct holder *h = &t->r->h[k];
        holder_refresh(t->s, h);
        for (uint32_t i = 0; i < t->nlevels; i++)
            if (t->cache[i] == h->cache) t->own[i] = h;
    }
}

/* Of `held` bytes of the span, those that are still there when the touch comes by: what it inserts displaces part of
 * them before it reaches them, which makes it insert more. Two steps of that fixed point are near enough. */
static uint32_t reached(const struct toucher *t, const struct cache *c, uint32_t held)
{
    uint32_t found = held;
    for (int step = 0; step < 2 && t->n - found > c->free; step++)
        found = decay_apply(held, decay_average(t->n - found - c->free, c->size));
    return found;
}

/* held[]: what each level has when the touch comes by. */
static void measure_own(struct toucher *t)
{
    for (uint32_t i = 0; i < t->nlevels; i++) {
        uint32_t held = t->own[i] ? holder_overlap(t->own[i], t->off, t->n).bytes : 0;
        t->held[i] = held ? reached(t, &t->s->cache[t->cache[i]], held) : 0;
    }
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
    for (uint32_t k = 0; k < t->r->nholders; k++) {
        const struct holder *h = &t->r->h[k];
        uint32_t shared;
        if (is_own(t, h) || !speaks_for_chain(t, h, &shared)) continue;
        uint32_t dirty = holder_overlap(h, t->off, t->n).dirty;
        uint32_t from_hits = shared < t->nlevels ? WB_MIN(dirty, hit[shared]) : 0;
        uint32_t from_missing = WB_MIN(dirty - from_hits, t->missing);
        if (shared < t->nlevels) hit[shared] -= from_hits;
        t->missing -= from_missing;
        if (!(from_hits + from_missing)) continue;
        cpu_id other = t->m->topo->cache[h->cache].first_cpu;
        price_transfer(t, wb_topo_distance(t->m->topo, t->cpu, other), other, from_hits + from_missing, true);
    }
}

/* Clean copies elsewhere, nearest first; only where caches forward clean lines. */
static void take_clean(struct toucher *t)
{
    for (uint32_t far = WB_FAR_PACKAGE; far < WB_DISTANCES && t->missing; far++) {
        for (uint32_t k = 0; k < t->r->nholders && t->missing; k++) {
            const struct holder *h = &t->r->h[k];
            uint32_t shared;
            cpu_id other = t->m->topo->cache[h->cache].first_cpu;
            if (wb_topo_distance(t->m->topo, t->cpu, other) != (enum wb_distance)far ||
                !speaks_for_chain(t, h, &shared))
                continue;
            struct share there = holder_overlap(h, t->off, t->n);
            uint32_t clean = WB_MIN(there.bytes - there.dirty, t->missing);
            t->missing -= clean;
            if (clean) price_transfer(t, (enum wb_distance)far, other, clean, false);
        }
    }
}

/* Writing bytes that we hold and others hold too: one invalidation per line, priced by the farthest holder. */
static void price_upgrades(struct toucher *t, uint32_t valid)
{
    uint32_t most = 0;
    enum wb_distance farthest = WB_FAR_SMT;
    for (uint32_t k = 0; k < t->r->nholders; k++) {
        const struct holder *h = &t->r->h[k];
        uint32_t shared;
        if (is_own(t, h) || !speaks_for_chain(t, h, &shared)) continue;
        struct share there = holder_overlap(h, t->off, t->n);
        uint32_t clean = there.bytes - there.dirty;
        if (!clean) continue;
        most = WB_MAX(most, clean);
        enum wb_distance far = wb_topo_distance(t->m->topo, t->cpu, t->m->topo->cache[h->cache].first_cpu);
        farthest = WB_MAX(farthest, far);
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
        t->out->hit_bytes[i] += hit[i];
        hits += hit[i];
    }
    if (t->access == WB_WRITE) price_upgrades(t, hits);
}

/* Others after the touch: a write takes their copies away, a read leaves them clean. */
static void change_others(struct toucher *t)
{
    for (uint32_t k = 0; k < t->r->nholders;) {
        struct holder *h = &t->r->h[k];
        if (is_own(t, h)) {
            k++;
            continue;
        }
        if (t->access == WB_WRITE) {
            struct cache *c = &t->s->cache[h->cache];
            uint64_t gone = holder_invalidate(h, t->off, t->n);
            c->free = WB_MIN(c->size, c->free + gone);
        } else {
            holder_clean(h, t->off, t->n);
        }
        if (h->run.len || h->rest.len)
            k++;
        else
            *h = t->r->h[--t->r->nholders];
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
        const struct holder *h = &t->r->h[k];
        if (is_own(t, h)) continue;
        uint16_t age = (uint16_t)(t->r->touches - h->used);
        uint64_t rank =
            (uint64_t)(h->run.dirty || h->rest.dirty) << 48 | (uint64_t)chain_index(t, h->cache) << 32 | (65535u - age);
        if (rank < best_rank) {
            best_rank = rank;
            best = k;
        }
    }
    WB_CHECK(best < HOLDERS, "region '%s': no holder to forget", t->r->name);
    return best;
}

static struct holder *holder_of(struct toucher *t, uint32_t cache)
{
    struct region *r = t->r;
    for (uint32_t k = 0; k < r->nholders; k++)
        if (r->h[k].cache == cache) return &r->h[k];
    uint32_t k = r->nholders < HOLDERS ? r->nholders++ : choose_victim(t);
    r->h[k] = (struct holder){.cache = (uint16_t)cache, .stamp = t->s->cache[cache].clock};
    return &r->h[k];
}

/* One level of the own chain takes in what it did not have: see docs/model-machine.md, displacement. */
static void insert_level(struct toucher *t, uint32_t i)
{
    struct holder *h = holder_of(t, t->cache[i]);
    struct cache *c = &t->s->cache[t->cache[i]];
    uint64_t had = holder_overlap(h, t->off, t->n).bytes, present;
    uint64_t insert = t->n - t->held[i];
    uint64_t displaced = cache_insert(c, insert);
    uint64_t room = insert - displaced;
    if (displaced) {
        uint64_t left = decay_factor(displaced, c->size);
        holder_refresh(t->s, h);
        unsigned __int128 q32 = (unsigned __int128)c->size * (DECAY_ONE - left) + (had + room) * left;
        present = (uint64_t)((q32 + DECAY_ONE / 2) >> 32);
    } else {
        present = had + room;
    }
    struct share now = {.bytes = (uint32_t)WB_MIN(present, t->n)};
    now.dirty = t->access == WB_WRITE ? now.bytes : WB_MIN(now.bytes, holder_overlap(h, t->off, t->n).dirty);
    holder_touch(h, t->off, t->n, now);
    h->stamp = c->clock;
    h->used = (uint16_t)t->r->touches;
}

/* Everything of one span but the core time. */
static void touch_span(struct toucher *t)
{
    const struct wb_span whole = {.offset = t->off, .bytes = t->n};
    if (!whole.bytes) return;
    t->nlevels = t->m->topo->nlevels;
    t->r->touches++;
    if (t->r->home == WB_NO_CPU) t->r->home = t->m->topo->level[WB_LVL_NODE].of[t->cpu];
    find_own(t);
    measure_own(t);
    price_span(t);
    change_others(t);
    for (uint32_t i = t->nlevels; i-- > 0;) insert_level(t, i);
}

static struct toucher toucher_for(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *span,
                                  struct wb_touch *out)
{
    WB_CHECK(cpu < s->m->topo->ncpus, "CPU %u", cpu);
    WB_CHECK(span->region < s->sizes.regions + s->sizes.pages, "region %u", span->region);
    struct region *r = &s->region[span->region];
    WB_CHECK((uint64_t)span->offset + span->bytes <= r->bytes, "span %u+%u outside region '%s' of %u bytes",
             span->offset, span->bytes, r->name, r->bytes);
    return (struct toucher){.s = s, .m = s->m, .r = r, .out = out, .cpu = cpu, .off = span->offset, .n = span->bytes};
}

static void sum_up(struct wb_touch *out, uint32_t nlevels)
{
    out->core = 0;
    for (uint32_t i = 0; i < nlevels; i++) out->core += out->hit_time[i];
    out->total = out->core + out->upgrade + out->refill;
}

void wb_region_touch(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *span, enum wb_pattern pattern,
                     enum wb_access access, struct wb_touch *out)
{
    memset(out, 0, sizeof *out);
    struct toucher t = toucher_for(s, cpu, span, out);
    t.pattern = pattern;
    t.access = access;
    touch_span(&t);
    for (uint32_t i = 0; i < s->m->topo->nlevels; i++)
        out->hit_time[i] = price_time(out->hit_bytes[i], s->m->hit[i].q[pattern][access]);
    sum_up(out, s->m->topo->nlevels);
}

void wb_region_copy(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *src, const struct wb_span *dst,
                    struct wb_touch *out)
{
    WB_CHECK(src->bytes == dst->bytes && src->region != dst->region, "copy of %u to %u bytes, region %u to %u",
             src->bytes, dst->bytes, src->region, dst->region);
    memset(out, 0, sizeof *out);
    struct toucher from = toucher_for(s, cpu, src, out), to = toucher_for(s, cpu, dst, out);
    from.access = WB_READ;
    to.access = WB_WRITE;
    from.pattern = to.pattern = WB_STREAM;
    touch_span(&from);
    touch_span(&to);
    const struct wb_machine *m = s->m;
    uint64_t fetched = 2ull * src->bytes;
    for (uint32_t i = 0; i < m->topo->nlevels; i++) fetched -= out->hit_bytes[i];
    for (uint32_t i = 0; i < m->topo->nlevels; i++)
        out->hit_time[i] = price_time(out->hit_bytes[i] + (i ? 0 : fetched), m->copy_q[i]) / 2;
    sum_up(out, m->topo->nlevels);
}
