/* tracering.c - room for the trace ring. */
#include "tracering.h"

#include <errno.h>

int trace_init(struct wb_trace *t, struct arena *a, uint64_t capacity, sim_time from, sim_time to)
{
    WB_CHECK(capacity > 0 && capacity <= 1ull << 40, "a ring of %llu records", (unsigned long long)capacity);
    uint64_t n = 1;
    while (n < capacity) n *= 2;
    struct wb_trace_record *ring = ARENA_NEW(a, struct wb_trace_record, n);
    if (!ring) return -ENOMEM;
    *t = (struct wb_trace){.ring = ring, .capacity = n, .from = from, .to = to};
    return 0;
}
