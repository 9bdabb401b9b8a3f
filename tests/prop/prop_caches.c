/*
 * prop_caches.c - regions and pages against naive twins.
 *
 * mean_field: the twin keeps, for every cache, region and KiB, the probability that it is there and that it is
 * modified, and displaces KiB by KiB with the real exponential. The model (stretches and byte counts, O(1)) must name
 * the same suppliers within a few percent for regions that are touched whole or in pieces one after the other.
 *
 * conservation: any spans, CPUs and patterns: every byte has exactly one supplier, caches hold no more than their
 * size, inner caches no more than outer ones, what was just written is a hit, and times add up.
 *
 * pages: per CPU and node lists as plain arrays.
 */
#include "machine_fixture.h"

#include <math.h>

#include "propcheck.h"

enum { CPUS = 4, REGIONS = 5, KIBS = 16, CACHES = 4 + 4 + 2, LEVELS = 3 };
#define KIB 1024.0

static struct wb_machine *machine;
static const char *const topology = "[numa] pack:2 l3:1(size=65536) core:2 pu:1";

static struct wb_machine *twin_machine(void)
{
    struct wb_topo_options opt = {.cache_size = {8192, 32768, 65536}, .line = 64};
    struct wb_machine_spec spec;
    wb_machine_spec_defaults(&spec);
    struct wb_diag *d = wb_diag_new();
    struct wb_machine *m = wb_machine_new(wb_topo_from_synthetic(topology, &opt, d), &spec, d);
    assert_non_null(m);
    wb_diag_free(d);
    return m;
}

/* ---- the twin ---- */
struct twin {
    double p[CACHES][REGIONS][KIBS], dirty[CACHES][REGIONS][KIBS], free[CACHES];
};
struct sources {
    double hit[LEVELS], dirty, clean, memory;
};

static uint32_t cache_of(cpu_id c, uint32_t level)
{
    return wb_topo_cache_of(wb_machine_topo(machine), c, level);
}
static double size_of(uint32_t cache)
{
    return (double)wb_machine_topo(machine)->cache[cache].size;
}

static void twin_insert(struct twin *w, uint32_t cache, double bytes)
{
    double room = fmin(w->free[cache], bytes);
    w->free[cache] -= room;
    double left = exp(-(bytes - room) / size_of(cache));
    for (int r = 0; r < REGIONS; r++)
        for (int k = 0; k < KIBS; k++) {
            w->p[cache][r][k] *= left;
            w->dirty[cache][r][k] *= left;
        }
}

/* The chains of other CPUs that do not pass through `cache`es of c: drop or clean this KiB there. */
static void twin_change_others(struct twin *w, cpu_id c, int r, int k, bool write)
{
    for (cpu_id o = 0; o < CPUS; o++)
        for (uint32_t l = 0; l < LEVELS; l++) {
            uint32_t cache = cache_of(o, l);
            if (cache == cache_of(c, l)) continue;
            w->dirty[cache][r][k] = 0;
            if (!write) continue;
            w->free[cache] += w->p[cache][r][k] * KIB;
            w->p[cache][r][k] = 0;
        }
}

static void twin_touch(struct twin *w, cpu_id c, int r, int k, bool write, struct sources *s)
{
    const struct wb_topology *t = wb_machine_topo(machine);
    double held[LEVELS], inner = 0, hit[LEVELS];
    for (uint32_t l = 0; l < LEVELS; l++) held[l] = w->p[cache_of(c, l)][r][k];
    for (uint32_t l = LEVELS - 1; l > 0; l--) held[l - 1] = fmin(held[l - 1], held[l]);
    for (uint32_t l = 0; l < LEVELS; l++) {
        hit[l] = held[l] - inner;
        inner = held[l];
    }
    double missing = 1 - inner;
    /* dirty in a neighbour's L2 (same L3), or in the other L3 */
    for (cpu_id o = 0; o < CPUS; o++) {
        bool near = o != c && wb_topo_shares(t, WB_LVL_LLC, o, c);
        if (!near) continue;
        double d = w->dirty[cache_of(o, 1)][r][k], from_l3 = fmin(d, hit[2]);
        hit[2] -= from_l3;
        missing -= fmin(d - from_l3, missing);
        s->dirty += d * KIB;
    }
    uint32_t far = cache_of((c + 2) % CPUS, 2);
    double d = fmin(w->dirty[far][r][k], missing);
    double clean = fmin(fmax(w->p[far][r][k] - w->dirty[far][r][k], 0), missing - d);
    s->dirty += d * KIB;
    s->clean += clean * KIB;
    s->memory += (missing - d - clean) * KIB;
    for (uint32_t l = 0; l < LEVELS; l++) s->hit[l] += hit[l] * KIB;
    twin_change_others(w, c, r, k, write);
    for (uint32_t l = 0; l < LEVELS; l++) {
        uint32_t cache = cache_of(c, l);
        twin_insert(w, cache, (1 - held[l]) * KIB);
        w->p[cache][r][k] = 1;
        if (write) w->dirty[cache][r][k] = 1;
    }
}

/* ---- mean_field ---- */
/* Three of the four CPUs: a region remembers eight caches, which is what three chains of this machine are. */
static struct prop_op make_whole(struct prop_rng *r)
{
    return (struct prop_op){.kind = (uint32_t)prop_below(r, 4), .a = prop_below(r, 3), .b = prop_below(r, REGIONS)};
}

static void add(struct sources *s, const struct wb_touch *o)
{
    for (uint32_t l = 0; l < LEVELS; l++) s->hit[l] += (double)o->hit_bytes[l];
    for (uint32_t f = 0; f < WB_DISTANCES; f++) {
        s->dirty += (double)o->dirty_bytes[f];
        s->clean += (double)o->clean_bytes[f];
    }
    s->memory += (double)(o->memory_bytes[0] + o->memory_bytes[1]);
}

static double worst; /* over all runs, for the report */

/* All that comes from outside the chain, and hits by level, within a tenth of the region. */
static bool agree(const struct sources *a, const struct sources *b, char *why, size_t n)
{
    const double tolerance = 0.10 * KIBS * KIB;
    double gap = fmax(fabs(a->dirty - b->dirty), fabs(a->clean + a->memory - b->clean - b->memory));
    for (uint32_t l = 1; l < LEVELS; l++) gap = fmax(gap, fabs(a->hit[l] - b->hit[l]));
    gap = fmax(gap, fabs(a->hit[0] - b->hit[0]) / 2); /* a pass over twice the L1 is where evenness hurts most */
    worst = fmax(worst, gap / (KIBS * KIB));
    if (gap <= tolerance) return true;
    snprintf(why, n, "model hits %.0f %.0f %.0f dirty %.0f clean %.0f memory %.0f, twin %.0f %.0f %.0f %.0f %.0f %.0f",
             a->hit[0], a->hit[1], a->hit[2], a->dirty, a->clean, a->memory, b->hit[0], b->hit[1], b->hit[2], b->dirty,
             b->clean, b->memory);
    return false;
}

static bool run_mean_field(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    static struct twin w;
    const struct wb_machine_sizes sizes = {.regions = REGIONS};
    struct wb_machine_state *s = wb_machine_state_new(machine, &sizes);
    bool good = true;
    memset(&w, 0, sizeof w);
    for (uint32_t c = 0; c < CACHES; c++) w.free[c] = size_of(c);
    for (int r = 0; r < REGIONS; r++) wb_region_new(s, KIBS * 1024, "prop");
    for (size_t i = 0; i < n && good; i++) {
        struct sources model = {{0}, 0, 0, 0}, twin = {{0}, 0, 0, 0};
        uint32_t pieces = ops[i].kind & 2 ? 4 : 1;
        bool write = ops[i].kind & 1;
        for (uint32_t p = 0; p < pieces; p++) {
            struct wb_touch o;
            struct wb_span span = {(region_id)ops[i].b, p * KIBS * 1024 / pieces, KIBS * 1024 / pieces};
            wb_region_touch(s, (cpu_id)ops[i].a, &span, WB_STREAM, write ? WB_WRITE : WB_READ, &o);
            add(&model, &o);
        }
        for (int k = 0; k < KIBS; k++) twin_touch(&w, (cpu_id)ops[i].a, (int)ops[i].b, k, write, &twin);
        good = agree(&model, &twin, why, nwhy);
    }
    wb_machine_state_free(s);
    return good;
}

static void mean_field(void **state)
{
    (void)state;
    const struct property p = {"mean_field", 60, make_whole, run_mean_field};
    machine = twin_machine();
    bool good = prop_check(&p, 400);
    print_message("largest deviation from the mean field: %.1f %% of a region\n", 100 * worst);
    wb_machine_free(machine);
    assert_true(good);
}

/* ---- conservation ---- */
enum { MANY_REGIONS = 12, MANY_BYTES = 100000 };

static struct prop_op make_any(struct prop_rng *r)
{
    return (struct prop_op){.kind = (uint32_t)prop_u64(r), .a = prop_u64(r), .b = prop_u64(r)};
}

static bool sums_up(const struct wb_touch *o, uint64_t n)
{
    uint64_t bytes = o->memory_bytes[0] + o->memory_bytes[1];
    sim_time refill = o->memory_time[0] + o->memory_time[1], staged = o->unstaged;
    for (uint32_t i = 0; i < WB_CACHE_LEVELS; i++) bytes += o->hit_bytes[i];
    for (uint32_t i = 0; i < WB_DISTANCES; i++) {
        bytes += o->dirty_bytes[i] + o->clean_bytes[i];
        refill += o->dirty_time[i] + o->clean_time[i];
    }
    for (uint32_t i = 0; i < o->nstages; i++) staged += o->stage[i].time;
    return bytes == n && refill == o->refill && staged == o->refill && o->total == o->core + o->upgrade + o->refill;
}

static bool caches_hold(const struct wb_machine_state *s, const struct wb_topology *t, const region_id *r, char *why,
                        size_t nwhy)
{
    for (cpu_id c = 0; c < t->ncpus; c++)
        for (uint32_t l = 0; l < t->nlevels; l++) {
            uint64_t sum = 0;
            for (int k = 0; k < MANY_REGIONS; k++) {
                uint64_t here = wb_region_resident(s, r[k], c, l);
                sum += here;
                if (l + 1 < t->nlevels && here > wb_region_resident(s, r[k], c, l + 1)) {
                    snprintf(why, nwhy, "cpu %u: region %d has more in an inner cache", c, k);
                    return false;
                }
            }
            uint64_t size = t->cache[wb_topo_cache_of(t, c, l)].size;
            if (sum > size + MANY_REGIONS * 8) {
                snprintf(why, nwhy, "cpu %u level %u holds %llu of %llu bytes", c, l, (unsigned long long)sum,
                         (unsigned long long)size);
                return false;
            }
        }
    return true;
}

static bool touch_any(struct wb_machine_state *s, const struct prop_op *op, const region_id *r, char *why, size_t nwhy)
{
    struct wb_touch o, again;
    uint32_t region = (uint32_t)(op->a % MANY_REGIONS), size = (uint32_t)wb_region_bytes(s, r[region]);
    uint32_t off = (uint32_t)(op->b % size), n = (uint32_t)((op->b >> 32) % (size - off) + 1);
    cpu_id cpu = (cpu_id)(op->a >> 32) % wb_machine_ncpus(machine);
    struct wb_span span = {r[region], off, n};
    wb_region_touch(s, cpu, &span, op->kind & 1 ? WB_STREAM : WB_RANDOM, op->kind & 2 ? WB_WRITE : WB_READ, &o);
    if (!sums_up(&o, n)) {
        snprintf(why, nwhy, "the bytes or times of a touch do not add up");
        return false;
    }
    if (n > 4096 || n < 16) return true;
    wb_region_touch(s, cpu, &span, WB_STREAM, WB_READ, &again);
    if (again.hit_bytes[0] + again.hit_bytes[1] + again.hit_bytes[2] >= n - n / 4) return true;
    snprintf(why, nwhy, "%u bytes just touched, %llu of them hit", n,
             (unsigned long long)(again.hit_bytes[0] + again.hit_bytes[1] + again.hit_bytes[2]));
    return false;
}

static bool run_conservation(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    const struct wb_machine_sizes sizes = {.regions = MANY_REGIONS};
    struct wb_machine_state *s = wb_machine_state_new(machine, &sizes);
    region_id r[MANY_REGIONS];
    bool good = true;
    for (int k = 0; k < MANY_REGIONS; k++) r[k] = wb_region_new(s, 1 + (uint64_t)k * MANY_BYTES / MANY_REGIONS, "prop");
    for (size_t i = 0; i < n && good; i++) {
        uint32_t k = (uint32_t)(ops[i].a % MANY_REGIONS);
        if (ops[i].kind % 16 == 0) {
            wb_region_free(s, r[k]);
            r[k] = wb_region_new(s, 1 + ops[i].b % MANY_BYTES, "prop");
        } else if (ops[i].kind % 16 == 1 && k + 1 < MANY_REGIONS) {
            struct wb_touch o;
            uint32_t bytes = (uint32_t)WB_MIN(wb_region_bytes(s, r[k]), wb_region_bytes(s, r[k + 1]));
            struct wb_span src = {r[k], 0, bytes}, dst = {r[k + 1], 0, bytes};
            wb_region_copy(s, (cpu_id)(ops[i].b % wb_machine_ncpus(machine)), &src, &dst, &o);
            good = sums_up(&o, 2ull * bytes);
        } else {
            good = touch_any(s, &ops[i], r, why, nwhy);
        }
        if (good) good = caches_hold(s, wb_machine_topo(machine), r, why, nwhy);
    }
    wb_machine_state_free(s);
    return good;
}

static void conservation(void **state)
{
    (void)state;
    const struct property p = {"conservation", 120, make_any, run_conservation};
    machine = fixture_machine("pack:4 [numa] l3:2(size=131072) l2:2(size=32768) core:1 pu:2", NULL);
    bool good = prop_check(&p, 150);
    wb_machine_free(machine);
    assert_true(good);
}

/* ---- pages ---- */
enum { PAGES = 40, BATCH = 3, LOW = 2, HIGH = 8, POOL = PAGES + 2 * (HIGH + BATCH) };
struct list {
    uint32_t id[POOL], n; /* id[n - 1] is the hottest */
};

static void put_hot(struct list *l, uint32_t id)
{
    l->id[l->n++] = id;
}
static void put_cold(struct list *l, uint32_t id)
{
    memmove(l->id + 1, l->id, l->n++ * sizeof l->id[0]);
    l->id[0] = id;
}
static uint32_t take_cold(struct list *l)
{
    uint32_t id = l->id[0];
    memmove(l->id, l->id + 1, --l->n * sizeof l->id[0]);
    return id;
}

/* The twin numbers pages when they first are in a list; they get the number that others see when they are first given
 * out. */
struct page_twin {
    struct list cpu[2], common, used;
    uint32_t fresh, given;
    uint32_t seen[POOL]; /* number + 1, 0: not given yet */
};

static uint32_t twin_number(struct page_twin *w, uint32_t id)
{
    if (id == WB_NO_REGION) return id;
    if (!w->seen[id]) w->seen[id] = ++w->given;
    return w->seen[id] - 1;
}

static uint32_t twin_alloc(struct page_twin *w, cpu_id c)
{
    struct list *hot = &w->cpu[c];
    for (uint32_t i = 0, n = hot->n <= LOW ? BATCH : 0; i < n; i++) {
        if (w->common.n)
            put_cold(hot, w->common.id[--w->common.n]);
        else if (w->fresh < POOL)
            put_cold(hot, w->fresh++);
    }
    if (hot->n) return hot->id[--hot->n];
    if (w->common.n) return w->common.id[--w->common.n];
    return w->cpu[!c].n ? take_cold(&w->cpu[!c]) : WB_NO_REGION;
}

static void twin_free(struct page_twin *w, cpu_id c, uint32_t id)
{
    struct list *hot = &w->cpu[c];
    for (uint32_t i = 0, n = hot->n >= HIGH ? BATCH : 0; i < n; i++) put_hot(&w->common, take_cold(hot));
    put_hot(hot, id);
}

static bool run_pages(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    static struct page_twin w;
    const struct wb_machine_sizes sizes = {.pages = PAGES, .page_batch = BATCH, .page_low = LOW, .page_high = HIGH};
    struct wb_machine_state *s = wb_machine_state_new(machine, &sizes);
    bool good = true;
    memset(&w, 0, sizeof w);
    for (size_t i = 0; i < n && good; i++) {
        cpu_id c = ops[i].a & 1;
        if (ops[i].kind % 5 < 3) {
            uint32_t id = twin_alloc(&w, c), want = twin_number(&w, id), got = wb_page_alloc(s, c);
            good = want == got;
            if (!good) snprintf(why, nwhy, "alloc %zu: page %u, twin %u", i, got, want);
            if (id != WB_NO_REGION) put_hot(&w.used, id);
        } else if (w.used.n) {
            uint32_t k = (uint32_t)(ops[i].b % w.used.n), id = w.used.id[k];
            w.used.id[k] = w.used.id[--w.used.n];
            twin_free(&w, c, id);
            wb_page_free(s, c, twin_number(&w, id));
        }
    }
    wb_machine_state_free(s);
    return good;
}

static void pages(void **state)
{
    (void)state;
    const struct property p = {"pages", 400, make_any, run_pages};
    machine = fixture_machine("core:2 pu:1", NULL);
    bool good = prop_check(&p, 300);
    wb_machine_free(machine);
    assert_true(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mean_field), cmocka_unit_test(conservation),
                                       cmocka_unit_test(pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
