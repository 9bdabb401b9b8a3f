/*
 * lines.h - a contended line as a word, and the access that is by far the most common: its owner's.
 *
 * Inline for the engine, which makes dozens of them for each message, with the one after another CPU's write; all
 * others go to lines.c.
 */
#ifndef WB_MACHINE_LINES_H
#define WB_MACHINE_LINES_H

#include "machine_impl.h"

enum line_state { LINE_MEMORY, LINE_SHARED, LINE_MODIFIED, LINE_MANY };
#define LINE_LATE ((1ull << LINE_BUSY_BITS) - 1)
#define LINE_EPOCH_MAX (sim_time)(LINE_LATE / 2)
#define LINE_A_SHIFT (LINE_BUSY_BITS + 2)
#define LINE_B_SHIFT (LINE_A_SHIFT + LINE_CPU_BITS)

/* The CPU has modified the line, nobody has had it since, and no transfer of it is under way; the time is not too far
 * from the epoch. */
static inline bool line_is_idle_own(const struct wb_machine_state *s, cpu_id cpu, line_id id, sim_time now)
{
    WB_CHECK(id < s->line_fresh, "CPU %u line %u", cpu, id);
    uint64_t word = s->line[id].word, at = now - s->line_epoch;
    uint32_t owned = (uint32_t)(word >> LINE_BUSY_BITS) & ((4u << LINE_CPU_BITS) - 1); /* state and a */
    return owned == (LINE_MODIFIED | cpu << 2) && at <= LINE_EPOCH_MAX && at >= (word & LINE_LATE);
}

/* The owner accesses such a line: how long that takes. */
static inline sim_time line_idle_own_time(struct wb_machine_state *s, line_id id, enum wb_line_op op, sim_time now)
{
    sim_time local = s->m->line_local[op];
    if (op != WB_LINE_READ) s->line[id].word = (s->line[id].word & ~LINE_LATE) | (now - s->line_epoch + local);
    return local;
}

/* Another CPU has modified the line, its caches are below ours and no bus between: fetch it, for this long. 0: it is
 * another access, or the machine is too large for a table of distances; nothing has changed. */
static inline sim_time line_foreign_wait(struct wb_machine_state *s, cpu_id cpu, line_id id, enum wb_line_op op,
                                         sim_time now)
{
    uint64_t word = s->line[id].word, at = now - s->line_epoch, mine = cpu;
    cpu_id owner = (cpu_id)(word >> LINE_A_SHIFT) & (WB_CPUS_MAX - 1);
    const struct wb_topology *t = s->m->topo;
    if ((word >> LINE_BUSY_BITS & 3) != LINE_MODIFIED || at > LINE_EPOCH_MAX || !t->far) return 0;
    sim_time transfer = s->m->line_transfer[t->far[(size_t)cpu * t->ncpus + owner]][op];
    uint64_t start = WB_MAX(at, word & LINE_LATE), busy = start + transfer;
    if (WB_UNLIKELY(!transfer || busy >= LINE_LATE)) return 0;
    if (op == WB_LINE_READ)
        word = (uint64_t)LINE_SHARED << LINE_BUSY_BITS | (uint64_t)owner << LINE_A_SHIFT;
    else
        word = (uint64_t)LINE_MODIFIED << LINE_BUSY_BITS | mine << LINE_A_SHIFT;
    s->line[id].word = word | mine << LINE_B_SHIFT | busy;
    return busy - at;
}

#endif
