/* test_bus.c - shared bandwidth servers: max-min shares, caps by demand, who is told, order of jobs. */
#include "machine_fixture.h"

static const struct wb_machine_sizes sizes = {.regions = 1};
#define GB 1000000000ull

static struct wb_machine *bus_machine(uint64_t rate)
{
    struct wb_machine_spec s;
    wb_machine_spec_defaults(&s);
    s.bus_span = WB_BUS_MACHINE;
    s.bus.rate = rate;
    s.memory_bw.rate = 0;
    return fixture_machine("[numa] pack:4 l3:1 core:1 pu:1", &s);
}

static void equal_shares(void **state)
{
    (void)state;
    struct wb_machine *m = bus_machine(6400000000ull);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    assert_int_equal(wb_server_count(s), 1);
    assert_string_equal(wb_server_name(s, 0), "bus0");
    assert_false(wb_server_join(s, 0, 0, 3 * GB));
    assert_false(wb_server_join(s, 0, 1, 3 * GB)); /* 6 of 6.4: nobody is slowed */
    assert_int_equal(wb_server_speed_ppm(s, 0, 0), 1000000);
    assert_true(wb_server_join(s, 0, 2, 3 * GB)); /* 9 of 6.4: 2.133 each */
    for (cpu_id c = 0; c < 3; c++) assert_int_equal(wb_server_speed_ppm(s, 0, c), 711111);
    assert_true(wb_server_join(s, 0, 3, 3 * GB));
    for (cpu_id c = 0; c < 4; c++) assert_int_equal(wb_server_speed_ppm(s, 0, c), 533333);
    assert_true(wb_server_leave(s, 0, 1));
    assert_true(wb_server_leave(s, 0, 0));
    assert_int_equal(wb_server_speed_ppm(s, 0, 2), 1000000);
    assert_int_equal(wb_server_active(s, 0), 2);
    assert_false(wb_server_leave(s, 0, 2));
    assert_false(wb_server_leave(s, 0, 3));
    assert_int_equal(wb_server_active(s, 0), 0);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* Small demands are served in full; what they leave goes to the others. */
static void max_min(void **state)
{
    (void)state;
    struct wb_machine *m = bus_machine(10 * GB);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    wb_server_join(s, 0, 0, 1 * GB);
    wb_server_join(s, 0, 1, 8 * GB);
    assert_false(wb_server_join(s, 0, 2, 1 * GB)); /* exactly full */
    assert_true(wb_server_join(s, 0, 3, 4 * GB));  /* 1 + 1 + 4 + 4 */
    assert_int_equal(wb_server_speed_ppm(s, 0, 0), 1000000);
    assert_int_equal(wb_server_speed_ppm(s, 0, 2), 1000000);
    assert_int_equal(wb_server_speed_ppm(s, 0, 3), 1000000);
    assert_int_equal(wb_server_speed_ppm(s, 0, 1), 500000);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

static void jobs_in_order_of_joining(void **state)
{
    (void)state;
    struct wb_machine *m = bus_machine(10 * GB);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    const cpu_id order[] = {2, 0, 3, 1};
    for (int i = 0; i < 4; i++) wb_server_join(s, 0, order[i], GB);
    wb_server_leave(s, 0, 0);
    wb_server_join(s, 0, 0, GB);
    const cpu_id want[] = {2, 3, 1, 0};
    cpu_id c = wb_server_first(s, 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(c, want[i]);
        c = wb_server_next(s, 0, c);
    }
    assert_int_equal(c, WB_NO_CPU);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

/* Two buses, one per package; a controller behind each node; links between the nodes. */
static void servers_of_a_machine(void **state)
{
    (void)state;
    struct wb_machine_spec spec;
    wb_machine_spec_defaults(&spec);
    spec.bus_span = WB_BUS_PACKAGE;
    spec.bus.rate = 10 * GB;
    struct wb_machine *m = fixture_machine("pack:2 [numa] l3:1 core:1 pu:1", &spec);
    struct wb_machine_state *s = wb_machine_state_new(m, &sizes);
    const char *const want[] = {"bus0", "bus1", "memory0", "memory1", "link0", "link1"};
    assert_int_equal(wb_server_count(s), 6);
    for (server_id v = 0; v < 6; v++) assert_string_equal(wb_server_name(s, v), want[v]);
    /* a CPU may be on three servers at once */
    wb_server_join(s, 0, 0, GB);
    wb_server_join(s, 3, 0, GB);
    wb_server_join(s, 4, 0, GB);
    assert_int_equal(wb_server_first(s, 3), 0);
    wb_server_leave(s, 3, 0);
    assert_int_equal(wb_server_first(s, 3), WB_NO_CPU);
    assert_int_equal(wb_server_first(s, 4), 0);
    wb_machine_state_free(s);
    wb_machine_free(m);
    /* one node has no links */
    spec.bus_span = WB_BUS_NONE;
    m = fixture_machine("pack:2 l3:1 core:1 pu:1", &spec);
    s = wb_machine_state_new(m, &sizes);
    assert_int_equal(wb_server_count(s), 1);
    wb_machine_state_free(s);
    wb_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_shares),
        cmocka_unit_test(max_min),
        cmocka_unit_test(jobs_in_order_of_joining),
        cmocka_unit_test(servers_of_a_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
