/*
 * pages.c - page frames as regions, with the hot lists that decide which cache still knows a page.
 *
 * Rules of Linux 2.6.3 .. 2.6.14 mm/page_alloc.c: free_hot_cold_page() gives `batch` pages from the tail of the
 * CPU's hot list back to the zone when the list has reached `high`, then puts the page at its head;
 * buffered_rmqueue() first appends `batch` pages of the zone when the list is down to `low`, then takes the head.
 * Simplified: one order, one zone per node, no cold list, and the zone is a LIFO in front of pages that were never
 * used.
 */
#include "machine_impl.h"

static struct page_link *link_of(struct wb_machine_state *s, uint32_t id)
{
    return &s->page_link[id - s->sizes.regions];
}

static void push_head(struct wb_machine_state *s, struct page_list *l, uint32_t id)
{
    *link_of(s, id) = (struct page_link){.next = l->head, .prev = WB_NO_REGION};
    if (l->count)
        link_of(s, l->head)->prev = id;
    else
        l->tail = id;
    l->head = id;
    l->count++;
}

static uint32_t pop_head(struct wb_machine_state *s, struct page_list *l)
{
    uint32_t id = l->head;
    l->head = link_of(s, id)->next;
    if (--l->count)
        link_of(s, l->head)->prev = WB_NO_REGION;
    else
        l->tail = WB_NO_REGION;
    return id;
}

static uint32_t pop_tail(struct wb_machine_state *s, struct page_list *l)
{
    uint32_t id = l->tail;
    l->tail = link_of(s, id)->prev;
    if (--l->count)
        link_of(s, l->tail)->next = WB_NO_REGION;
    else
        l->head = WB_NO_REGION;
    return id;
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
    for (uint32_t n = 0; n < s->m->topo->level[WB_LVL_NODE].ngroups; n++) s->page_node[n] = empty;
}

/* The next page that was never used, or WB_NO_REGION. */
static uint32_t take_fresh(struct wb_machine_state *s)
{
    return s->page_fresh == s->sizes.pages ? WB_NO_REGION : s->sizes.regions + s->page_fresh++;
}

/* A page becomes a region when somebody gets it: what only waits in lists costs a link. */
static region_id given(struct wb_machine_state *s, uint32_t id)
{
    if (id == WB_NO_REGION) return id;
    link_of(s, id)->note = (struct wb_page_note){.next = WB_NO_REGION};
    if (!s->region[id].bytes)
        s->region[id] = (struct region){.name = "page", .bytes = s->sizes.page_bytes, .home = WB_NO_CPU};
    return id;
}

/* A page of another node or CPU when nothing else is left: the lowest number that has one. */
static uint32_t take_anywhere(struct wb_machine_state *s)
{
    for (uint32_t n = 0; n < s->m->topo->level[WB_LVL_NODE].ngroups; n++)
        if (s->page_node[n].count) return pop_head(s, &s->page_node[n]);
    for (uint32_t c = 0; c < s->m->topo->ncpus; c++)
        if (s->page_cpu[c].count) return pop_tail(s, &s->page_cpu[c]);
    return WB_NO_REGION;
}

static void append(struct wb_machine_state *s, struct page_list *l, uint32_t id)
{
    *link_of(s, id) = (struct page_link){.next = WB_NO_REGION, .prev = l->tail};
    if (l->count++)
        link_of(s, l->tail)->next = id;
    else
        l->head = id;
    l->tail = id;
}

region_id wb_page_alloc(struct wb_machine_state *s, cpu_id cpu)
{
    WB_CHECK(cpu < s->m->topo->ncpus, "CPU %u", cpu);
    struct page_list *hot = &s->page_cpu[cpu];
    struct page_list *common = &s->page_node[s->m->topo->level[WB_LVL_NODE].of[cpu]];
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
    WB_DEBUG_CHECK(page >= s->sizes.regions && page < s->sizes.regions + s->page_fresh, "region %u is not a page",
                   page);
    return &link_of(s, page)->note;
}

void wb_page_free(struct wb_machine_state *s, cpu_id cpu, region_id page)
{
    WB_CHECK(cpu < s->m->topo->ncpus, "CPU %u", cpu);
    WB_CHECK(page >= s->sizes.regions && page < s->sizes.regions + s->page_fresh, "region %u is not a page", page);
    struct page_list *hot = &s->page_cpu[cpu];
    uint32_t returned = hot->count >= s->sizes.page_high ? WB_MIN(s->sizes.page_batch, hot->count) : 0;
    for (uint32_t i = 0; i < returned; i++) {
        uint32_t cold = pop_tail(s, hot), home = s->region[cold].bytes ? s->region[cold].home : WB_NO_CPU;
        if (home == WB_NO_CPU) home = s->m->topo->level[WB_LVL_NODE].of[cpu];
        push_head(s, &s->page_node[home], cold);
    }
    push_head(s, hot, page);
}
