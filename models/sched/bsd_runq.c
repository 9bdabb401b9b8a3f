/* bsd_runq.c - priority lists (FreeBSD kern_switch.c: runq_add, runq_remove, runq_findbit). */
#include <string.h>

#include "bsd.h"

void bsd_runq_add(struct bsd_runq *q, struct bsd_task *p, uint32_t list)
{
    WB_CHECK(!p->queue && list < BSD_LISTS, "task %u goes to list %u", p->t->id, list);
    struct bsd_task *head = q->head[list];
    p->queue = q;
    p->list = (uint8_t)list;
    q->nr++;
    if (!head) {
        q->head[list] = p->next = p->prev = p;
        q->bitmap[list / 64] |= 1ull << list % 64;
        return;
    }
    p->next = head;
    p->prev = head->prev;
    head->prev->next = p;
    head->prev = p;
}

void bsd_runq_del(struct bsd_task *p)
{
    struct bsd_runq *q = p->queue;
    WB_CHECK(q, "task %u is in no queue", p->t->id);
    if (p->next == p) {
        q->head[p->list] = NULL;
        q->bitmap[p->list / 64] &= ~(1ull << p->list % 64);
    } else {
        p->prev->next = p->next;
        p->next->prev = p->prev;
        if (q->head[p->list] == p) q->head[p->list] = p->next;
    }
    p->next = p->prev = NULL;
    p->queue = NULL;
    q->nr--;
}

uint32_t bsd_runq_best(const struct bsd_runq *q, uint32_t from)
{
    for (uint32_t w = from / 64; w < WB_ARRAY_SIZE(q->bitmap); w++) {
        uint64_t bits = q->bitmap[w];
        if (w == from / 64) bits &= ~0ull << from % 64;
        if (bits) return w * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return BSD_LISTS;
}

int bsd_check_lock(const struct wb_config *cfg, struct wb_diag *d)
{
    const char *lock = wb_cfg_str(cfg, "kernel.runqueue_lock");
    if (!strcmp(lock, "global")) return 0;
    wb_cfg_error(cfg, d, "kernel.runqueue_lock", "set it to \"global\"",
                 "the schedulers of FreeBSD 4 and 5.2 have one lock, not \"%s\"", lock);
    return -1;
}

void bsd_yield(struct wb_exec *x, struct wb_rq *rq)
{
    (void)x;
    (void)rq;
}
