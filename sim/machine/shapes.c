/* shapes.c - steps between shapes of regions; see shapes.h. */
#include "shapes.h"

#include <string.h>

static uint64_t span_of(const struct stroke *k)
{
    return (uint64_t)k->n << 32 | k->off;
}

static uint64_t who_of(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern)
{
    return (uint64_t)k->r->shape << 32 | (uint64_t)cpu << 16 | (uint64_t)k->access << 8 | (uint64_t)pattern;
}

static struct shape_step *step_at(const struct wb_machine_state *s, uint64_t span, uint64_t who)
{
    uint64_t x = (span * 0x9e3779b97f4a7c15ull ^ who) * 0xc2b2ae3d27d4eb4full;
    return &s->shapes->step[x >> (64 - SHAPE_STEPS_BITS)];
}

/* ---- a step that is known ---- */

static inline bool has_room(const struct stroke *k)
{
    for (uint32_t i = 0; i < k->nlevels; i++)
        if (k->s->cache[k->cache[i]].free < k->n) return false;
    return true;
}

/* Of a region that has a shape: when each holder was used last stands where its first holder's run would. It changes
 * from one to the other by memcpy(), as things of two types must. */
struct ages {
    uint16_t used[SHAPE_HOLDERS];
};
_Static_assert(sizeof(struct ages) <= sizeof(struct extent), "no room for ages");

static inline struct ages *ages_of(const struct wb_machine_state *s, const struct region *r)
{
    return (struct ages *)(void *)&s->block[r->block[0]].h[0].run;
}

static inline const struct shape_step *find(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern)
{
    uint64_t span = span_of(k), who = who_of(k, cpu, pattern);
    const struct shape_step *m = step_at(k->s, span, who);
    return m->span == span && m->who == who && has_room(k) ? m : NULL;
}

/* The step is done. */
static inline void walk(const struct stroke *k, const struct shape_step *m)
{
    struct cache *cache = k->s->cache;
    for (uint32_t i = 0; i < m->nlosses; i++) {
        struct cache *c = &cache[m->loss[i].cache];
        c->free = WB_MIN(c->size.bytes, c->free + m->loss[i].bytes);
    }
    struct ages *ages = ages_of(k->s, k->r);
    if (k->s->shapes->credit < SHAPE_CREDIT_MAX) k->s->shapes->credit++;
    for (uint32_t i = 0; i < k->nlevels; i++) {
        cache[k->cache[i]].free -= m->filled[i];
        ages->used[m->own[i]] = k->r->touches;
    }
    k->r->shape = m->to;
}

bool shapes_recall(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern, struct wb_touch *out)
{
    const struct shape_step *m = find(k, cpu, pattern);
    if (!m) return false;
    walk(k, m);
    for (uint32_t i = 0; i < k->nlevels; i++) out->hit_bytes[i] += m->hit[i];
    out->upgrade += m->upgrade;
    out->refill += m->refill;
    out->unstaged += m->refill;
    return true;
}

bool shapes_touch(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern, struct wb_touch *out)
{
    const struct shape_step *m = find(k, cpu, pattern);
    if (!m) return false;
    k->r->touches++;
    walk(k, m);
    out->core = m->core;
    out->upgrade = m->upgrade;
    out->refill = out->unstaged = m->refill;
    out->total = m->core + m->upgrade + m->refill;
    out->nstages = 0;
    return true;
}

/* ---- holders and shapes ---- */

uint32_t shapes_count(const struct wb_machine_state *s, const struct region *r)
{
    return r->shape ? s->shapes->shape[r->shape].nholders : r->nholders;
}

struct holder shapes_holder(const struct wb_machine_state *s, struct region *r, uint32_t j, struct extent *rest)
{
    if (!r->shape) {
        const struct holder *h = holder_at(s, r, j);
        *rest = s->rest[h->rest]; /* number 0 is empty */
        return *h;
    }
    const struct shape *v = &s->shapes->shape[r->shape];
    *rest = v->h[j].rest;
    return (struct holder){.run = v->h[j].run, .cache = v->cache[j], .used = ages_of(s, r)->used[j]};
}

static void change_count(struct wb_machine_state *s, struct region *r, uint32_t nholders)
{
    while (r->nholders > nholders) {
        struct holder *last = holder_at(s, r, r->nholders - 1u);
        if (last->rest) holder_drop_rest(s, last);
        holder_drop_last(s, r);
    }
    while (r->nholders < nholders) *holder_add(s, r) = (struct holder){.rest = 0};
}

void shapes_settle(struct wb_machine_state *s, struct region *r)
{
    if (!r->shape) return;
    const struct shape *v = &s->shapes->shape[r->shape];
    struct ages ages;
    memcpy(&ages, ages_of(s, r), sizeof ages);
    change_count(s, r, v->nholders);
    for (uint32_t j = 0; j < v->nholders; j++) {
        struct holder *h = holder_at(s, r, j);
        h->cache = v->cache[j];
        h->used = ages.used[j];
        h->stamp = 0;
        h->run = v->h[j].run;
        if (v->h[j].rest.len) {
            if (!h->rest) holder_take_rest(s, h);
            s->rest[h->rest] = v->h[j].rest;
        } else if (h->rest) {
            holder_drop_rest(s, h);
        }
    }
    r->shape = 0;
}

void shapes_end(struct wb_machine_state *s)
{
    if (s->shapes->over) return;
    s->shapes->over = true;
    for (uint32_t i = 0; i < s->region_fresh; i++) shapes_settle(s, &s->region[i]);
    for (uint32_t i = 0; i < s->pages_given; i++) shapes_settle(s, &s->region[s->sizes.regions + i]);
}

/* ---- numbers of shapes ---- */

static struct extent canonical(const struct extent *e)
{
    return e->len ? *e : (struct extent){0};
}

static void describe(const struct stroke *k, struct shape *v)
{
    memset(v, 0, sizeof *v);
    v->home = k->r->home;
    v->nholders = k->r->nholders;
    for (uint32_t j = 0; j < v->nholders; j++) {
        const struct holder *h = holder_at(k->s, k->r, j);
        v->cache[j] = h->cache;
        v->h[j].run = canonical(&h->run);
        if (h->rest) v->h[j].rest = canonical(&k->s->rest[h->rest]);
    }
}

static uint32_t list_of(const struct shape *v)
{
    uint64_t x = v->home;
    for (uint32_t j = 0; j < v->nholders; j++) {
        x = (x ^ v->cache[j] ^ (uint64_t)v->h[j].run.start << 32 ^ v->h[j].run.len) * 0x9e3779b97f4a7c15ull;
        x = (x ^ x >> 29 ^ v->h[j].run.dirty ^ (uint64_t)v->h[j].rest.bytes << 32) * 0xc2b2ae3d27d4eb4full;
    }
    return (uint32_t)(x >> 32) % SHAPE_LISTS;
}

static bool same(const struct shape *a, const struct shape *b)
{
    return a->nholders == b->nholders && a->home == b->home && !memcmp(a->cache, b->cache, sizeof a->cache) &&
           !memcmp(a->h, b->h, sizeof a->h);
}

/* The number of what the region's holders are now; 0: there are no more numbers, or more holders than fit. */
static uint32_t number(const struct stroke *k)
{
    struct shapes *all = k->s->shapes;
    struct shape v;
    if (k->r->nholders > SHAPE_HOLDERS) return 0;
    describe(k, &v);
    uint16_t *list = &all->list[list_of(&v)];
    for (uint32_t i = *list; i; i = all->shape[i].next)
        if (same(&all->shape[i], &v)) return i;
    if (all->n + 1 == SHAPES) return 0;
    uint32_t i = ++all->n;
    v.next = *list;
    all->shape[i] = v;
    *list = (uint16_t)i;
    return i;
}

/* ---- a step that is new ---- */

void shapes_before(const struct stroke *k, const struct wb_touch *out, struct shape_before *b)
{
    struct region *r = k->r;
    b->from = 0;
    if (k->s->shapes->over || !r->nholders || k->nlevels > SHAPE_LEVELS || !has_room(k)) return;
    if (!k->s->shapes->credit--) {
        shapes_end(k->s);
        return;
    }
    b->from = number(k);
    if (!b->from) return;
    for (uint32_t i = 0; i < k->nlevels; i++) {
        b->free[i] = k->s->cache[k->cache[i]].free;
        b->hit[i] = out->hit_bytes[i];
    }
    b->upgrade = out->upgrade;
    b->refill = out->refill;
    b->unstaged = out->unstaged;
    b->nstages = out->nstages;
}

static bool is_own(const struct stroke *k, uint32_t cache)
{
    for (uint32_t i = 0; i < k->nlevels; i++)
        if (k->cache[i] == cache) return true;
    return false;
}

/* Where the own caches are. false: a holder of another chain has moved, and its age with it. */
static bool note_holders(const struct stroke *k, struct shape_step *m, const struct shape *from, const struct shape *to)
{
    for (uint32_t j = 0; j < to->nholders; j++) {
        for (uint32_t i = 0; i < k->nlevels; i++)
            if (k->cache[i] == to->cache[j]) m->own[i] = (uint8_t)j;
        if (!is_own(k, to->cache[j]) && (j >= from->nholders || from->cache[j] != to->cache[j])) return false;
    }
    return true;
}

/* What caches of others lose: a write takes the span from them. */
static void note_losses(const struct stroke *k, struct shape_step *m, const struct shape *from)
{
    for (uint32_t j = 0; j < from->nholders && k->access == WB_WRITE; j++) {
        struct extent run = from->h[j].run, rest = from->h[j].rest;
        if (is_own(k, from->cache[j])) continue;
        uint32_t bytes = extent_trim(&run, k->off, k->n).bytes + extent_trim(&rest, k->off, k->n).bytes;
        if (!bytes) continue;
        m->loss[m->nlosses].cache = from->cache[j];
        m->loss[m->nlosses++].bytes = bytes;
    }
}

/* The region has this shape from now on. */
static void take_shape(const struct stroke *k, uint32_t shape)
{
    struct ages ages;
    for (uint32_t j = 0; j < k->r->nholders; j++) ages.used[j] = holder_at(k->s, k->r, j)->used;
    memcpy(ages_of(k->s, k->r), &ages, sizeof ages);
    k->r->shape = (uint16_t)shape;
}

void shapes_learn(const struct stroke *k, cpu_id cpu, enum wb_pattern pattern, const struct shape_before *b,
                  const struct wb_touch *out)
{
    struct shapes *all = k->s->shapes;
    struct shape_step m = {.upgrade = out->upgrade - b->upgrade, .refill = out->refill - b->refill};
    uint32_t to = k->r->nholders ? number(k) : 0;
    if (!b->from || !to || all->over) return;
    m.span = span_of(k);
    m.to = (uint16_t)to;
    k->r->shape = (uint16_t)b->from;
    m.who = who_of(k, cpu, pattern);
    k->r->shape = 0;
    bool good = out->nstages == b->nstages && m.refill == out->unstaged - b->unstaged &&
                note_holders(k, &m, &all->shape[b->from], &all->shape[to]);
    note_losses(k, &m, &all->shape[b->from]);
    for (uint32_t i = 0; i < k->nlevels; i++) {
        m.filled[i] = (uint32_t)(b->free[i] - k->s->cache[k->cache[i]].free);
        m.hit[i] = (uint32_t)(out->hit_bytes[i] - b->hit[i]);
        m.core += price_time(m.hit[i], k->s->m->hit[i].q[pattern][k->access]);
    }
    if (!good) return;
    *step_at(k->s, m.span, m.who) = m;
    take_shape(k, to);
}
