/*
 * base.h - words that every part of wakebal uses: time, ids, checks.
 *
 * Simulated time is an unsigned count of picoseconds (64 bits hold 213 days). Ids are dense integers; nothing
 * crosses a module boundary as a raw pointer where an id will do.
 *
 * Checks come in two grades. WB_CHECK stays in release builds: arguments, table bounds, "time never goes back".
 * WB_DEBUG_CHECK guards invariants that cost more than O(1) and exists only when WB_DEBUG is defined (dev and asan
 * builds). A failing check is a bug of wakebal, never of the user: it prints seed, simulated time, CPU, task and
 * place, then aborts.
 */
#ifndef WAKEBAL_BASE_H
#define WAKEBAL_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t sim_time; /* picoseconds since the start of the run */
typedef uint32_t cpu_id;   /* 0 .. ncpus-1, the operating system's numbering */
typedef uint32_t task_id;  /* dense; idle tasks first */

#define WB_PS ((sim_time)1)
#define WB_NS ((sim_time)1000)
#define WB_US ((sim_time)1000 * 1000)
#define WB_MS ((sim_time)1000 * 1000 * 1000)
#define WB_S ((sim_time)1000 * 1000 * 1000 * 1000)
#define WB_TIME_NEVER UINT64_MAX

#define WB_NO_CPU UINT32_MAX
#define WB_NO_TASK UINT32_MAX
#define WB_CPUS_MAX 16384u

#define WB_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* Both evaluate an argument twice: no calls with side effects (tests/style/macro_arguments.py). */
#define WB_MIN(a, b) ((a) < (b) ? (a) : (b))
#define WB_MAX(a, b) ((a) > (b) ? (a) : (b))
#define WB_LIKELY(c) __builtin_expect(!!(c), 1)
#define WB_UNLIKELY(c) __builtin_expect(!!(c), 0)
#define WB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define WB_APART __attribute__((noinline)) /* seldom needed beside something hot */
#define WB_COLD __attribute__((cold))      /* so seldom called that calls, too, lie out of the way of what is hot */
#define WB_MUST_USE __attribute__((warn_unused_result))

/* Greatest common divisor; wb_gcd(a, 0) = a. */
static inline uint64_t wb_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Where the simulation of this thread stands; filled by the engine so that a failing check can say it. */
struct wb_where {
    uint64_t seed;
    uint32_t replication;
    sim_time now;
    cpu_id cpu;
    task_id task;
};
extern _Thread_local struct wb_where wb_where;

/* Report a bug of ours on stderr with wb_where and abort. Never returns. */
_Noreturn void wb_bug(const char *file, int line, const char *cond, const char *fmt, ...) WB_PRINTF(4, 5) WB_COLD;

#define WB_CHECK(cond, ...) \
    do { \
        if (WB_UNLIKELY(!(cond))) wb_bug(__FILE__, __LINE__, #cond, __VA_ARGS__); \
    } while (0)

/* The system gives no memory: a refusal, no bug of ours and no mistake of the user. What was being made, and of what
 * size, goes to the hook, which does not return; without one the text is printed and the process aborts, as it cannot
 * go on. Set once, before threads are made. */
extern void (*wb_no_memory_hook)(const char *text);
_Noreturn void wb_no_memory(const char *fmt, ...) WB_PRINTF(1, 2) WB_COLD;

#define WB_MEMORY(got, ...) \
    do { \
        if (WB_UNLIKELY(!(got))) wb_no_memory(__VA_ARGS__); \
    } while (0)

/* A text as printf() would write it, of any length; the caller frees it. Never NULL. */
char *wb_text(const char *fmt, ...) WB_PRINTF(1, 2) WB_MUST_USE;
char *wb_vtext(const char *fmt, va_list ap) WB_PRINTF(1, 0) WB_MUST_USE;

#ifdef WB_DEBUG
#define WB_DEBUG_CHECK(cond, ...) WB_CHECK(cond, __VA_ARGS__)
#else
#define WB_DEBUG_CHECK(cond, ...) ((void)sizeof(cond))
#endif

#endif
