/* pelt.c - see pelt.h. Linux kernel/sched/pelt.c decay_load, accumulate_sum, ___update_load_avg. */
#include "pelt.h"

typedef unsigned __int128 wide;

#define ONE (1ull << 62) /* 1.0 while the table is made */

/* Largest r with r * r <= v. */
static uint64_t root(wide v)
{
    uint64_t r = 0;
    for (uint64_t bit = 1ull << 63; bit; bit >>= 1) {
        uint64_t t = r | bit;
        if ((wide)t * t <= v) r = t;
    }
    return r;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return (uint64_t)((wide)a * b >> 62);
}

/* Where adding a period and decaying cancel (LOAD_AVG_MAX = 47742), with the truncation of each step. */
static uint32_t converged(uint32_t y1)
{
    uint64_t max = PELT_PERIOD, last;
    do {
        last = max;
        max = (max * y1 >> 32) + PELT_PERIOD;
    } while (max != last);
    return (uint32_t)max;
}

void pelt_init(struct pelt_table *t)
{
    uint64_t power[5], y = ONE / 2; /* power[i] = y^(2^i): y^16 is the root of 1/2, and so on down */
    for (int i = 4; i >= 0; i--) power[i] = y = root((wide)y << 62);
    for (uint32_t n = 0; n < PELT_HALF_LIFE; n++) {
        uint64_t v = ONE;
        for (uint32_t i = 0; i < 5; i++)
            if (n >> i & 1) v = times(v, power[i]);
        t->y[n] = (uint32_t)times(v, UINT32_MAX);
    }
    t->max = converged(t->y[1]);
}

uint64_t pelt_decay(const struct pelt_table *t, uint64_t val, uint64_t n)
{
    if (n > PELT_HALF_LIFE * 63ull) return 0;
    val >>= n / PELT_HALF_LIFE;
    return (uint64_t)((wide)val * t->y[n % PELT_HALF_LIFE] >> 32);
}

/* Weighted length of: the rest of the first period, periods - 1 whole ones, and what there is of the last. */
static uint32_t segments(const struct pelt_table *t, uint64_t periods, uint32_t first, uint32_t last)
{
    uint64_t a = pelt_decay(t, first, periods);
    uint64_t b = t->max - pelt_decay(t, t->max, periods) - PELT_PERIOD;
    return (uint32_t)(a + b + last);
}

bool pelt_update_sum(const struct pelt_table *t, struct pelt_avg *a, uint64_t now, const struct pelt_now *w)
{
    if ((int64_t)(now - a->last_update) < 0) {
        a->last_update = now;
        return false;
    }
    uint64_t delta = (now - a->last_update) >> 10;
    if (!delta) return false;
    a->last_update += delta << 10;
    uint64_t all = delta + a->contrib, periods = all / PELT_PERIOD;
    uint32_t add = (uint32_t)delta;
    if (periods) {
        a->load_sum = pelt_decay(t, a->load_sum, periods);
        a->runnable_sum = pelt_decay(t, a->runnable_sum, periods);
        a->util_sum = (uint32_t)pelt_decay(t, a->util_sum, periods);
        if (w->load) add = segments(t, periods, PELT_PERIOD - a->contrib, (uint32_t)(all % PELT_PERIOD));
    }
    a->contrib = (uint32_t)(all % PELT_PERIOD);
    if (w->load) {
        a->load_sum += w->load * add;
        a->runnable_sum += w->runnable * add;
        if (w->running) a->util_sum += add * PELT_SCALE;
    }
    return periods != 0;
}

void pelt_update_avg(const struct pelt_table *t, struct pelt_avg *a, uint64_t load)
{
    uint32_t divider = pelt_divider(t, a);
    a->load_avg = load * a->load_sum / divider;
    a->runnable_avg = a->runnable_sum / divider;
    a->util_avg = a->util_sum / divider;
}
