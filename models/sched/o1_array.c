/* o1_array.c - one priority array: 140 first-in first-out lists and a bitmap of those that hold a task. */
#include "o1.h"

static void link_before(struct o1_task *p, struct o1_task *ref)
{
    p->next = ref;
    p->prev = ref->prev;
    ref->prev->next = p;
    ref->prev = p;
}

static void set_head(struct o1_array *a, uint32_t prio, struct o1_task *p)
{
    if (prio >= O1_RT_PRIOS)
        a->normal[prio - O1_RT_PRIOS] = p;
    else
        *(prio ? &a->rt[prio] : &a->first) = p;
}

static void joined(struct o1_array *a, struct o1_task *p)
{
    a->bitmap[p->prio >> 6] |= 1ull << (p->prio & 63);
    a->nr++;
    p->array = a;
}

void o1_array_add(struct o1_array *a, struct o1_task *p)
{
    WB_CHECK(!p->array && p->prio < O1_PRIOS, "task %u with priority %u is queued already or invalid", p->t->id,
             p->prio);
    struct o1_task *head = o1_array_head(a, p->prio);
    if (head) {
        link_before(p, head);
    } else {
        p->next = p->prev = p;
        set_head(a, p->prio, p);
    }
    joined(a, p);
}

void o1_array_add_before(struct o1_array *a, struct o1_task *p, struct o1_task *ref)
{
    WB_CHECK(!p->array && ref->array == a && p->prio == ref->prio, "task %u cannot go before task %u", p->t->id,
             ref->t->id);
    link_before(p, ref);
    if (o1_array_head(a, p->prio) == ref) set_head(a, p->prio, p);
    joined(a, p);
}

void o1_array_del(struct o1_array *a, struct o1_task *p)
{
    WB_CHECK(p->array == a && a->nr, "task %u is not in this array", p->t->id);
    if (p->next == p) {
        set_head(a, p->prio, NULL);
        a->bitmap[p->prio >> 6] &= ~(1ull << (p->prio & 63));
    } else {
        p->next->prev = p->prev;
        p->prev->next = p->next;
        if (o1_array_head(a, p->prio) == p) set_head(a, p->prio, p->next);
    }
    p->next = p->prev = NULL;
    p->array = NULL;
    a->nr--;
}

uint32_t o1_array_best(const struct o1_array *a, uint32_t from)
{
    for (uint32_t i = from >> 6; i < WB_ARRAY_SIZE(a->bitmap); i++) {
        uint64_t w = a->bitmap[i] & (i == from >> 6 ? ~0ull << (from & 63) : ~0ull);
        if (w) return i * 64 + (uint32_t)__builtin_ctzll(w);
    }
    return O1_PRIOS;
}
