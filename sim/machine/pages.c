/*
 * pages.c - page frames as regions, with the hot lists that decide which cache still knows a page.
 *
 * Rules of Linux 2.6.3 .. 2.6.14 mm/page_alloc.c: free_hot_cold_page() gives `batch` pages from the tail of the
 * CPU's hot list back to the zone when the list has reached `high`, then puts the page at its head;
 * buffered_rmqueue() first appends `batch` pages of the zone when the list is down to `low`, then takes the head.
 * Simplified: one order, one zone per node, no cold list, and the zone is a LIFO in front of pages that were never
 * used.
 */
#include "caches.h"

/* A page that was never given out is like any other such page: lists count them, and it gets a number, a region and a
 * note when somebody gets it. So the ones in use are close together, however many wait in lists. */
#define FRESH (WB_NO_REGION - 1)

static struct page_node *node_at(struct wb_machine_state *s, uint32_t i)
{
    return &s->page_node[i];
}

static uint32_t node_take(struct wb_machine_state *s)
{
    uint32_t i = s->page_nodes_free;
    if (i == WB_NO_REGION) return s->page_nodes_fresh++; /* a node holds a page at least: there are enough */
    s->page_nodes_free = node_at(s, i)->next;
    return i;
}

/* Takes a node out of its list, at one of the ends. */
static void node_drop(struct wb_machine_state *s, struct page_list *l, uint32_t i)
{
    uint32_t next = node_at(s, i)->next, prev = node_at(s, i)->prev;
    if (next == WB_NO_REGION)
        l->tail = prev;
    else
        node_at(s, next)->prev = prev;
    if (prev == WB_NO_REGION)
        l->head = next;
    else
        node_at(s, prev)->next = next;
    node_at(s, i)->next = s->page_nodes_free;
    s->page_nodes_free = i;
}

/* One more page that was never given out joins its like at the end of a list. */
static bool joins(struct wb_machine_state *s, struct page_list *l, uint32_t end, uint32_t id)
{
    if (id != FRESH || end == WB_NO_REGION || node_at(s, end)->page != FRESH) return false;
    node_at(s, end)->n++;
    l->count++;
    return true;
}

static void push_head(struct wb_machine_state *s, struct page_list *l, uint32_t id)
{
    if (joins(s, l, l->head, id)) return;
    uint32_t i = node_take(s);
    *node_at(s, i) = (struct page_node){.next = l->head, .prev = WB_NO_REGION, .page = id, .n = 1};
    if (l->count++)
        node_at(s, l->head)->prev = i;
    else
        l->tail = i;
    l->head = i;
}

static void append(struct wb_machine_state *s, struct page_list *l, uint32_t id)
{
    if (joins(s, l, l->tail, id)) return;
    uint32_t i = node_take(s);
    *node_at(s, i) = (struct page_node){.next = WB_NO_REGION, .prev = l->tail, .page = id, .n = 1};
    if (l->count++)
        node_at(s, l->tail)->next = i;
    else
        l->head = i;
    l->tail = i;
}

static uint32_t pop(struct wb_machine_state *s, struct page_list *l, uint32_t end)
{
    uint32_t id = node_at(s, end)->page;
    l->count--;
    if (!--node_at(s, end)->n) node_drop(s, l, end);
    return id;
}

static uint32_t pop_head(struct wb_machine_state *s, struct page_list *l)
{
    return pop(s, l, l->head);
}

static uint32_t pop_tail(struct wb_machine_state *s, struct page_list *l)
{
    return pop(s, l, l->tail);
}

void pages_complete(struct wb_machine_sizes *z)
{
    if (!z->page_bytes) z->page_bytes = 4096;
    /* 2.6.11 zone_batchsize(): at most 256 KiB a batch, a quarter of that. */
    if (!z->page_batch) z->page_batch = WB_MAX(1u, 256u * 1024u / z->page_bytes / 4);
    if (!z->page_high) {
        z->page_low = 2 * z->page_batch;
        z->page_high = 6 * z->page_batch;
    }
}

void pages_init(struct wb_machine_state *s)
{
    const struct page_list empty = {WB_NO_REGION, WB_NO_REGION, 0};
    for (uint32_t c = 0; c < s->m->topo->ncpus; c++) s->page_cpu[c] = empty;
    for (uint32_t n = 0; n < s->m->topo->level[WB_LVL_NODE].ngroups; n++) s->page_zone[n] = empty;
    s->page_nodes_free = WB_NO_REGION;
}

/* One of those that never were in a list, or WB_NO_REGION. */
static uint32_t take_fresh(struct wb_machine_state *s)
{
    if (s->page_fresh == s->sizes.pages) return WB_NO_REGION;
    s->page_fresh++;
    return FRESH;
}

static region_id given(struct wb_machine_state *s, uint32_t id)
{
    if (id == WB_NO_REGION) return id;
    if (id == FRESH) {
        id = s->sizes.regions + s->pages_given++;
        s->region[id] = (struct region){.bytes = s->sizes.page_bytes, .home = NO_HOME};
    }
    holders_prefetch(s, id); /* whoever gets it touches it */
    s->page_note[id - s->sizes.regions] = (struct wb_page_note){.next = WB_NO_REGION};
    return id;
}

/* A page of another node or CPU when nothing else is left: the lowest number that has one. */
static uint32_t take_anywhere(struct wb_machine_state *s)
{
    for (uint32_t n = 0; n < s->m->topo->level[WB_LVL_NODE].ngroups; n++)
        if (s->page_zone[n].count) return pop_head(s, &s->page_zone[n]);
    for (uint32_t c = 0; c < s->m->topo->ncpus; c++)
        if (s->page_cpu[c].count) return pop_tail(s, &s->page_cpu[c]);
    return WB_NO_REGION;
}

region_id wb_page_alloc(struct wb_machine_state *s, cpu_id cpu)
{
    WB_CHECK(cpu < s->m->topo->ncpus, "CPU %u", cpu);
    struct page_list *hot = &s->page_cpu[cpu];
    struct page_list *common = &s->page_zone[s->m->topo->level[WB_LVL_NODE].of[cpu]];
    uint32_t wanted = hot->count <= s->sizes.page_low ? s->sizes.page_batch : 0;
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t id = common->count ? pop_head(s, common) : take_fresh(s);
        if (id == WB_NO_REGION) break;
        append(s, hot, id);
    }
    return given(s, hot->count ? pop_head(s, hot) : take_anywhere(s));
}

struct wb_page_note *wb_page_note(struct wb_machine_state *s, region_id page)
{
    WB_DEBUG_CHECK(page >= s->sizes.regions && page < s->sizes.regions + s->pages_given, "region %u is not a page",
                   page);
    __builtin_prefetch(&s->region[page]);
    return &s->page_note[page - s->sizes.regions];
}

void wb_page_free(struct wb_machine_state *s, cpu_id cpu, region_id page)
{
    WB_CHECK(cpu < s->m->topo->ncpus, "CPU %u", cpu);
    WB_CHECK(page >= s->sizes.regions && page < s->sizes.regions + s->pages_given, "region %u is not a page", page);
    struct page_list *hot = &s->page_cpu[cpu];
    uint32_t returned = hot->count >= s->sizes.page_high ? WB_MIN(s->sizes.page_batch, hot->count) : 0;
    for (uint32_t i = 0; i < returned; i++) {
        uint32_t cold = pop_tail(s, hot), home = cold == FRESH ? NO_HOME : s->region[cold].home;
        if (home == NO_HOME) home = s->m->topo->level[WB_LVL_NODE].of[cpu];
        push_head(s, &s->page_zone[home], cold);
    }
    push_head(s, hot, page);
}
