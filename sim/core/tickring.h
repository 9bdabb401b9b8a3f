/*
 * tickring.h - timers of one constant period, one per CPU.
 *
 * Tick k of CPU c happens at phase(c) + k * period, phase(c) < period. Sorted once by (phase, cpu), the ticks of all
 * CPUs form a ring that needs no queue: the cursor walks round it, and "the next CPU that ticks" is the next set bit
 * of a bitmap in ring order. CPUs that tick again within one period are bits of the ring. A CPU that skips several
 * ticks (tick elision) waits in a small indexed heap until its tick is due and then re-enters the ring. A stopped CPU
 * is in neither.
 *
 * Costs: peek O(1), advance O(1) while CPUs tick, stop O(1) for a ticking CPU; skip and start of a
 * skipping CPU O(log n).
 *
 * The order is total and the event set's own: entries carry (time, class, cpu, tick index), so a merged minimum is
 * evq_before(tickring_peek(r), evq_peek(q)). tickring_peek() says EVQ_NEVER when no CPU ticks.
 *
 * Time does not go back: tickring_start() must not ask for a tick before the last one that was advanced over.
 */
#ifndef WB_CORE_TICKRING_H
#define WB_CORE_TICKRING_H

#include "arena.h"
#include "evq.h"

struct tickring {
    struct evq_entry next; /* what tickring_peek() shows */
    sim_time period;
    uint32_t class;
    uint32_t ncpus;
    /* Just after the last tick that fired: every ring bit at a rank >= rank belongs to this round, every other to the
     * next. */
    uint64_t round;
    uint32_t rank;
    uint32_t in_ring; /* bits set */
    uint32_t n_late;  /* entries of the heap */
    bool next_late;   /* the next tick is the heap's */
    sim_time *phase_of_rank;
    cpu_id *cpu_of_rank;
    uint32_t *rank_of_cpu;
    uint64_t *bits;    /* one per rank */
    uint64_t *summary; /* one per word of bits */
    uint64_t *late;    /* binary heap of round << 14 | rank: the order of time, cpu */
    uint32_t *slot;    /* of rank in the heap, or UINT32_MAX */
};

/* Every CPU is stopped. phase[cpu] < period, period > 0, ncpus <= WB_CPUS_MAX. 0, or -ENOMEM. Storage is
 * the arena's. */
int tickring_init(struct tickring *r, struct arena *a, uint32_t class, uint32_t ncpus, sim_time period) WB_MUST_USE;
/* Sets the phases and sorts; once, before any CPU starts. */
void tickring_set_phases(struct tickring *r, const sim_time *phase);

/* The CPU's next tick is its first at or after `from`, whatever it did before (stopped, skipping, ticking). */
void tickring_start(struct tickring *r, cpu_id cpu, sim_time from);
/* The CPU's next tick is its first after `now` in the total order of events; for a restart in the middle of an
 * instant, where some ticks of that instant have happened and some have not. */
void tickring_start_after(struct tickring *r, cpu_id cpu, const struct evq_entry *now);
void tickring_stop(struct tickring *r, cpu_id cpu);
/* Leave out the next k ticks of a CPU that is not stopped. */
void tickring_skip(struct tickring *r, cpu_id cpu, uint64_t k);
/* The tick that tickring_peek() shows happened; that CPU's next is one period later. There must be one. */
void tickring_advance(struct tickring *r);

bool tickring_ticks(const struct tickring *r, cpu_id cpu);          /* not stopped */
uint64_t tickring_next_index(const struct tickring *r, cpu_id cpu); /* k of its next tick; UINT64_MAX when stopped */
sim_time tickring_time(const struct tickring *r, cpu_id cpu, uint64_t k);
/* Smallest k whose tick of this CPU is at or after t. */
uint64_t tickring_index_from(const struct tickring *r, cpu_id cpu, sim_time t);

static inline const struct evq_entry *tickring_peek(const struct tickring *r)
{
    return &r->next;
}

#endif
