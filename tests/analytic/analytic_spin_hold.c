/* wb-link: wb_workload wb_ipc wb_sched wb_experiment wb_scenario wb_kernel wb_machine wb_trace wb_measure wb_core */
/*
 * Who waits for a lock, a line or a bus is served in order of time, and waits as long as the holder really holds:
 * an interrupt that stretches the hold stretches the wait by the same picoseconds. All with segments run inline and
 * posted as events.
 */
#include "wbtest.h"

#include "steptest.h"
#include "testpol.h"

enum { INLINE, POSTED, MODES };
static const struct wb_run_options modes[MODES] = {{.audit = true}, {.audit = true, .no_inline = true}};

/* One interrupt on CPU 0 after 5 ms, of 7 us; the next one is beyond the end. */
#define NOISE "noise = ( { cpu = 0; gap = \"5 ms\"; cost = \"7 us\"; } );"

/* ---- a held lock ---- */

struct held {
    struct wb_spinlock lock;
    sim_time taken[4], dropped[4];
    bool irqs_off; /* spin_lock_irqsave */
};

static void held_setup(struct steptest *t, struct wb_sim *s)
{
    struct held *h = t->own;
    wb_spin_init(s, &h->lock);
}

/* arg: when to ask, how long to hold. */
static enum wb_ret hold_step(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct held *h = f->t->own;
    WB_BEGIN(f);
    WB_USER(x, f, f->me->arg[0] - wb_now(x));
    x->user = 0;
    if (h->irqs_off) wb_irq_disable(x);
    WB_SPIN_LOCK(x, f, &h->lock);
    WB_FLUSH(x, f);
    h->taken[f->me - f->t->task] = wb_now(x);
    wb_charge(x, WB_FN_SYSCALL_ENTRY, WB_CAT_SYSCALL, f->me->arg[1]);
    WB_SPIN_UNLOCK(x, f, &h->lock);
    h->dropped[f->me - f->t->task] = wb_now(x);
    if (h->irqs_off) wb_irq_enable(x);
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

/* A holds from 4 ms for 2 ms, B asks at 4.5 ms. Returns when B got it; *a: when A dropped it. */
static sim_time second_owner(const char *kernel, bool irqs_off, const char *const *sets, int mode, sim_time *a)
{
    struct held h = {.irqs_off = irqs_off};
    struct steps_task task[] = {
        {.name = "a", .step = hold_step, .cpu = 0, .pinned = true, .arg = {4 * WB_MS, 2 * WB_MS}},
        {.name = "b", .step = hold_step, .cpu = 1, .pinned = true, .arg = {4 * WB_MS + 500 * WB_US, 0}}};
    struct steptest t = {.task = task,
                         .n = 2,
                         .cpus = 2,
                         .scheduler = "testpol",
                         .kernel = kernel,
                         .sets = sets,
                         .setup = held_setup,
                         .own = &h,
                         .run = "horizon = \"9 ms\";"};
    steptest_build(&t, &modes[mode]);
    assert_int_equal(wb_sim_run(t.sim.sim), 0);
    assert_false(wb_spin_is_held(&h.lock));
    *a = h.dropped[0];
    sim_time got = h.taken[1];
    steptest_free(&t);
    return got;
}

static void an_interrupt_stretches_the_hold(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        sim_time a;
        assert_int_equal(second_owner(NULL, false, NULL, mode, &a), 6 * WB_MS);
        assert_int_equal(a, 6 * WB_MS);
        assert_int_equal(second_owner(NOISE, false, NULL, mode, &a), 6 * WB_MS + 7 * WB_US);
        assert_int_equal(a, 6 * WB_MS + 7 * WB_US);
    }
}

/* With entry, locks and lines at odd prices the difference is still the interrupt: its entry and its work. */
static void by_exactly_its_length(void **state)
{
    (void)state;
    static const char *const sets[] = {"kernel.path.irq_entry=251 ns",   "machine.line.rmw=13 ns",
                                       "machine.line.write=7 ns",        "machine.line.transfer.llc=91 ns",
                                       "kernel.path.syscall_entry=3 ns", NULL};
    for (int mode = 0; mode < MODES; mode++) {
        sim_time a, b;
        sim_time calm = second_owner(NULL, false, sets, mode, &a), noisy = second_owner(NOISE, false, sets, mode, &b);
        assert_true(calm > 6 * WB_MS + 91 * WB_NS);
        assert_int_equal(noisy - calm, 7 * WB_US + 251 * WB_NS);
        assert_int_equal(b - a, 7 * WB_US + 251 * WB_NS);
    }
}

/* With interrupts off it comes after the hold: nobody waits longer. */
static void not_with_interrupts_off(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        sim_time a;
        assert_int_equal(second_owner(NOISE, true, NULL, mode, &a), 6 * WB_MS);
        assert_int_equal(a, 6 * WB_MS);
    }
}

/* ---- many who ask ---- */

#define ASKERS 4
#define ROUNDS 60

struct request {
    sim_time asked, served;
    uint32_t who;
};
struct queue {
    struct wb_spinlock lock;
    uint32_t line, region[ASKERS];
    struct request log[ASKERS * ROUNDS]; /* in the order in which they were asked */
    uint32_t asked;
    uint32_t order[ASKERS * ROUNDS]; /* index in `log` in the order in which they were served */
    uint32_t served;
    struct wb_stream rng[ASKERS];
};

static void queue_setup(struct steptest *t, struct wb_sim *s)
{
    struct queue *q = t->own;
    wb_spin_init(s, &q->lock);
    q->line = wb_sim_line(s);
    for (uint32_t i = 0; i < ASKERS; i++) q->rng[i] = wb_sim_stream(s, i, WB_PURPOSE('a', 's', 'k', 's'));
}

static uint32_t ask(struct wb_exec *x, struct steps_frame *f)
{
    struct queue *q = f->t->own;
    uint32_t me = (uint32_t)(f->me - f->t->task);
    q->log[q->asked] = (struct request){.asked = wb_now(x), .who = me};
    return q->asked++;
}

static void serve(struct wb_exec *x, struct steps_frame *f)
{
    struct queue *q = f->t->own;
    q->log[f->seen].served = wb_now(x);
    q->order[q->served++] = (uint32_t)f->seen;
}

static sim_time think(struct steps_frame *f)
{
    struct queue *q = f->t->own;
    return 1 + wb_draw_below(&q->rng[f->me - f->t->task], 3 * WB_US);
}

static enum wb_ret lock_step(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct queue *q = f->t->own;
    WB_BEGIN(f);
    for (f->i = 0; f->i < ROUNDS; f->i++) {
        WB_USER(x, f, think(f));
        f->seen = ask(x, f);
        WB_SPIN_LOCK(x, f, &q->lock);
        WB_FLUSH(x, f);
        serve(x, f);
        wb_charge(x, WB_FN_USER, WB_CAT_USER, think(f) / 4);
        WB_SPIN_UNLOCK(x, f, &q->lock);
    }
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static enum wb_ret line_step(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct queue *q = f->t->own;
    WB_BEGIN(f);
    for (f->i = 0; f->i < ROUNDS; f->i++) {
        WB_USER(x, f, think(f));
        f->seen = ask(x, f);
        WB_LINE(x, f, q->line, WB_LINE_RMW, WB_FN_USER);
        WB_FLUSH(x, f);
        serve(x, f);
    }
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

/* Interrupts come too: who spins for a queued lock gets it in its turn, even while it is away in one. A line that has
 * come over while its CPU was interrupted is seen late, so that test has none. */
static void run_queue(struct queue *q, wb_step_fn step, const char *const *sets, int mode)
{
    static const char noise[] = "noise = ( { gap = \"exp(20 us)\"; cost = \"uniform(1 us, 3 us)\"; } );";
    struct steps_task task[ASKERS];
    for (uint32_t i = 0; i < ASKERS; i++)
        task[i] = (struct steps_task){.name = "asker", .step = step, .cpu = i, .pinned = true};
    struct steptest t = {.task = task,
                         .n = ASKERS,
                         .cpus = ASKERS,
                         .scheduler = "testpol",
                         .kernel = step == lock_step ? noise : NULL,
                         .sets = sets,
                         .setup = queue_setup,
                         .own = q};
    steptest_build(&t, &modes[mode]);
    assert_int_equal(wb_sim_run(t.sim.sim), 0);
    if (mode == POSTED) assert_int_equal(wb_sim_result(t.sim.sim)->inlined, 0);
    if (mode == INLINE) assert_true(wb_sim_result(t.sim.sim)->inlined > ROUNDS);
    steptest_free(&t);
}

/* Asked in order of time; served in the order asked; the same in both modes. Returns how many had to wait. */
static uint32_t check_order(wb_step_fn step, const char *const *sets, sim_time free_time)
{
    static struct queue q[MODES];
    uint32_t waited = 0;
    memset(q, 0, sizeof q);
    for (int mode = 0; mode < MODES; mode++) {
        run_queue(&q[mode], step, sets, mode);
        assert_int_equal(q[mode].asked, ASKERS * ROUNDS);
        assert_int_equal(q[mode].served, ASKERS * ROUNDS);
    }
    for (uint32_t i = 0; i < q[0].asked; i++) {
        const struct request *r = &q[0].log[i];
        if (i) assert_true(r->asked >= r[-1].asked);
        assert_int_equal(q[0].order[i], i);
        waited += r->served - r->asked > free_time;
    }
    assert_memory_equal(q[INLINE].log, q[POSTED].log, sizeof q[0].log);
    assert_memory_equal(q[INLINE].order, q[POSTED].order, sizeof q[0].order);
    return waited;
}

static void a_lock_is_handed_on_in_order(void **state)
{
    (void)state;
    static const char *const sets[] = {"kernel.spinlock=queued", "machine.line.transfer.llc=40 ns", NULL};
    assert_true(check_order(lock_step, sets, 40 * WB_NS) > ROUNDS / 2);
}

static void a_line_moves_in_order(void **state)
{
    (void)state;
    static const char *const sets[] = {"machine.line.transfer.llc=400 ns", "machine.line.rmw=30 ns", NULL};
    assert_true(check_order(line_step, sets, 430 * WB_NS) > ROUNDS / 2);
}

/* ---- a bus ---- */

struct bus {
    uint32_t region[2];
    sim_time done[2];
};

static void bus_setup(struct steptest *t, struct wb_sim *s)
{
    struct bus *b = t->own;
    for (uint32_t i = 0; i < t->n; i++) b->region[i] = wb_sim_region(s, 1 << 20, "data");
}

static enum wb_ret bus_step(struct wb_exec *x, void *frame)
{
    struct steps_frame *f = frame;
    struct bus *b = f->t->own;
    WB_BEGIN(f);
    WB_USER(x, f, f->me->arg[0] - wb_now(x));
    WB_TOUCH(x, f, WB_SPAN(b->region[f->me - f->t->task], 0, 1 << 20), WB_STREAM, WB_READ, WB_FN_MEMORY);
    WB_FLUSH(x, f);
    b->done[f->me - f->t->task] = wb_now(x);
    WB_CALL(x, f, steps_end(x));
    WB_END();
}

static void run_bus(struct bus *b, uint32_t n, sim_time second, int mode)
{
    static const char *const sets[] = {"machine.memory.rate=0 B/s", "machine.memory.read=4 GB/s", NULL};
    struct steps_task task[] = {{.name = "a", .step = bus_step, .cpu = 0, .pinned = true, .arg = {WB_MS}},
                                {.name = "b", .step = bus_step, .cpu = 1, .pinned = true, .arg = {WB_MS + second}}};
    struct steptest t = {.task = task,
                         .n = n,
                         .cpus = 2,
                         .scheduler = "testpol",
                         .machine = "bus : { span = \"machine\"; rate = \"1 GB/s\"; core_rate = \"1 GB/s\"; };",
                         .sets = sets,
                         .setup = bus_setup,
                         .own = b};
    steptest_build(&t, &modes[mode]);
    assert_int_equal(wb_sim_run(t.sim.sim), 0);
    steptest_free(&t);
}

/* Alone a transfer takes D. Two of them, the second at t < D: they share the bus from then on, so the first ends at
 * 2 D - t and the second, which has it to itself after that, at 2 D. */
static void two_share_a_bus(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        struct bus alone = {.done = {0}}, both = {.done = {0}};
        sim_time second = 300 * WB_US;
        run_bus(&alone, 1, 0, mode);
        run_bus(&both, 2, second, mode);
        sim_time d = alone.done[0] - WB_MS;
        assert_near((double)d, 1048576e3, 1048576e3 / 1000); /* 1 MiB at 1 GB/s */
        assert_near((double)both.done[0], (double)(WB_MS + 2 * d - second), 1e3);
        assert_near((double)both.done[1], (double)(WB_MS + 2 * d), 1e3);
    }
}

int main(void)
{
    static const struct wb_policy_ops *const policies[] = {&testpol_ops, NULL};
    simtest_policies = policies;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interrupt_stretches_the_hold), cmocka_unit_test(by_exactly_its_length),
        cmocka_unit_test(not_with_interrupts_off),         cmocka_unit_test(a_lock_is_handed_on_in_order),
        cmocka_unit_test(a_line_moves_in_order),           cmocka_unit_test(two_share_a_bus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
