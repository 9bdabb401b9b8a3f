/* The ordered queue against a list that is searched from end to end. wb-link: wb_sched wb_core */
#include "wbtest.h"

#include "fair_tree.h"
#include "propcheck.h"

enum { NODES = 64, INSERT = 0, ERASE, SEARCH, LAST, KINDS };

struct twin {
    struct fair_tree t;
    struct fair_node node[NODES];
    bool in[NODES];
    uint64_t order[NODES], count; /* of insertion */
};

/* Small ranges make equal keys common; all of it straddles the wrap of virtual time. */
static uint64_t around_zero(uint64_t v, uint64_t range)
{
    return v % range - range / 2;
}

static bool precedes(const struct twin *w, int a, int b)
{
    if (w->node[a].key != w->node[b].key) return fair_before(w->node[a].key, w->node[b].key);
    return w->order[a] < w->order[b];
}

static int best(const struct twin *w, const struct fair_bound *b)
{
    int found = -1;
    for (int i = 0; i < NODES; i++) {
        if (!w->in[i] || (b && !fair_within(b, w->node[i].aux))) continue;
        if (found < 0 || precedes(w, i, found)) found = i;
    }
    return found;
}

static bool ordered(const struct twin *w, char *why, size_t n)
{
    uint32_t seen = 0;
    int prev = -1;
    for (struct fair_node *x = w->t.first; x; x = fair_tree_next(x), seen++) {
        int i = (int)(x - w->node);
        if (!w->in[i] || (prev >= 0 && !precedes(w, prev, i)))
            return snprintf(why, n, "node %d out of place", i), false;
        prev = i;
    }
    if (seen != w->t.n) return snprintf(why, n, "%u nodes walked of %u", seen, w->t.n), false;
    if (prev >= 0 && fair_tree_last(&w->t) != &w->node[prev]) return snprintf(why, n, "last is wrong"), false;
    return true;
}

static bool minima(const struct twin *w, char *why, size_t n)
{
    uint64_t aux = 0, slice = UINT64_MAX;
    bool any = false;
    for (int i = 0; i < NODES; i++) {
        if (!w->in[i]) continue;
        if (!any || fair_before(w->node[i].aux, aux)) aux = w->node[i].aux;
        slice = WB_MIN(slice, w->node[i].slice);
        any = true;
    }
    if (!any) return !w->t.root || (snprintf(why, n, "root of an empty tree"), false);
    if (w->t.root->aux_min != aux || w->t.root->slice_min != slice) return snprintf(why, n, "minimum is wrong"), false;
    return true;
}

static void insert(struct twin *w, int i, uint64_t b)
{
    w->node[i].key = around_zero(b, 40);
    w->node[i].aux = around_zero(b >> 16, 1000);
    w->node[i].slice = 100 + (b >> 32) % 50;
    fair_tree_insert(&w->t, &w->node[i]);
    w->in[i] = true;
    w->order[i] = w->count++;
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    static struct twin w;
    memset(&w, 0, sizeof w);
    for (int i = 0; i < NODES; i++) fair_node_init(&w.node[i], (uint32_t)i);
    for (size_t k = 0; k < n; k++) {
        int i = (int)(ops[k].a % NODES);
        if (ops[k].kind == INSERT && !w.in[i]) insert(&w, i, ops[k].b);
        if (ops[k].kind == ERASE && w.in[i]) {
            fair_tree_erase(&w.t, &w.node[i]);
            w.in[i] = false;
        }
        struct fair_bound b = {.base = around_zero(ops[k].b, 7),
                               .load = 1 + (int64_t)(ops[k].a % 9),
                               .sum = (int64_t)around_zero(ops[k].b >> 8, 4000)};
        const struct fair_node *got = fair_tree_first_within(&w.t, &b);
        int want = best(&w, &b), first = best(&w, NULL);
        if (got != (want < 0 ? NULL : &w.node[want]))
            return snprintf(why, nwhy, "op %zu: first within is wrong", k), false;
        if (w.t.first != (first < 0 ? NULL : &w.node[first]))
            return snprintf(why, nwhy, "op %zu: first is wrong", k), false;
        if (!ordered(&w, why, nwhy) || !minima(&w, why, nwhy)) return false;
    }
    return true;
}

static struct prop_op make(struct prop_rng *r)
{
    return (struct prop_op){.kind = (uint32_t)prop_below(r, 3) % 2, .a = prop_u64(r), .b = prop_u64(r)};
}

static void tree_agrees_with_a_list(void **state)
{
    static const struct property p = {.name = "fair_tree", .ops_max = 300, .make = make, .run = run};
    (void)state;
    assert_true(prop_check(&p, 300));
}

/* Ascending keys, the worst case of an unbalanced tree: the depth stays near the logarithm. */
static void depth_stays_logarithmic(void **state)
{
    enum { MANY = 4096 };
    static struct fair_node node[MANY];
    struct fair_tree t = {0};
    uint32_t deepest = 0;
    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        fair_node_init(&node[i], i);
        node[i].key = i;
        fair_tree_insert(&t, &node[i]);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t depth = 0;
        for (const struct fair_node *x = &node[i]; x->parent; x = x->parent) depth++;
        deepest = WB_MAX(deepest, depth);
    }
    assert_true(deepest < 40); /* 12 levels are full; a random treap of this size has about 28 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tree_agrees_with_a_list),
                                       cmocka_unit_test(depth_stays_logarithmic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
