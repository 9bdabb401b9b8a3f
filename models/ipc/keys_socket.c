#include "skb.h"

/* Measured: a byte written and read through an AF_UNIX stream by one task takes 1725 to 2040 ns, of which system call
 * and file layer are 2 x 198 ns (AMD EPYC guest of about 3 GHz, Linux 6.18, 2026). Functions share the rest, and
 * kernels of 2010 set their own. */
#define PATH(name, cost, text, src) \
    { \
        .path = "kernel.path." name, .type = WB_KEY_COST, .unit = "time or cycles", .min = "0 ns", .max = "1 s", \
        .def = cost, .help = text, .source = src, .flags = WB_KEY_PRICED \
    }

const struct wb_key socket_keys[] = {
    PATH("alloc_skb", "600 cy", "A socket buffer: head and data from the CPU's lists, fields set. Per buffer.",
         "assumed: 300..1000 cy (net/core/skbuff.c __alloc_skb; memory control groups in later kernels)"),
    PATH("kfree_skb", "400 cy", "A socket buffer back to the lists of this CPU. Per buffer.",
         "assumed: 200..800 cy (net/core/skbuff.c consume_skb, kmem_cache_free, kfree)"),
    PATH("sock_def_readable", "40 cy", "Looking whether somebody waits for data. Per buffer queued.",
         "assumed: 20..100 cy (net/core/sock.c)"),
    PATH("sock_def_wakeup", "40 cy", "The same when a socket is shut down or closed. Per call.",
         "assumed: 20..100 cy (net/core/sock.c)"),
    PATH("do_sys_poll", "400 cy", "poll() or select() on one descriptor, without its waits. Per call.",
         "assumed: 200..900 cy (fs/select.c)"),
};
const size_t socket_keys_n = WB_ARRAY_SIZE(socket_keys);
