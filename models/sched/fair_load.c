/*
 * fair_load.c - how loaded CPUs and tasks are.
 *
 * 2.6.23 .. 2.6.36: cpu_load[i], the queued weight damped over 2^i ticks (kernel/sched.c update_cpu_load,
 * source_load, target_load). 2.6.23 measures it: average weight while busy times the busy part of the tick
 * (PRECISE_CPU_LOAD). 5.4 and later: PELT of tasks and queues (kernel/sched/fair.c update_load_avg,
 * attach_entity_load_avg, update_cfs_rq_load_avg, util_est_*). A sleeper's load stays with its queue and decays there
 * until it wakes elsewhere.
 */
#include "fair.h"

#define UTIL_MARGIN (PELT_SCALE / 100)

/* ---- cpu_load[5] ---- */

/* 2.6.36 decay_load_missed: (1 - 2^-i)^(2^j) of 128, truncated. */
void fair_loads_init(struct fair_sim *f)
{
    pelt_init(&f->pelt);
    for (uint32_t i = 1; i < 5; i++) {
        uint64_t part = ((1ull << i) - 1) << (32 - i);
        for (uint32_t j = 0; j < 8; j++) {
            f->degrade[i][j] = (uint8_t)(part >> 25);
            part = part * part >> 32;
        }
    }
}

static uint64_t missed(const struct fair_sim *f, uint64_t load, uint64_t ticks, uint32_t i)
{
    static const uint8_t gone_after[5] = {0, 8, 32, 64, 128};
    if (ticks >= gone_after[i]) return 0;
    if (i == 1) return load >> ticks;
    for (uint32_t j = 0; ticks; j++, ticks >>= 1)
        if (ticks & 1) load = load * f->degrade[i][j] >> 7;
    return load;
}

/* 2.6.23: weight per task while something ran, times the share of the interval that something ran. */
static uint64_t measured(const struct fair_sim *f, struct fair_rq *r)
{
    uint64_t exec = r->exec_clock - r->load_exec_start + 1, fair = r->fair_clock - r->load_fair_start + 1;
    uint64_t interval = WB_MAX(r->clock - r->load_stamp, f->tick_ns);
    r->load_exec_start = r->exec_clock;
    r->load_fair_start = r->fair_clock;
    r->load_stamp = r->clock;
    exec = WB_MIN(exec, interval);
    return WEIGHT_NICE_0 * exec / fair * exec / interval;
}

static uint64_t damp(uint64_t old, uint64_t load, uint32_t i, bool round_up)
{
    uint64_t scale = 1ull << i;
    if (round_up && load > old) load += scale - 1;
    return (old * (scale - 1) + load) >> i;
}

/* `ticks` of them with the present load; steady after some tens, so any number costs little. */
static void damp_all(const struct fair_sim *f, struct fair_rq *r, uint64_t load, uint64_t ticks)
{
    bool round_up = f->v->load != FAIR_LOAD_WEIGHT_EXEC;
    for (uint32_t i = 0; i < 5; i++) {
        for (uint64_t k = 0; k < ticks; k++) {
            uint64_t next = damp(r->cpu_load[i], load, i, round_up);
            if (next == r->cpu_load[i]) break;
            r->cpu_load[i] = next;
        }
    }
}

void fair_age_cpu_load(const struct fair_sim *f, struct wb_rq *rq, uint64_t ticks)
{
    struct fair_rq *r = fair_rq(rq);
    if (f->v->release > FAIR_2_6_36) return;
    uint64_t load = r->load.value;
    if (f->v->load == FAIR_LOAD_WEIGHT_EXEC && fair_on(f, FAIR_F_PRECISE_CPU_LOAD)) load = measured(f, r);
    if (f->v->release == FAIR_2_6_36) { /* at most once a jiffy; ticks that were left out while idle count as idle */
        uint64_t pending = r->tick_jiffies - r->load_jiffies;
        if (!pending) return;
        r->load_jiffies = r->tick_jiffies;
        for (uint32_t i = 1; i < 5 && pending > ticks; i++)
            r->cpu_load[i] = missed(f, r->cpu_load[i], pending - ticks, i);
    }
    damp_all(f, r, load, ticks);
}

/* ---- what others read ---- */

uint64_t fair_cpu_load(const struct fair_sim *f, const struct fair_rq *r)
{
    if (f->v->release <= FAIR_2_6_36) return r->load.value;
    return f->v->load == FAIR_LOAD_PELT_RUN ? r->avg.runnable_avg : r->avg.load_avg;
}

static bool damped(const struct fair_sim *f, uint32_t idx)
{
    if (!idx || f->v->release > FAIR_2_6_36) return false;
    return f->v->release < FAIR_2_6_35 || fair_on(f, FAIR_F_LB_BIAS);
}

uint64_t fair_source_load(const struct fair_sim *f, const struct fair_rq *r, uint32_t idx)
{
    uint64_t now = fair_cpu_load(f, r);
    return damped(f, idx) ? WB_MIN(r->cpu_load[idx - 1], now) : now;
}

uint64_t fair_target_load(const struct fair_sim *f, const struct fair_rq *r, uint32_t idx)
{
    uint64_t now = fair_cpu_load(f, r);
    return damped(f, idx) ? WB_MAX(r->cpu_load[idx - 1], now) : now;
}

uint64_t fair_load_per_task(const struct fair_sim *f, const struct wb_rq *rq)
{
    if (rq->nr_running) return fair_cpu_load(f, fair_rq(rq)) / rq->nr_running;
    return f->v->release < FAIR_2_6_35 ? WEIGHT_NICE_0 : 0;
}

uint64_t fair_task_h_load(const struct fair_task *p)
{
    return p->avg.load_avg;
}

uint64_t fair_cpu_runnable(const struct fair_rq *r)
{
    return r->avg.runnable_avg;
}

uint64_t fair_cpu_util(const struct fair_sim *f, const struct fair_rq *r)
{
    uint64_t util = r->avg.util_avg;
    if (fair_on(f, FAIR_F_UTIL_EST)) util = WB_MAX(util, r->util_est);
    return WB_MIN(util, r->capacity);
}

static uint32_t estimate(const struct fair_task *p)
{
    return WB_MAX(p->util_est, p->util_ewma);
}

uint64_t fair_task_util_est(const struct fair_sim *f, const struct fair_task *p)
{
    return fair_on(f, FAIR_F_UTIL_EST) ? WB_MAX(p->avg.util_avg, estimate(p)) : p->avg.util_avg;
}

uint64_t fair_cpu_util_without(const struct fair_sim *f, const struct fair_rq *r, const struct fair_task *p)
{
    uint64_t own = p->attached && fair_rq(wb_rq(p->t->x.sim, p->t->cpu)) == r ? p->avg.util_avg : 0;
    uint64_t util = r->avg.util_avg - WB_MIN(own, r->avg.util_avg);
    if (fair_on(f, FAIR_F_UTIL_EST)) util = WB_MAX(util, r->util_est - (own ? WB_MIN(p->util_queued, r->util_est) : 0));
    return WB_MIN(util, r->capacity);
}

/* ---- PELT ---- */

static uint64_t pelt_clock(const struct fair_rq *r)
{
    return r->clock - r->pelt_lag - r->pelt_lost;
}

/* A queue whose utilisation is at its maximum has no idle time to make up with: it is lost. */
void fair_pelt_idle(const struct fair_sim *f, struct fair_rq *r)
{
    uint32_t full = (f->pelt.max - PELT_PERIOD) * PELT_SCALE - f->pelt.max;
    if (r->avg.util_sum >= full) r->pelt_lost += r->pelt_lag;
    r->pelt_lag = 0;
}

static void sub(uint64_t *from, uint64_t what)
{
    *from -= WB_MIN(*from, what);
}

static void sub32(uint32_t *from, uint64_t what)
{
    *from -= (uint32_t)WB_MIN(*from, what);
}

static bool pelt(const struct fair_sim *f)
{
    return f->v->release >= FAIR_5_4;
}

/* 5.4 has the queued weight in place of the number of runnable tasks. */
static uint64_t runnable_of(const struct fair_sim *f, const struct fair_rq *r)
{
    return f->v->load == FAIR_LOAD_PELT_RUN ? r->load.value : (uint64_t)fair_nr_runnable(f, r) * PELT_SCALE;
}

static void take_removed(const struct fair_sim *f, struct fair_rq *r)
{
    uint32_t divider = pelt_divider(&f->pelt, &r->avg);
    sub(&r->avg.load_avg, r->removed.load);
    sub(&r->avg.load_sum, r->removed.load * divider);
    sub(&r->avg.util_avg, r->removed.util);
    sub32(&r->avg.util_sum, r->removed.util * divider);
    if (f->v->load == FAIR_LOAD_PELT) {
        sub(&r->avg.runnable_avg, r->removed.runnable);
        sub(&r->avg.runnable_sum, r->removed.runnable * divider);
    }
    r->removed.nr = 0;
    r->removed.load = r->removed.util = r->removed.runnable = 0;
}

static void update_queue(const struct fair_sim *f, struct fair_rq *r)
{
    if (r->removed.nr) take_removed(f, r);
    struct pelt_now now = {.load = r->load.value, .runnable = runnable_of(f, r), .running = r->curr != NULL};
    if (pelt_update_sum(&f->pelt, &r->avg, pelt_clock(r), &now)) pelt_update_avg(&f->pelt, &r->avg, 1);
}

static void update_task(const struct fair_sim *f, struct fair_task *p, uint64_t clock, bool running)
{
    struct pelt_now now = {.load = p->on_rq, .runnable = p->on_rq && !p->delayed ? PELT_SCALE : 0, .running = running};
    if (!pelt_update_sum(&f->pelt, &p->avg, clock, &now)) return;
    pelt_update_avg(&f->pelt, &p->avg, p->weight.value);
    p->util_moved = true;
}

void fair_update_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    if (!pelt(f)) return;
    if (p && p->attached) update_task(f, p, pelt_clock(r), r->curr == p);
    update_queue(f, r);
}

bool fair_update_blocked(struct wb_exec *x, struct wb_rq *rq)
{
    const struct fair_sim *f = fair_of(x);
    struct fair_rq *r = fair_rq(rq);
    fair_update_clock(x, rq);
    if (!pelt(f)) return false;
    update_queue(f, r);
    return r->avg.load_avg || r->avg.util_avg;
}

void fair_attach_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    if (!pelt(f)) return;
    uint32_t divider = pelt_divider(&f->pelt, &r->avg);
    p->avg.last_update = r->avg.last_update;
    p->avg.contrib = r->avg.contrib;
    p->avg.util_sum = (uint32_t)(p->avg.util_avg * divider);
    p->avg.runnable_sum = p->avg.runnable_avg * divider;
    p->avg.load_sum = WB_MAX(p->avg.load_avg * divider / p->weight.value, 1);
    p->attached = true;
    r->avg.load_avg += p->avg.load_avg;
    r->avg.load_sum += p->weight.value * p->avg.load_sum;
    r->avg.util_avg += p->avg.util_avg;
    r->avg.util_sum += p->avg.util_sum;
    if (f->v->load == FAIR_LOAD_PELT_RUN) return;
    r->avg.runnable_avg += p->avg.runnable_avg;
    r->avg.runnable_sum += p->avg.runnable_sum;
}

void fair_detach_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    if (!pelt(f) || !p->attached) return;
    p->attached = false;
    sub(&r->avg.load_avg, p->avg.load_avg);
    sub(&r->avg.load_sum, p->weight.value * p->avg.load_sum);
    sub(&r->avg.util_avg, p->avg.util_avg);
    sub32(&r->avg.util_sum, p->avg.util_sum);
    if (f->v->load == FAIR_LOAD_PELT_RUN) return;
    sub(&r->avg.runnable_avg, p->avg.runnable_avg);
    sub(&r->avg.runnable_sum, p->avg.runnable_sum);
}

void fair_remove_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p, uint64_t now)
{
    if (!pelt(f) || !p->attached) return;
    update_task(f, p, r->avg.last_update, false);
    p->attached = false;
    r->removed.nr++;
    r->removed.load += p->avg.load_avg;
    r->removed.util += p->avg.util_avg;
    r->removed.runnable += p->avg.runnable_avg;
    if (now) update_task(f, p, now - r->pelt_lost, false); /* the task goes on ageing, its old queue's clock stands */
}

/* A new task starts with full load and with a share of the utilisation that is left. */
void fair_new_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    if (!pelt(f)) return;
    int64_t cap = ((int64_t)r->capacity - (int64_t)r->avg.util_avg) / 2;
    p->avg = (struct pelt_avg){.load_avg = p->weight.value};
    if (cap > 0) {
        uint64_t util = (uint64_t)cap;
        if (r->avg.util_avg) util = WB_MIN(util, r->avg.util_avg * p->weight.value / (r->avg.load_avg + 1));
        p->avg.util_avg = util;
    }
    p->avg.runnable_avg = p->avg.util_avg;
}

void fair_queue_load(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p, bool comes)
{
    if (f->v->load != FAIR_LOAD_PELT_RUN) return;
    uint64_t sum = p->weight.value * p->avg.load_sum;
    if (comes) {
        r->avg.runnable_avg += p->avg.load_avg;
        r->avg.runnable_sum += sum;
    } else {
        sub(&r->avg.runnable_avg, p->avg.load_avg);
        sub(&r->avg.runnable_sum, sum);
    }
}

/* ---- util_est ---- */

void fair_util_est_enqueue(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p)
{
    if (!pelt(f) || !fair_on(f, FAIR_F_UTIL_EST)) return;
    p->util_queued = estimate(p);
    p->util_moved = false;
    r->util_est += p->util_queued;
}

/* Follow increases at once (UTIL_EST_FASTUP), decreases by a quarter; changes of about 1 % are ignored. From 6.8 on
 * (50181c0cff31) so are decreases of tasks that had to wait for their CPU: they did not get what they wanted. */
static void learn(const struct fair_sim *f, struct fair_task *p)
{
    int64_t util = (int64_t)p->avg.util_avg, last = p->util_est, ewma = p->util_ewma;
    if (!p->util_moved) return;
    p->util_est = (uint32_t)util;
    bool fast = f->v->release >= FAIR_6_12 || fair_on(f, FAIR_F_UTIL_EST_FASTUP);
    if (fast && ewma < util) {
        p->util_ewma = (uint32_t)util;
        return;
    }
    int64_t diff = util - ewma;
    if (diff < (int64_t)UTIL_MARGIN && -diff < (int64_t)UTIL_MARGIN) {
        bool near = util - last < (int64_t)UTIL_MARGIN && last - util < (int64_t)UTIL_MARGIN;
        if (near || f->v->release == FAIR_5_4) p->util_est = (uint32_t)last;
        return;
    }
    if (f->v->release >= FAIR_6_12 && (uint64_t)util + UTIL_MARGIN < p->avg.runnable_avg) return;
    p->util_ewma = (uint32_t)((ewma * 4 + diff) / 4);
}

void fair_util_est_dequeue(const struct fair_sim *f, struct fair_rq *r, struct fair_task *p, bool sleeps)
{
    if (!pelt(f) || !fair_on(f, FAIR_F_UTIL_EST)) return;
    sub32(&r->util_est, p->util_queued);
    p->util_queued = 0;
    if (sleeps) learn(f, p);
}
