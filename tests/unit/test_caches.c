/* test_caches.c - regions in caches: cases computed by hand, displacement, copies, pages. */
#include "machine_fixture.h"

#include <math.h>

#include "decay.h"

#define KB 1024u

/* Prices that are whole picoseconds per byte: L1 100, L2 200, L3 500 (reads; writes twice that), other cache 1000 /
 * 1500, memory 2000 / 3000; a random access costs latency / 64 per byte. */
static struct wb_machine_spec plain_spec(void)
{
    struct wb_machine_spec s;
    wb_machine_spec_defaults(&s);
    const uint64_t gb = 1000000000ull;
    s.hit[0] = (struct wb_supply){10 * gb, 5 * gb, 640};
    s.hit[1] = (struct wb_supply){5 * gb, 5 * gb / 2, 6400};
    s.hit[2] = (struct wb_supply){2 * gb, gb, 12800};
    for (int d = WB_FAR_SMT; d < WB_DISTANCES; d++) {
        s.dirty[d] = (struct wb_supply){gb, gb * 2 / 3, 128000};
        s.clean[d] = (struct wb_supply){2 * gb, gb, 64000};
        s.upgrade[d] = 64000 * (sim_time)d;
    }
    s.memory[0] = (struct wb_supply){gb / 2, gb / 3, 64000};
    s.memory[1] = (struct wb_supply){gb / 4, gb / 5, 192000};
    s.copy_rate[0] = 4 * gb;
    s.copy_rate[1] = 2 * gb;
    s.copy_rate[2] = gb;
    s.upgrade_overlap = 4;
    s.mlp = 2;
    s.clean_forward = false;
    s.memory_bw.rate = 0;
    s.link.rate = 0;
    return s;
}

/* The machine of the hand cases: two packages on one bus, L1 32 KiB, L2 256 KiB, L3 1 MiB each. */
static struct wb_machine *bus_pair(void)
{
    struct wb_machine_spec s = plain_spec();
    s.bus_span = WB_BUS_MACHINE;
    s.bus.rate = 6400000000ull;
    return fixture_machine("[numa] pack:2 l3:1(size=1MiB) core:1 pu:1", &s);
}

static const struct wb_machine_sizes sizes = {.regions = 64, .pages = 64, .lines = 4};

static struct wb_touch touch(struct wb_machine_state *s, cpu_id cpu, region_id r, uint32_t off, uint32_t n,
                             enum wb_access access)
{
    struct wb_touch out;
    struct wb_span span = {r, off, n};
    wb_region_touch(s, cpu, &span, WB_STREAM, access, &out);
    assert_int_equal(out.total, out.core + out.upgrade + out.refill);
    sim_time staged = out.unstaged;
    for (uint32_t i = 0; i < out.nstages; i++) staged += out.stage[i].time;
    assert_int_equal(staged, out.refill);
    return out;
}

/* Two CPUs, one region of 8 KiB, every figure by hand. */
static void two_cpus_by_hand(void **state)
{
    (void)state;
    struct wb_machine *m = bus_pair();
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    region_id r = wb_region_new(s, 8 * KB, "buffer");
    /* cold write on CPU 0: all from memory, read for ownership at 3000 ps/B, over the bus */
    struct wb_touch o = touch(s, 0, r, 0, 8 * KB, WB_WRITE);
    assert_int_equal(o.memory_bytes[0], 8192);
    assert_int_equal(o.total, 8192 * 3000);
    assert_int_equal(o.nstages, 1);
    assert_int_equal(o.stage[0].bytes, 8192);
    assert_int_equal(o.stage[0].server[0], 0);
    assert_int_equal(o.stage[0].server[1], WB_NO_SERVER);
    /* read again: L1, 100 ps/B */
    o = touch(s, 0, r, 0, 8 * KB, WB_READ);
    assert_int_equal(o.hit_bytes[0], 8192);
    assert_int_equal(o.total, 8192 * 100);
    /* CPU 1 reads what CPU 0 modified: cache to cache, 1000 ps/B, over the bus */
    o = touch(s, 1, r, 0, 8 * KB, WB_READ);
    assert_int_equal(o.dirty_bytes[WB_FAR_NODE], 8192);
    assert_int_equal(o.total, 8192 * 1000);
    assert_int_equal(o.stage[0].bytes, 8192);
    /* both are clean now and both hit */
    assert_int_equal(touch(s, 0, r, 0, 8 * KB, WB_READ).total, 8192 * 100);
    assert_int_equal(touch(s, 1, r, 0, 8 * KB, WB_READ).total, 8192 * 100);
    /* CPU 1 writes its clean copy: 128 invalidations of 5 * 64 ns, four at a time, and the store at 200 ps/B */
    o = touch(s, 1, r, 0, 8 * KB, WB_WRITE);
    assert_int_equal(o.hit_bytes[0], 8192);
    assert_int_equal(o.upgrade_lines, 128);
    assert_int_equal(o.upgrade, 128 * 320000 / 4);
    assert_int_equal(o.total, 128 * 320000 / 4 + 8192 * 200);
    assert_int_equal(wb_region_resident(s, r, 0, 2), 0);
    /* writing once more is private: no upgrade */
    assert_int_equal(touch(s, 1, r, 0, 8 * KB, WB_WRITE).total, 8192 * 200);
    /* CPU 0 writes: fetched from CPU 1 for ownership at 1500 ps/B, CPU 1 has nothing left */
    o = touch(s, 0, r, 0, 8 * KB, WB_WRITE);
    assert_int_equal(o.dirty_bytes[WB_FAR_NODE], 8192);
    assert_int_equal(o.total, 8192 * 1500);
    assert_int_equal(wb_region_resident(s, r, 1, 0), 0);
    /* a random read there: 128 lines of 128 ns, two in flight */
    struct wb_span half = {r, 4 * KB, 4 * KB};
    wb_region_touch(s, 1, &half, WB_RANDOM, WB_READ, &o);
    assert_int_equal(o.dirty_bytes[WB_FAR_NODE], 4096);
    assert_int_equal(o.total, 64 * 128000 / 2);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* With MESI on a bus, clean lines of another cache come from memory; where caches forward, from there. */
static void clean_copies_and_memory(void **state)
{
    (void)state;
    for (int forward = 0; forward < 2; forward++) {
        struct wb_machine_spec spec = plain_spec();
        spec.clean_forward = forward;
        struct wb_machine *m = fixture_machine("[numa] pack:2 l3:1(size=1MiB) core:1 pu:1", &spec);
        struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
        region_id r = wb_region_new(s, 8 * KB, "buffer");
        touch(s, 0, r, 0, 8 * KB, WB_READ);
        struct wb_touch o = touch(s, 1, r, 0, 8 * KB, WB_READ);
        assert_int_equal(o.memory_bytes[0], forward ? 0 : 8192);
        assert_int_equal(o.clean_bytes[WB_FAR_NODE], forward ? 8192 : 0);
        assert_int_equal(o.total, forward ? 8192 * 500 : 8192 * 2000);
        wb_machine_state_free(s);
        wb_machine_free(m);
    }
}

/* The farthest copy decides what a write to shared bytes waits for, whoever read last. */
static void farthest_copy_decides(void **state)
{
    (void)state;
    struct wb_machine_spec spec = plain_spec();
    struct wb_machine *m = fixture_machine("[numa] pack:2 l3:1(size=1MiB) core:2 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    const cpu_id order[2][2] = {{1, 2}, {2, 1}};
    for (int i = 0; i < 2; i++) {
        region_id r = wb_region_new(s, 8 * KB, "shared");
        touch(s, 0, r, 0, 8 * KB, WB_READ);
        touch(s, order[i][0], r, 0, 8 * KB, WB_READ);
        touch(s, order[i][1], r, 0, 8 * KB, WB_READ);
        struct wb_touch o = touch(s, 0, r, 0, 8 * KB, WB_WRITE);
        assert_int_equal(o.upgrade_lines, 128);
        assert_int_equal(o.upgrade, 128 * 64000 * WB_FAR_NODE / 4);
    }
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* Cores on one L3: dirty bytes are fetched from the neighbour's L2 without any bus; once both are clean the L3
 * serves. */
static void dirty_below_a_shared_cache(void **state)
{
    (void)state;
    struct wb_machine_spec spec = plain_spec();
    struct wb_machine *m = fixture_machine("l3:1(size=1MiB) core:3 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    region_id r = wb_region_new(s, 8 * KB, "buffer");
    touch(s, 0, r, 0, 8 * KB, WB_WRITE);
    struct wb_touch o = touch(s, 1, r, 0, 8 * KB, WB_READ);
    assert_int_equal(o.dirty_bytes[WB_FAR_LLC], 8192);
    assert_int_equal(o.unstaged, 8192 * 1000);
    assert_int_equal(o.nstages, 0);
    o = touch(s, 2, r, 0, 8 * KB, WB_READ);
    assert_int_equal(o.hit_bytes[2], 8192);
    assert_int_equal(o.total, 8192 * 500);
    /* three clean copies: the write of one invalidates the others */
    o = touch(s, 2, r, 0, 8 * KB, WB_WRITE);
    assert_int_equal(o.upgrade_lines, 128);
    assert_int_equal(wb_region_resident(s, r, 0, 0), 0);
    assert_int_equal(wb_region_resident(s, r, 1, 1), 0);
    assert_int_equal(wb_region_resident(s, r, 0, 2), 8192);
    /* the modified bytes leave the writer's L2 (256 KiB) but not the L3: then they are plain hits there */
    region_id big = wb_region_new(s, 900 * KB, "sweep");
    touch(s, 2, big, 0, 900 * KB, WB_READ);
    o = touch(s, 0, r, 0, 8 * KB, WB_READ);
    assert_true(o.dirty_bytes[WB_FAR_LLC] < 800);
    assert_true(o.hit_bytes[2] > 7000);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* A buffer that is consumed piece by piece is exact: each piece is dirty on the other side until it is read. */
static void pieces_are_exact(void **state)
{
    (void)state;
    struct wb_machine *m = bus_pair();
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    region_id r = wb_region_new(s, 64 * KB, "buffer");
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(touch(s, 0, r, i * 16 * KB, 16 * KB, WB_WRITE).memory_bytes[0], 16 * KB);
    for (uint32_t i = 0; i < 4; i++) {
        struct wb_touch o = touch(s, 1, r, i * 16 * KB, 16 * KB, WB_READ);
        assert_int_equal(o.dirty_bytes[WB_FAR_NODE], 16 * KB);
    }
    assert_int_equal(wb_region_resident(s, r, 1, 1), 64 * KB);
    for (uint32_t i = 0; i < 4; i++) {
        struct wb_touch o = touch(s, 1, r, i * 16 * KB, 16 * KB, WB_WRITE);
        assert_int_equal(o.upgrade_lines, 256);
        assert_int_equal(wb_region_resident(s, r, 0, 2), (3 - i) * 16 * KB);
    }
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* Free room first; then n inserted bytes leave exp(-n / size) of what was there. */
static void displacement(void **state)
{
    (void)state;
    struct wb_machine *m = bus_pair();
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    region_id a = wb_region_new(s, 256 * KB, "a"), b = wb_region_new(s, 768 * KB, "b"),
              c = wb_region_new(s, 512 * KB, "c");
    touch(s, 0, a, 0, 256 * KB, WB_READ);
    touch(s, 0, b, 0, 768 * KB, WB_READ);
    assert_int_equal(wb_region_resident(s, a, 0, 2), 256 * KB); /* the 1 MiB L3 is exactly full */
    assert_int_equal(wb_region_resident(s, b, 0, 2), 768 * KB);
    touch(s, 0, c, 0, 512 * KB, WB_READ);
    double left = exp(-0.5);
    assert_true(fabs((double)wb_region_resident(s, a, 0, 2) - 256 * KB * left) < 8);
    assert_true(fabs((double)wb_region_resident(s, b, 0, 2) - 768 * KB * left) < 8);
    /* c displaced itself too: 1 MiB - (the others) */
    assert_true(fabs((double)wb_region_resident(s, c, 0, 2) - 1024 * KB * (1 - left)) < 8);
    /* freeing gives room back: what is inserted next displaces nothing */
    uint64_t had = wb_region_resident(s, a, 0, 2), room = wb_region_resident(s, b, 0, 2);
    wb_region_free(s, b);
    region_id d = wb_region_new(s, room, "d");
    touch(s, 0, d, 0, (uint32_t)room, WB_READ);
    assert_int_equal(wb_region_resident(s, a, 0, 2), had);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* A set larger than the L2 that is read over and over: with random replacement the steady miss rate m solves
 * m = 1 - exp(-m R / S). The model must come near it (R / S = 2: m = 0.797). */
static void larger_than_the_cache(void **state)
{
    (void)state;
    struct wb_machine *m = bus_pair();
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    region_id r = wb_region_new(s, 512 * KB, "loop");
    struct wb_touch o = {0};
    for (int i = 0; i < 10; i++) o = touch(s, 0, r, 0, 512 * KB, WB_READ);
    double miss = 1.0 - (double)(o.hit_bytes[0] + o.hit_bytes[1]) / (512 * KB);
    print_message("512 KiB loop in a 256 KiB cache: miss rate %.3f\n", miss);
    assert_true(miss > 0.70 && miss < 0.90);
    assert_int_equal(o.memory_bytes[0], 0);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* copy: half weight for each side at the level where it was; what had to be fetched runs at the L1 rate and adds its
 * refill. */
static void copies(void **state)
{
    (void)state;
    struct wb_machine *m = bus_pair();
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    region_id src = wb_region_new(s, 8 * KB, "src"), dst = wb_region_new(s, 8 * KB, "dst");
    struct wb_span from = {src, 0, 8 * KB}, to = {dst, 0, 8 * KB};
    struct wb_touch o;
    wb_region_copy(s, 0, &from, &to, &o);
    assert_int_equal(o.memory_bytes[0], 16384);
    assert_int_equal(o.core, 8192 * 250);
    assert_int_equal(o.refill, 8192 * 2000 + 8192 * 3000);
    wb_region_copy(s, 0, &from, &to, &o);
    assert_int_equal(o.total, 8192 * 250);
    /* the other CPU copies it back: dst is dirty over there, src clean over there (comes from memory, is invalidated
     * there) */
    wb_region_copy(s, 1, &to, &from, &o);
    assert_int_equal(o.dirty_bytes[WB_FAR_NODE], 8192);
    assert_int_equal(o.memory_bytes[0], 8192);
    assert_int_equal(o.total, 8192 * 250 + 8192 * 1000 + 8192 * 3000);
    assert_int_equal(wb_region_resident(s, src, 0, 2), 0);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* Home node: first toucher's. Remote memory crosses the requester's link and the home's controller. */
static void nodes(void **state)
{
    (void)state;
    struct wb_machine_spec spec = plain_spec();
    spec.memory_bw.rate = 10000000000ull;
    spec.link.rate = 5000000000ull;
    struct wb_machine *m = fixture_machine("pack:2 [numa] l3:1(size=1MiB) core:1 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    assert_int_equal(wb_server_count(s), 4);
    region_id r = wb_region_new(s, 8 * KB, "buffer");
    struct wb_touch o = touch(s, 1, r, 0, 8 * KB, WB_READ);
    assert_int_equal(o.memory_bytes[0], 8192);
    assert_string_equal(wb_server_name(s, o.stage[0].server[1]), "memory1");
    o = touch(s, 0, r, 0, 8 * KB, WB_READ);
    assert_int_equal(o.memory_bytes[1], 8192);
    assert_int_equal(o.total, 8192 * 4000);
    assert_string_equal(wb_server_name(s, o.stage[0].server[1]), "memory1");
    assert_string_equal(wb_server_name(s, o.stage[0].server[2]), "link0");
    touch(s, 0, r, 0, 8 * KB, WB_WRITE);
    o = touch(s, 1, r, 0, 8 * KB, WB_READ);
    assert_int_equal(o.dirty_bytes[WB_FAR_REMOTE], 8192);
    assert_string_equal(wb_server_name(s, o.stage[0].server[1]), "link1");
    assert_string_equal(wb_server_name(s, o.stage[0].server[2]), "link0");
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* The cap of a core on the bus limits whoever would be faster. */
static void core_cap(void **state)
{
    (void)state;
    struct wb_machine_spec spec = plain_spec();
    spec.bus_span = WB_BUS_MACHINE;
    spec.bus = (struct wb_bandwidth){6400000000ull, 250000000ull}; /* 4000 ps/B */
    struct wb_machine *m = fixture_machine("[numa] pack:2 l3:1(size=1MiB) core:1 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    region_id r = wb_region_new(s, 8 * KB, "buffer");
    struct wb_touch o = touch(s, 0, r, 0, 8 * KB, WB_READ);
    assert_int_equal(o.total, 8192 * 4000);
    assert_int_equal(wb_stage_demand(&o.stage[0]), 250000000);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* More holders than a region remembers: readers are forgotten, the modified copy never. */
static void holders_are_bounded(void **state)
{
    (void)state;
    struct wb_machine_spec spec = plain_spec();
    struct wb_machine *m = fixture_machine("[numa] pack:16 l3:1(size=1MiB) core:1 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    region_id r = wb_region_new(s, 16 * KB, "buffer");
    touch(s, 0, r, 0, 16 * KB, WB_WRITE);
    /* fifteen others read the first half: CPU 0 keeps the second half modified */
    for (cpu_id c = 1; c < 16; c++) touch(s, c, r, 0, 8 * KB, WB_READ);
    struct wb_touch o = touch(s, 15, r, 8 * KB, 8 * KB, WB_READ);
    assert_int_equal(o.dirty_bytes[WB_FAR_NODE], 8192);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* SMT siblings share all caches: no transfer between them. */
static void siblings_share(void **state)
{
    (void)state;
    struct wb_machine_spec spec = plain_spec();
    struct wb_machine *m = fixture_machine("l3:1(size=1MiB) core:2 pu:2", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    region_id r = wb_region_new(s, 8 * KB, "buffer");
    touch(s, 0, r, 0, 8 * KB, WB_WRITE);
    assert_int_equal(touch(s, 1, r, 0, 8 * KB, WB_WRITE).total, 8192 * 200);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* A page freed by a CPU is the next one it gets; long lists give their coldest pages back, empty ones take from the
 * node. */
static void page_lists(void **state)
{
    (void)state;
    struct wb_machine_spec spec = plain_spec();
    struct wb_machine *m = fixture_machine("[numa] pack:2 l3:1(size=1MiB) core:1 pu:1", &spec);
    struct wb_machine_sizes z = {.regions = 1, .pages = 40, .lines = 0, .page_bytes = 16 * KB};
    struct wb_machine_state *s = wb_machine_state_new(m, &z);
    region_id p[40];
    for (int i = 0; i < 30; i++) p[i] = wb_page_alloc(s, 0);
    for (int i = 0; i < 30; i++)
        for (int k = 0; k < i; k++) assert_int_not_equal(p[i], p[k]);
    assert_int_equal(wb_region_bytes(s, p[0]), 16 * KB);
    wb_page_free(s, 1, p[3]);
    wb_page_free(s, 1, p[4]);
    assert_int_equal(wb_page_alloc(s, 1), p[4]);
    assert_int_equal(wb_page_alloc(s, 1), p[3]);
    /* batch 4, high 24: the 25th free page of CPU 1 sends the four coldest back, which CPU 0 gets when its list is
     * short */
    struct wb_machine_state *fresh = wb_machine_state_new(m, &z);
    for (int i = 0; i < 40; i++) p[i] = wb_page_alloc(fresh, 0);
    for (int i = 0; i < 40; i++) assert_int_not_equal(p[i], WB_NO_REGION);
    for (int i = 0; i < 25; i++) wb_page_free(fresh, 1, p[i]);
    bool back = false;
    for (int i = 0; i < 16; i++) {
        region_id got = wb_page_alloc(fresh, 0);
        assert_true(got < p[4] || got > p[24] || got == p[0] || got == p[1] || got == p[2] || got == p[3]);
        back |= got == p[0];
    }
    assert_true(back);
    wb_machine_state_free(s);
    wb_machine_state_free(fresh);
    wb_machine_free(m);
}

/* The table driven exponential against libm. */
static void decay_tables(void **state)
{
    (void)state;
    for (uint64_t size = 1024; size < 1ull << 33; size = size * 5 + 3)
        for (double x = 1e-5; x < 30; x *= 1.3) {
            uint64_t n = (uint64_t)(x * (double)size);
            struct decay_size ds = decay_size_of(size);
            double want = exp(-(double)n / (double)size), got = (double)decay_factor(n, &ds) / 4294967296.0;
            assert_true(fabs(want - got) < 2e-6);
            if (!n) continue;
            double average = (1 - want) * (double)size / (double)n;
            assert_true(fabs(average - (double)decay_average(n, &ds) / 4294967296.0) < 3e-5);
        }
    struct decay_size one = decay_size_of(1);
    assert_true(decay_factor(0, &one) == DECAY_ONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_cpus_by_hand),
        cmocka_unit_test(clean_copies_and_memory),
        cmocka_unit_test(farthest_copy_decides),
        cmocka_unit_test(dirty_below_a_shared_cache),
        cmocka_unit_test(pieces_are_exact),
        cmocka_unit_test(displacement),
        cmocka_unit_test(larger_than_the_cache),
        cmocka_unit_test(copies),
        cmocka_unit_test(nodes),
        cmocka_unit_test(core_cap),
        cmocka_unit_test(holders_are_bounded),
        cmocka_unit_test(siblings_share),
        cmocka_unit_test(page_lists),
        cmocka_unit_test(decay_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
