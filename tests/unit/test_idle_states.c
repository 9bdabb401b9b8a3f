/* test_idle_states.c - idle states by depth, entry without exit, IPI costs by distance, SMT speed, cycles to time. */
#include "machine_fixture.h"

static struct wb_machine *machine(void)
{
    struct wb_machine_spec s;
    wb_machine_spec_defaults(&s);
    s.nidle = 3;
    s.idle[0] = (struct wb_idle_state){.name = "poll",
                                       .enter = 0,
                                       .exit = {.kind = WB_DIST_FIXED, .a = 100 * WB_NS},
                                       .wake = WB_WAKE_POLL,
                                       .smt_load_ppm = 500000};
    s.idle[1] = (struct wb_idle_state){.name = "c1",
                                       .after = 10 * WB_US,
                                       .enter = WB_US,
                                       .exit = {.kind = WB_DIST_UNIFORM, .a = 2 * WB_US, .b = 3 * WB_US},
                                       .wake = WB_WAKE_MONITOR};
    s.idle[2] = (struct wb_idle_state){.name = "c6",
                                       .after = 500 * WB_US,
                                       .enter = 20 * WB_US,
                                       .exit = {.kind = WB_DIST_FIXED, .a = 80 * WB_US},
                                       .wake = WB_WAKE_IPI};
    s.smt_share_ppm[1] = 600000;
    s.smt_share_ppm[2] = 450000;
    return fixture_machine("pack:2 [numa] l3:1 core:2 pu:2", &s);
}

static void deeper_with_time(void **state)
{
    (void)state;
    struct wb_machine *m = machine();
    struct wb_stream r = wb_stream_make(1, 0, 0, WB_PURPOSE('i', 'd', 'l', 'e'));
    sim_time t0 = WB_MS;
    assert_string_equal(wb_idle_state_at(m, 0)->name, "poll");
    assert_string_equal(wb_idle_state_at(m, 10 * WB_US)->name, "c1");
    assert_string_equal(wb_idle_state_at(m, WB_S)->name, "c6");
    assert_int_equal(wb_idle_exit_latency(m, t0, t0 + 5 * WB_US, &r), 100 * WB_NS);
    /* inside the entry of c1 the hardware still leaves as from polling */
    assert_int_equal(wb_idle_exit_latency(m, t0, t0 + 10 * WB_US + WB_NS, &r), 100 * WB_NS);
    for (int i = 0; i < 100; i++) {
        sim_time e = wb_idle_exit_latency(m, t0, t0 + 20 * WB_US, &r);
        assert_true(e >= 2 * WB_US && e <= 3 * WB_US);
    }
    assert_int_equal(wb_idle_exit_latency(m, t0, t0 + WB_MS, &r), 80 * WB_US);
    wb_machine_free(m);
}

static void wake_inside_the_first_entry_is_free(void **state)
{
    (void)state;
    struct wb_machine *m = fixture_machine("core:2 pu:1", NULL); /* c1: enter 0.5 us, exit 1.5 us */
    struct wb_stream r = wb_stream_make(1, 0, 0, 1);
    assert_int_equal(wb_idle_exit_latency(m, 0, 499 * WB_NS, &r), 0);
    assert_int_equal(wb_idle_exit_latency(m, 0, 500 * WB_NS, &r), 1500 * WB_NS);
    wb_machine_free(m);
}

static void ipi_by_distance(void **state)
{
    (void)state;
    struct wb_machine *m = fixture_machine("pack:2 [numa] l3:1 core:2 pu:2", NULL);
    struct wb_ipi near, far;
    wb_ipi_cost(m, 0, 2, &near);
    wb_ipi_cost(m, 0, 4, &far);
    assert_int_equal(near.send, 600 * WB_NS);
    assert_int_equal(near.flight, 300 * WB_NS);
    assert_int_equal(far.flight, 600 * WB_NS);
    assert_int_equal(far.entry, 400 * WB_NS);
    wb_machine_free(m);
}

static void smt_speed(void **state)
{
    (void)state;
    struct wb_machine *m = machine();
    assert_int_equal(wb_smt_speed_ppm(m, 0), 1000000);
    assert_int_equal(wb_smt_speed_ppm(m, 1000000), 600000);
    assert_int_equal(wb_smt_speed_ppm(m, 500000), 800000); /* a polling sibling that loads half a thread */
    assert_int_equal(wb_smt_speed_ppm(m, 1500000), 525000);
    assert_int_equal(wb_smt_speed_ppm(m, 7000000), wb_smt_speed_ppm(m, 9000000));
    wb_machine_free(m);
}

static void cycles(void **state)
{
    (void)state;
    struct wb_machine_spec s;
    wb_machine_spec_defaults(&s);
    s.clock_hz = 1500000000ull;
    s.cpi_ppm = 1500000;
    struct wb_machine *m = fixture_machine("core:1 pu:1", &s);
    assert_int_equal(wb_machine_cycles(m, 1500000, false), 1000000);
    assert_int_equal(wb_machine_cycles(m, 1500000, true), 1500000);
    assert_int_equal(wb_machine_cycles(m, 1000, false), 667);
    assert_int_equal(wb_machine_cycles(m, 1ull << 60, false), (sim_time)((1ull << 60) / 3 * 2 + 1));
    wb_machine_free(m);
}

/* A spec that makes no sense is refused with all its mistakes. */
static void bad_spec(void **state)
{
    (void)state;
    struct wb_machine_spec s;
    wb_machine_spec_defaults(&s);
    s.idle[0].after = 1;
    s.clock_hz = 0;
    s.smt_share_ppm[1] = 0;
    s.memory[0].stream_read = 0;
    s.bus_span = WB_BUS_MACHINE;
    struct wb_diag *d = wb_diag_new();
    assert_null(wb_machine_new(fixture_topology("core:1 pu:1"), &s, d));
    assert_int_equal(wb_diag_count(d, WB_ERROR), 5);
    wb_diag_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deeper_with_time), cmocka_unit_test(wake_inside_the_first_entry_is_free),
        cmocka_unit_test(ipi_by_distance),  cmocka_unit_test(smt_speed),
        cmocka_unit_test(cycles),           cmocka_unit_test(bad_spec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
