/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/*
 * Two CPUs and 8 KiB that both use: every touch takes what it costs by hand, and the time is in the category where it
 * belongs.
 *
 * Prices per byte: first-level hits 100 ps (reads) and 200 ps (writes), memory 2000 and 3000 ps, the other CPU's cache
 * 1000 and 1500 ps. Taking 128 shared lines away from the other CPU: 64 ns each, four at a time.
 */
#include "wbtest.h"

#include "steptest.h"
#include "testpol.h"

#define BYTES 8192u
#define GAP (100 * WB_US)

static const struct touching {
    cpu_id cpu;
    int access;
    sim_time want;
    const char *what;
    enum wb_cat cat;
} touching[] = {
    {0, WB_WRITE, BYTES * 3000, "cold write", WB_CAT_REFILL},
    {0, WB_READ, BYTES * 100, "own read", WB_CAT_COPY},
    {1, WB_READ, BYTES * 1000, "read of what the other modified", WB_CAT_REFILL},
    {0, WB_READ, BYTES * 100, "read of what both have", WB_CAT_COPY},
    {1, WB_WRITE, 128 * 64000 / 4 + BYTES * 200, "write of what both have", WB_CAT_LINE},
    {1, WB_WRITE, BYTES * 200, "write of what is its own", WB_CAT_COPY},
    {0, WB_WRITE, BYTES * 1500, "write of what the other modified", WB_CAT_REFILL},
    {1, WB_READ, BYTES * 1000, "read of what the other modified again", WB_CAT_REFILL},
};
#define TOUCHES WB_ARRAY_SIZE(touching)

struct shared {
    uint32_t region;
    sim_time took[TOUCHES];
};

static void setup(struct steptest *t, struct wb_sim *s)
{
    struct shared *h = t->own;
    h->region = wb_sim_region(s, BYTES, "shared");
}

/* Touch i happens at (i + 1) * GAP, on the CPU whose turn it is. */
static enum wb_ret touch_step(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct shared *h = f->t->own;
    WB_BEGIN(f);
    for (f->i = 0; f->i < TOUCHES; f->i++) {
        if (touching[f->i].cpu != x->cpu) continue;
        WB_USER(x, f, (f->i + 1) * GAP - wb_now(x));
        f->seen = wb_now(x);
        WB_TOUCH(x, f, WB_SPAN(h->region, 0, BYTES), WB_STREAM, touching[f->i].access, WB_FN_COPY_USER);
        WB_FLUSH(x, f);
        h->took[f->i] = wb_now(x) - f->seen;
    }
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static void run(struct shared *h, const struct wb_run_options *opt, sim_time by_cat[WB_CAT_N])
{
    static const char *const prices[] = {
        "machine.cache.l1.read=10 GB/s",    "machine.cache.l1.write=5 GB/s",
        "machine.memory.read=0.5 GB/s",     "machine.memory.write=0.3333333333333 GB/s",
        "machine.transfer.llc.read=1 GB/s", "machine.transfer.llc.write=0.6666666666667 GB/s",
        "machine.line.transfer.llc=64 ns",  "machine.line.upgrade_overlap=4",
        "machine.memory.rate=0 B/s",        NULL};
    struct steps_task task[] = {{.name = "a", .step = touch_step, .cpu = 0, .pinned = true},
                                {.name = "b", .step = touch_step, .cpu = 1, .pinned = true}};
    struct steptest t = {
        .task = task, .n = 2, .cpus = 2, .scheduler = "testpol", .sets = prices, .setup = setup, .own = h};
    steptest_build(&t, opt);
    assert_int_equal(wb_sim_run(t.sim.sim), 0);
    const struct wb_result *r = wb_sim_result(t.sim.sim);
    for (int k = 0; k < WB_CAT_N; k++) by_cat[k] = r->cat_time[0][k] + r->cat_time[1][k];
    steptest_free(&t);
}

static void each_touch_by_hand(void **state)
{
    (void)state;
    for (int posted = 0; posted < 2; posted++) {
        struct shared h = {.region = 0};
        sim_time got[WB_CAT_N], want[WB_CAT_N] = {0};
        run(&h, &(struct wb_run_options){.audit = true, .no_inline = posted}, got);
        for (size_t i = 0; i < TOUCHES; i++) {
            const struct touching *k = &touching[i];
            sim_time line = k->cat == WB_CAT_LINE ? 128 * 64000 / 4 : 0;
            if (h.took[i] != k->want)
                fail_msg("%s: %g ns, want %g", k->what, (double)h.took[i] / 1e3, (double)k->want / 1e3);
            want[WB_CAT_LINE] += line;
            want[k->cat == WB_CAT_LINE ? WB_CAT_COPY : k->cat] += k->want - line;
        }
        assert_int_equal(got[WB_CAT_REFILL], want[WB_CAT_REFILL]);
        assert_int_equal(got[WB_CAT_COPY], want[WB_CAT_COPY]);
        assert_int_equal(got[WB_CAT_LINE], want[WB_CAT_LINE]);
    }
}

int main(void)
{
    static const struct wb_policy_ops *const policies[] = {&testpol_ops, NULL};
    simtest_policies = policies;
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_touch_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
