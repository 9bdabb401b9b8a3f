/*
 * fair_tree.h - the ordered queue of the fair classes: an intrusive search tree with a minimum over subtrees.
 *
 * Nodes are ordered by `key` (virtual times wrap: compared by signed difference), equal keys by insertion. Each node
 * knows the least `aux` of its subtree, so that "first in key order whose aux is early enough" is one walk from the
 * root: EEVDF keys by deadline and asks for an eligible virtual runtime. It is a treap: heap order on a fixed
 * pseudo-random number per node makes it balanced in expectation, whatever the order of arrival. Insert, erase: O(log
 * n) expected, 1 to 2 rotations. First: O(1).
 */
#ifndef WB_SCHED_FAIR_TREE_H
#define WB_SCHED_FAIR_TREE_H

#include "wakebal/base.h"

struct fair_node {
    struct fair_node *left, *right, *parent;
    uint64_t key, aux;
    uint64_t slice;              /* request length, ns */
    uint64_t aux_min, slice_min; /* least of the subtree */
    uint32_t heap;               /* set once, fair_node_init() */
};

struct fair_tree {
    struct fair_node *root, *first;
    uint32_t n;
};

static inline bool fair_before(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0;
}

void fair_node_init(struct fair_node *n, uint32_t id);
void fair_tree_insert(struct fair_tree *t, struct fair_node *n); /* key, aux and slice are set */
void fair_tree_erase(struct fair_tree *t, struct fair_node *n);
/* In key order; NULL past the end. */
struct fair_node *fair_tree_next(const struct fair_node *n);
struct fair_node *fair_tree_last(const struct fair_tree *t);
/* First in key order with (aux - base) * load <= sum, or NULL: an entity whose virtual runtime is no later than the
 * average. */
struct fair_bound {
    uint64_t base;
    int64_t load, sum;
};
static inline bool fair_within(const struct fair_bound *b, uint64_t aux)
{
    return (int64_t)(aux - b->base) * b->load <= b->sum;
}
struct fair_node *fair_tree_first_within(const struct fair_tree *t, const struct fair_bound *b);

#endif
