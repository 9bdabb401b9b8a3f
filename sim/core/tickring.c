/* tickring.c - see tickring.h. */
#include "tickring.h"

#include <errno.h>
#include <stdlib.h>

enum { RANK_BITS = 14 };
#define NOT_LATE UINT32_MAX
_Static_assert(WB_CPUS_MAX <= 1u << RANK_BITS, "a rank must fit beside the round");

int tickring_init(struct tickring *r, struct arena *a, uint32_t class, uint32_t ncpus, sim_time period)
{
    WB_CHECK(ncpus && ncpus <= WB_CPUS_MAX && period, "%u CPUs, period %llu", ncpus, (unsigned long long)period);
    uint32_t nwords = (ncpus + 63) / 64;
    *r = (struct tickring){.next = EVQ_NEVER, .period = period, .class = class, .ncpus = ncpus};
    r->phase_of_rank = ARENA_NEW(a, sim_time, ncpus);
    r->cpu_of_rank = ARENA_NEW(a, cpu_id, ncpus);
    r->rank_of_cpu = ARENA_NEW(a, uint32_t, ncpus);
    r->bits = ARENA_NEW(a, uint64_t, nwords);
    r->summary = ARENA_NEW(a, uint64_t, (nwords + 63) / 64);
    r->late = ARENA_NEW(a, uint64_t, ncpus);
    r->slot = ARENA_NEW(a, uint32_t, ncpus);
    if (!r->phase_of_rank || !r->cpu_of_rank || !r->rank_of_cpu || !r->bits || !r->summary || !r->late || !r->slot)
        return -ENOMEM;
    for (uint32_t i = 0; i < ncpus; i++) {
        r->cpu_of_rank[i] = r->rank_of_cpu[i] = i;
        r->slot[i] = NOT_LATE;
    }
    return 0;
}

static int by_phase(const void *pa, const void *pb, void *phase)
{
    cpu_id a = *(const cpu_id *)pa, b = *(const cpu_id *)pb;
    sim_time ta = ((const sim_time *)phase)[a], tb = ((const sim_time *)phase)[b];
    if (ta != tb) return ta < tb ? -1 : 1;
    return a < b ? -1 : a > b;
}

void tickring_set_phases(struct tickring *r, const sim_time *phase)
{
    WB_CHECK(!r->in_ring && !r->n_late, "phases are set before the first tick starts");
    /* qsort_r only reads the phases. */
    qsort_r(r->cpu_of_rank, r->ncpus, sizeof *r->cpu_of_rank, by_phase, (void *)(uintptr_t)phase);
    for (uint32_t rank = 0; rank < r->ncpus; rank++) {
        cpu_id cpu = r->cpu_of_rank[rank];
        WB_CHECK(phase[cpu] < r->period, "tick phase of cpu %u is a period or more", cpu);
        r->rank_of_cpu[cpu] = rank;
        r->phase_of_rank[rank] = phase[cpu];
    }
}

/* --- the ring's bitmap ------------------------------------------------------------------------------------ */

static bool in_ring(const struct tickring *r, uint32_t rank)
{
    return r->bits[rank >> 6] >> (rank & 63) & 1;
}

static void ring_add(struct tickring *r, uint32_t rank)
{
    r->bits[rank >> 6] |= 1ull << (rank & 63);
    r->summary[rank >> 12] |= 1ull << (rank >> 6 & 63);
    r->in_ring++;
}

static void ring_remove(struct tickring *r, uint32_t rank)
{
    r->bits[rank >> 6] &= ~(1ull << (rank & 63));
    if (!r->bits[rank >> 6]) r->summary[rank >> 12] &= ~(1ull << (rank >> 6 & 63));
    r->in_ring--;
}

/* First set rank >= from, or UINT32_MAX. */
static uint32_t ring_find(const struct tickring *r, uint32_t from)
{
    if (from >= r->ncpus) return UINT32_MAX;
    uint32_t w = from >> 6;
    uint64_t here = r->bits[w] & ~0ull << (from & 63);
    if (here) return w * 64 + (uint32_t)__builtin_ctzll(here);
    uint32_t nsummary = ((r->ncpus + 63) / 64 + 63) / 64;
    w++;
    for (uint32_t s = w >> 6; s < nsummary; s++) {
        uint64_t words = r->summary[s];
        if (s == w >> 6) words &= ~0ull << (w & 63);
        if (!words) continue;
        w = s * 64 + (uint32_t)__builtin_ctzll(words);
        return w * 64 + (uint32_t)__builtin_ctzll(r->bits[w]);
    }
    return UINT32_MAX;
}

/* --- the heap of those who tick later ---------------------------------------------------------------------- */

static uint64_t late_key(uint64_t round, uint32_t rank)
{
    return round << RANK_BITS | rank;
}

static uint32_t late_rank(uint64_t key)
{
    return (uint32_t)(key & ((1u << RANK_BITS) - 1));
}

static void late_put(struct tickring *r, uint32_t i, uint64_t key)
{
    r->late[i] = key;
    r->slot[late_rank(key)] = i;
}

static void late_up(struct tickring *r, uint32_t i, uint64_t key)
{
    while (i && key < r->late[(i - 1) / 2]) {
        late_put(r, i, r->late[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    late_put(r, i, key);
}

static void late_down(struct tickring *r, uint32_t i, uint64_t key)
{
    for (uint32_t c = 2 * i + 1; c < r->n_late; c = 2 * i + 1) {
        if (c + 1 < r->n_late && r->late[c + 1] < r->late[c]) c++;
        if (key <= r->late[c]) break;
        late_put(r, i, r->late[c]);
        i = c;
    }
    late_put(r, i, key);
}

static void late_add(struct tickring *r, uint64_t key)
{
    late_up(r, r->n_late++, key);
}

static void late_remove(struct tickring *r, uint32_t rank)
{
    uint32_t i = r->slot[rank];
    uint64_t last = r->late[--r->n_late];
    r->slot[rank] = NOT_LATE;
    if (i == r->n_late) return;
    if (i && last < r->late[(i - 1) / 2])
        late_up(r, i, last);
    else
        late_down(r, i, last);
}

/* --- both together ------------------------------------------------------------------------------------------ */

/* Round in which a member of the ring ticks next. */
static uint64_t ring_round(const struct tickring *r, uint32_t rank)
{
    return r->round + (rank < r->rank);
}

static void find_next(struct tickring *r)
{
    uint64_t best = UINT64_MAX;
    if (r->in_ring) {
        uint32_t rank = ring_find(r, r->rank);
        if (rank == UINT32_MAX) rank = ring_find(r, 0);
        best = late_key(ring_round(r, rank), rank);
    }
    r->next_late = r->n_late && r->late[0] < best;
    if (r->next_late) best = r->late[0];
    if (best == UINT64_MAX) {
        r->next = EVQ_NEVER;
        return;
    }
    uint64_t k = best >> RANK_BITS;
    cpu_id cpu = r->cpu_of_rank[late_rank(best)];
    r->next.time = r->phase_of_rank[late_rank(best)] + k * r->period;
    r->next.key = evq_key(r->class, cpu, k);
}

/* The CPU of this rank, in neither set, ticks next in `round`. */
static void add(struct tickring *r, uint64_t round, uint32_t rank)
{
    WB_CHECK(round > r->round || (round == r->round && rank >= r->rank), "tick of cpu %u in the past",
             r->cpu_of_rank[rank]);
    if (ring_round(r, rank) == round)
        ring_add(r, rank);
    else
        late_add(r, late_key(round, rank));
}

static void remove_rank(struct tickring *r, uint32_t rank)
{
    if (in_ring(r, rank))
        ring_remove(r, rank);
    else if (r->slot[rank] != NOT_LATE)
        late_remove(r, rank);
}

static uint32_t rank_of(const struct tickring *r, cpu_id cpu)
{
    WB_CHECK(cpu < r->ncpus, "cpu %u of %u", cpu, r->ncpus);
    return r->rank_of_cpu[cpu];
}

static void start_at(struct tickring *r, cpu_id cpu, uint64_t k)
{
    uint32_t rank = rank_of(r, cpu);
    remove_rank(r, rank);
    add(r, k, rank);
    find_next(r);
}

void tickring_start(struct tickring *r, cpu_id cpu, sim_time from)
{
    start_at(r, cpu, tickring_index_from(r, cpu, from));
}

void tickring_start_after(struct tickring *r, cpu_id cpu, const struct evq_entry *now)
{
    uint64_t k = tickring_index_from(r, cpu, now->time);
    struct evq_entry tick = {.time = tickring_time(r, cpu, k), .key = evq_key(r->class, cpu, k)};
    start_at(r, cpu, evq_before(now, &tick) ? k : k + 1);
}

void tickring_stop(struct tickring *r, cpu_id cpu)
{
    remove_rank(r, rank_of(r, cpu));
    if (evq_entity(r->next.key) == cpu) find_next(r);
}

void tickring_skip(struct tickring *r, cpu_id cpu, uint64_t k)
{
    uint32_t rank = rank_of(r, cpu);
    uint64_t round = tickring_next_index(r, cpu);
    WB_CHECK(round != UINT64_MAX, "cpu %u skips ticks but is stopped", cpu);
    if (!k) return;
    remove_rank(r, rank);
    add(r, round + k, rank);
    find_next(r);
}

void tickring_advance(struct tickring *r)
{
    WB_CHECK(r->next.time != WB_TIME_NEVER, "advance, but no CPU ticks");
    uint64_t k = evq_counter(r->next.key);
    uint32_t rank = r->rank_of_cpu[evq_entity(r->next.key)];
    if (r->next_late) {
        late_remove(r, rank);
        ring_add(r, rank);
    }
    /* Everything before this tick has fired, so the cursor may jump to just after it; the CPU is then last in the
     * ring. */
    r->round = k;
    r->rank = rank + 1;
    find_next(r);
}

bool tickring_ticks(const struct tickring *r, cpu_id cpu)
{
    uint32_t rank = rank_of(r, cpu);
    return in_ring(r, rank) || r->slot[rank] != NOT_LATE;
}

uint64_t tickring_next_index(const struct tickring *r, cpu_id cpu)
{
    uint32_t rank = rank_of(r, cpu);
    if (in_ring(r, rank)) return ring_round(r, rank);
    if (r->slot[rank] != NOT_LATE) return r->late[r->slot[rank]] >> RANK_BITS;
    return UINT64_MAX;
}

sim_time tickring_time(const struct tickring *r, cpu_id cpu, uint64_t k)
{
    return r->phase_of_rank[rank_of(r, cpu)] + k * r->period;
}

uint64_t tickring_index_from(const struct tickring *r, cpu_id cpu, sim_time t)
{
    sim_time phase = r->phase_of_rank[rank_of(r, cpu)];
    return t <= phase ? 0 : (t - phase - 1) / r->period + 1;
}
