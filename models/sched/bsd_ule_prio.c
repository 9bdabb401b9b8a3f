/*
 * bsd_ule_prio.c - interactivity, priority and time slices (FreeBSD 5.2.1 kern/sched_ule.c: sched_interact_score,
 * sched_interact_update, sched_interact_fork, sched_priority, sched_slice).
 */
#include "bsd.h"

#define SCORE_MAX 100u
#define SCORE_HALF (SCORE_MAX / 2)
#define PRI_MIN 160 /* PRI_MIN_TIMESHARE */
#define PRI_MAX 223
#define PRI_RANGE (PRI_MAX - PRI_MIN + 1)
#define SLICE_WINDOW 19 /* SCHED_SLICE_NTHRESH: SCHED_PRI_NHALF - 1 */

/* 0 .. 50: sleeps more than it runs; 50 .. 100: runs more than it sleeps. */
uint32_t ule_score(const struct bsd_task *p)
{
    if (p->runtime > p->sleeptime) {
        uint64_t div = WB_MAX(p->runtime / SCORE_HALF, 1u);
        return (uint32_t)(SCORE_HALF + (SCORE_HALF - WB_MIN(p->sleeptime / div, SCORE_HALF)));
    }
    if (p->sleeptime > p->runtime) {
        uint64_t div = WB_MAX(p->sleeptime / SCORE_HALF, 1u);
        return (uint32_t)WB_MIN(p->runtime / div, SCORE_HALF);
    }
    return 0;
}

bool ule_interactive(const struct ule_sim *o, const struct bsd_task *p)
{
    return ule_score(p) < o->interact_threshold;
}

/* The history is bounded: a fifth is forgotten when it is full, half when it is more than a fifth over. */
void ule_forget(const struct ule_sim *o, struct bsd_task *p)
{
    uint64_t sum = p->runtime + p->sleeptime;
    if (sum < o->history) return;
    if (sum > o->history / 5 * 6) {
        p->runtime /= 2;
        p->sleeptime /= 2;
        return;
    }
    p->runtime = p->runtime / 5 * 4;
    p->sleeptime = p->sleeptime / 5 * 4;
}

/* A tick of the statistics clock counts as hz / stathz ticks of run time, at least one (tickincr). */
void ule_ran(const struct ule_sim *o, struct bsd_task *p, uint32_t n)
{
    p->runtime += (uint64_t)n * WB_MAX(o->hz / o->stathz, 1u) << 10;
    ule_forget(o, p);
}

/* A child has its parent's ratio and little of its history, so that it can prove itself soon. */
void ule_forget_fork(const struct ule_sim *o, struct bsd_task *p)
{
    uint64_t sum = p->runtime + p->sleeptime;
    if (sum <= o->history_fork) return;
    uint64_t ratio = sum / o->history_fork;
    p->runtime /= ratio;
    p->sleeptime /= ratio;
}

void ule_priority(struct bsd_task *p)
{
    const struct wb_task *t = p->t;
    if (t->klass == WB_CLASS_STOP || t->klass == WB_CLASS_FIFO) {
        p->user_prio = (uint8_t)(t->klass == WB_CLASS_STOP ? 0 : 159 - WB_MIN(t->rt_prio, 99) * 31 / 99);
        return;
    }
    if (t->klass == WB_CLASS_IDLE) {
        p->user_prio = 224;
        return;
    }
    int32_t prio = PRI_MIN + (int32_t)(ule_score(p) * PRI_RANGE / SCORE_MAX) + t->nice;
    p->user_prio = (uint8_t)WB_MIN(WB_MAX(prio, PRI_MIN), PRI_MAX);
}

int ule_nice_min(const struct ule_rq *r)
{
    for (uint32_t i = 0; i < ULE_NICES; i++)
        if (r->nice[i]) return (int)i - 20;
    return 0;
}

/* By the distance from the least nice task of the CPU; beyond the window there is none until that one sleeps, but for
 * tasks of nice 0 beside one of -20. */
void ule_slice(const struct ule_sim *o, const struct ule_rq *r, struct bsd_task *p)
{
    int away = p->t->nice - ule_nice_min(r), range = (int)(o->slice_max - o->slice_min) + 1;
    if (ule_interactive(o, p))
        p->slice = (int32_t)o->slice_min;
    else if (!r->timeshare || away < 0)
        p->slice = (int32_t)o->slice_max;
    else if (away <= SLICE_WINDOW)
        p->slice = (int32_t)o->slice_max - away * range / SLICE_WINDOW;
    else
        p->slice = p->t->nice ? 0 : (int32_t)o->slice_min;
}

/* `now`: td_priority. It differs from the user priority after a sleep in the kernel, and at the end of a slice that has
 * changed the latter: as long as a score moves, a hog stays in the current calendar. */
bool ule_current(const struct ule_sim *o, const struct bsd_task *p, uint8_t now)
{
    return now != p->user_prio || ule_interactive(o, p);
}
