#include "unix.h"

/* net/unix/af_unix.c unix_stream_sendmsg: SKB_MAX_ALLOC, four pages less the shared info; from 3.10 on fragments up to
 * UNIX_SKB_FRAGS_SZ (32 KiB) besides the linear part of a page. */
#define LINEAR_MAX (4 * 4096 - 320)
#define FRAGMENTS_MAX (32768 + 4096 - 320)

/* clang-format off */
const struct unix_rules unix_rules[] = {
    { .name = "2.6.0", .version = IPC_VERSION(2, 6, 0), .lock = WB_LOCK_SEM, .callback_lock = true, .max_bytes = LINEAR_MAX,
      .text = "readers take turns by a semaphore; no wake is sync" },
    /* Commit 57b47a53ec4 ("sem2mutex part 2"). */
    { .name = "2.6.17", .version = IPC_VERSION(2, 6, 17), .lock = WB_LOCK_MUTEX, .callback_lock = true, .max_bytes = LINEAR_MAX,
      .text = "readers take turns by a mutex" },
    /* Linux 2.6.24 net/unix/af_unix.c unix_write_space: wake_up_interruptible_sync. */
    { .name = "2.6.24", .version = IPC_VERSION(2, 6, 24), .lock = WB_LOCK_MUTEX, .callback_lock = true, .max_bytes = LINEAR_MAX,
      .sync_space = true, .text = "wakes of senders are sync" },
    /* Commit 6f3d09291b4: sock_def_readable wakes sync. */
    { .name = "2.6.26", .version = IPC_VERSION(2, 6, 26), .lock = WB_LOCK_MUTEX, .callback_lock = true, .max_bytes = LINEAR_MAX,
      .sync_space = true, .sync_data = true, .text = "wakes of receivers are sync too" },
    { .name = "2.6.30", .version = IPC_VERSION(2, 6, 30), .lock = WB_LOCK_MUTEX_SPIN, .callback_lock = true, .max_bytes = LINEAR_MAX,
      .sync_space = true, .sync_data = true, .text = "the readers' mutex spins while its owner runs" },
    /* Commit 43815482370: wakes under RCU. */
    { .name = "2.6.35", .version = IPC_VERSION(2, 6, 35), .lock = WB_LOCK_MUTEX_SPIN, .max_bytes = LINEAR_MAX,
      .sync_space = true, .sync_data = true, .text = "wakes take no lock of the socket" },
    /* Commits 257b5358b32, 7361c36c522. */
    { .name = "2.6.36", .version = IPC_VERSION(2, 6, 36), .lock = WB_LOCK_MUTEX_SPIN, .max_bytes = LINEAR_MAX,
      .sync_space = true, .sync_data = true, .creds = true, .text = "every message refers to struct pid and struct cred of its sender" },
    /* Commit 16e572626961. */
    { .name = "3.2", .version = IPC_VERSION(3, 2, 0), .lock = WB_LOCK_MUTEX_SPIN, .max_bytes = LINEAR_MAX,
      .sync_space = true, .sync_data = true, .text = "only those do that were asked to; buffers count with their whole object" },
    { .name = "3.10", .version = IPC_VERSION(3, 10, 0), .lock = WB_LOCK_MUTEX_SPIN, .max_bytes = FRAGMENTS_MAX, .fragments = true,
      .sync_space = true, .sync_data = true, .text = "buffers of up to 36 KiB" },
    { .name = "4.10", .version = IPC_VERSION(4, 10, 0), .lock = WB_LOCK_MUTEX_HANDOFF, .max_bytes = FRAGMENTS_MAX, .fragments = true,
      .sync_space = true, .sync_data = true, .text = "the mutex hands over to a starved waiter" },
};
/* clang-format on */
const size_t unix_rules_n = WB_ARRAY_SIZE(unix_rules);

const struct unix_rules *unix_rules_find(const char *version)
{
    const struct unix_rules *found = NULL;
    uint32_t v;
    if (!ipc_parse_version(version, &v)) return NULL;
    for (size_t i = 0; i < unix_rules_n && unix_rules[i].version <= v; i++) found = &unix_rules[i];
    return found;
}
