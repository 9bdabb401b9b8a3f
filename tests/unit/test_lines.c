/* test_lines.c - contended lines: queue, transfers by distance, sharers, and the throughput laws that follow. */
#include "machine_fixture.h"

static const struct wb_machine_sizes sizes = {.lines = 6000};

static struct wb_machine_spec line_spec(void)
{
    struct wb_machine_spec s;
    wb_machine_spec_defaults(&s);
    s.line_read = 1000;
    s.line_write = 1500;
    s.rmw_locked = 8000;
    s.rmw_plain = 2500;
    for (int d = WB_FAR_SMT; d < WB_DISTANCES; d++) {
        s.dirty[d].latency = 20000 * (sim_time)d;
        s.clean[d].latency = 15000 * (sim_time)d;
        s.upgrade[d] = 18000 * (sim_time)d;
    }
    s.memory[0].latency = 90000;
    return s;
}

static struct wb_line_cost use(struct wb_machine_state *s, cpu_id cpu, line_id l, enum wb_line_op op, sim_time now)
{
    struct wb_line_cost c;
    wb_line_access(s, cpu, l, op, now, &c);
    assert_int_equal(c.done, now + c.queue + c.transfer + c.local);
    return c;
}

static void owner_sharers_and_memory(void **state)
{
    (void)state;
    struct wb_machine_spec spec = line_spec();
    struct wb_machine *m = fixture_machine("[numa] pack:2 l3:1 core:2 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    line_id l = wb_line_new(s);
    assert_int_equal(use(s, 0, l, WB_LINE_RMW, 0).transfer, 90000);  /* out of memory */
    assert_int_equal(use(s, 0, l, WB_LINE_RMW, 200000).local, 8000); /* owned: the uncontended price */
    assert_int_equal(use(s, 0, l, WB_LINE_RMW_PLAIN, 300000).local, 2500);
    assert_int_equal(use(s, 0, l, WB_LINE_WRITE, 310000).local, 1500);
    assert_int_equal(use(s, 0, l, WB_LINE_READ, 320000).local, 1000); /* a read by the owner keeps it modified */
    assert_int_equal(wb_line_owner(s, l), 0);
    struct wb_line_cost c = use(s, 1, l, WB_LINE_READ, 400000); /* same last level */
    assert_int_equal(c.transfer, 60000);
    assert_int_equal(c.from, WB_FAR_LLC);
    assert_int_equal(wb_line_owner(s, l), WB_NO_CPU);
    assert_int_equal(use(s, 0, l, WB_LINE_READ, 500000).local, 1000); /* both share it now */
    assert_int_equal(use(s, 1, l, WB_LINE_READ, 500000).local, 1000);
    assert_int_equal(use(s, 2, l, WB_LINE_READ, 600000).transfer, 75000); /* clean, from the other package */
    /* CPU 1 writes: invalidates 0 (near) and 2 (far): the farthest decides */
    c = use(s, 1, l, WB_LINE_RMW, 700000);
    assert_int_equal(c.transfer, 18000 * WB_FAR_NODE);
    assert_int_equal(wb_line_owner(s, l), 1);
    assert_int_equal(use(s, 3, l, WB_LINE_WRITE, 900000).transfer, 20000 * WB_FAR_NODE);
    /* a write to a line that only the writer shares needs nobody */
    use(s, 3, l, WB_LINE_READ, 1200000);
    assert_int_equal(use(s, 3, l, WB_LINE_WRITE, 1300000).local, 1500);
    wb_line_free(s, l);
    assert_int_equal(wb_line_new(s), l);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* Requests at the same time are served one after another in the order they came; the wait is told apart from the
 * transfer. */
static void queue_in_front_of_a_line(void **state)
{
    (void)state;
    struct wb_machine_spec spec = line_spec();
    struct wb_machine *m = fixture_machine("[numa] l3:1 core:4 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    line_id l = wb_line_new(s);
    use(s, 0, l, WB_LINE_RMW, 0);
    for (cpu_id c = 1; c < 4; c++) {
        struct wb_line_cost k = use(s, c, l, WB_LINE_RMW, 1000000);
        assert_int_equal(k.queue, (c - 1) * 60000);
        assert_int_equal(k.transfer, 60000);
    }
    assert_int_equal(wb_line_busy_until(s, l), 1000000 + 3 * 60000);
    /* reads of a clean line overlap: no queue behind one another, only behind the write */
    for (cpu_id c = 0; c < 3; c++) {
        struct wb_line_cost k = use(s, c, l, WB_LINE_READ, 1100000);
        assert_int_equal(k.queue, c == 0 ? 80000 : 140000);
    }
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* n CPUs that increment one line as fast as they can: each increment is a transfer, so the rate is 1 / transfer. */
static double rate_of(struct wb_machine *m, const cpu_id *cpu, uint32_t n)
{
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    line_id l = wb_line_new(s);
    sim_time next[8] = {0};
    uint32_t done = 0;
    sim_time now = 0;
    while (now < 1000 * WB_US) {
        uint32_t k = 0;
        for (uint32_t i = 1; i < n; i++)
            if (next[i] < next[k]) k = i;
        now = next[k];
        next[k] = use(s, cpu[k], l, WB_LINE_RMW, now).done;
        done++;
    }
    wb_machine_state_free(s);
    return (double)done / 1e-3;
}

static void contended_increments(void **state)
{
    (void)state;
    struct wb_machine_spec spec = line_spec();
    struct wb_machine *m = fixture_machine("pack:2 [numa] l3:1 core:4 pu:1", &spec);
    const cpu_id same[] = {0, 1, 2, 3}, across[] = {0, 4}, alone[] = {0};
    double one_llc = rate_of(m, same, 4), two_sockets = rate_of(m, across, 2), uncontended = rate_of(m, alone, 1);
    assert_true(one_llc > 0.999e12 / 60000 && one_llc < 1.001e12 / 60000);
    assert_true(two_sockets > 0.999e12 / 120000 && two_sockets < 1.001e12 / 120000);
    assert_true(uncontended > 0.99e12 / 8000 && uncontended < 1.01e12 / 8000);
    wb_machine_free(m);
}

/* Two sharers are named by the line, more of them live in a map: all are remembered, whatever others share. */
static void many_cpus_many_shared_lines(void **state)
{
    (void)state;
    struct wb_machine_spec spec = line_spec();
    struct wb_machine *m = fixture_machine("pack:4 [numa] l3:1 core:32 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    line_id first = wb_line_new(s);
    use(s, 0, first, WB_LINE_RMW, 0);
    for (cpu_id c = 1; c < 128; c++) use(s, c, first, WB_LINE_READ, 1000000);
    for (cpu_id c = 0; c < 128; c++) assert_int_equal(use(s, c, first, WB_LINE_READ, 2000000).local, 1000);
    struct wb_line_cost k = use(s, 5, first, WB_LINE_RMW, 3000000);
    assert_int_equal(k.transfer, 18000 * WB_FAR_REMOTE);
    assert_int_equal(k.from, WB_FAR_REMOTE);
    use(s, 6, first, WB_LINE_READ, 4000000);
    for (uint32_t i = 1; i < 6000; i++) {
        line_id l = wb_line_new(s);
        for (cpu_id c = 1; c < 4; c++) use(s, c, l, WB_LINE_READ, 5000000 + i);
    }
    assert_int_equal(use(s, 6, first, WB_LINE_READ, 6000000).local, 1000);
    assert_int_equal(use(s, 3, first + 5999, WB_LINE_READ, 6000000).local, 1000);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* Maps end somewhere: then the set that was made first is forgotten, its line is in memory. */
static void maps_run_out(void **state)
{
    (void)state;
    enum { LINES = 32768 + 10 }; /* the pool of 64 MiB has 32768 maps of 16384 CPUs */
    const struct wb_machine_sizes many = {.lines = LINES};
    struct wb_machine_spec spec = line_spec();
    struct wb_machine *m = fixture_machine("pack:64 [numa] l3:1 core:256 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &many);
    for (uint32_t i = 0; i < LINES; i++) {
        line_id l = wb_line_new(s);
        for (cpu_id c = 0; c < 3; c++) use(s, c, l, WB_LINE_READ, i);
    }
    assert_int_equal(use(s, 1, 9, WB_LINE_READ, 6000000).transfer, 90000);
    assert_int_equal(use(s, 1, 10, WB_LINE_READ, 6000000).local, 1000);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* A queue of 100 ms does not fit the line itself: it is as exact as a short one, also after others have moved on. */
static void very_long_queue(void **state)
{
    (void)state;
    struct wb_machine_spec spec = line_spec();
    spec.dirty[WB_FAR_REMOTE].latency = 100 * WB_US;
    struct wb_machine *m = fixture_machine("pack:2 [numa] l3:1 core:2 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    line_id l = wb_line_new(s), other = wb_line_new(s);
    sim_time end = 0;
    for (uint32_t i = 0; i < 1000; i++) end = use(s, i & 1 ? 2 : 0, l, WB_LINE_RMW, 0).done;
    assert_int_equal(end, 90000 + 999 * 100 * WB_US);
    for (sim_time now = 0; now < 99 * WB_MS; now += WB_MS) use(s, 1, other, WB_LINE_RMW, now);
    assert_int_equal(wb_line_busy_until(s, l), end);
    assert_int_equal(use(s, 0, l, WB_LINE_RMW, 99 * WB_MS).queue, end - 99 * WB_MS);
    assert_int_equal(use(s, 0, l, WB_LINE_RMW, 400 * WB_MS).queue, 0);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* On a front-side bus a transfer stretches while others load the bus: its 160 bytes of bus time are shared too. */
static void transfer_over_a_busy_bus(void **state)
{
    (void)state;
    struct wb_machine_spec spec = line_spec();
    spec.bus_span = WB_BUS_MACHINE;
    spec.bus.rate = 6400000000ull;
    spec.line_bus_bytes = 160; /* 25 ns at 6.4 GB/s */
    struct wb_machine *m = fixture_machine("[numa] pack:4 l3:1 core:1 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    line_id l = wb_line_new(s);
    use(s, 0, l, WB_LINE_RMW, 0);
    assert_int_equal(use(s, 1, l, WB_LINE_RMW, 1000000).transfer, 20000 * WB_FAR_NODE);
    wb_server_join(s, 0, 2, 6400000000ull);
    assert_int_equal(use(s, 0, l, WB_LINE_RMW, 2000000).transfer, 20000 * WB_FAR_NODE); /* one job alone fits */
    wb_server_join(s, 0, 3, 6400000000ull); /* two that want all of it: half each */
    assert_int_equal(use(s, 1, l, WB_LINE_RMW, 3000000).transfer, 20000 * WB_FAR_NODE + 25000);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owner_sharers_and_memory),
        cmocka_unit_test(queue_in_front_of_a_line),
        cmocka_unit_test(contended_increments),
        cmocka_unit_test(many_cpus_many_shared_lines),
        cmocka_unit_test(maps_run_out),
        cmocka_unit_test(very_long_queue),
        cmocka_unit_test(transfer_over_a_busy_bus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
