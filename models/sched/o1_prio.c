/*
 * o1_prio.c - sleep average, dynamic priority, time slices.
 *
 * Linux 2.6.10 .. 2.6.22 kernel/sched.c: recalc_task_prio, effective_prio, task_timeslice and the macros above them.
 * The macros work in whole ticks (MAX_SLEEP_AVG = DEF_TIMESLICE * MAX_BONUS ticks), so at HZ = 1024 the sleep average
 * tops out at 0.996 s, not 1 s.
 */
#include "o1.h"

/* SCALE_PRIO: 40 levels of nice share base * (1/20 .. 2). */
static uint32_t scale_prio(const struct o1_sim *o, uint32_t base, uint32_t prio)
{
    return WB_MAX(base * (O1_PRIOS - prio) / 20, o->min_slice);
}

void o1_prio_init(struct o1_sim *o)
{
    for (uint32_t i = 0; i < 40; i++) o->slice_of[i] = scale_prio(o, o->def_slice * (i < 20 ? 4 : 1), O1_RT_PRIOS + i);
    o->max_sleep = o->max_sleep_ticks * o->tick_ns;
    for (uint32_t b = 0; b <= o->max_bonus; b++) o->bonus_from[b] = o1_bonus_sleep(o, b);
}

/* Least whole number of ticks t with t * MAX_BONUS / MAX_SLEEP_AVG >= bonus. */
uint64_t o1_bonus_sleep(const struct o1_sim *o, uint32_t bonus)
{
    if (!o->max_bonus) return 0;
    return ((uint64_t)bonus * o->max_sleep_ticks + o->max_bonus - 1) / o->max_bonus * o->tick_ns;
}

uint32_t o1_bonus(const struct o1_sim *o, const struct o1_task *p)
{
    if (!o->interactive) return o->max_bonus / 2;
    uint32_t b = o->max_bonus;
    while (p->sleep_avg < o->bonus_from[b]) b--; /* bonus_from[0] is 0 */
    return b;
}

/* DELTA(p): nice tasks need more bonus to count as interactive. C division truncates; 2.6.22 shifts the range first. */
static int32_t delta(const struct o1_sim *o, const struct o1_task *p)
{
    int32_t nice = (int32_t)p->static_prio - 120, range = (int32_t)o->max_bonus;
    int32_t scaled = o->v->delta_floor ? (nice + 20) * range / 40 - 20 * range / 40 : nice * range / 40;
    return scaled + o->interactive_delta;
}

bool o1_interactive(const struct o1_sim *o, const struct o1_task *p)
{
    return (int32_t)p->prio <= (int32_t)p->static_prio - delta(o, p);
}

uint8_t o1_effective_prio(const struct o1_sim *o, const struct o1_task *p)
{
    if (o1_rt(p)) return p->prio;
    int32_t prio = (int32_t)p->static_prio - (int32_t)o1_bonus(o, p) + (int32_t)o->max_bonus / 2;
    return (uint8_t)WB_MIN(WB_MAX(prio, (int32_t)O1_RT_PRIOS), (int32_t)O1_PRIOS - 1);
}

uint64_t o1_interactive_sleep(const struct o1_sim *o, const struct o1_task *p)
{
    int64_t half = (int64_t)o->max_bonus / 2 + delta(o, p) + 1;
    int64_t ticks = (int64_t)o->max_sleep_ticks * half / (int64_t)WB_MAX(o->max_bonus, 1u) - 1;
    return (uint64_t)WB_MAX(ticks, 0) * o->tick_ns;
}

static bool high_credit(const struct o1_sim *o, const struct o1_task *p)
{
    return p->credit > o->credit_limit;
}
static bool low_credit(const struct o1_sim *o, const struct o1_task *p)
{
    return p->credit < -o->credit_limit;
}

static void earn_credit(const struct o1_sim *o, struct o1_task *p)
{
    if (o->credit_limit && !high_credit(o, p)) p->credit++;
}

/* Sleep that was not meant as interactive (uninterruptible, TASK_NONINTERACTIVE) cannot lift above `ceiling`. */
static uint64_t cap_gain(struct o1_task *p, uint64_t sleep, uint64_t ceiling)
{
    if (p->sleep_avg >= ceiling) return 0;
    if (p->sleep_avg + sleep < ceiling) return sleep;
    p->sleep_avg = ceiling;
    return 0;
}

/* A short sleep of 2.6.10 and 2.6.11: the lower the bonus, the more it counts. */
static uint64_t multiplied(const struct o1_sim *o, const struct o1_task *p, uint64_t sleep)
{
    sleep *= WB_MAX(o->max_bonus - o1_bonus(o, p), 1u);
    if (o->credit_limit && low_credit(o, p)) sleep = WB_MIN(sleep, o1_timeslice(o, p) * o->tick_ns);
    return sleep;
}

static void add_sleep(const struct o1_sim *o, struct o1_task *p, uint64_t sleep)
{
    p->sleep_avg += sleep;
    if (p->sleep_avg <= o->max_sleep) return;
    p->sleep_avg = o->max_sleep;
    earn_credit(o, p);
}

/* 2.6.10, 2.6.11. */
static void gain_multiplied(const struct o1_sim *o, struct o1_task *p, uint64_t sleep, uint64_t ceiling)
{
    bool user = p->t->mm != 0, noninteractive = p->sleep == O1_SLEEP_NONINTERACTIVE;
    if (user && !noninteractive && sleep > ceiling) {
        p->sleep_avg = (uint64_t)(o->max_sleep_ticks - o->def_slice) * o->tick_ns;
        earn_credit(o, p);
        return;
    }
    sleep = multiplied(o, p, sleep);
    if (user && noninteractive && !(o->credit_limit && high_credit(o, p))) sleep = cap_gain(p, sleep, ceiling);
    add_sleep(o, p, sleep);
}

/* 2.6.18 .. 2.6.22. */
static void gain_plain(const struct o1_sim *o, struct o1_task *p, uint64_t sleep, uint64_t ceiling)
{
    bool user = p->t->mm != 0;
    if (user && sleep > ceiling && p->sleep_avg < ceiling) {
        p->sleep_avg = ceiling;
        p->sleep = O1_SLEEP_NONINTERACTIVE;
        return;
    }
    if (user && p->sleep == O1_SLEEP_NONINTERACTIVE) sleep = cap_gain(p, sleep, ceiling);
    add_sleep(o, p, sleep);
}

/*
 * recalc_task_prio. `now` is on the clock of the task's new runqueue; ticks of two CPUs are not in phase, so it may
 * lie before the task's timestamp. The kernels subtract unsigned: such a task has slept "for ever" and gets the full
 * credit.
 */
void o1_recalc(const struct o1_sim *o, struct o1_task *p, uint64_t now)
{
    if (o1_rt(p)) return;
    uint64_t sleep = WB_MIN(now - p->timestamp, o->max_sleep);
    if (o->v->batch && p->t->klass == WB_CLASS_BATCH) sleep = 0;
    if (sleep && o->interactive) {
        uint64_t ceiling = o1_interactive_sleep(o, p);
        if (o->v->sleep_ceiling)
            gain_plain(o, p, sleep, ceiling);
        else
            gain_multiplied(o, p, sleep, ceiling);
    }
    p->prio = o1_effective_prio(o, p);
}

/* schedule(): the time on the CPU costs sleep average; a high bonus makes it cheaper, in 2.6.10 for high credit
 * only. */
void o1_charge_run(const struct o1_sim *o, struct o1_task *p, uint64_t now)
{
    int64_t ran = (int64_t)(now - p->timestamp);
    uint64_t run = ran < 0 ? 0 : WB_MIN((uint64_t)ran, o->max_sleep);
    if (!o->credit_limit || high_credit(o, p)) run /= WB_MAX(o1_bonus(o, p), 1u);
    p->sleep_avg = p->sleep_avg > run ? p->sleep_avg - run : 0;
    if (!p->sleep_avg && o->credit_limit && !high_credit(o, p) && !low_credit(o, p)) p->credit--;
    p->timestamp = p->last_ran = now;
}

uint32_t o1_timeslice(const struct o1_sim *o, const struct o1_task *p)
{
    return o->slice_of[WB_MAX(p->static_prio, (uint8_t)O1_RT_PRIOS) - O1_RT_PRIOS];
}

uint32_t o1_granularity(const struct o1_sim *o, const struct o1_task *p)
{
    uint32_t short_of = WB_MAX(o->max_bonus - o1_bonus(o, p), 1u);
    uint64_t g = ((uint64_t)o->granularity << WB_MIN(short_of - 1, 20u)) * o->ncpus;
    return (uint32_t)WB_MIN(g, UINT32_MAX);
}

/* 2.6.16+ set_load_weight: by time slice, nice 0 = 128; real time above all, the migration thread nothing. */
uint32_t o1_weight(const struct o1_sim *o, const struct wb_task *t)
{
    if (!o->v->weighted) return O1_SCALE;
    if (t->klass == WB_CLASS_STOP) return 0;
    if (t->klass == WB_CLASS_FIFO)
        return o->slice_of[0] * O1_SCALE / o->def_slice + t->rt_prio * O1_SCALE / o->def_slice;
    int32_t nice = t->klass == WB_CLASS_IDLE ? 19 : t->nice;
    return o->slice_of[nice + 20] * O1_SCALE / o->def_slice;
}
