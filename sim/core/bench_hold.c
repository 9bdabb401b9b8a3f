/* bench_hold.c - the hold model over our event set and over plain heaps; see bench.h. */
#include "wakebal/bench.h"
#include "wakebal/rng.h"

#include "evq.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

typedef unsigned __int128 u128;

enum { STEPS = 4096, BATCH = 20000, LINE = 64 };

const char *const wb_hold_names[WB_HOLD_KINDS] = {
    [WB_HOLD_EVQ_REPLACE] = "event set, replace",     [WB_HOLD_EVQ_POP_PUSH] = "event set, pop + push",
    [WB_HOLD_HEAP4_REPLACE] = "4-ary heap, replace",  [WB_HOLD_HEAP4_POP_PUSH] = "4-ary heap, pop + push",
    [WB_HOLD_HEAP2_REPLACE] = "binary heap, replace", [WB_HOLD_HEAP2_POP_PUSH] = "binary heap, pop + push",
};

/* A reference: an implicit heap without sentinels, checks or hand-made arithmetic. h[1] begins a cache line. */
struct heap {
    u128 *h, *mem;
    uint32_t n;
};

struct bench {
    struct evq q[2];
    struct heap heap[4];
    uint64_t step[STEPS]; /* exponential increments */
    uint64_t rng[WB_HOLD_KINDS];
    uint64_t counter;
};

/* --- reference heaps ----------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void heap_up(struct heap *p, u128 e, uint32_t arity)
{
    uint32_t i = p->n++;
    while (i && e < p->h[(i - 1) / arity]) {
        p->h[i] = p->h[(i - 1) / arity];
        i = (i - 1) / arity;
    }
    p->h[i] = e;
}

static inline __attribute__((always_inline)) void heap_down(struct heap *p, u128 e, uint32_t arity)
{
    uint32_t i = 0, c;
    while ((c = arity * i + 1) < p->n) {
        uint32_t end = WB_MIN(c + arity, p->n), least = c;
        if (end == c + arity) {
            for (uint32_t k = 1; k < arity; k++) least = p->h[c + k] < p->h[least] ? c + k : least;
        } else {
            for (uint32_t k = c + 1; k < end; k++) least = p->h[k] < p->h[least] ? k : least;
        }
        if (e <= p->h[least]) break;
        p->h[i] = p->h[least];
        i = least;
    }
    p->h[i] = e;
}

static inline __attribute__((always_inline)) void heap_pop(struct heap *p, uint32_t arity)
{
    u128 last = p->h[--p->n];
    if (p->n) heap_down(p, last, arity);
}

static int heap_init(struct heap *p, uint32_t room)
{
    size_t bytes = ((size_t)room + 8) * sizeof(u128);
    p->n = 0;
    p->mem = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
    p->h = p->mem ? p->mem + 3 : NULL;
    return p->mem ? 0 : -ENOMEM;
}

/* --- loops ----------------------------------------------------------------------------------------------------- */

static inline uint64_t next_step(struct bench *b, uint64_t *rng)
{
    uint64_t x = *rng;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *rng = x;
    return b->step[x % STEPS];
}

/* Not inlined, so that the compare can be looked at in the assembly (tests/perf/check_branchless.sh). */
__attribute__((noinline)) static void hold_evq(struct bench *b, enum wb_hold_kind kind, uint32_t holds)
{
    struct evq *q = &b->q[kind];
    uint64_t rng = b->rng[kind], counter = b->counter;
    for (uint32_t i = 0; i < holds; i++) {
        struct evq_entry e = {.time = evq_peek(q)->time + next_step(b, &rng), .key = counter++};
        if (kind == WB_HOLD_EVQ_REPLACE) {
            evq_replace_top(q, e);
        } else {
            evq_pop(q);
            evq_push(q, e);
        }
    }
    b->rng[kind] = rng;
}

static inline __attribute__((always_inline)) void hold_heap(struct bench *b, enum wb_hold_kind kind, uint32_t holds,
                                                            uint32_t arity, bool fused)
{
    struct heap *p = &b->heap[kind - WB_HOLD_HEAP4_REPLACE];
    uint64_t rng = b->rng[kind], counter = b->counter;
    for (uint32_t i = 0; i < holds; i++) {
        u128 e = (u128)((uint64_t)(p->h[0] >> 64) + next_step(b, &rng)) << 64 | counter++;
        if (fused) {
            heap_down(p, e, arity);
        } else {
            heap_pop(p, arity);
            heap_up(p, e, arity);
        }
    }
    b->rng[kind] = rng;
}

static void hold(struct bench *b, enum wb_hold_kind kind, uint32_t holds)
{
    switch (kind) {
    case WB_HOLD_EVQ_REPLACE: hold_evq(b, WB_HOLD_EVQ_REPLACE, holds); break;
    case WB_HOLD_EVQ_POP_PUSH: hold_evq(b, WB_HOLD_EVQ_POP_PUSH, holds); break;
    case WB_HOLD_HEAP4_REPLACE: hold_heap(b, kind, holds, 4, true); break;
    case WB_HOLD_HEAP4_POP_PUSH: hold_heap(b, kind, holds, 4, false); break;
    case WB_HOLD_HEAP2_REPLACE: hold_heap(b, kind, holds, 2, true); break;
    case WB_HOLD_HEAP2_POP_PUSH: hold_heap(b, kind, holds, 2, false); break;
    case WB_HOLD_KINDS: break;
    }
}

static double thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void fill(struct bench *b, uint32_t n)
{
    const struct wb_dist d = {.kind = WB_DIST_EXP, .a = 1000000};
    struct wb_stream s = wb_stream_make(1, 0, n, WB_PURPOSE('h', 'o', 'l', 'd'));
    for (uint32_t i = 0; i < STEPS; i++) b->step[i] = (uint64_t)wb_dist_draw(&d, &s) + 1;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t time = (uint64_t)wb_dist_draw(&d, &s);
        for (int k = 0; k < 2; k++) evq_push(&b->q[k], (struct evq_entry){.time = time, .key = i});
        for (int k = 0; k < 4; k++) heap_up(&b->heap[k], (u128)time << 64 | i, k < 2 ? 4 : 2);
    }
    for (int k = 0; k < WB_HOLD_KINDS; k++) b->rng[k] = 0x9e3779b97f4a7c15ull;
    b->counter = n;
}

static void measure(struct bench *b, uint32_t batches, struct wb_hold_result *r)
{
    uint32_t holds = WB_MAX((uint32_t)BATCH, r->n);
    for (uint32_t batch = 0; batch <= batches; batch++) { /* the first one warms up and does not count */
        for (int k = 0; k < WB_HOLD_KINDS; k++) {
            double start = thread_ns();
            hold(b, (enum wb_hold_kind)k, holds);
            double ns = (thread_ns() - start) / holds;
            if (batch == 1 || (batch > 1 && ns < r->ns[k])) r->ns[k] = ns;
        }
        b->counter += holds;
    }
    r->best_reference_ns = r->ns[WB_HOLD_HEAP4_REPLACE];
    for (int k = WB_HOLD_HEAP4_REPLACE; k < WB_HOLD_KINDS; k++)
        r->best_reference_ns = WB_MIN(r->best_reference_ns, r->ns[k]);
}

/* All ran the same increments, so all must hold the same minimum: a benchmark of a broken heap is worth nothing. */
static void check_agreement(const struct bench *b)
{
    for (int k = 1; k < WB_HOLD_KINDS; k++) {
        uint64_t time = k < 2 ? evq_peek(&b->q[k])->time : (uint64_t)(b->heap[k - 2].h[0] >> 64);
        WB_CHECK(time == evq_peek(&b->q[0])->time, "%s lost its order", wb_hold_names[k]);
    }
}

int wb_bench_hold(uint32_t n, uint32_t batches, struct wb_hold_result *result)
{
    WB_CHECK(n && batches, "hold model of %u events, %u batches", n, batches);
    *result = (struct wb_hold_result){.n = n};
    struct bench *b = calloc(1, sizeof *b);
    int refused = b ? 0 : -ENOMEM;
    for (int k = 0; !refused && k < 2; k++) refused = evq_init(&b->q[k], n + 1);
    for (int k = 0; !refused && k < 4; k++) refused = heap_init(&b->heap[k], n + 1);
    if (!refused) {
        fill(b, n);
        measure(b, batches, result);
        check_agreement(b);
    }
    for (int k = 0; b && k < 2; k++) evq_free(&b->q[k]);
    for (int k = 0; b && k < 4; k++) free(b->heap[k].mem);
    free(b);
    return refused;
}

bool wb_bench_build_is_fast(void)
{
#if !defined(__OPTIMIZE__) || defined(WB_DEBUG) || defined(__SANITIZE_ADDRESS__)
    return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    return false;
#else
    return true;
#endif
#else
    return true;
#endif
}
