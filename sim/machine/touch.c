/*
 * touch.c - what a touch of a region costs and does.
 *
 * Order of business: bring the region's holders up to date; see what the own chain has; see what other caches have;
 * price the bytes by where they come from; then change the state: others lose (write) or clean (read) their copies,
 * the own chain inserts what it did not have. Equations and simplifications: docs/model-machine.md.
 */
#include <string.h>

#include "shapes.h"
#include "shared.h"

/* The outermost cache of another chain that has some of the span and that we do not share: it answers for that chain,
 * whose inner caches hold parts of the same bytes. */
struct sight {
    uint8_t shared;     /* innermost level of the own chain that also serves its CPUs, or nlevels */
    uint8_t far;        /* enum wb_distance */
    cpu_id cpu;         /* a CPU below it */
    struct share there; /* what it has of the span */
};

struct toucher {
    struct stroke k;
    const struct wb_machine *m;
    struct wb_touch *out;
    cpu_id cpu;
    enum wb_pattern pattern;
    bool brief;        /* nobody wants to know more than what it costs */
    uint32_t nholders; /* as the touch finds them, until the state changes */
    uint32_t mine;     /* those that are caches of the own chain, a bit each */
    struct holder *holder[HOLDERS];
    uint32_t nsights;
    struct sight sight[HOLDERS];    /* in the order of holders */
    uint32_t held[WB_CACHE_LEVELS]; /* bytes of the span found at or inside that level */
    uint32_t missing;               /* bytes that must come from outside */
};

static uint32_t chain_index(const struct toucher *t, uint32_t cache)
{
    return t->m->index_of_level[t->m->topo->cache[cache].level];
}

static bool is_own(const struct toucher *t, uint32_t cache)
{
    return t->k.cache[chain_index(t, cache)] == cache;
}

/* At what a cache of another chain has. */
static void look_at(struct toucher *t, const struct holder *h)
{
    const struct wb_topology *topo = t->m->topo;
    struct sight *v = &t->sight[t->nsights];
    v->there = holder_overlap(t->k.s, h, t->k.off, t->k.n);
    if (!v->there.bytes) return; /* it has nothing to say */
    v->cpu = topo->cache[h->cache].first_cpu;
    /* Caches nest: the outermost foreign one is below one of ours, or the last. */
    uint32_t shared = chain_index(t, h->cache) + 1;
    if (shared < t->k.nlevels && topo->cache_of[(size_t)v->cpu * t->k.nlevels + shared] != t->k.cache[shared]) return;
    v->shared = (uint8_t)shared;
    v->far = (uint8_t)wb_topo_distance(topo, t->cpu, v->cpu);
    t->nsights++;
}

/* mine: the holders of the own chain by level, NULL where it has none. */
static void look_around(struct toucher *t, struct holder **mine)
{
    uint32_t nlevels = t->k.nlevels;
    t->nsights = t->mine = 0;
    t->nholders = t->k.r->nholders;
    for (uint32_t i = 0; i < nlevels; i++) mine[i] = NULL;
    for (uint32_t k = 0, i = 0; k < t->nholders; k++, i++) {
        if (i == HOLDERS_BLOCK) i = 0;
        struct holder *h = i ? t->holder[k - 1] + 1 : holder_at(t->k.s, t->k.r, k);
        t->holder[k] = h;
        uint32_t level = nlevels - 1 - k; /* where it most often is */
        if (k >= nlevels || t->k.cache[level] != h->cache)
            for (level = 0; level < nlevels && t->k.cache[level] != h->cache;) level++;
        if (level < nlevels) {
            mine[level] = h;
            t->mine |= 1u << k;
            continue;
        }
        holder_refresh(t->k.s, h);
        look_at(t, h);
    }
}

/* held[]: what each level has when the touch comes by. */
static void measure_own(struct toucher *t, struct holder **mine)
{
    for (uint32_t i = 0; i < t->k.nlevels; i++) {
        t->held[i] = 0;
        /* All levels were set to NULL when the holders were looked for. */
        if (!mine[i]) continue; /* NOLINT(clang-analyzer-core.uninitialized.Branch) */
        holder_refresh(t->k.s, mine[i]);
        t->held[i] = holder_overlap(t->k.s, mine[i], t->k.off, t->k.n).bytes;
    }
    for (uint32_t i = 0; i < t->k.nlevels; i++)
        if (t->held[i] && t->held[i] < t->k.n)
            t->held[i] = chain_reached(&t->k, &t->k.s->cache[t->k.cache[i]], t->held[i]);
    for (uint32_t i = t->k.nlevels - 1; i > 0; i--) t->held[i - 1] = WB_MIN(t->held[i - 1], t->held[i]);
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
    sim_time time = price_time(bytes, p->q[t->pattern][t->k.access]);
    server_id v[WB_STAGE_SERVERS] = {WB_NO_SERVER, WB_NO_SERVER, WB_NO_SERVER};
    if (far >= WB_FAR_PACKAGE) v[0] = bus_of_cpu(m, t->cpu);
    if (far == WB_FAR_NODE && bus_of_cpu(m, other) != v[0]) v[1] = bus_of_cpu(m, other);
    if (far == WB_FAR_REMOTE) {
        v[1] = link_of_cpu(m, t->cpu);
        v[2] = link_of_cpu(m, other);
    }
    add_stage(t->out, time, bytes, v);
    if (t->brief) return;
    *(dirty ? &t->out->dirty_bytes[far] : &t->out->clean_bytes[far]) += bytes;
    *(dirty ? &t->out->dirty_time[far] : &t->out->clean_time[far]) += time;
}

static void price_memory(struct toucher *t, uint32_t bytes)
{
    const struct wb_machine *m = t->m;
    uint32_t node = m->topo->level[WB_LVL_NODE].of[t->cpu];
    bool remote = t->k.r->home != node;
    sim_time time = price_time(bytes, m->memory[remote].q[t->pattern][t->k.access]);
    server_id v[WB_STAGE_SERVERS] = {bus_of_cpu(m, t->cpu), memory_of_node(m, t->k.r->home),
                                     remote ? link_of_cpu(m, t->cpu) : WB_NO_SERVER};
    add_stage(t->out, time, bytes, v);
    if (t->brief) return;
    t->out->memory_bytes[remote] += bytes;
    t->out->memory_time[remote] += time;
}

/* Modified copies elsewhere come first: they are the only valid ones. Below a shared cache they replace hits there. */
static void take_dirty(struct toucher *t, uint32_t *hit)
{
    for (uint32_t k = 0; k < t->nsights; k++) {
        const struct sight *v = &t->sight[k];
        uint32_t dirty = v->there.dirty, from_hits = 0;
        if (!dirty) continue;
        if (v->shared < t->k.nlevels) {
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
            if (v->far != far || !clean) continue;
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
        if (!clean) continue;
        most = WB_MAX(most, clean);
        farthest = WB_MAX(farthest, v->far);
    }
    uint32_t bytes = WB_MIN(most, valid);
    if (!bytes) return;
    if (!t->brief) t->out->upgrade_lines += (bytes + t->m->line_size - 1) / t->m->line_size;
    t->out->upgrade += price_time(bytes, t->m->upgrade_q[farthest][t->pattern]);
}

static void price_span(struct toucher *t)
{
    uint32_t hit[WB_CACHE_LEVELS], inner = 0, hits = 0;
    const uint32_t levels = t->k.nlevels;
    for (uint32_t i = 0; i < levels; i++) {
        hit[i] = t->held[i] - inner;
        inner = t->held[i];
    }
    t->missing = t->k.n - inner;
    take_dirty(t, hit);
    if (t->missing && t->nsights && t->m->spec.clean_forward) take_clean(t);
    if (t->missing) price_memory(t, t->missing);
    for (uint32_t i = 0; i < levels; i++) {
        t->out->hit_bytes[i] += hit[i];
        hits += hit[i];
    }
    if (t->nsights && t->k.access == WB_WRITE) price_upgrades(t, hits);
}

/* Others after the touch: a write takes their copies away, a read leaves them clean. From the last to the first,
 * because the last one takes the place of one that goes. */
static void change_others(struct toucher *t)
{
    for (uint32_t k = t->nholders; k-- > 0;) {
        if (t->mine >> k & 1) continue;
        struct holder *h = t->holder[k];
        if (t->k.access == WB_WRITE) {
            struct cache *c = &t->k.s->cache[h->cache];
            uint64_t gone = holder_invalidate(t->k.s, h, t->k.off, t->k.n);
            c->free = WB_MIN(c->size.bytes, c->free + gone);
        } else if (h->run.dirty || h->rest) {
            holder_clean(t->k.s, h, t->k.off, t->k.n);
        }
        if (h->run.len || h->rest) continue;
        const struct holder *last = t->holder[t->k.r->nholders - 1u];
        if (h != last) *h = *last;
        holder_drop_last(t->k.s, t->k.r);
    }
}

/* Which holder to forget when all places are taken: a clean one before a dirty one, an inner cache before an outer
 * one, the least recent first. Never one of the own chain; the last writer's outermost is the most recent dirty one
 * and so never goes while the chain is shorter than the list. */
static uint32_t choose_victim(const struct toucher *t)
{
    uint32_t best = HOLDERS;
    uint64_t best_rank = UINT64_MAX;
    for (uint32_t k = 0; k < t->k.r->nholders; k++) {
        const struct holder *h = holder_at(t->k.s, t->k.r, k);
        if (is_own(t, h->cache)) continue;
        uint16_t age = (uint16_t)(t->k.r->touches - h->used);
        uint64_t rank = (uint64_t)(h->run.dirty || (h->rest && t->k.s->rest[h->rest].dirty)) << 48 |
                        (uint64_t)chain_index(t, h->cache) << 32 | (65535u - age);
        if (rank < best_rank) {
            best_rank = rank;
            best = k;
        }
    }
    WB_CHECK(best < HOLDERS, "region '%s': no holder to forget", t->k.s->region_name[t->k.r->name]);
    return best;
}

/* A holder for a cache that has none. */
static struct holder *new_holder(struct toucher *t, uint32_t cache)
{
    struct region *r = t->k.r;
    struct holder *h;
    if (r->nholders < HOLDERS) {
        h = holder_add(t->k.s, r);
    } else {
        h = holder_at(t->k.s, r, choose_victim(t));
        holder_clear(t->k.s, h);
    }
    *h = (struct holder){.cache = (uint16_t)cache, .stamp = t->k.s->cache[cache].clock};
    return h;
}

static struct holder *holder_of(struct toucher *t, uint32_t cache)
{
    struct region *r = t->k.r;
    for (uint32_t k = 0; k < r->nholders; k++)
        if (holder_at(t->k.s, r, k)->cache == cache) return holder_at(t->k.s, r, k);
    return new_holder(t, cache);
}

/* Step by step in the order of the model, without short cuts: what tests compare the others with. */
static void touch_by_the_book(struct toucher *t)
{
    struct holder *mine[WB_CACHE_LEVELS];
    look_around(t, mine);
    measure_own(t, mine);
    price_span(t);
    change_others(t);
    for (uint32_t i = t->k.nlevels; i-- > 0;) {
        struct holder *h = holder_of(t, t->k.cache[i]);
        chain_insert(&t->k, h, holder_overlap(t->k.s, h, t->k.off, t->k.n), t->k.n - t->held[i]);
    }
}

/* Others hold some of it, or nobody does. What the own caches take in does not depend on what the others lose, so
 * those that know the region are done with in one go; the others come into the list when some may have left it. */
static void touch_shared(struct toucher *t)
{
    struct holder *mine[WB_CACHE_LEVELS];
    look_around(t, mine);
    uint32_t outer = t->k.n;
    for (uint32_t i = t->k.nlevels; i-- > 0;) {
        if (!mine[i]) /* NOLINT(clang-analyzer-core.uninitialized.Branch): as in measure_own() */
            outer = 0;
        else if (outer == t->k.n && chain_has_all(&t->k, mine[i]))
            mine[i]->used = t->k.r->touches;
        else
            outer = chain_touch(&t->k, mine[i], outer);
        t->held[i] = outer;
    }
    price_span(t);
    change_others(t);
    for (uint32_t i = t->k.nlevels; i-- > 0;)
        if (!mine[i]) /* NOLINT(clang-analyzer-core.uninitialized.Branch): likewise */
            chain_touch(&t->k, new_holder(t, t->k.cache[i]), 0);
}

__attribute__((noinline)) static void learn_shared(struct toucher *t, const struct shared_key *key)
{
    struct shared_before before;
    shared_before(&t->k, t->out, &before);
    touch_shared(t);
    shared_learn(&t->k, key, &before, t->out);
}

/* Anything else. */
WB_APART static void touch_new(struct toucher *t)
{
    struct shared_key key;
    struct shape_before before;
    if (t->k.r->home == NO_HOME) t->k.r->home = (uint16_t)t->m->topo->level[WB_LVL_NODE].of[t->cpu];
    if (WB_UNLIKELY(t->k.s->by_the_book)) {
        touch_by_the_book(t);
        return;
    }
    before.from = 0;
    if (!t->k.s->shapes->over) {
        shapes_settle(t->k.s, t->k.r);
        if (t->brief) shapes_before(&t->k, t->out, &before);
    }
    if (before.from || !t->brief || !shared_key_of(&t->k, t->cpu, t->pattern, &key))
        touch_shared(t);
    else if (!shared_recall(&t->k, &key, t->out))
        learn_shared(t, &key);
    if (before.from) shapes_learn(&t->k, t->cpu, t->pattern, &before, t->out);
}

/* Everything of one span but the core time. */
static void touch_span(struct toucher *t)
{
    if (!t->k.n) return;
    if (chain_is_alone(&t->k) && WB_LIKELY(!t->k.s->by_the_book)) {
        t->missing = chain_touch_alone(&t->k, t->out->hit_bytes);
        if (t->missing) price_memory(t, t->missing);
        return;
    }
    t->k.r->touches++;
    if (t->brief) {
        bool known = t->k.r->shape ? shapes_recall(&t->k, t->cpu, t->pattern, t->out)
                                   : shared_follow(&t->k, t->cpu, t->pattern, t->out);
        if (known) return;
    }
    touch_new(t);
}

/* Nothing yet. nstages says that the stages are not there. */
static void begin(struct toucher *t, struct wb_machine_state *s, cpu_id cpu, struct wb_touch *out)
{
    t->m = s->m;
    t->out = out;
    t->cpu = cpu;
    out->core = out->upgrade = out->refill = out->unstaged = out->total = 0;
    for (uint32_t i = 0; i < WB_CACHE_LEVELS; i++) out->hit_bytes[i] = 0;
    out->nstages = 0;
    if (!t->brief) memset(out, 0, offsetof(struct wb_touch, stage));
}

static void sum_up(const struct toucher *t, uint32_t level, sim_time time)
{
    t->out->core += time;
    if (!t->brief) t->out->hit_time[level] = time;
}

static void touch(struct toucher *t)
{
    struct wb_touch *out = t->out;
    touch_span(t);
    for (uint32_t i = 0; i < t->k.nlevels; i++)
        if (out->hit_bytes[i]) sum_up(t, i, price_time(out->hit_bytes[i], t->m->hit[i].q[t->pattern][t->k.access]));
    out->total = out->core + out->upgrade + out->refill;
}

/* t->k: from where. */
static void copy(struct toucher *t, const struct stroke *to)
{
    struct wb_touch *out = t->out;
    t->pattern = WB_STREAM;
    touch_span(t);
    t->k = *to;
    touch_span(t);
    uint64_t fetched = 2ull * to->n;
    for (uint32_t i = 0; i < to->nlevels; i++) fetched -= out->hit_bytes[i];
    for (uint32_t i = 0; i < to->nlevels; i++) {
        uint64_t bytes = out->hit_bytes[i] + (i ? 0 : fetched);
        if (bytes) sum_up(t, i, price_time(bytes, t->m->copy_q[i]) / 2);
    }
    out->total = out->core + out->upgrade + out->refill;
}

static void check_copy(const struct wb_span *src, const struct wb_span *dst)
{
    WB_CHECK(src->bytes == dst->bytes && src->region != dst->region, "copy of %u to %u bytes, region %u to %u",
             src->bytes, dst->bytes, src->region, dst->region);
}

/* ---- what others call ---- */

void wb_region_touch(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *span, enum wb_pattern pattern,
                     enum wb_access access, struct wb_touch *out)
{
    struct toucher t;
    t.k = chain_stroke(s, cpu, span, access);
    t.brief = false;
    t.pattern = pattern;
    begin(&t, s, cpu, out);
    touch(&t);
}

void wb_region_copy(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *src, const struct wb_span *dst,
                    struct wb_touch *out)
{
    check_copy(src, dst);
    struct toucher t;
    t.k = chain_stroke(s, cpu, src, WB_READ);
    const struct stroke to = chain_stroke(s, cpu, dst, WB_WRITE);
    t.brief = false;
    begin(&t, s, cpu, out);
    copy(&t, &to);
}

bool wb_region_touch_cost(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *span, enum wb_pattern pattern,
                          enum wb_access access, struct wb_touch *out)
{
    const struct stroke k = chain_stroke(s, cpu, span, access);
    if (k.r->shape) {
        if (shapes_touch(&k, cpu, pattern, out)) return false;
    } else if (chain_touch_within(&k, pattern, &out->core)) {
        return true;
    }
    struct toucher t;
    t.k = k;
    t.brief = true;
    t.pattern = pattern;
    begin(&t, s, cpu, out);
    touch(&t);
    return false;
}

bool wb_region_copy_cost(struct wb_machine_state *s, cpu_id cpu, const struct wb_span *src, const struct wb_span *dst,
                         struct wb_touch *out)
{
    check_copy(src, dst);
    struct toucher t;
    t.k = chain_stroke(s, cpu, src, WB_READ);
    const struct stroke to = chain_stroke(s, cpu, dst, WB_WRITE);
    if (chain_copy_within(&t.k, &to, &out->core)) return true;
    t.brief = true;
    begin(&t, s, cpu, out);
    copy(&t, &to);
    return false;
}
