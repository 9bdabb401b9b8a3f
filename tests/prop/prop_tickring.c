/* The tick ring against a plain table of next ticks that is searched each time. */
#include "wbtest.h"

#include "propcheck.h"
#include "tickring.h"

enum { ADVANCE, ADVANCE_MORE, STOP, START, START_AFTER, SKIP, LEAP, KINDS };
enum { NCPUS_MAX = 9000, PERIOD = 1000, CLASS = 3 };

struct twin {
    uint32_t ncpus;
    sim_time phase[NCPUS_MAX];
    uint64_t k[NCPUS_MAX]; /* next tick, UINT64_MAX: stopped */
    struct evq_entry last; /* the last tick that fired */
};

static struct evq_entry tick(const struct twin *t, cpu_id c)
{
    if (t->k[c] == UINT64_MAX) return EVQ_NEVER;
    return (struct evq_entry){.time = t->phase[c] + t->k[c] * PERIOD, .key = evq_key(CLASS, c, t->k[c])};
}

static struct evq_entry twin_min(const struct twin *t)
{
    struct evq_entry best = EVQ_NEVER;
    for (cpu_id c = 0; c < t->ncpus; c++) {
        struct evq_entry e = tick(t, c);
        if (evq_before(&e, &best)) best = e;
    }
    return best;
}

/* First tick of c after the last one that fired and not before `from`. */
static void twin_start(struct twin *t, cpu_id c, sim_time from)
{
    for (t->k[c] = t->last.time == WB_TIME_NEVER ? 0 : t->last.time / PERIOD - (t->last.time >= PERIOD);; t->k[c]++) {
        struct evq_entry e = tick(t, c);
        if (e.time >= from && (t->last.time == WB_TIME_NEVER || evq_before(&t->last, &e))) return;
    }
}

static struct prop_op make(struct prop_rng *r)
{
    return (struct prop_op){.kind = (uint32_t)prop_below(r, KINDS), .a = prop_u64(r) >> 20, .b = prop_u64(r) >> 20};
}

static void apply(struct tickring *r, struct twin *t, const struct prop_op *op)
{
    cpu_id c = (cpu_id)(op->a % t->ncpus);
    sim_time now = t->last.time == WB_TIME_NEVER ? 0 : t->last.time, later = now + 1 + op->b % (5 * PERIOD);
    struct evq_entry min = twin_min(t);
    switch (op->kind) {
    case STOP:
        tickring_stop(r, c);
        t->k[c] = UINT64_MAX;
        break;
    case START:
        tickring_start(r, c, later);
        twin_start(t, c, later);
        break;
    case START_AFTER:
        if (t->last.time == WB_TIME_NEVER) break;
        tickring_start_after(r, c, &t->last);
        twin_start(t, c, 0);
        break;
    case SKIP:
        if (t->k[c] == UINT64_MAX) break;
        tickring_skip(r, c, op->b % 7);
        t->k[c] += op->b % 7;
        break;
    case LEAP:
        if (op->b % 50 || t->k[c] == UINT64_MAX) break;
        tickring_skip(r, c, 1000);
        t->k[c] += 1000;
        break;
    default:
        if (min.time == WB_TIME_NEVER) break;
        tickring_advance(r);
        t->last = min;
        t->k[evq_entity(min.key)]++;
    }
}

static bool agree(const struct tickring *r, const struct twin *t, cpu_id c, char *why, size_t nwhy)
{
    struct evq_entry min = twin_min(t);
    const struct evq_entry *got = tickring_peek(r);
    snprintf(why, nwhy, "next is cpu %u at %llu, should be cpu %u at %llu; cpu %u index %lld for %lld",
             evq_entity(got->key), (unsigned long long)got->time, evq_entity(min.key), (unsigned long long)min.time, c,
             (long long)tickring_next_index(r, c), (long long)t->k[c]);
    return got->time == min.time && got->key == min.key && tickring_next_index(r, c) == t->k[c] &&
           tickring_ticks(r, c) == (t->k[c] != UINT64_MAX);
}

static bool run_with(uint32_t ncpus, sim_time spread, const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    static struct twin t;
    struct tickring r;
    struct arena a;
    bool good = true;
    t.ncpus = ncpus;
    t.last = EVQ_NEVER;
    for (cpu_id c = 0; c < ncpus; c++) {
        t.phase[c] = c * 7919ull % spread; /* many equal phases */
        t.k[c] = UINT64_MAX;
    }
    arena_init(&a, "ticks");
    if (tickring_init(&r, &a, CLASS, ncpus, PERIOD)) return false;
    tickring_set_phases(&r, t.phase);
    for (size_t i = 0; i < n && good; i++) {
        apply(&r, &t, &ops[i]);
        good = agree(&r, &t, (cpu_id)(ops[i].a % ncpus), why, nwhy);
    }
    arena_free(&a);
    return good;
}

static bool run_small(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    return run_with(5, 3, ops, n, why, nwhy);
}
static bool run_middle(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    return run_with(130, PERIOD, ops, n, why, nwhy);
}
/* More CPUs than one summary word covers; most stay stopped. */
static bool run_large(const struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    return run_with(NCPUS_MAX, 100, ops, n, why, nwhy);
}

static void small_machine(void **state)
{
    (void)state;
    const struct property p = {"tickring of 5", 400, make, run_small};
    assert_true(prop_check(&p, 400));
}
static void middle_machine(void **state)
{
    (void)state;
    const struct property p = {"tickring of 130", 1000, make, run_middle};
    assert_true(prop_check(&p, 60));
}
static void large_machine(void **state)
{
    (void)state;
    const struct property p = {"tickring of 9000", 400, make, run_large};
    assert_true(prop_check(&p, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_machine), cmocka_unit_test(middle_machine),
                                       cmocka_unit_test(large_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
