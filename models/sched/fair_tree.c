/* fair_tree.c - see fair_tree.h. */
#include "fair_tree.h"

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return fair_before(b, a) ? b : a;
}

/* The minima of a subtree from its root and children. */
static void sum_up(struct fair_node *n)
{
    uint64_t aux = n->aux, slice = n->slice;
    if (n->left) {
        aux = earlier(aux, n->left->aux_min);
        slice = WB_MIN(slice, n->left->slice_min);
    }
    if (n->right) {
        aux = earlier(aux, n->right->aux_min);
        slice = WB_MIN(slice, n->right->slice_min);
    }
    n->aux_min = aux;
    n->slice_min = slice;
}

static void set_child(struct fair_tree *t, struct fair_node *parent, const struct fair_node *old, struct fair_node *new)
{
    if (!parent)
        t->root = new;
    else if (parent->left == old)
        parent->left = new;
    else
        parent->right = new;
    if (new) new->parent = parent;
}

/* Lift n above its parent; order is kept. The subtree's minima go to its new root. */
static void rotate_up(struct fair_tree *t, struct fair_node *n)
{
    struct fair_node *p = n->parent;
    set_child(t, p->parent, p, n);
    if (p->left == n) {
        p->left = n->right;
        if (p->left) p->left->parent = p;
        n->right = p;
    } else {
        p->right = n->left;
        if (p->right) p->right->parent = p;
        n->left = p;
    }
    p->parent = n;
    n->aux_min = p->aux_min;
    n->slice_min = p->slice_min;
    sum_up(p);
}

void fair_node_init(struct fair_node *n, uint32_t id)
{
    uint32_t h = id * 0x9e3779b1u + 0x7f4a7c15u;
    h = (h ^ h >> 15) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    *n = (struct fair_node){.heap = h ^ h >> 16};
}

void fair_tree_insert(struct fair_tree *t, struct fair_node *n)
{
    struct fair_node *at = t->root, *parent = NULL;
    bool first = true, left = false;
    n->left = n->right = NULL;
    n->aux_min = n->aux;
    n->slice_min = n->slice;
    while (at) { /* the minima of those above are brought up to date on the way */
        parent = at;
        at->aux_min = earlier(at->aux_min, n->aux);
        at->slice_min = WB_MIN(at->slice_min, n->slice);
        left = fair_before(n->key, at->key);
        first &= left;
        at = left ? at->left : at->right;
    }
    n->parent = parent;
    if (!parent)
        t->root = n;
    else if (left)
        parent->left = n;
    else
        parent->right = n;
    if (first) t->first = n;
    t->n++;
    while (n->parent && n->parent->heap < n->heap) rotate_up(t, n);
}

void fair_tree_erase(struct fair_tree *t, struct fair_node *n)
{
    if (t->first == n) t->first = fair_tree_next(n);
    while (n->left && n->right) rotate_up(t, n->left->heap > n->right->heap ? n->left : n->right);
    struct fair_node *parent = n->parent;
    set_child(t, parent, n, n->left ? n->left : n->right);
    for (; parent; parent = parent->parent) sum_up(parent);
    n->left = n->right = n->parent = NULL;
    t->n--;
}

struct fair_node *fair_tree_next(const struct fair_node *n)
{
    if (n->right) {
        struct fair_node *at = n->right;
        while (at->left) at = at->left;
        return at;
    }
    while (n->parent && n->parent->right == n) n = n->parent;
    return n->parent;
}

struct fair_node *fair_tree_last(const struct fair_tree *t)
{
    struct fair_node *at = t->root;
    while (at && at->right) at = at->right;
    return at;
}

struct fair_node *fair_tree_first_within(const struct fair_tree *t, const struct fair_bound *b)
{
    if (t->first && fair_within(b, t->first->aux)) return t->first; /* mostly so */
    struct fair_node *at = t->root;
    while (at) {
        if (at->left && fair_within(b, at->left->aux_min))
            at = at->left;
        else if (fair_within(b, at->aux))
            return at;
        else
            at = at->right;
    }
    return NULL;
}
