/* probe_far.c - what moves between two CPUs: one line, and streams that the other one has modified. */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe_inner.h"

#define LINE 64u

/* ------------------------------------------------------------------ single lines */
#define LINES 256u
#define STEP 192u /* lines apart: what fetches neighbours finds none of them */
#define PASSES 9u

struct walk {
    char *m;
    _Alignas(128) _Atomic uint32_t turn; /* odd: the other CPU's; even: ours */
    uint32_t passes;
};

static uint64_t *word(const struct walk *w, uint64_t i)
{
    return (uint64_t *)(void *)(w->m + i * STEP);
}

/* Lines in an order that nothing foresees: each holds the number of the next one. One cycle through all (Sattolo 1986),
 * the same each time. An order with any rule in it was found out by a prefetcher: 9 ns instead of 29. */
static void lay_out(struct walk *w)
{
    uint64_t order[LINES];
    uint32_t x = 1;
    for (uint64_t i = 0; i < LINES; i++) {
        order[i] = i;
        word(w, i)[1] = 0;
    }
    for (uint64_t i = LINES - 1; i > 0; i--) {
        x = x * 1664525 + 1013904223;
        uint64_t j = (x >> 8) % i, at = order[i];
        order[i] = order[j];
        order[j] = at;
    }
    for (uint64_t i = 0; i < LINES; i++) word(w, i)[0] = order[i];
}

/* A locked addition in each line; one waits for the other. */
static void add_in_each(const struct walk *w)
{
    for (uint64_t i = 0, k = 0; i < LINES; i++) {
        (void)__atomic_fetch_add(&word(w, k)[1], 1, __ATOMIC_SEQ_CST);
        k = *(volatile uint64_t *)word(w, k);
    }
}

static void read_each(const struct walk *w)
{
    for (uint64_t i = 0, k = 0; i < LINES; i++) k = *(volatile uint64_t *)word(w, k);
}

/* By turns: modify all lines, read all lines. */
static void other_side(void *arg)
{
    struct walk *w = arg;
    for (uint32_t i = 0; i < 2 * w->passes; i++) {
        while (atomic_load_explicit(&w->turn, memory_order_acquire) != 2 * i + 1) {
        }
        if (i % 2)
            read_each(w);
        else
            add_in_each(w);
        atomic_store_explicit(&w->turn, 2 * i + 2, memory_order_release);
    }
}

static void let_other(struct walk *w, uint32_t i)
{
    atomic_store_explicit(&w->turn, 2 * i + 1, memory_order_release);
    while (atomic_load_explicit(&w->turn, memory_order_acquire) != 2 * i + 2) {
    }
}

/* ns for each line: modified there, clean in both places. The medians of the passes. 0 or -ENOMEM. */
static int walk_lines(char *m, cpu_id other, double *move, double *upgrade)
{
    static struct walk w;
    double sample[2][PASSES], lo, hi;
    w.m = m;
    w.passes = PASSES;
    atomic_store(&w.turn, 0);
    lay_out(&w);
    struct probe_thread *t = probe_beside(other, other_side, &w);
    if (!t) return -ENOMEM;
    for (uint32_t i = 0; i < 2 * PASSES; i++) {
        let_other(&w, i);
        if (i % 2) read_each(&w); /* a protocol may hand a modified line over as a whole: both have it now */
        uint64_t begin = real_now();
        add_in_each(&w);
        sample[i % 2][i / 2] = (double)(real_now() - begin) / LINES;
    }
    probe_join(t);
    probe_median(sample[0], PASSES, move, &lo, &hi);
    probe_median(sample[1], PASSES, upgrade, &lo, &hi);
    return 0;
}

int probe_transfer(struct probe_run *r)
{
    double move, upgrade;
    int rc = walk_lines(r->arena, r->other[r->far], &move, &upgrade);
    if (rc) return rc;
    probe_put(r, "transfer", PROBE_NS, move);
    probe_put(r, "upgrade", PROBE_NS, upgrade);
    return 0;
}

int probe_transfer_again(struct probe_run *r)
{
    double move, upgrade;
    int rc = walk_lines(r->arena, r->other[r->far], &move, &upgrade);
    if (!rc) probe_put(r, "transfer_again", PROBE_NS, move);
    return rc;
}

double probe_line_move(cpu_id at, cpu_id other)
{
    _Alignas(4096) static char lines[LINES * STEP];
    struct real_cpus before = {{0}};
    double move = NAN, upgrade;
    (void)syscall(SYS_sched_getaffinity, 0, sizeof before.w, before.w);
    if (probe_pin(at) || walk_lines(lines, other, &move, &upgrade)) move = NAN;
    (void)syscall(SYS_sched_setaffinity, 0, sizeof before.w, before.w);
    return move;
}

/* ------------------------------------------------------------------ dirty sets */
struct dirty {
    char *m;
    size_t bytes;
    uint32_t passes;
    _Alignas(128) _Atomic uint32_t turn; /* odd: the other one dirties; even: it is ours */
};

/* By lines in order, eight bytes of each: what a task's working set is like. */
static void dirty_lines(char *m, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += LINE) (*(volatile uint64_t *)(void *)(m + at))++;
}

static void soil(void *arg)
{
    struct dirty *d = arg;
    for (uint32_t i = 0; i < d->passes; i++) {
        while (atomic_load_explicit(&d->turn, memory_order_acquire) != 2 * i + 1) {
        }
        for (int again = 0; again < 2; again++) dirty_lines(d->m, d->bytes);
        atomic_store_explicit(&d->turn, 2 * i + 2, memory_order_release);
    }
}

static uint64_t read_lines(const char *m, size_t bytes)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < bytes; at += LINE) sum += *(const volatile uint64_t *)(const void *)(m + at);
    return sum;
}

/* What the other CPU has just written: read in order, written in order, read at random (each line by the one
 * before). */
int probe_dirty(struct probe_run *r)
{
    enum { TURNS = 24 };
    static struct dirty d;
    size_t bytes = (size_t)WB_MIN(r->level[1] ? r->level[1] / 4 : 65536, (uint64_t)(256 << 10)) & ~(size_t)4095;
    uint64_t best[2] = {UINT64_MAX, UINT64_MAX};
    d.m = r->arena;
    d.bytes = bytes;
    d.passes = TURNS;
    atomic_store(&d.turn, 0);
    struct probe_thread *t = probe_beside(r->other[r->far], soil, &d);
    if (!t) return -ENOMEM;
    for (uint32_t i = 0; i < TURNS; i++) {
        atomic_store_explicit(&d.turn, 2 * i + 1, memory_order_release);
        while (atomic_load_explicit(&d.turn, memory_order_acquire) != 2 * i + 2) {
        }
        uint64_t begin = real_now();
        if (i % 2)
            dirty_lines(r->arena, bytes);
        else
            __asm__ volatile("" : : "r"(read_lines(r->arena, bytes)));
        uint64_t took = real_now() - begin;
        best[i % 2] = WB_MIN(best[i % 2], took);
    }
    probe_join(t);
    probe_put(r, "dirty_read", PROBE_RATE, (double)bytes / (double)best[0] * 1e9);
    probe_put(r, "dirty_write", PROBE_RATE, (double)bytes / (double)best[1] * 1e9);
    return 0;
}

static void look(void *arg)
{
    struct dirty *d = arg;
    for (uint32_t i = 0; i < d->passes; i++) {
        while (atomic_load_explicit(&d->turn, memory_order_acquire) != 2 * i + 1) {
        }
        __asm__ volatile("" : : "r"(read_lines(d->m, d->bytes)));
        atomic_store_explicit(&d->turn, 2 * i + 2, memory_order_release);
    }
}

/* Lines of which both CPUs have a clean copy, written in order: each write has the other copy thrown away first. */
int probe_shared(struct probe_run *r)
{
    enum { TURNS = 24 };
    static struct dirty d;
    size_t bytes = (size_t)WB_MIN(r->level[1] ? r->level[1] / 4 : 65536, (uint64_t)(256 << 10)) & ~(size_t)4095;
    uint64_t best = UINT64_MAX;
    d = (struct dirty){.m = r->arena, .bytes = bytes, .passes = TURNS};
    struct probe_thread *t = probe_beside(r->other[r->far], look, &d);
    if (!t) return -ENOMEM;
    for (uint32_t i = 0; i < TURNS; i++) {
        atomic_store_explicit(&d.turn, 2 * i + 1, memory_order_release);
        while (atomic_load_explicit(&d.turn, memory_order_acquire) != 2 * i + 2) {
        }
        __asm__ volatile("" : : "r"(read_lines(r->arena, bytes)));
        uint64_t begin = real_now();
        dirty_lines(r->arena, bytes);
        uint64_t took = real_now() - begin;
        best = WB_MIN(best, took);
    }
    probe_join(t);
    probe_put(r, "shared_write", PROBE_RATE, (double)bytes / (double)best * 1e9);
    return 0;
}
