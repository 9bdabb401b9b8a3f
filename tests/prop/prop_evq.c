/* The event set against a sorted array: same entries out, in the same order, whatever the mix of operations. */
#include "wbtest.h"

#include "evq.h"
#include "propcheck.h"

enum { PUSH, PUSH_MORE, POP, REPLACE, KINDS, TWIN_MAX = 4096 };

struct twin {
    struct evq_entry e[TWIN_MAX];
    size_t n;
};

static void twin_push(struct twin *t, struct evq_entry e)
{
    size_t i = t->n++;
    for (; i && evq_before(&t->e[i - 1], &e); i--) t->e[i] = t->e[i - 1];
    t->e[i] = e; /* latest first: the minimum is at the end */
}

static struct prop_op make(struct prop_rng *r)
{
    /* Few distinct times and entities, so that ties are common. */
    return (struct prop_op){.kind = (uint32_t)prop_below(r, KINDS), .a = prop_below(r, 50), .b = prop_below(r, 8)};
}

static bool same(struct evq_entry a, struct evq_entry b)
{
    return a.time == b.time && a.key == b.key;
}

static bool apply(struct evq *q, struct twin *t, const struct prop_op *op, uint64_t counter)
{
    struct evq_entry e = {.time = op->a, .key = evq_key((uint32_t)(op->b & 3), (uint32_t)op->b, counter)};
    if (op->kind == POP && t->n) return same(evq_pop(q), t->e[--t->n]);
    if (op->kind == REPLACE && t->n) {
        if (!same(*evq_peek(q), t->e[--t->n])) return false;
        evq_replace_top(q, e);
        twin_push(t, e);
    }
    if (op->kind <= PUSH_MORE && t->n < TWIN_MAX) {
        evq_push(q, e);
        twin_push(t, e);
    }
    return true;
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    static struct twin t;
    struct evq q;
    bool good = true;
    t.n = 0;
    if (evq_init(&q, 4)) return false;
    for (size_t i = 0; i < n && good; i++) {
        good = apply(&q, &t, &ops[i], i);
        if (!good) snprintf(why, nwhy, "other entry at operation %zu", i);
        if (good && (!evq_valid(&q) || evq_count(&q) != t.n)) {
            snprintf(why, nwhy, "not a heap, or %u entries for %zu, at operation %zu", evq_count(&q), t.n, i);
            good = false;
        }
    }
    while (good && t.n) good = same(evq_pop(&q), t.e[--t.n]);
    evq_free(&q);
    return good;
}

static void agrees_with_a_sorted_array(void **state)
{
    (void)state;
    const struct property p = {"evq", 1500, make, run};
    assert_true(prop_check(&p, 200));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_a_sorted_array)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
