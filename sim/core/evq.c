/* evq.c - storage of the event set; see evq.h. */
#include "evq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reserve.h"

enum { LINE = 64, LARGE = 2 << 20, LEAD = 3, ROOM_MIN = 4, ROOM_MAX = 1u << 30 };

/* Three unused entries lead, so that index 1, 5, 9 ... begin a cache line; three trail, so that the last group is
 * whole. */
static void *take(uint32_t room)
{
    size_t bytes = ((size_t)room + LEAD + 4) * sizeof(struct evq_entry), align = bytes < LARGE ? LINE : LARGE;
    bytes = (bytes + align - 1) / align * align;
    void *mem = aligned_alloc(align, bytes);
    if (mem && align == LARGE) reserve_dense(mem, bytes);
    return mem;
}

static void fill_never(struct evq_entry *h, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) h[i] = EVQ_NEVER;
}

int evq_init(struct evq *q, uint32_t room)
{
    room = WB_MAX(room, (uint32_t)ROOM_MIN);
    WB_CHECK(room <= ROOM_MAX, "event set of %u entries", room);
    *q = (struct evq){.room = room, .mem = take(room)};
    if (!q->mem) return -ENOMEM;
    q->h = (struct evq_entry *)q->mem + LEAD;
    fill_never(q->h, 0, room + 4);
    return 0;
}

void evq_free(struct evq *q)
{
    free(q->mem);
    *q = (struct evq){0};
}

static void set_room(struct evq *q, uint32_t room)
{
    struct evq other;
    int refused = evq_init(&other, room);
    WB_MEMORY(!refused, "no memory for %u pending events", room);
    memcpy(other.h, q->h, q->n * sizeof *q->h);
    other.n = q->n;
    other.peak = q->peak;
    free(q->mem);
    *q = other;
}

void evq_grow(struct evq *q)
{
    WB_CHECK(q->room < ROOM_MAX, "event set passes %u entries", q->room);
    set_room(q, WB_MIN(q->room * 2, (uint32_t)ROOM_MAX));
}

void evq_fit(struct evq *q)
{
    uint32_t room = WB_MAX(q->n + q->n / 4, 64u);
    if (room < q->room) set_room(q, room);
}

bool evq_valid(const struct evq *q)
{
    for (uint32_t i = 1; i < q->n; i++)
        if (evq_before(&q->h[i], &q->h[(i - 1) / 4])) return false;
    for (uint32_t i = q->n; i < q->room + 4; i++)
        if (q->h[i].time != WB_TIME_NEVER || q->h[i].key != UINT64_MAX) return false;
    return true;
}
