#include "wbtest.h"

#include "evq.h"

static struct evq_entry entry(uint64_t time, uint32_t class, uint32_t entity, uint64_t counter)
{
    return (struct evq_entry){.time = time, .key = evq_key(class, entity, counter)};
}

static void key_packs_and_unpacks(void **state)
{
    (void)state;
    uint64_t key = evq_key(63, (1u << 24) - 1, (1ull << 34) - 1);
    assert_int_equal(key, UINT64_MAX);
    key = evq_key(5, 4095, 123456789012ull);
    assert_int_equal(evq_class(key), 5);
    assert_int_equal(evq_entity(key), 4095);
    assert_int_equal(evq_counter(key), 123456789012ull & EVQ_COUNTER_MASK);
}

static void order_is_time_class_entity_counter(void **state)
{
    (void)state;
    const struct evq_entry sorted[] = {
        entry(1, 9, 9, 9), entry(2, 0, 9, 9), entry(2, 1, 0, 9),
        entry(2, 1, 1, 0), entry(2, 1, 1, 1), entry(3, 0, 0, 0),
    };
    for (size_t i = 0; i < WB_ARRAY_SIZE(sorted); i++)
        for (size_t j = 0; j < WB_ARRAY_SIZE(sorted); j++) assert_int_equal(evq_before(&sorted[i], &sorted[j]), i < j);
}

static void empty_set_says_never(void **state)
{
    (void)state;
    struct evq q;
    assert_int_equal(evq_init(&q, 0), 0);
    assert_int_equal(evq_peek(&q)->time, WB_TIME_NEVER);
    evq_push(&q, entry(7, 0, 0, 0));
    assert_int_equal(evq_peek(&q)->time, 7);
    evq_pop(&q);
    assert_int_equal(evq_peek(&q)->time, WB_TIME_NEVER);
    assert_int_equal(evq_count(&q), 0);
    evq_free(&q);
}

static void sibling_groups_are_cache_lines(void **state)
{
    (void)state;
    struct evq q;
    assert_int_equal(evq_init(&q, 100), 0);
    assert_int_equal((uintptr_t)&q.h[1] % 64, 0);
    evq_grow(&q);
    assert_int_equal((uintptr_t)&q.h[5] % 64, 0);
    evq_free(&q);
}

static void growing_keeps_entries_and_peak(void **state)
{
    (void)state;
    struct evq q;
    assert_int_equal(evq_init(&q, 4), 0);
    for (uint32_t i = 0; i < 1000; i++) evq_push(&q, entry(1000 - i, 1, i, 0));
    assert_true(evq_valid(&q));
    assert_int_equal(q.peak, 1000);
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(evq_pop(&q).time, i + 1);
    assert_int_equal(q.peak, 1000);
    assert_true(evq_valid(&q));
    evq_free(&q);
}

static void replace_is_pop_then_push(void **state)
{
    (void)state;
    struct evq fused, split;
    assert_int_equal(evq_init(&fused, 64), 0);
    assert_int_equal(evq_init(&split, 64), 0);
    for (uint32_t i = 0; i < 37; i++) {
        evq_push(&fused, entry(i * 31 % 37, 0, i, 0));
        evq_push(&split, entry(i * 31 % 37, 0, i, 0));
    }
    for (uint32_t i = 0; i < 500; i++) {
        struct evq_entry e = entry(evq_peek(&fused)->time + i * 17 % 41, 0, i, 1);
        evq_replace_top(&fused, e);
        evq_pop(&split);
        evq_push(&split, e);
        assert_memory_equal(evq_peek(&fused), evq_peek(&split), sizeof e);
        assert_true(evq_valid(&fused));
    }
    evq_free(&fused);
    evq_free(&split);
}

static void pop_of_nothing(void)
{
    struct evq q;
    if (!evq_init(&q, 4)) evq_pop(&q);
}

static void pop_of_nothing_is_a_bug(void **state)
{
    (void)state;
    char text[1024];
    assert_int_equal(wb_dies(pop_of_nothing, text, sizeof text), 0);
    assert_non_null(strstr(text, "pop from an empty event set"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_packs_and_unpacks),          cmocka_unit_test(order_is_time_class_entity_counter),
        cmocka_unit_test(empty_set_says_never),           cmocka_unit_test(sibling_groups_are_cache_lines),
        cmocka_unit_test(growing_keeps_entries_and_peak), cmocka_unit_test(replace_is_pop_then_push),
        cmocka_unit_test(pop_of_nothing_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
