/*
 * Windows, merging and pairs against a naive twin that keeps a list of everything that happened. wb-link: wb_measure
 */
#include "wbtest.h"

#include <math.h>

#include "measure.h"
#include "propcheck.h"
#include "wakebal/run.h"

enum { ADD, SERIES, TOGETHER, APART, END, WINDOW, START, KINDS };
enum { WINDOW_PS = 8, PAIRS = 3, EVENTS_MAX = 4096 };

struct twin {
    sim_time now, start;
    bool started;
    size_t n;
    struct {
        sim_time at;
        uint64_t amount;
        int series;
    } event[EVENTS_MAX];
    struct {
        sim_time at;
        uint32_t pair;
        int state; /* 0 unknown, 1 apart, 2 together */
    } move[EVENTS_MAX];
    size_t nmoves;
};

static struct prop_op make(struct prop_rng *r)
{
    static const uint32_t often[] = {ADD, ADD, SERIES, TOGETHER, APART, END, WINDOW, WINDOW, WINDOW, START};
    return (struct prop_op){
        .kind = often[prop_below(r, WB_ARRAY_SIZE(often))], .a = prop_u64(r) >> 8, .b = prop_u64(r) >> 8};
}

/* Amount in (from, to]: a window takes what was added at its very end, before it was closed. */
static uint64_t amount(const struct twin *t, int series, sim_time from, sim_time to)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->event[i].series == series && t->event[i].at > from && t->event[i].at <= to) sum += t->event[i].amount;
    return sum;
}

/* Time in [from, to) during which the pair was in `state`, by walking single picoseconds' worth of moves. */
static uint64_t in_state(const struct twin *t, uint32_t pair, int state, sim_time from, sim_time to)
{
    uint64_t sum = 0;
    sim_time since = 0;
    int is = 0;
    for (size_t i = 0; i <= t->nmoves; i++) {
        if (i < t->nmoves && t->move[i].pair != pair) continue;
        sim_time until = i < t->nmoves ? t->move[i].at : to, a = WB_MAX(since, from), b = WB_MIN(until, to);
        if (is == state && b > a) sum += b - a;
        if (i == t->nmoves) break;
        since = t->move[i].at;
        is = t->move[i].state;
    }
    return sum;
}

static uint64_t all_in_state(const struct twin *t, int state, sim_time from, sim_time to)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < PAIRS; p++) sum += in_state(t, p, state, from, to);
    return sum;
}

static const struct wb_metric_spec spec = {.name = "rate", .unit = "1/s", .help = ""};

struct pieces {
    struct wb_measure *m;
    struct wb_progress *p;
    uint32_t series, pair[PAIRS];
};

/* Time moves on inside the window under way; amounts land at odd places so that borders are not ambiguous. */
static sim_time later(const struct pieces *x, const struct twin *t, uint64_t by)
{
    sim_time edge = t->started ? measure_window_end(x->m) : t->now + WINDOW_PS;
    return WB_MIN(t->now + by % 4, edge);
}

static void apply(struct pieces *x, struct twin *t, const struct prop_op *op)
{
    uint32_t pair = (uint32_t)(op->b % PAIRS);
    if (op->kind == WINDOW) {
        if (!t->started) return;
        t->now = measure_window_end(x->m);
        measure_window(x->m, t->now);
        t->now++; /* the next amount falls into the next window */
        return;
    }
    if (op->kind == START) {
        if (t->started || op->a % 4) return;
        t->started = true;
        t->start = t->now;
        measure_start(x->m, t->now);
        t->now++;
        return;
    }
    if (t->n == EVENTS_MAX || t->nmoves == EVENTS_MAX) return;
    t->now = later(x, t, op->a);
    if (op->kind == ADD || op->kind == SERIES) {
        if (op->kind == ADD)
            measure_progress_add(x->p, op->b % 100);
        else
            measure_series_add(x->m, x->series, op->b % 100);
        t->event[t->n].at = t->now;
        t->event[t->n].amount = op->b % 100;
        t->event[t->n++].series = op->kind == SERIES;
        return;
    }
    if (op->kind == END)
        measure_pair_end(x->m, x->pair[pair], t->now);
    else
        measure_pair_set(x->m, x->pair[pair], op->kind == TOGETHER, t->now);
    t->move[t->nmoves].at = t->now;
    t->move[t->nmoves].pair = pair;
    t->move[t->nmoves++].state = op->kind == END ? 0 : op->kind == APART ? 1 : 2;
}

static bool same(double got, double want, const char *what, size_t i, char *why, size_t nwhy)
{
    if ((isnan(got) && isnan(want)) || fabs(got - want) <= 1e-9 * (1 + fabs(want))) return true;
    snprintf(why, nwhy, "%s of window %zu is %g, not %g", what, i, got, want);
    return false;
}

static double share(const struct twin *t, sim_time from, sim_time to)
{
    uint64_t together = all_in_state(t, 2, from, to), apart = all_in_state(t, 1, from, to);
    return together + apart ? (double)together / (double)(together + apart) : NAN;
}

static bool compare(const struct pieces *x, const struct twin *t, char *why, size_t nwhy)
{
    struct wb_result r = {0};
    if (measure_result(x->m, &r)) return false;
    const struct wb_metric *rate = wb_result_find(&r, 0, "rate"), *co = wb_result_find(&r, 0, "colocated");
    const struct wb_metric *s = wb_result_find(&r, MEASURE_MACHINE, "s.rate");
    double width = (double)r.window_ps / 1e12;
    for (size_t i = 0; i < r.nwindows; i++) {
        sim_time from = t->start + i * r.window_ps, to = from + r.window_ps;
        if (!same(rate->window[i] * width, (double)amount(t, 0, from, to), "progress", i, why, nwhy)) return false;
        if (!same(s->window[i] * width, (double)amount(t, 1, from, to), "series", i, why, nwhy)) return false;
        if (!same(co->window[i], share(t, from, to), "share", i, why, nwhy)) return false;
    }
    return same(wb_result_find(&r, MEASURE_MACHINE, "s")->value, (double)amount(t, 1, t->start, t->now), "total", 0,
                why, nwhy) &&
           same(co->value, share(t, t->start, t->now), "share of all", 0, why, nwhy) &&
           same(wb_result_find(&r, 0, "regime.together")->hist->count
                    ? (double)wb_result_find(&r, 0, "regime.together")->hist->sum
                    : 0,
                (double)all_in_state(t, 2, t->start, t->now), "sum of regimes", 0, why, nwhy);
}

static bool run(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    struct arena a;
    arena_init(&a, "prop");
    struct pieces x = {
        .m = measure_new(&a, &(struct measure_options){.ninstances = 1, .window = WINDOW_PS, .windows_max = 8})};
    x.p = measure_progress_new(x.m, 0, &spec);
    x.series = measure_series_new(x.m, &(struct measure_series_def){.name = "s", .unit = "1", .help = ""});
    for (uint32_t i = 0; i < PAIRS; i++) x.pair[i] = measure_pair_new(x.m, 0, NULL);
    struct twin *t = calloc(1, sizeof(*t));
    bool good = t && !measure_seal(x.m);
    for (size_t i = 0; good && i < n; i++) apply(&x, t, &ops[i]);
    if (good && !t->started) t->start = t->now;
    if (good) {
        measure_finish(x.m, t->now);
        good = compare(&x, t, why, nwhy);
    }
    free(t);
    measure_free(x.m);
    arena_free(&a);
    return good;
}

static void test_windows_against_a_list(void **state)
{
    (void)state;
    static const struct property p = {.name = "measure", .ops_max = 400, .make = make, .run = run};
    assert_true(prop_check(&p, 2000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows_against_a_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
