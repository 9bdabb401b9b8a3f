/* probe_core.c - probes of one CPU: its clock, single lines, its sibling thread, what interrupts it. */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <time.h>

#include "probe_inner.h"

/* A chain of operations of one cycle each. Negation is not folded or renamed away by any core known. */
#if defined(__x86_64__)
#define CHAIN8(x) __asm__ volatile("neg %0\nneg %0\nneg %0\nneg %0\nneg %0\nneg %0\nneg %0\nneg %0" : "+r"(x))
#define PLAIN_RMW(m) __asm__ volatile("incq %0" : "+m"(m))
#elif defined(__aarch64__)
#define CHAIN8(x) \
    __asm__ volatile("neg %0, %0\nneg %0, %0\nneg %0, %0\nneg %0, %0\nneg %0, %0\nneg %0, %0\nneg %0, %0\nneg %0, %0" \
                     : "+r"(x))
#define PLAIN_RMW(m) ((m)++)
#else
#define CHAIN8(x) \
    do { \
        for (int chain_i = 0; chain_i < 8; chain_i++) { \
            x = -x; \
            __asm__ volatile("" : "+r"(x)); \
        } \
    } while (0)
#define PLAIN_RMW(m) ((m)++)
#endif

int probe_clock(struct probe_run *r)
{
    uint64_t x = 3, best = UINT64_MAX;
    enum { GROUPS = 64000 };
    for (int k = 0; k < 4; k++) {
        uint64_t t = real_now();
        for (int i = 0; i < GROUPS; i++) {
            CHAIN8(x);
            CHAIN8(x);
            CHAIN8(x);
            CHAIN8(x);
        }
        t = real_now() - t;
        best = WB_MIN(best, t);
    }
    probe_put(r, "clock", PROBE_HZ, 32.0 * GROUPS / (double)best * 1e9);
    return 0;
}

static double best_of(void (*work)(void *line, uint32_t n), void *line, uint32_t n)
{
    uint64_t best = UINT64_MAX;
    for (int k = 0; k < 4; k++) {
        uint64_t t = real_now();
        work(line, n);
        t = real_now() - t;
        best = WB_MIN(best, t);
    }
    return (double)best / n;
}

static void locked(void *line, uint32_t n)
{
    _Atomic uint64_t *m = line;
    for (uint32_t i = 0; i < n; i++) atomic_fetch_add(m, 1);
}

static void plain(void *line, uint32_t n)
{
    volatile uint64_t *m = line;
    for (uint32_t i = 0; i < n; i++) PLAIN_RMW(*m);
}

/* A load whose address depends on the one before. */
static void loads(void *line, uint32_t n)
{
    void *volatile *m = line, **p = line;
    *m = line;
    for (uint32_t i = 0; i < n; i++) p = *(void **volatile *)p;
    __asm__ volatile("" : : "r"(p));
}

static void stores(void *line, uint32_t n)
{
    volatile uint64_t *m = line;
    for (uint32_t i = 0; i < n; i++) *m = i;
}

int probe_lines(struct probe_run *r)
{
    static _Alignas(128) uint64_t line[16];
    probe_put(r, "line_rmw", PROBE_NS, best_of(locked, line, 100000));
    probe_put(r, "line_rmw_plain", PROBE_NS, best_of(plain, line, 200000));
    probe_put(r, "line_read", PROBE_NS, best_of(loads, line, 400000));
    probe_put(r, "line_write", PROBE_NS, best_of(stores, line, 400000));
    return 0;
}

/* ------------------------------------------------------------------ SMT */

/* Work that leaves room for a sibling: loads, stores and arithmetic that overlap, as kernel paths have. */
static void mix(void)
{
    static _Thread_local uint64_t table[1024];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        table[(sum + i) & 1023] += i;
        sum += table[(i * 7) & 1023] ^ (sum >> 3);
    }
    __asm__ volatile("" : : "r"(sum));
}

static double mixed_rate(void)
{
    uint64_t t = real_now(), n = 0;
    for (; real_now() - t < 4000000; n++) mix();
    return (double)n / (double)(real_now() - t);
}

static void mixed_until(void *arg)
{
    _Atomic int *stop = arg;
    while (!atomic_load_explicit(stop, memory_order_relaxed)) mix();
}

int probe_smt(struct probe_run *r)
{
    if (!r->have[WB_FAR_SMT]) return 0;
    _Atomic int stop = 0;
    double alone = mixed_rate();
    struct probe_thread *t = probe_beside(r->other[WB_FAR_SMT], mixed_until, &stop);
    if (!t) return -ENOMEM;
    double shared = mixed_rate();
    atomic_store(&stop, 1);
    probe_join(t);
    probe_put(r, "smt_share", PROBE_SHARE, shared / alone);
    return 0;
}

/* ------------------------------------------------------------------ ticks and noise */
/* Ticks come at a fixed phase of the period: gaps are sorted by the bin of the period in which they end; the fullest
 * bins are the tick's. */
#define GAP_BINS 64
#define GAP_MAX 4096

struct gaps {
    double ns[GAP_MAX];
    uint16_t bin[GAP_MAX];
    uint32_t n;
};

static void watch(struct gaps *g, uint64_t length, double period)
{
    uint64_t begin = real_now(), last = begin, floor_ns = UINT64_MAX;
    for (int i = 0; i < 1000; i++) {
        uint64_t now = real_now();
        floor_ns = WB_MIN(floor_ns, now - last);
        last = now;
    }
    uint64_t limit = floor_ns * 3 + 400;
    while (last - begin < length && g->n < GAP_MAX) {
        uint64_t now = real_now();
        if (now - last > limit) {
            g->ns[g->n] = (double)(now - last - floor_ns);
            g->bin[g->n++] = (uint16_t)(fmod((double)now, period) / period * GAP_BINS);
        }
        last = now;
    }
}

static uint32_t fullest(const struct gaps *g)
{
    uint32_t count[GAP_BINS] = {0}, best = 0, most = 0;
    for (uint32_t i = 0; i < g->n; i++) count[g->bin[i] % GAP_BINS]++;
    for (uint32_t b = 0; b < GAP_BINS; b++) {
        uint32_t c = count[b] + count[(b + 1) % GAP_BINS];
        if (c > most) {
            most = c;
            best = b;
        }
    }
    return best;
}

int probe_gaps(struct probe_run *r)
{
    static struct gaps g;
    struct timespec res;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &res)) return -errno;
    double period = (double)res.tv_sec * 1e9 + (double)res.tv_nsec;
    if (period < 5e5 || period > 2e7) return -ENOSYS;
    uint64_t length = 80000000, noise = 0;
    double noise_ns = 0;
    uint32_t ticks = 0;
    g.n = 0;
    watch(&g, length, period);
    uint32_t bin = fullest(&g);
    for (uint32_t i = 0; i < g.n; i++) {
        uint32_t off = (g.bin[i] + GAP_BINS - bin) % GAP_BINS;
        if (off <= 1) {
            probe_put_spread(r, "tick", g.ns[i]);
            ticks++;
        } else {
            probe_put_spread(r, "noise", g.ns[i]);
            noise++;
            noise_ns += g.ns[i];
        }
    }
    probe_put(r, "hz", PROBE_HZ, 1e9 / period);
    probe_put(r, "ticks_seen", PROBE_HZ, (double)ticks / ((double)length * 1e-9));
    probe_put(r, "noise_rate", PROBE_HZ, (double)(noise + 1) / ((double)length * 1e-9));
    probe_put(r, "noise_share", PROBE_SHARE, (noise_ns + 1) / (double)length);
    return 0;
}
