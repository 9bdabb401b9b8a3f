/*
 * propcheck.h - property tests: random lists of operations against a naive twin.
 *
 * A property is a function that runs a list of operations on the real thing and on an obviously right twin, and says
 * whether they agreed. prop_check() makes lists from seeds, and shrinks a failing one by deleting operations until
 * none can go. The seed and what is left of the list are printed; WB_PROP_SEED=n repeats one list, WB_PROP_RUNS=n
 * sets how many.
 */
#ifndef WB_PROPCHECK_H
#define WB_PROPCHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct prop_op {
    uint32_t kind;
    uint64_t a, b;
};

struct prop_rng {
    uint64_t s;
};

/* splitmix64: independent of the streams under test. */
static inline uint64_t prop_u64(struct prop_rng *r)
{
    uint64_t z = (r->s += 0x9e3779b97f4a7c15ull);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static inline uint64_t prop_below(struct prop_rng *r, uint64_t n)
{
    return prop_u64(r) % n;
}

struct property {
    const char *name;
    size_t ops_max;
    struct prop_op (*make)(struct prop_rng *r); /* one random operation */
    /* True when both agreed; else a sentence in why. Operations that make no sense in the present state must be
     * skipped. */
    bool (*run)(const struct prop_op *ops, size_t n, char *why, size_t nwhy);
};

static inline size_t prop_shrink(const struct property *p, struct prop_op *ops, size_t n, char *why, size_t nwhy)
{
    struct prop_op *tried = malloc(n * sizeof *ops);
    for (size_t chunk = n / 2; tried && chunk; chunk /= 2) {
        for (size_t at = 0; at + chunk <= n;) {
            memcpy(tried, ops, at * sizeof *ops);
            memcpy(tried + at, ops + at + chunk, (n - at - chunk) * sizeof *ops);
            if (p->run(tried, n - chunk, why, nwhy)) {
                at += chunk;
                continue;
            }
            n -= chunk;
            memcpy(ops, tried, n * sizeof *ops);
        }
    }
    free(tried);
    return n;
}

static inline bool prop_one(const struct property *p, uint64_t seed)
{
    struct prop_rng r = {seed * 0x2545f4914f6cdd1dull};
    char why[256] = "";
    size_t n = 1 + (size_t)prop_below(&r, p->ops_max);
    struct prop_op *ops = malloc(n * sizeof *ops);
    if (!ops) return false;
    for (size_t i = 0; i < n; i++) ops[i] = p->make(&r);
    bool good = p->run(ops, n, why, sizeof why);
    if (!good) {
        n = prop_shrink(p, ops, n, why, sizeof why);
        p->run(ops, n, why, sizeof why);
        fprintf(stderr, "%s: WB_PROP_SEED=%" PRIu64 " fails with %zu operations: %s\n", p->name, seed, n, why);
        for (size_t i = 0; i < n && i < 40; i++)
            fprintf(stderr, "  op %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", ops[i].kind, ops[i].a, ops[i].b);
    }
    free(ops);
    return good;
}

/* True when every list agreed. */
static inline bool prop_check(const struct property *p, uint64_t runs)
{
    const char *seed = getenv("WB_PROP_SEED"), *wanted = getenv("WB_PROP_RUNS");
    if (seed) return prop_one(p, strtoull(seed, NULL, 10));
    if (wanted) runs = strtoull(wanted, NULL, 10);
    for (uint64_t i = 1; i <= runs; i++)
        if (!prop_one(p, i)) return false;
    return true;
}

#endif
