/* machine_state.c - the one block of memory that a run's hardware state lives in. */

#include "shapes.h"
#include "shared.h"
#include "reserve.h"

#define ALIGN 64u
#define LARGE_CPUS 2048u /* below, memory counts more (test_memory) */
#define PAGE 4096u
#define MAPS_STEP (uint32_t)(PAGE / sizeof(uint64_t))

/* Hands out pieces of the block; with base NULL it only adds up. */
struct layout {
    char *base;
    size_t used;
};

static void *piece(struct layout *l, size_t n, size_t size)
{
    void *p = l->base ? l->base + l->used : NULL;
    l->used += (n * size + ALIGN - 1) / ALIGN * ALIGN;
    return p;
}

/* Rules of the page lists filled in, and room for what sits in them: pages that wait in the list of one CPU while
 * another needs some must not make it steal. */
static struct wb_machine_sizes complete(const struct wb_machine *m, const struct wb_machine_sizes *given)
{
    struct wb_machine_sizes z = *given;
    pages_complete(&z);
    z.pages += WB_MIN(m->topo->ncpus, z.pages) * (z.page_high + z.page_batch);
    return z;
}

/* Set the pointers of s (which lives at the start of the block) and return the size of it all. */
static size_t lay_out(struct wb_machine_state *s, struct layout *l, const struct wb_machine *m,
                      const struct wb_machine_sizes *z)
{
    const struct wb_topology *t = m->topo;
    struct wb_machine_state dummy;
    if (!s) s = &dummy;
    uint32_t nwords = WB_CPUMASK_WORDS(t->ncpus);
    uint32_t nmaps = z->walked + (uint32_t)WB_MIN(z->lines + MAPS_STEP, MAP_POOL_BYTES / (nwords * sizeof(uint64_t)));
    /* A word of all maps is a plane: whole pages of it, so that few maps in use touch few. */
    nmaps = nmaps > MAPS_STEP ? nmaps / MAPS_STEP * MAPS_STEP : nmaps;
    piece(l, 1, sizeof *s);
    s->cache = piece(l, t->ncaches, sizeof *s->cache);
    s->recall = piece(l, RECALL_PLACES, sizeof *s->recall);
    s->shared = piece(l, SHARED_PLACES, sizeof *s->shared);
    s->shapes = piece(l, 1, sizeof *s->shapes);
    s->region = piece(l, (size_t)z->regions + z->pages, sizeof *s->region);
    s->blocks.room = (uint32_t)WB_MIN(HOLDER_BLOCKS * ((uint64_t)z->regions + z->pages) + 1, UINT32_MAX);
    s->block = piece(l, s->blocks.room, sizeof *s->block);
    s->rests.room = (uint32_t)WB_MIN(HOLDERS * ((uint64_t)z->regions + z->pages) + 1, UINT32_MAX);
    s->rest = piece(l, s->rests.room, sizeof *s->rest);
    s->page_cpu = piece(l, t->ncpus, sizeof *s->page_cpu);
    s->page_zone = piece(l, t->level[WB_LVL_NODE].ngroups, sizeof *s->page_zone);
    s->page_node = piece(l, z->pages, sizeof *s->page_node);
    s->page_note = piece(l, z->pages, sizeof *s->page_note);
    s->line = piece(l, z->lines, sizeof *s->line);
    s->line_used = piece(l, (z->lines >> LINES_STRETCH_BITS) + 1, sizeof *s->line_used);
    s->line_late = piece(l, z->lines, sizeof *s->line_late);
    s->maps.nwords = nwords;
    s->maps.nmaps = nmaps;
    s->maps.walked_first = z->walked_first;
    s->maps.walked = z->walked;
    s->maps.nsums = (nwords + 63) / 64;
    l->used = (l->used + PAGE - 1) / PAGE * PAGE;
    s->maps.w = piece(l, (size_t)nmaps * nwords, sizeof *s->maps.w);
    s->maps.some = piece(l, (size_t)nmaps * s->maps.nsums, sizeof *s->maps.some);
    s->maps.line = piece(l, nmaps, sizeof *s->maps.line);
    s->maps.next = piece(l, nmaps, sizeof *s->maps.next);
    s->server = piece(l, m->nservers, sizeof *s->server);
    s->job = piece(l, (size_t)t->ncpus * WB_STAGE_SERVERS, sizeof *s->job);
    return l->used;
}

size_t wb_machine_state_size(const struct wb_machine *m, const struct wb_machine_sizes *sizes)
{
    struct layout l = {0};
    struct wb_machine_sizes z = complete(m, sizes);
    return lay_out(NULL, &l, m, &z);
}

struct wb_machine_state *wb_machine_state_init(void *mem, const struct wb_machine *m,
                                               const struct wb_machine_sizes *sizes)
{
    WB_CHECK(mem && ((uintptr_t)mem & (ALIGN - 1)) == 0, "state memory is not aligned to %u", ALIGN);
    struct wb_machine_sizes z = complete(m, sizes);
    WB_CHECK(z.regions < WB_NO_REGION - z.pages, "too many regions");
    struct wb_machine_state *s = mem;
    struct layout l = {.base = mem};
    s->bytes = lay_out(s, &l, m, &z);
    s->m = m;
    s->sizes = z;
    /* Regions, pages and lines are written when they are made: what is never used costs no real memory. */
    caches_init(s);
    pages_init(s);
    lines_init(s);
    s->shapes->over = s->sizes.regions > SHAPE_REGIONS;
    if (!s->shapes->over) s->shapes->credit = SHAPE_CREDIT;
    bus_init(s);
    return s;
}

struct wb_machine_state *wb_machine_state_new(const struct wb_machine *m, const struct wb_machine_sizes *sizes)
{
    void *mem = reserve_take(wb_machine_state_size(m, sizes));
    struct wb_machine_state *s = mem ? wb_machine_state_init(mem, m, sizes) : NULL;
    /* Caches, regions and lines: each of a large machine's CPUs and tasks has some, and they are used from the first
     * on. */
    if (s && m->topo->ncpus >= LARGE_CPUS) reserve_dense(s->cache, (size_t)((char *)s->line_late - (char *)s->cache));
    return s;
}

void wb_machine_state_free(struct wb_machine_state *s)
{
    if (s) reserve_give(s, s->bytes);
}

size_t wb_machine_state_touched(const struct wb_machine_state *s)
{
    return reserve_touched(s, s->bytes);
}
