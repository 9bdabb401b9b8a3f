#include "wbtest.h"

#include "tickring.h"

enum { PERIOD = 100, CLASS = 2 };

static struct arena arena;
static struct tickring r;

static void make(uint32_t ncpus, const sim_time *phase)
{
    arena_init(&arena, "ticks");
    assert_int_equal(tickring_init(&r, &arena, CLASS, ncpus, PERIOD), 0);
    tickring_set_phases(&r, phase);
}

static void expect(sim_time time, cpu_id cpu, uint64_t k)
{
    const struct evq_entry *e = tickring_peek(&r);
    assert_int_equal(e->time, time);
    assert_int_equal(e->key, evq_key(CLASS, cpu, k));
}

static void fires(sim_time time, cpu_id cpu, uint64_t k)
{
    expect(time, cpu, k);
    tickring_advance(&r);
}

static void nobody_ticks_at_first(void **state)
{
    (void)state;
    make(2, (const sim_time[]){0, 0});
    assert_int_equal(tickring_peek(&r)->time, WB_TIME_NEVER);
    assert_false(tickring_ticks(&r, 1));
    assert_int_equal(tickring_next_index(&r, 1), UINT64_MAX);
    arena_free(&arena);
}

static void order_is_phase_then_cpu(void **state)
{
    (void)state;
    make(4, (const sim_time[]){50, 10, 50, 0});
    for (cpu_id c = 0; c < 4; c++) tickring_start(&r, c, 0);
    for (uint64_t k = 0; k < 3; k++) {
        fires(k * 100 + 0, 3, k);
        fires(k * 100 + 10, 1, k);
        fires(k * 100 + 50, 0, k);
        fires(k * 100 + 50, 2, k);
    }
    arena_free(&arena);
}

static void skip_stop_and_restart(void **state)
{
    (void)state;
    make(3, (const sim_time[]){0, 30, 60});
    for (cpu_id c = 0; c < 3; c++) tickring_start(&r, c, 0);
    fires(0, 0, 0);
    tickring_skip(&r, 1, 2);
    fires(60, 2, 0);
    tickring_stop(&r, 2);
    fires(100, 0, 1);
    fires(200, 0, 2);
    assert_int_equal(tickring_next_index(&r, 1), 2);
    fires(230, 1, 2);
    tickring_start(&r, 2, 261);
    fires(300, 0, 3);
    fires(330, 1, 3);
    fires(360, 2, 3);
    arena_free(&arena);
}

/* All idle for a long time, then one comes back: the ring's cursor has to jump. */
static void long_silence(void **state)
{
    (void)state;
    make(2, (const sim_time[]){5, 6});
    tickring_start(&r, 0, 0);
    tickring_start(&r, 1, 0);
    fires(5, 0, 0);
    tickring_skip(&r, 0, 10000);
    tickring_skip(&r, 1, 20000);
    fires(1000105, 0, 10001);
    fires(1000205, 0, 10002);
    tickring_stop(&r, 0);
    fires(2000006, 1, 20000);
    tickring_start(&r, 0, 2000006);
    fires(2000105, 0, 20001);
    arena_free(&arena);
}

/* Restart at time 50, when the tick of cpu 1 of that instant has fired: cpu 0's is over, cpu 2's is not. */
static void restart_inside_an_instant(void **state)
{
    (void)state;
    make(3, (const sim_time[]){50, 50, 50});
    tickring_start(&r, 1, 0);
    struct evq_entry now = *tickring_peek(&r);
    tickring_advance(&r);
    tickring_start_after(&r, 0, &now);
    tickring_start_after(&r, 2, &now);
    fires(50, 2, 0);
    fires(150, 0, 1);
    fires(150, 1, 1);
    fires(150, 2, 1);
    arena_free(&arena);
}

static void advance_without_ticks(void)
{
    make(1, (const sim_time[]){0});
    tickring_advance(&r);
}

static void start_in_the_past(void)
{
    make(2, (const sim_time[]){10, 20});
    tickring_start(&r, 1, 0);
    tickring_advance(&r);
    tickring_start(&r, 0, 0);
}

static void misuse_is_a_bug(void **state)
{
    (void)state;
    char text[1024];
    assert_int_equal(wb_dies(advance_without_ticks, text, sizeof text), 0);
    assert_non_null(strstr(text, "no CPU ticks"));
    assert_int_equal(wb_dies(start_in_the_past, text, sizeof text), 0);
    assert_non_null(strstr(text, "tick of cpu 0 in the past"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_ticks_at_first),     cmocka_unit_test(order_is_phase_then_cpu),
        cmocka_unit_test(skip_stop_and_restart),     cmocka_unit_test(long_silence),
        cmocka_unit_test(restart_inside_an_instant), cmocka_unit_test(misuse_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
