/* probe_far.c - what moves between two CPUs: one line, and streams that the other one has modified. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "probe_inner.h"

#define LINE 64u
#define TRIPS 20000u

struct ball {
    _Alignas(128) _Atomic uint32_t turn;
    _Alignas(128) uint32_t trips;
};

static void return_ball(void *arg)
{
    struct ball *b = arg;
    for (uint32_t i = 0; i < b->trips; i++) {
        while (atomic_load_explicit(&b->turn, memory_order_acquire) != 2 * i + 1) {
        }
        atomic_store_explicit(&b->turn, 2 * i + 2, memory_order_release);
    }
}

/* A line goes to and fro: a trip is two moves. */
int probe_transfer(struct probe_run *r)
{
    static struct ball b;
    atomic_store(&b.turn, 0);
    b.trips = TRIPS;
    struct probe_thread *t = probe_beside(r->other[r->far], return_ball, &b);
    if (!t) return -ENOMEM;
    uint64_t begin = 0;
    for (uint32_t i = 0; i < TRIPS; i++) {
        if (i == TRIPS / 10) begin = real_now();
        atomic_store_explicit(&b.turn, 2 * i + 1, memory_order_release);
        while (atomic_load_explicit(&b.turn, memory_order_acquire) != 2 * i + 2) {
        }
    }
    uint64_t took = real_now() - begin;
    probe_join(t);
    probe_put(r, "transfer", PROBE_NS, (double)took / (2.0 * (TRIPS - TRIPS / 10)));
    return 0;
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
    enum { PASSES = 24 };
    static struct dirty d;
    size_t bytes = (size_t)WB_MIN(r->level[1] ? r->level[1] / 4 : 65536, (uint64_t)(256 << 10)) & ~(size_t)4095;
    uint64_t best[2] = {UINT64_MAX, UINT64_MAX};
    d.m = r->arena;
    d.bytes = bytes;
    d.passes = PASSES;
    atomic_store(&d.turn, 0);
    struct probe_thread *t = probe_beside(r->other[r->far], soil, &d);
    if (!t) return -ENOMEM;
    for (uint32_t i = 0; i < PASSES; i++) {
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
    enum { PASSES = 24 };
    static struct dirty d;
    size_t bytes = (size_t)WB_MIN(r->level[1] ? r->level[1] / 4 : 65536, (uint64_t)(256 << 10)) & ~(size_t)4095;
    uint64_t best = UINT64_MAX;
    d = (struct dirty){.m = r->arena, .bytes = bytes, .passes = PASSES};
    struct probe_thread *t = probe_beside(r->other[r->far], look, &d);
    if (!t) return -ENOMEM;
    for (uint32_t i = 0; i < PASSES; i++) {
        atomic_store_explicit(&d.turn, 2 * i + 1, memory_order_release);
        while (atomic_load_explicit(&d.turn, memory_order_acquire) != 2 * i + 2) {
        }
        __asm__ volatile("" : : "r"(read_lines(r->arena, bytes)));
        uint64_t begin = real_now();
        dirty_lines(r->arena, bytes);
        best = WB_MIN(best, real_now() - begin);
    }
    probe_join(t);
    probe_put(r, "shared_write", PROBE_RATE, (double)bytes / (double)best * 1e9);
    return 0;
}
