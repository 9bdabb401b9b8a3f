#include <string.h>

#include "tcp.h"

/* clang-format off */
const struct tcp_rules tcp_rules[] = {
    /* Linux 2.6.22 include/net/tcp.h tcp_prequeue: wake_up_interruptible when the first segment joins; net/core/sock.c
     * sock_def_readable: wake_up_interruptible under sk_callback_lock. */
    { .name = "2.6.0", .version = IPC_VERSION(2, 6, 0), .prequeue = true, .callback_lock = true,
      .text = "prequeue; all wakes plain" },
    /* Linux 2.6.26, commit 6f3d09291b4: sock_def_readable wakes with the sync hint. */
    { .name = "2.6.26", .version = IPC_VERSION(2, 6, 26), .prequeue = true, .callback_lock = true, .ready_sync = true,
      .text = "data-ready wakes are sync" },
    /* Linux 2.6.35 include/net/tcp.h: wake_up_interruptible_sync_poll (2.6.32 still has the plain one);
     * net/core/sock.c: the callback lock gave way to RCU (commit 43815482370). */
    { .name = "2.6.35", .version = IPC_VERSION(2, 6, 35), .prequeue = true, .ready_sync = true, .prequeue_sync = true,
      .text = "the prequeue's wake is sync too; no callback lock" },
    /* Linux 4.14, commit e7942d0633c4: prequeue removed. */
    { .name = "4.14", .version = IPC_VERSION(4, 14, 0), .ready_sync = true,
      .text = "no prequeue: protocol work is always done in the softirq" },
};
/* clang-format on */
const size_t tcp_rules_n = WB_ARRAY_SIZE(tcp_rules);

const struct tcp_rules *tcp_rules_find(const char *version)
{
    const struct tcp_rules *found = NULL;
    uint32_t v;
    if (!ipc_parse_version(version, &v)) return NULL;
    for (size_t i = 0; i < tcp_rules_n && tcp_rules[i].version <= v; i++) found = &tcp_rules[i];
    return found;
}
