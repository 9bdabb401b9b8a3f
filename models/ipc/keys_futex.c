/* keys_futex.c - rows of kernel.futex and its path costs; see futex.h. */
#include "futex.h"

#define PATH(name, cost, text, src) \
    { \
        .path = "kernel.path." name, .type = WB_KEY_COST, .unit = "time or cycles", .min = "0 ns", .max = "1 s", \
        .def = cost, .help = text, .source = src, .flags = WB_KEY_PRICED \
    }

const struct wb_key futex_keys[FUTEX_KEYS] = {
    {.path = "kernel.futex",
     .type = WB_KEY_VERSION,
     .def = "2.6.11",
     .help = "Kernel version whose futex rules hold: to 4.1 the wake is made under the lock of the hash bucket, from "
             "4.2 on "
             "after it.",
     .source = "kernel/futex.c; commit 1d0dcb3ad9d3 (4.2)"},
    PATH("futex_wait", "500 cy", "futex(FUTEX_WAIT) without lock, line and sleep. Per call.",
         "assumed: 250..1000 cy (kernel/futex.c get_futex_key, hash_futex, futex_wait)"),
    PATH("futex_wake", "350 cy", "futex(FUTEX_WAKE) without lock and wake. Per call.",
         "assumed: 175..700 cy (kernel/futex.c futex_wake)"),
    PATH("lll_lock", "10 cy", "User-mode part of taking or dropping a mutex, without its line.",
         "assumed: 5..30 cy (glibc nptl)"),
};
