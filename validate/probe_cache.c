/* probe_cache.c - latency, streams and copies from each level of the caches, and from memory. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe_inner.h"

#define LINE 64u

typedef uint64_t vec __attribute__((vector_size(32), aligned(32)));

/* A random cycle through the lines of [m, m + bytes): Sattolo's shuffle, the same every time. */
static void **make_chase(char *m, size_t bytes)
{
    size_t n = bytes / LINE;
    uint32_t *order = malloc(n * sizeof *order);
    if (!order) return NULL;
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        size_t j = (size_t)(x % i);
        uint32_t t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (size_t i = 0; i < n; i++)
        *(void **)(void *)(m + (size_t)order[i] * LINE) = m + (size_t)order[(i + 1) % n] * LINE;
    void **first = (void **)(void *)(m + (size_t)order[0] * LINE);
    free(order);
    return first;
}

static double chase(char *m, size_t bytes, uint32_t steps)
{
    void **p = make_chase(m, bytes);
    if (!p) return 0;
    for (size_t i = 0; i < WB_MIN(bytes / LINE, (size_t)steps); i++) p = *p; /* warm */
    uint64_t t = real_now();
    for (uint32_t i = 0; i < steps; i++) p = *p;
    t = real_now() - t;
    __asm__ volatile("" : : "r"(p));
    return (double)t / steps;
}

static void stream_read(const char *m, size_t bytes)
{
    const vec *v = (const vec *)(const void *)m, *end = v + bytes / sizeof *v;
    vec a = {0}, b = {0}, c = {0}, d = {0};
    for (; v < end; v += 4) {
        a ^= v[0];
        b ^= v[1];
        c ^= v[2];
        d ^= v[3];
    }
    a ^= b ^ c ^ d;
    __asm__ volatile("" : : "x"(a[0]));
}

static void stream_write(char *m, size_t bytes)
{
    vec *v = (vec *)(void *)m, *end = v + bytes / sizeof *v, x = {1, 2, 3, 4};
    for (; v < end; v += 4) {
        v[0] = x;
        v[1] = x;
        v[2] = x;
        v[3] = x;
        __asm__ volatile("" : : : "memory");
    }
}

/* As kernels copy: the string move where the processor has it. */
static void copy(char *to, const char *from, size_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#else
    memcpy(to, from, n);
    __asm__ volatile("" : : "r"(to) : "memory");
#endif
}

enum work { READ, WRITE, COPY };

/* Bytes per second over `bytes` of memory again and again for some 1.5 ms. */
static double rate(enum work w, char *m, size_t bytes)
{
    size_t half = bytes / 2;
    uint64_t moved = 0, t = 0, begin = 0;
    for (int pass = 0; pass < 2; pass++) { /* the first warms up */
        begin = real_now();
        for (moved = 0, t = 0; t < (pass ? 1500000u : 300000u); t = real_now() - begin) {
            if (w == READ)
                stream_read(m, bytes);
            else if (w == WRITE)
                stream_write(m, bytes);
            else
                copy(m, m + half, half);
            moved += w == COPY ? half : bytes;
        }
    }
    return (double)moved / (double)t * 1e9;
}

/* Bytes of a working set that lives in level i and no nearer one: half of it, or what is left beyond the one below. */
static size_t set_of(const struct probe_run *r, uint32_t i)
{
    uint64_t size = r->level[i], below = i ? r->level[i - 1] : 0;
    uint64_t set = WB_MAX(size / 2, WB_MIN(below * 3, size * 3 / 4));
    return (size_t)WB_MIN(set, (uint64_t)r->bytes) & ~(size_t)4095;
}

int probe_caches(struct probe_run *r)
{
    char name[32];
    for (uint32_t i = 0; i < WB_CACHE_LEVELS && r->level[i]; i++) {
        size_t set = WB_MIN(set_of(r, i), (size_t)(8 << 20));
        uint32_t steps = i < 2 ? 60000 : 40000;
        snprintf(name, sizeof name, "l%u_latency", i + 1);
        probe_put(r, name, PROBE_NS, chase(r->arena, set, steps));
        snprintf(name, sizeof name, "l%u_read", i + 1);
        probe_put(r, name, PROBE_RATE, rate(READ, r->arena, set));
        snprintf(name, sizeof name, "l%u_write", i + 1);
        probe_put(r, name, PROBE_RATE, rate(WRITE, r->arena, set));
    }
    return 0;
}

int probe_copies(struct probe_run *r)
{
    char name[32];
    for (uint32_t i = 0; i < WB_CACHE_LEVELS && r->level[i]; i++) {
        snprintf(name, sizeof name, "l%u_copy", i + 1);
        probe_put(r, name, PROBE_RATE, rate(COPY, r->arena, WB_MIN(set_of(r, i), (size_t)(8 << 20))));
    }
    return 0;
}

void **probe_make_chase(char *m, size_t bytes)
{
    return make_chase(m, bytes);
}

/* Streams take the next part of the big buffer each time, so that no cache holds it. */
int probe_memory(struct probe_run *r)
{
    uint32_t steps = 20000;
    size_t n = 8u << 20;
    if (!r->big_bytes) return -ENOMEM;
    uint64_t t = real_now();
    for (uint32_t i = 0; i < steps; i++) r->chase = *r->chase;
    t = real_now() - t;
    probe_put(r, "memory_latency", PROBE_NS, (double)t / steps);
    r->big_at = (r->big_at + n) % (r->big_bytes - n) & ~(size_t)4095;
    t = real_now();
    stream_read(r->big + r->big_at, n);
    probe_put(r, "memory_read", PROBE_RATE, (double)n / (double)(real_now() - t) * 1e9);
    t = real_now();
    stream_write(r->big + r->big_bytes + r->big_at, n);
    probe_put(r, "memory_write", PROBE_RATE, (double)n / (double)(real_now() - t) * 1e9);
    return 0;
}

struct reader {
    const char *m;
    size_t bytes;
    _Atomic int go, ready;
    _Atomic uint64_t moved;
    _Atomic int stop;
};

static void read_until(void *arg)
{
    struct reader *a = arg;
    size_t step = 1u << 20, at = 0;
    atomic_store(&a->ready, 1);
    while (!atomic_load(&a->go)) {
    }
    while (!atomic_load(&a->stop)) {
        stream_read(a->m + at, step);
        at = (at + step) % (a->bytes - step);
        atomic_fetch_add(&a->moved, step);
    }
}

/* All CPUs of the node read memory at once, each its own part. */
int probe_memory_all(struct probe_run *r)
{
    uint32_t n = WB_MIN(r->ncpus, 64u);
    if (n < 2 || r->big_bytes / n < (8u << 20)) return 0;
    struct reader *a = calloc(n, sizeof *a);
    struct probe_thread **t = calloc(n, sizeof(struct probe_thread *));
    WB_MEMORY(a && t, "out of memory for %u readers", n);
    for (uint32_t i = 1; i < n; i++) {
        a[i] = (struct reader){.m = r->big + r->big_bytes / n * i, .bytes = r->big_bytes / n};
        t[i] = probe_beside(r->cpus[i] == r->cpu ? r->cpus[0] : r->cpus[i], read_until, &a[i]);
    }
    uint64_t moved = 0, begin = real_now();
    for (uint32_t i = 1; i < n; i++) atomic_store(&a[i].go, 1);
    size_t step = 1u << 20, at = 0, own = r->big_bytes / n;
    while (real_now() - begin < 15000000) {
        stream_read(r->big + at, step);
        at = (at + step) % (own - step);
        moved += step;
    }
    for (uint32_t i = 1; i < n; i++) atomic_store(&a[i].stop, 1);
    for (uint32_t i = 1; i < n; i++) moved += atomic_load(&a[i].moved);
    uint64_t took = real_now() - begin;
    for (uint32_t i = 1; i < n; i++)
        if (t[i]) probe_join(t[i]);
    probe_put(r, "memory_rate", PROBE_RATE, (double)moved / (double)took * 1e9);
    free(a);
    free(t);
    return 0;
}
