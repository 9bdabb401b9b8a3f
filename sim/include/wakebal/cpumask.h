/*
 * cpumask.h - sets of CPUs, any size, scanned ascending or wrapping like the kernels do.
 *
 * Storage belongs to the caller (arena or WB_CPUMASK_WORDS words); a mask of n CPUs has (n + 63) / 64 words and no
 * bit past n.
 */
#ifndef WAKEBAL_CPUMASK_H
#define WAKEBAL_CPUMASK_H

#include "wakebal/base.h"

#define WB_CPUMASK_WORDS(n) (((n) + 63u) / 64u)

/* Scans pass over what is known to be empty: the first `skip` and the last `tail` words (wb_mask_trim; 0: nothing is
 * known). So who goes through a small span of a large machine pays for the span. Such a mask is not changed any
 * more. */
struct wb_cpumask {
    uint32_t ncpus;
    uint32_t nwords;
    uint64_t *w;
    uint16_t skip, tail;
};

static inline void wb_mask_set(struct wb_cpumask *m, cpu_id c)
{
    m->w[c >> 6] |= 1ull << (c & 63);
}
static inline void wb_mask_clear(struct wb_cpumask *m, cpu_id c)
{
    m->w[c >> 6] &= ~(1ull << (c & 63));
}
static inline bool wb_mask_test(const struct wb_cpumask *m, cpu_id c)
{
    return (m->w[c >> 6] >> (c & 63)) & 1;
}

/* First set bit >= from, or WB_NO_CPU. */
static inline cpu_id wb_mask_next(const struct wb_cpumask *m, cpu_id from)
{
    uint32_t end = m->nwords - m->tail;
    from = WB_MAX(from, m->skip * 64u);
    uint32_t i = from >> 6;
    if (i >= end) return WB_NO_CPU;
    uint64_t v = m->w[i] & (~0ull << (from & 63));
    while (!v) {
        if (++i >= end) return WB_NO_CPU;
        v = m->w[i];
    }
    return (cpu_id)(i * 64 + (uint32_t)__builtin_ctzll(v));
}
static inline cpu_id wb_mask_first(const struct wb_cpumask *m)
{
    return wb_mask_next(m, 0);
}
/* It stays as it is from here on: find out which words scans may pass over. */
static inline void wb_mask_trim(struct wb_cpumask *m)
{
    uint32_t skip = 0, end = m->nwords;
    while (skip < end && !m->w[skip]) skip++;
    while (end > skip && !m->w[end - 1]) end--;
    m->skip = (uint16_t)skip;
    m->tail = (uint16_t)(m->nwords - end);
}
static inline uint32_t wb_mask_count(const struct wb_cpumask *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->nwords; i++) n += (uint32_t)__builtin_popcountll(m->w[i]);
    return n;
}
/* The k-th CPU (from 0) in ascending order, or WB_NO_CPU. */
static inline cpu_id wb_mask_nth(const struct wb_cpumask *m, uint32_t k)
{
    for (uint32_t i = 0; i < m->nwords; i++) {
        uint64_t v = m->w[i];
        uint32_t n = (uint32_t)__builtin_popcountll(v);
        if (k >= n) {
            k -= n;
            continue;
        }
        while (k--) v &= v - 1;
        return (cpu_id)(i * 64 + (uint32_t)__builtin_ctzll(v));
    }
    return WB_NO_CPU;
}
static inline bool wb_mask_equal(const struct wb_cpumask *a, const struct wb_cpumask *b)
{
    for (uint32_t i = 0; i < a->nwords; i++)
        if (a->w[i] != b->w[i]) return false;
    return true;
}
static inline bool wb_mask_subset(const struct wb_cpumask *a, const struct wb_cpumask *b)
{
    for (uint32_t i = 0; i < a->nwords; i++)
        if (a->w[i] & ~b->w[i]) return false;
    return true;
}
/* First CPU that is in both, >= from, or WB_NO_CPU. */
static inline cpu_id wb_mask_next_and(const struct wb_cpumask *a, const struct wb_cpumask *b, cpu_id from)
{
    uint32_t end = WB_MIN(a->nwords - a->tail, b->nwords - b->tail);
    from = WB_MAX(from, WB_MAX(a->skip, b->skip) * 64u);
    uint32_t i = from >> 6;
    if (i >= end) return WB_NO_CPU;
    uint64_t v = a->w[i] & b->w[i] & (~0ull << (from & 63));
    while (!v) {
        if (++i >= end) return WB_NO_CPU;
        v = a->w[i] & b->w[i];
    }
    return (cpu_id)(i * 64 + (uint32_t)__builtin_ctzll(v));
}

/* Masks of single CPUs. A full-width mask with one bit needs no words of its own: all CPUs with the same bit share a
 * window of zeros around it. So they cost 24 bytes a CPU, not a bit for each pair of CPUs. Windows: zeroed words. */
#define WB_MASK_WINDOWS(n) (64u * (2u * (size_t)WB_CPUMASK_WORDS(n) - 1u))
static inline void wb_mask_windows_init(uint64_t *windows, uint32_t ncpus)
{
    size_t nwords = WB_CPUMASK_WORDS(ncpus);
    for (uint32_t i = 0; i < 64; i++) windows[i * (2 * nwords - 1) + nwords - 1] = 1ull << i;
}
static inline struct wb_cpumask wb_mask_single(uint64_t *windows, uint32_t ncpus, cpu_id c)
{
    uint32_t nwords = WB_CPUMASK_WORDS(ncpus);
    uint64_t *w = windows + (size_t)(c & 63) * (2 * nwords - 1) + (nwords - 1) - (c >> 6);
    return (struct wb_cpumask){.ncpus = ncpus,
                               .nwords = nwords,
                               .w = w,
                               .skip = (uint16_t)(c >> 6),
                               .tail = (uint16_t)(nwords - 1 - (c >> 6))};
}

#define WB_FOR_EACH_CPU(c, m) for (cpu_id c = wb_mask_first(m); c != WB_NO_CPU; c = wb_mask_next(m, c + 1))
#define WB_FOR_EACH_CPU_AND(c, a, b) \
    for (cpu_id c = wb_mask_next_and(a, b, 0); c != WB_NO_CPU; c = wb_mask_next_and(a, b, c + 1))

/* "0,2-5" -> mask. Returns 0, or -1 with *at = offset of the mistake and *why a static sentence. Hex masks are
 * refused. */
int wb_mask_parse(const char *text, struct wb_cpumask *m, const char **why, size_t *at) WB_MUST_USE;
/* Shortest list form: "0-3,7". Returns buf. */
char *wb_mask_format(char *buf, size_t n, const struct wb_cpumask *m);

#endif
