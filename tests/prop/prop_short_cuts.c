/*
 * prop_short_cuts.c - the short ways of touches and copies against the long one.
 *
 * Two states of one machine get the same touches, copies, messages through pages, allocations and frees. One of them
 * may take short cuts (regions that nobody else holds, wb_region_*_cost, what a touch came to before), the other goes
 * by the book. Each cost and, after each operation, each byte of what caches and holders know must be the same.
 * Regions and caches are small, and messages come again and again, so that every short cut is taken often.
 * wb-link: wb_machine wb_core
 */
#include "machine_fixture.h"

#include "shapes.h"
#include "propcheck.h"

enum { REGIONS = 6, PAGES = 24, PIECE = 1024, PIECES = 8 };
enum { SIZE1 = 4096, SIZE2 = 16384, SIZE3 = 65536 };

static struct wb_machine *machine;

/* A state, and what lives in it. */
struct side {
    struct wb_machine_state *s;
    region_id region[REGIONS], page[PIECES];
    uint32_t pages; /* in use, a queue */
};

static struct side make_side(bool by_the_book)
{
    const struct wb_machine_sizes sizes = {
        .regions = REGIONS, .pages = PAGES, .page_bytes = PIECE, .page_batch = 2, .page_low = 2, .page_high = 6};
    struct side v = {.s = wb_machine_state_new(machine, &sizes)};
    v.s->by_the_book = by_the_book;
    for (uint32_t i = 0; i < REGIONS; i++) v.region[i] = wb_region_new(v.s, (uint64_t)PIECE * PIECES, "prop");
    return v;
}

/* As the engine asks: only what it costs. */
static struct wb_touch copy(struct side *v, cpu_id cpu, struct wb_span src, struct wb_span dst)
{
    struct wb_touch o = {0};
    if (v->s->by_the_book)
        wb_region_copy(v->s, cpu, &src, &dst, &o);
    else
        wb_region_copy_cost(v->s, cpu, &src, &dst, &o);
    o.total = o.core + o.upgrade + o.refill;
    return o;
}

static struct wb_touch touch(struct side *v, cpu_id cpu, struct wb_span span, const struct prop_op *op)
{
    struct wb_touch o = {0};
    enum wb_pattern pattern = op->b >> 20 & 1 ? WB_STREAM : WB_RANDOM;
    enum wb_access access = op->b >> 21 & 1 ? WB_READ : WB_WRITE;
    if (v->s->by_the_book)
        wb_region_touch(v->s, cpu, &span, pattern, access, &o);
    else
        wb_region_touch_cost(v->s, cpu, &span, pattern, access, &o);
    o.total = o.core + o.upgrade + o.refill;
    return o;
}

static bool same_cost(const struct wb_touch *a, const struct wb_touch *b)
{
    if (a->core != b->core || a->upgrade != b->upgrade || a->refill != b->refill || a->total != b->total) return false;
    if (a->unstaged != b->unstaged || a->nstages != b->nstages) return false;
    return !memcmp(a->stage, b->stage, a->nstages * sizeof a->stage[0]);
}

static bool same_extent(const struct extent *a, const struct extent *b)
{
    if (!a->len || !b->len) return a->len == b->len;
    return a->start == b->start && a->len == b->len && a->bytes == b->bytes && a->dirty == b->dirty;
}

static bool same_region(const struct wb_machine_state *a, const struct wb_machine_state *b, region_id id)
{
    struct region *r = &a->region[id], *q = &b->region[id];
    uint32_t n = shapes_count(a, r);
    if (n != shapes_count(b, q) || r->touches != q->touches || r->home != q->home) return false;
    for (uint32_t k = 0; k < n; k++) {
        struct extent rest, other;
        struct holder h = shapes_holder(a, r, k, &rest), g = shapes_holder(b, q, k, &other);
        if (h.cache != g.cache || h.stamp != g.stamp || h.used != g.used) return false;
        if (!same_extent(&h.run, &g.run) || !same_extent(&rest, &other)) return false;
    }
    return true;
}

static bool same_state(const struct wb_machine_state *a, const struct wb_machine_state *b)
{
    for (uint32_t i = 0; i < wb_machine_topo(machine)->ncaches; i++)
        if (a->cache[i].clock != b->cache[i].clock || a->cache[i].free != b->cache[i].free) return false;
    for (region_id id = 0; id < REGIONS; id++)
        if (!same_region(a, b, id)) return false;
    for (uint32_t p = 0; p < a->pages_given; p++)
        if (!same_region(a, b, a->sizes.regions + p)) return false;
    return a->pages_given == b->pages_given;
}

/* One piece of a message, in or out: its cost, summed into *sum. */
static void piece(struct side *v, cpu_id cpu, struct wb_span buf, bool in, struct wb_touch *o)
{
    if (in) {
        region_id page = v->page[v->pages++] = wb_page_alloc(v->s, cpu);
        *o = copy(v, cpu, buf, (struct wb_span){page, 0, buf.bytes});
        return;
    }
    region_id page = v->page[0];
    memmove(v->page, v->page + 1, --v->pages * sizeof page);
    *o = copy(v, cpu, (struct wb_span){page, 0, buf.bytes}, buf);
    wb_page_free(v->s, cpu, page);
}

/* A buffer goes through pages into another one. */
static bool message(struct side *v, const struct prop_op *op)
{
    cpu_id ncpus = wb_machine_ncpus(machine);
    cpu_id cpu[2] = {(cpu_id)(op->b % ncpus), (cpu_id)((op->b >> 8 & 1 ? op->b : op->b >> 9) % ncpus)};
    uint32_t from = (uint32_t)(op->a % REGIONS), to = (from + 1) % REGIONS;
    uint32_t pieces = (uint32_t)(op->a >> 16) % PIECES + 1, last = op->a >> 24 & 1 ? PIECE : 700;
    for (int in = 1; in >= 0; in--) {
        for (uint32_t i = 0; i < pieces; i++) {
            struct wb_touch o[2];
            for (int k = 0; k < 2; k++) {
                region_id r = v[k].region[in ? from : to];
                piece(&v[k], cpu[!in], (struct wb_span){r, i * PIECE, i + 1 < pieces ? PIECE : last}, in, &o[k]);
            }
            if (!same_cost(&o[0], &o[1])) return false;
        }
    }
    return true;
}

static bool single(struct side *v, const struct prop_op *op)
{
    uint32_t k = (uint32_t)(op->a % REGIONS), off = (uint32_t)(op->a >> 8) % (PIECE * PIECES);
    uint32_t n = (uint32_t)(op->a >> 32) % (PIECE * PIECES - off) + 1;
    if (op->b >> 30 & 1) { /* whole pieces */
        off &= ~(PIECE - 1u);
        n = PIECE;
    }
    cpu_id cpu = (cpu_id)(op->b % wb_machine_ncpus(machine));
    struct wb_touch o[2];
    for (int i = 0; i < 2; i++) {
        struct wb_span span = {v[i].region[k], off, n}, other = {v[i].region[(k + 1) % REGIONS], off, n};
        o[i] = op->kind % 8 == 0 ? copy(&v[i], cpu, span, other) : touch(&v[i], cpu, span, op);
    }
    return same_cost(&o[0], &o[1]);
}

static void renew(struct side *v, uint32_t k)
{
    for (int i = 0; i < 2; i++) {
        wb_region_free(v[i].s, v[i].region[k]);
        v[i].region[k] = wb_region_new(v[i].s, (uint64_t)PIECE * PIECES, "prop");
    }
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    struct side v[2] = {make_side(false), make_side(true)};
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        const struct prop_op *op = &ops[i];
        bool cost = true;
        if (op->kind % 8 >= 4) /* the same few messages over and over */
            for (uint64_t k = 0; k < 1 + op->kind / 8 % 4 && cost; k++) cost = message(v, op);
        else if (op->kind % 64 == 1)
            renew(v, (uint32_t)(op->a % REGIONS));
        else
            cost = single(v, op);
        good = cost && same_state(v[0].s, v[1].s);
        if (!good)
            snprintf(why, nwhy, "operation %zu of kind %u: another %s", i, op->kind % 8, cost ? "state" : "cost");
    }
    for (int k = 0; k < 2; k++) wb_machine_state_free(v[k].s);
    return good;
}

static struct prop_op make(struct prop_rng *r)
{
    struct prop_op op = {.kind = (uint32_t)prop_u64(r), .a = prop_u64(r), .b = prop_u64(r)};
    if (op.kind % 8 >= 6) op.a = op.b = op.kind / 8 % 3; /* three messages that come again */
    if (op.kind % 8 == 2) {                              /* one of two pieces as a whole: many alike */
        op.a &= ~(uint64_t)0xffff00 | PIECE << 8;
        op.b |= 1ull << 30;
    }
    if (op.kind % 8 == 3) { /* a control block or a few bytes of data, in the same places again and again */
        static const uint16_t off[] = {0, 0, 320, 64}, n[] = {256, 63, 0, 127};
        op.a = (op.a & 0xff) | (uint64_t)off[op.a >> 8 & 3] << 8 | (uint64_t)n[op.a >> 16 & 3] << 32;
        op.b &= ~(1ull << 30);
    }
    return op;
}

/* A machine whose caches have these sizes; memory: bytes/s that a node gives, 0 = all there is. */
static void check(const char *topology, uint64_t size1, uint64_t size2, uint64_t memory)
{
    const struct property p = {"short cuts", 120, make, run};
    struct wb_topo_options opt = {.cache_size = {size1, size2, SIZE3}, .line = 64};
    struct wb_machine_spec spec;
    wb_machine_spec_defaults(&spec);
    spec.memory_bw.rate = memory;
    struct wb_diag *d = wb_diag_new();
    machine = wb_machine_new(wb_topo_from_synthetic(topology, &opt, d), &spec, d);
    assert_non_null(machine);
    wb_diag_free(d);
    bool good = prop_check(&p, 200);
    wb_machine_free(machine);
    assert_true(good);
}

static void one_cache_for_all(void **state)
{
    (void)state;
    check("[numa] pack:1 l3:1(size=65536) core:2 pu:1", SIZE1, SIZE2, 0);
}

static void two_nodes(void **state)
{
    (void)state;
    check("[numa] pack:2 l3:1(size=65536) core:2 pu:2", SIZE1, SIZE2, 0);
}

static void slow_memory(void **state)
{
    (void)state;
    check("[numa] pack:1 l3:1(size=65536) core:2 pu:1", SIZE1, SIZE2, 1000000000);
}

static void outermost_fits(void **state)
{
    (void)state;
    check("[numa] pack:1 l3:1(size=4194304) core:2 pu:1", SIZE1, SIZE2, 0);
}

/* Nothing is displaced, so that regions are often alike in all but what is done to them, and where their home is. */
static void everything_fits(void **state)
{
    (void)state;
    check("pack:2 [numa] l3:1(size=4194304) core:2 pu:1", 1 << 20, 1 << 20, 0);
}

/* Nothing is displaced for long, and then it is. */
static void fills_late(void **state)
{
    (void)state;
    check("pack:2 [numa] l3:1(size=4194304) core:2 pu:1", 24 << 10, 32 << 10, 0);
}

/* What the second level has lost counts as lost in the first. */
static void narrow_second_level(void **state)
{
    (void)state;
    check("[numa] pack:1 l3:1(size=65536) core:2 pu:1", SIZE1, SIZE1 / 2, 0);
}

/* One touch on both sides: same cost, same state. */
static void both(struct side *v, cpu_id cpu, uint32_t region, uint32_t off, uint32_t n, bool write)
{
    const struct prop_op op = {.b = write ? 0 : 1ull << 21};
    struct wb_touch o[2];
    for (int i = 0; i < 2; i++) o[i] = touch(&v[i], cpu, (struct wb_span){v[i].region[region], off, n}, &op);
    assert_true(same_cost(&o[0], &o[1]));
    assert_true(same_state(v[0].s, v[1].s));
}

/*
 * Two CPUs write a piece in turn until each of these steps is known; then the own caches of one of them fill up with
 * something else while the piece is with the other. The next step is the known one, from the same shape, but it has to
 * displace, as the first touch that does: the shape of a region does not tell what else is in the caches.
 */
static void a_known_step_needs_room(void **state)
{
    (void)state;
    struct wb_topo_options opt = {.cache_size = {SIZE1, SIZE2, SIZE3}, .line = 64};
    struct wb_machine_spec spec;
    wb_machine_spec_defaults(&spec);
    struct wb_diag *d = wb_diag_new();
    machine = wb_machine_new(wb_topo_from_synthetic("[numa] pack:1 l3:1(size=4194304) core:2 pu:1", &opt, d), &spec, d);
    assert_non_null(machine);
    wb_diag_free(d);
    struct side v[2] = {make_side(false), make_side(true)};
    for (int i = 0; i < 20; i++) both(v, (cpu_id)(i % 2), 0, 0, PIECE, true);
    both(v, 0, 1, 0, SIZE1, true); /* all of CPU 0's first cache, and nothing displaced yet */
    for (int i = 0; i < 20; i++) both(v, (cpu_id)(i % 2), 0, 0, PIECE, true);
    for (int k = 0; k < 2; k++) wb_machine_state_free(v[k].s);
    wb_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cache_for_all),   cmocka_unit_test(two_nodes),
        cmocka_unit_test(slow_memory),         cmocka_unit_test(outermost_fits),
        cmocka_unit_test(everything_fits),     cmocka_unit_test(fills_late),
        cmocka_unit_test(narrow_second_level), cmocka_unit_test(a_known_step_needs_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
