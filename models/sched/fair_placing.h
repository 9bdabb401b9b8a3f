/* fair_placing.h - one wakeup being placed; what fair_place.c, fair_place_affine.c and fair_place_idle.c share. */
#ifndef WB_SCHED_FAIR_PLACING_H
#define WB_SCHED_FAIR_PLACING_H

#include "fair.h"
#include "ladder.h"

struct placing {
    struct wb_exec *x;
    struct fair_sim *f;
    const struct wb_wakeup *w;
    struct fair_task *p;
    struct wb_rq *prev, *here;
    bool sync;
    cpu_id target;
    enum fair_how how;
    enum fair_where where;
    uint32_t scanned;
    cpu_id seen[4]; /* looked at already: their lines are here */
    uint32_t nseen;
};

static inline bool place_shares_cache(const struct fair_sim *f, cpu_id a, cpu_id b)
{
    return f->pl.seat[a].llc_id == f->pl.seat[b].llc_id;
}
/* A look at a CPU: charged once for those that the decision begins with. */
struct wb_rq *place_look(struct placing *k, cpu_id c);
/* available_idle_cpu || sched_idle_cpu; looks. */
bool place_idle(struct placing *k, cpu_id c);
/* Weight of what runs there: the idle task has that of a nice-0 task (it was forked from init). */
uint64_t place_curr_weight(const struct wb_exec *x);

/* ---- fair_place_affine.c: the target. They set k->how. ---- */
cpu_id place_target_loads(struct placing *k);
/* The domain in which the wakeup may be affine, or NULL with k->how saying why there is none. wide: ask wake_wide(),
 * wake_cap(). */
struct wb_sd *place_affine_domain(struct placing *k, bool wide);
cpu_id place_target_sibling(struct placing *k, const struct wb_sd *sd); /* wake_affine, 2.6.35 */
cpu_id place_target_cache(struct placing *k, struct wb_sd *sd);         /* wake_affine, 4.14+ */
void place_record_wakee(struct placing *k, struct fair_task *waker);
bool place_wide(const struct placing *k);

/* ---- fair_place_fork.c: the slow path of wakeups that are not affine, where levels say so. Sets k->target. ---- */
bool fair_place_slow(struct placing *k);

/* ---- fair_place_packed.c: the packing rule keeps it where it is ---- */
bool place_packed(struct placing *k);

/* ---- fair_place_idle.c: an idle CPU near k->target; they set k->target and k->where ---- */
void place_idle_sibling(struct placing *k);  /* 2.6.35, 2.6.36 */
void place_idle_in_cache(struct placing *k); /* 5.4+ */

#endif
